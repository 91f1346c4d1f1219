use std::borrow::Cow;

use metric_core::{Key, Sum};

use super::rows::{Cells, Rows, ScoreRows};
use crate::Score;

/// The rows of some states, to be scored as if each state were merged as many times as a weight says.
///
/// Classes are given by their position in a list. [`sort`](Self::sort) sorts each column once for all weights, as
/// replicates of a bootstrap need it; otherwise a column is sorted when it is scored, and then forgotten. Columns are
/// scored on the threads of the pool that a call is made in, with the feature `rayon`.
///
/// # Memory
///
/// A sorted column has 16 bytes per row, and takes as many again while it is sorted. Several states take 4 more bytes per row, and weights 8.
#[derive(Clone, Debug)]
pub struct ScoreTable<'s> {
    blocks: Vec<Block<'s>>,
    pub(super) width: usize,
    pub(super) classes: usize,
    rows: usize,
    /// The weight of each row; empty if all are 1.
    row_weights: Vec<f64>,
    /// The state of each row; empty if there is only one.
    sources: Vec<u32>,
    sorted: Vec<Vec<Cell>>,
}

/// The rows of a label in a state.
#[derive(Clone, Debug)]
struct Block<'s> {
    class: u32,
    scores: Scores<'s>,
}

#[derive(Clone, Copy, Debug)]
enum Scores<'s> {
    Double(&'s [f64]),
    Single(&'s [f32]),
}

/// A score of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Grows as scores fall.
    key: u64,
    pub(super) class: u32,
    pub(super) row: u32,
}

impl Cell {
    fn new(score: f64, class: u32, row: u32) -> Self {
        let bits = score.to_bits();
        let rising = if bits >> 63 == 1 {
            !bits
        } else {
            bits | 1 << 63
        };
        Self {
            key: !rising,
            class,
            row,
        }
    }

    pub(super) fn score(self) -> f64 {
        let rising = !self.key;
        let bits = if rising >> 63 == 1 {
            rising & !(1 << 63)
        } else {
            !rising
        };
        f64::from_bits(bits)
    }
}

/// Sorts cells by key. Many of them are sorted by their first bits, digit by digit, and then those that share these bits:
/// a quarter of the time of comparing all.
fn sorted(mut cells: Vec<Cell>) -> Vec<Cell> {
    const FEW: usize = 4096;
    const BITS: u32 = 11;
    const DIGITS: u32 = 3;
    /// The bits of a key after the digits.
    const REST: u32 = u64::BITS - BITS * DIGITS;
    if cells.len() < FEW {
        cells.sort_unstable_by_key(|cell| cell.key);
        return cells;
    }
    let digit =
        |cell: &Cell, index: u32| (cell.key >> (REST + BITS * index)) as usize & ((1 << BITS) - 1);
    let mut counts = vec![[0_usize; 1 << BITS]; DIGITS as usize];
    for cell in &cells {
        for (index, counts) in (0..).zip(&mut counts) {
            counts[digit(cell, index)] += 1;
        }
    }
    let mut other = cells.clone();
    for (index, counts) in (0..).zip(&mut counts) {
        // A digit that all cells share needs no pass.
        if counts.contains(&cells.len()) {
            continue;
        }
        let mut start = 0;
        for count in &mut *counts {
            start += std::mem::replace(count, start);
        }
        for cell in &cells {
            let position = &mut counts[digit(cell, index)];
            other[*position] = *cell;
            *position += 1;
        }
        std::mem::swap(&mut cells, &mut other);
    }
    for alike in cells.chunk_by_mut(|a, b| a.key >> REST == b.key >> REST) {
        if !alike.is_sorted_by_key(|cell| cell.key) {
            alike.sort_unstable_by_key(|cell| cell.key);
        }
    }
    cells
}

/// Groups of equal scores, in falling order.
pub(super) fn ties(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunk_by(|a, b| a.key == b.key)
}

/// Sums over the rows of a table.
#[derive(Clone, Debug, Default)]
pub struct RowSums {
    /// The sum of −ln of the probability of the row's own class.
    pub log_loss: Sum,
    /// The sum of squared errors of the probabilities.
    pub brier: Sum,
    /// The number of rows that count.
    pub rows: u64,
    /// The rows whose scores miss the sum 1 by more than the area under the curve allows.
    pub far_from_one: u64,
}

