//! COCO's average precision.

use metric_record::Message;
use metric_vision::read::FindingRules;
use metric_vision::{
    AreaRange, Class, CocoAp, CocoCurves, CocoParams, CocoSlice, CocoState, CocoWeights, Curve,
    DynMetric, InvalidCocoParams, Shape as ObjectShape, Sigmas,
};
use serde_json::{Map, Value, json};

use crate::numbers::present;
use crate::options::{comma_separated, finite};
use crate::shapes::images::{
    COLUMNS, FIRST_CATEGORY, IMAGE_KEY, IMAGE_SIZE, IMAGES_LIST, ImageDefinition, ImageMetric,
    Readers, WarningRules, Weighted, curve_points, images, yes,
};
use crate::{
    Chart, Demo, Entry, Input, Named, Numbers, Objects, OptionError, OptionKind, OptionSpec,
    Options, ScoreSpec, Scorer, Shape,
};

pub(crate) const COCO: Entry = Entry {
    name: "coco",
    class: "COCO",
    question: "How good is a detector of boxes, masks or keypoints? AP, AR",
    programs: "pycocotools",
    shapes: &[
        Shape::Images.as_is(),
        Shape::Masks.with(&[("iou-type", "segm")]),
        Shape::Masks.with(&[("iou-type", "boundary")]),
        Shape::Keypoints.with(&[("iou-type", "keypoints"), ("oks-sigmas", "0.1,0.2")]),
    ],
    tried: &[
        &[("groups", "class")],
        &[("class-agnostic", ""), ("iou", "0.5,0.1"), ("quirks", "pycocotools")],
        &[("max-detections", "1,2"), ("areas", "tiny:0:2,big:2:inf")],
    ],
    arrays: true,
    help: "COCO's average precision and recall of boxes, masks or keypoints, matching pycocotools 2.0.11 (except for the errors under --quirks)",
    values: (
        "a COCO ground-truth file with images, categories and annotations, a folder of Pascal VOC annotations (.xml) or of YOLO labels (.txt), or one image per record: a list of its annotations, or {\"width\", \"height\", \"annotations\": [...]}",
        "a COCO results file: a list of detections (or JSON Lines), each with image_id, category_id, score, and one of bbox, segmentation and keypoints; a folder of results (.txt); or one image per record: a list of its detections",
    ),
    known_as: &[
        (&["map", "ap", "average-precision", "mean-average-precision", "detection-map"],
            "for mean average precision, use coco (AP, as COCO computes it) or voc (mAP, as Pascal VOC computes it); of ranked documents, retrieval"),
        (&["keypoints", "oks"], "it is coco with --iou-type keypoints"),
    ],
    demos: &[
        Demo::new("COCO detections", ["coco-truth.json", "coco-results.json"], &["AP", "AP50", "AR_100"]),
    ],
    options: &[
        OptionSpec::one_of("iou-type", "TYPE", || vec!["bbox", "segm", "boundary", "keypoints", "obb"],
            "Shapes to compare: boxes, masks, masks and their boundaries, keypoints, or four-cornered shapes of YOLO's data sets").or("bbox"),
        DILATION,
        SIGMAS,
        IOUS,
        RECALLS,
        OptionSpec::list("areas", "NAME:FROM:TO,...", &OptionKind::Text,
            "Area ranges in square pixels, both bounds included, instead of small:0:1024,medium:1024:9216,large:9216:1e10 (for keypoints, without small)"),
        OptionSpec::list("max-detections", "N,...", &OptionKind::Integer(1, u32::MAX as i64),
            "Maximum numbers of detections per image and class, instead of 1,10,100 (for keypoints, 20)"),
        IMAGE_KEY,
        IMAGES_LIST,
        IMAGE_SIZE,
        COLUMNS,
        FIRST_CATEGORY,
        OptionSpec::flag("class-agnostic", "Treat all objects as one class"),
        OptionSpec::one_of("quirks", "PROGRAM", || vec!["none", "pycocotools"],
            "Reproduce the known errors of a program. They affect annotations with the id 0, a repeated id or the field ignore, masks that differ in size from their image, polygons of an odd number of values, and AP if 100 is not in --max-detections").or("none"),
        OptionSpec::groups(|| vec!["none", "class"],
            "Tables in addition to the total. With --class-agnostic there is no table of classes"),
    ],
    scores: &[
        ScoreSpec::higher("AP"),
        ScoreSpec::higher("AP").by("T"),
        ScoreSpec::higher("AP_").by("AREA"),
        ScoreSpec::higher("AR_").by("N"),
        ScoreSpec::higher("AR"),
        ScoreSpec::higher("AR").by("T"),
    ],
    groups: &["class"],
    details: true,
    charts: &[Chart::Coco],
    input: Input::Documents,
    objects: Objects::named,
    build: &build,
    ..Entry::BASE
};

