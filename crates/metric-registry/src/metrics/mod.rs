//! The metrics: a file for each, with all that the project knows of it outside its formula.

#[cfg(feature = "class")]
pub(crate) mod accuracy_at_k;
#[cfg(feature = "text")]
pub(crate) mod anls;
#[cfg(feature = "grid")]
pub(crate) mod arc;
#[cfg(feature = "text")]
pub(crate) mod bleu;
#[cfg(feature = "text")]
pub(crate) mod chrf;
#[cfg(feature = "class")]
pub(crate) mod classification;
#[cfg(feature = "class")]
pub(crate) mod classification_scores;
#[cfg(feature = "vision")]
pub(crate) mod coco;
#[cfg(feature = "code")]
pub(crate) mod codebleu;
#[cfg(feature = "vision")]
pub(crate) mod confusion_matrix;
#[cfg(feature = "vision")]
pub(crate) mod detection;
#[cfg(feature = "text")]
pub(crate) mod edit_similarity;
#[cfg(feature = "text")]
pub(crate) mod exact_match;
#[cfg(feature = "graph")]
pub(crate) mod lanes;
#[cfg(feature = "vision")]
pub(crate) mod lvis;
#[cfg(feature = "number")]
pub(crate) mod mean;
#[cfg(feature = "class")]
pub(crate) mod mrr;
#[cfg(feature = "class")]
pub(crate) mod multilabel;
#[cfg(feature = "graph")]
pub(crate) mod openlane;
#[cfg(feature = "segmentation")]
pub(crate) mod panoptic;
#[cfg(feature = "code")]
pub(crate) mod pass_at_k;
#[cfg(feature = "number")]
pub(crate) mod rank_correlation;
#[cfg(feature = "class")]
pub(crate) mod ranks;
#[cfg(feature = "number")]
pub(crate) mod regression;
#[cfg(feature = "text")]
pub(crate) mod relaxed_accuracy;
#[cfg(feature = "rank")]
pub(crate) mod retrieval;
#[cfg(feature = "text")]
pub(crate) mod rouge;
#[cfg(feature = "segmentation")]
pub(crate) mod segmentation;
#[cfg(feature = "text")]
pub(crate) mod speakers;
#[cfg(feature = "text")]
pub(crate) mod squad;
#[cfg(feature = "text")]
pub(crate) mod string_accuracy;
#[cfg(feature = "text")]
pub(crate) mod ter;
#[cfg(feature = "vision")]
pub(crate) mod tide;
#[cfg(feature = "vision")]
pub(crate) mod ultralytics;
#[cfg(feature = "vision")]
pub(crate) mod voc;
#[cfg(feature = "text")]
pub(crate) mod votes;
#[cfg(feature = "text")]
pub(crate) mod vqa;
#[cfg(feature = "text")]
pub(crate) mod wer;

use crate::Entry;

/// Lists entries with the feature that each needs.
macro_rules! entries {
    ($($feature:literal: $($module:ident::$entry:ident),+;)*) => {
        &[$($(#[cfg(feature = $feature)] $module::$entry,)+)*]
    };
}

/// All metrics, in the order in which they are listed, which means nothing else.
// A static, not a constant: every crate that uses a constant of these compiles all metrics again.
#[rustfmt::skip]
pub static ENTRIES: &[Entry] = entries! {
    "text": wer::WER, wer::CER, string_accuracy::STRING_ACCURACY, exact_match::EXACT_MATCH;
    "text": squad::SQUAD, vqa::VQA, anls::ANLS, relaxed_accuracy::RELAXED_ACCURACY;
    "text": edit_similarity::EDIT_SIMILARITY;
    "text": bleu::BLEU, chrf::CHRF, ter::TER, rouge::ROUGE;
    "text": speakers::CPWER, speakers::ORCWER, speakers::DICPWER;
    "code": codebleu::CODEBLEU, pass_at_k::PASS_AT_K;
    "class": classification::CLASSIFICATION, classification_scores::CLASSIFICATION_SCORES;
    "class": multilabel::MULTILABEL, accuracy_at_k::ACCURACY_AT_K, mrr::MRR;
    "rank": retrieval::RETRIEVAL;
    "number": regression::REGRESSION, rank_correlation::RANK_CORRELATION, mean::MEAN;
    "vision": coco::COCO, lvis::LVIS, voc::VOC, detection::DETECTION, tide::TIDE;
    "vision": confusion_matrix::CONFUSION_MATRIX, ultralytics::ULTRALYTICS;
    "segmentation": segmentation::SEGMENTATION, panoptic::PANOPTIC;
    "graph": lanes::LANES, openlane::OPENLANE;
    "grid": arc::ARC;
};
