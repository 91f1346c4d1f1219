//! The texts that are compared, and the data that is read from them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::OnceLock;

use crate::classes::Dialect;
use crate::comments::{CommentRule, trim};
use crate::dataflow::{Memory, edge_hashes};
use crate::language::Language;
use crate::parse::Tree;
use crate::profile::{Comments, Reading};
use crate::syntax::subtree_hashes;

/// The longest text that is scored, in bytes: 2 MiB.
///
/// That takes a second or two and some hundred bytes of memory per byte, and both times the depth of
/// the loops in it.
pub const MAX_TEXT_BYTES: usize = 2 << 20;

/// The error for a text longer than [`MAX_TEXT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextTooLong {
    /// Its length in bytes.
    pub bytes: usize,
}

impl fmt::Display for TextTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes } = self;
        write!(
            f,
            "a text of {bytes} bytes: expected at most {MAX_TEXT_BYTES}"
        )
    }
}

impl std::error::Error for TextTooLong {}

impl TextTooLong {
    pub(crate) fn check(text: &str) -> Result<(), Self> {
        match text.len() {
            0..=MAX_TEXT_BYTES => Ok(()),
            bytes => Err(Self { bytes }),
        }
    }
}

fn checked(text: String) -> Result<String, TextTooLong> {
    TextTooLong::check(&text).map(|()| text)
}

/// A text that a model predicted.
///
/// ```
/// use metric_code::{MAX_TEXT_BYTES, Prediction, TextTooLong};
///
/// assert_eq!(Prediction::new("x = 1").unwrap().text(), "x = 1");
/// let error: TextTooLong = Prediction::new(" ".repeat(MAX_TEXT_BYTES + 1)).unwrap_err();
/// assert_eq!(error.bytes, MAX_TEXT_BYTES + 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction(String);

impl Prediction {
    /// Returns a text, which need not be correct code.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is longer than [`MAX_TEXT_BYTES`].
    pub fn new(text: impl Into<String>) -> Result<Self, TextTooLong> {
        checked(text.into()).map(Self)
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// The error for references with which no prediction can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidReferences {
    /// There are no references.
    Empty,
    /// One is too long.
    TooLong {
        /// Which, from 0.
        index: usize,
        /// The error.
        error: TextTooLong,
    },
}

impl fmt::Display for InvalidReferences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no references: expected at least one"),
            Self::TooLong { index, error } => write!(f, "reference {index}: {error}"),
        }
    }
}

impl std::error::Error for InvalidReferences {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooLong { error, .. } => Some(error),
            Self::Empty => None,
        }
    }
}

/// The references of a prediction: one or more texts in a language.
///
/// They are parsed when they are first scored against, and kept so: hold one prediction after the
/// other against the same references to parse these once.
///
/// ```
/// use metric_code::{InvalidReferences, Language, References};
///
/// let references = References::new(Language::PYTHON, ["x = 1", "x = y = 1"]).unwrap();
/// assert_eq!(references.texts().count(), 2);
/// let none = References::new(Language::PYTHON, [""; 0]);
/// assert_eq!(none.unwrap_err(), InvalidReferences::Empty);
/// ```
#[derive(Clone, Debug)]
pub struct References {
    language: Language,
    texts: Vec<String>,
    /// As the first profile to score reads them.
    read: OnceLock<(Reading, Vec<Analysis>)>,
}

impl References {
    /// One text in a language.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is longer than [`MAX_TEXT_BYTES`].
    pub fn single(language: Language, text: impl Into<String>) -> Result<Self, TextTooLong> {
        Ok(Self {
            language,
            texts: vec![checked(text.into())?],
            read: OnceLock::new(),
        })
    }

    /// Texts in a language.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no text, or one is longer than [`MAX_TEXT_BYTES`].
    pub fn new<T: Into<String>>(
        language: Language,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidReferences> {
        let texts = texts.into_iter().enumerate().map(|(index, text)| {
            checked(text.into()).map_err(|error| InvalidReferences::TooLong { index, error })
        });
        let texts: Vec<_> = texts.collect::<Result<_, _>>()?;
        if texts.is_empty() {
            return Err(InvalidReferences::Empty);
        }
        Ok(Self {
            language,
            texts,
            read: OnceLock::new(),
        })
    }

    /// Returns the language.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the texts.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }

    /// The texts as a profile reads them.
    pub(crate) fn analyses(&self, reading: Reading) -> Cow<'_, [Analysis]> {
        let read = || {
            let read = |text: &String| {
                Analysis::new(self.language, reading, &strip(self.language, reading, text))
            };
            self.texts.iter().map(read).collect()
        };
        let (kept, analyses) = self.read.get_or_init(|| (reading, read()));
        if *kept == reading {
            Cow::Borrowed(analyses)
        } else {
            Cow::Owned(read())
        }
    }
}

/// A text as a profile compares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Analysis {
    /// The hashes of its subtrees, sorted.
    pub(crate) subtrees: Vec<u128>,
    /// The hashes of its dataflow's edges, sorted.
    pub(crate) edges: Vec<u128>,
    /// Whether it has syntax errors.
    pub(crate) has_error: bool,
    /// Whether it is nested too deeply to have a dataflow.
    pub(crate) too_deep: bool,
    /// Whether its comments could not be removed.
    pub(crate) comments_kept: bool,
    /// Whether parsing it took too much work or memory.
    pub(crate) given_up: bool,
}

thread_local! {
    /// Kept to be filled again.
    static MEMORY: RefCell<(Tree, Memory, Vec<u128>)> = RefCell::default();
}

impl Analysis {
    /// Parses a text and reads the tree.
    pub(crate) fn new(language: Language, reading: Reading, stripped: &Stripped<'_>) -> Self {
        let text = &*stripped.text;
        let kinds = language.kinds();
        let classes = language.classes(reading.dialect);
        MEMORY.with_borrow_mut(|(tree, memory, hashes)| {
            tree.parse(kinds, text, reading.dialect == Dialect::Original);
            let analysis = if tree.given_up {
                Self {
                    comments_kept: stripped.comments_kept,
                    given_up: true,
                    ..Self::default()
                }
            } else {
                Self {
                    subtrees: subtree_hashes(tree, kinds, classes, hashes),
                    edges: edge_hashes(tree, text, classes, memory),
                    has_error: tree.has_error,
                    too_deep: tree.too_deep(),
                    comments_kept: stripped.comments_kept,
                    given_up: false,
                }
            };
            // Memory that one giant text needed is not kept for the rest of the thread's life.
            if text.len() > 1 << 16 {
                (*tree, *memory, *hashes) = Default::default();
            }
            analysis
        })
    }
}

/// A text, trimmed and freed of comments.
pub(crate) struct Stripped<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Whether it was given up, so that comments are still there.
    pub(crate) comments_kept: bool,
}

/// Trims a text and removes its comments as a profile asks.
pub(crate) fn strip(language: Language, reading: Reading, text: &str) -> Stripped<'_> {
    let text = if reading.trim { trim(text) } else { text };
    remove_comments(language, reading, text)
}

/// Removes comments as a profile asks.
pub(crate) fn remove_comments(language: Language, reading: Reading, text: &str) -> Stripped<'_> {
    let rule = match reading.comments {
        Comments::CStyle => CommentRule::CStyle,
        Comments::OfLanguage => language.comment_rule(),
        Comments::Kept => CommentRule::Keep,
    };
    let stripped = rule.strip(text);
    Stripped {
        comments_kept: stripped.is_none(),
        text: stripped.unwrap_or(Cow::Borrowed(text)),
    }
}
