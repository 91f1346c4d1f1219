//! The preparation of texts before a metric reads them: `--extract` and `--normalize`.

use std::borrow::Cow;

use metric_record::{FieldError, Kind, Message, Record, Side, Value};
use metric_text::normalize::{Finding, Step};
use metric_text::{Extract, PythonRegex};

pub use metric_text::Normalizer;

use crate::definition::{Prepare, Prepared};
use crate::{Counted, Named, OptionError, OptionKind, OptionSpec, Options, Reading, Scorer};

/// The part of a prediction that is scored.
pub(crate) const EXTRACT: OptionSpec = OptionSpec::text(
    "extract",
    "REGEX|fence|last-number",
    "Score only a part of the prediction: the first group of the first match of REGEX, with fence the first fenced block (```), or with last-number the last number, without commas",
);

/// The option for the normalization of texts before they are compared, with its steps in words. [`Normalizer`] reads it.
pub const NORMALIZE: OptionSpec = OptionSpec::list("normalize", "STEPS", &OptionKind::Text,
    "Steps that normalize both texts, in the order given: a comma-separated list of nfc, nfd, nfkc, nfkd, casefold, lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits, ascii-digits, remove-spaces, han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-basic-nodiacritics, whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-multilingual, remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT ...)").of(crate::steps::STEPS);

/// Returns a reading as a scorer, before which texts are prepared: a part of the prediction is extracted as the options
/// say, and both sides are normalized. Metrics that normalize texts by themselves have no normalizer here.
pub(crate) fn prepared_scorer<R: Reading>(
    metric: &str,
    version: &str,
    reading: R,
    options: &Options,
    normalizer: Normalizer,
) -> Result<Scorer, OptionError> {
    scorer_after_steps(
        (metric, version),
        reading,
        options,
        (normalizer, Values::Texts),
    )
}

/// Returns a reading of labels as a scorer, before which labels that are texts are prepared in the same way.
pub(crate) fn label_scorer<R: Reading>(
    metric: &str,
    version: &str,
    reading: R,
    options: &Options,
) -> Result<Scorer, OptionError> {
    let normalizer = options.parse(NORMALIZE.name)?.unwrap_or_default();
    scorer_after_steps(
        (metric, version),
        reading,
        options,
        (normalizer, Values::Labels),
    )
}

/// What texts are made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    Texts,
    /// A part of a text may be a number, as a cell of a table may, and a prediction without the part has no label.
    Labels,
}

fn scorer_after_steps<R: Reading>(
    (metric, version): (&str, &str),
    reading: R,
    options: &Options,
    (normalizer, values): (Normalizer, Values),
) -> Result<Scorer, OptionError> {
    let has_extract = options
        .get(EXTRACT.name)
        .is_some_and(|value| !value.is_empty());
    let extract = if has_extract {
        options.parse(EXTRACT.name)?
    } else {
        None
    };
    let is_empty = extract.is_none() && normalizer.steps.is_empty();
    let steps = TextSteps {
        extract,
        normalizer,
        values,
    };
    let steps: Option<Box<dyn Prepare>> = (!is_empty).then(|| Box::new(steps) as _);
    let given = options.get(NORMALIZE.name).unwrap_or_default();
    let warnings = normalize_warnings(&given);
    let scorer = crate::scorer::scorer_after(metric, version, reading, steps, warnings);
    Ok(scorer)
}

/// Returns the warnings about steps that probably do not do what is meant, whatever the texts are. The steps are a value of
/// [`NORMALIZE`].
///
/// ```
/// use metric_registry::normalize_warnings;
///
/// let warnings = normalize_warnings("punctuation,whisper-english");
/// assert!(warnings[0].to_string().starts_with("punctuation comes before whisper-english"));
/// assert!(normalize_warnings("whisper-english,punctuation").is_empty());
/// ```
#[must_use]
pub fn normalize_warnings(given: &str) -> Vec<Message> {
    let Ok(normalizer) = given.parse::<Normalizer>() else {
        return Vec::new();
    };
    let of_blank = blank_replacement(given, &normalizer);
    of_blank
        .into_iter()
        .chain(punctuation_first(&normalizer))
        .collect()
}

