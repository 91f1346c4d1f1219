use std::error::Error;
use std::fmt;

use metric_record::{FieldError, Id, JoinError, Message, ReadError, Side, quoted_id};
use metric_registry::{DataSetError, OptionError};

use crate::{StateFileError, StateFileProblem};

/// The reason why a run has no result.
///
/// A program prints [`message`](Self::message) and exits by [`kind`](Self::kind).
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// An option that the metric does not take.
    Option(OptionError),
    /// Sources, metrics or options that do not go together.
    Usage(Message),
    /// A source that cannot be read.
    Read(Box<ReadError>),
    /// References and predictions that do not join.
    Join {
        /// The ids that do not join.
        error: Box<JoinError>,
        /// A warning about the data that may say why.
        warning: Option<Message>,
    },
    /// A record that the metric cannot read.
    Record {
        /// The id of the record.
        id: String,
        /// The side with the error.
        side: Side,
        /// Source, line and problem.
        error: Box<ReadError>,
    },
    /// A state that cannot be read or merged.
    State(StateFileError),
    /// The error that the caller's [`Observer`](crate::Observer) returned.
    Observer(Box<dyn Error + Send + Sync>),
    /// The caller ended [interruptible](crate::interruptible) work.
    Interrupted,
    /// The engine has a bug, or the system has no threads left.
    Internal(String),
}

/// The party that can act on a [`RunError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The caller: the request makes no sense.
    Usage,
    /// Whoever made the data.
    Input,
    /// Whoever made the data, or the caller where an option raises the limit: the data is well-formed,
    /// but too large.
    Limit,
    /// Nobody outside: the result could not be made.
    Internal,
}

impl RunError {
    /// A record that a metric cannot read.
    pub(crate) fn record(
        (file, line, location): (&str, Option<u64>, &str),
        id: Id<'_>,
        error: FieldError,
    ) -> Self {
        let is_number = matches!(id, Id::Line(_));
        let (id, side, is_limit) = (id.to_string(), error.side, error.is_limit);
        let record = match (location, is_number) {
            // The line, or the row, says which record it is.
            (location, true) if line.is_some() || !location.is_empty() => location.to_owned(),
            ("", _) => format!("id {}", quoted_id(&id)),
            (location, _) => format!("{location}: id {}", quoted_id(&id)),
        };
        // A field next to the value is named by the problem.
        let field = match &error.field {
            Some(_) => String::new(),
            None => side.to_string(),
        };
        let mut error = ReadError::new(file, error.problem).at(record).field(field);
        error.line = line;
        error.is_limit = is_limit;
        Self::Record {
            id,
            side,
            error: Box::new(error),
        }
    }

    /// Returns who can do something about the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Option(_) | Self::Usage(_) => ErrorKind::Usage,
            Self::Read(error) if error.is_limit => ErrorKind::Limit,
            Self::Read(error) if error.is_machine => ErrorKind::Internal,
            Self::Record { error, .. } if error.is_limit => ErrorKind::Limit,
            Self::State(StateFileError {
                problem: StateFileProblem::NoMemory(_),
                ..
            }) => ErrorKind::Limit,
            Self::Read(_) | Self::Join { .. } | Self::Record { .. } | Self::State(_) => {
                ErrorKind::Input
            }
            Self::Observer(_) | Self::Interrupted | Self::Internal(_) => ErrorKind::Internal,
        }
    }

    /// Returns the error as a message, which may name options.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Option(error) => error.message(),
            Self::Usage(message) => message.clone(),
            Self::Read(error) => error.message(),
            Self::Record { error, .. } => error.message(),
            Self::Join { error, warning } => match warning {
                Some(warning) => error.message().text("\n").message(warning),
                None => error.message(),
            },
            Self::State(error) => error.message(),
            Self::Observer(error) => Message::from(error.to_string()),
            Self::Interrupted => Message::from("interrupted"),
            Self::Internal(message) => Message::from(message.as_str()),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Option(error) => Some(error),
            Self::Read(error) => Some(&**error),
            Self::Record { error, .. } => Some(&**error),
            Self::Join { error, .. } => Some(&**error),
            Self::State(error) => Some(error),
            Self::Observer(error) => Some(&**error),
            Self::Usage(_) | Self::Interrupted | Self::Internal(_) => None,
        }
    }
}

impl From<OptionError> for RunError {
    fn from(error: OptionError) -> Self {
        Self::Option(error)
    }
}

impl From<ReadError> for RunError {
    fn from(error: ReadError) -> Self {
        Self::Read(Box::new(error))
    }
}

impl From<JoinError> for RunError {
    fn from(error: JoinError) -> Self {
        Self::Join {
            error: Box::new(error),
            warning: None,
        }
    }
}

impl From<StateFileError> for RunError {
    fn from(error: StateFileError) -> Self {
        Self::State(error)
    }
}

impl From<DataSetError> for RunError {
    fn from(error: DataSetError) -> Self {
        match error {
            DataSetError::Read(error) => error.into(),
            DataSetError::Join(error) => (*error).into(),
            other => ReadError::new("", other.message()).into(),
        }
    }
}
