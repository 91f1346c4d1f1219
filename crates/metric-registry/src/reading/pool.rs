//! The counts of some examples: all together, and by group.

use std::collections::BTreeMap;

use metric_core::{Merge, PerClass};
use serde::{Deserialize, Serialize};

use super::notes::{Notes, Remarks};

/// All that is gathered of some examples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pool<S> {
    pub(crate) examples: u64,
    pub(crate) missing: u64,
    pub(crate) extra: u64,
    pub(crate) total: S,
    pub(crate) groups: BTreeMap<String, PerClass<String, S>>,
    pub(crate) notes: Notes,
    /// The remarks that warnings about the whole or details depend on, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tallies: BTreeMap<String, u64>,
}

impl<S> Pool<S> {
    /// Remarks on the examples.
    pub(crate) fn remarks(&self) -> Remarks<'_> {
        Remarks {
            notes: &self.notes,
            tallies: &self.tallies,
        }
    }

    pub(super) fn tally(&mut self, name: &str, times: u64) {
        if times == 0 {
            return;
        }
        match self.tallies.get_mut(name) {
            Some(count) => *count += times,
            None => drop(self.tallies.insert(name.to_owned(), times)),
        }
    }
}

impl<S: Merge + Clone> Merge for Pool<S> {
    fn merge(&mut self, other: Self) {
        self.examples += other.examples;
        self.missing += other.missing;
        self.extra += other.extra;
        self.total.merge(other.total);
        for (kind, groups) in other.groups {
            self.groups.entry(kind).or_default().merge(groups);
        }
        self.notes.merge(other.notes);
        for (name, times) in other.tallies {
            self.tally(&name, times);
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        self.examples += other.examples * times;
        self.missing += other.missing * times;
        self.extra += other.extra * times;
        self.total.merge_times(&other.total, times);
        for (kind, groups) in &other.groups {
            let ours = self.groups.entry(kind.clone()).or_default();
            ours.merge_times(groups, times);
        }
        self.notes.merge_times(&other.notes, times);
        for (name, count) in &other.tallies {
            self.tally(name, count * times);
        }
    }
}
