//! Pascal VOC's average precision.

use std::collections::{BTreeMap, BTreeSet};

use metric_core::{Counts, Metric};
use metric_record::{FieldError, Message, ReadError, Record};
use metric_vision::read::parse_record;
use metric_vision::{
    BBox, Class, Curve, DynMetric, Interpolation, VERSION, VocAp, VocClass, VocScore, VocState,
};
use serde_json::{Value, json};

use crate::curves::DRAWN_CLASSES;
use crate::fields::objects_by_id;
use crate::vision::findings::{Definition, Finds};
use crate::vision::image_key::IMAGE_KEY;
use crate::vision::images::{
    BOXES, COLUMNS, ClassList, FolderOptions, IMAGE_SIZE, ImageReading, add_boxes, class_names,
    curve_points, image_warnings, is_empty_image, read_image, renumber_classes,
};
use crate::{
    DataSet, DataSetError, Demo, Entry, Group, Input, Named, Numbers, OptionError, OptionSpec,
    ReadDataSet, Reading, Remarks, Scope, ScoreSpec, Sink, Weigher, scorer,
};

pub(crate) const VOC: Entry = Entry {
    name: "voc",
    help: "Pascal VOC's average precision of boxes",
    values: BOXES,
    demos: &[Demo::new(
        "COCO detections",
        ["coco-truth.json", "coco-results.json"],
        &[],
    )],
    options: &[
        OptionSpec::number("iou", "T", 0.0..=1.0, "IoU threshold of a match").or("0.5"),
        OptionSpec::choice::<Interpolation>(
            "interpolation",
            "POINTS",
            "Area under every point of the curve (since VOC 2010), or mean at 11 recalls (before)",
        )
        .or(Interpolation::EveryPoint.name()),
        OptionSpec::flag(
            "strict",
            "Match only above the IoU threshold, as in py-faster-rcnn and Detectron",
        ),
        OptionSpec::flag(
            "pixel-plus-one",
            "Treat a box from x1 to x2 as x2 - x1 + 1 wide, as in VOC's development kit",
        ),
        IMAGE_KEY,
        IMAGE_SIZE,
        COLUMNS,
        OptionSpec::one_of(
            "groups",
            "KIND",
            || vec!["none", "class"],
            "Tables in addition to the total",
        )
        .or("class"),
    ],
    scores: &[ScoreSpec::higher("mAP"), ScoreSpec::higher("AP")],
    groups: &["class"],
    details: true,
    report: in_report!(vision { sections: voc, example: example }, has_images: true),
    input: Input::Documents,
    build: &|options| {
        let interpolation: Interpolation = options.require("interpolation")?;
        let strict = options.has("strict");
        let pixel_plus_one = options.has("pixel-plus-one");
        let iou = options.number("iou")?;
        let given = options.given("iou");
        let metric = VocAp::new(iou)
            .map_err(|error| OptionError::new("iou", &given, error.to_string()))?
            .with_strict(strict)
            .with_interpolation(interpolation);
        let metric = if pixel_plus_one {
            metric.with_pixel_plus_one()
        } else {
            metric
        };
        let mut signature = vec![
            ("iou".to_owned(), iou.to_string()),
            ("interpolation".to_owned(), interpolation.to_string()),
        ];
        for (name, is_on) in [("strict", strict), ("pixel-plus-one", pixel_plus_one)] {
            if is_on {
                signature.push((name.to_owned(), "yes".to_owned()));
            }
        }
        let folders = FolderOptions::new(options)?;
        signature.extend(folders.parts());
        signature.extend(folders.image_key());
        let reading = Voc {
            metric,
            signature,
            by_class: options.is("groups", "class"),
            pixel_plus_one,
            folders,
            compact: options.compact_details(),
        };
        Ok(scorer("voc", VERSION, reading))
    },
    ..Entry::BASE
};

struct Voc {
    metric: VocAp,
    signature: Named<String>,
    by_class: bool,
    pixel_plus_one: bool,
    folders: FolderOptions,
    /// Whether details are compact.
    compact: bool,
}

impl ImageReading<BBox> for Voc {}

impl Reading for Voc {
    type Metric = DynMetric<VocAp>;
    type Header = ClassList;

    fn metric(&self) -> &Self::Metric {
        self.metric.as_ref()
    }

    fn signature(&self) -> Named<String> {
        self.signature.clone()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        read_image(record, sink, &parse_record)
    }

    fn renumber(&self, state: &mut VocState, indices: &[u32]) {
        renumber_classes(state, indices);
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        is_empty_image(record)
    }

    fn further_warnings(
        &self,
        state: &VocState,
        classes: &ClassList,
        remarks: Remarks<'_>,
    ) -> Vec<Message> {
        let definition = Definition {
            finds: Finds::Nearest,
            pixel_plus_one: self.pixel_plus_one,
            ..Definition::new("average precision is undefined")
        };
        image_warnings(classes, state, remarks, definition)
    }

    fn data_sets(&self) -> Option<&dyn ReadDataSet<Self>> {
        Some(self)
    }

