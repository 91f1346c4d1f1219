//! Matching rules: which detection is matched with which true object. Each rule is a function on plain slices.
//!
//! Each function takes the detections and truths of one image and class and an IoU threshold, and returns for each
//! detection the index of its truth, if it has one. All of them except [`any_overlap`] are one-to-one: a truth that
//! counts is matched with at most one detection.
//!
//! Shapes that do not overlap never match, whatever the threshold.
//!
//! A truth may be a crowd region, or left out of the count. Such a truth is not a positive, and a
//! detection of it is neither correct nor wrong: it drops out. [`counts`] counts matches
//! accordingly. The documentation of each rule says how it comes to such a match; none chooses it
//! where it could have taken a truth that counts.
//!
//! # Cost
//!
//! In an item of many truths each detection is compared only with those whose bounds meet its own, and `k` below is the
//! number of such pairs. It is small where shapes lie apart. Where very many boxes overlap each other, as 100,000 equal
//! ones do, the rules that use scores search for the best truth of a detection in a tree and leave out nearly all
//! pairs: about a second for equal boxes, and some ten seconds for 100,000 boxes that differ a little from each other.
//! Other shapes have no such search; [`Matching::check_size`] refuses too many of them. Memory grows with detections
//! and truths, and for the two optimal rules with the pairs that they choose from as well.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use metric_core::assignment::{Benefit, Edge, assign_all};
use metric_core::{Counts, named_choice};

use crate::candidates::{Enough, Field, with_candidates};
use crate::meeting;
use crate::nearest::{Arithmetic, Measure, Prefer, Search};
use crate::score::Rank;
pub use crate::truth::{Detection, Truth};
use crate::{Annotation, Prediction, Shape, iou_by_corners};

/// A matching rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Matching {
    /// The most pairs at the threshold, then the greatest total IoU: [`optimal`].
    #[default]
    Optimal,
    /// COCO's: [`greedy`].
    Greedy,
    /// Pascal VOC's, at or above the threshold: [`voc`].
    Voc,
    /// Pascal VOC's, above the threshold: [`voc`] with `strict`.
    VocStrict,
    /// The greatest total IoU, then the threshold: [`optimal_sum`].
    OptimalSum,
    /// Each detection that overlaps any truth: [`any_overlap`].
    AnyOverlap,
}

impl Matching {
    /// All rules.
    pub const ALL: &[Self] = &[
        Self::Optimal,
        Self::Greedy,
        Self::Voc,
        Self::VocStrict,
        Self::OptimalSum,
        Self::AnyOverlap,
    ];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Greedy => "greedy",
            Self::Voc => "voc",
            Self::VocStrict => "voc-strict",
            Self::OptimalSum => "optimal-sum",
            Self::AnyOverlap => "any-overlap",
        }
    }
}

impl Matching {
    /// Returns whether the match of a detection depends only on detections with the same or a higher score.
    ///
    /// The matches of such a rule, made once for all detections, are also those of the detections
    /// at or above any score.
    #[must_use]
    pub const fn goes_by_score(self) -> bool {
        matches!(self, Self::Greedy | Self::Voc | Self::VocStrict)
    }

    /// Returns the matches under this rule, for any shape. They are those of the rule's function, except that
    /// [`AnyOverlap`](Self::AnyOverlap) uses the IoU of the shape.
    ///
    /// ```
    /// use metric_vision::{BBox, Detection, Matching, Truth};
    ///
    /// let bbox = BBox::from_xywh(0.0, 0.0, 1.0, 1.0)?;
    /// let (detections, truths) = ([Detection::from(bbox); 2], [Truth::from(bbox)]);
    /// let matches = |rule: Matching| rule.matches(&detections, &truths, 0.5);
    /// assert_eq!(matches(Matching::Greedy), [Some(0), None]);
    /// assert_eq!(matches(Matching::AnyOverlap), [Some(0), Some(0)]);
    /// # Ok::<(), metric_vision::InvalidBox>(())
    /// ```
    #[must_use]
    pub fn matches<S: Shape>(
        self,
        detections: &[Detection<S>],
        truths: &[Truth<S>],
        threshold: f64,
    ) -> Matches {
        match self {
            Self::Optimal => optimal(detections, truths, threshold),
            Self::Greedy => greedy(detections, truths, threshold),
            Self::Voc => voc(detections, truths, threshold, false),
            Self::VocStrict => voc(detections, truths, threshold, true),
            Self::OptimalSum => optimal_sum(detections, truths, threshold),
            Self::AnyOverlap => any_overlap_by(detections, truths, threshold, S::iou),
        }
    }
}

/// So many pairs of any shapes take no more than ten seconds and a gigabyte of memory.
pub const MOST_PAIRS: usize = MOST_EDGES;

/// So many pairs of boxes whose bounds meet are searched for an overlap in ten seconds.
const MOST_SEARCHED: usize = 1 << 30;

impl Matching {
    /// Returns an error for an image and class where too many shapes overlap each other, so that this rule would take
    /// minutes, or gigabytes of memory.
    ///
    /// Matches have no limit of their own. A program that reads untrusted data calls this first. It costs
    /// nothing for items of up to 2,896 detections and truths, and otherwise a sort of the boxes where that
    /// can decide.
    ///
    /// ```
    /// use metric_vision::{BBox, Detection, Matching, Truth};
    ///
    /// let bbox = BBox::from_xywh(0.0, 0.0, 1.0, 1.0)?;
    /// let (detections, truths) = (vec![Detection::from(bbox); 5_000], vec![Truth::from(bbox); 5_000]);
    /// assert_eq!(Matching::Greedy.check_size(&detections, &truths), Ok(()));
    /// assert!(Matching::OptimalSum.check_size(&detections, &truths).is_err());
    /// # Ok::<(), metric_vision::InvalidBox>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error for [`OptimalSum`](Self::OptimalSum) if the greatest total would be one of more than
    /// 2^23 pairs, for any rule if more than 2^23 pairs of shapes other than axis-aligned boxes have bounds
    /// that meet, and for [`Optimal`](Self::Optimal) and [`AnyOverlap`](Self::AnyOverlap) if the bounds of more
    /// than 2^30 pairs of shapes meet, unless fewer pairs differ.
    pub fn check_size<S: Shape>(
        self,
        detections: &[Detection<S>],
        truths: &[Truth<S>],
    ) -> Result<(), TooManyPairs> {
        self.check_pairs(detections, truths, MOST_PAIRS)?;
        self.check_searched(detections, truths, MOST_SEARCHED)
    }

