//! Which crates of the workspace may depend on which.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::sources::assert_none;

/// Each crate, and the crates it may depend on. One that ends in `?` must be an optional
/// dependency. A crate of this table need not exist, but each crate that exists is in it.
const ALLOWED: &[(&str, &[&str])] = &[
    ("metric-core", &[]),
    ("metric-record", &[]),
    ("metric-grid", LEAF),
    ("metric-class", LEAF),
    ("metric-text", LEAF),
    ("metric-code", LEAF),
    ("metric-graph", LEAF),
    ("metric-vision", LEAF),
    ("metric-stats", &["metric-core"]),
    ("metric-report", &[]),
    (
        "metric-registry",
        &[
            "metric-core",
            "metric-record",
            "metric-grid",
            "metric-class",
            "metric-text",
            "metric-code",
            "metric-graph",
            "metric-vision",
            "metric-stats",
            "metric-report?",
        ],
    ),
    (
        "metric-run",
        &["metric-record", "metric-registry", "metric-report?"],
    ),
    ("metric-cli", &["metric-run", "metric-report"]),
    // The drop-in modules need parts of metrics, such as alignments.
    (
        "metric-python",
        &[
            "brotli",
            "metric-core",
            "metric-code",
            "metric-text",
            "metric-vision",
            "metric-run",
            "metric-report",
        ],
    ),
    (
        "metric-suite",
        &[
            "metric-core",
            "metric-record",
            "metric-grid",
            "metric-class",
            "metric-text",
            "metric-code",
            "metric-graph",
            "metric-vision",
            "metric-stats",
            "metric-report",
            "metric-registry",
            "metric-run",
        ],
    ),
    // Takes the place of a crate of this name.
    ("brotli", &[]),
    // These see every crate, as dev-dependencies, and nothing depends on them.
    ("tests", &[]),
    ("benches", &[]),
    ("xtask", &["xtask-common"]),
    ("xtask-attack", &["xtask-common"]),
    ("xtask-bench", &["xtask-common"]),
    ("xtask-common", &[]),
    ("xtask-prose", &["xtask-common"]),
];

/// The dependencies that the crates with the metrics of one domain may have.
const LEAF: &[&str] = &["metric-core", "metric-record?"];

#[test]
fn crates_depend_on_what_the_table_allows() {
    assert_none(&forbidden_edges(&workspace()));
}

#[test]
fn published_crates_have_no_dev_dependency_on_a_sibling() {
    assert_none(&sibling_dev_dependencies(&workspace()));
}

/// Returns the dependencies between crates of the workspace that the table does not allow, and the
/// crates that are not in the table.
fn forbidden_edges(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages {
        let row = ALLOWED.iter().find(|(name, _)| *name == package.name);
        let Some((_, allowed)) = row else {
            findings.push(format!("{}: not in the table", package.name));
            continue;
        };
        for dependency in package.siblings(packages).filter(|it| !it.is_dev()) {
            let Dependency { name, optional, .. } = dependency;
            let is_allowed =
                |to: &&str| to == name || (*optional && to.strip_suffix('?') == Some(name));
            if !allowed.iter().any(is_allowed) {
                let kind = if *optional { " (optional)" } else { "" };
                findings.push(format!("{} -> {name}{kind}", package.name));
            }
        }
    }
    findings
}

/// Returns the dev-dependencies of published crates on other crates of the workspace. Tests that
/// need several crates belong to the package `tests`.
fn sibling_dev_dependencies(packages: &[Package]) -> Vec<String> {
    let published = packages.iter().filter(|package| package.is_published());
    let findings = published.flat_map(|package| {
        let siblings = package.siblings(packages).filter(|it| it.is_dev());
        siblings.map(|dependency| format!("{} -> {} (dev)", package.name, dependency.name))
    });
    findings.collect()
}

/// A crate as `cargo metadata` describes it.
#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
    /// The registries it may be published to: null means any, an empty list means none.
    publish: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Dependency {
    /// The name of the package, even where the dependency is renamed.
    name: String,
    /// Null, `dev` or `build`.
    kind: Option<String>,
    optional: bool,
}

impl Package {
    /// The dependencies that are other crates of the workspace.
    fn siblings<'a>(&'a self, packages: &'a [Self]) -> impl Iterator<Item = &'a Dependency> {
        let names: BTreeSet<&str> = packages.iter().map(|package| &*package.name).collect();
        self.dependencies
            .iter()
            .filter(move |it| it.name != self.name && names.contains(&*it.name))
    }

