//! How files are read and joined, by the names that front ends give these settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use metric_record::{JoinPolicy, Message, Missing};
use metric_registry::{OptionError, Options, Selection};

use crate::RunError;
use crate::formats::Format;
use crate::formats::csv::{CsvOptions, EmptyField};
use crate::formats::segments::{Level, SpeakerOf, SpeakerPrefix, TranscriptOptions};
use crate::run::{Fields, Run};
use crate::source::{Encoding, Source};

/// The settings of a run that belong to no metric: formats, fields, and the strictness of the join.
///
/// Each has the name that it has on the command line. A front end that takes text, such as the program or a
/// suite file, hands over what it was given and gets the same run for the same text.
///
/// ```
/// use metric_run::Settings;
///
/// let given = [("missing", "empty"), ("id-field", "image_id")];
/// let settings = Settings::read(|name| {
///     let found = given.iter().find(|(given, _)| *given == name);
///     found.map(|(_, value)| (*value).to_owned())
/// })?;
/// assert_eq!(settings.fields.id, "image_id");
/// # Ok::<(), metric_run::RunError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The names of the fields of a record.
    pub fields: Fields,
    /// The strictness of joining references and predictions.
    pub join: JoinPolicy,
    /// Whether the policy for missing predictions was given: see [`Run::is_missing_given`].
    pub is_missing_given: bool,
    /// The conditions that select records: see [`Run::selection`].
    pub selection: Option<Selection>,
    /// Whether stray words are an error: see [`Run::refuse_stray_words`].
    pub refuse_stray_words: bool,
    /// The dialect of CSV files.
    pub csv: CsvOptions,
    /// The encoding of files of text; `None` for UTF-8.
    pub encoding: Option<Encoding>,
    /// How transcripts are read.
    pub transcript: TranscriptOptions,
    /// The format of both sides, unless one has its own.
    format: Option<Format>,
    references_format: Option<Format>,
    predictions_format: Option<Format>,
    /// The split of both sides, unless one has its own.
    split: Option<String>,
    references_split: Option<String>,
    predictions_split: Option<String>,
}

/// The values of `missing`.
const MISSING: [(&str, Missing); 3] = [
    ("error", Missing::Error),
    ("empty", Missing::Empty),
    ("skip", Missing::Skip),
];
/// The values of a setting that is on or off.
const FLAG: [(&str, bool); 2] = [("true", true), ("false", false)];
/// The values of `extra`, and whether extra predictions are left out.
const EXTRA: [(&str, bool); 2] = [("error", false), ("ignore", true)];
/// The values of `quote`, and whether there are quotes.
const QUOTE: [(&str, bool); 2] = [("double", true), ("none", false)];
/// The values of `header`, and whether there is one.
const HEADER: [(&str, bool); 2] = [("first", true), ("none", false)];
/// The values of `empty-field`.
const EMPTY_FIELD: [(&str, EmptyField); 3] = [
    ("error", EmptyField::Error),
    ("text", EmptyField::Text),
    ("null", EmptyField::Null),
];

