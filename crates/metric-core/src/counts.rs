use crate::fields;

/// True positives, false positives and false negatives, from which precision, recall and F-beta are computed.
///
/// Every ratio but F-beta, whose weights are real numbers, is one division of integers, so it is
/// correctly rounded. None depends on how the counts were gathered. A ratio whose denominator is 0 is undefined (`None`).
///
/// ```
/// use metric_core::Counts;
///
/// // 5 predictions, 3 of them right; 6 things to find.
/// let counts = Counts::new(3, 2, 3);
/// assert_eq!(counts.precision(), Some(3.0 / 5.0));
/// assert_eq!(counts.recall(), Some(3.0 / 6.0));
/// assert_eq!(counts.f1(), Some(6.0 / 11.0));
///
/// // Nothing predicted: precision is undefined, recall is not.
/// let silent = Counts::new(0, 0, 4);
/// assert_eq!((silent.precision(), silent.recall(), silent.f1()), (None, Some(0.0), Some(0.0)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Counts {
    /// Predicted and true (`tp`).
    pub true_positives: u64,
    /// Predicted but not true (`fp`).
    pub false_positives: u64,
    /// True but not predicted (`fn`).
    pub false_negatives: u64,
}

impl Counts {
    /// Returns the counts `tp`, `fp`, `fn`, in this order.
    #[must_use]
    pub const fn new(true_positives: u64, false_positives: u64, false_negatives: u64) -> Self {
        Self {
            true_positives,
            false_positives,
            false_negatives,
        }
    }

    /// Returns the counts of `hits` correct ones among `predicted` predictions and `actual` true
    /// items.
    ///
    /// `hits` above either total cannot be; it is cut to the smaller one.
    ///
    /// ```
    /// # use metric_core::Counts;
    /// assert_eq!(Counts::from_totals(3, 5, 6), Counts::new(3, 2, 3));
    /// ```
    #[must_use]
    pub fn from_totals(hits: u64, predicted: u64, actual: u64) -> Self {
        let hits = hits.min(predicted).min(actual);
        Self::new(hits, predicted - hits, actual - hits)
    }

    /// Returns the number of predictions, `tp + fp`.
    #[must_use]
    pub fn predicted(&self) -> u64 {
        self.true_positives + self.false_positives
    }

    /// Returns the number of true items, `tp + fn`.
    #[must_use]
    pub fn actual(&self) -> u64 {
        self.true_positives + self.false_negatives
    }

    /// Returns `tp / (tp + fp)`; undefined when nothing was predicted.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        ratio(self.true_positives, self.predicted())
    }

    /// Returns `tp / (tp + fn)`; undefined when there are no positives.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        ratio(self.true_positives, self.actual())
    }

    /// Returns `2 tp / (2 tp + fp + fn)`, the harmonic mean of precision and recall; undefined when
    /// all counts are 0, and 0 when only one of the two ratios is undefined.
    ///
    /// Programs that compute `2 P R / (P + R)` round three times more and can differ from this in
    /// the last bit.
    #[must_use]
    pub fn f1(&self) -> Option<f64> {
        ratio(
            2 * self.true_positives,
            2 * self.true_positives + self.false_positives + self.false_negatives,
        )
    }

    /// Returns `(1 + b²) tp / ((1 + b²) tp + b² fn + fp)`: recall counts `beta` times as much as
    /// precision. Undefined when the denominator is 0 or `beta` is not a finite number.
    ///
    /// Van Rijsbergen, *Information Retrieval* (1979), chapter 7, written in counts.
    ///
    /// ```
    /// # use metric_core::Counts;
    /// assert_eq!(Counts::new(3, 2, 3).f_beta(1.0), Counts::new(3, 2, 3).f1());
    /// assert_eq!(Counts::new(3, 2, 3).f_beta(2.0), Some(15.0 / 29.0));
    /// ```
    #[must_use]
    pub fn f_beta(&self, beta: f64) -> Option<f64> {
        let square = beta * beta;
        let hits = (1.0 + square) * self.true_positives as f64;
        let denominator = hits + square * self.false_negatives as f64 + self.false_positives as f64;
        (denominator > 0.0 && denominator.is_finite()).then(|| hits / denominator)
    }
}

fields!(Counts {
    true_positives,
    false_positives,
    false_negatives
});

/// Returns `numerator / denominator` in one correctly rounded division; undefined if the denominator is 0.
///
/// Exact inputs up to 2^53, which is more examples than there are.
///
/// ```
/// assert_eq!(metric_core::ratio(1, 4), Some(0.25));
/// assert_eq!(metric_core::ratio(0, 0), None);
/// ```
#[must_use]
pub fn ratio(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn laws_of_merge(examples in proptest::collection::vec([0_u64..9, 0..9, 0..9], 0..6)) {
            let examples = examples.into_iter().map(|[tp, fp, r#fn]| Counts::new(tp, fp, r#fn));
            crate::laws::check(&examples.collect::<Vec<_>>());
        }
    }
}
