//! Panoptic segments: files with PNG folders and with run lengths, and records.

use serde_json::{Value, json};

use crate::common::Folder;

const SCORE: &str = "score panoptic --format json -r gt.json -p pred.json";

/// A PNG file whose pixels have these ids.
fn png(rows: &[&[u32]]) -> Vec<u8> {
    let bytes = |id: &u32| {
        let [red, green, blue, _] = id.to_le_bytes();
        [red, green, blue]
    };
    let pixels: Vec<u8> = rows.concat().iter().flat_map(bytes).collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, rows[0].len() as u32, rows.len() as u32);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&pixels).expect("the pixels");
    writer.finish().expect("an end");
    file
}

fn segment(id: u32, category: i64, area: u32) -> Value {
    json!({"id": id, "category_id": category, "area": area, "iscrowd": 0})
}

fn image(id: Value, segments: Value) -> Value {
    json!({"image_id": id, "file_name": format!("{}.png", id.as_i64().unwrap_or(9)), "segments_info": segments})
}

fn categories() -> Value {
    json!([{"id": 1, "name": "cat", "isthing": 1}, {"id": 2, "name": "sky", "isthing": 0}, {"id": 5, "name": "sky", "isthing": 0}])
}

/// Two images: in the first, the IoU is 3/4 for the cat and 4/5 for the sky; in the second, the sky has half of its pixels.
fn files() -> Folder {
    let truth = json!({"categories": categories(), "annotations": [
        image(json!(1), json!([segment(70000, 1, 4), segment(2, 2, 4)])),
        image(json!(2), json!([segment(3, 2, 4)])),
    ]});
    let found = json!({"annotations": [
        image(json!(2), json!([{"id": 1, "category_id": 2}])),
        image(json!(1), json!([{"id": 9, "category_id": 1}, {"id": 8, "category_id": 2}])),
    ]});
    let folder = Folder::new(&[
        ("gt.json", &truth.to_string()),
        ("pred.json", &found.to_string()),
    ]);
    for side in ["gt", "pred"] {
        std::fs::create_dir(folder.path(side)).expect("a folder");
    }
    folder.put(
        "gt/1.png",
        &png(&[&[70000, 70000, 2, 2], &[70000, 70000, 2, 2]]),
    );
    folder.put("pred/1.png", &png(&[&[9, 9, 8, 8], &[9, 8, 8, 8]]));
    folder.put("gt/2.png", &png(&[&[3, 3, 3, 3]]));
    folder.put("pred/2.png", &png(&[&[1, 1, 0, 0]]));
    folder
}

#[test]
fn folders_of_png_files() {
    let folder = files();
    let result = folder.run(&format!("{SCORE} --groups class")).json();
    // The sky: one match, and one segment that is missed and found elsewhere.
    let sky = 0.8 / 2.0;
    let expected = json!({
        "PQ": (0.75 + sky) / 2.0, "SQ": (0.75 + 0.8) / 2.0, "RQ": 0.75,
        "PQ_things": 0.75, "SQ_things": 0.75, "RQ_things": 1.0,
        "PQ_stuff": sky, "SQ_stuff": 0.8, "RQ_stuff": 0.5,
    });
    for (name, expected) in expected.as_object().expect("scores") {
        let found = result["scores"][name].as_f64().expect("a score");
        let expected = expected.as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-15, "{name}: {found}");
    }
    assert_eq!(
        result["counts"],
        json!({"tp": 2, "fp": 1, "fn": 1, "segments": 3, "ignored": 0})
    );
    assert_eq!(result["examples"], 2);
    // Two categories share a name, so that ids tell them apart.
    let classes = result["groups"]["class"].as_object().expect("classes");
    assert_eq!(classes.keys().collect::<Vec<_>>(), ["2", "5", "cat"]);
    assert_eq!(classes["5"]["scores"]["PQ"], Value::Null);
    assert_eq!(
        classes["2"]["counts"],
        json!({"category_id": 2, "tp": 1, "fp": 1, "fn": 1})
    );
}

