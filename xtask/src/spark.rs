//! Tests the Python package on a cluster of Apache Spark, with executors that are processes of their own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python::{install, python, shown};
use crate::steps::Steps;
use xtask_common::{Error, cargo, flag, root};

pub(crate) const HELP: &str = "\
Tests the Python package on Apache Spark: two executors on this machine, which nobody else can reach.
Makes an environment under target/spark, with PySpark from PyPI. --full tests every metric in every way. Needs
Java 17 or 21 (of $JAVA_HOME, or java), and Python 3.10 or later with the module venv (of $PYTHON, or python3).
Stops all that it started.";

/// The version of Spark is pinned: its executors run our code. pandas 3 is not yet for PySpark.
const PACKAGES: &[&str] = &[
    "maturin>=1.9,<2",
    "pyspark[connect]==4.3.0",
    "pandas<3",
    "pyarrow",
    "numpy",
    "pytest",
    "jiwer==4.0.0",
    "mypy",
];

/// Packages of the recipes in docs/scale.md. What cannot be installed is not tested.
const RECIPES: &[&str] = &["dask[dataframe,distributed]", "ray[data]"];

const JAVA: &[u32] = &[17, 21];

/// Marks the processes of a run, which inherit it.
const MARK: &str = "METRIC_SUITE_SPARK_RUN";

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (is_full, names) = flag(arguments, "--full")?;
    xtask_common::no_arguments(&names)?;
    let found = requirements()?;
    let mut all = Steps::default();
    steps(&found, is_full, &mut all)?;
    all.print();
    Ok(())
}

/// The steps of testing on Spark, where there are Java and Python; otherwise says that they are left out.
pub(crate) fn steps_of_test(steps: &mut Steps) -> Result<(), Error> {
    match requirements() {
        Ok(found) => self::steps(&found, false, steps),
        Err(problem) => {
            eprintln!("APACHE SPARK IS NOT TESTED: {problem}");
            Ok(())
        }
    }
}

/// The Python and the home of the Java that are used.
struct Found {
    python: String,
    java: Option<PathBuf>,
}

fn requirements() -> Result<Found, String> {
    let java = java()?;
    let python =
        python().ok_or("needs Python 3.10 or later with the module venv, as python3 or $PYTHON")?;
    Ok(Found { python, java })
}

/// The home of a Java that Spark runs on; `None` for the one on the path.
fn java() -> Result<Option<PathBuf>, String> {
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let on_path = java_version(Path::new("java"));
    let of_home = home.map(|home| (java_version(&home.join("bin/java")), home));
    let fits = |version: Option<u32>| version.is_some_and(|it| JAVA.contains(&it));
    match &of_home {
        Some((version, home)) if fits(*version) => return Ok(Some(home.clone())),
        None if fits(on_path) => return Ok(None),
        _ => {}
    }
    // Debian installs versions next to each other.
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let homes: BTreeMap<PathBuf, Option<u32>> = installed
        .map(|entry| entry.path())
        .map(|home| (home.clone(), java_version(&home.join("bin/java"))))
        .collect();
    if let Some((home, _)) = homes.into_iter().find(|(_, version)| fits(*version)) {
        return Ok(Some(home));
    }
    let other = of_home.map_or(on_path, |(version, _)| version);
    let found = other.map_or_else(
        || "found no Java".to_owned(),
        |version| format!("found Java {version}"),
    );
    Err(format!(
        "{found}: expected Java 17 or 21, as $JAVA_HOME or java. On Debian and Ubuntu: \
         apt-get install openjdk-17-jre-headless. Elsewhere: https://adoptium.net, then set JAVA_HOME"
    ))
}

/// The version of a program that is Java.
fn java_version(program: &Path) -> Option<u32> {
    let run = Command::new(program).arg("-version").output().ok()?;
    // Java prints its version as an error.
    version_in(&String::from_utf8_lossy(&run.stderr))
}

/// The version in what `java -version` prints: `openjdk version "17.0.15" 2025-04-15`.
fn version_in(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("version \"")?;
    let number = rest.split(['.', '"', '-']).next()?;
    number.parse().ok()
}

fn steps(found: &Found, is_full: bool, steps: &mut Steps) -> Result<(), Error> {
    let environment = root().join("target/spark");
    let recipes = root().join("target/spark-recipes.txt");
    steps.run("environment of Spark", || {
        install(&found.python, &environment, PACKAGES, &[])?;
        install_recipes(&environment, &recipes)
    })?;
    let program = |name: &str| environment.join("bin").join(name).display().to_string();
    steps.run("build for Spark", || {
        shown(&program("maturin"), &["develop", "--quiet"], &environment)?;
        cargo(&["build", "-p", "metric-cli"], &[])
    })?;
    steps.run("tests on Spark", || {
        let types = ["-m", "mypy", "--strict", "-m", "metric_suite.spark"];
        shown(&program("python"), &types, &environment)?;
        let mark = std::process::id().to_string();
        let mut words = vec!["-m", "pytest", "-q", "tests_spark"];
        if is_full {
            words.push("--full");
        }
        eprintln!("$ {} {}", program("python"), words.join(" "));
        let mut tests = Command::new(program("python"));
        tests
            .args(&words)
            .current_dir(root().join("python"))
            .env(MARK, &mark)
            .env("METRIC", root().join("target/debug/metric"))
            .env_remove("SPARK_HOME")
            .env_remove("SPARK_CONF_DIR");
        if let Some(home) = &found.java {
            tests.env("JAVA_HOME", home);
        }
        let status = tests.status();
        stop(&mark);
        let status = status.map_err(|error| format!("cannot run the tests: {error}"))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the tests on Spark: {status}"))
        }
    })
}

/// Installs the packages of recipes, once.
fn install_recipes(environment: &Path, done: &Path) -> Result<(), String> {
    let wanted = RECIPES.join("\n");
    let marker = environment.join("installed.txt");
    let is_newer = || {
        Some(
            fs::metadata(done).ok()?.modified().ok()?
                > fs::metadata(&marker).ok()?.modified().ok()?,
        )
    };
    if is_newer() == Some(true) && fs::read_to_string(done).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    let own = environment.join("bin/python").display().to_string();
    for package in RECIPES {
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            package,
        ];
        if let Err(problem) = xtask_common::output(&own, &pip, Path::new("."), &[]) {
            eprintln!("THE RECIPES FOR {package} ARE NOT TESTED: {problem}");
        }
    }
    fs::write(done, wanted).map_err(|error| format!("{}: {error}", done.display()))
}

/// Ends the processes of a run that are left over. Where there is no /proc, those of Spark end with its session.
fn stop(mark: &str) {
    let marked = format!("{MARK}={mark}");
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    for folder in folders {
        let name = folder.file_name().to_string_lossy().into_owned();
        let Ok(variables) = fs::read(folder.path().join("environ")) else {
            continue;
        };
        let mut variables = variables.split(|byte| *byte == 0);
        if variables.any(|variable| variable == marked.as_bytes()) {
            eprintln!("ends process {name}, which is left over");
            let _ = Command::new("kill").args(["-9", &name]).status();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_java() {
        for (text, expected) in [
            ("openjdk version \"17.0.15\" 2025-04-15", Some(17)),
            ("openjdk version \"21\" 2023-09-19", Some(21)),
            ("openjdk version \"22-ea\" 2024-03-19", Some(22)),
            ("java version \"1.8.0_392\"", Some(1)),
            ("no Java here", None),
        ] {
            assert_eq!(version_in(text), expected, "{text}");
        }
    }
}
