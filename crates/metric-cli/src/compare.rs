//! `metric compare`: two or more systems on the same references.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
#[cfg(feature = "report")]
use metric_run::Data;
use metric_run::registry::stats::Test;
use metric_run::registry::{Direction, Entry, Named, Report};
use metric_run::{
    Candidate, Compare, Comparison, Difference, GroupComparison, Regression, Run, System,
};
use serde_json::json;

use crate::error::Failure;
use crate::output::{
    Numbers, cell, csv_field, ends_of, interval_name, latex_cells, latex_table, latex_text,
    slices_note,
};
#[cfg(feature = "report")]
use crate::report_compare;
use crate::score::Bar;
use crate::table::{Grid, Layout};
use crate::valued_arg::valued_arg;
use crate::{report, statistics};

/// The options in addition to those of `score`.
pub(crate) fn args() -> Vec<Arg> {
    let arg = valued_arg;
    vec![
        Arg::new("predictions")
            .long("predictions")
            .short('p')
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .num_args(1..)
            .action(ArgAction::Append)
            .required_unless_present("pairs")
            .requires("references")
            .help("Predictions: one file per system"),
        Arg::new("pairs")
            .long("pairs")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .num_args(1..)
            .conflicts_with_all(["references", "predictions"])
            .help("Files whose records hold the reference and one prediction per system, instead of -r and -p"),
        arg("baseline", "NAME")
            .help("System that the others are compared with [default: the first]"),
        arg("names", "NAME,NAME,...")
            .value_delimiter(',')
            .help("Names of the systems [default: names of their files or fields]"),
        arg("all-pairs", "")
            .action(ArgAction::SetTrue)
            .conflicts_with("baseline")
            .help("Compare every system with every other one"),
        arg("permutations", "N")
            .value_parser(value_parser!(u64).range(1..))
            .default_value("10000")
            .help("Number of random permutations in the paired test"),
        arg("fail-if-worse", "SCORE")
            .action(ArgAction::Append)
            .help("Exit with code 1 if a system is significantly worse on this score; repeatable"),
        arg("show-regressions", "N")
            .value_parser(value_parser!(u16).range(1..))
            .help("Also print the N examples that lose most on the first score"),
        Arg::new("format")
            .long("format")
            .value_name("FORMAT")
            .value_parser(["table", "json", "markdown", "latex", "csv"])
            .default_value("table")
            .help("Format of the result"),
    ]
}

/// The options of `score` that a comparison has as well, in addition to the [settings](metric_run::Settings).
pub(crate) const SHARED: [&str; 8] = [
    "references",
    "more-references",
    "threads",
    "max-bytes",
    "quiet",
    "digits",
    "percent",
    "wide",
];

/// The subcommand, with one subcommand per metric.
pub(crate) fn command(metrics: impl IntoIterator<Item = Command>) -> Command {
    Command::new("compare")
        .about(
            "Compares two or more systems on the same references, with confidence intervals and paired significance tests",
        )
        .subcommand_required(true)
        .subcommand_value_name("METRIC")
        .subcommand_help_heading("Metrics")
        .disable_help_subcommand(true)
        .after_help(
            "The options of a metric: `metric compare wer --help`. Examples:\n\n    \
             metric compare wer -r references.jsonl -p baseline.jsonl new.jsonl\n    \
             metric compare wer --pairs t.csv --prediction-field a --prediction-field b\n\n\
             The first system is the baseline, unless --baseline names another.",
        )
        .subcommands(metrics)
}

/// The arguments of `metric compare`.
pub(crate) struct Task {
    pub(crate) run: Run,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) compare: Compare,
    pub(crate) regressions: Option<u16>,
    pub(crate) worse: Vec<String>,
    pub(crate) style: Style,
    pub(crate) numbers: Numbers,
    pub(crate) layout: Layout,
    pub(crate) replicates: Option<PathBuf>,
    pub(crate) report: Option<report::Wanted>,
    pub(crate) progress: bool,
}

/// The forms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Table,
    Json,
    Markdown,
    Latex,
    Csv,
}

/// The output, and how the program ends.
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) warnings: Vec<String>,
    /// The checks that a system fails, in words.
    pub(crate) failed_checks: Vec<String>,
}

/// The chosen form.
pub(crate) fn style(matches: &ArgMatches) -> Style {
    match matches.get_one::<String>("format").map(String::as_str) {
        Some("json") => Style::Json,
        Some("markdown") => Style::Markdown,
        Some("latex") => Style::Latex,
        Some("csv") => Style::Csv,
        _ => Style::Table,
    }
}

/// The options for comparing systems.
pub(crate) fn compare(matches: &ArgMatches) -> Compare {
    let default = Compare::default();
    Compare {
        baseline: matches.get_one::<String>("baseline").cloned(),
        all_pairs: matches.get_flag("all-pairs"),
        permutations: matches
            .get_one("permutations")
            .copied()
            .unwrap_or(default.permutations),
    }
}

