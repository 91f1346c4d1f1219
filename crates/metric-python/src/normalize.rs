//! The normalization of texts, for `metric_suite.normalize`.

use metric_run::registry::Normalizer;
use pyo3::prelude::*;

use crate::error::{Location, metric_error};

/// Returns texts after the steps of a normalization; `None` stays.
#[pyfunction]
pub(crate) fn normalize(
    py: Python<'_>,
    texts: Vec<Option<String>>,
    steps: &str,
) -> PyResult<Vec<Option<String>>> {
    let normalizer: Normalizer = steps.parse().map_err(|error| {
        let location = Location {
            option: Some("steps"),
            ..Location::default()
        };
        metric_error(py, &format!("steps {steps:?}: {error}"), &location)
    })?;
    let normalized = |text: Option<String>| text.map(|text| normalizer.apply(&text).into_owned());
    Ok(py.detach(|| texts.into_iter().map(normalized).collect()))
}
