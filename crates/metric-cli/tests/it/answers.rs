//! Answers as models give them: refusals, failed requests, numbers in the place of texts, choices in sentences.

use serde_json::json;

use crate::common::Folder;

/// Four answers of a batch, two of which are right: one is a refusal, and one request failed.
fn batch() -> Folder {
    let answer = |id: usize, content: &str| {
        format!(
            "{{\"key\": \"{id}\", \"response\": {{\"choices\": [{{\"content\": {content}}}]}}}}\n"
        )
    };
    let predictions = answer(0, "\"B\"")
        + &answer(1, "\"B\"")
        + "{\"key\": \"2\", \"response\": null}\n"
        + &answer(3, "null");
    let references: String = (0..4)
        .map(|id| format!("{{\"id\": \"{id}\", \"reference\": \"B\"}}\n"))
        .collect();
    let empty = references.replace("\"3\", \"reference\": \"B\"", "\"3\", \"reference\": \"\"");
    Folder::new(&[
        ("r.jsonl", &references),
        ("e.jsonl", &empty),
        ("p.jsonl", &predictions),
        ("n.json", "{\"0\": 3.50, \"1\": true, \"2\": \"7\"}"),
        ("t.json", "{\"0\": \"3.50\", \"1\": \"true\", \"2\": \"7\"}"),
        ("l.json", "{\"0\": [\"3.5\"], \"1\": [\"7\"]}"),
        ("k.json", "{\"0\": \"3.5\", \"1\": \"7\"}"),
    ])
}

const BATCH: &str =
    "-p p.jsonl --predictions-id-field key --prediction-field response.choices.0.content";

#[test]
fn null_is_an_empty_answer_or_is_left_out() {
    let folder = batch();
    for (metric, words, expected, warning) in [
        (
            "exact-match",
            "-r r.jsonl --missing empty",
            ["exact_match", "0.5"],
            "2 predictions are null and were scored as empty",
        ),
        (
            "exact-match",
            "-r r.jsonl --null empty",
            ["exact_match", "0.5"],
            "scored as empty: \"2\", \"3\"",
        ),
        (
            "exact-match",
            "-r r.jsonl --null skip",
            ["exact_match", "1.0"],
            "2 predictions are null and were left out",
        ),
        (
            "exact-match",
            "-r r.jsonl --missing empty --null skip",
            ["exact_match", "1.0"],
            "left out",
        ),
        (
            "exact-match",
            "-r e.jsonl --missing empty",
            ["exact_match", "0.75"],
            "1 missing prediction scores as correct, as its reference is empty",
        ),
        (
            "classification",
            "-r r.jsonl --missing skip",
            ["accuracy", "1.0"],
            "left out",
        ),
        (
            "wer",
            "-r r.jsonl --null empty --normalize lower",
            ["wer", "0.5"],
            "scored as empty",
        ),
    ] {
        for threads in ["1", "2"] {
            let words = format!("score {metric} {words} {BATCH} --threads {threads} --format json");
            let run = folder.run(&words).code(0);
            assert!(run.stderr.contains(warning), "{words}: {}", run.stderr);
            let result = run.json();
            let expected: serde_json::Value = serde_json::from_str(expected[1]).expect("a number");
            let found = result["scores"]
                .as_object()
                .expect("scores")
                .values()
                .next();
            assert_eq!(found, Some(&expected), "{words}");
            assert_eq!(result["missing"], json!(0), "{words}");
        }
    }
    let signature = |words: &str| {
        let run = folder.run(&format!(
            "score exact-match -r r.jsonl {BATCH} --format json {words}"
        ));
        run.json()["signature"].clone()
    };
    assert_eq!(
        signature("--missing empty"),
        json!("exact-match|ignore:none|missing:empty|v:0.1.0")
    );
    assert_eq!(
        signature("--null skip"),
        json!("exact-match|ignore:none|null:skip|v:0.1.0")
    );
}

#[test]
fn null_is_an_error_that_says_what_to_write() {
    let folder = batch();
    for (words, says) in [
        (
            "",
            "\"response\" has no \"choices\"; it is null; to score it as an empty prediction, use --null empty; to leave it out, use --null skip",
        ),
        ("--missing empty --null error", "use --null empty"),
    ] {
        folder
            .run(&format!("score exact-match -r r.jsonl {BATCH} {words}"))
            .fails(3, &["p.jsonl:3:", says]);
        folder
            .run(&format!(
                "check exact-match -r r.jsonl {BATCH} {words} --quiet"
            ))
            .code(3);
    }
    let plain = Folder::new(&[(
        "p.jsonl",
        "{\"id\": 1, \"reference\": \"a\", \"prediction\": null}\n",
    )]);
    plain.run("score exact-match --pairs p.jsonl").fails(
        3,
        &["expected a string, found null; to score it as an empty prediction, use --null empty"],
    );
    plain
        .run("score exact-match --pairs p.jsonl --null skip")
        .fails(3, &["has no examples that could be scored"]);
}

