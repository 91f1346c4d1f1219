use crate::{Bar, Block, Cell, Column, Fact, Facts, Grids, Section, Table, Tone};
use serde_json::Value;

use super::parts::{bars, caption, largest, score_bars, section};
use super::{Shown, ShownExample};
use metric_registry::{ComparedTexts, Options};

/// The scores of a submission, or of single pairs, as bars.
pub(super) fn sections(shown: Shown<'_>) -> Vec<Section> {
    let names = [
        ("kaggle", "solved outputs"),
        ("arcprize", "solved share per task"),
        ("all_tests", "tasks solved entirely"),
        ("exact", "exact"),
        ("cell_accuracy", "cells"),
        ("shape_match", "shapes"),
        ("palette_match", "sets of colors"),
    ];
    let bar = score_bars(shown, &names);
    let chart = caption(
        "How close the outputs are",
        "Shares between 0 and 1.",
        largest(&bar),
    );
    let mut blocks = bars(chart, Some(1.0), bar);
    blocks.extend(shown.details.into_iter().flat_map(outcomes));
    section("Outputs", "", blocks)
}

/// The outcomes of the outputs, and the number of tasks by their number of solved outputs.
fn outcomes(details: &Value) -> Vec<Block> {
    let names = [
        ("exact", "exact", Tone::Good),
        ("shape", "wrong cells", Tone::Bad),
        ("other_shape", "wrong shape", Tone::Bad),
        ("invalid", "not a grid", Tone::Missing),
        ("missing", "missing", Tone::Missing),
    ];
    let bar = |outcome: &Value| {
        let count = outcome["count"].as_u64().filter(|count| *count > 0)?;
        let name = outcome["outcome"].as_str()?;
        let (_, label, tone) = names.iter().find(|(other, ..)| *other == name)?;
        Some(Bar {
            name: (*label).to_owned(),
            value: Cell::Count(count),
            tone: *tone,
            main: false,
        })
    };
    let counts = details["outcomes"].as_array().into_iter().flatten();
    let counts: Vec<Bar> = counts.filter_map(bar).collect();
    let chart = caption("Outcomes of the outputs", "", largest(&counts));
    let mut blocks = bars(chart, None, counts);
    let row = |row: &Value| {
        let cell = |name: &str| Some(Cell::Count(row[name].as_u64()?));
        Some(vec![cell("outputs")?, cell("solved")?, cell("tasks")?])
    };
    let rows: Vec<_> = details["tasks"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(row)
        .collect();
    if !rows.is_empty() {
        let column = |name: &str| Column {
            name: name.to_owned(),
            ..Column::default()
        };
        blocks.push(Block::Table(Table {
            caption: "Tasks by their outputs that are solved".to_owned(),
            columns: vec![column("test outputs"), column("solved"), column("tasks")],
            rows,
            rest: "All of them are in --details.".to_owned(),
            ..Table::default()
        }));
    }
    blocks
}

/// A grid, if the value is one.
fn grid(value: &Value) -> Option<Vec<Vec<u8>>> {
    let rows = value.as_array()?.iter().take(60);
    let cell = |cell: &Value| cell.as_u64().and_then(|cell| u8::try_from(cell).ok());
    rows.map(|row| row.as_array()?.iter().take(60).map(cell).collect())
        .collect()
}

/// The reference next to each attempt.
pub(super) fn example(
    _options: &Options,
    example: &ShownExample,
    _: Option<&ComparedTexts>,
) -> Vec<Block> {
    let Some((reference, prediction)) = example.reference.as_ref().zip(example.prediction.as_ref())
    else {
        return Vec::new();
    };
    // A pair of grids, or one output of a task with its attempts.
    let part = example
        .part
        .as_deref()
        .and_then(|part| part.parse::<usize>().ok());
    let (reference, prediction) = match part {
        Some(part) => (reference.get(part), prediction.get(part)),
        None => (Some(reference), Some(prediction)),
    };
    let Some(truth) = reference.and_then(grid) else {
        return Vec::new();
    };
    let attempts: Vec<(String, Option<&Value>)> = match prediction {
        Some(Value::Object(attempts)) => attempts
            .iter()
            .map(|(name, value)| (name.replace('_', " "), Some(value)))
            .collect(),
        value => vec![("prediction".to_owned(), value)],
    };
    let mut grids = vec![("reference".to_owned(), truth)];
    let mut others = Vec::new();
    for (name, value) in attempts {
        match value.map_or(Err("missing"), drawn) {
            Ok(grid) => grids.push((name, grid)),
            Err(words) => others.push((name, Fact::Words(words.to_owned()))),
        }
    }
    let mut blocks = vec![Block::Grids(Grids { grids })];
    if !others.is_empty() {
        blocks.push(Block::Facts(Facts { facts: others }));
    }
    blocks
}

/// The greatest number of rows and columns of a label map that is drawn.
const MAP_CELLS: usize = 32;

/// The label maps of both sides, sampled, and the pixels where they differ: black where they agree, gray where the reference is
/// ignored, and red elsewhere.
pub(super) fn label_maps(
    options: &Options,
    example: &ShownExample,
    _: Option<&ComparedTexts>,
) -> Vec<Block> {
    let [same, different, ignored_color] = [0_u8, 2, 5];
    let maps =
        [&example.reference, &example.prediction].map(|side| side.as_ref().and_then(sampled));
    let [Some(reference), Some(prediction)] = maps else {
        return Vec::new();
    };
    let ignored = options.get("ignore-index").unwrap_or_default();
    let ignored: Vec<i64> = ignored
        .split(',')
        .filter_map(|label| label.parse().ok())
        .collect();
    let difference = |(label, predicted): (&i64, &i64)| {
        if ignored.contains(label) {
            ignored_color
        } else if label == predicted {
            same
        } else {
            different
        }
    };
    let rows = reference.iter().zip(&prediction);
    let differences =
        rows.map(|(labels, predicted)| labels.iter().zip(predicted).map(difference).collect());
    let differences: Vec<Vec<u8>> = differences.collect();
    // There are ten colors, of which black is that of ignored labels and of no class.
    let color = |label: &i64| {
        if ignored.contains(label) {
            0
        } else {
            1 + label.rem_euclid(9) as u8
        }
    };
    let colored = |map: &[Vec<i64>]| {
        map.iter()
            .map(|row| row.iter().map(color).collect())
            .collect()
    };
    let grids = vec![
        ("reference".to_owned(), colored(&reference)),
        ("prediction".to_owned(), colored(&prediction)),
        ("differences".to_owned(), differences),
    ];
    vec![Block::Grids(Grids { grids })]
}

/// Some pixels of a label map, at equal distances, if the value is one.
fn sampled(value: &Value) -> Option<Vec<Vec<i64>>> {
    let rows = value.as_array()?;
    let width = rows.first()?.as_array()?.len();
    let step = rows.len().max(width).div_ceil(MAP_CELLS).max(1);
    let labels = |row: &Value| {
        row.as_array()?
            .iter()
            .step_by(step)
            .map(Value::as_i64)
            .collect()
    };
    rows.iter().step_by(step).map(labels).collect()
}

/// The grid of an attempt, or what it is if it is not one.
fn drawn(value: &Value) -> Result<Vec<Vec<u8>>, &'static str> {
    match value {
        Value::Null => Err("null"),
        value => grid(value)
            .filter(|rows| rows.iter().any(|row| !row.is_empty()))
            .ok_or("not a grid"),
    }
}
