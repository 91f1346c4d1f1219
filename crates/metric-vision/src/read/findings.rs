use std::collections::BTreeMap;

use metric_core::Merge;

use crate::tree::Bounds;
use crate::{Annotation, Image, Prediction, Shape};

/// A pattern in a data set that explains low or undefined scores, and that its reader accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Finding {
    /// An image.
    Image,
    /// An object of the ground truth.
    Object,
    /// An object that counts: neither a crowd nor left out of the count.
    CountedObject,
    /// A detection.
    Detection,
    /// An image with an object that counts.
    ImageWithObjects,
    /// Such an image without any detection.
    ImageWithoutDetections,
    /// A detection within the square from 0 to 1, where fractions of an image are.
    FractionDetection,
    /// An object within that square.
    FractionObject,
    /// A box or mask that counts, without width or height. It overlaps nothing.
    FlatObject,
    /// An object that counts, with the class and the shape of another one in its image.
    RepeatedObject,
    /// Keypoints that count, with the area 0. Detections of them are never similar.
    KeypointsWithoutArea,
    /// A detection that overlaps an object of its class with an IoU of at least 0.5.
    OwnClass,
    /// A detection that has such an IoU with objects of other classes only.
    OtherClass,
    /// Of these, a detection whose class has the number before that of the object.
    ClassBefore,
    /// A detection whose class has the number after that of the object.
    ClassAfter,
    /// A detection that was left out, of an image that has more objects than detections count.
    CutDetection,
    /// A detection that was left out, of any image.
    DetectionBeyondLimit,
    /// An image with detections that were left out.
    ImageBeyondLimit,
}

impl Finding {
    /// All findings.
    pub const ALL: [Self; 18] = [
        Self::Image,
        Self::Object,
        Self::CountedObject,
        Self::Detection,
        Self::ImageWithObjects,
        Self::ImageWithoutDetections,
        Self::FractionDetection,
        Self::FractionObject,
        Self::FlatObject,
        Self::RepeatedObject,
        Self::KeypointsWithoutArea,
        Self::OwnClass,
        Self::OtherClass,
        Self::ClassBefore,
        Self::ClassAfter,
        Self::CutDetection,
        Self::DetectionBeyondLimit,
        Self::ImageBeyondLimit,
    ];

    /// Returns a name for files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Image => "images",
            Self::Object => "objects",
            Self::CountedObject => "counted objects",
            Self::Detection => "detections",
            Self::ImageWithObjects => "images with objects",
            Self::ImageWithoutDetections => "images without detections",
            Self::FractionDetection => "detections in fractions",
            Self::FractionObject => "objects in fractions",
            Self::FlatObject => "flat objects",
            Self::RepeatedObject => "repeated objects",
            Self::KeypointsWithoutArea => "keypoints without area",
            Self::OwnClass => "own class",
            Self::OtherClass => "other class",
            Self::ClassBefore => "class before",
            Self::ClassAfter => "class after",
            Self::CutDetection => "cut detections",
            Self::DetectionBeyondLimit => "detections beyond the limit",
            Self::ImageBeyondLimit => "images beyond the limit",
        }
    }
}

/// The rules of a metric that decide which findings there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FindingRules {
    /// The greatest number of detections per image that count, if there is one.
    pub max_detections: Option<usize>,
    /// Whether that is the number per class.
    pub max_by_class: bool,
    /// Whether classes matter.
    pub by_class: bool,
}

impl Default for FindingRules {
    fn default() -> Self {
        Self {
            max_detections: None,
            max_by_class: true,
            by_class: true,
        }
    }
}

metric_core::setters!(FindingRules {
    with_max_detections => max_detections: Option<usize>,
    with_max_by_class => max_by_class: bool,
    with_by_class => by_class: bool,
});

/// How often each [`Finding`] applies to the images of a data set. The counts of its parts add up.
///
/// ```
/// use metric_vision::read::{Finding, FindingRules, Findings};
/// use metric_vision::{Annotation, BBox, Image, Prediction};
///
/// let shape = BBox::from_xywh(20.0, 30.0, 40.0, 50.0)?;
/// let image = Image::new(1, vec![Annotation::new(4, shape)]);
/// let mut findings = Findings::default();
/// // The class of the detection is the one before that of the object.
/// let number = |class: u32| Some(i64::from(class));
/// findings.add(&[Prediction::new(3, 0.9, shape)], &image, FindingRules::default(), number);
/// assert_eq!(findings.count(Finding::OtherClass), 1);
/// assert_eq!(findings.count(Finding::ClassBefore), 1);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings([u64; Finding::ALL.len()]);

/// The IoU at which a detection and an object are assumed to be the same thing.
const FOUND: f64 = 0.5;

