//! The engine on tables in memory, next to the same data as JSON Lines in memory, on all cores.
//!
//! `columns/accuracy_at_k/10k_1000`: 10,000 rows of 1,000 `f32` scores, 40 MB. As JSON Lines 116 MB.
//!
//! `columns/classification/1M_100`: 1,000,000 pairs of 100 integer labels.
//!
//! `columns/string_accuracy/1M`, `columns/exact_match/1M`: 1,000,000 pairs of texts of 14 bytes.
//!
//! `columns/wer/100k`: 100,000 pairs of 10 words, one of which differs.
//!
//! The forms of the data: `positions` are tables without ids, `ids` are tables with integers as ids in the
//! same order, `reordered` has the predictions in reverse order, and `json_lines` is the text of `ids`.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use metric_record::{Cells, Column, Ids, Texts};
use metric_registry::{Options, find};
use metric_run::{Format, Outcome, Run, RunError, Source, Table};
use ndarray::{Array2, Axis};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A metric and its data.
struct Data<'a> {
    name: &'a str,
    /// The metric with its options, and the score that all forms of the data have.
    metric: &'a str,
    options: Options,
    score: (&'a str, f64),
    throughput: Throughput,
    references: Column<'a>,
    predictions: Column<'a>,
    /// The predictions in reverse order.
    reversed: Column<'a>,
}

fn bench(criterion: &mut Criterion, data: &Data<'_>) {
    let mut group = criterion.benchmark_group(format!("columns/{}", data.metric.replace('-', "_")));
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .throughput(data.throughput.clone());
    let entry = find(data.metric).expect("a metric of this name");
    let run = Run::new(entry, &data.options).expect("valid options");
    let rows = data.references.len() as i64;
    let ascending: Vec<i64> = (1..=rows).collect();
    let descending: Vec<i64> = (1..=rows).rev().collect();
    let ids = |ids| Ids::Integers(Cells::from(ids));

    // A slice is a column that lives no longer than the ids.
    let whole = 0..data.references.len();
    let references = Table::new("references", data.references.slice(whole.clone()));
    let predictions = Table::new("predictions", data.predictions.slice(whole.clone()));
    let mut measure = |form: &str, score: &dyn Fn() -> Result<Vec<Outcome>, RunError>| {
        group.bench_function(BenchmarkId::new(data.name, form), |bencher| {
            bencher.iter(|| {
                let outcomes = black_box(score()).expect("data that can be scored");
                let report = outcomes.first().map(Outcome::report);
                let (name, expected) = data.score;
                assert_eq!(report.and_then(|it| it.score(name)), Some(expected));
            });
        });
    };
    measure("positions", &|| {
        run.score_tables(references.clone(), predictions.clone())
    });
    let references = Table {
        ids: ids(&ascending[..]),
        ..references
    };
    let predictions = Table {
        ids: ids(&ascending),
        ..predictions
    };
    measure("ids", &|| {
        run.score_tables(references.clone(), predictions.clone())
    });
    let reversed = Table {
        ids: ids(&descending),
        ..Table::new("predictions", data.reversed.slice(whole))
    };
    measure("reordered", &|| {
        run.score_tables(references.clone(), reversed.clone())
    });
    let references = json_lines(&references, "reference");
    let predictions = json_lines(&predictions, "prediction");
    measure("json_lines", &|| {
        run.score(references.clone(), predictions.clone())
    });
    group.finish();
}

