//! Optimal one-to-one assignment of rows to columns, with two-level benefits.
//!
//! The matching that detections and lane graphs share: which prediction belongs to which true item,
//! at most one to each. Only the pairs listed are possible (the gate), and the two sides may differ
//! in size. The objective has two levels, so that "most pairs, then the greatest total" needs no
//! big number that swallows the digits of the second level.
//!
//! [`assign`] takes the pairs one by one; [`Costs`] is a full matrix of distances, with the greedy
//! rules that benchmarks use in addition to the optimal one.

mod costs;
mod ties;

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::{Add, Neg, Sub};

pub use costs::{Costs, Gate, InvalidConfidences, InvalidCosts};

/// The value of a pair: totals are compared by `primary`, and equal ones by `secondary`.
///
/// - Most pairs, then the greatest total similarity: `Benefit { primary: 1, secondary: similarity }`.
/// - Most pairs, then the least total distance: `Benefit { primary: 1, secondary: -distance }`.
/// - Greatest total similarity alone: `Benefit { primary: 0, secondary: similarity }`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Benefit {
    /// The first level, exact; at most 2^31 from 0.
    pub primary: i64,
    /// The second level; at most 1e300 from 0.
    pub secondary: f64,
}

impl Benefit {
    /// Larger than any path of real benefits.
    const UNREACHED: Self = Self {
        primary: i64::MAX / 4,
        secondary: 0.0,
    };

    fn compare(self, other: Self) -> Ordering {
        self.primary
            .cmp(&other.primary)
            .then(self.secondary.total_cmp(&other.secondary))
    }

    fn below(self, other: Self) -> bool {
        self.primary < other.primary
            || (self.primary == other.primary && self.secondary < other.secondary)
    }
}

impl Add for Benefit {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            primary: self.primary + other.primary,
            secondary: self.secondary + other.secondary,
        }
    }
}

impl Sub for Benefit {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Benefit {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            primary: -self.primary,
            secondary: -self.secondary,
        }
    }
}

/// A pair that may be assigned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Index of one side.
    pub row: usize,
    /// Index of the other side.
    pub column: usize,
    /// The value of the pair.
    pub benefit: Benefit,
}

impl Edge {
    /// Returns a pair for the objective "most pairs, then the greatest total `similarity`".
    #[must_use]
    pub fn similar(row: usize, column: usize, similarity: f64) -> Self {
        let benefit = Benefit {
            primary: 1,
            secondary: similarity,
        };
        Self {
            row,
            column,
            benefit,
        }
    }
}

/// Returns the one-to-one choice of `edges` with the greatest total benefit, as `(row, column)` by row.
///
/// Every row and every column is in at most one chosen pair. A pair worth less than nothing (below
/// `Benefit::default()`) is not chosen; one worth exactly nothing is chosen where that costs
/// nothing. Of equal pairs listed twice the better one counts.
///
/// Where several choices are optimal, it is the one in which the first row has the first column
/// that it has in any of them, then the second row, and so on; to have no column comes last. The
/// order of the edges does not matter. (Choices are equal if their totals are, as computed: exactly
/// so where the secondary benefits are whole numbers, otherwise up to rounding.) Only where items on
/// both sides that have equal choices are so many that there are more than 2^26 pairs of them, it is
/// any of the choices, always the same for the same edges.
///
/// A pair whose secondary benefit is NaN or over 1e300 from 0, or whose primary one is over 2^31
/// from 0, is not possible and is left out: totals of such pairs would overflow.
///
/// # Cost
///
/// One shortest augmenting path for each item of the smaller side, which looks only at what is connected with it:
/// memory for twice the edges (32 bytes each), and, in the worst case, time `O(n e log e)` for `n` items and `e` edges
/// that are connected. Thresholded overlaps take little more than sorting the edges, as few of them are connected. The
/// choice among equals takes at most `O(n² m / 64)` time and 16 MB on top, and nothing if there are none.
///
/// Jonker and Volgenant, *A shortest augmenting path algorithm for dense and sparse linear
/// assignment problems* (Computing 38, 1987); Crouse, *On implementing 2D rectangular assignment
/// algorithms* (IEEE TAES 52, 2016).
///
/// ```
/// use metric_core::assignment::{Benefit, Edge, assign};
///
/// // Row 0 likes column 0 best, but taking it leaves row 1 without a partner:
/// // two pairs come before a greater total.
/// let edges = [Edge::similar(0, 0, 0.9), Edge::similar(0, 1, 0.6), Edge::similar(1, 0, 0.7)];
/// assert_eq!(assign(&edges), [(0, 1), (1, 0)]);
///
/// // The greatest total alone: 0.9 against 0.6 + 0.2.
/// let total = |row, column, secondary| Edge { row, column, benefit: Benefit { primary: 0, secondary } };
/// assert_eq!(assign(&[total(0, 0, 0.9), total(0, 1, 0.6), total(1, 0, 0.2)]), [(0, 0)]);
/// ```
#[must_use]
pub fn assign(edges: &[Edge]) -> Vec<(usize, usize)> {
    assign_all(edges.to_vec())
}

