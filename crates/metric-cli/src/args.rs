//! The command line, made from the registry.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use metric_run::record::Shard;
use metric_run::registry::{Drawing, ENTRIES, Entry, Input, OptionKind, OptionSpec, Options, find};
use metric_run::{Candidate, Data, Format, RankExamples, Role, Run, Settings, Source};

use crate::checks::Check;
use crate::compare;
use crate::error::Failure;
use crate::list::words_text;
use crate::output::Style;
use crate::output_args::{format_arg, layout, number_args, numbers, quiet_arg, style, wide_arg};
use crate::output_file;
#[cfg(feature = "report")]
use crate::report_stored;
use crate::score::{MergeTask, Outputs, Show, Task};
use crate::scored::ClassNames;
use crate::valued_arg::valued_arg;
use crate::{check, headings, normalize, report, run, statistics, suggest, terminal, worker};

const FILES: &str = "\
Formats of files:
  JSON Lines (.jsonl, .ndjson): one object per line, with `id` and `reference`
      (or `references`, a list) in references, `id` and `prediction` in
      predictions, and all of these in --pairs
  JSON (.json): an object of values by id, or a list of such objects
  CSV (.csv, .tsv): a header with the names of these fields, then the records
  Parquet (.parquet), Arrow (.arrow, .feather): columns of these names
  text (.txt): one value per line, joined by line number
  transcripts (.trn, .stm, .ctm, and Kaldi's with --input-format kaldi)
  one transcript or page per file: subtitles (.srt, .vtt), JSON of Whisper,
      TextGrid, PAGE XML and ALTO XML (.xml); joined by the names of files
  sessions of several speakers, for cpwer, orcwer and dicpwer: SegLST
      (.seglst.json, or .json with `session_id`), .stm, and one .ctm per speaker
All except Parquet and Arrow may be compressed (.gz, .zst). A folder, several files, or a pattern in quotes \
('part-*.parquet') are read as one source. `-` reads standard input, as JSON Lines unless --input-format says otherwise.";

const DOCUMENTS: &str = "\
A .json file or a folder is read as a whole data set; for one image per record, use JSON Lines (.jsonl). Files may be \
compressed (.gz, .zst). `-` reads standard input, which must not be compressed.";

const EXIT_CODES: &str = "\
Exit codes: 0 success, 1 threshold check failed, 2 usage error, 3 bad input, 4 internal error, 5 limit reached.";

/// The help is at most this wide, so that it can be read and pasted anywhere.
const HELP_COLUMNS: usize = 80;

/// Whether a metric has an option.
type HasOption = fn(&Entry) -> bool;

/// The common options that need a metric of a kind.
const FOR_SOME: [(&str, HasOption); 14] = [
    ("reference-field", Entry::compares),
    ("references-format", Entry::compares),
    ("references-id-field", Entry::compares),
    ("more-references", Entry::has_references),
    ("speaker", Entry::reads_sessions),
    ("speaker-prefix", Entry::reads_transcripts),
    ("level", Entry::reads_transcripts),
    ("tier", Entry::reads_transcripts),
    ("svg", |entry| {
        cfg!(feature = "report") || entry.draws(Drawing::Svg)
    }),
    ("with-alignment", |entry| entry.draws(Drawing::Alignment)),
    ("images", Entry::has_images),
    ("show", |entry| entry.draws(Drawing::Text)),
    ("details", |entry| entry.details),
    ("details-form", |entry| entry.details),
];

/// Whether the metric has an option that not all metrics have.
fn has_option(entry: &Entry, option: &str) -> bool {
    let mut for_some = FOR_SOME.iter().filter(|(name, _)| *name == option);
    entry.options.iter().any(|spec| spec.name == option) || for_some.any(|(_, has)| has(entry))
}

/// Refuses an option that these metrics do not have, and says which metrics have it. An option that no
/// metric has is not judged.
fn refuse_foreign(option: &str, metrics: &[&Entry]) -> Result<(), Failure> {
    if !is_foreign(option, metrics) {
        return Ok(());
    }
    let with: Vec<&str> = ENTRIES
        .iter()
        .filter(|entry| has_option(entry, option))
        .map(|entry| entry.name)
        .collect();
    let without = metrics.iter().filter(|entry| !has_option(entry, option));
    let without: Vec<&str> = without.map(|entry| entry.name).collect();
    let verb = if with.len() == 1 { "has" } else { "have" };
    Err(Failure::Usage(format!(
        "--{option} is not an option of {}: {} {verb} it",
        without.join(" and "),
        with.join(", ")
    )))
}

/// Whether one of these metrics lacks an option that others have.
fn is_foreign(option: &str, metrics: &[&Entry]) -> bool {
    metrics.iter().any(|entry| !has_option(entry, option))
        && ENTRIES.iter().any(|entry| has_option(entry, option))
}

/// Explains what clap refuses: an option that only other metrics than these have, or a file without its option.
pub(crate) fn explained(error: &clap::Error, words: &[OsString]) -> Result<(), Failure> {
    let word = |index: usize| words.get(index).and_then(|word| word.to_str());
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return Ok(());
    };
    let (Some(command @ ("score" | "compare" | "check")), Some(names)) = (word(1), word(2)) else {
        return Ok(());
    };
    let Some(metrics) = entries(names) else {
        return Ok(());
    };
    if error.kind() == ErrorKind::UnknownArgument && !given.starts_with('-') {
        return Err(Failure::Usage(suggest::unnamed_file(command, names, given)));
    }
    match command {
        "score" | "check" => {
            refuse_foreign(&given.trim_start_matches('-').replace('_', "-"), &metrics)
        }
        _ => Ok(()),
    }
}

