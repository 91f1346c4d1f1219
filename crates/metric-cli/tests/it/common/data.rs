//! Small data sets of every metric, with whatever a data set can have: missing and extra predictions, ids
//! of all kinds, groups, details, and all that is worth a warning.

use std::collections::BTreeMap;
use std::io::Write;

use metric_run::registry::{ENTRIES, Entry, Input, Options, Shape};
use serde_json::{Map, Value, json};

use super::Folder;

/// A record without its id: its fields, and its prediction.
pub(crate) type Row = (Value, Value);

/// Number of records of a data set that is made of rows.
const RECORDS: usize = 26;

/// The command line of each case, after `metric score`. The files are in the folder.
pub(crate) fn cases(folder: &Folder) -> Vec<String> {
    let mut cases = Vec::new();
    for Rows {
        entry,
        rows,
        options,
        ..
    } in records()
    {
        let metric = entry.name;
        let tag = format!("{metric}-{}", cases.len());
        let forms = forms(folder, &tag, &rows);
        for (index, options) in options.iter().enumerate() {
            // Every form with the first options, and the two most demanding ones with the others.
            let kept = if index == 0 { forms.len() } else { 2 };
            // Metrics of dataset files take a file of JSON for one.
            let has_files = matches!(entry.input, Input::Documents);
            let is_taken = |form: &&String| {
                let is_readable = !has_files || !form.ends_with(".json");
                is_readable && (entry.has_empty_prediction() || !form.contains("--missing empty"))
            };
            let cases_of = forms.iter().take(kept).filter(is_taken);
            cases.extend(cases_of.map(|form| format!("{metric} {options} {form}")));
        }
    }
    let files = data_sets(folder);
    cases.extend(files);
    cases
}

/// The rows of one metric, and the options to score them with.
pub(crate) struct Rows {
    pub(crate) entry: &'static Entry,
    pub(crate) shape: Shape,
    pub(crate) rows: Vec<Row>,
    pub(crate) options: Vec<String>,
}

/// The records of each metric: those of the shapes that it takes, under its options that go with each.
pub(crate) fn records() -> Vec<Rows> {
    let mut records = Vec::new();
    for entry in ENTRIES {
        for taken in entry.shapes {
            let options = option_words(entry, taken.options);
            let lists = rows_of(taken.shape).into_iter();
            records.extend(lists.map(|rows| Rows {
                entry,
                shape: taken.shape,
                rows,
                options: options.clone(),
            }));
        }
    }
    records
}

/// No options and each set that the metric declares, as far as they go with these ones. The first for which there are
/// details has them.
fn option_words(entry: &Entry, with: &[(&'static str, &'static str)]) -> Vec<String> {
    let sets = std::iter::once(&[][..]).chain(entry.tried.iter().copied());
    let mut has_details = false;
    let words = |set: &[(&str, &str)]| {
        let set = [with, set].concat();
        let options = set.iter().fold(Options::default(), |all, (name, value)| {
            all.set(name, *value)
        });
        let scorer = entry.scorer(&options.with_details()).ok()?;
        let words = set.iter().map(|(name, value)| format!("--{name} {value} "));
        let mut words: String = words.collect();
        if !has_details && scorer.start().details().is_some() {
            has_details = true;
            words.push_str("--details");
        }
        Some(words)
    };
    sets.filter_map(words).collect()
}

/// An id of every kind.
fn id(index: usize) -> Value {
    match index % 6 {
        0 => json!(index),
        1 => json!(format!("ключ-{index}")),
        2 => json!(format!("q\"\\{index}\n")),
        3 => json!(format!("👩\u{200d}👧/{index}")),
        4 => json!(-(index as i64)),
        _ => json!(format!("plain-{index}")),
    }
}

fn lines(records: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let lines = records.into_iter().map(|record| record.to_string() + "\n");
    lines.collect::<String>().into_bytes()
}

/// The records in an order of their own: 7 and the count have no common divisor.
fn shuffled<T: Clone>(records: &[T]) -> Vec<T> {
    let count = records.len();
    let order = (0..count).map(|index| (index * 7 + 3) % count);
    order.map(|index| records[index].clone()).collect()
}

