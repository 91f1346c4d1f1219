use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use metric_record::{Message, Record};

use crate::ENTRIES;
use crate::definition::OF_DATA;
use crate::demo::Demo;
use crate::options::{OptionError, OptionSpec, Options};
use crate::plan::{Plan, PlannedRanking};
use crate::report::{Chart, ExampleView};
use crate::score_spec::ScoreSpec;
use crate::scorer::Scorer;
use crate::shape::{Shape, Taken};
use crate::show::Drawing;

/// A metric by name: what it is called, what it can do, and how it is built.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// The name as the name of a class, such as CodeBLEU; empty where it is that of each word with a capital letter.
    pub class: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The question that its scores answer.
    pub question: &'static str,
    /// The programs whose numbers it has.
    pub programs: &'static str,
    /// The content of a record: the reference, then the prediction.
    pub values: (&'static str, &'static str),
    /// Names that the field has for it or for its scores, each list with what to use. An empty hint means this metric.
    pub known_as: &'static [(&'static [&'static str], &'static str)],
    /// The shapes of its records, each with the options that it needs.
    pub shapes: &'static [Taken],
    /// Sets of options that together use all that the metric can do, for tests of what works on any metric; a flag has
    /// no value.
    pub tried: &'static [&'static [(&'static str, &'static str)]],
    /// Samples of its data.
    pub demos: &'static [Demo],
    /// The options in addition to the common ones.
    pub options: &'static [OptionSpec],
    /// The scores, each with its direction.
    pub scores: &'static [ScoreSpec],
    /// The kinds of groups that it can report.
    pub groups: &'static [&'static str],
    /// Whether it has details, at least under some options.
    pub details: bool,
    /// Whether details have the precision, the recall and the scores of detections as arrays, as pycocotools has them.
    pub arrays: bool,
    /// The forms of pictures that it has.
    pub drawings: &'static [Drawing],
    /// The kinds of charts that a report has in addition to its scores.
    pub charts: &'static [Chart],
    /// The way in which a report shows an example, if it is not the way of the shape.
    pub example: Option<ExampleView>,
    /// The score that benchmarks name first, if it is not the first one.
    pub main: Option<&'static str>,
    /// The form in which a data set is given.
    pub input: Input,
    /// Whether a `.json` file is one example rather than a map of ids to examples, judged by one of
    /// its values.
    pub whole_file: fn(value: &str) -> bool,
    /// The option that names the folder of files that predictions name; without it, the folder is next to the file of
    /// predictions, and has its name without the ending `.json`. Empty if they name no files.
    pub prediction_folder: &'static str,
    /// The field of the records of a dataset file that has their id.
    pub record_id: &'static str,
    /// The lists of a dataset file whose items are parts of one record, such as the answers to a question.
    pub parts: &'static [&'static str],
    /// What an example is, if it is neither a record nor an image; otherwise empty.
    pub examples: &'static str,
    /// Whether numbers of files may be infinite under these options.
    pub allows_infinite: fn(&Options) -> bool,
    /// The objects of images that are compared under these options, if a binding may give them in columns.
    pub objects: fn(&Options) -> Option<Objects>,
    /// The version of the written form of its state, which grows when that form changes.
    pub state_format: u32,
    /// Builds the metric from options that were checked and that have their defaults.
    pub build: Build,
}

/// Builds a metric from its options.
pub type Build = &'static (dyn Fn(&Options) -> Result<Scorer, OptionError> + Send + Sync);

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.name).finish()
    }
}

/// The objects of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// Boxes along the axes.
    Boxes,
    /// Masks.
    Masks,
    /// Masks, and the boxes of their objects where these have some.
    MasksAndBoxes,
    /// Boxes at an angle, by their corners.
    Corners,
}

impl Objects {
    /// Returns those that the words for shapes name; of other shapes there are no columns.
    #[cfg(feature = "vision")]
    pub(crate) fn named(options: &Options) -> Option<Self> {
        match options.get("iou-type").as_deref() {
            None | Some("bbox") => Some(Self::Boxes),
            Some("segm" | "boundary") => Some(Self::Masks),
            Some("obb") => Some(Self::Corners),
            _ => None,
        }
    }

    /// Returns those that are compared where the boxes of masks are as well.
    #[cfg(feature = "vision")]
    pub(crate) fn with_boxes(self) -> Self {
        match self {
            Self::Masks => Self::MasksAndBoxes,
            other => other,
        }
    }
}

/// The form in which a data set is given to a metric.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// As records that are joined by id.
    Records,
    /// As documents where the references are a folder or where this is true of their text; otherwise as
    /// records.
    Either(fn(references: &str) -> bool),
    /// As documents, unless the references have a format of records, such as JSON Lines.
    Documents,
    /// As documents where this is true of the text of the references. The metric joins their parts by id
    /// as records are joined. Otherwise as records.
    Joined(fn(references: &str) -> bool),
    /// As documents where the references are a folder, or a file whose name has one of these endings. The metric joins the files of
    /// folders by id as records are joined. Otherwise as records.
    Files(&'static [&'static str]),
}

