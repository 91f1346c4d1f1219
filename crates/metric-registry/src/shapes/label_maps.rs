//! Label maps: images whose pixels are labels, as files of two folders, as a pair of files, or as lists of rows.

use std::borrow::Cow;
use std::io::{BufRead, Seek};
use std::path::Path;

use metric_core::parallel;
use metric_record::json::typed;
use metric_record::{
    Content, Document, FieldError, Kind, Message, Missing, Pixels, ReadError, Record, Side, Value,
    quoted_id,
};
use metric_segmentation::read::{
    FileOddities, FolderError, FolderOptions, Forward, ImageFiles, LabelRows, MapOptions,
    OpenedRows, count_image, join_folders,
};
use metric_segmentation::{
    ConfusionSum, PixelConfusions, PixelCounter, Segmentation, SegmentationProfile,
};

use crate::{
    Asked, Counted, DataSet, DataSetError, Facts, Named, Numbers, OptionError, OptionSpec, Options,
    Place, Reading, Sink, Weigher,
};

/// The form of references and of predictions, for help.
pub(crate) const MAPS: (&str, &str) = (
    "a folder of label maps (.png, .npy), one such file, or records with lists of rows of labels",
    "the same: files are joined by their path in the folder",
);

pub(crate) const MAX_PIXELS: OptionSpec = OptionSpec::integer(
    "max-pixels",
    "N",
    1..=i64::MAX,
    "Largest number of pixels of an image",
)
.or("268435456");
const CHANNEL: OptionSpec = OptionSpec::one_of(
    "channel",
    "CHANNEL",
    || vec!["only", "first"],
    "Which channel to read; only: an image of several is an error",
)
.or("only");
const REFERENCE_SUFFIX: OptionSpec = OptionSpec::text(
    "reference-suffix",
    "TEXT",
    "End of the names of references in a folder, such as _labelTrainIds",
);
const PREDICTION_SUFFIX: OptionSpec = OptionSpec::text(
    "prediction-suffix",
    "TEXT",
    "End of the names of predictions in a folder",
);

/// The options of all metrics on this shape.
pub(crate) const OPTIONS: [OptionSpec; 4] =
    [REFERENCE_SUFFIX, PREDICTION_SUFFIX, CHANNEL, MAX_PIXELS];

/// The endings of the names of files that are label maps.
pub(crate) const ENDINGS: &[&str] = &["png", "npy"];

