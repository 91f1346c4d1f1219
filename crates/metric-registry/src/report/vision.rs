use metric_report::{Bar, Block, Cell, Column, Line, Lines, Section, Table, Tone};
use serde_json::Value;

use super::Shown;
use super::parts::{bars, caption, largest, score_bars, section, text};

/// Precision against recall for each IoU threshold, and AP by size.
pub(super) fn coco(shown: Shown<'_>) -> Vec<Section> {
    let mut blocks = Vec::new();
    if let Some(curves) = shown.details.and_then(curves) {
        blocks.push(Block::Lines(curves));
    }
    let sizes = [
        ("AP_small", "small"),
        ("AP_medium", "medium"),
        ("AP_large", "large"),
        ("AR_small", "small, recall"),
        ("AR_medium", "medium, recall"),
        ("AR_large", "large, recall"),
    ];
    let sizes = score_bars(shown, &sizes);
    let note = "Average precision and average recall of objects in each area range.";
    blocks.extend(bars(
        caption("By area range", note, largest(&sizes)),
        Some(1.0),
        sizes,
    ));
    blocks.extend(shown.details.and_then(by_threshold).map(Block::Table));
    section("Curves", "", blocks)
}

/// The sizes of the axes of COCO's arrays, and the precisions.
struct Precisions<'a> {
    values: &'a [Value],
    ious: &'a [Value],
    recalls: &'a [Value],
    classes: usize,
    areas: usize,
    limits: usize,
}

impl<'a> Precisions<'a> {
    fn of(details: &'a Value) -> Option<Self> {
        let list = |name: &str| details[name].as_array().map(Vec::as_slice);
        let precisions = Self {
            values: list("precision")?,
            ious: list("iou_thresholds")?,
            recalls: list("recall_thresholds")?,
            classes: list("classes")?.len(),
            areas: list("areas")?.len(),
            limits: list("max_detections")?.len(),
        };
        let shape = [
            precisions.ious.len(),
            precisions.recalls.len(),
            precisions.classes,
            precisions.areas,
            precisions.limits,
        ];
        (precisions.values.len() == shape.iter().product::<usize>()).then_some(precisions)
    }

    /// The mean over classes in the first area range and with the most detections. Classes without ground
    /// truth, whose precision is written -1, do not count.
    fn mean(&self, iou: usize, recall: usize) -> Option<f64> {
        let of_class = |class: usize| {
            let row = (iou * self.recalls.len() + recall) * self.classes + class;
            let index = row * self.areas * self.limits + self.limits.checked_sub(1)?;
            self.values
                .get(index)?
                .as_f64()
                .filter(|precision| *precision > -1.0)
        };
        let (sum, count) = (0..self.classes)
            .filter_map(of_class)
            .fold((0.0, 0_u32), |(sum, count), precision| {
                (sum + precision, count + 1)
            });
        (count > 0).then(|| sum / f64::from(count))
    }

    fn curve(&self, iou: usize) -> Vec<[f64; 2]> {
        let point = |recall: usize| Some([self.recalls[recall].as_f64()?, self.mean(iou, recall)?]);
        (0..self.recalls.len()).filter_map(point).collect()
    }
}

fn curves(details: &Value) -> Option<Lines> {
    let precisions = Precisions::of(details)?;
    let all: Vec<Vec<[f64; 2]>> = (0..precisions.ious.len())
        .map(|iou| precisions.curve(iou))
        .collect();
    let line = |(iou, points): (&Value, &Vec<[f64; 2]>)| Line {
        name: format!("IoU {:.2}", iou.as_f64().unwrap_or(0.0)),
        points: points.clone(),
        ..Line::default()
    };
    let mut lines: Vec<Line> = precisions.ious.iter().zip(&all).map(line).collect();
    let whole: Vec<&Vec<[f64; 2]>> = all
        .iter()
        .filter(|curve| curve.len() == precisions.recalls.len())
        .collect();
    if whole.len() > 1 && whole.len() == all.len() {
        let count = whole.len() as f64;
        let point = |recall: usize| {
            let sum: f64 = whole.iter().map(|curve| curve[recall][1]).sum();
            [whole[0][recall][0], sum / count]
        };
        lines.push(Line {
            name: "mean".to_owned(),
            points: (0..precisions.recalls.len()).map(point).collect(),
            main: true,
            ..Line::default()
        });
    }
    lines.iter().any(|line| !line.points.is_empty()).then(|| Lines {
        caption: caption(
            "Precision against recall",
            "Mean over classes; one thin line per IoU threshold, the strictest one lowest, and their mean.",
            format!("{} curves. The numbers are in the table below.", lines.len()),
        ),
        axes: ["recall".to_owned(), "precision".to_owned()],
        ranges: [Some([0.0, 1.0]); 2],
        lines,
        mark: None,
    })
}

