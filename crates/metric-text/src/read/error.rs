use std::fmt;

use metric_record::{JoinError, Message, ReadError, Unmatched};

/// Questions and predictions that cannot be read or joined.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuestionsError {
    /// A file is not what it should be.
    Read(ReadError),
    /// An id occurs twice in one file.
    Duplicate {
        /// The id.
        id: String,
        /// The file and the position in it.
        error: Box<ReadError>,
    },
    /// Questions without a prediction, or predictions without a question.
    Join(Box<JoinError>),
    /// The question file and the annotation file do not have the same questions: these are in one of them.
    Unasked(Unmatched),
}

impl QuestionsError {
    /// An error of reading a file, which ended at an id that occurs twice if there is one.
    pub(super) fn of_file(error: ReadError, duplicate: Option<String>) -> Self {
        match duplicate {
            Some(id) => Self::Duplicate {
                id,
                error: Box::new(error),
            },
            None => Self::Read(error),
        }
    }

    /// Returns the error as a [`Message`], which can name options of a program.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Read(error) => error.message(),
            Self::Duplicate { error, .. } => error.message(),
            Self::Join(error) => error.message(),
            Self::Unasked(unmatched) => Message::from(format!(
                "{}: does not have {}",
                unmatched.other,
                unmatched.summary("question")
            )),
        }
    }
}

impl fmt::Display for QuestionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for QuestionsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::Duplicate { error, .. } => Some(&**error),
            Self::Join(error) => Some(&**error),
            Self::Unasked(_) => None,
        }
    }
}

impl From<ReadError> for QuestionsError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<JoinError> for QuestionsError {
    fn from(error: JoinError) -> Self {
        Self::Join(Box::new(error))
    }
}
