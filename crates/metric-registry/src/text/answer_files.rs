//! Files of questions with their answers, as VQA v2 and SQuAD have them, read without a tree of
//! values and joined with the predictions as they come.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use metric_text::vqa::Answers;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use metric_record::json::{Text, in_words, kind, string, typed, without_position};
use metric_record::{File, JoinPolicy, Missing, ReadError};

use crate::DataSetError;

/// What is wrong with a file.
#[derive(Debug)]
pub(crate) struct Problem(String);

impl From<Problem> for DataSetError {
    fn from(problem: Problem) -> Self {
        Self::Read(ReadError::new("", problem.0))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many ids an error names.
const NAMED_IDS: usize = 5;

/// The id of a question; 17 and "17" are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id<'a> {
    Number(u64),
    Text(Cow<'a, str>),
}

impl<'a> Id<'a> {
    fn of(text: Cow<'a, str>) -> Self {
        let starts_like_one = text.starts_with(|c: char| c.is_ascii_digit());
        match text.parse::<u64>() {
            Ok(number) if starts_like_one && number.to_string() == text => Self::Number(number),
            _ => Self::Text(text),
        }
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Id<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;
        impl<'de> Visitor<'de> for IdVisitor {
            type Value = Id<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id, a string or an integer")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Id<'de>, E> {
                Ok(Id::Number(number))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Id<'de>, E> {
                Ok(Id::of(Cow::Owned(number.to_string())))
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Id<'de>, E> {
                Ok(Id::of(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Id<'de>, E> {
                Ok(Id::of(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_any(IdVisitor)
    }
}

/// A form of files of questions.
pub(crate) struct Form {
    /// The keys that lead from list to list, the last of which is that of the questions.
    keys: &'static [&'static str],
    /// The field of a question with its id.
    id: &'static str,
    /// The field of an answer with its text.
    text: &'static str,
    /// Whether questions have answers.
    answers: bool,
}

pub(crate) const VQA_ANNOTATIONS: Form = Form {
    keys: &["annotations"],
    id: "question_id",
    text: "answer",
    answers: true,
};

const VQA_QUESTIONS: Form = Form {
    keys: &["questions"],
    id: "question_id",
    text: "answer",
    answers: false,
};

pub(crate) const SQUAD: Form = Form {
    keys: &["data", "paragraphs", "qas"],
    id: "id",
    text: "text",
    answers: true,
};

impl Form {
    /// Whether a text seems to be of this form: an object with the outermost list.
    pub(crate) fn fits(&self, text: &str) -> bool {
        let Some(key) = self.keys.first() else {
            return false;
        };
        // Few other files have the word, and need to be read. Reading ends at the list.
        let found = |error: serde_json::Error| error.to_string().starts_with(FOUND);
        text.contains(&format!("\"{key}\""))
            && serde_json::Deserializer::from_str(without_mark(text))
                .deserialize_map(FindList(key))
                .is_err_and(found)
    }

    /// Reads each question of the text of a file of this name.
    fn each<'de>(
        &self,
        name: &str,
        text: &'de str,
        take: &mut dyn FnMut(&Question<'de>) -> Result<(), String>,
    ) -> Result<(), Problem> {
        let mut walk = Walk {
            form: self,
            question: Question::default(),
            read: 0,
            take,
        };
        let mut deserializer = serde_json::Deserializer::from_str(without_mark(text));
        let whole = Level {
            keys: self.keys,
            walk: &mut walk,
        };
        let result = whole
            .deserialize(&mut deserializer)
            .and_then(|()| deserializer.end());
        let read = walk.read;
        result.map_err(|error| {
            let error = in_words(&error.to_string());
            Problem(match read {
                0 => format!("{name}: {error}"),
                read => format!("{name}: after {read} questions: {error}"),
            })
        })
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

/// A question as it stands in a file.
#[derive(Default)]
pub(crate) struct Question<'de> {
    id: Option<Id<'de>>,
    /// Its answers, with who gave them.
    pub(crate) answers: Answers,
    pub(crate) has_answers: bool,
    /// The types of question and answer.
    pub(crate) types: [Option<Cow<'de, str>>; 2],
    /// What tells the people apart.
    people: Vec<Person<'de>>,
}

/// All that is known of an answer beside its text.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Person<'de> {
    id: Option<Id<'de>>,
    confidence: Option<&'de str>,
}

impl Question<'_> {
    /// Says who gave the answers, if one person gave several.
    fn number_people(&mut self) {
        self.answers.annotators.clear();
        let people = &self.people;
        let number = |person: &Person<'_>| match person.id {
            Some(Id::Number(number)) => Some(number),
            _ => None,
        };
        // As in VQA v2's files, from 1 to 10.
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
            .map(|(person, place)| *firsts.entry(person).or_insert(place));
        self.answers.annotators.extend(numbers);
        if firsts.len() == people.len() {
            self.answers.annotators.clear();
        }
    }
}

/// Refuses a key that an object has had.
fn once<E: Error>(key: &str, is_first: bool) -> Result<(), E> {
    match is_first {
        true => Ok(()),
        false => Err(E::custom(format_args!("duplicate key {key:?}"))),
    }
}

/// What is carried through a file.
struct Walk<'w, 'de> {
    form: &'w Form,
    /// The last question; its memory is used again.
    question: Question<'de>,
    /// How many were read.
    read: u64,
    take: &'w mut dyn FnMut(&Question<'de>) -> Result<(), String>,
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
                once(&key, !found)?;
                found = true;
                let walk = &mut *self.walk;
                map.next_value_seed(Levels(Level { keys, walk }))?;
            }
        }
        match found {
            true => Ok(()),
            false => Err(A::Error::custom(format_args!("no field {wanted:?}"))),
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

impl<'de> Walk<'_, 'de> {
    fn question<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let question = &mut self.question;
        question.id = None;
        question.types = [None, None];
        question.has_answers = false;
        while let Some(key) = map.next_key_seed(Text)? {
            match &*key {
                key if key == self.form.id => {
                    once(key, question.id.is_none())?;
                    question.id = Some(map.next_value()?);
                }
                "answers" if self.form.answers => {
                    once(&key, !question.has_answers)?;
                    question.has_answers = true;
                    map.next_value_seed(AnswerList {
                        text: self.form.text,
                        answers: &mut question.answers,
                        people: &mut question.people,
                    })?;
                    question.number_people();
                }
                "question_type" => question.types[0] = map.next_value_seed(OptionalText)?,
                "answer_type" => question.types[1] = map.next_value_seed(OptionalText)?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if question.id.is_none() {
            let id = self.form.id;
            return Err(A::Error::custom(format_args!("a question without {id:?}")));
        }
        (self.take)(&self.question).map_err(A::Error::custom)?;
        self.read += 1;
        Ok(())
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

/// A list of answers, each a string or an object with its text.
struct AnswerList<'a, 'de> {
    text: &'static str,
    answers: &'a mut Answers,
    people: &'a mut Vec<Person<'de>>,
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
                // Else it would not be clear who gave which.
                return match [0, count].contains(&self.people.len()) {
                    true => Ok(()),
                    false => Err(A::Error::custom("texts and objects in one list of answers")),
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
                    once(key, !found)?;
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
        match found {
            true => Ok(()),
            false => Err(A::Error::custom(format_args!("no field {:?}", self.field))),
        }
    }
}

/// The answers of a record: one, or a list of texts or of VQA v2's objects.
pub(crate) fn answers(json: &str) -> Result<Answers, String> {
    match json.trim_start().as_bytes().first() {
        Some(b'"') => Ok(Answers::from([string(json)?])),
        Some(b'[') => {
            let mut question = Question::default();
            let mut deserializer = serde_json::Deserializer::from_str(json);
            let list = AnswerList {
                text: VQA_ANNOTATIONS.text,
                answers: &mut question.answers,
                people: &mut question.people,
            };
            list.deserialize(&mut deserializer)
                .map_err(|error| in_words(without_position(&error.to_string())))?;
            question.number_people();
            Ok(question.answers)
        }
        _ => Err(format!(
            "expected an answer or a list of answers, found {}",
            kind(json)
        )),
    }
}

/// What is known of the prediction for a question.
enum Slot<'a> {
    Given(Cow<'a, str>),
    /// A question had it.
    Used,
    /// A question has none.
    Missing,
}

/// The predictions of a data set by question.
struct Predictions<'a> {
    slots: HashMap<Id<'a>, Slot<'a>>,
}

impl<'a> Predictions<'a> {
    /// Reads a list of objects with `question_id` and `answer`, as VQA v2 has it, or an object of
    /// ids and answers, as SQuAD has it.
    fn read(name: &str, text: &'a str) -> Result<Self, Problem> {
        struct All<'a>(HashMap<Id<'a>, Slot<'a>>);

        impl<'a> All<'a> {
            fn add<E: Error>(&mut self, id: Id<'a>, text: Cow<'a, str>) -> Result<(), E> {
                match self.0.insert(id.clone(), Slot::Given(text)) {
                    None => Ok(()),
                    Some(_) => Err(E::custom(format_args!("duplicate id \"{id}\""))),
                }
            }
        }

        struct Answer<'a>(Id<'a>, Cow<'a, str>);

        impl<'de> Deserialize<'de> for Answer<'de> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct AnswerVisitor;
                impl<'de> Visitor<'de> for AnswerVisitor {
                    type Value = Answer<'de>;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object with \"question_id\" and \"answer\"")
                    }

                    fn visit_map<A: MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<Answer<'de>, A::Error> {
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

        impl<'de> Visitor<'de> for All<'de> {
            type Value = Self;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a list of answers with their \"question_id\", or an object id to answer",
                )
            }

            fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Self, A::Error> {
                while let Some(Answer(id, text)) = list.next_element()? {
                    self.add(id, text)?;
                }
                Ok(self)
            }

            fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
                while let Some(id) = map.next_key_seed(Text)? {
                    let text = map.next_value_seed(Text)?;
                    self.add(Id::of(id), text)?;
                }
                Ok(self)
            }
        }

        impl<'de> Deserialize<'de> for All<'de> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(All(HashMap::new()))
            }
        }

