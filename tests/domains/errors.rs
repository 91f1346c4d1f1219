//! Error analysis of detections against tidecv 1.0.1 and hotcoco 1.3.0.

use std::collections::BTreeMap;

use metric_core::Metric;
use metric_vision::{
    Annotation, BBox, Class, Confusion, Dataset, Image, Key, Prediction, Tide, TideErrorType,
    TideOracle,
};
use serde_json::Value;

use crate::rows::{check, id, rows, same, within};

fn integer(value: &Value) -> Result<i64, String> {
    value
        .as_i64()
        .ok_or_else(|| format!("{value} is no integer"))
}

fn number(value: &Value) -> Result<f64, String> {
    value
        .as_f64()
        .ok_or_else(|| format!("{value} is no number"))
}

fn list(value: &Value) -> Result<&[Value], String> {
    let items = value
        .as_array()
        .ok_or_else(|| format!("{value} is no list"))?;
    Ok(items)
}

/// The class and the box that an object begins with.
fn object(classes: &[Class], value: &Value) -> Result<(u32, BBox), String> {
    let key = Key::Number(integer(&value[0])?);
    let class = classes.iter().position(|class| class.key == key);
    let class = class.ok_or("a class")? as u32;
    let [x, y, w, h] = [1, 2, 3, 4].map(|index| number(&value[index]));
    let shape = BBox::from_xywh(x?, y?, w?, h?).map_err(|error| error.to_string())?;
    Ok((class, shape))
}

fn dataset(row: &Value) -> Result<Dataset, String> {
    let mut classes = Vec::new();
    for key in list(&row["classes"])? {
        let key = Key::Number(integer(key)?);
        let name = key.to_string();
        classes.push(Class::new(key, name));
    }
    let (mut images, mut predictions) = (Vec::new(), Vec::new());
    for (index, image) in list(&row["images"])?.iter().enumerate() {
        let mut annotations = Vec::new();
        for truth in list(&image["truths"])? {
            let (class, shape) = object(&classes, truth)?;
            annotations.push(Annotation {
                class,
                crowd: integer(&truth[5])? != 0,
                ignore: false,
                id: 1,
                area: shape.area(),
                shape,
            });
        }
        for detection in list(&image["detections"])? {
            let (class, shape) = object(&classes, detection)?;
            predictions.push(Prediction {
                image: index as u32,
                position: 0,
                class,
                score: number(&detection[5])?,
                area: shape.area(),
                shape,
            });
        }
        let key = Key::Number(integer(&image["key"])?);
        images.push(Image::new(key, annotations));
    }
    Dataset::new(classes, images, predictions).map_err(|error| error.to_string())
}

fn measure<M>(metric: &M, dataset: &Dataset) -> M::State
where
    M: Metric<Prediction = [Prediction], Reference = Image>,
{
    let mut state = M::State::default();
    for (predictions, image) in dataset.examples(0..dataset.images().len()) {
        metric.update(&mut state, predictions, image);
    }
    state
}

