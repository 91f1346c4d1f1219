//! Which detection stands for which true box: the matching rules, each a function on plain slices.
//!
//! Each function takes the detections and true boxes of one image and class and an IoU threshold,
//! and gives for each detection the index of its true box, if it has one. All of them but
//! [`any_overlap`] are one-to-one: a true box stands behind at most one detection.
//!
//! Boxes that do not overlap never match, whatever the threshold.
//!
//! In an item of many boxes each detection is held only against the true boxes that it can reach
//! from left to right. Memory grows with the boxes, and for the two optimal rules with the pairs
//! that they choose from as well, not with all pairs.

use metric_core::assignment::{Benefit, Edge, assign};
use metric_core::named_choice;

use crate::candidates::Field;
use crate::{BBox, Detection, iou, iou_by_corners};

/// A matching rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Matching {
    /// The most pairs at the threshold, then the greatest total IoU: [`optimal`].
    #[default]
    Optimal,
    /// COCO's: [`greedy`].
    Greedy,
    /// Pascal VOC's, from the threshold on: [`voc`].
    Voc,
    /// Pascal VOC's, above the threshold: [`voc`] with `strict`.
    VocStrict,
    /// The greatest total IoU, then the threshold: [`optimal_sum`].
    OptimalSum,
    /// Each detection that overlaps any true box: [`any_overlap`].
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

    /// The name on the command line.
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

named_choice!(Matching, "matching rule");

/// The true box of each detection.
pub type Matches = Vec<Option<usize>>;

/// The most pairs with `IoU >= threshold`, and among such choices the greatest total IoU.
///
/// Scores play no part. No one-to-one rule finds more pairs at the same threshold.
///
/// ```
/// use metric_vision::matching::{greedy, optimal};
/// use metric_vision::{BBox, Detection};
///
/// let strip = |x, width| BBox::from_xywh(x, 0.0, width, 1.0);
/// let truths = [strip(0.0, 10.0)?, strip(4.0, 10.0)?];
/// // The first detection overlaps both (IoU 8/12 and 8/12 of the union), the second only one.
/// let detections = [strip(2.0, 10.0)?, strip(5.0, 10.0)?].map(Detection::from);
/// assert_eq!(optimal(&detections, &truths, 0.5), [Some(0), Some(1)]);
/// // Greedy lets the first detection take the later of two equal overlaps.
/// assert_eq!(greedy(&detections, &truths, 0.5), [Some(1), None]);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[must_use]
pub fn optimal(detections: &[Detection], truths: &[BBox], threshold: f64) -> Matches {
    let edges = edges(detections, truths, |iou| iou >= threshold);
    matches(detections.len(), &assign(&edges))
}

/// The greatest total IoU over all pairs, of which those with `IoU >= threshold` stay.
///
/// The habit of set-prediction detectors (Carion et al., *DETR*, 2020, match so in training). It can
/// give fewer pairs than [`optimal`], since it spends boxes on pairs that do not reach the threshold.
#[must_use]
pub fn optimal_sum(detections: &[Detection], truths: &[BBox], threshold: f64) -> Matches {
    let mut edges = edges(detections, truths, |_| true);
    for edge in &mut edges {
        edge.benefit = Benefit {
            primary: 0,
            secondary: edge.benefit.secondary,
        };
    }
    let mut pairs = assign(&edges);
    pairs.retain(|&(d, t)| iou(&detections[d].bbox, &truths[t]) >= threshold);
    matches(detections.len(), &pairs)
}

/// COCO's rule without crowds: detections in the order of falling score each take the free true box
/// with the greatest IoU, if that is at least `min(threshold, 1 − 1e-10)`; of equal ones the later.
///
/// Equal scores keep their order, and detections without a score, or with NaN, come last.
///
/// pycocotools 2.0.11, `COCOeval.evaluateImg`.
#[must_use]
pub fn greedy(detections: &[Detection], truths: &[BBox], threshold: f64) -> Matches {
    let field = Field::new(detections.len(), truths);
    let mut matches = vec![None; detections.len()];
    let mut taken = vec![false; truths.len()];
    for index in by_score(detections) {
        // COCO's bound lets an IoU of 1 that lost its last bits match at threshold 1.
        let mut best = threshold.min(1.0 - 1e-10);
        let mut found = None;
        field.near(&detections[index].bbox, |place, truth| {
            let overlap = iou(&detections[index].bbox, truth);
            let better = overlap > best || (overlap == best && found < Some(place));
            if better && overlap > 0.0 && !taken[place] {
                best = overlap;
                found = Some(place);
            }
        });
        if let Some(place) = found {
            taken[place] = true;
        }
        matches[index] = found;
    }
    matches
}

