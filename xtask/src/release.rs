use std::collections::BTreeSet;

use crate::git::{self, Tag};
use crate::moved;
use crate::packages::{self, Package, chosen, with_siblings};
use xtask_common::{Error, cargo_output, flag, markdown, print};

pub(crate) const HELP: &str = "\
Says whether crates are ready to be released, and with what commands. Publishes nothing.
Without CRATE all. For each that has changed since its tag CRATE-vVERSION: is the manifest complete,
has the version moved, does the changelog have its section, have golden values moved without a
breaking version, does it pack alone (against the registry) and together with the others (offline).
Commands are printed for what is ready. The public items are checked by cargo xtask semver.
--offline asks the registry nothing. Ends with 1 if a crate is not ready. See RELEASING.md.";

/// A crate on its way.
struct Release {
    package: Package,
    tag: Option<Tag>,
    changed: bool,
    /// Whether its changelog still says that it is not released.
    undated: bool,
    /// Worth knowing, no obstacle.
    notes: Vec<String>,
    /// The steps that must be done first.
    missing: Vec<String>,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (offline, names) = flag(arguments, "--offline")?;
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

/// The facts about a crate from its files and from git.
fn look_at(package: &Package, packages: &[Package]) -> Result<Release, String> {
    let mut release = Release {
        package: package.clone(),
        tag: git::last_release(package)?,
        changed: true,
        undated: false,
        notes: Vec::new(),
        missing: Vec::new(),
    };
    match release.tag.clone() {
        None => release.notes.push("first release".to_owned()),
        Some(tag) => {
            let changes = git::changed(package, &tag)?;
            let changed = !changes.is_empty() || package.version != tag.version;
            let mut breaks = moved_values(package, packages, &tag, changed)?;
            release.changed = changed || !breaks.is_empty();
            if !release.changed {
                release.notes.push(format!("unchanged since {}", tag.name));
                return Ok(release);
            }
            release
                .notes
                .push(format!("changed since {}: {}", tag.name, changes.len()));
            if package.version <= tag.version {
                release.missing.push(format!(
                    "version: {} is released, expected a greater one",
                    tag.version
                ));
            }
            breaks.extend(git::newer_rust(package, &tag)?);
            if let Some((first, others)) = breaks.split_first()
                && !moved::is_breaking(&tag.version, &package.version)
            {
                let others = match others.len() {
                    0 => String::new(),
                    count => format!(", and {count} more"),
                };
                release.missing.push(format!(
                    "version: expected {} or greater: {first}{others}",
                    moved::breaking(&tag.version)
                ));
            }
        }
    }
    let changelog = package.folder().join("CHANGELOG.md");
    let changelog = std::fs::read_to_string(changelog).unwrap_or_default();
    match section(&changelog, &package.version.to_string()) {
        None => release.missing.push(format!(
            "CHANGELOG.md: expected a section `## {}`",
            package.version
        )),
        Some((heading, text)) => {
            release.undated = heading.contains("unreleased");
            if text.trim().is_empty() {
                let problem = format!("CHANGELOG.md: nothing under `## {heading}`");
                release.missing.push(problem);
            }
        }
    }
    if git::uncommitted(package)? {
        release
            .missing
            .push("git: changes that are not committed".to_owned());
    }
    Ok(release)
}

/// Golden values that moved since a release of the crate: its own, those of the crates it depends on, and those of
/// crates that depend on it and have not changed themselves. For a crate that has not changed, only its own, which
/// another crate may have moved.
fn moved_values(
    package: &Package,
    packages: &[Package],
    tag: &Tag,
    changed: bool,
) -> Result<Vec<String>, String> {
    let closure = |package: &Package| with_siblings(packages, &[package.name.clone()].into());
    let mut parts = vec![package.clone()];
    if changed {
        parts = closure(package);
        for other in packages.iter().filter(|other| other.name != package.name) {
            let stands_on_it = closure(other).iter().any(|it| it.name == package.name);
            if stands_on_it && git::changed(other, tag)?.is_empty() {
                parts.push(other.clone());
            }
        }
    }
    let mut moved = Vec::new();
    for part in parts {
        let values = moved::golden(&part, tag)?.into_iter();
        moved.extend(values.map(|value| format!("a golden value of {} moved, {value}", part.name)));
    }
    Ok(moved)
}

/// The heading of a version's section, and its text.
fn section<'t>(changelog: &'t str, version: &str) -> Option<(&'t str, &'t str)> {
    let sections = changelog.split("\n## ").skip(1);
    let mut sections = sections.map(|section| section.split_once('\n').unwrap_or((section, "")));
    sections.find(|(heading, _)| {
        let mut words = heading.split_whitespace();
        words
            .next()
            .is_some_and(|word| word.trim_matches(['[', ']']) == version)
    })
}

