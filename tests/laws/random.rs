//! Random data for every metric: records, and dataset files.

use metric_record::{Document, Id, Missing, Record, Value};
use metric_registry::{ENTRIES, Entry, Input, Options, Shape};
use proptest::prelude::*;
use proptest::sample;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value as Json, json};

/// A source of random values that depends only on its seed.
pub(crate) struct Random(TestRunner);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let seed: [u8; 32] = std::array::from_fn(|i| seed.to_le_bytes()[i % 8]);
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        Self(TestRunner::new_with_rng(Config::default(), rng))
    }

    pub(crate) fn draw<T>(&mut self, strategy: impl Strategy<Value = T>) -> T {
        let tree = strategy.new_tree(&mut self.0);
        tree.expect("a strategy that rejects nothing").current()
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.draw(0..end)
    }

    pub(crate) fn shuffled<T: Clone + std::fmt::Debug + 'static>(&mut self, all: &[T]) -> Vec<T> {
        self.draw(Just(all.to_vec()).prop_shuffle())
    }
}

/// The values of an example: its reference, its prediction, and the fields next to the reference.
type Values = (Json, Json, Json);

/// A source of random values.
type Source = fn() -> BoxedStrategy<Values>;

/// What to feed a metric, and the options to try.
pub(crate) struct Domain {
    pub(crate) entry: &'static Entry,
    values: Source,
    pub(crate) options: Vec<OptionSet>,
}

/// Options by name; a flag has no value.
type OptionSet = Vec<(&'static str, &'static str)>;

pub(crate) fn options(set: &[(&str, &str)]) -> Options {
    let start = Options::default();
    set.iter()
        .fold(start, |all, (name, value)| all.set(name, *value))
}

/// The random data of each metric: those of the shapes that it takes, under its options that go with each.
pub(crate) fn domains() -> Vec<Domain> {
    let mut domains = Vec::new();
    for entry in ENTRIES {
        for taken in entry.shapes {
            let options = option_sets(entry, taken.options);
            let sources = sources(taken.shape).iter();
            domains.extend(sources.map(|&values| Domain {
                entry,
                values,
                options: options.clone(),
            }));
        }
    }
    domains
}

/// No options and each set that the metric declares, as far as they go with these ones.
pub(crate) fn option_sets(entry: &Entry, with: &[(&'static str, &'static str)]) -> Vec<OptionSet> {
    let sets = std::iter::once(&[][..]).chain(entry.tried.iter().copied());
    let sets = sets.map(|set| [with, set].concat());
    sets.filter(|set| entry.scorer(&options(set)).is_ok())
        .collect()
}

fn sources(shape: Shape) -> &'static [Source] {
    match shape {
        Shape::Texts => &[texts],
        Shape::Answers => &[several_texts],
        Shape::Votes => &[votes],
        Shape::Samples => &[samples],
        Shape::Grades => &[grades],
        Shape::Questions => &[questions],
        Shape::Sessions => &[sessions],
        Shape::Numbers => &[numbers],
        Shape::NumberPairs => &[number_pairs],
        Shape::Labels => &[classes],
        Shape::LabelSets => &[label_sets],
        Shape::ScoredLabels => &[scored_labels],
        Shape::RankedLabels => &[labels],
        Shape::ClassScores => &[scores],
        Shape::LabelScores => &[probabilities, class_probabilities],
        Shape::Topics => &[topics],
        Shape::LabelMaps => &[label_maps],
        Shape::Code => &[code],
        Shape::Boxes => &[boxes, item_boxes],
        Shape::Images | Shape::Masks => &[image],
        Shape::Keypoints => &[persons],
        Shape::Segments => &[segments],
        Shape::Grids => &[arc],
        Shape::GridTasks => &[arc_tasks],
        Shape::Rules => &[lanes],
        Shape::MappedRules => &[mapped_lanes],
        Shape::Frames => &[frames],
        _ => &[],
    }
}

/// A record with texts of its own.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    id: String,
    reference: String,
    /// `None` for a prediction that is missing.
    prediction: Option<String>,
    fields: String,
}