    /// The curve of each class, and the mean over the classes with ground truth of their precisions at 101
    /// recalls, in which each precision counts as the greatest one at that recall or above. Compact ones have the
    /// points of the classes that a report draws.
    fn details(
        &self,
        state: &VocState,
        ClassList(classes): &ClassList,
        _: Remarks<'_>,
    ) -> Option<Value> {
        let curves = self.metric.curves(state);
        let score = self.metric.compute(state);
        let names = class_names(classes);
        let drawn = self.compact.then(|| lowest(&score, DRAWN_CLASSES));
        let curve = |(class, curve): (&u32, &Curve)| {
            let mut details = json!({
                "class": names.get(*class as usize),
                "average_precision": score.classes.get(class)?.average_precision,
            });
            if drawn.as_ref().is_none_or(|drawn| drawn.contains(class)) {
                details["points"] = curve_points(curve, self.compact).into();
            }
            Some(details)
        };
        let by_class: Vec<Value> = curves.iter().filter_map(curve).collect();
        let at_recalls: Vec<Vec<f64>> = curves
            .values()
            .filter(|curve| curve.truths() > 0)
            .map(interpolated)
            .collect();
        let mean = |position: usize| {
            let sum: f64 = at_recalls
                .iter()
                .map(|precisions| precisions[position])
                .sum();
            let precision = sum / at_recalls.len() as f64;
            json!({"recall": position as f64 / 100.0, "precision": precision})
        };
        let positions = 0..if at_recalls.is_empty() { 0 } else { RECALLS };
        let mean: Vec<Value> = positions.map(mean).collect();
        Some(json!({"precision_recall": by_class, "mean": mean}))
    }

    fn numbers(
        &self,
        state: &VocState,
        ClassList(classes): &ClassList,
        scope: Scope<'_>,
    ) -> Numbers {
        self.of_score(&self.metric.compute(state), classes, scope)
    }

    fn weigher<'s>(
        &'s self,
        states: &[&'s VocState],
        ClassList(classes): &'s ClassList,
    ) -> Option<Weigher<'s>> {
        let weighted = self.metric.weighted(states);
        Some(Box::new(move |weights, scope| {
            self.of_score(&weighted(weights), classes, scope)
        }))
    }
}

impl Voc {
    fn of_score(&self, score: &VocScore, classes: &[Class], scope: Scope<'_>) -> Numbers {
        let mut total = VocClass::default();
        for class in score.classes.values() {
            metric_core::Merge::merge(&mut total.counts, class.counts);
            total.ignored += class.ignored;
        }
        let mut numbers = Numbers {
            scores: vec![("mAP".to_owned(), score.mean)],
            counts: counts(&total),
            ..Numbers::default()
        };
        if scope == Scope::Total && self.by_class {
            let groups = (0..)
                .zip(class_names(classes))
                .filter_map(|(position, name)| {
                    let class = score.classes.get(&position)?;
                    Some(Group {
                        name,
                        scores: vec![("AP".to_owned(), class.average_precision)],
                        counts: counts(class),
                    })
                });
            numbers.groups.push(("class".to_owned(), groups.collect()));
        }
        numbers
    }
}

/// The classes with the lowest average precision, up to `most`; of equal ones the first.
fn lowest(score: &VocScore, most: usize) -> BTreeSet<u32> {
    let classes = score.classes.iter();
    let value = |(class, of_class): (&u32, &VocClass)| Some((of_class.average_precision?, *class));
    let mut classes: Vec<(f64, u32)> = classes.filter_map(value).collect();
    classes.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    classes.truncate(most);
    classes.into_iter().map(|(_, class)| class).collect()
}

/// Recalls 0, 0.01, ..., 1.
const RECALLS: usize = 101;

/// The greatest precision at or above each recall.
fn interpolated(curve: &Curve) -> Vec<f64> {
    let mut precisions = vec![0.0_f64; RECALLS];
    for point in curve.points() {
        let Counts {
            true_positives: right,
            ..
        } = point.counts;
        // The last recall that the point reaches, in integers.
        let position = u128::from(right) * 100 / u128::from(curve.truths().max(1));
        let position = usize::try_from(position)
            .unwrap_or(usize::MAX)
            .min(RECALLS - 1);
        let precision = point.counts.precision().unwrap_or(0.0);
        precisions[position] = precisions[position].max(precision);
    }
    for position in (1..RECALLS).rev() {
        precisions[position - 1] = precisions[position - 1].max(precisions[position]);
    }
    precisions
}

impl ReadDataSet<Self> for Voc {
    fn fields(&self, data: &DataSet) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        objects_by_id(&data.references, &["images"], "id")
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        let fractions = self.folders.has_fractions(&data.references);
        if self.pixel_plus_one && fractions {
            let problem = Message::from("boxes are fractions of their image, and ")
                .option("pixel-plus-one", "")
                .text(" needs pixels: expected ")
                .option("image-size", "")
                .text(", such as 640x480");
            return Err(ReadError::new(&data.references.name, problem).into());
        }
        add_boxes(data, &self.folders, sink)
    }
}

fn counts(class: &VocClass) -> Named<serde_json::Value> {
    vec![
        ("tp".to_owned(), json!(class.counts.true_positives)),
        ("fp".to_owned(), json!(class.counts.false_positives)),
        ("fn".to_owned(), json!(class.counts.false_negatives)),
        ("ignored".to_owned(), json!(class.ignored)),
    ]
}
