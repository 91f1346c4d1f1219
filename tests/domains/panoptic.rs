//! Panoptic segments: the data sets of panopticapi, and their boundaries.

use std::fs;
use std::path::Path;

use metric_registry::{Options, Report, find};
use metric_run::{Data, Nobody, Run, Source};
use serde_json::{Map, Value};

use crate::rows::{self, near, same};

const FILE: &str = "segmentation/panoptic.jsonl";

/// The kinds of categories as panopticapi and we name them.
const KINDS: &[(&str, &str)] = &[("All", ""), ("Things", "_things"), ("Stuff", "_stuff")];

/// Data sets that are refused, and what the message says.
const REFUSED: &[(&str, &[&str])] = &[
    ("error_file_missing", &["pred/000000000002.png", "image 2"]),
    (
        "error_gray",
        &["gt/000000000001.png", "3 or 4 channels", "segmentation"],
    ),
    (
        "error_image_missing",
        &["no prediction for 1 reference", "\"2\""],
    ),
    (
        "error_not_in_json",
        &["pred/000000000002.png", "image 2", "14780978"],
    ),
    ("error_not_in_png", &["image 1", "segment 77"]),
    ("error_size", &["image 1", "32 x 26", "32 x 24"]),
    (
        "error_unknown_category",
        &["pred.json", "image 1", "7185453", "555"],
    ),
    ("unknown_reference_category", &["gt.json", "999"]),
];

/// Data sets with a warning, and what it says.
const WARNINGS: &[(&str, &str)] = &[
    ("area_differs", "20 segments of the references have an area"),
    ("empty", "no category has segments"),
    (
        "error_iscrowd_missing",
        "7 segments of the references have no iscrowd",
    ),
    ("error_isthing_missing", "6 categories have no isthing"),
    (
        "file_names_and_order",
        "1 predicted image is not in the references",
    ),
    (
        "segment_without_pixels",
        "1 segment of the references has no pixels",
    ),
    ("two_crowds", "several crowds of a category"),
];

#[test]
fn data_sets_of_panopticapi() {
    let rows = rows::rows(FILE);
    rows::check(&rows, rows::id, &[], |row| {
        let id = rows::id(row);
        let scored = scored(row, &[("groups", "class")]);
        if let Some((_, said)) = REFUSED.iter().find(|(refused, _)| *refused == id) {
            let error = scored.err().ok_or("is not refused")?;
            let is_said = said.iter().all(|part| error.contains(part));
            return same(&format!("the message {error:?}"), is_said, true);
        }
        let report = scored?;
        compared(row, &report)?;
        let warning = WARNINGS.iter().find(|(warned, _)| *warned == id);
        let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
        let is_said = |(_, said): &(&str, &str)| warnings.iter().any(|it| it.contains(said));
        same(&format!("{warnings:?}"), warning.is_none_or(is_said), true)
    });
}

#[test]
fn reference_segments_of_unknown_categories() {
    let mut rows = rows::rows(FILE);
    rows.retain(|row| rows::id(row) == "unknown_reference_category");
    rows::check(&rows, rows::id, &[], |row| {
        let options = [("groups", "class"), ("quirks", "panopticapi")];
        compared(row, &scored(row, &options)?)
    });
}

#[test]
fn boundaries_of_boundary_iou_api() {
    let mut rows = rows::rows(FILE);
    rows.retain(|row| row["boundary"].is_object());
    rows::check(&rows, rows::id, &[], |row| {
        for (dilation, expected) in row["boundary"].as_object().ok_or("no results")? {
            let report = scored(row, &[("iou-type", "boundary"), ("dilation", dilation)])?;
            qualities(&report, expected)?;
        }
        Ok(())
    });
}

