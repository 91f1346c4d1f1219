//! The mean reciprocal rank.

use std::num::NonZeroUsize;

use metric_class::{Ranks, TopK};

use crate::metrics::accuracy_at_k::ACCURACY_AT_K;
use crate::metrics::ranks::{self, ranked};
use crate::shapes::ranked::RankScore;
use crate::{Demo, Entry, OptionSpec, ScoreSpec, Shape};

pub(crate) const MRR: Entry = Entry {
    name: "mrr",
    class: "MRR",
    question: "How high is the reference in a ranked list?",
    programs: "scikit-learn",
    shapes: &[
        Shape::RankedLabels.as_is(),
        Shape::ClassScores.with(&[("input", "scores")]),
    ],
    tried: &[
        &[("k", "2")],
        &[("ties", "lowest-index")],
        &[
            ("weight-field", "weight"),
            ("ties", "pessimistic"),
            ("ignore-index", "1"),
        ],
    ],
    help: "Mean reciprocal rank of the reference among the predicted labels",
    known_as: &[],
    demos: &[Demo::new(
        "ranked labels",
        ["labels.jsonl", "ranked-labels.jsonl"],
        &[],
    )],
    options: &ranks::options(OptionSpec::integer(
        "k",
        "K",
        1..=i64::MAX,
        "Count only the first K labels",
    )),
    scores: &[ScoreSpec::higher("mrr"), ScoreSpec::higher("mrr@").by("K")],
    build: &|options| {
        let cutoff = options.counting("k", usize::MAX)?;
        let score = RankScore {
            ks: vec![cutoff.map_or(usize::MAX, NonZeroUsize::get)],
            names: |k| {
                let score = match k {
                    usize::MAX => "mrr".to_owned(),
                    k => format!("mrr@{k}"),
                };
                [score, "found".to_owned()]
            },
            of_labels: Ranks::mean_reciprocal_rank,
            of_scores: TopK::mean_reciprocal_rank,
            is_one_of_all: false,
        };
        ranked("mrr", options, score)
    },
    ..ACCURACY_AT_K
};