/// Does the same as [`assign`], for pairs that are not used again, with half of the memory.
///
/// ```
/// use metric_core::assignment::{Edge, assign_all};
///
/// assert_eq!(assign_all(vec![Edge::similar(0, 0, 0.9), Edge::similar(1, 0, 0.7)]), [(0, 0)]);
/// ```
#[must_use]
pub fn assign_all(mut edges: Vec<Edge>) -> Vec<(usize, usize)> {
    let possible = |edge: &Edge| {
        let Benefit { primary, secondary } = edge.benefit;
        let in_range = secondary.abs() <= LARGEST && primary.unsigned_abs() <= 1 << 31;
        // A pair that is worth less than no pair is never chosen.
        in_range && !edge.benefit.below(Benefit::default())
    };
    edges.retain(possible);
    // Most items of real data have one pair or none.
    if edges.len() < 2 {
        return edges.iter().map(|edge| (edge.row, edge.column)).collect();
    }
    let rows = positions(&edges, |edge| edge.row);
    let columns = positions(&edges, |edge| edge.column);
    for edge in &mut edges {
        edge.row = rows.partition_point(|&row| row < edge.row);
        edge.column = columns.partition_point(|&column| column < edge.column);
    }
    // The smaller side searches.
    let turned = rows.len() > columns.len();
    if turned {
        for edge in &mut edges {
            std::mem::swap(&mut edge.row, &mut edge.column);
        }
    }
    edges.sort_unstable_by(|a, b| {
        (a.row, a.column)
            .cmp(&(b.row, b.column))
            .then(b.benefit.compare(a.benefit))
    });
    edges.dedup_by_key(|edge| (edge.row, edge.column));

    let (short, long) = if turned {
        (columns.len(), rows.len())
    } else {
        (rows.len(), columns.len())
    };
    let cheapest = cheapest(&edges, short, long);
    let (row_worth, column_worth, mut column_of) = if turned {
        for edge in &mut edges {
            std::mem::swap(&mut edge.row, &mut edge.column);
        }
        let Cheapest {
            row_price,
            column_price,
            row_of,
            ..
        } = cheapest;
        (worth(column_price), worth(row_price), row_of)
    } else {
        let Cheapest {
            row_price,
            column_price,
            column_of,
            ..
        } = cheapest;
        (worth(row_price), worth(column_price), column_of)
    };
    ties::take_the_first(&edges, &row_worth, &column_worth, &mut column_of);
    let chosen = column_of.into_iter().zip(rows);
    chosen
        .filter(|&(column, _)| column != NONE)
        .map(|(column, row)| (row, columns[column]))
        .collect()
}

/// The value of each item: no pair is worth more than its two sides together, chosen pairs are
/// worth exactly that, and items left out are worth nothing.
fn worth(prices: Vec<Benefit>) -> Vec<Benefit> {
    prices.into_iter().map(|price| -price).collect()
}

