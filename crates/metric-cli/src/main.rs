//! The program `metric`: scores model outputs against references.
//!
//! It parses no data and knows no metric by name: files are read, joined and scored by the engine,
//! `metric-run`. This crate has the arguments ([`args`]), the work during a run ([`mod@score`]),
//! the output ([`output`]), and files that are written completely or not at all ([`output_file`]).

mod args;
mod check;
mod checks;
mod compare;
mod demo;
mod error;
mod headings;
#[cfg(feature = "report")]
mod images;
mod list;
mod manual;
mod normalize;
mod output;
mod output_args;
mod output_file;
mod output_suite;
mod refused;
#[cfg(feature = "report")]
mod report;
#[cfg(not(feature = "report"))]
#[path = "no_report.rs"]
mod report;
#[cfg(feature = "report")]
mod report_compare;
#[cfg(feature = "report")]
mod report_files;
#[cfg(feature = "report")]
mod report_stored;
#[cfg(feature = "report")]
mod report_suite;
#[cfg(not(feature = "report"))]
#[path = "no_report_suite.rs"]
mod report_suite;
mod run;
mod score;
mod scored;
mod statistics;
mod suggest;
mod table;
mod terminal;
mod unfinished;
mod valued_arg;
mod worker;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ArgMatches;
use clap_complete::Shell;
use metric_run::registry::find;

use crate::error::{Failure, say};
use crate::output::Numbers;
use crate::score::Printed;
use crate::worker::Part;

/// The exit code if the data were scored and a score fails its threshold check.
const CHECK_FAILED: u8 = 1;

/// Lets the allocator keep pieces of some megabytes that are freed and wanted again, as those of
/// each block of records are: on several threads, to have them from the system each time costs more
/// than the reading. The GNU C library takes from the system what is larger than the largest such
/// piece freed so far, and gives back what is twice as large (M_MMAP_THRESHOLD and M_TRIM_THRESHOLD
/// in mallopt(3)); other allocators do not mind.
fn keep_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(4 << 20)));
}

fn main() -> ExitCode {
    let (words, is_worker) = match worker::part(std::env::args_os().collect()) {
        Part::Program { words, is_worker } => (words, is_worker),
        Part::Done(done) => return done.unwrap_or_else(|failure| stop(&failure)),
    };
    keep_memory();
    metric_run::silence_decoders();
    let words = suggest::corrected(words.into_iter());
    let color = terminal::color_choice(&words);
    terminal::choose(color);
    let metrics = metrics(&words);
    if let Some(names) = metrics.as_deref().filter(|names| names.contains(','))
        && let Err(failure) = args::refuse_names(names)
    {
        return stop(&failure);
    }
    let command = args::command(metrics).color(color);
    let commands = command.get_subcommands().map(clap::Command::get_name);
    let commands: Vec<&str> = commands.chain(["help"]).collect();
    if let Some(mistake) = suggest::mistake(&words, &commands) {
        return stop(&Failure::Usage(mistake));
    }
    let matches = match command.try_get_matches_from(&words) {
        Ok(matches) => matches,
        Err(mut error) => {
            if let Err(failure) = args::explained(&error, &words) {
                return stop(&failure);
            }
            suggest::only_near(&mut error);
            if let Some(message) = refused::message(&error, &words) {
                return stop(&Failure::Usage(message));
            }
            let printed = error.print();
            // Help goes to standard output and is not an error, even if nobody reads it.
            let code = match printed {
                _ if error.use_stderr() => 2,
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => 4,
                _ => 0,
            };
            return ExitCode::from(code);
        }
    };
    let isolates = (!is_worker).then_some(words.as_slice());
    match run(&matches, isolates) {
        Ok(code) => code,
        Err(failure) => stop(&failure),
    }
}

/// Says why there is no result.
fn stop(failure: &Failure) -> ExitCode {
    say(&format!("error: {failure}"));
    ExitCode::from(failure.exit_code())
}

/// The metric to score: the word after `score`, which may be a list of metrics.
fn metrics(words: &[OsString]) -> Option<String> {
    let [_, command, metrics, ..] = words else {
        return None;
    };
    let is_scored = |word: &&str| command == "score" && !word.starts_with('-');
    metrics.to_str().filter(is_scored).map(str::to_owned)
}

