//! Runs and outcomes of the engine, as Python objects that `metric_suite` wraps.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use metric_run::record::{
    Document, Duplicate, JoinError, Message, Missing, OptionStyle, Unmatched,
};
use metric_run::registry::stats::IntervalKind;
use metric_run::registry::{
    Entry, Input, Objects, OptionKind, OptionSpec, OptionValue, Options, Report, Selection, Slice,
    find, list, meaning, on_this_thread,
};
use metric_run::{
    Compare, Comparison, CountColumn, CsvOptions, Data, EmptyField, Format, Merged, Run, RunError,
    SampleCollector, SampleTable, ShownScores, Source, StateFileError, Statistics, System, Table,
    TranscriptOptions, merge_parts, merge_states, on_threads, read_states, write_states,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping, PyString, PyTuple};

use crate::columns::{Argument, Owned, is_set};
use crate::error::{Location, Origin, id_or_index, metric_error, of_run, refused};
use crate::json::each_to_json;
use crate::objects;
use crate::threads::{detached, for_examples};

/// A metric with its options, ready to score.
#[pyclass(module = "metric_suite._native", frozen)]
pub(crate) struct Scorer {
    run: Run,
    name: &'static str,
    /// The names of the scores, which are made once; none if they depend on options, as those of ROUGE do.
    scores: Vec<Py<PyString>>,
    /// The objects of images that it compares, if columns of Python may have them.
    objects: Option<Objects>,
    /// Whether examples that some of the outcomes have, which it is paired with, are left out.
    #[pyo3(get)]
    leaves_out: bool,
}

/// Scores by name, and the texts that they are the scores of.
type ScoredTexts<'py> = (Bound<'py, PyDict>, Bound<'py, PyTuple>);

/// The maximum number of texts, and of their bytes, on the fast path for a few short texts.
const FEW: usize = 16;
const SHORT_BYTES: usize = 1024;

/// The result of some examples: scores, and a state that merges.
#[pyclass(module = "metric_suite._native", frozen)]
pub(crate) struct Outcome {
    outcome: metric_run::Outcome,
    /// Computed when it is first asked for.
    report: OnceLock<Report>,
    samples: Option<SampleTable>,
    /// The number of threads of the run; `None` for one per core.
    threads: Option<NonZeroUsize>,
    /// How warnings name examples.
    origin: Origin,
}

#[pymethods]
impl Scorer {
    #[new]
    fn new(
        py: Python<'_>,
        name: &str,
        options: &Bound<'_, PyDict>,
        settings: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let entry = entry(py, name)?;
        let mut chosen = read_options(entry, options)?;
        let settings = Settings(settings);
        if settings.flag("details")? {
            chosen = chosen.with_details();
        }
        let mut run =
            Run::new(entry, &chosen).map_err(|error| of_run(py, &error, Origin::Files))?;
        settings.apply(&mut run)?;
        if settings.flag("is_compared")? {
            run = run.for_comparison();
        }
        let mut leaves_out = false;
        if let Some(outcomes) = settings.value("paired_with")? {
            let outcomes = outcomes.extract::<Vec<PyRef<'_, Outcome>>>()?;
            let outcomes: Vec<_> = outcomes.iter().map(|it| &it.outcome).collect();
            leaves_out = run.keep_common(&outcomes);
        }
        let name = entry.name;
        let objects = (entry.objects)(&chosen);
        let are_fixed = entry.scores.iter().all(|score| score.parameter.is_empty());
        let scores = entry.scores.iter().filter(|_| are_fixed);
        let scores = scores.map(|score| PyString::intern(py, score.name).unbind());
        Ok(Self {
            run,
            name,
            scores: scores.collect(),
            objects,
            leaves_out,
        })
    }

