//! Registers a metric of your own next to the built-in ones.
//!
//! `length-ratio` compares the length of predictions with the length of references. It takes three
//! steps: the metric itself ([`Metric`]), how it reads a record and names its numbers ([`Reading`]), and
//! its [`Entry`]. Everything else comes with them: options that are validated, scores per example,
//! states that merge and that can be stored.
//!
//! Run it with `cargo run -p metric-registry --example register`.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;

use metric_registry::record::{FieldError, Record, Value};
use metric_registry::{
    Entry, Metric, Named, Numbers, OptionSpec, Options, Reading, Registry, Scope, ScoreSpec, Sink,
    scorer,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::default();
    registry.register(LENGTH_RATIO)?;
    assert!(
        registry.register(LENGTH_RATIO).is_err(),
        "the name is taken"
    );

    score(&registry)?;
    merge(&registry)?;
    options(&registry)
}

/// Scores two records, together and one by one.
fn score(registry: &Registry) -> Result<(), Box<dyn Error>> {
    let entry = registry.find("length-ratio").ok_or("not registered")?;
    let scorer = entry.scorer(&Options::default())?;
    assert_eq!(
        scorer.signature(),
        "length-ratio|unit:word|margin:0|v:0.1.0"
    );

    let mut records = [
        // 3 words for 2, and 1 word for 2.
        record("a", "the cat sat", "the cat"),
        record("b", "cat", "the cat"),
    ];
    let mut state = scorer.start();
    let mut part = scorer.read(&state, &mut records, true);
    state.add(&mut part)?;

    // Together, 4 words for 4, and 1 of 2 predictions is too long.
    let report = state.report();
    assert_eq!(report.score("length_ratio"), Some(1.0));
    assert_eq!(report.score("too_long"), Some(1.0 / 2.0));
    let samples = part.samples(&state);
    assert_eq!(
        samples[0].scores[0],
        ("length_ratio".to_owned(), Some(3.0 / 2.0))
    );
    assert_eq!(
        samples[1].scores[0],
        ("length_ratio".to_owned(), Some(1.0 / 2.0))
    );

    // Each score declares which of two values is better.
    let too_long = entry.score("too_long").and_then(|score| score.direction);
    assert_eq!(too_long.map(|direction| direction.name()), Some("lower"));
    println!("{}: {:?}", scorer.signature(), report.scores);
    Ok(())
}

/// Scores the same records in two processes, one of which stores its state for the other.
fn merge(registry: &Registry) -> Result<(), Box<dyn Error>> {
    let entry = registry.find("length-ratio").ok_or("not registered")?;
    let scorer = entry.scorer(&Options::default())?;

    let mut there = scorer.start();
    there.update(&scorer, &mut [record("a", "the cat sat", "the cat")])?;
    let stored: Vec<u8> = there.body()?;

    let mut here = scorer.start();
    here.update(&scorer, &mut [record("b", "cat", "the cat")])?;
    here.merge(&scorer.read_state(&stored)?)?;
    assert_eq!(here.examples(), 2);
    assert_eq!(here.report().score("length_ratio"), Some(1.0));

    // States of different definitions do not merge.
    let by_character = entry.scorer(&Options::default().set("unit", "character"))?;
    assert!(here.merge(&by_character.start()).is_err());
    Ok(())
}

/// Chooses options, and shows what is refused.
fn options(registry: &Registry) -> Result<(), Box<dyn Error>> {
    let entry = registry.find("length-ratio").ok_or("not registered")?;
    let chosen = Options::default()
        .set("unit", "character")
        .set("margin", "4");
    let scorer = entry.scorer(&chosen)?;
    assert_eq!(
        scorer.signature(),
        "length-ratio|unit:character|margin:4|v:0.1.0"
    );
    let mut state = scorer.start();
    state.update(&scorer, &mut [record("a", "the cat sat", "the cat")])?;
    // 11 characters for 7: no more than the margin of 4 too long.
    assert_eq!(state.report().score("length_ratio"), Some(11.0 / 7.0));
    assert_eq!(state.report().score("too_long"), Some(0.0));

    for (name, value, problem) in [
        (
            "unit",
            "line",
            "--unit \"line\": expected one of word, character",
        ),
        (
            "margin",
            "-1",
            "--margin \"-1\": expected a non-negative integer",
        ),
        ("k", "5", "--k \"5\": this metric has unit, margin"),
    ] {
        let refused = entry.scorer(&Options::default().set(name, value));
        assert_eq!(
            refused.err().map(|error| error.to_string()).as_deref(),
            Some(problem)
        );
    }
    Ok(())
}

