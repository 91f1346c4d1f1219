//! The table of edit distances, 64 rows at a time.
//!
//! A column of the table (one symbol of the prediction) is kept as its vertical differences, one bit per row (a symbol
//! of the reference): G. Myers, *A fast bit-vector algorithm for approximate string matching based on dynamic
//! programming* (1999), in the form of H. Hyyrö, *A bit-vector algorithm for computing Levenshtein and Damerau edit
//! distances* (2003). Blocks too far from the diagonal for the distance in question are left out (Ukkonen 1985).
//!
//! The trace-back reads only these differences. Columns are kept as far as memory is granted, and otherwise computed
//! again from columns kept at intervals.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::cells::{Cells, OutOfCells};

/// Bits of a block of rows.
const BITS: usize = 64;
/// The most differences of columns that are kept for the trace-back: 16 MiB. Columns that are kept to start again from
/// take as much, at each of the few levels. In tests all levels are requested.
const KEPT: usize = if cfg!(test) { 64 } else { 1 << 20 };
/// Tables of up to this many blocks are filled entirely, not band by band.
const SMALL: usize = if cfg!(test) { 64 } else { 1 << 13 };
/// The fewest symbols of a list that is first searched for, in order, in one at least twice as long.
const SEARCHED: usize = if cfg!(test) { 8 } else { 1 << 11 };
/// The fewest blocks of a band whose width is bounded from below before it is filled.
const WIDE: usize = if cfg!(test) { 2 } else { 1 << 8 };
/// The fewest cells of a narrower band whose width is bounded from below: about two seconds of work.
const MUCH: u64 = 1 << 35;
/// The most runs of symbols that are told apart; they take 64 MiB.
const RUNS: usize = 1 << 24;
/// Symbols below have a place of their own in the masks of a single block: all letters of two bytes in
/// UTF-8, and all positions of a short reference.
const DIRECT: usize = 2048;

/// One step of the trace-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Diagonal,
    Delete,
    Insert,
}

/// Which step the trace-back takes where several lead to the fewest errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ties {
    /// That of rapidfuzz: a deletion before any other step; an insertion only if it is better than each diagonal step.
    #[default]
    Rapidfuzz,
    /// A deletion before an insertion, and an insertion before a diagonal step.
    Gaps,
}

impl Ties {
    /// Whether the step from a row is an insertion, if it is not a deletion: from the vertical difference of the row in the
    /// column before, and whether the two symbols are equal.
    fn inserts(self, before: Differences, bit: u64, is_equal: impl FnOnce() -> bool) -> bool {
        // With a difference of 1, an insertion is worse than a diagonal step; with -1, it is not.
        let is_level = (before.up | before.down) & bit == 0;
        before.down & bit != 0 || self == Self::Gaps && is_level && !is_equal()
    }
}

/// The distance of two lists of symbols, if it is at most `limit`.
pub(super) fn distance(
    reference: &[u32],
    prediction: &[u32],
    limit: usize,
    cells: &mut Cells,
) -> Result<Option<usize>, OutOfCells> {
    let (rows, columns) = (reference.len(), prediction.len());
    if rows.abs_diff(columns) > limit {
        return Ok(None);
    }
    if rows == 0 || columns == 0 {
        return Ok(Some(rows.max(columns)));
    }
    let found = if rows <= BITS {
        cells.spend(cells_of(1, columns))?;
        Some(SCRATCH.with_borrow_mut(|scratch| scratch.distance(reference, prediction, None)))
    } else if let Some(found) = embedded(reference, prediction) {
        Some(found)
    } else {
        Blocks::new(reference, prediction).distance(limit, |_| false, cells)?
    };
    Ok(found.filter(|&found| found <= limit))
}