impl Settings {
    /// The names of the settings that may be given several times; their values have one of them per line.
    pub const LISTS: [&'static str; 2] = ["where", "tier"];

    /// The names of the settings that are `true` or `false`.
    pub const FLAGS: [&'static str; 1] = ["as-text"];

    /// The names of all settings.
    pub const NAMES: [&'static str; 26] = [
        "missing",
        "null",
        "as-text",
        "extra",
        "where",
        "input-format",
        "references-format",
        "predictions-format",
        "split",
        "references-split",
        "predictions-split",
        "delimiter",
        "quote",
        "header",
        "empty-field",
        "encoding",
        "speaker",
        "speaker-prefix",
        "level",
        "tier",
        "id-field",
        "references-id-field",
        "predictions-id-field",
        "reference-field",
        "prediction-field",
        "prediction-fields",
    ];

    /// Reads the settings that are given; the others have their defaults.
    ///
    /// # Errors
    ///
    /// Returns an error about the first setting whose value is not one of those that it takes.
    pub fn read(given: impl Fn(&str) -> Option<String>) -> Result<Self, RunError> {
        let given = &given;
        let format = |name: &str| -> Result<Option<Format>, RunError> {
            let Some(value) = given(name) else {
                return Ok(None);
            };
            let format = Format::named(&value);
            format
                .map(Some)
                .ok_or_else(|| unknown(name, &value, Format::names()))
        };
        let delimiter = given("delimiter").map(|value| {
            CsvOptions::delimiter(&value).map_err(|expected| {
                let message = Message::from(format!("invalid value {value:?} for "));
                let message = message.option("delimiter", "");
                RunError::Usage(message.text(format_args!(": {expected}")))
            })
        });
        let ignore_extra = choice(given, "extra", &EXTRA)?;
        let missing = choice(given, "missing", &MISSING)?;
        Ok(Self {
            fields: fields(given)?,
            join: JoinPolicy {
                missing: missing.unwrap_or(Missing::Error),
                ignore_extra: ignore_extra.unwrap_or(false),
                null: choice(given, "null", &MISSING)?,
                as_text: choice(given, "as-text", &FLAG)?.unwrap_or(false),
            },
            is_missing_given: missing.is_some(),
            selection: Selection::read(given("where").unwrap_or_default().lines())?,
            refuse_stray_words: ignore_extra == Some(false),
            csv: CsvOptions {
                delimiter: delimiter.transpose()?,
                has_quotes: choice(given, "quote", &QUOTE)?.unwrap_or(true),
                has_header: choice(given, "header", &HEADER)?.unwrap_or(true),
                empty: choice(given, "empty-field", &EMPTY_FIELD)?.unwrap_or_default(),
            },
            encoding: given("encoding").map(|name| encoding(&name)).transpose()?,
            transcript: TranscriptOptions::read(given)?,
            format: format("input-format")?,
            references_format: format("references-format")?,
            predictions_format: format("predictions-format")?,
            split: given("split"),
            references_split: given("references-split"),
            predictions_split: given("predictions-split"),
        })
    }

    /// Takes over the settings into a run.
    pub fn apply(&self, run: &mut Run) {
        run.fields = self.fields.clone();
        run.join = self.join;
        run.is_missing_given = self.is_missing_given;
        run.selection = self.selection.clone().map(Arc::new);
        run.refuse_stray_words = self.refuse_stray_words;
    }

    /// Returns references and predictions as sources.
    ///
    /// # Errors
    ///
    /// Returns an error if there is nothing at a path.
    pub fn sides(
        &self,
        references: &[PathBuf],
        predictions: &[PathBuf],
    ) -> Result<[Source; 2], RunError> {
        let mut paths = references.iter().chain(predictions);
        let any_folder = paths.any(|path| path.is_dir());
        Ok([
            self.source(Role::References, references, any_folder)?,
            self.source(Role::Predictions, predictions, any_folder)?,
        ])
    }

    /// Returns files as one source, in the format and the split of their role; `-` is standard input. The shared
    /// split is that of the sources that are folders, if there are any.
    ///
    /// # Errors
    ///
    /// Returns an error if there is nothing at a path.
    pub fn source(
        &self,
        role: Role,
        paths: &[PathBuf],
        any_folder: bool,
    ) -> Result<Source, RunError> {
        let (format, split) = match role {
            Role::References => (self.references_format, self.references_split.as_ref()),
            Role::Predictions => (self.predictions_format, self.predictions_split.as_ref()),
            Role::Pairs => (None, None),
        };
        let source = match paths {
            [path] if path == Path::new("-") => Source::standard_input(),
            paths => Source::paths(paths)?,
        };
        let source = source.with_csv(self.csv).with_encoding(self.encoding);
        let mut source = source.with_transcript(self.transcript.clone());
        if let Some(format) = format.or(self.format) {
            source = source.with_format(format);
        }
        let is_shared = source.is_folder() || source.describes_data_set() || !any_folder;
        let shared = self.split.as_ref().filter(|_| is_shared);
        Ok(match split.or(shared) {
            Some(split) => source.with_split(split),
            None => source,
        })
    }
}

impl TranscriptOptions {
    /// Reads the options that are given, by the names that they have on the command line. The value of `tier` has one name per
    /// line.
    ///
    /// # Errors
    ///
    /// Returns an error about the first option whose value is not one of those that it takes.
    pub fn read(given: impl Fn(&str) -> Option<String>) -> Result<Self, RunError> {
        let given = &given;
        let tiers = given("tier").unwrap_or_default();
        Ok(Self {
            speaker: choice(given, "speaker", &SpeakerOf::CHOICES)?,
            speaker_prefix: choice(given, "speaker-prefix", &SpeakerPrefix::CHOICES)?,
            level: choice(given, "level", &Level::CHOICES)?,
            tiers: tiers.lines().map(str::to_owned).collect(),
        })
    }
}

/// The use of a source in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The ground truth.
    References,
    /// The output of a model.
    Predictions,
    /// Records that have both.
    Pairs,
}

fn fields(given: &impl Fn(&str) -> Option<String>) -> Result<Fields, RunError> {
    let id = || given("id-field").unwrap_or_else(|| "id".to_owned());
    let of_references = given("references-id-field");
    // Where one side has a name of its own, the shared name is that of the other.
    let of_predictions = given("predictions-id-field").or_else(|| Some(id()));
    let columns = given("prediction-fields").map(|names| {
        let options = Options::default().set("prediction-fields", names.as_str());
        options.list("prediction-fields", "the name of a column", |name| {
            Some(name.to_owned())
        })
    });
    Ok(Fields {
        id: of_references.unwrap_or_else(id),
        predictions_id: of_predictions,
        reference: given("reference-field").filter(|name| name != "reference"),
        prediction: given("prediction-field").unwrap_or_else(|| "prediction".to_owned()),
        prediction_columns: columns.transpose()?.unwrap_or_default(),
    })
}

/// The meaning of a word among those that a setting takes.
fn choice<T: Copy>(
    given: &impl Fn(&str) -> Option<String>,
    name: &str,
    choices: &[(&'static str, T)],
) -> Result<Option<T>, RunError> {
    let Some(value) = given(name) else {
        return Ok(None);
    };
    let found = choices.iter().find(|(word, _)| *word == value);
    let words = choices.iter().map(|(word, _)| *word);
    found
        .map(|(_, meaning)| Some(*meaning))
        .ok_or_else(|| unknown(name, &value, words))
}

fn encoding(name: &str) -> Result<Encoding, RunError> {
    let read = name.parse();
    read.map_err(|reason: String| OptionError::new("encoding", name, reason).into())
}

fn unknown(name: &str, value: &str, words: impl Iterator<Item = &'static str>) -> RunError {
    let words: Vec<&str> = words.collect();
    let reason = format!("expected one of {}", words.join(", "));
    OptionError::new(name, value, reason).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[(&str, &str)]) -> Result<Settings, RunError> {
        Settings::read(|name| {
            let found = given.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_shared_id_is_that_of_the_side_without_its_own() {
        for (given, references, predictions) in [
            (&[][..], "id", "id"),
            (&[("id-field", "key")], "key", "key"),
            (&[("references-id-field", "key")], "key", "id"),
            (&[("predictions-id-field", "key")], "id", "key"),
            (&[("id-field", "a"), ("references-id-field", "b")], "b", "a"),
        ] {
            let fields = read(given).unwrap().fields;
            assert_eq!(fields.id, references, "{given:?}");
            assert_eq!(
                fields.predictions_id.as_deref(),
                Some(predictions),
                "{given:?}"
            );
        }
    }

    #[test]
    fn stray_words_are_an_error_if_extra_predictions_are_named_one() {
        assert!(!read(&[]).unwrap().is_missing_given);
        assert!(read(&[("missing", "error")]).unwrap().is_missing_given);
        assert!(!read(&[]).unwrap().refuse_stray_words);
        assert!(read(&[("extra", "error")]).unwrap().refuse_stray_words);
        assert!(!read(&[("extra", "ignore")]).unwrap().refuse_stray_words);
    }

    #[test]
    fn other_words_are_errors_that_list_the_words() {
        for (name, expected) in [
            (
                "missing",
                "--missing \"no\": expected one of error, empty, skip",
            ),
            ("extra", "--extra \"no\": expected one of error, ignore"),
            ("speaker", "--speaker \"no\": expected one of file, channel"),
            (
                "speaker-prefix",
                "--speaker-prefix \"no\": expected one of brackets, colon, none",
            ),
            ("level", "--level \"no\": expected one of segment, word"),
            ("quote", "--quote \"no\": expected one of double, none"),
            ("header", "--header \"no\": expected one of first, none"),
            (
                "empty-field",
                "--empty-field \"no\": expected one of error, text, null",
            ),
        ] {
            assert_eq!(read(&[(name, "no")]).unwrap_err().to_string(), expected);
        }
        let formats = read(&[("input-format", "no")]).unwrap_err().to_string();
        assert!(
            formats.starts_with("--input-format \"no\": expected one of json"),
            "{formats}"
        );
    }
}
