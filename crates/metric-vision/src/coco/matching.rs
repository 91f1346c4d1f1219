//! The matching of the detections in an image with its true objects.

use std::cell::{Cell, OnceCell};

use super::CocoAp;
use super::bits::ones;
use super::params::CocoParams;
use super::state::{ImageOutcome, POOLED};
use super::verdict::Verdict;
use crate::matching::{TooManyPairs, check_image};
use crate::score::Rank;
use crate::{Annotation, Image, Prediction, Shape};

/// The position of a detection in the order in which those of an image are matched: by class, by falling score, and by
/// the position in the file. Where classes are pooled, the own class still decides among equal scores. As one number,
/// which is sorted faster than its parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Order(u128);

impl Order {
    fn new<S>(prediction: &Prediction<S>, index: u32, by_class: bool) -> Self {
        let falling = u128::from(!Rank::new(prediction.score).bits());
        let (class, index) = (u128::from(prediction.class), u128::from(index));
        Self(if by_class {
            class << 96 | falling << 32 | index
        } else {
            falling << 64 | class << 32 | index
        })
    }

    /// The class, where classes are not pooled.
    fn class(self) -> u32 {
        (self.0 >> 96) as u32
    }

    /// The index of the detection among those of the image.
    fn index(self) -> usize {
        self.0 as u32 as usize
    }
}

/// The rules of an image that other definitions than COCO's change.
#[derive(Clone, Copy)]
pub(crate) struct ImageRules<'r> {
    /// Whether a crowd is matched by any number of detections. Otherwise it is an object like others.
    pub(crate) has_crowds: bool,
    /// The classes of which a detection without match is neither correct nor wrong, in ascending order.
    pub(crate) not_exhaustive: &'r [u32],
}

/// COCO's.
impl Default for ImageRules<'_> {
    fn default() -> Self {
        Self {
            has_crowds: true,
            not_exhaustive: &[],
        }
    }
}

thread_local! {
    /// Each thread keeps the memory for its next image.
    static KEPT: Cell<Option<Box<Meetings>>> = const { Cell::new(None) };
}

impl<S: Shape> CocoAp<S> {
    /// Returns an error for an image that would need a list of more than 2^25 pairs (half a gigabyte), each of a
    /// detection that counts and a true object of its class. With the default of 100 detections per class, that takes
    /// more than 335,000 objects.
    ///
    /// Scores have no limit of their own. A program that reads untrusted data calls this first.
    ///
    /// # Errors
    ///
    /// Returns an error if there are more pairs.
    pub fn check_size(
        &self,
        predictions: &[Prediction<S>],
        image: &Image<S>,
    ) -> Result<(), TooManyPairs> {
        let CocoParams {
            max_detections,
            by_class,
            ..
        } = &self.params;
        let most = max_detections.last().copied().unwrap_or(0);
        check_image(predictions, &image.annotations, most, *by_class)
    }

