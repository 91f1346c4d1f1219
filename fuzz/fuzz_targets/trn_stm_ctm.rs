//! Transcripts: two parts, references and predictions, as `trn`, as `stm` with `ctm`, and as sessions of several speakers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_run::registry::{Options, find};
use metric_run::{Format, Run, Source};
use metric_suite_fuzz::parts;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let [references, predictions, ..] = parts(&text)[..] else {
        return;
    };
    let rows = [
        ("wer", [Format::Trn, Format::Trn]),
        ("wer", [Format::Stm, Format::Ctm]),
        ("cpwer", [Format::Stm, Format::Stm]),
        ("orcwer", [Format::Stm, Format::Ctm]),
        ("dicpwer", [Format::SegLst, Format::SegLst]),
        ("cpwer", [Format::Json, Format::Json]),
    ];
    for (metric, formats) in rows {
        let metric = find(metric).expect("a metric");
        let run = Run::new(metric, &Options::default()).expect("a run");
        let source = |name: &str, text: &str, format| Source::memory(name, text.as_bytes(), format);
        let scored = run.score(
            source("references", references, formats[0]),
            source("predictions", predictions, formats[1]),
        );
        if let Err(error) = scored {
            assert!(!error.to_string().is_empty());
        }
    }
});
