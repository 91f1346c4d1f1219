//! The kept examples of one state, or of two, and where their scores are in the numbers of a replicate.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use super::amounts::Amounts;
use super::columns::Columns;
use super::{Column, Scope};
use crate::error::StateError;
use crate::kept::{GroupSet, Kept, Row};
use crate::numbers::{Group, Named, Numbers, Report, Scope as NumbersOf};
use crate::reading::Weigher;

/// The kept examples of one state, or of two.
pub(crate) struct Table {
    /// The amounts that examples add to the counts, each listed once.
    pub(super) amounts: Amounts,
    /// The sets of groups, each once.
    sets: Vec<GroupSet>,
    /// The rows of each state, in their canonical order.
    sides: Vec<Vec<Row>>,
    found_groups: OnceLock<HashMap<u32, Vec<FoundGroup>>>,
}

/// A group that the metric finds in an amount.
pub(super) struct FoundGroup {
    /// The kind of group and the group.
    pub(super) name: (String, String),
    /// Whether one of its counts is above 0.
    is_counted: bool,
}

/// Groups by kind and name.
fn by_name(groups: Named<Vec<Group>>) -> impl Iterator<Item = ((String, String), Group)> {
    groups.into_iter().flat_map(|(kind, groups)| {
        let named = groups.into_iter();
        named.map(move |group| ((kind.clone(), group.name.clone()), group))
    })
}

impl Table {
    pub(crate) fn new(mut amounts: Amounts, kept: &[&Kept]) -> Result<Self, StateError> {
        let mut indices: HashMap<&[u8], u32> = HashMap::new();
        let mut sets: BTreeMap<GroupSet, u32> = BTreeMap::new();
        let mut set_list = Vec::new();
        let mut sides = Vec::new();
        for kept in kept {
            let (mut rows, contributions, group_sets) = kept.sorted();
            let mut new_contributions = Vec::with_capacity(contributions.len());
            for bytes in contributions {
                let index = match indices.get(bytes) {
                    Some(&index) => index,
                    None => {
                        let index = amounts.len() as u32;
                        amounts.push(bytes)?;
                        indices.insert(bytes, index);
                        index
                    }
                };
                new_contributions.push(index);
            }
            let mut new_sets = Vec::with_capacity(group_sets.len());
            for set in group_sets {
                let next = set_list.len() as u32;
                let index = *sets.entry(set.clone()).or_insert_with(|| {
                    set_list.push(set.clone());
                    next
                });
                new_sets.push(index);
            }
            for row in &mut rows {
                row.contribution = new_contributions[row.contribution as usize];
                row.groups = new_sets[row.groups as usize];
            }
            sides.push(rows);
        }
        Ok(Self {
            amounts,
            sets: set_list,
            sides,
            found_groups: OnceLock::new(),
        })
    }

