use std::collections::BTreeMap;
use std::fmt;

use metric_core::{Counts, Malformed, Merge, Metric, NamedScores, Reader, Writer, Written};

use crate::count;
use crate::{
    BBox, Class, ClassTotals, Curve, Detection, DetectionProfile, DetectionScore, DetectionState,
    Detections, Image, InvalidThreshold, Key, Matching, Prediction, ScoreHistogram, Shape, Truth,
    by_class, macro_average,
};

/// Precision, recall and F1 of detections at several IoU thresholds and score thresholds, with means
/// over classes and the best F1.
///
/// An example is one image and class, as for [`Detections`], which counts at each pair of thresholds.
///
/// ```
/// use metric_core::{Counts, Metric};
/// use metric_vision::{BBox, Detection, DetectionSweep, DetectionSweepParams, SweepItem, Truth};
///
/// let at = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let found = |shape, score| Detection { shape, score: Some(score) };
/// let metric = DetectionSweep::new(DetectionSweepParams::default().with_iou_thresholds(vec![0.5, 0.75]).with_score_thresholds(vec![0.0, 0.6]))?;
///
/// // Two cats, of which one is found exactly, and the other 2 pixels off: IoU 80/120.
/// let cats = SweepItem {
///     class: Some("cat".into()),
///     truths: vec![Truth::from(at(0.0)?), Truth::from(at(50.0)?)],
/// };
/// let state = metric.measure(&[found(at(0.0)?, 0.9), found(at(52.0)?, 0.5)], &cats);
/// let score = metric.compute(&state);
///
/// assert_eq!(score.at(0, 0).unwrap().state.counts, Counts::new(2, 0, 0));
/// assert_eq!(score.at(1, 0).unwrap().state.counts, Counts::new(1, 1, 1));
/// // Only the first detection has a score of at least 0.6.
/// assert_eq!(score.at(0, 1).unwrap().state.counts, Counts::new(1, 0, 1));
/// assert_eq!(score.at(0, 1).unwrap().score.recall, Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
///
/// That of [`Detections`] for each pair of thresholds, and of one more matching for each IoU threshold where the best
/// F1 is requested. The state has 24 bytes for each class and pair of thresholds, and with the best F1 those of a
/// [`ScoreHistogram`] for each IoU threshold.
#[derive(Clone, Debug)]
pub struct DetectionSweep<S = BBox> {
    params: DetectionSweepParams,
    /// By IoU threshold.
    metrics: Vec<Detections<S>>,
    /// The rule for the best F1, where that is requested.
    best_f1: Option<Matching>,
}

/// The parameters that define a [`DetectionSweep`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DetectionSweepParams {
    /// The profile.
    pub profile: DetectionProfile,
    /// A matching rule in place of the profile's.
    pub matching: Option<Matching>,
    /// The IoU thresholds, each in `0 < t <= 1`.
    pub iou_thresholds: Vec<f64>,
    /// Thresholds of the score, at or above which detections count. All detections count if there is
    /// no threshold.
    pub score_thresholds: Vec<f64>,
    /// Whether to gather the counts at all scores, for the best F1. This requires a matching rule that [uses
    /// scores](Matching::goes_by_score).
    pub best_f1: bool,
}

metric_core::setters!(DetectionSweepParams {
    with_profile => profile: DetectionProfile,
    with_matching => matching: Option<Matching>,
    with_iou_thresholds => iou_thresholds: Vec<f64>,
    with_score_thresholds => score_thresholds: Vec<f64>,
    with_best_f1 => best_f1: bool,
});

/// [`DetectionProfile::OneToOne`] at IoU 0.5, all detections.
impl Default for DetectionSweepParams {
    fn default() -> Self {
        Self {
            profile: DetectionProfile::default(),
            matching: None,
            iou_thresholds: vec![0.5],
            score_thresholds: Vec::new(),
            best_f1: false,
        }
    }
}

