use metric_core::{Mean, named_choice};

use crate::order::ScorePrecision;
use crate::topic::{Gains, Topic};

/// Whose conventions hold for the order of documents and the gain of ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetrievalProfile {
    /// trec_eval 9.0.8, and with it pytrec_eval, BEIR, MTEB and ir_measures: scores are compared as `f32`, and equal
    /// scores are ordered by descending name.
    #[default]
    TrecEval9,
    /// trec_eval 10: scores are compared as `f64`.
    TrecEval10,
    /// `ndcg_score` of scikit-learn 1.9: every document has a relevance, and ties have their mean gain.
    Sklearn,
}

impl RetrievalProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[Self::TrecEval9, Self::TrecEval10, Self::Sklearn];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TrecEval9 => "trec-eval-9",
            Self::TrecEval10 => "trec-eval-10",
            Self::Sklearn => "sklearn",
        }
    }

    /// Returns the precision in which scores are compared.
    #[must_use]
    pub const fn precision(self) -> ScorePrecision {
        match self {
            Self::TrecEval9 => ScorePrecision::Single,
            Self::TrecEval10 | Self::Sklearn => ScorePrecision::Double,
        }
    }
}

named_choice!(RetrievalProfile, "profile");

/// The measures of retrieval at several cutoffs, and their means over topics.
///
/// | score | measure of a topic |
/// |---|---|
/// | `ndcg`, `ndcg@K` | [`Topic::ndcg`] |
/// | `map`, `map@K` | [`Topic::average_precision`] |
/// | `mrr` | [`Topic::reciprocal_rank`] |
/// | `precision@K`, `recall@K`, `success@K` | [`Topic::precision`], [`Topic::recall`], [`Topic::success`] |
/// | `r_precision`, `bpref`, `inf_ap` | [`Topic::r_precision`], [`Topic::bpref`], [`Topic::inferred_average_precision`] |
/// | `set_precision`, `set_recall`, `set_f1` | [`Topic::set_precision`], [`Topic::set_recall`], [`Topic::set_f1`] |
/// | `judged@K` | [`Topic::judged`], without topics for which it is undefined |
///
/// Every topic has the same weight.
///
/// ```
/// use metric_rank::{Merge, Retrieval, Topic};
///
/// let retrieval = Retrieval::default();
/// let mut state = retrieval.measure(&Topic::new(vec![Some(1)], vec![1], 1));
/// state.merge(retrieval.measure(&Topic::new(vec![None, Some(1)], vec![1], 1)));
/// let scores = retrieval.scores(&state);
/// assert!(scores.contains(&("mrr".to_owned(), Some((1.0 + 0.5) / 2.0))));
/// assert!(scores.contains(&("precision@10".to_owned(), Some(0.1))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retrieval {
    /// The cutoffs, in ascending order.
    pub cutoffs: Vec<usize>,
    /// The gains of nDCG.
    pub gains: Gains,
}

metric_core::setters!(Retrieval {
    with_cutoffs => cutoffs: Vec<usize>,
    with_gains => gains: Gains,
});

impl Default for Retrieval {
    /// A cutoff of 10 and linear gains.
    fn default() -> Self {
        Self {
            cutoffs: vec![10],
            gains: Gains::Linear,
        }
    }
}

