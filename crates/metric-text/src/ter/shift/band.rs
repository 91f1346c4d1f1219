//! Edit distances in a band around the diagonal, and their traces.

use std::ops::Range;

use super::Shift;

/// Half of the width of the band.
const HALF_WIDTH: usize = 25;
/// The distance of cells outside of the band.
const FAR: u32 = u32::MAX / 2;

#[derive(Clone, Copy, PartialEq)]
enum Edit {
    Keep,
    Substitute,
    Delete,
    Insert,
}

/// The table of distances between all prefixes of a prediction (rows) and of a reference (columns).
pub(super) struct Table {
    /// The covered columns of each row.
    columns: Vec<Range<usize>>,
    /// Where the cells of each row begin.
    offsets: Vec<usize>,
    costs: Vec<u32>,
    edits: Vec<Edit>,
    least_outside: u32,
    /// The row above and the current row of a shifted prediction.
    above: Vec<u32>,
    row: Vec<u32>,
}

/// What the trace of a table says about each word.
pub(super) struct Trace {
    /// The number of words of the prediction that are consumed when this word of the reference is.
    pub(super) consumed: Vec<usize>,
    /// Whether a word of the prediction was substituted or deleted.
    pub(super) wrong_words: Vec<bool>,
    /// Whether a word of the reference was substituted or inserted.
    pub(super) wrong_references: Vec<bool>,
}

impl Table {
    /// An empty table for lists of these lengths.
    pub(super) fn new(prediction: usize, reference: usize) -> Self {
        let ratio = if prediction == 0 {
            1.0
        } else {
            reference as f64 / prediction as f64
        };
        let half_width = half_width(ratio);
        let row = |row: usize| {
            let diagonal = (row as f64 * ratio).floor() as usize;
            let end = if row == prediction {
                reference + 1
            } else {
                (diagonal + half_width).min(reference + 1)
            };
            diagonal.saturating_sub(half_width)..end
        };
        let first = std::iter::once(0..reference + 1);
        let columns: Vec<Range<usize>> = first.chain((1..=prediction).map(row)).collect();
        let offsets = columns.iter().scan(0, |end, columns| {
            let start = *end;
            *end += columns.len();
            Some(start)
        });
        let least_outside = columns.iter().enumerate().flat_map(|(row, columns)| {
            let neighbors = [columns.start.checked_sub(1), Some(columns.end)]
                .into_iter()
                .flatten();
            let outside = neighbors.filter(|column| *column <= reference);
            outside.map(move |column| {
                row.abs_diff(column) + (prediction - row).abs_diff(reference - column)
            })
        });
        Self {
            least_outside: least_outside.min().map_or(FAR, |least| least as u32),
            offsets: offsets.collect(),
            columns,
            costs: Vec::new(),
            edits: Vec::new(),
            above: Vec::new(),
            row: Vec::new(),
        }
    }

    /// At least the number of columns of each row but the first.
    pub(super) fn greatest_width(prediction: usize, reference: usize) -> usize {
        let ratio = reference as f64 / prediction.max(1) as f64;
        // The last row covers all columns after the band.
        2 * half_width(ratio) + ratio.ceil() as usize
    }

    /// The least distance of all paths that leave the band. Smaller distances are the same with and without the band.
    pub(super) fn least_outside(&self) -> u32 {
        self.least_outside
    }

    /// Computes the table, and returns the distance.
    pub(super) fn fill(&mut self, words: &[u32], reference: &[u32]) -> u32 {
        let mut costs = std::mem::take(&mut self.costs);
        let mut edits = std::mem::take(&mut self.edits);
        costs.clear();
        edits.clear();
        costs.extend(0..=reference.len() as u32);
        edits.extend(reference.iter().map(|_| Edit::Insert).chain([Edit::Insert]));
        for (row, &word) in (1..).zip(words) {
            let (done, columns) = (costs.len(), self.columns[row].clone());
            let above = self.offsets[row - 1];
            for column in columns.clone() {
                let above_start = self.columns[row - 1].start;
                let at = |column: usize| match column.checked_sub(above_start) {
                    Some(index) if above + index < done => costs[above + index],
                    _ => FAR,
                };
                let left = if column > columns.start {
                    costs[costs.len() - 1]
                } else {
                    FAR
                };
                let (cost, edit) = cell(word, column, reference, at, left);
                costs.push(cost);
                edits.push(edit);
            }
        }
        let distance = costs.last().copied().unwrap_or(0);
        self.costs = costs;
        self.edits = edits;
        distance
    }

    /// Follows the edits of the table back from its end.
    pub(super) fn trace(&self, prediction: usize, reference: usize) -> Trace {
        let mut trace = Trace {
            consumed: vec![0; reference],
            wrong_words: vec![false; prediction],
            wrong_references: vec![false; reference],
        };
        let (mut row, mut column) = (prediction, reference);
        while row > 0 || column > 0 {
            let edit = self.edits[self.offsets[row] + column - self.columns[row].start];
            let is_wrong = edit != Edit::Keep;
            if edit != Edit::Delete {
                column -= 1;
                trace.consumed[column] = row;
                trace.wrong_references[column] = is_wrong;
            }
            if edit != Edit::Insert {
                row -= 1;
                trace.wrong_words[row] = is_wrong;
            }
        }
        trace
    }

    /// The distance after a shift, if it is at most `limit`.
    pub(super) fn distance(
        &mut self,
        words: &[u32],
        reference: &[u32],
        shift: Shift,
        limit: u32,
    ) -> Option<u32> {
        // Rows up to the first word that moves are the same.
        let mut above_columns = self.columns[shift.start].clone();
        let start = self.offsets[shift.start];
        self.above.clear();
        self.above
            .extend_from_slice(&self.costs[start..start + above_columns.len()]);
        for (row, word) in (shift.start + 1..).zip(shift.words(words)) {
            let columns = self.columns[row].clone();
            self.row.clear();
            let mut least = FAR;
            let mut left = FAR;
            for column in columns.clone() {
                let at = |column: usize| {
                    let index = column.wrapping_sub(above_columns.start);
                    self.above.get(index).copied().unwrap_or(FAR)
                };
                let (cost, _) = cell(word, column, reference, at, left);
                self.row.push(cost);
                left = cost;
                let rest = (words.len() - row).abs_diff(reference.len() - column);
                least = least.min(cost + rest as u32);
            }
            if least > limit {
                return None;
            }
            std::mem::swap(&mut self.above, &mut self.row);
            above_columns = columns;
        }
        self.above
            .last()
            .copied()
            .filter(|distance| *distance <= limit)
    }
}

fn half_width(ratio: f64) -> usize {
    if ratio / 2.0 > HALF_WIDTH as f64 {
        (ratio / 2.0 + HALF_WIDTH as f64).ceil() as usize
    } else {
        HALF_WIDTH
    }
}

/// The cost of a cell and the edit that leads to it. Among equal costs the diagonal is preferred, then the cell above.
#[inline]
fn cell(
    word: u32,
    column: usize,
    reference: &[u32],
    above: impl Fn(usize) -> u32,
    left: u32,
) -> (u32, Edit) {
    let deleted = above(column) + 1;
    let Some(index) = column.checked_sub(1) else {
        return (deleted, Edit::Delete);
    };
    let mut best = if reference.get(index) == Some(&word) {
        (above(index), Edit::Keep)
    } else {
        (above(index) + 1, Edit::Substitute)
    };
    for other in [(deleted, Edit::Delete), (left + 1, Edit::Insert)] {
        if other.0 < best.0 {
            best = other;
        }
    }
    best
}
