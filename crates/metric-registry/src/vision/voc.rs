//! Pascal VOC's average precision.

use metric_core::Metric;
use metric_vision::read::{ImageSizes, ReadError, Warnings};
use metric_vision::{BBox, Class, Dataset, Interpolation, VERSION, VocAp, VocClass, VocState};
use serde_json::json;

use crate::vision::images::{
    BOXES, IMAGE_SIZE, ImageAdapter, ImageReading, Numbers, class_names, image_size, is_yolo,
    read_boxes, size_part, whole,
};
use crate::{
    Document, Entry, Group, Input, JoinPolicy, Named, OptionError, OptionSpec, never_whole,
};

pub(crate) const VOC: Entry = Entry {
    name: "voc",
    help: "Pascal VOC's average precision of boxes",
    values: BOXES,
    options: &[
        OptionSpec {
            name: "iou",
            kind: OptionKind::Number(0.0, 1.0),
            value: "T",
            default: "0.5",
            help: "The IoU from which a detection matches",
        },
        OptionSpec {
            name: "interpolation",
            kind: OptionKind::Choice(|| {
                Interpolation::ALL
                    .iter()
                    .map(|choice| choice.name())
                    .collect()
            }),
    value: "POINTS",
            default: Interpolation::EveryPoint.name(),
            help: "The area under every point of the curve (VOC 2010 on), or the mean at 11 recalls (before)",
        },
        OptionSpec {
            name: "strict",
            kind: OptionKind::Flag,
            value: "",
            default: "",
            help: "Match above the IoU only, as py-faster-rcnn and Detectron do",
        },
        OptionSpec {
            name: "pixel-plus-one",
            kind: OptionKind::Flag,
            value: "",
            default: "",
            help: "Take a box from x1 to x2 as x2 - x1 + 1 wide, as VOC's development kit does",
        },
        IMAGE_SIZE,
        OptionSpec {
            name: "groups",
            kind: OptionKind::Choice(|| vec!["none", "class"]),
    value: "KIND",
            default: "class",
            help: "Tables beside the total",
        },
    ],
    input: Input::Whole,
    whole_file: never_whole,
    build: |options| {
        let interpolation: Interpolation = options.require("interpolation")?;
        let strict = options.get("strict").is_some();
        let pixel_plus_one = options.get("pixel-plus-one").is_some();
        let iou = options.number("iou")?;
        let given = options.get("iou").unwrap_or_default();
        let metric = VocAp::new(iou)
            .map_err(|error| OptionError::new("iou", given, error.to_string()))?
            .with_strict(strict)
            .with_interpolation(interpolation);
        let metric = match pixel_plus_one {
            true => metric.with_pixel_plus_one(),
            false => metric,
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
        let sizes = image_size(options)?;
        signature.extend(size_part(&sizes));
        let reading = Voc {
            metric,
            signature,
            by_class: options.get("groups") == Some("class"),
            pixel_plus_one,
            sizes,
        };
        Ok(ImageAdapter::boxed("voc", VERSION, reading))
    },
};

struct Voc {
    metric: VocAp,
    signature: Named<String>,
    by_class: bool,
    pixel_plus_one: bool,
    sizes: ImageSizes,
}

impl ImageReading for Voc {
    type Shape = BBox;
    type Metric = VocAp;

    fn metric(&self, _classes: &[Class]) -> VocAp {
        self.metric
    }

    fn signature(&self) -> Named<String> {
        self.signature.clone()
    }

    fn read(
        &self,
        references: &Document,
        predictions: &Document,
        join: JoinPolicy,
    ) -> Result<(Dataset, Warnings), ReadError> {
        let fractions = is_yolo(references) && self.sizes == ImageSizes::Unknown;
        if self.pixel_plus_one && fractions {
            return Err(whole(
                references,
                "boxes are fractions of their image, and --pixel-plus-one needs pixels: expected --image-size too",
            ));
        }
        read_boxes(references, predictions, join, &self.sizes)
    }

    fn numbers(&self, state: &VocState, classes: &[Class], tables: bool) -> Numbers {
        let score = self.metric.compute(state);
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
        if tables && self.by_class {
            let groups = (0..).zip(class_names(classes)).filter_map(|(place, name)| {
                let class = score.classes.get(&place)?;
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

fn counts(class: &VocClass) -> Named<serde_json::Value> {
    vec![
        ("tp".to_owned(), json!(class.counts.true_positives)),
        ("fp".to_owned(), json!(class.counts.false_positives)),
        ("fn".to_owned(), json!(class.counts.false_negatives)),
        ("ignored".to_owned(), json!(class.ignored)),
    ]
}
