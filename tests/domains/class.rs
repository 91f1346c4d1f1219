//! Ranked labels: accuracy@k and the mean reciprocal rank; classification.

use metric_class::{
    AccuracyAtK, Average, ConfusionMatrix, LabelsError, PrecisionRecallF1, RankTable, Ranks,
    ScoreError, ScoresError, Target, Ties, TopK, ZeroDivision, accuracy_at_k,
    binary_top_k_accuracy, label_rows, top_k_accuracy,
};
use metric_core::{Counts, Metric};
use ndarray::{Array2, aview1};
use serde_json::{Value, json};

use crate::rows::{self, near, same};

/// Rows that are not N lists of K labels and N references: our error for them. `None`: they do not
/// even have the type.
const INVALID: &[(&str, Option<LabelsError>)] = &[
    ("seed swapped", None),
    ("inv-1d preds", None),
    (
        "inv-ragged",
        Some(LabelsError::RaggedRow {
            row: 1,
            expected: 2,
            found: 1,
        }),
    ),
    (
        "inv-len mismatch",
        Some(LabelsError::LengthMismatch {
            predictions: 3,
            references: 2,
        }),
    ),
    ("inv-K=0", Some(LabelsError::ZeroK)),
];

#[test]
fn accuracy_from_label_lists() {
    let mut rows = rows::rows("class/accuracy_at_k.jsonl");
    rows.retain(|row| row["form"] == "labels");
    rows::check(&rows, rows::id, &[], |row| {
        let invalid = INVALID.iter().find(|(id, _)| rows::id(row) == *id);
        let lists = serde_json::from_value::<Vec<Vec<i64>>>(row["predictions"].clone());
        let references = serde_json::from_value::<Vec<i64>>(row["references"].clone());
        let (Ok(lists), Ok(references)) = (lists, references) else {
            return same("type", Some(&None), invalid.map(|(_, error)| error));
        };
        let k = lists.first().map_or(0, Vec::len);
        let accuracy = label_rows(&lists)
            .and_then(|labels| accuracy_at_k(labels.view(), aview1(&references), k));
        if let Some((_, error)) = invalid {
            return same("error", accuracy.err(), *error);
        }
        let accuracy = accuracy.map_err(|e| e.to_string())?;
        let expected = match row["original_behaviour"].as_str() {
            Some("2/3") => Some(2.0 / 3.0),
            _ => row["accuracy"].as_f64(),
        };
        same("accuracy", accuracy.value(), expected)?;

        let metric = AccuracyAtK::new(vec![k]).map_err(|e| e.to_string())?;
        let mut ranks = Ranks::default();
        for (prediction, reference) in lists.iter().zip(&references) {
            metric.update(&mut ranks, prediction, reference);
        }
        same("by example", metric.compute(&ranks).at(k), expected)
    });
    let unknown = |id: &str| rows.iter().all(|row| rows::id(row) != id);
    assert!(!INVALID.iter().any(|(id, _)| unknown(id)));
}

/// The tie rules by the names of the rows.
const RULES: &[(&str, Ties)] = &[
    ("high_index", Ties::HighestIndex),
    ("low_index", Ties::LowestIndex),
    ("optimistic", Ties::Optimistic),
    ("pessimistic", Ties::Pessimistic),
    ("expected", Ties::Expected),
];

fn score_rows(row: &Value) -> Result<Array2<f64>, String> {
    let lists: Vec<Vec<f64>> =
        serde_json::from_value(row["scores"].clone()).map_err(|e| e.to_string())?;
    label_rows(&lists).map_err(|e| e.to_string())
}

