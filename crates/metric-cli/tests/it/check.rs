//! `metric check`: all problems of the data, with their numbers and locations.

use crate::common::Folder;
use serde_json::{Value, json};

/// The kinds of problems with their source and their number.
fn kinds(check: &Value) -> Vec<(String, String, u64)> {
    let problems = check["problems"].as_array().expect("a list").iter();
    let kind = |problem: &Value| {
        let text = |name: &str| problem[name].as_str().expect("a text").to_owned();
        let count = problem["count"].as_u64().expect("a count");
        (text("kind"), text("source"), count)
    };
    problems.map(kind).collect()
}

/// The findings as JSON, of data with or without problems.
#[track_caller]
fn check(folder: &Folder, words: &str) -> Value {
    let run = folder.run(&format!("check {words} --format json"));
    let check: Value = serde_json::from_str(&run.stdout).expect(&run.stderr);
    let is_fine = check["problems"] == json!([]);
    assert_eq!(check["ok"], json!(is_fine));
    run.code(if is_fine { 0 } else { 3 });
    check
}

#[track_caller]
fn expect(check: &Value, expected: &[(&str, &str, u64)]) {
    let found = kinds(check);
    let found: Vec<(&str, &str, u64)> = found
        .iter()
        .map(|(kind, source, count)| (kind.as_str(), source.as_str(), *count))
        .collect();
    assert_eq!(found, expected, "{check}");
}

