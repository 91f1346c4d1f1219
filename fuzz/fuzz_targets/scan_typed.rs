//! The scanners of JSON, compared with a general reader: what they take is what it reads, to the bit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_record::Value;
use metric_record::json::scan::{
    Keys, Scanner, end_of_number, end_of_numbers, end_of_string, integers, numbers,
};
use serde_json::Deserializer;
use serde_json::value::RawValue;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut scanner = Scanner::new(text);
    if scanner.skip_value().is_some() {
        let taken = &text[..scanner.at()];
        let raw = serde_json::from_str::<&RawValue>(taken).expect("JSON");
        assert_eq!(Scanner::new(text).raw().expect("a value").0, raw.get());
    }
    let mut scanner = Scanner::new(text);
    if let Some(string) = scanner.string() {
        let read: &str = serde_json::from_str(&text[..scanner.at()]).expect("a string");
        assert_eq!(string, read);
    }
    let mut scanner = Scanner::new(text);
    if let Some(integer) = scanner.integer() {
        let read: i64 = serde_json::from_str(&text[..scanner.at()]).expect("an integer");
        assert_eq!(integer, read);
    }
    let mut scanner = Scanner::new(text);
    if let Some(number) = scanner.number() {
        let read: f64 = serde_json::from_str(&text[..scanner.at()]).expect("a number");
        assert_eq!(number.to_bits(), read.to_bits());
    }
    if let Some((end, is_plain)) = end_of_string(text.as_bytes(), 0) {
        let raw = serde_json::from_str::<&RawValue>(&text[..end]).expect("a string");
        assert_eq!(raw.get(), &text[..end]);
        if is_plain {
            let read: &str = serde_json::from_str(raw.get()).expect("a string without escapes");
            assert_eq!(
                Value::plain_json_string(raw.get()).text().as_deref(),
                Ok(read)
            );
        }
    }
    let ends = [
        end_of_number(text.as_bytes(), 0),
        end_of_numbers(text.as_bytes(), 0),
    ];
    for end in ends.into_iter().flatten() {
        serde_json::from_str::<&RawValue>(&text[..end]).expect("JSON");
    }
    let (mut scanner, mut digits) = (Scanner::new(text), Vec::new());
    let scanned = scanner.digits(&mut digits);
    if scanned.is_some() {
        let read: Vec<u8> = serde_json::from_str(&text[..scanner.at()]).expect("digits");
        assert_eq!(digits, read);
    }
    let mut row = Vec::new();
    if integers(text, &mut row).is_some() {
        let read: Vec<i64> = serde_json::from_str(text).expect("a list of integers");
        assert_eq!(row, read);
    }
    let mut row = Vec::new();
    if numbers(text, &mut row).is_some() {
        let read: Vec<f64> = serde_json::from_str(text).expect("a list of numbers");
        let bits = |row: &[f64]| {
            row.iter()
                .map(|number| number.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(&row), bits(&read));
    }
    // Objects one after another, whose keys are expected starting with the second one.
    let mut keys = Keys::new(&["id", "score"]);
    let (mut plain, mut scanner) = (Scanner::new(text), Scanner::new(text));
    loop {
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        let end = plain.object(|value, key| {
            let key = ["id", "score"].iter().position(|known| *known == key);
            expected.push((key.unwrap_or(2), value.raw()?));
            Some(())
        });
        let taken = scanner.object_of(&mut keys, |value, key| {
            found.push((key, value.raw()?));
            Some(())
        });
        assert_eq!(taken, end);
        if taken.is_none() {
            break;
        }
        assert_eq!((found, scanner.at()), (expected, plain.at()));
    }
    // Nothing that is taken reaches into the next value of a stream.
    let mut scanner = Scanner::new(text);
    if scanner.peek() == Some(b'{') && scanner.skip_value().is_some() {
        let mut values = Deserializer::from_str(text).into_iter::<&RawValue>();
        assert!(values.next().is_some_and(|value| value.is_ok()));
        assert_eq!(values.byte_offset(), scanner.at());
    }
});
