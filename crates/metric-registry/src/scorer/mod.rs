//! A metric with its options, whatever the metric: it reads records into states, and scores those.

mod state;

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use metric_core::Reader;
use metric_record::{
    Batch, Column, FieldError, JoinPolicy, Kind, Message, Missing, ReadError, Record, RecordError,
    Side, json,
};

pub use state::{Part, Sample, State};

use crate::data_set::DataSet;
use crate::definition::{Definition, Prepare, signature};
use crate::error::{DataSetError, StateError};
use crate::fields::objects_of;
use crate::plan::{Described, Plan};
use crate::reading::{Counted, Gathered, Reading, WantedInputs, missing_is_correct};
use crate::show::{ComparedTexts, Drawing, Show};

/// A metric with its options.
///
/// A scorer holds the definition and nothing of any data: it can read any number of data sets, on any
/// number of threads.
#[derive(Clone)]
pub struct Scorer {
    definition: Arc<Definition>,
}

impl fmt::Debug for Scorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scorer").field(&self.signature()).finish()
    }
}

/// Returns a [`Reading`] as a [`Scorer`]: what the `build` function of an entry gives.
pub fn scorer<R: Reading>(metric: &str, version: &str, reading: R) -> Scorer {
    scorer_after(metric, version, reading, None, Vec::new())
}

/// The same of a reading whose records are prepared first, with warnings about its options.
pub(crate) fn scorer_after<R: Reading>(
    metric: &str,
    version: &str,
    reading: R,
    before: Option<Box<dyn Prepare>>,
    warnings: Vec<Message>,
) -> Scorer {
    let mut facts = reading.facts();
    let of_steps = before.iter().flat_map(|before| before.signature());
    facts.signature.extend(of_steps);
    Scorer {
        definition: Arc::new(Definition {
            signature: signature(metric, &facts.signature, version),
            facts,
            kind: TypeId::of::<R>(),
            reading: Box::new(reading),
            before,
            warnings,
        }),
    }
}

/// Reads what is gathered, if there is a way to.
type ReadInto<'r> = dyn FnMut(&mut Gathered) -> Option<Result<(), RecordError>> + 'r;

impl Scorer {
    /// Returns what the scores are computed under: metric, options that matter, version.
    pub fn signature(&self) -> &str {
        &self.definition.signature
    }

    /// Returns the state of no examples.
    pub fn start(&self) -> State {
        State::new(&self.definition)
    }

    /// Reads records into a part, which [`State::add`] adds to a state. Parts can be read in parallel.
    /// `state` is the state so far: what it knows of the data set also holds for the part.
    pub fn read(&self, state: &State, records: &mut [Record<'_>], samples: bool) -> Part {
        self.part(state, samples, &mut |gathered| {
            let mut records = records.iter_mut().enumerate();
            records.try_for_each(|(index, record)| self.read_record(index, record, gathered))
        })
    }

    /// Reads further records into a part that this scorer read. `first` is the index of the first of them, for errors
    /// and samples. A record that cannot be read ends the reading, and the part has that error for good.
    ///
    /// ```
    /// # #[cfg(feature = "text")] {
    /// use metric_registry::record::{Record, Value};
    /// use metric_registry::{Options, find};
    ///
    /// let entry = find("string-accuracy").ok_or("not there")?;
    /// let scorer = entry.scorer(&Options::default())?;
    /// let mut state = scorer.start();
    /// let record = |id, prediction| Record::new(id, Value::line(prediction), Value::line("a"));
    /// let mut part = scorer.read(&state, &mut [record("1", "a")], false);
    /// scorer.read_more(&mut part, 1, &mut [record("2", "b"), record("3", "a")]);
    /// state.add(&mut part)?;
    /// assert_eq!(state.report().score("string_accuracy"), Some(2.0 / 3.0));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_more(&self, part: &mut Part, first: usize, records: &mut [Record<'_>]) {
        self.add_to(part, first, &mut |gathered| {
            let mut records = (first..).zip(&mut *records);
            Some(records.try_for_each(|(index, record)| self.read_record(index, record, gathered)))
        });
    }