/// Writes rows as files of all formats, and returns the arguments that name them.
#[expect(
    clippy::too_many_lines,
    reason = "each format in turn, from the same records"
)]
fn forms(folder: &Folder, tag: &str, rows: &[Row]) -> Vec<String> {
    let rows: Vec<&Row> = rows.iter().cycle().take(RECORDS.max(rows.len())).collect();
    assert_ne!(rows.len() % 7, 0, "{tag}: no shuffled order");
    let reference = |(index, (fields, _)): (usize, &&Row)| {
        let mut record = fields.clone();
        record["id"] = id(index);
        record
    };
    let prediction = |(index, (_, prediction)): (usize, &&Row)| json!({"id": id(index), "prediction": prediction});
    let references: Vec<Value> = rows.iter().enumerate().map(reference).collect();
    let predictions: Vec<Value> = rows.iter().enumerate().map(prediction).collect();
    let extra = |name: &str| json!({"id": name, "prediction": predictions[0]["prediction"]});
    let some = |records: &[Value]| -> Vec<Value> {
        let kept = records.iter().enumerate();
        let kept = kept.filter(|(index, _)| index % 4 != 1);
        kept.map(|(_, record)| record.clone()).collect()
    };

    let file = |name: &str| format!("{tag}.{name}");
    folder.put(&file("r.jsonl"), &lines(references.clone()));
    folder.put(&file("p.jsonl"), &lines(predictions.clone()));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&lines(shuffled(&references)))
        .expect("compressed");
    folder.put(&file("r.jsonl.gz"), &gz.finish().expect("compressed"));
    let mut kept = some(&predictions);
    kept.extend(["more", "ещё", "🙂", "17b"].map(extra));
    let zst = zstd::encode_all(lines(kept).as_slice(), 1).expect("compressed");
    folder.put(&file("some.jsonl.zst"), &zst);
    let mut pairs = references.clone();
    for (index, record) in pairs.iter_mut().enumerate() {
        if index % 5 != 2 {
            record["prediction"] = predictions[index]["prediction"].clone();
        }
    }
    folder.put(&file("pairs.jsonl"), &lines(pairs));

    let (r, p) = (file("r.jsonl"), file("p.jsonl"));
    let gz = file("r.jsonl.gz");
    let some = file("some.jsonl.zst");
    let pairs = file("pairs.jsonl");
    let mut forms = vec![
        format!("--missing empty --extra ignore -r {gz} -p {some}"),
        format!("-r {r} -p {p}"),
        format!("-r {gz} -p {p}"),
        format!("--missing skip --extra ignore -r {r} -p {some}"),
        format!("--missing skip --pairs {pairs}"),
    ];
    // A map of ids to values has no room for other fields.
    let plain = |record: &Value| {
        let fields = record.as_object();
        fields.is_some_and(|fields| fields.len() == 2 && fields.contains_key("reference"))
    };
    if references.iter().all(plain) {
        let map = |records: &[Value], field: &str| -> Vec<u8> {
            let entry = |record: &Value| {
                let id = record["id"]
                    .as_str()
                    .map_or_else(|| record["id"].to_string(), str::to_owned);
                (id, record[field].clone())
            };
            let map: Map<String, Value> = records.iter().map(entry).collect();
            json!(map).to_string().into_bytes()
        };
        folder.put(&file("r.json"), &map(&references, "reference"));
        folder.put(&file("p.json"), &map(&shuffled(&predictions), "prediction"));
        forms.push(format!("-r {} -p {}", file("r.json"), file("p.json")));
    }
    let text = |value: &Value| {
        let text = value.as_str().map(str::to_owned);
        text.filter(|text| !text.contains(['\n', '\r']))
    };
    let sides = rows
        .iter()
        .map(|(fields, prediction)| Some((text(&fields["reference"])?, text(prediction)?)));
    if let Some(sides) = sides.collect::<Option<Vec<_>>>() {
        let (references, predictions): (Vec<_>, Vec<_>) = sides.into_iter().unzip();
        folder.put(&file("r.txt"), (references.join("\n") + "\n").as_bytes());
        folder.put(
            &file("p.txt"),
            (predictions[..20].join("\n") + "\n").as_bytes(),
        );
        forms.push(format!(
            "--missing empty -r {} -p {}",
            file("r.txt"),
            file("p.txt")
        ));
    }
    forms
}

/// Rows of references and predictions.
fn plain(pairs: &[(Value, Value)]) -> Vec<Row> {
    let row = |(reference, prediction): &(Value, Value)| {
        (json!({"reference": reference}), prediction.clone())
    };
    pairs.iter().map(row).collect()
}

/// The sample files of the demo as rows.
fn demo(references: &str, predictions: &str) -> Vec<Row> {
    let read = |name: &str| -> Vec<Value> {
        let records = demo_text(name);
        let records = records.lines().map(serde_json::from_str);
        records.collect::<Result<_, _>>().expect("JSON Lines")
    };
    let predictions = read(predictions);
    let row = |mut record: Value| {
        let of_this = predictions
            .iter()
            .find(|prediction| prediction["id"] == record["id"]);
        let prediction = of_this.expect("a prediction of the demo")["prediction"].clone();
        record.as_object_mut().expect("an object").remove("id");
        (record, prediction)
    };
    read(references).into_iter().map(row).collect()
}

fn demo_text(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("demo")
        .join(name);
    std::fs::read_to_string(path).expect("a file of the demo")
}

/// The clips of the demo, and predictions that are missing or name lanes that the reference does
/// not have.
fn clips() -> Vec<Row> {
    let mut clips = demo("lanes.jsonl", "predicted-lanes.jsonl");
    let clip = clips[0].0.clone();
    let rule = json!({"attr_info": {"LaneType": "DirectionLane"}, "centerline": [1, 1, 77]});
    for prediction in [
        json!(null),
        json!("no clip"),
        json!({"r1": rule}),
        json!({}),
    ] {
        clips.push((clip.clone(), prediction));
    }
    clips
}

