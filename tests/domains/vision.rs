//! Boxes and detections against pycocotools 2.0.11, VOC's rule, optimal assignment and the programs
//! of the Fusion Brain Challenge 2021.

use metric_core::{Counts, Metric};
use metric_vision::matching::{Matches, greedy, optimal, optimal_sum, voc};
use metric_vision::{
    BBox, BoxFormat, Detection, DetectionProfile, DetectionState, Detections, Matching, Truth, iou,
    iou_by_corners, iou_crowd, iou_plus_one,
};
use serde_json::Value;

use crate::rows::{check, id, rows, same, within};

/// A number, where the rows write those that JSON has no form for as text.
fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("nan") => f64::NAN,
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        _ => value.as_f64().expect("a number"),
    }
}

fn bbox(format: BoxFormat, value: &Value) -> Result<BBox, String> {
    let numbers: Vec<f64> = value
        .as_array()
        .ok_or("a box")?
        .iter()
        .map(number)
        .collect();
    let numbers: [f64; 4] = numbers
        .try_into()
        .map_err(|n: Vec<f64>| format!("{} numbers", n.len()))?;
    format.read(numbers).map_err(|error| error.to_string())
}

fn boxes(value: &Value) -> Result<Vec<BBox>, String> {
    let items = value.as_array().ok_or("a list of boxes")?;
    // The challenge's files write an empty list as a list of one empty box.
    match items.as_slice() {
        [one] if one.as_array().is_some_and(Vec::is_empty) => Ok(Vec::new()),
        items => items
            .iter()
            .map(|item| bbox(BoxFormat::Xywh, item))
            .collect(),
    }
}

fn truths(value: &Value) -> Result<Vec<Truth>, String> {
    Ok(boxes(value)?.into_iter().map(Truth::from).collect())
}

#[test]
fn iou_of_axis_aligned_boxes() {
    let rows = rows("vision/iou_axis_aligned.jsonl");
    check(&rows, id, &[], |row| {
        let format: BoxFormat = row["fmt"]
            .as_str()
            .ok_or("a format")?
            .parse()
            .map_err(|_| "a format")?;
        let pair = bbox(format, &row["a"]).and_then(|a| Ok((a, bbox(format, &row["b"])?)));
        if ["non_finite", "inverted"].contains(&row["status"].as_str().unwrap_or_default()) {
            return same("refused", pair.is_err(), true);
        }
        let (a, b) = pair?;
        for (what, ours, reference) in [
            ("iou", iou(&a, &b), &row["coco"]),
            ("iou, turned", iou(&b, &a), &row["coco"]),
            ("iou of a crowd", iou_crowd(&a, &b), &row["coco_crowd_b"]),
        ] {
            // pycocotools answers NaN where areas leave the range of a double; we answer 0.
            let reference = number(reference);
            let reference = if reference.is_nan() { 0.0 } else { reference };
            same(what, ours.to_bits(), reference.to_bits())?;
        }
        // Only a box of corner and size has the corners that the reference computes with; corners
        // and centers lose their last digits when they become one.
        let reference = number(&row["voc_plus1"]);
        let reference = if reference.is_nan() { 0.0 } else { reference };
        let ours = iou_plus_one(&a, &b);
        let close = match format {
            BoxFormat::Xywh => ours == reference,
            _ => within(ours, reference, 1e-12),
        };
        if !close {
            return Err(format!("iou plus one: ours {ours}, reference {reference}"));
        }
        // The challenge's program reads corner and size only.
        if format != BoxFormat::Xywh {
            return Ok(());
        }
        let reference = number(&row["fusion_brain"]);
        let ours = iou_by_corners(&a, &b);
        same("iou by corners", ours.to_bits(), reference.to_bits())
    });
}

fn totals(row: &Value) -> Counts {
    let count = |name: &str| row[name].as_u64().expect("a count");
    Counts::new(count("tp"), count("fp"), count("fn"))
}

