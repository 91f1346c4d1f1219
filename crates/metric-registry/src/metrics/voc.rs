//! Pascal VOC's average precision.

use std::collections::BTreeSet;

use metric_core::{Counts, Merge as _};
use metric_record::Message;
use metric_vision::{
    Class, Curve, DynMetric, Interpolation, InvalidThreshold, Shape as ObjectShape, VocAp,
    VocClass, VocScore, VocState,
};
use serde_json::{Value, json};

use crate::numbers::present;
use crate::report::DRAWN_CLASSES;
use crate::shapes::images::{
    BOXES, COLUMNS, FIRST_CATEGORY, Finds, IMAGE_KEY, IMAGE_SIZE, IMAGES_LIST, ImageDefinition,
    ImageMetric, Readers, WarningRules, Weighted, class_names, curve_points, images, yes,
};
use crate::{
    Chart, Demo, Entry, Input, Numbers, Objects, OptionError, OptionSpec, Options, ScoreSpec,
    Scorer, Shape,
};

pub(crate) const VOC: Entry = Entry {
    name: "voc",
    class: "VOC",
    question: "The same at a single IoU threshold: AP",
    programs: "Pascal VOC",
    shapes: &[
        Shape::Images.as_is(),
        Shape::Masks.with(&[("iou-type", "segm")]),
    ],
    tried: &[&[
        ("strict", ""),
        ("pixel-plus-one", ""),
        ("interpolation", "11"),
    ]],
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
        OptionSpec::one_of(
            "iou-type",
            "TYPE",
            || vec!["bbox", "obb", "segm"],
            "Shapes to compare: boxes, four-cornered shapes of YOLO's data sets, or masks",
        )
        .or("bbox"),
        IMAGE_KEY,
        IMAGES_LIST,
        IMAGE_SIZE,
        COLUMNS,
        FIRST_CATEGORY,
        OptionSpec::groups(|| vec!["none", "class"], "Tables in addition to the total").or("class"),
    ],
    scores: &[ScoreSpec::higher("mAP"), ScoreSpec::higher("AP")],
    groups: &["class"],
    details: true,
    charts: &[Chart::Voc],
    input: Input::Documents,
    objects: |options| Objects::named(options).filter(|it| *it != Objects::Boxes),
    build: &|options| {
        let pixel_plus_one = options.has("pixel-plus-one");
        match &*options.given("iou-type") {
            "bbox" if pixel_plus_one => {
                let metric = metric(options)?.with_pixel_plus_one();
                scorer(metric, Readers::boxes(), options)
            }
            "bbox" => scorer(metric(options)?, Readers::boxes(), options),
            _ if pixel_plus_one => {
                let problem = Message::from("is for ").option("iou-type", "bbox");
                Err(OptionError::new("pixel-plus-one", "", problem))
            }
            "obb" => scorer(metric(options)?, Readers::oriented(), options),
            _ => scorer(metric(options)?, Readers::masks(), options),
        }
    },
    ..Entry::BASE
};

/// The metric that options choose.
fn metric<S: ObjectShape>(options: &Options) -> Result<VocAp<S>, OptionError> {
    let invalid =
        |error: InvalidThreshold| OptionError::new("iou", &options.given("iou"), error.to_string());
    let metric = VocAp::new(options.number("iou")?).map_err(invalid)?;
    let metric = metric.with_strict(options.has("strict"));
    Ok(metric.with_interpolation(options.require("interpolation")?))
}

fn scorer<S: ObjectShape + Clone + Send + Sync + 'static>(
    metric: VocAp<S>,
    readers: Readers<S>,
    options: &Options,
) -> Result<Scorer, OptionError>
where
    VocAp<S>: AsRef<DynMetric<VocAp<S>>>,
{
    let pixel_plus_one = options.has("pixel-plus-one");
    let kind = options.given("iou-type");
    let definition = ImageDefinition {
        signature: present([
            ("iou-type", (kind != "bbox").then_some(kind)),
            ("iou", Some(options.number("iou")?.to_string())),
            ("interpolation", Some(options.given("interpolation"))),
            ("strict", yes(options.has("strict"))),
            ("pixel-plus-one", yes(pixel_plus_one)),
        ]),
        warnings: WarningRules {
            finds: Finds::Nearest,
            pixel_plus_one,
            ..WarningRules::new("average precision is undefined")
        },
        needs_pixels: pixel_plus_one.then(|| {
            Message::default()
                .option("pixel-plus-one", "")
                .text(" needs")
        }),
        ..ImageDefinition::default()
    };
    images("voc", metric, readers, definition, options)
}

impl<S: ObjectShape + Clone + Send + Sync + 'static> ImageMetric for VocAp<S>
where
    Self: AsRef<DynMetric<Self>>,
{
    type Shape = S;

    fn numbers(
        &self,
        score: &VocScore,
        _: Option<&VocState>,
        _: &[Class],
        class: Option<u32>,
    ) -> Option<Numbers> {
        let mut total = VocClass::default();
        let (name, value, counted) = match class {
            Some(class) => {
                let class = score.classes.get(&class)?;
                ("AP", class.average_precision, class)
            }
            None => {
                for class in score.classes.values() {
                    total.counts.merge(class.counts);
                    total.ignored += class.ignored;
                }
                ("mAP", score.mean, &total)
            }
        };
        Some(Numbers {
            scores: present([(name, Some(value))]),
            counts: present([
                ("tp", Some(json!(counted.counts.true_positives))),
                ("fp", Some(json!(counted.counts.false_positives))),
                ("fn", Some(json!(counted.counts.false_negatives))),
                ("ignored", Some(json!(counted.ignored))),
            ]),
            ..Numbers::default()
        })
    }

    /// The curve of each class, and the mean over the classes with ground truth of their precisions at 101
    /// recalls, in which each precision counts as the greatest one at that recall or above. Compact ones have the
    /// points of the classes that a report draws.
    fn details(
        &self,
        state: &VocState,
        score: &VocScore,
        classes: &[Class],
        is_compact: bool,
    ) -> Option<Value> {
        let curves = self.curves(state);
        let names = class_names(classes);
        let drawn = is_compact.then(|| lowest(score, DRAWN_CLASSES));
        let curve = |(class, curve): (&u32, &Curve)| {
            let mut details = json!({
                "class": names.get(*class as usize),
                "average_precision": score.classes.get(class)?.average_precision,
            });
            if drawn.as_ref().is_none_or(|drawn| drawn.contains(class)) {
                details["points"] = curve_points(curve, is_compact).into();
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

    fn weighted<'s>(&'s self, states: &[&'s VocState]) -> Option<Weighted<'s, Self>> {
        Some(Box::new(VocAp::weighted(self, states)))
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
