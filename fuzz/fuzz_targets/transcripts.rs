//! Transcripts with times and pages of text: any bytes in each format, as texts and as sessions.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_run::registry::{Options, find};
use metric_run::{DEFAULT_MAX_BYTES, Format, Run, Source};

fuzz_target!(|data: &[u8]| {
    for name in ["srt", "vtt", "whisper", "textgrid", "xml"] {
        let format = Format::named(name).expect("a format");
        let source = || Source::memory(name, data, format);
        let segments = source().segments(DEFAULT_MAX_BYTES);
        for metric in ["wer", "cpwer"] {
            let metric = find(metric).expect("a metric");
            let run = Run::new(metric, &Options::default()).expect("a run");
            match run.score(source(), source()) {
                Ok(_) => assert!(segments.is_ok()),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
});
