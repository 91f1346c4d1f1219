use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Alignment, Edit};

/// The labels before the lines: reference, prediction, edits.
const HEADS: [&str; 3] = ["REF: ", "HYP: ", "     "];

impl Alignment {
    /// Returns the alignment as text: the units of the reference above those of the prediction, and a letter below
    /// what is substituted (`S`), deleted (`D`) or inserted (`I`). Asterisks mark a missing unit: that of the
    /// reference at an insertion, that of the prediction at a deletion.
    ///
    /// Units are aligned in columns of a terminal: wide characters take two, and combining characters on their own are
    /// shown on a dotted circle. Right-to-left units are isolated, so that columns go from left to right, and read
    /// right to left inside. A space is shown as `␣`; characters that cannot be seen, or would change the order of
    /// others, are shown by their number.
    ///
    /// Lines are broken before they exceed `width` columns, unless a single unit does. Blocks of three lines are
    /// separated by an empty one. The lists must be those that were aligned; units that they do not have are not shown.
    ///
    /// ```
    /// use metric_text::edit::Alignment;
    ///
    /// let reference = ["the", "black", "cat", "sat"];
    /// let prediction = ["the", "cat", "sat", "there"];
    /// let text = Alignment::new(&reference, &prediction).diff(&reference, &prediction, 80);
    /// let lines: Vec<&str> = text.lines().collect();
    /// assert_eq!(lines, [
    ///     "REF: the black cat sat *****",
    ///     "HYP: the ***** cat sat there",
    ///     "         D             I",
    /// ]);
    /// ```
    #[must_use]
    pub fn diff(&self, reference: &[&str], prediction: &[&str], width: usize) -> String {
        self.lines(reference, prediction, width, |_| None)
    }

    /// Returns the text of [`diff`](Self::diff) for a terminal, with substitutions in yellow, deletions in red and
    /// insertions in green.
    ///
    /// ```
    /// use metric_text::edit::Alignment;
    ///
    /// let (reference, prediction) = (["a", "b"], ["a"]);
    /// let text = Alignment::new(&reference, &prediction).colored_diff(&reference, &prediction, 80);
    /// assert!(text.starts_with("REF: a \u{1b}[31mb\u{1b}[0m\n"));
    /// ```
    #[must_use]
    pub fn colored_diff(&self, reference: &[&str], prediction: &[&str], width: usize) -> String {
        self.lines(reference, prediction, width, color)
    }

    fn lines(
        &self,
        reference: &[&str],
        prediction: &[&str],
        width: usize,
        color: fn(Edit) -> Option<&'static str>,
    ) -> String {
        let mut text = String::new();
        let mut lines = HEADS.map(str::to_owned);
        let mut used = HEADS[0].len();
        for chunk in &self.chunks {
            let rows = reference.get(chunk.reference.clone()).unwrap_or_default();
            let columns = prediction.get(chunk.prediction.clone()).unwrap_or_default();
            for index in 0..rows.len().max(columns.len()) {
                let cells =
                    [rows, columns].map(|units| units.get(index).map(|unit| Cell::new(unit)));
                let wide = cells
                    .iter()
                    .flatten()
                    .map(|cell| cell.width)
                    .max()
                    .unwrap_or(0);
                if used + wide > width && used > HEADS[0].len() {
                    finish(&mut text, &mut lines);
                    used = HEADS[0].len();
                }
                let (start, end) = match color(chunk.edit) {
                    Some(color) => (color, NO_COLOR),
                    None => ("", ""),
                };
                for (line, cell) in lines.iter_mut().zip(&cells) {
                    line.push_str(start);
                    match cell {
                        Some(cell) => cell.write(line, wide),
                        None => line.extend(std::iter::repeat_n('*', wide)),
                    }
                    line.push_str(end);
                    line.push(' ');
                }
                let [.., edits] = &mut lines;
                edits.extend([start, letter(chunk.edit), end]);
                edits.extend(std::iter::repeat_n(' ', wide));
                used += wide + 1;
            }
        }
        finish(&mut text, &mut lines);
        text
    }
}

fn letter(edit: Edit) -> &'static str {
    match edit {
        Edit::Equal => " ",
        Edit::Substitute => "S",
        Edit::Delete => "D",
        Edit::Insert => "I",
    }
}

/// The control sequence that ends a color.
const NO_COLOR: &str = "\u{1b}[0m";

/// The control sequence for the color of an edit.
fn color(edit: Edit) -> Option<&'static str> {
    match edit {
        Edit::Equal => None,
        Edit::Substitute => Some("\u{1b}[33m"),
        Edit::Delete => Some("\u{1b}[31m"),
        Edit::Insert => Some("\u{1b}[32m"),
    }
}

