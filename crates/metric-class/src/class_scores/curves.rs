use super::table::{Amounts, Cell, ties};

/// The points of a binary classifier at each threshold: the amounts of positive and of negative rows whose score is at
/// least the threshold. Thresholds fall.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Amounts of true positives.
    pub true_positives: Vec<f64>,
    /// Amounts of false positives.
    pub false_positives: Vec<f64>,
    /// The distinct scores.
    pub thresholds: Vec<f64>,
}

/// A receiver operating characteristic: the points of `roc_curve` of scikit-learn 1.9.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RocCurve {
    /// The share of negative rows at or above the threshold; undefined without negative rows.
    pub false_positive_rate: Vec<Option<f64>>,
    /// The share of positive rows at or above the threshold; undefined without positive rows.
    pub true_positive_rate: Vec<Option<f64>>,
    /// The thresholds; the first is infinite, and `None`.
    pub thresholds: Vec<Option<f64>>,
}

/// Precision and recall by rising threshold: the points of `precision_recall_curve` of scikit-learn 1.9.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrecisionRecallCurve {
    /// Precision at each threshold, then 1.
    pub precision: Vec<f64>,
    /// Recall at each threshold, then 0; 1 at all thresholds without positive rows.
    pub recall: Vec<f64>,
    /// The thresholds: one fewer than points.
    pub thresholds: Vec<f64>,
}

impl Curves {
    pub(super) fn new<A: Amounts>(
        cells: &[Cell],
        is_positive: impl Fn(u32) -> bool,
        amounts: &A,
    ) -> Self {
        let mut curves = Self::default();
        let [mut positive, mut negative] = [A::Total::default(), A::Total::default()];
        for tie in ties(cells) {
            for cell in tie {
                let total = if is_positive(cell.class) {
                    &mut positive
                } else {
                    &mut negative
                };
                amounts.add(total, cell.row);
            }
            curves.true_positives.push(A::value(&positive));
            curves.false_positives.push(A::value(&negative));
            curves
                .thresholds
                .extend(tie.first().map(|cell| cell.score()));
        }
        curves
    }

    /// Returns the ROC curve. Points on a straight line between their neighbors are left out, as scikit-learn does by
    /// default.
    #[must_use]
    pub fn roc(&self) -> RocCurve {
        let (tp, fp) = (&self.true_positives, &self.false_positives);
        let count = tp.len();
        let is_corner = |index: usize| {
            let bends = |of: &[f64]| of[index + 1] - 2.0 * of[index] + of[index - 1] != 0.0;
            count <= 2 || index == 0 || index + 1 == count || bends(fp) || bends(tp)
        };
        let share = |part: f64, whole: &[f64]| {
            let whole = whole.last().copied().unwrap_or_default();
            (whole > 0.0).then(|| part / whole)
        };
        let mut roc = RocCurve {
            false_positive_rate: vec![share(0.0, fp)],
            true_positive_rate: vec![share(0.0, tp)],
            thresholds: vec![None],
        };
        for index in (0..count).filter(|index| is_corner(*index)) {
            roc.false_positive_rate.push(share(fp[index], fp));
            roc.true_positive_rate.push(share(tp[index], tp));
            roc.thresholds.push(Some(self.thresholds[index]));
        }
        roc
    }

    /// Returns precision and recall at all thresholds.
    #[must_use]
    pub fn precision_recall(&self) -> PrecisionRecallCurve {
        let all = self.true_positives.last().copied().unwrap_or_default();
        let points = self.true_positives.iter().zip(&self.false_positives);
        let points =
            points.map(|(tp, fp)| (tp / (tp + fp), if all > 0.0 { tp / all } else { 1.0 }));
        let (mut precision, mut recall): (Vec<f64>, Vec<f64>) = points.rev().unzip();
        precision.push(1.0);
        recall.push(0.0);
        PrecisionRecallCurve {
            precision,
            recall,
            thresholds: self.thresholds.iter().rev().copied().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use metric_core::Key;

    use super::*;
    use crate::{ScoreRows, ScoreTable};

    fn curves(rows: &[(f64, i64)]) -> Curves {
        let mut state = ScoreRows::default();
        for (score, label) in rows {
            state.add(&Key::from(*label), &[*score], None);
        }
        let states = [&state];
        ScoreTable::new(&states, &[0.into(), 1.into()]).curves(0, 1)
    }

    #[test]
    fn by_hand() {
        // Both positive rows come first: the points (0, ½), (0, 1), (½, 1), (1, 1), of which two are on lines.
        let curves = curves(&[(0.9, 1), (0.8, 1), (0.3, 0), (0.1, 0)]);
        let roc = curves.roc();
        assert_eq!(roc.false_positive_rate, [0.0, 0.0, 0.0, 1.0].map(Some));
        assert_eq!(roc.true_positive_rate, [0.0, 0.5, 1.0, 1.0].map(Some));
        assert_eq!(roc.thresholds, [None, Some(0.9), Some(0.8), Some(0.1)]);
        let curve = curves.precision_recall();
        assert_eq!(curve.precision, [0.5, 2.0 / 3.0, 1.0, 1.0, 1.0]);
        assert_eq!(curve.recall, [1.0, 1.0, 1.0, 0.5, 0.0]);
        assert_eq!(curve.thresholds, [0.1, 0.3, 0.8, 0.9]);
    }

    #[test]
    fn one_class_leaves_an_axis_undefined() {
        let curves = curves(&[(0.9, 0), (0.8, 0)]);
        assert_eq!(curves.roc().true_positive_rate, [None, None, None]);
        assert_eq!(curves.roc().false_positive_rate, [0.0, 0.5, 1.0].map(Some));
        assert_eq!(curves.precision_recall().recall, [1.0, 1.0, 0.0]);
    }
}
