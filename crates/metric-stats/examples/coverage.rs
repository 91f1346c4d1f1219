//! Coverage of intervals and size of paired tests, by simulation: `cargo xtask coverage`.
//!
//! Data sets are drawn from populations whose true scores are known. Each line of the output is a share of
//! data sets: whose interval holds the true score, or whose p-value is at most 0.05. A second list has methods
//! that are wrong and must be found wrong.

#![allow(clippy::print_stdout, reason = "a program that prints its findings")]

use std::f64::consts::TAU;
use std::process::ExitCode;

use metric_stats::{
    Method, Swaps, TOLERANCE, Weights, estimate, expanded_tail, order_interval, proportion,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// The seed of all data sets, which is not changed to make a line pass.
const SEED: u64 = 0;
const CONFIDENCE: f64 = 0.95;

/// Random variables.
struct Random(StdRng);

impl Random {
    fn new(row: u64, set: u64) -> Self {
        Self(StdRng::seed_from_u64(SEED ^ (row << 40) ^ set))
    }

    fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }

    /// Marsaglia and Tsang, *A simple method for generating gamma variables* (2000).
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let power = (1.0 - self.uniform()).powf(1.0 / shape);
            return self.gamma(shape + 1.0) * power;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            let u = 1.0 - self.uniform();
            if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    fn beta(&mut self, a: f64, b: f64) -> f64 {
        let (x, y) = (self.gamma(a), self.gamma(b));
        x / (x + y)
    }

    fn poisson(&mut self, mean: f64) -> u64 {
        // Sums of Poisson variables are Poisson.
        if mean > 30.0 {
            return self.poisson(mean / 2.0) + self.poisson(mean / 2.0);
        }
        let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0);
        while product > limit {
            product *= self.uniform();
            count += 1;
        }
        count
    }

    fn binomial(&mut self, trials: u64, probability: f64) -> u64 {
        (0..trials).filter(|_| self.uniform() < probability).count() as u64
    }

    /// Failures before `successes` successes.
    fn negative_binomial(&mut self, successes: f64, probability: f64) -> u64 {
        let mean = self.gamma(successes) * (1.0 - probability) / probability;
        self.poisson(mean)
    }
}

/// The columns of one example, or of one cluster: sums of them are what a score is read from.
type Columns = Vec<f64>;
/// Draws the columns of one example.
type Draw = fn(&mut Random) -> Columns;
/// Reads a score from sums of columns.
type Score = fn(&[f64]) -> f64;

struct Population {
    name: &'static str,
    draw: Draw,
    score: Score,
    /// The true score, where arithmetic has it.
    truth: Option<f64>,
}

fn ratio(sums: &[f64]) -> f64 {
    sums[0] / sums[1]
}

fn correct(random: &mut Random, probability: f64) -> Columns {
    vec![f64::from(u8::from(random.uniform() < probability)), 1.0]
}

const POPULATIONS: [Population; 7] = [
    Population {
        name: "p .5",
        draw: |random| correct(random, 0.5),
        score: ratio,
        truth: Some(0.5),
    },
    Population {
        name: "p .9",
        draw: |random| correct(random, 0.9),
        score: ratio,
        truth: Some(0.9),
    },
    Population {
        name: "p .98",
        draw: |random| correct(random, 0.98),
        score: ratio,
        truth: Some(0.98),
    },
    Population {
        name: "F1",
        draw: |random| {
            let truths = 1 + random.poisson(2.0);
            let easy = random.beta(6.0, 2.0);
            let hits = random.binomial(truths, easy);
            let wrong = random.poisson(0.5 * truths as f64 * (1.0 - easy));
            vec![hits as f64, wrong as f64, (truths - hits) as f64]
        },
        score: |sums| 2.0 * sums[0] / (2.0 * sums[0] + sums[1] + sums[2]),
        truth: None,
    },
    Population {
        name: "WER",
        draw: |random| {
            let words = 1 + random.negative_binomial(2.0, 2.0 / 16.0);
            let rate = random.beta(0.6, 5.4);
            let errors = random.binomial(words, rate) + random.poisson(words as f64 * rate * 0.2);
            vec![errors as f64, words as f64]
        },
        score: ratio,
        truth: None,
    },
    Population {
        name: "CodeBLEU",
        draw: |random| {
            let reference = 20 + random.negative_binomial(2.0, 2.0 / 60.0);
            let length = (reference as f64 * (0.2 * random.normal() - 0.03).exp()).round();
            let hypothesis = (length as u64).max(4);
            let quality = random.beta(5.0, 3.0);
            let mut columns = vec![hypothesis as f64, reference as f64];
            let mut matches = |total: u64, share: f64| {
                columns.extend([random.binomial(total, share) as f64, total as f64]);
            };
            for order in 0..4 {
                let share = quality.powf(1.0 + 0.6 * order as f64);
                matches((hypothesis - order).max(1), share);
            }
            let nodes = 5 + random.poisson(reference as f64 / 2.0);
            let flow = random.poisson(reference as f64 / 8.0);
            for (total, share) in [(nodes, quality.sqrt()), (flow, quality)] {
                columns.extend([random.binomial(total, share) as f64, total as f64]);
            }
            columns
        },
        score: |sums| {
            let brevity = (1.0 - sums[1] / sums[0]).exp().min(1.0);
            let orders = (0..4).map(|order| (sums[2 + 2 * order] / sums[3 + 2 * order]).ln());
            let ngrams = (orders.sum::<f64>() / 4.0).exp();
            (2.0 * brevity * ngrams + sums[10] / sums[11] + sums[12] / sums[13]) / 4.0
        },
        truth: None,
    },
    Population {
        name: "mean",
        draw: |random| {
            let kind = random.uniform();
            let score = match kind {
                kind if kind < 0.6 => 1.0,
                kind if kind < 0.85 => 0.0,
                _ => random.uniform(),
            };
            vec![score, 1.0]
        },
        score: ratio,
        truth: None,
    },
];

