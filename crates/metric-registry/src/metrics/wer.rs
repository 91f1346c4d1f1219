//! Word and character error rates.

use std::borrow::Cow;

use metric_core::{Metric, NamedScores};
use metric_record::{FieldError, Message, Record, Side, Value};
use metric_text::edit::{Alignment, Alternatives, EditProfile, EditState, InvalidAlternatives};
use metric_text::normalize::{Finding, Step, is_printable_ascii, letters};
use metric_text::{EditRate, Normalizer, Unit};
use serde_json::json;

use crate::numbers::named;
use crate::prepare::{EXTRACT, NORMALIZE, finding_words, normalize_parts};
use crate::shapes::texts::{Limit, MAX_CELLS, OfTexts, Rate, counts, note_forms};
use crate::{
    Asked, Chart, Counted, Demo, Drawing, Entry, ExampleView, Named, Note, Notice, Numbers,
    OptionError, OptionSpec, Options, Remarks, ScoreSpec, Scorer, Shape, TextExample, TextMetric,
};

const PROFILE: OptionSpec = OptionSpec::choice::<EditProfile>(
    "profile",
    "PROFILE",
    "Package whose conventions to follow for white space and for empty references",
)
.or(EditProfile::Jiwer.name());

const CASE_SENSITIVE: OptionSpec = OptionSpec::flag(
    "case-sensitive",
    "With the profile wenet: units in upper and lower case differ",
)
.only_with("profile", &[EditProfile::Wenet.name()]);

/// Alignments are drawn as text, and written as data.
const TEXT: &[Drawing] = &[Drawing::Text, Drawing::ColoredText, Drawing::Alignment];

pub(crate) const WER: Entry = Entry {
    name: "wer",
    class: "WER",
    question: "How many words of a transcript are incorrect?",
    programs: "jiwer, torchmetrics, Hugging Face",
    shapes: &[Shape::Texts.as_is()],
    tried: &[
        &[
            ("profile", "torchmetrics"),
            ("normalize", "lower,punctuation"),
        ],
        &[("unit", "mixed")],
        &[("profile", "wenet"), ("case-sensitive", "")],
    ],
    help: "Word error rate, match error rate, word information lost and preserved",
    values: ("a string", "a string"),
    known_as: &[(&["mer", "wil", "wip"], "it is a score of wer and cer")],
    demos: &[Demo::new(
        "speech",
        ["spoken.txt", "heard.txt"],
        &["wer", "mer", "wil"],
    )
    .with(&[("normalize", "casefold,punctuation")])],
    options: &[
        PROFILE,
        OptionSpec::one_of(
            "unit",
            "UNIT",
            || vec![Unit::Word.name(), Unit::Mixed.name()],
            "Unit to compare: a word, or mixed, which also has each character of scripts without spaces and each punctuation character and symbol as a unit [default: word]",
        ),
        CASE_SENSITIVE,
        EXTRACT,
        NORMALIZE,
        MAX_CELLS,
    ],
    scores: &[
        ScoreSpec::lower("wer"),
        ScoreSpec::lower("mer"),
        ScoreSpec::lower("wil"),
        ScoreSpec::higher("wip"),
        ScoreSpec::lower("wer_mean"),
    ],
    details: true,
    drawings: TEXT,
    charts: &[Chart::Edits],
    example: Some(ExampleView::Words),
    build: &|options| build("wer", Unit::Word, options),
    ..Entry::BASE
};

