//! The shards of a data set are the data set.

use std::fmt::Debug;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

use metric_core::{Merge, Metric, to_bytes};
use metric_record::Shard;

use super::coco::add;
use super::{
    CocoOptions, ExtraImages, File, ImageSizes, PredictionColumns, ReadError, TruthColumns,
    VocFiles, VocOptions, Warnings, YoloOptions, dataset_from_columns, parse_coco,
    parse_coco_masks, parse_voc, parse_yolo, read_voc, read_yolo,
};
use crate::{
    BBox, Class, CocoAp, CocoParams, Confusion, Dataset, Image, Key, Matching, PrecisionRecall,
    Prediction, Shape, Tide, VocAp,
};

type Read<S> = Result<(Dataset<S>, Warnings), ReadError>;

/// Checks that a data set that is read in shards is the data set.
fn check<S>(what: &str, read: impl Fn(Option<Shard>) -> Read<S>)
where
    S: Shape + Clone + PartialEq + Debug + Send + Sync,
{
    let whole = read(None);
    for count in [1, 2, 3, 7] {
        let shard = |index| Shard::new(index, count).expect("a shard");
        let parts = (0..count).map(|index| read(Some(shard(index))));
        let parts: Result<Vec<_>, ReadError> = parts.collect();
        assert_eq!(parts.is_err(), whole.is_err(), "{what} in {count}");
        let (Ok((whole, warnings)), Ok(parts)) = (&whole, parts) else {
            continue;
        };
        let mut all = Warnings::new();
        let mut images = Vec::new();
        for (part, warnings) in &parts {
            assert_eq!(part.classes(), whole.classes(), "{what}");
            add(&mut all, warnings.clone());
            images.extend(contents(part));
        }
        assert_eq!(&all, warnings, "{what} in {count}");
        images.sort_by(|(a, _), (b, _)| a.key.cmp(&b.key));
        assert_eq!(images, contents(whole), "{what} in {count}");
        let parts: Vec<_> = parts.into_iter().map(|(part, _)| part).collect();
        same_states(what, whole, &parts);
    }
}

/// The images with their detections. Their indices and the ids that folders give objects are relative.
fn contents<S: Shape + Clone>(dataset: &Dataset<S>) -> Vec<(Image<S>, Vec<Prediction<S>>)> {
    let examples = dataset.examples(0..dataset.images().len());
    let contents = examples.map(|(found, image)| {
        let (mut found, mut image) = (found.to_vec(), image.clone());
        found.iter_mut().for_each(|found| found.image = 0);
        let objects = &mut image.annotations;
        objects.iter_mut().for_each(|object| object.id = 0);
        (image, found)
    });
    contents.collect()
}

fn same_states<S>(what: &str, whole: &Dataset<S>, parts: &[Dataset<S>])
where
    S: Shape + Clone + PartialEq + Debug + Send + Sync,
{
    for quirks in [false, true] {
        let params = CocoParams {
            quirks,
            ..CocoParams::default()
        };
        same_state(
            what,
            &CocoAp::<S>::new(params).expect("a metric"),
            whole,
            parts,
        );
    }
    same_state(what, &VocAp::<S>::new(0.5).expect("a metric"), whole, parts);
    same_state(what, &Tide::<S>::default(), whole, parts);
    let classes = whole.classes().len();
    let confusion = Confusion::<S>::new(classes, 0.5).expect("a metric");
    same_state(what, &confusion, whole, parts);
    let curves = PrecisionRecall::<S>::new(Matching::Greedy, vec![0.5]).expect("a metric");
    same_state(what, &curves, whole, parts);
}

fn same_state<S, M>(what: &str, metric: &M, whole: &Dataset<S>, parts: &[Dataset<S>])
where
    S: Shape + Sync,
    M: Metric<Prediction = [Prediction<S>], Reference = Image<S>> + Sync,
    M::State: PartialEq + Debug + Send + metric_core::Written,
{
    let mut merged = M::State::default();
    for part in parts.iter().rev() {
        merged.merge(part.measure(metric));
    }
    let whole = whole.measure(metric);
    assert!(merged == whole, "{what}: {merged:?} and {whole:?}");
    assert!(to_bytes(&merged) == to_bytes(&whole), "{what}");
}

fn check_coco(what: &str, truth: &str, found: &str, masks: bool) {
    let file = |name, text| File { name, text };
    let (truth, found) = (file("truth.json", truth), file("found.json", found));
    for (quirks, ignore_unknown_images) in [(false, false), (true, true)] {
        let options = |shard| CocoOptions {
            ignore_unknown_images,
            quirks,
            federated: false,
            shard,
        };
        check(what, |shard| parse_coco(truth, found, options(shard)));
        if masks {
            check(what, |shard| parse_coco_masks(truth, found, options(shard)));
        }
    }
}

