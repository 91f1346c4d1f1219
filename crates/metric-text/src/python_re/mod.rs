//! Regular expressions as Python's `re` matches them.

mod linear;
mod machine;
mod parse;
mod set;
mod tables;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::normalize::InvalidPattern;
use machine::{Machine, Program};
use parse::{Node, UNLIMITED, parse};
use set::Set;

/// A regular expression with the syntax and the matches of `re` in CPython 3.11, for texts (`str`).
///
/// Characters are classed by CPython's tables of Unicode 14.0: `\w` is what `str.isalnum` is true for and `_`, `\d` what
/// `str.isdecimal`, `\s` what `str.isspace`. `$` also matches before a line feed that ends the text. Look-around, back
/// references, conditions, atomic groups and possessive repetitions are there; names of characters, `\N{...}`, are not,
/// and `FutureWarning`s of Python are silent.
///
/// Patterns without these, and without `$` and `\b`, are matched in time linear in the text. Others are matched by
/// backtracking as in CPython, where some patterns take exponential time: after [`MAX_STEPS`](Self::MAX_STEPS) steps in
/// one text, matching ends with an error.
///
/// ```
/// use metric_text::PythonRegex;
///
/// let end: PythonRegex = "!$".parse()?;
/// assert_eq!(end.replace_all("stop!\n", "").as_deref(), Ok("stop\n"));
///
/// let twice: PythonRegex = r"\b(\w+) \1\b".parse()?;
/// assert_eq!(twice.find("the the end"), Ok(Some(0..7)));
///
/// let costly: PythonRegex = "(a|a)*$".parse()?;
/// assert!(costly.find(&("a".repeat(40) + "b")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PythonRegex {
    pattern: String,
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    Linear(regex::Regex),
    Backtracking(Box<Backtracking>),
}

#[derive(Clone, Debug)]
struct Backtracking {
    program: Program,
    /// The number of ways in which the pattern can be matched from one position, of a text with this many characters.
    ways: Ways,
    start: Start,
}

/// What matches start with.
#[derive(Clone, Debug)]
enum Start {
    Text(String),
    OneOf(Set),
    Anything,
}

/// A pattern that takes too long to match: more than [`PythonRegex::MAX_STEPS`] steps in one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManySteps;

impl fmt::Display for TooManySteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "matching a regular expression takes more than {} million steps: expected a pattern with fewer ways to match the same text, such as a+ for (a+)+",
            PythonRegex::MAX_STEPS / 1_000_000
        )
    }
}

impl std::error::Error for TooManySteps {}

impl PythonRegex {
    /// The dialect, as it appears in signatures.
    pub const DIALECT: &str = "python-3.11";

    /// The most steps that are taken in one text, which take a fraction of a second.
    pub const MAX_STEPS: u64 = 20_000_000;

    /// Returns the regular expression as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.pattern
    }

    /// Returns the byte positions of the first match, as `re.search`.
    ///
    /// # Errors
    ///
    /// Returns an error if that takes too many steps.
    pub fn find(&self, text: &str) -> Result<Option<Range<usize>>, TooManySteps> {
        match &self.matcher {
            Matcher::Linear(regex) => Ok(regex.find(text).map(|found| found.range())),
            Matcher::Backtracking(pattern) => {
                let mut machine = Machine::new(&pattern.program, text, Self::MAX_STEPS);
                pattern.find_from(&mut machine, text, 0, true)
            }
        }
    }

    /// Returns the text with each match replaced, as `re.sub` with a replacement without backslashes.
    ///
    /// # Errors
    ///
    /// Returns an error if that takes too many steps.
    pub fn replace_all<'t>(&self, text: &'t str, by: &str) -> Result<Cow<'t, str>, TooManySteps> {
        let pattern = match &self.matcher {
            Matcher::Linear(regex) => return Ok(regex.replace_all(text, regex::NoExpand(by))),
            Matcher::Backtracking(pattern) => pattern,
        };
        let mut machine = Machine::new(&pattern.program, text, Self::MAX_STEPS);
        let mut replaced = String::new();
        let (mut copied, mut from, mut may_be_empty, mut has_match) = (0, 0, true, false);
        while let Some(found) = pattern.find_from(&mut machine, text, from, may_be_empty)? {
            has_match = true;
            replaced.push_str(&text[copied..found.start]);
            replaced.push_str(by);
            // After an empty match, the next one at the same position is not empty.
            may_be_empty = !found.is_empty();
            (copied, from) = (found.end, found.end);
        }
        if !has_match {
            return Ok(Cow::Borrowed(text));
        }
        replaced.push_str(&text[copied..]);
        Ok(Cow::Owned(replaced))
    }

    /// Returns whether a text of this length could take too many steps.
    #[must_use]
    pub fn may_take_too_many_steps(&self, bytes: usize) -> bool {
        match &self.matcher {
            Matcher::Linear(_) => false,
            Matcher::Backtracking(pattern) => {
                let length = bytes as f64 + 1.0;
                let paths = pattern.ways.of(length) * length;
                let repeated = if pattern.ways.has_repeats() {
                    length
                } else {
                    0.0
                };
                let steps = paths * (repeated + pattern.program.len() as f64);
                steps > Self::MAX_STEPS as f64 || bytes > 1 << 20
            }
        }
    }
}

