use xtask_common::{Error, WITHOUT_PYTHON, cargo, no_arguments};

use crate::steps::Steps;
use crate::{golden, tools};

pub(crate) const HELP: &str = "\
Runs all checks except the tests.
Format, lints, documentation, features, fuzz targets, licenses, golden table, benchmarks.
Warnings are errors. Each crate is also built without features and with each feature alone. Each benchmark runs once,
which checks its result. tests/GOLDEN.md must match what the tests print. Needs cargo-hack and cargo-deny,
which cargo xtask tools installs. Prints the minutes of each step.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    no_arguments(arguments)?;
    let mut all = Steps::default();
    steps(&mut all)?;
    all.print();
    Ok(())
}

pub(crate) fn steps(steps: &mut Steps) -> Result<(), Error> {
    steps.run("format", || cargo(&["fmt", "--all", "--check"], &[]))?;
    steps.run("lints", || {
        let all = ["clippy", "--workspace", "--all-targets", "--all-features"];
        lint(&[&all, WITHOUT_PYTHON].concat(), &[])
    })?;
    steps.run("documentation", || {
        let doc = ["doc", "--workspace", "--no-deps", "--all-features"];
        cargo(
            &[&doc, WITHOUT_PYTHON].concat(),
            &[("RUSTDOCFLAGS", "-D warnings")],
        )
    })?;
    steps.run("features", features)?;
    steps.run("fuzz targets", || {
        let fuzz = ["--manifest-path", "fuzz/Cargo.toml"];
        cargo(&[&["fmt"], &fuzz[..], &["--check"]].concat(), &[])?;
        // Where its library is not built, neither a C++ compiler nor nightly Rust is needed.
        let variables = [("CUSTOM_LIBFUZZER_PATH", "./none")];
        lint(&[&["clippy", "--locked"], &fuzz[..]].concat(), &variables)
    })?;
    steps.run("licenses", || {
        tools::require("cargo-deny")?;
        let deny = ["deny", "--offline", "check", "licenses", "bans", "sources"];
        cargo(&deny, &[])
    })?;
    steps.run("golden table", || golden::run(&["--check".to_owned()]))?;
    // Without optimization across crates: it takes long and does not change results.
    steps.run("benchmarks", || {
        cargo(&["build", "--release", "-p", "metric-cli"], &[])?;
        let bench = "bench --profile release -p benches --benches -- --test";
        cargo(&bench.split(' ').collect::<Vec<_>>(), &[])
    })
}

/// Lints by these arguments of cargo; a warning is an error.
fn lint(arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    let strict = ["--", "-D", "warnings"];
    cargo(&[arguments, &strict].concat(), variables)
}

/// Features that are not checked alone: sets of others, and all languages of CodeBLEU but Python, as they differ in data
/// alone.
const SKIPPED: &str =
    "default,all-languages,c,c_sharp,cpp,go,java,javascript,php,ruby,rust,typescript";

/// Builds each crate with no feature, with each alone, and with all. A part that only another feature uses is a warning
/// here, and no error.
fn features() -> Result<(), String> {
    tools::require("cargo-hack")?;
    let hack = "hack check --workspace --ignore-private --each-feature --exclude-features";
    let hack: Vec<&str> = hack.split(' ').collect();
    cargo(&[&hack[..], &[SKIPPED]].concat(), &[])
}