/// Lists of rows of a shape.
#[expect(clippy::too_many_lines, reason = "a list of rows")]
fn rows_of(shape: Shape) -> Vec<Vec<Row>> {
    let grid = json!([[1, 2], [3, 4]]);
    let weighted = |reference: i64, scores: [f64; 4], weight: f64| {
        (
            json!({"reference": reference, "weight": weight}),
            json!(scores),
        )
    };
    let labeled = |reference: &[&str], prediction: Value, weight: f64| {
        (
            json!({"reference": reference, "weight": weight}),
            prediction,
        )
    };
    let of_labels = |[a, b, c, d, e]: [f64; 5]| json!({"a": a, "b": b, "c": c, "d": d, "e": e});
    let pair = |reference: f64, prediction: f64, weight: f64| {
        (
            json!({"reference": reference, "weight": weight}),
            json!(prediction),
        )
    };
    let boxes = |class: &str, image: &str, references: Value, predictions: Value| {
        (
            json!({"class": class, "image": image, "reference": references}),
            predictions,
        )
    };
    match shape {
        Shape::Grids => vec![plain(&[
            (grid.clone(), grid.clone()),
            (grid.clone(), json!([[1, 2], [3, 0]])),
            (grid.clone(), json!(null)),
            (grid.clone(), json!([[10]])),
            (grid, json!([[1], [2, 3]])),
            (
                json!([[0, 0], [0, 0], [0, 0]]),
                json!([[0, 0, 0], [0, 0, 0]]),
            ),
            (json!([[7]]), json!("no grid")),
        ])],
        Shape::GridTasks => vec![plain(&[
            (
                json!([[[1]], [[2, 2]]]),
                json!([{"attempt_1": [[1]], "attempt_2": null}, {"attempt_1": [[0]], "attempt_2": [[2, 2]]}]),
            ),
            (
                json!([[[3]]]),
                json!([{"attempt_1": [[10]], "attempt_2": [], "attempt_3": [[3]]}]),
            ),
            (
                json!([[[4]], [[5]]]),
                json!([{"attempt_1": [[4]], "attempt_2": [[]]}]),
            ),
            (
                json!([[[6]]]),
                json!([{"attempt_1": [[6]]}, {"attempt_1": [[6]]}]),
            ),
            (json!([[[6]]]), json!([])),
        ])],
        Shape::RankedLabels => vec![plain(&[
            (json!(3), json!([3, 1, 2])),
            (json!("a"), json!(["b", "a", 1])),
            (json!(1), json!(["1", 2, 1])),
            (json!(9), json!([1, 2, 3])),
            (json!(9), json!([1, 1, 3])),
        ])],
        Shape::LabelSets => vec![vec![
            labeled(&["a", "b"], json!(["b", "a"]), 0.7),
            labeled(&["c"], json!(["d", "c"]), 1e-3),
            labeled(&[], json!([]), 1.0),
            labeled(&["a", "e"], json!([]), 0.0),
        ]],
        Shape::ScoredLabels => vec![vec![
            labeled(&["a", "b"], of_labels([0.9, 0.5, 0.1, 0.0, 0.5]), 0.7),
            labeled(&["c"], of_labels([0.9, 0.2, 0.3, 0.5, -1.0]), 1e-3),
            labeled(&[], of_labels([0.1, 0.1, 0.1, 0.1, 0.1]), 1.0),
            labeled(&["e"], of_labels([0.0, 1e9, 0.1, 0.7, 0.5]), 0.0),
        ]],
        Shape::Topics => vec![plain(&[
            (
                json!({"a": 1, "b": 0, "c": 2}),
                json!({"b": 0.5, "c": 0.5, "d": 0.25}),
            ),
            (json!({"a": 0}), json!({"a": 1})),
            (json!({"a": 1, "ü": -1}), json!({})),
            (json!({"x": 3, "y": 1}), json!({"y": 1e9, "x": 1e-9})),
        ])],
        Shape::LabelMaps => vec![plain(&[
            (json!([[7, 8], [11, 0]]), json!([[7, 8], [11, 11]])),
            (json!([[7, 7, 8]]), json!([[7, 11, 8]])),
            (json!([[8], [8], [8]]), json!([[8], [7], [11]])),
            (json!([[0]]), json!([[7]])),
        ])],
        Shape::ClassScores => vec![vec![
            weighted(0, [0.5, 0.5, 0.1, 0.0], 1.0),
            weighted(1, [0.5, 0.5, 0.1, 0.0], 0.1),
            weighted(2, [0.1, 0.1, 0.1, 0.1], 0.7),
            weighted(3, [0.0, -0.2, 1e9, 0.3], 1e-3),
        ]],
        Shape::NumberPairs => vec![vec![
            pair(0.1, 0.3, 0.7),
            pair(2.0, -1e-3, 1e-3),
            pair(2.0, 1e9, 0.0),
            pair(-5.0, 0.0, 1.0),
        ]],
        Shape::LabelScores => {
            let row = |label: i64, score: f64, weight: f64| {
                (json!({"reference": label, "weight": weight}), json!(score))
            };
            let of_classes = |label: &str, [a, b, c]: [f64; 3], weight: f64| {
                let scores = json!({"a": a, "b": b, "c": c});
                (json!({"reference": label, "weight": weight}), scores)
            };
            vec![
                vec![
                    row(1, 0.9, 1.0),
                    row(0, 0.9, 0.1),
                    row(0, 0.0, 0.7),
                    row(1, 1.0, 1e-3),
                    row(1, 0.25, 2.0),
                ],
                vec![
                    of_classes("a", [0.5, 0.25, 0.25], 1.0),
                    of_classes("b", [0.25, 0.25, 0.5], 0.1),
                    of_classes("c", [0.0, 0.0, 1.0], 0.7),
                    of_classes("a", [0.125, 0.875, 0.0], 2.0),
                ],
            ]
        }
        Shape::Labels => vec![plain(&[
            (json!(3), json!(3)),
            (json!("3"), json!(3)),
            (json!("a|b"), json!("ü")),
            (json!("ü"), json!("ü")),
            (json!(-1), json!("never")),
        ])],
        Shape::Texts => vec![plain(
            &[
                ("the cat sat", "the cat sat"),
                ("", ""),
                ("", "words"),
                ("É mañana", "E\u{301} manana"),
                ("one two  three", "two three four"),
                ("ß 12 %", "ss 12"),
                ("last", ""),
            ]
            .map(|(reference, prediction)| (json!(reference), json!(prediction))),
        )],
        Shape::Answers => vec![vec![
            (
                json!({"references": ["the Black Forest", "Black Forest"]}),
                json!("Black forest."),
            ),
            (json!({"reference": "about 10 km"}), json!("10 km away")),
            (json!({"reference": "$1,240.00"}), json!("$1,24O")),
            (json!({"reference": "x"}), json!("")),
        ]],
        Shape::Votes => vec![plain(&[
            (json!("7"), json!(["7", "8", "7"])),
            (json!("7"), json!(["8", "7"])),
            (json!("b"), json!(["b", "c", "c", "b"])),
            (json!(""), json!(["x"])),
        ])],
        Shape::Questions => vec![vec![
            (
                json!({"reference": "red", "lang": "en", "question_type": "color"}),
                json!("Red."),
            ),
            (
                json!({"references": ["два", "2"], "lang": "ru", "question_type": "number", "answer_type": "other"}),
                json!("2"),
            ),
            (
                json!({"reference": ["cup", "cup", "cup", "mug"], "lang": "ru"}),
                json!("кружка"),
            ),
            (
                json!({"reference": {"answer": "a dog", "lang": "en"}, "question_type": "ключ|x"}),
                json!("dog"),
            ),
        ]],
        Shape::Sessions => vec![sessions()],
        Shape::Numbers => vec![plain(&[
            (json!("52.5"), json!("52")),
            (json!(0.31), json!("31%")),
            (json!("Norway"), json!("norway")),
            (json!([1, 2]), json!(2)),
            (json!(0), json!(0.0)),
        ])],
        Shape::Code => vec![demo("functions.jsonl", "written-functions.jsonl")],
        Shape::Boxes => vec![vec![
            boxes(
                "dog",
                "1",
                json!([[0, 0, 10, 10], [50, 0, 10, 10]]),
                json!([{"box": [0, 0, 10, 9], "score": 0.5}, {"box": [0, 0, 10, 9], "score": 0.5}]),
            ),
            boxes(
                "cat",
                "1",
                json!([]),
                json!([{"box": [0, 0, 1, 1], "score": 0.75}]),
            ),
            boxes("dog", "ключ|2", json!([[0, 0, 10, 10]]), json!([])),
            boxes(
                "ant",
                "3",
                json!([[1, 1, 2, 2]]),
                json!([{"box": [1, 1, 2, 3], "score": 0.5}]),
            ),
        ]],
        Shape::Images => vec![images()],
        Shape::Rules => vec![clips()],
        Shape::MappedRules => vec![clips_with_maps()],
        Shape::Frames => vec![demo("frames.jsonl", "predicted-frames.jsonl")],
        Shape::Segments => vec![segments()],
        // These are in data sets.
        _ => Vec::new(),
    }
}

