//! Reports of results that are stored as JSON.

use std::collections::BTreeSet;

use crate::{
    Badge, Bar, Bars, Block, Caption, Card, Cell, Column, Fact, Facts, Forest, Interval, Line,
    Lines, Report, Section, Shown, Table, Tone, charts_of, counted,
};
use metric_registry::{Direction, Entry, find};
use serde_json::Value;

/// Results in the form of the program's JSON, to be shown as a page.
#[derive(Debug, Default)]
pub struct StoredResults<'a> {
    /// The name and the JSON of each result. Several of one metric are compared in a table, in this order.
    pub results: &'a [(String, Value)],
    /// The differences between results, as the JSON of a comparison lists its comparisons.
    pub differences: &'a [Value],
    /// The details of the first result, such as curves.
    pub details: Option<&'a Value>,
    /// The title; by default what the metric measures.
    pub title: Option<&'a str>,
    /// Whether texts of the data are shown.
    pub has_texts: bool,
    /// Sections about the examples of the first result.
    pub examples: Vec<Section>,
    /// Further badges.
    pub badges: Vec<Badge>,
    /// Where the results are from, in addition to their signatures.
    pub facts: Vec<(String, Fact)>,
}

impl StoredResults<'_> {
    /// Returns the page: scores with their intervals, the charts of the metric, groups, and the signatures.
    #[must_use]
    pub fn report(self) -> Report {
        let Self {
            results,
            differences,
            details,
            title,
            has_texts,
            examples,
            mut badges,
            facts,
        } = self;
        let several = results.len() > 1;
        let metrics = metrics_of(results);
        let mut sections: Vec<Section> = Vec::new();
        for metric in &metrics {
            sections.extend(over_results(results, metric, metrics.len() > 1));
        }
        let compared = results.first().map_or("", |(_, result)| metric_of(result));
        sections.extend(difference_section(compared, differences));
        let mut warnings: Vec<String> = Vec::new();
        let mut examples = Some(examples);
        for (index, (name, result)) in results.iter().enumerate() {
            let own = result["warnings"].as_array().into_iter().flatten();
            for warning in own.filter_map(Value::as_str) {
                if !warnings.iter().any(|other| other == warning) {
                    warnings.push(warning.to_owned());
                }
            }
            let details = details.filter(|_| index == 0);
            let mut own = sections_of(has_texts, metric_of(result), result, details);
            own.extend(examples.take().unwrap_or_default());
            if several {
                for section in &mut own {
                    section.title = format!("{name}: {}", section.title);
                }
            }
            sections.extend(own);
        }
        if !warnings.is_empty() {
            let badge = Badge {
                text: counted(warnings.len() as u64, "warning"),
                tone: Tone::Warning,
            };
            badges.insert(0, badge);
        }
        sections.push(provenance(results, facts));
        let none = Value::Null;
        let first = results.first().map_or(&none, |(_, result)| result);
        let metric = metrics.join(", ");
        let summary = if several {
            counted(results.len() as u64, "result")
        } else {
            counted(first["examples"].as_u64().unwrap_or(0), "example")
        };
        let heading = find(&metric).map_or_else(|| metric.clone(), heading);
        let cards = match results {
            [(_, result)] => cards(result, find(&metric)),
            _ => main_cards(results),
        };
        Report {
            title: title.map_or(heading, str::to_owned),
            summary: format!("{metric}: {summary}"),
            badges,
            cards,
            warnings,
            sections,
            program: concat!("metric-suite ", env!("CARGO_PKG_VERSION")).to_owned(),
            digits: 4,
        }
    }
}

fn metric_of(result: &Value) -> &str {
    result["metric"].as_str().unwrap_or_default()
}

