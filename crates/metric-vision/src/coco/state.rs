//! The state: the outcomes of the detections of each image.

use std::collections::BTreeMap;
use std::ops::Range;

use metric_core::{Malformed, Reader, Writer, Written, fields, written};

use super::params::{CocoParams, MOST_AREAS};
use super::verdict::{Details, Verdict};
use crate::by_image::{ByImage, Check};
use crate::classes::{
    ClassState, ClassTotals, InvalidIndices, Judged, Renumbering, is_ranked_by_order,
};
use crate::score::Rank;
use crate::{Curve, ScoreHistogram};

/// The state of [`CocoAp`](super::CocoAp): the outcomes of the detections of each image.
///
/// About 14 bytes per detection, 16 for each that met a true object, and 24 for each image and
/// class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CocoState {
    pub(crate) images: ByImage<ImageOutcome>,
}

/// The outcomes of the detections of an image, by class.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ImageOutcome {
    /// Each class that has detections or true objects, in rising order, and how many detections.
    pub(super) classes: Vec<(u32, u32)>,
    /// For each class the number of positive objects, by area range.
    pub(super) truths: Vec<u32>,
    /// The scores of the detections of each class in turn, falling.
    pub(super) scores: Vec<Rank>,
    /// For each detection where it is wrong, or where that is in `details`.
    pub(super) verdicts: Vec<Verdict>,
    /// For detections whose verdict depends on the threshold, or that are correct, in turn: [`Details`].
    pub(super) details: Vec<u64>,
    /// For definitions that cut detections over all images: the places of all detections, also of those that are not
    /// scored.
    pub(crate) places: Vec<Place>,
}

/// The place of a detection among those of its class over all images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) class: u32,
    pub(crate) score: Rank,
    /// The position in the file, and among the detections of the image.
    pub(crate) position: (u32, u32),
    pub(crate) standing: Standing,
}

/// Whether a detection is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    Scored,
    /// It has no area.
    Invalid,
    /// Nobody has verified whether its class is in the image.
    Unverified,
}

/// A number.
impl Written for Standing {
    fn write(&self, to: &mut Writer) {
        (*self as u8).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match u8::read(from)? {
            0 => Ok(Self::Scored),
            1 => Ok(Self::Invalid),
            2 => Ok(Self::Unverified),
            _ => Err("expected a number below 3".into()),
        }
    }
}

/// The class of all objects where classes are not distinguished. It is not the index of a class, so
/// that parts with different lists of classes merge. In [`CocoCurves`] it is class 0.
pub(super) const POOLED: u32 = u32::MAX;

/// The class whose curves the objects of a class in a state count for.
pub(super) fn curve_class(class: u32) -> u32 {
    match class {
        POOLED => 0,
        class => class,
    }
}

impl Check for ImageOutcome {
    fn check(&self) -> Result<(), &'static str> {
        let Self {
            classes,
            truths,
            scores,
            verdicts,
            details,
            places: _,
        } = self;
        if !classes.is_sorted_by(|(a, _), (b, _)| a < b) {
            return Err("expected classes in rising order");
        }
        let detections: u64 = classes.iter().map(|&(_, count)| u64::from(count)).sum();
        if scores.len() as u64 != detections || verdicts.len() != scores.len() {
            return Err("expected one score and one verdict for each detection");
        }
        let mut rest = &**scores;
        for &(_, count) in classes {
            let (of_class, others) = rest.split_at(count as usize);
            if !of_class.is_sorted_by(|a, b| a >= b) {
                return Err("expected the scores of each class in falling order");
            }
            rest = others;
        }
        let areas = truths.len().checked_div(classes.len()).unwrap_or(0);
        let fits = if classes.is_empty() {
            truths.is_empty()
        } else {
            (1..=MOST_AREAS).contains(&areas) && truths.len() == areas * classes.len()
        };
        if !fits {
            return Err("expected one number of objects for each class and area range");
        }
        let detailed = verdicts.iter().filter_map(|verdict| verdict.details());
        let mut count = 0;
        for (expected, index) in (0..).zip(detailed) {
            if index != expected {
                return Err("expected the details in the order of their detections");
            }
            count += 1;
        }
        let fits = match count {
            0 => details.is_empty(),
            count => !details.is_empty() && details.len() % (2 * count) == 0,
        };
        if fits {
            Ok(())
        } else {
            Err("expected details of equal length for each detection that has any")
        }
    }
}

