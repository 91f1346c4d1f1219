#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "read")]
#[cfg_attr(docsrs, doc(cfg(feature = "read")))]
pub mod read;

mod boundary;
mod cityscapes;
mod confusion;
#[cfg(test)]
mod laws;
mod overlaps;
mod panoptic;
mod panoptic_sum;
mod rows;
mod scores;
mod segmentation;
#[cfg(test)]
mod tests;

pub use boundary::{Boundaries, BoundaryRow};
pub use confusion::{ConfusionSum, Observed, PixelConfusions};
pub use overlaps::{IdPair, Overlaps, PixelCounts, TooManyIds};
pub use panoptic::{
    CategoryState, Matching, MatchingRules, Oddities, PanopticError, PanopticQuality,
    PanopticScore, PanopticState, Quality, Segment, SegmentIou, SegmentMatch, VOID, match_segments,
};
pub use panoptic_sum::PanopticSum;
pub use rows::{LabelRow, for_each_run};
pub use scores::{ClassPixels, SegmentationScores};
pub use segmentation::{PixelCounter, Segmentation, SegmentationError, SegmentationProfile};

pub use metric_core::{Merge, Metric, NamedScores, boundary_distance};

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
