//! The data of some examples, whatever the metric.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use metric_core::{Merge, Reader, Writer};
use metric_record::{FieldError, Message, Record, RecordError};

use super::Scorer;
use crate::data_set::Inputs;
use crate::definition::{Definition, OF_DATA};
use crate::error::{AddError, MOST_WRITTEN_BYTES, StateError};
use crate::kept::Kept;
use crate::numbers::{Group, Named, Numbers, Report, Scope};
use crate::plan::Plan;
use crate::ranking::Ranking;
use crate::reading::{
    AnyHeader, AnyState, Asked, Counted, Gathered, Measured, Pool, Ranked, Unified, View, renumber,
    written,
};
use crate::resample::{Amounts, Paired, Resampler, Table};

/// The scores of one example.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Index of its record in the batch, counted from 0; of one of the [worst](State::ranking), among all
    /// references.
    pub record: usize,
    /// The id of the record.
    pub id: String,
    /// The part of the record, if the record has several examples.
    pub part: Option<String>,
    /// Scores by name.
    pub scores: Named<Option<f64>>,
    /// Counts by name.
    pub counts: Named<serde_json::Value>,
    /// What is said of it in addition, by name, such as the assignment of a session.
    pub values: Named<serde_json::Value>,
    /// The values of its record, if it is one of a [data set](crate::DataSet::inputs) and they are requested.
    pub inputs: Option<Arc<Inputs>>,
}

/// The data read from a data set, or from a part of it.
///
/// States merge by the law of [`Merge`](metric_core::Merge): any partition of the examples, merged in any order,
/// gives the same report and the same [body](Self::body).
#[derive(Clone)]
pub struct State {
    definition: Arc<Definition>,
    header: Box<dyn AnyHeader>,
    pool: Pool,
    plan: Arc<Plan>,
    kept: Option<Kept>,
    ranking: Option<Ranking<Ranked>>,
}

/// The data read from some records, not yet added to a [`State`].
pub struct Part {
    pub(super) definition: Arc<Definition>,
    pub(super) gathered: Gathered,
    /// The record that ended the reading.
    pub(super) error: Option<RecordError>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&self.signature()).finish()
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Part").finish_non_exhaustive()
    }
}

impl State {
    /// The state of no examples.
    pub(super) fn new(definition: &Arc<Definition>) -> Self {
        Self {
            definition: Arc::clone(definition),
            header: definition.reading.header(),
            pool: Pool {
                total: Some(definition.reading.start()),
                ..Pool::default()
            },
            plan: Arc::default(),
            kept: None,
            ranking: None,
        }
    }

    /// Reads a body, and checks that its kept examples are in their canonical form.
    pub(super) fn read(
        definition: &Arc<Definition>,
        body: &mut Reader<'_>,
    ) -> Result<Self, StateError> {
        let reading = &*definition.reading;
        body.map()?;
        body.name("header")?;
        let header = reading.read_header(body)?;
        body.name("pool")?;
        let pool = Pool::read(reading, body)?;
        let kept: Option<Kept> = body.optional_field("kept")?;
        for contribution in kept.iter().flat_map(Kept::contributions) {
            let state = reading.read_state(&mut Reader::new(contribution))?;
            if written(&*state) != contribution {
                return Err(StateError::not_canonical());
            }
        }
        Ok(Self {
            header,
            pool,
            kept,
            ..Self::new(definition)
        })
    }

    /// Returns the definition that the state was gathered under.
    #[must_use]
    pub fn signature(&self) -> &str {
        &self.definition.signature
    }

