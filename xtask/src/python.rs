//! Builds the Python package in an environment of its own, and tests it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::Steps;
use xtask_common::{Error, WITHOUT_PYTHON, cargo, output, root};

pub(crate) const HELP: &str = "\
Builds the Python package, and runs its tests.
Makes an environment under target/python, with what the tests need from PyPI. --check also runs the lints and checks
the types; --build builds it as wheels are built, and runs no tests. Needs Python 3.10 or later with the module venv: that of $PYTHON, or python3.";

/// The packages that the tests need, and those whose interfaces and numbers are kept.
pub(crate) const PACKAGES: &[&str] = &[
    "maturin>=1.9,<2",
    "jsonschema",
    "evaluate",
    "jiwer==4.0.0",
    "pycocotools==2.0.11",
    "sacrebleu==2.6.0",
    "rouge-score==0.1.2",
    "scikit-learn",
    "numpy",
    "pyarrow",
    "pandas",
    "polars",
    "hypothesis",
    "nbclient",
    "ipykernel",
    "pytest",
];

/// The packages of checks that are not tests.
pub(crate) const CHECKS: &[&str] = &["check-jsonschema", "mypy", "pyright[nodejs]", "twine"];

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let python = python().ok_or_else(|| Error::Failed(format!("needs {NEEDED}")));
    let mut all = Steps::default();
    match words[..] {
        [] => tests(&python?, &mut all)?,
        ["--check"] => all_steps(&mut all)?,
        ["--build"] => return Ok(build_as_released(&python?)?),
        _ => {
            let expected = "expected --check, --build or nothing";
            return Err(Error::Usage(expected.to_owned()));
        }
    }
    all.print();
    Ok(())
}

const NEEDED: &str = "Python 3.10 or later with the module venv, as python3 or $PYTHON";

/// Installs what the tests need, and returns the Python that they run; otherwise what is missing.
pub(crate) fn prepare() -> Result<String, String> {
    let python = python().ok_or_else(|| format!("this needs {NEEDED}"))?;
    install(&python, &environment(), PACKAGES, ALONE)?;
    Ok(python)
}

/// The steps of testing the package where that was prepared; otherwise says why not.
pub(crate) fn tests_if_possible(
    steps: &mut Steps,
    prepared: Result<String, String>,
) -> Result<(), Error> {
    match prepared {
        Ok(python) => tests(&python, steps),
        Err(problem) => {
            eprintln!("THE PYTHON PACKAGE IS NOT TESTED: {problem}");
            Ok(())
        }
    }
}

/// The steps of tests and checks, which must run.
pub(crate) fn all_steps(steps: &mut Steps) -> Result<(), Error> {
    let python = python().ok_or_else(|| Error::Failed(format!("needs {NEEDED}")))?;
    tests(&python, steps)?;
    checks(&python, steps)
}

/// The folder of the environment.
pub(crate) fn environment() -> PathBuf {
    root().join("target/python")
}

fn tests(python: &str, steps: &mut Steps) -> Result<(), Error> {
    let environment = environment();
    let program = |name: &str| environment.join("bin").join(name).display().to_string();
    let own = program("python");
    steps.run("Python environment", || {
        install(python, &environment, PACKAGES, ALONE)
    })?;
    steps.run("build the Python package", || {
        let build = ["develop", "--quiet", "--locked"];
        shown(&program("maturin"), &build, &environment)
    })?;
    steps.run("tests of the Python package", || {
        shown(&own, &["generate.py", "--check"], &environment)
            .map_err(|error| format!("{error}: run `python generate.py` in the folder python"))?;
        shown(&own, &["-m", "pytest", "-q"], &environment)
    })
}

