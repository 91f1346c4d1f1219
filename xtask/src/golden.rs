use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::bench::target;
use crate::golden_table::{deviations, tolerances_of};
use crate::run::{Error, cargo_output, flag, no_arguments, print};
use crate::table::markdown;

pub(crate) const HELP: &str = "\
Prints what the golden rows cover, and writes it to tests/GOLDEN.md.
One line per metric and profile: the number of rows, how many of them are published here, the program
that the expected values are from, the tolerance, the deviations. The tests of the golden rows are
run, and say what they check.
--check writes nothing and fails when tests/GOLDEN.md is stale. Rows that may not be published are
next to the repository, in ../shared/golden: without them, the table is of the published rows
and is not written, and --check compares what these rows can tell.";

/// The committed table, from the root.
const TABLE: &str = "tests/GOLDEN.md";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (check, names) = flag(arguments, "--check")?;
    no_arguments(&names)?;
    let tests = sources("tests/domains")?;
    unrecorded_tolerances(&tests)?;
    let published = record("published")?;
    sources_name_programs(&published)?;
    let all_here = Path::new("../shared/golden").is_dir();
    let all = if all_here { record("all")? } else { Vec::new() };
    let committed = std::fs::read_to_string(TABLE).unwrap_or_default();
    if !all_here {
        eprintln!("../shared/golden is not here: {TABLE} stays, its published rows are compared");
        let lines = coverage(&published, &published);
        if !check {
            print(&document(&lines));
            return Ok(());
        }
        let stale = stale_published(&committed, &lines);
        return match stale.as_slice() {
            [] => Ok(()),
            stale => Err(format!(
                "{TABLE} is stale; correct these lines, or write it where all rows are:\n{}",
                stale.join("\n")
            )
            .into()),
        };
    }
    for test in lines_without_test(&tests, &all) {
        eprintln!("tests/domains/coverage.rs: {test}: no such test has checked rows");
    }
    let text = document(&coverage(&all, &published));
    if !check {
        print(&text);
        return std::fs::write(TABLE, text).map_err(|error| format!("{TABLE}: {error}").into());
    }
    if text == committed {
        return Ok(());
    }
    let old: BTreeSet<&str> = committed.lines().collect();
    let new = text.lines().filter(|line| !old.contains(line));
    let new: Vec<&str> = new.take(10).collect();
    Err(format!(
        "{TABLE} is stale, run `cargo xtask golden`:\n{}",
        new.join("\n")
    )
    .into())
}

/// The output of one call of a test's check: see `tests/domains/rows.rs`.
#[derive(Deserialize)]
struct Record {
    #[serde(rename = "crate")]
    of: String,
    metric: String,
    profile: String,
    against: Vec<String>,
    test: String,
    rows: BTreeSet<String>,
    deviations: Vec<(String, String)>,
    tolerances: BTreeSet<String>,
    files: BTreeSet<String>,
}

/// Runs the tests over the published rows or over all, and reads what they say.
fn record(which: &str) -> Result<Vec<Record>, String> {
    let file = target()?.join(format!("golden-{which}.jsonl"));
    let name = file.display().to_string();
    let failed = |error: std::io::Error| format!("{name}: {error}");
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(&file, "").map_err(failed)?;
    // As `xtask test` builds them, so that nothing is built again.
    let tests = "test --workspace --exclude metric-python --all-features --test golden --quiet";
    eprintln!("$ GOLDEN_ROWS={which} cargo {tests}");
    let words: Vec<&str> = tests.split(' ').collect();
    cargo_output(&words, &[("GOLDEN_ROWS", which), ("GOLDEN_RECORD", &name)])?;
    let text = std::fs::read_to_string(&file).map_err(failed)?;
    let records: Result<Vec<Record>, _> = text.lines().map(serde_json::from_str).collect();
    let records = records.map_err(|error| format!("{name}: {error}"))?;
    if records.is_empty() {
        Err(format!("{name}: no test said what it checks"))
    } else {
        Ok(records)
    }
}

/// A line of the table.
#[derive(Debug, PartialEq)]
struct Line {
    of: String,
    metric: String,
    profile: String,
    rows: usize,
    published: usize,
    against: Vec<String>,
    tolerances: BTreeSet<String>,
    /// Row and reason.
    deviations: BTreeSet<(String, String)>,
    test: String,
}

