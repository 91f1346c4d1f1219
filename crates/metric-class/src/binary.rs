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
    /// from the highest score. Areas of whole numbers are added as integers, which is much faster.
    pub(crate) fn of_curve(points: impl Iterator<Item = [f64; 2]>, are_counts: bool) -> Self {
        let (mut whole_area, mut area) = (0_u128, Sum::default());
        let mut gains = Sum::default();
        let [mut tp, mut fp] = [0.0; 2];
        for [positives, negatives] in points {
            // Twice the trapezoid.
            let (width, heights) = (negatives - fp, positives + tp);
            if are_counts {
                whole_area += width as u128 * heights as u128;
            } else {
                area.add_product(width, heights);
            }
            if positives > tp {
                gains.add((positives - tp) * (positives / (positives + negatives)));
            }
            [tp, fp] = [positives, negatives];
        }
        let area = if are_counts {
            whole_area as f64
        } else {
            area.value()
        };
        Self {
            roc_auc: (tp > 0.0 && fp > 0.0).then(|| area / (2.0 * tp * fp)),
            average_precision: (tp > 0.0).then(|| gains.value() / tp),
        }
    }
}