impl Row {
    /// A record whose reference no metric can read.
    pub(crate) fn unreadable(id: usize) -> Self {
        Self {
            id: id.to_string(),
            reference: "true".to_owned(),
            prediction: Some("[]".to_owned()),
            fields: "{}".to_owned(),
        }
    }

    pub(crate) fn new(id: usize, reference: &Json, prediction: &Json) -> Self {
        Self {
            id: id.to_string(),
            reference: reference.to_string(),
            prediction: Some(prediction.to_string()),
            fields: "{}".to_owned(),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The same record with a field `key`, which is its id, and a field `all`, which all records share.
    pub(crate) fn with_key(&self) -> Self {
        let rest = self.fields.trim_start_matches('{');
        let comma = if rest.trim() == "}" { "" } else { "," };
        Self {
            fields: format!("{{\"key\": \"{}\", \"all\": true{comma}{rest}", self.id),
            ..self.clone()
        }
    }

    pub(crate) fn has_prediction(&self) -> bool {
        self.prediction.is_some()
    }

    fn record(&self, missing: Missing) -> Record<'_> {
        let prediction = self.prediction.as_deref();
        let mut record = Record::new(
            &self.id,
            prediction.map_or_else(Value::missing, Value::json),
            Value::json(&self.reference),
        );
        // An id is text or an integer, which are the same id.
        if let Ok(number) = self.id.parse()
            && number % 2 == 0
        {
            record.id = Id::Integer(number);
        }
        record.fields = Some(&self.fields);
        record.join.missing = missing;
        record
    }
}

pub(crate) fn records(rows: &[Row], missing: Missing) -> Vec<Record<'_>> {
    rows.iter().map(|row| row.record(missing)).collect()
}

impl Domain {
    /// Random records with ids from 0. Under every policy except the strict one some predictions are
    /// missing.
    pub(crate) fn rows(&self, random: &mut Random, count: usize, missing: Missing) -> Vec<Row> {
        let strategy = (self.values)();
        let rows = (0..count).map(|index| {
            let (reference, prediction, mut fields) = random.draw(&strategy);
            let is_missing = missing != Missing::Error && random.below(5) == 0;
            if let Json::Object(fields) = &mut fields {
                fields.insert("reference".to_owned(), reference.clone());
            }
            Row {
                id: index.to_string(),
                reference: reference.to_string(),
                prediction: (!is_missing).then(|| prediction.to_string()),
                fields: fields.to_string(),
            }
        });
        rows.collect()
    }
}

