//! The place where examples go as they are read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use metric_core::{Merge, Metric};
use metric_record::{Batch, FieldError, Message, RecordError, Side, quoted_id};

use super::gathered::{Gathered, Measured, Ranked};
use super::notes::{Counted, Noted};
use super::pool::{GroupCount, Pool};
use super::{Header, PairOf, Reading, StateOf, Unified};
use crate::data_set::Inputs;
use crate::kept::{JOINT, written};
use crate::numbers::Scope;
use crate::plan::{Described, Plan, PlannedRanking};
use crate::ranking::Ranking;

/// The place to which [`Reading::read`] adds its examples.
pub struct Sink<'a, R: Reading> {
    pub(crate) reading: &'a R,
    pub(crate) gathered: &'a mut Gathered<R>,
    /// Index of the current record.
    pub(crate) index: usize,
    /// Index of the first record of a batch.
    pub(crate) first: usize,
    /// The id of the current record, if examples are requested on their own.
    pub(crate) id: String,
    /// Whether a record has begun.
    pub(crate) begun: bool,
    /// Whether only the counts of all examples together are requested.
    plain: bool,
    /// Whether each record needs its id.
    pub(crate) names_all: bool,
    /// Whether the current record has one of the worst examples.
    is_ranked: bool,
    /// Whether something is requested of each record in addition.
    pub(crate) has_plan: bool,
    /// The additional data of the current record.
    pub(crate) described: Described,
    /// The fields of the records of a data set by id, where the plan needs them.
    pub(crate) fields: BTreeMap<String, String>,
}

impl<'a, R: Reading> Sink<'a, R> {
    pub(crate) fn new(reading: &'a R, gathered: &'a mut Gathered<R>) -> Self {
        let plan = &gathered.plan;
        Self {
            reading,
            index: 0,
            first: 0,
            id: String::new(),
            begun: false,
            plain: gathered.measured.is_none() && plan.is_empty() && plan.ranking.is_none(),
            names_all: gathered.measured.is_some() || !plan.is_empty(),
            is_ranked: false,
            has_plan: !plan.is_empty(),
            described: Described::default(),
            fields: BTreeMap::new(),
            gathered,
        }
    }

    /// Begins a record. In [`Reading::read`] the record has begun already.
    pub fn record(&mut self, id: impl fmt::Display) {
        if self.begun {
            self.index += 1;
        }
        self.begun = true;
        self.is_ranked = false;
        if self.names_all {
            self.id = id.to_string();
            self.describe();
        }
    }

    /// Describes the record of a data set at hand. Records are described where they are read.
    fn describe(&mut self) {
        let plan = &self.gathered.plan;
        if !self.has_plan || (plan.needs_fields() && self.fields.is_empty()) {
            return;
        }
        match describe(plan, &self.id, &self.fields) {
            Ok(described) => self.described = described,
            Err(problem) => drop(self.gathered.problem.get_or_insert(problem)),
        }
    }

    /// Begins the record of a batch at an index.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn row(&mut self, batch: &Batch<'_>, index: usize) {
        self.index = self.first + index;
        self.begun = true;
        self.is_ranked = false;
        if self.names_all {
            self.id = batch.id(index).map(|id| id.to_string()).unwrap_or_default();
            self.describe();
        }
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

