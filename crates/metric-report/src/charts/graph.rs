use crate::{Block, Cell, Column, Line, Lines, Media, Order, Picture, Section, Table};
use metric_graph::openlane::{OpenLaneV2, check_size, read_frame};
use serde_json::Value;

use super::parts::{bars, caption, largest, score_bars, section};
use super::{Shown, ShownExample};
use metric_registry::{ComparedTexts, Options};

/// The three levels of a lane graph, and which properties are confused.
pub(super) fn lanes(shown: Shown<'_>) -> Vec<Section> {
    let names = [
        ("rule_precision", "rules, precision"),
        ("rule_recall", "rules, recall"),
        ("rule_f1", "rules, F1"),
        ("correspondence_precision", "lanes, precision"),
        ("correspondence_recall", "lanes, recall"),
        ("correspondence_f1", "lanes, F1"),
        ("overall_precision", "both, precision"),
        ("overall_recall", "both, recall"),
        ("overall_f1", "both, F1"),
    ];
    let levels = score_bars(shown, &names);
    let note = "Rules by their properties, the lanes that they hold for, and both together.";
    let chart = caption("The three levels", note, largest(&levels));
    let mut blocks = bars(chart, Some(1.0), levels);
    let confused = shown
        .details
        .and_then(|details| details["confused"].as_object());
    let mut rows = Vec::new();
    for (property, values) in confused.into_iter().flatten() {
        for (reference, predictions) in values.as_object().into_iter().flatten() {
            for (prediction, count) in predictions.as_object().into_iter().flatten() {
                let count = count.as_u64().unwrap_or(0);
                rows.push((
                    count,
                    [property, reference, prediction].map(|text| Cell::Text(text.clone())),
                ));
            }
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.0));
    let row =
        |(count, cells): (u64, [Cell; 3])| cells.into_iter().chain([Cell::Count(count)]).collect();
    if !rows.is_empty() && shown.has_texts {
        let column = |name: &str, text| Column {
            name: name.to_owned(),
            text,
            ..Column::default()
        };
        blocks.push(Block::Table(Table {
            caption: "Confused properties".to_owned(),
            columns: vec![
                column("property", true),
                column("reference", true),
                column("prediction", true),
                column("times", false),
            ],
            rows: rows.into_iter().map(row).collect(),
            order: Some((3, Order::Descending)),
            rest: "All of them are in --details.".to_owned(),
        }));
    }
    section("Levels", "", blocks)
}

/// A frame as a graph, and from above.
pub(super) fn openlane_example(
    _options: &Options,
    example: &ShownExample,
    _: Option<&ComparedTexts>,
) -> Vec<Block> {
    let read = example.with_record(|record| read_frame(record).ok());
    let Some((prediction, frame)) =
        read.filter(|(prediction, frame)| check_size(prediction, frame).is_ok())
    else {
        return Vec::new();
    };
    let picture = |title: String, note: &str, svg: String| {
        Block::Picture(Picture {
            caption: caption(&title, note, String::new()),
            bytes: svg.into_bytes(),
            media: Media::Svg,
        })
    };
    vec![
        picture(
            format!("Lanes of {} from above", example.id),
            "From above, forward is up. A prediction is matched within 3 m of its lane.",
            OpenLaneV2.birds_eye(&prediction, &frame),
        ),
        picture(
            format!("Lanes and traffic elements of {} as a graph", example.id),
            "Which lanes lead to which lanes and traffic elements.",
            OpenLaneV2.picture(frame.id(), &prediction, &frame).svg(),
        ),
    ]
}

/// The parts of the OpenLane-V2 Score.
pub(super) fn openlane(shown: Shown<'_>) -> Vec<Section> {
    let names = [
        ("OLS", "OLS"),
        ("DET_l", "lanes (DET_l)"),
        ("DET_t", "elements (DET_t)"),
        ("TOP_ll", "lane to lane (TOP_ll)"),
        ("TOP_lt", "lane to element"),
    ];
    let mut parts = score_bars(shown, &names);
    if let Some(first) = parts.first_mut() {
        first.main = true;
    }
    let finding = largest(parts.get(1..).unwrap_or_default());
    let note = "The topology scores count with their square roots.";
    let mut blocks = bars(
        caption("The score by part", note, finding),
        Some(1.0),
        parts,
    );
    let curves = |title: &str, note: &str, name: fn(&Value) -> String| {
        let curves = shown.details?["lanes"].as_array()?;
        let point = |point: &Value| Some([point["recall"].as_f64()?, point["precision"].as_f64()?]);
        let line = |curve: &Value| Line {
            name: name(curve),
            points: curve["points"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(point)
                .collect(),
            ..Line::default()
        };
        let average = |curve: &Value| {
            let average = curve["average_precision"].as_f64()?;
            Some(format!("{} {average:.4}", name(curve)))
        };
        let averages: Vec<String> = curves.iter().filter_map(average).collect();
        let lines: Vec<Line> = curves.iter().map(line).collect();
        let drawn = lines.iter().any(|line| !line.points.is_empty());
        drawn.then(|| {
            Block::Lines(Lines {
                caption: caption(
                    title,
                    note,
                    format!("Average precision: {}.", averages.join(", ")),
                ),
                axes: ["recall".to_owned(), "precision".to_owned()],
                ranges: [Some([0.0, 1.0]); 2],
                lines,
                mark: None,
            })
        })
    };
    blocks.extend(curves(
        "Lanes: precision against recall",
        "One line per threshold of the distance between a predicted lane and a true one.",
        |curve| format!("{} m", curve["threshold"].as_f64().unwrap_or(0.0)),
    ));
    section("Parts", "", blocks)
}
