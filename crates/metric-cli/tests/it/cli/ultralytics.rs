//! The numbers of Ultralytics, and data sets of YOLO in each layout.

use serde_json::{Value, json};

use crate::common::Folder;

/// The first bytes of a PNG of this size, as far as its size is read.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0]);
    bytes
}

/// A JPEG of this size, without an image, that is shown turned by a quarter.
fn turned_jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = b"\xff\xd8\xff\xe1\0\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0".to_vec();
    bytes.extend(b"\xff\xc0\0\x11\x08");
    bytes.extend(height.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes.extend(b"\x03\x01\x22\0\x02\x11\x01\x03\x11\x01\xff\xd9");
    bytes
}

/// A data set of one picture `1.png` with these lines, and its predictions.
fn set(picture: &[u8], yaml: &str, labels: &str, predictions: &str) -> Folder {
    let yaml = format!("names: [a, b]\nval: images\n{yaml}");
    let folder = Folder::new(&[
        ("data.yaml", &*yaml),
        ("labels/1.txt", labels),
        ("runs/labels/1.txt", predictions),
    ]);
    folder.put("images/1.png", picture);
    folder
}

fn scores(folder: &Folder, more: &str) -> Value {
    let words = format!("score ultralytics --quiet --format json -r data.yaml -p runs {more}");
    folder.run(&words).json()
}

#[track_caller]
fn near(scores: &Value, name: &str, expected: f64) {
    let found = scores["scores"][name].as_f64().expect("a score");
    assert!(
        (found - expected).abs() < 1e-9,
        "{name}: {found}, expected {expected}"
    );
}

/// Cases whose arithmetic is short: pixels of segments, a turned picture, thresholds and fractions.
#[test]
fn scores_by_hand() {
    // Of a large label, a small one in its corner keeps 60,000 of 160,000 pixels: IoU 0.625.
    let corners = |width: f64, height: f64| format!("0 0 0 {width} 0 {width} {height} 0 {height}");
    let labels = [corners(0.4, 0.4), corners(0.3, 0.2)];
    let found = format!("{} 0.9\n{} 0.8\n", labels[0], labels[1]);
    let folder = set(&png(1000, 1000), "", &labels.join("\n"), &found);
    let segments = scores(&folder, "--iou-type segm");
    near(&segments, "mask_mAP50-95", 0.3 * 0.995 + 0.7 * 0.5 * 0.495);
    near(&segments, "mAP50-95", 0.995);

    // A point is 10 pixels off in the width of a picture that is shown 1000 wide: OKS 0.790.
    let pose = |x: f64| format!("0 0.5 0.25 0.1 0.05 {x} 0.25 2");
    let folder = set(
        &turned_jpeg(2000, 1000),
        "kpt_shape: [1, 3]\nkpt_oks_sigmas: [0.1]\n",
        &pose(0.5),
        &format!("{} 0.9", pose(0.51)),
    );
    near(&scores(&folder, ""), "pose_mAP50-95", 0.6 * 0.995);

    // 0.65 in single precision reaches the threshold 0.65 in single precision.
    let folder = set(
        &png(1024, 1024),
        "",
        "0 0.3125 0.25 0.625 0.5",
        "0 0.203125 0.25 0.40625 0.5 0.9",
    );
    near(&scores(&folder, ""), "mAP50-95", 0.4 * 0.995);

    // Fractions of an image have no epsilon.
    let folder = Folder::new(&[
        ("labels/1.txt", "0 0.05 0.0005 0.1 0.001"),
        ("runs/1.txt", "0 0.047525 0.0005 0.09505 0.001 0.9"),
    ]);
    let words = "score ultralytics --quiet --format json -r labels -p runs";
    near(&folder.run(words).json(), "mAP50-95", 0.995);
}

const BOX: &str = "0 0.5 0.5 0.2 0.2";

