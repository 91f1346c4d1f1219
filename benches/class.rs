//! Ranked labels and classes on one thread.
//!
//! `class/accuracy_at_5/1M`: 1,000,000 rows of 5 labels. Target 3 ms; peers: numpy 15 ms, Hugging
//! Face evaluate 5.1 s.
//!
//! `class/top_5_from_scores/100k_1000`: 100,000 rows of 1,000 `f32` scores, 400 MB. Target 25 ms, the
//! speed of memory; peers: scikit-learn 5.3 s, numpy counting ranks 0.17 s.
//!
//! `class/classification/1M_100`: 1,000,000 pairs of 100 classes to all averages. Target 60 ms; peer:
//! scikit-learn, `precision_recall_fscore_support` for each average, 1.1 s.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_class::{
    Average, Classification, ConfusionMatrix, Score, Ties, ZeroDivision, accuracy_at_k,
    top_k_accuracy,
};
use metric_core::Metric;
use ndarray::{Array1, Array2, ArrayView2, Axis};
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

fn top_5_from_scores(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("class/top_5_from_scores");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    let mut random = StdRng::seed_from_u64(7);
    let narrow = rows(100_000, || random.random::<f32>());
    let ties = rows(10_000, || f32::from(random.random::<u8>() / 16));
    let wide = rows(10_000, || random.random::<f64>());
    for (name, count) in [
        ("1k_1000", 1_000),
        ("10k_1000", 10_000),
        ("100k_1000", 100_000),
    ] {
        let scores = narrow.slice_axis(Axis(0), (0..count).into());
        top_5(&mut group, name, scores, Ties::HighestIndex);
    }
    top_5(&mut group, "10k_1000_tied", ties.view(), Ties::HighestIndex);
    top_5(&mut group, "10k_1000_expected", ties.view(), Ties::Expected);
    top_5(&mut group, "10k_1000_f64", wide.view(), Ties::HighestIndex);
    group.finish();
}

fn rows<S>(count: usize, score: impl FnMut() -> S) -> Array2<S> {
    Array2::from_shape_simple_fn((count, 1000), score)
}

/// Every other reference is the label of the highest score, the rest are that of the lowest.
fn top_5<S: Score + PartialOrd>(
    group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>,
    name: &str,
    scores: ArrayView2<S>,
    ties: Ties,
) {
    let references: Array1<i64> = scores
        .rows()
        .into_iter()
        .enumerate()
        .map(|(row, scores)| {
            let best = |a: usize, b: usize| match (row % 2 == 0, scores[b] >= scores[a]) {
                (true, true) | (false, false) => b,
                _ => a,
            };
            (0..scores.len()).fold(0, best) as i64
        })
        .collect();
    let share = match ties {
        // All labels of the highest score are as likely.
        Ties::Expected => None,
        _ => Some(0.5),
    };
    group.throughput(Throughput::Bytes(
        (scores.len() * std::mem::size_of::<S>()) as u64,
    ));
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            let value = top_k_accuracy(black_box(scores), references.view(), 5, ties);
            assert!(share.is_none_or(|share| value == Ok(share)), "{value:?}");
        });
    });
}

fn classification(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("class/classification");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    let mut random = StdRng::seed_from_u64(11);
    // Three of four are right.
    let pairs: Vec<(Option<u32>, u32)> = (0..1_000_000_u32)
        .map(|example| {
            let reference = random.random_range(0..100);
            let other = (reference + random.random_range(1..100)) % 100;
            let prediction = if example % 4 == 0 { other } else { reference };
            (Some(prediction), reference)
        })
        .collect();
    let metric = Classification::new(Average::Macro, ZeroDivision::Zero);
    for (name, count) in [
        ("1k_100", 1_000),
        ("30k_100", 30_000),
        ("1M_100", 1_000_000),
    ] {
        let pairs = &pairs[..count];
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut state = ConfusionMatrix::default();
                for (prediction, reference) in black_box(pairs) {
                    metric.update(&mut state, prediction, reference);
                }
                assert_eq!(state.accuracy().value(), Some(0.75));
                for &average in Average::ALL {
                    let scores = state.precision_recall_f1(average, ZeroDivision::Zero);
                    assert!(scores.f1.is_some_and(|f1| (0.6..0.9).contains(&f1)));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, accuracy_at_5, top_5_from_scores, classification);
criterion_main!(benches);
