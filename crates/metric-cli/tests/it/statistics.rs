//! Intervals and slices, end to end.

use std::fs;
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};
#[cfg(target_os = "linux")]
use std::time::Duration;

use crate::common::Folder;
use serde_json::{Value, json};

/// Utterances of three speakers on two topics; the fourth word of each fourth one is recognized incorrectly.
fn speech() -> Folder {
    let (mut references, mut predictions) = (String::new(), String::new());
    for index in 0..40 {
        let (speaker, topic) = (index % 3, ["news", "sport"][index % 2]);
        let word = if index % 4 == 0 { "x" } else { "d" };
        references += &format!(
            "{{\"id\": {index}, \"reference\": \"a b c d\", \"speaker\": {speaker}, \"topic\": [\"{topic}\", \"all\"], \"length\": {}}}\n",
            index * 2
        );
        predictions += &format!("{{\"id\": \"{index}\", \"prediction\": \"a b c {word}\"}}\n");
    }
    Folder::new(&[("r.jsonl", &references), ("p.jsonl", &predictions)])
}

const SCORE: &str = "score wer -r r.jsonl -p p.jsonl --format json";

fn json_of(folder: &Folder, options: &str) -> Value {
    folder.run(&format!("{SCORE} {options}")).code(0).json()
}

#[test]
fn statistics_are_off_unless_they_are_asked_for() {
    let folder = speech();
    for options in ["", "--seed 3", "--threads 2"] {
        let result = json_of(&folder, options);
        assert_eq!(result["statistics"], Value::Null);
        assert_eq!(
            result["signature"],
            json!("wer|profile:jiwer|unit:word|normalize:none|v:0.1.0")
        );
    }
    for options in ["--confidence 0.95", "--resamples 2000", "--interval auto"] {
        let result = json_of(&folder, options);
        assert_eq!(result["statistics"]["clusters"], json!(40), "{options}");
        assert_eq!(result["statistics"]["cluster_field"], Value::Null);
        let interval = &result["statistics"]["intervals"]["wer"];
        assert_eq!(interval["method"], json!("expanded"));
        assert!(
            interval["low"].as_f64() < Some(0.0625) && interval["high"].as_f64() > Some(0.0625)
        );
        let signature = "wer|profile:jiwer|unit:word|normalize:none|confidence:0.95|resamples:2000|seed:0|interval:auto|v:0.1.0";
        assert_eq!(result["signature"], json!(signature), "{options}");
    }
    let result = json_of(
        &folder,
        "--confidence 0.9 --seed 18446744073709551615 --cluster-field speaker",
    );
    assert_eq!(result["statistics"]["seed"], json!("18446744073709551615"));
    assert_eq!(result["statistics"]["clusters"], json!(3));
}

#[test]
fn slices_are_groups_with_intervals_of_their_own() {
    let folder = speech();
    let plain = json_of(&folder, "--slice-field topic");
    let names: Vec<&String> = plain["groups"]["topic"]
        .as_object()
        .expect("groups")
        .keys()
        .collect();
    assert_eq!(names, ["all", "news", "sport"]);
    assert_eq!(plain["groups"]["topic"]["all"]["scores"], plain["scores"]);
    assert_eq!(plain["groups"]["topic"]["news"]["intervals"], Value::Null);

    // A slice that holds everything is the total.
    let result = json_of(
        &folder,
        "--slice-field topic --slice-bins length:0,10,60 --confidence 0.9",
    );
    let all = &result["groups"]["topic"]["all"];
    assert_eq!(all["intervals"], result["statistics"]["intervals"]);
    assert_eq!(result["groups"]["topic"]["news"]["clusters"], json!(20));
    let names: Vec<&String> = result["groups"]["length"]
        .as_object()
        .expect("bins")
        .keys()
        .collect();
    assert_eq!(names, ["[0, 10)", "[10, 60)", "[60, inf)"]);

    // From a file of ids and values.
    let lines: String = (0..40)
        .map(|id| format!("{id} part {}\n", id % 2))
        .collect();
    fs::write(folder.path("utt2part"), lines).expect("a file");
    let sliced = json_of(&folder, "--slices utt2part --confidence 0.9");
    let (part, topic) = (
        &sliced["groups"]["utt2part"]["part 0"],
        &result["groups"]["topic"]["news"],
    );
    assert_eq!(part, topic);
}

