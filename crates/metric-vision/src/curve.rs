use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use metric_core::{
    Counts, Malformed, Merge, Metric, NamedScores, Reader, RowSource, WeightedRows, Writer,
    Written, fields, written,
};

use crate::classes::{ClassState, ClassTotals, InvalidIndices, Renumbering};
use crate::count;
use crate::detection::split;
use crate::numpy::pairwise_sum;
use crate::score::Rank;
use crate::{
    BBox, Detection, DetectionScore, Image, InvalidThreshold, Matching, Prediction, Shape, Truth,
};

/// Precision, recall and F1 at any score threshold, and the score with the best F1.
///
/// An example is one image of a [`Dataset`](crate::Dataset): its detections and its true objects. Detections and truths
/// of each class are matched once, by a rule that [uses scores](Matching::goes_by_score); the detections at or above a
/// score then have the same matches as if they were matched alone. The optimal rules do not use scores: take their
/// counts at a score threshold from [`Detections`](crate::Detections), given the detections at or above that score.
///
/// The state holds the number of correct and wrong detections for each score, so it grows with the
/// number of distinct scores, times the IoU thresholds.
///
/// ```
/// use metric_core::{Counts, Metric};
/// use metric_vision::{Annotation, BBox, Image, Matching, Prediction, PrecisionRecall};
///
/// let at = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let truths = [at(0.0)?, at(50.0)?].map(|shape| Annotation::new(0, shape));
/// let image = Image::new(1, truths.to_vec());
/// // A hit at 0.9, a false detection at 0.8, a hit at 0.3.
/// let found = [(0.9, at(0.0)?), (0.8, at(90.0)?), (0.3, at(50.0)?)]
///     .map(|(score, shape)| Prediction::new(0, score, shape));
///
/// let metric = PrecisionRecall::new(Matching::Greedy, vec![0.5])?;
/// let score = metric.compute(&metric.measure(&found, &image));
/// let curve = score.curves[0].micro();
/// assert_eq!(curve.at(0.5), Counts::new(1, 1, 1));
/// assert_eq!(curve.at(0.0), Counts::new(2, 1, 0));
/// let best = curve.best_f1().unwrap();
/// assert_eq!((best.score, best.counts.f1()), (0.3, Some(4.0 / 5.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
///
/// At each IoU threshold, each detection of an image and class is compared with the true objects whose range from
/// left to right meets its own. A million of each in one image take as long as sorting them if they lie apart from
/// left to right, and 10^12 pairs, hours, if each is above or below every other. The state has 24 bytes for each
/// distinct score of a class and threshold, and a few times that while it grows.
#[derive(Clone, Debug, PartialEq)]
pub struct PrecisionRecall<S = BBox> {
    matching: Matching,
    iou_thresholds: Vec<f64>,
    shapes: PhantomData<fn(&S)>,
}

impl<S> PrecisionRecall<S> {
    /// Returns the metric of a matching rule at these IoU thresholds (`0 < t <= 1`).
    ///
    /// # Errors
    ///
    /// Returns an error if the rule does not use scores, or a threshold is outside that range or NaN.
    pub fn new(matching: Matching, iou_thresholds: Vec<f64>) -> Result<Self, InvalidCurve> {
        if !matching.goes_by_score() {
            return Err(InvalidCurve::Matching(matching));
        }
        for &threshold in &iou_thresholds {
            InvalidThreshold::check(threshold).map_err(InvalidCurve::Threshold)?;
        }
        Ok(Self {
            matching,
            iou_thresholds,
            shapes: PhantomData,
        })
    }

    /// Returns the matching rule.
    #[must_use]
    pub fn matching(&self) -> Matching {
        self.matching
    }

    /// Returns the IoU thresholds.
    #[must_use]
    pub fn iou_thresholds(&self) -> &[f64] {
        &self.iou_thresholds
    }
}

impl<S: Shape> Metric for PrecisionRecall<S> {
    /// The detections in one image, in the order of the file.
    type Prediction = [Prediction<S>];
    /// The image with its true objects.
    type Reference = Image<S>;
    type State = PrecisionRecallState;
    type Score = PrecisionRecallScore;

