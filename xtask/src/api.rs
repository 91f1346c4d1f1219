use std::fs;
use std::path::{Path, PathBuf};

use xtask_common::{Error, WITHOUT_PYTHON, cargo_output, flag, output, program, target};

use crate::packages::{self, Package, chosen};
use crate::tools;

pub(crate) const HELP: &str = "\
Compares the public items of each library with its api.txt, which is reviewed like code.
Without CRATE all. With --write, writes api.txt instead. Needs cargo-public-api, which cargo xtask tools
installs, but no nightly toolchain. The crates are compiled in target/api: the first time takes minutes.";

/// The file with the public items of a crate, in its folder.
const FILE: &str = "api.txt";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (write, names) = flag(arguments, "--write")?;
    tools::require(tools::PUBLIC_API)?;
    let libraries = libraries(&names)?;
    let target = target()?.join("api");
    describe(Path::new("."), &target)?;
    let mut changed = Vec::new();
    for package in &libraries {
        let now = items(&description(&target, &package.name))?;
        let file = package.folder().join(FILE);
        if write {
            fs::write(&file, now).map_err(|error| cannot("write", &file, &error))?;
            continue;
        }
        let reviewed = fs::read_to_string(&file).map_err(|error| cannot("read", &file, &error))?;
        let difference = difference(&reviewed, &now);
        if !difference.is_empty() {
            eprintln!("{}:\n{difference}", package.name);
            changed.push(package.name.clone());
        }
    }
    match changed.as_slice() {
        [] => Ok(()),
        names => Err(format!(
            "the public items of {} are not those of {FILE}: if they should be, cargo xtask api --write",
            names.join(", ")
        )
        .into()),
    }
}

/// The published libraries of these names, or all.
pub(crate) fn libraries(names: &[&str]) -> Result<Vec<Package>, Error> {
    let libraries = packages::publishable()?.into_iter();
    let libraries: Vec<Package> = libraries.filter(Package::is_library).collect();
    let names = chosen(&libraries, names)?;
    let is_chosen = |package: &Package| names.contains(&package.name);
    Ok(libraries.into_iter().filter(is_chosen).collect())
}

fn cannot(what: &str, file: &Path, error: &std::io::Error) -> String {
    format!(
        "{}: cannot {what}: {error} (cargo xtask api --write makes it)",
        file.display()
    )
}

/// Describes all libraries of a checkout with all features, in the JSON that rustdoc writes for other tools.
pub(crate) fn describe(folder: &Path, target: &Path) -> Result<(), String> {
    let doc = ["doc", "--workspace", "--no-deps", "--lib", "--all-features"];
    let words = [&doc, WITHOUT_PYTHON].concat();
    eprintln!("$ cargo {}", words.join(" "));
    let variables = [
        // A stable toolchain writes this form only if told to.
        ("RUSTC_BOOTSTRAP", "1"),
        (
            "RUSTDOCFLAGS",
            "-Z unstable-options --output-format json --cap-lints allow",
        ),
        // Crates that were compiled with these variables cannot be used without them.
        ("CARGO_TARGET_DIR", &*target.to_string_lossy()),
        ("CARGO_INCREMENTAL", "0"),
    ];
    output(&program(), &words, folder, &variables).map(|_| ())
}

/// The file that describes a library.
pub(crate) fn description(target: &Path, name: &str) -> PathBuf {
    let file = format!("{}.json", name.replace('-', "_"));
    target.join("doc").join(file)
}

/// The public items of a library, one per line. Derived implementations and those of all types are left out.
fn items(description: &Path) -> Result<String, String> {
    let file = description.display().to_string();
    cargo_output(&["public-api", "--rustdoc-json", &file, "-sss"], &[])
}

/// The lines that went and those that came.
fn difference(reviewed: &str, now: &str) -> String {
    let without = |lines: &str, others: &str, sign: &str| -> String {
        let others: Vec<&str> = others.lines().collect();
        let lines = lines.lines().filter(|line| !others.contains(line));
        lines.map(|line| format!("{sign} {line}\n")).collect()
    };
    without(reviewed, now, "-") + &without(now, reviewed, "+")
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask_common::root;

    #[test]
    fn a_change_is_shown_and_the_order_is_none() {
        let reviewed = "pub mod a\npub fn a::f()\npub fn a::g()\n";
        assert_eq!(difference(reviewed, reviewed), "");
        let now = "pub mod a\npub fn a::g(u8)\npub fn a::f()\n";
        assert_eq!(
            difference(reviewed, now),
            "- pub fn a::g()\n+ pub fn a::g(u8)\n"
        );
    }

    #[test]
    fn each_published_library_has_its_items_reviewed() {
        let crates = root().join("crates");
        for entry in fs::read_dir(crates).expect("a folder") {
            let folder = entry.expect("an entry").path();
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
            let is_published = !manifest.contains("publish = false");
            let is_library = is_published && folder.join("src/lib.rs").exists();
            let file = folder.join(FILE);
            assert_eq!(file.exists(), is_library, "{}", file.display());
            if is_library {
                let text = fs::read_to_string(&file).expect("the items");
                let start = text.lines().next().unwrap_or_default();
                assert!(start.starts_with("pub mod metric_"), "{}", file.display());
            }
        }
    }
}
