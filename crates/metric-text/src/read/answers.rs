//! Lists of answers, and who gave them.

use std::collections::HashMap;
use std::fmt;

use metric_record::json::scan::{Keys, Scanner};
use metric_record::json::{Text, as_string, described, string};
use metric_record::{IdKey, Kind, json};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::keys::{refuse_duplicate, scan_id};
use crate::vqa::Answers;

/// Reads the answers of a record from JSON: one text, or a list of texts or of VQA v2's objects.
///
/// ```
/// use metric_text::read::answers;
/// use metric_text::vqa::Answers;
///
/// assert_eq!(answers(r#""red""#), Ok(Answers::from(["red"])));
/// assert_eq!(answers(r#"["red", "blue"]"#), Ok(Answers::from(["red", "blue"])));
///
/// // The person with the id 1 gave two of the three answers.
/// let people = r#"[{"answer": "red", "answer_id": 1}, {"answer": "blue", "answer_id": 2}, {"answer": "pink", "answer_id": 1}]"#;
/// assert_eq!(answers(people)?.annotators, [0, 1, 0]);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// Returns what was found, and what was expected.
pub fn answers(json: &str) -> Result<Answers, String> {
    match json::kind(json) {
        Kind::String => Ok(Answers::from([string(json)?])),
        Kind::List => {
            let (mut answers, mut people) = (Answers::default(), Vec::new());
            let mut deserializer = serde_json::Deserializer::from_str(json);
            let list = AnswerList {
                text: ANSWER,
                answers: &mut answers,
                people: &mut people,
            };
            list.deserialize(&mut deserializer)
                .and_then(|()| deserializer.end())
                .map_err(|error| described(json, &error))?;
            number_people(&mut answers, &people);
            Ok(answers)
        }
        other => Err(format!(
            "expected an answer or a list of answers, found {other}{}",
            as_string(json)
        )),
    }
}

/// The field of an answer of VQA v2 with its text.
pub(super) const ANSWER: &str = "answer";

/// All that is known of an answer except its text, which tells people apart.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Person<'de> {
    id: Option<IdKey<'de>>,
    confidence: Option<&'de str>,
}

/// Says who gave the answers, if one person gave several.
pub(super) fn number_people(answers: &mut Answers, people: &[Person<'_>]) {
    answers.annotators.clear();
    let number = |person: &Person<'_>| match person.id {
        Some(IdKey::Number(number)) => Some(number),
        _ => None,
    };
    // Numbers that rise, as in VQA v2's files from 1 to 10, are all different.
    if people
        .windows(2)
        .all(|two| number(&two[0]) < number(&two[1]))
        && people.first().is_none_or(|first| number(first).is_some())
    {
        return;
    }
    let mut firsts: HashMap<&Person<'_>, u64> = HashMap::with_capacity(people.len());
    let numbers = people
        .iter()
        .zip(0..)
        .map(|(person, index)| *firsts.entry(person).or_insert(index));
    answers.annotators.extend(numbers);
    if firsts.len() == people.len() {
        answers.annotators.clear();
    }
}

/// A list of answers, each a string or an object with its text.
pub(super) struct AnswerList<'a, 'de> {
    /// The field of an answer with its text.
    pub(super) text: &'static str,
    pub(super) answers: &'a mut Answers,
    pub(super) people: &'a mut Vec<Person<'de>>,
}

impl<'de> AnswerList<'_, 'de> {
    /// Scans a list whose strings have no escapes. The keys are [`QuestionForm::answer_keys`].
    pub(super) fn scan(self, scanner: &mut Scanner<'de>, keys: &mut Keys) -> Option<()> {
        self.people.clear();
        let texts = &mut self.answers.answers;
        let mut count = 0;
        scanner.list(|scanner| {
            if texts.len() == count {
                texts.push(String::new());
            }
            let text = &mut texts[count];
            text.clear();
            count += 1;
            if scanner.peek()? == b'"' {
                text.push_str(scanner.string()?);
                return Some(());
            }
            let mut person = Person {
                id: None,
                confidence: None,
            };
            let mut found = false;
            scanner.object_of(keys, |scanner, key| {
                match key {
                    0 => {
                        if std::mem::replace(&mut found, true) {
                            return None;
                        }
                        text.push_str(scanner.string()?);
                    }
                    1 => person.id = Some(scan_id(scanner)?),
                    2 => person.confidence = Some(scanner.raw()?.0),
                    _ => scanner.skip_value()?,
                }
                Some(())
            })?;
            self.people.push(person);
            found.then_some(())
        })?;
        texts.truncate(count);
        // Otherwise it would not be clear who gave which.
        [0, count].contains(&self.people.len()).then_some(())
    }
}

impl<'de> DeserializeSeed<'de> for AnswerList<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for AnswerList<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of answers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.people.clear();
        let texts = &mut self.answers.answers;
        let mut count = 0;
        loop {
            if texts.len() == count {
                texts.push(String::new());
            }
            let answer = AnswerItem {
                field: self.text,
                text: &mut texts[count],
                people: &mut *self.people,
            };
            if list.next_element_seed(answer)?.is_none() {
                texts.truncate(count);
                // Otherwise it would not be clear who gave which.
                return if [0, count].contains(&self.people.len()) {
                    Ok(())
                } else {
                    Err(A::Error::custom("texts and objects in one list of answers"))
                };
            }
            count += 1;
        }
    }
}

struct AnswerItem<'a, 'de> {
    field: &'static str,
    text: &'a mut String,
    people: &'a mut Vec<Person<'de>>,
}

impl<'de> DeserializeSeed<'de> for AnswerItem<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnswerItem<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an answer, a string or an object with {:?}", self.field)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.text.clear();
        self.text.push_str(text);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut person = Person {
            id: None,
            confidence: None,
        };
        let mut found = false;
        while let Some(key) = map.next_key_seed(Text)? {
            match &*key {
                key if key == self.field => {
                    refuse_duplicate(key, !found)?;
                    found = true;
                    self.text.clear();
                    self.text.push_str(&map.next_value_seed(Text)?);
                }
                "answer_id" => person.id = Some(map.next_value()?),
                "answer_confidence" => {
                    person.confidence = Some(map.next_value::<&RawValue>()?.get());
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        self.people.push(person);
        if found {
            Ok(())
        } else {
            Err(A::Error::custom(format_args!("no field {:?}", self.field)))
        }
    }
}
