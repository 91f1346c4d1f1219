//! `metric normalize`: what the steps of a normalization make of texts.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use clap::{Arg, ArgMatches, Command, value_parser};
use metric_run::record::json::{self, Entries};
use metric_run::record::{Kind, no_text};
use metric_run::registry::{NORMALIZE, Normalizer, finding_words, normalize_warnings};
use metric_run::{DEFAULT_MAX_BYTES, Source};
use serde_json::value::RawValue;

use crate::args::max_bytes_arg;
use crate::error::{Failure, say};
use crate::list::words_text;
use crate::output_args::quiet_arg;
use crate::output_file::unless_closed;

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
                .help("Lines of text, compressed or not; - or nothing: standard input"),
        )
        .arg(
            Arg::new("field")
                .long("field")
                .value_name("NAME")
                .help("The lines are JSON objects, of which this field is normalized, a text or a list of texts"),
        )
        .arg(max_bytes_arg("Longest line, such as 500MB"))
        .arg(quiet_arg().help("No warnings on standard error"))
        .after_help(format!("Steps:\n{words}\n{exit_codes}"))
}

/// Prints each line after the steps. What is before a problem is printed.
pub(crate) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let steps = matches.get_one::<String>("steps");
    let steps = steps.map(String::as_str).unwrap_or_default();
    let normalizer: Normalizer = steps
        .parse()
        .map_err(|error| Failure::Usage(format!("STEPS {steps:?}: {error}")))?;
    let field = matches.get_one::<String>("field").map(String::as_str);
    let path = matches.get_one::<PathBuf>("file");
    let source = match path.filter(|path| *path != Path::new("-")) {
        None => Source::standard_input(),
        Some(path) => Source::path(path)?,
    };
    let max_bytes = matches.get_one::<ByteSize>("max-bytes");
    let max_bytes = max_bytes.map_or(DEFAULT_MAX_BYTES, ByteSize::as_u64);
    let name = source.name();
    let mut input = BufReader::new(source.bytes_of_file()?);
    let mut output = BufWriter::new(std::io::stdout().lock());
    let cannot_write = |error| Failure::write("standard output", &error);
    let mut found = BTreeMap::new();
    let mut change = |text: &str| {
        for (finding, times) in normalizer.findings(text) {
            *found.entry(finding).or_insert(0) += times;
        }
        normalizer.apply(text).into_owned()
    };
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        // One byte more tells of a line that is too long.
        let mut part = input.by_ref().take(max_bytes.saturating_add(1));
        let read = part.read_until(b'\n', &mut line);
        let read = read.map_err(|error| Failure::Input(format!("{name}: cannot read: {error}")));
        let normalized =
            read.and_then(|_| normalized_line(&name, number, &line, max_bytes, field, &mut change));
        let written = match &normalized {
            Ok(text) => output.write_all(text.as_bytes()),
            Err(_) => output.flush(),
        };
        if written.is_err() {
            // Whoever closes the output wants no more of it.
            return unless_closed(written).map_err(cannot_write);
        }
        if normalized?.is_empty() {
            break;
        }
    }
    unless_closed(output.flush()).map_err(cannot_write)?;
    let warnings = normalize_warnings(steps).into_iter();
    let of_texts = found.into_iter().map(|(finding, times)| {
        let words = finding_words(finding, ["text", "texts"]);
        words.warning(times)
    });
    if !matches.get_flag("quiet") {
        for warning in warnings.chain(of_texts) {
            say(&format!("warning: {warning}"));
        }
    }
    Ok(())
}

/// The bytes of a line after the steps. There are none at the end.
fn normalized_line(
    name: &str,
    number: u64,
    line: &[u8],
    max_bytes: u64,
    field: Option<&str>,
    change: impl FnMut(&str) -> String,
) -> Result<String, Failure> {
    if line.len() as u64 > max_bytes {
        return Err(Failure::Limit(format!(
            "{name}:{number}: the line takes more memory than allowed by --max-bytes {max_bytes}"
        )));
    }
    let text = std::str::from_utf8(line).map_err(|error| {
        Failure::Input(no_text(name, number, line, error.valid_up_to(), "not UTF-8").to_string())
    })?;
    let normalized = normalized(text, field, change);
    normalized.map_err(|problem| Failure::Input(format!("{name}:{number}: {problem}")))
}

/// A line after the steps, with the line end that it had.
fn normalized(
    line: &str,
    field: Option<&str>,
    mut change: impl FnMut(&str) -> String,
) -> Result<String, String> {
    let text = line.strip_suffix('\n').unwrap_or(line);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let end = &line[text.len()..];
    let changed = match field {
        None => change(text),
        Some(_) if text.trim().is_empty() => text.to_owned(),
        Some(field) => with_field(text, field, change)?,
    };
    Ok(changed + end)
}

/// A JSON object with other texts in a field; all else stays as it is written.
fn with_field(
    object: &str,
    field: &str,
    mut change: impl FnMut(&str) -> String,
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
