//! Measures of ranked documents from dictionaries, for `metric_suite.compat.pytrec_eval`.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use metric_rank::{ScorePrecision, Topic, TrecMeasure, rank};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};

/// A map whose hash is faster than the default one of the standard library.
type Map<V> = HashMap<String, V, RandomState>;

/// The judgments of topics: documents with their relevance.
#[pyclass(frozen, module = "metric_suite._native")]
pub(crate) struct Judgments {
    topics: Map<Map<i64>>,
}

/// A measure and its cutoffs, or none for the default ones.
type Chosen = (String, Option<Vec<f64>>);

#[pymethods]
impl Judgments {
    /// Takes a dictionary of topics, each a dictionary of documents with an integer. Topics without documents are dropped.
    #[new]
    fn new(query_relevance: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut topics = Map::default();
        for (topic, documents) in query_relevance {
            let topic = text(&topic, "topic")?;
            let documents = dictionary(&documents, "the judgments of a topic")?;
            let mut judged = Map::with_capacity_and_hasher(documents.len(), RandomState::default());
            for (document, relevance) in documents {
                let number = relevance.cast::<PyInt>();
                let number = number
                    .map_err(|_| PyTypeError::new_err("Expected relevance to be integer."))?;
                judged.insert(text(&document, "document")?, number.extract()?);
            }
            if !judged.is_empty() {
                topics.insert(topic, judged);
            }
        }
        Ok(Self { topics })
    }

    /// Returns the measures of each topic that is judged, of a dictionary of topics, each a dictionary of documents with
    /// a score.
    fn evaluate<'py>(
        &self,
        run: &Bound<'py, PyDict>,
        measures: Vec<Chosen>,
        relevance_level: i64,
        judged_only: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = run.py();
        let mut chosen = Vec::new();
        for (name, cutoffs) in &measures {
            let unknown = || PyValueError::new_err(format!("unsupported measure {name}"));
            let measure = TrecMeasure::named(name).ok_or_else(unknown)?;
            let cutoffs = measure.cutoffs_or_default(cutoffs.as_deref());
            let keys = measure.keys(&cutoffs);
            let keys: Vec<_> = keys.iter().map(|key| PyString::new(py, key)).collect();
            chosen.push((measure, cutoffs, keys));
        }
        let results = PyDict::new(py);
        for (name, documents) in run {
            let documents = dictionary(&documents, "the scores of a topic")?;
            let Some(judgments) = self.topics.get(utf8(&name, "topic")?) else {
                continue;
            };
            let mut run = Vec::with_capacity(documents.len());
            let names: Vec<_> = documents.keys().iter().collect();
            for (document, score) in names.iter().zip(documents.values()) {
                run.push((utf8(document, "document")?, number(&score)?));
            }
            rank(&mut run, ScorePrecision::Single);
            let ranked = run.iter().map(|(name, _)| judgments.get(*name).copied());
            let is_judged = |relevance: &Option<i64>| relevance.is_some_and(|it| it >= 0);
            let ranked: Vec<Option<i64>> =
                ranked.filter(|it| !judged_only || is_judged(it)).collect();
            let judged = judgments.values().copied().collect();
            let topic = Topic::new(ranked, judged, relevance_level);
            let values = PyDict::new(py);
            for (measure, cutoffs, keys) in &chosen {
                for (key, value) in keys.iter().zip(measure.at(&topic, cutoffs)) {
                    values.set_item(key, value)?;
                }
            }
            results.set_item(name, values)?;
        }
        Ok(results)
    }
}

/// Returns the names of the measures, each with whether it is cut at ranks or levels of recall.
#[pyfunction]
pub(crate) fn trec_measures() -> Vec<(&'static str, bool)> {
    let measures = metric_rank::TREC_MEASURES.iter();
    measures
        .map(|measure| (measure.name, measure.cutoffs != metric_rank::Cutoffs::None))
        .collect()
}

fn dictionary<'a, 'py>(
    value: &'a Bound<'py, PyAny>,
    what: &str,
) -> PyResult<&'a Bound<'py, PyDict>> {
    let found = value.cast::<PyDict>();
    found.map_err(|_| PyTypeError::new_err(format!("Expected {what} to be a dictionary.")))
}

fn utf8<'a>(value: &'a Bound<'_, PyAny>, what: &str) -> PyResult<&'a str> {
    let found = value.cast::<PyString>();
    let found =
        found.map_err(|_| PyTypeError::new_err(format!("Expected {what} to be a string.")))?;
    found.to_str()
}

fn text(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    utf8(value, what).map(str::to_owned)
}

fn number(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let score = value.extract::<f64>();
    let score =
        score.map_err(|_| PyTypeError::new_err("Unable to extract query/object scores."))?;
    if score.is_nan() {
        return Err(PyValueError::new_err(
            "Expected a score, found NaN, which has no rank.",
        ));
    }
    Ok(score)
}
