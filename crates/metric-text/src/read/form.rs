//! Files of questions, read without a tree of values.

use std::borrow::Cow;
use std::fmt;

use metric_record::json::scan::{Keys, Scanner};
use metric_record::json::{Text, in_words, located, offset_of};
use metric_record::{File, IdKey, Message, ReadError};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::answers::{ANSWER, AnswerList, Person, number_people};
use super::keys::{refuse_duplicate, scan_id};
use crate::vqa::Answers;

/// The layout of a question file: nested lists, the innermost of which holds the questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionForm {
    /// The keys that lead from list to list, the last of which is that of the questions.
    keys: &'static [&'static str],
    /// The field of a question with its id.
    id: &'static str,
    /// The field of an answer with its text.
    text: &'static str,
    /// Whether questions have answers.
    answers: bool,
    /// The fields of a question that are scanned: its id, its types, and its answers if it has them.
    question_keys: &'static [&'static str],
    /// The fields of an answer that are scanned: its text, and who gave it.
    answer_keys: &'static [&'static str],
}

impl QuestionForm {
    /// VQA v2's annotation file: `{"annotations": [{"question_id": 1, "answers": [{"answer": "red"}]}]}`.
    pub const VQA_ANNOTATIONS: Self = Self {
        keys: &["annotations"],
        id: "question_id",
        text: ANSWER,
        answers: true,
        question_keys: &["question_id", "question_type", "answer_type", "answers"],
        answer_keys: &["answer", "answer_id", "answer_confidence"],
    };

    /// VQA v2's question file, which has no answers: `{"questions": [{"question_id": 1}]}`.
    pub const VQA_QUESTIONS: Self = Self {
        keys: &["questions"],
        id: "question_id",
        text: ANSWER,
        answers: false,
        question_keys: &["question_id", "question_type", "answer_type"],
        answer_keys: &[],
    };

    /// SQuAD's data file: `{"data": [{"paragraphs": [{"qas": [{"id": "a", "answers": [{"text": "red"}]}]}]}]}`.
    pub const SQUAD: Self = Self {
        keys: &["data", "paragraphs", "qas"],
        id: "id",
        text: "text",
        answers: true,
        question_keys: &["id", "question_type", "answer_type", "answers"],
        answer_keys: &["text", "answer_id", "answer_confidence"],
    };

