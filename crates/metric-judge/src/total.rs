//! One number from the scores of several tasks.

use std::fmt;

/// The rule by which scores become a total.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// The sum of the scores.
    Sum,
    /// The mean of the scores.
    Mean,
    /// The weighted mean of the scores, with a positive weight for each.
    Weighted(Vec<f64>),
}

impl Rule {
    /// Returns the total of scores, which are added in this order; `None` of no scores.
    ///
    /// ```
    /// use metric_judge::Rule;
    ///
    /// let scores = [0.5, 0.25, 1.0];
    /// assert_eq!(Rule::Sum.total(&scores), Some(1.75));
    /// assert_eq!(Rule::Mean.total(&[0.5, 0.25]), Some(0.375));
    /// // (2 x 0.5 + 1 x 0.25 + 1 x 1) / 4
    /// assert_eq!(Rule::Weighted(vec![2.0, 1.0, 1.0]).total(&scores), Some(0.5625));
    /// assert_eq!(Rule::Sum.total(&[]), None);
    /// ```
    #[must_use]
    pub fn total(&self, scores: &[f64]) -> Option<f64> {
        if scores.is_empty() {
            return None;
        }
        let sum: f64 = scores.iter().sum();
        Some(match self {
            Self::Sum => sum,
            Self::Mean => sum / scores.len() as f64,
            Self::Weighted(weights) => {
                let weighted = scores
                    .iter()
                    .zip(weights)
                    .map(|(score, weight)| score * weight);
                weighted.sum::<f64>() / weights.iter().sum::<f64>()
            }
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Weighted(_) => "weighted",
        })
    }
}
