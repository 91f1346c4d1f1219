//! Examples that are kept to be resampled.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::StateError;
use crate::plan::Described;

/// The number of bytes that the kept examples of one state may take in memory.
pub const MOST_KEPT_BYTES: u64 = 256 << 20;

/// The examples of a data set: what each adds to the counts, and what it is resampled with. Equal
/// contributions are kept once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    rows: Vec<Row>,
    /// Written states, each with its index.
    contributions: HashMap<Box<[u8]>, u32>,
    /// The bytes of the written states.
    bytes: u64,
    /// Sets of groups, each with its index. The empty set is one of them if it occurs.
    group_sets: BTreeMap<GroupSet, u32>,
}

/// Groups by kind.
pub(crate) type GroupSet = Vec<(String, String)>;

/// One example, or several that are resampled together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The hash of the record's id.
    pub(crate) key: u64,
    /// The hash of the cluster.
    pub(crate) cluster: u64,
    /// The index of its contribution.
    pub(crate) contribution: u32,
    /// The index of its groups.
    pub(crate) groups: u32,
    /// The number of examples. [`JOINT`] is added for several that were measured together; each of them is
    /// then also a row of its own, of 0 examples.
    pub(crate) examples: u32,
}

/// The mark of a row of examples that were measured together.
pub(crate) const JOINT: u32 = 1 << 31;

impl Row {
    /// Whether the row is resampled. The others are examples that are in another row.
    pub(crate) fn is_resampled(&self) -> bool {
        self.examples > 0
    }

    /// Whether the row is one example.
    pub(crate) fn is_example(&self) -> bool {
        self.examples <= 1
    }
}

impl Kept {
    /// Adds an example, or several, with what they add to the counts.
    pub(crate) fn push(
        &mut self,
        described: &Described,
        groups: &[(&str, &str)],
        examples: u32,
        contribution: Vec<u8>,
    ) {
        let contribution = self.contribution(&contribution);
        let groups = groups
            .iter()
            .map(|&(kind, group)| (kind.to_owned(), group.to_owned()));
        let groups = self.group_set(groups.collect());
        self.rows.push(Row {
            key: described.key,
            cluster: described.cluster,
            contribution,
            groups,
            examples,
        });
    }

    fn contribution(&mut self, bytes: &[u8]) -> u32 {
        if let Some(&index) = self.contributions.get(bytes) {
            return index;
        }
        let index = self.contributions.len() as u32;
        self.bytes += bytes.len() as u64;
        self.contributions.insert(bytes.into(), index);
        index
    }

    fn group_set(&mut self, groups: GroupSet) -> u32 {
        let next = self.group_sets.len() as u32;
        *self.group_sets.entry(groups).or_insert(next)
    }

    /// Adds other examples as often as `times` says.
    pub(crate) fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        let mut contributions = vec![0; other.contributions.len()];
        for (bytes, &index) in &other.contributions {
            contributions[index as usize] = self.contribution(bytes);
        }
        let mut groups = vec![0; other.group_sets.len()];
        for (set, &index) in &other.group_sets {
            groups[index as usize] = self.group_set(set.clone());
        }
        for _ in 0..times {
            self.rows.extend(other.rows.iter().map(|row| Row {
                contribution: contributions[row.contribution as usize],
                groups: groups[row.groups as usize],
                ..*row
            }));
        }
    }

    /// Rewrites all contributions, such as for other numbers of classes.
    pub(crate) fn rewrite(&mut self, rewrite: &dyn Fn(&[u8]) -> Vec<u8>) {
        let mut rewritten = Self::default();
        let mut indices = vec![0; self.contributions.len()];
        for (bytes, &index) in &self.contributions {
            indices[index as usize] = rewritten.contribution(&rewrite(bytes));
        }
        for row in &mut self.rows {
            row.contribution = indices[row.contribution as usize];
        }
        self.contributions = rewritten.contributions;
        self.bytes = rewritten.bytes;
    }

    /// About how many bytes the examples take.
    pub(crate) fn bytes(&self) -> u64 {
        /// The size of a key of the map of contributions.
        const OVERHEAD: u64 = 48;
        let rows = self.rows.len() as u64 * size_of::<Row>() as u64;
        rows + self.bytes + self.contributions.len() as u64 * OVERHEAD
    }

    /// The hashes of the ids of the records.
    pub(crate) fn keys(&self) -> BTreeSet<u64> {
        self.rows.iter().map(|row| row.key).collect()
    }

    /// About how many bytes the examples take in a file.
    pub(crate) fn written_bytes(&self) -> u64 {
        let has_clusters = self.rows.iter().any(|row| row.cluster != row.key);
        let row = if has_clusters { 28 } else { 20 };
        self.rows.len() as u64 * row + self.bytes + 5 * self.contributions.len() as u64
    }

    /// The examples in their canonical order, with their contributions and sets of groups.
    pub(crate) fn sorted(&self) -> (Vec<Row>, Vec<&[u8]>, Vec<&GroupSet>) {
        let mut contributions: Vec<(&[u8], u32)> = self
            .contributions
            .iter()
            .map(|(bytes, &index)| (&**bytes, index))
            .collect();
        contributions.sort_unstable();
        let mut new = vec![0; contributions.len()];
        for (index, (_, old)) in (0..).zip(&contributions) {
            new[*old as usize] = index;
        }
        let mut new_sets = vec![0; self.group_sets.len()];
        for (index, old) in (0..).zip(self.group_sets.values()) {
            new_sets[*old as usize] = index;
        }
        let mut rows: Vec<Row> = self
            .rows
            .iter()
            .map(|row| Row {
                contribution: new[row.contribution as usize],
                groups: new_sets[row.groups as usize],
                ..*row
            })
            .collect();
        // Those of one record stay in their order.
        rows.sort_by_key(|row| row.key);
        let contributions = contributions.into_iter().map(|(bytes, _)| bytes).collect();
        (rows, contributions, self.group_sets.keys().collect())
    }

    /// The contributions, in no order.
    pub(crate) fn contributions(&self) -> impl Iterator<Item = &[u8]> {
        self.contributions.keys().map(|bytes| &**bytes)
    }
}

