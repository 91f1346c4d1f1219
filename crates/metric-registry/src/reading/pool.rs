//! The counts of some examples: all together, and by group.

use std::collections::BTreeMap;

use metric_core::{Malformed, Merge, Reader, Writer, Written};

use super::any::{AnyReading, AnyState};
use super::notes::{Notes, Remarks};

/// All that is gathered of some examples.
#[derive(Clone, Default)]
pub(crate) struct Pool {
    pub(crate) examples: u64,
    pub(crate) missing: u64,
    pub(crate) extra: u64,
    /// The state of all examples; `None` before the first.
    pub(crate) total: Option<Box<dyn AnyState>>,
    /// The state of each group, by kind and name.
    pub(crate) groups: BTreeMap<String, BTreeMap<String, Box<dyn AnyState>>>,
    pub(crate) notes: Notes,
    /// The remarks that warnings about the whole or details depend on, by name.
    pub(crate) tallies: BTreeMap<String, u64>,
}

/// A number of examples of a group.
#[derive(Clone, Copy)]
pub(super) enum GroupCount {
    Examples,
    Missing,
}

impl GroupCount {
    /// The name of its tally: no other tally has a NUL.
    fn tally(self, kind: &str, name: &str) -> String {
        let what = match self {
            Self::Examples => "examples",
            Self::Missing => "missing",
        };
        format!("{what}\0{kind}\0{name}")
    }
}

impl Pool {
    /// Remarks on the examples.
    pub(crate) fn remarks(&self) -> Remarks<'_> {
        Remarks {
            notes: &self.notes,
            tallies: &self.tallies,
        }
    }

    /// Counts examples of a group, or those of them that have no prediction.
    pub(super) fn tally_group(&mut self, what: GroupCount, kind: &str, name: &str, times: u64) {
        self.tally(&what.tally(kind, name), times);
    }

    /// Returns the examples of a group and those without a prediction, if they were counted.
    pub(crate) fn group_counts(&self, kind: &str, name: &str) -> [u64; 2] {
        let count = |what: GroupCount| self.tallies.get(&what.tally(kind, name));
        [GroupCount::Examples, GroupCount::Missing].map(|what| count(what).copied().unwrap_or(0))
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

    /// Adds a state to the state of all examples, and empties it.
    pub(super) fn add_total(&mut self, state: &mut dyn AnyState) {
        let total = self.total.get_or_insert_with(|| state.empty());
        total.take_from(state);
    }

    /// Adds a state to the state of a group.
    pub(super) fn add_to_group(
        &mut self,
        kind: &str,
        name: &str,
        state: &dyn AnyState,
        times: u64,
    ) {
        // A kind and a group are nearly always known.
        if !self.groups.contains_key(kind) {
            self.groups.insert(kind.to_owned(), BTreeMap::new());
        }
        let Some(names) = self.groups.get_mut(kind) else {
            return;
        };
        match names.get_mut(name) {
            Some(group) => group.merge_times(state, times),
            None => {
                let mut group = state.empty();
                group.merge_times(state, times);
                names.insert(name.to_owned(), group);
            }
        }
    }

    /// Returns all states.
    pub(super) fn states_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn AnyState>> {
        let groups = self.groups.values_mut().flat_map(BTreeMap::values_mut);
        self.total.iter_mut().chain(groups)
    }

    /// Writes the pool as a map of its fields.
    pub(crate) fn write(&self, reading: &dyn AnyReading, to: &mut Writer) {
        to.map(6 + usize::from(!self.tallies.is_empty()));
        to.field("examples", &self.examples);
        to.field("missing", &self.missing);
        to.field("extra", &self.extra);
        to.text("total");
        match &self.total {
            Some(total) => total.write(to),
            None => reading.start().write(to),
        }
        to.text("groups");
        to.map(self.groups.len());
        for (kind, names) in &self.groups {
            to.text(kind);
            to.map(names.len());
            for (name, state) in names {
                to.text(name);
                state.write(to);
            }
        }
        to.field("notes", &self.notes);
        if !self.tallies.is_empty() {
            to.field("tallies", &self.tallies);
        }
    }

    /// Reads what [`write`](Self::write) writes.
    pub(crate) fn read(reading: &dyn AnyReading, from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.map()?;
        let mut pool = Self {
            examples: from.field("examples")?,
            missing: from.field("missing")?,
            extra: from.field("extra")?,
            ..Self::default()
        };
        from.name("total")?;
        pool.total = Some(reading.read_state(from)?);
        from.name("groups")?;
        for _ in 0..from.map()? {
            let kind = String::read(from)?;
            let mut names = BTreeMap::new();
            for _ in 0..from.map()? {
                names.insert(String::read(from)?, reading.read_state(from)?);
            }
            pool.groups.insert(kind, names);
        }
        pool.notes = from.field("notes")?;
        pool.tallies = from.optional_field("tallies")?.unwrap_or_default();
        Ok(pool)
    }
}

impl Merge for Pool {
    fn row_bytes(&self) -> u64 {
        let groups = self.groups.values().flat_map(BTreeMap::values);
        let states = self.total.iter().chain(groups);
        states.map(|state| state.row_bytes()).sum()
    }

    fn merge(&mut self, mut other: Self) {
        if let Some(total) = &mut other.total {
            self.add_total(&mut **total);
        }
        other.total = None;
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        self.examples += other.examples * times;
        self.missing += other.missing * times;
        self.extra += other.extra * times;
        if let Some(theirs) = &other.total {
            let total = self.total.get_or_insert_with(|| theirs.empty());
            total.merge_times(&**theirs, times);
        }
        for (kind, names) in &other.groups {
            for (name, state) in names {
                self.add_to_group(kind, name, &**state, times);
            }
        }
        Merge::merge_times(&mut self.notes, &other.notes, times);
        for (name, count) in &other.tallies {
            self.tally(name, count * times);
        }
    }
}
