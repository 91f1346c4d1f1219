//! Optimal one-to-one assignment of rows to columns, with two-level benefits.
//!
//! What detections and lane graphs share: which predictions stand for which true items, when at
//! most one may stand for each. Only the pairs listed are possible (the gate), both sides may
//! differ in number, and the objective has two levels, so that "most pairs, then the greatest
//! total" needs no big number that swallows the digits of the second level.

use std::cmp::Ordering;
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
/// The edges fall into connected components, and each is solved on its own: a component of one
/// edge at once, one of `n` by `m` items (`n <= m`) by shortest augmenting paths in `O(n² m)` time
/// and `O(n m)` memory. Thresholded overlaps give many small components.
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
    let mut edges: Vec<Edge> = edges
        .iter()
        .copied()
        .filter(|edge| {
            let Benefit { primary, secondary } = edge.benefit;
            secondary.is_finite() && primary.unsigned_abs() <= 1 << 31
        })
        .collect();
    edges.sort_by(|a, b| {
        (a.row, a.column)
            .cmp(&(b.row, b.column))
            .then(b.benefit.compare(a.benefit))
    });
    edges.dedup_by_key(|edge| (edge.row, edge.column));

    let mut pairs = Vec::new();
    for component in components(&edges) {
        match component.as_slice() {
            [edge] => {
                if !edge.benefit.below(Benefit::default()) {
                    pairs.push((edge.row, edge.column));
                }
            }
            many => solve(many, &mut pairs),
        }
    }
    pairs.sort_unstable();
    pairs
}

/// The edges by connected component, in the order of each component's first edge.
fn components(edges: &[Edge]) -> Vec<Vec<Edge>> {
    // Every edge starts as its own component; edges that share a row or a column are joined.
    let mut parents: Vec<usize> = (0..edges.len()).collect();
    let mut by_column: Vec<usize> = (0..edges.len()).collect();
    by_column.sort_by_key(|&index| edges[index].column);
    for neighbours in by_column.windows(2) {
        if edges[neighbours[0]].column == edges[neighbours[1]].column {
            join(&mut parents, neighbours[0], neighbours[1]);
        }
    }
    for index in 1..edges.len() {
        if edges[index - 1].row == edges[index].row {
            join(&mut parents, index - 1, index);
        }
    }
    let mut components: Vec<Vec<Edge>> = Vec::new();
    let mut place = vec![usize::MAX; edges.len()];
    for (index, edge) in edges.iter().enumerate() {
        let root = root(&mut parents, index);
        if place[root] == usize::MAX {
            place[root] = components.len();
            components.push(Vec::new());
        }
        components[place[root]].push(*edge);
    }
    components
}

fn root(parents: &mut [usize], mut index: usize) -> usize {
    while parents[index] != index {
        parents[index] = parents[parents[index]];
        index = parents[index];
    }
    index
}

fn join(parents: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parents, a), root(parents, b));
    parents[a.max(b)] = a.min(b);
}

/// Solves one component as a full matrix, in which a pair that is not possible is worth nothing.
fn solve(edges: &[Edge], pairs: &mut Vec<(usize, usize)>) {
    let mut rows: Vec<usize> = edges.iter().map(|edge| edge.row).collect();
    let mut columns: Vec<usize> = edges.iter().map(|edge| edge.column).collect();
    for side in [&mut rows, &mut columns] {
        side.sort_unstable();
        side.dedup();
    }
    // The algorithm wants the smaller side as its rows.
    let turned = rows.len() > columns.len();
    let (short, long) = if turned {
        (&columns, &rows)
    } else {
        (&rows, &columns)
    };
    let mut costs = vec![Benefit::default(); short.len() * long.len()];
    let mut possible = vec![false; costs.len()];
    for edge in edges {
        let (row, column) = if turned {
            (edge.column, edge.row)
        } else {
            (edge.row, edge.column)
        };
        if let (Ok(i), Ok(j)) = (short.binary_search(&row), long.binary_search(&column)) {
            // A pair that costs more than no pair is never worth choosing.
            if !edge.benefit.below(Benefit::default()) {
                costs[i * long.len() + j] = -edge.benefit;
                possible[i * long.len() + j] = true;
            }
        }
    }
    for (i, j) in cheapest(&costs, short.len(), long.len())
        .into_iter()
        .enumerate()
    {
        if possible[i * long.len() + j] {
            let (row, column) = (short[i], long[j]);
            pairs.push(if turned { (column, row) } else { (row, column) });
        }
    }
}

/// The column of each row in a cheapest full assignment of a `rows` by `columns` matrix,
/// `rows <= columns`: one shortest augmenting path a row, in reduced costs.
fn cheapest(costs: &[Benefit], rows: usize, columns: usize) -> Vec<usize> {
    const FREE: usize = usize::MAX;
    let mut row_price = vec![Benefit::default(); rows];
    let mut column_price = vec![Benefit::default(); columns];
    let mut column_of = vec![FREE; rows];
    let mut row_of = vec![FREE; columns];
    let mut distance = vec![Benefit::UNREACHED; columns];
    let mut predecessor = vec![FREE; columns];
    let mut open: Vec<usize> = Vec::with_capacity(columns);
    let mut closed: Vec<usize> = Vec::with_capacity(columns);

    for start in 0..rows {
        distance.fill(Benefit::UNREACHED);
        open.clear();
        open.extend(0..columns);
        closed.clear();
        let mut row = start;
        let mut reached = Benefit::default();
        let end = loop {
            let mut best = 0;
            for (place, &column) in open.iter().enumerate() {
                let through =
                    reached + costs[row * columns + column] - row_price[row] - column_price[column];
                if through.below(distance[column]) {
                    distance[column] = through;
                    predecessor[column] = row;
                }
                // Among equals a free column ends the search at once: this is what keeps
                // matrices full of ties fast.
                let best_column = open[best];
                if distance[column].below(distance[best_column])
                    || (distance[column] == distance[best_column]
                        && row_of[column] == FREE
                        && row_of[best_column] != FREE)
                {
                    best = place;
                }
            }
            let column = open.swap_remove(best);
            reached = distance[column];
            closed.push(column);
            if row_of[column] == FREE {
                break column;
            }
            row = row_of[column];
        };
        row_price[start] = row_price[start] + reached;
        for &column in &closed {
            let slack = reached - distance[column];
            if row_of[column] != FREE {
                row_price[row_of[column]] = row_price[row_of[column]] + slack;
            }
            column_price[column] = column_price[column] - slack;
        }
        let mut column = end;
        loop {
            let row = predecessor[column];
            row_of[column] = row;
            std::mem::swap(&mut column_of[row], &mut column);
            if row == start {
                break;
            }
        }
    }
    column_of
}

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
