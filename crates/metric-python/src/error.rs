//! Errors as Python's `MetricError`, which speak of arguments and not of options of a command line.

use metric_run::record::{JoinError, Message, OptionStyle, ReadError, Side, quoted_id};
use metric_run::{ErrorKind, RunError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The known facts about an error in addition to its message.
#[derive(Default)]
pub(crate) struct Location<'a> {
    pub(crate) option: Option<&'a str>,
    pub(crate) index: Option<usize>,
    pub(crate) id: Option<&'a str>,
    pub(crate) side: Option<&'a str>,
    pub(crate) field: Option<&'a str>,
}

/// A `MetricError` with this message and location.
pub(crate) fn metric_error(py: Python<'_>, message: &str, location: &Location<'_>) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let class = py.import("metric_suite._errors")?.getattr("MetricError")?;
        let names = PyDict::new(py);
        names.set_item("option", location.option)?;
        names.set_item("index", location.index)?;
        names.set_item("id", location.id)?;
        names.set_item("side", location.side)?;
        names.set_item("field", location.field)?;
        Ok(PyErr::from_value(class.call((message,), Some(&names))?))
    };
    build().unwrap_or_else(|error| error)
}

/// A `MetricError` about an argument.
pub(crate) fn refused(py: Python<'_>, message: impl Into<Message>) -> PyErr {
    let message = message.into().render(OptionStyle::Python);
    metric_error(py, &message, &Location::default())
}

/// Where the records of a run come from, which decides how messages name them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Files: a record is named by file, line and id.
    Files,
    /// Values with ids.
    Named,
    /// Values without ids: a record is named by its position, counted from 0 as in Python.
    Positions,
}

/// An error of the engine.
pub(crate) fn of_run(py: Python<'_>, error: &RunError, origin: Origin) -> PyErr {
    let message = message(error, origin);
    if error.kind() == ErrorKind::Internal {
        return PyRuntimeError::new_err(message);
    }
    let mut location = Location::default();
    let option = match error {
        RunError::Option(error) => Some(&*error.option),
        RunError::Usage(message) => message.first_option(),
        _ => None,
    };
    let option = option.map(|option| option.replace('-', "_"));
    location.option = option.as_deref();
    match error {
        RunError::Read(error) => {
            location.field = Some(field(error)).filter(|it| !it.is_empty());
            if origin != Origin::Files {
                location.side = side_of(&error.file);
                location.index = index(&error.record);
            }
        }
        RunError::Join { error, .. } => {
            location.id = match &**error {
                JoinError::Missing(unmatched)
                | JoinError::NoPredictions(unmatched)
                | JoinError::Extra(unmatched)
                | JoinError::MissingAndExtra(unmatched, _) => {
                    unmatched.ids.first().map(String::as_str)
                }
                JoinError::Duplicate(duplicate) => Some(&*duplicate.id),
                _ => None,
            };
        }
        RunError::Record { id, side, .. } => {
            location.side = Some(match side {
                Side::Prediction => "prediction",
                Side::Reference => "reference",
            });
            match origin {
                Origin::Positions => location.index = position(id),
                Origin::Files | Origin::Named => location.id = Some(id),
            }
        }
        _ => {}
    }
    metric_error(py, &message, &location)
}

/// The message of an error. Values in memory have no lines, and those without ids have positions.
fn message(error: &RunError, origin: Origin) -> String {
    let (found, at) = match (error, origin) {
        (_, Origin::Files) => return error.message().render(OptionStyle::Python),
        (RunError::Record { id, error, .. }, _) => {
            let position = position(id).filter(|_| origin == Origin::Positions);
            let at = match position {
                Some(position) => format!("{}[{position}]", error.file),
                None => format!("{}: id {}", error.file, quoted_id(id)),
            };
            (error, at)
        }
        (RunError::Read(error), _) => {
            let (file, record, field) = (&*error.file, &*error.record, field(error));
            let mut at = match record {
                "" => file.to_owned(),
                record if record.starts_with('[') => format!("{file}{record}"),
                record if is_object(error) => record.to_owned(),
                record => format!("{file}: {record}"),
            };
            if !field.is_empty() {
                at.push_str(": ");
                at.push_str(field);
            }
            (error, at)
        }
        _ => return error.message().render(OptionStyle::Python),
    };
    let problem = found.problem.render(OptionStyle::Python);
    // The text of JSON is not the caller's.
    let problem = without_position(&problem);
    if at.is_empty() {
        problem
    } else {
        format!("{at}: {problem}")
    }
}

/// A message without the position in JSON, ` at line 1 column 2`, which ends it or comes before what to do. Text of the
/// data, which may look like a position, is in quotes.
fn without_position(problem: &str) -> String {
    const START: &str = " at line ";
    for (start, _) in problem.rmatch_indices(START) {
        let rest = after_digits(&problem[start + START.len()..]);
        let rest = rest.and_then(|rest| after_digits(rest.strip_prefix(" column ")?));
        if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with([':', ';'])) {
            return format!("{}{rest}", &problem[..start]);
        }
    }
    problem.to_owned()
}

/// The text after the digits that it starts with; `None` if there are none.
fn after_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|char: char| char.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

/// The fields of objects in columns, and the arguments of `Boxes` that have them.
pub(crate) const COLUMNS: &[(&str, &str)] = &[
    ("image_id", "image"),
    ("category_id", "category"),
    ("class", "category"),
    ("bbox", "box"),
];

/// The argument of `Boxes` that has a column.
pub(crate) fn argument(column: &str) -> &str {
    let found = COLUMNS.iter().find(|(name, _)| *name == column);
    found.map_or(column, |(_, argument)| argument)
}

/// Whether an error is about an object in columns, which is named like an item of a list.
fn is_object(error: &ReadError) -> bool {
    let rest = error.record.strip_prefix(&*error.file);
    !error.file.is_empty() && rest.is_some_and(|rest| rest.starts_with('['))
}

/// The field of an error, as the caller gave it.
fn field(error: &ReadError) -> &str {
    if is_object(error) {
        argument(&error.field)
    } else {
        &error.field
    }
}

/// The side that a source in memory is named after.
pub(crate) fn side_of(file: &str) -> Option<&'static str> {
    let sides = [("predictions", "prediction"), ("references", "reference")];
    let found = sides.into_iter().find(|(name, _)| file.starts_with(name));
    found.map(|(_, side)| side)
}

/// The index of a record such as `predictions[3]`; `None` where it is that of a list inside a data set.
fn index(record: &str) -> Option<usize> {
    let (list, index) = record.strip_suffix(']')?.split_once('[')?;
    (list.is_empty() || side_of(list).is_some()).then_some(())?;
    index.parse().ok()
}

/// An id as a message writes it: one that is a position counted from 1 is an index, `"3"` is `[2]`.
pub(crate) fn id_or_index(id: &str) -> String {
    position(id).map_or_else(|| quoted_id(id), |position| format!("[{position}]"))
}

/// The index of a record whose id is its position, counted from 1.
fn position(id: &str) -> Option<usize> {
    id.parse::<usize>().ok()?.checked_sub(1)
}
