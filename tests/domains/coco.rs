//! COCO's average precision and recall against pycocotools 2.0.11.

use metric_core::{Merge, Metric};
use metric_vision::read::{self, CocoOptions, File, ImageRecord};
use metric_vision::{
    AreaRange, ClassState, Classes, CocoAp, CocoCurves, CocoParams, CocoSlice, CocoState, Dataset,
    Key, Shape, Sigmas,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::rows::{Deviation, check, folders, id, rows, same};

/// The published data sets, and those of the folder next to the project.
fn sets() -> Vec<Value> {
    let mut sets = rows("vision/coco.jsonl");
    let folders = folders()
        .into_iter()
        .map(|folder| folder.join("vision/coco"));
    for entry in folders.flat_map(std::fs::read_dir).flatten() {
        let path = entry.expect("a folder").path();
        let text = |name: &str| std::fs::read_to_string(path.join(name)).expect("a golden file");
        let expected: Value = serde_json::from_str(&text("expected.json")).expect("JSON");
        sets.push(json!({
            "id": expected["name"],
            "gt": text("gt.json"),
            "dt": text("dt.json"),
            "expected": expected,
        }));
    }
    sets
}

fn read_set(set: &Value, quirks: bool) -> Result<Dataset, String> {
    let file = |name, side: &str| File {
        name,
        text: set[side].as_str().unwrap_or_default(),
    };
    let options = CocoOptions::default().with_quirks(quirks);
    let read = read::parse_coco(file("gt.json", "gt"), file("dt.json", "dt"), options);
    read.map(|(dataset, _)| dataset)
        .map_err(|error| format!("refused: {error}"))
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    Some(value.as_array()?.iter().filter_map(Value::as_f64).collect())
}

fn params(given: &Value, quirks: bool) -> CocoParams {
    let areas = given["areaRng"].as_array().map(|ranges| {
        let ranges = ranges.iter().filter_map(numbers).enumerate();
        let range = |(index, bounds): (usize, Vec<f64>)| {
            AreaRange::new(given["areaRngLbl"][index].to_string(), bounds[0], bounds[1])
        };
        ranges.map(range).collect()
    });
    other_than(CocoParams::default(), given, areas, quirks)
}

fn other_than(
    defaults: CocoParams,
    given: &Value,
    areas: Option<Vec<AreaRange>>,
    quirks: bool,
) -> CocoParams {
    CocoParams::default()
        .with_iou_thresholds(numbers(&given["iouThrs"]).unwrap_or(defaults.iou_thresholds))
        .with_recall_thresholds(numbers(&given["recThrs"]).unwrap_or(defaults.recall_thresholds))
        .with_max_detections(
            numbers(&given["maxDets"]).map_or(defaults.max_detections, |numbers| {
                numbers.iter().map(|&number| number as usize).collect()
            }),
        )
        .with_areas(areas.unwrap_or(defaults.areas))
        .with_by_class(given["useCats"] != 0)
        .with_quirks(quirks)
        .with_summary(defaults.summary)
}

fn curves<S: Shape + Sync>(dataset: &Dataset<S>, params: CocoParams) -> CocoCurves {
    let metric = CocoAp::new(params).expect("a definition");
    metric.compute(&dataset.measure(&metric))
}

fn sha256(numbers: &[f64]) -> String {
    let mut hash = Sha256::new();
    for number in numbers {
        hash.update(number.to_le_bytes());
    }
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A number of the program, which prints -1 for what is undefined.
fn bits(number: Option<f64>) -> u64 {
    number.unwrap_or(-1.0).to_bits()
}

fn equals_reference(set: &Value, quirks: bool) -> Result<(), String> {
    let expected = &set["expected"];
    if let Some(error) = expected["error"].as_str() {
        // The program raised: ours answers better, or refuses with a reason.
        return match read_set(set, quirks) {
            Ok(_) => Err(format!("answers, where the reference raised {error}")),
            Err(_) => Ok(()),
        };
    }
    let dataset = read_set(set, quirks)?;
    let curves = curves(&dataset, params(&expected["params"], quirks));

    let summary = curves.summary(None);
    let stats = numbers(&expected["stats"]).ok_or("stats")?;
    same("numbers", summary.len(), stats.len())?;
    for ((name, ours), reference) in summary.iter().zip(stats) {
        same(name, bits(*ours), bits(Some(reference)))?;
    }
    let per_class = expected["per_class"].as_array().ok_or("per_class")?;
    same("classes", dataset.classes().len(), per_class.len())?;
    for (class, reference) in (0..).zip(per_class) {
        let summary = curves.summary(Some(class));
        let overall = CocoSlice {
            class: Some(class),
            ..CocoSlice::default()
        };
        let of = |name: &str| match name {
            // Not looked up at 100 detections here.
            "ap" => Some(curves.average_precision(overall)),
            "ar" => Some(curves.average_recall(overall)),
            name => {
                let name = name.replacen("ap", "AP", 1).replacen("ar", "AR", 1);
                let name = if name.starts_with("AR") {
                    name
                } else {
                    name.replace("AR", "ar")
                };
                summary
                    .iter()
                    .find(|(ours, _)| *ours == name)
                    .map(|(_, value)| *value)
            }
        };
        for (name, value) in reference.as_object().ok_or("a class")? {
            if name == "category_id" {
                let key = dataset.classes()[class as usize].key.to_string();
                same("category", key, value.to_string())?;
                continue;
            }
            let ours = of(name).ok_or_else(|| format!("no {name}"))?;
            same(
                &format!("{name} of class {class}"),
                bits(ours),
                bits(value.as_f64()),
            )?;
        }
    }
    same_arrays(&curves, dataset.classes().len(), expected)
}

fn same_arrays(curves: &CocoCurves, classes: usize, expected: &Value) -> Result<(), String> {
    let arrays = curves.arrays(classes).ok_or("no room")?;
    same("shape", json!(arrays.shape), expected["shape"].clone())?;
    for (name, array) in [
        ("precision", &arrays.precision),
        ("recall", &arrays.recall),
        ("scores", &arrays.scores),
    ] {
        same(
            name,
            json!(sha256(array)),
            expected["sha256_f64le"][name].clone(),
        )?;
    }
    Ok(())
}

#[test]
fn coco_with_the_quirks_of_pycocotools() {
    let sets = sets();
    check(&sets, id, &deviations(&sets, &[]), |set| {
        equals_reference(set, true)
    });
}

#[test]
fn coco_without_quirks() {
    let ours = [
        (
            "syn_ignore_flag",
            "an object with ignore does not count",
            "AP: ",
        ),
        (
            "edge_gt_id_zero",
            "the id 0 of a true object is an id like others",
            "AP: ",
        ),
        (
            "edge_duplicate_ann_ids",
            "an id twice is an error",
            "refused: gt.json: annotations[1]: id: ",
        ),
        (
            "syn_maxdets_1_10_300",
            "AP is that of the greatest number of detections",
            "AP: ",
        ),
    ];
    let sets = sets();
    check(&sets, id, &deviations(&sets, &ours), |set| {
        equals_reference(set, false)
    });
}

/// Those that are here of `more` deviations and of those where the reference raises and we do not,
/// or the other way round.
fn deviations(sets: &[Value], more: &[Deviation]) -> Vec<Deviation> {
    let answered = [
        (
            "edge_missing_area",
            "the area of the box is taken",
            "answers, where",
        ),
        (
            "edge_no_dets",
            "without detections all objects are missed",
            "answers, where",
        ),
        (
            "edge_nan_score",
            "NaN is not JSON",
            "refused: dt.json: [0]: not JSON: ",
        ),
        (
            "real_fce_ignore",
            "\"2299\" and 2299 are the same id",
            "answers, where",
        ),
    ];
    let is_here = |listed: &&Deviation| sets.iter().any(|set| id(set) == listed.0);
    answered
        .iter()
        .chain(more)
        .filter(is_here)
        .copied()
        .collect()
}

/// Our answer where the reference raises: by arithmetic, or the digits that faster-coco-eval 1.8 prints.
#[test]
fn better_answers_than_an_exception() {
    let answers = [
        ("edge_missing_area", [1.0, 1.0, 1.0]),
        ("edge_no_dets", [0.0, 0.0, 0.0]),
        ("real_fce_ignore", [0.7099, 1.0, 0.8416]),
    ];
    for set in sets() {
        let Some((_, expected)) = answers.iter().find(|(name, _)| set["id"] == **name) else {
            continue;
        };
        let dataset = read_set(&set, false).expect("a data set");
        let summary = curves(&dataset, CocoParams::default()).summary(None);
        for ((name, ours), expected) in summary.iter().zip(expected) {
            let digits = ours.map(|ours| format!("{ours:.4}"));
            assert_eq!(
                digits,
                Some(format!("{expected:.4}")),
                "{} {name}",
                set["id"]
            );
        }
    }
}

/// Masks, boxes of masks, masks of boxes, pooled classes, and other thresholds, areas and numbers of
/// detections.
#[test]
fn coco_masks_and_other_definitions() {
    check(&rows("vision/coco_more.jsonl"), id, &[], |set| {
        let file = |name, side: &str| File {
            name,
            text: set[side].as_str().unwrap_or_default(),
        };
        let (truth, found) = (file("gt.json", "gt"), file("dt.json", "dt"));
        let params = params(&set["params"], true);
        let options = CocoOptions::default();
        let refused = |error: read::ReadError| error.to_string();
        let (curves, classes) = if set["iou_type"] == "segm" {
            let (dataset, _) = read::parse_coco_masks(truth, found, options).map_err(refused)?;
            (curves(&dataset, params), dataset.classes().len())
        } else {
            let (dataset, _) = read::parse_coco(truth, found, options).map_err(refused)?;
            (curves(&dataset, params), dataset.classes().len())
        };
        let expected = &set["expected"];
        let summary = curves.summary(None);
        for ((name, ours), reference) in summary
            .iter()
            .zip(numbers(&expected["stats"]).unwrap_or_default())
        {
            same(name, bits(*ours), bits(Some(reference)))?;
        }
        let classes = if set["params"]["useCats"] == 0 {
            1
        } else {
            classes
        };
        same_arrays(&curves, classes, expected)
    });
}

/// Means of so many numbers that the order in which they are added shows in the last bit.
#[test]
fn coco_many_classes() {
    check(&rows("vision/coco_many_classes.jsonl"), id, &[], |set| {
        let dataset = read_set(set, false)?;
        let curves = curves(&dataset, CocoParams::default());
        let expected = &set["expected"];
        let stats = numbers(&expected["stats"]).ok_or("stats")?;
        let summary = curves.summary(None);
        same("numbers", summary.len(), stats.len())?;
        for ((name, ours), reference) in summary.iter().zip(stats) {
            same(name, bits(*ours), bits(Some(reference)))?;
        }
        same_arrays(&curves, dataset.classes().len(), expected)
    });
}

/// Keypoints, also with other sigmas, thresholds and numbers of detections.
#[test]
fn coco_keypoints() {
    check(&rows("vision/coco_keypoints.jsonl"), id, &[], |set| {
        let file = |name, side: &str| File {
            name,
            text: set[side].as_str().unwrap_or_default(),
        };
        let (truth, found) = (file("gt.json", "gt"), file("dt.json", "dt"));
        let sigmas = sigmas(set);
        let options = CocoOptions::default();
        let read = read::parse_coco_keypoints(truth, found, &sigmas, options);
        let (dataset, _) = read.map_err(|error| error.to_string())?;
        let params = other_than(CocoParams::keypoints(), &set["params"], None, true);
        #[allow(
            clippy::result_large_err,
            reason = "readers of all shapes have this error"
        )]
        let parse = |key, reference: &str, prediction: &str, classes: &mut Classes| {
            read::parse_keypoint_record(key, reference, prediction, &sigmas, classes)
        };
        records_are_the_files(set, &dataset, params.clone(), parse)?;
        let curves = curves(&dataset, params);
        let expected = &set["expected"];
        let summary = curves.summary(None);
        let names: Vec<&str> = summary.iter().map(|(name, _)| &**name).collect();
        let expected_names = [
            "AP",
            "AP50",
            "AP75",
            "AP_medium",
            "AP_large",
            "AR",
            "AR50",
            "AR75",
            "AR_medium",
            "AR_large",
        ];
        same("names", names, expected_names.to_vec())?;
        let stats = numbers(&expected["stats"]).ok_or("stats")?;
        same("numbers", summary.len(), stats.len())?;
        for ((name, ours), reference) in summary.iter().zip(stats) {
            same(name, bits(*ours), bits(Some(reference)))?;
        }
        same_arrays(&curves, dataset.classes().len(), expected)
    });
}