    /// Returns the keys that lead from list to list, the last of which is that of the questions.
    ///
    /// ```
    /// use metric_text::read::QuestionForm;
    ///
    /// assert_eq!(QuestionForm::SQUAD.keys(), ["data", "paragraphs", "qas"]);
    /// ```
    #[must_use]
    pub const fn keys(&self) -> &'static [&'static str] {
        self.keys
    }

    /// Returns the field of a question with its id.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// The key of the outermost list.
    pub(super) fn list(&self) -> Option<&'static str> {
        self.keys.first().copied()
    }

    /// Scans items of the outermost list, up to the end of the file in the last block, and gives their questions to
    /// `take`; `None` if something is wrong, or rare, or if a question is refused.
    pub(super) fn scan_block<'de>(
        &self,
        text: &'de str,
        is_last: bool,
        take: &mut dyn FnMut(&Question<'de>) -> Option<()>,
    ) -> Option<()> {
        let mut take = |question: &Question<'de>| take(question).ok_or_else(Message::default);
        let mut walk = Walk::new(self, &mut take);
        let (list, keys) = self.keys.split_first()?;
        let mut scanner = Scanner::new(text);
        // The list may be empty.
        let mut is_over = is_last && scanner.take(b']');
        while !is_over {
            walk.scan_level(keys, &mut scanner)?;
            if scanner.take(b',') {
                continue;
            }
            if !is_last {
                return scanner.is_at_end().then_some(());
            }
            scanner.take(b']').then_some(())?;
            is_over = true;
        }
        while scanner.take(b',') {
            let key = scanner.string()?;
            (key != *list && scanner.take(b':')).then_some(())?;
            scanner.skip_value()?;
        }
        (scanner.take(b'}') && scanner.is_at_end()).then_some(())
    }

    /// Returns whether a text seems to have this layout: a JSON object with the outermost list.
    ///
    /// ```
    /// use metric_text::read::QuestionForm;
    ///
    /// assert!(QuestionForm::SQUAD.fits(r#"{"version": "1.1", "data": []}"#));
    /// assert!(!QuestionForm::SQUAD.fits(r#"{"annotations": []}"#));
    /// assert!(!QuestionForm::SQUAD.fits(r#"{"id": "data", "reference": "a"}"#));
    /// ```
    #[must_use]
    pub fn fits(&self, text: &str) -> bool {
        let Some(key) = self.keys.first() else {
            return false;
        };
        // Few other files have the word, and need to be read. Reading ends at the list.
        let found = |error: serde_json::Error| error.to_string().starts_with(FOUND);
        let content = File { name: "", text }.content();
        text.contains(&format!("\"{key}\""))
            && serde_json::Deserializer::from_str(content)
                .deserialize_map(FindList(key))
                .is_err_and(found)
    }

    /// Reads each question of a file, in its order.
    ///
    /// ```
    /// use metric_record::File;
    /// use metric_text::read::QuestionForm;
    ///
    /// let text = r#"{"annotations": [{"question_id": 7, "answers": ["red", "blue"]}]}"#;
    /// let file = File { name: "annotations.json", text };
    /// let mut found = Vec::new();
    /// QuestionForm::VQA_ANNOTATIONS.for_each(file, &mut |question| {
    ///     found.push((question.id.to_string(), question.answers.answers.len()));
    ///     Ok(())
    /// })?;
    /// assert_eq!(found, [("7".to_owned(), 2)]);
    /// # Ok::<(), metric_record::ReadError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not of this form, if an object has a key twice, or if `take` refuses a
    /// question. It says how many questions were read before.
    pub fn for_each<'de>(
        &self,
        file: File<'de>,
        take: &mut dyn FnMut(&Question<'de>) -> Result<(), Message>,
    ) -> Result<(), ReadError> {
        let mut walk = Walk::new(self, take);
        if walk.scan(file.content()).is_some() {
            return Ok(());
        }
        // Text that a scanner does not accept is read again, for the words of the error.
        walk.taken = walk.read;
        let mut deserializer = serde_json::Deserializer::from_str(file.content());
        let whole = Level {
            keys: self.keys,
            walk: &mut walk,
        };
        let result = whole
            .deserialize(&mut deserializer)
            .and_then(|()| deserializer.end());
        let (read, refused) = (walk.read, walk.refused);
        result.map_err(|error| {
            // The error that carries a refusal has no text of its own, only its position.
            let text = in_words(&located(file.content(), &error));
            let problem = match refused {
                Some(refused) => refused.text(text),
                None => Message::from(text),
            };
            let error =
                ReadError::new(file.name, problem).position(offset_of(file.content(), &error));
            match read {
                0 => error,
                1 => error.at("after 1 question"),
                read => error.at(format!("after {read} questions")),
            }
        })
    }
}

/// A question of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question<'de> {
    /// Its id.
    pub id: IdKey<'de>,
    /// Its answers, with who gave them.
    pub answers: Answers,
    /// Whether it has the field for answers, even if that is empty.
    pub has_answers: bool,
    /// Its types.
    pub types: QuestionTypes<'de>,
}

/// The types of a question, as far as they are given.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionTypes<'a> {
    /// The start of the question, such as `what color`.
    pub question_type: Option<Cow<'a, str>>,
    /// The kind of the answer: `yes/no`, `number` or `other`.
    pub answer_type: Option<Cow<'a, str>>,
}

impl QuestionTypes<'_> {
    /// Returns the types that are given, with the names of their fields.
    ///
    /// ```
    /// use metric_text::read::QuestionTypes;
    ///
    /// let types = QuestionTypes { answer_type: Some("number".into()), ..QuestionTypes::default() };
    /// assert_eq!(types.named(), [("answer_type", "number")]);
    /// ```
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, &str)> {
        [
            ("question_type", &self.question_type),
            ("answer_type", &self.answer_type),
        ]
        .into_iter()
        .filter_map(|(field, name)| Some((field, name.as_deref()?)))
        .collect()
    }
}

