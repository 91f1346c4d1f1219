//! Images that a list selects, and columns of text results that are skipped.

use std::fs;

use crate::common::Folder;
use serde_json::{Value, json};

/// Writes files into folders that are made for them.
fn put(folder: &Folder, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        folder.put(name, text.as_bytes());
    }
}

/// A folder with three images in the layouts of YOLO, Pascal VOC and COCO. The objects in `a` and `c` are found, and the one in `b`
/// is not: another one is.
fn images() -> Folder {
    let folder = Folder::new(&[("val.txt", "a\nb\n")]);
    let (mut annotations, mut results) = (Vec::new(), Vec::new());
    for (at, name) in ["a", "b", "c"].iter().enumerate() {
        let found = if *name == "b" { 0.8 } else { 0.2 };
        put(
            &folder,
            &[
                (&format!("yolo/{name}.txt"), "0 0.2 0.2 0.2 0.2\n"),
                (
                    &format!("yolo-found/{name}.txt"),
                    &format!("0 {found} 0.2 0.2 0.2 0.9\n"),
                ),
                (
                    &format!("voc/{name}.xml"),
                    "<annotation><object><name>dog</name><bndbox><xmin>10</xmin><ymin>10</ymin><xmax>30</xmax><ymax>30</ymax></bndbox></object></annotation>",
                ),
            ],
        );
        let x = found * 100.0 - 10.0;
        annotations.push(json!({"id": at + 1, "image_id": at + 1, "category_id": 1, "bbox": [10, 10, 20, 20], "area": 400, "iscrowd": 0}));
        results.push(
            json!({"image_id": at + 1, "category_id": 1, "bbox": [x, 10, 20, 20], "score": 0.9}),
        );
    }
    let lines = "a 0.9 10 10 30 30\nb 0.9 70 10 90 30\nc 0.9 10 10 30 30\n";
    put(&folder, &[("voc-found/comp4_det_val_dog.txt", lines)]);
    let listed = [1, 2, 3].map(
        |id| json!({"id": id, "file_name": format!("val/{}.jpg", ["a", "b", "c"][id - 1]), "width": 100, "height": 100}),
    );
    let truth = json!({"images": listed, "annotations": annotations, "categories": [{"id": 1, "name": "dog"}]});
    folder.put("truth.json", truth.to_string().as_bytes());
    folder.put("found.json", json!(results).to_string().as_bytes());
    folder
}

const LAYOUTS: [&str; 3] = [
    "-r yolo -p yolo-found",
    "-r voc -p voc-found",
    "-r truth.json -p found.json",
];

#[test]
fn images_of_a_list_are_scored_in_each_layout() {
    let folder = images();
    for data in LAYOUTS {
        let whole = folder
            .run(&format!(
                "score confusion-matrix {data} --format json --groups none"
            ))
            .json();
        assert_eq!(
            (&whole["counts"]["tp"], &whole["counts"]["fp"]),
            (&json!(2), &json!(1)),
            "{data}"
        );
        let run = folder.run(&format!(
            "score confusion-matrix {data} --format json --groups none --images-list val.txt"
        ));
        let said = run.stderr.clone();
        let outcome = run.json();
        assert_eq!(outcome["examples"], 2, "{data}");
        let counts = &outcome["counts"];
        let counts = ["tp", "fp", "fn"].map(|name| counts[name].as_u64());
        assert_eq!(counts, [Some(1), Some(1), Some(1)], "{data}");
        assert!(
            said.contains(
                "selected 2 of 3 images by --images-list; 1 detection in another image was left out"
            ),
            "{said}"
        );
        let signature = outcome["signature"].as_str().expect("a signature");
        assert!(
            signature.contains("|images-list:val.txt|selected:2-"),
            "{signature}"
        );
    }
}

#[test]
fn all_metrics_of_detections_take_a_list() {
    let folder = images();
    // Of one found and one missed object, each at precision 1 or 1/2.
    for (metric, score, expected) in [
        ("voc", "mAP", 0.5),
        ("coco", "AR_1", 0.5),
        ("detection", "recall", 0.5),
        ("confusion-matrix", "recall", 0.5),
        ("tide", "AP", 51.0 / 101.0),
    ] {
        let run = folder.run(&format!(
            "score {metric} -r truth.json -p found.json --format json --images-list val.txt"
        ));
        let found = run.json()["scores"][score].as_f64().expect("a score");
        let found = if metric == "tide" && found > 1.0 {
            found / 100.0
        } else {
            found
        };
        assert!((found - expected).abs() < 1e-12, "{metric}: {found}");
    }
    let run = folder.run(
        "score ultralytics -r yolo -p yolo-found --format json --images-list val.txt --iou-type bbox",
    );
    // Precision 1 up to recall 0.5: 49 intervals of 0.01, and one of 0.005.
    assert_eq!(run.json()["scores"]["mAP50"], 0.495);
    let run =
        folder.run("score lvis -r truth.json -p found.json --format json --images-list val.txt");
    assert_eq!(run.json()["examples"], 2);
}

