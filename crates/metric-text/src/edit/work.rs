use std::fmt;
use std::hash::Hash;

use super::{EditRate, edit_distance_within};

/// The largest product of the two lengths, or of the distance and the longer length, that is aligned: a few
/// minutes of work. Two texts of up to a million units always fit.
pub const MOST_WORK: u64 = 1 << 40;

/// A pair of texts whose alignment would take hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuchWork {
    /// The number of units of the longer text.
    pub units: usize,
    /// The largest distance at which texts of this length are aligned.
    pub distance: usize,
}

impl fmt::Display for TooMuchWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { units, distance } = self;
        write!(
            f,
            "too long to be aligned with its reference: a text of {units} units may have {distance} errors, and this has more"
        )
    }
}

impl std::error::Error for TooMuchWork {}

/// Refuses lists whose distance would take more than [`MOST_WORK`] to compute, as far as it is at most
/// `limit`.
///
/// Alignments have no limit of their own. A program that reads untrusted data calls this first.
///
/// ```
/// use metric_text::edit::check_work;
///
/// let (long, short) = (vec![0_u8; 4_000_000], vec![1; 300_000]);
/// let error = check_work(&long, &short, usize::MAX).unwrap_err();
/// assert_eq!((error.units, error.distance), (4_000_000, 274_877)); // 2^40 / 4,000,000
/// assert_eq!(check_work(&long, &long, usize::MAX), Ok(()));
/// assert_eq!(check_work(&long, &short, 1_000), Ok(())); // 1,000 errors are soon exceeded
/// ```
///
/// # Errors
///
/// Returns an error if the distance may be up to `limit` and is larger than the work allows.
///
/// # Cost
///
/// Nothing for lists whose product of lengths is within the limit; at most [`MOST_WORK`] for others.
pub fn check_work<T: Eq + Hash>(
    reference: &[T],
    prediction: &[T],
    limit: usize,
) -> Result<(), TooMuchWork> {
    within(MOST_WORK, reference, prediction, limit)
}

fn within<T: Eq + Hash>(
    work: u64,
    reference: &[T],
    prediction: &[T],
    limit: usize,
) -> Result<(), TooMuchWork> {
    let [rows, columns] = [reference.len(), prediction.len()];
    // A distance is at least the difference of the lengths.
    if product(rows, columns) <= work || rows.abs_diff(columns) > limit {
        return Ok(());
    }
    let longer = rows.max(columns);
    let most = usize::try_from(work / longer as u64).unwrap_or(usize::MAX);
    let is_near = || {
        rows.abs_diff(columns) <= most
            && edit_distance_within(reference, prediction, most).is_some()
    };
    if limit <= most || is_near() {
        return Ok(());
    }
    Err(TooMuchWork {
        units: longer,
        distance: most,
    })
}

/// Whether texts of these lengths in bytes are aligned whatever they are: text mostly has no more units than
/// bytes.
pub(crate) fn is_little_work(bytes: usize, other_bytes: usize) -> bool {
    product(bytes, other_bytes) <= MOST_WORK
}

fn product(a: usize, b: usize) -> u64 {
    (a as u64).saturating_mul(b as u64)
}

impl EditRate {
    /// Refuses texts whose alignment would take hours: see [`check_work`].
    ///
    /// ```
    /// use metric_text::EditRate;
    ///
    /// assert_eq!(EditRate::default().check_work("the cat", "the black cat"), Ok(()));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the texts differ in more units than the work allows.
    pub fn check_work(&self, prediction: &str, reference: &str) -> Result<(), TooMuchWork> {
        if is_little_work(prediction.len(), reference.len()) {
            return Ok(());
        }
        let normalized = [reference, prediction].map(|text| self.normalizer.apply(text));
        let split = |text| self.unit.split(text, self.profile);
        let [reference, prediction] = normalized.each_ref().map(|text| split(text));
        check_work(&reference, &prediction, usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_by_hand() {
        let (zeros, ones) = ([0; 10], [1; 10]);
        // 10 × 10 pairs fit into 100, and a distance of 3 into 30 of 10 units.
        assert_eq!(within(100, &zeros, &ones, usize::MAX), Ok(()));
        let refused = TooMuchWork {
            units: 10,
            distance: 3,
        };
        assert_eq!(within(30, &zeros, &ones, usize::MAX), Err(refused));
        let mut near = zeros;
        near[3..6].copy_from_slice(&[1; 3]);
        assert_eq!(within(30, &zeros, &near, usize::MAX), Ok(()));
        near[7] = 1;
        assert_eq!(within(30, &zeros, &near, usize::MAX), Err(refused));
        // A distance that nobody asks for costs nothing.
        assert_eq!(within(30, &zeros, &ones, 3), Ok(()));
        assert_eq!(within(30, &zeros, &ones[..5], 4), Ok(()));
        assert!(within(30, &zeros, &ones[..5], 5).is_err());
        assert_eq!(within(0, &zeros[..0], &ones, usize::MAX), Ok(()));
        assert_eq!(
            refused.to_string(),
            "too long to be aligned with its reference: a text of 10 units may have 3 errors, and this has more"
        );
    }
}
