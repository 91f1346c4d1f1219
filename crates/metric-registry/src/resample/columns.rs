//! States as rows of whole numbers, for metrics whose states are counts and means: to merge them is to add the numbers,
//! which takes a fraction of the time.

use std::collections::BTreeSet;

use super::amounts::{Amounts, Layout, Parts};
use crate::numbers::{Numbers, Scope};

impl Parts {
    /// The numbers in a row, with these digits of each mean.
    fn row(&self, digits: &[Vec<u8>]) -> Option<Vec<i64>> {
        let mut row = Vec::new();
        for count in &self.counts {
            row.push(i64::try_from(*count).ok()?);
        }
        for ((count, of_mean), digits) in self.means.iter().zip(digits) {
            row.push(i64::try_from(*count).ok()?);
            let digit = |index: &u8| of_mean.get(index).copied().unwrap_or_default();
            row.extend(digits.iter().map(digit));
        }
        Some(row)
    }
}

/// Amounts as rows of numbers of one [`Layout`].
pub(super) struct Columns<'t> {
    amounts: &'t Amounts,
    layout: Layout,
    pub(super) rows: Vec<Vec<i64>>,
}

/// The greatest weight of a cluster.
const MOST_WEIGHT: i64 = 21;

impl<'t> Columns<'t> {
    /// `None` if the amounts are of another kind, or if sums of their numbers could overflow.
    pub(super) fn new(amounts: &'t Amounts, indices: &[u32]) -> Option<Self> {
        let mut parts = Vec::with_capacity(indices.len());
        let mut digits: Vec<BTreeSet<u8>> = Vec::new();
        for &index in indices {
            let part = amounts.parts(index)?;
            digits.resize(part.means.len(), BTreeSet::new());
            for ((_, of_mean), digits) in part.means.iter().zip(&mut digits) {
                digits.extend(of_mean.keys());
            }
            parts.push(part);
        }
        let digits = digits
            .into_iter()
            .map(|digits| digits.into_iter().collect());
        let digits: Vec<Vec<u8>> = digits.collect();
        let rows = parts.iter().map(|part| part.row(&digits));
        Some(Self {
            amounts,
            rows: rows.collect::<Option<_>>()?,
            layout: Layout {
                counts: parts.first().map_or(0, |part| part.counts.len()),
                digits,
            },
        })
    }

    /// Whether weighted sums of as many rows as there are of each state do not overflow.
    pub(super) fn holds(&self, times: &[u64]) -> bool {
        let mut totals: Vec<i64> = vec![0; self.width()];
        self.rows.iter().zip(times).all(|(row, &times)| {
            totals.iter_mut().zip(row).all(|(total, &number)| {
                let times = i64::try_from(times).ok();
                let times = times.and_then(|times| times.checked_mul(MOST_WEIGHT));
                let most = times.and_then(|times| number.checked_abs()?.checked_mul(times));
                let sum = most.and_then(|most| total.checked_add(most));
                *total = sum.unwrap_or_default();
                sum.is_some()
            })
        })
    }

    pub(super) fn width(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// The scores of the state whose numbers these are.
    pub(super) fn numbers(&self, row: &[i64], scope: Scope<'_>) -> Numbers {
        self.amounts.numbers_of_parts(&self.layout, row, scope)
    }

    /// The scores of replicates, from the weight of each amount in each of them.
    pub(super) fn weighted(
        &self,
        sums: &[u32],
        count: usize,
        scope: Scope<'_>,
    ) -> impl Iterator<Item = Numbers> {
        let mut totals = vec![0_i64; self.width() * count];
        let mut weights = vec![0_i64; count];
        for (row, sums) in self.rows.iter().zip(sums.chunks_exact(count)) {
            for (weight, sum) in weights.iter_mut().zip(sums) {
                *weight = i64::from(*sum);
            }
            for (&number, totals) in row.iter().zip(totals.chunks_exact_mut(count)) {
                if number != 0 {
                    for (total, weight) in totals.iter_mut().zip(&weights) {
                        *total += number * weight;
                    }
                }
            }
        }
        (0..count).map(move |replicate| {
            let columns = 0..self.width();
            let row = columns.map(|column| totals[column * count + replicate]);
            self.numbers(&row.collect::<Vec<_>>(), scope)
        })
    }
}
