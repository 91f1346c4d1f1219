//! Scores the parts of a data set separately, stores their states, and merges these into the result of all
//! data.
//!
//! Run it with `cargo run -p metric-run --example shard_and_merge`.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::fs;
use std::path::Path;

use metric_run::record::Shard;
use metric_run::registry::{Options, find};
use metric_run::{
    Format, Outcome, Run, Source, StateFileProblem, merge_states, read_states, write_states,
};

/// The number of workers.
const SHARDS: u32 = 2;

const REFERENCES: &str = r#"{"id": "1", "reference": "cat"}
{"id": "2", "reference": "dog"}
{"id": "3", "reference": "fox"}
{"id": "4", "reference": "owl"}
"#;

const PREDICTIONS: &str = r#"{"id": "1", "prediction": "cat"}
{"id": "2", "prediction": "dog"}
{"id": "3", "prediction": "wolf"}
{"id": "4", "prediction": "owl"}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for index in 0..SHARDS {
        work(index, folder.path())?;
    }
    let merged = merge(folder.path())?;
    let whole = score(None)?;
    assert_eq!(merged[0].report().score("string_accuracy"), Some(3.0 / 4.0));
    assert_eq!(merged[0].to_json(), whole[0].to_json());
    assert_eq!(write_states(&merged)?, write_states(&whole)?);
    println!("{}", merged[0].to_json());

    refuse(folder.path())
}

/// Scores a shard, or all data.
fn score(shard: Option<Shard>) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let entry = find("string-accuracy").ok_or("built without the feature text")?;
    let mut run = Run::new(entry, &Options::default())?;
    run.shard = shard;
    let references = Source::memory("references", REFERENCES.as_bytes(), Format::JsonLines);
    let predictions = Source::memory("predictions", PREDICTIONS.as_bytes(), Format::JsonLines);
    Ok(run.score(references, predictions)?)
}

/// One worker: reads all data, scores its own part, and stores the state. Which ids belong to a shard depends only on
/// the ids.
fn work(index: u32, folder: &Path) -> Result<(), Box<dyn Error>> {
    let outcomes = score(Some(Shard::new(index, SHARDS)?))?;
    assert_eq!(outcomes[0].examples(), 2);
    fs::write(folder.join(name(index)), write_states(&outcomes)?)?;
    Ok(())
}

fn name(index: u32) -> String {
    format!("{index}.state")
}

/// Merges what the workers stored, in any order.
fn merge(folder: &Path) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let mut files = Vec::new();
    for index in (0..SHARDS).rev() {
        let bytes = fs::read(folder.join(name(index)))?;
        files.push((name(index), read_states(&name(index), &bytes)?));
    }
    let merged = merge_states(files)?;
    assert!(merged.warnings.is_empty());
    Ok(merged.outcomes)
}

/// Shows what does not merge without being noticed.
fn refuse(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut bytes = fs::read(folder.join(name(0)))?;
    let first = read_states(&name(0), &bytes)?;

    // A shard that is missing is named in a warning.
    let merged = merge_states(vec![(name(0), first.clone())])?;
    assert_eq!(merged.warnings.len(), 1);

    // The same shard twice is an error.
    let twice = merge_states(vec![(name(0), first.clone()), ("copy".to_owned(), first)]);
    let problem = twice.err().map(|error| error.problem);
    assert!(matches!(problem, Some(StateFileProblem::SameShard { .. })));

    // So is a file that was damaged.
    bytes.pop();
    let damaged = read_states(&name(0), &bytes);
    let problem = damaged.err().map(|error| error.problem);
    assert!(matches!(problem, Some(StateFileProblem::Damaged(_))));
    Ok(())
}