    /// Refuses items whose pairs the rules that look for any overlap would search for too long.
    fn check_searched<S: Shape>(
        self,
        detections: &[Detection<S>],
        truths: &[Truth<S>],
        most: usize,
    ) -> Result<(), TooManyPairs> {
        // The other rules search for the best overlap, which leaves out more.
        let is_searched = matches!(self, Self::Optimal | Self::AnyOverlap);
        if !is_searched || detections.len().saturating_mul(truths.len()) <= most {
            return Ok(());
        }
        // Equal shapes are searched as one.
        let found = distinct(detections.iter().map(|detection| &detection.shape));
        let real = distinct(truths.iter().map(|truth| &truth.shape));
        if found.saturating_mul(real) <= most || pairs_that_meet(detections, truths) <= most {
            return Ok(());
        }
        Err(TooManyPairs {
            detections: detections.len(),
            truths: truths.len(),
            most,
        })
    }

    fn check_pairs<S: Shape>(
        self,
        detections: &[Detection<S>],
        truths: &[Truth<S>],
        most: usize,
    ) -> Result<(), TooManyPairs> {
        let too_many = TooManyPairs {
            detections: detections.len(),
            truths: truths.len(),
            most,
        };
        if detections.len().saturating_mul(truths.len()) <= most {
            return Ok(());
        }
        // For boxes, most pairs can be left out unseen.
        let is_slow = detections
            .first()
            .is_some_and(|one| one.shape.overlap_at_most(one.shape.bounds()) == f64::INFINITY);
        if is_slow && pairs_that_meet(detections, truths) > most {
            return Err(too_many);
        }
        let fewer = detections.len().min(truths.len());
        if self == Self::OptimalSum
            && fewer.saturating_mul(fewer) > most
            && edges(detections, truths, most, |_, truth, _| truth.is_counted()).is_none()
        {
            return Err(too_many);
        }
        Ok(())
    }
}

/// The number of shapes with different bounds.
fn distinct<'a, S: Shape + 'a>(shapes: impl Iterator<Item = &'a S>) -> usize {
    let bounds = shapes.map(|shape| shape.bounds().map(f64::to_bits));
    bounds.collect::<BTreeSet<_>>().len()
}

/// The number of pairs of shapes whose bounds overlap or touch.
fn pairs_that_meet<S: Shape>(detections: &[Detection<S>], truths: &[Truth<S>]) -> usize {
    let found: Vec<_> = detections.iter().map(|one| one.shape.bounds()).collect();
    let real: Vec<_> = truths.iter().map(|one| one.shape.bounds()).collect();
    let pairs = meeting::pairs_that_meet([&found, &real]);
    usize::try_from(pairs).unwrap_or(usize::MAX)
}

/// Refuses an image for which a metric would list too many pairs of a detection and a truth.
///
/// The best `most` detections count: of each class if only those of one class are compared, otherwise of all.
pub(crate) fn check_image<S>(
    predictions: &[Prediction<S>],
    annotations: &[Annotation<S>],
    most: usize,
    by_class: bool,
) -> Result<(), TooManyPairs> {
    /// They take 16 bytes each.
    const MOST_LISTED: usize = 1 << 25;
    let product = |[detections, truths]: [usize; 2]| detections.min(most).saturating_mul(truths);
    let all = [predictions.len(), annotations.len()];
    // Nearly all images have far fewer.
    if all[0].saturating_mul(all[1]) <= MOST_LISTED {
        return Ok(());
    }
    let mut classes: BTreeMap<u32, [usize; 2]> = BTreeMap::new();
    let found = predictions.iter().map(|found| (found.class, 0));
    let truths = annotations.iter().map(|truth| (truth.class, 1));
    for (class, side) in found.chain(truths) {
        classes.entry(class).or_default()[side] += 1;
    }
    let pairs = if by_class {
        classes
            .into_values()
            .map(product)
            .fold(0, usize::saturating_add)
    } else {
        product(all)
    };
    if pairs > MOST_LISTED {
        Err(TooManyPairs {
            detections: predictions.len(),
            truths: annotations.len(),
            most: MOST_LISTED,
        })
    } else {
        Ok(())
    }
}

/// The error for too many pairs of a detection and a truth, as in an image where too many shapes overlap each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooManyPairs {
    /// The number of detections.
    pub detections: usize,
    /// The number of truths.
    pub truths: usize,
    /// The number of pairs that would have been allowed.
    pub most: usize,
}

impl fmt::Display for TooManyPairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            detections,
            truths,
            most,
        } = self;
        write!(
            f,
            "{detections} detections and {truths} ground-truth objects make too many pairs that may overlap: expected at most {most}"
        )
    }
}

impl std::error::Error for TooManyPairs {}

named_choice!(Matching, "matching rule");

/// The index of the truth of each detection, if it has one.
pub type Matches = Vec<Option<usize>>;

/// Counts correct detections, wrong detections and missed truths, given the matches of a one-to-one rule.
///
/// A detection of a truth that does not count is neither correct nor wrong.
///
/// ```
/// use metric_core::Counts;
/// use metric_vision::BBox;
/// use metric_vision::matching::{Truth, counts};
///
/// let bbox = BBox::from_xywh(0.0, 0.0, 1.0, 1.0)?;
/// let truths = [Truth::from(bbox), Truth::from(bbox), Truth { ignore: true, ..bbox.into() }];
/// // One detection of the first truth, one of the third, and one of none.
/// assert_eq!(counts(&[Some(0), Some(2), None], &truths), Counts::new(1, 1, 1));
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[must_use]
pub fn counts<S>(matches: &[Option<usize>], truths: &[Truth<S>]) -> Counts {
    let actual = truths.iter().filter(|truth| truth.is_counted()).count() as u64;
    let mut counts = Counts::new(0, 0, 0);
    for found in matches {
        match found.and_then(|position| truths.get(position)) {
            Some(truth) => counts.true_positives += u64::from(truth.is_counted()),
            None => counts.false_positives += 1,
        }
    }
    counts.false_negatives = actual.saturating_sub(counts.true_positives);
    counts
}

