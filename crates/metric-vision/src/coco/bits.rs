//! Sets of curves as bits.

/// The positions of the bits that are set.
pub(super) fn ones(words: &[u64]) -> Ones<'_> {
    let (first, rest) = words.split_first().unwrap_or((&0, &[]));
    Ones {
        bits: *first,
        start: 0,
        rest,
    }
}

/// See [`ones`].
pub(super) struct Ones<'a> {
    /// The bits of the current word that have not been visited.
    bits: u64,
    /// The index of the first bit of the current word.
    start: usize,
    rest: &'a [u64],
}

impl Iterator for Ones<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            let (first, rest) = self.rest.split_first()?;
            (self.bits, self.rest) = (*first, rest);
            self.start += 64;
        }
        let index = self.start + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(index)
    }
}