#[test]
fn lists_have_ids_or_paths() {
    let folder = images();
    for (data, list) in [
        (LAYOUTS[0], "./images/val/a.jpg\n./images/val/b.jpg\n"),
        (LAYOUTS[1], "a  1\nb -1\n\n"),
        (LAYOUTS[2], "1\r\n2\r\n"),
        (LAYOUTS[2], "/data/val/a.jpg\nb\n"),
    ] {
        folder.put("list.txt", list.as_bytes());
        let run = folder.run(&format!(
            "score voc {data} --format json --images-list list.txt"
        ));
        assert_eq!(run.json()["scores"]["mAP"], 0.5, "{list}");
    }
    for data in LAYOUTS {
        folder.put("list.txt", b"a\nx\n");
        let problem = "list.txt:2: found \"x\": expected the id or the file name of an image";
        let run = folder.run(&format!("score voc {data} --images-list list.txt"));
        run.fails(3, &[problem]);
        let run = folder.run(&format!("check voc {data} --images-list list.txt"));
        let said = run.code(3).stdout;
        assert!(said.contains(problem), "{said}");
        folder.put("list.txt", b"\n");
        let run = folder.run(&format!("score voc {data} --images-list list.txt"));
        run.fails(3, &["list.txt: lists no images"]);
    }
    let records = [
        ("r.jsonl", "{\"id\": 1, \"reference\": []}\n"),
        ("p.jsonl", "{\"id\": 1, \"prediction\": []}\n"),
    ];
    put(&folder, &records);
    for metric in ["voc", "detection"] {
        let run = folder.run(&format!(
            "score {metric} -r r.jsonl -p p.jsonl --images-list val.txt"
        ));
        run.fails(
            3,
            &["--images-list val.txt goes with dataset files and folders, found records"],
        );
    }
}

#[test]
fn parts_of_a_selection_are_the_selection() {
    let folder = images();
    for data in LAYOUTS {
        let score = format!("score voc {data} --images-list val.txt --format json");
        let whole = folder.run(&score).json();
        for shard in 0..3 {
            let part = format!("{score} --shard {shard}/3 --state-out {shard}.state");
            folder.run(&part).code(0);
        }
        let merged = folder
            .run("merge 2.state 0.state 1.state --format json")
            .json();
        for field in [
            "examples",
            "scores",
            "counts",
            "groups",
            "warnings",
            "signature",
        ] {
            assert_eq!(merged[field], whole[field], "{data}: {field}");
        }
        // A state of all images is of another definition.
        folder
            .run(&format!("score voc {data} --state-out all.state"))
            .code(0);
        let run = folder.run("merge all.state 0.state");
        assert_ne!(run.code, Some(0));
        fs::remove_file(folder.path("all.state")).expect("a state");
    }
}

#[test]
fn comparisons_and_suites_take_a_list() {
    let folder = images();
    let run = folder.run(
        "compare voc -r truth.json -p found.json found.json --names one,two --images-list val.txt --format json",
    );
    let outcome = run.json();
    assert!(
        outcome.to_string().contains("images-list:val.txt"),
        "{outcome}"
    );
    let suite = "name = \"x\"\n[[task]]\nname = \"t\"\nmetric = \"voc\"\nreferences = \"truth.json\"\npredictions = \"found.json\"\noptions = { images-list = \"LIST\" }\n";
    put(
        &folder,
        &[
            ("suite.toml", &suite.replace("LIST", "val.txt")),
            ("bad.toml", &suite.replace("LIST", "bad.txt")),
            ("bad.txt", "a\nx\n"),
        ],
    );
    fs::create_dir(folder.path("s")).expect("a folder");
    fs::copy(folder.path("found.json"), folder.path("s/found.json")).expect("a file");
    let outcome = folder.run("run suite.toml -p s --format json").json();
    assert_eq!(
        outcome["tasks"]["t"]["result"]["scores"]["mAP"], 0.5,
        "{outcome}"
    );
    // A list with a mistake is the organizer's.
    folder
        .run("run bad.toml -p s")
        .fails(3, &["bad.txt:2: found \"x\""]);
    folder
        .run("run bad.toml --dry-run")
        .fails(3, &["bad.txt:2: found \"x\""]);
}

