//! Scores for labels, and agreement of labels.

use metric_record::{Batch, Cells, Column, Ids, Record, Value as Side};
use metric_registry::{Options, Report, State, find};
use ndarray::Array2;
use serde_json::{Map, Value, json};

use crate::rows::{self, same, within, within_scaled};

/// The state of the pairs of a row, or the first error.
fn state(row: &Value, metric: &str, options: &[(&str, String)]) -> Result<State, String> {
    let mut chosen = Options::default().with_details();
    for (name, value) in options {
        chosen = chosen.set(name, value.as_str());
    }
    let weights = row["weights"]
        .as_array()
        .filter(|_| metric != "classification");
    if weights.is_some() {
        chosen = chosen.set("weight-field", "weight");
    }
    let entry = find(metric).ok_or("no such metric")?;
    let scorer = entry.scorer(&chosen).map_err(|error| error.to_string())?;
    let mut state = scorer.start();
    let labels = list(row, "labels");
    let predictions = list(
        row,
        if metric == "classification" {
            "predictions"
        } else {
            "scores"
        },
    );
    if labels.len() != predictions.len() {
        return Err("other lengths are refused where records are joined".to_owned());
    }
    if row["dtype"] == "float32" {
        return single(labels, predictions, &scorer, state);
    }
    let texts = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>();
    let (labels, predictions) = (texts(labels), texts(predictions));
    let fields = labels.iter().enumerate().map(|(index, label)| {
        let weight = weights.map_or(&Value::Null, |weights| &weights[index]);
        format!("{{\"reference\": {label}, \"weight\": {weight}}}")
    });
    let fields: Vec<String> = fields.collect();
    let ids: Vec<String> = (0..labels.len()).map(|index| index.to_string()).collect();
    let records = (0..labels.len()).map(|index| Record {
        fields: Some(&fields[index]),
        ..Record::new(
            &ids[index],
            Side::json(&predictions[index]),
            Side::json(&labels[index]),
        )
    });
    let mut records: Vec<Record<'_>> = records.collect();
    state
        .update(&scorer, &mut records)
        .map_err(|error| error.to_string())?;
    finished(state)
}

fn finished(state: State) -> Result<State, String> {
    if state.examples() == 0 {
        return Err("no examples".to_owned());
    }
    match state.problem() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(state),
    }
}

/// The state of a column of numbers of 32 bits.
fn single(
    labels: &[Value],
    scores: &[Value],
    scorer: &metric_registry::Scorer,
    mut state: State,
) -> Result<State, String> {
    let labels: Vec<i64> = labels.iter().filter_map(Value::as_i64).collect();
    let width = scores.first().and_then(Value::as_array).map_or(1, Vec::len);
    let flat = scores.iter().flat_map(|row| match row.as_array() {
        Some(row) => row.iter().filter_map(Value::as_f64).collect(),
        None => Vec::from_iter(row.as_f64()),
    });
    let flat: Vec<f32> = flat.map(|score| score as f32).collect();
    let rows = Array2::from_shape_vec((labels.len(), width), flat.clone());
    let rows = rows.map_err(|error| error.to_string())?;
    let predictions = match width {
        1 => Column::NumbersF32(Cells::from(&flat[..])),
        _ => Column::ScoresF32(rows.view()),
    };
    let references = Column::Integers(Cells::from(&labels[..]));
    let batch = Batch::new(Ids::Positions(1), predictions, references, vec![]);
    let batch = batch.map_err(|error| format!("{error:?}"))?;
    let mut part = scorer.read_columns(&state, &batch, false);
    state.add(&mut part).map_err(|error| error.to_string())?;
    finished(state)
}

fn list<'r>(row: &'r Value, field: &str) -> &'r [Value] {
    row[field].as_array().map_or(&[], Vec::as_slice)
}

/// Compares a number with that of a row, in which what is undefined is nan.
fn near(what: &str, ours: Option<f64>, expected: &Value, tolerance: f64) -> Result<(), String> {
    match (ours, expected.as_f64()) {
        (Some(a), Some(b)) if within(a, b, tolerance) => Ok(()),
        (None, None) if expected == "nan" => Ok(()),
        _ => Err(format!("{what}: ours {ours:?}, reference {expected}")),
    }
}

