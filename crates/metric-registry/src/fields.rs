//! The objects of dataset files, whose fields tell clusters and slices apart.

use std::collections::BTreeMap;

use metric_record::json::{self, Entries};
use metric_record::{Content, Document, IdKey, Kind, ReadError};
use serde_json::value::RawValue;

use crate::data_set::{DataSet, Inputs};
use crate::reading::ObjectsAt;

/// Returns the objects of the references of a data set by id; `None` if there are none.
pub(crate) fn objects_of(
    data: &DataSet,
    places: &[ObjectsAt],
) -> Result<Option<BTreeMap<String, String>>, ReadError> {
    let mut objects: Option<BTreeMap<String, String>> = None;
    for place in places {
        let document = match place.file {
            "" => Some(&data.references),
            option => data.file(option),
        };
        let Some(document) = document else {
            continue;
        };
        let found = objects_by_id(document, place.keys, place.id)?;
        match (&mut objects, found) {
            (Some(objects), Some(found)) => add_questions(objects, &found),
            (None, found) => objects = found,
            _ => {}
        }
    }
    Ok(objects)
}

/// Adds the questions of other objects to objects that have none.
fn add_questions(objects: &mut BTreeMap<String, String>, asked: &BTreeMap<String, String>) {
    fn scanned(object: &str) -> Option<&str> {
        Entries::scan(object)?.get(Inputs::QUESTION)
    }
    for (id, object) in objects {
        let question = asked.get(id).and_then(|asked| scanned(asked));
        let question = question.filter(|_| scanned(object).is_none());
        if let Some((question, start)) = question.zip(object.strip_suffix('}')) {
            *object = format!("{start}, \"{}\": {question}}}", Inputs::QUESTION);
        }
    }
}

/// Returns the objects in nested lists of a document by their id. Each key leads from an object to its list,
/// and the last list holds the objects. `None` if the document is not one JSON object.
fn objects_by_id(
    document: &Document,
    keys: &[&str],
    id: &str,
) -> Result<Option<BTreeMap<String, String>>, ReadError> {
    let (Content::Text(_) | Content::Stream(_)) = &document.content else {
        return Ok(None);
    };
    let text = document.file()?.content();
    if json::kind(text) != Kind::Object {
        return Ok(None);
    }
    let mut found = BTreeMap::new();
    let gathered = gather(text, keys, id, &mut found);
    gathered.map_err(|problem| ReadError::new(&document.name, problem))?;
    Ok(Some(found))
}

fn gather(
    object: &str,
    keys: &[&str],
    id: &str,
    found: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    // The scanner is many times faster on large lists, and refuses more.
    let entries = match Entries::scan(object) {
        Some(entries) => entries.0,
        None => json::typed::<Entries<'_>>(object)?.0,
    };
    let field = |name: &str| {
        let field = entries.iter().find(|(field, _)| field == name);
        field.map(|(_, value)| *value)
    };
    let Some((key, keys)) = keys.split_first() else {
        // Records without an id are refused by the reader of the file.
        if let Some(id) = field(id) {
            let id = json::typed::<IdKey<'_>>(id)?;
            found.insert(id.to_string(), object.to_owned());
        }
        return Ok(());
    };
    let Some(list) = field(key) else {
        return Ok(());
    };
    for item in json::typed::<Vec<&RawValue>>(list)? {
        gather(item.get(), keys, id, found)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_in_nested_lists() {
        let text =
            r#"{"data": [{"qas": [{"id": "a", "x": 1}, {"id": 2}]}, {"qas": [{"id": "c"}]}, {}]}"#;
        let document = Document::text("d.json", text);
        let found = objects_by_id(&document, &["data", "qas"], "id").expect("objects");
        let found = found.expect("an object");
        assert_eq!(found.keys().collect::<Vec<_>>(), ["2", "a", "c"]);
        assert_eq!(found["a"], r#"{"id": "a", "x": 1}"#);
        let list = objects_by_id(&Document::text("d.json", "[]"), &["data"], "id");
        assert_eq!(list, Ok(None));
        assert!(
            objects_by_id(&Document::text("d.json", r#"{"data": 3}"#), &["data"], "id").is_err()
        );
    }
}
