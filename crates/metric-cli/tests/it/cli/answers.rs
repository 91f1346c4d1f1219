//! Answers to questions: records, files of VQA and SQuAD.

use serde_json::{Value, json};

use super::read;
use crate::common::Folder;

#[test]
fn answers() {
    let folder = Folder::new(&[
        (
            "r.jsonl",
            "{\"id\":1,\"reference\":\"2\",\"lang\":\"en\",\"question_type\":\"number\"}\n{\"id\":2,\"references\":[\"кот\",\"два\"],\"lang\":\"ru\",\"question_type\":\"other\"}\n",
        ),
        (
            "p.jsonl",
            "{\"id\":1,\"prediction\":\"Two\"}\n{\"id\":2,\"prediction\":\"Кот\"}\n",
        ),
        (
            "x.jsonl",
            "{\"id\":1,\"reference\":\"2\",\"lang\":\"xx\"}\n",
        ),
    ]);
    let words = "score vqa --format json -r r.jsonl -p p.jsonl";
    assert_eq!(folder.run(words).json()["scores"]["accuracy"], json!(0.0));
    let result = folder
        .run(&format!("{words} --profile fusion-brain-2021"))
        .json();
    assert_eq!(result["scores"]["accuracy"], json!(1.0));
    assert_eq!(
        result["groups"]["question_type"]["number"]["counts"],
        json!({"correct": 1, "total": 1})
    );
    assert!(
        result["warnings"][0]
            .as_str()
            .is_some_and(|text| text.contains("lemmatizer"))
    );
    let inside =
        "{\"id\":1,\"lang\":\"ru\",\"question_type\":7,\"reference\":{\"answer\":\"2\"}}\n";
    folder.put("inside.jsonl", inside.as_bytes());
    folder.put(
        "two.jsonl",
        "{\"id\":1,\"prediction\":\"Два\"}\n".as_bytes(),
    );
    let words = "score vqa --format json --profile fusion-brain-2021 -r inside.jsonl -p two.jsonl";
    let result = folder.run(words).json();
    assert_eq!(result["scores"]["accuracy"], 1.0);
    assert_eq!(
        result["groups"]["question_type"]["7"]["counts"]["correct"],
        1
    );
    folder
        .run("score vqa -r x.jsonl -p p.jsonl --extra ignore")
        .code(0);
    folder
        .run("score vqa -r x.jsonl -p p.jsonl --extra ignore --profile fusion-brain-2021")
        .fails(3, &["x.jsonl:1", "xx"]);
}

/// VQA v2's files: of question 7 all people gave one answer, of question 8 two answers.
fn vqa_files() -> Folder {
    let answers = |texts: &[&str]| -> Value {
        let answers = texts.iter().enumerate();
        let answer = |(id, text): (usize, &&str)| json!({"answer": text, "answer_id": id + 1, "answer_confidence": "yes"});
        answers.map(answer).collect()
    };
    let annotation = |id: u64, kind: &str, texts: &[&str]| json!({"question_id": id, "image_id": 1, "question_type": kind, "answer_type": "other", "answers": answers(texts)});
    let annotations = json!({
        "info": {"annotations": [1]},
        "annotations": [
            annotation(7, "what is", &["Bus!"; 10]),
            annotation(8, "how many", &["2", "two", "2", "3", "3", "3", "3", "3", "3", "3"]),
            annotation(9, "how many", &["1", "1", "one", "4", "4", "4", "4", "4", "4", "4"]),
        ],
    });
    let results = json!([
        {"question_id": "9", "answer": "5"},
        {"question_id": 7, "answer": "bus"},
        {"question_id": 8, "answer": "Two."},
    ]);
    let questions = json!({"questions": [
        {"question_id": 7, "question": "What is this?"}, {"question_id": 8}, {"question_id": 9},
    ]});
    Folder::new(&[
        ("a.json", &annotations.to_string()),
        ("p.json", &results.to_string()),
        ("q.json", &questions.to_string()),
        (
            "other.json",
            "{\"questions\":[{\"question_id\":7},{\"question_id\":10}]}",
        ),
    ])
}

