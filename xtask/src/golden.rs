use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xtask_common::{Error, cargo_output, flag, markdown, no_arguments, print, target};

pub(crate) const HELP: &str = "\
Prints what the golden rows cover, and writes it to tests/GOLDEN.md.
One line per metric and profile: the number of rows, how many of them are published here, the program
that the expected values are from, the tolerance, the deviations. The tests of the golden rows are
run, and say what they check. The same lines are written to tests/GOLDEN.json, as data.
--check writes nothing and fails when one of the files is stale. Rows that may not be published are
next to the repository, in ../shared/golden: without them, the table is of the published rows
and is not written, and --check compares what these rows can tell.";

/// The committed table, from the root.
const TABLE: &str = "tests/GOLDEN.md";

/// The lines of the table as data, which `--check` compares with.
const LINES: &str = "tests/GOLDEN.json";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (check, names) = flag(arguments, "--check")?;
    no_arguments(&names)?;
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let published = record("published")?;
    if !Path::new("../shared/golden").is_dir() {
        eprintln!("../shared/golden is not here: {TABLE} stays, its published rows are compared");
        let lines = coverage(&published, &published);
        if !check {
            print(&document(&lines));
            return Ok(());
        }
        return Ok(fresh(&stale_published(&parse(&read(LINES))?, &lines))?);
    }
    let lines = coverage(&record("all")?, &published);
    let data = serde_json::to_string_pretty(&lines).map_err(|error| error.to_string())? + "\n";
    let files = [(LINES, data), (TABLE, document(&lines))];
    if check {
        let stale = files.iter().filter(|(file, text)| read(file) != *text);
        return Ok(fresh(
            &stale
                .map(|(file, _)| (*file).to_owned())
                .collect::<Vec<_>>(),
        )?);
    }
    for (file, text) in &files {
        std::fs::write(file, text).map_err(|error| format!("{file}: {error}"))?;
    }
    print(&files[1].1);
    Ok(())
}

/// Fails with what is stale.
fn fresh(stale: &[String]) -> Result<(), String> {
    match stale {
        [] => Ok(()),
        stale => Err(format!(
            "stale, run `cargo xtask golden` where all rows are:\n{}",
            stale.join("\n")
        )),
    }
}

/// Reads the lines of the table from their JSON.
fn parse(text: &str) -> Result<Vec<Line>, String> {
    serde_json::from_str(text).map_err(|error| format!("{LINES}: {error}"))
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
    let tests = "test --workspace --exclude metric-python --exclude benches --all-features --test golden --quiet";
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    /// The crate that the rows check.
    #[serde(rename = "crate")]
    of: String,
    metric: String,
    profile: String,
    rows: usize,
    published: usize,
    against: Vec<String>,
    /// Numbers, each with its scale if it has one, as in `1e-12 × max(1, value)`.
    tolerances: BTreeSet<String>,
    /// Row and reason.
    deviations: BTreeSet<(String, String)>,
    test: String,
}

impl Line {
    /// Whether two lines are of the same metric, profile and test.
    fn is_of(&self, other: &Self) -> bool {
        let key =
            |line: &Self| [&line.of, &line.metric, &line.profile, &line.test].map(String::clone);
        key(self) == key(other)
    }
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
Metrics and profiles without a program are checked against arithmetic, or against an independent implementation.

Written by `cargo xtask golden` from what the tests of `tests/golden.rs` check; a metric and profile
has its line in `tests/domains/coverage.rs`, or a file in `tests/golden/metrics`.
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

/// Returns the committed lines that the published rows contradict: by their number, by a tolerance or a deviation that
/// is not among them, or because nothing checks the line.
fn stale_published(committed: &[Line], lines: &[Line]) -> Vec<String> {
    let known = |line: &&Line| {
        let mut same = committed.iter().filter(|known| known.is_of(line));
        same.any(|known| {
            known.published == line.published
                && known.against == line.against
                && known.tolerances.is_superset(&line.tolerances)
                && known.deviations.is_superset(&line.deviations)
        })
    };
    let stale = lines.iter().filter(|line| !known(line)).map(|line| {
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
    let is_checked = |known: &Line| lines.iter().any(|line| line.is_of(known));
    let gone = committed
        .iter()
        .filter(|known| known.published > 0 && !is_checked(known));
    let gone = gone.map(|line| {
        format!(
            "{}, {}: not checked by {}",
            line.metric, line.profile, line.test
        )
    });
    stale.chain(gone).collect()
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
        let row = text.lines().find(|line| line.starts_with("| arc"));
        let expected =
            "| arc | pairs | 3 | 1 | arcsolver 0.0.11 | 1e-12, 1e-15 | 1 | `grid::pairs` |";
        let cells = |line: &str| {
            line.split('|')
                .map(|cell| cell.trim().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(row.map(cells), Some(cells(expected)));
        let json = serde_json::to_string(&lines).expect("JSON");
        assert_eq!(parse(&json).as_deref(), Ok(&lines[..]));
    }

    #[test]
    fn stale_lines_are_told() {
        let lines = |published: &[Record]| {
            let all = [
                call("grid::pairs", &["a", "b"], &[("b", "why")], "1e-15"),
                call("grid::pairs", &["b", "c"], &[], "1e-12"),
            ];
            coverage(&all, published)
        };
        let committed = lines(&[call("grid::pairs", &["a"], &[], "1e-15")]);
        assert_eq!(stale_published(&committed, &committed), [""; 0]);
        let more = lines(&[call("grid::pairs", &["a", "b"], &[], "1e-15")]);
        let expected =
            "arc, pairs: 2 published rows by grid::pairs, tolerance 1e-12, 1e-15, 1 deviations";
        assert_eq!(stale_published(&committed, &more), [expected]);

        // Published rows alone, then a greater tolerance, another deviation, and a test that was removed.
        let alone = |deviations, tolerance| {
            let rows = [call("grid::pairs", &["a"], deviations, tolerance)];
            stale_published(&committed, &coverage(&rows, &rows))
        };
        assert_eq!(alone(&[], "1e-15"), [""; 0]);
        assert_eq!(alone(&[], "1e-3").len(), 1);
        assert_eq!(alone(&[("a", "why")], "1e-15").len(), 1);
        let gone = "arc, pairs: not checked by grid::pairs";
        assert_eq!(stale_published(&committed, &[]), [gone]);
    }
}
