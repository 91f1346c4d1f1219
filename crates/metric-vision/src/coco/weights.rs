//! Scores of weighted images: those of a state in which each image is repeated as often as its weight says, computed
//! without the repetition.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use metric_core::{RowSource, WeightedRows};

use super::CocoAp;
use super::bits::ones;
use super::curves::{CocoCurves, Envelope, OfClass, needed};
use super::params::CocoParams;
use super::state::{CocoState, ImageOutcome, curve_class};
use crate::by_image::ByImage;
use crate::score::Rank;

/// The detections of several states, sorted once, to be scored with a weight for each state.
///
/// The curves of weights `w` are those of the states merged `w` times each. The states are usually those of
/// single images, and the weights those of a bootstrap replicate.
///
/// ```
/// use metric_core::{Merge, Metric};
/// use metric_vision::{Annotation, BBox, CocoAp, CocoState, CocoWeights, Image, Prediction};
///
/// let metric = CocoAp::default();
/// let image = |key: i64, x: f64| {
///     let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
///     let truth = Annotation::new(0, square(0.0)?);
///     let found = Prediction::new(0, 0.5, square(x)?);
///     Ok::<_, metric_vision::InvalidBox>(metric.measure(&[found], &Image::new(key, vec![truth])))
/// };
/// let (hit, miss) = (image(1, 0.0)?, image(2, 20.0)?);
///
/// let weights = CocoWeights::new(&metric, &[&hit, &miss]);
/// let mut merged = CocoState::default();
/// merged.merge_times(&hit, 2);
/// merged.merge_times(&miss, 1);
/// assert_eq!(weights.curves(&[2, 1]).summary(None), metric.compute(&merged).summary(None));
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
///
/// # Cost
///
/// One sort for all weights. Each set of weights is one pass over the detections, and memory for the curves.
#[derive(Debug)]
pub struct CocoWeights<'s> {
    params: &'s CocoParams,
    classes: Vec<Rows>,
    /// The memory of passes that are over, for the next ones.
    passes: Mutex<Vec<Pass>>,
}

/// The detections and true objects of a class, copied into lists that are read from start to end: in the states they
/// are all over the memory.
#[derive(Debug, Default)]
struct Rows {
    class: u32,
    /// The state of each image that has the class, and for each its true objects by area range.
    images: Vec<u32>,
    truths: Vec<u32>,
    /// By falling score, of equal ones in the order of images.
    rows: WeightedRows<Row>,
    /// In the order of the rows that have them, bits of curves: where the detection is correct, and where it is wrong.
    details: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// The number of the limits on detections that leave it out.
    level: u32,
    /// The area ranges in which it is wrong at every threshold, one bit each.
    wrong: u32,
    /// Where its details start.
    details: Option<u32>,
}

/// A row of a state.
struct Unsorted<'s> {
    score: Rank,
    row: Row,
    details: &'s [u64],
}

