//! Builds what is released of the Python package, and tries it where nothing else is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::python::{ALONE, CHECKS, PACKAGES, environment, install, python};
use crate::steps::Steps;
use xtask_common::{Error, cargo_output, output, print, root};

pub(crate) const HELP: &str = "\
Builds the wheel and the source distribution of the Python package, and checks them.
Both are in target/wheels. Checks their metadata with twine, installs the wheel in an empty environment of each
Python from 3.10 that is found, scores there, and prints the size of the wheel. --notices only writes python/THIRD-PARTY.txt: the licenses of everything that is built in.";

/// The most bytes that a wheel should have.
const LARGEST: u64 = 14_000_000;

/// The first score of a newcomer.
const FIRST_SCORE: &str = "\
import metric_suite
result = metric_suite.wer(predictions=['the cat'], references=['the cat sat'])
print(result['wer'])";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (notices_only, names) = xtask_common::flag(arguments, "--notices")?;
    xtask_common::no_arguments(&names)?;
    let notices = notices()?;
    let path = root().join("python/THIRD-PARTY.txt");
    let failed = |error| format!("{}: {error}", path.display());
    if notices_only {
        return Ok(fs::write(&path, notices).map_err(failed)?);
    }
    if fs::read_to_string(&path).map_err(failed)? != notices {
        let problem = "python/THIRD-PARTY.txt is old: run `cargo xtask wheel --notices`";
        return Err(Error::Failed(problem.to_owned()));
    }
    let Some(python) = python() else {
        let problem = "needs Python 3.10 or later with the module venv, as python3 or $PYTHON";
        return Err(Error::Failed(problem.to_owned()));
    };
    let mut steps = Steps::default();
    let built = environment();
    let program = |name: &str| built.join("bin").join(name).display().to_string();
    let wheels = root().join("target/wheels");
    let folder = wheels.display().to_string();
    steps.run("Python environment", || {
        install(&python, &built, &[PACKAGES, CHECKS].concat(), ALONE)
    })?;
    steps.run("build", || {
        let _ = fs::remove_dir_all(&wheels);
        let variables = [("VIRTUAL_ENV", &*built.display().to_string())];
        let package = root().join("python");
        let wheel = [
            "build",
            "--release",
            "--strip",
            "--locked",
            "--quiet",
            "--out",
            &folder,
        ];
        output(&program("maturin"), &wheel, &package, &variables)?;
        let source = ["sdist", "--out", &folder];
        output(&program("maturin"), &source, &package, &variables).map(drop)
    })?;
    let files = distributions(&wheels)?;
    let wheel = files
        .iter()
        .find(|path| path.extension().is_some_and(|it| it == "whl"));
    let wheel = wheel.ok_or_else(|| "maturin built no wheel".to_owned())?;
    steps.run("metadata", || {
        let files = files.iter().map(|path| path.display().to_string());
        let files: Vec<String> = files.collect();
        let words = ["-m", "twine", "check", "--strict"];
        let words: Vec<&str> = words
            .into_iter()
            .chain(files.iter().map(String::as_str))
            .collect();
        output(&program("python"), &words, Path::new("."), &[]).map(drop)
    })?;
    let source = files
        .iter()
        .find(|path| path.extension().is_some_and(|it| it == "gz"));
    let source = source.ok_or_else(|| "maturin built no source distribution".to_owned())?;
    steps.run("source distribution", || try_source(&python, source))?;
    steps.run("installs", || {
        let pythons = pythons(&python);
        pythons
            .iter()
            .try_for_each(|python| try_wheel(python, wheel))
    })?;
    steps.print();
    let size = |path: &PathBuf| fs::metadata(path).map_or(0, |file| file.len());
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        print(&format!("{name}: {:.1} MB\n", size(file) as f64 / 1e6));
    }
    if size(wheel) > LARGEST {
        return Err(Error::Failed(format!(
            "the wheel has more than {LARGEST} bytes"
        )));
    }
    Ok(())
}

/// The files in the folder that maturin writes to, in the order of their names.
fn distributions(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?.flatten();
    let files: BTreeSet<PathBuf> = entries.map(|entry| entry.path()).collect();
    match files.len() {
        2 => Ok(files.into_iter().collect()),
        count => Err(format!(
            "{}: {count} files: expected a wheel and a source distribution",
            folder.display()
        )),
    }
}

/// The Pythons that the wheel is for: the one that is used, and others by their names on the path or from pyenv.
fn pythons(own: &str) -> Vec<String> {
    let named = (10..=15).map(|minor| format!("python3.{minor}"));
    let home = std::env::home_dir().unwrap_or_default();
    let pyenv = fs::read_dir(home.join(".pyenv/versions"));
    let versions = pyenv.into_iter().flatten().flatten();
    let of_pyenv = versions.map(|version| version.path().join("bin/python3").display().to_string());
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let version = "import sys, venv, ensurepip; assert sys.version_info >= (3, 10); print('%d.%d.%d' % sys.version_info[:3])";
    for python in std::iter::once(own.to_owned()).chain(named).chain(of_pyenv) {
        if let Ok(version) = output(&python, &["-c", version], Path::new("."), &[]) {
            found.entry(version.trim().to_owned()).or_insert(python);
        }
    }
    found.into_values().collect()
}