impl DetectionSweepParams {
    /// Returns what the names of the scores end with, at each pair of thresholds in the order of
    /// [`DetectionSweepScore::points`]: the IoU threshold if there are several, and the score threshold as well if there
    /// are several of these.
    ///
    /// ```
    /// use metric_vision::DetectionSweepParams;
    ///
    /// let params = DetectionSweepParams::default();
    /// assert_eq!(params.suffixes(), [""]); // precision
    /// let params = params.with_iou_thresholds(vec![0.5, 0.75]);
    /// assert_eq!(params.suffixes(), ["@0.5", "@0.75"]); // precision@0.5
    /// let params = params.with_score_thresholds(vec![0.1, 0.3]);
    /// assert_eq!(params.suffixes()[1], "@0.5,0.3"); // precision@0.5,0.3
    /// ```
    #[must_use]
    pub fn suffixes(&self) -> Vec<String> {
        let ious = &self.iou_thresholds;
        let scores = self.score_settings();
        let counts = [ious.len(), scores.len()];
        let pairs = ious
            .iter()
            .flat_map(|&iou| scores.clone().map(move |score| (iou, score)));
        pairs.map(|pair| suffix(pair, counts)).collect()
    }

    /// The score thresholds, or that all detections count.
    fn score_settings(&self) -> impl ExactSizeIterator<Item = Option<f64>> + Clone {
        let given = &self.score_thresholds;
        (0..given.len().max(1)).map(|index| given.get(index).copied())
    }
}

impl DetectionSweep {
    /// Returns the metric with these parameters, for axis-aligned boxes.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no IoU threshold or one out of range, if a score threshold is NaN, or if the best
    /// F1 is requested under a rule that does not use scores.
    pub fn new(params: DetectionSweepParams) -> Result<Self, InvalidSweep> {
        let (profile, matching) = (params.profile, params.matching);
        let metric = |iou| {
            let metric = Detections::new(profile, iou)?;
            Ok(match matching {
                Some(matching) => metric.with_matching(matching),
                None => metric,
            })
        };
        Self::of_metrics(params, metric)
    }
}

impl<S: Shape + Clone + PartialEq> DetectionSweep<S> {
    /// Returns the metric with these parameters, for any shape.
    ///
    /// # Errors
    ///
    /// Returns an error as [`new`](DetectionSweep::new) does, and if the profile is not
    /// [`DetectionProfile::OneToOne`]: the others are for axis-aligned boxes.
    pub fn of_shapes(params: DetectionSweepParams) -> Result<Self, InvalidSweep> {
        if params.profile != DetectionProfile::OneToOne {
            return Err(InvalidSweep::Profile(params.profile));
        }
        let matching = params.matching.unwrap_or_default();
        Self::of_metrics(params, |iou| Detections::of_shapes(matching, iou))
    }
}

impl<S> DetectionSweep<S> {
    fn of_metrics(
        params: DetectionSweepParams,
        metric: impl Fn(f64) -> Result<Detections<S>, InvalidThreshold>,
    ) -> Result<Self, InvalidSweep> {
        let metrics = params.iou_thresholds.iter().map(|&iou| metric(iou));
        let metrics: Vec<Detections<S>> = metrics
            .collect::<Result<_, _>>()
            .map_err(InvalidSweep::Threshold)?;
        let Some(matching) = metrics.first().map(Detections::matching) else {
            return Err(InvalidSweep::NoThreshold);
        };
        if params.score_thresholds.iter().any(|score| score.is_nan()) {
            return Err(InvalidSweep::ScoreThreshold);
        }
        let best_f1 = match matching.filter(|rule| rule.goes_by_score()) {
            None if params.best_f1 => return Err(InvalidSweep::BestF1),
            rule => rule.filter(|_| params.best_f1),
        };
        Ok(Self {
            params,
            metrics,
            best_f1,
        })
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> &DetectionSweepParams {
        &self.params
    }

    /// Returns the matching rule, or `None` if the profile has its own way of counting.
    #[must_use]
    pub fn matching(&self) -> Option<Matching> {
        self.metrics.first().and_then(Detections::matching)
    }

    /// Returns whether detections need a score.
    #[must_use]
    pub fn needs_scores(&self) -> bool {
        self.params.best_f1 || !self.params.score_thresholds.is_empty()
    }

    /// Whether the missed boxes are those that no detection was matched with, so that the counts of a
    /// class tell whether it has ground truth.
    fn is_one_to_one(&self) -> bool {
        self.params.profile == DetectionProfile::OneToOne
            && self.params.matching != Some(Matching::AnyOverlap)
    }

    /// The score thresholds; `None` for all detections.
    fn score_thresholds(&self) -> impl ExactSizeIterator<Item = Option<f64>> + Clone {
        self.params.score_settings()
    }

    /// The pairs of thresholds, by IoU threshold and then by score threshold.
    fn settings(&self) -> impl Iterator<Item = (&Detections<S>, Option<f64>)> {
        let of_metric = |metric| {
            let scores = self.score_thresholds();
            scores.map(move |score| (metric, score))
        };
        self.metrics.iter().flat_map(of_metric)
    }
}

impl<S: Shape + Clone> DetectionSweep<S> {
    /// Adds an image of a data set with these classes. Each class that occurs in the image is one example.
    pub fn update_image(
        &self,
        state: &mut DetectionSweepState,
        predictions: &[Prediction<S>],
        image: &Image<S>,
        classes: &[Class],
    ) {
        by_class(predictions, image, |class, detections, truths| {
            if let Some(class) = classes.get(class as usize) {
                self.add(state, Some(&class.key), detections, truths);
            }
        });
    }