impl<'s> CocoWeights<'s> {
    /// Sorts the detections of states of a metric.
    #[must_use]
    pub fn new<S>(metric: &'s CocoAp<S>, states: &[&'s CocoState]) -> Self {
        let params = &metric.params;
        let areas = params.areas.len().max(1);
        let mut classes: BTreeMap<u32, (Rows, Vec<(RowSource, Unsorted<'s>)>)> = BTreeMap::new();
        for (source, image) in ByImage::of_all(states.iter().map(|state| &state.images)) {
            let mut start = 0;
            let mut truths = image.truths.chunks_exact(areas);
            for &(class, count) in &image.classes {
                let end = usize::saturating_add(start, count as usize);
                let (of_class, unsorted) = classes.entry(curve_class(class)).or_default();
                if let Some(truths) = truths.next() {
                    of_class.images.push(source.state);
                    of_class.truths.extend_from_slice(truths);
                }
                let rows = image_rows(params, image, start..end);
                unsorted.extend(rows.map(|row| (source, row)));
                start = end;
            }
        }
        let classes = classes
            .into_iter()
            .map(|(class, (mut of_class, unsorted))| {
                let rows = WeightedRows::new(unsorted, |row| Reverse(row.score));
                let details = &mut of_class.details;
                of_class.rows = rows.map(|unsorted| {
                    let mut row = unsorted.row;
                    let start = details.len();
                    details.extend_from_slice(unsorted.details);
                    if let Some([_, is_wrong]) = details.get_mut(start..) {
                        row.wrong |= wrong_at_every_threshold(params, is_wrong);
                    }
                    if details.iter().skip(start).all(|&bits| bits == 0) {
                        details.truncate(start);
                    } else {
                        // A state has fewer than 2^31 of them.
                        row.details = u32::try_from(start / unsorted.details.len()).ok();
                    }
                    row
                });
                of_class.class = class;
                of_class
            })
            .collect();
        Self {
            params,
            classes,
            passes: Mutex::default(),
        }
    }

    /// Returns the curves in which each state counts as often as its weight says. Precision is available only for the
    /// greatest number of detections, unless the quirks of pycocotools are requested. Scores are not available:
    /// [`CocoCurves::arrays`] returns `None`.
    #[must_use]
    pub fn curves(&self, weights: &[u64]) -> CocoCurves {
        let free = || self.passes.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = free().pop();
        let mut pass = kept.unwrap_or_else(|| Pass::new(self.params));
        let curves = self
            .classes
            .iter()
            .filter_map(|rows| rows.curves(self.params, weights, &mut pass));
        let curves = CocoCurves {
            classes: curves.collect(),
            params: self.params.clone(),
        };
        free().push(pass);
        curves
    }
}

/// The area ranges in which a detection is wrong at every threshold, one bit each. Their bits are cleared: to count one
/// number per area range takes less time than one per threshold.
fn wrong_at_every_threshold(params: &CocoParams, is_wrong: &mut u64) -> u32 {
    let thresholds = params.iou_thresholds.len();
    let mut areas = 0;
    for area in 0..params.areas.len() {
        let bits = u64::MAX >> (64 - thresholds) << (area * thresholds);
        if *is_wrong & bits == bits {
            *is_wrong &= !bits;
            areas |= 1 << area;
        }
    }
    areas
}

/// The detections of a class in an image.
fn image_rows<'s>(
    params: &CocoParams,
    outcome: &'s ImageOutcome,
    range: Range<usize>,
) -> impl Iterator<Item = Unsorted<'s>> {
    let words = params.words();
    let scores = outcome.scores.get(range.clone()).unwrap_or_default();
    let verdicts = outcome.verdicts.get(range).unwrap_or_default();
    let mut level = 0;
    let positions = scores.iter().zip(verdicts).enumerate();
    positions.map(move |(position, (&score, &verdict))| {
        let leaves_out = |level: u32| {
            let most = params.max_detections.get(level as usize);
            most.is_some_and(|&most| position >= most)
        };
        while leaves_out(level) {
            level += 1;
        }
        let (mut wrong, mut details): (u32, &[u64]) = (0, &[]);
        match verdict.details() {
            None => wrong = verdict.areas(),
            Some(index) => details = outcome.words_at(index, words),
        }
        Unsorted {
            score,
            row: Row {
                level,
                wrong,
                details: None,
            },
            details,
        }
    })
}

impl Rows {
    /// The curves of the class, if it has true objects.
    fn curves(&self, params: &CocoParams, weights: &[u64], pass: &mut Pass) -> Option<OfClass> {
        let weight = |state: u32| weights.get(state as usize).copied().unwrap_or_default();
        let (areas, thresholds) = (params.areas.len(), params.iou_thresholds.len());
        let mut truths = vec![0_u64; areas];
        let images = self.images.iter().zip(self.truths.chunks_exact(areas));
        for (&state, here) in images {
            let times = weight(state);
            for (total, &here) in truths.iter_mut().zip(here) {
                *total += u64::from(here) * times;
            }
        }
        if truths.iter().all(|&truths| truths == 0) {
            return None;
        }
        let levels = params.max_detections.len();
        let needed: Vec<_> = truths
            .iter()
            .map(|&truths| needed(params, truths))
            .collect();
        let mut curves = OfClass {
            class: self.class,
            truths: truths.clone(),
            curves: Vec::with_capacity(levels * areas * thresholds),
            precision: Vec::new(),
            scores: Vec::new(),
        };
        let mut has_level = vec![true; levels];
        if params.quirks {
            has_level.fill(false);
            self.rows.each(weights, |row, _| {
                if let Some(has) = has_level.get_mut(row.level as usize) {
                    *has = true;
                }
            });
        } else {
            // The detections that count for a small number also count for a large one: one pass is enough.
            pass.start();
            self.rows.each(weights, |row, times| {
                if (row.level as usize) < levels {
                    pass.add(row, &self.details, times);
                }
            });
        }
        for (most, has_level) in has_level.into_iter().enumerate() {
            let is_last = most + 1 == levels;
            if params.quirks {
                if most > 0 && !has_level {
                    let last = curves.curves.len() - areas * thresholds;
                    curves.curves.extend_from_within(last..);
                    continue;
                }
                pass.start();
                self.rows.each(weights, |row, times| {
                    if row.level <= most as u32 {
                        pass.add(row, &self.details, times);
                    }
                });
            }
            for curve in 0..areas * thresholds {
                let area = curve / thresholds;
                if is_last || params.quirks {
                    let wrong = pass.curves[curve].right.iter().copied();
                    curves.read(truths[area], &needed[area], pass.envelope.compute(wrong));
                    continue;
                }
                let recall = match truths[area] {
                    0 => 0.0,
                    truths => pass.found(most, curve) as f64 / truths as f64,
                };
                let end = curves.precision.len();
                curves.curves.push((recall, end..end));
            }
        }
        Some(curves)
    }
}