fn sigmas(set: &Value) -> Sigmas {
    let sigmas = numbers(&set["params"]["kpt_oks_sigmas"]);
    sigmas.map_or_else(Sigmas::default, |sigmas| {
        Sigmas::new(sigmas).expect("sigmas")
    })
}

/// The records of a set, one per image: its id, and the texts of the reference and the prediction.
fn image_records(set: &Value) -> Vec<(String, [String; 2])> {
    let json = |side: &str| -> Value {
        serde_json::from_str(set[side].as_str().unwrap_or_default()).expect("JSON")
    };
    let (truth, found) = (json("gt"), json("dt"));
    // 17 and "17" are the same id.
    let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let categories = items(&truth["categories"]);
    let listed: Vec<String> = categories.iter().map(|class| text(&class["id"])).collect();
    let of_image = |list: &Value, image: &str| {
        let of_image = items(list).into_iter().filter(|item| {
            text(&item["image_id"]) == image && listed.contains(&text(&item["category_id"]))
        });
        let own = of_image.map(|mut item| {
            let fields = item.as_object_mut().expect("an object");
            fields.remove("image_id");
            item
        });
        Value::Array(own.collect())
    };
    let mut records = Vec::new();
    for image in items(&truth["images"]) {
        let id = text(&image["id"]);
        let reference = json!({
            "height": image["height"], "width": image["width"],
            "annotations": of_image(&truth["annotations"], &id),
        });
        let prediction = of_image(&found, &id);
        records.push((id, [reference.to_string(), prediction.to_string()]));
    }
    records
}

