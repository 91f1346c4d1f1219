//! Metrics that are written in Python: `metric_suite.register`.

use std::borrow::Cow;

use metric_core::{Metric, fields};
use metric_run::record::{FieldError, Kind, Message, Record, Value};
use metric_run::registry::{
    Asked, Entry, Facts, Named, Numbers, OptionError, OptionKind, OptionSpec, Options, Reading,
    ScoreSpec, Scorer, Sink, register, scorer,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::refused;

/// The counts of a metric, in the order of their names; none before the first example.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    counts: Vec<u64>,
}

fields!(Counts { counts });

/// What Python says of a metric.
#[derive(Clone, Copy)]
struct Declared {
    name: &'static str,
    version: &'static str,
    counts: &'static [&'static str],
    scores: &'static [ScoreSpec],
    options: &'static [OptionSpec],
}

/// A metric whose functions are called in Python: `measure` gives the counts of an example, and `compute` the scores of
/// counts.
struct Own {
    declared: Declared,
    signature: Named<String>,
    measure: Py<PyAny>,
    compute: Py<PyAny>,
}

impl Metric for Own {
    type Prediction = Counts;
    type Reference = ();
    type State = Counts;
    type Score = Result<Vec<Option<f64>>, String>;

    fn update(&self, state: &mut Counts, example: &Counts, (): &()) {
        metric_core::Merge::merge_times(state, example, 1);
    }

    fn compute(&self, state: &Counts) -> Result<Vec<Option<f64>>, String> {
        let mut counts = state.counts.clone();
        counts.resize(self.declared.counts.len(), 0);
        Python::attach(|py| {
            let scores = self.compute.call1(py, (counts,))?;
            scores.extract(py)
        })
        .map_err(|error: PyErr| error.to_string())
    }
}

/// The text of a value or its JSON, and whether it is a text; `None` if it is missing.
fn read<'v>(value: &mut Value<'v>) -> Result<Option<(Cow<'v, str>, bool)>, String> {
    Ok(match value.kind() {
        Kind::Missing => None,
        Kind::Line | Kind::String => Some((value.text()?, true)),
        _ => Some((value.to_json_or("null")?, false)),
    })
}

impl Reading for Own {
    type Metric = Self;
    type Header = ();

    fn metric(&self) -> &Self {
        self
    }

    fn facts(&self) -> Facts {
        Facts::signed(self.signature.clone())
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let prediction = read(&mut record.prediction).map_err(FieldError::prediction)?;
        let reference = read(&mut record.reference).map_err(FieldError::reference)?;
        let counts = Python::attach(|py| {
            let counts = self.measure.call1(py, (prediction, reference))?;
            counts.extract(py)
        });
        let counts = counts
            .map_err(|error: PyErr| FieldError::prediction(format!("update raised {error}")))?;
        sink.example(&Counts { counts }, &());
        Ok(())
    }

    fn numbers(&self, state: &Counts, (): &(), asked: Asked<'_>) -> Numbers {
        let computed = self.compute(state);
        let mut warnings = Vec::new();
        if let (Err(problem), Some(_)) = (&computed, asked.remarks) {
            warnings.push(Message::from(format!("compute raised {problem}")));
        }
        let mut computed = computed.unwrap_or_default().into_iter();
        let scores = self.declared.scores.iter();
        let counts = self.declared.counts.iter().enumerate();
        Numbers {
            scores: scores
                .map(|score| (score.name.to_owned(), computed.next().flatten()))
                .collect(),
            counts: counts
                .map(|(index, name)| {
                    let count = state.counts.get(index).copied().unwrap_or_default();
                    ((*name).to_owned(), count.into())
                })
                .collect(),
            warnings,
            ..Numbers::default()
        }
    }
}

fn leak<T>(items: impl IntoIterator<Item = T>) -> &'static [T] {
    items.into_iter().collect::<Vec<T>>().leak()
}

/// An option by its kind, the type of its default in Python.
fn option(name: String, kind: &str, default: String) -> OptionSpec {
    let name: &'static str = name.replace('_', "-").leak();
    let default: &'static str = default.leak();
    let help = "An option of your own metric";
    match kind {
        "bool" => OptionSpec::flag(name, help),
        "int" => OptionSpec::integer(name, "N", i64::MIN..=i64::MAX, help).or(default),
        "float" => OptionSpec::number(name, "X", f64::MIN..=f64::MAX, help).or(default),
        _ => OptionSpec::text(name, "TEXT", help).or(default),
    }
}

/// Builds a metric from its options, which Python gets by their names there.
fn build(factory: &Py<PyAny>, declared: Declared, options: &Options) -> PyResult<Scorer> {
    Python::attach(|py| {
        let arguments = PyDict::new(py);
        let mut signature = Vec::new();
        for spec in declared.options {
            let name = spec.name.replace('-', "_");
            let given = options.given(spec.name);
            let shown = match spec.kind {
                OptionKind::Flag => {
                    let is_on = options.has(spec.name);
                    arguments.set_item(name, is_on)?;
                    if is_on { "yes" } else { "no" }
                }
                _ => {
                    arguments.set_item(name, &*given)?;
                    &*given
                }
            };
            signature.push((spec.name.to_owned(), shown.to_owned()));
        }
        // States are lists of counts, which other names would give another meaning.
        signature.push(("counts".to_owned(), declared.counts.join(",")));
        let (measure, compute) = factory.call1(py, (arguments,))?.extract(py)?;
        let metric = Own {
            declared,
            signature,
            measure,
            compute,
        };
        Ok(scorer(declared.name, declared.version, metric))
    })
}

/// Adds a metric. Scores are given with their direction, options with their type and default. `factory` returns the two
/// functions of the metric under options.
#[pyfunction]
#[allow(
    clippy::too_many_arguments,
    reason = "each is a part of the declaration"
)]
pub(crate) fn register_metric(
    py: Python<'_>,
    name: String,
    version: String,
    help: String,
    counts: Vec<String>,
    scores: Vec<(String, Option<String>)>,
    options: Vec<(String, String, String)>,
    factory: Py<PyAny>,
) -> PyResult<()> {
    let text = |text: String| -> &'static str { text.leak() };
    let scores = scores.into_iter().map(|(name, direction)| {
        let name = text(name);
        match direction.as_deref() {
            Some("higher") => ScoreSpec::higher(name),
            Some("lower") => ScoreSpec::lower(name),
            _ => ScoreSpec::neutral(name),
        }
    });
    let options = options.into_iter();
    let options = options.map(|(name, kind, default)| option(name, &kind, default));
    let declared = Declared {
        name: text(name),
        version: text(version),
        counts: leak(counts.into_iter().map(text)),
        scores: leak(scores),
        options: leak(options),
    };
    let build = move |options: &Options| {
        let built = build(&factory, declared, options);
        built.map_err(|error| OptionError::new("metric", declared.name, error.to_string()))
    };
    let entry = Entry {
        name: declared.name,
        help: text(help),
        values: ("a value", "a value"),
        options: declared.options,
        scores: declared.scores,
        build: Box::leak(Box::new(build)),
        ..Entry::BASE
    };
    register(entry).map_err(|error| refused(py, error.to_string()))?;
    Ok(())
}
