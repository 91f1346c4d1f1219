//! Detections, masks and polygons of small files whose cost could explode.

use std::fmt::Write as _;

use super::Case;
use super::random::Random;

/// A list of boxes `[x, y, width, height]`, or of another form, as JSON.
type List = String;

type Boxes = Vec<[f64; 4]>;

/// Boxes that overlap: a name, true ones, and found ones.
type Item = (&'static str, fn() -> Boxes, fn() -> Boxes);

const ITEMS: &[Item] = &[
    ("dense", || near(1_000, 10.0, 1), || near(20_000, 10.0, 2)),
    ("square", || near(2_800, 5.0, 1), || near(2_800, 5.0, 2)),
    ("too-dense", || near(5_000, 5.0, 1), || near(5_000, 5.0, 2)),
    ("equal", || equal(100_000), || equal(100_000)),
    ("equal-predictions", || equal(3), || equal(100_000)),
    ("equal-references", || equal(100_000), || equal(3)),
    ("near", || near(30_000, 1.0, 1), || near(30_000, 1.0, 2)),
    (
        "many-near",
        || near(100_000, 1.0, 1),
        || near(100_000, 1.0, 2),
    ),
    (
        "many-less-near",
        || near(100_000, 20.0, 1),
        || near(100_000, 20.0, 2),
    ),
    (
        "many-far",
        || near(100_000, 45.0, 1),
        || near(100_000, 45.0, 2),
    ),
];

/// All cases: the matching rules and the metrics of images, and shapes that take long to compare.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &(name, truths, found) in ITEMS {
        for rule in [
            "optimal --iou 0.5",
            "optimal --iou 0.9",
            "optimal-sum",
            "greedy",
            "voc",
            "voc-strict",
            "any-overlap",
        ] {
            let words = format!("detection --matching {rule}");
            cases.push(pair(name, &words, move || {
                [list(&truths()), detections(&found())]
            }));
        }
        for metric in ["coco", "voc", "tide", "confusion-matrix"] {
            cases.push(coco(name, metric, "", move || {
                [coco_truth(&truths()), coco_results(&found())]
            }));
        }
    }
    cases.push(pair("crossing", "detection --box rotated", || {
        [turned(0.0), turned(0.0005)]
    }));
    cases.push(pair("circle", "detection --box polygon", || {
        [circle(50.0), circle(49.0)]
    }));
    let details = "--details details.json";
    cases.push(coco("classes", "confusion-matrix", details, || {
        [classes(100_000), "[]".to_owned()]
    }));
    cases
}

/// Boxes that differ by at most this from one box.
fn near(count: usize, by: f64, seed: u64) -> Boxes {
    let mut random = Random::new(seed);
    let mut moved = |at: f64| at + random.below(2.0 * by) - by;
    let one = |_| [100.0, 100.0, 50.0, 50.0].map(&mut moved);
    (0..count).map(one).collect()
}

fn equal(count: usize) -> Boxes {
    vec![[10.0, 10.0, 20.0, 20.0]; count]
}

/// Thin boxes that cross each other.
fn turned(by: f64) -> List {
    let one = |turn: usize| format!("[100,100,1000,1,{}]", turn as f64 * 0.001 + by);
    joined((0..20_000).map(one))
}

/// A polygon of very many points.
fn circle(radius: f64) -> List {
    let point = |step: usize| {
        let (sin, cos) = (step as f64 * std::f64::consts::TAU / 100_000.0).sin_cos();
        format!("[{},{}]", radius * cos, radius * sin)
    };
    format!("[{}]", joined((0..100_000).map(point)))
}

/// An image of many classes without boxes.
fn classes(count: usize) -> String {
    let class = |id: usize| format!("{{\"id\":{id},\"name\":\"c{id}\"}}");
    let categories = joined((1..=count).map(class));
    format!(
        "{{\"images\":[{{\"id\":1,\"width\":9,\"height\":9}}],\"annotations\":[],\"categories\":{categories}}}"
    )
}

fn joined(items: impl Iterator<Item = String>) -> List {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn list(boxes: &[[f64; 4]]) -> List {
    joined(boxes.iter().map(|numbers| format!("{numbers:?}")))
}

fn detections(boxes: &[[f64; 4]]) -> List {
    let mut random = Random::new(3);
    joined(boxes.iter().map(|numbers| {
        let score = random.below(1.0);
        format!("{{\"box\":{numbers:?},\"score\":{score}}}")
    }))
}

/// A case of one record: reference and prediction.
fn pair(name: &str, words: &str, write: impl Fn() -> [List; 2] + Sync + 'static) -> Case {
    let words = format!("score {words} --pairs pairs.jsonl");
    Case::new(format!("boxes/{name}/{words}"), &words, move |folder| {
        let [reference, prediction] = write();
        let record =
            format!("{{\"id\":\"a\",\"reference\":{reference},\"prediction\":{prediction}}}\n");
        std::fs::write(folder.join("pairs.jsonl"), record)
    })
}

/// A case of COCO's two files.
fn coco(
    name: &str,
    metric: &str,
    options: &str,
    write: impl Fn() -> [String; 2] + Sync + 'static,
) -> Case {
    let words = format!("score {metric} -r truth.json -p found.json {options}");
    Case::new(format!("boxes/{name}/{metric}"), &words, move |folder| {
        let [truth, found] = write();
        std::fs::write(folder.join("truth.json"), truth)?;
        std::fs::write(folder.join("found.json"), found)
    })
}

/// The ground-truth boxes of one image.
fn coco_truth(boxes: &[[f64; 4]]) -> String {
    let mut truth = String::from(
        "{\"images\":[{\"id\":1,\"width\":500,\"height\":500}],\"categories\":[{\"id\":1,\"name\":\"c\"}],\"annotations\":[",
    );
    for (id, numbers) in (1..).zip(boxes) {
        let comma = if id == 1 { "" } else { "," };
        let area = numbers[2] * numbers[3];
        let _ = write!(
            truth,
            "{comma}{{\"id\":{id},\"image_id\":1,\"category_id\":1,\"bbox\":{numbers:?},\"area\":{area},\"iscrowd\":0}}"
        );
    }
    truth.push_str("]}");
    truth
}

/// The found boxes of that image.
fn coco_results(boxes: &[[f64; 4]]) -> String {
    let mut random = Random::new(4);
    joined(boxes.iter().map(|numbers| {
        let score = random.below(1.0);
        format!("{{\"image_id\":1,\"category_id\":1,\"bbox\":{numbers:?},\"score\":{score}}}")
    }))
}