    /// Reads the records of a further batch into a part that this scorer read, if the metric has a path for columns of
    /// these types. Returns whether it has; if not, nothing was read. `first` is the index of the first record, and an
    /// error ends the reading, as in [`read_more`](Self::read_more).
    ///
    /// ```
    /// # #[cfg(feature = "text")] {
    /// use metric_registry::record::{Batch, Column, Ids, Texts};
    /// use metric_registry::{Options, find};
    ///
    /// let lines = |lines| Column::Lines(Texts::from(lines));
    /// let batch = Batch::new(Ids::Positions(1), lines(&["a", "b"][..]), lines(&["a", "c"]), vec![])?;
    /// let scorer = find("string-accuracy").ok_or("not there")?.scorer(&Options::default())?;
    /// let mut state = scorer.start();
    /// let mut part = scorer.read(&state, &mut [], false);
    /// assert!(scorer.read_more_columns(&mut part, 0, &batch));
    /// state.add(&mut part)?;
    /// assert_eq!(state.report().score("string_accuracy"), Some(0.5));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_more_columns(&self, part: &mut Part, first: usize, batch: &Batch<'_>) -> bool {
        self.add_to(part, first, &mut |gathered| {
            let read = self.read_as_columns(batch, gathered)?;
            Some(read.map_err(|error| RecordError {
                index: first + error.index,
                ..error
            }))
        })
    }

    /// Reads a batch of columns into a part: what [`read`](Self::read) reads of its records, but faster where
    /// the metric has a path for columns of these types.
    ///
    /// ```
    /// # #[cfg(feature = "class")] {
    /// use metric_registry::record::{Batch, Cells, Column, Ids};
    /// use metric_registry::{Options, find};
    ///
    /// let labels = |labels| Column::Integers(Cells::from(labels));
    /// let batch = Batch::new(Ids::Positions(1), labels(&[3, 1, 2][..]), labels(&[3, 2, 2]), vec![])?;
    /// let entry = find("classification").ok_or("not there")?;
    /// let scorer = entry.scorer(&Options::default())?;
    /// let mut state = scorer.start();
    /// let mut part = scorer.read_columns(&state, &batch, false);
    /// state.add(&mut part)?;
    /// assert_eq!(state.report().score("accuracy"), Some(2.0 / 3.0));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_columns(&self, state: &State, batch: &Batch<'_>, samples: bool) -> Part {
        self.part(state, samples, &mut |gathered| {
            let read = self.read_as_columns(batch, gathered);
            read.unwrap_or_else(|| self.read_rows(batch, gathered))
        })
    }

    /// Returns the scores of pairs of a prediction and a reference, in the order in which the entry lists them,
    /// without a state: for calls with a few texts, where a state and a report take longer than the scores. `None`
    /// if the metric has no such way, or if a pair is not for it.
    ///
    /// ```
    /// # #[cfg(feature = "text")] {
    /// use metric_registry::{Options, find};
    ///
    /// let scorer = find("string-accuracy").ok_or("not there")?.scorer(&Options::default())?;
    /// assert_eq!(scorer.score_texts(&[("a", "a"), ("b", "c")]), Some(vec![Some(0.5)]));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        match self.definition.before {
            Some(_) => None,
            None => self.definition.reading.score_texts(pairs),
        }
    }

    /// Reads a data set that is given as files or folders of the metric's own format.
    ///
    /// # Errors
    ///
    /// Returns an error if a document cannot be read, if the two sides do not join, or if the metric only
    /// takes records.
    pub fn read_data_set(&self, data: DataSet, samples: bool) -> Result<Part, DataSetError> {
        let reading = &self.definition.reading;
        let name = data.references.name.clone();
        if let Some(before) = &self.definition.before {
            return Err(goes_with_records(&**before, name));
        }
        let mut gathered = Gathered::new(reading.header(), samples, Arc::clone(&data.plan));
        if data.inputs {
            // Values are shown without fields where there are none.
            gathered.inputs = Some(WantedInputs {
                fields: self.fields(&data).ok().flatten().unwrap_or_default(),
                ..WantedInputs::default()
            });
        }
        // The files no longer exist when the worst are known.
        gathered.names_all |= data.plan.ranking.is_some();
        if data.plan.needs_fields() {
            let fields = self.fields(&data)?;
            gathered.fields = fields.ok_or_else(|| of_file(name.clone(), NO_FIELDS.into()))?;
        }
        reading.read_data_set(data, &mut gathered)?;
        if let Some(problem) = gathered.problem.take() {
            return Err(of_file(name, problem));
        }
        Ok(Part::new(&self.definition, gathered, None))
    }

    /// Reads the body of a state that [`State::body`] wrote.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not the body of a state of this metric.
    pub fn read_state(&self, body: &[u8]) -> Result<State, StateError> {
        let state = State::read(&self.definition, &mut Reader::new(body))?;
        // A key twice, rows out of order, or bytes after the end: nothing that `body` writes.
        if state.body()? == body {
            Ok(state)
        } else {
            Err(StateError::not_canonical())
        }
    }

    /// Whether the scores that the entry declares as proportions are proportions under these options.
    pub fn has_proportions(&self) -> bool {
        self.definition.facts.has_proportions
    }

    /// Returns the field whose values tell which records are the samples of one example, if records are samples.
    pub fn group_field(&self) -> Option<&str> {
        self.definition.facts.group_field.as_deref()
    }

    /// Returns the names of the further fields of a record that the metric looks for among the references.
    pub fn further_fields(&self) -> &[String] {
        &self.definition.facts.further_fields
    }

    /// Returns the name of the score that ranks examples, unless another one is requested; `None` for the first that has
    /// a direction.
    pub fn ranking_score(&self) -> Option<&str> {
        self.definition.facts.ranking_score.as_deref()
    }

    /// Returns the objects of the references by id, whose fields tell clusters and slices apart.
    fn fields(&self, data: &DataSet) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        objects_of(data, self.definition.facts.objects)
    }

    /// The part of what `read` gathers.
    fn part(
        &self,
        state: &State,
        samples: bool,
        read: &mut dyn FnMut(&mut Gathered) -> Result<(), RecordError>,
    ) -> Part {
        // The header of another metric's state is of no use here; adding the part will fail.
        let (header, plan) = if state.is_of(&self.definition) {
            state.header_and_plan()
        } else {
            (self.definition.reading.header(), Arc::default())
        };
        let mut gathered = Gathered::new(header, samples, plan);
        let error = read(&mut gathered);
        Part::new(&self.definition, gathered, error.err())
    }

    /// Adds what `read` gathers to a part, whose next record has this index. Returns whether it read anything.
    fn add_to(&self, part: &mut Part, first: usize, read: &mut ReadInto<'_>) -> bool {
        // A part of another metric is refused where it is added.
        if !part.definition.is_same(&self.definition) {
            return true;
        }
        part.gathered.start_at(first);
        let read = read(&mut part.gathered);
        if let (None, Some(Err(error))) = (&part.error, &read) {
            part.error = Some(error.clone());
        }
        read.is_some()
    }

    /// Reads a batch as columns; `None` if there is no such way.
    fn read_as_columns(
        &self,
        batch: &Batch<'_>,
        gathered: &mut Gathered,
    ) -> Option<Result<(), RecordError>> {
        // The records of a plan have further fields.
        let as_rows =
            self.definition.before.is_some() || !gathered.plan.is_empty() || reads_otherwise(batch);
        let reading = &self.definition.reading;
        let read = (!as_rows).then(|| reading.read_columns(batch, gathered))??;
        Some(read.map_err(
            |error| match batch.record_with_fields(error.index, &mut String::new()) {
                Ok(Some(record)) => explained(error, &record),
                _ => error,
            },
        ))
    }

    fn read_record(
        &self,
        index: usize,
        record: &mut Record<'_>,
        gathered: &mut Gathered,
    ) -> Result<(), RecordError> {
        let policy = record.join;
        if policy.of_null() == Missing::Error && !policy.as_text {
            let read = self.read_taken(index, record, false, gathered);
            return read.map_err(|error| explained(error, record));
        }
        let mut texts = Default::default();
        let mut taken = record.taken(&mut texts);
        let is_null = taken.prediction.is_missing() && !record.prediction.is_missing();
        let read = self.read_taken(index, &mut taken, is_null, gathered);
        read.map_err(|error| explained(error, record))?;
        if is_null && (!gathered.has_plan || gathered.plan.holds(&gathered.id)) {
            gathered.count_record(&null_prediction(policy.of_null()), record.id);
        }
        Ok(())
    }

    /// Reads a record as it is taken under its policy: a prediction that is null may be a missing one.
    fn read_taken(
        &self,
        index: usize,
        record: &mut Record<'_>,
        is_null: bool,
        gathered: &mut Gathered,
    ) -> Result<(), RecordError> {
        let Some(before) = &self.definition.before else {
            return self.read_prepared(index, record, is_null, gathered);
        };
        let prepared = before.prepare(record);
        let prepared = prepared.map_err(|error| RecordError { index, error })?;
        let mut ready = prepared.record(record.view());
        let is_null = is_null || prepared.is_missing;
        self.read_prepared(index, &mut ready, is_null, gathered)?;
        if let Some(note) = &prepared.note {
            gathered.count_record(note, record.id);
        }
        Ok(())
    }

    fn read_prepared(
        &self,
        index: usize,
        record: &mut Record<'_>,
        is_null: bool,
        gathered: &mut Gathered,
    ) -> Result<(), RecordError> {
        let reading = &self.definition.reading;
        gathered.record(record.id);
        if gathered.has_plan && !gathered.plan.holds(&gathered.id) {
            return Ok(());
        }
        let is_missing = record.prediction.is_missing();
        let is_skipped = is_missing && record.join.missing == Missing::Skip;
        if gathered.has_plan && (!is_skipped || gathered.plan.counts_slices) {
            let described = describe(&gathered.plan, &gathered.id, record);
            gathered.described = described.map_err(|error| RecordError { index, error })?;
        }
        if is_missing {
            let unanswered = reading.unanswered(record);
            if !is_null {
                gathered.missing(unanswered.examples);
            }
            if unanswered.is_correct && record.join.missing == Missing::Empty {
                gathered.count_record(&missing_is_correct(), record.id);
            }
        }
        if is_skipped {
            return Ok(());
        }
        reading
            .read(record, gathered)
            .map_err(|error| RecordError { index, error })
    }

    /// Reads the records of a batch one by one.
    fn read_rows(&self, batch: &Batch<'_>, gathered: &mut Gathered) -> Result<(), RecordError> {
        let mut fields = String::new();
        for index in 0..batch.len() {
            let record = batch.record_with_fields(index, &mut fields);
            let record = record.map_err(|error| RecordError { index, error })?;
            if let Some(mut record) = record {
                self.read_record(index, &mut record, gathered)?;
            }
        }
        Ok(())
    }
}

