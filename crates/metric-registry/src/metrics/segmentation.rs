//! Semantic segmentation: the IoU of classes of pixels.

use std::borrow::Cow;
use std::collections::BTreeSet;

use metric_core::{Metric, NamedScores};
use metric_record::{Message, Side};
use metric_segmentation::{
    ClassPixels, PixelConfusions, PixelCounter, Segmentation, SegmentationError,
    SegmentationProfile, VERSION,
};
use serde_json::{Value, json};

use crate::numbers::{named, present};
use crate::shapes::label_maps::{self, LabelMapMetric, LabelMaps, MAPS};
use crate::{
    Asked, Chart, Demo, Entry, Group, Input, Named, Numbers, OptionError, OptionKind, OptionSpec,
    Options, Scope, ScoreSpec, Shape, scorer,
};

/// The profiles whose classes and ignored labels are options.
const OWN_CLASSES: &[&str] = &[
    SegmentationProfile::HuggingFace.name(),
    SegmentationProfile::MmSeg.name(),
    SegmentationProfile::Detectron2.name(),
];
const CLASSES: OptionSpec = OptionSpec::list(
    "classes",
    "N|FILE|NAME,...",
    &OptionKind::Text,
    "Number of classes, a file with a name per line, or names; needed unless the profile is cityscapes",
)
.or_file()
.only_with("profile", OWN_CLASSES);
const IGNORED: OptionSpec = OptionSpec::text(
    "ignore-index",
    "LABEL",
    "Reference labels whose pixels do not count, separated by commas, or none",
)
.or("255")
.only_with("profile", OWN_CLASSES);
const REDUCE: OptionSpec = OptionSpec::flag(
    "reduce-zero-label",
    "Ignore reference label 0, and subtract 1 from the others, as for ADE20K",
)
.also("reduce-labels")
.only_with("profile", OWN_CLASSES);
const LABEL_MAP: OptionSpec = OptionSpec::list(
    "label-map",
    "FILE|OLD:NEW,...",
    &OptionKind::Text,
    "Other labels in the place of those of the references",
)
.or_file();

pub(crate) const SEGMENTATION: Entry = Entry {
    name: "segmentation",
    question: "Does each pixel have the right class? mIoU, accuracy, Dice",
    programs: "evaluate, mmsegmentation, detectron2, cityscapesScripts",
    shapes: &[
        Shape::LabelMaps.with(&[("classes", "12")]),
        Shape::LabelMaps.with(&[("profile", "cityscapes")]),
    ],
    tried: &[
        &[("ignore-index", "0"), ("groups", "class"), ("unknown-labels", "count")],
        &[("groups", "class")],
        &[("profile", "mmseg"), ("label-map", "7:8,8:7"), ("ignore-index", "none"), ("unknown-labels", "count")],
        &[("profile", "detectron2"), ("reduce-zero-label", ""), ("unknown-labels", "count")],
    ],
    help: "Semantic segmentation of label maps: mIoU, accuracy, precision, Dice",
    values: MAPS,
    known_as: &[(
        &["miou", "mean-iou", "mean_iou", "semantic-segmentation", "jaccard", "pixel-accuracy", "sem_seg", "cityscapes"],
        "",
    )],
    demos: &[Demo::new("label maps", ["maps.jsonl", "predicted-maps.jsonl"], &["mIoU", "mAcc", "aAcc"])
        .with(&[("classes", "sky,road,car")])],
    options: &[
        OptionSpec::choice::<SegmentationProfile>("profile", "PROFILE", "Program whose scores to compute")
            .or(SegmentationProfile::HuggingFace.name()),
        CLASSES,
        IGNORED,
        REDUCE,
        LABEL_MAP,
        OptionSpec::one_of("unknown-labels", "POLICY", || vec!["error", "count"],
            "What to do with reference labels that are neither a class nor ignored: stop with an error, or count the prediction there as incorrect")
            .or("error"),
        label_maps::OPTIONS[0],
        label_maps::OPTIONS[1],
        label_maps::OPTIONS[2],
        label_maps::OPTIONS[3],
        OptionSpec::groups(|| vec!["none", "class"],
            "Tables in addition to the total. --details writes the confusion matrix, for more than 1,000 classes as a list of cells"),
    ],
    scores: &[
        ScoreSpec::higher("mIoU"),
        ScoreSpec::higher("mAcc"),
        ScoreSpec::higher("aAcc"),
        ScoreSpec::higher("fwIoU"),
        ScoreSpec::higher("mPrecision"),
        ScoreSpec::higher("mRecall"),
        ScoreSpec::higher("mDice"),
        ScoreSpec::higher("mF1"),
        ScoreSpec::higher("mIoU_category"),
        ScoreSpec::higher("IoU"),
        ScoreSpec::higher("Acc"),
        ScoreSpec::higher("Precision"),
        ScoreSpec::higher("Dice"),
        ScoreSpec::higher("F1"),
    ],
    groups: &["class", "category"],
    details: true,
    charts: &[Chart::Classes],
    input: Input::Files(label_maps::ENDINGS),
    examples: "images",
    build: &|options| {
        let maps = LabelMaps::new(Pixels::new(options)?, options)?;
        Ok(scorer("segmentation", VERSION, maps))
    },
    ..Entry::BASE
};

