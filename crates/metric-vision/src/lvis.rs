mod cut;
mod state;

use metric_core::{Metric, NamedScores};

use crate::coco::{ImageRules, Place, Standing};
use crate::dataset::UNLISTED;
use crate::score::Rank;
use crate::{
    BBox, CocoAp, CocoArrays, CocoCurves, CocoParams, CocoSlice, CocoSummary, CocoWeights, Curve,
    Frequency, Image, InvalidCocoParams, Prediction, Shape, TooManyPairs, parallel,
};

pub use state::{LvisCounts, LvisNotes, LvisState};

/// LVIS's average precision and average recall, as in lvis 0.5.3.
///
/// An example is an image: its detections and its true objects, of all classes. Each image is annotated for some of
/// the classes only. A detection counts if its class has an object in the image, or is known to be absent
/// ([`Federated::negative`](crate::Federated::negative)). Matching, curves and means are those of [`CocoAp`], without
/// crowds. Objects and detections without an area are left out.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::{Annotation, BBox, Federated, Image, LvisAp, Prediction};
///
/// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let mut image = Image::new(1, vec![Annotation::new(0, square(0.0)?)]);
/// // Class 0 has an object, and class 1 is known to be absent. Nobody looked for class 2.
/// image.federated.negative = vec![1];
/// let found = |class, x| Ok::<_, metric_vision::InvalidBox>(Prediction::new(class, 0.9, square(x)?));
/// let found = [found(0, 0.0)?, found(1, 50.0)?, found(2, 70.0)?];
///
/// let metric = LvisAp::default();
/// let state = metric.measure(&found, &image);
/// assert_eq!(state.counts.detections, 2);
/// assert_eq!(state.counts.unverified, 1);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
///
/// Source: Gupta, Dollár and Girshick, *LVIS: A Dataset for Large Vocabulary Instance Segmentation* (CVPR 2019);
/// `LVISEval` of lvis 0.5.3. Fixed AP: Dave et al., *Evaluating Large-Vocabulary Object Detectors: The Devil is in the
/// Details* (2021).
///
/// Detections of equal score rank by the key of their image, then by their order in the file. At the cut of a
/// [limit](DetectionLimit), the earlier one in the file remains.
#[derive(Clone, Debug, PartialEq)]
pub struct LvisAp<S = BBox> {
    coco: CocoAp<S>,
    limit: DetectionLimit,
}

/// The detections that count, by their scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DetectionLimit {
    /// All of them.
    All,
    /// The best of each image, over all classes together. In LVIS, 300.
    PerImage(usize),
    /// The best of each class, over all images together: Fixed AP, usually with 10,000.
    PerClass(usize),
}

impl<S: Shape> LvisAp<S> {
    /// Returns the metric with the thresholds, recalls, area ranges and quirks of these parameters. Other fields have no
    /// effect, except for the [dilation](CocoParams::dilation).
    ///
    /// [`CocoParams::quirks`] are those of lvis 0.5.3 here: a match with a true object whose id is 0 counts as none.
    ///
    /// # Errors
    ///
    /// Returns an error as [`CocoAp::new`] does.
    pub fn new(params: CocoParams, limit: DetectionLimit) -> Result<Self, InvalidCocoParams> {
        let params = CocoParams {
            max_detections: vec![usize::MAX],
            by_class: true,
            summary: CocoSummary::Lvis,
            ..params
        };
        let coco = CocoAp::new(params)?;
        Ok(Self { coco, limit })
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> &CocoParams {
        self.coco.params()
    }

    /// Returns the limit on detections.
    #[must_use]
    pub fn limit(&self) -> DetectionLimit {
        self.limit
    }

    /// Returns an error as [`CocoAp::check_size`] does.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many pairs.
    pub fn check_size(
        &self,
        predictions: &[Prediction<S>],
        image: &Image<S>,
    ) -> Result<(), TooManyPairs> {
        self.coco.check_size(predictions, image)
    }

    /// Returns the counts at or above each score, as [`CocoState::curve`](crate::CocoState::curve) does.
    #[must_use]
    pub fn curve(&self, state: &LvisState, iou_threshold: usize) -> Curve {
        match self.limit {
            DetectionLimit::PerClass(most) => {
                let cut = cut::Cut::of(state, most);
                cut.state.curve(self.params(), iou_threshold)
            }
            _ => state.coco.curve(self.params(), iou_threshold),
        }
    }

    /// Returns the `AP` of a state of one image, as [`CocoAp::average_precision`] does. `None` for a limit over all
    /// images.
    #[must_use]
    pub fn average_precision(&self, state: &LvisState) -> Option<Option<f64>> {
        let is_local = !matches!(self.limit, DetectionLimit::PerClass(_));
        is_local.then(|| self.coco.average_precision(&state.coco))
    }

    /// Returns what computes the curves of weighted states, see [`CocoWeights`]. `None` for a limit over all images,
    /// whose cut depends on the weights. The curves have no counts.
    #[must_use]
    pub fn weighted<'s>(
        &'s self,
        states: &[&'s LvisState],
    ) -> Option<impl Fn(&[u64]) -> LvisCurves + 's> {
        if let DetectionLimit::PerClass(_) = self.limit {
            return None;
        }
        let states: Vec<_> = states.iter().map(|state| &state.coco).collect();
        let weights = CocoWeights::new(&self.coco, &states);
        Some(move |of_states: &[u64]| LvisCurves {
            curves: weights.curves(of_states),
            counts: LvisCounts::default(),
            full_classes: 0,
            limit: self.limit,
        })
    }

