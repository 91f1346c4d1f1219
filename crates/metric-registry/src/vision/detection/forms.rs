//! The forms of boxes, with the metric that takes each.

use metric_record::{Message, ReadError};
use metric_vision::read::{BoxForm, BoxNumbers};
use metric_vision::{BBox, BoxFormat, DetectionSweep, DetectionSweepParams, InvalidSweep, VERSION};

use super::Boxes;
use crate::vision::images::{BOX_STREAM, FolderOptions, ReadBoxes, Streaming, read_boxes};
use crate::{DataSet, DataSetError, OptionError, Options, Scorer, scorer};

/// A form of boxes, with the metric that takes them.
pub(super) trait Form: BoxForm + Sized + Send + Sync + 'static {
    /// Builds the metric of this definition.
    fn sweep(params: DetectionSweepParams) -> Result<DetectionSweep<Self::Shape>, InvalidSweep>;

    /// The reader of the files of a data set image by image, if they have these shapes.
    fn streaming(&self) -> Option<Streaming<Self::Shape>> {
        None
    }

    /// Reads dataset files, which only axis-aligned boxes have.
    fn read_data_set(
        &self,
        data: &DataSet,
        _folders: &FolderOptions,
    ) -> Result<ReadBoxes<Self::Shape>, DataSetError> {
        let problem = Message::default()
            .option("box", self.name())
            .text(" goes with records: expected .jsonl or .json");
        Err(ReadError::new(&data.references.name, problem).into())
    }

    fn scorer(self, options: &Options) -> Result<Scorer, OptionError> {
        let reading = Boxes::new(self, options)?;
        Ok(scorer("detection", VERSION, reading))
    }
}

impl Form for BoxFormat {
    fn sweep(params: DetectionSweepParams) -> Result<DetectionSweep, InvalidSweep> {
        DetectionSweep::new(params)
    }

    fn streaming(&self) -> Option<Streaming<BBox>> {
        (*self == Self::default()).then_some(BOX_STREAM)
    }

    // These files say what their numbers are.
    fn read_data_set(
        &self,
        data: &DataSet,
        folders: &FolderOptions,
    ) -> Result<ReadBoxes, DataSetError> {
        if *self != Self::default() {
            let problem = Message::default()
                .option("box", "")
                .text(" goes with records: these files say what their boxes are");
            return Err(ReadError::new(&data.references.name, problem).into());
        }
        read_boxes(data, folders)
    }
}

/// A form of shapes other than axis-aligned boxes.
pub(super) struct Shapes<F>(pub(super) F);

impl<F: BoxForm> BoxForm for Shapes<F> {
    type Shape = F::Shape;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn read(&self, numbers: &BoxNumbers) -> Result<F::Shape, String> {
        self.0.read(numbers)
    }
}

impl<F: BoxForm + Send + Sync + 'static> Form for Shapes<F> {
    fn sweep(params: DetectionSweepParams) -> Result<DetectionSweep<F::Shape>, InvalidSweep> {
        DetectionSweep::of_shapes(params)
    }
}