fn list<S: Strategy>(
    item: S,
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Vec<S::Value>> {
    proptest::collection::vec(item, count)
}

/// Values without further fields.
fn plain(
    reference: impl Strategy<Value = Json> + 'static,
    prediction: impl Strategy<Value = Json> + 'static,
) -> BoxedStrategy<Values> {
    (reference, prediction, Just(json!({}))).boxed()
}

fn grid() -> impl Strategy<Value = Json> {
    (1_usize..4, 1_usize..4).prop_flat_map(|(rows, columns)| {
        let row = proptest::collection::vec(0_u8..10, columns);
        proptest::collection::vec(row, rows).prop_map(|rows| json!(rows))
    })
}

/// Segments of few categories, of which the prediction moves a few pixels. Some are crowds.
fn segments() -> BoxedStrategy<Values> {
    let pixels = || proptest::collection::vec(0_u8..4, 12);
    let moved = (pixels(), list((0_usize..12, 0_u8..4), 0..6));
    let images = moved.prop_map(|(truth, moves)| {
        let mut found = truth.clone();
        moves.into_iter().for_each(|(pixel, id)| found[pixel] = id);
        [truth, found].map(|ids| {
            let rows: Vec<&[u8]> = ids.chunks(4).collect();
            let present: std::collections::BTreeSet<u8> = ids.iter().copied().collect();
            let infos = present.into_iter().filter(|id| *id != 0).map(|id| {
                json!({"id": id, "category_id": id % 2, "isthing": id % 2, "iscrowd": u8::from(id == 3)})
            });
            json!({"ids": rows, "segments_info": infos.collect::<Vec<_>>()})
        })
    });
    images
        .prop_map(|[truth, found]| (truth, found, json!({})))
        .boxed()
}

fn arc() -> BoxedStrategy<Values> {
    let attempt = prop_oneof![4 => grid(), 1 => Just(json!(null)), 1 => Just(json!([[10]]))];
    plain(grid(), attempt)
}

fn task() -> impl Strategy<Value = Json> {
    list(prop_oneof![Just(json!([[1]])), grid()], 1..4).prop_map(Json::Array)
}

fn attempts() -> impl Strategy<Value = Json> {
    let attempt = prop_oneof![4 => Just(json!([[1]])), 2 => grid(), 1 => Just(json!(null))];
    let attempts = list(attempt, 0..4).prop_map(|attempts| {
        let named = (1..).zip(attempts);
        let named = named.map(|(number, attempt)| (format!("attempt_{number}"), attempt));
        Json::Object(named.collect())
    });
    list(attempts, 0..4).prop_map(Json::Array)
}

fn arc_tasks() -> BoxedStrategy<Values> {
    plain(task(), attempts())
}

fn label() -> impl Strategy<Value = Json> {
    prop_oneof![
        (0_i64..4).prop_map(|x| json!(x)),
        "[ab1]".prop_map(|x| json!(x))
    ]
}

fn labels() -> BoxedStrategy<Values> {
    plain(label(), list(label(), 3..4).prop_map(Json::Array))
}

fn classes() -> BoxedStrategy<Values> {
    plain(label(), label())
}

/// Sets of a few labels, and weights.
fn label_sets() -> BoxedStrategy<Values> {
    let set = || sample::subsequence(vec!["a", "b", "c", "d", "e"], 0..5);
    let set = || set().prop_shuffle().prop_map(|set| json!(set));
    let weight = (0_u8..8).prop_map(|level| json!({"weight": f64::from(level) / 10.0}));
    (set(), set(), weight).boxed()
}

/// Scores of all labels, with many ties.
fn scored_labels() -> BoxedStrategy<Values> {
    let scores = list(0_u8..4, 5..6).prop_map(|scores| {
        let scores = ["a", "b", "c", "d", "e"].into_iter().zip(scores);
        let scores = scores.map(|(label, score)| (label.to_owned(), json!(f64::from(score) / 4.0)));
        Json::Object(scores.collect())
    });
    (label_sets(), scores)
        .prop_map(|((reference, _, weight), scores)| (reference, scores, weight))
        .boxed()
}

/// Scores with many ties.
fn scores() -> BoxedStrategy<Values> {
    let scores = list(0_u8..3, 4..5).prop_map(|row| json!(row));
    ((0_u8..4).prop_map(|x| json!(x)), scores, weight()).boxed()
}

fn weight() -> impl Strategy<Value = Json> {
    (0_u8..8).prop_map(|level| json!({"weight": f64::from(level) / 10.0}))
}

/// A number per row, with many ties.
fn probabilities() -> BoxedStrategy<Values> {
    let score = (0_u8..11).prop_map(|tenths| json!(f64::from(tenths) / 10.0));
    ((0_u8..2).prop_map(|x| json!(x)), score, weight()).boxed()
}

/// A number per class, most of which sum to 1.
fn class_probabilities() -> BoxedStrategy<Values> {
    let scores = (0_u8..6, 0_u8..6, 0_u8..10).prop_map(|(a, b, off)| {
        let [a, b] = [a, b].map(|tenths| f64::from(tenths) / 10.0);
        json!({"x": a, "y": b, "3": if off == 0 { 1.0 } else { 1.0 - a - b }.max(0.0)})
    });
    let label = prop_oneof![Just(json!("x")), Just(json!("y")), Just(json!(3))];
    (label, scores, weight()).boxed()
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[aAéß ]{0,2}",
        Just("e\u{301}".to_owned()),
        Just("the two".to_owned())
    ]
}

fn text(most: usize) -> impl Strategy<Value = Json> {
    list(word(), 0..most).prop_map(|words| json!(words.join(" ")))
}