#[test]
fn files_of_vqa_v2() {
    let folder = vqa_files();
    let words = "score vqa -r a.json -p p.json --format json --profile vqa-v2";
    let result = folder.run(words).json();
    // Three of ten said 2: (3 · 2 + 7 · 3) / 30.
    assert_eq!(result["scores"]["accuracy"], json!(0.9 / 3.0));
    assert_eq!(result["counts"]["thirds"], json!({"10": 27}));
    assert_eq!(result["counts"]["total"], json!(3));
    let groups = &result["groups"];
    assert_eq!(
        groups["question_type"]["how many"]["scores"]["accuracy"],
        json!(27.0 / 60.0)
    );
    assert_eq!(groups["answer_type"]["other"]["counts"]["total"], json!(3));
    assert!(
        result["signature"]
            .as_str()
            .is_some_and(|text| text.contains("profile:vqa-v2|"))
    );

    let sampled = folder.run(&format!("{words} --per-sample s.jsonl --questions q.json"));
    assert_eq!(sampled.json(), result);
    let samples = read(&folder, "s.jsonl");
    let samples: Vec<Value> = samples
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let accuracies: Vec<_> = samples
        .iter()
        .map(|s| (&s["id"], &s["scores"]["accuracy"]))
        .collect();
    assert_eq!(
        accuracies,
        [
            (&json!("7"), &json!(0.0)),
            (&json!("8"), &json!(0.9)),
            (&json!("9"), &json!(0.0))
        ]
    );
    let always = folder.run(&format!("{words}-always-normalise")).json();
    assert_eq!(always["counts"]["thirds"], json!({"10": 57}));

    // The same questions as records.
    let annotations: Value = serde_json::from_str(&read(&folder, "a.json")).expect("JSON");
    let list = annotations["annotations"].as_array().expect("a list");
    let records: String = list
        .iter()
        .map(|one| json!({"id": one["question_id"], "reference": one}).to_string() + "\n")
        .collect();
    folder.put("a.jsonl", records.as_bytes());
    folder.put(
        "p.jsonl",
        b"{\"id\":9,\"prediction\":\"5\"}\n{\"id\":7,\"prediction\":\"bus\"}\n{\"id\":8,\"prediction\":\"Two.\"}\n",
    );
    let records = "score vqa -r a.jsonl -p p.jsonl --format json --profile vqa-v2";
    assert_eq!(folder.run(records).json(), result);
    folder
        .run(&format!("{records} --questions q.json"))
        .fails(3, &["a.jsonl:1", "--questions"]);
    folder
        .run(&format!("{words} --questions other.json"))
        .fails(
            3,
            &["a.json: does not have 1 question of other.json: id \"10\""],
        );
    folder.put(
        "short.json",
        b"{\"questions\":[{\"question_id\":7},{\"question_id\":\"9\"}]}",
    );
    folder
        .run(&format!("{words} --questions short.json"))
        .fails(
            3,
            &["short.json: does not have 1 question of a.json: id \"8\""],
        );
    folder.put("q.json.gz", b"\x1f\x8b\x08\x00\xff");
    for (path, problem) in [("q.json.gz", "cannot read"), ("-", "cannot open")] {
        folder
            .run(&format!("{words} --questions {path}"))
            .fails(3, &[path, problem]);
    }

    // The default rule is not the one of these files.
    let exact = folder.run("score vqa -r a.json -p p.json").code(0);
    assert!(
        exact.stderr.contains("3 questions of") && exact.stderr.contains("--profile vqa-v2"),
        "{}",
        exact.stderr
    );
    for run in ["--profile fusion-brain-2021", "--profile vqa-v2"] {
        let run = folder
            .run(&format!("score vqa -r a.json -p p.json {run}"))
            .code(0);
        assert!(!run.stderr.contains("vqa-v2"), "{}", run.stderr);
    }
}

