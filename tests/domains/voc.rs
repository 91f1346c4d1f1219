//! Precision, recall and F1 at score thresholds, and VOC's average precision, on sets in COCO's
//! form.

use metric_core::{Counts, Merge, Metric, from_bytes, to_bytes};
use metric_vision::read::{self, CocoOptions, File};
use metric_vision::{
    Annotation, BBox, Class, Dataset, DetectionScore, Image, Interpolation, Key, Matching,
    PrecisionRecall, PrecisionRecallState, Prediction, VocAp, VocState,
};
use serde_json::{Value, json};

use crate::rows::{check, documents, folders, id, near, rows, same, unpublished_rows};

/// The texts of the truth and of the results of a set.
fn texts(name: &str) -> Option<[String; 2]> {
    for folder in folders() {
        let folder = folder.join("vision/coco").join(name);
        let text = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
        if let (Some(truth), Some(results)) = (text("gt.json"), text("dt.json")) {
            return Some([truth, results]);
        }
    }
    let sets = rows("vision/coco.jsonl");
    let set = sets.iter().find(|set| id(set) == name)?;
    Some([
        set["gt"].as_str()?.to_owned(),
        set["dt"].as_str()?.to_owned(),
    ])
}

fn bbox(value: &Value) -> BBox {
    let numbers: Vec<f64> = serde_json::from_value(value.clone()).expect("numbers");
    BBox::from_xywh(numbers[0], numbers[1], numbers[2], numbers[3]).expect("a box")
}

fn set(name: &str) -> Result<Dataset, String> {
    let [truth, results] = texts(name).ok_or("no such set")?;
    let file = |name, text| File { name, text };
    let (truth, results) = (file("gt.json", &truth), file("dt.json", &results));
    let set = read::parse_coco(truth, results, CocoOptions::default());
    set.map(|(set, _)| set).map_err(|error| error.to_string())
}

/// The state of a set, gathered in shards that are merged out of order.
fn gather<M>(metric: &M, set: &Dataset) -> M::State
where
    M: Metric<Prediction = [Prediction], Reference = Image>,
{
    let half = set.images().len() / 2;
    let mut state = M::State::default();
    for images in [half..set.images().len(), 0..half] {
        let mut shard = M::State::default();
        for (predictions, image) in set.examples(images) {
            metric.update(&mut shard, predictions, image);
        }
        state.merge(shard);
    }
    state
}

fn same_counts(what: &str, ours: Counts, row: &Value) -> Result<(), String> {
    let count = |name: &str| row[name].as_u64().ok_or("a count");
    let expected = Counts::new(count("tp")?, count("fp")?, count("fn")?);
    same(what, ours, expected)?;
    same_values(what, [ours.precision(), ours.recall(), ours.f1()], row)
}

fn same_score(what: &str, ours: DetectionScore, row: &Value) -> Result<(), String> {
    same_values(what, [ours.precision, ours.recall, ours.f1], row)
}

/// To the last bit; the rows print 0 for 0/0.
fn same_values(what: &str, ours: [Option<f64>; 3], row: &Value) -> Result<(), String> {
    for (name, ours) in ["precision", "recall", "f1"].into_iter().zip(ours) {
        let ours = Some(ours.unwrap_or(0.0));
        same(&format!("{what}: {name}"), ours, row[name].as_f64())?;
    }
    Ok(())
}

