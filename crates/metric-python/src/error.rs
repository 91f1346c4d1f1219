//! Errors as Python's `MetricError`, which speak of arguments and not of options of a command line.

use metric_run::record::{JoinError, Message, OptionStyle, Side};
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

/// An error of the engine. `has_ids` is whether the caller gave ids: otherwise those of the message are positions,
/// counted from 1.
pub(crate) fn of_run(py: Python<'_>, error: &RunError, has_ids: bool) -> PyErr {
    let message = error.message().render(OptionStyle::Python);
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
        RunError::Read(error) => location.field = Some(&*error.field).filter(|it| !it.is_empty()),
        RunError::Join(error) => {
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
            if has_ids {
                location.id = Some(id)
            } else {
                location.index = id.parse::<usize>().ok().and_then(|id| id.checked_sub(1))
            }
        }
        _ => {}
    }
    metric_error(py, &message, &location)
}
