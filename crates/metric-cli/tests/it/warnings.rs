//! Data and options that give a number other than the one that was meant: the program says so in a warning, or
//! refuses them.

use serde_json::{Value, json};

use crate::common::{Folder, Run};

/// The warnings of a result.
fn warnings(result: &Value) -> Vec<&str> {
    let warnings = result["warnings"].as_array().expect("a list");
    warnings.iter().filter_map(Value::as_str).collect()
}

/// Runs a metric on records.
fn score(words: &str, references: &str, predictions: &str) -> Run {
    let folder = Folder::new(&[("r.jsonl", references), ("p.jsonl", predictions)]);
    folder.run(&format!(
        "score {words} --format json -r r.jsonl -p p.jsonl"
    ))
}

/// Lines of records with the ids 1, 2 and so on.
fn lines(field: &str, values: &[Value]) -> String {
    let lines = (1..).zip(values).map(|(id, value)| {
        let record = json!({"id": id, field: value});
        format!("{record}\n")
    });
    lines.collect()
}

/// The result of a metric on pairs of a reference and a prediction.
fn scored(words: &str, pairs: &[(Value, Value)]) -> Value {
    let (references, predictions): (Vec<Value>, Vec<Value>) = pairs.iter().cloned().unzip();
    let references = lines("reference", &references);
    score(words, &references, &lines("prediction", &predictions)).json()
}

/// Whether shards, merged, give the same bytes as one run over all data.
fn merges(folder: &Folder, words: &str) {
    let whole = folder.run(&format!(
        "score {words} --format json --state-out all.state"
    ));
    for shard in 0..2 {
        let run = folder.run(&format!(
            "score {words} --format json --shard {shard}/2 --state-out {shard}.state"
        ));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
    let merged = folder.run("merge 0.state 1.state --format json");
    assert_eq!(merged.json(), whole.json());
}

#[test]
fn codebleu_with_grammars_of_another_year() {
    let pair = [(json!("x = 1"), json!("x = 1"))];
    for (profile, warned) in [
        ("codexglue", true),
        ("fusion-brain-2021", true),
        ("codebleu-0.7", false),
        ("paper", false),
        ("corrected", false),
    ] {
        let result = scored(
            &format!("codebleu --lang python --profile {profile}"),
            &pair,
        );
        let said = warnings(&result).iter().any(|warning| {
            warning.starts_with("syntax_match and dataflow_match come from current")
        });
        assert_eq!(said, warned, "{profile}: {result}");
    }
}

/// A COCO data set of one object per box, and its detections.
fn coco(annotations: &[Value], results: &[Value]) -> Folder {
    let truth = json!({
        "images": [{"id": 1, "width": 100, "height": 100}, {"id": 2, "width": 100, "height": 100}],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}, {"id": 3, "name": "cow"}],
        "annotations": annotations,
    });
    Folder::new(&[
        ("gt.json", &truth.to_string()),
        ("dt.json", &json!(results).to_string()),
    ])
}

const COCO: &str = "-r gt.json -p dt.json";

fn object(id: u64, image: u64, class: u64) -> Value {
    json!({"id": id, "image_id": image, "category_id": class, "bbox": [10, 10, 20, 20], "area": 400, "iscrowd": 0})
}

fn found(image: u64, class: u64) -> Value {
    json!({"image_id": image, "category_id": class, "bbox": [10, 10, 20, 20], "score": 1.0 / image as f64})
}

#[test]
fn coco_annotations_with_the_id_0() {
    let folder = coco(
        &[object(0, 1, 1), object(1, 2, 1)],
        &[found(1, 1), found(2, 1)],
    );
    let result = folder
        .run(&format!("score coco --format json {COCO}"))
        .json();
    assert_eq!(result["scores"]["AP"], json!(1.0));
    assert_eq!(
        warnings(&result),
        [
            "1 object of the ground truth has the id 0, which pycocotools never counts as found; to get its numbers, use --quirks pycocotools"
        ]
    );
    // pycocotools 2.0.11 has this AP: the detection of the object 0 ranks first and is wrong.
    let quirks = folder
        .run(&format!(
            "score coco --quirks pycocotools --format json {COCO}"
        ))
        .json();
    let ap = quirks["scores"]["AP"].as_f64().expect("a score");
    assert!((ap - 0.252_475_247_524_752_5).abs() < 1e-12, "{ap}");
    assert!(warnings(&quirks).is_empty());
    // Other metrics do not look at the ids.
    let voc = folder
        .run(&format!("score voc --format json {COCO}"))
        .json();
    assert!(warnings(&voc).is_empty());
    merges(&folder, &format!("coco {COCO}"));
}

