//! Runs the program on input that is made to hurt it.

mod boxes;
mod child;
mod code;
mod expand;
mod random;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use std::process::ExitCode;

use child::Outcome;
use xtask_common::{Error, cargo, print, root, table, target};

const HELP: &str = "\
cargo xtask attack [FILTER…] [--sample] [--seconds N] [--jobs N] [--program FILE]

Runs the program on input that is made to take much time or memory, one process per case.
A case fails if the process ends by a signal or with an exit code other than 0, 1, 2, 3 and 5, takes
more than 1 GB of memory or more than 10 seconds of CPU time, which is twice that where a file has
many texts. Prints the cases that failed and those that took most.
FILTER: only cases whose name has this in it. --sample: every tenth case, always the same
ones, each with four times the CPU time.
--seconds N: stop after that. --jobs N: the number of cases at a time (2). --program FILE: not the
release build of this checkout. Needs a Unix shell.";

/// The most memory of a process, in bytes.
const MEMORY: u64 = 1_000_000_000;

/// The most CPU time of a process for a text.
const CPU: Duration = Duration::from_secs(10);

/// Writes the files of a case into a folder.
type Write = dyn Fn(&Path) -> io::Result<()> + Sync;

/// Input for the program.
struct Case {
    /// Kind, and what is special, with `/` in between.
    name: String,
    /// The arguments, which name files of the folder.
    words: Vec<String>,
    write: Box<Write>,
}

impl Case {
    fn new(
        name: String,
        words: &str,
        write: impl Fn(&Path) -> io::Result<()> + Sync + 'static,
    ) -> Self {
        Self {
            name,
            words: words.split_whitespace().map(str::to_owned).collect(),
            write: Box::new(write),
        }
    }

    /// The case with more in its name.
    fn named(mut self, more: &str) -> Self {
        self.name = format!("{}/{more}", self.name);
        self
    }

    /// Runs the program on the case.
    fn run(&self, program: &Path) -> Result<Outcome, String> {
        let failed = |error: io::Error| format!("{}: {error}", self.name);
        let folder = tempfile::tempdir().map_err(failed)?;
        (self.write)(folder.path()).map_err(failed)?;
        child::run(program, &self.words, folder.path())
    }

    /// Whether the case is in the sample: a tenth of all, by their names alone.
    fn is_in_sample(&self) -> bool {
        let hash = self
            .name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            });
        (hash >> 32) % 10 == 0
    }

    /// Why what a process did is not allowed, where it may take `patience` times the CPU time.
    fn problem(&self, outcome: &Outcome, patience: u32) -> Option<&'static str> {
        let cpu = if self.name.contains("/many/") {
            2 * patience * CPU
        } else {
            patience * CPU
        };
        match outcome.exit_code {
            None => Some("signal"),
            Some(0..=3 | 5) => match (outcome.peak > MEMORY, outcome.cpu > cpu) {
                (true, _) => Some("memory"),
                (_, true) => Some("CPU"),
                _ => None,
            },
            Some(_) => Some("exit code"),
        }
    }
}

/// All cases, in the order in which they run.
fn all_cases(root: &Path) -> Result<Vec<Case>, String> {
    let others = [boxes::cases(), text::cases(), expand::cases()];
    let others = others.into_iter().flatten();
    Ok(others.chain(code::cases(root)?).collect())
}

fn main() -> ExitCode {
    xtask_common::main("attack", HELP, run)
}

fn run(arguments: &[String]) -> Result<(), Error> {
    let mut chosen = choose(arguments)?;
    if chosen.program.is_none() {
        cargo(&["build", "--release", "--package", "metric-cli"], &[])?;
        chosen.program = Some(target()?.join("release/metric"));
    }
    run_chosen(&chosen)
}

fn run_chosen(chosen: &Chosen) -> Result<(), Error> {
    let cases: Vec<Case> = all_cases(&root())?
        .into_iter()
        .filter(|case| chosen.filter.iter().all(|part| case.name.contains(part)))
        .filter(|case| !chosen.sample || case.is_in_sample())
        .collect();
    if cases.is_empty() {
        return Err(Error::Usage("no case has such a name".to_owned()));
    }
    let program = chosen.program.as_deref().unwrap_or(Path::new("metric"));
    let program =
        fs::canonicalize(program).map_err(|error| format!("{}: {error}", program.display()))?;
    let outcomes = run_all(&cases, &program, chosen)?;
    report(&outcomes, cases.len(), chosen.patience())
}

