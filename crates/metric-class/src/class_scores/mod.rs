//! Scores of classifiers from the numbers that they give to classes: how well these rank, and how well they are
//! probabilities.

mod curves;
mod definition;
mod reliability;
mod rows;
mod table;

pub use curves::{Curves, PrecisionRecallCurve, RocCurve};
pub use definition::{ClassScores, Convention, MultiClass, ScoreAverage, ScoreValues};
pub use reliability::{BinRule, Norm, Reliability, ReliabilityBin};
pub use rows::ScoreRows;
pub use table::{RowSums, ScoreTable};

/// Returns the area under the ROC curve: the share of pairs of a positive and a negative row in which the positive one
/// has the higher score, where ties count ½. Undefined unless both are there.
///
/// Equals `roc_auc_score` of scikit-learn 1.9. Scores are compared as numbers: −0 equals 0. One sort.
///
/// ```
/// use metric_class::roc_auc;
///
/// // 3 of the 4 pairs are in order.
/// assert_eq!(roc_auc(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]), Some(0.75));
/// assert_eq!(roc_auc(&[0.5, 0.5], &[false, true]), Some(0.5));
/// assert_eq!(roc_auc(&[0.5], &[true]), None);
/// ```
#[must_use]
pub fn roc_auc(scores: &[f64], is_positive: &[bool]) -> Option<f64> {
    binary(scores, is_positive, |values| values.roc_auc)
}

/// Returns the average precision: the mean of the precision at the scores of positive rows, without interpolation.
/// Rows of equal scores count together. Undefined without a positive row.
///
/// Equals `average_precision_score` of scikit-learn 1.9, which has 0 where this is undefined. One sort.
///
/// ```
/// use metric_class::average_precision;
///
/// // Precision 1 at the first positive row, and 2/3 at the second.
/// let value = average_precision(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]);
/// assert_eq!(value, Some((1.0 + 2.0 / 3.0) / 2.0));
/// ```
#[must_use]
pub fn average_precision(scores: &[f64], is_positive: &[bool]) -> Option<f64> {
    binary(scores, is_positive, |values| values.average_precision)
}

/// A score of rows with one score each.
fn binary(
    scores: &[f64],
    is_positive: &[bool],
    score: impl Fn(&ScoreValues) -> Option<f64>,
) -> Option<f64> {
    let mut rows = ScoreRows::default();
    for (value, is_positive) in scores.iter().zip(is_positive) {
        rows.add(&i64::from(*is_positive).into(), &[*value], None);
    }
    let definition = ClassScores {
        allows_decision_values: true,
        ..ClassScores::default()
    };
    let states = [&rows];
    let table = ScoreTable::new(&states, &[0.into(), 1.into()]);
    score(&definition.compute(&table, Some(1), false, None))
}

#[cfg(test)]
mod tests {
    use metric_core::{Key, Merge};
    use proptest::prelude::*;

    use super::*;

    /// The share of pairs in order, by comparing all of them.
    fn auc_of_pairs(rows: &[(f64, bool)]) -> Option<f64> {
        let (mut halves, mut pairs) = (0_u64, 0_u64);
        for (a, _) in rows.iter().filter(|(_, is_positive)| *is_positive) {
            for (b, _) in rows.iter().filter(|(_, is_positive)| !is_positive) {
                pairs += 1;
                halves += if a > b { 2 } else { u64::from(a == b) };
            }
        }
        (pairs > 0).then(|| halves as f64 / (2 * pairs) as f64)
    }

    fn state(rows: &[(f64, i64, f64)], has_weights: bool, is_single: bool) -> ScoreRows {
        let mut state = ScoreRows::default();
        for (score, label, weight) in rows {
            let weight = has_weights.then_some(*weight);
            if is_single {
                state.add(&Key::from(*label), &[*score as f32], weight);
            } else {
                state.add(&Key::from(*label), &[*score], weight);
            }
        }
        state
    }

    fn values(states: &[&ScoreRows], weights: Option<&[u64]>) -> ScoreValues {
        let table = ScoreTable::new(states, &[0.into(), 1.into()]);
        let table = if weights.is_some() {
            table.sort()
        } else {
            table
        };
        ClassScores::default().compute(&table, Some(1), false, weights)
    }

    #[test]
    fn zeros_tie_and_neighbors_do_not() {
        assert_eq!(roc_auc(&[-0.0, 0.0], &[true, false]), Some(0.5));
        let next = 0.5_f64.next_up();
        assert_eq!(roc_auc(&[next, 0.5], &[true, false]), Some(1.0));
        assert_eq!(roc_auc(&[-1.0, 1.0], &[true, false]), Some(0.0));
        assert_eq!(average_precision(&[0.5], &[false]), None);
        assert_eq!(average_precision(&[0.5], &[true]), Some(1.0));
        assert_eq!(roc_auc(&[], &[]), None);
    }

