//! Dataset files: each class of an image is an example.

use std::collections::BTreeMap;
use std::sync::Arc;

use metric_core::Metric;
use metric_record::{Message, ReadError};
use metric_vision::matching::MOST_PAIRS;
use metric_vision::read::{CocoStream, FindingRules};
use metric_vision::{BBox, BoxFormat, Class, Image, Prediction, SweepItem, by_class};

use super::forms::Form;
use super::{Boxes, UNLISTED};
use crate::fields::objects_by_id;
use crate::reading::{Gathered, Pool};
use crate::vision::findings::{number_of, tally_findings};
use crate::vision::images::{
    CORNERS, Gathered as Streamed, ReadBoxes, class_names, coco_options, findings_in, image_inputs,
    is_listed, note_warnings, read_boxes, tally_order,
};
use crate::{DataSet, DataSetError, ReadDataSet, Sink};

impl<F: Form> ReadDataSet<Self> for Boxes<F> {
    fn fields(&self, data: &DataSet) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        objects_by_id(&data.references, &["images"], "id")
    }

    fn read_data_set(
        &self,
        mut data: DataSet,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), DataSetError> {
        self.folders.find_images(&mut data)?;
        self.folders.check_use(&data)?;
        F::read_data_set(self, data, sink)
    }
}

impl Boxes<BoxFormat> {
    /// Reads files, which say what their boxes are. An image is a record, a class of it an example.
    pub(super) fn read_files(
        &self,
        data: DataSet,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), DataSetError> {
        if self.form != BoxFormat::default() {
            let problem = Message::default()
                .option("box", "")
                .text(" goes with records: these files say what their boxes are");
            return Err(ReadError::new(&data.references.name, problem).into());
        }
        if self.stream(&data, sink).is_some() {
            return Ok(());
        }
        let ReadBoxes {
            dataset,
            warnings,
            order,
        } = read_boxes(&data, &self.folders)?;
        for (predictions, image) in dataset.examples(0..dataset.images().len()) {
            // Nearly all images have far fewer boxes.
            if predictions.len().saturating_mul(image.annotations.len()) <= MOST_PAIRS {
                continue;
            }
            let mut checked = Ok(());
            by_class(predictions, image, |index, detections, truths| {
                if checked.is_ok() {
                    let class = dataset.classes().get(index as usize);
                    let class = class.map_or_else(String::new, |class| class.key.to_string());
                    let item = SweepItem {
                        class: None,
                        truths: truths.to_vec(),
                    };
                    checked = self
                        .check_size(detections, &item)
                        .map_err(|error| (class, error));
                }
            });
            checked.map_err(|(class, error)| {
                let item = format!("image {}: class {class}", image.key);
                let error = ReadError::new(&data.predictions.name, error).at(item);
                error.limit()
            })?;
        }
        drop(data);
        tally_order(sink, &order);
        tally_findings(sink, &findings_in(&dataset, FindingRules::default()));
        let images = Images {
            boxes: self,
            classes: dataset.classes(),
            names: class_names(dataset.classes()),
        };
        if !dataset.classes().iter().any(is_listed) {
            sink.tally(UNLISTED, dataset.images().len() as u64);
        }
        if sink.wants_samples() {
            for (predictions, image) in dataset.examples(0..dataset.images().len()) {
                sink.record(&image.key);
                images.add(predictions, image, sink);
                if sink.wants_inputs() {
                    let [reference, prediction] = image_inputs(&images.names, predictions, image);
                    sink.inputs(reference, prediction);
                }
            }
        } else {
            sink.add(dataset.measure(&images));
        }
        note_warnings(sink, &warnings);
        Ok(())
    }

    /// Adds the images of COCO's files while these are read. Returns `None`, and has added nothing, if the files
    /// are to be read as a whole.
    fn stream(&self, data: &DataSet, sink: &mut Sink<'_, Self>) -> Option<()> {
        if self.folders.columns.is_some() || sink.wants_samples() {
            return None;
        }
        let options = coco_options(data, false);
        let stream = CocoStream::<BBox>::open(&data.references, &data.predictions, options)?;
        let classes = stream.classes().to_vec();
        let count = stream.images() as u64;
        let images = Images {
            boxes: self,
            classes: &classes,
            names: class_names(&classes),
        };
        let fold = stream.fold(|part: &mut Streamed<_>, _, predictions, image| {
            let pairs = predictions.len().saturating_mul(image.annotations.len());
            (pairs <= MOST_PAIRS).then_some(())?;
            part.order.add_corners(predictions, image);
            let number = |class| number_of(&classes, class);
            part.findings
                .add(predictions, image, FindingRules::default(), number);
            images.update(&mut part.state, predictions, image);
            Some(())
        })?;
        let Streamed {
            state: pool,
            order,
            findings,
            ..
        } = Streamed::sum(fold.parts);
        tally_findings(sink, &findings);
        tally_order(sink, &Some((CORNERS, order)));
        if !classes.iter().any(is_listed) {
            sink.tally(UNLISTED, count);
        }
        sink.add(pool);
        note_warnings(sink, &fold.warnings);
        Some(())
    }
}

/// The metric of whole images, so that a data set can be measured on several threads.
struct Images<'a> {
    boxes: &'a Boxes<BoxFormat>,
    classes: &'a [Class],
    /// The names of the classes.
    names: Vec<String>,
}

impl Images<'_> {
    /// Adds an image, each class of which is an example.
    fn add(
        &self,
        predictions: &[Prediction],
        image: &Image,
        sink: &mut Sink<'_, Boxes<BoxFormat>>,
    ) {
        let key = image.key.to_string();
        by_class(predictions, image, |index, detections, truths| {
            let class = self.classes.get(index as usize);
            let name = self.names.get(index as usize);
            let Some((class, name)) = class.zip(name) else {
                return;
            };
            let item = SweepItem {
                class: Some(class.key.clone()),
                truths: truths.to_vec(),
            };
            let groups = self.boxes.groups(Some(name), Some(&key));
            sink.part(Some(name), &groups, detections, &item);
        });
    }
}

impl Metric for Images<'_> {
    type Prediction = [Prediction];
    type Reference = Image;
    type State = Pool;
    type Score = ();

    fn update(&self, state: &mut Pool, prediction: &[Prediction], reference: &Image) {
        let mut gathered = Gathered::new(Box::new(()), false, Arc::default());
        std::mem::swap(state, &mut gathered.pool);
        let mut sink = Sink::new(self.boxes, &mut gathered);
        self.add(prediction, reference, &mut sink);
        std::mem::swap(state, &mut gathered.pool);
    }

    fn compute(&self, _state: &Pool) {}
}
