//! Counts of which unit is confused with which.

use std::cmp::Ordering;
#[cfg(feature = "serde")]
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::mem;
use std::sync::LazyLock;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use metric_core::Merge;
#[cfg(feature = "serde")]
use serde::ser::SerializeStruct;

use super::alignment::middle;
use super::table::{self, Step};
use super::units::{common_ends, numbered};
use super::{Alignment, Cells, Edit, Edits, OutOfCells};

/// The number of times each unit of the references was confused with each unit of the predictions.
///
/// ```
/// use metric_core::Metric;
/// use metric_text::{EditRate, Unit};
///
/// let metric = EditRate::default().with_unit(Unit::CodePoint).with_confusions(true);
/// let state = metric.measure("clown", "down");
/// assert_eq!(state.confusions.count("d", "l"), 1); // taken for an l
/// assert_eq!(state.confusions.count("", "c"), 1); // inserted
/// let all: Vec<_> = state.confusions.iter().collect();
/// assert_eq!(all, [("", "c", 1), ("d", "l", 1)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Confusions {
    /// An empty unit stands for none. One table, since there may be hundreds of thousands of pairs, and each error
    /// is one access to memory that is not in the cache.
    counts: HashTable<Counted>,
    /// Pairs that are still to be counted, each with its hash. Many of them are looked up in one go: the processor then
    /// waits for several accesses to memory at a time.
    pending: Vec<(u64, Owned)>,
}

/// A pair with its count.
type Counted = (Owned, u64);

/// The number of pairs that are counted in one go.
const PENDING: usize = if cfg!(test) { 4 } else { 1 << 12 };

/// All tables have one hasher, which is another one in each process: tables that merge are then in the same order.
static HASHER: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

/// A unit of the reference and a unit of the prediction, as UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Pair<'u> {
    reference: &'u [u8],
    prediction: &'u [u8],
}

impl<'u> Pair<'u> {
    fn new(reference: &'u str, prediction: &'u str) -> Self {
        Self {
            reference: reference.as_bytes(),
            prediction: prediction.as_bytes(),
        }
    }

    /// The index of its kind of edit: 0 for a deletion, 1 for an insertion, 2 for a substitution.
    fn kind(self) -> usize {
        match (self.reference, self.prediction) {
            (_, []) => 0,
            ([], _) => 1,
            _ => 2,
        }
    }

    fn texts(self) -> [&'u str; 2] {
        // They were texts.
        [self.reference, self.prediction].map(|unit| std::str::from_utf8(unit).unwrap_or_default())
    }
}

/// The longest pair that is kept in the table itself, in bytes: most words of most languages.
const SHORT: usize = 29;

/// A [`Pair`] that owns its text: the unit of the reference, then that of the prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Owned {
    Short {
        text: [u8; SHORT],
        /// Where the second unit starts, and where it ends.
        ends: [u8; 2],
    },
    Long {
        text: Box<[u8]>,
        start: usize,
    },
}

impl Owned {
    fn pair(&self) -> Pair<'_> {
        let (text, start) = match self {
            Self::Short { ends, text } => (&text[..ends[1].into()], ends[0].into()),
            Self::Long { start, text } => (&**text, *start),
        };
        let (reference, prediction) = text.split_at(start);
        Pair {
            reference,
            prediction,
        }
    }

    fn hash(&self) -> u64 {
        match self {
            Self::Short { text, ends } => HASHER.hash_one((text, ends)),
            Self::Long { text, start } => HASHER.hash_one((text, start)),
        }
    }
}

impl From<Pair<'_>> for Owned {
    fn from(pair: Pair<'_>) -> Self {
        let (start, end) = (
            pair.reference.len(),
            pair.reference.len() + pair.prediction.len(),
        );
        if end > SHORT {
            return Self::Long {
                text: [pair.reference, pair.prediction].concat().into(),
                start,
            };
        }
        let mut text = [0; SHORT];
        text[..start].copy_from_slice(pair.reference);
        text[start..end].copy_from_slice(pair.prediction);
        Self::Short {
            text,
            ends: [start as u8, end as u8],
        }
    }
}

impl Confusions {
    /// Adds the substitutions, deletions and insertions of the alignment of two lists of units.
    pub fn add(&mut self, alignment: &Alignment, reference: &[&str], prediction: &[&str]) {
        let errors = alignment.chunks.iter();
        for chunk in errors.filter(|chunk| chunk.edit != Edit::Equal) {
            let rows = reference.get(chunk.reference.clone()).unwrap_or_default();
            let columns = prediction.get(chunk.prediction.clone()).unwrap_or_default();
            self.add_run(rows, columns);
        }
    }