    /// Returns the metric.
    #[must_use]
    pub fn metric(&self) -> &'a R::Metric {
        self.reading.metric()
    }

    /// Returns what the examples share, as far as it is known.
    #[must_use]
    pub fn header(&self) -> &R::Header {
        &self.gathered.header
    }

    /// Says what the current record shares with all others.
    ///
    /// # Errors
    ///
    /// Returns an error about this side of the record if it differs from what earlier records said.
    pub fn share(&mut self, side: Side, header: R::Header) -> Result<(), FieldError> {
        if header == self.gathered.header {
            return Ok(());
        }
        let before = self.gathered.header.clone();
        let unified = self.gathered.header.unify(&header);
        let unified = unified.map_err(|problem| FieldError::new(side, problem))?;
        if let Unified::Renumbered { ours, .. } = unified {
            self.gathered.renumber(self.reading, &ours);
        }
        if self.gathered.header != before {
            self.gathered.said.push((self.index, side, header));
        }
        Ok(())
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
        let metric = self.reading.metric();
        if self.plain && groups.is_empty() {
            let pool = &mut self.gathered.pool;
            pool.examples += 1;
            metric.update(&mut pool.total, prediction, reference);
            return;
        }
        let pair = (prediction, reference);
        if groups.is_empty() && !self.needs_each() && self.add_ranked(part, pair).is_some() {
            return;
        }
        let state = metric.measure(prediction, reference);
        self.rank(part, &state, Some(pair));
        self.unranked(part, groups, state);
    }

    /// Adds the record as one example, which `add` adds to a state: to that of all examples, if no others are
    /// requested.
    pub fn counted_in(&mut self, add: impl FnOnce(&mut StateOf<R>)) {
        if self.plain {
            let pool = &mut self.gathered.pool;
            pool.examples += 1;
            add(&mut pool.total);
            return;
        }
        let mut state = StateOf::<R>::default();
        add(&mut state);
        self.measured(None, &[], state);
    }

    /// Lets `add` add records to the state of all examples, one example for each, and returns their number; 0, without
    /// calling it, if other data of examples are requested.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn counted_together(&mut self, add: impl FnOnce(&mut StateOf<R>) -> usize) -> usize {
        if !self.plain {
            return 0;
        }
        let pool = &mut self.gathered.pool;
        let examples = add(&mut pool.total);
        pool.examples += examples as u64;
        examples
    }

    /// Adds the state of an example that was measured already.
    pub fn measured(&mut self, part: Option<&str>, groups: &[(&str, &str)], state: StateOf<R>) {
        self.rank(part, &state, None);
        self.unranked(part, groups, state);
    }

    /// Adds the state of an example that was ranked already.
    fn unranked(&mut self, part: Option<&str>, groups: &[(&str, &str)], state: StateOf<R>) {
        if self.gathered.measured.is_some() {
            self.keep(part.map(str::to_owned), state.clone());
        }
        if self.gathered.kept.is_some() {
            self.keep_for_resampling(1, groups, &state);
        }
        self.pooled(1, groups, state);
    }

    /// Keeps what examples add to the counts; of 0 examples, one that is also in a row of several.
    fn keep_for_resampling(&mut self, examples: u32, groups: &[(&str, &str)], state: &StateOf<R>) {
        let groups = self.described.groups_with(groups);
        let Some(kept) = &mut self.gathered.kept else {
            return;
        };
        match written(state) {
            Ok(bytes) => kept.push(&self.described, &groups, examples, bytes),
            Err(error) => {
                let problem = Message::from(error.to_string());
                self.gathered.problem.get_or_insert(problem);
            }
        }
    }

    /// Adds the state of several examples that belong to the same groups. Only for where the examples
    /// are not [wanted on their own](Self::wants_samples).
    pub fn pooled(&mut self, examples: u64, groups: &[(&str, &str)], state: StateOf<R>) {
        let groups = self.described.groups_with(groups);
        let Gathered { pool, plan, .. } = &mut *self.gathered;
        pool.examples += examples;
        for &(kind, group) in &*groups {
            pool.groups.entry(kind, group).merge_times(&state, 1);
            if plan.counts_slices {
                pool.tally_group(GroupCount::Examples, kind, group, examples);
            }
        }
        pool.total.merge(state);
    }

    /// Adds the state of several examples that were measured together. Their own states, with the name of each, are
    /// only used where they are requested on their own.
    pub fn joint(
        &mut self,
        groups: &[(&str, &str)],
        state: StateOf<R>,
        examples: usize,
        parts: impl Iterator<Item = (String, StateOf<R>)>,
    ) {
        if self.gathered.kept.is_some() {
            self.keep_for_resampling(JOINT | examples as u32, groups, &state);
        }
        if !self.plain {
            for (part, state) in parts {
                if self.gathered.kept.is_some() {
                    self.keep_for_resampling(0, groups, &state);
                }
                self.rank(Some(&part), &state, None);
                self.keep(Some(part), state);
            }
        }
        self.pooled(examples as u64, groups, state);
    }

    /// Adds what was gathered elsewhere, without examples on their own.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn add(&mut self, pool: Pool<StateOf<R>>) {
        self.gathered.pool.merge(pool);
    }

    /// Ranks an example of the current record, if the worst ones are requested.
    fn rank(&mut self, part: Option<&str>, state: &StateOf<R>, pair: Option<PairOf<'_, R>>) {
        let Gathered {
            ranking: Some(ranking),
            plan,
            header,
            first_position,
            ..
        } = &mut *self.gathered
        else {
            return;
        };
        let position = first_position.wrapping_add(self.index as u64);
        let (record, id, names_all) = (self.index, &self.id, self.names_all);
        let Some(planned) = plan.ranking else {
            return;
        };
        self.is_ranked |= rank_example(
            ranking,
            planned,
            self.reading,
            header,
            position,
            state,
            pair,
            || Ranked {
                example: Measured {
                    record,
                    id: if names_all { id.clone() } else { String::new() },
                    part: part.map(str::to_owned),
                    state: state.clone(),
                },
                inputs: None,
                is_unnamed: true,
            },
        );
    }

    /// Adds an example to the counts and ranks it, for metrics that need no state of it; `None` if nothing was added.
    /// The few examples that are kept are measured again.
    fn add_ranked(&mut self, part: Option<&str>, pair: PairOf<'_, R>) -> Option<()> {
        let Gathered {
            ranking: Some(ranking),
            pool,
            first_position,
            ..
        } = &mut *self.gathered
        else {
            return None;
        };
        let (name, _) = ranking.score()?;
        let value = self.reading.update_scored(&mut pool.total, pair, name)?;
        pool.examples += 1;
        let position = first_position.wrapping_add(self.index as u64);
        let (reading, record, id) = (self.reading, self.index, &self.id);
        let ranked = || Ranked {
            example: Measured {
                record,
                id: id.clone(),
                part: part.map(str::to_owned),
                state: reading.metric().measure(pair.0, pair.1),
            },
            inputs: None,
            is_unnamed: true,
        };
        self.is_ranked |= ranking.add(value, position, || None, ranked);
        Some(())
    }

    /// Adds what was ranked elsewhere.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn add_ranking(&mut self, mut ranking: Ranking<Ranked<StateOf<R>>>) {
        let Gathered {
            inputs,
            ranking: Some(ours),
            ..
        } = &mut *self.gathered
        else {
            return;
        };
        ranking.change_kept(|ranked| {
            let of = ranked.inputs.as_mut().and_then(Arc::get_mut);
            if let (Some(wanted), Some(of)) = (&mut *inputs, of) {
                of.fields = wanted.fields.remove(&ranked.example.id);
            }
        });
        ours.merge(ranking);
    }

    /// Whether the examples must be given one by one, each with its id.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn needs_each(&self) -> bool {
        self.gathered.measured.is_some() || self.has_plan
    }

    fn keep(&mut self, part: Option<String>, state: StateOf<R>) {
        let (record, id) = (self.index, self.id.clone());
        if let Some(measured) = &mut self.gathered.measured {
            measured.push(Measured {
                record,
                id,
                part,
                state,
            });
        }
    }

    /// Returns whether the examples are requested on their own.
    #[must_use]
    pub fn wants_samples(&self) -> bool {
        !self.plain
    }

    /// Returns whether the values of the record of a data set at hand are requested, whose examples have been added.
    #[must_use]
    pub fn wants_inputs(&self) -> bool {
        self.gathered.inputs.is_some() && (self.gathered.measured.is_some() || self.is_ranked)
    }

    /// Takes the values of the record of a data set at hand, as JSON, if they are [wanted](Self::wants_inputs).
    pub fn inputs(&mut self, reference: String, prediction: String) {
        let (index, id) = (self.index, &self.id);
        let Gathered {
            inputs: Some(wanted),
            ranking,
            measured,
            ..
        } = &mut *self.gathered
        else {
            return;
        };
        let inputs = Arc::new(Inputs {
            reference,
            prediction,
            fields: wanted.fields.remove(id),
        });
        if let (true, Some(ranking)) = (self.is_ranked, ranking) {
            ranking.change_kept(|ranked| {
                if ranked.example.record == index {
                    ranked.inputs = Some(Arc::clone(&inputs));
                }
            });
        }
        if measured.is_some() {
            wanted.by_record.insert(index, inputs);
        }
    }

    /// Counts examples of the current record that have no prediction.
    pub fn missing(&mut self, examples: u64) {
        let Gathered { pool, plan, .. } = &mut *self.gathered;
        pool.missing += examples;
        if plan.counts_slices {
            for (kind, group) in &self.described.groups {
                pool.tally_group(GroupCount::Missing, kind, group, examples);
            }
        }
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
        self.counted(what).add(1, [id.to_string()]);
    }

    /// Counts something that is worth a warning by name, such as by class. The warning has the first few
    /// names, each with its count.
    pub fn count_name(&mut self, what: &Counted, name: &str, times: u64) {
        if times > 0 {
            let noted = self.counted(what);
            noted.add(times, None);
            noted.add_name(name, times);
        }
    }

    /// Counts something that no warning says by itself, but that [`further_warnings`](Reading::further_warnings) or
    /// [details](Reading::add_to_details) depend on.
    pub fn tally(&mut self, name: &str, times: u64) {
        self.gathered.pool.tally(name, times);
    }

    fn counted(&mut self, what: &Counted) -> &mut Noted {
        self.gathered.pool.notes.counted(what)
    }
}

