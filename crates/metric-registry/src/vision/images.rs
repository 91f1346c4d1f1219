//! Metrics over images: their data sets are read whole, and an example is an image.

use std::any::Any;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use metric_core::{Merge, Metric};
use metric_vision::read::{
    CocoOptions, ExtraImages, File, ImageSizes, ReadError, VocOptions, Warnings, YoloOptions,
    parse_coco, read_voc, read_yolo,
};
use metric_vision::{BBox, Class, Dataset, Image, Prediction, Shape};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::record::{JoinPolicy, Record, RecordError, Side};
use crate::scorer::{noted, read_written, signature, written};
use crate::{
    Content, Document, DocumentError, Evidence, FieldError, Group, Named, Notes, OptionError,
    OptionSpec, Options, Report, Sample, Scorer, StateError,
};

/// How a metric reads a data set of images and names its numbers.
pub(crate) trait ImageReading: Send + Sync + 'static {
    /// What is compared.
    type Shape: Shape + Send + Sync;

    /// The metric.
    type Metric: Metric<
            Prediction = [Prediction<Self::Shape>],
            Reference = Image<Self::Shape>,
            State: Clone + Send + Serialize + DeserializeOwned,
        > + Sync;

    /// The metric for a data set of these classes.
    fn metric(&self, classes: &[Class]) -> Self::Metric;

    /// The parts of the signature, by name.
    fn signature(&self) -> Named<String>;

    fn read(
        &self,
        references: &Document,
        predictions: &Document,
        join: JoinPolicy,
    ) -> Result<(Dataset<Self::Shape>, Warnings), ReadError>;

    /// Scores and counts of a state; tables by class too if it is that of the whole data.
    fn numbers(&self, state: &StateOf<Self>, classes: &[Class], tables: bool) -> Numbers;

    /// What is too much for a report: curves, matrices.
    fn details(&self, _state: &StateOf<Self>, _classes: &[Class]) -> Option<serde_json::Value> {
        None
    }
}

type StateOf<R> = <<R as ImageReading>::Metric as Metric>::State;

/// The numbers of a state.
#[derive(Default)]
pub(crate) struct Numbers {
    pub(crate) scores: Named<Option<f64>>,
    pub(crate) counts: Named<serde_json::Value>,
    pub(crate) groups: Named<Vec<Group>>,
    pub(crate) warnings: Vec<String>,
}

/// An [`ImageReading`] as a [`Scorer`].
pub(crate) struct ImageAdapter<R> {
    shared: Arc<(R, String)>,
}

impl<R: ImageReading> ImageAdapter<R> {
    pub(crate) fn boxed(metric: &str, version: &str, reading: R) -> Box<dyn Scorer> {
        let signature = signature(metric, &reading.signature(), version);
        Box::new(Self {
            shared: Arc::new((reading, signature)),
        })
    }
}

impl<R: ImageReading> Scorer for ImageAdapter<R> {
    fn signature(&self) -> &str {
        &self.shared.1
    }

    fn start(&self) -> Box<dyn Evidence> {
        Box::new(Gathered::<R> {
            shared: Arc::clone(&self.shared),
            pool: Pool::default(),
        })
    }

    fn read(&self, text: &str) -> Result<Box<dyn Evidence>, StateError> {
        Ok(Box::new(Gathered::<R> {
            shared: Arc::clone(&self.shared),
            pool: read_written(text, &self.shared.1)?,
        }))
    }

