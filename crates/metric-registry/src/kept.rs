//! Examples that are kept to be resampled.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use metric_core::{Malformed, Reader, Writer, Written};

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
        contribution: &[u8],
    ) {
        let contribution = self.contribution(contribution);
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

/// A column of numbers as bytes, least significant byte first.
fn column<const LEN: usize>(rows: &[Row], bytes: impl Fn(&Row) -> [u8; LEN]) -> Vec<u8> {
    rows.iter().flat_map(bytes).collect()
}

/// Reads a column of 32-bit numbers.
fn halves(bytes: &[u8]) -> Vec<u32> {
    let (halves, _) = bytes.as_chunks();
    halves.iter().copied().map(u32::from_le_bytes).collect()
}

/// Reads a column of 64-bit numbers.
fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks();
    words.iter().copied().map(u64::from_le_bytes).collect()
}

/// Columns of the rows; that of the clusters is empty if each record is a cluster.
impl Written for Kept {
    fn write(&self, to: &mut Writer) {
        let (rows, contributions, group_sets) = self.sorted();
        let has_clusters = rows.iter().any(|row| row.cluster != row.key);
        to.map(7);
        to.text("contributions");
        to.list(contributions.len());
        contributions.iter().for_each(|bytes| to.bytes(bytes));
        to.text("group_sets");
        to.values(group_sets.into_iter());
        let clusters = if has_clusters { &rows[..] } else { &[] };
        for (name, bytes) in [
            ("keys", column(&rows, |row| row.key.to_le_bytes())),
            (
                "clusters",
                column(clusters, |row| row.cluster.to_le_bytes()),
            ),
            (
                "of_row",
                column(&rows, |row| row.contribution.to_le_bytes()),
            ),
            ("groups", column(&rows, |row| row.groups.to_le_bytes())),
            ("examples", column(&rows, |row| row.examples.to_le_bytes())),
        ] {
            to.text(name);
            to.bytes(&bytes);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut kept = Self::default();
        from.map()?;
        from.name("contributions")?;
        let contributions = from.list()?;
        for _ in 0..contributions {
            kept.contribution(from.bytes()?);
        }
        let group_sets: Vec<GroupSet> = from.field("group_sets")?;
        let sets = group_sets.len();
        for set in group_sets {
            kept.group_set(set);
        }
        if kept.contributions.len() != contributions || kept.group_sets.len() != sets {
            return Err("invalid kept examples: found a contribution twice".into());
        }
        let mut column = |name| from.name(name).and_then(|()| from.bytes());
        let keys = words(column("keys")?);
        let clusters = Some(words(column("clusters")?)).filter(|clusters| !clusters.is_empty());
        let clusters = clusters.unwrap_or_else(|| keys.clone());
        let [of_row, groups, examples] =
            [column("of_row")?, column("groups")?, column("examples")?].map(halves);
        let len = keys.len();
        let in_range =
            |indices: &[u32], len: usize| indices.iter().all(|&index| (index as usize) < len);
        if [clusters.len(), of_row.len(), groups.len(), examples.len()] != [len; 4]
            || !in_range(&of_row, contributions)
            || !in_range(&groups, sets)
        {
            return Err("invalid kept examples: expected columns of one length".into());
        }
        let rows = (0..len).map(|row| Row {
            key: keys[row],
            cluster: clusters[row],
            contribution: of_row[row],
            groups: groups[row],
            examples: examples[row],
        });
        kept.rows = rows.collect();
        Ok(kept)
    }
}
