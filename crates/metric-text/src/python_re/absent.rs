//! What stands for [`PythonRegex`] without the feature `regex`.

use std::borrow::Cow;
use std::fmt;

/// A regular expression of Python. Without the feature `regex`, there are no values of this type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PythonRegex {}

impl PythonRegex {
    /// Returns the regular expression as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match *self {}
    }

    /// Returns the text with each match replaced.
    ///
    /// # Errors
    ///
    /// Never returns an error.
    pub fn replace_all<'t>(&self, _text: &'t str, _by: &str) -> Result<Cow<'t, str>, TooManySteps> {
        match *self {}
    }

    /// Returns whether a text of this length could take too many steps.
    #[must_use]
    pub fn may_take_too_many_steps(&self, _bytes: usize) -> bool {
        match *self {}
    }
}

/// A pattern that takes too long to match. Without the feature `regex`, there are no values of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooManySteps {}

impl fmt::Display for TooManySteps {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl std::error::Error for TooManySteps {}