/// Packs a crate and builds what was packed, with the registry's copies of its siblings.
fn pack_alone(release: &mut Release, offline: bool) {
    if offline {
        let note = "alone: not tried, as that asks the registry";
        release.notes.push(note.to_owned());
        return;
    }
    let name = release.package.name.clone();
    let words = ["package", "--allow-dirty", "-p", &name];
    eprintln!("$ cargo {}", words.join(" "));
    let Err(error) = cargo_output(&words, &[]) else {
        return;
    };
    match unpublished(&error, &release.package) {
        Some(sibling) => release
            .notes
            .push(format!("alone: {sibling} is not published yet")),
        None => {
            eprintln!("{error}");
            let missing = format!("alone: {}", last_words(&error));
            release.missing.push(missing);
        }
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

/// Packs the crates that change, and all that they depend on, each built against the packed others.
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
    eprintln!("{error}");
    let at = last_named(&error).unwrap_or_default().to_owned();
    let culprit = releases
        .iter()
        .position(|release| release.package.name == at);
    // A failure of no crate in particular is one of all.
    for (index, release) in releases.iter_mut().enumerate() {
        if release.changed && culprit.is_none_or(|culprit| culprit == index) {
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

/// The line that says most of what is wrong, for a table: a summary, the innermost cause, the first
/// error, or the last line.
fn last_words(error: &str) -> String {
    let lines = || error.lines().map(str::trim).filter(|line| !line.is_empty());
    let cause = error.rsplit_once("Caused by:");
    let cause = cause.and_then(|(_, rest)| rest.trim_start().lines().next());
    let line = lines()
        .find(|line| line.starts_with("Summary "))
        .or(cause)
        .or(lines().find(|line| line.to_lowercase().starts_with("error")))
        .or(lines().next_back());
    line.unwrap_or("failed").replace('|', "\\|")
}

/// The order, the commands, and the table.
fn report(releases: &[Release]) -> String {
    let going: Vec<&Release> = releases.iter().filter(|release| release.changed).collect();
    let mut text = String::new();
    if !going.is_empty() {
        let names: Vec<&str> = going.iter().map(|release| &*release.package.name).collect();
        text.push_str(&format!("In this order: {}\n\n", names.join(", ")));
        let mut tags = Vec::new();
        let mut held = BTreeSet::new();
        for release in &going {
            let Package { name, version, .. } = &release.package;
            let below = release.package.siblings().find(|name| held.contains(*name));
            let why = match (release.missing.is_empty(), below) {
                (false, _) => Some("is not ready, see below".to_owned()),
                (true, Some(below)) => Some(format!("waits for {below}")),
                (true, None) => None,
            };
            if let Some(why) = why {
                text.push_str(&format!("# {name} {why}\n"));
                held.insert(name.as_str());
                continue;
            }
            if release.undated {
                let file = format!("{name}'s CHANGELOG.md");
                text.push_str(&format!(
                    "# {file}: the date in place of (unreleased), and commit\n"
                ));
            }
            text.push_str(&format!(
                "cargo publish -p {name}\ngit tag -a {name}-v{version} -m \"{name} {version}\"\n"
            ));
            if release.package.is_program() {
                text.push_str(&format!("cargo build --profile dist -p {name}\n"));
            }
            tags.push(format!("{name}-v{version}"));
        }
        if !tags.is_empty() {
            text.push_str(&format!("git push origin {}\n", tags.join(" ")));
        }
        text.push('\n');
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
        let heading = |version| section(changelog, version).map(|(heading, _)| heading);
        assert_eq!(heading("0.2.0"), Some("[0.2.0] - 2026-01-02"));
        assert_eq!(heading("0.1.0"), Some("0.1.0 (unreleased)"));
        assert_eq!(heading("0.1"), None);
        let text = section(changelog, "0.2.0").map(|(_, text)| text.trim());
        assert_eq!(text, Some("New."));
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
        let cause = "Error: a\n\nCaused by:\n    b\n\nCaused by:\n    c | d\n    e\n";
        assert_eq!(last_words(cause), "c \\| d");
        let semver =
            "--- failure x ---\n\n     Summary semver requires new major version\n  Finished\n";
        assert_eq!(
            last_words(semver),
            "Summary semver requires new major version"
        );
    }

    #[test]
    fn the_report_has_the_commands_in_order() {
        let release = |name: &str, changed, missing: &[&str]| Release {
            package: package(name, "0.1.0", &[]),
            tag: None,
            changed,
            undated: false,
            notes: vec!["first release".to_owned()],
            missing: missing.iter().map(|&text| text.to_owned()).collect(),
        };
        let mut program = release("cli", true, &[]);
        program.package.targets[0].kind = vec!["bin".to_owned()];
        let releases = [
            release("core", true, &[]),
            release("grid", true, &["version: old"]),
            release("text", false, &[]),
            Release {
                package: package("suite", "0.1.0", &["core", "grid"]),
                undated: true,
                ..release("suite", true, &[])
            },
            Release {
                undated: true,
                ..release("class", true, &[])
            },
            program,
        ];
        let expected = "\
In this order: core, grid, suite, class, cli

cargo publish -p core
git tag -a core-v0.1.0 -m \"core 0.1.0\"
# grid is not ready, see below
# suite waits for grid
# class's CHANGELOG.md: the date in place of (unreleased), and commit
cargo publish -p class
git tag -a class-v0.1.0 -m \"class 0.1.0\"
cargo publish -p cli
git tag -a cli-v0.1.0 -m \"cli 0.1.0\"
cargo build --profile dist -p cli
git push origin core-v0.1.0 class-v0.1.0 cli-v0.1.0

| crate | version | notes         | ok, or what is missing |
|-------|---------|---------------|------------------------|
| core  |   0.1.0 | first release | ok                     |
| grid  |   0.1.0 | first release | version: old           |
| text  |   0.1.0 | first release | nothing to release     |
| suite |   0.1.0 | first release | ok                     |
| class |   0.1.0 | first release | ok                     |
| cli   |   0.1.0 | first release | ok                     |
";
        assert_eq!(report(&releases), expected);
    }
}
