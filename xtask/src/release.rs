use std::collections::BTreeSet;

use crate::git::{self, Tag};
use crate::packages::{self, Package, chosen, with_siblings};
use crate::run::{Error, cargo_output};
use crate::table::markdown;
use crate::{manifest, moved};

pub(crate) const HELP: &str = "\
Says whether crates are ready to be released, and with what commands. Publishes nothing.
Without CRATE all. For each that has changed since its tag CRATE-vVERSION: is the manifest complete,
has the version moved, does the changelog have its section, have golden values moved without a
breaking version, does it pack alone (against the registry) and together with the others (offline),
and with cargo-public-api and cargo-semver-checks installed: how did its interface change.
--offline asks the registry nothing. Ends with 1 if a crate is not ready. See RELEASING.md.";

/// A crate on its way.
struct Release {
    package: Package,
    tag: Option<Tag>,
    changed: bool,
    /// Worth knowing, no obstacle.
    notes: Vec<String>,
    /// What must be done first.
    missing: Vec<String>,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (flags, names): (Vec<&str>, Vec<&str>) = arguments
        .iter()
        .map(String::as_str)
        .partition(|word| word.starts_with('-'));
    let offline = match flags.as_slice() {
        [] => false,
        ["--offline"] => true,
        _ => return Err(Error::Usage("arguments that it does not know".to_owned())),
    };
    let packages = packages::publishable()?;
    let names = chosen(&packages, &names)?;
    let mut releases = Vec::new();
    for package in packages.iter().filter(|p| names.contains(&p.name)) {
        releases.push(look_at(package, &packages)?);
    }
    for release in releases.iter_mut().filter(|release| release.changed) {
        pack_alone(release, offline);
    }
    pack_together(&packages, &mut releases);
    for (tool, install) in [
        ("public-api", "cargo-public-api"),
        ("semver-checks", "cargo-semver-checks"),
    ] {
        if cargo_output(&[tool, "--version"], &[]).is_err() {
            eprintln!("{install} is not installed, so it is not asked (cargo install {install})");
            continue;
        }
        for release in releases.iter_mut().filter(|release| release.changed) {
            compare_interface(release, tool);
        }
    }
    print(&report(&releases));
    match releases
        .iter()
        .filter(|release| !release.missing.is_empty())
        .count()
    {
        0 => Ok(()),
        count => Err(format!("{count} of {} crates are not ready", releases.len()).into()),
    }
}

#[allow(clippy::print_stdout, reason = "the report is the command's result")]
fn print(text: &str) {
    print!("{text}");
}

/// What the files and git say of a crate.
fn look_at(package: &Package, packages: &[Package]) -> Result<Release, String> {
    let mut release = Release {
        package: package.clone(),
        tag: git::last_release(package)?,
        changed: true,
        notes: Vec::new(),
        missing: Vec::new(),
    };
    match release.tag.clone() {
        None => release.notes.push("first release".to_owned()),
        Some(tag) => {
            let changes = git::changed(package, &tag)?;
            release.changed = !changes.is_empty() || package.version != tag.version;
            if !release.changed {
                release.notes.push(format!("unchanged since {}", tag.name));
                return Ok(release);
            }
            release
                .notes
                .push(format!("{} changes since {}", changes.len(), tag.name));
            if package.version <= tag.version {
                release.missing.push(format!(
                    "version: {} is released, expected a greater one",
                    tag.version
                ));
            }
            let closure = with_siblings(packages, &[package.name.clone()].into());
            for part in closure {
                let moved = moved::golden(&part, &tag)?;
                if let Some(first) = moved.first()
                    && !moved::is_breaking(&tag.version, &package.version)
                {
                    release.missing.push(format!(
                        "version: expected {} or greater, as {} golden values of {} moved: {first}",
                        moved::breaking(&tag.version),
                        moved.len(),
                        part.name
                    ));
                }
            }
        }
    }
    release.missing.extend(manifest::problems(package));
    let changelog = package.folder().join("CHANGELOG.md");
    let changelog = std::fs::read_to_string(changelog).unwrap_or_default();
    match section(&changelog, &package.version.to_string()) {
        None => release.missing.push(format!(
            "CHANGELOG.md: expected a section `## {}`",
            package.version
        )),
        Some(heading) if heading.contains("unreleased") => {
            release
                .notes
                .push("CHANGELOG.md: the date is to be written".to_owned());
        }
        Some(_) => {}
    }
    if git::uncommitted(package)? {
        release
            .missing
            .push("git: changes that are not committed".to_owned());
    }
    Ok(release)
}

