//! The part of a text that holds the answer.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::fence::first_block;
use crate::last_number::last_number;
use crate::normalize::InvalidPattern;

/// A part of a text: the first Markdown block fenced by backticks or tildes, the last number, or the first match of a
/// regular expression.
///
/// ```
/// use metric_text::Extract;
///
/// let fence: Extract = "fence".parse()?;
/// assert_eq!(fence.apply("Here:\n```python\nx = 1\n```\nDone.").as_deref(), Some("x = 1"));
/// assert_eq!(fence.apply("x = 1"), None);
///
/// // The first group of the first match, or the match if there is no group.
/// let answer: Extract = r"(?i)answer:\s*(\w+)".parse()?;
/// assert_eq!(answer.apply("I think so. Answer: B, or C").as_deref(), Some("B"));
/// # Ok::<(), metric_text::normalize::InvalidPattern>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Extract {
    /// The inside of the first block between lines of three backticks or tildes, or more, as in CommonMark 0.31: its
    /// lines lose the indentation of the opening fence and of the list items and quotes that the block is in. A block
    /// that is not closed ends with its item or quote, or with the text.
    Fence,
    /// The [last number](crate::last_number).
    LastNumber,
    /// The first group of the first match, or the match if the pattern has no group.
    Pattern(regex::Regex),
}

impl Extract {
    /// Returns the part of a text, or `None` if the text does not have it.
    #[must_use]
    pub fn apply<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        match self {
            Self::Fence => first_block(text),
            Self::LastNumber => last_number(text),
            Self::Pattern(pattern) => {
                let found = pattern.captures(text)?;
                match found.len() {
                    1 => found.get(0),
                    _ => found.iter().skip(1).flatten().next(),
                }
                .map(|found| Cow::Borrowed(found.as_str()))
            }
        }
    }
}

impl fmt::Display for Extract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fence => f.write_str("fence"),
            Self::LastNumber => f.write_str("last-number"),
            Self::Pattern(pattern) => f.write_str(pattern.as_str()),
        }
    }
}

impl FromStr for Extract {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        match text {
            "fence" => return Ok(Self::Fence),
            "last-number" => return Ok(Self::LastNumber),
            _ => {}
        }
        let pattern = regex::Regex::new(text);
        pattern.map(Self::Pattern).map_err(|error| {
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default();
            InvalidPattern {
                pattern: text.to_owned(),
                reason: reason.trim_start_matches("error: ").to_owned(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_matches_by_hand() {
        let rows = [
            ("fence", "```\na\nb\n```", Some("a\nb")),
            ("fence", "text\r\n~~~ py\r\na\r\n~~~\r\n", Some("a")),
            ("fence", "````\n```\na\n````\n", Some("```\na")),
            ("fence", "```\nnot closed", Some("not closed")),
            ("fence", "```\n```", Some("")),
            ("fence", "``\na\n``", None),
            // The lines lose the indentation of the fence, and no more than they have.
            ("fence", "  ```\n  a\n    b\n c\n  ```", Some("a\n  b\nc")),
            ("fence", "```\n  a\n```", Some("  a")),
            ("fence", "   ~~~\n\ta\n~~~", Some(" a")),
            // A line that is indented by four columns is neither fence.
            ("fence", "    ```\n    a\n    ```", None),
            ("fence", "```\na\n    ```\nb\n```", Some("a\n    ```\nb")),
            ("fence", "```\na\n   ```\nb", Some("a")),
            // A closing fence is as long as the opening one, has its mark, and nothing after it.
            (
                "fence",
                "~~~~\na\n~~~\n```\n~~~~ x\n~~~~~ \nb",
                Some("a\n~~~\n```\n~~~~ x"),
            ),
            // Only the text after tildes may have backticks.
            ("fence", "```42```", None),
            ("fence", "``` a`b\nx", None),
            ("fence", "```a```\n~~~ a`b\nx\n~~~", Some("x")),
            // List items and quotes.
            (
                "fence",
                "- Code:\n  ```py\n  a\n      b\n  ```\n",
                Some("a\n    b"),
            ),
            ("fence", "- ```\n  a\n\n   b\n  ```", Some("a\n\n b")),
            ("fence", "10. Run:\n\n    ```sh\n    a\n    ```", Some("a")),
            (
                "fence",
                "1. x\n   - y\n     ```\n     a\n     ```",
                Some("a"),
            ),
            ("fence", "-\tx\n\n\t```\n\ta\n\t```", Some("a")),
            ("fence", "> ```\n> a\n>  b\n> ```\n> c", Some("a\n b")),
            ("fence", "> ```\n> a\nb", Some("a")),
            ("fence", "- ```\n  a\nb", Some("a")),
            ("fence", "-x\n  ```\n  a\n  ```", Some("a")),
            (r"\d+", "a 12 b 34", Some("12")),
            ("a(b)?|(c)", "c", Some("c")),
            ("a(b)?", "a", None),
            ("x", "", None),
        ];
        for (extract, text, expected) in rows {
            let extract: Extract = extract.parse().expect("valid");
            assert_eq!(
                extract.apply(text).as_deref(),
                expected,
                "{extract} of {text:?}"
            );
        }
        assert!("(".parse::<Extract>().is_err());
    }
}