/// With more classes, the details have the cells alone.
const MATRIX: usize = 1_000;

/// The metric under its options.
struct Pixels {
    metric: Segmentation,
    /// The names of the classes; none where only their number is given.
    names: Vec<String>,
    label_map: Vec<(i64, i64)>,
    reduces: bool,
    counts_unknown: bool,
    by_class: bool,
}

impl Pixels {
    fn new(options: &Options) -> Result<Self, OptionError> {
        let profile: SegmentationProfile = options.require("profile")?;
        let label_map = label_map(options)?;
        let (metric, names) = if profile == SegmentationProfile::Cityscapes {
            let names = Segmentation::cityscapes_names().map(str::to_owned);
            (Segmentation::cityscapes(), names.to_vec())
        } else {
            let (count, names) = classes(options)?;
            let given = options.given(CLASSES.name);
            let refused = |option: &str, given: &str, error: SegmentationError| {
                OptionError::new(option, given, error.to_string())
            };
            let metric = Segmentation::new(count);
            let metric = metric.map_err(|error| refused(CLASSES.name, &given, error))?;
            let mut metric = metric.with_profile(profile).with_ignored(ignored(options)?);
            if options.has(REDUCE.name) {
                let reduced = metric.with_reduced_labels();
                metric = reduced.map_err(|error| refused(REDUCE.name, "", error))?;
            }
            (metric, names)
        };
        Ok(Self {
            metric: metric.with_label_map(label_map.iter().copied()),
            names,
            label_map,
            reduces: options.has(REDUCE.name),
            counts_unknown: options.is("unknown-labels", "count"),
            by_class: options.is("groups", "class"),
        })
    }

    fn is_cityscapes(&self) -> bool {
        self.metric.profile() == SegmentationProfile::Cityscapes
    }

    /// The names of the classes, of which each is unique.
    fn class_names(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let shared: BTreeSet<&str> = self
            .names
            .iter()
            .filter(|name| !seen.insert(name.as_str()))
            .map(String::as_str)
            .collect();
        let name = |label: u32| match self.names.get(label as usize) {
            Some(name) if !name.is_empty() && !shared.contains(name.as_str()) => name.clone(),
            _ => label.to_string(),
        };
        (0..self.metric.classes()).map(name).collect()
    }

    /// The scores that the profile has.
    fn scores(&self, state: &PixelConfusions) -> Named<Option<f64>> {
        let names: &[&str] = match self.metric.profile() {
            SegmentationProfile::Cityscapes => &["mIoU", "mIoU_category"],
            SegmentationProfile::Detectron2 => &["mIoU", "mAcc", "aAcc", "fwIoU"],
            _ => &[
                "mIoU",
                "mAcc",
                "aAcc",
                "fwIoU",
                "mPrecision",
                "mRecall",
                "mDice",
                "mF1",
            ],
        };
        let scores = self.metric.compute(state).named_scores().into_iter();
        scores
            .filter(|(name, _)| names.contains(&name.as_str()))
            .collect()
    }

