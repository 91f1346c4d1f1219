//! All that is gathered of some records.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use metric_record::{Batch, Message, Side, quoted_id};

use super::any::{AnyHeader, AnyReading, AnyState, View, written};
use super::notes::{Counted, Noted};
use super::pool::{GroupCount, Pool};
use super::{Asked, Closeness, Unified};
use crate::data_set::Inputs;
use crate::kept::{JOINT, Kept};
use crate::numbers::{Named, Scope};
use crate::plan::{Described, Plan, PlannedRanking};
use crate::ranking::Ranking;

/// The data read from some records: [`Pool`] and header, with what is needed to unite them with others.
pub(crate) struct Gathered {
    pub(crate) pool: Pool,
    pub(crate) header: Box<dyn AnyHeader>,
    /// The records that changed the header, each with what it said.
    pub(crate) said: Vec<(usize, Side, Box<dyn AnyHeader>)>,
    /// The examples on their own, if they are requested.
    pub(crate) measured: Option<Vec<Measured>>,
    /// The additional data to gather from each record.
    pub(crate) plan: Arc<Plan>,
    /// The examples that are kept to be resampled, if the plan keeps them.
    pub(crate) kept: Option<Kept>,
    /// The first record of a data set that the plan finds no fields in.
    pub(crate) problem: Option<Message>,
    /// The values of the records of a data set, if they are requested.
    pub(crate) inputs: Option<WantedInputs>,
    /// The worst examples, if they are requested.
    pub(crate) ranking: Option<Ranking<Ranked>>,
    /// The position of a record among all references is this and its index.
    pub(crate) first_position: u64,
    /// Index of the first record of a batch.
    pub(crate) first: usize,
    /// Index of the current record.
    pub(crate) index: usize,
    /// The id of the current record, if examples are requested on their own.
    pub(crate) id: String,
    /// What is said of the next example in addition to its scores and counts, if examples are requested on their own.
    pub(crate) values: Named<serde_json::Value>,
    /// Whether a record has begun.
    begun: bool,
    /// Whether only the counts of all examples together are requested.
    pub(crate) plain: bool,
    /// Whether each record needs its id.
    pub(crate) names_all: bool,
    /// Whether the current record has one of the worst examples.
    pub(super) is_ranked: bool,
    /// Whether something is requested of each record in addition.
    pub(crate) has_plan: bool,
    /// The additional data of the current record.
    pub(crate) described: Described,
    /// The fields of the records of a data set by id, where the plan needs them.
    pub(crate) fields: BTreeMap<String, String>,
}

impl Gathered {
    pub(crate) fn new(header: Box<dyn AnyHeader>, with_samples: bool, plan: Arc<Plan>) -> Self {
        Self {
            pool: Pool::default(),
            header,
            said: Vec::new(),
            measured: with_samples.then(Vec::new),
            kept: plan.keeps_examples.then(Kept::default),
            ranking: plan.new_ranking(),
            problem: None,
            inputs: None,
            first_position: 0,
            first: 0,
            index: 0,
            id: String::new(),
            values: Vec::new(),
            begun: false,
            plain: !with_samples && plan.is_empty() && plan.ranking.is_none(),
            names_all: with_samples || !plan.is_empty(),
            is_ranked: false,
            has_plan: !plan.is_empty(),
            described: Described::default(),
            fields: BTreeMap::new(),
            plan,
        }
    }

    /// Continues with the record of this index.
    pub(crate) fn start_at(&mut self, first: usize) {
        (self.first, self.index, self.begun) = (first, first, false);
    }

