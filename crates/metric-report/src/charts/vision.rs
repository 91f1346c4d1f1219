use crate::{Bar, Block, Boxes, Cell, Column, LabeledBox, Line, Lines, Section, Table, Tone};
use serde_json::Value;

use super::class::matrix;
use super::parts::{bars, caption, largest, score_bars, section, text};
use super::{Shown, ShownExample};
use metric_registry::{ComparedTexts, Options};

/// Precision against recall for each IoU threshold, and AP by size.
pub(super) fn coco(shown: Shown<'_>) -> Vec<Section> {
    let mut blocks = Vec::new();
    blocks.extend(shown.details.and_then(curves).map(Block::Lines));
    let scores = shown.details.map(|details| &details["by_score"]);
    blocks.extend(scores.and_then(by_score).map(Block::Lines));
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

/// A list of a value.
fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// A point of each object of a list that has both numbers.
fn points(points: &[Value], axes: [&str; 2]) -> Vec<[f64; 2]> {
    let point = |point: &Value| Some([point[axes[0]].as_f64()?, point[axes[1]].as_f64()?]);
    points.iter().filter_map(point).collect()
}

/// Precision against recall: one line per IoU threshold, and their mean.
fn curves(details: &Value) -> Option<Lines> {
    let curves = list(details, "precision_recall");
    let line = |curve: &Value| {
        let iou = curve["iou"].as_f64();
        Line {
            name: iou.map_or_else(|| "mean".to_owned(), |iou| format!("IoU {iou:.2}")),
            points: points(list(curve, "points"), ["recall", "precision"]),
            main: iou.is_none(),
            ..Line::default()
        }
    };
    let lines: Vec<Line> = curves.iter().map(line).collect();
    // One threshold is its own mean.
    let lines = match lines.len() {
        2 => lines.into_iter().filter(|line| line.main).collect(),
        _ => lines,
    };
    let ap = |curve: &Value| {
        let name = curve["iou"].as_f64();
        let name = name.map_or_else(|| "on average".to_owned(), |iou| format!("at IoU {iou:.2}"));
        Some(format!(
            "{:.4} {name}",
            curve["average_precision"].as_f64()?
        ))
    };
    let ends = [curves.first()?, curves.last()?].into_iter().filter_map(ap);
    let finding = format!("AP is {}.", ends.collect::<Vec<_>>().join(" and "));
    lines.iter().any(|line| !line.points.is_empty()).then(|| Lines {
        caption: caption(
            "Precision against recall",
            "Mean over classes; one thin line per IoU threshold, the strictest one lowest, and their mean.",
            finding,
        ),
        axes: ["recall".to_owned(), "precision".to_owned()],
        ranges: [Some([0.0, 1.0]); 2],
        lines,
        mark: None,
    })
}

/// The average precision of each IoU threshold.
fn by_threshold(details: &Value) -> Option<Table> {
    let row = |curve: &Value| {
        let iou = format!("{:.2}", curve["iou"].as_f64()?);
        Some(vec![
            Cell::Text(iou),
            Cell::from(curve["average_precision"].as_f64()),
        ])
    };
    let rows: Vec<_> = list(details, "precision_recall")
        .iter()
        .filter_map(row)
        .collect();
    let column = |name: &str, bar| Column {
        name: name.to_owned(),
        bar,
        text: false,
    };
    (!rows.is_empty()).then(|| Table {
        caption: "Average precision by IoU threshold".to_owned(),
        columns: vec![column("IoU", None), column("AP", Some([0.0, 1.0]))],
        rows,
        ..Table::default()
    })
}

/// Precision, recall and F1 by score threshold, with the best F1 marked.
fn by_score(curve: &Value) -> Option<Lines> {
    let all = list(curve, "points");
    let line = |name: &str, tone, main| Line {
        name: name.to_owned(),
        points: points(all, ["score", name]),
        tone,
        main,
        dots: false,
    };
    let f1 = line("f1", Tone::Neutral, true);
    // The highest score of equal ones, as the points fall.
    let best = f1.points.iter().rev().max_by(|a, b| a[1].total_cmp(&b[1]));
    let best = best.copied();
    let words = best.map(|[score, f1]| format!("best F1 {f1:.4} at {score:.4}"));
    let finding = words
        .clone()
        .map_or_else(String::new, |words| format!("The curve has its {words}."));
    let iou = curve["iou"].as_f64().unwrap_or(0.5);
    let note = format!("All detections at or above a score threshold, at IoU {iou:.2}.");
    (!all.is_empty()).then(|| Lines {
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
    })
}

/// Precision against recall of the worst classes and on average, and the classes with the lowest average
/// precision.
pub(super) fn voc(shown: Shown<'_>) -> Vec<Section> {
    let mut blocks = Vec::new();
    blocks.extend(shown.details.and_then(voc_curves).map(Block::Lines));
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
    worst.truncate(WORST);
    let finding = worst.first().map_or_else(String::new, |bar| {
        format!("The worst class is {}.", bar.name)
    });
    let chart = caption("Classes with the lowest average precision", "", finding);
    blocks.extend(bars(chart, Some(1.0), worst));
    section("Classes", "", blocks)
}

/// The number of classes that are drawn.
const WORST: usize = metric_registry::DRAWN_CLASSES;

fn voc_curves(details: &Value) -> Option<Lines> {
    let average = |curve: &Value| curve["average_precision"].as_f64();
    let curves = list(details, "precision_recall").iter();
    let mut worst: Vec<(&Value, f64)> = curves
        .filter_map(|curve| Some((curve, average(curve)?)))
        .collect();
    let all = worst.len();
    worst.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    worst.truncate(WORST);
    let line = |(curve, _): &(&Value, f64)| Line {
        name: text(&curve["class"]),
        points: points(list(curve, "points"), ["recall", "precision"]),
        ..Line::default()
    };
    let mut lines: Vec<Line> = worst.iter().map(line).collect();
    lines.push(Line {
        name: "mean".to_owned(),
        points: points(list(details, "mean"), ["recall", "precision"]),
        main: true,
        ..Line::default()
    });
    let note = if all > worst.len() {
        format!("The {WORST} classes with the lowest AP of {all}, and the mean over all classes.")
    } else {
        "One thin line per class, and the mean over classes.".to_owned()
    };
    let finding = worst.first().map(|(curve, average)| {
        format!(
            "The lowest AP, {average:.4}, is that of {}.",
            text(&curve["class"])
        )
    });
    finding.map(|finding| Lines {
        caption: caption("Precision against recall", &note, finding),
        axes: ["recall".to_owned(), "precision".to_owned()],
        ranges: [Some([0.0, 1.0]); 2],
        lines,
        mark: None,
    })
}

/// The cost of each type of error.
#[expect(
    clippy::too_many_lines,
    reason = "one block after the other, each with its labels"
)]
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
    let note = format!("The rise of AP if errors of this type were corrected; AP is {ap:.4}.");
    let mut blocks = bars(
        caption("Cost of errors", &note, largest(&costs)),
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
        caption("Number of errors", "", largest(&counts)),
        None,
        counts,
    ));
    let classes = shown
        .details
        .map_or(&[][..], |details| list(details, "classes"));
    let row = |class: &Value| {
        let ap = |value: &Value| Cell::from(value.as_f64());
        let corrected = types.iter().map(|(name, _)| {
            let error = name.trim_start_matches("dAP_");
            ap(&class["AP_corrected"][error])
        });
        let name = Cell::Text(text(&class["class"]));
        [name, ap(&class["AP"])]
            .into_iter()
            .chain(corrected)
            .collect()
    };
    if !classes.is_empty() {
        let column = |name: &str, bar| Column {
            name: name.to_owned(),
            bar,
            text: false,
        };
        let first = Column {
            text: true,
            ..column("class", None)
        };
        let mut columns = vec![first, column("AP", Some([0.0, 1.0]))];
        columns.extend(types.iter().map(|(_, label)| column(label, None)));
        blocks.push(Block::Table(Table {
            caption: "AP by class, and AP once the errors of one type are corrected".to_owned(),
            columns,
            rows: classes.iter().map(row).collect(),
            order: None,
            rest: "All of them are in --details.".to_owned(),
        }));
    }
    section("Errors", "", blocks)
}

