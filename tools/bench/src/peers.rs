//! `bench --peers`: ours and other programs in turn, on the same inputs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::inputs::{FOLDER, Input};
use super::report::{digits, seconds};
use super::timing::{self, Cost, Settings, version};
use xtask_common::{Error, cargo, markdown, print, printed, root, table, target};

use comparisons::{COMPARISONS, Comparison, Ours};

#[path = "../../../benches/peers/comparisons.rs"]
mod comparisons;

/// Metrics with no peer to run, and why.
const ALONE: &[(&str, &str)] = &[(
    "lanes (MapDR)",
    "its evaluation program has not been published",
)];

/// A peer that took so long, all runs together, does not run again.
const PATIENCE: f64 = 60.0;

/// Which packages can run, and at which version.
struct Environment {
    /// The version of `metric`.
    ours: String,
    python: PathBuf,
    packages: BTreeMap<&'static str, Result<String, String>>,
}

impl Environment {
    /// Installs the packages, each by itself.
    fn new(ours: String, folder: &Path, packages: &[&'static str]) -> Self {
        let venv = folder.join("venv");
        let python = venv.join("bin/python");
        let made = make_venv("python3", &venv);
        if let Err(error) = &made {
            eprintln!("  no peer can be installed: {error}");
        }
        let packages = packages.iter().map(|&package| {
            if made.is_err() {
                return (package, Err("no environment of Python".to_owned()));
            }
            let version = install(&python, &venv, package);
            if let Err(error) = &version {
                eprintln!("  {package} cannot be installed: {error}");
            }
            (package, version)
        });
        Self {
            ours,
            packages: packages.collect(),
            python,
        }
    }
}

/// Makes the environment of the peers with this Python, unless it exists.
fn make_venv(python: &str, venv: &Path) -> Result<(), String> {
    // Pip comes last; without it an environment is not whole.
    if ["bin/python", "bin/pip"]
        .iter()
        .all(|file| venv.join(file).is_file())
    {
        return Ok(());
    }
    // The rest of another environment would suggest that packages are installed that are not.
    let remove = || match std::fs::remove_dir_all(venv) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", venv.display()))
        }
        _ => Ok(()),
    };
    remove()?;
    quietly(python, &["-m", "venv", &venv.to_string_lossy()]).or_else(|error| {
        remove()?;
        Err(error)
    })
}

impl Environment {
    /// Adds the files of an input that a package writes, unless they exist.
    fn add_formats(&self, input: &Input, data: &Path) -> Result<(), String> {
        let Some([script, _, last]) = input.other_formats() else {
            return Ok(());
        };
        if data.join(last).is_file() {
            return Ok(());
        }
        let script = root().join("benches/peers").join(script);
        let script = script.to_string_lossy().into_owned();
        let words = script.split(' ');
        let output = Command::new(&self.python)
            .args(words)
            .current_dir(data)
            .output()
            .map_err(|error| format!("cannot run {}: {error}", self.python.display()))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(timing::message(&String::from_utf8_lossy(&output.stderr)).to_owned())
        }
    }
}

/// Runs a program without its output. The error is its message; where it has none, all that it
/// prints, as Python does where a part of `venv` is missing.
fn quietly(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run {program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let [printed, said] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let printed = Vec::from_iter(printed.split_whitespace()).join(" ");
    Err(match (said.trim(), printed.as_str()) {
        ("", "") => format!("{program}: {}", output.status),
        ("", printed) => printed.to_owned(),
        _ => timing::message(&said).to_owned(),
    })
}

/// Installs a package as its requirements say, unless it is; gives its version.
fn install(python: &Path, venv: &Path, package: &str) -> Result<String, String> {
    let python = python.to_string_lossy();
    if package == "python" {
        let version = printed(&python, &["--version"])?;
        return Ok(version.trim().trim_start_matches("Python ").to_owned());
    }
    let path = root().join(format!("benches/peers/requirements/{package}.txt"));
    let context = |error: std::io::Error| format!("{}: {error}", path.display());
    let wanted = std::fs::read_to_string(&path).map_err(context)?;
    let version = requirements(&wanted)
        .into_iter()
        .find_map(|(name, version)| (name == package).then(|| version.to_owned()))
        .ok_or_else(|| format!("{}: expected {package}==VERSION", path.display()))?;
    // The list of installed packages is next to it, so that a second run asks no registry.
    let stamp = venv.join(format!("{package}.installed"));
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(version);
    }
    eprintln!("  installing {package} {version}");
    let file = path.to_string_lossy();
    // All that it needs is in the file, at a version that is known to work with the rest.
    let words = ["-m", "pip", "install", "--quiet", "--no-deps", "-r", &file];
    quietly(&python, &words)?;
    std::fs::write(&stamp, wanted).map_err(context)?;
    Ok(version)
}

