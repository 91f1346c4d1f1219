//! Panoptic quality (Kirillov et al., *Panoptic Segmentation*, 2019), equal to panopticapi 7bb4655.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use metric_core::{Counts, Metric, PerClass, Sum};

use crate::overlaps::{IdPair, Overlaps, PixelCounts};

/// The id of pixels that belong to no segment.
pub const VOID: u32 = 0;

/// A segment of an image, as `segments_info` lists it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Segment {
    /// The id of its pixels.
    pub id: u32,
    /// The id of its category.
    pub category: i64,
    /// Its area as the reference states it; `None` for the number of its pixels. That of a prediction is not used.
    pub area: Option<f64>,
    /// Whether it is a crowd, which is neither matched nor missed. That of a prediction is not used.
    pub is_crowd: bool,
}

impl Segment {
    /// Returns a segment that is not a crowd, whose area is the number of its pixels.
    #[must_use]
    pub const fn new(id: u32, category: i64) -> Self {
        Self {
            id,
            category,
            area: None,
            is_crowd: false,
        }
    }
}

/// The IoU that decides which segments match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SegmentIou {
    /// That of the masks.
    #[default]
    Mask,
    /// That of the masks or that of their boundaries, whichever is less.
    Boundary,
}

/// How segments are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchingRules {
    /// The IoU that decides which segments match.
    pub iou: SegmentIou,
    /// Whether the known errors of panopticapi are repeated: of several segments with one id the last one counts, and
    /// reference segments of unknown categories are dropped.
    pub quirks: bool,
}

/// The segments of an image as they were assigned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matching {
    /// Pairs of segments, by the ids of the reference and of the prediction.
    pub matches: Vec<SegmentMatch>,
    /// Segments of the reference without a match, by id; crowds are not among them.
    pub missed: Vec<Segment>,
    /// Predicted segments without a match, by id.
    pub false_positives: Vec<Segment>,
    /// Predicted segments without a match that are mostly on VOID or on a crowd of their category, by id.
    pub ignored: Vec<Segment>,
    /// The number of segments of the reference, with crowds.
    pub segments: u64,
    /// What may be wrong with the reference.
    pub oddities: Oddities,
}

/// A segment of the reference and the predicted segment that matches it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentMatch {
    /// The ids of both.
    pub ids: IdPair,
    /// The category of both.
    pub category: i64,
    /// Their IoU.
    pub iou: f64,
}

/// What may be wrong with the reference of an image, as numbers of its segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Segments whose stated area is not the number of their pixels.
    pub other_area: u64,
    /// Segments without pixels.
    pub no_pixels: u64,
    /// Ids of pixels that are not listed as segments.
    pub unlisted: u64,
    /// Crowds that do not count because a later one has their category.
    pub hidden_crowds: u64,
}

