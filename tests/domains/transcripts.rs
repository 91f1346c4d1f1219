//! Transcripts with times, as the program reads them: as sessions of segments, and as texts.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use metric_record::Record;
use metric_registry::{Options, find};
use metric_run::{Data, Format, Observer, ObserverError, Role, Run, Settings, Source};
use serde_json::{Value, json};

use crate::rows::{self, same, text};

const FOLDER: &str = "speakers/transcripts";

/// Keeps the predictions of a run as JSON.
#[derive(Default)]
struct Predictions(Mutex<Vec<String>>);

impl Observer for Predictions {
    fn wants_inputs(&self) -> bool {
        true
    }

    fn input(&self, record: &Record<'_>) -> Result<(), ObserverError> {
        let mut value = record.prediction;
        let json = match value.text() {
            Ok(text) => json!(text).to_string(),
            Err(_) => value.to_json_or("null")?.into_owned(),
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(json);
        Ok(())
    }
}

/// Scores a source against references of the same id. Returns the one prediction, and the first score.
fn scored(
    metric: &str,
    references: Source,
    predictions: Source,
) -> Result<(Value, Option<f64>), String> {
    let entry = find(metric).ok_or("no such metric")?;
    let run = Run::new(entry, &Options::default()).map_err(|error| error.to_string())?;
    let data = Data::Sources {
        references,
        predictions,
    };
    let kept = Predictions::default();
    let outcomes = run
        .score_observed(data, &kept)
        .map_err(|error| error.to_string())?;
    let kept = kept.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    same("examples", kept.len(), 1)?;
    let prediction = serde_json::from_str(&kept[0]).map_err(|error| error.to_string())?;
    let score = outcomes[0].report().scores[0].1;
    Ok((prediction, score))
}

/// The file of a row.
fn path(file: &str) -> Result<PathBuf, String> {
    let paths = rows::folders()
        .into_iter()
        .map(|folder| folder.join(FOLDER).join(file));
    let found = paths.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| format!("no file {file}"))
}

#[test]
fn transcripts_written_by_hand() {
    let rows = rows::rows(&format!("{FOLDER}/records.jsonl"));
    let name = |row: &Value| row["file"].as_str().unwrap_or_default().to_owned();
    rows::check(&rows, name, &[], |row| {
        let settings = Settings::read(|name| row["options"][name].as_str().map(str::to_owned));
        let settings = settings.map_err(|error| error.to_string())?;
        let path = path(text(row, "file")?)?;
        let file = || {
            let source = settings.source(Role::Predictions, std::slice::from_ref(&path), false);
            source.map_err(|error| error.to_string())
        };
        let expected = row["segments"].as_array().ok_or("no segments")?;
        let (segments, _) = scored("cpwer", file()?, file()?)?;
        let segments = segments.as_array().ok_or("no list")?;
        same("segments", segments.len(), expected.len())?;
        for (segment, expected) in segments.iter().zip(expected) {
            for field in ["speaker", "words"] {
                same(field, &segment[field], &expected[field])?;
            }
            for field in ["start", "end"] {
                same(field, segment[field].as_f64(), expected[field].as_f64())?;
            }
        }
        let words: Vec<&str> = expected
            .iter()
            .filter_map(|segment| segment["words"].as_str().filter(|words| !words.is_empty()))
            .collect();
        let record = json!({"id": expected[0]["session"], "reference": words.join(" ")});
        for metric in ["wer", "cer"] {
            let lines = record.to_string().into_bytes();
            let references = Source::memory("references", lines, Format::JsonLines);
            let (prediction, score) = scored(metric, references, file()?)?;
            same("text", prediction, record["reference"].clone())?;
            same(metric, score, Some(0.0))?;
        }
        Ok(())
    });
}
