//! Ranked labels.

use std::sync::OnceLock;

use metric_class::{AccuracyAtK, Ranks, VERSION};
use metric_core::{Merge, Metric};
use serde::{Deserialize, Serialize};

use super::read::{json, kind, string, typed};
use super::scorer::{Adapter, noted};
use super::{
    Entry, FieldError, Input, Named, Notes, OptionError, OptionSpec, Reading, Record, Sink, Value,
    never_whole,
};

pub(super) const ACCURACY_AT_K: Entry = Entry {
    name: "accuracy-at-k",
    help: "Share of references among the first k predicted labels",
    values: (
        "a label: an integer or a string",
        "a list of labels, the most likely first",
    ),
    options: &[
        OptionSpec {
            name: "input",
            value: "FORM",
            default: "labels",
            choices: || vec!["labels"],
            help: "What a prediction is",
        },
        OptionSpec {
            name: "k",
            value: "K,...",
            default: "",
            choices: Vec::new,
            help: "How many of the first labels count, one number or several [default: 1 and the length of the rows]",
        },
    ],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let ks = match options.get("k") {
            None => Vec::new(),
            Some(text) => numbers(text).map_err(|reason| OptionError::new("k", text, reason))?,
        };
        let metric = AccuracyAtK::new(if ks.is_empty() { vec![1] } else { ks.clone() })
            .map_err(|error| OptionError::new("k", "", error.to_string()))?;
        let reading = Labels {
            metric: RankedRows(metric),
            ks,
            width: OnceLock::new(),
        };
        Ok(Adapter::boxed("accuracy-at-k", VERSION, reading))
    },
};

fn numbers(text: &str) -> Result<Vec<usize>, String> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        match part.trim().parse::<usize>() {
            Ok(0) => return Err("k counts from 1".to_owned()),
            Ok(k) if !numbers.contains(&k) => numbers.push(k),
            Ok(_) => {}
            Err(_) => return Err(format!("{part:?} is no whole number")),
        }
    }
    Ok(numbers)
}

struct Labels {
    metric: RankedRows,
    /// The chosen k; empty for 1 and the length of the rows.
    ks: Vec<usize>,
    /// The length of the first row, which all others have.
    width: OnceLock<usize>,
}

/// [`AccuracyAtK`] that remembers how long the rows are, for the default k.
struct RankedRows(AccuracyAtK<Label>);

#[derive(Clone, Default, Serialize, Deserialize)]
struct RankedRowsState {
    ranks: Ranks,
    /// The lengths of the shortest and of the longest row; none without rows.
    widths: Option<(usize, usize)>,
}

impl RankedRowsState {
    fn add_widths(&mut self, widths: Option<(usize, usize)>) {
        if let Some((shortest, longest)) = widths {
            let (least, most) = self.widths.unwrap_or((shortest, longest));
            self.widths = Some((least.min(shortest), most.max(longest)));
        }
    }
}

impl Merge for RankedRowsState {
    fn merge(&mut self, other: Self) {
        self.ranks.merge(other.ranks);
        self.add_widths(other.widths);
    }
}

impl Metric for RankedRows {
    type Prediction = [Label];
    type Reference = Label;
    type State = RankedRowsState;
    type Score = Vec<(usize, Option<f64>)>;

    fn update(&self, state: &mut RankedRowsState, prediction: &[Label], reference: &Label) {
        self.0.update(&mut state.ranks, prediction, reference);
        let width = prediction.len();
        state.add_widths((width > 0).then_some((width, width)));
    }

    fn compute(&self, state: &RankedRowsState) -> Self::Score {
        self.0.compute(&state.ranks)
    }
}

/// A class label. The integer 3 and the string "3" are two labels; a line of text has no type and
/// may be either.
#[derive(Clone, Debug)]
enum Label {
    Integer(i64),
    Text(String),
    Line(String),
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Integer(a), Self::Line(b)) | (Self::Line(b), Self::Integer(a)) => {
                a.to_string() == *b
            }
            (Self::Text(a) | Self::Line(a), Self::Text(b) | Self::Line(b)) => a == b,
            (Self::Integer(_), Self::Text(_)) | (Self::Text(_), Self::Integer(_)) => false,
        }
    }
}

