//! Scores of weighted images: those of a state in which each image is repeated as often as its weight says, computed
//! without the repetition.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use metric_core::{RowSource, WeightedRows};

use super::CocoAp;
use super::curves::{CocoCurves, OfClass, recall};
use super::params::CocoParams;
use super::pass::{BlockVerdict, Pass, all_bits, bits_of, blocks};
use super::state::{CocoState, ImageOutcome, curve_class};
use super::sums::{LeftOut, Truths, weight};
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
    truths: Truths,
    blocks: Vec<BlockRows>,
    /// The detections that are right and that a limit leaves out, summed by image.
    left_out: LeftOut,
}

/// The detections that count in one of the [`blocks`] of curves.
#[derive(Debug)]
struct BlockRows {
    curves: Range<usize>,
    /// Those that are wrong in all curves, by falling score: only their number before each of the others matters.
    wrong: Vec<Wrong>,
    /// The others, by falling score, of equal ones in the order of images.
    rows: WeightedRows<Row>,
}

#[derive(Debug)]
struct Wrong {
    /// The state that the detection comes from.
    state: u32,
    /// The number of the limits on detections that leave it out.
    level: u32,
}

#[derive(Debug)]
struct Row {
    level: u32,
    /// The number of those in [`BlockRows::wrong`] that come before it.
    wrong_before: u32,
    verdict: BlockVerdict,
}

impl BlockRows {
    /// Sorts the detections of a class that count in a block.
    fn new(
        params: &CocoParams,
        curves: Range<usize>,
        unsorted: &[(RowSource, Unsorted<'_>)],
    ) -> Self {
        let in_block = unsorted.iter().filter_map(|(source, row)| {
            let verdict = row.outcome.in_block(params, &curves)?;
            Some((*source, (row.score, row.level, verdict)))
        });
        let by_score = |(score, ..): &(Rank, _, _)| Reverse(*score);
        let sorted: Vec<_> = WeightedRows::new(in_block, by_score)
            .iter()
            .map(|(source, row)| (source, *row))
            .collect();
        // Detections of one image with equal scores take turns if the image is repeated: none is moved.
        let is_tie = |(a, first): &(RowSource, _), (b, second): &(RowSource, _)| {
            a.example == b.example && by_score(first) == by_score(second)
        };
        let (mut wrong, mut rows) = (Vec::new(), Vec::new());
        for tie in sorted.chunk_by(is_tie) {
            for &(source, (score, level, verdict)) in tie {
                let state = source.state;
                if tie.len() == 1 && verdict.is_wrong_in_all(&curves) {
                    wrong.push(Wrong { state, level });
                } else {
                    let row = Row {
                        level,
                        wrong_before: wrong.len() as u32,
                        verdict,
                    };
                    rows.push((source, (score, row)));
                }
            }
        }
        let rows = WeightedRows::new(rows, |(score, _)| Reverse(*score)).map(|(_, row)| row);
        Self {
            curves,
            wrong,
            rows,
        }
    }

    /// Reads those that at most this many limits leave out into a pass, each as often as its weight says.
    fn read(&self, weights: &[u64], most: u32, pass: &mut Pass) {
        let wrong = self.wrong.iter().map(|wrong| {
            let times = weight(weights, wrong.state);
            if wrong.level <= most { times } else { 0 }
        });
        pass.start(&self.curves, wrong);
        self.rows.each_or_absent(weights, |row, times| {
            if row.level <= most {
                pass.add(row.verdict, row.wrong_before as usize, times);
            }
        });
    }

    /// Whether a detection with a weight is left out by exactly this many limits.
    fn has_level(&self, weights: &[u64], level: u32) -> bool {
        let has_weight = |wrong: &Wrong| weight(weights, wrong.state) > 0;
        let mut wrong = self.wrong.iter().filter(|wrong| wrong.level == level);
        let mut has_level = wrong.any(has_weight);
        self.rows
            .each(weights, |row, _| has_level |= row.level == level);
        has_level
    }
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
        Self::of_params(&metric.params, states)
    }

    fn of_params(params: &'s CocoParams, states: &[&'s CocoState]) -> Self {
        let areas = params.areas.len().max(1);
        let mut classes: BTreeMap<u32, (Rows, Vec<(RowSource, Unsorted<'s>)>)> = BTreeMap::new();
        for (source, image) in ByImage::of_all(states.iter().map(|state| &state.images)) {
            let mut start = 0;
            let mut truths = image.truths.chunks_exact(areas);
            for &(class, count) in &image.classes {
                let end = usize::saturating_add(start, count as usize);
                let (of_class, unsorted) = classes.entry(curve_class(class)).or_default();
                if let Some(truths) = truths.next() {
                    of_class.truths.add(source.state, truths);
                }
                let rows: Vec<_> = image_rows(params, image, start..end).collect();
                let right = rows.iter().filter_map(|row| match &row.outcome {
                    Outcome::Detailed(details) => Some((row.level, details.correct)),
                    Outcome::WrongIn(_) => None,
                });
                of_class.left_out.add(params, source.state, right);
                unsorted.extend(rows.into_iter().map(|row| (source, row)));
                start = end;
            }
        }
        let blocks = blocks(params);
        let classes = classes
            .into_iter()
            .map(|(class, (mut of_class, unsorted))| {
                of_class.class = class;
                let in_block =
                    |curves: &Range<usize>| BlockRows::new(params, curves.clone(), &unsorted);
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
        let (areas, thresholds) = (params.areas.len(), params.iou_thresholds.len());
        let truths = self.truths.totals(weights);
        if truths.iter().all(|&truths| truths == 0) {
            return None;
        }
        let levels = params.max_detections.len();
        let mut curves = OfClass {
            class: self.class,
            truths: truths.clone(),
            curves: Vec::with_capacity(levels * areas * thresholds),
            precision: Vec::with_capacity(areas * thresholds * params.recall_thresholds.len()),
            reached_at: Vec::new(),
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
            for rows in &self.blocks {
                rows.read(weights, most, pass);
                let area = rows.curves.start / thresholds.max(1);
                pass.each_envelope(|envelope| {
                    curves.read(truths[area], &needed[area], envelope);
                    right.push(envelope.len() as u64);
                });
            }
            right
        };
        if params.quirks {
            for most in 0..levels as u32 {
                let has_level = |rows: &BlockRows| rows.has_level(weights, most);
                if most > 0 && !self.blocks.iter().any(has_level) {
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
}