    fn groups(&self, state: &PixelConfusions) -> Named<Vec<Group>> {
        let names = self.class_names();
        let scores = |pixels: &ClassPixels| -> Named<Option<f64>> {
            let iou = ("IoU", self.metric.class_iou(pixels));
            let acc = ("Acc", pixels.accuracy());
            match self.metric.profile() {
                SegmentationProfile::Cityscapes => named([iou]),
                SegmentationProfile::Detectron2 => named([iou, acc]),
                _ => named([
                    iou,
                    acc,
                    ("Precision", pixels.precision()),
                    ("Dice", pixels.dice()),
                    ("F1", pixels.f1()),
                ]),
            }
        };
        let group = |name: String, pixels: &ClassPixels| Group {
            name,
            scores: scores(pixels),
            counts: present([
                ("label", pixels.label.map(|label| json!(label))),
                ("reference", Some(json!(pixels.reference))),
                ("prediction", Some(json!(pixels.prediction))),
                ("both", Some(json!(pixels.both))),
            ]),
        };
        let classes = self.metric.class_pixels(state);
        let name = |pixels: &ClassPixels| {
            let name = pixels.label.and_then(|label| names.get(label as usize));
            name.cloned().unwrap_or_default()
        };
        let classes = classes.iter().map(|pixels| group(name(pixels), pixels));
        let mut groups = named([("class", classes.collect::<Vec<_>>())]);
        if self.is_cityscapes() {
            let categories = self.metric.category_pixels(state).into_iter();
            let categories = categories.map(|(name, pixels)| group(name.to_owned(), &pixels));
            groups.push(("category".to_owned(), categories.collect()));
        }
        groups
    }

    fn details(&self, state: &PixelConfusions) -> Value {
        let names = self.class_names();
        let class = |label: u32| names.get(label as usize);
        let cells = state.cells().map(|(row, column, pixels)| {
            json!({"reference": class(row), "prediction": class(column), "count": pixels})
        });
        let cells: Vec<Value> = cells.collect();
        let mut details = json!({
            "classes": names,
            "rows": "reference",
            "columns": "prediction",
            "cells": cells,
        });
        if names.len() <= MATRIX {
            let size = names.len() + 1;
            let mut matrix = vec![vec![0_u64; size]; size];
            for (row, column, pixels) in state.cells() {
                matrix[row as usize][column as usize] = pixels;
            }
            details["matrix"] = json!(matrix);
        }
        details
    }
}

impl LabelMapMetric for Pixels {
    fn counted(&self) -> &Segmentation {
        &self.metric
    }

    fn definition(&self) -> Named<String> {
        let own = |value: String| (!self.is_cityscapes()).then_some(value);
        let listed = |labels: Vec<String>| {
            if labels.is_empty() {
                "none".to_owned()
            } else {
                labels.join(",")
            }
        };
        let ignored = self.metric.ignored().iter().map(i64::to_string).collect();
        let mapped = self.label_map.iter();
        let mapped: Vec<String> = mapped.map(|(old, new)| format!("{old}={new}")).collect();
        present([
            ("profile", Some(self.metric.profile().name().to_owned())),
            ("classes", own(self.metric.classes().to_string())),
            ("ignore-index", own(listed(ignored))),
            ("reduce-zero-label", self.reduces.then(|| "yes".to_owned())),
            ("label-map", (!mapped.is_empty()).then(|| mapped.join(","))),
            (
                "unknown-labels",
                self.counts_unknown.then(|| "count".to_owned()),
            ),
        ])
    }

    fn judge(&self, counter: &mut PixelCounter<'_>) -> Result<(), (Side, Message)> {
        let last = self.metric.classes() - 1;
        if let Some(label) = counter.unknown().filter(|_| !self.counts_unknown) {
            let problem = Message::from(format!(
                "found the label {label}: expected a class (0 to {last}) or an ignored label"
            ));
            let problem = if label == i64::from(last) + 1 {
                problem
                    .text("; the number of classes seems to be one too small, see ")
                    .option("classes", "")
            } else {
                problem
                    .text("; to count it as a class of its own, use ")
                    .option("unknown-labels", "count")
            };
            return Err((Side::Reference, problem));
        }
        if let Some(label) = counter.outside().filter(|_| self.is_cityscapes()) {
            let problem = format!(
                "found the label {label}: expected a label id of Cityscapes (0 to {last}); for train ids, use the default profile with "
            );
            return Err((
                Side::Prediction,
                Message::from(problem).option("classes", "19"),
            ));
        }
        Ok(())
    }