/// One line for each metric, profile and test, in this order; a row that is in two copies of a
/// file, or is checked twice, counts once.
fn coverage(all: &[Record], published: &[Record]) -> Vec<Line> {
    let mut lines = BTreeMap::<_, (Line, BTreeSet<&str>, BTreeSet<&str>)>::new();
    for (records, is_published) in [(all, false), (published, true)] {
        for record in records {
            let key = (&record.of, &record.metric, &record.profile, &record.test);
            let (line, rows, published) = lines.entry(key).or_insert_with(|| {
                let line = Line {
                    of: record.of.clone(),
                    metric: record.metric.clone(),
                    profile: record.profile.clone(),
                    rows: 0,
                    published: 0,
                    against: record.against.clone(),
                    tolerances: BTreeSet::new(),
                    deviations: BTreeSet::new(),
                    test: record.test.clone(),
                };
                (line, BTreeSet::new(), BTreeSet::new())
            });
            let names = if is_published { published } else { rows };
            names.extend(record.rows.iter().map(String::as_str));
            line.tolerances.extend(record.tolerances.iter().cloned());
            line.deviations.extend(record.deviations.iter().cloned());
        }
    }
    let finished = lines.into_values().map(|(mut line, rows, published)| {
        line.rows = rows.len();
        line.published = published.len();
        line
    });
    finished.collect()
}

const HEADER: &[&str] = &[
    "metric",
    "what of it",
    "rows",
    "published",
    "checked against",
    "tolerance",
    "deviations",
    "test",
];

fn document(lines: &[Line]) -> String {
    let mut text = "\
# What the golden rows cover

Inputs with the results of the reference implementations, and how near ours must come: `exact` is
equal to the last bit, counts always are. A row counts once for each profile it is checked under. Published
rows are in `tests/golden`, each file with its source and license; the others may not be published.
A deviation is a row where ours differs on purpose; it must differ in the way that the test says.

Written by `cargo xtask golden` from what the tests of `tests/golden.rs` check; a metric and profile
has its line in `tests/domains/coverage.rs`.
"
    .to_owned();
    let crates: BTreeSet<&String> = lines.iter().map(|line| &line.of).collect();
    for of in crates {
        let lines = || lines.iter().filter(|line| line.of == *of);
        let cells = |line: &Line| {
            vec![
                line.metric.clone(),
                line.profile.clone(),
                line.rows.to_string(),
                line.published.to_string(),
                line.against.join(", "),
                tolerance(&line.tolerances),
                line.deviations.len().to_string(),
                format!("`{}`", line.test),
            ]
        };
        let table = markdown(HEADER, &lines().map(cells).collect::<Vec<_>>());
        text.push_str(&format!("\n## {of}\n\n{table}"));

        let mut reasons = BTreeMap::<(&str, &str), BTreeSet<&str>>::new();
        for line in lines() {
            for (row, reason) in &line.deviations {
                reasons.entry((&line.test, reason)).or_default().insert(row);
            }
        }
        for (index, ((test, reason), rows)) in reasons.iter().enumerate() {
            let before = if index == 0 { "\nDeviations:\n\n" } else { "" };
            let rows: Vec<_> = rows.iter().map(|row| format!("`{row}`")).collect();
            let rows = rows.join(", ");
            text.push_str(&format!("{before}- `{test}`: {reason}: {rows}\n"));
        }
    }
    text
}

fn tolerance(tolerances: &BTreeSet<String>) -> String {
    let tolerances: Vec<&str> = tolerances.iter().map(String::as_str).collect();
    match tolerances.as_slice() {
        [] => "exact".to_owned(),
        tolerances => tolerances.join(", "),
    }
}