/// Returns the matches with the most pairs of `IoU >= threshold`, and among such choices those with the greatest
/// total IoU.
///
/// Scores play no part. No one-to-one rule finds more pairs at the same threshold.
///
/// With truths that do not count, the choice has the most correct detections, then the fewest wrong ones, then the
/// greatest total IoU: a truth that is left out takes at most one detection, a crowd any number. A detection takes
/// the crowd that holds most of it, the first among equals. Other rules may then have fewer wrong detections than
/// this, at the price of fewer correct ones.
///
/// # Cost
///
/// The cost of [`assign`](metric_core::assignment::assign) for the pairs that reach the threshold, in the worst case
/// some hundred bytes each. Of `n` detections and `m` truths without a crowd, no more than `min(n, m)²` pairs are kept. If
/// more than 2^23 are left the total IoU is not looked at: the choice still has the most correct detections, then takes
/// as many of the rest as it can to truths that do not count, and costs memory for detections and truths only.
///
/// ```
/// use metric_vision::matching::{greedy, optimal};
/// use metric_vision::{BBox, Detection, Truth};
///
/// let strip = |x| BBox::from_xywh(x, 0.0, 10.0, 1.0);
/// let truths = [strip(0.0)?, strip(4.0)?].map(Truth::from);
/// // The first detection overlaps both (IoU 8/12 and 8/12 of the union), the second only one.
/// let detections = [strip(2.0)?, strip(5.0)?].map(Detection::from);
/// assert_eq!(optimal(&detections, &truths, 0.5), [Some(0), Some(1)]);
/// // Greedy lets the first detection take the later of two equal overlaps.
/// assert_eq!(greedy(&detections, &truths, 0.5), [Some(1), None]);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[must_use]
pub fn optimal<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    threshold: f64,
) -> Matches {
    optimal_of(detections, truths, threshold, MOST_EDGES)
}

/// [`optimal`], with at most this many pairs to choose from.
fn optimal_of<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    threshold: f64,
    most: usize,
) -> Matches {
    let reached = |_, _: &Truth<S>, overlap| overlap >= threshold;
    let Some(edges) = edges(detections, truths, most, reached) else {
        return any_optimal(detections, truths, threshold);
    };
    let mut matches = vec![None; detections.len()];
    pair(edges, detections, truths, &mut matches);
    matches
}

/// Matches with the most correct detections, whatever their total IoU.
fn any_optimal<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    threshold: f64,
) -> Matches {
    let mut matches = vec![None; detections.len()];
    let enough = |overlap: f64| overlap > 0.0 && overlap >= threshold;
    for counted in [true, false] {
        let wanted = |truth: &Truth<S>| truth.is_counted() == counted && !truth.crowd;
        let rows: Vec<usize> = (0..matches.len())
            .filter(|&d| matches[d].is_none())
            .collect();
        let columns: Vec<usize> = (0..truths.len()).filter(|&t| wanted(&truths[t])).collect();
        let left: Vec<_> = rows
            .iter()
            .map(|&d| Detection::from(&detections[d].shape))
            .collect();
        let free: Vec<_> = columns
            .iter()
            .map(|&t| Truth::from(&truths[t].shape))
            .collect();
        let reaches = Enough::new(Arithmetic::Shape, threshold, |a: &&S, b: &&S| {
            enough(a.iou(b))
        });
        let pairs = with_candidates(&left, &free, reaches, |found| found.pairs());
        for (row, column) in rows.into_iter().zip(pairs) {
            matches[row] = column.map(|column| columns[column]);
        }
    }
    let field = Field::new(detections.len(), truths, 0.0);
    for (detection, found) in detections.iter().zip(&mut matches) {
        let crowd = || greatest(&field, &detection.shape, S::iou_crowd, |truth| truth.crowd).0;
        *found = found.or_else(|| crowd().filter(|&(_, share)| enough(share)).map(|(t, _)| t));
    }
    matches
}

/// Finds the matches with the greatest total IoU over all pairs, and returns those with `IoU >= threshold`.
///
/// This is the practice of set-prediction detectors (Carion et al., *DETR*, 2020, match this way in training). It can
/// give fewer pairs than [`optimal`], since it spends truths on pairs that do not reach the threshold.
///
/// Truths that do not count are not part of that total. They take, in the manner of [`optimal`], as
/// many as they can of the detections that are left over.
///
/// # Cost
///
/// The cost of [`assign`](metric_core::assignment::assign) for the pairs that overlap at all; at most `min(n, m)²` are
/// kept for `n` detections and `m` truths. If more than 2^23 are left, the matches are those of [`optimal`] without
/// regard to the total IoU; [`Matching::check_size`] reports that.
#[must_use]
pub fn optimal_sum<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    threshold: f64,
) -> Matches {
    let counted = edges(detections, truths, MOST_EDGES, |_, truth, _| {
        truth.is_counted()
    });
    let Some(mut counted) = counted else {
        return any_optimal(detections, truths, threshold);
    };
    let mut matches = vec![None; detections.len()];
    for edge in &mut counted {
        edge.benefit.primary = 0;
    }
    for (row, column) in assign_all(counted) {
        if detections[row].shape.iou(&truths[column].shape) >= threshold {
            matches[row] = Some(column);
        }
    }
    if !truths.iter().all(Truth::is_counted) {
        let others = edges(detections, truths, MOST_EDGES, |row, truth, overlap| {
            matches[row].is_none() && !truth.is_counted() && overlap >= threshold
        });
        let Some(others) = others else {
            return any_optimal(detections, truths, threshold);
        };
        pair(others, detections, truths, &mut matches);
    }
    matches
}

