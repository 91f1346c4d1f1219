//! Warnings about patterns in a data set that explain low or undefined scores.

use metric_core::Merge;
use metric_record::{Message, NAMED_IDS, quoted_id};
use metric_vision::read::{Finding, Findings, OtherOrder, Warning, Warnings};
use metric_vision::{ClassTotals, Key};

use super::selection::IMAGES_LIST;
use crate::{Counted, Reading, Remarks, Sink};

/// What is worth knowing of images that were read.
#[derive(Default)]
pub(crate) struct Observations {
    pub(super) findings: Findings,
    /// The fit of the numbers of boxes in each other [`Order`].
    pub(super) orders: [OtherOrder; 2],
    /// What the reader corrected or left out.
    warnings: Warnings,
}

impl Observations {
    pub(super) fn of(warnings: Warnings) -> Self {
        Self {
            warnings,
            ..Self::default()
        }
    }

    /// Adds what was observed of other images, except for the warnings of their reader.
    pub(super) fn merge(&mut self, other: &Self) {
        self.findings.merge_times(&other.findings, 1);
        for (ours, theirs) in self.orders.iter_mut().zip(&other.orders) {
            ours.merge_times(theirs, 1);
        }
    }

    /// Notes it for the warnings about the whole data set.
    pub(crate) fn note<R: Reading>(&self, sink: &mut Sink<'_, R>) {
        for finding in Finding::ALL {
            sink.tally(finding.name(), self.findings.count(finding));
        }
        for (order, counts) in ORDERS.iter().zip(&self.orders) {
            let &OtherOrder {
                detections,
                without,
                hits,
                other_hits,
            } = counts;
            let counts = [detections, without, hits, other_hits];
            for (name, count) in order.tallies.into_iter().zip(counts) {
                sink.tally(name, count);
            }
        }
        for (warning, &times) in &self.warnings {
            match warning {
                Warning::UnknownClass(class) => {
                    sink.count_name(&unknown_classes(), &class.to_string(), times);
                }
                Warning::ZeroId => sink.tally(ZERO_ID, times),
                Warning::OtherSize => sink.tally(OTHER_SIZE, times),
                Warning::IgnoredTruth => sink.tally(IGNORED, times),
                Warning::MissingNegatives => sink.tally(NO_NEGATIVES, times),
                Warning::PointAtOrigin => sink.tally(POINTS_AT_ORIGIN, times),
                warning => {
                    let [one, several] = warning.texts();
                    sink.count(&Counted::new(one, several), times);
                }
            }
        }
    }
}

/// The number of images that a list selects.
#[derive(Clone, Copy, Default)]
pub(super) struct Selected {
    pub(super) images: u64,
    /// The number of all images.
    pub(super) of_images: u64,
    /// The number of detections in other images.
    pub(super) detections: u64,
    /// The sum of the hashes of the images, which is that of their parts.
    pub(super) hashes: u64,
}

/// The part of a signature that tells lists of one name apart.
pub(super) const SELECTION: &str = "selected";

/// The names of the tallies of [`Selected`].
const SELECTED: [&str; 4] = [
    "selected images",
    "images before selection",
    "detections without selection",
    "hashes of selected images",
];

impl Selected {
    /// Notes it for the warning.
    pub(super) fn note<R: Reading>(self, sink: &mut Sink<'_, R>) {
        let counts = [self.images, self.of_images, self.detections, self.hashes];
        for (name, count) in SELECTED.into_iter().zip(counts) {
            sink.tally(name, count);
        }
    }

    /// What tells the selection apart: the number of images, and digits of their hashes.
    pub(super) fn known(remarks: Remarks<'_>) -> String {
        let [images, _, _, hashes] = SELECTED.map(|name| remarks.tally(name));
        format!("{images}-{:08x}", hashes as u32)
    }

