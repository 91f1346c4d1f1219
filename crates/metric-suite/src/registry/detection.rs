//! Detections.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use metric_core::Metric;
use metric_vision::{
    BBox, BoxFormat, Detection, DetectionState, Detections, Matching, Profile, VERSION,
};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::json;

use super::read::{beside, json, kind, name, typed};
use super::scorer::{Adapter, noted};
use super::{
    Entries, Entry, FieldError, Missing, Named, Notes, OptionError, OptionSpec, Reading, Record,
    Sink, Value, never_whole,
};

pub(super) const DETECTION: Entry = Entry {
    name: "detection",
    help: "Precision, recall and F1 of boxes under a named matching rule",
    values: (
        "a list of boxes of one image and class (`class` and `image` may stand beside it), or {class: [box]} of one image",
        "a list of boxes, or of {\"box\": [...], \"score\": s}; or {class: [...]}",
    ),
    options: &[
        OptionSpec {
            name: "profile",
            value: "PROFILE",
            default: Profile::OneToOne.name(),
            choices: || Profile::ALL.iter().map(|choice| choice.name()).collect(),
            help: "Whose rules",
        },
        OptionSpec {
            name: "matching",
            value: "RULE",
            default: "",
            choices: || Matching::ALL.iter().map(|choice| choice.name()).collect(),
            help: "The matching rule, in place of the profile's",
        },
        OptionSpec {
            name: "iou",
            value: "T",
            default: "0.5",
            choices: Vec::new,
            help: "The IoU from which two boxes match",
        },
        OptionSpec {
            name: "box",
            value: "FORMAT",
            default: BoxFormat::Xywh.name(),
            choices: || BoxFormat::ALL.iter().map(|choice| choice.name()).collect(),
            help: "What the four numbers of a box are",
        },
        OptionSpec {
            name: "groups",
            value: "KIND,...",
            default: "class",
            choices: Vec::new,
            help: "Tables beside the total: class, image, both, or none",
        },
    ],
    whole_file: never_whole,
    build: |options| {
        let groups = options.get("groups").unwrap_or_default();
        let mut by = [false; 2];
        for group in groups.split(',').map(str::trim) {
            match group {
                "class" => by[0] = true,
                "image" => by[1] = true,
                "both" => by = [true; 2],
                "none" | "" => {}
                other => {
                    let reason = format!("{other:?}: expected class, image, both or none");
                    return Err(OptionError::new("groups", groups, reason));
                }
            }
        }
        let threshold: f64 = options.require("iou")?;
        let metric = Detections::new(options.require("profile")?, threshold).map_err(|error| {
            OptionError::new(
                "iou",
                options.get("iou").unwrap_or_default(),
                error.to_string(),
            )
        })?;
        let metric = match options.parse::<Matching>("matching")? {
            Some(matching) => metric.with_matching(matching),
            None => metric,
        };
        let reading = Boxes {
            metric,
            format: options.require("box")?,
            by_class: by[0],
            by_image: by[1],
        };
        Ok(Adapter::boxed("detection", VERSION, reading))
    },
};

struct Boxes {
    metric: Detections,
    format: BoxFormat,
    by_class: bool,
    by_image: bool,
}

const EXTRA_CLASSES: &str = "a predicted class is not asked for in its image and was left out";

impl Reading for Boxes {
    type Metric = Detections;