pub(crate) const SIGMAS: OptionSpec = OptionSpec::list(
    "oks-sigmas",
    "S,...",
    &OptionKind::Number(0.0, 1e6),
    "With --iou-type keypoints: tolerance of each keypoint, instead of those of data.yaml, or of COCO's sigmas of the 17 keypoints of a person",
);

fn build(options: &Options) -> Result<Scorer, OptionError> {
    let iou_type = options.given("iou-type");
    let has_keypoints = iou_type == "keypoints";
    let mut params = if has_keypoints {
        CocoParams::keypoints()
    } else {
        CocoParams::default()
    };
    params.by_class = !options.has("class-agnostic");
    params.quirks = options.is("quirks", "pycocotools");
    params.dilation = dilation(options)?;
    let sigmas = options.sequence(SIGMAS.name, "a positive number", finite)?;
    let lists = lists(&mut params, options)?;
    let most = options.list("max-detections", "a whole number", |text| text.parse().ok())?;
    let mut signature = present([
        ("iou-type", Some(iou_type.clone())),
        (
            DILATION.name,
            params.dilation.map(|share| share.to_string()),
        ),
        (SIGMAS.name, given(&sigmas, f64::to_string)),
    ]);
    signature.extend(lists);
    signature.extend(present([
        ("max-detections", given(&most, usize::to_string)),
        ("class-agnostic", yes(!params.by_class)),
        ("quirks", params.quirks.then(|| "pycocotools".to_owned())),
    ]));
    if !most.is_empty() {
        params.max_detections = most;
    }
    if !has_keypoints && !sigmas.is_empty() {
        let problem = Message::from("is for ").option("iou-type", "keypoints");
        return Err(OptionError::new(SIGMAS.name, "", problem));
    }
    let definition = ImageDefinition {
        signature,
        findings: FindingRules::default()
            .with_max_detections(params.max_detections.iter().max().copied())
            .with_max_by_class(params.by_class)
            .with_by_class(params.by_class),
        warnings: WarningRules {
            lacks_quirks: !params.quirks,
            ..WarningRules::new("recall and average precision are undefined")
        },
        needs_pixels: (iou_type == "bbox").then(|| Message::from("area ranges need")),
        ..ImageDefinition::default()
    };
    match &*iou_type {
        "segm" | "boundary" => scorer(params, Readers::masks(), definition, options),
        "obb" => scorer(params, Readers::oriented(), definition, options),
        "keypoints" => {
            let sigmas = match &*sigmas {
                [] => Ok(Sigmas::default()),
                _ => Sigmas::new(sigmas),
            };
            let sigmas =
                sigmas.map_err(|error| OptionError::new(SIGMAS.name, "", error.to_string()))?;
            scorer(params, Readers::keypoints(sigmas), definition, options)
        }
        _ => scorer(params, Readers::coco_boxes(), definition, options),
    }
}

/// The thresholds of IoU.
pub(crate) const IOUS: OptionSpec = OptionSpec::list(
    "iou",
    "T,...",
    &OptionKind::Number(0.0, 1.0),
    "IoU thresholds, instead of 0.50,0.55,...,0.95",
);

