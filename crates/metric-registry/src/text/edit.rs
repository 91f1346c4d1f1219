//! Word and character error rates.

use std::borrow::Cow;
use std::hash::Hash;

use metric_core::Metric;
use metric_text::edit::{Alignment, EditState, Profile};
use metric_text::{EditRate, Unit, VERSION, edit_distance_within};
use serde_json::json;

use crate::options::OptionError;
use crate::read::text;
use crate::scorer::{Adapter, Scorer};
use crate::text::string_accuracy::NORMALIZE;
use crate::{
    Drawing, Entry, FieldError, Input, Named, OptionSpec, Options, Reading, Record, Sink,
    never_whole,
};

const PROFILE: OptionSpec = OptionSpec {
    name: "profile",
    value: "PROFILE",
    default: Profile::Jiwer.name(),
    choices: || Profile::ALL.iter().map(|profile| profile.name()).collect(),
    help: "Whose rules for white space, and for references without words",
};

pub(crate) const WER: Entry = Entry {
    name: "wer",
    help: "Word error rate, match error rate, word information lost and preserved",
    values: ("a string", "a string"),
    options: &[PROFILE, NORMALIZE],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| build("wer", Unit::Word, options),
};

pub(crate) const CER: Entry = Entry {
    name: "cer",
    help: "Character error rate, with the counts and rates of wer by character",
    values: ("a string", "a string"),
    options: &[
        PROFILE,
        OptionSpec {
            name: "unit",
            value: "UNIT",
            default: Unit::CodePoint.name(),
            choices: || vec![Unit::CodePoint.name(), Unit::Grapheme.name()],
            help: "What a character is: a Unicode code point, or what a reader takes for one",
        },
        NORMALIZE,
    ],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| build("cer", options.require("unit")?, options),
};

fn build(
    name: &'static str,
    unit: Unit,
    options: &Options,
) -> Result<Box<dyn Scorer>, OptionError> {
    let metric = EditRate {
        unit,
        profile: options.require("profile")?,
        normalizer: options.parse("normalize")?.unwrap_or_default(),
        confusions: options.details(),
    };
    Ok(Adapter::boxed(name, VERSION, Rates { name, metric }))
}

struct Rates {
    name: &'static str,
    metric: EditRate,
}

/// The greatest product of the lengths, or of distance and longer length, that is aligned: some minutes
/// of work. Texts of up to a million units always fit.
pub(crate) const MOST_WORK: usize = 1 << 40;

/// The width of a printed alignment.
const COLUMNS: usize = 80;

impl Rates {
    fn normalized<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.metric.normalizer.apply(text)
    }

    fn units<'a>(&self, normalized: &'a str) -> Vec<&'a str> {
        self.metric.unit.split(normalized, self.metric.profile)
    }

    /// Refuses texts whose alignment would take hours.
    fn check(&self, prediction: &str, reference: &str) -> Result<(), FieldError> {
        // Bytes are mostly no fewer than units.
        if prediction.len().saturating_mul(reference.len()) <= MOST_WORK {
            return Ok(());
        }
        let [reference, prediction] = [reference, prediction].map(|text| self.normalized(text));
        let [reference, prediction] = [&reference, &prediction].map(|text| self.units(text));
        refuse_hours(&reference, &prediction, usize::MAX)
    }
}

/// Refuses lists whose distance, so far as it is at most `limit`, would take hours.
pub(crate) fn refuse_hours<T: Eq + Hash>(
    reference: &[T],
    prediction: &[T],
    limit: usize,
) -> Result<(), FieldError> {
    let [rows, columns] = [reference.len(), prediction.len()];
    if rows.saturating_mul(columns) <= MOST_WORK || rows.abs_diff(columns) > limit {
        return Ok(());
    }
    let longer = rows.max(columns);
    let most = MOST_WORK / longer;
    if limit <= most || edit_distance_within(reference, prediction, most).is_some() {
        return Ok(());
    }
    Err(FieldError::prediction(format_args!(
        "too long to be aligned with its reference: a text of {longer} units may have {most} errors, and this has more",
    )))
}

/// A character as it can stand in a terminal.
fn printed(character: char) -> String {
    match character.is_control() {
        true => character.escape_default().collect(),
        false => character.to_string(),
    }
}

impl Reading for Rates {
    type Metric = EditRate;

    fn metric(&self) -> &EditRate {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let EditRate {
            unit,
            profile,
            normalizer,
            confusions: _,
        } = &self.metric;
        [
            ("profile", profile.to_string()),
            ("unit", unit.to_string()),
            ("normalize", normalizer.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    fn read(&self, record: &Record<'_>, sink: &mut Sink<'_, EditRate>) -> Result<(), FieldError> {
        let prediction = text(record.prediction, FieldError::prediction)?;
        let reference = text(record.reference, FieldError::reference)?;
        self.check(&prediction, &reference)?;
        sink.example(&prediction, &reference);
        Ok(())
    }

    fn draws(&self, drawing: Drawing) -> bool {
        drawing != Drawing::Svg
    }

    /// The alignment.
    fn picture(&self, record: &Record<'_>, _drawing: Drawing) -> Result<String, FieldError> {
        let prediction = text(record.prediction, FieldError::prediction)?;
        let reference = text(record.reference, FieldError::reference)?;
        let [reference, prediction] = [&reference, &prediction].map(|text| self.normalized(text));
        let [reference, prediction] = [&reference, &prediction].map(|text| self.units(text));
        let alignment = Alignment::new(&reference, &prediction);
        let diff = alignment.diff(&reference, &prediction, COLUMNS);
        let id = record.id.to_string();
        // An id from a file must not command the terminal.
        let id: String = id.chars().map(printed).collect();
        Ok(format!("{id}\n{diff}"))
    }

    fn scores(&self, state: &EditState) -> Named<Option<f64>> {
        let scores = self.metric.compute(state);
        [
            (self.name.to_owned(), scores.error_rate),
            ("mer".to_owned(), scores.match_error_rate),
            ("wil".to_owned(), scores.information_lost),
            ("wip".to_owned(), scores.information_preserved),
            (format!("{}_mean", self.name), scores.mean_error_rate),
        ]
        .into()
    }

    fn counts(&self, state: &EditState) -> Named<serde_json::Value> {
        let edits = &state.edits;
        [
            ("hits", edits.hits),
            ("substitutions", edits.substitutions),
            ("deletions", edits.deletions),
            ("insertions", edits.insertions),
        ]
        .map(|(name, count)| (name.to_owned(), count.into()))
        .into()
    }

    /// What was taken for what, most often first; null stands for nothing.
    fn details(&self, state: &EditState) -> Option<serde_json::Value> {
        let unit = |unit: &str| (!unit.is_empty()).then(|| unit.to_owned());
        let mut confusions: Vec<_> = state.confusions.iter().collect();
        confusions.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        let confusions = confusions.into_iter().map(|(reference, prediction, count)| {
            json!({"reference": unit(reference), "prediction": unit(prediction), "count": count})
        });
        let confusions: serde_json::Value = confusions.collect();
        self.metric
            .confusions
            .then(|| json!({"confusions": confusions}))
    }
}