/// Matches by COCO's rule: in descending order of score, each detection takes the free truth with the greatest IoU
/// (the last, among equals), if that IoU is at least `min(threshold, 1 − 1e-10)`.
///
/// A detection that finds no such truth among those that count takes one of the others in the same
/// way. A crowd is always free, and its IoU is [`Shape::iou_crowd`].
///
/// Equal scores keep their order, and detections without a score, or with NaN, come last.
///
/// pycocotools 2.0.11, `COCOeval.evaluateImg`. Its truths that are left out are crowds and those
/// outside a range of areas; the field `ignore` of a file has no effect there.
///
/// # Cost
///
/// `O(n log n + k)` for `n` detections and truths and `k` pairs whose bounds meet. Of boxes of which more
/// than 256 per detection and truth meet, a search leaves out most pairs.
///
/// ```
/// use metric_vision::matching::greedy;
/// use metric_vision::{BBox, Detection, Truth};
///
/// let bbox = BBox::from_xywh(0.0, 0.0, 10.0, 10.0)?;
/// let crowd = Truth { crowd: true, ..bbox.into() };
/// let detections = [0.7, 0.9, 0.8].map(|score| Detection { shape: bbox, score: Some(score) });
/// // The best takes the truth that counts; the crowd takes the rest.
/// let matches = greedy(&detections, &[crowd, bbox.into()], 0.5);
/// assert_eq!(matches, [Some(0), Some(1), Some(0)]);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[must_use]
pub fn greedy<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    threshold: f64,
) -> Matches {
    let field = Field::new(detections.len(), truths, 0.0);
    let mut matches = vec![None; detections.len()];
    // Most items of real data have no truths.
    if truths.is_empty() {
        return matches;
    }
    let mut taken = vec![false; truths.len()];
    // COCO's bound lets an IoU of 1 that lost its last bits match at threshold 1.
    let bound = threshold.min(1.0 - 1e-10);
    let mut looks = Looks::new(detections, truths);
    let mut order = by_score(detections).into_iter();
    for index in order.by_ref() {
        let shape = &detections[index].shape;
        // The pairs of the truths that count, and of the others.
        let mut best = [(bound, None); 2];
        let looked = field.near(shape, |position, truth| {
            if taken[position] {
                return;
            }
            let overlap = overlap(shape, truth);
            let (greatest, found) = &mut best[usize::from(!truth.is_counted())];
            let better = overlap > *greatest || (overlap == *greatest && *found < Some(position));
            if better && overlap > 0.0 {
                (*greatest, *found) = (overlap, Some(position));
            }
        });
        let [(_, counted), (_, other)] = best;
        let found = counted.or(other);
        if let Some(position) = found {
            taken[position] = !truths[position].crowd;
        }
        matches[index] = found;
        if looks.are_too_many(looked) {
            break;
        }
    }
    if order.len() > 0 {
        greedy_by_search(detections, truths, bound, &taken, order, &mut matches);
    }
    matches
}

/// The rest of [`greedy`], with detections and truths of which many overlap each other.
fn greedy_by_search<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    bound: f64,
    taken: &[bool],
    order: impl Iterator<Item = usize>,
    matches: &mut Matches,
) {
    let iou = Measure::Iou(Arithmetic::Shape);
    let free = |measure, wanted: fn(&Truth<S>) -> bool| {
        let free = |position: usize, truth: &Truth<S>| !taken[position] && wanted(truth);
        Search::new(truths, measure, Prefer::Last, free)
    };
    let mut counted = free(iou, Truth::is_counted);
    let mut ignored = free(iou, |truth| truth.ignore && !truth.crowd);
    let crowds = free(Measure::Share, |truth| truth.crowd);
    for index in order {
        let shape = &detections[index].shape;
        let found = counted.best(shape, bound, S::iou).or_else(|| {
            let ignored = ignored.best(shape, bound, S::iou);
            let crowd = crowds.best(shape, bound, S::iou_crowd);
            // The later of equal ones.
            let last = |a: (usize, f64), b: (usize, f64)| match a.1.total_cmp(&b.1) {
                Ordering::Equal if a.0 > b.0 => a,
                Ordering::Greater => a,
                _ => b,
            };
            ignored.into_iter().chain(crowd).reduce(last)
        });
        matches[index] = found.map(|(position, _)| position);
        if let Some(position) = matches[index] {
            counted.remove(position);
            ignored.remove(position);
        }
    }
}

/// Counts the pairs that were looked at, to tell a search by pairs that takes too long.
struct Looks {
    left: usize,
}

impl Looks {
    /// So many looks for each detection and truth take no longer than what else is done with them. In tests a search is
    /// requested.
    const EACH: usize = if cfg!(test) { 1 } else { 256 };

    fn new<S>(detections: &[Detection<S>], truths: &[Truth<S>]) -> Self {
        let items = detections.len().saturating_add(truths.len());
        Self {
            left: items.saturating_mul(Self::EACH),
        }
    }

    fn are_too_many(&mut self, looked: usize) -> bool {
        let left = self.left.checked_sub(looked);
        self.left = left.unwrap_or(0);
        left.is_none()
    }
}

/// Matches by Pascal VOC's rule: in descending order of score, each detection looks only at the truth with the
/// greatest IoU (the first, among equals). If that truth is already taken, the detection is wrong.
///
/// A detection matches with `IoU >= threshold` (the development kit), or with `IoU > threshold` if
/// `strict` (py-faster-rcnn, Detectron). Scores as for [`greedy`].
///
/// The truth that it looks at may be one that does not count ("difficult"), even if another truth that overlaps it
/// enough does. Such a truth is never taken. VOC has no crowds; a crowd is treated as such a truth.
///
/// Everingham et al., *The Pascal Visual Object Classes Challenge* (IJCV 88, 2010), section 4.2.
///
/// Costs as much as [`greedy`].
#[must_use]
pub fn voc<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    threshold: f64,
    strict: bool,
) -> Matches {
    let by = (Arithmetic::Shape, S::iou);
    voc_by(truths, detections, threshold, strict, by)
}

/// [`voc`] by another IoU.
pub(crate) fn voc_by<S: Shape>(
    truths: &[Truth<S>],
    detections: &[Detection<S>],
    threshold: f64,
    strict: bool,
    (arithmetic, iou): (Arithmetic, impl Fn(&S, &S) -> f64),
) -> Matches {
    let mut matches = vec![None; detections.len()];
    if truths.is_empty() {
        return matches;
    }
    let field = Field::new(detections.len(), truths, arithmetic.margin());
    let mut looks = Looks::new(detections, truths);
    let mut search = None;
    let mut taken = vec![false; truths.len()];
    for index in by_score(detections) {
        let shape = &detections[index].shape;
        let best = match &search {
            None => {
                let (best, looked) = greatest(&field, shape, &iou, |_| true);
                if looks.are_too_many(looked) {
                    let measure = Measure::Iou(arithmetic);
                    search = Some(Search::new(truths, measure, Prefer::First, |_, _| true));
                }
                best
            }
            Some(search) => search.best(shape, 0.0, &iou),
        };
        if let Some((position, overlap)) = best {
            let reached = if strict {
                overlap > threshold
            } else {
                overlap >= threshold
            };
            if reached && !taken[position] {
                taken[position] = truths[position].is_counted();
                matches[index] = Some(position);
            }
        }
    }
    matches
}

/// Returns, for each detection, the truth with the greatest IoU of at least `threshold` (the first, among equals),
/// even if another detection has it too. A truth that does not count is used only if no truth that counts has an IoU
/// of at least `threshold`.
///
/// This is not one-to-one: ten detections on one ground-truth box all count as correct. It exists because the Fusion
/// Brain Challenge 2021 scored this way, and its program's arithmetic decides: [`iou_by_corners`]. That is why it
/// takes boxes only.
///
/// Costs as much as [`greedy`].
#[must_use]
pub fn any_overlap(detections: &[Detection], truths: &[Truth], threshold: f64) -> Matches {
    any_overlap_by(detections, truths, threshold, iou_by_corners)
}

