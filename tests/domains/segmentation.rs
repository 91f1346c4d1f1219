//! Segmentation: the scores of four programs on the same label maps, and files that are refused.

use std::path::PathBuf;

use metric_record::Missing;
use metric_registry::{Options, Report, find};
use metric_run::{Run, Source};
use serde_json::{Value, json};

use crate::rows::{self, folders, same, text, within};

const CASES: &str = "segmentation/semantic/cases.jsonl";

/// The confusion matrix, counted by each program, and the scores of `mean_iou`, to the last bit.
#[test]
fn mean_iou_of_evaluate() {
    rows::check(&scored_rows(""), name, &[], |row| {
        let (report, details) = scored(row, "huggingface")?;
        same("confusion", cells(&details), row["confusion"].clone())?;
        let expected = &row["results"]["huggingface"];
        // evaluate fails on label maps, and replaces undefined scores with this option.
        if !expected.is_object() || expected["error"].is_string() || !row["nan_to_num"].is_null() {
            return Ok(());
        }
        for (ours, theirs) in [
            ("mIoU", "mean_iou"),
            ("mAcc", "mean_accuracy"),
            ("aAcc", "overall_accuracy"),
        ] {
            near(ours, report.score(ours), number(&expected[theirs]), 0.0)?;
        }
        of_classes(&report, "IoU", &expected["per_category_iou"], (1.0, 0.0))?;
        of_classes(
            &report,
            "Acc",
            &expected["per_category_accuracy"],
            (1.0, 0.0),
        )
    });
}

#[test]
fn scores_of_mmsegmentation() {
    rows::check(&scored_rows("mmseg"), name, &[], |row| {
        let expected = &row["results"]["mmseg"];
        if !row["nan_to_num"].is_null() {
            return Ok(());
        }
        let (report, _) = scored(row, "mmseg")?;
        for (theirs, expected) in expected["summary"].as_object().ok_or("no summary")? {
            let ours = if theirs == "mFscore" { "mF1" } else { theirs };
            // It prints percent with two decimals, from numbers of 32 bits.
            let score = report.score(ours).map(|score| 100.0 * score);
            near(ours, score, number(expected), 0.01)?;
        }
        for (ours, theirs) in [
            ("IoU", "IoU"),
            ("Acc", "Acc"),
            ("Precision", "Precision"),
            ("Dice", "Dice"),
            ("F1", "Fscore"),
        ] {
            of_classes(&report, ours, &expected[theirs], (1.0, 1e-4))?;
        }
        Ok(())
    });
}

#[test]
fn scores_of_detectron2() {
    rows::check(&scored_rows("detectron2"), name, &[], |row| {
        let expected = &row["results"]["detectron2"];
        let (report, _) = scored(row, "detectron2")?;
        for (ours, theirs) in [
            ("mIoU", "mIoU"),
            ("mAcc", "mACC"),
            ("aAcc", "pACC"),
            ("fwIoU", "fwIoU"),
        ] {
            // It prints 0 where nothing is counted.
            if name(row) == "all_ignored" && ours == "fwIoU" {
                continue;
            }
            let score = report.score(ours).map(|score| 100.0 * score);
            near(ours, score, number(&expected[theirs]), 1e-10)?;
        }
        of_classes(&report, "IoU", &expected["IoU"], (100.0, 1e-10))?;
        of_classes(&report, "Acc", &expected["ACC"], (100.0, 1e-10))
    });
}

#[test]
fn scores_of_cityscapes_scripts() {
    rows::check(&scored_rows("cityscapes"), name, &[], |row| {
        let expected = &row["results"]["cityscapes"];
        let (report, details) = scored(row, "cityscapes")?;
        same("confusion", cells(&details), row["confusion"].clone())?;
        near(
            "mIoU",
            report.score("mIoU"),
            number(&expected["averageScoreClasses"]),
            1e-12,
        )?;
        let categories = number(&expected["averageScoreCategories"]);
        near(
            "mIoU_category",
            report.score("mIoU_category"),
            categories,
            1e-12,
        )?;
        for (kind, expected) in [("class", "classScores"), ("category", "categoryScores")] {
            let expected = &row["results"]["cityscapes"][expected];
            for (name, iou) in groups(&report, kind, "IoU") {
                near(&name, iou, number(&expected[&name]), 1e-12)?;
            }
        }
        Ok(())
    });
}

