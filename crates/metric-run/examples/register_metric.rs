//! Registers a metric of your own, and scores, stores and reads it like the built-in ones.
//!
//! The example `register` of `metric-registry` shows all that a metric can have, such as options.
//!
//! Run it with `cargo run -p metric-run --example register_metric`.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;

use metric_run::record::{FieldError, Record};
use metric_run::registry::{
    Entry, Input, Metric, Named, Numbers, Options, Reading, Registry, Scope, ScoreSpec, Sink,
    scorer,
};
use metric_run::{Format, Run, Source, StateFileProblem, read_states, write_states};

const REFERENCES: &str = r#"{"id": "1", "reference": "the cat sat"}
{"id": "2", "reference": "a dog"}
{"id": "3", "reference": "one owl"}
"#;

const PREDICTIONS: &str = r#"{"id": "1", "prediction": "the cat sat down"}
{"id": "2", "prediction": "the dog"}
{"id": "3", "prediction": "one owl"}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::default();
    registry.register(SAME_LENGTH)?;

    let entry = |name| registry.find(name).ok_or("not registered");
    let options = Options::default();
    let run = Run::new(entry("same-length")?, &options)?.with_metric(entry("wer")?, &options)?;
    let references = Source::memory("references", REFERENCES.as_bytes(), Format::JsonLines);
    let predictions = Source::memory("predictions", PREDICTIONS.as_bytes(), Format::JsonLines);
    let outcomes = run.score(references, predictions)?;
    // 2 of 3 predictions are as long as their references. 2 of 7 words are wrong: "down" and the article of the dog.
    assert_eq!(outcomes[0].report().score("same_length"), Some(2.0 / 3.0));
    assert_eq!(outcomes[1].report().score("wer"), Some(2.0 / 7.0));
    println!("{}", outcomes[0].to_json());

    // States name their metric, so they are read with a registry that has it.
    let states = write_states(&outcomes[..1])?;
    let read = read_states(&registry, "1.state", &states)?;
    assert_eq!(read[0].to_json(), outcomes[0].to_json());
    let unknown = read_states(&Registry::default(), "1.state", &states);
    let problem = unknown.err().map(|error| error.problem);
    let expected = StateFileProblem::UnknownMetric("same-length".to_owned());
    assert_eq!(problem, Some(expected));
    Ok(())
}

/// The share of predictions with as many words as their references.
struct SameLength;

impl Metric for SameLength {
    type Prediction = str;
    type Reference = str;
    /// Examples of the same length, and all examples.
    type State = (u64, u64);
    type Score = Option<f64>;

    fn update(&self, (same, all): &mut (u64, u64), prediction: &str, reference: &str) {
        let [prediction, reference] =
            [prediction, reference].map(|text| text.split_whitespace().count());
        *same += u64::from(prediction == reference);
        *all += 1;
    }

    fn compute(&self, (same, all): &(u64, u64)) -> Option<f64> {
        (*all > 0).then(|| *same as f64 / *all as f64)
    }
}

impl Reading for SameLength {
    type Metric = Self;
    type Header = ();

    fn metric(&self) -> &Self {
        self
    }

    /// There are no options.
    fn signature(&self) -> Named<String> {
        Vec::new()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let prediction = record.prediction.text().map_err(FieldError::prediction)?;
        let reference = record.reference.text().map_err(FieldError::reference)?;
        sink.example(&prediction, &reference);
        Ok(())
    }

    fn numbers(&self, state: &(u64, u64), (): &(), _scope: Scope<'_>) -> Numbers {
        let (same, all) = *state;
        Numbers {
            scores: vec![("same_length".to_owned(), self.compute(state))],
            counts: vec![
                ("same".to_owned(), same.into()),
                ("total".to_owned(), all.into()),
            ],
            ..Numbers::default()
        }
    }
}

const SAME_LENGTH: Entry = Entry {
    name: "same-length",
    help: "Share of predictions with as many words as their references",
    values: ("a string", "a string"),
    options: &[],
    scores: &[ScoreSpec::higher("same_length").proportion("same", "total")],
    groups: &[],
    details: false,
    drawings: &[],
    report: None,
    input: Input::Records,
    whole_file: |_| false,
    state_format: 1,
    build: |_| Ok(scorer("same-length", "0.1.0", SameLength)),
};
