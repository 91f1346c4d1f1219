//! Comparisons of systems, end to end.

use crate::common::Folder;
use serde_json::{Value, json};

/// Three systems on 30 utterances: `b` makes an error in each one in which `a` makes none, `c` makes none.
fn speech() -> Folder {
    let (mut references, mut systems) = (String::new(), [const { String::new() }; 3]);
    for id in 0..30 {
        references += &format!(
            "{{\"id\": {id}, \"reference\": \"a b c d\", \"topic\": \"{}\"}}\n",
            id % 2
        );
        for (system, is_wrong) in systems.iter_mut().zip([id % 5 == 0, id % 5 != 0, false]) {
            let last = if is_wrong { "x" } else { "d" };
            *system += &format!("{{\"id\": {id}, \"prediction\": \"a b c {last}\"}}\n");
        }
    }
    let [a, b, c] = systems;
    Folder::new(&[
        ("r.jsonl", &references),
        ("a.jsonl", &a),
        ("b.jsonl", &b),
        ("c.jsonl", &c),
    ])
}

fn compared(folder: &Folder, words: &str) -> Value {
    folder
        .run(&format!("compare wer -r r.jsonl {words} --format json"))
        .code(0)
        .json()
}

#[track_caller]
fn find<'c>(result: &'c Value, system: &str, score: &str) -> &'c Value {
    let comparisons = result["comparisons"].as_array().expect("comparisons");
    let mut found = comparisons
        .iter()
        .filter(|it| it["system"] == system && it["score"] == score);
    found.next().expect("a comparison")
}

#[test]
fn systems_are_compared_with_the_first() {
    let folder = speech();
    let result = compared(&folder, "-p a.jsonl b.jsonl c.jsonl");
    for (field, value) in [
        ("schema", json!(1)),
        ("metric", json!("wer")),
        ("examples", json!(30)),
        ("clusters", json!(30)),
        ("confidence", json!(0.95)),
        ("resamples", json!(2000)),
        ("permutations", json!(10_000)),
        ("seed", json!(0)),
        ("cluster_field", Value::Null),
        ("groups", json!({})),
    ] {
        assert_eq!(result[field], value, "{field}");
    }
    let signature = "wer|profile:jiwer|unit:word|normalize:none|confidence:0.95|resamples:2000|seed:0|interval:auto|permutations:10000|v:0.1.0";
    assert_eq!(result["signature"], json!(signature));
    let names: Vec<&Value> = result["systems"]
        .as_array()
        .expect("systems")
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    let b = find(&result, "b", "wer");
    assert_eq!(
        (&b["baseline"], &b["delta"]),
        (&json!("a"), &json!(0.2 - 0.05))
    );
    assert_eq!(
        [&b["wins"], &b["ties"], &b["losses"], &b["undefined"]],
        [6, 0, 24, 0]
    );
    // Six examples with a difference of -0.25, and 24 with one of 0.25: the bins are 0.05 wide.
    let mut bins = [0; 20];
    (bins[4], bins[15]) = (6, 24);
    let distribution = json!({"range": [-0.5, 0.5], "bins": bins, "below": 0, "above": 0});
    assert_eq!(b["distribution"], distribution);
    assert_eq!(b["test"], json!("randomization"));
    // The smallest p-value of two is doubled.
    assert!(b["p"].as_f64() < Some(0.01) && b["p_holm"].as_f64() >= b["p"].as_f64());
    // The direction of the score says which value is better.
    let wip = find(&result, "b", "wip");
    assert_eq!([&wip["wins"], &wip["losses"]], [6, 24]);
    assert!(wip["delta"].as_f64() < Some(0.0));

    let threads = ["1", "2", "5"].map(|threads| {
        compared(
            &folder,
            &format!("-p a.jsonl b.jsonl c.jsonl --threads {threads}"),
        )
    });
    assert!(threads.iter().all(|other| *other == result));
}