/// The distance of lists of which one is much longer, if it is the difference of their lengths and an error
/// for each symbol that the longer list lacks. Then there are no other errors.
///
/// That is so where the shorter list is found in the longer one: its symbols in their order, and anything in
/// the place of those that the longer list lacks.
pub(super) fn embedded(reference: &[u32], prediction: &[u32]) -> Option<usize> {
    let [short, long] = if reference.len() < prediction.len() {
        [reference, prediction]
    } else {
        [prediction, reference]
    };
    if short.len() < SEARCHED || long.len() / 2 < short.len() {
        return None;
    }
    let mut lacking: HashSet<u32> = short.iter().copied().collect();
    for symbol in long {
        if lacking.is_empty() {
            break;
        }
        lacking.remove(symbol);
    }
    let mut left = long.iter();
    let mut errors = long.len() - short.len();
    for symbol in short {
        if lacking.contains(symbol) {
            errors += 1;
            left.next()?;
        } else {
            left.find(|other| *other == symbol)?;
        }
    }
    Some(errors)
}

/// The cells of this many blocks in each of these columns.
fn cells_of(blocks: usize, columns: usize) -> u64 {
    let blocks = (blocks as u64).saturating_mul(columns as u64);
    blocks.saturating_mul(BITS as u64)
}

/// At least the cells that the distance and the trace-back of lists of these lengths take.
pub(super) fn most_cells(rows: usize, columns: usize) -> u64 {
    let blocks = rows.div_ceil(BITS);
    // Bands that are doubled until they are the whole table take less than three times its cells.
    let passes = 3 + trace_levels(blocks, columns);
    cells_of(blocks, columns).saturating_mul(passes)
}

/// The number of columns that are kept at a time, each of this many blocks.
fn room(width: usize) -> usize {
    (KEPT / width.max(1)).max(2)
}

/// The number of times the trace-back computes each column.
fn trace_levels(width: usize, columns: usize) -> u64 {
    let room = room(width);
    let mut levels = 1;
    let mut length = columns;
    while length > room {
        length = length.div_ceil(room);
        levels += 1;
    }
    levels
}

/// The distance of two lists of symbols and, if it is `needed` at this distance, the steps of the
/// trace-back from the end. What is needed at a distance is needed at any greater one.
///
/// From a cell of the table, the step is a deletion if that leads to one error less. Otherwise it is an insertion or a
/// diagonal step, as the rule for ties says. Steps along the edges of the table are left to the caller, who knows where it is.
pub(super) fn trace(
    reference: &[u32],
    prediction: &[u32],
    ties: Ties,
    needed: impl Fn(usize) -> bool + Copy,
    cells: &mut Cells,
    mut step: impl FnMut(Step),
) -> Result<usize, OutOfCells> {
    let (rows, columns) = (reference.len(), prediction.len());
    if rows == 0 || columns == 0 {
        return Ok(rows.max(columns));
    }
    if rows <= BITS && columns <= SMALL {
        cells.spend(cells_of(1, columns))?;
        return SCRATCH.with_borrow_mut(|scratch| {
            let mut kept = std::mem::take(&mut scratch.kept);
            let found = scratch.distance(reference, prediction, Some(&mut kept));
            if needed(found) {
                trace_block([reference, prediction], ties, &kept, &mut step);
            }
            scratch.kept = kept;
            Ok(found)
        });
    }
    let blocks = Blocks::new(reference, prediction);
    let most = rows.max(columns);
    let found = blocks.distance(most, needed, cells)?.unwrap_or(most);
    if needed(found) {
        cells.spend(blocks.trace_cells(found))?;
        blocks.trace(found, ties, &mut step);
    }
    Ok(found)
}

/// Vertical differences of a block of rows: the rows that are one more than the row above, and those
/// that are one less.
#[derive(Clone, Copy, Debug)]
struct Differences {
    up: u64,
    down: u64,
}

impl Differences {
    /// As in a column where each row is one more than the last.
    const RISING: Self = Self { up: !0, down: 0 };

