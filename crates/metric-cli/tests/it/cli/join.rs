//! Joins and formats: the shape of a result, equal bytes for equal records, and errors in the data by place.

use std::io::Write;

use serde_json::{Value, json};

use super::{R, THREE, THREE_PREDICTED, strings};
use crate::common::Folder;

#[test]
fn the_json_result_has_its_documented_shape() {
    let result = strings(THREE, THREE_PREDICTED).run(R).json();
    let expected = json!({
        "schema": 1,
        "metric": "string-accuracy",
        "signature": result["signature"],
        "examples": 3,
        "missing": 0,
        "scores": {"string_accuracy": 2.0 / 3.0},
        "counts": {"correct": 2, "total": 3},
        "warnings": [],
    });
    assert_eq!(result, expected);
    let signature = result["signature"].as_str().expect("a signature");
    assert!(
        signature.starts_with("string-accuracy|normalize:none|v:"),
        "{signature}"
    );
}

#[test]
fn all_formats_of_the_same_data_give_the_same_scores() {
    let folder = strings(THREE, THREE_PREDICTED);
    folder.put("r.json", br#"{"a": "x", "b": "y", "3": "z"}"#);
    folder.put(
        "p.json",
        "\u{feff}{\n \"3\": \"z\",\n \"b\": \"?\",\n \"\\u0061\": \"x\"}".as_bytes(),
    );
    folder.put("r.txt", b"x\r\ny\nz");
    folder.put("p.txt", b"x\n?\nz\n");
    folder.put("both.jsonl", b"{\"id\":1,\"reference\":\"x\",\"prediction\":\"x\"}\n\n{\"id\":2,\"reference\":\"y\",\"prediction\":\"?\"}\n{\"prediction\":\"z\",\"id\":3,\"reference\":\"z\"}");
    folder.put("renamed.jsonl", b"{\"key\":1,\"gold\":\"x\",\"out\":\"x\"}\n{\"key\":2,\"gold\":\"y\",\"out\":\"?\"}\n{\"key\":-3,\"gold\":\"z\",\"out\":\"\\u007a\"}");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(THREE.as_bytes()).expect("compressed");
    folder.put("r.jsonl.gz", &gz.finish().expect("compressed"));
    let zst = zstd::encode_all(THREE_PREDICTED.as_bytes(), 1).expect("compressed");
    folder.put("p.jsonl.zst", &zst);
    for files in [
        "-r r.jsonl -p p.jsonl",
        "-r r.json -p p.json",
        "-r r.jsonl -p p.json",
        "-r r.json -p p.jsonl",
        "-r r.txt -p p.txt",
        "--pairs both.jsonl",
        "--pairs renamed.jsonl --id-field key --reference-field gold --prediction-field out",
        "-r r.jsonl.gz -p p.jsonl.zst",
    ] {
        let result = folder
            .run(&format!("score string-accuracy --format json {files}"))
            .json();
        assert_eq!(
            result["counts"],
            json!({"correct": 2, "total": 3}),
            "{files}"
        );
    }
    let words = "score string-accuracy --format json -r r.jsonl -p -";
    let result = folder.run_with_input(words, THREE_PREDICTED).json();
    assert_eq!(result["counts"]["correct"], 2);
}

/// Many records in another order than their references, and some out of step.
fn shuffled(count: u64) -> (String, String) {
    let line = |id: u64, field: &str, value: u64| {
        format!("{{\"id\":\"{id}\",\"{field}\":\"{}\"}}\n", value % 7)
    };
    let references = (0..count).map(|id| line(id, "reference", id)).collect();
    let predictions = (0..count)
        .map(|position| position * 7919 % count)
        .map(|id| line(id, "prediction", if id % 3 == 0 { id } else { id + 1 }))
        .collect();
    (references, predictions)
}

/// If there are several errors, the first one of the data is returned, wherever blocks end and whatever thread is
/// first.
#[test]
fn the_first_error_is_the_same_on_any_number_of_threads() {
    const COUNT: usize = 40_000;
    let line = |field: &str, id: usize| format!("{{\"id\":\"{id}\",\"{field}\":[{}]}}", id % 7);
    let reference = |id: usize| format!("{{\"id\":\"{id}\",\"reference\":{}}}", id % 5);
    let write = |changes: &[(usize, &str)], line: &dyn Fn(usize) -> String| {
        let mut lines: Vec<String> = (0..COUNT).map(line).collect();
        for (at, change) in changes {
            lines[*at] = (*change).to_owned();
        }
        lines.join("\n") + "\n"
    };
    let unreadable = r#"{"id":"30000","prediction":"no list"}"#;
    let malformed = r#"{"id":"30003","prediction":[1}"#;
    let wide = r#"{"id":"29000","prediction":[1,2]}"#;
    // The change in references and predictions, and the line that is named.
    type Faults<'a> = &'a [(usize, &'a str)];
    let cases: [(Faults<'_>, Faults<'_>, &[&str]); 6] = [
        (
            &[],
            &[(30_000, unreadable), (30_003, malformed)],
            &["p.jsonl:30001", "a list of labels"],
        ),
        (
            &[],
            &[(29_990, "{"), (30_000, unreadable)],
            &["p.jsonl:29991"],
        ),
        (
            &[(29_995, "[]")],
            &[(30_000, unreadable)],
            &["r.jsonl:29996"],
        ),
        (
            &[(30_001, "[]")],
            &[(30_000, unreadable)],
            &["p.jsonl:30001"],
        ),
        // A row of another width than all before it, and one that is not a row.
        (
            &[],
            &[(29_000, wide), (30_000, unreadable)],
            &["p.jsonl:29001", "has 2 labels"],
        ),
        (
            &[],
            &[
                (39_999, unreadable),
                (0, r#"{"id":"0","prediction":[1,2]}"#),
            ],
            &["p.jsonl:2:", "has 1 label"],
        ),
    ];
    for (references, predictions, says) in cases {
        let references = write(references, &reference);
        let predictions = write(predictions, &|id| line("prediction", id));
        let folder = strings(&references, &predictions);
        let mut messages = Vec::new();
        for threads in [1, 2, 5] {
            let words = format!("score accuracy-at-k -r r.jsonl -p p.jsonl --threads {threads}");
            messages.push(folder.run(&words).fails(3, says).stderr);
        }
        assert!(
            messages.windows(2).all(|two| two[0] == two[1]),
            "{messages:?}"
        );
    }
}

/// Lines are read by comparing them with the line before them: whatever differs is read anew.
#[test]
fn lines_of_different_shapes_are_read_alike() {
    let (mut references, mut predictions, mut plain) =
        (String::new(), String::new(), String::new());
    for id in 0..30_000 {
        let value = ["a", "b\\u0062", "\u{e9}\\n", "", "\\\"", "c d"][id * id % 6];
        let other = ["a", "bb", "\u{e9}\\n", "", "\\\"", "c d"][id * id % 6 * (id % 3).min(1)];
        let reference = match id * 7 % 11 {
            0 => format!("{{\"reference\":\"{value}\",\"id\":{id}}}"),
            1 => format!(
                "{{ \"id\" : \"{id}\", \"x\": [{id}, {{}}], \"reference\": \"{value}\" }}\r"
            ),
            2 => format!("  {{\"\\u0069d\":\"{id}\",\"reference\":\"{value}\"}}"),
            3 => format!("\n{{\"id\":\"{id}\",\"reference\":\"{value}\",\"y\":null}}"),
            _ => format!("{{\"id\":\"{id}\",\"reference\":\"{value}\"}}"),
        };
        references += &format!("{reference}\n");
        plain += &format!(
            "{}\n",
            json!({"id": id, "reference": serde_json::from_str::<Value>(&format!("\"{value}\"")).expect("a string")})
        );
        predictions += &format!("{{\"id\":\"{id}\",\"prediction\":\"{other}\"}}\n");
    }
    let folder = strings(&references, &predictions);
    folder.put("plain.jsonl", plain.as_bytes());
    let mut results = Vec::new();
    for references in ["r.jsonl", "plain.jsonl"] {
        for threads in [1, 2, 5] {
            let words = "score string-accuracy,cer --format json -p p.jsonl";
            let run = folder.run(&format!("{words} -r {references} --threads {threads}"));
            results.push(run.code(0).stdout);
        }
    }
    assert!(results.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn neither_order_nor_threads_change_a_byte() {
    let count = 40_000;
    let (references, predictions) = shuffled(count);
    let folder = strings(&references, &predictions);
    let mut ordered: Vec<&str> = predictions.lines().collect();
    ordered.sort_by_key(|line| line.split('"').nth(3).and_then(|id| id.parse::<u64>().ok()));
    folder.put("ordered.jsonl", (ordered.join("\n") + "\n").as_bytes());
    let mut results = Vec::new();
    for predictions in ["p.jsonl", "ordered.jsonl"] {
        for threads in [1, 2, 5] {
            let run = folder.run(&format!(
                "score string-accuracy --format json -r r.jsonl -p {predictions} --threads {threads} --per-sample s{}.jsonl",
                results.len()
            ));
            let samples =
                std::fs::read_to_string(folder.path(&format!("s{}.jsonl", results.len())));
            results.push((run.code(0).stdout, samples.expect("a file of samples")));
        }
    }
    assert!(results.windows(2).all(|two| two[0] == two[1]));
    let (result, samples) = &results[0];
    let result: Value = serde_json::from_str(result).expect("JSON");
    assert_eq!(
        result["counts"],
        json!({"correct": count.div_ceil(3), "total": count})
    );
    let first = samples
        .lines()
        .next()
        .and_then(|line| serde_json::from_str::<Value>(line).ok());
    let expected = json!({"id": "0", "scores": {"string_accuracy": 1.0}, "counts": {"correct": 1, "total": 1}});
    assert_eq!(first, Some(expected));
    assert!(
        samples
            .lines()
            .enumerate()
            .all(|(id, line)| line.starts_with(&format!("{{\"id\":\"{id}\",")))
    );
}

#[test]
fn a_join_that_does_not_fit_names_the_ids() {
    let folder = strings(THREE, THREE_PREDICTED);
    folder.put("two.jsonl", b"{\"id\":\"b\",\"prediction\":\"y\"}\n");
    folder.put(
        "four.jsonl",
        format!("{THREE_PREDICTED}{{\"id\":\"d\",\"prediction\":\"\"}}\n").as_bytes(),
    );
    folder.put(
        "other.jsonl",
        b"{\"id\":\"b\",\"prediction\":\"y\"}\n{\"id\":\"q\",\"prediction\":\"y\"}\n",
    );
    let run = |file: &str, more: &str| {
        folder.run(&format!(
            "score string-accuracy --format json -r r.jsonl -p {file} {more} --per-sample s.jsonl"
        ))
    };
    run("two.jsonl", "").fails(3, &["two.jsonl", "2 references of r.jsonl", "\"a\", \"3\""]);
    run("four.jsonl", "").fails(
        3,
        &["1 prediction of four.jsonl", "\"d\"", "--extra ignore"],
    );
    run("other.jsonl", "").fails(3, &["\"a\", \"3\"", "\"q\""]);
    // Nothing that looks like a whole result is left behind.
    assert!(!folder.names().contains(&"s.jsonl".to_owned()));
    assert!(!folder.names().iter().any(|name| name.ends_with(".partial")));

    let empty = run("two.jsonl", "--missing empty").json();
    assert_eq!(
        (&empty["examples"], &empty["missing"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(empty["counts"], json!({"correct": 1, "total": 3}));
    assert!(
        empty["warnings"][0]
            .as_str()
            .is_some_and(|text| text.contains("2 references have no prediction"))
    );
    let skip = run("two.jsonl", "--missing skip").json();
    assert_eq!(
        (&skip["examples"], &skip["missing"]),
        (&json!(1), &json!(2))
    );
    let extra = run("four.jsonl", "--extra ignore").json();
    assert_eq!(extra["counts"], json!({"correct": 2, "total": 3}));
    assert!(
        extra["warnings"][0]
            .as_str()
            .is_some_and(|text| text.contains("1 prediction has no reference"))
    );
}

#[test]
fn an_id_that_stands_twice_is_an_error_wherever_it_stands() {
    let line = |id: &str, field: &str| format!("{{\"id\":{id},\"{field}\":\"x\"}}\n");
    let file = |ids: &[&str], field: &str| ids.iter().map(|id| line(id, field)).collect::<String>();
    let cases: &[(&[&str], &[&str], &str)] = &[
        (&["1", "2", "1"], &["1", "2"], "r.jsonl"),
        (&["1", "2", "1"], &["1", "2", "1"], "r.jsonl"),
        (&["1", "1"], &["1", "1"], "r.jsonl"),
        (&["17", "\"17\""], &["17", "17"], "r.jsonl"),
        (&["1", "2"], &["1", "2", "1"], "p.jsonl"),
        (&["1", "2"], &["1", "1", "2"], "p.jsonl"),
        (&["1", "2"], &["2", "1", "1"], "p.jsonl"),
        (&["1", "2"], &["1", "2", "3", "3"], "p.jsonl"),
    ];
    for (references, predictions, blamed) in cases {
        let folder = strings(
            &file(references, "reference"),
            &file(predictions, "prediction"),
        );
        for extra in [
            "",
            "--extra ignore",
            "--missing skip --extra ignore --threads 3",
        ] {
            folder
                .run(&format!("{R} {extra}"))
                .fails(3, &[blamed, "duplicate id", "line"]);
        }
    }
    let many = ["7", "8", "9", "7", "8", "9"];
    strings(&file(&many, "reference"), &file(&many, "prediction"))
        .run(R)
        .fails(
            3,
            &[
                "duplicate id \"7\" (lines 1, 4)",
                "3 ids in all",
                "\"8\", \"9\"",
            ],
        );
    let folder = strings(&file(&["1", "2"], "reference"), "");
    let words = "score string-accuracy -r r.jsonl -p -";
    folder
        .run_with_input(words, &file(&["1", "2", "1"], "prediction"))
        .fails(3, &["standard input", "duplicate id \"1\""]);
    folder.put("r.json", br#"{"a": "x", "b": "y", "a": "z"}"#);
    folder
        .run("score string-accuracy -r r.json -p p.jsonl")
        .fails(3, &["r.json:1", "duplicate key \"a\""]);
}

#[test]
fn malformed_input_is_named_by_file_and_line() {
    let cases: &[(&str, &[&str])] = &[
        (
            "{\"id\": \"b\", \"prediction\": }",
            &["p.jsonl:2", "malformed JSON", "column 27"],
        ),
        (
            "{\"id\": \"b\", \"prediction\": \"x\"",
            &[
                "p.jsonl:2",
                "malformed JSON",
                "the text ends within an object",
            ],
        ),
        (
            "{\"id\": \"b\", \"prediction\": \"x\"} {}",
            &["p.jsonl:2", "malformed JSON", "trailing"],
        ),
        (
            "{\"id\": \"b\", \"prediction\": \"x\", \"more\": [1,,2]}",
            &["p.jsonl:2", "malformed JSON"],
        ),
        (
            "{\"id\": \"b\", \"prediction\": \"tab\there\"}",
            &["p.jsonl:2", "malformed JSON", "control character"],
        ),
        (
            "{\"id\": \"b\", \"prediction\": \"\\x\"}",
            &["p.jsonl:2", "malformed JSON", "escape"],
        ),
        (
            "{\"id\": \"b\", \"prediction\": NaN}",
            &[
                "p.jsonl:2",
                "malformed JSON: NaN is not a JSON number at column 27",
            ],
        ),
        (
            "{\"id\": \"b\", \"prediction\": \"x\", \"more\": [0, Infinity]}",
            &[
                "p.jsonl:2",
                "Infinity is not a JSON number (a class score is written \"inf\") at column 44",
            ],
        ),
        (
            "{\"id\": \"b\", \"prediction\": {\"x\": -Infinity}}",
            &[
                "p.jsonl:2",
                "-Infinity is not a JSON number (a class score is written \"-inf\") at column 34",
            ],
        ),
        (
            "[\"b\", \"x\"]",
            &["p.jsonl:2", "expected an object with an id"],
        ),
        ("{\"id\": \"b\"}", &["p.jsonl:2", "no field \"prediction\""]),
        ("{\"prediction\": \"x\"}", &["p.jsonl:2", "no field \"id\""]),
        (
            "{\"id\": 1.5, \"prediction\": \"x\"}",
            &["p.jsonl:2", "the id is 1.5", "a string or an integer"],
        ),
        (
            "{\"id\": null, \"prediction\": \"x\"}",
            &["p.jsonl:2", "the id is null"],
        ),
        (
            "{\"id\": \"b\", \"id\": \"b\", \"prediction\": \"x\"}",
            &["p.jsonl:2", "duplicate field \"id\""],
        ),
        (
            "{\"id\": \"b\", \"prediction\": \"x\", \"prediction\": \"y\"}",
            &["p.jsonl:2", "duplicate field \"prediction\""],
        ),
        (
            "{\"id\": \"b\", \"prediction\": 7}",
            &[
                "p.jsonl:2",
                "id \"b\"",
                "prediction: expected a string, found a number",
            ],
        ),
        (
            "{\"id\": \"b\", \"prediction\": [\"x\"]}",
            &["p.jsonl:2", "expected a string, found a list"],
        ),
    ];
    for (line, says) in cases {
        let lines: Vec<&str> = THREE_PREDICTED.lines().collect();
        let folder = strings(THREE, &[lines[0], line, lines[2]].join("\n"));
        for threads in [1, 2] {
            let words = format!("{R} --per-sample out.jsonl --threads {threads}");
            folder.run(&words).fails(3, says);
            assert_eq!(folder.names(), ["p.jsonl", "r.jsonl"], "{line}");
        }
    }
    let both = "{\"id\": 1, \"reference\": \"x\", \"references\": [\"x\"]}";
    strings(both, "")
        .run(R)
        .fails(3, &["r.jsonl:1", "both \"reference\" and \"references\""]);
}

#[test]
fn files_that_are_no_data() {
    let folder = strings("", "");
    folder.run(R).fails(3, &["r.jsonl", "no records"]);
    folder.put("blank.jsonl", b"\n \n\r\n");
    folder
        .run("score string-accuracy -r blank.jsonl -p p.jsonl")
        .fails(3, &["blank.jsonl", "no records"]);
    folder.put("some.jsonl", b"{\"id\": \"a\", \"reference\": \"x\"}\n");
    let says =
        "blank.jsonl: has no records: expected predictions for 1 reference of some.jsonl: id \"a\"";
    let run = |options: &str| {
        folder.run(&format!(
            "score string-accuracy -r some.jsonl -p blank.jsonl{options}"
        ))
    };
    run("").fails(3, &[says]);
    assert_eq!(run(" --missing empty").code, Some(0));
    folder
        .run("score string-accuracy -r nowhere.jsonl -p p.jsonl")
        .fails(3, &["nowhere.jsonl", "cannot open"]);
    folder.put("notes.md", b"# Notes");
    folder
        .run("score string-accuracy -r . -p p.jsonl")
        .fails(3, &["is a folder that holds notes.md"]);
    folder
        .run("score string-accuracy -r notes.md -p p.jsonl")
        .fails(
            2,
            &["notes.md", ".jsonl, .json, .txt, .csv", "--input-format"],
        );
    folder.put("list.json", b"[1, 2]");
    folder
        .run("score string-accuracy -r list.json -p p.jsonl")
        .fails(3, &["list.json:1", "expected an object"]);
    folder.put("empty.json", b"");
    folder
        .run("score string-accuracy -r empty.json -p p.jsonl")
        .fails(3, &["empty.json"]);
    folder.put(
        "bytes.jsonl",
        b"{\"id\": 1, \"reference\": \"x\"}\n{\"id\": 2, \"reference\": \"caf\xe9\"}\n",
    );
    folder
        .run("score string-accuracy -r bytes.jsonl -p p.jsonl")
        .fails(3, &["bytes.jsonl:2", "not UTF-8", "0xe9"]);
    folder.put("broken.jsonl.gz", b"\x1f\x8b\x08\x00garbage");
    folder
        .run("score string-accuracy -r broken.jsonl.gz -p p.jsonl")
        .fails(3, &["broken.jsonl.gz", "cannot read"]);
    folder.put("broken.jsonl.zst", b"garbage");
    folder
        .run("score string-accuracy -r broken.jsonl.zst -p p.jsonl")
        .fails(3, &["broken.jsonl.zst", "is not a Zstandard file"]);
}

#[test]
fn a_line_of_32_megabytes_is_a_line() {
    let long = "a".repeat(32 << 20);
    let folder = strings(
        &format!("{{\"id\":1,\"reference\":\"{long}\"}}\n{{\"id\":2,\"reference\":\"x\"}}\n"),
        &format!("{{\"id\":1,\"prediction\":\"{long}\"}}\n{{\"id\":2,\"prediction\":\"x\"}}\n"),
    );
    assert_eq!(
        folder.run(R).json()["counts"],
        json!({"correct": 2, "total": 2})
    );
    folder.put(
        "p.jsonl",
        format!("{{\"id\":1,\"prediction\":\"{long}\n").as_bytes(),
    );
    folder.run(R).fails(3, &["p.jsonl:1", "malformed JSON"]);
}

#[test]
fn ids_in_one_line_are_named_in_their_order() {
    let folder = Folder::new(&[
        ("r.jsonl", "{\"id\": 1, \"reference\": \"a\"}\n"),
        (
            "p.json",
            r#"{"1": "a", "g": "x", "b": "x", "a": "x", "e": "x", "d": "x", "c": "x", "f": "x"}"#,
        ),
    ]);
    folder
        .run("score string-accuracy -r r.jsonl -p p.json")
        .fails(3, &["\"a\", \"b\", \"c\", \"d\", \"e\""]);
}
