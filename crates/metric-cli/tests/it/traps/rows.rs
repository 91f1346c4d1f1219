//! The traps, by what they mislead about.

use super::Trap;

/// Lines with an id before the text, as in Kaldi.
fn with_ids(ids: impl Iterator<Item = usize>, text: &str) -> String {
    ids.map(|id| format!("utt-{id:02} {text}\n")).collect()
}

fn wer_records() -> String {
    "{\"id\": 1, \"reference\": \"a b\", \"prediction\": \"a b\"}\n".to_owned()
}

fn misspelled() -> String {
    "{\"id\": 1, \"reference\": \"a b\", \"predicton\": \"a b\"}\n".to_owned()
}

fn code_record(prediction: &str) -> String {
    format!("{{\"id\": 1, \"reference\": \"int x;\", \"prediction\": \"{prediction}\"}}\n")
}

fn unlike_texts() -> String {
    let [one, other] = ["abcdefg", "hijklmnopqr"].map(|letters| letters.repeat(10_000));
    format!("{{\"id\": 1, \"reference\": \"{one}\", \"prediction\": \"{other}\"}}\n")
}

fn five_equal_records() -> String {
    let record =
        |id: usize| format!("{{\"id\": {id}, \"reference\": \"a b\", \"prediction\": \"a c\"}}\n");
    (1..=5).map(record).collect()
}

/// Boxes that all overlap.
fn near_boxes() -> String {
    let boxes = |by: f64| {
        let one = |at: usize| {
            let at = by + (at % 100) as f64 * 0.01;
            format!("[{at}, {at}, 50, 50]")
        };
        (0..5000).map(one).collect::<Vec<_>>().join(",")
    };
    let (references, predictions) = (boxes(0.0), boxes(0.5));
    format!("{{\"id\": 1, \"reference\": [{references}], \"prediction\": [{predictions}]}}\n")
}

/// A COCO ground truth of one object and its result, with the ids and classes given.
fn coco_truth(annotation: usize) -> String {
    format!(
        "{{\"images\": [{{\"id\": 1, \"width\": 100, \"height\": 100}}], \"categories\": [{{\"id\": 1, \"name\": \"cat\"}}], \"annotations\": [{{\"id\": {annotation}, \"image_id\": 1, \"category_id\": 1, \"bbox\": [10, 10, 20, 20], \"area\": 400, \"iscrowd\": 0}}]}}"
    )
}

fn coco_results(class: usize) -> String {
    format!(
        "[{{\"image_id\": 1, \"category_id\": {class}, \"bbox\": [10, 10, 20, 20], \"score\": 0.9}}]"
    )
}

/// A mask of 10 by 10 pixels in an image of 100 by 100.
fn small_mask() -> String {
    coco_truth(1).replace(
        "\"bbox\": [10, 10, 20, 20]",
        "\"segmentation\": {\"size\": [10, 10], \"counts\": [0, 10, 90]}",
    )
}

fn small_mask_result() -> String {
    coco_results(1).replace(
        "\"bbox\": [10, 10, 20, 20]",
        "\"segmentation\": {\"size\": [10, 10], \"counts\": [0, 10, 90]}",
    )
}

fn vqa_answers(answer: &str, count: usize) -> String {
    let answers = vec![answer; count].join(", ");
    format!("{{\"id\": 1, \"reference\": [{answers}], \"prediction\": \"red\"}}\n")
}

/// Boxes that differ and all overlap.
fn many_boxes() -> String {
    let boxes = |by: usize| {
        let one = |at: usize| format!("[{}, {}, 5000, 5000]", at % 200, (at + by) / 200);
        (0..40_000).map(one).collect::<Vec<_>>().join(",")
    };
    format!(
        "{{\"id\": 1, \"reference\": [{}], \"prediction\": [{}]}}\n",
        boxes(0),
        boxes(50)
    )
}

