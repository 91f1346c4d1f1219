//! `metric run`: scores a submission by the tasks of a suite.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use metric_judge::{
    CompareWith, EXAMPLE, Platform, RunSuite, Shown, Status, Submission, Suite, SuiteError,
    SuiteOutcome, Task, Worker,
};
use metric_run::ErrorKind;

use crate::checks::{Check, SuiteVerdict};
use crate::error::{Failure, say};
use crate::output::Style;
use crate::output_args;
use crate::output_file::{self, OutputFile};
use crate::output_suite;
use crate::unfinished::Unfinished;
use crate::worker;
use crate::{compare, report, report_suite, statistics};

/// The most lines about failed tasks and of warnings that are said.
const MOST_LINES: usize = 20;

/// The arguments of `metric run`.
pub(crate) fn command(format: Arg, numbers: [Arg; 2], quiet: Arg) -> Command {
    let path = |name: &'static str, value: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(value)
            .value_parser(value_parser!(PathBuf))
    };
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let platforms = Platform::ALL.map(|(name, _)| name).join("|");
    Command::new("run")
        .about("Scores a submission (predictions for several tasks) on the tasks of a suite, each task in a separate process")
        .override_usage(
            "metric run SUITE --predictions DIR|FILE.zip|- [OPTIONS]\n       metric run SUITE --dry-run\n       metric run [SUITE] --init",
        )
        .arg(
            Arg::new("suite")
                .value_name("SUITE")
                .value_parser(value_parser!(PathBuf))
                .required_unless_present("init")
                .help("Suite file (TOML), which lists the tasks with their metrics and references"),
        )
        .arg(
            path("predictions", "PATH")
                .short('p')
                .required_unless_present_any(["init", "dry-run"])
                .help("Submission: a folder, a zip archive, or - for an archive on standard input"),
        )
        .arg(
            Arg::new("task")
                .long("task")
                .value_name("NAME")
                .action(ArgAction::Append)
                .help("Score only this task; repeatable"),
        )
        .arg(format)
        .args(numbers)
        .arg(flag("private").help("Keep ids, values and paths of the references out of all output except --log"))
        .arg(path("log", "FILE").help("Also write the complete messages and results, with what --private hides, for the organizer"))
        .arg(
            Arg::new("output-for")
                .long("output-for")
                .value_names(["PLATFORM", "FILE"])
                .num_args(2)
                .help(format!("Also write the scores in the format of a platform: {platforms}")),
        )
        .arg(
            path("compare", "PATH")
                .conflicts_with_all(["private", "dry-run", "init"])
                .help("Also compare with the submission at PATH, as the baseline"),
        )
        .args(compare_args())
        .arg(
            Arg::new("threads")
                .long("threads")
                .value_name("N")
                .value_parser(value_parser!(u16).range(1..=256))
                .help("Threads per task, which do not change the result [default: all cores]"),
        )
        .arg(
            flag("dry-run")
                .conflicts_with_all(["predictions", "init"])
                .help("Check the suite and its references without scoring, and print the SHA-256 of the files"),
        )
        .arg(flag("init").help("Write a working example suite with comments, and its files"))
        .arg(output_args::wide_arg())
        .arg(quiet)
        .args(report::args().into_iter().filter(|arg| arg.get_id() != "report-examples"))
        .after_help(AFTER_HELP)
}

/// The statistics of a comparison, which are options of `metric compare` too.
const STATISTICS: [&str; 5] = [
    "confidence",
    "resamples",
    "seed",
    "interval",
    "permutations",
];

fn compare_args() -> Vec<Arg> {
    let all = statistics::args().into_iter().chain(compare::args());
    let chosen = all.filter(|arg| STATISTICS.contains(&arg.get_id().as_str()));
    chosen.map(|arg| arg.requires("compare")).collect()
}

const AFTER_HELP: &str = "\
If a task cannot be scored, its result has a status (missing, failed or limit) and a reason. The other \
tasks are still scored, and the exit code is still 0. --fail-under and --fail-over check `total`, or the score of a \
task by its name, a dot and the name of the score; a score that a task has not is undefined and fails.

`metric run --init` writes an example suite.

Exit codes: 0 the suite was run, 1 threshold check failed, 2 usage error, 3 the suite or its references cannot be read, 4 internal error.";

