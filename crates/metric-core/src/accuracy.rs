use crate::{fields, ratio};

/// The number of correct predictions and the number of all.
///
/// ```
/// use metric_core::Accuracy;
///
/// let accuracy: Accuracy = [true, false, true].into_iter().collect();
/// assert_eq!(accuracy, Accuracy { correct: 2, total: 3 });
/// assert_eq!(accuracy.value(), Some(2.0 / 3.0));
/// assert_eq!(Accuracy::default().value(), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Accuracy {
    /// Correct examples.
    pub correct: u64,
    /// All examples.
    pub total: u64,
}

impl Accuracy {
    /// Counts one example.
    pub fn record(&mut self, correct: bool) {
        self.correct += u64::from(correct);
        self.total += 1;
    }

    /// Returns `correct / total`, in \[0, 1\]; undefined without examples.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        ratio(self.correct, self.total)
    }
}

fields!(Accuracy { correct, total });

impl FromIterator<bool> for Accuracy {
    fn from_iter<I: IntoIterator<Item = bool>>(outcomes: I) -> Self {
        let mut accuracy = Self::default();
        outcomes
            .into_iter()
            .for_each(|correct| accuracy.record(correct));
        accuracy
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn laws_of_merge(examples in proptest::collection::vec(any::<bool>(), 0..6)) {
            let examples = examples.into_iter().map(|correct| [correct].into_iter().collect());
            crate::laws::check(&examples.collect::<Vec<Accuracy>>());
        }
    }
}
