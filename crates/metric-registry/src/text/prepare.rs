//! The preparation of texts before a metric reads them: `--extract` and `--normalize`.

use std::borrow::Cow;

use metric_record::{FieldError, Kind, Message, Record, Side, Value};
use metric_text::normalize::Step;
use metric_text::{Extract, Normalizer, PythonRegex};

use crate::definition::{Prepare, Prepared};
use crate::{Counted, Named, OptionError, OptionKind, OptionSpec, Options, Reading, Scorer};

/// The part of a prediction that is scored.
pub(crate) const EXTRACT: OptionSpec = OptionSpec::text(
    "extract",
    "REGEX|fence",
    "Score only a part of the prediction: the first group of the first match of REGEX, or with fence the first fenced block (```)",
);

/// The normalization of texts before they are compared.
pub(crate) const NORMALIZE: OptionSpec = OptionSpec::list("normalize", "STEPS", &OptionKind::Text,
    "Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd, nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits, ascii-digits, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT ...)").of(crate::steps::STEPS);

/// A reading whose texts are prepared as the options say, as a scorer. The metric itself has no
/// normalization.
pub(crate) fn prepared_scorer<R: Reading>(
    metric: &str,
    version: &str,
    reading: R,
    options: &Options,
) -> Result<Scorer, OptionError> {
    let normalizer = options.parse(NORMALIZE.name)?.unwrap_or_default();
    with_steps(metric, version, reading, options, normalizer)
}

/// The same of a metric that normalizes texts by itself, or whose texts are not normalized.
pub(crate) fn extracting_scorer<R: Reading>(
    metric: &str,
    version: &str,
    reading: R,
    options: &Options,
) -> Result<Scorer, OptionError> {
    with_steps(metric, version, reading, options, Normalizer::default())
}

fn extract(options: &Options) -> Result<Option<Extract>, OptionError> {
    if options
        .get(EXTRACT.name)
        .is_none_or(|value| value.is_empty())
    {
        Ok(None)
    } else {
        options.parse(EXTRACT.name)
    }
}

/// The warning about a step such as `replace(-, )`, whose blank looks like the text.
fn blank_replacement(options: &Options) -> Option<Message> {
    let given = options.get(NORMALIZE.name)?;
    let normalizer: Normalizer = given.parse().ok()?;
    let blank = |step: &&Step| {
        matches!(step, Step::Replace(_, text) if text.is_empty())
            && given.contains(&step.to_string())
    };
    let step = normalizer.steps.iter().find(blank)?.to_string();
    let spaced = step.strip_suffix(')').unwrap_or(&step);
    let message = format!(
        "{step} deletes what it matches, as one blank after the comma does not count: to replace it by a space, write {spaced} ) with two blanks"
    );
    Some(Message::from(message))
}

fn with_steps<R: Reading>(
    metric: &str,
    version: &str,
    reading: R,
    options: &Options,
    normalizer: Normalizer,
) -> Result<Scorer, OptionError> {
    let steps = TextSteps {
        extract: extract(options)?,
        normalizer,
    };
    let is_empty = steps.extract.is_none() && steps.normalizer.steps.is_empty();
    let steps: Option<Box<dyn Prepare>> = (!is_empty).then(|| Box::new(steps) as _);
    let warnings = blank_replacement(options).into_iter().collect();
    Ok(crate::scorer::scorer_after(
        metric, version, reading, steps, warnings,
    ))
}

/// The parts of a signature for the steps, with the dialect by which words are found, if any are.
pub(crate) fn normalize_parts(normalizer: &Normalizer) -> Named<String> {
    let has_words = |step: &Step| matches!(step, Step::RemoveWords(_) | Step::ReplaceWords(_));
    let words = normalizer.steps.iter().any(has_words);
    let words = words.then(|| ("words".to_owned(), PythonRegex::DIALECT.to_owned()));
    let steps = ("normalize".to_owned(), normalizer.to_string());
    std::iter::once(steps).chain(words).collect()
}

struct TextSteps {
    extract: Option<Extract>,
    normalizer: Normalizer,
}

impl TextSteps {
    /// The text of a value, if it is a text.
    fn text<'v>(value: &Value<'v>) -> Option<Cow<'v, str>> {
        let is_text = matches!(value.kind(), Kind::Line | Kind::String);
        is_text.then(|| value.clone().text().ok()).flatten()
    }

    fn prediction(&self, value: &Value<'_>) -> Option<(String, bool)> {
        let text = Self::text(value)?;
        let part = match &self.extract {
            None => Some(Cow::Borrowed(&*text)),
            Some(extract) => extract.apply(&text),
        };
        let normalized = self.normalizer.apply(part.as_deref().unwrap_or_default());
        Some((normalized.into_owned(), part.is_some()))
    }

    /// The reference after normalization, and whether it is JSON.
    fn reference(&self, value: &Value<'_>) -> Result<Option<(String, bool)>, FieldError> {
        if self.normalizer.steps.is_empty() {
            return Ok(None);
        }
        match value.kind() {
            Kind::List => {
                let Ok(texts) = value.clone().read::<Vec<String>>() else {
                    return Ok(None);
                };
                let texts: Vec<_> = texts
                    .iter()
                    .map(|text| self.normalizer.apply(text))
                    .collect();
                Ok(serde_json::to_string(&texts).ok().map(|json| (json, true)))
            }
            Kind::Object => {
                let problem =
                    Message::from("found an object: expected a text or a list of texts, which ")
                        .option(NORMALIZE.name, "")
                        .text(" changes");
                Err(FieldError::new(Side::Reference, problem))
            }
            _ => {
                let text = Self::text(value);
                Ok(text.map(|text| (self.normalizer.apply(&text).into_owned(), false)))
            }
        }
    }
}

impl Prepare for TextSteps {
    fn signature(&self) -> Named<String> {
        let extract = self
            .extract
            .iter()
            .map(|it| ("extract".to_owned(), it.to_string()));
        let has_steps = !self.normalizer.steps.is_empty();
        let normalize = has_steps.then(|| normalize_parts(&self.normalizer));
        extract.chain(normalize.into_iter().flatten()).collect()
    }

    fn prepare(&self, record: &Record<'_>) -> Result<Prepared, FieldError> {
        let prediction = self.prediction(&record.prediction);
        let is_without = prediction.as_ref().is_some_and(|(_, found)| !found);
        Ok(Prepared {
            prediction: prediction.map(|(text, _)| text),
            reference: self.reference(&record.reference)?,
            note: is_without.then(|| {
                let of = |what: &str| Message::from(what).option(EXTRACT.name, "");
                Counted::new(
                    of("prediction counts as empty, as it has no match for "),
                    of("predictions count as empty, as they have no match for "),
                )
            }),
        })
    }
}