    fn metric(&self) -> &Detections {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let matching = self.metric.matching();
        [
            ("profile", Some(self.metric.profile().to_string())),
            ("matching", matching.map(|rule| rule.to_string())),
            ("iou", Some(self.metric.iou_threshold().to_string())),
            ("box", Some(self.format.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
    }

    fn read(&self, record: &Record<'_>, sink: &mut Sink<'_, Detections>) -> Result<(), FieldError> {
        let reference = json(record.reference, "[]");
        if kind(reference) == "an object" {
            self.read_image(record, reference, sink)
        } else {
            self.read_item(record, reference, sink)
        }
    }

    fn scores(&self, state: &DetectionState) -> Named<Option<f64>> {
        let score = self.metric.compute(state);
        vec![
            ("precision".to_owned(), score.precision),
            ("recall".to_owned(), score.recall),
            ("f1".to_owned(), score.f1),
        ]
    }

    fn counts(&self, state: &DetectionState) -> Named<serde_json::Value> {
        let mut counts = vec![
            ("tp".to_owned(), json!(state.counts.true_positives)),
            ("fp".to_owned(), json!(state.counts.false_positives)),
            ("fn".to_owned(), json!(state.counts.false_negatives)),
            ("repeated".to_owned(), json!(state.repeated)),
        ];
        if self.metric.profile() == Profile::SeedText {
            counts.push(("undecided".to_owned(), json!(state.undecided)));
        }
        counts
    }

    fn warnings(&self, state: &DetectionState, notes: &Notes) -> Vec<String> {
        let mut warnings = noted(notes);
        if state.repeated > 0 {
            warnings.push(format!(
                "{} × a prediction counts as right on a true box that another prediction has already; --profile one-to-one counts each true box once",
                state.repeated
            ));
        }
        if state.undecided > 0 {
            warnings.push(format!(
                "{} × a prediction has an IoU of exactly the threshold, which the text leaves undefined, and counts neither as right nor as wrong",
                state.undecided
            ));
        }
        warnings
    }

    fn examples_in(&self, record: &Record<'_>) -> u64 {
        match typed::<Entries<'_>>(json(record.reference, "[]")) {
            Ok(classes) => classes.0.len() as u64,
            Err(_) => 1,
        }
    }

    fn scores_empty_data(&self) -> bool {
        is_fusion_brain(self.metric.profile())
    }
}

fn is_fusion_brain(profile: Profile) -> bool {
    matches!(
        profile,
        Profile::FusionBrain2021 | Profile::FusionBrainBaseline
    )
}

impl Boxes {
    /// One image and class.
    fn read_item(
        &self,
        record: &Record<'_>,
        reference: &str,
        sink: &mut Sink<'_, Detections>,
    ) -> Result<(), FieldError> {
        let truths = self.boxes(reference).map_err(FieldError::reference)?;
        let detections = self
            .detections(json(record.prediction, "[]"))
            .map_err(FieldError::prediction)?;
        let outside = match self.by_class || self.by_image {
            true => beside(record.fields, &["class", "image"]).map_err(FieldError::reference)?,
            false => Entries::default(),
        };
        let field = |wanted: bool, field| match wanted {
            true => name(&outside, field).map_err(FieldError::reference),
            false => Ok(None),
        };
        let class = field(self.by_class, "class")?;
        let image = field(self.by_image, "image")?;
        let groups = self.groups(
            class.as_ref().map(|class| &*class.0),
            image.as_ref().map(|image| &*image.0),
        );
        sink.part(None, &groups, &detections, &truths);
        Ok(())
    }

    /// One image with its classes, each of which is an example.
    fn read_image(
        &self,
        record: &Record<'_>,
        reference: &str,
        sink: &mut Sink<'_, Detections>,
    ) -> Result<(), FieldError> {
        let truth: Entries<'_> = typed(reference).map_err(FieldError::reference)?;
        let predicted: Entries<'_> = match record.prediction {
            Value::Missing => Entries::default(),
            value => typed(json(value, "{}")).map_err(FieldError::prediction)?,
        };
        let predictions: HashMap<&str, &str> = predicted
            .0
            .iter()
            .map(|(class, boxes)| (&**class, *boxes))
            .collect();
        let image = record.id.to_string();
        // The challenge's programs insist on an answer to each question.
        let missing = if is_fusion_brain(self.metric.profile()) {
            Missing::Error
        } else {
            record.join.missing
        };
        for (class, boxes) in &truth.0 {
            let about = |problem: String| format!("class {class:?}: {problem}");
            let detections = match (predictions.get(&**class), missing) {
                (Some(detections), _) => self
                    .detections(detections)
                    .map_err(|problem| FieldError::prediction(about(problem)))?,
                (None, Missing::Error) => {
                    return Err(FieldError::prediction(format!(
                        "no prediction for the class {class:?}: expected one for each class of the reference, [] for none"
                    )));
                }
                (None, policy) => {
                    sink.missing(u64::from(record.prediction != Value::Missing));
                    match policy {
                        Missing::Skip => continue,
                        _ => Vec::new(),
                    }
                }
            };
            let truths = self
                .boxes(boxes)
                .map_err(|problem| FieldError::reference(about(problem)))?;
            let groups = self.groups(Some(class), Some(&image));
            sink.part(Some(class), &groups, &detections, &truths);
        }
        let asked: HashSet<&str> = truth.0.iter().map(|(class, _)| &**class).collect();
        let extra: Vec<_> = predicted
            .0
            .iter()
            .filter(|(class, _)| !asked.contains(&**class))
            .collect();
        // The challenge's programs look at no class that is not asked for.
        let ignored = record.join.ignore_extra || is_fusion_brain(self.metric.profile());
        match extra.first() {
            Some((class, _)) if !ignored => Err(FieldError::prediction(format!(
                "the class {class:?} is not in the reference; to leave such classes out, use --extra ignore"
            ))),
            _ => {
                sink.note(EXTRA_CLASSES, extra.len() as u64);
                Ok(())
            }
        }
    }

    fn groups<'a>(
        &self,
        class: Option<&'a str>,
        image: Option<&'a str>,
    ) -> Vec<(&'static str, &'a str)> {
        [
            ("class", class.filter(|_| self.by_class)),
            ("image", image.filter(|_| self.by_image)),
        ]
        .into_iter()
        .filter_map(|(kind, group)| Some((kind, group?)))
        .collect()
    }

