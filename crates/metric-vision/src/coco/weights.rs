//! Scores of weighted images: those of a state in which each image is repeated as often as its weight says, computed
//! without the repetition.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use metric_core::{RowSource, WeightedRows};

use super::CocoAp;
use super::bits::ones;
use super::curves::{CocoCurves, OfClass, recall};
use super::params::CocoParams;
use super::pass::{BlockVerdict, Pass, all_bits, bits_of, blocks};
use super::state::{CocoState, ImageOutcome, curve_class};
use super::verdict::{Details, Verdict};
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
    /// Each of the [`blocks`] with the detections that count in it, by falling score, of equal ones in the order of
    /// images.
    blocks: Vec<(Range<usize>, WeightedRows<Row>)>,
    /// The detections that are right and that a limit leaves out, summed by image.
    left_out: LeftOut,
}

#[derive(Clone, Debug)]
struct Row {
    /// The number of the limits on detections that leave it out.
    level: u32,
    verdict: BlockVerdict,
}

/// A row of a state, before all rows are sorted.
struct Unsorted<'s> {
    score: Rank,
    level: u32,
    outcome: Outcome<'s>,
}

enum Outcome<'s> {
    /// Wrong at every threshold, in these area ranges.
    WrongIn(Verdict),
    Detailed(Details<'s>),
}

