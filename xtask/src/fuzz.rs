//! Runs the fuzz targets under `fuzz/`, which are a workspace of their own.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask_common::{Error, program, root, table};

pub(crate) const HELP: &str = "\
Looks for inputs that break a crate: runs one fuzz target, or all, and prints executions and crashes.
Each runs for 60 seconds, or for --seconds N, from its seeds in fuzz/seeds and from what it found
before (fuzz/corpus, which is not committed). An input that breaks something is written to
fuzz/artifacts, its path is printed, and the exit code is 1.
Needs cargo-fuzz, which cargo xtask tools installs. A nightly toolchain is not needed.";

/// The longest input that is tried, and the seconds after which one is too slow.
const LIMITS: &[&str] = &["-max_len=4096", "-timeout=20", "-rss_limit_mb=4096"];

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let folder = root().join("fuzz");
    let known = targets(&folder)?;
    let Chosen { targets, seconds } = choose(arguments, &known)?;
    let version = cargo_fuzz(&folder).arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        let problem = "needs cargo-fuzz, which is not installed (cargo xtask tools)";
        return Err(Error::Failed(problem.to_owned()));
    }
    // All are built first: an error of the compiler is not a finding.
    let built = cargo_fuzz(&folder)
        .args(["build", "--sanitizer", "none"])
        .args(targets.first().filter(|_| targets.len() == 1))
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err(Error::Failed("the targets do not build".to_owned()));
    }
    let results: Vec<Outcome> = targets
        .iter()
        .map(|target| fuzz(&folder, target, seconds))
        .collect::<Result<_, _>>()?;
    print_table(&results);
    let broken = results.iter().filter(|outcome| outcome.is_broken());
    match broken.count() {
        0 => Ok(()),
        1 => Err(Error::Failed("1 target found something".to_owned())),
        count => Err(Error::Failed(format!("{count} targets found something"))),
    }
}

/// What to run, and for how long.
#[derive(Debug, PartialEq, Eq)]
struct Chosen {
    targets: Vec<String>,
    seconds: u64,
}

fn choose(arguments: &[String], known: &[String]) -> Result<Chosen, Error> {
    let mut chosen = Chosen {
        targets: Vec::new(),
        seconds: 60,
    };
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let seconds = match word.strip_prefix("--seconds") {
            Some("") => Some(words.next().unwrap_or_default()),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        if let Some(seconds) = seconds {
            // libFuzzer treats 0 as no end.
            let number = seconds.parse().ok().filter(|&number| number > 0);
            chosen.seconds = number.ok_or_else(|| {
                Error::Usage(format!("--seconds {seconds:?}: expected a positive number"))
            })?;
        } else if known.iter().any(|target| target == word) && chosen.targets.is_empty() {
            chosen.targets.push(word.to_owned());
        } else {
            let known = known.join(", ");
            let problem = format!("{word:?}: expected one target of {known}, or --seconds N");
            return Err(Error::Usage(problem));
        }
    }
    if chosen.targets.is_empty() {
        chosen.targets = known.to_vec();
    }
    Ok(chosen)
}

/// The names of the targets, in their order.
fn targets(folder: &Path) -> Result<Vec<String>, Error> {
    let files = files(&folder.join("fuzz_targets"))
        .map_err(|error| Error::Failed(format!("{}: {error}", folder.display())))?;
    let sources = files
        .iter()
        .filter(|path| path.extension() == Some(OsStr::new("rs")));
    let names = sources.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    Ok(names.collect())
}

/// The paths in a folder, in their order; none if there is no such folder.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn cargo_fuzz(folder: &Path) -> Command {
    let mut command = Command::new(program());
    command.arg("fuzz").current_dir(folder);
    // The flags that instrument the code are not stable; it is the same in a stable compiler.
    command.env("RUSTC_BOOTSTRAP", "1");
    command
}

/// The outcome of a target.
#[derive(Debug, Default)]
struct Outcome {
    target: String,
    executions: u64,
    /// Inputs that broke something.
    crashes: Vec<PathBuf>,
    /// The way in which the run ended, if not well.
    failure: Option<String>,
}

impl Outcome {
    fn is_broken(&self) -> bool {
        self.failure.is_some() || !self.crashes.is_empty()
    }
}

