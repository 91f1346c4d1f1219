use std::cmp::Ordering;
use std::fmt;

use metric_core::{Counts, Merge, Metric, named_choice, named_scores, written};

use crate::candidates::{Candidates, Enough, most_pairs, with_candidates};
use crate::count;
use crate::matching::{self, Matching, optimal};
use crate::nearest::Arithmetic;
use crate::{BBox, Detection, Image, Prediction, Shape, Truth, iou, iou_by_corners};

/// Precision, recall and F1 of detections, under a named profile and matching rule.
///
/// An example is one image and class: its detections and its truths, boxes or any [`Shape`]. The
/// images of a data set fall into such examples by [`by_class`]. Tables by class or by image are a
/// [`PerClass`](metric_core::PerClass) of states:
///
/// ```
/// use metric_core::{Counts, Metric, PerClass};
/// use metric_vision::{BBox, Detection, DetectionState, Detections, Truth};
///
/// let at = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let metric = Detections::default(); // one-to-one, IoU of at least 0.5
/// let mut classes: PerClass<&str, DetectionState> = PerClass::default();
///
/// // Two boxes on the one cat, of which one is too many; a dog that was not found.
/// let cats = [at(0.0)?, at(1.0)?].map(Detection::from);
/// metric.update(classes.entry("cat"), &cats, &[Truth::from(at(0.0)?)]);
/// metric.update(classes.entry("dog"), &[], &[Truth::from(at(40.0)?)]);
///
/// let total = classes.micro();
/// assert_eq!(total.counts, Counts::new(1, 1, 1));
/// assert_eq!(metric.compute(&total).f1, Some(0.5));
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
///
/// # Cost
///
/// The cost of the [matching rule](crate::matching); one-to-one counts, where all truths count, need no choice of
/// pairs. They need memory for the detections, the truths and the pairs that reach the threshold (at most 2^26 are
/// kept), and time for a few looks at each pair. A million boxes that each overlap a few others, or a million equal
/// ones, take seconds; a million boxes that each overlap hundreds take a quarter of an hour. A profile of the Fusion
/// Brain Challenge costs the same.
#[derive(Clone, Copy, Debug)]
pub struct Detections<S = BBox> {
    profile: DetectionProfile,
    matching: Option<Matching>,
    iou_threshold: f64,
    count: Count<S>,
}

/// The way in which an item is counted.
type Count<S> = fn(&Detections<S>, &[Detection<S>], &[Truth<S>]) -> DetectionState;

impl Detections {
    /// Returns the metric of a profile at this IoU threshold (`0 < iou_threshold <= 1`).
    ///
    /// # Errors
    ///
    /// Returns an error if the threshold is outside that range, or NaN.
    pub fn new(profile: DetectionProfile, iou_threshold: f64) -> Result<Self, InvalidThreshold> {
        Ok(Self {
            profile,
            matching: profile.matching(),
            iou_threshold: InvalidThreshold::check(iou_threshold)?,
            count: count_boxes,
        })
    }

    /// Returns this metric with a matching rule in place of the profile's.
    #[must_use]
    pub fn with_matching(self, matching: Matching) -> Self {
        Self {
            matching: Some(matching),
            count: count_boxes,
            ..self
        }
    }
}

impl<S: Shape + Clone + PartialEq> Detections<S> {
    /// Returns the metric for any shape: [`DetectionProfile::OneToOne`] with this matching rule.
    ///
    /// [`Matching::AnyOverlap`] uses the IoU of the shape here. The profiles of the Fusion Brain
    /// Challenge are for boxes, whose coordinates their programs look at.
    ///
    /// # Errors
    ///
    /// Returns an error if the threshold is outside `0 < iou_threshold <= 1`, or NaN.
    pub fn of_shapes(matching: Matching, iou_threshold: f64) -> Result<Self, InvalidThreshold> {
        Ok(Self {
            profile: DetectionProfile::OneToOne,
            matching: Some(matching),
            iou_threshold: InvalidThreshold::check(iou_threshold)?,
            count: count_shapes,
        })
    }
}

impl<S> Detections<S> {
    /// Returns the profile.
    #[must_use]
    pub fn profile(&self) -> DetectionProfile {
        self.profile
    }

    /// Returns the matching rule, or `None` if the profile has its own way of counting.
    #[must_use]
    pub fn matching(&self) -> Option<Matching> {
        self.matching
    }

