//! The values of one record.

use std::borrow::Cow;

use metric_record::json::{Entries, as_string, fields, typed};
use metric_record::{FieldError, Kind, Message, Record, Value};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::QuestionTypes;
use super::answers::answers;
use crate::squad;
use crate::vqa::{Answers, Language, VqaProfile};

/// Reads a reference that is one text or several. A missing value gives no reference.
///
/// ```
/// use metric_record::Value;
/// use metric_text::read::texts;
///
/// assert_eq!(texts(&mut Value::json(r#"["Paris", "paris"]"#))?, ["Paris", "paris"]);
/// assert_eq!(texts(&mut Value::line("Paris"))?, ["Paris"]);
/// assert_eq!(
///     texts(&mut Value::json("7")).unwrap_err(),
///     "expected a string or a list of strings, found a number: write it as \"7\"",
/// );
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// Returns what was found if the value is neither.
pub fn texts(value: &mut Value<'_>) -> Result<Vec<String>, String> {
    match value.kind() {
        Kind::Missing => Ok(Vec::new()),
        Kind::Line | Kind::String => Ok(vec![value.text()?.into_owned()]),
        Kind::List => value.read(),
        other => {
            let json = value.to_json_or("null").unwrap_or_default();
            let hint = as_string(&json);
            Err(format!(
                "expected a string or a list of strings, found {other}{hint}"
            ))
        }
    }
}

/// Reads the answers of SQuAD: one text or several, or `{"text": [...]}` as in the data sets of Hugging Face.
///
/// ```
/// use metric_record::Value;
/// use metric_text::read::squad_answers;
///
/// let mut hugging_face = Value::json(r#"{"text": ["Paris"], "answer_start": [3]}"#);
/// assert_eq!(squad_answers(&mut hugging_face)?, ["Paris"]);
/// assert_eq!(squad_answers(&mut Value::json(r#""Paris""#))?, ["Paris"]);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// Returns what was found if the value is anything else.
pub fn squad_answers(value: &mut Value<'_>) -> Result<Vec<String>, String> {
    if value.kind() != Kind::Object {
        return texts(value);
    }
    let json = value.to_json_or("{}")?;
    let entries: Entries<'_> = typed(&json)?;
    let list = entries.get("text").ok_or("expected a field \"text\"")?;
    texts(&mut Value::json(list))
}

/// Checks that a question with these answers is valid in a version of SQuAD: in v1.1 it must have an answer.
///
/// ```
/// use metric_text::read::check_squad_answers;
/// use metric_text::squad::SquadProfile;
///
/// assert_eq!(check_squad_answers(SquadProfile::V2, &[]), Ok(()));
/// let error = check_squad_answers(SquadProfile::V1, &[]).unwrap_err();
/// assert!(error.to_string().starts_with("a question without answers: expected at least one"));
/// ```
///
/// # Errors
///
/// Returns an error if there are no answers under [`V1`](squad::SquadProfile::V1).
pub fn check_squad_answers(
    profile: squad::SquadProfile,
    answers: &[String],
) -> Result<(), Message> {
    if profile.allows_no_answer() || !answers.is_empty() {
        return Ok(());
    }
    Err(Message::from(format!("{UNANSWERED}; "))
        .option("profile", "v2")
        .text(" has such questions"))
}

/// Reads a text, or a number as it is written.
///
/// ```
/// use metric_record::Value;
/// use metric_text::read::text_or_number;
///
/// assert_eq!(text_or_number(&mut Value::json("1.50"))?, "1.50");
/// assert_eq!(text_or_number(&mut Value::json(r#""1.50""#))?, "1.50");
/// assert_eq!(
///     text_or_number(&mut Value::json("null")).unwrap_err(),
///     "expected a string or a number, found null",
/// );
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// Returns what was found if the value is neither. A missing value is empty text.
pub fn text_or_number<'a>(value: &mut Value<'a>) -> Result<Cow<'a, str>, String> {
    match value.kind() {
        Kind::Missing | Kind::Line | Kind::String => value.text(),
        Kind::Number => Ok(match value.to_json_or("")? {
            Cow::Borrowed(number) => Cow::Borrowed(number.trim()),
            written => written,
        }),
        Kind::List => {
            let one = typed::<[IgnoredAny; 1]>(&value.to_json_or("")?).is_ok();
            let hint = if one {
                " of one: write it without brackets, or name the field with .0, as in FIELD.0"
            } else {
                ""
            };
            Err(format!("expected a string or a number, found a list{hint}"))
        }
        other => Err(format!("expected a string or a number, found {other}")),
    }
}

