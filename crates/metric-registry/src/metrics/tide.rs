//! The errors of detections by type.

use std::collections::BTreeMap;

use metric_core::{Mean, NamedScores};
use metric_vision::read::FindingRules;
use metric_vision::{
    BBox, Class, InvalidTide, Tide, TideErrorType, TideOracle, TideScore, TideState,
};
use serde_json::{Value, json};

use crate::numbers::present;
use crate::shapes::images::{
    BOXES, COLUMNS, FIRST_CATEGORY, IMAGE_KEY, IMAGE_SIZE, IMAGES_LIST, ImageDefinition,
    ImageMetric, Readers, WarningRules, Weighted, class_names, images,
};
use crate::{Chart, Demo, Entry, Input, Numbers, OptionError, OptionSpec, ScoreSpec, Shape};

pub(crate) const TIDE: Entry = Entry {
    name: "tide",
    class: "TIDE",
    question: "How much AP does each type of error cost a detector?",
    programs: "tidecv",
    shapes: &[Shape::Images.as_is()],
    tried: &[&[("max-detections", "2")]],
    help: "TIDE: average precision that each of six types of box errors costs, matching tidecv 1.0.1",
    values: BOXES,
    demos: &[Demo::new(
        "COCO detections",
        ["coco-truth.json", "coco-results.json"],
        &[],
    )],
    options: &[
        OptionSpec::number("iou", "T", 0.0..=1.0, "IoU threshold of a match").or("0.5"),
        OptionSpec::number(
            "background",
            "T",
            0.0..=1.0,
            "Largest IoU of a detection that belongs to the background",
        )
        .or("0.1"),
        OptionSpec::integer(
            "max-detections",
            "N",
            1..=u32::MAX as i64,
            "Number of detections per image that count",
        )
        .or("100"),
        IMAGE_KEY,
        IMAGES_LIST,
        IMAGE_SIZE,
        COLUMNS,
        FIRST_CATEGORY,
    ],
    scores: &[
        ScoreSpec::higher("AP"),
        ScoreSpec::lower("dAP_").by("ERROR"),
    ],
    details: true,
    charts: &[Chart::Tide],
    input: Input::Documents,
    build: &|options| {
        let foreground = options.number("iou")?;
        let background = options.number("background")?;
        let most = options.integer("max-detections")?;
        let metric =
            Tide::new(foreground, background).and_then(|metric| metric.with_max_detections(most));
        let metric = metric.map_err(|error| {
            let name = match error {
                InvalidTide::Foreground(_) => "iou",
                InvalidTide::Background { .. } => "background",
                _ => "max-detections",
            };
            OptionError::new(name, &options.given(name), error.to_string())
        })?;
        let definition = ImageDefinition {
            signature: present([
                ("iou", Some(metric.foreground().to_string())),
                ("background", Some(metric.background().to_string())),
                ("max-detections", Some(metric.max_detections().to_string())),
            ]),
            findings: FindingRules::default()
                .with_max_detections(Some(metric.max_detections()))
                .with_max_by_class(false),
            warnings: WarningRules::new("average precision is undefined"),
            ..ImageDefinition::default()
        };
        images("tide", metric, Readers::boxes(), definition, options)
    },
    ..Entry::BASE
};

impl ImageMetric for Tide {
    type Shape = BBox;

    fn numbers(
        &self,
        score: &TideScore,
        _: Option<&TideState>,
        _: &[Class],
        _: Option<u32>,
    ) -> Option<Numbers> {
        let errors = score.errors.iter();
        let counts = errors.map(|found| (found.error.name().to_owned(), json!(found.count)));
        Some(Numbers {
            scores: score.named_scores(),
            counts: counts.collect(),
            ..Numbers::default()
        })
    }

    /// The average precision of each class, and what it is once the errors of a type are corrected.
    fn details(
        &self,
        state: &TideState,
        score: &TideScore,
        classes: &[Class],
        _: bool,
    ) -> Option<Value> {
        let errors = TideErrorType::ALL.iter().map(|&error| {
            let found = score.error(error);
            json!({"error": error.name(), "dAP": found.delta_ap, "count": found.count})
        });
        let errors: Vec<_> = errors.collect();
        let corrected = TideErrorType::ALL.iter().copied().map(TideOracle::Error);
        let oracles: Vec<_> = std::iter::once(TideOracle::None).chain(corrected).collect();
        let mut found = state.average_precisions_by(&oracles).into_iter();
        let before = found.next().unwrap_or_default();
        let corrected: Vec<_> = TideErrorType::ALL.iter().copied().zip(found).collect();
        let by_class = (0..)
            .zip(class_names(classes))
            .filter_map(|(class, name): (u32, _)| {
                let average_precision = before.get(&class)?;
                let of_error = |(error, after): &(TideErrorType, BTreeMap<u32, f64>)| {
                    (error.name().to_owned(), json!(after.get(&class)))
                };
                let corrected: serde_json::Map<_, _> = corrected.iter().map(of_error).collect();
                Some(json!({"class": name, "AP": average_precision, "AP_corrected": corrected}))
            });
        let by_class: Vec<_> = by_class.collect();
        Some(json!({
            "AP": score.average_precision,
            "errors": errors,
            "dAP_FP": score.false_positives,
            "dAP_FN": score.false_negatives,
            "classes": by_class,
        }))
    }

    /// AP alone takes one pass over the detections, all scores nine.
    fn example_score(&self, state: &TideState, name: &str) -> Option<Option<f64>> {
        (name == "AP").then(|| {
            let of_classes = state.average_precisions(TideOracle::None).into_values();
            of_classes.collect::<Mean>().value()
        })
    }

    fn weighted<'s>(&'s self, states: &[&'s TideState]) -> Option<Weighted<'s, Self>> {
        Some(Box::new(Tide::weighted(self, states)))
    }
}