    /// The scores by name of a few short texts in lists, and these: each prediction before its reference; `None` for
    /// other values, and where there is more to say. Other threads of Python wait meanwhile.
    fn score_texts<'py>(
        &self,
        predictions: &Bound<'py, PyAny>,
        references: &Bound<'py, PyAny>,
    ) -> PyResult<Option<ScoredTexts<'py>>> {
        let (Ok(predictions), Ok(references)) = (
            predictions.cast_exact::<PyList>(),
            references.cast_exact::<PyList>(),
        ) else {
            return Ok(None);
        };
        let count = predictions.len();
        if self.scores.is_empty() || count != references.len() || count > FEW {
            return Ok(None);
        }
        let Some(texts) = interleaved(predictions, references) else {
            return Ok(None);
        };
        let mut pairs = [("", ""); FEW];
        let mut bytes = 0;
        for (pair, texts) in pairs.iter_mut().zip(texts.chunks_exact(2)) {
            let [Ok(prediction), Ok(reference)] = [texts[0].to_str(), texts[1].to_str()] else {
                return Ok(None);
            };
            *pair = (prediction, reference);
            bytes += prediction.len() + reference.len();
        }
        if bytes > SHORT_BYTES {
            return Ok(None);
        }
        let Some(found) = self.run.score_texts(&pairs[..count]) else {
            return Ok(None);
        };
        let py = predictions.py();
        let scores = PyDict::new(py);
        for (name, score) in self.scores.iter().zip(found) {
            scores.set_item(name, score.filter(|score| score.is_finite()))?;
        }
        Ok(Some((scores, PyTuple::new(py, texts)?)))
    }

    /// Scores values in memory. With ids of the predictions, both sides are joined by id, and otherwise by position.
    #[pyo3(signature = (predictions, references, ids, fields, prediction_ids = None))]
    fn score_values(
        &self,
        py: Python<'_>,
        predictions: &Bound<'_, PyAny>,
        references: &Bound<'_, PyAny>,
        ids: Option<&Bound<'_, PyAny>>,
        fields: Option<&Bound<'_, PyMapping>>,
        prediction_ids: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Outcome> {
        fn read<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Owned<'py>> {
            Owned::new(value, Argument { name })
        }
        let predictions = read(predictions, "predictions")?;
        let references = read(references, "references")?;
        let named_ids = ids.map(|ids| read(ids, "ids")).transpose()?;
        let other_ids = prediction_ids.map(|ids| read(ids, "ids")).transpose()?;
        let mut named_fields = Vec::new();
        if let Some(fields) = fields {
            for item in fields.items()? {
                let (name, value) = item.extract::<(String, Bound<'_, PyAny>)>()?;
                let values = read(&value, &name)?;
                named_fields.push((name, values));
            }
        }
        if other_ids.is_none() && predictions.len() != references.len() {
            let problem = format!(
                "{} and {}: expected as many of each",
                counted(predictions.len(), "prediction"),
                counted(references.len(), "reference")
            );
            return Err(refused(py, problem));
        }
        let others = named_ids.iter().map(|ids| ("ids", ids));
        let others = others.chain(named_fields.iter().map(|(name, values)| (&**name, values)));
        refuse_lengths(py, others, references.len())?;
        let borrowed = (predictions.borrowed()?, references.borrowed()?);
        let borrowed_ids = named_ids.as_ref().map(Owned::borrowed).transpose()?;
        let borrowed_others = other_ids.as_ref().map(Owned::borrowed).transpose()?;
        let borrowed_fields = named_fields
            .iter()
            .map(|(name, values)| Ok((name, values.borrowed()?)));
        let borrowed_fields = borrowed_fields.collect::<PyResult<Vec<_>>>()?;
        let refuse = |name: &str| {
            let name = name.to_owned();
            move |problem: String| refused(py, format!("{name}: {problem}"))
        };
        // Both sides of a metric without references are its predictions.
        let is_alone = !entry(py, self.name)?.compares();
        let mut references = Table::new(
            if is_alone {
                "predictions"
            } else {
                "references"
            },
            borrowed.1.column().map_err(refuse("references"))?,
        );
        let mut predictions = Table::new(
            "predictions",
            borrowed.0.column().map_err(refuse("predictions"))?,
        );
        if let Some(ids) = &borrowed_ids {
            references.ids = ids.ids().map_err(refuse("ids"))?;
            predictions.ids = references.ids.clone();
        }
        if let Some(ids) = &borrowed_others {
            predictions.ids = ids.ids().map_err(refuse("ids"))?;
        }
        for (name, values) in &borrowed_fields {
            references
                .fields
                .push((name, values.column().map_err(refuse(name))?));
        }
        let origin = match named_ids {
            Some(_) => Origin::Named,
            None => Origin::Positions,
        };
        let score = || self.run.score_tables(references, predictions);
        let outcomes = detached(py, origin, score)?;
        let found = first(py, outcomes, self.run.threads)?;
        Ok(Outcome { origin, ..found })
    }

    /// Scores data sets in memory: documents in JSON, or columns of objects.
    fn score_documents(
        &self,
        py: Python<'_>,
        predictions: &Bound<'_, PyAny>,
        references: &Bound<'_, PyAny>,
    ) -> PyResult<Outcome> {
        let data = Data::Documents {
            references: document(references, "references")?,
            predictions: document(predictions, "predictions")?,
        };
        self.observed(py, data, Origin::Named)
    }

    /// Scores ground truth and detections as dicts of COCO's files; `None` if they must be read as JSON, which also
    /// reports errors.
    fn score_dicts(
        &self,
        py: Python<'_>,
        predictions: &Bound<'_, PyList>,
        references: &Bound<'_, PyDict>,
    ) -> Option<Outcome> {
        let [references, predictions] = objects::of_dicts(references, predictions)?;
        let data = Data::Documents {
            references,
            predictions,
        };
        self.observed(py, data, Origin::Named).ok()
    }

    /// Scores files.
    fn score_files(
        &self,
        py: Python<'_>,
        references: &Bound<'_, PyAny>,
        predictions: Option<&Bound<'_, PyAny>>,
        settings: &Bound<'_, PyDict>,
    ) -> PyResult<Outcome> {
        let settings = Settings(settings);
        let source = |paths: &Bound<'_, PyAny>, side| settings.source(paths, side, side);
        let data = match predictions {
            Some(predictions) => Data::Sources {
                references: source(references, "references")?,
                predictions: source(predictions, "predictions")?,
            },
            None => {
                // A metric without references has only predictions.
                let compares = entry(py, self.name)?.compares();
                let side = if compares {
                    "references"
                } else {
                    "predictions"
                };
                Data::Pairs(source(references, side)?)
            }
        };
        self.observed(py, data, origin_of(references))
    }

    /// The outcome of no examples.
    fn nothing(&self, py: Python<'_>) -> PyResult<Outcome> {
        let outcomes = self.run.nothing();
        let outcomes = outcomes.map_err(|error| of_run(py, &error, Origin::Files))?;
        first(py, outcomes, self.run.threads)
    }

    #[getter]
    fn metric(&self) -> &'static str {
        self.name
    }

    /// The names of the further columns that are read, such as weights, clusters and slices.
    #[getter]
    fn fields(&self) -> Vec<String> {
        self.run.further_fields()
    }

    #[getter]
    fn reads_boxes(&self) -> bool {
        self.objects == Some(Objects::Boxes)
    }

    #[getter]
    fn reads_masks(&self) -> bool {
        matches!(self.objects, Some(Objects::Masks | Objects::MasksAndBoxes))
    }

    #[getter]
    fn reads_boxes_of_masks(&self) -> bool {
        self.objects == Some(Objects::MasksAndBoxes)
    }

    #[getter]
    fn reads_corners(&self) -> bool {
        self.objects == Some(Objects::Corners)
    }

    #[getter]
    fn has_details(&self) -> bool {
        self.run.has_details()
    }
}