pub(crate) const CER: Entry = Entry {
    name: "cer",
    class: "CER",
    question: "How many characters are incorrect?",
    programs: "jiwer, torchmetrics, Hugging Face",
    shapes: &[Shape::Texts.as_is()],
    tried: &[
        &[("unit", "grapheme"), ("profile", "huggingface")],
        &[("profile", "wenet")],
    ],
    help: "Character error rate, and the other rates of wer, counted in characters",
    known_as: &[(
        &["levenshtein", "edit-distance"],
        "cer and wer count edits of characters and of words",
    )],
    demos: &[Demo::new("speech", ["spoken.txt", "heard.txt"], &[])],
    options: &[
        PROFILE,
        OptionSpec::one_of(
            "unit",
            "UNIT",
            || vec![Unit::CodePoint.name(), Unit::Grapheme.name()],
            "Unit to compare: a Unicode code point, or a grapheme, which readers see as one character [default: codepoint]",
        ),
        CASE_SENSITIVE,
        EXTRACT,
        NORMALIZE,
        MAX_CELLS,
    ],
    scores: &[
        ScoreSpec::lower("cer"),
        ScoreSpec::lower("mer"),
        ScoreSpec::lower("wil"),
        ScoreSpec::higher("wip"),
        ScoreSpec::lower("cer_mean"),
    ],
    charts: &[Chart::Edits],
    example: Some(ExampleView::Characters),
    build: &|options| build("cer", Unit::CodePoint, options),
    ..WER
};

fn build(name: &str, unit: Unit, options: &Options) -> Result<Scorer, OptionError> {
    /// The confusions of a kind in compact details.
    const MOST_CONFUSIONS: usize = 200;
    let profile = options.require("profile")?;
    let is_wenet = profile == EditProfile::Wenet;
    let case_sensitive = options.has(CASE_SENSITIVE.name);
    if is_wenet && options.has("unit") {
        let reason = Message::from("expected no unit with ");
        let reason = reason.option("profile", EditProfile::Wenet.name());
        return Err(OptionError::new("unit", &options.given("unit"), reason));
    }
    let metric = EditRate::default()
        .with_unit(options.parse("unit")?.unwrap_or(unit))
        .with_profile(profile)
        .with_case_sensitive(case_sensitive)
        .with_normalizer(options.parse(NORMALIZE.name)?.unwrap_or_default())
        .with_confusions(options.details());
    let reading = OfTexts {
        is_correct: |state: &EditState| state.edits.errors() == 0,
        limit: Limit::of_distance(options, EditRate::measure_within)?,
        closeness: |_, _, _| None,
        rate: Some(Rate(EditRate::update_rated, EditRate::error_rate)),
        details: match (options.details(), options.compact_details()) {
            (false, _) => None,
            (true, false) => Some(|state| confusions(state, None)),
            (true, true) => Some(|state| confusions(state, Some(MOST_CONFUSIONS))),
        },
        picture: Some(picture),
        warnings: Some(warnings),
        direct: Some(|text| text),
        ..OfTexts::new(name, metric)
    };
    reading.scorer(options)
}

impl TextMetric for EditRate {
    fn definition(&self) -> Named<String> {
        let case = if self.case_sensitive { "mixed" } else { "uc" };
        let units = match self.profile {
            EditProfile::Wenet => ("case", case.to_owned()),
            _ => ("unit", self.unit.to_string()),
        };
        let mut parts = named([("profile", self.profile.to_string()), units]);
        parts.extend(normalize_parts(&self.normalizer));
        parts
    }