impl Backtracking {
    fn new(node: &Node, groups: usize) -> Self {
        let mut prefix = String::new();
        add_prefix(node, &mut prefix);
        let start = if prefix.is_empty() {
            let mut sets = Vec::new();
            match add_first(node, &mut sets) {
                Some(false) => Start::OneOf(Set::union(&sets)),
                _ => Start::Anything,
            }
        } else {
            Start::Text(prefix)
        };
        Self {
            program: Program::new(node, groups),
            ways: Ways::new(node),
            start,
        }
    }

    /// The first match at or after a position; at the position itself an empty one only where that is allowed.
    fn find_from(
        &self,
        machine: &mut Machine<'_, '_>,
        text: &str,
        from: usize,
        may_be_empty: bool,
    ) -> Result<Option<Range<usize>>, TooManySteps> {
        let mut at = from;
        loop {
            let rest = &text[at..];
            let skipped = match &self.start {
                Start::Text(prefix) => rest.find(prefix.as_str()),
                Start::OneOf(set) => rest.find(|char| set.has(u32::from(char))),
                Start::Anything => Some(0),
            };
            let Some(skipped) = skipped else {
                return Ok(None);
            };
            at += skipped;
            if let Some(end) = machine.match_at(at, may_be_empty || at > from)? {
                return Ok(Some(at..end));
            }
            match text[at..].chars().next() {
                Some(char) => at += char.len_utf8(),
                None => return Ok(None),
            }
        }
    }
}

/// Adds the characters that each match starts with, and returns whether all of the part is added.
fn add_prefix(node: &Node, prefix: &mut String) -> bool {
    match node {
        Node::Set(set) => set.single().map(|char| prefix.push(char)).is_some(),
        Node::At(_) => true,
        Node::Sequence(nodes) => nodes.iter().all(|node| add_prefix(node, prefix)),
        Node::Group(_, node) => add_prefix(node, prefix),
        _ => false,
    }
}

/// Adds the sets of the first characters of matches, and returns whether a match can be empty; `None` if a match can start
/// with any character.
fn add_first<'n>(node: &'n Node, sets: &mut Vec<&'n Set>) -> Option<bool> {
    match node {
        Node::Set(set) => {
            sets.push(set);
            Some(false)
        }
        Node::At(_) | Node::Look { .. } => Some(true),
        Node::Sequence(nodes) => {
            for node in nodes {
                if !add_first(node, sets)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        Node::Either(nodes) => nodes.iter().try_fold(false, |may_be_empty, node| {
            Some(add_first(node, sets)? || may_be_empty)
        }),
        Node::Group(_, node) | Node::Atomic(node) => add_first(node, sets),
        Node::Repeat { node, least, .. } => Some(add_first(node, sets)? || *least == 0),
        Node::Reference { .. } => None,
        Node::Condition { yes, no, .. } => {
            let yes = add_first(yes, sets)?;
            let no = no.as_ref().map_or(Some(true), |no| add_first(no, sets))?;
            Some(yes || no)
        }
    }
}

/// An upper bound of the number of ways in which a part can be matched.
#[derive(Clone, Debug)]
enum Ways {
    Number(f64),
    Sum(Vec<Self>),
    Product(Vec<Self>),
    /// A part that is repeated at least and at most this often.
    Repeat(Box<Self>, u32, u32),
}

impl Ways {
    fn new(node: &Node) -> Self {
        match node {
            Node::Set(_) | Node::At(_) | Node::Reference { .. } => Self::Number(1.0),
            Node::Sequence(nodes) => Self::Product(nodes.iter().map(Self::new).collect()),
            Node::Either(nodes) => Self::Sum(nodes.iter().map(Self::new).collect()),
            Node::Group(_, node) | Node::Atomic(node) | Node::Look { node, .. } => Self::new(node),
            Node::Repeat {
                node, least, most, ..
            } => Self::Repeat(Box::new(Self::new(node)), *least, *most),
            Node::Condition { yes, no, .. } => {
                let all = std::iter::once(yes).chain(no);
                Self::Sum(all.map(|node| Self::new(node)).collect())
            }
        }
    }

    /// Whether a way can be longer than the pattern.
    fn has_repeats(&self) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Sum(all) | Self::Product(all) => all.iter().any(Self::has_repeats),
            Self::Repeat(..) => true,
        }
    }

    /// The bound for a text of this length.
    fn of(&self, length: f64) -> f64 {
        match self {
            Self::Number(ways) => *ways,
            Self::Sum(all) => all.iter().map(|ways| ways.of(length)).sum(),
            Self::Product(all) => all.iter().map(|ways| ways.of(length)).product(),
            Self::Repeat(ways, least, most) => {
                let most = match *most {
                    UNLIMITED => length + f64::from(*least),
                    most => f64::from(most),
                };
                let choices = most - f64::from(*least) + 1.0;
                choices * ways.of(length).powf(most)
            }
        }
    }
}