/// The names of the systems: those that are given, or else these.
pub(crate) fn names(matches: &ArgMatches, default: Vec<String>) -> Result<Vec<String>, Failure> {
    let Some(names) = matches.get_many::<String>("names") else {
        return Ok(default);
    };
    let names: Vec<String> = names.cloned().collect();
    if names.len() != default.len() {
        let problem = format!(
            "--names: found {}, expected one for each of {} systems",
            names.len(),
            default.len()
        );
        return Err(Failure::Usage(problem));
    }
    Ok(names)
}

/// The stems of files. Equal stems take the path.
pub(crate) fn names_of_files(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &PathBuf| {
        let name = path.file_name().map_or_else(
            || path.display().to_string(),
            |it| it.to_string_lossy().into_owned(),
        );
        // All endings of compressed files go.
        let known = [".gz", ".zst"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(&name);
        let end = known.rfind('.').filter(|&end| end > 0);
        end.map_or(known, |end| &known[..end]).to_owned()
    };
    let stems: Vec<String> = paths.iter().map(stem).collect();
    let is_shared = |name: &String| stems.iter().filter(|other| *other == name).count() > 1;
    let name = |(stem, path): (&String, &PathBuf)| {
        if is_shared(stem) {
            path.display().to_string()
        } else {
            stem.clone()
        }
    };
    stems.iter().zip(paths).map(name).collect()
}

impl Task {
    /// Compares the systems.
    pub(crate) fn run(mut self, entry: &Entry) -> Result<Printed, Failure> {
        for score in &self.worse {
            let spec = entry.score(score);
            if spec.is_some_and(|spec| spec.direction.is_none()) {
                let problem =
                    format!("--fail-if-worse {score}: neither value of this score is better");
                return Err(Failure::Usage(problem));
            }
        }
        let replicates = self
            .replicates
            .as_deref()
            .map(crate::output_file::OutputFile::create)
            .transpose()?;
        let report = self
            .report
            .take()
            .map(|report| report.open(None))
            .transpose()?;
        let bar = Bar::new(self.progress);
        let comparison = self
            .run
            .compare_observed(&self.candidates, &self.compare, &bar)?;
        drop(bar);
        let lost = match self.regressions {
            Some(most) => Some(self.regressions(&comparison, most)?),
            None => None,
        };
        let mut text = match self.style {
            Style::Json => json_text(&comparison, lost.as_deref()),
            Style::Csv => csv(&comparison, self.numbers),
            style => {
                let lost = lost.iter().flatten().map(regressions_text);
                let printed = render(&comparison, style, self.numbers, self.layout);
                printed + &lost.collect::<String>()
            }
        };
        let failed_checks = failed_checks(&self.worse, &comparison)?;
        if let Some(report) = report
            && let Some(page) = self.write_report(report, &comparison, entry)?
        {
            text = page;
        }
        if let Some(mut file) = replicates {
            file.write(&replicate_lines(&comparison)?)?;
            file.persist()?;
        }
        Ok(Printed {
            text,
            warnings: comparison
                .warnings
                .iter()
                .map(ToString::to_string)
                .collect(),
            failed_checks,
        })
    }

    /// There are no reports.
    #[cfg(not(feature = "report"))]
    fn write_report(
        &mut self,
        report: report::Open,
        _comparison: &Comparison,
        _entry: &Entry,
    ) -> Result<Option<String>, Failure> {
        match report {}
    }

    /// Writes the report, and returns it if it is for standard output.
    #[cfg(feature = "report")]
    fn write_report(
        &mut self,
        report: report::Open,
        comparison: &Comparison,
        entry: &Entry,
    ) -> Result<Option<String>, Failure> {
        let mut of_pairs = Vec::new();
        for main in report_compare::best_differences(comparison) {
            let replicates = |name: &str| -> Result<_, Failure> {
                let system = comparison.systems.iter().find(|system| system.name == name);
                let found = system
                    .map(|system| system.outcome.replicates())
                    .transpose()?;
                let scores = found.flatten().unwrap_or_default().into_iter();
                let of_score = scores.map(|scores| {
                    let score = scores.into_iter().find(|(name, _)| *name == main.score);
                    score.and_then(|(_, value)| value)
                });
                Ok(of_score.collect::<Vec<Option<f64>>>())
            };
            let (system, baseline) = (replicates(&main.system)?, replicates(&main.baseline)?);
            let pairs = system.iter().zip(&baseline);
            let differences =
                pairs.filter_map(|(system, baseline)| Some((*system)? - (*baseline)?));
            of_pairs.push(report_compare::Pair {
                replicates: differences.collect(),
                changes: self.changes(main, report.examples())?,
            });
        }
        let examples = |role: &str, position: usize| {
            let of_references = comparison
                .systems
                .iter()
                .map(|system| system.outcome.report().examples);
            match role {
                "references" => of_references.max(),
                _ => Some(comparison.systems.get(position)?.outcome.report().examples),
            }
        };
        report.finish_with(examples, |wanted, files| {
            report_compare::report(comparison, entry, wanted, files, &of_pairs)
        })
    }

    /// The largest gains and losses of a system, unless its data can be read only once.
    #[cfg(feature = "report")]
    fn changes(
        &mut self,
        main: &Difference,
        most: usize,
    ) -> Result<Option<report_compare::Changes>, Failure> {
        let candidate = |name: &str| {
            let mut candidates = self.candidates.iter();
            candidates.find(|candidate| candidate.name == name).cloned()
        };
        let (Some(baseline), Some(system)) = (candidate(&main.baseline), candidate(&main.system))
        else {
            return Ok(None);
        };
        if main.examples.is_none()
            || most == 0
            || [&baseline, &system].into_iter().any(reads_standard_input)
        {
            return Ok(None);
        }
        let mut losses_of = |pair| self.run.regressions(pair, &main.score, most);
        let losses = losses_of([&baseline, &system])?;
        let gains = losses_of([&system, &baseline])?;
        Ok(Some(report_compare::Changes {
            baseline: main.baseline.clone(),
            system: main.system.clone(),
            gains,
            losses,
        }))
    }

    /// The largest losses of each system on the first score that has a direction.
    fn regressions(
        &mut self,
        comparison: &Comparison,
        most: u16,
    ) -> Result<Vec<Regressions>, Failure> {
        let first = comparison
            .differences
            .iter()
            .find(|it| it.direction.is_some());
        let Some(score) = first.map(|it| it.score.clone()) else {
            return Ok(Vec::new());
        };
        let by_name = self.candidates.iter().map(|it| (it.name.as_str(), it));
        let by_name: BTreeMap<&str, &Candidate> = by_name.collect();
        let mut lost = Vec::new();
        for it in comparison.differences.iter().filter(|it| it.score == score) {
            let (Some(baseline), Some(system)) = (
                by_name.get(it.baseline.as_str()),
                by_name.get(it.system.as_str()),
            ) else {
                continue;
            };
            let found = self
                .run
                .regressions([baseline, system], &score, most.into())?;
            lost.push(Regressions {
                names: [it.baseline.clone(), it.system.clone()],
                score: score.clone(),
                found,
            });
        }
        Ok(lost)
    }
}

/// Whether the data of a system can be read only once.
#[cfg(feature = "report")]
fn reads_standard_input(candidate: &Candidate) -> bool {
    match &candidate.data {
        Data::Sources {
            references,
            predictions,
        } => references.is_standard_input() || predictions.is_standard_input(),
        Data::Pairs(pairs) => pairs.is_standard_input(),
        Data::Documents { .. } => false,
    }
}

/// The largest losses of a system.
struct Regressions {
    /// The values of the baseline and the system.
    names: [String; 2],
    score: String,
    found: Vec<Regression>,
}

/// The comparison as JSON, with the largest losses if they are requested.
fn json_text(comparison: &Comparison, lost: Option<&[Regressions]>) -> String {
    let mut text = comparison.to_json();
    if let Some(lost) = lost {
        let of_system = |it: &Regressions| {
            let examples = it.found.iter().map(|found| {
                json!({
                    "id": found.id,
                    "part": found.part,
                    "scores": found.scores,
                    "reference": found.reference,
                    "predictions": found.predictions,
                })
            });
            json!({
                "baseline": it.names[0],
                "system": it.names[1],
                "score": it.score,
                "examples": examples.collect::<Vec<_>>(),
            })
        };
        let lost: Vec<_> = lost.iter().map(of_system).collect();
        // After the last field of the object.
        text.pop();
        text.push_str(&format!(",\"regressions\":{}}}", json!(lost)));
    }
    text + "\n"
}

fn regressions_text(lost: &Regressions) -> String {
    let [baseline, system] = &lost.names;
    let mut text = format!(
        "\nLargest losses of {system} compared with {baseline} on {}\n",
        lost.score
    );
    if lost.found.is_empty() {
        text.push_str("  none\n");
    }
    for regression in &lost.found {
        text.push_str(&regression_text(regression, [baseline, system]));
    }
    text
}

fn regression_text(regression: &Regression, names: [&String; 2]) -> String {
    let Regression {
        id,
        part,
        scores,
        reference,
        predictions,
    } = regression;
    let part = part
        .as_ref()
        .map_or_else(String::new, |part| format!(", {}", cell(part, false)));
    let mut text = format!(
        "  {}{part}: {:.4} -> {:.4}\n",
        cell(id, false),
        scores[0],
        scores[1]
    );
    let width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or_default()
        .max(9);
    let lines = [
        ("reference", reference),
        (names[0], &predictions[0]),
        (names[1], &predictions[1]),
    ];
    for (name, value) in lines {
        if let Some(value) = value {
            text.push_str(&format!("    {name:<width$}  {}\n", cell(value, false)));
        }
    }
    text
}

/// The systems that are significantly worse than their baseline, in words.
fn failed_checks(scores: &[String], comparison: &Comparison) -> Result<Vec<String>, Failure> {
    let mut failed = Vec::new();
    for score in scores {
        let of_score = comparison
            .differences
            .iter()
            .filter(|it| it.score == *score);
        let of_score: Vec<&Difference> = of_score.collect();
        if of_score.is_empty() {
            let mut names: Vec<&str> = comparison
                .differences
                .iter()
                .map(|it| it.score.as_str())
                .collect();
            names.dedup();
            return Err(Failure::Usage(format!(
                "--fail-if-worse {score}: no such score: expected one of {}",
                names.join(", ")
            )));
        }
        let confidence = comparison.statistics.confidence;
        let worse = of_score
            .into_iter()
            .filter(|it| it.is_worse() && it.is_significant(confidence));
        failed.extend(worse.map(|it| {
            format!(
                "{} is significantly worse than {} on {score}: {} (p {})",
                it.system,
                it.baseline,
                Numbers::default().difference(it.delta),
                p_value(it.p_holm, it.test)
            )
        }));
    }
    Ok(failed)
}

/// The replicates of all systems, one JSON object per line.
fn replicate_lines(comparison: &Comparison) -> Result<Vec<u8>, Failure> {
    let mut text = String::new();
    for System { name, outcome, .. } in &comparison.systems {
        for (number, scores) in (1..).zip(outcome.replicates()?.unwrap_or_default()) {
            let line = statistics::replicate_line(number, Some(("system", name)), scores);
            text.push_str(&line);
        }
    }
    Ok(text.into_bytes())
}

/// A p-value with four decimals. An exact one below 0.0001 is said to be so; that of a randomization test is
/// never less than one of its trials.
fn p_value(p: Option<f64>, test: Option<Test>) -> String {
    let least = if test.is_some_and(Test::is_random) {
        0.00005
    } else {
        0.0001
    };
    match p {
        Some(p) if p < least => "<0.0001".to_owned(),
        p => Numbers::default().score(p),
    }
}

/// The rows about one score on all examples, or on those of a group.
struct Block {
    /// The kind and the name of the group, if it is not all examples.
    group: Option<(String, String)>,
    header: Vec<String>,
    /// Whether each row is a group.
    has_groups: bool,
    /// The columns from the most important one to the least.
    importance: Vec<usize>,
    rows: Vec<Row>,
}

#[derive(Default)]
struct Row {
    cells: Vec<String>,
    /// Whether the score is the best one.
    is_best: bool,
    is_significant: bool,
    /// The columns of the systems that differ significantly, where a row has several systems.
    marked: Vec<usize>,
}

/// The columns of a score in front of those of its differences: name, score and interval.
const OF_SYSTEM: usize = 3;

/// The columns of a table of two systems by their importance: the score, its two values, the difference, its p-value,
/// and its interval.
const JOINED: [usize; 6] = [0, 1, 2, 3, 5, 4];

/// The same of a table with this number of columns, the further ones last.
fn joined_importance(columns: usize) -> Vec<usize> {
    JOINED.into_iter().chain(JOINED.len()..columns).collect()
}

/// The columns by their importance: what changed, and whether that is significant, comes before intervals.
fn importance(columns: usize, has_holm: bool, has_examples: bool) -> Vec<usize> {
    let [name, score, interval, difference, its_interval, p] = [0, 1, 2, 3, 4, 5];
    let judged = if has_holm { p + 1 } else { p };
    let examples = has_examples.then(|| columns - 1);
    let first = [name, score, difference, judged, its_interval];
    let last = [interval].into_iter().chain(has_holm.then_some(p));
    first.into_iter().chain(examples).chain(last).collect()
}

/// What is printed of a comparison.
#[derive(Clone, Copy)]
struct Tables<'c> {
    comparison: &'c Comparison,
    /// The report of each system.
    reports: &'c [Report],
    numbers: Numbers,
}

