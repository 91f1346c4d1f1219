//! The crates of the workspace, as cargo sees them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use semver::Version;
use serde::Deserialize;

use xtask_common::{Error, cargo_output};

/// A crate of the workspace.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Package {
    pub name: String,
    pub version: Version,
    pub manifest_path: PathBuf,
    pub dependencies: Vec<Dependency>,
    pub rust_version: Option<String>,
    /// The registries it may go to: none named is all, an empty list is nowhere.
    pub publish: Option<Vec<String>>,
    pub targets: Vec<Target>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Dependency {
    pub name: String,
    pub kind: Option<String>,
    pub path: Option<PathBuf>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Target {
    pub kind: Vec<String>,
}

impl Package {
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("."))
    }

    pub(crate) fn publishable(&self) -> bool {
        self.publish.as_ref().is_none_or(|to| !to.is_empty())
    }

    pub(crate) fn is_library(&self) -> bool {
        self.builds("lib")
    }

    pub(crate) fn is_program(&self) -> bool {
        self.builds("bin")
    }

    fn builds(&self, wanted: &str) -> bool {
        let mut kinds = self.targets.iter().flat_map(|target| &target.kind);
        kinds.any(|kind| kind == wanted)
    }

    /// The crates of the workspace that a user of this one gets with it.
    pub(crate) fn siblings(&self) -> impl Iterator<Item = &str> {
        let siblings = self.dependencies.iter().filter(|dependency| {
            dependency.path.is_some() && dependency.kind.as_deref() != Some("dev")
        });
        siblings.map(|dependency| dependency.name.as_str())
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// The crates that are published, each after those it depends on.
pub(crate) fn publishable() -> Result<Vec<Package>, String> {
    let metadata = cargo_output(
        &[
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ],
        &[],
    )?;
    let metadata: Metadata =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata.packages.into_iter();
    in_order(packages.filter(Package::publishable).collect())
}

/// Each after those it depends on; among equals the one on which more depend, then by name.
pub(crate) fn in_order(mut packages: Vec<Package>) -> Result<Vec<Package>, String> {
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    let mut ordered: Vec<Package> = Vec::new();
    while !packages.is_empty() {
        let stands = |package: &Package| {
            let mut siblings = package.siblings();
            siblings.all(|name| packages.iter().all(|waiting| waiting.name != name))
        };
        // All that can go go at once, so that the leaves stay together.
        let (ready, waiting): (Vec<_>, Vec<_>) = packages
            .iter()
            .cloned()
            .partition(|package| stands(package));
        if ready.is_empty() {
            let names: Vec<_> = waiting.into_iter().map(|package| package.name).collect();
            return Err(format!("crates that need each other: {}", names.join(", ")));
        }
        ordered.extend(ready);
        packages = waiting;
    }
    Ok(ordered)
}

/// Those of these names, and their dependencies, in the same order.
pub(crate) fn with_siblings(packages: &[Package], names: &BTreeSet<String>) -> Vec<Package> {
    let mut wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    for package in packages.iter().rev() {
        if wanted.contains(package.name.as_str()) {
            wanted.extend(package.siblings());
        }
    }
    let wanted = packages
        .iter()
        .filter(|package| wanted.contains(package.name.as_str()));
    wanted.cloned().collect()
}

/// The crates of these names, or all; an unknown name is an error.
pub(crate) fn chosen(packages: &[Package], names: &[&str]) -> Result<BTreeSet<String>, Error> {
    let known = |name: &str| packages.iter().any(|package| package.name == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let all: Vec<_> = packages.iter().map(|package| &*package.name).collect();
        return Err(Error::Usage(format!(
            "no crate {unknown}; there are {}",
            all.join(", ")
        )));
    }
    let all = packages.iter().map(|package| package.name.clone());
    Ok(all
        .filter(|name| names.is_empty() || names.contains(&name.as_str()))
        .collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn package(name: &str, version: &str, siblings: &[&str]) -> Package {
        let dependency =
            |name: &&str| serde_json::json!({"name": name, "kind": null, "path": "/x"});
        let package = serde_json::json!({
            "name": name, "version": version, "manifest_path": "/x/Cargo.toml",
            "dependencies": siblings.iter().map(dependency).collect::<Vec<_>>(),
            "targets": [{"kind": ["lib"]}],
        });
        serde_json::from_value(package).expect("a package")
    }

    fn names(packages: &[Package]) -> Vec<&str> {
        packages.iter().map(|package| &*package.name).collect()
    }

    #[test]
    fn core_leaves_umbrella_program() {
        let shuffled = vec![
            package("cli", "0.1.0", &["suite"]),
            package("grid", "0.1.0", &["core"]),
            package("suite", "0.1.0", &["core", "grid", "class"]),
            package("class", "0.1.0", &["core"]),
            package("core", "0.1.0", &[]),
        ];
        let ordered = in_order(shuffled).expect("an order");
        assert_eq!(names(&ordered), ["core", "class", "grid", "suite", "cli"]);
        let grid = with_siblings(&ordered, &["grid".to_owned()].into());
        assert_eq!(names(&grid), ["core", "grid"]);
        let program = with_siblings(&ordered, &["cli".to_owned()].into());
        assert_eq!(program.len(), 5);
    }

    #[test]
    fn a_ring_has_no_order() {
        let ring = vec![package("a", "0.1.0", &["b"]), package("b", "0.1.0", &["a"])];
        let error = in_order(ring).map(|_| ());
        assert_eq!(error, Err("crates that need each other: a, b".to_owned()));
    }

    #[test]
    fn an_unknown_name_is_a_wrong_call() {
        let all = [package("a", "0.1.0", &[]), package("b", "0.1.0", &[])];
        assert_eq!(chosen(&all, &[]).map(|names| names.len()), Ok(2));
        assert_eq!(chosen(&all, &["b"]), Ok(["b".to_owned()].into()));
        let error = Err(Error::Usage("no crate c; there are a, b".to_owned()));
        assert_eq!(chosen(&all, &["c"]), error);
    }
}
