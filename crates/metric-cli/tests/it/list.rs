//! `metric list --format json`: what other programs know of the metrics.

use std::collections::BTreeMap;

use metric_run::registry::ENTRIES;
use serde_json::{Value, json};

use crate::common::Folder;

/// The values that an option of this kind accepts.
fn kind(option: &Value) -> &str {
    option["kind"].as_str().expect("a kind")
}

#[test]
fn every_option_and_score_is_described() {
    let folder = Folder::new(&[]);
    let list = folder.run("list --format json").json();
    assert_eq!(list["schema"], 1);
    let metrics = list["metrics"].as_array().expect("a list");
    let names: Vec<&str> = metrics
        .iter()
        .filter_map(|metric| metric["name"].as_str())
        .collect();
    assert_eq!(
        names,
        ENTRIES.iter().map(|entry| entry.name).collect::<Vec<_>>()
    );
    for metric in metrics {
        for option in metric["options"].as_array().expect("a list") {
            check_option(&metric["name"], option);
        }
        let scores = metric["scores"].as_array().expect("a list");
        assert!(!scores.is_empty());
        let mut names = Vec::new();
        for score in scores {
            let name = score["name"].as_str().expect("a name");
            assert!(!names.contains(&name), "{metric}: {name} twice");
            names.push(name);
            let directions = [json!("higher"), json!("lower"), json!(null)];
            assert!(directions.contains(&score["direction"]), "{score}");
            assert!(score["proportion"].is_boolean(), "{score}");
        }
    }
}

fn check_option(metric: &Value, option: &Value) {
    let what = format!("{metric}: {option}");
    let fields = option.as_object().expect("an object");
    for field in ["name", "kind", "default", "choices"] {
        assert!(fields.contains_key(field), "{what}: no {field}");
    }
    assert!(
        option["name"].as_str().is_some_and(|name| !name.is_empty()),
        "{what}"
    );
    let kinds = [
        "flag", "choice", "integer", "number", "text", "path", "list",
    ];
    assert!(kinds.contains(&kind(option)), "{what}");
    let choices = option["choices"].as_array().expect("a list of choices");
    let is_choice = kind(option) == "choice" || option["items"] == "choice";
    assert_eq!(is_choice, !choices.is_empty(), "{what}");
    assert_eq!(
        kind(option) == "list",
        option["items"].is_string(),
        "{what}"
    );
    let default = &option["default"];
    match kind(option) {
        _ if default.is_null() => {}
        "choice" => assert!(choices.contains(default), "{what}"),
        "integer" | "number" => {
            let number: f64 = default
                .as_str()
                .and_then(|text| text.parse().ok())
                .expect(&what);
            let least = option["minimum"].as_f64().unwrap_or(f64::MIN);
            let greatest = option["maximum"].as_f64().unwrap_or(f64::MAX);
            assert!((least..=greatest).contains(&number), "{what}");
        }
        "flag" => assert!(default.is_null(), "{what}"),
        _ => assert!(default.is_string(), "{what}"),
    }
}

/// Several metrics of one run share the options of their name.
#[test]
fn options_of_one_name_are_all_flags_or_none() {
    let mut flags: BTreeMap<&str, (bool, &str)> = BTreeMap::new();
    for entry in ENTRIES {
        for spec in entry.options {
            let (is_flag, other) = *flags
                .entry(spec.name)
                .or_insert((spec.is_flag(), entry.name));
            assert_eq!(
                is_flag,
                spec.is_flag(),
                "--{} of {} and {other}",
                spec.name,
                entry.name
            );
        }
    }
}

#[test]
fn scores_that_errors_lower_say_so() {
    let folder = Folder::new(&[]);
    let list = folder.run("list --format json").json();
    let direction = |metric: &str, score: &str| {
        let metrics = list["metrics"].as_array().expect("a list");
        let metric = metrics
            .iter()
            .find(|it| it["name"] == metric)
            .expect("a metric");
        let scores = metric["scores"].as_array().expect("a list");
        let score = scores
            .iter()
            .find(|it| it["name"] == score)
            .expect("a score");
        (score["direction"].clone(), score["proportion"].clone())
    };
    assert_eq!(direction("wer", "wer"), (json!("lower"), json!(false)));
    assert_eq!(direction("wer", "wip"), (json!("higher"), json!(false)));
    assert_eq!(direction("cer", "cer"), (json!("lower"), json!(false)));
    assert_eq!(
        direction("string-accuracy", "string_accuracy"),
        (json!("higher"), json!(true))
    );
    assert_eq!(
        direction("accuracy-at-k", "accuracy@K"),
        (json!("higher"), json!(true))
    );
    assert_eq!(
        direction("detection", "best_f1_score"),
        (json!(null), json!(false))
    );
    assert_eq!(direction("coco", "AP"), (json!("higher"), json!(false)));
}