/// In an image with more pairs of a detection and an object, classes are compared only for the detections with the
/// highest score.
const FEW_PAIRS: usize = 256;

/// With more pairs than these, classes are not compared: what is common shows in other images.
const MOST_PAIRS: usize = 1 << 16;

/// The length by which fractions of an image may leave it. Models and rounding exceed it by a little.
const SLACK: f64 = 0.1;

impl Findings {
    /// Returns how often a finding applies.
    #[must_use]
    pub fn count(&self, finding: Finding) -> u64 {
        self.0[finding as usize]
    }

    /// Adds the findings in an image. `number` gives the number that a class has as its key, if that is a number.
    ///
    /// # Cost
    ///
    /// Linear in the detections, except for up to 2^16 pairs of a detection and an object. Sorts the objects.
    pub fn add<S: Shape>(
        &mut self,
        detections: &[Prediction<S>],
        image: &Image<S>,
        rules: FindingRules,
        number: impl Fn(u32) -> Option<i64>,
    ) {
        let bounded = |it: &Prediction<S>| Prediction {
            image: it.image,
            position: it.position,
            class: it.class,
            score: it.score,
            area: it.area,
            shape: it.shape.bounds(),
        };
        let detections: Vec<_> = detections.iter().map(bounded).collect();
        let bounded = |it: &Annotation<S>| Annotation {
            class: it.class,
            crowd: it.crowd,
            ignore: it.ignore,
            id: it.id,
            area: it.area,
            shape: it.shape.bounds(),
        };
        let objects: Vec<_> = image.annotations.iter().map(bounded).collect();
        // Masks with the same bounds may differ.
        let shape = |index: usize| &image.annotations[index].shape;
        let are_equal = |a, b| S::IS_BOX || shape(a).iou(shape(b)) == 1.0;
        self.add_bounds(&detections, &objects, &are_equal, rules, &number);
    }

    /// Adds the findings in an image of any shapes, of which `are_equal` compares those of two objects with the same
    /// bounds.
    fn add_bounds(
        &mut self,
        detections: &[Prediction<Bounds>],
        objects: &[Annotation<Bounds>],
        are_equal: &dyn Fn(usize, usize) -> bool,
        rules: FindingRules,
        number: &dyn Fn(u32) -> Option<i64>,
    ) {
        let indexed = objects.iter().enumerate();
        let counted: Vec<_> = indexed
            .filter(|(_, object)| !object.crowd && !object.ignore)
            .collect();
        self.note(Finding::Image, 1);
        self.note(Finding::Object, objects.len() as u64);
        self.note(Finding::CountedObject, counted.len() as u64);
        self.note(Finding::Detection, detections.len() as u64);
        let fractions = |bounds, area| u64::from(is_in_fractions(bounds, area));
        let found = detections.iter().map(|it| fractions(it.shape, it.area));
        self.note(Finding::FractionDetection, found.sum());
        let in_fractions = objects.iter().map(|it| fractions(it.shape, it.area));
        self.note(Finding::FractionObject, in_fractions.sum());
        let beyond = beyond_limit(detections, rules);
        self.note(Finding::DetectionBeyondLimit, beyond);
        self.note(Finding::ImageBeyondLimit, u64::from(beyond > 0));
        if counted.is_empty() {
            return;
        }
        self.note(Finding::ImageWithObjects, 1);
        let without = u64::from(detections.is_empty());
        self.note(Finding::ImageWithoutDetections, without);
        self.add_objects(&counted, are_equal);
        self.note(Finding::CutDetection, cut(detections, &counted, rules));
        if rules.by_class {
            self.add_classes(detections, objects, number);
        }
    }

    fn note(&mut self, finding: Finding, times: u64) {
        self.0[finding as usize] += times;
    }

    /// Adds the findings about the shapes of objects.
    fn add_objects(
        &mut self,
        counted: &[(usize, &Annotation<Bounds>)],
        are_equal: &dyn Fn(usize, usize) -> bool,
    ) {
        let mut shapes = Vec::with_capacity(counted.len());
        for &(index, object) in counted {
            let bounds = object.shape;
            let [left, top, right, bottom] = bounds;
            if has_bounds(bounds) {
                let is_flat = left == right || top == bottom;
                self.note(Finding::FlatObject, u64::from(is_flat));
                shapes.push((object.class, bounds.map(f64::to_bits), index));
            } else {
                let is_point = object.area == 0.0;
                self.note(Finding::KeypointsWithoutArea, u64::from(is_point));
            }
        }
        shapes.sort_unstable_by_key(|&(class, bounds, _)| (class, bounds));
        let repeated = shapes.windows(2).filter(|pair| {
            let [(class, bounds, index), (other_class, other_bounds, other)] = pair else {
                return false;
            };
            (class, bounds) == (other_class, other_bounds) && are_equal(*index, *other)
        });
        self.note(Finding::RepeatedObject, repeated.count() as u64);
    }

