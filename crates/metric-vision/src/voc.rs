use std::cmp::Reverse;
use std::collections::BTreeMap;

use metric_core::{
    Counts, Malformed, Metric, Reader, RowSource, WeightedRows, Writer, Written, fields,
    named_choice, named_scores, ratio, written,
};

use crate::by_image::{ByImage, Check};
use crate::classes::{
    ClassState, ClassTotals, InvalidIndices, Judged, Renumbering, is_ranked_by_order,
};
use crate::detection::split;
use crate::matching::voc_by;
use crate::nearest::Arithmetic;
use crate::numpy::pairwise_sum;
use crate::score::Rank;
use crate::{BBox, Curve, Detection, Image, InvalidThreshold, Prediction, ScoreHistogram, Shape};

/// Average precision as in the Pascal VOC challenges.
///
/// An example is one image of a [`Dataset`](crate::Dataset): its detections and its true objects, which are matched
/// within each class by VOC's rule, [`matching::voc`](crate::matching::voc). Objects that are left out or crowds are
/// VOC's "difficult" ones. The average precision of a class is the area under its curve of precision over recall, in
/// which each precision counts as the greatest one at that recall or above; [`Interpolation`] says how the area is
/// taken.
///
/// # Ties
///
/// Detections of equal score rank by their position in the results file
/// ([`Prediction::position`]), matching the development kit. Detections with equal positions, such as those
/// of data without a file order, rank by the key of their image, then by their position in the image.
/// The rank does not depend on how the images are divided among states, because a part of a file keeps
/// the positions of the whole file.
///
/// # Source
///
/// Everingham et al., *The Pascal Visual Object Classes Challenge* (IJCV 88, 2010), section 4.2.
/// Bit-equal to py-faster-rcnn's `voc_eval.py`, and so to Padilla's *review of object detection
/// metrics* except for the order in which areas are added.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::{Annotation, BBox, Image, Interpolation, Prediction, VocAp};
///
/// let at = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let truths = [at(0.0)?, at(50.0)?].map(|shape| Annotation::new(0, shape));
/// let image = Image::new(1, truths.to_vec());
/// // A hit at 0.9, a false detection at 0.8, a hit at 0.3.
/// let found = [(0.9, at(0.0)?), (0.8, at(90.0)?), (0.3, at(50.0)?)]
///     .map(|(score, shape)| Prediction::new(0, score, shape));
///
/// let metric = VocAp::new(0.5)?;
/// let state = metric.measure(&found, &image);
/// // Precision is 1 up to recall 1/2, and 2/3 up to recall 1.
/// assert_eq!(metric.compute(&state).mean, Some(0.5 * 1.0 + 0.5 * (2.0 / 3.0)));
/// // Recalls 0, 0.1, ..., 0.5 have precision 1, and 0.6, ..., 1 have 2/3.
/// let eleven = metric.with_interpolation(Interpolation::ElevenPoint).compute(&state);
/// assert!((eleven.mean.unwrap() - (6.0 + 5.0 * 2.0 / 3.0) / 11.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
///
/// That of [`voc`](crate::matching::voc) for each image and class. The state has 24 bytes for each
/// detection.
#[derive(Clone, Copy, Debug)]
pub struct VocAp<S = BBox> {
    iou_threshold: f64,
    strict: bool,
    interpolation: Interpolation,
    iou: fn(&S, &S) -> f64,
    arithmetic: Arithmetic,
}

impl<S: Shape> VocAp<S> {
    /// Returns the metric with matches at or above this IoU threshold (`0 < iou_threshold <= 1`; VOC uses 0.5), and
    /// with [every-point interpolation](Interpolation::EveryPoint).
    ///
    /// # Errors
    ///
    /// Returns an error if the threshold is outside that range, or NaN.
    pub fn new(iou_threshold: f64) -> Result<Self, InvalidThreshold> {
        Ok(Self {
            iou_threshold: InvalidThreshold::check(iou_threshold)?,
            strict: false,
            interpolation: Interpolation::default(),
            iou: S::iou,
            arithmetic: Arithmetic::Shape,
        })
    }

