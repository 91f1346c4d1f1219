//! Scores of detections as states keep them.

use metric_core::{Malformed, Reader, Writer, Written};

/// The order of scores: as whole numbers, so that NaN compares as well, and no text format rounds
/// or refuses them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u64);

/// The whole number.
impl Written for Rank {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let rank = Self(u64::read(from)?);
        if Self::new(rank.score()) == rank {
            Ok(rank)
        } else {
            Err("expected the rank of a score".into())
        }
    }
}

impl Rank {
    const SIGN: u64 = 1 << 63;

    /// No score, and NaN, are the least, below −∞.
    pub(crate) fn new(score: impl Into<Option<f64>>) -> Self {
        let Some(score) = score.into().filter(|score| !score.is_nan()) else {
            return Self(0);
        };
        // Adding 0 makes one number of the two zeros, whose bits differ.
        let bits = (score + 0.0).to_bits();
        Self(if bits & Self::SIGN == 0 {
            bits | Self::SIGN
        } else {
            !bits
        })
    }

    /// The rank as a whole number.
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// The score; NaN if there is none.
    pub(crate) fn score(self) -> f64 {
        f64::from_bits(if self.0 & Self::SIGN == 0 {
            !self.0
        } else {
            self.0 & !Self::SIGN
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_keep_scores() {
        let scores = [
            f64::NEG_INFINITY,
            -1.5,
            -1e-320,
            0.0,
            1e-320,
            0.5,
            f64::INFINITY,
        ];
        let ranks = scores.map(Rank::new);
        assert!(ranks.is_sorted_by(|a, b| a < b));
        assert_eq!(ranks.map(Rank::score), scores);
        assert_eq!(Rank::new(-0.0), Rank::new(0.0));
        for nothing in [None, Some(f64::NAN), Some(-f64::NAN)] {
            assert!(Rank::new(nothing) < ranks[0]);
            assert_eq!(Rank::new(nothing), Rank::default());
            assert!(Rank::new(nothing).score().is_nan());
        }
    }
}