    /// Begins a record.
    pub(crate) fn record(&mut self, id: impl fmt::Display) {
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

    /// Begins the record of a batch at an index.
    pub(crate) fn row(&mut self, batch: &Batch<'_>, index: usize) {
        self.index = self.first + index;
        self.begun = true;
        self.is_ranked = false;
        if self.names_all {
            self.id = batch.id(index).map(|id| id.to_string()).unwrap_or_default();
            self.describe();
        }
    }

    /// Describes the record of a data set at hand. Records are described where they are read.
    fn describe(&mut self) {
        let plan = &self.plan;
        if !self.has_plan || (plan.needs_fields() && self.fields.is_empty()) {
            return;
        }
        let described = plan.describe(&self.id, self.fields.get(&self.id).map(String::as_str));
        match described {
            Ok(described) => self.described = described,
            Err(error) => {
                let location = Message::from(format!("id {}: ", quoted_id(&self.id)));
                let problem = location.message(&error.problem);
                self.problem.get_or_insert(problem);
            }
        }
    }

    /// Takes over what a record says that it shares with all others.
    pub(super) fn share(
        &mut self,
        reading: &dyn AnyReading,
        side: Side,
        header: Box<dyn AnyHeader>,
    ) -> Result<(), Message> {
        let before = self.header.clone();
        if let Unified::Renumbered { ours, .. } = self.header.unify(&*header)? {
            self.renumber(reading, &ours);
        }
        if !self.header.is_equal(&*before) {
            self.said.push((self.index, side, header));
        }
        Ok(())
    }

    /// Adds the state of an example, and empties it.
    pub(super) fn add_example(
        &mut self,
        reading: &dyn AnyReading,
        part: Option<&str>,
        groups: &[(&str, &str)],
        state: &mut dyn AnyState,
        closeness: Closeness<'_>,
    ) {
        self.rank(reading, part, state, closeness);
        self.keep(part, state);
        if self.kept.is_some() {
            self.keep_for_resampling(1, groups, state);
        }
        self.pooled(1, groups, state);
    }

    /// Keeps what examples add to the counts; of 0 examples, one that is also in a row of several.
    fn keep_for_resampling(
        &mut self,
        examples: u32,
        groups: &[(&str, &str)],
        state: &dyn AnyState,
    ) {
        let groups = self.described.groups_with(groups);
        if let Some(kept) = &mut self.kept {
            kept.push(&self.described, &groups, examples, &written(state));
        }
    }

    /// Adds the state of several examples that belong to the same groups, and empties it.
    pub(super) fn pooled(
        &mut self,
        examples: u64,
        groups: &[(&str, &str)],
        state: &mut dyn AnyState,
    ) {
        let groups = self.described.groups_with(groups);
        let pool = &mut self.pool;
        pool.examples += examples;
        for &(kind, group) in &*groups {
            pool.add_to_group(kind, group, state, 1);
            if self.plan.counts_slices {
                pool.tally_group(GroupCount::Examples, kind, group, examples);
            }
        }
        pool.add_total(state);
    }

    /// Adds the state of several examples that were measured together, each of which is in `parts`.
    pub(super) fn joint(
        &mut self,
        reading: &dyn AnyReading,
        groups: &[(&str, &str)],
        state: &mut dyn AnyState,
        examples: usize,
        parts: &mut dyn Iterator<Item = (String, Box<dyn AnyState>)>,
        closeness: Closeness<'_>,
    ) {
        if self.kept.is_some() {
            self.keep_for_resampling(JOINT | examples as u32, groups, state);
        }
        if !self.plain {
            for (part, state) in parts {
                if self.kept.is_some() {
                    self.keep_for_resampling(0, groups, &*state);
                }
                self.rank(reading, Some(&part), &*state, closeness);
                self.keep(Some(&part), &*state);
            }
        }
        self.pooled(examples as u64, groups, state);
    }

    /// Ranks an example of the current record, if the worst ones are requested.
    fn rank(
        &mut self,
        reading: &dyn AnyReading,
        part: Option<&str>,
        state: &dyn AnyState,
        closeness: Closeness<'_>,
    ) {
        let (Some(ranking), Some(planned)) = (&mut self.ranking, self.plan.ranking) else {
            return;
        };
        let position = self.first_position.wrapping_add(self.index as u64);
        let (record, id) = (self.index, &self.id);
        let header = &*self.header;
        let view = View { state, header };
        self.is_ranked |= rank_example(
            ranking,
            planned,
            reading,
            position,
            view,
            closeness,
            &|| Ranked {
                example: Measured {
                    record,
                    id: id.clone(),
                    part: part.map(str::to_owned),
                    state: state.boxed_clone(),
                    values: Vec::new(),
                },
                inputs: None,
                is_unnamed: true,
            },
        );
    }

    /// Keeps an example on its own, if these are requested.
    fn keep(&mut self, part: Option<&str>, state: &dyn AnyState) {
        let (record, id) = (self.index, &self.id);
        if let Some(measured) = &mut self.measured {
            measured.push(Measured {
                record,
                id: id.clone(),
                part: part.map(str::to_owned),
                state: state.boxed_clone(),
                values: std::mem::take(&mut self.values),
            });
        }
    }

    /// Adds what was ranked elsewhere.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn add_ranking(&mut self, mut ranking: Ranking<Ranked>) {
        let Some(ours) = &mut self.ranking else {
            return;
        };
        ranking.change_kept(|ranked| {
            let of = ranked.inputs.as_mut().and_then(Arc::get_mut);
            if let (Some(wanted), Some(of)) = (&mut self.inputs, of) {
                of.fields = wanted.fields.remove(&ranked.example.id);
            }
        });
        ours.merge(ranking);
    }

    /// Whether the values of the record of a data set at hand are requested, whose examples have been added.
    pub(super) fn wants_inputs(&self) -> bool {
        self.inputs.is_some() && (self.measured.is_some() || self.is_ranked)
    }

