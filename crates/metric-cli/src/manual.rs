//! Completions for shells, and manual pages.

use std::path::Path;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args;
use crate::error::Failure;

/// The command line with all of its parts, which are otherwise put together when they are asked for.
fn complete_command() -> Command {
    let mut command = args::command(None);
    command.build();
    command
}

/// Returns the script that completes commands, metrics and options in a shell.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut complete_command(), "metric", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Returns the manual page of the program.
pub(crate) fn page() -> String {
    rendered(complete_command()).unwrap_or_default()
}

fn rendered(command: Command) -> std::io::Result<String> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Writes the manual pages of the program and of each of its commands, such as `metric-score-wer.1`, to a folder.
pub(crate) fn write_pages(folder: &Path) -> Result<(), Failure> {
    let failed = |error: &std::io::Error| Failure::write(&folder.display().to_string(), error);
    std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    clap_mangen::generate_to(complete_command(), folder).map_err(|error| failed(&error))
}
