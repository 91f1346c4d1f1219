//! Label maps and panoptic segments.
#![forbid(unsafe_code)]

mod boundary;
mod overlaps;
mod panoptic;

pub use boundary::{Boundaries, BoundaryRow, boundary_distance};
pub use overlaps::{IdPair, Overlaps, PixelCounts, TooManyIds};
pub use panoptic::*;