/// The metrics of results, each once.
fn metrics_of(results: &[(String, Value)]) -> Vec<&str> {
    let mut metrics = Vec::new();
    for (_, result) in results {
        let metric = metric_of(result);
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics
}

/// The main score of each of several results, under the name of the result.
fn main_cards(results: &[(String, Value)]) -> Vec<Card> {
    let card = |(name, result): &(String, Value)| {
        let main = cards(result, find(metric_of(result))).into_iter().next()?;
        Some(main_card_of(name, main))
    };
    results.iter().filter_map(card).collect()
}

/// Returns the card of a score that is one of several of a page: it says whose score it is.
#[must_use]
pub fn main_card_of(name: &str, card: Card) -> Card {
    Card {
        label: format!("{name}: {}", card.name),
        name: format!("{}.{name}", card.name),
        ..card
    }
}

/// Returns a short description of what a metric measures: the start of its help.
#[must_use]
pub fn heading(entry: &Entry) -> String {
    let end = entry.help.find([':', ',']).unwrap_or(entry.help.len());
    // One word before a comma is the start of a list.
    let is_list = entry.help[end..].starts_with(',') && !entry.help[..end].contains(' ');
    let end = if is_list {
        entry.help.find(':').unwrap_or(entry.help.len())
    } else {
        end
    };
    entry.help[..end].to_owned()
}

/// Returns the name of an interval in reports, such as `95% interval`.
#[must_use]
pub fn interval_name(confidence: f64) -> String {
    // 0.95 x 100 has a rounding error, which is not shown.
    format!("{}% interval", (confidence * 1e8).round() / 1e6)
}

/// Returns what was resampled: examples, or clusters by a field, such as `32 clusters by document`.
#[must_use]
pub fn resampled_units(clusters: Option<u64>, cluster_field: Option<&str>) -> String {
    let (noun, by) = match cluster_field {
        Some(field) => ("cluster", format!(" by {field}")),
        None => ("example", String::new()),
    };
    match clusters {
        Some(clusters) => counted(clusters, noun) + &by,
        None => format!("{noun}s{by}"),
    }
}

/// Scores in the order in which the metric declares them.
fn named_scores(metric: &str, scores: &Value) -> Vec<(String, Option<f64>)> {
    let declared = find(metric).map_or(&[][..], |entry| entry.scores);
    let index = |name: &str| {
        let spec = find(metric).and_then(|entry| entry.score(name));
        let index = spec.and_then(|spec| declared.iter().position(|other| other == spec));
        index.unwrap_or(declared.len())
    };
    let scores = scores.as_object().into_iter().flatten();
    let scores = scores.map(|(name, value)| (name.clone(), value.as_f64()));
    let mut scores: Vec<(String, Option<f64>)> = scores.collect();
    scores.sort_by_key(|(name, _)| index(name));
    scores
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
        let notes = [
            (is_lower, "lower is better"),
            (value.is_none(), "undefined for these data"),
        ];
        let notes = notes.into_iter().filter(|(is_true, _)| *is_true);
        Card {
            name: name.clone(),
            label: String::new(),
            value: *value,
            notes: notes.map(|(_, note)| note.to_owned()).collect(),
            interval: ends(intervals, name).map(|ends| Interval {
                ends,
                name: interval_name(statistics["confidence"].as_f64().unwrap_or(0.95)),
                scale,
            }),
        }
    };
    let cards = scores.iter().map(card).collect();
    match entry {
        Some(entry) => main_first(entry, cards),
        None => cards,
    }
}

/// The cards of scores with the main one first.
#[must_use]
pub fn main_first(entry: &Entry, mut cards: Vec<Card>) -> Vec<Card> {
    let main = entry.main_score(cards.iter().map(|card| card.name.as_str()));
    if let Some(up_to_main) = cards.get_mut(..=main) {
        up_to_main.rotate_right(1);
    }
    cards
}

fn column(name: &str, text: bool) -> Column {
    Column {
        name: name.to_owned(),
        text,
        ..Column::default()
    }
}

