use std::sync::{Mutex, PoisonError};

use metric_registry::{Named, Sample};
use serde_json::Value;

use crate::{Observer, ObserverError};

/// The scores and counts of single examples, as columns.
///
/// All columns have one cell per example. A score is null where it is undefined; a score, a count or a part
/// is null where an example does not have it. Columns are in the order in which their names first occur.
///
/// ```
/// use metric_run::record::{Cells, Column};
/// use metric_run::registry::{Options, find};
/// use metric_run::{CountColumn, Run, Table};
///
/// # #[cfg(feature = "class")] {
/// let entry = find("classification").ok_or("not there")?;
/// let mut run = Run::new(entry, &Options::default())?;
/// run.samples = true;
/// let labels = |name, labels| Table::new(name, Column::Integers(Cells::from(labels)));
/// let outcomes = run.score_tables(labels("references", &[3, 2][..]), labels("predictions", &[3, 1]))?;
///
/// let samples = outcomes[0].samples().ok_or("not wanted")?;
/// assert_eq!(samples.ids(), ["1", "2"]);
/// assert_eq!(samples.score("accuracy"), Some(&[Some(1.0), Some(0.0)][..]));
/// let correct = CountColumn::Integers(vec![Some(1), Some(0)]);
/// assert_eq!(samples.count("correct"), Some(&correct));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleTable {
    ids: Vec<String>,
    /// Empty until an example is a part.
    parts: Vec<Option<String>>,
    scores: Named<Vec<Option<f64>>>,
    counts: Named<CountColumn>,
}

/// The values of one count, one cell per example.
#[derive(Clone, Debug, PartialEq)]
pub enum CountColumn {
    /// Integers, and also a column without values.
    Integers(Vec<Option<i64>>),
    /// Numbers, such as sums of weights.
    Numbers(Vec<Option<f64>>),
    /// Values of other types or of several types, such as the two counts of a ratio.
    Json(Vec<Option<Value>>),
}

impl SampleTable {
    /// Adds an example at the end.
    pub fn push(&mut self, sample: &Sample) {
        let rows = self.len();
        self.ids.push(sample.id.clone());
        if sample.part.is_some() || !self.parts.is_empty() {
            self.parts.resize(rows, None);
            self.parts.push(sample.part.clone());
        }
        for (index, (name, score)) in sample.scores.iter().enumerate() {
            let column = column(&mut self.scores, index, name);
            column.resize(rows, None);
            column.push(*score);
        }
        let counts = sample.counts.iter().chain(&sample.values);
        for (index, (name, count)) in counts.enumerate() {
            let column = column(&mut self.counts, index, name);
            column.fill(rows);
            column.push(count);
        }
        self.fill(rows + 1);
    }

    /// Adds the examples of another table at the end.
    pub fn append(&mut self, other: Self) {
        let rows = self.len();
        self.ids.extend(other.ids);
        if !other.parts.is_empty() || !self.parts.is_empty() {
            self.parts.resize(rows, None);
            self.parts.extend(other.parts);
        }
        for (index, (name, scores)) in other.scores.into_iter().enumerate() {
            let column = column(&mut self.scores, index, &name);
            column.resize(rows, None);
            column.extend(scores);
        }
        for (index, (name, counts)) in other.counts.into_iter().enumerate() {
            let column = column(&mut self.counts, index, &name);
            column.fill(rows);
            column.append(counts);
        }
        self.fill(self.len());
    }

    /// Ends each column with nulls where it is shorter.
    fn fill(&mut self, rows: usize) {
        if !self.parts.is_empty() {
            self.parts.resize(rows, None);
        }
        for (_, column) in &mut self.scores {
            column.resize(rows, None);
        }
        for (_, column) in &mut self.counts {
            column.fill(rows);
        }
    }

    /// Returns the number of examples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there are no examples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the id of each example's record.
    #[must_use]
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Returns the part of its record that each example is; `None` if no record has several examples.
    #[must_use]
    pub fn parts(&self) -> Option<&[Option<String>]> {
        (!self.parts.is_empty()).then_some(&*self.parts)
    }

