use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use crate::Mean;

/// A state that can be merged with other states, as the counts of parts of a data set can. [`Default`] is the state
/// of no examples.
///
/// Pooling is associative and commutative, and the default is neutral: any partition of the
/// examples, merged in any order, gives the same state. That one law is what makes a score the
/// same on one thread, on many, and merged from a thousand workers. It is why states are integer
/// counts, and why the only sum of real numbers offered here ([`Sum`](crate::Sum)) is exact.
///
/// ```
/// use metric_core::{Counts, Merge};
///
/// let (a, b) = (Counts::new(3, 1, 0), Counts::new(2, 0, 4));
/// let (mut ab, mut ba) = (a, b);
/// ab.merge(b);
/// ba.merge(a);
/// assert_eq!(ab, ba);
/// assert_eq!(ab, Counts::new(5, 1, 4));
/// ```
pub trait Merge: Default {
    /// Adds the counts of `other` to this.
    fn merge(&mut self, other: Self);

    /// Adds `other` as often as `times` says: what that many merges of clones do. Zero times adds
    /// nothing, and once is merging by reference.
    ///
    /// This is what a bootstrap replicate does with an example that was drawn several times.
    ///
    /// # Cost
    ///
    /// As provided, `times` merges. States of counts implement it by multiplication.
    ///
    /// ```
    /// use metric_core::{Counts, Merge};
    ///
    /// let mut total = Counts::new(1, 0, 0);
    /// total.merge_times(&Counts::new(2, 1, 0), 3);
    /// assert_eq!(total, Counts::new(7, 3, 0));
    /// ```
    fn merge_times(&mut self, other: &Self, times: u64)
    where
        Self: Clone,
    {
        for _ in 0..times {
            self.merge(other.clone());
        }
    }

    /// Returns the bytes of the rows that the state keeps of each example, such as scores that are to be sorted. By
    /// default there are none: counts and sums take the same memory for any number of examples.
    fn row_bytes(&self) -> u64 {
        0
    }

    /// Lists the whole numbers of the state by the names of their fields, those of states within it included. A number
    /// by itself has the name that is given. By default there are none.
    ///
    /// ```
    /// use metric_core::{Accuracy, Merge};
    ///
    /// let mut counts = Vec::new();
    /// Accuracy { correct: 2, total: 3 }.counts("accuracy", &mut counts);
    /// assert_eq!(counts, [("correct", 2), ("total", 3)]);
    /// ```
    fn counts(&self, name: &'static str, list: &mut Vec<(&'static str, u64)>) {
        let _ = (name, list);
    }

    /// Lists the numbers that a merge adds, if all scores of the state are read from such numbers. Otherwise this
    /// returns `false`, as it does by default. There are always as many, in the same order.
    ///
    /// The sum of many states is then a sum of columns of numbers, which is many times faster than merging them.
    ///
    /// ```
    /// use metric_core::{Accuracy, Addends, Merge};
    ///
    /// let mut accuracy = Accuracy { correct: 2, total: 3 };
    /// let mut addends = Addends::default();
    /// assert!(accuracy.addends(&mut addends));
    /// assert_eq!(addends.counts, [&2, &3]);
    /// ```
    fn addends<'s>(&'s mut self, list: &mut Addends<'s>) -> bool {
        let _ = list;
        false
    }
}

/// The numbers that add up when states merge: see [`Merge::addends`].
#[derive(Debug, Default)]
pub struct Addends<'s> {
    /// Whole numbers.
    pub counts: Vec<&'s mut u64>,
    /// Means.
    pub means: Vec<&'s mut Mean>,
}

/// A count.
impl Merge for u64 {
    #[inline]
    fn merge(&mut self, other: Self) {
        *self += other;
    }

    #[inline]
    fn merge_times(&mut self, other: &Self, times: u64) {
        *self += other * times;
    }

    fn counts(&self, name: &'static str, list: &mut Vec<(&'static str, u64)>) {
        list.push((name, *self));
    }

    fn addends<'s>(&'s mut self, list: &mut Addends<'s>) -> bool {
        list.counts.push(self);
        true
    }
}

/// States side by side, each merged with its own.
impl<S: Merge + Clone, const LEN: usize> Merge for [S; LEN]
where
    Self: Default,
{
    fn merge(&mut self, other: Self) {
        let pairs = self.iter_mut().zip(other);
        pairs.for_each(|(ours, theirs)| ours.merge(theirs));
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        let pairs = self.iter_mut().zip(other);
        pairs.for_each(|(ours, theirs)| ours.merge_times(theirs, times));
    }

    fn addends<'s>(&'s mut self, list: &mut Addends<'s>) -> bool {
        self.iter_mut().all(|state| state.addends(list))
    }
}