/// The program's arguments. `several` is a list of metrics that are scored in one run, such as `wer,cer`.
#[allow(
    clippy::too_many_lines,
    reason = "a command after the other, each with its arguments"
)]
pub(crate) fn command(several: Option<String>) -> Command {
    let several = several.filter(|names| names.contains(',') && entries(names).is_some());
    let several = several.map(|names| {
        Command::new(names)
            .about("Scores several metrics, reading the data once")
            .defer(with_args)
    });
    let score = Command::new("score")
        .about("Scores predictions against references")
        .subcommand_required(true)
        .subcommand_value_name("METRIC[,METRIC...]")
        .subcommand_help_heading("Metrics")
        .disable_help_subcommand(true)
        .after_help(
            "The options of a metric: `metric score wer --help`. Example:\n\n    \
             metric score wer -r references.jsonl -p predictions.jsonl\n\n\
             `metric demo --save samples` writes example files to the folder `samples`.",
        )
        .subcommands(ENTRIES.iter().map(metric_command))
        .subcommands(several);
    let compare = compare::command(ENTRIES.iter().map(|entry| {
        Command::new(entry.name)
            .about(entry.help)
            .defer(with_compare_args)
    }));
    let check = check::command(ENTRIES.iter().map(|entry| {
        Command::new(entry.name)
            .about(entry.help)
            .defer(with_check_args)
    }));
    let merge = Command::new("merge")
        .about("Merges the states that --state-out wrote for parts of a data set into one result")
        .arg(
            Arg::new("states")
                .value_name("STATE")
                .value_parser(value_parser!(PathBuf))
                .num_args(1..)
                .required(true)
                .help("State files, in any order"),
        )
        .args(headings::arranged(
            [
                state_out_arg(),
                format_arg(),
                wide_arg(),
                details_arg(),
                quiet_arg(),
            ]
            .into_iter()
            .chain(number_args())
            .chain(statistics::shown_args())
            .chain(check_args()),
        ))
        .after_help(EXIT_CODES);
    let run = run::command(format_arg(), number_args(), quiet_arg())
        .args(check_args().map(|arg| arg.conflicts_with_all(["dry-run", "init"])));
    #[cfg(feature = "report")]
    let stored = Some(report_stored::command());
    #[cfg(not(feature = "report"))]
    let stored: Option<Command> = None;
    let normalize = normalize::command(EXIT_CODES);
    let metric = Arg::new("metric")
        .value_name("METRIC")
        .value_parser(PossibleValuesParser::new(
            ENTRIES.iter().map(|entry| entry.name),
        ))
        .hide_possible_values(true);
    let list = Command::new("list")
        .about("Lists the metrics with their options")
        .arg(metric.clone().help("Only this metric, at length"))
        .arg(
            format_arg()
                .value_parser(["table", "json", "markdown"])
                .help("Format of the list"),
        );
    let completions = Command::new("completions")
        .about("Prints a script that completes commands and options in a shell")
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .value_parser(value_parser!(Shell))
                .required(true)
                .help("The shell that the script is for"),
        );
    let man = Command::new("man")
        .about("Prints the manual page, or writes the pages of all commands")
        .arg(
            Arg::new("out")
                .long("out")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .help("Write the pages of all commands to this folder"),
        );
    let demo = Command::new("demo")
        .about("Scores small built-in samples from each domain")
        .arg(metric.help("Only the samples of this metric"))
        .arg(
            Arg::new("save")
                .long("save")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .help("Also write the sample files to this folder"),
        );
    Command::new("metric")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Scores model predictions against references. The numbers are tested against the published reference implementations")
        .after_help("Try `metric demo`, then `metric list`, then `metric score METRIC --help`.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(HELP_COLUMNS)
        .arg(color_arg())
        .subcommands([score, compare, check, merge, run].map(with_color))
        .subcommands(stored.map(with_color))
        .subcommands([normalize, list, demo, completions, man].map(with_color))
}

/// The arguments of the metric are only put together if they are requested.
fn metric_command(entry: &'static Entry) -> Command {
    Command::new(entry.name).about(entry.help).defer(with_args)
}

/// The error in a list of metrics, such as `wer,cre`, if there is one.
pub(crate) fn refuse_names(names: &str) -> Result<(), Failure> {
    let mut seen = Vec::new();
    for name in names.split(',') {
        let problem = if name.is_empty() {
            "a name is missing: expected names separated by commas, such as wer,cer".to_owned()
        } else if find(name).is_none() {
            suggest::unknown_metric(name)
        } else if seen.contains(&name) {
            format!("{name} is listed twice: expected each metric once")
        } else {
            seen.push(name);
            continue;
        };
        return Err(Failure::Usage(format!("{names:?}: {problem}")));
    }
    Ok(())
}

/// The metrics of a list of names, if there are all of them and each is named once.
fn entries(names: &str) -> Option<Vec<&'static Entry>> {
    let mut entries: Vec<&'static Entry> = Vec::new();
    for name in names.split(',') {
        let entry = find(name)?;
        if entries.iter().any(|other| other.name == name) {
            return None;
        }
        entries.push(entry);
    }
    Some(entries)
}