/// Assigns the predicted segments of an image to the segments of its reference. A pair of one category matches if its IoU
/// exceeds 0.5, with pixels of the prediction on VOID left out of the union.
///
/// The area of a reference segment is the one that it states, as in panopticapi. `is_known` tells which categories exist.
///
/// # Errors
///
/// Returns an error if ids are repeated or 0, if predicted segments and ids of pixels are not the same, if a category is
/// unknown, and if the stated area of a segment is so small that a union is not positive.
///
/// ```
/// use metric_segmentation::{MatchingRules, Overlaps, Segment, match_segments};
///
/// // Segment 7 has five pixels, of which segment 1 has four and one of VOID.
/// let mut overlaps = Overlaps::new(100);
/// overlaps.add_row(&[7, 7, 7, 7, 7, 0], &[1, 1, 1, 1, 2, 1])?;
/// let truth = [Segment::new(7, 3)];
/// let found = [Segment::new(1, 3), Segment::new(2, 3)];
/// let matching = match_segments(&truth, &found, &overlaps, &|_| true, MatchingRules::default())?;
/// assert_eq!(matching.matches[0].iou, 4.0 / 5.0);
/// assert_eq!(matching.false_positives, [Segment::new(2, 3)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn match_segments(
    reference: &[Segment],
    prediction: &[Segment],
    overlaps: &Overlaps,
    is_known: &dyn Fn(i64) -> bool,
    rules: MatchingRules,
) -> Result<Matching, PanopticError> {
    let truths = by_id(reference, false, rules)?;
    let found = by_id(prediction, true, rules)?;
    let pixels = overlaps.sorted();
    let mut areas = Areas::default();
    for ((truth, found), counts) in &pixels {
        add(areas.truths.entry(*truth).or_default(), counts);
        add(areas.found.entry(*found).or_default(), counts);
        if *truth == VOID {
            areas.void.insert(*found, *counts);
        }
    }
    check_prediction(&found, &areas, is_known)?;
    if let Some(segment) = truths.values().find(|segment| !is_known(segment.category))
        && !rules.quirks
    {
        return Err(PanopticError::UnknownCategory {
            is_prediction: false,
            id: segment.id,
            category: segment.category,
        });
    }

    let mut matching = Matching {
        segments: truths.len() as u64,
        oddities: oddities(&truths, &areas),
        ..Matching::default()
    };
    let mut matched = [BTreeSet::new(), BTreeSet::new()];
    for (ids, common) in &pixels {
        let (Some(truth), Some(predicted)) = (truths.get(&ids.0), found.get(&ids.1)) else {
            continue;
        };
        if truth.is_crowd || truth.category != predicted.category {
            continue;
        }
        let iou = areas.iou(truth, predicted.id, common, rules.iou)?;
        if iou > 0.5 {
            matched[0].insert(ids.0);
            matched[1].insert(ids.1);
            matching.matches.push(SegmentMatch {
                ids: *ids,
                category: truth.category,
                iou,
            });
        }
    }
    let missed = truths.values().filter(|segment| {
        !segment.is_crowd && !matched[0].contains(&segment.id) && is_known(segment.category)
    });
    matching.missed = missed.copied().collect();

    // The last crowd of a category counts, as in panopticapi.
    let crowds = reference.iter().filter(|segment| segment.is_crowd);
    let crowds: BTreeMap<i64, u32> = crowds.map(|crowd| (crowd.category, crowd.id)).collect();
    let common: BTreeMap<IdPair, u64> = pixels.iter().map(|(ids, of)| (*ids, of.all)).collect();
    let unmatched = found.values().filter(|one| !matched[1].contains(&one.id));
    for segment in unmatched {
        let on = |truth: u32| common.get(&(truth, segment.id)).copied().unwrap_or(0);
        let excused = on(VOID) + crowds.get(&segment.category).map_or(0, |crowd| on(*crowd));
        let list = if excused as f64 / areas.found_pixels(segment.id) as f64 > 0.5 {
            &mut matching.ignored
        } else {
            &mut matching.false_positives
        };
        list.push(*segment);
    }
    Ok(matching)
}

/// The pixels of each segment, and those of predicted segments on VOID.
#[derive(Default)]
struct Areas {
    truths: BTreeMap<u32, PixelCounts>,
    found: BTreeMap<u32, PixelCounts>,
    void: BTreeMap<u32, PixelCounts>,
}

fn add(sum: &mut PixelCounts, counts: &PixelCounts) {
    sum.all += counts.all;
    sum.on_reference_boundary += counts.on_reference_boundary;
    sum.on_predicted_boundary += counts.on_predicted_boundary;
}

impl Areas {
    fn truth_pixels(&self, id: u32) -> u64 {
        self.truths.get(&id).map_or(0, |pixels| pixels.all)
    }

    fn found_pixels(&self, id: u32) -> u64 {
        self.found.get(&id).map_or(0, |pixels| pixels.all)
    }

    /// The IoU of segments that have these pixels in common.
    fn iou(
        &self,
        truth: &Segment,
        predicted: u32,
        common: &PixelCounts,
        kind: SegmentIou,
    ) -> Result<f64, PanopticError> {
        let void = self.void.get(&predicted).copied().unwrap_or_default();
        let found = self.found.get(&predicted).copied().unwrap_or_default();
        let area = truth
            .area
            .unwrap_or_else(|| self.truth_pixels(truth.id) as f64);
        // Integers up to 2^53 are exact, so one division is rounded.
        let union = (found.all - common.all - void.all) as f64 + area;
        if union <= 0.0 {
            return Err(PanopticError::EmptyUnion {
                id: truth.id,
                area,
                pixels: self.truth_pixels(truth.id),
            });
        }
        let iou = common.all as f64 / union;
        if kind == SegmentIou::Mask {
            return Ok(iou);
        }
        let of_truth = self.truths.get(&truth.id).copied().unwrap_or_default();
        let common = common.on_both_boundaries;
        let union = of_truth.on_reference_boundary + found.on_predicted_boundary
            - common
            - void.on_predicted_boundary;
        let of_boundaries = match union {
            0 => 0.0,
            union => common as f64 / union as f64,
        };
        Ok(iou.min(of_boundaries))
    }
}

