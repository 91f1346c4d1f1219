//! Replicates of a state whose examples are kept, and trials of two states.
//!
//! A replicate is never stored: it is one state, and its scores are read from it. So memory does not grow with the
//! number of replicates, whatever the size of a state. Examples that add the same to the counts are merged at once, as
//! often as they count together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use metric_core::{Mean, Merge};
use metric_stats::{Swaps, TOLERANCE, Trials, Weights, assigned};

use crate::kept::{GroupSet, Kept, Row, read};
use crate::reading::{Addends, Numbers, Reading, Scope as NumbersOf, StateOf, Weigher};
use crate::scorer::{Report, Shared};
use crate::{DifferenceCounts, Group, StateError};

/// A score of the whole data or of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The kind of group and the group; `None` for the whole data.
    pub group: Option<(String, String)>,
    /// The name of the score.
    pub score: String,
    /// Its value; `None` is undefined.
    pub value: Option<f64>,
    /// The number of clusters with a record of the group.
    pub clusters: u64,
}

/// Examples that are resampled by themselves: all of them, or those of a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// The kind of group and the group; `None` for all examples.
    pub group: Option<(String, String)>,
    /// The number of clusters.
    pub clusters: u64,
    /// The scores. Those of groups that a metric finds in the whole data follow those of the data.
    pub columns: Vec<Column>,
    /// Whether each record is one example and a cluster.
    pub is_simple: bool,
    /// The counts to which each example adds exactly 1.
    pub unit_counts: BTreeSet<String>,
}

/// Resamples the examples of a state.
pub struct Resampler(Box<dyn Resample>);

impl Resampler {
    pub(crate) fn new(resample: Box<dyn Resample>) -> Self {
        Self(resample)
    }

    /// Returns what is resampled by itself, all examples first.
    #[must_use]
    pub fn scopes(&self) -> &[Scope] {
        self.0.scopes()
    }

    /// Returns what draws the replicates of a scope.
    #[must_use]
    pub fn draws(&self, scope: usize) -> Draws<'_> {
        Draws(self.0.draws(scope))
    }
}

/// Draws the replicates of a scope.
pub struct Draws<'r>(Box<dyn Draw + 'r>);

impl Draws<'_> {
    /// Returns the scores of replicates, which are counted from 1: for each replicate one value per column
    /// of the scope. Undefined ones are NaN.
    ///
    /// # Cost
    ///
    /// Memory for the weights of some replicates at a time, a few megabytes, and for one state.
    #[must_use]
    pub fn replicates(&self, seed: u64, replicates: Range<u64>) -> Vec<f64> {
        self.0.replicates(seed, replicates)
    }
}

/// Exchanges the examples of two states, a baseline and another system.
pub struct Paired(Box<dyn Pairs>);

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

impl Paired {
    pub(crate) fn new(pairs: Box<dyn Pairs>) -> Self {
        Self(pairs)
    }

    /// Returns what is compared by itself, all examples first. The values are those of the baseline.
    #[must_use]
    pub fn scopes(&self) -> &[Scope] {
        self.0.scopes()
    }

    /// Returns what exchanges the examples of a scope.
    #[must_use]
    pub fn exchanges(&self, scope: usize) -> Exchanges<'_> {
        Exchanges(self.0.exchanges(scope))
    }

    /// Returns for each column of a scope how the examples compare; `None` for scores that single examples do
    /// not have.
    #[must_use]
    pub fn compared(&self, scope: usize) -> Vec<Option<Compared>> {
        self.0.compared(scope)
    }
}

/// Exchanges the examples of two systems in a scope.
pub struct Exchanges<'p>(Box<dyn Exchange + 'p>);

impl Exchanges<'_> {
    /// Returns the differences of scores in blocks of 64 trials each: for each trial, counted from 0, one value
    /// per column of the scope, that of the system minus that of the baseline. Undefined ones are NaN.
    #[must_use]
    pub fn trials(&self, seed: u64, trials: Trials, blocks: Range<u64>) -> Vec<f64> {
        self.0.trials(seed, trials, blocks)
    }
}