    fn add(
        &self,
        state: &mut DetectionSweepState,
        class: Option<&Key>,
        detections: &[Detection<S>],
        truths: &[Truth<S>],
    ) {
        let measure = |(metric, score): (&Detections<S>, Option<f64>)| match score {
            None => metric.measure(detections, truths),
            Some(score) => {
                let kept = detections.iter().filter(|found| found.score >= Some(score));
                metric.measure(&kept.cloned().collect::<Vec<_>>(), truths)
            }
        };
        let counted: Vec<DetectionState> = self.settings().map(measure).collect();
        state.totals.merge_times(&counted, 1);
        if let Some(class) = class {
            let counts: Vec<Counts> = counted.iter().map(|counted| counted.counts).collect();
            match state.classes.get_mut(class) {
                Some(total) => add_each(total, &counts, 1),
                None => {
                    state.classes.insert(class.clone(), counts);
                }
            }
        }
        let uncounted = truths.iter().filter(|truth| !truth.is_counted()).count();
        count::add(&mut state.uncounted, uncounted as u64, 1);
        if let Some(rule) = self.best_f1 {
            let thresholds = &self.params.iou_thresholds;
            let length = state.histograms.len().max(thresholds.len());
            state
                .histograms
                .resize_with(length, ScoreHistogram::default);
            for (histogram, &iou) in state.histograms.iter_mut().zip(thresholds) {
                let matches = rule.matches(detections, truths, iou);
                histogram.record(&matches, detections, truths);
            }
        }
    }
}

/// The ground truth of one image and class.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepItem<S = BBox> {
    /// The class, if it is known: the means over classes are taken over known ones.
    pub class: Option<Key>,
    /// The true objects.
    pub truths: Vec<Truth<S>>,
}

impl<S: Shape + Clone> Metric for DetectionSweep<S> {
    /// The detections of one image and class, in the order of the file.
    type Prediction = [Detection<S>];
    type Reference = SweepItem<S>;
    type State = DetectionSweepState;
    type Score = DetectionSweepScore;

    fn update(
        &self,
        state: &mut DetectionSweepState,
        prediction: &[Detection<S>],
        reference: &SweepItem<S>,
    ) {
        let SweepItem { class, truths } = reference;
        self.add(state, class.as_ref(), prediction, truths);
    }

    fn compute(&self, state: &DetectionSweepState) -> DetectionSweepScore {
        let has_means = self.is_one_to_one() && !state.classes.is_empty();
        let point = |(index, (metric, score)): (usize, (&Detections<S>, Option<f64>))| {
            let counted = state.totals.get(index).copied().unwrap_or_default();
            let classes = state.classes.values();
            let of_classes = classes.filter_map(|counts| counts.get(index)).copied();
            SweepPoint {
                iou_threshold: metric.iou_threshold(),
                score_threshold: score,
                state: counted,
                score: metric.compute(&counted),
                macro_average: has_means.then(|| macro_average(of_classes)),
            }
        };
        let curve = |index: usize| {
            let histogram = state.histograms.get(index);
            histogram.map(ScoreHistogram::curve).unwrap_or_default()
        };
        let curves = match self.best_f1 {
            Some(_) => (0..self.metrics.len()).map(curve).collect(),
            None => Vec::new(),
        };
        DetectionSweepScore {
            points: self.settings().enumerate().map(point).collect(),
            per_iou: self.score_thresholds().len(),
            curves,
        }
    }
}