fn better(direction: Option<Direction>) -> String {
    direction.map_or_else(String::new, |it| format!(" ({} is better)", it.name()))
}

/// The value of a score in a report, or in one of its groups.
fn value_in(report: &Report, score: &str, group: Option<(&str, &str)>) -> Option<f64> {
    let scores = match group {
        None => &report.scores,
        Some((kind, name)) => {
            let of_kind = report.groups.iter().filter(|(found, _)| found == kind);
            let mut groups = of_kind.flat_map(|(_, groups)| groups);
            &groups.find(|found| found.name == name)?.scores
        }
    };
    scores.iter().find(|(name, _)| name == score)?.1
}

/// The names of the columns of a difference.
fn difference_header(
    comparison: &Comparison,
    has_holm: bool,
    has_examples: bool,
    numbers: Numbers,
) -> Vec<String> {
    let interval = interval_name(comparison.statistics.confidence);
    let its_interval = format!("{interval} of difference");
    let mut header = vec![numbers.column("difference"), its_interval, "p".to_owned()];
    if has_holm {
        header.push("p (Holm)".to_owned());
    }
    if has_examples {
        header.push("better / same / worse".to_owned());
    }
    header
}

/// The columns of a difference.
fn difference_cells(
    it: &Difference,
    has_holm: bool,
    has_examples: bool,
    numbers: Numbers,
) -> Vec<String> {
    let ends = match it.estimate.ends {
        Some(ends) => {
            let [low, high] = ends.map(|end| numbers.difference(Some(end)));
            format!("[{low}, {high}]")
        }
        None => "-".to_owned(),
    };
    let mut cells = vec![numbers.difference(it.delta), ends, p_value(it.p, it.test)];
    if has_holm {
        cells.push(p_value(it.p_holm, it.test));
    }
    if has_examples {
        cells.push(match it.examples {
            Some([wins, ties, losses, _]) => format!("{wins} / {ties} / {losses}"),
            None => "-".to_owned(),
        });
    }
    cells
}