    fn update(
        &self,
        state: &mut PrecisionRecallState,
        prediction: &[Prediction<S>],
        reference: &Image<S>,
    ) {
        split(
            prediction,
            reference,
            |shape| shape,
            |class, detections, truths| {
                let histograms = state.classes.entry(class).or_default();
                histograms.resize_with(self.iou_thresholds.len(), ScoreHistogram::default);
                for (histogram, &threshold) in histograms.iter_mut().zip(&self.iou_thresholds) {
                    let matches = self.matching.matches(detections, truths, threshold);
                    histogram.record(&matches, detections, truths);
                }
            },
        );
    }

    fn compute(&self, state: &PrecisionRecallState) -> PrecisionRecallScore {
        let curves = |position: usize| {
            let curve = |(&class, histograms): (&u32, &Vec<ScoreHistogram>)| {
                Some((class, histograms.get(position)?.curve()))
            };
            ClassCurves {
                classes: state.classes.iter().filter_map(curve).collect(),
            }
        };
        PrecisionRecallScore {
            curves: (0..self.iou_thresholds.len()).map(curves).collect(),
            iou_thresholds: self.iou_thresholds.clone(),
        }
    }
}

/// The score of [`PrecisionRecall`]: the curves of each class at each IoU threshold.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PrecisionRecallScore {
    /// The IoU thresholds.
    pub iou_thresholds: Vec<f64>,
    /// The curves at each IoU threshold, in that order.
    pub curves: Vec<ClassCurves>,
}

/// `best_f1` over all score thresholds and `best_f1_score`, the threshold that it is at, of the detections of all
/// classes together. With several IoU thresholds the names end with theirs: `best_f1@0.5`.
impl NamedScores for PrecisionRecallScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        let several = self.iou_thresholds.len() > 1;
        let scores = self.iou_thresholds.iter().zip(&self.curves);
        let scores = scores.flat_map(|(&iou, curves)| curves.micro().best_f1_scores(iou, several));
        scores.collect()
    }
}

/// The state of [`PrecisionRecall`]: one histogram per class and IoU threshold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrecisionRecallState {
    classes: BTreeMap<u32, Vec<ScoreHistogram>>,
}

fields!(PrecisionRecallState { classes });

impl ClassState for PrecisionRecallState {
    fn renumber_classes(&mut self, indices: &[u32]) -> Result<(), InvalidIndices> {
        let indices = Renumbering::new(indices, self.classes.keys().copied())?;
        indices.map(&mut self.classes);
        Ok(())
    }

    fn class_totals(&self) -> BTreeMap<u32, ClassTotals> {
        let totals = self.classes.iter().map(|(&class, histograms)| {
            // They differ in their IoU thresholds only.
            let all = |histogram: &ScoreHistogram| histogram.curve().at(f64::NEG_INFINITY);
            let counts = histograms.first().map(all).unwrap_or_default();
            let totals = ClassTotals {
                truths: counts.actual(),
                detections: counts.predicted(),
            };
            (class, totals)
        });
        ClassTotals::sum(totals)
    }
}

/// The number of correct and of wrong detections with each score, and the number of truths.
///
/// The state that [`PrecisionRecall`] gathers for each class, for code that does its own matching:
///
/// ```
/// use metric_core::Counts;
/// use metric_vision::matching::greedy;
/// use metric_vision::{BBox, Detection, ScoreHistogram, Truth};
///
/// let shape = BBox::from_xywh(0.0, 0.0, 1.0, 1.0)?;
/// let detections = [0.5, 0.7].map(|score| Detection { shape, score: Some(score) });
/// let truths = [Truth::from(shape)];
/// let mut histogram = ScoreHistogram::default();
/// histogram.record(&greedy(&detections, &truths, 0.5), &detections, &truths);
/// assert_eq!(histogram.curve().at(0.6), Counts::new(1, 0, 0));
/// assert_eq!(histogram.curve().at(0.5), Counts::new(1, 1, 0));
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScoreHistogram {
    truths: u64,
    bins: Vec<Bin>,
    /// So many bins, from the first, are in order and have scores of their own.
    settled: usize,
}

/// The detections of one score.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    score: Rank,
    right: u64,
    wrong: u64,
}

