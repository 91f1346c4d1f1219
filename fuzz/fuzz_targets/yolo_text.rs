//! Reading of YOLO's texts of all kinds, with a `data.yaml`, and Ultralytics' scores of what could be read.
//!
//! An input is a byte, counted starting at `a`, and files. The byte chooses the kind of objects and the options. A line
//! `@<name` begins a file of labels, a line `@>name` one of predictions.

#![no_main]

use std::num::NonZeroU32;

use libfuzzer_sys::fuzz_target;
use metric_core::{Metric, from_bytes, to_bytes};
use metric_suite_fuzz::fraction;
use metric_vision::read::{File, ImageSizes, YoloOptions, parse_yolo_objects};
use metric_vision::{
    ObjectKind, Ultralytics, UltralyticsConfusion, UltralyticsProfile, UltralyticsScores,
    UltralyticsState,
};

fuzz_target!(|data: &[u8]| {
    let [choice, text @ ..] = data else {
        return;
    };
    let choice = usize::from(choice.wrapping_sub(b'a'));
    let text = String::from_utf8_lossy(text);
    let (truths, predictions) = (files(&text, "@<"), files(&text, "@>"));
    let size = [640, 48].map(|pixels| NonZeroU32::new(pixels).expect("not 0"));
    let sizes = match choice / 5 % 3 {
        0 => ImageSizes::Unknown,
        _ => ImageSizes::All(size),
    };
    let options = YoloOptions::default()
        .with_kind(ObjectKind::ALL.get(choice % 5).copied())
        .with_sizes(sizes)
        .with_strict(choice / 15 % 2 == 0)
        .with_boxes_only(choice / 30 % 2 == 1);
    let (dataset, _) = match parse_yolo_objects(&truths, &predictions, &options) {
        Ok(read) => read,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    for &profile in UltralyticsProfile::ALL {
        let metric = Ultralytics::new(profile);
        let state = dataset.measure(&metric);
        let written = to_bytes(&state);
        let read: UltralyticsState = from_bytes(&written).expect("a state that was written");
        assert_eq!(read, state);
        let score = metric.compute(&state);
        for set in std::iter::once(&score.boxes).chain(&score.second) {
            let UltralyticsScores {
                precision,
                recall,
                map50,
                map75,
                map,
                best_confidence,
                ..
            } = set;
            for value in [precision, recall, map50, map75, map, best_confidence] {
                fraction(*value);
            }
        }
        let matrix = UltralyticsConfusion::new(profile, dataset.classes().len());
        let counts = matrix.compute(&dataset.measure(&matrix));
        fraction(counts.total().f1());
    }
});

/// The files whose names follow a mark.
fn files<'t>(text: &'t str, mark: &str) -> Vec<File<'t>> {
    let parts = text
        .split("\n@")
        .map(|part| part.strip_prefix('@').unwrap_or(part));
    let parts = parts.filter_map(|part| part.strip_prefix(&mark[1..]));
    let files = parts.map(|part| part.split_once('\n').unwrap_or((part, "")));
    files.map(|(name, text)| File { name, text }).collect()
}
