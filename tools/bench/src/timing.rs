//! Runs a program and says what it cost.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use wait4::Wait4;

use crate::report::median;
use xtask_common::{cargo, print, printed, target};

/// The way in which programs are timed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) quick: bool,
    pub(crate) rounds: Option<usize>,
    /// `metric`, if it is not to be built.
    pub(crate) program: Option<PathBuf>,
}

impl Settings {
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 2 } else { 5 })
    }

    /// A size, or a hundredth of it.
    pub(crate) fn size(&self, size: usize) -> usize {
        if self.quick {
            (size / 100).max(2)
        } else {
            size
        }
    }

    /// The program `metric`, which is built unless another one is given.
    pub(crate) fn metric(&self) -> Result<PathBuf, String> {
        if let Some(program) = &self.program {
            return std::path::absolute(program)
                .ok()
                .filter(|path| path.is_file())
                .ok_or_else(|| format!("--program {}: no such file", program.display()));
        }
        cargo(&["build", "--release", "-p", "metric-cli"], &[])?;
        Ok(target()?.join("release/metric"))
    }

    /// Where figures come from, as items of a list in Markdown: machine, date and `metric`, which
    /// is of this version.
    pub(crate) fn origin(&self, version: &str) -> Result<String, String> {
        let built = match &self.program {
            Some(program) => format!("the file {}", program.display()),
            None => {
                let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
                let rustc = printed(&rustc, &["--version"])?;
                let commit = printed("git", &["describe", "--always", "--dirty"]);
                let commit = commit.unwrap_or_else(|_| "no commit".to_owned());
                format!("{}, built with {}", commit.trim(), rustc.trim())
            }
        };
        let machine = machine();
        let date = OffsetDateTime::now_utc().date();
        Ok(format!(
            "- Machine: {machine}\n- Date: {date}\n- Ours: `metric` {version}, {built}\n"
        ))
    }
}

/// The version that `metric` says it is.
pub(crate) fn version(metric: &Path) -> Result<String, String> {
    let said = printed(&metric.to_string_lossy(), &["--version"])?;
    Ok(said.trim().trim_start_matches("metric ").to_owned())
}

/// The cost of one run.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Cost {
    /// Seconds by the clock.
    pub(crate) wall: f64,
    /// Seconds of all cores, in user and system.
    pub(crate) cpu: f64,
    /// The most memory that was in use at a time, in bytes; or what the small process that started
    /// it had in use, if that is more.
    pub(crate) peak: f64,
}

impl Cost {
    /// The medians of each.
    pub(crate) fn median(costs: &[Self]) -> Option<Self> {
        let of = |part: fn(&Self) -> f64| median(costs.iter().map(part).collect());
        Some(Self {
            wall: of(|cost| cost.wall)?,
            cpu: of(|cost| cost.cpu)?,
            peak: of(|cost| cost.peak)?,
        })
    }
}

/// The hidden argument by which this program starts itself to run another one:
/// `--measure FOLDER THREADS PROGRAM ARGUMENT…`.
pub(crate) const MEASURE: &str = "--measure";

/// The cost of a program that ran, and the last line that it printed; or why it did not run.
type Measured = Result<(Cost, String), String>;

/// Runs a program to its end in `folder` with this many threads; gives its cost and the object in
/// the last line that it prints. Where that has `seconds` and `cpu` these are the cost: a peer
/// leaves out the start of its interpreter.
///
/// Linux counts the peak memory of the process that starts a program towards that of the program,
/// and this process may have made inputs. So a new one starts it, which has done nothing else.
pub(crate) fn run<'a>(
    program: &Path,
    arguments: impl IntoIterator<Item = &'a str>,
    folder: &Path,
    threads: usize,
) -> Result<(Cost, Value), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(own)
        .arg(MEASURE)
        .args([folder, Path::new(&threads.to_string()), program])
        .args(arguments)
        .output()
        .map_err(|error| error.to_string())?;
    let measured: Measured = serde_json::from_slice(&output.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("{}: {}", output.status, message(&said))
    })?;
    stated(measured)
}

/// The other side of `run`: runs the program of these arguments and prints what it cost.
pub(crate) fn measure(arguments: &[String]) -> Result<(), String> {
    let [folder, threads, program, arguments @ ..] = arguments else {
        return Err(format!(
            "{MEASURE}: expected a folder, threads and a program"
        ));
    };
    let measured = spawn(Path::new(program), arguments, Path::new(folder), threads);
    let line = serde_json::to_string(&measured).map_err(|error| error.to_string())?;
    print(&line);
    Ok(())
}

