//! Comments removed from source code, as the reference implementations do before they parse.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2, memchr3, memmem};

/// The rule by which the comments of a language are removed before its texts are parsed.
///
/// The rules are those of codebleu 0.7.0 (Python); the original evaluator of CodeXGLUE applies
/// [`CStyle`](Self::CStyle) to every language. They are part of the scores of both programs, so
/// their defects are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommentRule {
    /// `//` to the end of the line and `/* … */` become one space, then blank lines are dropped.
    ///
    /// Text between two `'` or two `"` is kept, whatever lines it spans. Known defects: an
    /// apostrophe without a partner nearby (a Rust lifetime) hides the comments up to the next one;
    /// comment markers in backtick or raw strings count; `#` comments stay; blank lines inside
    /// strings are dropped too.
    CStyle,
    /// Comments, docstrings and blank lines are removed, by the tokens of Python 3.11's own `tokenize`.
    ///
    /// Known defects: any string that starts a line in column 0 or a statement is removed. Lines
    /// joined by a backslash become one. A tab between two tokens becomes a space, and so do the
    /// tabs that indent the second and later lines of a block, which damages its layout.
    ///
    /// In one respect the tokens are not Python's: a tab or form feed before a character that
    /// Unicode calls alphabetic without being a letter (a combining vowel sign, a circled letter),
    /// or that is newer than Unicode 14, becomes a space, where Python keeps it.
    Python,
    /// Nothing is removed: codebleu 0.7.0 on Ruby, the Fusion Brain Challenge 2021 program.
    Keep,
}

impl CommentRule {
    /// Returns `text` without comments, borrowed if nothing changes. Returns `None` where Python's tokenizer gives up
    /// and the reference implementation keeps the whole text.
    ///
    /// Python's gives up on brackets or a triple-quoted string still open at the end (also on a
    /// closing bracket too many), on a backslash before the end, and on a line indented less than
    /// the one above but as no line before. Time is linear in the text.
    ///
    /// ```
    /// use metric_code::CommentRule;
    ///
    /// let strip = |rule: CommentRule, text| rule.strip(text).map(String::from);
    /// assert_eq!(strip(CommentRule::CStyle, "a/*b*/c // d\n\n'//'").unwrap(), "a c  \n'//'");
    /// assert_eq!(strip(CommentRule::Python, "def f():\n  'doc'\n  return 1 # one").unwrap(),
    ///     "def f():\n  return 1 ");
    /// assert_eq!(strip(CommentRule::Python, "f("), None);
    /// ```
    #[must_use]
    pub fn strip(self, text: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::CStyle => Some(without_blank_lines(c_style(text))),
            Self::Python => Some(without_blank_lines(python(text)?)),
            Self::Keep => Some(Cow::Borrowed(text)),
        }
    }
}

/// Whether `c` is white space to Python's `str.isspace`, `str.strip` and `str.split`: Unicode's
/// `White_Space` and the four separators U+001C to U+001F.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `text` without the white space at both ends, as by Python's `str.strip`.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// A copy of a text with parts left out or replaced, which costs nothing while it equals the text.
struct Rebuilt<'a> {
    text: &'a str,
    done: String,
    /// The part of the text that follows `done`.
    run: Range<usize>,
}

impl<'a> Rebuilt<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            done: String::new(),
            run: 0..0,
        }
    }

    fn keep(&mut self, part: Range<usize>) {
        if part.start == self.run.end {
            self.run.end = part.end;
        } else if !part.is_empty() {
            self.flush();
            self.run = part;
        }
    }

    fn spaces(&mut self, count: usize) {
        self.flush();
        self.done.extend(std::iter::repeat_n(' ', count));
    }

    fn flush(&mut self) {
        if self.done.is_empty() {
            self.done.reserve(self.text.len());
        }
        self.done.push_str(&self.text[self.run.clone()]);
        self.run.start = self.run.end;
    }

    fn finish(mut self) -> Cow<'a, str> {
        if self.done.is_empty() {
            return Cow::Borrowed(&self.text[self.run]);
        }
        self.flush();
        Cow::Owned(self.done)
    }
}

