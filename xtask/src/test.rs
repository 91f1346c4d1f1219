use crate::python;
use crate::steps::Steps;
use xtask_common::{Error, WITHOUT_PYTHON, cargo};

pub(crate) const HELP: &str = "\
Runs all tests: unit, property, golden rows, merge laws, the program end to end, doctests, and those of the
Python package, where there is Python 3.10 or later with the module venv.
Arguments are passed on to cargo test, for example: cargo xtask test -p metric-core
Prints the minutes that it takes to build and to run them.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let mut all = Steps::default();
    if arguments.is_empty() {
        // pip waits for files and the network most of the time.
        let prepared = std::thread::spawn(python::prepare);
        rust(&mut all)?;
        let prepared = prepared
            .join()
            .unwrap_or_else(|_| Err("the installation ended early".to_owned()));
        python::tests_if_possible(&mut all, prepared)?;
    } else {
        let mut words = vec!["test", "--all-features"];
        let is_of_packages =
            |word: &String| word.starts_with("-p") || word.starts_with("--package");
        if !arguments.iter().any(is_of_packages) {
            words.extend(WORKSPACE);
        }
        words.extend(arguments.iter().map(String::as_str));
        all.run("run tests", || cargo(&words, &[]))?;
    }
    all.print();
    Ok(())
}

/// Everything except the Python package and the benchmarks.
const WORKSPACE: [&str; 5] = [
    "--workspace",
    WITHOUT_PYTHON[0],
    WITHOUT_PYTHON[1],
    "--exclude",
    "benches",
];

/// The steps of the tests of the crates.
pub(crate) fn rust(steps: &mut Steps) -> Result<(), Error> {
    let words = [&["test", "--all-features"], &WORKSPACE[..]].concat();
    let build = [&words[..], &["--no-run"]].concat();
    steps.run("build tests", || cargo(&build, &[]))?;
    steps.run("run tests", || cargo(&words, &[]))
}
