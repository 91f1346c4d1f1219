use metric_core::Sum;

/// The area under the ROC curve and the average precision of one label against the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BinaryScores {
    /// The share of pairs of a positive and a negative in which the positive has the higher score, where ties count ½;
    /// undefined without positives or without negatives.
    pub roc_auc: Option<f64>,
    /// The sum over distinct scores, from the highest, of precision times the increase in recall; undefined without
    /// positives.
    pub average_precision: Option<f64>,
}

metric_core::named_scores!(BinaryScores {
    roc_auc,
    average_precision
});

impl BinaryScores {
    /// The scores of a curve: the numbers or the weights of positives and of negatives at or above each distinct score,
    /// from the highest score.
    pub(crate) fn of_curve(points: impl Iterator<Item = [f64; 2]>) -> Self {
        let (mut area, mut gains, [mut tp, mut fp]) = (Sum::default(), Vec::new(), [0.0, 0.0]);
        for [positives, negatives] in points {
            // Twice the trapezoid. Products of integers are exact.
            area.add_product(negatives - fp, positives + tp);
            if positives > tp {
                gains.push((positives - tp) * (positives / (positives + negatives)));
            }
            [tp, fp] = [positives, negatives];
        }
        Self {
            roc_auc: (tp > 0.0 && fp > 0.0).then(|| area.value() / (2.0 * tp * fp)),
            average_precision: (tp > 0.0).then(|| gains.into_iter().collect::<Sum>().value() / tp),
        }
    }
}
