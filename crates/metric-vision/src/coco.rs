use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use metric_core::{Merge, Metric};

use crate::numpy::pairwise_sum;
use crate::{Annotation, BBox, Image, Key, Prediction, Shape};

/// COCO's average precision and average recall: bit for bit the numbers of pycocotools 2.0.11.
///
/// An example is an image: its detections and its true objects, of all classes. In each image and
/// class, at each IoU threshold and in each size class, detections in the order of falling score
/// take true objects by COCO's greedy rule ([`matching::greedy`](crate::matching::greedy)). Over all
/// images, sorted by score, they make a precision-recall curve, whose precision is made to fall
/// monotonically, and read at 101 recalls; AP is the mean.
///
/// Detections of equal score rank by the key of their image, then by their order in the file, however
/// the images are divided among states.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::{Annotation, CocoAp, BBox, Image, Key, Prediction, CocoSlice};
///
/// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let truth = |x| Ok(Annotation { class: 0, crowd: false, ignore: false, id: 1, area: 100.0, shape: square(x)? });
/// let found = |x, score| Ok(Prediction { image: 0, place: 0, class: 0, score, area: 100.0, shape: square(x)? });
///
/// // Of two objects the surest detection is on one, the next on neither.
/// let image = Image { key: Key::Number(1), annotations: vec![truth(0.0)?, truth(50.0)?] };
/// let metric = CocoAp::default();
/// let state = metric.measure(&[found(0.0, 0.9)?, found(20.0, 0.8)?], &image);
///
/// let curves = metric.compute(&state);
/// // Recall ends at 1/2. Precision is 1 at the recalls 0, 0.01, ... 0.50, which are 51 of 101.
/// assert_eq!(curves.average_recall(CocoSlice::default()), Some(0.5));
/// let ap = curves.average_precision(CocoSlice::default()).unwrap();
/// assert!((ap - 51.0 / 101.0).abs() < 1e-15);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
///
/// Source: Lin et al., *Microsoft COCO: Common Objects in Context* (ECCV 2014); `COCOeval` of
/// pycocotools 2.0.11. What is known to be wrong there is not repeated here, unless
/// [`CocoParams::quirks`] asks for it.
///
/// Cost: an image and class takes the product of its true objects and its detections, of which no more
/// than the greatest of [`CocoParams::max_detections`] count; the rest is linear but for sorting.
#[derive(Clone, Debug, PartialEq)]
pub struct CocoAp<S = BBox> {
    params: CocoParams,
    /// IoU from which a detection can match, rising: each threshold, but at most `1 - 1e-10`, with its
    /// place in the list.
    enough: Vec<(f64, usize)>,
    shape: PhantomData<fn(S)>,
}

/// The definition of [`CocoAp`].
#[derive(Clone, Debug, PartialEq)]
pub struct CocoParams {
    /// The IoU thresholds, each in `0 < t <= 1`. COCO: 0.50, 0.55, ... 0.95, as numpy's `linspace`
    /// rounds them.
    pub iou_thresholds: Vec<f64>,
    /// The recalls at which curves are read, rising. COCO: 0, 0.01, ... 1.
    pub recall_thresholds: Vec<f64>,
    /// The size classes. The first is for the main numbers and COCO's takes everything up to 1e10.
    pub areas: Vec<AreaRange>,
    /// How many detections count in each image and class, those of the highest scores; rising.
    /// COCO: 1, 10, 100.
    pub max_detections: Vec<usize>,
    /// Whether classes are told apart; otherwise all objects are of one class.
    pub by_class: bool,
    /// Whether to repeat what pycocotools 2.0.11 gets wrong: a match with a true object whose id is 0
    /// counts as none, and the main AP is looked up at 100 detections, and undefined where that is
    /// not in the list.
    pub quirks: bool,
}

/// A size class: the areas from one bound to the other, both of which are in it.
#[derive(Clone, Debug, PartialEq)]
pub struct AreaRange {
    /// Its name.
    pub name: String,
    /// The least area.
    pub least: f64,
    /// The greatest area.
    pub greatest: f64,
}

impl AreaRange {
    /// The size class of this name and these bounds.
    pub fn new(name: impl Into<String>, least: f64, greatest: f64) -> Self {
        Self {
            name: name.into(),
            least,
            greatest,
        }
    }

    fn contains(&self, area: f64) -> bool {
        // As the program asks: what is not outside is inside.
        !(area < self.least || area > self.greatest)
    }
}

/// COCO's.
impl Default for CocoParams {
    fn default() -> Self {
        Self {
            iou_thresholds: COCO_IOU_THRESHOLDS.to_vec(),
            recall_thresholds: (0..=100).map(|step| f64::from(step) * 0.01).collect(),
            areas: COCO_AREAS
                .iter()
                .map(|&(name, least, greatest)| AreaRange::new(name, least, greatest))
                .collect(),
            max_detections: vec![1, 10, 100],
            by_class: true,
            quirks: false,
        }
    }
}