#[test]
fn systems_are_compared_without_the_examples_that_one_of_them_refused() {
    let folder = batch();
    let all: String = (0..4)
        .map(|id| {
            format!(
                "{{\"key\": \"{id}\", \"response\": {{\"choices\": [{{\"content\": \"C\"}}]}}}}\n"
            )
        })
        .collect();
    folder.put("q.jsonl", all.as_bytes());
    let words = "compare exact-match -r r.jsonl -p p.jsonl q.jsonl --predictions-id-field key \
                 --prediction-field response.choices.0.content --null skip --format json";
    let result = folder.run(words).json();
    assert_eq!(result["examples"], json!(2));
    assert_eq!(result["systems"][1]["counts"]["total"], json!(2));
}

#[test]
fn numbers_are_texts_if_they_are_read_as_such() {
    let folder = batch();
    folder
        .run("score string-accuracy -r t.json -p n.json")
        .fails(3, &["expected a string, found a number: write it as \"3.50\", or take all values as they are written, with --as-text"]);
    for metric in ["string-accuracy", "exact-match", "classification"] {
        for sides in [
            "-r t.json -p n.json",
            "-r n.json -p t.json",
            "-r n.json -p n.json",
        ] {
            let words = format!("score {metric} {sides} --as-text --format json");
            let result = folder.run(&words).json();
            let score = result["scores"]
                .as_object()
                .expect("scores")
                .values()
                .next();
            assert_eq!(score, Some(&json!(1.0)), "{words}");
            let signature = result["signature"].as_str().expect("text");
            assert!(signature.contains("|as-text:true|"), "{signature}");
        }
    }
    folder
        .run("score string-accuracy -r k.json -p l.json")
        .fails(
            3,
            &["write the string without brackets, or name the field with .0"],
        );
}

#[test]
fn options_of_answers_go_with_records() {
    let folder = Folder::new(&[(
        "a.json",
        "{\"images\": [], \"annotations\": [], \"categories\": []}",
    )]);
    for option in ["--null empty", "--as-text"] {
        folder
            .run(&format!("score coco -r a.json -p a.json {option}"))
            .fails(2, &["goes with records"]);
    }
}

#[test]
fn labels_are_taken_out_of_sentences() {
    let folder = Folder::new(&[
        (
            "s.jsonl",
            "{\"id\": 1, \"reference\": \"yes\", \"prediction\": \"Answer: yes\"}\n\
             {\"id\": 2, \"reference\": \"no\", \"prediction\": \"Answer: yes\"}\n\
             {\"id\": 3, \"reference\": \"no\", \"prediction\": \"Answer: NO.\"}\n\
             {\"id\": 4, \"reference\": \"yes\", \"prediction\": \"I cannot say.\"}\n",
        ),
        (
            "n.jsonl",
            "{\"id\": 1, \"reference\": 1000, \"prediction\": \"12 times that is $1,000.\"}\n\
             {\"id\": 2, \"reference\": \"7\", \"prediction\": \"So x = 7\"}\n",
        ),
        (
            "t.csv",
            "id,reference,prediction\n1,3,So it is 3\n2,4,It is 5 or 6\n",
        ),
        (
            "x.csv",
            "id,reference,prediction\n1,#### 18,\"It is $18.\"\n2,\"#### 1,000\",1000 apples\n",
        ),
    ]);
    for (words, expected) in [
        (
            "classification --pairs s.jsonl --extract Answer:.(\\w+)",
            0.25,
        ),
        (
            "classification --pairs s.jsonl --extract Answer:.(\\w+) --normalize lower",
            0.5,
        ),
        ("classification --pairs n.jsonl --extract last-number", 1.0),
        ("classification --pairs t.csv --extract last-number", 0.5),
        ("exact-match --pairs x.csv --normalize last-number", 1.0),
        ("exact-match --pairs x.csv --extract last-number", 0.0),
    ] {
        let result = folder.run(&format!("score {words} --format json")).json();
        let scores = result["scores"].as_object().expect("scores");
        assert_eq!(scores.values().next(), Some(&json!(expected)), "{words}");
    }
    let run = folder
        .run("score classification --pairs s.jsonl --extract Answer:.(\\w+) --details d.json");
    assert!(
        run.stderr
            .contains("1 prediction has no label, as it has no match for --extract"),
        "{}",
        run.stderr
    );
    let details = std::fs::read_to_string(folder.path("d.json")).expect("details");
    let details: serde_json::Value = serde_json::from_str(&details).expect("JSON");
    assert_eq!(
        details["without_prediction"],
        json!([{"reference": "yes", "examples": 1}])
    );
}