fn add(sums: &mut Columns, columns: &[f64], times: f64) {
    sums.resize(columns.len(), 0.0);
    sums.iter_mut()
        .zip(columns)
        .for_each(|(sum, column)| *sum += column * times);
}

/// The true score of a population, from many examples where there is no other way.
fn truth(population: &Population) -> f64 {
    const PARTS: u64 = 40;
    const SIZE: u64 = 100_000;
    let part = |part: u64| {
        let mut random = Random::new(u64::MAX >> 41, part);
        let mut sums = Columns::new();
        (0..SIZE).for_each(|_| add(&mut sums, &(population.draw)(&mut random), 1.0));
        sums
    };
    let both = |mut a: Columns, b: Columns| {
        add(&mut a, &b, 1.0);
        a
    };
    let sums = || {
        (0..PARTS)
            .into_par_iter()
            .map(part)
            .reduce(Columns::new, both)
    };
    population
        .truth
        .unwrap_or_else(|| (population.score)(&sums()))
}

/// The replicates of a data set of clusters. The keys are their positions.
fn replicates(clusters: &[Columns], score: Score, seed: u64, resamples: u64) -> Vec<Option<f64>> {
    let weights = (0..clusters.len()).map(|key| Weights::new(seed, &key.to_string()));
    let weights: Vec<Weights> = weights.collect();
    let replicate = |replicate: u64| {
        let mut sums = vec![0.0; clusters.first().map_or(0, Vec::len)];
        for (weights, columns) in weights.iter().zip(clusters) {
            let weight = weights.of(replicate) as f64;
            sums.iter_mut()
                .zip(columns)
                .for_each(|(sum, column)| *sum += column * weight);
        }
        Some(score(&sums)).filter(|score| !score.is_nan())
    };
    (1..=resamples).map(replicate).collect()
}

fn total(clusters: &[Columns]) -> Columns {
    let mut sums = Columns::new();
    clusters
        .iter()
        .for_each(|columns| add(&mut sums, columns, 1.0));
    sums
}

/// Prints a line, and says whether its share is within these bounds.
fn line(name: &str, hits: usize, sets: usize, expected: Option<(f64, f64)>) -> bool {
    let percent = 100.0 * hits as f64 / sets as f64;
    let is_fine = expected.is_none_or(|(least, most)| (least..=most).contains(&percent));
    let verdict = match (expected, is_fine) {
        (None, _) => String::new(),
        (Some((least, most)), true) => format!("  ok, within [{least:.1}, {most:.1}]"),
        (Some((least, most)), false) => format!("  FAILED, expected [{least:.1}, {most:.1}]"),
    };
    println!("{name:<52} {percent:5.1}%  of {sets}{verdict}");
    is_fine
}

/// How far a share may be from the published one, in points.
const MARGIN: f64 = 1.5;

fn around(percent: f64) -> Option<(f64, f64)> {
    Some((percent - MARGIN, percent + MARGIN))
}

