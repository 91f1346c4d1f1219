//! `bench --peers`: ours and other programs in turn, on the same inputs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::inputs::{FOLDER, Input};
use super::report::{digits, seconds};
use super::timing::{self, Cost, Settings, version};
use xtask_common::{Error, cargo, markdown, print, printed, root, table, target};

/// A comparison of one of our commands with tools that do the same.
struct Comparison {
    name: &'static str,
    /// The computation, and its input.
    about: &'static str,
    input: Input,
    ours: Ours,
    peers: &'static [Peer],
    /// The numbers that must agree, by the name that `metric` prints. Empty where none are comparable.
    agree: &'static [&'static str],
    /// By how much they may differ.
    tolerance: f64,
    threads: &'static [usize],
}

/// The command on our side.
enum Ours {
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
struct Peer {
    /// Its package, with its requirements in `benches/peers/requirements`; `python` has none.
    package: &'static str,
    /// A script in `benches/peers` and its arguments; `{root}` is the folder of the workspace.
    script: &'static str,
    /// Whether it can use several threads; else it runs on one thread only.
    parallel: bool,
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
const COMPARISONS: &[Comparison] = &[
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
        "python/exact_match/1M",
        "share of equal texts of Arrow arrays of a million; the peer compares them and takes the mean",
        Input::strings(1_000_000, 36),
        "exact_match",
        &[peer("pyarrow", "calls.py pyarrow exact_match {root}")],
        &["exact_match"],
    ),
];

/// Metrics with no peer to run, and why.
const ALONE: &[(&str, &str)] = &[(
    "lanes (MapDR)",
    "its evaluation program has not been published",
)];

/// A peer that took so long, all runs together, does not run again.
const PATIENCE: f64 = 60.0;

/// Which packages can run, and at which version.
struct Environment {
    /// The version of `metric`.
    ours: String,
    python: PathBuf,
    packages: BTreeMap<&'static str, Result<String, String>>,
}

impl Environment {
    /// Installs the packages, each by itself.
    fn new(ours: String, folder: &Path, packages: &[&'static str]) -> Self {
        let venv = folder.join("venv");
        let python = venv.join("bin/python");
        let made = make_venv("python3", &venv);
        if let Err(error) = &made {
            eprintln!("  no peer can be installed: {error}");
        }
        let packages = packages.iter().map(|&package| {
            if made.is_err() {
                return (package, Err("no environment of Python".to_owned()));
            }
            let version = install(&python, &venv, package);
            if let Err(error) = &version {
                eprintln!("  {package} cannot be installed: {error}");
            }
            (package, version)
        });
        Self {
            ours,
            packages: packages.collect(),
            python,
        }
    }
}

/// Makes the environment of the peers with this Python, unless it exists.
fn make_venv(python: &str, venv: &Path) -> Result<(), String> {
    // Pip comes last; without it an environment is not whole.
    if ["bin/python", "bin/pip"]
        .iter()
        .all(|file| venv.join(file).is_file())
    {
        return Ok(());
    }
    // The rest of another environment would suggest that packages are installed that are not.
    let remove = || match std::fs::remove_dir_all(venv) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", venv.display()))
        }
        _ => Ok(()),
    };
    remove()?;
    quietly(python, &["-m", "venv", &venv.to_string_lossy()]).or_else(|error| {
        remove()?;
        Err(error)
    })
}

impl Environment {
    /// Adds the files of an input that a package writes, unless they exist.
    fn add_formats(&self, input: &Input, data: &Path) -> Result<(), String> {
        let Some([script, _, last]) = input.other_formats() else {
            return Ok(());
        };
        if data.join(last).is_file() {
            return Ok(());
        }
        let script = root().join("benches/peers").join(script);
        let script = script.to_string_lossy().into_owned();
        let words = script.split(' ');
        let output = Command::new(&self.python)
            .args(words)
            .current_dir(data)
            .output()
            .map_err(|error| format!("cannot run {}: {error}", self.python.display()))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(timing::message(&String::from_utf8_lossy(&output.stderr)).to_owned())
        }
    }
}