impl From<SuiteError> for Failure {
    fn from(error: SuiteError) -> Self {
        match error.kind {
            ErrorKind::Usage => Self::Usage(error.message),
            ErrorKind::Input => Self::Input(error.message),
            ErrorKind::Limit => Self::Limit(error.message),
            ErrorKind::Internal => Self::Internal(error.message),
        }
    }
}

/// The text for standard output, and the threshold checks that the scores fail, in words.
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) failed_checks: Vec<String>,
}

impl From<String> for Printed {
    fn from(text: String) -> Self {
        Self {
            text,
            failed_checks: Vec::new(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(matches: &ArgMatches) -> Result<Printed, Failure> {
    let suite = matches.get_one::<PathBuf>("suite");
    if matches.get_flag("init") {
        return init(suite).map(Printed::from);
    }
    let path = suite.ok_or_else(|| Failure::Usage("expected a suite file".to_owned()))?;
    let shown = if matches.get_flag("private") {
        Shown::Participants
    } else {
        Shown::Organizer
    };
    let numbers = output_args::numbers(matches)?;
    let suite = Suite::read(path);
    let checks = Check::given(matches)?;
    if let Ok(suite) = &suite {
        checks
            .iter()
            .try_for_each(|check| check.refuse_for_suite(suite))?;
    }
    let files = Files::open(path, suite.as_ref().ok(), matches)?;
    let done = suite.map_err(Failure::from);
    let done = done.and_then(|suite| work(&suite, matches));
    let outcome = match (done, shown) {
        (Ok(Done::Checked(text)), _) => return Ok(text.into()),
        (Ok(Done::Scored(outcome)), _) => outcome,
        (Err(failure), Shown::Organizer) => return Err(failure),
        (Err(failure), Shown::Participants) => return Err(hidden(&failure, files.log)?),
    };
    if !matches.get_flag("quiet") {
        // Tables have the reasons of failed tasks.
        let has_reasons = matches!(output_args::style(matches), Style::Table | Style::Markdown);
        tell(&outcome, shown, !has_reasons);
    }
    let verdicts = checks.iter().map(|check| check.of_suite(&outcome, shown));
    let verdicts: Vec<SuiteVerdict<'_>> = verdicts.collect::<Result<_, _>>()?;
    let submission = submission_name(&outcome, matches);
    let in_words: Vec<_> = verdicts.iter().map(SuiteVerdict::in_words).collect();
    // On standard output the report is the only output.
    let text = match files.write((&outcome, shown), (&submission, &in_words))? {
        Some(page) => page,
        None => output_suite::render(
            (&outcome, &verdicts),
            shown,
            output_args::style(matches),
            output_args::layout(matches),
            numbers,
        ),
    };
    Ok(Printed {
        text,
        failed_checks: verdicts.iter().filter_map(SuiteVerdict::failure).collect(),
    })
}

/// The name of the submission, as a comparison calls it.
fn submission_name(outcome: &SuiteOutcome, matches: &ArgMatches) -> String {
    if let Some(comparison) = &outcome.comparison {
        return comparison.names()[1].to_owned();
    }
    let path = matches.get_one::<PathBuf>("predictions");
    let stem = path.and_then(|path| path.file_stem());
    stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// The outcome of the command.
enum Done {
    /// The text of a check without predictions.
    Checked(String),
    Scored(Box<SuiteOutcome>),
}

fn work(suite: &Suite, matches: &ArgMatches) -> Result<Done, Failure> {
    let names = matches.get_many::<String>("task").unwrap_or_default();
    let names: Vec<String> = names.cloned().collect();
    let tasks = suite.select(&names)?;
    Ok(if matches.get_flag("dry-run") {
        Done::Checked(dry_run(suite, &tasks)?)
    } else {
        Done::Scored(Box::new(score(suite, &tasks, matches)?))
    })
}

/// A failure of the organizer's files in words that participants may read. The log has the rest.
fn hidden(failure: &Failure, log: Option<OutputFile>) -> Result<Failure, Failure> {
    let Some(mut log) = log else {
        let message = "the suite cannot be scored; with --log FILE, the log says why";
        return Ok(failure.with_message(message.to_owned()));
    };
    log.write(format!("{failure}\n").as_bytes())?;
    log.persist()?;
    let message = "the suite cannot be scored; the log says why";
    Ok(failure.with_message(message.to_owned()))
}

/// The files that are written in addition to the result. They are opened before the work, so that it is not done in vain.
struct Files {
    log: Option<OutputFile>,
    output: Option<(Platform, OutputFile)>,
    report: Option<report::Open>,
}

impl Files {
    /// Opens the files, unless they are the suite file, or files that the suite names if it can be read.
    fn open(path: &Path, suite: Option<&Suite>, matches: &ArgMatches) -> Result<Self, Failure> {
        let output = output_for(matches)?;
        let named = suite.map(Suite::files).unwrap_or_default();
        let inputs: Vec<&Path> = std::iter::once(path).chain(named).collect();
        refuse_outputs(matches, &inputs, output.as_ref())?;
        let log = matches.get_one::<PathBuf>("log");
        let open = |(platform, path): (Platform, PathBuf)| {
            OutputFile::create(&path).map(|file| (platform, file))
        };
        let report = report::wanted(matches)?.map(|report| report.open(None));
        Ok(Self {
            log: log.map(|path| OutputFile::create(path)).transpose()?,
            output: output.map(open).transpose()?,
            report: report.transpose()?,
        })
    }

    /// Writes all of them. Returns the report if that is for standard output.
    fn write(
        self,
        (outcome, shown): (&SuiteOutcome, Shown),
        of_report: (&str, &[(String, bool)]),
    ) -> Result<Option<String>, Failure> {
        let output = self
            .output
            .map(|(platform, file)| (file, platform.file(outcome, shown)));
        let log = self.log.map(|file| (file, outcome.log()));
        for (mut file, text) in output.into_iter().chain(log) {
            file.write(text.as_bytes())?;
            file.persist()?;
        }
        let report = self
            .report
            .map(|report| report_suite::finish(report, (outcome, shown), of_report));
        Ok(report.transpose()?.flatten())
    }
}

/// The platform and the file that are asked for.
fn output_for(matches: &ArgMatches) -> Result<Option<(Platform, PathBuf)>, Failure> {
    let mut given = matches.get_many::<String>("output-for").unwrap_or_default();
    let (Some(platform), Some(path)) = (given.next(), given.next()) else {
        return Ok(None);
    };
    let platform = platform
        .parse()
        .map_err(|error| Failure::Usage(format!("--output-for: {error}")))?;
    Ok(Some((platform, PathBuf::from(path))))
}

fn refuse_outputs(
    matches: &ArgMatches,
    of_suite: &[&Path],
    output: Option<&(Platform, PathBuf)>,
) -> Result<(), Failure> {
    let log = matches.get_one::<PathBuf>("log");
    let log = log.map(|path| ("log", path.as_path()));
    let output = output.map(|(_, path)| ("output-for", path.as_path()));
    let report = matches.try_get_one::<PathBuf>("report").ok().flatten();
    let report = report.filter(|path| path.as_os_str() != "-");
    let report = report.map(|path| ("report", path.as_path()));
    let outputs: Vec<_> = log.into_iter().chain(output).chain(report).collect();
    let submissions = ["predictions", "compare"].map(|name| matches.get_one::<PathBuf>(name));
    let submissions = submissions.into_iter().flatten().map(PathBuf::as_path);
    let inputs: Vec<&Path> = of_suite.iter().copied().chain(submissions).collect();
    output_file::refuse(&outputs, &inputs)
}

/// Checks and reads the references of tasks, and lists their hashes.
fn dry_run(suite: &Suite, tasks: &[&Task]) -> Result<String, Failure> {
    let mut text = String::new();
    for task in tasks {
        let hash = suite.check(task, true)?;
        suite.read_references(task)?;
        let hash = hash.map_or_else(String::new, |hash| format!(", sha256 = \"{hash}\""));
        text.push_str(&format!("{}: {}{hash}\n", task.name, task.metric()));
    }
    Ok(text)
}

fn score(suite: &Suite, tasks: &[&Task], matches: &ArgMatches) -> Result<SuiteOutcome, Failure> {
    let predictions = matches.get_one::<PathBuf>("predictions");
    let predictions =
        predictions.ok_or_else(|| Failure::Usage("expected --predictions".to_owned()))?;
    let temporary = || tempfile::Builder::new().prefix("metric-run-").tempdir();
    let folder = Unfinished::create(temporary)
        .map_err(|error| Failure::write("the folder for temporary files", &error))?;
    let names = suite.predictions();
    let submission = if predictions.as_os_str() == "-" {
        let most = suite.most_bytes();
        Submission::of_stream(io::stdin().lock(), folder.path(), most, &names)?
    } else {
        Submission::open(predictions, &names)?
    };
    let worker = Worker::of_this_program(&[worker::NAME, worker::TASK])
        .map_err(|error| Failure::Internal(format!("cannot find the program itself: {error}")))?;
    let threads = matches.get_one::<u16>("threads").copied().map(usize::from);
    let other = matches.get_one::<PathBuf>("compare");
    let other = other.map(|path| Ok::<_, Failure>((path, Submission::open(path, &names)?)));
    let other = other.transpose()?;
    let statistics = statistics::statistics(matches)?;
    let names = other.as_ref();
    let names = names.map(|(other, _)| CompareWith::names(other, predictions));
    let compare = other.as_ref().zip(names.as_ref());
    let compare = compare.map(|((_, submission), [baseline, system])| CompareWith {
        submission,
        names: [baseline, system],
        statistics: &statistics,
        permutations: matches
            .get_one("permutations")
            .copied()
            .unwrap_or(metric_run::Compare::default().permutations),
    });
    let run = RunSuite {
        suite,
        tasks,
        worker: &worker,
        folder: folder.path(),
        threads,
        compare,
    };
    let rounds = if other.is_some() { 2 } else { 1 };
    let bar = Steps::new(!matches.get_flag("quiet"), rounds * tasks.len() as u64);
    Ok(run.score(&submission, &|task| bar.start(task))?)
}

/// A progress bar of tasks, on a terminal.
struct Steps(Option<indicatif::ProgressBar>);

impl Steps {
    fn new(is_wanted: bool, tasks: u64) -> Self {
        Self(is_wanted.then(|| {
            let bar = crate::score::progress_bar("{bar:32} {pos}/{len} {msg}");
            bar.set_length(tasks);
            bar
        }))
    }

    fn start(&self, task: &str) {
        if let Some(bar) = &self.0 {
            if bar.message() != "" {
                bar.inc(1);
            }
            bar.set_message(task.to_owned());
        }
    }
}

/// Says which tasks have no result, and what is odd.
fn tell(outcome: &SuiteOutcome, shown: Shown, with_reasons: bool) {
    let failed = outcome
        .tasks
        .iter()
        .filter(|task| with_reasons && task.status != Status::Ok);
    let failed = failed.map(|task| {
        let reason = task.reason(shown).unwrap_or_default().replace('\n', "; ");
        format!("task {}: {}: {reason}", task.name, task.status.name())
    });
    let compared = outcome.comparison.iter();
    let compared = compared.flat_map(|comparison| comparison.tasks());
    let compared = compared.filter_map(|(task, found)| {
        let reason = found.err()?.replace('\n', "; ");
        Some(format!("task {task}: not compared: {reason}"))
    });
    let warnings = outcome.warnings(shown).into_iter();
    let lines: Vec<String> = failed
        .chain(compared)
        .chain(warnings.map(|it| format!("warning: {it}")))
        .collect();
    for line in lines.iter().take(MOST_LINES) {
        say(line);
    }
    if let Some(more @ 1..) = lines.len().checked_sub(MOST_LINES) {
        say(&format!("... and {more} more"));
    }
}

/// Writes the example, at a path or in this folder.
fn init(suite: Option<&PathBuf>) -> Result<String, Failure> {
    let [(name, _), ..] = EXAMPLE;
    let suite = suite.map_or_else(|| PathBuf::from(name), PathBuf::clone);
    let folder = match suite.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let files = EXAMPLE
        .iter()
        .enumerate()
        .map(|(index, (name, text))| match index {
            0 => (suite.clone(), *text),
            _ => (folder.join(name), *text),
        });
    let files: Vec<(PathBuf, &str)> = files.collect();
    if let Some((taken, _)) = files
        .iter()
        .find(|(path, _)| fs::symlink_metadata(path).is_ok())
    {
        let problem = format!(
            "{} exists: expected the path of a new file",
            taken.display()
        );
        return Err(Failure::Usage(format!("--init: {problem}")));
    }
    for (path, text) in &files {
        output_file::create_folder(path.parent().unwrap_or(&folder))?;
        output_file::write_whole(path, text)?;
    }
    let submission = if folder == Path::new(".") {
        PathBuf::from("submission")
    } else {
        folder.join("submission")
    };
    Ok(format!(
        "{0}: an example, which runs as it is:\n\n    metric run {0} --predictions {1}\n",
        suite.display(),
        submission.display()
    ))
}
