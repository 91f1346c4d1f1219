//! How the differences of examples are distributed.

use metric_stats::TOLERANCE;

/// The number of ranges on each side of 0.
const HALF: usize = 10;
/// The number of ranges that differences are counted by.
pub const DIFFERENCE_BINS: usize = 2 * HALF;
/// The possible ends of the last range.
const REACHES: [f64; 9] = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

/// The counts of examples by the difference of two scores.
///
/// The ranges have equal widths, half of them for negative differences and half for positive ones. They reach as far
/// as the differences do, rounded up, and at most from -1 to 1. A difference at the border of two ranges is counted in
/// the one that is farther from 0, so exchanging the systems reverses the counts. Examples with equal scores are in no
/// range.
///
/// ```
/// use metric_registry::DifferenceCounts;
///
/// let counts = DifferenceCounts::new(&[(-0.5, 1), (0.0, 7), (0.25, 2), (3.0, 1)]);
/// assert_eq!(counts.reach, 1.0);
/// // Each range is 0.1 wide: those that start at -0.6 and at 0.2 have examples.
/// assert_eq!((counts.bins[4], counts.bins[12]), (1, 2));
/// assert_eq!((counts.below, counts.above), (0, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DifferenceCounts {
    /// The end of the last range. The first range starts at the negative of it.
    pub reach: f64,
    /// The counts of the ranges.
    pub bins: [u64; DIFFERENCE_BINS],
    /// The number of examples with a difference below -1.
    pub below: u64,
    /// The number of examples with a difference above 1.
    pub above: u64,
}

impl DifferenceCounts {
    /// Counts differences, each given with the number of examples that have it.
    #[must_use]
    pub fn new(differences: &[(f64, u64)]) -> Self {
        let sizes = differences.iter().map(|(difference, _)| difference.abs());
        let largest = sizes.fold(0.0, f64::max);
        let fits = |reach: &f64| largest <= reach + TOLERANCE;
        let mut counts = Self {
            reach: REACHES.into_iter().find(fits).unwrap_or(1.0),
            ..Self::default()
        };
        for &(difference, count) in differences {
            if let Some(counter) = counts.counter(difference) {
                *counter += count;
            }
        }
        counts
    }

    /// The counter of a difference; `None` if it is 0 or undefined.
    fn counter(&mut self, difference: f64) -> Option<&mut u64> {
        let (size, is_negative) = (difference.abs(), difference < 0.0);
        if size.is_nan() || size <= TOLERANCE {
            return None;
        }
        if size > self.reach + TOLERANCE {
            return Some(if is_negative {
                &mut self.below
            } else {
                &mut self.above
            });
        }
        // Differences of fractions that are equal in theory are on the same side of a border.
        let from_zero = ((size + TOLERANCE) / self.reach * HALF as f64) as usize;
        let from_zero = from_zero.min(HALF - 1);
        self.bins.get_mut(if is_negative {
            HALF - 1 - from_zero
        } else {
            HALF + from_zero
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(differences: &[(f64, u64)]) -> (f64, Vec<(usize, u64)>) {
        let counts = DifferenceCounts::new(differences);
        let bins = counts.bins.into_iter().enumerate();
        (counts.reach, bins.filter(|bin| bin.1 > 0).collect())
    }

    #[test]
    fn ranges_reach_as_far_as_differences() {
        assert_eq!(filled(&[]), (0.002, vec![]));
        assert_eq!(filled(&[(0.0, 5)]), (0.002, vec![]));
        assert_eq!(filled(&[(0.002, 1)]), (0.002, vec![(19, 1)]));
        assert_eq!(filled(&[(0.04, 1)]), (0.05, vec![(18, 1)]));
        assert_eq!(filled(&[(0.2, 1), (-0.2, 2)]), (0.2, vec![(0, 2), (19, 1)]));
        assert_eq!(filled(&[(0.6, 1)]), (1.0, vec![(16, 1)]));
        assert_eq!(filled(&[(7.0, 1), (-1.0, 3)]), (1.0, vec![(0, 3)]));
    }

    #[test]
    fn borders_do_not_depend_on_rounding() {
        // 0.3 - 0.2 is less than 0.1, and 0.4 - 0.3 is more.
        for difference in [0.1, 0.3 - 0.2, 0.4 - 0.3] {
            let found = filled(&[(1.0, 1), (difference, 1), (-difference, 1)]);
            assert_eq!(found.1, [(8, 1), (11, 1), (19, 1)], "{difference}");
        }
    }

    #[test]
    fn exchanging_systems_reverses_the_counts() {
        let differences = [
            (0.05, 1),
            (-0.1, 2),
            (0.31, 4),
            (-0.5, 8),
            (-2.0, 16),
            (9.0, 32),
        ];
        let exchanged = differences.map(|(difference, count)| (-difference, count));
        let (counts, mut reversed) = (
            DifferenceCounts::new(&differences),
            DifferenceCounts::new(&exchanged),
        );
        reversed.bins.reverse();
        assert_eq!(counts.bins, reversed.bins);
        assert_eq!((counts.below, counts.above), (16, 32));
        assert_eq!((reversed.below, reversed.above), (32, 16));
    }

    #[test]
    fn examples_without_a_difference_are_not_counted() {
        let counts = DifferenceCounts::new(&[(0.0, 3), (TOLERANCE / 2.0, 1), (f64::NAN, 1)]);
        assert_eq!((counts.bins, counts.below, counts.above), ([0; 20], 0, 0));
        let counts = DifferenceCounts::new(&[(f64::INFINITY, 1)]);
        assert_eq!((counts.reach, counts.above), (1.0, 1));
    }
}