/// Runs a program without its output. The error is its message; where it has none, all that it
/// prints, as Python does where a part of `venv` is missing.
fn quietly(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run {program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let [printed, said] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let printed = Vec::from_iter(printed.split_whitespace()).join(" ");
    Err(match (said.trim(), printed.as_str()) {
        ("", "") => format!("{program}: {}", output.status),
        ("", printed) => printed.to_owned(),
        _ => timing::message(&said).to_owned(),
    })
}

/// Installs a package as its requirements say, unless it is; gives its version.
fn install(python: &Path, venv: &Path, package: &str) -> Result<String, String> {
    let python = python.to_string_lossy();
    if package == "python" {
        let version = printed(&python, &["--version"])?;
        return Ok(version.trim().trim_start_matches("Python ").to_owned());
    }
    let path = root().join(format!("benches/peers/requirements/{package}.txt"));
    let context = |error: std::io::Error| format!("{}: {error}", path.display());
    let wanted = std::fs::read_to_string(&path).map_err(context)?;
    let version = requirements(&wanted)
        .into_iter()
        .find_map(|(name, version)| (name == package).then(|| version.to_owned()))
        .ok_or_else(|| format!("{}: expected {package}==VERSION", path.display()))?;
    // The list of installed packages is next to it, so that a second run asks no registry.
    let stamp = venv.join(format!("{package}.installed"));
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(version);
    }
    eprintln!("  installing {package} {version}");
    let file = path.to_string_lossy();
    // All that it needs is in the file, at a version that is known to work with the rest.
    let words = ["-m", "pip", "install", "--quiet", "--no-deps", "-r", &file];
    quietly(&python, &words)?;
    std::fs::write(&stamp, wanted).map_err(context)?;
    Ok(version)
}

/// Names and versions in a file of requirements.
fn requirements(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .filter_map(|line| line.split('#').next()?.trim().split_once("=="))
        .collect()
}

/// A program's runs of one comparison on as many threads.
struct Runs {
    /// Ours, or the name of the package.
    program: String,
    version: String,
    /// Whether it can run.
    installed: bool,
    costs: Vec<Cost>,
    /// The last line that it printed, or why it did not.
    result: Result<Value, String>,
}

/// One comparison on one number of threads: ours first.
struct Outcome {
    name: &'static str,
    threads: usize,
    /// The time that a plain read of the files takes, in seconds; `None` for what runs in memory.
    read: Option<f64>,
    runs: Vec<Runs>,
    /// For each peer, the greatest difference of a number, or what differs; `None` if one did not
    /// run.
    agreement: Vec<Option<Result<f64, String>>>,
}

#[expect(
    clippy::too_many_lines,
    reason = "the steps of the command, in their order"
)]
pub(crate) fn run(filter: &str, settings: &Settings) -> Result<(), Error> {
    let chosen: Vec<_> = COMPARISONS
        .iter()
        .filter(|comparison| comparison.name.contains(filter))
        .collect();
    if chosen.is_empty() {
        let names: Vec<_> = COMPARISONS
            .iter()
            .map(|comparison| comparison.name)
            .collect();
        let names = names.join(", ");
        return Err(Error::Usage(format!(
            "{filter}: no comparison; there are: {names}"
        )));
    }
    let metric = settings.metric()?;
    let target = target()?;
    let memory = target.join("release/examples/memory");
    if chosen
        .iter()
        .any(|comparison| matches!(comparison.ours, Ours::Memory(_)))
    {
        cargo(
            &["build", "--release", "-p", "benches", "--example", "memory"],
            &[],
        )?;
    }
    if chosen
        .iter()
        .any(|comparison| matches!(comparison.ours, Ours::Python(_)))
    {
        cargo(&["xtask", "python", "--build"], &[])?;
    }
    let folder = target.join("peers");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut packages = vec!["python"];
    for peer in chosen.iter().flat_map(|comparison| comparison.peers) {
        if !packages.contains(&peer.package) {
            packages.push(peer.package);
        }
    }
    for [_, package, _] in chosen.iter().filter_map(|it| it.input.other_formats()) {
        if !packages.contains(&package) {
            packages.push(package);
        }
    }
    let environment = Environment::new(version(&metric)?, &folder, &packages);
    let mut outcomes = Vec::new();
    for comparison in &chosen {
        let size = settings.size(comparison.input.size);
        let data = comparison
            .input
            .with_size(size)
            .folder(&folder.join(FOLDER))?;
        environment.add_formats(&comparison.input, &data)?;
        for &threads in comparison.threads {
            eprintln!("  {} on {threads}", comparison.name);
            let program = match comparison.ours {
                Ours::Files(_) | Ours::Compare(_) => &metric,
                Ours::Memory(_) => &memory,
                Ours::Python(_) => &environment.python,
            };
            let read = match comparison.ours {
                Ours::Files(words) | Ours::Compare(words) => {
                    Some(timing::plain_read(words, &data)?)
                }
                Ours::Memory(_) | Ours::Python(_) => None,
            };
            let outcome = comparison.time(&environment, program, &data, threads, settings.rounds());
            outcomes.push(Outcome { read, ..outcome });
        }
    }
    let text = Report {
        chosen: &chosen,
        outcomes: &outcomes,
        environment: &environment,
        settings,
    };
    print(&table(HEADER, &text.rows()));
    for line in text.remarks() {
        print(&format!("{line}\n"));
    }
    let committed = root().join("benches/RESULTS.md");
    let whole = filter.is_empty() && !settings.quick;
    let complete = outcomes.iter().all(Outcome::is_complete);
    let path = position(&committed, &folder, whole, complete);
    std::fs::write(&path, text.markdown()?)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    eprintln!("Written to {}", path.display());
    if whole && path != committed {
        let committed = committed.display();
        eprintln!("{committed} stays as it is: a peer did not run");
    }
    let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.failed()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = failed.iter().map(|outcome| outcome.name).collect();
    Err(Error::Failed(format!(
        "a program failed, or numbers disagree: {}",
        names.join(", ")
    )))
}