#[test]
fn files_of_vqa_v2_that_do_not_fit() {
    let folder = vqa_files();
    let words = "score vqa -r a.json -p x.json --format json --profile vqa-v2";
    let fails = |text: &str, says: &[&str]| {
        folder.put("x.json", text.as_bytes());
        folder.run(words).fails(3, says);
    };
    let two = "{\"question_id\":7,\"answer\":\"a\"},{\"question_id\":8,\"answer\":\"b\"}";
    fails(
        &format!("[{two}]"),
        &[
            "x.json: no prediction for 1 reference of a.json: id \"9\"",
            "--missing",
        ],
    );
    fails(&format!("[{two},{two}]"), &["x.json: duplicate id \"7\""]);
    fails("[{\"question_id\":7}]", &["x.json: no field `answer`"]);
    fails(
        "[{\"question_id\":7,\"answer\":1}]",
        &["x.json: ", "expected a string"],
    );
    fails(
        "[{\"question_id\":7,\"answer\":\"\\ud83d\"}]",
        &["x.json: half of a surrogate pair"],
    );
    fails("3", &["x.json: ", "expected a list of answers"]);
    fails(
        "[{\"question_id\":7,\"question_id\":7,\"answer\":\"a\"}]",
        &["x.json: duplicate key \"question_id\""],
    );
    fails(
        "[{\"question_id\":7,\"answer\":\"a\",\"answer\":\"a\"}]",
        &["x.json: duplicate key \"answer\""],
    );
    fails(
        "{\"7\":\"a\"}\n{\"8\":\"b\"}\n",
        &["x.json: trailing characters", "not JSON Lines"],
    );
    folder.put("x.jsonl", b"{\"id\":7,\"prediction\":\"a\"}\n");
    folder
        .run("score vqa -r a.json -p x.jsonl")
        .fails(3, &["x.jsonl: ", "not JSON Lines"]);
    folder.put("x.json", format!("[{two}]").as_bytes());
    let empty = folder.run(&format!("{words} --missing empty")).json();
    assert_eq!(
        (&empty["examples"], &empty["missing"]),
        (&json!(3), &json!(1))
    );
    let skip = folder.run(&format!("{words} --missing skip")).json();
    assert_eq!(
        (&skip["examples"], &skip["missing"]),
        (&json!(2), &json!(1))
    );
    fails(
        r#"{"7":"a","8":"b\u0000","9":"c","x":"d"}"#,
        &[
            "a.json: no reference for 1 prediction of x.json: id \"x\"",
            "--extra",
        ],
    );
    let ignored = folder.run(&format!("{words} --extra ignore")).json();
    assert_eq!(ignored["examples"], 3);

    for (annotations, says) in [
        (
            "{\"annotations\":[{\"answers\":[]}]}",
            "a.json: a question without \"question_id\"",
        ),
        (
            "{\"annotations\":[{\"question_id\":7}]}",
            "question \"7\": no field \"answers\"",
        ),
        (
            "{\"annotations\":[{\"question_id\":7,\"answers\":[]}]}",
            "a question without answers",
        ),
        (
            "{\"annotations\":[{\"question_id\":7,\"answers\":[\"a\"]},{\"question_id\":\"7\",\"answers\":[\"a\"]}]}",
            "after 1 question: duplicate id \"7\"",
        ),
        (
            "{\"annotations\":[{\"question_id\":7,\"answers\":[{\"answer\":\"\\udc00\"}]}]}",
            "half of a surrogate pair",
        ),
        (
            "{\"annotations\":[{\"question_id\":7,\"answers\":[\"a\",{\"answer\":\"a\"}]}]}",
            "texts and objects in one list of answers",
        ),
        ("{\"annotations\":[", "the text ends within"),
    ] {
        folder.put("a.json", annotations.as_bytes());
        folder.run(words).fails(3, &[says]);
    }
}

