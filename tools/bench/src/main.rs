//! `cargo xtask bench`: benchmarks, their comparison with a saved run and with other tools, and their costs over sizes.

mod inputs;
mod peers;
mod report;
mod scaling;
mod segments;
mod timing;

use std::collections::BTreeSet;
use std::process::ExitCode;

use xtask_common::{Error, cargo, cargo_output, print, printed};

const HELP: &str = "\
Runs the benchmarks of all crates: against a saved run, against peers, or over sizes.
All of them are built as a release is.

cargo xtask bench [FILTER] [CRITERION ARGUMENTS]
  Runs the benchmarks whose path contains FILTER, such as graph/mapdr; without it all of them.
  Other arguments go to criterion, for example: cargo xtask bench text --quick

  --save NAME          keeps the figures under this name
  --against NAME       keeps them as `now`, and prints both by critcmp, which cargo xtask tools installs
  --threshold PERCENT  leaves out benchmarks that changed by less [default: 5]

cargo xtask bench --peers [FILTER] [OPTIONS]
  Times `metric` and other programs on the same inputs in turn, on as many threads each, checks
  that the numbers agree, prints the ratios and writes benches/RESULTS.md. The peers are installed
  under target/peers, at the versions of benches/peers/requirements; one that cannot be installed
  is reported. Exit code 1 if numbers disagree, or if a program that is there fails.

cargo xtask bench --scaling [FILTER] [OPTIONS]
  Times `metric` on inputs that grow tenfold and on more and more threads; prints a table, writes
  it to benches/SCALING.md and draws it to benches/SCALING.svg.

Options of --peers and --scaling:
  --quick              inputs of a hundredth of the size and two rounds: to see that all runs
  --rounds N           how often each program runs; medians are shown [default: 5]
  --program FILE       times this `metric` in place of building it
With --quick or a FILTER the files go to target/peers in place of benches; so does RESULTS.md if a
peer did not run, unless there is none yet.";

/// The arguments of `cargo bench` that choose all benchmarks; more go to criterion. Benchmarks of
/// the program are in its own package, where cargo tells them its path.
const WORDS: &[&str] = &["-p", "benches", "--benches", "--"];

/// The arguments of the command line.
#[derive(Debug, Default, PartialEq)]
struct Options {
    mode: Mode,
    save: Option<String>,
    against: Option<String>,
    /// Percent.
    threshold: Option<f64>,
    /// The options of runs with peers or over sizes.
    settings: timing::Settings,
    /// The filter, and what goes to criterion.
    rest: Vec<String>,
}