/// The parts of a committed table that the published rows contradict, if only these are present: their number, a
/// tolerance or a deviation that is not in the table, a line that nothing checks.
fn stale_published(committed: &str, lines: &[Line]) -> Vec<String> {
    let allowed = deviations(committed);
    let committed: Vec<[String; 8]> = crate::table::rows(committed)
        .into_iter()
        .filter_map(|cells| cells.try_into().ok())
        .collect();
    let is_of = |cells: &[String; 8], line: &Line| {
        let [metric, what, .., test] = cells;
        (metric, what) == (&line.metric, &line.profile) && *test == format!("`{}`", line.test)
    };
    let known = |line: &&Line| {
        let mut rows = committed.iter().filter(|cells| is_of(cells, line));
        rows.any(|[_, _, _, published, against, tolerance, ..]| {
            let tolerances = tolerances_of(tolerance);
            let test = |row: &str| (line.test.clone(), row.to_owned());
            *published == line.published.to_string()
                && *against == line.against.join(", ")
                && line.tolerances.iter().all(|it| tolerances.contains(&&**it))
                && line
                    .deviations
                    .iter()
                    .all(|(row, _)| allowed.contains(&test(row)))
        })
    };
    let stale = lines.iter().filter(|line| !known(line));
    let now = stale.map(|line| {
        format!(
            "{}, {}: {} published rows by {}, tolerance {}, {} deviations",
            line.metric,
            line.profile,
            line.published,
            line.test,
            tolerance(&line.tolerances),
            line.deviations.len()
        )
    });
    let gone = committed
        .iter()
        .filter(|cells| cells[3] != "0" && !lines.iter().any(|line| is_of(cells, line)));
    let gone =
        gone.map(|[metric, what, .., test]| format!("{metric}, {what}: not checked by {test}"));
    now.chain(gone).collect()
}

/// The Rust files of a folder, with their text.
fn sources(folder: &str) -> Result<Vec<(String, String)>, String> {
    let failed = |error: std::io::Error| format!("{folder}: {error}");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        files.push((path.display().to_string(), text));
    }
    files.sort();
    Ok(files)
}

/// A tolerance that the table would not show, as a test compares with it on its own.
fn unrecorded_tolerances(files: &[(String, String)]) -> Result<(), String> {
    for (name, text) in files.iter().filter(|(name, _)| !name.ends_with("rows.rs")) {
        for (number, line) in (1..).zip(text.lines()) {
            if line.contains("abs() <") || line.contains("abs() >") {
                return Err(format!(
                    "{name}:{number}: compare by rows::within, which tells the tolerance"
                ));
            }
        }
    }
    Ok(())
}

/// The tests that the list of lines names and that have not run.
fn lines_without_test(files: &[(String, String)], records: &[Record]) -> Vec<String> {
    let list = files.iter().find(|(name, _)| name.ends_with("coverage.rs"));
    let lines = list.into_iter().flat_map(|(_, text)| text.lines());
    let tests = lines.filter_map(|line| line.trim().strip_prefix("line(\"")?.split('"').next());
    let unknown = |test: &&str| records.iter().all(|record| record.test != *test);
    let unknown: BTreeSet<&str> = tests.filter(unknown).collect();
    unknown.into_iter().map(str::to_owned).collect()
}

/// Every program of the table must be one that a golden file of the test names as its source.
fn sources_name_programs(records: &[Record]) -> Result<(), String> {
    for record in records {
        let mut named = String::new();
        for file in &record.files {
            let path = Path::new("tests/golden").join(file);
            if let Ok(text) = std::fs::read_to_string(path) {
                named.push_str(&source(&text));
            }
        }
        for program in &record.against {
            if !named.contains(program.as_str()) {
                return Err(format!(
                    "tests/domains/coverage.rs: {}: {program}: not among the sources that the \
                     files of the test name: {named}",
                    record.test
                ));
            }
        }
    }
    Ok(())
}