/// The heading of a version's section.
fn section<'t>(changelog: &'t str, version: &str) -> Option<&'t str> {
    let mut headings = changelog
        .lines()
        .filter_map(|line| line.strip_prefix("## "));
    headings.find(|heading| {
        let mut words = heading.split_whitespace();
        words
            .next()
            .is_some_and(|word| word.trim_matches(['[', ']']) == version)
    })
}

/// Packs a crate and builds what was packed, with the registry's copies of its siblings.
fn pack_alone(release: &mut Release, offline: bool) {
    let name = release.package.name.clone();
    let mut words = vec!["package", "--allow-dirty", "-p", &name];
    if offline {
        words.push("--offline");
    }
    eprintln!("$ cargo {}", words.join(" "));
    let Err(error) = cargo_output(&words, &[]) else {
        return;
    };
    match unpublished(&error, &release.package) {
        Some(sibling) => release
            .notes
            .push(format!("alone: {sibling} is not published yet")),
        None => release
            .missing
            .push(format!("alone: {}", last_words(&error))),
    }
}

/// The sibling that cargo misses.
fn unpublished(error: &str, package: &Package) -> Option<String> {
    let mut siblings = package.siblings();
    let misses = |name: &str| {
        error.contains(&format!("no matching package named `{name}` found"))
            || error.contains(&format!(
                "failed to select a version for the requirement `{name} "
            ))
    };
    siblings.find(|name| misses(name)).map(str::to_owned)
}

/// Packs the crates that change, and all that they stand on, each built against the packed others.
fn pack_together(packages: &[Package], releases: &mut [Release]) {
    let changed: BTreeSet<String> = releases
        .iter()
        .filter(|release| release.changed)
        .map(|release| release.package.name.clone())
        .collect();
    let set = with_siblings(packages, &changed);
    if set.is_empty() {
        return;
    }
    let mut words = vec!["package", "--allow-dirty", "--offline"];
    set.iter()
        .for_each(|package| words.extend(["-p", &*package.name]));
    eprintln!("$ cargo {}", words.join(" "));
    let Err(error) = cargo_output(&words, &[]) else {
        return;
    };
    let at = last_named(&error).unwrap_or_default().to_owned();
    let culprit = releases
        .iter()
        .position(|release| release.package.name == at);
    // A failure of no crate in particular is one of all.
    for (place, release) in releases.iter_mut().enumerate() {
        if release.changed && culprit.is_none_or(|culprit| culprit == place) {
            release
                .missing
                .push(format!("together: {}", last_words(&error)));
        }
    }
}

/// The crate that cargo was at when it failed.
fn last_named(said: &str) -> Option<&str> {
    let steps = ["Packaging ", "Verifying "];
    let mut lines = said.lines().rev();
    lines.find_map(|line| {
        let rest = steps
            .iter()
            .find_map(|step| line.trim_start().strip_prefix(step))?;
        rest.split_whitespace().next()
    })
}

/// The first line that says what is wrong, for a table.
fn last_words(error: &str) -> String {
    let mut lines = error.lines();
    let line = lines
        .find(|line| line.starts_with("error"))
        .or(error.lines().last());
    line.unwrap_or("failed").replace('|', "\\|")
}

/// What the tool says of the interface since the last release.
fn compare_interface(release: &mut Release, tool: &str) {
    let name = &release.package.name;
    let Some(tag) = &release.tag else {
        release
            .notes
            .push(format!("{tool}: nothing to compare a first release with"));
        return;
    };
    if !release.package.is_library() {
        return;
    }
    let version = tag.version.to_string();
    let words = match tool {
        "public-api" => ["public-api", "-p", name, "diff", &version],
        _ => ["semver-checks", "-p", name, "--baseline-rev", &tag.name],
    };
    eprintln!("$ cargo {}", words.join(" "));
    match cargo_output(&words, &[]) {
        Ok(said) if tool == "public-api" => {
            print(&format!("## {name} since {version}\n\n{said}\n"));
        }
        Ok(_) => {}
        Err(error) => release
            .missing
            .push(format!("{tool}: {}", last_words(&error))),
    }
}

