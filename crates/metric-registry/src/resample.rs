//! Replicates of a state whose examples are kept, and trials of two states.
//!
//! A replicate is never stored: it is one state, of which the scores are read. So memory does not grow with
//! the number of replicates, whatever the size of a state. Examples that add the same to the counts are
//! merged at once, as often as they count together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use metric_core::Merge;
use metric_stats::{Swaps, TOLERANCE, Trials, Weights, assigned};

use crate::kept::{GroupSet, Kept, Row, read};
use crate::reading::{Numbers, Reading, Scope as NumbersOf, StateOf};
use crate::scorer::{Report, Shared};
use crate::{Group, StateError};

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

    /// Returns the scores of replicates, which are counted from 1: for each replicate one value per column
    /// of the scope. Undefined ones are NaN.
    #[must_use]
    pub fn replicates(&self, scope: usize, seed: u64, replicates: Range<u64>) -> Vec<f64> {
        self.0.replicates(scope, seed, replicates)
    }
}

/// Exchanges the examples of two states, a baseline and another system.
pub struct Paired(Box<dyn Pairs>);

/// How the examples of a system compare with those of the baseline on one score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Examples with a higher score.
    pub higher: u64,
    /// Examples with the same score, within 2^-40.
    pub same: u64,
    /// Examples with a lower score.
    pub lower: u64,
    /// Examples whose score is undefined for either.
    pub undefined: u64,
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

    /// Returns the differences of scores in blocks of 64 trials each: for each trial, counted from 0, one value
    /// per column of the scope, that of the system minus that of the baseline. Undefined ones are NaN.
    #[must_use]
    pub fn trials(&self, scope: usize, seed: u64, trials: Trials, blocks: Range<u64>) -> Vec<f64> {
        self.0.trials(scope, seed, trials, blocks)
    }

    /// Returns for each column of a scope how the examples compare; `None` for scores that single examples do
    /// not have.
    #[must_use]
    pub fn compared(&self, scope: usize) -> Vec<Option<Compared>> {
        self.0.compared(scope)
    }
}

pub(crate) trait Resample: Send + Sync {
    fn scopes(&self) -> &[Scope];
    fn replicates(&self, scope: usize, seed: u64, replicates: Range<u64>) -> Vec<f64>;
}

pub(crate) trait Pairs: Send + Sync {
    fn scopes(&self) -> &[Scope];
    fn trials(&self, scope: usize, seed: u64, trials: Trials, blocks: Range<u64>) -> Vec<f64>;
    fn compared(&self, scope: usize) -> Vec<Option<Compared>>;
}

