//! Several metrics in one run.

use serde_json::{Value, json};

use crate::common::Folder;

const METRICS: [&str; 3] = ["wer", "cer", "string-accuracy"];

/// Texts, one of which has no prediction.
fn texts() -> Folder {
    let rows = [
        ("a", "One two three", Some("one two  three")),
        ("ц", "É", Some("E\u{301}")),
        ("3", "", Some("")),
        ("missing", "four", None),
    ];
    let references: String = rows
        .iter()
        .map(|(id, text, _)| json!({"id": id, "reference": text}).to_string() + "\n")
        .collect();
    let predictions: String = rows
        .iter()
        .filter_map(|(id, _, text)| {
            Some(json!({"id": id, "prediction": text.as_ref()?}).to_string() + "\n")
        })
        .collect();
    Folder::new(&[("r.jsonl", &references), ("p.jsonl", &predictions)])
}

const DATA: &str = "--missing empty -r r.jsonl -p p.jsonl";

#[test]
fn each_result_is_that_of_a_run_of_its_own() {
    let folder = texts();
    for options in ["", "--normalize nfc,casefold"] {
        let single = |metric: &str, format: &str| {
            let run = folder.run(&format!(
                "score {metric} {options} {DATA} -q --format {format}"
            ));
            run.code(0).stdout
        };
        let objects = METRICS.map(|metric| single(metric, "json").trim_end().to_owned());
        let expected = format!("{{\"schema\":1,\"results\":[{}]}}\n", objects.join(","));
        for threads in [1, 2, 5] {
            let run = folder.run(&format!(
                "score wer,cer,string-accuracy {options} {DATA} --format json --threads {threads}"
            ));
            assert_eq!(run.code(0).stdout, expected, "{options}");
        }
        for format in ["table", "markdown"] {
            let tables = METRICS.map(|metric| single(metric, format));
            let run = folder.run(&format!(
                "score wer,cer,string-accuracy {options} {DATA} -q --format {format}"
            ));
            assert_eq!(run.code(0).stdout, tables.join("\n"), "{options}");
        }
    }
    // A remark of several metrics on the data is printed once.
    let run = folder
        .run(&format!("score wer,cer,string-accuracy {DATA}"))
        .code(0);
    assert_eq!(
        run.stderr.matches("1 reference has no prediction").count(),
        1,
        "{}",
        run.stderr
    );
}

#[test]
fn an_option_that_needs_a_profile_is_named_without_the_value_of_another() {
    let words = format!("score cer,exact-match --unit grapheme --case-sensitive {DATA}");
    let says = "cer: --case-sensitive: expected only with --profile wenet";
    drop(texts().run(&words).fails(2, &[says]));
}

