//! Alignments of lists of words or characters, for `metric_suite.compat.jiwer`.

use std::borrow::Cow;

use metric_core::{Merge, Metric};
use metric_text::edit::{Alignment, EditProfile, EditState, Edits};
use metric_text::{EditRate, Unit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// A run of the same edit: its name, and where it starts and ends in the reference and in the prediction.
type Run = (&'static str, usize, usize, usize, usize);

/// Hits, substitutions, deletions and insertions.
type Counts = (u64, u64, u64, u64);

/// Aligns lists of units, pair by pair.
#[pyfunction]
pub(crate) fn align_units(
    py: Python<'_>,
    references: Vec<Vec<Bound<'_, PyString>>>,
    predictions: Vec<Vec<Bound<'_, PyString>>>,
) -> PyResult<(Vec<Vec<Run>>, Counts)> {
    let references = references.iter().map(|units| bytes(units));
    let references = references.collect::<PyResult<Vec<_>>>()?;
    let predictions = predictions.iter().map(|units| bytes(units));
    let predictions = predictions.collect::<PyResult<Vec<_>>>()?;
    Ok(py.detach(|| {
        let mut total = Edits::default();
        let pairs = references.iter().zip(&predictions);
        let runs = pairs.map(|(reference, prediction)| {
            let alignment = Alignment::new(reference, prediction);
            total.merge(alignment.edits());
            runs(&alignment)
        });
        (runs.collect(), counts(&total))
    }))
}

/// The word error rate, match error rate, word information lost and preserved of texts, by jiwer's rules for white
/// space. `None` for values that are not texts, and where one side has no units, whose rates have rules of their own.
#[pyfunction]
pub(crate) fn edit_measures(
    references: &Bound<'_, PyAny>,
    predictions: &Bound<'_, PyAny>,
    unit: &str,
) -> Option<(f64, f64, f64, f64)> {
    let metric = EditRate::default()
        .with_unit(unit.parse().unwrap_or(Unit::Word))
        .with_profile(EditProfile::Jiwer);
    let mut state = EditState::default();
    let mut add = |reference: &Bound<'_, PyAny>, prediction: &Bound<'_, PyAny>| {
        let reference = reference.cast::<PyString>().ok()?.to_str().ok()?;
        let prediction = prediction.cast::<PyString>().ok()?.to_str().ok()?;
        metric.update(&mut state, prediction, reference);
        Some(())
    };
    match (references.cast::<PyList>(), predictions.cast::<PyList>()) {
        (Ok(references), Ok(predictions)) if references.len() == predictions.len() => {
            for (reference, prediction) in references.iter().zip(predictions.iter()) {
                add(&reference, &prediction)?;
            }
        }
        (Err(_), Err(_)) => add(references, predictions)?,
        _ => return None,
    }
    let edits = &state.edits;
    let [hits, substitutions, deletions, insertions] = [
        edits.hits,
        edits.substitutions,
        edits.deletions,
        edits.insertions,
    ]
    .map(|count| count as f64);
    let errors = substitutions + deletions + insertions;
    let (units, found) = (
        hits + substitutions + deletions,
        hits + substitutions + insertions,
    );
    if units == 0.0 || found == 0.0 {
        return None;
    }
    let preserved = (hits / units) * (hits / found);
    Some((
        errors / units,
        errors / (hits + errors),
        1.0 - preserved,
        preserved,
    ))
}

/// Units that compare as in Python: half of a surrogate pair, which is not UTF-8, is a valid unit.
fn bytes<'a>(units: &'a [Bound<'_, PyString>]) -> PyResult<Vec<Cow<'a, [u8]>>> {
    let units = units.iter().map(|unit| match unit.to_str() {
        Ok(text) => Ok(Cow::Borrowed(text.as_bytes())),
        Err(_) => {
            let encoded = unit.call_method1("encode", ("utf-8", "surrogatepass"))?;
            Ok(Cow::Owned(encoded.extract()?))
        }
    });
    units.collect()
}

fn runs(alignment: &Alignment) -> Vec<Run> {
    let runs = alignment.chunks.iter().map(|chunk| {
        let (reference, prediction) = (&chunk.reference, &chunk.prediction);
        (
            chunk.edit.name(),
            reference.start,
            reference.end,
            prediction.start,
            prediction.end,
        )
    });
    runs.collect()
}

fn counts(edits: &Edits) -> Counts {
    (
        edits.hits,
        edits.substitutions,
        edits.deletions,
        edits.insertions,
    )
}