/// What to run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Chosen {
    filter: Vec<String>,
    sample: bool,
    seconds: Option<u64>,
    jobs: Option<u64>,
    program: Option<PathBuf>,
}

impl Chosen {
    /// The factor on the CPU time that a case may take: the sample runs where tests run, on machines that are slow or
    /// do other things.
    fn patience(&self) -> u32 {
        if self.sample { 4 } else { 1 }
    }
}

fn choose(arguments: &[String]) -> Result<Chosen, Error> {
    let mut chosen = Chosen::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().and_then(|value| value.parse().ok());
            let number = value.filter(|&number: &u64| number > 0);
            number.ok_or_else(|| Error::Usage(format!("{word}: expected a positive integer")))
        };
        match word.as_str() {
            "--sample" => chosen.sample = true,
            "--seconds" => chosen.seconds = Some(number()?),
            "--jobs" => chosen.jobs = Some(number()?),
            "--program" => {
                let file = words.next().map(PathBuf::from);
                let problem = || Error::Usage("--program: expected a file".to_owned());
                chosen.program = Some(file.ok_or_else(problem)?);
            }
            word if word.starts_with('-') => {
                return Err(Error::Usage(format!("{word:?}: no argument of it")));
            }
            part => chosen.filter.push(part.to_owned()),
        }
    }
    Ok(chosen)
}

/// Runs the cases in turn, `jobs` at a time.
fn run_all<'c>(
    cases: &'c [Case],
    program: &Path,
    chosen: &Chosen,
) -> Result<Vec<(&'c Case, Outcome)>, String> {
    let start = Instant::now();
    let jobs = chosen.jobs.unwrap_or(2) as usize;
    let run_some = |job: usize| -> Result<Vec<(&Case, Outcome)>, String> {
        let mut outcomes = Vec::new();
        for case in cases.iter().skip(job).step_by(jobs) {
            let seconds = start.elapsed().as_secs();
            if chosen.seconds.is_some_and(|most| seconds >= most) {
                break;
            }
            let outcome = case.run(program)?;
            if let Some(problem) = case.problem(&outcome, chosen.patience()) {
                eprintln!("{problem}: {}: {}", case.name, row(&outcome).join(", "));
            }
            outcomes.push((case, outcome));
        }
        Ok(outcomes)
    };
    std::thread::scope(|scope| {
        let run_some = &run_some;
        let threads: Vec<_> = (0..jobs)
            .map(|job| scope.spawn(move || run_some(job)))
            .collect();
        let mut outcomes = Vec::new();
        for thread in threads {
            let some = thread.join();
            outcomes.extend(some.unwrap_or_else(|_| Err("a job failed".to_owned()))?);
        }
        Ok(outcomes)
    })
}

fn exit(outcome: &Outcome) -> String {
    let code = outcome.exit_code.map(|code| code.to_string());
    code.unwrap_or("signal".to_owned())
}

/// Exit code, CPU time, time and memory of a process.
fn row(outcome: &Outcome) -> Vec<String> {
    vec![
        exit(outcome),
        format!("{:.2} s", outcome.cpu.as_secs_f64()),
        format!("{:.2} s", outcome.wall.as_secs_f64()),
        format!("{:.0} MB", outcome.peak as f64 / 1e6),
    ]
}