/// The state of a [`DetectionSweep`]: the counts at each pair of thresholds, of all examples and of each class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DetectionSweepState {
    /// By pair of thresholds.
    totals: Vec<DetectionState>,
    /// Ground-truth boxes that do not count.
    uncounted: u64,
    /// By IoU threshold, where the best F1 is requested.
    histograms: Vec<ScoreHistogram>,
    /// The counts of each known class, by pair of thresholds. The order of the classes matters to the
    /// last bit of a mean.
    classes: BTreeMap<Key, Vec<Counts>>,
}

impl DetectionSweepState {
    /// Returns the known classes that occurred, in the order of their keys.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.classes.keys()
    }

    /// Returns the numbers of ground-truth boxes and of detections of each known class, each the greatest over all
    /// pairs of thresholds.
    pub fn class_totals(&self) -> impl Iterator<Item = (&Key, ClassTotals)> {
        self.classes.iter().map(|(class, counts)| {
            let most = |count: fn(&Counts) -> u64| counts.iter().map(count).max();
            let totals = ClassTotals {
                truths: most(Counts::actual).unwrap_or_default(),
                detections: most(Counts::predicted).unwrap_or_default(),
            };
            (class, totals)
        })
    }

    /// Returns the number of ground-truth boxes that do not count: crowds and ignored ones.
    #[must_use]
    pub fn uncounted(&self) -> u64 {
        self.uncounted
    }

    /// Returns a function that merges the states, each as many times as its weight says. The states are usually those
    /// of single examples, and the weights those of a bootstrap replicate.
    ///
    /// # Cost
    ///
    /// One sort of the scores of all detections for all weights. Each set of weights is one pass over the scores and
    /// one over the states.
    pub fn weighted<'s>(states: &[&'s Self]) -> impl Fn(&[u64]) -> Self + use<'s> {
        let states = states.to_vec();
        let count = states.iter().map(|state| state.histograms.len()).max();
        let histograms = (0..count.unwrap_or_default()).map(|index| {
            let of_states = states.iter().map(|state| state.histograms.get(index));
            ScoreHistogram::weighted(&of_states.collect::<Vec<_>>())
        });
        let histograms: Vec<_> = histograms.collect();
        move |weights| {
            let mut merged = Self::default();
            for (state, &times) in states.iter().zip(weights) {
                merged.merge_counts(state, times);
            }
            merged.histograms = histograms.iter().map(|merge| merge(weights)).collect();
            merged
        }
    }

    /// Adds everything except the histograms.
    fn merge_counts(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        self.totals.merge_times(&other.totals, times);
        count::add(&mut self.uncounted, other.uncounted, times);
        for (class, counts) in &other.classes {
            match self.classes.get_mut(class) {
                Some(mine) => add_each(mine, counts, times),
                None => {
                    let mut mine = Vec::new();
                    add_each(&mut mine, counts, times);
                    self.classes.insert(class.clone(), mine);
                }
            }
        }
    }
}

/// Merges counts by position, as lists of states merge. They cannot overflow here.
fn add_each(mine: &mut Vec<Counts>, theirs: &[Counts], times: u64) {
    mine.resize_with(mine.len().max(theirs.len()), Counts::default);
    for (mine, &theirs) in mine.iter_mut().zip(theirs) {
        count::add_counts(mine, theirs, times);
    }
}