/// The scores of the results of a metric as a table and a curve in their order. `None` if all scores are shown without
/// them.
fn over_results(results: &[(String, Value)], metric: &str, is_named: bool) -> Option<Section> {
    let of_metric = results.iter();
    let of_metric = of_metric.filter(|(_, result)| metric_of(result) == metric);
    let stored: Vec<&(String, Value)> = of_metric.collect();
    let first = match &stored[..] {
        [_] if !is_named => return None,
        [(name, result)] => return all_scores(name, result),
        [(_, first), ..] => first,
        [] => return None,
    };
    let first = named_scores(metric, &first["scores"]);
    let mut columns = vec![column("result", true)];
    columns.extend(first.iter().map(|(name, _)| column(name, false)));
    let row = |(name, result): &&(String, Value)| {
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
    let bar = |(name, result): &&(String, Value)| {
        Some(Bar {
            name: name.clone(),
            value: Cell::Number(result["scores"][score].as_f64()?),
            ..Bar::default()
        })
    };
    let bars: Vec<Bar> = stored.iter().filter_map(bar).collect();
    if !bars.is_empty() {
        blocks.push(Block::Bars(Bars {
            caption: Caption {
                title: format!("{score} of each result"),
                finding: "The table has the numbers.".to_owned(),
                ..Default::default()
            },
            bars,
            full: None,
        }));
    }
    let point = |(index, (_, result)): (usize, &&(String, Value))| {
        Some([index as f64 + 1.0, result["scores"][score].as_f64()?])
    };
    let points: Vec<[f64; 2]> = stored.iter().enumerate().filter_map(point).collect();
    if points.len() > 2 {
        blocks.push(Block::Lines(Lines {
            caption: Caption {
                title: format!("{score} in the order of the results"),
                finding: "The table has the numbers.".to_owned(),
                ..Default::default()
            },
            axes: ["result".to_owned(), score.clone()],
            lines: vec![Line {
                name: score.clone(),
                points,
                // There is nothing between two results.
                dots: true,
                ..Line::default()
            }],
            ..Lines::default()
        }));
    }
    Some(Section {
        title: if is_named {
            format!("{metric}: All results")
        } else {
            "All results".to_owned()
        },
        note: String::new(),
        blocks,
    })
}

/// The scores of the only result of its metric, whose card has the main one; `None` if there are no others.
fn all_scores(name: &str, result: &Value) -> Option<Section> {
    let intervals = &result["statistics"]["intervals"];
    let scores = named_scores(metric_of(result), &result["scores"]);
    let has_intervals = scores
        .iter()
        .any(|(name, _)| ends(intervals, name).is_some());
    let mut columns = vec![column("score", true), column("value", false)];
    if has_intervals {
        let confidence = result["statistics"]["confidence"].as_f64();
        columns.push(column(&interval_name(confidence.unwrap_or(0.95)), false));
    }
    let row = |(name, value): &(String, Option<f64>)| {
        let interval = ends(intervals, name).map_or(Cell::Undefined, Cell::Interval);
        let cells = [Cell::Text(name.clone()), Cell::from(*value)];
        cells
            .into_iter()
            .chain(has_intervals.then_some(interval))
            .collect()
    };
    (scores.len() > 1).then(|| Section {
        title: format!("{name}: Scores"),
        note: String::new(),
        blocks: vec![Block::Table(Table {
            caption: "All scores".to_owned(),
            columns,
            rows: scores.iter().map(row).collect(),
            ..Table::default()
        })],
    })
}

/// The differences between results as a table, with a chart of those in the first score that has a direction. `None` if
/// there are no differences.
fn difference_section(metric: &str, differences: &[Value]) -> Option<Section> {
    let names = ["system", "baseline", "score"];
    let mut columns: Vec<Column> = names.iter().map(|name| column(name, true)).collect();
    let numbers = [
        "difference",
        "interval",
        "p",
        "adjusted p",
        "better",
        "equal",
        "worse",
    ];
    columns.extend(numbers.iter().map(|name| column(name, false)));
    let row = |it: &Value| {
        let text = |name: &str| Cell::Text(it[name].as_str().unwrap_or_default().to_owned());
        let count = |name: &str| it[name].as_u64().map_or(Cell::Undefined, Cell::Count);
        let ends = it["low"].as_f64().zip(it["high"].as_f64());
        let mut cells: Vec<Cell> = names.iter().map(|name| text(name)).collect();
        cells.extend([
            it["delta"]
                .as_f64()
                .map_or(Cell::Undefined, Cell::Difference),
            ends.map_or(Cell::Undefined, |(low, high)| Cell::Interval([low, high])),
            Cell::from(it["p"].as_f64()),
            Cell::from(it["p_holm"].as_f64()),
            count("wins"),
            count("ties"),
            count("losses"),
        ]);
        cells
    };
    let table = Table {
        caption: "Differences between systems".to_owned(),
        columns,
        rows: differences.iter().map(row).collect(),
        ..Table::default()
    };
    (!differences.is_empty()).then(|| Section {
        title: "Differences".to_owned(),
        note: "p is that of a paired test on the same examples.".to_owned(),
        blocks: std::iter::once(Block::Table(table))
            .chain(difference_chart(metric, differences).map(Block::Forest))
            .collect(),
    })
}

/// The chart of the differences in the first score that has a direction, or in the first one.
fn difference_chart(metric: &str, differences: &[Value]) -> Option<Forest> {
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let direction = |score: &str| find(metric)?.score(score)?.direction;
    let mut scores = differences.iter().map(|it| text(it, "score"));
    let directed = scores.clone().find(|score| direction(score).is_some());
    let score = directed.or_else(|| scores.next())?;
    let of_score = differences.iter().filter(|it| text(it, "score") == score);
    let baselines: BTreeSet<String> = of_score.clone().map(|it| text(it, "baseline")).collect();
    let from = match baselines.len() {
        1 => baselines.first().map(|name| format!(" from {name}")),
        _ => None,
    };
    let row = |it: &Value| {
        let name = match &from {
            Some(_) => text(it, "system"),
            None => format!("{} from {}", text(it, "system"), text(it, "baseline")),
        };
        let ends = it["low"].as_f64().zip(it["high"].as_f64());
        Some((
            name,
            it["delta"].as_f64()?,
            ends.map(|(low, high)| [low, high]),
        ))
    };
    let rows: Vec<_> = of_score.filter_map(row).collect();
    let better = match direction(&score) {
        Some(Direction::Lower) => " Left of the dashes is better.",
        Some(Direction::Higher) => " Right of the dashes is better.",
        None => "",
    };
    (!rows.is_empty()).then(|| Forest {
        caption: Caption {
            title: format!("Difference in {score}{}", from.unwrap_or_default()),
            note: format!(
                "Point: the difference; line: its interval; dashes: no difference.{better}"
            ),
            finding: "The table has the numbers.".to_owned(),
        },
        rows,
        overall: Some(0.0),
    })
}

/// The sections of the metric, and the tables of its groups.
fn sections_of(
    has_texts: bool,
    metric: &str,
    result: &Value,
    details: Option<&Value>,
) -> Vec<Section> {
    let shown = Shown {
        result,
        details,
        has_texts,
        class_names: &[],
    };
    let mut sections = find(metric).map_or_else(Vec::new, |entry| charts_of(entry, shown));
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

/// How a result was resampled.
fn intervals_words(statistics: &Value) -> Option<String> {
    let confidence = statistics["confidence"].as_f64()?;
    Some(format!(
        "Poisson bootstrap over {}, {} resamples, seed {}, confidence {confidence}",
        resampled_units(
            statistics["clusters"].as_u64(),
            statistics["cluster_field"].as_str()
        ),
        statistics["resamples"],
        statistics["seed"].to_string().trim_matches('"'),
    ))
}

fn provenance(stored: &[(String, Value)], more: Vec<(String, Fact)>) -> Section {
    let mut facts = Vec::new();
    for (name, result) in stored {
        let signature = result["signature"].as_str().unwrap_or_default();
        let fact = match stored.len() {
            1 => signature.to_owned(),
            _ => format!("{name}: {signature}"),
        };
        facts.push(("Signature".to_owned(), Fact::Text(fact)));
    }
    let mut intervals: Vec<String> = Vec::new();
    for (_, result) in stored {
        let words = intervals_words(&result["statistics"]);
        intervals.extend(words.filter(|words| !intervals.contains(words)));
    }
    let intervals = intervals.into_iter();
    facts.extend(intervals.map(|words| ("Intervals".to_owned(), Fact::Words(words))));
    facts.extend(more);
    Section {
        title: "Where the numbers come from".to_owned(),
        note: String::new(),
        blocks: vec![Block::Facts(Facts { facts })],
    }
}
