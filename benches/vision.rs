//! Detections. Target: IoU with matching of 1,000,000 box pairs in 30 ms on one thread. The peer's
//! program (Fusion Brain Challenge 2021) takes 3.5 us a pair, that is 3.5 s; IoU alone in C takes
//! 12 ms for a comparable number of pairs.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_core::Metric;
use metric_vision::{BBox, Detection, DetectionState, Detections};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const PAIRS: usize = 1_000_000;

/// Items of `side` true boxes, each found by a box that is a little off; `side²` pairs an item.
fn items(side: usize) -> Vec<(Vec<Detection>, Vec<BBox>)> {
    let mut random = StdRng::seed_from_u64(1);
    let mut item = || {
        let truths: Vec<BBox> = (0..side)
            .map(|_| {
                let [x, y] = [0; 2].map(|_| random.random_range(0.0..1000.0));
                let [w, h] = [0; 2].map(|_| random.random_range(20.0..120.0));
                BBox::from_xywh(x, y, w, h).expect("a box")
            })
            .collect();
        let found = truths.iter().map(|truth| {
            let [x, y, w, h] = truth.xywh();
            BBox::from_xywh(x + w / 16.0, y, w, h)
                .expect("a box")
                .into()
        });
        (found.collect(), truths)
    };
    (0..PAIRS / (side * side)).map(|_| item()).collect()
}

fn iou_matching(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("vision/iou_matching/1M_pairs");
    group.sample_size(20);
    group.throughput(Throughput::Elements(PAIRS as u64));
    let metric = Detections::default();
    for side in [1, 10, 100] {
        let items = items(side);
        let truths: usize = items.iter().map(|(_, truths)| truths.len()).sum();
        group.bench_function(format!("{side}x{side}"), |bencher| {
            bencher.iter(|| {
                let mut state = DetectionState::default();
                for (detections, truths) in black_box(&items) {
                    metric.update(&mut state, detections, truths);
                }
                assert_eq!(state.counts.true_positives, truths as u64);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, iou_matching);
criterion_main!(benches);
