//! Word and character error rates.

use std::borrow::Cow;

use metric_core::Metric;
use metric_text::edit::{
    Alignment, Alternatives, EditProfile, EditState, InvalidAlternatives, TooManyCells,
};
use metric_text::normalize::{differ_in_form, is_printable_ascii};
use metric_text::{EditRate, Unit, VERSION};
use serde_json::json;

use metric_record::{Batch, FieldError, Message, Record, RecordError, Side, Value};

use crate::shapes::texts::{both_texts, other_forms, read_texts};
use crate::text::prepare::{EXTRACT, NORMALIZE, extracting_scorer, normalize_parts};
use crate::{
    ComparedTexts, Counted, Demo, Draw, Drawing, Entry, Named, Numbers, OptionError, OptionSpec,
    Options, Reading, Remarks, Scope, ScoreSpec, Scorer, Sink,
};

const PROFILE: OptionSpec = OptionSpec::choice::<EditProfile>(
    "profile",
    "PROFILE",
    "Package whose conventions to follow for white space and for empty references",
)
.or(EditProfile::Jiwer.name());

/// `metric_text::edit::MAX_CELLS` as text.
const DEFAULT_MAX_CELLS: &str = "100000000000";

/// Changes no score: a pair within the limit has the same one under any other.
pub(crate) const MAX_CELLS_OPTION: OptionSpec = OptionSpec::integer("max-cells", "N", 0..=i64::MAX,
    "Refuse records whose edit distance needs a table with more cells than this. A table of the default size takes about 5 s").or(DEFAULT_MAX_CELLS);

/// The value of [`MAX_CELLS_OPTION`].
pub(crate) fn max_cells(options: &Options) -> Result<u64, OptionError> {
    options.integer(MAX_CELLS_OPTION.name)
}

/// A prediction whose alignment takes too long.
pub(crate) fn too_many_cells(error: &TooManyCells) -> FieldError {
    let problem = Message::from(format!("{error}; to allow it, use "));
    let enough = error.enough().min(i64::MAX.unsigned_abs()).to_string();
    FieldError::prediction(problem.option(MAX_CELLS_OPTION.name, &enough)).limit()
}

/// Alignments are drawn as text, and written as data.
const TEXT: &[Drawing] = &[Drawing::Text, Drawing::ColoredText, Drawing::Alignment];

pub(crate) const WER: Entry = Entry {
    name: "wer",
    help: "Word error rate, match error rate, word information lost and preserved",
    values: ("a string", "a string"),
    known_as: &[(&["mer", "wil", "wip"], "it is a score of wer and cer")],
    demos: &[Demo::new(
        "speech",
        ["spoken.txt", "heard.txt"],
        &["wer", "mer", "wil"],
    )
    .with(&[("normalize", "casefold,punctuation")])],
    options: &[PROFILE, EXTRACT, NORMALIZE, MAX_CELLS_OPTION],
    scores: &[
        ScoreSpec::lower("wer"),
        ScoreSpec::lower("mer"),
        ScoreSpec::lower("wil"),
        ScoreSpec::higher("wip"),
        ScoreSpec::lower("wer_mean"),
    ],
    details: true,
    drawings: TEXT,
    report: in_report!(text {
        sections: sections,
        example: example
    }),
    build: &|options| build("wer", Unit::Word, options),
    ..Entry::BASE
};

pub(crate) const CER: Entry = Entry {
    name: "cer",
    help: "Character error rate, and the other rates of wer, counted in characters",
    values: ("a string", "a string"),
    known_as: &[(&["levenshtein", "edit-distance"], "cer and wer count edits of characters and of words")],
    demos: &[Demo::new("speech", ["spoken.txt", "heard.txt"], &[])],
    options: &[
        PROFILE,
        OptionSpec::one_of("unit", "UNIT", || vec![Unit::CodePoint.name(), Unit::Grapheme.name()],
            "Unit to compare: a Unicode code point, or a grapheme, which readers see as one character").or(Unit::CodePoint.name()),
        EXTRACT,
        NORMALIZE,
        MAX_CELLS_OPTION,
    ],
    scores: &[
        ScoreSpec::lower("cer"),
        ScoreSpec::lower("mer"),
        ScoreSpec::lower("wil"),
        ScoreSpec::higher("wip"),
        ScoreSpec::lower("cer_mean"),
    ],
    details: true,
    drawings: TEXT,
    report: in_report!(text {
        sections: sections,
        example: example
    }),
    build: &|options| build("cer", options.require("unit")?, options),
    ..Entry::BASE
};