/// Where the rows of a golden file are from: `_about` of its first line, or of the document.
fn source(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let about = [first, text]
        .into_iter()
        .filter_map(|text| serde_json::from_str::<Value>(text).ok())
        .find_map(|value| Some(value.get("_about")?.get("source")?.as_str()?.to_owned()));
    about.unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(test: &str, rows: &[&str], deviations: &[(&str, &str)], tolerance: &str) -> Record {
        let text = |text: &&str| (*text).to_owned();
        Record {
            of: "metric-grid".to_owned(),
            metric: "arc".to_owned(),
            profile: "pairs".to_owned(),
            against: vec!["arcsolver 0.0.11".to_owned()],
            test: test.to_owned(),
            rows: rows.iter().map(text).collect(),
            deviations: deviations
                .iter()
                .map(|(row, reason)| (text(row), text(reason)))
                .collect(),
            tolerances: [tolerance.to_owned()].into(),
            files: BTreeSet::new(),
        }
    }

    #[test]
    fn a_row_of_two_calls_counts_once() {
        let all = [
            call("grid::pairs", &["a", "b"], &[("b", "why")], "1e-15"),
            call("grid::pairs", &["b", "c"], &[], "1e-12"),
        ];
        let lines = coverage(&all, &[call("grid::pairs", &["a"], &[], "1e-15")]);
        assert_eq!(lines.len(), 1);
        let line = &lines[0];
        assert_eq!((line.rows, line.published), (3, 1));
        assert_eq!(tolerance(&line.tolerances), "1e-12, 1e-15");

        let text = document(&lines);
        assert!(text.contains("## metric-grid\n"));
        assert!(text.contains("- `grid::pairs`: why: `b`\n"));
        let expected = "arc|pairs|3|1|arcsolver 0.0.11|1e-12, 1e-15|1|`grid::pairs`";
        let rows = crate::table::rows(&text);
        assert_eq!(
            rows.iter().map(|row| row.join("|")).collect::<Vec<_>>(),
            [expected]
        );

        assert_eq!(stale_published(&text, &lines), [""; 0]);
        let more = coverage(&all, &[call("grid::pairs", &["a", "b"], &[], "1e-15")]);
        let stale = stale_published(&text, &more);
        let expected =
            "arc, pairs: 2 published rows by grid::pairs, tolerance 1e-12, 1e-15, 1 deviations";
        assert_eq!(stale, [expected]);

        let scaled = "1e-12 × max(1, value), 1e-15";
        assert_eq!(tolerances_of(scaled), ["1e-12 × max(1, value)", "1e-15"]);
        let rows = [call("grid::pairs", &["a"], &[], "1e-12 × max(1, value)")];
        let lines = coverage(&rows, &rows);
        assert_eq!(stale_published(&document(&lines), &lines), [""; 0]);

        // A greater tolerance, another deviation, and a test that was removed.
        let rows = [call("grid::pairs", &["a"], &[], "1e-3")];
        assert_eq!(stale_published(&text, &coverage(&rows, &rows)).len(), 1);
        let rows = [call("grid::pairs", &["a"], &[("a", "why")], "1e-15")];
        assert_eq!(stale_published(&text, &coverage(&rows, &rows)).len(), 1);
        let gone = "arc, pairs: not checked by `grid::pairs`";
        assert_eq!(stale_published(&text, &[]), [gone]);
    }

    #[test]
    fn a_tolerance_of_a_test_s_own_is_an_error() {
        let file = |text: &str| [("tests/domains/x.rs".to_owned(), text.to_owned())];
        assert_eq!(unrecorded_tolerances(&file("within(a, b, 1e-9)")), Ok(()));
        let error = unrecorded_tolerances(&file("\n(a - b).abs() <= 1e-9"));
        assert!(error.is_err_and(|error| error.starts_with("tests/domains/x.rs:2: ")));
    }

    #[test]
    fn a_line_of_a_test_that_did_not_run_is_told() {
        let list = "    line(\"grid::pairs\", GRID),\n    line(\"grid::gone\", GRID),\n";
        let files = [("x/coverage.rs".to_owned(), list.to_owned())];
        let records = [call("grid::pairs", &["a"], &[], "1e-15")];
        assert_eq!(lines_without_test(&files, &records), ["grid::gone"]);
    }

    #[test]
    fn the_source_is_of_the_first_line_or_of_the_document() {
        let about = r#"{"_about": {"source": "by hand"}}"#;
        assert_eq!(source(&format!("{about}\n{{\"id\": 1}}\n")), "by hand\n");
        assert_eq!(
            source("{\n\"_about\":\n{\"source\": \"by hand\"}}"),
            "by hand\n"
        );
        assert_eq!(source("{\"id\": 1}\n"), "\n");
    }
}