    /// Returns this metric with matches only above the threshold if `strict`, as in py-faster-rcnn and Detectron, and
    /// at or above it otherwise.
    #[must_use]
    pub fn with_strict(self, strict: bool) -> Self {
        Self { strict, ..self }
    }

    /// Returns this metric with this interpolation.
    #[must_use]
    pub fn with_interpolation(self, interpolation: Interpolation) -> Self {
        Self {
            interpolation,
            ..self
        }
    }
}

impl VocAp {
    /// Returns this metric with [`iou_plus_one`], the IoU of the development kit, in place of [`iou`](crate::iou).
    #[must_use]
    pub fn with_pixel_plus_one(self) -> Self {
        Self {
            iou: iou_plus_one,
            // Boxes at a distance below 1 overlap by it.
            arithmetic: Arithmetic::Corners(1.0),
            ..self
        }
    }
}

/// Returns the intersection over union of boxes whose right and bottom coordinates are those of the last pixels
/// inside, so that a width is `x2 − x1 + 1`. The result is in \[0, 1\].
///
/// This is the arithmetic of Pascal VOC's development kit, whose corners are whole pixels, and of
/// py-faster-rcnn and Padilla's program. On boxes of a few pixels it differs from
/// [`iou`](crate::iou) by several percent. Coordinates in a unit other than pixels make no sense
/// here. Boxes that only touch overlap, and so do those at a distance of less than 1. The corners
/// `x + width` and `y + height` are formed first; they are the original ones where coordinates are
/// whole numbers. Where an area is not finite the IoU is 0.
///
/// ```
/// use metric_vision::{BBox, iou_plus_one};
///
/// // 2 x 1 and 2 x 1 pixels, of which one is common.
/// let a = BBox::from_xyxy(1.0, 1.0, 2.0, 1.0)?;
/// let b = BBox::from_xyxy(2.0, 1.0, 3.0, 1.0)?;
/// assert_eq!(iou_plus_one(&a, &b), 1.0 / 3.0);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[must_use]
pub fn iou_plus_one(a: &BBox, b: &BBox) -> f64 {
    let (a, b) = (a.bounds(), b.bounds());
    let area = |x: [f64; 4]| (x[2] - x[0] + 1.0) * (x[3] - x[1] + 1.0);
    let width = a[2].min(b[2]) - a[0].max(b[0]) + 1.0;
    let height = a[3].min(b[3]) - a[1].max(b[1]) + 1.0;
    if width <= 0.0 || height <= 0.0 {
        return 0.0;
    }
    let overlap = width * height;
    let union = area(a) + area(b) - overlap;
    if union > 0.0 && union.is_finite() {
        overlap / union
    } else {
        0.0
    }
}

/// The way in which the area under a curve is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Interpolation {
    /// The whole area: VOC since 2010.
    #[default]
    EveryPoint,
    /// The mean of the precisions at recall 0, 0.1, ..., 1: VOC until 2009.
    ElevenPoint,
}

impl Interpolation {
    /// All of them.
    pub const ALL: &[Self] = &[Self::EveryPoint, Self::ElevenPoint];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EveryPoint => "every",
            Self::ElevenPoint => "11",
        }
    }
}

named_choice!(Interpolation, "interpolation");

impl<S: Shape> Metric for VocAp<S> {
    /// The detections in one image, in the order of the file.
    type Prediction = [Prediction<S>];
    /// The image with its true objects.
    type Reference = Image<S>;
    type State = VocState;
    type Score = VocScore;