    #[test]
    fn many_rows_are_in_order() {
        // Positive rows alternate with negative ones: of each pair of neighbors, the positive one is higher.
        let count = 10_000_u32;
        let scores = (0..count).map(|index| f64::from(index) - 5_000.0);
        let rows: Vec<(f64, bool)> = scores
            .zip(0..count)
            .map(|(score, index)| (score, index % 2 == 1))
            .collect();
        let (scores, labels): (Vec<f64>, Vec<bool>) = rows.into_iter().rev().unzip();
        let half = f64::from(count) / 2.0;
        assert_eq!(roc_auc(&scores, &labels), Some((half + 1.0) / 2.0 / half));
    }

    #[test]
    fn losses_by_hand() {
        let rows = [(0.5, 1, 3.0), (1.0, 0, 1.0)];
        let plain = values(&[&state(&rows, false, false)], None);
        // Certain and wrong: 52 halvings.
        let most = 52.0 * std::f64::consts::LN_2;
        assert!((plain.log_loss.unwrap() - (most + 2_f64.ln()) / 2.0).abs() < 1e-12);
        assert_eq!(plain.brier, Some(1.25 / 2.0));
        let weighted = values(&[&state(&rows, true, false)], None);
        assert_eq!(weighted.brier, Some((3.0 * 0.25 + 1.0) / 4.0));
        assert_eq!(weighted.totals, [1.0, 3.0]);
    }

    #[test]
    fn pairs_of_three_classes() {
        let mut rows = ScoreRows::default();
        for (label, scores) in [
            (0, [0.8, 0.1, 0.1]),
            (1, [0.1, 0.6, 0.3]),
            (2, [0.2, 0.5, 0.3]),
        ] {
            rows.add(&Key::from(label), &scores, None);
        }
        let states = [&rows];
        let table = ScoreTable::new(&states, &[0.into(), 1.into(), 2.into()]);
        let ovo = ClassScores {
            multi_class: MultiClass::Ovo,
            ..ClassScores::default()
        };
        let values = ovo.compute(&table, None, false, None);
        // Pairs 0 and 1, and 0 and 2, are in order in both columns; 1 and 2 are in order in one and tie in the other.
        assert_eq!(values.roc_auc, Some((1.0 + 1.0 + 0.75) / 3.0));
        let ovr = ClassScores::default().compute(&table, None, false, None);
        assert_eq!(ovr.roc_auc, Some((1.0 + 1.0 + 0.75) / 3.0));
        assert_eq!(ovr.brier, Some((0.06 + 0.26 + 0.78) / 3.0));
    }

    #[test]
    fn rows_of_both_widths_are_wide() {
        let mut mixed = state(&[(0.5, 1, 1.0)], false, true);
        mixed.merge(state(&[(0.1, 0, 1.0)], false, false));
        assert_eq!(mixed, state(&[(0.5, 1, 1.0), (0.1, 0, 1.0)], false, false));
        let bytes = |is_single| {
            metric_core::to_bytes(&state(&[(0.5, 1, 1.0); 100], false, is_single)).len()
        };
        assert!(bytes(true) < 450 && bytes(false) < 850);
    }

    proptest! {
        #[test]
        fn laws_and_replicates(
            rows in proptest::collection::vec(
                ((-3_i8..14).prop_map(|it| f64::from(it).clamp(0.0, 10.0) / 10.0), 0_i64..2, (0_u8..4).prop_map(|it| f64::from(it) / 3.0)),
                1..14,
            ),
            times in proptest::collection::vec(0_u64..4, 14),
            has_weights in any::<bool>(),
            is_single in any::<bool>(),
        ) {
            let states: Vec<ScoreRows> = rows.iter().map(|row| state(&[*row], has_weights, is_single)).collect();
            let whole = crate::laws::check(&states);
            if !has_weights {
                let pairs: Vec<(f64, bool)> = rows.iter().map(|row| {
                    (if is_single { f64::from(row.0 as f32) } else { row.0 }, row.1 == 1)
                }).collect();
                prop_assert_eq!(values(&[&whole], None).roc_auc, auc_of_pairs(&pairs));
                let mut columns = std::collections::BTreeMap::<Key, Vec<f64>>::new();
                for (score, label, _) in &rows {
                    columns.entry(Key::from(*label)).or_default().push(*score);
                }
                prop_assert_eq!(ScoreRows::of_columns(columns), state(&rows, false, false));
            }
            // A replicate is the state of repeated rows.
            let mut repeated = ScoreRows::default();
            for (state, times) in states.iter().zip(&times) {
                repeated.merge_times(state, *times);
            }
            let states: Vec<&ScoreRows> = states.iter().collect();
            let mut replicate = values(&states, Some(&times));
            let expected = values(&[&repeated], None);
            // Weights of 0 are not in a state.
            replicate.rows = expected.rows;
            prop_assert_eq!(replicate, expected);
        }
    }
}