/// The groups of a kind in one table, one row per group, if there is only one score: the score of each system, and for
/// two systems the difference.
fn table_of_groups(
    Tables {
        comparison,
        reports,
        numbers,
    }: Tables<'_>,
    kind: &str,
    groups: &Named<GroupComparison>,
) -> Option<Block> {
    let differences = || groups.iter().flat_map(|(_, group)| &group.differences);
    let first = differences().next()?;
    let is_one = differences().all(|it| it.score == first.score);
    if !is_one || comparison.compare.all_pairs {
        return None;
    }
    let score = &first.score;
    let is_pair = comparison.systems.len() == 2;
    let has_holm = is_pair && groups.len() > 1;
    let has_examples = is_pair && differences().any(|it| it.examples.is_some());
    let mut header = vec![format!("{score} by {kind}{}", better(first.direction))];
    header.extend(comparison.systems.iter().map(|system| {
        let is_baseline = system.name == first.baseline;
        let baseline = if is_baseline { " (baseline)" } else { "" };
        format!("{}{baseline}", system.name)
    }));
    if is_pair {
        header.extend(difference_header(
            comparison,
            has_holm,
            has_examples,
            numbers,
        ));
    }
    let confidence = comparison.statistics.confidence;
    let row = |(name, group): &(String, GroupComparison)| {
        let value = |report: &Report| value_in(report, score, Some((kind, name)));
        let values = reports.iter().map(|report| numbers.score(value(report)));
        let mut cells: Vec<String> = std::iter::once(cell(name, false)).chain(values).collect();
        let significant = group
            .differences
            .iter()
            .filter(|it| it.is_significant(confidence));
        let column = |it: &Difference| {
            let mut systems = comparison.systems.iter();
            Some(1 + systems.position(|system| system.name == it.system)?)
        };
        let marked: Vec<usize> = significant.filter_map(column).collect();
        let own = group.differences.first().filter(|_| is_pair);
        cells.extend(
            own.into_iter()
                .flat_map(|it| difference_cells(it, has_holm, has_examples, numbers)),
        );
        cells.resize(header.len(), String::new());
        Row {
            cells,
            is_significant: is_pair && !marked.is_empty(),
            marked: if is_pair { Vec::new() } else { marked },
            ..Row::default()
        }
    };
    let importance = if is_pair {
        joined_importance(header.len())
    } else {
        (0..header.len()).collect()
    };
    Some(Block {
        group: None,
        has_groups: true,
        rows: groups.iter().map(row).collect(),
        header,
        importance,
    })
}