/// Runs a command. A command that is to be isolated is started again with these words; a worker has none.
fn run(matches: &ArgMatches, isolates: Option<&[OsString]>) -> Result<ExitCode, Failure> {
    unfinished::remove_on_signals();
    match matches.subcommand() {
        Some(("score", matches)) => return score(matches, isolates),
        Some(("compare", matches)) => return compare(matches),
        Some(("run", matches)) => {
            let printed = run::run(matches)?;
            return end(&printed.text, &printed.failed_checks);
        }
        Some(("check", matches)) => return check(matches),
        Some(("merge", matches)) => {
            let numbers = output_args::numbers(matches)?;
            let printed = args::merge_task(matches)?.run()?;
            return finish(&printed, numbers, matches);
        }
        #[cfg(feature = "report")]
        Some(("report", matches)) => {
            if let Some(page) = report_stored::run(matches)? {
                print(&page)?;
            }
        }
        Some(("list", matches)) => {
            let name = matches.get_one::<String>("metric");
            let entry = name.and_then(|name| find(name));
            print(&list::render(
                entry,
                output_args::style(matches),
                output_args::layout(matches),
            ))?;
        }
        Some(("completions", matches)) => {
            if let Some(&shell) = matches.get_one::<Shell>("shell") {
                print(&manual::completions(shell))?;
            }
        }
        Some(("man", matches)) => match matches.get_one::<PathBuf>("out") {
            Some(folder) => manual::write_pages(folder)?,
            None => print(&manual::page())?,
        },
        Some(("normalize", matches)) => normalize::run(matches)?,
        Some(("demo", matches)) => print(&demo::run(matches)?)?,
        _ => return Err(Failure::Usage("expected a command; see --help".to_owned())),
    }
    Ok(ExitCode::SUCCESS)
}

fn score(matches: &ArgMatches, isolates: Option<&[OsString]>) -> Result<ExitCode, Failure> {
    let Some((metric, matches)) = matches.subcommand() else {
        return Err(Failure::Usage(
            "expected a metric; see metric list".to_owned(),
        ));
    };
    let numbers = output_args::numbers(matches)?;
    let task = args::task(metric, matches)?;
    if let Some(words) = isolates
        && let Some((code, text)) = worker::isolated(matches, words)?
    {
        print(&text)?;
        return Ok(code);
    }
    let printed = task.run()?;
    finish(&printed, numbers, matches)
}

fn check(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let Some((metric, matches)) = matches.subcommand() else {
        return Err(Failure::Usage(
            "expected a metric; see metric list".to_owned(),
        ));
    };
    let (run, data) = args::check_task(metric, matches)?;
    let (text, is_fine) = check::run(&run, data, matches)?;
    print(&text)?;
    Ok(if is_fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Failure::INPUT)
    })
}

fn compare(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let Some((metric, matches)) = matches.subcommand() else {
        return Err(Failure::Usage(
            "expected a metric; see metric list".to_owned(),
        ));
    };
    let (entry, task) = args::compare_task(metric, matches)?;
    let printed = task.run(entry)?;
    if !matches.get_flag("quiet") {
        for warning in &printed.warnings {
            say(&format!("warning: {warning}"));
        }
    }
    end(&printed.text, &printed.failed_checks)
}

/// Prints a result, after the checks that it fails.
fn end(text: &str, failed_checks: &[String]) -> Result<ExitCode, Failure> {
    for message in failed_checks {
        say(&format!("threshold check failed: {message}"));
    }
    print(text)?;
    Ok(if failed_checks.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(CHECK_FAILED)
    })
}

/// Says what is worth saying, and prints the scores.
fn finish(printed: &Printed, numbers: Numbers, matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if !matches.get_flag("quiet") {
        let mut said = std::collections::BTreeSet::new();
        for scored in &printed.scored {
            for warning in &scored.report.warnings {
                // Several metrics of one run may have the same to say.
                let warning = format!("warning: {warning}");
                if printed.scored.len() == 1 || said.insert(warning.clone()) {
                    say(&warning);
                }
            }
        }
    }
    for message in &printed.failed_checks {
        say(&format!("threshold check failed: {message}"));
    }
    let code = if printed.failed_checks.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(CHECK_FAILED)
    };
    let text = match &printed.shown {
        Some(text) => text.clone(),
        None => output::render(
            &printed.scored,
            output_args::style(matches),
            numbers,
            args::worst(matches)?,
            output_args::layout(matches),
        ),
    };
    print(&text)?;
    Ok(code)
}

/// Prints the result. The exit code stays that of the threshold checks also if nobody reads it.
fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let printed = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    output_file::unless_closed(printed).map_err(|error| Failure::write("standard output", &error))
}
