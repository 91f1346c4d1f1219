//! Replicates of the examples of one state.

use std::collections::HashMap;
use std::ops::Range;

use metric_stats::Weights;

use super::Scope;
use super::table::{Merging, Scores, Table, numbers_of};
use crate::numbers::{Numbers, Report};

/// Resamples the examples of a state.
pub struct Resampler {
    table: Table,
    scopes: Vec<Scope>,
}

impl Resampler {
    pub(crate) fn new(table: Table, report: &Report) -> Self {
        let groups = std::iter::once(None).chain(table.groups().into_iter().map(Some));
        let scopes = groups.map(|group| table.scope(0, group, report)).collect();
        Self { table, scopes }
    }

    /// Returns what is resampled by itself, all examples first.
    #[must_use]
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Returns what draws the replicates of a scope. A scope that does not exist has none.
    #[must_use]
    pub fn draws(&self, scope: usize) -> Draws<'_> {
        let scope = self.scopes.get(scope);
        Draws(scope.map(|scope| ScopeDraws::new(&self.table, scope)))
    }
}

/// Draws the replicates of a scope.
pub struct Draws<'r>(Option<ScopeDraws<'r>>);

impl Draws<'_> {
    /// Returns the scores of replicates, which are counted from 1: for each replicate one value per column
    /// of the scope. Undefined ones are NaN.
    ///
    /// # Cost
    ///
    /// Memory for the weights of some replicates at a time, a few megabytes, and for one state.
    #[must_use]
    pub fn replicates(&self, seed: u64, replicates: Range<u64>) -> Vec<f64> {
        let draws = self.0.as_ref();
        draws.map_or_else(Vec::new, |draws| draws.replicates(seed, replicates))
    }
}

/// The rows of a scope.
struct ScopeDraws<'t> {
    table: &'t Table,
    group: Option<&'t (String, String)>,
    scores: Scores,
    /// Hashes of clusters with positions in the list of amounts.
    rows: Vec<(u64, u32)>,
    /// The amounts that the rows add to the counts, each listed once.
    amounts: Vec<u32>,
    subjects: Subjects,
    merging: Merging<'t>,
}

/// The number of bytes of sums of weights that each thread holds at once, unless one replicate needs more.
const SUM_BYTES: usize = 4 << 20;

/// Returns how many replicates are computed in one pass over the rows, if each has this number of amounts.
fn at_once(amounts: usize) -> usize {
    (SUM_BYTES / size_of::<u32>() / amounts.max(1)).max(1)
}

impl<'t> ScopeDraws<'t> {
    fn new(table: &'t Table, scope: &'t Scope) -> Self {
        let group = scope.group.as_ref();
        let mut local = HashMap::new();
        let mut amounts = Vec::new();
        let rows = table.rows_of(0, group).filter(|row| row.is_resampled());
        let rows = rows.map(|row| {
            let position = *local.entry(row.contribution).or_insert_with(|| {
                amounts.push(row.contribution);
                amounts.len() as u32 - 1
            });
            (row.cluster, position)
        });
        let rows: Vec<(u64, u32)> = rows.collect();
        let merged = rows.iter().map(|row| row.1);
        let scores = Scores::new(scope);
        Self {
            table,
            group,
            subjects: Subjects::new(&scores, table, &amounts),
            scores,
            merging: Merging::new(table, &amounts, merged),
            rows,
            amounts,
        }
    }

    /// The values of as many replicates as there are sums of weights for each amount.
    fn append(&self, sums: &[u32], count: usize, values: &mut Vec<f64>) {
        let mut append = |numbers: &Numbers| self.scores.append(numbers, values);
        let scope = numbers_of(self.group);
        let weights = |replicate| {
            let of_amounts = sums.chunks_exact(count);
            of_amounts.map(move |sums| u64::from(sums[replicate]))
        };
        match &self.merging {
            Merging::Weigher(weigher) => {
                for replicate in 0..count {
                    let weights: Vec<u64> = weights(replicate).collect();
                    append(&weigher(&weights, scope));
                }
            }
            Merging::Columns(columns) => {
                for numbers in columns.weighted(sums, count, scope) {
                    append(&numbers);
                }
            }
            Merging::States => {
                for replicate in 0..count {
                    let amounts = self.amounts.iter().copied().zip(weights(replicate));
                    let mut once = std::iter::once(amounts.collect());
                    let merged = &self.table.amounts;
                    merged.merge(&[], &mut once, scope, &mut append);
                }
            }
        }
    }