    /// Returns the scores by name.
    #[must_use]
    pub fn scores(&self) -> &[(String, Vec<Option<f64>>)] {
        &self.scores
    }

    /// Returns the counts by name, and after them what else is said of examples.
    #[must_use]
    pub fn counts(&self) -> &[(String, CountColumn)] {
        &self.counts
    }

    /// Returns the column of a score.
    #[must_use]
    pub fn score(&self, name: &str) -> Option<&[Option<f64>]> {
        let column = self.scores.iter().find(|(score, _)| score == name);
        column.map(|(_, column)| column.as_slice())
    }

    /// Returns the column of a count.
    #[must_use]
    pub fn count(&self, name: &str) -> Option<&CountColumn> {
        let column = self.counts.iter().find(|(count, _)| count == name);
        column.map(|(_, column)| column)
    }
}

impl<'s> FromIterator<&'s Sample> for SampleTable {
    fn from_iter<I: IntoIterator<Item = &'s Sample>>(samples: I) -> Self {
        let mut table = Self::default();
        samples.into_iter().for_each(|sample| table.push(sample));
        table
    }
}

/// The column of this name, which is nearly always at this index.
fn column<'c, C: Default>(columns: &'c mut Named<C>, index: usize, name: &str) -> &'c mut C {
    let is_here = columns.get(index).is_some_and(|(here, _)| here == name);
    let found = if is_here {
        Some(index)
    } else {
        columns.iter().position(|(here, _)| here == name)
    };
    let index = found.unwrap_or_else(|| {
        columns.push((name.to_owned(), C::default()));
        columns.len() - 1
    });
    &mut columns[index].1
}

impl Default for CountColumn {
    fn default() -> Self {
        Self::Integers(Vec::new())
    }
}

impl CountColumn {
    /// Returns the number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(cells) => cells.len(),
            Self::Numbers(cells) => cells.len(),
            Self::Json(cells) => cells.len(),
        }
    }

    /// Returns whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value at an index, counted from 0; `None` for a null and after the last cell.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<Value> {
        match self {
            Self::Integers(cells) => cells.get(row).copied().flatten().map(Value::from),
            Self::Numbers(cells) => cells.get(row).copied().flatten().map(Value::from),
            Self::Json(cells) => cells.get(row).cloned().flatten(),
        }
    }

    fn fill(&mut self, rows: usize) {
        match self {
            Self::Integers(cells) => cells.resize(rows, None),
            Self::Numbers(cells) => cells.resize(rows, None),
            Self::Json(cells) => cells.resize(rows, None),
        }
    }

    fn push(&mut self, count: &Value) {
        match self {
            Self::Integers(cells) if is_integer(count) => cells.push(count.as_i64()),
            Self::Numbers(cells) if count.is_f64() => cells.push(count.as_f64()),
            Self::Json(cells) => cells.push(Some(count.clone()).filter(|count| !count.is_null())),
            _ if count.is_null() => self.fill(self.len() + 1),
            Self::Integers(cells) if count.is_f64() && cells.iter().all(Option::is_none) => {
                *self = Self::Numbers(vec![None; cells.len()]);
                self.push(count);
            }
            _ => {
                *self = Self::Json((0..self.len()).map(|row| self.get(row)).collect());
                self.push(count);
            }
        }
    }

    fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Integers(cells), Self::Integers(others)) => cells.extend(others),
            (Self::Numbers(cells), Self::Numbers(others)) => cells.extend(others),
            (Self::Json(cells), Self::Json(others)) => cells.extend(others),
            (column, other) => {
                for row in 0..other.len() {
                    column.push(&other.get(row).unwrap_or(Value::Null));
                }
            }
        }
    }
}

fn is_integer(count: &Value) -> bool {
    count.as_i64().is_some()
}

