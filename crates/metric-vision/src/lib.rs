#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bbox;
mod candidates;
mod detection;
pub mod matching;

pub use bbox::{BBox, BoxFormat, InvalidBox, iou, iou_by_corners, iou_crowd};
pub use detection::{
    Detection, DetectionScore, DetectionState, Detections, InvalidThreshold, Profile,
};
pub use matching::Matching;

/// The version of this crate, as it stands in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
