use crate::run::{Error, no_arguments};
use crate::steps::Steps;
use crate::{check, test};

pub(crate) const HELP: &str = "\
Runs all of test, then all of check.
Prints the minutes of each step, and a table of all steps at the end.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    no_arguments(arguments)?;
    let mut steps = Steps::default();
    test::steps(&[], &mut steps)?;
    check::steps(&mut steps)?;
    steps.print();
    Ok(())
}