#[test]
fn files_of_squad() {
    let folder = Folder::new(&[
        (
            "d.json",
            r#"{"version":"v2.0","data":[{"title":"t","paragraphs":[{"context":"c","qas":[
                {"id":"a","question":"q","answers":[{"text":"the cat","answer_start":0},{"text":"cat","answer_start":4}],"is_impossible":false},
                {"id":"b","question":"q","answers":[],"is_impossible":true,"plausible_answers":[{"text":"dog","answer_start":1}]}
            ]}]},{"paragraphs":[{"qas":[{"id":"c","answers":[{"text":"red fox"}]}]}]}]}"#,
        ),
        ("p.json", r#"{"a":"A Cat!","b":"dog","c":"fox"}"#),
    ]);
    let words = "score squad -r d.json -p p.json --format json";
    let result = folder.run(&format!("{words} --profile v2")).json();
    assert_eq!(
        result["scores"],
        json!({"exact_match": 1.0 / 3.0, "f1": (1.0 + 2.0 / 3.0) / 3.0})
    );
    assert_eq!(result["counts"], json!({"correct": 1, "total": 3}));
    let answered = &result["groups"]["has_answer"];
    assert_eq!(answered["no"]["scores"]["f1"], json!(0.0));
    assert_eq!(answered["yes"]["scores"]["exact_match"], json!(0.5));
    folder.run(words).fails(
        3,
        &[
            "question \"b\": a question without answers",
            "--profile v2 has such questions",
        ],
    );
    folder.put("p.json", br#"{"a":"cat","b":"","c":""}"#);
    let result = folder.run(&format!("{words} --profile v2")).json();
    assert_eq!(result["scores"]["exact_match"], json!(2.0 / 3.0));
    folder.put("p.json", br#"{"a":"cat"}"#);
    folder.run(&format!("{words} --profile v2")).fails(
        3,
        &["no prediction for 2 references of d.json: ids \"b\", \"c\""],
    );
    folder.put("p.json", br#"{"a":"cat","a":"dog"}"#);
    folder.run(words).fails(3, &["p.json: duplicate id \"a\""]);

    // The same in the form of Hugging Face.
    folder.put(
        "d.jsonl",
        br#"{"id":"a","reference":{"text":["the cat","cat"],"answer_start":[0,4]},"prediction":"A Cat!"}
{"id":"b","reference":{"text":[],"answer_start":[]},"prediction":"dog"}
{"id":"c","reference":{"text":"red fox"},"prediction":"fox"}
"#,
    );
    let words = "score squad --pairs d.jsonl --format json";
    let result = folder.run(&format!("{words} --profile v2")).json();
    assert_eq!(
        result["scores"],
        json!({"exact_match": 1.0 / 3.0, "f1": (1.0 + 2.0 / 3.0) / 3.0})
    );
    folder
        .run(words)
        .fails(3, &["d.jsonl:2", "--profile v2 has such questions"]);
    folder.put(
        "d.jsonl",
        br#"{"id":"a","reference":{"texts":["a"]},"prediction":"a"}"#,
    );
    folder
        .run(words)
        .fails(3, &["d.jsonl:1", "expected a field \"text\""]);
}

#[test]
fn answers_too_long_to_be_compared_are_named() {
    let folder = Folder::new(&[]);
    let pair = |reference: &str, prediction: &str| {
        let pair = json!({"id": "page 7", "references": ["", reference], "prediction": prediction});
        folder.put("x.jsonl", pair.to_string().as_bytes());
        folder.run("score anls --pairs x.jsonl --format json")
    };
    // A quarter of the letters is wrong, which could count.
    let (long, other) = ("abcd".repeat(600_000), "abcx".repeat(600_000));
    let result = pair(&long, &other).code(5);
    assert!(result.stderr.contains("--max-cells"));
    assert_eq!(
        pair(&long, &long.to_uppercase()).json()["scores"]["anls"],
        1.0
    );
    // Too far to count, whatever the letters.
    let short = &other[..1_000_000];
    assert_eq!(pair(&long, short).json()["scores"]["anls"], 0.0);
}

const SQUAD_WITHOUT_ANSWERS: &str = r#"{"data": [{"paragraphs": [{"qas": [
    {"id": "a", "answers": []}, {"id": "b", "answers": [{"text": "x y"}]},
    {"id": "c", "answers": []}, {"id": "d", "answers": [{"text": "z"}]}, {"id": "e", "answers": [{"text": "the"}]}]}]}]}"#;

