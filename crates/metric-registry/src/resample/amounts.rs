//! The amounts that examples add to the counts of a metric.

use std::collections::BTreeMap;
use std::sync::Arc;

use metric_core::{Addends, Mean, Reader};

use crate::definition::Definition;
use crate::error::StateError;
use crate::numbers::{Numbers, Scope};
use crate::reading::{AnyHeader, AnyState, View, Weigher};

/// The amounts that examples add to the counts, each listed once.
pub(crate) struct Amounts {
    definition: Arc<Definition>,
    header: Box<dyn AnyHeader>,
    states: Vec<Box<dyn AnyState>>,
}

impl Amounts {
    pub(crate) fn new(definition: &Arc<Definition>, header: Box<dyn AnyHeader>) -> Self {
        Self {
            definition: Arc::clone(definition),
            header,
            states: Vec::new(),
        }
    }

    /// Appends an amount from its written form.
    pub(super) fn push(&mut self, written: &[u8]) -> Result<(), StateError> {
        let state = self
            .definition
            .reading
            .read_state(&mut Reader::new(written));
        self.states.push(state?);
        Ok(())
    }

    /// Appends the amount of no examples.
    pub(super) fn push_empty(&mut self) {
        self.states.push(self.definition.reading.start());
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    fn state(&self, index: u32) -> &dyn AnyState {
        &*self.states[index as usize]
    }

    fn numbers_of(&self, state: &dyn AnyState, scope: Scope<'_>) -> Numbers {
        let header = &*self.header;
        self.definition
            .reading
            .numbers(View { state, header }, scope.into())
    }

    /// The name of the score that a single example has for a score.
    pub(super) fn example_score<'s>(&self, score: &'s str) -> &'s str {
        self.definition.facts.example_score(score)
    }

    /// The numbers of an amount.
    pub(super) fn numbers(&self, index: u32, scope: Scope<'_>) -> Numbers {
        self.numbers_of(self.state(index), scope)
    }

    /// For each list of amounts, visits the numbers of these and of the amounts in `base`, each merged as often as its
    /// number of times says.
    pub(super) fn merge(
        &self,
        base: &[Times],
        lists: &mut dyn Iterator<Item = Vec<Times>>,
        scope: Scope<'_>,
        visit: &mut dyn FnMut(&Numbers),
    ) {
        let merge = |mut pooled: Box<dyn AnyState>, amounts: &[Times]| {
            for &(index, times) in amounts {
                pooled.merge_times(self.state(index), times);
            }
            pooled
        };
        let base = merge(self.definition.reading.start(), base);
        lists.for_each(|list| visit(&self.numbers_of(&*merge(base.clone(), &list), scope)));
    }

    /// Returns a function that scores these amounts with a weight for each, if the metric has a way of its own.
    pub(super) fn weigher(&self, indices: &[u32]) -> Option<Weigher<'_>> {
        let states = indices.iter().map(|&index| self.state(index));
        let states: Vec<&dyn AnyState> = states.collect();
        self.definition.reading.weigher(&states, &*self.header)
    }

    /// An amount as counts and means, if the states of the metric are those.
    pub(super) fn parts(&self, index: u32) -> Option<Parts> {
        let mut state = self.state(index).boxed_clone();
        let mut addends = Addends::default();
        state.addends(&mut addends).then_some(())?;
        Parts::of(addends)
    }

    /// The numbers of a state of counts and means, which are given in the order of the layout.
    pub(super) fn numbers_of_parts(
        &self,
        layout: &Layout,
        parts: &[i64],
        scope: Scope<'_>,
    ) -> Numbers {
        let mut state = self.definition.reading.start();
        let mut addends = Addends::default();
        if state.addends(&mut addends) {
            layout.fill(addends, parts);
        }
        self.numbers_of(&*state, scope)
    }
}

/// The index of an amount, and how often it is merged.
pub(crate) type Times = (u32, u64);

/// A state as numbers: counts, and the count of each mean with the digits of its sum by index.
pub(crate) struct Parts {
    pub(super) counts: Vec<u64>,
    pub(super) means: Vec<(u64, BTreeMap<u8, i64>)>,
}

/// The meaning of the numbers of a row: counts, then the count and the digits of each mean.
pub(crate) struct Layout {
    pub(super) counts: usize,
    /// For each mean, the digits of its exact sum that occur.
    pub(super) digits: Vec<Vec<u8>>,
}

impl Parts {
    /// The numbers of a state.
    pub(super) fn of(addends: Addends<'_>) -> Option<Self> {
        let means = addends.means.into_iter();
        let means = means.map(|mean| Some((mean.count(), mean.digits()?.collect())));
        Some(Self {
            counts: addends.counts.into_iter().map(|count| *count).collect(),
            means: means.collect::<Option<_>>()?,
        })
    }
}

impl Layout {
    /// Sets the numbers of a state to those of a row.
    pub(super) fn fill(&self, addends: Addends<'_>, row: &[i64]) {
        let mut row = row.iter().copied();
        let mut next = || row.next().unwrap_or_default();
        for count in addends.counts.into_iter().take(self.counts) {
            *count = next().unsigned_abs();
        }
        for (mean, digits) in addends.means.into_iter().zip(&self.digits) {
            let count = next().unsigned_abs();
            *mean = Mean::from_digits(count, digits.iter().map(|&index| (index, next())));
        }
    }
}