/// `numpy.linspace(0.5, 0.95, 10)`, bit for bit.
#[allow(clippy::excessive_precision, reason = "the digits numpy prints")]
const COCO_IOU_THRESHOLDS: [f64; 10] = [
    0.5,
    0.55,
    0.6,
    0.65,
    0.7,
    0.75,
    0.8,
    0.85,
    0.8999999999999999,
    0.95,
];

const COCO_AREAS: [(&str, f64, f64); 4] = [
    ("all", 0.0, 1e10),
    ("small", 0.0, 1024.0),
    ("medium", 1024.0, 9216.0),
    ("large", 9216.0, 1e10),
];

impl<S: Shape> CocoAp<S> {
    /// The metric of this definition.
    ///
    /// # Errors
    ///
    /// An empty list, an IoU threshold outside `0 < t <= 1`, recalls that do not rise, a bound of an
    /// area that is NaN, more than 31 size classes, or numbers of detections that do not rise from 1.
    pub fn new(params: CocoParams) -> Result<Self, InvalidCocoParams> {
        let CocoParams {
            iou_thresholds,
            recall_thresholds,
            areas,
            max_detections,
            ..
        } = &params;
        for (list, length) in [
            ("IoU thresholds", iou_thresholds.len()),
            ("recall thresholds", recall_thresholds.len()),
            ("areas", areas.len()),
            ("numbers of detections", max_detections.len()),
        ] {
            if length == 0 {
                return Err(InvalidCocoParams::Empty { list });
            }
        }
        if let Some(&t) = iou_thresholds.iter().find(|&&t| !(t > 0.0 && t <= 1.0)) {
            return Err(InvalidCocoParams::IouThreshold(t));
        }
        let mut last = f64::NEG_INFINITY;
        for &recall in recall_thresholds {
            if recall.is_nan() || recall <= last {
                return Err(InvalidCocoParams::RecallThreshold(recall));
            }
            last = recall;
        }
        if areas.len() > MOST_AREAS {
            return Err(InvalidCocoParams::TooManyAreas(areas.len()));
        }
        if let Some(area) = areas
            .iter()
            .find(|a| a.least.is_nan() || a.greatest.is_nan())
        {
            return Err(InvalidCocoParams::Area(area.name.clone()));
        }
        let mut last = 0;
        for &number in max_detections {
            if number <= last {
                return Err(InvalidCocoParams::MaxDetections(number));
            }
            last = number;
        }
        Ok(Self::valid(params))
    }

    fn valid(params: CocoParams) -> Self {
        let thresholds = params.iou_thresholds.iter().enumerate();
        let mut enough: Vec<(f64, usize)> = thresholds
            .map(|(place, &threshold)| (threshold.min(1.0 - 1e-10), place))
            .collect();
        enough.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Self {
            params,
            enough,
            shape: PhantomData,
        }
    }

    /// The definition.
    #[must_use]
    pub fn params(&self) -> &CocoParams {
        &self.params
    }
}

impl<S: Shape> Default for CocoAp<S> {
    fn default() -> Self {
        Self::valid(CocoParams::default())
    }
}

/// The evidence of [`CocoAp`]: how the detections of each image fared.
///
/// About 14 bytes a detection and 16 for each that met a true object, and 24 for each image and
/// class.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CocoState {
    // A list because two examples may have the same key; in the order of their content, so that
    // the state does not depend on which came first.
    #[cfg_attr(feature = "serde", serde(with = "pairs"))]
    images: BTreeMap<Key, Vec<ImageOutcome>>,
}

/// How the detections of an image fared, by class.
#[derive(Clone, Debug, Default, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct ImageOutcome {
    /// Each class that has detections or true objects, in rising order, and how many detections.
    classes: Vec<(u32, u32)>,
    /// For each class the number of true objects to be found, by size class.
    truths: Vec<u32>,
    /// The scores of the detections of each class in turn, falling.
    scores: Vec<f64>,
    /// For each detection the size classes in which it is false at every threshold, a bit each; or
    /// [`DETAILED`] and its place in `details`.
    verdicts: Vec<u32>,
    /// For detections whose verdict depends on the threshold, or that are right: for each size class
    /// and threshold a bit whether they are right, and, in as many words, whether they are wrong.
    details: Vec<u64>,
}

const DETAILED: u32 = 1 << 31;
const MOST_AREAS: usize = 31;

impl CocoState {
    /// The number of detections that count.
    #[must_use]
    pub fn detections(&self) -> u64 {
        let images = self.images.values().flatten();
        images.map(|image| image.scores.len() as u64).sum()
    }

    fn insert(&mut self, key: Key, outcome: ImageOutcome) {
        let same = self.images.entry(key).or_default();
        same.push(outcome);
        if same.len() > 1 {
            same.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        }
    }
}

impl Merge for CocoState {
    fn merge(&mut self, other: Self) {
        for (key, outcomes) in other.images {
            for outcome in outcomes {
                self.insert(key.clone(), outcome);
            }
        }
    }
}