#[test]
fn a_system_against_itself_and_exchanged() {
    let folder = speech();
    let result = compared(&folder, "-p a.jsonl a.jsonl b.jsonl --names one,same,b");
    let same = find(&result, "same", "wer");
    assert_eq!((&same["p"], &same["delta"]), (&json!(1.0), &json!(0.0)));
    assert_eq!([&same["wins"], &same["ties"], &same["losses"]], [0, 30, 0]);

    let there = compared(&folder, "-p a.jsonl b.jsonl");
    let back = compared(&folder, "-p a.jsonl b.jsonl --baseline b");
    let (there, back) = (find(&there, "b", "wer"), find(&back, "a", "wer"));
    assert_eq!(there["p"], back["p"]);
    assert_eq!(
        (&there["wins"], &there["losses"]),
        (&back["losses"], &back["wins"])
    );
    let bins = |it: &Value| it["distribution"]["bins"].as_array().cloned();
    let mut reversed = bins(back).expect("bins");
    reversed.reverse();
    assert_eq!(bins(there), Some(reversed));
    assert_eq!(
        there["delta"].as_f64(),
        back["delta"].as_f64().map(|delta| -delta)
    );
}

#[test]
fn all_pairs_and_names() {
    let folder = speech();
    let result = compared(&folder, "-p a.jsonl b.jsonl c.jsonl --all-pairs");
    let comparisons = result["comparisons"].as_array().expect("comparisons");
    let pairs = comparisons.iter().filter(|it| it["score"] == "wer");
    let pairs: Vec<_> = pairs
        .map(|it| (it["baseline"].as_str(), it["system"].as_str()))
        .collect();
    assert_eq!(
        pairs,
        [("a", "b"), ("a", "c"), ("b", "c")].map(|(a, b)| (Some(a), Some(b)))
    );

    // Equal stems take the path.
    std::fs::create_dir(folder.path("x")).expect("a folder");
    std::fs::copy(folder.path("b.jsonl"), folder.path("x/a.jsonl")).expect("a copy");
    let result = compared(&folder, "-p a.jsonl -p x/a.jsonl");
    assert_eq!(result["systems"][1]["name"], json!("x/a.jsonl"));
    assert_eq!(result["systems"][1]["predictions"], json!("x/a.jsonl"));
}

#[test]
fn slices_are_compared_as_a_family() {
    let folder = speech();
    let result = compared(&folder, "-p a.jsonl b.jsonl --slice-field topic");
    let topics = result["groups"]["topic"].as_object().expect("groups");
    assert_eq!(topics.keys().collect::<Vec<_>>(), ["0", "1"]);
    let p = |topic: &str, field: &str| {
        let comparisons = topics[topic]["comparisons"]
            .as_array()
            .expect("comparisons");
        let wer = comparisons
            .iter()
            .find(|it| it["score"] == "wer")
            .expect("wer");
        wer[field].as_f64().expect("a p-value")
    };
    for topic in ["0", "1"] {
        assert!(p(topic, "p_holm") >= p(topic, "p"));
        assert_eq!(topics[topic]["systems"][0]["clusters"], json!(15));
        assert!(topics[topic]["systems"][1]["intervals"]["wer"]["method"].is_string());
    }
    assert!(
        ["0", "1"]
            .iter()
            .any(|topic| p(topic, "p_holm") > p(topic, "p"))
    );
}