    fn read_documents(
        &self,
        references: Document,
        predictions: Document,
        join: JoinPolicy,
        samples: Option<&mut Vec<Sample>>,
    ) -> Result<Box<dyn Evidence>, DocumentError> {
        let (reading, _) = &*self.shared;
        let (dataset, warnings) = reading
            .read(&references, &predictions, join)
            .map_err(|error| DocumentError(error.to_string()))?;
        // The texts are large, and done with.
        drop((references, predictions));
        let classes = dataset.classes();
        let metric = &reading.metric(classes);
        let total = match samples {
            None => dataset.measure(metric),
            Some(samples) => {
                let mut total = StateOf::<R>::default();
                let examples = dataset.examples(0..dataset.images().len());
                for (record, (predictions, image)) in examples.enumerate() {
                    let state = metric.measure(predictions, image);
                    let numbers = reading.numbers(&state, classes, false);
                    samples.push(Sample {
                        record,
                        id: image.key.to_string(),
                        part: None,
                        scores: numbers.scores,
                        counts: numbers.counts,
                    });
                    total.merge(state);
                }
                total
            }
        };
        let notes = warnings
            .into_iter()
            .map(|(warning, times)| (warning.text().to_owned(), times));
        Ok(Box::new(Gathered::<R> {
            shared: Arc::clone(&self.shared),
            pool: Pool {
                examples: dataset.images().len() as u64,
                classes: Some(classes.to_vec()),
                total,
                notes: notes.collect(),
            },
        }))
    }

    fn scores_empty_data(&self) -> bool {
        false
    }
}

/// All that is gathered of a data set.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Pool<S> {
    examples: u64,
    /// `None` before any data.
    classes: Option<Vec<Class>>,
    total: S,
    notes: Notes,
}

struct Gathered<R: ImageReading> {
    shared: Arc<(R, String)>,
    pool: Pool<StateOf<R>>,
}

