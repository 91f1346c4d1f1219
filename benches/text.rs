//! Text on one thread, in memory.
//!
//! `text/string_accuracy/1M`: 1,000,000 pairs of about 40 bytes, half of them Cyrillic. Peers:
//! pyarrow `equal` 8.5 ms, Hugging Face evaluate 3.8 s; `memcmp` reads 14 to 21 GB/s.
//!
//! `text/normalize`: `nfc,casefold` of 100,000 such texts; peer: CPython 3.11
//! (`unicodedata.normalize`, `str.casefold`), 16 ms on the machine where this takes 24 ms.
//!
//! `text/vqa_normalize/100k`: the answer processing of the VQA v2 program. Peer: the official
//! program, 24.2 s for 200,000 questions with 10 answers each, about 11 µs a text.
//!
//! `text/exact_match/1M`: the pairs of `text/string_accuracy`, without options and with all of them but
//! regular expressions. Target: 15 ms without; peers as above.
//!
//! `text/vqa_v2/200k`: 200,000 questions with 10 answers each, in memory. Peer: 24.2 s as above.
//!
//! `text/anls/100k`, `text/squad/100k`: answers of up to six words, two references each. Peers: anls
//! 0.0.2, and the official program `evaluate-v1.1.py`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_core::{Accuracy, Metric};
use metric_text::vqa::{Answers, VqaAccuracy, VqaProfile};
use metric_text::{
    Anls, ExactMatch, Normalizer, Squad, StringAccuracy, squad, string_accuracy, vqa,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Texts of about 40 bytes; every second one is Cyrillic.
fn texts(count: usize, random: &mut StdRng) -> Vec<String> {
    (0..count)
        .map(|index| {
            let (first, letters, length) = match index % 2 {
                0 => ('a', 26, 40),
                _ => ('а', 32, 20),
            };
            (0..length)
                .map(|_| match random.random_range(0..8) {
                    0 => ' ',
                    _ => char::from_u32(u32::from(first) + random.random_range(0..letters))
                        .unwrap_or(first),
                })
                .collect()
        })
        .collect()
}

fn string_accuracy_in_memory(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("text/string_accuracy");
    settings(&mut group);
    for (name, count) in [("10k", 10_000), ("1M", 1_000_000)] {
        let references = texts(count, &mut StdRng::seed_from_u64(1));
        let mut predictions = references.clone();
        for wrong in predictions.iter_mut().step_by(4) {
            wrong.pop();
            wrong.push('!');
        }
        let expected = Accuracy {
            correct: (count - count.div_ceil(4)) as u64,
            total: count as u64,
        };
        group.throughput(bytes(predictions.iter().chain(&references)));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let pairs = black_box(&predictions).iter().zip(&references);
                let pairs = pairs.map(|(p, r)| (p.as_str(), r.as_str()));
                assert_eq!(string_accuracy(pairs), expected);
            });
        });
    }
    group.finish();
}

fn exact_match_in_memory(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("text/exact_match");
    settings(&mut group);
    let count = 1_000_000;
    let references = texts(count, &mut StdRng::seed_from_u64(1));
    let mut predictions = references.clone();
    for wrong in predictions.iter_mut().step_by(4) {
        wrong.pop();
        wrong.push('!');
    }
    let all = ExactMatch::default()
        .with_ignore_case(true)
        .with_ignore_punctuation(true)
        .with_ignore_numbers(true);
    for (name, metric) in [
        ("1M", ExactMatch::default()),
        ("1M_ignore_case_punctuation_numbers", all),
    ] {
        group.throughput(bytes(predictions.iter().chain(&references)));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut state = Accuracy::default();
                for (prediction, reference) in black_box(&predictions).iter().zip(&references) {
                    metric.update(&mut state, prediction, reference);
                }
                assert_eq!(metric.compute(&state), Some(0.75));
            });
        });
    }
    group.finish();
}

fn agreement(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("text/vqa_v2");
    settings(&mut group);
    group.sample_size(10);
    const OTHERS: &[&str] = &[
        "yes",
        "no",
        "2",
        "black and white",
        "on the left",
        "frisbee",
    ];
    const RIGHT: &[&str] = &["umbrella", "an umbrella", "Umbrella.", "umbrella"];
    let mut random = StdRng::seed_from_u64(4);
    let mut thirds = 0;
    let questions: Vec<Answers> = (0..200_000)
        .map(|_| {
            let agreeing = random.random_range(0..=RIGHT.len());
            thirds += (10 - agreeing) * agreeing.min(3) + agreeing * agreeing.saturating_sub(1);
            let answer = |person: usize| match RIGHT.get(person) {
                Some(right) if person < agreeing => *right,
                _ => OTHERS[random.random_range(0..OTHERS.len())],
            };
            (0..10).map(answer).collect()
        })
        .collect();
    let metric = VqaAccuracy::new(VqaProfile::VqaV2);
    group.throughput(Throughput::Elements(questions.len() as u64));
    group.bench_function("200k", |bencher| {
        bencher.iter(|| {
            let mut state = vqa::Evidence::default();
            for answers in black_box(&questions) {
                metric.update(&mut state, "umbrella", answers);
            }
            assert_eq!(state.thirds.get(&10), Some(&(thirds as u64)));
        });
    });
    group.finish();
}

