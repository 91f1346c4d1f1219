//! The program end to end: what it prints, its exit codes, and what it says of bad input.

#![expect(clippy::too_many_lines, reason = "tests are rows, and some have many")]

mod common;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use common::{Folder, Run};

const R: &str = "score string-accuracy --format json --references r.jsonl --predictions p.jsonl";

fn strings(references: &str, predictions: &str) -> Folder {
    Folder::new(&[("r.jsonl", references), ("p.jsonl", predictions)])
}

const THREE: &str = "{\"id\": \"a\", \"reference\": \"x\"}\n{\"id\": \"b\", \"reference\": \"y\"}\n{\"id\": 3, \"reference\": \"z\"}\n";
const THREE_PREDICTED: &str = "{\"id\": \"a\", \"prediction\": \"x\"}\n{\"id\": \"b\", \"prediction\": \"?\"}\n{\"id\": \"3\", \"prediction\": \"z\"}\n";

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
        .fails(3, &["broken.jsonl.zst", "cannot read"]);
}

#[test]
fn a_line_of_100_megabytes_is_a_line() {
    let long = "a".repeat(100 << 20);
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
fn usage_errors_exit_with_2() {
    let folder = strings(THREE, THREE_PREDICTED);
    for words in [
        "",
        "score",
        "score bleurt -r r.jsonl -p p.jsonl",
        "score string-accuracy",
        "score string-accuracy -r r.jsonl",
        "score string-accuracy -r r.jsonl -p p.jsonl --pairs p.jsonl",
        "score string-accuracy -r - -p -",
        "score string-accuracy -r r.jsonl -p p.jsonl --threads 0",
        "score string-accuracy -r r.jsonl -p p.jsonl --threads 65535",
        "score string-accuracy -r r.jsonl -p p.jsonl --missing maybe",
        "score string-accuracy -r r.jsonl -p p.jsonl --normalize nfx",
        "score string-accuracy -r r.jsonl -p p.jsonl --fail-under string_accuracy",
        "score string-accuracy -r r.jsonl -p p.jsonl --fail-under bleu=1",
        "score string-accuracy -r r.jsonl -p p.jsonl --per-sample nowhere/s.jsonl",
        "score string-accuracy -r r.jsonl -p p.jsonl --fail-under =1",
        "score string-accuracy -r r.jsonl -p p.jsonl --fail-under string_accuracy=inf",
        "score detection -r nowhere.jsonl -p nowhere.jsonl --iou 7",
        "score detection -r r.jsonl -p p.jsonl --iou 1.5",
        "score detection -r r.jsonl -p p.jsonl --profile coco",
        "score accuracy-at-k -r r.jsonl -p p.jsonl --k 0",
        "score accuracy-at-k -r r.jsonl -p p.jsonl --k -1",
        "score accuracy-at-k -r r.jsonl -p p.jsonl --k five",
    ] {
        folder.run(words).fails(2, &[]);
    }
}

#[test]
fn a_gate_fails_with_1_and_prints_the_result_all_the_same() {
    let folder = strings(THREE, THREE_PREDICTED);
    let lenient = folder
        .run(&format!("{R} --missing skip --extra ignore"))
        .json();
    let signature = lenient["signature"].as_str().expect("a signature");
    assert!(
        signature.contains("|missing:skip|extra:ignore|v:"),
        "{signature}"
    );
    let passed = folder
        .run(&format!("{R} --fail-under string_accuracy=0.6"))
        .json();
    assert_eq!(passed["counts"]["correct"], 2);
    let failed = folder
        .run(&format!("{R} --fail-under string_accuracy=0.7"))
        .code(1);
    assert!(failed.stdout.contains("0.6666666666666666"));
    assert!(
        failed
            .stderr
            .contains("string_accuracy is 0.6666666666666666, below 0.7")
    );
}

#[test]
fn tables_and_markdown() {
    let folder = strings(THREE, THREE_PREDICTED);
    let files = "-r r.jsonl -p p.jsonl";
    let table = folder
        .run(&format!("score string-accuracy {files}"))
        .code(0)
        .stdout;
    assert!(
        table.contains("0.6667") && table.contains("string-accuracy|normalize:none"),
        "{table}"
    );
    let markdown = folder
        .run(&format!("score string-accuracy {files} --format markdown"))
        .code(0)
        .stdout;
    assert!(
        markdown.contains("| string_accuracy | 0.6667 |"),
        "{markdown}"
    );
}

#[test]
fn closed_and_full_outputs() {
    let folder = strings(THREE, THREE_PREDICTED);
    let mut child = folder
        .command(R)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
    if Path::new("/dev/full").exists() {
        let full = || {
            std::fs::File::options()
                .write(true)
                .open("/dev/full")
                .expect("a device")
        };
        let output = folder
            .command(R)
            .stdout(full())
            .output()
            .expect("the program runs");
        assert_eq!(output.status.code(), Some(4));
        folder
            .run(&format!("{R} --per-sample /dev/full"))
            .fails(4, &["/dev/full", "cannot write"]);
        folder.run(&format!("{R} --per-sample /dev/null")).code(0);
    }
    // Lines and report share the standard output, also where it is a plain file.
    if Path::new("/dev/stdout").exists() {
        let both = folder.put("both.txt", b"");
        let output = folder
            .command(&format!("{R} --per-sample /dev/stdout"))
            .stdout(std::fs::File::create(&both).expect("a file"))
            .output()
            .expect("the program runs");
        assert_eq!(output.status.code(), Some(0));
        let both = std::fs::read_to_string(&both).expect("text");
        let report = folder.run(R).code(0).stdout;
        assert!(both.starts_with("{\"id\""), "{both}");
        assert!(both.ends_with(&report), "{both}");
    }
}

#[test]
fn an_existing_file_of_samples_is_replaced_by_a_whole_one_only() {
    let folder = strings(THREE, "{\"id\": \"a\", \"prediction\": \"x\"}\n");
    folder.put("s.jsonl", b"old\n");
    folder
        .run(&format!("{R} --per-sample s.jsonl"))
        .fails(3, &["no prediction"]);
    let text = || std::fs::read_to_string(folder.path("s.jsonl")).expect("a file");
    assert_eq!(text(), "old\n");
    folder.put("p.jsonl", THREE_PREDICTED.as_bytes());
    folder.run(&format!("{R} --per-sample s.jsonl")).code(0);
    assert_eq!(text().lines().count(), 3);
    assert_eq!(folder.names(), ["p.jsonl", "r.jsonl", "s.jsonl"]);
}

#[test]
fn grids() {
    let folder = Folder::new(&[
        (
            "r.json",
            r#"{"a": [[1,2,3],[4,5,6]], "b": [[1,2,3],[4,5,6]], "c": [[0]], "d": [[0]]}"#,
        ),
        (
            "p.json",
            r#"{"a": [[3,2,1],[4,5,6]], "b": [[3,2,1],[4,5,6],[7,8,9]], "c": null, "d": [[0],[0,0]]}"#,
        ),
        ("ten.json", r#"{"a": [[1,2,3],[4,5,10]]}"#),
        ("ragged.json", r#"{"a": [[1,2,3],[4,5]]}"#),
        ("one.json", r#"{"a": [[1]]}"#),
    ]);
    let result = folder
        .run("score arc --format json -r r.json -p p.json")
        .json();
    assert_eq!(
        result["scores"]["cell_accuracy"],
        json!((4.0 / 6.0 + 4.0 / 9.0) / 4.0)
    );
    assert_eq!(result["scores"]["cell_accuracy_pooled"], json!(8.0 / 17.0));
    assert_eq!(result["scores"]["exact"], json!(0.0));
    assert_eq!(result["counts"]["invalid"], 1);
    folder
        .run("score arc -r r.json -p p.json --strict")
        .fails(3, &["p.json", "id \"d\"", "prediction"]);
    folder
        .run("score arc -r ten.json -p one.json")
        .fails(3, &["ten.json", "id \"a\"", "10"]);
    folder
        .run("score arc -r ragged.json -p one.json")
        .fails(3, &["ragged.json", "id \"a\"", "row 1"]);
    let invalid = folder
        .run("score arc --format json -r one.json -p ten.json")
        .json();
    assert_eq!(
        (
            &invalid["counts"]["invalid"],
            &invalid["counts"]["padded_cells"]
        ),
        (&json!(1), &json!(1))
    );
}

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

#[test]
fn detections() {
    let folder = Folder::new(&[
        (
            "r.json",
            r#"{"1.jpg": {"cat": [[0,0,10,10]], "dog": []}, "2.jpg": {"cat": [[0,0,4,4],[9,9,4,4]]}}"#,
        ),
        (
            "p.json",
            r#"{"1.jpg": {"cat": [[0,0,10,9],[0,0,9,10]], "dog": [[]]}, "2.jpg": {"cat": [{"box": [0,0,4,4], "score": 0.5}]}}"#,
        ),
        (
            "fewer.json",
            r#"{"1.jpg": {"cat": []}, "2.jpg": {"cat": []}}"#,
        ),
        (
            "more.json",
            r#"{"1.jpg": {"cat": [], "dog": [], "emu": []}, "2.jpg": {"cat": []}}"#,
        ),
        (
            "nan.json",
            r#"{"1.jpg": {"cat": [[0,0,"nan",4]], "dog": []}, "2.jpg": {"cat": []}}"#,
        ),
        (
            "narrow.json",
            r#"{"1.jpg": {"cat": [[0,0,5,4],[0,0,-5,4]], "dog": []}, "2.jpg": {"cat": []}}"#,
        ),
        (
            "five.json",
            r#"{"1.jpg": {"cat": [[0,0,10,10,0.9]], "dog": []}, "2.jpg": {"cat": []}}"#,
        ),
        ("none.json", "{}"),
    ]);
    let run = |more: &str| folder.run(&format!("score detection --format json -r r.json {more}"));
    let honest = run("-p p.json").json();
    // One of the two boxes on the one cat is too many; one of the two small cats is not found.
    assert_eq!(
        honest["counts"],
        json!({"tp": 2, "fp": 1, "fn": 1, "repeated": 0})
    );
    assert_eq!(honest["scores"]["f1"], json!(4.0 / 6.0));
    assert_eq!(
        honest["groups"]["class"]["dog"]["scores"],
        json!({"precision": null, "recall": null, "f1": null})
    );
    let lenient = run("-p p.json --profile fusion-brain-2021 --groups both").json();
    assert_eq!(
        lenient["counts"],
        json!({"tp": 3, "fp": 0, "fn": 1, "repeated": 1})
    );
    assert_eq!(lenient["groups"]["image"]["1.jpg"]["counts"]["tp"], 2);
    assert!(
        lenient["warnings"][0]
            .as_str()
            .is_some_and(|text| text.contains("1 prediction counts as correct"))
    );
    for profile in ["one-to-one", "fusion-brain-2021"] {
        run(&format!("-p fewer.json --profile {profile}"))
            .fails(3, &["fewer.json", "1.jpg", "\"dog\""]);
        run(&format!("-p nan.json --profile {profile}")).fails(3, &["nan.json", "1.jpg", "cat"]);
        run(&format!("-p narrow.json --profile {profile}"))
            .fails(3, &["narrow.json", "class \"cat\"", "box 1", "-5"]);
        run(&format!("-p five.json --profile {profile}")).fails(3, &["box 0 has 5 numbers"]);
    }
    run("-p more.json").fails(3, &["\"emu\"", "--extra ignore"]);
    run("-p more.json --extra ignore").json();
    let ignored = run("-p more.json --profile fusion-brain-2021").json();
    assert_eq!(ignored["warnings"].as_array().map(Vec::len), Some(1));
    folder
        .run("score detection -r none.json -p none.json")
        .fails(3, &["no records"]);
    let words =
        "score detection --format json -r none.json -p none.json --profile fusion-brain-2021";
    assert_eq!(
        folder.run(words).json()["scores"],
        json!({"precision": 0.0, "recall": 0.0, "f1": 0.0})
    );
}

#[test]
fn lane_graphs() {
    let clip = |lanes: &str, kind: &str| {
        format!(r#"{{"0": {{"attr_info": {{"LaneType": "{kind}"}}, "centerline": {lanes}}}}}"#)
    };
    let truth = clip("[1, 2]", "BusLane");
    let folder = Folder::new(&[
        ("clip.json", truth.as_str()),
        (
            "clips.json",
            &format!(r#"{{"c1": {truth}, "c2": {truth}}}"#),
        ),
        ("predicted.json", &clip("[2, \"1\"]", "BusLane")),
        ("nothing.json", "{}"),
        (
            "clips-predicted.json",
            &format!(r#"{{"c1": null, "c2": {}}}"#, clip("[1]", "BikeLane")),
        ),
        (
            "twice.json",
            r#"{"0": {"attr_info": {}, "centerline": []}, "0": {"attr_info": {}, "centerline": []}}"#,
        ),
    ]);
    let run = |words: &str| folder.run(&format!("score lanes --format json {words}"));
    let strict = run("-r clip.json -p predicted.json").json();
    assert_eq!(
        strict["counts"]["overall"],
        json!({"tp": 1, "predicted": 2, "true": 2})
    );
    let text = run("-r clip.json -p predicted.json --lane-ids text").json();
    assert_eq!(text["scores"]["overall_f1"], json!(1.0));
    let nothing = run("-r clip.json -p nothing.json").json();
    assert_eq!(
        nothing["counts"]["rule"],
        json!({"tp": 0, "predicted": 0, "true": 1})
    );
    assert_eq!(nothing["scores"]["rule_precision"], json!(0.0));
    // A value that is not a label is a prediction that cannot be read, not another map of clips.
    for text in ["null", "[]", "\"no rules\"", r#"{"0": null}"#] {
        folder.put("odd.json", text.as_bytes());
        let odd = run("-r clip.json -p odd.json").json();
        assert_eq!(
            (&odd["examples"], &odd["counts"]["unparsable"]),
            (&json!(1), &json!(1)),
            "{text}"
        );
    }
    let clips = run("-r clips.json -p clips-predicted.json").json();
    assert_eq!(
        (&clips["examples"], &clips["counts"]["correspondence"]["tp"]),
        (&json!(2), &json!(1))
    );
    assert!(
        clips["warnings"][0]
            .as_str()
            .is_some_and(|text| text.starts_with("1 prediction is null"))
    );
    let given = run("-r clip.json -p predicted.json --alignment given").json();
    assert_eq!(
        (&given["scores"]["rule_f1"], &given["counts"]["rule"]),
        (&json!(null), &json!(null))
    );
    run("-r twice.json -p nothing.json").fails(3, &["twice.json", "\"0\""]);
}

#[test]
fn lanes_that_the_map_has_not() {
    let rules = |lanes: &str| {
        format!(r#"{{"0": {{"attr_info": {{"LaneType": "BusLane"}}, "centerline": {lanes}}}}}"#)
    };
    let map = r#""data": {"vector": {"1": {"type": "3"}, "2": {"type": "3"}, "9": {"type": "0"}}}"#;
    let record = format!(r#"{{"id": "a", "reference": {}, {map}}}"#, rules("[1, 2]"));
    let found = format!(r#"{{"id": "a", "prediction": {}}}"#, rules("[1, 9, 7]"));
    let folder = Folder::new(&[
        ("r.jsonl", record.as_str()),
        ("p.jsonl", &found),
        ("none.jsonl", &record.replace(map, "\"x\": 0")),
    ]);
    let run = |file: &str, how: &str| {
        folder.run(&format!(
            "score lanes --format json -r {file} -p p.jsonl --dangling-lanes {how}"
        ))
    };
    let precision = |run: Run| run.json()["scores"]["correspondence_precision"].clone();
    assert_eq!(precision(run("r.jsonl", "count")), json!(1.0 / 3.0));
    assert_eq!(precision(run("r.jsonl", "drop")), json!(1.0));
    run("r.jsonl", "error").fails(
        3,
        &["id \"a\": prediction: rule \"0\": lane 7 is not a centerline"],
    );
    run("none.jsonl", "drop").fails(
        3,
        &["id \"a\": reference: no centerlines", "MapDR's `data`"],
    );
    for (wrong, says) in [
        ("7", "\"data\": found the number `7`, expected a map"),
        ("{}", "\"data\": no \"vector\" in the map"),
        (
            r#"{"vector": {"1": {"type": 3}}}"#,
            "\"data\": found the number `3`, expected a string in \"type\" of vector \"1\"",
        ),
    ] {
        let record = record.replace(map, &format!("\"data\": {wrong}"));
        folder.put("r.jsonl", record.as_bytes());
        run("r.jsonl", "drop").fails(3, &["r.jsonl", says]);
    }
}

#[test]
fn lane_graphs_by_property_and_class() {
    let clip = |kind: &str, time: &str, lane: u8| {
        format!(
            r#"{{"0": {{"attr_info": {{"LaneType": "{kind}", "EffectiveTime": "{time}"}}, "centerline": [{lane}]}}}}"#
        )
    };
    let folder = Folder::new(&[
        ("r.json", clip("BusLane", "07:00-09:00", 1).as_str()),
        ("p.json", &clip("buslane ", "7:00-9:00", 1)),
    ]);
    let run = |words: &str| {
        folder.run(&format!(
            "score lanes --format json -r r.json -p p.json {words}"
        ))
    };
    let strict = run("--details details.json").json();
    let property = &strict["groups"]["property"]["LaneType"];
    assert_eq!(property["scores"]["accuracy"], json!(0.0));
    let class = &strict["groups"]["LaneType"]["BusLane"];
    assert_eq!(
        (
            &class["scores"]["rule_recall"],
            &class["scores"]["correspondence_recall"]
        ),
        (&json!(0.0), &json!(1.0))
    );
    assert_eq!(strict["scores"]["lanes_exact"], json!(1.0));
    let details: serde_json::Value =
        serde_json::from_str(&read(&folder, "details.json")).expect("JSON");
    assert_eq!(
        details["confused"]["LaneType"],
        json!({"BusLane": {"buslane ": 1}})
    );

    let lenient = run("--equality space,case,times").json();
    assert_eq!(lenient["scores"]["overall_f1"], json!(1.0));
    assert!(
        lenient["signature"]
            .as_str()
            .is_some_and(|signature| signature.contains("equality=case,space,times")
                || signature.contains("equality:case,space,times")),
        "{}",
        lenient["signature"]
    );
    run("--equality generous").fails(2, &["generous", "expected strict, or some of"]);
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).expect("a written file")
}

#[test]
fn pictures_of_lane_graphs() {
    let clip = |kind: &str| {
        format!(r#"{{"0": {{"attr_info": {{"LaneType": "{kind}"}}, "centerline": [1]}}}}"#)
    };
    let (bus, bike) = (clip("Bus<Lane"), clip("BikeLane"));
    let folder = Folder::new(&[
        (
            "r.json",
            format!(r#"{{"a/b": {bus}, ".": {bus}}}"#).as_str(),
        ),
        ("p.json", &format!(r#"{{"a/b": {bike}, ".": null}}"#)),
        (
            "words.jsonl",
            "{\"id\": 1, \"reference\": \"a\", \"prediction\": \"a\"}\n",
        ),
        (
            "frame.jsonl",
            concat!(
                r#"{"id": "f", "reference": {"lane_centerline": [{"points": [[0, 0, 0], [9, 0, 0]]}], "#,
                r#""traffic_element": [], "topology_lclc": [[0]], "topology_lcte": [[]]}, "#,
                r#""prediction": {"lane_centerline": [], "traffic_element": [], "topology_lclc": [], "topology_lcte": []}}"#,
            ),
        ),
    ]);
    let drawn = folder.run("score lanes --format json -r r.json -p p.json --svg drawn");
    assert_eq!(drawn.json()["examples"], json!(2));
    let picture = read(&folder, "drawn/a%2Fb.svg");
    assert!(picture.starts_with("<svg ") && picture.contains("Bus&lt;Lane \u{2192} BikeLane"));
    assert!(read(&folder, "drawn/%2E.svg").contains("prediction not readable"));

    folder
        .run("score openlane --format json --pairs frame.jsonl --svg frames")
        .json();
    assert!(read(&folder, "frames/f.svg").contains("lane 0"));
    // A metric that draws no examples has charts.
    folder
        .run("score string-accuracy --pairs words.jsonl --svg charts")
        .code(0);
    assert!(
        read(
            &folder,
            "charts/chart.examples-by-their-string-accuracy.svg"
        )
        .starts_with("<svg ")
    );
}

#[test]
fn lane_topology() {
    // Two lanes, the second after the first, and a light for both.
    let lane = |id: u8, from: u8, confidence: &str| {
        let to = from + 20;
        format!(r#"{{"id": {id}, "points": [[{from}, 0, 0], [{to}, 0, 0]]{confidence}}}"#)
    };
    let frame = |confidence: &str, lane_edges: &str| {
        let (a, b) = (lane(1, 0, confidence), lane(2, 20, confidence));
        format!(
            r#"{{"lane_centerline": [{a}, {b}], "traffic_element": [{{"id": 3, "attribute": 1, "points": [[0, 0], [9, 9]]{confidence}}}], "topology_lclc": {lane_edges}, "topology_lcte": [[1], [1]]}}"#
        )
    };
    let empty = r#"{"lane_centerline": [], "traffic_element": [], "topology_lclc": [], "topology_lcte": []}"#;
    let truth = frame("", "[[0, 1], [0, 0]]");
    let sure = r#", "confidence": 0.5"#;
    let right = frame(sure, "[[0, 0.9], [0, 0]]");
    let record = |id: &str, field: &str, value: &str| {
        format!("{{\"id\": \"{id}\", \"{field}\": {value}}}\n")
    };
    let truths = record("b", "reference", &truth) + &record("a", "reference", empty);
    let found = record("a", "prediction", empty) + &record("b", "prediction", &right);
    let folder = Folder::new(&[("r.jsonl", &truths), ("p.jsonl", &found)]);
    let score = "score openlane -r r.jsonl -p p.jsonl --format json";
    let result = folder.run(&format!("{score} --per-sample s.jsonl")).json();
    let one = json!({"tp": 1, "predicted": 1, "true": 1});
    let two = json!({"tp": 2, "predicted": 2, "true": 2});
    // Half of the lanes' edges in and out do not exist.
    assert_eq!(
        result["scores"],
        json!({
            "DET_l": 1.0, "DET_t": 1.0, "TOP_ll": 1.0, "TOP_lt": 1.0, "OLS": 1.0,
            "DET_t_present": 1.0, "edgeless_ll": 0.5, "edgeless_lt": 0.0,
        })
    );
    assert_eq!(
        result["counts"],
        json!({
            "frames": 2, "elements": one,
            "vertices_ll": {"total": 12, "edgeless": 6},
            "vertices_lt": {"total": 9, "edgeless": 0},
        })
    );
    let threshold = json!({
        "scores": {
            "DET_l": 1.0,
            "edge_precision_ll": 1.0, "edge_recall_ll": 1.0, "edge_f1_ll": 1.0,
            "edge_precision_lt": 1.0, "edge_recall_lt": 1.0, "edge_f1_lt": 1.0,
        },
        "counts": {"lanes": two, "edges_ll": one, "edges_lt": two},
    });
    assert_eq!(
        result["groups"],
        json!({
            "threshold": {"1": threshold, "2": threshold, "3": threshold},
            "attribute": {"red": {"scores": {"average_precision": 1.0}, "counts": one}},
        })
    );
    assert_eq!(
        result["warnings"],
        json!([
            "12 of 13 attributes are neither true nor predicted, and count as 1 in DET_t (DET_t_present leaves them out)"
        ])
    );
    let samples = std::fs::read_to_string(folder.path("s.jsonl")).expect("samples");
    let first: Value = serde_json::from_str(samples.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (&first["id"], &first["scores"]["OLS"]),
        (&json!("b"), &json!(1.0))
    );

    // A frame without a prediction misses all that is true.
    folder.put("p.jsonl", record("a", "prediction", empty).as_bytes());
    let none = folder
        .run(&format!("{score} --missing empty --quiet"))
        .json();
    assert_eq!(
        (&none["scores"]["DET_l"], &none["missing"]),
        (&json!(0.0), &json!(1))
    );
    // 12 of 13 attributes are absent.
    assert_eq!(none["scores"]["DET_t"], json!(12.0 / 13.0));
    folder.run(score).fails(3, &["\"b\""]);

    for (wrong, says) in [
        (
            right.replace("[[0, 0.9], [0, 0]]", "[[0, 0.9]]"),
            "topology_lclc: expected a row for each of 2 lanes, found 1",
        ),
        (
            right.replace("[20, 0, 0]", "[20, 0]"),
            "lane_centerline[0]: point 1: expected 3 coordinates, found 2",
        ),
        (
            right.replace("[20, 0, 0]", "[NaN, 0, 0]"),
            "p.jsonl:1: malformed JSON: NaN is not a JSON number at column",
        ),
        (
            right.replace("\"id\": 2", "\"id\": 1"),
            "the id 1 occurs twice",
        ),
        (
            right.replace("\"attribute\": 1", "\"attribute\": 13"),
            "an attribute from 0 to 12, found 13",
        ),
        (truth, "lane_centerline[0]: no confidence"),
        ("null".to_owned(), "expected a frame"),
    ] {
        let records = record("b", "prediction", &wrong) + &record("a", "prediction", empty);
        folder.put("p.jsonl", records.as_bytes());
        folder.run(score).fails(3, &["p.jsonl", says]);
    }
}

#[test]
fn missing_classes_of_an_image_are_counted() {
    let folder = Folder::new(&[
        (
            "r.json",
            r#"{"a": {"x": [[0,0,9,9]], "y": [[0,0,9,9]]}, "b": {"x": [[0,0,9,9]], "y": []}}"#,
        ),
        ("p.json", r#"{"a": {"x": [[0,0,9,9]]}}"#),
    ]);
    let run = |more: &str| {
        folder.run(&format!(
            "score detection --format json -r r.json -p p.json {more}"
        ))
    };
    run("").fails(
        3,
        &["p.json", "id \"a\"", "no prediction for the class \"y\""],
    );
    let skip = run("--missing skip").json();
    assert_eq!(
        (&skip["examples"], &skip["missing"]),
        (&json!(1), &json!(3))
    );
    let empty = run("--missing empty").json();
    assert_eq!(
        (&empty["examples"], &empty["missing"]),
        (&json!(4), &json!(3))
    );
    assert_eq!(empty["counts"]["fn"], 2);
    assert!(
        empty["warnings"][0]
            .as_str()
            .is_some_and(|text| text.starts_with("3 references have"))
    );
    run("--missing empty --profile fusion-brain-2021")
        .fails(3, &["no prediction for the class \"y\""]);
}

#[test]
fn samples_of_parts_say_which() {
    let folder = Folder::new(&[("r.json", r#"{"a": {"b": [], "c/d": [[0,0,1,1]]}}"#)]);
    folder
        .run("score detection -r r.json -p r.json --per-sample s.jsonl")
        .code(0);
    let lines = std::fs::read_to_string(folder.path("s.jsonl")).expect("a file");
    let parts: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(
        (
            &parts[1]["id"],
            &parts[1]["part"],
            &parts[1]["counts"]["tp"]
        ),
        (&json!("a"), &json!("c/d"), &json!(1))
    );
    assert_eq!(parts[0]["part"], json!("b"));
}

#[test]
fn pairs_without_a_prediction_are_missing() {
    let folder = Folder::new(&[(
        "both.jsonl",
        "{\"id\":1,\"reference\":\"x\",\"prediction\":\"x\"}\n{\"id\":2,\"reference\":\"y\"}\n",
    )]);
    let run = |more: &str| {
        folder.run(&format!(
            "score string-accuracy --format json --pairs both.jsonl {more}"
        ))
    };
    run("").fails(3, &["both.jsonl", "no prediction for 1 reference", "\"2\""]);
    assert_eq!(
        run("--missing empty").json()["counts"],
        json!({"correct": 1, "total": 2})
    );
    assert_eq!(run("--missing skip").json()["missing"], 1);
    run("--extra ignore").fails(2, &["--extra"]);
}

#[cfg(unix)]
#[test]
fn samples_go_where_links_lead_and_never_over_the_input() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = strings(THREE, THREE_PREDICTED);
    let real = folder.put("real.jsonl", b"old");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("permissions");
    symlink("real.jsonl", folder.path("link.jsonl")).expect("a link");
    folder.run(&format!("{R} --per-sample link.jsonl")).code(0);
    assert!(folder.path("link.jsonl").is_symlink());
    assert_eq!(
        std::fs::read_to_string(&real)
            .expect("a file")
            .lines()
            .count(),
        3
    );
    let mode = std::fs::metadata(&real)
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    // A link to an open file of the process is a stream.
    symlink("/proc/self/fd/2", folder.path("errors")).expect("a link");
    let run = folder.run(&format!("{R} --per-sample errors")).code(0);
    assert_eq!(run.stderr.lines().count(), 3);
    symlink("p.jsonl", folder.path("also-p.jsonl")).expect("a link");
    for path in ["r.jsonl", "./p.jsonl", "also-p.jsonl"] {
        folder
            .run(&format!("{R} --per-sample {path}"))
            .fails(2, &[path, "also read"]);
    }
    folder
        .run(&format!("{R} --per-sample -"))
        .fails(2, &["standard output"]);
}

#[cfg(unix)]
#[test]
fn two_outputs_are_never_one() {
    use std::os::unix::fs::symlink;
    let folder = strings(THREE, THREE_PREDICTED);
    std::fs::create_dir(folder.path("folder")).expect("a folder");
    symlink("new", folder.path("link")).expect("a link");
    symlink("folder", folder.path("other")).expect("a link");
    folder.put("old", b"old");
    let words = "score classification -r r.jsonl -p p.jsonl";
    for (samples, details) in [
        ("new", "new"),
        ("new", "./new"),
        ("new", "folder/../new"),
        ("new", "link"),
        ("link", "other/../link"),
        ("folder/new", "other/new"),
        ("old", "folder/../old"),
    ] {
        let says = [
            &*format!("--details {details}: is also where --per-sample {samples} goes"),
            "expected another path",
        ];
        folder
            .run(&format!(
                "{words} --per-sample {samples} --details {details}"
            ))
            .fails(2, &says);
    }
    let output = folder
        .command(&format!("{words} --per-sample old"))
        .stdout(std::fs::File::create(folder.path("old")).expect("a file"))
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    for device in ["/dev/null", "/dev/stdout"] {
        folder
            .run(&format!("{words} --per-sample {device} --details {device}"))
            .code(0);
    }
    folder.put("g.json", b"{\"a\": [[1]]}");
    let words = "score arc -r g.json -p g.json";
    folder
        .run(&format!("{words} --per-sample drawn --svg ./drawn"))
        .fails(2, &["--svg ./drawn: is also where --per-sample drawn goes"]);
    folder
        .run(&format!("{words} --per-sample drawn/s.jsonl --svg drawn"))
        .code(0);
    assert_eq!(read(&folder, "drawn/s.jsonl").lines().count(), 1);
    assert!(folder.path("drawn/a.svg").exists());
}

/// The inputs are not data: the program says that they would be lost before it reads them.
#[cfg(unix)]
#[test]
fn no_output_goes_into_a_folder_or_over_a_file_that_is_read() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new(&[("a.json", "{"), ("q.json", "{"), ("p.jsonl", "{")]);
    for name in ["truth/deep", "found", "out"] {
        std::fs::create_dir_all(folder.path(name)).expect("a folder");
    }
    folder.put("truth/deep/1.xml", b"<");
    folder.put("out/real", b"old");
    symlink("../truth/deep/1.xml", folder.path("out/link")).expect("a link");
    symlink("../out/real", folder.path("truth/linked")).expect("a link");
    symlink("found", folder.path("other")).expect("a link");
    let voc = "score voc -r truth -p other";
    let matrix = "score confusion-matrix -r truth -p other";
    let arc = "score arc -r truth -p other";
    let vqa = "score vqa -r a.json -p a.json --questions";
    for words in [
        format!("{vqa} q.json --per-sample q.json"),
        format!("{vqa} q.json --per-sample truth/../q.json"),
        format!("{voc} --per-sample truth/deep/1.xml"),
        format!("{voc} --per-sample out/link"),
        format!("{voc} --per-sample truth/linked"),
        format!("{voc} --per-sample truth/new"),
        format!("{matrix} --details found/new.txt"),
        format!("{matrix} --details truth/../found/new/../new.txt"),
        format!("{arc} --svg truth"),
        format!("{arc} --svg other/drawn"),
    ] {
        folder.run(&words).fails(2, &["is also read"]);
    }
    let input = std::fs::File::open(folder.path("p.jsonl")).expect("a file");
    let output = folder
        .command("score wer -r - -p a.json --per-sample p.jsonl")
        .stdin(input)
        .output()
        .expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("p.jsonl: is also read"), "{errors}");
    // A path next to an input folder, or that leads through one, is elsewhere; the file that is read is not data.
    for path in ["out/new", "truth/../new", "truth.jsonl"] {
        folder
            .run(&format!("{voc} --per-sample {path}"))
            .fails(3, &[]);
    }
}

#[test]
fn pictures_of_long_ids_have_names_of_their_own() {
    let long = "x".repeat(250);
    let escaped = "x".repeat(180) + " ";
    let id = |position: usize| match position {
        1 => escaped.clone(),
        20 | 21 => format!("{long}{position}"),
        _ => position.to_string(),
    };
    let pair = |position| {
        let id = id(position);
        format!("{{\"id\": \"{id}\", \"reference\": [[1]], \"prediction\": [[1]]}}\n")
    };
    let pairs: String = (0..22).map(pair).collect();
    let folder = Folder::new(&[("pairs.jsonl", &pairs)]);
    folder
        .run("score arc --pairs pairs.jsonl --svg drawn")
        .code(0);
    let drawn = std::fs::read_dir(folder.path("drawn")).expect("a folder");
    let names = drawn.map(|file| file.expect("a file").file_name());
    // The others are charts of all examples.
    let of_examples = names.filter(|name| !name.to_string_lossy().starts_with("chart."));
    assert_eq!(of_examples.count(), 22);
    for end in ["%20", "~20", "~21"] {
        let name = format!("drawn/{}{end}.svg", "x".repeat(180));
        assert!(folder.path(&name).exists(), "{name}");
    }
    assert!(folder.path("drawn/19.svg").exists());
}

#[test]
fn text_from_files_is_harmless_in_messages_and_tables() {
    let long = "x".repeat(1 << 20);
    let folder = strings(&format!("{{\"id\":\"{long}\",\"reference\":\"x\"}}"), "");
    assert!(folder.run(R).fails(3, &["\"xxx"]).stderr.len() < 1000);
    let folder = Folder::new(&[("r.json", "{\"a\": {\"b|c\\u001b\\nd\": []}}")]);
    let run = folder
        .run("score detection --format markdown -r r.json -p r.json")
        .code(0);
    assert!(run.stdout.contains("b\\|c\\u{1b}\\nd"), "{}", run.stdout);
}

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
    let expected =
        r#"exact-match|regexes-to-ignore:["The\\s+%7Cx","\\s"]|ignore:case,punctuation,numbers|v:"#;
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
        let result = run("").json();
        assert_eq!(run("--max-cells 100000000").json(), result);
        run("--max-cells -1").fails(2, &["--max-cells"]);
        if metric != "wer" {
            // The number that the message names is enough.
            let refused = run("--max-cells 1000").code(5);
            let named = refused.stderr.split("use ").nth(1).map(str::trim);
            assert_eq!(run(named.unwrap_or_default()).json(), result, "{metric}");
        }
    }
}

#[test]
fn items_that_would_take_minutes_are_named() {
    let folder = Folder::new(&[]);
    // 2,897 × 2,897 pairs are more than 2^23.
    let turned = vec!["[0, 0, 9, 9, 0.5]"; 2_897].join(",");
    let item = |name: &str, reference: &str, prediction: &str| {
        let pair = format!(
            "{{\"id\": \"street 7\", \"reference\": {reference}, \"prediction\": {prediction}}}\n"
        );
        folder.put(name, pair.as_bytes());
    };
    item(
        "boxes.jsonl",
        &format!("[{turned}]"),
        &format!("[{turned}]"),
    );
    item(
        "classes.jsonl",
        &format!("{{\"cat\": [{turned}]}}"),
        &format!("{{\"cat\": [{turned}]}}"),
    );
    let words = "score detection --box rotated --pairs";
    let says = "2897 detections and 2897 ground-truth objects make too many pairs";
    folder
        .run(&format!("{words} boxes.jsonl"))
        .fails(5, &["boxes.jsonl:1", "street 7", says]);
    folder
        .run(&format!("{words} classes.jsonl"))
        .fails(5, &["street 7", "class \"cat\"", says]);

    let rules = |lane: u32| {
        let rule = |id: u32| {
            let says = format!(
                "{{\"attr_info\": {{\"LaneType\": \"BusLane\"}}, \"centerline\": [{lane}]}}"
            );
            format!("\"{id}\": {says}")
        };
        let rules: Vec<String> = (0..2_049).map(rule).collect();
        format!("{{{}}}", rules.join(","))
    };
    item("rules.jsonl", &rules(1), &rules(2));
    folder
        .run("score lanes --pairs rules.jsonl")
        .fails(5, &["street 7", "2049 rules with 2049 of the reference"]);
    // Rules that all have an equal one need no choice.
    item("equal.jsonl", &rules(1), &rules(1));
    folder.run("score lanes --pairs equal.jsonl").code(0);

    let frame = |points: u32, more: &str| {
        let point = |step: u32| format!("[{step},0,0]");
        let points: Vec<String> = (0..points).map(point).collect();
        let lane = format!("{{\"id\": 0, \"points\": [{}]{more}}}", points.join(","));
        format!(
            "{{\"lane_centerline\": [{lane}], \"traffic_element\": [], \"topology_lclc\": [[0]], \"topology_lcte\": [[]]}}"
        )
    };
    let predicted = frame(100_000, ", \"confidence\": 0.5");
    item("lanes.jsonl", &frame(100_000, ""), &predicted);
    folder.run("score openlane --pairs lanes.jsonl").fails(
        5,
        &[
            "street 7",
            "100000 points in all, against 100000 of the reference",
        ],
    );
    item("short.jsonl", &frame(10, ""), &predicted);
    folder.run("score openlane --pairs short.jsonl").code(0);
}

#[test]
fn confusions_of_many_classes_are_cells() {
    let folder = Folder::new(&[]);
    let details = |classes: u32| {
        let class = |id: u32| json!({"id": id, "name": format!("c{id}")});
        let truth = json!({
            "images": [{"id": 1, "width": 99, "height": 99}],
            "categories": (1..=classes).map(class).collect::<Vec<_>>(),
            "annotations": [{"id": 1, "image_id": 1, "category_id": 2, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0}],
        });
        let found = json!([
            {"image_id": 1, "category_id": 3, "bbox": [0, 0, 9, 9], "score": 0.5},
            {"image_id": 1, "category_id": 4, "bbox": [50, 0, 9, 9], "score": 0.5},
        ]);
        folder.put("t.json", truth.to_string().as_bytes());
        folder.put("p.json", found.to_string().as_bytes());
        let words = "score confusion-matrix -r t.json -p p.json --details d.json";
        folder.run(words).code(0);
        let details = std::fs::read(folder.path("d.json")).expect("details");
        serde_json::from_slice::<Value>(&details).expect("JSON")
    };
    let few = details(2_000);
    assert_eq!(
        (&few["matrix"][1][2], &few["matrix"][2_000][3]),
        (&json!(1), &json!(1))
    );
    let many = details(2_001);
    assert_eq!(many["matrix"], Value::Null);
    let cells = json!([
        {"truth": "background", "prediction": "c4", "count": 1},
        {"truth": "c2", "prediction": "c3", "count": 1},
    ]);
    assert_eq!(many["cells"], cells);
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
    let signature = "codebleu|lang:go|profile:corrected|weights:.1,.1,.4,.4|grammar:go-0.25.0|v:";
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

/// Two images: one of two dogs is found, and a cat next to it; then a cat that is found.
const TRUTH: &str = r#"{
    "images": [{"id": 7, "width": 100, "height": 100}, {"id": 8, "width": 100, "height": 100}],
    "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 2, "bbox": [0, 0, 10, 10], "area": 100, "iscrowd": 0,
         "segmentation": [[0, 0, 10, 0, 10, 10, 0, 10]]},
        {"id": 2, "image_id": 7, "category_id": 2, "bbox": [50, 0, 10, 10], "area": 100, "iscrowd": 0,
         "segmentation": [[50, 0, 60, 0, 60, 10, 50, 10]]},
        {"id": 3, "image_id": 8, "category_id": 1, "bbox": [0, 0, 40, 40], "area": 1600, "iscrowd": 0,
         "segmentation": [[0, 0, 40, 0, 40, 40, 0, 40]]}
    ]
}"#;
const FOUND: &str = r#"[
    {"image_id": 7, "category_id": 2, "bbox": [0, 0, 10, 10], "score": 0.9},
    {"image_id": 7, "category_id": 1, "bbox": [50, 0, 10, 10], "score": 0.3},
    {"image_id": 8, "category_id": 1, "bbox": [0, 0, 40, 40], "score": 0.8}
]"#;

/// Three persons: one is found, one is off by a point, and one has no labeled point and does not count.
#[test]
fn coco_keypoints() {
    let truth = json!({
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "person"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "iscrowd": 0, "area": 2000, "num_keypoints": 2,
             "bbox": [0, 0, 50, 50], "keypoints": [10, 10, 2, 20, 20, 1]},
            {"id": 2, "image_id": 1, "category_id": 1, "iscrowd": 0, "area": 10000, "num_keypoints": 2,
             "bbox": [1000, 0, 100, 100], "keypoints": [1010, 10, 2, 1020, 20, 1]},
            {"id": 3, "image_id": 1, "category_id": 1, "iscrowd": 0, "area": 10000, "num_keypoints": 0,
             "bbox": [500, 0, 100, 100], "keypoints": [0, 0, 0, 0, 0, 0]}],
    });
    let found = |x: f64, score: f64, rest: f64| {
        json!({"image_id": 1, "category_id": 1, "score": score,
            "keypoints": [x, 10, 1, x + 10.0 + rest, 20, 1]})
    };
    // The second has the similarity (1 + exp(-1000)) / 2 = 0.5, and counts at the first threshold alone.
    let results = json!([
        found(10.0, 0.9, 0.0),
        found(1010.0, 0.8, 4472.2),
        found(520.0, 0.7, 0.0)
    ]);
    let broken = json!([{"image_id": 1, "category_id": 1, "score": 0.9, "keypoints": [1, 2, 1]}]);
    let folder = Folder::new(&[
        ("r.json", &truth.to_string()),
        ("p.json", &results.to_string()),
        ("broken.json", &broken.to_string()),
    ]);
    let run = |more: &str| folder.run(&format!("score coco --format json -r r.json {more}"));
    let oks = "--iou-type keypoints --oks-sigmas 0.5,0.5";
    let result = run(&format!("-p p.json {oks}")).json();
    assert_eq!(
        result["signature"],
        "coco|iou-type:keypoints|oks-sigmas:0.5,0.5|v:0.1.0"
    );
    assert_eq!(result["counts"], json!({"truths": 2, "detections": 3}));
    let half = 51.0 / 101.0;
    let expected = [
        ("AP", (1.0 + 9.0 * half) / 10.0),
        ("AP50", 1.0),
        ("AP75", half),
        ("AP_medium", 1.0),
        ("AP_large", 0.1),
        ("AR", 0.55),
        ("AR50", 1.0),
        ("AR75", 0.5),
        ("AR_medium", 1.0),
        ("AR_large", 0.1),
    ];
    let scores = result["scores"].as_object().expect("scores");
    assert_eq!(scores.len(), expected.len());
    for (name, value) in expected {
        let found = scores[name].as_f64().expect("a number");
        assert!((found - value).abs() < 1e-12, "{name}: {found} {value}");
    }
    let table = folder.run(&format!(
        "score coco -r r.json -p p.json {oks} --fail-under AR75=0.5"
    ));
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    for (words, code, expected) in [
        (
            format!("-p broken.json {oks}"),
            3,
            "broken.json: [0]: keypoints: found 3 numbers, expected 6: x, y and visibility of 2 points, as many as --oks-sigmas has",
        ),
        (
            "-p p.json --iou-type keypoints".to_owned(),
            3,
            "r.json: annotations[0]: keypoints: found 6 numbers, expected 51",
        ),
        (
            "-p p.json --oks-sigmas 0.5,0.5".to_owned(),
            2,
            "--oks-sigmas: is for --iou-type keypoints",
        ),
        (
            "-p p.json --iou-type keypoints --oks-sigmas 0.5,0".to_owned(),
            2,
            "expected a positive number",
        ),
    ] {
        let run = run(&words);
        assert_eq!(run.code, Some(code), "{words}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{words}: {}", run.stderr);
    }
}

#[test]
fn coco_files() {
    let folder = Folder::new(&[("r.json", TRUTH), ("p.json", FOUND), ("none.json", "[]")]);
    let run = |more: &str| folder.run(&format!("score coco --format json -r r.json {more}"));
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-12, "{value} {expected}");
    };
    let whole = run("-p p.json --groups class --details d.json --per-sample s.jsonl").json();
    assert_eq!(whole["signature"], "coco|iou-type:bbox|v:0.1.0");
    assert_eq!(whole["examples"], 2);
    assert_eq!(whole["counts"], json!({"truths": 3, "detections": 3}));
    // Cats: 1. Dogs: precision 1 at the recalls 0, 0.01, ... 0.50. A dog is small, the cat medium.
    let dogs = 51.0 / 101.0;
    near(&whole["scores"]["AP"], (1.0 + dogs) / 2.0);
    near(&whole["scores"]["AP_small"], dogs);
    near(&whole["scores"]["AP_medium"], 1.0);
    assert_eq!(whole["scores"]["AP_large"], Value::Null);
    near(&whole["scores"]["AR_100"], 0.75);
    near(&whole["groups"]["class"]["dog"]["scores"]["AP50"], dogs);
    assert_eq!(whole["groups"]["class"]["dog"]["counts"]["category_id"], 2);
    let details = std::fs::read_to_string(folder.path("d.json")).expect("the details");
    let details: Value = serde_json::from_str(&details).expect("JSON");
    assert_eq!(details["shape"], json!([10, 101, 2, 4, 3]));
    assert_eq!(
        details["precision"].as_array().map(Vec::len),
        Some(10 * 101 * 2 * 4 * 3)
    );
    let samples = std::fs::read_to_string(folder.path("s.jsonl")).expect("the samples");
    let samples: Vec<Value> = samples
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(samples.len(), 2);
    assert_eq!(
        (&samples[0]["id"], &samples[1]["id"]),
        (&json!("7"), &json!("8"))
    );
    near(&samples[1]["scores"]["AP"], 1.0);

    // Polygons of the truth, and for the results the masks of their boxes: the same.
    let masks = run("-p p.json --iou-type segm").json();
    assert_eq!(masks["scores"], whole["scores"]);
    // Without classes the cat that is a dog is right.
    let agnostic = run("-p p.json --class-agnostic").json();
    near(&agnostic["scores"]["AP"], 1.0);
    let few = run("-p p.json --iou 0.5 --max-detections 2 --areas tiny:0:100,rest:100:inf").json();
    assert_eq!(few["scores"]["AP75"], Value::Null);
    near(&few["scores"]["AR_2"], 0.75);
    near(&few["scores"]["AP_tiny"], dogs);
    let none = run("-p none.json").json();
    assert_eq!(none["scores"]["AP"], 0.0);
    assert_eq!(none["scores"]["AP_large"], Value::Null);
    for threads in [1, 2, 3] {
        let again = run(&format!("-p p.json --groups class --threads {threads}")).json();
        assert_eq!(again, whole);
    }
    // References from a pipe.
    let piped = "score coco --format json -r - -p p.json --groups class";
    assert_eq!(folder.run_with_input(piped, TRUTH).json(), whole);
}

#[test]
fn coco_files_that_are_none() {
    let with = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let folder = Folder::new(&[("r.json", TRUTH), ("p.json", FOUND)]);
    let result = |from: &str, to: &str, says: &[&str]| {
        folder.put("bad.json", with(FOUND, from, to).as_bytes());
        folder
            .run("score coco -r r.json -p bad.json")
            .fails(3, says);
    };
    result(
        "0.9",
        "\"0.9\"",
        &["bad.json: [0]: score: found the string \"0.9\", expected a number"],
    );
    result("0.3", "NaN", &["bad.json: [1]: not JSON", "line 3 column"]);
    result("0.8}", "0.8},", &["bad.json: [2]: "]);
    result(
        "[0, 0, 10, 10]",
        "[0, 0, 10]",
        &["[0]: bbox: found 3 numbers, expected 4"],
    );
    result("[0, 0, 10, 10]", "[0, 0, 1e999, 10]", &["bad.json: [0]: "]);
    result(
        "\"image_id\": 8",
        "\"image_id\": 9",
        &["[2]: image_id: 9 is not an image"],
    );
    result("\"score\": 0.3", "\"skore\": 0.3", &["[1]: score: missing"]);
    let truth = |from: &str, to: &str, says: &[&str]| {
        folder.put("bad.json", with(TRUTH, from, to).as_bytes());
        folder
            .run("score coco -r bad.json -p p.json")
            .fails(3, says);
    };
    truth(
        "\"id\": 2, \"image_id\"",
        "\"id\": 1, \"image_id\"",
        &["annotations[1]: id: 1 is the id of annotations[0] too"],
    );
    truth(
        "\"annotations\"",
        "\"boxes\"",
        &["bad.json: missing field `annotations`"],
    );
    truth(
        "\"bbox\": [0, 0, 40, 40]",
        "\"bbox\": null",
        &["annotations[2]: bbox: missing"],
    );
    truth(
        "\"area\": 100",
        "\"area\": \"big\"",
        &["annotations[0]: area: found the string"],
    );
    folder
        .run("score coco -r p.json -p p.json")
        .fails(3, &["p.json: found a list, as results are"]);
    folder
        .run("score coco -r r.json -p r.json")
        .fails(3, &["r.json: found an object, as a ground truth is"]);
    folder
        .run("score coco -r r.json -p .")
        .fails(3, &["is a folder: expected a COCO file"]);
    folder.run("score coco --pairs r.json").fails(
        3,
        &["r.json:1: found an object: expected a list of records"],
    );
    folder
        .run("score coco -r r.json -p p.json --iou 0")
        .fails(2, &["--iou", "more than 0, at most 1"]);
    folder
        .run("score coco -r r.json -p p.json --areas x")
        .fails(2, &["--areas"]);
    folder
        .run("score vqa -r r.json -p p.json --details d.json")
        .fails(2, &["--details is not an option of vqa: "]);
    folder
        .run("score coco -r r.json -p p.json --missing skip")
        .fails(2, &["--missing goes with records"]);
    folder
        .run("score coco -r r.json -p p.json --iou 0.5,x")
        .fails(2, &["found \"x\", expected a number"]);
    folder
        .run("score coco -r r.json -p p.json --iou 0.5,0.50")
        .fails(2, &["0.50 is listed twice"]);
    folder
        .run("score detection -r r.json -p p.json --box xyxy")
        .fails(3, &["--box goes with records"]);
    // An editor's mark at the start of a text is not part of it.
    folder.put("marked.json", format!("\u{feff}{TRUTH}").as_bytes());
    for metric in ["coco", "detection"] {
        folder
            .run(&format!("score {metric} -r marked.json -p p.json"))
            .code(0);
    }
    // Errors that can be corrected are corrected, with a warning.
    folder.put("fit.json", with(TRUTH, "\"area\": 100, ", "").as_bytes());
    let run = folder.run("score coco -r fit.json -p p.json").code(0);
    assert!(
        run.stderr.contains("1 ground-truth object has no area"),
        "{}",
        run.stderr
    );
    folder.put(
        "fit.json",
        with(FOUND, "\"image_id\": 8", "\"image_id\": 9").as_bytes(),
    );
    let run = folder
        .run("score coco -r r.json -p fit.json --extra ignore")
        .code(0);
    assert!(
        run.stderr.contains("1 detection is of an image"),
        "{}",
        run.stderr
    );
    assert!(run.stdout.contains("extra:ignore"));
}

#[test]
fn errors_of_detections() {
    let folder = Folder::new(&[("r.json", TRUTH), ("p.json", FOUND)]);
    let run = |words: &str| folder.run(&format!("score {words} --format json -r r.json -p p.json"));
    let tide = run("tide").json();
    // The dog that is detected as a cat; with its class corrected nothing is missed.
    let counts = json!({"Cls": 1, "Loc": 0, "Both": 0, "Dupe": 0, "Bkg": 0, "Miss": 0});
    assert_eq!(tide["counts"], counts);
    let matrix = run("confusion-matrix --details m.json").json();
    assert_eq!(
        matrix["counts"],
        json!({"tp": 2, "fp": 1, "fn": 1, "confused": 1, "ignored": 0})
    );
    let details = std::fs::read_to_string(folder.path("m.json")).expect("the details");
    let details: Value = serde_json::from_str(&details).expect("JSON");
    assert_eq!(details["classes"], json!(["cat", "dog", "background"]));
    assert_eq!(details["matrix"], json!([[1, 0, 0], [1, 1, 0], [0, 0, 0]]));
    let voc = run("voc").json();
    assert_eq!(voc["scores"]["mAP"], 0.75);
    let detection = run("detection --matching greedy --best-f1 --details c.json").json();
    let curve = std::fs::read_to_string(folder.path("c.json")).expect("the details");
    let curve: Value = serde_json::from_str(&curve).expect("JSON");
    let points = curve["precision_recall"][0]["points"]
        .as_array()
        .expect("points");
    let point =
        |point: &Value| [&point["score"], &point["precision"], &point["recall"]].map(Value::as_f64);
    let expected = [
        [0.9, 1.0, 1.0 / 3.0],
        [0.8, 1.0, 2.0 / 3.0],
        [0.3, 2.0 / 3.0, 2.0 / 3.0],
    ];
    let expected = expected.map(|point| point.map(Some));
    assert_eq!(points.iter().map(point).collect::<Vec<_>>(), expected);
    assert_eq!(
        detection["counts"],
        json!({"tp": 2, "fp": 1, "fn": 1, "repeated": 0})
    );
    // From the score 0.8 on there are two right of two, and one of three is missed.
    assert_eq!(detection["scores"]["best_f1_score"], 0.8);
    assert_eq!(detection["scores"]["best_f1"], json!(4.0 / 5.0));
    assert_eq!(detection["groups"]["class"]["dog"]["scores"]["recall"], 0.5);
    run("detection --box polygon").fails(3, &["--box polygon goes with records"]);
}

#[test]
fn folders_of_detections() {
    let folder = Folder::new(&[]);
    for name in ["xml", "voc", "labels", "yolo"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    let object = "<object><name>dog</name><bndbox><xmin>0</xmin><ymin>0</ymin><xmax>10</xmax><ymax>10</ymax></bndbox></object>";
    folder.put(
        "xml/1.xml",
        format!("<annotation>{object}</annotation>").as_bytes(),
    );
    folder.put("voc/1.txt", b"dog 0.9 0 0 10 10\ndog 0.8 50 50 60 60\n");
    folder.put("labels/1.txt", b"0 0.5 0.5 0.1 0.1\n");
    folder.put(
        "yolo/1.txt",
        b"0 0.5 0.5 0.1 0.1 0.9\n0 0.2 0.2 0.1 0.1 0.8\n",
    );
    for folders in ["-r xml -p voc", "-r labels -p yolo --image-size 100x100"] {
        let voc = folder
            .run(&format!("score voc --format json {folders}"))
            .json();
        assert_eq!(voc["scores"]["mAP"], 1.0, "{folders}");
        let words = format!("score detection --format json {folders}");
        let counts = folder.run(&words).json()["counts"].clone();
        assert_eq!(
            counts,
            json!({"tp": 1, "fp": 1, "fn": 0, "repeated": 0}),
            "{folders}"
        );
    }
    folder.put("yolo/2.txt", b"0 0.5 0.5 0.1 0.1 0.9\n");
    folder
        .run("score voc -r labels -p yolo")
        .fails(3, &["2.txt"]);
    folder
        .run("score voc -r labels -p yolo --extra ignore")
        .code(0);
    folder
        .run("score voc -r labels -p yolo --extra ignore --pixel-plus-one")
        .fails(3, &["--pixel-plus-one needs pixels: expected --image-size"]);
    folder.put("voc/1.txt", b"dog 0.9 0 0 10\n");
    folder
        .run("score voc -r xml -p voc")
        .fails(3, &["1.txt:1: found 5 words"]);
}

#[test]
fn list_demo_and_help() {
    let folder = Folder::new(&[]);
    let list = folder.run("list").code(0).stdout;
    let listed = folder.run("list --format json").json();
    let metrics = listed["metrics"].as_array().expect("a list");
    assert!(metrics.len() >= 6);
    for metric in metrics {
        let name = metric["name"].as_str().expect("a name");
        assert!(list.contains(name));
        let help = folder.run(&format!("score {name} --help")).code(0).stdout;
        for option in metric["options"].as_array().expect("a list") {
            let option = option["name"].as_str().expect("a name");
            assert!(help.contains(&format!("--{option}")), "{name} --{option}");
        }
        assert!(help.contains("Exit codes"));
    }
    // An option that a metric refuses is not in its help.
    for (name, options) in [
        ("arc", "svg show details"),
        ("wer", "svg show details"),
        ("lanes", "svg details"),
        ("accuracy-at-k", "svg details"),
        ("detection", "svg details"),
        ("string-accuracy", "svg"),
    ] {
        let help = folder.run(&format!("score {name} --help")).code(0).stdout;
        let options: Vec<&str> = options.split(' ').collect();
        for option in ["svg", "show", "details"] {
            let expected = options.contains(&option);
            assert_eq!(
                help.contains(&format!("--{option} ")),
                expected,
                "{name} {option}"
            );
        }
    }
    let demo = folder.run("demo --save samples").code(0);
    assert_eq!(demo.stderr, "");
    let commands: Vec<&str> = demo
        .stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("metric "))
        .filter(|line| line.starts_with("score"))
        .collect();
    assert!(commands.len() >= 5);
    for command in commands {
        folder.run(command).code(0);
    }
    folder.run("--version").code(0);
}

const ARC_SOLUTIONS: &str =
    r#"{"a": [[[1, 2], [3, 4]], [[5, 6, 7]]], "b": [[[0]]], "c": [[[9, 8], [1, 1]]]}"#;
const ARC_SUBMISSION: &str = r#"{
    "b": [{"attempt_1": [], "attempt_2": [[0]]}],
    "a": [{"attempt_1": [[1, 2], [3, 4]], "attempt_2": [[10]]}, {"attempt_1": [[5, 6]], "attempt_2": null}]
}"#;

/// The files of a submission in its three forms.
fn arc_submission() -> Folder {
    let folder = Folder::new(&[
        ("s.json", ARC_SOLUTIONS),
        ("p.json", ARC_SUBMISSION),
        (
            "p.csv",
            "output_id,output\nb_0,|| |0|\na_0,|12|34| |1a|\na_1,|56| ||\n",
        ),
    ]);
    for name in ["truth", "found"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    let solutions: Value = serde_json::from_str(ARC_SOLUTIONS).expect("JSON");
    for (task, grids) in solutions.as_object().expect("an object") {
        let grids = grids.as_array().expect("a list").iter();
        let tests: Vec<Value> = grids
            .map(|grid| json!({"input": [[0]], "output": grid}))
            .collect();
        let text = json!({"train": [], "test": tests}).to_string();
        folder.put(&format!("truth/{task}.json"), text.as_bytes());
    }
    let submission: Value = serde_json::from_str(ARC_SUBMISSION).expect("JSON");
    for (task, entries) in submission.as_object().expect("an object") {
        let entries = entries.as_array().expect("a list").iter().enumerate();
        let entry = |(position, entry): (usize, &Value)| {
            let attempt = |name: &str| match &entry[name] {
                Value::Null => Value::Null,
                grid => json!({"answer": grid, "metadata": {"pair_index": position, "model": "m"}}),
            };
            json!({"attempt_1": attempt("attempt_1"), "attempt_2": attempt("attempt_2")})
        };
        let text = json!(entries.map(entry).rev().collect::<Vec<_>>()).to_string();
        folder.put(&format!("found/{task}.json"), text.as_bytes());
    }
    folder
}

#[test]
fn submissions_to_the_arc_prize() {
    let folder = arc_submission();
    let run = |words: &str| folder.run(&format!("score arc --format json {words}"));
    let result = run("-r s.json -p p.json --per-sample s.jsonl").json();
    let score = |name: &str| result["scores"][name].clone();
    assert_eq!(score("kaggle"), json!(2.0 / 4.0));
    assert_eq!(score("arcprize"), json!(1.5 / 3.0));
    assert_eq!(score("all_tests"), json!(1.0 / 3.0));
    assert_eq!(score("pass_at_1"), json!(1.0 / 4.0));
    assert_eq!(score("pass_at_2"), json!(2.0 / 4.0));
    // Right, right, 2 of 3 cells, nothing.
    assert_eq!(score("cell_accuracy"), json!((2.0 + 2.0 / 3.0) / 4.0));
    assert_eq!(score("cell_accuracy_pooled"), json!(7.0 / 12.0));
    assert_eq!(score("shape_match"), json!(2.0 / 4.0));
    for (name, count) in [
        ("tasks", 3),
        ("solved_tasks", 1),
        ("missing_tasks", 1),
        ("outputs", 4),
        ("missing_outputs", 1),
        ("exact", 2),
        ("attempts", 6),
        ("invalid", 3),
        ("solved_at_1", 1),
    ] {
        assert_eq!(result["counts"][name], json!(count), "{name}");
    }
    assert_eq!(
        (&result["examples"], &result["missing"]),
        (&json!(4), &json!(1))
    );
    assert_eq!(result["signature"], json!("arc|attempts:2|v:0.1.0"));
    let warnings = result["warnings"].to_string();
    // One gap, one warning.
    assert!(warnings.contains("1 task is not in the submission and scores 0: \\\"c\\\""));
    assert!(!warnings.contains("no prediction") && !warnings.contains("has no attempt"));
    assert_eq!(score("exact"), Value::Null);
    let samples = read(&folder, "s.jsonl");
    let samples: Vec<Value> = samples
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let parts: Vec<_> = samples
        .iter()
        .map(|s| (&s["id"], &s["part"], &s["scores"]["solved"]))
        .collect();
    let part = |id: &str, part: &str, hit: f64| (json!(id), json!(part), json!(hit));
    let expected = [
        part("a", "0", 1.0),
        part("a", "1", 0.0),
        part("b", "0", 1.0),
        part("c", "0", 0.0),
    ];
    assert_eq!(parts, expected.each_ref().map(|(a, b, c)| (a, b, c)));

    // The counts of the outputs add up to those of all, and an output has no counts of tasks.
    let counts = samples[0]["counts"].as_object().expect("counts").keys();
    for name in counts {
        let of_outputs = samples.iter().map(|s| s["counts"][name].as_u64());
        let sum: Option<u64> = of_outputs.sum();
        assert_eq!(json!(sum), result["counts"][name], "{name}");
    }
    for name in ["kaggle", "arcprize", "all_tests", "cell_accuracy_by_task"] {
        assert!(samples[0]["scores"].get(name).is_none(), "{name}");
    }
    assert!(samples[0]["counts"].get("tasks").is_none());

    // The table has an empty text where an attempt is not a grid, and folders list tasks by name.
    for words in [
        "-r s.json -p p.csv",
        "-r s.json -p found",
        "-r truth -p p.json",
        "-r truth -p found --threads 1",
    ] {
        assert_eq!(run(words).json()["scores"], result["scores"], "{words}");
    }
    let groups = run("-r s.json -p p.json --groups task").json();
    assert_eq!(
        groups["groups"]["task"]["a"]["scores"]["arcprize"],
        json!(0.5)
    );
    let of_task = |name: &str| {
        let task = &groups["groups"]["task"]["a"][name];
        let names = task.as_object().expect("an object").keys().cloned();
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        [of_task("scores"), of_task("counts")],
        [
            "arcprize cell_accuracy_by_task kaggle pass_at_1 pass_at_2",
            "exact outputs"
        ]
    );
    assert_eq!(result["groups"], Value::Null);
    let one = run("-r s.json -p p.json --attempts 1").json();
    assert_eq!(one["scores"]["kaggle"], json!(0.25));
    assert_eq!(one["counts"]["extra_attempts"], json!(3));
    // A task is a cluster.
    let interval = run("-r s.json -p p.json --resamples 200 --seed 5 --interval percentile").json();
    let statistics = &interval["statistics"];
    let clusters = tasks_of(&interval);
    assert_eq!(statistics["clusters"].as_u64(), Some(clusters));
    assert!(statistics["intervals"]["kaggle"]["standard_error"].is_number());
    assert_eq!(
        interval["signature"],
        json!("arc|attempts:2|confidence:0.95|resamples:200|seed:5|interval:percentile|v:0.1.0")
    );
}

/// The number of tasks of a submission.
fn tasks_of(result: &Value) -> u64 {
    result["counts"]["tasks"]
        .as_u64()
        .expect("a number of tasks")
}

#[test]
fn submissions_as_records() {
    let folder = Folder::new(&[
        (
            "s.jsonl",
            "{\"id\": \"a\", \"reference\": [[[1]], [[2]]]}\n{\"id\": \"b\", \"reference\": [[[3]]]}\n",
        ),
        (
            "p.jsonl",
            "{\"id\": \"a\", \"prediction\": [{\"attempt_1\": [[1]]}, null]}\n",
        ),
    ]);
    let words = "score arc --format json -r s.jsonl -p p.jsonl";
    folder
        .run(words)
        .fails(3, &["1 reference of s.jsonl", "\"b\""]);
    let result = folder.run(&format!("{words} --missing empty")).json();
    assert_eq!(result["scores"]["kaggle"], json!(1.0 / 3.0));
    assert_eq!(
        (&result["examples"], &result["missing"]),
        (&json!(3), &json!(1))
    );
    // A task that is left out has as many outputs as its reference says.
    let one = "{\"id\": \"b\", \"prediction\": [{\"attempt_1\": [[3]]}]}\n";
    folder.put("one.jsonl", one.as_bytes());
    let result = folder
        .run("score arc --format json -r s.jsonl -p one.jsonl --missing skip")
        .json();
    assert_eq!(
        (&result["examples"], &result["missing"]),
        (&json!(1), &json!(2))
    );
}

#[test]
fn pairs_of_grids_and_tasks_are_not_scored_together() {
    let pair = |id: u32| format!("{{\"id\": {id}, \"reference\": [[1]], \"prediction\": [[2]]}}\n");
    let task = |id: u32| {
        format!(
            "{{\"id\": {id}, \"reference\": [[[1]]], \"prediction\": [{{\"attempt_1\": [[1]]}}]}}\n"
        )
    };
    let many = |others: String| (3..200).map(pair).collect::<String>() + &others;
    let folder = Folder::new(&[
        ("pairs.jsonl", &(pair(1) + &pair(2) + &many(task(900)))),
        ("tasks.jsonl", &(task(1) + &task(2) + &pair(3))),
    ]);
    for threads in ["1", "4"] {
        folder
            .run(&format!("score arc --pairs pairs.jsonl --threads {threads}"))
            .fails(
                3,
                &["pairs.jsonl:200: id \"900\": reference: found the outputs of a task: expected a grid"],
            );
        folder
            .run(&format!("score arc --pairs tasks.jsonl --threads {threads}"))
            .fails(
                3,
                &["tasks.jsonl:3: id \"3\": reference: found a grid: expected the outputs of a task"],
            );
    }
}

#[test]
fn submissions_that_are_none() {
    let folder = arc_submission();
    for (name, text) in [
        ("unknown.json", r#"{"a": [], "b": [], "c": [], "d": []}"#),
        (
            "third.json",
            r#"{"b": [{"attempt_1": [[0]], "attempt_2": [[0]], "attempt_3": [[0]]}]}"#,
        ),
        ("ragged.json", r#"{"a": [{"attempt_1": [[1, 2], [3]]}]}"#),
        ("grid.json", r#"{"a": [[[1]]]}"#),
        ("twice.json", r#"{"a": [], "a": []}"#),
        ("cut.json", "{\n\"a\": ["),
        ("ten.json", r#"{"a": [[[1, 10]]]}"#),
        ("none.json", r#"{"a": [[[1]]], "b": []}"#),
        (
            "task.json",
            r#"{"train": [], "test": [{"input": [[1]], "output": [[2]]}]}"#,
        ),
        ("p.txt", "a grid"),
    ] {
        folder.put(name, text.as_bytes());
    }
    let run = |words: &str| folder.run(&format!("score arc {words}"));
    let lenient = run("--format json -r s.json -p unknown.json").json();
    assert!(
        lenient["warnings"]
            .to_string()
            .contains("is not in the solutions and was left out: \\\"d\\\"")
    );
    assert_eq!(lenient["counts"]["missing_tasks"], json!(3));
    // That an output of a task was not tried is said, too.
    let warnings = lenient["warnings"].to_string();
    assert!(warnings.contains("4 outputs of tasks in the submission have no attempt"));
    assert!(!warnings.contains("is not in the submission"));
    run("-r s.json -p unknown.json --strict --extra ignore").code(0);
    let long = json!({"a": [], "b": [], "c": [], "d".repeat(1 << 20): []});
    folder.put("long.json", long.to_string().as_bytes());
    let long = run("-r s.json -p long.json").code(0).stderr;
    assert!(long.contains("dddd\"...") && long.len() < 1000);
    let third = run("--format json -r s.json -p third.json").json();
    assert!(
        third["warnings"]
            .to_string()
            .contains("1 attempt comes after the 2 that count")
    );
    assert_eq!(
        run("--format json -r s.json -p ragged.json").json()["counts"]["invalid"],
        json!(1)
    );
    for (words, says) in [
        (
            "-r s.json -p unknown.json --strict",
            "unknown.json: task \"d\": is not in the solutions",
        ),
        (
            "-r s.json -p third.json --strict",
            "third.json: task \"b\": output 0: attempt_3: expected at most 2",
        ),
        (
            "-r s.json -p ragged.json --strict",
            "ragged.json: task \"a\": output 0: attempt_1: row 1 has length 1",
        ),
        (
            "-r s.json -p grid.json",
            "grid.json: task \"a\": output 0: expected {\"attempt_1\": grid, ...}",
        ),
        (
            "-r s.json -p twice.json",
            "twice.json: expected an object of tasks by their id: duplicate key \"a\"",
        ),
        (
            "-r s.json -p cut.json",
            "cut.json: expected an object of tasks by their id: EOF while parsing a list at line 2",
        ),
        (
            "-r s.json -p p.txt",
            "p.txt: expected an object of tasks, or a table",
        ),
        (
            "-r ten.json -p p.json",
            "ten.json: task \"a\": output 0: cell (0, 1) is 10",
        ),
        (
            "-r none.json -p p.json",
            "none.json: task \"b\": expected at least one test output",
        ),
        (
            "-r task.json -p p.json",
            "task.json: is a single task, {\"train\": ..., \"test\": ...}: expected {task:",
        ),
        ("-r s.json -p none", "none: cannot open"),
    ] {
        run(words).fails(3, &[says]);
    }
    for (words, says) in [
        (
            "--attempts 0",
            "--attempts \"0\": expected a whole number from 1 to 1000",
        ),
        ("--attempts 1001", "expected a whole number from 1 to 1000"),
        ("--attempts 65536", "expected a whole number from 1 to 1000"),
        ("--missing empty", "--missing goes with records"),
        ("--show nobody", "--show \"nobody\": no example has this id"),
        (
            "--show a --format json",
            "--show prints text in place of the scores: --format json does not go with it",
        ),
    ] {
        run(&format!("-r s.json -p p.json {words}")).fails(2, &[says]);
    }
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

#[test]
fn options_that_are_no_numbers() {
    let folder = Folder::new(&[("a.json", "{}")]);
    for (words, says) in [
        ("tide --iou x", "--iou \"x\": expected a number"),
        (
            "tide --max-detections -1",
            "--max-detections \"-1\": expected a non-negative integer",
        ),
        (
            "confusion-matrix --score-threshold nan",
            "--score-threshold \"nan\": expected a number",
        ),
        ("voc --iou 0,5", "--iou \"0,5\": expected a number"),
        (
            "coco --recalls 0.5,1.5",
            "--recalls: the recall is 1.5: expected 0 to 1",
        ),
        (
            "classification --labels ,",
            "--labels \",\": found \"\", expected a label",
        ),
        (
            "relaxed-accuracy --tolerance 5%",
            "--tolerance \"5%\": expected a number",
        ),
    ] {
        folder
            .run(&format!("score {words} -r a.json -p a.json"))
            .fails(2, &[says]);
    }
}

#[test]
fn pictures_of_grids() {
    let folder = arc_submission();
    let run = |words: &str| {
        folder
            .run(&format!("score arc -r s.json -p p.json {words}"))
            .code(0)
    };
    let shown = run("--show a --svg drawn").stdout;
    let expected = "a\n\
        truth 2 x 2   attempt 1: right   attempt 2: no grid\n\
        1 2           1 2\n\
        3 4           3 4\n\
        truth 1 x 3   attempt 1: 2 of 3   attempt 2: none\n\
        5 6 7         5 6 .x\n";
    assert_eq!(shown, expected);
    let one = run("--show a --attempts 1").stdout;
    assert!(one.contains("attempt 1: 2 of 3") && !one.contains("attempt 2"));
    assert!(
        run("--show all")
            .stdout
            .starts_with(&format!("{expected}\nb\n"))
    );
    assert!(
        run("--show b --color always")
            .stdout
            .contains("\x1b[38;5;231;48;5;16m0 \x1b[0m")
    );
    let names: Vec<_> = ["a", "b", "c"]
        .map(|task| read(&folder, &format!("drawn/{task}.svg")))
        .into();
    assert!(names.iter().all(|picture| picture.starts_with("<svg ")));
    assert!(names[0].contains("class=\"lacking\"") && names[0].contains("attempt 1: 2 of 3"));

    folder.put(
        "pair.jsonl",
        b"{\"id\": 7, \"reference\": [[1]], \"prediction\": [[2]]}\n",
    );
    let pair = folder
        .run("score arc --pairs pair.jsonl --show 7 --svg pairs")
        .code(0);
    assert_eq!(
        pair.stdout,
        "7\ntruth 1 x 1   attempt 1: 0 of 1\n1             2x\n"
    );
    assert!(read(&folder, "pairs/7.svg").contains("class=\"wrong\""));
    folder.put(
        "words.jsonl",
        b"{\"id\": 1, \"reference\": \"a\", \"prediction\": \"a\"}\n",
    );
    folder
        .run("score string-accuracy --pairs words.jsonl --show 1")
        .fails(2, &["--show is not an option of string-accuracy: "]);
}
