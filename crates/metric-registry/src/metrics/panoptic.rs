//! Panoptic quality.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use metric_core::{Counts, Malformed, Metric, Reader, Writer, Written, parallel};
use metric_record::{
    Duplicate, FieldError, IdKey, JoinError, Message, Missing, NAMED_IDS, Record, Side, Unmatched,
    Value,
};
use metric_segmentation::read::{
    Compared, MapOptions, PanopticFile, PanopticImage, PanopticRules, SegmentCategory,
    compare_files, compare_records, is_panoptic,
};
use metric_segmentation::{
    MatchingRules, PanopticQuality, PanopticScore, PanopticState, PanopticSum, Quality, Segment,
    SegmentIou, VERSION,
};
use serde_json::{Value as Json, json};

use crate::numbers::{named, present};
use crate::shapes::label_maps::{MAX_PIXELS, note};
use crate::{
    Asked, Chart, Counted, DataSet, DataSetError, Demo, Entry, Facts, Group, Header, Input,
    Numbers, ObjectsAt, OptionError, OptionSpec, Options, Place, Reading, Scope, ScoreSpec, Scorer,
    Shape, Sink, Unanswered, Unified, Weigher, scorer,
};

const REFERENCE_FOLDER: &str = "reference-folder";
const PREDICTION_FOLDER: &str = "prediction-folder";
const DILATION: &str = "dilation";
const MAX_SEGMENTS: &str = "max-segments";

pub(crate) const PANOPTIC: Entry = Entry {
    name: "panoptic",
    question: "How good are panoptic segments? PQ, SQ, RQ of things and stuff",
    programs: "panopticapi",
    shapes: &[Shape::Segments.as_is()],
    tried: &[
        &[("groups", "class")],
        &[("iou-type", "boundary"), ("dilation", "0.1")],
        &[("quirks", "panopticapi"), ("max-segments", "100"), ("max-pixels", "10000")],
    ],
    help: "Panoptic quality (PQ), segmentation quality (SQ) and recognition quality (RQ) of things and stuff, matching panopticapi",
    values: (
        "a COCO panoptic file (.json) with categories and annotations, whose PNG files are in a folder of its name or whose segments have run lengths; or one image per record: {\"ids\": [[int]], \"segments_info\": [{\"id\", \"category_id\", ...}]}",
        "the same, of whose segments only id and category_id are used",
    ),
    known_as: &[
        (&["pq", "panoptic-quality", "panopticapi"], ""),
        (&["sq", "rq"], "it is a score of panoptic"),
    ],
    demos: &[Demo::new(
        "panoptic segments",
        ["panoptic-truth.json", "panoptic-results.json"],
        &["PQ", "SQ", "RQ"],
    )],
    options: &[
        OptionSpec::one_of("iou-type", "TYPE", || vec!["mask", "boundary"],
            "What matches segments: the IoU of masks, or the smaller one of masks and boundaries").or("mask"),
        OptionSpec::number(DILATION, "R", 0.0..=1.0,
            "Width of boundaries, as a share of the diagonal of the image (default: 0.02)").only_with("iou-type", &["boundary"]),
        OptionSpec::path(REFERENCE_FOLDER, "DIR",
            "Folder of the PNG files of the references (default: the path of the JSON file without .json)"),
        OptionSpec::path(PREDICTION_FOLDER, "DIR",
            "Folder of the PNG files of the predictions (default: the path of the JSON file without .json)"),
        MAX_PIXELS,
        OptionSpec::integer(MAX_SEGMENTS, "N", 1..=(1 << 24),
            "Maximum number of ids of segments on a side of an image").or("65536"),
        OptionSpec::one_of("quirks", "PROGRAM", || vec!["none", "panopticapi"],
            "Reproduce the known errors of a program: of segments, categories or predicted images with one id the last counts, and reference segments of unknown categories are left out").or("none"),
        OptionSpec::groups(|| vec!["none", "class"],
            "Tables in addition to the total"),
    ],
    scores: &[
        ScoreSpec::higher("PQ"),
        ScoreSpec::higher("SQ"),
        ScoreSpec::higher("RQ"),
        ScoreSpec::higher("PQ_things"),
        ScoreSpec::higher("SQ_things"),
        ScoreSpec::higher("RQ_things"),
        ScoreSpec::higher("PQ_stuff"),
        ScoreSpec::higher("SQ_stuff"),
        ScoreSpec::higher("RQ_stuff"),
    ],
    groups: &["class"],
    details: true,
    charts: &[Chart::Segments],
    input: Input::Joined(is_panoptic),
    examples: "images",
    build: &build,
    prediction_folder: PREDICTION_FOLDER,
    ..Entry::BASE
};

