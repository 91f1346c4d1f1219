//! The command line, made from the registry.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use metric_suite::registry::{
    self, Content, Document, Drawing, ENTRIES, Entry, JoinPolicy, Missing, OptionSpec, Options,
    Scorer,
};

use crate::error::Failure;
use crate::join::Input;
use crate::output::Style;
use crate::output_file;
use crate::scan::{FieldNames, Role};
use crate::score::{Data, Show, Task};
use crate::source::{Format, Source};

const FILES: &str = "\
Files are JSON Lines (.jsonl, .ndjson: an object a line with `id` and `reference`, `references` or
`prediction`), JSON (.json: an object id -> value) or text (.txt: a value a line, joined by line
number), also compressed (.gz, .zst). `-` is standard input, in JSON Lines, not compressed.";

const WHOLE_FILES: &str = "\
Files may be compressed (.gz, .zst). `-` is standard input, not compressed.";

const EXIT_CODES: &str =
    "Exit codes: 0 fine, 1 a gate failed, 2 usage, 3 bad input, 4 internal error.";

/// Arguments that only make sense for records.
const RECORD_ARGS: &[&str] = &[
    "pairs",
    "missing",
    "id-field",
    "reference-field",
    "prediction-field",
];

/// Arguments that the metric refuses whatever its options are.
fn refused_args(entry: &Entry) -> Vec<&'static str> {
    let Some(scorer) = forms(entry).next() else {
        return Vec::new();
    };
    let mut refused = Vec::new();
    if !scorer.draws(Drawing::Svg) {
        refused.push("svg");
    }
    if !scorer.draws(Drawing::Text) {
        refused.extend(["show", "color"]);
    }
    if !forms(entry).any(|scorer| scorer.has_details()) {
        refused.push("details");
    }
    refused
}

/// The metric without options, with each switch or choice, and with each two of them.
fn forms(entry: &Entry) -> impl Iterator<Item = Box<dyn Scorer>> {
    let values = entry.options.iter().flat_map(|spec| {
        let values = match spec.is_switch() {
            true => vec!["true"],
            false => (spec.choices)(),
        };
        values.into_iter().map(|value| (spec.name, value))
    });
    let values: Vec<(&str, &str)> = values.collect();
    let default = Options::default().with_details();
    let with = |options: &Options, &(name, value): &(&str, &str)| options.clone().set(name, value);
    let ones: Vec<Options> = values.iter().map(|value| with(&default, value)).collect();
    let twos = ones.clone().into_iter().flat_map(move |one| {
        let two = values.iter().map(|value| with(&one, value));
        two.collect::<Vec<_>>()
    });
    let options = std::iter::once(default).chain(ones).chain(twos);
    options.filter_map(|options| entry.scorer(&options).ok())
}