    /// The indices of the detections that the limit on those of an image leaves.
    fn left(&self, predictions: &[Prediction<S>]) -> Vec<u32> {
        let mut indices: Vec<u32> = (0..).take(predictions.len()).collect();
        if let DetectionLimit::PerImage(most) = self.limit
            && most < indices.len()
        {
            let rank = |index: &u32| {
                let found = predictions.get(*index as usize);
                (
                    std::cmp::Reverse(found.map(|it| Rank::new(it.score))),
                    *index,
                )
            };
            indices.select_nth_unstable_by_key(most, rank);
            indices.truncate(most);
        }
        indices
    }
}

/// LVIS's definition, for at most 300 detections per image.
impl<S: Shape> Default for LvisAp<S> {
    fn default() -> Self {
        let params = CocoParams {
            max_detections: vec![usize::MAX],
            summary: CocoSummary::Lvis,
            ..CocoParams::default()
        };
        Self {
            coco: CocoAp::valid(params),
            limit: DetectionLimit::PerImage(300),
        }
    }
}

impl<S: Shape> Metric for LvisAp<S> {
    /// The detections in an image, in the order of the file.
    type Prediction = [Prediction<S>];
    type Reference = Image<S>;
    type State = LvisState;
    type Score = LvisCurves;

    fn update(&self, state: &mut LvisState, predictions: &[Prediction<S>], image: &Image<S>) {
        // An area that is NaN is not above 0 either.
        let has_area = |area: f64| area > 0.0;
        let truths = || {
            image
                .annotations
                .iter()
                .filter(|truth| has_area(truth.area))
        };
        let mut present: Vec<u32> = truths().map(|truth| truth.class).collect();
        let count = present.len() as u64;
        present.sort_unstable();
        present.dedup();
        let negative = &image.federated.negative;
        let standing = |found: &Prediction<S>| {
            let has_class = |classes: &[u32]| classes.binary_search(&found.class).is_ok();
            if found.class == UNLISTED || !has_area(found.area) {
                Standing::Invalid
            } else if has_class(&present) || has_class(negative) {
                Standing::Scored
            } else {
                Standing::Unverified
            }
        };
        let left = self.left(predictions);
        let mut scored = Vec::with_capacity(left.len());
        let mut counts = LvisCounts {
            truths: count,
            capped: (predictions.len() - left.len()) as u64,
            ..LvisCounts::default()
        };
        let mut places = Vec::new();
        for index in left {
            let Some(found) = predictions.get(index as usize) else {
                continue;
            };
            let standing = standing(found);
            let is_flat = found.class != UNLISTED && !has_area(found.area);
            state.notes.flat_detections += u64::from(is_flat);
            match standing {
                Standing::Scored => scored.push(index),
                Standing::Invalid => counts.invalid += 1,
                Standing::Unverified => counts.unverified += 1,
            }
            if matches!(self.limit, DetectionLimit::PerClass(_)) && found.class != UNLISTED {
                places.push(Place {
                    class: found.class,
                    score: Rank::new(found.score),
                    position: (found.position, index),
                    standing,
                });
            }
        }
        counts.detections = scored.len() as u64;
        let both = negative
            .iter()
            .any(|class| present.binary_search(class).is_ok());
        state.notes.flat_truths += image.annotations.len() as u64 - count;
        state.notes.contradictory_images += u64::from(both);
        state.notes.capped_images += u64::from(counts.capped > 0);
        state.notes.images_above_100 += u64::from(predictions.len() > 100);
        state.counts.add(counts);
        let rules = ImageRules {
            has_crowds: false,
            not_exhaustive: &image.federated.not_exhaustive,
        };
        let mut outcome = self
            .coco
            .match_image(predictions, scored.into_iter(), truths(), rules);
        outcome.places = places;
        state.coco.images.insert(image.key.clone(), outcome);
    }

