//! Files as other programs write them: each case of `golden/inputs` gives the rows that are listed, or an
//! error that names the location.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use metric_core::{Accuracy, Metric};
use metric_run::record::{FieldError, Kind, Record, Value};
use metric_run::registry::{
    Asked, Entry, Facts, Numbers, Options, Reading, ScoreSpec, Sink, scorer,
};
use metric_run::{Check, CsvOptions, Data, EmptyField, Format, Run, RunError, Source};
use serde_json::Value as Json;

use crate::rows;

/// The rows that [`Capture`] has read.
static ROWS: Mutex<Vec<Row>> = Mutex::new(Vec::new());

/// A record: its id, the reference, the prediction.
type Row = (String, Read, Read);

/// A value as it was read.
#[derive(Clone, Debug, PartialEq)]
enum Read {
    /// A cell or a line, whose type the metric decides.
    Untyped(String),
    /// A number as it is written.
    Number(String),
    Json(Json),
}

impl Read {
    fn from_value(value: &mut Value<'_>) -> Self {
        match (value.kind(), value.text()) {
            (Kind::Line, Ok(text)) => Self::Untyped(text.into_owned()),
            (_, Ok(text)) => Self::Json(Json::from(&*text)),
            _ => {
                let json = value.to_json().ok().flatten().unwrap_or_default();
                match value.kind() {
                    Kind::Number => Self::Number(json.into_owned()),
                    _ => Self::Json(serde_json::from_str(&json).expect("JSON")),
                }
            }
        }
    }

    fn equals(&self, expected: &Json) -> bool {
        match (self, expected) {
            (Self::Json(json), expected) => json == expected,
            // Numbers that JSON readers would change are listed as their text.
            (Self::Number(number), Json::String(expected)) => number == expected,
            (Self::Number(number), expected) => {
                serde_json::from_str::<Json>(number).is_ok_and(|number| number == *expected)
            }
            (Self::Untyped(text), Json::String(expected)) => text == expected,
            (Self::Untyped(text), expected) => json_text(expected) == *text,
        }
    }
}

fn json_text(value: &Json) -> String {
    value.to_string()
}

/// A metric that keeps what it reads.
struct Capture;

impl Metric for Capture {
    type Prediction = ();
    type Reference = ();
    type State = Accuracy;
    type Score = Option<f64>;

    fn update(&self, state: &mut Accuracy, (): &(), (): &()) {
        state.total += 1;
    }

    fn compute(&self, state: &Accuracy) -> Option<f64> {
        state.value()
    }
}

impl Reading for Capture {
    type Metric = Self;
    type Header = ();

    fn metric(&self) -> &Self {
        self
    }

    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let row = (
            record.id.to_string(),
            Read::from_value(&mut record.reference),
            Read::from_value(&mut record.prediction),
        );
        ROWS.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(row);
        sink.example(&(), &());
        Ok(())
    }

    fn numbers(&self, _: &Accuracy, (): &(), _: Asked<'_>) -> Numbers {
        Numbers::default()
    }
}

const CAPTURE: Entry = Entry {
    name: "capture",
    help: "Keeps what it reads",
    values: ("a value", "a value"),
    scores: &[ScoreSpec::higher("none")],
    build: &|_| Ok(scorer("capture", "0.0.0", Capture)),
    ..Entry::BASE
};

/// The options of a case.
#[derive(Clone, Copy)]
struct Case<'c> {
    row: &'c Json,
    folder: &'c Path,
}