    /// Matches the detections at these indices with these objects, by rules that may differ from COCO's.
    pub(crate) fn match_image<'a>(
        &self,
        predictions: &'a [Prediction<S>],
        detections: impl Iterator<Item = u32>,
        truths: impl Iterator<Item = &'a Annotation<S>>,
        rules: ImageRules<'_>,
    ) -> ImageOutcome
    where
        S: 'a,
    {
        let mut meetings = KEPT.take().unwrap_or_default();
        let outcome = self.match_with(predictions, detections, truths, rules, &mut meetings);
        KEPT.set(Some(meetings));
        outcome
    }

    fn match_with<'a>(
        &self,
        predictions: &'a [Prediction<S>],
        detections: impl Iterator<Item = u32>,
        truths: impl Iterator<Item = &'a Annotation<S>>,
        rules: ImageRules<'_>,
        meetings: &mut Meetings,
    ) -> ImageOutcome
    where
        S: 'a,
    {
        // Objects whose classes are pooled still come class by class.
        let class_of = |class: u32| if self.params.by_class { class } else { POOLED };
        let by_class = self.params.by_class;
        let mut order = std::mem::take(&mut meetings.order);
        order.clear();
        order.extend(detections.filter_map(|index| {
            let prediction = predictions.get(index as usize)?;
            Some(Order::new(prediction, index, by_class))
        }));
        order.sort_unstable();
        let class_at = |order: &Order| if by_class { order.class() } else { POOLED };
        let mut truths: Vec<&Annotation<S>> = truths.collect();
        truths.sort_by_key(|truth| truth.class);

        let mut outcome = ImageOutcome {
            scores: Vec::with_capacity(order.len()),
            verdicts: Vec::with_capacity(order.len()),
            ..ImageOutcome::default()
        };
        let (mut detections, mut truths) = (&*order, &*truths);
        loop {
            let next_classes = [
                detections.first().map(class_at),
                truths.first().map(|truth| class_of(truth.class)),
            ];
            let Some(class) = next_classes.into_iter().flatten().min() else {
                break;
            };
            let (mine, others) =
                detections.split_at(detections.partition_point(|order| class_at(order) == class));
            detections = others;
            let (group, others) =
                truths.split_at(truths.partition_point(|truth| class_of(truth.class) == class));
            truths = others;
            // Detections that do not count are cut off before the matching.
            let most = self.params.max_detections.last().copied().unwrap_or(0);
            let mine = mine.iter().take(most);
            let mine = mine.filter_map(|order| predictions.get(order.index()));
            self.match_class(class, mine, group, rules, meetings, &mut outcome);
        }
        meetings.order = order;
        outcome
    }

    /// Matches the detections of one class, which come by falling score, with its true objects.
    #[expect(
        clippy::too_many_lines,
        reason = "one pass over the detections of a class, for all area ranges and thresholds at once"
    )]
    fn match_class<'a>(
        &self,
        class: u32,
        detections: impl Iterator<Item = &'a Prediction<S>>,
        truths: &[&Annotation<S>],
        rules: ImageRules<'_>,
        meetings: &mut Meetings,
        outcome: &mut ImageOutcome,
    ) where
        S: 'a,
    {
        let first = outcome.scores.len();
        let is_crowd = |truth: &Annotation<S>| truth.crowd && rules.has_crowds;
        let is_exhaustive = rules.not_exhaustive.binary_search(&class).is_err();
        let outlines = Outlines::new(self.params.dilation, truths);
        meetings.start(truths.iter().map(|truth| {
            if is_crowd(truth) || truth.ignore {
                u32::MAX
            } else {
                !self.areas_of(truth.area)
            }
        }));
        let least = self
            .enough
            .first()
            .map_or(f64::INFINITY, |&(least, _)| least);
        for detection in detections {
            outcome.scores.push(Rank::new(detection.score));
            let areas = if is_exhaustive {
                self.areas_of(detection.area)
            } else {
                0
            };
            outcome.verdicts.push(Verdict::wrong_in(areas));
            let outline = OnceCell::new();
            for (index, truth) in truths.iter().enumerate() {
                let mut iou = if is_crowd(truth) {
                    detection.shape.iou_crowd(&truth.shape)
                } else {
                    detection.shape.iou(&truth.shape)
                };
                if iou >= least && !is_crowd(truth) {
                    iou = outlines.limit(iou, &detection.shape, &outline, index);
                }
                if iou >= least {
                    meetings.candidates.push((index, iou));
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
            // Area ranges in which the same true objects are positive have the same matches.
            let area = rest.trailing_zeros();
            let alike = rest & meetings.alike(area);
            rest &= !alike;
            let mut thresholds = &*self.enough;
            while let Some(&(threshold, _)) = thresholds.first() {
                let is_crowd = |truth: usize| truths.get(truth).is_some_and(|it| is_crowd(it));
                let least = meetings.match_all(is_crowd, area, threshold);
                // So have higher thresholds that all of these matches reach.
                let same = thresholds.partition_point(|&(higher, _)| higher <= least);
                let (these, others) = thresholds.split_at(same.max(1));
                thresholds = others;
                for (index, matched) in meetings.matches.iter().enumerate() {
                    let (detection, _) = meetings.detections[index];
                    let false_in = outcome.verdicts[detection].areas();
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
                        outcome.details[start + index * 2 * words..].split_at_mut(words);
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
        for (index, &(detection, _)) in meetings.detections.iter().enumerate() {
            outcome.verdicts[detection] = Verdict::detailed((start / (2 * words) + index) as u32);
        }
    }

    /// The area ranges that an area is in, one bit each.
    fn areas_of(&self, area: f64) -> u32 {
        let ranges = self.params.areas.iter().enumerate();
        ranges.fold(0, |bits, (index, range)| {
            bits | u32::from(range.contains(area)) << index
        })
    }
}

/// The boundaries of the objects of a class, each computed once it is needed.
struct Outlines<'a, S> {
    dilation: Option<f64>,
    truths: &'a [&'a Annotation<S>],
    /// By true object; empty without a dilation.
    outlines: Vec<OnceCell<Option<S>>>,
}

impl<'a, S: Shape> Outlines<'a, S> {
    fn new(dilation: Option<f64>, truths: &'a [&'a Annotation<S>]) -> Self {
        let count = if dilation.is_some() { truths.len() } else { 0 };
        Self {
            dilation,
            truths,
            outlines: std::iter::repeat_with(OnceCell::new).take(count).collect(),
        }
    }

    /// The IoU of a detection with the object at an index, which is at most that of their boundaries if these count.
    fn limit(&self, iou: f64, found: &S, outline: &OnceCell<Option<S>>, truth: usize) -> f64 {
        let of_truth = self.dilation.zip(self.truths.get(truth));
        let Some(((dilation, truth), known)) = of_truth.zip(self.outlines.get(truth)) else {
            return iou;
        };
        let found = outline.get_or_init(|| found.boundary(dilation));
        let truth = known.get_or_init(|| truth.shape.boundary(dilation));
        match (found, truth) {
            (Some(found), Some(truth)) => iou.min(found.iou(truth)),
            _ => iou,
        }
    }
}

/// The detections of an image and class that overlap true objects enough for the lowest threshold:
/// few do, and only they take part in the matching.
#[derive(Default)]
struct Meetings {
    /// The detections of an image in the order in which they are matched.
    order: Vec<Order>,
    /// By true object the area ranges in which it is not positive, one bit each.
    ignored: Vec<u32>,
    /// The detections that meet any: their position, and where their candidates end.
    detections: Vec<(usize, usize)>,
    /// True objects with their IoU.
    candidates: Vec<(usize, f64)>,
    /// By true object whether a detection has taken it.
    taken: Vec<bool>,
    /// By detection.
    matches: Vec<Match>,
}

/// The object that a detection matches.
#[derive(Clone, Copy)]
enum Match {
    Nothing,
    /// A true object that is not a positive.
    Ignored,
    /// The true object at this index, which is a positive.
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

    /// The area ranges in which the same true objects are positive as in one, one bit each.
    fn alike(&self, area: u32) -> u32 {
        let all_like = |bits: &u32| if bits >> area & 1 == 1 { *bits } else { !bits };
        self.ignored
            .iter()
            .map(all_like)
            .fold(u32::MAX, |alike, bits| alike & bits)
    }

    /// Lets each detection take the true object that it overlaps most (the last of equal ones) among
    /// those that no other has taken; it takes one that does not count only if no other matches. Returns
    /// the least IoU of a match.
    fn match_all(&mut self, is_crowd: impl Fn(usize) -> bool, area: u32, threshold: f64) -> f64 {
        self.taken.clear();
        self.taken.resize(self.ignored.len(), false);
        self.matches.clear();
        let mut least = f64::INFINITY;
        let mut start = 0;
        for &(_, end) in &self.detections {
            let mut best = [(None, threshold); 2];
            for &(truth, iou) in &self.candidates[start..end] {
                let (found, greatest) = &mut best[(self.ignored[truth] >> area & 1) as usize];
                if iou >= *greatest && (!self.taken[truth] || is_crowd(truth)) {
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