    fn compute(&self, state: &LvisState) -> LvisCurves {
        let whole = || (self.coco.compute(&state.coco), state.counts, 0);
        let (curves, counts, full_classes) = match self.limit {
            DetectionLimit::PerClass(most) => {
                let cut = cut::Cut::of(state, most);
                (self.coco.compute(&cut.state), cut.counts, cut.full_classes)
            }
            _ => whole(),
        };
        LvisCurves {
            curves,
            counts,
            full_classes,
            limit: self.limit,
        }
    }
}

/// Precision and recall over a data set, as [`LvisAp`] computes them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LvisCurves {
    /// The curves of each class.
    pub curves: CocoCurves,
    /// The objects and detections that count, and those that do not.
    pub counts: LvisCounts,
    /// With a limit per class, the number of classes that have that many detections.
    pub full_classes: u64,
    limit: DetectionLimit,
}

impl LvisCurves {
    /// Returns the scores that LVIS prints, given the frequency of each class: `AP`, `AP50`, `AP75`, `AP_<area range>`,
    /// `AP_r`, `AP_c`, `AP_f`, `AR_<limit>` and `AR_<area range>`. With no limit per image, `AR_<limit>` is `AR`.
    ///
    /// Undefined where lvis prints -1.
    #[must_use]
    pub fn summary(
        &self,
        frequency: impl Fn(u32) -> Option<Frequency> + Sync,
    ) -> Vec<(String, Option<f64>)> {
        let mut scores = self.scores(None, &|_| true);
        let is_precision = |(name, _): &(String, _)| name.starts_with("AP");
        let position = scores.iter().filter(|score| is_precision(score)).count();
        let of = |wanted: Frequency| {
            let keeps = |class| frequency(class) == Some(wanted);
            let slice = CocoSlice::default();
            let score = self.curves.average_precision_of(slice, &keeps);
            (format!("AP_{wanted}"), score)
        };
        let of_frequencies = parallel::map(Frequency::ALL.len(), |index| of(Frequency::ALL[index]));
        scores.splice(position..position, of_frequencies);
        scores
    }

    /// Returns the scores of one class: those of the [summary](Self::summary), except for frequencies.
    #[must_use]
    pub fn class_summary(&self, class: u32) -> Vec<(String, Option<f64>)> {
        self.scores(Some(class), &|_| true)
    }

    /// Returns the scores of the classes that are kept: those of the [summary](Self::summary), except for frequencies.
    #[must_use]
    pub fn summary_of(&self, keeps: impl Fn(u32) -> bool + Sync) -> Vec<(String, Option<f64>)> {
        self.scores(None, &keeps)
    }

    fn scores(
        &self,
        class: Option<u32>,
        keeps: &(dyn Fn(u32) -> bool + Sync),
    ) -> Vec<(String, Option<f64>)> {
        let mut scores = self.curves.summary_of(class, keeps);
        if let DetectionLimit::PerImage(most) = self.limit {
            let mut scores = scores.iter_mut();
            if let Some((name, _)) = scores.find(|(name, _)| name == "AR") {
                *name = format!("AR_{most}");
            }
        }
        scores
    }

    /// Returns the arrays of `LVISEval.eval` for a list of this many classes: those of [`CocoCurves::arrays`], whose last
    /// axis has the length 1.
    #[must_use]
    pub fn arrays(&self, classes: usize) -> Option<CocoArrays> {
        self.curves.arrays(classes)
    }
}

