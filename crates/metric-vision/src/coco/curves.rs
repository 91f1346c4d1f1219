//! Precision and recall over a data set, from a state.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::bits::ones;
use super::params::CocoParams;
use super::state::{CocoState, ImageOutcome, curve_class};
use super::verdict::Details;
use crate::parallel;
use crate::score::Rank;

/// Precision and recall over a data set, as [`CocoAp`](super::CocoAp) computes them.
///
/// Holds only what there are true objects for: everything else is undefined.
#[derive(Clone, Debug, PartialEq)]
pub struct CocoCurves {
    pub(super) params: CocoParams,
    /// In the order of the classes.
    pub(super) classes: Vec<OfClass>,
}

/// The curves of a class that has true objects in any area range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OfClass {
    pub(super) class: u32,
    /// By area range.
    pub(super) truths: Vec<u64>,
    /// By number of detections, area range and threshold, the recall of all detections, and the
    /// position of the curve in the next two lists.
    pub(super) curves: Vec<(f64, Range<usize>)>,
    /// Curve by curve the precision at the recalls that are reached; at others it is 0.
    pub(super) precision: Vec<f64>,
    /// Likewise the index, in the next list, of the score from which on that recall is reached.
    pub(super) reached_at: Vec<u32>,
    /// The greatest score of all detections, then those of the detections that are correct at any threshold, falling.
    pub(super) scores: Vec<Rank>,
}

impl CocoCurves {
    pub(super) fn accumulate(params: &CocoParams, state: &CocoState) -> Self {
        let areas = params.areas.len();
        let mut truths: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for image in state.images.unordered() {
            for (&(class, _), here) in image.classes.iter().zip(image.truths.chunks(areas)) {
                let class = curve_class(class);
                let totals = truths.entry(class).or_insert_with(|| vec![0; areas]);
                for (total, &here) in totals.iter_mut().zip(here) {
                    *total += u64::from(here);
                }
            }
        }
        // Without true objects there are no curves.
        truths.retain(|_, truths| truths.iter().any(|&truths| truths > 0));
        // Where the detections of each class are. They are copied class by class: all at once take more memory than
        // the state.
        type Images<'a> = Vec<(&'a ImageOutcome, Range<usize>)>;
        let of_class = |(class, truths)| (class, truths, Images::new());
        let mut classes: Vec<(u32, Vec<u64>, Images<'_>)> =
            truths.into_iter().map(of_class).collect();
        for (_, image) in state.images.iter() {
            let mut start = 0;
            for &(class, count) in &image.classes {
                // A list from a file may claim any lengths.
                let end = usize::saturating_add(start, count as usize);
                let class = curve_class(class);
                if let Ok(index) = classes.binary_search_by_key(&class, |&(class, ..)| class)
                    && start < end
                {
                    classes[index].2.push((image, start..end));
                }
                start = end;
            }
        }
        let classes = parallel::map(classes.len(), |index| {
            let (class, truths, images) = &classes[index];
            let mut detections = ClassDetections::new(truths.clone());
            for (image, range) in images {
                detections.add(params, image, range.clone());
            }
            detections.curves(*class, params)
        });
        Self {
            classes,
            params: params.clone(),
        }
    }
}

/// The detections and true objects of a class.
struct ClassDetections<'a> {
    /// By area range.
    truths: Vec<u64>,
    /// Detections whose verdict depends on the threshold, or that are correct.
    detailed: Vec<Detailed<'a>>,
    others: Vec<Other>,
    /// The greatest score.
    first: Option<Rank>,
}

/// A detection's position by falling score, of equal ones as they come.
type Index = (Reverse<Rank>, usize);

struct Detailed<'a> {
    rank: Index,
    /// The number of the limits on detections that leave it out.
    level: u32,
    details: Details<'a>,
}