/// The published coverage of expanded percentiles by size and resamples, population by population. That of p .9
/// and 20 examples is 87.6 by summing over the numbers of correct examples; the published 89.3 is from 2,000
/// data sets, 2.3 standard errors away.
const EXPANDED: [(usize, u64, [f64; 7]); 3] = [
    (20, 2000, [97.0, 87.6, 31.7, 94.5, 92.0, 95.2, 95.6]),
    (100, 2000, [95.9, 94.0, 86.2, 95.3, 94.2, 94.2, 95.2]),
    (1000, 2000, [95.9, 95.9, 95.2, 94.8, 94.8, 94.7, 95.3]),
];

/// The published coverage of Wilson's interval.
const WILSON: [(usize, [f64; 3]); 3] = [
    (20, [95.9, 95.3, 94.0]),
    (100, [94.2, 94.2, 94.8]),
    (1000, [95.1, 95.6, 94.7]),
];

fn holds(ends: Option<[f64; 2]>, truth: f64) -> bool {
    ends.is_some_and(|[low, high]| low - 1e-12 <= truth && truth <= high + 1e-12)
}

fn coverage(sets: usize, largest: usize) -> bool {
    let mut fine = true;
    let truths: Vec<f64> = POPULATIONS.iter().map(truth).collect();
    for (size, resamples, published) in EXPANDED.into_iter().filter(|row| row.0 <= largest) {
        for (row, ((population, &truth), published)) in
            (1..).zip(POPULATIONS.iter().zip(&truths).zip(published))
        {
            let set = |set: usize| {
                let mut random = Random::new(row * 10_000 + size as u64, set as u64);
                let data: Vec<Columns> =
                    (0..size).map(|_| (population.draw)(&mut random)).collect();
                let score = Some((population.score)(&total(&data)));
                let replicates = replicates(&data, population.score, set as u64, resamples);
                // A sample without spread has no interval, and does not hold the truth.
                let found = estimate(
                    score,
                    &replicates,
                    size as u64,
                    CONFIDENCE,
                    Method::Expanded,
                );
                holds(found.ends, truth)
            };
            let hits = (0..sets).into_par_iter().filter(|&it| set(it)).count();
            let name = format!("{} n {size}, B {resamples}: expanded", population.name);
            fine &= line(&name, hits, sets, around(published));
        }
    }
    for (size, published) in WILSON.into_iter().filter(|row| row.0 <= largest) {
        for (population, published) in POPULATIONS.iter().zip(published) {
            let truth = population.truth.unwrap_or_default();
            let set = |set: usize| {
                let mut random = Random::new(500_000 + size as u64, set as u64);
                let correct = (0..size).filter(|_| (population.draw)(&mut random)[0] > 0.0);
                let found = proportion(
                    correct.count() as u64,
                    size as u64,
                    CONFIDENCE,
                    Method::Wilson,
                );
                holds(found.ends, truth)
            };
            let hits = (0..sets).into_par_iter().filter(|&it| set(it)).count();
            let name = format!("{} n {size}: Wilson", population.name);
            fine &= line(&name, hits, sets, around(published));
        }
    }
    fine
}

/// The published coverage by number of clusters: expanded percentiles, and Wilson with clusters ignored.
const CLUSTERS: [(usize, f64, f64); 4] = [
    (10, 95.9, 66.3),
    (20, 95.5, 67.1),
    (50, 95.0, 63.9),
    (100, 95.3, 68.8),
];

/// Answers in clusters of 4 to 16 with an intra-class correlation of 0.3.
fn clusters(sets: usize) -> bool {
    let (truth, correlation) = (0.7, 0.3);
    let shape = (1.0 - correlation) / correlation;
    let mut fine = true;
    for (count, expanded, ignored) in CLUSTERS {
        let set = |set: usize| {
            let mut random = Random::new(600_000 + count as u64, set as u64);
            let mut cluster = || {
                let size = 4 + (random.uniform() * 13.0) as u64;
                let share = random.beta(truth * shape, (1.0 - truth) * shape);
                vec![random.binomial(size, share) as f64, size as f64]
            };
            let data: Vec<Columns> = (0..count).map(|_| cluster()).collect();
            let sums = total(&data);
            let replicates = replicates(&data, ratio, set as u64, 2000);
            let found = estimate(
                Some(ratio(&sums)),
                &replicates,
                count as u64,
                CONFIDENCE,
                Method::Expanded,
            );
            let wilson = proportion(sums[0] as u64, sums[1] as u64, CONFIDENCE, Method::Wilson);
            [holds(found.ends, truth), holds(wilson.ends, truth)]
        };
        let found: Vec<[bool; 2]> = (0..sets).into_par_iter().map(set).collect();
        let hits = |method: usize| found.iter().filter(|it| it[method]).count();
        fine &= line(
            &format!("{count} clusters: expanded"),
            hits(0),
            sets,
            around(expanded),
        );
        // What ignores clusters must be found wrong.
        let wrong = Some((0.0, ignored + 5.0));
        fine &= line(
            &format!("{count} clusters: Wilson, clusters ignored"),
            hits(1),
            sets,
            wrong,
        );
    }
    fine
}