fn build(options: &Options) -> Result<Scorer, OptionError> {
    let is_boundary = options.is("iou-type", "boundary");
    let quirks = options.is("quirks", "panopticapi");
    let dilation: Option<f64> = options.parse(DILATION)?;
    let defaults = PanopticRules::default();
    let reading = Panoptic {
        rules: PanopticRules {
            matching: MatchingRules {
                iou: if is_boundary {
                    SegmentIou::Boundary
                } else {
                    SegmentIou::Mask
                },
                quirks,
            },
            dilation: dilation.unwrap_or(defaults.dilation),
            maps: MapOptions::default().with_max_pixels(options.integer(MAX_PIXELS.name)?),
            max_segments: options.integer(MAX_SEGMENTS)?,
        },
        by_class: options.is("groups", "class"),
    };
    Ok(scorer("panoptic", VERSION, reading))
}

struct Panoptic {
    rules: PanopticRules,
    by_class: bool,
}

/// The categories of a data set, by id.
#[derive(Clone, Debug, Default, PartialEq)]
struct Categories(BTreeMap<i64, Category>);

/// The name of a category, and whether it is a thing, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq)]
struct Category {
    name: String,
    is_thing: Option<bool>,
}

metric_core::written!(Category { name, is_thing });

impl Written for Categories {
    fn write(&self, to: &mut Writer) {
        to.pairs(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let pairs: Vec<(i64, Category)> = Vec::read(from)?;
        Ok(Self(pairs.into_iter().collect()))
    }
}

/// Records name the categories of their segments only.
impl Header for Categories {
    fn unify(&mut self, other: &Self) -> Result<Unified, Message> {
        let mut united = self.clone();
        for (id, theirs) in &other.0 {
            let ours = united.0.entry(*id).or_default();
            let word = |is_thing| if is_thing { "a thing" } else { "stuff" };
            match (ours.is_thing, theirs.is_thing) {
                (Some(ours), Some(theirs)) if ours != theirs => {
                    let problem = format!(
                        "category {id} is {}: expected {}, as before",
                        word(theirs),
                        word(ours)
                    );
                    return Err(problem.into());
                }
                (None, of_theirs) => ours.is_thing = of_theirs,
                _ => {}
            }
            match (&*ours.name, &*theirs.name) {
                ("", name) => ours.name = name.to_owned(),
                (ours, theirs) if theirs.is_empty() || ours == theirs => {}
                (ours, theirs) => {
                    let problem = format!(
                        "category {id} has the name {theirs:?}: expected {ours:?}, as before"
                    );
                    return Err(problem.into());
                }
            }
        }
        *self = united;
        Ok(Unified::Kept)
    }
}

impl Categories {
    fn of(list: &[SegmentCategory]) -> Self {
        let category = |one: &SegmentCategory| {
            let category = Category {
                name: one.name.clone(),
                is_thing: one.is_thing,
            };
            (one.id, category)
        };
        Self(list.iter().map(category).collect())
    }

    /// A name for each category: its own, or its id where the name is missing or shared.
    fn names(&self) -> Vec<String> {
        let mut times: HashMap<&str, usize> = HashMap::new();
        for category in self.0.values() {
            *times.entry(&category.name).or_default() += 1;
        }
        let name = |(id, category): (&i64, &Category)| match &*category.name {
            name if !name.is_empty() && times.get(name) == Some(&1) => name.to_owned(),
            _ => id.to_string(),
        };
        self.0.iter().map(name).collect()
    }