    /// Returns the IoU threshold for a match of a detection and a truth.
    #[must_use]
    pub fn iou_threshold(&self) -> f64 {
        self.iou_threshold
    }
}

/// [`DetectionProfile::OneToOne`] at IoU 0.5.
impl Default for Detections {
    fn default() -> Self {
        Self {
            profile: DetectionProfile::OneToOne,
            matching: Some(Matching::Optimal),
            iou_threshold: 0.5,
            count: count_boxes,
        }
    }
}

/// Calls `visit` with each class of an image that has detections or truths there: its index in the list of classes,
/// the detections in the order of the file, and the truths.
///
/// This is how an image of a [`Dataset`](crate::Dataset) is fed to [`Detections`]:
///
/// ```
/// use metric_core::{Counts, Metric};
/// use metric_vision::{
///     Annotation, BBox, DetectionState, Detections, Image, Key, Prediction, by_class,
/// };
///
/// let shape = BBox::from_xywh(0.0, 0.0, 10.0, 10.0)?;
/// let annotation = |class| Annotation { class, crowd: false, ignore: false, id: 1, area: 100.0, shape };
/// let image = Image::new(Key::Number(7), vec![annotation(0), annotation(2)]);
/// let predictions = [Prediction { image: 0, position: 0, class: 2, score: 0.9, area: 100.0, shape }];
///
/// let metric = Detections::default();
/// let mut state = DetectionState::default();
/// by_class(&predictions, &image, |_class, detections, truths| {
///     metric.update(&mut state, detections, truths);
/// });
/// assert_eq!(state.counts, Counts::new(1, 0, 1));
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
pub fn by_class<S: Clone>(
    predictions: &[Prediction<S>],
    image: &Image<S>,
    visit: impl FnMut(u32, &[Detection<S>], &[Truth<S>]),
) {
    split(predictions, image, S::clone, visit);
}

/// [`by_class`] with the shapes as `shape` gives them, such as references.
pub(crate) fn split<'a, S, T>(
    predictions: &'a [Prediction<S>],
    image: &'a Image<S>,
    shape: impl Fn(&'a S) -> T,
    mut visit: impl FnMut(u32, &[Detection<T>], &[Truth<T>]),
) {
    let classes = |(index, class)| (class, index);
    let found = predictions.iter().map(|prediction| prediction.class);
    let found = in_order(found.enumerate().map(classes).collect());
    let real = image.annotations.iter().map(|annotation| annotation.class);
    let real = in_order(real.enumerate().map(classes).collect());
    let (mut found, mut real) = (found.as_slice(), real.as_slice());
    let (mut detections, mut truths) = (Vec::new(), Vec::new());
    while let Some(class) = first_class(found, real) {
        detections.clear();
        let here = take_class(&mut found, class).iter();
        detections.extend(here.map(|&(_, index)| Detection {
            shape: shape(&predictions[index].shape),
            score: Some(predictions[index].score),
        }));
        truths.clear();
        let here = take_class(&mut real, class).iter();
        truths.extend(here.map(|&(_, index)| {
            let annotation = &image.annotations[index];
            Truth {
                shape: shape(&annotation.shape),
                crowd: annotation.crowd,
                ignore: annotation.ignore,
            }
        }));
        visit(class, &detections, &truths);
    }
}

/// The class of an object, and the index of the object.
type OfClass = (u32, usize);

/// Objects by class, and those of a class by their index.
fn in_order(mut objects: Vec<OfClass>) -> Vec<OfClass> {
    objects.sort_unstable();
    objects
}

/// The first class of two lists.
fn first_class(found: &[OfClass], real: &[OfClass]) -> Option<u32> {
    let first = [found.first(), real.first()].into_iter().flatten();
    first.map(|&(class, _)| class).min()
}

/// Takes the objects of a class from the start of a list.
fn take_class<'o>(objects: &mut &'o [OfClass], class: u32) -> &'o [OfClass] {
    let end = objects.partition_point(|&(of, _)| of == class);
    let (here, later) = objects.split_at(end);
    *objects = later;
    here
}

