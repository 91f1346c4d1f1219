//! The search for the shifts of blocks that leave the fewest edits, as in Tercom.

mod band;
mod bits;

use band::Table;
use bits::Prefixes;

use crate::edit::{Cells, OutOfCells};

/// The most words of a block.
const MAX_SIZE: usize = 10;
/// The greatest distance between a block and the words that it equals.
const MAX_DISTANCE: usize = 50;
/// The number of shifts to try, after which the search ends without another shift.
const MAX_TRIED: usize = 1000;
/// The most tables that are computed: one for each shift to try, and one for each that is made, which was tried before.
const MOST_TABLES: u64 = 2 * (MAX_TRIED + MAX_SIZE + 1) as u64;
/// The cells of [`Cells`] that are computed in the time of one cell here, where 64 of them are not one operation.
const CELLS: u64 = 16;

/// Returns the number of shifts, insertions, deletions and substitutions that turn the words of a prediction into those of
/// a reference.
pub(super) fn edits(
    prediction: &[u32],
    reference: &[u32],
    cells: &mut Cells,
) -> Result<u64, OutOfCells> {
    if reference.is_empty() || prediction.is_empty() {
        return Ok(prediction.len().max(reference.len()) as u64);
    }
    let mut words = prediction.to_vec();
    let mut search = Search {
        reference,
        table: Table::new(prediction.len(), reference.len()),
        prefixes: Prefixes::new(reference),
        row_cells: row_cells(prediction.len(), reference.len()),
        tried: 0,
    };
    let mut shifts = 0;
    loop {
        cells.spend(search.cells(words.len()))?;
        let distance = search.table.fill(&words, reference);
        if distance == 0 {
            return Ok(shifts); // Often, and then there is nothing to shift.
        }
        let Some(shift) = search.best_shift(&words, distance, cells)? else {
            return Ok(shifts + u64::from(distance));
        };
        shift.apply(&mut words);
        shifts += 1;
    }
}

/// At least the cells that the search takes in lists of these lengths.
pub(super) fn most_cells(prediction: usize, reference: usize) -> u64 {
    if reference == 0 {
        return 0;
    }
    let table = row_cells(prediction, reference).saturating_mul(prediction as u64 + 1);
    table.saturating_mul(MOST_TABLES)
}

/// At least the cells that the search takes in a prediction and any number of references with this length in total.
pub(super) fn most_cells_of_all(prediction: usize, references: usize) -> u64 {
    // A row has at most one cell more than the reference has words: at most twice as many.
    let rows = (references as u64).saturating_mul(2 * CELLS * MOST_TABLES);
    rows.saturating_mul(prediction as u64 + 1)
}

/// The cells of one row of the table, and of the search in it.
fn row_cells(prediction: usize, reference: usize) -> u64 {
    let band = reference
        .saturating_add(1)
        .min(Table::greatest_width(prediction, reference));
    (band as u64).saturating_mul(CELLS)
}

/// The move of a block: the words from `start` to `middle` change places with those from `middle` to `end`.
#[derive(Clone, Copy)]
struct Shift {
    start: usize,
    middle: usize,
    end: usize,
}

impl Shift {
    /// The block of `size` words at `position` moves before the word at `target`.
    ///
    /// A target within the block or at its end is a position among the words without the block, as in sacreBLEU.
    fn new(position: usize, size: usize, target: usize, len: usize) -> Self {
        let block_end = position + size;
        if target < position {
            Self {
                start: target,
                middle: position,
                end: block_end,
            }
        } else {
            let end = if target > block_end {
                target
            } else {
                target.min(len - size) + size
            };
            Self {
                start: position,
                middle: block_end,
                end,
            }
        }
    }

    fn apply(self, words: &mut [u32]) {
        words[self.start..self.end].rotate_left(self.middle - self.start);
    }

