//! The history of a crate in git: its last release, and the changes since.

use std::path::Path;

use semver::Version;

use crate::packages::Package;
use xtask_common::output;

fn git(arguments: &[&str]) -> Result<String, String> {
    output("git", arguments, Path::new("."), &[])
        .map_err(|error| format!("git {}: {error}", arguments.join(" ")))
}

/// The tag of a release, `CRATE-vVERSION`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tag {
    pub name: String,
    pub version: Version,
}

/// The tag of the newest release of a crate.
pub(crate) fn last_release(package: &Package) -> Result<Option<Tag>, String> {
    let tags = git(&["tag", "--list", &format!("{}-v*", package.name)])?;
    Ok(newest(&package.name, &tags))
}

fn newest(name: &str, tags: &str) -> Option<Tag> {
    let tags = tags.lines().filter_map(|tag| {
        let version = tag.strip_prefix(name)?.strip_prefix("-v")?;
        let version = Version::parse(version).ok()?;
        Some(Tag {
            name: tag.to_owned(),
            version,
        })
    });
    tags.max_by(|a, b| a.version.cmp(&b.version))
}

/// The changes of a crate since a tag: its files, and the settings it inherits from the workspace.
pub(crate) fn changed(package: &Package, tag: &Tag) -> Result<Vec<String>, String> {
    let folder = package.folder().display().to_string();
    let files = git(&["diff", "--name-only", &tag.name, "--", &folder])?;
    let mut changed: Vec<String> = files.lines().map(str::to_owned).collect();
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let (root, own) = (
        read(Path::new("Cargo.toml"))?,
        read(&package.manifest_path)?,
    );
    let (before, now) = (
        inherited(&show(tag, "Cargo.toml")?, &own),
        inherited(&root, &own),
    );
    let moved = now.iter().filter(|line| !before.contains(line));
    changed.extend(moved.map(|line| format!("Cargo.toml: {line}")));
    Ok(changed)
}

/// The crate's `rust-version`, in words, if it is greater than at a tag.
pub(crate) fn newer_rust(package: &Package, tag: &Tag) -> Result<Option<String>, String> {
    let numbers = |text: &str| -> Vec<u64> {
        let parts = text.split('.').map_while(|part| part.parse().ok());
        parts.collect()
    };
    let workspace = show(tag, "Cargo.toml")?;
    let then = workspace
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "))
        .unwrap_or_default()
        .trim_matches('"');
    let now = package.rust_version.as_deref().unwrap_or_default();
    Ok((numbers(now) > numbers(then)).then(|| format!("rust-version is {now}, was {then}")))
}

/// The result of `work` on the files as they were, in a folder of their own.
pub(crate) fn checked_out<T>(
    revision: &str,
    work: impl FnOnce(&Path) -> Result<T, String>,
) -> Result<T, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let folder = folder.path().join("checkout");
    let name = folder.display().to_string();
    git(&["worktree", "add", "--detach", &name, revision])?;
    let done = work(&folder);
    git(&["worktree", "remove", "--force", &name])?;
    done
}

/// The files of a crate that are not committed.
pub(crate) fn uncommitted(package: &Package) -> Result<bool, String> {
    let folder = package.folder().display().to_string();
    let status = git(&["status", "--porcelain", "--", &folder, "Cargo.toml"])?;
    Ok(!status.trim().is_empty())
}

/// A file as it was.
pub(crate) fn show(tag: &Tag, path: &str) -> Result<String, String> {
    git(&["show", &format!("{}:{path}", tag.name)])
}

/// The files of a folder as they were.
pub(crate) fn list(tag: &Tag, folder: &str) -> Result<Vec<String>, String> {
    let files = git(&["ls-tree", "-r", "--name-only", &tag.name, "--", folder])?;
    Ok(files.lines().map(str::to_owned).collect())
}

/// The lines of the workspace's manifest that a crate's own refers to: the shared fields, and the
/// dependencies it names.
fn inherited(workspace: &str, own: &str) -> Vec<String> {
    let named = |name: &str| {
        let mut lines = own.lines();
        lines.any(|line| {
            line.split_once(" = ")
                .is_some_and(|(key, value)| key == name && value.contains("workspace = true"))
        })
    };
    let mut section = "";
    let mut lines = Vec::new();
    for line in workspace.lines() {
        if line.starts_with('[') {
            section = line;
        }
        let Some((key, _)) = line.split_once(" = ") else {
            continue;
        };
        let inherits = match section {
            "[workspace.package]" => own.contains(&format!("{key}.workspace = true")),
            "[workspace.dependencies]" => named(key),
            _ => false,
        };
        if inherits {
            lines.push(line.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_tag_is_by_version_and_of_the_crate() {
        let tags = "metric-code-v0.9.0\nmetric-code-v0.10.0\nmetric-code-viewer-v9.0.0\n\
                    metric-code-vnext\n";
        let tag = newest("metric-code", tags).expect("a tag");
        assert_eq!(tag.name, "metric-code-v0.10.0");
        assert_eq!(newest("metric", tags), None);
    }

    #[test]
    fn only_what_the_crate_names_is_inherited() {
        let workspace = "[workspace.package]\nedition = \"2024\"\nlicense = \"MIT\"\n\
                         [workspace.dependencies]\nserde = \"1\"\nserde_json = \"1\"\n\
                         [profile.release]\nserde = \"x\"\n";
        let own = "edition.workspace = true\n[dependencies]\nserde = { workspace = true }\n";
        let lines = ["edition = \"2024\"", "serde = \"1\""];
        assert_eq!(inherited(workspace, own), lines);
    }
}
