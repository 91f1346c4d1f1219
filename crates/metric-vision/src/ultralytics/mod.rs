//! The numbers that Ultralytics prints.

mod confusion;
mod curves;
mod matching;
mod oriented;
mod score;
mod shape;
mod state;

use std::collections::BTreeMap;

use metric_core::{Metric, named_choice};

use crate::matching::check_image;
use crate::{Annotation, Image, Mask, Prediction, Shape, TooManyPairs};

pub use confusion::UltralyticsConfusion;
pub use oriented::OrientedBox;
pub use score::{UltralyticsClass, UltralyticsScore, UltralyticsScores};
#[cfg(feature = "read")]
pub(crate) use shape::AREA_OF_POSE;
pub use shape::{ObjectKind, YoloShape};
pub use state::{UltralyticsCurves, UltralyticsState};

use matching::{THRESHOLDS, correct};
use state::{Found, OfImage};

/// A generation of Ultralytics. They differ in the matching and in the end of the curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UltralyticsProfile {
    /// Ultralytics 8.4.176 and later, to 8.4.190 at least: a detection whose best object is taken may find another one, and
    /// the curve drops to 0 after the last recall.
    #[default]
    V8_4_176,
    /// Ultralytics 8.4.37 to 8.4.175: a detection finds its best object or none, as in Pascal VOC's development kit,
    /// so that of two detections of two overlapping objects the second may count as false.
    V8_4_37,
    /// Ultralytics 8.0 to 8.4.36, and the average precision of YOLOv5: the same, and the curve falls in a line from the
    /// last recall to precision 0 at recall 1, which overrates detectors that miss many objects.
    V8_0,
}

impl UltralyticsProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[Self::V8_4_176, Self::V8_4_37, Self::V8_0];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V8_4_176 => "8.4.176",
            Self::V8_4_37 => "8.4.37",
            Self::V8_0 => "8.0",
        }
    }

    /// Whether a detection may take an object that is not its best one.
    pub(crate) fn has_second_choice(self) -> bool {
        self == Self::V8_4_176
    }

    /// Whether the curve drops to 0 after the last recall.
    pub(crate) fn drops(self) -> bool {
        self != Self::V8_0
    }
}

named_choice!(UltralyticsProfile, "profile");

/// P, R, mAP50 and mAP50-95 as Ultralytics prints them, of boxes, oriented boxes, segments or poses.
///
/// An example is an image of a [`Dataset`](crate::Dataset): its detections and its true objects, all of one
/// [kind](ObjectKind). Detections are taken in descending order of confidence, the first ones up to a number, and are
/// matched within their classes at ten thresholds of similarity, 0.5 to 0.95. Objects that repeat (the same class and
/// shape) count once, and crowds and ignored objects do not count. A segment's mask has only the pixels that no smaller one has.
///
/// Average precision is the area under 101 values of the curve that is made monotonic, at recall 0, 0.01, ..., 1, of
/// which the last is 0: it is at most 0.995. P and R are those of one confidence for all classes, at which the mean F1
/// is highest after smoothing, at IoU 0.5. Means are over classes that have objects; without any, all is undefined.
///
/// Scores and counts are those of Ultralytics 8.4.190, 8.4.100 and 8.4.36 by the [profile](UltralyticsProfile), with
/// confidences and similarities in single precision. Detections of equal confidence rank by their
/// [`position`](Prediction::position), the key of their image, and the order of the file; the program leaves it to a sort
/// that is not stable.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::{Annotation, BBox, Image, Prediction, Ultralytics, YoloShape};
///
/// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0).map(YoloShape::Box);
/// let image = Image::new(1, vec![Annotation::new(0, square(0.0)?), Annotation::new(0, square(50.0)?)]);
/// // One of two objects is found.
/// let found = [Prediction::new(0, 0.9, square(0.0)?)];
///
/// let metric = Ultralytics::default();
/// let score = metric.compute(&metric.measure(&found, &image));
/// // Precision is 1 at recalls up to 0.49, and 0 from 0.5 on.
/// assert!((score.boxes.map50.unwrap() - (0.49 + 0.005)).abs() < 1e-12);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
///
/// # Cost
///
/// The pairs of a detection and an object of one class and image. The state has 24 bytes for each detection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ultralytics {
    profile: UltralyticsProfile,
    max_detections: usize,
    score_cut: Option<f32>,
}

impl Default for Ultralytics {
    fn default() -> Self {
        Self::new(UltralyticsProfile::default())
    }
}

impl Ultralytics {
    /// Returns the metric of a profile, with the 300 most confident detections of each image.
    #[must_use]
    pub fn new(profile: UltralyticsProfile) -> Self {
        Self {
            profile,
            max_detections: 300,
            score_cut: None,
        }
    }

    /// Returns this metric with another number of detections per image.
    #[must_use]
    pub fn with_max_detections(self, max_detections: usize) -> Self {
        Self {
            max_detections,
            ..self
        }
    }

    /// Returns this metric with only the detections above a confidence, which is rounded to single precision.
    #[must_use]
    pub fn with_score_cut(self, score_cut: f64) -> Self {
        let score_cut = Some(score_cut as f32);
        Self { score_cut, ..self }
    }

    /// Returns the profile.
    #[must_use]
    pub fn profile(&self) -> UltralyticsProfile {
        self.profile
    }

    /// Returns the number of detections per image that count.
    #[must_use]
    pub fn max_detections(&self) -> usize {
        self.max_detections
    }

    /// Returns whether detections are left out by their confidence.
    #[must_use]
    pub fn has_score_cut(&self) -> bool {
        self.score_cut.is_some()
    }