impl Case<'_> {
    fn option(&self, name: &str) -> Option<&str> {
        let options = self.row["options"].as_str().unwrap_or_default();
        let mut words = options.split_whitespace();
        words.find(|word| *word == name)?;
        words.next()
    }

    /// The file as a source, as the program's options would give it.
    fn source(&self, name: &str) -> Result<Source, RunError> {
        let delimiter = self.option("--delimiter");
        let csv = CsvOptions {
            delimiter: delimiter.map(|name| CsvOptions::delimiter(name).expect("a delimiter")),
            empty: match self.option("--empty-field") {
                Some("text") => EmptyField::Text,
                _ => EmptyField::Error,
            },
            ..CsvOptions::default()
        };
        let source = Source::paths(&[self.folder.join(name)])?.with_csv(csv);
        let source = match self.option("--input-format").and_then(Format::named) {
            Some(format) => source.with_format(format),
            None => source,
        };
        Ok(match self.option("--split") {
            Some(split) => source.with_split(split),
            None => source,
        })
    }

    /// The rows of data, by id.
    fn read(&self, data: Data) -> Result<BTreeMap<String, (Read, Read)>, String> {
        let mut run = Run::new(&CAPTURE, &Options::default()).expect("a run");
        let named = |name: &str| self.option(name).map(str::to_owned);
        run.fields.id = named("--id-field").unwrap_or(run.fields.id);
        run.fields.reference = named("--reference-field");
        run.fields.prediction = named("--prediction-field").unwrap_or(run.fields.prediction);
        let checked = run.check(data.clone());
        ROWS.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let scored = run.score_observed(data, &Nobody);
        let scored = scored.map_err(|error| error.to_string());
        agree(checked, &scored)?;
        scored?;
        let rows = std::mem::take(&mut *ROWS.lock().unwrap_or_else(PoisonError::into_inner));
        let rows = rows
            .into_iter()
            .map(|(id, reference, prediction)| (id, (reference, prediction)));
        Ok(rows.collect())
    }

    /// The data of a case: references and predictions, or one file that has both and is read both ways.
    fn data(&self) -> Result<Vec<Data>, String> {
        let text = |error: RunError| error.to_string();
        let file = rows::text(self.row, "file")?;
        if let Some((references, predictions)) = file.split_once(" + ") {
            return Ok(vec![Data::Sources {
                references: self.source(references).map_err(text)?,
                predictions: self.source(predictions).map_err(text)?,
            }]);
        }
        let source = self.source(file).map_err(text)?;
        let twice = Data::Sources {
            references: source.clone(),
            predictions: source.clone(),
        };
        Ok(if file.starts_with("kaldi/") {
            vec![twice]
        } else {
            vec![Data::Pairs(source), twice]
        })
    }

    fn expected(&self) -> Result<Vec<Json>, String> {
        let file = rows::text(self.row, "expected")?;
        let text = std::fs::read_to_string(self.folder.join(file)).map_err(|e| e.to_string())?;
        serde_json::from_str(&text).map_err(|e| e.to_string())
    }

    fn check(&self) -> Result<(), String> {
        match self.row["error"].as_str() {
            Some(error) => self.check_error(error),
            None => self.check_rows(),
        }
    }

    fn check_rows(&self) -> Result<(), String> {
        let expected = self.expected()?;
        for data in self.data()? {
            let found = self.read(data)?;
            rows::same("rows", found.len(), expected.len())?;
            for row in &expected {
                let id = rows::id(row);
                let (reference, prediction) = found.get(&id).ok_or(format!("no id {id}"))?;
                // A transcript on its own has one text.
                let side = |name: &str| row.get(name).or_else(|| row.get("text"));
                let reference = (reference, side("reference"));
                let prediction = (prediction, side("prediction"));
                for (found, expected) in [reference, prediction] {
                    let expected = expected.ok_or("no expected value")?;
                    if !found.equals(expected) {
                        return Err(format!("{id}: ours {found:?}, expected {expected}"));
                    }
                }
            }
        }
        self.check_further_columns(&expected)
    }

    /// The columns that are neither side by name, each read as both.
    fn check_further_columns(&self, expected: &[Json]) -> Result<(), String> {
        let known = ["id", "reference", "prediction", "text", "Usage", "label"];
        let first = expected
            .first()
            .and_then(Json::as_object)
            .ok_or("no rows")?;
        for name in first.keys().filter(|name| !known.contains(&name.as_str())) {
            let source = self
                .source(rows::text(self.row, "file")?)
                .map_err(|e| e.to_string())?;
            let mut run = Run::new(&CAPTURE, &Options::default()).expect("a run");
            run.fields.reference = Some(name.clone());
            run.fields.prediction = name.clone();
            ROWS.lock().unwrap_or_else(PoisonError::into_inner).clear();
            let scored = run.score(source.clone(), source);
            scored.map_err(|error| format!("{name}: {error}"))?;
            let found = std::mem::take(&mut *ROWS.lock().unwrap_or_else(PoisonError::into_inner));
            for row in expected {
                let id = rows::id(row);
                let found = found.iter().find(|(other, ..)| *other == id);
                let (_, found, _) = found.ok_or(format!("no id {id}"))?;
                let expected = &row[name];
                if !found.equals(expected) {
                    return Err(format!(
                        "{name} of {id}: ours {found:?}, expected {expected}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The words of an error are ours, but it names the same location and the same names.
    fn check_error(&self, expected: &str) -> Result<(), String> {
        let read = |data| self.read(data).err().ok_or("no error".to_owned());
        let errors = match self.data() {
            Err(error) => vec![error],
            Ok(data) => data.into_iter().map(read).collect::<Result<_, _>>()?,
        };
        let parts = expected.split(|char: char| ",:;".contains(char));
        let quoted = expected.split('"').skip(1).step_by(2);
        let indices = parts.map(str::trim).filter(|part| {
            let words = ["line ", "column ", "row group ", "row "];
            words.iter().any(|word| part.starts_with(word)) && part.len() < 16
        });
        let named: Vec<&str> = quoted.filter(|name| *name != ";").chain(indices).collect();
        for error in &errors {
            let missing = named.iter().find(|name| !error.contains(**name));
            if let Some(missing) = missing {
                return Err(format!("{missing:?} is not in {error:?}"));
            }
        }
        Ok(())
    }
}

/// Fails if a check does not find the error of a run, or has problems with data that can be scored.
fn agree<T>(checked: Result<Check, RunError>, scored: &Result<T, String>) -> Result<(), String> {
    let messages: Vec<String> = match &checked {
        Err(error) => vec![error.to_string()],
        Ok(check) => {
            let problems = check.problems.iter();
            let errors = problems.flat_map(|problem| &problem.first);
            errors.map(ToString::to_string).collect()
        }
    };
    let agrees = match scored {
        Ok(_) => messages.is_empty(),
        Err(error) => messages.contains(error),
    };
    let scored = scored.as_ref().err();
    if agrees {
        Ok(())
    } else {
        Err(format!("scored: {scored:?}, checked: {messages:?}"))
    }
}

/// Watches nothing.
struct Nobody;

impl metric_run::Observer for Nobody {}

#[test]
fn files_of_other_programs() {
    let folders = rows::folders()
        .into_iter()
        .map(|folder| folder.join("inputs"));
    let folders: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
    let rows = rows::rows("inputs/cases.jsonl");
    let name = |row: &Json| match row["options"].as_str() {
        Some(options) => format!("{} {options}", rows::text(row, "file").unwrap_or_default()),
        None => rows::text(row, "file").unwrap_or_default().to_owned(),
    };
    rows::check(&rows, name, &[], |row| {
        let check = |folder: &PathBuf| Case { row, folder }.check();
        let file = rows::text(row, "file")?;
        let first = file.split(" + ").next().unwrap_or_default();
        let is_here = |folder: &&PathBuf| first.contains('*') || folder.join(first).exists();
        folders.iter().filter(is_here).try_for_each(check)
    });
}