struct Other {
    rank: Index,
    level: u32,
    /// The area ranges in which it is wrong, one bit each.
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
        for (level, (&score, &verdict)) in params.levels().zip(scores.iter().zip(verdicts)) {
            let order = self.detailed.len() + self.others.len();
            let rank = (Reverse(score), order);
            self.first = self.first.max(Some(score));
            match verdict.details() {
                None => self.others.push(Other {
                    rank,
                    level,
                    wrong: verdict.areas(),
                }),
                Some(index) => self.detailed.push(Detailed {
                    rank,
                    level,
                    details: image.details_at(index, words),
                }),
            }
        }
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one pass over the detections of a class, which fills the curves of all thresholds at once"
    )]
    fn curves(mut self, class: u32, params: &CocoParams) -> OfClass {
        let (areas, thresholds) = (params.areas.len(), params.iou_thresholds.len());
        let levels = params.max_detections.len();
        let detailed = &mut self.detailed;
        // Only these must be sorted; of the others it is enough to know how many are wrong before each of these, by
        // level and area range.
        detailed.sort_unstable_by_key(|detection| detection.rank);
        let mut before = vec![0_u64; detailed.len() * levels * areas];
        // A list of these alone stays in the processor's cache; positions matter only where they are equal.
        let scores: Vec<_> = detailed.iter().map(|detection| detection.rank.0).collect();
        for other in &self.others {
            let (score, _) = other.rank;
            let higher = scores.partition_point(|&detailed| detailed < score);
            let next = match scores.get(higher) {
                Some(&equal) if equal == score => {
                    higher
                        + detailed[higher..]
                            .partition_point(|detection| detection.rank < other.rank)
                }
                _ => higher,
            };
            let start = (next * levels + other.level as usize) * areas;
            if let Some(counts) = before.get_mut(start..start + areas) {
                for (area, count) in counts.iter_mut().enumerate() {
                    *count += u64::from(other.wrong >> area & 1);
                }
            }
        }

        let mut curves = OfClass {
            class,
            truths: self.truths.clone(),
            curves: Vec::with_capacity(levels * areas * thresholds),
            precision: Vec::new(),
            reached_at: Vec::new(),
            scores: std::iter::once(self.first.unwrap_or(Rank::new(0.0)))
                .chain(scores.iter().map(|score| score.0))
                .collect(),
        };
        let needed: Vec<_> = self
            .truths
            .iter()
            .map(|&truths| needed(params, truths))
            .collect();
        // The state of another definition may have bits of curves that do not exist here.
        let bits = params.words() * 64;
        let area_of: Vec<usize> = (0..bits).map(|curve| curve / thresholds).collect();
        // By curve, the detections that are right: their position, and how many before them are wrong.
        let mut right: Vec<Vec<(usize, u64)>> = vec![Vec::new(); bits];
        let (mut envelope, mut wrong_before) = (Envelope::default(), Vec::new());
        for most in 0..levels {
            let at_level = |level: u32| level as usize == most;
            let no_more = !detailed.iter().any(|detection| at_level(detection.level))
                && !self.others.iter().any(|other| at_level(other.level));
            if most > 0 && no_more {
                let last = curves.curves.len() - areas * thresholds;
                curves.curves.extend_from_within(last..);
                continue;
            }
            right.iter_mut().for_each(Vec::clear);
            let mut wrong = vec![0_u64; bits];
            let mut others = vec![0_u64; bits.div_ceil(thresholds)];
            for (position, detection) in detailed.iter().enumerate() {
                for level in 0..=most {
                    let start = (position * levels + level) * areas;
                    for (total, count) in others.iter_mut().zip(&before[start..]) {
                        *total += count;
                    }
                }
                if detection.level as usize > most {
                    continue;
                }
                let Details {
                    correct,
                    wrong: is_wrong,
                } = detection.details;
                for curve in ones(correct) {
                    let false_ones = wrong[curve] + others[area_of[curve]];
                    right[curve].push((position, false_ones));
                }
                for curve in ones(is_wrong) {
                    wrong[curve] += 1;
                }
            }
            for (curve, right) in right.iter().take(areas * thresholds).enumerate() {
                let area = area_of[curve];
                let truths = self.truths[area];
                let wrong = right.iter().map(|&(_, wrong)| wrong as i64 as f64);
                wrong_before.clear();
                wrong_before.extend(wrong);
                curves.read(truths, &needed[area], envelope.compute(&wrong_before));
                curves.read_scores(&needed[area], |index| right[index].0);
            }
        }
        // There are thousands of classes in some data sets, and lists that grow take up to twice their length.
        curves.precision.shrink_to_fit();
        curves.reached_at.shrink_to_fit();
        curves
    }
}

/// For each recall the number of correct detections that reach it: one more than there are if no number does.
pub(super) fn needed(params: &CocoParams, truths: u64) -> Vec<u64> {
    // Counts are below 2^62. A signed integer is converted by one instruction.
    let truths = truths as i64;
    let total = truths as f64;
    let reaches = |right: i64, recall: f64| right as f64 / total >= recall;
    let recalls = params.recall_thresholds.iter();
    recalls
        .map(|&recall| {
            let product = recall * total;
            let below = product as i64;
            // Far enough from a whole number, below a billion, no rounding can matter: that saves the divisions.
            let rest = product - below as f64;
            if total < 1e9 && rest > 1e-6 && rest < 1.0 - 1e-6 {
                return below as u64 + 1;
            }
            // The product may be off by one, and is rounded down.
            let mut right = below.min(truths.saturating_add(1));
            while right > 0 && reaches(right - 1, recall) {
                right -= 1;
            }
            while right <= truths && !reaches(right, recall) {
                right += 1;
            }
            right as u64
        })
        .collect()
}

