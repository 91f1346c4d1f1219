//! Errors of data sets, parts and states.

use std::fmt;

use metric_core::Malformed;
use metric_record::{JoinError, Message, ReadError, RecordError};

/// A data set that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataSetError {
    /// A document cannot be read.
    Read(ReadError),
    /// The two sides do not join.
    Join(Box<JoinError>),
}

impl DataSetError {
    /// Returns the error as a message.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Read(error) => error.message(),
            Self::Join(error) => error.message(),
        }
    }
}

impl From<ReadError> for DataSetError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<JoinError> for DataSetError {
    fn from(error: JoinError) -> Self {
        Self::Join(Box::new(error))
    }
}

impl fmt::Display for DataSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for DataSetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::Join(error) => Some(&**error),
        }
    }
}

/// The reason why a part cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddError {
    /// A record that cannot be read, or that contradicts the state.
    Record(RecordError),
    /// The part is of another metric or definition.
    State(StateError),
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(error) => error.fmt(f),
            Self::State(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AddError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Record(error) => Some(error),
            Self::State(error) => Some(error),
        }
    }
}

/// A state that cannot be read or merged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes are not the body of a state.
    Malformed(String),
    /// The state is of another metric, definition or format version.
    Definition {
        /// The definition that was needed.
        expected: String,
        /// The definition that was found.
        found: String,
    },
    /// The examples do not share what those of one data set share.
    Header(Message),
    /// The examples that are kept take this many bytes in a file.
    TooLarge(u64),
}

impl StateError {
    /// The error of a state that was not written by this crate.
    pub(crate) fn not_canonical() -> Self {
        Self::Malformed("not in its canonical form".to_owned())
    }
}

impl From<Malformed> for StateError {
    fn from(problem: Malformed) -> Self {
        Self::Malformed(problem.to_string())
    }
}

/// By how many bytes the examples that a state keeps may make a state file larger.
pub const MOST_WRITTEN_BYTES: u64 = 64 << 20;

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(reason) => write!(f, "not the state of this metric: {reason}"),
            Self::Definition { expected, found } => {
                write!(f, "found a state of {found}: expected one of {expected}")
            }
            Self::Header(difference) => write!(f, "not of the same data set: {difference}"),
            Self::TooLarge(bytes) => write!(
                f,
                "the counts of single examples, which replicates need, make the state {} MB larger: expected at most {} MB (divide the data into more shards)",
                bytes >> 20,
                MOST_WRITTEN_BYTES >> 20
            ),
        }
    }
}

impl std::error::Error for StateError {}