/// Questions above the threshold count as unanswered, by the rule of `evaluate-v2.0.py`.
#[test]
fn probabilities_of_no_answer() {
    let folder = Folder::new(&[
        ("d.json", SQUAD_WITHOUT_ANSWERS),
        (
            "p.json",
            r#"{"a": "x", "b": "x", "c": "y", "d": "z", "e": "the"}"#,
        ),
        (
            "na.json",
            r#"{"a": 0.31, "b": 0.2, "c": 0.3, "d": 0.9, "e": 0.9}"#,
        ),
        ("some.json", r#"{"a": 0.31, "b": 0.2}"#),
        (
            "more.json",
            r#"{"a": 0.31, "b": 0.2, "c": 0.3, "d": 0.9, "e": 0.9, "f": 0}"#,
        ),
        ("texts.json", r#"{"a": "0.31"}"#),
    ]);
    let words = "score squad --profile v2 -r d.json -p p.json --format json";
    let scores = |words: &str| {
        let result = folder.run(words).json();
        (result["scores"].clone(), result["signature"].to_string())
    };
    // Above the threshold: a is correct, d is not, and e has an answer, of which nothing is left. b has F1 2/3.
    let na = format!("{words} --na-prob-file na.json --na-prob-thresh 0.3");
    let (found, signature) = scores(&na);
    assert_eq!(
        found,
        json!({"exact_match": 1.0 / 5.0, "f1": (1.0 + 2.0 / 3.0) / 5.0})
    );
    assert!(signature.contains("|na-prob-thresh:0.3|"), "{signature}");
    // No probability is above 1, which is the default: d and e are correct.
    let (found, signature) = scores(&format!("{words} --na-prob-file na.json"));
    assert_eq!(
        found,
        json!({"exact_match": 2.0 / 5.0, "f1": (2.0 + 2.0 / 3.0) / 5.0})
    );
    assert!(signature.contains("|na-prob-thresh:1|"), "{signature}");
    assert_eq!(scores(words).0, found);
    // Parts merge, and have the scores of the examples.
    for shard in ["0/2", "1/2"] {
        let state = shard.replace('/', "-");
        let na = na.replace(" --format json", "");
        folder
            .run(&format!("{na} --shard {shard} --state-out {state}.state"))
            .code(0);
    }
    let merged = folder.run("merge 0-2.state 1-2.state --format json").json();
    assert_eq!(merged["scores"]["exact_match"], json!(1.0 / 5.0));
    let groups = &merged["groups"]["has_answer"];
    assert_eq!(groups["no"]["scores"]["exact_match"], json!(1.0 / 2.0));
    assert_eq!(groups["yes"]["scores"]["exact_match"], json!(0.0));
    let more = folder.run(&na.replace("na.json", "more.json")).json();
    let warning =
        "1 probability is of a question without a prediction or of none, and was left out";
    assert_eq!(more["warnings"], json!([warning]));
    for (words, code, says) in [
        (
            na.replace("na.json", "some.json"),
            3,
            "some.json: no probability for 3 questions: ids \"c\", \"d\", \"e\"",
        ),
        (
            na.replace("na.json", "texts.json"),
            3,
            "texts.json: id \"a\": expected a number",
        ),
        (
            na.replace("--profile v2", ""),
            2,
            "expected only with --profile v2",
        ),
        (
            format!("{words} --na-prob-thresh 0.3"),
            3,
            "--na-prob-thresh goes with --na-prob-file",
        ),
        (
            "score squad --profile v2 -r p.json -p p.json --na-prob-file na.json".to_owned(),
            3,
            "--na-prob-file goes with a data file",
        ),
    ] {
        folder.run(&words).fails(code, &[says]);
    }
}

#[test]
fn predictions_of_other_programs_name_the_form() {
    let folder = Folder::new(&[
        ("d.json", SQUAD_WITHOUT_ANSWERS),
        (
            "p.json",
            r#"[{"id": "a", "prediction_text": "", "no_answer_probability": 0.9}]"#,
        ),
    ]);
    folder
        .run("score squad --profile v2 -r d.json -p p.json")
        .fails(
            3,
            &[
                "p.json: no field `question_id` at line 1",
                "one object of answers by id",
            ],
        );
}

/// The files of DocVQA, InfographicVQA, TextVQA and ST-VQA: a list next to facts about the data set.
#[test]
fn answers_in_an_object_with_data() {
    let folder = Folder::new(&[
        (
            "docvqa.json",
            r#"{"dataset_name": "x", "dataset_version": "1.0", "data": [{"questionId": 1, "answers": ["north"]}, {"questionId": 2, "answers": ["a", "b"]}]}"#,
        ),
        (
            "p.json",
            r#"[{"questionId": 2, "answer": "b"}, {"questionId": 1, "answer": "nort"}]"#,
        ),
        (
            "textvqa.json",
            r#"{"dataset_type": "val", "data": [{"question_id": 3, "image_id": "a", "answers": ["red", "red", "red", "x", "x", "x", "x", "x", "x", "x"]}]}"#,
        ),
        ("t.json", r#"[{"question_id": 3, "answer": "red"}]"#),
    ]);
    let fields = "--reference-field answers --prediction-field answer --format json";
    let words = format!("anls -r docvqa.json -p p.json --id-field questionId {fields}");
    // One of five letters is missing: 1 - 1/5.
    let result = folder.run(&format!("score {words}")).json();
    assert_eq!(result["scores"]["anls"], json!(0.9));
    let check = folder.run(&format!("check {words}")).json();
    assert_eq!(
        check["references"],
        json!({"records": 2, "source": "docvqa.json"})
    );
    let words = format!(
        "score vqa --profile vqa-v2 -r textvqa.json -p t.json --id-field question_id {fields}"
    );
    // Each of the three who said red has two others, and the seven others have three: (3 * 2/3 + 7) / 10.
    let result = folder.run(&words).json();
    assert_eq!(result["scores"]["accuracy"], json!(0.9));
    folder
        .run("score anls -r docvqa.json -p p.json")
        .fails(3, &["did you mean --id-field questionId?"]);
}

/// Probabilities next to the predictions, as Hugging Face's `squad_v2` takes them.
#[test]
fn probabilities_of_no_answer_in_records() {
    let record = |id: &str, answers: &str, text: &str, probability: f64| {
        format!(
            "{{\"id\": \"{id}\", \"reference\": {answers}, \"prediction\": {{\"prediction_text\": \"{text}\", \"no_answer_probability\": {probability}}}}}\n"
        )
    };
    let rows = [
        record("a", "[]", "x", 0.31),
        record("b", "[\"x y\"]", "x", 0.2),
        record("c", "[]", "y", 0.3),
        record("d", "[\"z\"]", "z", 0.9),
    ];
    let texts = "{\"id\": \"a\", \"reference\": [], \"prediction\": \"x\"}\n";
    let folder = Folder::new(&[("r.jsonl", &rows.concat()), ("t.jsonl", texts)]);
    let words = "score squad --profile v2 --na-prob-thresh 0.3 --format json --pairs";
    let result = folder.run(&format!("{words} r.jsonl")).json();
    let expected = json!({"exact_match": 1.0 / 4.0, "f1": (1.0 + 2.0 / 3.0) / 4.0});
    assert_eq!(result["scores"], expected);
    folder.run(&format!("{words} t.jsonl")).fails(
        3,
        &[
            "t.jsonl:1",
            "--na-prob-thresh goes with",
            "found the string",
        ],
    );
    let words = "score squad --profile v2 --na-prob-thresh 0.3 --normalize lower --pairs r.jsonl";
    folder
        .run(words)
        .fails(2, &["expected no --normalize next to it"]);
}
