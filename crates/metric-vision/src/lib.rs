#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod bbox;
mod boundary;
mod by_image;
mod candidates;
mod checked;
mod classes;
mod coco;
mod confusion;
mod count;
mod curve;
mod dataset;
mod detection;
mod federated;
mod geo;
mod keypoints;
#[cfg(all(test, feature = "read"))]
mod laws;
mod lvis;
mod mask;
pub mod matching;
mod meeting;
mod nearest;
mod numpy;
mod polygon;
#[cfg(feature = "read")]
pub mod read;
mod region;
mod rotated;
mod score;
mod shape;
mod sweep;
mod tide;
mod tree;
mod truth;
mod ultralytics;
mod voc;

use metric_core::parallel;

pub use bbox::{BBox, BoxFormat, InvalidBox, iou, iou_by_corners, iou_crowd};
pub use checked::{CheckedMetric, DynMetric};
pub use classes::{
    ClassState, ClassTotals, Classes, InvalidClasses, InvalidIndices, unite_classes,
};
pub use coco::{
    AreaRange, CocoAp, CocoArrays, CocoCurves, CocoParams, CocoSlice, CocoState, CocoSummary,
    CocoWeights, InvalidCocoParams, average_precision,
};
pub use confusion::{Confusion, ConfusionCell, ConfusionMatrix, ConfusionState};
pub use curve::{
    ClassCurves, Curve, CurvePoint, InvalidCurve, PrecisionRecall, PrecisionRecallScore,
    PrecisionRecallState, ScoreHistogram, macro_average,
};
pub use dataset::{Annotation, Class, Dataset, Image, InvalidDataset, Prediction};
pub use detection::{
    DetectionProfile, DetectionScore, DetectionState, Detections, InvalidThreshold, by_class,
};
pub use federated::{Federated, Frequency};
pub use keypoints::{InvalidSigmas, Keypoints, Sigmas};
pub use lvis::{DetectionLimit, LvisAp, LvisCounts, LvisCurves, LvisNotes, LvisState};
pub use mask::{InvalidMask, Mask};
pub use matching::{Detection, Matching, TooManyPairs, Truth};
pub use polygon::{InvalidPolygon, Polygon};
pub use rotated::{InvalidRotatedBox, RotatedBox};
pub use shape::Shape;
pub use sweep::{
    DetectionSweep, DetectionSweepParams, DetectionSweepScore, DetectionSweepState, InvalidSweep,
    SweepItem, SweepPoint,
};
pub use tide::{
    InvalidTide, Tide, TideErrorScore, TideErrorType, TideOracle, TideScore, TideState,
};
pub use ultralytics::{
    ObjectKind, OrientedBox, Ultralytics, UltralyticsClass, UltralyticsConfusion,
    UltralyticsCurves, UltralyticsProfile, UltralyticsScore, UltralyticsScores, UltralyticsState,
    YoloShape,
};
pub use voc::{Interpolation, VocAp, VocClass, VocScore, VocState, iou_plus_one};

pub use metric_core::{Key, Merge, Metric, NamedScores};

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
