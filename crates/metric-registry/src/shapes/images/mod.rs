//! Images with objects: a prediction is the list of the detections in an image, and a reference is the image with its
//! ground-truth objects, of any shape.

mod files;
mod findings;
mod image_key;
mod selection;

use std::collections::{BTreeMap, BTreeSet};

use metric_core::{Metric, Written};
use metric_record::json::typed;
use metric_record::{FieldError, IdKey, Message, ReadError, Record, Side};
use metric_vision::read::FindingRules;
use metric_vision::{
    Class, ClassState, ClassTotals, Classes, Curve, DynMetric, Image, Key, Prediction, Shape,
    TooManyPairs, VERSION, unite_classes,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

pub(crate) use files::{
    BOXES, COLUMNS, FIRST_CATEGORY, IMAGE_SIZE, ImageFiles, ImageReading, Listing, Readers,
    read_images,
};
pub(crate) use findings::{
    Finds, OfClass, POINTS_AT_ORIGIN, WarningRules, data_warnings, limit_note,
};
pub(crate) use image_key::IMAGE_KEY;
pub(crate) use selection::IMAGES_LIST;

use crate::{
    Asked, ConfusionTable, DataSet, DataSetError, Facts, Group, Header, Named, Numbers, ObjectsAt,
    OptionError, Options, PrintedTable, Reading, Remarks, Scope, Scorer, Sink, Unanswered, Unified,
    Weigher, scorer,
};

/// A metric of images with objects: its formula is [`Metric`], which is compiled with its crate ([`DynMetric`]).
pub(crate) trait ImageMetric:
    Metric<
        Prediction = [Prediction<<Self as ImageMetric>::Shape>],
        Reference = Image<<Self as ImageMetric>::Shape>,
        State: ClassState + Clone + Written + Send + Sync + 'static,
    > + AsRef<DynMetric<Self>>
    + Send
    + Sync
    + 'static
{
    /// The shape of an object.
    type Shape: Shape + Clone + Send + Sync + 'static;

    /// Returns the scores and counts of all of the classes, or of the one at an index; `None` for a class without any.
    /// There is no state where the score is that of weighted states.
    fn numbers(
        &self,
        score: &Self::Score,
        state: Option<&Self::State>,
        classes: &[Class],
        class: Option<u32>,
    ) -> Option<Numbers>;

    /// Returns the groups of a kind other than classes.
    fn groups(&self, _kind: &str, _score: &Self::Score, _classes: &[Class]) -> Option<Vec<Group>> {
        None
    }

    /// Returns what is too large for a report. Compact details have what a report draws.
    fn details(
        &self,
        _state: &Self::State,
        _score: &Self::Score,
        _classes: &[Class],
        _is_compact: bool,
    ) -> Option<Value> {
        None
    }

    /// Returns the confusion matrix, if the metric counts confusions and the matrix is small enough to be printed.
    fn confusions(&self, _score: &Self::Score, _classes: &[Class]) -> Option<ConfusionTable> {
        None
    }

    /// Returns the table that another program prints, with a row for each class if they are groups.
    fn table(
        &self,
        _score: &Self::Score,
        _classes: &[Class],
        _by_class: bool,
    ) -> Option<PrintedTable> {
        None
    }

    /// Returns the warnings that the metric has in addition to those of all data sets.
    fn warnings(
        &self,
        _state: &Self::State,
        _score: &Self::Score,
        _classes: &[Class],
        _remarks: Remarks<'_>,
    ) -> Vec<Message> {
        Vec::new()
    }

    /// Returns how many detections the option `max-detections` left out, and in how many images, if the state counts them.
    fn beyond_limit(&self, _state: &Self::State, _score: &Self::Score) -> Option<[u64; 2]> {
        None
    }

    /// Returns one score of an example by its name, where that takes less time than all of them.
    fn example_score(&self, _state: &Self::State, _name: &str) -> Option<Option<f64>> {
        None
    }

    /// Returns what scores these states with a weight for each: see [`Reading::weigher`].
    fn weighted<'s>(&'s self, _states: &[&'s Self::State]) -> Option<Weighted<'s, Self>> {
        None
    }
}

/// Scores states by their weights.
pub(crate) type Weighted<'s, M> = Box<dyn Fn(&[u64]) -> <M as Metric>::Score + Send + Sync + 's>;

/// The definition of a metric of images, as far as its formula does not say it.
#[derive(Default)]
pub(crate) struct ImageDefinition {
    /// The parts of the signature before those of the files.
    pub(crate) signature: Named<String>,
    /// The rules that decide what is worth a warning.
    pub(crate) findings: FindingRules,
    pub(crate) warnings: WarningRules,
    /// What needs boxes in pixels, worded to come before "pixels".
    pub(crate) needs_pixels: Option<Message>,
    /// The score that ranks examples, if it is not the first one.
    pub(crate) ranking_score: Option<&'static str>,
}

/// Returns a metric of images as a scorer, with the options that all of them have.
pub(crate) fn images<M: ImageMetric>(
    name: &str,
    metric: M,
    readers: Readers<M::Shape>,
    definition: ImageDefinition,
    options: &Options,
) -> Result<Scorer, OptionError> {
    let ImageDefinition {
        mut signature,
        findings,
        warnings,
        needs_pixels,
        ranking_score,
    } = definition;
    let files = ImageFiles::new(readers, findings, needs_pixels, options)?;
    signature.extend(files.signature());
    let reading = OfImages {
        metric,
        files,
        warnings,
        facts: Facts {
            signature,
            objects: ObjectsAt::IMAGES,
            ranking_score: ranking_score.map(str::to_owned),
            ..Facts::default()
        },
        groups: options.given("groups"),
        by_class: findings.by_class,
        is_compact: options.compact_details(),
    };
    Ok(scorer(name, VERSION, reading))
}

/// The value of a switch in a signature.
pub(crate) fn yes(is_on: bool) -> Option<String> {
    is_on.then(|| "yes".to_owned())
}

/// The reading of a metric of images.
struct OfImages<M: ImageMetric> {
    metric: M,
    files: ImageFiles<M::Shape>,
    warnings: WarningRules,
    facts: Facts,
    /// The kind of groups, if there are any.
    groups: String,
    /// Whether classes are distinguished.
    by_class: bool,
    /// Whether details are compact.
    is_compact: bool,
}

impl<M: ImageMetric> OfImages<M> {
    fn numbers_of(
        &self,
        score: &M::Score,
        state: Option<&M::State>,
        classes: &[Class],
        scope: Scope<'_>,
    ) -> Numbers {
        let numbers = |class| self.metric.numbers(score, state, classes, class);
        let mut total = numbers(None).unwrap_or_default();
        if scope != Scope::Total || !self.by_class {
            return total;
        }
        let of_class = |(class, name)| {
            let Numbers { scores, counts, .. } = numbers(Some(class))?;
            Some(Group {
                name,
                scores,
                counts,
            })
        };
        let groups = match &*self.groups {
            "class" => Some(
                (0..)
                    .zip(class_names(classes))
                    .filter_map(of_class)
                    .collect(),
            ),
            kind => self.metric.groups(kind, score, classes),
        };
        total
            .groups
            .extend(groups.map(|groups| (self.groups.clone(), groups)));
        total
    }
}

impl<M: ImageMetric> Reading for OfImages<M> {
    type Metric = DynMetric<M>;
    type Header = Vec<Class>;

    fn metric(&self) -> &DynMetric<M> {
        self.metric.as_ref()
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        self.files.accept_records()?;
        let reference = record.reference.to_json_or("[]");
        let reference = reference.map_err(FieldError::reference)?;
        let prediction = record.prediction.to_json_or("[]");
        let prediction = prediction.map_err(FieldError::prediction)?;
        let mut classes = Classes::new();
        let key = Key::from(IdKey::from(record.id));
        let sides = [&*reference, &*prediction];
        let (image, observations) = self.files.parse(key, sides, &mut classes)?;
        let keys = classes.keys().to_vec();
        // Nearly all classes have been seen before.
        if keys
            .iter()
            .any(|key| index_of(sink.header(), key).is_none())
        {
            sink.share(Side::Reference, classes.into_sorted().0)?;
        }
        let indices = keys.iter().filter_map(|key| index_of(sink.header(), key));
        let indices: Vec<u32> = indices.collect();
        let checked = self.metric().check_size(image.predictions(), image.image());
        checked.map_err(|error| FieldError::prediction(of_fewer_detections(&error)).limit())?;
        let mut state = image.measure(self.metric());
        self.renumber(&mut state, &indices);
        sink.measured(None, &[], state);
        observations.note(sink);
        Ok(())
    }

    fn renumber(&self, state: &mut M::State, indices: &[u32]) {
        // A state of other classes is left as it is; such a state cannot be built, and is refused when read.
        let _ = state.renumber_classes(indices);
    }

    fn numbers(&self, state: &M::State, classes: &Vec<Class>, asked: Asked<'_>) -> Numbers {
        let only = asked.score;
        if let Some((name, value)) =
            only.zip(only.and_then(|name| self.metric.example_score(state, name)))
        {
            return Numbers::of_score(name, value);
        }
        let score = self.metric().compute(state);
        let mut numbers = self.numbers_of(&score, Some(state), classes, asked.scope);
        if asked.details {
            numbers.details = self.metric.details(state, &score, classes, self.is_compact);
        }
        if let Some(remarks) = asked.remarks {
            numbers.confusions = self.metric.confusions(&score, classes);
            numbers.table = self.metric.table(&score, classes, self.by_class);
            let of_classes = with_totals(classes, &state.class_totals());
            let is_ranked = state.is_ranked_by_order();
            numbers.signature.extend(self.files.known_parts(remarks));
            numbers.warnings = data_warnings(&of_classes, is_ranked, remarks, self.warnings);
            let of_metric = self.metric.warnings(state, &score, classes, remarks);
            numbers.warnings.extend(of_metric);
            let beyond = self.metric.beyond_limit(state, &score);
            numbers.notes.extend(limit_note(beyond, remarks));
        }
        numbers
    }

    fn weigher<'s>(
        &'s self,
        states: &[&'s M::State],
        classes: &'s Vec<Class>,
    ) -> Option<Weigher<'s>> {
        let weighted = self.metric.weighted(states)?;
        Some(Box::new(move |weights, scope| {
            self.numbers_of(&weighted(weights), None, classes, scope)
        }))
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        read_images(self, data, sink)
    }

    fn unanswered(&self, record: &mut Record<'_>) -> Unanswered {
        #[derive(Deserialize)]
        struct Image {
            annotations: [IgnoredAny; 0],
        }
        let reference = record.reference.clone().to_json_or("[]");
        let reference = reference.unwrap_or_default();
        let is_empty = typed::<[IgnoredAny; 0]>(&reference).is_ok()
            || typed::<Image>(&reference).is_ok_and(|image| image.annotations.is_empty());
        is_empty.into()
    }
}

impl<M: ImageMetric> ImageReading for OfImages<M> {
    type Shape = M::Shape;

    const HAS_PARTS: bool = false;

    fn files(&self) -> &ImageFiles<M::Shape> {
        &self.files
    }

    fn header(&self, classes: &[Class]) -> Vec<Class> {
        classes.to_vec()
    }

    fn add(
        &self,
        _: &Listing,
        predictions: &[Prediction<M::Shape>],
        image: &Image<M::Shape>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), ReadError> {
        let checked = self.metric().check_size(predictions, image);
        checked.map_err(|error| {
            let error = ReadError::new("", of_fewer_detections(&error));
            error.at(format!("image {}", image.key)).limit()
        })?;
        sink.example(predictions, image);
        Ok(())
    }
}

fn of_fewer_detections(error: &TooManyPairs) -> Message {
    Message::from(format!("{error}; a smaller "))
        .option("max-detections", "")
        .text(" makes fewer")
}

/// The classes of a data set, in the order of their keys. States count classes by their index here.
impl Header for Vec<Class> {
    fn unify(&mut self, other: &Self) -> Result<Unified, Message> {
        if self == other {
            return Ok(Unified::Kept);
        }
        let (classes, [ours, theirs]) =
            unite_classes(self, other).map_err(|error| Message::from(error.to_string()))?;
        *self = classes;
        Ok(Unified::Renumbered { ours, theirs })
    }
}

fn index_of(classes: &[Class], key: &Key) -> Option<u32> {
    let found = classes.binary_search_by(|class| class.key.cmp(key));
    found.ok().and_then(|index| u32::try_from(index).ok())
}

/// The classes that have objects, with the number of them.
fn with_totals(classes: &[Class], totals: &BTreeMap<u32, ClassTotals>) -> Vec<OfClass> {
    let named: Vec<_> = classes.iter().zip(class_names(classes)).collect();
    let of_class = |(&index, &totals): (&u32, &ClassTotals)| {
        let (class, name) = named.get(index as usize)?;
        Some(OfClass {
            name: name.clone(),
            is_listed: is_listed(class),
            totals,
        })
    };
    totals.iter().filter_map(of_class).collect()
}

/// Whether a list has the class, and not only objects: a list gives it a name of its own. Numbers of classes in records
/// have no name.
pub(crate) fn is_listed(class: &Class) -> bool {
    !class.name.is_empty() && class.name != class.key.to_string()
}

/// A name for each class: its own if all of them have different ones, else its id.
pub(crate) fn class_names(classes: &[Class]) -> Vec<String> {
    let names: BTreeSet<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    let by_name = names.len() == classes.len() && !names.contains("");
    let name = |class: &Class| {
        if by_name {
            class.name.clone()
        } else {
            class.key.to_string()
        }
    };
    classes.iter().map(name).collect()
}

/// The points of a curve as data.
pub(crate) fn curve_points(curve: &Curve, is_compact: bool) -> Vec<serde_json::Value> {
    let points = curve.points().map(|point| (point.score, point.counts));
    crate::curves::points(points, is_compact)
}
