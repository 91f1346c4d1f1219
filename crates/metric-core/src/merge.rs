use std::collections::BTreeMap;

/// State that pools. [`Default`] is the state of no examples.
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
}

/// Merges states by key, `times` times: [`Merge::merge_times`] for a map. Zero times adds
/// no key.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use metric_core::merge_map_times;
///
/// let mut letters = BTreeMap::from([("a", 1_u64), ("b", 1)]);
/// merge_map_times(&mut letters, &BTreeMap::from([("b", 2), ("c", 1)]), 3);
/// assert_eq!(letters, BTreeMap::from([("a", 1), ("b", 7), ("c", 3)]));
///
/// merge_map_times(&mut letters, &BTreeMap::from([("d", 1)]), 0);
/// assert_eq!(letters.len(), 3);
/// ```
pub fn merge_map_times<K: Ord + Clone, S: Merge + Clone>(
    states: &mut BTreeMap<K, S>,
    other: &BTreeMap<K, S>,
    times: u64,
) {
    if times == 0 {
        return;
    }
    for (key, state) in other {
        // Most keys are not new, and need no copy.
        let mine = match states.get_mut(key) {
            Some(mine) => mine,
            None => states.entry(key.clone()).or_default(),
        };
        mine.merge_times(state, times);
    }
}