    /// The warning that scores are those of a part.
    fn warning(remarks: Remarks<'_>) -> Option<Message> {
        let [images, of_images, detections, _] = SELECTED.map(|name| remarks.tally(name));
        let message = Message::from(format!("selected {images} of {of_images} images by "))
            .option(IMAGES_LIST.name, "");
        let left = Counted::new(
            "detection in another image was left out",
            "detections in other images were left out",
        );
        let left = Counted::warnings([(detections, left)]).next();
        let message = match left {
            Some(left) => message.text("; ").message(&left),
            None => message,
        };
        (of_images > 0).then_some(message)
    }
}

/// The tally of objects with the id 0.
const ZERO_ID: &str = "id 0";

/// The tally of masks of another size than their images.
const OTHER_SIZE: &str = "other size";

/// The tally of objects that the field `ignore` leaves out of the count.
const IGNORED: &str = "ignored objects";

/// The tally of images of federated data that do not list the classes that are absent.
const NO_NEGATIVES: &str = "no negatives";

/// The tally of points of detected poses that are at (0, 0).
pub(crate) const POINTS_AT_ORIGIN: &str = "points at (0, 0)";

/// The note of detections whose classes a list of classes lacks.
fn unknown_classes() -> Counted {
    Counted::new(
        "detection is of a class that the ground truth does not list, and was left out",
        "detections are of classes that the ground truth does not list, and were left out",
    )
}

/// Another order of the numbers of boxes that other programs write, in files that do not say what their numbers are.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    /// Two corners in COCO's results.
    Corners,
    /// The confidence as the second column of YOLO's files.
    Yolo,
}