    /// Returns an error if an image has too many pairs of a detection and an object.
    pub(crate) fn check_size(
        &self,
        found: &[Prediction<YoloShape>],
        image: &Image<YoloShape>,
    ) -> Result<(), TooManyPairs> {
        check_image(found, &image.annotations, self.max_detections, true)
    }
}

/// The confidence in single precision. What is no number comes last, and what is not finite is the nearest number.
fn confidence(found: &Prediction<YoloShape>) -> f32 {
    let confidence = found.score as f32;
    if confidence.is_nan() {
        return f32::MIN;
    }
    confidence.clamp(f32::MIN, f32::MAX)
}

/// The detections above a confidence, the most confident first, and of equal ones in the order of the file.
fn ranked(found: &[Prediction<YoloShape>], cut: Option<f32>) -> Vec<&Prediction<YoloShape>> {
    let kept = |found: &&Prediction<YoloShape>| cut.is_none_or(|cut| confidence(found) > cut);
    let mut ranked: Vec<_> = found.iter().filter(kept).collect();
    ranked.sort_by(|a, b| confidence(b).total_cmp(&confidence(a)));
    ranked
}

/// The objects that count: no crowds and none that are left out, and each once.
fn counted(image: &Image<YoloShape>) -> Vec<&Annotation<YoloShape>> {
    let mut seen: BTreeMap<(u32, [u64; 4]), Vec<&YoloShape>> = BTreeMap::new();
    let mut counted = Vec::with_capacity(image.annotations.len());
    for object in image
        .annotations
        .iter()
        .filter(|object| !object.crowd && !object.ignore)
    {
        let bounds = object.shape.bounds().map(f64::to_bits);
        let same = seen.entry((object.class, bounds)).or_default();
        if same.iter().all(|other| **other != object.shape) {
            same.push(&object.shape);
            counted.push(object);
        }
    }
    counted
}

impl Metric for Ultralytics {
    /// The detections in an image, in the order of the file.
    type Prediction = [Prediction<YoloShape>];
    type Reference = Image<YoloShape>;
    type State = UltralyticsState;
    type Score = UltralyticsScore;

    fn update(
        &self,
        state: &mut UltralyticsState,
        prediction: &[Prediction<YoloShape>],
        reference: &Image<YoloShape>,
    ) {
        let mut found = ranked(prediction, self.score_cut);
        let cut = found.len().saturating_sub(self.max_detections) as u64;
        found.truncate(self.max_detections);
        let real = counted(reference);
        let kind = real.iter().map(|real| real.shape.kind());
        let kind = kind.chain(found.iter().map(|found| found.shape.kind()));
        let kind = kind.max().unwrap_or_default();
        let mut classes: BTreeMap<u32, [Vec<usize>; 2]> = BTreeMap::new();
        let sides = [
            real.iter().map(|real| real.class).collect::<Vec<_>>(),
            found.iter().map(|found| found.class).collect(),
        ];
        for (side, of_side) in sides.iter().enumerate() {
            for (index, class) in of_side.iter().enumerate() {
                classes.entry(*class).or_default()[side].push(index);
            }
        }
        let own = own_pixels(&real);
        let truth = |index: usize| own.get(index).unwrap_or(&real[index].shape);
        let mut bits = vec![0; found.len()];
        for [of_real, of_found] in classes.values() {
            for set in 0..kind.sets() {
                let similarity = |truth: &YoloShape, index: usize| match set {
                    0 => truth.box_similarity(&found[index].shape),
                    _ => truth.second_similarity(&found[index].shape),
                };
                let of_detection = |&index: &usize| {
                    let all = of_real.iter().map(|&real| similarity(truth(real), index));
                    let near = all.enumerate();
                    near.filter(|(_, it)| *it >= THRESHOLDS[0]).collect()
                };
                let similarities: Vec<Vec<(usize, f32)>> =
                    of_found.iter().map(of_detection).collect();
                let second_choice = self.profile.has_second_choice();
                let correct = correct(&similarities, of_real.len(), second_choice);
                for (&index, correct) in of_found.iter().zip(correct) {
                    bits[index] |= u32::from(correct) << (THRESHOLDS.len() * set);
                }
            }
        }
        let truths = classes
            .iter()
            .map(|(class, [real, _])| (*class, real.len()));
        let truths = truths.filter(|(_, count)| *count > 0);
        let rows = found.iter().zip(bits);
        let of_image = OfImage {
            kind,
            cut,
            truths: truths.map(|(class, count)| (class, count as u64)).collect(),
            found: rows
                .map(|(found, correct)| Found::new(found, confidence(found), correct))
                .collect(),
        };
        state.insert(reference.key.clone(), of_image);
    }

    fn compute(&self, state: &UltralyticsState) -> UltralyticsScore {
        state::Rows::new(&[state]).score(self.profile, &[1])
    }
}

/// Segments with the pixels that no smaller one has, of equal ones the later; nothing if the objects are no segments.
fn own_pixels(real: &[&Annotation<YoloShape>]) -> Vec<YoloShape> {
    let masks = real.iter().map(|real| real.shape.mask());
    let Some(masks) = masks.collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let mut order: Vec<usize> = (0..masks.len()).rev().collect();
    order.sort_by(|&a, &b| masks[a].area().total_cmp(&masks[b].area()));
    let mut own: Vec<YoloShape> = real.iter().map(|real| real.shape.clone()).collect();
    let mut smaller: Option<Mask> = None;
    for index in order {
        let mask = masks[index];
        let Some(taken) = smaller.as_mut().filter(|taken| taken.size() == mask.size()) else {
            smaller = Some(mask.clone());
            continue;
        };
        let (YoloShape::Segment(_, pixels), union) = (&mut own[index], taken.union(mask)) else {
            continue;
        };
        *pixels = mask.without(taken);
        *taken = union;
    }
    own
}
