use std::path::Path;

use xtask_common::{Error, output, print, program, target};

use crate::api::{self, libraries};
use crate::packages::Package;
use crate::{git, tools};

pub(crate) const HELP: &str = "\
Compares the public items of each library with those of its last release, by cargo-semver-checks.
Without CRATE all. Fails if the version of a crate does not allow the changes. A crate without a tag CRATE-vVERSION has
not been released, so that it has nothing to be compatible with. With --since, all are compared with that revision.
Needs cargo-semver-checks, which cargo xtask tools installs, but no nightly toolchain.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (since, names) = chosen(arguments)?;
    let mut baselines: Vec<(String, Vec<Package>)> = Vec::new();
    for package in libraries(&names)? {
        let released = git::last_release(&package)?.map(|tag| tag.name);
        let Some(revision) = since.clone().or(released) else {
            eprintln!("{}: not released yet", package.name);
            continue;
        };
        match baselines.iter_mut().find(|(known, _)| *known == revision) {
            Some((_, packages)) => packages.push(package),
            None => baselines.push((revision, vec![package])),
        }
    }
    if baselines.is_empty() {
        return Ok(());
    }
    tools::require(tools::SEMVER_CHECKS)?;
    api::describe(Path::new("."), &target()?.join("api"))?;
    let mut failed = Vec::new();
    for (revision, packages) in &baselines {
        failed.extend(compare(revision, packages)?);
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => Err(format!("not allowed by the version: {}", failed.join(", ")).into()),
    }
}

/// Whether any library has been released, so that there is something to compare with.
pub(crate) fn has_releases() -> Result<bool, Error> {
    for package in libraries(&[])? {
        if git::last_release(&package)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The revision after `--since`, and the names of crates.
fn chosen(arguments: &[String]) -> Result<(Option<String>, Vec<&str>), Error> {
    let mut since = None;
    let mut names = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--since" => {
                let missing = || Error::Usage("--since: expected a revision".to_owned());
                since = Some(words.next().ok_or_else(missing)?.clone());
            }
            word if word.starts_with('-') => {
                return Err(Error::Usage(format!("{word}: unknown option")));
            }
            name => names.push(name),
        }
    }
    Ok((since, names))
}

/// The crates whose versions do not allow their changes since a revision.
fn compare(revision: &str, packages: &[Package]) -> Result<Vec<String>, String> {
    let then = target()?.join("semver");
    git::checked_out(revision, |folder| api::describe(folder, &then))?;
    let mut failed = Vec::new();
    for package in packages {
        let file = |target: &Path| api::description(target, &package.name);
        let (old, new) = (file(&then), file(&target()?.join("api")));
        if !old.is_file() {
            eprintln!("{}: not there at {revision}", package.name);
            continue;
        }
        let [old, new] = [old, new].map(|file| file.display().to_string());
        let words = [
            "semver-checks",
            "--baseline-rustdoc",
            &old,
            "--current-rustdoc",
            &new,
        ];
        match output(&program(), &words, Path::new("."), &[]) {
            Ok(_) => print(&format!("{}: compatible with {revision}\n", package.name)),
            Err(problems) => {
                print(&format!("{problems}\n"));
                failed.push(package.name.clone());
            }
        }
    }
    Ok(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let line = words("metric-text --since v1 metric-code");
        let expected = (Some("v1".to_owned()), vec!["metric-text", "metric-code"]);
        assert_eq!(chosen(&line), Ok(expected));
        assert!(matches!(chosen(&words("--since")), Err(Error::Usage(_))));
        assert!(matches!(chosen(&words("--from x")), Err(Error::Usage(_))));
    }
}
