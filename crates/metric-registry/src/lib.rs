#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod compared_texts;
#[cfg(any(feature = "graph", feature = "vision"))]
mod curves;
mod data_set;
mod definition;
mod demo;
mod difference_counts;
mod drawing;
mod entry;
mod error;
#[cfg(any(feature = "text", feature = "vision"))]
mod fields;
mod kept;
pub mod list;
mod numbers;
mod options;
mod plan;
mod ranking;
#[cfg_attr(
    not(any(
        feature = "class",
        feature = "code",
        feature = "graph",
        feature = "grid",
        feature = "text",
        feature = "vision"
    )),
    allow(
        dead_code,
        reason = "without a crate of metrics there is nothing to adapt"
    )
)]
mod reading;
#[macro_use]
mod report;
mod resample;
mod score_spec;
mod scorer;
#[cfg(feature = "text")]
mod shapes;
#[cfg(feature = "text")]
mod steps;

#[cfg(feature = "class")]
mod class;
#[cfg(feature = "code")]
mod code;
#[cfg(feature = "graph")]
mod graph;
#[cfg(feature = "grid")]
mod grid;
#[cfg(feature = "text")]
mod text;
#[cfg(feature = "vision")]
mod vision;

pub use compared_texts::ComparedTexts;
pub use data_set::{DataSet, Inputs};
pub use definition::signature;
pub use demo::Demo;
pub use difference_counts::{DIFFERENCE_BINS, DifferenceCounts};
pub use drawing::{Draw, Drawing};
pub use entry::{Build, Entry, Input, NameTaken, Objects, entries, find, register};
pub use error::{AddError, DataSetError, MOST_WRITTEN_BYTES, StateError};
pub use kept::MOST_KEPT_BYTES;
pub use metric_core::{Merge, Metric, Written, fields, is_on_this_thread, on_this_thread, written};
pub use metric_record as record;
pub use metric_stats as stats;
pub use numbers::{ConfusionTable, Group, Named, Numbers, Report, Scope};
pub use options::{OptionError, OptionKind, OptionSpec, OptionValue, Options};
pub use plan::{Plan, PlannedRanking, Slice};
pub use ranking::{Ranking, SCORE_BINS, ScoreCounts};
pub use reading::{
    Counted, Facts, Header, PairOf, ReadDataSet, Reading, Remarks, Sink, StateOf, Unified, Weigher,
};
#[cfg(feature = "report")]
pub use report::ShowExample;
pub use report::{InReport, Shown, ShownExample};
pub use resample::{
    Column, Compared, Draws, Exchanges, Paired, Resampler, Scope as ResampledScope,
};
pub use score_spec::{Direction, ScoreSpec};
pub use scorer::{Part, Sample, Scorer, State, scorer};
#[cfg(feature = "text")]
pub use shapes::{TextMetric, texts};

/// All metrics, in the order in which they are listed.
// A static, not a constant: every crate that uses a constant of these compiles all metrics again.
pub static ENTRIES: &[Entry] = &[
    #[cfg(feature = "grid")]
    grid::ARC,
    #[cfg(feature = "class")]
    class::ranked::ACCURACY_AT_K,
    #[cfg(feature = "class")]
    class::ranked::MRR,
    #[cfg(feature = "class")]
    class::classification::CLASSIFICATION,
    #[cfg(feature = "text")]
    text::string_accuracy::STRING_ACCURACY,
    #[cfg(feature = "text")]
    text::edit::WER,
    #[cfg(feature = "text")]
    text::edit::CER,
    #[cfg(feature = "text")]
    text::answers::EXACT_MATCH,
    #[cfg(feature = "text")]
    text::answers::VQA,
    #[cfg(feature = "text")]
    text::answers::ANLS,
    #[cfg(feature = "text")]
    text::answers::SQUAD,
    #[cfg(feature = "text")]
    text::answers::RELAXED_ACCURACY,
    #[cfg(feature = "code")]
    code::CODEBLEU,
    #[cfg(feature = "vision")]
    vision::detection::DETECTION,
    #[cfg(feature = "vision")]
    vision::coco::COCO,
    #[cfg(feature = "vision")]
    vision::voc::VOC,
    #[cfg(feature = "vision")]
    vision::errors::TIDE,
    #[cfg(feature = "vision")]
    vision::errors::CONFUSION_MATRIX,
    #[cfg(feature = "graph")]
    graph::lanes::LANES,
    #[cfg(feature = "graph")]
    graph::openlane::OPENLANE,
];