/// Prints what failed, and what took most time and memory.
fn report(outcomes: &[(&Case, Outcome)], chosen: usize, patience: u32) -> Result<(), Error> {
    const SHOWN: usize = 10;
    let show = |title: &str, some: &[&(&Case, Outcome)]| {
        if !some.is_empty() {
            let rows: Vec<_> = some
                .iter()
                .map(|(case, outcome)| [vec![case.name.clone()], row(outcome)].concat())
                .collect();
            let header = [title, "exit", "CPU", "time", "peak"];
            print(&format!("{}\n", table(&header, &rows)));
        }
    };
    let mut sorted: Vec<_> = outcomes.iter().collect();
    sorted.sort_by_key(|(_, outcome)| std::cmp::Reverse(outcome.cpu));
    show("most CPU time", &sorted[..SHOWN.min(sorted.len())]);
    sorted.sort_by_key(|(_, outcome)| std::cmp::Reverse(outcome.peak));
    show("most memory", &sorted[..SHOWN.min(sorted.len())]);
    sorted.retain(|(case, outcome)| case.problem(outcome, patience).is_some());
    show("failed", &sorted);
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    for (_, outcome) in outcomes {
        *codes.entry(exit(outcome)).or_default() += 1;
    }
    let codes = codes.iter().map(|(code, count)| format!("{code}: {count}"));
    let cpu: Duration = outcomes.iter().map(|(_, outcome)| outcome.cpu).sum();
    print(&format!(
        "{} of {chosen} cases run, {} failed; {:.1} minutes of CPU time; exit codes {}\n",
        outcomes.len(),
        sorted.len(),
        cpu.as_secs_f64() / 60.0,
        codes.collect::<Vec<_>>().join(", ")
    ));
    match sorted.len() {
        0 => Ok(()),
        1 => Err(Error::Failed("1 case failed".to_owned())),
        count => Err(Error::Failed(format!("{count} cases failed"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let choose = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            choose(&words)
        };
        let expected = Chosen {
            filter: vec!["code/c/".to_owned(), "many".to_owned()],
            sample: true,
            seconds: Some(60),
            jobs: Some(2),
            program: Some(PathBuf::from("metric")),
        };
        let words = "code/c/ --sample --seconds 60 many --jobs 2 --program metric";
        assert_eq!(choose(words), Ok(expected));
        for wrong in ["--seconds", "--seconds x", "--jobs 0", "--program", "--all"] {
            assert!(choose(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn cases_have_names_of_their_own_and_files() {
        let cases = all_cases(&root()).expect("cases");
        let mut names: Vec<_> = cases.iter().map(|case| &case.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), cases.len());
        let sample = cases.iter().filter(|case| case.is_in_sample()).count();
        assert!((9..=11).contains(&(100 * sample / cases.len())), "{sample}");
        let code = cases.iter().filter(|case| case.name.starts_with("code/"));
        for case in code.step_by(50) {
            let folder = tempfile::tempdir().expect("a folder");
            (case.write)(folder.path()).expect("files");
            let lines = fs::read_to_string(folder.path().join("pairs.jsonl")).expect("a file");
            assert!(lines.len() > 1000, "{}", case.name);
            for line in lines.lines() {
                let object: serde_json::Value = serde_json::from_str(line).expect("JSON");
                assert!(object["id"].is_string() || object["id"].is_u64());
            }
        }
    }

    #[test]
    fn each_language_has_70_fragments_in_two_sizes() {
        let cases = code::cases(&root()).expect("cases");
        for language in ["c/", "python/", "typescript/"] {
            for bytes in ["20000/", "100000/"] {
                let name = format!("code/{language}{bytes}prediction/repeated/");
                let repeated = cases.iter().filter(|case| case.name.starts_with(&name));
                let repeated = repeated.filter(|case| case.name.ends_with('"')).count();
                assert!((68..=71).contains(&repeated), "{name}: {repeated}");
            }
        }
    }

    #[test]
    fn what_is_not_allowed() {
        let check = |name: &str, exit_code, seconds, megabytes: u64, problem| {
            let case = Case::new(name.to_owned(), "", |_| Ok(()));
            let outcome = Outcome {
                exit_code,
                cpu: Duration::from_secs(seconds),
                wall: Duration::ZERO,
                peak: megabytes * 1_000_000,
            };
            assert_eq!(case.problem(&outcome, 1), problem, "{outcome:?}");
        };
        check("a", Some(0), 10, 1000, None);
        check("a", Some(5), 1, 1, None);
        check("a", Some(4), 1, 1, Some("exit code"));
        check("a", Some(101), 1, 1, Some("exit code"));
        check("a", None, 1, 1, Some("signal"));
        check("a", Some(0), 11, 1, Some("CPU"));
        check("a/many/0", Some(0), 11, 1, None);
        check("a", Some(0), 1, 1001, Some("memory"));
    }
}
