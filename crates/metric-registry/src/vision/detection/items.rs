//! Records: one class of an image, or an image with its classes.

use std::collections::{HashMap, HashSet};

use metric_record::json::{self, Entries, typed};
use metric_record::{FieldError, Message, Missing, Record};
use metric_vision::read::{parse_detection_boxes, parse_truth_boxes};
use metric_vision::{Detection, Key, Matching, SweepItem, Truth};

use super::forms::Form;
use super::{Boxes, extra_classes};
use crate::{Reading as _, Sink};

impl<F: Form> Boxes<F> {
    /// One image and class.
    pub(super) fn read_item(
        &self,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let reference = record.reference.to_json_or("[]");
        let truths = reference.and_then(|json| self.truths(&json));
        let truths = truths.map_err(FieldError::reference)?;
        let prediction = record.prediction.to_json_or("[]");
        let prediction = prediction.map_err(FieldError::prediction)?;
        let detections = self
            .detections(&prediction)
            .map_err(FieldError::prediction)?;
        let outside = if self.by_class || self.by_image {
            json::fields(record.fields, &["class", "image"]).map_err(FieldError::reference)?
        } else {
            Entries::default()
        };
        let field = |wanted: bool, field| {
            if wanted {
                outside.name(field).map_err(FieldError::reference)
            } else {
                Ok(None)
            }
        };
        let class = field(self.by_class, "class")?;
        let image = field(self.by_image, "image")?;
        let groups = self.groups(class.as_deref(), image.as_deref());
        let item = SweepItem {
            class: class.as_deref().map(Key::from),
            truths,
        };
        self.check_size(&detections, &item)
            .map_err(|error| FieldError::prediction(error).limit())?;
        sink.part(None, &groups, &detections, &item);
        Ok(())
    }

    /// One image with its classes, each of which is an example.
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
        let predictions: HashMap<&str, &str> = predicted
            .0
            .iter()
            .map(|(class, boxes)| (&**class, *boxes))
            .collect();
        let image = record.id.to_string();
        // The challenge's programs insist on an answer to each question.
        let fusion_brain = self.metric.params().profile.is_fusion_brain();
        let missing = if fusion_brain {
            Missing::Error
        } else {
            record.join.missing
        };
        for (class, boxes) in &truth.0 {
            let about =
                |message: Message| Message::from(format!("class {class:?}: ")).message(&message);
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
                    sink.missing(u64::from(!is_missing));
                    match policy {
                        Missing::Skip => continue,
                        _ => Vec::new(),
                    }
                }
            };
            let truths = self
                .truths(boxes)
                .map_err(|problem| FieldError::reference(about(problem.into())))?;
            let item = SweepItem {
                class: Some(Key::from(&**class)),
                truths,
            };
            self.check_size(&detections, &item)
                .map_err(|error| FieldError::prediction(about(error)).limit())?;
            let groups = self.groups(Some(class), Some(&image));
            sink.part(Some(class), &groups, &detections, &item);
        }
        let asked: HashSet<&str> = truth.0.iter().map(|(class, _)| &**class).collect();
        let extra: Vec<_> = predicted
            .0
            .iter()
            .filter(|(class, _)| !asked.contains(&**class))
            .collect();
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

    /// Refuses an item that would take minutes, or gigabytes of memory.
    pub(super) fn check_size(
        &self,
        detections: &[Detection<F::Shape>],
        item: &SweepItem<F::Shape>,
    ) -> Result<(), Message> {
        let checked = self.metric().check_size(detections, item);
        checked.map_err(|error| {
            let message = Message::from(error.to_string());
            match self.metric.matching() {
                Some(Matching::OptimalSum) => message
                    .text("; ")
                    .option("matching", Matching::Optimal.name())
                    .text(" has no such limit for boxes"),
                _ => message,
            }
        })
    }

    pub(super) fn truths(&self, json: &str) -> Result<Vec<Truth<F::Shape>>, String> {
        parse_truth_boxes(json, &self.form).map_err(|error| error.to_string())
    }

    pub(super) fn detections(&self, json: &str) -> Result<Vec<Detection<F::Shape>>, Message> {
        let detections =
            parse_detection_boxes(json, &self.form).map_err(|error| error.to_string())?;
        if self.metric.needs_scores()
            && let Some(index) = detections.iter().position(|found| found.score.is_none())
        {
            return Err(Message::from(format!("box {index} has no score: "))
                .option("score-threshold", "")
                .text(" and ")
                .option("best-f1", "")
                .text(" need it"));
        }
        Ok(detections)
    }
}
