//! The fields in which records of the same id differ.

use std::collections::BTreeSet;

use metric_record::json::Entries;
use metric_record::{Kind, json};

/// At most this many fields are named.
const MOST: usize = 3;

/// Returns the fields that tell the records of each id apart, given some records of several ids as JSON objects: each
/// record of an id has another value there, which is a string, a number or a Boolean. The first few are named, those
/// with the fewest values first, as the values of a name such as `filter` are the same for each id.
pub(crate) fn telling_fields(ids: &[Vec<Box<str>>], known: &[&str]) -> Vec<String> {
    let mut candidates: Option<Vec<(String, BTreeSet<String>)>> = None;
    for records in ids.iter().filter(|records| records.len() > 1) {
        let entries = records.iter().map(|record| json::typed(record));
        let Ok(entries) = entries.collect::<Result<Vec<Entries<'_>>, String>>() else {
            return Vec::new();
        };
        let names = || entries.iter().flat_map(|entries| &entries.0);
        let mut fields = candidates.take().unwrap_or_else(|| {
            let mut named = BTreeSet::new();
            let first = names().filter(|(name, _)| named.insert(name.clone()));
            let first = first.map(|(name, _)| (name.to_string(), BTreeSet::new()));
            first
                .filter(|(name, _)| !known.contains(&name.as_str()))
                .collect()
        });
        fields.retain_mut(|(name, values)| {
            let mut own = BTreeSet::new();
            let differ = entries.iter().all(|entries| {
                entries.get(name).is_some_and(|value| {
                    let kind = json::kind(value);
                    matches!(kind, Kind::String | Kind::Number | Kind::Boolean) && own.insert(value)
                })
            });
            values.extend(own.into_iter().map(str::to_owned));
            differ
        });
        candidates = Some(fields);
    }
    let mut fields = candidates.unwrap_or_default();
    fields.sort_by_key(|(_, values)| values.len());
    let names = fields.into_iter().map(|(name, _)| name);
    names.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_differ_for_each_id() {
        let fields = |ids: &[&[&str]]| {
            let ids: Vec<Vec<Box<str>>> = ids
                .iter()
                .map(|records| records.iter().map(|record| (*record).into()).collect())
                .collect();
            telling_fields(&ids, &["id", "prediction"])
        };
        let a = r#"{"id": 1, "prediction": "x", "score": 1, "filter": "a", "list": [1]}"#;
        let b = r#"{"id": 1, "prediction": "y", "score": 0, "filter": "b", "list": [2]}"#;
        let other = r#"{"id": 2, "prediction": "y", "score": 1, "filter": "a", "list": [3]}"#;
        let same = r#"{"id": 2, "prediction": "z", "score": 1, "filter": "b", "list": [4]}"#;
        assert_eq!(fields(&[&[a, b]]), ["score", "filter"]);
        assert_eq!(fields(&[&[a, b], &[other, same]]), ["filter"]);
        assert_eq!(fields(&[&[a, a], &[other, same]]), [""; 0]);
        // One value is missing.
        assert_eq!(fields(&[&[a, r#"{"id": 1, "filter": "b"}"#]]), ["filter"]);
        assert_eq!(fields(&[&[a]]), [""; 0]);
        assert_eq!(fields(&[&[a, "7"]]), [""; 0]);
    }
}