/// The order, the commands, and the table.
fn report(releases: &[Release]) -> String {
    let going: Vec<&Release> = releases.iter().filter(|release| release.changed).collect();
    let mut text = String::new();
    if !going.is_empty() {
        let names: Vec<&str> = going.iter().map(|release| &*release.package.name).collect();
        text.push_str(&format!("In this order: {}\n\n", names.join(", ")));
        let mut tags = Vec::new();
        for release in &going {
            let Package { name, version, .. } = &release.package;
            text.push_str(&format!(
                "cargo publish -p {name}\ngit tag -a {name}-v{version} -m \"{name} {version}\"\n"
            ));
            tags.push(format!("{name}-v{version}"));
        }
        text.push_str(&format!("git push origin {}\n\n", tags.join(" ")));
    }
    let cells = |release: &Release| {
        let join = |items: &[String]| items.join("; ").replace('\n', " ");
        let ready = match (release.missing.is_empty(), release.changed) {
            (false, _) => join(&release.missing),
            (true, true) => "ok".to_owned(),
            (true, false) => "nothing to release".to_owned(),
        };
        vec![
            release.package.name.clone(),
            release.package.version.to_string(),
            join(&release.notes),
            ready,
        ]
    };
    let rows: Vec<_> = releases.iter().map(cells).collect();
    text + &markdown(
        &["crate", "version", "notes", "ok, or what is missing"],
        &rows,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::tests::package;

    #[test]
    fn the_section_of_a_version() {
        let changelog = "# Changelog\n\n## [0.2.0] - 2026-01-02\n\nNew.\n\n## 0.1.0 (unreleased)\n";
        assert_eq!(section(changelog, "0.2.0"), Some("[0.2.0] - 2026-01-02"));
        assert_eq!(section(changelog, "0.1.0"), Some("0.1.0 (unreleased)"));
        assert_eq!(section(changelog, "0.1"), None);
    }

    #[test]
    fn a_missing_sibling_is_told_from_other_failures() {
        let grid = package("metric-grid", "0.1.0", &["metric-core"]);
        let error = "error: failed to prepare\n\nCaused by:\n  no matching package named \
                     `metric-core` found\n";
        assert_eq!(unpublished(error, &grid), Some("metric-core".to_owned()));
        let error = "error: no matching package named `serde` found";
        assert_eq!(unpublished(error, &grid), None);
    }

    #[test]
    fn the_crate_that_failed_is_the_last_named() {
        let said = "   Packaging a v0.1.0 (/x)\n   Verifying b v0.1.0 (/x)\nerror: no\n";
        assert_eq!(last_named(said), Some("b"));
        assert_eq!(last_words(said), "error: no");
    }

    #[test]
    fn the_report_has_the_commands_in_order() {
        let release = |name: &str, changed, missing: &[&str]| Release {
            package: package(name, "0.1.0", &[]),
            tag: None,
            changed,
            notes: vec!["first release".to_owned()],
            missing: missing.iter().map(|&text| text.to_owned()).collect(),
        };
        let releases = [
            release("core", true, &[]),
            release("grid", true, &["version: old"]),
            release("text", false, &[]),
        ];
        let expected = "\
In this order: core, grid

cargo publish -p core
git tag -a core-v0.1.0 -m \"core 0.1.0\"
cargo publish -p grid
git tag -a grid-v0.1.0 -m \"grid 0.1.0\"
git push origin core-v0.1.0 grid-v0.1.0

| crate | version | notes         | ok, or what is missing |
|-------|---------|---------------|------------------------|
| core  |   0.1.0 | first release | ok                     |
| grid  |   0.1.0 | first release | version: old           |
| text  |   0.1.0 | first release | nothing to release     |
";
        assert_eq!(report(&releases), expected);
    }
}
