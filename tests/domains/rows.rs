//! Reads golden rows and runs a check over each.

#![allow(clippy::panic, clippy::print_stdout, reason = "a test reports by both")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::coverage::{COVERAGE, Line};

/// The rows that a test has read and allowed so far. A test has a thread of its own.
#[derive(Default)]
struct Seen {
    files: BTreeSet<String>,
    tolerances: BTreeSet<String>,
}

thread_local! {
    static SEEN: RefCell<Seen> = RefCell::default();
}

/// The folder of the published rows and, unless `GOLDEN_ROWS=published`, the one next to the
/// project with all rows, if it exists.
pub(crate) fn folders() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("golden")];
    if std::env::var_os("GOLDEN_ROWS").is_none_or(|which| which != "published") {
        folders.push(here.join("../../shared/golden"));
    }
    folders
}

/// The copies of `file` that are here.
fn copies(file: &str) -> Vec<PathBuf> {
    SEEN.with_borrow_mut(|seen| seen.files.insert(file.to_owned()));
    folders()
        .into_iter()
        .map(|folder| folder.join(file))
        .filter(|path| path.is_file())
        .collect()
}

/// The distance of a number from another one, or from 0.
#[expect(
    clippy::disallowed_methods,
    reason = "those who compare it record the tolerance"
)]
pub(crate) fn distance(a: f64, b: f64) -> f64 {
    (a - b).abs()
}

/// Whether two numbers are so near; the table of all tests says how near they had to be.
pub(crate) fn within(ours: f64, expected: f64, tolerance: f64) -> bool {
    if tolerance > 0.0 {
        allow(format!("{tolerance:e}"));
    }
    distance(ours, expected) <= tolerance
}

/// The same with a tolerance that is a multiple: of what, `scale` says in words.
pub(crate) fn within_scaled(ours: f64, expected: f64, tolerance: f64, scale: (f64, &str)) -> bool {
    allow(format!("{tolerance:e} × {}", scale.1));
    distance(ours, expected) <= tolerance * scale.0
}

fn allow(tolerance: String) {
    SEEN.with_borrow_mut(|seen| seen.tolerances.insert(tolerance));
}

/// One whole JSON file, in each copy that is here.
pub(crate) fn documents(file: &str) -> Vec<Value> {
    let copies = copies(file);
    assert!(!copies.is_empty(), "no golden file {file}");
    copies
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).expect("a readable golden file");
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        })
        .collect()
}

/// The rows of a JSON Lines file, in each copy that is here, without the line that says where the
/// rows are from.
pub(crate) fn rows(file: &str) -> Vec<Value> {
    let rows = unpublished_rows(file);
    assert!(!rows.is_empty(), "no golden file {file}");
    rows
}

/// The same of a file that may not be published: no rows where `../shared` is not there.
pub(crate) fn unpublished_rows(file: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    for path in copies(file) {
        let text = std::fs::read_to_string(&path).expect("a readable golden file");
        let before = rows.len();
        for (number, line) in text.lines().enumerate() {
            let row: Value = serde_json::from_str(line)
                .unwrap_or_else(|e| panic!("{}:{}: {e}", path.display(), number + 1));
            if row.get("_about").is_none() {
                rows.push(row);
            }
        }
        assert!(rows.len() > before, "{}: no rows", path.display());
    }
    rows
}

