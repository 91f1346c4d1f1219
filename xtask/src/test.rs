use crate::steps::Steps;
use crate::{python, spark};
use xtask_common::{Error, WITHOUT_PYTHON, cargo};

pub(crate) const HELP: &str = "\
Runs all tests: unit, property, golden rows, merge laws, the program end to end, doctests,
those of the Python package, where there is Python 3.10 or later with the module venv, and those of Apache
Spark, where there is Java as well.
Arguments are passed on to cargo test, for example: cargo xtask test -p metric-core
Prints the minutes that it takes to build and to run them.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let mut all = Steps::default();
    steps(arguments, false, &mut all)?;
    all.print();
    Ok(())
}

/// The steps of testing everything. Without a Python that can be used, those of the package fail if they must run, and
/// are left out otherwise.
pub(crate) fn steps(
    arguments: &[String],
    needs_python: bool,
    steps: &mut Steps,
) -> Result<(), Error> {
    let mut words = vec!["test", "--all-features"];
    if !arguments
        .iter()
        .any(|word| word.starts_with("-p") || word.starts_with("--package"))
    {
        words.push("--workspace");
        words.extend(WITHOUT_PYTHON);
    }
    words.extend(arguments.iter().map(String::as_str));
    // Some arguments, such as --doc, do not allow --no-run.
    if arguments.is_empty() {
        let build = [&words[..], &["--no-run"]].concat();
        steps.run("build tests", || cargo(&build, &[]))?;
    }
    steps.run("run tests", || cargo(&words, &[]))?;
    if arguments.is_empty() {
        python::steps_of_test(needs_python, steps)?;
        spark::steps_of_test(steps)
    } else {
        Ok(())
    }
}
