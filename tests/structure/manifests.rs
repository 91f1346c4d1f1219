//! The manifests of published crates have the fields that a registry shows, and inherit the others.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::edges::packages;
use super::sources::assert_none;

/// Lines that each manifest has.
const LINES: &[&str] = &[
    "edition.workspace = true",
    "rust-version.workspace = true",
    "repository.workspace = true",
];

/// The lints of each manifest. One crate allows a module to have unsafe code: it repeats those of the workspace.
const LINTS: &str = "[lints]\nworkspace = true";
const WITH_UNSAFE: (&str, &str) = ("metric-code", "[lints.rust]\nunsafe_code = \"deny\"");

/// How docs.rs builds a library.
const DOCS: &str =
    "[package.metadata.docs.rs]\nall-features = true\nrustdoc-args = [\"--cfg\", \"docsrs\"]";

/// Files in the folder of each crate.
const FILES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// A crate as `cargo metadata` describes it.
#[derive(Deserialize)]
struct Manifest {
    name: String,
    manifest_path: PathBuf,
    description: Option<String>,
    license: Option<String>,
    readme: Option<String>,
    keywords: Vec<String>,
    categories: Vec<String>,
    /// The registries it may be published to: null means any, an empty list means none.
    publish: Option<Vec<String>>,
}

#[test]
fn published_manifests_are_complete() {
    let manifests: Vec<Manifest> = packages();
    let published = manifests.iter().filter(|it| it.publish.is_none());
    let findings: Vec<String> = published
        .flat_map(|manifest| {
            let text = fs::read_to_string(&manifest.manifest_path).expect("a manifest");
            let folder = manifest.manifest_path.parent().unwrap_or(Path::new("."));
            let missing = FILES.iter().filter(|file| {
                fs::read_to_string(folder.join(file)).is_ok_and(|text| text.trim().is_empty())
                    || !folder.join(file).is_file()
            });
            let mut findings = problems(manifest, &text, folder.join("src/lib.rs").is_file());
            findings.extend(missing.map(|file| format!("{}: no {file}", manifest.name)));
            findings
        })
        .collect();
    assert_none(&findings);
}

/// The fields that are missing.
fn problems(manifest: &Manifest, text: &str, is_library: bool) -> Vec<String> {
    let given = |field: &Option<String>| field.as_ref().is_some_and(|text| !text.is_empty());
    let some = |list: &[String]| (1..=5).contains(&list.len());
    let lints = if manifest.name == WITH_UNSAFE.0 {
        WITH_UNSAFE.1
    } else {
        LINTS
    };
    let mut fields = vec![
        ("a description", given(&manifest.description)),
        ("a license", given(&manifest.license)),
        ("a readme", given(&manifest.readme)),
        ("1 to 5 keywords", some(&manifest.keywords)),
        ("1 to 5 categories", some(&manifest.categories)),
        (lints, text.contains(lints)),
        (DOCS, text.contains(DOCS) || !is_library),
    ];
    let has_line = |wanted: &str| text.lines().any(|line| line.trim() == wanted);
    fields.extend(LINES.iter().map(|line| (*line, has_line(line))));
    let missing = fields.iter().filter(|(_, is_there)| !is_there);
    missing
        .map(|(wanted, _)| format!("{}: expected {wanted}", manifest.name))
        .collect()
}

#[test]
fn each_field_that_is_missing_is_found() {
    let text = [&LINES.join("\n"), LINTS, DOCS].join("\n\n");
    let some = || Some("text".to_owned());
    let good = || Manifest {
        name: "metric-grid".to_owned(),
        manifest_path: PathBuf::new(),
        description: some(),
        license: some(),
        readme: some(),
        keywords: vec!["grids".to_owned()],
        categories: vec!["science".to_owned()],
        publish: None,
    };
    assert_eq!(problems(&good(), &text, true), [""; 0]);
    let breaks: [fn(&mut Manifest); 5] = [
        |it| it.description = None,
        |it| it.license = Some(String::new()),
        |it| it.readme = None,
        |it| it.keywords.clear(),
        |it| it.categories = vec![String::new(); 6],
    ];
    for (number, break_it) in breaks.iter().enumerate() {
        let mut manifest = good();
        break_it(&mut manifest);
        assert_eq!(problems(&manifest, &text, true).len(), 1, "{number}");
    }
    for part in [LINES[0], LINES[1], LINES[2], LINTS, DOCS] {
        let without = text.replace(part, "");
        let expected = [format!("metric-grid: expected {part}")];
        assert_eq!(problems(&good(), &without, true), expected);
    }
    assert_eq!(problems(&good(), &text.replace(DOCS, ""), false), [""; 0]);
    let mut code = good();
    code.name = WITH_UNSAFE.0.to_owned();
    assert_eq!(problems(&code, &text, true).len(), 1);
}
