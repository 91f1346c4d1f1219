//! CSV under each option, compared with a lenient reader of the same bytes: never a panic, and the same on one thread and on two.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_run::{CsvOptions, EmptyField, Fields, Format, Source};
use metric_suite_fuzz::{choose, same_on_threads};

fuzz_target!(|data: &[u8]| {
    let [options, text @ ..] = data else {
        return;
    };
    // Each from bits of its own, so that all of them go together.
    let csv = CsvOptions {
        delimiter: Some(choose(b",\t;|", options >> 2)),
        has_quotes: options & 1 == 0,
        has_header: options & 2 == 0,
        empty: choose(
            &[EmptyField::Error, EmptyField::Text, EmptyField::Null],
            options >> 4,
        ),
    };
    let source = |bytes: &[u8]| Source::memory("data", bytes, Format::Csv).with_csv(csv);
    let mut fields = Fields::default();
    if !csv.has_header {
        fields.id = "1".to_owned();
        fields.reference = Some("2".to_owned());
        fields.prediction = "3".to_owned();
    }
    same_on_threads(|| source(text), &fields);
});
