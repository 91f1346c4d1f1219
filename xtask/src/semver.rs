use xtask_common::{Error, cargo, cargo_output, no_arguments, output};

use crate::tools;

pub(crate) const HELP: &str = "\
Compares the public items of each library with those of its last release, by cargo-semver-checks.
Fails if the version of a crate does not allow the changes. A crate without a tag CRATE-vVERSION has not been released,
so that it has nothing to be compatible with. Needs cargo-semver-checks, which cargo xtask tools installs.";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    no_arguments(arguments)?;
    for (name, tag) in last_releases()? {
        tools::require(tools::SEMVER_CHECKS)?;
        let words = ["semver-checks", "--all-features", "--package", &name];
        cargo(&[&words[..], &["--baseline-rev", &tag]].concat(), &[])?;
    }
    Ok(())
}

/// The crates that have been released, with the tag of the newest release.
pub(crate) fn last_releases() -> Result<Vec<(String, String)>, Error> {
    let members = cargo_output(
        &["tree", "--workspace", "--depth", "0", "--prefix", "none"],
        &[],
    )?;
    let tags = output(
        "git",
        &["tag", "--sort=-version:refname"],
        ".".as_ref(),
        &[],
    )?;
    let names = members.lines().filter_map(|line| line.split(' ').next());
    let releases = names.filter_map(|name| {
        let is_its_own = |tag: &&str| {
            tag.strip_prefix(name)
                .is_some_and(|it| it.starts_with("-v"))
        };
        let tag = tags.lines().find(is_its_own)?;
        Some((name.to_owned(), tag.to_owned()))
    });
    Ok(releases.collect())
}