/// Reads the answers of relaxed accuracy: a text or a number, or a list of these.
///
/// ```
/// use metric_record::Value;
/// use metric_text::read::relaxed_answers;
///
/// assert_eq!(relaxed_answers(&mut Value::json(r#"["ten", 10]"#))?, ["ten", "10"]);
/// assert_eq!(relaxed_answers(&mut Value::number(0.5))?, ["0.5"]);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// Returns what was found if the value is anything else.
pub fn relaxed_answers(value: &mut Value<'_>) -> Result<Vec<String>, String> {
    if value.kind() != Kind::List {
        return Ok(vec![text_or_number(value)?.into_owned()]);
    }
    let json = value.to_json_or("[]")?;
    typed::<Vec<&RawValue>>(&json)?
        .into_iter()
        .map(|one| text_or_number(&mut Value::json(one.get())).map(Cow::into_owned))
        .collect()
}

/// The problem of a question that needs answers and has none.
pub const UNANSWERED: &str = "a question without answers: expected at least one";

/// The accepted answers of a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted<'a> {
    /// The answers, without their language.
    pub answers: Answers,
    /// The entries of the object that they are in, if they are in one.
    pub fields: Entries<'a>,
}

/// Reads the accepted answers of visual question answering: one or a list of them, or an object that has
/// them as its `answer` or `answers`.
///
/// ```
/// use metric_record::Value;
/// use metric_text::read::accepted;
///
/// let found = accepted(&mut Value::json(r#"{"answer": "red", "lang": "en"}"#))?;
/// assert_eq!(found.answers.answers, ["red"]);
/// assert_eq!(found.fields.name("lang")?.as_deref(), Some("en"));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// Returns what was found if the value is anything else.
pub fn accepted<'a>(reference: &mut Value<'a>) -> Result<Accepted<'a>, String> {
    let plain = |answers| Accepted {
        answers,
        fields: Entries::default(),
    };
    match reference.kind() {
        Kind::Missing => return Ok(Accepted::default()),
        Kind::Line => return Ok(plain(Answers::from([reference.text()?]))),
        _ => {}
    }
    let json = match reference.to_json_or("null")? {
        Cow::Borrowed(json) => json,
        // A text or a row, which has no fields.
        Cow::Owned(json) => return answers(&json).map(plain),
    };
    if !json.trim_start().starts_with('{') {
        return answers(json).map(plain);
    }
    let fields: Entries<'a> = typed(json)?;
    let answer = fields.get("answer").or_else(|| fields.get("answers"));
    let answer = answer.ok_or("expected a field \"answer\" or \"answers\"")?;
    Ok(Accepted {
        answers: answers(answer)?,
        fields,
    })
}

/// Checks that a question with these answers is valid under a profile. The profiles that compare a prediction with
/// the answers of several people need at least one answer, because the reference implementation divides by the number
/// of answers.
///
/// ```
/// use metric_text::read::check_vqa_answers;
/// use metric_text::vqa::{Answers, VqaProfile};
///
/// assert!(check_vqa_answers(VqaProfile::VqaV2, &Answers::default()).is_err());
/// assert_eq!(check_vqa_answers(VqaProfile::Exact, &Answers::default()), Ok(()));
/// ```
///
/// # Errors
///
/// Returns an error if such a profile has no answers to compare with.
pub fn check_vqa_answers(profile: VqaProfile, answers: &Answers) -> Result<(), Message> {
    if profile.is_agreement() && answers.answers.is_empty() {
        Err(UNANSWERED.into())
    } else {
        Ok(())
    }
}

/// A question about an image with its prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VqaExample<'a> {
    /// The prediction.
    pub prediction: Cow<'a, str>,
    /// The accepted answers, with their language where the profile asks for it.
    pub answers: Answers,
    /// The types of the question.
    pub types: QuestionTypes<'a>,
    /// The language, as it is written in the field `lang`.
    pub lang: Option<Cow<'a, str>>,
}

impl VqaExample<'_> {
    /// Returns the types and the language of the question, where they are given, each with the name of its field.
    #[must_use]
    pub fn groups(&self) -> Vec<(&'static str, &str)> {
        let mut groups = self.types.named();
        groups.extend(self.lang.as_deref().map(|lang| ("lang", lang)));
        groups
    }
}