#[cfg(feature = "serde")]
mod pairs {
    //! A map as a list of pairs, for formats whose keys are text.

    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::{ImageOutcome, Key};

    type Outcomes = BTreeMap<Key, Vec<ImageOutcome>>;

    pub(super) fn serialize<S: Serializer>(map: &Outcomes, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Outcomes, D::Error> {
        Ok(Vec::deserialize(from)?.into_iter().collect())
    }
}

impl<S: Shape> Metric for CocoAp<S> {
    /// The detections in an image, in the order of the file.
    type Prediction = [Prediction<S>];
    type Reference = Image<S>;
    type State = CocoState;
    type Score = CocoCurves;

    fn update(&self, state: &mut CocoState, prediction: &[Prediction<S>], reference: &Image<S>) {
        // Each thread keeps the memory for its next image.
        thread_local! {
            static KEPT: Cell<Option<Box<Meetings>>> = const { Cell::new(None) };
        }
        let mut meetings = KEPT.take().unwrap_or_default();
        let outcome = self.match_image(prediction, &reference.annotations, &mut meetings);
        KEPT.set(Some(meetings));
        state.insert(reference.key.clone(), outcome);
    }

    fn compute(&self, state: &CocoState) -> CocoCurves {
        CocoCurves::accumulate(&self.params, state)
    }
}

/// A number that rises as the score falls; the greatest for NaN.
pub(crate) fn falling(score: f64) -> u64 {
    if score.is_nan() {
        return u64::MAX;
    }
    // Adding 0 makes one number of the two zeros.
    let bits = (score + 0.0).to_bits();
    match bits >> 63 {
        0 => !(bits | 1 << 63),
        _ => bits,
    }
}

impl<S: Shape> CocoAp<S> {
    fn match_image(
        &self,
        predictions: &[Prediction<S>],
        annotations: &[Annotation<S>],
        meetings: &mut Meetings,
    ) -> ImageOutcome {
        // Objects whose classes are pooled still come class by class.
        let class_of = |class: u32| if self.params.by_class { class } else { 0 };
        let mut detections: Vec<_> = (0_u32..)
            .zip(predictions)
            .map(|(place, prediction)| {
                let score = falling(prediction.score);
                let rank = (class_of(prediction.class), score, prediction.class, place);
                (rank, prediction)
            })
            .collect();
        detections.sort_unstable_by_key(|&(rank, _)| rank);
        let mut truths: Vec<&Annotation<S>> = annotations.iter().collect();
        truths.sort_by_key(|truth| truth.class);

        let mut outcome = ImageOutcome {
            scores: Vec::with_capacity(detections.len()),
            verdicts: Vec::with_capacity(detections.len()),
            ..ImageOutcome::default()
        };
        let (mut detections, mut truths) = (&*detections, &*truths);
        loop {
            let next_classes = [
                detections.first().map(|((class, ..), _)| *class),
                truths.first().map(|truth| class_of(truth.class)),
            ];
            let Some(class) = next_classes.into_iter().flatten().min() else {
                return outcome;
            };
            let (mine, others) =
                detections.split_at(detections.partition_point(|((of, ..), _)| *of == class));
            detections = others;
            let (group, others) =
                truths.split_at(truths.partition_point(|truth| class_of(truth.class) == class));
            truths = others;
            // What does not count is cut off before the matching.
            let most = self.params.max_detections.last().copied().unwrap_or(0);
            let mine = mine.iter().take(most).map(|&(_, prediction)| prediction);
            self.match_class(class, mine, group, meetings, &mut outcome);
        }
    }