/// The program adds the classes in the order in which it meets them, and prints percent.
fn close(what: &str, ours: Option<f64>, percent: &Value) -> Result<(), String> {
    let agree = match (ours, percent.as_f64()) {
        (Some(ours), Some(percent)) => within(ours, percent / 100.0, 1e-12),
        (None, None) => true,
        _ => false,
    };
    if agree {
        Ok(())
    } else {
        Err(format!("{what}: ours {ours:?}, reference {percent} %"))
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "the same three numbers for each type of error"
)]
fn tide() {
    let rows = rows("vision/tide.jsonl");
    check(&rows, id, &[], |row| {
        let dataset = dataset(row)?;
        let [foreground, background] = ["foreground", "background"].map(|name| number(&row[name]));
        let most = integer(&row["max_detections"])? as usize;
        let metric = Tide::new(foreground?, background?)
            .and_then(|metric| metric.with_max_detections(most))
            .map_err(|error| error.to_string())?;
        let state = measure(&metric, &dataset);
        let score = metric.compute(&state);
        let expected = &row["expected"];

        let mut oracles = vec![
            ("base", TideOracle::None, &expected["base"]),
            (
                "FalsePos",
                TideOracle::FalsePositives,
                &expected["fixed"]["FalsePos"],
            ),
            (
                "FalseNeg",
                TideOracle::FalseNegatives,
                &expected["fixed"]["FalseNeg"],
            ),
        ];
        for &error in TideErrorType::ALL {
            let name = error.name();
            let count = expected["counts"][name].as_u64();
            same(name, Some(state.count(error)), count)?;
            same(name, Some(score.error(error).count), count)?;
            oracles.push((name, TideOracle::Error(error), &expected["fixed"][name]));
        }
        for (name, oracle, expected) in oracles {
            let ours: BTreeMap<String, u64> = state
                .average_precisions(oracle)
                .into_iter()
                .map(|(class, ap)| {
                    (
                        dataset.classes()[class as usize].key.to_string(),
                        ap.to_bits(),
                    )
                })
                .collect();
            let mut theirs = BTreeMap::new();
            for (class, ap) in expected["classes"].as_object().ok_or("classes")? {
                theirs.insert(class.clone(), number(ap)?.to_bits());
            }
            same(name, ours, theirs)?;
        }

        let base = &expected["base"];
        same("AP", score.average_precision, base["exact"].as_f64())?;
        close("AP", score.average_precision, &base["percent"])?;
        let delta = |name: &str| -> Option<f64> {
            Some(expected["fixed"][name]["exact"].as_f64()? - base["exact"].as_f64()?)
        };
        for found in score.errors {
            let name = found.error.name();
            same(
                name,
                found.delta_ap,
                delta(name).map(|delta| delta.max(0.0)),
            )?;
        }
        same("FalsePos", score.false_positives, delta("FalsePos"))?;
        same("FalseNeg", score.false_negatives, delta("FalseNeg"))?;
        // The program prints nothing at all where one of its means divides by zero.
        if !expected["main"].is_null() {
            for found in score.errors {
                let name = found.error.name();
                close(name, found.delta_ap, &expected["main"][name])?;
            }
        }
        if !expected["special"].is_null() {
            close(
                "FalsePos",
                score.false_positives,
                &expected["special"]["FalsePos"],
            )?;
            close(
                "FalseNeg",
                score.false_negatives,
                &expected["special"]["FalseNeg"],
            )?;
        }
        Ok(())
    });
}

#[test]
fn confusion_matrix() {
    let mut datasets = BTreeMap::new();
    for row in rows("vision/tide.jsonl") {
        datasets.insert(id(&row), dataset(&row).expect("a data set"));
    }
    let rows = rows("vision/confusion.jsonl");
    check(&rows, id, &[], |row| {
        let dataset = row["data"].as_str().and_then(|name| datasets.get(name));
        let dataset = dataset.ok_or("no such data")?;
        let classes = dataset.classes().len();
        let mut metric = Confusion::new(classes, number(&row["iou_threshold"])?)
            .map_err(|error| error.to_string())?;
        if let Some(cut) = row["score_cut"].as_f64() {
            metric = metric.with_score_cut(cut);
        }
        let matrix = metric.compute(&measure(&metric, dataset));
        let mut theirs: Vec<Vec<u64>> =
            serde_json::from_value(row["matrix"].clone()).map_err(|error| error.to_string())?;
        let left_out: Vec<u64> =
            serde_json::from_value(row["left_out"].clone()).map_err(|error| error.to_string())?;
        for (count, left_out) in theirs[classes].iter_mut().zip(&left_out) {
            *count -= left_out;
        }
        same("matrix", matrix.rows().collect::<Vec<_>>(), theirs)?;
        same("left out", matrix.ignored(), left_out.iter().sum())
    });
}