fn with_args(command: Command) -> Command {
    let Some(entries) = entries(command.get_name()) else {
        return command;
    };
    let name = command.get_name();
    let documents = |entry: &&Entry| matches!(entry.input, Input::Documents);
    let usage = usage("score", name, &entries);
    let files = if entries.iter().copied().all(|entry| documents(&entry)) {
        DOCUMENTS
    } else {
        FILES
    };
    let help = values_of(&entries);
    let common = common_args().into_iter().map(|arg| {
        let is_hidden = is_foreign(arg.get_id().as_str(), &entries);
        only_side(arg.hide(is_hidden), &entries)
    });
    let mut specs: Vec<&'static OptionSpec> = Vec::new();
    for spec in entries.iter().flat_map(|entry| entry.options) {
        if !specs.iter().any(|other| other.name == spec.name) {
            specs.push(spec);
        }
    }
    // Metrics may have an option of one name with different choices: each judges its own.
    let judged = entries.len() == 1;
    // Nor do they have to agree on its default.
    let options = || entries.iter().flat_map(|entry| entry.options);
    let is_default = |spec: &OptionSpec| {
        let mut of_name = options().filter(|other| other.name == spec.name);
        !spec.default.is_empty() && of_name.all(|other| other.default == spec.default)
    };
    let words = words_of(specs.iter().copied());
    let specs = specs.into_iter();
    let specs = specs.map(|spec| metric_arg(spec, judged, is_default(spec)));
    let images = report::image_args().into_iter();
    let images = images.map(|arg| arg.hide(is_foreign("images", &entries)));
    let args = specs
        .chain(common)
        .chain(worker::args())
        .chain(statistics::args())
        .chain(report::args())
        .chain(images);
    with_help(
        command,
        args,
        &format!("{words}{help}{files}\n\n{EXIT_CODES}"),
    )
    .override_usage(usage)
}

/// The forms of a command with these metrics.
fn usage(command: &str, name: &str, entries: &[&Entry]) -> String {
    if entries.iter().all(|entry| entry.compares()) {
        format!(
            "metric {command} {name} -r FILE -p FILE [OPTIONS]\n       metric {command} {name} --pairs FILE [OPTIONS]"
        )
    } else {
        format!("metric {command} {name} -p FILE [OPTIONS]")
    }
}

/// An argument of metrics some of which may read predictions alone: these need no references.
fn only_side(arg: Arg, entries: &[&Entry]) -> Arg {
    let file = |name: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .num_args(1..)
            .action(ArgAction::Append)
    };
    match arg.get_id().as_str() {
        _ if entries.iter().all(|entry| entry.compares()) => arg,
        // Refused with a reason: see `refuse_references`.
        "references" => file("references").short('r').hide(true),
        "pairs" => file("pairs").hide(true),
        "predictions" => file("predictions")
            .short('p')
            .help("Predictions of the model"),
        _ => arg,
    }
}

/// Refuses references and pairs of metrics that read predictions alone, and a command without their predictions.
fn refuse_references(entries: &[&Entry], matches: &ArgMatches) -> Result<(), Failure> {
    let alone = entries.iter().filter(|entry| !entry.compares());
    let alone: Vec<&str> = alone.map(|entry| entry.name).collect();
    let names = alone.join(" and ");
    if alone.is_empty() {
        return Ok(());
    }
    for (name, option) in [("references", "-r"), ("pairs", "--pairs")] {
        if matches.contains_id(name) {
            let problem = format!("{option}: {names} has no references: expected only -p FILE");
            return Err(Failure::Usage(problem));
        }
    }
    if alone.len() < entries.len() {
        let problem = format!(
            "{names} has no references, and other metrics have: score them in separate runs"
        );
        return Err(Failure::Usage(problem));
    }
    if matches.contains_id("predictions") {
        return Ok(());
    }
    let problem = format!("no predictions: {names} needs -p FILE");
    Err(Failure::Usage(problem))
}

/// The values of the records of each metric.
fn values_of(entries: &[&Entry]) -> String {
    let values = entries.iter().map(|entry| {
        let (reference, prediction) = entry.values;
        let of = match entries.len() {
            1 => String::new(),
            _ => format!(" of {}", entry.name),
        };
        format!("Reference{of}: {reference}.\nPrediction{of}: {prediction}.\n\n")
    });
    values.collect()
}

/// The words that the values of the metrics' options are made of, such as the steps of a normalization.
fn words_of<'a>(specs: impl IntoIterator<Item = &'a OptionSpec>) -> String {
    let specs = specs.into_iter().filter(|spec| !spec.words.is_empty());
    let words = specs.map(|spec| {
        let (name, words) = (spec.name, words_text(spec, 2));
        format!("Words of --{name}:\n{words}\n")
    });
    words.collect()
}

/// A command with its options under headings, and with texts after them: a long one, and a short one that leads to it.
fn with_help(command: Command, args: impl Iterator<Item = Arg>, after: &str) -> Command {
    command
        .disable_help_flag(true)
        .args(headings::arranged(
            args.chain([color_arg(), headings::help_arg()]),
        ))
        .after_help("All options, the values of records and the formats of files: --help")
        .after_long_help(after.to_owned())
}

/// The arguments of `metric check METRIC`.
fn with_check_args(command: Command) -> Command {
    let Some(entry) = find(command.get_name()) else {
        return command;
    };
    let usage = usage("check", entry.name, &[entry]);
    let shows_default = |spec: &OptionSpec| !spec.default.is_empty();
    let specs = entry.options.iter();
    let specs = specs.map(|spec| metric_arg(spec, true, shows_default(spec)));
    let shared = common_args().into_iter().chain(statistics::args());
    let shared = shared.filter(|arg| !is_foreign(arg.get_id().as_str(), &[entry]));
    let shared = shared.map(|arg| only_side(arg, &[entry]));
    let args = specs.chain(shared.filter_map(check::shared));
    let (words, values) = (words_of(entry.options), values_of(&[entry]));
    with_help(
        command,
        args,
        &format!("{words}{values}{FILES}\n\n{EXIT_CODES}"),
    )
    .override_usage(usage)
}

