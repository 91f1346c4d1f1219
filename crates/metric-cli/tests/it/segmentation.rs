//! Label maps: folders, pairs of files and records, whole, in shards and on any number of threads, and files that attack the reader.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Folder;
use serde_json::Value;

/// The golden label maps of this name.
fn golden(name: &str) -> PathBuf {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    golden.join("segmentation/semantic").join(name)
}

/// A NumPy file of bytes.
fn npy(rows: &[&[u8]]) -> Vec<u8> {
    let header = format!(
        "{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, {}), }}\n",
        rows.len(),
        rows[0].len()
    );
    let size = (header.len() as u16).to_le_bytes();
    [
        b"\x93NUMPY\x01\x00",
        size.as_slice(),
        header.as_bytes(),
        &rows.concat(),
    ]
    .concat()
}

/// A folder with three images on both sides, one of them in a folder of its own.
fn maps() -> Folder {
    let folder = Folder::new(&[("names.txt", "sky\nroad\ncar\n")]);
    for side in ["truth", "found"] {
        fs::create_dir_all(folder.path(side).join("city")).expect("a folder");
    }
    for (name, reference, prediction) in [
        ("a", [[0, 0], [1, 255]], [[0, 1], [1, 1]]),
        ("city/b", [[2, 2], [2, 1]], [[2, 2], [0, 1]]),
        ("c", [[1, 1], [0, 0]], [[1, 1], [0, 0]]),
    ] {
        for (side, rows) in [("truth", reference), ("found", prediction)] {
            let rows: Vec<&[u8]> = rows.iter().map(<[u8; 2]>::as_slice).collect();
            folder.put(&format!("{side}/{name}.npy"), &npy(&rows));
        }
    }
    folder
}

const SCORE: &str = "score segmentation -r truth -p found --classes 3 --format json";

#[test]
fn scores_of_a_folder_by_hand() {
    let folder = maps();
    let result = folder
        .run(
            "score segmentation -r truth -p found --format json --groups class --classes names.txt",
        )
        .json();
    // Sky: 3 of 5 pixels. Road: 4 of 5. Car: 2 of 3.
    assert_eq!(
        result["scores"]["mIoU"],
        (3.0 / 5.0 + 4.0 / 5.0 + 2.0 / 3.0) / 3.0
    );
    assert_eq!(result["scores"]["aAcc"], 9.0 / 11.0);
    assert_eq!(result["counts"]["pixels"], 11);
    assert_eq!(result["counts"]["ignored"], 1);
    assert_eq!(result["examples"], 3);
    let road = &result["groups"]["class"]["road"];
    assert_eq!(road["scores"]["Acc"], 1.0);
    assert_eq!(road["counts"]["label"], 1);
    let samples = folder.run(&format!("{SCORE} --per-sample samples.jsonl"));
    samples.code(0);
    let text = fs::read_to_string(folder.path("samples.jsonl")).expect("samples");
    let ids: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["id"].clone())
        .collect();
    assert_eq!(ids, ["a", "c", "city/b"]);
}

#[test]
fn shards_and_threads_give_the_bytes_of_one_run() {
    let folder = maps();
    let options = "--groups class --confidence 0.95 --seed 7";
    let whole = folder.run(&format!("{SCORE} {options}")).code(0).stdout;
    let one = folder
        .run(&format!("{SCORE} {options} --threads 1"))
        .code(0)
        .stdout;
    assert_eq!(one, whole);
    for shard in 0..2 {
        folder
            .run(&format!(
                "{SCORE} {options} --shard {shard}/2 --state-out {shard}.state"
            ))
            .code(0);
    }
    let merged = folder.run("merge 1.state 0.state --format json").json();
    let whole: Value = serde_json::from_str(&whole).expect("JSON");
    for field in ["examples", "scores", "counts", "groups"] {
        assert_eq!(merged[field], whole[field], "{field}");
    }
}

#[test]
fn records_are_lists_or_paths() {
    let folder = maps();
    let expected = folder.run(SCORE).json();
    let (mut truth, mut found) = (String::new(), String::new());
    for id in ["a", "c", "city/b"] {
        truth += &format!("{{\"id\": \"{id}\", \"reference\": \"truth/{id}.npy\"}}\n");
        found += &format!("{{\"id\": \"{id}\", \"prediction\": \"found/{id}.npy\"}}\n");
    }
    folder.put("truth.jsonl", truth.as_bytes());
    folder.put("found.jsonl", found.as_bytes());
    let result =
        folder.run("score segmentation -r truth.jsonl -p found.jsonl --classes 3 --format json");
    assert_eq!(result.json()["scores"], expected["scores"]);

    folder.put(
        "one.jsonl",
        b"{\"id\": \"c\", \"reference\": [[1, 1], [0, 0]]}\n",
    );
    folder.put(
        "path.jsonl",
        b"{\"id\": \"c\", \"prediction\": \"found/c.npy\"}\n",
    );
    let result = folder
        .run("score segmentation -r one.jsonl -p path.jsonl --classes 3 --format json")
        .json();
    assert_eq!(result["scores"]["mIoU"], 1.0);
    let pair = folder
        .run("score segmentation -r truth/c.npy -p found/c.npy --classes 3 --format json")
        .json();
    assert_eq!(pair["scores"], result["scores"]);

    for path in ["../found/c.npy", "/etc/passwd", "found/../../c.npy"] {
        folder.put(
            "path.jsonl",
            format!("{{\"id\": \"c\", \"prediction\": \"{path}\"}}\n").as_bytes(),
        );
        let run = folder.run("score segmentation -r one.jsonl -p path.jsonl --classes 3");
        run.fails(3, &["leads out of the folder", "\"c\""]);
    }
}