/// The state that is carried through a file.
struct Walk<'w, 'de> {
    form: &'w QuestionForm,
    /// The last question; its memory is used again.
    question: Question<'de>,
    /// The people who gave its answers.
    people: Vec<Person<'de>>,
    question_keys: Keys,
    answer_keys: Keys,
    /// The number of questions read.
    read: u64,
    /// The number of the next questions that were already read and taken.
    taken: u64,
    /// The reason why a question was refused.
    refused: Option<Message>,
    take: &'w mut dyn FnMut(&Question<'de>) -> Result<(), Message>,
}

impl<'w, 'de> Walk<'w, 'de> {
    fn new(
        form: &'w QuestionForm,
        take: &'w mut dyn FnMut(&Question<'de>) -> Result<(), Message>,
    ) -> Self {
        Self {
            form,
            question: Question {
                id: IdKey::Number(0),
                answers: Answers::default(),
                has_answers: false,
                types: QuestionTypes::default(),
            },
            people: Vec::new(),
            question_keys: Keys::new(form.question_keys),
            answer_keys: Keys::new(form.answer_keys),
            read: 0,
            taken: 0,
            refused: None,
            take,
        }
    }

    /// Reads a file; `None` if something is wrong, or rare.
    fn scan(&mut self, text: &'de str) -> Option<()> {
        let mut scanner = Scanner::new(text);
        self.scan_level(self.form.keys, &mut scanner)?;
        scanner.is_at_end().then_some(())
    }

    /// Scans an object that has the lists of these keys, or is a question.
    fn scan_level(
        &mut self,
        keys: &'static [&'static str],
        scanner: &mut Scanner<'de>,
    ) -> Option<()> {
        let Some((&wanted, keys)) = keys.split_first() else {
            return self.scan_question(scanner);
        };
        let mut found = false;
        scanner.object(|scanner, key| {
            if key != wanted {
                return scanner.skip_value();
            }
            if std::mem::replace(&mut found, true) {
                return None;
            }
            scanner.list(|scanner| self.scan_level(keys, scanner))
        })?;
        found.then_some(())
    }

    fn scan_question(&mut self, scanner: &mut Scanner<'de>) -> Option<()> {
        let mut plain = scanner.clone();
        if let Some(id) = self.plain_question(&mut plain) {
            *scanner = plain;
            self.question.id = id;
            return self.take_question();
        }
        // One with an escape, or the like, is read by itself.
        let mut deserializer = serde_json::Deserializer::from_str(scanner.rest());
        let walk = &mut *self;
        let level = Level { keys: &[], walk };
        level.deserialize(&mut deserializer).ok()?;
        let rest = deserializer.into_iter::<IgnoredAny>();
        scanner.advance(rest.byte_offset());
        Some(())
    }

    /// Scans a question without escapes, and returns its id.
    fn plain_question(&mut self, scanner: &mut Scanner<'de>) -> Option<IdKey<'de>> {
        let question = &mut self.question;
        question.types = QuestionTypes::default();
        question.has_answers = false;
        let mut id = None;
        scanner.object_of(&mut self.question_keys, |scanner, key| {
            match key {
                0 => {
                    if id.is_some() {
                        return None;
                    }
                    id = Some(scan_id(scanner)?);
                }
                3 if self.form.answers => {
                    if std::mem::replace(&mut question.has_answers, true) {
                        return None;
                    }
                    let list = AnswerList {
                        text: self.form.text,
                        answers: &mut question.answers,
                        people: &mut self.people,
                    };
                    list.scan(scanner, &mut self.answer_keys)?;
                    number_people(&mut question.answers, &self.people);
                }
                1 => {
                    question.types.question_type = Some(Cow::Borrowed(scanner.string()?));
                }
                2 => {
                    question.types.answer_type = Some(Cow::Borrowed(scanner.string()?));
                }
                _ => scanner.skip_value()?,
            }
            Some(())
        })?;
        id
    }

    /// Gives the last question away; `None` if it was refused.
    fn take_question(&mut self) -> Option<()> {
        if let Err(refused) = (self.take)(&self.question) {
            self.refused = Some(refused);
            return None;
        }
        self.read += 1;
        Some(())
    }

    fn question<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let question = &mut self.question;
        question.types = QuestionTypes::default();
        question.has_answers = false;
        let mut id = None;
        while let Some(key) = map.next_key_seed(Text)? {
            match &*key {
                key if key == self.form.id => {
                    refuse_duplicate(key, id.is_none())?;
                    id = Some(map.next_value()?);
                }
                "answers" if self.form.answers => {
                    refuse_duplicate(&key, !question.has_answers)?;
                    question.has_answers = true;
                    map.next_value_seed(AnswerList {
                        text: self.form.text,
                        answers: &mut question.answers,
                        people: &mut self.people,
                    })?;
                    number_people(&mut question.answers, &self.people);
                }
                "question_type" => {
                    question.types.question_type = map.next_value_seed(OptionalText)?;
                }
                "answer_type" => question.types.answer_type = map.next_value_seed(OptionalText)?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        question.id = id.ok_or_else(|| {
            A::Error::custom(format_args!("a question without {:?}", self.form.id))
        })?;
        if self.taken > 0 {
            self.taken -= 1;
            return Ok(());
        }
        if self.refused.is_some() || self.take_question().is_none() {
            return Err(A::Error::custom(""));
        }
        Ok(())
    }
}

/// An object that has the lists of these keys, or is a question.
struct Level<'w, 'a, 'de> {
    keys: &'static [&'static str],
    walk: &'a mut Walk<'w, 'de>,
}