impl Outcome<'_> {
    /// The curves of a block in which it is right, and those in which it is wrong, if there are any.
    fn in_block(&self, params: &CocoParams, block: &Range<usize>) -> Option<BlockVerdict> {
        let (right, wrong) = match self {
            Self::WrongIn(verdict) => {
                let area = block.start / params.iou_thresholds.len().max(1);
                let is_wrong = verdict.is_wrong_in(area as u32);
                (0, if is_wrong { all_bits(block) } else { 0 })
            }
            Self::Detailed(details) => (
                bits_of(block, details.correct),
                bits_of(block, details.wrong),
            ),
        };
        (right | wrong != 0).then_some(BlockVerdict { right, wrong })
    }
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
                let rows: Vec<_> = image_rows(params, image, start..end).collect();
                of_class.left_out.add(params, source.state, &rows);
                unsorted.extend(rows.into_iter().map(|row| (source, row)));
                start = end;
            }
        }
        let blocks = blocks(params);
        let classes = classes
            .into_iter()
            .map(|(class, (mut of_class, unsorted))| {
                of_class.class = class;
                let in_block = |curves: &Range<usize>| {
                    let rows = unsorted.iter().filter_map(|(source, row)| {
                        let verdict = row.outcome.in_block(params, curves)?;
                        let level = row.level;
                        Some((*source, (row.score, Row { level, verdict })))
                    });
                    let rows = WeightedRows::new(rows, |(score, _)| Reverse(*score));
                    (curves.clone(), rows.map(|(_, row)| row))
                };
                of_class.blocks = blocks.iter().map(in_block).collect();
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
        let mut pass = kept.unwrap_or_default();
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

/// The detections of a class in an image.
fn image_rows<'s>(
    params: &CocoParams,
    outcome: &'s ImageOutcome,
    range: Range<usize>,
) -> impl Iterator<Item = Unsorted<'s>> {
    let words = params.words();
    let scores = outcome.scores.get(range.clone()).unwrap_or_default();
    let verdicts = outcome.verdicts.get(range).unwrap_or_default();
    let detections = params.levels().zip(scores.iter().zip(verdicts));
    detections.map(move |(level, (&score, &verdict))| {
        let outcome = match verdict.details() {
            None => Outcome::WrongIn(verdict),
            Some(index) => Outcome::Detailed(outcome.details_at(index, words)),
        };
        Unsorted {
            score,
            level,
            outcome,
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
        let mut curves = OfClass {
            class: self.class,
            truths: truths.clone(),
            curves: Vec::with_capacity(levels * areas * thresholds),
            precision: Vec::with_capacity(areas * thresholds * params.recall_thresholds.len()),
            scores: Vec::new(),
        };
        let needed: Vec<_> = truths
            .iter()
            .map(|&truths| pass.needed.get(params, truths))
            .collect();
        // Returns the number of detections that are right in each curve, of those that the limits up to this one leave
        // in.
        let mut read = |curves: &mut OfClass, most: u32| {
            let mut right = Vec::with_capacity(areas * thresholds);
            for (block, rows) in &self.blocks {
                pass.start(block);
                rows.each_or_absent(weights, |row, times| {
                    if row.level <= most {
                        pass.add(row.verdict, times);
                    }
                });
                let area = block.start / thresholds.max(1);
                pass.each_envelope(|envelope| {
                    curves.read(truths[area], &needed[area], envelope);
                    right.push(envelope.len() as u64);
                });
            }
            right
        };
        if params.quirks {
            for most in 0..levels as u32 {
                if most > 0 && !self.has_level(weights, most) {
                    let last = curves.curves.len() - areas * thresholds;
                    curves.curves.extend_from_within(last..);
                    continue;
                }
                read(&mut curves, most);
            }
            return Some(curves);
        }
        // The detections that count for a small number also count for a large one: one pass is enough.
        let last = levels.saturating_sub(1);
        let mut found = read(&mut curves, last as u32);
        let left_out = self.left_out.totals(params, weights);
        let mut recalls = Vec::with_capacity(last * found.len());
        for of_level in left_out.chunks_exact(found.len().max(1)).skip(1).rev() {
            for (curve, (found, left_out)) in found.iter_mut().zip(of_level).enumerate().rev() {
                *found -= left_out;
                recalls.push((recall(*found, truths[curve / thresholds]), 0..0));
            }
        }
        curves.curves.splice(0..0, recalls.into_iter().rev());
        Some(curves)
    }

    /// Whether a detection with a weight is left out by exactly this many limits.
    fn has_level(&self, weights: &[u64], level: u32) -> bool {
        let mut has_level = false;
        for (_, rows) in &self.blocks {
            rows.each(weights, |row, _| has_level |= row.level == level);
        }
        has_level
    }
}

/// The detections that are right and that a limit leaves out. Only their number matters, not their order, so those of an
/// image are counted once for all weights.
#[derive(Debug, Default)]
struct LeftOut {
    /// The state of the image, and the first curve of a level and an area range.
    curves: Vec<(u32, u32)>,
    /// For each of these, the numbers by threshold.
    counts: Vec<u32>,
}

impl LeftOut {
    fn add(&mut self, params: &CocoParams, state: u32, rows: &[Unsorted<'_>]) {
        let thresholds = params.iou_thresholds.len().max(1);
        let of_level = params.areas.len() * thresholds;
        let levels = params.max_detections.len();
        let mut counts = Vec::new();
        for row in rows {
            let level = row.level as usize;
            if let Outcome::Detailed(details) = &row.outcome
                && (1..levels).contains(&level)
            {
                counts.resize(levels * of_level, 0);
                let curves = ones(details.correct).take_while(|&curve| curve < of_level);
                curves.for_each(|curve| counts[level * of_level + curve] += 1);
            }
        }
        for (index, counts) in counts.chunks_exact(thresholds).enumerate() {
            if counts.iter().any(|&count| count > 0) {
                self.curves.push((state, (index * thresholds) as u32));
                self.counts.extend_from_slice(counts);
            }
        }
    }

    /// The numbers by level and curve.
    fn totals(&self, params: &CocoParams, weights: &[u64]) -> Vec<u64> {
        let thresholds = params.iou_thresholds.len().max(1);
        let mut totals = vec![0; params.max_detections.len() * params.areas.len() * thresholds];
        for (&(state, first), counts) in self.curves.iter().zip(self.counts.chunks(thresholds)) {
            let times = weights.get(state as usize).copied().unwrap_or_default();
            let totals = totals.iter_mut().skip(first as usize);
            for (total, &count) in totals.zip(counts) {
                *total += u64::from(count) * times;
            }
        }
        totals
    }
}