/// The convention to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DetectionProfile {
    /// Ours, and what precision and recall of detections should mean: the most one-to-one pairs at
    /// the threshold. 0/0 is undefined.
    #[default]
    OneToOne,
    /// The final program of the Fusion Brain Challenge 2021 (2021-10-19) for zero-shot detection.
    ///
    /// Its rule counts a prediction as correct if its IoU with *any* ground-truth box is not below
    /// the threshold, and counts `max(0, truths − predictions)` ground-truth boxes as missed. Known
    /// defects:
    /// - any number of predictions on one ground-truth box are all correct;
    /// - a ground-truth box that nobody found costs nothing as long as there are as many
    ///   predictions as truths;
    /// - a prediction that equals the one before it is not counted, if there are ground-truth
    ///   boxes, but is still a prediction in the number of missed boxes;
    /// - IoU is computed from corners, [`iou_by_corners`], and its last bit decides at exactly
    ///   the threshold;
    /// - 0/0 is 0, so a data set without boxes, all answered rightly, scores 0.
    FusionBrain2021,
    /// The first program of the Fusion Brain Challenge 2021 (2021-10-08), also its baseline's.
    ///
    /// A ground-truth box is missed if no prediction overlaps it at or above the threshold. Known
    /// defects: as above, except for the missed boxes; all equal predictions count once, if there
    /// are ground-truth boxes, and ground-truth boxes that equal the one before once, if there are
    /// predictions.
    FusionBrainBaseline,
    /// The rule in the challenge's text: above the threshold is correct, below is wrong.
    ///
    /// An IoU of exactly the threshold is neither; such predictions are reported as undecided.
    /// Missed boxes are counted as in the final program, equal predictions are all counted, and 0/0
    /// is undefined.
    SeedText,
}

impl DetectionProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[
        Self::OneToOne,
        Self::FusionBrain2021,
        Self::FusionBrainBaseline,
        Self::SeedText,
    ];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneToOne => "one-to-one",
            Self::FusionBrain2021 => "fusion-brain-2021",
            Self::FusionBrainBaseline => "fusion-brain-baseline",
            Self::SeedText => "seed-text",
        }
    }

    /// Returns whether it is one of the programs of the Fusion Brain Challenge 2021, which score 0 where a ratio is
    /// undefined and insist on a prediction for each class that an image asks for.
    #[must_use]
    pub const fn is_fusion_brain(self) -> bool {
        match self {
            Self::FusionBrain2021 | Self::FusionBrainBaseline => true,
            Self::OneToOne | Self::SeedText => false,
        }
    }

    const fn matching(self) -> Option<Matching> {
        match self {
            Self::OneToOne => Some(Matching::Optimal),
            Self::FusionBrain2021 => Some(Matching::AnyOverlap),
            Self::FusionBrainBaseline | Self::SeedText => None,
        }
    }
}

named_choice!(DetectionProfile, "profile");

/// The state of [`Detections`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DetectionState {
    /// Correct and incorrect predictions, and missed ground-truth boxes.
    pub counts: Counts,
    /// Predictions that count as correct although their ground-truth boxes were taken: the number
    /// of correct ones beyond those that could be matched one-to-one. 0 for one-to-one rules.
    pub repeated: u64,
    /// Predictions that are neither correct nor wrong: [`DetectionProfile::SeedText`] at exactly the
    /// threshold.
    pub undecided: u64,
    /// Predictions that are neither correct nor wrong because they match a truth that does not count.
    pub ignored: u64,
}

written!(DetectionState { counts, repeated, undecided, ignored } check Self::check);

impl DetectionState {
    /// Refuses counts that no data set has.
    fn check(&self) -> Result<(), &'static str> {
        let Self {
            counts,
            repeated,
            undecided,
            ignored,
        } = *self;
        let Counts {
            true_positives,
            false_positives,
            false_negatives,
        } = counts;
        let counts = [true_positives, false_positives, false_negatives];
        count::check(counts.into_iter().chain([repeated, undecided, ignored]))
    }
}

impl Merge for DetectionState {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        count::add_counts(&mut self.counts, other.counts, times);
        count::add(&mut self.repeated, other.repeated, times);
        count::add(&mut self.undecided, other.undecided, times);
        count::add(&mut self.ignored, other.ignored, times);
    }
}

/// The score of [`Detections`]. Where a denominator is 0, the two Fusion Brain programs print 0; under the other
/// profiles the ratio is undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DetectionScore {
    /// The share of predictions that are correct.
    pub precision: Option<f64>,
    /// The share of correct predictions among correct predictions and missed boxes.
    pub recall: Option<f64>,
    /// Their harmonic mean.
    pub f1: Option<f64>,
}

