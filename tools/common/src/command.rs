//! A command: its arguments, its help, and its exit code.

use std::process::ExitCode;

use crate::run::{Error, print, root};

/// Runs a program that is one command, with the arguments of the process.
///
/// `help` is printed for `--help`. The working directory is the root of the repository.
pub fn main(name: &str, help: &str, run: fn(&[String]) -> Result<(), Error>) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|word| asks_for_help(word)) {
        print(&format!("{help}\n"));
        return ExitCode::SUCCESS;
    }
    finish(name, help, || run(&arguments))
}

/// Whether an argument asks for help.
pub fn asks_for_help(word: &str) -> bool {
    ["--help", "-h", "help"].contains(&word)
}

/// Runs a command in the root of the repository. Returns 0 if it succeeded, 1 if it failed, and 2, after its help, if
/// its arguments are wrong.
pub fn finish(name: &str, help: &str, run: impl FnOnce() -> Result<(), Error>) -> ExitCode {
    let root = root();
    let done = std::env::set_current_dir(&root)
        .map_err(|error| Error::Failed(format!("{}: {error}", root.display())))
        .and_then(|()| run());
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Failed(error)) => {
            eprintln!("xtask {name}: {error}");
            ExitCode::FAILURE
        }
        Err(Error::Usage(error)) => {
            eprintln!("xtask {name}: {error}\n\n{help}");
            ExitCode::from(2)
        }
    }
}