/// Short texts are often equal, longer ones have all kinds of edits.
fn texts() -> BoxedStrategy<Values> {
    prop_oneof![plain(text(2), text(2)), plain(text(6), text(6))].boxed()
}

fn questions() -> BoxedStrategy<Values> {
    let question = (list(word(), 1..3), "en|ru", "color|number");
    let question = question.prop_map(
        |(answers, lang, kind)| json!({"answer": answers, "lang": lang, "question_type": kind}),
    );
    let fields = "yes/no|other".prop_map(|kind| json!({"answer_type": kind}));
    (question, text(2), fields).boxed()
}

fn several_texts() -> BoxedStrategy<Values> {
    plain(list(word(), 1..4).prop_map(|texts| json!(texts)), text(2))
}

fn votes() -> BoxedStrategy<Values> {
    let answers = list("[ab]", 1..5).prop_map(|texts| json!(texts));
    plain("[ab]".prop_map(|text| json!(text)), answers)
}

/// Tasks without references, in both forms.
fn samples() -> BoxedStrategy<Values> {
    let samples = list(any::<bool>(), 1..6).prop_map(|samples| json!(samples));
    let counts = (0_u8..4, 0_u8..4).prop_map(|(c, more)| json!({"n": c + more + 1, "c": c}));
    plain(Just(Json::Null), prop_oneof![samples, counts])
}

/// Scores without references, also as Booleans.
fn grades() -> BoxedStrategy<Values> {
    let grade = prop_oneof![
        any::<bool>().prop_map(|grade| json!(grade)),
        (-3_i8..6).prop_map(|grade| json!(grade)),
        (-1e9..1e9_f64).prop_map(|grade| json!(grade)),
    ];
    plain(Just(Json::Null), grade)
}

/// Few speakers and words, with many ties. All segments have times, which a collar needs.
fn sessions() -> BoxedStrategy<Values> {
    let segment = |names: &'static str| {
        let name = prop_oneof![9 => names.prop_map(|name| json!(name)), 1 => Just(Json::Null)];
        let words = list("[abc]", 0..4).prop_map(|words| words.join(" "));
        (name, 0_u8..12, 0_u8..6, words).prop_map(|(name, start, length, words)| {
            let end = f64::from(start + length) / 4.0;
            json!({"speaker": name, "start": f64::from(start) / 4.0, "end": end, "words": words})
        })
    };
    let side = move |names| list(segment(names), 0..5).prop_map(Json::Array);
    plain(side("[AB]"), side("[xyz]"))
}

fn numbers() -> BoxedStrategy<Values> {
    let number = || {
        prop_oneof![
            (0_u8..5).prop_map(|x| json!(x)),
            "[0-3]%?".prop_map(|x| json!(x))
        ]
    };
    plain(number(), number())
}

/// Numbers with ties, and weights.
fn number_pairs() -> BoxedStrategy<Values> {
    let number = || {
        prop_oneof![
            (-2_i8..3).prop_map(|x| json!(x)),
            (-1e9..1e9_f64).prop_map(|x| json!(x)),
        ]
    };
    let weight = (0_u8..8).prop_map(|level| json!({"weight": f64::from(level) / 10.0}));
    (number(), number(), weight).boxed()
}

/// Few documents with ties, of which some are not judged.
fn topics() -> BoxedStrategy<Values> {
    let documents = |number: std::ops::Range<i8>| {
        proptest::collection::btree_map("[a-e]", number, 0..5)
            .prop_map(|documents| json!(documents))
    };
    plain(documents(-1..3), documents(-2..3))
}

/// Maps of two rows, with labels of three classes; 255 is ignored in a reference, and no class in a prediction.
fn label_maps() -> BoxedStrategy<Values> {
    let map = || {
        let label = prop::sample::select(&[7_u8, 8, 11, 0][..]);
        let row = proptest::collection::vec(label, 3);
        proptest::collection::vec(row, 2).prop_map(|rows| json!(rows))
    };
    plain(map(), map())
}