/// Bytes that are written as such.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfBytes;

        impl Visitor<'_> for OfBytes {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
        }

        deserializer.deserialize_bytes(OfBytes)
    }
}

/// The written form: columns of the rows, least significant byte first.
#[derive(Serialize, Deserialize)]
struct Written {
    contributions: Vec<Bytes>,
    group_sets: Vec<GroupSet>,
    keys: Bytes,
    /// Empty if each record is a cluster.
    clusters: Bytes,
    of_row: Bytes,
    groups: Bytes,
    examples: Bytes,
}

impl Serialize for Kept {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (rows, contributions, group_sets) = self.sorted();
        let words = |word: fn(&Row) -> u64| {
            Bytes(
                rows.iter()
                    .flat_map(|row| word(row).to_le_bytes())
                    .collect(),
            )
        };
        let halves = |half: fn(&Row) -> u32| {
            Bytes(
                rows.iter()
                    .flat_map(|row| half(row).to_le_bytes())
                    .collect(),
            )
        };
        let has_clusters = rows.iter().any(|row| row.cluster != row.key);
        let written = Written {
            contributions: contributions
                .into_iter()
                .map(|bytes| Bytes(bytes.to_vec()))
                .collect(),
            group_sets: group_sets.into_iter().cloned().collect(),
            keys: words(|row| row.key),
            clusters: if has_clusters {
                words(|row| row.cluster)
            } else {
                Bytes::default()
            },
            of_row: halves(|row| row.contribution),
            groups: halves(|row| row.groups),
            examples: halves(|row| row.examples),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        Self::try_from(written).map_err(D::Error::custom)
    }
}

impl TryFrom<Written> for Kept {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, &'static str> {
        const PROBLEM: &str = "invalid kept examples: expected columns of one length";
        let words = |Bytes(bytes): &Bytes| -> Vec<u64> {
            let (words, _) = bytes.as_chunks::<8>();
            words.iter().map(|word| u64::from_le_bytes(*word)).collect()
        };
        let halves = |Bytes(bytes): &Bytes| -> Vec<u32> {
            let (halves, _) = bytes.as_chunks::<4>();
            halves
                .iter()
                .map(|half| u32::from_le_bytes(*half))
                .collect()
        };
        let keys = words(&written.keys);
        let clusters = if written.clusters.0.is_empty() {
            keys.clone()
        } else {
            words(&written.clusters)
        };
        let [of_row, groups, examples] =
            [&written.of_row, &written.groups, &written.examples].map(halves);
        let len = keys.len();
        let is_one_length = clusters.len() == len
            && of_row.len() == len
            && groups.len() == len
            && examples.len() == len
            && written.keys.0.len() == 8 * len;
        let (contributions, sets) = (written.contributions.len(), written.group_sets.len());
        let in_range =
            |indices: &[u32], len: usize| indices.iter().all(|&index| (index as usize) < len);
        if !is_one_length || !in_range(&of_row, contributions) || !in_range(&groups, sets) {
            return Err(PROBLEM);
        }
        let rows = keys
            .into_iter()
            .zip(clusters)
            .zip(of_row)
            .zip(groups)
            .zip(examples);
        let mut kept = Self {
            rows: rows
                .map(|((((key, cluster), contribution), groups), examples)| Row {
                    key,
                    cluster,
                    contribution,
                    groups,
                    examples,
                })
                .collect(),
            ..Self::default()
        };
        for Bytes(bytes) in &written.contributions {
            kept.contribution(bytes);
        }
        for set in written.group_sets {
            kept.group_set(set);
        }
        if kept.contributions.len() == contributions && kept.group_sets.len() == sets {
            Ok(kept)
        } else {
            Err("invalid kept examples: found a contribution twice")
        }
    }
}

/// Writes a state as a contribution.
pub(crate) fn written<S: Serialize>(state: &S) -> Result<Vec<u8>, StateError> {
    cbor4ii::serde::to_vec(Vec::new(), state)
        .map_err(|error| StateError::Malformed(error.to_string()))
}

/// Reads a contribution.
pub(crate) fn read<S: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<S, StateError> {
    cbor4ii::serde::from_slice(bytes).map_err(|error| StateError::Malformed(error.to_string()))
}
