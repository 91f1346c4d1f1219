//! Trials of two systems: their examples are exchanged at random, and the difference of their scores is taken.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use metric_stats::{Swaps, TOLERANCE, Trials, assigned};

use super::amounts::Times;
use super::columns::Columns;
use super::table::{Merging, Scores, Table, numbers_of};
use super::{Column, Scope};
use crate::DifferenceCounts;
use crate::kept::Row;
use crate::numbers::{Numbers, Report, Scope as NumbersOf};
use crate::reading::Weigher;

/// Exchanges the examples of two states, a baseline and another system.
pub struct Paired {
    table: Table,
    /// The amount of no examples, where a row has no partner.
    none: u32,
    scopes: Vec<Scope>,
}

/// The comparison of the examples of a system with those of the baseline on one score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compared {
    /// Examples with a higher score.
    pub higher: u64,
    /// Examples with the same score, within 2^-40.
    pub same: u64,
    /// Examples with a lower score.
    pub lower: u64,
    /// Examples whose score is undefined for either.
    pub undefined: u64,
    /// The counts of examples by their difference.
    pub distribution: DifferenceCounts,
}

impl Compared {
    fn new(differences: &[(Option<f64>, u64)]) -> Self {
        let defined = differences.iter();
        let defined = defined.filter_map(|&(difference, count)| Some((difference?, count)));
        let mut compared = Self {
            distribution: DifferenceCounts::new(&defined.collect::<Vec<_>>()),
            ..Self::default()
        };
        for (difference, count) in differences {
            *match difference {
                None => &mut compared.undefined,
                Some(difference) if difference.abs() <= TOLERANCE => &mut compared.same,
                Some(difference) if *difference > 0.0 => &mut compared.higher,
                Some(_) => &mut compared.lower,
            } += count;
        }
        compared
    }
}

/// Rows of two systems that are exchanged together: cluster, amount of the baseline, amount of the system.
type Exchanged = (u64, u32, u32);

/// The differences of a score, each with the number of examples that have it; `None` is undefined.
type Differences = Vec<(Option<f64>, u64)>;

impl Paired {
    pub(crate) fn new(mut table: Table, reports: &[Report; 2]) -> Self {
        let none = table.amounts.len() as u32;
        table.amounts.push_empty();
        let groups: Vec<Option<(String, String)>> = std::iter::once(None)
            .chain(table.groups().into_iter().cloned().map(Some))
            .collect();
        let mut scopes = Vec::new();
        for group in &groups {
            let mut scope = table.scope(0, group.as_ref(), &reports[0]);
            let system = table.scope(1, group.as_ref(), &reports[1]);
            scope.is_simple &= system.is_simple;
            scope.unit_counts = scope
                .unit_counts
                .intersection(&system.unit_counts)
                .cloned()
                .collect();
            // A group that only the system has is undefined for the baseline, and the other way round.
            for column in system.columns {
                let is_known =
                    |known: &Column| known.group == column.group && known.score == column.score;
                if !scope.columns.iter().any(is_known) {
                    scope.columns.push(Column {
                        value: None,
                        ..column
                    });
                }
            }
            scopes.push(scope);
        }
        Self {
            table,
            none,
            scopes,
        }
    }

