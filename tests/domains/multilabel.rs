//! Several labels per example: sets of labels, and scores of all labels.

use metric_registry::Report;
use serde_json::{Map, Value, json};

use crate::metrics::scored;
use crate::rows::{self, same, within_scaled};

/// The scores that are not offered.
const OTHERS: &[&str] = &[
    "fbeta",
    "coverage_error",
    "label_ranking_average_precision",
    "label_ranking_loss",
];

#[test]
fn scores_of_scikit_learn() {
    let rows = rows::rows("ranking/multilabel.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        for result in row["results"].as_array().ok_or("no results")? {
            let name = result["metric"].as_str().ok_or("no metric")?;
            if OTHERS.contains(&name) {
                continue;
            }
            let check = match name {
                "roc_auc" | "average_precision" => of_scores(row, name, result),
                _ => of_sets(row, name, result),
            };
            check.map_err(|problem| format!("{name} {}: {problem}", result["options"]))?;
        }
        counts(row)
    });
}

/// The number of columns of a row.
fn width(row: &Value) -> usize {
    row["labels"][0].as_array().map_or(0, Vec::len)
}

/// The labels of a row of 0 and 1: `c0`, `c1` and so on.
fn labels(row: &Value) -> Vec<String> {
    let cells = row.as_array().into_iter().flatten().enumerate();
    let ones = cells.filter(|(_, cell)| **cell == 1);
    ones.map(|(class, _)| format!("c{class}")).collect()
}

fn report(row: &Value, options: &Value, with_scores: bool) -> Result<Report, String> {
    let mut options = options.clone();
    let classes: Vec<String> = (0..width(row)).map(|class| format!("c{class}")).collect();
    // A single class is written as a list of its name.
    options["classes"] = json!(classes);
    let references = row["labels"].as_array().ok_or("no labels")?;
    let records = references.iter().enumerate().map(|(index, reference)| {
        let prediction = if with_scores {
            let scores = row["scores"][index].as_array().into_iter().flatten();
            let scores = scores.enumerate();
            let scores: Map<String, Value> = scores
                .map(|(class, score)| (format!("c{class}"), score.clone()))
                .collect();
            Value::from(scores)
        } else {
            json!(labels(&row["predictions"][index]))
        };
        let mut record = json!({"reference": labels(reference), "prediction": prediction});
        if let Some(weight) = row["weights"].get(index) {
            record["weight"] = weight.clone();
        }
        record
    });
    let records: Vec<Value> = records.collect();
    if row["weights"].is_array() {
        options["weight-field"] = json!("weight");
    }
    scored(
        "multilabel",
        &json!({"options": options, "records": records}),
    )
}

fn near(name: &str, ours: Option<f64>, expected: &Value) -> Result<(), String> {
    let expected = expected.as_f64();
    match (ours, expected) {
        (Some(ours), Some(expected))
            if within_scaled(
                ours,
                expected,
                1e-12,
                (expected.max(0.1), "the score, at least 0.1"),
            ) =>
        {
            Ok(())
        }
        _ => same(name, ours, expected),
    }
}

/// The scores by class under the average `none`.
fn by_class(report: &Report, name: &str) -> Vec<Option<f64>> {
    let groups = report.groups.iter().flat_map(|(_, groups)| groups);
    let score = |scores: &[(String, Option<f64>)]| {
        scores
            .iter()
            .find(|(score, _)| score == name)
            .and_then(|(_, value)| *value)
    };
    groups.map(|group| score(&group.scores)).collect()
}