/// The label that a high score means, for pairs of labels in which it is not 1 or true.
fn positive(row: &Value, metric: &str, options: &Value) -> Option<String> {
    if let Some(label) = options["positive"].as_str() {
        return Some(label.to_owned());
    }
    // Of other pairs, its default is 1 for this score, and the greater label for others.
    if metric == "average_precision" && list(row, "labels").contains(&json!(1)) {
        return Some("1".to_owned());
    }
    let mut labels: Vec<String> = list(row, "labels")
        .iter()
        .map(|label| {
            label
                .as_str()
                .map_or_else(|| label.to_string(), str::to_owned)
        })
        .collect();
    labels.sort();
    labels.dedup();
    let standard = [["-1", "1"], ["0", "1"], ["false", "true"]];
    let is_standard = standard
        .iter()
        .any(|pair| labels.iter().all(|it| pair.contains(&it.as_str())));
    labels.pop().filter(|_| !is_standard && labels.len() == 1)
}

/// What other programs print where a score is undefined, or what they refuse and we score.
const CONVENTION: f64 = 0.0;

/// Whether the reference refuses data, rather than options that we do not need.
fn refuses_data(kind: &str) -> bool {
    [
        "NaN score",
        "infinite score",
        "empty",
        "lengths differ",
        "three classes, one score",
        "NaN weight",
        "all weights 0",
        "negative weight",
        "NaN",
        "unknown label",
        "too many columns",
    ]
    .contains(&kind)
}

/// The curve of a row as our details have it.
fn curve(expected: &Value, names: [&str; 3]) -> Value {
    let axis = |index: usize| -> Value {
        let numbers = expected[index].as_array().map_or(&[][..], Vec::as_slice);
        let number = |it: &Value| {
            if it.is_string() {
                Value::Null
            } else {
                it.as_f64().into()
            }
        };
        numbers.iter().map(number).collect()
    };
    let axes = names
        .iter()
        .zip(0..)
        .map(|(name, index)| ((*name).to_owned(), axis(index)));
    axes.collect::<Map<String, Value>>().into()
}

fn same_curve(what: &str, ours: &Value, expected: &Value) -> Result<(), String> {
    for (name, expected) in expected.as_object().into_iter().flatten() {
        let (ours, expected) = (
            list(&json!({ "axis": ours[name] }), "axis").to_vec(),
            expected.as_array(),
        );
        let expected = expected.map_or(&[][..], Vec::as_slice);
        same(what, ours.len(), expected.len())?;
        for (ours, expected) in ours.iter().zip(expected) {
            match (ours.as_f64(), expected.as_f64()) {
                (Some(a), Some(b))
                    if within_scaled(
                        a,
                        b,
                        1e-12,
                        (b.max(-b).max(1.0), "the coordinate, at least 1"),
                    ) => {}
                (None, None) => {}
                _ => return Err(format!("{what} {name}: ours {ours}, reference {expected}")),
            }
        }
    }
    Ok(())
}

#[expect(clippy::too_many_lines, reason = "one condition after the other")]
fn check_binary(row: &Value, tolerance: f64) -> Result<(), String> {
    let kind = row["kind"].as_str().unwrap_or_default();
    for result in list(row, "results") {
        let (metric, given) = (
            result["metric"].as_str().unwrap_or_default(),
            &result["options"],
        );
        let is_built = ["max_fpr", "normalize", "scale_by_half"]
            .iter()
            .all(|name| given.get(name).is_none());
        let drops = given["drop_intermediate"].as_bool();
        if !is_built || drops == Some(metric == "precision_recall_curve") {
            continue;
        }
        let mut options = Vec::new();
        options.extend(positive(row, metric, given).map(|label| ("positive", label)));
        let needs_probabilities = ["log_loss", "brier"].contains(&metric);
        if !needs_probabilities {
            options.push(("allow-decision-values", String::new()));
        }
        let what = format!("{metric} {given}");
        let scored = state(row, "classification-scores", &options);
        if refuses_data(kind) {
            scored.err().ok_or_else(|| format!("{what}: not refused"))?;
            continue;
        }
        if result.get("error").is_some() {
            let must_fail = needs_probabilities
                && [
                    "above 1",
                    "below 0",
                    "decision values",
                    "large and small",
                    "integers",
                ]
                .contains(&kind);
            if must_fail || given["positive"] == "eggs" {
                scored.err().ok_or_else(|| format!("{what}: not refused"))?;
            }
            // Otherwise it asks for the positive label, or for both labels where there is one.
            continue;
        }
        if given["positive"] == "eggs" {
            // A label that does not occur is an error here, and none for average precision there.
            scored.err().ok_or_else(|| format!("{what}: not refused"))?;
            continue;
        }
        let scored = scored.map_err(|error| format!("{what}: {error}"))?;
        let details = scored.details().unwrap_or_default();
        match metric {
            "roc_curve" => {
                let names = ["false_positive_rate", "true_positive_rate", "thresholds"];
                same_curve(&what, &details["roc"], &curve(&result["value"], names))?;
            }
            "precision_recall_curve" => {
                let names = ["precision", "recall", "thresholds"];
                same_curve(
                    &what,
                    &details["precision_recall"],
                    &curve(&result["value"], names),
                )?;
            }
            _ => {
                let has_positive = scored
                    .report()
                    .counts
                    .iter()
                    .any(|(name, count)| name == "positive" && count.as_f64() > Some(0.0));
                if metric == "average_precision" && !has_positive {
                    same(&what, scored.report().score(metric), None)?;
                    options.push(("profile", "sklearn".to_owned()));
                    let report = state(row, "classification-scores", &options)?.report();
                    near(&what, report.score(metric), &json!(CONVENTION), 0.0)?;
                    near(&what, report.score(metric), &result["value"], 0.0)?;
                } else {
                    near(
                        &what,
                        scored.report().score(metric),
                        &result["value"],
                        tolerance,
                    )?;
                }
            }
        }
    }
    Ok(())
}