/// The block of a score. `group` has its kind and name. `has_holm` is whether several p-values were adjusted
/// together.
#[allow(
    clippy::too_many_lines,
    reason = "a table from its header to its last column"
)]
fn block(
    Tables {
        comparison,
        reports,
        numbers,
    }: Tables<'_>,
    differences: &[Difference],
    score: &str,
    group: Option<(&str, &str)>,
    has_holm: bool,
) -> Block {
    let of_score: Vec<&Difference> = differences.iter().filter(|it| it.score == score).collect();
    let direction = of_score.iter().find_map(|it| it.direction);
    let has_examples = of_score.iter().any(|it| it.examples.is_some());
    let interval = interval_name(comparison.statistics.confidence);
    let location = group.map_or_else(String::new, |(kind, name)| {
        format!(", {kind} {}", cell(name, false))
    });
    let better = better(direction);
    let mut header = vec![
        format!("{score}{location}{better}"),
        numbers.column("score"),
        interval,
    ];
    header.extend(difference_header(
        comparison,
        has_holm,
        has_examples,
        numbers,
    ));
    let value_of = |(system, report): (&System, &Report)| -> (Option<f64>, String) {
        let intervals = system.outcome.intervals().and_then(|found| match group {
            None => Some(&found.total),
            Some((kind, name)) => found.group(kind, name),
        });
        let estimate =
            intervals.and_then(|found| found.intervals.iter().find(|(name, _)| name == score));
        let ends = numbers.ends(estimate.and_then(|(_, estimate)| estimate.ends));
        (value_in(report, score, group), ends)
    };
    let systems = comparison.systems.iter().zip(reports);
    let values: Vec<(Option<f64>, String)> = systems.map(value_of).collect();
    let best = values
        .iter()
        .filter_map(|(value, _)| *value)
        .reduce(|a, b| match direction {
            Some(Direction::Lower) => a.min(b),
            _ => a.max(b),
        });
    let of_difference = |it| difference_cells(it, has_holm, has_examples, numbers);
    let confidence = comparison.statistics.confidence;
    let all_pairs = comparison.compare.all_pairs;
    let mut rows = Vec::new();
    for (system, (value, ends)) in comparison.systems.iter().zip(&values) {
        let own = of_score
            .iter()
            .find(|it| it.system == system.name && !all_pairs);
        let is_baseline = !all_pairs && own.is_none();
        let name = if is_baseline {
            format!("{} (baseline)", system.name)
        } else {
            system.name.clone()
        };
        let mut cells = vec![name, numbers.score(*value), ends.clone()];
        cells.extend(own.map(|it| of_difference(it)).unwrap_or_default());
        cells.resize(header.len(), String::new());
        rows.push(Row {
            cells,
            is_best: direction.is_some() && value.is_some() && *value == best,
            is_significant: own.is_some_and(|it| it.is_significant(confidence)),
            ..Row::default()
        });
    }
    for it in of_score.iter().filter(|_| all_pairs) {
        let mut cells = vec![
            format!("{} - {}", it.system, it.baseline),
            String::new(),
            String::new(),
        ];
        cells.extend(of_difference(it));
        rows.push(Row {
            cells,
            is_significant: it.is_significant(confidence),
            ..Row::default()
        });
    }
    Block {
        group: group.map(|(kind, name)| (kind.to_owned(), name.to_owned())),
        has_groups: false,
        importance: importance(header.len(), has_holm, has_examples),
        header,
        rows,
    }
}

