//! Records that are selected by their fields, end to end.

use serde_json::json;

use crate::common::Folder;

/// Answers to three questions by two filters, as lm-evaluation-harness writes them: the strict one is right once, the
/// flexible one twice.
fn samples() -> String {
    let rows = [
        (0, "law", "strict-match", "a"),
        (0, "law", "flexible", "a"),
        (1, "law", "strict-match", "x"),
        (1, "law", "flexible", "b"),
        (2, "art", "strict-match", "x"),
        (2, "art", "flexible", "x"),
    ];
    let line = |(id, subject, filter, answer): &(usize, &str, &str, &str)| {
        let target = ["a", "b", "c"][*id];
        format!(
            "{{\"id\": {id}, \"doc\": {{\"subject\": \"{subject}\"}}, \"reference\": \"{target}\", \"prediction\": \"{answer}\", \"filter\": \"{filter}\"}}\n"
        )
    };
    rows.iter().map(line).collect()
}

fn folder() -> Folder {
    let all = samples();
    let references = "{\"id\": 0, \"reference\": \"a\", \"subject\": \"law\"}\n\
                      {\"id\": 1, \"reference\": \"b\", \"subject\": \"law\"}\n\
                      {\"id\": 2, \"reference\": \"c\", \"subject\": \"art\"}\n";
    let predictions = "{\"id\": 2, \"prediction\": \"c\"}\n\
                       {\"id\": 1, \"prediction\": \"x\"}\n\
                       {\"id\": 0, \"prediction\": \"a\"}\n";
    // One that leaves itself out, and one that is not there.
    let sly = "{\"id\": 0, \"prediction\": \"a\", \"subject\": \"law\"}\n\
               {\"id\": 1, \"prediction\": \"x\", \"subject\": \"art\"}\n\
               {\"id\": 2, \"prediction\": \"x\", \"subject\": \"art\"}\n";
    let short = "{\"id\": 0, \"prediction\": \"a\"}\n";
    let table = "id,reference,prediction,split\n1,a,a,test\n2,b,x,test\n3,c,x,train\n";
    Folder::new(&[
        ("s.jsonl", &all),
        ("r.jsonl", references),
        ("p.jsonl", predictions),
        ("sly.jsonl", sly),
        ("short.jsonl", short),
        ("t.csv", table),
        ("r.txt", "a\nb\n"),
        ("p.txt", "a\nx\n"),
    ])
}

#[test]
fn fields_of_either_file_select_records() {
    let folder = folder();
    for (words, expected, count) in [
        (
            "--pairs s.jsonl --where filter=strict-match",
            1.0 / 3.0,
            [3, 6],
        ),
        (
            "--pairs s.jsonl --where filter!=strict-match",
            2.0 / 3.0,
            [3, 6],
        ),
        (
            "--pairs s.jsonl --where filter=flexible --where doc.subject=law",
            1.0,
            [2, 6],
        ),
        (
            "--pairs s.jsonl --where filter=flexible --where doc.subject=law --where doc.subject=art",
            2.0 / 3.0,
            [3, 6],
        ),
        // A field of the references, and ids in another order.
        ("-r r.jsonl -p p.jsonl --where subject=law", 0.5, [2, 3]),
        ("-r r.jsonl -p p.jsonl --where subject!=law", 1.0, [1, 3]),
        (
            "-r r.jsonl -p p.jsonl --id-field #row --where subject=art",
            0.0,
            [1, 3],
        ),
        // A field of the predictions, where references do not have it.
        (
            "-r r.jsonl -p s.jsonl --where filter=strict-match --extra error",
            1.0 / 3.0,
            [3, 3],
        ),
        (
            "-r r.jsonl -p s.jsonl --where filter=flexible --where subject=law",
            1.0,
            [2, 3],
        ),
        ("--pairs t.csv --where split=test", 0.5, [2, 3]),
        (
            "--pairs t.csv --where split=test --id-field #row",
            0.5,
            [2, 3],
        ),
        (
            "--pairs t.csv --where id!=2.0 --where split=test",
            1.0,
            [1, 3],
        ),
    ] {
        for threads in ["1", "2"] {
            let words = format!("score exact-match {words} --threads {threads} --format json");
            let result = folder.run(&words).code(0).json();
            assert_eq!(result["scores"]["exact_match"], json!(expected), "{words}");
            let found = &result["selected"]["references"];
            assert_eq!(found["selected"], json!(count[0]), "{words}");
            assert_eq!(found["records"], json!(count[1]), "{words}");
        }
    }
    let table = folder.run("score exact-match --pairs s.jsonl --where filter=strict-match");
    table.prints(&[
        "selected 3 of 6 records: filter=strict-match",
        "exact-match|ignore:none|where:filter=strict-match|v:",
    ]);
    folder
        .run("check exact-match --pairs s.jsonl --where filter=strict-match")
        .prints(&["exact-match can score 3 examples"]);
    folder
        .run("compare exact-match -r r.jsonl -p p.jsonl short.jsonl --where subject=law --missing empty")
        .prints(&["selected 2 of 3 records: subject=law"]);
}

