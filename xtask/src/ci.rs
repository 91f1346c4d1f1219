use crate::run::Error;
use crate::{check, test};

pub(crate) const HELP: &str = "Runs all of check, then all of test.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    check::run(arguments)?;
    test::run(&[])
}