#[test]
fn slices_of_two_systems_are_adjusted_together() {
    let folder = speech();
    let table = folder
        .run("compare wer -r r.jsonl -p a.jsonl b.jsonl --slice-field topic --quiet")
        .code(0)
        .stdout;
    let headers = table.lines().filter(|line| line.starts_with("score "));
    // All examples have one comparison, and the topics have two.
    let with_holm: Vec<bool> = headers.map(|line| line.contains("p (Holm)")).collect();
    assert_eq!(with_holm, [false, true, true], "{table}");
    assert!(
        table.contains("\nwer, topic 0 (lower is better) "),
        "{table}"
    );
    // Each score has its own table, with the intervals of both systems, if there is room for all.
    let wide = folder
        .run("compare wer -r r.jsonl -p a.jsonl b.jsonl --slice-field topic --quiet --wide")
        .code(0)
        .stdout;
    let starts = |start: &str| wide.lines().any(|line| line.starts_with(start));
    assert!(starts("wer (lower is better) "), "{wide}");
    assert!(starts("wer, topic 0 (lower is better) "), "{wide}");
    assert!(
        table.contains("10000 trials, Holm over 2 comparisons of topic; seed 0."),
        "{table}"
    );
    assert!(!table.contains("looks at one data set"), "{table}");

    // Many slices are many looks.
    let ids = "--slice-field id --resamples 100 --permutations 100 --quiet";
    let run = |format: &str| {
        let words = format!("compare wer -r r.jsonl -p a.jsonl b.jsonl --format {format} {ids}");
        folder.run(&words).code(0).stdout
    };
    let note = "30 slices by id are 30 looks at one data set: some differ by chance";
    assert!(run("table").contains(&format!("\n{note}\n")));
    assert!(run("markdown").contains(&format!("\n{note}\n")));
    assert!(run("latex").contains(&format!("{{\\footnotesize {note}\n30 records")));
}

#[test]
fn groups_with_few_clusters_are_named() {
    let folder = speech();
    let words = "compare wer -r r.jsonl -p a.jsonl b.jsonl --slice-field topic --slice-field id --resamples 100";
    let stderr = folder.run(words).code(0).stderr;
    for says in [
        "2 groups of topic have fewer than 30 clusters, from which a 95% interval may contain the true score less than 95% of the time: \"0\" (15 clusters), \"1\" (15 clusters)\n",
        "30 groups of id have too few clusters for any difference to be significant: \"0\" (1 cluster), \"1\" (1 cluster), \"10\" (1 cluster), \"11\" (1 cluster), \"12\" (1 cluster) and 25 more",
        "a: 30 groups of id have no interval for wer, mer, wil, wip, wer_mean, as an interval needs at least 2 clusters: ",
    ] {
        assert!(stderr.contains(says), "{says}: {stderr}");
    }
    // It is said once, as it is true of all systems.
    assert_eq!(stderr.matches("groups of topic have fewer").count(), 1);
}

#[test]
fn few_clusters_are_tried_in_all_ways() {
    let lines = |word: &str| format!("{word}\n").repeat(5);
    let folder = Folder::new(&[
        ("r.txt", &lines("a b")),
        ("a.txt", &lines("a b")),
        ("b.txt", &lines("a x")),
    ]);
    let run = folder
        .run("compare wer -r r.txt -p a.txt b.txt --format json")
        .code(0);
    assert!(
        run.stderr.contains(
            "5 clusters: no difference can be significant, as no p-value is below 0.0625"
        ),
        "{}",
        run.stderr
    );
    let result = run.json();
    let wer = find(&result, "b", "wer");
    assert_eq!(
        (&wer["test"], &wer["p"]),
        (&json!("randomization-exact"), &json!(0.0625))
    );
    let accuracy = folder
        .run("compare string-accuracy -r r.txt -p a.txt b.txt --format json")
        .code(0)
        .json();
    let accuracy = find(&accuracy, "b", "string_accuracy");
    assert_eq!(
        (&accuracy["test"], &accuracy["p"]),
        (&json!("mcnemar-exact"), &json!(0.0625))
    );
    assert_eq!(accuracy["losses"], json!(5));
}