/// Panoptic quality of things and of stuff, and that of each category with segments, the lowest first.
pub(super) fn panoptic(shown: Shown<'_>) -> Vec<Section> {
    let kinds = [
        ("PQ_things", "things, PQ"),
        ("SQ_things", "things, SQ"),
        ("RQ_things", "things, RQ"),
        ("PQ_stuff", "stuff, PQ"),
        ("SQ_stuff", "stuff, SQ"),
        ("RQ_stuff", "stuff, RQ"),
    ];
    let kinds = score_bars(shown, &kinds);
    let note = "PQ is low where segments match badly (SQ), or where they are missed or found in vain (RQ).";
    let mut blocks = bars(
        caption("Things and stuff", note, String::new()),
        Some(1.0),
        kinds,
    );
    let details = shown.details;
    let categories = details.map_or(&[][..], |details| list(details, "categories"));
    let quality = |category: &Value| category["PQ"].as_f64();
    let mut categories: Vec<&Value> = categories
        .iter()
        .filter(|category| quality(category).is_some())
        .collect();
    categories.sort_by(|a, b| {
        quality(a)
            .unwrap_or(0.0)
            .total_cmp(&quality(b).unwrap_or(0.0))
    });
    let row = |category: &&Value| {
        let name = Cell::Text(text(&category["name"]));
        let scores = ["PQ", "SQ", "RQ"].map(|name| Cell::from(category[name].as_f64()));
        let counts =
            ["tp", "fp", "fn"].map(|name| Cell::Count(category[name].as_u64().unwrap_or(0)));
        std::iter::once(name).chain(scores).chain(counts).collect()
    };
    if !categories.is_empty() {
        let column = |(name, bar, is_text): (&str, Option<[f64; 2]>, bool)| Column {
            name: name.to_owned(),
            bar,
            text: is_text,
        };
        let columns = [
            ("class", None, true),
            ("PQ", Some([0.0, 1.0]), false),
            ("SQ", None, false),
            ("RQ", None, false),
            ("tp", None, false),
            ("fp", None, false),
            ("fn", None, false),
        ];
        blocks.push(Block::Table(Table {
            caption: "Classes, the lowest PQ first".to_owned(),
            columns: columns.map(column).to_vec(),
            rows: categories.iter().map(row).collect(),
            order: None,
            rest: "All of them are in --details.".to_owned(),
        }));
    }
    section("Classes", "", blocks)
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
    let positions: std::collections::BTreeMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(index, name)| (name.as_str(), index))
        .collect();
    for cell in details["cells"].as_array().into_iter().flatten() {
        let position = |side: &str| positions.get(cell[side].as_str()?).copied();
        let found = position("truth")
            .zip(position("prediction"))
            .zip(cell["count"].as_u64());
        cells.extend(found.map(|((row, column), count)| (row, column, count)));
    }
    let background = names.len().checked_sub(1);
    section("Confusions", "", matrix(names, cells, background))
}