pub(crate) fn command() -> Command {
    let score = Command::new("score")
        .about("Scores predictions against references")
        .subcommand_required(true)
        .subcommand_value_name("METRIC")
        .subcommand_help_heading("Metrics")
        .disable_help_subcommand(true)
        .subcommands(ENTRIES.iter().map(metric_command));
    let list = Command::new("list")
        .about("Lists the metrics with their options")
        .arg(format_arg());
    let demo = Command::new("demo")
        .about("Scores small samples of each domain that are built into the program")
        .arg(
            Arg::new("save")
                .long("save")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .help("Also write the sample files to this folder"),
        );
    Command::new("metric")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Scores model outputs against references, with the numbers of the published reference programs")
        .after_help("Try `metric demo`, then `metric list`, then `metric score METRIC --help`.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([score, list, demo])
}

/// What the metric takes is put together only if it is asked for.
fn metric_command(entry: &'static Entry) -> Command {
    Command::new(entry.name).about(entry.help).defer(with_args)
}

fn with_args(command: Command) -> Command {
    let Some(entry) = registry::find(command.get_name()) else {
        return command;
    };
    let (reference, prediction) = entry.values;
    let name = entry.name;
    let whole = matches!(entry.input, registry::Input::Whole);
    let mut usage = format!("metric score {name} --references FILE --predictions FILE [OPTIONS]");
    if !whole {
        usage.push_str(&format!(
            "\n       metric score {name} --pairs FILE [OPTIONS]"
        ));
    }
    let files = if whole { WHOLE_FILES } else { FILES };
    let refused = refused_args(entry);
    let common = common_args().into_iter().map(|arg| {
        let name = arg.get_id().as_str();
        // What is about records only confuses where there are none.
        let hidden = (whole && RECORD_ARGS.contains(&name)) || refused.contains(&name);
        arg.hide(hidden)
    });
    command
        .override_usage(usage)
        .after_help(format!(
            "Reference: {reference}.\nPrediction: {prediction}.\n\n{files}\n\n{EXIT_CODES}"
        ))
        .args(entry.options.iter().map(metric_arg))
        .args(common)
}

fn metric_arg(spec: &'static OptionSpec) -> Arg {
    let mut help = spec.help.to_owned();
    if !spec.default.is_empty() {
        help.push_str(&format!(" [default: {}]", spec.default));
    }
    let mut arg = Arg::new(spec.name)
        .long(spec.name)
        .help(help)
        .help_heading("Options of the metric");
    if spec.name.contains('-') {
        // As options are called in Python.
        arg = arg.alias(spec.name.replace('-', "_"));
    }
    if spec.is_switch() {
        return arg.action(ArgAction::SetTrue);
    }
    let choices = (spec.choices)();
    let arg = arg.value_name(spec.value).allow_negative_numbers(true);
    if choices.is_empty() {
        arg
    } else {
        arg.value_parser(PossibleValuesParser::new(choices))
    }
}

fn format_arg() -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .value_parser(["table", "json", "markdown"])
        .default_value("table")
        .help("How the result is printed")
}

fn common_args() -> Vec<Arg> {
    let field = |name: &'static str, default: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("NAME")
            .default_value(default)
            .help_heading("Fields of a record")
    };
    vec![
        Arg::new("references")
            .long("references")
            .short('r')
            .value_name("FILE")
            .required_unless_present("pairs")
            .requires("predictions")
            .help("What is true"),
        Arg::new("predictions")
            .long("predictions")
            .short('p')
            .value_name("FILE")
            .required_unless_present("pairs")
            .requires("references")
            .help("What the model put out"),
        Arg::new("pairs")
            .long("pairs")
            .value_name("FILE")
            .conflicts_with_all(["references", "predictions"])
            .help("One file with both, in JSON Lines"),
        Arg::new("missing")
            .long("missing")
            .value_name("POLICY")
            .value_parser(["error", "empty", "skip"])
            .default_value("error")
            .help("References without a prediction: an error, scored against an empty one, or left out"),
        Arg::new("extra")
            .long("extra")
            .value_name("POLICY")
            .value_parser(["error", "ignore"])
            .default_value("error")
            .conflicts_with("pairs")
            .help("Predictions without a reference: an error, or left out"),
        format_arg(),
        Arg::new("per-sample")
            .long("per-sample")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Also write the scores of each example, a JSON object a line"),
        Arg::new("details")
            .long("details")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Also write what is too much for a table, such as curves, as JSON"),
        Arg::new("svg")
            .long("svg")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help("Also draw each example, a file ID.svg in this folder"),
        Arg::new("show")
            .long("show")
            .value_name("ID")
            .action(ArgAction::Append)
            .help("Print this example (or all) as text in place of the scores; may be given again"),
        Arg::new("color")
            .long("color")
            .value_name("WHEN")
            .value_parser(["auto", "always", "never"])
            .default_value("auto")
            .help("Colours of --show; auto is on a terminal, unless NO_COLOR is set"),
        Arg::new("fail-under")
            .long("fail-under")
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
            .help("Exit with 1 if this score is below the value or undefined; may be given again"),
        Arg::new("threads")
            .long("threads")
            .value_name("N")
            .value_parser(value_parser!(u16).range(1..=256))
            .help("Threads to use; the result is the same on any number [default: all cores]"),
        Arg::new("quiet")
            .long("quiet")
            .short('q')
            .action(ArgAction::SetTrue)
            .help("No progress bar and no warnings on standard error"),
        field("id-field", "id").help("Field of the id"),
        field("reference-field", "reference")
            .help("Field of the reference; by default also `references`, for metrics that take several"),
        field("prediction-field", "prediction").help("Field of the prediction"),
    ]
}