/// A metric of label maps.
pub(crate) trait LabelMapMetric: Send + Sync + 'static {
    /// Returns what counts pixels.
    fn counted(&self) -> &Segmentation;

    /// Returns the parts of the signature, by name, without those of the options of this shape.
    fn definition(&self) -> Named<String>;

    /// Refuses the labels of an image, in words about the reference or the prediction.
    ///
    /// # Errors
    ///
    /// Returns the side with the label, and what is wrong with it.
    fn judge(&self, counter: &mut PixelCounter<'_>) -> Result<(), (Side, Message)>;

    /// Returns the numbers of a state.
    fn numbers(&self, state: &PixelConfusions, asked: Asked<'_>) -> Numbers;
}

/// The reading of a metric of label maps.
pub(crate) struct LabelMaps<M> {
    metric: M,
    options: MapOptions,
    suffixes: [String; 2],
}

/// The greatest number of rows and columns of an image that is shown.
const SHOWN: usize = 64;

/// The number of images whose counts are held at a time.
const BATCH: usize = 256;

impl<M: LabelMapMetric> LabelMaps<M> {
    /// Returns the reading of a metric under these options.
    pub(crate) fn new(metric: M, options: &Options) -> Result<Self, OptionError> {
        let suffix = |spec: OptionSpec| options.given(spec.name);
        Ok(Self {
            metric,
            options: MapOptions::default()
                .with_max_pixels(options.integer(MAX_PIXELS.name)?)
                .with_first_channel(options.is(CHANNEL.name, "first")),
            suffixes: [suffix(REFERENCE_SUFFIX), suffix(PREDICTION_SUFFIX)],
        })
    }

    /// Reads the images of two folders.
    fn read_folders(
        &self,
        [references, predictions]: [&Path; 2],
        options: MapOptions,
        data: &DataSet,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), DataSetError> {
        let [reference_suffix, prediction_suffix] = self.suffixes.clone();
        let profile = self.metric.counted().profile();
        let joined = FolderOptions::default()
            .with_reference_suffix(reference_suffix)
            .with_prediction_suffix(prediction_suffix)
            .with_cityscapes(profile == SegmentationProfile::Cityscapes)
            .with_join(data.join)
            .with_shard(data.shard);
        let joined = join_folders(references, predictions, &joined);
        let joined = joined.map_err(|error| match error {
            FolderError::Read(error) => DataSetError::Read(error),
            FolderError::Join(error) => DataSetError::Join(error),
        })?;
        sink.extra(joined.extra);
        if joined.others > 0 {
            sink.count(&other_files(), joined.others);
        }
        let held = |image: &&ImageFiles| data.plan.holds(&image.id);
        let images: Vec<&ImageFiles> = joined.images.iter().filter(held).collect();
        for batch in images.chunks(BATCH) {
            let skips = data.join.missing == Missing::Skip;
            let counted = parallel::map(batch.len(), |index| {
                let image = &batch[index];
                if skips && image.prediction.is_none() {
                    return Ok(Counts::default());
                }
                self.count_files(image, options)
            });
            for (image, counted) in batch.iter().zip(counted) {
                let counted = counted?;
                sink.record(&image.id);
                if image.prediction.is_none() {
                    sink.missing(1);
                    if skips {
                        continue;
                    }
                }
                self.add(&image.id, counted, sink);
                if sink.wants_inputs() {
                    let [reference, prediction] = self.shown(image, options)?;
                    sink.inputs(reference, prediction);
                }
            }
        }
        Ok(())
    }

    /// Some pixels of both sides, for those who look at the image, as JSON.
    fn shown(&self, image: &ImageFiles, options: MapOptions) -> Result<[String; 2], ReadError> {
        let rows = |path: &Path| -> Result<String, ReadError> {
            let sampled = LabelRows::open(path, options)?.sampled(SHOWN)?;
            Ok(serde_json::json!(sampled).to_string())
        };
        let prediction = image.prediction.as_deref().map(rows).transpose()?;
        Ok([
            rows(&image.reference)?,
            prediction.unwrap_or_else(|| "null".to_owned()),
        ])
    }

    /// Counts the pixels of an image in files.
    fn count_files(&self, image: &ImageFiles, options: MapOptions) -> Result<Counts, ReadError> {
        let mut reference = LabelRows::open(&image.reference, options)?;
        let prediction = image.prediction.as_deref();
        let mut prediction = prediction
            .map(|path| LabelRows::open(path, options))
            .transpose()?;
        self.count(&image.id, &mut reference, prediction.as_mut())
    }

    /// Counts the pixels of an image.
    fn count<R: BufRead + Seek, P: BufRead + Seek>(
        &self,
        id: &str,
        reference: &mut LabelRows<'_, R>,
        mut prediction: Option<&mut LabelRows<'_, P>>,
    ) -> Result<Counts, ReadError> {
        let counts = self.count_rows(reference, prediction.as_deref_mut());
        counts.map_err(|(side, problem)| {
            let name = match (side, &prediction) {
                (Side::Prediction, Some(prediction)) => prediction.name(),
                _ => reference.name(),
            };
            ReadError::new(name, problem).at(format!("image {}", quoted_id(id)))
        })
    }

    /// Counts the pixels of an image; an error has the side that it is about.
    fn count_rows<R: BufRead + Seek, P: BufRead + Seek>(
        &self,
        reference: &mut LabelRows<'_, R>,
        mut prediction: Option<&mut LabelRows<'_, P>>,
    ) -> Result<Counts, (Side, Message)> {
        let mut counter = self.metric.counted().counter();
        let counted = count_image(&mut counter, reference, prediction.as_deref_mut());
        counted.map_err(|error| {
            let of_reference = error.file == reference.name();
            let side = if of_reference {
                Side::Reference
            } else {
                Side::Prediction
            };
            (side, error.problem)
        })?;
        self.metric.judge(&mut counter)?;
        let of_prediction = prediction.map(|rows| rows.oddities());
        Ok(Counts {
            state: counter.finish(),
            files: [reference.oddities(), of_prediction.unwrap_or_default()],
        })
    }

    /// Reads one side of a record: a path, the bytes of a file, a list of rows of labels, or a grid.
    fn map<'v>(
        &self,
        value: &mut Value<'v>,
        side: Side,
        places: &[Place; 2],
    ) -> Result<OpenedRows<'v>, FieldError> {
        let refused = |problem: Message| FieldError::new(side, problem);
        if let Some(picture) = value.as_picture() {
            let rows = match picture.pixels() {
                Pixels::Grid(grid) => LabelRows::of_grid(unnamed(side), grid),
                Pixels::File(bytes) => LabelRows::in_memory(unnamed(side), bytes, self.options),
            };
            return rows.map_err(|error| refused(error.problem));
        }
        let line = value.as_line().map(str::to_owned);
        let list = match &line {
            // Cells of tables and lines of text have no type.
            Some(line) if line.trim_start().starts_with('[') => Some(Cow::Borrowed(line.as_str())),
            None if value.kind() != Kind::String => {
                let json = value.to_json_or("null");
                Some(json.map_err(|problem| refused(problem.into()))?)
            }
            _ => None,
        };
        if let Some(json) = list {
            let rows = rows(&json).map_err(|problem| refused(problem.into()))?;
            // The side is part of the error already.
            let rows = LabelRows::of_rows(unnamed(side), rows);
            return rows.map_err(|error| refused(error.problem));
        }
        let path = value.text().map_err(|problem| refused(problem.into()))?;
        let place = match side {
            Side::Reference => &places[0],
            Side::Prediction => &places[1],
        };
        let opened = match place {
            Place::Anywhere => LabelRows::open(Path::new(&*path), self.options),
            Place::Below(folder) => LabelRows::open_within(folder, &path, self.options),
            Place::Nowhere => {
                let problem = "found a text, which is the path of a file: expected a list of rows, as these records are not in a file";
                return Err(refused(problem.into()));
            }
        };
        opened.map_err(|error| refused(error.message()))
    }

    /// Adds an image, whose record has begun.
    fn add(&self, id: &str, counts: Counts, sink: &mut Sink<'_, Self>) {
        note(counts.files, id, sink);
        sink.measured(None, &[], counts.state);
    }

    /// Reads a pair of files.
    fn read_pair(
        &self,
        options: MapOptions,
        data: &DataSet,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), ReadError> {
        let stem = Path::new(&data.references.name).file_stem();
        let id = stem.unwrap_or_default().to_string_lossy().into_owned();
        if !data.holds(&id) {
            return Ok(());
        }
        let mut reference = opened(&data.references, options)?;
        let mut prediction = opened(&data.predictions, options)?;
        let counts = self.count(&id, &mut reference, Some(&mut prediction))?;
        sink.record(&id);
        self.add(&id, counts, sink);
        Ok(())
    }
}