impl<'de> DeserializeSeed<'de> for Level<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Level<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((&wanted, keys)) = self.keys.split_first() else {
            return self.walk.question(map);
        };
        let mut found = false;
        while let Some(key) = map.next_key_seed(Text)? {
            if key != wanted {
                map.next_value::<IgnoredAny>()?;
            } else {
                refuse_duplicate(&key, !found)?;
                found = true;
                let walk = &mut *self.walk;
                map.next_value_seed(Levels(Level { keys, walk }))?;
            }
        }
        if found {
            Ok(())
        } else {
            Err(A::Error::custom(format_args!("no field {wanted:?}")))
        }
    }
}

/// A list of such objects.
struct Levels<'w, 'a, 'de>(Level<'w, 'a, 'de>);

impl<'de> DeserializeSeed<'de> for Levels<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Levels<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Level { keys, walk } = self.0;
        loop {
            let walk = &mut *walk;
            if list.next_element_seed(Level { keys, walk })?.is_none() {
                return Ok(());
            }
        }
    }
}

/// A string or null.
struct OptionalText;

impl<'de> DeserializeSeed<'de> for OptionalText {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for OptionalText {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or null")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Text.deserialize(deserializer).map(Some)
    }
}

/// The message by which [`FindList`] ends.
const FOUND: &str = "the list was found";

/// Ends with an error that says whether the value of a key is a list.
struct FindList<'k>(&'k str);

