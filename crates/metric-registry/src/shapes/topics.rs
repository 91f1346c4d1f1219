//! Topics: an object of documents with scores, or a list of documents, for an object of documents with relevance.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use metric_record::json::{Entries, Name, typed};
use metric_record::{FieldError, Kind, Message, Record, Side, Value, quoted_id};
use serde_json::Value as Json;

/// Documents with a number for each, in the order in which they are given.
pub(crate) type Documents<'t, T> = Vec<(Cow<'t, str>, T)>;

/// The kind of number of a document.
pub(crate) struct NumberOf<T> {
    /// The word for the number.
    pub(crate) name: &'static str,
    /// Reads the number from JSON.
    pub(crate) json: fn(&str) -> Result<T, String>,
    /// Reads the number from a field of a file of text.
    pub(crate) text: fn(&str) -> Result<T, String>,
    /// The number of an item of a list, by its index and the length of the list.
    pub(crate) item: fn(usize, usize) -> T,
}

/// A relevance that is an integer.
pub(crate) const RELEVANCE: NumberOf<i64> = NumberOf {
    name: "relevance",
    json: |json| typed::<i64>(json).map_err(|_| expected("an integer", json)),
    text: |text| {
        text.parse()
            .map_err(|_| expected("an integer", &quoted_id(text)))
    },
    item: |_, _| 1,
};

/// A relevance that may be a fraction.
pub(crate) const GAIN: NumberOf<f64> = NumberOf {
    name: "relevance",
    json: finite,
    text: finite_text,
    item: |_, _| 1.0,
};

/// A score. Runs in text may have infinite ones. The scores of a list fall by 1 from each document to the next.
pub(crate) const SCORE: NumberOf<f64> = NumberOf {
    name: "score",
    json: finite,
    text: |text| {
        let score = text.parse::<f64>().ok().filter(|score| !score.is_nan());
        score.ok_or_else(|| expected("a number", &quoted_id(text)))
    },
    item: |index, length| (length - index) as f64,
};

fn expected(what: &str, found: &str) -> String {
    format!("expected {what}, found {found}")
}

fn finite(json: &str) -> Result<f64, String> {
    let number = typed::<f64>(json).ok().filter(|number| number.is_finite());
    number.ok_or_else(|| expected("a finite number", json))
}

fn finite_text(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| expected("a finite number", &quoted_id(text)))
}

/// Reads the documents of a side; `json` holds them. A missing value has no documents.
pub(crate) fn read_documents<'t, T>(
    side: Side,
    value: &mut Value<'_>,
    kind: &NumberOf<T>,
    json: &'t mut String,
) -> Result<Documents<'t, T>, FieldError> {
    let refuse = |problem: Message| FieldError::new(side, problem);
    if value.is_missing() {
        return Ok(Vec::new());
    }
    // Cells and files of text have no type.
    if let Some(line) = value.as_line() {
        line.clone_into(json);
        if !json.trim_start().starts_with(['{', '[']) {
            return lines(json, kind).map_err(|problem| refuse(problem.into()));
        }
    } else if matches!(value.kind(), Kind::Object | Kind::List) {
        let found = value.to_json_or("{}");
        *json = found
            .map_err(|problem| refuse(problem.into()))?
            .into_owned();
    } else {
        return Err(refuse(
            no_documents(&value.kind().to_string(), kind.name).into(),
        ));
    }
    let documents = if json.trim_start().starts_with('{') {
        object(json, kind)
    } else {
        list(json, kind)
    };
    documents.map_err(|problem| refuse(problem.into()))
}

fn no_documents(found: &str, name: &str) -> String {
    expected(
        &format!("an object of documents, each with its {name}, or a list of documents"),
        found,
    )
}

fn object<'t, T>(json: &'t str, kind: &NumberOf<T>) -> Result<Documents<'t, T>, String> {
    let entries = match Entries::scan(json) {
        Some(entries) => entries,
        None => typed(json)?,
    };
    let entries = entries.0.into_iter();
    let documents = entries.map(|(name, number)| {
        let number = (kind.json)(number);
        let number = number.map_err(|problem| of_document(kind.name, &name, &problem))?;
        Ok((name, number))
    });
    documents.collect()
}

fn of_document(kind: &str, name: &str, problem: &str) -> String {
    format!("{kind} of {}: {problem}", quoted_id(name))
}

fn list<'t, T>(json: &'t str, kind: &NumberOf<T>) -> Result<Documents<'t, T>, String> {
    let names: Vec<Name<'t>> = typed(json)?;
    let length = names.len();
    let documents = names.into_iter().enumerate();
    let documents: Documents<'_, T> = documents
        .map(|(index, name)| (name.0, (kind.item)(index, length)))
        .collect();
    refuse_twice(&documents)?;
    Ok(documents)
}

/// Reads lines of a document, a tab and a number, as readers of TREC's and BEIR's files leave them.
fn lines<'t, T>(text: &'t str, kind: &NumberOf<T>) -> Result<Documents<'t, T>, String> {
    let lines = text.lines().map(|line| {
        let no_documents = || no_documents(&quoted_id(text), kind.name);
        let (name, number) = line.rsplit_once('\t').ok_or_else(no_documents)?;
        let number = (kind.text)(number);
        let number = number.map_err(|problem| of_document(kind.name, name, &problem))?;
        Ok((Cow::Borrowed(name), number))
    });
    let documents = lines.collect::<Result<Documents<'_, T>, String>>()?;
    refuse_twice(&documents)?;
    Ok(documents)
}

fn refuse_twice<T>(documents: &Documents<'_, T>) -> Result<(), String> {
    let mut names = HashSet::with_capacity_and_hasher(documents.len(), RandomState::default());
    let again = documents.iter().find(|(name, _)| !names.insert(&**name));
    again.map_or(Ok(()), |(name, _)| {
        Err(format!("the document {} is listed twice", quoted_id(name)))
    })
}

/// The documents by name.
pub(crate) fn by_name<'d, T: Copy>(
    documents: &'d Documents<'_, T>,
) -> HashMap<&'d str, T, RandomState> {
    let documents = documents.iter();
    documents.map(|(name, number)| (&**name, *number)).collect()
}

/// The documents of both sides of a record as JSON, for a report.
pub(crate) fn inputs(record: &mut Record<'_>) -> Option<[String; 2]> {
    let sides = [
        (Side::Reference, &mut record.reference, &GAIN),
        (Side::Prediction, &mut record.prediction, &SCORE),
    ];
    let mut read = Vec::new();
    for (side, value, kind) in sides {
        let mut json = String::new();
        let documents = read_documents(side, value, kind, &mut json).ok()?;
        let object = documents.into_iter().map(|(name, number)| {
            // JSON has no infinite numbers.
            let number = if number.is_finite() {
                Json::from(number)
            } else {
                Json::from(number.to_string())
            };
            (name.into_owned(), number)
        });
        read.push(Json::Object(object.collect()).to_string());
    }
    read.try_into().ok()
}