#[test]
fn coco_masks_of_another_size_than_their_image() {
    let mask = |image: u64, size: u64| {
        let counts = [0, size, size * (size - 1)];
        json!({"image_id": image, "category_id": 1, "score": 1.0 / image as f64, "segmentation": {"size": [size, size], "counts": counts}})
    };
    let truth = |id: u64, image: u64, size: u64| {
        let mut truth = mask(image, size);
        truth["id"] = json!(id);
        truth["iscrowd"] = json!(0);
        truth["area"] = json!(size);
        truth
    };
    // Both sides of the first image are of one size, which is not that of the image.
    let folder = coco(
        &[truth(1, 1, 10), truth(2, 2, 100)],
        &[mask(1, 10), mask(2, 10)],
    );
    let words = format!("coco --iou-type segm {COCO}");
    folder.run(&format!("score {words}")).fails(
        3,
        &[
            "gt.json: annotations[0]: segmentation: size is [10, 10]: expected that of the image, [100, 100] (--quirks pycocotools accepts other sizes)",
        ],
    );
    let words = format!("{words} --quirks pycocotools");
    let result = folder.run(&format!("score {words} --format json")).json();
    assert_eq!(result["scores"]["AR_100"], json!(0.5));
    assert_eq!(
        warnings(&result),
        ["3 masks are not of the size of their images; they overlap only masks of their own size"]
    );
    merges(&folder, &words);
}

#[test]
fn detections_of_classes_that_the_ground_truth_lacks() {
    let objects = [object(1, 1, 1), object(2, 2, 2)];
    let some = coco(
        &objects,
        &[
            found(1, 1),
            found(1, 17),
            found(2, 17),
            found(2, 18),
            found(2, 3),
        ],
    );
    let none = coco(&objects, &[found(1, 17), found(2, 18)]);
    for metric in ["coco", "voc", "tide", "confusion-matrix", "detection"] {
        let result = some
            .run(&format!("score {metric} --format json {COCO}"))
            .json();
        let left_out =
            "detections are of classes that the ground truth does not list, and were left out: ";
        assert_eq!(
            warnings(&result),
            [format!("3 {left_out}\"17\" (2), \"18\" (1)")],
            "{metric}"
        );
        let result = none
            .run(&format!("score {metric} --format json {COCO}"))
            .json();
        let truths = match metric {
            "detection" => "\"1\" (1), \"2\" (1)",
            _ => "\"cat\" (1), \"dog\" (1)",
        };
        assert_eq!(
            warnings(&result),
            [
                format!("2 {left_out}\"17\" (1), \"18\" (1)"),
                format!(
                    "NO CLASS IN COMMON: no detection is of a class of the ground truth, which has {truths}"
                ),
            ],
            "{metric}"
        );
        merges(&some, &format!("{metric} {COCO}"));
        merges(&none, &format!("{metric} {COCO}"));
    }
}

/// Folders of files, each of which is an image.
fn folders(truths: &[(&str, &str)], predictions: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(&[]);
    for (name, files) in [("gt", truths), ("dt", predictions)] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
        for (file, text) in files {
            folder.put(&format!("{name}/{file}"), text.as_bytes());
        }
    }
    folder
}

const BOXES: [&str; 4] = ["voc", "tide", "confusion-matrix", "detection"];

