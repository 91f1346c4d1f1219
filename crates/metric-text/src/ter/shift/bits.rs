//! Edit distances without a band, which are the distances in the band or less, for references that fit into a word of the
//! machine.

use super::Shift;

/// The column of a table of edit distances between all prefixes of a reference and the same prefix of a prediction, as
/// differences of neighbors in bits.
///
/// G. Myers, *A fast bit-vector algorithm for approximate string matching based on dynamic programming* (1999), in the
/// form of H. Hyyrö for global distances (2003).
#[derive(Clone, Copy, PartialEq)]
struct Column {
    /// Where the distance grows by one.
    up: u64,
    /// Where the distance falls by one.
    down: u64,
    /// The distance to the whole reference.
    distance: u32,
}

impl Column {
    #[inline]
    fn next(self, equal: u64, last: u64) -> Self {
        let vertical = equal | self.down;
        let diagonal = (((equal & self.up).wrapping_add(self.up)) ^ self.up) | equal;
        let right = self.down | !(diagonal | self.up);
        let left = self.up & diagonal;
        let distance = self.distance + u32::from(right & last != 0) - u32::from(left & last != 0);
        let right = right << 1 | 1;
        let left = left << 1;
        Self {
            up: left | !(vertical | right),
            down: right & vertical,
            distance,
        }
    }
}

/// The columns of all prefixes of a prediction, where shifted predictions go on.
pub(super) struct Prefixes {
    /// The positions of each token of the reference. Tokens that it does not have may be out of range.
    positions: Vec<u64>,
    /// The bit of the last word of the reference.
    last: u64,
    first: Column,
    columns: Vec<Column>,
}

impl Prefixes {
    /// Returns `None` if the reference is too long.
    pub(super) fn new(reference: &[u32]) -> Option<Self> {
        let len = u32::try_from(reference.len())
            .ok()
            .filter(|len| (1..=u64::BITS).contains(len))?;
        let greatest = reference.iter().max().copied().unwrap_or(0) as usize;
        /// Token numbers up to this have a table, which is small for texts of any length.
        const MOST: usize = 1 << 12;
        if greatest > MOST {
            return None;
        }
        let mut positions = vec![0; greatest + 1];
        for (position, &token) in reference.iter().enumerate() {
            positions[token as usize] |= 1 << position;
        }
        Some(Self {
            positions,
            last: 1 << (len - 1),
            first: Column {
                up: u64::MAX,
                down: 0,
                distance: len,
            },
            columns: Vec::new(),
        })
    }

    pub(super) fn fill(&mut self, words: &[u32]) {
        let mut columns = std::mem::take(&mut self.columns);
        columns.clear();
        columns.push(self.first);
        let mut column = self.first;
        for &word in words {
            column = self.next(column, word);
            columns.push(column);
        }
        self.columns = columns;
    }

    /// The distance after a shift, if it is at most `limit` and less than without the shift.
    pub(super) fn distance(&self, words: &[u32], shift: Shift, limit: u32) -> Option<u32> {
        let mut column = self.columns[shift.start];
        for &word in words[shift.middle..shift.end]
            .iter()
            .chain(&words[shift.start..shift.middle])
        {
            column = self.next(column, word);
        }
        if column == self.columns[shift.end] {
            return None; // Everything after is as before.
        }
        for &word in &words[shift.end..] {
            column = self.next(column, word);
        }
        (column.distance <= limit).then_some(column.distance)
    }

    #[inline]
    fn next(&self, column: Column, word: u32) -> Column {
        let equal = self.positions.get(word as usize).copied().unwrap_or(0);
        column.next(equal, self.last)
    }
}
