#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod classification;
mod scores;
mod top_k;

pub use classification::{
    Average, Classification, ConfusionMatrix, PrecisionRecallF1, ZeroDivision,
};
pub use scores::{
    InvalidWeight, RankSpan, RankTable, RankTally, Score, ScoreError, ScoresError, Target,
    TiedRank, Ties, TopK, binary_top_k_accuracy, tied_rank, top_k_accuracy,
};
pub use top_k::{AccuracyAtK, InvalidK, Ranks, TopKError, accuracy_at_k, label_rows};

/// The version of this crate, as it stands in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