/// The number of p-values of a score that were adjusted together, of the score that has most.
fn family<'d>(differences: impl Iterator<Item = &'d Difference>) -> usize {
    let mut of_score: BTreeMap<&str, usize> = BTreeMap::new();
    for it in differences.filter(|it| it.p.is_some()) {
        *of_score.entry(&it.score).or_default() += 1;
    }
    of_score.into_values().max().unwrap_or_default()
}

/// The meaning of the numbers of all blocks, and the level of significance.
fn footer(comparison: &Comparison) -> (String, f64) {
    let Comparison {
        statistics,
        compare,
        differences,
        groups,
        ..
    } = comparison;
    let clusters = comparison.clusters();
    let unit = match &statistics.cluster_field {
        Some(field) => format!(
            "{} records in {clusters} clusters by {field}",
            comparison.examples()
        ),
        None => format!("{clusters} records"),
    };
    let bootstrap = statistics.interval.of_replicates().description();
    let proportions = proportion_method(comparison);
    let of_groups = groups.iter().flat_map(|(_, groups)| groups);
    let of_groups = of_groups.flat_map(|(_, group)| &group.differences);
    let tests = differences.iter().chain(of_groups);
    let mut tests: Vec<Test> = tests.filter_map(|it| it.test).collect();
    tests.sort_by_key(|test| test.name());
    tests.dedup();
    let tests = tests.into_iter().map(|test| {
        let name = test.description();
        if test.is_random() {
            format!("{name}, {} trials", compare.permutations)
        } else {
            name.to_owned()
        }
    });
    let tests: Vec<String> = tests.collect();
    // All examples are one family, and so are the groups of each kind.
    let families = groups.iter().map(|(kind, groups)| {
        let differences = groups.iter().flat_map(|(_, group)| &group.differences);
        (family(differences), format!(" of {kind}"))
    });
    let families = std::iter::once((family(differences.iter()), String::new())).chain(families);
    let families = families.filter(|(comparisons, _)| *comparisons > 1);
    let families: Vec<String> = families
        .map(|(comparisons, of)| format!("Holm over {comparisons} comparisons{of}"))
        .collect();
    let tests = if tests.is_empty() {
        "no test".to_owned()
    } else {
        let tests = std::iter::once(tests.join(" and ")).chain(families);
        tests.collect::<Vec<_>>().join(", ")
    };
    let level = (1e9 * (1.0 - statistics.confidence)).round() / 1e9;
    let text = format!(
        "{unit}; {proportions}{bootstrap}, {} resamples; {tests}; seed {}.",
        statistics.resamples, statistics.seed
    );
    (text, level)
}

/// The method of the intervals of proportions, which are not those of the bootstrap; empty if there are none.
fn proportion_method(comparison: &Comparison) -> String {
    let intervals = comparison.systems.iter();
    let intervals = intervals.filter_map(|system| system.outcome.intervals());
    let mut methods = intervals
        .flat_map(|found| &found.total.intervals)
        .filter_map(|(_, estimate)| estimate.method);
    let of_proportions = methods.find(|method| method.is_analytic());
    of_proportions.map_or_else(String::new, |method| {
        format!("{} of proportions, and otherwise ", method.description())
    })
}

/// What to keep in mind about the many slices of each kind.
fn slice_notes(comparison: &Comparison) -> String {
    let Some(first) = comparison.systems.first() else {
        return String::new();
    };
    let kinds = comparison.groups.iter();
    let notes = kinds.filter_map(|(kind, groups)| slices_note(&first.outcome, kind, groups.len()));
    let selected = comparison.selected();
    let selected = selected.map(|selected| format!("{}\n", selected.in_words()));
    notes.chain(selected).collect()
}