/// Answers of one to six words, each with two references: itself with an article, and another.
fn questions(count: usize) -> Vec<(String, Vec<String>)> {
    const WORDS: &[&str] = &[
        "Denver", "broncos", "1,250", "Santa", "Clara", "golden", "wild", "bunch",
    ];
    let mut random = StdRng::seed_from_u64(5);
    (0..count)
        .map(|_| {
            let length = random.random_range(1..=6);
            let words: Vec<&str> = (0..length)
                .map(|_| WORDS[random.random_range(0..WORDS.len())])
                .collect();
            let text = words.join(" ");
            let references = vec![format!("other {text}"), text.to_uppercase()];
            (text, references)
        })
        .collect()
}

fn similarity_of_answers(criterion: &mut Criterion) {
    let questions = questions(100_000);
    let mut group = criterion.benchmark_group("text/anls");
    settings(&mut group);
    group.throughput(Throughput::Elements(questions.len() as u64));
    group.bench_function("100k", |bencher| {
        bencher.iter(|| {
            let anls = Anls::default();
            let mut state = Default::default();
            for (prediction, references) in black_box(&questions) {
                anls.update(&mut state, prediction, references);
            }
            assert_eq!(anls.compute(&state), Some(1.0));
        });
    });
    group.finish();
    let mut group = criterion.benchmark_group("text/squad");
    settings(&mut group);
    group.throughput(Throughput::Elements(questions.len() as u64));
    group.bench_function("100k", |bencher| {
        bencher.iter(|| {
            let metric = Squad::default();
            let mut state = squad::Evidence::default();
            for (prediction, references) in black_box(&questions) {
                metric.update(&mut state, prediction, references);
            }
            assert_eq!(metric.compute(&state).f1, Some(1.0));
        });
    });
    group.finish();
}

fn normalize(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("text/normalize");
    settings(&mut group);
    let normalizer: Normalizer = "nfc,casefold".parse().unwrap_or_default();
    let lowercase = texts(100_000, &mut StdRng::seed_from_u64(2));
    let capitalized: Vec<String> = lowercase.iter().map(|text| text.to_uppercase()).collect();
    for (name, predictions) in [
        ("nfc_casefold/100k_unchanged", &lowercase),
        ("nfc_casefold/100k_capitals", &capitalized),
    ] {
        group.throughput(bytes(predictions));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let pairs = black_box(predictions).iter().zip(&lowercase);
                let equal = pairs.filter(|(text, lower)| normalizer.apply(text) == **lower);
                assert_eq!(equal.count(), 100_000);
            });
        });
    }
    let metric = StringAccuracy { normalizer };
    group.throughput(Throughput::Elements(100_000));
    group.bench_function("string_accuracy/100k_capitals", |bencher| {
        bencher.iter(|| {
            let mut state = Accuracy::default();
            for (prediction, reference) in black_box(&capitalized).iter().zip(&lowercase) {
                metric.update(&mut state, prediction, reference);
            }
            assert_eq!(metric.compute(&state), Some(1.0));
        });
    });
    group.finish();
}

fn vqa_normalize(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("text/vqa_normalize");
    settings(&mut group);
    // Answers in the manner of VQA v2, each with what is left of it.
    const ANSWERS: &[(&str, &str)] = &[
        ("yes", "yes"),
        ("2", "2"),
        ("Two dogs.", "2 dogs"),
        ("black-and-white", "black and white"),
        ("on the table", "on table"),
        ("they dont know!", "they don't know"),
        ("$1,000", "$1000"),
        (
            "a red, blue and green umbrella",
            "red blue and green umbrella",
        ),
    ];
    let mut random = StdRng::seed_from_u64(3);
    let answers: Vec<(&str, &str)> = (0..100_000)
        .map(|_| ANSWERS[random.random_range(0..ANSWERS.len())])
        .collect();
    group.throughput(Throughput::Elements(answers.len() as u64));
    group.bench_function("100k", |bencher| {
        bencher.iter(|| {
            let normalized = black_box(&answers).iter();
            let right = normalized.filter(|(text, out)| vqa::normalize_english(text) == *out);
            assert_eq!(right.count(), 100_000);
        });
    });
    group.finish();
}

fn bytes<'t>(texts: impl IntoIterator<Item = &'t String>) -> Throughput {
    Throughput::Bytes(texts.into_iter().map(|text| text.len() as u64).sum())
}

fn settings(group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>) {
    group
        .sample_size(15)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
}

criterion_group!(
    benches,
    string_accuracy_in_memory,
    exact_match_in_memory,
    normalize,
    vqa_normalize,
    agreement,
    similarity_of_answers
);
criterion_main!(benches);
