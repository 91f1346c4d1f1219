//! Python values as the JSON that a file would hold.

use std::fmt::{Display, Write as _};

use crate::columns::Argument;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The deepest allowed nesting of lists and dicts.
const MOST_DEPTH: usize = 100;

/// The reason why a value has no JSON form.
pub(crate) struct Problem {
    /// The part of the value, such as `[0]['score']`; empty for the whole value.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Whether it is about the value as a whole, wherever it was found.
    is_whole: bool,
    /// Whether the value is NaN.
    is_nan: bool,
}

impl Problem {
    /// The same of an item of a list or a dict.
    fn of(mut self, item: impl Display) -> Self {
        if !self.is_whole {
            self.path.insert_str(0, &format!("[{item}]"));
        }
        self
    }

    /// The same of a value among texts, where NaN is not a number but a missing text.
    fn of_text(self) -> Self {
        if self.is_nan && self.path.is_empty() {
            return Self::from("found NaN: expected a string".to_owned());
        }
        self
    }
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self {
            path: String::new(),
            text,
            is_whole: false,
            is_nan: false,
        }
    }
}

/// Returns a value as JSON.
///
/// `None` is null, tuples and arrays are lists, and numbers of other libraries are those that their `item` or
/// `tolist` gives.
pub(crate) fn to_json(value: &Bound<'_, PyAny>) -> Result<String, Problem> {
    let mut text = String::new();
    write(value, &mut text, 0)?;
    Ok(text)
}

/// Returns the values of a column as JSON, or the index and the problem of the first one that has none.
pub(crate) fn each_to_json(items: &[Bound<'_, PyAny>]) -> Result<Vec<String>, (usize, Problem)> {
    let is_text = |item: &Bound<'_, PyAny>| item.cast::<PyString>().is_ok();
    let is_missing = |item: &Bound<'_, PyAny>| {
        let number = item.cast::<PyFloat>();
        item.is_none() || number.is_ok_and(|number| number.value().is_nan())
    };
    let json = items.iter().enumerate().map(|(index, item)| {
        to_json(item).map_err(|problem| {
            let are_texts =
                items.iter().any(is_text) && items.iter().all(|it| is_text(it) || is_missing(it));
            let problem = if are_texts {
                problem.of_text()
            } else {
                problem
            };
            (index, problem)
        })
    });
    json.collect()
}

fn write(value: &Bound<'_, PyAny>, text: &mut String, depth: usize) -> Result<(), Problem> {
    if depth > MOST_DEPTH {
        return Err(Problem {
            is_whole: true,
            ..format!("lists and dicts are nested more than {MOST_DEPTH} deep").into()
        });
    }
    if value.is_none() {
        text.push_str("null");
    } else if let Ok(string) = value.cast::<PyString>() {
        write_string(string, text)?;
    } else if let Ok(truth) = value.cast::<PyBool>() {
        text.push_str(if truth.is_true() { "true" } else { "false" });
    } else if value.cast::<PyInt>().is_ok() {
        let digits = match value.extract::<i64>() {
            Ok(integer) => integer.to_string(),
            // `int.__repr__` also of subclasses, such as those of `enum`.
            Err(_) => written(
                value
                    .py()
                    .get_type::<PyInt>()
                    .call_method1("__repr__", (value,)),
            )?,
        };
        text.push_str(&digits);
    } else if let Ok(number) = value.cast::<PyFloat>() {
        write_number(number.value(), text)?;
    } else if let Ok(list) = value.cast::<PyList>() {
        write_items(list.iter(), text, depth)?;
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        write_items(tuple.iter(), text, depth)?;
    } else if let Ok(dict) = value.cast::<PyDict>() {
        text.push('{');
        for (index, (key, item)) in dict.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            match key.cast::<PyString>() {
                Ok(key) => write_string(key, text)?,
                Err(_) if key.cast::<PyInt>().is_ok() && key.cast::<PyBool>().is_err() => {
                    let _ = write!(text, "\"{}\"", written(Ok(key.clone()))?);
                }
                Err(_) => {
                    return Err(format!("a key is {}: expected a string", kind(&key)).into());
                }
            }
            text.push(':');
            match item.cast::<PyBytes>() {
                // Run lengths as `pycocotools.mask.encode` returns them.
                Ok(counts) if key.eq("counts").unwrap_or(false) => write_counts(counts, text),
                _ => write(&item, text, depth + 1),
            }
            .map_err(|problem| within(problem, &key))?;
        }
        text.push('}');
    } else if let Some(plain) = plain(value) {
        write(&plain, text, depth + 1)?;
    } else {
        let expected = "expected None, bool, int, float, str, list, tuple, dict or an array";
        return Err(format!("found {}: {expected}", kind(value)).into());
    }
    Ok(())
}