    fn boxes(&self, json: &str) -> Result<Vec<BBox>, String> {
        let items = items(json)?;
        let boxes = items
            .iter()
            .enumerate()
            .map(|(index, item)| match item.score {
                Some(_) => Err(format!("box {index}: a true box has no score")),
                None => self.bbox(index, item),
            });
        boxes.collect()
    }

    fn detections(&self, json: &str) -> Result<Vec<Detection>, String> {
        let items = items(json)?;
        let detections = items.iter().enumerate().map(|(index, item)| {
            Ok(Detection {
                bbox: self.bbox(index, item)?,
                score: item.score,
            })
        });
        detections.collect()
    }

    fn bbox(&self, index: usize, item: &Item) -> Result<BBox, String> {
        match item.count {
            4 => self
                .format
                .read(item.numbers)
                .map_err(|error| format!("box {index}: {error}")),
            0 => Err(format!("box {index} is empty: expected 4 numbers")),
            count => Err(format!("box {index} has {count} numbers: expected 4")),
        }
    }
}

/// A box as it stands in a file, with or without a score.
#[derive(Default)]
struct Item {
    numbers: [f64; 4],
    count: usize,
    score: Option<f64>,
}

/// The items of a list; a list of one empty box is empty, as the Fusion Brain files write it.
fn items(json: &str) -> Result<Vec<Item>, String> {
    let items: Vec<Item> = typed(json).map_err(|error| match kind(json) {
        "a list" => error,
        other => format!("expected a list of boxes, found {other}"),
    })?;
    Ok(match items.as_slice() {
        [one] if one.count == 0 => Vec::new(),
        _ => items,
    })
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ItemVisitor)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a box of 4 numbers or {\"box\": [...], \"score\": s}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Item, A::Error> {
        let mut item = Item::default();
        while let Some(number) = numbers.next_element::<f64>()? {
            if let Some(place) = item.numbers.get_mut(item.count) {
                *place = number;
            }
            item.count += 1;
        }
        Ok(item)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Item, A::Error> {
        let (mut numbers, mut score) = (None, None);
        while let Some(name) = fields.next_key::<Cow<'de, str>>()? {
            match &*name {
                "box" if numbers.is_none() => numbers = Some(fields.next_value::<Vec<f64>>()?),
                "score" if score.is_none() => score = Some(fields.next_value::<f64>()?),
                "box" | "score" => {
                    return Err(A::Error::custom(format_args!("duplicate field {name:?}")));
                }
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        let numbers = numbers.ok_or_else(|| A::Error::missing_field("box"))?;
        let mut item = Item {
            count: numbers.len(),
            score,
            ..Item::default()
        };
        for (place, number) in item.numbers.iter_mut().zip(numbers) {
            *place = number;
        }
        Ok(item)
    }
}
