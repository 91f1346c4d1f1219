//! Limits of the content that is shown.

use std::collections::BTreeMap;

use crate::block::{Cell, Fact, Heatmap};
use crate::text::grouped;

/// The maximum number of bytes of all sections. With head, style and script a page stays below 3 MB.
pub(crate) const PAGE: usize = 2_500_000;
/// The maximum number of bytes of the texts of an example, which takes 4 kB with its head and the remarks on cuts.
pub(crate) const EXAMPLE: usize = 3_500;
/// The bytes that each text of an example may take, whatever the ones before it took.
pub(crate) const EXAMPLE_TEXT: usize = 1_000;
/// The maximum number of bytes of another block of an example, such as a picture.
pub(crate) const EXAMPLE_BLOCK: usize = 200_000;
/// The maximum number of bytes of a picture.
pub(crate) const PICTURE: usize = 150_000;
/// The maximum number of bytes of all pictures as text, so that there is room for texts and charts however many
/// pictures there are.
pub(crate) const PICTURES: usize = 1_500_000;
pub(crate) const WARNINGS: usize = 100;
pub(crate) const BADGES: usize = 40;
pub(crate) const CARDS: usize = 60;
pub(crate) const COLUMNS: usize = 40;
pub(crate) const FACTS: usize = 60;
pub(crate) const GRIDS: usize = 6;
/// The maximum number of lines of code on a side.
pub(crate) const LINES: usize = 80;
/// The maximum number of steps of an alignment.
pub(crate) const STEPS: usize = 120;
/// The approximate number of points of all curves in the table of a chart.
pub(crate) const CURVE_ROWS: usize = 60;
/// The maximum number of columns of a table, and of classes of a matrix, that are next to another figure.
pub(crate) const NARROW_COLUMNS: usize = 4;
pub(crate) const NARROW_CLASSES: usize = 10;
/// The maximum number of bytes of the texts of an example that is next to another one.
pub(crate) const FEW_WORDS: usize = 160;
/// The maximum number of rows of a table.
const ROWS: usize = 300;
/// The maximum number of classes of a matrix that is shown completely, and the number that is shown of a larger one.
const CLASSES: [usize; 2] = [25, 15];

/// The rows that are shown, and the number of the others. If there are too many, the first and the last are shown.
pub(crate) fn table_rows(rows: &[Vec<Cell>]) -> (Vec<&Vec<Cell>>, usize) {
    if rows.len() <= ROWS {
        return (rows.iter().collect(), 0);
    }
    let half = ROWS / 2;
    let ends = rows[..half].iter().chain(&rows[rows.len() - half..]);
    (ends.collect(), rows.len() - ROWS)
}

/// The classes that are shown, in their order. If there are too many, those with the most confusions are shown.
pub(crate) fn heatmap_classes(matrix: &Heatmap) -> Vec<usize> {
    let [whole, part] = CLASSES;
    let nothing = matrix.nothing.filter(|&class| class < matrix.classes.len());
    if matrix.classes.len() <= whole + usize::from(nothing.is_some()) {
        return (0..matrix.classes.len()).collect();
    }
    let mut confusions: BTreeMap<usize, u64> = BTreeMap::new();
    for &(row, column, count) in matrix.cells.iter().filter(|cell| cell.0 != cell.1) {
        for class in [row, column] {
            let sum = confusions.entry(class).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    let mut most: Vec<(usize, u64)> = confusions
        .into_iter()
        .filter(|(class, _)| Some(*class) != nothing && *class < matrix.classes.len())
        .collect();
    // Equal ones are in the order of the classes.
    most.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut classes: Vec<usize> = most
        .into_iter()
        .map(|(class, _)| class)
        .take(part)
        .collect();
    classes.extend(nothing);
    classes.sort_unstable();
    classes
}

/// A sentence that says how many items of a list are not shown.
pub(crate) fn left_out(all: usize, shown: usize, what: &str) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        left => format!("{} more {what} are left out.", grouped(left as u64)),
    }
}

/// A fact that says how many facts of a list are not shown.
pub(crate) fn facts_left_out(all: usize) -> Option<(String, Fact)> {
    let words = left_out(all, FACTS, "facts");
    (!words.is_empty()).then(|| ("Cut".to_owned(), Fact::Words(words)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Block, Facts, Report, Section};

    #[test]
    fn tables_keep_both_ends() {
        let rows = |count: usize| -> Vec<Vec<Cell>> {
            (0..count)
                .map(|row| vec![Cell::Count(row as u64)])
                .collect()
        };
        for (count, shown, left) in [
            (0, 0, 0),
            (1, 1, 0),
            (300, 300, 0),
            (301, 300, 1),
            (10_000, 300, 9_700),
        ] {
            let rows = rows(count);
            let (found, not) = table_rows(&rows);
            assert_eq!((found.len(), not), (shown, left));
            assert_eq!(found.last().copied(), rows.last());
        }
    }

    #[test]
    fn facts_that_are_cut_are_counted() {
        for (count, expected) in [(60, None), (63, Some("3 more facts are left out."))] {
            let facts = (0..count).map(|fact| (fact.to_string(), Fact::Words(fact.to_string())));
            let report = Report {
                sections: vec![Section {
                    blocks: vec![Block::Facts(Facts {
                        facts: facts.collect(),
                    })],
                    ..Section::default()
                }],
                ..Report::default()
            };
            for page in [report.to_html(), report.to_markdown()] {
                let sentence = "more facts are left out.";
                assert_eq!(
                    page.contains(expected.unwrap_or(sentence)),
                    expected.is_some()
                );
            }
        }
    }

    #[test]
    fn matrices_keep_what_is_confused() {
        let matrix = |count: usize| Heatmap {
            classes: (0..count).map(|class| class.to_string()).collect(),
            cells: (0..count)
                .map(|class| (class, (class * 7) % count, class as u64))
                .collect(),
            nothing: Some(count.saturating_sub(1)),
            ..Heatmap::default()
        };
        for (count, shown) in [(1, 1), (25, 25), (26, 26), (27, 16), (10_000, 16)] {
            assert_eq!(heatmap_classes(&matrix(count)).len(), shown, "{count}");
        }
        let shown = heatmap_classes(&matrix(1000));
        // Class 986 is where the 998 of class 998 go, next to its own 986.
        assert!(shown.contains(&986) && shown.contains(&999), "{shown:?}");
        assert_eq!(heatmap_classes(&Heatmap::default()), [0; 0]);
    }
}
