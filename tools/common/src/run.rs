//! Runs other programs and says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The reason why a command ended without success.
#[derive(Debug, PartialEq)]
pub enum Error {
    /// The request is not a command; exit code 2.
    Usage(String),
    /// It was done, and failed; exit code 1.
    Failed(String),
}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

/// Prints the result of a command.
#[allow(
    clippy::print_stdout,
    reason = "what is asked for goes to standard output"
)]
pub fn print(text: &str) {
    print!("{text}");
}

/// Parts arguments into names and whether one of `flag` is among them.
pub fn flag<'a>(arguments: &'a [String], flag: &str) -> Result<(bool, Vec<&'a str>), Error> {
    let words = arguments.iter().map(String::as_str);
    let (flags, names): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('-'));
    match flags.iter().find(|&&word| word != flag) {
        Some(word) => Err(unknown(word)),
        None => Ok((!flags.is_empty(), names)),
    }
}

/// Refuses all arguments.
pub fn no_arguments<S: AsRef<str>>(arguments: &[S]) -> Result<(), Error> {
    match arguments.first() {
        Some(word) => Err(unknown(word.as_ref())),
        None => Ok(()),
    }
}

fn unknown(word: &str) -> Error {
    Error::Usage(format!("{word:?}: no argument of it"))
}

/// Leaves out the extension of Python, which needs Python to be built.
pub const WITHOUT_PYTHON: &[&str] = &["--exclude", "metric-python"];

/// The folder of the workspace.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own).to_owned()
}

/// The cargo that runs this program, so that a chosen toolchain stays chosen.
pub fn program() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Runs `cargo` with `arguments` and these environment variables; an exit code but 0 is an error.
pub fn cargo(arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    let shown = arguments.join(" ");
    eprintln!("$ cargo {shown}");
    let status = Command::new(program())
        .args(arguments)
        .envs(variables.iter().copied())
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo {shown}: {status}"))
    }
}

/// The output of `cargo`; the error is all that it prints.
pub fn cargo_output(arguments: &[&str], variables: &[(&str, &str)]) -> Result<String, String> {
    output(&program(), arguments, Path::new("."), variables)
}

/// The output of a program in `folder`; the error is all that it prints.
pub fn output(
    program: &str,
    arguments: &[&str],
    folder: &Path,
    variables: &[(&str, &str)],
) -> Result<String, String> {
    let run = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .envs(variables.iter().copied())
        .output()
        .map_err(|error| format!("cannot run {program}: {error}"))?;
    let [printed, said] =
        [run.stdout, run.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if run.status.success() {
        Ok(printed)
    } else {
        // Tests print what failed, cargo says it.
        Err(format!("{printed}\n{said}").trim().to_owned())
    }
}

/// The output of a program that runs here.
pub fn printed(program: &str, arguments: &[&str]) -> Result<String, String> {
    output(program, arguments, Path::new("."), &[]).map_err(|error| format!("{program}: {error}"))
}

/// The folder where cargo builds.
pub fn target() -> Result<PathBuf, String> {
    let words = "metadata --format-version 1 --no-deps --offline";
    let words: Vec<&str> = words.split(' ').collect();
    let printed = cargo_output(&words, &[])?;
    let metadata: Value = serde_json::from_str(&printed).map_err(|error| error.to_string())?;
    let folder = metadata["target_directory"].as_str();
    let folder = folder.ok_or("cargo metadata: expected target_directory")?;
    Ok(folder.into())
}