impl ScoreHistogram {
    /// Adds the detections and truths of one image and class with their matches, which must come from a rule that
    /// [uses scores](Matching::goes_by_score).
    pub fn record<S>(
        &mut self,
        matches: &[Option<usize>],
        detections: &[Detection<S>],
        truths: &[Truth<S>],
    ) {
        let counted = truths.iter().filter(|truth| truth.is_counted()).count() as u64;
        count::add(&mut self.truths, counted, 1);
        for (found, detection) in matches.iter().zip(detections) {
            let found = found.and_then(|position| truths.get(position));
            if found.is_none_or(Truth::is_counted) {
                self.push(Bin {
                    // One cannot cut at no score.
                    score: Rank::new(detection.score).max(Rank::new(f64::NEG_INFINITY)),
                    right: u64::from(found.is_some()),
                    wrong: u64::from(found.is_none()),
                });
            }
        }
    }

    /// Returns a function that merges the histograms, each as many times as its weight says.
    pub(crate) fn weighted(histograms: &[Option<&Self>]) -> impl Fn(&[u64]) -> Self + use<> {
        let (mut truths, mut rows) = (Vec::new(), Vec::new());
        for (state, histogram) in (0..).zip(histograms) {
            let source = RowSource {
                state,
                example: state,
            };
            truths.push(histogram.map_or(0, |histogram| histogram.truths));
            let bins = histogram.map(|histogram| histogram.settled().bins);
            let bins = bins.into_iter().flatten();
            rows.extend(bins.map(|bin| (source, bin)));
        }
        let rows = WeightedRows::new(rows, |bin| Reverse(bin.score));
        move |weights| {
            let mut merged = Self::default();
            for (&truths, &times) in truths.iter().zip(weights) {
                count::add(&mut merged.truths, truths, times);
            }
            rows.each(weights, |bin, times| {
                let mut last = merged
                    .bins
                    .last_mut()
                    .filter(|last| last.score == bin.score);
                if last.is_none() {
                    merged.bins.push(Bin {
                        right: 0,
                        wrong: 0,
                        ..*bin
                    });
                    last = merged.bins.last_mut();
                }
                if let Some(last) = last {
                    count::add(&mut last.right, bin.right, times);
                    count::add(&mut last.wrong, bin.wrong, times);
                }
            });
            merged.settled = merged.bins.len();
            merged
        }
    }

    /// Adds positives: objects that count.
    pub(crate) fn add_truths(&mut self, truths: u64) {
        count::add(&mut self.truths, truths, 1);
    }

    /// Adds a detection.
    pub(crate) fn add(&mut self, score: Rank, is_right: bool) {
        self.push(Bin {
            score: score.max(Rank::new(f64::NEG_INFINITY)),
            right: u64::from(is_right),
            wrong: u64::from(!is_right),
        });
    }

    fn push(&mut self, bin: Bin) {
        self.bins.push(bin);
        // Each bin is sorted in once for every doubling.
        if self.bins.len() > 2 * self.settled + 64 {
            self.settle();
        }
    }

    fn settle(&mut self) {
        // The sort sees what is in order already.
        self.bins.sort_by_key(|bin| Reverse(bin.score));
        self.bins.dedup_by(|next, bin| {
            let same = next.score == bin.score;
            if same {
                count::add(&mut bin.right, next.right, 1);
                count::add(&mut bin.wrong, next.wrong, 1);
            }
            same
        });
        self.settled = self.bins.len();
    }

    fn settled(&self) -> Self {
        let mut settled = self.clone();
        settled.settle();
        settled
    }

    /// Returns the counts at each score threshold.
    #[must_use]
    pub fn curve(&self) -> Curve {
        let mut points = self.settled().bins;
        let (mut right, mut wrong) = (0, 0);
        for point in &mut points {
            count::add(&mut right, point.right, 1);
            count::add(&mut wrong, point.wrong, 1);
            (point.right, point.wrong) = (right, wrong);
        }
        Curve {
            truths: self.truths,
            points,
        }
    }
}

impl PartialEq for ScoreHistogram {
    fn eq(&self, other: &Self) -> bool {
        self.truths == other.truths && self.settled().bins == other.settled().bins
    }
}

