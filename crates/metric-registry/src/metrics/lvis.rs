//! LVIS's average precision.

use metric_record::Message;
use metric_vision::{
    BBox, Class, ClassState, ClassTotals, CocoParams, CocoSlice, DetectionLimit, DynMetric,
    Frequency, LvisAp, LvisCurves, LvisState, Mask, Shape as ObjectShape,
};
use serde_json::{Value, json};

use super::coco::{DILATION, IOUS, RECALLS, arrays, dilation, invalid, lists, summaries};
use crate::numbers::present;
use crate::shapes::images::{
    IMAGE_KEY, IMAGES_LIST, ImageDefinition, ImageMetric, Readers, WarningRules, Weighted, images,
};
use crate::{
    Chart, Counted, Demo, Entry, Group, Input, Numbers, Objects, OptionError, OptionKind,
    OptionSpec, Options, Remarks, ScoreSpec, Scorer, Shape,
};

pub(crate) const LVIS: Entry = Entry {
    name: "lvis",
    class: "LVIS",
    question: "How good is a detector of very many classes, annotated for some in each image? AP, AP_r",
    programs: "lvis",
    shapes: &[Shape::Images.as_is(), Shape::Masks.with(&[("iou-type", "segm")])],
    tried: &[
        &[("groups", "class"), ("fixed", "2")],
        &[("groups", "frequency"), ("max-detections", "all"), ("iou", "0.5,0.1"), ("quirks", "lvis")],
        &[("max-detections", "2"), ("areas", "tiny:0:2,big:2:inf")],
    ],
    arrays: true,
    help: "LVIS's average precision and recall of boxes or masks, matching lvis 0.5.3 (except for the error under --quirks)",
    values: (
        "an LVIS ground-truth file: COCO's, in which images have neg_category_ids and not_exhaustive_category_ids, and categories a frequency; or one image per record: {\"annotations\": [...], \"neg_category_ids\": [...], \"not_exhaustive_category_ids\": [...]}",
        "a COCO results file: a list of detections (or JSON Lines), each with image_id, category_id, score, and bbox or segmentation; or one image per record: a list of its detections",
    ),
    known_as: &[(&["fixed-ap"], "it is lvis with --fixed 10000")],
    demos: &[Demo::new("LVIS detections", ["lvis-truth.json", "lvis-results.json"], &["AP", "AP_r", "AR_300"])],
    options: &[
        OptionSpec::one_of("iou-type", "TYPE", || vec!["bbox", "segm", "boundary"],
            "Shapes to compare: boxes, masks, or masks and their boundaries").or("bbox"),
        DILATION,
        OptionSpec::text(MOST, "N", "Maximum number of detections per image, over all classes, or all (without it, 300)"),
        OptionSpec::integer(FIXED, "N", 1..=u32::MAX as i64,
            "Fixed AP: count the N best detections of each class instead, usually 10000"),
        IOUS,
        RECALLS,
        OptionSpec::list("areas", "NAME:FROM:TO,...", &OptionKind::Text,
            "Area ranges in square pixels, both bounds included, instead of small:0:1024,medium:1024:9216,large:9216:1e10"),
        IMAGE_KEY,
        IMAGES_LIST,
        OptionSpec::one_of("quirks", "PROGRAM", || vec!["none", "lvis"],
            "Reproduce the known error of lvis, which counts a match with the annotation id 0 as none").or("none"),
        OptionSpec::groups(|| vec!["none", "class", "frequency"],
            "Tables in addition to the total"),
    ],
    scores: &[
        ScoreSpec::higher("AP"),
        ScoreSpec::higher("AP").by("T"),
        ScoreSpec::higher("AP_").by("AREA"),
        ScoreSpec::higher("AP_").by("FREQUENCY"),
        ScoreSpec::higher("AR_").by("N"),
        ScoreSpec::higher("AR"),
    ],
    groups: &["class", "frequency"],
    details: true,
    charts: &[Chart::Coco],
    input: Input::Documents,
    objects: Objects::named,
    build: &build,
    ..Entry::BASE
};

const MOST: &str = "max-detections";
const FIXED: &str = "fixed";

