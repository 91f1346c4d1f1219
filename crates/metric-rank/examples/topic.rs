//! The measures of one topic, from scores and judgments.
//!
//! `cargo run -p metric-rank --example topic`

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use metric_rank::{ScorePrecision, TREC_MEASURES, Topic, rank};

fn main() {
    let judgments = [("d1", 2), ("d2", 0), ("d3", 1)];
    let mut run = [("d1", 7.5), ("d2", 9.0), ("d4", 7.5)];
    rank(&mut run, ScorePrecision::Single);
    let relevance = |name: &str| {
        let found = judgments.iter().find(|(judged, _)| *judged == name);
        found.map(|(_, relevance)| *relevance)
    };
    let ranked = run.iter().map(|(name, _)| relevance(name)).collect();
    let judged = judgments.iter().map(|(_, relevance)| *relevance).collect();
    let topic = Topic::new(ranked, judged, 1);
    for measure in TREC_MEASURES {
        for (name, value) in measure.values(&topic, None) {
            println!("{name}: {value:.4}");
        }
    }
}