fn of_sets(row: &Value, name: &str, result: &Value) -> Result<(), String> {
    let mut options = json!({});
    let given = &result["options"];
    let average = given["average"].as_str().unwrap_or("macro");
    if average == "none" {
        options["groups"] = json!("class");
    } else {
        options["average"] = json!(average);
    }
    if let Some(rule) = given.get("zero_division") {
        options["zero-division"] = rule
            .as_str()
            .map_or_else(|| json!(rule.to_string()), |rule| json!(rule));
    }
    let report = report(row, &options, false)?;
    let (names, values): (&[&str], Vec<&Value>) = match name {
        "prf" => (
            &["precision", "recall", "f1"],
            (0..3).map(|at| &result["value"][at]).collect(),
        ),
        "jaccard" => (&["jaccard"], vec![&result["value"]]),
        "hamming_loss" => (&["hamming_loss"], vec![&result["value"]]),
        "subset_accuracy" => (&["subset_accuracy"], vec![&result["value"]]),
        _ => return Err("unknown score".to_owned()),
    };
    for (name, value) in names.iter().zip(values) {
        if average != "none" {
            near(name, report.score(name), value)?;
            continue;
        }
        for (class, ours) in by_class(&report, name).into_iter().enumerate() {
            near(&format!("{name} of {class}"), ours, &value[class])?;
        }
    }
    Ok(())
}

fn of_scores(row: &Value, name: &str, result: &Value) -> Result<(), String> {
    let average = result["options"]["average"].as_str().ok_or("no average")?;
    let has_positives = |class: usize| -> Result<bool, String> {
        let rows = row["labels"].as_array().ok_or("no labels")?;
        Ok(rows.iter().any(|labels| labels[class] == 1))
    };
    let mut options = json!({"profile": "sklearn"});
    if average == "none" {
        options["groups"] = json!("class");
        let of_classes = by_class(&report(row, &options, true)?, name);
        for (class, ours) in of_classes.into_iter().enumerate() {
            near(&format!("class {class}"), ours, &result["value"][class])?;
        }
        return Ok(());
    }
    options["average"] = json!(average);
    near(
        "sklearn",
        report(row, &options, true)?.score(name),
        &result["value"],
    )?;
    // Where scikit-learn has a convention, the textbook has no score.
    let mut classes = (0..width(row))
        .map(has_positives)
        .collect::<Result<Vec<bool>, String>>()?
        .into_iter();
    let some_rows_empty = row["labels"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|row| labels(row).is_empty());
    let is_undefined = match (average, name) {
        ("weighted", _) => classes.all(|has| !has),
        ("samples", "average_precision") => some_rows_empty,
        ("macro", "average_precision") => classes.any(|has| !has),
        ("micro", "average_precision") => classes.all(|has| !has),
        _ => false,
    };
    options["profile"] = json!("textbook");
    let expected = if is_undefined {
        &Value::Null
    } else {
        &result["value"]
    };
    near(
        "textbook",
        report(row, &options, true)?.score(name),
        expected,
    )
}

/// The counts of all classes, and the same sets from scores of 0 and 1 at a threshold.
fn counts(row: &Value) -> Result<(), String> {
    let of_sets = report(row, &json!({"average": "samples"}), false)?;
    let mut as_scores = row.clone();
    as_scores["scores"] = row["predictions"].clone();
    let options = json!({"average": "samples", "threshold": 0.5});
    let of_scores = report(&as_scores, &options, true)?;
    same("counts from scores", &of_scores.counts, &of_sets.counts)?;
    same(
        "scores from scores",
        &of_scores.scores[..6],
        &of_sets.scores[..],
    )?;
    if row["weights"].is_array() {
        return Ok(());
    }
    let mut expected = [0_u64; 5];
    let references = row["labels"].as_array().ok_or("no labels")?;
    for (index, reference) in references.iter().enumerate() {
        let (actual, predicted) = (labels(reference), labels(&row["predictions"][index]));
        let both = actual
            .iter()
            .filter(|label| predicted.contains(label))
            .count();
        expected[0] += both as u64;
        expected[1] += (predicted.len() - both) as u64;
        expected[2] += (actual.len() - both) as u64;
        expected[3] += u64::from(actual == predicted);
        expected[4] += 1;
    }
    let names = ["tp", "fp", "fn", "correct", "total"].map(str::to_owned);
    let expected = names.into_iter().zip(expected.map(Value::from));
    same("counts", &of_sets.counts, &expected.collect())
}