    fn numbers(&self, state: &PixelConfusions, asked: Asked<'_>) -> Numbers {
        let totals = Totals::new(&self.metric, state);
        let is_total = asked.scope == Scope::Total;
        Numbers {
            scores: self.scores(state),
            counts: named([
                ("pixels", totals.pixels),
                ("correct", totals.correct),
                ("ignored", totals.ignored),
                ("unknown", totals.unknown),
                ("outside", totals.outside),
            ]),
            groups: if is_total && self.by_class {
                self.groups(state)
            } else {
                Vec::new()
            },
            warnings: match asked.remarks {
                Some(_) => warnings(&self.metric, state, totals),
                None => Vec::new(),
            },
            details: asked.details.then(|| self.details(state)),
            ..Numbers::default()
        }
    }
}

/// Sums of pixels.
#[derive(Clone, Copy, Default)]
struct Totals {
    pixels: u64,
    correct: u64,
    ignored: u64,
    unknown: u64,
    outside: u64,
    /// Wrong pixels whose predicted label is that of the reference minus 1, and plus 1.
    shifted: [u64; 2],
    /// Pixels above 18 in the references and in the predictions.
    above: [u64; 2],
}

impl Totals {
    fn new(metric: &Segmentation, state: &PixelConfusions) -> Self {
        let classes = metric.classes();
        let mut totals = Self {
            ignored: state.ignored(),
            ..Self::default()
        };
        let is_cityscapes = metric.profile() == SegmentationProfile::Cityscapes;
        for (row, column, pixels) in state.cells() {
            if is_cityscapes && !metric.counts(row, column) {
                totals.ignored += pixels;
                continue;
            }
            let add =
                |count: &mut u64, is_counted: bool| *count += if is_counted { pixels } else { 0 };
            add(&mut totals.pixels, true);
            add(&mut totals.correct, row == column && row < classes);
            add(&mut totals.unknown, row == classes);
            add(&mut totals.outside, column == classes);
            add(&mut totals.shifted[0], row < classes && column + 1 == row);
            add(
                &mut totals.shifted[1],
                column < classes && row + 1 == column,
            );
            add(&mut totals.above[0], row > 18);
            add(&mut totals.above[1], column > 18);
        }
        let observed = state.observed();
        let nothing = observed.predicted_255 + observed.missing;
        totals.above[1] -= nothing.min(totals.above[1]);
        totals
    }
}

/// The labels of Cityscapes and of its train ids, as they are usually counted.
const CITYSCAPES: std::ops::RangeInclusive<u32> = 19..=35;

fn warnings(metric: &Segmentation, state: &PixelConfusions, totals: Totals) -> Vec<Message> {
    let mut warnings = Vec::new();
    let classes = metric.classes();
    let observed = state.observed();
    let absent = metric
        .class_pixels(state)
        .iter()
        .filter(|class| class.reference == 0)
        .count();
    if absent > 0 && totals.pixels > 0 {
        warnings.push(Message::from(format!(
            "IoU of {absent} {} is 0 or undefined, because no reference has {}",
            if absent == 1 { "class" } else { "classes" },
            if absent == 1 { "it" } else { "them" }
        )));
    }
    if classes > 1
        && totals.pixels > 0
        && observed.reference_other == 0
        && observed.reference_255 > 0
        && metric.ignored().contains(&255)
    {
        let text = "the references have no labels but 0 and 255, as masks do, and 255 is ignored: convert 255 to 1, or use ";
        let warning = Message::from(text).option("label-map", "255:1").text(" ");
        warnings.push(warning.option("ignore-index", "none"));
    }
    for label in metric
        .ignored()
        .iter()
        .filter(|label| (0..i64::from(classes)).contains(*label))
    {
        let warning = Message::default().option("ignore-index", &label.to_string());
        warnings.push(warning.text(
            " is a class: its pixels in the references do not count, and predictions of it elsewhere are errors of other classes",
        ));
    }
    warnings.extend(shifted(metric, totals));
    let outside = totals.outside.saturating_sub(observed.missing);
    if outside > 0 {
        warnings.push(Message::from(format!(
            "{outside} predicted labels are not classes (0 to {}), and their pixels count as missed; {} of them are 255",
            classes - 1,
            observed.predicted_255
        )));
    }
    if observed.next_label > 0 && observed.next_label == totals.unknown {
        let text = format!(
            "the largest label of the references is {classes}: the number of classes seems to be one too small, see "
        );
        warnings.push(Message::from(text).option("classes", ""));
    }
    let all = totals.pixels + totals.ignored;
    if 2 * totals.ignored > all {
        let ignored = totals.ignored;
        warnings
            .push(format!("{ignored} of {all} pixels are ignored, which is more than half").into());
    }
    let [references, predictions] = totals.above.map(|pixels| pixels > 0);
    if CITYSCAPES.contains(&classes) && references != predictions {
        let [low, high] = if predictions {
            ["references", "predictions"]
        } else {
            ["predictions", "references"]
        };
        warnings.push(Message::from(format!(
            "the {low} have labels of 0 to 18, and the {high} have labels above 18: for Cityscapes, one side may have train ids and the other label ids"
        )));
    }
    warnings
}

