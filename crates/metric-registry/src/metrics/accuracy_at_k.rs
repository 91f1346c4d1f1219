//! Accuracy@k: the reference among the first labels.

use metric_class::TopK;

use crate::metrics::ranks::{self, INPUT, ranked};
use crate::options::{counting, split_list};
use crate::shapes::ranked::RankScore;
use crate::shapes::scores::INFINITE;
use crate::{Chart, Demo, Entry, OptionError, OptionKind, OptionSpec, ScoreSpec, Shape};

pub(crate) const ACCURACY_AT_K: Entry = Entry {
    name: "accuracy-at-k",
    question: "Is the reference among the first k labels?",
    programs: "scikit-learn",
    shapes: &[
        Shape::RankedLabels.as_is(),
        Shape::ClassScores.with(&[("input", "scores")]),
    ],
    tried: &[
        &[("k", "1,2")],
        &[("k", "1,3"), ("ties", "expected")],
        &[("average", "macro"), ("ignore-index", "2")],
        &[("weight-field", "weight"), ("ties", "optimistic")],
    ],
    help: "Share of examples whose reference is among the first k predicted labels",
    values: (
        "a label, an integer or a string; with --input scores, the index of a score, counted from 0",
        "a list of labels, the most likely first; with --input scores, a list of numbers, one per class",
    ),
    known_as: &[(
        &[
            "top-k",
            "topk",
            "top-1",
            "top1",
            "top-5",
            "top5",
            "hit-rate",
            "hits-at-k",
        ],
        "it is accuracy-at-k, with --k 1,5",
    )],
    demos: &[
        Demo::new(
            "ranked labels",
            ["labels.jsonl", "ranked-labels.jsonl"],
            &["accuracy@1", "accuracy@5"],
        )
        .with(&[("k", "1,5")]),
        Demo::new(
            "class scores",
            ["digits.jsonl", "digit-scores.jsonl"],
            &["accuracy@1", "accuracy@5"],
        )
        .with(&[("input", "scores"), ("k", "1,5")]),
    ],
    options: &ranks::options(OptionSpec::list(
        "k",
        "K,...",
        &OptionKind::Integer(1, i64::MAX),
        "Number of first labels that count, or several such numbers [default: 1 and the length of the rows, or with scores 1 and 5]",
    )),
    scores: &[ScoreSpec::higher("accuracy@")
        .by("K")
        .proportion("hits@", "total")],
    details: true,
    charts: &[Chart::Ranks],
    allows_infinite: |options| options.has(INFINITE.name),
    build: &|options| {
        let ks = match options.get("k") {
            None if options.is(INPUT.name, "scores") => vec![1, 5],
            None => Vec::new(),
            Some(text) => numbers(&text).map_err(|reason| OptionError::new("k", &text, reason))?,
        };
        let score = RankScore {
            ks,
            names: |k| ["accuracy", "hits"].map(|name| format!("{name}@{k}")),
            of_labels: |ranks, k| ranks.accuracy_at(k).value(),
            of_scores: TopK::accuracy_at,
            is_one_of_all: true,
        };
        ranked("accuracy-at-k", options, score)
    },
    ..Entry::BASE
};

fn numbers(text: &str) -> Result<Vec<usize>, String> {
    let mut numbers = Vec::new();
    for part in split_list(text)? {
        let k = counting(&part, usize::MAX).map_err(|reason| {
            if part == text {
                reason
            } else {
                format!("found {part:?}, {reason}")
            }
        })?;
        numbers.push(k.get());
    }
    // Equal signatures print the same.
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}