/// The average precision of each IoU threshold.
fn by_threshold(details: &Value) -> Option<Table> {
    let precisions = Precisions::of(details)?;
    let row = |iou: usize| {
        let points = precisions.curve(iou);
        let sum: f64 = points.iter().map(|point| point[1]).sum();
        let mean = (!points.is_empty()).then(|| sum / points.len() as f64);
        vec![
            Cell::Text(format!(
                "{:.2}",
                precisions.ious[iou].as_f64().unwrap_or(0.0)
            )),
            Cell::from(mean),
        ]
    };
    let column = |name: &str, bar| Column {
        name: name.to_owned(),
        bar,
        text: false,
    };
    Some(Table {
        caption: "Average precision by IoU threshold".to_owned(),
        columns: vec![column("IoU", None), column("AP", Some([0.0, 1.0]))],
        rows: (0..precisions.ious.len()).map(row).collect(),
        ..Table::default()
    })
}

/// The classes with their average precision, the worst first.
pub(super) fn voc(shown: Shown<'_>) -> Vec<Section> {
    let classes = shown.result["groups"]["class"].as_object();
    let bar = |(name, class): (&String, &Value)| {
        let value = class["scores"]["AP"].as_f64()?;
        Some(Bar {
            name: name.clone(),
            value: Cell::Number(value),
            ..Bar::default()
        })
    };
    let mut worst: Vec<Bar> = classes.into_iter().flatten().filter_map(bar).collect();
    let value = |bar: &Bar| match bar.value {
        Cell::Number(value) => value,
        _ => 0.0,
    };
    worst.sort_by(|a, b| value(a).total_cmp(&value(b)));
    worst.truncate(8);
    let finding = worst.first().map_or_else(String::new, |bar| {
        format!("The worst class is {}.", bar.name)
    });
    let chart = caption("Classes with the lowest average precision", "", finding);
    section("Classes", "", bars(chart, Some(1.0), worst))
}

/// What each type of error costs.
pub(super) fn tide(shown: Shown<'_>) -> Vec<Section> {
    let types = [
        ("dAP_Cls", "wrong class"),
        ("dAP_Loc", "badly placed"),
        ("dAP_Both", "both"),
        ("dAP_Dupe", "duplicate"),
        ("dAP_Bkg", "background"),
        ("dAP_Miss", "missed"),
    ];
    let value = |bar: &Bar| match bar.value {
        Cell::Number(value) => value,
        _ => f64::NEG_INFINITY,
    };
    let mut costs = score_bars(shown, &types);
    costs.sort_by(|a, b| value(b).total_cmp(&value(a)));
    for bar in &mut costs {
        bar.tone = Tone::Bad;
    }
    let ap = shown.result["scores"]["AP"].as_f64().unwrap_or(0.0);
    let note =
        format!("How much AP would rise if errors of this type were corrected; AP is {ap:.4}.");
    let mut blocks = bars(
        caption("What errors cost", &note, largest(&costs)),
        None,
        costs,
    );
    let apart = score_bars(
        shown,
        &[("dAP_FP", "false positives"), ("dAP_FN", "false negatives")],
    );
    let note = "The same for all false positives and for all false negatives.";
    blocks.extend(bars(
        caption("False positives and negatives", note, largest(&apart)),
        None,
        apart,
    ));
    let counts = super::parts::count_bars(
        shown,
        &[
            ("Cls", "wrong class", Tone::Neutral),
            ("Loc", "badly placed", Tone::Neutral),
            ("Both", "both", Tone::Neutral),
            ("Dupe", "duplicate", Tone::Neutral),
            ("Bkg", "background", Tone::Neutral),
            ("Miss", "missed", Tone::Neutral),
        ],
    );
    blocks.extend(bars(
        caption("How many there are", "", largest(&counts)),
        None,
        counts,
    ));
    section("Errors", "", blocks)
}

