//! Rows of any metric as its users call it: options, records and the expected scores.
//!
//! `tests/golden/metrics` has a file for each metric and profile. Its first line says where the rows are from, and what
//! they check:
//!
//! ```json
//! {"_about": {"source": "rapidfuzz 3.14.1", "licence": "…", "metric": "…", "profile": "…", "crate": "metric-text", "against": ["rapidfuzz 3.14.1"], "tolerance": 1e-12}}
//! ```
//!
//! Each other line is a row. A record has a reference and a prediction, and may have further fields; without a
//! prediction, it counts as empty.
//!
//! ```json
//! {"id": "…", "options": {"normalize": "nfc"}, "records": [{"reference": "…", "prediction": "…"}], "scores": {"…": 0.5}}
//! ```

use std::collections::{BTreeMap, BTreeSet};

use metric_record::{Missing, Record, Value as Side};
use metric_registry::{Options, Report, find};
use serde_json::{Map, Value, json};

use crate::coverage::Line;
use crate::rows::{self, folders, same, within};

/// The folder of the files.
const FOLDER: &str = "metrics";

/// What the first line of a file says.
struct About {
    metric: String,
    profile: String,
    of: String,
    against: Vec<String>,
    /// The greatest difference of a score; 0 for none.
    tolerance: f64,
}

impl About {
    fn read(about: &Value, file: &str) -> Self {
        let text = |name: &str| {
            let text = about[name].as_str();
            assert!(text.is_some(), "{file}: no {name:?} in _about");
            text.unwrap_or_default().to_owned()
        };
        Self {
            metric: text("metric"),
            profile: text("profile"),
            of: text("crate"),
            against: rows::texts(&about["against"]).expect("a list of programs"),
            tolerance: about["tolerance"].as_f64().unwrap_or(0.0),
        }
    }
}

#[test]
fn scores_of_records() {
    let mut files = BTreeSet::new();
    for folder in folders() {
        let entries = std::fs::read_dir(folder.join(FOLDER)).into_iter().flatten();
        files.extend(entries.map(|entry| entry.expect("an entry").file_name()));
    }
    for file in &files {
        let file = format!("{FOLDER}/{}", file.to_string_lossy());
        rows::start();
        let about = About::read(&rows::about(&file), &file);
        let rows = rows::rows(&file);
        rows::check_rows(&rows, rows::id, &[], |row| check(row, &about));
        let names = rows.iter().map(rows::id).collect();
        let line = Line {
            of: &about.of,
            metric: &about.metric,
            profile: &about.profile,
            against: &about.against.iter().map(String::as_str).collect::<Vec<_>>(),
            test: "metrics::scores_of_records",
        };
        rows::record_lines(&[&line], names, &[]);
    }
}

fn check(row: &Value, about: &About) -> Result<(), String> {
    let report = scored(&about.metric, row)?;
    let scores = row["scores"].as_object().ok_or("no scores")?;
    for (name, expected) in scores {
        let ours = report.score(name);
        match (ours, expected.as_f64()) {
            (Some(ours), Some(expected)) if within(ours, expected, about.tolerance) => {}
            (ours, expected) => same(name, ours, expected)?,
        }
    }
    for (name, expected) in row["counts"].as_object().into_iter().flatten() {
        let ours = report.counts.iter().find(|(count, _)| count == name);
        same(name, ours.map(|(_, count)| count), Some(expected))?;
    }
    Ok(())
}

/// The report of the records of a row.
pub(crate) fn scored(metric: &str, row: &Value) -> Result<Report, String> {
    let entry = find(metric).ok_or_else(|| format!("no metric {metric}"))?;
    let mut options = Options::default();
    for (name, value) in row["options"].as_object().into_iter().flatten() {
        options = match value {
            Value::String(text) => options.set(name, text.as_str()),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(written).collect();
                options.set(name, &items[..])
            }
            Value::Bool(false) => options,
            Value::Bool(true) => options.set(name, ""),
            value => options.set(name, &*value.to_string()),
        };
    }
    let scorer = entry.scorer(&options).map_err(|error| error.to_string())?;
    let mut state = scorer.start();
    let records = row["records"].as_array().ok_or("no records")?;
    for (index, record) in records.iter().enumerate() {
        let fields: BTreeMap<&String, &Value> =
            record.as_object().ok_or("no record")?.iter().collect();
        let side = |name: &str| fields.get(&name.to_owned()).map(|value| value.to_string());
        let several = side("references");
        let reference = side("reference").or(several).ok_or("no reference")?;
        let prediction = side("prediction");
        let fields = json!(record.as_object().unwrap_or(&Map::new())).to_string();
        let id = index.to_string();
        let given = prediction.as_deref().map_or_else(Side::missing, Side::json);
        let mut record = Record::new(&id, given, Side::json(&reference));
        record.fields = Some(&fields);
        record.join.missing = Missing::Empty;
        let updated = state.update(&scorer, &mut [record]);
        updated.map_err(|error| error.to_string())?;
    }
    Ok(state.report())
}

/// A value of a list as text.
fn written(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
