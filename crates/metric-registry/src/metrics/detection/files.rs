//! Dataset files: each class of an image is an example.

use metric_record::{Message, ReadError};
use metric_vision::matching::MOST_PAIRS;
use metric_vision::read::ListForm;
use metric_vision::{BBox, Class, Image, Prediction, SweepItem, by_class};

use super::{Boxes, FORM, UNLISTED};
use crate::shapes::images::{ImageFiles, ImageReading, Listing};
use crate::{DataSet, Reading as _, Sink};

impl ImageReading for Boxes {
    type Shape = BBox;

    const HAS_PARTS: bool = true;

    fn files(&self) -> &ImageFiles<BBox> {
        &self.files
    }

    fn header(&self, _: &[Class]) {}

    /// Files say what their boxes are.
    fn accept(&self, data: &DataSet) -> Result<(), ReadError> {
        if self.form == FORM {
            return Ok(());
        }
        let (value, reason) = match self.form {
            ListForm::Box(_) => ("", "these files say what their boxes are"),
            form => (form.name(), "expected .jsonl or .json"),
        };
        let problem = Message::default().option("box", value);
        let problem = problem.text(format_args!(" goes with records: {reason}"));
        Err(ReadError::new(&data.references.name, problem))
    }

    fn add(
        &self,
        listing: &Listing,
        predictions: &[Prediction],
        image: &Image,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), ReadError> {
        if !listing.has_list {
            sink.tally(UNLISTED, 1);
        }
        let key = image.key.to_string();
        // Nearly all images have far fewer boxes.
        let are_few = predictions.len().saturating_mul(image.annotations.len()) <= MOST_PAIRS;
        let mut added = Ok(());
        by_class(predictions, image, |index, detections, truths| {
            let class = listing.classes.get(index as usize);
            let class = class.zip(listing.names.get(index as usize));
            let (Some((class, name)), Ok(())) = (class, &added) else {
                return;
            };
            let item = SweepItem {
                class: Some(class.key.clone()),
                truths: truths.to_vec(),
            };
            if !are_few && let Err(error) = self.metric().check_size(detections, &item) {
                let error = ReadError::new(&listing.predictions, self.too_many_pairs(&error));
                let item = format!("image {key}: class {}", class.key);
                added = Err(error.at(item).limit());
                return;
            }
            let groups = self.groups(Some(name), Some(&key));
            sink.part(Some(name), &groups, detections, &item);
        });
        added
    }
}