impl Scorer {
    fn observed(&self, py: Python<'_>, data: Data, origin: Origin) -> PyResult<Outcome> {
        let collector = SampleCollector::default();
        let outcomes = detached(py, origin, || self.run.score_observed(data, &collector))?;
        let mut found = first(py, outcomes, self.run.threads)?;
        if self.run.samples {
            let tables = collector.into_tables().into_iter();
            found.samples = Some(tables.map(|(_, table)| table).next().unwrap_or_default());
        }
        Ok(found)
    }
}

/// Refuses columns that do not have one value per reference.
fn refuse_lengths<'a, 'py: 'a>(
    py: Python<'py>,
    columns: impl Iterator<Item = (&'a str, &'a Owned<'py>)>,
    references: usize,
) -> PyResult<()> {
    let mut columns = columns.filter(|(_, values)| values.len() != references);
    columns.next().map_or(Ok(()), |(name, values)| {
        let problem = format!(
            "{} and {}: expected as many of each",
            counted(values.len(), "value"),
            counted(references, "reference")
        );
        Err(Argument { name }.refused(py, None, &problem))
    })
}

/// A count with its noun.
fn counted(count: usize, one: &str) -> String {
    let several = if count == 1 { "" } else { "s" };
    format!("{count} {one}{several}")
}

/// The texts of two lists of the same length, in turn; `None` if they have other values.
fn interleaved<'py>(
    predictions: &Bound<'py, PyList>,
    references: &Bound<'py, PyList>,
) -> Option<Vec<Bound<'py, PyString>>> {
    let mut texts = Vec::with_capacity(2 * predictions.len());
    for (prediction, reference) in predictions.iter().zip(references) {
        texts.push(prediction.cast_into_exact().ok()?);
        texts.push(reference.cast_into_exact().ok()?);
    }
    Some(texts)
}

/// An example: id, part, scores by name, and counts as JSON.
type SampleRow = (String, Option<String>, Vec<(String, Option<f64>)>, String);

#[pymethods]
impl Outcome {
    /// The result as the JSON that the program prints.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let report = self.report(py)?;
        Ok(self.outcome.json(report))
    }

    /// The scores by name, and the warnings, which name options as in Python.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
        let report = self.report(py)?;
        let scores = PyDict::new(py);
        for (name, score) in &report.scores {
            scores.set_item(name, score.filter(|score| score.is_finite()))?;
        }
        Ok((scores, in_python(&report.warnings, self.origin)))
    }

    /// The details that are too large for a table, such as curves, as JSON.
    fn details(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let details = || self.outcome.state().details();
        let details = for_examples(py, self.outcome.examples(), self.threads, details)?;
        Ok(details.map(|details| details.to_string()))
    }

    /// The state as the bytes of a state file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| write_states(std::slice::from_ref(&self.outcome)));
        let bytes = bytes.map_err(|error| refused(py, error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn metric(&self) -> &'static str {
        self.outcome.metric()
    }

    /// Whether details have arrays as those of pycocotools.
    #[getter]
    fn has_arrays(&self) -> bool {
        self.outcome.entry().arrays
    }

    #[getter]
    fn signature(&self) -> String {
        self.outcome.signature().into_owned()
    }

    /// The options by name: a text, or a list of texts.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let options = PyDict::new(py);
        for (name, value) in self.outcome.options().iter() {
            match value {
                OptionValue::One(value) => options.set_item(name, value)?,
                OptionValue::List(values) => options.set_item(name, values)?,
            }
        }
        Ok(options)
    }

    /// The outcome of the examples of both.
    fn merged(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let pair = vec![
            ("the state".to_owned(), vec![self.outcome.clone()]),
            ("the other state".to_owned(), vec![other.outcome.clone()]),
        ];
        let is_alone = self.threads.is_some_and(|threads| threads.get() == 1);
        let merged = py.detach(|| {
            if is_alone {
                on_this_thread(|| merge_any(pair))
            } else {
                merge_any(pair)
            }
        });
        let merged = merged.map_err(|error| of_run(py, &RunError::State(error), Origin::Files))?;
        let origin = match (self.outcome.examples(), other.outcome.examples()) {
            (0, _) => other.origin,
            (_, 0) => self.origin,
            _ if self.origin == other.origin => self.origin,
            _ => Origin::Files,
        };
        let found = first(py, merged.outcomes, self.threads)?;
        Ok(Self { origin, ..found })
    }

    /// The scores and counts of each example by rows: id, part, scores by name, counts as JSON. `None` if they were
    /// not requested.
    fn sample_rows(&self) -> Vec<SampleRow> {
        let Some(table) = self.samples.as_ref().or(self.outcome.samples()) else {
            return Vec::new();
        };
        let ids = table.ids().iter().enumerate();
        ids.map(|(row, id)| {
            let part = table.parts().and_then(|parts| parts.get(row).cloned());
            let scores = table.scores().iter();
            let score = |(name, scores): &(String, Vec<Option<f64>>)| {
                (name.clone(), scores.get(row).copied().flatten())
            };
            let counts = table.counts().iter();
            let count = |(name, counts): &(String, CountColumn)| {
                (name.clone(), counts.get(row).unwrap_or_default())
            };
            let counts: serde_json::Map<_, _> = counts.map(count).collect();
            let counts = serde_json::Value::Object(counts).to_string();
            (
                id.clone(),
                part.flatten(),
                scores.map(score).collect(),
                counts,
            )
        })
        .collect()
    }

    /// The scores and counts of each example, as columns by name; `None` if they were not requested.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(table) = self.samples.as_ref().or(self.outcome.samples()) else {
            return Ok(None);
        };
        let columns = PyDict::new(py);
        columns.set_item("id", table.ids())?;
        if let Some(parts) = table.parts() {
            columns.set_item("part", parts)?;
        }
        for (name, scores) in table.scores() {
            columns.set_item(name, scores)?;
        }
        let json = py.import("json")?;
        for (name, counts) in table.counts() {
            match counts {
                CountColumn::Integers(values) => columns.set_item(name, values)?,
                CountColumn::Numbers(values) => columns.set_item(name, values)?,
                CountColumn::Json(values) => {
                    let values = values.iter().map(|value| match value {
                        Some(value) => json.call_method1("loads", (value.to_string(),)).map(Some),
                        None => Ok(None),
                    });
                    columns.set_item(name, values.collect::<PyResult<Vec<_>>>()?)?;
                }
            }
        }
        Ok(Some(columns))
    }
}