/// States by position. The list grows to the longer one.
impl<S: Merge + Clone> Merge for Vec<S> {
    fn merge(&mut self, other: Self) {
        if self.len() < other.len() {
            self.resize_with(other.len(), S::default);
        }
        let pairs = self.iter_mut().zip(other);
        pairs.for_each(|(ours, theirs)| ours.merge(theirs));
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times > 0 && self.len() < other.len() {
            self.resize_with(other.len(), S::default);
        }
        let pairs = self.iter_mut().zip(other);
        pairs.for_each(|(ours, theirs)| ours.merge_times(theirs, times));
    }
}

/// A state that may be missing: merged with nothing it stays as it is.
impl<S: Merge + Clone> Merge for Option<S> {
    fn merge(&mut self, other: Self) {
        if let Some(other) = other {
            self.get_or_insert_default().merge(other);
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if let Some(other) = other
            && times > 0
        {
            self.get_or_insert_default().merge_times(other, times);
        }
    }
}

/// Implements [`Merge`] for tuples: the states of several metrics, each merged with its own.
macro_rules! merge_tuples {
    ($(($($state:ident $index:tt),+);)+) => {$(
        impl<$($state: Merge + Clone),+> Merge for ($($state,)+) {
            fn merge(&mut self, other: Self) {
                $(self.$index.merge(other.$index);)+
            }

            fn merge_times(&mut self, other: &Self, times: u64) {
                $(self.$index.merge_times(&other.$index, times);)+
            }
        }
    )+};
}

merge_tuples! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
}

/// Implements [`Merge`] for maps of states by key.
macro_rules! merge_maps {
    ($($(#[$about:meta])* [$($bounds:tt)+] $map:ty;)+) => {$(
        $(#[$about])*
        impl<$($bounds)+> Merge for $map {
            fn merge(&mut self, other: Self) {
                for (key, state) in other {
                    self.entry(key).or_default().merge(state);
                }
            }

            fn merge_times(&mut self, other: &Self, times: u64) {
                if times == 0 {
                    return;
                }
                for (key, state) in other {
                    // Most keys are not new, and need no copy.
                    let mine = match self.get_mut(key) {
                        Some(mine) => mine,
                        None => self.entry(key.clone()).or_default(),
                    };
                    mine.merge_times(state, times);
                }
            }
        }
    )+};
}

merge_maps! {
    /// States by key. Merged zero times, they add no key.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use metric_core::Merge;
    ///
    /// let mut letters = BTreeMap::from([("a", 1_u64), ("b", 1)]);
    /// letters.merge_times(&BTreeMap::from([("b", 2), ("c", 1)]), 3);
    /// assert_eq!(letters, BTreeMap::from([("a", 1), ("b", 7), ("c", 3)]));
    ///
    /// letters.merge_times(&BTreeMap::from([("d", 1)]), 0);
    /// assert_eq!(letters.len(), 3);
    /// ```
    [K: Ord + Clone, S: Merge + Clone] BTreeMap<K, S>;

    /// States by key, in no order: sort the keys before anything that depends on it.
    [K: Eq + Hash + Clone, S: Merge + Clone, H: BuildHasher + Default] HashMap<K, S, H>;
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_map, vec};
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn laws_of_merge(
            states in vec((option::of(0_u64..5), btree_map(0_u8..4, (0_u64..5, 0_u64..5, 0_u64..5), 0..4)), 0..6),
            times in 0_u64..4,
        ) {
            crate::laws::check(&states);
            // A map without an order holds what one with an order does.
            let mut sorted = BTreeMap::new();
            let mut hashed = HashMap::new();
            for (_, state) in &states {
                let other: HashMap<_, _> = state.clone().into_iter().collect();
                sorted.merge_times(state, times);
                hashed.merge_times(&other, times);
                // The standard library will have a method of this name.
                Merge::merge(&mut sorted, state.clone());
                Merge::merge(&mut hashed, other);
            }
            prop_assert_eq!(hashed.into_iter().collect::<BTreeMap<_, _>>(), sorted);
        }
    }

    #[test]
    fn a_missing_state_is_neutral() {
        let mut state = None;
        state.merge(None);
        assert_eq!(state, None::<u64>);
        state.merge_times(&Some(2), 0);
        assert_eq!(state, None);
        state.merge_times(&Some(2), 3);
        state.merge(Some(1));
        assert_eq!(state, Some(7));
    }
}