    /// Matches the detections of one class, which come by falling score, with its true objects.
    fn match_class<'a>(
        &self,
        class: u32,
        detections: impl Iterator<Item = &'a Prediction<S>>,
        truths: &[&Annotation<S>],
        meetings: &mut Meetings,
        outcome: &mut ImageOutcome,
    ) where
        S: 'a,
    {
        let first = outcome.scores.len();
        meetings.start(
            truths
                .iter()
                .map(|truth| match truth.crowd || truth.ignore {
                    true => u32::MAX,
                    false => !self.areas_of(truth.area),
                }),
        );
        let least = self
            .enough
            .first()
            .map_or(f64::INFINITY, |&(least, _)| least);
        for detection in detections {
            outcome.scores.push(detection.score);
            outcome.verdicts.push(self.areas_of(detection.area));
            for (place, truth) in truths.iter().enumerate() {
                let iou = match truth.crowd {
                    true => detection.shape.iou_crowd(&truth.shape),
                    false => detection.shape.iou(&truth.shape),
                };
                if iou >= least {
                    meetings.candidates.push((place, iou));
                }
            }
            meetings.end(outcome.scores.len() - 1);
        }
        outcome
            .classes
            .push((class, (outcome.scores.len() - first) as u32));
        let areas = self.params.areas.len();
        let to_be_found = |area: usize| {
            let ignored = meetings.ignored.iter();
            ignored.filter(|&bits| bits >> area & 1 == 0).count() as u32
        };
        outcome.truths.extend((0..areas).map(to_be_found));
        if meetings.detections.is_empty() {
            return;
        }

        let words = self.params.words();
        let start = outcome.details.len();
        outcome
            .details
            .resize(start + meetings.detections.len() * 2 * words, 0);
        let mut rest: u32 = (1 << areas) - 1;
        while rest != 0 {
            // Size classes in which the same true objects are to be found have the same matches.
            let area = rest.trailing_zeros();
            let alike = rest & meetings.alike(area);
            rest &= !alike;
            let mut thresholds = &*self.enough;
            while let Some(&(threshold, _)) = thresholds.first() {
                let least = meetings.match_all(truths, area, threshold);
                // So have higher thresholds that all of these matches reach.
                let same = thresholds.partition_point(|&(higher, _)| higher <= least);
                let (these, others) = thresholds.split_at(same.max(1));
                thresholds = others;
                for (place, matched) in meetings.matches.iter().enumerate() {
                    let (detection, _) = meetings.detections[place];
                    let false_in = outcome.verdicts[detection];
                    let (right_in, wrong_in) = match *matched {
                        Match::Nothing => (0, false_in),
                        Match::Ignored => (0, 0),
                        // pycocotools notes the id of the match, and reads 0 as no match.
                        Match::Counted(truth) if self.params.quirks && truths[truth].id == 0 => {
                            (0, false_in)
                        }
                        Match::Counted(_) => (u32::MAX, 0),
                    };
                    let (right, wrong) =
                        outcome.details[start + place * 2 * words..].split_at_mut(words);
                    for (bits, is_in) in [(right, right_in), (wrong, wrong_in)] {
                        for area in ones(&[u64::from(is_in & alike)]) {
                            for (_, threshold) in these {
                                let bit = area * self.enough.len() + threshold;
                                bits[bit / 64] |= 1 << (bit % 64);
                            }
                        }
                    }
                }
            }
        }
        for (place, &(detection, _)) in meetings.detections.iter().enumerate() {
            outcome.verdicts[detection] = DETAILED | (start / (2 * words) + place) as u32;
        }
    }

    /// The size classes that an area is in, a bit each.
    fn areas_of(&self, area: f64) -> u32 {
        let ranges = self.params.areas.iter().enumerate();
        ranges.fold(0, |bits, (place, range)| {
            bits | u32::from(range.contains(area)) << place
        })
    }
}

impl CocoParams {
    /// The words of 64 bits that have a bit for each size class and threshold.
    fn words(&self) -> usize {
        (self.areas.len() * self.iou_thresholds.len()).div_ceil(64)
    }
}

/// The detections of an image and class that overlap true objects enough for the lowest threshold:
/// few do, and only they take part in the matching.
#[derive(Default)]
struct Meetings {
    /// By true object the size classes in which it is not to be found, a bit each.
    ignored: Vec<u32>,
    /// The detections that meet any: their place, and where their candidates end.
    detections: Vec<(usize, usize)>,
    /// True objects with their IoU.
    candidates: Vec<(usize, f64)>,
    /// By true object whether a detection has taken it.
    taken: Vec<bool>,
    /// By detection.
    matches: Vec<Match>,
}

/// What a detection matches.
#[derive(Clone, Copy)]
enum Match {
    Nothing,
    /// A true object that is not to be found.
    Ignored,
    /// The true object at this place, which is to be found.
    Counted(usize),
}

impl Meetings {
    /// Starts with other true objects.
    fn start(&mut self, ignored: impl Iterator<Item = u32>) {
        self.ignored.clear();
        self.ignored.extend(ignored);
        self.detections.clear();
        self.candidates.clear();
    }

    /// Ends the candidates of a detection.
    fn end(&mut self, detection: usize) {
        let before = self.detections.last().map_or(0, |&(_, end)| end);
        if self.candidates.len() > before {
            self.detections.push((detection, self.candidates.len()));
        }
    }

    /// The size classes in which the same true objects are to be found as in one, a bit each.
    fn alike(&self, area: u32) -> u32 {
        let all_like = |bits: &u32| if bits >> area & 1 == 1 { *bits } else { !bits };
        self.ignored
            .iter()
            .map(all_like)
            .fold(u32::MAX, |alike, bits| alike & bits)
    }