impl Merge for ScoreHistogram {
    fn merge(&mut self, other: Self) {
        count::add(&mut self.truths, other.truths, 1);
        if self.bins.is_empty() {
            (self.bins, self.settled) = (other.bins, other.settled);
        } else {
            other.bins.into_iter().for_each(|bin| self.push(bin));
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        count::add(&mut self.truths, other.truths, times);
        let times_as_many = |count: u64| count.saturating_mul(times).min(count::MOST);
        let bins = other.bins.iter().map(|bin| Bin {
            score: bin.score,
            right: times_as_many(bin.right),
            wrong: times_as_many(bin.wrong),
        });
        if self.bins.is_empty() {
            (self.bins, self.settled) = (bins.collect(), other.settled);
        } else {
            bins.for_each(|bin| self.push(bin));
        }
    }
}

written!(Bin {
    score,
    right,
    wrong
});

/// By falling score, each score once.
impl Written for ScoreHistogram {
    fn write(&self, to: &mut Writer) {
        to.map(2);
        to.field("truths", &self.truths);
        to.field("bins", &self.settled().bins);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.map()?;
        let truths = from.field("truths")?;
        let bins: Vec<Bin> = from.field("bins")?;
        if !bins.is_sorted_by(|a, b| a.score > b.score) {
            return Err("expected scores in falling order".into());
        }
        let counts = bins.iter().flat_map(|bin| [bin.right, bin.wrong]);
        count::check(counts.chain([truths]))?;
        Ok(Self {
            truths,
            settled: bins.len(),
            bins,
        })
    }
}

/// The counts of the detections at or above each score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    truths: u64,
    /// Correct and wrong detections are those at or above this score.
    points: Vec<Bin>,
}

/// The number of positives and the [points](Curve::points).
#[cfg(feature = "serde")]
impl serde::Serialize for Curve {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let mut curve = to.serialize_struct("Curve", 2)?;
        curve.serialize_field("truths", &self.truths)?;
        curve.serialize_field("points", &self.points().collect::<Vec<_>>())?;
        curve.end()
    }
}

/// The counts of the detections at or above a score.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CurvePoint {
    /// The score.
    pub score: f64,
    /// The counts of correct and wrong detections at or above this score, and of missed objects.
    pub counts: Counts,
}

impl Curve {
    /// Returns the number of positives: objects that count.
    #[must_use]
    pub fn truths(&self) -> u64 {
        self.truths
    }

    /// Returns the counts of correct and wrong detections at or above this score, and of missed objects.
    ///
    /// Detections without a score, or with NaN, count as having −∞. NaN is not a score threshold,
    /// and leaves no detections.
    #[must_use]
    pub fn at(&self, score: f64) -> Counts {
        let cut = Rank::new(score);
        let kept = self.points.partition_point(|point| point.score >= cut);
        match kept.checked_sub(1).and_then(|last| self.points.get(last)) {
            Some(point) if !score.is_nan() => self.counts(point),
            _ => Counts::new(0, 0, self.truths),
        }
    }

    /// Returns one point per distinct score, in descending order of score: the precision-recall curve without
    /// interpolation.
    ///
    /// ```
    /// # use metric_vision::Curve;
    /// # let curve = Curve::default();
    /// let points = curve.points().map(|point| (point.counts.recall(), point.counts.precision()));
    /// # assert_eq!(points.count(), 0);
    /// ```
    pub fn points(&self) -> impl ExactSizeIterator<Item = CurvePoint> {
        self.points.iter().map(|point| CurvePoint {
            score: point.score.score(),
            counts: self.counts(point),
        })
    }

    /// Returns the point with the greatest F1; among ties, the one with the highest score. `None` if no detections
    /// count.
    #[must_use]
    pub fn best_f1(&self) -> Option<CurvePoint> {
        let f1 = |point: &CurvePoint| point.counts.f1().unwrap_or(0.0);
        self.points()
            .reduce(|best, point| if f1(&point) > f1(&best) { point } else { best })
    }

    /// The best F1 and its score threshold by name, at one of `several` IoU thresholds or at the only one.
    pub(crate) fn best_f1_scores(
        &self,
        iou_threshold: f64,
        several: bool,
    ) -> [(String, Option<f64>); 2] {
        let suffix = if several {
            format!("@{iou_threshold}")
        } else {
            String::new()
        };
        let best = self.best_f1();
        [
            (
                format!("best_f1{suffix}"),
                best.and_then(|best| best.counts.f1()),
            ),
            (
                format!("best_f1_score{suffix}"),
                best.map(|best| best.score),
            ),
        ]
    }

    fn counts(&self, point: &Bin) -> Counts {
        let missed = self.truths.saturating_sub(point.right);
        Counts::new(point.right, point.wrong, missed)
    }
}

/// The curves of all classes at one IoU threshold.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ClassCurves {
    /// The curve of each class that has truths or detections, by the index of the class in the list of classes.
    pub classes: BTreeMap<u32, Curve>,
}