    fn update(&self, state: &mut VocState, prediction: &[Prediction<S>], reference: &Image<S>) {
        let mut example = VocImage {
            truths: Vec::new(),
            detections: Vec::with_capacity(prediction.len()),
        };
        let iou = |a: &&S, b: &&S| (self.iou)(a, b);
        let mut positions: Vec<(u32, u32)> = prediction
            .iter()
            .map(|prediction| (prediction.class, prediction.position))
            .collect();
        // As `split` has the detections.
        positions.sort_by_key(|&(class, _)| class);
        let mut positions = positions.into_iter().map(|(_, position)| position);
        split(
            prediction,
            reference,
            |shape| shape,
            |class, detections, truths| {
                let counted = truths.iter().filter(|truth| truth.is_counted()).count();
                if counted > 0 {
                    example.truths.push((class, counted as u64));
                }
                let matches = voc_by(
                    truths,
                    detections,
                    self.iou_threshold,
                    self.strict,
                    (self.arithmetic, iou),
                );
                let outcome = |(found, detection): (Option<usize>, &Detection<&S>)| Detected {
                    class,
                    score: Rank::new(detection.score),
                    position: positions.next().unwrap_or_default(),
                    outcome: match found.and_then(|position| truths.get(position)) {
                        None => Outcome::Wrong,
                        Some(truth) if truth.is_counted() => Outcome::Right,
                        Some(_) => Outcome::Ignored,
                    },
                };
                example
                    .detections
                    .extend(matches.into_iter().zip(detections).map(outcome));
            },
        );
        state.images.insert(reference.key.clone(), example);
    }

    fn compute(&self, state: &VocState) -> VocScore {
        score(&rows_by_class(&[state]), self.interpolation, &[1])
    }
}

impl<S> VocAp<S> {
    /// Returns the precision-recall curve of each class that has truths or detections, by the index of the class in
    /// the list of classes. The points are not interpolated; the average precision is the area under the curve after
    /// [`Interpolation`].
    ///
    /// ```
    /// use metric_core::{Counts, Metric};
    /// use metric_vision::{Annotation, BBox, Image, Prediction, VocAp};
    ///
    /// let at = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
    /// let image = Image::new(1, vec![Annotation::new(0, at(0.0)?)]);
    /// let found = [(0.9, at(90.0)?), (0.8, at(0.0)?)];
    /// let found = found.map(|(score, shape)| Prediction::new(0, score, shape));
    ///
    /// let metric = VocAp::new(0.5)?;
    /// let curves = metric.curves(&metric.measure(&found, &image));
    /// assert_eq!(curves[&0].at(0.9), Counts::new(0, 1, 1));
    /// assert_eq!(curves[&0].at(0.8), Counts::new(1, 1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn curves(&self, state: &VocState) -> BTreeMap<u32, Curve> {
        let mut classes: BTreeMap<u32, ScoreHistogram> = BTreeMap::new();
        for image in state.images.unordered() {
            for &(class, truths) in &image.truths {
                classes.entry(class).or_default().add_truths(truths);
            }
            for detected in &image.detections {
                let of_class = classes.entry(detected.class).or_default();
                match detected.outcome {
                    Outcome::Right => of_class.add(detected.score, true),
                    Outcome::Wrong => of_class.add(detected.score, false),
                    Outcome::Ignored => {}
                }
            }
        }
        let curve = |(class, histogram): (u32, ScoreHistogram)| (class, histogram.curve());
        classes.into_iter().map(curve).collect()
    }

    /// Returns a function that takes a weight for each state, and returns the score of the states merged as many
    /// times as their weights say. The states are usually those of single images, and the weights those of a
    /// bootstrap replicate.
    ///
    /// ```
    /// use metric_core::{Merge, Metric};
    /// use metric_vision::{Annotation, BBox, Image, Prediction, VocAp, VocState};
    ///
    /// let metric = VocAp::new(0.5)?;
    /// let image = |key: i64, x: f64| {
    ///     let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
    ///     let image = Image::new(key, vec![Annotation::new(0, square(0.0)?)]);
    ///     Ok::<_, metric_vision::InvalidBox>(metric.measure(&[Prediction::new(0, 0.5, square(x)?)], &image))
    /// };
    /// let (hit, miss) = (image(1, 0.0)?, image(2, 20.0)?);
    ///
    /// let mut merged = VocState::default();
    /// merged.merge_times(&hit, 2);
    /// merged.merge_times(&miss, 1);
    /// let weighted = metric.weighted(&[&hit, &miss]);
    /// assert_eq!(weighted(&[2, 1]), metric.compute(&merged));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Cost
    ///
    /// One sort for all weights. Each set of weights is one pass over the detections.
    pub fn weighted(&self, states: &[&VocState]) -> impl Fn(&[u64]) -> VocScore + use<S> {
        let interpolation = self.interpolation;
        let classes = rows_by_class(states);
        move |weights| score(&classes, interpolation, weights)
    }
}

