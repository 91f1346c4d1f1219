use std::ops::Range;

/// The origin of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowSource {
    /// The index of the state.
    pub state: u32,
    /// The number of the example in the order of all examples. A state may hold several.
    pub example: u32,
}

/// Rows of several states, sorted once, to be read as if each state were merged as many times as its weight says.
///
/// A metric whose state keeps a row per detection, such as average precision, is scored on replicates of a
/// bootstrap this way: no row is copied, and nothing is sorted again. An example that counts several times
/// has its rows repeated where they are. Rows of one example with equal keys repeat one after the other, as
/// they do if the example itself is repeated.
///
/// ```
/// use metric_core::{RowSource, WeightedRows};
///
/// let source = |state, example| RowSource { state, example };
/// // Scores and names; the rows of the second state are a tie.
/// let rows = [(source(0, 0), (9, 'a')), (source(1, 1), (5, 'b')), (source(1, 1), (5, 'c'))];
/// let sorted = WeightedRows::new(rows, |row| std::cmp::Reverse(row.0));
///
/// let read = |weights: &[u64]| {
///     let mut names = String::new();
///     sorted.each(weights, |row, times| names.extend(std::iter::repeat_n(row.1, times as usize)));
///     names
/// };
/// assert_eq!(read(&[1, 1]), "abc");
/// assert_eq!(read(&[2, 0]), "aa");
/// assert_eq!(read(&[0, 2]), "bcbc");
/// ```
#[derive(Clone, Debug, Default)]
pub struct WeightedRows<T> {
    rows: Vec<(RowSource, T)>,
    /// Ranges of rows of one example with equal keys.
    ties: Vec<Range<usize>>,
}

impl<T> WeightedRows<T> {
    /// Sorts rows by a key. Rows of equal keys stay in their order, which must be that of the examples.
    ///
    /// # Cost
    ///
    /// One stable sort.
    #[must_use]
    pub fn new<K: Ord>(
        rows: impl IntoIterator<Item = (RowSource, T)>,
        key: impl Fn(&T) -> K,
    ) -> Self {
        let mut rows: Vec<(RowSource, T)> = rows.into_iter().collect();
        rows.sort_by_key(|(_, row)| key(row));
        let is_tie = |(a, first): &(RowSource, T), (b, second): &(RowSource, T)| {
            a.example == b.example && key(first) == key(second)
        };
        let mut ties = Vec::new();
        let mut start = 0;
        for tie in rows.chunk_by(is_tie) {
            let end = start + tie.len();
            if tie.len() > 1 {
                ties.push(start..end);
            }
            start = end;
        }
        Self { rows, ties }
    }

    /// Returns the rows, each replaced by what `replace` returns for it. They are replaced in order.
    #[must_use]
    pub fn map<U>(self, mut replace: impl FnMut(T) -> U) -> WeightedRows<U> {
        let rows = self.rows.into_iter();
        WeightedRows {
            rows: rows.map(|(source, row)| (source, replace(row))).collect(),
            ties: self.ties,
        }
    }

    /// Visits each row in order, with the number of times that it occurs under these weights. States without a weight
    /// do not count.
    ///
    /// # Cost
    ///
    /// One pass over the rows, whatever the weights, and one more over ties per repetition.
    pub fn each(&self, weights: &[u64], mut visit: impl FnMut(&T, u64)) {
        self.each_part(weights, &mut visit, |rows, visit| {
            // About a third of the examples of a replicate do not occur, which no processor can predict: they are left
            // out without a branch, before the others are visited.
            let mut present = [(0, 0); 256];
            for rows in rows.chunks(present.len()) {
                let mut count = 0;
                for (index, (source, _)) in rows.iter().enumerate() {
                    let times = weight(weights, source);
                    present[count] = (index, times);
                    count += usize::from(times > 0);
                }
                for &(index, times) in &present[..count] {
                    visit(&rows[index].1, times);
                }
            }
        });
    }

    /// Visits rows as [`each`](Self::each) does, and also rows that do not occur, 0 times. This is faster for a visitor
    /// that has no branch on the number.
    pub fn each_or_absent(&self, weights: &[u64], mut visit: impl FnMut(&T, u64)) {
        self.each_part(weights, &mut visit, |rows, visit| {
            for (source, row) in rows {
                visit(row, weight(weights, source));
            }
        });
    }

    /// Visits the rows of ties; those between two ties go to `visit_part`.
    fn each_part<V: FnMut(&T, u64)>(
        &self,
        weights: &[u64],
        visit: &mut V,
        visit_part: impl Fn(&[(RowSource, T)], &mut V),
    ) {
        let rows = |range: Range<usize>| self.rows.get(range).unwrap_or_default();
        let mut start = 0;
        for tie in &self.ties {
            visit_part(rows(start..tie.start), visit);
            let tied = rows(tie.clone());
            let times = tied
                .first()
                .map_or(0, |(source, _)| weight(weights, source));
            // The first copy of a repeated example comes before the second.
            for _ in 0..times {
                tied.iter().for_each(|(_, row)| visit(row, 1));
            }
            start = tie.end;
        }
        visit_part(rows(start..self.rows.len()), visit);
    }

    /// Returns the sorted rows, each with its origin.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (RowSource, &T)> {
        self.rows.iter().map(|(source, row)| (*source, row))
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// The weight of the state that a row comes from.
fn weight(weights: &[u64], source: &RowSource) -> u64 {
    weights
        .get(source.state as usize)
        .copied()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The rows that are read are the sorted list of those of the repeated examples.
        #[test]
        fn weights_are_repetitions(
            examples in proptest::collection::vec(
                (0_u32..4, proptest::collection::vec(0_u8..4, 0..5)), 0..8,
            ),
            weights in proptest::collection::vec(0_u64..4, 0..5),
        ) {
            let mut index = 0;
            let numbered: Vec<(u32, Vec<(u8, u32)>)> = examples.into_iter().map(|(state, keys)| {
                let rows = keys.into_iter().map(|key| { index += 1; (key, index) });
                (state, rows.collect())
            }).collect();
            let rows = (0..).zip(&numbered).flat_map(|(example, (state, rows))| {
                let source = RowSource { state: *state, example };
                rows.iter().map(move |row| (source, *row))
            });
            let sorted = WeightedRows::new(rows, |row| row.0);
            let mut read = Vec::new();
            sorted.each(&weights, |row, times| read.extend(std::iter::repeat_n(*row, times as usize)));
            let mut read_with_absent = Vec::new();
            sorted.each_or_absent(&weights, |row, times| {
                read_with_absent.extend(std::iter::repeat_n(*row, times as usize));
            });

            let mut repeated = Vec::new();
            for (state, rows) in &numbered {
                for _ in 0..weights.get(*state as usize).copied().unwrap_or_default() {
                    repeated.extend_from_slice(rows);
                }
            }
            repeated.sort_by_key(|row| row.0);
            prop_assert_eq!(&read, &repeated);
            prop_assert_eq!(read_with_absent, repeated);
        }
    }
}