/// The arguments of `metric compare METRIC`.
fn with_compare_args(command: Command) -> Command {
    let Some(entry) = find(command.get_name()) else {
        return command;
    };
    let usage = if entry.compares() {
        format!(
            "metric compare {0} -r FILE -p FILE FILE... [OPTIONS]\n       metric compare {0} --pairs FILE [OPTIONS]",
            entry.name
        )
    } else {
        format!("metric compare {} -p FILE FILE... [OPTIONS]", entry.name)
    };
    let shared = common_args().into_iter().filter(|arg| {
        let name = arg.get_id().as_str();
        let is_shared = compare::SHARED.contains(&name) || Settings::NAMES.contains(&name);
        is_shared && !is_foreign(name, &[entry])
    });
    let shared = shared.map(|arg| match arg.get_id().as_str() {
        "references" => Arg::new("references")
            .long("references")
            .short('r')
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .required_unless_present("pairs")
            .requires("predictions")
            .help("Ground truth"),
        "prediction-field" => arg
            .action(ArgAction::Append)
            .help("Field that holds the prediction; with --pairs, repeat it for each system"),
        "extra" => Arg::new("extra")
            .long("extra")
            .value_name("POLICY")
            .value_parser(["error", "ignore"])
            .default_value("error")
            .help("What to do with a prediction without a reference: stop with an error, or ignore it"),
        _ => arg,
    });
    let shows_default = |spec: &OptionSpec| !spec.default.is_empty();
    let specs = entry.options.iter();
    let specs = specs.map(|spec| metric_arg(spec, true, shows_default(spec)));
    let args = specs
        .chain(shared)
        .chain(compare::args())
        .map(|arg| only_side(arg, &[entry]))
        .chain(statistics::args())
        .chain(report::args());
    let words = words_of(entry.options);
    with_help(command, args, &format!("{words}{EXIT_CODES}")).override_usage(usage)
}

fn metric_arg(spec: &'static OptionSpec, judged: bool, shows_default: bool) -> Arg {
    let mut help = spec.help.to_owned();
    if shows_default {
        help.push_str(&format!(" [default: {}]", spec.default));
    }
    let mut arg = Arg::new(spec.name).long(spec.name).help(help);
    if spec.name.contains('-') {
        // As options are called in Python.
        arg = arg.alias(spec.name.replace('-', "_"));
    }
    if !spec.also.is_empty() {
        arg = arg
            .visible_alias(spec.also)
            .alias(spec.also.replace('-', "_"));
    }
    if spec.is_flag() {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(spec.value).allow_negative_numbers(true);
    match spec.kind {
        OptionKind::Choice(choices) if judged => {
            let choice = |choice: &'static str| {
                let aliases = spec.aliases.iter();
                let aliases = aliases.filter(move |(_, meant)| *meant == choice);
                PossibleValue::new(choice).aliases(aliases.map(|(alias, _)| *alias))
            };
            // The metric says what to write in their place.
            let refused = spec.refused.0.iter();
            let refused = refused.map(|word| PossibleValue::new(*word).hide(true));
            let values = choices().into_iter().map(choice).chain(refused);
            arg.value_parser(PossibleValuesParser::new(values))
        }
        _ => arg,
    }
}

/// Colors are chosen anywhere on the command line.
fn with_color(command: Command) -> Command {
    command.arg(color_arg())
}

fn color_arg() -> Arg {
    Arg::new("color")
        .long("color")
        .value_name("WHEN")
        .value_parser(terminal::CHOICES.map(|(name, _)| name))
        .default_value("auto")
        .help_heading("General")
        .hide_short_help(true)
        .help("When to use colors; auto: on a terminal, unless the environment variable NO_COLOR is set")
}

pub(crate) fn max_bytes_arg(help: &'static str) -> Arg {
    Arg::new("max-bytes")
        .long("max-bytes")
        .value_name("SIZE")
        .value_parser(value_parser!(ByteSize))
        .default_value("8GB")
        .help(help)
}

fn state_out_arg() -> Arg {
    Arg::new("state-out")
        .long("state-out")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Also write the state, which holds the counts behind the scores, for `metric merge`")
}

fn details_arg() -> Arg {
    Arg::new("details")
        .long("details")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Also write results that are too large for a table, such as curves or confusions, as JSON")
}

fn check_args() -> [Arg; 2] {
    let check = |name: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
    };
    [
        check("fail-under")
            .help("Exit with code 1 if the score NAME is below VALUE, or undefined; repeatable"),
        check("fail-over")
            .help("Exit with code 1 if the score NAME is above VALUE, or undefined; repeatable"),
    ]
}