#[test]
fn each_record_a_cluster_by_its_id() {
    let folder = speech();
    let [by_default, by_id] = ["--confidence 0.9", "--confidence 0.9 --cluster-field id"]
        .map(|options| json_of(&folder, options)["statistics"]["intervals"].clone());
    assert_eq!(by_default, by_id);
}

#[test]
fn replicates_are_written_and_continue() {
    let folder = speech();
    let replicates = |resamples: u64| {
        json_of(
            &folder,
            &format!("--resamples {resamples} --replicates out.jsonl"),
        );
        fs::read_to_string(folder.path("out.jsonl")).expect("replicates")
    };
    let (few, many) = (replicates(40), replicates(80));
    assert_eq!(few.lines().count(), 40);
    assert!(many.starts_with(&few));
    let first: Value = serde_json::from_str(few.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["replicate"], json!(1));
    assert!(first["scores"]["wer"].is_number());
}

#[test]
fn clusters_scattered_over_shards() {
    let folder = speech();
    let options = "--confidence 0.9 --cluster-field speaker --slice-field topic";
    let whole = folder.run(&format!("{SCORE} {options}")).code(0).stdout;
    let shards = 5;
    for index in 0..shards {
        folder
            .run(&format!(
                "{SCORE} {options} --shard {index}/{shards} --state-out {index}.state"
            ))
            .code(0);
    }
    let merged = folder
        .run("merge 3.state 0.state 4.state 1.state 2.state --format json")
        .code(0);
    assert_eq!(merged.stdout, whole);
    folder
        .run(&format!(
            "{SCORE} --confidence 0.8 --shard 1/5 --state-out other.state"
        ))
        .code(0);
    folder
        .run("merge 0.state other.state")
        .fails(3, &["confidence:0.8"]);
    folder
        .run(&format!(
            "{SCORE} --confidence 0.9 --cluster-field speaker --shard 1/5 --state-out other.state"
        ))
        .code(0);
    folder
        .run("merge 0.state other.state")
        .fails(3, &["with slices by topic"]);

    // Other bins are other slices.
    for (index, bins) in [(0, "0,10"), (1, "0,20")] {
        folder
            .run(&format!(
                "{SCORE} --slice-bins length:{bins} --shard {index}/2 --state-out bins{index}.state"
            ))
            .code(0);
    }
    folder
        .run("merge bins0.state bins1.state")
        .fails(3, &["with slices by length:0,10", "length:0,20"]);
}

