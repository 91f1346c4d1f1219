use metric_core::NamedScores;

/// Each `k` of a metric with its accuracy, in the order of the metric; `None` without examples.
///
/// Its [names](NamedScores) are `accuracy@1`, `accuracy@5` and so on.
///
/// ```
/// use metric_class::{AccuracyAtK, Metric, NamedScores};
///
/// let metric = AccuracyAtK::new(vec![1, 2])?;
/// // The true label 3 comes second, and the true label 7 first.
/// let mut state = metric.measure(&[7, 3], &3);
/// metric.update(&mut state, &[7, 3], &7);
/// let accuracy = metric.compute(&state);
/// assert_eq!(accuracy.0, [(1, Some(1.0 / 2.0)), (2, Some(2.0 / 2.0))]);
/// assert_eq!(accuracy.at(1), Some(1.0 / 2.0));
/// let named = accuracy.named_scores();
/// assert_eq!(named[1], ("accuracy@2".to_owned(), Some(2.0 / 2.0)));
/// # Ok::<(), metric_class::InvalidK>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AccuracyByK(
    /// Pairs of a `k` and its accuracy.
    pub Vec<(usize, Option<f64>)>,
);

impl AccuracyByK {
    /// Returns the accuracy at `k`; `None` if it is undefined, or if the metric does not have this `k`.
    #[must_use]
    pub fn at(&self, k: usize) -> Option<f64> {
        let mut pairs = self.0.iter();
        pairs.find(|(found, _)| *found == k)?.1
    }
}

impl NamedScores for AccuracyByK {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        let named = |&(k, accuracy): &(usize, _)| (format!("accuracy@{k}"), accuracy);
        self.0.iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_k_has_its_own_name_and_value() {
        let accuracy = AccuracyByK(vec![(5, Some(0.75)), (1, None)]);
        assert_eq!([5, 1, 2].map(|k| accuracy.at(k)), [Some(0.75), None, None]);
        let named = [("accuracy@5", Some(0.75)), ("accuracy@1", None)];
        let named = named.map(|(name, score)| (name.to_owned(), score));
        assert_eq!(accuracy.named_scores(), named);
        assert_eq!(AccuracyByK::default().named_scores(), []);
    }
}