const REFERENCES: &str = "\
{\"id\": 1, \"reference\": \"a b\"}
{\"id\": 2, \"reference\": 7}
not JSON
{\"id\": 3, \"reference\": \"c\"}
{\"id\": 3, \"reference\": \"d\"}
{\"id\": 4, \"reference\": \"e\"}
{\"id\": 5, \"reference\": [1]}
{\"reference\": \"no id\"}
";
const PREDICTIONS: &str = "\
{\"id\": 1, \"prediction\": \"a b\"}
{\"id\": 2, \"prediction\": \"x\"}
{\"id\": 3, \"prediction\": \"c\"}
{\"id\": 6, \"prediction\": \"f\"}
{\"id\": 4, \"prediction\": null}
{\"id\": 7, \"prediction\": \"g\"}
";

#[test]
fn all_problems_of_lines_are_listed() {
    let folder = Folder::new(&[("r.jsonl", REFERENCES), ("p.jsonl", PREDICTIONS)]);
    let found = check(&folder, "wer -r r.jsonl -p p.jsonl");
    expect(
        &found,
        &[
            ("invalid-record", "r.jsonl", 2),
            // Of id 2, and of id 5, which has no prediction.
            ("invalid-reference", "r.jsonl", 2),
            ("invalid-prediction", "p.jsonl", 1),
            ("duplicate-id", "r.jsonl", 1),
            ("missing-prediction", "r.jsonl", 1),
            ("extra-prediction", "p.jsonl", 2),
        ],
    );
    let location = |problem: usize, index: usize| &found["problems"][problem]["first"][index];
    assert_eq!(
        (&location(0, 0)["line"], &location(0, 1)["line"]),
        (&json!(3), &json!(8))
    );
    assert_eq!(location(1, 0)["line"], json!(2));
    assert_eq!(location(1, 0)["id"], json!("2"));
    assert_eq!(location(1, 0)["field"], json!("reference"));
    assert_eq!(location(2, 0)["line"], json!(5));
    assert_eq!(location(2, 0)["file"], json!("p.jsonl"));
    assert_eq!(location(3, 0)["id"], json!("3"));
    assert_eq!(
        (&location(3, 0)["line"], &location(3, 1)["line"]),
        (&json!(4), &json!(5))
    );
    assert_eq!(location(4, 0)["id"], json!("5"));
    assert_eq!(
        (&location(5, 0)["id"], &location(5, 1)["id"]),
        (&json!("6"), &json!("7"))
    );
    assert_eq!(
        found["references"],
        json!({"source": "r.jsonl", "records": 6})
    );
    assert_eq!(
        found["predictions"],
        json!({"source": "p.jsonl", "records": 6})
    );
    // 1 and 3.
    assert_eq!(
        (&found["examples"], &found["complete"]),
        (&json!(2), &json!(true))
    );

    let table = folder.run("check wer -r r.jsonl -p p.jsonl").code(3);
    for part in [
        "r.jsonl: 2 invalid records\n  r.jsonl:3: ",
        "  r.jsonl:2: id \"2\": reference: ",
        "r.jsonl: duplicate id \"3\" (lines 4, 5)",
        "use --missing empty; to leave it out, use --missing skip",
        "9 problems; wer can score 2 examples.",
    ] {
        assert!(table.stdout.contains(part), "{part}\n{}", table.stdout);
    }
    assert_eq!(table.stderr, "");
}

/// Problems are the errors of `score` under the same policy.
#[test]
fn policies_are_those_of_scores() {
    let folder = Folder::new(&[
        (
            "r.jsonl",
            "{\"id\": 1, \"reference\": \"a\"}\n{\"id\": 2, \"reference\": \"b\"}\n",
        ),
        (
            "p.jsonl",
            "{\"id\": 1, \"prediction\": \"a\"}\n{\"id\": 3, \"prediction\": \"b\"}\n",
        ),
    ]);
    let files = "wer -r r.jsonl -p p.jsonl";
    for (options, expected) in [
        ("", &["missing-prediction", "extra-prediction"][..]),
        ("--missing skip", &["extra-prediction"]),
        ("--extra ignore", &["missing-prediction"]),
        ("--missing empty --extra ignore", &[]),
    ] {
        let found = check(&folder, &format!("{files} {options}"));
        let found: Vec<String> = kinds(&found).into_iter().map(|(kind, ..)| kind).collect();
        assert_eq!(found, expected, "{options}");
        let scored = folder.run(&format!("score {files} {options}"));
        assert_eq!(scored.code, Some(if expected.is_empty() { 0 } else { 3 }));
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn csv_is_read_past_rows_that_are_invalid() {
    let folder = Folder::new(&[
        (
            "pairs.csv",
            "id,reference,prediction\n1,a,a\n2,b\n3,c,\n4,d,d\n4,e,e\n,f,f\n",
        ),
        (
            "open.csv",
            "id,reference,prediction\n1,a,a\n2,\"b,b\n3,c,c\n",
        ),
    ]);
    let found = check(&folder, "string-accuracy --pairs pairs.csv");
    expect(
        &found,
        &[
            ("invalid-record", "pairs.csv", 3),
            ("duplicate-id", "pairs.csv", 1),
        ],
    );
    let first = found["problems"][0]["first"].as_array().expect("a list");
    let locations: Vec<&str> = first
        .iter()
        .filter_map(|location| location["record"].as_str())
        .collect();
    assert_eq!(
        locations,
        [
            "line 3",
            "line 4, column 3 \"prediction\"",
            "line 7, column 1 \"id\""
        ]
    );
    let found = check(
        &folder,
        "string-accuracy --pairs pairs.csv --empty-field null",
    );
    let problems = kinds(&found);
    assert_eq!(
        problems[0],
        ("invalid-record".to_owned(), "pairs.csv".to_owned(), 2)
    );
    // Null is not a text.
    assert_eq!(problems[1].0, "invalid-prediction");
    let found = check(&folder, "string-accuracy --pairs open.csv");
    expect(&found, &[("file", "open.csv", 1)]);
    assert_eq!(
        (&found["complete"], &found["examples"]),
        (&json!(false), &json!(1))
    );
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn a_file_that_cannot_be_read_on_hides_nothing_of_the_other() {
    let folder = Folder::new(&[
        ("r.csv", "id,reference\n1,a\n2,\"b\"c\n3,d\n"),
        ("p.jsonl", "{\"id\": 1, \"prediction\": 5}\nnone\n"),
    ]);
    let found = check(&folder, "string-accuracy -r r.csv -p p.jsonl");
    // Predictions of references that were not read may be missing or not.
    expect(
        &found,
        &[
            ("file", "r.csv", 1),
            ("invalid-record", "p.jsonl", 1),
            ("invalid-prediction", "p.jsonl", 1),
        ],
    );
    let first = &found["problems"][0]["first"][0];
    assert!(
        first["record"]
            .as_str()
            .is_some_and(|it| it.starts_with("line 3")),
        "{first}"
    );
    assert_eq!(found["complete"], json!(false));
}

/// The lines of the invalid records, the number of all problems, and that of examples.
fn invalid(check: &Value) -> (Vec<u64>, u64, u64) {
    let problems = check["problems"].as_array().expect("a list");
    let records = problems
        .iter()
        .filter(|it| it["kind"] == "invalid-record")
        .flat_map(|it| it["first"].as_array().expect("a list"));
    // A record that may span lines has its first line in words.
    let line = |it: &Value| {
        let word = it["record"]
            .as_str()
            .and_then(|it| it.strip_prefix("line "));
        let worded = word.and_then(|word| word.parse().ok());
        it["line"].as_u64().or(worded).expect("a line")
    };
    let lines = records.map(line);
    let count = kinds(check).into_iter().map(|(.., count)| count).sum();
    let examples = check["examples"].as_u64().expect("a count");
    (lines.collect(), count, examples)
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn text_is_read_past_lines_that_are_not_utf8() {
    let folder = Folder::new(&[
        ("p.txt", "a\nb\nc\nd\n"),
        (
            "p.jsonl",
            "{\"id\":1,\"prediction\":\"a\"}\n{\"id\":4,\"prediction\":\"d\"}\n",
        ),
        ("p.kaldi", "k1 a\nk4 d\n"),
    ]);
    for (name, bytes) in [
        ("r.txt", &b"a\n\xff\nc\n\xe9"[..]),
        (
            "r.jsonl",
            b"{\"id\":1,\"reference\":\"a\"}\n\xe9\n{\"id\":3,\"reference\":\"\xe9\"}\r\n{\"id\":4,\"reference\":\"d\"}",
        ),
        ("r.kaldi", b"k1 a\nk2 \xe9\nk3 \xe9\nk4 d\n"),
        (
            "pairs.csv",
            b"id,reference,prediction\n1,a,a\n2,\"caf\xe9\n,\"\"x\",b\n3,\"c\nd\",c\n4,\xe9,d\n5,e,e\n",
        ),
        ("all.jsonl", b"\xe9\n\xe9\n\xe9"),
    ] {
        folder.put(name, bytes);
    }
    for (words, lines, problems, examples) in [
        // The predictions of both lines have no reference.
        ("wer -r r.txt -p p.txt", &[2, 4][..], 4, 2),
        ("wer -r r.jsonl -p p.jsonl", &[2, 3], 2, 2),
        (
            "wer -r r.kaldi -p p.kaldi --input-format kaldi",
            &[2, 3],
            2,
            2,
        ),
        // Records may span lines: the third starts at line 5.
        ("wer --pairs pairs.csv", &[3, 7], 2, 3),
        ("wer -r all.jsonl -p p.jsonl", &[1, 2, 3], 5, 0),
    ] {
        for threads in [1, 4] {
            let found = check(&folder, &format!("{words} --threads {threads}"));
            assert_eq!(
                invalid(&found),
                (lines.to_vec(), problems, examples),
                "{found}"
            );
            assert_eq!(found["complete"], json!(true), "{words}");
        }
        // A run names the first of them.
        let first = format!("{}: not UTF-8: byte 0x", lines[0]);
        folder.run(&format!("score {words}")).fails(3, &[&first]);
    }
    // Without its header, a table cannot be read.
    folder.put("head.csv", b"id,reference,pr\xe9diction\n1,a,a\n");
    let found = check(&folder, "wer --pairs head.csv");
    assert_eq!(found["complete"], json!(false));
}

#[test]
fn many_lines_that_are_not_utf8_are_counted() {
    let folder = Folder::new(&[]);
    let mut pairs = Vec::new();
    for id in 0..20_000 {
        let text: &[u8] = if id % 4 == 1 { b"\xe9" } else { b"e" };
        pairs.extend(format!("{{\"id\": {id}, \"reference\": \"").bytes());
        pairs.extend(text);
        pairs.extend(b"\", \"prediction\": \"e\"}\n");
    }
    folder.put("pairs.jsonl", &pairs);
    let found = check(&folder, "string-accuracy --pairs pairs.jsonl");
    expect(&found, &[("invalid-record", "pairs.jsonl", 5000)]);
    assert_eq!(invalid(&found).0, [2, 6, 10, 14, 18]);
    assert_eq!(found["examples"], json!(15_000));
}

/// One of several files that cannot be read hides nothing of the others.
#[test]
fn files_of_a_folder_are_checked_past_one_that_is_malformed() {
    let frame = r#"{"lane_centerline": [], "traffic_element": [], "topology_lclc": [], "topology_lcte": []}"#;
    let folder = Folder::new(&[]);
    let of_id = |id: u32, frame: &str| format!("{{\"{id}\": {frame}}}");
    let files = [
        ("gt/1.json", of_id(1, frame)),
        ("gt/2.json", "{\"2\": {\"lane_centerline\"".to_owned()),
        ("gt/3.json", of_id(3, "{\"lane_centerline\": 5}")),
        ("gt/4.json", "{\"4\":".to_owned()),
        ("gt/5.json", of_id(5, frame)),
        ("p/1.json", of_id(1, frame)),
        ("p/3.json", of_id(3, frame)),
        ("p/5.json", of_id(5, "7")),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    put_all(&folder, &files);
    let found = check(&folder, "openlane -r gt -p p");
    expect(
        &found,
        &[
            ("file", "gt/2.json", 1),
            ("file", "gt/4.json", 1),
            ("invalid-reference", "gt", 1),
            ("invalid-prediction", "p", 1),
        ],
    );
    // The two malformed files may hold anything.
    assert_eq!(
        (&found["complete"], &found["examples"]),
        (&json!(false), &json!(1))
    );
}

#[test]
fn lists_and_maps_of_json_are_checked() {
    let folder = Folder::new(&[
        (
            "r.json",
            "[{\"id\": \"a\", \"reference\": \"x\"},\n{\"id\": \"b\"},\n{\"id\": \"c\", \"reference\": 3}]",
        ),
        ("p.json", "{\"a\": \"x\",\n\"c\": null,\n\"d\": \"y\"}"),
        ("broken.json", "{\"a\": \"x\",\n\"c\"}"),
    ]);
    let found = check(&folder, "exact-match -r r.json -p p.json");
    expect(
        &found,
        &[
            // Both sides of c.
            ("invalid-record", "r.json", 1),
            ("invalid-reference", "r.json", 1),
            ("invalid-prediction", "p.json", 1),
            ("extra-prediction", "p.json", 1),
        ],
    );
    let found = check(&folder, "exact-match -r r.json -p broken.json");
    expect(
        &found,
        &[
            ("file", "broken.json", 1),
            ("invalid-record", "r.json", 1),
            ("invalid-reference", "r.json", 1),
        ],
    );
}

#[cfg(feature = "parquet")]
#[test]
fn two_files_that_cannot_be_opened_are_two_problems() {
    let folder = Folder::new(&[("r.parquet", "no Parquet"), ("p.parquet", "none either")]);
    let found = check(&folder, "exact-match -r r.parquet -p p.parquet");
    expect(
        &found,
        &[("file", "p.parquet", 1), ("file", "r.parquet", 1)],
    );
    assert_eq!(found["complete"], json!(false));
}

/// Parts of the files are read at the same time, in another order than their ids.
#[test]
fn many_records_are_checked_alike_on_any_number_of_threads() {
    let mut references = String::new();
    let mut predictions = String::new();
    for id in 0..20_000 {
        let reference = match id % 1000 {
            0 => json!({"id": id, "reference": id}),
            1 => json!({"id": id}),
            _ => json!({"id": id, "reference": id.to_string()}),
        };
        references.push_str(&format!("{reference}\n"));
        // The order differs.
        let id = 19_999 - id;
        let prediction = match id % 1000 {
            2 => json!({"id": id, "prediction": id}),
            _ => json!({"id": id, "prediction": id.to_string()}),
        };
        predictions.push_str(&format!("{prediction}\n"));
    }
    let folder = Folder::new(&[("r.jsonl", &references), ("p.jsonl", &predictions)]);
    let words = "string-accuracy -r r.jsonl -p p.jsonl --threads";
    let one = check(&folder, &format!("{words} 1"));
    expect(
        &one,
        &[
            ("invalid-record", "r.jsonl", 20),
            ("invalid-reference", "r.jsonl", 20),
            ("invalid-prediction", "p.jsonl", 20),
            ("extra-prediction", "p.jsonl", 20),
        ],
    );
    assert_eq!(one["examples"], json!(19_940));
    let four = check(&folder, &format!("{words} 4"));
    assert_eq!(four, one);
}

#[test]
fn dataset_files_are_read_past_their_problems() {
    let references = json!({
        "images": [{"id": 1, "width": 100, "height": 100}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "area": 100, "iscrowd": 0},
            {"id": 2, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10], "area": 100, "iscrowd": 0},
            {"id": 3, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "area": 100, "iscrowd": 0},
            {"id": 4, "image_id": 1, "category_id": 1, "bbox": "none", "area": 100, "iscrowd": 0},
        ],
    });
    let predictions = json!([
        {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 0.5},
        {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]},
        {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "score": "high"},
    ]);
    let folder = Folder::new(&[
        ("r.json", &references.to_string()),
        ("p.json", &predictions.to_string()),
        ("bad.json", "{\"images\": [}"),
    ]);
    let found = check(&folder, "coco -r r.json -p p.json");
    expect(
        &found,
        &[
            ("invalid-reference", "r.json", 2),
            ("invalid-prediction", "p.json", 2),
        ],
    );
    let record = |problem: usize, index: usize| {
        let location = &found["problems"][problem]["first"][index];
        location["record"].as_str().expect("a record")
    };
    assert_eq!(
        [record(0, 0), record(0, 1)],
        ["annotations[1]", "annotations[3]"]
    );
    assert_eq!([record(1, 0), record(1, 1)], ["[1]", "[2]"]);
    assert_eq!(found["complete"], json!(true));
    let found = check(&folder, "coco -r bad.json -p p.json");
    assert_eq!(kinds(&found)[0].0, "file");
    assert_eq!(found["complete"], json!(false));
}

/// All data of the demo can be scored, and checks say so.
#[test]
fn the_samples_have_no_problems() {
    let folder = Folder::new(&[]);
    let demo = folder.run("demo --save samples").code(0);
    let lines = demo.stdout.lines();
    let commands = lines.filter_map(|line| line.trim().strip_prefix("metric score "));
    let mut count = 0;
    for command in commands {
        let found = check(&folder, command);
        assert_eq!(found["problems"], json!([]), "{command}");
        let scored = folder.run(&format!("score {command} --format json --quiet"));
        let scored = scored.json();
        assert_eq!(found["examples"], scored["examples"], "{command}");
        assert_eq!(found["warnings"], scored["warnings"], "{command}");
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn requests_that_make_no_sense_are_usage_errors() {
    let folder = Folder::new(&[("r.jsonl", "")]);
    for (words, code, says) in [
        ("check", 2, "METRIC"),
        ("check wre -r r.jsonl -p r.jsonl", 2, "did you mean wer?"),
        ("check wer r.jsonl", 2, "files are given with -r"),
        ("check wer -r r.jsonl -p r.jsonl --lang java", 2, "codebleu"),
        ("check wer -r none.jsonl -p r.jsonl", 3, "none.jsonl"),
        ("check wer -r - -p -", 2, "can be standard input"),
    ] {
        folder.run(words).fails(code, &[says]);
    }
    let neither = folder.run("check wer -r none.jsonl -p nor.jsonl");
    neither.fails(3, &["none.jsonl: cannot open", "nor.jsonl: cannot open"]);
    let empty = folder.run("check wer -r r.jsonl -p r.jsonl").code(3);
    assert!(empty.stdout.contains("has no records"), "{}", empty.stdout);
}

/// The text that a check prints, which must have read all files to their ends.
fn printed(folder: &Folder, words: &str) -> String {
    let run = folder.run(&format!("check {words}"));
    assert!(
        !run.stdout.contains("was not read to its end"),
        "{}",
        run.stdout
    );
    run.code(3).stdout
}

fn put_all(folder: &Folder, files: &[(&str, &str)]) {
    for (name, text) in files {
        let parent = folder.path(name).parent().expect("a folder").to_owned();
        std::fs::create_dir_all(parent).expect("a folder");
        folder.put(name, text.as_bytes());
    }
}

#[test]
#[cfg(unix)]
fn folders_keep_their_format_and_classes_without_their_invalid_lines() {
    let folder = Folder::new(&[]);
    put_all(
        &folder,
        &[
            ("truth/a.txt", "red car 50 80 90 20"),
            ("found/a.txt", "red car 0.8 50 20 90 80"),
        ],
    );
    let found = check(&folder, "voc -r truth -p found");
    expect(&found, &[("invalid-reference", "truth", 1)]);
    // A warning about the rest would say that the class has no object.
    assert_eq!(found["warnings"], json!([]));
}

#[test]
#[cfg(unix)]
fn folders_are_checked_past_their_first_problem() {
    let folder = Folder::new(&[]);
    let files = [
        (
            "gt/a.txt",
            "0 0.5 0.5 0.2 0.2\n0 x 0.5 0.2 0.2\n0 0.5 0.5 0.2 y\n",
        ),
        ("gt/b.txt", "0 0.5 0.5 0.2\n"),
        ("gt/c.txt", "0 0.5 0.5 0.2 0.2\n"),
        ("dt/a.txt", "0 0.5 0.5 0.2 0.2 0.9\n0 0.5 0.5 9 0.2 0.9\n"),
        ("dt/b.txt", "0 0.5 0.5 0.2 0.2 nan\n"),
        ("dt/z.txt", "0 0.5 0.5 0.2 0.2 0.9\n"),
        (
            "xml/a.xml",
            "<annotation><object><name>dog</name><bndbox><xmin>1</xmin></bndbox></object>\n<object><bndbox/></object></annotation>",
        ),
        ("xml/b.xml", "<annotation"),
        ("voc/a.txt", "dog 0.9 1 2 3\ncat 0.9 1 2 3 x\n"),
    ];
    put_all(&folder, &files);
    let yolo = printed(&folder, "detection -r gt -p dt");
    for problem in [
        "gt/a.txt:2: cx: found \"x\", expected a finite number",
        "gt/a.txt:3: height: found \"y\", expected a finite number",
        "gt/b.txt:1: found 4 numbers, expected 5: class cx cy width height",
        "dt/a.txt:2: width: found 9, expected a fraction of the image, 0 to 2",
        "dt/b.txt:1: confidence: found \"nan\", expected a finite number",
        "dt/z.txt: found \"z\", expected an image that has a truth file",
        "6 problems; detection can score 2 examples.",
    ] {
        assert!(yolo.contains(problem), "{problem} is not in\n{yolo}");
    }
    let voc = printed(&folder, "voc -r xml -p voc");
    for problem in [
        "xml/a.xml: object[0]: bndbox.ymin: ",
        "xml/a.xml: object[1]: ",
        "xml/b.xml: ",
        "voc/a.txt:1: found 5 words, expected 6",
        "voc/a.txt:2: ymax: found \"x\", expected a finite number",
        "5 problems; voc can score 2 examples.",
    ] {
        assert!(voc.contains(problem), "{problem} is not in\n{voc}");
    }
    // The given files are as they were.
    for (name, text) in files {
        let found = std::fs::read_to_string(folder.path(name)).expect("a file");
        assert_eq!(found, text, "{name}");
    }
}

#[test]
fn questions_are_checked_past_their_first_problem() {
    let folder = Folder::new(&[
        (
            "squad.json",
            r#"{"version":"1.1","data":[{"title":"t","paragraphs":[{"context":"c","qas":[
{"id":"1","question":"q","answers":[{"text":"a","answer_start":0}]},
{"id":"2","question":"q"},
{"id":"3","question":"q","answers":[{"txt":"a","answer_start":0}]},
{"question":"q","answers":[{"text":"a","answer_start":0}]}]}]}]}"#,
        ),
        ("answers.json", r#"{"1":"a","2":"b","3":5,"9":"x"}"#),
        (
            "vqa.json",
            r#"{"annotations":[{"question_id":1,"answers":[{"answer":"red","answer_id":1}]},
{"question_id":2,"answers":"x"},
{"answers":[]},
{"question_id":4,"answers":[{"answer":5}]}]}"#,
        ),
        (
            "results.json",
            r#"[{"question_id":1,"answer":"red"},{"question_id":2},{"question_id":9,"answer":"x"},{"question_id":1,"answer":"red"}]"#,
        ),
    ]);
    let squad = printed(&folder, "squad -r squad.json -p answers.json");
    for problem in [
        "squad.json: 3 references cannot be read",
        "question \"2\": no field \"answers\" at line 3 column 25",
        "no field \"text\" at line 4 column ",
        "a question without \"id\" at line 5 column ",
        "answers.json: 1 prediction cannot be read",
        "found the number `5`, expected a string at line 1 column 22",
        // 2 and 3 have references, which cannot be read.
        "no reference for 1 prediction of answers.json: id \"9\"",
        "5 problems; squad can score 1 example.",
    ] {
        assert!(squad.contains(problem), "{problem} is not in\n{squad}");
    }
    let vqa = printed(&folder, "vqa -r vqa.json -p results.json");
    for problem in [
        "vqa.json: 3 references cannot be read",
        "found the string \"x\", expected a list of answers at line 2 column ",
        "a question without \"question_id\" at line 3 column ",
        "found the number `5`, expected a string at line 4 column ",
        "results.json: 2 predictions cannot be read",
        "no field `answer` at line 1 column 51",
        "duplicate id \"1\" at line 1 column 116",
        "id \"9\"",
        "6 problems; vqa can score 1 example.",
    ] {
        assert!(vqa.contains(problem), "{problem} is not in\n{vqa}");
    }
}

/// What cannot be scored is not counted, in dataset files as in records.
#[test]
fn examples_that_can_be_scored_in_dataset_files() {
    let folder = Folder::new(&[
        (
            "d.json",
            r#"{"data": [{"paragraphs": [{"qas": [{"id": "a", "answers": [{"text": "x"}]}, {"id": "b", "answers": [{"text": "y"}]}, {"id": "c", "answers": [{"text": "z"}]}]}]}]}"#,
        ),
        ("p.json", r#"{"a": "x", "e": "y"}"#),
        ("p7.json", r#"{"a": "x", "b": 7, "c": "z"}"#),
        ("sol.json", r#"{"t1": [[[1]], [[2]]], "t2": [[[1, 2]]]}"#),
        (
            "sub.json",
            r#"{"t1": [{"attempt_1": [[1]]}, {"attempt_1": "x"}], "t2": [{"attempt_1": [[1, 2]]}]}"#,
        ),
    ]);
    for (words, problems, examples) in [
        (
            "squad -r d.json -p p.json",
            &[
                ("missing-prediction", "d.json", 2),
                ("extra-prediction", "p.json", 1),
            ][..],
            1,
        ),
        (
            "squad -r d.json -p p7.json",
            &[("invalid-prediction", "p7.json", 1)],
            2,
        ),
        (
            "arc --strict -r sol.json -p sub.json",
            &[("invalid-prediction", "sub.json", 1)],
            1,
        ),
        ("arc -r sol.json -p sub.json", &[], 3),
    ] {
        let found = check(&folder, words);
        expect(&found, problems);
        assert_eq!(found["examples"], json!(examples), "{found}");
    }
}

#[test]
fn fields_of_slices_are_checked() {
    let folder = Folder::new(&[
        (
            "a.jsonl",
            "{\"id\":1,\"reference\":\"a\",\"prediction\":\"a\",\"kind\":\"x\",\"length\":3}\n{\"id\":2,\"reference\":\"a\",\"prediction\":\"a\",\"length\":\"long\"}\n",
        ),
        ("map.json", "{\"1\": \"a\"}"),
    ]);
    let words = "exact-match --pairs a.jsonl";
    for (slices, problems) in [
        ("", &[][..]),
        ("--slice-field kind", &[("invalid-reference", "a.jsonl", 1)]),
        (
            "--slice-bins length:0,2",
            &[("invalid-reference", "a.jsonl", 1)],
        ),
        ("--slice-field length", &[]),
    ] {
        expect(&check(&folder, &format!("{words} {slices}")), problems);
    }
    folder
        .run("check exact-match -r a.jsonl -p a.jsonl --references-format text --slice-field kind")
        .fails(2, &["--slice-field kind", "have no fields"]);
}