#[test]
fn scores_of_two_classes() {
    let rows = rows::rows("ranking/binary.jsonl");
    rows::check(&rows, rows::id, &[], |row| check_binary(row, 1e-12));
}

#[test]
fn scores_of_32_bits() {
    let rows = rows::rows("ranking/float32.jsonl");
    rows::check(&rows, rows::id, &[], |row| match row["scores"][0] {
        Value::Array(_) => check_classes(row, 2e-6),
        _ => check_binary(row, 2e-6),
    });
}

/// The number of a score, or the list of those of all classes.
fn of_average(report: &Report, metric: &str, average: &Value) -> Vec<Option<f64>> {
    if average != "none" {
        return vec![report.score(metric)];
    }
    let groups = report.groups.iter().flat_map(|(_, groups)| groups);
    let score =
        |group: &metric_registry::Group| group.scores.iter().find(|(name, _)| name == metric)?.1;
    groups.map(score).collect()
}

#[expect(clippy::too_many_lines, reason = "one condition after the other")]
fn check_classes(row: &Value, tolerance: f64) -> Result<(), String> {
    let kind = row["kind"].as_str().unwrap_or_default();
    if kind == "labels out of order" {
        // scikit-learn reads the columns in sorted order all the same.
        return Ok(());
    }
    for result in list(row, "results") {
        let (metric, given) = (
            result["metric"].as_str().unwrap_or_default(),
            &result["options"],
        );
        let halves = given["scale_by_half"].as_bool().is_some();
        if given["normalize"] == false || halves {
            continue;
        }
        let mut options = vec![("groups", "class".to_owned())];
        let average = &given["average"];
        if let Some(average) = average.as_str().filter(|average| *average != "none") {
            options.push(("average", average.to_owned()));
        }
        if let Some(split) = given["multi_class"].as_str() {
            options.push(("multi-class", split.to_owned()));
        }
        if let Some(labels) = given["labels"].as_str() {
            options.push(("classes", labels.to_owned()));
        } else if row["scores"][0]
            .as_array()
            .is_some_and(|row| row.len() == 2)
        {
            options.push(("classes", "0,1".to_owned()));
        }
        let has_weights = row["weights"].is_array();
        let what = format!("{metric} {given}");
        let is_refused = given["multi_class"] == "ovo" && has_weights || refuses_data(kind);
        let scored = state(row, "classification-scores", &options);
        if is_refused {
            scored.err().ok_or_else(|| format!("{what}: not refused"))?;
            continue;
        }
        if kind == "logits" {
            scored.err().ok_or_else(|| format!("{what}: not refused"))?;
            options.push(("allow-decision-values", String::new()));
            let report = state(row, "classification-scores", &options)?.report();
            if result.get("value").is_some() && metric == "average_precision" {
                let expected = listed(&result["value"]);
                for (ours, expected) in of_average(&report, metric, average).iter().zip(&expected) {
                    near(&what, *ours, expected, tolerance)?;
                }
            }
            continue;
        }
        if result.get("error").is_some() {
            // A class without rows is undefined here, not an error; so is a row that does not sum to 1.
            if let Ok(state) = scored
                && metric == "roc_auc"
                && !kind.starts_with("two classes")
                && !kind.starts_with("one class only")
            {
                same(&what, state.report().score("roc_auc"), None)?;
            }
            continue;
        }
        let report = match scored {
            Ok(state) => state.report(),
            // The references have fewer labels than rows have scores.
            Err(_) if kind.ends_with("labels not given") => continue,
            Err(_) if kind == "single row" && given.get("labels").is_none() => continue,
            Err(error) => return Err(format!("{what}: {error}")),
        };
        let ours = of_average(&report, metric, average);
        let expected = listed(&result["value"]);
        if ours.is_empty() {
            continue;
        }
        same(&what, ours.len(), expected.len())?;
        for (ours, expected) in ours.iter().zip(&expected) {
            let is_convention = ours.is_none()
                && metric == "average_precision"
                && expected.as_f64() == Some(CONVENTION);
            let averages_convention = ours.is_none()
                && metric == "average_precision"
                && report
                    .warnings
                    .iter()
                    .any(|it| it.to_string().contains("no reference"));
            if !is_convention && !averages_convention {
                near(&what, *ours, expected, tolerance)?;
            }
        }
    }
    Ok(())
}