named_scores!(DetectionScore {
    precision,
    recall,
    f1
});

impl<S> Metric for Detections<S> {
    /// The detections of one image and class, in the order of the file.
    type Prediction = [Detection<S>];
    /// The true objects of that image and class.
    type Reference = [Truth<S>];
    type State = DetectionState;
    type Score = DetectionScore;

    fn update(
        &self,
        state: &mut DetectionState,
        prediction: &[Detection<S>],
        reference: &[Truth<S>],
    ) {
        state.merge((self.count)(self, prediction, reference));
    }

    fn compute(&self, state: &DetectionState) -> DetectionScore {
        let counts = &state.counts;
        let score = DetectionScore {
            precision: counts.precision(),
            recall: counts.recall(),
            f1: counts.f1(),
        };
        match self.profile {
            DetectionProfile::OneToOne => score,
            // The challenge's programs take the harmonic mean of the two rounded ratios, which can
            // differ from the mean in counts in the last bit, and print 0 for 0/0.
            DetectionProfile::FusionBrain2021 | DetectionProfile::FusionBrainBaseline => {
                let precision = score.precision.unwrap_or(0.0);
                let recall = score.recall.unwrap_or(0.0);
                DetectionScore {
                    precision: Some(precision),
                    recall: Some(recall),
                    f1: Some(harmonic_mean(precision, recall)),
                }
            }
            DetectionProfile::SeedText => DetectionScore {
                f1: score.f1.map(|f1| match (score.precision, score.recall) {
                    (Some(precision), Some(recall)) => harmonic_mean(precision, recall),
                    _ => f1,
                }),
                ..score
            },
        }
    }
}

/// `2 P R / (P + R)`, and 0 where both are 0.
fn harmonic_mean(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 {
        2.0 * precision * recall / (precision + recall)
    } else {
        0.0
    }
}

/// Counts boxes, which the programs of a profile may look at in their own way.
fn count_boxes(metric: &Detections, detections: &[Detection], truths: &[Truth]) -> DetectionState {
    let threshold = metric.iou_threshold;
    match (metric.matching, metric.profile) {
        (Some(Matching::AnyOverlap), _) => count_any_overlap(
            detections,
            truths,
            threshold,
            (Arithmetic::Corners(0.0), iou_by_corners),
        ),
        (Some(_), _) => count_shapes(metric, detections, truths),
        (None, DetectionProfile::SeedText) => count_seed_text(detections, truths, threshold),
        (None, _) => count_baseline(detections, truths, threshold),
    }
}

/// Counts any shapes.
fn count_shapes<S: Shape + Clone + PartialEq>(
    metric: &Detections<S>,
    detections: &[Detection<S>],
    truths: &[Truth<S>],
) -> DetectionState {
    let threshold = metric.iou_threshold;
    match metric.matching.unwrap_or_default() {
        Matching::Optimal => count_optimal(detections, truths, threshold),
        Matching::AnyOverlap => {
            count_any_overlap(detections, truths, threshold, (Arithmetic::Shape, S::iou))
        }
        rule => count_matches(&rule.matches(detections, truths, threshold), truths),
    }
}

fn count_matches<S>(matches: &[Option<usize>], truths: &[Truth<S>]) -> DetectionState {
    let counts = matching::counts(matches, truths);
    DetectionState {
        counts,
        ignored: matches.len() as u64 - counts.predicted(),
        ..DetectionState::default()
    }
}

fn count_optimal<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    threshold: f64,
) -> DetectionState {
    if !truths.iter().all(Truth::is_counted) {
        return count_matches(&optimal(detections, truths, threshold), truths);
    }
    let enough = Enough::new(Arithmetic::Shape, threshold, |a: &S, b: &S| {
        a.iou(b) >= threshold
    });
    let hits = most_pairs(detections, truths, enough);
    DetectionState {
        counts: Counts::from_totals(hits, detections.len() as u64, truths.len() as u64),
        ..DetectionState::default()
    }
}

