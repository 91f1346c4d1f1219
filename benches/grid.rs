//! ARC grids.
//!
//! - `grid/cell_accuracy/100k_30x30`: 100,000 pairs of 30 x 30 cells, 180 MB that are read once.
//!   Target 10 ms on one thread; the peer (numpy, batched) takes 47 ms. The limit is memory:
//!   memcmp reaches 14 to 21 GB/s, which is 8.6 to 13 ms. Grids already in the cache take 2.3 ms.
//! - `grid/cell_accuracy/100_30x30` and `10k_30x30`: the same in the cache and a little beyond.
//! - `grid/metric/100k_30x30`: the same pairs through the metric, with the exact mean.
//! - `grid/cell_accuracy/100k_mixed`: 100,000 pairs of different shape.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_core::Metric;
use metric_grid::{ArcGrids, ArcState, Attempt, Grid, cell_matches};
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
            let cells = Array2::from_shape_fn(*shape, |place| match reference.get(place) {
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

criterion_group!(benches, grids);
criterion_main!(benches);
