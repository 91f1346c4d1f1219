//! The law of `Merge` for every metric of the registry, on random records: the empty evidence is
//! neutral, merging commutes and associates, any sharding in any order is one pass, and evidence
//! survives being written and read.

use metric_suite::registry::{
    Content, Document, ENTRIES, Evidence, JoinPolicy, Options, Record, Scorer, Value, find,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// The reference and the prediction of a random record.
type Pair = BoxedStrategy<(Json, Json)>;

/// What to feed a metric, and the option sets to try.
struct Domain {
    metric: &'static str,
    pairs: fn() -> Pair,
    options: &'static [&'static [(&'static str, &'static str)]],
}

const DOMAINS: &[Domain] = &[
    Domain {
        metric: "arc",
        pairs: arc,
        options: &[&[]],
    },
    Domain {
        metric: "arc",
        pairs: arc_tasks,
        options: &[
            &[],
            &[("attempts", "3"), ("groups", "task"), ("bootstrap", "10")],
        ],
    },
    Domain {
        metric: "accuracy-at-k",
        pairs: labels,
        options: &[&[("k", "1,2")], &[]],
    },
    Domain {
        metric: "accuracy-at-k",
        pairs: scores,
        options: &[
            &[("input", "scores")],
            &[("input", "scores"), ("k", "1,3"), ("ties", "expected")],
            &[
                ("input", "scores"),
                ("average", "macro"),
                ("ignore-index", "2"),
            ],
        ],
    },
    Domain {
        metric: "mrr",
        pairs: labels,
        options: &[&[], &[("k", "2")]],
    },
    Domain {
        metric: "mrr",
        pairs: scores,
        options: &[&[("input", "scores"), ("ties", "lowest-index")]],
    },
    Domain {
        metric: "classification",
        pairs: classes,
        options: &[
            &[],
            &[("average", "weighted"), ("zero-division", "1")],
            &[("groups", "class"), ("labels", "a,1")],
        ],
    },
    Domain {
        metric: "string-accuracy",
        pairs: strings,
        options: &[&[], &[("normalize", "nfc,casefold,strip")]],
    },
    Domain {
        metric: "wer",
        pairs: texts,
        options: &[
            &[],
            &[
                ("profile", "torchmetrics"),
                ("normalize", "lower,punctuation"),
            ],
        ],
    },
    Domain {
        metric: "cer",
        pairs: texts,
        options: &[&[], &[("unit", "grapheme"), ("profile", "huggingface")]],
    },
    Domain {
        metric: "vqa",
        pairs: answers,
        options: &[
            &[("profile", "exact")],
            &[("profile", "fusion-brain-2021")],
            &[("profile", "vqa-v2")],
            &[("profile", "vqa-v2-always-normalise")],
        ],
    },
    Domain {
        metric: "exact-match",
        pairs: strings,
        options: &[
            &[],
            &[
                ("ignore-case", "true"),
                ("regexes-to-ignore", "[\"a\", \"the \"]"),
            ],
        ],
    },
    Domain {
        metric: "anls",
        pairs: several_texts,
        options: &[&[], &[("profile", "rrc")]],
    },
    Domain {
        metric: "squad",
        pairs: several_texts,
        options: &[&[], &[("profile", "v2")]],
    },
    Domain {
        metric: "relaxed-accuracy",
        pairs: numbers,
        options: &[&[], &[("tolerance", "0.5")]],
    },
    Domain {
        metric: "codebleu",
        pairs: code,
        options: &[
            &[("lang", "python"), ("profile", "codebleu-0.7")],
            &[("lang", "python"), ("profile", "corrected")],
            &[("lang", "go"), ("weights", "0.1,0.1,0.4,0.4")],
        ],
    },
    Domain {
        metric: "detection",
        pairs: boxes,
        options: &[
            &[("groups", "both")],
            &[("profile", "fusion-brain-2021")],
            &[("profile", "fusion-brain-baseline")],
            &[("profile", "seed-text")],
            &[("matching", "greedy")],
        ],
    },
    Domain {
        metric: "lanes",
        pairs: lanes,
        options: &[&[], &[("alignment", "key"), ("lane-ids", "text")]],
    },
    Domain {
        metric: "openlane",
        pairs: frames,
        options: &[&[]],
    },
];

