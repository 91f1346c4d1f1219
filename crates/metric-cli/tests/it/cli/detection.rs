//! Detections: records, files of COCO, folders, kinds of errors.

use serde_json::{Value, json};

use crate::common::Folder;

#[test]
fn detections() {
    let folder = Folder::new(&[
        (
            "r.json",
            r#"{"1.jpg": {"cat": [[0,0,10,10]], "dog": []}, "2.jpg": {"cat": [[0,0,4,4],[9,9,4,4]]}}"#,
        ),
        (
            "p.json",
            r#"{"1.jpg": {"cat": [[0,0,10,9],[0,0,9,10]], "dog": [[]]}, "2.jpg": {"cat": [{"box": [0,0,4,4], "score": 0.5}]}}"#,
        ),
        (
            "fewer.json",
            r#"{"1.jpg": {"cat": []}, "2.jpg": {"cat": []}}"#,
        ),
        (
            "more.json",
            r#"{"1.jpg": {"cat": [], "dog": [], "emu": []}, "2.jpg": {"cat": []}}"#,
        ),
        (
            "nan.json",
            r#"{"1.jpg": {"cat": [[0,0,"nan",4]], "dog": []}, "2.jpg": {"cat": []}}"#,
        ),
        (
            "narrow.json",
            r#"{"1.jpg": {"cat": [[0,0,5,4],[0,0,-5,4]], "dog": []}, "2.jpg": {"cat": []}}"#,
        ),
        (
            "five.json",
            r#"{"1.jpg": {"cat": [[0,0,10,10,0.9]], "dog": []}, "2.jpg": {"cat": []}}"#,
        ),
        ("none.json", "{}"),
    ]);
    let run = |more: &str| folder.run(&format!("score detection --format json -r r.json {more}"));
    let honest = run("-p p.json").json();
    // One of the two boxes on the one cat is too many; one of the two small cats is not found.
    assert_eq!(
        honest["counts"],
        json!({"tp": 2, "fp": 1, "fn": 1, "repeated": 0})
    );
    assert_eq!(honest["scores"]["f1"], json!(4.0 / 6.0));
    assert_eq!(
        honest["groups"]["class"]["dog"]["scores"],
        json!({"precision": null, "recall": null, "f1": null})
    );
    let lenient = run("-p p.json --profile fusion-brain-2021 --groups both").json();
    assert_eq!(
        lenient["counts"],
        json!({"tp": 3, "fp": 0, "fn": 1, "repeated": 1})
    );
    assert_eq!(lenient["groups"]["image"]["1.jpg"]["counts"]["tp"], 2);
    assert!(
        lenient["warnings"][0]
            .as_str()
            .is_some_and(|text| text.contains("1 prediction counts as correct"))
    );
    for profile in ["one-to-one", "fusion-brain-2021"] {
        run(&format!("-p fewer.json --profile {profile}"))
            .fails(3, &["fewer.json", "1.jpg", "\"dog\""]);
        run(&format!("-p nan.json --profile {profile}")).fails(3, &["nan.json", "1.jpg", "cat"]);
        run(&format!("-p narrow.json --profile {profile}"))
            .fails(3, &["narrow.json", "class \"cat\"", "box 1", "-5"]);
        run(&format!("-p five.json --profile {profile}")).fails(3, &["box 0 has 5 numbers"]);
    }
    run("-p more.json").fails(3, &["\"emu\"", "--extra ignore"]);
    run("-p more.json --extra ignore").json();
    let ignored = run("-p more.json --profile fusion-brain-2021").json();
    assert_eq!(ignored["warnings"].as_array().map(Vec::len), Some(1));
    folder
        .run("score detection -r none.json -p none.json")
        .fails(3, &["no records"]);
    let words =
        "score detection --format json -r none.json -p none.json --profile fusion-brain-2021";
    assert_eq!(
        folder.run(words).json()["scores"],
        json!({"precision": 0.0, "recall": 0.0, "f1": 0.0})
    );
}