/// Images with segments: matched, missed, on VOID, on a crowd, of other categories, without any.
fn segments() -> Vec<Row> {
    let info = |id: u32, category: i64| json!({"id": id, "category_id": category, "isthing": category % 2, "iscrowd": 0});
    let image = |ids: Value, infos: Vec<Value>| json!({"ids": ids, "segments_info": infos});
    let mut crowd = info(9, 1);
    crowd["iscrowd"] = json!(1);
    let two = || vec![info(1, 1), info(2, 2)];
    plain(&[
        (
            image(json!([[1, 1, 1, 2], [1, 1, 1, 2]]), two()),
            image(json!([[1, 1, 1, 2], [1, 1, 2, 2]]), two()),
        ),
        (
            image(json!([[0, 0, 9, 9]]), vec![crowd]),
            image(json!([[5, 5, 6, 6]]), vec![info(5, 1), info(6, 1)]),
        ),
        (
            image(json!([[7], [7], [8]]), vec![info(7, 3), info(8, 4)]),
            image(json!([[70000], [3], [3]]), vec![info(70000, 4), info(3, 4)]),
        ),
        (
            image(json!([[0, 0]]), vec![]),
            image(json!([[0, 0]]), vec![]),
        ),
        (
            image(json!([[1, 2]]), two()),
            image(json!([[0, 0]]), vec![]),
        ),
    ])
}