/// Average precision of one class, at 101 recalls: scores, hits and scenes of detections by falling score.
struct Detections {
    rows: Vec<(usize, bool)>,
    /// By scene.
    truths: Vec<f64>,
}

impl Detections {
    fn draw(random: &mut Random, scenes: usize) -> Self {
        let (mut rows, mut truths) = (Vec::new(), Vec::new());
        for scene in 0..scenes {
            let quality = 0.7 * random.normal();
            let positives = random.poisson(4.0);
            let found = random.binomial(positives, 1.0 / (1.0 + (-(1.2 + quality)).exp()));
            let wrong = random.poisson(2.5 * (-0.4 * quality).exp());
            for index in 0..found + wrong {
                let is_hit = index < found;
                let mean = if is_hit { 1.0 } else { -0.2 };
                rows.push((random.normal() + mean + 0.3 * quality, scene, is_hit));
            }
            truths.push(positives as f64);
        }
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let rows = rows
            .into_iter()
            .map(|(_, scene, is_hit)| (scene, is_hit))
            .collect();
        Self { rows, truths }
    }

    fn average_precision(&self, weight: impl Fn(usize) -> f64) -> f64 {
        let positives: f64 = self
            .truths
            .iter()
            .enumerate()
            .map(|(scene, it)| weight(scene) * it)
            .sum();
        let (mut hits, mut all) = (0.0, 0.0);
        let mut curve = Vec::with_capacity(self.rows.len());
        for &(scene, is_hit) in &self.rows {
            let weight = weight(scene);
            all += weight;
            hits += if is_hit { weight } else { 0.0 };
            curve.push((hits / positives, if all > 0.0 { hits / all } else { 0.0 }));
        }
        let mut greatest = 0.0_f64;
        for (_, precision) in curve.iter_mut().rev() {
            greatest = greatest.max(*precision);
            *precision = greatest;
        }
        let at = |recall: f64| {
            let place = curve.partition_point(|point| point.0 < recall);
            curve.get(place).map_or(0.0, |point| point.1)
        };
        (0..=100)
            .map(|step| at(f64::from(step) / 100.0))
            .sum::<f64>()
            / 101.0
    }
}

fn average_precision(sets: usize) -> bool {
    let truths = (0..10_u64).into_par_iter().map(|part| {
        let detections = Detections::draw(&mut Random::new(700_000, part), 40_000);
        detections.average_precision(|_| 1.0)
    });
    let truth = truths.sum::<f64>() / 10.0;
    let mut fine = true;
    for (scenes, expanded, distinct) in [(20, 95.3, 85.1), (100, 94.2, 85.0)] {
        let set = |set: usize| {
            let mut random = Random::new(700_000 + scenes as u64, set as u64);
            let detections = Detections::draw(&mut random, scenes);
            let score = detections.average_precision(|_| 1.0);
            let weights = (0..scenes).map(|key| Weights::new(set as u64, &key.to_string()));
            let weights: Vec<Weights> = weights.collect();
            let replicate = |b| Some(detections.average_precision(|it| weights[it].of(b) as f64));
            let replicates: Vec<_> = (1..=1000).map(replicate).collect();
            let found = estimate(
                Some(score),
                &replicates,
                scenes as u64,
                CONFIDENCE,
                Method::Expanded,
            );
            // The distinct images of each draw of n of n, without their repetitions.
            let mut without_repetitions = || {
                let mut drawn = vec![0.0; scenes];
                (0..scenes).for_each(|_| drawn[(random.uniform() * scenes as f64) as usize] = 1.0);
                detections.average_precision(|it| drawn[it])
            };
            let mut distinct: Vec<f64> = (0..1000).map(|_| without_repetitions()).collect();
            distinct.sort_unstable_by(f64::total_cmp);
            let ends = order_interval(&distinct, (1.0 - CONFIDENCE) / 2.0);
            [holds(found.ends, truth), holds(ends, truth)]
        };
        let found: Vec<[bool; 2]> = (0..sets).into_par_iter().map(set).collect();
        let hits = |method: usize| found.iter().filter(|it| it[method]).count();
        // The published rows have fewer data sets.
        let near = Some((expanded - 2.0, expanded + 2.0));
        fine &= line(
            &format!("AP of {scenes} scenes: expanded"),
            hits(0),
            sets,
            near,
        );
        let wrong = Some((0.0, distinct + 3.0));
        fine &= line(
            &format!("AP of {scenes} scenes: distinct images only"),
            hits(1),
            sets,
            wrong,
        );
    }
    fine
}