#[test]
fn missing_classes_of_an_image_are_counted() {
    let folder = Folder::new(&[
        (
            "r.json",
            r#"{"a": {"x": [[0,0,9,9]], "y": [[0,0,9,9]]}, "b": {"x": [[0,0,9,9]], "y": []}}"#,
        ),
        ("p.json", r#"{"a": {"x": [[0,0,9,9]]}}"#),
    ]);
    let run = |more: &str| {
        folder.run(&format!(
            "score detection --format json -r r.json -p p.json {more}"
        ))
    };
    run("").fails(
        3,
        &["p.json", "id \"a\"", "no prediction for the class \"y\""],
    );
    let skip = run("--missing skip").json();
    assert_eq!(
        (&skip["examples"], &skip["missing"]),
        (&json!(1), &json!(3))
    );
    let empty = run("--missing empty").json();
    assert_eq!(
        (&empty["examples"], &empty["missing"]),
        (&json!(4), &json!(3))
    );
    assert_eq!(empty["counts"]["fn"], 2);
    assert!(
        empty["warnings"][0]
            .as_str()
            .is_some_and(|text| text.starts_with("3 references have"))
    );
    run("--missing empty --profile fusion-brain-2021")
        .fails(3, &["no prediction for the class \"y\""]);
}

#[test]
fn confusions_of_many_classes_are_cells() {
    let folder = Folder::new(&[]);
    let details = |classes: u32| {
        let class = |id: u32| json!({"id": id, "name": format!("c{id}")});
        let truth = json!({
            "images": [{"id": 1, "width": 99, "height": 99}],
            "categories": (1..=classes).map(class).collect::<Vec<_>>(),
            "annotations": [{"id": 1, "image_id": 1, "category_id": 2, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0}],
        });
        let found = json!([
            {"image_id": 1, "category_id": 3, "bbox": [0, 0, 9, 9], "score": 0.5},
            {"image_id": 1, "category_id": 4, "bbox": [50, 0, 9, 9], "score": 0.5},
        ]);
        folder.put("t.json", truth.to_string().as_bytes());
        folder.put("p.json", found.to_string().as_bytes());
        let words = "score confusion-matrix -r t.json -p p.json --details d.json";
        folder.run(words).code(0);
        let details = std::fs::read(folder.path("d.json")).expect("details");
        serde_json::from_slice::<Value>(&details).expect("JSON")
    };
    let few = details(2_000);
    assert_eq!(
        (&few["matrix"][1][2], &few["matrix"][2_000][3]),
        (&json!(1), &json!(1))
    );
    let many = details(2_001);
    assert_eq!(many["matrix"], Value::Null);
    let cells = json!([
        {"truth": "background", "prediction": "c4", "count": 1},
        {"truth": "c2", "prediction": "c3", "count": 1},
    ]);
    assert_eq!(many["cells"], cells);
}

/// Two images: one of two dogs is found, and a cat next to it; then a cat that is found.
const TRUTH: &str = r#"{
    "images": [{"id": 7, "width": 100, "height": 100}, {"id": 8, "width": 100, "height": 100}],
    "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 2, "bbox": [0, 0, 10, 10], "area": 100, "iscrowd": 0,
         "segmentation": [[0, 0, 10, 0, 10, 10, 0, 10]]},
        {"id": 2, "image_id": 7, "category_id": 2, "bbox": [50, 0, 10, 10], "area": 100, "iscrowd": 0,
         "segmentation": [[50, 0, 60, 0, 60, 10, 50, 10]]},
        {"id": 3, "image_id": 8, "category_id": 1, "bbox": [0, 0, 40, 40], "area": 1600, "iscrowd": 0,
         "segmentation": [[0, 0, 40, 0, 40, 40, 0, 40]]}
    ]
}"#;

const FOUND: &str = r#"[
    {"image_id": 7, "category_id": 2, "bbox": [0, 0, 10, 10], "score": 0.9},
    {"image_id": 7, "category_id": 1, "bbox": [50, 0, 10, 10], "score": 0.3},
    {"image_id": 8, "category_id": 1, "bbox": [0, 0, 40, 40], "score": 0.8}
]"#;