/// The counts of the detections so far, from the highest score down.
#[derive(Debug)]
struct Pass {
    curves: Vec<PassOfCurve>,
    /// By level and curve, the number of detections that are right; those of the lowest level are not counted here.
    above: Vec<u64>,
    /// By area range, the detections that are wrong at every threshold.
    others: Vec<u64>,
    envelope: Envelope,
    /// The number of words that the bits of all curves take.
    words: usize,
}

#[derive(Debug)]
struct PassOfCurve {
    /// For each detection that is right, the number of those before it that are wrong.
    right: Vec<f64>,
    /// The detections that are wrong here, but not at every threshold.
    wrong: u64,
    area: usize,
}

impl Pass {
    fn new(params: &CocoParams) -> Self {
        let thresholds = params.iou_thresholds.len().max(1);
        let words = params.words();
        let curve = |curve: usize| PassOfCurve {
            right: Vec::new(),
            wrong: 0,
            area: curve / thresholds,
        };
        let bits = words * 64;
        Self {
            curves: (0..bits).map(curve).collect(),
            above: vec![0; bits * params.max_detections.len()],
            others: vec![0; bits.div_ceil(thresholds)],
            envelope: Envelope::default(),
            words,
        }
    }

    fn start(&mut self) {
        for curve in &mut self.curves {
            curve.right.clear();
            curve.wrong = 0;
        }
        self.above.fill(0);
        self.others.fill(0);
    }

    /// The number of detections of a curve that are right, up to a level.
    fn found(&self, most: usize, curve: usize) -> u64 {
        let mut found = self.curves.get(curve).map_or(0, |curve| curve.right.len()) as u64;
        let mut index = (most + 1) * self.curves.len() + curve;
        while let Some(above) = self.above.get(index) {
            found -= above;
            index += self.curves.len();
        }
        found
    }

    /// Adds a detection as often as it occurs here.
    fn add(&mut self, row: &Row, details: &[u64], times: u64) {
        let mut areas = row.wrong;
        while areas != 0 {
            if let Some(count) = self.others.get_mut(areas.trailing_zeros() as usize) {
                *count += times;
            }
            areas &= areas - 1;
        }
        let Some(position) = row.details else {
            return;
        };
        let start = position as usize * 2 * self.words;
        let Some(details) = details.get(start..start + 2 * self.words) else {
            return;
        };
        let (is_right, is_wrong) = details.split_at(self.words);
        // Most occur once or twice.
        match times {
            1 => self.add_right::<1>(is_right),
            2 => self.add_right::<2>(is_right),
            3 => self.add_right::<3>(is_right),
            _ => (0..times).for_each(|_| self.add_right::<1>(is_right)),
        }
        ones(is_wrong).for_each(|index| self.curves[index].wrong += times);
        if row.level > 0 {
            let level = row.level as usize * self.curves.len();
            ones(is_right).for_each(|curve| self.above[level + curve] += times);
        }
    }

    /// Adds a detection to the curves in which it is right.
    #[inline]
    fn add_right<const TIMES: usize>(&mut self, is_right: &[u64]) {
        for index in ones(is_right) {
            let curve = &mut self.curves[index];
            // Counts are below 2^62. A signed integer is converted by one instruction.
            let false_ones = (curve.wrong + self.others[curve.area]) as i64 as f64;
            curve.right.extend_from_slice(&[false_ones; TIMES]);
        }
    }
}
