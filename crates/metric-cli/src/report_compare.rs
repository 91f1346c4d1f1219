//! The report of a comparison.

use metric_report::{
    Badge, Bar, Bars, Block, Caption, Card, Cell, Column, Example, Fact, Facts, Forest, Histogram,
    Interval, Report, Section, ShownExample, Table, Tone, counted, example_of, heading,
    interval_name, resampled_units,
};
use metric_run::registry::stats::Test;
use metric_run::registry::{Direction, Entry, Named};
use metric_run::{Comparison, Difference, Regression, System};
use serde_json::Value;

use crate::report::{Wanted, program_facts};

/// The bins of the distribution of a difference.
const BINS: usize = 40;

/// The largest changes of a system: its gains and its losses.
pub(crate) struct Changes {
    pub(crate) baseline: String,
    pub(crate) system: String,
    pub(crate) gains: Vec<Regression>,
    pub(crate) losses: Vec<Regression>,
}

/// The number of systems that are compared with the baseline in sections of their own.
const PAIRS: usize = 2;

/// The difference that the report is about: on the first score that has a direction, that of the best system.
pub(crate) fn main_difference(comparison: &Comparison) -> Option<&Difference> {
    best_differences(comparison).into_iter().next()
}

/// The differences that have sections of their own: on the first score that has a direction, those of the best
/// systems, the best one first.
pub(crate) fn best_differences(comparison: &Comparison) -> Vec<&Difference> {
    let differences = &comparison.differences;
    let directed = differences.iter().find(|it| it.direction.is_some());
    let Some(first) = directed.or_else(|| differences.first()) else {
        return Vec::new();
    };
    let gain = |it: &Difference| match (it.direction, it.delta) {
        (Some(Direction::Lower), Some(delta)) => -delta,
        (_, Some(delta)) => delta,
        (_, None) => f64::NEG_INFINITY,
    };
    let of_score = differences.iter().filter(|it| it.score == first.score);
    let mut best: Vec<&Difference> = of_score.collect();
    // Equally good ones stay in their order.
    best.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
    best.truncate(PAIRS);
    best
}

/// The scores of three or more systems, and their differences from the first.
fn systems_section(comparison: &Comparison, main: &Difference) -> Option<Section> {
    if comparison.systems.len() < 3 {
        return None;
    }
    let bar = |system: &System| {
        let best = system.name == main.system;
        Some(Bar {
            name: system.name.clone(),
            value: Cell::Number(score_of(system, &main.score)?),
            tone: Tone::Neutral,
            main: best,
        })
    };
    let mut bars: Vec<Bar> = comparison.systems.iter().filter_map(bar).collect();
    let value = |bar: &Bar| match bar.value {
        Cell::Number(value) => value,
        _ => 0.0,
    };
    bars.sort_by(|a, b| match main.direction {
        Some(Direction::Lower) => value(a).total_cmp(&value(b)),
        _ => value(b).total_cmp(&value(a)),
    });
    let first = bars.first().map_or("", |bar| bar.name.as_str());
    let order = match main.direction {
        Some(_) => "The best system first.",
        None => "The highest score first.",
    };
    let scores = Block::Bars(Bars {
        caption: Caption {
            title: format!("{} by system", main.score),
            note: order.to_owned(),
            finding: format!("{first} comes first of {} systems.", bars.len()),
        },
        bars,
        full: None,
    });
    let of_score = comparison
        .differences
        .iter()
        .filter(|it| it.score == main.score);
    let row = |it: &Difference| Some((it.system.clone(), it.delta?, it.estimate.ends));
    let rows: Vec<_> = of_score.filter_map(row).collect();
    let better = match main.direction {
        Some(Direction::Lower) => " Left of the dashes is better.",
        Some(Direction::Higher) => " Right of the dashes is better.",
        None => "",
    };
    let differences = Block::Forest(Forest {
        caption: Caption {
            title: format!("Difference in {} from {}", main.score, main.baseline),
            note: format!(
                "Point: the difference; line: its interval; dashes: no difference.{better}"
            ),
            finding: format!(
                "Differences of {} from {}; the table has the numbers.",
                counted(rows.len() as u64, "system"),
                main.baseline
            ),
        },
        rows,
        overall: Some(0.0),
    });
    Some(Section {
        title: "All systems".to_owned(),
        note: String::new(),
        blocks: vec![scores, differences],
    })
}

/// The comparison of a system with the baseline, on the main score.
#[derive(Default)]
pub(crate) struct Pair {
    /// The differences by replicate.
    pub(crate) replicates: Vec<f64>,
    /// The largest gains and losses.
    pub(crate) changes: Option<Changes>,
}