/// The committed data sets, which a published crate does not have.
#[test]
fn golden_coco() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/vision");
    for name in ["coco.jsonl", "coco_more.jsonl"] {
        let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
        for line in text.lines() {
            let row: serde_json::Value = serde_json::from_str(line).expect("a row");
            let field = |name: &str| row[name].as_str();
            if let (Some(id), Some(truth), Some(found)) = (field("id"), field("gt"), field("dt")) {
                check_coco(id, truth, found, row["iou_type"] == "segm");
            }
        }
    }
}

/// A data set with everything that is warned of, and ids that occur again.
const TRUTH: &str = r#"{
    "images": [{"id": 2}, {"id": 1}, {"id": "2"}, {"id": 3}, {"id": 4.0}, {"id": "x"}],
    "categories": [{"id": 5, "name": "a"}, {"id": 3, "name": "b"}, {"id": 5, "name": "a"}, {"id": "3", "name": "b"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 5, "bbox": [0, 0, 10, 10]},
        {"id": 7, "image_id": 4, "category_id": 5, "bbox": [0, 0, 10, 5], "area": 3},
        {"id": 2, "image_id": 9, "category_id": 5, "bbox": [0, 0, 10, 10]},
        {"id": 3, "image_id": 2, "category_id": 3, "bbox": [9, 0, -10, 10]},
        {"id": "4", "image_id": 2, "category_id": 4, "bbox": [0, 0, 10, 10]},
        {"id": 5, "image_id": 3, "category_id": 3, "bbox": [0, 0, 10, 9], "iscrowd": 1},
        {"id": AGAIN, "image_id": 3, "category_id": 3, "bbox": [0, 0, 9, 10]},
        {"id": AGAIN, "image_id": 99, "category_id": 3, "bbox": [0, 0, 9, 10]},
        {"id": 6, "image_id": "x", "category_id": 3, "bbox": [0, 0, 8, 10], "iscrowd": false},
        {"id": AGAIN, "image_id": LAST, "category_id": 3, "bbox": [0, 0, 7, 10], "iscrowd": false}]}"#;
const FOUND: &str = r#"[
    {"image_id": 2, "category_id": 3, "bbox": [0, 0, 10, 10], "score": 0.5},
    {"image_id": 1, "category_id": 4, "bbox": [0, 0, 10, 10], "score": 0.5},
    {"image_id": 3, "category_id": 3, "bbox": [0, 0, 10, 10], "score": 0.5},
    {"image_id": "x", "category_id": 3, "bbox": [0, 0, 10, 10], "score": 0.5},
    {"image_id": 1, "category_id": 5, "bbox": [5, 0, 10, 10], "score": 0.5},
    {"image_id": 4, "category_id": 5, "bbox": [5, 0, -10, 10], "score": 0.5},
    {"image_id": 1, "category_id": 3, "bbox": [0, 0, 10, 10], "score": 0.5}]"#;

