#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod accuracy_by_k;
mod binary;
mod calibration;
mod class_scores;
mod classification;
mod columns;
mod label_confusions;
mod labels;
#[cfg(test)]
mod laws;
mod multilabel;
mod multilabel_scores;
mod rank_span;
mod top_k;

pub use accuracy_by_k::AccuracyByK;
pub use binary::BinaryScores;
pub use calibration::{Calibration, CalibrationBin};
pub use class_scores::{
    BinRule, ClassScores, Convention, Curves, MultiClass, Norm, PrecisionRecallCurve, Reliability,
    ReliabilityBin, RocCurve, RowSums, ScoreAverage, ScoreRows, ScoreTable, ScoreValues,
    average_precision, roc_auc,
};
pub use classification::{
    Average, Classification, ConfusionMatrix, KappaWeights, PrecisionRecallF1, ZeroDivision,
};
pub use columns::{confusion_matrix, label_ranks};
pub use label_confusions::{LabelConfusions, LabelRef, ShortLabels};
pub use labels::{AccuracyAtK, InvalidK, LabelsError, Ranks, accuracy_at_k, label_rows};
pub use multilabel::{
    ClassCounts, Multilabel, MultilabelAverage, MultilabelProfile, MultilabelState, SetScores,
};
pub use rank_span::RankSpan;
pub use top_k::{
    InvalidWeight, RankTable, RankTally, Score, ScoreError, ScoresError, Target, TiedRank, Ties,
    TopK, binary_top_k_accuracy, tied_rank, top_k_accuracy,
};

pub use metric_core::{Key, Merge, Metric, NamedScores};

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The greatest number of examples in a written state: more than there are, and counts up to this
/// are exact in `f64`.
const MOST_EXAMPLES: u64 = 1 << 53;

/// Checks that the counts of a written state add up to a number that can be counted.
fn check_total(mut counts: impl Iterator<Item = u64>) -> Result<(), &'static str> {
    let add = |total: u64, count| total.checked_add(count).filter(|it| *it <= MOST_EXAMPLES);
    let total = counts.try_fold(0, add);
    total
        .map(|_| ())
        .ok_or("invalid counts: expected at most 2^53 examples")
}
