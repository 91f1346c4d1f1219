//! Matrices of distances, and the rules by which benchmarks choose pairs of them.

use std::fmt;

use super::{Benefit, Edge, assign};

/// The distances between true items (rows) and predicted ones (columns), for each pair.
///
/// The rules by which benchmarks choose pairs, each at most once on both sides. Infinity forbids a
/// pair under every rule. All give the pairs as `(row, column)` by row.
///
/// ```
/// use metric_core::assignment::{Costs, Gate};
///
/// // Two true lines and three predicted ones.
/// let costs = Costs::new(2, 3, vec![
///     1.0, 2.0, 9.0,
///     0.5, 4.0, 2.5,
/// ])?;
/// // 2 + 0.5: the least total of two pairs.
/// assert_eq!(costs.optimal(Gate::None), [(0, 1), (1, 0)]);
/// // Two pairs below 2.5 come before the least total.
/// assert_eq!(costs.optimal(Gate::Below(2.0)), [(1, 0)]);
/// assert_eq!(costs.optimal(Gate::AtMost(2.0)), [(0, 1), (1, 0)]);
///
/// // Column 1 is asked first and has row 0, its nearest; so column 0 has row 1; column 2 is nearest
/// // to row 1, which is taken, and does not fall back to another.
/// assert_eq!(costs.greedy_by_confidence(&[0.7, 0.9, 0.5], Gate::None)?, [(0, 1), (1, 0)]);
/// assert_eq!(costs.greedy_by_confidence(&[0.7, 0.1, 0.9], Gate::None)?, [(0, 1), (1, 2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    rows: usize,
    columns: usize,
    /// Row by row; neither NaN nor negative infinity.
    values: Vec<f64>,
}

/// The costs that are small enough for a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Gate {
    /// All except infinity.
    #[default]
    None,
    /// Less than this, as in `distance < threshold`.
    Below(f64),
    /// This or less.
    AtMost(f64),
}

impl Gate {
    /// Returns whether a pair of this cost is possible.
    #[must_use]
    pub fn admits(self, cost: f64) -> bool {
        cost < f64::INFINITY
            && match self {
                Self::None => true,
                Self::Below(gate) => cost < gate,
                Self::AtMost(gate) => cost <= gate,
            }
    }
}

