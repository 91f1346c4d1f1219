//! Files of predictions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use metric_record::json::scan::{Keys, Scanner};
use metric_record::json::{Text, in_words, located, offset_of, string};
use metric_record::{File, IdKey, ReadError};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::QuestionsError;
use super::keys::{refuse_duplicate, scan_id};

/// Predictions by the ids of their questions.
#[derive(Clone, Debug)]
pub struct Predictions<'a> {
    /// The name of their file.
    pub(super) file: String,
    pub(super) slots: Slots<'a>,
}

/// Predictions in the order of their file, which is nearly always that of the questions.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots<'a> {
    slots: Vec<(IdKey<'a>, Slot<'a>)>,
    /// The index of each id, unless the ids are numbers that rise and no other order was asked for.
    index: Option<HashMap<IdKey<'a>, usize>>,
    /// The index of the prediction that is probably asked for next.
    next: usize,
}

impl<'a> Slots<'a> {
    /// Adds what is known of the prediction for a question; nothing if the id is known.
    pub(super) fn insert(&mut self, id: IdKey<'a>, slot: Slot<'a>) -> bool {
        let rises = match (self.slots.last(), &id) {
            (Some((IdKey::Number(last), _)), IdKey::Number(number)) => last < number,
            (last, _) => last.is_none() && matches!(id, IdKey::Number(_)),
        };
        if !rises || self.index.is_some() {
            let position = self.slots.len();
            match self.index().entry(id.clone()) {
                Entry::Occupied(_) => return false,
                Entry::Vacant(entry) => entry.insert(position),
            };
        }
        self.slots.push((id, slot));
        true
    }

    fn index(&mut self) -> &mut HashMap<IdKey<'a>, usize> {
        let slots = &self.slots;
        self.index.get_or_insert_with(|| {
            let ids = slots.iter().map(|(id, _)| id.clone());
            ids.zip(0..).collect()
        })
    }

    pub(super) fn get_mut(&mut self, id: &IdKey<'a>) -> Option<&mut Slot<'a>> {
        let is_next = self
            .slots
            .get(self.next)
            .is_some_and(|(next, _)| next == id);
        if !is_next {
            self.next = *self.index().get(id)?;
        }
        let position = self.next;
        self.next += 1;
        self.slots.get_mut(position).map(|(_, slot)| slot)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&IdKey<'a>, &Slot<'a>)> {
        self.slots.iter().map(|(id, slot)| (id, slot))
    }
}

/// The state of the prediction for a question.
#[derive(Clone, Debug)]
pub(super) enum Slot<'a> {
    Given(Cow<'a, str>),
    /// A question had it.
    Used,
    /// A question has none.
    Missing,
}

impl Predictions<'_> {
    /// The index of the prediction for a question, which is probably `next`.
    pub(super) fn position(&self, id: &IdKey<'_>, next: usize) -> Option<usize> {
        let slots = &self.slots.slots;
        if slots.get(next).is_some_and(|(known, _)| known == id) {
            return Some(next);
        }
        match &self.slots.index {
            Some(index) => index.get(id).copied(),
            // They are numbers that rise.
            None => slots.binary_search_by(|(known, _)| known.cmp(id)).ok(),
        }
    }

    /// The prediction at an index, if no question had it.
    pub(super) fn at(&self, index: usize) -> Option<&str> {
        match self.slots.slots.get(index)? {
            (_, Slot::Given(text)) => Some(text),
            (_, Slot::Used | Slot::Missing) => None,
        }
    }

    /// Returns the prediction for a question.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&str> {
        // A key of its own, so that what is found borrows from the predictions only.
        let id = IdKey::from(id).into_owned();
        self.at(self.position(&id, 0)?)
    }

    /// Returns the number of predictions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.slots.len()
    }

    /// Returns whether there are no predictions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.slots.is_empty()
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
    if let Some(slots) = scan_predictions(file.content()) {
        return Ok(Predictions {
            file: file.name.to_owned(),
            slots,
        });
    }
    let mut duplicate = None;
    let all = All {
        slots: Slots::default(),
        duplicate: &mut duplicate,
    };
    let mut deserializer = serde_json::Deserializer::from_str(file.content());
    let slots = deserializer
        .deserialize_any(all)
        .and_then(|slots| deserializer.end().map(|()| slots));
    let slots = slots.map_err(|error| {
        let offset = offset_of(file.content(), &error);
        let error = in_words(&located(file.content(), &error));
        let is_lines = file.name.ends_with(".jsonl") || error.starts_with("trailing characters");
        let hint = if is_lines {
            "; with such a data file, predictions are one list or object of JSON, not JSON Lines"
        } else if error.starts_with("no field `") {
            "; predictions are a list of {\"question_id\": ..., \"answer\": ...}, as VQA v2 has it, or one object of answers by id, {\"id\": \"answer\"}, as SQuAD has it"
        } else {
            ""
        };
        let error = ReadError::new(file.name, format!("{error}{hint}")).position(offset);
        QuestionsError::of_file(error, duplicate)
    })?;
    Ok(Predictions {
        file: file.name.to_owned(),
        slots,
    })
}