#[test]
#[cfg_attr(not(feature = "report"), ignore = "writes reports or charts")]
fn options_go_to_the_metrics_that_have_them() {
    let folder = texts();
    let results = |words: &str| {
        folder
            .run(&format!("score {words} {DATA} --format json"))
            .json()["results"]
            .clone()
    };
    let both = results("wer,exact-match --profile torchmetrics --ignore-case");
    assert!(
        both[0]["signature"]
            .to_string()
            .contains("profile:torchmetrics|unit:word"),
        "{both}"
    );
    assert!(
        both[1]["signature"]
            .to_string()
            .contains("exact-match|ignore:case"),
        "{both}"
    );
    let one = results("codebleu,string-accuracy --lang java --normalize casefold");
    assert!(
        !one[0]["signature"].to_string().contains("casefold"),
        "{one}"
    );
    assert!(
        one[1]["signature"]
            .to_string()
            .contains("normalize:casefold"),
        "{one}"
    );

    let fails = |words: &str, says: &[&str]| {
        drop(folder.run(&format!("score {words} {DATA}")).fails(2, says));
    };
    fails(
        "wer,cer --tolerance 1",
        &["--tolerance is not an option of wer and cer: relaxed-accuracy has it"],
    );
    fails(
        "wer,cer --profile codexglue",
        &["wer: --profile \"codexglue\": expected one of jiwer"],
    );
    fails(
        "wer,cer --unit grapheme",
        &["wer: --unit \"grapheme\": expected one of word, mixed"],
    );
    fails(
        "wer,anls --profile jiwer",
        &["anls: --profile \"jiwer\": expected one of paper, rrc"],
    );
    fails(
        "string-accuracy,wer --details d.json",
        &["--details is not an option of string-accuracy: "],
    );
    fails(
        "wer,cer --svg d",
        &["--svg draws one metric: score it in a run of its own"],
    );
    fails("wer,anls --show a", &["--show is not an option of anls: "]);
    fails(
        "arc,lanes --svg d",
        &["--svg draws one metric: score it in a run of its own"],
    );
    // Each metric shows the example.
    let show = |metrics: &str| {
        let words = format!("score {metrics} {DATA} --show a --show ц");
        folder.run(&words).code(0).stdout
    };
    let both = show("wer,cer");
    let position = |text: &str| both.find(text).expect("a shown example");
    assert!(position("One") < position("O n e"), "{both}");
    assert_eq!(both.len(), show("wer").len() + show("cer").len() + 1);
    let help = folder.run("score wer,anls --help").code(0).stdout;
    for part in [
        "--profile",
        "--normalize",
        "Reference of wer",
        "Reference of anls",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

#[test]
fn lists_that_are_none() {
    let folder = texts();
    for (names, says) in [
        (
            "wer,wer",
            "error: \"wer,wer\": wer is listed twice: expected each metric once",
        ),
        (
            "wer,nope",
            "error: \"wer,nope\": unknown metric \"nope\"; `metric list` lists all metrics",
        ),
        (
            "wer,",
            "error: \"wer,\": a name is missing: expected names separated by commas, such as wer,cer",
        ),
        (",wer", "error: \",wer\": a name is missing"),
        ("wer,,cer", "error: \"wer,,cer\": a name is missing"),
        (",", "error: \",\": a name is missing"),
        ("Wre,cer", "unknown metric \"Wre\"; did you mean wer?"),
    ] {
        folder
            .run(&format!("score {names} {DATA}"))
            .fails(2, &[says]);
        folder
            .run(&format!("score {names} --help"))
            .fails(2, &[says]);
    }
    folder
        .run("score nope -r r.jsonl -p p.jsonl")
        .fails(2, &["nope"]);
}

#[test]
fn samples_name_their_metric() {
    let folder = texts();
    folder
        .run(&format!("score wer,cer {DATA} --per-sample both.jsonl"))
        .code(0);
    let lines = |name: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(folder.path(name)).expect("samples");
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().expect("JSON")
    };
    let mut expected = Vec::new();
    for metric in ["wer", "cer"] {
        folder
            .run(&format!("score {metric} {DATA} --per-sample one.jsonl"))
            .code(0);
        let named = lines("one.jsonl")
            .into_iter()
            .enumerate()
            .map(|(index, mut line)| {
                assert_eq!(line.get("metric"), None);
                line["metric"] = json!(metric);
                (index, line)
            });
        expected.extend(named);
    }
    // In the order of the references, and of the metrics.
    expected.sort_by_key(|(index, _)| *index);
    let expected: Vec<Value> = expected.into_iter().map(|(_, line)| line).collect();
    assert_eq!(lines("both.jsonl"), expected);
}

#[test]
fn states_of_several_metrics() {
    let folder = texts();
    let score = |words: &str| {
        folder
            .run(&format!("score wer,cer {DATA} --format json -q {words}"))
            .code(0)
            .stdout
    };
    let whole = score("--state-out all.state --details all.json");
    for index in 0..3 {
        score(&format!(
            "--shard {index}/3 --state-out {index}.state --details part.json"
        ));
    }
    let merge = "merge 2.state 0.state 1.state --format json";
    let merged = folder
        .run(&format!(
            "{merge} -q --state-out merged.state --details merged.json"
        ))
        .code(0);
    assert_eq!(merged.stdout, whole);
    let read = |name: &str| std::fs::read(folder.path(name)).expect("a file");
    assert_eq!(read("merged.state"), read("all.state"));
    assert_eq!(read("merged.json"), read("all.json"));
    let one = folder.run("merge 1.state 0.state --format json").json();
    for result in one["results"].as_array().expect("results") {
        let warnings = result["warnings"].to_string();
        assert!(
            warnings.contains("1 of 3 shards is missing: shard 2"),
            "{warnings}"
        );
    }
    folder
        .run(&format!(
            "score cer,wer {DATA} --shard 2/3 --state-out x.state"
        ))
        .code(0);
    folder.run("merge 0.state x.state").fails(
        3,
        &["x.state: is a state of cer, wer: expected one of wer, cer"],
    );
}

#[test]
fn thresholds_of_several_metrics() {
    let folder = texts();
    let score = |words: &str, code| {
        folder
            .run(&format!("score wer,cer {DATA} -q {words}"))
            .code(code)
            .stderr
    };
    score("--fail-under wip=0 --fail-over cer=9", 0);
    let said = score("--fail-over cer=0.01", 1);
    assert!(said.contains("threshold check failed: cer is "), "{said}");
    // Both metrics have the score, and each has to pass.
    let said = score("--fail-over mer=0.01", 1);
    assert_eq!(
        said.matches("threshold check failed: mer is ").count(),
        2,
        "{said}"
    );
    let said = score("--fail-under string_accuracy=0.5", 2);
    assert!(
        said.contains("no such score: expected one of wer, mer"),
        "{said}"
    );
}

#[test]
fn metrics_that_read_a_file_in_different_ways_are_scored_in_separate_runs() {
    let folder = Folder::new(&[
        ("coco.json", include_str!("../../demo/coco-truth.json")),
        ("found.json", include_str!("../../demo/coco-results.json")),
        ("squad.json", include_str!("../../demo/squad-data.json")),
        (
            "texts.json",
            include_str!("../../demo/squad-predictions.json"),
        ),
        (
            "clip.json",
            "{\"1\": {\"attr_info\": {\"LaneType\": \"A\"}, \"centerline\": [1]}}",
        ),
    ]);
    for (metrics, r, p) in [
        ("coco,wer", "coco.json", "found.json"),
        ("wer,coco", "coco.json", "found.json"),
        ("squad,anls", "squad.json", "texts.json"),
        ("anls,exact-match,squad", "squad.json", "texts.json"),
        ("lanes,arc", "clip.json", "clip.json"),
        ("arc,lanes", "clip.json", "clip.json"),
    ] {
        let says = format!("read {r} in different ways: score them in separate runs");
        folder
            .run(&format!("score {metrics} -r {r} -p {p}"))
            .fails(2, &[&says]);
    }
    // Those that read it in one way share it.
    let all = folder.run("score coco,voc,tide,confusion-matrix,detection -r coco.json -p found.json --format json -q").json();
    for result in all["results"].as_array().expect("results") {
        let metric = result["metric"].as_str().expect("a name");
        let single = folder
            .run(&format!(
                "score {metric} -r coco.json -p found.json --format json -q"
            ))
            .json();
        assert_eq!(*result, single);
    }
    let truth = include_str!("../../demo/coco-truth.json");
    let piped = folder
        .run_with_input("score coco,voc -r - -p found.json --format json -q", truth)
        .json();
    assert_eq!(
        piped["results"],
        json!([all["results"][0], all["results"][1]])
    );
}