fn build(name: &'static str, unit: Unit, options: &Options) -> Result<Scorer, OptionError> {
    let metric = EditRate::default()
        .with_unit(unit)
        .with_profile(options.require("profile")?)
        .with_normalizer(options.parse("normalize")?.unwrap_or_default())
        .with_confusions(options.details());
    let reading = Rates {
        name,
        metric,
        max_cells: max_cells(options)?,
        compact: options.compact_details(),
    };
    extracting_scorer(name, VERSION, reading, options)
}

struct Rates {
    name: &'static str,
    metric: EditRate,
    max_cells: u64,
    /// Whether details are compact.
    compact: bool,
}

/// The score whose name is this after that of the metric.
const MEAN: &str = "mean";

/// The confusions of a kind in compact details.
const MOST_CONFUSIONS: usize = 200;

/// The width of a printed alignment.
const COLUMNS: usize = 80;

impl Rates {
    fn normalized<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.metric.normalizer.apply(text)
    }

    /// The number of words with white space in them, and whether words differ only in their Unicode form.
    fn remarks(&self, prediction: &str, reference: &str) -> (usize, bool) {
        if is_printable_ascii(prediction) && is_printable_ascii(reference) {
            return (0, false);
        }
        let EditRate { unit, profile, .. } = self.metric;
        let glued = |text: &str| match unit.glued_words(text, profile) {
            0 => 0,
            _ => unit.glued_words(&self.normalized(text), profile),
        };
        let differ = differ_in_form(prediction, reference)
            && differ_in_form(&self.normalized(prediction), &self.normalized(reference));
        (glued(prediction) + glued(reference), differ)
    }

    /// Counts what is worth a warning.
    fn note(&self, prediction: &str, reference: &str, sink: &mut Sink<'_, Self>) {
        let (glued, differ) = self.remarks(prediction, reference);
        if glued > 0 {
            let profile = self.metric.profile;
            let rest = |words: &str| {
                let text = format!(
                    "{words} white space inside, such as a tab, a line end or a no-break space, as {profile} does not split words there: to split at all white space, use "
                );
                Message::from(text).option(NORMALIZE.name, "whitespace")
            };
            let words = Counted::new(rest("word has"), rest("words have"));
            sink.count(&words, glued as u64);
        }
        if differ {
            sink.count(&other_forms(), 1);
        }
    }

    /// Adds a pair whose alignment does not take too long.
    fn add(
        &self,
        prediction: &str,
        reference: &str,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        self.note(prediction, reference, sink);
        if EditRate::is_within(prediction.len(), reference.len(), self.max_cells) {
            sink.example(prediction, reference);
            return Ok(());
        }
        let measured = self
            .metric
            .measure_within(prediction, reference, self.max_cells);
        let state = measured.map_err(|error| too_many_cells(&error))?;
        sink.measured(None, &[], state);
        Ok(())
    }

    /// Both sides of a record. Of texts with alternatives, these are the ways to read them with the fewest errors.
    fn texts<'a>(
        &self,
        record: &mut Record<'a>,
    ) -> Result<(Cow<'a, str>, Cow<'a, str>), FieldError> {
        let has_alternatives =
            [&record.prediction, &record.reference].map(|value| value.as_alternatives().is_some());
        if self.metric.unit != Unit::Word || has_alternatives == [false; 2] {
            return both_texts(record);
        }
        let prediction = alternatives(&mut record.prediction, Side::Prediction)?;
        let reference = alternatives(&mut record.reference, Side::Reference)?;
        let closest = reference.closest(&prediction, &self.metric);
        let (reference, prediction) =
            closest.map_err(|error| FieldError::reference(error.to_string()).limit())?;
        Ok((prediction.into(), reference.into()))
    }

    fn scores(&self, state: &EditState) -> [(&'static str, Option<f64>); 5] {
        let rates = self.metric.compute(state);
        [
            (self.name, rates.error_rate),
            ("mer", rates.match_error_rate),
            ("wil", rates.information_lost),
            ("wip", rates.information_preserved),
            (MEAN, rates.mean_error_rate),
        ]
    }

    fn units<'a>(&self, normalized: &'a str) -> Vec<&'a str> {
        self.metric.unit.split(normalized, self.metric.profile)
    }
}

/// Reads a text that may have alternatives.
fn alternatives(value: &mut Value<'_>, side: Side) -> Result<Alternatives, FieldError> {
    let Some(text) = value.as_alternatives() else {
        let text = value.text();
        let text = text.map_err(|problem| FieldError::new(side, problem))?;
        return Ok(Alternatives::plain(&text));
    };
    Alternatives::new(text).map_err(|error| {
        let problem = FieldError::new(side, error.to_string());
        match error {
            InvalidAlternatives::Brace => problem,
            _ => problem.limit(),
        }
    })
}

