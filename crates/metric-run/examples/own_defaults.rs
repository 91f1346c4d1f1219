//! Registers a built-in metric with options of your own under its own name, so that a whole team scores alike.
//!
//! The example `register` of `metric-registry` shows how to write a metric from scratch.
//!
//! Run it with `cargo run -p metric-run --example own_defaults`.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;

use metric_run::registry::{Entry, OptionError, Options, Scorer, find, register};
use metric_run::{Format, Run, Source, read_states, write_states};

/// How our team compares words: in any case, and without punctuation.
const NORMALIZE: &str = "casefold,punctuation";

const REFERENCES: &str = r#"{"id": "1", "reference": "The cat sat."}
{"id": "2", "reference": "A dog!"}
"#;

const PREDICTIONS: &str = r#"{"id": "1", "prediction": "the cat sat down"}
{"id": "2", "prediction": "a dog"}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let wer = find("wer").ok_or("no such metric")?;
    // Scores, groups and reports are those of `wer`. Without options, the rules cannot be changed.
    let team_wer = register(Entry {
        name: "team-wer",
        help: "Word error rate by the rules of our team",
        options: &[],
        build: &team_wer,
        ..*wer
    })?;

    let options = Options::default();
    let run = Run::new(team_wer, &options)?.with_metric(wer, &options)?;
    let references = Source::memory("references", REFERENCES.as_bytes(), Format::JsonLines);
    let predictions = Source::memory("predictions", PREDICTIONS.as_bytes(), Format::JsonLines);
    let outcomes = run.score(references, predictions)?;
    // 1 of 5 words is wrong, "down". As written, "The", "sat.", "A" and "dog!" are wrong as well: 5 of 5.
    assert_eq!(outcomes[0].report().score("wer"), Some(1.0 / 5.0));
    assert_eq!(outcomes[1].report().score("wer"), Some(1.0));
    assert!(outcomes[0].signature().contains(NORMALIZE));
    println!("{}", outcomes[0].to_json());

    // States name their metric, so a program that reads them registers it as well.
    let states = write_states(&outcomes[..1])?;
    let read = read_states("1.state", &states)?;
    assert_eq!(read[0].to_json(), outcomes[0].to_json());
    Ok(())
}

/// Word error rate under our options.
fn team_wer(_: &Options) -> Result<Scorer, OptionError> {
    let wer = find("wer").ok_or_else(|| OptionError::new("metric", "wer", "is not built in"))?;
    wer.scorer(&Options::default().set("normalize", NORMALIZE))
}
