use std::fmt;

/// Why the program stops without a result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// A file is missing, unreadable, malformed, or does not fit the others.
    Input(String),
    /// The result could not be written, or the program is wrong.
    Internal(String),
    /// Whoever read the output has gone away, and wants no more of it.
    Closed,
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Usage(_) => 2,
            Self::Input(_) => 3,
            Self::Internal(_) => 4,
        }
    }

    /// A failure to write `what`.
    pub(crate) fn write(what: &str, error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Internal(format!("{what}: cannot write: {error}"))
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Input(message) | Self::Internal(message) => {
                f.write_str(message)
            }
            Self::Closed => f.write_str("the output was closed"),
        }
    }
}
