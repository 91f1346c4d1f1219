use metric_core::{Sum, named_choice};

use super::table::Amounts;

/// The rule that puts a confidence into a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BinRule {
    /// Bins are closed on the left, the last one on both sides: Guo et al., *On Calibration of Modern Neural Networks*
    /// (ICML 2017).
    #[default]
    Textbook,
    /// The bins of `calibration_error` of torchmetrics 1.9: a confidence of exactly 1 has a bin of its own.
    TorchMetrics,
}

impl BinRule {
    fn bin(self, confidence: f64, bins: usize) -> usize {
        match self {
            Self::Textbook => ((confidence * bins as f64) as usize).min(bins - 1),
            Self::TorchMetrics => {
                let edge = |index: usize| index as f64 / bins as f64;
                let mut bin = ((confidence * bins as f64) as usize).min(bins);
                // The product may be rounded across an edge.
                while bin < bins && edge(bin + 1) <= confidence {
                    bin += 1;
                }
                while bin > 0 && edge(bin) > confidence {
                    bin -= 1;
                }
                bin
            }
        }
    }
}

/// How the gaps of bins become one error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Norm {
    /// The mean gap over rows: the expected calibration error.
    #[default]
    L1,
    /// The root of the mean squared gap over rows.
    L2,
    /// The greatest gap: the maximum calibration error.
    Max,
}

impl Norm {
    /// All norms.
    pub const ALL: &[Self] = &[Self::L1, Self::L2, Self::Max];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Max => "max",
        }
    }
}

named_choice!(Norm, "norm");

/// The accuracy of rows in ranges of confidence of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Reliability {
    /// The ranges; under [`BinRule::TorchMetrics`] with one more for a confidence of exactly 1.
    pub bins: Vec<ReliabilityBin>,
    /// The number of rows with a confidence of exactly 1.
    pub certain: u64,
}

/// The rows of a range of confidences.
#[derive(Clone, Debug, PartialEq)]
pub struct ReliabilityBin {
    /// The least confidence.
    pub from: f64,
    /// The greatest confidence, which is in the next bin if there is one.
    pub to: f64,
    /// The number of rows, or the sum of their weights.
    pub examples: f64,
    /// The share of correct rows; undefined without rows.
    pub accuracy: Option<f64>,
    /// The mean confidence; undefined without rows.
    pub confidence: Option<f64>,
}

impl Reliability {
    /// Returns the calibration error; undefined without rows.
    ///
    /// ```
    /// use metric_class::{Norm, Reliability, ReliabilityBin};
    ///
    /// let bin = |examples, accuracy, confidence| ReliabilityBin {
    ///     from: 0.0,
    ///     to: 1.0,
    ///     examples,
    ///     accuracy: Some(accuracy),
    ///     confidence: Some(confidence),
    /// };
    /// let reliability = Reliability { bins: vec![bin(3.0, 0.5, 0.25), bin(1.0, 1.0, 0.5)], certain: 0 };
    /// assert_eq!(reliability.error(Norm::L1), Some((3.0 * 0.25 + 0.5) / 4.0));
    /// assert_eq!(reliability.error(Norm::Max), Some(0.5));
    /// ```
    #[must_use]
    pub fn error(&self, norm: Norm) -> Option<f64> {
        let all: Sum = self.bins.iter().map(|bin| bin.examples).collect();
        let all = all.value();
        let gaps = self.bins.iter().filter_map(|bin| {
            let gap = (bin.accuracy? - bin.confidence?).abs();
            Some((bin.examples, gap))
        });
        let mean = |sum: Sum| sum.value() / all;
        (all > 0.0).then(|| match norm {
            Norm::L1 => mean(gaps.map(|(examples, gap)| examples * gap).collect()),
            Norm::L2 => mean(gaps.map(|(examples, gap)| examples * gap * gap).collect()).sqrt(),
            Norm::Max => gaps.map(|(_, gap)| gap).fold(0.0, f64::max),
        })
    }
}

/// The rows of bins as they are counted.
pub(super) struct BinTotals<A: Amounts> {
    rule: BinRule,
    count: usize,
    bins: Vec<[A::Total; 2]>,
    confidence: Vec<Sum>,
    certain: u64,
}

impl<A: Amounts> BinTotals<A> {
    pub(super) fn new(rule: BinRule, count: usize) -> Self {
        let count = count.max(1);
        let bins = count + usize::from(rule == BinRule::TorchMetrics);
        Self {
            rule,
            count,
            bins: vec![Default::default(); bins],
            confidence: vec![Sum::default(); bins],
            certain: 0,
        }
    }

    pub(super) fn add(&mut self, confidence: f64, is_correct: bool, amounts: &A, row: u32) {
        let bin = self.rule.bin(confidence, self.count);
        let (Some([examples, correct]), Some(sum)) =
            (self.bins.get_mut(bin), self.confidence.get_mut(bin))
        else {
            return;
        };
        amounts.add(examples, row);
        if is_correct {
            amounts.add(correct, row);
        }
        amounts.add_term(sum, confidence, row);
        if confidence == 1.0 {
            self.certain += amounts.times(row);
        }
    }

    pub(super) fn reliability(&self) -> Reliability {
        let bins = self.bins.iter().zip(&self.confidence).enumerate();
        let bins = bins.map(|(index, ([examples, correct], confidence))| {
            let examples = A::value(examples);
            let mean = |sum: f64| (examples > 0.0).then(|| sum / examples);
            let edge = |index: usize| (index as f64 / self.count as f64).min(1.0);
            ReliabilityBin {
                from: edge(index),
                to: edge(index + 1),
                examples,
                accuracy: mean(A::value(correct)),
                confidence: mean(confidence.value()),
            }
        });
        Reliability {
            bins: bins.collect(),
            certain: self.certain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_bins() {
        let rows = [
            (BinRule::Textbook, 0.0, 0),
            (BinRule::Textbook, 0.5, 5),
            (BinRule::Textbook, 1.0, 9),
            (BinRule::TorchMetrics, 0.0, 0),
            (BinRule::TorchMetrics, 0.5, 5),
            // The double nearest to 0.3 is below 3/10 as it is rounded, or equal to it.
            (BinRule::TorchMetrics, 0.3, 3),
            (BinRule::TorchMetrics, 0.999, 9),
            (BinRule::TorchMetrics, 1.0, 10),
        ];
        for (rule, confidence, expected) in rows {
            assert_eq!(rule.bin(confidence, 10), expected, "{rule:?} {confidence}");
        }
        assert_eq!(BinRule::Textbook.bin(1.0, 1), 0);
    }
}