/// The report of a comparison. `pairs` are those of the [best systems](best_differences).
pub(crate) fn report(
    comparison: &Comparison,
    entry: &Entry,
    wanted: &Wanted,
    files: Vec<(String, Fact)>,
    pairs: &[Pair],
) -> Report {
    let confidence = comparison.statistics.confidence;
    let best = best_differences(comparison);
    let main = best.first().copied();
    let mut badges: Vec<Badge> = Vec::new();
    let mut warnings: Vec<String> = comparison
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    let of_main = comparison
        .differences
        .iter()
        .filter(|it| main.is_some_and(|main| main.score == it.score));
    for it in of_main {
        badges.push(answer(it, confidence));
        warnings.extend(disagreement(it, confidence));
    }
    let mut sections = Vec::new();
    if let Some(main) = main {
        sections.extend(systems_section(comparison, main));
    }
    for (difference, pair) in best.iter().zip(pairs) {
        let title = match best.len() {
            1 => "The difference".to_owned(),
            _ => format!("{} and {}", difference.system, difference.baseline),
        };
        let unit = match comparison.statistics.cluster_field {
            Some(_) => format!("{} clusters", comparison.clusters()),
            None => "examples".to_owned(),
        };
        let replicates = &pair.replicates;
        sections.extend(difference_section(title, difference, replicates, &unit));
    }
    sections.push(scores_section(comparison));
    sections.extend(group_sections(comparison));
    for changes in pairs.iter().filter_map(|pair| pair.changes.as_ref()) {
        sections.extend(change_sections(changes, comparison, entry, wanted));
    }
    sections.push(provenance(comparison, wanted, files));
    let title = match (main, comparison.systems.len()) {
        (Some(main), 2) => format!("Is {} better than {}?", main.system, main.baseline),
        (_, count) => format!("Comparison of {count} systems"),
    };
    let mut summary = format!(
        "{} of each system on the same {}",
        heading(entry),
        counted(comparison.examples(), "example")
    );
    if let Some(date) = wanted.date() {
        summary.push_str(&format!("; {date}"));
    }
    Report {
        title: wanted.title().map_or(title, str::to_owned),
        summary,
        badges,
        cards: cards(comparison, main),
        warnings,
        sections,
        program: concat!("metric-suite ", env!("CARGO_PKG_VERSION")).to_owned(),
        digits: wanted.digits(),
    }
}

/// A p-value in words.
fn p_value(p: f64) -> String {
    if p < 0.0001 {
        "p < 0.0001".to_owned()
    } else {
        format!("p = {p:.4}")
    }
}

/// Whether the interval of the difference leaves out 0.
fn leaves_out_zero(it: &Difference) -> Option<bool> {
    it.estimate.ends.map(|[low, high]| low > 0.0 || high < 0.0)
}

/// The answer in a sentence, with the rule that it follows.
fn answer(it: &Difference, confidence: f64) -> Badge {
    let Difference {
        baseline,
        system,
        score,
        ..
    } = it;
    let level = (1e9 * (1.0 - confidence)).round() / 1e9;
    let (Some(p), Some(_)) = (it.p_holm, it.direction) else {
        return Badge {
            text: format!("{score}: {system} and {baseline} are not tested"),
            tone: Tone::Neutral,
        };
    };
    let p = p_value(p);
    match (it.is_significant(confidence), it.is_worse()) {
        (true, false) => Badge {
            text: format!(
                "{system} is better than {baseline} on {score}: adjusted {p}, at most {level}"
            ),
            tone: Tone::Good,
        },
        (true, true) => Badge {
            text: format!(
                "{system} is worse than {baseline} on {score}: adjusted {p}, at most {level}"
            ),
            tone: Tone::Bad,
        },
        (false, _) => Badge {
            text: format!(
                "No difference shown between {system} and {baseline} on {score}: adjusted {p}, above {level}"
            ),
            tone: Tone::Neutral,
        },
    }
}

/// What to say where the interval and the test do not agree.
fn disagreement(it: &Difference, confidence: f64) -> Option<String> {
    it.p_holm?;
    let (significant, leaves_out) = (it.is_significant(confidence), leaves_out_zero(it)?);
    (significant != leaves_out).then(|| {
        format!(
            "{} compared with {} on {}: the interval of the difference {} 0, and the adjusted p-value says otherwise; the answer follows the p-value.",
            it.system,
            it.baseline,
            it.score,
            if leaves_out { "leaves out" } else { "includes" }
        )
    })
}

fn score_of(system: &System, score: &str) -> Option<f64> {
    system.outcome.report().score(score)
}