/// The kept examples of one state, or of two.
pub(crate) struct Table<R: Reading> {
    shared: Arc<Shared<R>>,
    header: R::Header,
    /// What examples add to the counts, each once.
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
            let sizes = match found.is_empty() {
                true => BTreeMap::new(),
                false => self.clusters_of_found_groups(side),
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
        let unit_counts = match is_simple {
            true => self.unit_counts(rows()),
            false => BTreeSet::new(),
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

/// Where the scores of a replicate go.
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

/// The rows of a scope: hashes of clusters with indices into a list of states.
struct Draws {
    layout: Layout,
    rows: Vec<(u64, u32)>,
    /// The states of the scope, each once.
    states: Vec<u32>,
}

/// States are merged with their summed weights where there are at least this many rows per state.
const ROWS_PER_STATE: usize = 2;

/// A [`Resampler`] of a reading.
pub(crate) struct Resampling<R: Reading> {
    table: Table<R>,
    scopes: Vec<Scope>,
    draws: Vec<Draws>,
}

impl<R: Reading> Resampling<R> {
    pub(crate) fn new(table: Table<R>, report: Report) -> Self {
        let groups = std::iter::once(None).chain(table.groups().into_iter().map(Some));
        let (mut scopes, mut draws) = (Vec::new(), Vec::new());
        for group in groups {
            let scope = table.scope(0, group, &report);
            let mut local = HashMap::new();
            let mut states = Vec::new();
            let rows = table
                .rows_of(0, group)
                .filter(|row| row.is_resampled())
                .map(|row| {
                    let index = *local.entry(row.contribution).or_insert_with(|| {
                        states.push(row.contribution);
                        states.len() as u32 - 1
                    });
                    (row.cluster, index)
                });
            let rows: Vec<_> = rows.collect();
            draws.push(Draws {
                layout: Layout::new(&scope),
                rows,
                states,
            });
            scopes.push(scope);
        }
        Self {
            table,
            scopes,
            draws,
        }
    }
}

impl<R: Reading> Resample for Resampling<R> {
    fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    fn replicates(&self, scope: usize, seed: u64, replicates: Range<u64>) -> Vec<f64> {
        let (Some(draws), Some(scope)) = (self.draws.get(scope), self.scopes.get(scope)) else {
            return Vec::new();
        };
        let rows = draws.rows.iter();
        let rows: Vec<(Weights, u32)> = rows
            .map(|&(cluster, state)| (Weights::of_hash(seed, cluster), state))
            .collect();
        let states: Vec<&StateOf<R>> = draws
            .states
            .iter()
            .map(|&index| &self.table.states[index as usize])
            .collect();
        let mut values = Vec::new();
        let count = (replicates.end - replicates.start) as usize;
        let weigher = self.table.reading().weigher(&states, &self.table.header);
        if weigher.is_some() || states.len() * ROWS_PER_STATE <= rows.len() {
            let mut sums = vec![0_u64; states.len() * count];
            for (weights, state) in &rows {
                let start = *state as usize * count;
                let sums = &mut sums[start..start + count];
                for (sum, replicate) in sums.iter_mut().zip(replicates.clone()) {
                    *sum += weights.of(replicate);
                }
            }
            for replicate in 0..count {
                let weight = |state: usize| sums[state * count + replicate];
                if let Some(weigher) = &weigher {
                    let weights: Vec<u64> = (0..states.len()).map(weight).collect();
                    let numbers = weigher(&weights, numbers_of(scope.group.as_ref()));
                    draws.layout.append(&numbers, &mut values);
                    continue;
                }
                let mut pooled = StateOf::<R>::default();
                for (index, state) in states.iter().enumerate() {
                    pooled.merge_times(state, weight(index));
                }
                let numbers = self.table.numbers(&pooled, scope.group.as_ref());
                draws.layout.append(&numbers, &mut values);
            }
            return values;
        }
        for replicate in replicates {
            let mut pooled = StateOf::<R>::default();
            for (weights, state) in &rows {
                pooled.merge_times(states[*state as usize], weights.of(replicate));
            }
            let numbers = self.table.numbers(&pooled, scope.group.as_ref());
            draws.layout.append(&numbers, &mut values);
        }
        values
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
    pairs: Vec<(Layout, Vec<Exchanged>)>,
}

impl<R: Reading> Pairing<R> {
    pub(crate) fn new(mut table: Table<R>, reports: &[Report; 2]) -> Self {
        let none = table.states.len() as u32;
        table.states.push(StateOf::<R>::default());
        let groups: Vec<Option<(String, String)>> = std::iter::once(None)
            .chain(table.groups().into_iter().cloned().map(Some))
            .collect();
        let (mut scopes, mut pairs) = (Vec::new(), Vec::new());
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
            let rows = |side| {
                table
                    .rows_of(side, group.as_ref())
                    .filter(|row| row.is_resampled())
            };
            let place = |row: &Row| (row.key, row.cluster);
            let exchanged: Vec<Exchanged> = match rows(0).map(place).eq(rows(1).map(place)) {
                true => {
                    let pairs = rows(0).zip(rows(1));
                    pairs
                        .map(|(a, b)| (a.cluster, a.contribution, b.contribution))
                        .collect()
                }
                false => {
                    let baseline = rows(0).map(|row| (row.cluster, row.contribution, none));
                    baseline
                        .chain(rows(1).map(|row| (row.cluster, none, row.contribution)))
                        .collect()
                }
            };
            pairs.push((Layout::new(&scope), exchanged));
            scopes.push(scope);
        }
        Self {
            table,
            none,
            scopes,
            pairs,
        }
    }

    fn state(&self, index: u32) -> &StateOf<R> {
        &self.table.states[index as usize]
    }

    /// The trials of a metric whose states keep rows: a state counts once on the side where it is.
    fn weighed_trials(
        &self,
        scope: &Scope,
        layout: &Layout,
        exchanged: &[Exchanged],
        trials: Trials,
        blocks: Range<u64>,
        swaps: impl Fn(u64, u64) -> u64,
    ) -> Option<Vec<f64>> {
        let states: Vec<&StateOf<R>> = self.table.states.iter().collect();
        let weigher = self.table.reading().weigher(&states, &self.table.header)?;
        let (mut values, mut sides) = (Vec::new(), [Vec::new(), Vec::new()]);
        for block in blocks {
            let in_block = BLOCK.min(trials.count().saturating_sub(block * BLOCK));
            let words: Vec<u64> = exchanged.iter().map(|row| swaps(row.0, block)).collect();
            for trial in 0..in_block {
                let mut weights = [vec![0; states.len()], vec![0; states.len()]];
                for (word, &(_, a, b)) in words.iter().zip(exchanged) {
                    let side = usize::from((word >> trial) & 1 == 1);
                    weights[side][a as usize] += 1;
                    weights[1 - side][b as usize] += 1;
                }
                for (weights, side) in weights.iter().zip(&mut sides) {
                    side.clear();
                    let numbers = weigher(weights, numbers_of(scope.group.as_ref()));
                    layout.append(&numbers, side);
                }
                let [baseline, system] = &sides;
                let differences = baseline.iter().zip(system);
                values.extend(differences.map(|(baseline, system)| system - baseline));
            }
        }
        Some(values)
    }
}

/// The number of trials of a block.
const BLOCK: u64 = 64;

impl<R: Reading> Pairs for Pairing<R> {
    fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    fn trials(&self, scope: usize, seed: u64, trials: Trials, blocks: Range<u64>) -> Vec<f64> {
        let (Some((layout, exchanged)), Some(scope)) =
            (self.pairs.get(scope), self.scopes.get(scope))
        else {
            return Vec::new();
        };
        // Which of all clusters one is. Their order does not matter, as all assignments are tried.
        let order: Vec<u64> = match trials {
            Trials::Random(_) => Vec::new(),
            Trials::All(_) => {
                let clusters: BTreeSet<u64> = exchanged.iter().map(|row| row.0).collect();
                clusters.into_iter().collect()
            }
        };
        let swaps = |cluster: u64, block: u64| match trials {
            Trials::Random(_) => Swaps::of_hash(seed, cluster).word(block),
            Trials::All(_) => {
                let index = order.partition_point(|&other| other < cluster) as u32;
                let bits =
                    (0..BLOCK).map(|bit| u64::from(assigned(block * BLOCK + bit, index)) << bit);
                bits.sum()
            }
        };
        if let Some(values) =
            self.weighed_trials(scope, layout, exchanged, trials, blocks.clone(), swaps)
        {
            return values;
        }
        // To exchange equal counts changes nothing.
        let mut base = StateOf::<R>::default();
        let mut differing: Vec<Exchanged> = Vec::new();
        for &(cluster, a, b) in exchanged {
            match a == b {
                true => base.merge_times(self.state(a), 1),
                false => differing.push((cluster, a, b)),
            }
        }
        let mut kinds: HashMap<(u32, u32), usize> = HashMap::new();
        let mut of_kind: Vec<(u32, u32, u64)> = Vec::new();
        let kind_of: Vec<usize> = differing
            .iter()
            .map(|&(_, a, b)| {
                let kind = *kinds.entry((a, b)).or_insert_with(|| {
                    of_kind.push((a, b, 0));
                    of_kind.len() - 1
                });
                of_kind[kind].2 += 1;
                kind
            })
            .collect();
        let sums = of_kind.len() * ROWS_PER_STATE <= differing.len();
        let (mut values, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        let mut difference = |pair: &[StateOf<R>; 2]| {
            ours.clear();
            theirs.clear();
            layout.append(
                &self.table.numbers(&pair[0], scope.group.as_ref()),
                &mut ours,
            );
            layout.append(
                &self.table.numbers(&pair[1], scope.group.as_ref()),
                &mut theirs,
            );
            values.extend(
                ours.iter()
                    .zip(&theirs)
                    .map(|(baseline, system)| system - baseline),
            );
        };
        for block in blocks {
            let in_block = BLOCK.min(trials.count().saturating_sub(block * BLOCK));
            let words = differing.iter().map(|row| swaps(row.0, block));
            let words: Vec<u64> = words.collect();
            if sums {
                let mut swapped = vec![0_u64; of_kind.len() * BLOCK as usize];
                for (&word, &kind) in words.iter().zip(&kind_of) {
                    let start = kind * BLOCK as usize;
                    for (bit, swapped) in swapped[start..start + BLOCK as usize]
                        .iter_mut()
                        .enumerate()
                    {
                        *swapped += (word >> bit) & 1;
                    }
                }
                for trial in 0..in_block as usize {
                    let mut pair = [base.clone(), base.clone()];
                    for (kind, &(a, b, count)) in of_kind.iter().enumerate() {
                        let times = swapped[kind * BLOCK as usize + trial];
                        let (a, b) = (self.state(a), self.state(b));
                        let [ours, theirs] = &mut pair;
                        ours.merge_times(a, count - times);
                        ours.merge_times(b, times);
                        theirs.merge_times(b, count - times);
                        theirs.merge_times(a, times);
                    }
                    difference(&pair);
                }
                continue;
            }
            for trial in 0..in_block {
                let mut pair = [base.clone(), base.clone()];
                for (&word, &(_, a, b)) in words.iter().zip(&differing) {
                    let is_swapped = (word >> trial) & 1 == 1;
                    let (a, b) = if is_swapped { (b, a) } else { (a, b) };
                    let [ours, theirs] = &mut pair;
                    ours.merge_times(self.state(a), 1);
                    theirs.merge_times(self.state(b), 1);
                }
                difference(&pair);
            }
        }
        values
    }

    fn compared(&self, scope: usize) -> Vec<Option<Compared>> {
        let Some(scope) = self.scopes.get(scope) else {
            return Vec::new();
        };
        let none = vec![None; scope.columns.len()];
        let rows = |side| {
            self.table
                .rows_of(side, scope.group.as_ref())
                .filter(|row| row.is_example())
        };
        if !rows(0).map(|row| row.key).eq(rows(1).map(|row| row.key)) {
            return none;
        }
        let mut pairs: HashMap<(u32, u32), u64> = HashMap::new();
        for (a, b) in rows(0).zip(rows(1)) {
            *pairs.entry((a.contribution, b.contribution)).or_default() += 1;
        }
        let mut of_state: HashMap<u32, Vec<Option<Option<f64>>>> = HashMap::new();
        for &(a, b) in pairs.keys() {
            for index in [a, b].into_iter().filter(|&index| index != self.none) {
                of_state.entry(index).or_insert_with(|| {
                    let reading = self.table.reading();
                    let numbers =
                        reading.numbers(self.state(index), &self.table.header, NumbersOf::Example);
                    let score = |column: &Column| {
                        let is_own = column.group == scope.group;
                        let found = numbers
                            .scores
                            .iter()
                            .find(|(name, _)| *name == column.score);
                        found.filter(|_| is_own).map(|(_, value)| *value)
                    };
                    scope.columns.iter().map(score).collect()
                });
            }
        }
        let mut compared = none;
        for (&(a, b), &count) in &pairs {
            let (Some(a), Some(b)) = (of_state.get(&a), of_state.get(&b)) else {
                continue;
            };
            for ((a, b), compared) in a.iter().zip(b).zip(&mut compared) {
                let (Some(a), Some(b)) = (a, b) else {
                    continue;
                };
                let compared = compared.get_or_insert_default();
                let counter = match a.zip(*b) {
                    None => &mut compared.undefined,
                    Some((a, b)) if (b - a).abs() <= TOLERANCE => &mut compared.same,
                    Some((a, b)) if b > a => &mut compared.higher,
                    Some(_) => &mut compared.lower,
                };
                *counter += count;
            }
        }
        compared
    }
}