impl Options {
    /// The text to find in the paths of the benchmarks to run, or nothing.
    fn filter(&self) -> &str {
        let first = self.rest.first().filter(|word| !word.starts_with('-'));
        first.map_or("", String::as_str)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Mode {
    #[default]
    Criterion,
    Peers,
    Scaling,
}

fn main() -> ExitCode {
    xtask_common::main("bench", HELP, run)
}

fn run(arguments: &[String]) -> Result<(), Error> {
    if let Some((first, rest)) = arguments.split_first()
        && first == timing::MEASURE
    {
        return Ok(timing::measure(rest)?);
    }
    let options = options(arguments).map_err(Error::Usage)?;
    let filter = options.filter();
    match options.mode {
        Mode::Criterion => criterion(&options),
        Mode::Peers => peers::run(filter, &options.settings),
        Mode::Scaling => scaling::run(filter, &options.settings),
    }
}

/// The options that a value follows, as the next word or after `=`.
const VALUED: &[&str] = &[
    "--save",
    "--against",
    "--threshold",
    "--rounds",
    "--program",
];

/// Options of criterion that `--save` and `--against` stand for.
const BASELINES: &[&str] = &[
    "--save-baseline",
    "-s",
    "--baseline",
    "-b",
    "--baseline-lenient",
    "--load-baseline",
];

/// Reads the command line.
fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut quick = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (option, attached) = match word.split_once('=') {
            Some((option, value)) if VALUED.contains(&option) => (option, Some(value)),
            _ => (word.as_str(), None),
        };
        let mut value = |what: &str| {
            let value = match attached {
                Some(value) => Some(value).filter(|value| !value.is_empty()),
                None => words
                    .next()
                    .map(String::as_str)
                    .filter(|value| !value.starts_with("--")),
            };
            value
                .map(str::to_owned)
                .ok_or(format!("{option}: expected {what} after it"))
        };
        match option {
            "--peers" if options.mode != Mode::Scaling => options.mode = Mode::Peers,
            "--scaling" if options.mode != Mode::Peers => options.mode = Mode::Scaling,
            "--peers" | "--scaling" => return Err("--peers and --scaling: expected one".to_owned()),
            "--save" => options.save = Some(name(&value("a name")?)?),
            "--against" => options.against = Some(name(&value("a name")?)?),
            "--threshold" => {
                let text = value("a percentage")?;
                let percent = text.trim_end_matches('%').parse::<f64>();
                let percent = percent.ok().filter(|percent| *percent >= 0.0);
                options.threshold = Some(percent.ok_or(format!(
                    "--threshold {text}: expected a percentage, 0 or more, such as 5"
                ))?);
            }
            "--rounds" => {
                let text = value("a number")?;
                let rounds = text.parse().ok().filter(|rounds| *rounds > 0);
                options.settings.rounds = Some(
                    rounds.ok_or(format!("--rounds {text}: expected a number of at least 1"))?,
                );
            }
            "--program" => options.settings.program = Some(value("a file")?.into()),
            "--quick" => quick = true,
            _ => options.rest.push(word.clone()),
        }
    }
    if options.mode == Mode::Criterion {
        if options.settings != timing::Settings::default() {
            return Err("--rounds and --program: expected --peers or --scaling".to_owned());
        }
        if options.threshold.is_some() && options.against.is_none() {
            return Err("--threshold: expected --against NAME".to_owned());
        }
        if quick {
            options.rest.push("--quick".to_owned());
        }
        if options.save.is_some() && options.against.is_some() {
            return Err("--save and --against: expected one".to_owned());
        }
        let baseline = |word: &&String| {
            let option = word.split_once('=').map_or(word.as_str(), |parts| parts.0);
            BASELINES.contains(&option)
        };
        if let Some(word) = options.rest.iter().find(baseline) {
            return Err(format!("{word}: expected --save NAME or --against NAME"));
        }
    } else {
        options.settings.quick = quick;
        if options.save.is_some() || options.against.is_some() || options.threshold.is_some() {
            let message = "--save, --against and --threshold: expected no --peers or --scaling";
            return Err(message.to_owned());
        }
        if let Some(word) = options.rest.iter().find(|word| word.starts_with('-')) {
            return Err(format!("{word}: unknown"));
        }
        if let Some(word) = options.rest.get(1) {
            return Err(format!("{word}: expected one filter"));
        }
    }
    Ok(options)
}

/// A name that may be a folder of criterion's.
fn name(text: &str) -> Result<String, String> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if RESERVED.contains(&text) || text.starts_with('.') || !text.chars().all(plain) {
        return Err(format!(
            "{text:?}: expected a name of letters, digits, '-', '_' and '.', and none of {:?}",
            RESERVED
        ));
    }
    Ok(text.to_owned())
}

/// Names of saved runs that criterion or this command uses itself.
const RESERVED: &[&str] = &["new", "base", "change", "report", NOW];

/// The saved run that another one is compared with.
const NOW: &str = "now";

/// Runs criterion's benchmarks, and compares if asked to.
fn criterion(options: &Options) -> Result<(), Error> {
    let filter = options.filter();
    if !filter.is_empty() {
        exists(filter)?;
    }
    let mut words = [&["bench"], WORDS].concat();
    words.extend(options.rest.iter().map(String::as_str));
    let save = match &options.against {
        Some(_) => Some(NOW),
        None => options.save.as_deref(),
    };
    words.extend(save.into_iter().flat_map(|name| ["--save-baseline", name]));
    // The benchmark `program` runs it.
    cargo(&["build", "--release", "-p", "metric-cli"], &[])?;
    cargo(&words, &[])?;
    let Some(against) = &options.against else {
        return Ok(());
    };
    let threshold = options.threshold.unwrap_or(5.0).to_string();
    let words = ["--threshold", &threshold, "--filter", filter, against, NOW];
    let table = printed("critcmp", &words);
    print(&table.map_err(|error| format!("{error} (cargo xtask tools installs critcmp)"))?);
    Ok(())
}