#[allow(clippy::too_many_lines, reason = "a list of arguments")]
fn common_args() -> Vec<Arg> {
    let field = |name: &'static str, default: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("NAME")
            .default_value(default)
    };
    let side_field = |name: &'static str| valued_arg(name, "NAME");
    let format_of = |name: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("FORMAT")
            .value_parser(PossibleValuesParser::new(Format::names()))
    };
    let split = |name: &'static str| Arg::new(name).long(name).value_name("NAME");
    let csv = valued_arg;
    let [fail_under, fail_over] = check_args();
    let [digits, percent] = number_args();
    vec![
        Arg::new("references")
            .long("references")
            .short('r')
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .num_args(1..)
            .required_unless_present("pairs")
            .requires("predictions")
            .help("Ground truth"),
        Arg::new("predictions")
            .long("predictions")
            .short('p')
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .num_args(1..)
            .required_unless_present("pairs")
            .requires("references")
            .help("Predictions of the model"),
        Arg::new("more-references")
            .long("more-references")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .action(ArgAction::Append)
            .conflicts_with("pairs")
            .help("File with a further reference of each record, in the format of -r; repeatable"),
        Arg::new("pairs")
            .long("pairs")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .num_args(1..)
            .conflicts_with_all(["references", "predictions"])
            .help("Files whose records hold both reference and prediction, instead of -r and -p"),
        format_of("input-format").help("Format of the files, if it cannot be told from their names"),
        format_of("references-format").help("Format of the references, instead of --input-format"),
        format_of("predictions-format").help("Format of the predictions, instead of --input-format"),
        split("split").help("Split to read from a folder that DatasetDict.save_to_disk (Hugging Face) wrote"),
        split("references-split").help("Split of the references, instead of --split"),
        split("predictions-split").help("Split of the predictions, instead of --split"),
        Arg::new("class-names")
            .long("class-names")
            .action(ArgAction::SetTrue)
            .help("Show classes by the names that a Hugging Face dataset gives them"),
        csv("delimiter", "comma|tab|semicolon|pipe|CHAR")
            .help("Delimiter of CSV files [default: comma, or tab for .tsv]"),
        csv("quote", "WHICH")
            .value_parser(["double", "none"])
            .default_value("double")
            .help("Quote character of CSV files; none: quotes are ordinary text"),
        csv("header", "WHICH")
            .value_parser(["first", "none"])
            .default_value("first")
            .help("Header of CSV files: the first line; none: columns are called 1, 2, ..."),
        csv("empty-field", "MEANING")
            .value_parser(["error", "text", "null"])
            .default_value("error")
            .help("Meaning of an empty CSV field without quotes: an error, the empty text, or null"),
        valued_arg("encoding", "NAME")
            .help("Encoding of files of text, such as utf-16, windows-1252 or shift_jis [default: utf-8]"),
        valued_arg("speaker", "WHICH")
            .value_parser(["file", "channel"])
            .default_value("file")
            .help("Speaker of the words of a CTM file: the name of the file, or the channel"),
        valued_arg("speaker-prefix", "FORM")
            .value_parser(["brackets", "colon", "none"])
            .default_value("brackets")
            .help("Form of a speaker's name at the start of a text of SRT or WebVTT: [NAME]: or NAME:"),
        valued_arg("level", "WHICH")
            .value_parser(["segment", "word"])
            .default_value("segment")
            .help("Parts of JSON of Whisper to read as segments"),
        valued_arg("tier", "NAME")
            .action(ArgAction::Append)
            .help("Tier of a TextGrid to read, instead of all; repeatable"),
        Arg::new("missing")
            .long("missing")
            .value_name("POLICY")
            .value_parser(["error", "empty", "skip"])
            .default_value("error")
            .help("What to do with a reference without a prediction: stop with an error, score it against an empty prediction, or skip it"),
        Arg::new("extra")
            .long("extra")
            .value_name("POLICY")
            .value_parser(["error", "ignore"])
            .default_value("error")
            .help("What to do with a prediction without a reference: stop with an error, or ignore it"),
        valued_arg("null", "POLICY")
            .value_parser(["error", "empty", "skip"])
            .help("What to do with a prediction that is null, such as a refusal or a failed request [default: as --missing says]"),
        Arg::new("as-text")
            .long("as-text")
            .action(ArgAction::SetTrue)
            .help("Read numbers, true and false as texts, as they are written in the files"),
        valued_arg("where", "FIELD=VALUE")
            .action(ArgAction::Append)
            .help("Score only the records whose field has this value, or FIELD!=VALUE another one; values of one field are alternatives; repeatable"),
        format_arg(),
        digits,
        percent,
        Arg::new("per-sample")
            .long("per-sample")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Also write the scores of each example, one JSON object per line"),
        Arg::new("with-inputs")
            .long("with-inputs")
            .action(ArgAction::SetTrue)
            .requires("per-sample")
            .help("Add the reference and the prediction to each line of --per-sample"),
        Arg::new("with-alignment")
            .long("with-alignment")
            .action(ArgAction::SetTrue)
            .requires("per-sample")
            .help("Add the alignment of reference and prediction to each line of --per-sample"),
        details_arg(),
        Arg::new("details-form")
            .long("details-form")
            .value_name("FORM")
            .value_parser(["full", "compact"])
            .default_value("full")
            .requires("details")
            .help("Size of the file of --details: everything, or at most 200 points per curve and means instead of large arrays"),
        state_out_arg(),
        Arg::new("shard")
            .long("shard")
            .value_name("I/N")
            .value_parser(value_parser!(Shard))
            .help("Score only part I of N (I from 0): each record belongs to one part, by the hash of its id"),
        Arg::new("svg")
            .long("svg")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help("Also write the charts of the report as SVG files, and pictures of examples if the metric draws them"),
        Arg::new("show")
            .long("show")
            .value_name("ID")
            .action(ArgAction::Append)
            .help("Print the example with this id instead of the scores, or every example with all; repeatable"),
        Arg::new("show-worst")
            .long("show-worst")
            .value_name("N")
            .value_parser(value_parser!(u16).range(1..))
            .conflicts_with("show")
            .help("Also print the N examples with the worst scores"),
        valued_arg("worst-by", "SCORE")
            .requires("show-worst")
            .help("Score by which examples are the worst [default: the first score of the table]"),
        wide_arg(),
        fail_under,
        fail_over,
        Arg::new("threads")
            .long("threads")
            .value_name("N")
            .value_parser(value_parser!(u16).range(1..=256))
            .help("Number of threads, which does not change the result [default: all cores]"),
        max_bytes_arg("Maximum amount of data to hold in memory, such as 500MB; streamed data has no limit"),
        quiet_arg(),
        field("id-field", "id").help("Field that holds the id; #row: join by row number"),
        side_field("references-id-field").help("Field that holds the id in references, instead of --id-field"),
        side_field("predictions-id-field").help("Field that holds the id in predictions, instead of --id-field"),
        field("reference-field", "reference")
            .help("Field that holds the reference; by default also `references`, for metrics that accept a list of references"),
        field("prediction-field", "prediction").help("Field that holds the prediction"),
        Arg::new("prediction-fields")
            .long("prediction-fields")
            .value_name("NAME,...")
            .conflicts_with("prediction-field")
            .help("Columns of CSV, Parquet or Arrow whose numbers are the prediction, as a list"),
    ]
}

