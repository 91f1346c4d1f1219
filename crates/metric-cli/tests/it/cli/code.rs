//! Source code.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::Folder;

#[test]
fn code() {
    let folder = Folder::new(&[
        (
            "r.jsonl",
            "{\"id\":\"a\",\"lang\":\"java\",\"reference\":\"int x = y ;\"}\n{\"id\":\"b\",\"lang\":\"go\",\"references\":[\"x = y + z\",\"f ( x )\"]}\n",
        ),
        (
            "p.jsonl",
            "{\"id\":\"a\",\"prediction\":\"int x = y ;\"}\n{\"id\":\"b\",\"prediction\":\"x = y - z\"}\n",
        ),
        ("none.jsonl", "{\"id\":\"b\",\"references\":[]}\n"),
        (
            "cobol.jsonl",
            "{\"id\":\"b\",\"lang\":\"cobol\",\"reference\":\"\"}\n",
        ),
    ]);
    let words = "score codebleu --format json -r r.jsonl -p p.jsonl";

    // In groups by language, each under its own grammar.
    let result = folder
        .run(&format!(
            "{words} --lang-field lang --per-sample samples.jsonl"
        ))
        .json();
    let java = &result["groups"]["lang"]["java"];
    let same = json!({"codebleu": 1.0, "ngram_match": 1.0, "weighted_ngram_match": 1.0, "syntax_match": 1.0, "dataflow_match": 1.0});
    assert_eq!(java["scores"], same);
    // `int` is a keyword and weighs 1; the four other words weigh 0.2.
    assert_eq!(
        java["counts"]["weighted"],
        json!([[1.8, 1.8], [4, 4], [3, 3], [2, 2]])
    );
    assert_eq!(java["counts"]["hypothesis_length"], 5);
    let go = &result["groups"]["lang"]["go"]["counts"];
    assert_eq!(go["ngram"][0], json!([4, 5]));
    // x comes from y and z; the second reference has no dataflow.
    assert_eq!(go["dataflow"], json!([3, 3]));
    let samples = std::fs::read_to_string(folder.path("samples.jsonl")).expect("samples");
    let samples: Vec<Value> = samples
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(
        (&samples[0]["id"], &samples[0]["scores"]),
        (&json!("a"), &same)
    );
    assert_eq!(samples[1]["counts"]["no_reference_dataflow"], 0);
    let warnings = result["warnings"].to_string();
    assert!(
        warnings.contains("in go") && !warnings.contains("in java"),
        "{warnings}"
    );

    // One language for all; the parts of the signature that change the score.
    let result = folder
        .run(&format!(
            "{words} --lang go --profile corrected --weights 0.1,0.1,0.4,0.4"
        ))
        .json();
    let signature =
        "codebleu|lang:go|profile:corrected|weights:.1,.1,.4,.4|grammar:go-0.25.0|ngrams:2|v:";
    assert!(
        result["signature"].to_string().contains(signature),
        "{result}"
    );

    let run =
        |words: &str| folder.run(&format!("score codebleu {words} -p p.jsonl --extra ignore"));
    run("--lang go -r none.jsonl").fails(3, &["none.jsonl:1", "id \"b\"", "no references"]);
    run("--lang-field lang -r cobol.jsonl").fails(3, &["cobol.jsonl:1", "\"cobol\"", "java"]);
    run("--lang-field lang -r none.jsonl").fails(3, &["no language in field \"lang\""]);
    run("-r r.jsonl").fails(2, &["--lang: a language is needed", "--lang-field"]);
    run("--lang java --lang-field lang -r r.jsonl").fails(2, &["one of the two"]);
    run("--lang java --weights 1,1,1,1 -r r.jsonl").fails(2, &["--weights", "sum to 1"]);

    // The text that is too long is named, not parsed.
    let long = "x".repeat(2 * 1024 * 1024 + 1);
    folder.put(
        "long.jsonl",
        json!({"id": "b", "prediction": long})
            .to_string()
            .as_bytes(),
    );
    folder
        .run("score codebleu --lang go -r r.jsonl -p long.jsonl --missing skip")
        .fails(5, &["long.jsonl:1", "2097153 bytes", "at most 2097152"]);
}

