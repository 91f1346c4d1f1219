use std::fmt;

use metric_run::ErrorKind;

/// An error of whoever runs a suite: in the suite file, in a file that it names, or of the machine.
///
/// Nothing that a submission holds is such an error: a submission that cannot be scored is the outcome of its tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteError {
    /// The party that can act on it.
    pub kind: ErrorKind,
    /// File, line, and problem.
    pub message: String,
}

impl SuiteError {
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message }
    }
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SuiteError {}
