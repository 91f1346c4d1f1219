use std::fmt;

use crate::topic::discounted;

/// The reason why nDCG of scores cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RankError {
    /// There are fewer than two documents.
    TooFew(usize),
    /// The lists differ in length.
    LengthMismatch {
        /// The number of relevances.
        relevances: usize,
        /// The number of scores.
        scores: usize,
    },
    /// A relevance is negative, NaN or infinite.
    InvalidRelevance {
        /// The index of the document.
        index: usize,
        /// The relevance.
        value: f64,
    },
    /// A score is NaN or infinite.
    InvalidScore {
        /// The index of the document.
        index: usize,
        /// The score.
        value: f64,
    },
}

impl fmt::Display for RankError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew(documents) => {
                write!(f, "expected at least 2 documents, found {documents}")
            }
            Self::LengthMismatch { relevances, scores } => {
                write!(f, "{relevances} relevances, but {scores} scores")
            }
            Self::InvalidRelevance { index, value } => write!(
                f,
                "expected a finite relevance of at least 0 at index {index}, found {value}"
            ),
            Self::InvalidScore { index, value } => {
                write!(f, "expected a finite score at index {index}, found {value}")
            }
        }
    }
}

impl std::error::Error for RankError {}

/// Returns nDCG of scikit-learn, which averages over the orders of documents with equal scores.
///
/// `relevances` and `scores` have one number per document. Each document of a group of equal scores has the mean gain of
/// the group. With a `cutoff`, later ranks do not count. The result is 0 if all relevances are 0. This is `ndcg_score` of
/// scikit-learn 1.9 with `ignore_ties=False`, after McSherry and Najork (2008), "Computing Information Retrieval
/// Performance Measures Efficiently in the Presence of Tied Scores".
///
/// # Errors
///
/// Returns an error if there are fewer than two documents, if the lists differ in length, if a relevance is negative, or
/// if a number is not finite.
///
/// ```
/// use metric_rank::ndcg_of_scores;
///
/// // The two documents tie, so each has a gain of 1/2 at both ranks.
/// let ndcg = ndcg_of_scores(&[1.0, 0.0], &[0.3, 0.3], None)?;
/// assert_eq!(ndcg, (1.0 + 1.0 / 3_f64.log2()) / 2.0);
/// assert_eq!(ndcg_of_scores(&[0.0, 1.0], &[0.9, 0.1], Some(1))?, 0.0);
/// # Ok::<(), metric_rank::RankError>(())
/// ```
pub fn ndcg_of_scores(
    relevances: &[f64],
    scores: &[f64],
    cutoff: Option<usize>,
) -> Result<f64, RankError> {
    if relevances.len() != scores.len() {
        return Err(RankError::LengthMismatch {
            relevances: relevances.len(),
            scores: scores.len(),
        });
    }
    if scores.len() < 2 {
        return Err(RankError::TooFew(scores.len()));
    }
    for (index, (&relevance, &score)) in relevances.iter().zip(scores).enumerate() {
        if !relevance.is_finite() || relevance < 0.0 {
            let value = relevance;
            return Err(RankError::InvalidRelevance { index, value });
        }
        if !score.is_finite() {
            let value = score;
            return Err(RankError::InvalidScore { index, value });
        }
    }
    // Zero of either sign is one score. Within a tie, gains are in descending order, so that no order of the documents
    // changes the sum.
    let mut ranked: Vec<(f64, f64)> = scores
        .iter()
        .map(|score| score + 0.0)
        .zip(relevances.iter().copied())
        .collect();
    ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let ties = ranked.chunk_by(|a, b| a.0 == b.0);
    let gains = ties.flat_map(|tie| {
        let mean = tie.iter().map(|(_, gain)| gain).sum::<f64>() / tie.len() as f64;
        std::iter::repeat_n(mean, tie.len())
    });
    let cutoff = cutoff.unwrap_or(usize::MAX);
    let dcg = discounted(gains.take(cutoff));
    let mut ideal = relevances.to_vec();
    ideal.sort_unstable_by(|a, b| b.total_cmp(a));
    let ideal = discounted(ideal.into_iter().take(cutoff));
    Ok(if ideal > 0.0 { dcg / ideal } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_document() {
        let error = |relevances: &[f64], scores: &[f64]| {
            let error = ndcg_of_scores(relevances, scores, None).expect_err("an error");
            error.to_string()
        };
        assert_eq!(
            error(&[1.0], &[1.0]),
            "expected at least 2 documents, found 1"
        );
        assert_eq!(error(&[1.0], &[1.0, 2.0]), "1 relevances, but 2 scores");
        assert_eq!(
            error(&[1.0, -1.0], &[1.0, 2.0]),
            "expected a finite relevance of at least 0 at index 1, found -1"
        );
        assert_eq!(
            error(&[1.0, 0.0], &[f64::NAN, 2.0]),
            "expected a finite score at index 0, found NaN"
        );
        assert_eq!(ndcg_of_scores(&[0.0, 0.0], &[1.0, 2.0], None), Ok(0.0));
        assert_eq!(ndcg_of_scores(&[3.0, 3.0], &[0.0, -0.0], None), Ok(1.0));
    }
}