/// A metric that reads whole files.
struct Whole {
    metric: &'static str,
    options: &'static [&'static [(&'static str, &'static str)]],
    /// Whether the place of a detection in its file matters, so that a file of some of the images is
    /// other evidence.
    by_place: bool,
}

const WHOLE: &[Whole] = &[
    Whole {
        metric: "coco",
        options: &[
            &[],
            &[
                ("class-agnostic", "true"),
                ("iou", "0.5,0.1"),
                ("quirks", "pycocotools"),
            ],
            &[("max-detections", "1,2"), ("areas", "tiny:0:2,big:2:inf")],
        ],
        by_place: false,
    },
    Whole {
        metric: "voc",
        options: &[&[], &[("strict", "true"), ("pixel-plus-one", "true")]],
        by_place: true,
    },
    Whole {
        metric: "tide",
        options: &[&[], &[("max-detections", "2")]],
        by_place: false,
    },
    Whole {
        metric: "confusion-matrix",
        options: &[&[("score-threshold", "0.5")]],
        by_place: false,
    },
    Whole {
        metric: "detection",
        options: &[
            &[
                ("groups", "both"),
                ("matching", "greedy"),
                ("best-f1", "true"),
            ],
            &[("iou", "0.3,0.5"), ("score-threshold", "0,0.5")],
        ],
        by_place: false,
    },
];

fn grid() -> impl Strategy<Value = Json> {
    (1_usize..4, 1_usize..4).prop_flat_map(|(rows, columns)| {
        let row = proptest::collection::vec(0_u8..10, columns);
        proptest::collection::vec(row, rows).prop_map(|rows| json!(rows))
    })
}

fn arc() -> Pair {
    let attempt = prop_oneof![4 => grid(), 1 => Just(json!(null)), 1 => Just(json!([[10]]))];
    (grid(), attempt).boxed()
}

fn label() -> impl Strategy<Value = Json> {
    prop_oneof![
        (0_i64..4).prop_map(|x| json!(x)),
        "[ab]".prop_map(|x| json!(x))
    ]
}

fn arc_tasks() -> Pair {
    let attempt = prop_oneof![4 => Just(json!([[1]])), 2 => grid(), 1 => Just(json!(null))];
    let attempts = proptest::collection::vec(attempt, 0..4).prop_map(|attempts| {
        let named = (1..).zip(attempts);
        let named = named.map(|(number, attempt)| (format!("attempt_{number}"), attempt));
        Json::Object(named.collect())
    });
    let truth = prop_oneof![Just(json!([[1]])), grid()];
    let truth = proptest::collection::vec(truth, 1..4).prop_map(|truth| json!(truth));
    let attempts = proptest::collection::vec(attempts, 0..4);
    (truth, attempts.prop_map(|attempts| json!(attempts))).boxed()
}

fn labels() -> Pair {
    let row = proptest::collection::vec(label(), 3).prop_map(|row| json!(row));
    (label(), row).boxed()
}

fn classes() -> Pair {
    (label(), label()).boxed()
}

/// Scores with many ties.
fn scores() -> Pair {
    let scores = proptest::collection::vec(0_u8..3, 4).prop_map(|row| json!(row));
    ((0_u8..4).prop_map(|x| json!(x)), scores).boxed()
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[aAéß ]{0,2}",
        Just("e\u{301}".to_owned()),
        Just("the two".to_owned())
    ]
}

fn strings() -> Pair {
    (word(), word())
        .prop_map(|(a, b)| (json!(a), json!(b)))
        .boxed()
}

