use xtask_common::{Error, no_arguments, target};

use crate::steps::Steps;
use crate::{check, package, python, report, semver, spark, test, tools};

pub(crate) const HELP: &str = "\
Runs all of test, the checks of the Python package, the tests on Spark, all of check, semver, a tenth of attack, and
report.
Installs first what these need of `cargo xtask tools`: cargo-semver-checks, which takes longest to compile, only once
a crate has been released. Python 3.10 or later must be there. The attacks are on the program
that check built for its benchmarks. Prints the minutes of each step, and a table of all steps at the end.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    no_arguments(arguments)?;
    let mut steps = Steps::default();
    let mut needed = vec![tools::HACK, tools::DENY];
    if !semver::last_releases()?.is_empty() {
        needed.push(tools::SEMVER_CHECKS);
    }
    steps.run("tools", || tools::install(&needed))?;
    test::rust(&mut steps)?;
    python::all_steps(&mut steps)?;
    spark::steps_of_test(&mut steps)?;
    check::steps(&mut steps)?;
    steps.run("semver", || semver::run(&[]))?;
    steps.run("attacks", sample_of_attacks)?;
    steps.run("reports", report::run_check)?;
    steps.print();
    Ok(())
}

/// Runs every tenth attack on the release build, which the benchmarks of the program have made.
fn sample_of_attacks() -> Result<(), String> {
    let program = target()?.join("release/metric");
    let program = program.display().to_string();
    package("attack", &["--sample", "--program", &program])
}
