use metric_core::Sum;

/// The first and the last of the ranks, from 0, that a reference may have; each is as likely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankSpan {
    /// The best rank.
    pub first: usize,
    /// The worst rank.
    pub last: usize,
}

metric_core::written!(RankSpan { first, last });

impl RankSpan {
    pub(crate) fn width(self) -> u64 {
        (self.last.saturating_sub(self.first) as u64).saturating_add(1)
    }

    /// The number of ranks among the first `k`.
    pub(crate) fn within(self, k: usize) -> u64 {
        (k.saturating_sub(self.first) as u64).min(self.width())
    }

    /// The mean of 1 / rank, where ranks count from 1 and those after the first `cutoff` give 0.
    pub(crate) fn mean_reciprocal(self, cutoff: usize) -> f64 {
        // Term by term as far as ties of real classes go; a state from a file may say anything.
        const TERMS: usize = 1 << 20;
        let end = self.last.saturating_add(1).min(cutoff);
        let tail = self.first.saturating_add(TERMS).min(end);
        let terms = (self.first..tail).map(|rank| 1.0 / (rank as f64 + 1.0));
        let mut sum: Sum = terms.collect();
        if tail < end {
            sum.add(reciprocals(tail as f64 + 1.0, end as f64));
        }
        sum.value() / self.width() as f64
    }
}

/// The sum of 1 / n over the whole numbers from `first` to `last`, by the formula of Euler and
/// Maclaurin up to the square: starting at 2^20, the terms left out are below the last digit.
fn reciprocals(first: f64, last: f64) -> f64 {
    let ends = |power: i32| (first.powi(-power), last.powi(-power));
    let ((a, b), (a2, b2)) = (ends(1), ends(2));
    ((last - first) / first).ln_1p() + (a + b) / 2.0 + (a2 - b2) / 12.0
}
