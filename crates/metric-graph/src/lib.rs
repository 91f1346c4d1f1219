#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod align;
mod clip;
mod coded;
mod correspondence;
mod findings;
#[cfg(feature = "serde")]
mod read;
mod value;

pub use align::{AlignedRules, Alignment};
pub use clip::{Clip, DuplicateRule, LaneId, LaneIds, Node, Rule};
pub use correspondence::{
    CorrespondenceScore, CorrespondenceState, Duplicates, LaneCorrespondence, Overall, Parts,
    Profile, RatioMeans, Ratios, Scenes,
};
pub use findings::{Finding, FindingCounts, FindingKind, Side};
#[cfg(feature = "serde")]
pub use read::Centerlines;
pub use value::{DuplicateProperty, List, Number, Properties, Value};

/// The version of this crate, as it stands in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