/// Counts by a rule that knows no truths but those that count. Detections of other truths alone are
/// left out before.
fn count_without_ignored<S: Shape + Clone>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    enough: Enough<impl Fn(&S, &S) -> bool + Copy>,
    count: impl Fn(&[Detection<S>], &[Truth<S>]) -> DetectionState,
) -> DetectionState {
    if truths.iter().all(Truth::is_counted) {
        return count(detections, truths);
    }
    let (counted, others): (Vec<_>, Vec<_>) = truths.iter().cloned().partition(Truth::is_counted);
    let reached = |truths: &[Truth<S>]| {
        let mut reached = vec![false; detections.len()];
        with_candidates(detections, truths, enough, |found| {
            for (row, reached) in found.rows_with_any().zip(&mut reached) {
                *reached = row;
            }
        });
        reached
    };
    let (right, ignored) = (reached(&counted), reached(&others));
    let kept = detections.iter().zip(right.into_iter().zip(ignored));
    let kept: Vec<Detection<S>> = kept
        .filter(|(_, (right, ignored))| *right || !ignored)
        .map(|(detection, _)| detection.clone())
        .collect();
    DetectionState {
        ignored: (detections.len() - kept.len()) as u64,
        ..count(&kept, &counted)
    }
}

/// The counting of [`DetectionProfile::FusionBrain2021`].
fn count_any_overlap<S: Shape + Clone + PartialEq>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    threshold: f64,
    (arithmetic, iou): (Arithmetic, impl Fn(&S, &S) -> f64),
) -> DetectionState {
    let enough = Enough::new(arithmetic, threshold, |a: &S, b: &S| iou(a, b) >= threshold);
    count_without_ignored(detections, truths, enough, |detections, truths| {
        let missed = truths.len().saturating_sub(detections.len()) as u64;
        if truths.is_empty() || detections.is_empty() {
            return unmatched(detections.len(), missed);
        }
        // The program groups equal neighbors and looks at each group once.
        let mut counted = detections.to_vec();
        counted.dedup_by(|a, b| a.shape == b.shape);
        with_candidates(&counted, truths, enough, |found| any(found, missed))
    })
}

/// The counting of [`DetectionProfile::FusionBrainBaseline`].
fn count_baseline(detections: &[Detection], truths: &[Truth], threshold: f64) -> DetectionState {
    let reaches = |a: &BBox, b: &BBox| iou_by_corners(a, b) >= threshold;
    let enough = Enough::new(Arithmetic::Corners(0.0), threshold, reaches);
    count_without_ignored(detections, truths, enough, |detections, truths| {
        if truths.is_empty() || detections.is_empty() {
            return unmatched(detections.len(), truths.len() as u64);
        }
        // The program sorts predictions by their coordinates before it groups equal neighbors;
        // ground-truth boxes it groups as they come. Adding 0 turns the two zeros into one number,
        // as they are in the program.
        let key = |detection: &Detection| detection.shape.xywh().map(|number| number + 0.0);
        let mut counted = detections.to_vec();
        counted.sort_by(|a, b| {
            let pairs = key(a).into_iter().zip(key(b));
            pairs.fold(Ordering::Equal, |order, (a, b)| order.then(a.total_cmp(&b)))
        });
        counted.dedup_by_key(|detection| detection.shape);
        with_candidates(&counted, truths, enough, |found| {
            let mut missed = 0;
            let mut before = None;
            for (truth, found) in truths.iter().zip(found.columns_with_any()) {
                missed += u64::from(!found && before != Some(truth));
                before = Some(truth);
            }
            any(found, missed)
        })
    })
}

/// The counting of [`DetectionProfile::SeedText`].
fn count_seed_text(detections: &[Detection], truths: &[Truth], threshold: f64) -> DetectionState {
    let enough = Enough::new(Arithmetic::Shape, threshold, |a: &BBox, b: &BBox| {
        iou(a, b) >= threshold
    });
    count_without_ignored(detections, truths, enough, |detections, truths| {
        let missed = truths.len().saturating_sub(detections.len()) as u64;
        let reached = with_candidates(detections, truths, enough, |found| right(found));
        let above = |a: &BBox, b: &BBox| iou(a, b) > threshold;
        let above = Enough::new(Arithmetic::Shape, threshold, above);
        let mut item = with_candidates(detections, truths, above, |found| any(found, missed));
        item.undecided = reached - item.counts.true_positives;
        item.counts.false_positives -= item.undecided;
        item
    })
}

/// An image and class where one side is empty.
fn unmatched(predicted: usize, missed: u64) -> DetectionState {
    DetectionState {
        counts: Counts::new(0, predicted as u64, missed),
        ..DetectionState::default()
    }
}