/// The counts of an image.
#[derive(Default)]
struct Counts {
    state: PixelConfusions,
    /// What is odd about the files of the reference and of the prediction.
    files: [FileOddities; 2],
}

/// Opens a file.
fn opened(
    document: &Document,
    options: MapOptions,
) -> Result<LabelRows<'static, Forward>, ReadError> {
    let input = match &document.content {
        Content::Stream(stream) => match stream.open() {
            Some(input) => input,
            // The text says why it cannot be read.
            None => Box::new(std::io::Cursor::new(stream.read()?)),
        },
        _ => Box::new(std::io::Cursor::new(document.file()?.text.to_owned())),
    };
    LabelRows::forward(&document.name, input, options)
}

impl<M: LabelMapMetric> Reading for LabelMaps<M> {
    type Metric = Segmentation;
    type Header = ();

    fn metric(&self) -> &Segmentation {
        self.metric.counted()
    }

    fn facts(&self) -> Facts {
        let mut all = self.metric.definition();
        if self.options.first_channel {
            all.push((CHANNEL.name.to_owned(), "first".to_owned()));
        }
        Facts {
            ranking_score: Some("mIoU".to_owned()),
            ..Facts::signed(all)
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let places = &sink.gathered.plan.places;
        let mut reference = self.map(&mut record.reference, Side::Reference, places)?;
        let mut prediction = if record.prediction.is_missing() {
            None
        } else {
            Some(self.map(&mut record.prediction, Side::Prediction, places)?)
        };
        let counts = self.count_rows(&mut reference, prediction.as_mut());
        let counts = counts.map_err(|(side, problem)| {
            let name = match (side, &prediction) {
                (Side::Prediction, Some(prediction)) => prediction.name(),
                _ => reference.name(),
            };
            // The side is part of the error already.
            let problem = if name == unnamed(side) {
                problem
            } else {
                ReadError::new(name, problem).message()
            };
            FieldError::new(side, problem)
        })?;
        self.add(&record.id.to_string(), counts, sink);
        Ok(())
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        match (&data.references.content, &data.predictions.content) {
            (Content::Folder(references), Content::Folder(predictions)) => {
                let options = self.options.with_max_bytes(references.max_bytes);
                let paths = [&*references.path, &*predictions.path];
                self.read_folders(paths, options, &data, sink)
            }
            (Content::Folder(_), _) => Err(unlike(&data.predictions, "a folder")),
            (_, Content::Folder(_)) => Err(unlike(&data.predictions, "a file (.png or .npy)")),
            _ => Ok(self.read_pair(self.options, &data, sink)?),
        }
    }

    fn numbers(&self, state: &PixelConfusions, (): &(), asked: Asked<'_>) -> Numbers {
        self.metric.numbers(state, asked)
    }

    fn weigher<'s>(&'s self, states: &[&'s PixelConfusions], (): &'s ()) -> Option<Weigher<'s>> {
        let sum = ConfusionSum::new(states);
        Some(Box::new(move |weights, scope| {
            self.metric.numbers(&sum.weighted(weights), scope.into())
        }))
    }
}