impl<'s> ScoreTable<'s> {
    /// Returns the table of these states, whose labels are among these classes. Rows of other labels are left out.
    #[must_use]
    pub fn new(states: &[&'s ScoreRows], classes: &[Key]) -> Self {
        let mut table = Self {
            blocks: Vec::new(),
            width: 1,
            classes: classes.len(),
            rows: 0,
            row_weights: Vec::new(),
            sources: Vec::new(),
            sorted: Vec::new(),
        };
        let position = |label: &Key| classes.iter().position(|class| class == label);
        for (source, state) in (0..).zip(states) {
            if !state.is_empty() {
                table.width = state.width.max(1);
            }
            let rows_before = table.rows;
            match &state.cells {
                Cells::Double(map) => {
                    for (label, rows) in map {
                        table.push(position(label), rows, Scores::Double(&rows.scores));
                    }
                }
                Cells::Single(map) => {
                    for (label, rows) in map {
                        table.push(position(label), rows, Scores::Single(&rows.scores));
                    }
                }
            }
            if states.len() > 1 {
                let added = table.rows - rows_before;
                table.sources.extend(std::iter::repeat_n(source, added));
            }
        }
        table
    }

    fn push<S>(&mut self, class: Option<usize>, rows: &Rows<S>, scores: Scores<'s>) {
        let Some(class) = class.and_then(|class| u32::try_from(class).ok()) else {
            return;
        };
        self.blocks.push(Block { class, scores });
        self.rows += rows.scores.len() / self.width;
        self.row_weights.extend_from_slice(&rows.weights);
    }

    /// Sorts all columns, for many weights.
    #[must_use]
    pub fn sort(mut self) -> Self {
        self.sorted = (0..self.width)
            .map(|column| self.sort_column(column))
            .collect();
        self
    }

    /// Returns the number of scores of a row.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    pub(super) const fn is_weighted(&self) -> bool {
        !self.row_weights.is_empty()
    }

    /// The cells of a column, by falling score.
    pub(super) fn column(&self, column: usize) -> Cow<'_, [Cell]> {
        match self.sorted.get(column) {
            Some(cells) => Cow::Borrowed(cells),
            None => Cow::Owned(self.sort_column(column)),
        }
    }

    fn sort_column(&self, column: usize) -> Vec<Cell> {
        let mut cells = Vec::with_capacity(self.rows);
        for block in &self.blocks {
            let mut push = |score| {
                // Only rows with weights, or of several states, are looked up by their number.
                let row = cells.len() as u32;
                cells.push(Cell::new(score, block.class, row));
            };
            match block.scores {
                Scores::Double(scores) => each_of(scores, column, self.width, &mut push),
                Scores::Single(scores) => each_of(scores, column, self.width, &mut push),
            }
        }
        sorted(cells)
    }

    /// All scores of all rows as one column, in which the class is 1 where the column is that of the row's class, else 0.
    pub(super) fn all_cells(&self) -> Vec<Cell> {
        let mut cells = Vec::with_capacity(self.rows * self.width);
        self.each_row(|class, row, scores| {
            let of_row = (0..).zip(scores);
            cells.extend(
                of_row.map(|(column, score)| Cell::new(*score, u32::from(column == class), row)),
            );
        });
        sorted(cells)
    }

    /// Visits the rows: class, number and scores.
    pub(super) fn each_row(&self, mut visit: impl FnMut(u32, u32, &[f64])) {
        let mut number = 0;
        let mut copy = vec![0.0; self.width];
        for block in &self.blocks {
            match block.scores {
                Scores::Double(scores) => {
                    for row in scores.chunks_exact(self.width) {
                        visit(block.class, number, row);
                        number = number.wrapping_add(1);
                    }
                }
                Scores::Single(scores) => {
                    for row in scores.chunks_exact(self.width) {
                        let pairs = copy.iter_mut().zip(row);
                        pairs.for_each(|(copy, score)| *copy = f64::from(*score));
                        visit(block.class, number, &copy);
                        number = number.wrapping_add(1);
                    }
                }
            }
        }
    }

    /// Calls what goes on with the amounts of rows under these weights of states.
    pub(super) fn with_amounts<W: WithAmounts>(
        &self,
        weights: Option<&[u64]>,
        work: W,
    ) -> W::Output {
        let times = Times {
            weights: weights.unwrap_or_default(),
            sources: &self.sources,
        };
        match (weights, self.is_weighted()) {
            (None, false) => work.run(&Ones),
            (Some(_), false) => work.run(&times),
            (_, true) => work.run(&Weighted {
                times: weights.is_some().then_some(times),
                row_weights: &self.row_weights,
            }),
        }
    }
}

