//! Edits of one pair of texts, of which words may be paired only where their times meet.

use std::ops::{Range, RangeInclusive};

use super::Size;
use super::limits::{Budget, TIMED_CELLS};
use super::time::{Instant, Interval};
use crate::Edits;
use crate::edit::{OutOfCells, Ties, distance_of_symbols};

/// Units with their times; without times, any units may be paired.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Text<'t> {
    pub(super) units: &'t [u32],
    pub(super) times: &'t [Interval],
}

impl Text<'_> {
    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    pub(super) fn is_timed(&self) -> bool {
        !self.times.is_empty()
    }

    /// Whether the times of units decide which ones may be paired with those of another text.
    pub(super) fn is_timed_with(&self, other: &Self) -> bool {
        self.is_timed() && other.is_timed()
    }

    /// Whether a unit and one of another text may be paired.
    #[inline]
    pub(super) fn meets(&self, unit: usize, other: &Self, index: usize) -> bool {
        match (self.times.get(unit), other.times.get(index)) {
            (Some(time), Some(other)) => time.meets(other),
            _ => true,
        }
    }
}

/// Spends what [`errors`] takes with times, and returns an error if [`edits`] takes too much memory then. Without times,
/// the alignment itself spends its cells, as it finds out how many they are.
pub(super) fn reserve(
    reference: Text<'_>,
    prediction: Text<'_>,
    budget: &mut Budget,
) -> Result<(), OutOfCells> {
    if !reference.is_timed_with(&prediction) {
        return Ok(());
    }
    let table = Table::new(reference, prediction, true);
    table.check_memory(budget)?;
    table.spend(budget)
}

/// The least number of errors of a pair, for which cells were [reserved](reserve).
pub(super) fn errors(
    reference: Text<'_>,
    prediction: Text<'_>,
    budget: &mut Budget,
) -> Result<Size, OutOfCells> {
    if !reference.is_timed_with(&prediction) {
        return Ok(
            distance_of_symbols(reference.units, prediction.units, &mut budget.cells)? as Size,
        );
    }
    let mut table = Table::new(reference, prediction, false);
    table.fill();
    Ok(table.cost(reference.len(), prediction.len()))
}

/// The edits of a pair, of the kinds that kaldialign 0.12.0 counts: from the end, an insertion is taken before a deletion,
/// and both before a hit or a substitution.
pub(super) fn edits(
    reference: Text<'_>,
    prediction: Text<'_>,
    budget: &mut Budget,
) -> Result<Edits, OutOfCells> {
    if !reference.is_timed_with(&prediction) {
        // The rule with sides exchanged.
        let edits = Edits::within(
            prediction.units,
            reference.units,
            Ties::Gaps,
            &mut budget.cells,
        )?;
        return Ok(exchanged(edits));
    }
    let mut table = Table::new(reference, prediction, true);
    table.check_memory(budget)?;
    table.spend(budget)?;
    table.fill();
    Ok(table.trace())
}

/// Edits with sides exchanged.
pub(super) fn exchanged(edits: Edits) -> Edits {
    Edits {
        deletions: edits.insertions,
        insertions: edits.deletions,
        ..edits
    }
}

/// Of a text, the greatest end so far and the least start from here on of each unit, both rising.
pub(super) struct Bounds {
    pub(super) ends: Vec<Instant>,
    pub(super) starts: Vec<Instant>,
}

impl Bounds {
    pub(super) fn new(times: &[Interval]) -> Self {
        let mut ends: Vec<Instant> = times.iter().map(|time| time.end).collect();
        for index in 1..ends.len() {
            ends[index] = ends[index].max(ends[index - 1]);
        }
        let mut starts: Vec<Instant> = times.iter().map(|time| time.start).collect();
        for index in (1..starts.len()).rev() {
            starts[index - 1] = starts[index - 1].min(starts[index]);
        }
        Self { ends, starts }
    }