/// Precision, recall and F1 by score threshold, where the best F1 was looked for.
pub(super) fn detection(shown: Shown<'_>) -> Vec<Section> {
    let curves = shown
        .details
        .and_then(|details| details["precision_recall"].as_array());
    let Some(curve) = curves.and_then(|curves| curves.first()) else {
        return Vec::new();
    };
    let iou = curve["iou"].as_f64().unwrap_or(0.5);
    let note = format!("Detections at or above each score threshold, at IoU {iou:.2}.");
    let against = Lines {
        caption: caption("Precision against recall", &note, String::new()),
        axes: ["recall".to_owned(), "precision".to_owned()],
        ranges: [Some([0.0, 1.0]); 2],
        lines: vec![Line {
            points: points(list(curve, "points"), ["recall", "precision"]),
            main: true,
            ..Line::default()
        }],
        mark: None,
    };
    let curves = by_score(curve).into_iter().chain([against]);
    section("Curves", "", curves.map(Block::Lines).collect())
}

/// The most boxes of a side that are shown.
const BOXES: usize = 30;

/// The boxes of both sides: all of the ground truth, and the predictions with the highest scores.
#[expect(
    clippy::too_many_lines,
    reason = "the boxes of both sides are read, named and drawn by the same closures"
)]
pub(super) fn example(
    options: &Options,
    example: &ShownExample,
    _: Option<&ComparedTexts>,
) -> Vec<Block> {
    let Some((reference, prediction)) = example.reference.as_ref().zip(example.prediction.as_ref())
    else {
        return Vec::new();
    };
    let format = options.get("box");
    let read = |side: &Value| {
        let of_list = |class: Option<&String>, list: &Value| {
            let items = list.as_array().map_or(&[][..], Vec::as_slice).iter();
            let boxes = items.filter_map(|item| shown_box(item, format.as_deref()));
            let named = boxes.map(|item| ShownBox {
                class: item.class.or_else(|| class.cloned()),
                ..item
            });
            named.collect::<Vec<ShownBox>>()
        };
        let boxes = match (side, side.get("annotations")) {
            (_, Some(list)) => of_list(None, list),
            // The boxes of each class.
            (Value::Object(classes), None) => {
                let lists = classes.iter();
                lists
                    .flat_map(|(class, list)| of_list(Some(class), list))
                    .collect()
            }
            (list, None) => of_list(None, list),
        };
        let boxes = boxes.into_iter();
        // An example that is one class of an image shows that class.
        let is_own = |item: &ShownBox| match (&example.part, &item.class) {
            (Some(part), Some(class)) => part == class,
            _ => true,
        };
        boxes.filter(is_own).collect::<Vec<ShownBox>>()
    };
    let truths = read(reference);
    let mut found = read(prediction);
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    if truths.is_empty() && found.is_empty() {
        return Vec::new();
    }
    // Hundreds of guesses with low scores would cover the picture.
    let most = (2 * truths.len() + 5).min(BOXES);
    let left = found.len().saturating_sub(most);
    found.truncate(most);
    let label = |item: &ShownBox, is_found: bool| {
        let class = item.class.clone().unwrap_or_default();
        if is_found && item.score.is_finite() {
            format!("{class} {:.2}", item.score).trim().to_owned()
        } else {
            class
        }
    };
    let names = |items: &[ShownBox], is_found| {
        let names: Vec<String> = items
            .iter()
            .take(10)
            .map(|item| label(item, is_found))
            .collect();
        names.join(", ")
    };
    let finding = format!(
        "{} in the ground truth: {}; {} predicted: {}.",
        truths.len(),
        names(&truths, false),
        found.len() + left,
        names(&found, true)
    );
    let note = match left {
        0 => "Solid: ground truth; dashed: predictions with their scores.".to_owned(),
        left => format!(
            "Solid: ground truth; dashed: predictions with their scores. Not drawn: {left} with the lowest scores."
        ),
    };
    let boxed = |tone, is_found| {
        move |item: &ShownBox| LabeledBox {
            corners: item.corners,
            label: label(item, is_found),
            tone,
        }
    };
    let mut boxes: Vec<LabeledBox> = truths
        .iter()
        .take(BOXES)
        .map(boxed(Tone::Good, false))
        .collect();
    boxes.extend(found.iter().map(boxed(Tone::Bad, true)));
    let size = |name: &str| {
        let of = |side: &Value| side.get(name).and_then(Value::as_f64);
        example
            .fields
            .as_ref()
            .and_then(of)
            .or_else(|| of(reference))
    };
    let extent = |far: usize| {
        boxes
            .iter()
            .map(|item| item.corners[far])
            .fold(0.0, f64::max)
    };
    let [wide, high] = [(size("width"), extent(2)), (size("height"), extent(3))];
    let size = [wide, high].map(|(known, extent)| known.unwrap_or(extent * 1.02));
    vec![Block::Boxes(Boxes {
        caption: caption("Boxes of the image", &note, finding),
        size,
        picture: None,
        boxes,
    })]
}