/// [`any_overlap`] by another IoU.
fn any_overlap_by<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    threshold: f64,
    iou: impl Fn(&S, &S) -> f64,
) -> Matches {
    let field = Field::new(detections.len(), truths, 0.0);
    let nearest = |detection: &Detection<S>| {
        [true, false].into_iter().find_map(|counted| {
            let wanted = |truth: &Truth<S>| truth.is_counted() == counted;
            greatest(&field, &detection.shape, &iou, wanted)
                .0
                .filter(|&(_, overlap)| overlap >= threshold)
                .map(|(position, _)| position)
        })
    };
    detections.iter().map(nearest).collect()
}

/// COCO's IoU: that of a crowd is the share of the detection in it.
#[inline]
fn overlap<S: Shape>(shape: &S, truth: &Truth<S>) -> f64 {
    if truth.crowd {
        shape.iou_crowd(&truth.shape)
    } else {
        shape.iou(&truth.shape)
    }
}

/// The wanted truth that overlaps a shape most, of equal ones the first, and its IoU; and how many truths
/// were looked at.
fn greatest<S: Shape>(
    field: &Field<'_, S>,
    shape: &S,
    iou: impl Fn(&S, &S) -> f64,
    wanted: impl Fn(&Truth<S>) -> bool,
) -> (Option<(usize, f64)>, usize) {
    let mut best: Option<(usize, f64)> = None;
    let looked = field.near(shape, |position, truth| {
        let overlap = iou(shape, &truth.shape);
        let better = best.is_none_or(|(first, greatest)| {
            overlap > greatest || (overlap == greatest && position < first)
        });
        if better && overlap > 0.0 && wanted(truth) {
            best = Some((position, overlap));
        }
    });
    (best, looked)
}

/// The value of a truth that counts; one that does not count has the value 1, and no number of those exceeds it.
const COUNTED: i64 = 1 << 31;

/// With more pairs no best choice is made, as it would take ten seconds and a gigabyte of memory.
const MOST_EDGES: usize = 1 << 23;

/// The overlapping pairs that are requested and that a best choice may use, as the index of the detection, the truth
/// and the IoU. None if there are more than `most`.
///
/// With `n` detections and `m` truths, a best choice gives each item of the smaller side one of the best `min(n, m)` of
/// the other side (the first of equal ones), as the other items of the smaller side take at most all of these except
/// one. No other pairs are kept.
///
/// So that any number of detections may have a crowd, each has its own column behind the truths,
/// which stands for all crowds.
fn edges<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    most: usize,
    wanted: impl Fn(usize, &Truth<S>, f64) -> bool,
) -> Option<Vec<Edge>> {
    let field = Field::new(detections.len(), truths, 0.0);
    // A detection that may have a crowd is worth less to a truth than it seems.
    let by_truth = detections.len() > truths.len() && !truths.iter().any(|truth| truth.crowd);
    if by_truth {
        edges_by_truth(&field, detections, most, wanted)
    } else {
        edges_by_detection(&field, detections, most, wanted)
    }
}

/// [`edges`], the best of each detection.
fn edges_by_detection<S: Shape>(
    field: &Field<'_, S>,
    detections: &[Detection<S>],
    most: usize,
    wanted: impl Fn(usize, &Truth<S>, f64) -> bool,
) -> Option<Vec<Edge>> {
    let columns = field.truths().len();
    let mut edges: Vec<Edge> = Vec::new();
    let mut best: Vec<Edge> = Vec::new();
    for (row, detection) in detections.iter().enumerate() {
        let mut crowd: Option<f64> = None;
        best.clear();
        field.near(&detection.shape, |position, truth| {
            let overlap = overlap(&detection.shape, truth);
            if overlap > 0.0 && wanted(row, truth, overlap) {
                if truth.crowd {
                    crowd = Some(crowd.map_or(overlap, |crowd| crowd.max(overlap)));
                } else {
                    best.push(edge(row, position, truth, overlap));
                }
            }
        });
        keep_best(&mut best, detections.len());
        edges.append(&mut best);
        edges.extend(crowd.map(|secondary| Edge {
            row,
            column: columns + row,
            benefit: Benefit {
                primary: 1,
                secondary,
            },
        }));
        if edges.len() > most {
            return None;
        }
    }
    Some(edges)
}

/// [`edges`], the best of each truth, none of which is a crowd.
fn edges_by_truth<S: Shape>(
    field: &Field<'_, S>,
    detections: &[Detection<S>],
    most: usize,
    wanted: impl Fn(usize, &Truth<S>, f64) -> bool,
) -> Option<Vec<Edge>> {
    /// The rows of a truth with their overlaps, and the overlap that a later row must exceed.
    #[derive(Clone, Default)]
    struct Rows {
        best: Vec<(f64, u32)>,
        least: f64,
    }
    let truths = field.truths();
    let kept = truths.len();
    // Some more are gathered before the worst of them are left out.
    let room = kept + kept / 4 + 16;
    let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let mut columns = vec![Rows::default(); truths.len()];
    let mut total = 0;
    for (row, detection) in (0_u32..).zip(detections) {
        field.near(&detection.shape, |position, truth| {
            let overlap = overlap(&detection.shape, truth);
            let Rows { best, least } = &mut columns[position];
            if overlap > *least && wanted(row as usize, truth, overlap) {
                best.push((overlap, row));
                total += 1;
                if best.len() == room {
                    let (_, last, _) = best.select_nth_unstable_by(kept - 1, order);
                    *least = last.0;
                    best.truncate(kept);
                    total -= room - kept;
                }
            }
        });
        if total > most.saturating_add(most / 4) {
            return None;
        }
    }
    for Rows { best, .. } in &mut columns {
        if best.len() > kept {
            best.select_nth_unstable_by(kept - 1, order);
            total -= best.len() - kept;
            best.truncate(kept);
        }
    }
    if total > most {
        return None;
    }
    let mut edges = Vec::with_capacity(total);
    for (position, Rows { best, .. }) in columns.into_iter().enumerate() {
        let rows = best.into_iter();
        edges.extend(
            rows.map(|(overlap, row)| edge(row as usize, position, &truths[position], overlap)),
        );
    }
    Some(edges)
}

