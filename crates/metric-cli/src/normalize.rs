//! `metric normalize`: what the steps of a normalization make of texts.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use metric_run::record::json::{self, Entries};
use metric_run::record::{Kind, no_text};
use metric_run::registry::{NORMALIZE, Normalizer};
use serde_json::value::RawValue;

use crate::error::Failure;
use crate::list::words_text;
use crate::output_file::unless_closed;

const STANDARD_INPUT: &str = "standard input";

pub(crate) fn command(exit_codes: &str) -> Command {
    let words = words_text(&NORMALIZE, 2);
    Command::new("normalize")
        .about("Prints texts as the steps of --normalize make them")
        .arg(
            Arg::new("steps")
                .value_name("STEPS")
                .required(true)
                .help("Steps in the order in which they are applied, separated by commas"),
        )
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Lines of text; - or nothing: standard input"),
        )
        .arg(
            Arg::new("field")
                .long("field")
                .value_name("NAME")
                .help("The lines are JSON objects, of which this field is normalized, a text or a list of texts"),
        )
        .after_help(format!("Steps:\n{words}\n{exit_codes}"))
}

/// Prints each line after the steps. What is before a problem is printed.
pub(crate) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let steps = matches.get_one::<String>("steps");
    let steps = steps.map(String::as_str).unwrap_or_default();
    let normalizer: Normalizer = steps
        .parse()
        .map_err(|error| Failure::Usage(format!("STEPS {steps:?}: {error}")))?;
    let field = matches.get_one::<String>("field");
    let path = matches.get_one::<PathBuf>("file");
    let path = path.filter(|path| *path != Path::new("-"));
    let name = path.map_or(STANDARD_INPUT.to_owned(), |path| path.display().to_string());
    let refuse = |problem: String| Failure::Input(format!("{name}{problem}"));
    let cannot_read = |error: &std::io::Error| refuse(format!(": cannot read: {error}"));
    let mut input: Box<dyn BufRead> = match path {
        None => Box::new(std::io::stdin().lock()),
        Some(path) => Box::new(BufReader::new(
            File::open(path).map_err(|error| cannot_read(&error))?,
        )),
    };
    let mut output = BufWriter::new(std::io::stdout().lock());
    let cannot_write = |error| Failure::write("standard output", &error);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|error| cannot_read(&error))? == 0 {
            break;
        }
        let normalized = match std::str::from_utf8(&line) {
            Ok(text) => normalized(&normalizer, text, field.map(String::as_str))
                .map_err(|problem| refuse(format!(":{number}: {problem}"))),
            Err(error) => {
                let error = no_text(&name, number, &line, error.valid_up_to(), "not UTF-8");
                Err(Failure::Input(error.to_string()))
            }
        };
        match normalized {
            Ok(text) => {
                if let Err(error) = output.write_all(text.as_bytes()) {
                    // Whoever closes the output wants no more of it.
                    return unless_closed(Err(error)).map_err(cannot_write);
                }
            }
            Err(failure) => {
                unless_closed(output.flush()).map_err(cannot_write)?;
                return Err(failure);
            }
        }
    }
    unless_closed(output.flush()).map_err(cannot_write)
}

/// A line after the steps, with the line end that it had.
fn normalized(normalizer: &Normalizer, line: &str, field: Option<&str>) -> Result<String, String> {
    let text = line.strip_suffix('\n').unwrap_or(line);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let end = &line[text.len()..];
    let changed = match field {
        None => normalizer.apply(text).into_owned(),
        Some(_) if text.trim().is_empty() => text.to_owned(),
        Some(field) => with_field(text, field, |text| normalizer.apply(text).into_owned())?,
    };
    Ok(changed + end)
}

/// A JSON object with other texts in a field; all else stays as it is written.
fn with_field(
    object: &str,
    field: &str,
    change: impl Fn(&str) -> String,
) -> Result<String, String> {
    let entries: Entries<'_> = json::typed(object)?;
    let value = entries
        .get(field)
        .ok_or_else(|| format!("{field}: is missing"))?;
    let items = match json::kind(value) {
        Kind::String => vec![value],
        Kind::List => json::typed::<Vec<&RawValue>>(value)?
            .into_iter()
            .map(RawValue::get)
            .collect(),
        found => return Err(expected(field, found)),
    };
    let texts = items.into_iter().map(|item| match json::kind(item) {
        Kind::String => Ok((place(object, item), json::typed::<String>(item)?)),
        found => Err(expected(field, found)),
    });
    let texts = texts.collect::<Result<Vec<_>, String>>()?;
    let mut changed = String::with_capacity(object.len());
    let mut start = 0;
    for (place, text) in texts {
        changed.push_str(&object[start..place.start]);
        changed.push_str(&serde_json::Value::String(change(&text)).to_string());
        start = place.end;
    }
    changed.push_str(&object[start..]);
    Ok(changed)
}

fn expected(field: &str, found: Kind) -> String {
    format!("{field}: found {found}, expected a text or a list of texts")
}

/// Where a part of a text is in it.
fn place(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}