    /// The words after the shift, from [`start`](Self::start) on.
    fn words(self, words: &[u32]) -> impl Iterator<Item = u32> {
        let Self { start, middle, end } = self;
        let parts = [&words[middle..end], &words[start..middle], &words[end..]];
        parts.into_iter().flatten().copied()
    }
}

/// The state of the search in one pair of texts.
struct Search<'r> {
    reference: &'r [u32],
    table: Table,
    /// A fast lower bound, if the reference is short enough.
    prefixes: Option<Prefixes>,
    row_cells: u64,
    tried: usize,
}

/// A shift that helps. Candidates are compared by distance, then by size, position and target.
#[derive(Clone, Copy)]
struct Candidate {
    distance: u32,
    size: usize,
    position: usize,
    target: usize,
}

impl Candidate {
    /// Whether it comes before another one with the same distance.
    fn is_preferred(&self, other: &Self) -> bool {
        let rank = |candidate: &Self| {
            (
                usize::MAX - candidate.size,
                candidate.position,
                candidate.target,
            )
        };
        rank(self) < rank(other)
    }
}

impl Search<'_> {
    fn cells(&self, rows: usize) -> u64 {
        self.row_cells.saturating_mul(rows as u64 + 1)
    }

    /// Finds the shift that reduces the distance most. `None` if none does, or if too many were tried.
    fn best_shift(
        &mut self,
        words: &[u32],
        distance: u32,
        cells: &mut Cells,
    ) -> Result<Option<Shift>, OutOfCells> {
        let reference = self.reference;
        let trace = self.table.trace(words.len(), reference.len());
        if let Some(prefixes) = &mut self.prefixes {
            prefixes.fill(words);
        }
        let mut best: Option<Candidate> = None;
        for position in 0..words.len() {
            let near = position.saturating_sub(MAX_DISTANCE)
                ..reference.len().min(position + MAX_DISTANCE + 1);
            for other in near {
                let pairs = words[position..].iter().zip(&reference[other..]);
                let equal = pairs.take_while(|(a, b)| a == b).take(MAX_SIZE).count();
                let mut is_wrong = [false; 2];
                for size in 1..=equal {
                    is_wrong[0] |= trace.wrong_words[position + size - 1];
                    is_wrong[1] |= trace.wrong_references[other + size - 1];
                    let after = trace.consumed[other];
                    if is_wrong != [true; 2] || (position < after && after <= position + size) {
                        continue;
                    }
                    let mut last = None;
                    let targets = [if other == 0 {
                        0
                    } else {
                        trace.consumed[other - 1]
                    }];
                    for &target in targets.iter().chain(&trace.consumed[other..other + size]) {
                        if last.replace(target) == Some(target) {
                            continue;
                        }
                        self.tried += 1;
                        let candidate = Candidate {
                            distance,
                            size,
                            position,
                            target,
                        };
                        let shift = Shift::new(position, size, target, words.len());
                        cells.spend(self.cells(words.len() - shift.start))?;
                        let limit = match best {
                            Some(best) if candidate.is_preferred(&best) => Some(best.distance),
                            Some(best) => best.distance.checked_sub(1),
                            None => distance.checked_sub(1),
                        };
                        let found = limit.and_then(|limit| self.distance(words, shift, limit));
                        if let Some(distance) = found {
                            best = Some(Candidate {
                                distance,
                                ..candidate
                            });
                        }
                    }
                    if self.tried >= MAX_TRIED {
                        return Ok(None);
                    }
                }
            }
        }
        let shift =
            |best: Candidate| Shift::new(best.position, best.size, best.target, words.len());
        Ok(best.map(shift))
    }

    /// The distance after a shift, if it is at most `limit`.
    fn distance(&mut self, words: &[u32], shift: Shift, limit: u32) -> Option<u32> {
        if let Some(prefixes) = &self.prefixes {
            let distance = prefixes.distance(words, shift, limit)?;
            if distance < self.table.least_outside() {
                return Some(distance);
            }
        }
        self.table.distance(words, self.reference, shift, limit)
    }
}
