//! A metric of your own next to the built-in ones: `length-ratio` compares the length of predictions, in words, with the
//! length of references.
//!
//! It takes a state that lists its fields, the formula ([`Metric`]), and an [`Entry`]. Everything else comes with them:
//! reading records and columns, scores per example, slices, intervals, comparisons, states that merge and are stored.
//!
//! Run it with `cargo run -p metric-registry --example register`.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;

use metric_registry::record::{Record, Value};
use metric_registry::{
    Entry, Metric, Options, ScoreSpec, TextMetric, fields, find, register, texts,
};

/// The counts that the score is computed from. They are integers, so that any partition of the examples gives the same
/// score.
#[derive(Clone, Debug, Default, PartialEq)]
struct Lengths {
    prediction: u64,
    reference: u64,
}

fields!(Lengths {
    prediction,
    reference
});

/// The number of words in the predictions, divided by the number of words in the references.
struct LengthRatio;

impl Metric for LengthRatio {
    type Prediction = str;
    type Reference = str;
    type State = Lengths;
    type Score = Option<f64>;

    fn update(&self, state: &mut Lengths, prediction: &str, reference: &str) {
        state.prediction += prediction.split_whitespace().count() as u64;
        state.reference += reference.split_whitespace().count() as u64;
    }

    fn compute(&self, state: &Lengths) -> Option<f64> {
        (state.reference > 0).then(|| state.prediction as f64 / state.reference as f64)
    }
}

impl TextMetric for LengthRatio {}

const LENGTH_RATIO: Entry = Entry {
    name: "length-ratio",
    help: "Length of predictions divided by length of references, in words",
    values: ("a string", "a string"),
    // A ratio of 1 is best: neither the higher nor the lower value is better.
    scores: &[ScoreSpec::neutral("length_ratio")],
    build: &|_| Ok(texts("length-ratio", "0.1.0", LengthRatio)),
    ..Entry::BASE
};

fn main() -> Result<(), Box<dyn Error>> {
    register(LENGTH_RATIO)?;
    let entry = find("length-ratio").ok_or("not registered")?;
    let scorer = entry.scorer(&Options::default())?;

    // 3 words for 2, and 1 word for 2: together 4 for 4.
    let mut records = [
        record("a", "the cat sat", "the cat"),
        record("b", "cat", "the cat"),
    ];
    let mut state = scorer.start();
    let mut part = scorer.read(&state, &mut records, true);
    state.add(&mut part)?;
    let report = state.report();
    assert_eq!(report.score("length_ratio"), Some(1.0));
    assert_eq!(report.counts[0], ("prediction".to_owned(), 4.into()));
    let samples = part.samples(&state);
    assert_eq!(samples[0].scores[0].1, Some(3.0 / 2.0));
    assert_eq!(samples[1].scores[0].1, Some(1.0 / 2.0));
    println!("{}: {:?}", scorer.signature(), report.scores);

    // The same in two processes, one of which stores its state for the other.
    let mut there = scorer.start();
    there.update(&scorer, &mut records[..1])?;
    let stored: Vec<u8> = there.body()?;
    let mut here = scorer.start();
    here.update(&scorer, &mut records[1..])?;
    here.merge(&scorer.read_state(&stored)?)?;
    assert_eq!(here.body()?, state.body()?);
    Ok(())
}

/// A record whose two sides are strings.
fn record<'a>(id: &'a str, prediction: &'a str, reference: &'a str) -> Record<'a> {
    Record::new(id, Value::string(prediction), Value::string(reference))
}
