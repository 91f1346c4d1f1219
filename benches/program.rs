//! The program from files to the score, on one thread, with its start and end.
//!
//! - `program/string_accuracy/1M_lines`: two JSON Lines files of a million lines in the same order,
//!   with the check for ids that occur twice. Target: 350 MB/s. serde_json reads borrowed records
//!   of JSON Lines at 322 MB/s where the peers' figures were taken, without any join.
//! - `program/lanes/10k_clips`: labels and predictions of 10,000 clips with optimal alignment.
//!   Target: 0.15 s; a Python port of the metric takes 0.60 s.
//! - `program/arc/400_tasks`: solutions and a submission as large as the evaluation set of ARC-AGI-1,
//!   419 outputs with two attempts each, 0.8 MB. Target: 20 ms, most of it to start and end.
//! - `program/vqa_v2/200k_questions`: VQA v2's annotation and results files, ten answers a question.
//!   Target: 1.0 s; the official program takes 24.2 s.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};

/// Runs `metric score` with these words and gives its result.
fn score(folder: &Path, words: &str, [references, predictions]: [&str; 2]) -> Value {
    let output = Command::new(metric())
        .arg("score")
        .args(words.split_whitespace())
        .args(["--references", references, "--predictions", predictions])
        .args(["--threads", "1", "--format", "json"])
        .current_dir(folder)
        .output()
        .expect("the program runs");
    serde_json::from_slice(&output.stdout).expect("a result")
}

/// The program that `cargo build --release -p metric-cli` builds, next to the folder of this benchmark.
fn metric() -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let program = own.ancestors().nth(2).expect("a folder").join("metric");
    assert!(
        program.is_file(),
        "run `cargo build --release -p metric-cli` first"
    );
    program
}

const LINES: [&str; 2] = ["r.jsonl", "p.jsonl"];

/// Times the program on two files; the throughput counts the bytes of both.
fn program(
    criterion: &mut Criterion,
    id: &str,
    words: &str,
    names: [&str; 2],
    (references, predictions): (&str, &str),
    counts: &Value,
) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in names.into_iter().zip([references, predictions]) {
        std::fs::write(folder.path().join(name), text).expect("a written file");
    }
    let (group, id) = id.rsplit_once('/').expect("a path");
    let mut group = criterion.benchmark_group(group);
    group.sample_size(10);
    group.throughput(Throughput::Bytes(
        (references.len() + predictions.len()) as u64,
    ));
    group.bench_function(id, |bencher| {
        bencher.iter(|| {
            let result = score(folder.path(), words, names);
            for (name, count) in counts.as_object().expect("counts") {
                assert_eq!(&result["counts"][name], count);
            }
        });
    });
    group.finish();
}

/// A fixed stream of numbers below `bound`.
fn numbers() -> impl FnMut(u64) -> u64 {
    let mut state = 1_u64;
    move |bound| {
        // Knuth's MMIX generator; its upper bits are good enough to pick words.
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % bound
    }
}

fn string_accuracy(criterion: &mut Criterion) {
    let words = [
        "become",
        "дисковод",
        "and",
        "presto",
        "ёлка",
        "Rolly",
        "sings",
        "уверенность",
    ];
    let mut pick = numbers();
    let (mut references, mut predictions) = (String::new(), String::new());
    let mut correct = 0;
    for id in 0..1_000_000 {
        let text: Vec<&str> = (0..4).map(|_| words[pick(8) as usize]).collect();
        let text = text.join(" ");
        let wrong = pick(5) == 0;
        correct += u64::from(!wrong);
        let mark = if wrong { "?" } else { "" };
        let _ = writeln!(
            references,
            "{{\"id\": \"line-{id}\", \"reference\": \"{text}\"}}"
        );
        let _ = writeln!(
            predictions,
            "{{\"id\": \"line-{id}\", \"prediction\": \"{text}{mark}\"}}"
        );
    }
    let counts = json!({"correct": correct, "total": 1_000_000});
    program(
        criterion,
        "program/string_accuracy/1M_lines",
        "string-accuracy",
        LINES,
        (&references, &predictions),
        &counts,
    );
}

/// Clips of MapDR's shape; each prediction is its label with one lane more in every fourth rule.
fn lanes(criterion: &mut Criterion) {
    let kinds = [
        "DirectionLane",
        "BusLane",
        "SpeedLimitedLane",
        "EmergencyLane",
    ];
    let mut pick = numbers();
    let (mut references, mut predictions) = (String::new(), String::new());
    let (mut pairs, mut more) = (0, 0);
    for id in 0..10_000 {
        let (mut label, mut prediction) = (serde_json::Map::new(), serde_json::Map::new());
        for rule in 0..1 + pick(5) {
            let speed = ["None", "60", "80", "100"][pick(4) as usize];
            let says = json!({
                "AllowedTransport": "None", "EffectiveDate": "None", "EffectiveTime": "07:00-09:00",
                "HighSpeedLimit": speed, "LaneDirection": ["GoStraight", "TurnLeft"],
                "LaneType": kinds[pick(4) as usize], "LowSpeedLimit": "None", "RuleIndex": rule.to_string(),
            });
            // A predicted rule is the true rule of the same number, which no other equals.
            let lanes: Vec<u64> = (0..1 + pick(3)).map(|lane| 10 * rule + lane).collect();
            pairs += lanes.len();
            label.insert(
                rule.to_string(),
                json!({"attr_info": says, "centerline": lanes}),
            );
            let mut lanes = lanes;
            if pick(4) == 0 {
                lanes.push(999);
                more += 1;
            }
            prediction.insert(
                rule.to_string(),
                json!({"attr_info": says, "centerline": lanes}),
            );
        }
        let _ = writeln!(references, "{}", json!({"id": id, "reference": label}));
        let _ = writeln!(
            predictions,
            "{}",
            json!({"id": id, "prediction": prediction})
        );
    }
    let counts = json!({"overall": {"tp": pairs, "predicted": pairs + more, "true": pairs}});
    program(
        criterion,
        "program/lanes/10k_clips",
        "lanes",
        LINES,
        (&references, &predictions),
        &counts,
    );
}

