//! Generated texts, such as translations and summaries: a text, and one or several references for it.

use std::borrow::Cow;

use metric_record::{FieldError, Kind, Record, Value};
use metric_text::normalize::is_space;
use metric_text::read::texts;

use crate::{Asked, OF_DATA, Scope, TextExample, TextMetric};

/// The part of a signature with the number of references of each example, which the data tell.
const REFERENCES: &str = "nrefs";

/// The greatest order of n-grams: every state has counts of each order.
pub(crate) const MOST_ORDERS: usize = 1000;

/// Reads a record. References that are null are left out, and white space at the end of a line of a file is not a part
/// of the text, as in sacreBLEU.
pub(crate) fn read<'a, M>(record: &mut Record<'a>) -> Result<TextExample<'a, M>, FieldError>
where
    M: TextMetric<Reference = [String]>,
{
    let prediction = line_or_text(&mut record.prediction).map_err(FieldError::prediction)?;
    let references = references(&mut record.reference).map_err(FieldError::reference)?;
    if references.is_empty() {
        let problem = "no references: expected at least one text";
        return Err(FieldError::reference(problem));
    }
    Ok(TextExample::new(prediction, references.into()))
}

fn line_or_text<'a>(value: &mut Value<'a>) -> Result<Cow<'a, str>, String> {
    match value.as_line() {
        Some(line) => Ok(line.trim_end_matches(is_space).into()),
        None => value.text(),
    }
}

fn references(value: &mut Value<'_>) -> Result<Vec<String>, String> {
    if let Some(lines) = value.as_lines() {
        let lines = lines
            .split('\n')
            .map(|line| line.trim_end_matches(is_space));
        return Ok(lines.map(str::to_owned).collect());
    }
    match value.kind() {
        Kind::Null => Ok(Vec::new()),
        Kind::Line => Ok(vec![line_or_text(value)?.into_owned()]),
        Kind::List => Ok(value
            .read::<Vec<Option<String>>>()?
            .into_iter()
            .flatten()
            .collect()),
        _ => texts(value),
    }
}

/// The parts of a signature: the profile, the number of references, and what follows.
pub(crate) fn signature<const N: usize>(
    profile: &str,
    rest: [(&str, String); N],
) -> Vec<(String, String)> {
    let first = [
        ("profile", profile.to_owned()),
        (REFERENCES, OF_DATA.to_owned()),
    ];
    crate::numbers::named(first.into_iter().chain(rest))
}

/// The part of the signature that the data tell, where it is asked for.
pub(crate) fn known(asked: Asked<'_>, references: impl ToString) -> Vec<(String, String)> {
    match asked.scope {
        Scope::Total => vec![(REFERENCES.to_owned(), references.to_string())],
        _ => Vec::new(),
    }
}

pub(crate) fn yes_or_no(is_on: bool) -> String {
    if is_on { "yes" } else { "no" }.to_owned()
}

/// Whether a text has characters of these ranges.
pub(crate) fn has_any(text: &str, ranges: &[(char, char)]) -> bool {
    let is_in = |c: char| {
        ranges
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&c))
    };
    !text.is_ascii() && text.chars().any(is_in)
}