    fn is(&self, id: i64, is_thing: bool) -> bool {
        let category = self.0.get(&id);
        category.is_some_and(|category| category.is_thing == Some(is_thing))
    }

    /// The number of categories of which nobody says whether they are things.
    fn unsaid(&self) -> usize {
        let unsaid = |category: &&Category| category.is_thing.is_none();
        self.0.values().filter(unsaid).count()
    }
}

impl Reading for Panoptic {
    type Metric = PanopticQuality;
    type Header = Categories;

    fn metric(&self) -> &PanopticQuality {
        &PanopticQuality
    }

    fn facts(&self) -> Facts {
        let is_boundary = self.rules.matching.iou == SegmentIou::Boundary;
        let boundary = is_boundary.then(|| "boundary".to_owned());
        let quirks = self.rules.matching.quirks;
        Facts {
            signature: present([
                ("iou-type", boundary),
                (
                    DILATION,
                    is_boundary.then(|| self.rules.dilation.to_string()),
                ),
                ("quirks", quirks.then(|| "panopticapi".to_owned())),
            ]),
            objects: ObjectsAt::IMAGES,
            ..Facts::default()
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let id = IdKey::from(record.id);
        let [mut reference_json, mut prediction_json] = [Cow::default(), Cow::default()];
        let [mine, theirs] = &sink.gathered.plan.places;
        let truth = image(id.clone(), &mut record.reference, mine, &mut reference_json);
        let truth = truth.map_err(FieldError::reference)?;
        let found = image(id, &mut record.prediction, theirs, &mut prediction_json);
        let found = found.map_err(FieldError::prediction)?;
        for (side, image) in [(Side::Reference, &truth), (Side::Prediction, &found)] {
            let mut categories = Categories::default();
            for category in &image.categories {
                let one = Categories::of(std::slice::from_ref(category));
                let united = categories.unify(&one);
                united.map_err(|problem| FieldError::new(side, problem))?;
            }
            let mut known = sink.header().clone();
            let united = known.unify(&categories);
            united.map_err(|problem| FieldError::new(side, problem))?;
            sink.share(side, known)?;
        }
        let matching = compare_records(&truth, &found, self.rules);
        let matching = matching.map_err(|(is_prediction, problem)| {
            let side = if is_prediction {
                Side::Prediction
            } else {
                Side::Reference
            };
            FieldError::new(side, problem)
        })?;
        add(&truth, &matching, sink);
        Ok(())
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        let truths = PanopticFile::read(&data.references, data.file(REFERENCE_FOLDER))?;
        let found = PanopticFile::read(&data.predictions, data.file(PREDICTION_FOLDER))?;
        let categories = self.categories(&truths)?;
        let joined = self.join(&data, &truths, &found)?;
        for id in &joined.extra {
            sink.count_record(&extra_image(), id);
        }
        sink.missing(joined.missing);
        sink.share(Side::Reference, categories.clone())
            .map_err(|error| truths.error_of_file(error.problem))?;
        let is_known = |category| categories.0.contains_key(&category);
        let compare = |(truth, prediction): &ImagePair<'_, '_>| {
            let prediction = prediction.map(|image| (&found, image));
            compare_files((&truths, truth), prediction, &is_known, self.rules)
        };
        for images in joined.images.chunks(IMAGES_AT_ONCE) {
            let matchings = parallel::map(images.len(), |index| compare(&images[index]));
            for ((truth, prediction), matching) in images.iter().zip(matchings) {
                let matching = matching?;
                sink.record(&truth.id);
                add(truth, &matching, sink);
                if sink.wants_inputs() {
                    let segments = prediction.map_or(&[][..], |image| &image.segments);
                    let [reference, prediction] =
                        [&truth.segments, segments].map(|side| inputs(side, &categories));
                    sink.inputs(reference, prediction);
                }
            }
        }
        Ok(())
    }

    fn numbers(&self, state: &PanopticState, categories: &Categories, asked: Asked<'_>) -> Numbers {
        let score = PanopticQuality.compute(state);
        let mut groups = Vec::new();
        if asked.scope == Scope::Total && self.by_class {
            groups.push(("class".to_owned(), by_class(state, &score, categories)));
        }
        let Counts {
            true_positives,
            false_positives,
            false_negatives,
        } = state.total();
        let warnings = asked.remarks.map(|_| warnings(state, categories));
        let details = asked.details.then(|| details(state, &score, categories));
        Numbers {
            scores: scores(&score, categories),
            counts: named([
                ("tp", true_positives),
                ("fp", false_positives),
                ("fn", false_negatives),
                ("segments", state.segments),
                ("ignored", state.ignored),
            ]),
            groups,
            warnings: warnings.unwrap_or_default(),
            details,
            ..Numbers::default()
        }
    }

    fn weigher<'s>(
        &'s self,
        states: &[&'s PanopticState],
        categories: &'s Categories,
    ) -> Option<Weigher<'s>> {
        let sum = PanopticSum::new(states)?;
        Some(Box::new(move |weights, scope| {
            Reading::numbers(self, &sum.weighted(weights), categories, scope.into())
        }))
    }