fn label(json: &str) -> Result<Label, String> {
    match json.trim_start().as_bytes().first() {
        Some(b'"') => Ok(Label::Text(string(json)?.into_owned())),
        Some(b'-' | b'0'..=b'9') => typed(json)
            .map(Label::Integer)
            .map_err(|_| format!("expected a label, an integer or a string, found {json}")),
        _ => Err(format!(
            "expected a label, an integer or a string, found {}",
            kind(json)
        )),
    }
}

impl Reading for Labels {
    type Metric = RankedRows;

    fn metric(&self) -> &Self::Metric {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let mut ks = self.ks.clone();
        ks.sort_unstable();
        let ks: Vec<_> = ks.iter().map(usize::to_string).collect();
        let ks = if ks.is_empty() {
            "1,all".to_owned()
        } else {
            ks.join(",")
        };
        vec![
            ("input".to_owned(), "labels".to_owned()),
            ("k".to_owned(), ks),
        ]
    }

    fn read(
        &self,
        record: &Record<'_>,
        sink: &mut Sink<'_, Self::Metric>,
    ) -> Result<(), FieldError> {
        let reference = match record.reference {
            Value::Text(text) => Label::Line(text.to_owned()),
            Value::Json(json) => label(json).map_err(FieldError::reference)?,
            Value::Missing => Label::Text(String::new()),
        };
        if record.prediction == Value::Missing {
            sink.example(&[], &reference);
            return Ok(());
        }
        let row = json(record.prediction, "[]");
        let row: Vec<&serde_json::value::RawValue> = typed(row).map_err(|_| {
            FieldError::prediction(format!("expected a list of labels, found {}", kind(row)))
        })?;
        let row: Vec<Label> = row
            .into_iter()
            .map(|json| label(json.get()))
            .collect::<Result<_, _>>()
            .map_err(FieldError::prediction)?;
        let width = *self.width.get_or_init(|| row.len());
        if row.len() != width {
            return Err(FieldError::prediction(format!(
                "the row has {} labels: expected {width}, as in the first row",
                row.len()
            )));
        }
        let needed = self.ks.iter().copied().max().unwrap_or(1);
        if row.len() < needed {
            return Err(FieldError::prediction(format!(
                "the row has {} labels: expected at least {needed}, the greatest k",
                row.len()
            )));
        }
        sink.example(&row, &reference);
        Ok(())
    }

    fn scores(&self, state: &RankedRowsState) -> Named<Option<f64>> {
        self.by_k(state, "accuracy", |k| state.ranks.accuracy_at(k).value())
    }

    fn counts(&self, state: &RankedRowsState) -> Named<serde_json::Value> {
        let mut counts = self.by_k(state, "hits", |k| state.ranks.accuracy_at(k).correct.into());
        counts.push(("total".to_owned(), state.ranks.accuracy_at(1).total.into()));
        counts
    }

    fn warnings(&self, state: &RankedRowsState, notes: &Notes) -> Vec<String> {
        let mut warnings = noted(notes);
        if let Some((shortest, longest)) = state.widths.filter(|widths| widths.0 != widths.1) {
            warnings.push(format!(
                "rows of {shortest} to {longest} labels were merged"
            ));
        }
        warnings
    }
}

impl Labels {
    /// A number for each k, under its name.
    fn by_k<T>(
        &self,
        state: &RankedRowsState,
        name: &str,
        number: impl Fn(usize) -> T,
    ) -> Named<T> {
        // One example may have no row; the length of the rows is that of the data set.
        let longest = state.widths.map_or(0, |(_, longest)| longest);
        let width = longest.max(self.width.get().copied().unwrap_or(0));
        let default = if width <= 1 { vec![1] } else { vec![1, width] };
        let ks = if self.ks.is_empty() {
            &default
        } else {
            &self.ks
        };
        ks.iter()
            .map(|&k| (format!("{name}@{k}"), number(k)))
            .collect()
    }
}