#[test]
fn names_of_classes_that_the_ground_truth_lacks() {
    let truth = |class: &str| {
        format!(
            "<annotation><object><name>{class}</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>"
        )
    };
    let (cat, dog) = (truth("cat"), truth("dog"));
    let truths = [("a.xml", cat.as_str()), ("b.xml", dog.as_str())];
    for (files, lacks, common) in [
        (
            ["Cat 0.9 1 1 9 9", "dog 0.9 1 1 9 9"],
            Some("1 detection is of a class of which the ground truth has no object: \"Cat\" (1)"),
            true,
        ),
        (["cat 0.9 1 1 9 9", "cat 0.8 1 1 9 9"], None, true),
        (
            ["Cat 0.9 1 1 9 9", "Dog 0.9 1 1 9 9"],
            Some(
                "2 detections are of classes of which the ground truth has no object: \"Cat\" (1), \"Dog\" (1)",
            ),
            false,
        ),
    ] {
        let predictions = [("a.txt", files[0]), ("b.txt", files[1])];
        let folder = folders(&truths, &predictions);
        for metric in BOXES {
            let words = format!("{metric} -r gt -p dt");
            let result = folder.run(&format!("score {words} --format json")).json();
            let mut expected: Vec<String> = lacks.map(str::to_owned).into_iter().collect();
            if !common {
                expected.push("NO CLASS IN COMMON: no detection is of a class of the ground truth, which has \"cat\" (1), \"dog\" (1)".to_owned());
            }
            assert_eq!(warnings(&result), expected, "{metric} {files:?}");
            merges(&folder, &words);
        }
    }
}

#[test]
fn detection_names_the_classes_that_are_not_asked_for() {
    let run = score(
        "detection --extra ignore",
        "{\"id\": 1, \"reference\": {\"cat\": [[0, 0, 1, 1]]}}\n{\"id\": 2, \"reference\": {\"cat\": []}}\n",
        "{\"id\": 1, \"prediction\": {\"cat\": [], \"dog\": []}}\n{\"id\": 2, \"prediction\": {\"cat\": [], \"dog\": [], \"cow\": []}}\n",
    );
    assert_eq!(
        warnings(&run.json()),
        [
            "3 predicted classes are not asked for in their images and were left out: \"cow\" (1), \"dog\" (2)"
        ]
    );
}

/// Objects of YOLO's labels, as fractions of the image.
const OBJECTS: [[f64; 4]; 6] = [
    [0.2, 0.7, 0.2, 0.3],
    [0.5, 0.5, 0.4, 0.6],
    [0.8, 0.2, 0.3, 0.2],
    [0.3, 0.6, 0.25, 0.1],
    [0.6, 0.85, 0.5, 0.2],
    [0.25, 0.5, 0.1, 0.1],
];

/// Labels of one image per object, and their detections with these confidences in a form.
fn yolo(confidences: &[f64], form: fn([f64; 4], f64) -> String) -> Folder {
    let files = |line: &dyn Fn([f64; 4], f64) -> String| -> Vec<(String, String)> {
        let objects = OBJECTS.into_iter().zip(confidences.iter().cycle());
        let lines = objects.map(|(numbers, &confidence)| line(numbers, confidence));
        (0..)
            .zip(lines)
            .map(|(at, line)| (format!("{at}.txt"), line))
            .collect()
    };
    let truths = files(&|[x, y, w, h], _| format!("0 {x} {y} {w} {h}\n"));
    let found = files(&|numbers, confidence| form(numbers, confidence));
    folders(&borrowed(&truths), &borrowed(&found))
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    let files = files.iter();
    files
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect()
}

#[test]
fn yolo_results_with_the_confidence_second() {
    let second =
        |[x, y, w, h]: [f64; 4], confidence: f64| format!("0 {confidence} {x} {y} {w} {h}\n");
    let certain = yolo(&[0.9, 0.8], second);
    for metric in BOXES {
        certain.run(&format!("score {metric} -r gt -p dt")).fails(
            3,
            &[
                "dt/0.txt:1: found a box that leaves the image",
                "expected class cx cy width height confidence, so move the second column to the end",
            ],
        );
    }
    // All boxes are within their images, and none of them meets an object.
    let doubtful = yolo(&[0.4, 0.5], second);
    for metric in BOXES {
        let words = format!("{metric} -r gt -p dt");
        let result = doubtful.run(&format!("score {words} --format json")).json();
        let said = warnings(&result);
        assert!(
            said.iter().any(|warning| warning.contains(
                "predictions match the ground truth only if their second column is the confidence"
            )),
            "{metric}: {said:?}"
        );
        merges(&doubtful, &words);
    }
    // Detections that are right, a little outside, far outside, or of nothing.
    let honest: [fn([f64; 4], f64) -> String; 4] = [
        |[x, y, w, h], confidence| format!("0 {x} {y} {w} {h} {confidence}\n"),
        |[x, y, w, h], confidence| format!("0 {} {y} {} {h} {confidence}\n", x - 0.1, w + 0.1),
        |[x, y, w, h], confidence| format!("0 {} {y} {} {h} {confidence}\n", x + 0.1, w + 0.4),
        |[x, y, w, h], confidence| format!("0 {} {} {w} {h} {confidence}\n", 1.0 - x, 1.0 - y),
    ];
    for form in honest {
        for confidences in [[0.9, 0.8], [0.4, 0.5], [0.05, 1.0]] {
            let result = yolo(&confidences, form).run("score voc -r gt -p dt --format json");
            assert_eq!(warnings(&result.json()), [""; 0]);
        }
    }
}

