//! Which crates of the workspace may depend on which.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Each crate, and the crates it may depend on: separated by spaces, with `?` if the dependency must be optional.
#[rustfmt::skip]
const ALLOWED: &[(&str, &str)] = &[
    ("metric-core", ""),
    ("metric-record", "metric-core"),
    ("metric-grid", LEAF),
    ("metric-class", LEAF),
    ("metric-number", LEAF),
    ("metric-rank", LEAF),
    ("metric-segmentation", LEAF),
    ("metric-text", LEAF),
    ("metric-code", LEAF),
    ("metric-graph", LEAF),
    ("metric-vision", LEAF),
    ("metric-stats", "metric-core"),
    ("metric-registry", "metric-core metric-record metric-grid metric-class metric-number metric-rank metric-segmentation metric-text metric-code metric-graph \
        metric-vision metric-stats"),
    // Charts and examples of a metric are its result and a few of its own functions, such as alignments.
    ("metric-report", "metric-record? metric-registry? metric-graph? metric-text?"),
    ("metric-run", "metric-record metric-registry"),
    ("metric-judge", "metric-record metric-registry metric-run"),
    ("metric-cli", "metric-run metric-judge metric-report"),
    // The drop-in modules need parts of metrics, such as alignments.
    ("metric-python", "metric-core metric-code metric-rank metric-segmentation metric-text metric-vision metric-run metric-judge metric-report"),
    ("metric-suite", "metric-core metric-record metric-grid metric-class metric-number metric-rank metric-segmentation metric-text metric-code metric-graph \
        metric-vision metric-stats metric-report metric-registry metric-run metric-judge"),
    // These see every crate as dev-dependencies, and nothing depends on them.
    ("tests", ""),
    ("benches", ""),
    ("xtask", "xtask-common"),
    ("xtask-attack", "xtask-common"),
    ("xtask-bench", "xtask-common"),
    ("xtask-common", ""),
];

/// The dependencies of a crate that holds the metrics of one domain.
const LEAF: &str = "metric-core metric-record?";

#[test]
fn crates_depend_on_what_the_table_allows() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args("metadata --no-deps --offline --format-version 1".split(' '))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |it: &Value| it["name"].as_str().expect("a name").to_owned();
    let siblings: Vec<String> = packages.iter().map(name).collect();
    for package in packages {
        let from = name(package);
        let row = ALLOWED.iter().find(|(name, _)| *name == from);
        let (_, allowed) = row.unwrap_or_else(|| panic!("{from} is not in the table"));
        let is_published = package["publish"].is_null();
        for dependency in package["dependencies"].as_array().expect("a list") {
            let to = name(dependency);
            if to == from || !siblings.contains(&to) {
                continue;
            }
            let optional = format!("{to}?");
            let is_allowed =
                |it: &str| it == to || (dependency["optional"] == true && it == optional);
            // A published crate with a development dependency on a sibling cannot be packaged.
            let is_allowed = match dependency["kind"].as_str() {
                Some("dev") => !is_published,
                _ => allowed.split_whitespace().any(is_allowed),
            };
            assert!(
                is_allowed,
                "{from} may not depend on {to} ({})",
                dependency["kind"]
            );
        }
    }
}
