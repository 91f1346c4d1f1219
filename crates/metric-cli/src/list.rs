//! The metrics with their options.

use metric_run::registry::{ENTRIES, Entry, OptionSpec, ScoreSpec, list};

use crate::output::{Style, cell};
use crate::table::{Grid, Layout, wrapped};

/// Lists all metrics, or says all there is to know of one.
pub(crate) fn render(entry: Option<&Entry>, style: Style, layout: Layout) -> String {
    let entries = entry.map_or(ENTRIES, std::slice::from_ref);
    match (style, entry) {
        (Style::Json, _) => list::json_of(entries).to_string() + "\n",
        (Style::Markdown, _) => markdown(entries, layout),
        (_, Some(entry)) => wrapped(&at_length(entry), layout.width),
        (_, None) => wrapped(&overview(), layout.width),
    }
}

fn markdown(entries: &[Entry], layout: Layout) -> String {
    let mut table = Grid::new(["metric", "measures", "options"]).with_texts([1, 2]);
    for entry in entries {
        let options: Vec<_> = entry.options.iter().map(option_text).collect();
        table.add_row([entry.name, entry.help, &cell(&options.join(" "), true)]);
    }
    table.draw(layout)
}

fn overview() -> String {
    let width = ENTRIES
        .iter()
        .map(|entry| entry.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for entry in ENTRIES {
        text.push_str(&format!("{:width$}  {}\n", entry.name, entry.help));
        for spec in entry.options {
            text.push_str(&format!("{:width$}    {}\n", "", option_text(spec)));
        }
    }
    text.push_str("\nThe options of one metric at length: metric list METRIC\n");
    text
}

fn at_length(entry: &Entry) -> String {
    let (reference, prediction) = entry.values;
    let mut text = format!(
        "{}: {}\n\nReference:  {reference}\nPrediction: {prediction}\n\nScores:\n",
        entry.name, entry.help
    );
    for score in entry.scores {
        text.push_str(&format!("  {}\n", score_text(score)));
    }
    if !entry.options.is_empty() {
        text.push_str("\nOptions:\n");
    }
    for spec in entry.options {
        let default = match spec.default {
            "" => String::new(),
            default => format!(" [default: {default}]"),
        };
        text.push_str(&format!(
            "  {}\n      {}{default}\n",
            option_text(spec),
            spec.help
        ));
        text.push_str(&words_text(spec, 6));
    }
    text.push_str(&format!(
        "\nThe options that all metrics share: metric score {} --help\n",
        entry.name
    ));
    text
}

/// The words that the values of an option are made of, one per line, with their meanings. The meaning of a long word is on
/// the next line, so that the other meanings fit on one line of a terminal.
pub(crate) fn words_text(spec: &OptionSpec, indent: usize) -> String {
    const MOST: usize = 28;
    let widths = spec.words.iter().map(|(word, _)| word.len());
    let width = widths.filter(|width| *width <= MOST).max().unwrap_or(0);
    let lines = spec.words.iter().map(|(word, meaning)| {
        let gap = if word.len() > width {
            format!("\n{:1$}", "", indent + width)
        } else {
            String::new()
        };
        format!("{:indent$}{word:width$}{gap}  {meaning}\n", "")
    });
    lines.collect()
}

fn score_text(score: &ScoreSpec) -> String {
    match score.direction {
        None => score.to_string(),
        Some(direction) => format!("{score} ({} is better)", direction.name()),
    }
}

fn option_text(spec: &OptionSpec) -> String {
    if spec.is_flag() {
        return format!("--{}", spec.name);
    }
    let choices = spec.kind.choices();
    let value = if choices.is_empty() {
        spec.value.to_owned()
    } else {
        choices.join("|")
    };
    format!("--{} {value}", spec.name)
}