    /// Of texts with alternatives, these are the ways to read them with the fewest errors.
    fn read<'a>(&self, record: &mut Record<'a>) -> Result<TextExample<'a, Self>, FieldError> {
        let has_alternatives =
            [&record.prediction, &record.reference].map(|value| value.as_alternatives().is_some());
        if !are_words(self.unit) || has_alternatives == [false; 2] {
            let prediction = record.prediction.text().map_err(FieldError::prediction)?;
            let reference = record.reference.text().map_err(FieldError::reference)?;
            return Ok(TextExample::new(prediction, reference));
        }
        let prediction = alternatives(&mut record.prediction, Side::Prediction)?;
        let reference = alternatives(&mut record.reference, Side::Reference)?;
        let closest = reference.closest(&prediction, self);
        let (reference, prediction) =
            closest.map_err(|error| FieldError::reference(error.to_string()).limit())?;
        Ok(TextExample::new(prediction.into(), reference.into()))
    }

    /// Notes words with white space in them, and what normalization does to texts that it was not made for, in addition.
    fn check(&self, prediction: &str, reference: &str, note: Note<'_>) -> Result<(), FieldError> {
        note_findings(&self.normalizer, prediction, reference, note);
        tally(self, prediction, reference, note);
        let texts = [prediction, reference];
        if texts.into_iter().all(is_printable_ascii) {
            return Ok(());
        }
        let profile = self.profile;
        let glued = texts.map(|text| match self.unit.glued_words(text, profile) {
            0 => 0,
            _ => self.unit.glued_words(&self.normalizer.apply(text), profile) as u64,
        });
        let glued = glued.into_iter().sum();
        if glued > 0 {
            let rest = |words: &str| {
                let text = format!(
                    "{words} white space inside, such as a tab, a line end or a no-break space, as {profile} does not split words there: to split at all white space, use "
                );
                Message::from(text).option(NORMALIZE.name, "whitespace")
            };
            let words = Counted::new(rest("word has"), rest("words have"));
            note(Notice::Words(&words, Some(glued)));
        }
        note_forms(self, prediction, reference, note);
        Ok(())
    }

    fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.prepare(text)
    }

    fn numbers(&self, state: &EditState, _: Asked<'_>) -> Numbers {
        let name = if are_words(self.unit) { "wer" } else { "cer" };
        let mut scores = self.compute(state).named_scores();
        for (score, _) in &mut scores {
            match &**score {
                "error_rate" => name.clone_into(score),
                "mean_error_rate" => *score = format!("{name}_mean"),
                _ => {}
            }
        }
        Numbers {
            scores,
            counts: counts(&state.edits),
            ..Numbers::default()
        }
    }
}

/// Counts what [`warnings`] depend on.
fn tally(metric: &EditRate, prediction: &str, reference: &str, note: Note<'_>) {
    let mut tally = |name, times| note(Notice::Tally(name, times));
    if metric.profile == EditProfile::Wenet {
        if !reference.is_ascii() {
            let units = metric.prepare(reference);
            let starts = metric.unit.letter_starts(&units, metric.profile);
            tally(LETTER_STARTS, starts as u64);
        }
        return;
    }
    if metric.unit == Unit::Word {
        let [letters, without_spaces] = letters(reference);
        tally(RECORDS, 1);
        tally(LETTERS, letters);
        tally(LETTERS_WITHOUT_SPACES, without_spaces);
    }
    if are_words(metric.unit) && !reference.is_empty() && !prediction.is_empty() {
        match [prediction, reference].map(has_digits) {
            [false, false] => {}
            [true, true] => tally(DIGITS, 1),
            [true, false] => tally(PREDICTED_DIGITS, 1),
            [false, true] => tally(REFERENCE_DIGITS, 1),
        }
    }
}

/// The warnings that depend on all examples.
fn warnings(metric: &EditRate, state: &EditState, remarks: Remarks<'_>) -> Vec<Message> {
    let count = |name| remarks.tally(name);
    let units = state.edits.reference_length();
    let mut warnings = Vec::new();
    if 2 * count(LETTERS_WITHOUT_SPACES) > count(LETTERS) && units < 2 * count(RECORDS) {
        let message = Message::from(
            "the references have almost no spaces, so whole sentences are compared: cer, or wer with ",
        );
        let message = message.option("unit", Unit::Mixed.name());
        warnings.push(message.text(", is what such languages are scored with"));
    }
    if 10 * count(LETTER_STARTS) > units {
        warnings.push(Message::from(
            "over a tenth of the units of the references start with a letter outside ASCII, such as \u{10d} or \u{436}: the profile wenet cuts words before such letters, and is meant for Chinese and English",
        ));
    }
    let sides = [
        (
            count(REFERENCE_DIGITS),
            "reference",
            "references",
            "prediction",
        ),
        (
            count(PREDICTED_DIGITS),
            "prediction",
            "predictions",
            "reference",
        ),
    ];
    let [of_references, of_predictions, of_both] =
        [REFERENCE_DIGITS, PREDICTED_DIGITS, DIGITS].map(count);
    let is_one_sided = of_both == 0 && (of_references == 0) != (of_predictions == 0);
    let reads_numbers = metric.normalizer.steps.iter().any(changes_digits);
    if let Some((times, side, sides, other)) = sides.into_iter().find(|it| it.0 > 0)
        && is_one_sided
        && !reads_numbers
    {
        let rest = |start: String| {
            let text = format!(
                "{start} digits, and no {other} has any, so numbers that are written in words count as errors: in English, use "
            );
            Message::from(text).option(NORMALIZE.name, Step::WhisperEnglish.name())
        };
        let words = Counted::new(rest(format!("{side} has")), rest(format!("{sides} have")));
        warnings.push(words.warning(times));
    }
    warnings
}