/// Reads all predictions; `None` if something is wrong, or rare.
fn scan_predictions(text: &str) -> Option<Slots<'_>> {
    let mut slots = Slots::default();
    let mut scanner = Scanner::new(text);
    let mut keys = Keys::new(&["question_id", "answer"]);
    let mut add = |id, text| slots.insert(id, Slot::Given(text)).then_some(());
    match scanner.peek()? {
        b'[' => scanner.list(|scanner| {
            let (mut id, mut text) = (None, None);
            scanner.object_of(&mut keys, |scanner, key| {
                let is_first = match key {
                    0 => id.replace(scan_id(scanner)?).is_none(),
                    1 => text.replace(scan_text(scanner)?).is_none(),
                    _ => scanner.skip_value().is_some(),
                };
                is_first.then_some(())
            })?;
            add(id?, text?)
        })?,
        _ => scanner.object(|scanner, id| add(IdKey::from(id), scan_text(scanner)?))?,
    }
    scanner.is_at_end().then_some(slots)
}

/// Scans a string, which may have escapes.
fn scan_text<'a>(scanner: &mut Scanner<'a>) -> Option<Cow<'a, str>> {
    let mut plain = scanner.clone();
    if let Some(text) = plain.string() {
        *scanner = plain;
        return Some(Cow::Borrowed(text));
    }
    string(scanner.raw()?.0).ok()
}

/// Reads all predictions.
struct All<'d, 'a> {
    slots: Slots<'a>,
    /// The id at which reading ended because it occurs twice.
    duplicate: &'d mut Option<String>,
}

impl<'a> All<'_, 'a> {
    fn add<E: Error>(&mut self, id: IdKey<'a>, text: Cow<'a, str>) -> Result<(), E> {
        if self.slots.insert(id.clone(), Slot::Given(text)) {
            Ok(())
        } else {
            *self.duplicate = Some(id.to_string());
            Err(E::custom(format_args!("duplicate id \"{id}\"")))
        }
    }
}

impl<'de> Visitor<'de> for All<'_, 'de> {
    type Value = Slots<'de>;

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
                            refuse_duplicate(&key, id.is_none())?;
                            id = Some(map.next_value()?);
                        }
                        "answer" => {
                            refuse_duplicate(&key, text.is_none())?;
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
                "p.json: no field `answer` at line 1 column 19; predictions are a list of {\"question_id\": ..., \"answer\": ...}, as VQA v2 has it, or one object of answers by id, {\"id\": \"answer\"}, as SQuAD has it",
            ),
            (
                "{\"a\": \"b\"}\n{}",
                "p.json: trailing characters at line 2 column 1; with such a data file, predictions are one list or object of JSON, not JSON Lines",
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
