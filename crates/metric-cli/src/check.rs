//! `metric check`: whether data can be scored, with all problems rather than the first.

use clap::{Arg, ArgMatches, Command};
use metric_run::{Check, CheckedSource, Data, ProblemKind, Run, Settings};

use crate::error::{Failure, printable};
use crate::output::counted;
use crate::output_args;

/// The options of `score` that a check has as well, in addition to the [settings](Settings).
const SHARED: [&str; 12] = [
    "references",
    "more-references",
    "predictions",
    "pairs",
    "shard",
    "slice-field",
    "slices",
    "slice-bins",
    "threads",
    "max-bytes",
    "quiet",
    "format",
];

/// The subcommand, with one subcommand per metric.
pub(crate) fn command(metrics: impl IntoIterator<Item = Command>) -> Command {
    Command::new("check")
        .about("Checks that data can be scored, and lists all problems")
        .subcommand_required(true)
        .subcommand_value_name("METRIC")
        .subcommand_help_heading("Metrics")
        .disable_help_subcommand(true)
        .after_help(
            "The options of a metric: `metric check wer --help`. Example:\n\n    \
             metric check wer -r references.jsonl -p predictions.jsonl",
        )
        .subcommands(metrics)
}

/// The form of an option of `score` in `check`, if it has the option.
pub(crate) fn shared(arg: Arg) -> Option<Arg> {
    let name = arg.get_id().clone();
    let name = name.as_str();
    let is_shared = SHARED.contains(&name) || Settings::NAMES.contains(&name);
    let arg = match name {
        "format" => arg.value_parser(["table", "json"]),
        "slice-field" => arg.help("Also check this field, whose values are slices; repeatable"),
        "slices" => arg.help(
            "Also check the slices that a file defines, with one `ID VALUE` per line; repeatable",
        ),
        _ => arg,
    };
    is_shared.then_some(arg)
}

/// Checks the data. Returns what to print, and whether there are no problems.
pub(crate) fn run(run: &Run, data: Data, matches: &ArgMatches) -> Result<(String, bool), Failure> {
    let check = run.check(data)?;
    let text = match output_args::style(matches) {
        crate::output::Style::Json => check.to_json() + "\n",
        _ => text(&check),
    };
    Ok((text, check.is_fine()))
}

/// The findings for people.
fn text(check: &Check) -> String {
    let mut lines = Vec::new();
    for problem in &check.problems {
        lines.push(problem.message().to_string());
        let locations = problem.locations();
        lines.extend(locations.map(|location| format!("  {location}")));
        if problem.count > problem.first.len() as u64 && problem.locations().count() > 0 {
            let more = problem.count - problem.first.len() as u64;
            lines.push(format!("  ... and {more} more"));
        }
    }
    let has = |kind| check.problems.iter().any(|problem| problem.kind == kind);
    let is_unmatched = has(ProblemKind::MissingPrediction) || has(ProblemKind::ExtraPrediction);
    if has(ProblemKind::InvalidRecord) && is_unmatched {
        lines.push(
            "note: invalid records are not joined, so their partners are among the others"
                .to_owned(),
        );
    }
    for warning in &check.warnings {
        lines.push(format!("warning: {warning}"));
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.extend(sources(check));
    lines.push(verdict(check));
    let lines = lines.iter().flat_map(|text| match text.as_str() {
        "" => vec![String::new()],
        text => text.lines().map(printable).collect(),
    });
    lines.map(|line| line + "\n").collect()
}

/// The two sources with their numbers of records.
fn sources(check: &Check) -> Vec<String> {
    let source = |title: &str, CheckedSource { name, records }: &CheckedSource| {
        let records = match records {
            Some(1) => ", 1 valid record".to_owned(),
            Some(records) => format!(", {records} valid records"),
            None => String::new(),
        };
        format!("{title:<13}{name}{records}")
    };
    if check.references == check.predictions {
        vec![source("Pairs:", &check.references)]
    } else {
        vec![
            source("References:", &check.references),
            source("Predictions:", &check.predictions),
        ]
    }
}

/// The findings in a sentence.
fn verdict(check: &Check) -> String {
    let examples = counted(check.examples, "example");
    if check.is_fine() {
        return format!("No problems: {} can score {examples}.", check.metric);
    }
    let at_least = if check.is_complete { "" } else { "At least " };
    let problems = counted(check.problem_count(), "problem");
    let rest = if check.is_complete {
        ""
    } else {
        " A file was not read to its end: correct the problem there and check again."
    };
    format!(
        "{at_least}{problems}; {} can score {examples}.{rest}",
        check.metric
    )
}
