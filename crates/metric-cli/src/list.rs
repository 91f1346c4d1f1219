//! The metrics with their options.

use metric_suite::registry::{ENTRIES, Entry, OptionSpec};

use crate::output::{Style, cell, new_table};

pub(crate) fn render(style: Style) -> String {
    if style == Style::Json {
        let metrics: Vec<_> = ENTRIES.iter().map(metric_json).collect();
        return serde_json::json!({ "schema": 1, "metrics": metrics }).to_string() + "\n";
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
    if spec.is_switch() {
        return format!("--{}", spec.name);
    }
    let choices = (spec.choices)();
    let value = if choices.is_empty() {
        spec.value.to_owned()
    } else {
        choices.join("|")
    };
    format!("--{} {value}", spec.name)
}

fn metric_json(entry: &Entry) -> serde_json::Value {
    let options: Vec<_> = entry
        .options
        .iter()
        .map(|spec| {
            serde_json::json!({
                "name": spec.name,
                "value": spec.value,
                "default": (!spec.default.is_empty()).then_some(spec.default),
                "choices": (spec.choices)(),
                "help": spec.help,
            })
        })
        .collect();
    serde_json::json!({
        "name": entry.name,
        "help": entry.help,
        "reference": entry.values.0,
        "prediction": entry.values.1,
        "options": options,
    })
}
