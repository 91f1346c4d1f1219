//! Processes of this program that do one piece of work under limits.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches};
use metric_judge::{Ended, GivenLimits, Limits, Status, Worker, serve, serve_task};

use crate::error::Failure;

/// The word that starts a worker. It is hidden from people.
pub(crate) const NAME: &str = "worker";
/// A worker that scores a task of a suite.
pub(crate) const TASK: &str = "task";
/// A worker that runs a command.
const COMMAND: &str = "command";

/// The part that this process has.
pub(crate) enum Part {
    /// The program that a person started, with its arguments, or a worker that goes on as that program.
    Program {
        words: Vec<OsString>,
        is_worker: bool,
    },
    /// A worker that is done.
    Done(Result<ExitCode, Failure>),
}

/// Tells which part this process has. A worker sets its limits first.
pub(crate) fn part(words: Vec<OsString>) -> Part {
    if words.get(1).is_none_or(|word| word != NAME) {
        return Part::Program {
            words,
            is_worker: false,
        };
    }
    let kind = words.get(2).and_then(|kind| kind.to_str());
    let work = serve().map_err(|error| {
        Failure::Usage(format!("{NAME} is started by the program itself: {error}"))
    });
    match (work, kind) {
        (Err(failure), _) => Part::Done(Err(failure)),
        (Ok(work), Some(TASK)) => Part::Done(task(&work)),
        (Ok(work), _) => match serde_json::from_str::<Vec<String>>(&work) {
            Ok(given) => Part::Program {
                words: given.into_iter().map(OsString::from).collect(),
                is_worker: true,
            },
            Err(error) => Part::Done(Err(Failure::Internal(error.to_string()))),
        },
    }
}

fn task(work: &str) -> Result<ExitCode, Failure> {
    let answer = serve_task(work).map_err(|error| Failure::Internal(error.to_string()))?;
    let mut stdout = std::io::stdout().lock();
    let written = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
    written.map_err(|error| Failure::write("standard output", &error))?;
    Ok(ExitCode::SUCCESS)
}

/// The options of commands that can run in a process of their own.
pub(crate) fn args() -> [Arg; 2] {
    [
        Arg::new("isolate")
            .long("isolate")
            .action(ArgAction::SetTrue)
            .help("Score in a separate process with limits on time and memory"),
        Arg::new("limits")
            .long("limits")
            .value_name("NAME=VALUE,...")
            .value_parser(clap::value_parser!(GivenLimits))
            .requires("isolate")
            .help("Limits of --isolate, such as seconds=60,memory=2GB"),
    ]
}

/// Runs this command once more in a process of its own, if that is asked for, and prints what it printed.
pub(crate) fn isolated(
    matches: &ArgMatches,
    words: &[OsString],
) -> Result<Option<(ExitCode, String)>, Failure> {
    if !matches.get_flag("isolate") {
        return Ok(None);
    }
    let sides = ["references", "predictions", "pairs"];
    let paths = sides.iter().flat_map(|side| {
        let paths = matches.get_many::<std::path::PathBuf>(side);
        paths.unwrap_or_default()
    });
    if paths.into_iter().any(|path| path.as_os_str() == "-") {
        let problem = "--isolate does not go with standard input: expected a file";
        return Err(Failure::Usage(problem.to_owned()));
    }
    let unicode = words.iter().map(|word| word.to_str());
    let unicode: Option<Vec<&str>> = unicode.collect();
    let work = unicode.and_then(|words| serde_json::to_string(&words).ok());
    let work = work.ok_or_else(|| {
        Failure::Usage("--isolate: expected arguments that are Unicode".to_owned())
    })?;
    let given = matches.get_one::<GivenLimits>("limits").copied();
    let limits = given.unwrap_or_default().or(Limits::default());
    let threads = matches.get_one::<u16>("threads").copied().map(usize::from);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(cores);
    let internal = |error: std::io::Error| Failure::Internal(format!("--isolate: {error}"));
    let worker = Worker::of_this_program(&[NAME, COMMAND]).map_err(internal)?;
    let finished = worker
        .run(&work, None, &limits, threads)
        .map_err(internal)?;
    let code = match finished.ended {
        Ended::Code(code @ 0..=5) => u8::try_from(code).ok(),
        _ => None,
    };
    let Some(code) = code else {
        let problem = finished.problem(&limits, threads);
        return Err(match problem {
            Some((Status::Limit, reason)) => Failure::Limit(reason),
            problem => Failure::Internal(problem.map_or_else(String::new, |(_, reason)| reason)),
        });
    };
    let _ = std::io::stderr()
        .lock()
        .write_all(finished.messages.as_bytes());
    let output = String::from_utf8_lossy(&finished.output).into_owned();
    Ok(Some((ExitCode::from(code), output)))
}