    /// Adds the findings about the classes of detections that overlap objects.
    fn add_classes(
        &mut self,
        detections: &[Prediction<Bounds>],
        objects: &[Annotation<Bounds>],
        number: &dyn Fn(u32) -> Option<i64>,
    ) {
        let scores = detections.iter().map(|detection| detection.score);
        let best = scores.fold(f64::NEG_INFINITY, f64::max);
        let is_few = detections.len().saturating_mul(objects.len()) <= FEW_PAIRS;
        let compared = |detection: &&Prediction<Bounds>| is_few || detection.score >= best;
        let compared: Vec<_> = detections.iter().filter(compared).collect();
        if compared.len().saturating_mul(objects.len()) > MOST_PAIRS {
            return;
        }
        for detection in compared {
            let (mut is_own, mut nearest) = (false, None);
            for object in objects {
                let iou = overlap(detection.shape, object.shape);
                is_own |= iou >= FOUND && object.class == detection.class;
                if iou >= FOUND && nearest.is_none_or(|(other, _)| iou > other) {
                    nearest = Some((iou, object.class));
                }
            }
            match nearest {
                Some(_) if is_own => self.note(Finding::OwnClass, 1),
                Some((_, class)) => {
                    self.note(Finding::OtherClass, 1);
                    let shift = number(detection.class).zip(number(class));
                    match shift.map(|(own, other)| own.saturating_sub(other)) {
                        Some(-1) => self.note(Finding::ClassBefore, 1),
                        Some(1) => self.note(Finding::ClassAfter, 1),
                        _ => {}
                    }
                }
                None => {}
            }
        }
    }
}

/// The counts of parts of a data set add up.
impl Merge for Findings {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        for (ours, theirs) in self.0.iter_mut().zip(other.0) {
            *ours += theirs * times;
        }
    }
}

/// Whether a shape has bounds, as all except keypoints have.
fn has_bounds(bounds: Bounds) -> bool {
    bounds.iter().all(|bound| bound.is_finite())
}

/// Whether a shape with these bounds and this area has an area and lies where fractions of an image are.
fn is_in_fractions(bounds: Bounds, area: f64) -> bool {
    let [left, top, right, bottom] = bounds;
    let is_inside =
        left >= -SLACK && top >= -SLACK && right <= 1.0 + SLACK && bottom <= 1.0 + SLACK;
    let has_size = left < right && top < bottom;
    if has_bounds(bounds) {
        is_inside && has_size
    } else {
        area > 0.0 && area <= 1.0
    }
}

/// The IoU of the bounds of two shapes; 0 for shapes without bounds.
fn overlap(a: Bounds, b: Bounds) -> f64 {
    let width = a[2].min(b[2]) - a[0].max(b[0]);
    let height = a[3].min(b[3]) - a[1].max(b[1]);
    if !(width > 0.0 && height > 0.0) {
        return 0.0;
    }
    let area = |it: Bounds| (it[2] - it[0]) * (it[3] - it[1]);
    let common = width * height;
    let iou = common / (area(a) + area(b) - common);
    if iou.is_finite() { iou } else { 0.0 }
}

/// The number of detections that do not count.
fn beyond_limit(detections: &[Prediction<Bounds>], rules: FindingRules) -> u64 {
    let Some(most) = rules.max_detections else {
        return 0;
    };
    // Nearly all images have far fewer.
    let beyond = detections.len().saturating_sub(most);
    if beyond == 0 || !rules.max_by_class {
        return beyond as u64;
    }
    let mut by_class: BTreeMap<u32, usize> = BTreeMap::new();
    for detection in detections {
        *by_class.entry(detection.class).or_default() += 1;
    }
    let beyond = by_class
        .into_values()
        .map(|found| found.saturating_sub(most));
    beyond.map(|beyond| beyond as u64).sum()
}

