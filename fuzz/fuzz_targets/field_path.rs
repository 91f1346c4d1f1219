//! A path and a record: what is found is what a walk through the parsed record finds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_record::FieldPath;
use metric_suite_fuzz::parts;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let [name, record, ..] = parts(&text)[..] else {
        return;
    };
    let path = FieldPath::new(name);
    let Ok(found) = path.find(record) else {
        return;
    };
    let Ok(parsed) = serde_json::from_str::<Json>(record) else {
        // Texts that are passed over are not decoded, and may have half of a surrogate pair.
        serde_json::from_str::<IgnoredAny>(record).expect("JSON");
        return;
    };
    let walk = |value: &Json| {
        path.parts()
            .try_fold(value.clone(), |value, part| match value {
                Json::Object(fields) => fields.get(part).cloned(),
                Json::Array(items) => items.get(part.parse::<usize>().ok()?).cloned(),
                _ => None,
            })
    };
    let expected = parsed.get(name).cloned().or_else(|| walk(&parsed));
    assert_eq!(serde_json::from_str::<Json>(found).ok(), expected);
});