/// The different indices of one side, rising.
fn positions(edges: &[Edge], side: impl Fn(&Edge) -> usize) -> Vec<usize> {
    let mut positions: Vec<usize> = edges.iter().map(side).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// Sums of as many benefits as there can be pairs stay finite.
const LARGEST: f64 = 1e300;

/// No row, no column.
const NONE: usize = usize::MAX;

/// A best choice, with prices.
struct Cheapest {
    /// The column of each row, or [`NONE`].
    column_of: Vec<usize>,
    row_of: Vec<usize>,
    row_price: Vec<Benefit>,
    column_price: Vec<Benefit>,
}

/// A best choice of `edges`, which are in the order of their rows: one shortest augmenting path a
/// row, in reduced costs. A row may also end up without a column, at no cost.
#[expect(
    clippy::too_many_lines,
    reason = "one algorithm over ten shared arrays, which its parts would pass to each other"
)]
fn cheapest(edges: &[Edge], rows: usize, columns: usize) -> Cheapest {
    let mut row_price = vec![Benefit::default(); rows];
    let mut column_price = vec![Benefit::default(); columns];
    let mut column_of = vec![NONE; rows];
    let mut row_of = vec![NONE; columns];
    let mut distance = vec![Benefit::UNREACHED; columns];
    let mut predecessor = vec![NONE; columns];
    let mut closed = vec![false; columns];
    let mut reached_columns: Vec<usize> = Vec::new();
    let mut closed_columns: Vec<usize> = Vec::new();
    let mut open: BinaryHeap<Reverse<Open>> = BinaryHeap::new();
    let mut starts: Vec<usize> = Vec::with_capacity(rows + 1);
    starts.extend((0..=rows).map(|row| edges.partition_point(|edge| edge.row < row)));

    for start in 0..rows {
        let (mut row, mut reached) = (start, Benefit::default());
        // The nearest end of a path: its length, its last row, and its column unless the row goes
        // without.
        let mut end = (Benefit::UNREACHED, NONE, NONE);
        loop {
            let without = reached - row_price[row];
            if without.below(end.0) {
                end = (without, row, NONE);
            }
            for edge in &edges[starts[row]..starts[row + 1]] {
                let column = edge.column;
                let through = reached - edge.benefit - row_price[row] - column_price[column];
                if closed[column] || !through.below(distance[column]) {
                    continue;
                }
                if distance[column] == Benefit::UNREACHED {
                    reached_columns.push(column);
                }
                distance[column] = through;
                predecessor[column] = row;
                if row_of[column] != NONE {
                    open.push(Reverse(Open(through, column)));
                } else if !end.0.below(through) && (end.2 == NONE || through.below(end.0)) {
                    end = (through, row, column);
                }
            }
            // Entries that are done, or that have come nearer since they were added, are skipped.
            let next = loop {
                match open.pop() {
                    Some(Reverse(Open(_, column))) if closed[column] => {}
                    next => break next,
                }
            };
            // Among equals an end comes first: this is what keeps graphs full of ties fast.
            let Some(Reverse(Open(length, column))) = next.filter(|next| next.0.0.below(end.0))
            else {
                break;
            };
            closed[column] = true;
            closed_columns.push(column);
            (row, reached) = (row_of[column], length);
        }
        let (length, mut row, mut column) = end;
        row_price[start] = row_price[start] + length;
        for &column in &closed_columns {
            let slack = length - distance[column];
            row_price[row_of[column]] = row_price[row_of[column]] + slack;
            column_price[column] = column_price[column] - slack;
            closed[column] = false;
        }
        // Along the path each row hands its column on.
        loop {
            if column != NONE {
                row_of[column] = row;
            }
            std::mem::swap(&mut column_of[row], &mut column);
            if row == start {
                break;
            }
            row = predecessor[column];
        }
        for &column in &reached_columns {
            distance[column] = Benefit::UNREACHED;
        }
        reached_columns.clear();
        closed_columns.clear();
        open.clear();
    }
    Cheapest {
        column_of,
        row_of,
        row_price,
        column_price,
    }
}