/// Pascal VOC's rule: detections in the order of falling score each look only at the true box with
/// the greatest IoU, of equal ones the first; if that is taken they are false.
///
/// A box matches with `IoU >= threshold` (the development kit), or with `IoU > threshold` if
/// `strict` (py-faster-rcnn, Detectron). Scores as for [`greedy`].
///
/// Everingham et al., *The Pascal Visual Object Classes Challenge* (IJCV 88, 2010), section 4.2.
#[must_use]
pub fn voc(detections: &[Detection], truths: &[BBox], threshold: f64, strict: bool) -> Matches {
    let field = Field::new(detections.len(), truths);
    let mut matches = vec![None; detections.len()];
    let mut taken = vec![false; truths.len()];
    for index in by_score(detections) {
        let best = greatest(&field, &detections[index].bbox, iou);
        if let Some((place, overlap)) = best {
            let reached = if strict {
                overlap > threshold
            } else {
                overlap >= threshold
            };
            if reached && !taken[place] {
                taken[place] = true;
                matches[index] = Some(place);
            }
        }
    }
    matches
}

/// The true box with the greatest IoU of at least `threshold` for each detection, of equal ones the
/// first, whether another detection has it or not.
///
/// This is not one-to-one: ten detections on one true box all count as right. It is here because
/// the Fusion Brain Challenge 2021 scored so, and its program's arithmetic decides:
/// [`iou_by_corners`].
#[must_use]
pub fn any_overlap(detections: &[Detection], truths: &[BBox], threshold: f64) -> Matches {
    let field = Field::new(detections.len(), truths);
    let nearest = |detection: &Detection| {
        greatest(&field, &detection.bbox, iou_by_corners)
            .filter(|&(_, overlap)| overlap >= threshold)
            .map(|(place, _)| place)
    };
    detections.iter().map(nearest).collect()
}

/// The true box that overlaps a box most, of equal ones the first, and its IoU.
fn greatest(
    field: &Field<'_>,
    bbox: &BBox,
    iou: impl Fn(&BBox, &BBox) -> f64,
) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    field.near(bbox, |place, truth| {
        let overlap = iou(bbox, truth);
        let better = best.is_none_or(|(first, greatest)| {
            overlap > greatest || (overlap == greatest && place < first)
        });
        if better && overlap > 0.0 {
            best = Some((place, overlap));
        }
    });
    best
}

/// The overlapping pairs whose IoU is as `wanted`, by detection.
fn edges(detections: &[Detection], truths: &[BBox], wanted: impl Fn(f64) -> bool) -> Vec<Edge> {
    let field = Field::new(detections.len(), truths);
    let mut edges = Vec::new();
    for (row, detection) in detections.iter().enumerate() {
        field.near(&detection.bbox, |column, truth| {
            let overlap = iou(&detection.bbox, truth);
            if overlap > 0.0 && wanted(overlap) {
                edges.push(Edge::similar(row, column, overlap));
            }
        });
    }
    edges
}

fn matches(detections: usize, pairs: &[(usize, usize)]) -> Matches {
    let mut matches = vec![None; detections];
    for &(detection, truth) in pairs {
        matches[detection] = Some(truth);
    }
    matches
}

/// The detections by falling score.
fn by_score(detections: &[Detection]) -> Vec<usize> {
    // Adding 0 makes one number of the two zeros, which total_cmp would tell apart.
    let score = |index: usize| match detections[index].score {
        Some(score) if !score.is_nan() => score + 0.0,
        _ => f64::NEG_INFINITY,
    };
    let mut order: Vec<usize> = (0..detections.len()).collect();
    order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::candidates::most_pairs;

    fn boxes() -> impl Strategy<Value = Vec<BBox>> {
        let item = [0_u8..6, 0_u8..6, 1_u8..6, 1_u8..6].prop_map(|numbers| {
            let [x, y, w, h] = numbers.map(f64::from);
            BBox::from_xywh(x, y, w, h).expect("a box")
        });
        proptest::collection::vec(item, 0..7)
    }

    type Rule = fn(&[Detection], &[BBox], f64) -> Matches;
    const ONE_TO_ONE: &[(&str, Rule)] = &[
        ("optimal", optimal),
        ("optimal-sum", optimal_sum),
        ("greedy", greedy),
        ("voc", |d, t, threshold| voc(d, t, threshold, false)),
        ("voc-strict", |d, t, threshold| voc(d, t, threshold, true)),
    ];

    #[test]
    fn detections_without_a_number_for_a_score_come_last() {
        let bbox = BBox::from_xywh(0.0, 0.0, 1.0, 1.0).expect("a box");
        let scores = [None, Some(f64::NAN), Some(-1.0), Some(0.0), Some(-0.0)];
        let mut detections = scores.map(|score| Detection { bbox, score }).to_vec();
        // Each round the one that ranks first takes the box.
        for first in [3, 3, 2, 0, 0] {
            let matches = greedy(&detections, &[bbox], 0.5);
            assert_eq!(matches.iter().position(Option::is_some), Some(first));
            detections.remove(first);
        }
    }

    proptest! {
        #[test]
        fn one_to_one_and_never_more_than_optimal(
            detections in boxes(),
            truths in boxes(),
            scores in proptest::collection::vec(proptest::option::of(0_u8..3), 7),
            threshold in 1_u8..=10,
        ) {
            let threshold = f64::from(threshold) / 10.0;
            let detections: Vec<Detection> = detections.iter().zip(scores)
                .map(|(&bbox, score)| Detection { bbox, score: score.map(f64::from) })
                .collect();
            let most = optimal(&detections, &truths, threshold).iter().flatten().count();
            let reached = |a: &BBox, b: &BBox| iou(a, b) >= threshold;
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
    }
}