    /// The next column of the block. `equal` are the rows whose symbol is that of the column; `into`
    /// and the result are the horizontal differences above the first row and at all rows.
    #[inline(always)]
    fn next(self, equal: u64, into: Horizontal) -> (Self, u64, u64) {
        let matches = equal | into.down;
        let zero = (((matches & self.up).wrapping_add(self.up)) ^ self.up) | matches | self.down;
        let up = self.down | !(zero | self.up);
        let down = zero & self.up;
        let (shifted_up, shifted_down) = ((up << 1) | into.up, (down << 1) | into.down);
        let next = Self {
            up: shifted_down | !(zero | shifted_up),
            down: shifted_up & zero,
        };
        (next, up, down)
    }
}

/// A horizontal difference, each 0 or 1.
#[derive(Clone, Copy, Debug)]
struct Horizontal {
    up: u64,
    down: u64,
}

impl Horizontal {
    const RISING: Self = Self { up: 1, down: 0 };
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
}

/// Memory for references of a single block.
struct Scratch {
    /// The rows of each symbol below [`DIRECT`].
    direct: Vec<u64>,
    /// The rows of other symbols, by open addressing; no rows is a free place.
    hashed: Vec<(u32, u64)>,
    kept: Vec<Differences>,
}

const HASHED: usize = 2 * BITS;

impl Scratch {
    fn new() -> Self {
        Self {
            direct: vec![0; DIRECT],
            hashed: vec![(0, 0); HASHED],
            kept: Vec::new(),
        }
    }

    /// The position of a symbol among the hashed ones, where it is or could be.
    #[inline]
    fn position(&self, symbol: u32) -> usize {
        let mut position = (symbol.wrapping_mul(0x9e37_79b1) >> 25) as usize % HASHED;
        while self.hashed[position].1 != 0 && self.hashed[position].0 != symbol {
            position = (position + 1) % HASHED;
        }
        position
    }

    fn distance(
        &mut self,
        reference: &[u32],
        prediction: &[u32],
        mut kept: Option<&mut Vec<Differences>>,
    ) -> usize {
        for (row, &symbol) in reference.iter().enumerate() {
            match self.direct.get_mut(symbol as usize) {
                Some(rows) => *rows |= 1 << row,
                None => {
                    let position = self.position(symbol);
                    self.hashed[position].0 = symbol;
                    self.hashed[position].1 |= 1 << row;
                }
            }
        }
        if let Some(kept) = &mut kept {
            kept.clear();
            kept.reserve(prediction.len());
        }
        let mut block = Differences::RISING;
        let mut distance = reference.len();
        let last = reference.len() - 1;
        for &symbol in prediction {
            let equal = match self.direct.get(symbol as usize) {
                Some(&rows) => rows,
                None => self.hashed[self.position(symbol)].1,
            };
            let (next, up, down) = block.next(equal, Horizontal::RISING);
            block = next;
            distance += (up >> last & 1) as usize;
            distance -= (down >> last & 1) as usize;
            if let Some(kept) = &mut kept {
                kept.push(block);
            }
        }
        let mut is_hashed = false;
        for &symbol in reference {
            match self.direct.get_mut(symbol as usize) {
                Some(rows) => *rows = 0,
                None => is_hashed = true,
            }
        }
        if is_hashed {
            self.hashed.fill((0, 0));
        }
        distance
    }
}

/// The trace-back through a single block of which all columns were kept.
fn trace_block(
    [reference, prediction]: [&[u32]; 2],
    ties: Ties,
    kept: &[Differences],
    step: &mut impl FnMut(Step),
) {
    let (mut row, mut column) = (reference.len(), kept.len());
    while row > 0 && column > 0 {
        let bit = 1_u64 << (row - 1);
        if kept[column - 1].up & bit != 0 {
            row -= 1;
            step(Step::Delete);
            continue;
        }
        column -= 1;
        let is_equal = || reference[row - 1] == prediction[column];
        if column > 0 && ties.inserts(kept[column - 1], bit, is_equal) {
            step(Step::Insert);
        } else {
            row -= 1;
            step(Step::Diagonal);
        }
    }
}