    /// Lets each detection take the true object that it overlaps most, of equal ones the last, of
    /// those that no other has taken; one that is not to be found only if no other will do. Gives the
    /// least IoU of a match.
    fn match_all<S>(&mut self, truths: &[&Annotation<S>], area: u32, threshold: f64) -> f64 {
        self.taken.clear();
        self.taken.resize(truths.len(), false);
        self.matches.clear();
        let mut least = f64::INFINITY;
        let mut start = 0;
        for &(_, end) in &self.detections {
            let mut best = [(None, threshold); 2];
            for &(truth, iou) in &self.candidates[start..end] {
                let (found, greatest) = &mut best[(self.ignored[truth] >> area & 1) as usize];
                if iou >= *greatest && (!self.taken[truth] || truths[truth].crowd) {
                    (*found, *greatest) = (Some(truth), iou);
                }
            }
            start = end;
            let (taken, iou, matched) = match best {
                [(Some(truth), iou), _] => (truth, iou, Match::Counted(truth)),
                [_, (Some(truth), iou)] => (truth, iou, Match::Ignored),
                _ => {
                    self.matches.push(Match::Nothing);
                    continue;
                }
            };
            self.taken[taken] = true;
            self.matches.push(matched);
            least = least.min(iou);
        }
        least
    }
}

/// Precision and recall over a data set, as [`CocoAp`] computes them.
///
/// Holds only what there are true objects for: everything else is undefined.
#[derive(Clone, Debug, PartialEq)]
pub struct CocoCurves {
    params: CocoParams,
    /// In the order of the classes.
    classes: Vec<OfClass>,
}

/// The curves of a class that has true objects in any size class.
#[derive(Clone, Debug, PartialEq)]
struct OfClass {
    class: u32,
    /// By size class.
    truths: Vec<u64>,
    /// By number of detections, size class, threshold and recall.
    precision: Vec<f64>,
    /// Likewise: the score from which on that recall is reached.
    scores: Vec<f64>,
    /// By number of detections, size class and threshold.
    recall: Vec<f64>,
}

impl CocoCurves {
    fn accumulate(params: &CocoParams, state: &CocoState) -> Self {
        let areas = params.areas.len();
        let mut truths: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for image in state.images.values().flatten() {
            for (&(class, _), here) in image.classes.iter().zip(image.truths.chunks(areas)) {
                let totals = truths.entry(class).or_insert_with(|| vec![0; areas]);
                for (total, &here) in totals.iter_mut().zip(here) {
                    *total += u64::from(here);
                }
            }
        }
        // Without true objects there are no curves.
        truths.retain(|_, truths| truths.iter().any(|&truths| truths > 0));
        let of_class = |(class, truths)| (class, ClassDetections::new(truths));
        let mut classes: Vec<(u32, ClassDetections<'_>)> =
            truths.into_iter().map(of_class).collect();
        for image in state.images.values().flatten() {
            let mut start = 0;
            for &(class, count) in &image.classes {
                let end = start + count as usize;
                if let Ok(place) = classes.binary_search_by_key(&class, |&(class, _)| class) {
                    classes[place].1.add(params, image, start..end);
                }
                start = end;
            }
        }
        let curves =
            |(class, detections): (u32, ClassDetections<'_>)| detections.curves(class, params);
        #[cfg(feature = "rayon")]
        let classes = {
            use rayon::prelude::*;
            classes.into_par_iter().map(curves).collect()
        };
        #[cfg(not(feature = "rayon"))]
        let classes = classes.into_iter().map(curves).collect();
        Self {
            params: params.clone(),
            classes,
        }
    }
}

/// The detections and true objects of a class.
struct ClassDetections<'a> {
    /// By size class.
    truths: Vec<u64>,
    /// Detections whose verdict depends on the threshold, or that are right.
    detailed: Vec<Detailed<'a>>,
    others: Vec<Other>,
    first: Option<(Rank, f64)>,
}

/// A detection's place by falling score, of equal ones as they come.
type Rank = (u64, u32);

struct Detailed<'a> {
    rank: Rank,
    score: f64,
    /// How many of the numbers of detections leave it out.
    level: u32,
    /// Bits of curves: where it is right, and where it is wrong.
    details: (&'a [u64], &'a [u64]),
}

struct Other {
    rank: Rank,
    level: u32,
    /// The size classes in which it is wrong, a bit each.
    wrong: u32,
}

impl<'a> ClassDetections<'a> {
    fn new(truths: Vec<u64>) -> Self {
        Self {
            truths,
            detailed: Vec::new(),
            others: Vec::new(),
            first: None,
        }
    }

    /// Adds the detections of an image.
    fn add(&mut self, params: &CocoParams, image: &'a ImageOutcome, range: Range<usize>) {
        let words = params.words();
        let scores = image.scores.get(range.clone()).unwrap_or_default();
        let verdicts = image.verdicts.get(range).unwrap_or_default();
        let mut level = 0;
        for (place, (&score, &verdict)) in scores.iter().zip(verdicts).enumerate() {
            while params
                .max_detections
                .get(level as usize)
                .is_some_and(|&most| place >= most)
            {
                level += 1;
            }
            let order = (self.detailed.len() + self.others.len()) as u32;
            let rank = (falling(score), order);
            if self.first.is_none_or(|(first, _)| rank < first) {
                self.first = Some((rank, score));
            }
            if verdict & DETAILED == 0 {
                self.others.push(Other {
                    rank,
                    level,
                    wrong: verdict,
                });
            } else {
                let start = (verdict & !DETAILED) as usize * 2 * words;
                let details = image
                    .details
                    .get(start..start + 2 * words)
                    .unwrap_or_default();
                let details = details.split_at(details.len() / 2);
                self.detailed.push(Detailed {
                    rank,
                    score,
                    level,
                    details,
                });
            }
        }
    }

