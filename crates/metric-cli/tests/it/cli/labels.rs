//! Labels and ranked labels.

use serde_json::{Value, json};

use crate::common::Folder;

#[test]
fn ranked_labels() {
    let folder = Folder::new(&[
        (
            "r.jsonl",
            "{\"id\":1,\"reference\":3}\n{\"id\":2,\"reference\":5}\n{\"id\":3,\"reference\":8}\n",
        ),
        (
            "p.jsonl",
            "{\"id\":1,\"prediction\":[0,7,1,3,5]}\n{\"id\":2,\"prediction\":[0,2,9,8,4]}\n{\"id\":3,\"prediction\":[8,4,0,1,3]}\n",
        ),
        (
            "ragged.jsonl",
            "{\"id\":1,\"prediction\":[0,7]}\n{\"id\":2,\"prediction\":[0]}\n{\"id\":3,\"prediction\":[8,4]}\n",
        ),
    ]);
    let words = "score accuracy-at-k --format json -r r.jsonl -p p.jsonl";
    let result = folder.run(&format!("{words} --k 1,4,5")).json();
    let scores = json!({"accuracy@1": 1.0 / 3.0, "accuracy@4": 2.0 / 3.0, "accuracy@5": 2.0 / 3.0});
    assert_eq!(result["scores"], scores);
    assert_eq!(
        result["counts"],
        json!({"hits@1": 1, "hits@4": 2, "hits@5": 2, "total": 3})
    );
    let default = folder.run(words).json();
    assert_eq!(
        default["scores"],
        json!({"accuracy@1": 1.0 / 3.0, "accuracy@5": 2.0 / 3.0})
    );
    folder.put("r.txt", b"3\n5\n8\n");
    let lines = folder
        .run("score accuracy-at-k --format json -r r.txt -p p.jsonl --k 5,1")
        .json();
    assert_eq!(
        lines["counts"],
        json!({"hits@5": 2, "hits@1": 1, "total": 3})
    );
    assert!(
        lines["signature"]
            .as_str()
            .is_some_and(|text| text.contains("|k:1,5|"))
    );
    let short = folder.run(&format!("{words} --k 6")).json();
    assert_eq!(short["counts"], json!({"hits@6": 2, "total": 3}));
    for threads in [1, 2] {
        let words = format!("score accuracy-at-k -r r.jsonl -p ragged.jsonl --threads {threads}");
        folder
            .run(&words)
            .fails(3, &["ragged.jsonl:2", "has 1 label: expected 2", "use --k"]);
        let ragged = folder.run(&format!("{words} --k 2 --format json")).json();
        assert_eq!(ragged["counts"], json!({"hits@2": 1, "total": 3}));
        let warnings = &ragged["warnings"];
        assert!(
            warnings[0]
                .as_str()
                .is_some_and(|text| text.starts_with("1 row has fewer than the 2 labels of --k")),
            "{warnings}"
        );
    }
}

fn records(field: &str, values: &[Value]) -> String {
    let record = |(at, value): (usize, &Value)| format!("{}\n", json!({"id": at, field: value}));
    values.iter().enumerate().map(record).collect()
}

