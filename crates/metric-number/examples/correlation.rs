//! How well predicted ratings follow ratings by people.
//!
//! `cargo run -p metric-number --example correlation`

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use metric_number::{Metric, NamedScores, RankCorrelation, Regression};

fn main() {
    let predictions = [0.9, 0.4, 0.8, 0.1, 0.6];
    let references = [5.0, 2.0, 4.0, 1.0, 4.0];
    let pairs = || predictions.iter().zip(&references);
    let mut scores = Regression::default().score_all(pairs()).named_scores();
    scores.extend(RankCorrelation.score_all(pairs()).named_scores());
    for (name, score) in scores {
        println!("{name}: {score:?}");
    }
}
