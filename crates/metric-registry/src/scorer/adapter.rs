//! A reading as a scorer.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use metric_record::{Batch, FieldError, Kind, Message, Missing, ReadError, Record, RecordError};

use super::Scorer;
use super::held::{Held, Read};
use super::state::{Part, State};
use crate::compared_texts::ComparedTexts;
use crate::data_set::DataSet;
use crate::definition::{Definition, Prepare, signature};
use crate::drawing::{Draw, Drawing};
use crate::error::{DataSetError, StateError};
use crate::plan::{Described, Plan};
use crate::reading::{Gathered, Header, Reading, Sink, WantedInputs, missing_is_correct};

/// Returns a [`Reading`] as a [`Scorer`]: what the `build` function of an entry gives.
pub fn scorer<R: Reading>(metric: &str, version: &str, reading: R) -> Box<dyn Scorer> {
    scorer_after(metric, version, reading, None, Vec::new())
}

/// The same of a reading whose records are prepared first, with warnings about its options.
pub(crate) fn scorer_after<R: Reading>(
    metric: &str,
    version: &str,
    reading: R,
    before: Option<Box<dyn Prepare>>,
    warnings: Vec<Message>,
) -> Box<dyn Scorer> {
    let mut parts = reading.signature();
    parts.extend(before.iter().flat_map(|before| before.signature()));
    let signature = signature(metric, &parts, version);
    Box::new(Adapter {
        definition: Arc::new(Definition {
            reading,
            signature,
            before,
            warnings,
        }),
    })
}

/// Reads into a sink, if it has a way to.
type ReadInto<'r, R> = dyn FnMut(&mut Sink<'_, R>) -> Option<Result<(), RecordError>> + 'r;

struct Adapter<R> {
    definition: Arc<Definition<R>>,
}

impl<R: Reading> Scorer for Adapter<R>
where
    R::Header: Header,
{
    fn signature(&self) -> &str {
        &self.definition.signature
    }

    fn start(&self) -> State {
        State(Box::new(Held::new(&self.definition)))
    }

    fn read(&self, state: &State, records: &mut [Record<'_>], samples: bool) -> Part {
        self.part(state, samples, &mut |sink| {
            let mut records = records.iter_mut().enumerate();
            records.try_for_each(|(index, record)| self.read_record(index, record, sink))
        })
    }

    fn read_more(&self, part: &mut Part, first: usize, records: &mut [Record<'_>]) {
        self.add_to(part, first, &mut |sink| {
            let mut records = (first..).zip(&mut *records);
            Some(records.try_for_each(|(index, record)| self.read_record(index, record, sink)))
        });
    }

    fn read_more_columns(&self, part: &mut Part, first: usize, batch: &Batch<'_>) -> bool {
        self.add_to(part, first, &mut |sink| {
            let read = self.read_as_columns(batch, sink)?;
            Some(read.map_err(|error| RecordError {
                index: first + error.index,
                ..error
            }))
        })
    }

    fn read_columns(&self, state: &State, batch: &Batch<'_>, samples: bool) -> Part {
        self.part(state, samples, &mut |sink| {
            let read = self.read_as_columns(batch, sink);
            read.unwrap_or_else(|| self.read_rows(batch, sink))
        })
    }

    fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        match self.definition.before {
            Some(_) => None,
            None => self.definition.reading.score_texts(pairs),
        }
    }

    fn read_data_set(&self, data: DataSet, samples: bool) -> Result<Part, DataSetError> {
        let reading = &self.definition.reading;
        if let Some(before) = &self.definition.before {
            return Err(goes_with_records(&**before, data.references.name));
        }
        let Some(reader) = reading.data_sets() else {
            return Err(of_file(data.references.name, NO_DATA_SETS.into()));
        };
        let name = data.references.name.clone();
        let mut gathered = Gathered::new(R::Header::default(), samples, Arc::clone(&data.plan));
        if data.inputs {
            // Values are shown without fields where there are none.
            let fields = reader.fields(&data).ok().flatten();
            gathered.inputs = Some(WantedInputs {
                fields: fields.unwrap_or_default(),
                ..WantedInputs::default()
            });
        }
        let mut sink = Sink::new(reading, &mut gathered);
        // The files no longer exist when the worst are known.
        sink.names_all |= data.plan.ranking.is_some();
        if data.plan.needs_fields() {
            let fields = reader.fields(&data)?;
            sink.fields = fields.ok_or_else(|| of_file(name.clone(), NO_FIELDS.into()))?;
        }
        reader.read_data_set(data, &mut sink)?;
        if let Some(problem) = gathered.problem.take() {
            return Err(of_file(name, problem));
        }
        Ok(Part(Box::new(Read {
            definition: Arc::clone(&self.definition),
            gathered,
            error: None,
        })))
    }

    fn read_state(&self, body: &[u8]) -> Result<State, StateError> {
        let held = Held::from_body(&self.definition, body)?;
        let state = State(Box::new(held));
        // A key twice, rows out of order, or bytes after the end: nothing that `body` writes.
        if state.body()? == body {
            Ok(state)
        } else {
            Err(StateError::not_canonical())
        }
    }

    fn has_proportions(&self) -> bool {
        self.definition.reading.has_proportions()
    }

    fn further_fields(&self) -> Vec<String> {
        self.definition.reading.further_fields()
    }

    fn ranking_score(&self) -> Option<String> {
        self.definition.reading.ranking_score()
    }

    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        let reading = &self.definition.reading;
        let Some(before) = &self.definition.before else {
            return reading.compared(record);
        };
        let prepared = before.prepare(record).ok()?;
        let compared = reading.compared(&mut prepared.record(record.view()))?;
        Some(compared.given_as(reading.compared(record)?))
    }

    fn pictures(&self) -> Option<&dyn Draw> {
        self.definition
            .reading
            .pictures()
            .map(|_| self as &dyn Draw)
    }
}

