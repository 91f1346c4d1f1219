use crate::run::cargo;

pub(crate) const HELP: &str = "\
Runs the benchmarks of all crates, or those whose path contains FILTER, such as graph/mapdr.
Arguments after the filter go to criterion, for example: cargo xtask bench text --quick";

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let mut words = WORDS.to_vec();
    words.extend(arguments.iter().map(String::as_str));
    cargo(&words, &[])
}

/// Runs the benchmarks; what follows goes to criterion. Those of the program stand beside it,
/// where cargo tells them its path.
pub(crate) const WORDS: &[&str] = &[
    "bench",
    "-p",
    "benches",
    "-p",
    "metric-cli",
    "--benches",
    "--",
];