/// Where the table goes. Part of it, or that of small inputs, does not take the place of the whole,
/// nor does one without some peer unless there is none.
fn position(committed: &Path, folder: &Path, whole: bool, complete: bool) -> PathBuf {
    if whole && (complete || !committed.exists()) {
        committed.to_owned()
    } else {
        folder.join("RESULTS.md")
    }
}

impl Comparison {
    /// Runs ours and each peer in turn, as often as asked.
    fn time(
        &self,
        environment: &Environment,
        program: &Path,
        data: &Path,
        threads: usize,
        rounds: usize,
    ) -> Outcome {
        let scripts = root().join("benches/peers");
        let ours = match self.ours {
            Ours::Files(words) => {
                format!("score {words} --format json --quiet --threads {threads}")
            }
            Ours::Compare(words) => {
                format!("compare {words} --format json --quiet --threads {threads}")
            }
            Ours::Memory(word) => word.to_owned(),
            Ours::Python(call) => format!(
                "{}/calls.py metric_suite {call} {}",
                scripts.display(),
                root().display()
            ),
        };
        let mut commands = vec![(program.to_owned(), ours)];
        let program = match self.ours {
            Ours::Python(_) => "metric_suite",
            _ => "metric",
        };
        let mut runs = vec![Runs::new(program, &environment.ours)];
        for peer in self.peers {
            if threads > 1 && !peer.parallel {
                continue;
            }
            let version = environment.packages.get(peer.package);
            let version = version
                .cloned()
                .unwrap_or_else(|| Err("unknown".to_owned()));
            let script = peer.script.replace("{root}", &root().to_string_lossy());
            let script = format!("{}/{script}", scripts.display());
            commands.push((environment.python.clone(), script));
            runs.push(match version {
                Ok(version) => Runs::new(peer.package, &version),
                Err(error) => Runs::not_installed(peer.package, &error),
            });
        }
        for round in 0..rounds {
            for (run, (program, words)) in runs.iter_mut().zip(&commands) {
                let spent: f64 = run.costs.iter().map(|cost| cost.wall).sum();
                if !run.installed || (round > 0 && run.result.is_err()) || spent > PATIENCE {
                    continue;
                }
                let result = timing::run(program, words.split(' '), data, threads);
                run.result = result.map(|(cost, result)| {
                    run.costs.push(cost);
                    result
                });
            }
        }
        let agreement = self.agreements(&runs);
        Outcome {
            name: self.name,
            threads,
            read: None,
            runs,
            agreement,
        }
    }

    fn agreements(&self, runs: &[Runs]) -> Vec<Option<Result<f64, String>>> {
        let Some((ours, peers)) = runs.split_first() else {
            return Vec::new();
        };
        let agree = |peer: &Runs| {
            let (ours, theirs) = (ours.result.as_ref().ok()?, peer.result.as_ref().ok()?);
            if self.agree.is_empty() {
                return None;
            }
            Some(agreement(ours, theirs, self.agree, self.tolerance))
        };
        peers.iter().map(agree).collect()
    }
}

