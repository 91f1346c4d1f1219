//! The project's own commands: `cargo xtask COMMAND`.
//!
//! A file or a folder a command. They run cargo, from the root of the repository. Exit codes: 0 fine,
//! 1 failed, 2 usage.

mod alone;
mod bench;
mod check;
mod ci;
mod deny;
mod fuzz;
mod git;
mod golden;
mod manifest;
mod moved;
mod packages;
mod release;
mod run;
mod table;
mod test;

use std::process::ExitCode;

use run::Error;

/// A command: name, arguments, what it does, and the function.
type Command = (
    &'static str,
    &'static str,
    &'static str,
    fn(&[String]) -> Result<(), Error>,
);

const COMMANDS: &[Command] = &[
    ("test", "[CARGO TEST ARGUMENTS]", test::HELP, test::run),
    ("bench", "[FILTER] [OPTIONS]", bench::HELP, bench::run),
    ("fuzz", "[TARGET] [--seconds N]", fuzz::HELP, fuzz::run),
    ("check", "", check::HELP, check::run),
    ("ci", "", ci::HELP, ci::run),
    ("golden", "[--check]", golden::HELP, golden::run),
    ("deny", "", deny::HELP, deny::run),
    ("alone", "[CRATE…] [--quick]", alone::HELP, alone::run),
    (
        "release",
        "[CRATE…] [--offline]",
        release::HELP,
        release::run,
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        eprint!("{}", help());
        return ExitCode::from(2);
    };
    if ["--help", "-h", "help"].contains(&name.as_str()) {
        eprint!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some((name, usage, about, run)) = COMMANDS.iter().find(|command| command.0 == name) else {
        eprint!("xtask: no command {name:?}\n\n{}", help());
        return ExitCode::from(2);
    };
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        eprintln!("cargo xtask {name} {usage}\n\n{about}");
        return ExitCode::SUCCESS;
    }
    match run(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Failed(error)) => {
            eprintln!("xtask {name}: {error}");
            ExitCode::FAILURE
        }
        Err(Error::Usage(error)) => {
            eprintln!("xtask {name}: {error}\n\ncargo xtask {name} {usage}\n\n{about}");
            ExitCode::from(2)
        }
    }
}

fn help() -> String {
    let mut text = "cargo xtask COMMAND\n\n".to_owned();
    for (name, usage, about, _) in COMMANDS {
        let first = about.lines().next().unwrap_or_default();
        text.push_str(&format!("  {:<38} {first}\n", format!("{name} {usage}")));
    }
    text
}