fn build(options: &Options) -> Result<Scorer, OptionError> {
    let iou_type = options.given("iou-type");
    let mut params = CocoParams::default()
        .with_quirks(options.is("quirks", "lvis"))
        .with_dilation(dilation(options)?);
    let lists = lists(&mut params, options)?;
    let limit = limit(options)?;
    let mut signature = present([
        ("iou-type", Some(iou_type.clone())),
        (
            DILATION.name,
            params.dilation.map(|share| share.to_string()),
        ),
    ]);
    signature.extend(lists);
    signature.extend(present([
        (MOST, options.get(MOST).map(|most| most.into_owned())),
        (FIXED, options.get(FIXED).map(|most| most.into_owned())),
        ("quirks", params.quirks.then(|| "lvis".to_owned())),
    ]));
    let definition = ImageDefinition {
        signature,
        warnings: WarningRules {
            drops_flat: true,
            ..WarningRules::new("recall and average precision are undefined")
        },
        ..ImageDefinition::default()
    };
    match &*iou_type {
        "bbox" => scorer::<BBox>(
            params,
            limit,
            Readers::files_of_boxes(),
            definition,
            options,
        ),
        _ => scorer::<Mask>(params, limit, Readers::masks(), definition, options),
    }
}

/// The limit on detections.
fn limit(options: &Options) -> Result<DetectionLimit, OptionError> {
    let (most, fixed) = (options.get(MOST), options.get(FIXED));
    let number = |name: &str, text: &str| {
        let number = text.parse().ok().filter(|&number: &usize| number > 0);
        let or_all = if name == MOST { ", or all" } else { "" };
        let expected = format!("expected a whole number above 0{or_all}");
        number.ok_or_else(|| OptionError::new(name, text, expected))
    };
    match (most.as_deref(), fixed.as_deref()) {
        (None, None) => Ok(DetectionLimit::PerImage(300)),
        (Some("all"), None) => Ok(DetectionLimit::All),
        (Some(most), None) => number(MOST, most).map(DetectionLimit::PerImage),
        (None, Some(most)) => number(FIXED, most).map(DetectionLimit::PerClass),
        (Some(_), Some(most)) => {
            let problem = Message::from("counts detections per class, without ").option(MOST, "");
            Err(OptionError::new(FIXED, most, problem))
        }
    }
}

fn scorer<S: ObjectShape>(
    params: CocoParams,
    limit: DetectionLimit,
    readers: Readers<S>,
    definition: ImageDefinition,
    options: &Options,
) -> Result<Scorer, OptionError>
where
    LvisAp<S>: ImageMetric<Shape = S>,
{
    let metric = LvisAp::new(params, limit).map_err(|error| invalid(&error))?;
    images("lvis", metric, readers.federated(), definition, options)
}