/// A row where we differ from the reference on purpose: its name, the reason, and what the failed
/// check must say, so that the row cannot fail in another way unseen.
pub(crate) type Deviation = (&'static str, &'static str, &'static str);

/// Checks every row, and records which; `name` tells rows apart in the report.
pub(crate) fn check(
    rows: &[Value],
    name: impl Fn(&Value) -> String,
    deviations: &[Deviation],
    check: impl Fn(&Value) -> Result<(), String>,
) {
    check_rows(rows, &name, deviations, check);
    record(rows.iter().map(name).collect(), deviations);
}

/// Checks every row.
///
/// Fails with all rows that fail, and with a listed deviation that agrees after all or differs in
/// another way.
pub(crate) fn check_rows(
    rows: &[Value],
    name: impl Fn(&Value) -> String,
    deviations: &[Deviation],
    check: impl Fn(&Value) -> Result<(), String>,
) {
    assert!(!rows.is_empty(), "no rows to check");
    let mut failures = Vec::new();
    for row in rows {
        let name = name(row);
        let listed = deviations.iter().find(|(listed, ..)| *listed == name);
        match (check(row), listed) {
            (Ok(()), None) => {}
            (Err(error), Some((.., says))) if error.contains(says) => {}
            (Err(error), _) => failures.push(format!("{name}: {error}")),
            (Ok(()), Some((_, reason, _))) => {
                failures.push(format!("{name}: agrees now, but is a deviation ({reason})"));
            }
        }
    }
    for (listed, ..) in deviations {
        assert!(
            rows.iter().any(|row| name(row) == *listed),
            "no row {listed} for a listed deviation"
        );
    }
    let total = failures.len();
    failures.truncate(20);
    assert!(
        total == 0,
        "{total} of {} rows:\n{}",
        rows.len(),
        failures.join("\n")
    );
    println!(
        "{} rows, {} listed deviations",
        rows.len(),
        deviations.len()
    );
}

/// What the first line of a file says of its rows.
pub(crate) fn about(file: &str) -> Value {
    let path = copies(file).into_iter().next();
    let path = path.unwrap_or_else(|| panic!("no golden file {file}"));
    let text = std::fs::read_to_string(path).expect("a readable golden file");
    let first: Value = serde_json::from_str(text.lines().next().unwrap_or_default()).expect("JSON");
    first["_about"].clone()
}

/// Appends what a test has checked to the file `GOLDEN_RECORD`, for `cargo xtask golden`. A test that
/// checks rows in a way of its own calls it itself.
pub(crate) fn record(rows: BTreeSet<String>, deviations: &[Deviation]) {
    let thread = std::thread::current();
    let test = thread.name().expect("tests have named threads");
    let covered: Vec<_> = COVERAGE.iter().filter(|line| line.test == test).collect();
    assert!(
        !covered.is_empty(),
        "tests/domains/coverage.rs has no line of {test}"
    );
    record_lines(&covered, rows, deviations);
}

/// Forgets what this test has read and allowed so far.
pub(crate) fn start() {
    SEEN.take();
}

/// The same of a test that says itself what its rows cover.
pub(crate) fn record_lines(
    covered: &[&Line<'_>],
    rows: BTreeSet<String>,
    deviations: &[Deviation],
) {
    let (tolerances, files) =
        SEEN.with_borrow(|seen| (seen.tolerances.clone(), seen.files.clone()));
    let named = sources(&files);
    for program in covered.iter().flat_map(|line| line.against) {
        assert!(
            named.is_empty() || named.contains(program),
            "{}: {program}: not among the sources that its files name: {named}",
            covered[0].test
        );
    }
    let Some(file) = std::env::var_os("GOLDEN_RECORD") else {
        return;
    };
    let deviations: Vec<_> = deviations
        .iter()
        .map(|(row, reason, _)| [row, reason])
        .collect();
    let mut lines = String::new();
    for line in covered {
        let line = json!({
            "crate": line.of,
            "metric": line.metric,
            "profile": line.profile,
            "against": line.against,
            "test": line.test,
            "rows": rows,
            "deviations": deviations,
            "tolerances": tolerances,
        });
        lines.push_str(&format!("{line}\n"));
    }
    let file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(file);
    let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
    written.expect("a record that can be written");
}

/// The programs that the published files name as the sources of their rows: `_about` of the first line, or of the
/// document.
fn sources(files: &BTreeSet<String>) -> String {
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let texts = files
        .iter()
        .filter_map(|file| std::fs::read_to_string(published.join(file)).ok());
    let sources = texts.filter_map(|text| {
        let first = text.lines().next().unwrap_or_default();
        let about = [first, &text]
            .into_iter()
            .filter_map(|text| serde_json::from_str::<Value>(text).ok())
            .find_map(|value| value.get("_about").cloned())?;
        about["source"].as_str().map(str::to_owned)
    });
    sources.collect::<Vec<_>>().join("\n")
}

#[test]
fn each_line_of_the_table_names_a_test() {
    let own = std::env::current_exe().expect("this program");
    let list = std::process::Command::new(own).arg("--list").output();
    let list = String::from_utf8(list.expect("a list of tests").stdout).expect("UTF-8");
    let tests: BTreeSet<&str> = list
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    let unknown = COVERAGE.iter().filter(|line| !tests.contains(line.test));
    let unknown: Vec<&str> = unknown.map(|line| line.test).collect();
    assert_eq!(unknown, [""; 0]);
}

/// `Ok` when equal; otherwise what differs.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    ours: T,
    expected: T,
) -> Result<(), String> {
    if ours == expected {
        Ok(())
    } else {
        Err(format!("{what}: ours {ours:?}, reference {expected:?}"))
    }
}

/// Equal except for the last bits, where the other program adds or divides in another order.
pub(crate) fn near(what: &str, ours: Option<f64>, expected: &Value) -> Result<(), String> {
    let expected = expected.as_f64();
    match (ours, expected) {
        (Some(a), Some(b)) if within(a, b, 1e-12) => Ok(()),
        _ => same(what, ours, expected),
    }
}

/// A field of a row that is text.
pub(crate) fn text<'r>(row: &'r Value, field: &str) -> Result<&'r str, String> {
    row[field].as_str().ok_or_else(|| format!("no {field}"))
}

/// A list of texts in a row.
pub(crate) fn texts(value: &Value) -> Result<Vec<String>, String> {
    serde_json::from_value(value.clone()).map_err(|error| error.to_string())
}

/// The `id` of a row, as text.
pub(crate) fn id(row: &Value) -> String {
    match &row["id"] {
        Value::String(id) => id.clone(),
        other => other.to_string(),
    }
}