/// The envelope of a curve: at each correct detection the greatest precision there or further down.
///
/// One pass without a branch over all of them takes less time than a search between two recalls, which are two or three
/// detections apart. The memory is kept from curve to curve.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    /// 1, 2, 3 and so on.
    true_ones: Vec<f64>,
    precision: Vec<f64>,
}

impl Envelope {
    /// Computes the envelope from the number of wrong detections before each correct one.
    pub(super) fn compute(&mut self, wrong_before: &[f64]) -> &[f64] {
        let known = self.true_ones.len();
        // Counts are below 2^62. A signed integer is converted by one instruction.
        let missing = known as i64..wrong_before.len() as i64;
        self.true_ones
            .extend(missing.map(|index| (index + 1) as f64));
        self.precision.clear();
        let pairs = wrong_before.iter().zip(&self.true_ones);
        // The program adds numpy's smallest step from 1 lest it divide by 0.
        self.precision
            .extend(pairs.map(|(&false_ones, &true_ones)| {
                true_ones / ((false_ones + true_ones) + f64::EPSILON)
            }));
        // Blocks of four: the maximum within each does not wait for that of the blocks after it.
        let greater = |a: f64, b: f64| if a > b { a } else { b };
        let mut greatest = 0.0_f64;
        let mut blocks = self.precision.rchunks_exact_mut(4);
        for block in &mut blocks {
            if let [a, b, c, d] = block {
                let last = greater(*c, *d);
                let middle = greater(*b, last);
                let first = greater(greater(*a, *b), last);
                *d = greater(*d, greatest);
                *c = greater(last, greatest);
                *b = greater(middle, greatest);
                *a = greater(first, greatest);
                greatest = *a;
            }
        }
        for precision in blocks.into_remainder().iter_mut().rev() {
            greatest = greater(*precision, greatest);
            *precision = greatest;
        }
        &self.precision
    }
}

/// The share of the true objects that is found; 0 if there are none.
pub(super) fn recall(found: u64, truths: u64) -> f64 {
    match truths {
        0 => 0.0,
        truths => found as f64 / truths as f64,
    }
}

impl OfClass {
    /// Reads the precision of a curve at each recall, from its [`Envelope`].
    pub(super) fn read(&mut self, truths: u64, needed: &[u64], envelope: &[f64]) {
        let found = envelope.len() as u64;
        let recall = recall(found, truths);
        let reached = &needed[..needed.partition_point(|&needed| needed <= found)];
        let start = self.precision.len();
        // Recall 0 needs no detection: its precision is the greatest of all, which is that of the first.
        let index = |needed: &u64| needed.saturating_sub(1) as usize;
        let values = reached.iter().map(|needed| envelope.get(index(needed)));
        self.precision
            .extend(values.map(|value| value.copied().unwrap_or_default()));
        self.curves.push((recall, start..self.precision.len()));
    }

    /// Reads where the curve that was read last reaches the recalls, from the positions of its correct detections.
    pub(super) fn read_scores(&mut self, needed: &[u64], position: impl Fn(usize) -> usize) {
        let missing = self.precision.len() - self.reached_at.len();
        let indices = needed.iter().take(missing).map(|&needed| match needed {
            // Recall 0 is reached by the first detection of all, right or wrong.
            0 => 0,
            needed => position(needed as usize - 1) as u32 + 1,
        });
        self.reached_at.extend(indices);
    }

    /// The score at which a recall is reached, by its index in the list of precisions.
    pub(super) fn score(&self, index: usize) -> f64 {
        let position = self.reached_at.get(index);
        let score = position.and_then(|&position| self.scores.get(position as usize));
        score.map_or(0.0, |score| score.score())
    }

    /// The precision at the recalls that a curve reaches.
    pub(super) fn precision(&self, curve: usize) -> &[f64] {
        self.curves
            .get(curve)
            .and_then(|(_, reached)| self.precision.get(reached.clone()))
            .unwrap_or_default()
    }

    /// The recall of all detections, if there is a curve.
    pub(super) fn recall(&self, curve: usize) -> &[f64] {
        self.curves
            .get(curve)
            .map_or(&[], |(recall, _)| std::slice::from_ref(recall))
    }
}
