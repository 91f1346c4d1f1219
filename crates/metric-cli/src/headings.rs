//! The headings of the help: which options are under which, and which of them the short help leaves out.

use clap::{Arg, ArgAction};

/// A heading with the names of its options.
struct Heading {
    title: &'static str,
    /// Those in the short help.
    common: &'static [&'static str],
    /// Those that only the long help has.
    further: &'static [&'static str],
}

/// The heading of the options that only this metric has.
pub(crate) const METRIC: &str = "Metric";

/// All headings, in the order of the help.
const HEADINGS: &[Heading] = &[
    Heading {
        title: "Input",
        common: &[
            "references",
            "predictions",
            "more-references",
            "pairs",
            "input-format",
            "id-field",
            "reference-field",
            "prediction-field",
            "prediction-fields",
            "names",
        ],
        further: &[
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
        common: &["where", "missing", "extra"],
        further: &["null", "as-text"],
    },
    Heading {
        title: METRIC,
        common: &[],
        further: &[],
    },
    Heading {
        title: "Statistics",
        common: &[
            "confidence",
            "cluster-field",
            "slice-field",
            "baseline",
            "all-pairs",
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
            "format",
            "digits",
            "percent",
            "wide",
            "show",
            "show-worst",
            "show-regressions",
            "fail-under",
            "fail-over",
            "fail-if-worse",
            "per-sample",
            "report",
        ],
        further: &[
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
        common: &["quiet", "help"],
        further: &["threads", "max-bytes", "isolate", "limits", "color"],
    },
];

/// The position of an option in the help, and whether the short help has it; those of a metric are in both.
fn position(arg: &Arg) -> (usize, usize, bool) {
    let name = arg.get_id().as_str();
    for (
        heading,
        Heading {
            common, further, ..
        },
    ) in HEADINGS.iter().enumerate()
    {
        let mut names = common.iter().chain(*further);
        if let Some(index) = names.position(|known| *known == name) {
            return (heading, index, index < common.len());
        }
    }
    let of_metric = HEADINGS.iter().position(|heading| heading.title == METRIC);
    (of_metric.unwrap_or_default(), usize::MAX, true)
}

/// Puts options under their headings, in the order of the help.
pub(crate) fn arranged(args: impl IntoIterator<Item = Arg>) -> Vec<Arg> {
    let mut placed: Vec<_> = args.into_iter().map(|arg| (position(&arg), arg)).collect();
    placed.sort_by_key(|((heading, index, _), _)| (*heading, *index));
    let under = |((heading, _, is_common), arg): ((usize, usize, bool), Arg)| {
        arg.help_heading(HEADINGS[heading].title)
            .hide_short_help(!is_common)
    };
    placed.into_iter().map(under).collect()
}

/// The option for help, in place of clap's own, which has no heading.
pub(crate) fn help_arg() -> Arg {
    Arg::new("help")
        .long("help")
        .short('h')
        .action(ArgAction::Help)
        .help("Print help: -h the common options, --help all of them")
}