fn fuzz(folder: &Path, target: &str, seconds: u64) -> Result<Outcome, Error> {
    let failed = |error: std::io::Error| Error::Failed(format!("{target}: {error}"));
    let corpus = folder.join("corpus").join(target);
    fs::create_dir_all(&corpus).map_err(failed)?;
    let mut command = cargo_fuzz(folder);
    command
        .args(["run", "--sanitizer", "none", target])
        // Findings go to the first folder.
        .args(
            [corpus, folder.join("seeds").join(target)]
                .iter()
                .filter(|path| path.is_dir()),
        )
        .arg("--")
        .args(LIMITS)
        .arg(format!("-max_total_time={seconds}"))
        .arg("-print_final_stats=1");
    let dictionary = folder.join(format!("{target}.dict"));
    if dictionary.is_file() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    eprintln!("$ cargo fuzz run {target}, {seconds} s");
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(failed)?;
    let mut outcome = Outcome {
        target: target.to_owned(),
        ..Outcome::default()
    };
    // The last lines say what happened, if something did.
    let mut last = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            outcome.executions = executions(&text).unwrap_or(outcome.executions);
            if let Some((_, path)) = text.split_once("Test unit written to ") {
                outcome.crashes.push(path.into());
            }
            if !is_progress(&text) {
                last.push(text);
            }
        }
    }
    let status = child.wait().map_err(failed)?;
    if !status.success() {
        eprintln!("{}", last.join("\n"));
        outcome.failure = Some(status.to_string());
    }
    Ok(outcome)
}

/// Whether a line of libFuzzer tells how far it is: `#4096 pulse cov: 12 ...`.
fn is_progress(line: &str) -> bool {
    line.strip_prefix('#')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The number of inputs that were tried, if a line of libFuzzer says so.
fn executions(line: &str) -> Option<u64> {
    let number = match line.strip_prefix("stat::number_of_executed_units:") {
        Some(number) => number.trim(),
        None => line.strip_prefix('#')?.split_whitespace().next()?,
    };
    number.parse().ok()
}

fn print_table(results: &[Outcome]) {
    let row = |outcome: &Outcome| {
        let ended = match &outcome.failure {
            Some(failure) if outcome.crashes.is_empty() => failure.as_str(),
            _ => "",
        };
        vec![
            outcome.target.clone(),
            outcome.executions.to_string(),
            outcome.crashes.len().to_string(),
            ended.to_owned(),
        ]
    };
    let rows: Vec<_> = results.iter().map(row).collect();
    let header = ["target", "executions", "crashes", ""];
    eprint!("\n{}", table(&header, &rows));
    for path in results.iter().flat_map(|outcome| &outcome.crashes) {
        eprintln!("{}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(words: &[&str]) -> Result<Chosen, Error> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        choose(&words, &["code".to_owned(), "text".to_owned()])
    }

    #[test]
    fn all_targets_or_one_for_some_time() {
        let both = |seconds| Chosen {
            targets: vec!["code".to_owned(), "text".to_owned()],
            seconds,
        };
        assert_eq!(chosen(&[]).ok(), Some(both(60)));
        assert_eq!(chosen(&["--seconds", "5"]).ok(), Some(both(5)));
        let text = Chosen {
            targets: vec!["text".to_owned()],
            seconds: 7,
        };
        assert_eq!(chosen(&["--seconds=7", "text"]).ok(), Some(text));
    }

    #[test]
    fn what_is_no_target_or_time_is_named() {
        for (words, part) in [
            (&["txet"][..], "\"txet\": expected one target of code, text"),
            (&["text", "code"], "\"code\""),
            (&["--seconds"], "--seconds \"\""),
            (&["--seconds", "0"], "--seconds \"0\""),
            (&["--secondsx"], "\"--secondsx\""),
        ] {
            match chosen(words) {
                Err(Error::Usage(problem)) => assert!(problem.contains(part), "{problem}"),
                other => panic!("{words:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn executions_are_those_of_the_last_line_that_says_so() {
        assert_eq!(
            executions("stat::number_of_executed_units: 1234"),
            Some(1234)
        );
        assert_eq!(executions("#4096\tpulse  cov: 12 ft: 13"), Some(4096));
        assert_eq!(executions("#12\tDONE   cov: 1"), Some(12));
        assert_eq!(executions("Done 4096 runs in 2 second(s)"), None);
        assert_eq!(executions("# not a number"), None);
        assert!(is_progress("#2\tINITED cov: 3") && !is_progress("# of crashes"));
    }
}