fn score(
    classes: &BTreeMap<u32, ClassRows>,
    interpolation: Interpolation,
    weights: &[u64],
) -> VocScore {
    let scored = classes.iter();
    let scored =
        scored.filter_map(|(&class, rows)| Some((class, rows.score(weights, interpolation)?)));
    let classes: BTreeMap<u32, VocClass> = scored.collect();
    let all: Vec<f64> = classes
        .values()
        .filter_map(|class| class.average_precision)
        .collect();
    VocScore {
        mean: (!all.is_empty()).then(|| pairwise_sum(&all) / all.len() as f64),
        classes,
    }
}

/// The objects and the detections of a class in several states.
struct ClassRows {
    /// By state.
    truths: Vec<(u32, u64)>,
    detections: WeightedRows<Detected>,
}

fn rows_by_class(states: &[&VocState]) -> BTreeMap<u32, ClassRows> {
    type Rows = (Vec<(u32, u64)>, Vec<(RowSource, Detected)>);
    let mut classes: BTreeMap<u32, Rows> = BTreeMap::new();
    for (source, image) in ByImage::of_all(states.iter().map(|state| &state.images)) {
        for &(class, truths) in &image.truths {
            let of_class = &mut classes.entry(class).or_default().0;
            of_class.push((source.state, truths));
        }
        for &detected in &image.detections {
            let of_class = &mut classes.entry(detected.class).or_default().1;
            of_class.push((source, detected));
        }
    }
    let sorted = classes.into_iter().map(|(class, (truths, detections))| {
        // Detections with equal keys stay in the order of their images.
        let key = |detected: &Detected| (Reverse(detected.score), detected.position);
        let detections = WeightedRows::new(detections, key);
        (class, ClassRows { truths, detections })
    });
    sorted.collect()
}

/// The state of [`VocAp`]: for each image, by its key, the number of truths of each class and the outcome of each
/// detection.
///
/// The same image twice counts twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VocState {
    images: ByImage<VocImage>,
}

/// One image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct VocImage {
    /// By class.
    truths: Vec<(u32, u64)>,
    /// By class, and within a class in the order of the file.
    detections: Vec<Detected>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Detected {
    class: u32,
    score: Rank,
    /// The position in the results file.
    position: u32,
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Right,
    Wrong,
    Ignored,
}

impl Check for VocImage {
    fn check(&self) -> Result<(), &'static str> {
        let of_image = 1..=u64::from(u32::MAX);
        if !self
            .truths
            .iter()
            .all(|(_, count)| of_image.contains(count))
        {
            return Err("expected a positive number of objects for each class");
        }
        if !self.truths.is_sorted_by(|(a, _), (b, _)| a < b) {
            return Err("expected the objects in rising order of their classes");
        }
        if self.detections.is_sorted_by_key(|detected| detected.class) {
            Ok(())
        } else {
            Err("expected the detections in rising order of their classes")
        }
    }
}

fields!(VocState { images });
written!(VocImage { truths, detections });
written!(Detected {
    class,
    score,
    position,
    outcome
});

