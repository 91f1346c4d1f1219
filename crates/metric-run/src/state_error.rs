//! State files that cannot be read, and states that cannot be merged.

use std::fmt;

use metric_record::{Message, Shard};
use metric_registry::OptionError;

use crate::words::counted;

/// The version of the layout of state files, which `state_file` describes.
pub(crate) const FORMAT: u32 = 1;

/// The largest ratio of the size of a larger body to its compressed size. Real data stay below 100.
pub(crate) const MOST_EXPANSION: u64 = 4096;

/// A state file that cannot be read, or states that cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFileError {
    /// The file.
    pub file: String,
    /// The error.
    pub problem: StateFileProblem,
}

/// The error in a state file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateFileProblem {
    /// The file does not start as a state file does.
    NotAState,
    /// The file is shorter than it says, or its bytes are not those that were written.
    Damaged(String),
    /// The file is larger than the bodies of states can be.
    TooLarge(u64),
    /// There is no memory for the states, which have this many bytes.
    NoMemory(u64),
    /// The file has a layout of another version.
    Format(u32),
    /// The program does not have the metric.
    UnknownMetric(String),
    /// The metric does not take the options that are in the file.
    Options(OptionError),
    /// The state was gathered under another definition than the one it is merged with or read by.
    Definition {
        /// The definition that was needed.
        expected: String,
        /// The definition that was found.
        found: String,
    },
    /// The metric was scored with another value of an option than in the state it is merged with.
    Option {
        /// The file that is merged with.
        other: String,
        /// The option.
        option: String,
        /// Its value in the other file; empty for none.
        expected: String,
        /// Its value in this file; empty for none.
        found: String,
    },
    /// The file has states of other metrics than the first one.
    Metrics {
        /// The metrics of the first file.
        expected: Vec<String>,
        /// The metrics of this file.
        found: Vec<String>,
    },
    /// The data were divided into another number of shards.
    ShardCount {
        /// The file that is merged with.
        other: String,
        /// Its number of shards.
        expected: u32,
        /// The number of shards of this file.
        found: u32,
    },
    /// Another file has the same shard.
    SameShard {
        /// The other file.
        other: String,
        /// The shard.
        shard: Shard,
    },
    /// The file was not written as a shard, and a shard has some of its records.
    Repeats {
        /// The file of the shard.
        other: String,
        /// The number of records that both have.
        records: u64,
    },
    /// The examples do not share what those of one data set share.
    DataSet(String),
    /// The states of the whole data set have no examples, which the metric does not score.
    NoExamples,
    /// The examples of the whole data set lack something that the metric needs, such as a weight above 0.
    Incomplete(String),
}

impl StateFileError {
    /// Returns the error as a message, which may name options.
    #[must_use]
    pub fn message(&self) -> Message {
        use StateFileProblem as P;

        let message = Message::from(format!("{}: ", self.file));
        match &self.problem {
            P::NotAState => message
                .text("not a state file: expected a file that ")
                .option("state-out", "")
                .text(" wrote"),
            P::Damaged(how) => message.text(format_args!("damaged: {how}")),
            P::TooLarge(bytes) => message.text(format_args!(
                "says that it expands to {bytes} bytes: expected at most {MOST_EXPANSION} times its size"
            )),
            P::NoMemory(bytes) => message.text(format_args!(
                "out of memory: its states take {bytes} bytes"
            )),
            P::Format(found) => message.text(format_args!(
                "a state file of version {found}: expected version {FORMAT}"
            )),
            P::UnknownMetric(metric) => message.text(format_args!(
                "a state of {metric:?}, which this program does not have"
            )),
            P::Options(error) => message.message(&error.message()),
            P::Definition { expected, found } => {
                message.text(format_args!("a state of {found}: expected one of {expected}"))
            }
            P::Option {
                other,
                option,
                expected,
                found,
            } => {
                let value = |value: &str| match value {
                    "" => "not given".to_owned(),
                    value => format!("{value:?}"),
                };
                let (found, expected) = (value(found), value(expected));
                message.text(format_args!(
                    "the option {option} is {found}: expected {expected}, as in {other}"
                ))
            }
            P::Metrics { expected, found } => message.text(format_args!(
                "is a state of {}: expected one of {}",
                found.join(", "),
                expected.join(", ")
            )),
            P::ShardCount {
                other,
                expected,
                found,
            } => message.text(format_args!(
                "comes from a run in {found} shards: expected {expected}, as in {other}"
            )),
            P::SameShard { other, shard } => {
                message.text(format_args!("has shard {shard}, which is also in {other}"))
            }
            P::Repeats { other, records } => message.text(format_args!(
                "was not written as a shard, and {} of it {} in {other}, which is one: expected either all shards or the whole data",
                counted(*records, "record"),
                if *records == 1 { "is" } else { "are" }
            )),
            P::DataSet(difference) => {
                message.text(format_args!("not of the same data set: {difference}"))
            }
            P::NoExamples => message.text("has no examples: expected at least one"),
            P::Incomplete(problem) => message.text(problem),
        }
    }
}

impl fmt::Display for StateFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for StateFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            StateFileProblem::Options(error) => Some(error),
            _ => None,
        }
    }
}
