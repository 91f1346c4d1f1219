//! Tables in Markdown, with columns as wide as their widest cell.

/// The table of these rows under `header`.
pub(crate) fn markdown(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |cells: &[String]| {
        let mut line = String::from("|");
        for (cell, width) in cells.iter().zip(&widths) {
            line.push_str(&format!(" {cell:<width$} |"));
        }
        line + "\n"
    };
    let header: Vec<String> = header.iter().map(|&cell| cell.to_owned()).collect();
    let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let mut table = line(&header) + &line(&rule);
    rows.iter().for_each(|row| table.push_str(&line(row)));
    table
}

/// The rows of the tables in a text, as the cells between the bars; without headers and rules.
pub(crate) fn rows(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.starts_with("|-") || line.starts_with("| -");
    for (place, line) in lines.iter().enumerate() {
        let is_header = lines.get(place + 1).is_some_and(|next| is_rule(next));
        if line.starts_with('|') && !is_rule(line) && !is_header {
            let cells = line.trim_matches('|').split('|');
            rows.push(cells.map(|cell| cell.trim().to_owned()).collect());
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let cells = |row: [&str; 2]| row.map(str::to_owned).to_vec();
        let body = [cells(["coco", "1"]), cells(["×", "1000"])];
        let table = markdown(&["metric", "n"], &body);
        let expected = "\
| metric | n    |
| ------ | ---- |
| coco   | 1    |
| ×      | 1000 |
";
        assert_eq!(table, expected);
        assert_eq!(rows(&format!("# Title\n\n{table}\nend\n")), body);
    }
}
