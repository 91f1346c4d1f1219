#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "read")]
#[cfg_attr(docsrs, doc(cfg(feature = "read")))]
pub mod read;

mod boundary;
mod overlaps;
mod panoptic;
mod rows;

pub use boundary::{Boundaries, BoundaryRow, boundary_distance};
pub use overlaps::{IdPair, Overlaps, PixelCounts, TooManyIds};
pub use panoptic::{
    CategoryState, Matching, MatchingRules, Oddities, PanopticError, PanopticQuality,
    PanopticScore, PanopticState, Quality, Segment, SegmentIou, SegmentMatch, VOID,
    match_segments,
};
pub use rows::{LabelRow, for_each_run};

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