impl Costs {
    /// Returns the matrix with these costs, row by row. Either side may be empty.
    ///
    /// # Errors
    /// Returns an error if the numbers of costs and pairs differ, or a cost is NaN or negative
    /// infinity.
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Result<Self, InvalidCosts> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(InvalidCosts::Size {
                rows,
                columns,
                found: values.len(),
            });
        }
        let invalid = |cost: &f64| cost.is_nan() || *cost == f64::NEG_INFINITY;
        if let Some(index) = values.iter().position(invalid) {
            return Err(InvalidCosts::Cost {
                row: index / columns,
                column: index % columns,
                cost: values[index],
            });
        }
        Ok(Self {
            rows,
            columns,
            values,
        })
    }

    /// Returns the matrix of `cost(row, column)`.
    ///
    /// # Errors
    /// Returns an error if a cost is NaN or negative infinity.
    pub fn from_fn(
        rows: usize,
        columns: usize,
        cost: impl Fn(usize, usize) -> f64,
    ) -> Result<Self, InvalidCosts> {
        let row = |row| (0..columns).map(move |column| (row, column));
        let pairs = (0..rows).flat_map(row);
        Self::new(rows, columns, pairs.map(|(i, j)| cost(i, j)).collect())
    }

    /// Returns the number of true items.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of predicted items.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the cost of a pair; `None` outside the matrix.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> Option<f64> {
        let inside = row < self.rows && column < self.columns;
        inside.then(|| self.values[row * self.columns + column])
    }

    /// All pairs that the gate admits, with their costs, by row and column.
    fn admitted(&self, gate: Gate) -> impl Iterator<Item = (usize, usize, f64)> {
        let columns = self.columns;
        let pairs = self.values.iter().enumerate();
        pairs
            .filter(move |(_, cost)| gate.admits(**cost))
            .map(move |(index, &cost)| (index / columns, index % columns, cost))
    }

    /// Returns the most pairs that the gate admits; among choices with this number of pairs, the
    /// least total cost.
    ///
    /// Without a gate, and with finite costs, this is the plain assignment problem: as many pairs
    /// as the smaller side has items. Time, ties and range as in [`assign`]: costs over 1e300 from 0
    /// forbid a pair here, as infinity does. Memory for all pairs that are admitted, at 32 bytes
    /// each, twice.
    #[must_use]
    pub fn optimal(&self, gate: Gate) -> Vec<(usize, usize)> {
        let edges = self.admitted(gate).map(|(row, column, cost)| Edge {
            row,
            column,
            benefit: Benefit {
                primary: 1,
                secondary: -cost,
            },
        });
        assign(&edges.collect::<Vec<_>>())
    }

    /// Returns the cheapest pair of all, then the cheapest of the items that are left, and so on;
    /// of equal costs the first row, then the first column. `O(n m log(n m))`.
    #[must_use]
    pub fn greedy_cheapest(&self, gate: Gate) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> = self.admitted(gate).collect();
        // Stable, so that equal costs (0 and -0 are equal) stay in the order of rows and columns.
        pairs.sort_by(|a, b| (a.2 + 0.0).total_cmp(&(b.2 + 0.0)));
        let mut free = (vec![true; self.rows], vec![true; self.columns]);
        let mut chosen = Vec::new();
        for (row, column, _) in pairs {
            if free.0[row] && free.1[column] {
                (free.0[row], free.1[column]) = (false, false);
                chosen.push((row, column));
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Columns by falling confidence (equal ones in their order) take the row they are nearest to
    /// (of equal ones the first), if the gate admits it and it is free; there is no second choice.
    ///
    /// The rule of VectorMapNet, MapTR and OpenLane-V2, with [`Gate::Below`]. `O(n m)`.
    ///
    /// # Errors
    /// Returns an error if there is not one confidence for each column, or a confidence is NaN.
    pub fn greedy_by_confidence(
        &self,
        confidences: &[f64],
        gate: Gate,
    ) -> Result<Vec<(usize, usize)>, InvalidConfidences> {
        if confidences.len() != self.columns {
            return Err(InvalidConfidences::Count {
                expected: self.columns,
                found: confidences.len(),
            });
        }
        if let Some(column) = confidences.iter().position(|c| c.is_nan()) {
            return Err(InvalidConfidences::NotANumber { column });
        }
        let mut order: Vec<usize> = (0..self.columns).collect();
        order.sort_by(|&a, &b| (confidences[b] + 0.0).total_cmp(&(confidences[a] + 0.0)));
        let mut free = vec![true; self.rows];
        let mut chosen = Vec::new();
        for column in order {
            let costs = (0..self.rows).map(|row| (row, self.values[row * self.columns + column]));
            let nearest = costs.reduce(|best, other| if other.1 < best.1 { other } else { best });
            if let Some((row, cost)) = nearest
                && gate.admits(cost)
                && std::mem::take(&mut free[row])
            {
                chosen.push((row, column));
            }
        }
        chosen.sort_unstable();
        Ok(chosen)
    }
}

/// Costs that are not a matrix of distances.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidCosts {
    /// Not as many costs as pairs.
    Size {
        /// True items.
        rows: usize,
        /// Predicted items.
        columns: usize,
        /// Costs given.
        found: usize,
    },
    /// A cost that is NaN or negative infinity.
    Cost {
        /// The true item.
        row: usize,
        /// The predicted item.
        column: usize,
        /// The cost.
        cost: f64,
    },
}

impl fmt::Display for InvalidCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size {
                rows,
                columns,
                found,
            } => write!(
                f,
                "{found} costs for {rows} rows and {columns} columns: expected one for each pair"
            ),
            Self::Cost { row, column, cost } => write!(
                f,
                "cost {cost} of row {row} and column {column}: expected a number above negative infinity"
            ),
        }
    }
}

impl std::error::Error for InvalidCosts {}

/// Confidences that do not rank the predicted items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidConfidences {
    /// Not one for each predicted item.
    Count {
        /// Predicted items.
        expected: usize,
        /// Confidences given.
        found: usize,
    },
    /// A confidence that is NaN.
    NotANumber {
        /// The predicted item.
        column: usize,
    },
}

impl fmt::Display for InvalidConfidences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { expected, found } => {
                write!(f, "{found} confidences for {expected} columns")
            }
            Self::NotANumber { column } => write!(f, "the confidence of column {column} is NaN"),
        }
    }
}

