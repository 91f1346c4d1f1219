//! Scores two files with several metrics in one reading of the data, and keeps the scores of each example.
//!
//! Run it with `cargo run -p metric-run --example score_files`.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use metric_run::registry::{Options, Sample, find};
use metric_run::{Data, ErrorKind, Observer, ObserverError, Outcome, Run, RunError, Source};

const REFERENCES: &str = r#"{"id": "page-1", "reference": "the cat sat"}
{"id": "page-2", "reference": "a dog"}
"#;

/// The predictions may be in another order: records are joined by id.
const PREDICTIONS: &str = r#"{"id": "page-2", "prediction": "a dog"}
{"id": "page-1", "prediction": "the cat"}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let [references, predictions] =
        ["truth.jsonl", "output.jsonl"].map(|name| folder.path().join(name));
    fs::write(&references, REFERENCES)?;
    fs::write(&predictions, PREDICTIONS)?;

    score(&references, &predictions)?;
    refuse(&references, &folder.path().join("absent.jsonl"));
    Ok(())
}

/// Word and character error rates, and the share of equal texts.
fn run() -> Result<Run, Box<dyn Error>> {
    let entry = |name| find(name).ok_or("built without the feature text");
    let options = Options::default();
    let run = Run::new(entry("wer")?, &options)?
        .with_metric(entry("cer")?, &options)?
        .with_metric(entry("string-accuracy")?, &options)?;
    Ok(run)
}

/// Scores the files, and compares the scores with numbers that are easy to verify.
fn score(references: &Path, predictions: &Path) -> Result<(), Box<dyn Error>> {
    let mut run = run()?;
    run.samples = true;
    let samples = Samples::default();
    let data = Data::Sources {
        references: Source::path(references)?,
        predictions: Source::path(predictions)?,
    };
    let outcomes = run.score_observed(data, &samples)?;
    for outcome in &outcomes {
        println!("{}", outcome.to_json());
    }
    let value = |index: usize, name| -> Option<f64> {
        let outcome: &Outcome = &outcomes[index];
        outcome.report().score(name)
    };
    // 1 of 5 words and 4 of 16 characters are missing, and 1 of 2 texts is equal.
    assert_eq!(value(0, "wer"), Some(1.0 / 5.0));
    assert_eq!(value(1, "cer"), Some(4.0 / 16.0));
    assert_eq!(value(2, "string_accuracy"), Some(1.0 / 2.0));

    let samples = samples.0.into_inner().map_err(|_| "a thread panicked")?;
    let expected = [
        ("page-1", "wer", 1.0 / 3.0),
        ("page-1", "cer", 4.0 / 11.0),
        ("page-1", "string_accuracy", 0.0),
        ("page-2", "wer", 0.0),
        ("page-2", "cer", 0.0),
        ("page-2", "string_accuracy", 1.0),
    ];
    let expected = expected.map(|(id, name, score)| (id.to_owned(), name.to_owned(), Some(score)));
    assert_eq!(samples, expected);
    Ok(())
}

/// The id, name and value of the first score of each example, in the order of the references.
#[derive(Default)]
struct Samples(Mutex<Vec<(String, String, Option<f64>)>>);

impl Observer for Samples {
    fn sample(&self, _metric: &str, sample: &Sample) -> Result<(), ObserverError> {
        let mut samples = self.0.lock().map_err(|_| "a thread panicked")?;
        if let Some((name, score)) = sample.scores.first() {
            samples.push((sample.id.clone(), name.clone(), *score));
        }
        Ok(())
    }
}

/// A file that does not exist is an error about the input, which names the file.
fn refuse(references: &Path, absent: &Path) {
    assert!(Source::path(references).is_ok());
    let error: Option<RunError> = Source::path(absent).err();
    assert_eq!(error.as_ref().map(RunError::kind), Some(ErrorKind::Input));
    assert!(error.is_some_and(|error| error.to_string().contains("absent.jsonl")));
}
