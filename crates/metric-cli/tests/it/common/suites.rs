//! A suite of four small tasks whose references are easy to recognize, and a good submission to it.

use std::fs;
use std::path::Path;

use super::Folder;

/// Texts of the references that nobody else has: ids, values, and the folder.
pub(crate) const SECRETS: [&str; 8] = [
    "kestrel", "osprey", "harrier", "goshawk", "merlin", "770011", "vaulted", "buzzard",
];

pub(crate) const TASKS: [&str; 4] = ["words", "labels", "boxes", "code"];

pub(crate) const SUITE: &str = r#"name = "Hostile"
total = { rule = "mean", of = ["words.string_accuracy", "labels.accuracy", "boxes.AP", "code.codebleu"] }
limits = { seconds = 60, memory = "2GB", bytes = "10MB", output = "1MB" }

[[task]]
name = "words"
metric = "string-accuracy"
references = "vaulted/words.jsonl"
predictions = "words.jsonl"

[[task]]
name = "labels"
metric = "classification"
references = "vaulted/labels.csv"
predictions = "labels.csv"
options = { groups = "class" }

[[task]]
name = "boxes"
metric = "coco"
references = "vaulted/boxes.json"
predictions = "boxes.json"

[[task]]
name = "code"
metric = "codebleu"
references = "vaulted/code.jsonl"
predictions = "code.jsonl"
options = { lang = "java" }
"#;

/// References by name.
const REFERENCES: [(&str, &str); 4] = [
    (
        "words.jsonl",
        r#"{"id": "kestrel-1", "reference": "osprey one"}
{"id": "kestrel-2", "reference": "osprey two"}
{"id": "kestrel-3", "reference": "osprey three"}
{"id": "kestrel-4", "reference": "osprey four"}
"#,
    ),
    (
        "labels.csv",
        "id,reference\nharrier-1,goshawk\nharrier-2,merlin\nharrier-3,goshawk\nharrier-4,merlin\n",
    ),
    (
        "boxes.json",
        r#"{"images": [{"id": 770011, "width": 100, "height": 100}, {"id": 770012, "width": 100, "height": 100}],
 "categories": [{"id": 7, "name": "buzzard"}],
 "annotations": [
  {"id": 1, "image_id": 770011, "category_id": 7, "bbox": [10, 10, 20, 20], "area": 400, "iscrowd": 0},
  {"id": 2, "image_id": 770012, "category_id": 7, "bbox": [30, 30, 40, 40], "area": 1600, "iscrowd": 0}]}
"#,
    ),
    (
        "code.jsonl",
        r#"{"id": "harrier-f", "reference": "int f(int kestrel) { int y = kestrel + 1; return y; }"}
{"id": "harrier-g", "reference": "boolean g(String osprey) { return osprey.isEmpty(); }"}
"#,
    ),
];

/// A submission that is correct in part, by name.
pub(crate) const GOOD: [(&str, &str); 4] = [
    (
        "words.jsonl",
        r#"{"id": "kestrel-1", "prediction": "osprey one"}
{"id": "kestrel-2", "prediction": "something"}
{"id": "kestrel-3", "prediction": "osprey three"}
{"id": "kestrel-4", "prediction": "osprey four"}
"#,
    ),
    (
        "labels.csv",
        "id,prediction\nharrier-1,goshawk\nharrier-2,goshawk\nharrier-3,goshawk\nharrier-4,merlin\n",
    ),
    (
        "boxes.json",
        r#"[{"image_id": 770011, "category_id": 7, "bbox": [10, 10, 20, 20], "score": 0.9},
 {"image_id": 770012, "category_id": 7, "bbox": [0, 0, 10, 10], "score": 0.8}]
"#,
    ),
    (
        "code.jsonl",
        r#"{"id": "harrier-f", "prediction": "int f(int a) { return a + 1; }"}
{"id": "harrier-g", "prediction": "boolean g(String a) { return a.isEmpty(); }"}
"#,
    ),
];

/// A folder with the suite, its references, and the good submission as `good`.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new(&[("suite.toml", SUITE)]);
    for name in ["vaulted", "good"] {
        fs::create_dir(folder.path(name)).expect("a folder");
    }
    for (name, text) in REFERENCES {
        folder.put(&format!("vaulted/{name}"), text.as_bytes());
    }
    put_good(&folder.path("good"));
    folder
}

pub(crate) fn put_good(folder: &Path) {
    for (name, text) in GOOD {
        fs::write(folder.join(name), text).expect("a file");
    }
}
