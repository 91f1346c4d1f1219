//! Warnings about patterns in a data set that explain low or undefined scores.

use metric_record::Message;
use metric_vision::read::{Finding, Findings, Warning};
use metric_vision::{Class, Key};

use crate::{Counted, Reading, Remarks, Sink};

/// Returns the number that is the key of a class, if it is one.
pub(crate) fn number_of(classes: &[Class], class: u32) -> Option<i64> {
    number(&classes.get(class as usize)?.key)
}

/// Returns the number that a key is, if it is one.
pub(crate) fn number(key: &Key) -> Option<i64> {
    match key {
        Key::Number(number) => Some(*number),
        _ => None,
    }
}

/// Tallies the findings in images.
pub(crate) fn tally_findings<R: Reading>(sink: &mut Sink<'_, R>, findings: &Findings) {
    for finding in Finding::ALL {
        sink.tally(finding.name(), findings.count(finding));
    }
}

/// The tally of objects that the field `ignore` leaves out of the count.
pub(crate) const IGNORED: &str = "ignored objects";

/// How a metric finds the objects of an image.
#[derive(Clone, Copy)]
pub(crate) enum Finds {
    /// Each object is found by a detection of its own.
    OneToOne,
    /// A detection finds nothing but the object that it overlaps most, the first among equals.
    Nearest,
    /// A detection is correct if it overlaps any object.
    AnyOverlap,
}

/// The part of a metric's definition that its warnings depend on.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    /// The clause that names the scores that are undefined if no object counts.
    pub(crate) undefined: &'static str,
    /// How objects are found.
    pub(crate) finds: Finds,
    /// Whether boxes without width or height have an area.
    pub(crate) pixel_plus_one: bool,
    /// Whether the option `quirks` gives the numbers of pycocotools.
    pub(crate) has_quirks: bool,
    /// Whether scores of nothing are defined.
    pub(crate) scores_nothing: bool,
    /// Whether detections are left out because of their classes.
    pub(crate) lacks_classes: bool,
    /// Whether another warning says that no class is in common.
    pub(crate) has_no_common_class: bool,
}

impl Definition {
    /// A metric without options that matter here. `undefined` says which scores are undefined if no object counts.
    pub(crate) const fn new(undefined: &'static str) -> Self {
        Self {
            undefined,
            finds: Finds::OneToOne,
            pixel_plus_one: false,
            has_quirks: false,
            scores_nothing: false,
            lacks_classes: false,
            has_no_common_class: false,
        }
    }
}

/// Returns the warnings about the findings that were tallied.
pub(crate) fn finding_warnings(remarks: Remarks<'_>, definition: Definition) -> Vec<Message> {
    let count = |finding: Finding| remarks.tally(finding.name());
    let mut warnings = Vec::new();
    if !definition.scores_nothing {
        warnings.extend(nothing_counts(count, definition.undefined));
    }
    if !definition.lacks_classes {
        warnings.extend(without_detections(count));
    }
    warnings.extend(other_classes(count, definition.has_no_common_class));
    warnings.extend(fractions(count));
    let flat = count(Finding::FlatObject);
    let counted = [
        (remarks.tally(IGNORED), ignored(definition.has_quirks)),
        (
            if definition.pixel_plus_one { 0 } else { flat },
            flat_objects(definition.finds),
        ),
        (
            count(Finding::RepeatedObject),
            repeated_objects(definition.finds),
        ),
        (count(Finding::KeypointsWithoutArea), without_area()),
        (count(Finding::CutDetection), cut_detections()),
    ];
    warnings.extend(Counted::warnings(counted));
    warnings
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

fn ignored(has_quirks: bool) -> Counted {
    let [one, several] = Warning::IgnoredTruth.texts().map(Message::from);
    if !has_quirks {
        return Counted::new(one, several);
    }
    let with_option = |text: Message| {
        let text = text.text("; to get its numbers, use ");
        text.option("quirks", "pycocotools")
    };
    Counted::new(with_option(one), with_option(several))
}

fn flat_objects(finds: Finds) -> Counted {
    match finds {
        Finds::OneToOne | Finds::Nearest => Counted::new(
            "ground-truth object has no width or height; it overlaps nothing, and counts as missed",
            "ground-truth objects have no width or height; they overlap nothing, and count as missed",
        ),
        // Some rules only count how many detections there are.
        Finds::AnyOverlap => Counted::new(
            "ground-truth object has no width or height; it overlaps nothing, so no detection of it is correct",
            "ground-truth objects have no width or height; they overlap nothing, so no detection of them is correct",
        ),
    }
}

fn repeated_objects(finds: Finds) -> Counted {
    match finds {
        Finds::OneToOne => Counted::new(
            "ground-truth object is in its image twice, with the same class and shape; it needs two detections",
            "ground-truth objects are in their images again, with the same class and shape; each needs a detection of its own",
        ),
        Finds::Nearest => Counted::new(
            "ground-truth object is in its image twice, with the same class and shape; the second one always counts as missed",
            "ground-truth objects are in their images again, with the same class and shape; all but the first always count as missed",
        ),
        Finds::AnyOverlap => Counted::new(
            "ground-truth object is in its image twice, with the same class and shape; one detection is enough to overlap both",
            "ground-truth objects are in their images again, with the same class and shape; one detection is enough to overlap all that are equal",
        ),
    }
}

fn without_area() -> Counted {
    Counted::new(
        "ground-truth object with keypoints has the area 0, by which distances are divided: only exact points are found",
        "ground-truth objects with keypoints have the area 0, by which distances are divided: only exact points are found",
    )
}

fn cut_detections() -> Counted {
    let with_option = |text: &str| {
        let text = Message::from(text).text("; to count more, raise ");
        text.option("max-detections", "")
    };
    Counted::new(
        with_option(
            "detection was left out in an image that has more objects than detections count",
        ),
        with_option(
            "detections were left out in images that have more objects than detections count",
        ),
    )
}

/// The warning about detections that only their order ranks.
pub(crate) fn ranked_by_order() -> Message {
    Message::from(
        "all detections of a class have the same score, so average precision depends on their order in the data",
    )
}

#[cfg(test)]
mod tests {
    use metric_record::Document;
    use serde_json::{Value, json};

    use crate::vision::coco::COCO;
    use crate::vision::detection::DETECTION;
    use crate::vision::errors::{CONFUSION_MATRIX, TIDE};
    use crate::vision::voc::VOC;
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
