use crate::run::{Error, cargo, no_arguments};

pub(crate) const HELP: &str = "\
Writes the outputs in README.md and docs/ anew, and what the pages list of each metric.
The commands of blocks marked console run in an empty folder per page. The scores and options of a metric are those
that `metric list` prints. The test that compares both is that of crates/metric-cli/tests/docs.rs; look at what
changed before you commit it.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    no_arguments(arguments)?;
    // One test after the other, because two of them write the same pages.
    let test = "test --quiet --package metric-cli --test docs -- --test-threads 1";
    let words: Vec<&str> = test.split(' ').collect();
    Ok(cargo(&words, &[("UPDATE_DOCS", "1")])?)
}
