//! Counts of which unit is confused with which.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::mem;

use metric_core::{Addends, Malformed, Merge, Reader, Writer, Written};

use super::alignment::{hits_at_ends, middle};
use super::interner::Interner;
use super::table::{self, Step, Ties};
use super::units::numbered;
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
    units: Interner,
    /// Pairs with their counts, in ascending order, each pair once. A pair is an empty unit, and so none, where it has
    /// the number 0.
    counted: Vec<Counted>,
    /// Pairs that came later, each as often as it came: one access to memory for each error, and the next one is to
    /// the memory after it.
    waiting: Vec<Pair>,
}

/// The number of a unit of the references and that of a unit of the predictions, with a count.
type Counted = (Pair, u64);

/// The number of a unit of the references, and that of a unit of the predictions.
type Pair = [u32; 2];

/// The fewest pairs that are counted at a time.
const WAITING: usize = if cfg!(test) { 4 } else { 1 << 20 };

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
            self.push(unit(reference), unit(prediction));
        }
    }

    /// Aligns two lists, adds the confusions, and returns the edits.
    pub(super) fn align(
        &mut self,
        reference: &[&str],
        prediction: &[&str],
        ties: Ties,
        cells: &mut Cells,
    ) -> Result<Edits, OutOfCells> {
        let (start, end) = hits_at_ends(ties, reference, prediction);
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
                let mut edits = self.align_middle(reference, prediction, ties, cells)?;
                edits.hits += (start + end) as u64;
                return Ok(edits);
            }
        };
        self.add_run(reference, prediction);
        edits.hits += (start + end) as u64;
        Ok(edits)
    }

    /// The same of lists without hits at their ends, which are aligned as [`Alignment`] aligns them.
    fn align_middle(
        &mut self,
        reference: &[&str],
        prediction: &[&str],
        ties: Ties,
        cells: &mut Cells,
    ) -> Result<Edits, OutOfCells> {
        let (symbols, others) = numbered(reference, prediction);
        let (mut row, mut column) = (symbols.len(), others.len());
        let mut edits = Edits::default();
        table::trace(
            &symbols,
            &others,
            ties,
            |_| true,
            cells,
            |step| {
                row -= usize::from(step != Step::Insert);
                column -= usize::from(step != Step::Delete);
                match step {
                    Step::Delete => {
                        edits.deletions += 1;
                        self.push(reference[row], "");
                    }
                    Step::Insert => {
                        edits.insertions += 1;
                        self.push("", prediction[column]);
                    }
                    Step::Diagonal if symbols[row] == others[column] => edits.hits += 1,
                    Step::Diagonal => {
                        edits.substitutions += 1;
                        self.push(reference[row], prediction[column]);
                    }
                }
            },
        )?;
        // Along the edges of the table, where the trace-back ends.
        edits.deletions += row as u64;
        edits.insertions += column as u64;
        self.add_run(&reference[..row], &[]);
        self.add_run(&[], &prediction[..column]);
        Ok(edits)
    }

    /// Counts a pair.
    fn push(&mut self, reference: &str, prediction: &str) {
        let pair = [reference, prediction].map(|unit| self.units.number(unit));
        self.waiting.push(pair);
        self.count_if_many();
    }

    /// Counts the waiting pairs once there are about as many of them as counted ones, so that each pair is moved a few
    /// times.
    fn count_if_many(&mut self) {
        if self.waiting.len() >= self.counted.len().max(WAITING) {
            let waiting = mem::take(&mut self.waiting);
            self.add_counted(counted(&waiting, self.units.len()));
        }
    }

    /// Adds pairs that are in order, each once.
    fn add_counted(&mut self, pairs: Vec<Counted>) {
        let known = mem::replace(&mut self.counted, pairs);
        if known.is_empty() {
            return;
        }
        // Two lists that are in order are merged.
        self.counted.extend(known);
        self.counted.sort_by_key(|(pair, _)| *pair);
        self.counted.dedup_by(|counted, kept| {
            let is_equal = counted.0 == kept.0;
            kept.1 += counted.1 * u64::from(is_equal);
            is_equal
        });
    }

    /// All pairs in order, each once.
    fn all(&self) -> Cow<'_, [Counted]> {
        if self.waiting.is_empty() {
            return Cow::Borrowed(&self.counted);
        }
        let mut all = Self {
            counted: counted(&self.waiting, self.units.len()),
            ..Self::default()
        };
        all.add_counted(self.counted.clone());
        Cow::Owned(all.counted)
    }

    /// Returns the number of times `reference` was confused with `prediction`. An empty `reference` counts insertions
    /// of `prediction`, and an empty `prediction` counts deletions of `reference`.
    #[must_use]
    pub fn count(&self, reference: &str, prediction: &str) -> u64 {
        let [Some(reference), Some(prediction)] =
            [reference, prediction].map(|unit| self.units.find(unit))
        else {
            return 0;
        };
        let pair = [reference, prediction];
        let waiting = self.waiting.iter().filter(|other| **other == pair).count();
        let found = self.counted.binary_search_by_key(&pair, |(pair, _)| *pair);
        waiting as u64 + found.map_or(0, |index| self.counted[index].1)
    }

    /// Returns the number of different pairs of units, by kind of edit.
    #[must_use]
    pub fn distinct(&self) -> Edits {
        self.summary(0).1
    }

    /// Iterates over each unit of the references, each unit that it was confused with, and their count, in ascending
    /// order of the units.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        let all = self.all();
        let mut all: Vec<_> = all.iter().map(|counted| self.texts(*counted)).collect();
        all.sort_unstable();
        all.into_iter()
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
        self.summary(most).0
    }

    /// Returns [`most_frequent`](Self::most_frequent) and [`distinct`](Self::distinct), at the cost of one of them.
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_text::EditRate;
    ///
    /// let metric = EditRate::default().with_confusions(true);
    /// let state = metric.measure("x x z", "a a b c");
    /// let (most_frequent, distinct) = state.confusions.summary(1);
    /// assert_eq!(most_frequent, [("a", "x", 2), ("c", "", 1)]);
    /// assert_eq!((distinct.substitutions, distinct.deletions), (2, 1));
    /// ```
    #[must_use]
    pub fn summary(&self, most: usize) -> (Vec<(&str, &str, u64)>, Edits) {
        let mut kinds: [Most<'_>; 3] = Default::default();
        let mut distinct = [0; 3];
        for counted in self.all().iter() {
            let kind = kind(counted.0);
            distinct[kind] += 1;
            kinds[kind].add(counted.1, most, || self.texts(*counted));
        }
        let mut all = kinds.map(|kind| kind.finish(most)).concat();
        all.sort_unstable_by(frequent_first);
        let [deletions, insertions, substitutions] = distinct;
        let distinct = Edits {
            hits: 0,
            substitutions,
            deletions,
            insertions,
        };
        (all, distinct)
    }

    fn texts(&self, ([reference, prediction], count): Counted) -> Texts<'_> {
        let text = |number| self.units.text(number);
        (text(reference), text(prediction), count)
    }
}

