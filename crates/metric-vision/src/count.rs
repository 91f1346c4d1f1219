//! Counts of states, which cannot overflow: states are read from files that may hold any numbers.

use metric_core::Counts;

/// The largest count. Sums of four such counts fit into a `u64`, which the ratios of [`Counts`] need.
pub(crate) const MOST: u64 = u64::MAX / 4;

/// The largest count that is read from a file. Ratios of larger ones are not exact, and no data set
/// is that large.
pub(crate) const MOST_READ: u64 = 1 << 53;

/// Checks counts that were read from a file.
pub(crate) fn check(counts: impl IntoIterator<Item = u64>) -> Result<(), &'static str> {
    if counts.into_iter().fold(0, u64::saturating_add) <= MOST_READ {
        Ok(())
    } else {
        Err("expected counts with a sum of at most 2^53")
    }
}

/// Adds `more` to `total` `times` times.
pub(crate) fn add(total: &mut u64, more: u64, times: u64) {
    *total = total.saturating_add(more.saturating_mul(times)).min(MOST);
}

/// [`add`] for each of three counts.
pub(crate) fn add_counts(total: &mut Counts, more: Counts, times: u64) {
    add(&mut total.true_positives, more.true_positives, times);
    add(&mut total.false_positives, more.false_positives, times);
    add(&mut total.false_negatives, more.false_negatives, times);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_that_overflow() {
        for (total, more, times, expected) in [
            (1, 2, 3, 7),
            (1, u64::MAX, 1, MOST),
            (u64::MAX, 1, 1, MOST),
            (0, 1 << 40, 1 << 40, MOST),
        ] {
            let mut sum = total;
            add(&mut sum, more, times);
            assert_eq!(sum, expected, "{total} + {more} * {times}");
        }
        let mut counts = Counts::default();
        add_counts(&mut counts, Counts::new(u64::MAX, u64::MAX, u64::MAX), 1);
        assert_eq!(counts.f1(), Some(0.5));
    }
}
