use std::borrow::Cow;
use std::fmt;
use std::io::Write;

use metric_run::{ErrorKind, RunError};

use crate::terminal;

/// The reason why the program stops without a result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// A file is missing, unreadable, malformed, or does not fit the others.
    Input(String),
    /// The data takes more time or memory than a limit allows.
    Limit(String),
    /// The result could not be written, or the program has a bug.
    Internal(String),
}

impl Failure {
    /// The exit code of data that cannot be scored.
    pub(crate) const INPUT: u8 = 3;

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Input(_) => Self::INPUT,
            Self::Internal(_) => 4,
            Self::Limit(_) => 5,
        }
    }

    /// The same kind of failure with another message.
    pub(crate) fn with_message(&self, message: String) -> Self {
        match self {
            Self::Usage(_) => Self::Usage(message),
            Self::Input(_) => Self::Input(message),
            Self::Limit(_) => Self::Limit(message),
            Self::Internal(_) => Self::Internal(message),
        }
    }

    /// A failure to write `what`.
    pub(crate) fn write(what: &str, error: &std::io::Error) -> Self {
        Self::Internal(format!("{what}: cannot write: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message)
            | Self::Input(message)
            | Self::Limit(message)
            | Self::Internal(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Failure {}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let message = error.message().to_string();
        match (error.kind(), error) {
            (_, RunError::Observer(error)) => match error.downcast::<Self>() {
                Ok(failure) => *failure,
                Err(error) => Self::Internal(error.to_string()),
            },
            (ErrorKind::Usage, _) => Self::Usage(message),
            (ErrorKind::Input, _) => Self::Input(message),
            (ErrorKind::Limit, _) => Self::Limit(message),
            (ErrorKind::Internal, _) => Self::Internal(message),
        }
    }
}

/// Says something on standard error. Whether anybody listens changes nothing.
pub(crate) fn say(message: &str) {
    let lines = message.lines().map(|line| printable(&shortened(line)));
    let lines: Vec<String> = lines.collect();
    let mut stderr = std::io::stderr().lock();
    let text = lines.join("\n");
    let text = if terminal::has_colors(&stderr) {
        colored(&text)
    } else {
        text
    };
    let _ = writeln!(stderr, "{text}");
}

/// The words that a message may start with, each with the color of help and errors by clap.
const STARTS: [(&str, &str); 3] = [
    ("error:", "\u{1b}[1;31m"),
    ("threshold check failed:", "\u{1b}[1;31m"),
    ("warning:", "\u{1b}[1;33m"),
];

/// A message with its first word in color.
fn colored(text: &str) -> String {
    for (start, color) in STARTS {
        if let Some(rest) = text.strip_prefix(start) {
            return format!("{color}{start}\u{1b}[0m{rest}");
        }
    }
    text.to_owned()
}

/// Text with what a terminal would obey or reorder, rather than show, as escapes. Names of files and
/// their contents may hold anything.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            // Characters that set the direction of text: Unicode's property Bidi_Control.
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                printable.extend(character.escape_unicode());
            }
            control if control.is_control() => printable.extend(control.escape_default()),
            other => printable.push(other),
        }
    }
    printable
}

/// A line of a message, without its middle if it is long: the start says where, and the end what was
/// expected. What is long is text of a file, such as an id.
fn shortened(line: &str) -> Cow<'_, str> {
    const MOST: usize = 1000;
    const END: usize = 300;
    let count = line.chars().count();
    if count <= MOST {
        return Cow::Borrowed(line);
    }
    let index = |character: usize| {
        let start = line.char_indices().nth(character);
        start.map_or(line.len(), |(start, _)| start)
    };
    let (start, end) = (index(MOST - END), index(count - END));
    Cow::Owned(format!("{} ... {}", &line[..start], &line[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_lose_their_middle() {
        assert_eq!(shortened(&"é".repeat(1000)), "é".repeat(1000));
        let cut = format!("{} ... {}", "é".repeat(700), "é".repeat(300));
        assert_eq!(shortened(&"é".repeat(1001)), cut);
    }

    #[test]
    fn nothing_is_obeyed_by_the_terminal() {
        let text = "\u{1b}[31m\u{9b}\u{7f}\t\u{202e}é👩\u{200d}👧";
        let expected = r"\u{1b}[31m\u{9b}\u{7f}\t\u{202e}é👩".to_owned() + "\u{200d}👧";
        assert_eq!(printable(text), expected);
    }
}