/// The lines of a file in another order.
fn shuffle(folder: &Folder, from: &str, to: &str, step: usize) {
    let text = fs::read_to_string(folder.path(from)).expect("a file");
    let lines: Vec<&str> = text.lines().collect();
    // Every number without a common factor visits each line once.
    let shuffled = (0..lines.len()).map(|index| lines[(index * step + 5) % lines.len()]);
    let shuffled: String = shuffled.map(|line| format!("{line}\n")).collect();
    fs::write(folder.path(to), shuffled).expect("a file");
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn the_same_bytes_on_any_threads_in_any_order_and_from_any_shards() {
    let folder = speech();
    shuffle(&folder, "r.jsonl", "r2.jsonl", 7);
    shuffle(&folder, "p.jsonl", "p2.jsonl", 3);
    let (mut references, mut predictions) = (
        "id,reference,speaker,topic,length\n".to_owned(),
        "id,prediction\n".to_owned(),
    );
    for index in (0..40).rev() {
        let word = if index % 4 == 0 { "x" } else { "d" };
        references += &format!("{index},a b c d,{},news,{}\n", index % 3, index * 2);
        predictions += &format!("{index},a b c {word}\n");
    }
    folder.put("r.csv", references.as_bytes());
    folder.put("p.csv", predictions.as_bytes());

    for metric in ["wer", "string-accuracy", "wer,exact-match"] {
        let options = "--resamples 100 --interval expanded --seed 7 --cluster-field speaker --slice-bins length:0,10,20 --quiet --format json";
        let score = |files: &str, more: &str| format!("score {metric} {files} {options} {more}");
        let bytes = |words: &str| folder.run(words).code(0).stdout;
        let files = "-r r.jsonl -p p.jsonl";
        let whole = bytes(&score(files, ""));
        for threads in [1, 2, 5] {
            let found = bytes(&score(files, &format!("--threads {threads}")));
            assert_eq!(found, whole, "{metric} on {threads} threads");
        }
        for files in [
            "-r r2.jsonl -p p.jsonl",
            "-r r2.jsonl -p p2.jsonl",
            "-r r.csv -p p.csv",
            "-r r.csv -p p2.jsonl",
        ] {
            assert_eq!(bytes(&score(files, "")), whole, "{metric} {files}");
        }
        for shards in [1, 2, 6, 17] {
            let mut states = String::new();
            for index in (0..shards).rev() {
                let shard = format!("--shard {index}/{shards} --state-out {index}.state");
                folder.run(&score(files, &shard)).code(0);
                states += &format!(" {index}.state");
            }
            let merged = bytes(&format!("merge{states} --quiet --format json"));
            assert_eq!(merged, whole, "{metric} of {shards} shards");
        }
    }

    let compare = |files: &str, threads: u32| {
        let words = format!(
            "compare wer {files} --names a,b --resamples 100 --permutations 200 --cluster-field speaker --slice-bins length:0,10,20 --quiet --format json --threads {threads}"
        );
        let mut result = folder.run(&words).code(0).json();
        for system in result["systems"].as_array_mut().expect("systems") {
            system["predictions"] = Value::Null;
        }
        result.to_string()
    };
    folder.put("c.csv", predictions.replace(" x", " d").as_bytes());
    let all = fs::read_to_string(folder.path("p.jsonl")).expect("a file");
    folder.put("c.jsonl", all.replace(" x", " d").as_bytes());
    let whole = compare("-r r.jsonl -p p.jsonl c.jsonl", 1);
    for (files, threads) in [
        ("-r r.jsonl -p p.jsonl c.jsonl", 2),
        ("-r r.jsonl -p p.jsonl c.jsonl", 5),
        ("-r r2.jsonl -p p2.jsonl c.jsonl", 2),
        ("-r r.csv -p p.csv c.csv", 2),
    ] {
        assert_eq!(compare(files, threads), whole, "{files} on {threads}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = speech();
    fs::write(folder.path("r.txt"), "a\nb\n").expect("a file");
    fs::write(folder.path("values.txt"), "0 a\n0 b\n").expect("a file");
    let run = |options: &str| folder.run(&format!("{SCORE} {options}"));
    run("--confidence 1").fails(2, &["--confidence", "between 0 and 1"]);
    run("--confidence 0").fails(2, &["--confidence", "between 0 and 1"]);
    run("--resamples 38").fails(2, &["--resamples", "at least 39"]);
    run("--interval normal").fails(2, &["--interval"]);
    run("--replicates out.jsonl").fails(2, &["--replicates needs statistics"]);
    run("--cluster-field place").fails(3, &["id \"0\"", "no field \"place\""]);
    run("--cluster-field topic").fails(3, &["id \"0\"", "found a list"]);
    run("--slice-bins topic:1,2").fails(3, &["expected a number"]);
    run("--slice-bins length:2,1").fails(2, &["rising numbers"]);
    run("--slice-field topic --slice-field topic").fails(2, &["there is a slice of this name"]);
    run("--slices values.txt").fails(3, &["values.txt:2: ", "has the value \"a\" already"]);
    folder
        .run("score wer -r r.txt -p r.txt --cluster-field speaker")
        .fails(2, &["--cluster-field speaker", "have no fields"]);
    folder
        .run("score wer -r r.txt -p r.txt --slice-field topic")
        .fails(2, &["--slice-field topic", "have no fields"]);
    run("--resamples 100000000").fails(5, &["--resamples of at most"]);
}

#[test]
fn proportions_have_intervals_without_replicates() {
    let folder = Folder::new(&[("t.txt", &"a\n".repeat(20))]);
    let score = |options: &str| {
        let words = format!("score string-accuracy -r t.txt -p t.txt --format json {options}");
        folder.run(&words).code(0)
    };
    let auto = score("--confidence 0.95").json();
    let interval = &auto["statistics"]["intervals"]["string_accuracy"];
    assert_eq!(
        (&interval["method"], &interval["high"]),
        (&json!("wilson"), &json!(1.0))
    );
    assert!(
        interval["low"]
            .as_f64()
            .is_some_and(|low| (low - 0.838_874_841_947_180_8).abs() < 1e-12)
    );
    assert_eq!(interval["undefined"], json!(0));

    // All replicates are equal: they say nothing.
    let expanded = score("--interval expanded");
    assert!(
        expanded
            .stderr
            .contains("no interval for string_accuracy: all resamples have the same score")
    );
    assert!(
        expanded
            .stderr
            .contains("only 20 records: with fewer than 30, a 95% interval")
    );
    let interval = expanded.json()["statistics"]["intervals"]["string_accuracy"].clone();
    let none =
        json!({"low": null, "high": null, "method": null, "standard_error": 0.0, "undefined": 0});
    assert_eq!(interval, none);
}

#[test]
fn tables_have_a_column_of_intervals() {
    let folder = speech();
    let run = folder
        .run("score wer -r r.jsonl -p p.jsonl --confidence 0.9 --slice-field topic --quiet")
        .code(0);
    assert!(run.stdout.contains("90% interval"), "{}", run.stdout);
    assert!(run.stdout.contains("[0.03"), "{}", run.stdout);
}

#[test]
fn many_slices_are_many_looks() {
    let folder = speech();
    let run = |field: &str| {
        let words =
            format!("score wer -r r.jsonl -p p.jsonl --confidence 0.9 --slice-field {field}");
        folder.run(&words).code(0).stdout
    };
    let note = "\n40 slices by length are 40 looks at one data set: some differ by chance\n";
    assert!(run("length").contains(note), "{}", run("length"));
    assert!(!run("topic").contains("looks"));
}

/// The most memory that a run of the program has in use, in bytes.
#[cfg(target_os = "linux")]
fn peak(folder: &Folder, words: &str) -> u64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_metric"))
        .args(words.split(' '))
        .current_dir(folder.path("."))
        .stdout(Stdio::null())
        .spawn()
        .expect("the program");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("a running program").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0_u64) << 10);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(child.wait().expect("a status").success(), "{words}");
    peak
}

