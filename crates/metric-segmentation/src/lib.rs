//! Label maps and panoptic segments.
#![forbid(unsafe_code)]

mod boundary;
mod overlaps;
mod panoptic;

pub use boundary::{Boundaries, BoundaryRow, boundary_distance};
pub use overlaps::{IdPair, Overlaps, PixelCounts, TooManyIds};
pub use panoptic::*;
#[cfg(feature = "read")]
pub mod read;

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
