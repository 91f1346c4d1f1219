//! Calibration: whether scores that are probabilities match the share of correct predictions.

use metric_core::{Sum, fields};

use crate::rank_span::RankSpan;

/// The number of ranges that confidences are counted by.
const BINS: usize = 10;

/// By how much the scores of a row may miss the sum 1: they may have been rounded.
const TOLERANCE: f64 = 0.01;

/// The accuracy of examples in ten ranges of confidence of equal width. The confidence is the highest probability of
/// a row.
///
/// ```
/// use metric_class::{Calibration, RankSpan};
///
/// let mut calibration = Calibration::default();
/// let rank = |rank| RankSpan { first: rank, last: rank };
/// calibration.add(&[0.9, 0.1], rank(0));
/// calibration.add(&[0.3, 0.7], rank(0));
/// calibration.add(&[0.25, 0.75], rank(1));
/// // Two examples between 0.7 and 0.8, of which one is right.
/// let bin = &calibration.bins()[7];
/// assert_eq!((bin.examples, bin.accuracy()), (2, Some(0.5)));
/// // |0.5 - 0.725| of two examples, and |1 - 0.9| of one.
/// let error = calibration.expected_error().unwrap();
/// assert!((error - (2.0 * 0.225 + 0.1) / 3.0).abs() < 1e-12);
/// ```
///
/// Source: Guo et al., *On Calibration of Modern Neural Networks* (ICML 2017).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    bins: [CalibrationBin; BINS],
    others: u64,
}

/// The examples of a range of confidences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalibrationBin {
    /// The number of examples.
    pub examples: u64,
    correct: Sum,
    confidence: Sum,
}

impl CalibrationBin {
    /// Returns the share of examples whose highest score is that of the reference; undefined without examples.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        self.mean(&self.correct)
    }

    /// Returns the mean confidence; undefined without examples.
    #[must_use]
    pub fn confidence(&self) -> Option<f64> {
        self.mean(&self.confidence)
    }

    fn mean(&self, sum: &Sum) -> Option<f64> {
        (self.examples > 0).then(|| sum.value() / self.examples as f64)
    }
}

impl Calibration {
    /// Adds an example: the scores of all classes, and the rank of the reference.
    pub fn add<S: Copy + Into<f64>>(&mut self, scores: &[S], rank: RankSpan) {
        let numbers = || scores.iter().map(|score| (*score).into());
        let highest = numbers().fold(f64::NEG_INFINITY, f64::max);
        let is_probability = numbers().all(|score| (0.0..=1.0).contains(&score));
        if !is_probability || (numbers().sum::<f64>() - 1.0).abs() > TOLERANCE {
            self.others += 1;
            return;
        }
        let bin = &mut self.bins[((highest * BINS as f64) as usize).min(BINS - 1)];
        bin.examples += 1;
        bin.confidence.add(highest);
        // References that share the first rank are equally likely to be first.
        if rank.first == 0 {
            bin.correct.add(1.0 / (rank.last as f64 + 1.0));
        }
    }

    /// Returns the ranges of confidences: 0 to 0.1, and so on.
    #[must_use]
    pub fn bins(&self) -> &[CalibrationBin] {
        &self.bins
    }

    /// Returns the number of examples whose scores are not probabilities: not between 0 and 1, or with a sum that
    /// differs from 1 by more than 0.01.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Returns the expected calibration error: the mean over examples of the difference between the accuracy and the
    /// confidence of their range. Undefined without examples, or if the scores of any are not probabilities.
    #[must_use]
    pub fn expected_error(&self) -> Option<f64> {
        let examples: u64 = self.bins.iter().map(|bin| bin.examples).sum();
        if examples == 0 || self.others > 0 {
            return None;
        }
        let errors = self.bins.iter().filter_map(|bin| {
            let error = (bin.accuracy()? - bin.confidence()?).abs();
            Some(bin.examples as f64 * error)
        });
        Some(errors.collect::<Sum>().value() / examples as f64)
    }

    /// Returns whether no example was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fields!(Calibration { bins, others });
fields!(CalibrationBin {
    examples,
    correct,
    confidence
});

#[cfg(test)]
mod tests {
    use metric_core::Merge;

    use super::*;

    const FIRST: RankSpan = RankSpan { first: 0, last: 0 };

    #[test]
    fn what_is_no_probability_is_counted_apart() {
        let mut calibration = Calibration::default();
        assert!(calibration.is_empty());
        for scores in [
            &[1.5, -0.5][..],
            &[0.5, 0.4],
            &[f64::NAN, 1.0],
            &[f64::INFINITY, 0.0],
            &[],
        ] {
            calibration.add(scores, FIRST);
        }
        assert_eq!(calibration.others(), 5);
        calibration.add(&[0.335_f32, 0.332, 0.333], FIRST);
        assert_eq!(
            (calibration.others(), calibration.bins()[3].examples),
            (5, 1)
        );
        assert_eq!(calibration.expected_error(), None);
        assert!(!calibration.is_empty());
    }

    #[test]
    fn ends_and_ties() {
        let mut calibration = Calibration::default();
        calibration.add(&[1.0, 0.0], FIRST);
        calibration.add(&[0.5, 0.5], RankSpan { first: 0, last: 1 });
        calibration.add(&[0.0, 1.0], RankSpan { first: 1, last: 1 });
        let accuracies = calibration.bins().iter().map(CalibrationBin::accuracy);
        let accuracies: Vec<_> = accuracies.collect();
        assert_eq!(
            (accuracies[5], accuracies[9], accuracies[0]),
            (Some(0.5), Some(0.5), None)
        );
        // |1/2 - 1/2| of one example, |1/2 - 1| of two.
        assert_eq!(calibration.expected_error(), Some(1.0 / 3.0));
    }

    #[test]
    fn parts_merge() {
        let rows: [[f64; 2]; 4] = [[0.7, 0.3], [0.1, 0.9], [2.0, 0.0], [0.55, 0.45]];
        let of = |rows: &[[f64; 2]]| {
            let mut calibration = Calibration::default();
            for row in rows {
                calibration.add(row, FIRST);
            }
            calibration
        };
        let mut sum = of(&rows[2..]);
        sum.merge(of(&rows[..2]));
        assert_eq!(sum, of(&rows));
        let mut twice = of(&rows);
        twice.merge_times(&of(&rows), 1);
        let mut times = Calibration::default();
        times.merge_times(&of(&rows), 2);
        assert_eq!(twice, times);
    }
}
