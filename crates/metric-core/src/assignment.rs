//! Optimal one-to-one assignment of rows to columns, with two-level benefits.
//!
//! What detections and lane graphs share: which predictions stand for which true items, when at
//! most one may stand for each. Only the pairs listed are possible (the gate), both sides may
//! differ in number, and the objective has two levels, so that "most pairs, then the greatest
//! total" needs no big number that swallows the digits of the second level.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::{Add, Neg, Sub};

/// What a pair is worth: totals are compared by `primary`, and by `secondary` among equals.
///
/// - Most pairs, then the greatest total similarity: `Benefit { primary: 1, secondary: similarity }`.
/// - Most pairs, then the least total distance: `Benefit { primary: 1, secondary: -distance }`.
/// - Greatest total similarity alone: `Benefit { primary: 0, secondary: similarity }`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Benefit {
    /// The first level, exact; at most 2^31 from 0.
    pub primary: i64,
    /// The second level; a number that is not NaN.
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
    /// What the pair is worth.
    pub benefit: Benefit,
}

impl Edge {
    /// A pair for the objective "most pairs, then the greatest total `similarity`".
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

/// The one-to-one choice of `edges` with the greatest total benefit, as `(row, column)` by row.
///
/// Every row and every column stands in at most one chosen pair. A pair worth less than nothing
/// (below `Benefit::default()`) is not chosen unless that allows better ones; one worth exactly
/// nothing may or may not be. Where several choices are optimal the result is one of them, always
/// the same for the same edges in any order. Of equal pairs listed twice the better one counts.
/// A pair whose secondary benefit is NaN or infinite, or whose primary one is over 2^31 from 0, is
/// no possible pair and is left out.
///
/// # Cost
///
/// One shortest augmenting path for each item of the smaller side, which looks only at what is
/// connected with it: memory for the edges, and time of at worst `O(n e log e)` for `n` items and
/// `e` edges that are connected. Thresholded overlaps, of which few are connected, take little more
/// than sorting the edges.
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
    let possible = |edge: &Edge| {
        let Benefit { primary, secondary } = edge.benefit;
        let in_range = secondary.is_finite() && primary.unsigned_abs() <= 1 << 31;
        // A pair that is worth less than no pair is never chosen.
        in_range && !edge.benefit.below(Benefit::default())
    };
    let mut edges: Vec<Edge> = edges.iter().copied().filter(possible).collect();
    // Most items of real data have one pair or none.
    if edges.len() < 2 {
        return edges.iter().map(|edge| (edge.row, edge.column)).collect();
    }
    let rows = places(&edges, |edge| edge.row);
    let columns = places(&edges, |edge| edge.column);
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
        (&columns, &rows)
    } else {
        (&rows, &columns)
    };
    let row_of = cheapest(&edges, short.len(), long.len());
    let chosen = row_of.into_iter().zip(long).filter(|&(row, _)| row != FREE);
    let chosen = chosen.map(|(row, &column)| {
        let row = short[row];
        if turned { (column, row) } else { (row, column) }
    });
    let mut pairs: Vec<(usize, usize)> = chosen.collect();
    pairs.sort_unstable();
    pairs
}

/// The different indices of one side, rising.
fn places(edges: &[Edge], side: impl Fn(&Edge) -> usize) -> Vec<usize> {
    let mut places: Vec<usize> = edges.iter().map(side).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// No row, no column.
const FREE: usize = usize::MAX;

/// The row of each column, if it has one, in a best choice of `edges`, which are in the order of
/// their rows: one shortest augmenting path a row, in reduced costs. A row may also end up without
/// a column, at no cost.
fn cheapest(edges: &[Edge], rows: usize, columns: usize) -> Vec<usize> {
    let mut row_price = vec![Benefit::default(); rows];
    let mut column_price = vec![Benefit::default(); columns];
    let mut column_of = vec![FREE; rows];
    let mut row_of = vec![FREE; columns];
    let mut distance = vec![Benefit::UNREACHED; columns];
    let mut predecessor = vec![FREE; columns];
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
        let mut end = (Benefit::UNREACHED, FREE, FREE);
        loop {
            let without = reached - row_price[row];
            if without.below(end.0) {
                end = (without, row, FREE);
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
                if row_of[column] != FREE {
                    open.push(Reverse(Open(through, column)));
                } else if !end.0.below(through) && (end.2 == FREE || through.below(end.0)) {
                    end = (through, row, column);
                }
            }
            // What has come nearer since it was put there, or is done, is passed over.
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
            if column != FREE {
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
    row_of
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

    /// The best total by trying every assignment, for up to 4 rows.
    fn best_total(edges: &[Edge], row: usize, used: u32) -> (i64, i64) {
        if row == 4 {
            return (0, 0);
        }
        edges
            .iter()
            .filter(|edge| edge.row == row && used & (1 << edge.column) == 0)
            .map(|edge| {
                let rest = best_total(edges, row + 1, used | (1 << edge.column));
                (
                    rest.0 + edge.benefit.primary,
                    rest.1 + edge.benefit.secondary as i64,
                )
            })
            .chain([best_total(edges, row + 1, used)])
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
        fn is_one_to_one_and_best(
            matrix in proptest::collection::vec(
                proptest::option::weighted(0.7, (0_i64..3, -2_i64..9)), 4 * 5),
            turn in any::<bool>(),
        ) {
            // A pair below nothing is never chosen, so the brute force may not list it.
            let edges: Vec<Edge> = matrix.iter().enumerate().filter_map(|(place, cell)| {
                let (primary, secondary) = (*cell)?;
                let benefit = Benefit { primary, secondary: secondary as f64 };
                Some(Edge { row: place / 5, column: place % 5, benefit })
            }).collect();
            let listed: Vec<Edge> = edges.iter().copied()
                .filter(|edge| !edge.benefit.below(Benefit::default())).collect();
            let best = best_total(&listed, 0, 0);

            let given: Vec<Edge> = edges.iter().rev().map(|edge| if turn {
                Edge { row: edge.column, column: edge.row, ..*edge }
            } else {
                *edge
            }).collect();
            let pairs = assign(&given);
            let mut total = (0, 0);
            let (mut rows, mut columns) = (0_u32, 0_u32);
            for (row, column) in pairs {
                prop_assert!(rows & (1 << row) == 0 && columns & (1 << column) == 0);
                rows |= 1 << row;
                columns |= 1 << column;
                let edge = given.iter().find(|e| e.row == row && e.column == column);
                let benefit = edge.map(|e| e.benefit).unwrap_or_default();
                total = (total.0 + benefit.primary, total.1 + benefit.secondary as i64);
            }
            prop_assert_eq!(total, best);
        }
    }
}