#[test]
fn other_folders_and_missing_images() {
    let folder = files();
    let all = folder.run(SCORE).json();
    for (from, to) in [("gt", "a"), ("pred", "b")] {
        std::fs::rename(folder.path(from), folder.path(to)).expect("a folder");
    }
    folder.run(SCORE).fails(3, &["gt/1.png", "image 1"]);
    let folders = "--reference-folder a --prediction-folder b";
    let moved = folder.run(&format!("{SCORE} {folders}")).json();
    assert_eq!(moved["scores"], all["scores"]);
    folder
        .run(&format!(
            "{SCORE} --reference-folder gt.json --prediction-folder b"
        ))
        .fails(3, &["gt.json", "expected a folder"]);

    let found = json!({"annotations": [image(json!(1), json!([{"id": 9, "category_id": 1}, {"id": 8, "category_id": 2}]))]});
    folder.put("pred.json", found.to_string().as_bytes());
    folder.run(&format!("{SCORE} {folders}")).fails(
        3,
        &["no prediction for 1 reference", "\"2\"", "--missing empty"],
    );
    let empty = folder
        .run(&format!("{SCORE} {folders} --missing empty"))
        .json();
    assert_eq!(
        empty["counts"],
        json!({"tp": 2, "fp": 0, "fn": 1, "segments": 3, "ignored": 0})
    );
    let skipped = folder
        .run(&format!("{SCORE} {folders} --missing skip"))
        .json();
    assert_eq!(skipped["counts"]["segments"], 2);
    assert_eq!(skipped["examples"], 1);
}

#[test]
fn shards_and_samples() {
    let folder = files();
    let all = folder
        .run(&format!("{SCORE} --per-sample all.jsonl"))
        .json();
    for shard in [0, 1] {
        folder
            .run(&format!(
                "{SCORE} --shard {shard}/2 --state-out {shard}.state"
            ))
            .code(0);
    }
    let merged = folder.run("merge 0.state 1.state --format json").json();
    for field in ["scores", "counts", "examples"] {
        assert_eq!(merged[field], all[field], "{field}");
    }
    let samples = super::read(&folder, "all.jsonl");
    assert!(
        samples.contains("\"matches\":[[2,8,0.8],[70000,9,0.75]]"),
        "{samples}"
    );
}

#[test]
fn run_lengths_and_records() {
    let folder = files();
    let all = folder.run(SCORE).json();
    // The columns of the first image are of two pixels, and the second image is a row of four.
    let runs = |id: u32, size: [u32; 2], counts: Value| json!({"id": id, "category_id": if id == 9 { 1 } else { 2 }, "segmentation": {"size": size, "counts": counts}});
    let found = json!({"annotations": [
        {"image_id": 1, "segments_info": [runs(9, [2, 4], json!([0, 3, 5])), runs(8, [2, 4], json!([3, 5]))]},
        {"image_id": 2, "segments_info": [runs(1, [1, 4], json!("022"))]},
    ]});
    folder.put("pred.json", found.to_string().as_bytes());
    let same = folder.run(SCORE).json();
    assert_eq!(
        (&same["scores"], &same["counts"]),
        (&all["scores"], &all["counts"])
    );

    let side = |ids: Value, segments: Value| json!({"ids": ids, "segments_info": segments});
    let truths = [
        side(
            json!([[70000, 70000, 2, 2], [70000, 70000, 2, 2]]),
            json!([{"id": 70000, "category_id": 1, "isthing": true}, {"id": 2, "category_id": 2, "isthing": false}]),
        ),
        side(json!([[3, 3, 3, 3]]), json!([{"id": 3, "category_id": 2}])),
    ];
    let found = [
        side(
            json!([[9, 9, 8, 8], [9, 8, 8, 8]]),
            json!([{"id": 9, "category_id": 1}, {"id": 8, "category_id": 2}]),
        ),
        side(json!([[1, 1, 0, 0]]), json!([{"id": 1, "category_id": 2}])),
    ];
    let lines = |field: &str, sides: &[Value]| -> String {
        let lines = sides.iter().enumerate();
        lines
            .map(|(id, side)| json!({"id": id, field: side}).to_string() + "\n")
            .collect()
    };
    folder.put("r.jsonl", lines("reference", &truths).as_bytes());
    folder.put("p.jsonl", lines("prediction", &found).as_bytes());
    let records = folder
        .run("score panoptic --format json -r r.jsonl -p p.jsonl")
        .json();
    assert_eq!(
        (&records["scores"], &records["counts"]),
        (&all["scores"], &all["counts"])
    );
    folder.put("p.jsonl", lines("prediction", &found[..1]).as_bytes());
    let empty = folder
        .run("score panoptic --format json -r r.jsonl -p p.jsonl --missing empty")
        .json();
    assert_eq!(empty["counts"]["fn"], 1);
}