/// The [summary](LvisCurves::summary) of classes of unknown frequency.
impl NamedScores for LvisCurves {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        self.summary(|_| None)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for LvisCurves {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.named_scores())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Annotation, Federated};

    fn square(x: f64) -> BBox {
        BBox::from_xywh(x, 0.0, 10.0, 10.0).expect("a box")
    }

    fn found(class: u32, x: f64, score: f64) -> Prediction {
        Prediction::new(class, score, square(x))
    }

    fn truth(class: u32, x: f64) -> Annotation {
        Annotation::new(class, square(x))
    }

    fn image(key: i64, annotations: Vec<Annotation>, negative: &[u32]) -> Image {
        let mut image = Image::new(key, annotations);
        image.federated = Federated {
            negative: negative.to_vec(),
            not_exhaustive: vec![7],
        };
        image
    }

    fn metric(limit: DetectionLimit) -> LvisAp {
        LvisAp::new(CocoParams::default(), limit).expect("a definition")
    }

    /// Detections that count, and those that are capped, invalid and unverified.
    fn counts(metric: &LvisAp, found: &[Prediction], image: &Image) -> [u64; 4] {
        let counts = metric.compute(&metric.measure(found, image)).counts;
        [
            counts.detections,
            counts.capped,
            counts.invalid,
            counts.unverified,
        ]
    }

    #[test]
    fn detections_of_unverified_classes_do_not_count() {
        let image = image(1, vec![truth(0, 0.0)], &[2]);
        let detections = [
            found(0, 0.0, 0.5),
            found(1, 0.0, 0.9),
            found(2, 0.0, 0.9),
            found(UNLISTED, 0.0, 0.9),
        ];
        let metric = metric(DetectionLimit::All);
        assert_eq!(counts(&metric, &detections, &image), [2, 0, 1, 1]);
        let score = metric.compute(&metric.measure(&detections, &image));
        // The absent class has no positives, so the correct detection of class 0 is all that there is.
        assert_eq!(score.curves.classes().collect::<Vec<_>>(), [0]);
        assert_eq!(score.summary(|_| None)[9], ("AR".to_owned(), Some(1.0)));
    }

    #[test]
    fn the_cap_of_an_image_comes_before_all_else() {
        let image = image(1, vec![truth(0, 0.0)], &[]);
        // Of equal scores the earlier one stays, and a detection that does not count takes the place of another.
        let detections = [found(1, 0.0, 0.9), found(0, 50.0, 0.5), found(0, 0.0, 0.5)];
        let metric = metric(DetectionLimit::PerImage(2));
        assert_eq!(counts(&metric, &detections, &image), [1, 1, 0, 1]);
        let score = metric.compute(&metric.measure(&detections, &image));
        assert_eq!(score.summary(|_| None)[9], ("AR_2".to_owned(), Some(0.0)));
    }

    #[test]
    fn a_limit_per_class_cuts_over_all_images() {
        let metric = metric(DetectionLimit::PerClass(2));
        let mut state = LvisState::default();
        for (key, position, score) in [(1, 5, 0.5), (2, 3, 0.5), (3, 9, 0.9)] {
            let mut detection = found(0, 0.0, score);
            detection.position = position;
            metric.update(
                &mut state,
                &[detection],
                &image(key, vec![truth(0, 0.0)], &[]),
            );
        }
        metric.update(&mut state, &[], &image(4, vec![truth(0, 0.0)], &[]));
        let score = metric.compute(&state);
        // That of the first image is later in the file than that of the second.
        assert_eq!((score.counts.detections, score.counts.capped), (2, 1));
        assert_eq!(score.full_classes, 1);
        let recall = score.summary(|_| None)[9].1;
        assert_eq!(recall, Some(0.5));
    }

    #[test]
    fn detections_of_classes_that_are_not_exhaustive_count_if_they_match() {
        let image = image(1, vec![truth(7, 0.0), truth(0, 0.0)], &[]);
        let detections = [7, 0].map(|class| [found(class, 50.0, 0.9), found(class, 0.0, 0.5)]);
        let metric = metric(DetectionLimit::All);
        let score = metric.compute(&metric.measure(&detections.concat(), &image));
        let ap = |class: u32| score.class_summary(class)[0].1.expect("a score");
        assert!(ap(7) > 0.999 && ap(0) < 0.501, "{} {}", ap(7), ap(0));
    }

    #[test]
    fn objects_without_area_are_left_out_and_crowds_are_objects() {
        let mut crowd = truth(0, 0.0);
        crowd.crowd = true;
        let mut flat = truth(0, 50.0);
        flat.area = 0.0;
        let metric = metric(DetectionLimit::All);
        let state = metric.measure(&[found(0, 0.0, 0.9)], &image(1, vec![crowd, flat], &[]));
        assert_eq!((state.counts.truths, state.notes.flat_truths), (1, 1));
        assert_eq!(metric.compute(&state).summary(|_| None)[9].1, Some(1.0));
    }
}