/// Counts each detection that overlaps any ground-truth box enough as correct.
fn any<S: Shape, F: Fn(&S, &S) -> bool>(
    found: &mut Candidates<'_, S, F>,
    missed: u64,
) -> DetectionState {
    let right = right(found);
    DetectionState {
        counts: Counts::new(right, found.rows() - right, missed),
        repeated: right - found.most_pairs(),
        ..DetectionState::default()
    }
}

/// The number of detections that overlap any truth enough.
fn right<S: Shape, F: Fn(&S, &S) -> bool>(found: &Candidates<'_, S, F>) -> u64 {
    found.rows_with_any().filter(|&any| any).count() as u64
}

/// The error for an IoU threshold outside `0 < t <= 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidThreshold(pub f64);

impl InvalidThreshold {
    /// The threshold, if it is invalid.
    pub(crate) fn check(threshold: f64) -> Result<f64, Self> {
        if threshold > 0.0 && threshold <= 1.0 {
            Ok(threshold)
        } else {
            Err(Self(threshold))
        }
    }
}

impl fmt::Display for InvalidThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the IoU threshold is {}: expected more than 0, at most 1",
            self.0
        )
    }
}

impl std::error::Error for InvalidThreshold {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strip(x: f64) -> BBox {
        BBox::from_xywh(x, 0.0, 10.0, 1.0).expect("a box")
    }

    /// Counts of strips of width 10 at these places, from IoU 0.5 on (an offset of 10/3).
    #[track_caller]
    fn check(profile: DetectionProfile, detections: &[f64], truths: &[f64], expected: [u64; 4]) {
        let detections: Vec<_> = detections.iter().map(|&x| strip(x).into()).collect();
        let truths: Vec<_> = truths.iter().map(|&x| strip(x).into()).collect();
        let metric = Detections::new(profile, 0.5).expect("a threshold");
        let state = metric.measure(&detections, &truths);
        let Counts {
            true_positives,
            false_positives,
            false_negatives,
        } = state.counts;
        let counts = [
            true_positives,
            false_positives,
            false_negatives,
            state.repeated,
        ];
        assert_eq!(counts, expected, "{profile}");
    }

    #[test]
    fn profiles_count_as_documented() {
        use DetectionProfile::{FusionBrain2021, FusionBrainBaseline, OneToOne, SeedText};
        for &profile in DetectionProfile::ALL {
            check(profile, &[], &[], [0, 0, 0, 0]);
            check(profile, &[0.0, 0.0], &[], [0, 2, 0, 0]);
            check(profile, &[], &[0.0, 0.0], [0, 0, 2, 0]);
            check(profile, &[1.0], &[0.0], [1, 0, 0, 0]);
            check(
                profile,
                &[9.0],
                &[0.0],
                [
                    0,
                    1,
                    if matches!(profile, OneToOne | FusionBrainBaseline) {
                        1
                    } else {
                        0
                    },
                    0,
                ],
            );
        }
        // Two boxes on one truth, the other not found.
        check(OneToOne, &[0.0, 1.0], &[0.0, 50.0], [1, 1, 1, 0]);
        check(FusionBrain2021, &[0.0, 1.0], &[0.0, 50.0], [2, 0, 0, 1]);
        check(FusionBrainBaseline, &[0.0, 1.0], &[0.0, 50.0], [2, 0, 1, 1]);
        check(SeedText, &[0.0, 1.0], &[0.0, 50.0], [2, 0, 0, 1]);
        // Equal neighbors, and equal predictions apart.
        check(
            FusionBrain2021,
            &[0.0, 0.0, 90.0, 0.0],
            &[0.0],
            [2, 1, 0, 1],
        );
        check(
            FusionBrainBaseline,
            &[0.0, 0.0, 90.0, 0.0],
            &[0.0],
            [1, 1, 0, 0],
        );
        check(SeedText, &[0.0, 0.0, 90.0, 0.0], &[0.0], [3, 1, 0, 2]);
        // Equal neighbors among the truths that nothing finds.
        check(FusionBrainBaseline, &[90.0], &[0.0, 0.0], [0, 1, 1, 0]);
    }

