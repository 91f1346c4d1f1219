//! LVIS's average precision and recall against lvis 0.5.3, and boundary IoU against boundary-iou-api.

use metric_record::{Document, Shard};
use metric_registry::{DataSet, Entry, Options, Report, State, find};
use metric_vision::Mask;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::rows::{check, id, rows, same};

/// The names of lvis, each with ours. A number of detections follows the names that end in `@`.
const NAMES: &[(&str, &str)] = &[
    ("AP", "AP"),
    ("AP50", "AP50"),
    ("AP75", "AP75"),
    ("APs", "AP_small"),
    ("APm", "AP_medium"),
    ("APl", "AP_large"),
    ("APr", "AP_r"),
    ("APc", "AP_c"),
    ("APf", "AP_f"),
    ("AR@300", "AR_300"),
    ("AR@20", "AR_20"),
    ("AR@-1", "AR"),
    ("ARs@", "AR_small"),
    ("ARm@", "AR_medium"),
    ("ARl@", "AR_large"),
];

/// The names of the values of a class in the golden file.
const CLASS_NAMES: &[(&str, &str)] = &[
    ("ap", "AP"),
    ("ap50", "AP50"),
    ("ap75", "AP75"),
    ("ap_small", "AP_small"),
    ("ap_medium", "AP_medium"),
    ("ap_large", "AP_large"),
];

fn options(pairs: &[(&str, &str)]) -> Options {
    let options = pairs.iter();
    options.fold(Options::default(), |all, (name, value)| {
        all.set(name, *value)
    })
}

/// The state of the data of a row, or of a shard of it.
fn state(
    metric: &str,
    set: &Value,
    options: &Options,
    shard: Option<Shard>,
) -> Result<State, String> {
    let scorer = find(metric).map(|entry: &Entry| entry.scorer(options));
    let scorer = scorer
        .ok_or("no metric")?
        .map_err(|error| error.to_string())?;
    let document = |name: &str, side: &str| Document::text(name, set[side].as_str().unwrap_or(""));
    let data = DataSet {
        shard,
        ..DataSet::new(document("gt.json", "gt"), document("dt.json", "dt"))
    };
    let part = scorer.read_data_set(data, false);
    let mut part = part.map_err(|error| format!("refused: {error}"))?;
    let mut state = scorer.start();
    state.add(&mut part).map_err(|error| error.to_string())?;
    Ok(state)
}

fn sha256(numbers: &Value) -> Value {
    let mut hash = Sha256::new();
    let numbers = numbers.as_array().into_iter().flatten();
    for number in numbers.filter_map(Value::as_f64) {
        hash.update(number.to_le_bytes());
    }
    let bytes = hash.finalize();
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    json!(digits)
}

/// Whether a mean is that of the program, which prints -1 for what is undefined, up to the last bit.
fn same_mean(name: &str, ours: Option<f64>, theirs: f64) -> Result<(), String> {
    let ours = ours.unwrap_or(-1.0);
    let apart = ours.to_bits().abs_diff(theirs.to_bits());
    if apart <= 1 {
        Ok(())
    } else {
        Err(format!("{name}: ours {ours}, reference {theirs}"))
    }
}

fn same_means(report: &Report, theirs: &Value) -> Result<(), String> {
    let theirs = theirs.as_object().ok_or("no results")?;
    same("numbers", report.scores.len(), theirs.len())?;
    for (name, value) in theirs {
        let mut names = NAMES.iter();
        let is_named =
            |known: &str| known == name || known.ends_with('@') && name.starts_with(known);
        let ours = names.find(|(known, _)| is_named(known));
        let (_, ours) = ours.ok_or_else(|| format!("unknown {name}"))?;
        let score = report.scores.iter().find(|(name, _)| name == ours);
        let (_, score) = score.ok_or_else(|| format!("no {ours}"))?;
        same_mean(ours, *score, value.as_f64().ok_or("a number")?)?;
    }
    Ok(())
}