    fn is_published(&self) -> bool {
        self.publish
            .as_ref()
            .is_none_or(|registries| !registries.is_empty())
    }
}

impl Dependency {
    fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

/// The crates of the workspace.
fn workspace() -> Vec<Package> {
    packages()
}

/// Returns each crate of the workspace, with the fields of `cargo metadata` that a type has.
pub(crate) fn packages<P: DeserializeOwned>() -> Vec<P> {
    #[derive(Deserialize)]
    struct Metadata<P> {
        packages: Vec<P>,
    }

    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args("metadata --no-deps --offline --format-version 1".split(' '))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {errors}");
    let metadata: Metadata<P> = serde_json::from_slice(&output.stdout).expect("metadata");
    metadata.packages
}

/// A published crate with these dependencies: `NAME`, `NAME?` if optional, `dev NAME`,
/// `build NAME`.
fn package(name: &str, dependencies: &[&str]) -> Package {
    let dependency = |text: &&str| {
        let (kind, name) = match text.split_once(' ') {
            Some((kind, name)) => (Some(kind.to_owned()), name),
            None => (None, *text),
        };
        Dependency {
            name: name.trim_end_matches('?').to_owned(),
            kind,
            optional: name.ends_with('?'),
        }
    };
    Package {
        name: name.to_owned(),
        dependencies: dependencies.iter().map(dependency).collect(),
        publish: None,
    }
}

/// A workspace with one crate and empty crates of these names.
fn with_siblings(one: Package, names: &[&str]) -> Vec<Package> {
    let others = names.iter().map(|name| package(name, &[]));
    others.chain([one]).collect()
}

#[test]
fn edges_of_the_table_are_allowed() {
    let siblings = ["metric-core", "metric-record", "metric-report", "tests"];
    for (name, dependencies) in [
        ("metric-grid", &["metric-core", "serde"][..]),
        ("metric-grid", &["metric-record?", "dev proptest"]),
        (
            "metric-registry",
            &["metric-core?", "metric-record", "metric-report?"],
        ),
        ("tests", &["dev metric-core", "dev metric-report"]),
    ] {
        let packages = with_siblings(package(name, dependencies), &siblings);
        assert_eq!(
            forbidden_edges(&packages),
            [""; 0],
            "{name}: {dependencies:?}"
        );
    }
}

#[test]
fn other_edges_are_refused() {
    let siblings = [
        "metric-class",
        "metric-core",
        "metric-record",
        "metric-report",
        "tests",
    ];
    for (name, dependency, expected) in [
        ("metric-grid", "metric-class", "metric-grid -> metric-class"),
        (
            "metric-grid",
            "metric-class?",
            "metric-grid -> metric-class (optional)",
        ),
        (
            "metric-grid",
            "metric-record",
            "metric-grid -> metric-record",
        ),
        (
            "metric-grid",
            "build metric-class",
            "metric-grid -> metric-class",
        ),
        (
            "metric-stats",
            "metric-record?",
            "metric-stats -> metric-record (optional)",
        ),
        (
            "metric-registry",
            "metric-report",
            "metric-registry -> metric-report",
        ),
        ("metric-run", "metric-class", "metric-run -> metric-class"),
        ("metric-cli", "tests", "metric-cli -> tests"),
        ("tests", "metric-core", "tests -> metric-core"),
        ("metric-new", "serde", "metric-new: not in the table"),
    ] {
        let packages = with_siblings(package(name, &[dependency]), &siblings);
        assert_eq!(forbidden_edges(&packages), [expected]);
    }
}

#[test]
fn a_dev_dependency_on_a_sibling_is_refused() {
    let siblings = ["metric-core", "metric-text"];
    let grid = || package("metric-grid", &["metric-core", "dev metric-text"]);
    let found = sibling_dev_dependencies(&with_siblings(grid(), &siblings));
    assert_eq!(found, ["metric-grid -> metric-text (dev)"]);

    let unpublished = Package {
        publish: Some(Vec::new()),
        ..grid()
    };
    let found = sibling_dev_dependencies(&with_siblings(unpublished, &siblings));
    assert_eq!(found, [""; 0]);
    let other = package("metric-grid", &["metric-core", "dev proptest"]);
    assert_eq!(
        sibling_dev_dependencies(&with_siblings(other, &siblings)),
        [""; 0]
    );
}
