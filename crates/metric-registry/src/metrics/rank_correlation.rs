//! Spearman's and Kendall's rank correlations.

use metric_core::Metric;
use metric_number::{
    NamedScores, RankCorrelation, RankCorrelationScore, RankCorrelationState, VERSION,
};
use metric_record::Message;

use crate::metrics::regression::constant;
use crate::shapes::number_pairs::{OfNumberPairs, PairMetric};
use crate::{Demo, Entry, Numbers, Remarks, Scope, ScoreSpec, Shape, Weigher, scorer};

pub(crate) const RANK_CORRELATION: Entry = Entry {
    name: "rank-correlation",
    question: "How well do predicted numbers order the references?",
    programs: "SciPy",
    shapes: &[Shape::NumberPairs.as_is()],
    help: "Spearman's and Kendall's rank correlations of predicted numbers",
    values: ("a number", "a number"),
    known_as: &[(
        &[
            "spearman",
            "spearmanr",
            "kendall",
            "kendall-tau",
            "kendalltau",
            "tau-b",
        ],
        "",
    )],
    demos: &[Demo::new(
        "ratings",
        ["ratings.csv", "predicted-ratings.csv"],
        &["spearman", "kendall"],
    )],
    scores: &[ScoreSpec::higher("spearman"), ScoreSpec::higher("kendall")],
    build: &|options| {
        let reading = OfNumberPairs::new(RankCorrelation, options)?;
        Ok(scorer("rank-correlation", VERSION, reading))
    },
    ..Entry::BASE
};

impl PairMetric for RankCorrelation {
    type State = RankCorrelationState;

    fn add(&self, state: &mut RankCorrelationState, [prediction, reference]: [f64; 2]) {
        state.add(prediction, reference);
    }

    fn numbers(&self, state: &RankCorrelationState, _: Scope<'_>) -> Numbers {
        numbers(state.len() as u64, self.compute(state))
    }

    fn warnings(&self, state: &RankCorrelationState, _: Remarks<'_>) -> Vec<Message> {
        let both = "spearman and kendall";
        let rows = state.len() as u64;
        constant(rows, state.is_constant(), [both, both])
            .into_iter()
            .collect()
    }

    fn weigher<'s>(&'s self, states: &[&'s RankCorrelationState]) -> Weigher<'s> {
        let score = RankCorrelationState::weighted(states);
        Box::new(move |weights, _| {
            let (rows, score) = score(weights);
            numbers(rows, score)
        })
    }
}

fn numbers(rows: u64, score: RankCorrelationScore) -> Numbers {
    Numbers {
        scores: score.named_scores(),
        counts: vec![("total".to_owned(), rows.into())],
        ..Numbers::default()
    }
}
