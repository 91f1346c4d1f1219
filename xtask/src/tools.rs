use xtask_common::{Error, cargo, cargo_output, no_arguments, printed};

pub(crate) const HELP: &str = "\
Installs the tools that other commands call, in these versions, unless they are installed.
cargo-hack and cargo-deny for check, cargo-semver-checks for semver, critcmp for bench, cargo-fuzz for fuzz. They are compiled from source without optimization, which takes a few minutes in all.";

/// A tool, its version, and the command of this program that calls it.
struct Tool {
    name: &'static str,
    version: &'static str,
    command: &'static str,
}

const fn tool(name: &'static str, version: &'static str, command: &'static str) -> Tool {
    Tool {
        name,
        version,
        command,
    }
}

/// A newer version of a tool may print something else, so versions are exact.
const TOOLS: &[Tool] = &[
    tool(HACK, "0.6.46", "check"),
    tool(DENY, "0.20.2", "check"),
    tool(SEMVER_CHECKS, "0.51.0", "semver"),
    tool("critcmp", "0.1.8", "bench"),
    tool("cargo-fuzz", "0.13.2", "fuzz"),
];

/// Builds a crate with each of its features.
pub(crate) const HACK: &str = "cargo-hack";

/// Checks the licenses of dependencies.
pub(crate) const DENY: &str = "cargo-deny";

/// Compares the public items of two versions of a crate.
pub(crate) const SEMVER_CHECKS: &str = "cargo-semver-checks";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    no_arguments(arguments)?;
    let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    install(&names)
}

/// Installs the tools with these names, unless they are installed.
pub(crate) fn install(names: &[&str]) -> Result<(), Error> {
    for tool in TOOLS.iter().filter(|tool| names.contains(&tool.name)) {
        let Tool { name, version, .. } = tool;
        match tool.found() {
            Some(found) if found == *version => eprintln!("{name} {version} is installed"),
            _ => {
                let package = format!("{name}@{version}");
                // Optimized, they would take several times as long to compile, and save a few seconds of each run.
                let variables = [("CARGO_PROFILE_DEV_DEBUG", "0"), ("CARGO_INCREMENTAL", "0")];
                cargo(
                    &["install", "--debug", "--locked", "--force", &package],
                    &variables,
                )?;
            }
        }
    }
    Ok(())
}

/// Checks that a tool is installed in the version that is expected.
///
/// # Errors
///
/// Returns an error that says what is installed instead, and how to install it.
pub(crate) fn require(name: &str) -> Result<(), String> {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        return Err(format!("{name}: not among the tools"));
    };
    let Tool {
        version, command, ..
    } = tool;
    match tool.found() {
        Some(found) if found == *version => Ok(()),
        Some(found) => Err(format!(
            "{command} needs {name} {version}, found {found} (cargo xtask tools)"
        )),
        None => Err(format!(
            "{command} needs {name} {version}, which is not installed (cargo xtask tools)"
        )),
    }
}

impl Tool {
    /// The version that is installed.
    fn found(&self) -> Option<String> {
        let said = match self.name.strip_prefix("cargo-") {
            Some(subcommand) => cargo_output(&[subcommand, "--version"], &[]),
            None => printed(self.name, &["--version"]),
        };
        let said = said.ok()?;
        version_in(&said).map(str::to_owned)
    }
}

/// The version in the output of `cargo NAME --version`.
fn version_in(said: &str) -> Option<&str> {
    let word = said.lines().next()?.split_whitespace().next_back()?;
    word.starts_with(|first: char| first.is_ascii_digit())
        .then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found() {
        assert_eq!(version_in("cargo-hack 0.6.46\n"), Some("0.6.46"));
        assert_eq!(version_in("cargo-fuzz 0.13.1"), Some("0.13.1"));
        assert_eq!(version_in("cargo-fuzz"), None);
        assert_eq!(version_in(""), None);
    }

    #[test]
    fn an_unknown_tool_is_refused() {
        let error = require("cargo-unknown").expect_err("no such tool");
        assert_eq!(error, "cargo-unknown: not among the tools");
    }
}
