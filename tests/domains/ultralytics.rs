//! Data sets of YOLO against Ultralytics, whole: their files are written, and read as users have them.

use std::path::Path;

use metric_registry::{Options, Report, find};
use metric_run::{Run, Source};
use serde_json::Value;
use tempfile::TempDir;

use crate::rows::{check, id, rows, same, within};

/// Which profile has the numbers of a version, of the metric and of the confusion matrix.
const PROFILES: [(&str, &str, &str); 3] = [
    ("8.4.190", "8.4.176", "ultralytics"),
    ("8.4.100", "8.4.37", "ultralytics-8.4.37"),
    ("8.4.36", "8.0", "ultralytics-8.0"),
];

/// Writes the files of a row.
fn files(row: &Value) -> Result<TempDir, String> {
    let folder = TempDir::new().map_err(|error| error.to_string())?;
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        let parent = path.parent().unwrap_or(folder.path());
        let made = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, bytes));
        made.map_err(|error| format!("{name}: {error}"))
    };
    for (name, text) in row["files"].as_object().ok_or("files")? {
        write(name, text.as_str().ok_or("a text")?.as_bytes())?;
    }
    for (name, bytes) in row["pictures"].as_object().ok_or("pictures")? {
        let digits = bytes.as_str().ok_or("bytes")?.as_bytes();
        let byte = |pair: &[u8]| {
            let pair = std::str::from_utf8(pair).unwrap_or_default();
            u8::from_str_radix(pair, 16).map_err(|error| error.to_string())
        };
        let bytes: Result<Vec<u8>, String> = digits.chunks(2).map(byte).collect();
        write(name, &bytes?)?;
    }
    Ok(folder)
}

/// The report of a metric with options, by their names.
fn report(
    metric: &str,
    row: &Value,
    folder: &Path,
    given: &[(&str, &str)],
) -> Result<Report, String> {
    let entry = find(metric).ok_or("a metric")?;
    let kind = row["iou_type"].as_str().ok_or("a kind")?;
    let options = Options::default().set("iou-type", kind);
    let options = given
        .iter()
        .fold(options, |options, (name, value)| options.set(name, *value));
    let at = |name: &str| {
        let path = folder.join(row[name].as_str().unwrap_or_default());
        Source::path(path).map_err(|error| error.to_string())
    };
    let run = Run::new(entry, &options).map_err(|error| error.to_string())?;
    let outcomes = run.score(at("references")?, at("predictions")?);
    let outcomes = outcomes.map_err(|error| error.to_string())?;
    Ok(outcomes.first().ok_or("no outcome")?.report())
}

/// Compares the scores of a version, which are of boxes and of masks or poses.
fn compare(report: &Report, expected: &Value) -> Result<(), String> {
    let class = report.groups.iter().find(|(kind, _)| kind == "class");
    let (_, groups) = class.ok_or("no groups")?;
    for (set, prefix) in [("box", ""), ("mask", "mask_"), ("pose", "pose_")] {
        let Some(all) = expected[set]["all"].as_object() else {
            continue;
        };
        for (name, value) in all {
            let name = format!("{prefix}{name}");
            near(&name, report.score(&name), value)?;
        }
        for (class, values) in expected[set]["classes"].as_object().ok_or("classes")? {
            let group = groups.iter().find(|group| group.name == *class);
            let group = group.ok_or_else(|| format!("no class {class}"))?;
            for (name, value) in values.as_object().ok_or("values")? {
                let of_name = |list: &[(String, Value)]| {
                    let mut list = list.iter();
                    list.find(|(found, _)| found == name)
                        .map(|(_, value)| value.clone())
                };
                if let Some(count) = of_name(&group.counts) {
                    same(name, &count, value)?;
                    continue;
                }
                let name = format!("{prefix}{name}");
                let score = group.scores.iter().find(|(found, _)| *found == name);
                near(
                    &format!("{class} {name}"),
                    score.and_then(|(_, score)| *score),
                    value,
                )?;
            }
        }
    }
    Ok(())
}

fn near(what: &str, ours: Option<f64>, expected: &Value) -> Result<(), String> {
    let expected = expected.as_f64().ok_or("a number")?;
    match ours {
        Some(ours) if within(ours, expected, 1e-9) => Ok(()),
        ours => Err(format!("{what}: {ours:?}, expected {expected}")),
    }
}

#[test]
fn data_sets() {
    check(&rows("ultralytics/sets.jsonl"), id, &[], |row| {
        let folder = files(row)?;
        for (version, profile, of_matrix) in PROFILES {
            let expected = &row["versions"][version];
            if expected.is_null() {
                continue;
            }
            let given = [("profile", profile), ("groups", "class")];
            let report_of = report("ultralytics", row, folder.path(), &given)?;
            same(
                "images",
                report_of.examples,
                row["images"].as_u64().unwrap_or(0),
            )?;
            compare(&report_of, expected).map_err(|problem| format!("{version}: {problem}"))?;
            let defaults = [("profile", of_matrix)];
            let quarter = [("profile", of_matrix), ("score-threshold", "0.25")];
            for (name, given) in [
                ("confusion_matrix_default", &defaults[..]),
                ("confusion_matrix_0.25", &quarter),
            ] {
                let report = report("confusion-matrix", row, folder.path(), given)?;
                let ours = report.confusions.ok_or("no matrix")?.rows;
                let theirs: Vec<Vec<u64>> =
                    serde_json::from_value(expected[name].clone()).map_err(|e| e.to_string())?;
                let turned: Vec<Vec<u64>> = (0..theirs.len())
                    .map(|column| theirs.iter().map(|row| row[column]).collect())
                    .collect();
                same(&format!("{version} {name}"), ours, turned)?;
            }
        }
        Ok(())
    });
}