/// The recalls of a curve.
pub(crate) const RECALLS: OptionSpec = OptionSpec::list(
    "recalls",
    "R,...",
    &OptionKind::Number(0.0, 1.0),
    "Recall values at which precision is sampled, instead of 0,0.01,...,1",
);

/// The width of boundaries.
pub(crate) const DILATION: OptionSpec = OptionSpec::number(
    "dilation",
    "R",
    0.0..=1.0,
    "With --iou-type boundary: width of boundaries, as a share of the diagonal of the image",
)
.or("0.02")
.only_with("iou-type", &["boundary"]);

pub(crate) fn dilation(options: &Options) -> Result<Option<f64>, OptionError> {
    let is_boundary = options.is("iou-type", "boundary");
    is_boundary
        .then(|| options.number(DILATION.name))
        .transpose()
}

/// Sets the lists of thresholds, recalls and area ranges that are given, and returns them as parts of a signature.
pub(crate) fn lists(
    params: &mut CocoParams,
    options: &Options,
) -> Result<Named<String>, OptionError> {
    let ious = options.list("iou", "a number", finite)?;
    let recalls = options.list("recalls", "a number", finite)?;
    let areas = options.list("areas", "NAME:FROM:TO with FROM no more than TO", area)?;
    let signature = present([
        ("iou", given(&ious, f64::to_string)),
        ("recalls", given(&recalls, f64::to_string)),
        ("areas", given(&areas, area_text)),
    ]);
    if !ious.is_empty() {
        params.iou_thresholds = ious;
    }
    if !recalls.is_empty() {
        params.recall_thresholds = recalls;
    }
    if !areas.is_empty() {
        params.areas.truncate(1);
        params.areas.extend(areas);
    }
    Ok(signature)
}

/// The values of a list in a signature, if it is given.
fn given<T>(values: &[T], text: impl Fn(&T) -> String) -> Option<String> {
    let texts: Vec<String> = values.iter().map(text).collect();
    (!texts.is_empty()).then(|| comma_separated(&texts))
}

fn area_text(area: &AreaRange) -> String {
    format!("{}:{}:{}", area.name, area.least, area.greatest)
}

fn area(text: &str) -> Option<AreaRange> {
    let (name, bounds) = text.split_once(':')?;
    let (least, greatest) = bounds.split_once(':')?;
    // An upper bound may be infinite.
    let least: f64 = least.parse().ok()?;
    let greatest: f64 = greatest.parse().ok()?;
    (!name.is_empty() && least <= greatest).then(|| AreaRange::new(name, least, greatest))
}

fn scorer<S: ObjectShape>(
    params: CocoParams,
    readers: Readers<S>,
    definition: ImageDefinition,
    options: &Options,
) -> Result<Scorer, OptionError>
where
    CocoAp<S>: ImageMetric<Shape = S>,
{
    let metric = CocoAp::new(params).map_err(|error| invalid(&error))?;
    images("coco", metric, readers, definition, options)
}

/// The error in an option.
pub(crate) fn invalid(error: &InvalidCocoParams) -> OptionError {
    let option = match error {
        InvalidCocoParams::RecallThreshold(_) => "recalls",
        InvalidCocoParams::Area(_)
        | InvalidCocoParams::AreaName(_)
        | InvalidCocoParams::TooManyAreas(_) => "areas",
        InvalidCocoParams::MaxDetections(_) => "max-detections",
        _ => "iou",
    };
    OptionError::new(option, "", error.to_string())
}