impl std::error::Error for InvalidConfidences {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn costs_of_the_problem() {
        type Pairs<'a> = &'a [(usize, usize)];
        type Case<'a> = (usize, usize, &'a [f64], Gate, [Pairs<'a>; 3]);
        const INFINITY: f64 = f64::INFINITY;
        // Rows, columns, costs, gate; optimal, greedy cheapest, greedy by equal confidences.
        #[rustfmt::skip]
        let cases: &[Case<'_>] = &[
            (0, 0, &[], Gate::None, [&[]; 3]),
            (0, 3, &[], Gate::None, [&[]; 3]),
            (3, 0, &[], Gate::None, [&[]; 3]),
            (1, 2, &[INFINITY, 3.0], Gate::None, [&[(0, 1)]; 3]),
            (1, 2, &[INFINITY, 3.0], Gate::Below(3.0), [&[]; 3]),
            (1, 2, &[INFINITY, 3.0], Gate::AtMost(3.0), [&[(0, 1)]; 3]),
            (1, 1, &[INFINITY], Gate::AtMost(INFINITY), [&[]; 3]),
            (1, 1, &[1.0], Gate::Below(f64::NAN), [&[]; 3]),
            // Beyond the range of totals; a greedy choice adds nothing up.
            (1, 2, &[1.1e300, INFINITY], Gate::None, [&[], &[(0, 0)], &[(0, 0)]]),
            (1, 2, &[1e300, INFINITY], Gate::None, [&[(0, 0)]; 3]),
            // Ties: the first row, then the first column.
            (2, 2, &[1.0; 4], Gate::None, [&[(0, 0), (1, 1)], &[(0, 0), (1, 1)], &[(0, 0)]]),
            (2, 2, &[0.0, -0.0, 0.0, 0.0], Gate::None, [&[(0, 0), (1, 1)], &[(0, 0), (1, 1)], &[(0, 0)]]),
            // The cheapest pair first costs 1 + 9, the best choice 2 + 2.
            (2, 2, &[1.0, 2.0, 2.0, 9.0], Gate::None,
                [&[(0, 1), (1, 0)], &[(0, 0), (1, 1)], &[(0, 0)]]),
            // Most pairs come first.
            (2, 2, &[0.0, 4.0, 4.0, 9.0], Gate::Below(5.0), [&[(0, 1), (1, 0)], &[(0, 0)], &[(0, 0)]]),
        ];
        for (rows, columns, values, gate, expected) in cases {
            let costs = Costs::new(*rows, *columns, values.to_vec()).expect("valid costs");
            let confident = costs.greedy_by_confidence(&vec![0.5; *columns], *gate);
            let ours = [
                costs.optimal(*gate),
                costs.greedy_cheapest(*gate),
                confident.expect("valid confidences"),
            ];
            assert_eq!(ours, *expected, "{values:?} {gate:?}");
        }
    }

    #[test]
    fn costs_that_are_none() {
        let new = |values: &[f64]| Costs::new(1, 2, values.to_vec()).map_err(|e| e.to_string());
        let says = |text: &str| Err(text.to_owned());
        assert_eq!(
            new(&[1.0]),
            says("1 costs for 1 rows and 2 columns: expected one for each pair")
        );
        assert_eq!(
            new(&[1.0, f64::NAN]),
            says("cost NaN of row 0 and column 1: expected a number above negative infinity")
        );
        assert!(new(&[f64::NEG_INFINITY, 0.0]).is_err());
        assert!(Costs::new(usize::MAX, 2, Vec::new()).is_err());
        let costs = Costs::new(1, 2, vec![0.0, 1.0]).expect("valid costs");
        let ask = |confidences: &[f64]| costs.greedy_by_confidence(confidences, Gate::None);
        assert_eq!(
            ask(&[1.0]),
            Err(InvalidConfidences::Count {
                expected: 2,
                found: 1
            })
        );
        assert_eq!(
            ask(&[1.0, f64::NAN]),
            Err(InvalidConfidences::NotANumber { column: 1 })
        );
        assert_eq!((costs.get(0, 1), costs.get(0, 2)), (Some(1.0), None));
    }

    proptest! {
        #[test]
        fn greedy_is_never_better(
            values in proptest::collection::vec(0_u8..6, 12), confidences in proptest::collection::vec(0_u8..3, 4),
            gate in 0_u8..7,
        ) {
            let costs = Costs::new(3, 4, values.iter().map(|&v| f64::from(v)).collect())
                .map_err(|e| TestCaseError::fail(e.to_string()))?;
            let confidences: Vec<f64> = confidences.into_iter().map(f64::from).collect();
            let gate = Gate::Below(f64::from(gate));
            let worth = |pairs: &[(usize, usize)]| {
                let total: f64 = pairs.iter().filter_map(|&(i, j)| costs.get(i, j)).sum();
                (pairs.len(), -total)
            };
            let optimal = worth(&costs.optimal(gate));
            let cheapest = worth(&costs.greedy_cheapest(gate));
            let confident = costs.greedy_by_confidence(&confidences, gate)
                .map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert!(optimal >= cheapest);
            prop_assert!(optimal >= worth(&confident));
        }
    }
}
