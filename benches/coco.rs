//! COCO AP of 5,000 images, 80 classes and 36,781 ground-truth boxes. Target, from files to twelve numbers: at most
//! 0.67 times the time of the fastest peer (ultrafast-pycocotools 0.1.14: 0.10 s, 0.41 s and 1.35 s of CPU for 45
//! thousand, 500 thousand and 1.5 million detections), measured side by side; and in memory at most 0.10 s for 500
//! thousand. Cost grows linearly.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_core::Metric;
use metric_vision::read::{self, CocoOptions, File};
use metric_vision::{CocoAp, Dataset};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const IMAGES: usize = 5_000;
const TRUTHS: usize = 36_781;
const CLASSES: u32 = 80;

/// A ground truth and results with this many detections per image: some near ground-truth boxes,
/// the others anywhere; low classes are common, and scores have four digits, so that many are
/// equal.
fn files(detections: usize) -> (String, String) {
    let mut random = StdRng::seed_from_u64(20_261_121);
    let class = |random: &mut StdRng| {
        let uniform: f64 = random.random();
        (f64::from(CLASSES) * uniform * uniform * uniform) as u32
    };
    let number = |number: f64| (number * 100.0).round() / 100.0;
    let bbox = |random: &mut StdRng| {
        let size = 8.0 * 60.0_f64.powf(random.random());
        [
            random.random_range(0.0..640.0 - size),
            random.random_range(0.0..480.0),
            size,
            random.random_range(0.5..1.5) * size,
        ]
        .map(number)
    };
    let mut truths: Vec<Vec<(u32, [f64; 4])>> = vec![Vec::new(); IMAGES];
    for _ in 0..TRUTHS {
        let image = random.random_range(0..IMAGES);
        truths[image].push((class(&mut random), bbox(&mut random)));
    }
    let (mut truth, mut results) = (String::from("{\"images\":["), String::from("["));
    for image in 0..IMAGES {
        let comma = if image > 0 { "," } else { "" };
        write!(
            truth,
            "{comma}{{\"id\":{image},\"width\":640,\"height\":480}}"
        )
        .expect("text");
    }
    truth.push_str("],\"categories\":[");
    for class in 0..CLASSES {
        let comma = if class > 0 { "," } else { "" };
        write!(
            truth,
            "{comma}{{\"id\":{class},\"name\":\"class {class}\"}}"
        )
        .expect("text");
    }
    truth.push_str("],\"annotations\":[");
    let mut id = 0;
    for (image, objects) in truths.iter().enumerate() {
        for (class, [x, y, w, h]) in objects {
            let comma = if id > 0 { "," } else { "" };
            id += 1;
            let area = number(w * h * 0.7);
            let crowd = u8::from(id % 80 == 0);
            write!(truth, "{comma}{{\"id\":{id},\"image_id\":{image},\"category_id\":{class},\"bbox\":[{x},{y},{w},{h}],\"area\":{area},\"iscrowd\":{crowd}}}").expect("text");
        }
        for index in 0..detections {
            let near = objects.get(index / 2).filter(|_| index % 2 == 0);
            let (class, [x, y, w, h]) = match near {
                None => (class(&mut random), bbox(&mut random)),
                Some(&(class, [x, y, w, h])) => {
                    let mut part = || random.random_range(-0.1..0.1);
                    let shifted = [
                        x + part() * w,
                        y + part() * h,
                        w + part() * w,
                        h + part() * h,
                    ];
                    (class, shifted.map(number))
                }
            };
            let score: f64 = random.random_range(0.0..if near.is_some() { 1.0 } else { 0.3 });
            let score = (score * 10_000.0).round() / 10_000.0;
            let comma = if results.len() > 1 { "," } else { "" };
            write!(results, "{comma}{{\"image_id\":{image},\"category_id\":{class},\"bbox\":[{x},{y},{w},{h}],\"score\":{score}}}").expect("text");
        }
    }
    truth.push_str("]}");
    results.push(']');
    (truth, results)
}

fn dataset((truth, results): &(String, String)) -> Dataset {
    let file = |name, text| File { name, text };
    let read = read::parse_coco(
        file("truth", truth),
        file("results", results),
        CocoOptions::default(),
    );
    read.expect("a data set").0
}

fn coco(criterion: &mut Criterion) {
    let metric: CocoAp = CocoAp::default();
    let average_precision = |dataset: &Dataset| {
        let curves = metric.compute(&dataset.measure(&metric));
        let twelve = curves.summary(None);
        assert_eq!(twelve.len(), 12);
        let (_, ap) = twelve[0];
        assert!(ap.is_some_and(|ap| ap > 0.1 && ap < 0.9), "{ap:?}");
    };
    let threads = |count| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .build()
            .expect("threads")
    };
    for (name, detections) in [("45k", 9), ("500k", 100), ("1500k", 300)] {
        let files = files(detections);
        let read = dataset(&files);
        for count in [1, 2] {
            let pool = threads(count);
            let mut group =
                criterion.benchmark_group(format!("vision/coco_bbox/{name}/{count}_threads"));
            group.sample_size(10);
            group.throughput(Throughput::Elements((IMAGES * detections) as u64));
            group.bench_function("from_text", |bencher| {
                bencher.iter(|| pool.install(|| average_precision(&dataset(black_box(&files)))));
            });
            group.bench_function("in_memory", |bencher| {
                bencher.iter(|| pool.install(|| average_precision(black_box(&read))));
            });
        }
    }
}

criterion_group!(benches, coco);
criterion_main!(benches);
