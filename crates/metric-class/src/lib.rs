#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod classification;
mod columns;
mod labels;
mod top_k;

pub use classification::{
    Average, Classification, ConfusionMatrix, PrecisionRecallF1, ZeroDivision,
};
pub use columns::{confusion_matrix, label_ranks};
pub use labels::{AccuracyAtK, InvalidK, LabelsError, Ranks, accuracy_at_k, label_rows};
pub use top_k::{
    InvalidWeight, RankSpan, RankTable, RankTally, Score, ScoreError, ScoresError, Target,
    TiedRank, Ties, TopK, binary_top_k_accuracy, tied_rank, top_k_accuracy,
};

/// The version of this crate, as it stands in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
