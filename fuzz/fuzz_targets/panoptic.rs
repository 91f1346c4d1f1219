//! Panoptic segments from arbitrary files, and their scores.
//!
//! An input is a byte, counted starting at `a`, that chooses the rules, and two texts between lines of `@`: files of the
//! references and of the predictions, with run lengths, or the two sides of a record.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_core::Metric;
use metric_record::{Document, IdKey, ReadError};
use metric_segmentation::read::{
    MapOptions, PanopticFile, PanopticImage, PanopticRules, compare_files, compare_records,
    is_panoptic,
};
use metric_segmentation::{Matching, MatchingRules, PanopticQuality, SegmentIou};
use metric_suite_fuzz::{fraction, parts, pooled};

fuzz_target!(|data: &[u8]| {
    let [byte, text @ ..] = data else {
        return;
    };
    let byte = byte.wrapping_sub(b'a');
    let text = String::from_utf8_lossy(text);
    let [reference, prediction] = parts(&text)[..] else {
        return;
    };
    let rules = PanopticRules {
        matching: MatchingRules {
            iou: if byte % 2 == 0 {
                SegmentIou::Mask
            } else {
                SegmentIou::Boundary
            },
            quirks: byte / 2 % 2 == 1,
        },
        maps: MapOptions::default().with_max_pixels(1 << 16),
        max_segments: 64,
        ..PanopticRules::default()
    };
    if is_panoptic(reference) {
        let _ = files(reference, prediction, rules);
    } else {
        let image = |text| PanopticImage::parse_record(IdKey::Number(1), text, false);
        if let (Ok(truth), Ok(found)) = (image(reference), image(prediction))
            && let Ok((matching, _)) = compare_records(&truth, &found, rules)
        {
            check(&[matching]);
        }
    }
});

fn files(reference: &str, prediction: &str, rules: PanopticRules) -> Result<(), ReadError> {
    // The names have no folder, so that no file is opened.
    let [reference, prediction] = [reference, prediction].map(|text| Document::text("file", text));
    let truths = PanopticFile::read(&reference, None)?;
    let found = PanopticFile::read(&prediction, None)?;
    let mut matchings = Vec::new();
    for truth in &truths.images {
        let image = found.images.iter().find(|image| image.id == truth.id);
        let image = image.map(|image| (&found, image));
        let (matching, _) = compare_files((&truths, truth), image, &|id| id != 7, rules)?;
        matchings.push(matching);
    }
    check(&matchings);
    Ok(())
}

/// Each segment has one outcome, and scores are fractions.
fn check(matchings: &[Matching]) {
    for matching in matchings {
        assert!(matching.matches.iter().all(|found| found.iou > 0.5));
    }
    let pairs: Vec<_> = matchings.iter().map(|matching| (matching, &())).collect();
    let score = PanopticQuality.compute(&pooled(&PanopticQuality, &pairs));
    for quality in score.categories.values() {
        fraction(Some(quality.rq));
        assert!(quality.pq >= 0.0 && quality.sq >= 0.0);
    }
}