/// The lines that are not blank, without a line feed after the last.
fn without_blank_lines(text: Cow<'_, str>) -> Cow<'_, str> {
    let blank = |line: &&str| line.chars().all(is_space);
    if text.is_empty() || !text.split('\n').any(|line| blank(&line)) {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    for line in text.split('\n').filter(|line| !blank(line)) {
        if !kept.is_empty() {
            kept.push('\n');
        }
        kept.push_str(line);
    }
    Cow::Owned(kept)
}

/// The C-style rule except for the blank lines.
fn c_style(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut rebuilt = Rebuilt::new(text);
    let mut at = 0;
    // Quotes and `/*` without an end are plain text. One failed search for the end settles all
    // later ones of the kind. For quotes: it has passed every later quote as the second half of an
    // escape, so a search from there would take the same steps. For `/*`: there are no more `*/`
    // after a later one.
    let (mut single, mut double, mut block) = (true, true, true);
    while let Some(plain) = memchr3(b'/', b'\'', b'"', &bytes[at..]) {
        let start = at + plain;
        rebuilt.keep(at..start);
        let rest = &bytes[start..];
        let (length, comment) = match (rest[0], rest.get(1)) {
            (b'/', Some(b'/')) => (memchr(b'\n', rest).or(Some(rest.len())), true),
            (b'/', Some(b'*')) if block => {
                let length = memmem::find(&rest[2..], b"*/").map(|body| body + 4);
                block = length.is_some();
                (length, true)
            }
            (quote @ (b'\'' | b'"'), _) => {
                let open = if quote == b'"' {
                    &mut double
                } else {
                    &mut single
                };
                let length = open.then(|| quoted_run(rest)).flatten();
                *open = length.is_some();
                (length, false)
            }
            _ => (None, false),
        };
        at = start + length.unwrap_or(1);
        if comment && length.is_some() {
            rebuilt.spaces(1);
        } else {
            rebuilt.keep(start..at);
        }
    }
    rebuilt.keep(at..text.len());
    rebuilt.finish()
}

/// The length of the quoted run that `text` starts with, both quotes included.
fn quoted_run(text: &[u8]) -> Option<usize> {
    let quote = *text.first()?;
    let mut at = 1;
    loop {
        at += memchr2(quote, b'\\', text.get(at..)?)?;
        if text[at] == quote {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// The Python rule except for the blank lines.
fn python(text: &str) -> Option<Cow<'_, str>> {
    let mut tokens = PythonTokens {
        text,
        rebuilt: Rebuilt::new(text),
        end: 0,
        // A string that the text starts with is a docstring.
        previous: Kind::Indent,
        indents: vec![0],
        depth: 0,
        continued: false,
        open: None,
        needs_backslash: false,
        unfinished: None,
    };
    let mut start = 0;
    while start < text.len() {
        let feed = memchr(b'\n', &text.as_bytes()[start..]);
        let end = feed.map_or(text.len(), |feed| start + feed + 1);
        tokens.line(start, end)?;
        start = end;
    }
    tokens.finish()
}

/// The kind of a token, as far as this rule cares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Indent,
    Newline,
    Comment,
    String,
    Other,
}

/// A string that goes on in the next line.
struct Open {
    start: usize,
    /// The start of the line that it starts in.
    line: usize,
    quote: u8,
    triple: bool,
}

/// The tokenizer of Python 3.11 (`Lib/tokenize.py`), and the text put together again from its
/// tokens.
///
/// Only the kinds of [`Kind`] are told apart. Numbers and longer operators need no grammar, for
/// tokens that touch are copied as they touch: a number is cut into words and dots, an operator
/// into its characters, and the tokens around it stay the same.
struct PythonTokens<'a> {
    text: &'a str,
    rebuilt: Rebuilt<'a>,
    /// The end of the last token.
    end: usize,
    previous: Kind,
    /// The columns at which the open blocks start, rising from 0.
    indents: Vec<usize>,
    /// The brackets open; below 0 after a closing one too many.
    depth: i64,
    /// Whether the last line ended in a backslash outside strings.
    continued: bool,
    open: Option<Open>,
    /// Whether the lines of an open string must end in a backslash. Python sets this for a string
    /// in single quotes and forgets to reset it where such a string breaks off, so that the next
    /// string in triple quotes breaks off as well.
    needs_backslash: bool,
    /// The start of the last line, where the end of the text counts as an empty NEWLINE token.
    unfinished: Option<usize>,
}

impl<'a> PythonTokens<'a> {
    /// Takes the tokens of the next line, which ends after its line feed. `None` if no block starts in its column.
    fn line(&mut self, line: usize, end: usize) -> Option<()> {
        let is_ended = self.text[..end].ends_with(['\n', '\r']);
        let unfinished = !is_ended && !trim(&self.text[line..end]).starts_with('#');
        self.unfinished = unfinished.then_some(line);
        let start = if let Some(open) = self.open.take() {
            self.rest_of_string(open, line, end)
        } else if self.depth == 0 && !self.continued {
            self.start_of_statement(line, end)?
        } else {
            self.continued = false;
            line
        };
        self.tokens(line, start, end);
        Some(())
    }

    /// Goes on with a string that started in an earlier line. Returns where it ends, or the end of the line.
    fn rest_of_string(&mut self, open: Open, line: usize, end: usize) -> usize {
        let bytes = &self.text.as_bytes()[..end];
        match closing(bytes, line, open.quote, open.triple) {
            Ok(close) => {
                self.token(Kind::String, open.start..close, open.line);
                self.needs_backslash = false;
                close
            }
            Err(_) => {
                if self.needs_backslash && !ends_in_backslash(bytes) {
                    self.token(Kind::Other, open.start..end, open.line);
                } else {
                    self.open = Some(open);
                }
                end
            }
        }
    }

    /// Opens and closes blocks before a statement. Returns where it starts, or the end of a line without one.
    fn start_of_statement(&mut self, line: usize, end: usize) -> Option<usize> {
        let text: &'a str = &self.text[..end];
        let bytes = text.as_bytes();
        let (column, indent) = indentation(&bytes[line..]);
        let start = line + indent;
        match bytes.get(start) {
            None => {
                self.unfinished = None;
                Some(end)
            }
            Some(b'#' | b'\r' | b'\n') => {
                let comment = if bytes[start] == b'#' {
                    start..line + text[line..].trim_end_matches(['\r', '\n']).len()
                } else {
                    start..start
                };
                self.token(Kind::Comment, comment.clone(), line);
                self.token(Kind::Other, comment.end..end, line);
                Some(end)
            }
            Some(_) => {
                self.block(column, line, start)?;
                Some(start)
            }
        }
    }

    /// Takes the tokens from `at` to the end of the line.
    fn tokens(&mut self, line: usize, mut at: usize, end: usize) {
        let bytes = &self.text.as_bytes()[..end];
        // Whether a quote of the kind can start a string in this line. A failed search for the end
        // settles it for the rest of the line, as in the C-style rule.
        let mut possible = [true; 2];
        loop {
            let blank = bytes[at..].iter().take_while(|b| b" \x0c\t".contains(b));
            let start = at + blank.count();
            let Some(&first) = bytes.get(start) else {
                return;
            };
            let rest = &bytes[start..];
            at = match first {
                b'\\' if is_line_end(&rest[1..]) => {
                    self.continued = true;
                    return;
                }
                b'\r' | b'\n' if is_line_end(rest) => self.line_end(line, start, end),
                b'#' => self.comment(line, start, end),
                b'(' | b'[' | b'{' | b')' | b']' | b'}' => self.bracket(line, start, first),
                _ => self
                    .string(line, start, end, &mut possible)
                    .unwrap_or_else(|| self.word_or_operator(line, at..start, end)),
            };
        }
    }

    /// Takes the end of a line, which ends a statement unless a bracket is open.
    fn line_end(&mut self, line: usize, start: usize, end: usize) -> usize {
        let kind = if self.depth > 0 {
            Kind::Other
        } else {
            Kind::Newline
        };
        self.token(kind, start..end, line);
        end
    }

    /// Takes a comment.
    fn comment(&mut self, line: usize, start: usize, end: usize) -> usize {
        let rest = &self.text.as_bytes()[start..end];
        let close = start + memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
        self.token(Kind::Comment, start..close, line);
        close
    }

    /// Takes a bracket.
    fn bracket(&mut self, line: usize, start: usize, bracket: u8) -> usize {
        let opens = matches!(bracket, b'(' | b'[' | b'{');
        self.depth += if opens { 1 } else { -1 };
        self.token(Kind::Other, start..start + 1, line);
        start + 1
    }

    /// Takes a string; `None` if none starts here. One that goes on in the next line takes the rest of this one.
    fn string(
        &mut self,
        line: usize,
        start: usize,
        end: usize,
        possible: &mut [bool; 2],
    ) -> Option<usize> {
        let bytes = &self.text.as_bytes()[..end];
        let (quote, triple, body) = opening(&bytes[start..])?;
        let possible = &mut possible[usize::from(quote == b'"')];
        if !triple && !*possible {
            return None;
        }
        match closing(bytes, start + body, quote, triple) {
            Ok(close) => {
                self.token(Kind::String, start..close, line);
                Some(close)
            }
            Err(backslash) if triple || backslash => {
                self.needs_backslash |= !triple;
                self.open = Some(Open {
                    start,
                    line,
                    quote,
                    triple,
                });
                Some(end)
            }
            Err(_) => {
                *possible = false;
                None
            }
        }
    }

    /// Takes a word, a character of an operator, or a character that starts no token, after white space.
    fn word_or_operator(&mut self, line: usize, blank: Range<usize>, end: usize) -> usize {
        let rest = &self.text[blank.end..end];
        let word = rest.find(|c: char| c != '_' && !c.is_alphanumeric());
        let (start, length) = match word.unwrap_or(rest.len()) {
            0 if is_operator(rest.as_bytes()) => (blank.end, 1),
            // No token starts here. Python then takes the first character of the white space as an erroneous
            // token, and the next, and so on.
            0 => (blank.start, rest.chars().next().map_or(1, char::len_utf8)),
            length => (blank.end, length),
        };
        self.token(Kind::Other, start..blank.end + length, line);
        blank.end + length
    }

    /// Opens or closes blocks for a statement that starts in `column`; `None` if no block did.
    fn block(&mut self, column: usize, line: usize, at: usize) -> Option<()> {
        let current = self.indents.last().copied().unwrap_or(0);
        if column > current {
            self.indents.push(column);
            self.token(Kind::Indent, line..at, line);
            return Some(());
        }
        let kept = self.indents.binary_search(&column).ok()? + 1;
        if kept < self.indents.len() {
            self.indents.truncate(kept);
            self.token(Kind::Other, at..at, line);
        }
        Some(())
    }

    /// Takes one token, which starts in the line that starts at `line`.
    fn token(&mut self, kind: Kind, token: Range<usize>, line: usize) {
        // Between the tokens of a line, a column becomes a space.
        let gap = self.end.max(line)..token.start;
        if self.text.as_bytes()[gap.clone()].iter().all(|&b| b == b' ') {
            self.rebuilt.keep(gap);
        } else {
            self.rebuilt.spaces(gap.len());
        }
        let starts_statement = matches!(self.previous, Kind::Indent | Kind::Newline);
        let dropped = match kind {
            Kind::Comment => true,
            Kind::String => starts_statement || token.start == line,
            _ => false,
        };
        self.previous = kind;
        self.end = token.end;
        if !dropped {
            self.rebuilt.keep(token);
        }
    }

    fn finish(mut self) -> Option<Cow<'a, str>> {
        if self.open.is_some() || self.depth != 0 || self.continued {
            return None;
        }
        if let Some(line) = self.unfinished {
            let end = self.text.len();
            self.token(Kind::Newline, end..end, line);
        }
        Some(self.rebuilt.finish())
    }
}

/// The column and the byte index of the first character of `line` that is not a blank.
fn indentation(line: &[u8]) -> (usize, usize) {
    let mut column = 0;
    for (index, byte) in line.iter().enumerate() {
        column = match byte {
            b' ' => column + 1,
            b'\t' => (column / 8 + 1) * 8,
            b'\x0c' => 0,
            _ => return (column, index),
        };
    }
    (column, line.len())
}

/// The quote, whether it is a triple one, and where the body starts, if a string literal does.
fn opening(text: &[u8]) -> Option<(u8, bool, usize)> {
    let letters = text.iter().take(3).take_while(|b| b.is_ascii_alphabetic());
    let prefix = letters.count();
    let quote = *text.get(prefix)?;
    if !matches!(quote, b'\'' | b'"') {
        return None;
    }
    let known = match text[..prefix] {
        [] => true,
        [a] => b"brufBRUF".contains(&a),
        [a, b] => matches!(&[a | 0x20, b | 0x20], b"br" | b"rb" | b"fr" | b"rf"),
        _ => false,
    };
    let triple = text[prefix + 1..].starts_with(&[quote, quote]);
    known.then_some((quote, triple, prefix + if triple { 3 } else { 1 }))
}

/// Where the string whose body goes on at `at` ends, if it does before the end of `text` (which is
/// the end of a line); else whether a backslash takes the line break into the string.
fn closing(text: &[u8], mut at: usize, quote: u8, triple: bool) -> Result<usize, bool> {
    loop {
        let Some(found) = text.get(at..).and_then(|rest| memchr2(quote, b'\\', rest)) else {
            return Err(false);
        };
        at += found;
        if text[at] == b'\\' {
            if is_line_end(&text[at + 1..]) {
                return Err(true);
            }
            at += 2;
        } else if !triple {
            return Ok(at + 1);
        } else if text[at + 1..].starts_with(&[quote, quote]) {
            return Ok(at + 3);
        } else {
            at += 1;
        }
    }
}

/// Whether an operator other than a bracket starts `text`.
fn is_operator(text: &[u8]) -> bool {
    matches!(text, [b'!', b'=', ..])
        || text
            .first()
            .is_some_and(|first| b":,;.+-*/|&<>=%~^@".contains(first))
}

fn is_line_end(text: &[u8]) -> bool {
    matches!(text, b"\n" | b"\r\n")
}

fn ends_in_backslash(line: &[u8]) -> bool {
    line.ends_with(b"\\\n") || line.ends_with(b"\\\r\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // The expected texts were derived from the rules, and equal the output of codebleu 0.7.0 under
    // Python 3.11.
    const C_STYLE: &[(&str, &str, &str)] = &[
        ("nothing to do", "a / b * 'c' \"d\"", "a / b * 'c' \"d\""),
        ("empty", "", ""),
        ("line comment, space left", "a // b\nc", "a  \nc"),
        ("line comment to the end of the text", "a //", "a  "),
        ("the CR goes too", "a//b\r\nc", "a \nc"),
        ("block comment over lines", "a /* b\n c */ d", "a   d"),
        (
            "block comment without an end",
            "a /* b\n/* c",
            "a /* b\n/* c",
        ),
        ("the star of an opening closes nothing", "/*/ a */b", " b"),
        ("markers in quotes", "'//' \"/*\" // x", "'//' \"/*\"  "),
        ("the other quote in quotes", "'\"' // x", "'\"'  "),
        ("escaped quotes", "'\\'//' // x", "'\\'//'  "),
        ("escaped quotes without an end", "'a\\' // x", "'a\\'  "),
        ("quotes over lines", "'\n// a\n' // x", "'\n// a\n'  "),
        (
            "an apostrophe hides the next comment",
            "<'a> // b\n<'c> // d",
            "<'a> // b\n<'c>  ",
        ),
        (
            "an apostrophe without a partner",
            "<'a> // b\nc // d",
            "<'a>  \nc  ",
        ),
        ("a backslash outside quotes", "\\'//' // x", "\\'//'  "),
        ("blank lines", "a\n \t\u{b}\n\u{1c}\u{2028}\nb\n", "a\nb"),
        ("blank lines in strings", "'a\n\nb'", "'a\nb'"),
        ("a comment on its own line", "a\n  // b\nc", "a\nc"),
        ("only a comment", "// a", ""),
        ("hash comments stay", "# a", "# a"),
        ("backticks do not protect", "`http://x`", "`http: "),
    ];
    const PYTHON: &[(&str, &str, &str)] = &[
        ("empty", "", ""),
        ("comment", "x = 1  # one\ny", "x = 1  \ny"),
        ("only a comment", "# a", ""),
        ("comment after a blank line", "\n\n  # a\nx", "x"),
        (
            "strings that are no statement",
            "x = '#' + \"'\" # c",
            "x = '#' + \"'\" ",
        ),
        ("docstring of a module", "'''a\nb'''\nx", "x"),
        (
            "docstring of a function",
            "def f():\n  'a'\n  return 1",
            "def f():\n  return 1",
        ),
        ("any string statement", "x = 1\n'a'\ny", "x = 1\ny"),
        (
            "after a comment, in a block",
            "if x:\n  y\n  # c\n  'kept'",
            "if x:\n  y\n  'kept'",
        ),
        (
            "after the end of a block",
            "if x:\n  if y:\n    z\n  'kept'",
            "if x:\n  if y:\n    z\n  'kept'",
        ),
        ("second in a line", "x; 'kept'", "x; 'kept'"),
        ("in brackets", "f(\n  'kept')", "f(\n  'kept')"),
        ("in brackets, in column 0", "f(\n'a'\n)", "f(\n)"),
        ("prefixes", "Rb'a'\nF'{b}'\nu'''c'''\nx", "x"),
        ("what is no prefix", "ub'kept'", "ub'kept'"),
        ("escapes", "x = 'a\\'b' # c", "x = 'a\\'b' "),
        (
            "triple quotes",
            "x = '''a'b''\n#''' # c",
            "x = '''a'b''\n#''' ",
        ),
        (
            "escapes in triple quotes",
            "x = '''a\\'''' # c",
            "x = '''a\\'''' ",
        ),
        (
            "line break escaped in triple quotes",
            "x = '''a\\\n''' # c",
            "x = '''a\\\n''' ",
        ),
        ("four quotes", "x = ''''a''' # c", "x = ''''a''' "),
        (
            "string continued by a backslash",
            "x = 'a\\\nb\\\r\nc' # c",
            "x = 'a\\\nb\\\r\nc' ",
        ),
        (
            "broken off after a backslash",
            "x = 'a\\\nb # no\ny # c",
            "x = 'a\\\nb # no\ny ",
        ),
        ("a lone quote", "'a # b\nc # d", "'a \nc "),
        ("lone quotes in both kinds", "\" ' # b", "\" ' "),
        ("lone quote after an escape", "'\\' # b", "'\\' "),
        (
            "statement continued by a backslash",
            "x = 1 + \\\n  2",
            "x = 1 +  2",
        ),
        (
            "statement continued, CRLF",
            "x = 1 + \\\r\n\t2",
            "x = 1 + 2",
        ),
        ("tab between tokens", "a\tb", "a b"),
        ("form feed between tokens", "a\u{c}b", "a b"),
        ("tab before what is no token", "a\t$ \t?", "a\t$ \t?"),
        ("tab after what is no token", "$\ta", "$ a"),
        ("tabs of a block", "if x:\n\ta\n\tb", "if x:\n\ta\n b"),
        (
            "a tab goes to a multiple of 8",
            "if x:\n        a\n\tb",
            "if x:\n        a\n b",
        ),
        (
            "a form feed starts the columns again",
            "if x:\n  a\n\u{c}  b",
            "if x:\n  a\n   b",
        ),
        ("spaces at the end", "x  ", "x  "),
        ("tab at the end", "x\t", "x "),
        ("spaces in the last line", "x\n  ", "x"),
        ("continued to a blank last line", "x\\\n  ", "x  "),
        ("CRLF", "x # a\r\ny\r\n", "x \r\ny\r"),
        ("comment up to a CR", "x # a\ry", "x \ry"),
        ("a line that a CR starts", "\rx # a", "\rx # a"),
        (
            "no tokens",
            "a ? b ! c $ `\0\u{a0}\u{feff}",
            "a ? b ! c $ `\0\u{a0}\u{feff}",
        ),
        ("byte order mark", "\u{feff}# a", "\u{feff}"),
        ("operators", "a!=b->c:=d...e@f~g", "a!=b->c:=d...e@f~g"),
        (
            "numbers",
            "1_0if 0xfor 1.5e-3j else.5",
            "1_0if 0xfor 1.5e-3j else.5",
        ),
        ("other letters and digits", "é²\t= 'ß' # c", "é² = 'ß' "),
        ("closed before opened", "a)\n(b # c", "a)\n(b "),
        (
            "brackets over lines",
            "f(a, # b\n  [1,\n   {2}])",
            "f(a, \n  [1,\n   {2}])",
        ),
        ("blank lines in brackets", "f(\n\n1)", "f(\n1)"),
        (
            "blank lines in strings",
            "x = '''a\n\nb'''",
            "x = '''a\nb'''",
        ),
    ];
    const GIVEN_UP: &[(&str, &str)] = &[
        ("bracket open", "f("),
        ("bracket too many", "f)"),
        ("triple quotes open", "x = '''a"),
        ("string continued at the end", "x = 'a\\\n"),
        ("backslash at the end", "x \\\n"),
        ("indented less, but as no line before", "if x:\n    a\n  b"),
        (
            "broken string: a triple-quoted one breaks off too",
            "x = 'a\\\nb\ny = '''c\nd\n'''\n",
        ),
    ];

    #[track_caller]
    fn check(rule: CommentRule, rows: &[(&str, &str, &str)]) {
        for (name, text, expected) in rows {
            let stripped = rule.strip(text);
            assert_eq!(stripped.as_deref(), Some(*expected), "{name}");
            let borrowed = matches!(stripped, Some(Cow::Borrowed(_)));
            assert!(borrowed || text != expected, "copied for nothing: {name}");
        }
    }

    #[test]
    fn c_style_rows() {
        check(CommentRule::CStyle, C_STYLE);
    }

    #[test]
    fn python_rows() {
        check(CommentRule::Python, PYTHON);
        for (name, text) in GIVEN_UP {
            assert_eq!(CommentRule::Python.strip(text), None, "{name}");
        }
    }

    #[test]
    fn keep_keeps_all() {
        check(
            CommentRule::Keep,
            &[("comments", "# a\n\n// b", "# a\n\n// b")],
        );
    }

    #[test]
    fn white_space_is_pythons() {
        let text = "\u{1c}\u{1f}\u{85}\u{a0}\u{3000}\t\u{200b}a\u{feff} \n";
        assert_eq!(trim(text), "\u{200b}a\u{feff}");
    }

    #[test]
    fn large_texts_take_linear_time() {
        // A quadratic step would take minutes on one of these.
        let units = [
            "'",
            "\"",
            "\\",
            "\\'",
            "'\\",
            "/*",
            "/",
            "#",
            "(",
            ")",
            " $",
            "\t$",
            "\t",
            "\n",
            "r'",
            "\"'",
            "'''",
            "'\\\n",
            "if a:\n\t",
        ];
        for unit in units {
            let text = unit.repeat((1 << 17) / unit.len());
            for rule in [CommentRule::CStyle, CommentRule::Python] {
                let stripped = rule.strip(&text);
                assert!(stripped.is_none_or(|stripped| stripped.len() <= text.len()));
            }
        }
    }

    fn pieces() -> impl Strategy<Value = String> {
        const PIECES: &[&str] = &[
            "'", "\"", "'''", "\"\"\"", "b", "rb'", "\\", "\\\n", "\\\r\n", "\r", "\n", "\n",
            "\n  ", "\n\t", "\t", " ", "\u{c}", "\0", "#", "//", "/*", "*/", "(", ")", "[", "]",
            "name", "0x1", "?", "=", "if x:", "é", "²", "\u{301}", "\u{a0}", "\u{2028}",
            "\u{feff}", "😀",
        ];
        let piece = proptest::sample::select(PIECES);
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_rule_adds_text_or_leaves_blank_lines(text in pieces()) {
            for rule in [CommentRule::CStyle, CommentRule::Python] {
                if let Some(stripped) = rule.strip(&text) {
                    prop_assert!(stripped.len() <= text.len());
                    prop_assert!(stripped.is_empty() || !stripped.split('\n').any(|line| trim(line).is_empty()));
                }
            }
        }

        #[test]
        fn texts_without_markers_lose_blank_lines_only(text in "[a-z \\n]{0,40}") {
            let lines: Vec<&str> = text.split('\n').filter(|line| !trim(line).is_empty()).collect();
            let stripped = CommentRule::CStyle.strip(&text);
            prop_assert_eq!(stripped, Some(Cow::from(lines.join("\n"))));
        }
    }
}
