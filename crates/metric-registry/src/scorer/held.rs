//! The states and parts of a reading.

use std::any::Any;
use std::sync::Arc;

use metric_core::Merge;
use metric_record::{FieldError, Message, RecordError, Side};
use serde::{Deserialize, Serialize};

use super::state::{ErasedPart, ErasedState, Part, Sample};
use crate::data_set::Inputs;
use crate::definition::Definition;
use crate::error::{AddError, StateError};
use crate::kept::Kept;
use crate::numbers::{ConfusionTable, Group, Named, Numbers, Report, Scope};
use crate::plan::Plan;
use crate::ranking::Ranking;
use crate::reading::{
    Counted, Gathered, Header, Measured, Pool, Ranked, Reading, Remarks, StateOf, Unified,
    renumber, renumber_kept, renumber_ranking,
};
use crate::resample::{Paired, Resampler, StateAmounts, Table};

/// A [`State`] of a reading.
pub(super) struct Held<R: Reading> {
    pub(super) definition: Arc<Definition<R>>,
    pub(super) header: R::Header,
    pub(super) pool: Pool<StateOf<R>>,
    pub(super) plan: Arc<Plan>,
    pub(super) kept: Option<Kept>,
    pub(super) ranking: Option<Ranking<Ranked<StateOf<R>>>>,
}

/// A [`Part`] of a reading.
pub(super) struct Read<R: Reading> {
    pub(super) definition: Arc<Definition<R>>,
    pub(super) gathered: Gathered<R>,
    /// The record that ended the reading.
    pub(super) error: Option<RecordError>,
}

/// The written form of a state.
#[derive(Serialize, Deserialize)]
struct Body<H, P, K> {
    header: H,
    pool: P,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    kept: Option<K>,
}

impl<R: Reading> Held<R> {
    /// The state of no examples.
    pub(super) fn new(definition: &Arc<Definition<R>>) -> Self {
        Self {
            definition: Arc::clone(definition),
            header: R::Header::default(),
            pool: Pool::default(),
            plan: Arc::default(),
            kept: None,
            ranking: None,
        }
    }