struct ShownBox {
    class: Option<String>,
    score: f64,
    corners: [f64; 4],
}

/// A box in one of the forms in which records and data sets have them.
fn shown_box(item: &Value, format: Option<&str>) -> Option<ShownBox> {
    let four = |value: &Value| -> Option<[f64; 4]> {
        let numbers: Vec<f64> = value.as_array()?.iter().filter_map(Value::as_f64).collect();
        numbers.try_into().ok()
    };
    let from_size = |[x, y, width, height]: [f64; 4]| [x, y, x + width, y + height];
    let class = ["class", "category_id"]
        .iter()
        .find_map(|name| item.get(*name));
    let corners = match (item.get("corners"), item.get("bbox")) {
        (Some(corners), _) => four(corners)?,
        (_, Some(bbox)) => from_size(four(bbox)?),
        _ => {
            let numbers = four(item.get("box").unwrap_or(item))?;
            match format.unwrap_or("xywh") {
                "xywh" => from_size(numbers),
                "xyxy" => numbers,
                "cxcywh" => {
                    let [x, y, width, height] = numbers;
                    from_size([x - width / 2.0, y - height / 2.0, width, height])
                }
                _ => return None,
            }
        }
    };
    Some(ShownBox {
        class: class.map(text),
        score: item
            .get("score")
            .and_then(Value::as_f64)
            .unwrap_or(f64::NAN),
        corners,
    })
}
