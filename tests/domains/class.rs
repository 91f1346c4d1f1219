//! Ranked labels: accuracy@k.

use metric_class::{AccuracyAtK, Ranks, TopKError, accuracy_at_k, label_rows};
use metric_core::Metric;
use ndarray::aview1;

use crate::rows::{self, same};

/// Rows that are no N lists of K labels and N references: what we say of them. `None`: they do not
/// even have the type.
const INVALID: &[(&str, Option<TopKError>)] = &[
    ("seed swapped", None),
    ("inv-1d preds", None),
    (
        "inv-ragged",
        Some(TopKError::RaggedRow {
            row: 1,
            expected: 2,
            found: 1,
        }),
    ),
    (
        "inv-len mismatch",
        Some(TopKError::LengthMismatch {
            predictions: 3,
            references: 2,
        }),
    ),
    ("inv-K=0", Some(TopKError::ZeroK)),
];

/// Rows of the form `scores` are not looked at: scores are not offered yet.
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
        same("by example", metric.compute(&ranks), vec![(k, expected)])
    });
    let unknown = |id: &str| rows.iter().all(|row| rows::id(row) != id);
    assert!(!INVALID.iter().any(|(id, _)| unknown(id)));
}
