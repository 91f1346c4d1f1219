//! The metrics with their options.

use metric_run::registry::{ENTRIES, OptionKind, OptionSpec, list};

use crate::output::{Style, cell, new_table};

pub(crate) fn render(style: Style) -> String {
    if style == Style::Json {
        return list::json().to_string() + "\n";
    }
    if style == Style::Markdown {
        let mut table = new_table(&["metric", "measures", "options"], true);
        for entry in ENTRIES {
            let options: Vec<_> = entry.options.iter().map(option_text).collect();
            table.add_row([entry.name, entry.help, &cell(&options.join(" "), true)]);
        }
        return table
            .lines()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect();
    }
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
    text.push_str("\nThe options of one metric at length: metric score METRIC --help\n");
    text
}

fn option_text(spec: &OptionSpec) -> String {
    if spec.is_flag() {
        return format!("--{}", spec.name);
    }
    let choices = match spec.kind {
        OptionKind::Choice(choices) => choices(),
        _ => Vec::new(),
    };
    let value = if choices.is_empty() {
        spec.value.to_owned()
    } else {
        choices.join("|")
    };
    format!("--{} {value}", spec.name)
}
