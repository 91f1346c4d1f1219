//! Makes the programs by which platforms of competitions score submissions.

use std::fs;
use std::path::{Path, PathBuf};

use xtask_common::{Error, cargo, print, target};

pub(crate) const HELP: &str = "\
Makes the scoring program of a competition on Codabench, with the program metric inside.
Writes it to target/bundle/codabench/scoring_program, for the bundle that docs/organizers.md describes: the
program, its metadata and a script. The script states the oldest GNU C library that the program runs on, and
checks it first.
--program FILE: this program for Linux, and not the release build of this checkout.";

/// The scoring program: names and contents of its files, except for the program itself.
const FILES: [(&str, &str); 2] = [
    ("metadata.yaml", include_str!("bundle/metadata.yaml")),
    ("score.sh", include_str!("bundle/score.sh")),
];

/// The text that stands for the oldest library in the files.
const OLDEST: &str = "@GLIBC@";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let program = match choose(arguments)? {
        Some(program) => program,
        None => {
            cargo(&["build", "--release", "-p", "metric-cli"], &[])?;
            target()?.join("release/metric")
        }
    };
    let folder = target()?.join("bundle/codabench/scoring_program");
    let oldest = write(&program, &folder)?;
    print(&format!(
        "{}: needs the GNU C library {oldest} or newer\n",
        folder.display()
    ));
    Ok(())
}

/// The program that the arguments name.
fn choose(arguments: &[String]) -> Result<Option<PathBuf>, Error> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["codabench"] => Ok(None),
        ["codabench", "--program", file] => Ok(Some(PathBuf::from(file))),
        _ => Err(Error::Usage(
            "expected codabench, and after it --program FILE or nothing".to_owned(),
        )),
    }
}

/// Writes the scoring program. Returns the oldest library that it runs on.
fn write(program: &Path, folder: &Path) -> Result<String, String> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| format!("{path}: {error}")
    };
    let bytes = fs::read(program).map_err(failed(program))?;
    let oldest = oldest_library(&bytes).ok_or_else(|| {
        let program = program.display();
        format!("{program}: names no version of the GNU C library: expected a program for Linux")
    })?;
    fs::create_dir_all(folder).map_err(failed(folder))?;
    for (name, text) in FILES {
        let path = folder.join(name);
        fs::write(&path, text.replace(OLDEST, &oldest)).map_err(failed(&path))?;
    }
    let copy = folder.join("metric");
    fs::write(&copy, bytes).map_err(failed(&copy))?;
    Ok(oldest)
}

/// The newest version among those of the GNU C library that a program for Linux names, such as `2.34`. Each function
/// that a program uses has the version in which it last changed, as text in the program.
fn oldest_library(program: &[u8]) -> Option<String> {
    const START: &[u8] = b"GLIBC_";
    let starts = (0..program.len()).filter(|&index| program[index..].starts_with(START));
    let versions = starts.filter_map(|index| version(&program[index + START.len()..]));
    let (major, minor) = versions.max()?;
    Some(format!("{major}.{minor}"))
}

/// The first two numbers of a version.
fn version(text: &[u8]) -> Option<(u32, u32)> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let end = text.iter().position(|byte| !is_part(byte))?;
    let text = std::str::from_utf8(&text[..end]).ok()?;
    let mut parts = text.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for (text, expected) in [
            ("GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0", Some("2.34")),
            ("\u{7f}ELF GLIBC_2.17\0", Some("2.17")),
            ("GLIBC_PRIVATE\0GLIBC_\0GLIBC_2\0", None),
            ("", None),
        ] {
            assert_eq!(oldest_library(text.as_bytes()).as_deref(), expected);
        }
    }

    #[test]
    fn the_scoring_program_states_its_library() {
        let folder = std::env::temp_dir().join(format!("metric-bundle-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join("program");
        fs::write(&program, b"GLIBC_2.31\0").expect("a program");
        let own = folder.join("scoring_program");
        assert_eq!(write(&program, &own).as_deref(), Ok("2.31"));
        let script = fs::read_to_string(own.join("score.sh")).expect("a script");
        assert!(script.contains("\nneeded=2.31\n"), "{script}");
        assert_eq!(fs::read(own.join("metric")).ok(), fs::read(&program).ok());

        fs::write(&program, b"#!/bin/sh\n").expect("a script");
        assert!(write(&program, &own).is_err());
        fs::remove_dir_all(&folder).expect("a removed folder");
    }

    #[test]
    fn other_arguments_are_refused() {
        let choose = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            choose(&words)
        };
        assert_eq!(choose("codabench"), Ok(None));
        let program = Ok(Some(PathBuf::from("metric")));
        assert_eq!(choose("codabench --program metric"), program);
        for wrong in ["", "kaggle", "codabench --program", "codabench more"] {
            assert!(choose(wrong).is_err(), "{wrong}");
        }
    }
}
