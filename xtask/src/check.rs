use crate::packages::{self, Package};
use crate::run::{Error, WITHOUT_PYTHON, cargo, no_arguments};
use crate::steps::Steps;
use crate::{bench, deny, golden, prose};

pub(crate) const HELP: &str = "\
Runs all checks except the tests.
Format, prose, lints, documentation, features, fuzz targets, licenses, golden table, benchmarks.
Warnings are errors. metric-registry and metric-suite are also linted with single features: those
that switch on another crate of the workspace. Each benchmark runs once, which checks its result.
tests/GOLDEN.md must match what the tests print. Prints the minutes of each step.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    no_arguments(arguments)?;
    let mut all = Steps::default();
    steps(&mut all)?;
    all.print();
    Ok(())
}

pub(crate) fn steps(steps: &mut Steps) -> Result<(), Error> {
    steps.run("format", || cargo(&["fmt", "--all", "--check"], &[]))?;
    steps.run("prose", prose::check)?;
    steps.run("lints", || {
        let all = ["--workspace", "--all-targets", "--all-features"];
        lint(&[&all, WITHOUT_PYTHON].concat(), &[])
    })?;
    steps.run("documentation", || {
        let doc = ["doc", "--workspace", "--no-deps", "--all-features"];
        cargo(
            &[&doc, WITHOUT_PYTHON].concat(),
            &[("RUSTDOCFLAGS", "-D warnings")],
        )
    })?;
    for package in packages::publishable()? {
        let features = switches(&package);
        // Crates with one such feature are linted with and without it as parts of the others.
        if features.len() > 1 {
            let name = &package.name;
            steps.run(&format!("features of {name}"), || alone(name, &features))?;
        }
    }
    steps.run("fuzz targets", || {
        let fuzz = ["--manifest-path", "fuzz/Cargo.toml"];
        cargo(&[&["fmt"], &fuzz[..], &["--check"]].concat(), &[])?;
        // Where its library is not built, neither a C++ compiler nor nightly Rust is needed.
        let variables = [("CUSTOM_LIBFUZZER_PATH", "./none")];
        lint(&[&["--locked"], &fuzz[..]].concat(), &variables)
    })?;
    steps.run("licenses", || deny::run(&[]))?;
    steps.run("golden table", || golden::run(&["--check".to_owned()]))?;
    // Without optimization across crates: it takes long and does not change results.
    steps.run("benchmarks", || {
        let bench = ["bench", "--profile", "release"];
        cargo(&[&bench, bench::WORDS, &["--test"]].concat(), &[])
    })
}

/// Lints what these arguments choose; a warning is an error.
fn lint(arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    let strict = ["--", "-D", "warnings"];
    cargo(&[&["clippy"], arguments, &strict].concat(), variables)
}

/// The features of a crate that switch on another crate of the workspace each.
fn switches(package: &Package) -> Vec<&str> {
    let siblings: Vec<String> = package
        .siblings()
        .map(|name| format!("dep:{name}"))
        .collect();
    let features = package.features.iter();
    let switches = features.filter(|(_, means)| means.iter().any(|part| siblings.contains(part)));
    switches.map(|(name, _)| &**name).collect()
}

/// Lints a crate without features, then with each of these alone.
fn alone(name: &str, features: &[&str]) -> Result<(), String> {
    let package = ["-p", name, "--no-default-features"];
    lint(&package, &[])?;
    features
        .iter()
        .try_for_each(|feature| lint(&[&package[..], &["--features", feature]].concat(), &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_switch_on_a_crate_are_checked() {
        let mut package = packages::tests::package("metric-suite", "0.1.0", &["a", "b", "c"]);
        let feature = |name: &str, means: &[&str]| {
            let means = means.iter().map(|&part| part.to_owned()).collect();
            (name.to_owned(), means)
        };
        package.features = [
            feature("default", &["a"]),
            feature("a", &["dep:a"]),
            feature("b", &["dep:b", "c?/b"]),
            feature("json", &["dep:serde_json"]),
            feature("all", &["a?/all"]),
        ]
        .into();
        assert_eq!(switches(&package), ["a", "b"]);
    }
}