    /// Takes the values of the record of a data set at hand, as JSON, if they are [wanted](Self::wants_inputs).
    pub(super) fn add_inputs(&mut self, reference: String, prediction: String) {
        let index = self.index;
        let Some(wanted) = &mut self.inputs else {
            return;
        };
        let inputs = Arc::new(Inputs {
            reference,
            prediction,
            fields: wanted.fields.remove(&self.id),
        });
        if let (true, Some(ranking)) = (self.is_ranked, &mut self.ranking) {
            ranking.change_kept(|ranked| {
                if ranked.example.record == index {
                    ranked.inputs = Some(Arc::clone(&inputs));
                }
            });
        }
        if self.measured.is_some() {
            wanted.by_record.insert(index, inputs);
        }
    }

    /// Counts examples of the current record that have no prediction.
    pub(crate) fn missing(&mut self, examples: u64) {
        self.pool.missing += examples;
        if self.plan.counts_slices {
            for (kind, group) in &self.described.groups {
                self.pool
                    .tally_group(GroupCount::Missing, kind, group, examples);
            }
        }
    }

    /// Counts the current record as worth a warning, which names the first few ids.
    pub(crate) fn count_record(&mut self, what: &Counted, id: impl fmt::Display) {
        self.counted(what).add(1, [id.to_string()]);
    }

    pub(super) fn counted(&mut self, what: &Counted) -> &mut Noted {
        self.pool.notes.counted(what)
    }

    /// Renumbers all states.
    pub(crate) fn renumber(&mut self, reading: &dyn AnyReading, indices: &[u32]) {
        if keeps_all(indices) {
            return;
        }
        for example in self.measured.iter_mut().flatten() {
            reading.renumber(&mut *example.state, indices);
        }
        let (pool, kept, ranking) = (&mut self.pool, &mut self.kept, &mut self.ranking);
        renumber(reading, pool, kept.as_mut(), ranking.as_mut(), indices);
    }
}

/// An example on its own: for the scores of each example.
#[derive(Clone)]
pub(crate) struct Measured {
    /// Index of its record in the batch.
    pub(crate) record: usize,
    pub(crate) id: String,
    /// The part of the record, if the record has several examples.
    pub(crate) part: Option<String>,
    pub(crate) state: Box<dyn AnyState>,
    /// What was said in addition to its numbers.
    pub(crate) values: Named<serde_json::Value>,
}

/// One of the worst examples.
#[derive(Clone)]
pub(crate) struct Ranked {
    pub(crate) example: Measured,
    /// The values of its record, if they are requested.
    pub(crate) inputs: Option<Arc<Inputs>>,
    /// Whether the id and the values of the record are still to come.
    pub(crate) is_unnamed: bool,
}

/// The values of the records of a data set.
#[derive(Clone, Debug, Default)]
pub(crate) struct WantedInputs {
    /// The objects of the references by id.
    pub(crate) fields: BTreeMap<String, String>,
    /// By index of the record.
    pub(crate) by_record: BTreeMap<usize, Arc<Inputs>>,
}

/// Whether these indices leave everything as it is.
fn keeps_all(indices: &[u32]) -> bool {
    (0..).zip(indices).all(|(old, new)| old == *new)
}

/// Renumbers the states of a pool, of kept examples and of the worst ones.
pub(crate) fn renumber(
    reading: &dyn AnyReading,
    pool: &mut Pool,
    kept: Option<&mut Kept>,
    ranking: Option<&mut Ranking<Ranked>>,
    indices: &[u32],
) {
    if keeps_all(indices) {
        return;
    }
    for state in pool.states_mut() {
        reading.renumber(&mut **state, indices);
    }
    if let Some(kept) = kept {
        kept.rewrite(&|bytes| {
            // They were written by this program, or checked when they were read.
            let state = reading.read_state(&mut metric_core::Reader::new(bytes));
            let mut state = state.unwrap_or_else(|_| reading.start());
            reading.renumber(&mut *state, indices);
            written(&*state)
        });
    }
    if let Some(ranking) = ranking {
        ranking.change_kept(|ranked| reading.renumber(&mut *ranked.example.state, indices));
    }
}

/// Adds an example to a ranking. Returns whether it is kept.
pub(crate) fn rank_example(
    ranking: &mut Ranking<Ranked>,
    planned: PlannedRanking,
    reading: &dyn AnyReading,
    position: u64,
    view: View<'_>,
    closeness: Closeness<'_>,
    example: &dyn Fn() -> Ranked,
) -> bool {
    if ranking.score().is_none() {
        let name = reading.facts().ranking_score;
        ranking.choose_of(planned.scores, name.as_deref());
    }
    if ranking.score().is_none() {
        let numbers = reading.numbers(view, Scope::Example.into());
        let names = numbers.scores.iter().map(|(name, _)| name.as_str());
        ranking.choose_of(planned.scores, names);
    }
    let name = ranking.score().map(|(name, _)| name);
    let value = name.and_then(|name| {
        let asked = Asked {
            score: Some(name),
            ..Scope::Example.into()
        };
        reading.numbers(view, asked).score(name)
    });
    ranking.add(value, position, || closeness(view.state), example)
}