fn code() -> BoxedStrategy<Values> {
    let line = || "(x = y|y = x \\+ 1|if x: return|# note|)\n";
    let text = move || list(line(), 0..4).prop_map(|lines| lines.concat());
    let references = list(text(), 1..3).prop_map(|texts| json!(texts));
    let prediction = text().prop_map(|text| json!(text));
    let fields = "(python|ruby|go)".prop_map(|lang| json!({"lang": lang}));
    (references, prediction, fields).boxed()
}

fn corners() -> impl Strategy<Value = [u8; 4]> {
    [0_u8..4, 0_u8..4, 1_u8..4, 1_u8..4]
}

fn scored_boxes() -> impl Strategy<Value = Json> {
    let found = (corners(), 0_u8..3);
    let found =
        found.prop_map(|(corners, level)| json!({"box": corners, "score": f64::from(level) / 2.0}));
    list(found, 0..4).prop_map(Json::Array)
}

fn true_boxes() -> impl Strategy<Value = Json> {
    let truth = (corners(), 0_u8..6);
    let truth = truth.prop_map(|(corners, kind)| json!({"box": corners, "crowd": kind == 0}));
    list(truth, 0..4).prop_map(Json::Array)
}

fn image_boxes(
    truths: impl Strategy<Value = Json> + 'static,
    found: impl Strategy<Value = Json> + 'static,
) -> BoxedStrategy<Values> {
    // The classes of an image are those that are asked for, and may differ between images.
    let classes = proptest::sample::subsequence(vec!["cat", "dog", "17"], 0..4);
    let all = (classes, list(truths, 3..4), list(found, 3..4));
    all.prop_map(|(classes, truths, found)| {
        let of_class = |boxes: Vec<Json>| -> Json {
            let classes = classes.iter().map(|&class| class.to_owned());
            Json::Object(classes.zip(boxes).collect())
        };
        (of_class(truths), of_class(found), json!({}))
    })
    .boxed()
}

fn boxes() -> BoxedStrategy<Values> {
    image_boxes(true_boxes(), scored_boxes())
}

/// The boxes of one class of one image.
fn item_boxes() -> BoxedStrategy<Values> {
    let fields = ("cat|dog", "[12]");
    let fields = fields.prop_map(|(class, image)| json!({"class": class, "image": image}));
    (true_boxes(), scored_boxes(), fields).boxed()
}

/// Clips whose maps have some of the lanes as centerlines.
fn mapped_lanes() -> BoxedStrategy<Values> {
    let map = json!({"vector": {"1": {"type": "3"}, "2": {"type": "3"}}});
    let with_map = move |(reference, prediction, _)| (reference, prediction, json!({"data": map}));
    lanes().prop_map(with_map).boxed()
}

fn lanes() -> BoxedStrategy<Values> {
    let rule = || {
        ("[AB]", list(0_u8..4, 0..3))
            .prop_map(|(kind, lanes)| json!({"attr_info": {"LaneType": kind}, "centerline": lanes}))
    };
    let clip =
        || proptest::collection::btree_map("[0-3]", rule(), 0..4).prop_map(|clip| json!(clip));
    let prediction = prop_oneof![6 => clip(), 1 => Just(json!(null)), 1 => Just(json!([1]))];
    plain(clip(), prediction)
}

/// Up to 3 lanes and 2 traffic elements per side, near each other, with few confidences: many ties.
fn frames() -> BoxedStrategy<Values> {
    let items = |most: usize| list((0_u8..4, 0_u8..3, 0_u8..3), 0..most + 1);
    let tables = || proptest::collection::vec(0_u8..3, 9);
    let frame = move |truth: bool| {
        (items(3), items(2), tables()).prop_map(move |(lanes, elements, edges)| {
            let confidence = |level: u8| f64::from(level) / 2.0;
            let lane = |(at, _, level): &(u8, u8, u8)| {
                let y = f64::from(*at) / 2.0;
                json!({"points": [[0, y, 0], [4, y, 0]], "confidence": confidence(*level)})
            };
            let element = |(at, kind, level): &(u8, u8, u8)| {
                let corners = [[*at, 0], [*at + 4, 4]];
                json!({"attribute": kind, "points": corners, "confidence": confidence(*level)})
            };
            let table = |columns: usize| {
                let edge = |level: &u8| {
                    if truth {
                        json!(level % 2)
                    } else {
                        json!(confidence(*level))
                    }
                };
                let row = |row: usize| edges[3 * row..3 * row + columns].iter().map(edge).collect();
                json!((0..lanes.len()).map(row).collect::<Vec<Json>>())
            };
            json!({
                "lane_centerline": lanes.iter().map(lane).collect::<Json>(),
                "traffic_element": elements.iter().map(element).collect::<Json>(),
                "topology_lclc": table(lanes.len()),
                "topology_lcte": table(elements.len()),
            })
        })
    };
    plain(frame(true), frame(false))
}