/// Names and versions in a file of requirements.
fn requirements(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .filter_map(|line| line.split('#').next()?.trim().split_once("=="))
        .collect()
}

/// A program's runs of one comparison on as many threads.
struct Runs {
    /// Ours, or the name of the package.
    program: String,
    version: String,
    /// Whether it can run.
    installed: bool,
    costs: Vec<Cost>,
    /// The last line that it printed, or why it did not.
    result: Result<Value, String>,
}

/// One comparison on one number of threads: ours first.
struct Outcome {
    name: &'static str,
    threads: usize,
    /// The time that a plain read of the files takes, in seconds; `None` for what runs in memory.
    read: Option<f64>,
    runs: Vec<Runs>,
    /// For each peer, the greatest difference of a number, or what differs; `None` if one did not
    /// run.
    agreement: Vec<Option<Result<f64, String>>>,
}

#[expect(
    clippy::too_many_lines,
    reason = "the steps of the command, in their order"
)]
pub(crate) fn run(filter: &str, settings: &Settings) -> Result<(), Error> {
    let chosen: Vec<_> = COMPARISONS
        .iter()
        .filter(|comparison| comparison.name.contains(filter))
        .collect();
    if chosen.is_empty() {
        let names: Vec<_> = COMPARISONS
            .iter()
            .map(|comparison| comparison.name)
            .collect();
        let names = names.join(", ");
        return Err(Error::Usage(format!(
            "{filter}: no comparison; there are: {names}"
        )));
    }
    let metric = settings.metric()?;
    let target = target()?;
    let memory = target.join("release/examples/memory");
    if chosen
        .iter()
        .any(|comparison| matches!(comparison.ours, Ours::Memory(_)))
    {
        cargo(
            &["build", "--release", "-p", "benches", "--example", "memory"],
            &[],
        )?;
    }
    if chosen
        .iter()
        .any(|comparison| matches!(comparison.ours, Ours::Python(_)))
    {
        cargo(&["xtask", "python", "--build"], &[])?;
    }
    let folder = target.join("peers");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut packages = vec!["python"];
    for peer in chosen.iter().flat_map(|comparison| comparison.peers) {
        if !packages.contains(&peer.package) {
            packages.push(peer.package);
        }
    }
    for [_, package, _] in chosen.iter().filter_map(|it| it.input.other_formats()) {
        if !packages.contains(&package) {
            packages.push(package);
        }
    }
    let environment = Environment::new(version(&metric)?, &folder, &packages);
    let mut outcomes = Vec::new();
    for comparison in &chosen {
        let size = settings.size(comparison.input.size);
        let data = comparison
            .input
            .with_size(size)
            .folder(&folder.join(FOLDER))?;
        environment.add_formats(&comparison.input, &data)?;
        for &threads in comparison.threads {
            eprintln!("  {} on {threads}", comparison.name);
            let program = match comparison.ours {
                Ours::Files(_) | Ours::Compare(_) => &metric,
                Ours::Memory(_) => &memory,
                Ours::Python(_) => &environment.python,
            };
            let read = match comparison.ours {
                Ours::Files(words) | Ours::Compare(words) => {
                    Some(timing::plain_read(words, &data)?)
                }
                Ours::Memory(_) | Ours::Python(_) => None,
            };
            let outcome = comparison.time(&environment, program, &data, threads, settings.rounds());
            outcomes.push(Outcome { read, ..outcome });
        }
    }
    let text = Report {
        chosen: &chosen,
        outcomes: &outcomes,
        environment: &environment,
        settings,
    };
    print(&table(HEADER, &text.rows()));
    for line in text.remarks() {
        print(&format!("{line}\n"));
    }
    let committed = root().join("benches/RESULTS.md");
    let whole = filter.is_empty() && !settings.quick;
    let complete = outcomes.iter().all(Outcome::is_complete);
    let path = position(&committed, &folder, whole, complete);
    std::fs::write(&path, text.markdown()?)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    eprintln!("Written to {}", path.display());
    if whole && path != committed {
        let committed = committed.display();
        eprintln!("{committed} stays as it is: a peer did not run");
    }
    let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.failed()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = failed.iter().map(|outcome| outcome.name).collect();
    Err(Error::Failed(format!(
        "a program failed, or numbers disagree: {}",
        names.join(", ")
    )))
}