impl<S: ObjectShape + Clone + Send + Sync + 'static> ImageMetric for LvisAp<S>
where
    Self: AsRef<DynMetric<Self>>,
{
    type Shape = S;

    fn numbers(
        &self,
        score: &LvisCurves,
        state: Option<&LvisState>,
        classes: &[Class],
        index: Option<u32>,
    ) -> Option<Numbers> {
        let class_at = |index: u32| classes.get(index as usize);
        let scores = match index {
            Some(class) => score.class_summary(class),
            None => score.summary(|class| class_at(class)?.frequency),
        };
        let counts = match (index, state) {
            (Some(class), _) => {
                let slice = CocoSlice {
                    class: index,
                    ..CocoSlice::default()
                };
                let truths = json!(score.curves.truths(slice));
                let id = class_at(class).map(|class| json!(class.key));
                present([("category_id", id), ("truths", Some(truths))])
            }
            (None, Some(_)) => {
                let counts = score.counts;
                let counts = [
                    ("truths", counts.truths),
                    ("detections", counts.detections),
                    ("capped", counts.capped),
                    ("invalid", counts.invalid),
                    ("unverified", counts.unverified),
                ];
                present(counts.map(|(name, count)| (name, Some(json!(count)))))
            }
            (None, None) => Vec::new(),
        };
        Some(Numbers {
            scores,
            counts,
            ..Numbers::default()
        })
    }

    fn groups(&self, kind: &str, score: &LvisCurves, classes: &[Class]) -> Option<Vec<Group>> {
        let group = |frequency: Frequency| {
            let is_in = |class: &Class| class.frequency == Some(frequency);
            let keeps = |class: u32| classes.get(class as usize).is_some_and(is_in);
            let truths = score
                .curves
                .classes()
                .filter(|&class| keeps(class))
                .map(|class| {
                    let class = Some(class);
                    score.curves.truths(CocoSlice {
                        class,
                        ..CocoSlice::default()
                    })
                });
            let truths: u64 = truths.sum();
            let listed = classes.iter().filter(|class| is_in(class)).count();
            Group {
                name: frequency.to_string(),
                scores: score.summary_of(keeps),
                counts: present([
                    ("classes", Some(json!(listed))),
                    ("truths", Some(json!(truths))),
                ]),
            }
        };
        (kind == "frequency").then(|| Frequency::ALL.map(group).into())
    }

    fn details(
        &self,
        state: &LvisState,
        score: &LvisCurves,
        classes: &[Class],
        is_compact: bool,
    ) -> Option<Value> {
        let params = self.params();
        let mut details = summaries(params, &score.curves, |index| self.curve(state, index));
        if !is_compact {
            let mut arrays = arrays(params, &score.curves, classes)?;
            // There is one limit on detections, and so no axis for it.
            for (name, end) in [("shape", 4), ("axes", 4)] {
                if let Some(Value::Array(axis)) = arrays.get_mut(name) {
                    axis.truncate(end);
                }
            }
            arrays.remove("max_detections");
            details.extend(arrays);
        }
        Some(details.into())
    }

    fn warnings(
        &self,
        state: &LvisState,
        score: &LvisCurves,
        classes: &[Class],
        _: Remarks<'_>,
    ) -> Vec<Message> {
        warnings(self.limit(), score, state, classes)
    }

    fn beyond_limit(&self, state: &LvisState, score: &LvisCurves) -> Option<[u64; 2]> {
        let is_of_images = matches!(self.limit(), DetectionLimit::PerImage(_));
        is_of_images.then_some([score.counts.capped, state.notes.capped_images])
    }

    fn example_score(&self, state: &LvisState, name: &str) -> Option<Option<f64>> {
        (name == "AP")
            .then(|| self.average_precision(state))
            .flatten()
    }

    fn weighted<'s>(&'s self, states: &[&'s LvisState]) -> Option<Weighted<'s, Self>> {
        let weighted = LvisAp::weighted(self, states)?;
        Some(Box::new(weighted))
    }
}

fn warnings(
    limit: DetectionLimit,
    score: &LvisCurves,
    state: &LvisState,
    classes: &[Class],
) -> Vec<Message> {
    let (counts, notes, totals) = (score.counts, state.notes, state.class_totals());
    let mut warnings = Vec::new();
    if let DetectionLimit::PerImage(most) = limit
        && counts.capped > 0
    {
        let images = Counted::new("image has", "images have").warning(notes.capped_images);
        let cut = Counted::new("was left out", "were left out").warning(counts.capped);
        let more = images
            .text(format!(" more than {most} detections, of which "))
            .message(&cut);
        let more = more.text("; to count more, use ").option(MOST, "");
        warnings.push(
            more.text(", or ")
                .option(FIXED, "10000")
                .text(" for Fixed AP"),
        );
    }
    if let DetectionLimit::PerClass(most) = limit {
        let fewer = (classes.len() as u64).saturating_sub(score.full_classes);
        let words = format!("fewer than {most} detections, all of which Fixed AP counts");
        let [one, several] =
            ["category has", "categories have"].map(|verb| format!("{verb} {words}"));
        warnings.extend(Counted::warnings([(fewer, Counted::new(one, several))]));
    }
    let is_missing = |totals: &&ClassTotals| totals.truths > 0 && totals.detections == 0;
    let without = totals.values().filter(is_missing).count() as u64;
    let unknown = classes.iter().filter(|class| class.frequency.is_none());
    warnings.extend(Counted::warnings([
        (unknown.count() as u64, Counted::new(
            "category has no frequency, so it is in none of AP_r, AP_c and AP_f",
            "categories have no frequency, so they are in none of AP_r, AP_c and AP_f",
        )),
        (without, Counted::new(
            "category with ground truth has no detection that counts",
            "categories with ground truth have no detection that counts",
        )),
        (notes.flat_detections, Counted::new(
            "detection has no area above 0, and was left out",
            "detections have no area above 0, and were left out",
        )),
        (notes.flat_truths, Counted::new(
            "ground-truth object has no area above 0, and was left out",
            "ground-truth objects have no area above 0, and were left out",
        )),
        (notes.contradictory_images, Counted::new(
            "image has objects of a category in its neg_category_ids; its detections count",
            "images have objects of a category in their neg_category_ids; detections of it count",
        )),
    ]));
    let cuts_at_100 = matches!(limit, DetectionLimit::PerImage(most) if most <= 100);
    if counts.detections > 0 && notes.images_above_100 == 0 && !cuts_at_100 {
        warnings.push(Message::from(
            "no image has more than 100 detections; if the model keeps at most 100, as for COCO, average precision suffers: LVIS counts 300",
        ));
    }
    warnings
}
