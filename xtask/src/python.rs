//! Builds the Python package in an environment of its own, and tests it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::Steps;
use xtask_common::{Error, WITHOUT_PYTHON, cargo, output, root};

pub(crate) const HELP: &str = "\
Builds the Python package, and runs its tests.
Makes an environment under target/python, with what the tests need from PyPI. --release builds it as wheels
are built; --build does the same, and runs no tests. Needs Python 3.10 or later with the module venv: that of $PYTHON, or python3.";

/// The packages that the tests need, and those whose interfaces and numbers are kept.
pub(crate) const PACKAGES: &[&str] = &[
    "maturin>=1.9,<2",
    // Also brings jsonschema, which the tests of docs/schema use.
    "check-jsonschema",
    "evaluate",
    "jiwer==4.0.0",
    "pycocotools==2.0.11",
    "scikit-learn",
    "numpy",
    "pyarrow",
    "pandas",
    "polars",
    "hypothesis",
    "mypy",
    "nbclient",
    "ipykernel",
    "pyright[nodejs]",
    "pytest",
    "twine",
    "zopflipy",
];

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_release = match words[..] {
        [] => false,
        ["--release"] => true,
        ["--build"] => return Ok(build_as_released()?),
        _ => {
            return Err(Error::Usage(
                "expected --release, --build or nothing".to_owned(),
            ));
        }
    };
    let Some(python) = python() else {
        let problem = "needs Python 3.10 or later with the module venv, as python3 or $PYTHON";
        return Err(Error::Failed(problem.to_owned()));
    };
    let mut all = Steps::default();
    steps(&python, is_release, &mut all)?;
    all.print();
    Ok(())
}

/// The steps of testing the package, where there is a Python that can, and what the tests need can be installed;
/// otherwise fails if they must run, and else says so.
pub(crate) fn steps_of_test(must_run: bool, steps: &mut Steps) -> Result<(), Error> {
    let problem = match python() {
        Some(python) => match install(&python, &environment(), PACKAGES, ALONE) {
            Ok(()) => return self::steps(&python, false, steps),
            Err(problem) => problem,
        },
        None => "there is no Python 3.10 or later with the module venv".to_owned(),
    };
    let problem = format!("THE PYTHON PACKAGE IS NOT TESTED: {problem}");
    if must_run {
        return Err(Error::Failed(problem));
    }
    eprintln!("{problem}");
    Ok(())
}

/// The folder of the environment.
pub(crate) fn environment() -> PathBuf {
    root().join("target/python")
}

fn steps(python: &str, is_release: bool, steps: &mut Steps) -> Result<(), Error> {
    let environment = environment();
    steps.run("Python environment", || {
        install(python, &environment, PACKAGES, ALONE)
    })?;
    let program = |name: &str| environment.join("bin").join(name).display().to_string();
    let own = program("python");
    let lint = ["clippy", "-p", WITHOUT_PYTHON[1], "--", "-D", "warnings"];
    steps.run("lints of the Python package", || {
        cargo(&lint, &[("PYO3_PYTHON", &own)])
    })?;
    let mut build = vec!["develop", "--quiet", "--locked"];
    if is_release {
        build.extend(["--profile", PROFILE]);
        build.extend(LINKING);
    }
    steps.run("build the Python package", || {
        shown(&program("maturin"), &build, &environment)
    })?;
    steps.run("tests of the Python package", || {
        shown(&own, &["generate.py", "--check"], &environment)
            .map_err(|error| format!("{error}: run `python generate.py` in the folder python"))?;
        shown(
            &own,
            &["-m", "mypy", "--strict", "-p", "metric_suite"],
            &environment,
        )?;
        shown(&program("pyright"), &["--pythonpath", &own], &environment)?;
        let workflows = [
            "--builtin-schema",
            "vendor.github-workflows",
            "../.github/workflows/wheels.yml",
        ];
        shown(&program("check-jsonschema"), &workflows, &environment)?;
        shown(&own, &["-m", "pytest", "-q"], &environment)
    })
}

/// Builds the package in place, as wheels are built.
fn build_as_released() -> Result<(), String> {
    let environment = environment();
    let python = python().ok_or("there is no Python 3.10 or later with the module venv")?;
    install(&python, &environment, PACKAGES, ALONE)?;
    let program = |name: &str| environment.join("bin").join(name).display().to_string();
    let mut build = vec!["develop", "--quiet", "--locked", "--profile", PROFILE];
    build.extend(LINKING);
    shown(&program("maturin"), &build, &environment)?;
    // As pip does: without it, an import also compiles.
    let compile = ["-m", "compileall", "-q", "metric_suite"];
    shown(&program("python"), &compile, &environment)
}

/// The profile of cargo for wheels.
pub(crate) const PROFILE: &str = "wheel";

/// The arguments of a build with this profile for the linker: one of equal functions is kept, and similar functions and
/// data are placed next to each other, which makes a wheel a tenth smaller. Only LLD can, starting with version 21; it is
/// the linker of Rust on 64-bit Linux.
pub(crate) const LINKING: &[&str] = if cfg!(all(
    target_os = "linux",
    target_arch = "x86_64",
    target_env = "gnu"
)) {
    &[
        "--",
        "-C",
        "link-arg=-Wl,--icf=all",
        "-C",
        "link-arg=-Wl,--bp-compression-sort=both",
    ]
} else {
    &[]
};

/// A Python that is new enough, and has the module that makes environments.
pub(crate) fn python() -> Option<String> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let fits = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    let run = Command::new(&python).args(["-c", fits]).output();
    run.is_ok_and(|run| run.status.success()).then_some(python)
}

/// Requirements that are installed without their dependencies, which are older than the grammars of the comparison.
pub(crate) const ALONE: &[&str] = &["benches/peers/requirements/codebleu.txt"];

/// Makes an environment, unless it is there with all packages. Those of the files in `alone` are installed without
/// what they ask for.
pub(crate) fn install(
    python: &str,
    environment: &Path,
    packages: &[&str],
    alone: &[&str],
) -> Result<(), String> {
    let done: PathBuf = environment.join("installed.txt");
    let mut wanted = packages.join("\n");
    for file in alone {
        let pinned = std::fs::read_to_string(root().join(file));
        let pinned = pinned.map_err(|error| format!("{file}: {error}"))?;
        wanted.push_str(&format!("\n{pinned}"));
    }
    if std::fs::read_to_string(&done).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    let folder = environment.display().to_string();
    output(
        python,
        &["-m", "venv", "--clear", &folder],
        Path::new("."),
        &[],
    )?;
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
    std::fs::write(&done, wanted).map_err(|error| format!("{}: {error}", done.display()))
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