    /// Returns what is compared by itself, all examples first. The values are those of the baseline.
    #[must_use]
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Returns what exchanges the examples of a scope. A scope that does not exist has no trials.
    #[must_use]
    pub fn exchanges(&self, scope: usize) -> Exchanges<'_> {
        let scope = self.scopes.get(scope);
        Exchanges(scope.map(|scope| ScopeExchanges::new(self, scope)))
    }

    /// Returns for each column of a scope how the examples compare; `None` for scores that single examples do
    /// not have.
    #[must_use]
    pub fn compared(&self, scope: usize) -> Vec<Option<Compared>> {
        let columns = self.example_differences(scope).into_iter();
        let compared = |differences: Differences| Compared::new(&differences);
        columns.map(|column| column.map(compared)).collect()
    }

    /// The differences of the examples in each column of a scope; `None` for scores that single examples do not have,
    /// and if the systems have different examples.
    fn example_differences(&self, scope: usize) -> Vec<Option<Differences>> {
        let Some(scope) = self.scopes.get(scope) else {
            return Vec::new();
        };
        let mut differences = vec![None; scope.columns.len()];
        let rows = |side| {
            let rows = self.table.rows_of(side, scope.group.as_ref());
            rows.filter(|row| row.is_example())
        };
        if !rows(0).map(|row| row.key).eq(rows(1).map(|row| row.key)) {
            return differences;
        }
        let mut pairs: HashMap<(u32, u32), u64> = HashMap::new();
        for (a, b) in rows(0).zip(rows(1)) {
            *pairs.entry((a.contribution, b.contribution)).or_default() += 1;
        }
        let amounts = pairs.keys().flat_map(|&(a, b)| [a, b]);
        let amounts: BTreeSet<u32> = amounts.filter(|&index| index != self.none).collect();
        let of_amount = amounts
            .into_iter()
            .map(|index| (index, self.example_scores(scope, index)));
        let of_amount: HashMap<u32, Vec<Option<Option<f64>>>> = of_amount.collect();
        for ((a, b), count) in pairs {
            let (Some(a), Some(b)) = (of_amount.get(&a), of_amount.get(&b)) else {
                continue;
            };
            for ((a, b), differences) in a.iter().zip(b).zip(&mut differences) {
                if let (Some(a), Some(b)) = (a, b) {
                    let difference = a.zip(*b).map(|(a, b)| b - a);
                    let differences: &mut Differences = differences.get_or_insert_default();
                    differences.push((difference, count));
                }
            }
        }
        differences
    }

    /// The scores of an example with this amount in the columns of a scope; `None` for scores that single examples do
    /// not have.
    fn example_scores(&self, scope: &Scope, index: u32) -> Vec<Option<Option<f64>>> {
        let numbers = self.table.amounts.numbers(index, NumbersOf::Example);
        let score = |column: &Column| {
            let own = self.table.amounts.example_score(&column.score);
            let mut scores = numbers.scores.iter();
            let found = scores.find(|(name, _)| name == own);
            let is_own = column.group == scope.group;
            found.filter(|_| is_own).map(|(_, value)| *value)
        };
        scope.columns.iter().map(score).collect()
    }

    /// The rows of both systems that are exchanged together.
    fn exchanged(&self, group: Option<&(String, String)>) -> Vec<Exchanged> {
        let rows = |side| {
            let rows = self.table.rows_of(side, group);
            rows.filter(|row| row.is_resampled())
        };
        let key_and_cluster = |row: &Row| (row.key, row.cluster);
        if rows(0)
            .map(key_and_cluster)
            .eq(rows(1).map(key_and_cluster))
        {
            let pairs = rows(0).zip(rows(1));
            let pairs = pairs.map(|(a, b)| (a.cluster, a.contribution, b.contribution));
            return pairs.collect();
        }
        let baseline = rows(0).map(|row| (row.cluster, row.contribution, self.none));
        let system = rows(1).map(|row| (row.cluster, self.none, row.contribution));
        baseline.chain(system).collect()
    }
}

/// Exchanges the examples of two systems in a scope.
pub struct Exchanges<'p>(Option<ScopeExchanges<'p>>);

impl Exchanges<'_> {
    /// Returns the differences of scores in blocks of 64 trials each: for each trial, counted from 0, one value
    /// per column of the scope, that of the system minus that of the baseline. Undefined ones are NaN.
    #[must_use]
    pub fn trials(&self, seed: u64, trials: Trials, blocks: Range<u64>) -> Vec<f64> {
        let exchanges = self.0.as_ref();
        exchanges.map_or_else(Vec::new, |exchanges| exchanges.trials(seed, trials, blocks))
    }
}

/// The number of trials of a block.
const BLOCK: u64 = 64;

/// The pairs of a scope.
struct ScopeExchanges<'p> {
    table: &'p Table,
    group: Option<&'p (String, String)>,
    /// The amount of no examples.
    none: u32,
    scores: Scores,
    exchanged: Vec<Exchanged>,
    /// The hashes of the clusters in order.
    clusters: Vec<u64>,
    merging: Merging<'p>,
}