    /// Returns the name of the score that a single example has for a score, such as `sentence_bleu` for `bleu`.
    #[must_use]
    pub fn example_score<'s>(&self, score: &'s str) -> &'s str {
        self.definition.facts.example_score(score)
    }

    /// Returns a signature that starts with the [definition](Self::signature) with those parts that only the data tell,
    /// such as the number of references.
    #[must_use]
    pub fn with_known_parts<'s>(&self, signature: &'s str) -> Cow<'s, str> {
        if !self.definition.is_open() {
            return signature.into();
        }
        let parts = self.numbers(false).signature.into_iter();
        parts.fold(signature.into(), |signature, (name, value)| {
            let open = format!("|{name}:{OF_DATA}|");
            let known = format!("|{name}:{value}|");
            signature.replacen(&open, &known, 1).into()
        })
    }

    pub(super) fn header_and_plan(&self) -> (Box<dyn AnyHeader>, Arc<Plan>) {
        (self.header.clone(), Arc::clone(&self.plan))
    }

    pub(super) fn is_of(&self, definition: &Definition) -> bool {
        self.definition.is_same(definition)
    }

    /// Returns the bytes of the rows that the state keeps, for metrics that need all rows for a score.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        self.pool.row_bytes()
    }

    fn refuse_other(&self, found: &Definition) -> Result<(), StateError> {
        if self.is_of(found) {
            return Ok(());
        }
        Err(StateError::Definition {
            expected: self.definition.signature.clone(),
            found: found.signature.clone(),
        })
    }

    /// Unites the headers, and renumbers the states of this side where that is needed. Returns the new indices of the
    /// states of the other side if they are to be renumbered as well.
    fn unite(&mut self, header: &dyn AnyHeader) -> Result<Option<Vec<u32>>, Message> {
        if self.header.is_equal(header) {
            return Ok(None);
        }
        let Unified::Renumbered { ours, theirs } = self.header.unify(header)? else {
            return Ok(None);
        };
        let (pool, kept, ranking) = (&mut self.pool, &mut self.kept, &mut self.ranking);
        let reading = &*self.definition.reading;
        renumber(reading, pool, kept.as_mut(), ranking.as_mut(), &ours);
        Ok(Some(theirs))
    }

    /// Keeps other examples as well.
    fn keep(&mut self, kept: Option<&Kept>, times: u64) {
        if let Some(kept) = kept {
            self.kept.get_or_insert_default().merge_times(kept, times);
        }
    }

    /// Adds what was read of some records. The order of parts decides which of several errors is found,
    /// and nothing else.
    ///
    /// # Errors
    ///
    /// Returns the first record of the part that cannot be read, or that shares less with the records of the state than
    /// a data set's records must. The state is then unchanged.
    pub fn add(&mut self, part: &mut Part) -> Result<(), AddError> {
        let Part {
            definition,
            gathered,
            error,
        } = part;
        self.refuse_other(definition).map_err(AddError::State)?;
        // The first record that differs comes before whatever else is wrong with the part.
        if !gathered.said.is_empty() {
            agree_with(&mut self.header.clone(), gathered)?;
        }
        if let Some(error) = error {
            return Err(AddError::Record(error.clone()));
        }
        let theirs = self.unite(&*gathered.header).map_err(other_header)?;
        if let Some(theirs) = theirs {
            gathered.renumber(&*self.definition.reading, &theirs);
        }
        self.pool.merge(std::mem::take(&mut gathered.pool));
        self.keep(gathered.kept.take().as_ref(), 1);
        if let Some(theirs) = gathered.ranking.take() {
            match &mut self.ranking {
                Some(ours) => ours.merge(theirs),
                ours => *ours = Some(theirs),
            }
        }
        Ok(())
    }

    /// Takes over what the records of parts share, and not yet their examples, so that parts that are still
    /// [read into](Scorer::read_more) are known to fit.
    ///
    /// # Errors
    ///
    /// Returns an error if a part has a record that cannot be read, or one that shares less with the others than a data
    /// set's records must; of several such records, any one. The state is then unchanged.
    pub fn agree(&mut self, parts: &mut [&mut Part]) -> Result<(), AddError> {
        let mut header = None;
        for part in parts.iter_mut() {
            self.refuse_other(&part.definition)
                .map_err(AddError::State)?;
            if let Some(error) = &part.error {
                return Err(AddError::Record(error.clone()));
            }
            if !part.gathered.said.is_empty() {
                let header = header.get_or_insert_with(|| self.header.clone());
                agree_with(header, &part.gathered)?;
            }
        }
        for part in parts.iter_mut() {
            part.gathered.said.clear();
        }
        let Some(header) = header else {
            return Ok(());
        };
        self.unite(&*header).map_err(other_header)?;
        Ok(())
    }

    /// Reads records and adds them: all of them or, where there is an error, none.
    ///
    /// # Errors
    ///
    /// Returns the first record that cannot be read.
    pub fn update(&mut self, scorer: &Scorer, records: &mut [Record<'_>]) -> Result<(), AddError> {
        let mut part = scorer.read(self, records, false);
        self.add(&mut part)
    }

    /// Returns the number of examples.
    #[must_use]
    pub fn examples(&self) -> u64 {
        self.pool.examples
    }

    /// Returns the number of examples of a slice, and the number of these that have no prediction, if the plan
    /// [counts](Plan::counts_slices) them.
    #[must_use]
    pub fn slice_counts(&self, slice: &str, value: &str) -> [u64; 2] {
        self.pool.group_counts(slice, value)
    }

    /// Returns whether there are examples, or the metric scores a data set without any; for most metrics such a data
    /// set is an error.
    #[must_use]
    pub fn has_scores(&self) -> bool {
        self.pool.examples > 0 || self.definition.facts.scores_empty_data
    }

    /// Returns what the examples are missing for scores, in words, if they are those of a whole data set: for example,
    /// the classes that some scores are of. `None` if nothing is missing, or if there are no examples.
    #[must_use]
    pub fn problem(&self) -> Option<Message> {
        (self.pool.examples > 0).then(|| self.definition.reading.problem(self.total()))?
    }

    /// Counts predictions that have no reference and were left out.
    pub fn count_extra(&mut self, predictions: u64) {
        self.pool.extra += predictions;
    }

    /// Counts something about the data that is worth a warning.
    pub fn count(&mut self, what: &Counted, times: u64) {
        self.pool.notes.count(what, times);
    }

    /// Adds the state of other examples.
    ///
    /// # Errors
    ///
    /// Returns an error if `other` is of another definition, or if its examples do not share with these what those of
    /// one data set share. The state is then unchanged.
    pub fn merge(&mut self, other: &Self) -> Result<(), StateError> {
        self.merge_times(other, 1)
    }

    /// Adds the state of other examples as often as `times` says.
    ///
    /// # Errors
    ///
    /// Returns an error as [`merge`](Self::merge) does.
    pub fn merge_times(&mut self, other: &Self, times: u64) -> Result<(), StateError> {
        self.refuse_other(&other.definition)?;
        if times == 0 {
            return Ok(());
        }
        let theirs = self.unite(&*other.header).map_err(StateError::Header)?;
        let Some(theirs) = theirs else {
            self.pool.merge_times(&other.pool, times);
            self.keep(other.kept.as_ref(), times);
            return Ok(());
        };
        let (mut pool, mut kept) = (other.pool.clone(), other.kept.clone());
        let reading = &*self.definition.reading;
        renumber(reading, &mut pool, kept.as_mut(), None, &theirs);
        self.pool.merge_times(&pool, times);
        self.keep(kept.as_ref(), times);
        Ok(())
    }

    /// All examples.
    fn total(&self) -> View<'_> {
        let total = self.pool.total.as_deref();
        self.view(total.expect("a state has a total from its start"))
    }

    fn view<'v>(&'v self, state: &'v dyn AnyState) -> View<'v> {
        View {
            state,
            header: &*self.header,
        }
    }

    /// Returns the scores and counts.
    #[must_use]
    pub fn report(&self) -> Report {
        self.report_of(self.numbers(false))
    }

    /// Returns the scores and counts with the [details](Self::details), in less time than one after the other.
    #[must_use]
    pub fn report_with_details(&self) -> (Report, Option<serde_json::Value>) {
        let mut numbers = self.numbers(true);
        let details = numbers.details.take();
        (self.report_of(numbers), details)
    }

    /// The numbers of all examples.
    fn numbers(&self, details: bool) -> Numbers {
        let asked = Asked {
            remarks: Some(self.pool.remarks()),
            details,
            ..Scope::Total.into()
        };
        self.definition.reading.numbers(self.total(), asked)
    }

    /// The report with these numbers of all examples.
    fn report_of(&self, numbers: Numbers) -> Report {
        let reading = &self.definition.reading;
        let mut groups: Named<Vec<Group>> = Vec::new();
        for (kind, names) in &self.pool.groups {
            let of_kind = names.iter().map(|(name, state)| {
                let scope = Scope::Group(kind, name);
                let numbers = reading.numbers(self.view(&**state), scope.into());
                Group {
                    name: name.clone(),
                    scores: numbers.scores,
                    counts: numbers.counts,
                }
            });
            groups.push((kind.clone(), of_kind.collect()));
        }
        groups.extend(numbers.groups);
        let mut warnings: Vec<Message> = self.pool.remarks().warnings().collect();
        warnings.extend(numbers.warnings);
        warnings.extend(self.definition.warnings.iter().cloned());
        let mut report = Report {
            examples: self.pool.examples,
            missing: self.pool.missing,
            extra: self.pool.extra,
            scores: numbers.scores,
            counts: numbers.counts,
            groups,
            warnings,
            confusions: numbers.confusions,
            table: numbers.table,
            notes: numbers.notes,
        };
        if !self.has_scores() {
            undefine(&mut report);
        }
        report
    }

    /// Returns the worst examples, if the [plan](Plan::ranking) wants them.
    #[must_use]
    pub fn ranking(&self) -> Option<Ranking<Sample>> {
        let ranking = self.ranking.as_ref()?;
        Some(ranking.map(|position, ranked| {
            let inputs = ranked.inputs.clone();
            let sample = self
                .definition
                .sample(&ranked.example, &*self.header, inputs);
            Sample {
                record: usize::try_from(position).unwrap_or(usize::MAX),
                ..sample
            }
        }))
    }

    /// Returns what is too large for a report, such as curves, as JSON; `None` if there is nothing.
    #[must_use]
    pub fn details(&self) -> Option<serde_json::Value> {
        self.numbers(true).details
    }

    /// Sets the plan of what to gather from the examples that are read next.
    pub fn follow(&mut self, plan: Arc<Plan>) {
        if plan.keeps_examples {
            self.kept.get_or_insert_default();
        }
        self.plan = plan;
    }

    /// Returns what resamples the examples, if the state [keeps](Plan::keeps_examples) them.
    ///
    /// # Errors
    ///
    /// Returns an error if a kept example cannot be read; those that this crate wrote can be.
    pub fn resampler(&self) -> Result<Option<Resampler>, StateError> {
        let Some(kept) = &self.kept else {
            return Ok(None);
        };
        let table = Table::new(self.amounts(), &[kept])?;
        Ok(Some(Resampler::new(table, &self.report())))
    }

    /// The amounts that the kept examples add, none of which is listed yet.
    fn amounts(&self) -> Amounts {
        Amounts::new(&self.definition, self.header.clone())
    }

    /// Returns what exchanges the examples of this state, the baseline, with those of another system, if both
    /// states keep them.
    ///
    /// # Errors
    ///
    /// Returns an error if the states are of different definitions, or if a kept example cannot be read.
    pub fn paired(&self, system: &Self) -> Result<Option<Paired>, StateError> {
        if self.kept.is_none() || system.kept.is_none() {
            return Ok(None);
        }
        self.refuse_other(&system.definition)?;
        let reports = [self.report(), system.report()];
        let (mut baseline, mut system) = (self.clone(), system.clone());
        // Classes that only one of them has are numbered alike.
        let theirs = baseline.unite(&*system.header);
        if let Some(theirs) = theirs.map_err(StateError::Header)? {
            let (pool, kept) = (&mut system.pool, system.kept.as_mut());
            renumber(&*self.definition.reading, pool, kept, None, &theirs);
        }
        let kept: Vec<&Kept> = baseline.kept.iter().chain(&system.kept).collect();
        let table = Table::new(baseline.amounts(), &kept)?;
        Ok(Some(Paired::new(table, &reports)))
    }

    /// Returns the hashes of the ids of the records whose examples the state keeps.
    #[must_use]
    pub fn kept_ids(&self) -> BTreeSet<u64> {
        self.kept.as_ref().map_or_else(BTreeSet::new, Kept::keys)
    }

    /// Returns about how much memory the examples that the state keeps take, in bytes. A run ends when this is
    /// more than [`MOST_KEPT_BYTES`](crate::MOST_KEPT_BYTES).
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        self.kept.as_ref().map_or(0, Kept::bytes)
    }

    /// Writes the state in its canonical form, for [`Scorer::read_state`]: CBOR, with named fields.
    ///
    /// # Errors
    ///
    /// Returns an error if the examples that the state keeps take more than [`MOST_WRITTEN_BYTES`], or if CBOR cannot
    /// represent a part of it, which does not happen with the built-in metrics.
    pub fn body(&self) -> Result<Vec<u8>, StateError> {
        let kept = self.kept.as_ref();
        let bytes = kept.map_or(0, Kept::written_bytes);
        if bytes > MOST_WRITTEN_BYTES {
            return Err(StateError::TooLarge(bytes));
        }
        let mut body = Writer::default();
        body.map(2 + usize::from(kept.is_some()));
        body.text("header");
        self.header.write(&mut body);
        body.text("pool");
        self.pool.write(&*self.definition.reading, &mut body);
        if let Some(kept) = kept {
            body.field("kept", kept);
        }
        Ok(body.into_bytes())
    }
}