/// The name of the outcome.
impl Written for Outcome {
    fn write(&self, to: &mut Writer) {
        to.text(match self {
            Self::Right => "Right",
            Self::Wrong => "Wrong",
            Self::Ignored => "Ignored",
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match from.text()? {
            "Right" => Ok(Self::Right),
            "Wrong" => Ok(Self::Wrong),
            "Ignored" => Ok(Self::Ignored),
            _ => Err("expected an outcome".into()),
        }
    }
}

impl ClassState for VocState {
    fn renumber_classes(&mut self, indices: &[u32]) -> Result<(), InvalidIndices> {
        let classes = self.images.unordered().flat_map(|image| {
            let truths = image.truths.iter().map(|&(class, _)| class);
            truths.chain(image.detections.iter().map(|detected| detected.class))
        });
        let indices = Renumbering::new(indices, classes)?;
        for image in self.images.rows_mut() {
            for (class, _) in &mut image.truths {
                *class = indices.number(*class);
            }
            image.truths.sort_unstable();
            for detected in &mut image.detections {
                detected.class = indices.number(detected.class);
            }
            // Within a class they stay in the order of the file.
            image.detections.sort_by_key(|detected| detected.class);
        }
        Ok(())
    }

    fn class_totals(&self) -> BTreeMap<u32, ClassTotals> {
        let totals = self.images.unordered().flat_map(|image| {
            let truths = image.truths.iter();
            let truths = truths.map(|&(class, truths)| (class, ClassTotals::truths(truths)));
            let detections = image.detections.iter();
            truths.chain(detections.map(|found| (found.class, ClassTotals::detections(1))))
        });
        ClassTotals::sum(totals)
    }

    fn is_ranked_by_order(&self) -> bool {
        let detections = self.images.unordered().flat_map(|image| &image.detections);
        is_ranked_by_order(detections.map(|detected| Judged {
            class: detected.class,
            score: detected.score,
            correct: u64::from(detected.outcome == Outcome::Right),
            wrong: u64::from(detected.outcome == Outcome::Wrong),
        }))
    }
}

/// The score of [`VocAp`].
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct VocScore {
    /// The mean average precision of the classes that have truths; undefined if there is no such class.
    pub mean: Option<f64>,
    /// The score of each class that has truths or detections, by the index of the class in the list of classes.
    pub classes: BTreeMap<u32, VocClass>,
}

named_scores!(VocScore { mean as "mAP" });

/// The score of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct VocClass {
    /// Its average precision; undefined without truths.
    pub average_precision: Option<f64>,
    /// Right and wrong detections, and missed objects.
    pub counts: Counts,
    /// Detections that are neither right nor wrong, because they match an object that does not count.
    pub ignored: u64,
}

impl ClassRows {
    /// The score of the class, if it has objects or detections.
    fn score(&self, weights: &[u64], interpolation: Interpolation) -> Option<VocClass> {
        let weight = |state: u32| weights.get(state as usize).copied().unwrap_or_default();
        let truths = self.truths.iter();
        let truths = truths.map(|&(state, truths)| truths.saturating_mul(weight(state)));
        let truths = truths.fold(0, u64::saturating_add);
        let (mut right, mut wrong, mut ignored) = (0, 0, 0);
        let mut recalls = Vec::with_capacity(self.detections.len());
        let mut precisions = Vec::with_capacity(self.detections.len());
        self.detections.each(weights, |detected, times| {
            for _ in 0..times {
                match detected.outcome {
                    Outcome::Right => right += 1,
                    Outcome::Wrong => wrong += 1,
                    Outcome::Ignored => {
                        ignored += 1;
                        continue;
                    }
                }
                if let (Some(recall), Some(precision)) =
                    (ratio(right, truths), ratio(right, right + wrong))
                {
                    recalls.push(recall);
                    precisions.push(precision);
                }
            }
        });
        if truths == 0 && right + wrong + ignored == 0 {
            return None;
        }
        let area = match interpolation {
            Interpolation::EveryPoint => every_point,
            Interpolation::ElevenPoint => eleven_point,
        };
        Some(VocClass {
            average_precision: (truths > 0).then(|| area(&recalls, &greatest_from(precisions))),
            counts: Counts::from_totals(right, right + wrong, truths),
            ignored,
        })
    }
}

/// For each position the greatest number there or behind it.
fn greatest_from(mut numbers: Vec<f64>) -> Vec<f64> {
    let mut greatest = 0.0_f64;
    for number in numbers.iter_mut().rev() {
        greatest = greatest.max(*number);
        *number = greatest;
    }
    numbers
}

/// The whole area under precisions that do not rise over recalls that do not fall.
fn every_point(recalls: &[f64], precisions: &[f64]) -> f64 {
    let ends = [(1.0, 0.0)];
    let points = recalls.iter().copied().zip(precisions.iter().copied());
    let mut before = 0.0;
    let mut areas = Vec::new();
    for (recall, precision) in points.chain(ends) {
        if recall != before {
            areas.push((recall - before) * precision);
            before = recall;
        }
    }
    pairwise_sum(&areas)
}

/// The mean of the greatest precisions at or above eleven recalls.
fn eleven_point(recalls: &[f64], precisions: &[f64]) -> f64 {
    let precision = |tenth: u8| {
        // The multiples of 0.1 as numpy computes them: 3 * 0.1 is a little more than 0.3.
        let from = f64::from(tenth) * 0.1;
        let position = recalls.partition_point(|&recall| recall < from);
        precisions.get(position).copied().unwrap_or(0.0)
    };
    (0..=10).map(precision).sum::<f64>() / 11.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use metric_core::Merge;

    use super::*;
    use crate::curve::tests::example;
    use crate::{Annotation, Key, Prediction};

    fn average_precision(
        truths: u64,
        detected: Vec<Detected>,
        interpolation: Interpolation,
    ) -> VocClass {
        let of_image = detected
            .into_iter()
            .map(|detected| (RowSource::default(), detected));
        let rows = ClassRows {
            truths: vec![(0, truths)],
            detections: WeightedRows::new(of_image, |it| (Reverse(it.score), it.position)),
        };
        rows.score(&[1], interpolation).unwrap_or_default()
    }

    /// Detections of one class by falling score: `+` right, `-` wrong, `o` neither.
    #[track_caller]
    fn check(truths: u64, outcomes: &str, every: Option<f64>, eleven: Option<f64>) {
        let detected = outcomes
            .chars()
            .zip((0..100).rev())
            .map(|(outcome, score)| Detected {
                position: 0,
                class: 0,
                score: Rank::new(f64::from(score)),
                outcome: match outcome {
                    '+' => Outcome::Right,
                    '-' => Outcome::Wrong,
                    _ => Outcome::Ignored,
                },
            });
        let detected: Vec<Detected> = detected.collect();
        for (interpolation, expected) in Interpolation::ALL.iter().zip([every, eleven]) {
            let class = average_precision(truths, detected.clone(), *interpolation);
            assert_eq!(
                class.average_precision, expected,
                "{outcomes} {interpolation}"
            );
            let count = |kind| outcomes.matches(kind).count() as u64;
            assert_eq!(class.counts.true_positives, count('+'));
            assert_eq!(class.counts.false_positives, count('-'));
            assert_eq!(class.counts.actual(), truths);
            assert_eq!(class.ignored, count('o'));
        }
    }

    #[test]
    fn areas_by_hand() {
        check(0, "", None, None);
        check(0, "--o", None, None);
        check(3, "", Some(0.0), Some(0.0));
        check(1, "+", Some(1.0), Some(1.0));
        check(1, "o+o", Some(1.0), Some(1.0));
        check(1, "-+", Some(0.5), Some(0.5));
        // Half of the objects: recalls 0 to 0.5 are six of eleven.
        check(2, "+-", Some(0.5), Some(6.0 / 11.0));
        // The dip at the second detection is filled by the greater precision behind it.
        check(
            4,
            "+-++-",
            Some(0.25 + 0.25 * 0.75 + 0.25 * 0.75),
            Some((3.0 + 5.0 * 0.75) / 11.0),
        );
    }

    #[test]
    fn curves_end_at_the_counts_of_their_class() {
        let metric = VocAp::new(0.5).expect("a metric");
        let at = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0).expect("a box");
        let truths = vec![Annotation::new(0, at(0.0)), Annotation::new(2, at(50.0))];
        let image = Image::new(1, truths);
        let found = [(0, 0.5, 0.0), (0, 0.5, 30.0), (1, 0.1, 0.0)];
        let found = found.map(|(class, score, x)| Prediction::new(class, score, at(x)));
        let state = metric.measure(&found, &image);
        let curves = metric.curves(&state);
        let score = metric.compute(&state);
        assert!(curves.keys().eq(score.classes.keys()));
        for (class, curve) in &curves {
            let counts = score.classes[class].counts;
            assert_eq!(curve.at(f64::NEG_INFINITY), counts, "{class}");
        }
        // Detections of one score are one point.
        assert_eq!(curves[&0].points().count(), 1);
    }