/// All blocks: those of all examples, then those of groups.
fn blocks(tables: Tables<'_>) -> Vec<Block> {
    let comparison = tables.comparison;
    let scores = |differences: &[Difference]| {
        let mut scores: Vec<String> = differences.iter().map(|it| it.score.clone()).collect();
        scores.dedup();
        scores
    };
    let of_score = |differences: &[Difference], score: &str| {
        let of_score = differences.iter().filter(|it| it.score == score);
        of_score.count()
    };
    let mut blocks = Vec::new();
    let differences = &comparison.differences;
    for score in scores(differences) {
        let has_holm = of_score(differences, &score) > 1;
        blocks.push(block(tables, differences, &score, None, has_holm));
    }
    for (kind, groups) in &comparison.groups {
        if let Some(table) = table_of_groups(tables, kind, groups) {
            blocks.push(table);
            continue;
        }
        for (name, group) in groups {
            for score in scores(&group.differences) {
                let of_groups = groups.iter();
                let of_groups = of_groups.map(|(_, it)| of_score(&it.differences, &score));
                blocks.push(block(
                    tables,
                    &group.differences,
                    &score,
                    Some((kind, name)),
                    of_groups.sum::<usize>() > 1,
                ));
            }
        }
    }
    blocks
}

/// Joins the blocks of two systems into tables of one row per score: one of all examples, and one per group. A block has
/// the intervals of both scores in addition, which --wide prints.
fn joined(blocks: Vec<Block>) -> Vec<Block> {
    let mut tables: Vec<Block> = Vec::new();
    for block in blocks {
        let (false, [baseline, system]) = (block.has_groups, block.rows.as_slice()) else {
            tables.push(block);
            continue;
        };
        let of_difference = OF_SYSTEM..block.header.len();
        let names = [baseline, system].map(|row| row.cells[0].clone());
        let header: Vec<String> = std::iter::once("score".to_owned())
            .chain(names)
            .chain(block.header[of_difference.clone()].iter().cloned())
            .collect();
        let scores = [&block.header[0], &baseline.cells[1], &system.cells[1]];
        let cells = scores.into_iter().chain(&system.cells[of_difference]);
        let row = Row {
            cells: cells.cloned().collect(),
            is_significant: system.is_significant,
            ..Row::default()
        };
        match tables.last_mut() {
            Some(table) if table.header == header && table.group == block.group => {
                table.rows.push(row);
            }
            _ => tables.push(Block {
                group: block.group,
                has_groups: false,
                importance: joined_importance(header.len()),
                header,
                rows: vec![row],
            }),
        }
    }
    tables
}

fn render(comparison: &Comparison, style: Style, numbers: Numbers, layout: Layout) -> String {
    let systems = comparison.systems.iter();
    let reports: Vec<Report> = systems.map(|system| system.outcome.report()).collect();
    let mut blocks = blocks(Tables {
        comparison,
        reports: &reports,
        numbers,
    });
    let is_pair = comparison.systems.len() == 2 && !comparison.compare.all_pairs;
    let is_table = !matches!(style, Style::Latex | Style::Markdown);
    if is_pair && is_table && blocks.len() > 1 && !layout.is_wide {
        blocks = joined(blocks);
    }
    let mut text = String::new();
    for block in &blocks {
        text.push_str(&match style {
            Style::Latex => latex(block),
            Style::Markdown => markdown(block),
            _ => table(block, layout),
        });
        text.push('\n');
    }
    let notes = slice_notes(comparison);
    let (footer, level) = footer(comparison);
    let signature = &comparison.signature;
    text.push_str(&match style {
        Style::Latex => format!(
            "{{\\footnotesize {}{} $^\\dagger$ $p \\leq {level}$}}\n% {signature}\n",
            latex_text(&notes),
            latex_text(&footer),
        ),
        Style::Markdown => {
            format!("{notes}{footer} \\* marks p <= {level}.\n\n`{signature}`\n")
        }
        _ => format!("{notes}{footer} * marks p <= {level}.\n{signature}\n"),
    });
    text
}

/// Rows of aligned text. The star is text, so that it is not only a color.
fn table(block: &Block, layout: Layout) -> String {
    let importance = block.importance.clone();
    let mut grid = Grid::new(block.header.iter()).with_importance(importance);
    for row in &block.rows {
        let mut cells = row.cells.clone();
        mark(&mut cells, row, " *", block);
        grid.add_row(cells);
    }
    grid.align(layout)
}

/// Marks the last p-value of a significant row, or the systems that differ significantly.
fn mark(cells: &mut [String], row: &Row, mark: &str, block: &Block) {
    let last = block.header.iter().rposition(|name| name.starts_with("p"));
    let last = last.filter(|_| row.is_significant);
    for column in last.into_iter().chain(row.marked.iter().copied()) {
        if let Some(cell) = cells.get_mut(column) {
            cell.push_str(mark);
        }
    }
}