/// Images with boxes: found, missed, of other classes, with equal scores, a crowd, one of no size.
fn images() -> Vec<Row> {
    let object = |class: &str, bbox: [f64; 4]| json!({"class": class, "bbox": bbox});
    let found = |class: &str, bbox: [f64; 4], score: f64| json!({"class": class, "bbox": bbox, "score": score});
    let images = [
        (
            vec![
                object("dog", [0., 0., 10., 10.]),
                object("cat", [50., 0., 9., 10.]),
            ],
            vec![
                found("dog", [0., 0., 10., 9.], 0.9),
                found("cat", [0., 0., 10., 10.], 0.5),
            ],
        ),
        (
            vec![object("bird", [0., 0., 40., 40.])],
            vec![
                found("bird", [1., 1., 40., 40.], 0.5),
                found("bird", [1., 0., 40., 40.], 0.5),
            ],
        ),
        (vec![], vec![found("ant", [0., 0., 3., 3.], 0.25)]),
        (
            vec![
                object("cat", [5., 5., 100., 100.]),
                object("zebra", [0., 0., 1., 1.]),
            ],
            vec![],
        ),
        (
            vec![
                json!({"class": "dog", "bbox": [0, 0, 30, 30], "iscrowd": 1, "area": 900}),
                object("dog", [5., 5., 4., 4.]),
            ],
            vec![
                found("dog", [5., 5., 4., 4.], 0.5),
                found("dog", [20., 20., 4., 4.], 0.75),
                found("dog", [5., 5., -4., 4.], 0.1),
            ],
        ),
    ];
    plain(&images.map(|(references, predictions)| (json!(references), json!(predictions))))
}

/// Sessions with one speaker and several, missed and extra ones, overlaps, a segment without words, and a speaker without a
/// name. All segments have times, which a collar needs.
fn sessions() -> Vec<Row> {
    let segment = |speaker: Value, start: f64, end: f64, words: &str| json!({"speaker": speaker, "start": start, "end": end, "words": words});
    let ada = |start, end, words| segment(json!("Ada"), start, end, words);
    let bo = |start, end, words| segment(json!("Bo"), start, end, words);
    let one = |start, end, words| segment(json!("1"), start, end, words);
    let two = |start, end, words| segment(json!("ключ|2"), start, end, words);
    plain(&[
        (
            json!([
                ada(0.0, 2.5, "the cat sat"),
                bo(2.0, 4.0, "on the mat"),
                ada(5.0, 6.25, "all day")
            ]),
            json!([
                two(0.25, 2.0, "the cat"),
                one(2.25, 4.0, "on a mat"),
                two(5.0, 6.0, "All day.")
            ]),
        ),
        (
            json!([ada(0.0, 1.5, "one two"), ada(1.0, 3.0, "three")]),
            json!([one(0.0, 3.0, "one two three"), two(1.0, 2.0, "four")]),
        ),
        (
            json!([ada(0.0, 1.0, "é 今天"), bo(1.0, 2.0, "e\u{301}")]),
            json!([one(0.0, 2.0, "e\u{301} 今 天")]),
        ),
        (json!([ada(0.0, 1.0, "")]), json!([one(0.0, 1.0, "")])),
        (
            json!([segment(Value::Null, 0.0, 1.0, "who"), bo(0.5, 1.5, "is it")]),
            json!([one(0.5, 1.5, "is it who")]),
        ),
    ])
}

/// Clips with the centerlines of their maps, which not all lanes are.
fn clips_with_maps() -> Vec<Row> {
    let rules =
        |lanes: Value| json!({"0": {"attr_info": {"LaneType": "BusLane"}, "centerline": lanes}});
    let map = json!({"vector": {"1": {"type": "3"}, "2": {"type": "3"}}});
    let row = |lanes| {
        let record = json!({"reference": rules(json!([1, 2])), "data": map});
        (record, rules(lanes))
    };
    [json!([1, 9, 7]), json!([1]), json!([])].map(row).into()
}

