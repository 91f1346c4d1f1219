#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bbox;
mod candidates;
mod dataset;
mod detection;
pub mod matching;
#[cfg(feature = "read")]
pub mod read;
mod shape;

pub use bbox::{BBox, BoxFormat, InvalidBox, iou, iou_by_corners, iou_crowd};
pub use dataset::{Annotation, Class, Dataset, Image, InvalidDataset, Key, Prediction};
pub use detection::{
    Detection, DetectionScore, DetectionState, Detections, InvalidThreshold, Profile,
};
pub use matching::Matching;
pub use shape::Shape;

/// The version of this crate, as it stands in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