/// Draws what is scored: records are prepared as they are for scores.
impl<R: Reading> Draw for Adapter<R> {
    fn draws(&self, drawing: Drawing) -> bool {
        let draw = self.definition.reading.pictures();
        draw.is_some_and(|draw| draw.draws(drawing))
    }

    fn picture(&self, record: &mut Record<'_>, drawing: Drawing) -> Result<String, FieldError> {
        let Some(draw) = self.definition.reading.pictures() else {
            return Ok(String::new());
        };
        let Some(before) = &self.definition.before else {
            return draw.picture(record, drawing);
        };
        let prepared = before.prepare(record)?;
        draw.picture(&mut prepared.record(record.view()), drawing)
    }

    fn draw_data_set(
        &self,
        data: DataSet,
        drawing: Drawing,
        put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DataSetError> {
        let draw = self.definition.reading.pictures();
        draw.map_or(Ok(()), |draw| draw.draw_data_set(data, drawing, put))
    }
}

impl<R: Reading> Adapter<R> {
    /// The part of what `read` puts into a sink.
    fn part(
        &self,
        state: &State,
        samples: bool,
        read: &mut dyn FnMut(&mut Sink<'_, R>) -> Result<(), RecordError>,
    ) -> Part {
        let state: &dyn Any = &*state.0;
        // The header of another metric's state is of no use here; adding the part will fail.
        let state = state.downcast_ref::<Held<R>>();
        let header = state.map_or_else(R::Header::default, |state| state.header.clone());
        let plan = state.map_or_else(Arc::default, |state| Arc::clone(&state.plan));
        let mut gathered = Gathered::new(header, samples, plan);
        let error = read(&mut Sink::new(&self.definition.reading, &mut gathered));
        Part(Box::new(Read {
            definition: Arc::clone(&self.definition),
            gathered,
            error: error.err(),
        }))
    }

    /// Adds what `read` puts into a sink to a part, whose next record has this index. Returns whether it read anything.
    fn add_to(&self, part: &mut Part, first: usize, read: &mut ReadInto<'_, R>) -> bool {
        let part: &mut dyn Any = &mut *part.0;
        // A part of another metric is refused where it is added.
        let Some(part) = part.downcast_mut::<Read<R>>() else {
            return true;
        };
        let mut sink = Sink::new(&self.definition.reading, &mut part.gathered);
        (sink.first, sink.index) = (first, first);
        let read = read(&mut sink);
        if let (None, Some(Err(error))) = (&part.error, &read) {
            part.error = Some(error.clone());
        }
        read.is_some()
    }

    /// Reads a batch as columns; `None` if there is no such way.
    fn read_as_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, R>,
    ) -> Option<Result<(), RecordError>> {
        // The records of a plan have further fields.
        let as_rows = self.definition.before.is_some() || !sink.gathered.plan.is_empty();
        let reading = &self.definition.reading;
        (!as_rows).then(|| reading.read_columns(batch, sink))?
    }

    fn read_record(
        &self,
        index: usize,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, R>,
    ) -> Result<(), RecordError> {
        let Some(before) = &self.definition.before else {
            return self.read_prepared(index, record, sink);
        };
        let prepared = before.prepare(record);
        let prepared = prepared.map_err(|error| RecordError { index, error })?;
        self.read_prepared(index, &mut prepared.record(record.view()), sink)?;
        if let Some(note) = &prepared.note {
            sink.count_record(note, record.id);
        }
        Ok(())
    }

    fn read_prepared(
        &self,
        index: usize,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, R>,
    ) -> Result<(), RecordError> {
        let reading = &self.definition.reading;
        sink.record(record.id);
        if sink.has_plan && !sink.gathered.plan.holds(&sink.id) {
            return Ok(());
        }
        let is_missing = record.prediction.is_missing();
        let is_skipped = is_missing && record.join.missing == Missing::Skip;
        if sink.has_plan && (!is_skipped || sink.gathered.plan.counts_slices) {
            let described = describe(&sink.gathered.plan, &sink.id, record);
            sink.described = described.map_err(|error| RecordError { index, error })?;
        }
        if is_missing {
            sink.missing(reading.examples_in(record));
        }
        if is_skipped {
            return Ok(());
        }
        if is_missing && record.join.missing == Missing::Empty && reading.is_empty_correct(record) {
            sink.count_record(&missing_is_correct(), record.id);
        }
        reading
            .read(record, sink)
            .map_err(|error| RecordError { index, error })
    }

    /// Reads the records of a batch one by one.
    fn read_rows(&self, batch: &Batch<'_>, sink: &mut Sink<'_, R>) -> Result<(), RecordError> {
        let mut fields = String::new();
        for index in 0..batch.len() {
            let record = batch.record_with_fields(index, &mut fields);
            let record = record.map_err(|error| RecordError { index, error })?;
            if let Some(mut record) = record {
                self.read_record(index, &mut record, sink)?;
            }
        }
        Ok(())
    }
}

const NO_DATA_SETS: &str = "this metric reads records, not whole files";

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
