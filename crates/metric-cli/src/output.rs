//! The result as a table, as JSON or as Markdown.

use metric_run::registry::{ConfusionTable, Group, PrintedTable};
use metric_run::{GroupIntervals, Intervals, Outcome, outcomes_json};

use crate::error::printable;
use crate::scored::Scored;
use crate::table::{Grid, Layout};

/// A table shows this many groups of a kind that nobody asked for; JSON has all.
const GROUPS_SHOWN: usize = 40;
/// A table shows this many characters of a text; JSON has all.
const CHARACTERS_SHOWN: usize = 100;
/// A table with more columns than this breaks their names into lines.
const MANY_COLUMNS: usize = 6;

/// A count with its noun: `1 example`, `2 examples`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Table,
    Json,
    Markdown,
    Latex,
    Csv,
}

/// The format of scores for people; JSON has them unrounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// The digits after the point: by default 4, and all that there are in CSV.
    pub(crate) digits: Option<usize>,
    /// Whether scores are multiplied by 100.
    pub(crate) percent: bool,
}

impl Numbers {
    const DIGITS: usize = 4;

    /// A score for people; `-` is undefined.
    pub(crate) fn score(self, value: Option<f64>) -> String {
        value.map_or_else(|| "-".to_owned(), |value| self.rounded(value))
    }

    /// A difference of scores for people, with its sign.
    pub(crate) fn difference(self, value: Option<f64>) -> String {
        let digits = self.digits.unwrap_or(Self::DIGITS);
        let signed = |value| format!("{:+.digits$}", self.scaled(value));
        value.map_or_else(|| "-".to_owned(), signed)
    }

    fn rounded(self, value: f64) -> String {
        let digits = self.digits.unwrap_or(Self::DIGITS);
        format!("{:.digits$}", self.scaled(value))
    }

    fn scaled(self, value: f64) -> f64 {
        if self.percent { 100.0 * value } else { value }
    }

    /// A number for programs; nothing is undefined.
    pub(crate) fn plain(self, value: Option<f64>) -> String {
        match (value, self.digits) {
            (None, _) => String::new(),
            (Some(value), None) => self.scaled(value).to_string(),
            (Some(value), Some(_)) => self.rounded(value),
        }
    }

    /// The name of a column of scores.
    pub(crate) fn column(self, name: &str) -> String {
        if self.percent {
            format!("{name} (%)")
        } else {
            name.to_owned()
        }
    }

    pub(crate) fn ends(self, ends: Option<[f64; 2]>) -> String {
        match ends {
            Some([low, high]) => format!("[{}, {}]", self.rounded(low), self.rounded(high)),
            None => "-".to_owned(),
        }
    }
}

/// The result, ending in a newline.
///
/// Tables also have this number of the worst examples.
pub(crate) fn render(
    scored: &[Scored],
    style: Style,
    numbers: Numbers,
    worst: usize,
    layout: Layout,
) -> String {
    match style {
        Style::Json => {
            let outcomes = scored.iter().map(|it| (&it.outcome, &it.report));
            outcomes_json(outcomes) + "\n"
        }
        Style::Table | Style::Markdown => {
            let tables = scored
                .iter()
                .map(|scored| tables(scored, layout, numbers, worst));
            tables.collect::<Vec<_>>().join("\n")
        }
        Style::Latex => {
            let tables = scored.iter().map(|scored| latex(scored, numbers));
            tables.collect::<Vec<_>>().join("\n")
        }
        Style::Csv => csv(scored, numbers),
    }
}