/// Unpacks a source distribution, and has cargo read it: it has all crates, and the versions that were tested.
fn try_source(python: &str, source: &Path) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let source = source.display().to_string();
    let to = folder.path().display().to_string();
    output(
        python,
        &["-m", "tarfile", "-e", &source, &to],
        Path::new("."),
        &[],
    )?;
    let mut unpacked = fs::read_dir(folder.path())
        .map_err(|error| error.to_string())?
        .flatten();
    let unpacked = unpacked.next().ok_or("the source distribution is empty")?;
    let manifest = unpacked.path().join("crates/metric-python/Cargo.toml");
    let manifest = manifest.display().to_string();
    let words = [
        "metadata",
        "--offline",
        "--format-version",
        "1",
        "--manifest-path",
        &manifest,
    ];
    cargo_output(&words, &[]).map(drop)
}

/// Installs the wheel in an empty environment, and scores there.
fn try_wheel(python: &str, wheel: &Path) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let environment = folder.path().join("empty");
    let here = folder.path();
    output(
        python,
        &["-m", "venv", &environment.display().to_string()],
        here,
        &[],
    )?;
    let own = environment.join("bin/python").display().to_string();
    let wheel = wheel.display().to_string();
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        &wheel,
    ];
    output(&own, &pip, here, &[])?;
    let score = output(&own, &["-c", FIRST_SCORE], here, &[])?;
    if score.trim() != "0.3333333333333333" {
        return Err(format!("{python}: the first score is {score}"));
    }
    let notices = "import importlib.metadata as m; print([f for f in m.files('metric-suite') if 'THIRD-PARTY' in str(f)][0].locate().exists())";
    output(&own, &["-c", notices], here, &[]).map(drop)
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    manifest_path: PathBuf,
    source: Option<String>,
}

/// The licenses of everything that is built into the package: each text once, after the crates that have it.
fn notices() -> Result<String, String> {
    let built = built()?;
    let metadata = cargo_output(&["metadata", "--format-version", "1", "--locked"], &[])?;
    let metadata: Metadata =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut add = |text: String, of: String| {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        texts
            .entry(lines.join("\n").trim().to_owned())
            .or_default()
            .insert(of);
    };
    for package in metadata.packages {
        let Package {
            name,
            version,
            license,
            manifest_path,
            source,
        } = package;
        if !built.contains(&(name.clone(), version.clone())) {
            continue;
        }
        let folder = manifest_path.parent().unwrap_or(Path::new("."));
        let license = license.unwrap_or_default();
        let of = format!("{name} {version} ({license})");
        let is_ours = source.is_none();
        let mut found = false;
        for folder in [folder.to_owned(), folder.join("keywords")] {
            for path in distributed_licenses(&folder) {
                let file = path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                // Our own licenses are files of their own.
                if is_ours && ["LICENSE-APACHE", "LICENSE-MIT"].contains(&&*file) {
                    continue;
                }
                let text = fs::read_to_string(&path)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                found = true;
                add(text, of.clone());
            }
        }
        if !found && !is_ours {
            add(
                format!("Licensed under {license}. The crate has no text of the license."),
                of,
            );
        }
    }
    Ok(document(texts))
}

/// The names and versions of the crates that are built into the package.
fn built() -> Result<BTreeSet<(String, String)>, String> {
    let tree = [
        "tree",
        "-p",
        "metric-python",
        "-e",
        "normal",
        "--prefix",
        "none",
        "--target",
        "all",
        "--format",
        "{p}",
        "--locked",
    ];
    let tree = cargo_output(&tree, &[])?;
    let words = |line: &str| {
        let mut words = line.split(' ');
        Some((
            words.next()?.to_owned(),
            words.next()?.trim_start_matches('v').to_owned(),
        ))
    };
    Ok(tree.lines().filter_map(words).collect())
}

/// The notices as a text: each license after the crates that it belongs to.
fn document(texts: BTreeMap<String, BTreeSet<String>>) -> String {
    let mut text = "Third-party notices of the Python package metric-suite.\n\n\
        It is built from these works: parsers of programming languages (tree-sitter), lists of keywords, tables of the\n\
        VQA evaluation, Arrow and Parquet, and further libraries. Each license follows the crates that it belongs to.\n\
        Written by `cargo xtask wheel --notices`.\n"
        .to_owned();
    let mut sections: Vec<(BTreeSet<String>, String)> = texts
        .into_iter()
        .map(|(text, crates)| (crates, text))
        .collect();
    sections.sort();
    for (crates, license) in sections {
        let crates: Vec<String> = crates.into_iter().collect();
        text.push_str(&format!(
            "\n{}\n{}\n\n{license}\n",
            "=".repeat(80),
            crates.join("\n")
        ));
    }
    text
}

/// The files of a folder whose names say that they are licenses or notices.
fn distributed_licenses(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_license = |path: &PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_uppercase();
        let starts = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];
        path.is_file() && starts.iter().any(|start| name.starts_with(start))
    };
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(is_license)
        .collect();
    files.sort();
    files
}