#[test]
fn score_cuts() {
    let mut cases = Vec::new();
    for document in documents("vision/prf1_coco_matching.json") {
        for (name, thresholds) in document.as_object().expect("sets") {
            if name != "_about" {
                cases.push(json!({"id": name, "thresholds": thresholds}));
            }
        }
    }
    check(&cases, id, &[], |case| {
        let set = set(&id(case))?;
        let thresholds = case["thresholds"].as_object().ok_or("thresholds")?;
        let numbers: Vec<f64> = thresholds.keys().filter_map(|t| t.parse().ok()).collect();
        let metric = PrecisionRecall::new(Matching::Greedy, numbers).map_err(|e| e.to_string())?;
        let state: PrecisionRecallState = gather(&metric, &set);
        let written = to_bytes(&state);
        let read = from_bytes(&written).map_err(|error| error.to_string())?;
        same("the state, written and read", &state, &read)?;
        for (curves, (threshold, expected)) in metric.compute(&read).curves.iter().zip(thresholds) {
            let micro = curves.micro();
            let best = micro.best_f1().ok_or("no best F1")?;
            let reference = &expected["best_micro_f1"];
            let here = format!("IoU {threshold}, best");
            same(&here, best.counts.f1(), reference["f1"].as_f64())?;
            same(&here, Some(best.score), reference["score"].as_f64())?;

            for (cut, row) in expected["score_thresholds"].as_object().ok_or("cuts")? {
                let score: f64 = cut.parse().map_err(|_| "a score")?;
                let here = format!("IoU {threshold}, score {cut}");
                same_counts(&here, micro.at(score), &row["micro"])?;
                let average = &row["macro_over_classes_with_gt"];
                same_score(&format!("{here}, macro"), curves.macro_at(score), average)?;
                // A class without truths and detections is in the rows only.
                let classes = row["per_class"].as_object().ok_or("classes")?;
                same(&here, classes.len(), set.classes().len())?;
                for (index, class) in set.classes().iter().enumerate() {
                    let curve = curves.classes.get(&(index as u32));
                    let counts = curve.map_or_else(Counts::default, |curve| curve.at(score));
                    let here = format!("{here}, class {}", class.key);
                    same_counts(&here, counts, &classes[&class.key.to_string()])?;
                }
            }
        }
        Ok(())
    });
}

/// The toy set of Padilla's program, which the document carries itself.
fn toy(value: &Value) -> Dataset {
    let truth = value["gt"].as_object().expect("images");
    let names: Vec<&String> = truth.keys().collect();
    let image = |name: &&String| {
        let annotations = truth[*name]["person"]
            .as_array()
            .expect("boxes")
            .iter()
            .map(|shape| Annotation {
                class: 0,
                crowd: false,
                ignore: false,
                id: 0,
                area: 0.0,
                shape: bbox(shape),
            });
        Image::new(name.as_str(), annotations.collect())
    };
    let prediction = |record: &Value| Prediction {
        image: names
            .iter()
            .position(|name| record[0] == name.as_str())
            .expect("an image") as u32,
        position: 0,
        class: 0,
        score: record[2].as_f64().expect("a score"),
        area: 0.0,
        shape: bbox(&record[3]),
    };
    let class = Class::new(Key::Text("person".into()), "person".to_owned());
    let predictions = value["dt"]
        .as_array()
        .expect("detections")
        .iter()
        .map(prediction);
    let images = names.iter().map(image).collect();
    Dataset::new(vec![class], images, predictions.collect()).expect("a data set")
}

fn same_average_precision(
    set: &Dataset,
    threshold: f64,
    plus_one: bool,
    expected: &Value,
) -> Result<(), String> {
    let plain = VocAp::new(threshold).map_err(|error| error.to_string())?;
    let plain = if plus_one {
        plain.with_pixel_plus_one()
    } else {
        plain
    };
    let state: VocState = gather(&plain, set);
    let written = to_bytes(&state);
    let read = from_bytes(&written).map_err(|error| error.to_string())?;
    same("the state, written and read", &state, &read)?;
    for (interpolation, mean, name) in [
        (
            Interpolation::EveryPoint,
            "map_every_point",
            "ap_every_point",
        ),
        (Interpolation::ElevenPoint, "map_11_point", "ap_11_point"),
    ] {
        let score = plain.with_interpolation(interpolation).compute(&read);
        let classes = expected["per_class"].as_object().ok_or("classes")?;
        let ours = score.classes.values();
        let ours = ours.filter(|class| class.average_precision.is_some());
        same("classes", ours.count(), classes.len())?;
        for (&class, ours) in &score.classes {
            let class = set.classes()[class as usize].key.to_string();
            let Some(row) = classes.get(&class) else {
                continue;
            };
            let here = format!("{name} of class {class}");
            same(&here, ours.average_precision, row[name].as_f64())?;
            for (what, ours) in [
                ("n_gt", ours.counts.actual()),
                ("n_det", ours.counts.predicted() + ours.ignored),
                ("tp", ours.counts.true_positives),
                ("fp", ours.counts.false_positives),
            ] {
                same(
                    &format!("{what} of class {class}"),
                    Some(ours),
                    row[what].as_u64(),
                )?;
            }
        }
        same(mean, score.mean, expected[mean].as_f64())?;
    }
    Ok(())
}