/// The units of a pair with its count.
type Texts<'c> = (&'c str, &'c str, u64);

/// The index of the kind of edit of a pair: 0 for a deletion, 1 for an insertion, 2 for a substitution.
fn kind(pair: Pair) -> usize {
    match pair {
        [_, 0] => 0,
        [0, _] => 1,
        _ => 2,
    }
}

/// The counts of pairs of units that have numbers up to `units`, in the order of the pairs.
fn counted(pairs: &[Pair], units: usize) -> Vec<Counted> {
    if pairs.len() < units {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        return counts(pairs.into_iter());
    }
    // Where the predictions of each unit of the references start, one further on.
    let mut starts = vec![0_usize; units + 2];
    for [reference, _] in pairs {
        starts[*reference as usize + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut predictions = vec![0; pairs.len()];
    for [reference, prediction] in pairs {
        let start = &mut starts[*reference as usize];
        predictions[*start] = *prediction;
        *start += 1;
    }
    // Each start is now the end.
    let mut rest = predictions.as_mut_slice();
    let mut begin = 0;
    for end in &starts {
        let (own, others) = rest.split_at_mut(end - begin);
        own.sort_unstable();
        (rest, begin) = (others, *end);
    }
    let mut begin = 0;
    let rows = (0_u32..).zip(&starts).flat_map(|(reference, end)| {
        let own = &predictions[begin..*end];
        begin = *end;
        own.iter().map(move |prediction| [reference, *prediction])
    });
    counts(rows)
}

/// The counts of pairs that are in order.
fn counts(pairs: impl Iterator<Item = Pair>) -> Vec<Counted> {
    let mut counts: Vec<Counted> = Vec::new();
    for pair in pairs {
        match counts.last_mut() {
            Some((last, count)) if *last == pair => *count += 1,
            _ => counts.push((pair, 1)),
        }
    }
    counts
}

fn frequent_first(a: &Texts<'_>, b: &Texts<'_>) -> Ordering {
    b.2.cmp(&a.2).then_with(|| (a.0, a.1).cmp(&(b.0, b.1)))
}

/// The most frequent pairs of a kind, and some others.
#[derive(Default)]
struct Most<'c> {
    pairs: Vec<Texts<'c>>,
    /// One of the pairs that are not among the most frequent.
    refused: Option<Texts<'c>>,
}

impl<'c> Most<'c> {
    /// Adds a pair with its count. Few of many are kept: most of the others need no memory, and many no look at their
    /// texts.
    fn add(&mut self, count: u64, most: usize, texts: impl FnOnce() -> Texts<'c>) {
        if self.refused.is_some_and(|refused| count < refused.2) {
            return;
        }
        let texts = texts();
        let precedes = |refused| frequent_first(&texts, refused) == Ordering::Less;
        if self.refused.as_ref().is_none_or(precedes) {
            self.pairs.push(texts);
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

    fn finish(mut self, most: usize) -> Vec<Texts<'c>> {
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
        if self.units.len() < other.units.len() {
            mem::swap(self, &mut other);
        }
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        let numbers = self.units.extend(&other.units);
        let counted = if times == 1 {
            let waiting = other.waiting.iter();
            self.waiting
                .extend(waiting.map(|pair| renumbered(*pair, &numbers)));
            self.count_if_many();
            Cow::Borrowed(&*other.counted)
        } else {
            other.all()
        };
        let counted = counted.iter();
        let mut counted: Vec<Counted> = counted
            .map(|(pair, count)| (renumbered(*pair, &numbers), count * times))
            .collect();
        if !counted.is_empty() {
            counted.sort_unstable_by_key(|(pair, _)| *pair);
            self.add_counted(counted);
        }
    }

    /// No score is read from confusions.
    fn addends<'s>(&'s mut self, _: &mut Addends<'s>) -> bool {
        true
    }
}

/// A pair of another one's numbers by the numbers here.
fn renumbered(pair: Pair, numbers: &[u32]) -> Pair {
    pair.map(|number| numbers.get(number as usize).copied().unwrap_or_default())
}

/// For each unit of the references, in order, its predictions in order with their counts.
impl Written for Confusions {
    fn write(&self, to: &mut Writer) {
        let mut rows: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for (reference, prediction, count) in self.iter() {
            rows.entry(reference).or_default().insert(prediction, count);
        }
        to.map(1);
        to.text("counts");
        to.map(rows.len());
        for (reference, row) in rows {
            to.text(reference);
            to.map(row.len());
            for (prediction, count) in row {
                to.field(prediction, &count);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.map()?;
        let counts: BTreeMap<String, BTreeMap<String, u64>> = from.field("counts")?;
        let mut confusions = Self::default();
        for (reference, row) in &counts {
            for (prediction, count) in row {
                let pair = [reference, prediction].map(|unit| confusions.units.number(unit));
                confusions.counted.push((pair, *count));
            }
        }
        confusions.counted.sort_unstable_by_key(|(pair, _)| *pair);
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
                let edits = confusions.align(reference, prediction, Ties::default(), &mut Cells::unlimited());
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
                let number = |unit: &str| u32::from(!unit.is_empty());
                let left = &mut left[kind([number(reference), number(prediction)])];
                let is_left = *left > 0;
                *left = left.saturating_sub(1);
                is_left
            });
            prop_assert_eq!(confusions.most_frequent(most), sorted);
        }
    }
}