/// Three persons: one is found, one is off by a point, and one has no labeled point and does not count.
#[test]
fn coco_keypoints() {
    let truth = json!({
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "person"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "iscrowd": 0, "area": 2000, "num_keypoints": 2,
             "bbox": [0, 0, 50, 50], "keypoints": [10, 10, 2, 20, 20, 1]},
            {"id": 2, "image_id": 1, "category_id": 1, "iscrowd": 0, "area": 10000, "num_keypoints": 2,
             "bbox": [1000, 0, 100, 100], "keypoints": [1010, 10, 2, 1020, 20, 1]},
            {"id": 3, "image_id": 1, "category_id": 1, "iscrowd": 0, "area": 10000, "num_keypoints": 0,
             "bbox": [500, 0, 100, 100], "keypoints": [0, 0, 0, 0, 0, 0]}],
    });
    let found = |x: f64, score: f64, rest: f64| {
        json!({"image_id": 1, "category_id": 1, "score": score,
            "keypoints": [x, 10, 1, x + 10.0 + rest, 20, 1]})
    };
    // The second has the similarity (1 + exp(-1000)) / 2 = 0.5, and counts at the first threshold alone.
    let results = json!([
        found(10.0, 0.9, 0.0),
        found(1010.0, 0.8, 4472.2),
        found(520.0, 0.7, 0.0)
    ]);
    let broken = json!([{"image_id": 1, "category_id": 1, "score": 0.9, "keypoints": [1, 2, 1]}]);
    let folder = Folder::new(&[
        ("r.json", &truth.to_string()),
        ("p.json", &results.to_string()),
        ("broken.json", &broken.to_string()),
    ]);
    let run = |more: &str| folder.run(&format!("score coco --format json -r r.json {more}"));
    let oks = "--iou-type keypoints --oks-sigmas 0.5,0.5";
    let result = run(&format!("-p p.json {oks}")).json();
    assert_eq!(
        result["signature"],
        "coco|iou-type:keypoints|oks-sigmas:0.5,0.5|v:0.1.0"
    );
    assert_eq!(result["counts"], json!({"truths": 2, "detections": 3}));
    let half = 51.0 / 101.0;
    let expected = [
        ("AP", (1.0 + 9.0 * half) / 10.0),
        ("AP50", 1.0),
        ("AP75", half),
        ("AP_medium", 1.0),
        ("AP_large", 0.1),
        ("AR", 0.55),
        ("AR50", 1.0),
        ("AR75", 0.5),
        ("AR_medium", 1.0),
        ("AR_large", 0.1),
    ];
    let scores = result["scores"].as_object().expect("scores");
    assert_eq!(scores.len(), expected.len());
    for (name, value) in expected {
        let found = scores[name].as_f64().expect("a number");
        assert!((found - value).abs() < 1e-12, "{name}: {found} {value}");
    }
    let table = folder.run(&format!(
        "score coco -r r.json -p p.json {oks} --fail-under AR75=0.5"
    ));
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    for (words, code, expected) in [
        (
            format!("-p broken.json {oks}"),
            3,
            "broken.json: [0]: keypoints: found 3 numbers, expected 6: x, y and visibility of 2 points, as many as --oks-sigmas has",
        ),
        (
            "-p p.json --iou-type keypoints".to_owned(),
            3,
            "r.json: annotations[0]: keypoints: found 6 numbers, expected 51",
        ),
        (
            "-p p.json --oks-sigmas 0.5,0.5".to_owned(),
            2,
            "--oks-sigmas: is for --iou-type keypoints",
        ),
        (
            "-p p.json --iou-type keypoints --oks-sigmas 0.5,0".to_owned(),
            2,
            "expected a positive number",
        ),
    ] {
        let run = run(&words);
        assert_eq!(run.code, Some(code), "{words}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{words}: {}", run.stderr);
    }
}

