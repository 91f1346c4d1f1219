//! The metrics with their options.

use metric_suite::registry::{ENTRIES, Entry, OptionSpec};

use crate::output::{Style, new_table};

pub(crate) fn render(style: Style) -> String {
    if style == Style::Json {
        let metrics: Vec<_> = ENTRIES.iter().map(metric_json).collect();
        return serde_json::json!({ "schema": 1, "metrics": metrics }).to_string() + "\n";
    }
    let markdown = style == Style::Markdown;
    let mut table = new_table(&["metric", "measures", "options"], markdown);
    for column in table.column_iter_mut() {
        column.set_cell_alignment(comfy_table::CellAlignment::Left);
    }
    for entry in ENTRIES {
        let options: Vec<_> = entry.options.iter().map(option_text).collect();
        let between = if markdown { " " } else { "\n" };
        table.add_row([entry.name, entry.help, &options.join(between)]);
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    let mut text = lines.collect::<Vec<_>>().join("\n");
    text.push_str("\n\nThe options of one metric at length: metric score METRIC --help\n");
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