#[test]
fn vqa_v2_answers_that_no_prediction_can_match() {
    let ten = |answer: Value| json!(vec![answer; 10]);
    let objects = |ids: bool| {
        let answer = |id: u64| {
            if ids {
                json!({"answer": "red", "answer_id": id})
            } else {
                json!({"answer": "red"})
            }
        };
        (1..=10).map(answer).collect::<Value>()
    };
    for (answers, accuracy, said) in [
        (ten(json!("red")), 1.0, None),
        (objects(true), 1.0, None),
        (
            objects(false),
            0.0,
            Some("question has answers that are equal objects, which are left out together"),
        ),
        (
            json!(["red"]),
            0.0,
            Some(
                "question has fewer than 10 answers; each answer is compared with the other ones only",
            ),
        ),
        (
            json!(["red", "red", "red"]),
            2.0 / 3.0,
            Some("question has fewer than 10 answers"),
        ),
    ] {
        let result = scored("vqa --profile vqa-v2", &[(answers.clone(), json!("red"))]);
        assert_eq!(result["scores"]["accuracy"], json!(accuracy), "{answers}");
        check_one(&result, said);
        // The same in VQA v2's files.
        let annotations = json!({"annotations": [{"question_id": 1, "answers": answers}]});
        let folder = Folder::new(&[
            ("r.json", &annotations.to_string()),
            ("p.json", "[{\"question_id\": 1, \"answer\": \"red\"}]"),
        ]);
        let words = "vqa --profile vqa-v2 -r r.json -p p.json";
        check_one(
            &folder.run(&format!("score {words} --format json")).json(),
            said,
        );
        merges(&folder, words);
    }
    // Other profiles accept any answer.
    check_one(
        &scored("vqa --profile exact", &[(json!(["red"]), json!("red"))]),
        None,
    );
}

/// Checks that a result has one warning, about one case, that goes on like this; or that it has none.
#[track_caller]
fn check_one(result: &Value, said: Option<&str>) {
    let warnings = warnings(result);
    match said {
        None => assert_eq!(warnings, [""; 0]),
        Some(said) => assert!(
            warnings.len() == 1 && warnings[0].starts_with(&format!("1 {said}")),
            "{warnings:?}"
        ),
    }
}

#[test]
fn texts_with_several_references() {
    for metric in ["exact-match", "string-accuracy"] {
        let references = "{\"id\": 1, \"references\": [\"a\", \"b\"]}\n{\"id\": 2, \"reference\": [\"c\"]}\n{\"id\": 3, \"reference\": \"d\"}\n";
        let predictions = lines("prediction", &[json!("b"), json!("x"), json!("d")]);
        let result = score(metric, references, &predictions).json();
        assert_eq!(
            result["counts"],
            json!({"correct": 2, "total": 3}),
            "{metric}"
        );
        let none = "{\"id\": 1, \"references\": []}\n";
        score(metric, none, &lines("prediction", &[json!("b")]))
            .fails(3, &["r.jsonl:1", "no references: expected at least one"]);
    }
}