    fn curves(mut self, class: u32, params: &CocoParams) -> OfClass {
        let (areas, thresholds) = (params.areas.len(), params.iou_thresholds.len());
        let levels = params.max_detections.len();
        let detailed = &mut self.detailed;
        // Only these must be sorted; of the others it is enough to know how many are wrong before each
        // of these, by level and size class.
        detailed.sort_unstable_by_key(|detection| detection.rank);
        let mut before = vec![0_u32; detailed.len() * levels * areas];
        for other in &self.others {
            let next = detailed.partition_point(|detection| detection.rank < other.rank);
            let start = (next * levels + other.level as usize) * areas;
            if let Some(counts) = before.get_mut(start..start + areas) {
                for (area, count) in counts.iter_mut().enumerate() {
                    *count += other.wrong >> area & 1;
                }
            }
        }

        let mut curves = OfClass {
            class,
            truths: self.truths.clone(),
            precision: Vec::new(),
            scores: Vec::new(),
            recall: Vec::new(),
        };
        let needed: Vec<_> = self
            .truths
            .iter()
            .map(|&truths| needed(params, truths))
            .collect();
        let area_of: Vec<usize> = (0..areas * thresholds)
            .map(|curve| curve / thresholds)
            .collect();
        // By curve, the detections that are right: their place, and how many before them are wrong.
        let mut right: Vec<Vec<(u32, u32)>> = vec![Vec::new(); areas * thresholds];
        for most in 0..levels {
            let at_level = |level: u32| level as usize == most;
            let no_more = !detailed.iter().any(|detection| at_level(detection.level))
                && !self.others.iter().any(|other| at_level(other.level));
            if most > 0 && no_more {
                curves.repeat_last(areas * thresholds, params.recall_thresholds.len());
                continue;
            }
            right.iter_mut().for_each(Vec::clear);
            let mut wrong = vec![0_u32; areas * thresholds];
            let mut others = vec![0_u32; areas];
            for (place, detection) in detailed.iter().enumerate() {
                for level in 0..=most {
                    let start = (place * levels + level) * areas;
                    for (total, count) in others.iter_mut().zip(&before[start..]) {
                        *total += count;
                    }
                }
                if detection.level as usize > most {
                    continue;
                }
                let (is_right, is_wrong) = detection.details;
                for curve in ones(is_right) {
                    let false_ones = wrong[curve] + others[area_of[curve]];
                    right[curve].push((place as u32, false_ones));
                }
                for curve in ones(is_wrong) {
                    wrong[curve] += 1;
                }
            }
            for (curve, right) in right.iter().enumerate() {
                let area = area_of[curve];
                let truths = self.truths[area];
                let score = |place: u32| detailed[place as usize].score;
                let first = self.first.map_or(0.0, |(_, score)| score);
                curves.read(truths, &needed[area], first, right, score);
            }
        }
        curves
    }
}

/// For each recall how many right detections reach it.
fn needed(params: &CocoParams, truths: u64) -> Vec<u64> {
    let reaches = |right: u64, recall: f64| right as f64 / truths as f64 >= recall;
    let mut right = 0;
    let recalls = params.recall_thresholds.iter();
    recalls
        .map(|&recall| {
            while right <= truths && !reaches(right, recall) {
                right += 1;
            }
            right
        })
        .collect()
}

/// The places of the bits that are set.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(word, &bits)| {
        let mut bits = bits;
        std::iter::from_fn(move || {
            let place = bits.trailing_zeros() as usize;
            bits &= bits.checked_sub(1)?;
            Some(word * 64 + place)
        })
    })
}

impl OfClass {
    /// Adds the last of so many curves once more.
    fn repeat_last(&mut self, curves: usize, recalls: usize) {
        for (values, count) in [
            (&mut self.recall, curves),
            (&mut self.precision, curves * recalls),
            (&mut self.scores, curves * recalls),
        ] {
            values.extend_from_within(values.len().saturating_sub(count)..);
        }
    }

