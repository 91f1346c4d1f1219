//! LVIS's files, and boundary IoU.

use serde_json::{Value, json};

use crate::common::Folder;

const TRUTH: &str = include_str!("../../../demo/lvis-truth.json");
const FOUND: &str = include_str!("../../../demo/lvis-results.json");
const WORDS: &str = "score lvis -r gt.json -p dt.json --format json";

fn folder() -> Folder {
    Folder::new(&[("gt.json", TRUTH), ("dt.json", FOUND)])
}

#[test]
fn counts_and_groups() {
    let folder = folder();
    let result = folder.run(&format!("{WORDS} --groups frequency")).json();
    // Of the 11 detections, that of a birdhouse in image 3 is of a class that the image was not annotated for.
    assert_eq!(
        result["counts"],
        json!({"truths": 7, "detections": 10, "capped": 0, "invalid": 0, "unverified": 1})
    );
    let group = &result["groups"]["frequency"]["f"];
    assert_eq!(group["counts"], json!({"classes": 1, "truths": 4}));
    assert_eq!(group["scores"]["AP"], result["scores"]["AP_f"]);
    let result = folder.run(&format!("{WORDS} --groups class")).json();
    let group = &result["groups"]["class"]["bagpipe"];
    assert_eq!(group["counts"], json!({"category_id": 3, "truths": 1}));
    assert_eq!(group["scores"]["AP"], result["scores"]["AP_r"]);
    assert_eq!(group["scores"].get("AP_r"), None);
    assert_eq!(result["examples"], 4);
}

#[test]
fn limits() {
    let folder = folder();
    let names = |words: &str| -> Vec<String> {
        let result = folder.run(&format!("{WORDS} {words}")).json();
        let scores = result["scores"].as_object().cloned().unwrap_or_default();
        scores
            .keys()
            .filter(|name| name.starts_with("AR"))
            .cloned()
            .collect()
    };
    assert_eq!(names("--max-detections 2")[0], "AR_2");
    assert_eq!(names("--max-detections all")[0], "AR");
    assert_eq!(names("--fixed 10000")[0], "AR");
    let result = folder.run(&format!("{WORDS} --max-detections 2")).json();
    assert_eq!(result["counts"]["capped"], 3);
    let warning = result["warnings"][0]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(
        warning.starts_with("3 images have more than 2 detections, of which 3 were left out"),
        "{warning}"
    );
    let result = folder.run(&format!("{WORDS} --fixed 10000")).json();
    let warning = result["warnings"][0]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(
        warning.starts_with("3 categories have fewer than 10000 detections"),
        "{warning}"
    );
    for (words, problem) in [
        (
            "--fixed 3 --max-detections 3",
            "--fixed \"3\": counts detections per class, without --max-detections",
        ),
        (
            "--fixed 0",
            "--fixed \"0\": expected a whole number above 0",
        ),
        (
            "--max-detections none",
            "--max-detections \"none\": expected a whole number above 0, or all",
        ),
        (
            "--dilation 0.1",
            "--dilation \"0.1\": expected only with --iou-type boundary",
        ),
        (
            "--class-agnostic",
            "--class-agnostic is not an option of lvis",
        ),
    ] {
        folder.run(&format!("{WORDS} {words}")).fails(2, &[problem]);
    }
}

#[test]
fn shards_of_fixed_ap_merge() {
    let folder = folder();
    let whole = folder.run(&format!("{WORDS} --fixed 2")).json();
    for index in 0..3 {
        folder
            .run(&format!(
                "{WORDS} --fixed 2 --shard {index}/3 --state-out {index}.state"
            ))
            .json();
    }
    let merged = folder
        .run("merge 2.state 0.state 1.state --format json")
        .json();
    for field in ["examples", "scores", "counts"] {
        assert_eq!(merged[field], whole[field], "{field}");
    }
}

#[test]
fn details_are_the_arrays_of_lvis() {
    let folder = folder();
    folder.run(&format!("{WORDS} --details d.json")).json();
    let text = std::fs::read_to_string(folder.path("d.json")).unwrap_or_default();
    let details: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(details["shape"], json!([10, 101, 3, 4]));
    let axes = json!(["iou_thresholds", "recall_thresholds", "classes", "areas"]);
    assert_eq!(details["axes"], axes);
    let length = |name: &str| details[name].as_array().map(Vec::len);
    assert_eq!(length("precision"), Some(10 * 101 * 3 * 4));
    assert_eq!(length("recall"), Some(10 * 3 * 4));
}

/// An image per record, with the classes that it is annotated for.
#[test]
fn records() {
    let line = |id: u32, fields: &str, found: &str| {
        format!(
            "{{\"id\": {id}, \"reference\": {{\"annotations\": [{{\"category_id\": 1, \"bbox\": [0, 0, 9, 9]}}]{fields}}}, \"prediction\": [{found}]}}\n"
        )
    };
    let found = "{\"category_id\": 1, \"bbox\": [0, 0, 9, 9], \"score\": 0.5}, {\"category_id\": 2, \"bbox\": [0, 0, 9, 9], \"score\": 0.9}";
    let lines = line(1, ", \"neg_category_ids\": [2]", found) + &line(2, "", found);
    let folder = Folder::new(&[("pairs.jsonl", &lines)]);
    let result = folder
        .run("score lvis --pairs pairs.jsonl --format json")
        .json();
    assert_eq!(result["counts"]["detections"], 3);
    assert_eq!(result["counts"]["unverified"], 1);
    assert_eq!(result["scores"]["AR_300"], 1.0);
}

#[test]
fn boundaries_limit_the_iou_of_masks() {
    let mask = |x: u32| {
        format!(
            "[[{x}, 0, {x}, 40, {right}, 40, {right}, 0]]",
            right = x + 40
        )
    };
    let truth = format!(
        "{{\"images\": [{{\"id\": 1, \"width\": 100, \"height\": 100}}], \"categories\": [{{\"id\": 1, \"name\": \"a\"}}],
        \"annotations\": [{{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"area\": 1600, \"iscrowd\": 0, \"bbox\": [0, 0, 40, 40], \"segmentation\": {}}}]}}",
        mask(0)
    );
    let found = format!(
        "[{{\"image_id\": 1, \"category_id\": 1, \"score\": 0.9, \"segmentation\": {}}}]",
        mask(4)
    );
    let folder = Folder::new(&[("gt.json", &truth), ("dt.json", &found)]);
    let recall = |words: &str| {
        folder
            .run(&format!(
                "score coco -r gt.json -p dt.json {words} --format json"
            ))
            .json()["scores"]["AR_100"]
            .clone()
    };
    // The IoU of the masks is 36/44 = 0.818; their boundaries are 3 pixels wide, and meet in two strips.
    assert_eq!(recall("--iou-type segm"), 0.7);
    assert_eq!(recall("--iou-type boundary --dilation 0.02"), 0.0);
    // All of the masks is boundary.
    assert_eq!(recall("--iou-type boundary --dilation 0.5"), 0.7);
}
