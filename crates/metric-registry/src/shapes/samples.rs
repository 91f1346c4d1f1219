//! Samples of a task, each of which passes or fails: a list of Booleans, or how many there are and how many pass. There is
//! no reference.

use metric_code::MAX_SAMPLES;
use metric_record::json::{self, typed};
use metric_record::{FieldError, Kind, Message, Value};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The number of samples of a task, and how many of them pass.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Samples {
    pub(crate) n: u64,
    pub(crate) c: u64,
}

impl Samples {
    /// Reads a prediction.
    pub(crate) fn read(value: &mut Value<'_>) -> Result<Self, FieldError> {
        if value.is_missing() {
            // Records of one side always have a prediction. Elsewhere, one that is missing is a sample that fails.
            return Ok(Self { n: 1, c: 0 });
        }
        let samples = Self::counted(value).map_err(FieldError::prediction)?;
        let refuse = |problem: String| Err(FieldError::prediction(problem));
        match samples {
            Self { n: 0, .. } => refuse("the task has no samples: expected at least 1".into()),
            Self { n, c } if c > n => refuse(format!("c is {c}, and n is {n}: expected c ≤ n")),
            Self { n, .. } if n > MAX_SAMPLES => {
                let problem = format!("the task has {n} samples: expected at most {MAX_SAMPLES}");
                Err(FieldError::prediction(problem).limit())
            }
            samples => Ok(samples),
        }
    }

    fn counted(value: &mut Value<'_>) -> Result<Self, Message> {
        // Cells of CSV are also written by Python, whose Booleans start with a capital letter.
        let line = value.as_line();
        let line = line.map(|line| line.replace("True", "true").replace("False", "false"));
        let json = match &line {
            Some(line) => line.as_str().into(),
            None => value.to_json_or("null")?,
        };
        match json::kind(&json) {
            Kind::List => {}
            Kind::Object => return Ok(typed(&json)?),
            found => {
                let problem = format!(
                    "expected the samples of a task, such as [true, false] or {{\"n\": 2, \"c\": 1}}, found {found}"
                );
                return Err(match passes(&json) {
                    Some(_) => Message::from(problem)
                        .text("; for records of single samples, use ")
                        .option("group-field", "NAME"),
                    None => problem.into(),
                });
            }
        }
        let items: Vec<&RawValue> = typed(&json)?;
        let mut samples = Self { n: 0, c: 0 };
        for item in items {
            samples.n += 1;
            let item = item.get();
            let passes = passes(item).ok_or_else(|| {
                let found = match json::kind(item) {
                    Kind::Number => item.to_owned(),
                    kind => kind.to_string(),
                };
                let sample = samples.n;
                format!("sample {sample}: expected true, false, 1 or 0, found {found}")
            })?;
            samples.c += u64::from(passes);
        }
        Ok(samples)
    }
}

/// Whether a sample passes. Tables with gaps hold 0 and 1 as floating-point numbers.
fn passes(json: &str) -> Option<bool> {
    match json.trim() {
        "true" | "1" | "1.0" => Some(true),
        "false" | "0" | "0.0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_samples() {
        for (json, expected) in [
            ("[true, false, true]", Ok((3, 2))),
            ("[1,0,0.0]", Ok((3, 1))),
            (r#"{"n": 20, "c": 3}"#, Ok((20, 3))),
            (r#"{"c": 0, "n": 1}"#, Ok((1, 0))),
            ("[]", Err("no samples")),
            (r#"{"n": 0, "c": 0}"#, Err("no samples")),
            (r#"{"n": 1, "c": 2}"#, Err("c is 2, and n is 1")),
            (r#"{"n": 1000001, "c": 2}"#, Err("at most 1000000")),
            (r#"{"n": 1}"#, Err("c")),
            (r#"{"n": 1.5, "c": 1}"#, Err("1.5")),
            (r#"{"n": 2, "c": -1}"#, Err("-1")),
            (r#"{"n": 2, "c": 1, "k": 1}"#, Err("k")),
            (
                "[true, 2]",
                Err("sample 2: expected true, false, 1 or 0, found 2"),
            ),
            (r#"["true"]"#, Err("sample 1")),
            ("[null]", Err("sample 1")),
            ("[[true]]", Err("sample 1")),
            ("null", Err("expected the samples of a task")),
            ("true", Err("--group-field")),
            ("\"x\"", Err("found a string")),
        ] {
            let read = Samples::read(&mut Value::json(json));
            match (read, expected) {
                (Ok(read), Ok(expected)) => assert_eq!((read.n, read.c), expected, "{json}"),
                (Err(error), Err(expected)) => {
                    let error = error.to_string();
                    assert!(error.contains(expected), "{json}: {error}");
                }
                (read, _) => panic!("{json}: {:?}", read.map(|read| (read.n, read.c))),
            }
        }
        let read = Samples::read(&mut Value::line("[True, False]"));
        assert!(matches!(read, Ok(Samples { n: 2, c: 1 })));
    }
}
