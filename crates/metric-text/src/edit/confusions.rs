//! Counts of which unit is confused with which.

#[cfg(feature = "serde")]
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use hashbrown::{Equivalent, HashMap};
use metric_core::Merge;

use super::alignment::middle;
use super::units::common_ends;
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Confusions {
    /// An empty unit stands for none. One table, since there may be hundreds of thousands of pairs, and each error
    /// is one access to memory that is not in the cache.
    #[cfg_attr(feature = "serde", serde(with = "nested"))]
    counts: HashMap<Owned, u64>,
}

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
        /// Where the second unit starts, and where it ends.
        ends: [u8; 2],
        text: [u8; SHORT],
    },
    Long {
        start: usize,
        text: Box<[u8]>,
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
}

impl From<Pair<'_>> for Owned {
    fn from(pair: Pair<'_>) -> Self {
        let (start, end) = (
            pair.reference.len(),
            pair.reference.len() + pair.prediction.len(),
        );
        if end > SHORT {
            return Self::Long {
                start,
                text: [pair.reference, pair.prediction].concat().into(),
            };
        }
        let mut text = [0; SHORT];
        text[..start].copy_from_slice(pair.reference);
        text[start..end].copy_from_slice(pair.prediction);
        Self::Short {
            ends: [start as u8, end as u8],
            text,
        }
    }
}

/// As the hash of the pair.
impl Hash for Owned {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pair().hash(state);
    }
}

impl Equivalent<Owned> for Pair<'_> {
    fn equivalent(&self, owned: &Owned) -> bool {
        *self == owned.pair()
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
            self.count_times(Pair::new(unit(reference), unit(prediction)), 1);
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
                let alignment = Alignment::within(reference, prediction, cells)?;
                self.add(&alignment, reference, prediction);
                let mut edits = alignment.edits();
                edits.hits += (start + end) as u64;
                return Ok(edits);
            }
        };
        self.add_run(reference, prediction);
        edits.hits += (start + end) as u64;
        Ok(edits)
    }

    /// Counts a pair, which most often is not new and needs no copy.
    fn count_times(&mut self, pair: Pair<'_>, times: u64) {
        match self.counts.get_mut(&pair) {
            Some(count) => *count += times,
            None => drop(self.counts.insert(Owned::from(pair), times)),
        }
    }

    /// Returns the number of times `reference` was confused with `prediction`. An empty `reference` counts insertions
    /// of `prediction`, and an empty `prediction` counts deletions of `reference`.
    #[must_use]
    pub fn count(&self, reference: &str, prediction: &str) -> u64 {
        let pair = Pair::new(reference, prediction);
        self.counts.get(&pair).copied().unwrap_or(0)
    }

    /// Returns the number of different pairs of units, by kind of edit.
    #[must_use]
    pub fn distinct(&self) -> Edits {
        let mut counts = [0; 3];
        for owned in self.counts.keys() {
            counts[owned.pair().kind()] += 1;
        }
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
        let mut all: Vec<_> = self.in_no_order().collect();
        all.sort_unstable();
        all.into_iter()
    }

    fn in_no_order(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.counts.iter().map(|(owned, count)| {
            let [reference, prediction] = owned.pair().texts();
            (reference, prediction, *count)
        })
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
        type Counted<'c> = (Pair<'c>, u64);
        // Bytes of UTF-8 are in the order of their characters.
        let order = |a: &Counted<'_>, b: &Counted<'_>| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0));
        let mut kinds: [Vec<Counted<'_>>; 3] = Default::default();
        for (owned, count) in &self.counts {
            let pair = owned.pair();
            kinds[pair.kind()].push((pair, *count));
        }
        for kind in &mut kinds {
            // Few of many: the others need no order.
            if most < kind.len() {
                kind.select_nth_unstable_by(most, order);
                kind.truncate(most);
            }
        }
        let mut all = kinds.concat();
        all.sort_unstable_by(order);
        let all = all.into_iter().map(|(pair, count)| {
            let [reference, prediction] = pair.texts();
            (reference, prediction, count)
        });
        all.collect()
    }
}

impl Merge for Confusions {
    fn merge(&mut self, other: Self) {
        if self.counts.is_empty() {
            *self = other;
            return;
        }
        for (owned, count) in other.counts {
            *self.counts.entry(owned).or_default() += count;
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        for (owned, count) in &other.counts {
            self.count_times(owned.pair(), count * times);
        }
    }
}

/// The written form: for each unit of the references, in order, its predictions in order with their counts.
#[cfg(feature = "serde")]
mod nested {
    use super::{BTreeMap, HashMap, Owned, Pair};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        counts: &HashMap<Owned, u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut rows: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for (owned, count) in counts {
            let [reference, prediction] = owned.pair().texts();
            rows.entry(reference)
                .or_default()
                .insert(prediction, *count);
        }
        rows.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<HashMap<Owned, u64>, D::Error> {
        let rows: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::deserialize(deserializer)?;
        let counts = rows.iter().flat_map(|(reference, row)| {
            row.iter().map(move |(prediction, count)| {
                (Owned::from(Pair::new(reference, prediction)), *count)
            })
        });
        Ok(counts.collect())
    }
}
