//! Distances of polylines and frames of OpenLane-V2, on one thread.
//!
//! - `openlane/frechet/20_points`: the discrete Fréchet distance of two lines in the plane, whole,
//!   without a threshold. Target: 0.5 us; peers: GEOS 9.5 us, Python 186 us. For 11 points: 4.2 and
//!   59 us, for 100 points: 89 and 4,531 us. `20_points_3d` is the same in three dimensions, and
//!   `20_points_below` asks with a threshold for a line that is far away.
//! - `openlane/frame/24_predictions`, `openlane/frame/200_predictions`: frames of 20 true lanes and 4 traffic elements,
//!   from memory into the state. Targets: 0.2 and 1.2 ms per frame; peer: the devkit 2.1.0 with numpy 2.4, 18.2 and 108
//!   ms. 160 of the 200 are near a true lane.
//! - `openlane/compute/4806_frames`: the score of a whole validation set.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_core::Metric;
use metric_graph::Polyline;
use metric_graph::distance::{discrete_frechet, discrete_frechet_below};
use metric_graph::openlane::{
    Detected, Frame, FramePrediction, OpenLaneState, OpenLaneV2, TrafficElement,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A line of steps of 1, and another one that is off by at most `jitter` in each dimension.
fn lines<const D: usize>(points: usize, jitter: f64) -> (Polyline<D>, Polyline<D>) {
    let mut rng = StdRng::seed_from_u64(1);
    let points: Vec<[f64; D]> = (0..points)
        .map(|index| std::array::from_fn(|axis| if axis == 0 { index as f64 } else { 0.0 }))
        .collect();
    let beside = points.iter().map(|point| {
        let mut point = *point;
        for coordinate in &mut point {
            *coordinate += rng.random_range(-jitter..jitter);
        }
        point
    });
    let beside = Polyline::new(beside.collect()).expect("finite points");
    (Polyline::new(points).expect("finite points"), beside)
}

fn frechet(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("openlane/frechet");
    group.throughput(Throughput::Elements(1));
    for points in [11, 20, 100] {
        let (a, b) = lines::<2>(points, 0.2);
        // The lines keep step: the distance is the greatest one of points at the same place.
        let pairs = a.points().iter().zip(b.points());
        let expected = pairs
            .map(|(p, q)| (p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2))
            .fold(0.0, f64::max)
            .sqrt();
        group.bench_function(format!("{points}_points"), |bencher| {
            bencher.iter(|| {
                let distance = discrete_frechet(black_box(&a), black_box(&b));
                assert!((distance - expected).abs() < 1e-12);
            });
        });
    }
    let (a, b) = lines::<3>(20, 0.2);
    group.bench_function("20_points_3d", |bencher| {
        bencher.iter(|| {
            let distance = discrete_frechet(black_box(&a), black_box(&b));
            assert!(distance < 0.4);
        });
    });
    let far = lines::<3>(20, 0.2).1.reversed();
    group.bench_function("20_points_below", |bencher| {
        bencher.iter(|| {
            assert!(discrete_frechet_below(black_box(&a), black_box(&far), 3.0).is_none());
        });
    });
    group.finish();
}

/// A bent lane of 11 points from `start`.
fn lane(rng: &mut StdRng) -> Vec<[f64; 3]> {
    let mut point = [
        rng.random_range(-50.0..50.0),
        rng.random_range(-25.0..25.0),
        0.0,
    ];
    let (mut heading, bend) = (rng.random_range(0.0..6.3_f64), rng.random_range(-0.1..0.1));
    (0..11)
        .map(|_| {
            let here = point;
            point[0] += 2.5 * heading.cos();
            point[1] += 2.5 * heading.sin();
            heading += bend;
            here
        })
        .collect()
}

fn moved(points: &[[f64; 3]], by: f64, rng: &mut StdRng) -> Polyline<3> {
    let moved = points
        .iter()
        .map(|point| point.map(|coordinate| coordinate + rng.random_range(-by..by)));
    Polyline::new(moved.collect()).expect("finite points")
}

/// A frame of 20 lanes, each of which is predicted `copies` times within 0.7 m, with `others`
/// predictions anywhere.
fn frame(index: usize, copies: usize, others: usize) -> (FramePrediction, Frame) {
    let mut rng = StdRng::seed_from_u64(index as u64);
    let truths: Vec<_> = (0..20).map(|_| lane(&mut rng)).collect();
    let confident = |item, rng: &mut StdRng| Detected {
        item,
        confidence: rng.random_range(0.0..1.0),
    };
    let mut lanes = Vec::new();
    for truth in &truths {
        for _ in 0..copies {
            lanes.push(confident(moved(truth, 0.4, &mut rng), &mut rng));
        }
    }
    for _ in 0..others {
        let other = lane(&mut rng);
        lanes.push(confident(moved(&other, 0.1, &mut rng), &mut rng));
    }
    let sign = |position: u32| {
        let left = f64::from(100 * position);
        TrafficElement::new(i64::from(position), [[left, 0.0], [left + 50.0, 50.0]])
            .expect("a known attribute")
    };
    let elements: Vec<_> = (0..4)
        .map(|position| Detected {
            item: sign(position),
            confidence: 0.5,
        })
        .collect();
    let mut table = |columns: usize| -> Vec<Vec<f64>> {
        (0..lanes.len())
            .map(|_| (0..columns).map(|_| rng.random_range(0.0..0.6)).collect())
            .collect()
    };
    let (lane_edges, element_edges) = (table(lanes.len()), table(4));
    let prediction = FramePrediction::new(lanes, elements, &lane_edges, &element_edges)
        .expect("tables of the right size");

    let next = |row: usize| (0..20).map(|column| column == row + 1).collect();
    let own = |row: usize| (0..4).map(|column| column == row).collect();
    let truth = Frame::new(
        format!("{index:05}"),
        truths
            .into_iter()
            .map(|points| Polyline::new(points).expect("finite points"))
            .collect(),
        (0..4).map(sign).collect(),
        &(0..20).map(next).collect::<Vec<_>>(),
        &(0..20).map(own).collect::<Vec<_>>(),
    )
    .expect("tables of the right size");
    (prediction, truth)
}

fn gather(frames: &[(FramePrediction, Frame)]) -> OpenLaneState {
    let mut state = OpenLaneState::default();
    for (prediction, truth) in frames {
        OpenLaneV2.update(&mut state, prediction, truth);
    }
    state
}

fn frames(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("openlane/frame");
    for (copies, others) in [(1, 4), (8, 40)] {
        let frames: Vec<_> = (0..50).map(|index| frame(index, copies, others)).collect();
        let predictions = 20 * copies + others;
        group.throughput(Throughput::Elements(frames.len() as u64));
        group.bench_function(format!("{predictions}_predictions"), |bencher| {
            bencher.iter(|| {
                let state = gather(black_box(&frames));
                assert_eq!(state.frames(), 50);
            });
        });
        // Every true lane has a prediction near it.
        let score = OpenLaneV2.compute(&gather(&frames));
        assert_eq!(score.lanes[2].counts.false_negatives, 0);
        assert_eq!(score.lanes[2].counts.predicted(), 50 * predictions as u64);
        assert_eq!(score.elements.true_positives, 200);
    }
    group.finish();

    let few: Vec<_> = (0..4_806).map(|index| frame(index, 1, 4)).collect();
    let state = gather(&few);
    let mut group = criterion.benchmark_group("openlane/compute");
    group.throughput(Throughput::Elements(few.len() as u64));
    group.bench_function("4806_frames", |bencher| {
        bencher.iter(|| {
            let score = OpenLaneV2.compute(black_box(&state));
            assert_eq!(score.lanes[2].counts.false_negatives, 0);
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(2));
    targets = frechet, frames
}
criterion_main!(benches);
