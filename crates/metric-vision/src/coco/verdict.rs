//! The outcome of a detection, in as few bits as a state of millions of them needs.

use std::fmt;

use metric_core::{Malformed, Reader, Writer, Written};

/// Where a detection is wrong, or where its [`Details`] are.
///
/// ```text
///   31 30                                 0
///  +--+------------------------------------+
///  | 0| area ranges, one bit each           |   wrong in these at every threshold
///  +--+------------------------------------+
///  | 1| index among the details of its image |   correct, or different from threshold to threshold
///  +--+------------------------------------+
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Verdict(u32);

/// The number.
impl Written for Verdict {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        u32::read(from).map(Self)
    }
}

/// The bit that tells the two apart.
const DETAILED: u32 = 1 << 31;

impl Verdict {
    /// The verdict on a detection that is wrong in these area ranges at every threshold, and does not count in others.
    #[inline]
    pub(super) fn wrong_in(areas: u32) -> Self {
        Self(areas & !DETAILED)
    }

    /// The verdict on a detection whose details are at this index.
    #[inline]
    pub(super) fn detailed(index: u32) -> Self {
        Self(DETAILED | index)
    }

    /// The index of its details, if it has any.
    #[inline]
    pub(super) fn details(self) -> Option<usize> {
        (self.0 & DETAILED != 0).then_some((self.0 & !DETAILED) as usize)
    }

    /// The area ranges in which it is wrong at every threshold, one bit each, of a verdict without details.
    #[inline]
    pub(super) fn areas(self) -> u32 {
        self.0
    }

    /// Whether it is wrong in an area range at every threshold, of a verdict without details.
    #[inline]
    pub(super) fn is_wrong_in(self, area: u32) -> bool {
        self.0 >> area & 1 == 1
    }
}

impl fmt::Debug for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.details() {
            Some(index) => write!(f, "Details({index})"),
            None => write!(f, "WrongIn({:#b})", self.0),
        }
    }
}

/// The curves for which a detection is correct, and those for which it is wrong. For others it does not count.
///
/// Each half has a bit for each area range and threshold: the bit of area range `a` and threshold `t`, of `n` thresholds,
/// is bit `a * n + t`, counted from the lowest bit of the first word.
#[derive(Clone, Copy)]
pub(super) struct Details<'a> {
    pub(super) correct: &'a [u64],
    pub(super) wrong: &'a [u64],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_forms_differ() {
        let wrong = Verdict::wrong_in(0b101);
        assert_eq!((wrong.details(), wrong.areas()), (None, 5));
        assert_eq!(
            [0, 1, 2].map(|area| wrong.is_wrong_in(area)),
            [true, false, true]
        );
        // A bit beyond the last area range does not make it a verdict with details.
        assert_eq!(Verdict::wrong_in(u32::MAX).details(), None);
        for index in [0, 7, (1 << 31) - 1] {
            assert_eq!(Verdict::detailed(index).details(), Some(index as usize));
        }
        assert_eq!(
            format!("{wrong:?} {:?}", Verdict::detailed(2)),
            "WrongIn(0b101) Details(2)"
        );
    }
}
