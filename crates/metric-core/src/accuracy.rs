use crate::{Merge, ratio};

/// How many of how many were right.
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Accuracy {
    /// Examples that were right.
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

    /// `correct / total`, in \[0, 1\]; undefined without examples.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        ratio(self.correct, self.total)
    }
}

impl Merge for Accuracy {
    fn merge(&mut self, other: Self) {
        self.correct += other.correct;
        self.total += other.total;
    }
}

impl FromIterator<bool> for Accuracy {
    fn from_iter<I: IntoIterator<Item = bool>>(outcomes: I) -> Self {
        let mut accuracy = Self::default();
        outcomes
            .into_iter()
            .for_each(|correct| accuracy.record(correct));
        accuracy
    }
}