/// Tables for a paper, with the package booktabs: all examples, then each kind of group.
fn latex(scored: &Scored, numbers: Numbers) -> String {
    let Scored {
        outcome, report, ..
    } = scored;
    let found = outcome.intervals();
    let interval = interval_name_of(outcome);
    let header = [outcome.metric().to_owned(), numbers.column("score")];
    let header: Vec<String> = header.into_iter().chain(interval.clone()).collect();
    let rows = report.scores.iter().map(|(name, value)| {
        let interval = found.map(|found| numbers.ends(ends_of(&found.total, name)));
        let row = [name.clone(), numbers.score(*value)]
            .into_iter()
            .chain(interval);
        latex_cells(&row.collect::<Vec<_>>())
    });
    let mut text = latex_table(&header, rows);
    for (kind, groups) in &report.groups {
        let Some(first) = groups.first() else {
            continue;
        };
        let names = first
            .scores
            .iter()
            .flat_map(|(name, _)| std::iter::once(numbers.column(name)).chain(interval.clone()));
        let header: Vec<String> = std::iter::once(kind.clone()).chain(names).collect();
        let rows = groups.iter().map(|group| {
            let scores = group.scores.iter().flat_map(|(name, value)| {
                let ends = |found: &Intervals| {
                    let of_group = found.group(kind, &group.name);
                    numbers.ends(of_group.and_then(|found| ends_of(found, name)))
                };
                std::iter::once(numbers.score(*value)).chain(found.map(ends))
            });
            let name = cell(scored.name_of_group(kind, &group.name), false);
            latex_cells(&std::iter::once(name).chain(scores).collect::<Vec<_>>())
        });
        text.push_str(&format!("\n{}", latex_table(&header, rows)));
    }
    text + &format!("% {}\n", outcome.signature())
}

/// A table with the rules of booktabs. The header is text, and the cells of rows are LaTeX.
pub(crate) fn latex_table(header: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("{} \\\\\n", cells.join(" & "));
    let header: Vec<String> = header.iter().map(|name| latex_text(name)).collect();
    let columns = "r".repeat(header.len().saturating_sub(1));
    let rows: String = rows.map(|row| line(&row)).collect();
    format!(
        "\\begin{{tabular}}{{l{columns}}}\n\\toprule\n{}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n",
        line(&header)
    )
}

/// The cells of a row as LaTeX: a name, and numbers.
pub(crate) fn latex_cells(row: &[String]) -> Vec<String> {
    let mut cells: Vec<String> = row.iter().map(|cell| latex_text(cell)).collect();
    for cell in cells.iter_mut().skip(1) {
        *cell = with_minus_signs(cell);
    }
    cells
}

/// Numbers with minus signs in place of hyphens; a hyphen that is not before a digit stays.
fn with_minus_signs(cell: &str) -> String {
    let mut parts = cell.split('-');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_number = part.starts_with(|char: char| char.is_ascii_digit());
        text.push_str(if is_number { "$-$" } else { "-" });
        text.push_str(part);
    }
    text
}

