//! Which golden values of a crate have moved since a release.
//!
//! A value has moved where a row of then is not there now as it was, where a row that agreed is a
//! deviation now or the other way round, where a tolerance grew, and where what was checked no
//! longer is. New rows move nothing.

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;
use serde_json::Value;

use crate::git::{self, Tag};
use crate::golden_table::{deviations, tolerances_of};
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
    // Before the table there was none to compare with.
    let table = "tests/GOLDEN.md";
    if let Ok(old) = git::show(tag, table) {
        let new = std::fs::read_to_string(table).map_err(|error| format!("{table}: {error}"))?;
        let [old, new] = [old, new].map(|text| section(&text, &package.name).to_owned());
        let is_new = |row: &str| {
            let text = format!("\"{row}\"");
            new_rows.contains(&text) && !old_rows.contains(&text)
        };
        moved.extend(checks(&old, &new, is_new));
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

/// The part of the table that is a crate's.
fn section<'t>(text: &'t str, name: &str) -> &'t str {
    let heading = format!("## {name}\n");
    let Some((_, section)) = text.split_once(&heading) else {
        return "";
    };
    section.split("\n## ").next().unwrap_or(section)
}

/// The requirements that are weaker or different in the current checks than in those at the
/// release.
fn checks(old: &str, new: &str, is_new: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = |text: &str| -> BTreeMap<String, (String, u64)> {
        let rows = crate::table::rows(text).into_iter();
        rows.filter_map(|cells| {
            let [metric, what, rows, _, _, tolerance, _, test] =
                <[String; 8]>::try_from(cells).ok()?;
            let rows = rows.parse().ok()?;
            Some((format!("{metric}, {what}, by {test}"), (tolerance, rows)))
        })
        .collect()
    };
    let (before, now) = (lines(old), lines(new));
    let mut moved = Vec::new();
    for (what, (before, rows_before)) in &before {
        let Some((now, rows)) = now.get(what) else {
            moved.push(format!("{what}: is no longer checked"));
            continue;
        };
        if grew(before, now) {
            moved.push(format!("{what}: tolerance {now}, was {before}"));
        }
        if rows < rows_before {
            moved.push(format!("{what}: {rows} rows, were {rows_before}"));
        }
    }
    let (before, now) = (deviations(old), deviations(new));
    for (test, row) in now.difference(&before).filter(|(_, row)| !is_new(row)) {
        moved.push(format!("`{test}`: row {row} is a deviation now"));
    }
    for (test, row) in before.difference(&now) {
        moved.push(format!("`{test}`: row {row} is no longer a deviation"));
    }
    moved
}

/// A tolerance that allows more: a new one, or a greater one on the same scale.
fn grew(before: &str, now: &str) -> bool {
    let scales = |cell: &str| -> BTreeMap<String, f64> {
        let mut scales = BTreeMap::new();
        for one in tolerances_of(cell)
            .into_iter()
            .filter(|one| *one != "exact")
        {
            let (number, scale) = one.split_once(" × ").unwrap_or((one, ""));
            let number = number.parse().unwrap_or(f64::INFINITY);
            let greatest: &mut f64 = scales.entry(scale.to_owned()).or_insert(0.0);
            *greatest = greatest.max(number);
        }
        scales
    };
    let before = scales(before);
    let mut now = scales(now).into_iter();
    now.any(|(scale, number)| before.get(&scale).is_none_or(|&before| number > before))
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
        let root = crate::run::root();
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
        for (before, now, expected) in [
            ("exact", "exact", false),
            ("exact", "1e-15", true),
            ("1e-12", "exact", false),
            ("1e-12", "1e-12, 1e-15", false),
            ("1e-12", "1e-9", true),
            ("1e-12", "1e-12 × max(1, value)", true),
        ] {
            assert_eq!(grew(before, now), expected, "{before} -> {now}");
        }
    }

    #[test]
    fn deviations_and_lines_of_the_table() {
        let header = "| metric | what of it | rows | published | checked against | tolerance | deviations | test |\n|---|---|---|---|---|---|---|---|\n";
        let line = |tolerance: &str| {
            format!("{header}| arc | pairs | 2 | 2 | x | {tolerance} | 1 | `grid::pairs` |\n")
        };
        let old = line("1e-15") + "\n- `grid::pairs`: no cells: at all: `arc-1`, `arc-2`\n";
        let document =
            format!("# T\n\n## metric-graph\n\nx\n\n## metric-grid\n\n{old}\n## metric-text\n");
        let old = section(&document, "metric-grid");
        let pair = |row: &str| ("grid::pairs".to_owned(), row.to_owned());
        assert_eq!(deviations(old), [pair("arc-1"), pair("arc-2")].into());

        let new = line("1e-15") + "\n- `grid::pairs`: other words: `arc-2`, `arc-3`, `arc-4`\n";
        let moved = checks(old, &new, |row| row == "arc-4");
        let expected = [
            "`grid::pairs`: row arc-3 is a deviation now",
            "`grid::pairs`: row arc-1 is no longer a deviation",
        ];
        assert_eq!(moved, expected);
        let fewer = checks(old, &old.replace("| 2 | 2 |", "| 1 | 1 |"), |_| false);
        assert_eq!(fewer, ["arc, pairs, by `grid::pairs`: 1 rows, were 2"]);
        let looser = checks(old, &old.replace("1e-15", "1e-9"), |_| false);
        let expected = "arc, pairs, by `grid::pairs`: tolerance 1e-9, was 1e-15";
        assert_eq!(looser, [expected]);
        assert_eq!(checks(old, "", |_| true).len(), 3);
    }
}
