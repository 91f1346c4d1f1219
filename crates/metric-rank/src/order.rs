/// The precision in which scores are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScorePrecision {
    /// As `f32`, as in trec_eval 9 and pytrec_eval: 1.0 and 1.00000000001 tie.
    #[default]
    Single,
    /// As `f64`, as in trec_eval 10.
    Double,
}

impl ScorePrecision {
    /// Returns the score as it is compared.
    #[must_use]
    pub fn rounded(self, score: f64) -> f64 {
        match self {
            Self::Single => f64::from(score as f32),
            Self::Double => score,
        }
    }
}

/// Sorts the documents of a topic: the highest score first, and equal scores by descending name.
///
/// This is the order of trec_eval, which ignores the rank that a run states. Names are compared by their bytes. Scores
/// should not be NaN, and 0.0 equals -0.0.
///
/// # Cost
///
/// One sort.
///
/// ```
/// use metric_rank::{ScorePrecision, rank};
///
/// let mut run = [("a", 1.0), ("b", 1.000_000_000_01), ("c", 0.5), ("d", 2.0)];
/// rank(&mut run, ScorePrecision::Double);
/// assert_eq!(run.map(|(name, _)| name), ["d", "b", "a", "c"]);
///
/// let mut tie = [("b", 1.000_000_000_01), ("c", 1.0)];
/// rank(&mut tie, ScorePrecision::Single);
/// assert_eq!(tie.map(|(name, _)| name), ["c", "b"]);
/// ```
pub fn rank<N: AsRef<[u8]>>(documents: &mut [(N, f64)], precision: ScorePrecision) {
    // Adding 0.0 makes the zeros equal.
    let compared = |score: f64| precision.rounded(score) + 0.0;
    documents.sort_unstable_by(|(a, score_a), (b, score_b)| {
        let by_score = compared(*score_b).total_cmp(&compared(*score_a));
        by_score.then_with(|| b.as_ref().cmp(a.as_ref()))
    });
}
