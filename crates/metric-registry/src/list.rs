//! The metrics with their options and scores, as JSON for other programs.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Demo, Entry, OptionKind, OptionSpec, ScoreSpec, Taken, entries};

/// Returns all metrics with their options and scores, as `metric list --format json` prints them.
///
/// ```
/// let list = metric_registry::list::json();
/// assert_eq!(list["schema"], 1);
/// assert!(list["metrics"].is_array());
/// ```
#[must_use]
pub fn json() -> Value {
    json_of(entries())
}

/// Returns some metrics in the same form.
#[must_use]
pub fn json_of<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Value {
    let metrics: Vec<Value> = entries.into_iter().map(metric_json).collect();
    serde_json::json!({ "schema": 1, "metrics": metrics })
}

/// Returns the names of all metrics.
pub fn names() -> impl Iterator<Item = &'static str> {
    entries().into_iter().map(|entry| entry.name)
}

fn metric_json(entry: &Entry) -> Value {
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
        "shapes": entry.shapes.iter().map(shape_json).collect::<Vec<_>>(),
        "question": entry.question,
        "programs": entry.programs,
        "demos": entry.demos.iter().map(demo_json).collect::<Vec<_>>(),
        "compares": entry.compares(),
        "class_name": entry.class_name(),
        "arrays": entry.arrays,
    })
}

fn shape_json(taken: &Taken) -> Value {
    serde_json::json!({"name": taken.shape.name(), "options": options_json(taken.options)})
}

fn demo_json(demo: &Demo) -> Value {
    let [references, predictions] = demo.files;
    serde_json::json!({
        "name": demo.name,
        "references": references,
        "predictions": predictions,
        "options": options_json(demo.options),
    })
}

fn options_json(options: &[(&str, &str)]) -> Value {
    let options: BTreeMap<&str, &str> = options.iter().copied().collect();
    serde_json::json!(options)
}

fn option_json(spec: &OptionSpec) -> Value {
    let mut option = serde_json::json!({
        "name": spec.name,
        "kind": spec.kind.name(),
        "value": spec.value,
        "default": (!spec.default.is_empty()).then_some(spec.default),
        "choices": spec.kind.choices(),
        "help": spec.help,
    });
    if !spec.also.is_empty() {
        option["also"] = spec.also.into();
    }
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

fn score_json(score: &ScoreSpec) -> Value {
    serde_json::json!({
        "name": score.to_string(),
        "direction": score.direction.map(|direction| direction.name()),
        "proportion": score.proportion.is_some(),
    })
}