#[test]
fn coco_files() {
    let folder = Folder::new(&[("r.json", TRUTH), ("p.json", FOUND), ("none.json", "[]")]);
    let run = |more: &str| folder.run(&format!("score coco --format json -r r.json {more}"));
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-12, "{value} {expected}");
    };
    let whole = run("-p p.json --groups class --details d.json --per-sample s.jsonl").json();
    assert_eq!(whole["signature"], "coco|iou-type:bbox|v:0.1.0");
    assert_eq!(whole["examples"], 2);
    assert_eq!(whole["counts"], json!({"truths": 3, "detections": 3}));
    // Cats: 1. Dogs: precision 1 at the recalls 0, 0.01, ... 0.50. A dog is small, the cat medium.
    let dogs = 51.0 / 101.0;
    near(&whole["scores"]["AP"], (1.0 + dogs) / 2.0);
    near(&whole["scores"]["AP_small"], dogs);
    near(&whole["scores"]["AP_medium"], 1.0);
    assert_eq!(whole["scores"]["AP_large"], Value::Null);
    near(&whole["scores"]["AR_100"], 0.75);
    near(&whole["groups"]["class"]["dog"]["scores"]["AP50"], dogs);
    assert_eq!(whole["groups"]["class"]["dog"]["counts"]["category_id"], 2);
    let details = std::fs::read_to_string(folder.path("d.json")).expect("the details");
    let details: Value = serde_json::from_str(&details).expect("JSON");
    assert_eq!(details["shape"], json!([10, 101, 2, 4, 3]));
    assert_eq!(
        details["precision"].as_array().map(Vec::len),
        Some(10 * 101 * 2 * 4 * 3)
    );
    let samples = std::fs::read_to_string(folder.path("s.jsonl")).expect("the samples");
    let samples: Vec<Value> = samples
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(samples.len(), 2);
    assert_eq!(
        (&samples[0]["id"], &samples[1]["id"]),
        (&json!("7"), &json!("8"))
    );
    near(&samples[1]["scores"]["AP"], 1.0);

    // Polygons of the truth, and for the results the masks of their boxes: the same.
    let masks = run("-p p.json --iou-type segm").json();
    assert_eq!(masks["scores"], whole["scores"]);
    // Without classes the cat that is a dog is right.
    let agnostic = run("-p p.json --class-agnostic").json();
    near(&agnostic["scores"]["AP"], 1.0);
    let few = run("-p p.json --iou 0.5 --max-detections 2 --areas tiny:0:100,rest:100:inf").json();
    assert_eq!(few["scores"]["AP75"], Value::Null);
    near(&few["scores"]["AR_2"], 0.75);
    near(&few["scores"]["AP_tiny"], dogs);
    let none = run("-p none.json").json();
    assert_eq!(none["scores"]["AP"], 0.0);
    assert_eq!(none["scores"]["AP_large"], Value::Null);
    for threads in [1, 2, 3] {
        let again = run(&format!("-p p.json --groups class --threads {threads}")).json();
        assert_eq!(again, whole);
    }
    // References from a pipe.
    let piped = "score coco --format json -r - -p p.json --groups class";
    assert_eq!(folder.run_with_input(piped, TRUTH).json(), whole);
}