#[test]
fn scores_of_classes() {
    // The first and the last are hits at 1, the second shares the lead with one label after it.
    let references = [json!(0), json!(1), json!(2), json!(2)];
    let scores = [
        json!([0.5, 0.2, 0.2]),
        json!([0.1, 0.4, 0.4]),
        json!([0.2, 0.4, 0.3]),
        json!([0, 0, 1]),
    ];
    let folder = Folder::new(&[
        ("r.jsonl", &records("reference", &references)),
        ("p.jsonl", &records("prediction", &scores)),
    ]);
    let words = "score accuracy-at-k --input scores --format json -r r.jsonl -p p.jsonl";
    let result = folder.run(&format!("{words} --k 1,2")).json();
    assert_eq!(
        result["scores"],
        json!({"accuracy@1": 0.5, "accuracy@2": 1.0})
    );
    assert_eq!(
        result["counts"],
        json!({"hits@1": 2, "hits@2": 4, "total": 4})
    );
    let signature = result["signature"].as_str().expect("text");
    assert!(signature.contains("|k:1,2|ties:highest-index|average:micro|"));
    let at_1 = |options: &str| {
        let result = folder.run(&format!("{words} --k 1 {options}")).json();
        result["scores"]["accuracy@1"].as_f64().expect("a number")
    };
    assert_eq!(at_1("--ties lowest-index"), 0.75);
    assert_eq!(at_1("--ties optimistic"), 0.75);
    assert_eq!(at_1("--ties pessimistic"), 0.5);
    assert_eq!(at_1("--ties expected"), 0.625);
    assert_eq!(at_1("--average macro"), 0.5);
    assert_eq!(at_1("--average macro --ties lowest-index"), 2.5 / 3.0);
    assert_eq!(at_1("--ignore-index 1"), 2.0 / 3.0);

    let result = folder.run(&format!("{words} --ties expected")).json();
    assert_eq!(
        result["counts"],
        json!({"hits@1": 2.5, "hits@5": 4.0, "total": 4})
    );
    let signature = result["signature"].as_str().expect("text");
    assert!(signature.contains("|k:1,5|"), "{signature}");
    let warning = result["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("accuracy@5 of 3 classes"), "{warning}");
    let trivial = folder.run(&format!("{words} --k 3")).json();
    assert_eq!(trivial["scores"], json!({"accuracy@3": 1.0}));
    let warning = trivial["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("accuracy@3 of 3 classes"));

    let rank = folder.run(&words.replace("accuracy-at-k", "mrr")).json();
    assert_eq!(
        rank["scores"],
        json!({"mrr": (1.0 + 0.5 + 0.5 + 1.0) / 4.0})
    );
    assert_eq!(rank["counts"], json!({"found": 4, "total": 4}));
    let cut = folder
        .run(&format!("{} --k 1", words.replace("accuracy-at-k", "mrr")))
        .json();
    assert_eq!(cut["scores"], json!({"mrr@1": 0.5}));

    folder.put(
        "weighted.jsonl",
        b"{\"id\":0,\"reference\":0,\"w\":3}\n{\"id\":1,\"reference\":1,\"w\":0.5}\n{\"id\":2,\"reference\":2,\"w\":0.25}\n{\"id\":3,\"reference\":2,\"w\":0.25}\n",
    );
    let words = words.replace("r.jsonl", "weighted.jsonl --weight-field w --k 1");
    let weighted = folder.run(&words).json();
    assert_eq!(weighted["scores"], json!({"accuracy@1": 3.25 / 4.0}));
    assert_eq!(weighted["counts"], json!({"hits@1": 3.25, "total": 4.0}));
    folder
        .run(&words.replace("field w", "field v"))
        .fails(3, &["weighted.jsonl:1", "expected a field \"v\""]);
}

#[test]
fn rows_of_scores_their_k_and_what_is_left_out() {
    let references = [json!(0), json!(-100), json!(4)];
    let scores = [
        json!([5, 4, 3, 2, 1]),
        json!([1, 2, 3, 4, 5]),
        json!([5, 4, 3, 2, 1]),
    ];
    let folder = Folder::new(&[
        ("r.jsonl", &records("reference", &references)),
        ("p.jsonl", &records("prediction", &scores)),
        (
            "wide.jsonl",
            &records(
                "prediction",
                &[json!([1, 2, 3]), json!([1]), json!([1, 2, 3, 4, 5])],
            ),
        ),
        ("one.jsonl", &records("reference", &[json!(0)])),
        (
            "infinite.jsonl",
            "{\"id\": 0, \"prediction\": [-Infinity, 0.5]}\n",
        ),
        ("infinite.txt", "[-Infinity, 0.5]\n"),
        ("one.txt", "0\n"),
    ]);
    let words = "score accuracy-at-k --input scores --format json -r r.jsonl --ignore-index -100";
    let result = folder.run(&format!("{words} -p p.jsonl")).json();
    assert_eq!(
        result["scores"],
        json!({"accuracy@1": 0.5, "accuracy@5": 1.0})
    );
    assert_eq!(
        result["warnings"],
        json!([
            "1 example of the ignored label was left out",
            "accuracy@5 of 5 classes is 1 whatever the scores",
        ])
    );
    let result = folder.run(&format!("{words} -p p.jsonl --k 2,1,2")).json();
    assert_eq!(
        result["counts"],
        json!({"hits@1": 1, "hits@2": 1, "total": 2})
    );
    let signature = result["signature"].as_str().expect("text");
    assert!(signature.contains("|k:1,2|"), "{signature}");
    assert!(signature.contains("|ignore-index:-100|"), "{signature}");
    folder.run(&format!("{words} -p wide.jsonl")).fails(
        3,
        &[
            "wide.jsonl:3",
            "the row has 5 scores: expected 3, as in the first row",
        ],
    );
    folder
        .run(&format!("{} -p p.jsonl", words.replace("-100", "x")))
        .fails(2, &["expected an integer"]);
    let words = "score accuracy-at-k --input scores --allow-infinite";
    for files in [
        "-r one.jsonl -p infinite.jsonl",
        "-r one.txt -p infinite.txt",
    ] {
        folder
            .run(&format!("{words} {files}"))
            .fails(3, &["infinite.", ":1", "\"-inf\""]);
    }
    folder.put(
        "weight.jsonl",
        b"{\"id\":0,\"reference\":0,\"w\":\"inf\"}\n",
    );
    folder
        .run("score accuracy-at-k --input scores -r weight.jsonl -p p.jsonl --extra ignore --weight-field w")
        .fails(3, &["field \"w\": found the string \"inf\", expected a number"]);
}

#[test]
fn scores_that_cannot_be() {
    let cases: &[(Value, &str, &[&str])] = &[
        (json!([0.1, "nan"]), "", &["score 1 is not a number"]),
        (
            json!([0.1, "inf"]),
            "",
            &["score 1 is inf", "--allow-infinite"],
        ),
        (json!([0.1, "nan"]), "--allow-infinite", &["not a number"]),
        (json!([0.1, null]), "", &["expected a number"]),
        (json!([0.1, "high"]), "", &["\"high\"", "expected a number"]),
        (
            json!([0.1]),
            "",
            &[
                "r.jsonl:1",
                "reference: the label is 1, but there are 1 scores",
            ],
        ),
        (json!([]), "", &["r.jsonl:1", "there are 0 scores"]),
        (json!({}), "", &["expected a list"]),
    ];
    for (scores, options, says) in cases {
        let folder = Folder::new(&[
            ("r.jsonl", &records("reference", &[json!(1)])),
            (
                "p.jsonl",
                &records("prediction", std::slice::from_ref(scores)),
            ),
        ]);
        let words = "score accuracy-at-k --input scores -r r.jsonl -p p.jsonl";
        let mut says = says.to_vec();
        // A label without a score is an error of the reference.
        if !says.contains(&"r.jsonl:1") {
            says.push("p.jsonl:1");
        }
        folder.run(&format!("{words} {options}")).fails(3, &says);
    }
    let folder = Folder::new(&[
        ("r.jsonl", &records("reference", &[json!(1), json!("1")])),
        (
            "p.jsonl",
            &records("prediction", &[json!(["-inf", 0.5]), json!([1, 2])]),
        ),
        ("one.jsonl", &records("reference", &[json!(1)])),
        ("row.jsonl", &records("prediction", &[json!(["-inf", 0.5])])),
    ]);
    folder
        .run("score accuracy-at-k --input scores --allow-infinite -r r.jsonl -p p.jsonl")
        .fails(3, &["r.jsonl:2", "the index of a score", "a string"]);
    let words = "score accuracy-at-k --input scores --format json -r one.jsonl -p row.jsonl";
    let masked = folder
        .run(&format!("{words} --allow-infinite --k 1"))
        .json();
    assert_eq!(masked["scores"], json!({"accuracy@1": 1.0}));
    folder
        .run("score accuracy-at-k --ties expected -r one.jsonl -p row.jsonl")
        .fails(2, &["--ties", "only with --input scores"]);
    folder
        .run(&format!("{words} --k 0"))
        .fails(2, &["--k \"0\": expected a positive integer"]);
    for option in ["--ties random", "--average weighted", "--ignore-index x"] {
        folder.run(&format!("{words} {option}")).code(2);
    }
}

#[test]
fn reciprocal_ranks_of_lists() {
    let lists = [
        json!(["a", "b"]),
        json!(["b"]),
        json!([]),
        json!(["c", "d", "a"]),
    ];
    let references = [json!("a"), json!("a"), json!("a"), json!("a")];
    let folder = Folder::new(&[
        ("r.jsonl", &records("reference", &references)),
        ("p.jsonl", &records("prediction", &lists)),
    ]);
    let words = "score mrr --format json -r r.jsonl -p p.jsonl";
    let result = folder.run(words).json();
    assert_eq!(result["scores"], json!({"mrr": (1.0 + 1.0 / 3.0) / 4.0}));
    assert_eq!(result["counts"], json!({"found": 2, "total": 4}));
    let result = folder.run(&format!("{words} --k 2")).json();
    assert_eq!(result["scores"], json!({"mrr@2": 0.25}));
    folder
        .run(&format!("{words} --k 0"))
        .fails(2, &["--k \"0\": expected a positive integer"]);
}

#[test]
fn classes() {
    let references = ["cat", "cat", "cat", "dog", "dog", "emu"];
    let predictions = ["cat", "cat", "dog", "dog", "cat", "dog"];
    let folder = Folder::new(&[
        (
            "r.jsonl",
            &records("reference", &references.map(Value::from)),
        ),
        (
            "p.jsonl",
            &records("prediction", &predictions.map(Value::from)),
        ),
        ("r.txt", &(references.join("\n") + "\n")),
        ("p.txt", &(predictions.join("\n") + "\n")),
    ]);
    let words = "score classification --format json -r r.jsonl -p p.jsonl";
    let result = folder.run(words).json();
    let scores = &result["scores"];
    assert_eq!(scores["accuracy"], json!(0.5));
    assert_eq!(scores["precision"], json!(0.5));
    assert_eq!(scores["recall"], json!((2.0 / 3.0 + 0.5) / 3.0));
    assert_eq!(scores["balanced_accuracy"], scores["recall"]);
    assert_eq!(result["counts"], json!({"correct": 3, "total": 6}));
    let warning = result["warnings"][0].as_str().expect("a warning");
    assert!(warning.starts_with("1 class is never predicted"));
    assert_eq!(result.get("groups"), None);
    let lines = folder
        .run("score classification --format json -r r.txt -p p.txt")
        .json();
    assert_eq!(lines["scores"], result["scores"]);

    let zero = folder.run(&format!("{words} --zero-division 0")).json();
    assert_eq!(zero["scores"]["precision"], json!(1.0 / 3.0));
    assert_eq!(zero["warnings"], json!([]));
    let micro = folder.run(&format!("{words} --average micro")).json();
    assert_eq!(micro["scores"]["f1"], json!(0.5));
    let one = folder.run(&format!("{words} --labels cat")).json();
    assert_eq!(one["scores"]["precision"], json!(2.0 / 3.0));
    assert_eq!(one["scores"]["accuracy"], json!(0.5));

    let table = folder
        .run(&format!("{words} --groups class --details d.json"))
        .json();
    assert_eq!(
        table["groups"]["class"]["emu"],
        json!({
            "scores": {"precision": null, "recall": 0.0, "f1": 0.0},
            "counts": {"tp": 0, "fp": 0, "fn": 1, "support": 1},
        })
    );
    let details = std::fs::read_to_string(folder.path("d.json")).expect("details");
    let details: Value = serde_json::from_str(&details).expect("JSON");
    assert_eq!(details["classes"], json!(["cat", "dog", "emu"]));
    assert_eq!(details["matrix"], json!([[2, 1, 0], [1, 1, 0], [0, 1, 0]]));
    let cell = |reference, prediction, count| json!({"reference": reference, "prediction": prediction, "count": count});
    assert_eq!(
        details["cells"],
        json!([
            cell("cat", "cat", 2),
            cell("cat", "dog", 1),
            cell("dog", "cat", 1),
            cell("dog", "dog", 1),
            cell("emu", "dog", 1),
        ])
    );
}

#[test]
fn more_classes_than_a_matrix_has() {
    let labels = |count: i64| (0..count).map(|label| json!(label)).collect::<Vec<_>>();
    for (count, matrix) in [(1000, true), (1001, false)] {
        let folder = Folder::new(&[
            ("r.jsonl", &records("reference", &labels(count))),
            ("p.jsonl", &records("prediction", &labels(count))),
        ]);
        folder
            .run("score classification -r r.jsonl -p p.jsonl --details d.json")
            .code(0);
        let details = std::fs::read_to_string(folder.path("d.json")).expect("details");
        let details: Value = serde_json::from_str(&details).expect("JSON");
        assert_eq!(details["matrix"].is_array(), matrix);
        assert_eq!(
            details["cells"].as_array().map(Vec::len),
            Some(count as usize)
        );
        assert_eq!(
            details["cells"][7],
            json!({"reference": 7, "prediction": 7, "count": 1})
        );
    }
}

#[test]
fn labels_of_lines_and_of_the_signature() {
    let folder = Folder::new(&[
        ("r.txt", "3\nb|c\n3\n"),
        (
            "p.jsonl",
            "{\"id\":1,\"prediction\":\"3\"}\n{\"id\":2,\"prediction\":\"b|c\"}\n{\"id\":3,\"prediction\":3}\n",
        ),
    ]);
    // A line is the string or the integer that the other side has.
    let words = "score classification --format json -r r.txt -p p.jsonl";
    let result = folder.run(&format!("{words} --labels b|c,3")).json();
    assert_eq!(result["scores"]["accuracy"], json!(1.0));
    let signature = result["signature"].as_str().expect("text");
    assert!(signature.contains("|labels:3,b%7Cc|"), "{signature}");
}

#[test]
fn classes_that_are_missing_or_none() {
    let folder = Folder::new(&[
        (
            "r.jsonl",
            &records("reference", &[json!(1), json!(2), json!(10)]),
        ),
        ("p.jsonl", &records("prediction", &[json!(1), json!(10)])),
        (
            "bad.jsonl",
            &records("prediction", &[json!(1), json!([1]), json!(2)]),
        ),
        (
            "text.jsonl",
            &records("prediction", &[json!("1"), json!("2"), json!("10")]),
        ),
    ]);
    let words = "score classification --format json -r r.jsonl";
    folder
        .run(&format!("{words} -p bad.jsonl"))
        .fails(3, &["bad.jsonl:2", "expected a label", "a list"]);
    folder.put(
        "true.jsonl",
        records("prediction", &[json!(1), json!(true), json!(2)]).as_bytes(),
    );
    folder.run(&format!("{words} -p true.jsonl")).fails(
        3,
        &[
            "true.jsonl:2",
            "found true: write it as \"true\", or as 0 or 1",
        ],
    );
    folder.run(&format!("{words} -p p.jsonl")).code(3);
    let empty = folder
        .run(&format!(
            "{words} -p p.jsonl --missing empty --details d.json"
        ))
        .json();
    assert_eq!(empty["counts"], json!({"correct": 1, "total": 3}));
    assert_eq!(empty["missing"], json!(1));
    let details = std::fs::read_to_string(folder.path("d.json")).expect("details");
    let details: Value = serde_json::from_str(&details).expect("JSON");
    assert_eq!(details["classes"], json!([1, 2, 10]));
    assert_eq!(
        details["without_prediction"],
        json!([{"reference": 10, "examples": 1}])
    );
    // The string "1" is not the integer 1.
    let text = folder
        .run(&format!("{words} -p text.jsonl --groups class"))
        .json();
    assert_eq!(text["scores"]["accuracy"], json!(0.0));
    let classes = text["groups"]["class"].as_object().expect("a table");
    let mut names: Vec<&str> = classes.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["\"1\"", "\"10\"", "\"2\"", "1", "10", "2"]);
    let warnings = text["warnings"].to_string();
    assert!(warnings.contains("3 integers and the strings"));
    let labels = folder
        .run(&format!("{words} -p text.jsonl --labels 7"))
        .json();
    assert_eq!(labels["scores"]["precision"], Value::Null);
    assert!(
        labels["warnings"]
            .to_string()
            .contains("no example has the class")
    );
    // Class 1 is always right, class 7 does not occur.
    let fourth = folder
        .run(&format!(
            "{words} -p r.jsonl --prediction-field reference --labels 1,7 --zero-division 0"
        ))
        .json();
    assert_eq!(fourth["scores"]["recall"], json!(0.5));
    for option in [
        "--zero-division 2",
        "--average none",
        "--labels 1,,2",
        "--labels 1,1",
    ] {
        folder
            .run(&format!("{words} -p text.jsonl {option}"))
            .code(2);
    }
}

/// Labels that are probably meant to be equal are different labels, which a warning says.
#[test]
fn labels_that_are_written_in_two_ways() {
    let folder = Folder::new(&[]);
    let number = "1 number with and without decimals is several classes, such as 3 and \"3.0\"";
    let row = "1 row has its reference as another label: an integer";
    let rows: &[(&str, &str, &str, Option<&str>)] = &[
        ("classification", "\"3.0\"", "3", Some(number)),
        ("classification", "3", "\"3.0\"", Some(number)),
        (
            "classification",
            "\"3\"",
            "\"3.0\"",
            Some("such as \"3\" and \"3.0\""),
        ),
        (
            "classification",
            "\"3\"",
            "3",
            Some("1 integer and the string it is written as"),
        ),
        ("classification", "\"3.5\"", "3", None),
        ("classification", "\"v3.0\"", "\"v3\"", None),
        ("mrr", "\"3\"", "[1, 3]", Some(row)),
        ("mrr", "3", "[1, \"3\"]", Some(row)),
        ("mrr", "3", "[\"3.0\", \"x\"]", Some(row)),
        ("mrr", "\"3.0\"", "[3, 1]", Some(row)),
        ("accuracy-at-k --k 1", "\"3\"", "[1, 3]", Some(row)),
        ("accuracy-at-k --k 1", "3", "[1, 3]", None),
        ("mrr", "\"3\"", "[3, \"3\"]", None),
        ("mrr", "\"a\"", "[\"b\"]", None),
        ("mrr", "3", "[4, 5]", None),
    ];
    for (metric, reference, prediction, expected) in rows {
        let record =
            format!("{{\"id\":1,\"reference\":{reference},\"prediction\":{prediction}}}\n");
        folder.put("a.jsonl", record.as_bytes());
        let other = "{\"id\":2,\"reference\":\"x\",\"prediction\":[\"y\"]}\n";
        let other = if metric.starts_with("classification") {
            ""
        } else {
            other
        };
        folder.put("a.jsonl", format!("{record}{other}").as_bytes());
        for files in ["--pairs a.jsonl", "--pairs a.jsonl --per-sample s.jsonl"] {
            let words = format!("score {metric} {files} --format json");
            let result = folder.run(&words).json();
            let warnings = result["warnings"].to_string().replace("\\\"", "\"");
            let is_there = |text: &str| warnings.contains(text);
            match expected {
                Some(text) => assert!(is_there(text), "{record}{warnings}"),
                None => assert!(
                    !is_there("decimals") && !is_there("written") && !is_there("another label"),
                    "{record}{warnings}"
                ),
            }
        }
    }
}

#[test]
fn classes_that_never_occur_are_named() {
    let rows: String = (0..7)
        .map(|row| format!("{{\"id\":{row},\"reference\":\"A\",\"prediction\":\" A{row}\"}}\n"))
        .collect();
    let folder = Folder::new(&[("a.jsonl", &rows)]);
    let result = folder
        .run("score classification --pairs a.jsonl --format json")
        .json();
    let zero = "--zero-division 0 counts";
    let expected = json!([
        format!(
            "1 class is never predicted and left out of the average precision: \"A\"; {zero} it as 0, as scikit-learn does"
        ),
        format!(
            "7 classes are never a reference and left out of the average recall: \" A0\", \" A1\", \" A2\", \" A3\", \" A4\", ...; {zero} them as 0, as scikit-learn does"
        ),
    ]);
    assert_eq!(result["warnings"], expected);
}

#[test]
fn labels_with_commas_are_in_quotes() {
    let rows = "{\"id\":1,\"reference\":\"a,b\",\"prediction\":\"a,b\"}\n{\"id\":2,\"reference\":\"a\",\"prediction\":\"a,b\"}\n";
    let folder = Folder::new(&[("a.jsonl", rows)]);
    let run = |labels: &str| {
        let mut command =
            folder.command("score classification --pairs a.jsonl --format json --labels");
        let output = command.arg(labels).output().expect("the program runs");
        crate::common::Run::new(labels, output)
    };
    // Of the two predictions of `a,b` one is correct.
    let one = run("\"a,b\"").json();
    assert_eq!(one["scores"]["precision"], json!(0.5));
    let signature = one["signature"].as_str().expect("a text");
    assert!(signature.contains("|labels:\"a,b\"|"), "{signature}");
    let two = run("a,\"a,b\"").json();
    assert_eq!(two["scores"]["precision"], json!(0.5));
    assert_eq!(two["scores"]["recall"], json!(0.5));
    run("\"a,b").fails(2, &["--labels", "never closed"]);
}

#[test]
fn values_of_another_metric_name_it() {
    let folder = Folder::new(&[]);
    for (metric, reference, prediction, says) in [
        (
            "mrr",
            "1",
            "[0.1, 0.9]",
            "if a row has the scores of all classes, use --input scores",
        ),
        ("accuracy-at-k", "1", "[0.0, 1.0]", "use --input scores"),
        (
            "classification",
            "[\"x\"]",
            "\"x\"",
            "reference: expected a label, an integer or a string, found a list",
        ),
        ("classification", "\"x\"", "[\"x\", \"y\"]", "multilabel"),
        (
            "classification",
            "3.0",
            "3",
            "found 3.0: write it as 3 or, if it is a name, as \"3.0\"",
        ),
        ("classification", "true", "1", "write it as \"true\""),
    ] {
        let record =
            format!("{{\"id\":1,\"reference\":{reference},\"prediction\":{prediction}}}\n");
        folder.put("a.jsonl", record.as_bytes());
        let run = folder.run(&format!("score {metric} --pairs a.jsonl"));
        let run = run.fails(3, &["a.jsonl:1", says]);
        assert!(!run.stderr.contains("index"), "{}", run.stderr);
    }
    // Texts are not scores.
    folder.put(
        "a.jsonl",
        b"{\"id\":1,\"reference\":1,\"prediction\":[1, null]}\n",
    );
    let run = folder
        .run("score mrr --pairs a.jsonl")
        .fails(3, &["found null"]);
    assert!(!run.stderr.contains("--input"), "{}", run.stderr);
}