/// Writes data sets in files and folders of the metrics' own formats.
fn data_sets(folder: &Folder) -> Vec<String> {
    let mut cases = Vec::new();
    coco_files(folder, &mut cases);
    folders_of_boxes(folder, &mut cases);
    questions(folder, &mut cases);
    submissions(folder, &mut cases);
    for name in [
        "boxes.json",
        "detected-boxes.json",
        "coco-truth.json",
        "coco-results.json",
        "panoptic-truth.json",
        "panoptic-results.json",
    ] {
        folder.put(name, demo_text(name).as_bytes());
    }
    for options in [
        "--groups both",
        "--profile fusion-brain-2021",
        "--missing empty --extra ignore",
    ] {
        cases.push(format!(
            "detection {options} -r boxes.json -p detected-boxes.json"
        ));
    }
    // Classes that are not asked for, and classes and images without a prediction.
    let nested = json!({"1": {"dog": [[0, 0, 5, 5]], "cat": []}, "2": {"dog": [[0, 0, 9, 9]]}, "3": {"ant": []}});
    let found =
        json!({"1": {"dog": [[0, 0, 5, 6]], "ant": [[0, 0, 1, 1]]}, "2": {"cat": [], "dog": []}});
    folder.put("nested.json", nested.to_string().as_bytes());
    folder.put("nested-found.json", found.to_string().as_bytes());
    for missing in ["empty", "skip"] {
        cases.push(format!("detection --groups both --missing {missing} --extra ignore -r nested.json -p nested-found.json"));
    }
    cases.push("coco --groups class -r coco-truth.json -p coco-results.json".to_owned());
    cases
        .push("panoptic --groups class -r panoptic-truth.json -p panoptic-results.json".to_owned());
    cases
}

/// Images with all that is corrected with a warning, and some that have no objects.
fn coco_files(folder: &Folder, cases: &mut Vec<String>) {
    let images: Vec<Value> = (1..=12)
        .map(|id| json!({"id": id, "width": 100, "height": 100}))
        .collect();
    let mut images = images;
    images.push(json!({"id": 3, "width": 100, "height": 100}));
    let mut annotations = Vec::new();
    let mut results = Vec::new();
    for (index, image) in (1..=14).enumerate() {
        let size = 5.0 + index as f64 * 4.0;
        let polygon = json!([[0.0, 0.0, size, 0.0, size, size, 0.0, size]]);
        for (number, class) in [1, 4, 9].into_iter().enumerate().take(index % 4) {
            let mut annotation = json!({
                "id": index * 10 + number, "image_id": image, "category_id": class,
                "bbox": [0, 0, size, size], "segmentation": polygon, "area": size * size, "iscrowd": 0,
            });
            let fields = annotation.as_object_mut().expect("an object");
            match (index + number) % 5 {
                1 => drop(fields.remove("area")),
                2 => drop(fields.remove("iscrowd")),
                3 => drop(fields.insert("iscrowd".to_owned(), json!(1))),
                _ => {}
            }
            // Images 13 and 14 are in no list.
            annotations.push(annotation);
        }
        for number in 0..(index * 5) % 4 {
            let class = [1, 4, 77][(index + number) % 3];
            let score = 0.25 * (1 + (index + number) % 3) as f64;
            let width = if index == 5 {
                -1.0
            } else {
                size - number as f64
            };
            results.push(json!({
                "image_id": image, "category_id": class, "bbox": [0, 0, width, size], "score": score,
            }));
        }
    }
    let categories = json!([
        {"id": 4, "name": "dog"}, {"id": 1, "name": "cat"}, {"id": 1, "name": "cat"}, {"id": 30, "name": "unused"},
    ]);
    let truth = json!({"images": images, "categories": categories, "annotations": annotations});
    folder.put("images.json", truth.to_string().as_bytes());
    folder.put("found.json", json!(results).to_string().as_bytes());
    // Masks have no negative size.
    let sized = results
        .iter()
        .filter(|found| found["bbox"][2].as_f64() > Some(0.0));
    let sized: Vec<&Value> = sized.collect();
    folder.put("sized.json", json!(sized).to_string().as_bytes());
    for case in [
        "coco --groups class --details",
        "coco --class-agnostic --quirks pycocotools",
        "coco --iou 0.5,0.1 --max-detections 1,3",
        "voc",
        "voc --interpolation 11 --groups none",
        "tide",
        "tide --max-detections 1",
        "confusion-matrix --details",
        "confusion-matrix --score-threshold 0.5",
        "detection --groups both --matching greedy --best-f1 --details",
        "detection --iou 0.3,0.5 --score-threshold 0,0.5 --groups image",
    ] {
        cases.push(format!(
            "{case} --extra ignore -r images.json -p found.json"
        ));
    }
    for metric in ["coco", "ultralytics"] {
        cases.push(format!(
            "{metric} --iou-type segm --extra ignore -r images.json -p sized.json"
        ));
    }
    coco_persons(folder, cases);
}

