//! The engine's search for records in the text of a file, compared with a plain reader of JSON.
//!
//! An input is a byte, counted from `a`, that chooses the format (JSON Lines, JSON, text), and
//! the text. The search is not public, so its files are modules here.

#![no_main]
#![allow(
    dead_code,
    unused_imports,
    reason = "the engine has more use for its modules"
)]
#![allow(unexpected_cfgs, reason = "the modules have features of the engine")]

#[path = "../../crates/metric-run/src/block.rs"]
mod block;
#[path = "../../crates/metric-run/src/fields.rs"]
mod fields;
#[path = "../../crates/metric-run/src/formats/mod.rs"]
mod formats;
#[path = "../../crates/metric-run/src/found.rs"]
mod found;
#[path = "../../crates/metric-run/src/memory.rs"]
mod memory;
#[path = "../../crates/metric-run/src/part.rs"]
mod part;
#[path = "../../crates/metric-run/src/scan.rs"]
mod scan;
#[path = "../../crates/metric-run/src/source/mod.rs"]
mod source;
#[path = "../../crates/metric-run/src/words.rs"]
mod words;

use libfuzzer_sys::fuzz_target;
use metric_run::RunError;
use metric_suite_fuzz::choose;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use crate::block::Block;
use crate::fields::{FieldNames, Role};
use crate::formats::Format;
use crate::scan::scan;

fuzz_target!(|data: &[u8]| {
    let [format, text @ ..] = data else {
        return;
    };
    let format = choose(&[Format::JsonLines, Format::Json, Format::Text], *format);
    let mut block = Block {
        text: String::from_utf8_lossy(text).into_owned(),
        first_line: 1,
        ..Block::default()
    };
    let names = FieldNames::new([
        ("id", Role::Id, "id-field"),
        ("reference", Role::Value, "reference-field"),
        ("references", Role::Value, "reference-field"),
        ("prediction", Role::Other, "prediction-field"),
    ]);
    let scanned = scan(&mut block, format, &names, |_| false);
    // A byte order mark; before a JSON document there may be several.
    let text = match format {
        Format::Json => block.text.trim_start_matches('\u{feff}'),
        _ => block.text.strip_prefix('\u{feff}').unwrap_or(&block.text),
    };
    let found = match scanned {
        Ok(found) => found,
        Err(error) => {
            assert!(!error.problem.is_empty());
            assert!(error.offset <= block.text.len());
            let line = block.line_at(error.offset);
            assert!((1..=block.text.split('\n').count() as u64).contains(&line));
            if format == Format::JsonLines {
                // A line is refused for a reason that a plain reader sees too.
                let plain = |line: &str| is_record(line.trim_matches([' ', '\t', '\r']));
                assert!(!text.split('\n').all(plain), "{}", error.problem);
            }
            assert_ne!(format, Format::Text);
            return;
        }
    };
    if format == Format::Json && !text.trim_ascii_start().starts_with('[') {
        // An object that maps ids to values has no records with both sides.
        assert!(found.is_empty());
    }
    let mut last = 0;
    for record in &found {
        assert!(record.line >= last.max(1));
        last = record.line;
        let id = record.id(&block.text).to_string();
        let value = record.value.slice(&block.text);
        let read = record.value(&block.text);
        assert_eq!(read.as_line(), (format == Format::Text).then_some(value));
        match format {
            Format::Text => assert!(!value.contains('\n')),
            // A record of a list is read as a line is.
            Format::JsonLines | Format::Json => {
                let object = record.record(&block.text).expect("an object");
                let Fields(entries) = serde_json::from_str(object).expect("a JSON object");
                let field = |names: &[&str]| {
                    let mut entries = entries.iter();
                    entries
                        .find(|(name, _)| names.contains(&&**name))
                        .map(|entry| entry.1)
                };
                let read = |json: &str| serde_json::from_str::<Json>(json).ok();
                assert_eq!(Some(value), field(&["reference", "references"]));
                let other = record.other(&block.text);
                let other = other.map(|mut other| other.to_json().expect("JSON"));
                assert_eq!(other.flatten().as_deref(), field(&["prediction"]));
                let own = field(&["id"]).expect("an id");
                match read(own) {
                    Some(Json::String(text)) => assert_eq!(id, text),
                    _ => assert!(own == id || own == "-0", "{own}"),
                }
            }
            _ => {}
        }
    }
});

/// Whether a line is empty or an object whose keys are all different, with the fields of a record.
fn is_record(line: &str) -> bool {
    if line.is_empty() {
        return true;
    }
    let Ok(Fields(entries)) = serde_json::from_str(line) else {
        return false;
    };
    let fields = |names: &[&str]| {
        let entries = entries.iter();
        let found: Vec<&str> = entries
            .filter(|(name, _)| names.contains(&&**name))
            .map(|entry| entry.1)
            .collect();
        found
    };
    let is_id = |id: &str| match serde_json::from_str(id) {
        Ok(Json::String(_)) => true,
        Ok(Json::Number(_)) => id
            .trim_start_matches('-')
            .bytes()
            .all(|b| b.is_ascii_digit()),
        _ => false,
    };
    fields(&["reference", "references"]).len() == 1
        && fields(&["prediction"]).len() <= 1
        && matches!(fields(&["id"])[..], [id] if is_id(id))
}

/// The fields of an object in their order, each with the JSON of its value.
struct Fields<'a>(Vec<(String, &'a str)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    fields.push((name, value.get()));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