/// Where the table goes. Part of it, or that of small inputs, does not take the place of the whole,
/// nor does one without some peer unless there is none.
fn position(committed: &Path, folder: &Path, whole: bool, complete: bool) -> PathBuf {
    if whole && (complete || !committed.exists()) {
        committed.to_owned()
    } else {
        folder.join("RESULTS.md")
    }
}

impl Comparison {
    /// Runs ours and each peer in turn, as often as asked.
    fn time(
        &self,
        environment: &Environment,
        program: &Path,
        data: &Path,
        threads: usize,
        rounds: usize,
    ) -> Outcome {
        let scripts = root().join("benches/peers");
        let ours = match self.ours {
            Ours::Files(words) => {
                format!("score {words} --format json --quiet --threads {threads}")
            }
            Ours::Compare(words) => {
                format!("compare {words} --format json --quiet --threads {threads}")
            }
            Ours::Memory(word) => word.to_owned(),
            Ours::Python(call) => format!(
                "{}/calls.py metric_suite {call} {}",
                scripts.display(),
                root().display()
            ),
        };
        let mut commands = vec![(program.to_owned(), ours)];
        let program = match self.ours {
            Ours::Python(_) => "metric_suite",
            _ => "metric",
        };
        let mut runs = vec![Runs::new(program, &environment.ours)];
        for peer in self.peers {
            if threads > 1 && !peer.parallel {
                continue;
            }
            let version = environment.packages.get(peer.package);
            let version = version
                .cloned()
                .unwrap_or_else(|| Err("unknown".to_owned()));
            let script = peer.script.replace("{root}", &root().to_string_lossy());
            let script = format!("{}/{script}", scripts.display());
            commands.push((environment.python.clone(), script));
            runs.push(match version {
                Ok(version) => Runs::new(peer.package, &version),
                Err(error) => Runs::not_installed(peer.package, &error),
            });
        }
        for round in 0..rounds {
            for (run, (program, words)) in runs.iter_mut().zip(&commands) {
                let spent: f64 = run.costs.iter().map(|cost| cost.wall).sum();
                if !run.installed || (round > 0 && run.result.is_err()) || spent > PATIENCE {
                    continue;
                }
                let result = timing::run(program, words.split(' '), data, threads);
                run.result = result.map(|(cost, result)| {
                    run.costs.push(cost);
                    result
                });
            }
        }
        let agreement = self.agreements(&runs);
        Outcome {
            name: self.name,
            threads,
            read: None,
            runs,
            agreement,
        }
    }

    fn agreements(&self, runs: &[Runs]) -> Vec<Option<Result<f64, String>>> {
        let Some((ours, peers)) = runs.split_first() else {
            return Vec::new();
        };
        let agree = |peer: &Runs| {
            let (ours, theirs) = (ours.result.as_ref().ok()?, peer.result.as_ref().ok()?);
            if self.agree.is_empty() {
                return None;
            }
            Some(agreement(ours, theirs, self.agree, self.tolerance))
        };
        peers.iter().map(agree).collect()
    }
}

/// The greatest difference of the named numbers, or the first that differs by more than the
/// tolerance.
fn agreement(ours: &Value, theirs: &Value, names: &[&str], tolerance: f64) -> Result<f64, String> {
    let mut greatest = 0.0_f64;
    for name in names {
        let positions = ["numbers", "scores", "counts"];
        let find = |result: &Value| {
            let found = positions
                .iter()
                .find_map(|position| result[position].get(name).cloned());
            found.ok_or_else(|| format!("{name} is missing"))
        };
        let (ours, theirs) = (find(ours)?, find(theirs)?);
        let difference = match (ours.as_f64(), theirs.as_f64()) {
            (Some(ours), Some(theirs)) => (ours - theirs).abs(),
            (None, None) => 0.0,
            _ => f64::INFINITY,
        };
        // A difference that is not a number is not allowed.
        if difference.is_nan() || difference > tolerance {
            return Err(format!("{name}: {ours} and {theirs}"));
        }
        greatest = greatest.max(difference);
    }
    Ok(greatest)
}

