use std::cmp::Reverse;
use std::collections::BTreeMap;

use metric_core::{Malformed, Reader, RowSource, WeightedRows, Writer, Written, fields, written};

use super::curves::{CONFIDENCES, ClassCurve, Ranked, best, confidence_at};
use super::matching::THRESHOLDS;
use super::score::{UltralyticsClass, UltralyticsScore, UltralyticsScores};
use super::{ObjectKind, Ultralytics, UltralyticsProfile, YoloShape};
use crate::by_image::{ByImage, Check};
use crate::classes::{
    ClassState, ClassTotals, InvalidIndices, Judged, Renumbering, is_ranked_by_order,
};
use crate::score::Rank;
use crate::{Key, Prediction, parallel};

/// The state of [`Ultralytics`]: for each image, by its key, the number of true objects of each class, and the thresholds
/// at which each detection is correct.
///
/// The same image twice counts twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UltralyticsState {
    images: ByImage<OfImage>,
}

/// One image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OfImage {
    pub(super) kind: ObjectKind,
    /// The number of detections beyond the most confident ones that count.
    pub(super) cut: u64,
    /// By class.
    pub(super) truths: Vec<(u32, u64)>,
    /// The most confident first.
    pub(super) found: Vec<Found>,
}

/// A detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    class: u32,
    confidence: Rank,
    /// The position of its image, where that is not the order of the keys.
    position: u32,
    /// The thresholds at which it is correct, one bit each: first as a box, then as a mask or a pose.
    correct: u32,
}

impl Found {
    pub(super) fn new(found: &Prediction<YoloShape>, confidence: f32, correct: u32) -> Self {
        Self {
            class: found.class,
            confidence: Rank::new(f64::from(confidence)),
            position: found.position,
            correct,
        }
    }

    /// The bits of a set of scores.
    fn correct(self, set: usize) -> u16 {
        const ALL: u32 = (1 << THRESHOLDS.len()) - 1;
        (self.correct >> (set * THRESHOLDS.len()) & ALL) as u16
    }
}

impl Check for OfImage {
    fn check(&self) -> Result<(), &'static str> {
        let of_image = 1..=u64::from(u32::MAX);
        if !self
            .truths
            .iter()
            .all(|(_, count)| of_image.contains(count))
        {
            return Err("expected a positive number of objects for each class");
        }
        if self.cut > u64::from(u32::MAX) {
            return Err("expected fewer detections");
        }
        if !self.truths.is_sorted_by(|(a, _), (b, _)| a < b) {
            return Err("expected the objects in rising order of their classes");
        }
        if !self
            .found
            .is_sorted_by_key(|found| Reverse(found.confidence))
        {
            return Err("expected the detections in falling order of their confidence");
        }
        let bits = self.kind.sets() * THRESHOLDS.len();
        let is_finite = |found: &Found| found.confidence.score().is_finite();
        if self
            .found
            .iter()
            .all(|found| is_finite(found) && found.correct >> bits == 0)
        {
            Ok(())
        } else {
            Err("expected finite confidences, and ten thresholds for each set of scores")
        }
    }
}

fields!(UltralyticsState { images });
written!(OfImage {
    kind,
    cut,
    truths,
    found
});
written!(Found {
    class,
    confidence,
    position,
    correct
});

/// The name of the kind.
impl Written for ObjectKind {
    fn write(&self, to: &mut Writer) {
        to.text(self.name());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let kind = from.text()?.parse();
        kind.map_err(|_| "expected a kind of objects".into())
    }
}

impl UltralyticsState {
    pub(super) fn insert(&mut self, key: Key, image: OfImage) {
        self.images.insert(key, image);
    }

    /// Returns the kind of the objects.
    #[must_use]
    pub fn kind(&self) -> ObjectKind {
        let kinds = self.images.unordered().map(|image| image.kind);
        kinds.max().unwrap_or_default()
    }

    /// Returns the number of detections that were left out because an image has more than count.
    #[must_use]
    pub fn cut(&self) -> u64 {
        let cut = self.images.unordered().map(|image| image.cut);
        cut.fold(0, u64::saturating_add)
    }

    /// Returns the lowest confidence of a detection.
    #[must_use]
    pub fn lowest_confidence(&self) -> Option<f64> {
        let last = self
            .images
            .unordered()
            .filter_map(|image| image.found.last());
        last.map(|found| found.confidence).min().map(Rank::score)
    }