/// The three ratios to the last bit, or where the program at hand has no such number (F1 of rules
/// that no program has: the rows round three times, we once) to 1e-15. The rows print 0 for 0/0.
fn same_scores(metric: &Detections, state: &DetectionState, row: &Value) -> Result<(), String> {
    let score = metric.compute(state);
    let printed = |value: Option<f64>| value.unwrap_or(0.0);
    let expected = |name: &str| row[name].as_f64().ok_or("a ratio");
    same(
        "precision",
        printed(score.precision),
        expected("precision")?,
    )?;
    same("recall", printed(score.recall), expected("recall")?)?;
    let (ours, reference) = (printed(score.f1), expected("f1")?);
    let tolerance = if metric.profile() == DetectionProfile::OneToOne {
        1e-15
    } else {
        0.0
    };
    if within(ours, reference, tolerance) {
        Ok(())
    } else {
        Err(format!("f1: ours {ours}, reference {reference}"))
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "each rule is compared in the same way"
)]
fn matching_rules() {
    let rows = rows("vision/matching.jsonl");
    check(&rows, id, &[], |row| {
        let truths = truths(&row["gts"])?;
        let scores = row["scores"].as_array().ok_or("scores")?;
        let detections: Vec<Detection> = boxes(&row["dets"])?
            .into_iter()
            .zip(scores)
            .map(|(shape, score)| Detection {
                shape,
                score: score.as_f64(),
            })
            .collect();
        for (i, overlaps) in row["iou"].as_array().ok_or("overlaps")?.iter().enumerate() {
            for (j, overlap) in overlaps.as_array().ok_or("overlaps")?.iter().enumerate() {
                same(
                    "iou",
                    Some(iou(&detections[i].shape, &truths[j].shape)),
                    overlap.as_f64(),
                )?;
            }
        }
        for (threshold, rules) in row["rules"].as_object().ok_or("rules")? {
            let at: f64 = threshold.parse().map_err(|_| "a threshold")?;
            let one_to_one: [(&str, Matching, Matches); 5] = [
                (
                    "coco_greedy",
                    Matching::Greedy,
                    greedy(&detections, &truths, at),
                ),
                (
                    "voc_greedy",
                    Matching::Voc,
                    voc(&detections, &truths, at, false),
                ),
                (
                    "voc_greedy_strict",
                    Matching::VocStrict,
                    voc(&detections, &truths, at, true),
                ),
                (
                    "opt_card",
                    Matching::Optimal,
                    optimal(&detections, &truths, at),
                ),
                (
                    "opt_sum",
                    Matching::OptimalSum,
                    optimal_sum(&detections, &truths, at),
                ),
            ];
            for (name, matching, matches) in one_to_one {
                let rule = &rules[name];
                let here = |error| format!("{name} at {threshold}: {error}");
                let metric =
                    Detections::new(DetectionProfile::OneToOne, at).map_err(|e| e.to_string())?;
                let metric = metric.with_matching(matching);
                let state = metric.measure(&detections, &truths);
                same("counts", state.counts, totals(rule)).map_err(here)?;
                same_scores(&metric, &state, rule).map_err(here)?;
                if let Some(total) = rule["total_iou"].as_f64() {
                    // Which boxes are paired may differ between equal optima; the total may not.
                    let ours: f64 = matches
                        .iter()
                        .enumerate()
                        .filter_map(|(d, t)| Some(iou(&detections[d].shape, &truths[(*t)?].shape)))
                        .sum();
                    same("total IoU", within(ours, total, 1e-12), true).map_err(here)?;
                    let pairs = matches.iter().flatten().count() as u64;
                    same("pairs", pairs, state.counts.true_positives).map_err(here)?;
                } else {
                    let ours: Vec<i64> =
                        matches.iter().map(|m| m.map_or(-1, |t| t as i64)).collect();
                    let expected: Vec<i64> = serde_json::from_value(rule["match"].clone())
                        .map_err(|error| error.to_string())?;
                    same("matches", ours, expected).map_err(here)?;
                }
            }
            for (name, profile) in [
                ("any_overlap_head", DetectionProfile::FusionBrain2021),
                ("any_overlap_v1", DetectionProfile::FusionBrainBaseline),
                ("any_overlap_text", DetectionProfile::SeedText),
            ] {
                let rule = &rules[name];
                let here = |error| format!("{name} at {threshold}: {error}");
                let metric = Detections::new(profile, at).map_err(|e| e.to_string())?;
                let state = metric.measure(&detections, &truths);
                same("counts", state.counts, totals(rule)).map_err(here)?;
                same(
                    "undecided",
                    state.undecided,
                    rule["undecided"].as_u64().unwrap_or(0),
                )
                .map_err(here)?;
                same_scores(&metric, &state, rule).map_err(here)?;
            }
        }
        Ok(())
    });
}

/// The predictions and truths of one image and class.
type Item = (Vec<Detection>, Vec<Truth>);

/// The items of a data set, read as the challenge's programs read it.
fn items(row: &Value) -> Result<Vec<Item>, String> {
    let truth = row["true"].as_object().ok_or("images")?;
    let predicted = row["pred"].as_object().ok_or("images")?;
    same(
        "images",
        predicted.keys().collect::<Vec<_>>(),
        truth.keys().collect(),
    )?;
    let mut items = Vec::new();
    for (image, classes) in truth {
        for (class, truths) in classes.as_object().ok_or("classes")? {
            let boxes_of = predicted[image]
                .get(class)
                .ok_or("a class without predictions")?;
            let detections = boxes(boxes_of)?.into_iter().map(Detection::from).collect();
            items.push((detections, self::truths(truths)?));
        }
    }
    Ok(items)
}

#[test]
fn fusion_brain_data_sets() {
    let rows = rows("vision/fusion_brain_datasets.jsonl");
    check(&rows, id, &[], |row| {
        let items = items(row);
        if row["head"].get("error").is_some() {
            return same("refused", items.is_err(), true);
        }
        let items = items?;
        for (name, profile) in [
            ("head", DetectionProfile::FusionBrain2021),
            ("v1", DetectionProfile::FusionBrainBaseline),
            ("text", DetectionProfile::SeedText),
            ("one_to_one_optimal", DetectionProfile::OneToOne),
        ] {
            let metric = Detections::new(profile, 0.5).map_err(|e| e.to_string())?;
            let mut state = DetectionState::default();
            for (detections, truths) in &items {
                metric.update(&mut state, detections, truths);
            }
            let here = |error| format!("{name}: {error}");
            same("counts", state.counts, totals(&row[name])).map_err(here)?;
            same_scores(&metric, &state, &row[name]).map_err(here)?;
        }
        Ok(())
    });
}
