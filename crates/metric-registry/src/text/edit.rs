//! Word and character error rates.

use std::borrow::Cow;

use metric_core::Metric;
use metric_text::edit::{Alignment, EditState, Profile};
use metric_text::{EditRate, Unit, VERSION};
use serde_json::json;

use metric_record::{Batch, FieldError, Record, RecordError};

use crate::text::string_accuracy::{NORMALIZE, read_texts, texts};
use crate::{
    Draw, Drawing, Entry, Input, Named, Numbers, OptionError, OptionKind, OptionSpec, Options,
    Reading, Scope, ScoreSpec, Scorer, Sink, never_whole, scorer,
};

const PROFILE: OptionSpec = OptionSpec {
    name: "profile",
    kind: OptionKind::Choice(|| Profile::ALL.iter().map(|profile| profile.name()).collect()),
    value: "PROFILE",
    default: Profile::Jiwer.name(),
    help: "Whose rules for white space, and for references without words",
};

/// Alignments are drawn as text.
const TEXT: &[Drawing] = &[Drawing::Text, Drawing::ColoredText];

pub(crate) const WER: Entry = Entry {
    name: "wer",
    help: "Word error rate, match error rate, word information lost and preserved",
    values: ("a string", "a string"),
    options: &[PROFILE, NORMALIZE],
    scores: &[
        ScoreSpec::lower("wer"),
        ScoreSpec::lower("mer"),
        ScoreSpec::lower("wil"),
        ScoreSpec::higher("wip"),
        ScoreSpec::lower("wer_mean"),
    ],
    groups: &[],
    details: true,
    drawings: TEXT,
    input: Input::Records,
    whole_file: never_whole,
    state_format: 1,
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
            kind: OptionKind::Choice(|| vec![Unit::CodePoint.name(), Unit::Grapheme.name()]),
            value: "UNIT",
            default: Unit::CodePoint.name(),
            help: "What a character is: a Unicode code point, or what a reader takes for one",
        },
        NORMALIZE,
    ],
    scores: &[
        ScoreSpec::lower("cer"),
        ScoreSpec::lower("mer"),
        ScoreSpec::lower("wil"),
        ScoreSpec::higher("wip"),
        ScoreSpec::lower("cer_mean"),
    ],
    groups: &[],
    details: true,
    drawings: TEXT,
    input: Input::Records,
    whole_file: never_whole,
    state_format: 1,
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
    Ok(scorer(name, VERSION, Rates { name, metric }))
}

struct Rates {
    name: &'static str,
    metric: EditRate,
}

/// The width of a printed alignment.
const COLUMNS: usize = 80;

impl Rates {
    fn normalized<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.metric.normalizer.apply(text)
    }

    fn check_work(&self, prediction: &str, reference: &str) -> Result<(), FieldError> {
        let checked = self.metric.check_work(prediction, reference);
        checked.map_err(|error| FieldError::prediction(error.to_string()))
    }

    fn units<'a>(&self, normalized: &'a str) -> Vec<&'a str> {
        self.metric.unit.split(normalized, self.metric.profile)
    }
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
    type Header = ();

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

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let (prediction, reference) = texts(record)?;
        self.check_work(&prediction, &reference)?;
        sink.example(&prediction, &reference);
        Ok(())
    }

    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        read_texts(batch, sink, |prediction, reference| {
            self.check_work(prediction, reference)
        })
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        let reference = record.reference.clone().text().unwrap_or_default();
        self.metric.measure("", &reference).edits.errors() == 0
    }

    fn numbers(&self, state: &EditState, (): &(), _scope: Scope<'_>) -> Numbers {
        let rates = self.metric.compute(state);
        let edits = &state.edits;
        let scores = [
            (self.name.to_owned(), rates.error_rate),
            ("mer".to_owned(), rates.match_error_rate),
            ("wil".to_owned(), rates.information_lost),
            ("wip".to_owned(), rates.information_preserved),
            (format!("{}_mean", self.name), rates.mean_error_rate),
        ];
        let counts = [
            ("hits", edits.hits),
            ("substitutions", edits.substitutions),
            ("deletions", edits.deletions),
            ("insertions", edits.insertions),
        ];
        Numbers {
            scores: scores.into(),
            counts: counts
                .map(|(name, count)| (name.to_owned(), count.into()))
                .into(),
            ..Numbers::default()
        }
    }

    /// Confusions of units, the most frequent first; null is an insertion or a deletion.
    fn details(&self, state: &EditState, (): &()) -> Option<serde_json::Value> {
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

    fn pictures(&self) -> Option<&dyn Draw> {
        Some(self)
    }
}

impl Draw for Rates {
    fn draws(&self, drawing: Drawing) -> bool {
        TEXT.contains(&drawing)
    }

    /// Draws the alignment.
    fn picture(&self, record: &mut Record<'_>, _drawing: Drawing) -> Result<String, FieldError> {
        let (prediction, reference) = texts(record)?;
        let [reference, prediction] = [&reference, &prediction].map(|text| self.normalized(text));
        let [reference, prediction] = [&reference, &prediction].map(|text| self.units(text));
        let alignment = Alignment::new(&reference, &prediction);
        let diff = alignment.diff(&reference, &prediction, COLUMNS);
        let id = record.id.to_string();
        // An id from a file must not command the terminal.
        let id: String = id.chars().map(printed).collect();
        Ok(format!("{id}\n{diff}"))
    }
}
