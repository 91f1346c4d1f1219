use std::collections::BTreeMap;

use crate::{Bar, Block, Cell, Fact, Facts, Heatmap, Line, Lines, Section, Tone};
use metric_registry::DRAWN_CLASSES;
use serde_json::Value;

use super::Shown;
use super::parts::{bars, caption, largest, section, text};

/// A matrix of classes with its most frequent mistakes.
pub(super) fn sections(shown: Shown<'_>) -> Vec<Section> {
    let Some(details) = shown.details else {
        return Vec::new();
    };
    let classes = details["classes"].as_array().map_or(&[][..], Vec::as_slice);
    let index = |class: &Value| classes.binary_search_by(|other| order(other, class)).ok();
    let position =
        |class: &Value| index(class).or_else(|| classes.iter().position(|other| other == class));
    let cell = |cell: &Value| {
        let count = cell["count"].as_u64()?;
        Some((
            position(&cell["reference"])?,
            position(&cell["prediction"])?,
            count,
        ))
    };
    let cells = details["cells"].as_array().map_or(&[][..], Vec::as_slice);
    let cells: Vec<_> = cells.iter().filter_map(cell).collect();
    let name = |class: &Value| shown.name_of_class(&text(class)).to_owned();
    let names: Vec<String> = classes.iter().map(name).collect();
    section("Confusions", "", matrix(names, cells, None))
}

/// Classes are listed in order: numbers before strings.
fn order(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => a.as_str().cmp(&b.as_str()),
    }
}

/// The heat map of a matrix, and its most frequent mistakes as bars.
pub(super) fn matrix(
    classes: Vec<String>,
    cells: Vec<(usize, usize, u64)>,
    nothing: Option<usize>,
) -> Vec<Block> {
    let is_mistake = |cell: &&(usize, usize, u64)| {
        cell.0 != cell.1 && Some(cell.0) != nothing && Some(cell.1) != nothing
    };
    let mut mistakes: Vec<_> = cells.iter().filter(is_mistake).collect();
    mistakes.sort_by_key(|cell| std::cmp::Reverse(cell.2));
    let name = |index: usize| classes.get(index).map_or("", String::as_str);
    let bar = |(row, column, count): &&(usize, usize, u64)| Bar {
        name: format!("{} → {}", name(*row), name(*column)),
        value: Cell::Count(*count),
        tone: Tone::Bad,
        main: false,
    };
    let mistakes: Vec<Bar> = mistakes.iter().take(15).map(bar).collect();
    let note = "The class of the reference, then the predicted class.";
    let mistakes = bars(
        caption("Most frequent mistakes", note, largest(&mistakes)),
        None,
        mistakes,
    );
    let mut blocks = vec![Block::Heatmap(Heatmap {
        caption: caption("Confusion matrix", "", String::new()),
        sides: ["references".to_owned(), "predictions".to_owned()],
        classes,
        cells,
        nothing,
        rest: "All of them are in --details.".to_owned(),
    })];
    blocks.extend(mistakes);
    blocks
}

/// The number of ranks that are drawn one by one.
const RANKS: u64 = 20;

/// The accuracy by k, where references rank, and the labels that are missed most.
pub(super) fn ranks(shown: Shown<'_>) -> Vec<Section> {
    let mut blocks: Vec<Block> = by_k(shown).map(Block::Lines).into_iter().collect();
    if let Some(details) = shown.details {
        blocks.extend(rank_bars(details));
        blocks.extend(reliability(details));
        blocks.extend(missed(details, shown));
        blocks.extend(lowest(details, shown));
    }
    section("Ranks", "", blocks)
}

fn by_k(shown: Shown<'_>) -> Option<Lines> {
    let scores = shown.result["scores"].as_object();
    let point = |(name, value): (&String, &Value)| {
        let k: f64 = name.strip_prefix("accuracy@")?.parse().ok()?;
        Some([k, value.as_f64()?])
    };
    let mut points: Vec<[f64; 2]> = scores.into_iter().flatten().filter_map(point).collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let last = *points.last().filter(|_| points.len() > 1)?;
    let finding = format!(
        "The accuracy is {:.4} within the first {} labels.",
        last[1], last[0]
    );
    Some(Lines {
        caption: caption(
            "Accuracy by k",
            "Share of references among the first k labels.",
            finding,
        ),
        axes: ["k".to_owned(), "accuracy".to_owned()],
        ranges: [None, Some([0.0, 1.0])],
        lines: vec![Line {
            points,
            // Between two k there may be others, whose accuracy is not known.
            dots: true,
            ..Line::default()
        }],
        mark: None,
    })
}

