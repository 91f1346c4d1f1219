//! The program `metric`: scores model outputs against references.
//!
//! It knows no metric by name: metrics, their options and how they read a record come from the
//! registry of `metric-suite`. What is here reads files ([`source`], [`scan`]), joins them by id
//! ([`join`]), folds them over the cores ([`mod@score`]) and prints ([`output`]).

mod args;
mod demo;
mod error;
mod join;
mod list;
mod output;
mod scan;
mod score;
mod source;

use std::io::Write;
use std::process::ExitCode;

use clap::ArgMatches;

use crate::error::Failure;
use crate::score::Scored;

/// A gate failed: the data were scored, and the score was too low.
const GATE_FAILED: u8 = 1;

fn main() -> ExitCode {
    let matches = match args::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // Help goes to standard output and is no error.
            let code = if error.use_stderr() { 2 } else { 0 };
            return match error.print() {
                Ok(()) => ExitCode::from(code),
                Err(_) => ExitCode::from(code.max(u8::from(code == 0) * 4)),
            };
        }
    };
    match run(&matches) {
        Ok(code) => code,
        Err(failure) => {
            if !matches!(failure, Failure::Closed) {
                eprintln!("error: {failure}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    match matches.subcommand() {
        Some(("score", matches)) => score(matches),
        Some(("list", matches)) => print(&list::render(args::style(matches))),
        Some(("demo", matches)) => demo::run(matches).and_then(|text| print(&text)),
        _ => Err(Failure::Usage("expected a command; see --help".to_owned())),
    }
}

fn score(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let Some((metric, matches)) = matches.subcommand() else {
        return Err(Failure::Usage(
            "expected a metric; see metric list".to_owned(),
        ));
    };
    let gates = args::gates(matches)?;
    let scored = args::task(metric, matches)?.run()?;
    if !matches.get_flag("quiet") {
        for warning in &scored.report.warnings {
            eprintln!("warning: {warning}");
        }
    }
    let failed = check_gates(&gates, &scored)?;
    print(&output::render(metric, &scored, args::style(matches)))?;
    for message in &failed {
        eprintln!("gate failed: {message}");
    }
    Ok(if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(GATE_FAILED)
    })
}

/// The gates that the scores do not pass, in words.
fn check_gates(gates: &[(String, f64)], scored: &Scored) -> Result<Vec<String>, Failure> {
    let mut failed = Vec::new();
    for (name, bound) in gates {
        let scores = &scored.report.scores;
        let Some((_, value)) = scores.iter().find(|(score, _)| score == name) else {
            let names: Vec<_> = scores.iter().map(|(name, _)| name.as_str()).collect();
            let names = names.join(", ");
            return Err(Failure::Usage(format!(
                "--fail-under {name}: no such score: expected one of {names}"
            )));
        };
        match value {
            Some(value) if value >= bound => {}
            Some(value) => failed.push(format!("{name} is {value}, below {bound}")),
            None => failed.push(format!(
                "{name} is undefined, which is not at least {bound}"
            )),
        }
    }
    Ok(failed)
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::write("standard output", &error))?;
    Ok(ExitCode::SUCCESS)
}
