//! ARCHITECTURE.md names each module of each crate, and only modules and tests that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::sources::assert_none;

/// The start of the heading under which the modules of a crate are listed.
const CRATE: &str = "### crates/";

#[test]
fn each_module_is_on_the_map() {
    assert_none(&differences(&page(), &crates()));
}

#[test]
fn tests_that_are_named_exist() {
    let root = root();
    let source = |path: &str| fs::read_to_string(root.join(path)).ok();
    let findings = unknown_tests(&page(), source);
    assert_none(&findings);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page in the root")
}

/// The modules of a crate, by its name.
type Crates = BTreeMap<String, BTreeSet<String>>;

/// Returns the crates of the workspace with the modules that lie directly in their sources.
fn crates() -> Crates {
    let folder = root().join("crates");
    let modules = |name: &String| modules(&folder.join(name).join("src"));
    let names = names(&folder).into_iter();
    names.map(|name| (name.clone(), modules(&name))).collect()
}

fn modules(sources: &Path) -> BTreeSet<String> {
    let name = |file: String| match file.split_once('.') {
        None => Some(file),
        Some((name, "rs")) => Some(name.to_owned()),
        Some(_) => None,
    };
    let modules = names(sources).into_iter().filter_map(name);
    modules
        .filter(|name| !["lib", "main"].contains(&name.as_str()))
        .collect()
}

/// The names of what is in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("a name in UTF-8");
    entries
        .map(|entry| name(entry.expect("an entry of a folder")))
        .collect()
}

/// Returns the crates and modules that the page does not name, and those that it lists and that do not exist.
///
/// The modules of a crate are listed under its heading. A line of the list starts with the names of modules, up to a
/// colon; a module may also be named in the text after it.
fn differences(page: &str, crates: &Crates) -> Vec<String> {
    let sections: BTreeMap<&str, &str> = page.split(CRATE).skip(1).map(section).collect();
    let mut findings = Vec::new();
    for name in sections.keys() {
        if !crates.contains_key(*name) {
            findings.push(format!("{name}: no such crate"));
        }
    }
    for (name, modules) in crates {
        let Some(text) = sections.get(name.as_str()) else {
            findings.push(format!("{name}: not on the map"));
            continue;
        };
        let named: BTreeSet<&str> = spans(text).collect();
        let missing = modules.iter().filter(|it| !named.contains(it.as_str()));
        findings.extend(missing.map(|module| format!("{name}: {module} is not on the map")));
        let unknown = item_names(text).filter(|it| !modules.contains(*it));
        findings.extend(unknown.map(|module| format!("{name}: no module {module}")));
    }
    findings
}

/// The name of the crate in a heading, and the text up to the next heading.
fn section(text: &str) -> (&str, &str) {
    let (name, text) = text.split_once('\n').unwrap_or((text, ""));
    let end = text.find("\n#").unwrap_or(text.len());
    (name, &text[..end])
}

/// The names at the start of the lines of a list.
fn item_names(section: &str) -> impl Iterator<Item = &str> {
    let items = section.lines().filter_map(|line| line.strip_prefix("- "));
    items.flat_map(|item| spans(item.split(':').next().unwrap_or_default()))
}

/// The texts between backticks.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the tests and files in the last cell of the rows of tables that do not exist. `source` reads a file.
///
/// A path names the file in which the tests after it are.
fn unknown_tests(page: &str, source: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut findings = Vec::new();
    let rows = page.lines().filter(|line| line.starts_with('|'));
    for row in rows {
        let cell = row.trim_end_matches('|').rsplit('|').next();
        let mut file = None;
        for span in spans(cell.unwrap_or_default()) {
            if span.ends_with(".rs") {
                let text = source(span);
                if text.is_none() {
                    findings.push(format!("{span}: no such file"));
                }
                file = Some((span, text.unwrap_or_default()));
            } else if let Some((path, text)) = &file
                && is_name(span)
                && !text.contains(&format!("fn {span}("))
            {
                findings.push(format!("{path}: no test {span}"));
            }
        }
    }
    findings
}

/// Whether a text may be the name of a test. Commands and folders are not.
fn is_name(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.chars().all(is_part)
}

#[test]
fn a_map_that_differs_is_found() {
    let modules = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let crates = Crates::from([
        ("metric-a".to_owned(), modules(&["one", "two", "three"])),
        ("metric-b".to_owned(), modules(&[])),
    ]);
    let good = "### crates/metric-a\n\n- `one`, `two`: with `three` and `Type`.\n\n### crates/metric-b\n\nNone.\n## More\n\n- `four`: here.\n";
    assert_eq!(differences(good, &crates), [""; 0]);
    for (from, to, expected) in [
        ("`three`", "three", "metric-a: three is not on the map"),
        ("`one`,", "`one`, `five`,", "metric-a: no module five"),
        ("metric-b", "metric-c", "metric-c: no such crate"),
    ] {
        let found = differences(&good.replace(from, to), &crates);
        assert!(found.contains(&expected.to_owned()), "{found:?}");
    }
    let found = differences("", &crates);
    assert_eq!(
        found,
        ["metric-a: not on the map", "metric-b: not on the map"]
    );
}

#[test]
fn tests_that_do_not_exist_are_found() {
    let source = |path: &str| (path == "tests/a.rs").then(|| "fn one() {}\n".to_owned());
    for (row, expected) in [
        ("| `two` | `tests/a.rs`: `one` |", &[][..]),
        (
            "| - | `tests/a.rs`: `one`, `two` |",
            &["tests/a.rs: no test two"],
        ),
        ("| - | `tests/b.rs` |", &["tests/b.rs: no such file"]),
        (
            "| - | `tests/a.rs`: `one`; `cargo xtask attack`; `fuzz/` |",
            &[],
        ),
        ("`tests/b.rs`", &[]),
    ] {
        assert_eq!(unknown_tests(row, source), expected, "{row}");
    }
}
