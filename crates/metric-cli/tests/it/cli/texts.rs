//! Texts and transcripts.

use serde_json::{Value, json};

use super::{read, strings};
use crate::common::Folder;

#[test]
fn texts_that_are_right_or_wrong() {
    let folder = Folder::new(&[
        (
            "r.jsonl",
            "{\"id\":1,\"references\":[\"Paris\",\"Rome\"]}\n{\"id\":2,\"reference\":\"100\"}\n",
        ),
        (
            "p.jsonl",
            "{\"id\":1,\"prediction\":\"Pariss\"}\n{\"id\":2,\"prediction\":\"96\"}\n",
        ),
        (
            "n.jsonl",
            "{\"id\":1,\"reference\":[100,\"rome\"],\"prediction\":\"ROME\"}\n{\"id\":2,\"reference\":0.5,\"prediction\":\"52%\"}\n",
        ),
        (
            "e.jsonl",
            "{\"id\":1,\"reference\":\"The 1 cat.\",\"prediction\":\"cat\"}\n{\"id\":2,\"reference\":\"a\\u0000\",\"prediction\":\"a\"}\n",
        ),
        (
            "bad.jsonl",
            "{\"id\":1,\"reference\":[],\"prediction\":\"cat\"}\n",
        ),
        (
            "half.jsonl",
            "{\"id\":\"x\",\"reference\":\"cat\",\"prediction\":\"\\ud83d\"}\n",
        ),
    ]);
    let scores =
        |words: &str| folder.run(&format!("score {words} --format json")).json()["scores"].clone();
    assert_eq!(
        scores("anls -r r.jsonl -p p.jsonl"),
        json!({"anls": (1.0 - 1.0 / 6.0) / 2.0})
    );
    assert_eq!(
        scores("relaxed-accuracy -r r.jsonl -p p.jsonl"),
        json!({"relaxed_accuracy": 0.5})
    );
    assert_eq!(
        scores("relaxed-accuracy --pairs n.jsonl"),
        json!({"relaxed_accuracy": 1.0})
    );
    assert_eq!(
        scores("relaxed-accuracy --pairs n.jsonl --tolerance 0"),
        json!({"relaxed_accuracy": 0.5})
    );
    assert_eq!(
        scores("exact-match --pairs e.jsonl"),
        json!({"exact_match": 0.0})
    );
    // The names with underscores, too.
    let options = "--ignore_case --ignore-punctuation --ignore_numbers";
    let list = r#"--regexes_to_ignore ["The\\s+","^\\s"]"#;
    assert_eq!(
        scores(&format!("exact-match --pairs e.jsonl {options} {list}")),
        json!({"exact_match": 0.0})
    );
    let list = r#"--regexes_to_ignore ["The\\s+|x","\\s"]"#;
    let result = folder
        .run(&format!(
            "score exact-match --pairs e.jsonl --format json {options} {list}"
        ))
        .json();
    assert_eq!(result["scores"], json!({"exact_match": 0.5}));
    let signature = result["signature"].as_str().expect("a signature");
    let expected = r#"exact-match|regexes-to-ignore:["The\\s+%7Cx","\\s"]|regex:python-3.11|ignore:case,punctuation,numbers|v:"#;
    assert!(signature.starts_with(expected), "{signature}");

    let fails = |code: i32, words: &str, says: &[&str]| {
        folder.run(&format!("score {words}")).fails(code, says);
    };
    // Such a list is not read as a class of characters.
    fails(
        2,
        r#"exact-match --pairs e.jsonl --regexes-to-ignore ["\s"]"#,
        &["--regexes-to-ignore", "invalid escape"],
    );
    fails(
        2,
        r#"exact-match --pairs e.jsonl --regexes-to-ignore ["a",1]"#,
        &["--regexes-to-ignore", "list of texts"],
    );
    fails(
        2,
        "exact-match --pairs e.jsonl --regexes-to-ignore (",
        &["--regexes-to-ignore", "is not a regular expression"],
    );
    folder.put(
        "costly.jsonl",
        format!(
            r#"{{"id":1,"reference":"x","prediction":"{}!"}}"#,
            "a".repeat(40)
        )
        .as_bytes(),
    );
    fails(
        5,
        "exact-match --pairs costly.jsonl --regexes-to-ignore (a|a)*$",
        &["costly.jsonl:1", "more than 20 million steps"],
    );
    fails(
        2,
        "relaxed-accuracy --pairs n.jsonl --tolerance -1",
        &["--tolerance"],
    );
    for metric in ["anls", "squad", "relaxed-accuracy", "vqa --profile vqa-v2"] {
        fails(
            3,
            &format!("{metric} --pairs bad.jsonl"),
            &["bad.jsonl:1", "a question without answers"],
        );
    }
    for metric in [
        "anls",
        "squad",
        "relaxed-accuracy",
        "vqa",
        "exact-match",
        "string-accuracy",
    ] {
        let says = [
            "half.jsonl:1",
            "\"x\"",
            "prediction: half of a surrogate pair",
        ];
        fails(3, &format!("{metric} --pairs half.jsonl"), &says);
    }
}