fn markdown(block: &Block) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let header: Vec<String> = block
        .header
        .iter()
        .map(|cell| cell.replace('|', "\\|"))
        .collect();
    let mut text = line(&header);
    let rule: Vec<String> = (0..header.len())
        .map(|column| if column == 0 { "---" } else { "---:" }.to_owned())
        .collect();
    text.push_str(&line(&rule));
    for row in &block.rows {
        let mut cells: Vec<String> = row
            .cells
            .iter()
            .map(|cell| cell.replace('|', "\\|"))
            .collect();
        if let Some(cell) = cells.get_mut(1).filter(|_| row.is_best) {
            *cell = format!("**{cell}**");
        }
        mark(&mut cells, row, " \\*", block);
        text.push_str(&line(&cells));
    }
    text
}

/// One row per system and score, of all examples, whose kind and group are empty, and of each group. A system that is
/// compared with several others has a row for each of them.
fn csv(comparison: &Comparison, numbers: Numbers) -> String {
    let header = [
        "kind",
        "group",
        "score",
        "system",
        "value",
        "low",
        "high",
        "baseline",
        "difference",
        "difference_low",
        "difference_high",
        "p",
        "p_holm",
        "test",
        "wins",
        "ties",
        "losses",
    ];
    let mut text = header.join(",") + "\n";
    let mut push = |group: Option<(&str, &str)>, differences: &[Difference]| {
        let (kind, name) = group.unwrap_or_default();
        for system in &comparison.systems {
            let report = system.outcome.report();
            let scores = match group {
                None => report.scores,
                Some(_) => {
                    let of_kind = report.groups.into_iter().filter(|(found, _)| found == kind);
                    let mut groups = of_kind.flat_map(|(_, groups)| groups);
                    let found = groups.find(|found| found.name == name);
                    found.map_or_else(Vec::new, |found| found.scores)
                }
            };
            let intervals = system.outcome.intervals().and_then(|found| match group {
                None => Some(&found.total),
                Some(_) => found.group(kind, name),
            });
            for (score, value) in scores {
                let ends = intervals.and_then(|found| ends_of(found, &score));
                let own = [kind, name, &score, &system.name].map(csv_field).join(",");
                let [low, high] = both_ends(ends, numbers);
                let own = format!("{own},{},{low},{high}", numbers.plain(value));
                let is_own = |it: &&Difference| it.score == score && it.system == system.name;
                let mut differences = differences.iter().filter(is_own).peekable();
                if differences.peek().is_none() {
                    text.push_str(&format!("{own}{}\n", ",".repeat(10)));
                }
                for it in differences {
                    text.push_str(&format!("{own},{}\n", csv_difference(it, numbers)));
                }
            }
        }
    };
    push(None, &comparison.differences);
    for (kind, groups) in &comparison.groups {
        for (name, group) in groups {
            push(Some((kind, name)), &group.differences);
        }
    }
    text
}

/// The fields of a difference.
fn csv_difference(it: &Difference, numbers: Numbers) -> String {
    let [low, high] = both_ends(it.estimate.ends, numbers);
    // Unlike scores, p-values are neither rounded nor percentages.
    let [p, p_holm] = [it.p, it.p_holm].map(|p| Numbers::default().plain(p));
    let test = it.test.map_or("", |test| test.name());
    let counts = it
        .examples
        .map_or([const { String::new() }; 3], |[wins, ties, losses, _]| {
            [wins, ties, losses].map(|count| count.to_string())
        });
    let fields = [
        csv_field(&it.baseline),
        numbers.plain(it.delta),
        low,
        high,
        p,
        p_holm,
        test.to_owned(),
    ];
    fields
        .into_iter()
        .chain(counts)
        .collect::<Vec<_>>()
        .join(",")
}

/// The ends of an interval as fields, which are empty if there is none.
fn both_ends(ends: Option<[f64; 2]>, numbers: Numbers) -> [String; 2] {
    let [low, high] = ends.map_or([None; 2], |ends| ends.map(Some));
    [low, high].map(|end| numbers.plain(end))
}

/// A table for a paper, with the package booktabs.
fn latex(block: &Block) -> String {
    let rows = block.rows.iter().map(|row| {
        let mut cells = latex_cells(&row.cells);
        if let Some(cell) = cells.get_mut(1).filter(|_| row.is_best) {
            *cell = format!("\\textbf{{{cell}}}");
        }
        let difference = Some(OF_SYSTEM).filter(|_| row.is_significant);
        for column in difference.into_iter().chain(row.marked.iter().copied()) {
            if let Some(cell) = cells.get_mut(column) {
                cell.push_str("$^\\dagger$");
            }
        }
        cells
    });
    latex_table(&block.header, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_p_values() {
        for (p, test, text) in [
            (None, None, "-"),
            (Some(0.5), Some(Test::McNemarExact), "0.5000"),
            (Some(0.000_09), Some(Test::McNemarExact), "<0.0001"),
            // The least of 10,000 trials.
            (Some(1.0 / 10_001.0), Some(Test::Randomization), "0.0001"),
            (Some(1.0 / 100_001.0), Some(Test::Randomization), "<0.0001"),
        ] {
            assert_eq!(p_value(p, test), text, "{p:?}");
        }
    }
}
