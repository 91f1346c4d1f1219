//! `metric report`: a page of results that were stored as JSON.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use metric_report::{
    Badge, Block, Card, Cell, Column, Fact, Facts, Interval, Line, Lines, Report, Section, Table,
    Tone,
};
use metric_run::registry::{Direction, Entry, Options, Sample, Shown, find};
use serde_json::{Map, Value};

use crate::error::Failure;
use crate::report::{self, Wanted, counted, example_sections, heading, interval_name};

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("report")
        .about("Renders results that --format json printed as a report")
        .arg(
            Arg::new("results")
                .value_name("RESULT")
                .value_parser(value_parser!(PathBuf))
                .num_args(1..)
                .required(true)
                .help("Result files; several of one metric are compared in a table, in this order"),
        )
        .arg(
            Arg::new("per-sample")
                .long("per-sample")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help(
                    "Scores of the examples of the first result, as score --per-sample wrote them",
                ),
        )
        .arg(
            Arg::new("details")
                .long("details")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Details of the first result, as score --details wrote them"),
        )
        .args(
            report::args()
                .into_iter()
                .map(|arg| match arg.get_id().as_str() {
                    "report" => arg.default_value("-").help(
                        "Where the report goes: FILE.html, FILE.md, a folder (DIR/), or - for HTML",
                    ),
                    _ => arg,
                }),
        )
}

fn read(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    std::fs::read_to_string(path)
        .map_err(|error| Failure::Input(format!("{name}: cannot read: {error}")))
}

/// The results of a file: objects as `--format json` prints them.
fn results(path: &Path) -> Result<Vec<Value>, Failure> {
    let name = path.display();
    let value: Value = serde_json::from_str(&read(path)?).map_err(|error| {
        Failure::Input(format!(
            "{name}: {error}: expected a result of --format json"
        ))
    })?;
    let results = match value.get("results").and_then(Value::as_array) {
        Some(results) => results.clone(),
        None => vec![value],
    };
    for result in &results {
        if !(result["metric"].is_string() && result["scores"].is_object()) {
            return Err(Failure::Input(format!(
                "{name}: expected a result of --format json, which has a metric and scores"
            )));
        }
    }
    Ok(results)
}

/// Reads the results and writes the report. Returns it if it is for standard output.
pub(crate) fn run(matches: &ArgMatches) -> Result<Option<String>, Failure> {
    let paths: Vec<&PathBuf> = matches.get_many("results").unwrap_or_default().collect();
    let given = |name: &str| matches.get_one::<PathBuf>(name);
    let inputs: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
    let inputs = inputs
        .into_iter()
        .chain(given("per-sample").map(PathBuf::as_path))
        .chain(given("details").map(PathBuf::as_path));
    let output = given("report").filter(|path| path.as_os_str() != "-");
    let outputs: Vec<(&str, &Path)> = output
        .map(|path| ("report", path.as_path()))
        .into_iter()
        .collect();
    crate::output_file::refuse(&outputs, &inputs.collect::<Vec<_>>())?;
    let mut stored = Vec::new();
    for path in paths {
        let stem = path.file_stem().map_or_else(
            || path.display().to_string(),
            |stem| stem.to_string_lossy().into_owned(),
        );
        stored.extend(
            results(path)?
                .into_iter()
                .map(|result| (stem.clone(), result)),
        );
    }
    let wanted =
        report::wanted(matches)?.ok_or_else(|| Failure::Internal("no report".to_owned()))?;
    let open = wanted.open()?;
    if let Some(path) = given("per-sample") {
        for (number, line) in (1..)
            .zip(read(path)?.lines())
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let failed = || {
                Failure::Input(format!(
                    "{}:{number}: expected the scores of an example, as score --per-sample writes them",
                    path.display()
                ))
            };
            let value: Value = serde_json::from_str(line).map_err(|_| failed())?;
            let metric = value["metric"]
                .as_str()
                .or_else(|| stored.first()?.1["metric"].as_str())
                .unwrap_or_default()
                .to_owned();
            open.sample(&metric, &sample(&metric, &value).ok_or_else(failed)?);
        }
    }
    let details = given("details").map(|path| {
        let text = read(path)?;
        let first = text.lines().next().unwrap_or_default();
        serde_json::from_str(first)
            .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
    });
    let details: Option<Value> = details.transpose()?;
    let has_samples = given("per-sample").is_some();
    open.finish_stored(|wanted, kept, files| {
        let mut sections = Vec::new();
        let several = stored.len() > 1;
        sections.extend(several.then(|| over_results(&stored)).into_iter().flatten());
        let mut warnings: Vec<String> = Vec::new();
        for (index, (name, result)) in stored.iter().enumerate() {
            let metric = result["metric"].as_str().unwrap_or_default();
            for warning in result["warnings"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
            {
                if !warnings.iter().any(|other| other == warning) {
                    warnings.push(warning.to_owned());
                }
            }
            let details = details.as_ref().filter(|_| index == 0);
            let mut own = sections_of(wanted, metric, result, details);
            if index == 0 {
                let entry = find(metric);
                let of_metric = kept.of_metric(metric);
                if let Some((entry, of_metric)) = entry.zip(of_metric) {
                    let total = of_metric
                        .score_name()
                        .and_then(|name| result["scores"][name].as_f64());
                    own.extend(example_sections(
                        wanted,
                        entry,
                        &Options::default(),
                        of_metric,
                        total,
                    ));
                }
            }
            if several {
                for section in &mut own {
                    section.title = format!("{name}: {}", section.title);
                }
            }
            sections.extend(own);
        }
        let first = &stored[0].1;
        let metric = first["metric"].as_str().unwrap_or_default();
        let mut badges = Vec::new();
        if !warnings.is_empty() {
            badges.push(Badge {
                text: counted(warnings.len() as u64, "warning"),
                tone: Tone::Warning,
            });
        }
        if !has_samples {
            badges.push(Badge {
                text: "without examples: --per-sample FILE adds them".to_owned(),
                tone: Tone::Neutral,
            });
        }
        sections.push(provenance(&stored, wanted, files));
        let title = find(metric).map_or_else(|| metric.to_owned(), heading);
        let mut summary = format!(
            "{metric}: {}",
            counted(first["examples"].as_u64().unwrap_or(0), "example")
        );
        if several {
            summary = format!("{metric}: {}", counted(stored.len() as u64, "result"));
        }
        Report {
            title: wanted.title().map_or(title, str::to_owned),
            summary,
            badges,
            cards: cards(first, find(metric)),
            warnings,
            sections,
            program: concat!("metric-suite ", env!("CARGO_PKG_VERSION")).to_owned(),
            digits: 4,
        }
    })
}

