//! The amounts that examples add to the counts of a metric, whatever the type of its states.

use std::collections::BTreeMap;

use metric_core::Mean;

use crate::error::StateError;
use crate::numbers::{Numbers, Scope};
use crate::reading::{Addends, Weigher};

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