fn cards(comparison: &Comparison, main: Option<&Difference>) -> Vec<Card> {
    let Some(main) = main else {
        return Vec::new();
    };
    let name = interval_name(comparison.statistics.confidence);
    let better = match main.direction {
        Some(Direction::Lower) => ", below 0 is better",
        Some(Direction::Higher) => ", above 0 is better",
        None => "",
    };
    let mut notes = Vec::new();
    notes.extend(main.p_holm.map(|p| format!("adjusted {}", p_value(p))));
    notes.extend(main.test.map(|test| test.description().to_owned()));
    let reach = main
        .estimate
        .ends
        .map_or(0.0, |[low, high]| low.abs().max(high.abs()))
        .max(1e-9)
        * 1.2;
    let mut cards = vec![Card {
        name: format!("{}.difference", main.score),
        label: format!(
            "{}: {} − {}{better}",
            main.score, main.system, main.baseline
        ),
        value: main.delta,
        notes,
        interval: main.estimate.ends.map(|ends| Interval {
            ends,
            name: name.clone(),
            scale: [-reach, reach],
        }),
    }];
    let ends = |system: &System| {
        let found = system
            .outcome
            .intervals()?
            .total
            .intervals
            .iter()
            .find(|(score, _)| *score == main.score)?;
        found.1.ends
    };
    let values = comparison.systems.iter().flat_map(|system| {
        let ends = ends(system).into_iter().flatten();
        ends.chain(score_of(system, &main.score))
            .collect::<Vec<_>>()
    });
    let scale = values.fold([0.0, 1.0], |[low, high]: [f64; 2], value| {
        [low.min(value), high.max(value)]
    });
    for system in &comparison.systems {
        cards.push(Card {
            name: format!("{}.{}", main.score, system.name),
            label: format!("{}: {}", system.name, main.score),
            value: score_of(system, &main.score),
            notes: Vec::new(),
            interval: ends(system).map(|ends| Interval {
                ends,
                name: name.clone(),
                scale,
            }),
        });
    }
    cards
}

/// The distribution of the difference, and on how many examples each system is better.
/// The resamples are those of `unit`.
fn difference_section(
    title: String,
    main: &Difference,
    replicates: &[f64],
    unit: &str,
) -> Option<Section> {
    let good = match main.direction {
        Some(Direction::Lower) => Some(true),
        Some(Direction::Higher) => Some(false),
        None => None,
    };
    let mut blocks = Vec::new();
    let reach = replicates
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    if reach > 0.0 {
        let low = replicates.iter().copied().fold(0.0, f64::min);
        let high = replicates.iter().copied().fold(0.0, f64::max);
        let mut bins = vec![0; BINS];
        for value in replicates {
            let index = (value - low) / (high - low) * BINS as f64;
            bins[(index as usize).min(BINS - 1)] += 1;
        }
        let finding = match main.estimate.ends {
            Some([low, high]) => {
                format!("The interval is {low:+.4} to {high:+.4}.").replace('-', "−")
            }
            None => "There is no interval.".to_owned(),
        };
        blocks.push(Block::Histogram(Histogram {
            caption: Caption {
                title: "How sure is the difference?".to_owned(),
                note: format!(
                    "{} resamples of the {unit}: green where {} is better, orange where it is worse. {finding}",
                    replicates.len(),
                    main.system
                ),
                finding,
            },
            range: [low, high],
            bins,
            beyond: [0; 2],
            unit: "resamples".to_owned(),
            axis: format!("{} of {} minus {}", main.score, main.system, main.baseline),
            mark: Some((0.0, "no difference:".to_owned())),
            negative_is_good: good,
        }));
    }
    if let Some([better, equal, worse, undefined]) = main.examples {
        blocks.extend(example_differences(main, good));
        let bar = |name: String, count, tone| Bar {
            name,
            value: Cell::Count(count),
            tone,
            main: false,
        };
        let mut bars = vec![
            bar(format!("{} better", main.system), better, Tone::Good),
            bar("equal".to_owned(), equal, Tone::Neutral),
            bar(format!("{} better", main.baseline), worse, Tone::Bad),
        ];
        if undefined > 0 {
            bars.push(bar("undefined".to_owned(), undefined, Tone::Neutral));
        }
        blocks.push(Block::Bars(Bars {
            caption: Caption {
                title: "Example by example".to_owned(),
                note: "On how many examples each system has the better score.".to_owned(),
                finding: format!(
                    "{} is better on {better}, equal on {equal}, worse on {worse}.",
                    main.system
                ),
            },
            bars,
            full: None,
        }));
    }
    (!blocks.is_empty()).then(|| Section {
        title,
        note: String::new(),
        blocks,
    })
}