impl Retrieval {
    /// Returns the names of the scores, in the order of the means of a state.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.each(None, |name, cutoff, _| {
            names.push(cutoff.map_or_else(|| name.to_owned(), |k| format!("{name}@{k}")));
        });
        names
    }

    /// Returns the state of one topic.
    #[must_use]
    pub fn measure(&self, topic: &Topic) -> RetrievalState {
        let mut means = Vec::new();
        self.each(Some(topic), |_, _, value| {
            means.push(value.into_iter().collect());
        });
        RetrievalState {
            topics: 1,
            answered: 1,
            retrieved: topic.retrieved() as u64,
            relevant: topic.relevant() as u64,
            relevant_retrieved: topic.relevant_retrieved() as u64,
            without_relevant: u64::from(topic.relevant() == 0),
            means,
        }
    }

    /// Returns the scores by name; undefined without topics.
    #[must_use]
    pub fn scores(&self, state: &RetrievalState) -> Vec<(String, Option<f64>)> {
        let means = state.means.iter().map(Mean::value);
        let means = means.chain(std::iter::repeat(None));
        self.names().into_iter().zip(means).collect()
    }

    /// Visits each measure with its cutoff and its value for a topic.
    fn each(
        &self,
        topic: Option<&Topic>,
        mut visit: impl FnMut(&'static str, Option<usize>, Option<f64>),
    ) {
        type Plain = fn(&Topic, Gains) -> f64;
        type AtCutoff = fn(&Topic, usize, Gains) -> Option<f64>;
        /// A row is a measure without cutoff or one with.
        const ROWS: &[(&str, Result<Plain, AtCutoff>)] = &[
            ("ndcg", Ok(|topic, gains| topic.ndcg(None, gains))),
            (
                "ndcg",
                Err(|topic, k, gains| Some(topic.ndcg(Some(k), gains))),
            ),
            ("map", Ok(|topic, _| topic.average_precision(None))),
            (
                "map",
                Err(|topic, k, _| Some(topic.average_precision(Some(k)))),
            ),
            ("mrr", Ok(|topic, _| topic.reciprocal_rank())),
            ("precision", Err(|topic, k, _| Some(topic.precision(k)))),
            ("recall", Err(|topic, k, _| Some(topic.recall(k)))),
            ("success", Err(|topic, k, _| Some(topic.success(k)))),
            ("r_precision", Ok(|topic, _| topic.r_precision())),
            ("bpref", Ok(|topic, _| topic.bpref())),
            ("inf_ap", Ok(|topic, _| topic.inferred_average_precision())),
            ("set_precision", Ok(|topic, _| topic.set_precision())),
            ("set_recall", Ok(|topic, _| topic.set_recall())),
            ("set_f1", Ok(|topic, _| topic.set_f1())),
            ("judged", Err(|topic, k, _| topic.judged(k))),
        ];
        for (name, measure) in ROWS {
            match measure {
                Ok(value) => visit(name, None, topic.map(|topic| value(topic, self.gains))),
                Err(value) => {
                    for &k in &self.cutoffs {
                        visit(
                            name,
                            Some(k),
                            topic.and_then(|topic| value(topic, k, self.gains)),
                        );
                    }
                }
            }
        }
    }
}

/// The state of [`Retrieval`]: counts, and for each score the exact mean over topics.
///
/// It takes about a hundred bytes per score, whatever the number of topics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetrievalState {
    /// The number of topics.
    pub topics: u64,
    /// The number of topics that have results. [`Retrieval::measure`] takes its topic to have some, which may all be left
    /// out.
    pub answered: u64,
    /// The number of ranked documents.
    pub retrieved: u64,
    /// The number of relevant documents.
    pub relevant: u64,
    /// The number of ranked documents that are relevant.
    pub relevant_retrieved: u64,
    /// The number of topics without relevant documents.
    pub without_relevant: u64,
    /// The means of the scores, in the order of [`Retrieval::names`].
    pub means: Vec<Mean>,
}

metric_core::fields!(RetrievalState {
    topics,
    answered,
    retrieved,
    relevant,
    relevant_retrieved,
    without_relevant,
    means
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::laws;

    fn topic() -> impl Strategy<Value = Topic> {
        let relevance = || -1_i64..4;
        let ranked = proptest::collection::vec(proptest::option::of(relevance()), 0..12);
        (ranked, proptest::collection::vec(relevance(), 0..4)).prop_map(|(ranked, others)| {
            let judged = ranked.iter().flatten().copied().chain(others).collect();
            Topic::new(ranked, judged, 1)
        })
    }

    proptest! {
        #[test]
        fn states_merge_in_any_order(topics in proptest::collection::vec(topic(), 0..8)) {
            let retrieval = Retrieval::default().with_cutoffs(vec![1, 5]);
            let states: Vec<RetrievalState> = topics.iter().map(|topic| retrieval.measure(topic)).collect();
            let whole = laws::check(&states);
            prop_assert_eq!(whole.topics, topics.len() as u64);
            for (name, score) in retrieval.scores(&whole) {
                prop_assert!(score.is_none_or(|score| (0.0..=1.0 + 1e-12).contains(&score)), "{} {:?}", name, score);
            }
        }
    }
}
