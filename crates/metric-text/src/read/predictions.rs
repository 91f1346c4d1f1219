//! Files of predictions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use metric_record::json::{Text, in_words};
use metric_record::{File, IdKey, ReadError};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::QuestionsError;
use super::form::once;

/// Predictions by the ids of their questions.
#[derive(Clone, Debug)]
pub struct Predictions<'a> {
    /// The name of their file.
    pub(super) file: String,
    pub(super) slots: HashMap<IdKey<'a>, Slot<'a>>,
}

/// What is known of the prediction for a question.
#[derive(Clone, Debug)]
pub(super) enum Slot<'a> {
    Given(Cow<'a, str>),
    /// A question had it.
    Used,
    /// A question has none.
    Missing,
}

impl Predictions<'_> {
    /// Returns the prediction for a question.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&str> {
        // A key of its own, so that what is found borrows from the predictions only.
        let id = IdKey::from(id).into_owned();
        match self.slots.get(&id)? {
            Slot::Given(text) => Some(text),
            Slot::Used | Slot::Missing => None,
        }
    }

    /// Returns the number of predictions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no predictions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

/// Reads a file of predictions: a list of objects with `question_id` and `answer` (VQA v2), or an object from
/// ids to answers (SQuAD).
///
/// ```
/// use metric_record::File;
/// use metric_text::read::read_predictions;
///
/// let vqa = File { name: "vqa.json", text: r#"[{"question_id": 7, "answer": "red"}]"# };
/// let squad = File { name: "squad.json", text: r#"{"7": "red"}"# };
/// for file in [vqa, squad] {
///     assert_eq!(read_predictions(file)?.get("7"), Some("red"));
/// }
/// # Ok::<(), metric_text::read::QuestionsError>(())
/// ```
///
/// # Errors
///
/// Returns an error if the text is neither, or if an id occurs twice.
pub fn read_predictions(file: File<'_>) -> Result<Predictions<'_>, QuestionsError> {
    let mut duplicate = None;
    let all = All {
        slots: HashMap::new(),
        duplicate: &mut duplicate,
    };
    let mut deserializer = serde_json::Deserializer::from_str(file.content());
    let slots = deserializer
        .deserialize_any(all)
        .and_then(|slots| deserializer.end().map(|()| slots));
    let slots = slots.map_err(|error| {
        let error = in_words(&error.to_string());
        let is_lines = file.name.ends_with(".jsonl") || error.starts_with("trailing characters");
        let hint = match is_lines {
            true => {
                "; beside such a data file predictions are one list or object of JSON, not JSON Lines"
            }
            false => "",
        };
        let error = ReadError::new(file.name, format!("{error}{hint}"));
        QuestionsError::of_file(error, duplicate)
    })?;
    Ok(Predictions {
        file: file.name.to_owned(),
        slots,
    })
}

/// Reads all predictions.
struct All<'d, 'a> {
    slots: HashMap<IdKey<'a>, Slot<'a>>,
    /// The id at which reading ended because it occurs twice.
    duplicate: &'d mut Option<String>,
}

impl<'a> All<'_, 'a> {
    fn add<E: Error>(&mut self, id: IdKey<'a>, text: Cow<'a, str>) -> Result<(), E> {
        match self.slots.insert(id.clone(), Slot::Given(text)) {
            None => Ok(()),
            Some(_) => {
                *self.duplicate = Some(id.to_string());
                Err(E::custom(format_args!("duplicate id \"{id}\"")))
            }
        }
    }
}

impl<'de> Visitor<'de> for All<'_, 'de> {
    type Value = HashMap<IdKey<'de>, Slot<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of answers with their \"question_id\", or an object id to answer")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Self::Value, A::Error> {
        while let Some(Answer(id, text)) = list.next_element()? {
            self.add(id, text)?;
        }
        Ok(self.slots)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        while let Some(id) = map.next_key_seed(Text)? {
            let text = map.next_value_seed(Text)?;
            self.add(IdKey::from(id), text)?;
        }
        Ok(self.slots)
    }
}

/// An object of a list of predictions.
struct Answer<'a>(IdKey<'a>, Cow<'a, str>);

impl<'de> Deserialize<'de> for Answer<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnswerVisitor;
        impl<'de> Visitor<'de> for AnswerVisitor {
            type Value = Answer<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with \"question_id\" and \"answer\"")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Answer<'de>, A::Error> {
                let (mut id, mut text) = (None, None);
                while let Some(key) = map.next_key_seed(Text)? {
                    match &*key {
                        "question_id" => {
                            once(&key, id.is_none())?;
                            id = Some(map.next_value()?);
                        }
                        "answer" => {
                            once(&key, text.is_none())?;
                            text = Some(map.next_value_seed(Text)?);
                        }
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                let missing = |field| A::Error::missing_field(field);
                let id = id.ok_or_else(|| missing("question_id"))?;
                Ok(Answer(id, text.ok_or_else(|| missing("answer"))?))
            }
        }
        deserializer.deserialize_map(AnswerVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_predictions() {
        let rows = [
            (
                "7",
                "p.json: found the number `7`, expected a list of answers with their \"question_id\", or an object id to answer at line 1 column 1",
            ),
            (
                r#"[{"question_id": 1}]"#,
                "p.json: no field `answer` at line 1 column 19",
            ),
            (
                "{\"a\": \"b\"}\n{}",
                "p.json: trailing characters at line 2 column 1; beside such a data file predictions are one list or object of JSON, not JSON Lines",
            ),
        ];
        for (text, expected) in rows {
            let name = "p.json";
            let error = read_predictions(File { name, text }).unwrap_err();
            assert!(matches!(error, QuestionsError::Read(_)));
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn the_id_that_occurs_twice() {
        for (text, expected) in [
            (r#"{"7": "a", "7": "b"}"#, "7"),
            (
                r#"[{"question_id": 7, "answer": "a"}, {"question_id": "7", "answer": "a"}]"#,
                "7",
            ),
        ] {
            let error = read_predictions(File { name: "p", text }).unwrap_err();
            assert!(
                matches!(&error, QuestionsError::Duplicate { id, .. } if id == expected),
                "{error}"
            );
            let message = error.to_string();
            assert!(
                message.starts_with("p: duplicate id \"7\" at line 1 "),
                "{message}"
            );
        }
    }
}
