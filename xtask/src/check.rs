use crate::bench;
use crate::run::cargo;

pub(crate) const HELP: &str = "\
What stands beside the tests: format, lints, documentation, features, benchmarks.
Warnings are errors. Each feature of metric-suite is built alone, with and without the registry;
each benchmark runs once, which checks its result.";

/// The features of metric-suite that switch on a crate each, from its manifest.
fn features() -> Result<Vec<String>, String> {
    let path = "crates/metric-suite/Cargo.toml";
    let manifest = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let crates = manifest.lines().filter_map(|line| {
        let (name, value) = line.split_once(" = ")?;
        (value == format!("[\"dep:metric-{name}\"]")).then(|| name.to_owned())
    });
    let crates: Vec<_> = crates.collect();
    if crates.is_empty() {
        return Err(format!("{path}: no features of crates"));
    }
    Ok(crates)
}

pub(crate) fn run(_arguments: &[String]) -> Result<(), String> {
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
    for feature in features()? {
        for features in [feature.clone(), format!("{feature},registry")] {
            cargo(&[&alone[..], &[&features], &strict[..]].concat(), &[])?;
        }
    }
    cargo(&[bench::WORDS, &["--test"]].concat(), &[])
}
