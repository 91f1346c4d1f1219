//! The project's own commands: `cargo xtask COMMAND`.
//!
//! Each command has a file or a folder here, or is a package under `tools`. They run cargo in the root of the
//! repository, wherever they are called. Exit codes: 0 fine, 1 failed, 2 usage.

mod bundle;
mod check;
mod ci;
mod coverage;
mod docs;
mod fuzz;
mod golden;
mod python;
mod report;
mod semver;
mod spark;
mod steps;
mod test;
mod tools;
mod wheel;

use std::process::ExitCode;

use xtask_common::{Error, asks_for_help, cargo, finish, print};

/// A command: its name, its arguments, its help, and the function that runs it.
struct Command {
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Result<(), Error>,
}

const fn command(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Result<(), Error>,
) -> Command {
    Command {
        name,
        arguments,
        help,
        run,
    }
}

#[rustfmt::skip]
const COMMANDS: &[Command] = &[
    command("test", "[CARGO TEST ARGUMENTS]", test::HELP, test::run),
    command("fuzz", "[TARGET] [--seconds N]", fuzz::HELP, fuzz::run),
    command("check", "", check::HELP, check::run),
    command("ci", "", ci::HELP, ci::run),
    command("tools", "", tools::HELP, tools::run),
    command("semver", "", semver::HELP, semver::run),
    command("golden", "[--check]", golden::HELP, golden::run),
    command("docs", "", docs::HELP, docs::run),
    command("coverage", "[SETS] [TESTS] [LARGEST]", coverage::HELP, coverage::run),
    command("report", "[--gallery] [--axe FILE]", report::HELP, report::run),
    command("bundle", "codabench [--program FILE]", bundle::HELP, bundle::run),
    command("python", "[--check | --build]", python::HELP, python::run),
    command("spark", "[--full]", spark::HELP, spark::run),
    command("wheel", "[--notices]", wheel::HELP, wheel::run),
];

/// The commands that are packages under `tools`, with the first line of their help. They read their own arguments.
const PACKAGES: &[(&str, &str)] = &[
    ("bench", "Runs the benchmarks of all crates"),
    (
        "attack",
        "Runs the program on input that is made to take much time or memory",
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        eprint!("{}", help());
        return ExitCode::from(2);
    };
    // `help bench` is `bench --help`.
    let (name, rest) = match rest.first() {
        Some(command) if asks_for_help(name) => (command, [name.clone()].to_vec()),
        _ => (name, rest.to_vec()),
    };
    if asks_for_help(name) {
        print(&help());
        return ExitCode::SUCCESS;
    }
    if PACKAGES.iter().any(|(package, _)| package == name) {
        return run_package(name, &rest);
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprint!("xtask: no command {name:?}\n\n{}", help());
        return ExitCode::from(2);
    };
    let usage = format!("cargo xtask {name} {}", command.arguments);
    let help = format!("{}\n\n{}", usage.trim_end(), command.help);
    if rest.iter().any(|word| asks_for_help(word)) {
        print(&format!("{help}\n"));
        return ExitCode::SUCCESS;
    }
    finish(name, &help, || (command.run)(&rest))
}

/// Runs a package under `tools`. Returns its exit code.
fn run_package(name: &str, arguments: &[String]) -> ExitCode {
    let status = std::process::Command::new(xtask_common::program())
        .args(words_of(name))
        .args(arguments)
        .status();
    let code = status.ok().and_then(|status| status.code());
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Runs a package under `tools` as a step of another command.
fn package(name: &str, arguments: &[&str]) -> Result<(), String> {
    let package = words_of(name);
    let package: Vec<&str> = package.iter().map(String::as_str).collect();
    cargo(&[&package[..], arguments].concat(), &[])
}

fn words_of(name: &str) -> Vec<String> {
    let words = format!("run --quiet --package xtask-{name} --");
    words.split(' ').map(str::to_owned).collect()
}

fn help() -> String {
    let mut rows: Vec<(String, String)> = COMMANDS
        .iter()
        .map(|command| {
            let usage = format!("{} {}", command.name, command.arguments);
            (usage, first_sentence(command.help))
        })
        .collect();
    let packages = PACKAGES.iter();
    rows.extend(packages.map(|(name, about)| (format!("{name} …"), (*about).to_owned())));
    rows.sort();
    let lines = rows
        .iter()
        .map(|(usage, about)| format!("  {usage:<34} {about}\n"));
    format!("cargo xtask COMMAND\n\n{}", lines.collect::<String>())
}

fn first_sentence(help: &str) -> String {
    let first = help.split(".\n").next().unwrap_or_default();
    let first = first.split(':').next().unwrap_or_default();
    first.replace('\n', " ").trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask_common::root;

    #[test]
    fn each_package_exists_and_each_folder_of_tools_is_a_command_or_shared() {
        let mut folders: Vec<String> = std::fs::read_dir(root().join("tools"))
            .expect("the folder tools")
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.into_string().expect("a name in UTF-8"))
            .collect();
        folders.sort();
        let mut expected: Vec<&str> = PACKAGES.iter().map(|(name, _)| *name).collect();
        expected.push("common");
        expected.sort_unstable();
        assert_eq!(folders, expected);
    }

    #[test]
    fn the_help_has_a_line_for_each_command() {
        assert_eq!(help().lines().count(), 2 + COMMANDS.len() + PACKAGES.len());
        assert_eq!(first_sentence("Runs all checks.\nMore."), "Runs all checks");
        assert_eq!(first_sentence("Runs tests: unit,\nall."), "Runs tests");
    }
}