impl<'p> ScopeExchanges<'p> {
    fn new(paired: &'p Paired, scope: &'p Scope) -> Self {
        let group = scope.group.as_ref();
        let exchanged = paired.exchanged(group);
        let clusters: BTreeSet<u64> = exchanged.iter().map(|row| row.0).collect();
        let amounts: Vec<u32> = (0..paired.table.amounts.len() as u32).collect();
        let rows = exchanged.iter().flat_map(|&(_, a, b)| [a, b]);
        let merging = Merging::new(&paired.table, &amounts, rows);
        Self {
            table: &paired.table,
            group,
            none: paired.none,
            scores: Scores::new(scope),
            exchanged,
            clusters: clusters.into_iter().collect(),
            merging,
        }
    }

    fn trials(&self, seed: u64, trials: Trials, blocks: Range<u64>) -> Vec<f64> {
        let mut values = Vec::new();
        for block in blocks {
            let in_block = BLOCK.min(trials.count().saturating_sub(block * BLOCK));
            let rows = self.exchanged.iter();
            let words = rows.map(|row| self.word(seed, trials, row.0, block));
            let words: Vec<u64> = words.collect();
            let first = values.len();
            match &self.merging {
                Merging::Weigher(weigher) => self.weigh(weigher, &words, in_block, &mut values),
                Merging::Columns(columns) => self.add(columns, &words, in_block, &mut values),
                Merging::States => self.merge(&words, in_block, &mut values),
            }
            self.undefine(&words, &mut values[first..]);
        }
        values
    }

    /// Makes the differences of the trials of a block undefined in which one side has no examples, whatever the
    /// convention of the metric gives for nothing.
    fn undefine(&self, words: &[u64], values: &mut [f64]) {
        // In which trials a side has an example, a bit each.
        let [mut baseline, mut system] = [0_u64; 2];
        for (&word, &(_, a, b)) in words.iter().zip(&self.exchanged) {
            if a != self.none {
                baseline |= !word;
                system |= word;
            }
            if b != self.none {
                baseline |= word;
                system |= !word;
            }
        }
        let trials = values.chunks_exact_mut(self.scores.len().max(1));
        for (trial, values) in trials.enumerate() {
            if (baseline & system) >> trial & 1 == 0 {
                values.fill(f64::NAN);
            }
        }
    }

    /// In which trials of a block the systems are exchanged on a cluster, a bit each.
    fn word(&self, seed: u64, trials: Trials, cluster: u64, block: u64) -> u64 {
        match trials {
            Trials::Random(_) => Swaps::of_hash(seed, cluster).word(block),
            // The order of the clusters does not matter, as all assignments are tried.
            Trials::All(_) => {
                let index = self.clusters.partition_point(|&other| other < cluster) as u32;
                let trials = (0..BLOCK).map(|bit| block * BLOCK + bit);
                let bits = trials.map(|trial| u64::from(assigned(trial, index)));
                (0..)
                    .zip(bits)
                    .map(|(position, bit): (u32, u64)| bit << position)
                    .sum()
            }
        }
    }

    /// Appends the differences of the scores of the two sides.
    fn append(&self, sides: [&Numbers; 2], values: &mut Vec<f64>) {
        let mut of_sides = Vec::new();
        for numbers in sides {
            self.scores.append(numbers, &mut of_sides);
        }
        append_differences(&of_sides, self.scores.len(), values);
    }

    /// The trials of a metric with a way of its own: an amount counts once on the side where it is.
    fn weigh(&self, weigher: &Weigher<'_>, words: &[u64], in_block: u64, values: &mut Vec<f64>) {
        let amounts = self.table.amounts.len();
        for trial in 0..in_block {
            let mut weights = [vec![0; amounts], vec![0; amounts]];
            for (word, &(_, a, b)) in words.iter().zip(&self.exchanged) {
                let side = usize::from((word >> trial) & 1 == 1);
                weights[side][a as usize] += 1;
                weights[1 - side][b as usize] += 1;
            }
            let numbers = weights.map(|weights| weigher(&weights, numbers_of(self.group)));
            self.append(numbers.each_ref(), values);
        }
    }