impl Input {
    /// Returns the word for the form: `records`, `documents`, or `either` where the references decide.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Documents => "documents",
            Self::Either(_) | Self::Joined(_) | Self::Files(_) => "either",
        }
    }

    /// Returns whether references with this JSON text are a document; `None` where only their format decides.
    #[must_use]
    pub fn is_document(self, references: &str) -> Option<bool> {
        match self {
            Self::Records | Self::Files(_) => Some(false),
            Self::Documents => None,
            Self::Either(is_whole) | Self::Joined(is_whole) => Some(is_whole(references)),
        }
    }
}

impl Entry {
    /// A metric of records, without a name: what a metric does not say of itself is as it is here.
    pub const BASE: Self = Self {
        name: "",
        class: "",
        help: "",
        question: "",
        programs: "",
        values: ("", ""),
        known_as: &[],
        shapes: &[],
        tried: &[],
        demos: &[],
        options: &[],
        scores: &[],
        groups: &[],
        details: false,
        arrays: false,
        drawings: &[],
        charts: &[],
        example: None,
        main: None,
        input: Input::Records,
        whole_file: |_| false,
        prediction_folder: "",
        record_id: "id",
        parts: &[],
        examples: "",
        allows_infinite: |_| false,
        objects: |_| None,
        state_format: 1,
        build: &|_| Err(OptionError::new("", "", "nothing builds this metric")),
    };

    /// Returns the metric with these options.
    ///
    /// # Errors
    ///
    /// Returns an error about an option that the metric does not have, or about a value that it does not
    /// take.
    pub fn scorer(&self, options: &Options) -> Result<Scorer, OptionError> {
        let options = options.without_aliases(self.options);
        options.check(self.options)?;
        (self.build)(&options.with_defaults(self.options))
    }

    /// Returns the score of this name. If it starts with several of the names, the longest one decides: `AP_small` is
    /// `AP_` of an area, not `AP` of a threshold.
    #[must_use]
    pub fn score(&self, name: &str) -> Option<&'static ScoreSpec> {
        ScoreSpec::of_name(self.scores, name)
    }

    /// Returns how an example is shown in a report; `None` for the values of both sides.
    #[must_use]
    pub fn example_view(&self) -> Option<ExampleView> {
        let of_shape = || self.shapes.first()?.shape.example();
        self.example.or_else(of_shape)
    }

    /// Returns whether a result with this signature was scored under these options, by this version of the metric.
    ///
    /// ```
    /// # #[cfg(feature = "text")] {
    /// use metric_registry::{Options, find};
    ///
    /// let wer = find("wer").ok_or("not there")?;
    /// let options = Options::default().set("normalize", "lower,strip");
    /// let definition = wer.scorer(&options)?.signature().to_owned();
    /// assert!(wer.has_signature(&options, &definition));
    /// // Rules of joins and resampling come before the version.
    /// assert!(wer.has_signature(&options, &definition.replace("|v:", "|confidence:0.95|seed:0|v:")));
    /// assert!(!wer.has_signature(&options, &definition.replace("|v:", "|v:9")));
    /// assert!(!wer.has_signature(&Options::default(), &definition));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has_signature(&self, options: &Options, signature: &str) -> bool {
        let Ok(scorer) = self.scorer(options) else {
            return false;
        };
        let mut own: Vec<&str> = scorer.signature().split('|').collect();
        let mut given: Vec<&str> = signature.split('|').collect();
        let is_same = |(own, given): (&&str, &&str)| match own.strip_suffix(OF_DATA) {
            Some(name) if name.ends_with(':') => given.starts_with(name),
            _ => own == given,
        };
        // Rules of joins and resampling come before the version.
        let has_version = own.pop() == given.pop();
        has_version && own.len() <= given.len() && own.iter().zip(&given).all(is_same)
    }

    /// Returns how close a record that is not scored as perfect is to that, for the nearest misses of a report: more
    /// is closer. `None` if it is not close, or if the metric has no such order.
    #[must_use]
    pub fn closeness(&self, scorer: &Scorer, record: &mut Record<'_>) -> Option<f64> {
        let mut state = scorer.start();
        state.follow(Arc::new(Plan {
            ranking: Some(PlannedRanking {
                scores: self.scores,
                most: 1,
                inputs: false,
            }),
            ..Plan::default()
        }));
        state.update(scorer, std::slice::from_mut(record)).ok()?;
        state.ranking()?.closest()
    }

    /// Returns whether examples are images, whose boxes a report may show over the picture.
    #[must_use]
    pub fn has_images(&self) -> bool {
        self.example_view() == Some(ExampleView::Boxes)
    }

    /// Returns whether records are sessions of several speakers, as transcripts with segments hold them.
    #[must_use]
    pub fn reads_sessions(&self) -> bool {
        let mut shapes = self.shapes.iter();
        shapes.any(|taken| taken.shape == Shape::Sessions)
    }

    /// Returns the field of a value that is a [picture](Shape::picture), if there are pictures.
    #[must_use]
    pub fn picture(&self) -> Option<&'static str> {
        self.shapes.iter().find_map(|taken| taken.shape.picture())
    }

    /// Returns whether records are pairs of texts.
    #[must_use]
    pub fn reads_texts(&self) -> bool {
        let mut shapes = self.shapes.iter();
        shapes.any(|taken| taken.shape == Shape::Texts)
    }

    /// Returns whether a transcript with segments may be one side of a record: as a session, or as the text that the
    /// segments have together.
    #[must_use]
    pub fn reads_transcripts(&self) -> bool {
        self.reads_sessions() || self.reads_texts()
    }

    /// Returns whether records have a reference in addition to a prediction.
    #[must_use]
    pub fn compares(&self) -> bool {
        let mut shapes = self.shapes.iter();
        shapes.all(|taken| taken.shape.compares())
    }

    /// Returns whether the reference of a record may be a list of texts.
    #[must_use]
    pub fn has_references(&self) -> bool {
        let mut shapes = self.shapes.iter();
        shapes.any(|taken| taken.shape.has_references())
    }

    /// Returns whether a missing prediction can count as an empty one.
    #[must_use]
    pub fn has_empty_prediction(&self) -> bool {
        let mut shapes = self.shapes.iter();
        shapes.all(|taken| taken.shape.has_empty_prediction())
    }

    /// Returns the position of the score that a report shows first, among scores of these names.
    ///
    /// ```
    /// use metric_registry::find;
    ///
    /// let entry = find("openlane").ok_or("not there")?;
    /// assert_eq!(entry.main_score(["DET_l", "TOP_ll", "OLS"]), 2);
    /// assert_eq!(entry.main_score(["DET_l"]), 0);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn main_score<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> usize {
        let mut names = names.into_iter();
        self.main
            .and_then(|main| names.position(|name| name == main))
            .unwrap_or(0)
    }

    /// Returns the name of a class of this metric.
    ///
    /// ```
    /// # #[cfg(feature = "class")] {
    /// use metric_registry::find;
    ///
    /// let names = ["mrr", "accuracy-at-k"].map(|name| find(name).map(|entry| entry.class_name()));
    /// assert_eq!(names, [Some("MRR".to_owned()), Some("AccuracyAtK".to_owned())]);
    /// # }
    /// ```
    #[must_use]
    pub fn class_name(&self) -> String {
        if !self.class.is_empty() {
            return self.class.to_owned();
        }
        let words = self.name.split('-').map(|word| {
            let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
            first.to_uppercase() + rest
        });
        words.collect()
    }

    /// Returns whether the metric draws pictures of this form.
    #[must_use]
    pub fn draws(&self, drawing: Drawing) -> bool {
        self.drawings.contains(&drawing)
    }
}