pub(crate) fn style(matches: &ArgMatches) -> Style {
    match text(matches, "format") {
        "json" => Style::Json,
        "markdown" => Style::Markdown,
        _ => Style::Table,
    }
}

/// The gates `NAME=VALUE`.
fn gates(matches: &ArgMatches) -> Result<Vec<(String, f64)>, Failure> {
    let gates = matches.get_many::<String>("fail-under").unwrap_or_default();
    gates
        .map(|gate| {
            let parts = gate.split_once('=').and_then(|(name, value)| {
                let value: f64 = value.parse().ok()?;
                (value.is_finite() && !name.is_empty()).then(|| (name.to_owned(), value))
            });
            parts.ok_or_else(|| {
                Failure::Usage(format!(
                    "--fail-under {gate:?}: expected NAME=VALUE, for example accuracy=0.9"
                ))
            })
        })
        .collect()
}

/// What `metric score` was asked for.
pub(crate) fn task(metric: &str, matches: &ArgMatches) -> Result<Task, Failure> {
    let entry = registry::find(metric)
        .ok_or_else(|| Failure::Usage(format!("no metric {metric:?}; see metric list")))?;
    let mut options = Options::default();
    for spec in entry.options {
        if spec.is_switch() {
            if matches.get_flag(spec.name) {
                options = options.set(spec.name, "true");
            }
        } else if let Some(value) = matches.get_one::<String>(spec.name) {
            options = options.set(spec.name, value);
        }
    }
    if matches.get_one::<PathBuf>("details").is_some() {
        options = options.with_details();
    }
    let scorer = entry
        .scorer(&options)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let gates = gates(matches)?;
    refuse_outputs(entry, matches)?;
    let id = text(matches, "id-field");
    let reference = match text(matches, "reference-field") {
        "reference" => vec!["reference", "references"],
        other => vec![other],
    };
    let prediction = vec![text(matches, "prediction-field")];
    let names = |values: &[&str], others: &[&str]| {
        let values = values.iter().map(|&name| (name, Role::Value));
        let others = others.iter().map(|&name| (name, Role::Other));
        let id = std::iter::once((id, Role::Id));
        FieldNames::new(id.chain(values).chain(others))
    };
    let data = match matches.get_one::<String>("pairs") {
        Some(pairs) if matches!(entry.input, registry::Input::Whole) => {
            return Err(Failure::Usage(format!(
                "--pairs {pairs}: {metric} reads whole files: expected --references and --predictions"
            )));
        }
        Some(pairs) => {
            let source = Source::new(pairs)?;
            if source.format != Format::JsonLines {
                return Err(Failure::Usage(format!(
                    "--pairs {pairs}: expected JSON Lines (.jsonl), whose records have both fields"
                )));
            }
            let names = names(&reference, &prediction);
            Data::Records(Input { source, names }, None)
        }
        None => {
            let given = [text(matches, "references"), text(matches, "predictions")];
            if given == ["-", "-"] {
                return Err(Failure::Usage(
                    "only one of --references and --predictions can be standard input".to_owned(),
                ));
            }
            let [references, predictions] = given;
            if let Some(document) = whole(entry, references)? {
                Data::Whole(
                    Source::whole(references)?,
                    document,
                    Source::whole(predictions)?,
                )
            } else {
                let references = Input {
                    source: Source::new(references)?,
                    names: names(&reference, &[]),
                };
                let predictions = Input {
                    source: Source::new(predictions)?,
                    names: names(&prediction, &[]),
                };
                Data::Records(references, Some(predictions))
            }
        }
    };
    let output = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let (per_sample, details, pictures) = (output("per-sample"), output("details"), output("svg"));
    if details.is_some() && !scorer.has_details() {
        return Err(Failure::Usage(format!("--details: {metric} has none")));
    }
    if pictures.is_some() && !scorer.draws(Drawing::Svg) {
        return Err(Failure::Usage(format!("--svg: {metric} draws no pictures")));
    }
    let ids: Vec<String> = matches
        .get_many("show")
        .map(|ids| ids.cloned().collect())
        .unwrap_or_default();
    if !ids.is_empty() && !scorer.draws(Drawing::Text) {
        return Err(Failure::Usage(format!(
            "--show: {metric} shows no examples"
        )));
    }
    if !ids.is_empty() && style(matches) != Style::Table {
        return Err(Failure::Usage(format!(
            "--show prints text in place of the scores: --format {} does not go with it",
            text(matches, "format")
        )));
    }
    let show = (!ids.is_empty()).then(|| Show {
        ids,
        coloured: match text(matches, "color") {
            "always" => true,
            "never" => false,
            _ => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        },
    });
    let missing_given = matches.value_source("missing") == Some(ValueSource::CommandLine);
    if missing_given && matches!(data, Data::Whole(..)) && !joins_files(entry) {
        return Err(Failure::Usage(
            "--missing goes with records: in whole files a gap counts as an empty prediction"
                .to_owned(),
        ));
    }
    let threads = match matches.get_one::<u16>("threads") {
        Some(threads) => usize::from(*threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    Ok(Task {
        entry,
        scorer,
        data,
        policy: JoinPolicy {
            missing: match text(matches, "missing") {
                "empty" => Missing::Empty,
                "skip" => Missing::Skip,
                _ => Missing::Error,
            },
            ignore_extra: text(matches, "extra") == "ignore",
        },
        per_sample,
        details,
        pictures,
        show,
        gates,
        threads,
        progress: !matches.get_flag("quiet"),
    })
}

/// Whether the metric joins the parts of whole files by id, as records are joined.
pub(crate) fn joins_files(entry: &Entry) -> bool {
    matches!(entry.input, registry::Input::Joined(_))
}

/// The references, if the metric reads them, and so the predictions, as whole files or folders.
fn whole(entry: &Entry, references: &str) -> Result<Option<Document>, Failure> {
    let source = Source::whole(references)?;
    let is_whole = match entry.input {
        registry::Input::Records => return Ok(None),
        registry::Input::Whole => return source.document().map(Some),
        registry::Input::Either(is_whole) | registry::Input::Joined(is_whole) => is_whole,
    };
    if source.is_folder() {
        return source.document().map(Some);
    }
    let source = Source::new(references)?;
    if source.format != Format::Json || !source.is_rereadable() {
        return Ok(None);
    }
    let document = source.document()?;
    Ok(match &document.content {
        Content::Text(text) if !is_whole(text) => None,
        _ => Some(document),
    })
}

/// Refuses outputs over what is read, over each other, or where the result goes.
fn refuse_outputs(entry: &Entry, matches: &ArgMatches) -> Result<(), Failure> {
    let outputs: Vec<(&str, &Path)> = ["per-sample", "details", "svg"]
        .into_iter()
        .filter_map(|name| Some((name, matches.get_one::<PathBuf>(name)?.as_path())))
        .collect();
    // The metric reads the file that an option of it names.
    let files = entry.options.iter().filter(|spec| spec.value == "FILE");
    let inputs: Vec<&Path> = ["references", "predictions", "pairs"]
        .into_iter()
        .chain(files.map(|spec| spec.name))
        .filter_map(|name| matches.get_one::<String>(name))
        .map(Path::new)
        .collect();
    output_file::refuse(&outputs, &inputs)
}

/// The value of an argument that has a default or is required.
fn text<'a>(matches: &'a ArgMatches, name: &str) -> &'a str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}
