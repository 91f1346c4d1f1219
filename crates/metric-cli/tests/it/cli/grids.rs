//! Grids and submissions to the ARC Prize.

use serde_json::{Value, json};

use super::read;
use crate::common::Folder;

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

/// A grid that is written as a text is named, wherever it is.
#[test]
fn grids_that_are_texts() {
    let folder = Folder::new(&[
        (
            "pairs.jsonl",
            "{\"id\":1,\"reference\":[[0]],\"prediction\":\"[[0]]\"}\n{\"id\":2,\"reference\":[[0]],\"prediction\":[[99]]}\n",
        ),
        (
            "tasks.jsonl",
            "{\"id\":1,\"reference\":[[[0]]],\"prediction\":[{\"attempt_1\":\"[[0]]\"}]}\n{\"id\":2,\"reference\":[[[0]]],\"prediction\":[{\"attempt_1\":null}]}\n",
        ),
        ("r.json", "{\"1\": [[[0]]], \"2\": [[[0]]]}"),
        (
            "p.json",
            "{\"1\": [{\"attempt_1\": \"0\"}], \"2\": [{\"attempt_1\": [[0]]}]}",
        ),
    ]);
    let warning = "1 prediction has a string where a grid is expected, a list of rows such as [[1, 2], [3, 4]]: \"1\"";
    for words in [
        "--pairs pairs.jsonl",
        "--pairs tasks.jsonl",
        "-r r.json -p p.json",
    ] {
        let run = folder.run(&format!("score arc {words}")).code(0);
        assert!(run.stderr.contains(warning), "{words}: {}", run.stderr);
    }
}
