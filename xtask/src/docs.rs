use xtask_common::{Error, cargo, no_arguments};

pub(crate) const HELP: &str = "\
Writes the outputs in README.md and docs/ anew, and the generated parts of the pages.
The commands of blocks marked console run in an empty folder per page. The scores and options of a metric are what
`metric list` prints, and its speed is that of benches/RESULTS.md. The test docs of metric-cli compares them; look at
what changed before you commit it.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    no_arguments(arguments)?;
    // One test after the other, because two of them write the same pages.
    let test =
        "test --quiet --package metric-cli --all-features --test it docs:: -- --test-threads 1";
    let words: Vec<&str> = test.split(' ').collect();
    Ok(cargo(&words, &[("UPDATE_DOCS", "1")])?)
}