/// Shows what is scored: records are prepared as they are for scores.
impl Show for Scorer {
    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        let show = self.definition.reading.show();
        let Some(before) = &self.definition.before else {
            return show.compared(record);
        };
        let prepared = before.prepare(record).ok()?;
        let compared = show.compared(&mut prepared.record(record.view()))?;
        Some(compared.given_as(show.compared(record)?))
    }

    fn inputs(&self, record: &mut Record<'_>) -> Option<[String; 2]> {
        self.definition.reading.show().inputs(record)
    }

    fn picture(&self, record: &mut Record<'_>, drawing: Drawing) -> Result<String, FieldError> {
        let show = self.definition.reading.show();
        let Some(before) = &self.definition.before else {
            return show.picture(record, drawing);
        };
        let prepared = before.prepare(record)?;
        show.picture(&mut prepared.record(record.view()), drawing)
    }

    fn draw_data_set(
        &self,
        data: DataSet,
        drawing: Drawing,
        put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DataSetError> {
        let show = self.definition.reading.show();
        show.draw_data_set(data, drawing, put)
    }
}

/// Whether records of a batch have a prediction that is null, or numbers, that are read in another way.
fn reads_otherwise(batch: &Batch<'_>) -> bool {
    let policy = batch.join();
    let sides = [batch.predictions(), batch.references()];
    let are_texts = |column: &Column<'_>| matches!(column, Column::Texts(_) | Column::Lines(_));
    if policy.as_text && !sides.into_iter().all(are_texts) {
        return true;
    }
    let is_null = |row: usize| sides[0].value(row).kind() == Kind::Null;
    policy.of_null() != Missing::Error && (0..batch.len()).any(is_null)
}

