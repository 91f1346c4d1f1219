//! Samples of tasks and grades without references, and votes of several answers.

use serde_json::json;

use crate::common::Folder;

const TASKS: &str = "{\"id\":\"a\",\"prediction\":[true,false],\"lang\":\"c\"}\n{\"id\":\"b\",\"prediction\":{\"n\":4,\"c\":1},\"lang\":\"go\"}\n";

#[test]
fn predictions_alone() {
    let folder = Folder::new(&[("p.jsonl", TASKS), ("q.jsonl", TASKS)]);
    let words = "score pass-at-k -p p.jsonl --format json";
    let result = folder
        .run(&format!("{words} --k 2,1 --slice-field lang"))
        .json();
    // Of 6 pairs of the second task's samples, 3 have the one that passes.
    assert_eq!(
        result["scores"],
        json!({"pass@1": 0.375, "pass@2": 0.75, "pass_all@1": 0.375, "pass_all@2": 0.0})
    );
    assert_eq!(
        result["counts"],
        json!({"tasks": 2, "samples": 6, "passed": 2})
    );
    assert_eq!(result["groups"]["lang"]["go"]["scores"]["pass@2"], 0.5);
    let result = folder.run(&format!("{words} --k 3")).json();
    assert_eq!(result["scores"]["pass@3"], json!(null));
    let warning = &result["warnings"][0];
    let expected = "pass@3 and pass_all@3 are undefined: 1 task has fewer than 3 samples, the least number is 2";
    assert_eq!(warning, expected);
    folder
        .run("score pass-at-k -r p.jsonl -p p.jsonl")
        .fails(2, &["-r: pass-at-k has no references: expected only -p"]);
    folder
        .run("score pass-at-k --pairs p.jsonl")
        .fails(2, &["--pairs: pass-at-k has no references"]);
    folder
        .run("check pass-at-k -r p.jsonl -p p.jsonl")
        .fails(2, &["-r: pass-at-k has no references"]);
    folder.run("score pass-at-k").fails(2, &["needs -p FILE"]);
    folder
        .run("score pass-at-k,wer -p p.jsonl")
        .fails(2, &["score them in separate runs"]);
    let compared = folder.run("compare pass-at-k -p p.jsonl q.jsonl --format json");
    assert_eq!(compared.json()["metric"], "pass-at-k");
}

#[test]
fn records_that_are_samples() {
    let lines = "{\"task\":\"a\",\"ok\":true,\"lang\":\"c\"}\n{\"task\":7,\"ok\":0,\"lang\":\"go\"}\n{\"task\":\"a\",\"ok\":false,\"lang\":\"c\"}\n";
    let folder = Folder::new(&[
        ("p.jsonl", lines),
        ("p.csv", "task,ok,lang\na,True,c\n7,0,go\na,False,c\n"),
        ("differ.csv", "task,ok,lang\na,1,c\na,0,go\n"),
        ("bad.csv", "task,ok\na,1\na,x\n"),
    ]);
    let of = |file: &str| {
        format!("score pass-at-k -p {file} --group-field task --prediction-field ok --format json")
    };
    for file in ["p.jsonl", "p.csv"] {
        let words = of(file) + " --slice-field lang --cluster-field lang --per-sample s.jsonl";
        let result = folder.run(&words).json();
        assert_eq!(result["scores"]["pass@1"], 0.25, "{file}");
        assert_eq!(
            result["counts"],
            json!({"tasks": 2, "samples": 3, "passed": 1})
        );
        let samples = std::fs::read_to_string(folder.path("s.jsonl")).unwrap_or_default();
        assert!(
            samples.starts_with("{\"id\":\"a\",\"scores\":{\"pass@1\":0.5"),
            "{samples}"
        );
        assert!(samples.contains("{\"id\":\"7\""), "{samples}");
    }
    folder
        .run(&(of("differ.csv") + " --slice-field lang"))
        .fails(3, &["line 3", "field \"lang\": found \"go\", and \"c\""]);
    assert_eq!(folder.run(&of("differ.csv")).json()["counts"]["tasks"], 1);
    folder
        .run(&of("bad.csv"))
        .fails(3, &["id \"a\"", "sample 2: expected true, false, 1 or 0"]);
}