/// Takes over what the records of a part say that they share with all others.
fn agree_with(header: &mut Box<dyn AnyHeader>, part: &Gathered) -> Result<(), AddError> {
    for (index, side, said) in &part.said {
        header.unify(&**said).map_err(|problem| {
            AddError::Record(RecordError {
                index: *index,
                error: FieldError::new(*side, problem),
            })
        })?;
    }
    Ok(())
}

fn other_header(problem: Message) -> AddError {
    AddError::State(StateError::Header(problem))
}

/// Makes all scores undefined: those of no examples, also under conventions in which 0/0 is a number.
fn undefine(report: &mut Report) {
    let of_groups = report.groups.iter_mut().flat_map(|(_, groups)| groups);
    let of_groups = of_groups.flat_map(|group| &mut group.scores);
    for (_, value) in report.scores.iter_mut().chain(of_groups) {
        *value = None;
    }
}

impl Definition {
    /// An example with its numbers.
    fn sample(
        &self,
        example: &Measured,
        header: &dyn AnyHeader,
        inputs: Option<Arc<Inputs>>,
    ) -> Sample {
        let state = &*example.state;
        let asked = Scope::Example.into();
        let Numbers { scores, counts, .. } = self.reading.numbers(View { state, header }, asked);
        Sample {
            record: example.record,
            id: example.id.clone(),
            part: example.part.clone(),
            scores,
            counts,
            values: example.values.clone(),
            inputs,
        }
    }
}