    /// Reads a body, and checks that its kept examples are in their canonical form.
    pub(super) fn from_body(
        definition: &Arc<Definition<R>>,
        body: &[u8],
    ) -> Result<Self, StateError> {
        let Body { header, pool, kept } =
            cbor4ii::serde::from_slice::<Body<R::Header, Pool<StateOf<R>>, Kept>>(body)
                .map_err(|error| StateError::Malformed(error.to_string()))?;
        for contribution in kept.iter().flat_map(Kept::contributions) {
            let state = crate::kept::read::<StateOf<R>>(contribution)?;
            if crate::kept::written(&state)? != contribution {
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

    /// Unites the headers, and renumbers the states of this side where that is needed. Returns the new indices of the
    /// states of the other side if they are to be renumbered as well.
    fn unite(&mut self, header: &R::Header) -> Result<Option<Vec<u32>>, Message> {
        if *header == self.header {
            return Ok(None);
        }
        let Unified::Renumbered { ours, theirs } = self.header.unify(header)? else {
            return Ok(None);
        };
        renumber(&self.definition.reading, &mut self.pool, &ours);
        if let Some(kept) = &mut self.kept {
            renumber_kept(&self.definition.reading, kept, &ours);
        }
        renumber_ranking(&self.definition.reading, self.ranking.as_mut(), &ours);
        Ok(Some(theirs))
    }

    /// Keeps other examples as well.
    fn keep(&mut self, kept: Option<&Kept>, times: u64) {
        if let Some(kept) = kept {
            self.kept.get_or_insert_default().merge_times(kept, times);
        }
    }

    fn clone_held(&self) -> Self {
        Self {
            definition: Arc::clone(&self.definition),
            header: self.header.clone(),
            pool: self.pool.clone(),
            plan: Arc::clone(&self.plan),
            kept: self.kept.clone(),
            ranking: self.ranking.clone(),
        }
    }

    /// The report with these numbers of all examples.
    fn report_of(&self, numbers: Numbers) -> Report {
        let reading = &self.definition.reading;
        let mut groups = Vec::new();
        for (kind, names) in self.pool.groups.kinds() {
            let of_kind = names.iter().map(|(name, &index)| {
                let state = self.pool.groups.state(index);
                let numbers = reading.numbers(state, &self.header, Scope::Group(kind, name));
                Group {
                    name: name.clone(),
                    scores: numbers.scores,
                    counts: numbers.counts,
                }
            });
            groups.push((kind.to_owned(), of_kind.collect()));
        }
        let remarks = self.pool.remarks();
        let mut further = reading.further_warnings(&self.pool.total, &self.header, remarks);
        further.extend(self.definition.warnings.iter().cloned());
        let mut report = report_of(numbers, groups, remarks, further);
        if !self.has_scores() {
            undefine(&mut report);
        }
        Report {
            examples: self.pool.examples,
            missing: self.pool.missing,
            extra: self.pool.extra,
            ..report
        }
    }

    fn refuse_other(&self, other: Option<&str>) -> Result<(), StateError> {
        refuse_other(&self.definition.signature, other)
    }
}

/// The report of a state without its counts of examples.
fn report_of(
    numbers: Numbers,
    mut groups: Named<Vec<Group>>,
    remarks: Remarks<'_>,
    further: Vec<Message>,
) -> Report {
    groups.extend(numbers.groups);
    let mut warnings: Vec<Message> = remarks.warnings().collect();
    warnings.extend(numbers.warnings);
    warnings.extend(further);
    Report {
        examples: 0,
        missing: 0,
        extra: 0,
        scores: numbers.scores,
        counts: numbers.counts,
        groups,
        warnings,
    }
}

/// Makes all scores undefined: those of no examples, also under conventions in which 0/0 is a number.
fn undefine(report: &mut Report) {
    let of_groups = report.groups.iter_mut().flat_map(|(_, groups)| groups);
    let of_groups = of_groups.flat_map(|group| &mut group.scores);
    for (_, value) in report.scores.iter_mut().chain(of_groups) {
        *value = None;
    }
}

fn refuse_other(expected: &str, found: Option<&str>) -> Result<(), StateError> {
    match found {
        Some(signature) if signature == expected => Ok(()),
        other => Err(StateError::Definition {
            expected: expected.to_owned(),
            found: other.unwrap_or("another metric").to_owned(),
        }),
    }
}

/// The error of a record that differs from those before it.
fn differs(index: usize, side: Side, problem: Message) -> AddError {
    AddError::Record(RecordError {
        index,
        error: FieldError::new(side, problem),
    })
}

fn other_header(problem: Message) -> AddError {
    AddError::State(StateError::Header(problem))
}

impl<R: Reading> ErasedState for Held<R> {
    fn boxed_clone(&self) -> Box<dyn ErasedState> {
        Box::new(self.clone_held())
    }

    fn signature(&self) -> &str {
        &self.definition.signature
    }

    fn add(&mut self, part: &mut dyn ErasedPart) -> Result<(), AddError> {
        let part: &mut dyn Any = part;
        let part = part.downcast_mut::<Read<R>>();
        let found = part.as_ref().map(|part| part.definition.signature.as_str());
        self.refuse_other(found).map_err(AddError::State)?;
        let Some(Read {
            gathered, error, ..
        }) = part
        else {
            return Ok(());
        };
        // The first record that differs comes before whatever else is wrong with the part.
        let mut header = self.header.clone();
        for (index, side, said) in &gathered.said {
            let unified = header.unify(said);
            unified.map_err(|problem| differs(*index, *side, problem))?;
        }
        if let Some(error) = error {
            return Err(AddError::Record(error.clone()));
        }
        if let Some(theirs) = self.unite(&gathered.header).map_err(other_header)? {
            gathered.renumber(&self.definition.reading, &theirs);
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

    fn agree(&mut self, parts: &mut [&mut Part]) -> Result<(), AddError> {
        let mut header = None;
        for part in parts.iter_mut() {
            let part: &mut dyn Any = &mut *part.0;
            let part = part.downcast_mut::<Read<R>>();
            let found = part.as_ref().map(|part| part.definition.signature.as_str());
            self.refuse_other(found).map_err(AddError::State)?;
            let Some(part) = part else {
                continue;
            };
            if let Some(error) = &part.error {
                return Err(AddError::Record(error.clone()));
            }
            for (index, side, said) in &part.gathered.said {
                let header = header.get_or_insert_with(|| self.header.clone());
                let unified = header.unify(said);
                unified.map_err(|problem| differs(*index, *side, problem))?;
            }
        }
        for part in parts.iter_mut() {
            let part: &mut dyn Any = &mut *part.0;
            if let Some(part) = part.downcast_mut::<Read<R>>() {
                part.gathered.said.clear();
            }
        }
        let Some(header) = header else {
            return Ok(());
        };
        self.unite(&header).map_err(other_header)?;
        Ok(())
    }

    fn extra(&mut self, predictions: u64) {
        self.pool.extra += predictions;
    }

    fn count(&mut self, what: &Counted, times: u64) {
        self.pool.notes.count(what, times);
    }

    fn examples(&self) -> u64 {
        self.pool.examples
    }

    fn slice_counts(&self, kind: &str, name: &str) -> [u64; 2] {
        self.pool.group_counts(kind, name)
    }

    fn has_scores(&self) -> bool {
        self.pool.examples > 0 || self.definition.reading.scores_empty_data()
    }

    fn merge_times(&mut self, other: &dyn ErasedState, times: u64) -> Result<(), StateError> {
        let other: &dyn Any = other;
        let other = other.downcast_ref::<Self>();
        self.refuse_other(other.map(|other| other.definition.signature.as_str()))?;
        let Some(other) = other else {
            return Ok(());
        };
        if times == 0 {
            return Ok(());
        }
        let Some(theirs) = self.unite(&other.header).map_err(StateError::Header)? else {
            self.pool.merge_times(&other.pool, times);
            self.keep(other.kept.as_ref(), times);
            return Ok(());
        };
        let reading = &self.definition.reading;
        let (mut pool, mut kept) = (other.pool.clone(), other.kept.clone());
        renumber(reading, &mut pool, &theirs);
        if let Some(kept) = &mut kept {
            renumber_kept(reading, kept, &theirs);
        }
        self.pool.merge_times(&pool, times);
        self.keep(kept.as_ref(), times);
        Ok(())
    }

    fn follow(&mut self, plan: Arc<Plan>) {
        if plan.keeps_examples {
            self.kept.get_or_insert_default();
        }
        self.plan = plan;
    }

    fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref()
    }

    fn resampler(&self) -> Result<Resampler, StateError> {
        let kept: Vec<&Kept> = self.kept.iter().collect();
        let amounts = StateAmounts::new(&self.definition, self.header.clone());
        let table = Table::new(Box::new(amounts), &kept)?;
        Ok(Resampler::new(table, &self.report()))
    }

    fn paired(&self, other: &dyn ErasedState) -> Result<Paired, StateError> {
        let mut baseline = self.clone_held();
        let other: &dyn Any = other;
        let other = other.downcast_ref::<Self>();
        self.refuse_other(other.map(|other| other.definition.signature.as_str()))?;
        let mut system = other.map_or_else(|| self.clone_held(), Self::clone_held);
        // Classes that only one of them has are numbered alike.
        let theirs = baseline.unite(&system.header);
        let theirs = theirs.map_err(StateError::Header)?;
        if let (Some(indices), Some(kept)) = (theirs, &mut system.kept) {
            renumber_kept(&self.definition.reading, kept, &indices);
        }
        let reports = [
            self.report(),
            other.map_or_else(|| self.report(), Self::report),
        ];
        let kept: Vec<&Kept> = baseline.kept.iter().chain(&system.kept).collect();
        let amounts = StateAmounts::new(&self.definition, baseline.header.clone());
        let table = Table::new(Box::new(amounts), &kept)?;
        Ok(Paired::new(table, &reports))
    }

    fn report(&self) -> Report {
        let reading = &self.definition.reading;
        self.report_of(reading.numbers(&self.pool.total, &self.header, Scope::Total))
    }

    fn report_with_details(&self) -> (Report, Option<serde_json::Value>) {
        let reading = &self.definition.reading;
        let (numbers, mut details) = reading.numbers_with_details(&self.pool.total, &self.header);
        if let Some(details) = &mut details {
            reading.add_to_details(details, self.pool.remarks());
        }
        (self.report_of(numbers), details)
    }

    fn ranking(&self) -> Option<Ranking<Sample>> {
        let ranking = self.ranking.as_ref()?;
        Some(ranking.map(|position, ranked| {
            let Ranked {
                example, inputs, ..
            } = ranked;
            let numbers =
                self.definition
                    .reading
                    .numbers(&example.state, &self.header, Scope::Example);
            Sample {
                record: usize::try_from(position).unwrap_or(usize::MAX),
                id: example.id.clone(),
                part: example.part.clone(),
                scores: numbers.scores,
                counts: numbers.counts,
                inputs: inputs.clone(),
            }
        }))
    }

    fn details(&self) -> Option<serde_json::Value> {
        let reading = &self.definition.reading;
        let mut details = reading.details(&self.pool.total, &self.header)?;
        reading.add_to_details(&mut details, self.pool.remarks());
        Some(details)
    }

    fn confusions(&self) -> Option<ConfusionTable> {
        self.definition
            .reading
            .confusions(&self.pool.total, &self.header)
    }

    fn body(&self) -> Result<Vec<u8>, StateError> {
        let body = Body {
            header: &self.header,
            pool: &self.pool,
            kept: self.kept.as_ref(),
        };
        cbor4ii::serde::to_vec(Vec::new(), &body)
            .map_err(|error| StateError::Malformed(error.to_string()))
    }
}

impl<R: Reading> ErasedPart for Read<R> {
    fn samples(&self, state: &dyn ErasedState) -> Vec<Sample> {
        let state: &dyn Any = state;
        let header = state.downcast_ref::<Held<R>>().map(|state| &state.header);
        let header = header.unwrap_or(&self.gathered.header);
        let inputs = self.gathered.inputs.as_ref();
        let sample = |example: &Measured<StateOf<R>>| {
            let reading = &self.definition.reading;
            let Numbers { scores, counts, .. } =
                reading.numbers(&example.state, header, Scope::Example);
            Sample {
                record: example.record,
                id: example.id.clone(),
                part: example.part.clone(),
                scores,
                counts,
                inputs: inputs.and_then(|inputs| inputs.by_record.get(&example.record).cloned()),
            }
        };
        let measured = self.gathered.measured.as_deref();
        measured.unwrap_or_default().iter().map(sample).collect()
    }

    fn start_at(&mut self, position: u64, index: usize) {
        self.gathered.first_position = position.wrapping_sub(index as u64);
    }

    fn name_ranked(&mut self, named: &mut dyn FnMut(usize) -> Option<(String, Option<Inputs>)>) {
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