pub(crate) trait Resample: Send + Sync {
    fn scopes(&self) -> &[Scope];
    fn draws(&self, scope: usize) -> Box<dyn Draw + '_>;
}

pub(crate) trait Draw: Send + Sync {
    fn replicates(&self, seed: u64, replicates: Range<u64>) -> Vec<f64>;
}

pub(crate) trait Exchange: Send + Sync {
    fn trials(&self, seed: u64, trials: Trials, blocks: Range<u64>) -> Vec<f64>;
}

pub(crate) trait Pairs: Send + Sync {
    fn scopes(&self) -> &[Scope];
    fn exchanges(&self, scope: usize) -> Box<dyn Exchange + '_>;
    fn compared(&self, scope: usize) -> Vec<Option<Compared>>;
}

/// The kept examples of one state, or of two.
pub(crate) struct Table<R: Reading> {
    shared: Arc<Shared<R>>,
    header: R::Header,
    /// The amounts that examples add to the counts, each listed once.
    states: Vec<StateOf<R>>,
    /// The sets of groups, each once.
    sets: Vec<GroupSet>,
    /// The rows of each state, in their canonical order.
    sides: Vec<Vec<Row>>,
}

impl<R: Reading> Table<R> {
    pub(crate) fn new<'k>(
        shared: &Arc<Shared<R>>,
        header: R::Header,
        kept: impl Iterator<Item = &'k Kept>,
    ) -> Result<Self, StateError> {
        let mut table = Self {
            shared: Arc::clone(shared),
            header,
            states: Vec::new(),
            sets: Vec::new(),
            sides: Vec::new(),
        };
        let mut states: HashMap<&[u8], u32> = HashMap::new();
        let mut sets: BTreeMap<GroupSet, u32> = BTreeMap::new();
        for kept in kept {
            let (mut rows, contributions, group_sets) = kept.sorted();
            let mut new_states = Vec::with_capacity(contributions.len());
            for bytes in contributions {
                let index = match states.get(bytes) {
                    Some(&index) => index,
                    None => {
                        let index = table.states.len() as u32;
                        table.states.push(read(bytes)?);
                        states.insert(bytes, index);
                        index
                    }
                };
                new_states.push(index);
            }
            let mut new_sets = Vec::with_capacity(group_sets.len());
            for set in group_sets {
                let next = table.sets.len() as u32;
                let index = *sets.entry(set.clone()).or_insert_with(|| {
                    table.sets.push(set.clone());
                    next
                });
                new_sets.push(index);
            }
            for row in &mut rows {
                row.contribution = new_states[row.contribution as usize];
                row.groups = new_sets[row.groups as usize];
            }
            table.sides.push(rows);
        }
        Ok(table)
    }

    fn reading(&self) -> &R {
        &self.shared.reading
    }

    fn numbers(&self, state: &StateOf<R>, group: Option<&(String, String)>) -> Numbers {
        self.reading()
            .resampled_numbers(state, &self.header, numbers_of(group))
    }

    /// The rows of a side that are in a group.
    fn rows_of<'t>(
        &'t self,
        side: usize,
        group: Option<&(String, String)>,
    ) -> impl Iterator<Item = &'t Row> + use<'t, R> {
        let holds = self
            .sets
            .iter()
            .map(|set| group.is_none_or(|group| set.contains(group)));
        let holds: Vec<bool> = holds.collect();
        let rows = self.sides.get(side).into_iter().flatten();
        rows.filter(move |row| holds[row.groups as usize])
    }

    /// The groups that examples are in, by kind.
    fn groups(&self) -> BTreeSet<&(String, String)> {
        self.sets.iter().flatten().collect()
    }

    /// Describes the examples of a group, whose scores are in the report.
    fn scope(&self, side: usize, group: Option<&(String, String)>, report: &Report) -> Scope {
        let rows = || self.rows_of(side, group).filter(|row| row.is_resampled());
        let clusters: BTreeSet<u64> = rows().map(|row| row.cluster).collect();
        let clusters = clusters.len() as u64;
        let count = rows().count() as u64;
        let is_simple =
            count == clusters && rows().all(|row| row.examples == 1 && row.cluster == row.key);
        let column = |group: Option<(String, String)>,
                      clusters,
                      (score, value): &(String, Option<f64>)| Column {
            group,
            score: score.clone(),
            value: *value,
            clusters,
        };
        let of_group = |(kind, name): &(String, String)| find_group(&report.groups, kind, name);
        let scores = match group {
            None => Some(&report.scores),
            Some(group) => of_group(group).map(|found| &found.scores),
        };
        let scores = scores.into_iter().flatten();
        let mut columns: Vec<Column> = scores
            .map(|score| column(group.cloned(), clusters, score))
            .collect();
        if group.is_none() {
            let sliced = self.groups();
            let found = report.groups.iter().flat_map(|(kind, groups)| {
                groups
                    .iter()
                    .map(move |found| ((kind.clone(), found.name.clone()), found))
            });
            let found: Vec<_> = found.filter(|(key, _)| !sliced.contains(key)).collect();
            let sizes = if found.is_empty() {
                BTreeMap::new()
            } else {
                self.clusters_of_found_groups(side)
            };
            for (key, found) in found {
                let clusters = sizes.get(&key).copied().unwrap_or_default();
                columns.extend(
                    found
                        .scores
                        .iter()
                        .map(|score| column(Some(key.clone()), clusters, score)),
                );
            }
        }
        let unit_counts = if is_simple {
            self.unit_counts(rows())
        } else {
            BTreeSet::new()
        };
        Scope {
            group: group.cloned(),
            clusters,
            columns,
            is_simple,
            unit_counts,
        }
    }

    /// The number of clusters with a record in each group that the metric finds in the whole data.
    fn clusters_of_found_groups(&self, side: usize) -> BTreeMap<(String, String), u64> {
        let mut of_state: HashMap<u32, Vec<(String, String)>> = HashMap::new();
        let mut clusters: BTreeMap<(String, String), BTreeSet<u64>> = BTreeMap::new();
        for row in self.rows_of(side, None).filter(|row| row.is_resampled()) {
            let groups = of_state.entry(row.contribution).or_insert_with(|| {
                let numbers = self.numbers(&self.states[row.contribution as usize], None);
                let of_kind = |(kind, groups): (String, Vec<Group>)| {
                    let counted = groups.into_iter().filter(|group| {
                        let mut counts = group.counts.iter();
                        counts.any(|(_, count)| count.as_f64().is_some_and(|count| count > 0.0))
                    });
                    let names = counted.map(move |group| (kind.clone(), group.name));
                    names.collect::<Vec<_>>()
                };
                numbers.groups.into_iter().flat_map(of_kind).collect()
            });
            for group in groups {
                match clusters.get_mut(group) {
                    Some(clusters) => drop(clusters.insert(row.cluster)),
                    None => drop(clusters.insert(group.clone(), BTreeSet::from([row.cluster]))),
                }
            }
        }
        clusters
            .into_iter()
            .map(|(group, clusters)| (group, clusters.len() as u64))
            .collect()
    }

    /// The names of the counts that are 1 in each of the rows.
    fn unit_counts<'r>(&self, rows: impl Iterator<Item = &'r Row>) -> BTreeSet<String> {
        let distinct: BTreeSet<u32> = rows.map(|row| row.contribution).collect();
        let mut units: Option<BTreeSet<String>> = None;
        for index in distinct {
            let state = &self.states[index as usize];
            let numbers = self
                .reading()
                .numbers(state, &self.header, NumbersOf::Example);
            let ones = numbers
                .counts
                .into_iter()
                .filter(|(_, count)| count.as_u64() == Some(1));
            let ones: BTreeSet<String> = ones.map(|(name, _)| name).collect();
            let both = match units.take() {
                None => ones,
                Some(units) => units.intersection(&ones).cloned().collect(),
            };
            if both.is_empty() {
                return both;
            }
            units = Some(both);
        }
        units.unwrap_or_default()
    }
}