/// The blocks of a longer reference.
struct Blocks<'a> {
    rows: usize,
    /// The reference and the prediction as they came.
    lists: [&'a [u32]; 2],
    /// The prediction, each symbol as its number in `starts`, or as the number of symbols for one that
    /// the reference does not have.
    prediction: Vec<u32>,
    /// Where in `masks` the blocks of a symbol begin.
    starts: Vec<usize>,
    /// For each symbol its blocks, rising, each with its rows.
    masks: Vec<(usize, u64)>,
}

/// The diagonals (row less column) that a path with at most this many errors can touch.
#[derive(Clone, Copy, Debug)]
struct Band {
    below: usize,
    above: usize,
}

impl Band {
    /// `errors` must be at least the difference of the lengths.
    fn new(rows: usize, columns: usize, errors: usize) -> Self {
        let beside = (errors - rows.abs_diff(columns)) / 2;
        Self {
            below: beside + rows.saturating_sub(columns),
            above: beside + columns.saturating_sub(rows),
        }
    }

    /// The blocks of a column, from 1, that hold the rows up to `rows`.
    fn blocks(self, column: usize, rows: usize) -> Range<usize> {
        let first = column.saturating_sub(self.above).max(1);
        let last = (column + self.below).min(rows).max(1);
        (first.min(last) - 1) / BITS..(last - 1) / BITS + 1
    }

    /// The most blocks that a column can have.
    fn width(self, rows: usize) -> usize {
        ((self.below + self.above) / BITS + 2).min(rows.div_ceil(BITS))
    }
}

/// A column: the differences of all blocks; only those in the band are correct.
#[derive(Clone, Debug)]
struct Column {
    /// The number of the column.
    at: usize,
    blocks: Range<usize>,
    /// The cost of these blocks and others.
    differences: Vec<Differences>,
}

impl<'a> Blocks<'a> {
    fn new(reference: &'a [u32], prediction: &'a [u32]) -> Self {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut positions: Vec<Vec<(usize, u64)>> = Vec::new();
        for (row, symbol) in reference.iter().enumerate() {
            let number = *numbers.entry(*symbol).or_insert_with(|| {
                positions.push(Vec::new());
                positions.len() as u32 - 1
            });
            let Some(blocks) = positions.get_mut(number as usize) else {
                continue;
            };
            let bit = 1 << (row % BITS);
            match blocks.last_mut() {
                Some((block, rows)) if *block == row / BITS => *rows |= bit,
                _ => blocks.push((row / BITS, bit)),
            }
        }
        let unknown = positions.len() as u32;
        let mut starts = vec![0];
        let mut masks = Vec::with_capacity(positions.iter().map(Vec::len).sum());
        for blocks in positions {
            masks.extend(blocks);
            starts.push(masks.len());
        }
        starts.push(masks.len());
        let number = |symbol| numbers.get(symbol).copied().unwrap_or(unknown);
        Self {
            rows: reference.len(),
            lists: [reference, prediction],
            prediction: prediction.iter().map(number).collect(),
            starts,
            masks,
        }
    }

    fn columns(&self) -> usize {
        self.prediction.len()
    }

    fn start(&self) -> Column {
        Column {
            at: 0,
            blocks: 0..0,
            differences: vec![Differences::RISING; self.rows.div_ceil(BITS)],
        }
    }

