use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// One of N parts of a data set, told by the ids of its records: shard I holds the ids whose FNV-1a hash of
/// 64 bits is I modulo N.
///
/// The shard of an id depends only on the id, so references and predictions can be divided on machines that do not know
/// of each other.
///
/// ```
/// use metric_record::{Shard, fnv1a};
///
/// // The published test vector of FNV-1a.
/// assert_eq!(fnv1a("foobar"), 0x85944171f73967e8);
/// let shard: Shard = "0/8".parse()?;
/// assert!(shard.holds("foobar"));
/// assert!("8/8".parse::<Shard>().is_err());
/// # Ok::<(), metric_record::InvalidShard>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    index: u32,
    count: NonZeroU32,
}

impl Shard {
    /// Returns shard `index` of `count`, counted from 0.
    ///
    /// # Errors
    ///
    /// Returns an error if `index` is not below `count`.
    pub fn new(index: u32, count: u32) -> Result<Self, InvalidShard> {
        match NonZeroU32::new(count) {
            Some(count) if index < count.get() => Ok(Self { index, count }),
            _ => Err(InvalidShard),
        }
    }

    /// Returns which shard this is, counted from 0.
    #[must_use]
    pub fn index(self) -> u32 {
        self.index
    }

    /// Returns the number of shards.
    #[must_use]
    pub fn count(self) -> u32 {
        self.count.get()
    }

    /// Returns whether the record with this id belongs to the shard.
    #[must_use]
    pub fn holds(self, id: &str) -> bool {
        fnv1a(id) % u64::from(self.count.get()) == u64::from(self.index)
    }
}

/// Returns the FNV-1a hash of a text, 64 bits (Fowler, Noll, Vo).
#[must_use]
pub fn fnv1a(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

/// A text that is not a [`Shard`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidShard;

impl fmt::Display for InvalidShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected I/N with I from 0 to N-1, for example 0/8")
    }
}

impl std::error::Error for InvalidShard {}

impl FromStr for Shard {
    type Err = InvalidShard;

    fn from_str(text: &str) -> Result<Self, InvalidShard> {
        let digits = |text: &str| {
            let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| text.parse().ok()).flatten()
        };
        let (index, count) = text.split_once('/').ok_or(InvalidShard)?;
        let (index, count) = digits(index).zip(digits(count)).ok_or(InvalidShard)?;
        Self::new(index, count)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}
