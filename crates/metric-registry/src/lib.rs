#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
//! Metrics by name: what the program `metric` and language bindings stand on.
//!
//! An [`Entry`] names a metric and its [`OptionSpec`]s; [`Entry::scorer`] builds a [`Scorer`] from
//! chosen [`Options`]. The scorer reads [`Record`]s (raw JSON or lines of text) into [`Evidence`],
//! which merges, is written and read, and gives a [`Report`]: scores and counts by name.
//!
//! Types are erased per batch of records, never per example.
//!
//! # A new metric
//!
//! 1. Implement [`Metric`](metric_core::Metric) in its crate, with a state that has `serde`.
//! 2. In a file of this folder, implement [`Reading`] for the metric: how a record is read, and the
//!    names of its scores and counts.
//! 3. Add its [`Entry`] to [`ENTRIES`]. The program, its help and the merge-law tests follow.
//!
//! ```
//! use metric_registry::{self as registry, Options, Record, Value};
//!
//! let entry = registry::find("string-accuracy").unwrap();
//! let scorer = entry.scorer(&Options::default()).unwrap();
//! let mut evidence = scorer.start();
//! let records = [("1", r#""cat""#, r#""cat""#), ("2", r#""dog""#, r#""cat""#)]
//!     .map(|(id, prediction, reference)| Record::new(id, Value::Json(prediction), Value::Json(reference)));
//! evidence.update(&records, None).unwrap();
//! assert_eq!(evidence.report().score("string_accuracy"), Some(0.5));
//! ```

mod options;
mod read;
mod record;
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
mod scorer;

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

pub use options::{OptionError, OptionSpec, Options};
pub use read::Entries;
pub use record::{
    Content, Document, DocumentError, FieldError, Id, JoinPolicy, Missing, Record, RecordError,
    Side, Value,
};
pub use scorer::{
    Drawing, Evidence, Group, Named, Notes, Reading, Report, Sample, Scorer, Sink, StateError,
    signature,
};

/// A metric by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What stands in a record: the reference, then the prediction.
    pub values: (&'static str, &'static str),
    /// The options beside the common ones.
    pub options: &'static [OptionSpec],
    /// How a data set is given.
    pub input: Input,
    /// Whether a `.json` file is one example rather than a map of ids to examples, judged by one of
    /// its values.
    pub whole_file: fn(value: &str) -> bool,
    build: fn(&Options) -> Result<Box<dyn Scorer>, OptionError>,
}

/// How a data set is given to a metric.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// As [`Record`]s that are joined by id.
    Records,
    /// As [`Document`]s: whole files or folders that the metric reads itself.
    Whole,
    /// As documents where this is true of the text of the references, or where they are a folder;
    /// else as records.
    Either(fn(references: &str) -> bool),
    /// As documents where this is true of the text of the references, whose parts the metric joins
    /// by id as records are joined; else as records.
    Joined(fn(references: &str) -> bool),
}

impl Entry {
    /// The metric with these options.
    ///
    /// # Errors
    ///
    /// An option that the metric does not have, or a value that it does not take.
    pub fn scorer(&self, options: &Options) -> Result<Box<dyn Scorer>, OptionError> {
        options.check(self.options)?;
        (self.build)(&options.with_defaults(self.options))
    }
}

/// All metrics, in the order in which they are listed.
pub const ENTRIES: &[Entry] = &[
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

/// The metric of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The [`Entry::whole_file`] of metrics whose `.json` files are always maps.
#[allow(dead_code, reason = "used by whichever domains are switched on")]
fn never_whole(_value: &str) -> bool {
    false
}