#[test]
fn frequency_weighted_iou_of_hotcoco() {
    rows::check(&scored_rows("hotcoco"), name, &[], |row| {
        let expected = number(&row["results"]["hotcoco"]["fwIoU"]).filter(|score| *score >= 0.0);
        let (report, _) = scored(row, "huggingface")?;
        near("fwIoU", report.score("fwIoU"), expected, 1e-12)
    });
}

/// What the error of a row names.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "reference_out_of_range",
        &["reference/im0.png", "label 7", "unknown-labels"],
    ),
    (
        "cityscapes_255",
        &["prediction/im0.png", "label 255", "Cityscapes", "classes"],
    ),
    ("error_size", &["im0", "16 x 11", "16 x 12"]),
    ("error_missing", &["im0", "missing"]),
    ("error_extra", &["im1", "extra"]),
    (
        "error_rgb",
        &[
            "prediction/im1.png",
            "expected one channel",
            "class indices",
        ],
    ),
    (
        "error_gray_alpha",
        &["prediction/im1.png", "expected one channel"],
    ),
    ("error_npy_float", &["reference/im0.npy", "<f8", "argmax"]),
    ("error_truncated", &["prediction/im1.png", "cut off"]),
    ("error_no_png", &["prediction/im1.png", ".png", ".npy"]),
    (
        "error_huge_header",
        &["prediction/im1.png", "100000 x 100000", "max-pixels"],
    ),
];

#[test]
fn images_that_are_refused() {
    let rows: Vec<Value> = rows::rows(CASES)
        .into_iter()
        .filter(|row| row["expect"] != "scores")
        .collect();
    rows::check(&rows, name, &[], |row| {
        let case = name(row);
        let profile = row["profile"].as_str().unwrap_or("huggingface");
        let Err(error) = run(row, profile, Options::default(), Missing::Error, false) else {
            return Err("is not refused".to_owned());
        };
        let listed = REFUSED.iter().find(|(listed, _)| *listed == case);
        let (_, words) = listed.ok_or("no words for the error")?;
        match words.iter().find(|word| !error.contains(**word)) {
            Some(word) => Err(format!("the error lacks {word:?}: {error}")),
            None => Ok(()),
        }
    });
}

#[test]
fn images_without_a_counterpart_count_on_request() {
    let rows: Vec<Value> = rows::rows(CASES)
        .into_iter()
        .filter(|row| ["error_missing", "error_extra"].contains(&&*name(row)))
        .collect();
    for row in &rows {
        let report = |missing, ignores_extra| {
            let run = run(
                row,
                "huggingface",
                Options::default(),
                missing,
                ignores_extra,
            );
            run.expect("is scored").0
        };
        if name(row) == "error_extra" {
            let report = report(Missing::Error, true);
            assert_eq!((report.examples, report.extra), (1, 1));
            continue;
        }
        let (empty, skipped) = (report(Missing::Empty, false), report(Missing::Skip, false));
        let count = |report: &Report, name: &str| {
            let counts = &report.counts;
            let count = counts.iter().find(|(count, _)| count == name);
            count.and_then(|(_, value)| value.as_u64()).unwrap_or(0)
        };
        assert_eq!((empty.examples, empty.missing), (2, 1));
        assert_eq!((skipped.examples, skipped.missing), (1, 1));
        let missed = count(&empty, "pixels") - count(&skipped, "pixels");
        assert!(missed > 0);
        assert_eq!(
            count(&empty, "outside") - count(&skipped, "outside"),
            missed
        );
        assert_eq!(count(&empty, "correct"), count(&skipped, "correct"));
    }
}

/// The rows that have scores of a program.
fn scored_rows(program: &str) -> Vec<Value> {
    let is_scored = |row: &Value| match program {
        "" => row["confusion"].as_object().is_some_and(|cells| {
            row["profile"].is_null() && (!cells.is_empty() || row["expect"] == "scores")
        }),
        program => {
            let result = &row["results"][program];
            result.is_object() && !result["error"].is_string()
        }
    };
    rows::rows(CASES).into_iter().filter(is_scored).collect()
}

/// The name of a row, which its copies have in any case.
fn name(row: &Value) -> String {
    row["name"].as_str().unwrap_or_default().to_owned()
}

