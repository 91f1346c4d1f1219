//! The ready suites in the folder `suites` score a submission, made from the samples of `metric demo`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::Folder;

/// A suite, its references and its submission: the names that it gives them, and the samples that they are.
type Suite = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
);

const SUITES: &[Suite] = &[
    (
        "arc-prize",
        &[("solutions.json", "arc-tasks.json")],
        &[("submission.json", "arc-submission.json")],
    ),
    (
        "coco-detection",
        &[("instances.json", "masks.json")],
        &[
            ("bbox.json", "coco-results.json"),
            ("segm.json", "found-masks.json"),
        ],
    ),
    (
        "codexglue-code-to-code",
        &[
            ("test.java-cs.txt.cs", "spoken.txt"),
            ("test.java-cs.txt.java", "spoken.txt"),
        ],
        &[
            ("java-to-cs.txt", "heard.txt"),
            ("cs-to-java.txt", "heard.txt"),
        ],
    ),
    (
        "fusion-brain-2021",
        &[
            ("true_C2C.json", "texts.json"),
            ("true_HTR.json", "texts.json"),
            ("true_zsOD.json", "boxes.json"),
            ("true_VQA.json", "questions.json"),
        ],
        &[
            ("prediction_C2C.json", "texts.json"),
            ("prediction_HTR.json", "texts.json"),
            ("prediction_zsOD.json", "detected-boxes.json"),
            ("prediction_VQA.json", "texts.json"),
        ],
    ),
    (
        "mapdr",
        &[("labels.json", "lanes.json")],
        &[("predictions.json", "predicted-lanes.json")],
    ),
    (
        "openlane-v2",
        &[("truths.jsonl", "frames.jsonl")],
        &[("predictions.jsonl", "predicted-frames.jsonl")],
    ),
    (
        "squad-v2",
        &[("data.json", "squad-data.json")],
        &[("predictions.json", "squad-predictions.json")],
    ),
    (
        "vqa-v2",
        &[("annotations.json", "vqa-annotations.json")],
        &[("results.json", "vqa-results.json")],
    ),
];

fn suites() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites")
}

#[test]
fn each_ready_suite_scores_a_submission() {
    if !suites().is_dir() {
        // The crate is tested on its own.
        return;
    }
    let folder = Folder::new(&[]);
    folder.run("demo --save samples").code(0);
    make_samples(&folder);
    for (name, references, predictions) in SUITES {
        let copy = |from: &Path, to: &Path| {
            fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            fs::copy(from, to).expect("a copied file");
        };
        let file = format!("{name}.toml");
        copy(&suites().join(&file), &folder.path(name).join(&file));
        for (side, files) in [("reference", references), ("submission", predictions)] {
            for (to, from) in *files {
                let from = folder.path("samples").join(from);
                copy(&from, &folder.path(name).join(side).join(to));
            }
        }
        folder.run(&format!("run {name}/{file} --dry-run")).code(0);
        let words = format!("run {name}/{file} --predictions {name}/submission --format json -q");
        let result: Value = folder.run(&words).code(0).json();
        for (task, found) in result["tasks"].as_object().expect("tasks") {
            assert_eq!(found["status"], "ok", "{name}: {task}: {found}");
        }
        assert!(result["total"].is_number(), "{name}: {result}");
    }
}

#[test]
fn each_ready_suite_is_tested() {
    if !suites().is_dir() {
        return;
    }
    let files = fs::read_dir(suites()).expect("a folder");
    let names = files.map(|file| file.expect("a file").file_name().into_string());
    let names = names.map(|name| name.expect("a name in UTF-8"));
    let names: BTreeSet<String> = names
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .collect();
    let tested = SUITES.iter().map(|suite| suite.0.to_owned());
    assert_eq!(names, tested.collect());
}

/// Makes samples in forms that `metric demo` does not have.
fn make_samples(folder: &Folder) {
    let read = |name: &str| fs::read_to_string(folder.path("samples").join(name)).expect(name);
    let put = |name: &str, value: &Value| {
        folder.put(&format!("samples/{name}"), value.to_string().as_bytes());
    };
    put("texts.json", &json!({"0": "x = 1", "1": "y = x"}));
    let question = |answer: &str| json!({"answer": answer, "lang": "en"});
    put(
        "questions.json",
        &json!({"0": question("x = 1"), "1": question("red")}),
    );

    let object_by_id = |name: &str, field: &str| -> Value {
        let rows = read(name);
        let rows = rows
            .lines()
            .map(|row| -> Value { serde_json::from_str(row).expect("a record") });
        let entry = |row: Value| {
            (
                row["id"].as_str().expect("an id").to_owned(),
                row[field].clone(),
            )
        };
        Value::Object(rows.map(entry).collect())
    };
    put("lanes.json", &object_by_id("lanes.jsonl", "reference"));
    put(
        "predicted-lanes.json",
        &object_by_id("predicted-lanes.jsonl", "prediction"),
    );

    // Each box as a mask of its four corners.
    let with_mask = |object: &mut Value| {
        let [x, y, width, height] =
            [0, 1, 2, 3].map(|side| object["bbox"][side].as_f64().expect("a side"));
        let (right, bottom) = (x + width, y + height);
        object["segmentation"] = json!([[x, y, right, y, right, bottom, x, bottom]]);
    };
    let mut truth: Value = serde_json::from_str(&read("coco-truth.json")).expect("JSON");
    truth["annotations"]
        .as_array_mut()
        .expect("a list")
        .iter_mut()
        .for_each(with_mask);
    put("masks.json", &truth);
    let mut found: Value = serde_json::from_str(&read("coco-results.json")).expect("JSON");
    for object in found.as_array_mut().expect("a list") {
        with_mask(object);
        object.as_object_mut().expect("an object").remove("bbox");
    }
    put("found-masks.json", &found);
}