    /// Returns the number of detections whose order among those of their class and confidence can change scores: there
    /// are both correct and incorrect ones.
    #[must_use]
    pub fn tied(&self) -> u64 {
        let mut ties: BTreeMap<(u32, Rank), [u64; 2]> = BTreeMap::new();
        for found in self.images.unordered().flat_map(|image| &image.found) {
            let is_correct = usize::from(found.correct & 1 == 1);
            ties.entry((found.class, found.confidence)).or_default()[is_correct] += 1;
        }
        let mixed = ties
            .values()
            .filter(|[wrong, right]| *wrong > 0 && *right > 0);
        mixed.map(|[wrong, right]| wrong + right).sum()
    }
}

impl ClassState for UltralyticsState {
    fn renumber_classes(&mut self, indices: &[u32]) -> Result<(), InvalidIndices> {
        let classes = self.images.unordered().flat_map(|image| {
            let truths = image.truths.iter().map(|&(class, _)| class);
            truths.chain(image.found.iter().map(|found| found.class))
        });
        let indices = Renumbering::new(indices, classes)?;
        for image in self.images.rows_mut() {
            for (class, _) in &mut image.truths {
                *class = indices.number(*class);
            }
            image.truths.sort_unstable();
            for found in &mut image.found {
                found.class = indices.number(found.class);
            }
        }
        Ok(())
    }

    fn class_totals(&self) -> BTreeMap<u32, ClassTotals> {
        let totals = self.images.unordered().flat_map(|image| {
            let truths = image.truths.iter();
            let truths = truths.map(|&(class, truths)| (class, ClassTotals::truths(truths)));
            let found = image.found.iter();
            truths.chain(found.map(|found| (found.class, ClassTotals::detections(1))))
        });
        ClassTotals::sum(totals)
    }

    fn is_ranked_by_order(&self) -> bool {
        let found = self.images.unordered().flat_map(|image| &image.found);
        is_ranked_by_order(found.map(|found| Judged {
            class: found.class,
            score: found.confidence,
            correct: u64::from(found.correct & 1),
            wrong: u64::from(!found.correct & 1),
        }))
    }
}

/// The objects and the detections of several states by class.
pub(super) struct Rows {
    kind: ObjectKind,
    /// The number of images by state.
    images: Vec<u64>,
    classes: BTreeMap<u32, OfClass>,
}

#[derive(Default)]
struct OfClass {
    /// The state and the number of objects of each image that has any.
    truths: Vec<(u32, u64)>,
    found: WeightedRows<Found>,
}

impl Rows {
    pub(super) fn new(states: &[&UltralyticsState]) -> Self {
        let mut kind = ObjectKind::default();
        let mut images = vec![0; states.len()];
        let mut classes: BTreeMap<u32, OfClass> = BTreeMap::new();
        let mut rows: BTreeMap<u32, Vec<(RowSource, Found)>> = BTreeMap::new();
        for (source, image) in ByImage::of_all(states.iter().map(|state| &state.images)) {
            kind = kind.max(image.kind);
            images[source.state as usize] += 1;
            for &(class, truths) in &image.truths {
                let of_class = classes.entry(class).or_default();
                of_class.truths.push((source.state, truths));
            }
            for found in &image.found {
                rows.entry(found.class).or_default().push((source, *found));
            }
        }
        for (class, rows) in rows {
            // Detections with equal keys stay in the order of their images.
            let key = |found: &Found| (Reverse(found.confidence), found.position);
            classes.entry(class).or_default().found = WeightedRows::new(rows, key);
        }
        Self {
            kind,
            images,
            classes,
        }
    }

    pub(super) fn score(&self, profile: UltralyticsProfile, weights: &[u64]) -> UltralyticsScore {
        let weight = |state: u32| weights.get(state as usize).copied().unwrap_or_default();
        let mut counts = BTreeMap::new();
        for (class, rows) in &self.classes {
            let mut of_class = [0_u64; 3];
            for &(state, truths) in &rows.truths {
                let times = weight(state);
                of_class[0] = of_class[0].saturating_add(times);
                of_class[1] = of_class[1].saturating_add(truths.saturating_mul(times));
            }
            let found = &mut of_class[2];
            rows.found
                .each_or_absent(weights, |_, times| *found = found.saturating_add(times));
            if of_class != [0; 3] {
                counts.insert(*class, of_class);
            }
        }
        let sum = |index: usize| {
            let counts = counts.values().map(|of_class| of_class[index]);
            counts.fold(0, u64::saturating_add)
        };
        let images = self.images.iter().zip(weights);
        let set = |set| self.set(set, profile, weights, &counts).scores();
        UltralyticsScore {
            kind: self.kind,
            boxes: set(0),
            second: self.kind.second().map(|_| set(1)),
            images: images
                .map(|(images, times)| images.saturating_mul(*times))
                .sum(),
            instances: sum(1),
            detections: sum(2),
            counts,
        }
    }

