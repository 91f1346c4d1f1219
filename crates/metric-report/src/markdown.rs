//! A report as Markdown, for the summaries of build servers.

use crate::block::{Block, Card, Cell, Fact, Report, Step, Table, Tone};
use crate::limits;
use crate::svg::cell_text;
use crate::text::{grouped, number, plain};

/// The maximum number of rows of a table; the HTML has more.
const ROWS: usize = 40;
/// The maximum number of examples of a list.
const EXAMPLES: usize = 10;

impl Report {
    /// Returns the report as Markdown: the scores, the checks, the warnings and the tables, without charts.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}\n\n", prose(&self.title, 120));
        if !self.summary.is_empty() {
            text.push_str(&format!("{}\n\n", prose(&self.summary, 1_000)));
        }
        for badge in self.badges.iter().take(limits::BADGES) {
            let mark = match badge.tone {
                Tone::Good => "✅ ",
                Tone::Bad => "❌ ",
                Tone::Warning => "⚠️ ",
                _ => "",
            };
            text.push_str(&format!("- {mark}{}\n", prose(&badge.text, 200)));
        }
        if !self.badges.is_empty() {
            text.push('\n');
        }
        text.push_str(&cards(&self.cards, self.digits));
        for warning in self.warnings.iter().take(limits::WARNINGS) {
            text.push_str(&format!("> **Warning:** {}\n>\n", prose(warning, 1_000)));
        }
        let left = limits::left_out(self.warnings.len(), limits::WARNINGS, "warnings");
        if !left.is_empty() {
            text.push_str(&format!("> {left}\n"));
        }
        if !self.warnings.is_empty() {
            text.push('\n');
        }
        for section in self
            .sections
            .iter()
            .filter(|section| !section.blocks.is_empty())
        {
            text.push_str(&format!("## {}\n\n", prose(&section.title, 120)));
            if !section.note.is_empty() {
                text.push_str(&format!("{}\n\n", prose(&section.note, 1_000)));
            }
            let mut examples = 0;
            for block in &section.blocks {
                if matches!(block, Block::Example(_)) {
                    examples += 1;
                    if examples > EXAMPLES {
                        continue;
                    }
                }
                text.push_str(&self.block(block));
            }
            if examples > EXAMPLES {
                text.push_str(&format!(
                    "{} more examples are in the HTML report.\n\n",
                    examples - EXAMPLES
                ));
            }
        }
        text.push_str(&format!("<sub>{}</sub>\n", prose(&self.program, 120)));
        text
    }

    #[expect(clippy::too_many_lines, reason = "a short arm for each kind of block")]
    fn block(&self, block: &Block) -> String {
        match block {
            Block::Cards(list) => cards(list, self.digits),
            Block::Table(list) => table(list, self.digits),
            Block::Bars(chart) => {
                let row =
                    |bar: &crate::Bar| vec![bar.name.clone(), cell_text(&bar.value, self.digits)];
                titled(
                    &chart.caption.title,
                    &rows(&["name", "value"], chart.bars.iter().map(row)),
                )
            }
            Block::Forest(chart) => {
                let row = |(name, value, ends): &(String, f64, Option<[f64; 2]>)| {
                    let ends = ends.map_or(Cell::Undefined, Cell::Interval);
                    vec![
                        name.clone(),
                        number(*value, self.digits),
                        cell_text(&ends, self.digits),
                    ]
                };
                let rows = rows(&["name", "score", "interval"], chart.rows.iter().map(row));
                titled(&chart.caption.title, &rows)
            }
            Block::Heatmap(matrix) => {
                let mut cells: Vec<_> = matrix
                    .cells
                    .iter()
                    .filter(|cell| cell.0 != cell.1)
                    .collect();
                cells.sort_by_key(|cell| std::cmp::Reverse(cell.2));
                let class = |index: usize| matrix.classes.get(index).cloned().unwrap_or_default();
                let row = |(row, column, count): &&(usize, usize, u64)| {
                    vec![class(*row), class(*column), grouped(*count)]
                };
                let heads = [&*matrix.sides[0], &*matrix.sides[1], "count"];
                let rows = rows(&heads, cells.iter().take(15).map(row));
                titled("Most frequent confusions", &rows)
            }
            // A finding says what a curve shows.
            Block::Lines(chart) => finding(&chart.caption.title, &chart.caption.finding),
            Block::Histogram(chart) => finding(&chart.caption.title, &chart.caption.finding),
            Block::Boxes(boxes) => finding(&boxes.caption.title, &boxes.caption.finding),
            Block::Picture(picture) => finding(&picture.caption.title, &picture.caption.finding),
            Block::Facts(facts) => {
                let fact = |(name, fact): &(String, Fact)| {
                    let value = match fact {
                        Fact::Words(words) => prose(words, 1_000),
                        Fact::Text(text) => code(text),
                    };
                    format!("- {}: {value}\n", prose(name, 120))
                };
                let left_out = limits::facts_left_out(facts.facts.len());
                let facts = facts.facts.iter().take(limits::FACTS).chain(&left_out);
                facts.map(fact).collect::<String>() + "\n"
            }
            Block::Alignment(alignment) => {
                let step = |step: &Step| match step {
                    Step::Equal(text) => prose(text, 120),
                    Step::Substituted(reference, prediction) => {
                        format!(
                            "**\\[{} → {}\\]**",
                            prose(reference, 120),
                            prose(prediction, 120)
                        )
                    }
                    Step::Deleted(reference) => format!("**\\[−{}\\]**", prose(reference, 120)),
                    Step::Inserted(prediction) => format!("**\\[+{}\\]**", prose(prediction, 120)),
                };
                let between = if alignment.characters { "" } else { " " };
                let steps: Vec<String> = alignment
                    .steps
                    .iter()
                    .take(limits::STEPS)
                    .map(step)
                    .collect();
                format!("{}\n\n", steps.join(between))
            }
            Block::SideBySide(texts) => {
                let side = |side: usize| {
                    format!(
                        "- {}: {}\n",
                        prose(&texts.names[side], 120),
                        code(&texts.texts[side])
                    )
                };
                format!("{}{}\n", side(0), side(1))
            }
            Block::Grids(_) => String::new(),
            Block::Example(example) => {
                let facts: Vec<String> =
                    example.facts.iter().map(|fact| prose(fact, 120)).collect();
                let mut text = format!("**{}** {}\n\n", prose(&example.id, 120), facts.join(", "));
                for block in &example.blocks {
                    text.push_str(&self.block(block));
                }
                text
            }
        }
    }
}