/// The warning about a step such as `replace(-, )`, whose blank looks like the text.
fn blank_replacement(given: &str, normalizer: &Normalizer) -> Option<Message> {
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

/// The warning about a step that removes apostrophes before a step that reads contractions and amounts.
fn punctuation_first(normalizer: &Normalizer) -> Option<Message> {
    let steps = &normalizer.steps;
    let is_english = |step: &Step| matches!(step, Step::WhisperEnglish | Step::OpenAsrEnglish);
    let english = steps.iter().position(is_english)?;
    let removes = |step: &&Step| step.apply("it's").len() < "it's".len();
    let first = steps[..english].iter().find(removes)?;
    let english = steps[english].name();
    Some(Message::from(format!(
        "{first} comes before {english} and removes apostrophes, by which {english} knows contractions: put it after {english}"
    )))
}

/// Returns the words of a warning about a finding in texts, which are called by these words for one and for several.
///
/// ```
/// use metric_registry::finding_words;
/// use metric_text::normalize::Finding;
///
/// let words = finding_words(Finding::Emptied, ["line", "lines"]);
/// assert_eq!(words.warning(2).to_string(), "2 lines are empty after normalization");
/// ```
#[must_use]
pub fn finding_words(finding: Finding, [text, texts]: [&str; 2]) -> Counted {
    let counted = |one: String, several: String, rest: Message| {
        Counted::new(
            Message::from(one).message(&rest),
            Message::from(several).message(&rest),
        )
    };
    let words = |rest: Message| counted("word has ".to_owned(), "words have ".to_owned(), rest);
    let of_texts = |rest: String| {
        counted(
            format!("{text} has "),
            format!("{texts} have "),
            rest.into(),
        )
    };
    match finding {
        Finding::Marks { step, script } => {
            let rest = format!(
                "vowel signs or other marks of {script}, which {step} removes or replaces by spaces, so rates are not comparable: to keep the marks, use "
            );
            words(Message::from(rest).option(NORMALIZE.name, WITH_MARKS))
        }
        Finding::OtherScript { step } => of_texts(format!(
            "mostly letters that are not Latin, and {step} is made for English: use whisper-basic"
        )),
        Finding::Diacritics { step } => of_texts(format!(
            "diacritics in a tenth of the words or more, which {step} removes, as it is made for English: use whisper-basic"
        )),
        Finding::Apostrophe { step } => words(Message::from(format!(
            "the apostrophe \u{2019} (U+2019), with which {step} knows no contraction: put replace(\u{2019}, ') before it"
        ))),
        Finding::FormatWords => words(Message::from(
            "only format characters, such as a joiner that an emoji has left, and still count as words: to remove them, add the step remove(\\p{Cf})",
        )),
        Finding::Emptied => Counted::new(
            format!("{text} is empty after normalization"),
            format!("{texts} are empty after normalization"),
        ),
        _ => Counted::new(
            format!("{text}: {finding:?}"),
            format!("{texts}: {finding:?}"),
        ),
    }
}

/// The steps that come closest to `whisper-basic` and keep marks.
const WITH_MARKS: &str = r"nfkc,lower,replace([\p{S}\p{P}],  ),whitespace";

/// The parts of a signature for the steps, with the dialect by which words are found, if any are.
pub(crate) fn normalize_parts(normalizer: &Normalizer) -> Named<String> {
    let has_words = |step: &Step| matches!(step, Step::RemoveWords(_) | Step::ReplaceWords(_));
    let words = normalizer.steps.iter().any(has_words);
    let words = words.then(|| ("words".to_owned(), PythonRegex::DIALECT.to_owned()));
    let steps = ("normalize".to_owned(), normalizer.signature());
    std::iter::once(steps).chain(words).collect()
}

struct TextSteps {
    extract: Option<Extract>,
    normalizer: Normalizer,
    values: Values,
}

impl TextSteps {
    /// The text of a value, if it is a text.
    fn text<'v>(value: &Value<'v>) -> Option<Cow<'v, str>> {
        let is_text = matches!(value.kind(), Kind::Line | Kind::String);
        is_text.then(|| value.clone().text().ok()).flatten()
    }

    /// The reference after normalization, and whether it is JSON.
    fn reference(&self, value: &Value<'_>) -> Result<Option<(String, bool)>, FieldError> {
        if self.normalizer.steps.is_empty() {
            return Ok(None);
        }
        match value.kind() {
            Kind::List => {
                let texts = value.clone().read::<Vec<String>>().ok();
                Ok(texts.map(|texts| {
                    let texts = texts.iter().map(|text| self.normalizer.apply(text));
                    (serde_json::Value::from_iter(texts).to_string(), true)
                }))
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
        let mut is_without = false;
        let mut prepared = |text: &str| {
            let part = match &self.extract {
                None => Some(Cow::Borrowed(text)),
                Some(extract) => extract.apply(text),
            };
            is_without |= part.is_none();
            let part = part.unwrap_or_default();
            self.normalizer.apply(&part).into_owned()
        };
        let prediction = match record.prediction.kind() {
            // Several answers, for metrics that take them.
            Kind::List => {
                let texts = record.prediction.clone().read::<Vec<String>>().ok();
                texts.map(|texts| {
                    let texts = texts.iter().map(|text| prepared(text));
                    (serde_json::Value::from_iter(texts).to_string(), true)
                })
            }
            _ => Self::text(&record.prediction).map(|text| (prepared(&text), false)),
        };
        let are_labels = self.values == Values::Labels;
        Ok(Prepared {
            are_labels,
            is_missing: are_labels && is_without,
            prediction,
            reference: self.reference(&record.reference)?,
            note: is_without.then(|| {
                let of = |what: &str| Message::from(what).option(EXTRACT.name, "");
                match self.values {
                    Values::Texts => Counted::new(
                        of("prediction counts as empty, as it has no match for "),
                        of("predictions count as empty, as they have no match for "),
                    ),
                    Values::Labels => Counted::new(
                        of("prediction has no label, as it has no match for "),
                        of("predictions have no label, as they have no match for "),
                    ),
                }
            }),
        })
    }
}