    /// The distance, if it is at most `limit`, in a band that is widened as needed.
    ///
    /// If the cells will not be enough, also for the trace-back at a distance at which that is needed, this
    /// ends as soon as it is known.
    fn distance(
        &self,
        limit: usize,
        needs_trace: impl Fn(usize) -> bool,
        cells: &mut Cells,
    ) -> Result<Option<usize>, OutOfCells> {
        let (rows, columns) = (self.rows, self.columns());
        let most = rows.max(columns);
        let least = self.least_distance();
        if least > limit {
            return Ok(None);
        }
        let small = rows.div_ceil(BITS) * columns <= SMALL;
        let mut errors = if small { most } else { least + 2 * BITS };
        let mut is_bounded = small;
        loop {
            errors = errors.min(limit).min(most);
            let width = |errors| Band::new(rows, columns, errors).width(rows);
            let is_wide = width(errors) >= WIDE || cells_of(width(errors), columns) >= MUCH;
            if !is_bounded && is_wide {
                is_bounded = true;
                let least = least.max(self.least_distance_by_runs());
                if least > limit {
                    return Ok(None);
                }
                errors = errors.max(least);
                let trace = if needs_trace(least) {
                    self.trace_cells(least)
                } else {
                    0
                };
                cells.check(cells_of(width(least), columns).saturating_add(trace))?;
            }
            let band = Band::new(rows, columns, errors);
            cells.spend(cells_of(width(errors), columns))?;
            let found = self.distance_in(band);
            if found <= errors {
                return Ok(Some(found));
            }
            if errors >= limit.min(most) {
                return Ok(None);
            }
            // There is a path with `found` errors, so that the distance is no more. Mostly it is just that:
            // bands in between would be in vain.
            errors = if found / 4 <= errors {
                found
            } else {
                errors.saturating_mul(2)
            };
        }
    }

    /// The cells of a trace-back at this distance.
    fn trace_cells(&self, distance: usize) -> u64 {
        let width = Band::new(self.rows, self.columns(), distance).width(self.rows);
        let levels = trace_levels(width, self.columns());
        cells_of(width, self.columns()).saturating_mul(levels)
    }

    /// A lower bound of the distance: an error changes as many runs of symbols as have a position in one, in both lists
    /// (E. Ukkonen, *Approximate string-matching with q-grams and maximal matches*, 1992).
    ///
    /// Runs that are not told apart make the bound lower.
    fn least_distance_by_runs(&self) -> usize {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let [rows, columns] = self.lists.map(<[u32]>::len);
        let symbols = self.starts.len().saturating_sub(2).max(2);
        // So long that by chance few runs are in both lists: shorter ones tell less, and so do longer ones.
        let length = rows.max(columns).max(1).ilog(symbols) as usize + 3;
        let slots = (2 * (rows + columns)).next_power_of_two().min(RUNS);
        let mut more = vec![0_i32; slots];
        for (list, sign) in self.lists.into_iter().zip([1, -1]) {
            let leaving = FACTOR.wrapping_pow(length as u32);
            let mut hash = 0_u64;
            for (at, &symbol) in list.iter().enumerate() {
                hash = hash
                    .wrapping_mul(FACTOR)
                    .wrapping_add(u64::from(symbol) + 1);
                if let Some(before) = at.checked_sub(length) {
                    let gone = (u64::from(list[before]) + 1).wrapping_mul(leaving);
                    hash = hash.wrapping_sub(gone);
                }
                if at + 1 >= length {
                    let slot = (hash.wrapping_mul(FACTOR) >> 32) as usize & (slots - 1);
                    more[slot] += sign;
                }
            }
        }
        let unequal: u64 = more.iter().map(|more| u64::from(more.unsigned_abs())).sum();
        unequal.div_ceil(2 * length as u64) as usize
    }

    /// A lower bound of the distance: each hit takes a symbol from both lists.
    fn least_distance(&self) -> usize {
        let mut left: Vec<usize> = self
            .starts
            .windows(2)
            .map(|ends| {
                let masks = self.masks.get(ends[0]..ends[1]).unwrap_or_default();
                masks
                    .iter()
                    .map(|(_, rows)| rows.count_ones() as usize)
                    .sum()
            })
            .collect();
        let mut hits = 0;
        for &symbol in &self.prediction {
            if let Some(left @ 1..) = left.get_mut(symbol as usize) {
                *left -= 1;
                hits += 1;
            }
        }
        self.rows.max(self.columns()) - hits
    }

    /// The least number of errors of the paths within the band.
    fn distance_in(&self, band: Band) -> usize {
        let mut column = self.start();
        let bottom = |blocks: &Range<usize>| (blocks.end * BITS).min(self.rows);
        // The distance at the last row of the column's last block.
        let mut distance = 0;
        let mut end = 0;
        while column.at < self.columns() {
            let blocks = band.blocks(column.at + 1, self.rows);
            if bottom(&blocks) > end {
                distance += bottom(&blocks) - end;
                end = bottom(&blocks);
            }
            let last = self.advance(&mut column, blocks);
            distance += last.up as usize;
            distance -= last.down as usize;
        }
        distance
    }