    fn replicates(&self, seed: u64, replicates: Range<u64>) -> Vec<f64> {
        let mut values = Vec::new();
        let at_once = at_once(self.amounts.len()) as u64;
        let mut start = replicates.start;
        while start < replicates.end {
            let end = replicates.end.min(start + at_once);
            let count = (end - start) as usize;
            // A weight is at most 21, so that they fit where the rows fit in memory.
            let mut sums = vec![0_u32; self.amounts.len() * count];
            for &(cluster, amount) in &self.rows {
                let weights = Weights::of_hash(seed, cluster);
                let first = amount as usize * count;
                let sums = &mut sums[first..first + count];
                for (sum, replicate) in sums.iter_mut().zip(start..end) {
                    *sum += weights.weight(replicate) as u32;
                }
            }
            let first = values.len();
            self.append(&sums, count, &mut values);
            self.subjects
                .undefine(&sums, count, &mut values[first..], self.scores.len());
            start = end;
        }
        values
    }
}

/// What the scores of a replicate are about: the data or the slice, and each group that the metric finds in them.
struct Subjects {
    /// The positions of the scores of each, the data or the slice first.
    scores: Vec<Vec<usize>>,
    /// The indices of the groups that each amount adds to.
    of_amounts: Vec<Vec<usize>>,
}

impl Subjects {
    fn new(scores: &Scores, table: &Table, amounts: &[u32]) -> Self {
        let subjects = scores.subjects();
        let mut indices: HashMap<&(String, String), usize> = HashMap::new();
        for (index, subject) in subjects.iter().enumerate() {
            indices.extend(subject.found.iter().map(|group| (group, index)));
        }
        let found = (!indices.is_empty()).then(|| table.found_groups());
        let of_amount = |amount: &u32| {
            let groups = found.and_then(|found| found.get(amount));
            let groups = groups.into_iter().flatten();
            groups
                .filter_map(|group| indices.get(&group.name).copied())
                .collect()
        };
        Self {
            of_amounts: amounts.iter().map(of_amount).collect(),
            scores: subjects.into_iter().map(|it| it.scores).collect(),
        }
    }

    /// Makes the scores undefined of which nothing was drawn, whatever the convention of the metric gives for nothing.
    /// `values` has a row of this width for each replicate, and `sums` the weight of each amount in each of them.
    fn undefine(&self, sums: &[u32], count: usize, values: &mut [f64], width: usize) {
        let mut is_drawn = vec![vec![false; count]; self.scores.len()];
        for (sums, groups) in sums.chunks_exact(count).zip(&self.of_amounts) {
            for &subject in [0].iter().chain(groups) {
                for (is_drawn, sum) in is_drawn[subject].iter_mut().zip(sums) {
                    *is_drawn |= *sum > 0;
                }
            }
        }
        for (replicate, values) in values.chunks_exact_mut(width.max(1)).enumerate() {
            for (scores, is_drawn) in self.scores.iter().zip(&is_drawn) {
                if !is_drawn[replicate] {
                    scores.iter().for_each(|&score| values[score] = f64::NAN);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MOST_KEPT_BYTES;
    use crate::kept::Row;

    #[test]
    fn sums_of_weights_stay_small() {
        // One row of each state is the most that fits.
        let most = MOST_KEPT_BYTES as usize / size_of::<Row>();
        for amounts in [0, 1, 1_000, 1_000_000, most] {
            let bytes = |replicates: usize| replicates * amounts * size_of::<u32>();
            let count = at_once(amounts);
            assert!(count == 1 || bytes(count) <= SUM_BYTES, "{amounts} amounts");
            // On eight threads.
            assert!(8 * bytes(count) <= 256 << 20, "{amounts} amounts");
        }
    }
}