/// Moves a block of lines to the text.
fn finish(text: &mut String, lines: &mut [String; 3]) {
    if !text.is_empty() {
        text.push('\n');
    }
    for (line, head) in lines.iter_mut().zip(HEADS) {
        text.push_str(line.trim_end());
        text.push('\n');
        *line = head.to_owned();
    }
}

/// A unit as it is shown.
struct Cell {
    shown: String,
    /// Columns of a terminal, at least one.
    width: usize,
    right_to_left: bool,
}

impl Cell {
    fn new(unit: &str) -> Self {
        let mut shown = String::with_capacity(unit.len());
        for (index, c) in unit.chars().enumerate() {
            match c {
                ' ' => shown.push('␣'),
                _ if is_hidden(c) => shown.extend(c.escape_unicode()),
                _ => {
                    if index == 0 && c.width() == Some(0) {
                        shown.push('◌');
                    }
                    shown.push(c);
                }
            }
        }
        Self {
            width: shown.width().max(1),
            right_to_left: unit.chars().any(is_right_to_left),
            shown,
        }
    }

    fn write(&self, line: &mut String, wide: usize) {
        if self.right_to_left {
            line.extend(["\u{2067}", &self.shown, "\u{2069}"]);
        } else {
            line.push_str(&self.shown);
        }
        line.extend(std::iter::repeat_n(' ', wide - self.width));
    }
}

/// White space except the space, controls, marks and embeddings of direction, and other format characters except the
/// joiners, which are part of what they join.
fn is_hidden(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
                | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// The blocks of scripts that are written from right to left.
fn is_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
            | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn diff(reference: &[&str], prediction: &[&str], width: usize) -> Vec<String> {
        let text = Alignment::new(reference, prediction).diff(reference, prediction, width);
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn by_hand() {
        assert_eq!(diff(&[], &[], 80), ["REF:", "HYP:", ""]);
        assert_eq!(
            diff(&["日本", "語"], &["日本", "x", "語"], 80),
            ["REF: 日本 * 語", "HYP: 日本 x 語", "          I"]
        );
        assert_eq!(
            diff(&["e", "\u{301}", " "], &["\t", "\u{200d}", "\u{202e}"], 80),
            [
                "REF: e     ◌\u{301} ␣",
                "HYP: \\u{9} ◌\u{200d} \\u{202e}",
                "     S     S S"
            ]
        );
        assert_eq!(
            diff(&["שלום", "a"], &["שלם", "a"], 80),
            [
                "REF: \u{2067}שלום\u{2069} a",
                "HYP: \u{2067}שלם\u{2069}  a",
                "     S"
            ]
        );
    }

    #[test]
    fn long_lines_are_broken() {
        assert_eq!(
            diff(
                &["aa", "bb", "a-long-word"],
                &["aa", "cc", "a-long-word"],
                10
            ),
            [
                "REF: aa bb",
                "HYP: aa cc",
                "        S",
                "",
                "REF: a-long-word",
                "HYP: a-long-word",
                "",
            ]
        );
    }

    #[test]
    fn colors_change_nothing_else() {
        let (reference, prediction) = (["a", "b", "c"], ["a", "x", "c", "d"]);
        let alignment = Alignment::new(&reference, &prediction);
        let colored = alignment.colored_diff(&reference, &prediction, 80);
        for part in ["\u{1b}[33mb", "\u{1b}[33mx", "\u{1b}[33mS", "\u{1b}[32md"] {
            assert!(colored.contains(part), "{part:?}: {colored:?}");
        }
        let mut plain = colored;
        for color in [NO_COLOR, "\u{1b}[33m", "\u{1b}[31m", "\u{1b}[32m"] {
            plain = plain.replace(color, "");
        }
        let trimmed: String = plain
            .lines()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect();
        assert_eq!(trimmed, alignment.diff(&reference, &prediction, 80));
    }

    proptest! {
        #[test]
        fn both_lines_are_as_wide(a in any::<String>(), b in any::<String>()) {
            // The last unit keeps the space before it.
            let units = |text| {
                let units = crate::Unit::Grapheme.split(text, crate::edit::EditProfile::Torchmetrics);
                [units, vec!["|"]].concat()
            };
            let lines = diff(&units(&a), &units(&b), usize::MAX);
            prop_assert_eq!(lines.len(), 3);
            prop_assert_eq!(lines[0].width(), lines[1].width());
            for line in &lines {
                prop_assert!(!line.contains(char::is_control));
            }
        }
    }
}
