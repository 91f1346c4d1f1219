//! Records: one class of an image, or an image with its classes.

use std::borrow::Cow;
use std::collections::HashMap;

use metric_record::json::{self, Entries, typed};
use metric_record::{FieldError, Message, Missing, Record};
use metric_vision::read::InvalidLists;
use metric_vision::{DetectionSweepState, Key, Matching, TooManyPairs};

use super::{Boxes, extra_classes};
use crate::Sink;

impl Boxes {
    /// Reads a record of one image and class.
    pub(super) fn read_item(
        &self,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let truths = record.reference.to_json_or("[]");
        let truths = truths.map_err(FieldError::reference)?;
        let detections = record.prediction.to_json_or("[]");
        let detections = detections.map_err(FieldError::prediction)?;
        let outside = if self.by_class || self.by_image {
            json::fields(record.fields, &["class", "image"]).map_err(FieldError::reference)?
        } else {
            Entries::default()
        };
        let field = |wanted: bool, field| {
            let value = wanted.then(|| outside.name(field)).transpose();
            value.map_err(FieldError::reference).map(Option::flatten)
        };
        let class = field(self.by_class, "class")?;
        let image = field(self.by_image, "image")?;
        let names = [class.as_deref(), image.as_deref()];
        let added = self.add(None, names, [&truths, &detections], sink);
        added.map_err(|error| self.refuse(&error))
    }

    /// Reads a record of one image with its classes, each of which is an example.
    pub(super) fn read_image(
        &self,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let reference = record.reference.to_json_or("{}");
        let reference = reference.map_err(FieldError::reference)?;
        let truth: Entries<'_> = typed(&reference).map_err(FieldError::reference)?;
        let is_missing = record.prediction.is_missing();
        let prediction = record.prediction.to_json_or("{}");
        let prediction = prediction.map_err(FieldError::prediction)?;
        let predicted: Entries<'_> = typed(&prediction).map_err(FieldError::prediction)?;
        let predictions = predicted.0.iter().map(|(class, boxes)| (&**class, *boxes));
        let mut predictions: HashMap<&str, &str> = predictions.collect();
        let image = record.id.to_string();
        // The challenge's programs insist on an answer to each question.
        let fusion_brain = self.metric.params().profile.is_fusion_brain();
        let missing = if fusion_brain {
            Missing::Error
        } else {
            record.join.missing
        };
        for (class, truths) in &truth.0 {
            let detections = match (predictions.get(&**class), missing) {
                (Some(detections), _) => *detections,
                (None, Missing::Error) => {
                    return Err(FieldError::prediction(format!(
                        "no prediction for the class {class:?}: expected one for each class of the reference, [] for none"
                    )));
                }
                (None, policy) => {
                    sink.missing(u64::from(!is_missing));
                    if policy == Missing::Skip {
                        continue;
                    }
                    "[]"
                }
            };
            let names = [Some(&**class), Some(&*image)];
            let added = self.add(Some(class), names, [truths, detections], sink);
            added.map_err(|mut error| {
                // What is wrong with the detections comes first.
                let mut unused = DetectionSweepState::default();
                if let InvalidLists::Truths(_) = error
                    && let Err(first) = self.lists.add(&mut unused, None, "[]", detections)
                {
                    error = first;
                }
                let error = self.refuse(&error);
                let class = Message::from(format!("class {class:?}: "));
                FieldError {
                    problem: class.message(&error.problem),
                    ..error
                }
            })?;
        }
        for (class, _) in &truth.0 {
            predictions.remove(&**class);
        }
        let is_extra = |(class, _): &&(Cow<'_, str>, &str)| predictions.contains_key(&**class);
        let extra: Vec<_> = predicted.0.iter().filter(is_extra).collect();
        // The challenge's programs look at no class that is not asked for.
        let ignored = record.join.ignore_extra || fusion_brain;
        match extra.first() {
            Some((class, _)) if !ignored => {
                let problem = format!(
                    "the class {class:?} is not in the reference; to leave such classes out, use "
                );
                let problem = Message::from(problem).option("extra", "ignore");
                Err(FieldError::prediction(problem))
            }
            _ => {
                for (class, _) in &extra {
                    sink.count_name(&extra_classes(), class, 1);
                }
                Ok(())
            }
        }
    }

    /// Adds an example: the ground truth and the detections of an image and a class, whose names are given as far as
    /// they are known.
    fn add(
        &self,
        part: Option<&str>,
        [class, image]: [Option<&str>; 2],
        [truths, detections]: [&str; 2],
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), InvalidLists> {
        let groups = self.groups(class, image);
        let add = |state: &mut DetectionSweepState| {
            let class = class.map(Key::from);
            self.lists.add(state, class, truths, detections)
        };
        let mut added = Ok(());
        if groups.is_empty() && !sink.wants_samples() {
            sink.counted_in(|state| added = add(state));
        } else {
            let mut state = DetectionSweepState::default();
            added = add(&mut state);
            if added.is_ok() {
                sink.measured(part, &groups, state);
            }
        }
        added
    }

    fn refuse(&self, error: &InvalidLists) -> FieldError {
        match error {
            InvalidLists::Truths(error) => FieldError::reference(error.to_string()),
            InvalidLists::TooManyPairs(error) => {
                FieldError::prediction(self.too_many_pairs(error)).limit()
            }
            InvalidLists::NoScore { .. } => {
                let problem = Message::from(format!("{error}: "))
                    .option("score-threshold", "")
                    .text(" and ")
                    .option("best-f1", "")
                    .text(" need it");
                FieldError::prediction(problem)
            }
            error => FieldError::prediction(error.to_string()),
        }
    }

    pub(super) fn groups<'a>(
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

    /// The error about an example that would take minutes, or gigabytes of memory.
    pub(super) fn too_many_pairs(&self, error: &TooManyPairs) -> Message {
        let message = Message::from(error.to_string());
        match self.metric.matching() {
            Some(Matching::OptimalSum) => message
                .text("; ")
                .option("matching", Matching::Optimal.name())
                .text(" has no such limit for boxes"),
            _ => message,
        }
    }
}