impl ClassCurves {
    /// Returns the curve of all detections and truths, whatever their class.
    #[must_use]
    pub fn micro(&self) -> Curve {
        let mut pooled = ScoreHistogram::default();
        for curve in self.classes.values() {
            let mut before = (0, 0);
            let bins = curve.points.iter().map(|point| {
                let bin = Bin {
                    right: point.right - before.0,
                    wrong: point.wrong - before.1,
                    ..*point
                };
                before = (point.right, point.wrong);
                bin
            });
            pooled.merge(ScoreHistogram {
                truths: curve.truths,
                bins: bins.collect(),
                settled: curve.points.len(),
            });
        }
        pooled.curve()
    }

    /// Returns the [`macro_average`] over the classes, of the detections at or above this score.
    #[must_use]
    pub fn macro_at(&self, score: f64) -> DetectionScore {
        macro_average(self.classes.values().map(|curve| curve.at(score)))
    }
}

/// Returns the means of precision, recall and F1 over the classes that have truths; undefined if there is no such
/// class.
///
/// A ratio that is undefined in a class, because nothing was predicted there, counts as 0, so that
/// all three are means over the same classes. The classes are added in the order in which they
/// come, as numpy's `mean` adds them.
///
/// ```
/// use metric_core::Counts;
/// use metric_vision::macro_average;
///
/// let classes = [Counts::new(1, 0, 0), Counts::new(0, 0, 3), Counts::new(0, 5, 0)];
/// assert_eq!(macro_average(classes).precision, Some(0.5));
/// ```
#[must_use]
pub fn macro_average(classes: impl IntoIterator<Item = Counts>) -> DetectionScore {
    let classes: Vec<Counts> = classes.into_iter().filter(|c| c.actual() > 0).collect();
    let mean = |ratio: fn(&Counts) -> Option<f64>| {
        let ratios: Vec<f64> = classes.iter().map(|c| ratio(c).unwrap_or(0.0)).collect();
        (!ratios.is_empty()).then(|| pairwise_sum(&ratios) / ratios.len() as f64)
    };
    DetectionScore {
        precision: mean(Counts::precision),
        recall: mean(Counts::recall),
        f1: mean(Counts::f1),
    }
}

/// The error for a definition that [`PrecisionRecall`] does not accept.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidCurve {
    /// A rule that does not use scores: its matches change when detections are cut.
    Matching(Matching),
    /// A threshold out of range.
    Threshold(InvalidThreshold),
}