fn listed(value: &Value) -> Vec<Value> {
    value
        .as_array()
        .cloned()
        .unwrap_or_else(|| vec![value.clone()])
}

#[test]
fn scores_of_several_classes() {
    let rows = rows::rows("ranking/multiclass.jsonl");
    rows::check(&rows, rows::id, &[], |row| check_classes(row, 1e-12));
}

#[test]
fn calibration_errors() {
    let rows = rows::rows("ranking/calibration.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let width = row["scores"][0].as_array().map_or(0, Vec::len);
        let classes = (0..width)
            .map(|class| class.to_string())
            .collect::<Vec<_>>();
        for result in list(row, "results") {
            for (profile, field, tolerance) in [
                ("textbook", "textbook", 1e-12),
                ("torchmetrics", "value", 2e-6),
            ] {
                let mut options = vec![
                    ("bins", result["options"]["bins"].to_string()),
                    (
                        "norm",
                        result["options"]["norm"]
                            .as_str()
                            .unwrap_or_default()
                            .to_owned(),
                    ),
                    ("profile", profile.to_owned()),
                ];
                if width > 0 {
                    options.push(("classes", classes.join(",")));
                }
                let scored = state(row, "classification-scores", &options);
                // It makes probabilities of other numbers, by batch.
                let is_refused = result.get("textbook").is_none();
                match scored {
                    Err(_) if is_refused => {}
                    Err(error) => return Err(error),
                    Ok(_) if is_refused => return Err("not refused".to_owned()),
                    Ok(state) => {
                        let what = format!("{profile} {}", result["options"]);
                        let ours = state.report().score("calibration_error");
                        near(&what, ours, &result[field], tolerance)?;
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn weighted_kappa() {
    let mut rows = rows::rows("ranking/agreement.jsonl");
    // classification has no weights.
    rows.retain(|row| !row["weights"].is_array());
    rows::check(&rows, rows::id, &[], |row| {
        for result in list(row, "results") {
            let metric = result["metric"].as_str().unwrap_or_default();
            let given = &result["options"];
            if given["adjusted"] == true {
                continue;
            }
            let mut options = Vec::new();
            if let Some(weights) = given["weights"].as_str() {
                options.push(("kappa", weights.to_owned()));
            }
            if let Some(labels) = given["labels"].as_str() {
                options.push(("labels", labels.to_owned()));
            }
            let what = format!("{metric} {given}");
            let scored = state(row, "classification", &options);
            if result.get("error").is_some() {
                if let Ok(state) = scored {
                    // None of the labels is a reference.
                    same(&what, state.report().score(metric), None)?;
                }
                continue;
            }
            let ours = scored
                .map_err(|error| format!("{what}: {error}"))?
                .report()
                .score(metric);
            if metric == "matthews_correlation" && ours.is_none() {
                near(&what, Some(CONVENTION), &result["value"], 0.0)?;
            } else {
                near(&what, ours, &result["value"], 1e-12)?;
            }
        }
        Ok(())
    });
}
