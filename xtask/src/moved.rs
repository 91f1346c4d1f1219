//! Which golden values of a crate have moved since a release.
//!
//! A value has moved where a row of then is not there now as it was, where a row that agreed is a
//! deviation now or the other way round, where a tolerance grew, and where what was checked no
//! longer is. New rows move nothing.

use std::collections::BTreeSet;

use semver::Version;
use serde_json::Value;

use crate::git::{self, Tag};
use crate::golden::{self, Line};
use crate::packages::Package;

/// The values that have moved, in words.
pub(crate) fn golden(package: &Package, tag: &Tag) -> Result<Vec<String>, String> {
    let mut moved = Vec::new();
    let (mut old_rows, mut new_rows) = (String::new(), String::new());
    for path in git::list(tag, "tests/golden")? {
        let has_rows = path.ends_with(".json") || path.ends_with(".jsonl");
        if !has_rows || crate_of(&path) != package.name {
            continue;
        }
        let old = git::show(tag, &path)?;
        match std::fs::read_to_string(&path) {
            Ok(new) => {
                moved.extend(
                    rows(&old, &new)
                        .into_iter()
                        .map(|row| format!("{path}: {row}")),
                );
                new_rows.push_str(&new);
            }
            Err(_) => moved.push(format!("{path}: is gone")),
        }
        old_rows.push_str(&old);
    }
    // Releases before these lines have none to compare with.
    if let Ok(old) = git::show(tag, golden::LINES) {
        let new = std::fs::read_to_string(golden::LINES);
        let new = new.map_err(|error| format!("{}: {error}", golden::LINES))?;
        let is_new = |row: &str| {
            let text = format!("\"{row}\"");
            new_rows.contains(&text) && !old_rows.contains(&text)
        };
        let own = |text: &str| -> Result<Vec<Line>, String> {
            let lines = golden::parse(text)?.into_iter();
            Ok(lines.filter(|line| line.of == package.name).collect())
        };
        moved.extend(checks(&own(&old)?, &own(&new)?, is_new));
    }
    Ok(moved)
}

/// The crate that the rows of a golden file check: the one its folder is named after, except for
/// these.
fn crate_of(path: &str) -> String {
    const OTHERS: &[(&str, &str)] = &[
        ("graph/assignment.jsonl", "metric-core"),
        ("inputs/", "metric-run"),
        ("statistics/", "metric-stats"),
    ];
    let path = path.trim_start_matches("tests/golden/");
    if let Some((_, name)) = OTHERS.iter().find(|(start, _)| path.starts_with(start)) {
        return (*name).to_owned();
    }
    let folder = path.split('/').next();
    format!("metric-{}", folder.unwrap_or_default())
}

/// Whether a release may change what users rely on.
pub(crate) fn is_breaking(before: &Version, now: &Version) -> bool {
    match (before.major, before.minor) {
        (0, 0) => now > before,
        (0, minor) => (now.major, now.minor) > (0, minor),
        (major, _) => now.major > major,
    }
}

/// The next version after which users know that something has changed.
pub(crate) fn breaking(before: &Version) -> Version {
    match (before.major, before.minor) {
        (0, 0) => Version::new(0, 0, before.patch + 1),
        (0, minor) => Version::new(0, minor + 1, 0),
        (major, _) => Version::new(major + 1, 0, 0),
    }
}

/// The rows of a file of then that are not in it now.
fn rows(old: &str, new: &str) -> Vec<String> {
    if let (Ok(old), Ok(new)) = (serde_json::from_str(old), serde_json::from_str(new)) {
        let (old, new): (Value, Value) = (old, new);
        return lost(&old, &new, "").into_iter().collect();
    }
    let parse = |line| serde_json::from_str::<Value>(line).ok();
    let now: BTreeSet<String> = new
        .lines()
        .filter_map(parse)
        .map(|row| row.to_string())
        .collect();
    let lost = old
        .lines()
        .filter_map(parse)
        .filter(|row| row.get("_about").is_none() && !now.contains(&row.to_string()));
    lost.map(|row| {
        let name = ["id", "name", "question_id", "token", "input"]
            .iter()
            .find_map(|field| row.get(field));
        format!("row {}", name.unwrap_or(&Value::Null))
    })
    .collect()
}

