//! ARC grids.
//!
//! - `grid/cell_accuracy/100k_30x30`: 100,000 pairs of 30 x 30 cells, 180 MB that are read once.
//!   Target 10 ms on one thread; the peer (numpy, batched) takes 47 ms. The limit is memory:
//!   memcmp reaches 14 to 21 GB/s, which is 8.6 to 13 ms. Grids already in the cache take 2.3 ms.
//! - `grid/cell_accuracy/100_30x30` and `10k_30x30`: the same in the cache and a little beyond.
//! - `grid/metric/100k_30x30`: the same pairs through the metric, with the exact mean.
//! - `grid/cell_accuracy/100k_mixed`: 100,000 pairs of different shape.
//! - `grid/submission/400_tasks`: solutions and a submission with two attempts as text, 0.8 MB, read and scored, as
//!   large as the evaluation set of ARC-AGI-1. Target 5 ms, a quarter of the 20 ms that the program has after reading
//!   the files; the peer (Python's json and comparison of lists, as in arc-agi-benchmarking) takes 25 ms.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_core::Metric;
use metric_grid::read::{File, Solutions, Submission, SubmissionOptions};
use metric_grid::{
    ArcGrids, ArcState, ArcSubmissions, Attempt, Grid, SubmissionState, cell_matches,
};
use ndarray::Array2;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The pairs of the large size.
const PAIRS: usize = 100_000;

/// Predictions and references, each side by itself as if read from its own file.
struct Pairs {
    predictions: Vec<Attempt>,
    references: Vec<Grid>,
    matches: u64,
}

/// Pairs of grids of the `shapes` (predicted, true), in which 8 of 10 cells agree.
fn pairs(count: usize, shapes: impl Fn(&mut StdRng) -> [(usize, usize); 2]) -> Pairs {
    let mut rng = StdRng::seed_from_u64(7);
    let shapes: Vec<_> = (0..count).map(|_| shapes(&mut rng)).collect();
    let references: Vec<Array2<u8>> = shapes
        .iter()
        .map(|[_, shape]| Array2::from_shape_simple_fn(*shape, || rng.random_range(0..10)))
        .collect();
    let mut matches = 0;
    let predictions = shapes
        .iter()
        .zip(&references)
        .map(|([shape, _], reference)| {
            let cells = Array2::from_shape_fn(*shape, |index| match reference.get(index) {
                Some(&colour) if rng.random_range(0..10) < 8 => {
                    matches += 1;
                    colour
                }
                Some(&colour) => (colour + 1) % 10,
                None => 0,
            });
            Attempt::Grid(Grid::try_from(cells).expect("a valid grid"))
        })
        .collect();
    let references = references
        .into_iter()
        .map(|cells| Grid::try_from(cells).expect("a valid grid"))
        .collect();
    Pairs {
        predictions,
        references,
        matches,
    }
}

impl Pairs {
    fn by_function(&self) -> u64 {
        let mut matches = 0;
        for (prediction, reference) in self.predictions.iter().zip(&self.references) {
            if let Attempt::Grid(prediction) = prediction {
                matches += cell_matches(prediction, reference).matches;
            }
        }
        matches
    }

    fn by_metric(&self) -> ArcState {
        let mut state = ArcState::default();
        for (prediction, reference) in self.predictions.iter().zip(&self.references) {
            ArcGrids.update(&mut state, prediction, reference);
        }
        state
    }
}

fn grids(c: &mut Criterion) {
    let mut group = c.benchmark_group("grid");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(4));

    for (name, count) in [("100", 100), ("10k", 10_000)] {
        let full = pairs(count, |_| [(30, 30); 2]);
        group.throughput(Throughput::Bytes((count * 1800) as u64));
        group.bench_function(format!("cell_accuracy/{name}_30x30"), |b| {
            b.iter(|| assert_eq!(full.by_function(), full.matches));
        });
    }
    let full = pairs(PAIRS, |_| [(30, 30); 2]);
    group.throughput(Throughput::Bytes((PAIRS * 1800) as u64));
    group.bench_function("cell_accuracy/100k_30x30", |b| {
        b.iter(|| assert_eq!(full.by_function(), full.matches));
    });
    group.bench_function("metric/100k_30x30", |b| {
        b.iter(|| assert_eq!(full.by_metric().matches, full.matches));
    });
    drop(full);

    let mixed = pairs(PAIRS, |rng| {
        let mut side = || rng.random_range(1..=30);
        [(side(), side()), (side(), side())]
    });
    group.throughput(Throughput::Elements(PAIRS as u64));
    group.bench_function("cell_accuracy/100k_mixed", |b| {
        b.iter(|| assert_eq!(mixed.by_function(), mixed.matches));
    });
    group.finish();
}

/// The text of solutions and of a submission in which every third first attempt is right, and the
/// number of those.
fn texts() -> ([String; 2], u64) {
    let mut rng = StdRng::seed_from_u64(7);
    let (mut solutions, mut submission, mut right) = (Vec::new(), Vec::new(), 0);
    for task in 0..400 {
        let (mut outputs, mut entries) = (Vec::new(), Vec::new());
        for _ in 0..1 + u64::from(task % 21 == 0) {
            let (rows, columns) = (rng.random_range(10..23), rng.random_range(10..23));
            let truth: Vec<Vec<u8>> = (0..rows)
                .map(|_| (0..columns).map(|_| rng.random_range(0..10)).collect())
                .collect();
            let mut wrong = truth.clone();
            wrong[3][4] = (wrong[3][4] + 1) % 10;
            let is_right = rng.random_range(0..3) == 0;
            right += u64::from(is_right);
            let [truth, wrong] = [truth, wrong].map(|grid| format!("{grid:?}"));
            let first = if is_right { &truth } else { &wrong };
            entries.push(format!(
                "{{\"attempt_1\": {first}, \"attempt_2\": {wrong}}}"
            ));
            outputs.push(truth);
        }
        solutions.push(format!("\"{task:08x}\": [{}]", outputs.join(", ")));
        submission.push(format!("\"{task:08x}\": [{}]", entries.join(", ")));
    }
    let texts = [solutions, submission].map(|tasks| format!("{{{}}}", tasks.join(", ")));
    (texts, right)
}

fn submissions(c: &mut Criterion) {
    let ([solutions, submission], right) = texts();
    let metric = ArcSubmissions::default();
    let scored = || {
        let file = |name, text| File { name, text };
        let solutions = Solutions::parse(file("solutions", &solutions)).expect("solutions");
        let file = file("submission", submission.as_str());
        let options = SubmissionOptions::default();
        let submission = Submission::parse(file, &solutions, options).expect("a submission");
        let mut state = SubmissionState::default();
        for (task, outputs) in solutions.tasks() {
            metric.update(&mut state, submission.attempts(task), outputs);
        }
        state
    };
    let mut group = c.benchmark_group("grid");
    group.sample_size(20);
    group.throughput(Throughput::Bytes(
        (solutions.len() + submission.len()) as u64,
    ));
    group.bench_function("submission/400_tasks", |b| {
        b.iter(|| assert_eq!(scored().outputs.exact, right));
    });
    group.finish();
}

criterion_group!(benches, grids, submissions);
criterion_main!(benches);