#[test]
fn a_missing_prediction_counts_on_request() {
    let folder = maps();
    fs::remove_file(folder.path("found/c.npy")).expect("a file");
    folder.run(SCORE).fails(3, &["\"c\"", "--missing"]);
    let empty = folder.run(&format!("{SCORE} --missing empty")).json();
    assert_eq!(
        (&empty["counts"]["outside"], &empty["missing"]),
        (&Value::from(4), &Value::from(1))
    );
    let skipped = folder.run(&format!("{SCORE} --missing skip")).json();
    assert_eq!(
        (&skipped["examples"], &skipped["counts"]["pixels"]),
        (&Value::from(2), &Value::from(7))
    );
}

/// The warnings about labels that explain surprising scores.
#[test]
fn surprising_labels_are_explained() {
    for (reference, prediction, options, expected) in [
        (
            "[[0, 0]]",
            "[[0, 0]]",
            "--classes 2",
            "IoU of 1 class is 0 or undefined",
        ),
        ("[[0, 255]]", "[[0, 1]]", "--classes 2", "--label-map 255:1"),
        (
            "[[0, 1, 1]]",
            "[[0, 1, 1]]",
            "--classes 2 --ignore-index 0",
            "--ignore-index 0 is a class",
        ),
        (
            "[[1, 2, 3, 3]]",
            "[[0, 1, 2, 2]]",
            "--classes 4",
            "--reduce-zero-label",
        ),
        (
            "[[0, 1]]",
            "[[9, 255]]",
            "--classes 2",
            "2 predicted labels are not classes (0 to 1), and their pixels count as missed; 1 of them are 255",
        ),
        (
            "[[0, 2]]",
            "[[0, 0]]",
            "--classes 2 --unknown-labels count",
            "one too small",
        ),
        (
            "[[0, 255, 255]]",
            "[[0, 1, 1]]",
            "--classes 2",
            "2 of 3 pixels are ignored",
        ),
        ("[[0, 1]]", "[[7, 26]]", "--classes 19", "train ids"),
    ] {
        let folder = Folder::new(&[]);
        folder.put(
            "r.jsonl",
            format!("{{\"id\": 1, \"reference\": {reference}}}\n").as_bytes(),
        );
        folder.put(
            "p.jsonl",
            format!("{{\"id\": 1, \"prediction\": {prediction}}}\n").as_bytes(),
        );
        let run = folder.run(&format!(
            "score segmentation -r r.jsonl -p p.jsonl --format json {options}"
        ));
        let warnings = run.json()["warnings"].to_string();
        assert!(warnings.contains(expected), "{options}: {warnings}");
    }
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let folder = maps();
    for (options, expected) in [
        ("", "expected the number of classes"),
        ("--classes no-such.txt", "there is no such file"),
        ("--classes 0", "found 0 classes"),
        ("--classes 255 --reduce-zero-label", "expected at most 254"),
        (
            "--classes 3 --ignore-index x",
            "a label, which is an integer, or none",
        ),
        ("--classes 3 --label-map 1", "such as 0:1"),
        (
            "--profile cityscapes --classes 19",
            "expected only with --profile",
        ),
    ] {
        let run = folder.run(&format!("score segmentation -r truth -p found {options}"));
        run.fails(2, &[expected]);
    }
    for options in [
        "--ignore-index=-1",
        "--ignore-index -1",
        "--ignore-index 255,-1",
        "--ignore-index 255,0",
    ] {
        folder
            .run(&format!(
                "score segmentation -r truth -p found --classes 256 {options}"
            ))
            .code(0);
    }
}

/// The checksum of a chunk of a PNG file.
fn crc(bytes: &[u8]) -> [u8; 4] {
    let crc = bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    });
    (!crc).to_be_bytes()
}

#[test]
fn hostile_files_are_refused_by_name() {
    let png = fs::read(golden("gray8").join("reference/im0.png")).expect("a golden file");
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut png = png.clone();
        change(&mut png);
        png
    };
    let sized = |width: u32, height: u32| {
        damaged(&|png| {
            png[16..20].copy_from_slice(&width.to_be_bytes());
            png[20..24].copy_from_slice(&height.to_be_bytes());
            let checksum = crc(&png[12..29]);
            png[29..33].copy_from_slice(&checksum);
        })
    };
    for (bytes, expected) in [
        (sized(100_000, 100_000), "max-pixels"),
        (sized(1, 1 << 27), "expected"),
        (sized(0, 12), "p.png"),
        (sized(1 << 28, 1), "expected"),
        (damaged(&|png| png.truncate(40)), "cut off"),
        (damaged(&|png| png.truncate(3)), "p.png"),
        (damaged(&|png| png[29] ^= 1), "not a valid PNG file"),
        (
            damaged(&|png| {
                let end = png.len();
                png[end - 18] ^= 1;
            }),
            "p.png",
        ),
        (Vec::new(), "p.png"),
        (npy(&[&[1, 2]])[..20].to_vec(), "p.png"),
    ] {
        let folder = Folder::new(&[]);
        folder.put("r.png", &png);
        folder.put("p.png", &bytes);
        let run = folder.run("score segmentation -r r.png -p p.png --classes 5");
        run.fails(3, &["p.png", expected]);
    }
}