#[test]
fn refused_files() {
    let folder = files();
    let refuse = |found: Value, says: &[&str]| {
        let found =
            json!({"annotations": [found, image(json!(2), json!([{"id": 1, "category_id": 2}]))]});
        folder.put("pred.json", found.to_string().as_bytes());
        folder.run(SCORE).fails(3, says);
    };
    let named = |name: &str| {
        let mut image = image(
            json!(1),
            json!([{"id": 9, "category_id": 1}, {"id": 8, "category_id": 2}]),
        );
        image["file_name"] = json!(name);
        image
    };
    let outside = ["pred.json", "image 1", "is not inside the folder"];
    refuse(named("../gt/1.png"), &outside);
    refuse(named("/etc/passwd"), &outside);
    refuse(named(""), &outside);
    refuse(named("a/../1.png"), &outside);
    refuse(named("."), &outside);
    refuse(
        named("none.png"),
        &["pred/none.png", "image 1", "cannot be opened"],
    );
    folder.put("pred/text.png", b"not an image");
    refuse(named("text.png"), &["pred/text.png", "image 1", "PNG"]);
    let whole = std::fs::read(folder.path("pred/1.png")).expect("a file");
    folder.put("pred/cut.png", &whole[..whole.len() - 20]);
    refuse(named("cut.png"), &["pred/cut.png", "image 1"]);
    #[cfg(unix)]
    {
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(folder.path(to), folder.path(name)).expect("a link");
        };
        link("gt/1.png", "pred/link.png");
        refuse(
            named("link.png"),
            &["pred/link.png", "image 1", "link out of its folder"],
        );
    }
    let segments = |segments: Value| image(json!(1), segments);
    for (infos, says) in [
        (json!([{"id": 9, "category_id": 1}]), ["pred/1.png", "id 8"]),
        (
            json!([{"id": 9, "category_id": 1}, {"id": 8, "category_id": 2}, {"id": 8, "category_id": 1}]),
            ["pred.json", "segment 8 occurs several times"],
        ),
        (
            json!([{"id": 9, "category_id": 1}, {"id": 0, "category_id": 2}]),
            ["pred.json", "id 0"],
        ),
        (
            json!([{"id": -9, "category_id": 1}]),
            ["annotations[0]: segments_info[0]", "-9"],
        ),
        (
            json!([{"id": 9}]),
            ["annotations[0]: segments_info[0]", "category_id"],
        ),
        (
            json!([{"id": 9, "category_id": 1, "iscrowd": 2}]),
            ["segments_info[0]: iscrowd", "found 2, expected 0 or 1"],
        ),
    ] {
        refuse(segments(infos), &says);
    }
    refuse(image(json!(2), json!([])), &["pred.json", "\"2\""]);
    refuse(
        json!({"image_id": 1, "segments_info": [{"id": 9, "category_id": 1, "segmentation": {"size": [2, 4], "counts": [0, 9]}}]}),
        &["pred.json", "image 1", "add up to 9: expected 8"],
    );
    refuse(
        json!({"image_id": 1, "segments_info": [
            {"id": 9, "category_id": 1, "segmentation": {"size": [2, 4], "counts": [0, 3, 5]}},
            {"id": 8, "category_id": 1, "segmentation": {"size": [2, 4], "counts": [2, 6]}}]}),
        &["pred.json", "image 1", "segment 8 overlaps segment 9"],
    );
    refuse(
        json!({"image_id": 1, "segments_info": [{"id": 9, "category_id": 1, "segmentation": {"size": [100_000, 100_000], "counts": []}}]}),
        &["pred.json", "image 1", "--max-pixels"],
    );
}

#[test]
fn limits_and_options() {
    let folder = files();
    folder
        .run(&format!("{SCORE} --max-segments 1"))
        .fails(3, &["gt/1.png", "image 1", "--max-segments 1"]);
    folder
        .run(&format!("{SCORE} --max-pixels 7"))
        .fails(3, &["gt/1.png", "image 1", "4 x 2", "--max-pixels"]);
    folder
        .run(&format!("{SCORE} --dilation 0.1"))
        .fails(2, &["dilation", "boundary"]);
    // All pixels are near the end of the image, so that boundaries are masks.
    let boundary = folder.run(&format!("{SCORE} --iou-type boundary")).json();
    assert_eq!(boundary["scores"], folder.run(SCORE).json()["scores"]);
    folder.put("pred.json", b"[]");
    folder.run(SCORE).fails(3, &["pred.json", "found a list"]);
}