/// The greatest difference of the named numbers, or the first that differs by more than the
/// tolerance.
fn agreement(ours: &Value, theirs: &Value, names: &[&str], tolerance: f64) -> Result<f64, String> {
    let mut greatest = 0.0_f64;
    for name in names {
        let positions = ["numbers", "scores", "counts"];
        let find = |result: &Value| {
            let found = positions
                .iter()
                .find_map(|position| result[position].get(name).cloned());
            found.ok_or_else(|| format!("{name} is missing"))
        };
        let (ours, theirs) = (find(ours)?, find(theirs)?);
        let difference = match (ours.as_f64(), theirs.as_f64()) {
            (Some(ours), Some(theirs)) => (ours - theirs).abs(),
            (None, None) => 0.0,
            _ => f64::INFINITY,
        };
        // A difference that is not a number is not allowed.
        if difference.is_nan() || difference > tolerance {
            return Err(format!("{name}: {ours} and {theirs}"));
        }
        greatest = greatest.max(difference);
    }
    Ok(greatest)
}

impl Runs {
    fn new(program: &str, version: &str) -> Self {
        Self {
            program: program.to_owned(),
            version: version.to_owned(),
            installed: true,
            costs: Vec::new(),
            result: Err("no rounds".to_owned()),
        }
    }

    fn not_installed(program: &str, why: &str) -> Self {
        Self {
            installed: false,
            result: Err(format!("not installed: {why}")),
            ..Self::new(program, "-")
        }
    }
}

impl Outcome {
    /// Whether an installed program failed, or numbers disagree.
    fn failed(&self) -> bool {
        let crashed = |runs: &Runs| runs.installed && runs.result.is_err();
        self.runs.iter().any(crashed) || self.agreement.iter().flatten().any(Result::is_err)
    }

    /// Whether all programs ran.
    fn is_complete(&self) -> bool {
        self.runs.iter().all(|runs| runs.result.is_ok())
    }
}

const HEADER: &[&str] = &[
    "comparison",
    "threads",
    "program",
    "runs",
    "wall",
    "CPU",
    "read",
    "peak",
    "x wall",
    "x CPU",
    "x peak",
    "agrees",
];

/// The results, for people.
struct Report<'a> {
    chosen: &'a [&'static Comparison],
    outcomes: &'a [Outcome],
    environment: &'a Environment,
    settings: &'a Settings,
}