impl<R: ImageReading> Evidence for Gathered<R> {
    fn update(
        &mut self,
        records: &[Record<'_>],
        _samples: Option<&mut Vec<Sample>>,
    ) -> Result<(), RecordError> {
        match records {
            [] => Ok(()),
            _ => Err(RecordError {
                index: 0,
                error: FieldError {
                    side: Side::Reference,
                    problem: "this metric reads whole files, not records".to_owned(),
                },
            }),
        }
    }

    fn merge(&mut self, other: Box<dyn Evidence>) -> Result<(), StateError> {
        let mismatch = |found: &str| StateError::Mismatch {
            expected: self.shared.1.clone(),
            found: found.to_owned(),
        };
        let other = other
            .into_any()
            .downcast::<Self>()
            .map_err(|_| mismatch("evidence of another metric"))?;
        if other.shared.1 != self.shared.1 {
            return Err(mismatch(&other.shared.1));
        }
        let pool = other.pool;
        match (&self.pool.classes, &pool.classes) {
            (Some(ours), Some(others)) if ours != others => {
                return Err(mismatch("the same with other classes"));
            }
            (None, _) => self.pool.classes = pool.classes,
            _ => {}
        }
        self.pool.examples += pool.examples;
        self.pool.total.merge(pool.total);
        for (note, times) in pool.notes {
            *self.pool.notes.entry(note).or_default() += times;
        }
        Ok(())
    }

    fn report(&self) -> Report {
        let (reading, _) = &*self.shared;
        let classes = self.pool.classes.as_deref().unwrap_or_default();
        let numbers = reading.numbers(&self.pool.total, classes, true);
        let mut warnings = noted(&self.pool.notes);
        warnings.extend(numbers.warnings);
        Report {
            examples: self.pool.examples,
            missing: 0,
            scores: numbers.scores,
            counts: numbers.counts,
            groups: numbers.groups,
            warnings,
        }
    }

    fn details(&self) -> Option<serde_json::Value> {
        let (reading, _) = &*self.shared;
        let classes = self.pool.classes.as_deref().unwrap_or_default();
        reading.details(&self.pool.total, classes)
    }

    fn write(&self) -> String {
        written(&self.shared.1, &self.pool)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A name for each class: its own if all of them have different ones, else its id.
pub(crate) fn class_names(classes: &[Class]) -> Vec<String> {
    let names: BTreeSet<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    let by_name = names.len() == classes.len() && !names.contains("");
    let name = |class: &Class| match by_name {
        true => class.name.clone(),
        false => class.key.to_string(),
    };
    classes.iter().map(name).collect()
}

/// What references and predictions of boxes are, for help.
pub(crate) const BOXES: (&str, &str) = (
    "a COCO ground-truth file (.json), a folder of Pascal VOC's annotations (.xml), or one of YOLO's labels (.txt)",
    "a COCO results file (.json), a folder of results by class or by image (.txt), or one of YOLO's labels with confidences (.txt)",
);

/// The size of images whose files have none.
pub(crate) const IMAGE_SIZE: OptionSpec = OptionSpec {
    name: "image-size",
    kind: OptionKind::Text,
    value: "WxH",
    default: "",
    help: "Width and height of all images, where the files are of YOLO; without it boxes stay fractions of the image",
};

/// The value of [`IMAGE_SIZE`].
pub(crate) fn image_size(options: &Options) -> Result<ImageSizes, OptionError> {
    let Some(text) = options.get("image-size") else {
        return Ok(ImageSizes::Unknown);
    };
    let numbers: Option<[NonZeroU32; 2]> = text
        .split_once('x')
        .and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
    let reason = || "expected two whole numbers of pixels, for example 640x480".to_owned();
    numbers
        .map(ImageSizes::All)
        .ok_or_else(|| OptionError::new("image-size", text, reason()))
}

/// [`IMAGE_SIZE`] as a part of a signature.
pub(crate) fn size_part(sizes: &ImageSizes) -> Option<(String, String)> {
    match sizes {
        ImageSizes::All([width, height]) => {
            Some(("image-size".to_owned(), format!("{width}x{height}")))
        }
        _ => None,
    }
}

/// Reads [`BOXES`].
pub(crate) fn read_boxes(
    references: &Document,
    predictions: &Document,
    join: JoinPolicy,
    sizes: &ImageSizes,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    let extra = match join.ignore_extra {
        true => ExtraImages::Ignore,
        false => ExtraImages::Error,
    };
    match (&references.content, &predictions.content) {
        (Content::Text(_), _) => {
            let options = CocoOptions {
                ignore_unknown_images: join.ignore_extra,
                quirks: false,
            };
            if let Content::Folder(_) = predictions.content {
                let problem = "is a folder: expected a file, as the references are";
                return Err(whole(predictions, problem));
            }
            parse_coco(file(references)?, file(predictions)?, options)
        }
        (Content::Folder(truths), Content::Folder(found)) if has_xml(truths) => {
            read_voc(truths, found, &VocOptions { files: None, extra })
        }
        (Content::Folder(truths), Content::Folder(found)) => {
            let sizes = sizes.clone();
            read_yolo(truths, found, &YoloOptions { sizes, extra })
        }
        (Content::Folder(_), Content::Text(_)) => Err(whole(
            predictions,
            "is a file: expected a folder, as the references are",
        )),
    }
}

/// A document that must be one file.
pub(crate) fn file(document: &Document) -> Result<File<'_>, ReadError> {
    match &document.content {
        Content::Text(text) => Ok(File {
            name: &document.name,
            text,
        }),
        Content::Folder(_) => Err(whole(document, "is a folder: expected a COCO file (.json)")),
    }
}

/// A problem with all of a document.
pub(crate) fn whole(document: &Document, problem: &str) -> ReadError {
    ReadError {
        file: document.name.clone(),
        record: String::new(),
        field: String::new(),
        problem: problem.to_owned(),
    }
}

/// Whether references are YOLO's.
pub(crate) fn is_yolo(references: &Document) -> bool {
    matches!(&references.content, Content::Folder(folder) if !has_xml(folder))
}

/// Whether a folder is one of Pascal VOC's annotations.
fn has_xml(folder: &Path) -> bool {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .map(|file| file.path())
        .filter_map(|path| Some(path.extension()?.eq_ignore_ascii_case("xml")))
        .any(|is_xml| is_xml)
}

/// Whether a JSON text is a COCO ground truth.
pub(crate) fn is_coco(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Keys {
        #[serde(rename = "images")]
        _images: serde::de::IgnoredAny,
        #[serde(rename = "annotations")]
        _annotations: serde::de::IgnoredAny,
    }
    // Few other files have these words, and need to be read.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    ["\"images\"", "\"annotations\""]
        .iter()
        .all(|key| text.contains(key))
        && serde_json::from_str::<Keys>(text).is_ok()
}