impl CocoState {
    /// Returns the number of detections that count: at most the greatest of [`CocoParams::max_detections`] in each
    /// image and class.
    #[must_use]
    pub fn detections(&self) -> u64 {
        let images = self.images.unordered();
        images.map(|image| image.scores.len() as u64).sum()
    }

    /// Returns the counts of the detections at or above each score, over all classes: for the first area range, the
    /// greatest number of detections, and the IoU threshold at this index in the list.
    ///
    /// The state must have been made with these parameters.
    #[must_use]
    pub fn curve(&self, params: &CocoParams, iou_threshold: usize) -> Curve {
        let words = params.words();
        let most = params.max_detections.last().copied().unwrap_or(0);
        let bit = |words: &[u64]| {
            let word = words.get(iou_threshold / 64).copied().unwrap_or(0);
            word >> (iou_threshold % 64) & 1 == 1
        };
        let mut histogram = ScoreHistogram::default();
        for image in self.images.unordered() {
            // The first area range is that of all objects.
            let truths = image.truths.iter().step_by(params.areas.len().max(1));
            truths.for_each(|&truths| histogram.add_truths(truths.into()));
            let mut start = 0;
            for &(_, count) in &image.classes {
                let end = usize::saturating_add(start, count as usize);
                let counted = start..end.min(usize::saturating_add(start, most));
                let scores = image.scores.get(counted.clone()).unwrap_or_default();
                let verdicts = image.verdicts.get(counted).unwrap_or_default();
                for (&score, &verdict) in scores.iter().zip(verdicts) {
                    let Some(index) = verdict.details() else {
                        if verdict.is_wrong_in(0) {
                            histogram.add(score, false);
                        }
                        continue;
                    };
                    let Details { correct, wrong } = image.details_at(index, words);
                    match (bit(correct), bit(wrong)) {
                        (true, _) => histogram.add(score, true),
                        (_, true) => histogram.add(score, false),
                        _ => {}
                    }
                }
                start = end;
            }
        }
        histogram.curve()
    }
}

fields!(CocoState { images });
written!(ImageOutcome {
    classes,
    truths,
    scores,
    verdicts,
    details;
    places
});
written!(Place {
    class,
    score,
    position,
    standing
});

impl ClassState for CocoState {
    fn renumber_classes(&mut self, indices: &[u32]) -> Result<(), InvalidIndices> {
        let classes = self.images.unordered().flat_map(|image| {
            let classes = image.classes.iter().map(|&(class, _)| class);
            classes.chain(image.places.iter().map(|place| place.class))
        });
        let indices = Renumbering::new(indices, classes.filter(|&class| class != POOLED))?;
        self.images
            .rows_mut()
            .for_each(|image| image.renumber(indices));
        Ok(())
    }

    /// Classes that are pooled are not known and left out.
    fn class_totals(&self) -> BTreeMap<u32, ClassTotals> {
        let totals = self.images.unordered().flat_map(|image| {
            // The first area range is that of all objects.
            let areas = image.truths.len().checked_div(image.classes.len());
            let truths = image.truths.iter().step_by(areas.unwrap_or(1).max(1));
            let classes = image.classes.iter().zip(truths);
            classes.map(|(&(class, detections), &truths)| {
                let (truths, detections) = (truths.into(), detections.into());
                (class, ClassTotals { truths, detections })
            })
        });
        ClassTotals::sum(totals.filter(|&(class, _)| class != POOLED))
    }

    fn is_ranked_by_order(&self) -> bool {
        is_ranked_by_order(self.images.unordered().flat_map(ImageOutcome::judged))
    }
}