impl Report<'_> {
    /// A row for ours and one for each peer that ran.
    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for outcome in self.outcomes {
            let ours = outcome
                .runs
                .first()
                .and_then(|runs| Cost::median(&runs.costs));
            for (position, runs) in outcome.runs.iter().enumerate() {
                let Some(cost) = Cost::median(&runs.costs) else {
                    continue;
                };
                let mut row = vec![
                    outcome.name.to_owned(),
                    outcome.threads.to_string(),
                    format!("{} {}", runs.program, runs.version),
                    runs.costs.len().to_string(),
                    seconds(cost.wall),
                    seconds(cost.cpu),
                    // The limit of our side; what a peer reads, and when, is its own affair.
                    match outcome.read {
                        Some(read) if position == 0 => seconds(read),
                        _ => String::new(),
                    },
                    format!("{:.0} MB", cost.peak / 1e6),
                ];
                let agreement = position
                    .checked_sub(1)
                    .and_then(|peer| outcome.agreement.get(peer));
                if let (Some(ours), Some(agreement)) = (ours, agreement) {
                    for (theirs, ours) in Cost::pairs(cost, ours) {
                        row.push(digits(theirs / ours));
                    }
                    row.push(match agreement {
                        Some(Ok(difference)) if *difference == 0.0 => "equal".to_owned(),
                        Some(Ok(difference)) => format!("to {difference:.0e}"),
                        Some(Err(_)) => "NO".to_owned(),
                        None => String::new(),
                    });
                } else {
                    row.resize(HEADER.len(), String::new());
                }
                rows.push(row);
            }
        }
        rows
    }

    /// The results that do not agree, the runs that failed, and the cases in which a peer needs
    /// less.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for outcome in self.outcomes {
            let at = format!("{} on {}", outcome.name, outcome.threads);
            for runs in &outcome.runs {
                if let Err(error) = &runs.result {
                    remarks.push(format!("{at}: {} did not run: {error}", runs.program));
                }
            }
            let Some((ours, peers)) = outcome.runs.split_first() else {
                continue;
            };
            for (peer, agreement) in peers.iter().zip(&outcome.agreement) {
                if let Some(Err(error)) = agreement {
                    remarks.push(format!("{at}: ours and {} disagree: {error}", peer.program));
                }
                let (Some(ours), Some(theirs)) =
                    (Cost::median(&ours.costs), Cost::median(&peer.costs))
                else {
                    continue;
                };
                for ((theirs, ours), what) in Cost::pairs(theirs, ours)
                    .into_iter()
                    .zip(["time", "CPU time", "memory"])
                {
                    // A difference of 3% does not count.
                    if theirs < 0.97 * ours {
                        let share = digits(theirs / ours);
                        let peer = &peer.program;
                        remarks.push(format!(
                            "{at}: {peer} needs less {what} than ours: x {share}"
                        ));
                    }
                }
            }
        }
        remarks
    }

    /// `RESULTS.md`.
    fn markdown(&self) -> Result<String, String> {
        let versions: Vec<_> = self
            .environment
            .packages
            .iter()
            .map(|(package, version)| match version {
                Ok(version) => format!("{package} {version}"),
                Err(_) => format!("{package} (not installed)"),
            })
            .collect();
        let mut text = format!(
            "# Compared with other tools\n\n\
             Written by `cargo xtask bench --peers`{}; do not edit.\n\n\
             {}- Peers: {}\n\n\
             Ours and each peer run in turn on the same files, up to {} times each; the figures are \
             medians. Ours is the program from its start to its end; of a peer the start of Python \
             and the imports do not count in the times. What runs in memory is one call on both \
             sides. Peak memory is that of the whole process; below the 5 MB or so of the small \
             process that starts it nothing is seen. `read` is the limit of the machine: a plain read \
             of the files on one thread, into memory that is used again. `x` is the peer's figure over ours: above 1 \
             ours needs less. `agrees` is the greatest difference of the numbers that both \
             print.\n\n",
            if self.settings.quick {
                " --quick, on inputs of a hundredth of the size"
            } else {
                ""
            },
            self.settings.origin(&self.environment.ours)?,
            versions.join(", "),
            self.settings.rounds(),
        );
        text.push_str(&markdown(HEADER, &self.rows()));
        text.push_str("\n\n## What is compared\n\n");
        for comparison in self.chosen {
            let size = self.settings.size(comparison.input.size);
            let command = match comparison.ours {
                Ours::Files(words) => format!("`metric score {words}`"),
                Ours::Compare(words) => format!("`metric compare {words}`"),
                Ours::Memory(_) => "the crate, in memory".to_owned(),
                Ours::Python(_) => "the Python package, in memory".to_owned(),
            };
            let _ = writeln!(
                text,
                "- `{}`: {}. Input {} of size {size} x {}; {command}.",
                comparison.name, comparison.about, comparison.input.name, comparison.input.width
            );
        }
        let remarks = self.remarks();
        text.push_str("\n## Where a peer needs less, or did not run\n\n");
        if remarks.is_empty() {
            text.push_str("Nowhere.\n");
        }
        for remark in remarks {
            let _ = writeln!(text, "- {remark}");
        }
        text.push_str("\n## Without a peer\n\n");
        for (what, why) in ALONE {
            let _ = writeln!(text, "- {what}: {why}.");
        }
        Ok(text)
    }
}