fn write_counts(counts: &Bound<'_, PyBytes>, text: &mut String) -> Result<(), Problem> {
    let Ok(counts) = str::from_utf8(counts.as_bytes()) else {
        let problem = "found bytes that are no text: expected compressed run lengths";
        return Err(problem.to_owned().into());
    };
    text.push_str(&serde_json::to_string(counts).unwrap_or_default());
    Ok(())
}

/// The plain value of an array or a number of another library.
fn plain<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    for method in ["tolist", "item", "to_pylist", "to_list"] {
        if value.hasattr(method).unwrap_or(false)
            && let Ok(plain) = value.call_method0(method)
            && !plain.get_type().is(value.get_type())
        {
            return Some(plain);
        }
    }
    None
}

fn write_items<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    text: &mut String,
    depth: usize,
) -> Result<(), Problem> {
    text.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            text.push(',');
        }
        write(&item, text, depth + 1).map_err(|problem| problem.of(index))?;
    }
    text.push(']');
    Ok(())
}

/// The problem of a value of a dict, with the key as Python writes it.
fn within(problem: Problem, key: &Bound<'_, PyAny>) -> Problem {
    match key.repr() {
        Ok(key) => problem.of(key),
        Err(_) => problem,
    }
}

fn write_string(string: &Bound<'_, PyString>, text: &mut String) -> Result<(), Problem> {
    let string = string
        .to_cow()
        .map_err(|_| Problem::from(lone_surrogate()))?;
    // Writing a string does not fail.
    text.push_str(&serde_json::to_string(&string).unwrap_or_default());
    Ok(())
}

/// The problem of a string that has no UTF-8 form.
pub(crate) fn lone_surrogate() -> String {
    "the string has half of a surrogate pair, which is not a character".to_owned()
}

fn write_number(number: f64, text: &mut String) -> Result<(), Problem> {
    // Metrics that take infinite numbers read them as strings, as they are in files.
    if number.is_nan() {
        return Err(Problem {
            is_nan: true,
            ..Problem::from("found NaN: expected a number".to_owned())
        });
    }
    let written = if number == f64::INFINITY {
        "\"inf\"".to_owned()
    } else if number == f64::NEG_INFINITY {
        "\"-inf\"".to_owned()
    } else {
        serde_json::Value::from(number).to_string()
    };
    text.push_str(&written);
    Ok(())
}

fn written(value: PyResult<Bound<'_, PyAny>>) -> Result<String, Problem> {
    let text = value.and_then(|value| value.str());
    text.map(|text| text.to_string())
        .map_err(|error| error.to_string().into())
}

/// The name of a value's type, for messages.
pub(crate) fn kind(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().fully_qualified_name();
    name.map_or_else(|_| "a value".to_owned(), |name| name.to_string())
}

/// Returns a value as JSON text. Unlike Python's `json`, it takes the numbers and arrays of other libraries.
#[pyfunction]
pub(crate) fn dumps(value: &Bound<'_, PyAny>, name: &str) -> PyResult<String> {
    to_json(value).map_err(|problem| Argument { name }.invalid(value.py(), "", &problem))
}