/// Segments by their id.
fn by_id(
    segments: &[Segment],
    is_prediction: bool,
    rules: MatchingRules,
) -> Result<BTreeMap<u32, Segment>, PanopticError> {
    let mut by_id = BTreeMap::new();
    for segment in segments {
        if segment.id == VOID {
            return Err(PanopticError::VoidSegment { is_prediction });
        }
        if by_id.insert(segment.id, *segment).is_some() && !rules.quirks {
            return Err(PanopticError::RepeatedId {
                is_prediction,
                id: segment.id,
            });
        }
    }
    Ok(by_id)
}

/// Checks that a prediction lists the ids of its pixels, and no others, in panopticapi's order.
fn check_prediction(
    found: &BTreeMap<u32, Segment>,
    areas: &Areas,
    is_known: &dyn Fn(i64) -> bool,
) -> Result<(), PanopticError> {
    for id in areas.found.keys().filter(|id| **id != VOID) {
        let Some(segment) = found.get(id) else {
            return Err(PanopticError::UnlistedId { id: *id });
        };
        if !is_known(segment.category) {
            return Err(PanopticError::UnknownCategory {
                is_prediction: true,
                id: *id,
                category: segment.category,
            });
        }
    }
    let mut without = found.keys().filter(|id| !areas.found.contains_key(id));
    match without.next() {
        Some(id) => Err(PanopticError::NoPixels { id: *id }),
        None => Ok(()),
    }
}

fn oddities(truths: &BTreeMap<u32, Segment>, areas: &Areas) -> Oddities {
    let mut oddities = Oddities::default();
    let mut crowds = BTreeSet::new();
    for segment in truths.values() {
        let pixels = areas.truth_pixels(segment.id);
        let is_other = segment.area.is_some_and(|area| area != pixels as f64);
        oddities.other_area += u64::from(is_other && pixels > 0);
        oddities.no_pixels += u64::from(pixels == 0);
        let is_hidden = segment.is_crowd && !crowds.insert(segment.category);
        oddities.hidden_crowds += u64::from(is_hidden);
    }
    let ids = areas.truths.keys();
    let unlisted = ids.filter(|id| **id != VOID && !truths.contains_key(id));
    oddities.unlisted = unlisted.count() as u64;
    oddities
}

/// An image whose segments cannot be compared.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PanopticError {
    /// A listed segment has the id of VOID.
    VoidSegment {
        /// Whether it is predicted.
        is_prediction: bool,
    },
    /// Several segments have one id.
    RepeatedId {
        /// Whether they are predicted.
        is_prediction: bool,
        /// The id.
        id: u32,
    },
    /// Pixels of the prediction have an id that is not listed.
    UnlistedId {
        /// The id.
        id: u32,
    },
    /// A predicted segment has no pixels.
    NoPixels {
        /// Its id.
        id: u32,
    },
    /// The category of a segment is unknown.
    UnknownCategory {
        /// Whether the segment is predicted.
        is_prediction: bool,
        /// Its id.
        id: u32,
        /// Its category.
        category: i64,
    },
    /// The stated area of a reference segment is so small that a union is not positive.
    EmptyUnion {
        /// Its id.
        id: u32,
        /// The stated area.
        area: f64,
        /// The number of its pixels.
        pixels: u64,
    },
}

impl PanopticError {
    /// Returns whether the prediction is wrong rather than the reference.
    #[must_use]
    pub const fn is_of_prediction(&self) -> bool {
        match self {
            Self::VoidSegment { is_prediction }
            | Self::RepeatedId { is_prediction, .. }
            | Self::UnknownCategory { is_prediction, .. } => *is_prediction,
            Self::UnlistedId { .. } | Self::NoPixels { .. } => true,
            Self::EmptyUnion { .. } => false,
        }
    }
}

impl fmt::Display for PanopticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VoidSegment { .. } => f.write_str(
                "segments_info has a segment with the id 0, which is that of pixels without a segment (VOID)",
            ),
            Self::RepeatedId { id, .. } => {
                write!(f, "segment {id} occurs several times in segments_info")
            }
            Self::UnlistedId { id } => write!(
                f,
                "pixels have the id {id}: expected 0 or the id of a segment in segments_info"
            ),
            Self::NoPixels { id } => {
                write!(f, "segment {id} of segments_info has no pixels")
            }
            Self::UnknownCategory { id, category, .. } => write!(
                f,
                "segment {id} has the unknown category_id {category}: expected one of the reference's categories"
            ),
            Self::EmptyUnion { id, area, pixels } => write!(
                f,
                "segment {id} has an area of {area}, but {pixels} pixels: expected an area near the number of pixels"
            ),
        }
    }
}