impl Cost {
    /// Wall, CPU and memory of two costs.
    fn pairs(one: Self, other: Self) -> [(f64, f64); 3] {
        [
            (one.wall, other.wall),
            (one.cpu, other.cpu),
            (one.peak, other.peak),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_agree_within_the_tolerance() {
        let ours = json!({"scores": {"ap": 0.5, "none": null}, "counts": {"hits": 3}});
        let peer = |ap: f64| json!({"numbers": {"ap": ap, "none": null, "hits": 3.0}});
        let names = ["ap", "none", "hits"];
        assert_eq!(agreement(&ours, &peer(0.5), &names, 0.0), Ok(0.0));
        assert_eq!(agreement(&ours, &peer(0.75), &names, 0.3), Ok(0.25));
        assert_eq!(
            agreement(&ours, &peer(0.75), &names, 0.1),
            Err("ap: 0.5 and 0.75".to_owned())
        );
        assert_eq!(
            agreement(&ours, &peer(0.5), &["ar"], 0.1),
            Err("ar is missing".to_owned())
        );
        let undefined = json!({"numbers": {"ap": null}});
        assert!(agreement(&ours, &undefined, &["ap"], 1.0).is_err());
    }

    #[test]
    fn a_peer_may_be_missing_but_not_fail() {
        let ran = || Runs {
            result: Ok(json!({})),
            ..Runs::new("metric", "1")
        };
        let missing = || Runs::not_installed("numpy", "no network");
        // A run that never succeeded.
        let crashed = || Runs::new("numpy", "2");
        for (peer, failed, complete) in [
            (ran(), false, true),
            (missing(), false, false),
            (crashed(), true, false),
        ] {
            let outcome = Outcome {
                name: "grid/arc",
                threads: 1,
                read: None,
                runs: vec![ran(), peer],
                agreement: Vec::new(),
            };
            assert_eq!(outcome.failed(), failed);
            assert_eq!(outcome.is_complete(), complete);
        }
    }

    #[test]
    fn a_table_takes_the_place_of_no_fuller_one() {
        let folder = Path::new("peers");
        let there = root().join("Cargo.toml");
        let new = root().join("no such file");
        let aside = folder.join("RESULTS.md");
        for (committed, whole, complete, expected) in [
            (&there, true, true, &there),
            (&there, true, false, &aside),
            (&new, true, false, &new),
            (&there, false, true, &aside),
            (&new, false, true, &aside),
        ] {
            assert_eq!(&position(committed, folder, whole, complete), expected);
        }
    }

    #[test]
    fn an_environment_is_whole_or_not_there() -> Result<(), Box<dyn std::error::Error>> {
        let venv = std::env::temp_dir().join(format!("xtask-venv-{}", std::process::id()));
        let stamp = venv.join("numpy.installed");
        // Python is installed, pip is not.
        let broken = || {
            std::fs::create_dir_all(venv.join("bin"))?;
            std::fs::write(venv.join("bin/python"), "")?;
            std::fs::write(&stamp, "numpy==1")
        };
        broken()?;
        let error = make_venv("false", &venv).err().unwrap_or_default();
        assert!(error.starts_with("false: exit status"), "{error}");
        assert!(!venv.exists());
        broken()?;
        assert_eq!(make_venv("true", &venv), Ok(()));
        assert!(!stamp.exists());
        broken()?;
        std::fs::write(venv.join("bin/pip"), "")?;
        assert_eq!(make_venv("false", &venv), Ok(()));
        assert!(stamp.exists());
        std::fs::remove_dir_all(venv)?;
        Ok(())
    }

    #[test]
    fn the_message_may_be_on_either_stream() {
        for (script, message) in [
            ("echo why; echo not; exit 1", "why not"),
            ("echo why; echo 'error: this' >&2; exit 1", "error: this"),
            ("exit 3", "sh: exit status: 3"),
        ] {
            assert_eq!(quietly("sh", &["-c", script]), Err(message.to_owned()));
        }
    }

    #[test]
    fn requirements_are_exact_and_one() -> Result<(), Box<dyn std::error::Error>> {
        let text = "# a comment\nnumpy==2.4.6\nscipy==1.17.1 # another\n\n";
        assert_eq!(
            requirements(text),
            [("numpy", "2.4.6"), ("scipy", "1.17.1")]
        );
        // All are installed in one environment: a package has one version in all files.
        let mut versions = BTreeMap::new();
        let mut packages = Vec::new();
        for entry in std::fs::read_dir(root().join("benches/peers/requirements"))? {
            let path = entry?.path();
            let text = std::fs::read_to_string(&path)?;
            let lines = text
                .lines()
                .filter(|line| !line.trim_start().starts_with('#'));
            let named = requirements(&text);
            assert_eq!(
                lines.filter(|line| !line.is_empty()).count(),
                named.len(),
                "{path:?}"
            );
            let package = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .unwrap_or_default();
            assert!(named.iter().any(|(name, _)| *name == package), "{path:?}");
            packages.push(package.to_owned());
            for (name, version) in named {
                let first = versions
                    .entry(name.to_owned())
                    .or_insert(version.to_owned());
                assert_eq!(first, version, "{name} in {path:?}");
            }
        }
        for peer in COMPARISONS.iter().flat_map(|comparison| comparison.peers) {
            let known = packages.iter().any(|package| package == peer.package);
            assert!(known || peer.package == "python", "{}", peer.package);
            let script = peer.script.split(' ').next().unwrap_or_default();
            assert!(
                root().join("benches/peers").join(script).is_file(),
                "{script}"
            );
        }
        Ok(())
    }

    #[test]
    fn names_stand_once() {
        let mut names: Vec<_> = COMPARISONS
            .iter()
            .map(|comparison| comparison.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMPARISONS.len());
    }
}