/// The width and height of images.
const SIZE: u8 = 8;

/// An object as in COCO, near the others and with few scores: many ties.
fn object(classes: &'static [&'static str], truth: bool) -> impl Strategy<Value = Json> {
    let class = proptest::sample::select(classes);
    (class, corners(), 0_u8..3).prop_map(move |(class, [x, y, width, height], level)| {
        let class: Json = class.parse().unwrap_or_else(|_| json!(class));
        let (right, bottom) = (x + width, y + height);
        let mut object = json!({
            "category_id": class,
            "bbox": [x, y, width, height],
            "segmentation": [[x, y, x, bottom, right, bottom, right, y]],
        });
        if truth {
            object["area"] = json!(width * height);
            object["iscrowd"] = json!(0);
        } else {
            object["score"] = json!(f64::from(level) / 2.0);
        }
        object
    })
}

/// Ground truth and detections of an image. Only some of the classes occur in it, and the class 1 is
/// also written as "1".
fn image() -> BoxedStrategy<Values> {
    let classes: &'static [&str] = &["1", "10", "2", "cat", "\"1\""];
    let truths = list(object(classes, true), 0..4);
    let found = list(object(classes, false), 0..4);
    let reference =
        truths.prop_map(|truths| json!({"width": SIZE, "height": SIZE, "annotations": truths}));
    plain(reference, found.prop_map(Json::Array))
}

/// Persons with two keypoints each, some of which are not labeled.
fn persons() -> BoxedStrategy<Values> {
    let person = |truth: bool| {
        (corners(), 0_u8..3).prop_map(move |([x, y, width, height], level)| {
            let mut person = json!({
                "category_id": 1,
                "keypoints": [x, y, 2, x + width, y + height, level],
            });
            if truth {
                person["num_keypoints"] = json!(1 + level.min(1));
                person["area"] = json!(width * height);
                person["bbox"] = json!([x, y, width, height]);
            } else {
                person["score"] = json!(f64::from(level) / 2.0);
            }
            person
        })
    };
    let reference = list(person(true), 0..4)
        .prop_map(|persons| json!({"width": SIZE, "height": SIZE, "annotations": persons}));
    plain(reference, list(person(false), 0..4).prop_map(Json::Array))
}

/// A data set in a metric's own format, and the options to try.
pub(crate) struct Files {
    pub(crate) entry: &'static Entry,
    /// The size of a data set, and which gaps and leftovers it may have.
    texts: fn(&mut Random, usize, Gaps) -> [Json; 2],
    pub(crate) options: Vec<OptionSet>,
}

/// Which examples of a data set have no counterpart on the other side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaps {
    /// Some references have no prediction.
    pub(crate) missing: bool,
    /// Some predictions have no reference.
    pub(crate) extra: bool,
}

impl Files {
    pub(crate) fn documents(&self, random: &mut Random, size: usize, gaps: Gaps) -> [Document; 2] {
        documents((self.texts)(random, size, gaps))
    }
}

pub(crate) fn documents([references, predictions]: [Json; 2]) -> [Document; 2] {
    [
        Document::text("references.json", references.to_string()),
        Document::text("predictions.json", predictions.to_string()),
    ]
}