#[test]
#[cfg_attr(not(feature = "report"), ignore = "writes reports or charts")]
fn word_and_character_error_rates() {
    let folder = Folder::new(&[
        ("r.txt", "the cat sat there\nHello, world!\n\n"),
        ("p.txt", "the black cat sat\nhello world\n\n"),
    ]);
    let words = "score wer --format json -r r.txt -p p.txt";
    let result = folder
        .run(&format!("{words} --per-sample s.jsonl --details d.json"))
        .json();
    // Three of four words, one missing, one too many; then two wrong words; then nothing.
    assert_eq!(
        result["counts"],
        json!({"hits": 3, "substitutions": 2, "deletions": 1, "insertions": 1})
    );
    assert_eq!(result["scores"]["wer"], json!(4.0 / 6.0));
    assert_eq!(result["scores"]["mer"], json!(4.0 / 7.0));
    assert_eq!(result["scores"]["wip"], json!(3.0 / 6.0 * (3.0 / 6.0)));
    assert_eq!(
        result["scores"]["wil"],
        json!(1.0 - 3.0 / 6.0 * (3.0 / 6.0))
    );
    assert_eq!(result["scores"]["wer_mean"], json!((0.5 + 1.0 + 0.0) / 3.0));
    let signature = result["signature"].as_str().expect("a signature");
    assert!(signature.starts_with("wer|profile:jiwer|unit:word|normalize:none|v:"));
    let samples = read(&folder, "s.jsonl");
    let first: Value = serde_json::from_str(samples.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        first["counts"],
        json!({"hits": 3, "substitutions": 0, "deletions": 1, "insertions": 1})
    );
    let details: Value = serde_json::from_str(&read(&folder, "d.json")).expect("JSON");
    assert_eq!(
        details["confusions"],
        json!([
            {"reference": null, "prediction": "black", "count": 1},
            {"reference": "Hello,", "prediction": "hello", "count": 1},
            {"reference": "there", "prediction": null, "count": 1},
            {"reference": "world!", "prediction": "world", "count": 1},
        ])
    );

    let shown = words.replace(" --format json", "") + " --show 1";
    assert_eq!(
        folder.run(&shown).code(0).stdout,
        "1\nREF: the ***** cat sat there\nHYP: the black cat sat *****\n         I             D\n"
    );

    let odd = Folder::new(&[(
        "o.jsonl",
        "{\"id\": \"\\u001b[2J\", \"reference\": \"a\", \"prediction\": \"a\"}\n",
    )]);
    let shown = odd.run("score wer --pairs o.jsonl --show all");
    assert_eq!(shown.stdout, "\\u{1b}[2J\nREF: a\nHYP: a\n\n");

    let result = folder
        .run(&format!("{words} --normalize casefold,punctuation"))
        .json();
    assert_eq!(result["scores"]["wer"], json!(2.0 / 6.0));
    let result = folder
        .run(&format!("{words} --normalize remove([Hh]ello,?|\\bthere)"))
        .json();
    assert_eq!(
        result["counts"],
        json!({"hits": 3, "substitutions": 1, "deletions": 0, "insertions": 1})
    );
    folder.run(&format!("{words} --normalize remove([)")).fails(
        2,
        &["remove([)", "\"[\" is not a regular expression: unclosed"],
    );
    folder.run(&format!("{words} --svg drawn")).code(0);
    assert!(read(&folder, "drawn/chart.errors-by-kind.svg").ends_with("</svg>\n"));

    // The most frequent confusion comes first, whatever its letters.
    let folder = strings(
        "{\"id\": 1, \"reference\": \"a b b c c c\"}\n",
        "{\"id\": 1, \"prediction\": \"x y y z z z\"}\n",
    );
    folder
        .run("score wer --format json -r r.jsonl -p p.jsonl --details d.json")
        .json();
    let details: Value = serde_json::from_str(&read(&folder, "d.json")).expect("JSON");
    assert_eq!(
        details["confusions"],
        json!([
            {"reference": "c", "prediction": "z", "count": 3},
            {"reference": "b", "prediction": "y", "count": 2},
            {"reference": "a", "prediction": "x", "count": 1},
        ])
    );

    let folder = strings(
        "{\"id\": 1, \"reference\": \"e\\u0301te\\u0301\"}\n{\"id\": 2, \"reference\": \"\"}\n",
        "{\"id\": 1, \"prediction\": \"e\\u0301te\"}\n{\"id\": 2, \"prediction\": \"\\u0000\"}\n",
    );
    let words = "score cer --format json -r r.jsonl -p p.jsonl";
    for (options, rate) in [
        ("", 2.0 / 5.0),
        ("--unit grapheme", 2.0 / 3.0),
        ("--normalize nfc", 2.0 / 3.0),
    ] {
        let result = folder.run(&format!("{words} {options}")).json();
        assert_eq!(result["scores"]["cer"], json!(rate), "{options}");
    }
    let empty = "{\"id\": 1, \"reference\": \"\"}\n";
    let given = "{\"id\": 1, \"prediction\": \"ab\"}\n";
    let folder = strings(empty, given);
    for (profile, rate) in [
        ("jiwer", json!(2.0)),
        ("torchmetrics", Value::Null),
        ("huggingface", Value::Null),
    ] {
        let result = folder.run(&format!("{words} --profile {profile}")).json();
        assert_eq!(result["scores"]["cer"], rate, "{profile}");
    }
    let surrogate = "{\"id\": 1, \"prediction\": \"\\ud800\"}\n";
    strings(empty, surrogate)
        .run(words)
        .fails(3, &["p.jsonl:1", "half of a surrogate pair"]);
    let list = "{\"id\": 1, \"prediction\": [\"a\"]}\n";
    strings(empty, list)
        .run(words)
        .fails(3, &["p.jsonl:1", "a string", "a list"]);
}