    /// The curves of a set of scores, of the classes that have objects.
    fn set(
        &self,
        set: usize,
        profile: UltralyticsProfile,
        weights: &[u64],
        counts: &BTreeMap<u32, [u64; 3]>,
    ) -> UltralyticsCurves {
        let with_objects = counts.iter().filter(|(_, [_, truths, _])| *truths > 0);
        let with_objects: Vec<(u32, u64)> = with_objects
            .map(|(class, [_, truths, _])| (*class, *truths))
            .collect();
        let curve = |index: usize| {
            let (class, truths) = with_objects[index];
            let mut ranking = Vec::new();
            if let Some(rows) = self.classes.get(&class) {
                rows.found.each(weights, |found, times| {
                    ranking.push(Ranked {
                        confidence: found.confidence.score(),
                        correct: found.correct(set),
                        times,
                    });
                });
            }
            (class, ClassCurve::new(truths, &ranking, profile.drops()))
        };
        UltralyticsCurves {
            classes: parallel::map(with_objects.len(), curve)
                .into_iter()
                .collect(),
        }
    }
}

/// The curves of precision and recall over confidence, at IoU 0.5, of each class that has objects.
pub struct UltralyticsCurves {
    classes: BTreeMap<u32, ClassCurve>,
}

impl UltralyticsCurves {
    /// Returns the index of each class in the list of classes, with its precisions and its recalls at the confidences
    /// 0, 1/999, ..., 1, and its average precisions at the ten thresholds.
    pub fn classes(&self) -> impl Iterator<Item = (u32, &[f64], &[f64], [f64; 10])> {
        let classes = self.classes.iter();
        classes.map(|(class, it)| (*class, &*it.precision, &*it.recall, it.average_precision))
    }

    /// Returns the F1 of these precisions and recalls, by class.
    pub fn f1(&self) -> impl Iterator<Item = (u32, Vec<f64>)> {
        self.classes
            .iter()
            .map(|(class, curve)| (*class, curve.f1()))
    }

    fn scores(&self) -> UltralyticsScores {
        let mut mean = vec![0.0; CONFIDENCES];
        for (_, f1) in self.f1() {
            mean.iter_mut().zip(f1).for_each(|(sum, f1)| *sum += f1);
        }
        let count = self.classes.len() as f64;
        mean.iter_mut().for_each(|sum| *sum /= count);
        let best = best(&mean);
        let class = |(class, curve): (&u32, &ClassCurve)| {
            let of_class = UltralyticsClass {
                precision: curve.precision[best],
                recall: curve.recall[best],
                average_precision: curve.average_precision,
            };
            (*class, of_class)
        };
        UltralyticsScores::of(
            self.classes.iter().map(class).collect(),
            confidence_at(best),
        )
    }
}

impl Ultralytics {
    /// Returns the curves of boxes, and those of masks or poses if the objects have them.
    #[must_use]
    pub fn curves(&self, state: &UltralyticsState) -> Vec<UltralyticsCurves> {
        let rows = Rows::new(&[state]);
        let counts = rows.score(self.profile(), &[1]).counts;
        let sets = 0..rows.kind.sets();
        sets.map(|set| rows.set(set, self.profile(), &[1], &counts))
            .collect()
    }

    /// Returns a function that takes a weight for each state, and returns the score of the states merged as many times
    /// as their weights say, as [`VocAp::weighted`](crate::VocAp::weighted) does.
    ///
    /// # Cost
    ///
    /// One sort for all weights. Each set of weights is a pass over the detections for each threshold.
    pub fn weighted(
        &self,
        states: &[&UltralyticsState],
    ) -> impl Fn(&[u64]) -> UltralyticsScore + use<> {
        let rows = Rows::new(states);
        let profile = self.profile();
        move |weights| rows.score(profile, weights)
    }
}
