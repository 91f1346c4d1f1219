//! The headings of the help: which options are under which, and which of them the short help leaves out.

use clap::{Arg, ArgAction};

/// A heading with the names of its options.
struct Heading {
    title: &'static str,
    /// Those in the short help, each with a text that fits into a line.
    common: &'static [(&'static str, &'static str)],
    /// Those that only the long help has.
    further: &'static [&'static str],
}

/// The heading of the options that only this metric has.
pub(crate) const METRIC: &str = "Metric";

/// All headings, in the order of the help.
#[rustfmt::skip]
const HEADINGS: &[Heading] = &[
    Heading {
        title: "Input",
        common: &[
            ("references", "Ground truth"),
            ("predictions", "Predictions of the model"),
            ("pairs", "Files that have both in each record"),
            ("id-field", "Field of the id"),
            ("reference-field", "Field of the reference"),
            ("prediction-field", "Field of the prediction"),
            ("names", "Names of the systems"),
        ],
        further: &[
            "more-references",
            "input-format",
            "prediction-fields",
            "references-format",
            "predictions-format",
            "references-id-field",
            "predictions-id-field",
            "split",
            "references-split",
            "predictions-split",
            "class-names",
            "delimiter",
            "quote",
            "header",
            "empty-field",
            "encoding",
            "speaker",
            "speaker-prefix",
            "level",
            "tier",
            "shard",
        ],
    },
    Heading {
        title: "Join",
        common: &[
            ("where", "Records to score, by the value of a field"),
            ("missing", "A reference alone: error, empty or skip"),
        ],
        further: &["extra", "null", "as-text"],
    },
    Heading {
        title: METRIC,
        common: &[],
        further: &[],
    },
    Heading {
        title: "Statistics",
        common: &[
            ("confidence", "Intervals of this coverage"),
            ("cluster-field", "Field of records that depend on each other"),
            ("slice-field", "Also score each value of this field"),
            ("baseline", "System that others are compared with"),
            ("all-pairs", "Compare every system with every other one"),
        ],
        further: &[
            "resamples",
            "permutations",
            "seed",
            "interval",
            "slices",
            "slice-bins",
            "replicates",
        ],
    },
    Heading {
        title: "Output",
        common: &[
            ("format", "table, json, markdown, latex or csv"),
            ("scores", "Show these scores only, in this order"),
            ("show-worst", "Also print the N worst examples"),
            ("show-regressions", "Also print the N examples that lose most"),
            ("fail-under", "Exit with code 1 below VALUE"),
            ("fail-if-worse", "Exit with code 1 if a system is worse"),
            ("per-sample", "Also write the scores of each example"),
            ("report", "Also write a report, such as FILE.html"),
        ],
        further: &[
            "digits",
            "percent",
            "wide",
            "sort",
            "show",
            "fail-over",
            "worst-by",
            "with-inputs",
            "with-alignment",
            "details",
            "details-form",
            "state-out",
            "svg",
            "report-examples",
            "report-title",
            "report-no-examples",
            "report-date",
            "report-paths",
            "images",
        ],
    },
    Heading {
        title: "General",
        common: &[
            ("quiet", "No progress bar and no warnings"),
            ("help", "Print help (all options with --help)"),
        ],
        further: &["threads", "max-bytes", "isolate", "limits", "color"],
    },
];

/// The place of an option in the help, and its short help.
struct Place {
    /// The position of its heading, and its position there.
    position: (usize, usize),
    /// Nothing for an option that only the long help has.
    short: Option<Short>,
}

enum Short {
    Text(&'static str),
    /// The start of the long help: all options of a metric are in both.
    Start,
}

fn place(arg: &Arg) -> Place {
    let name = arg.get_id().as_str();
    for (
        heading,
        Heading {
            common, further, ..
        },
    ) in HEADINGS.iter().enumerate()
    {
        let common = common.iter().map(|(name, text)| (*name, Some(*text)));
        let mut all = common
            .chain(further.iter().map(|name| (*name, None)))
            .enumerate();
        if let Some((index, (_, text))) = all.find(|(_, (known, _))| *known == name) {
            return Place {
                position: (heading, index),
                short: text.map(Short::Text),
            };
        }
    }
    let of_metric = HEADINGS.iter().position(|heading| heading.title == METRIC);
    Place {
        position: (of_metric.unwrap_or_default(), usize::MAX),
        short: Some(Short::Start),
    }
}

/// Puts options under their headings, in the order of the help.
pub(crate) fn arranged(args: impl IntoIterator<Item = Arg>) -> Vec<Arg> {
    let mut placed: Vec<_> = args.into_iter().map(|arg| (place(&arg), arg)).collect();
    placed.sort_by_key(|(place, _)| place.position);
    let under = |(place, arg): (Place, Arg)| {
        let arg = arg.help_heading(HEADINGS[place.position.0].title);
        match place.short {
            Some(short) => with_short_help(arg, &short),
            None => arg.hide_short_help(true),
        }
    };
    placed.into_iter().map(under).collect()
}

/// The option with a help of one line, in addition to the long one with all words that it takes.
fn with_short_help(arg: Arg, short: &Short) -> Arg {
    let long = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let short = match short {
        Short::Text(text) => (*text).to_owned(),
        Short::Start => start(&long),
    };
    let words = arg.get_possible_values();
    let words: Vec<&str> = words.iter().map(|word| word.get_name()).collect();
    // A flag has the words true and false.
    if words.is_empty() || !arg.get_action().takes_values() {
        return arg.help(short).long_help(long);
    }
    let long = format!("{long}\n\n[possible values: {}]", words.join(", "));
    arg.help(short).long_help(long).hide_possible_values(true)
}

/// The start of a text, up to its first colon, semicolon or end of a sentence, with its default.
fn start(text: &str) -> String {
    let (text, default) = text
        .find(" [default: ")
        .map_or((text, ""), |at| text.split_at(at));
    // A condition says nothing without what is true under it.
    let colon = (!text.starts_with("With ")).then_some(": ");
    let ends = ["; ", ". ", " ("].into_iter().chain(colon);
    let end = ends.filter_map(|end| text.find(end)).min();
    let start = end.map_or(text, |end| &text[..end]);
    format!("{start}{default}")
}

/// The option for help, in place of clap's own, which has no heading.
pub(crate) fn help_arg() -> Arg {
    Arg::new("help")
        .long("help")
        .short('h')
        .action(ArgAction::Help)
        .help("Print help: -h the common options, --help all of them")
}