/// Scores in the order in which the metric declares them.
fn named_scores(metric: &str, scores: &Value) -> Vec<(String, Option<f64>)> {
    let declared = find(metric).map_or(&[][..], |entry| entry.scores);
    let place = |name: &str| {
        let spec = find(metric).and_then(|entry| entry.score(name));
        let place = spec.and_then(|spec| declared.iter().position(|other| other == spec));
        place.unwrap_or(declared.len())
    };
    let scores = scores.as_object().into_iter().flatten();
    let scores = scores.map(|(name, value)| (name.clone(), value.as_f64()));
    let mut scores: Vec<(String, Option<f64>)> = scores.collect();
    scores.sort_by_key(|(name, _)| place(name));
    scores
}

/// An example as `--per-sample` writes it.
fn sample(metric: &str, value: &Value) -> Option<Sample> {
    let counts = value["counts"]
        .as_object()
        .cloned()
        .unwrap_or_else(Map::new);
    Some(Sample {
        record: 0,
        id: value["id"].as_str()?.to_owned(),
        part: value["part"].as_str().map(str::to_owned),
        scores: value["scores"]
            .is_object()
            .then(|| named_scores(metric, &value["scores"]))?,
        counts: counts.into_iter().collect(),
        inputs: None,
    })
}

fn ends(intervals: &Value, name: &str) -> Option<[f64; 2]> {
    let interval = intervals.get(name)?;
    Some([interval["low"].as_f64()?, interval["high"].as_f64()?])
}

fn cards(result: &Value, entry: Option<&Entry>) -> Vec<Card> {
    let statistics = &result["statistics"];
    let intervals = &statistics["intervals"];
    let metric = result["metric"].as_str().unwrap_or_default();
    let scores = named_scores(metric, &result["scores"]);
    let values = scores.iter().flat_map(|(name, value)| {
        ends(intervals, name)
            .into_iter()
            .flatten()
            .chain(*value)
            .collect::<Vec<_>>()
    });
    let scale = values.fold([0.0, 1.0], |[low, high]: [f64; 2], value| {
        [low.min(value), high.max(value)]
    });
    let card = |(name, value): &(String, Option<f64>)| {
        let spec = entry.and_then(|entry| entry.score(name));
        let is_lower = spec.is_some_and(|spec| spec.direction == Some(Direction::Lower));
        Card {
            name: name.clone(),
            label: String::new(),
            value: *value,
            notes: is_lower
                .then(|| "lower is better".to_owned())
                .into_iter()
                .collect(),
            interval: ends(intervals, name).map(|ends| Interval {
                ends,
                name: interval_name(statistics["confidence"].as_f64().unwrap_or(0.95)),
                scale,
            }),
        }
    };
    scores.iter().map(card).collect()
}