#[test]
fn predictions_do_not_choose_what_is_scored_where_references_do() {
    let folder = folder();
    folder
        .run("score exact-match -r r.jsonl -p sly.jsonl --where subject=law")
        .fails(3, &["no prediction for 1 reference of r.jsonl: id \"1\""]);
    folder
        .run("score exact-match -r r.jsonl -p short.jsonl --where subject=law")
        .fails(3, &["no prediction for 1 reference of r.jsonl: id \"1\""]);
}

#[test]
fn conditions_that_select_nothing_are_errors() {
    let folder = folder();
    for (words, code, says) in [
        (
            "--pairs s.jsonl --where filtr=strict-match",
            2,
            "--where filtr: no record has this field; did you mean \"filter\"?",
        ),
        (
            "--pairs s.jsonl --where zzz=1",
            2,
            "they have \"id\", \"doc\", \"reference\", \"prediction\", \"filter\"",
        ),
        (
            "--pairs s.jsonl --where filter=strict",
            3,
            "none of the records is selected by --where filter=strict; \"filter\" is \"flexible\", \"strict-match\"",
        ),
        (
            "--pairs s.jsonl --where filter",
            2,
            "--where \"filter\": expected a field and a value",
        ),
        (
            "--pairs s.jsonl --where doc=law",
            3,
            "s.jsonl:1: id \"0\": field \"doc\": found an object",
        ),
        (
            "-r r.txt -p p.txt --where a=1",
            2,
            "the records of r.txt and p.txt have no fields",
        ),
        (
            "--pairs s.jsonl",
            3,
            "keep only those records, as with --where filter=VALUE",
        ),
    ] {
        folder
            .run(&format!("score exact-match {words}"))
            .fails(code, &[says]);
    }
    let folder = Folder::new(&[(
        "a.json",
        "{\"images\": [], \"annotations\": [], \"categories\": []}",
    )]);
    folder
        .run("score coco -r a.json -p a.json --where id=1")
        .fails(2, &["--where id=1: a.json is read as a whole"]);
}

#[test]
fn states_of_one_selection_merge() {
    let folder = folder();
    let score = "score exact-match --pairs s.jsonl --format json --where filter=strict-match";
    let whole = folder.run(score).code(0).json();
    for shard in ["0/2", "1/2"] {
        let name = shard.replace('/', "-");
        folder
            .run(&format!("{score} --shard {shard} --state-out {name}.state"))
            .code(0);
    }
    let merged = folder
        .run("merge 0-2.state 1-2.state --format json")
        .code(0);
    assert_eq!(merged.json(), whole);
    folder
        .run("score exact-match --pairs s.jsonl --where filter=flexible --state-out other.state")
        .code(0);
    folder
        .run("merge 0-2.state other.state")
        .fails(3, &["where:filter=strict-match", "where:filter=flexible"]);
}

#[test]
fn suites_select_records() {
    let folder = folder();
    let task = |name: &str, condition: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\nmetric = \"exact-match\"\nreferences = \"r.jsonl\"\npredictions = \"p.jsonl\"\n\
             [task.options]\nwhere = {condition}\n"
        )
    };
    let suite = format!(
        "name = \"Test\"\n{}{}",
        task("law", "\"subject=law\""),
        task("all", "[\"subject=law\", \"subject=art\"]"),
    );
    folder.put("suite.toml", suite.as_bytes());
    let result = folder
        .run("run suite.toml --predictions . --format json")
        .code(0)
        .json();
    let score = |task: &str| &result["tasks"][task]["result"]["scores"]["exact_match"];
    assert_eq!(
        (score("law"), score("all")),
        (&json!(0.5), &json!(2.0 / 3.0))
    );
}