    fn unanswered(&self, record: &mut Record<'_>) -> Unanswered {
        let mut json = Cow::default();
        let image = image(
            IdKey::from(record.id),
            &mut record.reference.clone(),
            &Place::Anywhere,
            &mut json,
        );
        image.is_ok_and(|image| image.segments.is_empty()).into()
    }
}

/// Reads a side of a record, whose JSON is kept in `json`.
fn image<'v, 'j>(
    id: IdKey<'j>,
    value: &mut Value<'v>,
    place: &Place,
    json: &'j mut Cow<'v, str>,
) -> Result<PanopticImage<'j>, String> {
    if let Some(picture) = value.as_picture() {
        return PanopticImage::of_picture(id, picture);
    }
    *json = value.to_json_or(r#"{"segments_info": []}"#)?;
    PanopticImage::parse_record(id, json, *place == Place::Anywhere)
}

/// Enough to keep threads busy, and few enough that their matchings take little memory.
const IMAGES_AT_ONCE: usize = 256;

/// An image of the references, with its prediction.
type ImagePair<'f, 't> = (&'f PanopticImage<'t>, Option<&'f PanopticImage<'t>>);

/// The images of a data set that are compared.
struct Joined<'f, 't> {
    images: Vec<ImagePair<'f, 't>>,
    missing: u64,
    /// Images of the predictions alone.
    extra: Vec<String>,
}

impl Panoptic {
    /// The categories that the references list.
    fn categories(&self, truths: &PanopticFile<'_>) -> Result<Categories, DataSetError> {
        let Some(list) = &truths.categories else {
            return Err(truths.error_of_file("no field `categories`").into());
        };
        let mut ids = BTreeSet::new();
        let repeated = list.iter().find(|category| !ids.insert(category.id));
        match repeated {
            Some(category) if !self.rules.matching.quirks => {
                let problem = format!(
                    "category {} occurs several times in categories",
                    category.id
                );
                Err(truths.error_of_file(problem).into())
            }
            _ => Ok(Categories::of(list)),
        }
    }