/// Reads a record of visual question answering.
///
/// Its fields `lang`, `question_type` and `answer_type` are in the object of the answers, or next to the
/// reference.
///
/// ```
/// use metric_record::{Record, Value};
/// use metric_text::read::vqa_example;
/// use metric_text::vqa::VqaProfile;
///
/// let reference = Value::json(r#"{"answers": ["2"], "answer_type": "number"}"#);
/// let mut record = Record::new("7", Value::line("two"), reference);
/// let example = vqa_example(&mut record, VqaProfile::VqaV2)?;
/// assert_eq!(example.groups(), [("answer_type", "number")]);
/// # Ok::<(), metric_record::FieldError>(())
/// ```
///
/// # Errors
///
/// Returns an error if the prediction is not a text, if there are no answers where the profile
/// [needs them](check_vqa_answers), or if the profile does not know the language.
pub fn vqa_example<'a>(
    record: &mut Record<'a>,
    profile: VqaProfile,
) -> Result<VqaExample<'a>, FieldError> {
    let prediction = record.prediction.text().map_err(FieldError::prediction)?;
    let Accepted {
        answers,
        fields: inside,
    } = accepted(&mut record.reference).map_err(FieldError::reference)?;
    check_vqa_answers(profile, &answers).map_err(FieldError::reference)?;
    let outside = fields(record.fields, &["lang", "question_type", "answer_type"])
        .map_err(FieldError::reference)?;
    let field = |name| match inside.name(name) {
        Ok(None) => outside.name(name),
        found => found,
    };
    let field = |name| field(name).map_err(FieldError::reference);
    let lang = field("lang")?;
    let language = match (&lang, profile) {
        (Some(name), VqaProfile::FusionBrain2021) => {
            let language = name.parse::<Language>();
            Some(language.map_err(|error| FieldError::reference(error.to_string()))?)
        }
        _ => None,
    };
    Ok(VqaExample {
        prediction,
        answers: Answers {
            language,
            ..answers
        },
        types: QuestionTypes {
            question_type: field("question_type")?,
            answer_type: field("answer_type")?,
        },
        lang,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_every_form() {
        let strings = |texts: &[&str]| Ok(texts.iter().map(|text| (*text).to_owned()).collect());
        let found = |what: &str| {
            Err(format!(
                "expected a string or a list of strings, found {what}"
            ))
        };
        let rows: &[(Value<'_>, Result<Vec<String>, String>)] = &[
            (Value::json(r#""a\"b""#), strings(&["a\"b"])),
            (Value::json("[]"), strings(&[])),
            (Value::line("[1]"), strings(&["[1]"])),
            (Value::string("{}"), strings(&["{}"])),
            (Value::missing(), strings(&[])),
            (Value::integer(1), found("a number: write it as \"1\"")),
            (Value::json("{}"), found("an object")),
            (Value::json("null"), found("null")),
        ];
        for (value, expected) in rows {
            assert_eq!(texts(&mut value.clone()), *expected, "{value:?}");
        }
        assert!(texts(&mut Value::json(r#"["a", 1]"#)).is_err());
    }

    #[test]
    fn answers_in_an_object() {
        let squad = |json| squad_answers(&mut Value::json(json));
        assert_eq!(squad(r#"{"text": []}"#), Ok(vec![]));
        assert_eq!(squad(r#"{"text": "a"}"#), Ok(vec!["a".to_owned()]));
        assert_eq!(squad("{}").unwrap_err(), "expected a field \"text\"");
        let vqa = |json| accepted(&mut Value::json(json)).map(|found| found.answers.answers);
        assert_eq!(vqa(r#"{"answers": ["a", "b"]}"#).unwrap(), ["a", "b"]);
        assert_eq!(
            vqa("{}").unwrap_err(),
            "expected a field \"answer\" or \"answers\""
        );
        assert_eq!(
            vqa("7").unwrap_err(),
            "expected an answer or a list of answers, found a number: write it as \"7\""
        );
        // Text that looks like an object is text.
        let text = accepted(&mut Value::string("{}")).unwrap();
        assert_eq!(text.answers.answers, ["{}"]);
    }

    #[test]
    fn numbers_as_they_are_written() {
        let read = |value: Value<'static>| text_or_number(&mut { value }).map(Cow::into_owned);
        assert_eq!(read(Value::json(" 1e3 ")), Ok("1e3".to_owned()));
        assert_eq!(read(Value::json_prefix("1.0, 2")), Ok("1.0".to_owned()));
        assert_eq!(read(Value::integer(-3)), Ok("-3".to_owned()));
        assert_eq!(read(Value::missing()), Ok(String::new()));
        assert!(read(Value::json("[1]")).is_err());
        assert!(read(Value::number(f64::NAN)).is_err());
        let list = relaxed_answers(&mut Value::numbers(&[1.0, 0.5]));
        assert_eq!(list.unwrap(), ["1.0", "0.5"]);
        assert_eq!(relaxed_answers(&mut Value::json("[]")), Ok(vec![]));
        assert!(relaxed_answers(&mut Value::json("[null]")).is_err());
    }

    #[test]
    fn fields_inside_and_next_to_the_reference() {
        let fields = r#"{"id": 1, "lang": "ru", "question_type": 3, "reference": 0}"#;
        let reference = Value::json(r#"{"answer": "a", "lang": "en", "answer_type": null}"#);
        let mut record = Record {
            fields: Some(fields),
            ..Record::new("1", Value::line("a"), reference)
        };
        let example = vqa_example(&mut record, VqaProfile::FusionBrain2021).unwrap();
        assert_eq!(example.answers.language, Some(Language::English));
        assert_eq!(example.groups(), [("question_type", "3"), ("lang", "en")]);
        let mut other = Record::new(
            "1",
            Value::line("a"),
            Value::json(r#"{"answer": "a", "lang": "de"}"#),
        );
        let error = vqa_example(&mut other, VqaProfile::FusionBrain2021).unwrap_err();
        assert!(error.to_string().starts_with("reference: "), "{error}");
        assert!(vqa_example(&mut other, VqaProfile::Exact).is_ok());
    }
}