/// The matrix of classes and the background.
pub(super) fn confusions(shown: Shown<'_>) -> Vec<Section> {
    let Some(details) = shown.details else {
        return Vec::new();
    };
    let classes = details["classes"].as_array().map_or(&[][..], Vec::as_slice);
    let names: Vec<String> = classes.iter().map(text).collect();
    let mut cells = Vec::new();
    for (row, counts) in details["matrix"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        for (column, count) in counts.as_array().into_iter().flatten().enumerate() {
            let count = count.as_u64().filter(|count| *count > 0);
            cells.extend(count.map(|count| (row, column, count)));
        }
    }
    let places: std::collections::BTreeMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(index, name)| (name.as_str(), index))
        .collect();
    for cell in details["cells"].as_array().into_iter().flatten() {
        let place = |side: &str| places.get(cell[side].as_str()?).copied();
        let found = place("truth")
            .zip(place("prediction"))
            .zip(cell["count"].as_u64());
        cells.extend(found.map(|((row, column), count)| (row, column, count)));
    }
    let background = names.len().checked_sub(1);
    section("Confusions", "", confusion_blocks(names, cells, background))
}

#[cfg(feature = "class")]
use super::class::matrix as confusion_blocks;

/// Without the feature `class`, the heat map alone.
#[cfg(not(feature = "class"))]
fn confusion_blocks(
    classes: Vec<String>,
    cells: Vec<(usize, usize, u64)>,
    nothing: Option<usize>,
) -> Vec<Block> {
    vec![Block::Heatmap(metric_report::Heatmap {
        caption: caption("Confusion matrix", "", String::new()),
        sides: ["references".to_owned(), "predictions".to_owned()],
        classes,
        cells,
        nothing,
        rest: "All of them are in --details.".to_owned(),
    })]
}

/// Precision, recall and F1 by score threshold, where the best F1 was looked for.
pub(super) fn detection(shown: Shown<'_>) -> Vec<Section> {
    let curves = shown
        .details
        .and_then(|details| details["precision_recall"].as_array());
    let Some(curve) = curves.and_then(|curves| curves.first()) else {
        return Vec::new();
    };
    let points = curve["points"].as_array().map_or(&[][..], Vec::as_slice);
    let line = |name: &str, tone, main| {
        let point = |point: &Value| Some([point["score"].as_f64()?, point[name].as_f64()?]);
        Line {
            name: name.to_owned(),
            points: points.iter().filter_map(point).collect(),
            tone,
            main,
            steps: false,
        }
    };
    let f1 = line("f1", Tone::Neutral, true);
    let best = f1
        .points
        .iter()
        .max_by(|a, b| a[1].total_cmp(&b[1]))
        .copied();
    let words = best.map(|[score, f1]| format!("best F1 {f1:.4} at {score:.4}"));
    let finding = words
        .clone()
        .map_or_else(String::new, |words| format!("The curve has its {words}."));
    let iou = curve["iou"].as_f64().unwrap_or(0.5);
    let note = format!("Detections at or above a score threshold, at IoU {iou:.2}.");
    let by_score = Lines {
        caption: caption("F1 by score threshold", &note, finding),
        axes: [
            "score threshold".to_owned(),
            "precision, recall, F1".to_owned(),
        ],
        ranges: [None, Some([0.0, 1.0])],
        lines: vec![
            line("precision", Tone::Good, false),
            line("recall", Tone::Bad, false),
            f1,
        ],
        mark: best.zip(words),
    };
    let point = |point: &Value| Some([point["recall"].as_f64()?, point["precision"].as_f64()?]);
    let against = Lines {
        caption: caption("Precision against recall", &note, String::new()),
        axes: ["recall".to_owned(), "precision".to_owned()],
        ranges: [Some([0.0, 1.0]); 2],
        lines: vec![Line {
            points: points.iter().filter_map(point).collect(),
            main: true,
            ..Line::default()
        }],
        mark: None,
    };
    section(
        "Curves",
        "",
        vec![Block::Lines(by_score), Block::Lines(against)],
    )
}