/// The name of what is not in a file of its own.
fn unnamed(side: Side) -> String {
    format!("the {side}")
}

/// The error of predictions that have another form than the references.
fn unlike(predictions: &Document, expected: &str) -> DataSetError {
    let found = match predictions.content {
        Content::Folder(_) => "is a folder",
        _ => "is a file",
    };
    let problem = format!("{found}: expected {expected}, as the references are");
    ReadError::new(&predictions.name, problem).into()
}

/// Reads a list of rows of labels.
fn rows(json: &str) -> Result<Vec<Vec<i64>>, String> {
    typed(json).map_err(|problem| {
        format!("expected a path, or a list of rows, each a list of labels, which are integers: {problem}")
    })
}

fn other_files() -> Counted {
    Counted::new(
        "file was left out: expected .png or .npy, with the suffix if there is one",
        "files were left out: expected .png or .npy, with the suffix if there is one",
    )
}

/// Notes what is odd about the files of an image.
pub(crate) fn note<R: Reading>(files: [FileOddities; 2], id: &str, sink: &mut Sink<'_, R>) {
    if files.iter().any(|file| file.is_animated) {
        let animations = Counted::new(
            "image is an animation, of which the default image was read",
            "images are animations, of which the default images were read",
        );
        sink.count_record(&animations, id);
    }
    if files.iter().any(|file| file.has_surplus) {
        let surplus = Counted::new(
            "image has a file with further data after its last row, which were left out",
            "images have files with further data after their last rows, which were left out",
        );
        sink.count_record(&surplus, id);
    }
}