impl Merge for DetectionSweepState {
    fn merge(&mut self, other: Self) {
        self.totals.merge(other.totals);
        count::add(&mut self.uncounted, other.uncounted, 1);
        self.histograms.merge(other.histograms);
        for (class, counts) in other.classes {
            add_each(self.classes.entry(class).or_default(), &counts, 1);
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times > 0 {
            self.merge_counts(other, times);
            self.histograms.merge_times(&other.histograms, times);
        }
    }
}

/// A map of the fields; the classes, which may be integers or text, are a list of pairs in the order of their keys.
impl Written for DetectionSweepState {
    fn write(&self, to: &mut Writer) {
        to.map(4);
        to.field("totals", &self.totals);
        to.field("uncounted", &self.uncounted);
        to.field("histograms", &self.histograms);
        to.text("classes");
        to.pairs(&self.classes);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.map()?;
        let totals = from.field("totals")?;
        let uncounted = from.field("uncounted")?;
        let histograms = from.field("histograms")?;
        let classes: Vec<(Key, Vec<Counts>)> = from.field("classes")?;
        if !classes.is_sorted_by(|(a, _), (b, _)| a < b) {
            return Err("expected classes in rising order".into());
        }
        for counts in classes.iter().flat_map(|(_, counts)| counts) {
            let Counts {
                true_positives,
                false_positives,
                false_negatives,
            } = *counts;
            count::check([true_positives, false_positives, false_negatives])?;
        }
        Ok(Self {
            totals,
            uncounted,
            histograms,
            classes: classes.into_iter().collect(),
        })
    }
}

/// The score of a [`DetectionSweep`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DetectionSweepScore {
    points: Vec<SweepPoint>,
    /// The number of score thresholds, at least 1.
    per_iou: usize,
    curves: Vec<Curve>,
}

/// The end of the names of the scores at a pair of thresholds, for these numbers of thresholds.
fn suffix((iou, score): (f64, Option<f64>), [ious, scores]: [usize; 2]) -> String {
    match score {
        Some(score) if scores > 1 => format!("@{iou},{score}"),
        _ if ious > 1 => format!("@{iou}"),
        _ => String::new(),
    }
}

/// `precision`, `recall` and `f1` at each pair of thresholds, then `macro_precision` and so on where classes are known,
/// then `best_f1` and `best_f1_score` at each IoU threshold if they were requested. The names end as
/// [`DetectionSweepParams::suffixes`] says.
impl NamedScores for DetectionSweepScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        let ious = self.points.len() / self.per_iou.max(1);
        let named = |prefix: &'static str, point: &SweepPoint, score: DetectionScore| {
            let thresholds = (point.iou_threshold, point.score_threshold);
            let suffix = suffix(thresholds, [ious, self.per_iou]);
            let scores = score.named_scores().into_iter();
            scores.map(move |(name, value)| (format!("{prefix}{name}{suffix}"), value))
        };
        let points = self.points.iter();
        let of_all = points
            .clone()
            .flat_map(|point| named("", point, point.score));
        let averages = points
            .clone()
            .filter_map(|point| Some(named("macro_", point, point.macro_average?)));
        let best = points
            .step_by(self.per_iou.max(1))
            .zip(&self.curves)
            .flat_map(|(point, curve)| curve.best_f1_scores(point.iou_threshold, ious > 1));
        of_all.chain(averages.flatten()).chain(best).collect()
    }
}

impl DetectionSweepScore {
    /// Returns the score at the IoU threshold and the score threshold at these positions in their lists. If there are
    /// no score thresholds, the position is 0.
    #[must_use]
    pub fn at(&self, iou_threshold: usize, score_threshold: usize) -> Option<&SweepPoint> {
        if score_threshold >= self.per_iou {
            return None;
        }
        let start = iou_threshold.checked_mul(self.per_iou)?;
        self.points.get(start.checked_add(score_threshold)?)
    }

    /// Returns the scores at all pairs of thresholds, by IoU threshold and then by score threshold.
    #[must_use]
    pub fn points(&self) -> &[SweepPoint] {
        &self.points
    }

    /// Returns the counts at every score for the IoU threshold at this position, if the best F1 was requested.
    /// [`Curve::best_f1`] returns that F1.
    #[must_use]
    pub fn curve(&self, iou_threshold: usize) -> Option<&Curve> {
        self.curves.get(iou_threshold)
    }
}

/// The score of a [`DetectionSweep`] at a pair of thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SweepPoint {
    /// The IoU threshold.
    pub iou_threshold: f64,
    /// The score threshold; `None` where all detections count.
    pub score_threshold: Option<f64>,
    /// The counts of all images and classes.
    pub state: DetectionState,
    /// Precision, recall and F1 of these counts.
    pub score: DetectionScore,
    /// The [`macro_average`] of the known classes; `None` without any, and for profiles and rules whose
    /// counts do not tell whether a class has ground truth.
    pub macro_average: Option<DetectionScore>,
}