/// The random dataset files of each metric that has such files.
pub(crate) fn files() -> Vec<Files> {
    let entries = ENTRIES.iter();
    let entries = entries.filter(|entry| !matches!(entry.input, Input::Records | Input::Files(_)));
    let files = entries.map(|entry| {
        let takes = |shape| entry.shapes.iter().any(|taken| taken.shape == shape);
        let texts: fn(&mut Random, usize, Gaps) -> [Json; 2] = match entry.record_id {
            _ if takes(Shape::Images) || takes(Shape::Boxes) => coco_files,
            _ if takes(Shape::Segments) => panoptic_files,
            _ if takes(Shape::GridTasks) => arc_files,
            "question_id" => vqa_files,
            _ => squad_files,
        };
        // Random files have no keypoints, and some programs read records alone.
        let taken = entry
            .shapes
            .iter()
            .filter(|taken| taken.shape != Shape::Keypoints);
        let options = taken.flat_map(|taken| option_sets(entry, taken.options));
        let options = options.filter(|set| {
            set.iter()
                .all(|(_, value)| !value.starts_with("fusion-brain-"))
        });
        Files {
            entry,
            texts,
            options: options.collect(),
        }
    });
    files.collect()
}

/// The objects of an image: its ground truth, then its detections.
pub(crate) type Objects = [Vec<Json>; 2];

/// Random images with ids from 1, each with objects of some of the classes 1, 2 and 10.
pub(crate) fn images(random: &mut Random, count: usize) -> Vec<Objects> {
    let classes: &'static [&str] = &["1", "2", "10"];
    let objects = |truth| list(object(classes, truth), 0..4);
    let image = (objects(true), objects(false)).prop_map(|(truths, found)| [truths, found]);
    random.draw(proptest::collection::vec(image, count))
}

/// Images as records, one per image.
pub(crate) fn image_rows(images: &[Objects]) -> Vec<Row> {
    let row = |(id, [truths, found]): (usize, &Objects)| {
        let reference = json!({"width": SIZE, "height": SIZE, "annotations": truths});
        Row::new(id, &reference, &json!(found))
    };
    (1..).zip(images).map(row).collect()
}

/// Images as COCO's ground-truth file and results file. Its categories are the classes that occur, and
/// have no other names than their ids, as in records.
pub(crate) fn image_files(images: &[Objects]) -> [Json; 2] {
    let (mut annotations, mut results) = (Vec::new(), Vec::new());
    let mut classes = std::collections::BTreeSet::new();
    for (id, [truths, found]) in (1..).zip(images) {
        for (object, of_file) in truths
            .iter()
            .map(|object| (object, true))
            .chain(found.iter().map(|object| (object, false)))
        {
            let mut object = object.clone();
            object["image_id"] = json!(id);
            classes.extend(object["category_id"].as_i64());
            if of_file {
                object["id"] = json!(annotations.len() + 1);
                annotations.push(object);
            } else {
                results.push(object);
            }
        }
    }
    let images = (1..).zip(images);
    let images: Vec<Json> = images
        .map(|(id, _): (usize, _)| json!({"id": id, "width": SIZE, "height": SIZE}))
        .collect();
    let categories: Vec<Json> = classes
        .iter()
        .map(|id| json!({"id": id, "name": id.to_string()}))
        .collect();
    [
        json!({"images": images, "categories": categories, "annotations": annotations}),
        json!(results),
    ]
}

fn coco_files(random: &mut Random, size: usize, gaps: Gaps) -> [Json; 2] {
    let images = images(random, size);
    let [mut references, mut results] = image_files(&images);
    // Names that say more than the ids, and one class that does not occur.
    references["categories"] = json!([
        {"id": 10, "name": "ten"}, {"id": 1, "name": "one"},
        {"id": 2, "name": "two"}, {"id": 3, "name": "three"},
    ]);
    if gaps.extra
        && let Json::Array(results) = &mut results
    {
        for image in [91, 92] {
            let mut result = random.draw(object(&["1", "2"], false));
            result["image_id"] = json!(image);
            results.insert(random.below(results.len() + 1), result);
        }
    }
    [references, results]
}

