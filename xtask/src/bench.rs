use crate::run::cargo;

pub(crate) const HELP: &str = "\
Runs the benchmarks of all crates, or those whose path contains FILTER, such as graph/mapdr.
Arguments after the filter go to criterion, for example: cargo xtask bench text --quick";

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let mut words = vec!["bench", "--package", "benches", "--benches", "--"];
    words.extend(arguments.iter().map(String::as_str));
    cargo(&words, &[])
}