    /// The next column, and the horizontal difference at the last row of its last block.
    fn advance(&self, column: &mut Column, blocks: Range<usize>) -> Horizontal {
        let known = column.blocks.end;
        if let Some(fresh) = column.differences.get_mut(known..blocks.end) {
            fresh.fill(Differences::RISING);
        }
        let symbol = self.prediction[column.at] as usize;
        let mut masks = &self.masks[self.starts[symbol]..self.starts[symbol + 1]];
        if blocks.start > 0 {
            masks = &masks[masks.partition_point(|(block, _)| *block < blocks.start)..];
        }
        let mut masks = masks.iter();
        let mut mask = masks.next();
        let mut into = Horizontal::RISING;
        let last_bit = (self.rows - 1) % BITS;
        let whole = self.rows.div_ceil(BITS);
        let first = blocks.start;
        for (position, differences) in column.differences[blocks.clone()].iter_mut().enumerate() {
            let block = first + position;
            let equal = match mask {
                Some((at, rows)) if *at == block => {
                    mask = masks.next();
                    *rows
                }
                _ => 0,
            };
            let (next, up, down) = differences.next(equal, into);
            *differences = next;
            let bit = if block + 1 == whole {
                last_bit
            } else {
                BITS - 1
            };
            into = Horizontal {
                up: up >> bit & 1,
                down: down >> bit & 1,
            };
        }
        column.at += 1;
        column.blocks = blocks;
        into
    }

    /// The trace-back, for the distance that was found.
    fn trace(&self, distance: usize, ties: Ties, step: &mut impl FnMut(Step)) {
        let band = Band::new(self.rows, self.columns(), distance);
        let mut row = self.rows;
        self.trace_part((band, ties), self.start(), self.columns(), &mut row, step);
    }

    /// The trace-back from `row` of the column `to` to the column `from`.
    fn trace_part(
        &self,
        (band, ties): (Band, Ties),
        from: Column,
        to: usize,
        row: &mut usize,
        step: &mut impl FnMut(Step),
    ) {
        let rows = *row;
        if rows == 0 {
            return;
        }
        let length = to - from.at;
        let room = room(band.width(rows));
        if length <= room {
            self.trace_kept((band, ties), from, to, row, step);
            return;
        }
        let part = length.div_ceil(length.div_ceil(room).min(room));
        let mut kept = Vec::new();
        let mut column = from;
        while column.at < to {
            kept.push(self.keep(&column));
            let end = (column.at + part).min(to);
            while column.at < end && end < to {
                let blocks = band.blocks(column.at + 1, rows);
                self.advance(&mut column, blocks);
            }
            if end == to {
                break;
            }
        }
        let mut end = to;
        while let Some((at, blocks, differences)) = kept.pop() {
            column.at = at;
            if let Some(kept) = column.differences.get_mut(blocks.clone()) {
                kept.copy_from_slice(&differences);
            }
            column.blocks = blocks;
            self.trace_part((band, ties), column.clone(), end, row, step);
            end = at;
        }
    }

    fn keep(&self, column: &Column) -> (usize, Range<usize>, Vec<Differences>) {
        let blocks = column.blocks.clone();
        (
            column.at,
            blocks.clone(),
            column.differences[blocks].to_vec(),
        )
    }

