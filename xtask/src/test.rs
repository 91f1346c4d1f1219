use crate::run::{Error, cargo};

pub(crate) const HELP: &str = "\
Runs all tests: unit, property, golden rows, merge laws, the program end to end, doctests.
Arguments go to cargo test, for example: cargo xtask test -p metric-core";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let mut words = vec!["test", "--all-features"];
    if !arguments
        .iter()
        .any(|word| word.starts_with("-p") || word.starts_with("--package"))
    {
        words.push("--workspace");
    }
    words.extend(arguments.iter().map(String::as_str));
    Ok(cargo(&words, &[])?)
}