/// A column that a search has come to, by the length of the path.
struct Open(Benefit, usize);

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.compare(other.0).then(self.1.cmp(&other.1))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A total, and the column of each row after it, so that the better choice compares greater:
    /// by total, and among equals the first column for the first row, and so on, none last.
    type Choice = ((i64, i64), Vec<std::cmp::Reverse<usize>>);

    /// The best choice by trying every one, for up to 5 rows.
    fn best_choice(edges: &[Edge], row: usize, used: u32) -> Choice {
        if row == 5 {
            return Choice::default();
        }
        let tries = edges
            .iter()
            .filter(|edge| edge.row == row && used & (1 << edge.column) == 0)
            .map(|edge| {
                let (total, columns) = best_choice(edges, row + 1, used | (1 << edge.column));
                let total = (
                    total.0 + edge.benefit.primary,
                    total.1 + edge.benefit.secondary as i64,
                );
                (total, edge.column, columns)
            });
        let none = best_choice(edges, row + 1, used);
        tries
            .chain([(none.0, NONE, none.1)])
            .map(|(total, column, mut columns)| {
                columns.insert(0, std::cmp::Reverse(column));
                (total, columns)
            })
            .max()
            .unwrap_or_default()
    }

    #[test]
    fn edges_of_the_problem() {
        assert_eq!(assign(&[]), []);
        assert_eq!(assign(&[Edge::similar(7, 3, 0.0)]), [(7, 3)]);
        assert_eq!(assign(&[Edge::similar(0, 0, f64::NAN)]), []);
        let mut beyond = [Edge::similar(0, 0, 1.0), Edge::similar(0, 1, 1.0)];
        beyond[0].benefit.primary = i64::MAX;
        assert_eq!(assign(&beyond), [(0, 1)]);
        // Totals must not overflow: 1e300 is the most that a pair may be worth.
        for beyond in [
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            -1.7e308,
            1.1e300,
            -1.1e300,
        ] {
            let edges = [Edge::similar(0, 0, beyond), Edge::similar(0, 1, 1.0)];
            assert_eq!(assign(&edges), [(0, 1)], "{beyond}");
        }
        let most = |row, column, sign: f64| Edge::similar(row, column, sign * 1e300);
        let edges = [
            most(0, 0, 1.0),
            most(0, 1, -1.0),
            most(1, 0, 1.0),
            most(1, 1, 1.0),
        ];
        assert_eq!(assign(&edges), [(0, 0), (1, 1)]);
        // One column for three rows: the most similar row has it.
        let column = [0.2, 0.7, 0.5];
        let edges: Vec<_> = (0..3)
            .map(|row| Edge::similar(row, 0, column[row]))
            .collect();
        assert_eq!(assign(&edges), [(1, 0)]);
        // The same pair twice counts once, at its better value.
        let twice = [Edge::similar(0, 0, 0.1), Edge::similar(0, 0, 0.9)];
        assert_eq!(assign(&twice), [(0, 0)]);
    }

    proptest! {
        #[test]
        fn the_greatest_benefits_are_added_up(
            signs in proptest::collection::vec(-3_i64..4, 5 * 5),
        ) {
            // Multiples of a power of two: every sum is exact.
            let unit = 2_f64.powi(994);
            let edges = |unit: f64| -> Vec<Edge> {
                let edges = signs.iter().enumerate();
                edges.map(|(at, sign)| Edge::similar(at / 5, at % 5, *sign as f64 * unit)).collect()
            };
            let scaled = edges(unit);
            prop_assert!(scaled.iter().all(|edge| edge.benefit.secondary.abs() < 1e300));
            prop_assert_eq!(assign(&scaled), assign(&edges(1.0)));
        }

        #[test]
        fn is_the_first_of_the_best(
            matrix in proptest::collection::vec(
                proptest::option::weighted(0.7, (0_i64..3, -1_i64..4)), 5 * 5),
            columns in 1_usize..=5, rows in 1_usize..=5, flat in any::<bool>(),
        ) {
            let edges: Vec<Edge> = matrix.iter().enumerate().filter_map(|(position, cell)| {
                let (primary, secondary) = (*cell)?;
                let primary = if flat { 0 } else { primary };
                let benefit = Benefit { primary, secondary: secondary as f64 };
                Some(Edge { row: position / 5, column: position % 5, benefit })
            }).filter(|edge| edge.row < rows && edge.column < columns).collect();
            // A pair below nothing is never chosen, so the brute force may not list it.
            let listed: Vec<Edge> = edges.iter().copied()
                .filter(|edge| !edge.benefit.below(Benefit::default())).collect();
            let (_, best) = best_choice(&listed, 0, 0);
            let best: Vec<(usize, usize)> = best.iter().enumerate()
                .filter(|(_, column)| column.0 != NONE)
                .map(|(row, column)| (row, column.0)).collect();

            let reversed: Vec<Edge> = edges.iter().rev().copied().collect();
            prop_assert_eq!(assign(&reversed), best);
        }
    }
}