#[test]
fn coco_files_that_are_none() {
    let with = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let folder = Folder::new(&[("r.json", TRUTH), ("p.json", FOUND)]);
    let result = |from: &str, to: &str, says: &[&str]| {
        folder.put("bad.json", with(FOUND, from, to).as_bytes());
        folder
            .run("score coco -r r.json -p bad.json")
            .fails(3, says);
    };
    result(
        "0.9",
        "\"0.9\"",
        &["bad.json: [0]: score: found the string \"0.9\", expected a number"],
    );
    result("0.3", "NaN", &["bad.json: [1]: not JSON", "line 3 column"]);
    result("0.8}", "0.8},", &["bad.json: [2]: "]);
    result(
        "[0, 0, 10, 10]",
        "[0, 0, 10]",
        &["[0]: bbox: found 3 numbers, expected 4"],
    );
    result("[0, 0, 10, 10]", "[0, 0, 1e999, 10]", &["bad.json: [0]: "]);
    result(
        "\"image_id\": 8",
        "\"image_id\": 9",
        &["[2]: image_id: 9 is not an image"],
    );
    result("\"score\": 0.3", "\"skore\": 0.3", &["[1]: score: missing"]);
    let truth = |from: &str, to: &str, says: &[&str]| {
        folder.put("bad.json", with(TRUTH, from, to).as_bytes());
        folder
            .run("score coco -r bad.json -p p.json")
            .fails(3, says);
    };
    truth(
        "\"id\": 2, \"image_id\"",
        "\"id\": 1, \"image_id\"",
        &["annotations[1]: id: 1 is the id of annotations[0] too"],
    );
    truth(
        "\"annotations\"",
        "\"boxes\"",
        &["bad.json: missing field `annotations`"],
    );
    truth(
        "\"bbox\": [0, 0, 40, 40]",
        "\"bbox\": null",
        &["annotations[2]: bbox: missing"],
    );
    truth(
        "\"area\": 100",
        "\"area\": \"big\"",
        &["annotations[0]: area: found the string"],
    );
    folder
        .run("score coco -r p.json -p p.json")
        .fails(3, &["p.json: found a list, as results are"]);
    folder
        .run("score coco -r r.json -p r.json")
        .fails(3, &["r.json: found an object, as a ground truth is"]);
    folder
        .run("score coco -r r.json -p .")
        .fails(3, &["is a folder: expected a COCO file"]);
    folder.run("score coco --pairs r.json").fails(
        3,
        &["r.json:1: found an object: expected a list of records"],
    );
    folder
        .run("score coco -r r.json -p p.json --iou 0")
        .fails(2, &["--iou", "more than 0, at most 1"]);
    folder
        .run("score coco -r r.json -p p.json --areas x")
        .fails(2, &["--areas"]);
    folder
        .run("score vqa -r r.json -p p.json --details d.json")
        .fails(2, &["--details is not an option of vqa: "]);
    folder
        .run("score coco -r r.json -p p.json --missing skip")
        .fails(2, &["--missing goes with records"]);
    folder
        .run("score coco -r r.json -p p.json --iou 0.5,x")
        .fails(2, &["found \"x\", expected a number"]);
    folder
        .run("score coco -r r.json -p p.json --iou 0.5,0.50")
        .fails(2, &["0.50 is listed twice"]);
    folder
        .run("score detection -r r.json -p p.json --box xyxy")
        .fails(3, &["--box goes with records"]);
    // An editor's mark at the start of a text is not part of it.
    folder.put("marked.json", format!("\u{feff}{TRUTH}").as_bytes());
    for metric in ["coco", "detection"] {
        folder
            .run(&format!("score {metric} -r marked.json -p p.json"))
            .code(0);
    }
    // Errors that can be corrected are corrected, with a warning.
    folder.put("fit.json", with(TRUTH, "\"area\": 100, ", "").as_bytes());
    let run = folder.run("score coco -r fit.json -p p.json").code(0);
    assert!(
        run.stderr.contains("1 ground-truth object has no area"),
        "{}",
        run.stderr
    );
    folder.put(
        "fit.json",
        with(FOUND, "\"image_id\": 8", "\"image_id\": 9").as_bytes(),
    );
    let run = folder
        .run("score coco -r r.json -p fit.json --extra ignore")
        .code(0);
    assert!(
        run.stderr.contains("1 detection is of an image"),
        "{}",
        run.stderr
    );
    assert!(run.stdout.contains("extra:ignore"));
}

