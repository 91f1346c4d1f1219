//! The formulas of the profiles, in the order of the floating-point operations of their programs.

use super::{BleuScore, Smoothing};

/// The counts of a corpus or of an example.
pub(super) struct NgramCounts {
    /// Correct n-grams and all, for each order from 1.
    pub(super) ngrams: Vec<[u64; 2]>,
    pub(super) prediction_length: u64,
    pub(super) reference_length: u64,
}

/// A score and the precisions from which it is computed, as percentages.
pub(super) struct Precisions {
    /// Undefined without orders.
    pub(super) percent: Option<f64>,
    pub(super) precisions: Vec<f64>,
    /// Correct n-grams and all, for each order, as they were used.
    pub(super) ngrams: Vec<[f64; 2]>,
}

impl NgramCounts {
    /// The brevity penalty of sacreBLEU.
    pub(super) fn brevity_penalty(&self) -> f64 {
        let (length, reference) = (self.prediction_length, self.reference_length);
        if length >= reference {
            1.0
        } else if length == 0 {
            0.0
        } else {
            (1.0 - reference as f64 / length as f64).exp()
        }
    }

    /// Computes the score as `BLEU.compute_bleu` of sacreBLEU 2.6.0 does.
    pub(super) fn sacrebleu(
        &self,
        (smoothing, value): (Smoothing, f64),
        effective_order: bool,
    ) -> Precisions {
        let as_numbers = |ngrams: &[u64; 2]| ngrams.map(|count| count as f64);
        let mut ngrams: Vec<[f64; 2]> = self.ngrams.iter().map(as_numbers).collect();
        let mut precisions = vec![0.0; ngrams.len()];
        let has_matches = self.ngrams.iter().any(|[correct, _]| *correct > 0);
        let mut orders = ngrams.len();
        let mut exp = 1.0;
        for (index, (ngrams, precision)) in ngrams.iter_mut().zip(&mut precisions).enumerate() {
            if !has_matches {
                break;
            }
            if smoothing == Smoothing::AddK && index > 0 {
                *ngrams = ngrams.map(|count| count + value);
            }
            let [correct, total] = *ngrams;
            if total == 0.0 {
                break;
            }
            if effective_order {
                orders = index + 1;
            }
            *precision = match smoothing {
                _ if correct > 0.0 => 100.0 * correct / total,
                Smoothing::Exp => {
                    exp *= 2.0;
                    100.0 / (exp * total)
                }
                Smoothing::Floor => 100.0 * value / total,
                Smoothing::AddK | Smoothing::AddOne | Smoothing::None => 0.0,
            };
        }
        let used = precisions.get(..orders).unwrap_or_default();
        let percent = if used.is_empty() {
            None
        } else if !has_matches || used.contains(&0.0) {
            Some(0.0)
        } else {
            let logs = used.iter().fold(0.0, |sum, precision| sum + precision.ln());
            // Some values for smoothing, such as negative ones, give no number.
            let percent = self.brevity_penalty() * (logs / orders as f64).exp();
            Some(percent).filter(|percent| percent.is_finite())
        };
        Precisions {
            percent,
            precisions,
            ngrams,
        }
    }

    /// Computes the score as `compute_bleu` of Google's NMT tutorial does, which evaluate and CodeXGLUE use.
    pub(super) fn nmt(&self, add_one: bool) -> BleuScore {
        let precision = |&[correct, total]: &[u64; 2]| match total {
            _ if add_one => (correct as f64 + 1.0) / (total as f64 + 1.0),
            0 => 0.0,
            _ => correct as f64 / total as f64,
        };
        let precisions: Vec<f64> = self.ngrams.iter().map(precision).collect();
        let ratio = self.prediction_length as f64 / self.reference_length as f64;
        if self.prediction_length == 0 || self.reference_length == 0 || precisions.is_empty() {
            return BleuScore::of_fractions(None, precisions, None);
        }
        let mean = if precisions.contains(&0.0) {
            0.0
        } else {
            let weight = 1.0 / precisions.len() as f64;
            let logs = precisions
                .iter()
                .fold(0.0, |sum, precision| sum + weight * precision.ln());
            logs.exp()
        };
        let brevity_penalty = if ratio > 1.0 {
            1.0
        } else {
            (1.0 - 1.0 / ratio).exp()
        };
        BleuScore::of_fractions(
            Some(mean * brevity_penalty),
            precisions,
            Some(brevity_penalty),
        )
    }

    /// Computes the score of an example as the evaluator of CodeXGLUE's code summarization does, followed by the
    /// precision of each order.
    pub(super) fn summarization(&self) -> impl Iterator<Item = f64> + use<> {
        /// What the program adds to each count, because 0 has no logarithm.
        const TINY: f64 = f64::MIN_POSITIVE;
        let mut logs = 0.0;
        let mut precisions = Vec::with_capacity(self.ngrams.len());
        for (index, &ngrams) in self.ngrams.iter().enumerate() {
            let [correct, total] = ngrams.map(|count| count as f64);
            let added = if index == 0 { 0.0 } else { 1.0 };
            logs += (correct + added + TINY).ln() - (total + added + TINY).ln();
            let precision = ((correct + TINY).ln() - total.ln()).exp();
            precisions.push(if total == 0.0 { 0.0 } else { precision });
        }
        let [length, reference] =
            [self.prediction_length, self.reference_length].map(|length| (length + 1) as f64);
        let penalty = (1.0 - reference / length).min(0.0);
        let score = (logs / self.ngrams.len() as f64 + penalty).exp();
        [score].into_iter().chain(precisions)
    }
}

impl BleuScore {
    /// The score of programs that return fractions.
    pub(super) fn of_fractions(
        bleu: Option<f64>,
        precisions: Vec<f64>,
        brevity_penalty: Option<f64>,
    ) -> Self {
        Self {
            bleu,
            percent: bleu.map(|bleu| 100.0 * bleu),
            percent_precisions: precisions
                .iter()
                .map(|precision| 100.0 * precision)
                .collect(),
            precisions,
            brevity_penalty,
            smoothed_ngrams: Vec::new(),
        }
    }
}
