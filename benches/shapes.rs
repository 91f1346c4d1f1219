//! IoU of rotated boxes, polygons and masks. Target: 100 ns for a pair of rotated boxes. Peers: a
//! plain convex clip in f64 takes 98 ns, `BooleanOps` of geo 0.33 takes 10.7 us with errors of IoU
//! up to 1.6e-8. The groups compare geo with ours, on the same pairs; before each is timed, the two
//! are compared and the largest difference is printed.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use geo::{Area, BooleanOps};
use metric_vision::{Mask, Polygon, RotatedBox, Shape};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Pairs of a box and the same a little off.
fn rotated_pairs(pairs: usize) -> Vec<[RotatedBox; 2]> {
    let mut random = StdRng::seed_from_u64(1);
    let mut near = |[cx, cy, w, h]: [f64; 4], angle: f64| {
        let mut off = |by: f64| random.random_range(-by..by);
        let cxcywh = [cx + off(20.0), cy + off(20.0), w + off(10.0), h + off(10.0)];
        RotatedBox::new(cxcywh, angle + off(0.5)).expect("a box")
    };
    (0..pairs)
        .map(|pair| {
            let index = (pair % 1000) as f64;
            [0, 1].map(|_| near([index, index, 100.0, 60.0], index))
        })
        .collect()
}

/// Pairs of outlines of `points` points whose distance from the center varies by a half.
fn polygon_pairs(pairs: usize, points: usize) -> Vec<[Polygon; 2]> {
    let mut random = StdRng::seed_from_u64(2);
    let mut outline = || {
        let ring = (0..points).map(|point| {
            let angle = point as f64 / points as f64 * std::f64::consts::TAU;
            let radius = random.random_range(50.0..100.0);
            [300.0 + radius * angle.cos(), 300.0 + radius * angle.sin()]
        });
        Polygon::new(ring.collect()).expect("a polygon")
    };
    (0..pairs).map(|_| [outline(), outline()]).collect()
}

fn geo_iou(a: &geo::Polygon<f64>, b: &geo::Polygon<f64>) -> f64 {
    let overlap = a.intersection(b).unsigned_area();
    overlap / (a.unsigned_area() + b.unsigned_area() - overlap)
}

/// Times IoU of all pairs in ours and in geo.
fn beside_geo<S: Shape>(
    criterion: &mut Criterion,
    name: &str,
    pairs: &[[S; 2]],
    to_geo: impl Fn(&S) -> geo::Polygon<f64>,
) {
    let geo: Vec<[geo::Polygon<f64>; 2]> =
        pairs.iter().map(|[a, b]| [to_geo(a), to_geo(b)]).collect();
    let mut group = criterion.benchmark_group(format!("shapes/{name}"));
    group.sample_size(10);
    group.throughput(Throughput::Elements(pairs.len() as u64));
    let total: f64 = pairs.iter().map(|[a, b]| a.iou(b)).sum();
    let differences = pairs.iter().zip(&geo);
    let difference = differences
        .map(|([a, b], [c, d])| (a.iou(b) - geo_iou(c, d)).abs())
        .fold(0.0, f64::max);
    eprintln!("shapes/{name}: largest difference to geo {difference:e}");
    group.bench_function(BenchmarkId::from_parameter("ours"), |bencher| {
        bencher.iter(|| {
            let sum: f64 = black_box(pairs).iter().map(|[a, b]| a.iou(b)).sum();
            assert_eq!(sum, total);
        });
    });
    group.bench_function(BenchmarkId::from_parameter("geo"), |bencher| {
        bencher.iter(|| {
            let sum: f64 = black_box(&geo).iter().map(|[a, b]| geo_iou(a, b)).sum();
            assert!((sum - total).abs() < 1e-6 * pairs.len() as f64);
        });
    });
    group.finish();
}

fn iou(criterion: &mut Criterion) {
    let rotated = rotated_pairs(10_000);
    beside_geo(criterion, "rotated/10k_pairs", &rotated, |&rotated| {
        rotated.into()
    });
    for (name, pairs, points) in [
        ("polygon/1k_pairs_10x10", 1000, 10),
        ("polygon/100_pairs_100x100", 100, 100),
        ("polygon/10_pairs_1000x1000", 10, 1000),
    ] {
        let pairs = polygon_pairs(pairs, points);
        beside_geo(criterion, name, &pairs, |polygon| polygon.into());
    }
}

fn construction(criterion: &mut Criterion) {
    let pairs = polygon_pairs(1, 1000);
    let ring = pairs[0][0].points();
    let mut group = criterion.benchmark_group("shapes/polygon_new/1000_points");
    group.sample_size(10);
    group.throughput(Throughput::Elements(ring.len() as u64));
    for (name, new) in [
        ("simple", Polygon::new as fn(_) -> _),
        ("even_odd", Polygon::even_odd),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let area = new(black_box(ring).to_vec()).map(|polygon| polygon.area());
                assert!(area.is_ok_and(|area| (area - pairs[0][0].area()).abs() < 1e-9));
            });
        });
    }
    group.finish();
}

/// Masks of outlines of 40 points in an image of 640 x 480.
fn masks(criterion: &mut Criterion) {
    let outlines: Vec<Vec<f64>> = polygon_pairs(100, 40)
        .iter()
        .flatten()
        .map(|polygon| polygon.points().concat())
        .collect();
    let draw = |outline: &Vec<f64>| {
        Mask::from_polygons(480, 640, std::slice::from_ref(outline)).expect("a mask")
    };
    let masks: Vec<Mask> = outlines.iter().map(draw).collect();
    let texts: Vec<String> = masks.iter().map(Mask::to_compressed).collect();
    let pixels: f64 = masks.iter().map(Shape::area).sum();
    let mut group = criterion.benchmark_group("shapes/mask/640x480");
    group.sample_size(10);
    group.throughput(Throughput::Elements(outlines.len() as u64));
    group.bench_function("from_polygons", |bencher| {
        bencher.iter(|| {
            let drawn: f64 = outlines.iter().map(|outline| draw(outline).area()).sum();
            assert_eq!(drawn, pixels);
        });
    });
    group.bench_function("from_compressed", |bencher| {
        bencher.iter(|| {
            let read =
                |text: &String| Mask::from_compressed(480, 640, text).map(|mask| mask.area());
            let read: Result<Vec<f64>, _> = texts.iter().map(read).collect();
            assert_eq!(read.map(|areas| areas.iter().sum()), Ok(pixels));
        });
    });
    let total: f64 = masks.iter().zip(&masks[1..]).map(|(a, b)| a.iou(b)).sum();
    group.bench_function("iou", |bencher| {
        bencher.iter(|| {
            let pairs = masks.iter().zip(&masks[1..]);
            assert_eq!(pairs.map(|(a, b)| a.iou(b)).sum::<f64>(), total);
        });
    });
    group.finish();
}

criterion_group!(benches, iou, construction, masks);
criterion_main!(benches);
