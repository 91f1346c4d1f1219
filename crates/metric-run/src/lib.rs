// The examples of the README score texts.
#![cfg_attr(feature = "text", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "text"), doc = "The engine of metric-suite.")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod block;
mod check;
mod compare;
mod decoder;
mod error;
mod fields;
mod first_words;
mod formats;
mod found;
mod grouped;
mod hashed_files;
mod interrupt;
mod join;
mod memory;
mod more_references;
mod observer;
mod outcome;
mod packed;
mod part;
mod partitions;
mod positions;
mod records;
mod regressions;
mod run;
mod samples;
mod scan;
mod selecting;
mod settings;
mod shards;
mod shown;
mod source;
mod state_error;
mod state_file;
mod statistics;
mod tables;
mod telling;
mod text_columns;
mod threads;
mod waiter;
mod waiting;
mod words;

pub use metric_record as record;
pub use metric_record::DEFAULT_MAX_BYTES;
pub use metric_registry as registry;

pub use check::{Check, CheckedSource, Problem, ProblemKind};
pub use compare::{Candidate, Compare, Comparison, Difference, GroupComparison, System};
pub use decoder::silence_decoders;
pub use error::{ErrorKind, RunError};
pub use formats::Format;
pub use formats::csv::{CsvOptions, EmptyField, InvalidDelimiter};
pub use formats::segments::{Level, Segment, SpeakerOf, SpeakerPrefix, TranscriptOptions};
pub use hashed_files::HashedFiles;
pub use interrupt::interruptible;
pub use observer::{Nobody, Observer, ObserverError};
pub use outcome::{
    InputsJson, Outcome, SCHEMA, outcomes_json, sample_json, sample_json_with_inputs,
    with_json_field,
};
pub use regressions::Regression;
pub use run::{Data, Fields, NOTHING_SCORED, RankExamples, Run};
pub use samples::{CountColumn, SampleCollector, SampleTable};
pub use selecting::{Selected, SelectedCount};
pub use settings::{Role, Settings};
pub use shards::Shards;
pub use shown::ShownScores;
pub use source::{Encoding, Fingerprint, Hashed, Source};
pub use state_error::{StateFileError, StateFileProblem};
pub use state_file::{Merged, merge_parts, merge_states, read_states, write_states};
pub use statistics::{GroupIntervals, Intervals, Statistics};
pub use tables::Table;
pub use threads::on_threads;