    /// Adds units that are taken for each other in their order; where one list is shorter, for none.
    fn add_run<'u>(&mut self, reference: &[&'u str], prediction: &[&'u str]) {
        for index in 0..reference.len().max(prediction.len()) {
            let unit = |units: &[&'u str]| units.get(index).copied().unwrap_or_default();
            self.push(Pair::new(unit(reference), unit(prediction)));
        }
    }

    /// Aligns two lists, adds the confusions, and returns the edits.
    pub(super) fn align(
        &mut self,
        reference: &[&str],
        prediction: &[&str],
        cells: &mut Cells,
    ) -> Result<Edits, OutOfCells> {
        let (start, end) = common_ends(reference, prediction);
        let (reference, prediction) = (
            middle(reference, start, end),
            middle(prediction, start, end),
        );
        let mut edits = match (reference.len(), prediction.len()) {
            // No choice: the alignments of most pairs that are not equal.
            (rows, 0) => Edits {
                deletions: rows as u64,
                ..Edits::default()
            },
            (0, columns) => Edits {
                insertions: columns as u64,
                ..Edits::default()
            },
            (1, 1) => Edits {
                substitutions: 1,
                ..Edits::default()
            },
            _ => {
                let mut edits = self.align_middle(reference, prediction, cells)?;
                edits.hits += (start + end) as u64;
                return Ok(edits);
            }
        };
        self.add_run(reference, prediction);
        edits.hits += (start + end) as u64;
        Ok(edits)
    }

    /// The same of lists without common ends, which are aligned as [`Alignment`] aligns them.
    fn align_middle(
        &mut self,
        reference: &[&str],
        prediction: &[&str],
        cells: &mut Cells,
    ) -> Result<Edits, OutOfCells> {
        let (symbols, others) = numbered(reference, prediction);
        let (mut row, mut column) = (symbols.len(), others.len());
        let mut edits = Edits::default();
        table::trace(
            &symbols,
            &others,
            |_| true,
            cells,
            |step| {
                row -= usize::from(step != Step::Insert);
                column -= usize::from(step != Step::Delete);
                let pair = match step {
                    Step::Delete => {
                        edits.deletions += 1;
                        Pair::new(reference[row], "")
                    }
                    Step::Insert => {
                        edits.insertions += 1;
                        Pair::new("", prediction[column])
                    }
                    Step::Diagonal if symbols[row] == others[column] => {
                        edits.hits += 1;
                        return;
                    }
                    Step::Diagonal => {
                        edits.substitutions += 1;
                        Pair::new(reference[row], prediction[column])
                    }
                };
                self.push(pair);
            },
        )?;
        // Along the edges of the table, where the trace-back ends.
        edits.deletions += row as u64;
        edits.insertions += column as u64;
        self.add_run(&reference[..row], &[]);
        self.add_run(&[], &prediction[..column]);
        Ok(edits)
    }

    /// Counts a pair, now or later.
    fn push(&mut self, pair: Pair<'_>) {
        let pair = Owned::from(pair);
        self.pending.push((pair.hash(), pair));
        if self.pending.len() >= PENDING {
            self.count_pending();
        }
    }

    /// Counts all pairs that are still to be counted.
    fn count_pending(&mut self) {
        let mut pending = mem::take(&mut self.pending);
        for (hash, pair) in pending.drain(..) {
            self.count_times(hash, pair, 1);
        }
        self.pending = pending;
    }

    fn count_times(&mut self, hash: u64, pair: Owned, times: u64) {
        let is_pair = |counted: &Counted| counted.0 == pair;
        match self.counts.entry(hash, is_pair, |(pair, _)| pair.hash()) {
            Entry::Occupied(mut known) => known.get_mut().1 += times,
            Entry::Vacant(free) => drop(free.insert((pair, times))),
        }
    }

    /// Visits each pair once with its count, in no order.
    fn for_each<'c>(&'c self, mut visit: impl FnMut(Pair<'c>, u64)) {
        let mut pending: HashMap<Pair<'_>, u64> = HashMap::new();
        for (_, pair) in &self.pending {
            *pending.entry(pair.pair()).or_default() += 1;
        }
        for (pair, times) in &self.counts {
            let pair = pair.pair();
            // Most often nothing is pending, and no hash is needed.
            let more = if pending.is_empty() {
                None
            } else {
                pending.remove(&pair)
            };
            visit(pair, times + more.unwrap_or(0));
        }
        for (pair, times) in pending {
            visit(pair, times);
        }
    }

    /// Returns the number of times `reference` was confused with `prediction`. An empty `reference` counts insertions
    /// of `prediction`, and an empty `prediction` counts deletions of `reference`.
    #[must_use]
    pub fn count(&self, reference: &str, prediction: &str) -> u64 {
        let pair = Owned::from(Pair::new(reference, prediction));
        let counted = self.counts.find(pair.hash(), |(known, _)| *known == pair);
        let pending = self.pending.iter().filter(|(_, other)| *other == pair);
        counted.map_or(0, |(_, count)| *count) + pending.count() as u64
    }

    /// Returns the number of different pairs of units, by kind of edit.
    #[must_use]
    pub fn distinct(&self) -> Edits {
        let mut counts = [0; 3];
        self.for_each(|pair, _| counts[pair.kind()] += 1);
        let [deletions, insertions, substitutions] = counts;
        Edits {
            hits: 0,
            substitutions,
            deletions,
            insertions,
        }
    }

    /// Iterates over each unit of the references, each unit that it was confused with, and their count, in ascending
    /// order of the units.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        let mut all = Vec::new();
        self.for_each(|pair, count| all.push((pair, count)));
        all.sort_unstable();
        all.into_iter().map(texts)
    }

    /// Returns the pairs with the highest counts, up to `most` of each kind of edit, in descending order of count.
    /// Pairs with equal counts are in ascending order of the units.
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_text::EditRate;
    ///
    /// let metric = EditRate::default().with_confusions(true);
    /// let state = metric.measure("x x z", "a a b c");
    /// assert_eq!(state.confusions.most_frequent(1), [("a", "x", 2), ("c", "", 1)]);
    /// ```
    #[must_use]
    pub fn most_frequent(&self, most: usize) -> Vec<(&str, &str, u64)> {
        let mut kinds: [Most<'_>; 3] = Default::default();
        self.for_each(|pair, count| kinds[pair.kind()].add((pair, count), most));
        let mut all = kinds.map(|kind| kind.finish(most)).concat();
        all.sort_unstable_by(frequent_first);
        all.into_iter().map(texts).collect()
    }
}