/// 1,000 classes are a confusion matrix of a million cells, which no replicate copies; and 50 slices are not 51 copies
/// of the data.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_classes_and_slices() {
    let (mut references, mut predictions) = (String::new(), String::new());
    for index in 0..20_000_u32 {
        let [class, other] = [7919, 104_729].map(|factor: u32| index.wrapping_mul(factor) % 1000);
        let class_of_prediction = if index % 3 == 0 { other } else { class };
        references += &format!(
            "{{\"id\": {index}, \"reference\": {class}, \"slice\": {}}}\n",
            index % 50
        );
        predictions += &format!("{{\"id\": {index}, \"prediction\": {class_of_prediction}}}\n");
    }
    let folder = Folder::new(&[("r.jsonl", &references), ("p.jsonl", &predictions)]);
    let run = |options: &str| {
        let words = format!(
            "score classification -r r.jsonl -p p.jsonl --threads 2 --quiet --state-out s.state {options}"
        );
        let bytes = peak(&folder, &words);
        let state = fs::metadata(folder.path("s.state")).expect("a state").len();
        (bytes, state)
    };
    let (plain, plain_state) = run("--missing error");
    for options in ["--resamples 60", "--resamples 60 --slice-field slice"] {
        let (bytes, state) = run(options);
        let [memory, state] = [
            bytes.saturating_sub(plain),
            state.saturating_sub(plain_state),
        ];
        assert!(memory < 64 << 20, "{options}: {memory} bytes of memory");
        assert!(state < 1 << 20, "{options}: {state} bytes of state");
    }
}

#[test]
fn the_end_of_an_interval_is_checked() {
    let folder = speech();
    let run = |words: &str| {
        folder.run(&format!(
            "score wer -r r.jsonl -p p.jsonl --confidence 0.9 --quiet {words}"
        ))
    };
    run("--fail-over wer.high=0.5").code(0);
    let failed = run("--fail-over wer.high=0.0626").code(1);
    assert!(
        failed.stderr.contains("wer.high is 0."),
        "{}",
        failed.stderr
    );
    run("--fail-under wip.low=0.1").code(0);
    run("--fail-under wer.low=0.1").fails(2, &["use --fail-over wer.low=0.1"]);
    folder
        .run("score wer -r r.jsonl -p p.jsonl --fail-over wer.high=0.5")
        .fails(
            2,
            &["wer.high: wer has no interval: ask for one with --confidence"],
        );
}