impl Part {
    pub(super) fn new(
        definition: &Arc<Definition>,
        gathered: Gathered,
        error: Option<RecordError>,
    ) -> Self {
        Self {
            definition: Arc::clone(definition),
            gathered,
            error,
        }
    }

    /// Returns the bytes of the rows that the part keeps, for metrics that need all rows for a score.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        self.gathered.pool.row_bytes()
    }

    /// Returns the scores of each example, where the part was read with samples, as the examples of
    /// `state`, to which the part was added.
    #[must_use]
    pub fn samples(&self, state: &State) -> Vec<Sample> {
        let header = if state.is_of(&self.definition) {
            &*state.header
        } else {
            &*self.gathered.header
        };
        let inputs = self.gathered.inputs.as_ref();
        let inputs = |record| inputs?.by_record.get(&record).cloned();
        let measured = self.gathered.measured.iter().flatten();
        let sample = |example: &Measured| {
            let inputs = inputs(example.record);
            self.definition.sample(example, header, inputs)
        };
        measured.map(sample).collect()
    }

    /// Says that the record at `index` of those that are read next is at `position` among all references, and that
    /// each record after it is at the next one. Of examples with equal scores, the first ones are the
    /// [worst](State::ranking).
    pub fn start_at(&mut self, position: u64, index: usize) {
        self.gathered.first_position = position.wrapping_sub(index as u64);
    }

    /// Asks for the ids of the records of the worst examples, by their index, and for their values if these are needed.
    /// Each is asked for once, so call this before the records are dropped.
    pub fn name_ranked(
        &mut self,
        named: &mut dyn FnMut(usize) -> Option<(String, Option<Inputs>)>,
    ) {
        let Some(ranking) = &mut self.gathered.ranking else {
            return;
        };
        ranking.change_kept(|ranked| {
            if !std::mem::take(&mut ranked.is_unnamed) {
                return;
            }
            if let Some((id, inputs)) = named(ranked.example.record) {
                ranked.example.id = id;
                ranked.inputs = inputs.map(Arc::new);
            }
        });
    }
}