/// The numbers of a set that is read image by image are those of its files.
fn records_are_the_files<S: Shape + Sync>(
    set: &Value,
    files: &Dataset<S>,
    params: CocoParams,
    read: impl Fn(Key, &str, &str, &mut Classes) -> Result<ImageRecord<S>, read::RecordError>,
) -> Result<(), String> {
    let expected = curves(files, params.clone()).summary(None);
    let metric: CocoAp<S> = CocoAp::new(params).map_err(|error| error.to_string())?;
    let mut classes = Classes::new();
    let mut state = CocoState::default();
    // The order does not matter.
    for (id, [reference, prediction]) in image_records(set).iter().rev() {
        let mut images = files.images().iter();
        let image = images.find(|image| image.key.to_string() == *id);
        let key = image.ok_or("an image")?.key.clone();
        let record = read(key, reference, prediction, &mut classes);
        state.merge(record.map_err(|error| error.to_string())?.measure(&metric));
    }
    let (_, indices) = classes.into_sorted();
    state
        .renumber_classes(&indices)
        .map_err(|error| error.to_string())?;
    let found = metric.compute(&state).summary(None);
    for ((name, ours), (_, expected)) in found.iter().zip(expected) {
        same(name, bits(*ours), bits(expected))?;
    }
    Ok(())
}