#[test]
fn predictions_in_a_list_of_one() {
    for metric in [
        "string-accuracy",
        "exact-match",
        "wer",
        "cer",
        "vqa",
        "anls",
        "squad",
        "codebleu --lang python",
    ] {
        score(
            metric,
            &lines("reference", &[json!("a")]),
            &lines("prediction", &[json!(["a"])]),
        )
        .fails(
            3,
            &[
                "p.jsonl:1",
                "expected a string, found a list of one string: write the string without brackets",
            ],
        );
        let two = score(
            metric,
            &lines("reference", &[json!("a")]),
            &lines("prediction", &[json!(["a", "b"])]),
        );
        assert!(!two.fails(3, &["found a list"]).stderr.contains("brackets"));
    }
    score(
        "relaxed-accuracy",
        &lines("reference", &[json!(1)]),
        &lines("prediction", &[json!([1])]),
    )
    .fails(
        3,
        &["expected a string or a number, found a list of one: write it without brackets"],
    );
}

#[test]
fn missing_predictions_that_score_as_correct() {
    for (metric, empty, full) in [
        ("string-accuracy", json!(""), json!("a")),
        (
            "string-accuracy --normalize punctuation",
            json!("?!"),
            json!("a"),
        ),
        ("exact-match", json!(["a", ""]), json!("a")),
        ("wer", json!(" "), json!("a")),
        ("cer", json!(""), json!("a")),
        ("vqa", json!(""), json!("a")),
        ("anls", json!(""), json!("a")),
        ("squad --profile v2", json!([]), json!("red")),
        ("relaxed-accuracy", json!(""), json!(1)),
        ("detection", json!([]), json!([[0, 0, 1, 1]])),
        (
            "detection",
            json!({"cat": []}),
            json!({"cat": [[0, 0, 1, 1]]}),
        ),
        (
            "coco",
            json!([]),
            json!([{"class": 1, "bbox": [0, 0, 1, 1], "area": 1, "iscrowd": 0}]),
        ),
        (
            "voc",
            json!({"annotations": []}),
            json!([{"class": 1, "bbox": [0, 0, 1, 1], "area": 1, "iscrowd": 0}]),
        ),
        (
            "tide",
            json!([]),
            json!([{"class": 1, "bbox": [0, 0, 1, 1], "area": 1, "iscrowd": 0}]),
        ),
        (
            "confusion-matrix",
            json!([]),
            json!([{"class": 1, "bbox": [0, 0, 1, 1], "area": 1, "iscrowd": 0}]),
        ),
    ] {
        let references = lines("reference", &[empty.clone(), full.clone(), empty.clone()]);
        let folder = Folder::new(&[("r.jsonl", &references), ("p.jsonl", "")]);
        let words = format!("{metric} -r r.jsonl -p p.jsonl --missing empty");
        let result = folder.run(&format!("score {words} --format json")).json();
        let said =
            "2 missing predictions score as correct, as their references are empty: \"1\", \"3\"";
        assert!(warnings(&result).contains(&said), "{metric}: {result}");
        merges(&folder, &words);
        let skip = folder.run(&words.replace("empty", "skip"));
        assert!(!skip.stderr.contains("score as correct"), "{metric}");
    }
    // An empty prediction that is given is an answer.
    check_one(&scored("string-accuracy", &[(json!(""), json!(""))]), None);
    let data = json!({"data": [{"paragraphs": [{"qas": [{"id": "1", "answers": []}, {"id": "2", "answers": []}]}]}]});
    let folder = Folder::new(&[("r.json", &data.to_string()), ("p.json", "{\"2\": \"\"}")]);
    let run =
        folder.run("score squad --profile v2 -r r.json -p p.json --missing empty --format json");
    let said = "1 missing prediction scores as correct, as its reference is empty: \"1\"";
    assert!(warnings(&run.json()).contains(&said));
}

#[test]
fn zero_division_replaces_every_zero_over_zero() {
    // All labels are one: scikit-learn has 0 for the correlation, and for kappa what `replace_undefined_by` says.
    let pairs = [(json!("a"), json!("a")), (json!("a"), json!("a"))];
    for (option, expected) in [
        ("", Value::Null),
        ("--zero-division 0", json!(0.0)),
        ("--zero-division 1", json!(1.0)),
    ] {
        let scores = &scored(&format!("classification {option}"), &pairs)["scores"];
        assert_eq!(scores["cohen_kappa"], expected, "{option}");
        assert_eq!(scores["matthews_correlation"], expected, "{option}");
        assert_eq!(scores["accuracy"], json!(1.0));
    }
}

