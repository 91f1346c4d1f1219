#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod align;
mod aligned_graphs;
mod breakdown;
mod clip;
mod coded;
mod correspondence;
mod definition;
pub mod distance;
mod edges;
mod equality;
mod findings;
#[cfg(test)]
mod laws;
mod limit;
mod nodes;
pub mod openlane;
mod picture;
mod polyline;
#[cfg(feature = "read")]
pub mod read;
#[cfg(feature = "read")]
mod scan;
mod typed;
mod value;

pub use align::AlignedRules;
pub use aligned_graphs::{AlignedGraphsScore, AlignedGraphsState, RecallState};
pub use breakdown::{ClassCounts, PropertyConfusion};
pub use clip::{Clip, DuplicateRule, LaneId, LaneIds, Node, Rule};
pub use correspondence::{CorrespondenceScore, CorrespondenceState, RatioMeans, Ratios, Scenes};
pub use definition::{
    AlignedGraphs, Alignment, Duplicates, LaneCorrespondence, LaneProfile, NodeRule, Overall, Parts,
};
pub use edges::{EdgeComparison, EdgeOutcome, EdgeReasons, EdgeTally};
pub use equality::{Equality, Form, UnknownLenience};
pub use findings::{Finding, FindingCounts, FindingKind, Side};
pub use limit::{Compared, TooLarge};
pub use nodes::{InvalidAlignment, NodeAlignment};
pub use picture::{Mark, Picture, PictureLink, PictureNode};
pub use polyline::{InvalidPolyline, Polyline};
#[cfg(feature = "read")]
pub use read::Centerlines;
pub use typed::{InvalidGraph, TypedEdge, TypedGraph, TypedNode};
pub use value::{DuplicateProperty, List, Number, Properties, Value};

pub use metric_core::{Merge, Metric, NamedScores};

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
