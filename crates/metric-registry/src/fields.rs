//! The objects of dataset files, whose fields tell clusters and slices apart.

use std::collections::BTreeMap;

use metric_record::json::{self, Entries};
use metric_record::{Content, Document, IdKey, Kind, ReadError};
use serde_json::value::RawValue;

/// Returns the objects in nested lists of a document by their id. Each key leads from an object to its list,
/// and the last list holds the objects. `None` if the document is not one JSON object.
pub(crate) fn objects_by_id(
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
