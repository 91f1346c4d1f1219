use crate::{check, test};

pub(crate) const HELP: &str = "All of check, then all of test.";

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    check::run(arguments)?;
    test::run(arguments)
}