#[test]
fn errors_of_detections() {
    let folder = Folder::new(&[("r.json", TRUTH), ("p.json", FOUND)]);
    let run = |words: &str| folder.run(&format!("score {words} --format json -r r.json -p p.json"));
    let tide = run("tide").json();
    // The dog that is detected as a cat; with its class corrected nothing is missed.
    let counts = json!({"Cls": 1, "Loc": 0, "Both": 0, "Dupe": 0, "Bkg": 0, "Miss": 0});
    assert_eq!(tide["counts"], counts);
    let matrix = run("confusion-matrix --details m.json").json();
    assert_eq!(
        matrix["counts"],
        json!({"tp": 2, "fp": 1, "fn": 1, "confused": 1, "ignored": 0})
    );
    let details = std::fs::read_to_string(folder.path("m.json")).expect("the details");
    let details: Value = serde_json::from_str(&details).expect("JSON");
    assert_eq!(details["classes"], json!(["cat", "dog", "background"]));
    assert_eq!(details["matrix"], json!([[1, 0, 0], [1, 1, 0], [0, 0, 0]]));
    let voc = run("voc").json();
    assert_eq!(voc["scores"]["mAP"], 0.75);
    let detection = run("detection --matching greedy --best-f1 --details c.json").json();
    let curve = std::fs::read_to_string(folder.path("c.json")).expect("the details");
    let curve: Value = serde_json::from_str(&curve).expect("JSON");
    let points = curve["precision_recall"][0]["points"]
        .as_array()
        .expect("points");
    let point =
        |point: &Value| [&point["score"], &point["precision"], &point["recall"]].map(Value::as_f64);
    let expected = [
        [0.9, 1.0, 1.0 / 3.0],
        [0.8, 1.0, 2.0 / 3.0],
        [0.3, 2.0 / 3.0, 2.0 / 3.0],
    ];
    let expected = expected.map(|point| point.map(Some));
    assert_eq!(points.iter().map(point).collect::<Vec<_>>(), expected);
    assert_eq!(
        detection["counts"],
        json!({"tp": 2, "fp": 1, "fn": 1, "repeated": 0})
    );
    // From the score 0.8 on there are two right of two, and one of three is missed.
    assert_eq!(detection["scores"]["best_f1_score"], 0.8);
    assert_eq!(detection["scores"]["best_f1"], json!(4.0 / 5.0));
    assert_eq!(detection["groups"]["class"]["dog"]["scores"]["recall"], 0.5);
    run("detection --box polygon").fails(3, &["--box polygon goes with records"]);
}

#[test]
fn folders_of_detections() {
    let folder = Folder::new(&[]);
    for name in ["xml", "voc", "labels", "yolo"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    let object = "<object><name>dog</name><bndbox><xmin>0</xmin><ymin>0</ymin><xmax>10</xmax><ymax>10</ymax></bndbox></object>";
    folder.put(
        "xml/1.xml",
        format!("<annotation>{object}</annotation>").as_bytes(),
    );
    folder.put("voc/1.txt", b"dog 0.9 0 0 10 10\ndog 0.8 50 50 60 60\n");
    folder.put("labels/1.txt", b"0 0.5 0.5 0.1 0.1\n");
    folder.put(
        "yolo/1.txt",
        b"0 0.5 0.5 0.1 0.1 0.9\n0 0.2 0.2 0.1 0.1 0.8\n",
    );
    for folders in ["-r xml -p voc", "-r labels -p yolo --image-size 100x100"] {
        let voc = folder
            .run(&format!("score voc --format json {folders}"))
            .json();
        assert_eq!(voc["scores"]["mAP"], 1.0, "{folders}");
        let words = format!("score detection --format json {folders}");
        let counts = folder.run(&words).json()["counts"].clone();
        assert_eq!(
            counts,
            json!({"tp": 1, "fp": 1, "fn": 0, "repeated": 0}),
            "{folders}"
        );
    }
    folder.put("yolo/2.txt", b"0 0.5 0.5 0.1 0.1 0.9\n");
    folder
        .run("score voc -r labels -p yolo")
        .fails(3, &["2.txt"]);
    folder
        .run("score voc -r labels -p yolo --extra ignore")
        .code(0);
    folder
        .run("score voc -r labels -p yolo --extra ignore --pixel-plus-one")
        .fails(3, &["--pixel-plus-one needs pixels: expected --image-size"]);
    folder.put("voc/1.txt", b"dog 0.9 0 0 10\n");
    folder
        .run("score voc -r xml -p voc")
        .fails(3, &["1.txt:1: found 5 words"]);
}