impl<'de> Visitor<'de> for FindList<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        struct IsList;
        impl<'de> Visitor<'de> for IsList {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, _list: A) -> Result<(), A::Error> {
                Err(A::Error::custom(FOUND))
            }
        }
        impl<'de> DeserializeSeed<'de> for IsList {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.deserialize_any(self)
            }
        }
        while let Some(key) = map.next_key_seed(Text)? {
            if key == self.0 {
                return map.next_value_seed(IsList);
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::answers;

    /// For each question its id, its types, whether it has answers, these, and who gave them.
    type Read = (String, [Option<String>; 2], bool, Vec<String>, Vec<u64>);

    fn questions(text: &str) -> Result<Vec<Read>, String> {
        let mut all = Vec::new();
        let file = File {
            name: "a.json",
            text,
        };
        let read = QuestionForm::VQA_ANNOTATIONS.for_each(file, &mut |question| {
            let QuestionTypes {
                question_type,
                answer_type,
            } = question.types.clone();
            let types = [question_type, answer_type].map(|kind| kind.map(Cow::into_owned));
            let answers = question.answers.clone();
            all.push((
                question.id.to_string(),
                types,
                question.has_answers,
                answers.answers,
                answers.annotators,
            ));
            Ok(())
        });
        read.map(|()| all).map_err(|error| error.to_string())
    }

    #[test]
    fn a_question_inherits_nothing() {
        let text = r#"{"annotations":[
            {"question_id":1,"question_type":"what","answer_type":"other",
             "answers":[{"answer":"a","answer_id":5},{"answer":"b","answer_id":5},{"answer":"c"}]},
            {"question_id":2},
            {"answers":["x"],"question_id":3,"question_type":null,"answer_type":"number"},
            {"question_id":4,"answers":[]}
        ]}"#;
        let kind = |kind: &str| Some(kind.to_owned());
        let all = questions(text).unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let (first, second) = (&all[0], &all[1]);
        let expected: Read = (
            "1".to_owned(),
            [kind("what"), kind("other")],
            true,
            texts(&["a", "b", "c"]),
            vec![0, 0, 2],
        );
        assert_eq!(*first, expected);
        assert_eq!((&second.1, second.2), (&[None, None], false));
        let third: Read = (
            "3".to_owned(),
            [None, kind("number")],
            true,
            texts(&["x"]),
            vec![],
        );
        assert_eq!(all[2], third);
        assert_eq!((all[3].2, &all[3].3), (true, &Vec::new()));
    }

    #[test]
    fn people_by_id_and_confidence() {
        let people = |answers: &str| {
            let text = format!("{{\"annotations\":[{{\"question_id\":1,\"answers\":{answers}}}]}}");
            let mut all = questions(&text).unwrap();
            all.pop().unwrap().4
        };
        let rows: &[(&str, &[u64])] = &[
            // All different, in order or not.
            (
                r#"[{"answer":"a","answer_id":1},{"answer":"a","answer_id":2}]"#,
                &[],
            ),
            (
                r#"[{"answer":"a","answer_id":2},{"answer":"a","answer_id":1}]"#,
                &[],
            ),
            (
                r#"[{"answer":"a","answer_id":1},{"answer":"b","answer_id":"1"}]"#,
                &[0, 0],
            ),
            (
                r#"[{"answer":"a","answer_id":1,"answer_confidence":"yes"},{"answer":"a","answer_id":1,"answer_confidence":"no"}]"#,
                &[],
            ),
            (
                r#"[{"answer":"a","answer_id":1,"answer_confidence":"yes"},{"answer":"a","answer_id":1,"answer_confidence":"no"},{"answer_confidence":"yes","answer":"b","answer_id":1}]"#,
                &[0, 1, 0],
            ),
            (
                r#"[{"answer":"a","answer_id":2},{"answer":"a","answer_id":1},{"answer":"a","answer_id":2},{"answer":"a"},{"answer":"a"}]"#,
                &[0, 1, 0, 3, 3],
            ),
        ];
        for (answers, expected) in rows {
            assert_eq!(people(answers), *expected, "{answers}");
        }
        let many: Vec<String> = (0..100_000)
            .map(|id| format!("{{\"answer\":\"a\",\"answer_id\":{}}}", 99_999 - id))
            .collect();
        assert_eq!(people(&format!("[{}]", many.join(","))), [0_u64; 0]);
    }

    #[test]
    fn keys_occur_once() {
        let rows = [
            (r#"{"annotations":[],"annotations":[]}"#, "annotations"),
            (
                r#"{"annotations":[{"question_id":1,"question_id":2,"answers":[]}]}"#,
                "question_id",
            ),
            (
                r#"{"annotations":[{"question_id":1,"answers":[],"answers":[]}]}"#,
                "answers",
            ),
            (
                r#"{"annotations":[{"question_id":1,"answers":[{"answer":"a","answer":"b"}]}]}"#,
                "answer",
            ),
        ];
        for (text, key) in rows {
            let error = questions(text).unwrap_err();
            assert!(error.contains(&format!("duplicate key {key:?}")), "{error}");
        }
        assert!(answers(r#"[{"answer":"a","answer":"b"}]"#).is_err());
        assert!(answers(r#"["a"] "b""#).is_err());
    }

    #[test]
    fn errors_say_how_far_reading_came() {
        let rows = [
            ("{}", r#"a.json: no field "annotations" at line 1 column 2"#),
            (
                r#"{"annotations":[{"question_id":1},{"answers":[]}]}"#,
                r#"a.json: after 1 question: a question without "question_id" at line 1 column 48"#,
            ),
            (
                r#"{"annotations":[{"question_id":1.5}]}"#,
                "a.json: found the number `1.5`, expected an id, a string or an integer at line 1 column 34",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(questions(text).unwrap_err(), expected);
        }
    }

    #[test]
    fn a_refusal_keeps_its_options() {
        let file = File {
            name: "a.json",
            text: r#"{"questions":[{"question_id":1},{"question_id":2}]}"#,
        };
        let error = QuestionForm::VQA_QUESTIONS.for_each(file, &mut |question| {
            if question.id == IdKey::Number(2) {
                Err(Message::from("use ").option("profile", "v2"))
            } else {
                Ok(())
            }
        });
        let expected = "a.json: after 1 question: use --profile v2 at line 1 column 49";
        assert_eq!(error.unwrap_err().to_string(), expected);
    }

    /// A question with an escape is read by itself; after an error no question is taken twice.
    #[test]
    fn each_question_is_taken_once() {
        let question = |id: u64, answer: &str| {
            format!(
                r#"{{"question_id": {id}, "answers": [{{"answer": "{answer}", "answer_id": 1}}]}}"#
            )
        };
        let file = |last: &str| {
            let all = [
                question(1, "a"),
                question(2, r"b\n\u00e9"),
                question(3, "c"),
                last.to_owned(),
            ];
            format!(
                r#"{{"info": "\u00e9", "annotations": [{}], "data": 1}}"#,
                all.join(",")
            )
        };
        let read = |text: &str, refused: &str| {
            let mut taken = Vec::new();
            let read =
                QuestionForm::VQA_ANNOTATIONS.for_each(File { name: "a", text }, &mut |question| {
                    let (id, answers) = (question.id.to_string(), &question.answers.answers);
                    taken.push((id.clone(), answers.join("|")));
                    if id == refused {
                        Err("no".into())
                    } else {
                        Ok(())
                    }
                });
            (taken, read.map_err(|error| error.to_string()))
        };
        let three = [("1", "a"), ("2", "b\n\u{e9}"), ("3", "c")]
            .map(|(id, text)| (id.to_owned(), text.to_owned()));
        let (taken, all) = read(&file(&question(4, "d")), "");
        assert_eq!((taken.len(), all), (4, Ok(())));
        for last in [
            r#"{"question_id": 4, "question_id": 4}"#,
            "{}",
            "7",
            r#"{"question_id": 4"#,
        ] {
            let (taken, error) = read(&file(last), "");
            let error = error.expect_err("no question");
            assert!(error.starts_with("a: after 3 questions: "), "{error}");
            assert_eq!(taken, three);
        }
        for (refused, before) in [("2", 1), ("3", 2)] {
            let (taken, error) = read(&file("7"), refused);
            let error = error.expect_err("a question that is refused");
            let plural = if before == 1 { "" } else { "s" };
            assert!(
                error.starts_with(&format!(
                    "a: after {before} question{plural}: no at line 1 "
                )),
                "{error}"
            );
            assert_eq!(taken, three[..=before]);
        }
    }

    proptest::proptest! {
        /// The scanner reads the same as serde.
        #[test]
        fn scans_what_is_read(
            parts in proptest::collection::vec(proptest::sample::select(vec![
                r#"{"annotations": ["#, r#"{"question_id": 1"#, r#""answers": ["#, r#""a""#, r#"{"answer": "a"}"#,
                r#"{"answer": "\u0061", "answer_id": 2}"#, "]", "}", ", ", "]}]}", r#", "answers": [], "#,
                r#""question_type": "x""#, r#""answer_type": null"#, r#"{"question_id": "b", "answers": ["c"]}"#,
            ]), 0..9),
        ) {
            let text = format!(r#"{{"annotations": [{}]}}"#, parts.concat());
            let read = questions(&text);
            // With an escape in the first key nothing is scanned.
            let rare = text.replace("annotations", r"\u0061nnotations");
            match (read, questions(&rare)) {
                (Ok(read), Ok(rare)) => proptest::prop_assert_eq!(read, rare),
                (Err(_), Err(_)) => {}
                (read, rare) => proptest::prop_assert!(false, "{read:?} {rare:?}"),
            }
        }
    }
}
