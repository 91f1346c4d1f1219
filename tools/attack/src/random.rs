/// The same numbers on each run (xorshift64).
pub(super) struct Random(u64);

impl Random {
    /// The numbers of a seed other than 0.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number of 53 bits.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// A whole number from 0 to below this.
    pub(super) fn index(&mut self, count: usize) -> usize {
        self.next() as usize % count
    }

    /// A number from 0 to below this.
    pub(super) fn below(&mut self, most: f64) -> f64 {
        self.next() as f64 / (1_u64 << 53) as f64 * most
    }
}