#[test]
fn coco_with_warnings() {
    for last in ["\"x\"", "1"] {
        for again in ["1", "2", "4", "5", "6", "7", "8"] {
            let truth = TRUTH.replace("AGAIN", again).replace("LAST", last);
            check_coco(&format!("{again} {last}"), &truth, FOUND, false);
        }
    }
    let distinct = TRUTH.replacen("AGAIN", "10", 1).replacen("AGAIN", "11", 1);
    let distinct = distinct.replace("AGAIN", "12").replace("LAST", "1");
    check_coco("distinct", &distinct, FOUND, false);
    // Ids that are all text rank as text, also in a shard.
    let text = r#"{"images": [{"id": "9"}, {"id": "10"}, {"id": "a"}], "categories": [{"id": 1}], "annotations": []}"#;
    let found = r#"[{"image_id": 9, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1},
        {"image_id": "10", "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1}]"#;
    check_coco("text", text, found, false);
    let unknown = r#"[{"image_id": 8, "category_id": 3, "bbox": [0, 0, 10, 10], "score": 0.6}]"#;
    check_coco("unknown", &distinct, unknown, false);
}

/// Only the shard of an image reports errors in its objects.
#[test]
fn problems_are_reported_by_one_shard() {
    let truth = r#"{"images": [{"id": 1}, {"id": 2}], "categories": [{"id": 1}],
        "annotations": [{"id": [], "image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1]}]}"#;
    let good = truth.replace("[]", "1");
    let file = |name, text| File { name, text };
    for (truth, found) in [
        (truth, "[]"),
        (
            &good,
            r#"[{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1], "score": 1}]"#,
        ),
        (
            &good,
            r#"[{"image_id": 1, "category_id": 1, "bbox": "x", "score": 1}]"#,
        ),
        (
            &good,
            r#"[{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": null}]"#,
        ),
        (
            &good,
            r#"[{"image_id": 9, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1}]"#,
        ),
    ] {
        let failed = (0..7).filter(|&index| {
            let options = CocoOptions {
                shard: Shard::new(index, 7).ok(),
                ..CocoOptions::default()
            };
            parse_coco(file("t", truth), file("f", found), options).is_err()
        });
        assert_eq!(failed.count(), 1, "{found}");
    }
    // Nobody knows the image of a record that is not JSON.
    let options = CocoOptions {
        shard: Shard::new(0, 7).ok(),
        ..CocoOptions::default()
    };
    let error = parse_coco(file("t", &good), file("f", "[{\"image_id\": 1, ]"), options);
    assert!(error.is_err());
}

#[test]
fn columns() {
    let key = |number: i64| Key::Number(number);
    let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0).expect("a box");
    let images: Vec<Key> = (0..8).map(key).chain([key(3), "x".into()]).collect();
    let class = |number: i64| Class::new(key(number), String::new());
    let image: Vec<Key> = (0..20).map(|row| key(row % 9)).collect();
    let classes: Vec<Key> = (0..20).map(|row| key(row % 4)).collect();
    let shapes: Vec<BBox> = (0..20).map(|row| square(f64::from(row % 5))).collect();
    let ids: Vec<i64> = (0..20).collect();
    let truths = TruthColumns {
        id: Some(&ids),
        ..TruthColumns::new(&image, &classes, &shapes)
    };
    let mut found = image.clone();
    found.reverse();
    let predictions = PredictionColumns {
        image: &found,
        class: &classes,
        shape: &shapes,
        score: &[0.5; 20],
    };
    for ignore_unknown_images in [false, true] {
        check("columns", |shard| {
            let options = CocoOptions {
                ignore_unknown_images,
                quirks: false,
                federated: false,
                shard,
            };
            let classes = [class(0), class(1), class(2), class(1)];
            dataset_from_columns(&images, &classes, truths, predictions, options)
        });
    }
}

const EXTRA: [ExtraImages; 3] = [ExtraImages::Error, ExtraImages::Ignore, ExtraImages::Empty];

/// Writes files into a new folder of a folder.
fn write(folder: &Path, name: &str, files: &[(String, String)]) -> std::path::PathBuf {
    let path = folder.join(name);
    fs::create_dir(&path).expect("a folder");
    for (name, text) in files {
        fs::write(path.join(name), text).expect("a file");
    }
    path
}

fn as_files(files: &[(String, String)]) -> Vec<File<'_>> {
    let files = files.iter().map(|(name, text)| File { name, text });
    files.collect()
}

#[test]
fn folders_of_voc() {
    let object = |class: &str, x: usize| {
        format!(
            "<object><name>{class}</name><bndbox><xmin>{x}</xmin><ymin>0</ymin><xmax>{}</xmax>\
             <ymax>9</ymax></bndbox></object>",
            x + 9
        )
    };
    let classes = ["dog", "traffic light", "cat"];
    let truths = (0..9).map(|image| {
        let objects = (0..image % 4).map(|index| object(classes[(image + index) % 3], index));
        let objects: String = objects.collect();
        (
            format!("image {image}.xml"),
            format!("<annotation>{objects}</annotation>"),
        )
    });
    let truths: Vec<(String, String)> = truths.collect();
    // Class `horse` occurs in one image, and `cow` in none that has a truth file.
    let by_class = |extra: bool| {
        let line = |image: usize, x: usize| format!("image {image} 0.5 {x} 0 {} 9\n", x + 9);
        let lines = |class: usize| (0..9).rev().map(move |image| line(image, class)).collect();
        let mut files: Vec<(String, String)> = (0..3)
            .map(|class| {
                (
                    format!("comp4_det_test_{}.txt", classes[class]),
                    lines(class),
                )
            })
            .collect();
        files.push(("comp4_det_test_horse.txt".to_owned(), line(3, 0)));
        files.push(("comp4_det_test_sheep.txt".to_owned(), String::new()));
        if extra {
            files.push((
                "comp4_det_test_cow.txt".to_owned(),
                "other 0.5 0 0 9 9".to_owned(),
            ));
        }
        files
    };
    let by_image = |extra: bool| {
        let line = |class: &str, x: usize| format!("{class} 0.5 {x} 0 {} 9\n", x + 9);
        let mut files: Vec<(String, String)> = (1..9)
            .map(|image| {
                let lines = line("dog", image) + &line("traffic light", 0) + &line("dog", 0);
                (format!("image {image}.txt"), lines)
            })
            .collect();
        files[3].1 += &line("horse", 0);
        if extra {
            files.push(("other.txt".to_owned(), line("cow", 0)));
        }
        files
    };
    let folder = tempfile::tempdir().expect("a folder");
    let truth_folder = write(folder.path(), "truths", &truths);
    let forms = [
        (by_class(false), VocFiles::Classes),
        (by_class(true), VocFiles::Classes),
        (by_image(false), VocFiles::Images),
        (by_image(true), VocFiles::Images),
    ];
    for (index, (found, form)) in forms.iter().enumerate() {
        let found_folder = write(folder.path(), &format!("found {index}"), found);
        for extra in EXTRA {
            for files in [None, Some(*form)] {
                let options = |shard| VocOptions {
                    files,
                    extra,
                    columns: None,
                    shard,
                    max_bytes: None,
                };
                let what = format!("{index} {extra} {files:?}");
                let (truths, found) = (as_files(&truths), as_files(found));
                check(&what, |shard| parse_voc(&truths, &found, &options(shard)));
                check(&what, |shard| {
                    read_voc(&truth_folder, &found_folder, &options(shard))
                });
            }
        }
    }
}

#[test]
fn folders_of_yolo() {
    let box_at = |class: usize, x: usize| format!("{class} 0.{x} 0.5 0.25 0.5");
    let truths = |names: bool| {
        let truths = (0..9).map(|image| {
            let objects = (0..image % 4).map(|index| box_at((image + index) % 3, index + 1) + "\n");
            (format!("{image}.txt"), objects.collect())
        });
        let names = names.then(|| ("classes.txt".to_owned(), "a\nb\nc\nd\ne".to_owned()));
        truths.chain(names).collect::<Vec<(String, String)>>()
    };
    let found = |extra: bool| {
        let found = (1..9).map(|image| {
            let lines = [0, 1, image].map(|class| box_at(class, 2) + " 0.5\n");
            (format!("{image}.txt"), lines.concat())
        });
        let extra = extra.then(|| ("other.txt".to_owned(), box_at(40, 1) + " 0.5"));
        found.chain(extra).collect::<Vec<(String, String)>>()
    };
    let folder = tempfile::tempdir().expect("a folder");
    for (names, others) in [(false, false), (false, true), (true, false), (true, true)] {
        let (truths, found) = (truths(names), found(others));
        let truth_folder = write(folder.path(), &format!("truths {names} {others}"), &truths);
        let found_folder = write(folder.path(), &format!("found {names} {others}"), &found);
        let pixels = [8, 16].map(|number| NonZeroU32::new(number).expect("not 0"));
        for (extra, sizes) in EXTRA.into_iter().zip([
            ImageSizes::Unknown,
            ImageSizes::All(pixels),
            ImageSizes::Unknown,
        ]) {
            let options = |shard| YoloOptions {
                sizes: sizes.clone(),
                extra,
                columns: None,
                shard,
                ..YoloOptions::default()
            };
            let what = format!("{names} {others} {extra}");
            let (truths, found) = (as_files(&truths), as_files(&found));
            check(&what, |shard| parse_yolo(&truths, &found, &options(shard)));
            check(&what, |shard| {
                read_yolo(&truth_folder, &found_folder, &options(shard))
            });
        }
    }
}

/// Files of other shards that cannot be read do not matter, and their own shard reports them.
#[test]
fn unreadable_files_are_reported_by_one_shard() {
    let folder = tempfile::tempdir().expect("a folder");
    let (truths, found) = (folder.path().join("t"), folder.path().join("f"));
    for path in [&truths, &found] {
        fs::create_dir(path).expect("a folder");
    }
    for name in ["1.txt", "2.txt", "3.txt"] {
        fs::write(truths.join(name), "0 0.5 0.5 1 1").expect("a file");
    }
    fs::write(found.join("2.txt"), b"\xff").expect("a file");
    let failed = |index| {
        let options = YoloOptions {
            shard: Shard::new(index, 7).ok(),
            ..YoloOptions::default()
        };
        read_yolo(&truths, &found, &options).is_err()
    };
    assert_eq!((0..7).filter(|&index| failed(index)).count(), 1);
}