/// Images of persons with two points each, some of which are not labeled, and one that is a crowd.
fn coco_persons(folder: &Folder, cases: &mut Vec<String>) {
    let images: Vec<Value> = (1..=9).map(|id| json!({"id": id})).collect();
    let mut annotations = Vec::new();
    let mut results = Vec::new();
    for index in 0..9 {
        let size = 20 + 12 * index;
        let visible = [2, 1, 0][index % 3];
        annotations.push(json!({
            "id": index + 1, "image_id": index + 1, "category_id": 1, "iscrowd": u8::from(index == 4),
            "area": size * size, "bbox": [0, 0, size, size], "num_keypoints": 1 + visible.min(1),
            "keypoints": [0, 0, 2, size, size, visible],
        }));
        for found in 0..index % 4 {
            let off = (index * found) % 7;
            results.push(json!({
                "image_id": index + 1, "category_id": 1, "score": 0.25 * (1 + found) as f64,
                "keypoints": [off, off, 1, size, size - off, 1],
            }));
        }
    }
    let categories = json!([{"id": 1, "name": "person"}]);
    let truth = json!({"images": images, "categories": categories, "annotations": annotations});
    folder.put("persons.json", truth.to_string().as_bytes());
    folder.put("points.json", json!(results).to_string().as_bytes());
    for metric in ["coco", "ultralytics"] {
        cases.push(format!(
            "{metric} --iou-type keypoints --oks-sigmas 0.1,0.2 -r persons.json -p points.json"
        ));
    }
}