#[test]
fn a_k_that_comes_from_the_rows() {
    let pairs = [(json!(1), json!([2, 1, 3])), (json!(2), json!([2, 1, 3]))];
    let result = scored("accuracy-at-k", &pairs);
    assert_eq!(result["scores"]["accuracy@3"], json!(1.0));
    assert_eq!(
        warnings(&result),
        [
            "the k of accuracy@3 is the number of labels in a row of the predictions; to choose it, use --k"
        ]
    );
    check_one(&scored("accuracy-at-k --k 1,3", &pairs), None);
    check_one(&scored("mrr", &pairs), None);
    check_one(&scored("accuracy-at-k", &[(json!(1), json!([2]))]), None);
}

#[test]
fn rows_with_fewer_labels_than_k() {
    let pairs = [(json!(1), json!([2, 1, 3])), (json!(2), json!([2, 1]))];
    check_one(
        &scored("mrr --k 3", &pairs),
        Some("row has fewer than the 3 labels of --k"),
    );
    check_one(&scored("mrr --k 2", &pairs), None);
    // The second row has no third label, and that is said.
    let result = scored("accuracy-at-k --k 1,3", &pairs);
    assert_eq!(
        result["counts"],
        json!({"hits@1": 1, "hits@3": 2, "total": 2})
    );
    check_one(&result, Some("row has fewer than the 3 labels of --k"));
    check_one(&scored("accuracy-at-k --k 1,2", &pairs), None);
    let result = scored("accuracy-at-k --k 4", &pairs);
    assert!(warnings(&result)[0].starts_with("2 rows have fewer than the 4 labels of --k"));
}

#[test]
fn constant_scores_under_optimistic_ties() {
    let pairs = [
        (json!(0), json!([0.5, 0.5, 0.5])),
        (json!(2), json!([0, -0.0, 0])),
        (json!(1), json!([0.1, 0.5, 0.5])),
    ];
    for metric in ["accuracy-at-k --k 1", "mrr"] {
        let words = format!("{metric} --input scores --ties optimistic");
        let result = scored(&words, &pairs);
        assert_eq!(warnings(&result).len(), 1);
        assert!(warnings(&result)[0].starts_with("2 rows have the same score for all classes"));
        check_one(
            &scored(&words.replace("optimistic", "expected"), &pairs),
            None,
        );
        check_one(&scored(&words, &pairs[2..]), None);
    }
}

