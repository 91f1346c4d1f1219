//! The forms of boxes, with the metric that takes each.

use metric_record::{Message, ReadError};
use metric_vision::read::{BoxForm, PolygonForm, RotatedForm};
use metric_vision::{BoxFormat, DetectionSweep, DynMetric, Polygon, RotatedBox, VERSION};

use super::Boxes;
use crate::{DataSet, DataSetError, OptionError, Options, Scorer, Sink, scorer};

/// A form of boxes, with the metric that takes them.
pub(super) trait Form: BoxForm + Sized + Send + Sync + 'static {
    /// The metric as a trait object, which is compiled with its crate.
    fn compiled(metric: &DetectionSweep<Self::Shape>) -> &SweepOf<Self>;

    /// Reads dataset files, which only axis-aligned boxes have.
    fn read_data_set(
        boxes: &Boxes<Self>,
        data: DataSet,
        _sink: &mut Sink<'_, Boxes<Self>>,
    ) -> Result<(), DataSetError> {
        let problem = Message::default()
            .option("box", boxes.form.name())
            .text(" goes with records: expected .jsonl or .json");
        Err(ReadError::new(&data.references.name, problem).into())
    }

    fn scorer(self, options: &Options) -> Result<Scorer, OptionError> {
        let reading = Boxes::new(self, options)?;
        Ok(scorer("detection", VERSION, reading))
    }
}

/// The metric of boxes of a form.
pub(super) type SweepOf<F> = DynMetric<DetectionSweep<<F as BoxForm>::Shape>>;

impl Form for BoxFormat {
    fn compiled(metric: &DetectionSweep) -> &DynMetric<DetectionSweep> {
        metric.as_ref()
    }

    fn read_data_set(
        boxes: &Boxes<Self>,
        data: DataSet,
        sink: &mut Sink<'_, Boxes<Self>>,
    ) -> Result<(), DataSetError> {
        boxes.read_files(data, sink)
    }
}

impl Form for RotatedForm {
    fn compiled(metric: &DetectionSweep<RotatedBox>) -> &DynMetric<DetectionSweep<RotatedBox>> {
        metric.as_ref()
    }
}

impl Form for PolygonForm {
    fn compiled(metric: &DetectionSweep<Polygon>) -> &DynMetric<DetectionSweep<Polygon>> {
        metric.as_ref()
    }
}