/// The first location of a document that is not as it was. More may have come: fields, and cases.
fn lost(old: &Value, new: &Value, location: &str) -> Option<String> {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => old
            .iter()
            .filter(|(key, _)| *key != "_about")
            .find_map(|(key, old)| {
                let location = format!("{location}/{key}");
                new.get(key)
                    .map_or(Some(location.clone()), |new| lost(old, new, &location))
            }),
        (Value::Array(old), Value::Array(new)) if location.ends_with("/cases") => {
            let gone = |old: &&Value| !new.contains(old);
            let case = old.iter().find(gone)?;
            Some(format!("{location}: {}", case.get("name").unwrap_or(case)))
        }
        _ if old == new => None,
        _ => Some(location.to_owned()),
    }
}

/// The requirements that are weaker or different in the current checks than in those at the
/// release.
fn checks(before: &[Line], now: &[Line], is_new: impl Fn(&str) -> bool) -> Vec<String> {
    let mut moved = Vec::new();
    for old in before {
        let what = format!("{}, {}, by `{}`", old.metric, old.profile, old.test);
        let Some(new) = now.iter().find(|line| line.is_of(old)) else {
            moved.push(format!("{what}: is no longer checked"));
            continue;
        };
        if let Some(greater) = greater(&old.tolerances, &new.tolerances) {
            moved.push(format!("{what}: a tolerance is {greater}"));
        }
        if new.rows < old.rows {
            moved.push(format!("{what}: {} rows, were {}", new.rows, old.rows));
        }
    }
    let (before, now) = (deviations(before), deviations(now));
    for (test, row) in now.difference(&before).filter(|(_, row)| !is_new(row)) {
        moved.push(format!("`{test}`: row {row} is a deviation now"));
    }
    for (test, row) in before.difference(&now) {
        moved.push(format!("`{test}`: row {row} is no longer a deviation"));
    }
    moved
}

/// The tests and rows of all deviations.
fn deviations(lines: &[Line]) -> BTreeSet<(&str, &str)> {
    let of = |line| {
        let Line {
            test, deviations, ..
        }: &Line = line;
        deviations
            .iter()
            .map(move |(row, _)| (test.as_str(), row.as_str()))
    };
    lines.iter().flat_map(of).collect()
}

/// A tolerance that allows more than any before: one on a new scale, or a greater one on the same scale.
fn greater<'n>(before: &BTreeSet<String>, now: &'n BTreeSet<String>) -> Option<&'n str> {
    let is_allowed = |new: &str| {
        let (number, scale) = parts(new);
        let mut before = before.iter().map(|old| parts(old));
        before.any(|(old, old_scale)| scale == old_scale && number <= old)
    };
    now.iter().map(String::as_str).find(|new| !is_allowed(new))
}