        let All(slots) = serde_json::from_str(without_mark(text)).map_err(|error| {
            let error = in_words(&error.to_string());
            let is_lines = name.ends_with(".jsonl") || error.starts_with("trailing characters");
            let hint = match is_lines {
                true => "; beside such a data file predictions are one list or object of JSON, not JSON Lines",
                false => "",
            };
            Problem(format!("{name}: {error}{hint}"))
        })?;
        Ok(Self { slots })
    }
}

/// What a join let pass.
#[derive(Default)]
pub(crate) struct Passed {
    pub(crate) missing: u64,
    pub(crate) extra: u64,
}

/// Reads questions and gives each to `take` with its id and prediction, as the policy has it.
pub(crate) fn join<'de>(
    form: &Form,
    references: File<'de>,
    predictions: File<'de>,
    policy: JoinPolicy,
    take: &mut dyn FnMut(&Id<'de>, &Question<'de>, &str) -> Result<(), String>,
) -> Result<Passed, Problem> {
    let (references, questions) = (references.name, references.text);
    let (predictions, answers) = (predictions.name, predictions.text);
    let mut given = Predictions::read(predictions, answers)?;
    let mut without: Vec<String> = Vec::new();
    let mut missing = 0;
    form.each(references, questions, &mut |question| {
        let Some(id) = &question.id else {
            return Ok(());
        };
        let of_question = |problem: String| format!("question {:?}: {problem}", id.to_string());
        if !question.has_answers {
            return Err(of_question("no field \"answers\"".to_owned()));
        }
        let prediction = match given.slots.get_mut(id) {
            Some(slot) => match std::mem::replace(slot, Slot::Used) {
                Slot::Given(text) => text,
                Slot::Used | Slot::Missing => {
                    return Err(format!("duplicate id {:?}", id.to_string()));
                }
            },
            None => {
                given.slots.insert(id.clone(), Slot::Missing);
                missing += 1;
                if without.len() < NAMED_IDS {
                    without.push(id.to_string());
                }
                if policy.missing != Missing::Empty {
                    return Ok(());
                }
                Cow::Borrowed("")
            }
        };
        take(id, question, &prediction).map_err(of_question)
    })?;
    let left =
        |(id, slot): (&Id<'_>, &Slot<'_>)| matches!(slot, Slot::Given(_)).then(|| id.to_string());
    let mut extra: Vec<String> = given.slots.iter().filter_map(left).collect();
    let mut problems = Vec::new();
    if missing > 0 && policy.missing == Missing::Error {
        problems.push(format!(
            "{predictions}: no prediction for {}; to go on without, use --missing empty or --missing skip",
            listed(missing, "reference", references, &without)
        ));
    }
    let extra_count = extra.len() as u64;
    if extra_count > 0 && !policy.ignore_extra {
        extra.sort_unstable();
        problems.push(format!(
            "{references}: no reference for {}; to go on without, use --extra ignore",
            listed(extra_count, "prediction", predictions, &extra)
        ));
    }
    match problems.as_slice() {
        [] => Ok(Passed {
            missing,
            extra: extra_count,
        }),
        problems => Err(Problem(problems.join("\n"))),
    }
}