/// A record whose two sides are strings.
fn record<'a>(id: &'a str, prediction: &'a str, reference: &'a str) -> Record<'a> {
    Record::new(id, Value::string(prediction), Value::string(reference))
}

/// The length of predictions compared with that of references, in words or characters. The definition is
/// here, and the counts are in the state.
struct LengthRatio {
    characters: bool,
    /// The length by which a prediction may exceed its reference.
    margin: u64,
}

/// The counts that the scores are computed from. They are integers, so that any partition of the examples gives the
/// same scores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lengths {
    prediction: u64,
    reference: u64,
    too_long: u64,
    total: u64,
}

metric_registry::fields!(Lengths {
    prediction,
    reference,
    too_long,
    total
});

impl Metric for LengthRatio {
    type Prediction = str;
    type Reference = str;
    type State = Lengths;
    /// The ratio, and the share of predictions that are too long.
    type Score = [Option<f64>; 2];

    fn update(&self, state: &mut Lengths, prediction: &str, reference: &str) {
        let (prediction, reference) = (self.length(prediction), self.length(reference));
        state.prediction += prediction;
        state.reference += reference;
        state.too_long += u64::from(prediction > reference.saturating_add(self.margin));
        state.total += 1;
    }

    fn compute(&self, state: &Lengths) -> [Option<f64>; 2] {
        // 0/0 is undefined, and so is the ratio to an empty reference.
        let ratio = |a: u64, b: u64| (b > 0).then(|| a as f64 / b as f64);
        [
            ratio(state.prediction, state.reference),
            ratio(state.too_long, state.total),
        ]
    }
}

impl LengthRatio {
    fn length(&self, text: &str) -> u64 {
        let length = if self.characters {
            text.chars().count()
        } else {
            text.split_whitespace().count()
        };
        length as u64
    }

    fn unit(&self) -> &'static str {
        if self.characters { "character" } else { "word" }
    }
}

impl Reading for LengthRatio {
    type Metric = Self;
    /// Examples of this metric share nothing; rows of scores, for example, would share their length.
    type Header = ();

    fn metric(&self) -> &Self {
        self
    }

    fn signature(&self) -> Named<String> {
        vec![
            ("unit".to_owned(), self.unit().to_owned()),
            ("margin".to_owned(), self.margin.to_string()),
        ]
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        // A missing prediction is read as an empty text, where the join policy allows it.
        let prediction = record.prediction.text().map_err(FieldError::prediction)?;
        let reference = record.reference.text().map_err(FieldError::reference)?;
        sink.example(&prediction, &reference);
        Ok(())
    }

    fn numbers(&self, state: &Lengths, (): &(), _scope: Scope<'_>) -> Numbers {
        let [length_ratio, too_long] = self.compute(state);
        Numbers {
            scores: vec![
                ("length_ratio".to_owned(), length_ratio),
                ("too_long".to_owned(), too_long),
            ],
            counts: vec![
                ("prediction_length".to_owned(), state.prediction.into()),
                ("reference_length".to_owned(), state.reference.into()),
                ("too_long".to_owned(), state.too_long.into()),
                ("total".to_owned(), state.total.into()),
            ],
            ..Numbers::default()
        }
    }
}

const LENGTH_RATIO: Entry = Entry {
    name: "length-ratio",
    help: "Length of predictions divided by length of references",
    values: ("a string", "a string"),
    #[rustfmt::skip]
    options: &[
        OptionSpec::one_of("unit", "UNIT", || vec!["word", "character"],
            "Unit of length").or("word"),
        OptionSpec::integer("margin", "N", 0..=i64::MAX,
            "Units by which a prediction may be longer than its reference").or("0"),
    ],
    scores: &[
        // A ratio of 1 is best: neither the higher nor the lower value is better.
        ScoreSpec::neutral("length_ratio"),
        ScoreSpec::lower("too_long").proportion("too_long", "total"),
    ],
    build: |options| {
        let metric = LengthRatio {
            characters: options.is("unit", "character"),
            margin: options.integer("margin")?,
        };
        Ok(scorer("length-ratio", "0.1.0", metric))
    },
    ..Entry::BASE
};