#[test]
fn what_one_system_lacks_is_left_out_of_all() {
    let folder = speech();
    let without = |name: &str, ids: &[usize]| {
        let text = std::fs::read_to_string(folder.path(name)).expect("a file");
        let kept = text.lines().enumerate().filter(|(id, _)| !ids.contains(id));
        let kept: String = kept.map(|(_, line)| format!("{line}\n")).collect();
        std::fs::write(folder.path(&format!("less-{name}")), kept).expect("a file");
    };
    without("a.jsonl", &[0, 1]);
    without("b.jsonl", &[1, 2, 3]);
    let run = |words: &str| {
        folder.run(&format!(
            "compare wer -r r.jsonl -p less-a.jsonl less-b.jsonl --format json {words}"
        ))
    };
    run("").fails(3, &["2 references"]);
    let skipped = run("--missing skip").code(0).json();
    assert_eq!(
        (&skipped["examples"], &skipped["clusters"]),
        (&json!(26), &json!(26))
    );
    let missing = |result: &serde_json::Value| {
        [0, 1].map(|system| result["systems"][system]["missing"].as_u64())
    };
    assert_eq!(missing(&skipped), [Some(2), Some(3)]);
    assert_eq!(
        [&skipped["warnings"][1], &skipped["warnings"][2]],
        [
            "less-a: 2 references have no prediction and were left out",
            "less-b: 3 references have no prediction and were left out"
        ],
        "{}",
        skipped["warnings"]
    );
    let wer = find(&skipped, "less-b", "wer");
    let sum: u64 = ["wins", "ties", "losses"]
        .iter()
        .filter_map(|field| wer[*field].as_u64())
        .sum();
    assert_eq!(sum, 26);
    let empty = run("--missing empty").code(0).json();
    assert_eq!(empty["examples"], json!(30));
    assert_eq!(missing(&empty), [Some(2), Some(3)]);
}

#[test]
fn a_system_that_is_worse_fails() {
    let folder = speech();
    let run = |words: &str| folder.run(&format!("compare wer -r r.jsonl {words}"));
    let failed = run("-p a.jsonl b.jsonl --fail-if-worse wer").code(1);
    assert!(
        failed
            .stderr
            .contains("b is significantly worse than a on wer: +0.1500"),
        "{}",
        failed.stderr
    );
    assert!(failed.stdout.contains("wer (lower is better)"));
    run("-p b.jsonl a.jsonl --fail-if-worse wer").code(0);
    run("-p a.jsonl b.jsonl --fail-if-worse bleu").fails(2, &["no such score", "wer, mer"]);
}

#[test]
fn forms_for_papers() {
    let folder = speech();
    let run = |format: &str| {
        folder
            .run(&format!(
                "compare wer -r r.jsonl -p a.jsonl b.jsonl c.jsonl --format {format}"
            ))
            .code(0)
            .stdout
    };
    let table = run("table");
    for says in [
        "wer (lower is better)",
        "a (baseline)",
        "6 / 0 / 24",
        " *\n",
        "30 records; expanded percentile bootstrap, 2000 resamples; paired randomization test, 10000 trials, Holm over 2 comparisons; seed 0. * marks p <= 0.05.",
    ] {
        assert!(table.contains(says) || says == " *\n", "{says}: {table}");
    }
    assert!(table.contains(" *"), "{table}");
    let latex = run("latex");
    for says in [
        "\\begin{tabular}{lrrrrrrr}",
        "\\textbf{0.0000}",
        "$^\\dagger$",
        "95\\% interval",
        "{\\footnotesize 30 records; expanded percentile bootstrap, 2000 resamples; paired randomization test, 10000 trials, Holm over 2 comparisons; seed 0. $^\\dagger$ $p \\leq 0.05$}\n% wer|",
    ] {
        assert!(latex.contains(says), "{says}: {latex}");
    }
    assert!(latex.contains("wer\\_mean"));
    let markdown = run("markdown");
    for says in ["| --- | ---: |", "**0.0000**", " \\* |"] {
        assert!(markdown.contains(says), "{says}: {markdown}");
    }
}

