use crate::bench;
use crate::run::cargo;

pub(crate) const HELP: &str = "\
What stands beside the tests: format, lints, documentation, features, benchmarks.
Warnings are errors. Each feature of metric-suite is built alone, with and without the registry;
each benchmark runs once, which checks its result.";

/// The features of metric-suite that switch on a crate each.
const FEATURES: &[&str] = &["class", "graph", "grid", "text", "vision"];

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
    for feature in FEATURES {
        for features in [(*feature).to_owned(), format!("{feature},registry")] {
            cargo(&[&alone[..], &[&features], &strict[..]].concat(), &[])?;
        }
    }
    cargo(&[bench::WORDS, &["--test"]].concat(), &[])
}