/// The number of references at each of the first ranks, at a later one, or without a rank.
fn rank_bars(details: &Value) -> Vec<Block> {
    let mut first = BTreeMap::new();
    let mut later = 0;
    for rank in details["ranks"].as_array().into_iter().flatten() {
        let count = rank["examples"].as_u64().unwrap_or(0);
        let ends = rank["first"].as_u64().zip(rank["last"].as_u64());
        match ends {
            Some((start, end)) if end <= RANKS => *first.entry((start, end)).or_insert(0) += count,
            _ => later += count,
        }
    }
    let bar = |name: String, count, tone| Bar {
        name,
        value: Cell::Count(count),
        tone,
        main: false,
    };
    let mut chart: Vec<Bar> = Vec::new();
    for ((start, end), count) in first {
        let name = if start == end {
            format!("{start}")
        } else {
            format!("{start} to {end} (tie)")
        };
        let tone = if end == 1 { Tone::Good } else { Tone::Neutral };
        chart.push(bar(name, count, tone));
    }
    let nowhere = details["without_rank"].as_u64().unwrap_or(0);
    if later > 0 {
        chart.push(bar(format!("after {RANKS}"), later, Tone::Neutral));
    }
    if nowhere > 0 {
        chart.push(bar("not predicted".to_owned(), nowhere, Tone::Bad));
    }
    let caption = caption(
        "Rank of the reference",
        "Number of examples by the rank of the reference among the predicted labels.",
        largest(&chart),
    );
    bars(caption, None, chart)
}

/// The accuracy against the confidence, where scores are probabilities.
fn reliability(details: &Value) -> Option<Block> {
    let found = details.get("reliability")?;
    let others = found["not_probabilities"].as_u64()?;
    let bins = found["bins"].as_array()?;
    let count = |bin: &Value| bin["examples"].as_u64().unwrap_or(0);
    let examples = bins.iter().map(count).sum::<u64>();
    if others > 0 {
        let words = format!(
            "not drawn: {others} of {} rows of scores are not probabilities, which are between 0 and 1 and have the sum 1. Scores of a model become probabilities by its softmax.",
            examples.saturating_add(others)
        );
        let facts = vec![("Reliability".to_owned(), Fact::Words(words))];
        return Some(Block::Facts(Facts { facts }));
    }
    let point = |bin: &Value| Some([bin["confidence"].as_f64()?, bin["accuracy"].as_f64()?]);
    let points: Vec<[f64; 2]> = bins.iter().filter_map(point).collect();
    if points.is_empty() {
        return None;
    }
    let error = found["expected_calibration_error"].as_f64();
    let error = error.map_or_else(String::new, |error| {
        format!("The expected calibration error is {error:.4}.")
    });
    let empty = bins.len() - points.len();
    let without = match empty {
        0 => String::new(),
        1 => " 1 bin has no examples.".to_owned(),
        empty => format!(" {empty} bins have no examples."),
    };
    let note = format!(
        "Examples in {} bins by their highest probability: mean probability and share that is correct. On the line from 0 to 1 both are equal; below it, the model is too confident. {error}{without}",
        bins.len()
    );
    Some(Block::Lines(Lines {
        caption: caption("Reliability", &note, error),
        axes: ["confidence".to_owned(), "accuracy".to_owned()],
        ranges: [Some([0.0, 1.0]); 2],
        lines: vec![
            Line {
                name: "equal".to_owned(),
                points: vec![[0.0, 0.0], [1.0, 1.0]],
                tone: Tone::Missing,
                ..Line::default()
            },
            Line {
                name: "model".to_owned(),
                points,
                main: true,
                ..Line::default()
            },
        ],
        mark: None,
    }))
}

