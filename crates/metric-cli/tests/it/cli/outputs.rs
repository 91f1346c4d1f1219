//! Outputs: tables, files of samples, pages of help, exit codes.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{R, THREE, THREE_PREDICTED, read, strings};
use crate::common::Folder;

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
    // A record has both sides. Only a part of one, such as a class of boxes, can have no reference.
    run("--missing empty --extra ignore").code(0);
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
#[cfg_attr(not(feature = "report"), ignore = "writes reports or charts")]
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