/// Whose numbers those of a group are.
fn numbers_of(group: Option<&(String, String)>) -> NumbersOf<'_> {
    match group {
        None => NumbersOf::Total,
        Some((kind, group)) => NumbersOf::Group(kind, group),
    }
}

fn find_group<'g>(groups: &'g [(String, Vec<Group>)], kind: &str, name: &str) -> Option<&'g Group> {
    let of_kind = groups.iter().filter(|(found, _)| found == kind);
    of_kind
        .flat_map(|(_, groups)| groups)
        .find(|group| group.name == name)
}

/// The positions of the scores of a replicate.
struct Layout {
    /// The scores of the whole, in their order.
    scores: Vec<String>,
    /// The positions of the scores of groups, by kind, group and score.
    groups: BTreeMap<String, BTreeMap<String, Vec<(String, usize)>>>,
    len: usize,
}

impl Layout {
    fn new(scope: &Scope) -> Self {
        let is_own = |column: &&Column| column.group == scope.group;
        let scores = scope.columns.iter().take_while(is_own);
        let scores: Vec<String> = scores.map(|column| column.score.clone()).collect();
        let mut groups: BTreeMap<String, BTreeMap<String, Vec<(String, usize)>>> = BTreeMap::new();
        for (index, column) in scope.columns.iter().enumerate().skip(scores.len()) {
            if let Some((kind, group)) = &column.group {
                let of_kind = groups.entry(kind.clone()).or_default();
                let of_group = of_kind.entry(group.clone()).or_default();
                of_group.push((column.score.clone(), index));
            }
        }
        Self {
            scores,
            groups,
            len: scope.columns.len(),
        }
    }