#[test]
fn accuracy_from_scores() {
    let mut rows = rows::rows("class/accuracy_at_k.jsonl");
    rows.retain(|row| row["form"] == "scores" && row.get("alternatives").is_some());
    rows::check(&rows, rows::id, &[], |row| {
        let scores = score_rows(row)?;
        let references: Vec<i64> =
            serde_json::from_value(row["references"].clone()).map_err(|e| e.to_string())?;
        let weights: Option<Vec<f64>> =
            serde_json::from_value(row["weights"].clone()).map_err(|e| e.to_string())?;
        for (name, ties) in RULES {
            let expected = row["alternatives"][name].as_object().ok_or("no values")?;
            let ks: Vec<usize> = expected.keys().filter_map(|k| k.parse().ok()).collect();
            let mut metric = TopK::new(ks.clone())
                .map_err(|e| e.to_string())?
                .with_ties(*ties);
            if weights.is_some() {
                metric = metric.with_weights();
            }
            let state = metric
                .measure_rows(
                    scores.view(),
                    aview1(&references),
                    weights.as_deref().map(aview1),
                )
                .map_err(|e| e.to_string())?;
            for (k, value) in metric.compute(&state).0 {
                near(&format!("{name} {k}"), value, &expected[&k.to_string()])?;
            }

            let mut by_example = RankTable::default();
            for (at, (scores, &label)) in scores.rows().into_iter().zip(&references).enumerate() {
                let rank = metric
                    .rank(scores.as_slice().ok_or("no row")?, label)
                    .map_err(|e| e.to_string())?;
                let weight = weights.as_ref().map_or(1.0, |weights| weights[at]);
                let target = Target::weighted(label, weight).map_err(|e| e.to_string())?;
                metric.update(&mut by_example, &Some(rank), &target);
            }
            same("by example", &by_example, &state)?;
        }
        for (k, expected) in row["sklearn"].as_object().ok_or("no values")? {
            let k: usize = k.parse().map_err(|_| "no k")?;
            let mut metric = TopK::new(vec![k]).map_err(|e| e.to_string())?;
            if weights.is_some() {
                metric = metric.with_weights();
            }
            let state = metric
                .measure_rows(
                    scores.view(),
                    aview1(&references),
                    weights.as_deref().map(aview1),
                )
                .map_err(|e| e.to_string())?;
            near("sklearn", metric.accuracy_at(&state, k), &expected["value"])?;
            same("trivial", k >= scores.ncols(), expected["warning"] == true)?;
        }
        Ok(())
    });
}

#[test]
fn scores_that_are_special_or_refused() {
    let mut rows = rows::rows("class/accuracy_at_k.jsonl");
    rows.retain(|row| row["form"] == "scores" && row.get("alternatives").is_none());
    let row = |row, error| ScoresError::Row { row, error };
    let label = ScoreError::NoColumn {
        label: 3,
        columns: 3,
    };
    let infinite = ScoreError::Infinite {
        column: 0,
        score: f64::INFINITY,
    };
    let refused: &[(&str, ScoresError)] = &[
        ("skerr-label out of range", row(3, label)),
        ("skerr-inf score", row(0, infinite)),
        (
            "skerr-length mismatch",
            ScoresError::LengthMismatch {
                rows: 4,
                references: 3,
            },
        ),
        ("skerr-k=0", ScoresError::ZeroK),
        ("skerr-empty", ScoresError::NoExamples),
    ];
    let deviations = &[(
        "skerr-missing class no labels",
        "the columns are the labels: references need not have all of them",
        "ours scored 1",
    )];
    rows::check(&rows, rows::id, deviations, |row| {
        let id = rows::id(row);
        let k = row["k"].as_u64().ok_or("no k")? as usize;
        let references: Vec<i64> =
            serde_json::from_value(row["references"].clone()).map_err(|e| e.to_string())?;
        if id == "skerr-binary 1d" {
            let scores: Vec<f64> =
                serde_json::from_value(row["scores"].clone()).map_err(|e| e.to_string())?;
            let references: Vec<bool> = references.iter().map(|&label| label == 1).collect();
            let accuracy = binary_top_k_accuracy(&scores, &references, k);
            let accuracy = accuracy.map_err(|e| e.to_string())?;
            return same("accuracy", accuracy.value(), row["result"].as_f64());
        }
        let scores = match row["scores"].as_str() {
            Some(_) => ndarray::array![
                [f64::INFINITY, 0.2, 0.2],
                [0.3, 0.4, 0.2],
                [0.2, 0.4, 0.3],
                [0.7, 0.2, 0.1]
            ],
            None => score_rows(row)?,
        };
        let value = top_k_accuracy(scores.view(), aview1(&references), k, Ties::HighestIndex);
        let expected = refused.iter().find(|(name, _)| *name == id);
        match (value, row["result"].as_f64()) {
            (Ok(value), Some(result)) => same("accuracy", value, result),
            (Ok(value), None) => Err(format!("ours scored {value}")),
            (Err(error), _) => same("error", Some(&error), expected.map(|(_, error)| error)),
        }
    });
}