/// The same data set in each layout, and beside its results as JSON.
#[test]
fn layouts_of_data_sets() {
    let found = format!("{BOX} 0.9\n1 0.2 0.2 0.1 0.1 0.6 1.23457e+06\n");
    let results = json!([
        {"image_id": 1, "category_id": 1, "bbox": [256.0, 192.0, 128.0, 96.0], "score": 0.9},
        {"image_id": 1, "file_name": "0001.png", "category_id": 2, "bbox": [96.0, 72.0, 64.0, 48.0], "score": 0.6},
    ]);
    let truth = json!({
        "images": [{"id": 1, "width": 640, "height": 480}, {"id": 2, "width": 640, "height": 480}],
        "categories": [{"id": 0, "name": "a"}, {"id": 1, "name": "b"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 0, "bbox": [256.0, 192.0, 128.0, 96.0], "area": 12288, "iscrowd": 0}],
    });
    let same = json!([
        {"image_id": 1, "category_id": 0, "bbox": [256.0, 192.0, 128.0, 96.0], "score": 0.9},
        {"image_id": 1, "category_id": 1, "bbox": [96.0, 72.0, 64.0, 48.0], "score": 0.6},
    ]);
    let folder = Folder::new(&[
        ("truth.json", &*truth.to_string()),
        ("same.json", &*same.to_string()),
        ("runs/labels/0001.txt", &*found),
        ("predictions.json", &*results.to_string()),
        (
            "a/data.yaml",
            "path: .\nval: [images/val]\nnc: 2\nnames: {0: a, 1: b}\n",
        ),
        (
            "a/labels/val/0001.txt",
            &*format!("\u{feff}{BOX}\r\n\r\n{BOX}\r\n"),
        ),
        ("b/data.yaml", "val: ../valid/images\nnames: [a, b]\n"),
        ("b/valid/labels/0001.txt", BOX),
        (
            "c/obj.data",
            "classes = 2\ntrain = data/train.txt\nnames = data/obj.names\n",
        ),
        ("c/obj.names", "a\nb\n"),
        (
            "c/train.txt",
            "data/obj_train_data/0001.png\ndata/obj_train_data/0002.png\n",
        ),
        ("c/obj_train_data/0001.txt", BOX),
        (
            "d/data.yaml",
            "val: val.txt\ntest: test.txt\nnames: [a, b]\n",
        ),
        ("d/val.txt", "./images/0001.png\n\n./images/0002.png\n"),
        ("d/test.txt", "images/0002.png\n"),
        ("d/labels/0001.txt", BOX),
        ("e/classes.txt", "a\nb\n"),
        ("e/labels/0001.txt", BOX),
    ]);
    for parent in [
        "a/images/val",
        "b/valid/images",
        "c/obj_train_data",
        "d/images",
        "e/images",
    ] {
        for name in ["0001.png", "0002.png"] {
            folder.put(&format!("{parent}/{name}"), &png(640, 480));
        }
    }
    for metric in [
        "ultralytics",
        "voc",
        "coco",
        "detection",
        "tide",
        "confusion-matrix",
    ] {
        let run = |words: &str| {
            let words = format!("score {metric} --quiet --format json {words}");
            let mut result = folder.run(&words).json();
            // Data sets have classes without objects, whose groups COCO's files have too.
            result
                .as_object_mut()
                .expect("an object")
                .remove("signature");
            result
        };
        let expected = run("-r truth.json -p same.json");
        for references in [
            "a",
            "a/data.yaml",
            "b/data.yaml",
            "c",
            "c/obj.data",
            "d/data.yaml",
            "e",
        ] {
            for predictions in ["runs", "runs/labels", "predictions.json"] {
                let words = format!("-r {references} -p {predictions}");
                let found = run(&words);
                assert_eq!(found["scores"], expected["scores"], "{metric} {words}");
                if metric != "detection" {
                    assert_eq!(found["counts"], expected["counts"], "{metric} {words}");
                    assert_eq!(found["examples"], 2, "{metric} {words}");
                }
            }
        }
    }
    folder
        .run("score voc -r d/data.yaml -p runs --split test")
        .fails(3, &["runs/labels/0001.txt", "0001"]);
    folder
        .run("score voc -r d/data.yaml -p runs --split train")
        .fails(3, &["d/data.yaml", "--split train", "val, test"]);
}