    /// Reads a curve at each recall: from the detections that are right, each with the number of wrong
    /// ones of a higher score, and from the score of the first of all detections.
    fn read(
        &mut self,
        truths: u64,
        needed: &[u64],
        first: f64,
        right: &[(u32, u32)],
        score: impl Fn(u32) -> f64,
    ) {
        let recall = if truths > 0 {
            right.len() as f64 / truths as f64
        } else {
            0.0
        };
        self.recall.push(recall);
        let start = self.precision.len();
        self.precision.resize(start + needed.len(), 0.0);
        self.scores.resize(start + needed.len(), 0.0);
        let values = self.precision[start..]
            .iter_mut()
            .zip(&mut self.scores[start..]);
        // From the last, since the precision at a recall is the greatest from there on.
        let mut later = right.len();
        let mut greatest = 0.0_f64;
        for ((precision, at), &needed) in values.zip(needed).rev() {
            // Recall 0 is reached by the first detection of all, right or wrong.
            let place = needed.saturating_sub(1) as usize;
            if place >= right.len() && needed > 0 {
                continue;
            }
            while later > place {
                later -= 1;
                let (true_ones, false_ones) = (later as f64 + 1.0, f64::from(right[later].1));
                // The program adds numpy's smallest step from 1 lest it divide by 0.
                greatest = greatest.max(true_ones / ((false_ones + true_ones) + f64::EPSILON));
            }
            *precision = greatest;
            *at = match needed {
                0 => first,
                _ => score(right[place].0),
            };
        }
    }
}

/// What a mean of [`CocoCurves`] is taken over. The default is COCO's main number: all thresholds and
/// classes, the first size class and the greatest number of detections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CocoSlice {
    /// The place of an IoU threshold in its list; all if `None`.
    pub iou_threshold: Option<usize>,
    /// The place of a size class in its list.
    pub area: usize,
    /// The place of a number of detections in its list; the last if `None`.
    pub max_detections: Option<usize>,
    /// A class; all if `None`.
    pub class: Option<u32>,
}

impl CocoCurves {
    /// The definition that they were computed under.
    #[must_use]
    pub fn params(&self) -> &CocoParams {
        &self.params
    }

    /// The classes that have true objects, rising.
    pub fn classes(&self) -> impl Iterator<Item = u32> {
        self.classes.iter().map(|curves| curves.class)
    }

    /// The number of true objects that are to be found, in the size class and the classes of a slice.
    #[must_use]
    pub fn truths(&self, slice: CocoSlice) -> u64 {
        let is_in = |curves: &&OfClass| slice.class.is_none_or(|class| class == curves.class);
        let truths = self
            .classes
            .iter()
            .filter(is_in)
            .filter_map(|curves| curves.truths.get(slice.area));
        truths.sum()
    }

    /// The mean precision over the recalls, and over the thresholds and classes of the slice;
    /// undefined if no class of it has a true object.
    #[must_use]
    pub fn average_precision(&self, slice: CocoSlice) -> Option<f64> {
        self.mean(slice, self.params.recall_thresholds.len(), |curves| {
            &curves.precision
        })
    }

    /// The mean over the thresholds and classes of the slice of the recall of all detections that
    /// count; undefined if no class of it has a true object.
    #[must_use]
    pub fn average_recall(&self, slice: CocoSlice) -> Option<f64> {
        self.mean(slice, 1, |curves| &curves.recall)
    }

    /// The mean of values of which each threshold has `length`.
    fn mean(
        &self,
        slice: CocoSlice,
        length: usize,
        values: impl Fn(&OfClass) -> &Vec<f64>,
    ) -> Option<f64> {
        let CocoSlice {
            iou_threshold,
            area,
            max_detections,
            class,
        } = slice;
        let has_truths = |curves: &&OfClass| {
            class.is_none_or(|class| class == curves.class)
                && curves.truths.get(area).is_some_and(|&truths| truths > 0)
        };
        let classes: Vec<_> = self.classes.iter().filter(has_truths).map(values).collect();
        let thresholds = match iou_threshold {
            Some(place) => place..place + 1,
            None => 0..self.params.iou_thresholds.len(),
        };
        let max_detections = max_detections.unwrap_or(self.params.max_detections.len() - 1);
        let mut all = Vec::with_capacity(thresholds.len() * length * classes.len());
        // The order of pycocotools' array: the last bit of a sum depends on it.
        for threshold in thresholds {
            let start = self.place(max_detections, area, threshold) * length;
            for place in start..start + length {
                all.extend(classes.iter().filter_map(|values| values.get(place)));
            }
        }
        (!all.is_empty()).then(|| pairwise_sum(&all) / all.len() as f64)
    }

    /// Where a curve stands in the lists of its class.
    fn place(&self, max_detections: usize, area: usize, threshold: usize) -> usize {
        let CocoParams {
            areas,
            iou_thresholds,
            ..
        } = &self.params;
        (max_detections * areas.len() + area) * iou_thresholds.len() + threshold
    }