/// The note of a prediction that is null and does not count as an error.
fn null_prediction(rule: Missing) -> Counted {
    let so = |was: &str| match rule {
        Missing::Skip => format!("{was} left out"),
        _ => format!("{was} scored as empty"),
    };
    Counted::new(
        format!("prediction is null and {}", so("was")),
        format!("predictions are null and {}", so("were")),
    )
}

/// An error about a value with the options that take it: a prediction that is null, or a number in the place of a text.
fn explained(mut error: RecordError, record: &Record<'_>) -> RecordError {
    let FieldError { side, problem, .. } = &error.error;
    let problem = problem.clone();
    let is_prediction = *side == Side::Prediction;
    if is_prediction && record.prediction.kind() == Kind::Null {
        error.error.problem = JoinPolicy::with_options_of_null(problem);
    } else if problem.to_string().contains(json::WRITE_IT_AS) {
        let problem = problem.text(", or take all values as they are written, with ");
        error.error.problem = problem.option("as-text", "");
    }
    error
}

const NO_FIELDS: &str = "the examples of these files have no further fields";

/// The error about a file of references.
fn of_file(name: String, problem: Message) -> DataSetError {
    ReadError::new(name, problem).into()
}

/// The error about the preparation of records that does not go with a data set.
fn goes_with_records(before: &dyn Prepare, references: String) -> DataSetError {
    let name = before.signature().into_iter().next().unwrap_or_default().0;
    let problem = Message::default()
        .option(&name, "")
        .text(" goes with records: expected a file of records, such as JSON Lines");
    of_file(references, problem)
}

/// Returns what a plan wants of a record. In a map of ids to values, the fields are those of the value.
fn describe(plan: &Plan, id: &str, record: &Record<'_>) -> Result<Described, FieldError> {
    let value = match record.fields {
        None if plan.needs_fields() && record.reference.kind() == Kind::Object => {
            record.reference.clone().to_json_or("{}").ok()
        }
        fields => fields.map(Cow::Borrowed),
    };
    plan.describe(id, value.as_deref())
}