fn spawn(program: &Path, arguments: &[String], folder: &Path, threads: &str) -> Measured {
    let said = folder.with_extension("stderr");
    let context = |error: &dyn std::fmt::Display| format!("{}: {error}", program.display());
    let errors = File::create(&said).map_err(|error| context(&error))?;
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .envs(VARIABLES.iter().map(|name| (name, threads)))
        // Sets of strings in the same order each time.
        .env("PYTHONHASHSEED", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .map_err(|error| context(&error))?;
    let mut printed = String::new();
    let read = child
        .stdout
        .take()
        .map_or(Ok(0), |mut pipe| pipe.read_to_string(&mut printed));
    let used = child.wait4().map_err(|error| context(&error))?;
    let wall = start.elapsed().as_secs_f64();
    read.map_err(|error| context(&error))?;
    if !used.status.success() {
        let said = std::fs::read_to_string(&said).unwrap_or_default();
        return Err(format!("{}: {}", used.status, message(&said)));
    }
    let cost = Cost {
        wall,
        cpu: (used.rusage.utime + used.rusage.stime).as_secs_f64(),
        peak: used.rusage.maxrss as f64,
    };
    let line = printed.lines().next_back().unwrap_or_default();
    Ok((cost, line.to_owned()))
}

/// The cost and the object in the line, with the times that the line states if it does.
fn stated(measured: Measured) -> Result<(Cost, Value), String> {
    let (cost, line) = measured?;
    let result: Value = serde_json::from_str(&line)
        .map_err(|error| format!("its last line is not a result: {error}: {line:.200}"))?;
    let cost = Cost {
        wall: result["seconds"].as_f64().unwrap_or(cost.wall),
        cpu: result["cpu"].as_f64().unwrap_or(cost.cpu),
        ..cost
    };
    Ok((cost, result))
}

/// The line that says what is wrong: the last one that names an error, as Python's are, or the last
/// one. Hints may follow it.
pub(crate) fn message(said: &str) -> &str {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let error =
        |line: &&str| line.contains("error:") || line.contains("Error:") || line.contains("ERROR:");
    let last = lines.clone().next_back().unwrap_or("no message");
    lines.rfind(error).unwrap_or(last)
}

/// Who takes how many threads from where.
const VARIABLES: &[&str] = &[
    "RAYON_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
];

/// A description of this machine: its processor, cores and memory.
fn machine() -> String {
    let field = |path: &str, name: &str| {
        let text = std::fs::read_to_string(path).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor = field("/proc/cpuinfo", "model name");
    let processor = processor.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or(String::new(), |kib| format!(", {:.0} GB", kib / 1e6));
    let system = std::env::consts::OS;
    format!("{processor}, {cores} cores{memory}, {system}")
}

/// The least time that a plain read of the files takes which the words of a command name, in seconds, into memory
/// that is used again: what any program needs that reads them.
pub(super) fn plain_read(words: &str, data: &Path) -> Result<f64, String> {
    const ROUNDS: usize = 5;
    let mut least = f64::INFINITY;
    let mut buffer = vec![0; 1 << 20];
    let files = input_files(words, data)?;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for path in &files {
            let context = |error: std::io::Error| format!("{}: {error}", path.display());
            let mut file = File::open(path).map_err(context)?;
            while file.read(&mut buffer).map_err(context)? > 0 {}
        }
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// The files that a command reads: its references and predictions, which may be folders of files.
fn input_files(words: &str, data: &Path) -> Result<Vec<PathBuf>, String> {
    let is_input = |word: &&str| matches!(word.split('.').next(), Some("r" | "p"));
    let mut files = Vec::new();
    for name in words.split(' ').filter(is_input) {
        let path = data.join(name);
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        let context = |error: std::io::Error| format!("{}: {error}", path.display());
        for entry in std::fs::read_dir(&path).map_err(context)? {
            files.push(entry.map_err(context)?.path());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_files_and_the_files_of_folders() {
        let data = tempfile::tempdir().expect("a folder");
        let put = |name: &str| std::fs::write(data.path().join(name), "x").expect("a file");
        std::fs::create_dir(data.path().join("r")).expect("a folder");
        put("r/1.arrow");
        put("p.csv");
        let files = input_files("metric score wer -r r -p p.csv", data.path());
        assert_eq!(
            files,
            Ok(vec![
                data.path().join("r/1.arrow"),
                data.path().join("p.csv")
            ])
        );
        assert!(plain_read("-r r -p p.csv", data.path()).is_ok());
        assert!(plain_read("-r r.csv", data.path()).is_err());
    }

    #[test]
    fn the_line_that_says_what_is_wrong() {
        let clap = "error: unrecognized subcommand 'cer'\n\nFor more information, try '--help'.\n";
        assert_eq!(message(clap), "error: unrecognized subcommand 'cer'");
        let python = "Traceback:\n  x\nValueError: no\n";
        assert_eq!(message(python), "ValueError: no");
        assert_eq!(message("a\nb\n"), "b");
        assert_eq!(message("\n"), "no message");
    }

    #[test]
    fn a_child_is_timed() -> Result<(), String> {
        let folder =
            std::env::temp_dir().join(format!("xtask-bench-timing-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let shell = |script: &str| {
            let arguments = ["-c", script].map(str::to_owned);
            stated(spawn(Path::new("/bin/sh"), &arguments, &folder, "2"))
        };
        let (cost, result) = shell("echo a; echo \"{\\\"n\\\":$RAYON_NUM_THREADS}\"")?;
        assert_eq!(result["n"], 2);
        assert!(
            cost.wall > 0.0 && cost.wall < 10.0 && cost.peak > 1e5,
            "{cost:?}"
        );
        let (cost, _) = shell("echo '{\"seconds\":0.5,\"cpu\":0.25}'")?;
        assert_eq!((cost.wall, cost.cpu), (0.5, 0.25));
        let error = shell("echo no memory >&2; exit 3")
            .err()
            .unwrap_or_default();
        assert_eq!(error, "exit status: 3: no memory");
        assert!(shell("echo hello").is_err());
        std::fs::remove_dir_all(folder).map_err(|error| error.to_string())
    }
}
