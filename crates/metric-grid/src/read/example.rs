//! Examples in records.

use metric_record::{FieldError, Record, Value};

use super::{SubmissionOptions, is_task, parse_attempts, parse_grid, parse_outputs};
use crate::{Attempt, Example};

impl Example {
    /// Reads a record: a pair of grids, or a task if the reference is the outputs of one.
    ///
    /// A prediction that is null is a missing attempt. One that is not a grid is an invalid attempt, or an
    /// error if [`strict`](SubmissionOptions::strict).
    ///
    /// ```
    /// use metric_grid::read::SubmissionOptions;
    /// use metric_grid::{Attempt, Example, Grid};
    /// use metric_record::{Record, Value};
    ///
    /// let read = |prediction, reference| {
    ///     let mut record = Record::new("1", Value::json(prediction), Value::json(reference));
    ///     Example::read(&mut record, SubmissionOptions::default())
    /// };
    /// let grid = Grid::from_rows(&[[1, 2]])?;
    /// assert_eq!(read("[[12]]", "[[1, 2]]")?, Example::Pair(Attempt::Invalid, grid.clone()));
    ///
    /// let task = read(r#"[{"attempt_1": [[1, 2]]}]"#, "[[[1, 2]]]")?;
    /// assert_eq!(task, Example::Task(vec![vec![grid.clone().into()]], vec![grid]));
    ///
    /// let error = read("null", "[[1], [2, 3]]").unwrap_err();
    /// assert_eq!(error.to_string(), "reference: row 1 has length 2: expected 1, as in the first row");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the reference is neither a grid nor the outputs of a task, or if the prediction
    /// is not a list of attempts at these.
    pub fn read(record: &mut Record<'_>, options: SubmissionOptions) -> Result<Self, FieldError> {
        let reference = record.reference.to_json_or("null");
        let reference = reference.map_err(FieldError::reference)?;
        let prediction = record.prediction.to_json_or("null");
        let prediction = prediction.map_err(FieldError::prediction)?;
        if is_task(&reference) {
            let truth = parse_outputs(&reference).map_err(FieldError::reference)?;
            let attempts = parse_attempts(&prediction, truth.len(), options)
                .map_err(FieldError::prediction)?;
            return Ok(Self::Task(attempts, truth));
        }
        let truth = parse_grid(&reference).map_err(FieldError::reference)?;
        let attempt = if prediction.trim() == "null" {
            Attempt::Missing
        } else {
            match parse_grid(&prediction) {
                Ok(grid) => Attempt::Grid(grid),
                Err(problem) if options.strict => return Err(FieldError::prediction(problem)),
                Err(_) => Attempt::Invalid,
            }
        };
        Ok(Self::Pair(attempt, truth))
    }

    /// Returns how many grids a reference has: the number of outputs of a task, and 1 for a grid or for
    /// what cannot be read.
    ///
    /// ```
    /// use metric_grid::Example;
    /// use metric_record::Value;
    ///
    /// assert_eq!(Example::grids_in(Value::json("[[[1]], [[2]]]")), 2);
    /// assert_eq!(Example::grids_in(Value::json("[[1, 2]]")), 1);
    /// ```
    #[must_use]
    pub fn grids_in(mut reference: Value<'_>) -> u64 {
        match reference.to_json_or("null") {
            Ok(json) if is_task(&json) => {
                parse_outputs(&json).map_or(1, |truth| truth.len() as u64)
            }
            _ => 1,
        }
    }
}
