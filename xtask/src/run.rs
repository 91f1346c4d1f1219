//! Runs cargo and says so.

use std::process::Command;

/// Runs `cargo` with `arguments` and these environment variables; an exit code but 0 is an error.
pub(crate) fn cargo(arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let shown = arguments.join(" ");
    eprintln!("$ cargo {shown}");
    let status = Command::new(cargo)
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