fn scored(row: &Value, profile: &str) -> Result<(Report, Value), String> {
    let options = Options::default().set("unknown-labels", "count");
    run(row, profile, options, Missing::Error, false)
}

/// The result of the files of a row.
fn run(
    row: &Value,
    profile: &str,
    options: Options,
    missing: Missing,
    ignores_extra: bool,
) -> Result<(Report, Value), String> {
    let mut options = options.set("profile", profile).set("groups", "class");
    if profile != "cityscapes" {
        let ignored = row["ignore_index"].as_i64();
        let ignored = ignored.map_or("none".to_owned(), |label| label.to_string());
        options = options
            .set("classes", row["num_classes"].to_string().as_str())
            .set("ignore-index", ignored.as_str());
    }
    if row["reduce_zero_label"] == true {
        options = options.set("reduce-zero-label", "");
    }
    if let Some(pairs) = row["label_map"].as_object() {
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(old, new)| format!("{old}:{new}"))
            .collect();
        options = options.set("label-map", &pairs[..]);
    }
    let folder = folder(text(row, "name")?)?;
    let [references, predictions] = if row["format"] == "jsonl" {
        ["references.jsonl", "predictions.jsonl"]
    } else {
        ["reference", "prediction"]
    };
    let entry = find("segmentation").ok_or("no such metric")?;
    let mut run = Run::new(entry, &options).map_err(|error| error.to_string())?;
    run.join.missing = missing;
    run.join.ignore_extra = ignores_extra;
    let source = |name| Source::path(folder.join(name)).map_err(|error| error.to_string());
    let outcomes = run.score(source(references)?, source(predictions)?);
    let outcomes = outcomes.map_err(|error| error.to_string())?;
    let state = outcomes.first().ok_or("no outcome")?.state();
    let (report, details) = state.report_with_details();
    Ok((report, details.unwrap_or_default()))
}

/// The folder with the files of a row.
fn folder(name: &str) -> Result<PathBuf, String> {
    let mut folders = folders().into_iter();
    let folder = folders.find_map(|folder| {
        let folder = folder.join("segmentation/semantic").join(name);
        folder.is_dir().then_some(folder)
    });
    folder.ok_or_else(|| format!("no folder {name}"))
}

/// The cells of the matrix that are not 0, by their row and column.
fn cells(details: &Value) -> Value {
    let mut cells = serde_json::Map::new();
    let rows = details["matrix"].as_array().into_iter().flatten();
    for (row, columns) in rows.enumerate() {
        for (column, count) in columns.as_array().into_iter().flatten().enumerate() {
            if count != &json!(0) {
                cells.insert(format!("{row},{column}"), count.clone());
            }
        }
    }
    Value::Object(cells)
}

/// A score of each group.
fn groups(report: &Report, kind: &str, score: &str) -> Vec<(String, Option<f64>)> {
    let groups = report.groups.iter().filter(|(found, _)| found == kind);
    let groups = groups.flat_map(|(_, groups)| groups);
    groups
        .map(|group| {
            let mut scores = group.scores.iter();
            let found = scores.find(|(name, _)| name == score);
            (group.name.clone(), found.and_then(|(_, value)| *value))
        })
        .collect()
}

/// Compares a score of each class with those of a program: with a list, or with an object of the classes where it is defined.
fn of_classes(
    report: &Report,
    score: &str,
    expected: &Value,
    (factor, tolerance): (f64, f64),
) -> Result<(), String> {
    for (index, (name, ours)) in groups(report, "class", score).into_iter().enumerate() {
        let theirs = match expected {
            Value::Array(list) => list.get(index).and_then(number),
            of_class => number(&of_class[&name]),
        };
        let ours = ours.map(|ours| factor * ours);
        near(&format!("{score} of {name}"), ours, theirs, tolerance)?;
    }
    Ok(())
}

/// A number; none for "nan".
fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

fn near(
    name: &str,
    ours: Option<f64>,
    expected: Option<f64>,
    tolerance: f64,
) -> Result<(), String> {
    let is_near = match (ours, expected) {
        (Some(ours), Some(expected)) => within(ours, expected, tolerance),
        (ours, expected) => ours == expected,
    };
    if is_near {
        return Ok(());
    }
    Err(format!("{name}: {ours:?}, expected {expected:?}"))
}