    /// Appends a value for each column.
    fn append(&self, numbers: &Numbers, values: &mut Vec<f64>) {
        let start = values.len();
        values.resize(start + self.len, f64::NAN);
        let values = &mut values[start..];
        for (index, name) in self.scores.iter().enumerate() {
            // Scores have an order of their own, which hardly ever depends on the data.
            let at = numbers.scores.get(index).filter(|(found, _)| found == name);
            let found = at.or_else(|| numbers.scores.iter().find(|(found, _)| found == name));
            values[index] = found.and_then(|(_, value)| *value).unwrap_or(f64::NAN);
        }
        if self.groups.is_empty() {
            return;
        }
        for (kind, groups) in &numbers.groups {
            let Some(of_kind) = self.groups.get(kind) else {
                continue;
            };
            for group in groups {
                for (name, index) in of_kind.get(&group.name).into_iter().flatten() {
                    let found = group.scores.iter().find(|(found, _)| found == name);
                    values[*index] = found.and_then(|(_, value)| *value).unwrap_or(f64::NAN);
                }
            }
        }
    }
}

/// A [`Resampler`] of a reading.
pub(crate) struct Resampling<R: Reading> {
    table: Table<R>,
    scopes: Vec<Scope>,
}

impl<R: Reading> Resampling<R> {
    pub(crate) fn new(table: Table<R>, report: &Report) -> Self {
        let groups = std::iter::once(None).chain(table.groups().into_iter().map(Some));
        let scopes = groups.map(|group| table.scope(0, group, report)).collect();
        Self { table, scopes }
    }
}

impl<R: Reading> Resample for Resampling<R> {
    fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    fn draws(&self, scope: usize) -> Box<dyn Draw + '_> {
        match self.scopes.get(scope) {
            Some(scope) => Box::new(ScopeDraws::new(&self.table, scope)),
            None => Box::new(Nothing),
        }
    }
}

/// The replicates of a scope that does not exist.
struct Nothing;

impl Draw for Nothing {
    fn replicates(&self, _seed: u64, _replicates: Range<u64>) -> Vec<f64> {
        Vec::new()
    }
}