/// Each error names the file, and the line or the option that helps.
#[test]
fn errors_of_data_sets() {
    let large = png(640, 480);
    let folder = |yaml: &str, labels: &str, found: &str| set(&large, yaml, labels, found);
    let run = |folder: &Folder, more: &str, code: i32, says: &[&str]| {
        let words = format!("score ultralytics -r data.yaml -p runs {more}");
        folder.run(&words).fails(code, says);
    };
    for (labels, found, says) in [
        (BOX, BOX, &["1.txt:1", "save_conf"][..]),
        (BOX, "0 0.5 0.5 0.2 0.2 7", &["1.txt:1", "save_conf"]),
        (BOX, "0.87 cat", &["1.txt:1", "classifier"]),
        (BOX, "5 0.5 0.5 0.2 0.2 0.9", &["1.txt:1", "less than 2"]),
        (BOX, "0 0.5 0.5", &["1.txt:1", "found 3 numbers"]),
        ("0 1.02 0.5 0.2 0.2", "", &["labels/1.txt:1", "1.02"]),
        ("0.5 0.5 0.5 0.2 0.2", "", &["labels/1.txt:1", "0.5"]),
        ("2 0.5 0.5 0.2 0.2", "", &["labels/1.txt:1", "less than 2"]),
        (
            "0 0 0 1 0 1 1 0 1",
            "0 0 0 1 0 1 1 0 1 0.5",
            &["--iou-type"],
        ),
    ] {
        run(&folder("", labels, found), "", 3, says);
    }
    let good = format!("{BOX} 0.9");
    let mixed = format!("{BOX}\n0 0 0 1 0 1 1\n");
    run(
        &folder("", &mixed, &good),
        "--iou-type bbox",
        3,
        &["labels/1.txt:1", "segments"],
    );
    for (yaml, says) in [
        ("nc: 3\n", &["data.yaml", "found 2 names, expected 3"][..]),
        ("path: none\n", &["data.yaml: path", "none"]),
        ("kpt_shape: [2]\n", &["data.yaml: kpt_shape"]),
        ("x: [\n", &["data.yaml:", "not YAML"]),
    ] {
        run(&folder(yaml, BOX, &good), "", 3, says);
    }
    let boxes = folder("", BOX, &good);
    run(&boxes, "--profile 9", 2, &["8.4.176"]);
    run(&boxes, "--oks-sigmas 0.1", 2, &["--iou-type keypoints"]);
    run(&boxes, "--max-detections 0", 2, &["--max-detections"]);
    run(
        &boxes,
        "--iou-type obb",
        3,
        &["labels/1.txt:1", "expected 9"],
    );
    boxes.put("runs/labels/2.txt", good.as_bytes());
    run(&boxes, "", 3, &["runs/labels/2.txt", "picture"]);

    let broken = set(b"no picture", "", BOX, &good);
    run(&broken, "", 3, &["images/1.png", "--image-size"]);
    assert_eq!(scores(&broken, "--image-size 640x480")["examples"], 1);

    let several = folder("", BOX, &good);
    several.put("images/a/2.png", &large);
    several.put("images/b/2.png", &large);
    assert_eq!(scores(&several, "")["examples"], 3);
    several.put("runs/labels/b_2.txt", good.as_bytes());
    assert_eq!(scores(&several, "")["counts"]["detections"], 2);
    several.put("runs/labels/2.txt", good.as_bytes());
    run(
        &several,
        "",
        3,
        &["runs/labels/2.txt", "images/a/2.png", "images/b/2.png"],
    );
}

/// The ids of classes in `predictions.json` tell where they count from, or an option does.
#[test]
fn first_categories() {
    let result = |category: u32| {
        json!([{"image_id": "1", "category_id": category, "bbox": [256, 192, 128, 96], "score": 0.9}]).to_string()
    };
    let folder = set(&png(640, 480), "", "1 0.5 0.5 0.2 0.2", "");
    let run = |category: u32, more: &str| {
        folder.put("predictions.json", result(category).as_bytes());
        folder.run(&format!(
            "score voc --quiet --format json -r data.yaml -p predictions.json {more}"
        ))
    };
    // 2 is the number of classes.
    assert_eq!(run(2, "").json()["scores"]["mAP"], 1.0);
    assert_eq!(run(0, "").json()["scores"]["mAP"], 0.0);
    run(1, "").fails(3, &["predictions.json", "--first-category"]);
    assert_eq!(run(1, "--first-category 0").json()["scores"]["mAP"], 1.0);
    assert_eq!(run(1, "--first-category 1").json()["scores"]["mAP"], 0.0);
    run(3, "--first-category 1").fails(3, &["predictions.json: [0]", "less than 2"]);
}