/// The differences of examples, unless all of them have equal scores.
fn example_differences(main: &Difference, negative_is_good: Option<bool>) -> Option<Block> {
    let found = main.distribution?;
    let [_, equal, ..] = main.examples?;
    let beyond = [found.below, found.above];
    let drawn: u64 = found.bins.iter().chain(&beyond).sum();
    if drawn == 0 {
        return None;
    }
    let equal = match equal {
        0 => String::new(),
        equal => format!(
            " {} {} equal scores and no bar.",
            counted(equal, "example"),
            if equal == 1 { "has" } else { "have" }
        ),
    };
    Some(Block::Histogram(Histogram {
        caption: Caption {
            title: "Differences of examples".to_owned(),
            note: format!(
                "Examples by their difference in {}: green where {} is better, orange where it is worse.{equal}",
                main.example_score, main.system
            ),
            finding: format!(
                "{} with different scores.{equal}",
                counted(drawn, "example")
            ),
        },
        range: [-found.reach, found.reach],
        bins: found.bins.to_vec(),
        beyond,
        unit: "examples".to_owned(),
        axis: format!(
            "{} of {} minus {}",
            main.example_score, main.system, main.baseline
        ),
        mark: Some((0.0, "no difference:".to_owned())),
        negative_is_good,
    }))
}

fn column(name: &str) -> Column {
    Column {
        name: name.to_owned(),
        ..Column::default()
    }
}

fn difference_columns(first: &str, confidence: f64) -> Vec<Column> {
    let text = |name: &str| Column {
        text: true,
        ..column(name)
    };
    vec![
        text(first),
        text("system"),
        text("baseline"),
        column("score"),
        column("baseline's score"),
        column("difference"),
        column(&interval_name(confidence)),
        column("p"),
        column("adjusted p"),
        column("better"),
        column("equal"),
        column("worse"),
    ]
}

fn difference_row(first: &str, it: &Difference, scores: [Option<f64>; 2]) -> Vec<Cell> {
    let count = |index: usize| {
        it.examples
            .map_or(Cell::Undefined, |examples| Cell::Count(examples[index]))
    };
    vec![
        Cell::from(first),
        Cell::from(it.system.as_str()),
        Cell::from(it.baseline.as_str()),
        Cell::from(scores[0]),
        Cell::from(scores[1]),
        it.delta.map_or(Cell::Undefined, Cell::Difference),
        it.estimate.ends.map_or(Cell::Undefined, Cell::Interval),
        Cell::from(it.p),
        Cell::from(it.p_holm),
        count(0),
        count(1),
        count(2),
    ]
}

/// All scores of all systems.
fn scores_section(comparison: &Comparison) -> Section {
    let system = |name: &str| comparison.systems.iter().find(|system| system.name == name);
    let score = |name: &str, score: &str| system(name).and_then(|system| score_of(system, score));
    let row = |it: &Difference| {
        let scores = [score(&it.system, &it.score), score(&it.baseline, &it.score)];
        difference_row(&it.score, it, scores)
    };
    Section {
        title: "All scores".to_owned(),
        note: String::new(),
        blocks: vec![Block::Table(Table {
            caption: "Differences by score".to_owned(),
            columns: difference_columns("score name", comparison.statistics.confidence),
            rows: comparison.differences.iter().map(row).collect(),
            ..Table::default()
        })],
    }
}

/// The differences of groups and slices on the main score.
fn group_sections(comparison: &Comparison) -> Vec<Section> {
    let Some(main) = main_difference(comparison) else {
        return Vec::new();
    };
    let score = |system: &str, kind: &str, name: &str| {
        let system = comparison
            .systems
            .iter()
            .find(|found| found.name == system)?;
        let groups: Named<Vec<_>> = system.outcome.report().groups;
        let of_kind = groups.into_iter().find(|(found, _)| found == kind)?.1;
        let group = of_kind.into_iter().find(|group| group.name == name)?;
        group
            .scores
            .into_iter()
            .find(|(found, _)| *found == main.score)?
            .1
    };
    let section = |(kind, groups): &(String, Named<metric_run::GroupComparison>)| {
        let rows = groups.iter().flat_map(|(name, group)| {
            let own = group.differences.iter().filter(|it| it.score == main.score);
            own.map(move |it| {
                let scores = [&it.system, &it.baseline].map(|system| score(system, kind, name));
                difference_row(name, it, scores)
            })
        });
        Section {
            title: format!("By {kind}"),
            note: String::new(),
            blocks: vec![Block::Table(Table {
                caption: format!("{} by {kind}", main.score),
                columns: difference_columns(kind, comparison.statistics.confidence),
                rows: rows.collect(),
                ..Table::default()
            })],
        }
    };
    comparison.groups.iter().map(section).collect()
}