impl Exchange for Nothing {
    fn trials(&self, _seed: u64, _trials: Trials, _blocks: Range<u64>) -> Vec<f64> {
        Vec::new()
    }
}

/// The rows of a scope.
struct ScopeDraws<'t, R: Reading> {
    table: &'t Table<R>,
    group: Option<&'t (String, String)>,
    layout: Layout,
    /// Hashes of clusters with indices into the list of states.
    rows: Vec<(u64, u32)>,
    /// The amounts that the rows add to the counts, each listed once.
    states: Vec<&'t StateOf<R>>,
    merging: Merging<'t, R>,
}

/// The way in which states are merged with a weight for each.
enum Merging<'t, R: Reading> {
    /// In a way of the metric's own.
    Weigher(Weigher<'t>),
    /// By adding columns of whole numbers.
    Columns(Columns<'t, R>),
    /// One by one.
    States,
}

impl<'t, R: Reading> Merging<'t, R> {
    /// `rows` are the indices of the states that are merged, each as often as it can be merged.
    fn new(
        table: &'t Table<R>,
        states: &[&'t StateOf<R>],
        rows: impl Iterator<Item = u32>,
    ) -> Self {
        if let Some(weigher) = table.reading().weigher(states, &table.header) {
            return Self::Weigher(weigher);
        }
        let mut times = vec![0; states.len()];
        rows.for_each(|state| times[state as usize] += 1);
        let columns = Columns::new(table.reading(), states);
        match columns.filter(|columns| columns.holds(&times)) {
            Some(columns) => Self::Columns(columns),
            None => Self::States,
        }
    }
}

/// The number of bytes of sums of weights that each thread holds at once, unless one replicate needs more.
const SUM_BYTES: usize = 4 << 20;

/// Returns how many replicates are computed in one pass over the rows, if each has this number of states.
fn at_once(states: usize) -> usize {
    (SUM_BYTES / size_of::<u32>() / states.max(1)).max(1)
}

impl<'t, R: Reading> ScopeDraws<'t, R> {
    fn new(table: &'t Table<R>, scope: &'t Scope) -> Self {
        let group = scope.group.as_ref();
        let mut local = HashMap::new();
        let mut states = Vec::new();
        let rows = table.rows_of(0, group).filter(|row| row.is_resampled());
        let rows = rows.map(|row| {
            let index = *local.entry(row.contribution).or_insert_with(|| {
                states.push(&table.states[row.contribution as usize]);
                states.len() as u32 - 1
            });
            (row.cluster, index)
        });
        let rows: Vec<(u64, u32)> = rows.collect();
        let states_of_rows = rows.iter().map(|row| row.1);
        Self {
            table,
            group,
            layout: Layout::new(scope),
            merging: Merging::new(table, &states, states_of_rows),
            rows,
            states,
        }
    }

    /// The values of as many replicates as there are sums of weights for each state.
    fn append(&self, sums: &[u32], count: usize, values: &mut Vec<f64>) {
        let weight = |state: usize, replicate: usize| u64::from(sums[state * count + replicate]);
        let mut append = |numbers: &Numbers| self.layout.append(numbers, values);
        let weights = |replicate| (0..self.states.len()).map(move |it| weight(it, replicate));
        match &self.merging {
            Merging::Weigher(weigher) => {
                for replicate in 0..count {
                    let weights: Vec<u64> = weights(replicate).collect();
                    append(&weigher(&weights, numbers_of(self.group)));
                }
            }
            Merging::Columns(columns) => {
                for state in columns.weighted(sums, count) {
                    append(&self.table.numbers(&state, self.group));
                }
            }
            Merging::States => {
                for replicate in 0..count {
                    let mut pooled = StateOf::<R>::default();
                    for (state, times) in self.states.iter().zip(weights(replicate)) {
                        pooled.merge_times(state, times);
                    }
                    append(&self.table.numbers(&pooled, self.group));
                }
            }
        }
    }
}

impl<R: Reading> Draw for ScopeDraws<'_, R> {
    fn replicates(&self, seed: u64, replicates: Range<u64>) -> Vec<f64> {
        let mut values = Vec::new();
        let at_once = at_once(self.states.len()) as u64;
        let mut start = replicates.start;
        while start < replicates.end {
            let end = replicates.end.min(start + at_once);
            let count = (end - start) as usize;
            // A weight is at most 21, so that they fit where the rows fit in memory.
            let mut sums = vec![0_u32; self.states.len() * count];
            for &(cluster, state) in &self.rows {
                let weights = Weights::of_hash(seed, cluster);
                let first = state as usize * count;
                let sums = &mut sums[first..first + count];
                for (sum, replicate) in sums.iter_mut().zip(start..end) {
                    *sum += weights.weight(replicate) as u32;
                }
            }
            self.append(&sums, count, &mut values);
            start = end;
        }
        values
    }
}

/// States as rows of whole numbers, for metrics whose states are counts and means: to merge them is to add the
/// numbers, which takes a fraction of the time.
struct Columns<'t, R: Reading> {
    reading: &'t R,
    counts: usize,
    /// For each mean, the digits of its exact sum that occur.
    digits: Vec<Vec<u8>>,
    /// The numbers of the states: counts, then the count and the digits of each mean.
    rows: Vec<Vec<i64>>,
}

