#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(test)]
mod laws;
mod order;
mod retrieval;
mod ties;
mod topic;
mod trec;

pub use order::{ScorePrecision, rank};
pub use retrieval::{Retrieval, RetrievalProfile, RetrievalState};
pub use ties::{RankError, ndcg_of_scores};
pub use topic::{Gains, RecallLevels, Topic};
pub use trec::{Cutoffs, TREC_MEASURES, TrecMeasure};

pub use metric_core::Merge;

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
