//! Samples of tasks without references, and votes of several answers.

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
