//! The mean of values that are already scores.

use metric_core::Mean;
use metric_record::{Batch, FieldError, Message, Record, RecordError, Side, Value};

use crate::numbers::named;
use crate::shapes::Measured;
use crate::shapes::number_pairs::{is_of_numbers, number_at, read_number};
use crate::{Asked, Demo, Entry, Facts, Numbers, Reading, ScoreSpec, Shape, Sink, scorer};

pub(crate) const MEAN: Entry = Entry {
    name: "mean",
    question: "Each example has a score already, such as a judge's grade: what is the mean, and how sure is it?",
    programs: "",
    shapes: &[Shape::Grades.as_is()],
    help: "Mean of numbers, or of true and false, that are scores already, such as the grades of a judge",
    values: (
        "none: there is only -p",
        "a number, or true or false, which count as 1 and 0",
    ),
    known_as: &[(&["average", "grade", "judge"], "")],
    demos: &[Demo::new(
        "grades of a judge",
        ["", "grades.jsonl"],
        &["mean"],
    )],
    scores: &[ScoreSpec::higher("mean").unbounded()],
    build: &|_| Ok(scorer("mean", metric_core::VERSION, Grades)),
    ..Entry::BASE
};

/// The reading of single numbers.
struct Grades;

impl Reading for Grades {
    type Metric = Measured<Mean>;
    type Header = ();

    fn metric(&self) -> &Self::Metric {
        &Measured::METRIC
    }

    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        add(&mut record.prediction, sink)
    }

    /// Takes numbers in any form.
    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        let grades = batch.predictions();
        if !is_of_numbers(grades) {
            return None;
        }
        let together = |state: &mut Mean, row| {
            let numbers = (row..batch.len()).map_while(|row| number_at(grades, row));
            numbers.map(|number| state.add(number)).count()
        };
        Some(sink.read_rows(batch, together, |sink, index| {
            let added = add(&mut grades.value(index), sink);
            added.map_err(|error| RecordError { index, error })
        }))
    }

    fn numbers(&self, state: &Mean, (): &(), _: Asked<'_>) -> Numbers {
        Numbers {
            scores: vec![("mean".to_owned(), state.value())],
            counts: named([("total", state.count())]),
            ..Numbers::default()
        }
    }
}

fn add(value: &mut Value<'_>, sink: &mut Sink<'_, Grades>) -> Result<(), FieldError> {
    let grade = read(value).map_err(|problem| FieldError::new(Side::Prediction, problem))?;
    sink.counted_in(|state| state.add(grade));
    Ok(())
}

/// Reads a number, or a Boolean. Cells of tables are also written by Python, whose Booleans start with a capital letter.
fn read(value: &mut Value<'_>) -> Result<f64, Message> {
    let is_true = match value.as_line().map(str::trim) {
        Some("true" | "True") => Some(true),
        Some("false" | "False") => Some(false),
        Some(_) => None,
        None => {
            let mut copy = *value;
            copy.read().ok()
        }
    };
    match is_true {
        Some(is_true) => Ok(f64::from(u8::from(is_true))),
        None => read_number(value),
    }
}