fn same_classes(report: &Report, theirs: &Value) -> Result<(), String> {
    let groups = report.groups.iter().find(|(kind, _)| kind == "class");
    let (_, groups) = groups.ok_or("no groups")?;
    let theirs = theirs.as_array().ok_or("no classes")?;
    same("classes", groups.len(), theirs.len())?;
    for (group, theirs) in groups.iter().zip(theirs) {
        let category = group.counts.iter().find(|(name, _)| name == "category_id");
        let category = category.map(|(_, id)| id.clone());
        same("category", category, Some(theirs["category_id"].clone()))?;
        for (name, ours) in CLASS_NAMES {
            let score = group.scores.iter().find(|(name, _)| name == ours);
            let (_, score) = score.ok_or_else(|| format!("no {ours}"))?;
            let theirs = theirs[*name].as_f64().ok_or("a number")?;
            same_mean(&format!("{ours} of {}", group.name), *score, theirs)?;
        }
    }
    Ok(())
}

fn same_arrays(details: &Value, expected: &Value, names: &[&str]) -> Result<(), String> {
    same("shape", &details["shape"], &expected["shape"])?;
    for name in names {
        let ours = sha256(&details[*name]);
        same(name, &ours, &expected["sha256_f64le"][*name])?;
    }
    Ok(())
}

/// The options of a row: the shapes, and the quirks for the row that has both.
fn of_row(set: &Value) -> Vec<(&'static str, &str)> {
    let mut options = vec![(
        "iou-type",
        set["expected"]["iou_type"].as_str().unwrap_or(""),
    )];
    if set["expected"].get("quirks_none").is_some() {
        options.push(("quirks", "lvis"));
    }
    options
}

#[test]
fn lvis() {
    check(&rows("vision/lvis.jsonl"), id, &[], |set| {
        let expected = &set["expected"];
        let given = options(&of_row(set)).set("groups", "class").with_details();
        let (report, details) = state("lvis", set, &given, None)?.report_with_details();
        same_means(&report, &expected["results"])?;
        same_classes(&report, &expected["per_class"])?;
        same_arrays(
            &details.ok_or("no details")?,
            expected,
            &["precision", "recall"],
        )
    });
}

/// Other caps, and none.
#[test]
fn lvis_with_other_caps() {
    let sets: Vec<Value> = rows("vision/lvis.jsonl");
    let cases = sets.iter().flat_map(|set| {
        let expected = &set["expected"];
        let fixed = expected["fixed_ap"].as_object().into_iter().flatten();
        let fixed = fixed.map(|(most, results)| ("fixed", most.clone(), results));
        let capped = [("all", "uncapped"), ("20", "cap_20")];
        let capped =
            capped.map(|(most, name)| ("max-detections", most.to_owned(), &expected[name]));
        let quirks = ("quirks", "none".to_owned(), &expected["quirks_none"]);
        let cases = fixed.chain(capped).chain([quirks]);
        let cases = cases.filter(|(_, _, results)| !results.is_null());
        cases.map(move |(option, value, results)| {
            json!({
                "id": format!("{} {option} {value}", set["id"].as_str().unwrap_or("")),
                "gt": set["gt"], "dt": set["dt"], "iou_type": expected["iou_type"],
                "option": option, "value": value, "results": results,
            })
        })
    });
    let cases: Vec<Value> = cases.collect();
    check(&cases, id, &[], |set| {
        let [option, value, iou] =
            ["option", "value", "iou_type"].map(|name| set[name].as_str().unwrap_or(""));
        let given = options(&[(option, value), ("iou-type", iou)]);
        let whole = state("lvis", set, &given, None)?;
        let report = whole.report();
        same_means(&report, &set["results"])?;
        // Each detection is in one of these.
        let counted = report.counts.iter().filter(|(name, _)| name != "truths");
        let counted: u64 = counted.filter_map(|(_, count)| count.as_u64()).sum();
        let records: Value = serde_json::from_str(set["dt"].as_str().unwrap_or("")).expect("JSON");
        let records = records.as_array().map(Vec::len);
        same("detections", Some(counted as usize), records)?;
        // Shards merge to the same, with a cut over all images too.
        let mut merged: Option<State> = None;
        for index in [1, 0, 2] {
            let shard = Shard::new(index, 3).map_err(|error| error.to_string())?;
            let part = state("lvis", set, &given, Some(shard))?;
            match &mut merged {
                Some(merged) => merged.merge(&part).map_err(|error| error.to_string())?,
                none => *none = Some(part),
            }
        }
        let merged = merged.ok_or("no shards")?.report();
        same("scores of shards", &merged.scores, &report.scores)?;
        same("counts of shards", &merged.counts, &report.counts)
    });
}