    /// The same with all columns kept.
    fn trace_kept(
        &self,
        (band, ties): (Band, Ties),
        from: Column,
        to: usize,
        row: &mut usize,
        step: &mut impl FnMut(Step),
    ) {
        let rows = *row;
        let start = from.at;
        let mut column = from;
        let mut kept = Vec::with_capacity((to - start + 1) * band.width(rows));
        let mut spans = Vec::with_capacity(to - start + 1);
        let mut keep = |column: &Column| {
            spans.push((kept.len(), column.blocks.clone()));
            kept.extend_from_slice(&column.differences[column.blocks.clone()]);
        };
        keep(&column);
        while column.at < to {
            let blocks = band.blocks(column.at + 1, rows);
            self.advance(&mut column, blocks);
            keep(&column);
        }
        // Blocks outside the band are of no path with so few errors.
        let at = |column: usize, block: usize| {
            let (first, blocks) = &spans[column - start];
            let none = Differences::RISING;
            if blocks.contains(&block) {
                kept.get(first + block - blocks.start)
                    .copied()
                    .unwrap_or(none)
            } else {
                none
            }
        };
        let mut column = to;
        while *row > 0 && column > start {
            let (block, bit) = ((*row - 1) / BITS, 1 << ((*row - 1) % BITS));
            if at(column, block).up & bit != 0 {
                *row -= 1;
                step(Step::Delete);
                continue;
            }
            column -= 1;
            let is_equal = || self.lists[0][*row - 1] == self.lists[1][column];
            if column > 0 && ties.inserts(at(column, block), bit, is_equal) {
                step(Step::Insert);
            } else {
                *row -= 1;
                step(Step::Diagonal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Distance and steps from the plain table.
    fn plain(reference: &[u32], prediction: &[u32], ties: Ties) -> (usize, Vec<Step>) {
        let (rows, columns) = (reference.len(), prediction.len());
        let mut table = vec![vec![0; columns + 1]; rows + 1];
        for row in 0..=rows {
            for column in 0..=columns {
                table[row][column] = if row == 0 || column == 0 {
                    row + column
                } else {
                    let wrong = usize::from(reference[row - 1] != prediction[column - 1]);
                    let beside = table[row - 1][column].min(table[row][column - 1]) + 1;
                    beside.min(table[row - 1][column - 1] + wrong)
                };
            }
        }
        let (mut row, mut column) = (rows, columns);
        let mut steps = Vec::new();
        while row > 0 && column > 0 {
            if table[row][column] == table[row - 1][column] + 1 {
                row -= 1;
                steps.push(Step::Delete);
            } else if match ties {
                Ties::Rapidfuzz => table[row][column - 1] + 1 == table[row - 1][column - 1],
                Ties::Gaps => table[row][column - 1] + 1 == table[row][column],
            } {
                column -= 1;
                steps.push(Step::Insert);
            } else {
                row -= 1;
                column -= 1;
                steps.push(Step::Diagonal);
            }
        }
        (table[rows][columns], steps)
    }

    fn check(reference: &[u32], prediction: &[u32]) {
        for ties in [Ties::Rapidfuzz, Ties::Gaps] {
            check_ties(reference, prediction, ties);
        }
    }

    fn check_ties(reference: &[u32], prediction: &[u32], ties: Ties) {
        let (expected, path) = plain(reference, prediction, ties);
        let mut steps = Vec::new();
        let cells = &mut Cells::unlimited();
        let found = trace(
            reference,
            prediction,
            ties,
            |_| true,
            cells,
            |step| steps.push(step),
        );
        assert_eq!((found, &steps), (Ok(expected), &path));
        assert_eq!(
            trace(
                reference,
                prediction,
                ties,
                |_| false,
                cells,
                |_| unreachable!()
            ),
            Ok(expected)
        );
        for limit in [
            0,
            expected.saturating_sub(1),
            expected,
            expected + 1,
            usize::MAX,
        ] {
            let found = (expected <= limit).then_some(expected);
            assert_eq!(
                distance(reference, prediction, limit, cells),
                Ok(found),
                "limit {limit}"
            );
        }
        if !reference.is_empty() && !prediction.is_empty() {
            // Blocks also where one would do.
            let blocks = Blocks::new(reference, prediction);
            steps.clear();
            blocks.trace(expected, ties, &mut |step| steps.push(step));
            let found = blocks.distance(usize::MAX, |_| false, cells);
            assert!(blocks.least_distance_by_runs() <= expected);
            assert_eq!((found, steps), (Ok(Some(expected)), path));
        }
    }

    /// A list and the same with some symbols replaced, left out, or put in.
    fn edited(length: usize, symbols: u32) -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
        let list = proptest::collection::vec(0..symbols, 0..length);
        let edits =
            proptest::collection::vec((any::<prop::sample::Index>(), 0_u8..3, 0..symbols), 0..40);
        (list, edits).prop_map(|(list, edits)| {
            let mut other = list.clone();
            for (position, kind, symbol) in edits {
                let position = position.index(other.len() + 1);
                match kind {
                    0 => other.insert(position, symbol),
                    _ if position == other.len() => {}
                    1 => other[position] = symbol,
                    _ => drop(other.remove(position)),
                }
            }
            (list, other)
        })
    }

    #[test]
    fn edges_of_blocks() {
        for rows in [1, 63, 64, 65, 127, 128, 129, 200] {
            for columns in [1, 63, 64, 65, 128, 300] {
                let list =
                    |length: usize, step: u32| (0..length as u32).map(|i| i * step % 7).collect();
                let (a, b): (Vec<u32>, Vec<u32>) = (list(rows, 2), list(columns, 3));
                check(&a, &b);
                check(&a, &vec![9; columns]);
            }
        }
        let far: Vec<u32> = (0..64).map(|i| i * 70_001).collect();
        let mut turned = far.clone();
        turned.rotate_left(3);
        check(&far, &turned);
        check(&turned, &[0x10_ffff, 0, 5]);
        // A symbol in the same position of the masks as one of the reference.
        check(&[5000, 5000 + (1 << 30)], &[5000 + (1 << 30), 5000]);
    }

    #[test]
    fn a_list_that_is_found_in_a_longer_one() {
        let list = |text: &str| text.chars().map(u32::from).collect::<Vec<u32>>();
        let long = list(&"the quick brown fox ".repeat(5));
        for (short, errors) in [
            ("hqubr fox quick", Some(85)),
            // The longer list lacks two of them.
            ("hqub7 fox quic7", Some(87)),
            ("7777777777", Some(100)),
            // Not in this order.
            ("fox fox fox fox fox fox", None),
            // Too short to be searched for.
            ("the fox", None),
        ] {
            let short = list(short);
            assert_eq!(embedded(&short, &long), errors);
            assert_eq!(embedded(&long, &short), errors);
            check(&short, &long);
            check(&long, &short);
        }
    }

    #[test]
    fn unlike_lists_are_refused_before_their_cells_are_spent() {
        let list = |seed: u32| {
            let symbol =
                move |i: u32| (i.wrapping_mul(2_654_435_769) ^ seed).wrapping_mul(seed) >> 27;
            (0..4_000).map(symbol).collect::<Vec<u32>>()
        };
        let (a, b) = (list(0x9e37_79b1), list(0x85eb_ca6b));
        let distance = trace(
            &a,
            &b,
            Ties::Rapidfuzz,
            |_| false,
            &mut Cells::unlimited(),
            |_| {},
        )
        .unwrap();
        let blocks = Blocks::new(&a, &b);
        assert!(blocks.least_distance() < distance / 10);
        assert!(blocks.least_distance_by_runs() > distance / 10);
        let mut cells = Cells::new(20_000_000);
        let refused = trace(&a, &b, Ties::Rapidfuzz, |_| true, &mut cells, |_| {});
        assert_eq!(refused, Err(OutOfCells));
        assert!(cells.spend(19_000_000).is_ok(), "few cells were spent");
    }

    proptest! {
        #[test]
        fn as_the_plain_table(
            a in proptest::collection::vec(0_u32..3, 0..150),
            b in proptest::collection::vec(0_u32..4, 0..150),
        ) {
            check(&a, &b);
        }

        #[test]
        fn as_the_plain_table_where_lists_are_alike((a, b) in edited(500, 4)) {
            check(&a, &b);
        }

        #[test]
        fn as_the_plain_table_of_many_symbols((a, b) in edited(90, 0x11_0000)) {
            check(&a, &b);
        }
    }
}