    /// Joins the images of both sides.
    fn join<'f, 't>(
        &self,
        data: &DataSet,
        truths: &'f PanopticFile<'t>,
        found: &'f PanopticFile<'t>,
    ) -> Result<Joined<'f, 't>, DataSetError> {
        let by_id = unique(truths, false)?;
        let mut predictions = unique(found, self.rules.matching.quirks)?;
        let is_held = |id: &IdKey<'_>| data.holds(&id.to_string());
        let extra = found.images.iter().map(|image| &image.id);
        let extra = extra.filter(|id| !by_id.contains_key(*id) && is_held(id));
        let mut joined = Joined {
            images: Vec::new(),
            missing: 0,
            extra: extra.map(IdKey::to_string).collect(),
        };
        let mut without = Vec::new();
        for truth in truths.images.iter().filter(|image| is_held(&image.id)) {
            let prediction = predictions.remove(&truth.id);
            if prediction.is_none() {
                without.push(truth.id.to_string());
            }
            if prediction.is_some() || data.join.missing == Missing::Empty {
                joined.images.push((truth, prediction));
            }
        }
        joined.missing = without.len() as u64;
        if without.is_empty() || data.join.missing != Missing::Error {
            return Ok(joined);
        }
        without.truncate(NAMED_IDS);
        let unmatched = Unmatched {
            source: data.references.name.clone(),
            other: data.predictions.name.clone(),
            count: joined.missing,
            ids: without,
            are_lines: false,
        };
        Err(JoinError::Missing(unmatched).into())
    }
}

/// The images of a side by id. The last one of an id counts, if that is allowed.
fn unique<'f, 't>(
    file: &'f PanopticFile<'t>,
    is_last: bool,
) -> Result<HashMap<IdKey<'t>, &'f PanopticImage<'t>>, DataSetError> {
    let mut by_id = HashMap::with_capacity(file.images.len());
    let mut repeated = BTreeSet::new();
    for image in &file.images {
        if by_id.insert(image.id.clone(), image).is_some() {
            repeated.insert(image.id.to_string());
        }
    }
    if is_last || repeated.is_empty() {
        return Ok(by_id);
    }
    let count = repeated.len() as u64;
    let mut ids = repeated.into_iter();
    let first = ids.next().unwrap_or_default();
    let others = ids.take(NAMED_IDS - 1).collect();
    let duplicate = Duplicate::new(file.name(), first, count, others);
    Err(JoinError::Duplicate(duplicate).into())
}

/// Adds an image, and notes what may be wrong with it.
fn add(truth: &PanopticImage<'_>, compared: &Compared, sink: &mut Sink<'_, Panoptic>) {
    let (matching, files) = compared;
    note(*files, &truth.id.to_string(), sink);
    if sink.wants_samples() {
        let ids = |segments: &[Segment]| {
            let ids = segments.iter().map(|segment| segment.id);
            ids.collect::<Vec<_>>()
        };
        let matches = matching.matches.iter();
        let matches = matches.map(|found| json!([found.ids.0, found.ids.1, found.iou]));
        sink.value("matches", matches.collect());
        sink.value("missed", json!(ids(&matching.missed)));
        sink.value("false_positives", json!(ids(&matching.false_positives)));
        sink.value("ignored", json!(ids(&matching.ignored)));
    }
    sink.example(matching, &());
    let oddities = &matching.oddities;
    let notes = [
        (
            truth.without_crowd,
            [
                "has no iscrowd, which is then 0",
                "have no iscrowd, which is then 0",
            ],
        ),
        (
            truth.without_area,
            [
                "has no area, which is then the number of its pixels",
                "have no area, which is then the number of their pixels",
            ],
        ),
        (
            oddities.other_area,
            [
                "has an area that is not the number of its pixels; the area counts, as in panopticapi",
                "have an area that is not the number of their pixels; the area counts, as in panopticapi",
            ],
        ),
        (
            oddities.no_pixels,
            [
                "has no pixels, and is missed",
                "have no pixels, and are missed",
            ],
        ),
    ];
    for (times, [one, several]) in notes {
        let what = Counted::new(
            format!("segment of the references {one}"),
            format!("segments of the references {several}"),
        );
        sink.count(&what, times);
    }
    let unlisted = Counted::new(
        "id of pixels of the references is not in segments_info, and the pixels count as another segment",
        "ids of pixels of the references are not in segments_info, and the pixels count as other segments",
    );
    sink.count(&unlisted, oddities.unlisted);
    if oddities.hidden_crowds > 0 {
        let hidden = Counted::new(
            "image has several crowds of a category, of which only the last one excuses predictions, as in panopticapi",
            "images have several crowds of a category, of which only the last one excuses predictions, as in panopticapi",
        );
        sink.count_record(&hidden, &truth.id);
    }
}

