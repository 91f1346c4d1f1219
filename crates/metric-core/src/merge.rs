/// Evidence that pools. [`Default`] is the evidence of no examples.
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
    /// Adds the evidence of `other` to this.
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