    /// The units that may meet the time from a start to an end.
    pub(super) fn may_meet(&self, start: Instant, end: Instant) -> Range<usize> {
        let first = self.ends.partition_point(|other| *other <= start);
        let last = self.starts.partition_point(|other| *other < end);
        first..last.max(first)
    }
}

/// The part of the table of edit distances in which units can meet: of each row (a unit of the reference), the columns
/// (counts of units of the prediction) from the first one that may be met in this row or a later one, to the last one that may
/// be met in this row or an earlier one. The other cells follow from these.
struct Table<'t> {
    reference: Text<'t>,
    prediction: Text<'t>,
    /// Whether all rows are kept, not only the last one.
    is_kept: bool,
    rows: Vec<Row>,
    cells: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Row {
    first: usize,
    last: usize,
    /// Where the row begins in the cells.
    at: usize,
}

impl Row {
    fn columns(self) -> RangeInclusive<usize> {
        self.first..=self.last
    }
}

impl<'t> Table<'t> {
    fn new(reference: Text<'t>, prediction: Text<'t>, is_kept: bool) -> Self {
        let (others, bounds) = (Bounds::new(prediction.times), Bounds::new(reference.times));
        let mut rows = vec![Row {
            first: 0,
            last: 0,
            at: 0,
        }];
        let (mut first, mut last) = (0, 0);
        // From here on the reference starts, and up to here it ends.
        for (starts, ends) in bounds.starts.iter().zip(&bounds.ends) {
            while others.ends.get(first).is_some_and(|end| end <= starts) {
                first += 1;
            }
            while others.starts.get(last).is_some_and(|start| start < ends) {
                last += 1;
            }
            rows.push(Row {
                first,
                last: last.max(first),
                at: 0,
            });
        }
        Self {
            reference,
            prediction,
            is_kept,
            rows,
            cells: vec![0],
        }
    }

    fn size(&self) -> u64 {
        let widths = self.rows.iter().map(|row| row.last - row.first + 1);
        widths.map(|width| width as u64).sum()
    }

    fn spend(&self, budget: &mut Budget) -> Result<(), OutOfCells> {
        budget.cells.spend(self.size().saturating_mul(TIMED_CELLS))
    }

    /// Returns an error if all rows take too much memory.
    fn check_memory(&self, budget: &Budget) -> Result<(), OutOfCells> {
        budget.check_memory(self.size(), size_of::<u32>())
    }

    fn fill(&mut self) {
        for index in 1..self.rows.len() {
            let before = self.rows[index - 1];
            let columns = self.rows[index].columns();
            let at = self.cells.len();
            for column in columns {
                let upper = self.near(before, column) + 1;
                let mut cost = upper;
                if self.cells.len() > at {
                    cost = cost.min(self.cells[self.cells.len() - 1] + 1);
                    let unit = column - 1;
                    if self.reference.meets(index - 1, &self.prediction, unit) {
                        let wrong = self.reference.units[index - 1] != self.prediction.units[unit];
                        cost = cost.min(self.near(before, unit) + u32::from(wrong));
                    }
                }
                self.cells.push(cost);
            }
            self.rows[index].at = at;
            if !self.is_kept {
                self.cells.drain(..at);
                self.rows[index].at = 0;
            }
        }
    }

    /// A cell of a row, or after it: each unit that cannot be met by then is an insertion.
    #[inline]
    fn near(&self, row: Row, column: usize) -> u32 {
        let kept = column.min(row.last);
        self.cells[row.at + kept - row.first] + (column - kept) as u32
    }

    /// Any cell.
    fn cost(&self, row: usize, column: usize) -> Size {
        // Before the first column of a row, each unit of the reference is a deletion.
        let rows = &self.rows[..=row];
        let last = rows.partition_point(|row| row.first <= column).max(1) - 1;
        Size::from(self.near(rows[last], column)) + (row - last) as Size
    }