/// A state as numbers: counts, and the count of each mean with the digits of its sum by index.
struct Numbered {
    counts: Vec<u64>,
    means: Vec<(u64, BTreeMap<u8, i64>)>,
}

impl Numbered {
    fn new<R: Reading>(reading: &R, state: &StateOf<R>) -> Option<Self> {
        let mut state = state.clone();
        let Addends { counts, means } = reading.addends(&mut state)?;
        let means = means.into_iter();
        let means = means.map(|mean| Some((mean.count(), mean.digits()?.collect())));
        Some(Self {
            counts: counts.into_iter().map(|count| *count).collect(),
            means: means.collect::<Option<_>>()?,
        })
    }

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

/// The greatest weight of a cluster.
const MOST_WEIGHT: i64 = 21;

impl<'t, R: Reading> Columns<'t, R> {
    /// `None` if the states are of another kind, or if sums of their numbers could overflow.
    fn new(reading: &'t R, states: &[&StateOf<R>]) -> Option<Self> {
        let mut parts = Vec::with_capacity(states.len());
        let mut digits: Vec<BTreeSet<u8>> = Vec::new();
        for state in states {
            let part = Numbered::new(reading, state)?;
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
            reading,
            counts: parts.first().map_or(0, |part| part.counts.len()),
            rows: rows.collect::<Option<_>>()?,
            digits,
        })
    }

    /// Whether weighted sums of as many rows as there are of each state do not overflow.
    fn holds(&self, times: &[u64]) -> bool {
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

    fn width(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// The state whose numbers these are.
    fn state(&self, numbers: impl IntoIterator<Item = i64>) -> StateOf<R> {
        let mut numbers = numbers.into_iter();
        let mut next = || numbers.next().unwrap_or_default();
        let mut state = StateOf::<R>::default();
        if let Some(Addends { counts, means }) = self.reading.addends(&mut state) {
            for count in counts.into_iter().take(self.counts) {
                *count = next().unsigned_abs();
            }
            for (mean, digits) in means.into_iter().zip(&self.digits) {
                let count = next().unsigned_abs();
                *mean = Mean::from_digits(count, digits.iter().map(|&index| (index, next())));
            }
        }
        state
    }

    /// The states of replicates, from the weight of each state in each of them.
    fn weighted<'c>(
        &'c self,
        sums: &[u32],
        count: usize,
    ) -> impl Iterator<Item = StateOf<R>> + use<'c, 't, R> {
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
            let width = 0..self.width();
            self.state(width.map(|column| totals[column * count + replicate]))
        })
    }
}

/// Rows of two systems that are exchanged together: cluster, state of the baseline, state of the system.
type Exchanged = (u64, u32, u32);