impl<S: ObjectShape + Clone + Send + Sync + 'static> ImageMetric for CocoAp<S>
where
    Self: AsRef<DynMetric<Self>>,
{
    type Shape = S;

    fn numbers(
        &self,
        curves: &CocoCurves,
        state: Option<&CocoState>,
        classes: &[Class],
        index: Option<u32>,
    ) -> Option<Numbers> {
        let class = index.and_then(|index| classes.get(index as usize));
        let slice = CocoSlice {
            class: index,
            ..CocoSlice::default()
        };
        let detections = state.filter(|_| index.is_none()).map(CocoState::detections);
        let counts = [
            ("category_id", class.map(|class| json!(class.key))),
            ("truths", Some(json!(curves.truths(slice)))),
            ("detections", detections.map(Value::from)),
        ];
        Some(Numbers {
            scores: curves.summary(index),
            counts: present(counts),
            ..Numbers::default()
        })
    }

    fn details(
        &self,
        state: &CocoState,
        curves: &CocoCurves,
        classes: &[Class],
        is_compact: bool,
    ) -> Option<Value> {
        let params = self.params();
        let mut details = summaries(params, curves, |index| state.curve(params, index));
        if !is_compact {
            details.extend(arrays(params, curves, classes)?);
        }
        Some(details.into())
    }

    fn example_score(&self, state: &CocoState, name: &str) -> Option<Option<f64>> {
        (name == "AP").then(|| self.average_precision(state))
    }

    fn weighted<'s>(&'s self, states: &[&'s CocoState]) -> Option<Weighted<'s, Self>> {
        let weights = CocoWeights::new(self, states);
        Some(Box::new(move |images| weights.curves(images)))
    }
}

/// Summaries of the arrays: the mean curve over classes of each IoU threshold, then that of all thresholds, and the
/// counts of all classes by score.
pub(crate) fn summaries(
    params: &CocoParams,
    curves: &CocoCurves,
    by_score: impl Fn(usize) -> Curve,
) -> Map<String, Value> {
    let curve = |index: Option<usize>| {
        let slice = CocoSlice {
            iou_threshold: index,
            ..CocoSlice::default()
        };
        let recalls = params.recall_thresholds.iter();
        let points = recalls.zip(curves.precisions(slice));
        let points =
            points.map(|(recall, precision)| json!({"recall": recall, "precision": precision}));
        json!({
            "iou": index.and_then(|index| params.iou_thresholds.get(index)),
            "average_precision": curves.average_precision(slice),
            "points": points.collect::<Vec<_>>(),
        })
    };
    let indices = (0..params.iou_thresholds.len()).map(Some).chain([None]);
    let by_recall: Vec<_> = indices.map(curve).collect();
    let half = params.iou_thresholds.iter().position(|&iou| iou == 0.5);
    let index = half.unwrap_or(0);
    let by_score = json!({
        "iou": params.iou_thresholds.get(index),
        "points": curve_points(&by_score(index), true),
    });
    let named = [
        ("precision_recall", json!(by_recall)),
        ("by_score", by_score),
    ];
    named
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// The arrays of precision, recall and scores, with the names of their axes.
pub(crate) fn arrays(
    params: &CocoParams,
    curves: &CocoCurves,
    classes: &[Class],
) -> Option<Map<String, Value>> {
    let count = if params.by_class { classes.len() } else { 1 };
    let arrays = curves.arrays(count)?;
    let area = |area: &AreaRange| json!({"name": area.name, "range": [area.least, area.greatest]});
    let areas: Vec<_> = params.areas.iter().map(area).collect();
    let keys: Vec<_> = classes.iter().map(|class| &class.key).collect();
    let arrays = json!({
        "shape": arrays.shape,
        "axes": ["iou_thresholds", "recall_thresholds", "classes", "areas", "max_detections"],
        "iou_thresholds": params.iou_thresholds,
        "recall_thresholds": params.recall_thresholds,
        "classes": if params.by_class { json!(keys) } else { json!([null]) },
        "areas": areas,
        "max_detections": params.max_detections,
        "precision": arrays.precision,
        "recall": arrays.recall,
        "scores": arrays.scores,
    });
    match arrays {
        Value::Object(arrays) => Some(arrays),
        _ => None,
    }
}