fn texts((pair, count): (Pair<'_>, u64)) -> (&str, &str, u64) {
    let [reference, prediction] = pair.texts();
    (reference, prediction, count)
}

/// Bytes of UTF-8 are in the order of their characters.
fn frequent_first(a: &(Pair<'_>, u64), b: &(Pair<'_>, u64)) -> Ordering {
    b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0))
}

/// The most frequent pairs of a kind, and some others.
#[derive(Default)]
struct Most<'c> {
    pairs: Vec<(Pair<'c>, u64)>,
    /// One of the pairs that are not among the most frequent.
    refused: Option<(Pair<'c>, u64)>,
}

impl<'c> Most<'c> {
    /// Adds a pair. Few of many are kept: most of the others need no memory.
    fn add(&mut self, pair: (Pair<'c>, u64), most: usize) {
        let precedes = |refused| frequent_first(&pair, refused) == Ordering::Less;
        if self.refused.as_ref().is_none_or(precedes) {
            self.pairs.push(pair);
            if self.pairs.len() > most.saturating_mul(2) {
                self.cut(most);
            }
        }
    }

    fn cut(&mut self, most: usize) {
        if most < self.pairs.len() {
            let (_, refused, _) = self.pairs.select_nth_unstable_by(most, frequent_first);
            self.refused = Some(*refused);
            self.pairs.truncate(most);
        }
    }

    fn finish(mut self, most: usize) -> Vec<(Pair<'c>, u64)> {
        self.cut(most);
        self.pairs
    }
}

impl PartialEq for Confusions {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Confusions {}

impl Merge for Confusions {
    fn merge(&mut self, mut other: Self) {
        if self.counts.len() < other.counts.len() {
            mem::swap(&mut self.counts, &mut other.counts);
        }
        self.add_counts(other.counts, 1);
        self.pending.append(&mut other.pending);
        if self.pending.len() >= PENDING {
            self.count_pending();
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        self.add_counts(other.counts.clone(), times);
        for (hash, pair) in &other.pending {
            self.count_times(*hash, pair.clone(), times);
        }
    }
}

impl Confusions {
    /// Adds other counts. The memory of both is visited in its order.
    fn add_counts(&mut self, counts: HashTable<Counted>, times: u64) {
        self.counts.reserve(counts.len(), |(pair, _)| pair.hash());
        for (pair, count) in counts {
            self.count_times(pair.hash(), pair, count * times);
        }
    }
}

/// The written form: for each unit of the references, in order, its predictions in order with their counts.
#[cfg(feature = "serde")]
impl serde::Serialize for Confusions {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for (reference, prediction, count) in self.iter() {
            rows.entry(reference).or_default().insert(prediction, count);
        }
        let mut written = serializer.serialize_struct("Confusions", 1)?;
        written.serialize_field("counts", &rows)?;
        written.end()
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Confusions {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(rename = "Confusions")]
        struct Written {
            counts: BTreeMap<String, BTreeMap<String, u64>>,
        }
        let mut confusions = Self::default();
        for (reference, row) in &Written::deserialize(deserializer)?.counts {
            for (prediction, count) in row {
                let pair = Owned::from(Pair::new(reference, prediction));
                confusions.count_times(pair.hash(), pair, *count);
            }
        }
        Ok(confusions)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// The counts of an alignment, in the plainest way.
    fn plain(pairs: &[(Vec<&'static str>, Vec<&'static str>)]) -> BTreeMap<(String, String), u64> {
        let mut counts = BTreeMap::new();
        for (reference, prediction) in pairs {
            for chunk in Alignment::new(reference, prediction).chunks {
                let (rows, columns) = (
                    &reference[chunk.reference.clone()],
                    &prediction[chunk.prediction.clone()],
                );
                if chunk.edit == Edit::Equal {
                    continue;
                }
                for index in 0..rows.len().max(columns.len()) {
                    let unit = |units: &[&str]| units.get(index).map_or("", |it| *it).to_owned();
                    *counts.entry((unit(rows), unit(columns))).or_default() += 1;
                }
            }
        }
        counts
    }

    fn units() -> impl Strategy<Value = Vec<&'static str>> {
        let unit = prop::sample::select(vec![
            "a",
            "b",
            "é",
            "word",
            "a word that takes memory of its own",
        ]);
        prop::collection::vec(unit, 0..6)
    }

    proptest! {
        /// Pairs that are still to be counted, tables that merge, and long pairs change no count.
        #[test]
        fn as_alignments_say(
            pairs in prop::collection::vec((units(), units()), 0..12),
            parts in 1..4_usize,
            most in 0..5_usize,
        ) {
            let mut divided = vec![Confusions::default(); parts];
            for (index, (reference, prediction)) in pairs.iter().enumerate() {
                let confusions = &mut divided[index % parts];
                let edits = confusions.align(reference, prediction, &mut Cells::unlimited());
                prop_assert_eq!(edits, Ok(Alignment::new(reference, prediction).edits()));
            }
            let mut confusions = Confusions::default();
            for (index, part) in divided.into_iter().enumerate() {
                match index {
                    0 => confusions.merge_times(&part, 1),
                    _ => confusions.merge(part),
                }
            }
            let expected = plain(&pairs);
            let found: Vec<_> = confusions.iter().collect();
            let rows = expected.iter().map(|((a, b), times)| (a.as_str(), b.as_str(), *times));
            prop_assert_eq!(&found, &rows.collect::<Vec<_>>());
            for (reference, prediction, times) in &found {
                prop_assert_eq!(confusions.count(reference, prediction), *times);
            }
            prop_assert_eq!(confusions.count("a", "not there"), 0);

            let distinct = confusions.distinct();
            prop_assert_eq!(distinct.errors(), expected.len() as u64);
            // All of them in order, and of each kind the first.
            let mut sorted = found.clone();
            sorted.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.cmp(b)));
            prop_assert_eq!(confusions.most_frequent(usize::MAX), sorted.clone());
            let mut left = [most; 3];
            sorted.retain(|(reference, prediction, _)| {
                let left = &mut left[Pair::new(reference, prediction).kind()];
                let is_left = *left > 0;
                *left = left.saturating_sub(1);
                is_left
            });
            prop_assert_eq!(confusions.most_frequent(most), sorted);
        }
    }
}