impl std::error::Error for PanopticError {}

/// The counts of a category, with the sum of the IoU of its matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CategoryState {
    /// Matches, false positives and missed segments.
    pub counts: Counts,
    /// The IoU of the matches.
    pub iou: Sum,
}

metric_core::fields!(CategoryState { counts, iou });

impl CategoryState {
    /// Returns the qualities; `None` without segments.
    ///
    /// ```
    /// use metric_core::Counts;
    /// use metric_segmentation::CategoryState;
    ///
    /// // Two matches, a false positive and a missed segment.
    /// let state = CategoryState { counts: Counts::new(2, 1, 1), iou: [0.75, 1.0].into_iter().collect() };
    /// let quality = state.quality().ok_or("no segments")?;
    /// assert_eq!((quality.pq, quality.sq, quality.rq), (1.75 / 3.0, 0.875, 2.0 / 3.0));
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn quality(&self) -> Option<Quality> {
        let Counts {
            true_positives,
            false_positives,
            false_negatives,
        } = self.counts;
        let hits = true_positives as f64;
        let all = hits + 0.5 * false_positives as f64 + 0.5 * false_negatives as f64;
        (all > 0.0).then(|| {
            let iou = self.iou.value();
            Quality {
                pq: iou / all,
                sq: match true_positives {
                    0 => 0.0,
                    _ => iou / hits,
                },
                rq: hits / all,
            }
        })
    }
}

/// Panoptic, segmentation and recognition quality.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Panoptic quality: that of segmentation times that of recognition, for one category.
    pub pq: f64,
    /// Segmentation quality: the mean IoU of matches, or 0 without any.
    pub sq: f64,
    /// Recognition quality: the F1 score of segments.
    pub rq: f64,
}

/// The counts of images by category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanopticState {
    /// The counts of each category that has segments.
    pub categories: PerClass<i64, CategoryState>,
    /// The number of reference segments, with crowds.
    pub segments: u64,
    /// The number of predicted segments that are neither matched nor false positives.
    pub ignored: u64,
}

metric_core::fields!(PanopticState {
    categories,
    segments,
    ignored
});

impl PanopticState {
    /// Returns the counts of all categories together.
    #[must_use]
    pub fn total(&self) -> Counts {
        self.categories.micro().counts
    }
}

/// The qualities of each category that has segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanopticScore {
    /// The qualities by category.
    pub categories: BTreeMap<i64, Quality>,
}

impl PanopticScore {
    /// Returns the means of the qualities over categories; `None` if no such category has segments. The mean of panoptic
    /// qualities is not the product of the other two.
    #[must_use]
    pub fn mean(&self, is_wanted: impl Fn(i64) -> bool) -> Option<Quality> {
        let wanted = self.categories.iter().filter(|(id, _)| is_wanted(**id));
        let wanted: Vec<&Quality> = wanted.map(|(_, quality)| quality).collect();
        let mean = |part: fn(&Quality) -> f64| {
            let sum: Sum = wanted.iter().map(|quality| part(quality)).collect();
            sum.value() / wanted.len() as f64
        };
        (!wanted.is_empty()).then(|| Quality {
            pq: mean(|quality| quality.pq),
            sq: mean(|quality| quality.sq),
            rq: mean(|quality| quality.rq),
        })
    }
}

/// Panoptic quality of images whose segments were [assigned](match_segments).
///
/// ```
/// use metric_core::Metric;
/// use metric_segmentation::{Matching, PanopticQuality, Segment, SegmentMatch};
///
/// let image = Matching {
///     matches: vec![SegmentMatch { ids: (7, 1), category: 3, iou: 0.75 }],
///     missed: vec![Segment::new(8, 3), Segment::new(9, 5)],
///     ..Matching::default()
/// };
/// let score = PanopticQuality.score_all([(&image, &())]);
/// // Category 3 has PQ 0.75 / 1.5, and category 5 has 0.
/// let mean = score.mean(|_| true).ok_or("no segments")?;
/// assert_eq!((mean.pq, mean.sq), (0.25, 0.375));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PanopticQuality;

impl Metric for PanopticQuality {
    type Prediction = Matching;
    type Reference = ();
    type State = PanopticState;
    type Score = PanopticScore;

    fn update(&self, state: &mut PanopticState, image: &Matching, (): &()) {
        for found in &image.matches {
            let category = state.categories.entry(found.category);
            category.counts.true_positives += 1;
            category.iou.add(found.iou);
        }
        for segment in &image.missed {
            let category = state.categories.entry(segment.category);
            category.counts.false_negatives += 1;
        }
        for segment in &image.false_positives {
            let category = state.categories.entry(segment.category);
            category.counts.false_positives += 1;
        }
        state.segments += image.segments;
        state.ignored += image.ignored.len() as u64;
    }

