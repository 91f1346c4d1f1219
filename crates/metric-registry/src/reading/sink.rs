//! The place where examples go as they are read.

use std::fmt;

use metric_core::{Merge, Metric};
use metric_record::{Batch, FieldError, RecordError, Side};

use super::any::{AnyState, downcast, downcast_mut};
use super::gathered::{Gathered, Measured, Ranked};
use super::notes::Counted;
use super::pool::Pool;
use super::{PairOf, Reading, StateOf};

/// The place to which [`Reading::read`] adds its examples.
///
/// Here are the loops that know the type of a state. All else is done by what is compiled once.
pub struct Sink<'a, R: Reading> {
    pub(crate) reading: &'a R,
    pub(crate) gathered: &'a mut Gathered,
}

impl<'a, R: Reading> Sink<'a, R> {
    pub(crate) fn new(reading: &'a R, gathered: &'a mut Gathered) -> Self {
        Self { reading, gathered }
    }

    /// Begins a record. In [`Reading::read`] the record has begun already.
    pub fn record(&mut self, id: impl fmt::Display) {
        self.gathered.record(id);
    }

    /// Begins the record of a batch at an index.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn row(&mut self, batch: &Batch<'_>, index: usize) {
        self.gathered.row(batch, index);
    }

    /// Reads the record of a batch at an index as [`Reading::read`] does, without further fields. Columns go
    /// this way where a cell is not what they are read for, and so have the same errors.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn read_row(&mut self, batch: &Batch<'_>, index: usize) -> Result<(), RecordError> {
        let reading = self.reading;
        let Some(mut record) = batch.record(index) else {
            return Ok(());
        };
        reading
            .read(&mut record, self)
            .map_err(|error| RecordError { index, error })
    }

    /// Reads the rows of a batch, of which each is an example: those from an index on that `together` adds to the state of all
    /// examples, of which it returns the number, and the next one by `alone`. Nothing is added together if other data of examples
    /// are requested.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn read_rows(
        &mut self,
        batch: &Batch<'_>,
        mut together: impl FnMut(&mut StateOf<R>, usize) -> usize,
        mut alone: impl FnMut(&mut Self, usize) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        let mut row = 0;
        while row < batch.len() {
            row += self.counted_together(|state| together(state, row));
            if row < batch.len() {
                self.row(batch, row);
                alone(self, row)?;
                row += 1;
            }
        }
        Ok(())
    }

    /// Returns the metric.
    #[must_use]
    pub fn metric(&self) -> &'a R::Metric {
        self.reading.metric()
    }

    /// Returns what the examples share, as far as it is known.
    #[must_use]
    pub fn header(&self) -> &R::Header {
        downcast(&*self.gathered.header)
    }

    /// The state of all examples.
    fn total(&mut self) -> &mut StateOf<R> {
        let total = self.gathered.pool.total.get_or_insert_with(empty::<R>);
        downcast_mut(&mut **total)
    }

    /// Says what the current record shares with all others.
    ///
    /// # Errors
    ///
    /// Returns an error about this side of the record if it differs from what earlier records said.
    pub fn share(&mut self, side: Side, header: R::Header) -> Result<(), FieldError> {
        if header == *self.header() {
            return Ok(());
        }
        let shared = self.gathered.share(self.reading, side, Box::new(header));
        shared.map_err(|problem| FieldError::new(side, problem))
    }

    /// Adds the record as one example.
    pub fn example(
        &mut self,
        prediction: &<R::Metric as Metric>::Prediction,
        reference: &<R::Metric as Metric>::Reference,
    ) {
        self.part(None, &[], prediction, reference);
    }

    /// Adds an example that is a part of the record, or that belongs to groups. A group is given by its
    /// kind and its name.
    pub fn part(
        &mut self,
        part: Option<&str>,
        groups: &[(&str, &str)],
        prediction: &<R::Metric as Metric>::Prediction,
        reference: &<R::Metric as Metric>::Reference,
    ) {
        let (reading, metric) = (self.reading, self.reading.metric());
        if self.gathered.plain && groups.is_empty() {
            self.gathered.pool.examples += 1;
            metric.update(self.total(), prediction, reference);
            return;
        }
        let pair = (prediction, reference);
        if groups.is_empty() && !self.needs_each() && self.add_ranked(part, pair).is_some() {
            return;
        }
        let mut state = metric.measure(prediction, reference);
        let closeness = |state: &dyn AnyState| reading.closeness(downcast(state), Some(pair));
        self.gathered
            .add_example(reading, part, groups, &mut state, &closeness);
    }

    /// Adds the record as one example, which `add` adds to a state: to that of all examples, if no others are
    /// requested.
    pub fn counted_in(&mut self, add: impl FnOnce(&mut StateOf<R>)) {
        if self.gathered.plain {
            self.gathered.pool.examples += 1;
            add(self.total());
            return;
        }
        let mut state = StateOf::<R>::default();
        add(&mut state);
        self.measured(None, &[], state);
    }

    /// Lets `add` add records to the state of all examples, one example for each, and returns their number; 0, without
    /// calling it, if other data of examples are requested.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    fn counted_together(&mut self, add: impl FnOnce(&mut StateOf<R>) -> usize) -> usize {
        if !self.gathered.plain {
            return 0;
        }
        let examples = add(self.total());
        self.gathered.pool.examples += examples as u64;
        examples
    }

    /// Adds the state of an example that was measured already.
    pub fn measured(&mut self, part: Option<&str>, groups: &[(&str, &str)], mut state: StateOf<R>) {
        let reading = self.reading;
        let closeness = |state: &dyn AnyState| reading.closeness(downcast(state), None);
        self.gathered
            .add_example(reading, part, groups, &mut state, &closeness);
    }

    /// Says something of the next example in addition to its scores and counts, such as how its parts were assigned, if
    /// the examples are requested on their own.
    pub fn value(&mut self, name: &str, value: serde_json::Value) {
        if self.gathered.measured.is_some() {
            self.gathered.values.push((name.to_owned(), value));
        }
    }

    /// Adds the state of several examples that belong to the same groups. Only for where the examples
    /// are not [wanted on their own](Self::wants_samples).
    pub fn pooled(&mut self, examples: u64, groups: &[(&str, &str)], mut state: StateOf<R>) {
        self.gathered.pooled(examples, groups, &mut state);
    }

    /// Adds the state of several examples that were measured together. Their own states, with the name of each, are
    /// only used where they are requested on their own.
    pub fn joint(
        &mut self,
        groups: &[(&str, &str)],
        mut state: StateOf<R>,
        examples: usize,
        parts: impl Iterator<Item = (String, StateOf<R>)>,
    ) {
        let reading = self.reading;
        let boxed = |(part, state)| (part, Box::new(state) as Box<dyn AnyState>);
        let closeness = |state: &dyn AnyState| reading.closeness(downcast(state), None);
        self.gathered.joint(
            reading,
            groups,
            &mut state,
            examples,
            &mut parts.map(boxed),
            &closeness,
        );
    }

    /// Adds what was gathered elsewhere, without examples on their own.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn add(&mut self, pool: Pool) {
        self.gathered.pool.merge(pool);
    }

    /// Adds an example to the counts and ranks it, for metrics that need no state of it; `None` if nothing was added.
    /// The few examples that are kept are measured again.
    fn add_ranked(&mut self, part: Option<&str>, pair: PairOf<'_, R>) -> Option<()> {
        let reading = self.reading;
        let Gathered {
            ranking: Some(ranking),
            pool,
            first_position,
            index,
            id,
            is_ranked,
            ..
        } = &mut *self.gathered
        else {
            return None;
        };
        let (name, _) = ranking.score()?;
        let total = pool.total.get_or_insert_with(empty::<R>);
        let value = reading.update_scored(downcast_mut(&mut **total), pair, name)?;
        pool.examples += 1;
        let position = first_position.wrapping_add(*index as u64);
        let ranked = || Ranked {
            example: Measured {
                record: *index,
                id: id.clone(),
                part: part.map(str::to_owned),
                state: Box::new(reading.metric().measure(pair.0, pair.1)),
                values: Vec::new(),
            },
            inputs: None,
            is_unnamed: true,
        };
        *is_ranked |= ranking.add(value, position, || None, ranked);
        Some(())
    }

    /// Whether the examples must be given one by one, each with its id.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn needs_each(&self) -> bool {
        self.gathered.measured.is_some() || self.gathered.has_plan
    }

    /// Returns whether the examples are requested on their own.
    #[must_use]
    pub fn wants_samples(&self) -> bool {
        !self.gathered.plain
    }

    /// Returns whether the values of the record of a data set at hand are requested, whose examples have been added.
    #[must_use]
    pub fn wants_inputs(&self) -> bool {
        self.gathered.wants_inputs()
    }

    /// Takes the values of the record of a data set at hand, as JSON, if they are [wanted](Self::wants_inputs).
    pub fn inputs(&mut self, reference: String, prediction: String) {
        self.gathered.add_inputs(reference, prediction);
    }

    /// Counts examples of the current record that have no prediction.
    pub fn missing(&mut self, examples: u64) {
        self.gathered.missing(examples);
    }

    /// Counts predictions that have no reference and are left out.
    pub fn extra(&mut self, predictions: u64) {
        self.gathered.pool.extra += predictions;
    }

    /// Counts something that is worth a warning.
    pub fn count(&mut self, what: &Counted, times: u64) {
        self.gathered.pool.notes.count(what, times);
    }

    /// Counts the current record as worth a warning, which names the first few ids.
    pub fn count_record(&mut self, what: &Counted, id: impl fmt::Display) {
        self.gathered.count_record(what, id);
    }

    /// Counts something that is worth a warning by name, such as by class. The warning has the first few
    /// names, each with its count.
    pub fn count_name(&mut self, what: &Counted, name: &str, times: u64) {
        if times > 0 {
            let noted = self.gathered.counted(what);
            noted.add(times, None);
            noted.add_name(name, times);
        }
    }

    /// Counts something that no warning says by itself, but that the warnings or the details of
    /// [numbers](Reading::numbers) depend on.
    pub fn tally(&mut self, name: &str, times: u64) {
        self.gathered.pool.tally(name, times);
    }
}

/// The state of no examples.
fn empty<R: Reading>() -> Box<dyn AnyState> {
    Box::new(StateOf::<R>::default())
}