impl Runs {
    fn new(program: &str, version: &str) -> Self {
        Self {
            program: program.to_owned(),
            version: version.to_owned(),
            installed: true,
            costs: Vec::new(),
            result: Err("no rounds".to_owned()),
        }
    }

    fn not_installed(program: &str, why: &str) -> Self {
        Self {
            installed: false,
            result: Err(format!("not installed: {why}")),
            ..Self::new(program, "-")
        }
    }
}

impl Outcome {
    /// Whether an installed program failed, or numbers disagree.
    fn failed(&self) -> bool {
        let crashed = |runs: &Runs| runs.installed && runs.result.is_err();
        self.runs.iter().any(crashed) || self.agreement.iter().flatten().any(Result::is_err)
    }

    /// Whether all programs ran.
    fn is_complete(&self) -> bool {
        self.runs.iter().all(|runs| runs.result.is_ok())
    }
}

const HEADER: &[&str] = &[
    "comparison",
    "threads",
    "program",
    "runs",
    "wall",
    "CPU",
    "read",
    "peak",
    "x wall",
    "x CPU",
    "x peak",
    "agrees",
];

/// The results, for people.
struct Report<'a> {
    chosen: &'a [&'static Comparison],
    outcomes: &'a [Outcome],
    environment: &'a Environment,
    settings: &'a Settings,
}