/// An error that says which groups there are if the filter matches no benchmark, which criterion
/// does not report.
fn exists(filter: &str) -> Result<(), Error> {
    let list = |words: &[&str]| cargo_output(&[&["bench"], WORDS, words].concat(), &[]);
    if list(&["--list", filter])?.lines().any(is_benchmark) {
        return Ok(());
    }
    let groups = groups(&list(&["--list"])?).join(", ");
    Err(Error::Usage(format!(
        "{filter}: no benchmark; there are: {groups}"
    )))
}

/// Whether a line of criterion's list names a benchmark.
fn is_benchmark(line: &str) -> bool {
    line.ends_with(": benchmark")
}

/// The first two parts of the paths in criterion's list, each once.
fn groups(list: &str) -> Vec<String> {
    let benchmarks = list.lines().filter(|line| is_benchmark(line));
    let groups: BTreeSet<String> = benchmarks
        .map(|line| {
            let path = line.trim_end_matches(": benchmark");
            Vec::from_iter(path.split('/').take(2)).join("/")
        })
        .collect();
    groups.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        options(&words)
    }

    #[test]
    fn command_lines() -> Result<(), String> {
        let plain = parse("graph/mapdr --quick")?;
        assert_eq!(plain.rest, ["graph/mapdr", "--quick"]);
        assert_eq!(plain.mode, Mode::Criterion);
        assert_eq!(parse("--save v1")?.save.as_deref(), Some("v1"));
        let saved = parse("text --against v0 --threshold 2.5%")?;
        assert_eq!(saved.rest, ["text"]);
        assert_eq!(saved.against.as_deref(), Some("v0"));
        assert_eq!(saved.threshold, Some(2.5));
        let attached = parse("text --against=v0 --threshold=2.5")?;
        assert_eq!(attached, saved);
        assert_eq!(attached.filter(), "text");
        // criterion's own files stay unchanged.
        let other = parse("--sample-size=10 text")?;
        assert_eq!(other.rest, ["--sample-size=10", "text"]);
        assert_eq!(other.filter(), "");
        let peers = parse("--peers coco --quick --rounds=3 --program=a=b")?;
        assert_eq!(peers.settings.program, Some("a=b".into()));
        assert_eq!(peers.mode, Mode::Peers);
        assert!(peers.settings.quick);
        assert_eq!(peers.settings.rounds, Some(3));
        Ok(())
    }

    #[test]
    fn wrong_command_lines() {
        for (line, error) in [
            ("--save", "--save: expected a name after it"),
            ("--save --against x", "--save: expected a name after it"),
            ("--save=", "--save: expected a name after it"),
            (
                "--save v1 --against v0",
                "--save and --against: expected one",
            ),
            (
                "--save-baseline=x",
                "--save-baseline=x: expected --save NAME or --against NAME",
            ),
            ("--peers --scaling", "--peers and --scaling: expected one"),
            ("--threshold 5", "--threshold: expected --against NAME"),
            ("--rounds 0", "--rounds 0: expected a number of at least 1"),
            ("--peers a b", "b: expected one filter"),
            ("--peers --quik", "--quik: unknown"),
            (
                "--against x --threshold -1",
                "--threshold -1: expected a percentage, 0 or more, such as 5",
            ),
        ] {
            assert_eq!(parse(line), Err(error.to_owned()), "{line}");
        }
        assert!(parse("--save new").is_err());
        assert!(parse("--save base").is_err());
        assert!(parse("--save now").is_err());
        assert!(parse("--save ../x").is_err());
    }
    #[test]
    fn groups_of_criterions_list() {
        let list =
            "running\ntext/exact/1M: benchmark\ntext/exact/2M: benchmark\n\nedit: benchmark\n";
        assert_eq!(groups(list), ["edit", "text/exact"]);
    }
}
