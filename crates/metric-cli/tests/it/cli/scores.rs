//! Scores of classes and numbers: what only all labels or weights can tell, and a column for each class.

use serde_json::json;

use crate::common::Folder;

#[test]
fn weights_that_are_all_0_are_refused() {
    let folder = Folder::new(&[
        (
            "numbers.jsonl",
            "{\"id\":1,\"reference\":1,\"prediction\":2,\"w\":0}\n",
        ),
        (
            "labels.jsonl",
            "{\"id\":1,\"reference\":[\"a\"],\"prediction\":[\"a\"],\"w\":0}\n",
        ),
        (
            "scores.jsonl",
            "{\"id\":1,\"reference\":1,\"prediction\":0.5,\"w\":0}\n",
        ),
    ]);
    for (metric, file) in [
        ("regression", "numbers.jsonl"),
        ("multilabel", "labels.jsonl"),
        ("classification-scores", "scores.jsonl"),
    ] {
        let expected = format!("{file}: all weights are 0: expected a positive one");
        folder
            .run(&format!("score {metric} --pairs {file} --weight-field w"))
            .fails(3, &[&expected]);
    }
}

#[test]
fn the_positive_label_is_one_of_the_labels() {
    let text = "{\"id\":1,\"reference\":\"ham\",\"prediction\":0.5}\n{\"id\":2,\"reference\":\"spam\",\"prediction\":0.75}\n";
    let folder = Folder::new(&[("p.jsonl", text)]);
    let words = "score classification-scores --pairs p.jsonl";
    folder.run(words).fails(3, &["\"ham\"", "\"spam\""]);
    folder.run(&format!("{words} --positive eggs")).fails(
        3,
        &["p.jsonl:2", "--positive eggs is not one of the labels"],
    );
    let result = folder
        .run(&format!("{words} --positive spam --format json"))
        .json();
    assert_eq!(result["scores"]["roc_auc"], 1.0);
    assert_eq!(result["counts"], json!({"positive": 1, "negative": 1}));
}

#[test]
fn a_column_for_each_class() {
    let folder = Folder::new(&[
        (
            "p.csv",
            "id,reference,p_a,p_b,p_c\n1,a,0.5,0.25,0.25\n2,b,0.25,0.25,0.5\n3,c,0,0,1\n",
        ),
        (
            "p.jsonl",
            "{\"id\":1,\"reference\":\"a\",\"prediction\":[0.5,0.25,0.25]}\n{\"id\":2,\"reference\":\"b\",\"prediction\":[0.25,0.25,0.5]}\n{\"id\":3,\"reference\":\"c\",\"prediction\":[0,0,1]}\n",
        ),
    ]);
    let words = "score classification-scores --classes a,b,c --format json --pairs";
    let result = folder
        .run(&format!("{words} p.csv --prediction-fields p_a,p_b,p_c"))
        .json();
    // Squared errors: 0.375, 0.875 and 0.
    assert_eq!(result["scores"]["brier"], 1.25 / 3.0);
    assert_eq!(result, folder.run(&format!("{words} p.jsonl")).json());
    folder
        .run(&format!("{words} p.csv --prediction-fields p_a,p_b,p_x"))
        .fails(3, &["p_x"]);
    folder
        .run(&format!("{words} p.jsonl --prediction-fields p_a,p_b,p_c"))
        .fails(2, &["--prediction-fields"]);
}

#[test]
fn two_scores_of_a_row_have_the_sum_1() {
    let text = "{\"id\":1,\"reference\":\"a\",\"prediction\":[0.5,0.25]}\n{\"id\":2,\"reference\":\"b\",\"prediction\":[0.5,0.5]}\n";
    let folder = Folder::new(&[("p.jsonl", text)]);
    let words = "score classification-scores --classes a,b --format json --pairs p.jsonl";
    let result = folder.run(words).json();
    let expected = "1 row of scores does not have the sum 1: it is off by 0.250, \"1\"";
    assert_eq!(result["warnings"], json!([expected]));
    let result = folder
        .run(&format!("{words} --allow-decision-values"))
        .json();
    assert_eq!(result["warnings"], json!([]));
}