/// A character as it can be shown in a terminal.
fn printed(character: char) -> String {
    if character.is_control() {
        character.escape_default().collect()
    } else {
        character.to_string()
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
            ..
        } = &self.metric;
        let parts = [("profile", profile.to_string()), ("unit", unit.to_string())];
        let parts = parts.map(|(name, value)| (name.to_owned(), value));
        parts
            .into_iter()
            .chain(normalize_parts(normalizer))
            .collect()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let (prediction, reference) = self.texts(record)?;
        self.add(&prediction, &reference, sink)
    }

    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        read_texts(batch, sink, |prediction, reference, sink| {
            self.add(prediction, reference, sink)
        })
    }

    fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        let mut state = EditState::default();
        for (prediction, reference) in pairs {
            let is_within = EditRate::is_within(prediction.len(), reference.len(), self.max_cells);
            if !is_within || self.remarks(prediction, reference) != (0, false) {
                return None;
            }
            self.metric.update(&mut state, prediction, reference);
        }
        Some(self.scores(&state).map(|(_, score)| score).into())
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        let mut empty = Record {
            prediction: Value::missing(),
            ..*record
        };
        let Ok((_, reference)) = self.texts(&mut empty) else {
            return false;
        };
        self.metric.measure("", &reference).edits.errors() == 0
    }

    fn numbers(&self, state: &EditState, (): &(), _scope: Scope<'_>) -> Numbers {
        let edits = &state.edits;
        let name = |(name, score): (&str, _)| match name {
            MEAN => (format!("{}_mean", self.name), score),
            name => (name.to_owned(), score),
        };
        let scores = self.scores(state).map(name);
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

    fn example_score(&self, state: &EditState, (): &(), name: &str) -> Option<f64> {
        if name == self.name {
            return self.metric.error_rate(state);
        }
        let numbers = self.numbers(state, &(), Scope::Example);
        let mut scores = numbers.scores.into_iter();
        scores.find(|(score, _)| score == name)?.1
    }

    fn update_scored(
        &self,
        state: &mut EditState,
        (prediction, reference): (&str, &str),
        name: &str,
    ) -> Option<Option<f64>> {
        let metric = &self.metric;
        (name == self.name).then(|| metric.update_rated(state, prediction, reference))
    }

    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        let (prediction, reference) = self.texts(record).ok()?;
        let apply = |text: &str| self.normalized(text).into_owned();
        Some(ComparedTexts::new(&prediction, &[reference], apply))
    }

    /// Confusions of units, the most frequent first; null is an insertion or a deletion. Compact ones say how many
    /// different ones of each kind there are.
    fn details(&self, state: &EditState, (): &(), _: Remarks<'_>) -> Option<serde_json::Value> {
        let most = if self.compact {
            MOST_CONFUSIONS
        } else {
            usize::MAX
        };
        let unit = |unit: &str| (!unit.is_empty()).then(|| unit.to_owned());
        let (confusions, distinct) = state.confusions.summary(most);
        let confusions = confusions.into_iter();
        let confusions: Vec<_> = confusions
            .map(|(reference, prediction, count)| {
                json!({"reference": unit(reference), "prediction": unit(prediction), "count": count})
            })
            .collect();
        let mut details = json!({"confusions": confusions});
        if self.compact {
            details["distinct"] = json!({
                "substitutions": distinct.substitutions,
                "deletions": distinct.deletions,
                "insertions": distinct.insertions,
            });
        }
        self.metric.confusions.then_some(details)
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
    fn picture(&self, record: &mut Record<'_>, drawing: Drawing) -> Result<String, FieldError> {
        let (prediction, reference) = self.texts(record)?;
        let [reference, prediction] = [&reference, &prediction].map(|text| self.normalized(text));
        let [reference, prediction] = [&reference, &prediction].map(|text| self.units(text));
        let alignment = Alignment::new(&reference, &prediction);
        if drawing == Drawing::Alignment {
            let chunks = alignment.chunks.iter().map(|chunk| {
                json!({
                    "edit": chunk.edit.name(),
                    "reference": reference[chunk.reference.clone()],
                    "prediction": prediction[chunk.prediction.clone()],
                })
            });
            return Ok(serde_json::Value::from_iter(chunks).to_string());
        }
        let diff = match drawing {
            Drawing::ColoredText => alignment.colored_diff(&reference, &prediction, COLUMNS),
            _ => alignment.diff(&reference, &prediction, COLUMNS),
        };
        let id = record.id.to_string();
        // An id from a file must not command the terminal.
        let id: String = id.chars().map(printed).collect();
        Ok(format!("{id}\n{diff}"))
    }
}

#[cfg(test)]
mod tests {
    use metric_text::edit::MAX_CELLS;

    use super::*;

    #[test]
    fn the_default_is_that_of_the_library() {
        assert_eq!(DEFAULT_MAX_CELLS, MAX_CELLS.to_string());
    }
}