/// The outcome of the examples of several parts of a data set, without intervals.
#[pyfunction]
pub(crate) fn merge_outcomes(py: Python<'_>, parts: Vec<PyRef<'_, Outcome>>) -> PyResult<Outcome> {
    let parts = parts.iter().enumerate();
    let parts: Vec<_> = parts
        .map(|(position, part)| (format!("part {}", position + 1), vec![part.outcome.clone()]))
        .collect();
    let merged = py.detach(|| merge_parts(parts));
    let merged = merged.map_err(|error| of_run(py, &RunError::State(error), Origin::Files))?;
    first(py, merged.outcomes, None)
}

/// The outcome of the examples of the state files of several parts of a data set, without intervals.
#[pyfunction]
pub(crate) fn merge_part_bytes(py: Python<'_>, states: Vec<Vec<u8>>) -> PyResult<Outcome> {
    let merged = py.detach(|| {
        let mut sum: Vec<(String, Vec<metric_run::Outcome>)> = Vec::new();
        // One state at a time is in memory next to the sum.
        for (position, bytes) in states.into_iter().enumerate() {
            let name = format!("part {}", position + 1);
            let outcomes = read_states(&name, &bytes)?;
            sum.push((name, outcomes));
            let outcomes = merge_parts(std::mem::take(&mut sum))?.outcomes;
            sum.push(("the parts before".to_owned(), outcomes));
        }
        Ok(sum.pop().map_or_else(Vec::new, |it| it.1))
    });
    let merged = merged.map_err(|error: RunError| of_run(py, &error, Origin::Files))?;
    first(py, merged, None)
}

/// The error of references and predictions that do not join: the count of the ids that one side lacks, or that occur
/// more than once, with the first few. The kind is `missing`, `extra` or `duplicate`.
#[pyfunction]
pub(crate) fn join_problems(
    py: Python<'_>,
    problems: Vec<(String, u64, Vec<String>)>,
    references: &str,
    predictions: &str,
) -> PyResult<Py<PyAny>> {
    let (mut missing, mut extra) = (None, None);
    for (kind, count, ids) in problems {
        let unmatched = |source: &str, other: &str| Unmatched {
            source: source.to_owned(),
            other: other.to_owned(),
            count,
            ids: ids.clone(),
            are_lines: false,
        };
        match kind.as_str() {
            "missing" => missing = Some(unmatched(references, predictions)),
            "extra" => extra = Some(unmatched(predictions, references)),
            source => {
                let first = ids.first().cloned().unwrap_or_default();
                let others = ids.iter().skip(1).cloned().collect();
                let duplicate = Duplicate::new(source, first, count, others);
                return Ok(joined(py, JoinError::Duplicate(duplicate)));
            }
        }
    }
    match (missing, extra) {
        (Some(missing), Some(extra)) => Ok(joined(py, JoinError::MissingAndExtra(missing, extra))),
        (Some(missing), None) => Ok(joined(py, JoinError::Missing(missing))),
        (None, Some(extra)) => Ok(joined(py, JoinError::Extra(extra))),
        (None, None) => Err(refused(py, "no problem of a join")),
    }
}

fn joined(py: Python<'_>, error: JoinError) -> Py<PyAny> {
    of_run(py, &error.into(), Origin::Files)
        .into_value(py)
        .into_any()
}