    #[test]
    fn a_pixel_more() {
        let bbox = |x1, x2| BBox::from_xyxy(x1, 0.0, x2, 0.0).expect("a box");
        assert_eq!(iou_plus_one(&bbox(0.0, 0.0), &bbox(0.0, 0.0)), 1.0);
        assert_eq!(iou_plus_one(&bbox(0.0, 1.0), &bbox(2.0, 3.0)), 0.0);
        assert_eq!(iou_plus_one(&bbox(0.0, 1.0), &bbox(1.5, 2.5)), 0.5 / 3.5);
        let huge = BBox::from_xywh(0.0, 0.0, 1e200, 1e200).expect("a box");
        assert_eq!(iou_plus_one(&huge, &huge), 0.0);
    }

    #[test]
    fn equal_scores_rank_by_their_position_in_the_file() {
        let metric = VocAp::new(0.5).expect("a metric");
        let at = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0).expect("a box");
        let image = |key: i64| Image::new(key, vec![Annotation::new(0, at(0.0))]);
        let found = |position, x| Prediction {
            position,
            ..Prediction::new(0, 0.5, at(x))
        };
        // A wrong one in the first image, a right one in the second; of two objects.
        for (wrong, right, expected) in [(0, 1, 0.25), (1, 0, 0.5)] {
            let first = metric.measure(&[found(wrong, 50.0)], &image(1));
            let second = metric.measure(&[found(right, 0.0)], &image(2));
            for (mut state, other) in [(first.clone(), second.clone()), (second, first)] {
                state.merge(other);
                assert_eq!(metric.compute(&state).mean, Some(expected));
            }
        }
    }

    #[test]
    fn equal_positions_rank_by_key_then_by_position_in_the_image() {
        let metric = VocAp::new(0.5).expect("a metric");
        let at = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0).expect("a box");
        let image = |key: i64| Image::new(key, vec![Annotation::new(0, at(0.0))]);
        let found = |x| Prediction::new(0, 0.5, at(x));
        // One incorrect detection and one correct one; of two objects.
        for (incorrect, correct, expected) in [(1, 2, 0.25), (2, 1, 0.5)] {
            let incorrect = metric.measure(&[found(50.0)], &image(incorrect));
            let correct = metric.measure(&[found(0.0)], &image(correct));
            for (mut state, other) in [(incorrect.clone(), correct.clone()), (correct, incorrect)] {
                state.merge(other);
                assert_eq!(metric.compute(&state).mean, Some(expected));
            }
        }
        for (first, second, expected) in [(50.0, 0.0, 0.5), (0.0, 50.0, 1.0)] {
            let state = metric.measure(&[found(first), found(second)], &image(1));
            assert_eq!(metric.compute(&state).mean, Some(expected));
        }
    }

    #[test]
    fn boxes_in_a_row_of_many() {
        // Each detection is half a pixel from its truth, and both have no width: only the extra
        // pixel lets them overlap, and many are looked up by their extent.
        let point = |x: f64| BBox::from_xywh(x, 0.0, 0.0, 0.0).expect("a box");
        let positions = (0..100).map(|position| f64::from(position) * 10.0);
        let annotations = positions.clone().map(|x| Annotation {
            class: 0,
            crowd: false,
            ignore: false,
            id: 0,
            area: 0.0,
            shape: point(x),
        });
        let found = positions.map(|x| Prediction {
            image: 0,
            position: 0,
            class: 0,
            score: x,
            area: 0.0,
            shape: point(x + if x > 500.0 { 0.5 } else { -0.5 }),
        });
        let image = Image::new(Key::Number(1), annotations.collect());
        let found: Vec<Prediction> = found.collect();
        let plain = VocAp::new(0.1).expect("a metric");
        assert_eq!(
            plain.compute(&plain.measure(&found, &image)).mean,
            Some(0.0)
        );
        let more = plain.with_pixel_plus_one();
        assert_eq!(more.compute(&more.measure(&found, &image)).mean, Some(1.0));
    }

    proptest! {
        #[test]
        fn any_shards_are_one_pass(
            examples in proptest::collection::vec(example(), 0..7),
            turn in 0_usize..6,
            strict in any::<bool>(),
        ) {
            let metric = VocAp::new(0.5).expect("a metric").with_strict(strict);
            let mut state = VocState::default();
            for (found, image) in &examples {
                metric.update(&mut state, found, image);
            }
            let mut turned = examples.clone();
            turned.rotate_left(turn % examples.len().max(1));
            let mut shards = VocState::default();
            for (found, image) in turned.iter().rev() {
                let mut shard = metric.measure(found, image);
                shard.merge(std::mem::take(&mut shards));
                shards = shard;
            }
            prop_assert_eq!(&shards, &state);
            let score = metric.compute(&state);
            prop_assert_eq!(&metric.compute(&shards), &score);

            let mut predicted = 0;
            for class in score.classes.values() {
                predicted += class.counts.predicted() + class.ignored;
                prop_assert!(class.average_precision.is_none_or(|ap| (0.0..=1.0).contains(&ap)));
            }
            let found: usize = examples.iter().map(|(found, _)| found.len()).sum();
            prop_assert_eq!(predicted, found as u64);
        }

        #[test]
        fn areas_are_never_less_without_a_wrong_detection(
            outcomes in "[+-]{1,20}", wrong in 0_usize..20,
        ) {
            let detected = |text: &str| -> Vec<Detected> {
                text.chars().zip((0..100).rev()).map(|(outcome, score)| Detected {
                    class: 0,
                    position: 0,
                    score: Rank::new(f64::from(score)),
                    outcome: if outcome == '+' { Outcome::Right } else { Outcome::Wrong },
                }).collect()
            };
            let mut fewer = outcomes.clone();
            let positions: Vec<usize> = outcomes.match_indices('-').map(|(position, _)| position).collect();
            if let Some(&position) = positions.get(wrong % positions.len().max(1)) {
                fewer.remove(position);
            }
            for &interpolation in Interpolation::ALL {
                let area = |text: &str| average_precision(20, detected(text), interpolation);
                let (before, after) = (area(&outcomes), area(&fewer));
                // Areas of other pieces are rounded otherwise.
                prop_assert!(
                    after.average_precision.unwrap_or(0.0)
                        >= before.average_precision.unwrap_or(0.0) - 1e-15
                );
            }
        }
    }
}