/// Text with what LaTeX would obey as characters.
pub(crate) fn latex_text(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("$<$"),
            '>' => escaped.push_str("$>$"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// One row per score of each metric: of all examples, whose kind and group are empty, and of each group.
fn csv(scored: &[Scored], numbers: Numbers) -> String {
    let has_intervals = scored.iter().any(|it| it.outcome.intervals().is_some());
    let ends: &[&str] = if has_intervals { &["low", "high"] } else { &[] };
    let header = ["metric", "kind", "group", "score", "value"]
        .iter()
        .chain(ends);
    let mut text = header.copied().collect::<Vec<_>>().join(",") + "\n";
    for Scored {
        outcome, report, ..
    } in scored
    {
        let mut push =
            |kind: &str, group: &str, score: &str, value, found: Option<&GroupIntervals>| {
                let names = [outcome.metric(), kind, group, score].map(csv_field);
                let ends = found.and_then(|found| ends_of(found, score));
                let ends = [ends.map(|ends| ends[0]), ends.map(|ends| ends[1])];
                let ends = has_intervals.then_some(ends).into_iter().flatten();
                let values = std::iter::once(value)
                    .chain(ends)
                    .map(|value| numbers.plain(value));
                let row: Vec<String> = names.into_iter().chain(values).collect();
                text.push_str(&(row.join(",") + "\n"));
            };
        let found = outcome.intervals();
        for (name, value) in &report.scores {
            push("", "", name, *value, found.map(|found| &found.total));
        }
        for (kind, groups) in &report.groups {
            for group in groups {
                let found = found.and_then(|found| found.group(kind, &group.name));
                for (name, value) in &group.scores {
                    push(kind, &group.name, name, *value, found);
                }
            }
        }
    }
    text
}

/// A field of CSV, in quotes where it needs them (RFC 4180).
pub(crate) fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[allow(clippy::too_many_lines, reason = "one table after the other")]
fn tables(scored: &Scored, layout: Layout, numbers: Numbers, worst: usize) -> String {
    let markdown = layout.is_markdown;
    let Scored {
        outcome, report, ..
    } = scored;
    let metric = outcome.metric();
    let mut text = String::new();
    let interval = interval_name_of(outcome);
    let found = outcome.intervals();
    if let Some(table) = report.table.as_ref().filter(|_| found.is_none()) {
        push(&mut text, &printed_table(table, numbers, markdown), layout);
        return text + &end_of_tables(scored, layout, numbers, worst);
    }
    let column = numbers.column("score");
    let header = [metric, &column].into_iter().chain(interval.as_deref());
    let mut summary = Grid::new(header);
    for (name, value) in &report.scores {
        let interval = found.map(|found| numbers.ends(ends_of(&found.total, name)));
        summary.add_row(
            [name.clone(), numbers.score(*value)]
                .into_iter()
                .chain(interval),
        );
    }
    push(&mut text, &summary, layout);

    let mut counts = Grid::new(["count", ""]);
    let examples = match outcome.entry().examples {
        "" => "examples".to_owned(),
        kind => format!("examples ({kind})"),
    };
    counts.add_row([examples, report.examples.to_string()]);
    if report.missing > 0 {
        counts.add_row(["missing".to_owned(), report.missing.to_string()]);
    }
    for (name, value) in report.counts.iter().filter(|(_, value)| !is_nested(value)) {
        counts.add_row([name.clone(), count(value, markdown)]);
    }
    push(&mut text, &counts, layout);

    if let Some(confusions) = &report.confusions {
        push(&mut text, &confusion_matrix(confusions, markdown), layout);
    }

    for (kind, groups) in &report.groups {
        let Some(first) = groups.first() else {
            continue;
        };
        let names = first.scores.iter().flat_map(|(name, _)| {
            // Each header is unique.
            let separator = if markdown { " " } else { "\n" };
            let interval = interval
                .iter()
                .map(move |of| format!("{name}{separator}{of}"));
            std::iter::once(numbers.column(name)).chain(interval)
        });
        let names = names.chain(plain_counts(first).map(|(name, _)| name.clone()));
        let mut header: Vec<String> = std::iter::once(kind.clone()).chain(names).collect();
        if header.len() > MANY_COLUMNS && !markdown {
            for name in &mut header {
                *name = name.replace('_', "\n");
            }
        }
        let mut table = Grid::new(header);
        let most = if outcome.is_asked_for(kind) {
            groups.len()
        } else {
            GROUPS_SHOWN
        };
        for group in groups.iter().take(most) {
            let scores = group.scores.iter().flat_map(|(name, value)| {
                let of_group = |found: &Intervals| {
                    let found = found.group(kind, &group.name);
                    numbers.ends(found.and_then(|found| ends_of(found, name)))
                };
                std::iter::once(numbers.score(*value)).chain(found.map(of_group))
            });
            let counts = plain_counts(group).map(|(_, value)| count(value, markdown));
            let name = scored.name_of_group(kind, &group.name);
            let name = std::iter::once(cell(name, markdown));
            table.add_row(name.chain(scores).chain(counts));
        }
        push(&mut text, &table, layout);
        if let Some(note) = slices_note(outcome, kind, groups.len()) {
            text.push_str(&format!("{note}\n"));
        }
        if groups.len() > most {
            let rest = groups.len() - most;
            text.push_str(&format!(
                "... and {rest} more; --format json has them all\n\n"
            ));
        }
    }
    text + &end_of_tables(scored, layout, numbers, worst)
}

/// What belongs to the scores, the worst examples, if any are requested, and the signature.
fn end_of_tables(scored: &Scored, layout: Layout, numbers: Numbers, worst: usize) -> String {
    let notes = scored.report.notes.iter();
    let mut text: String = notes.map(|note| format!("{note}\n\n")).collect();
    if worst > 0 {
        text.push_str(&worst_examples(scored, layout, numbers, worst));
    }
    let signature = scored.outcome.signature();
    text.push_str(&if layout.is_markdown {
        format!("`{signature}`\n")
    } else {
        format!("{signature}\n")
    });
    text
}

/// A table as another program prints it: with three significant digits, unless others are requested.
fn printed_table(table: &PrintedTable, numbers: Numbers, markdown: bool) -> Grid {
    let score = |value: &Option<f64>| match (numbers.digits, numbers.percent, value) {
        (None, false, Some(value)) => three_digits(*value),
        _ => numbers.score(*value),
    };
    let mut grid = Grid::new(table.columns.iter().cloned());
    for row in &table.rows {
        let counts = row.counts.iter().map(u64::to_string);
        let cells = counts.chain(row.scores.iter().map(score));
        grid.add_row(std::iter::once(cell(&row.name, markdown)).chain(cells));
    }
    grid
}

/// A number with three significant digits, as `%.3g` of C writes it.
fn three_digits(value: f64) -> String {
    let written = format!("{value:.2e}");
    let Some((mantissa, exponent)) = written.split_once('e') else {
        return written;
    };
    let Ok(exponent) = exponent.parse::<i32>() else {
        return written;
    };
    let without_zeros = |text: &str| {
        let kept = text.trim_end_matches('0').trim_end_matches('.');
        if text.contains('.') { kept } else { text }.to_owned()
    };
    if !(-4..3).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let exponent = exponent.abs();
        return format!("{}e{sign}{exponent:02}", without_zeros(mantissa));
    }
    let decimals = usize::try_from(2 - exponent).unwrap_or(0);
    without_zeros(&format!("{value:.decimals$}"))
}

/// A row per class of the ground truth, and a column per predicted class.
fn confusion_matrix(confusions: &ConfusionTable, markdown: bool) -> Grid {
    let names = confusions.classes.iter();
    let names: Vec<String> = names.map(|name| cell(name, markdown)).collect();
    let header = std::iter::once("truth \\ prediction".to_owned()).chain(names.iter().cloned());
    let mut table = Grid::new(header);
    for (name, row) in names.into_iter().zip(&confusions.rows) {
        let counts = row.iter().map(u64::to_string);
        table.add_row(std::iter::once(name).chain(counts));
    }
    table
}

/// The examples with the worst scores, with what is compared.
fn worst_examples(scored: &Scored, layout: Layout, numbers: Numbers, most: usize) -> String {
    let markdown = layout.is_markdown;
    let ranking = scored.outcome.state().ranking();
    let Some((score, ranking)) = ranking
        .as_ref()
        .and_then(|ranking| Some((ranking.score()?.0, ranking)))
    else {
        return format!(
            "{}: no score of single examples\n\n",
            scored.outcome.metric()
        );
    };
    if ranking.worst().len() == 0 {
        return format!("All examples have a perfect {score}\n\n");
    }
    let slices = scored.slices.iter().map(|slice| slice.name.clone());
    let slices: Vec<String> = slices.collect();
    let header = ["worst".to_owned(), numbers.column(score)]
        .into_iter()
        .chain(slices.iter().cloned())
        .chain(["reference", "prediction"].map(str::to_owned));
    let mut table = Grid::new(header).with_texts(2..slices.len() + 4);
    for sample in ranking.worst().take(most) {
        let id = match &sample.part {
            Some(part) => format!("{} {part}", sample.id),
            None => sample.id.clone(),
        };
        let value = sample.scores.iter().find(|(name, _)| name == score);
        let inputs = sample.inputs.as_deref();
        let sides = inputs.map_or(["", ""], |it| [&it.reference, &it.prediction]);
        let [reference, prediction] = sides.map(|json| value_cell(json, markdown));
        let value = numbers.score(value.and_then(|(_, value)| *value));
        let fields = inputs.and_then(|it| it.fields.as_deref());
        let groups = scored.slices_of(&sample.id, fields);
        let slices = slices.iter().map(|slice| {
            let of_slice = groups.iter().filter(|(kind, _)| kind == slice);
            let names: Vec<&str> = of_slice.map(|(_, group)| group.as_str()).collect();
            match names.as_slice() {
                [] => "-".to_owned(),
                names => cell(&names.join(", "), markdown),
            }
        });
        table.add_row(
            [cell(&id, markdown), value]
                .into_iter()
                .chain(slices)
                .chain([reference, prediction]),
        );
    }
    let mut text = String::new();
    push(&mut text, &table, layout);
    text
}

/// A value from a file in a few characters: a string without its quotes, anything else as JSON.
fn value_cell(json: &str, markdown: bool) -> String {
    /// Two such columns fit into a terminal of 80 columns, with an id and a score.
    const SHOWN: usize = 24;
    let text = serde_json::from_str(json).unwrap_or_else(|_| json.to_owned());
    let end = text.char_indices().nth(SHOWN);
    match end {
        Some((end, _)) => cell(&text[..end], markdown) + "...",
        None => cell(&text, markdown),
    }
}

/// More slices of a kind than this are worth a word about their number.
const MANY_SLICES: usize = 10;

/// What to keep in mind about many slices of a kind, as a line.
pub(crate) fn slices_note(outcome: &Outcome, kind: &str, count: usize) -> Option<String> {
    let is_many = count > MANY_SLICES && outcome.is_sliced_by(kind);
    is_many.then(|| {
        format!(
            "{count} slices by {kind} are {count} looks at one data set: some differ by chance\n"
        )
    })
}

/// The name of the column of intervals, such as `95% interval`.
pub(crate) fn interval_name(confidence: f64) -> String {
    // 0.95 x 100 has a rounding error, which is not printed.
    format!("{}% interval", (confidence * 1e8).round() / 1e6)
}

/// The same for an outcome, if it has intervals.
fn interval_name_of(outcome: &Outcome) -> Option<String> {
    let statistics = outcome.statistics()?;
    let name = interval_name(statistics.confidence);
    outcome.intervals().map(|_| name)
}

/// The ends of the interval of a score.
pub(crate) fn ends_of(found: &GroupIntervals, name: &str) -> Option<[f64; 2]> {
    let estimate = found.intervals.iter().find(|(score, _)| score == name);
    estimate.and_then(|(_, estimate)| estimate.ends)
}

/// Text from a file as it can be shown in a table: it is not long, control characters are shown,
/// and a bar in Markdown starts no new column.
pub(crate) fn cell(text: &str, markdown: bool) -> String {
    let end = text.char_indices().nth(CHARACTERS_SHOWN);
    let mut cell = match end {
        Some((end, _)) => printable(&text[..end]) + "...",
        None => printable(text),
    };
    if markdown {
        cell = cell.replace('|', "\\|");
    }
    cell
}

/// The counts of a group that are numbers; those that have parts would make a row too wide, and are
/// in the JSON.
fn plain_counts(group: &Group) -> impl Iterator<Item = &(String, serde_json::Value)> {
    let is_plain = |value: &serde_json::Value| !value.is_object() && !value.is_array();
    group
        .counts
        .iter()
        .filter(move |(_, value)| is_plain(value))
}

/// Whether a count is a list of lists, which is only in the JSON.
fn is_nested(value: &serde_json::Value) -> bool {
    let mut items = value.as_array().into_iter().flatten();
    items.any(serde_json::Value::is_array)
}

/// A count for people: one that has parts is a list of them, and one whose parts have parts a line
/// of each.
fn count(value: &serde_json::Value, markdown: bool) -> String {
    use serde_json::Value;

    match value {
        Value::Null => "-".to_owned(),
        Value::Object(parts) => {
            let nested = parts.values().any(Value::is_object);
            let part = |(name, value): (&String, &Value)| {
                let colon = if value.is_object() { ":" } else { "" };
                format!("{}{colon} {}", cell(name, markdown), count(value, markdown))
            };
            let parts: Vec<String> = parts.iter().map(part).collect();
            parts.join(match (nested, markdown) {
                (true, false) => "\n",
                (true, true) => "; ",
                _ => ", ",
            })
        }
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(|it| count(it, markdown)).collect();
            format!("[{}]", values.join(","))
        }
        Value::Number(number) if number.is_f64() => {
            let digits = score(number.as_f64());
            digits
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        }
        other => other.to_string(),
    }
}

/// A score for people with four digits; `-` is undefined.
pub(crate) fn score(value: Option<f64>) -> String {
    Numbers::default().score(value)
}

pub(crate) fn push(text: &mut String, table: &Grid, layout: Layout) {
    text.push_str(&table.draw(layout));
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_minus_signs() {
        for (cell, expected) in [
            ("-0.1437", "$-$0.1437"),
            ("[-0.2, -0.1]", "[$-$0.2, $-$0.1]"),
            ("19 / 16 / 25", "19 / 16 / 25"),
            ("-", "-"),
        ] {
            assert_eq!(with_minus_signs(cell), expected);
        }
    }
}