/// The score that `--worst-by` names.
fn worst_by(entries: &[&Entry], matches: &ArgMatches) -> Result<Option<String>, Failure> {
    let Some(name) = matches.get_one::<String>("worst-by") else {
        return Ok(None);
    };
    let is_ranked = |entry: &&Entry| {
        let score = entry.score(name);
        score.is_some_and(|score| score.direction.is_some())
    };
    if entries.iter().all(is_ranked) {
        return Ok(Some(name.clone()));
    }
    let scores = entries.iter().flat_map(|entry| entry.scores);
    let scores = scores.filter(|score| score.direction.is_some());
    let scores: Vec<String> = scores.map(ToString::to_string).collect();
    Err(Failure::Usage(format!(
        "invalid value {name:?} for --worst-by: expected a score that has a direction: {}",
        scores.join(", ")
    )))
}

/// The number of worst examples that are printed.
pub(crate) fn worst(matches: &ArgMatches) -> Result<usize, Failure> {
    let Ok(Some(worst)) = matches.try_get_one::<u16>("show-worst") else {
        return Ok(0);
    };
    match style(matches) {
        Style::Table | Style::Markdown => Ok(usize::from(*worst)),
        _ => Err(Failure::Usage(format!(
            "--show-worst prints a table: --format {} does not go with it; --per-sample FILE writes the scores of all examples",
            text(matches, "format")
        ))),
    }
}

/// The options of a metric, as far as they are given.
fn options(entry: &Entry, matches: &ArgMatches, is_compare: bool) -> Options {
    let mut options = Options::default();
    for spec in entry.options {
        if spec.is_flag() {
            if matches.get_flag(spec.name) {
                options = options.set(spec.name, "true");
            }
        } else if let Some(value) = matches.get_one::<String>(spec.name) {
            options = options.set(spec.name, value.as_str());
        }
    }
    let is_given = |name: &str| matches!(matches.try_get_one::<PathBuf>(name), Ok(Some(_)));
    let form = matches.try_get_one::<String>("details-form");
    let is_compact = matches!(form, Ok(Some(form)) if form == "compact");
    // A comparison has no details. The report of a run shows them.
    if is_compare {
        return options;
    }
    // A page shows what people can look at.
    let has_page = entry.details && (is_given("report") || is_given("svg"));
    match (is_given("details"), is_compact) {
        (true, false) => options.with_details(),
        (true, true) => options.with_compact_details(),
        (false, _) if has_page => options.with_compact_details(),
        (false, _) => options,
    }
}

/// The arguments of `metric compare`.
pub(crate) fn compare_task(
    name: &str,
    matches: &ArgMatches,
) -> Result<(&'static Entry, compare::Task), Failure> {
    let entry =
        find(name).ok_or_else(|| Failure::Usage(format!("no metric {name:?}; see metric list")))?;
    let mut run = Run::new(entry, &options(entry, matches, true))?;
    set_up(matches, &mut run)?;
    run.statistics = Some(statistics::statistics(matches)?);
    run.slices = statistics::slices(matches)?;
    run.shown = statistics::shown(matches);
    let paths = |name: &str| -> Vec<PathBuf> {
        let paths = matches.try_get_many(name).ok().flatten();
        paths.unwrap_or_default().cloned().collect()
    };
    let [references, predictions, pairs, more] =
        ["references", "predictions", "pairs", "more-references"].map(paths);
    let inputs = [&references, &predictions, &pairs, &more]
        .into_iter()
        .flatten();
    refuse_outputs(
        inputs.map(PathBuf::as_path).collect(),
        &["replicates"],
        matches,
    )?;
    let strings = |name: &str| -> Vec<String> {
        matches
            .get_many(name)
            .unwrap_or_default()
            .cloned()
            .collect()
    };
    let fields = strings("prediction-field");
    refuse_references(&[entry], matches)?;
    let candidates = if pairs.is_empty() {
        if fields.len() > 1 {
            let problem = "--prediction-field is given more than once: expected --pairs, whose fields are systems";
            return Err(Failure::Usage(problem.to_owned()));
        }
        let names = compare::names(matches, compare::names_of_files(&predictions))?;
        let systems = names.into_iter().zip(predictions);
        let systems =
            systems.map(|(name, path)| Ok((name, source_of(Role::Predictions, &[path], matches)?)));
        let systems = systems.collect::<Result<_, Failure>>()?;
        if entry.compares() {
            let references = source_of(Role::References, &references, matches)?;
            Candidate::of_sources(&references, systems)
        } else {
            Candidate::of_predictions(systems)
        }
    } else {
        let names = compare::names(matches, fields.clone())?;
        let systems = names.into_iter().zip(fields).collect();
        Candidate::of_fields(&source_of(Role::Pairs, &pairs, matches)?, systems)
    };
    if let [one] = candidates.as_slice() {
        return Err(Failure::Usage(format!(
            "1 system to compare, {:?}: expected at least 2, as in -p a.jsonl b.jsonl, or with --pairs as in --prediction-field a --prediction-field b",
            one.name
        )));
    }
    run.more_references = more_references(matches)?;
    let task = compare::Task {
        candidates,
        run,
        compare: compare::compare(matches),
        regressions: matches.get_one::<u16>("show-regressions").copied(),
        worse: strings("fail-if-worse"),
        style: compare::style(matches),
        numbers: numbers(matches)?,
        layout: layout(matches),
        replicates: matches.get_one::<PathBuf>("replicates").cloned(),
        report: report::wanted(matches)?,
        progress: !matches.get_flag("quiet"),
    };
    Ok((entry, task))
}