fn texts() -> Pair {
    let text = || proptest::collection::vec(word(), 0..6).prop_map(|words| json!(words.join(" ")));
    (text(), text()).boxed()
}

fn answers() -> Pair {
    let question = (
        proptest::collection::vec(word(), 1..3),
        "en|ru",
        "color|number",
    );
    let question = question.prop_map(
        |(answers, lang, kind)| json!({"answer": answers, "lang": lang, "question_type": kind}),
    );
    (question, word()).prop_map(|(a, b)| (a, json!(b))).boxed()
}

fn several_texts() -> Pair {
    let answers = proptest::collection::vec(word(), 1..4).prop_map(|texts| json!(texts));
    (answers, word().prop_map(|text| json!(text))).boxed()
}

fn numbers() -> Pair {
    let number = || {
        prop_oneof![
            (0_u8..5).prop_map(|x| json!(x)),
            "[0-3]%?".prop_map(|x| json!(x))
        ]
    };
    (number(), number()).boxed()
}

fn code() -> Pair {
    let line = || "(x = y|y = x \\+ 1|if x: return|# note|)\n";
    let text = move || proptest::collection::vec(line(), 0..4).prop_map(|lines| lines.concat());
    let references = proptest::collection::vec(text(), 1..3).prop_map(|texts| json!(texts));
    (references, text())
        .prop_map(|(a, b)| (a, json!(b)))
        .boxed()
}

fn boxes() -> Pair {
    let boxes = || {
        let item = [0_u8..4, 0_u8..4, 1_u8..4, 1_u8..4];
        proptest::collection::vec(item, 0..4)
    };
    let image = || [boxes(), boxes()].prop_map(|[cat, dog]| json!({"cat": cat, "dog": dog}));
    (image(), image()).boxed()
}

fn lanes() -> Pair {
    let rule = || {
        ("[AB]", proptest::collection::vec(0_u8..4, 0..3))
            .prop_map(|(kind, lanes)| json!({"attr_info": {"LaneType": kind}, "centerline": lanes}))
    };
    let clip =
        || proptest::collection::btree_map("[0-3]", rule(), 0..4).prop_map(|clip| json!(clip));
    (clip(), clip()).boxed()
}