/// The work given to a parser is counted: threads that wait for each other refuse no text.
#[test]
fn code_that_is_hard_to_parse() {
    // Python, given as Java.
    let text: String = (0..120)
        .map(|i| format!("for i in a:\n x=x+y{i}\n y=x\n"))
        .collect();
    let lines = |key: &str, text: &str, count: usize| -> String {
        (0..count)
            .map(|id| json!({"id": id, key: text}).to_string() + "\n")
            .collect()
    };
    // Each `/*` is read to the end of the text.
    let open = "a /* ".repeat(9000);
    let folder = Folder::new(&[
        ("r.jsonl", &lines("reference", &text, 8)),
        ("p.jsonl", &lines("prediction", &(text + " "), 8)),
        ("one.jsonl", &lines("reference", "int x = y;", 1)),
        ("open.jsonl", &lines("prediction", &open, 1)),
        ("open_reference.jsonl", &lines("reference", &open, 1)),
        (
            "one_prediction.jsonl",
            &lines("prediction", "int x = y;", 1),
        ),
    ]);
    let run = |words: &str| folder.run(&format!("score codebleu --lang java {words}"));
    let all = |threads| {
        let mut result = run(&format!(
            "-r r.jsonl -p p.jsonl --format json --threads {threads}"
        ))
        .json();
        result["scores"].take()
    };
    let scores = all(1);
    assert_eq!(scores["syntax_match"], 1.0);
    assert_eq!(all(8), scores);
    for threads in [1, 8] {
        run(&format!("-r one.jsonl -p open.jsonl --threads {threads}")).fails(
            5,
            &[
                "open.jsonl:1: id \"0\": prediction: ",
                "more work or memory than allowed",
                "--on-limit zero",
            ],
        );
        run(&format!(
            "-r open_reference.jsonl -p one_prediction.jsonl --threads {threads}"
        ))
        .fails(5, &["open_reference.jsonl:1: id \"0\": reference: "]);
    }
}

/// With `--on-limit zero` a text that is too hard to parse has no syntax and no dataflow, and its id is
/// named, however the data is split.
#[test]
fn code_that_is_hard_to_parse_scores_0() {
    let open = "a /* ".repeat(9000);
    let code = "int x = y; int z = x;";
    let lines = |key: &str, hard: &[usize]| -> String {
        (0..9)
            .map(|id| {
                let text = if hard.contains(&id) { &open } else { code };
                json!({"id": id, key: text}).to_string() + "\n"
            })
            .collect()
    };
    let folder = Folder::new(&[
        ("r.jsonl", &lines("reference", &[5])),
        ("p.jsonl", &lines("prediction", &[2, 7])),
    ]);
    let words = "score codebleu --lang java --on-limit zero -r r.jsonl -p p.jsonl --format json";
    let all = folder.run(words);
    let result = all.json();
    // Each program has 9 subtrees; that of the reference which is hard to parse has none to find.
    let [found, total] = [0, 1].map(|side| result["counts"]["syntax"][side].as_u64().unwrap());
    assert_eq!((found * 8, total % 8), (total * 6, 0), "{result}");
    assert_eq!(result["counts"]["prediction_errors"], 0);
    let signature = result["signature"].as_str().unwrap();
    assert!(signature.contains("|on-limit:zero|"), "{signature}");
    let warnings = result["warnings"].to_string();
    let warns = |what: &str| assert!(warnings.contains(what), "{what}: {warnings}");
    warns("2 predictions take more work or memory to parse than allowed");
    warns("no syntax and no dataflow: \\\"2\\\", \\\"7\\\"");
    warns("1 reference takes more work or memory");
    for threads in [1, 4] {
        assert_eq!(
            folder.run(&format!("{words} --threads {threads}")).json(),
            result
        );
    }
    for shard in 0..3 {
        folder
            .run(&format!(
                "{words} --shard {shard}/3 --state-out {shard}.state"
            ))
            .json();
    }
    let merged = folder.run("merge 2.state 0.state 1.state --format json");
    assert_eq!(merged.json(), result);
}

/// The sample files of the Fusion Brain Challenge 2021, with what its own programs print for them.
/// They have no license and are next to the project, if they are available.
#[test]
fn samples_of_the_fusion_brain_challenge() {
    let samples =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/fusion-brain");
    if !samples.is_dir() {
        println!("not run: {} is not here", samples.display());
        return;
    }
    let folder = Folder::new(&[]);
    let run = |metric: &str, name: &str| {
        let [r, p] = ["true", "prediction"].map(|side| samples.join(format!("{side}_{name}.json")));
        let files = format!("--references {} --predictions {}", r.display(), p.display());
        folder
            .run(&format!("score {metric} --format json {files}"))
            .json()
    };
    let words = run("string-accuracy --missing empty", "HTR");
    assert_eq!(words["scores"]["string_accuracy"], json!(0.5));
    let f1 = |profile: &str| {
        run(&format!("detection --profile {profile}"), "zsOD")["scores"]["f1"].clone()
    };
    assert_eq!(f1("fusion-brain-2021"), json!(0.09523809523809522));
    assert_eq!(f1("fusion-brain-baseline"), json!(0.06451612903225808));
    for profile in ["exact", "fusion-brain-2021"] {
        let answers = run(&format!("vqa --profile {profile}"), "VQA");
        assert_eq!(answers["counts"], json!({"correct": 2, "total": 12}));
        assert_eq!(answers["scores"]["accuracy"], json!(2.0 / 12.0));
        let says = answers["warnings"]
            .to_string()
            .contains("without a lemmatizer");
        assert_eq!(says, profile == "fusion-brain-2021");
    }
    // Its program prints 0.146248 and 0.150827.
    let code = run("codebleu --lang python --profile fusion-brain-2021", "C2C");
    let six_digits = |score: &str| (code["scores"][score].as_f64().unwrap() * 1e6).round();
    assert_eq!(six_digits("ngram_match"), 146_248.0);
    assert_eq!(six_digits("weighted_ngram_match"), 150_827.0);
}