/// The row, and what the error or the warning says; `=` for a result like that of lvis.
const SAID: &[(&str, &[&str])] = &[
    ("fine", &["="]),
    ("results empty", &["AP: Some(0.0)"]),
    (
        "unknown image in results",
        &["refused: dt.json: [0]: image_id: 9 is not an image"],
    ),
    (
        "frequency missing",
        &["1 category has no frequency", "AP_r: None"],
    ),
    (
        "frequency unknown",
        &["refused: gt.json: categories[0]: frequency: category 1 has \"x\""],
    ),
    (
        "neg_category_ids missing",
        &["1 image has no neg_category_ids", "the metric coco"],
    ),
    (
        "not_exhaustive_category_ids missing",
        &["1 image has no not_exhaustive_category_ids"],
    ),
    (
        "area missing in ground truth",
        &["1 ground-truth object has no area, and that of"],
    ),
    ("score missing", &["refused: dt.json: [0]: score: missing"]),
    (
        "unknown category in results",
        &[
            "= ",
            "1 detection is of a class that the ground truth does not list",
        ],
    ),
    (
        "category both negative and present",
        &[
            "=",
            "1 image has objects of a category in its neg_category_ids",
        ],
    ),
    ("category not exhaustive and absent", &["="]),
    (
        "ids as texts in results",
        &["refused: dt.json: [0]: category_id: found the text \"1\""],
    ),
    (
        "detection with negative width",
        &["=", "1 detection has no area above 0"],
    ),
    (
        "detection with zero width",
        &["=", "1 detection has no area above 0"],
    ),
];

/// Inputs with one fault: an error or a warning that says what is wrong.
#[test]
fn lvis_faults() {
    check(&rows("vision/lvis_errors.jsonl"), id, &[], |set| {
        let row = id(set);
        let expected = SAID.iter().find(|(name, _)| *name == row);
        let (_, expected) = expected.ok_or("a row without expectation")?;
        let said = match state("lvis", set, &Options::default(), None) {
            Err(error) => error,
            Ok(state) => {
                let report = state.report();
                if expected.iter().any(|said| said.starts_with('=')) {
                    same_means(&report, &set["lvis"]["results"])?;
                }
                let scores = report.scores.iter();
                let scores = scores.map(|(name, score)| format!("{name}: {score:?}"));
                let warnings = report.warnings.iter().map(ToString::to_string);
                let lines: Vec<String> = scores.chain(warnings).collect();
                lines.join("\n")
            }
        };
        for text in expected.iter().filter(|text| !text.starts_with('=')) {
            if !said.contains(text) {
                return Err(format!("expected {text:?}, found {said}"));
            }
        }
        Ok(())
    });
}

/// Rows of COCO are objects of LVIS too: the boundaries of both.
#[test]
fn boundary_ap() {
    check(&rows("vision/boundary.jsonl"), id, &[], |set| {
        let expected = &set["expected"];
        let dilation = expected["dilation_ratio"].to_string();
        let given = options(&[("iou-type", "boundary"), ("dilation", &dilation)]);
        let given = given.with_details();
        let (report, details) = state("coco", set, &given, None)?.report_with_details();
        let stats = expected["stats"].as_array().ok_or("stats")?;
        same("numbers", report.scores.len(), stats.len())?;
        for ((name, ours), theirs) in report.scores.iter().zip(stats) {
            same(name, json!(ours.unwrap_or(-1.0)), theirs.clone())?;
        }
        let details = details.ok_or("no details")?;
        for name in ["precision", "recall", "scores"] {
            let ours = sha256(&details[name]);
            same(name, &ours, &expected["sha256_f64le"][name])?;
        }
        Ok(())
    });
}

#[test]
fn boundaries_of_masks() {
    check(&rows("vision/boundary_masks.jsonl"), id, &[], |row| {
        let size = |axis: usize| row["mask"]["size"][axis].as_u64().unwrap_or(0) as u32;
        let read = |counts: &Value| {
            let counts = counts.as_str().unwrap_or("");
            let mask = Mask::from_compressed(size(0), size(1), counts);
            mask.map_err(|error| error.to_string())
        };
        let dilation = row["dilation_ratio"].as_f64().ok_or("a ratio")?;
        let ours = read(&row["mask"]["counts"])?.boundary(dilation);
        same("boundary", ours, read(&row["boundary"])?)
    });
}