fn finding(title: &str, finding: &str) -> String {
    match finding {
        "" => String::new(),
        finding => format!("{}: {}\n\n", prose(title, 120), prose(finding, 1_000)),
    }
}

fn titled(title: &str, body: &str) -> String {
    match title {
        "" => body.to_owned(),
        title => format!("**{}**\n\n{body}", prose(title, 120)),
    }
}

fn cards(cards: &[Card], digits: usize) -> String {
    if cards.is_empty() {
        return String::new();
    }
    let row = |card: &Card| {
        let ends = card.interval.as_ref().map_or_else(String::new, |interval| {
            cell_text(&Cell::Interval(interval.ends), digits)
        });
        let name = if card.label.is_empty() {
            &card.name
        } else {
            &card.label
        };
        let notes: Vec<String> = card.notes.iter().map(|note| plain(note, 200)).collect();
        let value = card
            .value
            .map_or_else(|| "–".to_owned(), |value| number(value, digits));
        vec![name.clone(), value, ends, notes.join("; ")]
    };
    rows(
        &["score", "value", "interval", ""],
        cards.iter().take(limits::CARDS).map(row),
    )
}

fn table(table: &Table, digits: usize) -> String {
    let heads: Vec<&str> = table
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    let row = |row: &Vec<Cell>| -> Vec<String> {
        let cell = |cell: &Cell| match cell {
            Cell::Text(text) => text.clone(),
            cell => cell_text(cell, digits),
        };
        row.iter().map(cell).collect()
    };
    let mut text = titled(
        &table.caption,
        &rows(&heads, table.rows.iter().take(ROWS).map(row)),
    );
    let left = limits::left_out(table.rows.len(), ROWS, "rows");
    if !left.is_empty() {
        text.push_str(&format!("{left}\n\n"));
    }
    text
}

/// Rows of text that is not yet escaped.
fn rows(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(heads.iter().map(|head| prose(head, 120)).collect());
    let rule = heads.iter().enumerate();
    let rule = rule.map(|(index, _)| if index == 0 { "---" } else { "---:" }.to_owned());
    text.push_str(&line(rule.collect()));
    for row in rows {
        text.push_str(&line(row.iter().map(|cell| prose(cell, 120)).collect()));
    }
    text + "\n"
}

/// Text on one line, with all markup, links and mentions escaped.
fn prose(text: &str, most: usize) -> String {
    let mut escaped = String::new();
    for character in plain(text, most).chars() {
        match character {
            '\n' | '\t' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            ':' | '@' => escaped.push_str(&format!("{character}\u{2060}")),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' | '$' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(character);
            }
            other => escaped.push(other),
        }
    }
    // `www.` alone makes a link.
    escaped.replace("www.", "www\u{2060}.")
}

/// Text as code on one line.
fn code(text: &str) -> String {
    let text = plain(text, 500).replace(['\n', '\t'], " ");
    if text.trim().is_empty() {
        return String::new();
    }
    // The fence is longer than any run of its character inside.
    let longest = text.split(|character| character != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0) + 1);
    format!("{fence} {} {fence}", text.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(prose("a|b *c* <b>", 99), "a\\|b \\*c\\* &lt;b&gt;");
        assert_eq!(prose("http://x @me", 99), "http:\u{2060}//x @\u{2060}me");
        assert_eq!(prose("a\nb\u{202e}", 99), "a b\\[U+202E\\]");
        assert_eq!(code("a `` b"), "``` a `` b ```");
        assert_eq!(code(" \n"), "");
    }
}