fn extra_image() -> Counted {
    Counted::new(
        "predicted image is not in the references, and was left out",
        "predicted images are not in the references, and were left out",
    )
}

/// The segments of a side for a report, as JSON.
fn inputs(segments: &[Segment], categories: &Categories) -> String {
    let segment = |segment: &Segment| {
        let category = categories.0.get(&segment.category);
        let name = category.map_or("", |category| &*category.name);
        json!({"id": segment.id, "category_id": segment.category, "category": name})
    };
    let segments: Vec<Json> = segments.iter().map(segment).collect();
    json!(segments).to_string()
}

fn scores(score: &PanopticScore, categories: &Categories) -> Vec<(String, Option<f64>)> {
    // Where one category may be either, neither mean is known.
    let is_said = categories.unsaid() == 0;
    let of = |is_thing: bool| {
        let mean = score.mean(|id| categories.is(id, is_thing));
        mean.filter(|_| is_said)
    };
    let kinds = [
        ("", score.mean(|_| true)),
        ("_things", of(true)),
        ("_stuff", of(false)),
    ];
    let scores = kinds.into_iter().flat_map(|(kind, quality)| {
        qualities(quality).map(|(name, value)| (format!("{name}{kind}"), value))
    });
    scores.collect()
}

fn qualities(quality: Option<Quality>) -> [(&'static str, Option<f64>); 3] {
    [
        ("PQ", quality.map(|quality| quality.pq)),
        ("SQ", quality.map(|quality| quality.sq)),
        ("RQ", quality.map(|quality| quality.rq)),
    ]
}

fn by_class(state: &PanopticState, score: &PanopticScore, categories: &Categories) -> Vec<Group> {
    let counts_of: HashMap<i64, Counts> = counts_by_id(state);
    let named_ids = categories.0.keys().zip(categories.names());
    let group = |(id, name): (&i64, String)| {
        let counts = counts_of.get(id).copied().unwrap_or_default();
        Group {
            name,
            scores: named(qualities(score.categories.get(id).copied())),
            counts: named([
                ("category_id", json!(id)),
                ("tp", json!(counts.true_positives)),
                ("fp", json!(counts.false_positives)),
                ("fn", json!(counts.false_negatives)),
            ]),
        }
    };
    named_ids.map(group).collect()
}

fn counts_by_id(state: &PanopticState) -> HashMap<i64, Counts> {
    let categories = state.categories.iter();
    categories
        .map(|(id, category)| (*id, category.counts))
        .collect()
}

/// The categories with their counts, for charts.
fn details(state: &PanopticState, score: &PanopticScore, categories: &Categories) -> Json {
    let states: HashMap<_, _> = state.categories.iter().collect();
    let listed = categories.0.iter().zip(categories.names());
    let listed = listed.map(|((id, category), name)| {
        let of = states.get(id).copied();
        let counts = of.map(|of| of.counts).unwrap_or_default();
        let quality = score.categories.get(id);
        json!({
            "id": id,
            "name": name,
            "isthing": category.is_thing,
            "tp": counts.true_positives,
            "fp": counts.false_positives,
            "fn": counts.false_negatives,
            "iou": of.map_or(0.0, |of| of.iou.value()),
            "PQ": quality.map(|quality| quality.pq),
            "SQ": quality.map(|quality| quality.sq),
            "RQ": quality.map(|quality| quality.rq),
        })
    });
    json!({"categories": listed.collect::<Vec<_>>()})
}

fn warnings(state: &PanopticState, categories: &Categories) -> Vec<Message> {
    let mut warnings = Vec::new();
    if state.total() == Counts::default() {
        let text = "no category has segments that count, so all scores are undefined";
        warnings.push(text.into());
    }
    let unsaid = Counted::new(
        "category has no isthing, so the scores of things and stuff are undefined",
        "categories have no isthing, so the scores of things and stuff are undefined",
    );
    warnings.extend(Counted::warnings([(categories.unsaid() as u64, unsaid)]));
    warnings
}