impl Report<'_> {
    /// A row for ours and one for each peer that ran.
    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for outcome in self.outcomes {
            let ours = outcome
                .runs
                .first()
                .and_then(|runs| Cost::median(&runs.costs));
            for (position, runs) in outcome.runs.iter().enumerate() {
                let Some(cost) = Cost::median(&runs.costs) else {
                    continue;
                };
                let mut row = vec![
                    outcome.name.to_owned(),
                    outcome.threads.to_string(),
                    format!("{} {}", runs.program, runs.version),
                    runs.costs.len().to_string(),
                    seconds(cost.wall),
                    seconds(cost.cpu),
                    // The limit of our side; what a peer reads, and when, is its own affair.
                    match outcome.read {
                        Some(read) if position == 0 => seconds(read),
                        _ => String::new(),
                    },
                    format!("{:.0} MB", cost.peak / 1e6),
                ];
                let agreement = position
                    .checked_sub(1)
                    .and_then(|peer| outcome.agreement.get(peer));
                if let (Some(ours), Some(agreement)) = (ours, agreement) {
                    for (theirs, ours) in Cost::pairs(cost, ours) {
                        row.push(digits(theirs / ours));
                    }
                    row.push(match agreement {
                        Some(Ok(difference)) if *difference == 0.0 => "equal".to_owned(),
                        Some(Ok(difference)) => format!("to {difference:.0e}"),
                        Some(Err(_)) => "NO".to_owned(),
                        None => String::new(),
                    });
                } else {
                    row.resize(HEADER.len(), String::new());
                }
                rows.push(row);
            }
        }
        rows
    }

    /// The results that do not agree, the runs that failed, and the cases in which a peer needs
    /// less.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for outcome in self.outcomes {
            let at = format!("{} on {}", outcome.name, outcome.threads);
            for runs in &outcome.runs {
                if let Err(error) = &runs.result {
                    remarks.push(format!("{at}: {} did not run: {error}", runs.program));
                }
            }
            let Some((ours, peers)) = outcome.runs.split_first() else {
                continue;
            };
            for (peer, agreement) in peers.iter().zip(&outcome.agreement) {
                if let Some(Err(error)) = agreement {
                    remarks.push(format!("{at}: ours and {} disagree: {error}", peer.program));
                }
                let (Some(ours), Some(theirs)) =
                    (Cost::median(&ours.costs), Cost::median(&peer.costs))
                else {
                    continue;
                };
                for ((theirs, ours), what) in Cost::pairs(theirs, ours)
                    .into_iter()
                    .zip(["time", "CPU time", "memory"])
                {
                    // A difference of 3% does not count.
                    if theirs < 0.97 * ours {
                        let share = digits(theirs / ours);
                        let peer = &peer.program;
                        remarks.push(format!(
                            "{at}: {peer} needs less {what} than ours: x {share}"
                        ));
                    }
                }
            }
        }
        remarks
    }

    /// `RESULTS.md`.
    fn markdown(&self) -> Result<String, String> {
        let versions: Vec<_> = self
            .environment
            .packages
            .iter()
            .map(|(package, version)| match version {
                Ok(version) => format!("{package} {version}"),
                Err(_) => format!("{package} (not installed)"),
            })
            .collect();
        let mut text = format!(
            "# Compared with other tools\n\n\
             Written by `cargo xtask bench --peers`{}; do not edit.\n\n\
             {}- Peers: {}\n\n\
             Ours and each peer run in turn on the same files, up to {} times each; the figures are \
             medians. Ours is the program from its start to its end; of a peer the start of Python \
             and the imports do not count in the times. What runs in memory is one call on both \
             sides. Peak memory is that of the whole process; below the 5 MB or so of the small \
             process that starts it nothing is seen. `read` is the limit of the machine: a plain read \
             of the files on one thread, into memory that is used again. `x` is the peer's figure over ours: above 1 \
             ours needs less. `agrees` is the greatest difference of the numbers that both \
             print.\n\n",
            if self.settings.quick {
                " --quick, on inputs of a hundredth of the size"
            } else {
                ""
            },
            self.settings.origin(&self.environment.ours)?,
            versions.join(", "),
            self.settings.rounds(),
        );
        text.push_str(&markdown(HEADER, &self.rows()));
        text.push_str("\n\n## What is compared\n\n");
        for comparison in self.chosen {
            let size = self.settings.size(comparison.input.size);
            let command = match comparison.ours {
                Ours::Files(words) => format!("`metric score {words}`"),
                Ours::Compare(words) => format!("`metric compare {words}`"),
                Ours::Memory(_) => "the crate, in memory".to_owned(),
                Ours::Python(_) => "the Python package, in memory".to_owned(),
            };
            let _ = writeln!(
                text,
                "- `{}`: {}. Input {} of size {size} x {}; {command}.",
                comparison.name, comparison.about, comparison.input.name, comparison.input.width
            );
        }
        let remarks = self.remarks();
        text.push_str("\n## Where a peer needs less, or did not run\n\n");
        if remarks.is_empty() {
            text.push_str("Nowhere.\n");
        }
        for remark in remarks {
            let _ = writeln!(text, "- {remark}");
        }
        text.push_str("\n## Without a peer\n\n");
        for (what, why) in ALONE {
            let _ = writeln!(text, "- {what}: {why}.");
        }
        Ok(text)
    }
}