/// Panoptic images with the run lengths of their segments.
fn panoptic_files(random: &mut Random, size: usize, gaps: Gaps) -> [Json; 2] {
    let annotations = |ids: Vec<usize>, images: &[Json]| {
        let annotations = ids.into_iter().map(|id| {
            let (rows, mut infos) = (&images[id]["ids"], images[id]["segments_info"].clone());
            for info in infos.as_array_mut().into_iter().flatten() {
                info["segmentation"] = json!({"size": [3, 4], "counts": runs(rows, &info["id"])});
            }
            json!({"image_id": id, "segments_info": infos})
        });
        annotations.collect::<Vec<_>>()
    };
    let drawn = (0..size + 8).map(|_| random.draw(segments()));
    let (truths, found): (Vec<Json>, Vec<Json>) = drawn.map(|values| (values.0, values.1)).unzip();
    let categories =
        [0, 1].map(|id| json!({"id": id, "name": format!("category {id}"), "isthing": id}));
    let references = annotations((0..size).collect(), &truths);
    let predictions = annotations(predicted(random, size, gaps), &found);
    [
        json!({"categories": categories, "annotations": references}),
        json!({"annotations": predictions}),
    ]
}

/// The run lengths of the pixels that have an id, column by column.
fn runs(rows: &Json, id: &Json) -> Vec<u64> {
    let mut runs = vec![0];
    for column in 0..4 {
        for row in 0..3 {
            let is_set = rows[row][column] == *id;
            if is_set != (runs.len() % 2 == 0) {
                runs.push(0);
            }
            *runs.last_mut().expect("a run") += 1;
        }
    }
    runs
}

/// The ids of questions or tasks that have a prediction.
fn predicted(random: &mut Random, size: usize, gaps: Gaps) -> Vec<usize> {
    let mut ids: Vec<usize> = (0..size).collect();
    if gaps.missing {
        ids.retain(|_| random.below(4) > 0);
    }
    if gaps.extra {
        ids.extend((size..size + 8).filter(|_| random.below(2) == 0));
    }
    random.shuffled(&ids)
}

fn vqa_files(random: &mut Random, size: usize, gaps: Gaps) -> [Json; 2] {
    let question = (list(text(2), 1..4), "color|number", "yes/no|other");
    let annotations = (0..size).map(|id| {
        let (answers, kind, answer_type) = random.draw(&question);
        let answers = (1..).zip(answers);
        let answers: Vec<Json> = answers
            .map(|(id, answer): (usize, _)| json!({"answer": answer, "answer_id": id}))
            .collect();
        json!({
            "question_id": id, "question_type": kind, "answer_type": answer_type, "answers": answers,
        })
    });
    let annotations: Vec<Json> = annotations.collect();
    let annotations = random.shuffled(&annotations);
    let ids = predicted(random, size, gaps);
    let results = ids.iter().map(|id| {
        let answer = random.draw(text(2));
        json!({"question_id": id, "answer": answer})
    });
    [json!({ "annotations": annotations }), results.collect()]
}

fn squad_files(random: &mut Random, size: usize, gaps: Gaps) -> [Json; 2] {
    let questions = (0..size).map(|id| {
        let answers = random.draw(list(word(), 1..4));
        let answers: Vec<Json> = answers.iter().map(|text| json!({"text": text})).collect();
        json!({"id": id.to_string(), "answers": answers})
    });
    let questions: Vec<Json> = questions.collect();
    let (one, two) = questions.split_at(random.below(size + 1));
    let ids = predicted(random, size, gaps);
    let predictions = ids.iter().map(|id| (id.to_string(), random.draw(text(2))));
    [
        json!({"data": [{"paragraphs": [{"qas": one}, {"qas": two}]}]}),
        Json::Object(predictions.collect()),
    ]
}

fn arc_files(random: &mut Random, size: usize, gaps: Gaps) -> [Json; 2] {
    let tasks = (0..size).map(|id| (format!("task {id}"), random.draw(task())));
    let tasks: Map<String, Json> = tasks.collect();
    let ids = predicted(random, size, gaps);
    let submission = ids
        .iter()
        .map(|id| (format!("task {id}"), random.draw(attempts())));
    [Json::Object(tasks), Json::Object(submission.collect())]
}
