//! The amounts that examples add to the counts of a metric: the one part of resampling that depends on the type of its states.

use std::sync::Arc;

use metric_core::{Mean, Merge};

use super::columns::{Layout, Parts};
use crate::StateError;
use crate::kept::read;
use crate::reading::{Addends, Numbers, Reading, Scope, StateOf, Weigher};
use crate::scorer::Shared;

/// The amounts that examples add to the counts, each listed once.
pub(crate) trait Amounts: Send + Sync {
    /// Appends an amount from its written form.
    fn push(&mut self, written: &[u8]) -> Result<(), StateError>;

    /// Appends the amount of no examples.
    fn push_empty(&mut self);

    fn len(&self) -> usize;

    /// The numbers of an amount, as those of an example.
    fn numbers_of_example(&self, index: u32) -> Numbers;

    /// The numbers of an amount, as those of a replicate.
    fn numbers(&self, index: u32, scope: Scope<'_>) -> Numbers;

    /// For each list of amounts, visits the numbers of these and of the amounts in `base`, each merged as often as its
    /// number of times says.
    fn merge(
        &self,
        base: &[Times],
        lists: &mut dyn Iterator<Item = Vec<Times>>,
        scope: Scope<'_>,
        visit: &mut dyn FnMut(&Numbers),
    );

    /// Returns a function that scores these amounts with a weight for each, if the metric has a way of its own.
    fn weigher(&self, indices: &[u32]) -> Option<Weigher<'_>>;

    /// An amount as counts and means, if the states of the metric are those.
    fn parts(&self, index: u32) -> Option<Parts>;

    /// The numbers of a state of counts and means, which are given in the order of the layout.
    fn numbers_of_parts(&self, layout: &Layout, parts: &[i64], scope: Scope<'_>) -> Numbers;
}

/// The index of an amount, and how often it is merged.
pub(crate) type Times = (u32, u64);

/// The [`Amounts`] of a reading.
pub(crate) struct StateAmounts<R: Reading> {
    shared: Arc<Shared<R>>,
    header: R::Header,
    states: Vec<StateOf<R>>,
}

impl<R: Reading> StateAmounts<R> {
    pub(crate) fn new(shared: &Arc<Shared<R>>, header: R::Header) -> Self {
        Self {
            shared: Arc::clone(shared),
            header,
            states: Vec::new(),
        }
    }

    fn state(&self, index: u32) -> &StateOf<R> {
        &self.states[index as usize]
    }

    fn numbers_of(&self, state: &StateOf<R>, scope: Scope<'_>) -> Numbers {
        self.shared
            .reading
            .resampled_numbers(state, &self.header, scope)
    }
}

impl<R: Reading> Amounts for StateAmounts<R> {
    fn push(&mut self, written: &[u8]) -> Result<(), StateError> {
        self.states.push(read(written)?);
        Ok(())
    }

    fn push_empty(&mut self) {
        self.states.push(StateOf::<R>::default());
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn numbers_of_example(&self, index: u32) -> Numbers {
        let reading = &self.shared.reading;
        reading.numbers(self.state(index), &self.header, Scope::Example)
    }

    fn numbers(&self, index: u32, scope: Scope<'_>) -> Numbers {
        self.numbers_of(self.state(index), scope)
    }

    fn merge(
        &self,
        base: &[Times],
        lists: &mut dyn Iterator<Item = Vec<Times>>,
        scope: Scope<'_>,
        visit: &mut dyn FnMut(&Numbers),
    ) {
        let merge = |mut pooled: StateOf<R>, amounts: &[Times]| {
            for &(index, times) in amounts {
                pooled.merge_times(self.state(index), times);
            }
            pooled
        };
        let base = merge(StateOf::<R>::default(), base);
        lists.for_each(|list| visit(&self.numbers_of(&merge(base.clone(), &list), scope)));
    }

    fn weigher(&self, indices: &[u32]) -> Option<Weigher<'_>> {
        let states = indices.iter().map(|&index| self.state(index));
        let states: Vec<&StateOf<R>> = states.collect();
        self.shared.reading.weigher(&states, &self.header)
    }

    fn parts(&self, index: u32) -> Option<Parts> {
        let mut state = self.state(index).clone();
        let Addends { counts, means } = self.shared.reading.addends(&mut state)?;
        let means = means.into_iter();
        let means = means.map(|mean| Some((mean.count(), mean.digits()?.collect())));
        Some(Parts {
            counts: counts.into_iter().map(|count| *count).collect(),
            means: means.collect::<Option<_>>()?,
        })
    }

    fn numbers_of_parts(&self, layout: &Layout, parts: &[i64], scope: Scope<'_>) -> Numbers {
        let mut parts = parts.iter().copied();
        let mut next = || parts.next().unwrap_or_default();
        let mut state = StateOf::<R>::default();
        if let Some(Addends { counts, means }) = self.shared.reading.addends(&mut state) {
            for count in counts.into_iter().take(layout.counts) {
                *count = next().unsigned_abs();
            }
            for (mean, digits) in means.into_iter().zip(&layout.digits) {
                let count = next().unsigned_abs();
                *mean = Mean::from_digits(count, digits.iter().map(|&index| (index, next())));
            }
        }
        self.numbers_of(&state, scope)
    }
}