/// The largest gains and losses.
fn change_sections(
    changes: &Changes,
    comparison: &Comparison,
    entry: &Entry,
    wanted: &Wanted,
) -> Vec<Section> {
    let options = comparison
        .systems
        .first()
        .map(|system| system.outcome.options().clone())
        .unwrap_or_default();
    let (most, has_texts) = wanted.examples();
    let section = |title: String, regressions: &[Regression], names: [&str; 2]| {
        let example = |(index, it): (usize, &Regression)| {
            let mut blocks = Vec::new();
            for (name, prediction) in names.into_iter().zip(&it.predictions) {
                let Some((reference, prediction)) = it.reference.as_ref().zip(prediction.as_ref())
                else {
                    continue;
                };
                let shown = ShownExample {
                    id: it.id.clone(),
                    part: it.part.clone(),
                    reference: Some(value(reference)),
                    prediction: Some(value(prediction)),
                    ..ShownExample::default()
                };
                let own = example_of(entry, &options, &shown);
                blocks.push(Block::Facts(Facts {
                    facts: if own.is_empty() {
                        vec![
                            ("reference".to_owned(), Fact::Text(reference.clone())),
                            (name.to_owned(), Fact::Text(prediction.clone())),
                        ]
                    } else {
                        vec![("system".to_owned(), Fact::Words(name.to_owned()))]
                    },
                }));
                blocks.extend(own);
            }
            Block::Example(Example {
                id: if has_texts {
                    it.id.clone()
                } else {
                    format!("example {}", index + 1)
                },
                facts: vec![format!(
                    "{} {:.4} → {} {:.4}",
                    names[0], it.scores[0], names[1], it.scores[1]
                )],
                blocks: if has_texts { blocks } else { Vec::new() },
                whole: crate::report::WHOLE.to_owned(),
            })
        };
        Section {
            title,
            note: String::new(),
            blocks: regressions
                .iter()
                .take(most)
                .enumerate()
                .map(example)
                .collect(),
        }
    };
    let names = [changes.baseline.as_str(), changes.system.as_str()];
    // A gain is a loss of the baseline: its scores and predictions are the other way round.
    let gains: Vec<Regression> = changes.gains.iter().map(turned).collect();
    vec![
        section(
            format!("Largest gains of {}", changes.system),
            &gains,
            names,
        ),
        section(
            format!("Largest losses of {}", changes.system),
            &changes.losses,
            names,
        ),
    ]
}

fn turned(it: &Regression) -> Regression {
    let [system, baseline] = it.scores;
    let [of_system, of_baseline] = it.predictions.clone();
    Regression {
        scores: [baseline, system],
        predictions: [of_baseline, of_system],
        ..it.clone()
    }
}

/// A side as it is written: JSON, or a line of text.
fn value(written: &str) -> Value {
    let is_json = written.starts_with(['"', '[', '{']);
    let parsed = is_json
        .then(|| serde_json::from_str(written).ok())
        .flatten();
    parsed.unwrap_or_else(|| Value::String(written.to_owned()))
}

fn provenance(comparison: &Comparison, wanted: &Wanted, files: Vec<(String, Fact)>) -> Section {
    let statistics = &comparison.statistics;
    let mut tests: Vec<&str> = comparison
        .differences
        .iter()
        .filter_map(|it| it.test)
        .map(Test::description)
        .collect();
    tests.sort_unstable();
    tests.dedup();
    let words = |name: &str, words: String| (name.to_owned(), Fact::Words(words));
    let mut facts = vec![
        (
            "Signature".to_owned(),
            Fact::Text(comparison.signature.clone()),
        ),
        ("Command".to_owned(), Fact::Text(wanted.command())),
    ];
    facts.extend(files);
    facts.push(words(
        "Test",
        format!(
            "{}, two-sided, {} trials, p-values adjusted by Holm's method for the systems of a score",
            tests.join(" and "),
            comparison.compare.permutations
        ),
    ));
    facts.push(words(
        "Intervals",
        format!(
            "paired Poisson bootstrap over {}, {} resamples, seed {}, confidence {}",
            resampled_units(
                Some(comparison.clusters()),
                statistics.cluster_field.as_deref()
            ),
            statistics.resamples,
            statistics.seed,
            statistics.confidence
        ),
    ));
    facts.extend(program_facts(wanted));
    Section {
        title: "Where the numbers come from".to_owned(),
        note: String::new(),
        blocks: vec![Block::Facts(Facts { facts })],
    }
}