    /// The trials by columns: what is exchanged moves the difference of two rows from one side to the other.
    fn add(&self, columns: &Columns<'_>, words: &[u64], in_block: u64, values: &mut Vec<f64>) {
        const TRIALS: usize = BLOCK as usize;
        let width = columns.width();
        let mut totals = [vec![0_i64; width], vec![0_i64; width]];
        let mut moved = vec![[0_i64; TRIALS]; width];
        let mut masks = [0_i64; TRIALS];
        for (&word, &(_, a, b)) in words.iter().zip(&self.exchanged) {
            let rows = [a, b].map(|index| &columns.rows[index as usize]);
            for (totals, row) in totals.iter_mut().zip(rows) {
                totals
                    .iter_mut()
                    .zip(row)
                    .for_each(|(total, number)| *total += number);
            }
            if a == b {
                continue;
            }
            for (bit, mask) in masks.iter_mut().enumerate() {
                *mask = -(((word >> bit) & 1) as i64);
            }
            let [ours, theirs] = rows;
            for ((ours, theirs), moved) in ours.iter().zip(theirs).zip(&mut moved) {
                let difference = theirs - ours;
                if difference != 0 {
                    for (moved, mask) in moved.iter_mut().zip(&masks) {
                        *moved += difference & mask;
                    }
                }
            }
        }
        let [ours, theirs] = &totals;
        for trial in 0..in_block as usize {
            let moved = || moved.iter().map(|moved| moved[trial]);
            let ours = ours.iter().zip(moved()).map(|(total, moved)| total + moved);
            let theirs = theirs
                .iter()
                .zip(moved())
                .map(|(total, moved)| total - moved);
            let sides: [Vec<i64>; 2] = [ours.collect(), theirs.collect()];
            let numbers = sides.map(|side| columns.numbers(&side, numbers_of(self.group)));
            self.append(numbers.each_ref(), values);
        }
    }

    /// The trials of other metrics: equal pairs of amounts are merged together.
    fn merge(&self, words: &[u64], in_block: u64, values: &mut Vec<f64>) {
        // To exchange equal amounts changes nothing.
        let mut base: Vec<Times> = Vec::new();
        // By pair of amounts: how many pairs there are, and how many are exchanged in each trial.
        let mut kinds: BTreeMap<(u32, u32), (u64, [u64; BLOCK as usize])> = BTreeMap::new();
        for (&word, &(_, a, b)) in words.iter().zip(&self.exchanged) {
            if a == b {
                base.push((a, 1));
                continue;
            }
            let (count, swapped) = kinds.entry((a, b)).or_insert((0, [0; BLOCK as usize]));
            *count += 1;
            for (bit, swapped) in swapped.iter_mut().enumerate() {
                *swapped += (word >> bit) & 1;
            }
        }
        let amounts_of = |trial: usize, is_system: bool| -> Vec<Times> {
            let of_kind = |(&(a, b), (count, swapped)): (&(u32, u32), &(u64, [u64; 64]))| {
                let times = swapped[trial];
                if is_system {
                    [(b, count - times), (a, times)]
                } else {
                    [(a, count - times), (b, times)]
                }
            };
            kinds.iter().flat_map(of_kind).collect()
        };
        let trials = 0..in_block as usize;
        let mut sides = trials.flat_map(|trial| [false, true].map(|side| amounts_of(trial, side)));
        let scope = numbers_of(self.group);
        let mut of_sides = Vec::new();
        let mut append = |numbers: &Numbers| self.scores.append(numbers, &mut of_sides);
        let amounts = &self.table.amounts;
        amounts.merge(&base, &mut sides, scope, &mut append);
        append_differences(&of_sides, self.scores.len(), values);
    }
}

/// Appends the scores of the system minus those of the baseline, from those of each trial: first the baseline, then the
/// system.
fn append_differences(of_sides: &[f64], scores: usize, values: &mut Vec<f64>) {
    for trial in of_sides.chunks_exact((2 * scores).max(1)) {
        let (baseline, system) = trial.split_at(scores);
        let differences = baseline.iter().zip(system);
        values.extend(differences.map(|(baseline, system)| system - baseline));
    }
}