/// Holds the questions of VQA v2's question file against the annotated ones.
pub(crate) fn check_questions(
    file: File<'_>,
    annotations: &str,
    annotated: &HashSet<Id<'_>>,
) -> Result<(), Problem> {
    let (path, text) = (file.name, file.text);
    let mut asked: HashSet<Id<'_>> = HashSet::new();
    let mut unknown: Vec<String> = Vec::new();
    VQA_QUESTIONS.each(path, text, &mut |question| {
        let Some(id) = question.id.clone() else {
            return Ok(());
        };
        if !annotated.contains(&id) {
            unknown.push(id.to_string());
        }
        match asked.insert(id.clone()) {
            true => Ok(()),
            false => Err(format!("duplicate id {:?}", id.to_string())),
        }
    })?;
    let unasked = annotated.difference(&asked);
    let mut unasked: Vec<String> = unasked.map(Id::to_string).collect();
    for (ids, of, by) in [
        (&mut unknown, path, annotations),
        (&mut unasked, annotations, path),
    ] {
        if !ids.is_empty() {
            ids.sort_unstable();
            let listed = listed(ids.len() as u64, "question", of, ids);
            return Err(Problem(format!("{by}: does not have {listed}")));
        }
    }
    Ok(())
}

/// `3 references of refs.json: "a", "b", "c"`.
fn listed(count: u64, what: &str, name: &str, ids: &[String]) -> String {
    let plural = if count == 1 { "" } else { "s" };
    let named: Vec<String> = ids
        .iter()
        .take(NAMED_IDS)
        .map(|id| format!("{id:?}"))
        .collect();
    let more = if count > named.len() as u64 {
        ", ..."
    } else {
        ""
    };
    format!(
        "{count} {what}{plural} of {name}: {}{more}",
        named.join(", ")
    )
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A list of texts, or one.
pub(crate) fn texts(json: &str) -> Result<Vec<String>, String> {
    match json.trim_start().as_bytes().first() {
        Some(b'[') => typed(json),
        Some(b'"') => Ok(vec![string(json)?.into_owned()]),
        _ => Err(format!(
            "expected a string or a list of strings, found {}",
            kind(json)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each question its id, its types, whether it has answers, these, and who gave them.
    type Read = (String, [Option<String>; 2], bool, Vec<String>, Vec<u64>);

    fn questions(text: &str) -> Result<Vec<Read>, String> {
        let mut all = Vec::new();
        let read = VQA_ANNOTATIONS.each("a.json", text, &mut |question| {
            let types = question.types.clone().map(|kind| kind.map(Cow::into_owned));
            let answers = question.answers.clone();
            let id = question.id.as_ref().map(Id::to_string).unwrap_or_default();
            all.push((
                id,
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
    fn ids_are_numbers_as_they_are_written() {
        let id = |text: &str| Id::of(Cow::Owned(text.to_owned()));
        assert_eq!(id("7"), Id::Number(7));
        for text in ["007", "+7", "-7", "7.0", "", "18446744073709551616"] {
            assert_eq!(id(text), Id::Text(text.into()), "{text}");
            assert_eq!(id(text).to_string(), text);
        }
    }

    #[test]
    fn keys_stand_once() {
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
    }
}
