use std::fmt;

use metric_core::{Addends, Malformed, Merge, Reader, Writer, Written};

/// The fewest and the most references of an example.
///
/// ```
/// use metric_core::Merge;
/// use metric_text::bleu::ReferenceCounts;
///
/// let mut counts = ReferenceCounts::of(2);
/// assert_eq!(counts.to_string(), "2");
/// counts.merge(ReferenceCounts::of(1));
/// assert_eq!(counts.range(), Some((1, 2)));
/// assert_eq!(counts.to_string(), "var");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReferenceCounts {
    range: Option<(u64, u64)>,
}

impl ReferenceCounts {
    /// Returns the counts of one example with this many references.
    #[must_use]
    pub fn of(references: usize) -> Self {
        let references = references as u64;
        Self {
            range: Some((references, references)),
        }
    }

    /// Returns the fewest and the most references; `None` without examples.
    #[must_use]
    pub fn range(&self) -> Option<(u64, u64)> {
        self.range
    }
}

impl Merge for ReferenceCounts {
    fn merge(&mut self, other: Self) {
        self.range = match (self.range, other.range) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times > 0 {
            self.merge(*other);
        }
    }

    /// No score is read from the number of references.
    fn addends<'s>(&'s mut self, _: &mut Addends<'s>) -> bool {
        true
    }
}

impl Written for ReferenceCounts {
    fn write(&self, to: &mut Writer) {
        self.range.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match Option::read(from)? {
            Some((fewest, most)) if fewest > most => {
                Err("expected the fewest references before the most".into())
            }
            range => Ok(Self { range }),
        }
    }
}

/// The number of references, or `var` if it varies, as in signatures. Without examples it is 0.
impl fmt::Display for ReferenceCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.range.unwrap_or_default() {
            (fewest, most) if fewest == most => write!(f, "{fewest}"),
            _ => f.write_str("var"),
        }
    }
}