/// The arguments of `metric score`.
#[allow(
    clippy::too_many_lines,
    reason = "an argument after the other becomes a field of the task"
)]
pub(crate) fn task(names: &str, matches: &ArgMatches) -> Result<Task, Failure> {
    let entries = entries(names)
        .ok_or_else(|| Failure::Usage(format!("no metric {names:?}; see metric list")))?;
    for (option, _) in FOR_SOME {
        let is_known = matches.try_contains_id(option).is_ok();
        if is_known && matches.value_source(option) == Some(ValueSource::CommandLine) {
            refuse_foreign(option, &entries)?;
        }
    }
    let mut run: Option<Run> = None;
    for entry in &entries {
        let options = options(entry, matches, false);
        let with_entry = match run {
            None => Run::new(entry, &options),
            Some(run) => run.with_metric(entry, &options),
        };
        run = Some(with_entry.map_err(|error| match entries.len() {
            1 => Failure::from(error),
            // Which of the metrics does not take the option.
            _ => Failure::Usage(format!("{}: {error}", entry.name)),
        })?);
    }
    let mut run = run.ok_or_else(|| Failure::Usage("expected a metric".to_owned()))?;
    let checks = Check::given(matches)?;
    for check in &checks {
        check.refuse_wrong_direction(&entries)?;
    }
    let inputs = entries.iter().flat_map(|entry| entry.options);
    let inputs = inputs.filter(|spec| matches!(spec.kind, OptionKind::Path));
    let inputs = ["references", "predictions", "pairs", "more-references"]
        .into_iter()
        .chain(inputs.map(|spec| spec.name))
        .flat_map(|name| {
            let paths = matches.try_get_many::<PathBuf>(name).ok().flatten();
            let paths = paths.into_iter().flatten().map(PathBuf::as_path);
            let text = matches.try_get_one::<String>(name).ok().flatten();
            paths.chain(text.map(Path::new)).collect::<Vec<_>>()
        })
        .collect();
    refuse_outputs(
        inputs,
        &["per-sample", "details", "state-out", "svg", "replicates"],
        matches,
    )?;
    statistics::apply(matches, &mut run)?;
    set_up(matches, &mut run)?;
    run.more_references = more_references(matches)?;
    run.shard = matches.get_one::<Shard>("shard").copied();
    let data = data(&entries, matches)?;
    let class_names = match (matches.get_flag("class-names"), &data) {
        (false, _) | (true, Data::Documents { .. }) => None,
        (true, Data::Sources { references, .. } | Data::Pairs(references)) => {
            let field = run
                .fields
                .reference
                .as_deref()
                .unwrap_or("reference")
                .to_owned();
            let names = references.class_names(&field)?;
            Some(ClassNames { field, names })
        }
    };
    let output = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let (per_sample, pictures) = (output("per-sample"), output("svg"));
    let outputs = Outputs {
        details: output("details"),
        state: output("state-out"),
        replicates: output("replicates"),
        checks,
    };
    let report = report::wanted(matches)?;
    // Charts are those of a report that is not written.
    let charts = match (&report, &pictures) {
        (None, Some(_)) => report::charts(),
        _ => None,
    };
    let draws_examples =
        pictures.is_some() && entries.iter().any(|entry| entry.draws(Drawing::Svg));
    run.samples = per_sample.is_some();
    let report = report.or(charts);
    run.ranking = report.as_ref().map(report::Wanted::ranking);
    if let worst @ 1.. = worst(matches)? {
        let of_report = run.ranking.map_or(0, |ranking| ranking.most);
        run.ranking = Some(RankExamples {
            most: worst.max(of_report),
            inputs: true,
        });
        run.ranked_by = worst_by(&entries, matches)?;
    }
    if outputs.details.is_some() && !run.has_details() {
        return Err(Failure::Usage(format!(
            "--details: {names} has no details under these options"
        )));
    }
    if pictures.is_some() && entries.len() > 1 {
        let problem = "draws one metric: score it in a run of its own";
        return Err(Failure::Usage(format!("--svg {problem}")));
    }
    Ok(Task {
        run,
        data,
        per_sample,
        class_names,
        with_inputs: matches.get_flag("with-inputs"),
        with_alignment: matches.get_flag("with-alignment"),
        outputs,
        pictures,
        draws_examples,
        report,
        show: show(matches)?,
        several: entries.len() > 1,
        progress: !matches.get_flag("quiet"),
    })
}

/// The settings of a run that are given on the command line.
fn settings(matches: &ArgMatches) -> Result<Settings, Failure> {
    Ok(Settings::read(|name| match name {
        _ if Settings::FLAGS.contains(&name) => {
            let is_known = matches.try_contains_id(name).is_ok();
            (is_known && matches.get_flag(name)).then(|| "true".to_owned())
        }
        _ if Settings::LISTS.contains(&name) => list(matches, name),
        _ => given(matches, name),
    })?)
}

/// The values of an option that may be given several times, one per line.
fn list(matches: &ArgMatches, name: &str) -> Option<String> {
    let values = matches.try_get_many::<String>(name).ok().flatten()?;
    Some(values.cloned().collect::<Vec<_>>().join("\n"))
}