    /// The named numbers that COCO prints, of all classes or of one: `AP`, `AP50`, `AP75`, `AP_` with
    /// each size class but the first, `AR_` with each number of detections, `AR_` with each of these
    /// size classes.
    ///
    /// Undefined where the program prints -1.
    #[must_use]
    pub fn summary(&self, class: Option<u32>) -> Vec<(String, Option<f64>)> {
        let CocoParams {
            areas,
            iou_thresholds,
            max_detections,
            quirks,
            ..
        } = &self.params;
        let all = CocoSlice {
            class,
            ..CocoSlice::default()
        };
        let at = |wanted: f64| {
            let place = iou_thresholds
                .iter()
                .position(|&threshold| threshold == wanted)?;
            self.average_precision(CocoSlice {
                iou_threshold: Some(place),
                ..all
            })
        };
        // `COCOeval.summarize` looks for 100 in the list, and finds nothing if it is not there.
        let main = match quirks {
            false => self.average_precision(all),
            true => max_detections
                .iter()
                .position(|&most| most == 100)
                .and_then(|place| {
                    self.average_precision(CocoSlice {
                        max_detections: Some(place),
                        ..all
                    })
                }),
        };
        let mut numbers = vec![
            ("AP".to_owned(), main),
            ("AP50".to_owned(), at(0.5)),
            ("AP75".to_owned(), at(0.75)),
        ];
        let sizes = || areas.iter().enumerate().skip(1);
        for (area, range) in sizes() {
            let value = self.average_precision(CocoSlice { area, ..all });
            numbers.push((format!("AP_{}", range.name), value));
        }
        for (place, most) in max_detections.iter().enumerate() {
            let value = self.average_recall(CocoSlice {
                max_detections: Some(place),
                ..all
            });
            numbers.push((format!("AR_{most}"), value));
        }
        for (area, range) in sizes() {
            let value = self.average_recall(CocoSlice { area, ..all });
            numbers.push((format!("AR_{}", range.name), value));
        }
        numbers
    }

    /// The arrays of `COCOeval.eval` for a list of so many classes.
    #[must_use]
    pub fn arrays(&self, classes: usize) -> CocoArrays {
        let CocoParams {
            areas,
            iou_thresholds,
            recall_thresholds,
            max_detections,
            ..
        } = &self.params;
        let (thresholds, recalls) = (iou_thresholds.len(), recall_thresholds.len());
        let shape = [
            thresholds,
            recalls,
            classes,
            areas.len(),
            max_detections.len(),
        ];
        let cells = shape.iter().product();
        let mut arrays = CocoArrays {
            shape,
            precision: vec![-1.0; cells],
            scores: vec![-1.0; cells],
            recall: vec![-1.0; cells / recalls],
        };
        for curves in &self.classes {
            let class = curves.class as usize;
            if class >= classes {
                continue;
            }
            for (most, _) in max_detections.iter().enumerate() {
                let defined =
                    |area: &usize| curves.truths.get(*area).is_some_and(|&truths| truths > 0);
                for area in (0..areas.len()).filter(defined) {
                    for threshold in 0..thresholds {
                        let from = self.place(most, area, threshold);
                        let to = |row: usize| {
                            ((row * classes + class) * areas.len() + area) * max_detections.len()
                                + most
                        };
                        arrays.recall[to(threshold)] = curves.recall[from];
                        for recall in 0..recalls {
                            let to = to(threshold * recalls + recall);
                            arrays.precision[to] = curves.precision[from * recalls + recall];
                            arrays.scores[to] = curves.scores[from * recalls + recall];
                        }
                    }
                }
            }
        }
        arrays
    }
}

/// The arrays of `COCOeval.eval`, each in one list by rows, -1 where they are undefined.
#[derive(Clone, Debug, PartialEq)]
pub struct CocoArrays {
    /// The numbers of thresholds, recalls, classes, size classes and numbers of detections.
    pub shape: [usize; 5],
    /// Precision, of this shape.
    pub precision: Vec<f64>,
    /// The score from which on each recall is reached, of this shape.
    pub scores: Vec<f64>,
    /// The recall of all detections that count, of this shape without the recalls.
    pub recall: Vec<f64>,
}

/// A definition that [`CocoAp`] does not take.
#[derive(Clone, Debug, PartialEq)]
pub enum InvalidCocoParams {
    /// A list has no entries.
    Empty {
        /// Which list.
        list: &'static str,
    },
    /// An IoU threshold is outside `0 < t <= 1`.
    IouThreshold(f64),
    /// A recall is NaN or not above the one before it.
    RecallThreshold(f64),
    /// A bound of the size class of this name is NaN.
    Area(String),
    /// There are more size classes than 31.
    TooManyAreas(usize),
    /// A number of detections is 0 or not above the one before it.
    MaxDetections(usize),
}

impl fmt::Display for InvalidCocoParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { list } => write!(f, "no {list}: expected at least one"),
            Self::IouThreshold(t) => {
                write!(
                    f,
                    "the IoU threshold is {t}: expected more than 0, at most 1"
                )
            }
            Self::RecallThreshold(r) => {
                write!(f, "the recall is {r}: expected more than the one before it")
            }
            Self::Area(name) => write!(f, "a bound of the area {name:?} is not a number"),
            Self::TooManyAreas(count) => write!(f, "{count} areas: expected at most {MOST_AREAS}"),
            Self::MaxDetections(most) => write!(
                f,
                "the number of detections is {most}: expected more than the one before it"
            ),
        }
    }
}

impl std::error::Error for InvalidCocoParams {}