/// The number of a tolerance, and its scale.
fn parts(tolerance: &str) -> (f64, &str) {
    let (number, scale) = tolerance.split_once(" × ").unwrap_or((tolerance, ""));
    (number.parse().unwrap_or(f64::NAN), scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaking_is_the_minor_version_before_1_and_the_major_after() {
        for (before, now, expected) in [
            ("0.1.0", "0.1.1", false),
            ("0.1.9", "0.2.0", true),
            ("0.1.0", "1.0.0", true),
            ("0.0.1", "0.0.2", true),
            ("1.2.0", "1.3.0", false),
            ("1.2.0", "2.0.0", true),
        ] {
            let [before, now] = [before, now].map(|text| Version::parse(text).expect("a version"));
            assert_eq!(is_breaking(&before, &now), expected, "{before} {now}");
            assert!(is_breaking(&before, &breaking(&before)), "{before}");
        }
    }

    #[test]
    fn a_row_that_changed_or_went_has_moved() {
        let old = "{\"_about\": 1}\n{\"id\": 1, \"f1\": 0.5}\n{\"id\": \"b\", \"f1\": 1.0}\n";
        let sorted =
            "{\"_about\": 2}\n{\"id\":\"b\",\"f1\":1.0}\n{\"f1\":0.5,\"id\":1}\n{\"id\":3}\n";
        assert_eq!(rows(old, sorted), [""; 0]);
        let changed = sorted.replace("0.5", "0.25");
        assert_eq!(rows(old, &changed), ["row 1"]);
        assert_eq!(rows(old, "{\"id\": 1, \"f1\": 0.5}\n{}\n"), ["row \"b\""]);
    }

    #[test]
    fn a_document_may_gain_fields_and_cases() {
        let old = r#"{"cases": [{"name": "a", "f1": 1}], "set": {"ap": [1, 2]}}"#;
        let more =
            r#"{"cases": [{"name": "b"}, {"name": "a", "f1": 1}], "set": {"ap": [1, 2], "ar": 0}}"#;
        assert_eq!(rows(old, more), [""; 0]);
        assert_eq!(rows(old, &more.replace("[1, 2]", "[1, 3]")), ["/set/ap"]);
        assert_eq!(
            rows(old, &more.replace("\"f1\": 1", "\"f1\": 0")),
            ["/cases: \"a\""]
        );
        assert_eq!(rows(old, "{\"set\": {\"ap\": [1, 2]}}"), ["/cases"]);
    }

    #[test]
    fn files_are_of_crates() {
        for (path, name) in [
            ("tests/golden/text/vqa_v2.jsonl", "metric-text"),
            ("tests/golden/graph/assignment.jsonl", "metric-core"),
            ("tests/golden/graph/mapdr_samples.jsonl", "metric-graph"),
            ("tests/golden/inputs/cases.jsonl", "metric-run"),
            ("tests/golden/statistics/paired.jsonl", "metric-stats"),
        ] {
            assert_eq!(crate_of(path), name);
        }
        let root = xtask_common::root();
        assert!(root.join("tests/golden/graph/assignment.jsonl").is_file());
        // A file of no crate would never be compared.
        for folder in std::fs::read_dir(root.join("tests/golden")).expect("the rows") {
            let folder = folder.expect("a folder").file_name();
            let name = crate_of(&format!("tests/golden/{}/", folder.to_string_lossy()));
            assert!(root.join("crates").join(&name).is_dir(), "{name}");
        }
    }

    #[test]
    fn tolerances_grow_on_their_scale() {
        let set = |text: &str| -> BTreeSet<String> {
            let parts = text.split("; ").filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        };
        for (before, now, expected) in [
            ("", "", None),
            ("", "1e-15", Some("1e-15")),
            ("1e-12", "", None),
            ("1e-12", "1e-12; 1e-15", None),
            ("1e-12", "1e-9", Some("1e-9")),
            (
                "1e-12",
                "1e-12 × max(1, value)",
                Some("1e-12 × max(1, value)"),
            ),
        ] {
            assert_eq!(
                greater(&set(before), &set(now)),
                expected,
                "{before} -> {now}"
            );
        }
    }

    #[test]
    fn deviations_and_checks() {
        let line = |rows: usize, tolerance: &str, deviations: &[&str]| -> Vec<Line> {
            let deviations: Vec<_> = deviations.iter().map(|row| [row, "why"]).collect();
            let line = serde_json::json!([{
                "crate": "metric-grid", "metric": "arc", "profile": "pairs", "rows": rows,
                "published": 2, "against": ["x"], "tolerances": [tolerance],
                "deviations": deviations, "test": "grid::pairs",
            }]);
            golden::parse(&line.to_string()).expect("a line")
        };
        let old = line(2, "1e-15", &["arc-1", "arc-2"]);
        let new = line(2, "1e-15", &["arc-2", "arc-3", "arc-4"]);
        let moved = checks(&old, &new, |row| row == "arc-4");
        let expected = [
            "`grid::pairs`: row arc-3 is a deviation now",
            "`grid::pairs`: row arc-1 is no longer a deviation",
        ];
        assert_eq!(moved, expected);
        let change =
            |rows, tolerance| checks(&old, &line(rows, tolerance, &["arc-1", "arc-2"]), |_| false);
        let expected = ["arc, pairs, by `grid::pairs`: 1 rows, were 2"];
        assert_eq!(change(1, "1e-15"), expected);
        let expected = ["arc, pairs, by `grid::pairs`: a tolerance is 1e-9"];
        assert_eq!(change(2, "1e-9"), expected);
        assert_eq!(checks(&old, &[], |_| true).len(), 3);
    }
}