/// Compares systems by their states, which were gathered with statistics: the JSON that the program prints.
#[pyfunction]
pub(crate) fn compare_states(
    py: Python<'_>,
    name: &str,
    options: &Bound<'_, PyDict>,
    settings: &Bound<'_, PyDict>,
    systems: Vec<(String, PyRef<'_, Outcome>, Option<u64>)>,
) -> PyResult<String> {
    let (run, compare) = comparison(py, name, options, &Settings(settings))?;
    let systems = systems.into_iter().map(|(name, outcome, missing)| {
        let predictions = predictions_of(py, &name)?;
        Ok((name, predictions, outcome.outcome.clone(), missing))
    });
    let systems = systems.collect::<PyResult<Vec<_>>>()?;
    compared(py, run.threads, Origin::Files, || {
        let systems = systems
            .into_iter()
            .map(|(name, predictions, outcome, missing)| {
                let mut system = System::new(name, predictions, outcome);
                // References that were left out before are not known to the outcome.
                system.missing = missing.unwrap_or(system.missing);
                system
            });
        run.compare_outcomes(systems.collect(), &compare)
    })
}

/// The input of a metric: `records`, `documents`, or `either`.
#[pyfunction]
pub(crate) fn reads(py: Python<'_>, name: &str) -> PyResult<&'static str> {
    Ok(entry(py, name)?.input.name())
}

/// The field of a value that is a picture, and the endings of the files that are values; `None` for metrics without pictures.
#[pyfunction]
pub(crate) fn pictures(
    py: Python<'_>,
    name: &str,
) -> PyResult<Option<(&'static str, Vec<&'static str>)>> {
    let entry = entry(py, name)?;
    let endings = match entry.input {
        Input::Files(endings) => endings,
        _ => &[],
    };
    Ok(entry.picture().map(|field| (field, endings.to_vec())))
}

impl Outcome {
    fn report(&self, py: Python<'_>) -> PyResult<&Report> {
        if let Some(report) = self.report.get() {
            return Ok(report);
        }
        let report = || {
            let mut report = self.outcome.report();
            // Nothing was added, which no score describes.
            if !self.outcome.state().has_scores() {
                report
                    .scores
                    .iter_mut()
                    .for_each(|(_, score)| *score = None);
                report.warnings.clear();
            }
            report
        };
        let report = for_examples(py, self.outcome.examples(), self.threads, report)?;
        Ok(self.report.get_or_init(|| report))
    }
}

/// Merges states as [`merge_states`] does, and states of metrics that have no data yet.
fn merge_any(files: Vec<(String, Vec<metric_run::Outcome>)>) -> Result<Merged, StateFileError> {
    let outcomes = files.iter().flat_map(|(_, outcomes)| outcomes);
    let mut is_empty = outcomes.map(|it| it.shards().is_none() && !it.state().has_scores());
    if is_empty.all(|is_empty| is_empty) {
        merge_parts(files)
    } else {
        merge_states(files)
    }
}

/// Reads the bytes of state files, and merges them. The names are for messages.
#[pyfunction]
pub(crate) fn merge_bytes(
    py: Python<'_>,
    states: Vec<(String, Vec<u8>)>,
) -> PyResult<(Outcome, Vec<String>)> {
    let read = |(name, bytes): (String, Vec<u8>)| -> Result<_, RunError> {
        let outcomes = read_states(&name, &bytes)?;
        Ok((name, outcomes))
    };
    let merged = py.detach(|| {
        let files: Vec<_> = states.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok(merge_any(files)?)
    });
    let merged = merged.map_err(|error: RunError| of_run(py, &error, Origin::Files))?;
    let outcome = first(py, merged.outcomes, None)?;
    // States that are merged in a program are parts that it knows of; those of shards may lack some.
    let warnings = match outcome.outcome.shards() {
        Some(_) => in_python(&merged.warnings, Origin::Files),
        None => Vec::new(),
    };
    Ok((outcome, warnings))
}

/// Compares systems: the JSON that the program prints.
#[pyfunction]
pub(crate) fn compare_files(
    py: Python<'_>,
    name: &str,
    options: &Bound<'_, PyDict>,
    settings: &Bound<'_, PyDict>,
    references: &Bound<'_, PyAny>,
    predictions: Vec<(String, Bound<'_, PyAny>)>,
    has_ids: bool,
) -> PyResult<String> {
    let settings = Settings(settings);
    let (mut run, compare) = comparison(py, name, options, &settings)?;
    let threads = run.threads;
    let origin = match origin_of(references) {
        Origin::Named if !has_ids => Origin::Positions,
        origin => origin,
    };
    let references = settings.source(references, "references", "references")?;
    let predictions = predictions.into_iter().map(|(name, paths)| {
        let source = settings.source(&paths, "predictions", &predictions_of(py, &name)?)?;
        Ok((name, source))
    });
    let predictions = predictions.collect::<PyResult<Vec<_>>>()?;
    compared(py, threads, origin, || {
        run.compare(&references, predictions, &compare)
    })
}

/// The name of the predictions of a system, as Python writes it.
fn predictions_of(py: Python<'_>, system: &str) -> PyResult<String> {
    Ok(format!(
        "predictions[{}]",
        PyString::new(py, system).repr()?
    ))
}

/// The JSON of a comparison.
fn compared(
    py: Python<'_>,
    threads: Option<NonZeroUsize>,
    origin: Origin,
    compare: impl FnOnce() -> Result<Comparison, RunError> + Send,
) -> PyResult<String> {
    let compare = || compare().map(|found| found.to_json());
    detached(py, origin, || on_threads(threads, compare))
}

/// Where the records of a source come from: files, or a table in memory with the ids of its rows.
fn origin_of(source: &Bound<'_, PyAny>) -> Origin {
    match source.cast::<PyBytes>() {
        Ok(_) => Origin::Named,
        Err(_) => Origin::Files,
    }
}

/// The run of a comparison, and how systems are compared.
fn comparison(
    py: Python<'_>,
    name: &str,
    options: &Bound<'_, PyDict>,
    settings: &Settings<'_, '_>,
) -> PyResult<(Run, Compare)> {
    let entry = entry(py, name)?;
    let chosen = read_options(entry, options)?;
    let mut run = Run::new(entry, &chosen).map_err(|error| of_run(py, &error, Origin::Files))?;
    settings.apply(&mut run)?;
    let compare = Compare {
        baseline: settings.text("baseline")?,
        all_pairs: settings.flag("all_pairs")?,
        permutations: settings
            .permutations()?
            .unwrap_or(Compare::default().permutations),
    };
    Ok((run, compare))
}

/// The metrics with their options and scores, as the JSON that the program prints.
#[pyfunction]
pub(crate) fn list_json() -> String {
    list::json().to_string()
}

/// Warnings that name options as in Python, and examples without ids by their positions.
fn in_python(warnings: &[Message], origin: Origin) -> Vec<String> {
    let warnings = warnings.iter().map(|warning| match origin {
        Origin::Positions => warning.with_ids(id_or_index).render(OptionStyle::Python),
        Origin::Files | Origin::Named => warning.render(OptionStyle::Python),
    });
    warnings.collect()
}

fn first(
    py: Python<'_>,
    outcomes: Vec<metric_run::Outcome>,
    threads: Option<NonZeroUsize>,
) -> PyResult<Outcome> {
    let outcome = outcomes.into_iter().next();
    let outcome = outcome.ok_or_else(|| refused(py, "no metric was scored"))?;
    Ok(Outcome {
        outcome,
        report: OnceLock::new(),
        samples: None,
        threads,
        origin: Origin::Files,
    })
}

fn entry(py: Python<'_>, name: &str) -> PyResult<&'static Entry> {
    find(name).ok_or_else(|| {
        let names: Vec<&str> = list::names().collect();
        let meaning = meaning(name).map_or_else(String::new, |meaning| format!("{meaning}; "));
        refused(
            py,
            format!(
                "no metric {name:?}: {meaning}expected one of {}",
                names.join(", ")
            ),
        )
    })
}

/// One side of a data set in memory.
fn document(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Document> {
    match value.cast::<PyDict>() {
        Ok(columns) => objects::read(columns, name),
        Err(_) => Ok(Document::text(name, value.extract::<String>()?)),
    }
}

/// The options of a metric from arguments by name, whose names have underscores.
fn read_options(entry: &Entry, arguments: &Bound<'_, PyDict>) -> PyResult<Options> {
    let py = arguments.py();
    let mut options = Options::default();
    for (name, value) in arguments.iter() {
        let name = name.extract::<String>()?;
        let mut specs = entry.options.iter();
        let is_named = |spec: &&OptionSpec| {
            let names = [spec.name, spec.also];
            names.iter().any(|known| known.replace('-', "_") == name)
        };
        let Some(spec) = specs.find(is_named) else {
            let names = entry.options.iter().map(|spec| spec.name.replace('-', "_"));
            let names: Vec<String> = names.collect();
            let known = if names.is_empty() {
                "it has no options".to_owned()
            } else {
                format!("its options are {}", names.join(", "))
            };
            let location = Location {
                option: Some(&name),
                ..Location::default()
            };
            let problem = format!("{} has no option {name}: {known}", entry.name);
            return Err(metric_error(py, &problem, &location));
        };
        if let Some(value) = option_value(spec, &name, &value)? {
            options = options.set(spec.name, value);
        }
    }
    Ok(options)
}

/// The value of an option; `None` leaves its default.
fn option_value(
    spec: &OptionSpec,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<Option<OptionValue>> {
    let py = value.py();
    if value.is_none() {
        return Ok(None);
    }
    let wrong = |expected: &str| {
        let found = value
            .repr()
            .map_or_else(|_| String::new(), |text| text.to_string());
        let location = Location {
            option: Some(name),
            ..Location::default()
        };
        metric_error(
            py,
            &format!("{name}={found}: expected {expected}"),
            &location,
        )
    };
    let one = |kind: &OptionKind, value: &Bound<'_, PyAny>| -> PyResult<String> {
        let is_text = value.cast::<PyString>().is_ok();
        match kind {
            OptionKind::Integer(..) => match value.extract::<i64>() {
                Ok(integer) if value.extract::<bool>().is_err() => Ok(integer.to_string()),
                _ if is_text => value.extract(),
                _ => Err(wrong("an integer")),
            },
            OptionKind::Number(..) => match value.extract::<f64>() {
                Ok(number) if value.extract::<bool>().is_err() => Ok(number.to_string()),
                _ if is_text => value.extract(),
                _ => Err(wrong("a number")),
            },
            OptionKind::Path => {
                let path = value.extract::<PathBuf>().map_err(|_| wrong("a path"))?;
                path.to_str()
                    .map(str::to_owned)
                    .ok_or_else(|| wrong("a path in UTF-8"))
            }
            _ if is_text => value.extract(),
            // Numbers as choices, such as `zero_division=0`.
            _ if value.extract::<bool>().is_err() && value.extract::<f64>().is_ok() => {
                Ok(value.str()?.to_string())
            }
            _ => Err(wrong("a string")),
        }
    };
    match spec.kind {
        OptionKind::Flag => match value.extract::<bool>() {
            Ok(true) => Ok(Some(OptionValue::from(""))),
            Ok(false) => Ok(None),
            Err(_) => Err(wrong("True or False")),
        },
        OptionKind::List(item) => {
            // One text is what the command line takes; one number is a list of one.
            if value.cast::<PyString>().is_ok() || value.extract::<f64>().is_ok() {
                return Ok(Some(OptionValue::One(one(item, value)?)));
            }
            if is_set(value) {
                return Err(wrong("a sequence (a set has no order)"));
            }
            let items = value.try_iter().map_err(|_| wrong("a sequence"))?;
            let items = items.map(|value| one(item, &value?));
            let items = items.collect::<PyResult<Vec<_>>>()?;
            Ok((!items.is_empty()).then_some(OptionValue::List(items)))
        }
        kind => one(&kind, value).map(|value| Some(OptionValue::One(value))),
    }
}

/// The values of settings that count.
const WHOLE: &str = "a non-negative integer";

/// The settings of a run by name. The options of the metric are not among them.
pub(crate) struct Settings<'a, 'py>(pub(crate) &'a Bound<'py, PyDict>);

impl<'py> Settings<'_, 'py> {
    fn value(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    pub(crate) fn get<T: for<'a> FromPyObject<'a, 'py>>(
        &self,
        name: &str,
        expected: &str,
    ) -> PyResult<Option<T>> {
        let Some(value) = self.value(name)? else {
            return Ok(None);
        };
        let read = value.extract::<T>();
        read.map(Some)
            .map_err(|_| self.wrong(name, &value, expected))
    }

    fn text(&self, name: &str) -> PyResult<Option<String>> {
        self.get(name, "a string")
    }

    pub(crate) fn permutations(&self) -> PyResult<Option<u64>> {
        self.get("permutations", WHOLE)
    }

    pub(crate) fn max_bytes(&self) -> PyResult<Option<u64>> {
        self.get("max_bytes", WHOLE)
    }

    fn flag(&self, name: &str) -> PyResult<bool> {
        Ok(self.get(name, "True or False")?.unwrap_or(false))
    }

    fn wrong(&self, name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
        let found = value
            .repr()
            .map_or_else(|_| String::new(), |text| text.to_string());
        let location = Location {
            option: Some(name),
            ..Location::default()
        };
        metric_error(
            self.0.py(),
            &format!("{name}={found}: expected {expected}"),
            &location,
        )
    }

    /// The value of one of the words, or the one of none.
    fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> PyResult<Option<T>> {
        let Some(value) = self.value(name)? else {
            return Ok(None);
        };
        let words: Vec<String> = choices
            .iter()
            .map(|(word, _)| format!("{word:?}"))
            .collect();
        let text = value.extract::<String>().unwrap_or_default();
        let found = choices.iter().find(|(word, _)| *word == text);
        found
            .map(|(_, value)| Some(*value))
            .ok_or_else(|| self.wrong(name, &value, &format!("one of {}", words.join(", "))))
    }

    fn apply(&self, run: &mut Run) -> PyResult<()> {
        run.samples = self.flag("samples")?;
        run.is_part = self.flag("is_part")?;
        run.threads = self.get("threads", "a positive integer")?;
        if let Some(max_bytes) = self.max_bytes()? {
            run.max_bytes = max_bytes;
        }
        let missing = [
            ("error", Missing::Error),
            ("empty", Missing::Empty),
            ("skip", Missing::Skip),
        ];
        if let Some(missing) = self.choice("missing", &missing)? {
            run.join.missing = missing;
            run.is_missing_given = true;
        }
        run.join.null = self.choice("null", &missing)?;
        run.join.as_text = self.flag("as_text")?;
        if let Some(ignore) = self.choice("extra", &[("error", false), ("ignore", true)])? {
            run.join.ignore_extra = ignore;
        }
        let fields = &mut run.fields;
        if let Some(id) = self.text("id_field")? {
            fields.id = id;
        }
        if let Some(id) = self.text("references_id_field")? {
            fields.predictions_id = Some(std::mem::replace(&mut fields.id, id));
        }
        if let Some(id) = self.text("predictions_id_field")? {
            fields.predictions_id = Some(id);
        }
        fields.reference = self.text("reference_field")?;
        if let Some(prediction) = self.text("prediction_field")? {
            fields.prediction = prediction;
        }
        if let Some(columns) = self.get("prediction_fields", "a list of names")? {
            fields.prediction_columns = columns;
        }
        if let Some(files) = self.value("more_references")? {
            let files = files.try_iter()?.map(|file| {
                let file = file?;
                self.source(&file, "references", "more_references")
            });
            run.more_references = files.collect::<PyResult<_>>()?;
        }
        if let Some(conditions) = self.value("where")? {
            let conditions = match conditions.extract::<String>() {
                Ok(condition) => vec![condition],
                Err(_) => conditions.extract::<Vec<String>>().map_err(|_| {
                    let expected =
                        "a string such as \"field=value\", or a sequence of such strings";
                    self.wrong("where", &conditions, expected)
                })?,
            };
            let selection = Selection::read(conditions.iter().map(String::as_str));
            let selection = selection
                .map_err(|error| of_run(self.0.py(), &RunError::from(error), Origin::Files))?;
            run.selection = selection.map(Arc::new);
        }
        run.statistics = self.statistics()?;
        run.slices = self.slices()?;
        run.shown = ShownScores {
            scores: self.names("scores")?,
            sort: self.text("sort")?,
        };
        Ok(())
    }

    pub(crate) fn statistics(&self) -> PyResult<Option<Statistics>> {
        let names = [
            "confidence",
            "resamples",
            "seed",
            "cluster_field",
            "interval",
        ];
        let mut wanted = false;
        for name in names {
            wanted |= self.value(name)?.is_some();
        }
        if !wanted {
            return Ok(None);
        }
        let mut statistics = Statistics::default();
        if let Some(confidence) = self.get("confidence", "a number between 0 and 1")? {
            statistics.confidence = confidence;
        }
        if let Some(resamples) = self.get("resamples", WHOLE)? {
            statistics.resamples = resamples;
        }
        if let Some(seed) = self.get("seed", WHOLE)? {
            statistics.seed = seed;
        }
        statistics.cluster_field = self.text("cluster_field")?;
        if let Some(value) = self.value("interval")? {
            let text = value.extract::<String>().unwrap_or_default();
            let kind = text.parse::<IntervalKind>();
            statistics.interval = kind.map_err(|error| {
                self.wrong(
                    "interval",
                    &value,
                    error.to_string().trim_start_matches("expected "),
                )
            })?;
        }
        Ok(Some(statistics))
    }

    /// The names that a setting gives: a string, or several.
    fn names(&self, setting: &str) -> PyResult<Vec<String>> {
        let Some(names) = self.value(setting)? else {
            return Ok(Vec::new());
        };
        match names.cast::<PyString>() {
            Ok(name) => Ok(vec![name.extract::<String>()?]),
            Err(_) => names
                .extract::<Vec<String>>()
                .map_err(|_| self.wrong(setting, &names, "a string, or a sequence of strings")),
        }
    }

    fn slices(&self) -> PyResult<Vec<Slice>> {
        let mut slices = Vec::new();
        let names = self.names("slice_field")?.into_iter();
        slices.extend(names.map(|name| Slice {
            name,
            bins: None,
            values: None,
            rest: None,
        }));
        let bins: Option<BTreeMap<String, Vec<f64>>> =
            self.get("slice_bins", "a dict of lists of numbers by field")?;
        for (name, bins) in bins.into_iter().flatten() {
            match slices.iter_mut().find(|slice| slice.name == name) {
                Some(slice) => slice.bins = Some(bins),
                None => slices.push(Slice {
                    name,
                    bins: Some(bins),
                    values: None,
                    rest: None,
                }),
            }
        }
        let values: Option<BTreeMap<String, BTreeMap<String, String>>> =
            self.get("slices", "a dict of dicts: by slice, the group of each id")?;
        for (name, values) in values.into_iter().flatten() {
            slices.push(Slice {
                name,
                bins: None,
                values: Some(Arc::new(values)),
                rest: None,
            });
        }
        Ok(slices)
    }

    /// The files of one side: a path, a pattern or several, or the lines of JSON of a table in memory, which messages
    /// call by `name`.
    pub(crate) fn source(
        &self,
        value: &Bound<'_, PyAny>,
        side: &str,
        name: &str,
    ) -> PyResult<Source> {
        let py = value.py();
        let failed = |error: RunError| of_run(py, &error, Origin::Files);
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Source::memory(name, bytes.as_bytes(), Format::JsonLines));
        }
        let paths = match value.cast::<PyList>() {
            Ok(list) => list.extract::<Vec<PathBuf>>()?,
            Err(_) => vec![value.extract::<PathBuf>()?],
        };
        let mut source = Source::paths(&paths).map_err(failed)?;
        let per_side = |name: &str| -> PyResult<Option<String>> {
            let own = self.text(&format!("{side}_{name}"))?;
            Ok(own.or(self.text(match name {
                "format" => "input_format",
                name => name,
            })?))
        };
        if let Some(name) = per_side("format")? {
            let names: Vec<&str> = Format::names().collect();
            let format = Format::named(&name).ok_or_else(|| {
                refused(
                    py,
                    format!("format {name:?}: expected one of {}", names.join(", ")),
                )
            })?;
            source = source.with_format(format);
        }
        if let Some(split) = per_side("split")? {
            source = source.with_split(split);
        }
        let mut csv = CsvOptions::default();
        if let Some(value) = self.value("delimiter")? {
            let name = value.extract::<String>()?;
            let delimiter = CsvOptions::delimiter(&name);
            csv.delimiter = Some(
                delimiter.map_err(|error| self.wrong("delimiter", &value, &error.to_string()))?,
            );
        }
        if let Some(has_quotes) = self.choice("quote", &[("double", true), ("none", false)])? {
            csv.has_quotes = has_quotes;
        }
        if let Some(has_header) = self.choice("header", &[("first", true), ("none", false)])? {
            csv.has_header = has_header;
        }
        let empty = [
            ("error", EmptyField::Error),
            ("text", EmptyField::Text),
            ("null", EmptyField::Null),
        ];
        if let Some(empty) = self.choice("empty_field", &empty)? {
            csv.empty = empty;
        }
        let encoding = self.value("encoding")?.map(|value| {
            let name = value.extract::<String>().unwrap_or_default();
            name.parse().map_err(|expected: String| {
                let expected = expected.trim_start_matches("expected ");
                self.wrong("encoding", &value, expected)
            })
        });
        source = source.with_csv(csv).with_encoding(encoding.transpose()?);
        let transcript = self.transcript()?;
        let transcript =
            TranscriptOptions::read(|name| transcript.get(name).cloned()).map_err(failed)?;
        Ok(source.with_transcript(transcript))
    }

    /// The options for reading transcripts, by name. There may be several tiers.
    fn transcript(&self) -> PyResult<BTreeMap<&'static str, String>> {
        let mut given = BTreeMap::new();
        for name in ["speaker", "speaker-prefix", "level"] {
            let value = self.text(&name.replace('-', "_"))?;
            given.extend(value.map(|value| (name, value)));
        }
        if let Some(value) = self.value("tier")? {
            let tiers = match value.cast::<PyList>() {
                Ok(list) => list.extract::<Vec<String>>()?.join("\n"),
                Err(_) => value.extract()?,
            };
            given.insert("tier", tiers);
        }
        Ok(given)
    }
}

/// The records of a table in memory as lines of JSON. Messages call it by `name`, and its values by their keys if the ids
/// are those of a mapping.
#[pyfunction]
pub(crate) fn json_lines<'py>(
    py: Python<'py>,
    ids: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
    field: &str,
    name: &str,
    is_mapping: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let ids: Vec<Bound<'py, PyAny>> = ids.try_iter()?.collect::<PyResult<_>>()?;
    let values: Vec<Bound<'py, PyAny>> = values.try_iter()?.collect::<PyResult<_>>()?;
    let json = |items: &[Bound<'py, PyAny>]| {
        each_to_json(items).map_err(|(row, problem)| {
            let id = ids.get(row).filter(|_| is_mapping);
            let key = id.and_then(|id| id.repr().ok());
            let item = key.map_or_else(|| format!("[{row}]"), |key| format!("[{key}]"));
            Argument { name }.invalid(py, &item, &problem)
        })
    };
    let mut lines = String::new();
    for (id, value) in json(&ids)?.iter().zip(json(&values)?) {
        lines.push_str(&format!("{{\"id\":{id},\"{field}\":{value}}}\n"));
    }
    Ok(PyBytes::new(py, lines.as_bytes()))
}
