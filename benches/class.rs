//! Ranked labels on one thread.
//!
//! `class/accuracy_at_5/1M`: 1,000,000 rows of 5 labels. Target 3 ms; peers: numpy 15 ms, Hugging
//! Face evaluate 5.1 s.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_class::accuracy_at_k;
use ndarray::{Array1, Array2};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn accuracy_at_5(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("class/accuracy_at_5");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    let mut random = StdRng::seed_from_u64(5);
    for (name, rows) in [("1k", 1_000), ("30k", 30_000), ("1M", 1_000_000)] {
        let predictions: Array2<i32> =
            Array2::from_shape_simple_fn((rows, 5), || random.random_range(0..1000));
        // Every other reference is one of the five.
        let references: Array1<i32> = (0..rows)
            .map(|row| match row % 2 {
                0 => predictions[(row, random.random_range(0..5))],
                _ => -1,
            })
            .collect();
        let hits = (rows as u64).div_ceil(2);
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let accuracy = accuracy_at_k(black_box(predictions.view()), references.view(), 5);
                assert_eq!(accuracy.map(|accuracy| accuracy.correct), Ok(hits));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, accuracy_at_5);
criterion_main!(benches);
