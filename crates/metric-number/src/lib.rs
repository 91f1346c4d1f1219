#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod exact;
#[cfg(test)]
mod laws;
mod rank_correlation;
mod ranks;
mod regression;

pub use error::NumbersError;
pub use rank_correlation::{
    RankCorrelation, RankCorrelationScore, RankCorrelationState, kendall, spearman,
};
pub use regression::{
    Regression, RegressionProfile, RegressionScore, RegressionState, pearson, regression,
};

pub use metric_core::{Merge, Metric, NamedScores};

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
