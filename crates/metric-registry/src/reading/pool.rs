//! The counts of some examples: all together, and by group.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use metric_core::Merge;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::groups::Groups;
use super::notes::{Notes, Remarks};

/// All that is gathered of some examples.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Pool<S> {
    pub(crate) examples: u64,
    pub(crate) missing: u64,
    pub(crate) extra: u64,
    pub(crate) total: S,
    pub(crate) groups: Groups<S>,
    pub(crate) notes: Notes,
    /// The remarks that warnings about the whole or details depend on, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
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

impl<S> Pool<S> {
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
}

impl<S: Merge + Clone> Merge for Pool<S> {
    fn merge(&mut self, other: Self) {
        self.examples += other.examples;
        self.missing += other.missing;
        self.extra += other.extra;
        self.total.merge(other.total);
        self.groups.merge(other.groups);
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
        self.groups.merge_times(&other.groups, times);
        self.notes.merge_times(&other.notes, times);
        for (name, count) in &other.tallies {
            self.tally(name, count * times);
        }
    }
}

/// The names of the fields of a pool.
#[derive(Clone, Copy, Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Field {
    Examples,
    Missing,
    Extra,
    Total,
    Groups,
    Notes,
    Tallies,
}

/// The fields of a pool whose types are those of all metrics.
#[derive(Default)]
struct Facts {
    examples: Option<u64>,
    missing: Option<u64>,
    extra: Option<u64>,
    notes: Option<Notes>,
    tallies: BTreeMap<String, u64>,
}

impl Facts {
    /// Reads the value of a field.
    fn read<'de, A: MapAccess<'de>>(&mut self, field: Field, map: &mut A) -> Result<(), A::Error> {
        match field {
            Field::Examples => self.examples = Some(map.next_value()?),
            Field::Missing => self.missing = Some(map.next_value()?),
            Field::Extra => self.extra = Some(map.next_value()?),
            Field::Notes => self.notes = Some(map.next_value()?),
            Field::Tallies => self.tallies = map.next_value()?,
            Field::Total | Field::Groups => {}
        }
        Ok(())
    }

    /// A pool of these, without states.
    fn pool<E: Error>(self) -> Result<Pool<()>, E> {
        let missing = |name| move || E::missing_field(name);
        Ok(Pool {
            examples: self.examples.ok_or_else(missing("examples"))?,
            missing: self.missing.ok_or_else(missing("missing"))?,
            extra: self.extra.ok_or_else(missing("extra"))?,
            total: (),
            groups: Groups::default(),
            notes: self.notes.ok_or_else(missing("notes"))?,
            tallies: self.tallies,
        })
    }
}

/// Reads a pool. Written by hand, most of it is compiled once for all types of states.
struct Fields<S>(PhantomData<S>);

impl<'de, S: Deserialize<'de> + Default> Visitor<'de> for Fields<S> {
    type Value = Pool<S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct Pool")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pool<S>, A::Error> {
        let (mut facts, mut total, mut groups) = (Facts::default(), None, None);
        while let Some(field) = map.next_key()? {
            match field {
                Field::Total => total = Some(map.next_value()?),
                Field::Groups => groups = Some(map.next_value()?),
                field => facts.read(field, &mut map)?,
            }
        }
        let facts = facts.pool::<A::Error>()?;
        Ok(Pool {
            examples: facts.examples,
            missing: facts.missing,
            extra: facts.extra,
            total: total.ok_or_else(|| A::Error::missing_field("total"))?,
            groups: groups.ok_or_else(|| A::Error::missing_field("groups"))?,
            notes: facts.notes,
            tallies: facts.tallies,
        })
    }
}

impl<'de, S: Deserialize<'de> + Default> Deserialize<'de> for Pool<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The names, for formats that need them.
        const NAMES: &[&str] = &[
            "examples", "missing", "extra", "total", "groups", "notes", "tallies",
        ];
        deserializer.deserialize_struct("Pool", NAMES, Fields(PhantomData))
    }
}
