#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "graph", feature = "vision"))]
mod curves;
mod data_set;
mod definition;
mod demo;
mod difference_counts;
mod entry;
mod error;
mod fields;
mod kept;
mod known_names;
pub mod list;
mod numbers;
mod options;
mod plan;
#[cfg(feature = "text")]
mod prepare;
mod ranking;
#[cfg_attr(
    not(any(
        feature = "class",
        feature = "code",
        feature = "graph",
        feature = "grid",
        feature = "number",
        feature = "rank",
        feature = "segmentation",
        feature = "text",
        feature = "vision"
    )),
    allow(
        dead_code,
        reason = "without a crate of metrics there is nothing to adapt"
    )
)]
mod reading;
mod report;
mod resample;
mod score_spec;
mod scorer;
mod selection;
mod shape;
#[cfg(any(
    feature = "class",
    feature = "code",
    feature = "number",
    feature = "rank",
    feature = "segmentation",
    feature = "text",
    feature = "vision"
))]
mod shapes;
mod show;
#[cfg(feature = "text")]
mod steps;

mod metrics;

pub use data_set::{DataSet, Inputs};
pub use definition::{OF_DATA, signature};
pub use demo::Demo;
pub use difference_counts::{DIFFERENCE_BINS, DifferenceCounts};
pub use entry::{Build, Entry, Input, NameTaken, Objects, entries, find, register};
pub use error::{AddError, DataSetError, MOST_WRITTEN_BYTES, StateError};
pub use kept::MOST_KEPT_BYTES;
pub use known_names::{NOT_OFFERED, meaning};
pub use metric_core::{
    Merge, Metric, Written, fields, is_on_this_thread, on_this_thread, parallel, written,
};
pub use metric_record as record;
pub use metric_stats as stats;
pub use metrics::ENTRIES;
pub use numbers::{ConfusionTable, Group, Named, Numbers, PrintedRow, PrintedTable, Report, Scope};
pub use options::{OptionError, OptionKind, OptionSpec, OptionValue, Options};
pub use plan::{Place, Plan, PlannedRanking, Slice};
#[cfg(feature = "text")]
pub use prepare::{NORMALIZE, Normalizer, finding_words, normalize_warnings};
pub use ranking::{Ranking, SCORE_BINS, ScoreCounts};
pub use reading::{
    Asked, Counted, Facts, Header, ObjectsAt, PairOf, Reading, Remarks, Sink, StateOf, Unanswered,
    Unified, Weigher,
};
pub use report::{Chart, DRAWN_CLASSES, ExampleView};
pub use resample::{
    Column, Compared, Draws, Exchanges, Paired, Resampler, Scope as ResampledScope,
};
pub use score_spec::{Direction, ScoreSpec};
pub use scorer::{Part, Sample, Scorer, State, scorer};
pub use selection::{Selection, Verdict};
pub use shape::{Shape, Taken};
#[cfg(feature = "text")]
pub use shapes::{Note, Notice, References, TextExample, TextMetric, texts};
pub use show::{ComparedTexts, Drawing, Show};