    fn compute(&self, state: &PanopticState) -> PanopticScore {
        let categories = state.categories.iter();
        let categories = categories.filter_map(|(id, of)| Some((*id, of.quality()?)));
        PanopticScore {
            categories: categories.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::{Boundaries, TooManyIds};

    /// Images of 3 x 4 pixels with ids of 0 to 3, as reference and prediction.
    fn images() -> impl Strategy<Value = Vec<[Vec<u32>; 2]>> {
        let side = || vec(0_u32..4, 12);
        vec(
            (side(), side()).prop_map(|(truth, found)| [truth, found]),
            0..6,
        )
    }

    fn listed(ids: &[u32]) -> Vec<Segment> {
        let present: BTreeSet<u32> = ids.iter().copied().filter(|id| *id != VOID).collect();
        let segment = |id: u32| Segment {
            is_crowd: id == 3,
            ..Segment::new(id, i64::from(id % 2))
        };
        present.into_iter().map(segment).collect()
    }

    fn overlaps([truth, found]: &[Vec<u32>; 2]) -> Result<Overlaps, TooManyIds> {
        let mut overlaps = Overlaps::new(10);
        let mut boundaries = [Boundaries::new(4, 1), Boundaries::new(4, 1)];
        let [of_truth, of_found] = &mut boundaries;
        for (truth, found) in truth.chunks(4).zip(found.chunks(4)) {
            overlaps.add_row(truth, found)?;
            if let (Some(truth), Some(found)) = (of_truth.push(truth), of_found.push(found)) {
                overlaps.add_boundaries(truth, found)?;
            }
        }
        while let (Some(truth), Some(found)) = (of_truth.finish(), of_found.finish()) {
            overlaps.add_boundaries(truth, found)?;
        }
        Ok(overlaps)
    }

    /// Whether a pixel has a neighbor of another id, or is at the end of the image.
    fn is_boundary(ids: &[u32], pixel: usize) -> bool {
        let (x, y) = (pixel % 4, pixel / 4);
        let inner = (1..3).contains(&x) && (1..2).contains(&y);
        let mut around = (0..9).map(|near| (y + near / 3).wrapping_sub(1) * 4 + x + near % 3);
        !inner || around.any(|near| ids[near - 1] != ids[pixel])
    }

    proptest! {
        #[test]
        fn laws_of_states(images in images()) {
            for iou in [SegmentIou::Mask, SegmentIou::Boundary] {
                let rules = MatchingRules { iou, quirks: false };
                let mut states = Vec::new();
                for image in &images {
                    let [truth, found] = [listed(&image[0]), listed(&image[1])];
                    let overlaps = overlaps(image).expect("few ids");
                    let matching = match_segments(&truth, &found, &overlaps, &|_| true, rules);
                    let matching = matching.expect("listed segments");
                    let outcomes = matching.matches.len() + matching.false_positives.len() + matching.ignored.len();
                    prop_assert_eq!(outcomes, found.len());
                    states.push(PanopticQuality.measure(&matching, &()));
                }
                crate::laws::check(&states);
            }
        }

        #[test]
        fn pixels_and_boundaries_are_those_of_a_plain_count(images in images()) {
            for image in &images {
                let mut expected: BTreeMap<IdPair, PixelCounts> = BTreeMap::new();
                let [truth, found] = image;
                for pixel in 0..12 {
                    let pixels = expected.entry((truth[pixel], found[pixel])).or_default();
                    let [of_truth, of_found] = [truth, found].map(|ids| is_boundary(ids, pixel));
                    pixels.all += 1;
                    pixels.on_reference_boundary += u64::from(of_truth);
                    pixels.on_predicted_boundary += u64::from(of_found);
                    pixels.on_both_boundaries += u64::from(of_truth && of_found);
                }
                let counted = overlaps(image).expect("few ids").sorted();
                prop_assert_eq!(counted, expected.into_iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn ids_and_pairs_are_limited() {
        let mut overlaps = Overlaps::new(2);
        assert_eq!(overlaps.add_row(&[1, 2, 0], &[5, 5, 5]), Ok(()));
        let error = overlaps.add_row(&[3], &[5]);
        assert_eq!(
            error,
            Err(TooManyIds::Ids {
                is_prediction: false,
                max: 2
            })
        );
    }
}