#[test]
fn one_clip_against_several_names_the_file_that_is_wrong() {
    let clip = r#"{"0": {"attr_info": {"LaneType": "BusLane"}, "centerline": [7]}}"#;
    let clips = format!(r#"{{"a": {clip}}}"#);
    let folder = Folder::new(&[("one.json", clip), ("many.json", &clips)]);
    folder
        .run("score lanes -r many.json -p one.json")
        .fails(
            3,
            &["one.json: found the values of one example, expected an object, id to example, as in many.json"],
        );
    // References of one clip: what is not its rules counts as empty, with a warning about the prediction.
    let run = folder
        .run("score lanes -r one.json -p many.json --format json")
        .json();
    assert!(
        warnings(&run)
            .iter()
            .any(|warning| warning.contains("could not be read as rules")),
        "{run}"
    );
    check_one(
        &folder
            .run("score lanes -r one.json -p one.json --format json")
            .json(),
        None,
    );
    check_one(
        &folder
            .run("score lanes -r many.json -p many.json --format json")
            .json(),
        None,
    );
}

#[test]
fn coco_results_whose_boxes_are_corners() {
    let corner = |at: u64| (20 + 7 * at % 40, 10 + 11 * at % 50);
    let objects: Vec<Value> = (1..=6)
        .map(|id| {
            let (x, y) = corner(id);
            json!({"id": id, "image_id": 1 + id % 2, "category_id": 1, "bbox": [x, y, 15, 25], "area": 375, "iscrowd": 0})
        })
        .collect();
    let results = |form: fn(u64, u64) -> [u64; 4]| -> Vec<Value> {
        let boxes = (1..=6).map(|id| (id, corner(id)));
        let results = boxes.map(|(id, (x, y))| {
            json!({"image_id": 1 + id % 2, "category_id": 1, "bbox": form(x, y), "score": 1.0 / id as f64})
        });
        results.collect()
    };
    let said = "detections match the ground truth only if their boxes are [x1, y1, x2, y2]";
    for (form, warned) in [
        (
            (|x, y| [x, y, x + 15, y + 25]) as fn(u64, u64) -> [u64; 4],
            true,
        ),
        (|x, y| [x, y, 15, 25], false),
        (|x, y| [x - 9, y - 9, 15, 25], false),
        (|x, y| [x / 2, y / 2, 90, 90], false),
    ] {
        let folder = coco(&objects, &results(form));
        for metric in ["coco", "voc", "tide", "confusion-matrix", "detection"] {
            let words = format!("{metric} {COCO}");
            let result = folder.run(&format!("score {words} --format json")).json();
            let found = warnings(&result);
            assert_eq!(
                found.iter().any(|warning| warning.contains(said)),
                warned,
                "{metric}: {found:?}"
            );
            assert_eq!(found.len(), usize::from(warned), "{metric}: {found:?}");
            merges(&folder, &words);
        }
    }
}

/// A metric with options, references with their predictions, and the start of a warning, or nothing for none.
type Speech = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

const SPEECH: &[Speech] = &[
    (
        "wer --normalize whisper-basic",
        &[("मैं घर", "मैं घर")],
        "2 words have vowel signs or other marks of Devanagari, which whisper-basic",
    ),
    ("wer --normalize whisper-basic", &[("été", "été")], ""),
    ("wer", &[("मैं घर", "मैं घर")], ""),
    (
        "cer --normalize whisper-english",
        &[("привет", "привет")],
        "1 reference has mostly letters that are not Latin, and whisper-english",
    ),
    (
        "cer --normalize whisper-english",
        &[("brücke", "bruecke")],
        "1 reference has diacritics in a tenth of the words or more",
    ),
    (
        "cer --normalize whisper-english",
        &[("don\u{2019}t", "don't")],
        "1 word has the apostrophe \u{2019} (U+2019), with which whisper-english",
    ),
    (
        "cer --normalize whisper-english",
        &[("um", "a")],
        "1 reference is empty after normalization",
    ),
    (
        "cer --normalize punctuation,whisper-english",
        &[("a", "a")],
        "punctuation comes before whisper-english",
    ),
    (
        "wer",
        &[("a \u{200b} b", "a b")],
        "1 word has only format characters",
    ),
    (
        "wer",
        &[("今天天气很好", "今天天气很好"), ("OK 好的好的", "OK")],
        "the references have almost no spaces",
    ),
    (
        "wer",
        &[("今天", "今天"), ("good morning to all of you", "good")],
        "",
    ),
    ("wer --unit mixed", &[("今天天气很好", "今天天气很好")], ""),
    ("cer", &[("今天天气很好", "今天天气很好")], ""),
    (
        "wer",
        &[("2 cats", "two cats"), ("3 dogs", "dogs")],
        "2 references have digits, and no prediction has any",
    ),
    (
        "wer",
        &[("two cats", "2 cats")],
        "1 prediction has digits, and no reference has any",
    ),
    ("wer", &[("2 cats", "two cats"), ("3", "3")], ""),
    (
        "wer --normalize whisper-english",
        &[("2 cats", "two cats")],
        "",
    ),
    (
        "wer --profile wenet",
        &[("brücke", "brücke")],
        "over a tenth of the units of the references start with a letter outside ASCII",
    ),
    (
        "cer --profile wenet",
        &[("мир", "мир")],
        "over a tenth of the units of the references start",
    ),
    ("wer --profile wenet", &[("今天 OK", "今天 OK")], ""),
];

#[test]
fn speech_that_is_not_compared_as_meant() {
    for (words, pairs, says) in SPEECH {
        let pairs: Vec<(Value, Value)> = pairs
            .iter()
            .map(|(reference, prediction)| (json!(reference), json!(prediction)))
            .collect();
        let result = scored(words, &pairs);
        let found = warnings(&result);
        match *says {
            "" => assert!(found.is_empty(), "{words}: {result}"),
            says => assert!(
                found.iter().any(|it| it.starts_with(says)),
                "{words}: {says}: {result}"
            ),
        }
    }
}