fn each_of<S: Score>(scores: &[S], column: usize, width: usize, push: &mut impl FnMut(f64)) {
    let of_column = scores.get(column..).unwrap_or_default();
    of_column
        .iter()
        .step_by(width)
        .for_each(|score| push((*score).into()));
}

/// Work on the amounts of rows.
pub(super) trait WithAmounts {
    type Output;

    fn run<A: Amounts + Sync>(self, amounts: &A) -> Self::Output;
}

/// How much each row counts: a number of times, or a weight.
pub(super) trait Amounts {
    /// The amount of several rows.
    type Total: Clone + Default + Send;

    /// Whether amounts are whole numbers.
    const ARE_COUNTS: bool;

    /// Returns how often a row occurs.
    fn times(&self, row: u32) -> u64;

    /// Adds a row.
    fn add(&self, total: &mut Self::Total, row: u32);

    /// Adds a term of a row.
    fn add_term(&self, sum: &mut Sum, term: f64, row: u32);

    fn value(total: &Self::Total) -> f64;
}

/// Rows that count once.
pub(super) struct Ones;

impl Amounts for Ones {
    type Total = u64;
    const ARE_COUNTS: bool = true;

    fn times(&self, _: u32) -> u64 {
        1
    }

    fn add(&self, total: &mut u64, _: u32) {
        *total += 1;
    }

    fn add_term(&self, sum: &mut Sum, term: f64, _: u32) {
        sum.add(term);
    }

    fn value(total: &u64) -> f64 {
        *total as f64
    }
}

/// Rows that count as often as the weight of their state says.
struct Times<'t> {
    weights: &'t [u64],
    sources: &'t [u32],
}

impl Amounts for Times<'_> {
    type Total = u64;
    const ARE_COUNTS: bool = true;

    fn times(&self, row: u32) -> u64 {
        let source = self
            .sources
            .get(row as usize)
            .map_or(0, |source| *source as usize);
        self.weights.get(source).copied().unwrap_or_default()
    }

    fn add(&self, total: &mut u64, row: u32) {
        *total += self.times(row);
    }

    fn add_term(&self, sum: &mut Sum, term: f64, row: u32) {
        add_product(sum, term, self.times(row) as f64);
    }

    fn value(total: &u64) -> f64 {
        *total as f64
    }
}

/// Rows with weights.
struct Weighted<'t> {
    times: Option<Times<'t>>,
    row_weights: &'t [f64],
}

impl Amounts for Weighted<'_> {
    type Total = Sum;
    const ARE_COUNTS: bool = false;

    fn times(&self, row: u32) -> u64 {
        self.times.as_ref().map_or(1, |times| times.times(row))
    }

    fn add(&self, total: &mut Sum, row: u32) {
        let weight = self.row_weights.get(row as usize).copied().unwrap_or(1.0);
        add_product(total, weight, self.times(row) as f64);
    }

    fn add_term(&self, sum: &mut Sum, term: f64, row: u32) {
        let weight = self.row_weights.get(row as usize).copied().unwrap_or(1.0);
        // The same double in each copy of the row.
        add_product(sum, term * weight, self.times(row) as f64);
    }

    fn value(total: &Sum) -> f64 {
        total.value()
    }
}

/// Adds the exact product of two doubles.
fn add_product(sum: &mut Sum, term: f64, times: f64) {
    if times == 1.0 {
        return sum.add(term);
    }
    let product = term * times;
    sum.add(product);
    sum.add(term.mul_add(times, -product));
}