/// Up to 3 lanes and 2 traffic elements a side, near each other, with few confidences: many ties.
fn frames() -> Pair {
    let list = |most: usize| {
        let item = (0_u8..4, 0_u8..3, 0_u8..3);
        proptest::collection::vec(item, 0..=most)
    };
    let tables = || proptest::collection::vec(0_u8..3, 9);
    let frame = move |truth: bool| {
        (list(3), list(2), tables()).prop_map(move |(lanes, elements, edges)| {
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
                let edge = |level: &u8| match truth {
                    true => json!(level % 2),
                    false => json!(confidence(*level)),
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
    (frame(true), frame(false)).boxed()
}

/// Evidence of some of the records.
fn gather(scorer: &dyn Scorer, records: &[(String, String)]) -> Box<dyn Evidence> {
    let records: Vec<Record<'_>> = records
        .iter()
        .map(|(reference, prediction)| {
            Record::new("id", Value::Json(prediction), Value::Json(reference))
        })
        .collect();
    let mut evidence = scorer.start();
    evidence.update(&records, None).expect("readable records");
    evidence
}

fn merged(mut a: Box<dyn Evidence>, b: Box<dyn Evidence>) -> Box<dyn Evidence> {
    a.merge(b).expect("evidence of one metric");
    a
}

fn check(domain: &Domain, options: &[(&str, &str)], pairs: &[(Json, Json)], cuts: [usize; 2]) {
    let options = options
        .iter()
        .fold(Options::default(), |all, (name, value)| {
            all.set(name, value)
        });
    let entry = find(domain.metric).expect("a metric of this name");
    let scorer = entry.scorer(&options).expect("good options");
    let scorer = &*scorer;
    let records: Vec<(String, String)> = pairs
        .iter()
        .map(|(reference, prediction)| (reference.to_string(), prediction.to_string()))
        .collect();

    let whole = gather(scorer, &records);
    let expected = whole.write();
    let report = whole.report();
    let same = |what: &str, evidence: Box<dyn Evidence>| {
        assert_eq!(evidence.write(), expected, "{}: {what}", domain.metric);
        assert_eq!(evidence.report(), report, "{}: {what}", domain.metric);
    };

    let mut cuts = cuts.map(|cut| cut.min(records.len()));
    cuts.sort_unstable();
    let part = |range: std::ops::Range<usize>| gather(scorer, &records[range]);
    let (a, b, c) = (0..cuts[0], cuts[0]..cuts[1], cuts[1]..records.len());
    let [a, b, c] = [a, b, c].map(|range| move || range.clone());
    same(
        "empty on the left",
        merged(scorer.start(), part(0..records.len())),
    );
    same(
        "empty on the right",
        merged(part(0..records.len()), scorer.start()),
    );
    same("(a b) c", merged(merged(part(a()), part(b())), part(c())));
    same("a (b c)", merged(part(a()), merged(part(b()), part(c()))));
    same("c b a", merged(part(c()), merged(part(b()), part(a()))));

    let mut backwards = records.clone();
    backwards.reverse();
    same("order", gather(scorer, &backwards));
    let single = |record: &(String, String)| gather(scorer, std::slice::from_ref(record));
    same(
        "record by record",
        records.iter().map(single).fold(scorer.start(), merged),
    );

    let read = scorer.read(&expected).expect("evidence that was written");
    same("written and read", read);
    let half = scorer
        .read(&part(a()).write())
        .expect("evidence that was written");
    same(
        "read and merged",
        merged(half, merged(part(b()), part(c()))),
    );
}

/// The boxes of an image: class, place, size, and what a truth or a detection has beside them.
type Object = (i64, [u8; 4], u8);

/// True objects and detections of an image.
type Objects = (Vec<Object>, Vec<Object>);

fn image() -> impl Strategy<Value = Objects> {
    let object = || (0_i64..3, [0_u8..3, 0_u8..3, 1_u8..3, 1_u8..3], 0_u8..3);
    let objects = move || proptest::collection::vec(object(), 0..4);
    (objects(), objects())
}

/// The evidence of images with their ids, as a pair of COCO files.
fn gather_images(scorer: &dyn Scorer, images: &[(i64, Objects)]) -> Box<dyn Evidence> {
    let (mut annotations, mut results) = (Vec::new(), Vec::new());
    for (image, (truths, found)) in images {
        for (class, bbox, rest) in truths {
            annotations.push(json!({
                "id": image * 100 + annotations.len() as i64, "image_id": image, "category_id": class,
                "bbox": bbox, "area": bbox[2] * bbox[3], "iscrowd": u8::from(*rest == 0),
            }));
        }
        for (class, bbox, score) in found {
            results.push(json!({
                "image_id": image, "category_id": class, "bbox": bbox, "score": f64::from(*score) / 2.0,
            }));
        }
    }
    let ids: Vec<Json> = images.iter().map(|(id, _)| json!({"id": id})).collect();
    let classes = ["a", "b", "c"].iter().enumerate();
    let classes: Vec<Json> = classes
        .map(|(id, name)| json!({"id": id, "name": name}))
        .collect();
    let truth = json!({"images": ids, "categories": classes, "annotations": annotations});
    let document = |value: Json| Document {
        name: "a file".to_owned(),
        content: Content::Text(value.to_string()),
    };
    let read = scorer.read_documents(
        document(truth),
        document(json!(results)),
        JoinPolicy::default(),
        None,
    );
    read.expect("readable files")
}

fn check_whole(whole: &Whole, images: &[Objects], cuts: [usize; 2]) {
    let images: Vec<_> = (1..).zip(images.iter().cloned()).collect();
    let mut cuts = cuts.map(|cut| cut.min(images.len()));
    cuts.sort_unstable();
    for options in whole.options {
        let options = options
            .iter()
            .fold(Options::default(), |all, (name, value)| {
                all.set(name, value)
            });
        let entry = find(whole.metric).expect("a metric of this name");
        let scorer = entry.scorer(&options).expect("good options");
        let scorer = &*scorer;
        let parts = || {
            let parts = [
                &images[..cuts[0]],
                &images[cuts[0]..cuts[1]],
                &images[cuts[1]..],
            ];
            parts.map(|images| gather_images(scorer, images))
        };
        let [a, b, c] = parts();
        let total = merged(merged(a, b), c);
        let (expected, report) = (total.write(), total.report());
        let same = |what: &str, evidence: Box<dyn Evidence>| {
            assert_eq!(evidence.write(), expected, "{}: {what}", whole.metric);
            assert_eq!(evidence.report(), report, "{}: {what}", whole.metric);
        };
        let [a, b, c] = parts();
        same("a (b c)", merged(a, merged(b, c)));
        let [a, b, c] = parts();
        same("c b a", merged(c, merged(b, a)));
        let [a, b, c] = parts();
        let read = scorer.read(&a.write()).expect("evidence that was written");
        same("read and merged", merged(merged(c, read), b));
        same(
            "written and read",
            scorer.read(&expected).expect("evidence"),
        );
        same(
            "an empty one",
            merged(scorer.start(), scorer.read(&expected).expect("evidence")),
        );
        if !whole.by_place {
            same("one pass", gather_images(scorer, &images));
            let mut backwards = images.clone();
            backwards.reverse();
            same("images in another order", gather_images(scorer, &backwards));
        }
    }
}

#[test]
fn every_metric_is_here() {
    for entry in ENTRIES {
        let records = DOMAINS.iter().map(|domain| domain.metric);
        let known = records.chain(WHOLE.iter().map(|whole| whole.metric));
        let known = known.collect::<Vec<_>>().contains(&entry.name);
        assert!(known, "no random data for {}", entry.name);
    }
}

#[test]
fn evidence_of_other_definitions_is_refused() {
    let scorer = |options: Options| {
        find("detection")
            .expect("a metric")
            .scorer(&options)
            .expect("options")
    };
    let half = scorer(Options::default());
    let strict = scorer(Options::default().set("iou", "0.75"));
    assert!(half.read(&strict.start().write()).is_err());
    assert!(half.start().merge(strict.start()).is_err());
    let arc = find("arc")
        .expect("a metric")
        .scorer(&Options::default())
        .expect("options");
    assert!(half.start().merge(arc.start()).is_err());
    assert!(half.read("{}").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn hold_for_whole_files(
        images in proptest::collection::vec(image(), 0..6),
        cuts in [0_usize..6, 0_usize..6],
    ) {
        for whole in WHOLE {
            check_whole(whole, &images, cuts);
        }
    }

    #[test]
    fn hold(seeds in proptest::collection::vec(any::<u64>(), DOMAINS.len()), size in 0_usize..8, cuts in [0_usize..8, 0_usize..8]) {
        for (domain, seed) in DOMAINS.iter().zip(seeds) {
            // One stream of random records a domain, so that a failure shrinks by size alone.
            let mut runner = proptest::test_runner::TestRunner::new_with_rng(
                ProptestConfig::default(),
                proptest::test_runner::TestRng::from_seed(
                    proptest::test_runner::RngAlgorithm::ChaCha,
                    &std::array::from_fn::<u8, 32, _>(|i| seed.to_le_bytes()[i % 8]),
                ),
            );
            let pairs: Vec<(Json, Json)> = (0..size)
                .filter_map(|_| Some((domain.pairs)().new_tree(&mut runner).ok()?.current()))
                .collect();
            for options in domain.options {
                check(domain, options, &pairs, cuts);
            }
        }
    }
}