/// A submission in which every third first attempt is right, and of the others every second one has a
/// wrong cell.
fn arc(criterion: &mut Criterion) {
    let mut pick = numbers();
    let (mut solutions, mut submission) = (serde_json::Map::new(), serde_json::Map::new());
    let mut right = 0;
    for task in 0..400 {
        let (mut outputs, mut entries) = (Vec::new(), Vec::new());
        for _ in 0..1 + u64::from(task % 21 == 0) {
            let (rows, columns) = (10 + pick(13), 10 + pick(13));
            let mut cell = |_| pick(10);
            let grid: Vec<Vec<u64>> = (0..rows)
                .map(|_| (0..columns).map(&mut cell).collect())
                .collect();
            let mut wrong = grid.clone();
            wrong[3][4] = (wrong[3][4] + 1) % 10;
            let is_right = pick(3) == 0;
            right += u64::from(is_right);
            let first = if is_right { &grid } else { &wrong };
            entries.push(json!({"attempt_1": first, "attempt_2": wrong}));
            outputs.push(grid);
        }
        let id = format!("{:08x}", task * 10_000_019);
        solutions.insert(id.clone(), json!(outputs));
        submission.insert(id, json!(entries));
    }
    // As Python writes them.
    let text = |map| Value::Object(map).to_string().replace(',', ", ");
    let counts = json!({"exact": right, "tasks": 400, "outputs": 420});
    program(
        criterion,
        "program/arc/400_tasks",
        "arc",
        ["r.json", "p.json"],
        (&text(solutions), &text(submission)),
        &counts,
    );
}

/// VQA v2's files. Up to four of the ten answers to a question are the predicted one, written in
/// several ways.
fn vqa_v2(criterion: &mut Criterion) {
    const QUESTIONS: u64 = 200_000;
    let others = [
        "yes",
        "no",
        "2",
        "black and white",
        "on the left",
        "frisbee",
    ];
    let right = ["umbrella", "an umbrella", "Umbrella.", "umbrella"];
    let kinds = ["what is the", "how many", "is there a", "what color is"];
    let mut pick = numbers();
    let (mut references, mut predictions) = (String::new(), String::new());
    references.push_str("{\"data_type\": \"mscoco\", \"annotations\": [");
    predictions.push('[');
    let mut thirds = 0;
    for question in 1..=QUESTIONS {
        let comma = if question == 1 { "" } else { ", " };
        let kind = kinds[pick(4) as usize];
        let agreeing = pick(5);
        thirds += (10 - agreeing) * agreeing.min(3) + agreeing * agreeing.saturating_sub(1).min(3);
        let _ = write!(
            references,
            "{comma}{{\"question_type\": \"{kind}\", \"answer_type\": \"other\", \"image_id\": {question}, \"question_id\": {question}000, \"answers\": ["
        );
        for person in 0..10 {
            let answer = if person < agreeing {
                right[person as usize]
            } else {
                others[pick(6) as usize]
            };
            let comma = if person == 0 { "" } else { ", " };
            let number = person + 1;
            let _ = write!(
                references,
                "{comma}{{\"answer\": \"{answer}\", \"answer_confidence\": \"yes\", \"answer_id\": {number}}}"
            );
        }
        references.push_str("]}");
        let _ = write!(
            predictions,
            "{comma}{{\"answer\": \"umbrella\", \"question_id\": {question}000}}"
        );
    }
    references.push_str("]}");
    predictions.push(']');

    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("r.json", &references), ("p.json", &predictions)] {
        std::fs::write(folder.path().join(name), text).expect("a written file");
    }
    let mut group = criterion.benchmark_group("program/vqa_v2");
    group.sample_size(10);
    group.throughput(Throughput::Elements(QUESTIONS));
    group.bench_function("200k_questions", |bencher| {
        bencher.iter(|| {
            let output = Command::new(metric())
                .args(["score", "vqa", "--profile", "vqa-v2"])
                .args(["--references", "r.json", "--predictions", "p.json"])
                .args(["--threads", "1", "--format", "json"])
                .current_dir(folder.path())
                .output()
                .expect("the program runs");
            let result: Value = serde_json::from_slice(&output.stdout).expect("a result");
            assert_eq!(result["counts"]["thirds"], json!({"10": thirds}));
        });
    });
    group.finish();
}

criterion_group!(benches, string_accuracy, lanes, arc, vqa_v2);
criterion_main!(benches);