    /// The rows of a side that are in a group.
    pub(super) fn rows_of<'t>(
        &'t self,
        side: usize,
        group: Option<&(String, String)>,
    ) -> impl Iterator<Item = &'t Row> + use<'t> {
        let holds = self
            .sets
            .iter()
            .map(|set| group.is_none_or(|group| set.contains(group)));
        let holds: Vec<bool> = holds.collect();
        let rows = self.sides.get(side).into_iter().flatten();
        rows.filter(move |row| holds[row.groups as usize])
    }

    /// The groups that examples are in, by kind.
    pub(super) fn groups(&self) -> BTreeSet<&(String, String)> {
        self.sets.iter().flatten().collect()
    }

    /// Describes the examples of a group, whose scores are in the report.
    pub(super) fn scope(
        &self,
        side: usize,
        group: Option<&(String, String)>,
        report: &Report,
    ) -> Scope {
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
        let found = self.found_groups();
        let mut clusters: BTreeMap<(String, String), BTreeSet<u64>> = BTreeMap::new();
        for row in self.rows_of(side, None).filter(|row| row.is_resampled()) {
            let groups = found.get(&row.contribution).into_iter().flatten();
            for group in groups.filter(|group| group.is_counted) {
                let name = &group.name;
                match clusters.get_mut(name) {
                    Some(clusters) => drop(clusters.insert(row.cluster)),
                    None => drop(clusters.insert(name.clone(), BTreeSet::from([row.cluster]))),
                }
            }
        }
        clusters
            .into_iter()
            .map(|(group, clusters)| (group, clusters.len() as u64))
            .collect()
    }

    /// The groups that the metric finds in each amount that is resampled: those that are not as in a state without
    /// examples.
    pub(super) fn found_groups(&self) -> &HashMap<u32, Vec<FoundGroup>> {
        self.found_groups.get_or_init(|| {
            let mut empty: BTreeMap<(String, String), Group> = BTreeMap::new();
            let mut visit = |numbers: &Numbers| empty.extend(by_name(numbers.groups.clone()));
            let mut once = std::iter::once(Vec::new());
            let scope = numbers_of(None);
            self.amounts.merge(&[], &mut once, scope, &mut visit);
            let found = |index| {
                let groups = by_name(self.amounts.numbers(index, scope).groups);
                let groups = groups.filter(|(name, group)| empty.get(name) != Some(group));
                let found = groups.map(|(name, group)| FoundGroup {
                    name,
                    is_counted: group
                        .counts
                        .iter()
                        .any(|(_, count)| count.as_f64().is_some_and(|count| count > 0.0)),
                });
                (index, found.collect())
            };
            let rows = self.sides.iter().flatten().filter(|row| row.is_resampled());
            let amounts: BTreeSet<u32> = rows.map(|row| row.contribution).collect();
            amounts.into_iter().map(found).collect()
        })
    }

    /// The names of the counts that are 1 in each of the rows.
    fn unit_counts<'r>(&self, rows: impl Iterator<Item = &'r Row>) -> BTreeSet<String> {
        let distinct: BTreeSet<u32> = rows.map(|row| row.contribution).collect();
        let mut units: Option<BTreeSet<String>> = None;
        for index in distinct {
            let numbers = self.amounts.numbers(index, NumbersOf::Example);
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
pub(super) fn numbers_of(group: Option<&(String, String)>) -> NumbersOf<'_> {
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

/// What some scores of a replicate are about, and their positions.
pub(super) struct Subject {
    /// The group that the metric finds; `None` for the data or the slice.
    pub(super) found: Option<(String, String)>,
    pub(super) scores: Vec<usize>,
}

/// The positions of the scores of a replicate.
pub(super) struct Scores {
    /// The scores of the whole, in their order.
    scores: Vec<String>,
    /// The positions of the scores of groups, by kind, group and score.
    groups: BTreeMap<String, BTreeMap<String, Vec<(String, usize)>>>,
    len: usize,
}

impl Scores {
    pub(super) fn new(scope: &Scope) -> Self {
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

    /// The positions of the scores by what they are about: the data or the slice, then each group that the metric finds.
    pub(super) fn subjects(&self) -> Vec<Subject> {
        let mut subjects = vec![Subject {
            found: None,
            scores: (0..self.scores.len()).collect(),
        }];
        for (kind, groups) in &self.groups {
            for (group, scores) in groups {
                subjects.push(Subject {
                    found: Some((kind.clone(), group.clone())),
                    scores: scores.iter().map(|(_, index)| *index).collect(),
                });
            }
        }
        subjects
    }

    /// The number of columns.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Appends a value for each column.
    pub(super) fn append(&self, numbers: &Numbers, values: &mut Vec<f64>) {
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

/// The way in which amounts are merged with a weight for each.
pub(super) enum Merging<'t> {
    /// In a way of the metric's own.
    Weigher(Weigher<'t>),
    /// By adding columns of whole numbers.
    Columns(Columns<'t>),
    /// One by one.
    States,
}

impl<'t> Merging<'t> {
    /// `rows` are the positions in the list of amounts that are merged, each as often as it can be merged.
    pub(super) fn new(table: &'t Table, amounts: &[u32], rows: impl Iterator<Item = u32>) -> Self {
        if let Some(weigher) = table.amounts.weigher(amounts) {
            return Self::Weigher(weigher);
        }
        let mut times = vec![0; amounts.len()];
        rows.for_each(|amount| times[amount as usize] += 1);
        let columns = Columns::new(&table.amounts, amounts);
        match columns.filter(|columns| columns.holds(&times)) {
            Some(columns) => Self::Columns(columns),
            None => Self::States,
        }
    }
}