pub(crate) const TRAPS: &[Trap] = &[
    Trap {
        name: "`--fail-under wer=0.1`",
        before: "A good system failed the check, and a bad one passed.",
        now: "A usage error says to write `--fail-over wer=0.1`.",
        files: &[("t.jsonl", wer_records)],
        run: "score wer --pairs t.jsonl --fail-under wer=0.1",
        code: 2,
        says: &["lower values of wer are better; use --fail-over wer=0.1"],
    },
    Trap {
        name: "`--fail-over` of a score that should be high",
        before: "There was no such check.",
        now: "A usage error says to write `--fail-under string_accuracy=0.1`.",
        files: &[("t.jsonl", wer_records)],
        run: "score string-accuracy --pairs t.jsonl --fail-over string_accuracy=0.1",
        code: 2,
        says: &["use --fail-under string_accuracy=0.1"],
    },
    Trap {
        name: "Kaldi's `ID TEXT` files named `.txt`",
        before: "The ids were scored as words.",
        now: "The run ends, and names both ways to read the file.",
        files: &[
            ("r.txt", || with_ids(0..10, "good morning")),
            ("p.txt", || with_ids((0..10).rev(), "good evening")),
        ],
        run: "score wer -r r.txt -p p.txt",
        code: 3,
        says: &[
            "such as \"utt-00\"",
            "--input-format kaldi",
            "--input-format text",
        ],
    },
    Trap {
        name: "A few lines that start with ids",
        before: "The ids were scored as words.",
        now: "A warning names the format `kaldi`.",
        files: &[
            ("r.txt", || with_ids(0..4, "good morning")),
            ("p.txt", || with_ids((0..4).rev(), "good evening")),
        ],
        run: "score wer -r r.txt -p p.txt",
        code: 0,
        says: &["warning: 4 ", "--input-format kaldi"],
    },
    Trap {
        name: "Values of one word per line that look like ids",
        before: "They were scored, as they are now.",
        now: "No warning: a perfect system has the same words in the same lines.",
        files: &[
            ("r.txt", || {
                (0..20).map(|id| format!("class-{id}\n")).collect()
            }),
            ("p.txt", || {
                (0..20).map(|id| format!("class-{id}\n")).collect()
            }),
        ],
        run: "score string-accuracy -r r.txt -p p.txt",
        code: 0,
        says: &[],
    },
    Trap {
        name: "Numbered lines",
        before: "The numbers were scored as words, which are always correct.",
        now: "The run ends, and names both ways to read the file.",
        files: &[
            ("r.txt", || {
                (0..12).map(|id| format!("{id}. a b\n")).collect()
            }),
            ("p.txt", || {
                (0..12).map(|id| format!("{id}. a c\n")).collect()
            }),
        ],
        run: "score wer -r r.txt -p p.txt",
        code: 3,
        says: &["--input-format kaldi"],
    },
    Trap {
        name: "`--pairs` with a misspelled field",
        before: "No record had a prediction, and with `--missing empty` the score was 0.",
        now: "The error lists the fields and names the nearest one.",
        files: &[("t.jsonl", misspelled)],
        run: "score wer --pairs t.jsonl --missing empty",
        code: 3,
        says: &[
            "no field \"prediction\": the record has \"id\", \"reference\", \"predicton\"",
            "did you mean --prediction-field predicton?",
        ],
    },
    Trap {
        name: "An id field with another name",
        before: "The error named the options and no field.",
        now: "The error lists the fields and names the one that is probably meant.",
        files: &[("t.jsonl", || wer_records().replace("\"id\"", "\"doc_id\""))],
        run: "score wer --pairs t.jsonl",
        code: 3,
        says: &["did you mean --id-field doc_id?"],
    },
    Trap {
        name: "An option of other metrics",
        before: "The argument was unexpected, with a hint to unrelated options.",
        now: "The error says which metrics have it.",
        files: &[("t.jsonl", wer_records)],
        run: "score wer --pairs t.jsonl --k 5",
        code: 2,
        says: &["--k is not an option of wer: pass-at-k, accuracy-at-k, mrr, retrieval have it"],
    },
    Trap {
        name: "Details of a metric that has none",
        before: "Each of these options had an error of its own.",
        now: "The error says which metrics have it.",
        files: &[("t.jsonl", wer_records)],
        run: "score string-accuracy --pairs t.jsonl --details d.json",
        code: 2,
        says: &["--details is not an option of string-accuracy: wer, cer, "],
    },
    Trap {
        name: "A line without an end",
        before: "It took up to 1 GiB of memory.",
        now: "`--max-bytes` bounds what is held.",
        files: &[
            ("r.jsonl", || {
                format!("{{\"id\": 1, \"reference\": \"{}\"}}", "a".repeat(300_000))
            }),
            ("p.jsonl", || {
                "{\"id\": 1, \"prediction\": \"a\"}\n".to_owned()
            }),
        ],
        run: "score string-accuracy -r r.jsonl -p p.jsonl --max-bytes 100kB",
        code: 5,
        says: &["r.jsonl:1: the line takes more memory than allowed by --max-bytes 100000"],
    },
    Trap {
        name: "A document of white space",
        before: "It was held in memory, however large it was.",
        now: "`--max-bytes` bounds what is held.",
        files: &[
            ("r.json", || " ".repeat(3_000_000)),
            ("p.json", || "[]".to_owned()),
        ],
        run: "score coco -r r.json -p p.json --max-bytes 1MB",
        code: 5,
        says: &["r.json: the file takes more memory than allowed by --max-bytes 1000000"],
    },
    Trap {
        name: "A folder with very many files",
        before: "All of them were held in memory.",
        now: "`--max-bytes` bounds what is held.",
        files: &[
            ("r/1.txt", || "0 0.5 0.5 1 1\n".repeat(10_000)),
            ("r/2.txt", || "0 0.5 0.5 1 1\n".repeat(10_000)),
            ("p/1.txt", || "0 0.5 0.5 1 1 0.9\n".to_owned()),
        ],
        run: "score detection -r r -p p --max-bytes 200kB",
        code: 5,
        says: &[
            "2.txt: with 140000 bytes, the files of the folder take more memory than allowed by --max-bytes 200000",
        ],
    },
    Trap {
        name: "CodeBLEU under the profiles of the original evaluator",
        before: "Syntax and dataflow came from current grammars without a word.",
        now: "A warning names the two components.",
        files: &[("t.jsonl", wer_records)],
        run: "score codebleu --lang python --pairs t.jsonl",
        code: 0,
        says: &["syntax_match and dataflow_match come from current"],
    },
    Trap {
        name: "Code that takes the parser gigabytes",
        before: "100 kB of `a<` in C# took 14 GB.",
        now: "The parser's memory and work are bounded, and the text is refused.",
        files: &[("t.jsonl", || code_record(&"a<".repeat(50_000)))],
        run: "score codebleu --lang c_sharp --pairs t.jsonl",
        code: 5,
        says: &["id \"1\"", "--on-limit zero"],
    },
    Trap {
        name: "The same with `--on-limit zero`",
        before: "There was no such choice.",
        now: "The text has no syntax and no dataflow, and a warning names it.",
        files: &[("t.jsonl", || code_record(&"a<".repeat(50_000)))],
        run: "score codebleu --lang c_sharp --pairs t.jsonl --on-limit zero",
        code: 0,
        says: &["warning: 1 "],
    },
    Trap {
        name: "Two unlike texts of a megabyte",
        before: "They took minutes.",
        now: "The work is bounded by `--max-cells`, which the error names.",
        files: &[("t.jsonl", unlike_texts)],
        run: "score cer --pairs t.jsonl --max-cells 100000000",
        code: 5,
        says: &["id \"1\"", "--max-cells"],
    },
    Trap {
        name: "`--matching optimal-sum` on an item with very many near boxes",
        before: "5,000 times 5,000 boxes took 14 seconds and 2 GB.",
        now: "Such an item is refused.",
        files: &[("t.jsonl", near_boxes)],
        run: "score detection --matching optimal-sum --pairs t.jsonl",
        code: 5,
        says: &["id \"1\""],
    },
    Trap {
        name: "`accuracy-at-k` without `--k`",
        before: "k came from the rows of the predictions without a word.",
        now: "A warning says so.",
        files: &[("t.jsonl", || {
            "{\"id\": 1, \"reference\": 2, \"prediction\": [1, 2, 3]}\n".to_owned()
        })],
        run: "score accuracy-at-k --pairs t.jsonl",
        code: 0,
        says: &["--k"],
    },
    Trap {
        name: "`--missing empty` where the reference is empty",
        before: "The missing prediction counted as correct without a word.",
        now: "A warning counts such predictions.",
        files: &[
            ("r.jsonl", || {
                "{\"id\": 1, \"reference\": \"\"}\n{\"id\": 2, \"reference\": \"a\"}\n".to_owned()
            }),
            ("p.jsonl", || {
                "{\"id\": 2, \"prediction\": \"a\"}\n".to_owned()
            }),
        ],
        run: "score string-accuracy -r r.jsonl -p p.jsonl --missing empty",
        code: 0,
        says: &["1 missing prediction scores as correct, as its reference is empty"],
    },
    Trap {
        name: "A COCO annotation with the id 0",
        before: "pycocotools never counts it as found, so its AP differed without a word.",
        now: "A warning names `--quirks pycocotools`, which gives its numbers.",
        files: &[("r.json", || coco_truth(0)), ("p.json", || coco_results(1))],
        run: "score coco -r r.json -p p.json",
        code: 0,
        says: &[
            "1 object of the ground truth has the id 0",
            "--quirks pycocotools",
        ],
    },
    Trap {
        name: "Masks of another size than their image",
        before: "They were refused, also where the numbers of pycocotools are wanted.",
        now: "`--quirks pycocotools` accepts them with a warning.",
        files: &[("r.json", small_mask), ("p.json", small_mask_result)],
        run: "score coco --iou-type segm --quirks pycocotools -r r.json -p p.json",
        code: 0,
        says: &["masks are not of the size of their image"],
    },
    Trap {
        name: "COCO results of a class that the ground truth does not list",
        before: "They were left out without a word.",
        now: "A warning names the classes with their counts, and says so loudly if no class is in common.",
        files: &[
            ("r.json", || coco_truth(1)),
            ("p.json", || coco_results(17)),
        ],
        run: "score coco -r r.json -p p.json",
        code: 0,
        says: &[
            "1 detection is of a class that the ground truth does not list",
            "NO CLASS IN COMMON",
        ],
    },
    Trap {
        name: "YOLO results with the confidence second",
        before: "They were read as boxes and scored 0.",
        now: "Where a value proves the order wrong they are refused; otherwise a warning names the likely cause.",
        files: &[
            ("gt/0.txt", || "0 0.2 0.7 0.2 0.3\n".to_owned()),
            ("dt/0.txt", || "0 0.9 0.2 0.7 0.2 0.3\n".to_owned()),
        ],
        run: "score voc -r gt -p dt",
        code: 3,
        says: &[
            "dt/0.txt:1: found a box that leaves the image",
            "expected class cx cy width height confidence",
        ],
    },
    Trap {
        name: "A folder without one prediction file",
        before: "All objects counted as missed, and all scores were 0.",
        now: "The run ends, and names the files that were expected.",
        files: &[
            ("gt/0.txt", || "0 0.2 0.7 0.2 0.3\n".to_owned()),
            ("dt/0.png", || "?".to_owned()),
        ],
        run: "score voc -r gt -p dt",
        code: 3,
        says: &["dt: found no predictions, expected files *.txt"],
    },
    Trap {
        name: "Ids of tracks as confidences",
        before: "They were read as scores above 1.",
        now: "The run ends, and says how to write confidences.",
        files: &[
            ("gt/0.txt", || "0 0.2 0.7 0.2 0.3\n".to_owned()),
            ("dt/0.txt", || "0 0.2 0.7 0.2 0.3 4\n".to_owned()),
        ],
        run: "score voc -r gt -p dt",
        code: 3,
        says: &["dt/0.txt:1: confidence: found 4", "save_conf=True"],
    },
    Trap {
        name: "The same YOLO label twice",
        before: "The object needed two detections without a word.",
        now: "A warning counts such objects.",
        files: &[
            ("gt/0.txt", || {
                "0 0.2 0.7 0.2 0.3\n0 0.2 0.7 0.2 0.3\n".to_owned()
            }),
            ("dt/0.txt", || "0 0.2 0.7 0.2 0.3 0.5\n".to_owned()),
        ],
        run: "score voc -r gt -p dt",
        code: 0,
        says: &["1 ground-truth object is in its image twice"],
    },
    Trap {
        name: "Class ids that are shifted by one",
        before: "All scores were 0 without a word.",
        now: "A warning says that boxes overlap objects of other classes only, and by how much the ids differ.",
        files: &[
            ("t.json", || {
                "{\"images\": [{\"id\": 1, \"width\": 400, \"height\": 400}], \"categories\": [{\"id\": 0, \"name\": \"a\"}, {\"id\": 1, \"name\": \"b\"}, {\"id\": 2, \"name\": \"c\"}], \"annotations\": [{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"bbox\": [10, 20, 30, 40], \"area\": 1200, \"iscrowd\": 0}, {\"id\": 2, \"image_id\": 1, \"category_id\": 2, \"bbox\": [200, 50, 30, 40], \"area\": 1200, \"iscrowd\": 0}]}".to_owned()
            }),
            ("p.json", || {
                "[{\"image_id\": 1, \"category_id\": 0, \"bbox\": [10, 20, 30, 40], \"score\": 0.9}, {\"image_id\": 1, \"category_id\": 1, \"bbox\": [200, 50, 30, 40], \"score\": 0.8}]".to_owned()
            }),
        ],
        run: "score coco -r t.json -p p.json",
        code: 0,
        says: &[
            "2 detections overlap ground-truth objects of other classes only",
            "1 less",
        ],
    },
    Trap {
        name: "Boxes in fractions next to pixels",
        before: "All scores were 0 without a word.",
        now: "A warning names the side that is in fractions.",
        files: &[
            ("t.json", || {
                "{\"images\": [{\"id\": 1, \"width\": 400, \"height\": 400}], \"categories\": [{\"id\": 0, \"name\": \"a\"}, {\"id\": 1, \"name\": \"b\"}, {\"id\": 2, \"name\": \"c\"}], \"annotations\": [{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"bbox\": [10, 20, 30, 40], \"area\": 1200, \"iscrowd\": 0}]}".to_owned()
            }),
            ("p.json", || {
                "[{\"image_id\": 1, \"category_id\": 1, \"bbox\": [0.1, 0.1, 0.2, 0.2], \"score\": 0.9}]".to_owned()
            }),
        ],
        run: "score coco -r t.json -p p.json",
        code: 0,
        says: &["coordinates of the detections are within 0 and 1"],
    },
    Trap {
        name: "Ground truth in which no object counts",
        before: "All scores were undefined without a reason.",
        now: "A warning gives the reason.",
        files: &[
            ("t.json", || {
                "{\"images\": [{\"id\": 1, \"width\": 400, \"height\": 400}], \"categories\": [{\"id\": 0, \"name\": \"a\"}, {\"id\": 1, \"name\": \"b\"}, {\"id\": 2, \"name\": \"c\"}], \"annotations\": []}".to_owned()
            }),
            ("p.json", || {
                "[{\"image_id\": 1, \"category_id\": 1, \"bbox\": [10, 20, 30, 40], \"score\": 0.9}]".to_owned()
            }),
        ],
        run: "score coco -r t.json -p p.json",
        code: 0,
        says: &["no ground-truth object counts (there are none)"],
    },
    Trap {
        name: "Detections that all have the same score",
        before: "AP depended on the order of the file without a word.",
        now: "A warning says so.",
        files: &[
            ("t.json", || {
                "{\"images\": [{\"id\": 1, \"width\": 400, \"height\": 400}], \"categories\": [{\"id\": 0, \"name\": \"a\"}, {\"id\": 1, \"name\": \"b\"}, {\"id\": 2, \"name\": \"c\"}], \"annotations\": [{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"bbox\": [10, 20, 30, 40], \"area\": 1200, \"iscrowd\": 0}]}".to_owned()
            }),
            ("p.json", || {
                "[{\"image_id\": 1, \"category_id\": 1, \"bbox\": [200, 50, 30, 40], \"score\": 1.0}, {\"image_id\": 1, \"category_id\": 1, \"bbox\": [10, 20, 30, 40], \"score\": 1.0}]".to_owned()
            }),
        ],
        run: "score coco -r t.json -p p.json",
        code: 0,
        says: &["all detections of a class have the same score"],
    },
    Trap {
        name: "The field `ignore` in COCO ground truth",
        before: "It had no effect in files, and left objects out in records.",
        now: "Such objects are left out of the count everywhere, and a warning names `--quirks pycocotools`, which does not know the field.",
        files: &[
            ("t.json", || {
                "{\"images\": [{\"id\": 1, \"width\": 400, \"height\": 400}], \"categories\": [{\"id\": 0, \"name\": \"a\"}, {\"id\": 1, \"name\": \"b\"}, {\"id\": 2, \"name\": \"c\"}], \"annotations\": [{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"bbox\": [10, 20, 30, 40], \"area\": 1200, \"iscrowd\": 0}, {\"id\": 2, \"image_id\": 1, \"category_id\": 1, \"bbox\": [200, 50, 30, 40], \"area\": 1200, \"iscrowd\": 0, \"ignore\": 1}]}".to_owned()
            }),
            ("p.json", || {
                "[{\"image_id\": 1, \"category_id\": 1, \"bbox\": [10, 20, 30, 40], \"score\": 0.9}]".to_owned()
            }),
        ],
        run: "score coco -r t.json -p p.json",
        code: 0,
        says: &[
            "1 ground-truth object has ignore set",
            "--quirks pycocotools",
        ],
    },
    Trap {
        name: "`--missing error` for dataset files",
        before: "It was accepted and had no effect.",
        now: "A usage error says that the option is for records.",
        files: &[
            ("t.json", || {
                "{\"images\": [{\"id\": 1, \"width\": 400, \"height\": 400}], \"categories\": [{\"id\": 0, \"name\": \"a\"}, {\"id\": 1, \"name\": \"b\"}, {\"id\": 2, \"name\": \"c\"}], \"annotations\": [{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"bbox\": [10, 20, 30, 40], \"area\": 1200, \"iscrowd\": 0}]}".to_owned()
            }),
            ("p.json", || "[]".to_owned()),
        ],
        run: "score coco -r t.json -p p.json --missing error",
        code: 2,
        says: &["--missing goes with records"],
    },
    Trap {
        name: "VQA v2 answers that are equal objects",
        before: "A perfect answer scored 0 without a word.",
        now: "A warning counts such questions.",
        files: &[("t.jsonl", || vqa_answers("{\"answer\": \"red\"}", 10))],
        run: "score vqa --profile vqa-v2 --pairs t.jsonl",
        code: 0,
        says: &["1 question has answers that are equal objects"],
    },
    Trap {
        name: "Fewer than ten answers in VQA v2",
        before: "A perfect answer could score 0 without a word.",
        now: "A warning counts such questions.",
        files: &[("t.jsonl", || vqa_answers("\"red\"", 3))],
        run: "score vqa --profile vqa-v2 --pairs t.jsonl",
        code: 0,
        says: &["1 question has fewer than 10 answers"],
    },
    Trap {
        name: "A prediction that is a list of one string",
        before: "The error only said that it is not a string.",
        now: "The error says to write the string without brackets.",
        files: &[("t.jsonl", || {
            wer_records().replace("\"prediction\": \"a b\"", "\"prediction\": [\"a b\"]")
        })],
        run: "score exact-match --pairs t.jsonl",
        code: 3,
        says: &["found a list of one string: write the string without brackets"],
    },
    Trap {
        name: "`exact-match` with several references",
        before: "It was refused.",
        now: "Any of them is correct.",
        files: &[("t.jsonl", || {
            wer_records().replace("\"reference\": \"a b\"", "\"references\": [\"c\", \"a b\"]")
        })],
        run: "score exact-match --pairs t.jsonl --fail-under exact_match=1",
        code: 0,
        says: &[],
    },
    Trap {
        name: "A row with fewer labels than k",
        before: "It was refused, or a reference after its end counted as not found without a word.",
        now: "A warning counts such rows.",
        files: &[("t.jsonl", || {
            "{\"id\": 1, \"reference\": 2, \"prediction\": [1, 2]}\n".to_owned()
        })],
        run: "score accuracy-at-k --k 1,3 --pairs t.jsonl",
        code: 0,
        says: &["1 row has fewer than the 3 labels of --k"],
    },
    Trap {
        name: "`--ties optimistic` with constant scores",
        before: "Every reference came first without a word.",
        now: "A warning counts such rows.",
        files: &[("t.jsonl", || {
            "{\"id\": 1, \"reference\": 2, \"prediction\": [0.5, 0.5, 0.5]}\n".to_owned()
        })],
        run: "score accuracy-at-k --k 1 --input scores --ties optimistic --pairs t.jsonl",
        code: 0,
        says: &["1 row has the same score for all classes"],
    },
    Trap {
        name: "`--zero-division` and correlations",
        before: "Matthews correlation and kappa stayed undefined.",
        now: "The value replaces them, too.",
        files: &[("t.jsonl", || wer_records())],
        run: "score classification --zero-division 1 --pairs t.jsonl --fail-under matthews_correlation=1 --fail-under cohen_kappa=1",
        code: 0,
        says: &[],
    },
    Trap {
        name: "`lanes`: one clip against several",
        before: "The file that was named was the references, which were right.",
        now: "The file of the other shape is named.",
        files: &[
            ("r.json", || {
                "{\"a\": {\"0\": {\"attr_info\": {\"LaneType\": \"BusLane\"}, \"centerline\": [7]}}}".to_owned()
            }),
            ("p.json", || {
                "{\"0\": {\"attr_info\": {\"LaneType\": \"BusLane\"}, \"centerline\": [7]}}"
                    .to_owned()
            }),
        ],
        run: "score lanes -r r.json -p p.json",
        code: 3,
        says: &["p.json: found the values of one example"],
    },
    Trap {
        name: "Tens of thousands of boxes that all overlap",
        before: "`detection` took minutes.",
        now: "The rules that look for any overlap refuse more than 2^30 pairs that meet.",
        files: &[("t.jsonl", many_boxes)],
        run: "score detection --pairs t.jsonl",
        code: 5,
        says: &["id \"1\"", "too many pairs"],
    },
    Trap {
        name: "Quotes that are text in TSV",
        before: "Two rows were read as one without a word.",
        now: "A warning counts such records and names `--quote none`.",
        files: &[("t.tsv", || {
            "id\treference\tprediction\n1\t\"a\ta\n2\tb\"\tb\n3\tc\tc\n".to_owned()
        })],
        run: "score exact-match --pairs t.tsv",
        code: 0,
        says: &["1 row has a field in quotes", "--quote none"],
    },
    Trap {
        name: "Labels with and without decimals",
        before: "`3.0` and 3 were two classes without a word.",
        now: "A warning counts such numbers.",
        files: &[("t.csv", || {
            "id,reference,prediction\n1,3.0,3\n2,3.0,3\n".to_owned()
        })],
        run: "score classification --pairs t.csv",
        code: 0,
        says: &["1 number with and without decimals is several classes"],
    },
    Trap {
        name: "Integers in a list of labels, and the same label as a string",
        before: "The reference was never found, without a word.",
        now: "A warning counts such rows.",
        files: &[("t.jsonl", || {
            "{\"id\": 1, \"reference\": \"10\", \"prediction\": [10, 11]}\n".to_owned()
        })],
        run: "score mrr --pairs t.jsonl",
        code: 0,
        says: &["1 row has its reference as another label"],
    },
    Trap {
        name: "An ARC grid that is written as a string",
        before: "It counted as a miss, and the warning did not say why.",
        now: "A warning names such predictions.",
        files: &[("t.jsonl", || {
            "{\"id\": 1, \"reference\": [[5]], \"prediction\": \"[[5]]\"}\n".to_owned()
        })],
        run: "score arc --pairs t.jsonl",
        code: 0,
        says: &["1 prediction has a string where a grid is expected"],
    },
    Trap {
        name: "Samples of lm-evaluation-harness with two filters",
        before: "The error named the ids that occur twice, and no reason.",
        now: "The error names the field in which their records differ.",
        files: &[("t.jsonl", || {
            let record = |filter| {
                format!(
                    "{{\"id\": 1, \"reference\": \"a\", \"prediction\": \"a\", \"filter\": \"{filter}\"}}\n"
                )
            };
            record("strict") + &record("flexible")
        })],
        run: "score exact-match --pairs t.jsonl",
        code: 3,
        says: &["records of the same id differ in the field \"filter\""],
    },
    Trap {
        name: "JSON Lines in a file named `.json`",
        before: "The error spoke of trailing characters.",
        now: "The error names `--input-format jsonl`.",
        files: &[("t.json", || {
            wer_records() + &wer_records().replace('1', "2")
        })],
        run: "score wer --pairs t.json",
        code: 3,
        says: &["--input-format jsonl"],
    },
    Trap {
        name: "Intervals from few records under a profile in which 0/0 is 0",
        before: "A resample that drew nothing had a perfect error rate: five equal records had the interval [0, 0.5].",
        now: "Nothing has no score, and a warning says that there is no interval.",
        files: &[("p.jsonl", five_equal_records)],
        run: "score wer --pairs p.jsonl --confidence 0.95",
        code: 0,
        says: &["all resamples have the same score"],
    },
    Trap {
        name: "Folders with one text per page, a page of which has a line too few",
        before: "The lines of all pages were joined in order, so that each line after it was compared with another one.",
        now: "Pages are joined by file name, and the run ends at the page.",
        files: &[
            ("r/a.txt", || "one\ntwo\nthree\n".to_owned()),
            ("r/b.txt", || "four\n".to_owned()),
            ("p/a.txt", || "one\nthree\n".to_owned()),
            ("p/b.txt", || "four\nfour\n".to_owned()),
        ],
        run: "score cer -r r -p p",
        code: 3,
        says: &["p/a.txt: has 2 lines: expected 3, as in r/a.txt"],
    },
    Trap {
        name: "Tabs and no-break spaces between words",
        before: "jiwer's rule keeps them within a word, and nothing said so.",
        now: "A warning counts such words and names `--normalize whitespace`.",
        files: &[("t.jsonl", || {
            "{\"id\": 1, \"reference\": \"red\\tgreen\", \"prediction\": \"red green\"}\n"
                .to_owned()
        })],
        run: "score wer --pairs t.jsonl",
        code: 0,
        says: &[
            "warning: 1 word has white space inside",
            "--normalize whitespace",
        ],
    },
    Trap {
        name: "Composed against decomposed letters",
        before: "Texts that look the same counted as different without a word.",
        now: "A warning counts them and names `--normalize nfc`.",
        files: &[("t.jsonl", || {
            "{\"id\": 1, \"reference\": \"café\", \"prediction\": \"cafe\u{301}\"}\n".to_owned()
        })],
        run: "score string-accuracy --pairs t.jsonl",
        code: 0,
        says: &["warning: 1 prediction has words", "--normalize nfc"],
    },
    Trap {
        name: "Patterns of Python that take exponential time",
        before: "Patterns were matched with the rules of another dialect.",
        now: "They match as in Python, and one that takes too long is refused.",
        files: &[("t.jsonl", || {
            format!(
                "{{\"id\": 1, \"reference\": \"x\", \"prediction\": \"{}b\"}}\n",
                "a".repeat(50)
            )
        })],
        run: "score exact-match --pairs t.jsonl --regexes-to-ignore (a|a)*$",
        code: 5,
        says: &["id \"1\"", "more than 20 million steps"],
    },
    Trap {
        name: "Copies of short code under `--profile paper`",
        before: "A copy of one word scored 0.18, as it has no n-grams of two words and more.",
        now: "Such orders are left out, and a warning says so.",
        files: &[("t.jsonl", || {
            "{\"id\": 1, \"reference\": \"pass\", \"prediction\": \"pass\"}\n".to_owned()
        })],
        run: "score codebleu --lang python --profile paper --pairs t.jsonl --fail-under ngram_match=1",
        code: 0,
        says: &["no prediction has 2 words"],
    },
];
