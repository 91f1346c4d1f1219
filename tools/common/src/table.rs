//! Tables for the terminal and for Markdown.

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{CellAlignment, ContentArrangement, Table};

fn filled(header: &[&str], rows: &[Vec<String>]) -> Table {
    let mut table = Table::new();
    table.set_header(header);
    table.add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        let number = |row: &Vec<String>| {
            let text = row.get(index).map_or("", String::as_str);
            text.is_empty()
                || text.starts_with(|first: char| "+-–".contains(first) || first.is_ascii_digit())
        };
        if rows.iter().all(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A table for a terminal.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = filled(header, rows);
    table.load_style(NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.trim_fmt() + "\n"
}

/// The same in Markdown.
pub fn markdown(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = filled(header, rows);
    table.load_style(ASCII_MARKDOWN);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.trim_fmt() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let cells = |row: [&str; 3]| row.map(str::to_owned).to_vec();
        let body = [cells(["coco", "9", "a"]), cells(["×", "1000", ""])];
        let table = markdown(&["metric", "n", "of"], &body);
        let expected = "\
| metric |    n | of |
|--------|------|----|
| coco   |    9 | a  |
| ×      | 1000 |    |
";
        assert_eq!(table, expected);
    }
}
