use crate::run::{Error, cargo, no_arguments};
use crate::{bench, deny, golden, packages};

pub(crate) const HELP: &str = "\
Checks what stands beside the tests.
Format, lints, documentation, features, fuzz targets, licences, golden table, benchmarks.
Warnings are errors. Each feature of metric-suite is built alone, with and without the registry;
each benchmark runs once, which checks its result; tests/GOLDEN.md is what the tests say.";

/// The features of metric-suite that switch on a crate each.
fn features() -> Result<Vec<String>, String> {
    let packages = packages::publishable()?;
    let suite = packages
        .iter()
        .find(|package| package.name == "metric-suite");
    let features = suite.into_iter().flat_map(|suite| &suite.features);
    let crates = features.filter(|(name, means)| **means == [format!("dep:metric-{name}")]);
    let crates: Vec<String> = crates.map(|(name, _)| name.clone()).collect();
    match crates.is_empty() {
        true => Err("metric-suite: no features of crates".to_owned()),
        false => Ok(crates),
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    no_arguments(arguments)?;
    let strict = ["--", "-D", "warnings"];
    cargo(&["fmt", "--all", "--check"], &[])?;
    let lint = ["clippy", "--workspace", "--all-targets", "--all-features"];
    cargo(&[&lint[..], &strict[..]].concat(), &[])?;
    cargo(
        &["doc", "--workspace", "--no-deps", "--all-features"],
        &[("RUSTDOCFLAGS", "-D warnings")],
    )?;
    let alone = [
        "clippy",
        "-p",
        "metric-suite",
        "--no-default-features",
        "--features",
    ];
    cargo(&[&alone[..4], &strict[..]].concat(), &[])?;
    cargo(&[&alone[..], &["registry"], &strict[..]].concat(), &[])?;
    for feature in features()? {
        for features in [feature.clone(), format!("{feature},registry")] {
            cargo(&[&alone[..], &[&features], &strict[..]].concat(), &[])?;
        }
    }
    let fuzz = ["--manifest-path", "fuzz/Cargo.toml"];
    cargo(&[&["fmt"], &fuzz[..], &["--check"]].concat(), &[])?;
    // Where its library is not built, neither a compiler of C++ nor nightly Rust is needed.
    cargo(
        &[&["clippy", "--locked"], &fuzz[..], &strict[..]].concat(),
        &[("CUSTOM_LIBFUZZER_PATH", "./none")],
    )?;
    deny::run(&[])?;
    golden::run(&["--check".to_owned()])?;
    Ok(cargo(&[bench::WORDS, &["--test"]].concat(), &[])?)
}