#[test]
fn coco_records() {
    let mut count = 0;
    for set in sets() {
        let Ok(files) = read_set(&set, false) else {
            continue;
        };
        count += 1;
        for quirks in [false, true] {
            let params = params(&set["expected"]["params"], quirks);
            let same = records_are_the_files(&set, &files, params, read::parse_record);
            assert_eq!(same, Ok(()), "{}", set["id"]);
        }
    }
    assert!(count > 10, "{count} sets");
}

#[test]
fn coco_records_of_masks() {
    for set in rows("vision/coco_more.jsonl") {
        let file = |name, side: &str| File {
            name,
            text: set[side].as_str().unwrap_or_default(),
        };
        let (truth, found) = (file("gt.json", "gt"), file("dt.json", "dt"));
        let params = params(&set["params"], true);
        let options = CocoOptions::default();
        let same = if set["iou_type"] == "segm" {
            let (files, _) = read::parse_coco_masks(truth, found, options).expect("a data set");
            records_are_the_files(&set, &files, params, read::parse_mask_record)
        } else {
            let (files, _) = read::parse_coco(truth, found, options).expect("a data set");
            records_are_the_files(&set, &files, params, read::parse_record)
        };
        assert_eq!(same, Ok(()), "{}", set["id"]);
    }
}