/// Metrics that are not built in.
static REGISTERED: RwLock<Vec<&'static Entry>> = RwLock::new(Vec::new());

/// Adds a metric of your own, until the program ends. A metric of this name that was added before is replaced, as a
/// notebook does whose cell runs again.
///
/// # Errors
///
/// Returns an error if a built-in metric has this name.
///
/// ```
/// use metric_registry::{ENTRIES, Entry, find, register};
///
/// # if let Some(entry) = ENTRIES.first() {
/// let taken = register(Entry { ..*entry });
/// assert_eq!(taken.unwrap_err().to_string(), format!("there is a metric {:?} already", entry.name));
/// register(Entry { name: "my-metric", ..*entry })?;
/// assert!(find("my-metric").is_some());
/// # }
/// # Ok::<(), metric_registry::NameTaken>(())
/// ```
pub fn register(entry: Entry) -> Result<&'static Entry, NameTaken> {
    if ENTRIES.iter().any(|known| known.name == entry.name) {
        return Err(NameTaken(entry.name));
    }
    let entry: &'static Entry = Box::leak(Box::new(entry));
    // A lock is poisoned by a panic, and nothing here panics.
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.retain(|known| known.name != entry.name);
    registered.push(entry);
    Ok(entry)
}

/// Returns all metrics: the built-in ones in the order in which they are listed, then those that were
/// [registered](register).
#[must_use]
pub fn entries() -> Vec<&'static Entry> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    ENTRIES.iter().chain(registered.iter().copied()).collect()
}

/// Returns the metric of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    let built_in = ENTRIES.iter().find(|entry| entry.name == name);
    built_in.or_else(|| entries().into_iter().find(|entry| entry.name == name))
}

/// A name that a built-in metric has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameTaken(
    /// The name.
    pub &'static str,
);

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Message::from(format!("there is a metric {:?} already", self.0)).fmt(f)
    }
}

impl std::error::Error for NameTaken {}
