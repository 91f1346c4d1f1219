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
}