impl Cost {
    /// Wall, CPU and memory of two costs.
    fn pairs(one: Self, other: Self) -> [(f64, f64); 3] {
        [
            (one.wall, other.wall),
            (one.cpu, other.cpu),
            (one.peak, other.peak),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_agree_within_the_tolerance() {
        let ours = json!({"scores": {"ap": 0.5, "none": null}, "counts": {"hits": 3}});
        let peer = |ap: f64| json!({"numbers": {"ap": ap, "none": null, "hits": 3.0}});
        let names = ["ap", "none", "hits"];
        assert_eq!(agreement(&ours, &peer(0.5), &names, 0.0), Ok(0.0));
        assert_eq!(agreement(&ours, &peer(0.75), &names, 0.3), Ok(0.25));
        assert_eq!(
            agreement(&ours, &peer(0.75), &names, 0.1),
            Err("ap: 0.5 and 0.75".to_owned())
        );
        assert_eq!(
            agreement(&ours, &peer(0.5), &["ar"], 0.1),
            Err("ar is missing".to_owned())
        );
        let undefined = json!({"numbers": {"ap": null}});
        assert!(agreement(&ours, &undefined, &["ap"], 1.0).is_err());
    }

    #[test]
    fn a_peer_may_be_missing_but_not_fail() {
        let ran = || Runs {
            result: Ok(json!({})),
            ..Runs::new("metric", "1")
        };
        let missing = || Runs::not_installed("numpy", "no network");
        // A run that never succeeded.
        let crashed = || Runs::new("numpy", "2");
        for (peer, failed, complete) in [
            (ran(), false, true),
            (missing(), false, false),
            (crashed(), true, false),
        ] {
            let outcome = Outcome {
                name: "grid/arc",
                threads: 1,
                read: None,
                runs: vec![ran(), peer],
                agreement: Vec::new(),
            };
            assert_eq!(outcome.failed(), failed);
            assert_eq!(outcome.is_complete(), complete);
        }
    }

    #[test]
    fn a_table_takes_the_place_of_no_fuller_one() {
        let folder = Path::new("peers");
        let there = root().join("Cargo.toml");
        let new = root().join("no such file");
        let aside = folder.join("RESULTS.md");
        for (committed, whole, complete, expected) in [
            (&there, true, true, &there),
            (&there, true, false, &aside),
            (&new, true, false, &new),
            (&there, false, true, &aside),
            (&new, false, true, &aside),
        ] {
            assert_eq!(&position(committed, folder, whole, complete), expected);
        }
    }

    #[test]
    fn an_environment_is_whole_or_not_there() -> Result<(), Box<dyn std::error::Error>> {
        let venv = std::env::temp_dir().join(format!("xtask-venv-{}", std::process::id()));
        let stamp = venv.join("numpy.installed");
        // Python is installed, pip is not.
        let broken = || {
            std::fs::create_dir_all(venv.join("bin"))?;
            std::fs::write(venv.join("bin/python"), "")?;
            std::fs::write(&stamp, "numpy==1")
        };
        broken()?;
        let error = make_venv("false", &venv).err().unwrap_or_default();
        assert!(error.starts_with("false: exit status"), "{error}");
        assert!(!venv.exists());
        broken()?;
        assert_eq!(make_venv("true", &venv), Ok(()));
        assert!(!stamp.exists());
        broken()?;
        std::fs::write(venv.join("bin/pip"), "")?;
        assert_eq!(make_venv("false", &venv), Ok(()));
        assert!(stamp.exists());
        std::fs::remove_dir_all(venv)?;
        Ok(())
    }

    #[test]
    fn the_message_may_be_on_either_stream() {
        for (script, message) in [
            ("echo why; echo not; exit 1", "why not"),
            ("echo why; echo 'error: this' >&2; exit 1", "error: this"),
            ("exit 3", "sh: exit status: 3"),
        ] {
            assert_eq!(quietly("sh", &["-c", script]), Err(message.to_owned()));
        }
    }

    #[test]
    fn requirements_are_exact_and_one() -> Result<(), Box<dyn std::error::Error>> {
        let text = "# a comment\nnumpy==2.4.6\nscipy==1.17.1 # another\n\n";
        assert_eq!(
            requirements(text),
            [("numpy", "2.4.6"), ("scipy", "1.17.1")]
        );
        // All are installed in one environment: a package has one version in all files.
        let mut versions = BTreeMap::new();
        let mut packages = Vec::new();
        for entry in std::fs::read_dir(root().join("benches/peers/requirements"))? {
            let path = entry?.path();
            let text = std::fs::read_to_string(&path)?;
            let lines = text
                .lines()
                .filter(|line| !line.trim_start().starts_with('#'));
            let named = requirements(&text);
            assert_eq!(
                lines.filter(|line| !line.is_empty()).count(),
                named.len(),
                "{path:?}"
            );
            let package = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .unwrap_or_default();
            assert!(named.iter().any(|(name, _)| *name == package), "{path:?}");
            packages.push(package.to_owned());
            for (name, version) in named {
                let first = versions
                    .entry(name.to_owned())
                    .or_insert(version.to_owned());
                assert_eq!(first, version, "{name} in {path:?}");
            }
        }
        for peer in COMPARISONS.iter().flat_map(|comparison| comparison.peers) {
            let known = packages.iter().any(|package| package == peer.package);
            assert!(known || peer.package == "python", "{}", peer.package);
            let script = peer.script.split(' ').next().unwrap_or_default();
            assert!(
                root().join("benches/peers").join(script).is_file(),
                "{script}"
            );
        }
        Ok(())
    }

    #[test]
    fn names_stand_once() {
        let mut names: Vec<_> = COMPARISONS
            .iter()
            .map(|comparison| comparison.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMPARISONS.len());
    }
}
