use std::collections::BTreeMap;

use crate::{Malformed, Mean, Merge, Reader, Writer, Written};

/// A state for each class. The micro average is the score of the merged states, the macro average the mean of the
/// scores.
///
/// ```
/// use metric_core::{Counts, PerClass};
///
/// let mut classes = PerClass::default();
/// *classes.entry("cat") = Counts::new(8, 2, 0); // precision 0.8
/// *classes.entry("dog") = Counts::new(1, 1, 3); // precision 0.5
/// *classes.entry("emu") = Counts::new(0, 0, 1); // precision undefined
///
/// // Micro: all items count the same.
/// assert_eq!(classes.micro(), Counts::new(9, 3, 4));
/// assert_eq!(classes.micro().precision(), Some(0.75));
///
/// // Macro: all classes count the same, as far as they have the score.
/// let average = classes.macro_average(Counts::precision);
/// assert_eq!((average.value, average.count), (Some(0.65), 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerClass<K: Ord, S> {
    states: BTreeMap<K, S>,
}

/// A mean over classes (or clips, or other parts), with the number of those in which the score is defined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MacroAverage {
    /// The unweighted mean; undefined when no class has the score.
    pub value: Option<f64>,
    /// The number of classes in the mean.
    pub count: u64,
}

impl From<&Mean> for MacroAverage {
    fn from(mean: &Mean) -> Self {
        Self {
            value: mean.value(),
            count: mean.count(),
        }
    }
}

impl<K: Ord, S: Merge> PerClass<K, S> {
    /// Returns the state of `class`, empty if the class is new.
    pub fn entry(&mut self, class: K) -> &mut S {
        self.states.entry(class).or_default()
    }

    /// Returns the classes in their order, each with its state.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&K, &S)> {
        self.states.iter()
    }

    /// Returns the classes in their order, each with its state, which can be changed.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&K, &mut S)> {
        self.states.iter_mut()
    }

    /// Returns the number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns whether there is no class.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Returns the states of all classes merged into one: the state of the micro average.
    #[must_use]
    pub fn micro(&self) -> S
    where
        S: Clone,
    {
        let mut pooled = S::default();
        for state in self.states.values() {
            pooled.merge_times(state, 1);
        }
        pooled
    }

    /// Returns the unweighted mean of `score` over the classes where it is defined.
    pub fn macro_average(&self, score: impl Fn(&S) -> Option<f64>) -> MacroAverage {
        let mean: Mean = self.states.values().filter_map(score).collect();
        MacroAverage::from(&mean)
    }
}

impl<K: Ord, S> Default for PerClass<K, S> {
    fn default() -> Self {
        Self {
            states: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Clone, S: Merge + Clone> Merge for PerClass<K, S> {
    fn merge(&mut self, other: Self) {
        // The standard library will have a method of this name.
        Merge::merge(&mut self.states, other.states);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        self.states.merge_times(&other.states, times);
    }
}

/// The map of the states.
impl<K: Ord + Written, S: Written> Written for PerClass<K, S> {
    fn write(&self, to: &mut Writer) {
        self.states.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        BTreeMap::read(from).map(|states| Self { states })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn laws_of_merge(
            examples in proptest::collection::vec(
                proptest::collection::btree_map(0_u8..4, -1.0..1.0_f64, 0..4), 0..6),
        ) {
            let examples = examples.into_iter().map(|terms| {
                let states = terms.into_iter().map(|(class, term)| (class, [term].into_iter().collect()));
                PerClass { states: states.collect() }
            });
            let whole: PerClass<u8, Mean> = crate::laws::check(&examples.collect::<Vec<_>>());
            let mut none = PerClass::default();
            none.merge_times(&whole, 0);
            prop_assert!(none.is_empty());
        }
    }
}