/// The lints of the extension, the types of the package, and the workflow that builds its wheels.
fn checks(python: &str, steps: &mut Steps) -> Result<(), Error> {
    let environment = environment();
    let program = |name: &str| environment.join("bin").join(name).display().to_string();
    let own = program("python");
    steps.run("checks of the Python package", || {
        let packages = [PACKAGES, CHECKS].concat();
        install(python, &environment, &packages, ALONE)?;
        let lint = ["clippy", "-p", WITHOUT_PYTHON[1], "--", "-D", "warnings"];
        cargo(&lint, &[("PYO3_PYTHON", &own)])?;
        let types = ["-m", "mypy", "--strict", "-p", "metric_suite"];
        shown(&own, &types, &environment)?;
        shown(&program("pyright"), &["--pythonpath", &own], &environment)?;
        let workflows = [
            "--builtin-schema",
            "vendor.github-workflows",
            "../.github/workflows/wheels.yml",
        ];
        shown(&program("check-jsonschema"), &workflows, &environment)?;
        let action = ["--builtin-schema", "vendor.github-actions", "../action.yml"];
        shown(&program("check-jsonschema"), &action, &environment)
    })
}

/// Builds the package in place, as wheels are built.
fn build_as_released(python: &str) -> Result<(), String> {
    let environment = environment();
    install(python, &environment, PACKAGES, ALONE)?;
    let program = |name: &str| environment.join("bin").join(name).display().to_string();
    let build = ["develop", "--quiet", "--locked", "--release"];
    shown(&program("maturin"), &build, &environment)?;
    // As pip does: without it, an import also compiles.
    let compile = ["-m", "compileall", "-q", "metric_suite"];
    shown(&program("python"), &compile, &environment)
}

/// A Python that is new enough, and has the module that makes environments.
pub(crate) fn python() -> Option<String> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let fits = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    let run = Command::new(&python).args(["-c", fits]).output();
    run.is_ok_and(|run| run.status.success()).then_some(python)
}

/// Requirements that are installed without their dependencies, which are older than the grammars of the comparison.
pub(crate) const ALONE: &[&str] = &["benches/peers/requirements/codebleu.txt"];

/// Makes an environment, unless it is there, and installs the packages, unless they are. Those of the files in `alone`
/// are installed without what they ask for.
pub(crate) fn install(
    python: &str,
    environment: &Path,
    packages: &[&str],
    alone: &[&str],
) -> Result<(), String> {
    let done: PathBuf = environment.join("installed.txt");
    let mut wanted: Vec<String> = packages.iter().map(|&name| name.to_owned()).collect();
    for file in alone {
        let pinned = std::fs::read_to_string(root().join(file));
        let pinned = pinned.map_err(|error| format!("{file}: {error}"))?;
        wanted.extend(pinned.lines().map(str::to_owned));
    }
    let installed = std::fs::read_to_string(&done).unwrap_or_default();
    if wanted
        .iter()
        .all(|line| installed.lines().any(|it| it == line))
    {
        return Ok(());
    }
    let folder = environment.display().to_string();
    let make = ["-m", "venv", &folder];
    output(python, &make, Path::new("."), &[])?;
    let own = environment.join("bin/python").display().to_string();
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    output(&own, &[&pip, packages].concat(), Path::new("."), &[])?;
    for file in alone {
        let file = root().join(file).display().to_string();
        let words = ["--no-deps", "-r", &*file];
        output(&own, &[&pip[..], &words].concat(), Path::new("."), &[])?;
    }
    std::fs::write(&done, wanted.join("\n")).map_err(|error| format!("{}: {error}", done.display()))
}

/// Runs a program of the environment in the folder of the package.
pub(crate) fn shown(program: &str, arguments: &[&str], environment: &Path) -> Result<(), String> {
    let words = arguments.join(" ");
    eprintln!("$ {program} {words}");
    let status = Command::new(program)
        .args(arguments)
        .current_dir(root().join("python"))
        .env("VIRTUAL_ENV", environment)
        .status()
        .map_err(|error| format!("cannot run {program}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{program} {words}: {status}"))
    }
}
