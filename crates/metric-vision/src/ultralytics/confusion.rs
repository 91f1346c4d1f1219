use metric_core::Metric;

use super::matching::first_greatest;
use super::{ObjectKind, UltralyticsProfile, YoloShape, counted, ranked};
use crate::matching::check_image;
use crate::{ConfusionMatrix, ConfusionState, Image, InvalidThreshold, Prediction, TooManyPairs};

/// The confusion matrix of Ultralytics, with true classes in its rows; the program has them in its columns.
///
/// An example is an image: its detections above a confidence, and its true objects, of all classes, whose boxes are
/// matched without regard to their classes if their IoU is above a threshold. Under
/// [8.4.176](UltralyticsProfile::V8_4_176), each detection takes the free object that it overlaps most, in descending order of
/// confidence. Under the others, each detection has the object that it overlaps most, and of the detections of one
/// object the one that overlaps it most has it.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::{Annotation, BBox, Image, Prediction, UltralyticsConfusion, UltralyticsProfile, YoloShape};
///
/// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0).map(YoloShape::Box);
/// let image = Image::new(1, vec![Annotation::new(0, square(0.0)?), Annotation::new(0, square(50.0)?)]);
/// // A detection of the second class takes the first object.
/// let found = [Prediction::new(1, 0.9, square(0.0)?)];
///
/// let metric = UltralyticsConfusion::new(UltralyticsProfile::V8_4_176, 2);
/// let rows: Vec<Vec<u64>> = metric.compute(&metric.measure(&found, &image)).rows().collect();
/// assert_eq!(rows, [[0, 1, 1], [0, 0, 0], [0, 0, 0]]);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UltralyticsConfusion {
    profile: UltralyticsProfile,
    classes: usize,
    iou_threshold: f64,
    score_cut: Option<f64>,
}

impl UltralyticsConfusion {
    /// Returns the metric for this many classes, at an IoU above 0.45, with detections above the confidence of
    /// the program: 0.001, or 0.01 for oriented boxes, and 0.25 under older profiles.
    #[must_use]
    pub fn new(profile: UltralyticsProfile, classes: usize) -> Self {
        Self {
            profile,
            classes,
            iou_threshold: 0.45,
            score_cut: None,
        }
    }

    /// Returns this metric with another IoU, above which objects match.
    ///
    /// # Errors
    ///
    /// Returns an error if the threshold is not above 0 and at most 1.
    pub fn with_iou_threshold(self, iou_threshold: f64) -> Result<Self, InvalidThreshold> {
        Ok(Self {
            iou_threshold: InvalidThreshold::check(iou_threshold)?,
            ..self
        })
    }

    /// Returns this metric with another confidence, above which detections count.
    #[must_use]
    pub fn with_score_cut(self, score_cut: f64) -> Self {
        let score_cut = Some(score_cut);
        Self { score_cut, ..self }
    }

    /// Returns the number of classes, without the background.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the IoU above which a detection matches an object.
    #[must_use]
    pub fn iou_threshold(&self) -> f64 {
        self.iou_threshold
    }

    /// The confidence above which detections of this kind count.
    fn cut(&self, kind: ObjectKind) -> f32 {
        let default = match (self.profile, kind) {
            (UltralyticsProfile::V8_4_176, ObjectKind::Oriented) => 0.01,
            (UltralyticsProfile::V8_4_176, _) => 0.001,
            _ => 0.25,
        };
        self.score_cut.unwrap_or(default) as f32
    }

    /// Returns an error if an image has too many pairs of a detection and an object.
    pub(crate) fn check_size(
        found: &[Prediction<YoloShape>],
        image: &Image<YoloShape>,
    ) -> Result<(), TooManyPairs> {
        check_image(found, &image.annotations, usize::MAX, false)
    }

    /// The index of the object of each detection. A detection has a list of the objects that it overlaps enough.
    fn matches(&self, similarities: &[Vec<(usize, f32)>], truths: usize) -> Vec<Option<usize>> {
        let mut owners: Vec<Option<(usize, f32)>> = vec![None; truths];
        let is_by_confidence = self.profile.has_second_choice();
        for (found, of_detection) in similarities.iter().enumerate() {
            let open = of_detection.iter();
            let open = open.filter(|(truth, _)| !is_by_confidence || owners[*truth].is_none());
            if let Some(&(truth, similarity)) = first_greatest(open)
                && owners[truth].is_none_or(|(_, best)| similarity > best)
            {
                owners[truth] = Some((found, similarity));
            }
        }
        let mut matches = vec![None; similarities.len()];
        for (truth, owner) in owners.iter().enumerate() {
            if let Some((found, _)) = owner {
                matches[*found] = Some(truth);
            }
        }
        matches
    }
}

impl Metric for UltralyticsConfusion {
    /// The detections in an image, in the order of the file.
    type Prediction = [Prediction<YoloShape>];
    type Reference = Image<YoloShape>;
    type State = ConfusionState;
    type Score = ConfusionMatrix;

    fn update(
        &self,
        state: &mut ConfusionState,
        prediction: &[Prediction<YoloShape>],
        reference: &Image<YoloShape>,
    ) {
        let is_listed = |class: u32| (class as usize) < self.classes;
        let kind = prediction.first().map(|found| found.shape.kind());
        let mut found = ranked(prediction, Some(self.cut(kind.unwrap_or_default())));
        found.retain(|found| is_listed(found.class));
        let mut real = counted(reference);
        real.retain(|real| is_listed(real.class));
        let threshold = self.iou_threshold as f32;
        let of_detection = |found: &&Prediction<YoloShape>| {
            let all = real
                .iter()
                .map(|real| real.shape.box_similarity(&found.shape));
            let near = all.enumerate();
            near.filter(|(_, iou)| *iou > threshold).collect()
        };
        let similarities: Vec<Vec<(usize, f32)>> = found.iter().map(of_detection).collect();
        let mut missed = vec![true; real.len()];
        for (found, index) in found.iter().zip(self.matches(&similarities, real.len())) {
            if let Some(index) = index {
                missed[index] = false;
            }
            state.add(index.map(|index| real[index].class), Some(found.class), 1);
        }
        for (real, _) in real.iter().zip(missed).filter(|&(_, missed)| missed) {
            state.add(Some(real.class), None, 1);
        }
    }

    fn compute(&self, state: &ConfusionState) -> ConfusionMatrix {
        state.matrix(self.classes)
    }
}