fn edge<S>(row: usize, column: usize, truth: &Truth<S>, overlap: f64) -> Edge {
    let primary = if truth.is_counted() { COUNTED } else { 1 };
    Edge {
        row,
        column,
        benefit: Benefit {
            primary,
            secondary: overlap,
        },
    }
}

/// Leaves no more than the best of these pairs of a row, of equal ones the first.
fn keep_best(edges: &mut Vec<Edge>, most: usize) {
    if edges.len() > most {
        edges.select_nth_unstable_by(most - 1, |a, b| {
            let [worth, other] = [a, b].map(|edge| edge.benefit);
            let worse = other.primary.cmp(&worth.primary);
            worse
                .then(other.secondary.total_cmp(&worth.secondary))
                .then(a.column.cmp(&b.column))
        });
        edges.truncate(most);
    }
}

/// Puts down the best choice of `edges`.
fn pair<S: Shape>(
    edges: Vec<Edge>,
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    matches: &mut Matches,
) {
    let crowds: Vec<usize> = (0..truths.len()).filter(|&t| truths[t].crowd).collect();
    for (row, column) in assign_all(edges) {
        matches[row] = if column < truths.len() {
            Some(column)
        } else {
            let share = |position: usize| detections[row].shape.iou_crowd(&truths[position].shape);
            // The first of equal ones, which is the last of a reversed list.
            let crowds = crowds.iter().rev().copied();
            crowds.max_by(|&a, &b| share(a).total_cmp(&share(b)))
        };
    }
}