impl FromStr for PythonRegex {
    type Err = InvalidPattern;

    fn from_str(pattern: &str) -> Result<Self, InvalidPattern> {
        let parsed = parse(pattern).map_err(|reason| InvalidPattern {
            pattern: pattern.to_owned(),
            reason,
        })?;
        // A pattern that is too large for a linear matcher is not too large for the other.
        let linear = linear::translated(&parsed.node);
        let linear = linear.and_then(|pattern| regex::Regex::new(&pattern).ok());
        let matcher = linear.map_or_else(
            || Matcher::Backtracking(Box::new(Backtracking::new(&parsed.node, parsed.groups))),
            Matcher::Linear,
        );
        Ok(Self {
            pattern: pattern.to_owned(),
            matcher,
        })
    }
}

impl fmt::Display for PythonRegex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pattern)
    }
}

impl PartialEq for PythonRegex {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}

impl Eq for PythonRegex {}

impl std::hash::Hash for PythonRegex {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.pattern.hash(state);
    }
}

/// Returns a pattern that matches a text, as `re.escape`.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_ascii() && !char.is_ascii_alphanumeric() && char != '_' {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}

/// Returns what `re.sub` replaces a match of this text by, if the pattern has no groups.
pub(crate) fn expand(replacement: &str, matched: &str) -> Result<String, String> {
    let fail = |problem: String| Err(format!("{replacement:?} is not a replacement: {problem}"));
    let mut expanded = String::with_capacity(replacement.len());
    let mut rest = replacement;
    while let Some((before, after)) = rest.split_once('\\') {
        expanded.push_str(before);
        let Some(char) = after.chars().next() else {
            return fail("bad escape (end of pattern)".to_owned());
        };
        rest = &after[char.len_utf8()..];
        match char {
            'a' => expanded.push('\x07'),
            'b' => expanded.push('\x08'),
            'f' => expanded.push('\x0c'),
            'n' => expanded.push('\n'),
            'r' => expanded.push('\r'),
            't' => expanded.push('\t'),
            'v' => expanded.push('\x0b'),
            '\\' => expanded.push('\\'),
            'g' => {
                let name = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
                match name {
                    Some((number, after)) if number.parse() == Ok(0) => {
                        expanded.push_str(matched);
                        rest = after;
                    }
                    _ => return fail("expected \\g<0>, the word itself".to_owned()),
                }
            }
            '0'..='9' => {
                let octal = rest
                    .bytes()
                    .take_while(|byte| matches!(byte, b'0'..=b'7'))
                    .count();
                let digits = if char == '0' {
                    octal.min(2)
                } else {
                    octal.min(2) * usize::from(octal >= 2)
                };
                let code = u32::from_str_radix(&format!("{char}{}", &rest[..digits]), 8);
                let is_octal = char == '0' || digits == 2;
                match code
                    .ok()
                    .and_then(|code| u8::try_from(code).ok())
                    .filter(|_| is_octal)
                {
                    Some(code) => expanded.push(code.into()),
                    None => return fail(format!("invalid group reference {char}")),
                }
                rest = &rest[digits..];
            }
            char if char.is_ascii_alphabetic() => return fail(format!("bad escape \\{char}")),
            char => expanded.extend(['\\', char]),
        }
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn regex(pattern: &str) -> PythonRegex {
        pattern.parse().expect("a pattern")
    }

    #[test]
    fn matches_by_hand() {
        let rows = [
            ("!$", "a!\n", "a-\n"),
            ("x*", "abxd", "-a-b--d-"),
            (r"\bक", "हाक", "हा-"),
            (r"\w", "½_ा", "--ा"),
            (r"\s", "a\u{1f}b\u{200b}", "a-b\u{200b}"),
            ("[[:punct:]]", "p]", "-"),
            ("[a&&b]", "a&b", "---"),
            ("(?<=a)b", "ab b", "a- b"),
            (r"(.)\1", "aab", "-b"),
            ("(?i)k", "K\u{212a}", "--"),
            ("a++a", "aaa", "aaa"),
            ("a{,2}b", "aaab", "a-"),
        ];
        for (pattern, text, expected) in rows {
            let replaced = regex(pattern).replace_all(text, "-");
            assert_eq!(replaced.as_deref(), Ok(expected), "{pattern} {text:?}");
        }
    }

    #[test]
    fn what_is_refused_says_why() {
        for (pattern, says) in [
            (r"\N{DASH}", "names of characters"),
            ("a**", "multiple repeat"),
            ("(?<=a+)b", "fixed-width"),
            ("a(?i)", "not at the start"),
            ("[z-a]", "bad character range"),
            ("\\", "end of pattern"),
        ] {
            let error = pattern.parse::<PythonRegex>().expect_err(pattern);
            assert!(error.to_string().contains(says), "{error}");
        }
        let deep = "(".repeat(200) + &")".repeat(200);
        assert!(deep.parse::<PythonRegex>().is_err());
    }

    #[test]
    fn replacements_have_the_escapes_of_python() {
        for (text, expected) in [
            ("b", Some("b")),
            (r"\g<0>s\n", Some("words\n")),
            (r"\\\101\0", Some("\\A\0")),
            (r"\.", Some(r"\.")),
            (r"\1", None),
            (r"\q", None),
            ("\\", None),
        ] {
            assert_eq!(expand(text, "word").ok().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn only_costly_patterns_are_checked() {
        for (pattern, bytes, may) in [
            ("!$", 100_000, false),
            (r"\bthe\b", 100_000, false),
            (r"\s+$", 100, false),
            (r"\s+$", 10_000, true),
            ("(a|a)*$", 40, true),
            ("(a|a)*b", 1 << 30, false),
        ] {
            assert_eq!(
                regex(pattern).may_take_too_many_steps(bytes),
                may,
                "{pattern}"
            );
        }
        let text = "a".repeat(50);
        assert_eq!(regex("(a|a)*$b").find(&text), Err(TooManySteps));
        // As many choices as memory allows.
        let text = "ab".repeat(2 << 20);
        assert_eq!(regex("(?:ab)*$c").find(&text), Err(TooManySteps));
    }

    proptest! {
        /// The matcher of most patterns and the one that follows CPython step by step.
        #[test]
        fn both_matchers_agree(
            pattern in r"((\(\?i\))?([ab.é]|\[[^]ab]{1,2}[ab]\]|\\w|\\S)([*+?]|[*+?]\?|\{1,2\})?(a|\(a\|b+?\){1,2}|\|ab)?){1,3}",
            text in "[abAéÉ \n1_]{0,8}",
        ) {
            let Ok(parsed) = parse(&pattern) else { return Ok(()) };
            let Some(linear) = linear::translated(&parsed.node) else { return Ok(()) };
            let linear = Matcher::Linear(regex::Regex::new(&linear).expect("a pattern"));
            let backtracking = Matcher::Backtracking(Box::new(Backtracking::new(&parsed.node, parsed.groups)));
            let [one, other] = [linear, backtracking].map(|matcher| PythonRegex { pattern: pattern.clone(), matcher });
            prop_assert_eq!(one.find(&text), other.find(&text));
            prop_assert_eq!(one.replace_all(&text, "-"), other.replace_all(&text, "-"));
        }
    }
}