/// A [`Paired`] of a reading.
pub(crate) struct Pairing<R: Reading> {
    table: Table<R>,
    /// The state of no examples, where a row has no partner.
    none: u32,
    scopes: Vec<Scope>,
}

/// The differences of a score, each with the number of examples that have it; `None` is undefined.
type Differences = Vec<(Option<f64>, u64)>;

impl<R: Reading> Pairing<R> {
    pub(crate) fn new(mut table: Table<R>, reports: &[Report; 2]) -> Self {
        let none = table.states.len() as u32;
        table.states.push(StateOf::<R>::default());
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

    fn state(&self, index: u32) -> &StateOf<R> {
        &self.table.states[index as usize]
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
        let states = pairs.keys().flat_map(|&(a, b)| [a, b]);
        let states: BTreeSet<u32> = states.filter(|&index| index != self.none).collect();
        let of_state = states
            .into_iter()
            .map(|index| (index, self.example_scores(scope, index)));
        let of_state: HashMap<u32, Vec<Option<Option<f64>>>> = of_state.collect();
        for ((a, b), count) in pairs {
            let (Some(a), Some(b)) = (of_state.get(&a), of_state.get(&b)) else {
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

    /// The scores of an example with this state in the columns of a scope; `None` for scores that single examples do
    /// not have.
    fn example_scores(&self, scope: &Scope, state: u32) -> Vec<Option<Option<f64>>> {
        let reading = self.table.reading();
        let numbers = reading.numbers(self.state(state), &self.table.header, NumbersOf::Example);
        let score = |column: &Column| {
            let mut scores = numbers.scores.iter();
            let found = scores.find(|(name, _)| *name == column.score);
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

/// The number of trials of a block.
const BLOCK: u64 = 64;

/// The pairs of a scope.
struct ScopeExchanges<'p, R: Reading> {
    pairing: &'p Pairing<R>,
    group: Option<&'p (String, String)>,
    layout: Layout,
    exchanged: Vec<Exchanged>,
    /// The hashes of the clusters in order.
    clusters: Vec<u64>,
    merging: Merging<'p, R>,
}

impl<'p, R: Reading> ScopeExchanges<'p, R> {
    fn new(pairing: &'p Pairing<R>, scope: &'p Scope) -> Self {
        let group = scope.group.as_ref();
        let exchanged = pairing.exchanged(group);
        let clusters: BTreeSet<u64> = exchanged.iter().map(|row| row.0).collect();
        let states: Vec<&StateOf<R>> = pairing.table.states.iter().collect();
        let rows = exchanged.iter().flat_map(|&(_, a, b)| [a, b]);
        let merging = Merging::new(&pairing.table, &states, rows);
        Self {
            pairing,
            group,
            layout: Layout::new(scope),
            exchanged,
            clusters: clusters.into_iter().collect(),
            merging,
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

    /// Appends the differences of the scores of two states.
    fn append(&self, pair: [&StateOf<R>; 2], values: &mut Vec<f64>) {
        let numbers = pair.map(|state| self.pairing.table.numbers(state, self.group));
        self.append_numbers(numbers, values);
    }

    fn append_numbers(&self, numbers: [Numbers; 2], values: &mut Vec<f64>) {
        let [baseline, system] = numbers.map(|numbers| {
            let mut values = Vec::new();
            self.layout.append(&numbers, &mut values);
            values
        });
        let differences = baseline.iter().zip(&system);
        values.extend(differences.map(|(baseline, system)| system - baseline));
    }

    /// The trials of a metric with a way of its own: a state counts once on the side where it is.
    fn weigh(&self, weigher: &Weigher<'_>, words: &[u64], in_block: u64, values: &mut Vec<f64>) {
        let states = self.pairing.table.states.len();
        for trial in 0..in_block {
            let mut weights = [vec![0; states], vec![0; states]];
            for (word, &(_, a, b)) in words.iter().zip(&self.exchanged) {
                let side = usize::from((word >> trial) & 1 == 1);
                weights[side][a as usize] += 1;
                weights[1 - side][b as usize] += 1;
            }
            let numbers = weights.map(|weights| weigher(&weights, numbers_of(self.group)));
            self.append_numbers(numbers, values);
        }
    }

    /// The trials by columns: what is exchanged moves the difference of two rows from one side to the other.
    fn add(&self, columns: &Columns<'_, R>, words: &[u64], in_block: u64, values: &mut Vec<f64>) {
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
            let ours = columns.state(ours.iter().zip(moved()).map(|(total, moved)| total + moved));
            let theirs = columns.state(
                theirs
                    .iter()
                    .zip(moved())
                    .map(|(total, moved)| total - moved),
            );
            self.append([&ours, &theirs], values);
        }
    }

    /// The trials of other metrics: equal pairs of states are merged together.
    fn merge(&self, words: &[u64], in_block: u64, values: &mut Vec<f64>) {
        let state = |index: u32| self.pairing.state(index);
        // To exchange equal counts changes nothing.
        let mut base = StateOf::<R>::default();
        // By pair of states: how many pairs there are, and how many are exchanged in each trial.
        let mut kinds: BTreeMap<(u32, u32), (u64, [u64; BLOCK as usize])> = BTreeMap::new();
        for (&word, &(_, a, b)) in words.iter().zip(&self.exchanged) {
            if a == b {
                base.merge_times(state(a), 1);
                continue;
            }
            let (count, swapped) = kinds.entry((a, b)).or_insert((0, [0; BLOCK as usize]));
            *count += 1;
            for (bit, swapped) in swapped.iter_mut().enumerate() {
                *swapped += (word >> bit) & 1;
            }
        }
        for trial in 0..in_block as usize {
            let [mut ours, mut theirs] = [base.clone(), base.clone()];
            for (&(a, b), (count, swapped)) in &kinds {
                let (times, a, b) = (swapped[trial], state(a), state(b));
                ours.merge_times(a, count - times);
                ours.merge_times(b, times);
                theirs.merge_times(b, count - times);
                theirs.merge_times(a, times);
            }
            self.append([&ours, &theirs], values);
        }
    }
}

impl<R: Reading> Exchange for ScopeExchanges<'_, R> {
    fn trials(&self, seed: u64, trials: Trials, blocks: Range<u64>) -> Vec<f64> {
        let mut values = Vec::new();
        for block in blocks {
            let in_block = BLOCK.min(trials.count().saturating_sub(block * BLOCK));
            let rows = self.exchanged.iter();
            let words = rows.map(|row| self.word(seed, trials, row.0, block));
            let words: Vec<u64> = words.collect();
            match &self.merging {
                Merging::Weigher(weigher) => self.weigh(weigher, &words, in_block, &mut values),
                Merging::Columns(columns) => self.add(columns, &words, in_block, &mut values),
                Merging::States => self.merge(&words, in_block, &mut values),
            }
        }
        values
    }
}

impl<R: Reading> Pairs for Pairing<R> {
    fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    fn exchanges(&self, scope: usize) -> Box<dyn Exchange + '_> {
        match self.scopes.get(scope) {
            Some(scope) => Box::new(ScopeExchanges::new(self, scope)),
            None => Box::new(Nothing),
        }
    }

    fn compared(&self, scope: usize) -> Vec<Option<Compared>> {
        let columns = self.example_differences(scope).into_iter();
        let compared = |differences: Differences| Compared::new(&differences);
        columns.map(|column| column.map(compared)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MOST_KEPT_BYTES;

    #[test]
    fn sums_of_weights_stay_small() {
        // One row of each state is the most that fits.
        let most = MOST_KEPT_BYTES as usize / size_of::<Row>();
        for states in [0, 1, 1_000, 1_000_000, most] {
            let bytes = |replicates: usize| replicates * states * size_of::<u32>();
            let count = at_once(states);
            assert!(count == 1 || bytes(count) <= SUM_BYTES, "{states} states");
            // On eight threads.
            assert!(8 * bytes(count) <= 256 << 20, "{states} states");
        }
    }
}