/// The number of detections that do not count, of classes that have more objects in the image than detections count.
fn cut(
    detections: &[Prediction<Bounds>],
    counted: &[(usize, &Annotation<Bounds>)],
    rules: FindingRules,
) -> u64 {
    let Some(most) = rules.max_detections else {
        return 0;
    };
    // Nearly all images have far fewer.
    if counted.len() <= most || detections.len() <= most {
        return 0;
    }
    if !rules.max_by_class {
        return (detections.len() - most) as u64;
    }
    let mut by_class: BTreeMap<u32, [usize; 2]> = BTreeMap::new();
    for (_, object) in counted {
        by_class.entry(object.class).or_default()[0] += 1;
    }
    for detection in detections {
        by_class.entry(detection.class).or_default()[1] += 1;
    }
    let by_class = by_class.into_values();
    let cut = by_class.filter(|&[objects, detections]| objects > most && detections > most);
    cut.map(|[_, detections]| (detections - most) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BBox;

    fn shape([x, y, width, height]: [f64; 4]) -> BBox {
        BBox::from_xywh(x, y, width, height).expect("a box")
    }

    /// The findings in an image with these objects and detections: classes and boxes.
    fn findings(
        objects: &[(u32, [f64; 4])],
        detections: &[(u32, [f64; 4])],
        rules: FindingRules,
    ) -> Findings {
        let objects = objects.iter();
        let objects = objects.map(|&(class, xywh)| Annotation::new(class, shape(xywh)));
        let detections = detections.iter();
        let detections = detections.map(|&(class, xywh)| Prediction::new(class, 0.5, shape(xywh)));
        let detections: Vec<_> = detections.collect();
        let mut findings = Findings::default();
        let image = Image::new(1, objects.collect());
        findings.add(&detections, &image, rules, |class| Some(class.into()));
        findings
    }

    #[track_caller]
    fn check(found: &Findings, expected: &[(Finding, u64)]) {
        for &(finding, count) in expected {
            assert_eq!(found.count(finding), count, "{finding:?}");
        }
    }

    const A: [f64; 4] = [10.0, 10.0, 20.0, 20.0];
    const B: [f64; 4] = [50.0, 10.0, 20.0, 20.0];
    const NEAR_A: [f64; 4] = [11.0, 10.0, 20.0, 20.0];

    #[test]
    fn names_differ() {
        let mut names = Finding::ALL.map(Finding::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Finding::ALL.len());
        let places = Finding::ALL.map(|finding| finding as usize);
        assert!(places.into_iter().eq(0..Finding::ALL.len()));
    }

    #[test]
    fn classes_of_overlapping_objects() {
        let rules = FindingRules::default();
        let shifted = findings(&[(1, A), (2, B)], &[(0, NEAR_A), (1, B)], rules);
        check(
            &shifted,
            &[
                (Finding::OtherClass, 2),
                (Finding::ClassBefore, 2),
                (Finding::OwnClass, 0),
            ],
        );
        // An object of the own class is enough, and boxes that hardly overlap are not compared.
        let own = findings(&[(1, A), (2, A)], &[(1, NEAR_A), (4, B)], rules);
        check(&own, &[(Finding::OwnClass, 1), (Finding::OtherClass, 0)]);
        let after = findings(&[(1, A)], &[(2, A)], rules);
        check(
            &after,
            &[(Finding::ClassAfter, 1), (Finding::OtherClass, 1)],
        );
        let agnostic = findings(&[(1, A)], &[(2, A)], rules.with_by_class(false));
        check(&agnostic, &[(Finding::OtherClass, 0)]);
    }

    #[test]
    fn objects_without_size_and_twice() {
        let flat = [30.0, 30.0, 0.0, 5.0];
        let found = findings(
            &[(1, A), (1, flat), (1, A), (2, A)],
            &[],
            FindingRules::default(),
        );
        check(
            &found,
            &[
                (Finding::FlatObject, 1),
                (Finding::RepeatedObject, 1),
                (Finding::ImageWithoutDetections, 1),
                (Finding::ImageWithObjects, 1),
                (Finding::CountedObject, 4),
            ],
        );
    }

    #[test]
    fn fractions_are_within_one() {
        let found = findings(
            &[(1, A)],
            &[(1, [0.1, 0.1, 0.2, 0.2]), (1, [0.0; 4]), (1, B)],
            FindingRules::default(),
        );
        check(
            &found,
            &[
                (Finding::FractionDetection, 1),
                (Finding::FractionObject, 0),
            ],
        );
    }

    #[test]
    fn detections_beyond_the_number_that_counts() {
        let objects = [(1, A), (1, B), (1, NEAR_A), (2, A)];
        let detections = [(1, A), (1, B), (1, NEAR_A), (2, A)];
        let rules = FindingRules::default().with_max_detections(Some(2));
        let by_class = findings(&objects, &detections, rules);
        let beyond = |times| (Finding::DetectionBeyondLimit, times);
        check(&by_class, &[(Finding::CutDetection, 1), beyond(1)]);
        check(&by_class, &[(Finding::ImageBeyondLimit, 1)]);
        let of_image = findings(&objects, &detections, rules.with_max_by_class(false));
        check(&of_image, &[(Finding::CutDetection, 2), beyond(2)]);
        // Where no more objects are there to be found, nothing is lost.
        let few = findings(&objects[..2], &detections, rules);
        check(&few, &[(Finding::CutDetection, 0), beyond(1)]);
    }
}
