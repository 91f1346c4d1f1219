//! The amounts of a metric's states: the one part of resampling that depends on the type of the states.

use std::sync::Arc;

use metric_core::Merge;

use super::amounts::{Amounts, Layout, Parts, Times};
use crate::definition::Definition;
use crate::error::StateError;
use crate::kept::read;
use crate::numbers::{Numbers, Scope};
use crate::reading::{Reading, StateOf, Weigher};

/// The [`Amounts`] of a reading.
pub(crate) struct StateAmounts<R: Reading> {
    definition: Arc<Definition<R>>,
    header: R::Header,
    states: Vec<StateOf<R>>,
}

impl<R: Reading> StateAmounts<R> {
    pub(crate) fn new(definition: &Arc<Definition<R>>, header: R::Header) -> Self {
        Self {
            definition: Arc::clone(definition),
            header,
            states: Vec::new(),
        }
    }

    fn state(&self, index: u32) -> &StateOf<R> {
        &self.states[index as usize]
    }

    fn numbers_of(&self, state: &StateOf<R>, scope: Scope<'_>) -> Numbers {
        self.definition
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
        let reading = &self.definition.reading;
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
        self.definition.reading.weigher(&states, &self.header)
    }

    fn parts(&self, index: u32) -> Option<Parts> {
        let mut state = self.state(index).clone();
        Parts::of(self.definition.reading.addends(&mut state)?)
    }

    fn numbers_of_parts(&self, layout: &Layout, parts: &[i64], scope: Scope<'_>) -> Numbers {
        let mut state = StateOf::<R>::default();
        if let Some(addends) = self.definition.reading.addends(&mut state) {
            layout.fill(addends, parts);
        }
        self.numbers_of(&state, scope)
    }
}
