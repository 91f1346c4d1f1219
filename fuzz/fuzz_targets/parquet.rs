//! Bytes as a Parquet file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_run::{Fields, Format, Source};
use metric_suite_fuzz::same_on_threads;

fuzz_target!(init: metric_run::silence_decoders(), |data: &[u8]| {
    same_on_threads(
        || Source::memory("data", data, Format::Parquet),
        &Fields::default(),
    );
});
