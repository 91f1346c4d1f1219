//! Text from anywhere, made readable: invisible characters are spelled out, and long texts are cut.

use std::fmt::{self, Write};

use unicode_segmentation::UnicodeSegmentation;

/// The maximum number of characters of a name, such as that of a class or a file.
pub(crate) const NAME: usize = 120;
/// The maximum number of characters of a text of an example.
pub(crate) const TEXT: usize = 2_000;
/// The maximum number of characters of a sentence that is not from an example, such as a warning.
pub(crate) const SENTENCE: usize = 1_000;
/// The maximum number of marks on one character; more would be drawn over other lines.
const MARKS: usize = 8;
/// The maximum number of bytes of a shown character, on average.
const BYTES: usize = 16;

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    /// Characters that are shown as they are.
    Visible(&'t str),
    /// A character that cannot be seen, or that changes what is around it.
    Hidden(char),
    /// This many marks on a character are too many.
    Marks(usize),
    /// The text is cut here; it has this many characters in all.
    Cut(usize),
}

/// Whether a character cannot be seen, or changes the direction or form of what is around it.
pub(crate) fn is_hidden(character: char) -> bool {
    matches!(character,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        || matches!(u32::from(character) & 0xffff, 0xfffe | 0xffff)
}

/// Divides the start of a text into pieces: at most `most` characters as readers count them.
fn pieces(text: &str, most: usize, mut each: impl FnMut(Piece<'_>) -> fmt::Result) -> fmt::Result {
    // Only the part of a text that can be shown is read, whatever its size.
    let end = boundary(text, most.saturating_mul(BYTES));
    let start = &text[..end];
    let (mut from, mut to) = (0, 0);
    for (at, cluster) in start.grapheme_indices(true).take(most) {
        to = at + cluster.len();
        let is_plain = cluster.chars().nth(MARKS + 1).is_none() && !cluster.chars().any(is_hidden);
        if is_plain {
            continue;
        }
        if from < at {
            each(Piece::Visible(&start[from..at]))?;
        }
        let mut marks = 0;
        for (number, (offset, character)) in cluster.char_indices().enumerate() {
            let position = at + offset;
            if is_hidden(character) {
                each(Piece::Hidden(character))?;
            } else if number > MARKS {
                marks += 1;
            } else {
                each(Piece::Visible(
                    &start[position..position + character.len_utf8()],
                ))?;
            }
        }
        if marks > 0 {
            each(Piece::Marks(marks))?;
        }
        from = to;
    }
    if from < to {
        each(Piece::Visible(&start[from..to]))?;
    }
    if to < text.len() {
        each(Piece::Cut(text.chars().count()))?;
    }
    Ok(())
}

/// The last end of a character at or before an index.
fn boundary(text: &str, index: usize) -> usize {
    if index >= text.len() {
        text.len()
    } else {
        // The end of a character is at most three bytes away.
        (index.saturating_sub(3)..=index)
            .rev()
            .find(|&end| text.is_char_boundary(end))
            .unwrap_or(0)
    }
}

/// Writes text with the five characters that are special in HTML as entities.
pub(crate) fn escape(text: &str, to: &mut (impl Write + ?Sized)) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        to.write_str(&rest[..at])?;
        to.write_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        })?;
        rest = &rest[at + 1..];
    }
    to.write_str(rest)
}

/// Text as HTML: escaped, isolated from the direction of its neighbors, with marks for what is hidden.
pub(crate) struct Shown<'t> {
    text: &'t str,
    most: usize,
    /// Whether leading, trailing and double spaces are shown as dots.
    dots: bool,
}

impl Shown<'_> {
    fn write(&self, to: &mut (impl Write + ?Sized)) -> fmt::Result {
        to.write_str("<bdi>")?;
        pieces(self.text, self.most, |piece| match piece {
            Piece::Visible(text) if self.dots => escape(&dotted(text), to),
            Piece::Visible(text) => escape(text, to),
            Piece::Hidden(character) => {
                let code = u32::from(character);
                write!(to, "<span class=\"ctl\">U+{code:04X}</span>")
            }
            Piece::Marks(marks) => write!(to, "<span class=\"ctl\">+{marks} marks</span>"),
            Piece::Cut(all) => write!(
                to,
                "<span class=\"ctl\">… cut, {} characters in all</span>",
                grouped(all as u64)
            ),
        })?;
        to.write_str("</bdi>")
    }
}

/// The text with a dot for each space that would be invisible.
fn dotted(text: &str) -> String {
    let mut dotted = String::new();
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let is_alone = before != ' ' && characters.peek().is_some_and(|next| *next != ' ');
        dotted.push(match character {
            ' ' if !is_alone => '·',
            other => other,
        });
        before = character;
    }
    dotted
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

