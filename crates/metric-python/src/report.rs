//! Reports of results, and the records of data files.

use metric_report::{Fact, StoredResults};
use metric_run::DEFAULT_MAX_BYTES;
use metric_run::registry::{Entry, find};
use metric_vision::read::is_coco;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::error::{Origin, of_run, refused};
use crate::scorer::Settings;

/// Renders results, given as their names and JSON, as a page: in HTML, or in Markdown.
#[pyfunction]
pub(crate) fn render_report(
    py: Python<'_>,
    results: Vec<(String, String)>,
    differences: Option<&str>,
    details: Option<&str>,
    title: Option<&str>,
    markdown: bool,
) -> PyResult<String> {
    let json = |text: &str| {
        serde_json::from_str::<Value>(text)
            .map_err(|error| refused(py, format!("cannot read a result: {error}")))
    };
    let results: Vec<(String, Value)> = results
        .into_iter()
        .map(|(name, text)| Ok((name, json(&text)?)))
        .collect::<PyResult<_>>()?;
    let details = details.map(json).transpose()?;
    let differences = differences.map(json).transpose()?;
    let differences = differences.as_ref().and_then(Value::as_array);
    let program = format!("Python package metric-suite {}", env!("CARGO_PKG_VERSION"));
    let report = StoredResults {
        results: &results,
        differences: differences.map_or(&[], Vec::as_slice),
        details: details.as_ref(),
        title,
        facts: vec![("Program".to_owned(), Fact::Words(program))],
        ..StoredResults::default()
    };
    let report = report.report();
    Ok(if markdown {
        report.to_markdown()
    } else {
        report.to_html()
    })
}

/// Reads the records of files: their ids, and their values as a list in JSON.
#[pyfunction]
pub(crate) fn read_records(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    id_field: &str,
    fields: Vec<String>,
    settings: &Bound<'_, PyDict>,
) -> PyResult<(Vec<String>, String)> {
    let settings = Settings(settings);
    let source = settings.source(paths, "references", "references")?;
    let max_bytes = settings.max_bytes()?.unwrap_or(DEFAULT_MAX_BYTES);
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let mut ids = Vec::new();
    let mut values = String::from("[");
    let mut wrong = None;
    let read = py.detach(|| {
        source.read_records(id_field, &fields, max_bytes, |id, mut value| {
            let json = match value.as_line() {
                Some(line) => Ok(Value::from(line).to_string().into()),
                None => value.to_json_or("null"),
            };
            match json {
                Ok(json) => {
                    values.push_str(if ids.is_empty() { "" } else { "," });
                    values.push_str(&json);
                }
                Err(error) => wrong = wrong.take().or_else(|| Some(format!("{id}: {error}"))),
            }
            ids.push(id.to_string());
        })
    });
    read.map_err(|error| of_run(py, &error, Origin::Files))?;
    values.push(']');
    match wrong {
        Some(problem) => Err(refused(py, problem)),
        None => Ok((ids, values)),
    }
}

/// Whether a metric reads a JSON text of references as a data set of its own rather than as a map of ids to values.
#[pyfunction]
pub(crate) fn is_document(name: &str, references: &str) -> bool {
    let is_document = |entry: &Entry| entry.input.is_document(references);
    find(name).is_some_and(|entry| is_document(entry).unwrap_or_else(|| is_coco(references)))
}