/// The positions of the detections by falling score.
fn by_score<S>(detections: &[Detection<S>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..detections.len()).collect();
    order.sort_by_key(|&index| Reverse(Rank::new(detections[index].score)));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::BBox;
    use crate::candidates::most_pairs;

    fn boxes() -> impl Strategy<Value = Vec<BBox>> {
        let item = [0_u8..6, 0_u8..6, 1_u8..6, 1_u8..6].prop_map(|numbers| {
            let [x, y, w, h] = numbers.map(f64::from);
            BBox::from_xywh(x, y, w, h).expect("a box")
        });
        proptest::collection::vec(item, 0..7)
    }

    fn truths() -> impl Strategy<Value = Vec<Truth>> {
        let flags = proptest::collection::vec([any::<bool>(), any::<bool>()], 7);
        (boxes(), flags).prop_map(|(boxes, flags)| {
            let truth = |(shape, [crowd, ignore]): (BBox, [bool; 2])| Truth {
                shape,
                crowd,
                ignore,
            };
            boxes.into_iter().zip(flags).map(truth).collect()
        })
    }

    fn detections() -> impl Strategy<Value = Vec<Detection>> {
        let scores = proptest::collection::vec(proptest::option::of(0_u8..3), 7);
        (boxes(), scores).prop_map(|(boxes, scores)| {
            let detection = |(shape, score): (_, Option<u8>)| Detection {
                shape,
                score: score.map(f64::from),
            };
            boxes.into_iter().zip(scores).map(detection).collect()
        })
    }

    type Rule = fn(&[Detection], &[Truth], f64) -> Matches;
    const ONE_TO_ONE: &[(&str, Rule)] = &[
        ("optimal", optimal),
        ("optimal-sum", optimal_sum),
        ("greedy", greedy),
        ("voc", |d, t, threshold| voc(d, t, threshold, false)),
        ("voc-strict", |d, t, threshold| voc(d, t, threshold, true)),
    ];

    #[test]
    fn detections_without_a_number_for_a_score_come_last() {
        let shape = BBox::from_xywh(0.0, 0.0, 1.0, 1.0).expect("a box");
        let scores = [None, Some(f64::NAN), Some(-1.0), Some(0.0), Some(-0.0)];
        let mut detections = scores.map(|score| Detection { shape, score }).to_vec();
        // Each round the one that ranks first takes the box.
        for first in [3, 3, 2, 0, 0] {
            let matches = greedy(&detections, &[shape.into()], 0.5);
            assert_eq!(matches.iter().position(Option::is_some), Some(first));
            detections.remove(first);
        }
    }

    /// Strips of width 10 at these places; `c` is a crowd, `i` is left out, `-` counts.
    #[track_caller]
    fn check(found: &[f64], truths: &[(char, f64)], expected: [(&str, &[i32]); 5]) {
        let strip = |x: f64| BBox::from_xywh(x, 0.0, 10.0, 1.0).expect("a box");
        let detections: Vec<Detection> = found.iter().map(|&x| strip(x).into()).collect();
        let truth = |&(kind, x): &(char, f64)| Truth {
            shape: strip(x),
            crowd: kind == 'c',
            ignore: kind == 'i',
        };
        let truths: Vec<Truth> = truths.iter().map(truth).collect();
        for ((name, rule), (listed, expected)) in ONE_TO_ONE.iter().zip(expected) {
            let matches = rule(&detections, &truths, 0.5);
            let matches: Vec<i32> = matches.iter().map(|m| m.map_or(-1, |t| t as i32)).collect();
            assert_eq!((*name, matches.as_slice()), (listed, expected));
        }
    }

    #[test]
    fn truths_that_do_not_count() {
        // Three detections on one that counts and one that is left out: COCO lets that one take
        // one detection, VOC any number, but only of those that overlap it most.
        check(
            &[0.0, 1.0, 1.5],
            &[('i', 1.0), ('-', 0.0)],
            [
                ("optimal", &[1, 0, -1]),
                ("optimal-sum", &[1, 0, -1]),
                ("greedy", &[1, 0, -1]),
                ("voc", &[1, 0, 0]),
                ("voc-strict", &[1, 0, 0]),
            ],
        );
        check(
            &[0.0, 0.5, 1.0],
            &[('i', 0.0), ('-', 1.0)],
            [
                ("optimal", &[0, -1, 1]),
                ("optimal-sum", &[0, -1, 1]),
                ("greedy", &[1, 0, -1]),
                ("voc", &[0, 0, 1]),
                ("voc-strict", &[0, 0, 1]),
            ],
        );
        // The first of equal crowds.
        check(
            &[0.0],
            &[('c', 0.0), ('c', 0.0)],
            [
                ("optimal", &[0]),
                ("optimal-sum", &[0]),
                ("greedy", &[1]),
                ("voc", &[0]),
                ("voc-strict", &[0]),
            ],
        );
        // A crowd takes all that is left over.
        check(
            &[0.0, 0.5, 1.0],
            &[('c', 0.0), ('-', 1.0)],
            [
                ("optimal", &[0, 0, 1]),
                ("optimal-sum", &[0, 0, 1]),
                ("greedy", &[1, 0, 0]),
                ("voc", &[0, 0, 1]),
                ("voc-strict", &[0, 0, 1]),
            ],
        );
    }

    #[test]
    fn the_fewest_wrong_detections() {
        // Either detection may have the truth that counts, but only the first reaches the other:
        // the greatest total IoU would leave it there.
        check(
            &[0.0, 3.0],
            &[('-', 1.0), ('i', -2.0)],
            [
                ("optimal", &[1, 0]),
                ("optimal-sum", &[0, -1]),
                ("greedy", &[0, -1]),
                ("voc", &[0, -1]),
                ("voc-strict", &[0, -1]),
            ],
        );
    }

    /// COCO's rule by a look at all pairs.
    fn plain_greedy(detections: &[Detection], truths: &[Truth], threshold: f64) -> Matches {
        let mut matches = vec![None; detections.len()];
        let mut taken = vec![false; truths.len()];
        for index in by_score(detections) {
            let best = |counted: bool| {
                let mut best = (threshold.min(1.0 - 1e-10), None);
                for (position, truth) in truths.iter().enumerate() {
                    let overlap = overlap(&detections[index].shape, truth);
                    let free = !taken[position] && truth.is_counted() == counted;
                    if free && overlap > 0.0 && overlap >= best.0 {
                        best = (overlap, Some(position));
                    }
                }
                best.1
            };
            matches[index] = best(true).or_else(|| best(false));
            if let Some(position) = matches[index] {
                taken[position] = !truths[position].crowd;
            }
        }
        matches
    }

    /// VOC's rule by a look at all pairs.
    fn plain_voc(detections: &[Detection], truths: &[Truth], threshold: f64) -> Matches {
        let mut matches = vec![None; detections.len()];
        let mut taken = vec![false; truths.len()];
        for index in by_score(detections) {
            let mut best = (0.0, None);
            for (position, truth) in truths.iter().enumerate() {
                let overlap = crate::iou(&detections[index].shape, &truth.shape);
                if overlap > best.0 {
                    best = (overlap, Some(position));
                }
            }
            if let (overlap, Some(position)) = best
                && overlap >= threshold
                && !taken[position]
            {
                taken[position] = truths[position].is_counted();
                matches[index] = Some(position);
            }
        }
        matches
    }

    /// Boxes that nearly all overlap, many of them equal.
    fn crowded<T: std::fmt::Debug>(
        most: usize,
        item: impl Fn(BBox, [u8; 2]) -> T + Copy,
    ) -> impl Strategy<Value = Vec<T>> {
        let numbers = [0_u8..3, 0_u8..3, 4_u8..7, 4_u8..7];
        let one = (numbers, [0_u8..12, 0_u8..12]).prop_map(move |(numbers, flags)| {
            let [x, y, w, h] = numbers.map(f64::from);
            item(BBox::from_xywh(x, y, w, h).expect("a box"), flags)
        });
        proptest::collection::vec(one, 0..most)
    }

    fn found(shape: BBox, [score, _]: [u8; 2]) -> Detection {
        let score = (score > 0).then(|| f64::from(score / 3));
        Detection { shape, score }
    }

    fn real(shape: BBox, [crowd, ignore]: [u8; 2]) -> Truth {
        Truth {
            shape,
            crowd: crowd == 0,
            ignore: ignore == 0,
        }
    }

    /// The best choice of all pairs that overlap, or of the few that are kept.
    fn best_choice(detections: &[Detection], truths: &[Truth], few: bool) -> Vec<(usize, usize)> {
        let mut edges = if few {
            edges(detections, truths, usize::MAX, |_, _, _| true).unwrap_or_default()
        } else {
            let rows = detections.iter().enumerate();
            let pairs = rows.flat_map(|(row, found)| {
                let columns = truths.iter().enumerate();
                columns.map(move |(position, truth)| {
                    let overlap = overlap(&found.shape, truth);
                    let column = if truth.crowd {
                        truths.len() + row
                    } else {
                        position
                    };
                    Edge {
                        column,
                        ..edge(row, position, truth, overlap)
                    }
                })
            });
            pairs.filter(|edge| edge.benefit.secondary > 0.0).collect()
        };
        // Totals are exact in multiples of a power of two; no two different overlaps become equal.
        for edge in &mut edges {
            edge.benefit.secondary = (edge.benefit.secondary * 2_f64.powi(30)).round();
        }
        assign_all(edges)
    }

    #[test]
    fn images_that_are_refused() {
        let shape = BBox::from_xywh(0.0, 0.0, 1.0, 1.0).expect("a box");
        let found = |class: u32| Prediction {
            image: 0,
            position: 0,
            class,
            score: 0.5,
            area: 1.0,
            shape,
        };
        let real = |class: u32| Annotation {
            class,
            crowd: false,
            ignore: false,
            id: 1,
            area: 1.0,
            shape,
        };
        // 6,000 × 6,000 are more than 2^25, and half of them are not.
        let found: Vec<_> = (0..6_000).map(|position| found(position % 2)).collect();
        let real: Vec<_> = (0..6_000).map(|position| real(position % 2)).collect();
        let check = |most, by_class| check_image(&found, &real, most, by_class).is_ok();
        assert!(check(6_000, true) && !check(6_000, false));
        assert!(check(5_000, false) && !check(6_000, false));
        assert_eq!(check_image(&found[..1], &real, 6_000, false), Ok(()));
    }

    #[test]
    fn items_of_many_boxes_that_differ_are_refused() {
        let square = |x: u32| BBox::from_xywh(f64::from(x), 0.0, 10.0, 1.0).expect("a box");
        let refused = |gap: u32, rule: Matching, most| {
            let positions = (0..9).map(|position| position * gap);
            let boxes: Vec<Truth> = positions.clone().map(|x| square(x).into()).collect();
            let found: Vec<Detection> = positions.map(|x| square(x).into()).collect();
            rule.check_searched(&found, &boxes, most).is_err()
        };
        for rule in [Matching::Optimal, Matching::AnyOverlap] {
            // All 81 pairs meet; equal boxes are one.
            assert!(refused(1, rule, 80));
            assert!(!refused(1, rule, 81));
            assert!(!refused(0, rule, 1));
            // Each meets itself, and few others are near it.
            assert!(!refused(20, rule, 60));
        }
        assert!(!refused(1, Matching::Greedy, 80));
    }

    #[test]
    fn items_that_are_refused() {
        let square = |x: f64| BBox::from_xywh(x, 0.0, 1.0, 1.0).expect("a box");
        let turned = |x: f64| crate::RotatedBox::new([x, 0.0, 1.0, 1.0], 0.1).expect("a box");
        let refused = Err(TooManyPairs {
            detections: 6,
            truths: 6,
            most: 35,
        });
        // All in one place, or far from each other.
        for (gap, sum) in [(0.0, refused), (9.0, Ok(()))] {
            let positions = (0..6).map(|position| f64::from(position) * gap);
            let boxes: Vec<Truth> = positions.clone().map(|x| square(x).into()).collect();
            let found: Vec<Detection> = positions.clone().map(|x| square(x).into()).collect();
            let check = |rule: Matching, most| rule.check_pairs(&found, &boxes, most);
            assert_eq!(check(Matching::OptimalSum, 35), sum);
            assert_eq!(check(Matching::OptimalSum, 36), Ok(()));
            assert_eq!(check(Matching::Greedy, 0), Ok(()));
        }
        let many: Vec<_> = (0..70).map(|_| Truth::from(turned(0.0))).collect();
        let found: Vec<_> = (0..70)
            .map(|x| Detection::from(turned(f64::from(x))))
            .collect();
        for &rule in Matching::ALL {
            // A detection or two of them are near.
            assert_eq!(rule.check_pairs(&found, &many, 140), Ok(()), "{rule}");
            assert!(rule.check_pairs(&found, &many, 60).is_err(), "{rule}");
        }
    }

    proptest! {
        #[test]
        fn searches_find_what_looks_at_all_pairs_do(
            detections in crowded(90, found), truths in crowded(90, real), threshold in 1_u8..=10,
        ) {
            let threshold = f64::from(threshold) / 10.0;
            let plain = plain_greedy(&detections, &truths, threshold);
            prop_assert_eq!(greedy(&detections, &truths, threshold), plain);
            let plain = plain_voc(&detections, &truths, threshold);
            prop_assert_eq!(voc(&detections, &truths, threshold, false), plain);
        }

        #[test]
        fn pairs_that_no_best_choice_has_are_left_out(
            many in crowded(90, found), few in crowded(8, real), counted in any::<bool>(), turned in any::<bool>(),
        ) {
            let (detections, mut truths) = if turned {
                (
                    few.iter().map(|truth| truth.shape.into()).collect(),
                    many.iter().map(|found| found.shape.into()).collect(),
                )
            } else {
                (many, few)
            };
            if counted {
                truths = truths.iter().map(|truth| truth.shape.into()).collect();
            }
            prop_assert_eq!(
                best_choice(&detections, &truths, true),
                best_choice(&detections, &truths, false)
            );
            let fewer = detections.len().min(truths.len());
            let kept = edges(&detections, &truths, usize::MAX, |_, _, _| true).map(|edges| edges.len());
            prop_assert!(kept <= Some(fewer * (fewer + 1)) || truths.iter().any(|truth| truth.crowd));
            if truths.iter().all(Truth::is_counted) {
                let all = edges(&detections, &truths, 0, |_, _, _| true);
                prop_assert_eq!(all.is_none(), kept > Some(0));
            }
        }

        #[test]
        fn one_to_one_and_never_more_than_optimal(
            detections in detections(),
            truths in boxes(),
            threshold in 1_u8..=10,
        ) {
            let threshold = f64::from(threshold) / 10.0;
            let truths: Vec<Truth> = truths.into_iter().map(Truth::from).collect();
            let most = optimal(&detections, &truths, threshold).iter().flatten().count();
            let reached = |a: &BBox, b: &BBox| crate::iou(a, b) >= threshold;
            let reached = Enough::new(Arithmetic::Shape, threshold, reached);
            prop_assert_eq!(most as u64, most_pairs(&detections, &truths, reached));
            for (name, rule) in ONE_TO_ONE {
                let matches = rule(&detections, &truths, threshold);
                prop_assert_eq!(matches.len(), detections.len());
                let mut taken: Vec<usize> = matches.iter().flatten().copied().collect();
                // COCO lowers a threshold of 1 by 1e-10; these boxes have no such overlaps.
                prop_assert!(taken.len() <= most, "{}", name);
                taken.sort_unstable();
                taken.dedup();
                prop_assert_eq!(taken.len(), matches.iter().flatten().count(), "{}", name);
            }
        }

        #[test]
        fn counts_add_up_whatever_counts(
            detections in detections(),
            truths in truths(),
            threshold in 1_u8..=10,
        ) {
            let threshold = f64::from(threshold) / 10.0;
            let actual = truths.iter().filter(|truth| truth.is_counted()).count() as u64;
            let best = counts(&optimal(&detections, &truths, threshold), &truths);
            let any = optimal_of(&detections, &truths, threshold, 0);
            prop_assert!(any.iter().flatten().all(|&position| position < truths.len()));
            prop_assert_eq!(counts(&any, &truths).true_positives, best.true_positives);
            for (name, rule) in ONE_TO_ONE {
                let matches = rule(&detections, &truths, threshold);
                let counts = counts(&matches, &truths);
                let other = |m: &&usize| !truths[**m].is_counted();
                let ignored = matches.iter().flatten().filter(other).count();
                prop_assert_eq!(counts.predicted() as usize + ignored, detections.len(), "{}", name);
                prop_assert_eq!(counts.actual(), actual, "{}", name);
                prop_assert!(counts.true_positives <= best.true_positives, "{}", name);
                // Each truth but crowds, and in VOC's rule those that are left out, once.
                let free = |t: usize| truths[t].crowd || (name.starts_with("voc") && truths[t].ignore);
                let mut taken: Vec<usize> = matches.iter().flatten().copied().collect();
                taken.retain(|&t| !free(t));
                let pairs = taken.len();
                taken.sort_unstable();
                taken.dedup();
                prop_assert_eq!(taken.len(), pairs, "{}", name);
            }
        }

        #[test]
        fn rules_by_score_keep_their_matches_when_the_rest_is_cut(
            detections in detections(),
            truths in truths(),
            cut in 0_u8..3,
        ) {
            for (name, rule) in &ONE_TO_ONE[2..] {
                let all = rule(&detections, &truths, 0.3);
                let kept: Vec<usize> = (0..detections.len())
                    .filter(|&d| detections[d].score >= Some(f64::from(cut)))
                    .collect();
                let some: Vec<Detection> = kept.iter().map(|&d| detections[d]).collect();
                let expected: Matches = kept.iter().map(|&d| all[d]).collect();
                prop_assert_eq!(rule(&some, &truths, 0.3), expected, "{}", name);
            }
        }
    }
}
