//! The program from files to the score, on one thread, with its start and end.
//!
//! - `program/string_accuracy/1M_lines`: two JSON Lines files of a million lines in the same order,
//!   with the check for ids that stand twice. Target: 350 MB/s. serde_json reads borrowed records
//!   of JSON Lines at 322 MB/s where the peers' figures were taken, without any join.
//! - `program/lanes/10k_clips`: labels and predictions of 10,000 clips with optimal alignment.
//!   Target: 0.15 s; a Python port of the metric takes 0.60 s.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};

/// Runs `metric score` with these words and gives its result.
fn score(folder: &Path, words: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_metric"))
        .arg("score")
        .args(words.split_whitespace())
        .args(["--references", "r.jsonl", "--predictions", "p.jsonl"])
        .args(["--threads", "1", "--format", "json"])
        .current_dir(folder)
        .output()
        .expect("the program runs");
    serde_json::from_slice(&output.stdout).expect("a result")
}

/// Times the program on two files; the throughput counts the bytes of both.
fn program(
    criterion: &mut Criterion,
    id: &str,
    words: &str,
    (references, predictions): (&str, &str),
    counts: &Value,
) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("r.jsonl", references), ("p.jsonl", predictions)] {
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
            let result = score(folder.path(), words);
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
        (&references, &predictions),
        &counts,
    );
}

criterion_group!(benches, string_accuracy, lanes);
criterion_main!(benches);