impl ImageOutcome {
    /// The details at an index, of as many words for each half. Empty if a list from a file has none there.
    #[inline]
    pub(super) fn details_at(&self, index: usize, words: usize) -> Details<'_> {
        let details = self.words_at(index, words);
        let (correct, wrong) = details.split_at(details.len() / 2);
        Details { correct, wrong }
    }

    /// Both halves of the details at an index.
    #[inline]
    pub(super) fn words_at(&self, index: usize, words: usize) -> &[u64] {
        let start = usize::saturating_mul(index, 2 * words);
        let rest = self.details.get(start..).unwrap_or_default();
        rest.get(..2 * words).unwrap_or_default()
    }

    /// The detections, with the first thresholds of the first area range.
    fn judged(&self) -> impl Iterator<Item = Judged> {
        let detailed = self.verdicts.iter();
        let detailed = detailed.filter(|verdict| verdict.details().is_some());
        let words = self.details.len().checked_div(2 * detailed.count());
        let classes = self.classes.iter();
        let classes =
            classes.flat_map(|&(class, count)| std::iter::repeat_n(class, count as usize));
        let detections = classes.zip(&self.scores).zip(&self.verdicts);
        detections.map(move |((class, &score), verdict)| {
            let first = |words: &[u64]| words.first().copied().unwrap_or_default();
            let (correct, wrong) = match verdict.details() {
                Some(index) => {
                    let details = self.details_at(index, words.unwrap_or_default());
                    (first(details.correct), first(details.wrong))
                }
                None if verdict.is_wrong_in(0) => (0, u64::MAX),
                None => (0, 0),
            };
            Judged {
                class,
                score,
                correct,
                wrong,
            }
        })
    }

    fn renumber(&mut self, indices: Renumbering<'_>) {
        for (class, _) in &mut self.classes {
            if *class != POOLED {
                *class = indices.number(*class);
            }
        }
        for place in &mut self.places {
            place.class = indices.number(place.class);
        }
        if self.classes.is_sorted() {
            return;
        }
        let mut groups = self.groups();
        groups.sort_unstable_by_key(|&(class, _, _)| class);
        let places = std::mem::take(&mut self.places);
        *self = Self {
            places,
            ..self.of_groups(groups)
        };
    }

    /// The outcome in which only the first detections of each class are left, as many as `count` says.
    pub(crate) fn first_of_each(&self, count: impl Fn(u32) -> u32) -> Self {
        let mut groups = self.groups();
        for (class, _, range) in &mut groups {
            range.end = range.end.min(range.start + count(*class) as usize);
        }
        self.of_groups(groups)
    }

    /// Each class, its index, and its detections.
    fn groups(&self) -> Vec<Group> {
        let mut start = 0;
        let classes = self.classes.iter().enumerate();
        let groups = classes.map(|(index, &(class, count))| {
            let range = start..start + count as usize;
            start = range.end;
            (class, index, range)
        });
        groups.collect()
    }

    /// The outcome of these classes and detections, without places.
    fn of_groups(&self, groups: Vec<Group>) -> Self {
        let areas = self
            .truths
            .len()
            .checked_div(self.classes.len())
            .unwrap_or(0);
        let detailed = self.verdicts.iter();
        let detailed = detailed
            .filter(|verdict| verdict.details().is_some())
            .count();
        let words = self.details.len().checked_div(detailed).unwrap_or(0);
        let mut sorted = Self::default();
        for (class, index, range) in groups {
            sorted.classes.push((class, range.len() as u32));
            let truths = self.truths.get(index * areas..(index + 1) * areas);
            sorted.truths.extend(truths.unwrap_or_default());
            let scores = self.scores.get(range.clone());
            sorted.scores.extend(scores.unwrap_or_default());
            for &verdict in self.verdicts.get(range).unwrap_or_default() {
                let Some(index) = verdict.details() else {
                    sorted.verdicts.push(verdict);
                    continue;
                };
                let position = sorted.details.len().checked_div(words).unwrap_or(0);
                sorted.verdicts.push(Verdict::detailed(position as u32));
                let start = index * words;
                let details = self.details.get(start..start + words);
                sorted.details.extend(details.unwrap_or_default());
            }
        }
        sorted
    }
}

/// A class, its index, and its detections.
type Group = (u32, usize, Range<usize>);