/// Returns what a plan wants of the record of a data set.
fn describe(
    plan: &Plan,
    id: &str,
    fields: &BTreeMap<String, String>,
) -> Result<Described, Message> {
    let described = plan.describe(id, fields.get(id).map(String::as_str));
    described.map_err(|error| {
        let location = Message::from(format!("id {}: ", quoted_id(id)));
        location.message(&error.problem)
    })
}

/// Adds an example to a ranking. Returns whether it is kept.
#[allow(
    clippy::too_many_arguments,
    reason = "threads that read a data set have no sink yet"
)]
pub(crate) fn rank_example<R: Reading>(
    ranking: &mut Ranking<Ranked<StateOf<R>>>,
    planned: PlannedRanking,
    reading: &R,
    header: &R::Header,
    position: u64,
    state: &StateOf<R>,
    pair: Option<PairOf<'_, R>>,
    example: impl Fn() -> Ranked<StateOf<R>>,
) -> bool {
    if ranking.score().is_none() {
        let name = reading.ranking_score();
        ranking.choose_of(planned.scores, name.as_deref());
    }
    if ranking.score().is_none() {
        let numbers = reading.numbers(state, header, Scope::Example);
        let names = numbers.scores.iter().map(|(name, _)| name.as_str());
        ranking.choose_of(planned.scores, names);
    }
    let name = ranking.score().map(|(name, _)| name);
    let value = name.and_then(|name| reading.example_score(state, header, name));
    ranking.add(value, position, || reading.closeness(state, pair), example)
}