impl fmt::Display for InvalidCurve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matching(matching) => {
                let by_score = Matching::ALL.iter().filter(|rule| rule.goes_by_score());
                let by_score: Vec<_> = by_score.map(|rule| rule.name()).collect();
                write!(
                    f,
                    "the matching rule {matching} does not use scores: expected one of {}",
                    by_score.join(", ")
                )
            }
            Self::Threshold(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InvalidCurve {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Threshold(error) => Some(error),
            Self::Matching(_) => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Annotation, Key};

    type Example = (Vec<Prediction>, Image);

    fn strip(x: u8) -> BBox {
        BBox::from_xywh(x.into(), 0.0, 10.0, 1.0).expect("a box")
    }

    pub(crate) fn example() -> impl Strategy<Value = Example> {
        let found = proptest::collection::vec((0_u32..3, 0_u8..40, 0_u8..4, 0_u32..3), 0..8);
        let real = proptest::collection::vec((0_u32..3, 0_u8..40, 0_u8..6), 0..6);
        (0_i64..5, found, real).prop_map(|(key, found, real)| {
            let prediction = |(class, x, score, position): (u32, u8, u8, u32)| Prediction {
                image: 0,
                position,
                class,
                score: f64::from(score) / 4.0,
                area: 10.0,
                shape: strip(x),
            };
            let annotation = |(class, x, kind): (u32, u8, u8)| Annotation {
                class,
                crowd: kind == 4,
                ignore: kind == 5,
                id: 1,
                area: 10.0,
                shape: strip(x),
            };
            let image = Image::new(Key::Number(key), real.into_iter().map(annotation).collect());
            (found.into_iter().map(prediction).collect(), image)
        })
    }

    #[test]
    fn rules_that_do_not_go_by_score_are_refused() {
        for &matching in Matching::ALL {
            let metric = PrecisionRecall::<BBox>::new(matching, vec![0.5]);
            assert_eq!(metric.is_ok(), matching.goes_by_score());
        }
        assert!(PrecisionRecall::<BBox>::new(Matching::Greedy, vec![0.5, 0.0]).is_err());
        let error = InvalidCurve::Matching(Matching::Optimal).to_string();
        assert!(
            error.ends_with("expected one of greedy, voc, voc-strict"),
            "{error}"
        );
    }

    #[test]
    fn nothing_and_ties() {
        let nothing = Curve::default();
        assert_eq!(
            (nothing.at(0.0), nothing.best_f1()),
            (Counts::default(), None)
        );
        let bin = |score, right, wrong| Bin {
            score: Rank::new(score),
            right,
            wrong,
        };
        // F1 is 2/3 at 0.9, and again with one more right and two more wrong: 4/6.
        let mut histogram = ScoreHistogram {
            truths: 2,
            bins: vec![bin(0.5, 1, 0), bin(0.9, 1, 0), bin(0.5, 0, 2)],
            settled: 0,
        };
        let best = histogram.curve().best_f1().expect("a point");
        assert_eq!((best.score, best.counts), (0.9, Counts::new(1, 0, 1)));
        // The least score of all is that of none.
        histogram.push(Bin {
            score: Rank::new(f64::NEG_INFINITY),
            right: 0,
            wrong: 1,
        });
        let curve = histogram.curve();
        assert_eq!(curve.at(f64::NEG_INFINITY), Counts::new(2, 3, 0));
        assert_eq!(curve.at(-1e300), Counts::new(2, 2, 0));
        assert_eq!(curve.at(f64::NAN), Counts::new(0, 0, 2));
        assert_eq!(curve.at(0.91), Counts::new(0, 0, 2));
        assert_eq!(curve.points().len(), 3);
    }

    proptest! {
        #[test]
        fn any_shards_are_one_pass_and_cuts_are_counted_alone(
            examples in proptest::collection::vec(example(), 0..6),
            cut in 0_u8..5,
            turn in 0_usize..6,
        ) {
            for matching in [Matching::Greedy, Matching::Voc, Matching::VocStrict] {
                let thresholds = vec![0.5, 0.75];
                let metric = PrecisionRecall::new(matching, thresholds).expect("a metric");
                let mut state = PrecisionRecallState::default();
                for (found, image) in &examples {
                    metric.update(&mut state, found, image);
                }
                let mut turned = examples.clone();
                turned.rotate_left(turn % examples.len().max(1));
                let mut shards = PrecisionRecallState::default();
                for (found, image) in turned.iter().rev() {
                    let mut shard = metric.measure(found, image);
                    shard.merge(std::mem::take(&mut shards));
                    shards = shard;
                }
                prop_assert_eq!(&shards, &state);
                prop_assert_eq!(metric.compute(&shards), metric.compute(&state));

                // The detections at or above a threshold, matched alone.
                let cut = f64::from(cut) / 4.0;
                for (threshold, curves) in [0.5, 0.75].into_iter().zip(metric.compute(&state).curves) {
                    let alone = crate::Detections::default().with_matching(matching);
                    let alone = crate::Detections::new(alone.profile(), threshold)
                        .expect("a metric").with_matching(matching);
                    let mut pooled = crate::DetectionState::default();
                    for (found, image) in &examples {
                        let kept: Vec<_> = found.iter().copied().filter(|p| p.score >= cut).collect();
                        crate::by_class(&kept, image, |_, d, t| alone.update(&mut pooled, d, t));
                    }
                    prop_assert_eq!(curves.micro().at(cut), pooled.counts);
                    let classes = curves.classes.values().map(|curve| curve.at(cut));
                    let mut total = Counts::default();
                    classes.for_each(|counts| total.merge(counts));
                    prop_assert_eq!(total, pooled.counts);
                }
            }
        }

        #[test]
        fn histograms_settle_alike(scores in proptest::collection::vec(0_u8..100, 0..400)) {
            let bin = |&score: &u8| Bin {
                score: Rank::new(f64::from(score)),
                right: 1,
                wrong: score.into(),
            };
            let mut one = ScoreHistogram::default();
            scores.iter().map(bin).for_each(|bin| one.push(bin));
            let mut other = ScoreHistogram::default();
            scores.iter().rev().map(bin).for_each(|bin| other.push(bin));
            prop_assert_eq!(&one, &other);
            prop_assert_eq!(one.curve().at(0.0).true_positives, scores.len() as u64);
        }
    }
}