/// The error for parameters that [`DetectionSweep`] does not accept.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidSweep {
    /// There is no IoU threshold.
    NoThreshold,
    /// An IoU threshold is out of range.
    Threshold(InvalidThreshold),
    /// A score threshold is NaN.
    ScoreThreshold,
    /// The best F1 is requested under a rule that does not use scores.
    BestF1,
    /// The profile is for axis-aligned boxes.
    Profile(DetectionProfile),
}

impl fmt::Display for InvalidSweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoThreshold => f.write_str("no IoU thresholds: expected at least one"),
            Self::Threshold(error) => error.fmt(f),
            Self::ScoreThreshold => f.write_str("a score threshold is NaN: expected a number"),
            Self::BestF1 => {
                f.write_str("the matching rule must use scores: greedy, voc or voc-strict")
            }
            Self::Profile(profile) => {
                write!(f, "the profile {profile} is for axis-aligned boxes")
            }
        }
    }
}

impl std::error::Error for InvalidSweep {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Threshold(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RotatedBox;

    fn at(x: f64) -> BBox {
        BBox::from_xywh(x, 0.0, 10.0, 10.0).expect("a box")
    }

    fn found(x: f64, score: f64) -> Detection {
        Detection {
            shape: at(x),
            score: Some(score),
        }
    }

    fn item(class: &str, indices: &[f64]) -> SweepItem {
        SweepItem {
            class: Some(class.into()),
            truths: indices.iter().map(|&x| Truth::from(at(x))).collect(),
        }
    }

    #[test]
    fn classes_and_the_best_f1() {
        let metric = DetectionSweep::new(DetectionSweepParams {
            matching: Some(Matching::Greedy),
            iou_thresholds: vec![0.5, 0.75],
            best_f1: true,
            ..DetectionSweepParams::default()
        });
        let metric = metric.expect("a definition");
        // Cats: 1 of 2 found, 1 of 2 detections correct. Dogs: all.
        let mut state = metric.measure(
            &[found(2.0, 0.9), found(90.0, 0.5)],
            &item("cat", &[0.0, 50.0]),
        );
        metric.update(&mut state, &[found(0.0, 0.4)], &item("dog", &[0.0]));
        let score = metric.compute(&state);
        let point = score.at(0, 0).expect("a point");
        assert_eq!(point.state.counts, Counts::new(2, 1, 1));
        let means = point.macro_average.expect("means");
        assert_eq!((means.precision, means.recall), (Some(0.75), Some(0.75)));
        let best = score.curve(0).and_then(Curve::best_f1).expect("a point");
        assert_eq!((best.score, best.counts), (0.4, Counts::new(2, 1, 1)));
        // An IoU of 8/12 is not enough for 0.75.
        let stricter = score.at(1, 0).expect("a point");
        assert_eq!(stricter.state.counts, Counts::new(1, 2, 2));
        assert_eq!((score.at(2, 0), score.at(0, 1)), (None, None));
        assert_eq!(score.at(usize::MAX, 0), None);
        assert!(state.classes().eq(&[Key::from("cat"), "dog".into()]));
    }

    #[test]
    fn definitions_that_are_refused() {
        let with = |change: fn(&mut DetectionSweepParams)| {
            let mut params = DetectionSweepParams::default();
            change(&mut params);
            params
        };
        for (params, expected) in [
            (
                with(|params| params.iou_thresholds.clear()),
                InvalidSweep::NoThreshold,
            ),
            (
                with(|params| params.score_thresholds.push(f64::NAN)),
                InvalidSweep::ScoreThreshold,
            ),
            (with(|params| params.best_f1 = true), InvalidSweep::BestF1),
        ] {
            let error = DetectionSweep::new(params).expect_err("no definition");
            assert_eq!(error, expected);
        }
        let params = with(|params| params.iou_thresholds.push(1.5));
        let error = DetectionSweep::new(params).expect_err("no definition");
        assert!(matches!(error, InvalidSweep::Threshold(_)));
        let params = with(|params| params.profile = DetectionProfile::SeedText);
        let error = DetectionSweep::<RotatedBox>::of_shapes(params).expect_err("no definition");
        assert_eq!(error, InvalidSweep::Profile(DetectionProfile::SeedText));
    }
}
