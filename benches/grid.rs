//! ARC grids.
//!
//! - `grid/cell_accuracy/100k_30x30`: 100,000 pairs of 30 x 30 cells, 180 MB that are read once.
//!   Target 10 ms on one thread; the peer (numpy, batched) takes 47 ms. The limit is memory:
//!   memcmp reaches 14 to 21 GB/s here, which is 8.6 to 13 ms.
//! - `grid/metric/100k_30x30`: the same pairs through the metric, with the exact mean.
//! - `grid/cell_accuracy/100k_mixed`: 100,000 pairs of different shape.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_core::Metric;
use metric_grid::{ArcGrids, ArcState, Attempt, CellMatches, Grid, cell_matches};
use ndarray::Array2;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const PAIRS: usize = 100_000;

/// Pairs of grids of `shapes`, and how many cells agree.
fn pairs(
    mut shapes: impl FnMut(&mut StdRng) -> [(usize, usize); 2],
) -> (Vec<(Attempt, Grid)>, u64) {
    let mut rng = StdRng::seed_from_u64(7);
    let mut matches = 0;
    let pairs = (0..PAIRS)
        .map(|_| {
            let [predicted, actual] = shapes(&mut rng);
            let reference = Array2::from_shape_simple_fn(actual, || rng.random_range(0..10_u8));
            let prediction = Array2::from_shape_fn(predicted, |place| {
                match reference.get(place) {
                    Some(&colour) if rng.random_bool(0.8) => {
                        matches += 1;
                        colour
                    }
                    // Another colour than the true one.
                    Some(&colour) => (colour + 1) % 10,
                    None => 0,
                }
            });
            let grid = |cells| Grid::try_from(cells).expect("a valid grid");
            (Attempt::Grid(grid(prediction)), grid(reference))
        })
        .collect();
    (pairs, matches)
}

fn total(pairs: &[(Attempt, Grid)]) -> u64 {
    pairs
        .iter()
        .map(|(prediction, reference)| match prediction {
            Attempt::Grid(grid) => cell_matches(grid, reference),
            Attempt::Missing | Attempt::Invalid => CellMatches {
                matches: 0,
                padded_cells: 0,
            },
        })
        .map(|found| found.matches)
        .sum()
}

fn grids(c: &mut Criterion) {
    let mut group = c.benchmark_group("grid");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));

    let (full, matches) = pairs(|_| [(30, 30); 2]);
    group.throughput(Throughput::Bytes((PAIRS * 1800) as u64));
    group.bench_function("cell_accuracy/100k_30x30", |b| {
        b.iter(|| assert_eq!(total(&full), matches));
    });
    group.bench_function("metric/100k_30x30", |b| {
        b.iter(|| {
            let mut state = ArcState::default();
            for (prediction, reference) in &full {
                ArcGrids.update(&mut state, prediction, reference);
            }
            assert_eq!(state.matches, matches);
        });
    });
    group.bench_function("exp/one_pair", |b| {
        let (a, r) = &full[0];
        let Attempt::Grid(a) = a else { return };
        b.iter(|| {
            (0..PAIRS)
                .map(|_| cell_matches(std::hint::black_box(a), std::hint::black_box(r)).matches)
                .sum::<u64>()
        });
    });
    group.bench_function("exp/memcmp_same_layout", |b| {
        let equal: Vec<(Grid, Grid)> = full.iter().map(|(_, r)| (r.clone(), r.clone())).collect();
        b.iter(|| {
            equal
                .iter()
                .filter(|(a, b)| a.as_array().as_slice() == b.as_array().as_slice())
                .count()
        });
    });
    group.bench_function("exp/memcmp_flat", |b| {
        let a = vec![1_u8; 90_000_000];
        let r = vec![1_u8; 90_000_000];
        b.iter(|| a == r);
    });
    drop(full);

    let (mixed, matches) = pairs(|rng| {
        let mut side = || rng.random_range(1..=30);
        [(side(), side()), (side(), side())]
    });
    group.throughput(Throughput::Elements(PAIRS as u64));
    group.bench_function("cell_accuracy/100k_mixed", |b| {
        b.iter(|| assert_eq!(total(&mixed), matches));
    });
    group.finish();
}

criterion_group!(benches, grids);
criterion_main!(benches);