#[test]
fn one_sample_of_each_task_is_a_proportion() {
    let lines: Vec<String> = (0..10)
        .map(|id| format!("{{\"id\":{id},\"prediction\":[{}]}}\n", id < 3))
        .collect();
    let folder = Folder::new(&[("p.jsonl", &lines.concat())]);
    let result = folder
        .run("score pass-at-k -p p.jsonl --confidence 0.95 --format json")
        .json();
    let interval = &result["statistics"]["intervals"]["pass@1"];
    assert_eq!(interval["method"], "wilson");
    let error = interval["standard_error"].as_f64().unwrap_or_default();
    assert!((error - 0.021_f64.sqrt()).abs() < 1e-12, "{error}");
}

#[test]
fn majority_votes() {
    let folder = Folder::new(&[(
        "p.jsonl",
        "{\"id\":1,\"references\":[\"Rome\",\"Roma\"],\"prediction\":[\"is ROME\",\"is Paris\",\"is rome\"]}\n{\"id\":2,\"reference\":\"7\",\"prediction\":[\"8\",\"is 7\"]}\n",
    )]);
    let run = |words: &str| {
        folder.run(&format!(
            "score exact-match --pairs p.jsonl --format json {words}"
        ))
    };
    let prepared = "--normalize lower,replace(is,),strip";
    let result = run(&format!("--votes all {prepared}")).json();
    assert_eq!(
        result["counts"],
        json!({"correct": 1, "tied": 1, "total": 2})
    );
    let expected = run(&format!("--votes all --vote-ties expected {prepared}")).json();
    assert_eq!(
        expected["counts"],
        json!({"correct": 1.5, "tied": 1, "total": 2})
    );
    let first = run(&format!("--votes 1 --vote-ties strict {prepared}")).json();
    assert_eq!(first["scores"]["exact_match"], 0.5);
    run("--votes 3").fails(3, &["id \"2\"", "2 answers: expected at least 3"]);
    run("--votes 0").fails(2, &["expected a positive integer, or all"]);
    run("--vote-ties first").fails(2, &["expected also --votes"]);
}

#[test]
fn grades_without_references() {
    let lines = "{\"id\":1,\"acc\":true,\"doc\":{\"topic\":\"a\"}}\n{\"id\":2,\"acc\":0.5,\"doc\":{\"topic\":\"b\"}}\n{\"id\":3,\"acc\":3,\"doc\":{\"topic\":\"a\"}}\n";
    let folder = Folder::new(&[
        ("p.jsonl", lines),
        ("p.csv", "id,acc,topic\n1,True,a\n2,.5,b\n3,3e0,a\n"),
        ("q.csv", "id,acc,topic\n1,False,a\n2,0,b\n3,1,a\n"),
        ("bad.jsonl", "{\"id\":1,\"acc\":\"C\"}\n"),
        (
            "null.jsonl",
            "{\"id\":1,\"acc\":null}\n{\"id\":2,\"acc\":4}\n",
        ),
    ]);
    for (file, slice) in [("p.jsonl", "doc.topic"), ("p.csv", "topic")] {
        let words = format!(
            "score mean -p {file} --prediction-field acc --slice-field {slice} --format json"
        );
        let result = folder.run(&words).json();
        assert_eq!(result["scores"], json!({"mean": 1.5}), "{file}");
        assert_eq!(result["counts"], json!({"total": 3}), "{file}");
        let of_topic = &result["groups"][slice]["a"]["scores"];
        assert_eq!(of_topic["mean"], 2.0, "{file}");
    }
    // The means are 1.5 and 1/3.
    let words = "compare mean -p p.csv q.csv --prediction-field acc --format json";
    let compared = folder.run(words).json().to_string();
    assert!(compared.contains("-1.1666666666666"), "{compared}");
    folder
        .run("score mean -p bad.jsonl --prediction-field acc")
        .fails(3, &["bad.jsonl:1", "found the string \"C\""]);
    let words = "score mean -p null.jsonl --prediction-field acc";
    folder
        .run(words)
        .fails(3, &["null.jsonl:1", "expected a number, found null"]);
    let skipped = folder.run(&format!("{words} --missing skip --format json"));
    assert_eq!(skipped.json()["scores"]["mean"], 4.0);
    // No grade is a perfect one.
    let worst = folder.run("score mean -p p.csv --prediction-field acc --show-worst 3 -q");
    assert!(worst.stdout.contains("3.0000"), "{}", worst.stdout);
    folder
        .run("score mean -r p.csv -p p.csv")
        .fails(2, &["-r: mean has no references: expected only -p"]);
}
