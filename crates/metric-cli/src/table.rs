//! Tables that fit the terminal: columns are left out, the least important ones first, rather than lines broken.

use comfy_table::presets::{ASCII_FULL_CONDENSED, ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, ContentArrangement, Table};
use unicode_width::UnicodeWidthStr;

/// The form in which tables are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The most columns of a line; `None` for no limit.
    pub(crate) width: Option<usize>,
    /// Whether everything is asked for, also what the width has no room for.
    pub(crate) is_wide: bool,
    /// Whether lines are drawn with ASCII alone.
    pub(crate) is_ascii: bool,
    /// Whether tables are those of Markdown, which have no limit.
    pub(crate) is_markdown: bool,
}

/// The end of a text that is cut.
const CUT: &str = "...";

/// A table before it is drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The columns from the most important one to the least; by default in their order.
    importance: Option<Vec<usize>>,
    /// The columns of text, whose cells are aligned on the left.
    texts: Vec<usize>,
}

impl Grid {
    /// A table whose first column is text and whose others are numbers.
    pub(crate) fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            header: header.into_iter().map(Into::into).collect(),
            texts: vec![0],
            ..Self::default()
        }
    }

    /// The same table with further columns of text.
    pub(crate) fn with_texts(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        self.texts.extend(columns);
        self
    }

    /// The same table with its columns from the most important one to the least.
    pub(crate) fn with_importance(self, columns: Vec<usize>) -> Self {
        Self {
            importance: Some(columns),
            ..self
        }
    }

    pub(crate) fn add_row(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// The table in lines, each of which ends in a newline, and a note about columns that are left out.
    pub(crate) fn draw(&self, layout: Layout) -> String {
        let preset = match (layout.is_markdown, layout.is_ascii) {
            (true, _) => ASCII_MARKDOWN,
            (false, true) => ASCII_FULL_CONDENSED,
            (false, false) => UTF8_FULL_CONDENSED,
        };
        // A cell has a space on both sides, and a border in front of it; one border comes last.
        let fitted = self.fitted(layout, 3, 1);
        let mut table = Table::new();
        table
            .load_style(preset)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(fitted.header);
        for (column, given) in table.column_iter_mut().zip(&fitted.columns) {
            if !self.texts.contains(given) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for row in fitted.rows {
            table.add_row(row);
        }
        let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
        lines.collect::<String>() + &fitted.note
    }

    /// The table in lines of aligned text without borders, with a note about columns that are left out.
    pub(crate) fn align(&self, layout: Layout) -> String {
        const GAP: usize = 3;
        let fitted = self.fitted(layout, GAP, 0);
        let all = || std::iter::once(&fitted.header).chain(&fitted.rows);
        let width = |column: usize| {
            let cells = all().filter_map(|row| row.get(column));
            cells.map(|cell| width_of(cell)).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..fitted.columns.len()).map(width).collect();
        let mut text = String::new();
        for row in all() {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let space = " ".repeat(width - width_of(cell));
                if self.texts.contains(&fitted.columns[column]) {
                    line.push_str(&format!("{cell}{space}"));
                } else {
                    line.push_str(&format!("{space}{cell}"));
                }
                line.push_str(&" ".repeat(GAP));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text + &fitted.note
    }

    /// The columns that fit, with cells that are cut where even the most important ones do not.
    fn fitted(&self, layout: Layout, per_column: usize, edges: usize) -> Fitted {
        let cells = |column: usize| {
            let rows = std::iter::once(&self.header).chain(&self.rows);
            rows.filter_map(move |row| row.get(column))
        };
        let widest = |column: usize| cells(column).map(|cell| width_of(cell)).max();
        let mut widths: Vec<usize> = (0..self.header.len())
            .map(|column| widest(column).unwrap_or_default())
            .collect();
        let in_order = || (0..self.header.len()).collect();
        let importance = self.importance.clone().unwrap_or_else(in_order);
        let limit = layout.width.filter(|_| !layout.is_markdown);
        let columns = match limit {
            None => in_order(),
            Some(limit) => {
                let room = limit.saturating_sub(edges);
                let columns = columns_that_fit(&widths, &importance, per_column, room);
                cut_widest(&mut widths, &columns, per_column, room);
                columns
            }
        };
        let row = |row: &Vec<String>| -> Vec<String> {
            let cells = columns.iter().filter_map(|&column| {
                let cell = row.get(column)?;
                Some(cut(cell, widths[column]))
            });
            cells.collect()
        };
        let note = match self.header.len() - columns.len() {
            0 => String::new(),
            1 => "1 more column: --wide prints it\n".to_owned(),
            more => format!("{more} more columns: --wide prints them\n"),
        };
        Fitted {
            header: row(&self.header),
            rows: self.rows.iter().map(row).collect(),
            columns,
            note,
        }
    }
}

/// The part of a table that fits.
struct Fitted {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The columns of the table that are left.
    columns: Vec<usize>,
    note: String,
}

/// Chooses columns, the most important ones first, until one does not fit. The first two are always chosen.
fn columns_that_fit(
    widths: &[usize],
    importance: &[usize],
    per_column: usize,
    room: usize,
) -> Vec<usize> {
    /// A column of text need not be wider than this if another column is to fit.
    const ENOUGH: usize = 24;
    let mut taken = 0;
    let fits = |(rank, column): &(usize, &usize)| {
        let width = match rank {
            0 => widths[**column].min(ENOUGH),
            _ => widths[**column],
        };
        taken += width + per_column;
        *rank < 2 || taken <= room
    };
    let chosen = importance.iter().enumerate().take_while(fits);
    let mut chosen: Vec<usize> = chosen.map(|(_, column)| *column).collect();
    chosen.sort_unstable();
    chosen
}

/// Makes the widest of these columns narrower, until all fit.
fn cut_widest(widths: &mut [usize], columns: &[usize], per_column: usize, room: usize) {
    /// No column is cut to less.
    const LEAST: usize = 8;
    loop {
        let taken: usize = columns
            .iter()
            .map(|&column| widths[column] + per_column)
            .sum();
        let widest = columns.iter().copied().max_by_key(|&column| widths[column]);
        match widest {
            Some(widest) if taken > room && widths[widest] > LEAST => {
                let less = widths[widest].saturating_sub(taken - room);
                let next = columns.iter().filter(|&&column| column != widest);
                let next = next.map(|&column| widths[column]).max().unwrap_or_default();
                // Not below the next one, so that equally wide columns share what is missing.
                let bound = next.min(widths[widest] - 1).max(LEAST);
                widths[widest] = less.max(bound);
            }
            _ => return,
        }
    }
}

/// A text with lines of at most this many columns, which are broken between words. What follows keeps the indentation of
/// its line, and two columns more.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let mut wrapped = String::new();
    for line in text.lines() {
        let inner = line.trim_start_matches(' ');
        let indent = line.len() - inner.len();
        let mut taken = line.len() - inner.len();
        wrapped.push_str(&line[..indent]);
        // A list of choices may be broken after a bar.
        for word in inner.split_inclusive([' ', '|']) {
            let word_width = word.trim_end().width();
            if taken > indent && taken + word_width > width {
                wrapped.truncate(wrapped.trim_end().len());
                taken = (indent + 2).min(width / 2);
                wrapped.push_str(&format!("\n{}", " ".repeat(taken)));
            }
            wrapped.push_str(word);
            taken += word.width();
        }
        wrapped.truncate(wrapped.trim_end_matches(' ').len());
        wrapped.push('\n');
    }
    wrapped
}

/// The columns that a text takes, of its widest line.
fn width_of(cell: &str) -> usize {
    cell.lines()
        .map(UnicodeWidthStr::width)
        .max()
        .unwrap_or_default()
}

/// A text whose lines take at most this many columns.
pub(crate) fn cut(cell: &str, width: usize) -> String {
    if width_of(cell) <= width {
        return cell.to_owned();
    }
    let lines = cell.lines().map(|line| {
        if line.width() <= width {
            return line.to_owned();
        }
        let room = width.saturating_sub(CUT.len());
        let mut short = String::new();
        for character in line.chars() {
            short.push(character);
            if short.width() > room {
                short.pop();
                break;
            }
        }
        short + CUT
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(["name", "first", "second", "third"]);
        grid.add_row(["a name of 20 letters", "0.1234", "0.5", "17"]);
        grid
    }

    fn narrow(width: usize) -> Layout {
        Layout {
            width: Some(width),
            is_wide: false,
            is_ascii: true,
            is_markdown: false,
        }
    }

    #[test]
    fn columns_are_left_out_from_the_last() {
        // 20 + 6 + 6 + 5 columns of text, with 3 for each and 1 for all, are 50.
        for (width, shown, note) in [
            (50, 4, ""),
            (49, 3, "1 more column: --wide prints it\n"),
            (41, 2, "2 more columns: --wide prints them\n"),
            // The first two are cut.
            (22, 2, "2 more columns: --wide prints them\n"),
        ] {
            let text = grid().draw(narrow(width));
            let header = text.lines().nth(1).expect("a header");
            assert_eq!(header.matches('|').count(), shown + 1, "{text}");
            assert!(
                text.lines().take(5).all(|line| line.width() <= width),
                "{text}"
            );
            assert!(text.ends_with(note), "{text}");
        }
        assert_eq!(grid().draw(narrow(50)).lines().count(), 5);
    }

    #[test]
    fn important_columns_stay_in_their_order() {
        let grid = grid().with_importance(vec![0, 3, 1, 2]);
        let text = grid.align(narrow(43));
        let header: Vec<&str> = text
            .lines()
            .next()
            .expect("a header")
            .split_whitespace()
            .collect();
        assert_eq!(header, ["name", "first", "third"]);
    }

    #[test]
    fn lines_are_broken_between_words() {
        let text = "  --lang java|python|ruby\n      Short.\n\none two three four\n";
        assert_eq!(wrapped(text, None), text);
        assert_eq!(
            wrapped(text, Some(16)),
            "  --lang java|\n    python|ruby\n      Short.\n\none two three\n  four\n"
        );
    }

    #[test]
    fn texts_are_cut_by_the_columns_that_they_take() {
        for (text, width, expected) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "ab..."),
            ("日本語日本語", 8, "日本..."),
            ("ab\nabcdefgh", 6, "ab\nabc..."),
        ] {
            assert_eq!(cut(text, width), expected);
        }
    }
}