/// The text of an option, if the command has it and it is on the command line.
fn given(matches: &ArgMatches, name: &str) -> Option<String> {
    let is_known = matches.try_contains_id(name).is_ok();
    let is_given = is_known && matches.value_source(name) == Some(ValueSource::CommandLine);
    let value = matches.try_get_one::<String>(name).ok().flatten();
    value.filter(|_| is_given).cloned()
}

/// The data to read, from where the options say.
fn data(entries: &[&Entry], matches: &ArgMatches) -> Result<Data, Failure> {
    refuse_references(entries, matches)?;
    let source = |name: &str, role: Role| {
        let paths: Vec<PathBuf> = matches
            .get_many(name)
            .unwrap_or_default()
            .cloned()
            .collect();
        source_of(role, &paths, matches)
    };
    if matches.contains_id("pairs") {
        return Ok(Data::Pairs(source("pairs", Role::Pairs)?));
    }
    if !entries.iter().all(|entry| entry.compares()) {
        return Ok(Data::Pairs(source("predictions", Role::Predictions)?));
    }
    let references = source("references", Role::References);
    match (references, source("predictions", Role::Predictions)) {
        (Ok(references), Ok(predictions)) => Ok(Data::Sources {
            references,
            predictions,
        }),
        // Names of both files may be wrong.
        (Err(Failure::Input(one)), Err(Failure::Input(other))) if one != other => {
            Err(Failure::Input(format!("{one}\n{other}")))
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// The arguments of `metric check`.
pub(crate) fn check_task(name: &str, matches: &ArgMatches) -> Result<(Run, Data), Failure> {
    let entry =
        find(name).ok_or_else(|| Failure::Usage(format!("no metric {name:?}; see metric list")))?;
    // Values are read under the same options, and there are no details.
    let mut run = Run::new(entry, &options(entry, matches, true))?;
    set_up(matches, &mut run)?;
    run.more_references = more_references(matches)?;
    run.shard = matches.get_one::<Shard>("shard").copied();
    run.slices = statistics::slices(matches)?;
    Ok((run, data(&[entry], matches)?))
}

/// Takes over how records are read and joined.
fn set_up(matches: &ArgMatches, run: &mut Run) -> Result<(), Failure> {
    settings(matches)?.apply(run);
    let threads = matches.get_one::<u16>("threads");
    run.threads = threads.and_then(|threads| NonZeroUsize::new(usize::from(*threads)));
    if let Some(most) = matches.get_one::<ByteSize>("max-bytes") {
        run.max_bytes = most.as_u64();
    }
    Ok(())
}

/// The files with further references.
fn more_references(matches: &ArgMatches) -> Result<Vec<Source>, Failure> {
    let paths = matches.try_get_many::<PathBuf>("more-references");
    let paths = paths.ok().flatten().unwrap_or_default();
    paths
        .map(|path| source_of(Role::References, std::slice::from_ref(path), matches))
        .collect()
}

/// The source of a side, in the format that is given for it.
fn source_of(role: Role, paths: &[PathBuf], matches: &ArgMatches) -> Result<Source, Failure> {
    let is_folder_of = |side: &str| {
        let paths = matches.try_get_many::<PathBuf>(side).ok().flatten();
        paths.unwrap_or_default().any(|path| path.is_dir())
    };
    let any_folder = ["references", "predictions"].into_iter().any(is_folder_of);
    Ok(settings(matches)?.source(role, paths, any_folder)?)
}

/// The records to show in place of the scores.
fn show(matches: &ArgMatches) -> Result<Option<Show>, Failure> {
    let ids: Vec<String> = matches
        .get_many("show")
        .map(|ids| ids.cloned().collect())
        .unwrap_or_default();
    if ids.is_empty() {
        return Ok(None);
    }
    if style(matches) != Style::Table {
        return Err(Failure::Usage(format!(
            "--show prints text in place of the scores: --format {} does not go with it",
            text(matches, "format")
        )));
    }
    Ok(Some(Show {
        ids,
        colored: terminal::has_colors(&std::io::stdout()),
    }))
}

/// The arguments of `metric merge`.
pub(crate) fn merge_task(matches: &ArgMatches) -> Result<MergeTask, Failure> {
    let states = matches.get_many::<PathBuf>("states").unwrap_or_default();
    let states: Vec<PathBuf> = states.cloned().collect();
    let inputs = states.iter().map(PathBuf::as_path).collect();
    refuse_outputs(inputs, &["details", "state-out"], matches)?;
    let output = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    Ok(MergeTask {
        outputs: Outputs {
            details: output("details"),
            state: output("state-out"),
            replicates: None,
            checks: Check::given(matches)?,
        },
        states,
        shown: statistics::shown(matches),
    })
}

/// Refuses outputs over what is read, over each other, or where the result goes.
fn refuse_outputs(
    inputs: Vec<&Path>,
    outputs: &[&str],
    matches: &ArgMatches,
) -> Result<(), Failure> {
    let given = |name: &str| matches.try_get_one::<PathBuf>(name).ok().flatten();
    let mut outputs: Vec<(&str, &Path)> = outputs
        .iter()
        .filter_map(|&name| Some((name, given(name)?.as_path())))
        .collect();
    // A report may go to standard output in place of the result.
    let report = given("report").filter(|path| path.as_os_str() != "-");
    outputs.extend(report.map(|path| ("report", path.as_path())));
    output_file::refuse(&outputs, &inputs)
}

/// The value of an argument that has a default or is required.
fn text<'a>(matches: &'a ArgMatches, name: &str) -> &'a str {
    let text = matches.try_get_one::<String>(name).ok().flatten();
    text.map_or("", String::as_str)
}