fn column(name: &str, text: bool) -> Column {
    Column {
        name: name.to_owned(),
        text,
        ..Column::default()
    }
}

/// The scores of several results, as a table and a curve in their order.
fn over_results(stored: &[(String, Value)]) -> Option<Section> {
    let first = &stored.first()?.1;
    let first = named_scores(
        first["metric"].as_str().unwrap_or_default(),
        &first["scores"],
    );
    let mut columns = vec![column("result", true)];
    columns.extend(first.iter().map(|(name, _)| column(name, false)));
    let row = |(name, result): &(String, Value)| {
        let cells = first
            .iter()
            .map(|(score, _)| Cell::from(result["scores"][score].as_f64()));
        std::iter::once(Cell::Text(name.clone()))
            .chain(cells)
            .collect()
    };
    let mut blocks = vec![Block::Table(Table {
        caption: "Scores of all results".to_owned(),
        columns,
        rows: stored.iter().map(row).collect(),
        ..Table::default()
    })];
    let (score, _) = first.first()?;
    let point = |(index, (_, result)): (usize, &(String, Value))| {
        Some([index as f64 + 1.0, result["scores"][score].as_f64()?])
    };
    let points: Vec<[f64; 2]> = stored.iter().enumerate().filter_map(point).collect();
    if points.len() > 2 {
        blocks.push(Block::Lines(Lines {
            caption: metric_report::Caption {
                title: format!("{score} in the order of the results"),
                finding: "The table has the numbers.".to_owned(),
                ..Default::default()
            },
            axes: ["result".to_owned(), score.clone()],
            lines: vec![Line {
                name: score.clone(),
                points,
                main: true,
                ..Line::default()
            }],
            ..Lines::default()
        }));
    }
    Some(Section {
        title: "All results".to_owned(),
        note: String::new(),
        blocks,
    })
}

/// The sections of the metric, and the tables of its groups.
fn sections_of(
    wanted: &Wanted,
    metric: &str,
    result: &Value,
    details: Option<&Value>,
) -> Vec<Section> {
    let shown = Shown {
        result,
        details,
        has_texts: wanted.examples().1,
    };
    let mut sections = find(metric).map_or_else(Vec::new, |entry| entry.report_sections(shown));
    for (kind, groups) in result["groups"].as_object().into_iter().flatten() {
        let groups: Vec<(&String, &Value)> = groups.as_object().into_iter().flatten().collect();
        let Some((_, first)) = groups.first() else {
            continue;
        };
        let scores = named_scores(metric, &first["scores"]);
        let counts = first["counts"].as_object().into_iter().flatten();
        let counts: Vec<&String> = counts
            .filter(|(_, count)| count.is_number())
            .map(|(name, _)| name)
            .collect();
        let mut columns = vec![column(kind, true)];
        columns.extend(scores.iter().map(|(name, _)| column(name, false)));
        columns.extend(counts.iter().map(|name| column(name, false)));
        let row = |(name, group): &(&String, &Value)| {
            let own = scores
                .iter()
                .map(|(score, _)| Cell::from(group["scores"][score].as_f64()));
            let count = |name: &&String| match group["counts"][name.as_str()].as_u64() {
                Some(count) => Cell::Count(count),
                None => Cell::from(group["counts"][name.as_str()].as_f64()),
            };
            std::iter::once(Cell::Text((*name).clone()))
                .chain(own)
                .chain(counts.iter().map(count))
                .collect()
        };
        sections.push(Section {
            title: format!("By {kind}"),
            note: String::new(),
            blocks: vec![Block::Table(Table {
                caption: format!("Scores by {kind}"),
                columns,
                rows: groups.iter().map(row).collect(),
                rest: "The result has all of them.".to_owned(),
                ..Table::default()
            })],
        });
    }
    sections
}

fn provenance(stored: &[(String, Value)], wanted: &Wanted, files: Vec<(String, Fact)>) -> Section {
    let mut facts = Vec::new();
    for (name, result) in stored {
        let signature = result["signature"].as_str().unwrap_or_default();
        let fact = match stored.len() {
            1 => signature.to_owned(),
            _ => format!("{name}: {signature}"),
        };
        facts.push(("Signature".to_owned(), Fact::Text(fact)));
    }
    facts.push(("Command".to_owned(), Fact::Text(wanted.command())));
    facts.extend(files);
    facts.extend(report::program_facts(wanted));
    Section {
        title: "Where the numbers come from".to_owned(),
        note: String::new(),
        blocks: vec![Block::Facts(Facts { facts })],
    }
}
