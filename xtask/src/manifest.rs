//! The fields that the manifest of a published crate must have.

use std::fs;

use crate::packages::Package;

/// The crates in which one reviewed module has `unsafe`. They repeat the lints of the workspace, which
/// forbids it.
const WITH_UNSAFE: [&str; 1] = ["metric-code"];

/// Their value.
const UNSAFE_LINT: &str = "[lints.rust]\nunsafe_code = \"deny\"";

/// The errors of a crate, each with the field.
pub(crate) fn problems(package: &Package) -> Vec<String> {
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    let manifest = text(package.manifest_path.clone());
    let mut problems = of_fields(package, &manifest);
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        if text(package.folder().join(file)).trim().is_empty() {
            problems.push(format!("{file}: not there, or empty"));
        }
    }
    problems
}

fn of_fields(package: &Package, manifest: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let given = |field: &Option<String>| field.as_ref().is_some_and(|text| !text.is_empty());
    for (field, is_given, wanted) in [
        ("description", given(&package.description), "a sentence"),
        ("license", given(&package.license), "an SPDX expression"),
        ("repository", given(&package.repository), "the address"),
        (
            "rust-version",
            given(&package.rust_version),
            "the workspace's",
        ),
        ("readme", package.readme.is_some(), "README.md"),
        (
            "keywords",
            (1..=5).contains(&package.keywords.len()),
            "1 to 5",
        ),
        (
            "categories",
            (1..=5).contains(&package.categories.len()),
            "1 to 5",
        ),
    ] {
        if !is_given {
            problems.push(format!("{field}: expected {wanted}"));
        }
    }
    for line in ["edition", "rust-version", "repository"] {
        let inherited = format!("{line}.workspace = true");
        if !manifest.lines().any(|line| line.trim() == inherited) {
            problems.push(format!("{line}: expected `{inherited}`"));
        }
    }
    let has_unsafe = WITH_UNSAFE.contains(&&*package.name) && manifest.contains(UNSAFE_LINT);
    if !has_unsafe && !manifest.contains("[lints]\nworkspace = true") {
        problems.push("lints: expected `workspace = true`".to_owned());
    }
    let docs =
        "[package.metadata.docs.rs]\nall-features = true\nrustdoc-args = [\"--cfg\", \"docsrs\"]";
    if package.is_library() && !manifest.contains(docs) {
        problems
            .push("package.metadata.docs.rs: expected all features and --cfg docsrs".to_owned());
    }
    for dependency in package.dependencies.iter().filter(|d| d.path.is_some()) {
        let (name, versioned) = (&dependency.name, dependency.req != "*");
        match (dependency.kind.as_deref(), versioned) {
            (Some("dev"), true) => problems.push(format!(
                "dev-dependencies.{name}: expected a path only, a version must be published first"
            )),
            (Some("dev"), false) | (_, true) => {}
            (_, false) => problems.push(format!("dependencies.{name}: expected a version")),
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::{self, Dependency};

    #[test]
    fn every_published_crate_follows_the_rules() {
        std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).expect("the root");
        let packages = packages::publishable().expect("the crates");
        assert!(packages.len() > 5);
        let problems = packages.iter().flat_map(|package| {
            let name = &package.name;
            problems(package)
                .into_iter()
                .map(move |problem| format!("{name}: {problem}"))
        });
        assert_eq!(problems.collect::<Vec<_>>(), [""; 0]);
    }

    const GOOD: &str = "\
edition.workspace = true
rust-version.workspace = true
repository.workspace = true

[package.metadata.docs.rs]
all-features = true
rustdoc-args = [\"--cfg\", \"docsrs\"]

[lints]
workspace = true
";

    fn good() -> Package {
        let some = |text: &str| Some(text.to_owned());
        Package {
            description: some("Grids"),
            license: some("MIT"),
            repository: some("https://example.org"),
            rust_version: some("1.88"),
            readme: Some("README.md".into()),
            keywords: vec!["grids".to_owned()],
            categories: vec!["science".to_owned()],
            ..packages::tests::package("metric-grid", "0.1.0", &["metric-core"])
        }
    }

    #[test]
    fn each_rule_names_its_field() {
        assert_eq!(of_fields(&good(), GOOD), [""; 0]);
        type Break = (&'static str, fn(&mut Package));
        let broken: &[Break] = &[
            ("description: ", |package| package.description = None),
            ("license: ", |package| package.license = None),
            ("repository: ", |package| package.repository = None),
            ("rust-version: ", |package| package.rust_version = None),
            ("readme: ", |package| package.readme = None),
            ("keywords: ", |package| package.keywords.clear()),
            ("categories: ", |package| package.categories.clear()),
            ("dependencies.metric-core: ", |package| {
                package.dependencies[0].req = "*".to_owned();
            }),
            ("dev-dependencies.metric-text: ", |package| {
                package.dependencies.push(Dependency {
                    name: "metric-text".to_owned(),
                    req: "^0.1.0".to_owned(),
                    kind: Some("dev".to_owned()),
                    path: Some("/x".into()),
                });
            }),
        ];
        for (field, breaks) in broken {
            let mut package = good();
            breaks(&mut package);
            let problems = of_fields(&package, GOOD);
            assert_eq!(problems.len(), 1, "{field}{problems:?}");
            assert!(problems[0].starts_with(field), "{field}{problems:?}");
        }
        for (field, line) in [
            ("edition: ", "edition.workspace = true"),
            ("rust-version: ", "rust-version.workspace = true"),
            ("lints: ", "[lints]\nworkspace = true"),
            ("package.metadata.docs.rs: ", "all-features = true"),
        ] {
            let problems = of_fields(&good(), &GOOD.replace(line, ""));
            assert!(
                problems.len() == 1 && problems[0].starts_with(field),
                "{problems:?}"
            );
        }
    }
}