#[test]
fn texts_too_long_to_be_aligned_are_named() {
    let folder = Folder::new(&[]);
    let (long, other) = ("ab".repeat(600_000), "cd".repeat(600_000));
    let line =
        |field: &str, text: &str| format!("{{\"id\": \"page 7\", \"{field}\": \"{text}\"}}\n");
    folder.put("r.jsonl", line("reference", &long).as_bytes());
    folder.put("p.jsonl", line("prediction", &other).as_bytes());
    let words = "score cer --format json -r r.jsonl -p";
    folder.run(&format!("{words} p.jsonl")).fails(
        5,
        &[
            "p.jsonl:1",
            "page 7",
            "prediction: aligning 1200000 units with 1200000 of the reference",
            "--max-cells",
        ],
    );
    folder.put(
        "near.jsonl",
        line("prediction", &long.replacen("ba", "b a", 3)).as_bytes(),
    );
    let result = folder.run(&format!("{words} near.jsonl")).json();
    assert_eq!(result["counts"]["insertions"], 3);
    assert_eq!(result["counts"]["hits"], 1_200_000);
    for (short, hits) in [("ba", 2), ("", 0)] {
        folder.put("short.jsonl", line("prediction", short).as_bytes());
        let result = folder.run(&format!("{words} short.jsonl")).json();
        assert_eq!(result["counts"]["hits"], hits);
    }
}

#[test]
fn the_limit_of_an_alignment_changes_no_score() {
    let folder = Folder::new(&[]);
    let (a, b) = ("ab".repeat(500), "ba".repeat(450));
    let pair = json!({"id": 1, "reference": a, "prediction": b});
    folder.put("x.jsonl", pair.to_string().as_bytes());
    for metric in ["cer", "wer", "anls"] {
        let run = |option: &str| {
            let words = format!("score {metric} --pairs x.jsonl --format json {option}");
            folder.run(&words)
        };
        // All but the option itself.
        let numbers = |option: &str| {
            let mut result = run(option).json();
            let options = result.as_object_mut().expect("an object").remove("options");
            assert_eq!(options.is_some(), !option.is_empty());
            result
        };
        let result = numbers("");
        assert_eq!(numbers("--max-cells 100000000"), result);
        run("--max-cells -1").fails(2, &["--max-cells"]);
        if metric != "wer" {
            // The number that the message names is enough.
            let refused = run("--max-cells 1000").code(5);
            let named = refused.stderr.split("use ").nth(1).map(str::trim);
            assert_eq!(numbers(named.unwrap_or_default()), result, "{metric}");
        }
    }
}