/// Compares the counts of each category, and the scores of each program that has any.
fn compared(row: &Value, report: &Report) -> Result<(), String> {
    let groups = report.groups.iter().find(|(kind, _)| kind == "class");
    let groups = &groups.ok_or("no classes")?.1;
    let of = |id: &str| {
        let mut groups = groups.iter();
        groups.find(|group| {
            let found = group.counts.iter().find(|(name, _)| name == "category_id");
            found.is_some_and(|(_, found)| found.as_i64() == id.parse().ok())
        })
    };
    let nothing = Map::new();
    for (id, expected) in row["counts"].as_object().unwrap_or(&nothing) {
        // panopticapi drops categories that are not listed.
        let Some(group) = of(id) else {
            same("the category without a group", id.as_str(), "999")?;
            continue;
        };
        for name in ["tp", "fp", "fn"] {
            let found = group.counts.iter().find(|(found, _)| found == name);
            let found = found.map(|(_, count)| count.clone());
            same(
                &format!("{name} of {id}"),
                found,
                Some(expected[name].clone()),
            )?;
        }
    }
    for program in ["single", "two_cores", "hotcoco"] {
        let expected = &row[program];
        if !expected.is_object() || expected.get("error").is_some() {
            continue;
        }
        qualities(report, expected)?;
        for (id, expected) in expected["per_class"].as_object().unwrap_or(&nothing) {
            let group = of(id).ok_or_else(|| format!("no category {id}"))?;
            for (name, expected) in expected.as_object().ok_or("no qualities")? {
                let ours = group
                    .scores
                    .iter()
                    .find(|(found, _)| *found == name.to_uppercase());
                // panopticapi has 0 for categories without segments.
                let ours = ours.and_then(|(_, value)| *value).unwrap_or(0.0);
                near(&format!("{name} of {id}"), Some(ours), expected)?;
            }
        }
    }
    Ok(())
}

/// Compares the means. hotcoco has -1 for what is undefined.
fn qualities(report: &Report, expected: &Value) -> Result<(), String> {
    for (kind, suffix) in KINDS {
        for name in ["pq", "sq", "rq"] {
            let value = &expected[kind][name];
            let ours = report.score(&format!("{}{suffix}", name.to_uppercase()));
            if *value == -1.0 {
                same(&format!("{name} of {kind}"), ours, None)?;
            } else {
                near(&format!("{name} of {kind}"), ours, value)?;
            }
        }
    }
    Ok(())
}

/// Scores the files of a row in a folder of their own.
fn scored(row: &Value, options: &[(&str, &str)]) -> Result<Report, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    write(row, folder.path())?;
    let entry = find("panoptic").ok_or("no metric")?;
    let start = Options::default();
    let set = |all: Options, (name, value): &(&str, &str)| all.set(name, *value);
    let options = options.iter().fold(start, set);
    let run = Run::new(entry, &options).map_err(|error| error.to_string())?;
    let source = |name: &str| {
        let source = Source::path(folder.path().join(name));
        source.map_err(|error| error.to_string())
    };
    let data = Data::Sources {
        references: source("gt.json")?,
        predictions: source("pred.json")?,
    };
    let outcomes = run
        .score_observed(data, &Nobody)
        .map_err(|error| error.to_string())?;
    let outcome = outcomes.into_iter().next().ok_or("no outcome")?;
    Ok(outcome.report())
}

fn write(row: &Value, folder: &Path) -> Result<(), String> {
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, bytes))
            .map_err(|error| error.to_string())
    };
    for side in ["gt", "pred"] {
        put(&format!("{side}.json"), row[side].to_string().as_bytes())?;
    }
    for (name, hex) in row["files"].as_object().ok_or("no files")? {
        let (digits, _) = hex.as_str().ok_or("no bytes")?.as_bytes().as_chunks::<2>();
        let byte = |digits: &[u8; 2]| {
            let text = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(text, 16).ok()
        };
        let bytes: Option<Vec<u8>> = digits.iter().map(byte).collect();
        put(name, &bytes.ok_or("no hexadecimal digits")?)?;
    }
    Ok(())
}