fn json_lines(table: &Table<'_>, key: &str) -> Source {
    let mut text = String::new();
    for row in 0..table.values.len() {
        let mut value = table.values.value(row);
        let json = value.to_json_or("null").expect("numbers are finite");
        writeln!(text, r#"{{"id": {}, "{key}": {json}}}"#, row + 1).expect("memory");
    }
    Source::memory(table.name, text.into_bytes(), Format::JsonLines)
}

/// Every other reference is the index of the highest score, the rest are that of the lowest.
fn scores(criterion: &mut Criterion) {
    let mut random = StdRng::seed_from_u64(7);
    let scores: Array2<f32> = Array2::from_shape_simple_fn((10_000, 1000), || random.random());
    let reference = |(row, scores): (usize, ndarray::ArrayView1<'_, f32>)| {
        let order = |a: &(usize, &f32), b: &(usize, &f32)| a.1.total_cmp(b.1);
        let scores = scores.iter().enumerate();
        let label = match row % 2 {
            0 => scores.max_by(order),
            _ => scores.min_by(order),
        };
        label.map_or(0, |(label, _)| label as i64)
    };
    let references: Vec<i64> = scores.outer_iter().enumerate().map(reference).collect();
    let mut reversed = scores.view();
    reversed.invert_axis(Axis(0));
    let reversed = reversed.as_standard_layout();
    let data = Data {
        name: "10k_1000",
        metric: "accuracy-at-k",
        options: Options::default().set("input", "scores").set("k", "5"),
        score: ("accuracy@5", 0.5),
        throughput: Throughput::Bytes((scores.len() * size_of::<f32>()) as u64),
        references: Column::Integers(Cells::from(&references[..])),
        predictions: Column::ScoresF32(scores.view()),
        reversed: Column::ScoresF32(reversed.view()),
    };
    bench(criterion, &data);
}

/// Three of four are correct.
fn labels(criterion: &mut Criterion) {
    let mut random = StdRng::seed_from_u64(11);
    let references: Vec<i64> = std::iter::repeat_with(|| random.random_range(0..100))
        .take(1_000_000)
        .collect();
    let prediction = |(row, label): (usize, &i64)| match row % 4 {
        0 => (label + 1) % 100,
        _ => *label,
    };
    let predictions: Vec<i64> = references.iter().enumerate().map(prediction).collect();
    let reversed: Vec<i64> = predictions.iter().rev().copied().collect();
    let column = |labels| Column::Integers(Cells::from(labels));
    let data = Data {
        name: "1M_100",
        metric: "classification",
        options: Options::default(),
        score: ("accuracy", 0.75),
        throughput: Throughput::Elements(1_000_000),
        references: column(&references[..]),
        predictions: column(&predictions),
        reversed: column(&reversed),
    };
    bench(criterion, &data);
}

fn texts(criterion: &mut Criterion) {
    // Three of four are correct.
    let references: Vec<String> = (0..1_000_000)
        .map(|row| format!("answer {row:07}"))
        .collect();
    let mut predictions = references.clone();
    for text in predictions.iter_mut().step_by(4) {
        text.push('!');
    }
    for metric in ["string-accuracy", "exact-match"] {
        let score = metric.replace('-', "_");
        compare_texts(
            criterion,
            "1M",
            metric,
            &references,
            &predictions,
            (&score, 0.75),
        );
    }
    let mut random = StdRng::seed_from_u64(13);
    let mut word = || ["the", "quick", "brown", "fox", "jumps"][random.random_range(0..5)];
    let mut pairs = Vec::new();
    for row in 0..100_000 {
        let mut words: Vec<&str> = std::iter::repeat_with(&mut word).take(10).collect();
        let reference = words.join(" ");
        words[row % 10] = "lazy";
        pairs.push((reference, words.join(" ")));
    }
    let (references, predictions): (Vec<String>, Vec<String>) = pairs.into_iter().unzip();
    compare_texts(
        criterion,
        "100k",
        "wer",
        &references,
        &predictions,
        ("wer", 0.1),
    );
}

fn compare_texts(
    criterion: &mut Criterion,
    name: &str,
    metric: &str,
    references: &[String],
    predictions: &[String],
    score: (&str, f64),
) {
    let reversed: Vec<String> = predictions.iter().rev().cloned().collect();
    let column = |texts| Column::Texts(Texts::from(texts));
    let data = Data {
        name,
        metric,
        options: Options::default(),
        score,
        throughput: Throughput::Elements(references.len() as u64),
        references: column(references),
        predictions: column(predictions),
        reversed: column(&reversed),
    };
    bench(criterion, &data);
}

criterion_group!(benches, scores, labels, texts);
criterion_main!(benches);