#[test]
fn average_precision_of_voc() {
    // The file has the results of all sets in one line, which must not be published.
    let documents = unpublished_rows("vision/voc_ap.json");
    let Some(document) = documents.first() else {
        return;
    };
    let toy_set = &document["padilla_toy"];
    let threshold = toy_set["iou_thr"].as_f64().expect("a threshold");
    for (name, plus_one) in [("plus1", true), ("no_plus1", false)] {
        let same = same_average_precision(&toy(toy_set), threshold, plus_one, &toy_set[name]);
        assert_eq!(same, Ok(()), "the toy set, {name}");
    }
    for (interpolation, published) in [
        (Interpolation::EveryPoint, "published_every_point"),
        (Interpolation::ElevenPoint, "published_11_point"),
    ] {
        let metric = VocAp::new(threshold)
            .expect("a metric")
            .with_pixel_plus_one();
        let metric = metric.with_interpolation(interpolation);
        let mean = metric
            .compute(&gather(&metric, &toy(toy_set)))
            .mean
            .expect("a mean");
        let published = toy_set[published].as_f64().expect("a number");
        // Published in percent with two digits, one rounded and one cut off.
        let digits = [(mean * 1e4).floor(), (mean * 1e4).round()];
        assert!(
            digits.contains(&(published * 1e4).round()),
            "{mean} {published}"
        );
    }

    let mut cases = Vec::new();
    for (name, results) in document.as_object().expect("sets") {
        for (definition, expected) in results.as_object().expect("results") {
            let iou = definition
                .strip_prefix("iou")
                .and_then(|rest| rest.split_once("_plus1_"));
            let Some((iou, plus_one)) = iou else {
                continue;
            };
            cases.push(json!({
                "id": format!("{name} {definition}"), "set": name, "expected": expected,
                "iou": iou.parse::<f64>().expect("a threshold"), "plus_one": plus_one == "1",
            }));
        }
    }
    check(&cases, id, &[], |case| {
        let set = set(case["set"].as_str().ok_or("a name")?)?;
        let threshold = case["iou"].as_f64().ok_or("a threshold")?;
        same_average_precision(&set, threshold, case["plus_one"] == true, &case["expected"])
    });
}

/// The data set of a row, whose images and classes are numbers from 0.
fn numbered(row: &Value) -> Result<Dataset, String> {
    let list = |field: &str| row[field].as_array().ok_or("no list");
    let number = |value: &Value| {
        value
            .as_u64()
            .ok_or("no number")
            .map(|number| number as u32)
    };
    let mut images: Vec<Image> = (0..5).map(|key| Image::new(key, Vec::new())).collect();
    for object in list("objects")? {
        let annotation = Annotation::new(number(&object[1])?, bbox(&object[2]));
        let image = images.get_mut(number(&object[0])? as usize);
        image.ok_or("an image")?.annotations.push(annotation);
    }
    let mut predictions = Vec::new();
    for detection in list("detections")? {
        let score = detection[2].as_f64().ok_or("no score")?;
        let class = number(&detection[1])?;
        predictions.push(Prediction {
            image: number(&detection[0])?,
            ..Prediction::new(class, score, bbox(&detection[3]))
        });
    }
    let class = |key: i64| Class::new(key, key.to_string());
    let classes = (0..3).map(class).collect();
    Dataset::new(classes, images, predictions).map_err(|error| error.to_string())
}

#[test]
fn average_precision_of_padillas_program() {
    check(&rows("vision/voc_padilla.jsonl"), id, &[], |row| {
        let set = numbered(row)?;
        let threshold = row["iou_threshold"].as_f64().ok_or("a threshold")?;
        let metric = VocAp::new(threshold).map_err(|error| error.to_string())?;
        let metric = metric.with_pixel_plus_one();
        let state = gather(&metric, &set);
        for (interpolation, name) in [
            (Interpolation::EveryPoint, "every_point"),
            (Interpolation::ElevenPoint, "11_point"),
        ] {
            let score = metric.with_interpolation(interpolation).compute(&state);
            for (class, expected) in row["classes"].as_object().ok_or("classes")? {
                let index: u32 = class.parse().map_err(|_| "a class")?;
                let ours = score.classes.get(&index).ok_or("no such class")?;
                let here = format!("{name} of class {class}");
                near(&here, ours.average_precision, &expected[name])?;
                for (what, ours) in [
                    ("n_gt", ours.counts.actual()),
                    ("tp", ours.counts.true_positives),
                    ("fp", ours.counts.false_positives),
                ] {
                    let here = format!("{what} of class {class}");
                    same(&here, Some(ours), expected[what].as_u64())?;
                }
            }
        }
        Ok(())
    });
}
