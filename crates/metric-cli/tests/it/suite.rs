//! `metric run`: suites, their files, limits, and what is said to whom.

use crate::common::suites;
use crate::common::zip;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::Folder;
use serde_json::{Value, json};
use suites::{GOOD, SECRETS, SUITE};
use zip::{Entry, archive};

/// A suite of one task of texts, with lines in its table.
fn one(lines: &str) -> String {
    format!(
        "name = \"One\"\ntotal = {{ rule = \"sum\", of = [\"t.exact_match\"] }}\n\n[[task]]\nname = \"t\"\nmetric = \"exact-match\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n{lines}\n"
    )
}

/// A folder with that suite, four references, and a submission `s` with two correct predictions of four.
fn folder_of(suite: &str) -> Folder {
    let folder = Folder::new(&[("suite.toml", suite)]);
    let rows = |field: &str, values: [&str; 4]| -> String {
        let row = |(id, value)| format!("{{\"id\": {id}, \"{field}\": \"{value}\"}}\n");
        values.iter().enumerate().map(row).collect()
    };
    folder.put(
        "r.jsonl",
        rows("reference", ["a", "b", "c", "d"]).as_bytes(),
    );
    fs::create_dir(folder.path("s")).expect("a folder");
    folder.put(
        "s/p.jsonl",
        rows("prediction", ["a", "b", "x", "y"]).as_bytes(),
    );
    folder
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn the_example_runs_as_it_says() {
    let folder = Folder::new(&[]);
    let said = folder.run("run --init").code(0).stdout;
    assert!(
        said.contains("metric run suite.toml --predictions submission"),
        "{said}"
    );
    let outcome = folder
        .run("run suite.toml --predictions submission --format json")
        .code(0)
        .json();
    // 2 of 4 capitals, one of which is missing, and 3 of 4 days.
    assert_eq!(outcome["total"], json!((0.5 + 0.75) / 2.0));
    assert_eq!(outcome["suite"], "Example");
    folder.run("run --init").fails(2, &["suite.toml exists"]);
    folder.run("run x/y.toml --init").code(0);
    folder.run("run x/y.toml -p x/submission").code(0);
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn results_are_those_of_score() {
    let folder = suites::folder();
    let outcome = folder
        .run("run suite.toml -p good --format json")
        .code(0)
        .stdout;
    for (task, metric, files, options) in [
        ("words", "string-accuracy", "words.jsonl", ""),
        ("labels", "classification", "labels.csv", "--groups class"),
        ("boxes", "coco", "boxes.json", ""),
        ("code", "codebleu", "code.jsonl", "--lang java"),
    ] {
        let score =
            format!("score {metric} -r vaulted/{files} -p good/{files} {options} -q --format json");
        let score = folder.run(&score).code(0).stdout;
        let expected = format!(
            "\"{task}\":{{\"status\":\"ok\",\"result\":{}}}",
            score.trim_end()
        );
        assert!(outcome.contains(&expected), "{task}: {outcome}\n{expected}");
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn archives_give_what_folders_give() {
    let folder = suites::folder();
    let expected = folder
        .run("run suite.toml -p good --format json")
        .code(0)
        .stdout;
    let entries = |prefix: &str| -> Vec<Entry> {
        let entry = |(name, text): (&str, &str)| {
            Entry::deflated(&format!("{prefix}{name}"), text.as_bytes())
        };
        GOOD.into_iter().map(entry).collect()
    };
    let system = Entry::stored("__MACOSX/._words.jsonl", b"x");
    let with = |entries: Vec<Entry>, folder: &str| {
        let folder = Entry::stored(folder, b"");
        std::iter::once(folder).chain(entries).collect()
    };
    for (name, entries) in [
        ("flat.zip", entries("")),
        ("inner.zip", entries("my model/")),
        // As programs write a folder that they are given as ".".
        ("here.zip", with(entries("./"), "./")),
        (
            "here-inner.zip",
            with(entries("./my model/"), "./my model/"),
        ),
        // As old programs of Windows do.
        ("windows.zip", with(entries(r"my model\"), r"my model\")),
        (
            "mac.zip",
            entries("my model/").into_iter().chain([system]).collect(),
        ),
    ] {
        folder.put(name, &archive(&entries));
        let run = folder.run(&format!("run suite.toml -p {name} --format json"));
        assert_eq!(run.code(0).stdout, expected, "{name}");
    }
    // The only folder in a folder is taken as well.
    fs::create_dir(folder.path("outer")).expect("a folder");
    fs::rename(folder.path("good"), folder.path("outer/good")).expect("a folder");
    let run = folder.run("run suite.toml -p outer --format json");
    assert_eq!(run.code(0).stdout, expected);

    let bytes = archive(&entries(""));
    let file = folder.put("piped.zip", &bytes);
    let piped = folder
        .command("run suite.toml -p - --format json")
        .stdin(fs::File::open(file).expect("a file"))
        .output()
        .expect("the program runs");
    assert_eq!(String::from_utf8(piped.stdout).expect("text"), expected);
}

#[test]
fn missing_files_may_be_elsewhere_in_the_archive() {
    let folder = folder_of(&one(""));
    let predictions = fs::read(folder.path("s/p.jsonl")).expect("a file");
    for (name, has) in [
        ("my model/p.jsonl", ", which has my model/p.jsonl"),
        ("p.jsonl.gz", ", which has p.jsonl.gz"),
        ("__MACOSX/p.jsonl", ""),
        ("other-p.jsonl", ""),
    ] {
        let entries = [
            Entry::stored("README.md", b"A model."),
            Entry::stored(name, &predictions),
        ];
        folder.put("s.zip", &archive(&entries));
        let outcome = folder
            .run("run suite.toml -p s.zip --format json")
            .code(0)
            .json();
        let reason = format!("p.jsonl: not in the submission{has}");
        assert_eq!(
            outcome["tasks"]["t"],
            json!({"status": "missing", "reason": reason})
        );
    }
}

/// The competition's own samples, where they are present: each score as the single command gives it, and as the
/// competition's programs print it.
#[test]
#[allow(clippy::too_many_lines, reason = "the four tasks, one after the other")]
fn the_four_samples_of_the_challenge() {
    let samples =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/fusion-brain");
    let Ok(samples) = samples.canonicalize() else {
        return;
    };
    let tasks = [
        (
            "htr",
            "HTR",
            "string-accuracy",
            "string_accuracy",
            vec![("missing", "empty")],
            0.5,
        ),
        (
            "vqa",
            "VQA",
            "vqa",
            "accuracy",
            vec![("profile", "fusion-brain-2021")],
            2.0 / 12.0,
        ),
        (
            "zsod",
            "zsOD",
            "detection",
            "f1",
            vec![("profile", "fusion-brain-2021")],
            0.0952,
        ),
        (
            "c2c",
            "C2C",
            "codebleu",
            "codebleu",
            vec![("profile", "fusion-brain-2021"), ("lang", "python")],
            f64::NAN,
        ),
    ];
    let of: Vec<String> = tasks
        .iter()
        .map(|(task, _, _, score, ..)| format!("\"{task}.{score}\""))
        .collect();
    let mut suite = format!(
        "name = \"Fusion Brain\"\ntotal = {{ rule = \"sum\", of = [{}] }}\n",
        of.join(", ")
    );
    for (task, file, metric, _, options, _) in &tasks {
        let options: Vec<String> = options
            .iter()
            .map(|(name, value)| format!("{name} = \"{value}\""))
            .collect();
        suite.push_str(&format!(
            "[[task]]\nname = \"{task}\"\nmetric = \"{metric}\"\nreferences = \"{}\"\npredictions = \"prediction_{file}.json\"\noptions = {{ {} }}\n",
            samples.join(format!("true_{file}.json")).display(),
            options.join(", "),
        ));
    }
    let folder = Folder::new(&[("suite.toml", &suite)]);
    let mut entries = Vec::new();
    for (_, file, ..) in &tasks {
        let name = format!("prediction_{file}.json");
        let bytes = fs::read(samples.join(&name)).expect("a sample");
        entries.push(Entry::deflated(&name, &bytes));
    }
    folder.put("s.zip", &archive(&entries));
    let run = |predictions: &str| {
        let words = [
            "run",
            "suite.toml",
            "--format",
            "json",
            "-q",
            "-p",
            predictions,
        ];
        let output = folder
            .command("")
            .args(words)
            .output()
            .expect("the program runs");
        crate::common::Run::new("run", output).code(0).stdout
    };
    let from_folder = run(&samples.display().to_string());
    assert_eq!(run("s.zip"), from_folder);
    let outcome: Value = serde_json::from_str(&from_folder).expect("JSON");
    let mut sum = 0.0;
    for (task, file, metric, score, options, expected) in &tasks {
        let files = ["true", "prediction"].map(|side| samples.join(format!("{side}_{file}.json")));
        let mut command = folder.command(&format!("score {metric} -q --format json"));
        command.arg("-r").arg(&files[0]).arg("-p").arg(&files[1]);
        for (name, value) in options {
            command.arg(format!("--{name}")).arg(value);
        }
        let single = crate::common::Run::new(metric, command.output().expect("the program runs"))
            .code(0)
            .stdout;
        let expected_part = format!(
            "\"{task}\":{{\"status\":\"ok\",\"result\":{}}}",
            single.trim_end()
        );
        assert!(
            from_folder.contains(&expected_part),
            "{task}: {from_folder}\n{single}"
        );
        let value = outcome["tasks"][task]["result"]["scores"][score]
            .as_f64()
            .expect("a score");
        assert!(
            expected.is_nan() || (value - expected).abs() < 5e-4,
            "{task}: {value}"
        );
        sum += value;
    }
    assert_eq!(outcome["total"].as_f64(), Some(sum));
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn mistakes_in_the_file_have_a_line() {
    for (suite, says) in [
        ("name = 1\n".to_owned(), "suite.toml:1: "),
        ("name = \"x\"\n".to_owned(), "suite.toml:1: no tasks"),
        (
            one("refs = 1"),
            "suite.toml:9: unknown key `refs`, expected one of",
        ),
        (
            one("options = { ignor-case = true }"),
            "suite.toml:9: task \"t\": unknown option \"ignor-case\" of exact-match (did you mean ignore-case?)",
        ),
        (
            one("options = { ignore-case = \"yes\" }"),
            "suite.toml:9: task \"t\": ignore-case: expected true or false",
        ),
        (
            one("missing = \"maybe\""),
            "suite.toml:9: task \"t\": missing \"maybe\": expected one of error, empty, skip",
        ),
        (
            one("sha256 = \"12\""),
            "suite.toml:9: task \"t\": sha256: expected 64 hexadecimal digits",
        ),
        (one("limits = { seconds = 0 }"), "suite.toml:9: "),
        (
            one("limits = { memory = \"much\" }"),
            "expected a size such as",
        ),
        (
            one("on-failure = \"zero\""),
            "expected a finite number or \"fail\"",
        ),
        (
            one("").replace("exact-match", "exakt-match"),
            "suite.toml:6: task \"t\": metric: no metric \"exakt-match\"",
        ),
        (
            one("").replace("t.exact_match", "t.f1"),
            "suite.toml:2: total: \"t.f1\": exact-match has no such score: expected one of exact_match",
        ),
        (
            one("").replace("t.exact_match", "u.exact_match"),
            "suite.toml:2: total: \"u.exact_match\": no task \"u\": expected one of t",
        ),
        (
            one("").replace("\"p.jsonl\"", "\"../p.jsonl\""),
            "suite.toml:8: task \"t\": predictions: expected a path inside the submission",
        ),
        (
            one("").replace("\"p.jsonl\"", "\"/p.jsonl\""),
            "expected a path inside the submission",
        ),
        (
            one("").replace("\"p.jsonl\"", "\"*.jsonl\""),
            "suite.toml:8: task \"t\": predictions: expected a path inside the submission",
        ),
        (
            one("").replace("name = \"t\"", "name = \"a task\""),
            "suite.toml:5: name: expected letters",
        ),
        (
            one("").replace("\"sum\"", "\"weighted\""),
            "suite.toml:2: total: rule \"weighted\" needs weights",
        ),
        (
            one("").replace("] }", "], weights = [1] }"),
            "suite.toml:2: total: weights go with rule = \"weighted\"",
        ),
        (
            one("")
                .replace("\"sum\"", "\"weighted\"")
                .replace("] }", "], weights = [0] }"),
            "suite.toml:2: total: weights: expected 1 positive number\n",
        ),
        (
            one("").replace("r.jsonl", "none.jsonl"),
            "task \"t\": references: none.jsonl",
        ),
        (
            one(&format!("sha256 = \"{}\"", "0".repeat(64))),
            "task \"t\": r.jsonl: the references have changed: expected SHA-256 0000",
        ),
        (
            one("\n[split]\nfield = \"a\"\npublic-ids = [\"1\"]"),
            "split: expected either field or public-ids",
        ),
    ] {
        let folder = folder_of(&suite);
        folder.run("run suite.toml -p s").fails(3, &[says]);
        folder.run("run suite.toml --dry-run").fails(3, &[says]);
    }
}

#[test]
fn scores_of_different_directions_have_no_total() {
    let error = "[[task]]\nname = \"e\"\nmetric = \"wer\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n";
    let suite = one(error).replace("[\"t.exact_match\"]", "[\"t.exact_match\", \"e.wer\"]");
    let says = "suite.toml:2: total: scores of different directions: t.exact_match is better if higher, e.wer is better if lower";
    folder_of(&suite)
        .run("run suite.toml -p s")
        .fails(2, &[says]);
}

#[test]
fn references_are_the_organizers() {
    // Bad references are never the fault of the submission, and are found without one.
    let folder = folder_of(&one(""));
    for (references, says) in [
        (
            "{\"id\": 0, \"reference\": \"a\"}\n{\"id\": 1, \"reference\": [[1]]}\n",
            "suite.toml:4: task \"t\": r.jsonl:2",
        ),
        (
            "{\"id\": 0, \"reference\": \"a\"}\n{\"id\": 1,\n",
            "suite.toml:4: task \"t\": r.jsonl:2",
        ),
        ("\n", "suite.toml:4: task \"t\": r.jsonl: has no records"),
        (
            "{\"id\": 0, \"reference\": \"a\"}\n{\"id\": 0, \"reference\": \"a\"}\n",
            "suite.toml:4: task \"t\": r.jsonl: duplicate id",
        ),
    ] {
        folder.put("r.jsonl", references.as_bytes());
        folder.run("run suite.toml -p s").fails(3, &[says]);
        folder.run("run suite.toml --dry-run").fails(3, &[says]);
    }
    // Participants only hear that something is wrong; the log says what.
    let run = folder
        .run("run suite.toml -p s --private --log log.jsonl")
        .code(3);
    assert_eq!(
        run.stderr,
        "error: the suite cannot be scored; the log says why\n"
    );
    let log = fs::read_to_string(folder.path("log.jsonl")).expect("a log");
    assert!(log.contains("r.jsonl: duplicate id"), "{log}");
}

#[test]
fn files_of_options_are_the_organizers() {
    let suite = "name = \"x\"\n[[task]]\nname = \"t\"\nmetric = \"vqa\"\nreferences = \"samples/vqa-annotations.json\"\npredictions = \"vqa-results.json\"\noptions = { profile = \"vqa-v2\", questions = \"q.json\" }\n";
    let folder = folder_of(suite);
    folder.run("demo --save samples").code(0);
    let cannot_open = "error: suite.toml:2: task \"t\": questions: q.json: cannot open";
    folder
        .run("run suite.toml -p samples")
        .fails(3, &[cannot_open]);
    folder
        .run("run suite.toml --dry-run")
        .fails(3, &[cannot_open]);
    folder.put("q.json", b"{bad");
    let malformed = "error: suite.toml:2: task \"t\": q.json: ";
    folder
        .run("run suite.toml -p samples")
        .fails(3, &[malformed]);
    folder
        .run("run suite.toml --dry-run")
        .fails(3, &[malformed]);
    folder
        .run("run suite.toml -p samples --private")
        .fails(3, &["the suite cannot be scored"]);
    let text = fs::read_to_string(folder.path("samples/vqa-annotations.json")).expect("a file");
    let annotations: Value = serde_json::from_str(&text).expect("JSON");
    let annotations = annotations["annotations"].as_array().expect("a list");
    let question = |of: &Value| json!({"question_id": of["question_id"], "image_id": of["image_id"], "question": "What?"});
    let questions: Vec<Value> = annotations.iter().map(question).collect();
    folder.put(
        "q.json",
        json!({ "questions": questions }).to_string().as_bytes(),
    );
    folder.run("run suite.toml --dry-run").code(0);
    let outcome = folder
        .run("run suite.toml -p samples --format json")
        .code(0)
        .json();
    assert_eq!(outcome["tasks"]["t"]["status"], "ok", "{outcome}");
}

#[test]
fn predictions_are_not_the_organizers() {
    // There are too few scores for the label, and the metric's error is about the label.
    let suite = "name = \"x\"\n[[task]]\nname = \"t\"\nmetric = \"accuracy-at-k\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\noptions = { input = \"scores\" }\n";
    let folder = folder_of(suite);
    folder.put(
        "r.jsonl",
        b"{\"id\": 0, \"reference\": 2}\n{\"id\": 1, \"reference\": 1}\n",
    );
    folder.put(
        "s/p.jsonl",
        b"{\"id\": 0, \"prediction\": [0.1]}\n{\"id\": 1, \"prediction\": [0.1]}\n",
    );
    let outcome = folder
        .run("run suite.toml -p s --format json")
        .code(0)
        .json();
    assert_eq!(outcome["tasks"]["t"]["status"], "failed", "{outcome}");
    // Nothing of what was left out is scored.
    folder.put(
        "suite.toml",
        suite
            .replace("options", "missing = \"skip\"\noptions")
            .as_bytes(),
    );
    folder.put("s/p.jsonl", b"\n");
    let outcome = folder
        .run("run suite.toml -p s --format json")
        .code(0)
        .json();
    assert_eq!(outcome["tasks"]["t"]["status"], "failed", "{outcome}");
    // This label is wrong whatever is predicted.
    folder.put("suite.toml", suite.as_bytes());
    folder.put("s/p.jsonl", b"{\"id\": 0, \"prediction\": [0.1]}\n");
    folder.put("r.jsonl", b"{\"id\": 0, \"reference\": \"two\"}\n");
    folder.run("run suite.toml -p s").fails(3, &["r.jsonl:1"]);
}

#[test]
fn totals_follow_their_rule() {
    // exact_match is 0.5, and accuracy 0.75.
    let second = "[[task]]\nname = \"u\"\nmetric = \"string-accuracy\"\nreferences = \"r.jsonl\"\npredictions = \"q.jsonl\"\n";
    let of = "[\"t.exact_match\", \"u.string_accuracy\"]";
    let suite = one(second).replace("[\"t.exact_match\"]", of);
    let three = r#"{"id": 0, "prediction": "a"}
{"id": 1, "prediction": "b"}
{"id": 2, "prediction": "c"}
{"id": 3, "prediction": "x"}
"#;
    for (rule, expected) in [
        ("\"sum\"", 1.25),
        ("\"mean\"", 0.625),
        ("\"weighted\", weights = [3, 1]", 0.5625),
    ] {
        let folder = folder_of(&suite.replace("\"sum\"", rule));
        folder.put("s/q.jsonl", three.as_bytes());
        let outcome = folder
            .run("run suite.toml -p s --format json")
            .code(0)
            .json();
        assert_eq!(outcome["total"], json!(expected), "{rule}");
        assert_eq!(outcome["warnings"], json!([]));
    }
    // A task that fails counts with the score that the suite states, or there is no total.
    for (line, expected) in [
        ("", json!(null)),
        ("on-failure = 0.25", json!(0.75)),
        ("on-failure = \"fail\"", json!(null)),
    ] {
        let folder = folder_of(&(suite.clone() + line + "\n"));
        let run = folder.run("run suite.toml -p s --format json").code(0);
        assert!(
            run.stderr
                .contains("task u: missing: q.jsonl: not in the submission"),
            "{}",
            run.stderr
        );
        let outcome = run.json();
        assert_eq!(outcome["total"], expected, "{line}");
        assert_eq!(
            outcome["tasks"]["u"],
            json!({"status": "missing", "reason": "q.jsonl: not in the submission"})
        );
        let warned = outcome["warnings"][0]
            .as_str()
            .is_some_and(|it| it.starts_with("no total: without a score of u.string_accuracy"));
        assert_eq!(warned, expected.is_null(), "{outcome}");
    }
    // Of some of the tasks there is no total either.
    let folder = folder_of(&suite);
    folder.put("s/q.jsonl", three.as_bytes());
    let outcome = folder
        .run("run suite.toml -p s --task t --format json")
        .code(0)
        .json();
    assert_eq!(outcome["total"], json!(null));
    assert_eq!(outcome["tasks"].as_object().expect("tasks").len(), 1);
    folder
        .run("run suite.toml -p s --task v")
        .fails(2, &["suite.toml has no task \"v\": expected one of t, u"]);
}

#[test]
fn undefined_scores_count_as_stated() {
    // No positives: recall is 0/0.
    let suite = |line: &str| {
        format!(
            "name = \"x\"\ntotal = {{ rule = \"sum\", of = [\"d.recall\"] }}\n[[task]]\nname = \"d\"\nmetric = \"detection\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n{line}\n"
        )
    };
    for (line, expected) in [("", json!(null)), ("undefined = 0.5", json!(0.5))] {
        let folder = folder_of(&suite(line));
        folder.put("r.jsonl", b"{\"id\": 0, \"reference\": []}\n");
        folder.put("s/p.jsonl", b"{\"id\": 0, \"prediction\": []}\n");
        let outcome = folder
            .run("run suite.toml -p s --format json")
            .code(0)
            .json();
        assert_eq!(outcome["tasks"]["d"]["status"], "ok", "{outcome}");
        assert_eq!(outcome["total"], expected, "{line}");
    }
}

/// References with a field that tells the parts: 2 of 2 public ones are correct, and 0 of 1 private one.
fn split(lines: &str) -> Folder {
    let folder = folder_of(&one("").replace("\n[[task]]", &format!("\n{lines}\n[[task]]")));
    folder.put(
        "r.jsonl",
        br#"{"id": 0, "Usage": "Public", "reference": "a"}
{"id": 1, "Usage": "Public", "reference": "b"}
{"id": 2, "Usage": "Private", "reference": "c"}
{"id": 3, "Usage": "Ignored", "reference": "d"}
"#,
    );
    folder
}

#[test]
fn parts_have_totals_of_their_own() {
    for (lines, private) in [
        ("[split]\nfield = \"Usage\"", 0.0),
        ("[split]\npublic-ids = [0, \"1\"]", 0.0),
        ("[split]\npublic-ids = \"public.txt\"", 0.0),
    ] {
        let folder = split(lines);
        folder.put("public.txt", b"0\n1\n");
        let outcome = folder
            .run("run suite.toml -p s --format json")
            .code(0)
            .json();
        assert_eq!(outcome["total"], json!(0.5), "{outcome}");
        assert_eq!(
            outcome["split"],
            json!({
                "public": {"total": 1.0, "scores": {"t.exact_match": 1.0}},
                "private": {"total": private, "scores": {"t.exact_match": private}},
            }),
            "{lines}"
        );
        // Participants see the public part only.
        let run = folder
            .run("run suite.toml -p s --format json --private --log log.jsonl")
            .code(0);
        let shown = run.json();
        assert_eq!(shown["total"], json!(1.0));
        assert_eq!(
            shown["tasks"]["t"]["result"]["scores"],
            json!({"exact_match": 1.0})
        );
        assert!(shown.get("split").is_none());
        assert_eq!(
            (&shown["part"], &shown["examples"]),
            (&json!("public"), &json!(2))
        );
        assert_eq!(shown["tasks"]["t"]["result"]["examples"], json!(2));
        assert_eq!(
            (outcome.get("part"), &outcome["examples"]),
            (None, &json!(4))
        );
        let log = fs::read_to_string(folder.path("log.jsonl")).expect("a log");
        let last: Value = serde_json::from_str(log.lines().last().expect("a line")).expect("JSON");
        assert_eq!(last, outcome);
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn tables_of_a_suite() {
    let folder = suites::folder();
    fs::remove_file(folder.path("good/code.jsonl")).expect("a file");
    let run = folder.run("run suite.toml -p good").code(0);
    assert_eq!(
        run.stdout,
        "\
Hostile

┌────────┬─────────────────┬─────────┬─────────────────┬────────┐
│ task   ┆ metric          ┆ status  ┆ score           ┆  value │
╞════════╪═════════════════╪═════════╪═════════════════╪════════╡
│ words  ┆ string-accuracy ┆ ok      ┆ string_accuracy ┆ 0.7500 │
│ labels ┆ classification  ┆ ok      ┆ accuracy        ┆ 0.7500 │
│ boxes  ┆ coco            ┆ ok      ┆ AP              ┆ 0.5050 │
│ code   ┆ codebleu        ┆ missing ┆ codebleu        ┆      - │
│ total  ┆                 ┆         ┆ mean            ┆      - │
└────────┴─────────────────┴─────────┴─────────────────┴────────┘

code: code.jsonl: not in the submission
"
    );
    assert_eq!(
        run.stderr,
        "warning: no total: without a score of code.codebleu\n"
    );
    let csv = folder.run("run suite.toml -p good --format csv -q").code(0);
    assert_eq!(
        csv.stdout.lines().take(2).collect::<Vec<_>>(),
        [
            "task,metric,status,score,value",
            "words,string-accuracy,ok,string_accuracy,0.75"
        ]
    );
    assert_eq!(csv.stdout.lines().last(), Some("total,mean,,total,"));
    let latex = folder
        .run("run suite.toml -p good --format latex -q --percent --digits 1")
        .code(0);
    assert!(
        latex
            .stdout
            .contains("words & string-accuracy & ok & string\\_accuracy & 75.0 \\\\"),
        "{}",
        latex.stdout
    );
    let markdown = folder
        .run("run suite.toml -p good --format markdown -q")
        .code(0);
    assert!(
        markdown.stdout.contains("| words  | string-accuracy | ok "),
        "{}",
        markdown.stdout
    );
}

#[test]
fn platforms_have_their_files() {
    let folder = split("[split]\nfield = \"Usage\"");
    let file = |platform: &str, options: &str| {
        folder
            .run(&format!(
                "run suite.toml -p s -q --output-for {platform} out {options}"
            ))
            .code(0);
        fs::read_to_string(folder.path("out")).expect("a file")
    };
    assert_eq!(
        file("codabench", ""),
        "{\"t.exact_match\":0.5,\"total\":0.5}\n"
    );
    assert_eq!(file("codalab", ""), "t.exact_match: 0.5\ntotal: 0.5\n");
    assert_eq!(
        file("evalai", ""),
        "{\"result\":[{\"public_split\":{\"t.exact_match\":1.0,\"total\":1.0}},{\"private_split\":{\"t.exact_match\":0.0,\"total\":0.0}}]}\n"
    );
    assert_eq!(
        file("evalai", "--private"),
        "{\"result\":[{\"public_split\":{\"t.exact_match\":1.0,\"total\":1.0}}]}\n"
    );
    assert_eq!(file("kaggle", "--private"), "1.0\n");
    fs::remove_file(folder.path("s/p.jsonl")).expect("a file");
    fs::write(folder.path("s/other"), "").expect("a file");
    assert_eq!(
        file("kaggle", ""),
        "ParticipantVisibleError: t: p.jsonl: not in the submission\n"
    );
    assert_eq!(file("codabench", ""), "{}\n");
    folder
        .run("run suite.toml -p s --output-for grandchallenge out")
        .fails(
            2,
            &["no platform \"grandchallenge\": expected one of codabench, codalab, evalai, kaggle"],
        );
}

#[test]
fn a_dry_run_says_the_hashes() {
    let folder = folder_of(&one(""));
    // As `sha256sum r.jsonl` prints it.
    let hash = "87238b35964678c85bb25daffe77b0777e66f459a0009c91aa537c7e2e622b8c";
    let said = folder.run("run suite.toml --dry-run").code(0).stdout;
    assert_eq!(said, format!("t: exact-match, sha256 = \"{hash}\"\n"));
    let suite = one(&format!("sha256 = \"{hash}\""));
    folder.put("suite.toml", suite.as_bytes());
    folder.run("run suite.toml --dry-run").code(0);
}

#[test]
fn times_are_limited() {
    // The distance of long texts takes minutes.
    let suite = "name = \"x\"\n[[task]]\nname = \"t\"\nmetric = \"cer\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\nlimits = { seconds = 1 }\n";
    let folder = folder_of(suite);
    let text = |step: usize| -> String {
        (0..400_000)
            .map(|index| char::from(b'a' + (index * step % 23) as u8))
            .collect()
    };
    folder.put(
        "r.jsonl",
        format!("{{\"id\": 0, \"reference\": \"{}\"}}\n", text(7)).as_bytes(),
    );
    folder.put(
        "s/p.jsonl",
        format!("{{\"id\": 0, \"prediction\": \"{}\"}}\n", text(11)).as_bytes(),
    );
    let outcome = folder
        .run("run suite.toml -p s --format json")
        .code(0)
        .json();
    assert_eq!(
        outcome["tasks"]["t"],
        json!({"status": "limit", "reason": "exceeded 1 s"})
    );
    let score = "score cer -r r.jsonl -p s/p.jsonl -q --isolate --limits seconds=1";
    folder.run(score).fails(5, &["error: exceeded 1 s"]);
    // Files that are not complete are removed.
    #[cfg(unix)]
    {
        let before = folder.names();
        let score = format!("{score} --per-sample samples.jsonl");
        folder.run(&score).fails(5, &["error: exceeded 1 s"]);
        assert_eq!(folder.names(), before);
    }
    #[cfg(unix)]
    folder
        .run("score cer -r r.jsonl -p s/p.jsonl -q --isolate --limits cpu-seconds=1")
        .fails(5, &["error: exceeded 1 s of CPU time"]);
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_limited() {
    // Less than the threads need, and less than a line of 150 MB.
    for (memory, said) in [("60MB", "60 MB"), ("160MB", "160 MB")] {
        let limits = format!("limits = {{ memory = \"{memory}\", bytes = \"1GB\" }}");
        let folder = folder_of(&one(&limits));
        let text = "x".repeat(150_000_000);
        folder.put(
            "s/p.jsonl",
            format!("{{\"id\": 0, \"prediction\": \"{text}\"}}").as_bytes(),
        );
        let outcome = folder.run("run suite.toml -p s --format json");
        let expected = json!({"status": "limit", "reason": format!("exceeded {said} of memory")});
        assert_eq!(outcome.code(0).json()["tasks"]["t"], expected);
    }
}

#[test]
fn outputs_are_limited() {
    let folder = folder_of(&one("limits = { output = 20, bytes = \"1GB\" }"));
    let outcome = folder
        .run("run suite.toml -p s --format json")
        .code(0)
        .json();
    assert_eq!(
        outcome["tasks"]["t"],
        json!({"status": "limit", "reason": "exceeded 20 B of output"})
    );
    let folder = folder_of(&one("limits = { bytes = 20 }"));
    let outcome = folder
        .run("run suite.toml -p s --format json")
        .code(0)
        .json();
    assert_eq!(
        outcome["tasks"]["t"],
        json!({"status": "limit", "reason": "exceeded 20 B of predictions"})
    );
}

#[test]
fn isolated_scores_are_the_same() {
    let folder = folder_of(&one(""));
    let score = "score exact-match -r r.jsonl -p s/p.jsonl";
    for (options, code) in [
        ("", 0),
        ("--format json", 0),
        ("--fail-under exact_match=0.9", 1),
        ("--ignore-case --k 5", 2),
        ("--missing skip", 0),
    ] {
        let plain = folder.run(&format!("{score} {options}"));
        let isolated = folder.run(&format!("{score} {options} --isolate"));
        assert_eq!(plain.code, Some(code), "{options}: {}", plain.stderr);
        assert_eq!(
            (isolated.code, &isolated.stdout, &isolated.stderr),
            (plain.code, &plain.stdout, &plain.stderr),
            "{options}"
        );
    }
    folder
        .run("score exact-match -r r.jsonl -p none.jsonl --isolate")
        .fails(3, &["none.jsonl"]);
    folder
        .run("score exact-match -r r.jsonl -p - --isolate")
        .fails(2, &["--isolate does not go with standard input"]);
    folder
        .run("worker task")
        .fails(2, &["worker is started by the program itself"]);
}

#[test]
fn outputs_do_not_overwrite_inputs() {
    let folder = folder_of(&one(""));
    folder
        .run("run suite.toml -p s --log suite.toml")
        .fails(2, &["--log suite.toml: is also read"]);
    folder
        .run("run suite.toml -p s --log s/p.jsonl")
        .fails(2, &["which is also read"]);
    for output in ["--log r.jsonl", "--output-for kaggle r.jsonl"] {
        folder
            .run(&format!("run suite.toml -p s {output}"))
            .fails(2, &["r.jsonl: is also read"]);
    }
    folder
        .run("run suite.toml -p s --output-for kaggle x --log x")
        .fails(2, &["expected another path"]);
    folder
        .run("run suite.toml -p none")
        .fails(3, &["none: cannot open the submission"]);
    folder.run("run suite.toml").fails(2, &["--predictions"]);
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn participants_see_no_references() {
    let folder = suites::folder();
    let run = folder
        .run("run suite.toml -p good --private --format json --log log.jsonl")
        .code(0);
    for secret in SECRETS {
        assert!(
            !run.stdout.contains(secret) && !run.stderr.contains(secret),
            "{secret}: {}",
            run.stdout
        );
    }
    let outcome = run.json();
    assert_eq!(
        outcome["tasks"]["labels"]["result"]["scores"]["accuracy"],
        json!(0.75)
    );
    assert_eq!(outcome["tasks"]["labels"]["result"]["counts"], json!({}));
    // The organizer's log has all of it.
    let log = fs::read_to_string(folder.path("log.jsonl")).expect("a log");
    assert!(log.contains("goshawk"), "{log}");
    assert_eq!(log.lines().count(), 5);
}

#[test]
fn participants_hear_what_is_wrong_with_their_own_file() {
    let folder = folder_of(&one(""));
    for (predictions, reason) in [
        (
            "{\"id\": 0, \"prediction\": ]}\n",
            "p.jsonl:1: malformed JSON: expected value at column 25",
        ),
        (
            "{\"id\": 0, \"predicted\": \"a\"}\n",
            "p.jsonl:1: no field \"prediction\": the record has \"id\", \"predicted\"; did you mean --prediction-field predicted?",
        ),
        (
            "{\"id\": 0, \"prediction\": 7}\n",
            "p.jsonl:1: prediction: expected a string, found a number: write it as \"7\", or take all values as they are written, with --as-text",
        ),
        (
            "{\"id\": 0, \"prediction\": \"a\"}\n",
            "p.jsonl: 3 references have no prediction",
        ),
    ] {
        folder.put("s/p.jsonl", predictions.as_bytes());
        let outcome = folder
            .run("run suite.toml -p s --private --format json")
            .code(0)
            .json();
        assert_eq!(outcome["tasks"]["t"]["reason"], reason);
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads TSV")]
fn participants_hear_that_rows_in_quotes_do_not_join() {
    let folder = folder_of(&one("").replace("p.jsonl", "p.tsv"));
    folder.put("s/p.tsv", b"id\tprediction\n0\t\"a\n1\tb\"\n2\tx\n3\ty\n");
    let run = folder.run("run suite.toml -p s --private --format json");
    let reason = run.code(0).json()["tasks"]["t"]["reason"].clone();
    assert_eq!(reason, json!("p.tsv: 1 reference has no prediction"));
}

#[test]
fn participants_hear_which_file_of_a_folder_is_wrong() {
    let suite = "name = \"x\"\n[[task]]\nname = \"t\"\nmetric = \"coco\"\nreferences = \"r\"\npredictions = \"labels\"\noptions = { image-size = \"640x480\" }\n";
    let folder = folder_of(suite);
    for name in ["r", "s/labels"] {
        fs::create_dir(folder.path(name)).expect("a folder");
    }
    let reason = || {
        let run = folder.run("run suite.toml -p s --private --format json");
        run.code(0).json()["tasks"]["t"]["reason"].clone()
    };
    for name in ["one", "two"] {
        folder.put(&format!("r/{name}.txt"), b"0 0.5 0.5 0.2 0.2\n");
        folder.put(&format!("s/labels/{name}.txt"), b"0 0.5 0.5 0.2 0.2 0.9\n");
    }
    assert_eq!(reason(), json!(null));
    folder.put("s/labels/two.txt", b"0 0.5\n");
    assert_eq!(reason(), json!("labels/two.txt:1: cannot be read"));
}

#[cfg(target_os = "linux")]
mod processes {
    use super::*;
    use std::process::Child;
    use std::time::{Duration, Instant};

    /// A run of a suite whose first task takes minutes, and whose second one is quick.
    fn slow() -> (Folder, Child) {
        let task = |name: &str, metric: &str, file: &str| {
            format!(
                "[[task]]\nname = \"{name}\"\nmetric = \"{metric}\"\nreferences = \"{file}\"\npredictions = \"{file}\"\n"
            )
        };
        let suite = format!(
            "name = \"x\"\n{}{}",
            task("slow", "cer", "long.jsonl"),
            task("quick", "exact-match", "short.jsonl")
        );
        let folder = Folder::new(&[("suite.toml", &suite)]);
        fs::create_dir(folder.path("s")).expect("a folder");
        let text = |step: usize| -> String {
            (0..1_000_000)
                .map(|index| char::from(b'a' + (index * step % 23) as u8))
                .collect()
        };
        let row = |field: &str, value: &str| format!("{{\"id\": 0, \"{field}\": \"{value}\"}}\n");
        folder.put("long.jsonl", row("reference", &text(7)).as_bytes());
        folder.put("s/long.jsonl", row("prediction", &text(11)).as_bytes());
        folder.put("short.jsonl", row("reference", "a").as_bytes());
        folder.put("s/short.jsonl", row("prediction", "a").as_bytes());
        let child = folder
            .command("run suite.toml -p s --format json")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        (folder, child)
    }

    /// The processes that a process has started.
    fn children(parent: u32) -> Vec<u32> {
        let is_child = |process: u32| {
            let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            // The name, in parentheses, may hold anything.
            let after = status.rsplit_once(") ")?.1;
            (after.split(' ').nth(1)? == parent.to_string()).then_some(process)
        };
        let names = fs::read_dir("/proc").expect("/proc").flatten();
        let processes = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        processes.filter_map(is_child).collect()
    }

    fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(found) = found() {
                return found;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn send(signal: &str, process: u32) {
        let sent = std::process::Command::new("kill")
            .args([signal, &process.to_string()])
            .status();
        assert!(sent.expect("kill").success());
    }

    /// The worker of the slow task, once it has its limits.
    fn worker(parent: &Child) -> u32 {
        let worker = wait_for("a worker", || children(parent.id()).first().copied());
        wait_for("limits", || {
            let limits = fs::read_to_string(format!("/proc/{worker}/limits")).ok()?;
            let cpu = limits
                .lines()
                .find(|line| line.starts_with("Max cpu time"))?;
            (!cpu.contains("unlimited")).then_some(())
        });
        worker
    }

    fn has_ended(process: u32) -> bool {
        let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        status.is_empty() || status.contains(") Z ")
    }

    #[test]
    fn workers_end_with_their_parent() {
        for signal in ["-KILL", "-TERM"] {
            let (_folder, mut parent) = slow();
            let worker = worker(&parent);
            send(signal, parent.id());
            parent.wait().expect("the program ends");
            wait_for("the end of the worker", || has_ended(worker).then_some(()));
        }
    }

    #[test]
    fn the_end_of_a_worker_is_that_of_its_task() {
        let (_folder, parent) = slow();
        send("-KILL", worker(&parent));
        let output = parent.wait_with_output().expect("the program ends");
        let outcome = crate::common::Run::new("run", output).code(0).json();
        assert_eq!(
            outcome["tasks"]["slow"],
            json!({"status": "failed", "reason": "the worker was ended by signal 9"})
        );
        assert_eq!(
            outcome["tasks"]["quick"]["result"]["scores"]["exact_match"],
            json!(1.0)
        );
    }

    #[test]
    fn workers_are_in_groups_of_their_own() {
        let (_folder, mut parent) = slow();
        let worker = worker(&parent);
        let status = fs::read_to_string(format!("/proc/{worker}/stat")).expect("a process");
        let group = status
            .rsplit_once(") ")
            .and_then(|(_, after)| after.split(' ').nth(2))
            .map(str::to_owned);
        assert_eq!(group, Some(worker.to_string()));
        parent.kill().expect("the program ends");
        parent.wait().expect("the program ends");
    }
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn the_suite_of_the_tests_is_read() {
    let folder = suites::folder();
    let said = folder.run("run suite.toml --dry-run").code(0).stdout;
    assert_eq!(said.lines().count(), SUITE.matches("[[task]]").count());
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn comparisons_are_those_of_compare() {
    let folder = suites::folder();
    fs::create_dir(folder.path("old")).expect("a folder");
    suites::put_good(&folder.path("old"));
    let better = GOOD[0].1.replace("something", "osprey two");
    folder.put("good/words.jsonl", better.as_bytes());
    let options = "--resamples 200 --permutations 300 --seed 5";
    let words = format!("run suite.toml -p good --compare old {options}");
    let outcome = folder.run(&format!("{words} --format json")).code(0).json();
    let comparison = &outcome["comparison"];
    assert_eq!(
        (&comparison["baseline"], &comparison["system"]),
        (&json!("old"), &json!("good"))
    );
    let single = format!(
        "compare string-accuracy -r vaulted/words.jsonl -p old/words.jsonl good/words.jsonl --names old,good -q --format json {options}"
    );
    let single = folder.run(&single).code(0).json();
    let of_task = &comparison["tasks"]["words"]["comparison"];
    assert_eq!(of_task["comparisons"], single["comparisons"]);
    assert_eq!(of_task["signature"], single["signature"]);
    assert_eq!(
        of_task["systems"][0]["scores"],
        json!({"string_accuracy": 0.75})
    );
    // One of four words is correct in addition, and nothing else differs: a quarter of a quarter of the total.
    assert_eq!(comparison["total"]["delta"], json!(0.0625));
    // The difference is zero or as large as observed in each trial, in about half of them.
    let p = comparison["total"]["p"].as_f64().expect("a p-value");
    assert_eq!(p, 1.0, "{comparison}");
    let table = folder.run(&words).code(0).stdout;
    assert!(
        table.contains("│ words  ┆ string_accuracy ┆     0.2500 ┆"),
        "{table}"
    );
    let latex = folder
        .run(&format!("{words} --format latex"))
        .code(0)
        .stdout;
    assert!(
        latex.contains("words & string\\_accuracy & 0.2500 & "),
        "{latex}"
    );
    let csv = folder.run(&format!("{words} --format csv")).code(0).stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "task,metric,status,score,value,baseline,delta,low,high,p"
    );
    // The four tasks have one score each.
    assert_eq!(lines.len(), 6, "{csv}");
    let of_words = &single["comparisons"][0];
    let [low, high, p] = ["low", "high", "p"].map(|name| {
        let number = of_words[name].as_f64();
        number.map_or_else(String::new, |number| number.to_string())
    });
    let expected = format!("words,string-accuracy,ok,string_accuracy,1,old,0.25,{low},{high},{p}");
    assert_eq!(lines[1], expected);
    assert!(lines[5].starts_with("total,mean,,total,"), "{csv}");
    assert!(lines[5].contains(",old,0.0625,"), "{csv}");
    // A task that cannot be compared is named, and harms nothing else.
    fs::write(folder.path("old/words.jsonl"), "[").expect("a file");
    let run = folder.run(&format!("{words} --format json")).code(0);
    assert!(
        run.stderr.contains("task words: not compared: "),
        "{}",
        run.stderr
    );
    let outcome = run.json();
    assert_eq!(outcome["comparison"]["total"], json!(null));
    assert!(outcome["comparison"]["tasks"]["words"]["reason"].is_string());
    assert!(outcome["comparison"]["tasks"]["code"]["comparison"].is_object());
    assert!(outcome["total"].is_number());
    folder
        .run(&format!("{words} --private"))
        .fails(2, &["--compare does not go with --private"]);
}

#[test]
#[cfg_attr(
    not(all(feature = "csv", feature = "report")),
    ignore = "reads CSV, and writes reports"
)]
fn reports_have_a_section_per_task() {
    let folder = suites::folder();
    fs::remove_file(folder.path("good/code.jsonl")).expect("a file");
    folder
        .run("run suite.toml -p good -q --report page.md")
        .code(0);
    let page = fs::read_to_string(folder.path("page.md")).expect("a report");
    let words = fs::read_to_string(folder.path("good/words.jsonl")).expect("predictions");
    let examples = words.lines().count();
    for line in [
        "# Hostile",
        "- ❌ 1 of 4 tasks not scored",
        "| code | codebleu | – | missing | ",
        &format!("| words | string-accuracy | {examples} | ok | – |"),
        "## words",
        "## labels:",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    let html = folder
        .run("run suite.toml -p good -q --report -")
        .code(0)
        .stdout;
    assert!(
        html.starts_with("<!doctype html>") || html.starts_with("<!DOCTYPE html>"),
        "{}",
        &html[..80]
    );
    let private = folder
        .run("run suite.toml -p good -q --private --report -")
        .code(0)
        .stdout;
    for secret in SECRETS {
        assert!(!private.contains(secret), "{secret}");
    }
}

/// A suite of two tasks with a weighted total and a split, and two submissions: of two and of three right answers in `pets`.
fn two_tasks() -> Folder {
    let suite = "name = \"Test\"\n\
                 total = { rule = \"weighted\", of = [\"qa.exact_match\", \"pets.accuracy\"], weights = [1, 3] }\n\
                 [split]\nfield = \"usage\"\n\
                 [[task]]\nname = \"qa\"\nmetric = \"exact-match\"\nreferences = \"ref/qa.csv\"\npredictions = \"qa.csv\"\n\
                 [[task]]\nname = \"pets\"\nmetric = \"classification\"\nreferences = \"ref/pets.csv\"\npredictions = \"pets.csv\"\n";
    let folder = Folder::new(&[("suite.toml", suite)]);
    for (name, text) in [
        (
            "ref/qa.csv",
            "id,reference,usage\n1,a,Public\n2,b,Private\n",
        ),
        (
            "ref/pets.csv",
            "id,reference,usage\n1,cat,Public\n2,dog,Public\n3,cat,Private\n4,dog,Private\n",
        ),
        ("old/qa.csv", "id,prediction\n1,a\n2,b\n"),
        (
            "old/pets.csv",
            "id,prediction\n1,cat\n2,cat\n3,cat\n4,cat\n",
        ),
        ("new/qa.csv", "id,prediction\n1,a\n2,b\n"),
        (
            "new/pets.csv",
            "id,prediction\n1,cat\n2,dog\n3,cat\n4,cat\n",
        ),
    ] {
        folder.put(name, text.as_bytes());
    }
    folder
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn thresholds_of_totals_and_tasks() {
    let folder = two_tasks();
    let run = |words: &str| folder.run(&format!("run suite.toml -p new --quiet {words}"));
    // (1 x 1 + 3 x 0.75) / 4
    for (words, code) in [
        ("--fail-under total=0.8125", 0),
        ("--fail-under total=0.82", 1),
        (
            "--fail-under pets.accuracy=0.75 --fail-under qa.exact_match=1",
            0,
        ),
        (
            "--fail-under pets.accuracy=0.8 --fail-under qa.exact_match=1",
            1,
        ),
        ("--fail-under pets.f1=0.9", 1),
        ("--fail-under pets.matthews_correlation=0.1", 0),
    ] {
        run(words).code(code);
    }
    let failed = run("--fail-under pets.accuracy=0.8 --fail-under total=0.5 --format json").code(1);
    assert!(
        failed
            .stderr
            .contains("threshold check failed: pets.accuracy is 0.75, below 0.8"),
        "{}",
        failed.stderr
    );
    let result: serde_json::Value = serde_json::from_str(&failed.stdout).expect("JSON");
    assert_eq!(
        result["checks"],
        serde_json::json!([
            {"check": "fail-under", "score": "pets.accuracy", "bound": 0.8, "value": 0.75, "passed": false},
            {"check": "fail-under", "score": "total", "bound": 0.5, "value": 0.8125, "passed": true},
        ])
    );
    for (words, says) in [
        ("--fail-under total", "expected NAME=VALUE"),
        (
            "--fail-under accuracy=1",
            "expected total, or a task, a dot and a score",
        ),
        (
            "--fail-under cats.accuracy=1",
            "no task \"cats\": expected one of qa, pets",
        ),
        (
            "--fail-under pets.wer=1",
            "classification has no such score: expected one of accuracy",
        ),
        (
            "--fail-over pets.accuracy=1",
            "use --fail-under pets.accuracy=1",
        ),
        ("--fail-over total=1", "use --fail-under total=1"),
        (
            "--task qa --fail-under pets.accuracy=1",
            "the task was not scored",
        ),
    ] {
        run(words).fails(2, &[says]);
    }
    // A task without a score is undefined, and fails.
    std::fs::remove_file(folder.path("new/pets.csv")).expect("removed");
    let failed = run("--fail-under pets.accuracy=0.8").code(1);
    assert!(
        failed.stderr.contains("pets.accuracy is undefined"),
        "{}",
        failed.stderr
    );
}

#[test]
#[cfg_attr(
    not(all(feature = "csv", feature = "report")),
    ignore = "writes a report of CSV"
)]
fn reports_have_comparison_parts_and_weights() {
    let folder = two_tasks();
    folder
        .run("run suite.toml -p new --compare old --quiet --fail-under pets.accuracy=0.8 --report r.md")
        .code(1);
    let page = std::fs::read_to_string(folder.path("r.md")).expect("a report");
    for text in [
        "new against old; 2 tasks",
        "## Comparison",
        "new - old",
        "+0.2500",
        "weight",
        "weighted",
        // Totals of all, of the public and of the private part.
        "0.8125",
        "1.0000",
        "0.6250",
        "pets.accuracy ≥ 0.8",
    ] {
        assert!(page.contains(text), "{text:?} is not in\n{page}");
    }
    folder
        .run("run suite.toml -p new --quiet --private --report p.md")
        .code(0);
    let page = std::fs::read_to_string(folder.path("p.md")).expect("a report");
    assert!(page.contains("new; 2 tasks; public part"), "{page}");
    assert!(
        !page.contains("0.6250") && !page.contains("private"),
        "{page}"
    );
}