    #[test]
    fn the_programs_arithmetic_decides_at_the_threshold() {
        // Half of a box: IoU is 1/2, but 0.49999999999999983 in COCO's arithmetic.
        let truth = BBox::from_xywh(43.8, 49.6, 24.8, 24.6).expect("a box");
        let half = BBox::from_xywh(43.8, 49.6, 12.4, 24.6).expect("a box");
        assert!(iou(&half, &truth) < 0.5);
        assert_eq!(iou_by_corners(&half, &truth), 0.5);
        for &profile in DetectionProfile::ALL {
            let metric = Detections::new(profile, 0.5).expect("a threshold");
            let state = metric.measure(&[half.into()], &[truth.into()]);
            let program = matches!(
                profile,
                DetectionProfile::FusionBrain2021 | DetectionProfile::FusionBrainBaseline
            );
            assert_eq!(state.counts.true_positives, u64::from(program), "{profile}");
        }
    }

    #[test]
    fn exactly_the_threshold() {
        let half = BBox::from_xywh(0.0, 0.0, 5.0, 1.0).expect("a box");
        for &profile in DetectionProfile::ALL {
            let metric = Detections::new(profile, 0.5).expect("a threshold");
            let state = metric.measure(&[half.into()], &[strip(0.0).into()]);
            let decided = u64::from(profile != DetectionProfile::SeedText);
            assert_eq!(
                (state.counts.true_positives, state.undecided),
                (decided, 1 - decided)
            );
        }
    }

    #[test]
    fn zero_over_zero() {
        let nothing = DetectionState::default();
        for &profile in DetectionProfile::ALL {
            let metric = Detections::new(profile, 0.5).expect("a threshold");
            let zero = matches!(
                profile,
                DetectionProfile::FusionBrain2021 | DetectionProfile::FusionBrainBaseline
            );
            assert_eq!(
                metric.compute(&nothing).f1,
                zero.then_some(0.0),
                "{profile}"
            );
            assert_eq!(
                metric.compute(&nothing).precision,
                zero.then_some(0.0),
                "{profile}"
            );
        }
    }

    #[test]
    fn detections_of_truths_that_do_not_count_drop_out() {
        let ignored = Truth {
            ignore: true,
            ..strip(50.0).into()
        };
        let truths = [strip(0.0).into(), ignored, strip(100.0).into()];
        let found = [0.0, 50.0, 80.0].map(|x| strip(x).into());
        let others = [
            (DetectionProfile::OneToOne, 1),
            (DetectionProfile::FusionBrainBaseline, 1),
        ];
        for &profile in DetectionProfile::ALL {
            let metric = Detections::new(profile, 0.5).expect("a threshold");
            let state = metric.measure(&found, &truths);
            // Two detections are left for two truths: any-overlap counts none as missed.
            let missed = others.iter().find(|(other, _)| *other == profile);
            let missed = missed.map_or(0, |&(_, missed)| missed);
            assert_eq!(state.counts, Counts::new(1, 1, missed), "{profile}");
            assert_eq!(state.ignored, 1, "{profile}");
        }
        for &matching in Matching::ALL {
            let boxes = Detections::default().with_matching(matching);
            let shapes = Detections::of_shapes(matching, 0.5).expect("a threshold");
            let state = boxes.measure(&found, &truths);
            assert_eq!((state.ignored, state), (1, shapes.measure(&found, &truths)));
        }
    }

    #[test]
    fn thresholds_out_of_range() {
        for threshold in [0.0, -0.5, 1.1, f64::NAN] {
            assert!(Detections::new(DetectionProfile::OneToOne, threshold).is_err());
        }
    }

    proptest! {
        #[test]
        fn one_to_one_counts_add_up(
            detections in proptest::collection::vec(0_u8..40, 0..8),
            truths in proptest::collection::vec(0_u8..40, 0..8),
        ) {
            let detections: Vec<Detection> = detections.iter().map(|&x| strip(x.into()).into()).collect();
            let truths: Vec<Truth> = truths.iter().map(|&x| strip(x.into()).into()).collect();
            for &matching in Matching::ALL.iter().filter(|&&rule| rule != Matching::AnyOverlap) {
                let metric = Detections::default().with_matching(matching);
                let counts = metric.measure(&detections, &truths).counts;
                prop_assert_eq!(counts.predicted(), detections.len() as u64);
                prop_assert_eq!(counts.actual(), truths.len() as u64);
            }
        }
    }
}