#[test]
fn reciprocal_ranks() {
    let rows = rows::rows("class/mrr.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let scores = score_rows(row)?;
        let references: Vec<i64> =
            serde_json::from_value(row["references"].clone()).map_err(|e| e.to_string())?;
        let metric = TopK::new(vec![1])
            .map_err(|e| e.to_string())?
            .with_ties(Ties::Pessimistic);
        let state = metric
            .measure_rows(scores.view(), aview1(&references), None)
            .map_err(|e| e.to_string())?;
        let mean = metric.mean_reciprocal_rank(&state, usize::MAX);
        near("mrr", mean, &row["mrr"])
    });
}

#[test]
fn scores_of_classification() {
    let rows = rows::rows("class/classification.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let [predictions, references] = ["predictions", "references"]
            .map(|side| serde_json::from_value::<Vec<i64>>(row[side].clone()));
        let references = references.map_err(|e| e.to_string())?;
        let pairs = predictions
            .map_err(|e| e.to_string())?
            .into_iter()
            .zip(references);
        let matrix: ConfusionMatrix<i64> = pairs.collect();
        same("classes", json!(matrix.classes()), row["classes"].clone())?;
        same("matrix", json!(matrix.rows()), row["matrix"].clone())?;
        near("accuracy", matrix.accuracy().value(), &row["accuracy"])?;

        let three = |name: &str, scores: PrecisionRecallF1, expected: &[Value]| {
            let named = [
                ("precision", scores.precision),
                ("recall", scores.recall),
                ("f1", scores.f1),
            ];
            let mut pairs = named.into_iter().zip(expected);
            pairs.try_for_each(|((of, score), expected)| {
                near(&format!("{name} {of}"), score, expected)
            })
        };
        for expected in row["averages"].as_array().ok_or("no averages")? {
            let [average, rule, expected @ ..] = expected.as_array().ok_or("no list")?.as_slice()
            else {
                return Err("no average".to_owned());
            };
            let [average, rule] = [average, rule].map(|name| name.as_str().unwrap_or_default());
            let scores = matrix.precision_recall_f1(
                average.parse::<Average>().map_err(|e| e.to_string())?,
                rule.parse::<ZeroDivision>().map_err(|e| e.to_string())?,
            );
            three(&format!("{average} {rule}"), scores, expected)?;
        }
        let of_classes = row["of_classes"].as_array().ok_or("no classes")?;
        same("number of classes", matrix.counts().len(), of_classes.len())?;
        for ((class, counts), expected) in matrix.counts().into_iter().zip(of_classes) {
            let expected = expected.as_array().ok_or("no list")?;
            let rule = ZeroDivision::Undefined;
            let scores = PrecisionRecallF1::average(&[counts], Average::Macro, rule);
            three(&class.to_string(), scores, expected)?;
            same("support", expected.get(3), Some(&json!(counts.actual())))?;
        }

        let balanced = matrix.balanced_accuracy();
        near("balanced accuracy", balanced, &row["balanced_accuracy"])?;
        near("kappa", matrix.cohen_kappa(), &row["cohen_kappa"])?;
        // Where one side has a single class there is no correlation; scikit-learn prints 0.
        let counts = matrix.counts();
        let [references, predictions] = [Counts::actual, Counts::predicted]
            .map(|of| counts.iter().filter(|(_, counts)| of(counts) > 0).count());
        let expected = if references > 1 && predictions > 1 {
            &row["matthews_corrcoef"]
        } else {
            &Value::Null
        };
        near("correlation", matrix.matthews_correlation(), expected)
    });
}