/// The names of tallies: records, letters of references, and of these the letters of scripts without spaces between words.
const RECORDS: &str = "records";
const LETTERS: &str = "letters";
const LETTERS_WITHOUT_SPACES: &str = "letters without spaces";
/// Units of references that start with a letter where the profile wenet cuts words.
const LETTER_STARTS: &str = "letter starts";
/// Records with digits in both texts, and in one of them only.
const DIGITS: &str = "digits";
const PREDICTED_DIGITS: &str = "digits of predictions";
const REFERENCE_DIGITS: &str = "digits of references";

/// Notes what normalization does to texts that it was not made for.
fn note_findings(normalizer: &Normalizer, prediction: &str, reference: &str, note: Note<'_>) {
    for (text, is_reference) in [(prediction, false), (reference, true)] {
        for (finding, times) in normalizer.findings(text) {
            let words = finding_words(finding, ["reference", "references"]);
            match finding {
                Finding::Marks { .. } | Finding::Apostrophe { .. } | Finding::FormatWords => {
                    note(Notice::Words(&words, Some(times)));
                }
                // A text is judged once, by its reference.
                _ if is_reference => note(Notice::Words(&words, None)),
                _ => {}
            }
        }
    }
}

/// Whether a text has digits, in one fast pass.
fn has_digits(text: &str) -> bool {
    text.bytes()
        .fold(false, |any, byte| any | byte.is_ascii_digit())
}

/// Whether a step may write numbers in another way, or removes them.
fn changes_digits(step: &Step) -> bool {
    matches!(
        step,
        Step::WhisperEnglish | Step::OpenAsrEnglish | Step::Digits | Step::AsciiDigits
    ) || !Step::ALL.contains(step)
}

/// Whether units are words, at least of scripts that have spaces between them.
fn are_words(unit: Unit) -> bool {
    matches!(unit, Unit::Word | Unit::Mixed)
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

/// Confusions of units, the most frequent first; null is an insertion or a deletion. If only so many of a kind are listed,
/// their number says how many different ones of each kind there are.
fn confusions(state: &EditState, most: Option<usize>) -> serde_json::Value {
    let unit = |unit: &str| (!unit.is_empty()).then(|| unit.to_owned());
    let (confusions, distinct) = state.confusions.summary(most.unwrap_or(usize::MAX));
    let confusions = confusions.into_iter();
    let confusions: Vec<_> = confusions
        .map(|(reference, prediction, count)| {
            json!({"reference": unit(reference), "prediction": unit(prediction), "count": count})
        })
        .collect();
    let mut details = json!({"confusions": confusions});
    if most.is_some() {
        details["distinct"] = json!({
            "substitutions": distinct.substitutions,
            "deletions": distinct.deletions,
            "insertions": distinct.insertions,
        });
    }
    details
}

/// Draws the alignment of the texts of a record.
fn picture(
    metric: &EditRate,
    record: &mut Record<'_>,
    drawing: Drawing,
) -> Result<String, FieldError> {
    /// The width of a printed alignment.
    const COLUMNS: usize = 80;
    let example = metric.read(record)?;
    let texts = [&*example.reference, &*example.prediction];
    let texts = texts.map(|text| metric.prepare(text));
    let [reference, prediction] = texts
        .each_ref()
        .map(|text| metric.unit.split(text, metric.profile));
    let alignment = Alignment::under(metric.profile, &reference, &prediction);
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

/// A character as it can be shown in a terminal.
fn printed(character: char) -> String {
    if character.is_control() {
        character.escape_default().collect()
    } else {
        character.to_string()
    }
}
