//! The metrics with their options.

use metric_run::registry::{ENTRIES, Entry, OptionKind, OptionSpec, ScoreSpec};

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

fn metric_json(entry: &Entry) -> serde_json::Value {
    let options: Vec<_> = entry.options.iter().map(option_json).collect();
    let scores: Vec<_> = entry.scores.iter().map(score_json).collect();
    serde_json::json!({
        "name": entry.name,
        "help": entry.help,
        "reference": entry.values.0,
        "prediction": entry.values.1,
        "options": options,
        "scores": scores,
        "groups": entry.groups,
        "details": entry.details,
    })
}

fn option_json(spec: &OptionSpec) -> serde_json::Value {
    let mut option = serde_json::json!({
        "name": spec.name,
        "kind": spec.kind.name(),
        "value": spec.value,
        "default": (!spec.default.is_empty()).then_some(spec.default),
        "choices": spec.kind.choices(),
        "help": spec.help,
    });
    let mut kind = spec.kind;
    if let OptionKind::List(item) = kind {
        option["items"] = item.name().into();
        kind = *item;
    }
    // Bounds that only the type has say nothing.
    match kind {
        OptionKind::Integer(least, greatest) => {
            option["minimum"] = (least > i64::MIN).then_some(least).into();
            option["maximum"] = (greatest < u32::MAX.into()).then_some(greatest).into();
        }
        OptionKind::Number(least, greatest) => {
            option["minimum"] = (least > f64::MIN).then_some(least).into();
            option["maximum"] = (greatest < f64::MAX).then_some(greatest).into();
        }
        _ => {}
    }
    option
}

fn score_json(score: &ScoreSpec) -> serde_json::Value {
    serde_json::json!({
        "name": format!("{}{}", score.name, score.parameter),
        "direction": score.direction.map(|direction| direction.name()),
        "proportion": score.proportion.is_some(),
    })
}