/// What is noted of an [`Order`], and what is said of it.
struct NotedOrder {
    /// The names of the tallies of an [`OtherOrder`].
    tallies: [&'static str; 4],
    /// The words for one detection that matches only in this order, and for several.
    words: [&'static str; 2],
}

const ORDERS: [NotedOrder; 2] = [
    NotedOrder {
        tallies: [
            "coco detections",
            "coco no corners",
            "coco hits",
            "coco corner hits",
        ],
        words: [
            "detection matches the ground truth only if its box is [x1, y1, x2, y2]; expected [x, y, width, height]",
            "detections match the ground truth only if their boxes are [x1, y1, x2, y2]; expected [x, y, width, height]",
        ],
    },
    NotedOrder {
        tallies: [
            "yolo detections",
            "yolo swapped outside",
            "yolo hits",
            "yolo swapped hits",
        ],
        words: [
            "line of the predictions matches the ground truth only if its second column is the confidence; expected class cx cy width height confidence, so move the second column to the end if it is",
            "lines of the predictions match the ground truth only if their second column is the confidence; expected class cx cy width height confidence, so move the second column to the end if it is",
        ],
    },
];

/// The warning about boxes whose numbers seem to be in another order.
fn other_order(order: &NotedOrder, remarks: Remarks<'_>) -> Option<Message> {
    let [detections, without, hits, other_hits] = order.tallies.map(|name| remarks.tally(name));
    let counts = OtherOrder {
        detections,
        without,
        hits,
        other_hits,
    };
    let [one, several] = order.words;
    let words = Counted::new(one, several);
    counts.seems_meant().then(|| words.warning(other_hits))
}

/// The number that a key is, if it is one.
pub(super) fn number(key: &Key) -> Option<i64> {
    match key {
        Key::Number(number) => Some(*number),
        Key::Text(_) => None,
    }
}

/// How a metric finds the objects of an image.
#[derive(Clone, Copy, Default)]
pub(crate) enum Finds {
    /// Each object is found by a detection of its own.
    #[default]
    OneToOne,
    /// A detection finds nothing but the object that it overlaps most, the first among equals.
    Nearest,
    /// A detection is correct if it overlaps any object.
    AnyOverlap,
    /// Each object counts once, however often it is there.
    Distinct,
}

/// The part of a metric's definition that its warnings depend on.
#[derive(Clone, Copy, Default)]
pub(crate) struct WarningRules {
    /// The clause that names the scores that are undefined if no object counts.
    pub(crate) undefined: &'static str,
    /// How objects are found.
    pub(crate) finds: Finds,
    /// Whether boxes without width or height have an area.
    pub(crate) pixel_plus_one: bool,
    /// Whether the option `quirks` gives the numbers of pycocotools, and is not set.
    pub(crate) lacks_quirks: bool,
    /// Whether scores of nothing are defined.
    pub(crate) scores_nothing: bool,
    /// Whether objects without an area are left out.
    pub(crate) drops_flat: bool,
}

impl WarningRules {
    /// The rules of most metrics. `undefined` says which scores are undefined if no object counts.
    pub(crate) fn new(undefined: &'static str) -> Self {
        Self {
            undefined,
            ..Self::default()
        }
    }
}

/// A class of a data set with the number of its objects.
pub(crate) struct OfClass {
    pub(crate) name: String,
    /// Whether a list has the class, and not only objects.
    pub(crate) is_listed: bool,
    pub(crate) totals: ClassTotals,
}

/// Returns the warnings about classes that only detections have, about the order of the numbers of boxes, and about
/// other patterns that explain low scores. A class that the ground truth lists is not one of the former, even if it has
/// no object. Scores may be ranked only by the order of the detections.
pub(crate) fn data_warnings(
    classes: &[OfClass],
    is_ranked_by_order: bool,
    remarks: Remarks<'_>,
    rules: WarningRules,
) -> Vec<Message> {
    let count = |finding: Finding| remarks.tally(finding.name());
    let left_out = remarks.times(&unknown_classes());
    let mut warnings: Vec<Message> = Selected::warning(remarks).into_iter().collect();
    warnings.extend(lacking_classes(classes, left_out));
    let mut orders = ORDERS.iter();
    warnings.extend(orders.find_map(|order| other_order(order, remarks)));
    if !rules.scores_nothing {
        warnings.extend(nothing_counts(count, rules.undefined));
    }
    if left_out == 0 {
        warnings.extend(without_detections(count));
    }
    warnings.extend(other_classes(count, has_no_common_class(classes)));
    warnings.extend(fractions(count));
    let only_if = |is_so, times| if is_so { times } else { 0 };
    let flat = only_if(
        !rules.pixel_plus_one && !rules.drops_flat,
        count(Finding::FlatObject),
    );
    let ignored = Warning::IgnoredTruth.texts();
    let quirks = rules.lacks_quirks.then_some(QUIRKS);
    warnings.extend(with_hints([
        (remarks.tally(IGNORED), ignored, quirks),
        (flat, rules.finds.flat(), None),
        (count(Finding::RepeatedObject), rules.finds.repeated(), None),
        (count(Finding::KeypointsWithoutArea), [
            "ground-truth object with keypoints has the area 0, by which distances are divided: only exact points are found",
            "ground-truth objects with keypoints have the area 0, by which distances are divided: only exact points are found",
        ], None),
        (count(Finding::CutDetection), [
            "detection was left out in an image that has more objects than detections count",
            "detections were left out in images that have more objects than detections count",
        ], Some(("; to count more, raise ", "max-detections", ""))),
    ]));
    let no_negatives = remarks.tally(NO_NEGATIVES);
    let [one, several] = Warning::MissingNegatives.texts();
    let negatives = Counted::new(one, several);
    let like_coco = if no_negatives == count(Finding::Image) {
        "; this looks like COCO ground truth, for which there is the metric coco"
    } else {
        ""
    };
    let negatives = Counted::warnings([(no_negatives, negatives)]);
    warnings.extend(negatives.map(|warning| warning.text(like_coco)));
    warnings.extend(is_ranked_by_order.then(|| Message::from(
        "all detections of a class have the same score, so average precision depends on their order in the data",
    )));
    // Only COCO's metric looks at ids and at the sizes of masks.
    warnings.extend(with_hints([
        (only_if(rules.lacks_quirks, remarks.tally(ZERO_ID)), [
            "object of the ground truth has the id 0, which pycocotools never counts as found",
            "objects of the ground truth have the id 0, which pycocotools never counts as found",
        ], quirks),
        (remarks.tally(OTHER_SIZE), [
            "mask is not of the size of its image; it overlaps only masks of its own size",
            "masks are not of the size of their images; they overlap only masks of their own size",
        ], None),
    ]));
    warnings
}

/// The note that a limit left out detections, and in how many images, which are tallied if they are not given.
pub(crate) fn limit_note(beyond: Option<[u64; 2]>, remarks: Remarks<'_>) -> Option<Message> {
    let tallied = [Finding::DetectionBeyondLimit, Finding::ImageBeyondLimit];
    let tallied = tallied.map(|finding| remarks.tally(finding.name()));
    let [detections, images] = beyond.unwrap_or(tallied);
    let left_out = Counted::new("detection", "detections").warning(detections);
    let of_images = Counted::new("image", "images").warning(images);
    let note = Message::default().option("max-detections", "");
    let note = note.text(" left out ").message(&left_out);
    let note = note.text(" in ").message(&of_images);
    (detections > 0).then_some(note)
}

/// The end of a warning that says what to do: words and the option after them.
type Hint = (&'static str, &'static str, &'static str);

const QUIRKS: Hint = ("; to get its numbers, use ", "quirks", "pycocotools");

/// The warnings about what happened at all: how often, the words for one case and several, and a hint.
fn with_hints<const N: usize>(
    counted: [(u64, [&'static str; 2], Option<Hint>); N],
) -> impl Iterator<Item = Message> {
    let counted = counted.map(|(times, words, hint)| {
        let [one, several] = words.map(|words| match hint {
            Some((lead, option, value)) => Message::from(words).text(lead).option(option, value),
            None => Message::from(words),
        });
        (times, Counted::new(one, several))
    });
    Counted::warnings(counted)
}

impl Finds {
    /// The words for one object without width or height, and for several.
    const fn flat(self) -> [&'static str; 2] {
        match self {
            Self::OneToOne | Self::Nearest | Self::Distinct => [
                "ground-truth object has no width or height; it overlaps nothing, and counts as missed",
                "ground-truth objects have no width or height; they overlap nothing, and count as missed",
            ],
            // Some rules only count how many detections there are.
            Self::AnyOverlap => [
                "ground-truth object has no width or height; it overlaps nothing, so no detection of it is correct",
                "ground-truth objects have no width or height; they overlap nothing, so no detection of them is correct",
            ],
        }
    }

    /// The words for one object that is in its image again, and for several.
    const fn repeated(self) -> [&'static str; 2] {
        match self {
            Self::OneToOne => [
                "ground-truth object is in its image twice, with the same class and shape; it needs two detections",
                "ground-truth objects are in their images again, with the same class and shape; each needs a detection of its own",
            ],
            Self::Nearest => [
                "ground-truth object is in its image twice, with the same class and shape; the second one always counts as missed",
                "ground-truth objects are in their images again, with the same class and shape; all but the first always count as missed",
            ],
            Self::Distinct => [
                "ground-truth object is in its image twice, with the same class and shape; it counts once",
                "ground-truth objects are in their images again, with the same class and shape; they count once",
            ],
            Self::AnyOverlap => [
                "ground-truth object is in its image twice, with the same class and shape; one detection is enough to overlap both",
                "ground-truth objects are in their images again, with the same class and shape; one detection is enough to overlap all that are equal",
            ],
        }
    }
}

/// Returns the warnings about classes that only detections have, given how many detections were left out for
/// their classes.
fn lacking_classes(classes: &[OfClass], left_out: u64) -> Vec<Message> {
    let named = |count: fn(&OfClass) -> u64| {
        let counted = classes.iter().map(|class| (&class.name, count(class)));
        let counted: Vec<_> = counted.filter(|&(_, count)| count > 0).collect();
        let sum: u64 = counted.iter().map(|&(_, count)| count).sum();
        (with_counts(&counted), sum)
    };
    let (truths, all_truths) = named(|class| class.totals.truths);
    let (lacking, detections) = named(|class| match class.totals.truths {
        0 if !class.is_listed => class.totals.detections,
        _ => 0,
    });
    let mut warnings = Vec::new();
    if detections > 0 {
        let what = Counted::new(
            "detection is of a class of which the ground truth has no object",
            "detections are of classes of which the ground truth has no object",
        );
        warnings.push(what.warning(detections).text(": ").text(lacking));
    }
    if all_truths > 0 && has_no_common_class(classes) && detections + left_out > 0 {
        warnings.push(Message::from(format!(
            "NO CLASS IN COMMON: no detection is of a class of the ground truth, which has {truths}"
        )));
    }
    warnings
}

/// Whether no detection is of a class of the ground truth.
fn has_no_common_class(classes: &[OfClass]) -> bool {
    let mut of_truth = classes
        .iter()
        .filter(|class| class.totals.truths > 0 || class.is_listed);
    of_truth.all(|class| class.totals.detections == 0)
}

/// The first few classes, each with its count.
fn with_counts(classes: &[(&String, u64)]) -> String {
    let named = classes.iter().take(NAMED_IDS);
    let named: Vec<_> = named
        .map(|(name, count)| format!("{} ({count})", quoted_id(name)))
        .collect();
    let more = if classes.len() > NAMED_IDS {
        ", ..."
    } else {
        ""
    };
    format!("{}{more}", named.join(", "))
}

/// The warning about scores that are undefined because no object counts.
fn nothing_counts(count: impl Fn(Finding) -> u64, undefined: &str) -> Option<Message> {
    if count(Finding::Image) == 0 || count(Finding::CountedObject) > 0 {
        return None;
    }
    let why = match count(Finding::Object) {
        0 => "there are none".to_owned(),
        1 => "the only one is a crowd or left out of the count".to_owned(),
        objects => format!("all {objects} are crowds or left out of the count"),
    };
    Some(Message::from(format!(
        "no ground-truth object counts ({why}), so {undefined}"
    )))
}

/// The warning about many images without any detection.
fn without_detections(count: impl Fn(Finding) -> u64) -> Option<Message> {
    let images = count(Finding::ImageWithObjects);
    let without = count(Finding::ImageWithoutDetections);
    let are_many = without == images || without > 1 && without.saturating_mul(3) >= images;
    let verb = if without == 1 { "has" } else { "have" };
    let noun = if images == 1 { "image" } else { "images" };
    (without > 0 && are_many).then(|| {
        Message::from(format!(
            "{without} of {images} {noun} with ground-truth objects {verb} no detection"
        ))
    })
}

/// The warning about detections that overlap objects of other classes only.
fn other_classes(count: impl Fn(Finding) -> u64, has_no_common_class: bool) -> Option<Message> {
    let (own, other) = (count(Finding::OwnClass), count(Finding::OtherClass));
    if other < 2 || own.saturating_mul(20) > other {
        return None;
    }
    let is_shift = |finding| count(finding).saturating_mul(20) >= other.saturating_mul(19);
    let shift = if is_shift(Finding::ClassBefore) {
        "; their class ids are 1 less than those of the objects, so they seem to be shifted"
    } else if is_shift(Finding::ClassAfter) {
        "; their class ids are 1 more than those of the objects, so they seem to be shifted"
    } else if has_no_common_class {
        return None;
    } else {
        "; check that predictions and ground truth number their classes alike"
    };
    Some(Message::from(format!(
        "{other} detections overlap ground-truth objects of other classes only{shift}"
    )))
}

/// The warning about fractions on one side and pixels on the other.
fn fractions(count: impl Fn(Finding) -> u64) -> Option<Message> {
    let (objects, detections) = (count(Finding::Object), count(Finding::Detection));
    if objects == 0 || detections == 0 {
        return None;
    }
    let of_objects = (count(Finding::FractionObject), objects);
    let of_detections = (count(Finding::FractionDetection), detections);
    let are_most = |(part, all): (u64, u64)| part.saturating_mul(20) >= all.saturating_mul(19);
    let are_few = |(part, all): (u64, u64)| part.saturating_mul(20) <= all;
    let [inside, outside] = if are_most(of_detections) && are_few(of_objects) {
        ["detections", "ground truth"]
    } else if are_most(of_objects) && are_few(of_detections) {
        ["ground truth", "detections"]
    } else {
        return None;
    };
    Some(Message::from(format!(
        "coordinates of the {inside} are within 0 and 1, as fractions of the image are, and those of the {outside} are in pixels: expected the same units"
    )))
}

#[cfg(test)]
mod tests {
    use metric_record::Document;
    use serde_json::{Value, json};

    use crate::metrics::coco::COCO;
    use crate::metrics::confusion_matrix::CONFUSION_MATRIX;
    use crate::metrics::detection::DETECTION;
    use crate::metrics::tide::TIDE;
    use crate::metrics::voc::VOC;
    use crate::{DataSet, Entry, Options};

    const ALL: [&Entry; 5] = [&COCO, &VOC, &TIDE, &CONFUSION_MATRIX, &DETECTION];

    /// The warnings about files with these annotations and results.
    fn warnings(
        entry: &Entry,
        options: &[(&str, &str)],
        annotations: &[Value],
        results: &[Value],
    ) -> Vec<String> {
        let image = |id: u32| json!({"id": id, "width": 400, "height": 400});
        let class = |id: u32| json!({"id": id, "name": format!("c{id}")});
        let truth = json!({
            "images": [image(1), image(2), image(3)],
            "categories": [class(0), class(1), class(2), class(3)],
            "annotations": annotations,
        });
        let options = options.iter();
        let options = options.fold(Options::default(), |chosen, (name, value)| {
            chosen.set(name, *value)
        });
        let scorer = entry.scorer(&options).expect("a metric");
        let data = DataSet::new(
            Document::text("truth.json", truth.to_string()),
            Document::text("results.json", json!(results).to_string()),
        );
        let mut part = scorer.read_data_set(data, false).expect("a data set");
        let mut state = scorer.start();
        assert!(state.add(&mut part).is_ok());
        let warnings = state.report().warnings;
        warnings.iter().map(ToString::to_string).collect()
    }

    /// Checks the warnings of each of these metrics.
    #[track_caller]
    fn check(entries: &[&Entry], annotations: &[Value], results: &[Value], expected: &[&str]) {
        for entry in entries {
            let found = warnings(entry, &[], annotations, results);
            assert_eq!(found, expected, "{}", entry.name);
        }
    }

    fn object(id: u32, image: u32, class: u32, bbox: [f64; 4]) -> Value {
        let [_, _, width, height] = bbox;
        json!({
            "id": id, "image_id": image, "category_id": class, "bbox": bbox, "area": width * height, "iscrowd": 0
        })
    }

    fn found(image: u32, class: u32, bbox: [f64; 4], score: f64) -> Value {
        json!({"image_id": image, "category_id": class, "bbox": bbox, "score": score})
    }

    const A: [f64; 4] = [10.0, 20.0, 30.0, 40.0];
    const B: [f64; 4] = [200.0, 50.0, 80.0, 60.0];

    #[test]
    fn ordinary_data_have_none() {
        let objects = [object(1, 1, 1, A), object(2, 2, 2, B), object(3, 3, 1, A)];
        let results = [
            found(1, 1, A, 0.9),
            found(2, 2, B, 0.8),
            found(2, 1, A, 0.3),
        ];
        // One of three images without a detection is not many.
        check(&ALL, &objects, &results, &[]);
    }

    #[test]
    fn classes_that_are_shifted() {
        let objects = [object(1, 1, 1, A), object(2, 2, 2, B)];
        let rest = "detections overlap ground-truth objects of other classes only";
        for (shift, end) in [(-1_i64, "1 less than"), (1, "1 more than")] {
            let class = |class: i64| u32::try_from(class + shift).expect("a class");
            let results = [found(1, class(1), A, 0.9), found(2, class(2), B, 0.8)];
            let warning = format!(
                "2 {rest}; their class ids are {end} those of the objects, so they seem to be shifted"
            );
            check(&ALL, &objects, &results, &[&warning]);
            let agnostic = warnings(&COCO, &[("class-agnostic", "")], &objects, &results);
            assert!(agnostic.is_empty(), "{agnostic:?}");
        }
        let results = [found(1, 3, A, 0.9), found(2, 0, B, 0.8)];
        let warning =
            format!("2 {rest}; check that predictions and ground truth number their classes alike");
        check(&ALL, &objects, &results, &[&warning]);
    }

    #[test]
    fn nothing_to_find() {
        let mut crowd = object(1, 1, 1, A);
        crowd["iscrowd"] = json!(1);
        for (entries, undefined) in [
            (&ALL[..1], "recall and average precision are undefined"),
            (&ALL[1..3], "average precision is undefined"),
            (&ALL[3..], "recall is undefined"),
        ] {
            let results = [found(1, 1, A, 0.9)];
            let one = format!(
                "no ground-truth object counts (the only one is a crowd or left out of the count), so {undefined}"
            );
            check(entries, std::slice::from_ref(&crowd), &results, &[&one]);
            let none = format!("no ground-truth object counts (there are none), so {undefined}");
            check(entries, &[], &results, &[&none]);
        }
    }

    #[test]
    fn many_images_without_detections() {
        let objects = [object(1, 1, 1, A), object(2, 2, 2, B), object(3, 3, 1, A)];
        let warning = "2 of 3 images with ground-truth objects have no detection";
        check(&ALL, &objects, &[found(1, 1, A, 0.9)], &[warning]);
        let warning = "1 of 1 image with ground-truth objects has no detection";
        check(&ALL, &objects[..1], &[], &[warning]);
    }

    #[test]
    fn fractions_next_to_pixels() {
        let part = [0.1, 0.2, 0.3, 0.4];
        let rest = "are within 0 and 1, as fractions of the image are, and those of the";
        let warning = format!(
            "coordinates of the detections {rest} ground truth are in pixels: expected the same units"
        );
        let objects = [object(1, 1, 1, A)];
        check(&ALL, &objects, &[found(1, 1, part, 0.9)], &[&warning]);
        let warning = format!(
            "coordinates of the ground truth {rest} detections are in pixels: expected the same units"
        );
        let objects = [object(1, 1, 1, part)];
        check(&ALL, &objects, &[found(1, 1, A, 0.9)], &[&warning]);
        check(&ALL, &objects, &[found(1, 1, part, 0.9)], &[]);
    }

    #[test]
    fn objects_that_cannot_be_found() {
        let flat = [50.0, 60.0, 0.0, 8.0];
        let objects = [
            object(1, 1, 1, A),
            object(2, 1, 1, flat),
            object(3, 1, 1, A),
        ];
        let results = [found(1, 1, A, 0.9)];
        let flat = "1 ground-truth object has no width or height; it overlaps nothing, and counts as missed";
        let twice = "1 ground-truth object is in its image twice, with the same class and shape; it needs two detections";
        check(
            &[&COCO, &TIDE, &CONFUSION_MATRIX, &DETECTION],
            &objects,
            &results,
            &[flat, twice],
        );
        // There a detection has only the first of equal objects, and a box from x to x may be one pixel wide.
        let second = "1 ground-truth object is in its image twice, with the same class and shape; the second one always counts as missed";
        check(&[&VOC], &objects, &results, &[flat, second]);
        let voc = warnings(&VOC, &[("pixel-plus-one", "")], &objects, &results);
        assert_eq!(voc, [second]);
        let voc = warnings(&DETECTION, &[("matching", "voc")], &objects, &results);
        assert_eq!(voc, [flat, second]);
    }

    #[test]
    fn rules_that_look_for_any_overlap_need_one_detection() {
        let flat = [50.0, 60.0, 0.0, 8.0];
        let objects = [
            object(1, 1, 1, A),
            object(2, 1, 1, flat),
            object(3, 1, 1, A),
        ];
        for option in [
            ("profile", "fusion-brain-baseline"),
            ("profile", "fusion-brain-2021"),
            ("profile", "seed-text"),
            ("matching", "any-overlap"),
        ] {
            let found = warnings(&DETECTION, &[option], &objects, &[found(1, 1, A, 0.9)]);
            let says = |text: &str| found.iter().any(|warning| warning.contains(text));
            assert!(!says("missed") && !says("needs"), "{option:?}: {found:?}");
            assert_eq!(found.len(), 2, "{option:?}");
        }
    }

    #[test]
    fn objects_to_ignore() {
        let mut ignored = object(2, 1, 1, B);
        ignored["ignore"] = json!(1);
        let objects = [object(1, 1, 1, A), ignored];
        let results = [found(1, 1, A, 0.9)];
        let warning = "1 ground-truth object has ignore set and was left out of the count; pycocotools does not know the field";
        check(&ALL[1..], &objects, &results, &[warning]);
        let coco = format!("{warning}; to get its numbers, use --quirks pycocotools");
        check(&[&COCO], &objects, &results, &[&coco]);
        let quirks = warnings(&COCO, &[("quirks", "pycocotools")], &objects, &results);
        assert!(quirks.is_empty(), "{quirks:?}");
    }

    #[test]
    fn detections_beyond_the_number_that_counts() {
        let objects: Vec<Value> = (0..3)
            .map(|id| object(id + 1, 1, 1, [50.0 * f64::from(id), 20.0, 30.0, 40.0]))
            .collect();
        let results: Vec<Value> = (0..3)
            .map(|id| {
                let x = 50.0 * f64::from(id);
                found(1, 1, [x, 20.0, 30.0, 40.0], 0.9 - 0.1 * f64::from(id))
            })
            .collect();
        let warning = "1 detection was left out in an image that has more objects than detections count; to count more, raise --max-detections";
        for entry in [&COCO, &TIDE] {
            let found = warnings(entry, &[("max-detections", "2")], &objects, &results);
            assert_eq!(found, [warning], "{}", entry.name);
        }
    }

    #[test]
    fn scores_that_are_all_equal() {
        let objects = [object(1, 1, 1, A)];
        let results = [found(1, 1, B, 1.0), found(1, 1, A, 1.0)];
        let warning = "all detections of a class have the same score, so average precision depends on their order in the data";
        check(&ALL[..3], &objects, &results, &[warning]);
        // A score that is lower gives an order.
        let ranked = [found(1, 1, B, 0.5), found(1, 1, A, 1.0)];
        check(&ALL[..3], &objects, &ranked, &[]);
        // The order of detections that are all correct, or all wrong, does not matter.
        check(&ALL[..3], &objects, &results[1..], &[]);
        check(&ALL[..3], &objects, &results[..1], &[]);
    }

    #[test]
    fn keypoints_without_area() {
        let mut object = object(1, 1, 1, A);
        object["keypoints"] = json!([10, 20, 2, 30, 40, 2]);
        object["num_keypoints"] = json!(2);
        let results = [
            json!({"image_id": 1, "category_id": 1, "score": 0.9, "keypoints": [10, 20, 2, 31, 40, 2]}),
        ];
        let options = [("iou-type", "keypoints"), ("oks-sigmas", "0.05,0.05")];
        let with_area = warnings(&COCO, &options, &[object.clone()], &results);
        assert!(with_area.is_empty(), "{with_area:?}");
        object["area"] = json!(0);
        let warning = "1 ground-truth object with keypoints has the area 0, by which distances are divided: only exact points are found";
        let without = warnings(&COCO, &options, &[object], &results);
        assert_eq!(without, [warning]);
    }
}