/// A data set of COCO with 40 images of four scenes; system `b` finds every object, system `a` those of three images
/// in four, as it puts the others elsewhere.
fn detections() -> Folder {
    let (mut images, mut truths) = (Vec::new(), Vec::new());
    let mut found = [Vec::new(), Vec::new()];
    for id in 1..=40 {
        let weather = ["sun", "rain"][id % 2];
        images.push(json!({
            "id": id, "width": 100 * (id % 3 + 1), "height": 100, "scene": id % 4, "weather": weather
        }));
        let bbox = |x: usize| json!([x, 10, 20, 20]);
        truths.push(json!({
            "id": id, "image_id": id, "category_id": 1, "bbox": bbox(10), "area": 400, "iscrowd": 0
        }));
        for (system, found) in found.iter_mut().enumerate() {
            let x = if system == 0 && id % 4 == 0 { 60 } else { 10 };
            found.push(json!({
                "image_id": id, "category_id": 1, "bbox": bbox(x), "score": 1.0 / (id + 1) as f64
            }));
        }
    }
    let references = json!({
        "images": images, "annotations": truths, "categories": [{"id": 1, "name": "car"}]
    });
    let values: String = (1..=40)
        .map(|id| format!("{id} {}\n", ["sun", "rain"][id % 2]))
        .collect();
    let [a, b] = found.map(|found| json!(found).to_string());
    Folder::new(&[
        ("r.json", &references.to_string()),
        ("a.json", &a),
        ("b.json", &b),
        ("image2weather", &values),
    ])
}

#[test]
fn images_have_clusters_and_slices() {
    let folder = detections();
    for metric in ["coco", "voc", "tide"] {
        let score = |options: &str| {
            let words = format!(
                "score {metric} -r r.json -p a.json --resamples 60 --format json {options}"
            );
            folder.run(&words).code(0).json()
        };
        let result = score("--slice-field weather --slice-bins width:0,150,250");
        assert_eq!(result["statistics"]["clusters"], 40, "{metric}");
        let groups = |kind: &str| -> Vec<String> {
            let groups = result["groups"][kind].as_object().expect("groups");
            groups.keys().cloned().collect()
        };
        assert_eq!(groups("weather"), ["rain", "sun"], "{metric}");
        assert_eq!(groups("width"), ["[0, 150)", "[150, 250)", "[250, inf)"]);
        for group in ["rain", "sun"] {
            assert_eq!(
                result["groups"]["weather"][group]["clusters"], 20,
                "{metric}"
            );
        }

        // The same from a file.
        let from_file = score("--slices image2weather");
        let [a, b] = [(&result, "weather"), (&from_file, "image2weather")]
            .map(|(result, kind)| &result["groups"][kind]);
        assert_eq!(a, b, "{metric}");

        let by_scene = score("--cluster-field scene --seed 3");
        assert_eq!(by_scene["statistics"]["clusters"], 4, "{metric}");

        for slices in ["--slice-field weather", "--slices image2weather"] {
            let words = format!(
                "compare {metric} -r r.json -p a.json b.json --resamples 60 --permutations 60 --format json {slices}"
            );
            let compared = folder.run(&words).code(0).json();
            let kind = slices.split(' ').nth(1).expect("a name");
            let of_sun = &compared["groups"][kind]["sun"];
            let score = &of_sun["comparisons"][0]["score"];
            assert_eq!(of_sun["systems"][0]["clusters"], 20, "{metric}");
            assert!(
                of_sun["comparisons"][0]["p_holm"].is_number(),
                "{metric} {score}"
            );
        }
    }
    folder
        .run("score coco -r r.json -p a.json --cluster-field video")
        .fails(3, &["no field \"video\""]);
}

#[test]
#[cfg_attr(not(feature = "csv"), ignore = "reads CSV")]
fn fields_of_tables_tell_clusters_and_slices_apart() {
    let folder = speech();
    let (mut references, mut predictions) = (
        "id,reference,speaker,length\n".to_owned(),
        "id,prediction\n".to_owned(),
    );
    for index in 0..40 {
        let word = if index % 4 == 0 { "x" } else { "d" };
        references += &format!("{index},a b c d,{},{}\n", index % 3, index * 2);
        predictions += &format!("{index},a b c {word}\n");
    }
    folder.put("r.csv", references.as_bytes());
    folder.put("p.csv", predictions.as_bytes());
    let options = "--confidence 0.95 --resamples 200 --cluster-field speaker --slice-field speaker --slice-bins length:0,10,20";
    let of_table = format!("score wer -r r.csv -p p.csv --format json {options}");
    let of_table = folder.run(&of_table).code(0).stdout;
    assert_eq!(
        of_table,
        folder.run(&format!("{SCORE} {options}")).code(0).stdout
    );
}