/// The table has the columns and the digits of Ultralytics.
#[test]
fn the_printed_table() {
    let folder = set(
        &png(640, 480),
        "",
        &format!("{BOX}\n1 0.2 0.2 0.1 0.1\n"),
        &format!("{BOX} 0.9\n"),
    );
    let table = |more: &str| {
        let words =
            format!("score ultralytics --quiet --format markdown -r data.yaml -p runs {more}");
        let text = folder.run(&words).code(0).stdout;
        let rows = text.lines().filter(|line| line.starts_with('|'));
        let cells = |line: &str| {
            let cells = line.trim_matches('|').split('|').map(str::trim);
            cells.map(str::to_owned).collect::<Vec<_>>()
        };
        rows.map(cells).collect::<Vec<_>>()
    };
    let rows = table("--groups class");
    assert_eq!(
        rows[0],
        [
            "Class",
            "Images",
            "Instances",
            "P",
            "R",
            "mAP50",
            "mAP50-95"
        ]
    );
    assert_eq!(rows[2][..5], ["all", "1", "2", "0.5", "0.5"]);
    assert_eq!(rows[3], ["a", "1", "1", "1", "1", "0.995", "0.995"]);
    assert_eq!(rows[4], ["b", "1", "1", "0", "0", "0", "0"]);
    assert_eq!(rows.len(), 5);
    assert_eq!(table("--digits 2")[2][5], "0.50");
    assert_eq!(table("--confidence 0.95")[0][0], "ultralytics");
}

/// Shards merge to one run to the last bit, also where confidences are equal.
#[test]
fn shards_of_a_data_set() {
    let folder = Folder::new(&[("data.yaml", "names: [a, b]\nval: images\n")]);
    for index in 0..12 {
        let name = format!("{}{}", if index % 3 == 0 { "s-1/" } else { "s/" }, index);
        folder.put(&format!("images/{name}.png"), &png(640, 480));
        if index != 4 {
            folder.put(
                &format!("labels/{name}.txt"),
                format!("{} 0.5 0.5 0.2 0.2", index % 2).as_bytes(),
            );
        }
        let found = format!(
            "{} 0.5 0.5 0.2 0.{} 0.5\n1 0.2 0.2 0.1 0.1 0.{}",
            index % 2,
            1 + index % 3,
            index % 5
        );
        folder.put(
            &format!("runs/{}.txt", name.replace('/', "_")),
            found.as_bytes(),
        );
    }
    let words = "score ultralytics --quiet --format json --groups class -r data.yaml -p runs";
    let whole = folder.run(words).json();
    for part in 0..3 {
        let shard = format!("{words} --shard {part}/3 --state-out {part}.state");
        folder.run(&shard).code(0);
    }
    let merged = folder
        .run("merge --format json 2.state 0.state 1.state")
        .json();
    for field in ["examples", "scores", "counts", "groups", "signature"] {
        assert_eq!(merged[field], whole[field], "{field}");
    }
    let threads = folder.run(&format!("{words} --threads 4")).json();
    assert_eq!(threads, whole);
}

/// What explains numbers that are not those of a log.
#[test]
fn warnings_of_a_run() {
    let labels = format!("{BOX}\n0 0.2 0.2 0.1 0.1\n");
    let found = format!("{BOX} 0.5\n0 0.8 0.8 0.1 0.1 0.5\n1 0.5 0.5 0.1 0.1 0.4\n");
    let folder = set(&png(640, 480), "", &labels, &found);
    let warnings = |more: &str| {
        let result = scores(&folder, more);
        let texts = result["warnings"].as_array().expect("a list").iter();
        let texts: Vec<String> = texts
            .filter_map(|text| Some(text.as_str()?.to_owned()))
            .collect();
        texts.join("\n")
    };
    let text = warnings("");
    for says in [
        "predict",
        "0.25",
        "0.001",
        "1 detection is of a class without labels",
        "2 detections",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    assert!(!warnings("--score-threshold 0.1").contains("0.001"));
    assert!(warnings("--max-detections 1").contains("2 detections were left out"));
}