    fn trace(&self) -> Edits {
        let (mut row, mut column) = (self.reference.len(), self.prediction.len());
        let mut edits = Edits::default();
        while row > 0 && column > 0 {
            let deletion = self.cost(row - 1, column);
            let insertion = self.cost(row, column - 1);
            let is_wrong = self.reference.units[row - 1] != self.prediction.units[column - 1];
            let diagonal = self.cost(row - 1, column - 1) + Size::from(is_wrong);
            let meets = || self.reference.meets(row - 1, &self.prediction, column - 1);
            if diagonal <= deletion && diagonal <= insertion && meets() {
                row -= 1;
                column -= 1;
                edits.substitutions += u64::from(is_wrong);
                edits.hits += u64::from(!is_wrong);
            } else if deletion < insertion {
                row -= 1;
                edits.deletions += 1;
            } else {
                column -= 1;
                edits.insertions += 1;
            }
        }
        edits.deletions += row as u64;
        edits.insertions += column as u64;
        edits
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::speakers::time::Time;

    /// The edits from the whole table.
    fn plain(reference: Text<'_>, prediction: Text<'_>) -> (Size, Edits) {
        let (rows, columns) = (reference.len(), prediction.len());
        let mut table = vec![vec![0; columns + 1]; rows + 1];
        let steps = |table: &[Vec<Size>], row: usize, column: usize| {
            let wrong = reference.units[row - 1] != prediction.units[column - 1];
            let meets = reference.meets(row - 1, &prediction, column - 1);
            let diagonal = table[row - 1][column - 1] + Size::from(wrong);
            let diagonal = if meets { diagonal } else { Size::MAX };
            (
                wrong,
                diagonal,
                table[row - 1][column] + 1,
                table[row][column - 1] + 1,
            )
        };
        for row in 0..=rows {
            for column in 0..=columns {
                table[row][column] = if row == 0 || column == 0 {
                    (row + column) as Size
                } else {
                    let (_, diagonal, deletion, insertion) = steps(&table, row, column);
                    diagonal.min(deletion).min(insertion)
                };
            }
        }
        let mut edits = Edits::default();
        let (mut row, mut column) = (rows, columns);
        while row > 0 && column > 0 {
            let (wrong, diagonal, deletion, insertion) = steps(&table, row, column);
            if diagonal < deletion && diagonal < insertion {
                (row, column) = (row - 1, column - 1);
                edits.substitutions += u64::from(wrong);
                edits.hits += u64::from(!wrong);
            } else if deletion < insertion {
                row -= 1;
                edits.deletions += 1;
            } else {
                column -= 1;
                edits.insertions += 1;
            }
        }
        edits.deletions += row as u64;
        edits.insertions += column as u64;
        (table[rows][columns], edits)
    }

    fn interval((start, length): (i128, i128)) -> Interval {
        let at = |time| Instant::between(Time(time), Time(time), 0, 1, 0);
        Interval {
            start: at(start),
            end: at(start + length),
        }
    }

    fn words() -> impl Strategy<Value = (Vec<u32>, Vec<Interval>)> {
        let word = (0_u32..3, (0_i128..20, 0_i128..4));
        let words = (proptest::collection::vec(word, 1..25), any::<bool>());
        words.prop_map(|(mut words, is_sorted)| {
            if is_sorted {
                words.sort_by_key(|(_, time)| time.0);
            }
            words
                .into_iter()
                .map(|(unit, time)| (unit, interval(time)))
                .unzip()
        })
    }

    proptest! {
        #[test]
        fn as_the_whole_table((units, times) in words(), (others, other_times) in words(), is_timed in any::<bool>()) {
            let (mut a, mut b) = (Text { units: &units, times: &times }, Text { units: &others, times: &other_times });
            if !is_timed {
                (a.times, b.times) = (&[], &[]);
            }
            let cells = &mut Budget::unlimited();
            let (expected, expected_edits) = plain(a, b);
            prop_assert_eq!(errors(a, b, cells), Ok(expected));
            prop_assert_eq!(edits(a, b, cells), Ok(expected_edits));
        }
    }
}