/// The greatest share of rejections of a true null hypothesis, in percent.
const MOST_REJECTED: f64 = 5.7;

fn paired(sets: usize) -> bool {
    const TRIALS: u64 = 2000;
    let level = 1.0 - CONFIDENCE + 1e-12;
    let mut fine = true;
    for size in [20, 100] {
        for name in ["WER", "accuracy"] {
            let set = |set: usize| {
                let mut random = Random::new(800_000 + size as u64 + name.len() as u64, set as u64);
                let pair = |random: &mut Random| match name {
                    "WER" => {
                        let words = 1 + random.negative_binomial(2.0, 2.0 / 16.0);
                        let rate = random.beta(0.6, 5.4);
                        let [a, b] = [(); 2].map(|()| random.binomial(words, rate) as f64);
                        [[a, words as f64], [b, words as f64]]
                    }
                    _ => {
                        let level = if random.uniform() < 0.7 { 0.95 } else { 0.3 };
                        let [a, b] =
                            [(); 2].map(|()| f64::from(u8::from(random.uniform() < level)));
                        [[a, 1.0], [b, 1.0]]
                    }
                };
                let data: Vec<[[f64; 2]; 2]> = (0..size).map(|_| pair(&mut random)).collect();
                let sum = |side: usize| {
                    let sums = data
                        .iter()
                        .fold([0.0, 0.0], |[a, b], it| [a + it[side][0], b + it[side][1]]);
                    sums[0] / sums[1]
                };
                let delta = sum(1) - sum(0);
                let swaps = (0..size).map(|key| Swaps::new(set as u64, &key.to_string()));
                let swaps: Vec<Swaps> = swaps.collect();
                let is_extreme = |trial: &u64| {
                    let mut sums = [[0.0; 2]; 2];
                    for (swaps, pair) in swaps.iter().zip(&data) {
                        let first = usize::from(swaps.of(*trial));
                        for (side, sums) in sums.iter_mut().enumerate() {
                            let columns = pair[first ^ side];
                            sums[0] += columns[0];
                            sums[1] += columns[1];
                        }
                    }
                    let [a, b] = sums.map(|[a, b]| a / b);
                    (b - a).abs() >= delta.abs() - TOLERANCE
                };
                let extreme = (1..=TRIALS).filter(is_extreme).count() as f64;
                let randomization = (1.0 + extreme) / (TRIALS as f64 + 1.0);

                // sacreBLEU's formula for --paired bs, with these weights.
                let side = |side: usize| -> Vec<Columns> {
                    data.iter().map(|it| it[side].to_vec()).collect()
                };
                let [a, b] = [0, 1].map(|it| replicates(&side(it), ratio, set as u64, TRIALS));
                let differences: Vec<f64> = a
                    .into_iter()
                    .zip(b)
                    .filter_map(|(a, b)| Some((b? - a?).abs()))
                    .collect();
                let mean = differences.iter().sum::<f64>() / differences.len() as f64;
                let beyond = differences
                    .iter()
                    .filter(|it| **it - mean > delta.abs())
                    .count() as f64;
                let bootstrap = (1.0 + beyond) / (TRIALS as f64 + 1.0);
                [randomization <= level, bootstrap <= level]
            };
            let found: Vec<[bool; 2]> = (0..sets).into_par_iter().map(set).collect();
            let hits = |method: usize| found.iter().filter(|it| it[method]).count();
            let safe = Some((0.0, MOST_REJECTED));
            fine &= line(
                &format!("{name} n {size}, equal systems: randomization"),
                hits(0),
                sets,
                safe,
            );
            let wrong = Some((8.0, 100.0));
            let name = format!("{name} n {size}, equal systems: sacreBLEU's paired bs");
            fine &= line(&name, hits(1), sets, wrong);
        }
    }
    fine
}

fn main() -> ExitCode {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let [sets, tests, largest] = [(0, 2000), (1, 10_000), (2, 1000)]
        .map(|(index, default)| numbers.get(index).copied().unwrap_or(default));
    debug_assert!(expanded_tail(CONFIDENCE, 20).is_some());
    let fine = [
        coverage(sets, largest),
        clusters(sets),
        average_precision(sets),
        paired(tests),
    ];
    match fine.iter().all(|&fine| fine) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