#[test]
fn columns_of_track_ids_are_skipped() {
    let folder = images();
    let scores = |data: &str, options: &str| -> Value {
        let run = folder.run(&format!(
            "score {data} --format json --iou-type bbox {options}"
        ));
        run.json()["scores"].clone()
    };
    let expected = scores("ultralytics -r yolo -p yolo-found", "");
    put(
        &folder,
        &[
            ("tracks/a.txt", "0 0.2 0.2 0.2 0.2 0.9 17\n"),
            ("tracks/b.txt", "0 0.8 0.2 0.2 0.2 0.9 1.23457e+06\n"),
            ("tracks/c.txt", "0 0.2 0.2 0.2 0.2 0.9 18\n"),
            ("many/a.txt", "f1 7 0 x 0.9 0.2 0.2 y 0.2 0.2 z 1 2\n"),
            ("many/b.txt", "f1 8 0 x 0.9 0.8 0.2 y 0.2 0.2 z 1 2\n"),
            ("many/c.txt", "f1 9 0 x 0.9 0.2 0.2 y 0.2 0.2 z 1 2\n"),
        ],
    );
    let tracks = "ultralytics -r yolo -p tracks";
    assert_eq!(scores(tracks, ""), expected);
    assert_eq!(
        scores(tracks, "--columns class,cx,cy,w,h,score,_"),
        expected
    );
    let columns = "--columns _,_,class,_,score,cx,cy,_,w,h,_,_,_";
    assert_eq!(scores("ultralytics -r yolo -p many", columns), expected);
    assert_eq!(
        scores("voc -r yolo -p many", columns),
        scores("voc -r yolo -p yolo-found", "")
    );
    let run = folder.run(&format!(
        "score ultralytics -r yolo -p many {columns} --format json"
    ));
    assert_eq!(run.json()["scores"], expected);
    let run = folder.run("score voc -r yolo -p tracks --columns class,cx,cy,w,h,score,_,_");
    run.fails(
        3,
        &["a.txt:1: found 7 words, expected 8: class,cx,cy,w,h,score,_,_"],
    );
    let run = folder.run("score voc -r yolo -p tracks --columns class,cx,cy,w,h,_");
    run.fails(2, &["found 5 columns", "with _ for each column to skip"]);
}

#[test]
fn detections_beyond_the_limit_are_stated_in_the_table() {
    let folder = images();
    let text = fs::read_to_string(folder.path("found.json")).expect("a file");
    let mut results: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    // Two further detections in the first image, and one in the second.
    results.extend([results[0].clone(), results[0].clone(), results[1].clone()]);
    folder.put("found.json", json!(results).to_string().as_bytes());
    let note = "\n--max-detections left out 3 detections in 2 images\n";
    for metric in ["coco", "lvis", "tide"] {
        let score = format!("score {metric} -r truth.json -p found.json");
        let shown = folder
            .run(&format!("{score} --max-detections 1"))
            .code(0)
            .stdout;
        assert!(shown.contains(note), "{shown}");
        let shown = folder
            .run(&format!("{score} --max-detections 3"))
            .code(0)
            .stdout;
        assert!(!shown.contains("left out"), "{shown}");
        for shard in 0..2 {
            let part =
                format!("{score} --max-detections 1 --shard {shard}/2 --state-out {shard}.state");
            folder.run(&part).code(0);
        }
        let merged = folder.run("merge 0.state 1.state").code(0).stdout;
        assert!(merged.contains(note), "{merged}");
    }
    let score = "score coco -r truth.json -p found.json --max-detections 2 --iou-type bbox";
    let shown = folder.run(score).code(0).stdout;
    assert!(
        shown.contains("left out 1 detection in 1 image\n"),
        "{shown}"
    );
}

#[test]
fn lists_of_one_name_have_signatures_of_their_own() {
    let folder = images();
    let ids: Vec<String> = fs::read_to_string(folder.path("val.txt"))
        .expect("a list")
        .lines()
        .map(str::to_owned)
        .collect();
    for (name, lines) in [
        ("first/val.txt", ids[..1].to_vec()),
        ("second/val.txt", ids[1..].to_vec()),
        ("again/val.txt", ids[1..].to_vec()),
        ("turned/val.txt", ids.iter().rev().cloned().collect()),
    ] {
        fs::create_dir_all(folder.path(name).parent().expect("a folder")).expect("a folder");
        folder.put(name, lines.join("\n").as_bytes());
    }
    let data = LAYOUTS[0];
    for metric in ["voc", "detection"] {
        let signature = |list: &str, options: &str| {
            let command = format!("{metric} {data} --images-list {list} {options}");
            let run = folder.run(&format!("score {command} --format json"));
            let outcome = run.json();
            outcome["signature"]
                .as_str()
                .expect("a signature")
                .to_owned()
        };
        let second = signature("second/val.txt", "");
        assert_ne!(signature("first/val.txt", ""), second, "{metric}");
        assert_eq!(signature("again/val.txt", ""), second, "{metric}");
        let whole = signature("val.txt", "");
        assert_eq!(signature("turned/val.txt", ""), whole, "{metric}");
        // The parts of a data set have that of the whole.
        for part in ["0/2", "1/2"] {
            let name = part.replace('/', "-");
            let score = format!("score {metric} {data} --images-list val.txt --shard {part}");
            folder
                .run(&format!("{score} --state-out {name}.state"))
                .code(0);
        }
        let merged = folder.run("merge 0-2.state 1-2.state --format json").json();
        assert_eq!(merged["signature"], whole.as_str(), "{metric}");
    }
}