/// The curves of scores for labels, and the accuracy by confidence.
pub(crate) fn label_scores(shown: Shown<'_>) -> Vec<Section> {
    let Some(details) = shown.details else {
        return Vec::new();
    };
    let of_class = |name: &str, details: &Value| {
        let name = shown.name_of_class(name).to_owned();
        (
            name,
            details["roc"].clone(),
            details["precision_recall"].clone(),
        )
    };
    let classes: Vec<_> = match details["classes"].as_object() {
        Some(classes) => classes
            .iter()
            .map(|(name, it)| of_class(name, it))
            .collect(),
        None => vec![of_class("", details)],
    };
    let drawn = &classes[..classes.len().min(DRAWN_CLASSES)];
    let more = match classes.len() - drawn.len() {
        0 => String::new(),
        more => format!(" {more} more classes are in --details."),
    };
    let lines = |of: fn(&(String, Value, Value)) -> &Value, x: &str, y: &str| {
        let line = |class| {
            let numbers = |axis: &str| of(class)[axis].as_array().map_or(&[][..], Vec::as_slice);
            let points = numbers(x).iter().zip(numbers(y));
            let points = points.filter_map(|(x, y)| Some([x.as_f64()?, y.as_f64()?]));
            Line {
                name: class.0.clone(),
                points: points.collect(),
                main: drawn.len() == 1,
                ..Line::default()
            }
        };
        let lines = drawn
            .iter()
            .map(line)
            .filter(|line| !line.points.is_empty());
        lines.collect::<Vec<Line>>()
    };
    let chart = |title: &str, note: &str, [x, y]: [&str; 2], lines: Vec<Line>| {
        let axis = |name: &str| name.replace('_', " ");
        (!lines.is_empty()).then(|| {
            Block::Lines(Lines {
                caption: caption(title, &format!("{note}{more}"), String::new()),
                axes: [axis(x), axis(y)],
                ranges: [Some([0.0, 1.0]); 2],
                lines,
                mark: None,
            })
        })
    };
    let roc = ["false_positive_rate", "true_positive_rate"];
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(chart(
        "ROC curve",
        "Share of negative and of positive examples whose score is at least a threshold.",
        roc,
        lines(|class| &class.1, roc[0], roc[1]),
    ));
    let curve = ["recall", "precision"];
    blocks.extend(chart(
        "Precision and recall",
        "Precision and recall of the examples whose score is at least a threshold.",
        curve,
        lines(|class| &class.2, curve[0], curve[1]),
    ));
    blocks.extend(reliability(details));
    section("Scores", "", blocks)
}

/// The labels that are missed most, by the number of their examples that are.
fn missed(details: &Value, shown: Shown<'_>) -> Vec<Block> {
    let bar = |missed: &Value| {
        Some(Bar {
            name: shown.name_of_class(&text(&missed["label"])).to_owned(),
            value: Cell::Count(missed["examples"].as_u64()?),
            tone: Tone::Bad,
            main: false,
        })
    };
    let labels = details["missed"].as_array().map_or(&[][..], Vec::as_slice);
    let chart: Vec<Bar> = labels.iter().take(15).filter_map(bar).collect();
    let k = least_k(shown);
    let note = match k {
        Some(1) => "Number of examples whose reference is not the first label.".to_owned(),
        Some(k) => format!("Number of examples whose reference is not among the first {k} labels."),
        None => "Number of examples whose reference is not found.".to_owned(),
    };
    let caption = caption("Most missed labels", &note, largest(&chart));
    bars(caption, None, chart)
}

/// The least number of labels among which references are looked for; `None` if all labels are searched.
fn least_k(shown: Shown<'_>) -> Option<u64> {
    let scores = shown.result["scores"].as_object()?;
    let ks = scores
        .keys()
        .filter_map(|name| name.split_once('@')?.1.parse().ok());
    ks.min()
}

/// The labels with the lowest score, where classes are scored one by one.
fn lowest(details: &Value, shown: Shown<'_>) -> Vec<Block> {
    let score = |class: &Value| {
        let mut scores = class.as_object()?.iter();
        let (name, value) = scores.find(|(name, _)| *name != "total")?;
        Some((name.clone(), value.as_f64()?))
    };
    let classes = details["classes"].as_object().into_iter().flatten();
    let mut worst: Vec<(&String, String, f64)> = classes
        .filter_map(|(label, class)| score(class).map(|(name, value)| (label, name, value)))
        .collect();
    worst.sort_by(|a, b| a.2.total_cmp(&b.2));
    let bar = |(label, _, value): &(&String, String, f64)| Bar {
        name: shown.name_of_class(label).to_owned(),
        value: Cell::Number(*value),
        ..Bar::default()
    };
    let chart: Vec<Bar> = worst.iter().take(15).map(bar).collect();
    let name = worst.first().map_or("", |(_, name, _)| name.as_str());
    let note = format!("Labels with the lowest {name}.");
    bars(
        caption("Labels with the lowest score", &note, String::new()),
        Some(1.0),
        chart,
    )
}