#[test]
fn the_largest_losses_are_shown() {
    let folder = speech();
    let run = folder
        .run("compare wer -r r.jsonl -p a.jsonl b.jsonl --show-regressions 2")
        .code(0);
    let shown = run
        .stdout
        .split("Largest losses of b compared with a on wer\n")
        .nth(1)
        .expect("losses");
    assert_eq!(shown.lines().count(), 8, "{shown}");
    assert!(shown.starts_with("  1: 0.0000 -> 0.2500\n"), "{shown}");
    for says in [
        "reference  \"a b c d\"",
        "a          \"a b c d\"",
        "b          \"a b c x\"",
    ] {
        assert!(shown.contains(says), "{says}: {shown}");
    }

    let result = compared(&folder, "-p a.jsonl b.jsonl --show-regressions 1");
    let expected = json!([{"baseline": "a", "system": "b", "score": "wer", "examples": [{
        "id": "1", "part": null, "scores": [0.0, 0.25], "reference": "\"a b c d\"",
        "predictions": ["\"a b c d\"", "\"a b c x\""],
    }]}]);
    assert_eq!(result["regressions"], expected);
    let without = compared(&folder, "-p a.jsonl b.jsonl");
    assert_eq!(without["regressions"], Value::Null);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = speech();
    let run = |words: &str| folder.run(&format!("compare wer -r r.jsonl {words}"));
    run("-p a.jsonl").fails(2, &["1 system to compare", "at least 2"]);
    run("-p a.jsonl b.jsonl --names a,a").fails(2, &["two systems have the name \"a\"", "--names"]);
    run("-p a.jsonl b.jsonl --names a").fails(2, &["--names: found 1"]);
    run("-p a.jsonl b.jsonl --baseline z").fails(2, &["--baseline z", "expected one of a, b"]);
    run("-p a.jsonl b.jsonl --baseline a --all-pairs").fails(2, &["--all-pairs"]);
    run("-p a.jsonl b.jsonl --permutations 0").fails(2, &["--permutations"]);
    folder
        .run("compare wer -r - -p a.jsonl b.jsonl")
        .fails(2, &["expected a file"]);
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn systems_may_be_fields_of_one_file() {
    let folder = Folder::new(&[
        (
            "t.csv",
            "id,reference,a,b,part\n1,x,x,y,p\n2,x,x,x,p\n3,x,y,x,q\n4,x,x,y,q\n",
        ),
        ("r.jsonl", "{\"id\":1,\"reference\":\"x\"}\n"),
    ]);
    for (name, column) in [("a", 2), ("b", 3)] {
        let table = "id,prediction\n1,x,y\n2,x,x\n3,y,x\n4,x,y\n";
        let line = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{}\n", cells[0], cells[column - 1])
        };
        let rows: String = table.lines().skip(1).map(line).collect();
        folder.put(
            &format!("{name}.csv"),
            format!("id,prediction\n{rows}").as_bytes(),
        );
    }
    let compare = |words: &str| {
        let words = format!("compare string-accuracy --format json {words}");
        folder.run(&words)
    };
    let of_fields =
        compare("--pairs t.csv --prediction-field a --prediction-field b --slice-field part")
            .json();
    let of_files = compare("-r t.csv -p a.csv b.csv --slice-field part").json();
    assert_eq!(of_fields["comparisons"][0]["system"], "b");
    assert_eq!(of_fields["comparisons"], of_files["comparisons"]);
    assert_eq!(of_fields["groups"], of_files["groups"]);
    compare("--pairs t.csv --prediction-field a --prediction-field b --names one,two").code(0);
    let text = folder.run("compare string-accuracy --pairs t.csv --prediction-field a --prediction-field b --show-regressions 1");
    assert!(
        text.code(0)
            .stdout
            .contains("Largest losses of b compared with a")
    );
    compare("--pairs t.csv --prediction-field a").fails(2, &["1 system to compare"]);
    compare("--pairs t.csv --prediction-field a --prediction-field c")
        .fails(3, &["no column \"c\""]);
    compare("-r t.csv -p a.csv b.csv --prediction-field a --prediction-field b")
        .fails(2, &["--prediction-field", "--pairs"]);
    compare("--pairs t.csv -p a.csv").code(2);
}
