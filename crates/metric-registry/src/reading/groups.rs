//! The counts of the groups of some examples.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use metric_core::Merge;
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The index of the state of each group, by kind and name.
type Indices = BTreeMap<String, BTreeMap<String, usize>>;

/// A state for each group, by kind and name. In its written form, the kinds are a map, and so are the groups of each.
///
/// The maps hold indices rather than the states, so that they are compiled once, not once per type of state.
#[derive(Clone, Debug)]
pub(crate) struct Groups<S> {
    indices: Indices,
    states: Vec<S>,
}

impl<S> Default for Groups<S> {
    fn default() -> Self {
        Self {
            indices: Indices::new(),
            states: Vec::new(),
        }
    }
}

impl<S> Groups<S> {
    /// Returns the state of a group, empty if the group is new.
    pub(crate) fn entry(&mut self, kind: &str, name: &str) -> &mut S
    where
        S: Default,
    {
        let index = index_of(&mut self.indices, kind, name, self.states.len());
        if index == self.states.len() {
            self.states.push(S::default());
        }
        &mut self.states[index]
    }

    /// Returns the kinds in their order, each with the names and indices of its groups.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, usize>)> {
        self.indices.iter().map(|(kind, names)| (&**kind, names))
    }

    /// Returns the state of this index.
    pub(crate) fn state(&self, index: usize) -> &S {
        &self.states[index]
    }

    /// Returns all states, in no order.
    pub(crate) fn states_mut(&mut self) -> &mut [S] {
        &mut self.states
    }
}

/// Returns the index of a group, which is `next` if the group is new.
fn index_of(indices: &mut Indices, kind: &str, name: &str, next: usize) -> usize {
    // A kind and a group are nearly always known.
    let names = match indices.get_mut(kind) {
        Some(names) => names,
        None => indices.entry(kind.to_owned()).or_default(),
    };
    match names.get(name) {
        Some(&index) => index,
        None => *names.entry(name.to_owned()).or_insert(next),
    }
}

/// Returns each group with its index.
fn listed(indices: &Indices) -> impl Iterator<Item = (&str, &str, usize)> {
    indices.iter().flat_map(|(kind, names)| {
        let names = names.iter();
        names.map(move |(name, &index)| (&**kind, &**name, index))
    })
}

impl<S: Merge + Clone> Merge for Groups<S> {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        for (kind, name, index) in listed(&other.indices) {
            self.entry(kind, name)
                .merge_times(&other.states[index], times);
        }
    }
}

/// The groups of one kind, to be written.
struct OfKind<'g, S>(&'g BTreeMap<String, usize>, &'g [S]);

impl<S: Serialize> Serialize for OfKind<'_, S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, &index) in self.0 {
            map.serialize_entry(name, &self.1[index])?;
        }
        map.end()
    }
}

impl<S: Serialize> Serialize for Groups<S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        let mut map = serializer.serialize_map(Some(self.indices.len()))?;
        for (kind, names) in &self.indices {
            map.serialize_entry(kind, &OfKind(names, &self.states))?;
        }
        map.end()
    }
}

/// Reads the kinds.
struct Kinds<S>(PhantomData<S>);

impl<'de, S: Deserialize<'de> + Default> Visitor<'de> for Kinds<S> {
    type Value = Groups<S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of kinds of groups")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Groups<S>, A::Error> {
        let mut groups = Groups::default();
        while let Some(kind) = map.next_key::<String>()? {
            groups.indices.entry(kind.clone()).or_default();
            let groups = &mut groups;
            map.next_value_seed(Names { kind, groups })?;
        }
        Ok(groups)
    }
}

/// Reads the groups of one kind.
struct Names<'g, S> {
    kind: String,
    groups: &'g mut Groups<S>,
}

impl<'de, S: Deserialize<'de> + Default> DeserializeSeed<'de> for Names<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: Deserialize<'de> + Default> Visitor<'de> for Names<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of groups")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            *self.groups.entry(&self.kind, &name) = map.next_value()?;
        }
        Ok(())
    }
}

impl<'de, S: Deserialize<'de> + Default> Deserialize<'de> for Groups<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Kinds(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Maps = BTreeMap<String, BTreeMap<String, u64>>;

    fn groups(of: &[(&str, &str, u64)]) -> Groups<u64> {
        let mut groups = Groups::default();
        for (kind, name, count) in of {
            *groups.entry(kind, name) += count;
        }
        groups
    }

    /// The written form is that of maps of maps, whatever the order in which groups were found.
    #[test]
    fn the_written_form_is_ordered() {
        let found = [("tag", "b", 2), ("class", "x", 5), ("tag", "a", 1)];
        let maps: Maps = serde_json::from_str(r#"{"class":{"x":5},"tag":{"a":1,"b":2}}"#).unwrap();
        let written = cbor4ii::serde::to_vec(Vec::new(), &groups(&found)).unwrap();
        assert_eq!(written, cbor4ii::serde::to_vec(Vec::new(), &maps).unwrap());
        let mut read: Groups<u64> = cbor4ii::serde::from_slice(&written).unwrap();
        assert_eq!(*read.entry("tag", "b"), 2);
        assert_eq!(*read.entry("tag", "c"), 0);
    }

    #[test]
    fn other_values_are_refused() {
        for (json, expected) in [
            ("3", "expected a map of kinds of groups"),
            (r#"{"tag":3}"#, "expected a map of groups"),
            (r#"{"tag":{"a":"x"}}"#, "expected u64"),
        ] {
            let error = serde_json::from_str::<Groups<u64>>(json).unwrap_err();
            assert!(error.to_string().contains(expected), "{json}: {error}");
        }
    }

    #[test]
    fn groups_merge_by_name() {
        let mut sum = groups(&[("tag", "b", 2)]);
        sum.merge_times(&groups(&[("tag", "a", 1), ("tag", "b", 3)]), 2);
        sum.merge_times(&groups(&[("tag", "c", 1)]), 0);
        let kinds: Vec<(&str, Vec<(&str, u64)>)> = sum
            .kinds()
            .map(|(kind, names)| {
                let names = names.iter();
                let names = names.map(|(name, &index)| (&**name, *sum.state(index)));
                (kind, names.collect())
            })
            .collect();
        assert_eq!(kinds, [("tag", vec![("a", 2), ("b", 8)])]);
    }
}