/// The warning about labels that one side has moved by 1.
fn shifted(metric: &Segmentation, totals: Totals) -> Option<Message> {
    let errors = totals.pixels - totals.correct;
    // A single pair of classes may be confused in one direction.
    if metric.classes() < 3 || 10 * errors <= totals.pixels {
        return None;
    }
    let words = ["minus 1", "plus 1"].into_iter().zip(totals.shifted);
    let (word, pixels) = words.max_by_key(|(_, pixels)| *pixels)?;
    if 10 * pixels <= 9 * errors {
        return None;
    }
    let text = format!(
        "{pixels} of {errors} incorrect pixels are predicted as the label of the reference {word}: labels of one side seem to be reduced, see "
    );
    Some(Message::from(text).option(REDUCE.name, ""))
}

/// The number of classes, and their names if they are given.
fn classes(options: &Options) -> Result<(u64, Vec<String>), OptionError> {
    let parts = options.parts(CLASSES.name)?;
    let given = options.given(CLASSES.name);
    let refused = |problem: &str| Err(OptionError::new(CLASSES.name, &given, problem));
    match &*parts {
        [] => refused("expected the number of classes, a file with a name per line, or names"),
        [only] => match only.trim().parse() {
            Ok(count) => Ok((count, Vec::new())),
            Err(_) if only.contains(['.', '/', '\\']) => refused(
                "there is no such file: expected a number, a file with a name per line, or names",
            ),
            Err(_) => Ok((1, vec![only.clone().into_owned()])),
        },
        names => Ok((
            names.len() as u64,
            names.iter().map(|name| name.trim().to_owned()).collect(),
        )),
    }
}

/// The labels that are ignored.
fn ignored(options: &Options) -> Result<Vec<i64>, OptionError> {
    if options.is(IGNORED.name, "none") {
        return Ok(Vec::new());
    }
    options.list(
        IGNORED.name,
        "a label, which is an integer, or none",
        |label| label.parse().ok(),
    )
}

/// The labels that take the place of others.
fn label_map(options: &Options) -> Result<Vec<(i64, i64)>, OptionError> {
    let pair = |part: &str| {
        let (old, new) = part.split_once([':', ' ', '\t', ','])?;
        Some((old.trim().parse().ok()?, new.trim().parse().ok()?))
    };
    let parts = options.parts(LABEL_MAP.name)?;
    let given = options.given(LABEL_MAP.name);
    let mut pairs: Vec<(i64, i64)> = Vec::new();
    for part in parts
        .iter()
        .map(Cow::as_ref)
        .filter(|part| !part.trim().is_empty())
    {
        let problem = |problem: String| OptionError::new(LABEL_MAP.name, &given, problem);
        let expected = || {
            problem(format!(
                "found {part:?}, expected a label and its replacement, such as 0:1"
            ))
        };
        let (old, new) = pair(part.trim()).ok_or_else(expected)?;
        if pairs.iter().any(|(other, _)| *other == old) {
            return Err(problem(format!("the label {old} is mapped twice")));
        }
        pairs.push((old, new));
    }
    pairs.sort_unstable();
    Ok(pairs)
}
