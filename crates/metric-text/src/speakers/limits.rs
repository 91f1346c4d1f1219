//! What a session may take.

use std::fmt;

use super::Speech;
use crate::edit::{Cells, OutOfCells};

/// The most speakers of a side that are paired.
pub const MOST_SPEAKERS: usize = 1000;

/// The most bytes that a table of a session may take: 1 GB.
pub const MOST_BYTES: u64 = 1_000_000_000;

/// The cells of [`Cells`] that are computed in the time of one cell of a table in which units may be paired only where their
/// times meet: each is computed on its own, and compares times.
pub(super) const TIMED_CELLS: u64 = 80;

/// What a session may take.
pub(super) struct Budget {
    pub(super) cells: Cells,
    bytes: u64,
}

impl Budget {
    pub(super) fn new(cells: u64) -> Self {
        Self {
            cells: Cells::new(cells),
            bytes: MOST_BYTES,
        }
    }

    /// More than any session takes that can be scored at all.
    pub(super) fn unlimited() -> Self {
        Self {
            cells: Cells::unlimited(),
            bytes: i64::MAX.unsigned_abs(),
        }
    }

    /// Returns an error if a table of so many cells takes too much memory.
    pub(super) fn check_memory(&self, cells: u64, size: usize) -> Result<(), OutOfCells> {
        if cells.saturating_mul(size as u64) > self.bytes {
            return Err(OutOfCells);
        }
        Ok(())
    }
}

/// The error for a session that takes too long or too much memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TooLarge {
    /// A side has more speakers than are paired.
    Speakers {
        /// The number of speakers of the reference.
        speakers: usize,
        /// The number of streams of the prediction.
        streams: usize,
    },
    /// A search or an alignment takes more cells or more memory than allowed.
    Cells {
        /// The number of units of each stream that segments are assigned to.
        streams: Vec<usize>,
        /// The number of cells that was allowed. A cell counts as often as it takes longer than one of an edit distance: 80
        /// times in a table with times.
        max_cells: u64,
    },
}

impl TooLarge {
    pub(super) fn new(streams: &Speech, max_cells: u64) -> Self {
        let mut lengths = vec![0; streams.speakers.len()];
        for (index, (speaker, ..)) in streams.segments.iter().enumerate() {
            lengths[*speaker] += streams.range(index).len();
        }
        Self::Cells {
            streams: lengths,
            max_cells,
        }
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Speakers { speakers, streams } => write!(
                f,
                "{speakers} speakers of the reference and {streams} of the prediction: expected at most {MOST_SPEAKERS}"
            ),
            Self::Cells { streams, max_cells } => {
                /// Longer lists are not read.
                const SHOWN: usize = 10;
                let lengths = streams.iter().take(SHOWN).map(usize::to_string);
                let lengths = lengths.collect::<Vec<_>>().join(", ");
                let more = if streams.len() > SHOWN { ", …" } else { "" };
                write!(
                    f,
                    "comparing with streams of {lengths}{more} units takes more than {max_cells} cells or 1 GB of memory"
                )
            }
        }
    }
}

impl std::error::Error for TooLarge {}