/// Collects the scores of each example of a run over files: an [`Observer`] for
/// [`Run::score_observed`](crate::Run::score_observed).
///
/// Each metric has a table of its own. Metrics of one name share a table.
///
/// ```
/// use metric_run::registry::{Options, find};
/// use metric_run::{Data, Format, Run, SampleCollector, Source};
///
/// # #[cfg(feature = "text")] {
/// let entry = find("string-accuracy").ok_or("not there")?;
/// let mut run = Run::new(entry, &Options::default())?;
/// run.samples = true;
/// let references = r#"{"id": "a", "reference": "cat"}"#;
/// let predictions = r#"{"id": "a", "prediction": "dog"}"#;
/// let data = Data::Sources {
///     references: Source::memory("references", references.as_bytes(), Format::JsonLines),
///     predictions: Source::memory("predictions", predictions.as_bytes(), Format::JsonLines),
/// };
/// let collector = SampleCollector::default();
/// run.score_observed(data, &collector)?;
/// let tables = collector.into_tables();
/// assert_eq!(tables[0].0, "string-accuracy");
/// assert_eq!(tables[0].1.score("string_accuracy"), Some(&[Some(0.0)][..]));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct SampleCollector {
    tables: Mutex<Named<SampleTable>>,
}

impl SampleCollector {
    /// Returns the tables by metric, in the order in which metrics first had an example.
    #[must_use]
    pub fn into_tables(self) -> Named<SampleTable> {
        let tables = self.tables.into_inner();
        tables.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for SampleCollector {
    fn sample(&self, metric: &str, sample: &Sample) -> Result<(), ObserverError> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        column(&mut tables, 0, metric).push(sample);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample(part: Option<&str>, scores: &[(&str, Option<f64>)], counts: Value) -> Sample {
        let counts = counts.as_object().cloned().unwrap_or_default();
        let named = |(name, score): &(&str, Option<f64>)| ((*name).to_owned(), *score);
        Sample {
            inputs: None,
            values: Vec::new(),
            record: 0,
            id: "a".to_owned(),
            part: part.map(str::to_owned),
            scores: scores.iter().map(named).collect(),
            counts: counts.into_iter().collect(),
        }
    }

    #[test]
    fn cells_that_examples_lack_are_null() {
        let samples = [
            sample(None, &[("f1", None)], json!({"tp": 3})),
            sample(Some("x"), &[("em", Some(0.5))], json!({"pairs": [1, 2]})),
            sample(None, &[("f1", Some(1.0)), ("em", Some(0.0))], json!({})),
        ];
        let table: SampleTable = samples.iter().collect();
        assert_eq!(table.ids(), ["a"; 3]);
        let parts = [None, Some("x".to_owned()), None];
        assert_eq!(table.parts(), Some(&parts[..]));
        assert_eq!(table.score("f1"), Some(&[None, None, Some(1.0)][..]));
        assert_eq!(table.score("em"), Some(&[None, Some(0.5), Some(0.0)][..]));
        let counts = CountColumn::Integers(vec![Some(3), None, None]);
        assert_eq!(table.count("tp"), Some(&counts));
        let pairs = CountColumn::Json(vec![None, Some(json!([1, 2])), None]);
        assert_eq!(table.count("pairs"), Some(&pairs));
        let names: Vec<_> = table.scores().iter().map(|it| &*it.0).collect();
        assert_eq!(names, ["f1", "em"]);
    }

    /// Any division into tables gives one table.
    #[test]
    fn types_do_not_depend_on_the_division() {
        let counts = [
            json!({}),
            json!({"n": 3}),
            json!({"n": null}),
            json!({"n": 0.5}),
            json!({"n": [1, 2]}),
            json!({"n": u64::MAX}),
            json!({"m": 1.0, "n": 4}),
        ];
        for order in 0..counts.len() {
            let mut counts = counts.clone();
            counts.rotate_left(order);
            let sample = |(row, counts): (usize, &Value)| {
                let part = (row == 2).then_some("x");
                sample(part, &[("f1", Some(row as f64))], counts.clone())
            };
            let samples: Vec<_> = counts.iter().enumerate().map(sample).collect();
            for end in 0..=samples.len() {
                let whole: SampleTable = samples[..end].iter().collect();
                for cut in 0..=end {
                    let mut parts: SampleTable = samples[..cut].iter().collect();
                    parts.append(samples[cut..end].iter().collect());
                    assert_eq!(parts, whole, "{order} {cut} {end}");
                }
            }
        }
    }
}