/// Folders of Pascal VOC and YOLO: images with and without objects, and results of an unknown image.
fn folders_of_boxes(folder: &Folder, cases: &mut Vec<String>) {
    for name in ["xml", "voc", "labels", "yolo"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    for index in 0..12_usize {
        let name = ["image", "снимок", "1"][index % 3].to_owned() + &index.to_string();
        let (size, class) = (20 + index * 5, ["dog", "cat"][index % 2]);
        let difficult = u8::from(index == 4);
        let object = format!(
            "<object><name>{class}</name><difficult>{difficult}</difficult><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>{size}</xmax><ymax>{size}</ymax></bndbox></object>"
        );
        let objects = object.repeat(usize::from(!index.is_multiple_of(5)));
        folder.put(
            &format!("xml/{name}.xml"),
            format!("<annotation>{objects}</annotation>").as_bytes(),
        );
        let label = format!("{} 0.5 0.5 0.{} 0.25\n", index % 2, 1 + index % 8);
        folder.put(&format!("labels/{name}.txt"), label.as_bytes());
        if index % 4 != 3 {
            let score = [0.9, 0.5, 0.5][index % 3];
            let found = format!("{class} {score} 1 1 {} {size}\ncat 0.5 0 0 9 9\n", size - 3);
            folder.put(&format!("voc/{name}.txt"), found.as_bytes());
            let found = format!(
                "{} 0.5 0.5 0.{} 0.25 {score}\n3 0.1 0.1 0.1 0.1 0.5\n",
                index % 2,
                1 + index % 7
            );
            folder.put(&format!("yolo/{name}.txt"), found.as_bytes());
        }
    }
    folder.put("voc/unknown.txt", b"dog 0.9 0 0 10 10\n");
    folder.put("yolo/unknown.txt", b"0 0.5 0.5 0.1 0.1 0.9\n");
    for case in [
        "voc",
        "tide",
        "confusion-matrix",
        "detection --groups both --best-f1 --matching voc",
    ] {
        cases.push(format!("{case} --extra ignore -r xml -p voc"));
        cases.push(format!(
            "{case} --extra ignore -r labels -p yolo --image-size 200x100"
        ));
    }
}

/// Files of VQA v2 and SQuAD.
fn questions(folder: &Folder, cases: &mut Vec<String>) {
    let ids = 1..=15_u64;
    let annotation = |id: u64| {
        let answers: Vec<Value> = (0..10).map(|n| json!({"answer": if n < id % 11 { "Bus!" } else { "a car" }, "answer_id": n + 1})).collect();
        json!({
            "question_id": id, "image_id": 1, "answers": answers,
            "question_type": (["what is", "how many"][(id % 2) as usize]), "answer_type": (["other", "number", "yes/no"][(id % 3) as usize]),
        })
    };
    let annotations: Vec<Value> = ids.clone().map(annotation).collect();
    folder.put(
        "vqa.json",
        json!({"annotations": annotations}).to_string().as_bytes(),
    );
    let asked: Vec<Value> = ids
        .clone()
        .map(|id| json!({"question_id": id, "question": "?"}))
        .collect();
    folder.put(
        "questions.json",
        json!({"questions": asked}).to_string().as_bytes(),
    );
    let answers: Vec<Value> = ids
        .clone()
        .rev()
        .map(|id| json!({"question_id": id, "answer": (["bus", "A car.", "x"][(id % 3) as usize])}))
        .collect();
    folder.put("answers.json", json!(answers).to_string().as_bytes());
    let mut some = answers[4..].to_vec();
    some.extend([91, 92, 93].map(|id| json!({"question_id": id, "answer": "bus"})));
    folder.put("some-answers.json", json!(some).to_string().as_bytes());
    for profile in ["exact", "vqa-v2", "vqa-v2-always-normalise"] {
        cases.push(format!(
            "vqa --profile {profile} -r vqa.json -p answers.json"
        ));
    }
    cases.push(
        "vqa --profile vqa-v2 --questions questions.json -r vqa.json -p answers.json".to_owned(),
    );
    for missing in ["empty", "skip"] {
        cases.push(format!("vqa --profile vqa-v2 --missing {missing} --extra ignore -r vqa.json -p some-answers.json"));
    }
    squad_files(folder, cases, ids);
}

/// The files of SQuAD, for questions with these numbers.
fn squad_files(folder: &Folder, cases: &mut Vec<String>, ids: impl Iterator<Item = u64> + Clone) {
    let question = |id: u64| {
        let answers = match id % 4 {
            0 => json!([]),
            _ => {
                json!([{"text": format!("answer {id}"), "answer_start": 0}, {"text": "other", "answer_start": 0}])
            }
        };
        json!({"id": format!("вопрос-{id}"), "question": "?", "answers": answers, "is_impossible": id.is_multiple_of(4)})
    };
    let questions: Vec<Value> = ids.clone().map(question).collect();
    let data = |questions: &[Value]| {
        let paragraph = json!({"context": "...", "qas": questions});
        json!({"version": "v2.0", "data": [{"title": "t", "paragraphs": [paragraph]}]}).to_string()
    };
    folder.put("squad2.json", data(&questions).as_bytes());
    let answered = questions
        .iter()
        .filter(|question| question["is_impossible"] == false)
        .cloned();
    folder.put(
        "squad1.json",
        data(&answered.collect::<Vec<_>>()).as_bytes(),
    );
    let text = |id: u64| ["", "answer 5", "the other"][(id % 3) as usize];
    let predictions: BTreeMap<String, &str> =
        ids.map(|id| (format!("вопрос-{id}"), text(id))).collect();
    folder.put("texts.json", json!(predictions).to_string().as_bytes());
    let mut some = predictions.clone();
    some.retain(|id, _| !id.ends_with('1'));
    some.insert("неизвестный".to_owned(), "x");
    folder.put("some-texts.json", json!(some).to_string().as_bytes());
    cases.push("squad --profile v2 -r squad2.json -p texts.json".to_owned());
    cases.push("squad --extra ignore -r squad1.json -p texts.json".to_owned());
    let probability = |(index, id): (usize, &String)| (id.clone(), (index * 7 % 10) as f64 / 10.0);
    let mut probabilities: BTreeMap<String, f64> =
        predictions.keys().enumerate().map(probability).collect();
    probabilities.insert("неизвестный".to_owned(), 0.0);
    folder.put("na.json", json!(probabilities).to_string().as_bytes());
    cases.push("squad --profile v2 --na-prob-file na.json --na-prob-thresh 0.5 -r squad2.json -p texts.json".to_owned());
    for missing in ["empty", "skip"] {
        cases.push(format!("squad --profile v2 --missing {missing} --extra ignore -r squad2.json -p some-texts.json"));
    }
}

/// A submission to the ARC Prize with all that counts as a miss.
fn submissions(folder: &Folder, cases: &mut Vec<String>) {
    let ids: Vec<String> = (0..15)
        .map(|number| format!("{:08x}", number * 0x0123_4567_u64))
        .collect();
    let solutions: BTreeMap<&str, Value> = ids
        .iter()
        .enumerate()
        .map(|(index, id)| (id.as_str(), json!(vec![[[index % 10, 1]]; 1 + index % 3])))
        .collect();
    let attempts = |index: usize| {
        let right = json!([[index % 10, 1]]);
        match index % 6 {
            0 => json!([{"attempt_1": right, "attempt_2": [[0]]}]),
            1 => {
                json!([{"attempt_1": null, "attempt_2": right}, {"attempt_1": [[10]], "attempt_2": [[]]}])
            }
            2 => {
                json!([{"attempt_1": [[1], [2, 3]], "attempt_2": [], "attempt_3": right, "why": "a guess"}])
            }
            3 => json!([{"attempt_1": right}, {"attempt_1": right}, {"attempt_1": right}]),
            _ => json!([{"attempt_1": [[5, 5]], "attempt_2": right}]),
        }
    };
    let some = ids.iter().enumerate().filter(|(index, _)| index % 7 != 4);
    let mut submission: BTreeMap<&str, Value> = some
        .map(|(index, id)| (id.as_str(), attempts(index)))
        .collect();
    submission.insert("ffffffff", attempts(0));
    submission.insert("fffffffe", attempts(2));
    folder.put("solutions.json", json!(solutions).to_string().as_bytes());
    folder.put("submission.json", json!(submission).to_string().as_bytes());
    for options in ["", "--groups task", "--attempts 3"] {
        cases.push(format!(
            "arc {options} --extra ignore -r solutions.json -p submission.json"
        ));
    }
}