/// Text as HTML: escaped.
pub(crate) struct Escaped(pub(crate) String);

impl fmt::Display for Escaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(&self.0, f)
    }
}

/// A name with any content.
pub(crate) fn name(text: &str) -> Shown<'_> {
    shown(text, NAME)
}

/// A text with any content, cut after some characters.
pub(crate) fn shown(text: &str, most: usize) -> Shown<'_> {
    Shown {
        text,
        most,
        dots: false,
    }
}

/// A unit of an alignment, with spaces that can be seen.
pub(crate) fn unit(text: &str) -> Shown<'_> {
    Shown {
        text,
        most: NAME,
        dots: true,
    }
}

/// Text without markup, not escaped: for attributes, for text in pictures and for Markdown.
pub(crate) fn plain(text: &str, most: usize) -> String {
    let mut plain = String::new();
    // Writing to a string cannot fail.
    let _ = pieces(text, most, |piece| match piece {
        Piece::Visible(text) => plain.write_str(text),
        Piece::Hidden(character) => write!(plain, "[U+{:04X}]", u32::from(character)),
        Piece::Marks(marks) => write!(plain, "[+{marks} marks]"),
        Piece::Cut(_) => plain.write_char('…'),
    });
    plain
}

/// Text without markup, for attributes and titles of HTML.
pub(crate) fn escaped(text: &str, most: usize) -> Escaped {
    Escaped(plain(text, most))
}

/// Returns a count with a comma after each three digits from the right, as reports show counts.
///
/// ```
/// assert_eq!(metric_report::grouped(1_234_567), "1,234,567");
/// ```
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a count with its noun, in the plural unless it is 1.
///
/// ```
/// use metric_report::counted;
///
/// assert_eq!(counted(1, "example"), "1 example");
/// assert_eq!(counted(1_000_000, "example"), "1,000,000 examples");
/// ```
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// A number with some decimals and a minus sign that is as wide as a plus sign.
pub(crate) fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    // Values that round to 0 have no sign.
    let is_zero = !text.contains(|digit: char| ('1'..='9').contains(&digit));
    match text.strip_prefix('-') {
        Some(rest) if is_zero => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// A difference, with its sign.
pub(crate) fn difference(value: f64, digits: usize) -> String {
    let text = number(value, digits);
    if text.starts_with('−') || !text.contains(|digit: char| ('1'..='9').contains(&digit)) {
        text
    } else {
        format!("+{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        shown(text, TEXT).to_string()
    }

    #[test]
    fn what_html_obeys_is_escaped() {
        assert_eq!(
            html(r#"<a b='c'>&""#),
            "<bdi>&lt;a b=&#39;c&#39;&gt;&amp;&quot;</bdi>"
        );
    }

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        assert_eq!(
            html("a\u{202e}b\0\t\n"),
            "<bdi>a<span class=\"ctl\">U+202E</span>b<span class=\"ctl\">U+0000</span>\t\n</bdi>"
        );
        for hidden in [
            '\u{200d}',
            '\u{feff}',
            '\u{2066}',
            '\u{e0041}',
            '\u{85}',
            '\r',
            '\u{fffe}',
        ] {
            assert_eq!(
                plain(&hidden.to_string(), 9),
                format!("[U+{:04X}]", u32::from(hidden))
            );
        }
    }

    #[test]
    fn marks_are_limited() {
        let zalgo = format!("a{}b", "\u{301}".repeat(20));
        let expected = format!("a{}[+12 marks]b", "\u{301}".repeat(8));
        assert_eq!(plain(&zalgo, 9), expected);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(plain("abc", 3), "abc");
        assert_eq!(plain("abcd", 3), "abc…");
        assert_eq!(plain("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}e\u{301}…");
        assert_eq!(
            html(&"ä".repeat(2001)),
            format!(
                "<bdi>{}<span class=\"ctl\">… cut, 2,001 characters in all</span></bdi>",
                "ä".repeat(2000)
            )
        );
        // One character as people count them, of a megabyte.
        let one = format!("a{}", "\u{301}".repeat(500_000));
        assert!(html(&one).len() < 200, "{}", html(&one).len());
        assert!(plain(&"🏳️‍🌈".repeat(9), 2).ends_with('…'));
    }

    #[test]
    fn spaces_are_seen() {
        assert_eq!(unit(" a b  c ").to_string(), "<bdi>·a b··c·</bdi>");
    }

    #[test]
    fn numbers_are_for_people() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(123), "123");
        assert_eq!(number(-0.25, 1), "−0.2");
        assert_eq!(number(-0.00001, 2), "0.00");
        assert_eq!(difference(0.5, 2), "+0.50");
        assert_eq!(difference(0.0, 2), "0.00");
    }
}
