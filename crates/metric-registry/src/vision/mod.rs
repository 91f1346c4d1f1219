//! Detections.

pub(crate) mod coco;
pub(crate) mod detection;
pub(crate) mod errors;
mod findings;
pub(crate) mod image_key;
mod images;
pub(crate) mod voc;
