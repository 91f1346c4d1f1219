use xtask_common::{Error, cargo};

pub(crate) const HELP: &str = "\
Simulates how often intervals hold the true score, and how often paired tests reject a true null hypothesis.
Fails if a share is not within 1.5 points of the published one (a little more where that is of fewer data sets),
if a test rejects more than 5.7% of equal systems, or if a method that is known to be wrong is not found wrong.
The seed is 0. Arguments are the number of data sets per interval (2000) and per test (10000), and the largest
sample (10000). All of it takes ten minutes of one core; `cargo xtask coverage 200 500 100` takes half a minute.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    if let Some(word) = arguments.iter().find(|word| word.parse::<usize>().is_err()) {
        return Err(Error::Usage(format!("{word}: expected a number")));
    }
    let mut words = vec![
        "run",
        "--release",
        "-p",
        "metric-stats",
        "--example",
        "coverage",
        "--",
    ];
    words.extend(arguments.iter().map(String::as_str));
    cargo(&words, &[])?;
    Ok(())
}
