//! The pairing of speakers with the fewest errors.

use super::Size;

/// Returns the column of each row of a square matrix whose sum of costs is the least, in the time of a cube of its size.
///
/// Of several, it is the one that scipy 1.17.1 finds (`linear_sum_assignment`): shortest augmenting paths, row by row. D. F.
/// Crouse, *On implementing 2D rectangular assignment algorithms* (2016).
pub(super) fn pair(costs: &[Size], size: usize) -> Vec<usize> {
    let mut rows = Potentials::new(size);
    let mut columns = Potentials::new(size);
    // The row from which the shortest path reaches a column.
    let mut path = vec![0; size];
    for current in 0..size {
        let mut distances = vec![Size::MAX; size];
        let mut remaining: Vec<usize> = (0..size).rev().collect();
        let mut visited = Vec::new();
        let (mut row, mut low) = (current, 0);
        let end = loop {
            let mut best: Option<(usize, usize)> = None;
            for (position, &column) in remaining.iter().enumerate() {
                let cost = costs[row * size + column];
                let distance = low + cost - rows.potentials[row] - columns.potentials[column];
                if distance < distances[column] {
                    distances[column] = distance;
                    path[column] = row;
                }
                let is_free = columns.partners[column].is_none();
                let is_better = best.is_none_or(|(_, best)| {
                    distances[column] < distances[best]
                        || distances[column] == distances[best] && is_free
                });
                if is_better {
                    best = Some((position, column));
                }
            }
            // Each row but the current one has a column, so at least one is left.
            let Some((position, column)) = best else {
                return (0..size).collect();
            };
            low = distances[column];
            remaining.swap_remove(position);
            let Some(partner) = columns.partners[column] else {
                break column;
            };
            visited.push(column);
            row = partner;
        };
        rows.potentials[current] += low;
        for column in visited {
            if let Some(row) = columns.partners[column] {
                rows.potentials[row] += low - distances[column];
            }
            columns.potentials[column] -= low - distances[column];
        }
        let mut column = end;
        loop {
            let row = path[column];
            columns.partners[column] = Some(row);
            let before = rows.partners[row].replace(column);
            match before {
                Some(before) if row != current => column = before,
                _ => break,
            }
        }
    }
    rows.partners.into_iter().flatten().collect()
}

/// The potentials of one side, and what each is paired with.
struct Potentials {
    potentials: Vec<Size>,
    partners: Vec<Option<usize>>,
}

impl Potentials {
    fn new(size: usize) -> Self {
        Self {
            potentials: vec![0; size],
            partners: vec![None; size],
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_by_hand() {
        let rows: &[(&[Size], usize, &[usize])] = &[
            (&[], 0, &[]),
            (&[5], 1, &[0]),
            (&[1, 2, 2, 2], 2, &[0, 1]),
            (&[1, 1, 1, 1], 2, &[0, 1]),
            (&[4, 1, 3, 2, 0, 5, 3, 2, 2], 3, &[1, 0, 2]),
        ];
        for (costs, size, expected) in rows {
            assert_eq!(pair(costs, *size), *expected, "{costs:?}");
        }
    }

    /// The least sum over all permutations.
    fn least(costs: &[Size], size: usize, row: usize, taken: u32) -> Size {
        let free = (0..size).filter(|column| taken >> column & 1 == 0);
        let sums = free.map(|column| {
            costs[row * size + column] + least(costs, size, row + 1, taken | 1 << column)
        });
        sums.min().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn no_permutation_is_better(size in 1_usize..6, costs in proptest::collection::vec(0 as Size..6, 36)) {
            let pairs = pair(&costs, size);
            let mut sorted = pairs.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..size).collect::<Vec<_>>());
            let sum: Size = pairs.iter().enumerate().map(|(row, column)| costs[row * size + column]).sum();
            prop_assert_eq!(sum, least(&costs, size, 0, 0));
        }
    }
}
