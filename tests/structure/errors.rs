//! The texts of errors that only users of the library can see, as they read them.

use std::fmt::Display;

use metric_class::{InvalidK, LabelsError, ScoresError};
use metric_core::assignment::InvalidConfidences;
use metric_record::FieldContents;
use metric_vision::{
    InvalidCocoParams, InvalidCurve, InvalidMask, InvalidPolygon, InvalidSweep, Matching, Sigmas,
};

#[test]
#[expect(clippy::too_many_lines, reason = "a row for each error")]
fn errors_in_words() {
    let lengths = LabelsError::LengthMismatch {
        predictions: 3,
        references: 2,
    };
    let row = LabelsError::RaggedRow {
        row: 1,
        expected: 5,
        found: 4,
    };
    let rows = ScoresError::LengthMismatch {
        rows: 3,
        references: 2,
    };
    let weights = ScoresError::WeightsMismatch {
        weights: 3,
        references: 2,
    };
    let count = InvalidConfidences::Count {
        expected: 2,
        found: 3,
    };
    let infinite = InvalidPolygon::NotFinite {
        point: 2,
        value: f64::INFINITY,
    };
    let image = InvalidMask::Image {
        height: 65_536,
        width: 65_536,
    };
    let texts: [(&dyn Display, &str); 18] = [
        (&lengths, "3 rows of predictions, but 2 references"),
        (&row, "row 1 has 4 labels, expected 5"),
        (&InvalidK::Zero { index: 1 }, "k is 0 at index 1"),
        (&rows, "3 rows of scores, but 2 references"),
        (
            &ScoresError::Unweighted,
            "there are weights, but the metric is without",
        ),
        (&weights, "3 weights, but 2 references"),
        (&count, "3 confidences for 2 columns"),
        (
            &InvalidConfidences::NotANumber { column: 1 },
            "the confidence of column 1 is NaN",
        ),
        (&FieldContents::Items(1), "is a list of 1 item"),
        (&infinite, "point 2 has inf: expected finite numbers"),
        (
            &InvalidPolygon::Interiors { rings: 2 },
            "2 interior rings: expected none",
        ),
        (
            &image,
            "an image of 65536 x 65536: expected less than 2^32 pixels",
        ),
        (
            &InvalidMask::Crossings { polygon: 1 },
            "the polygons up to 1 pass more than 2^24 times from column to column of pixels",
        ),
        (
            &InvalidCocoParams::Area("small".to_owned()),
            "area \"small\": expected a least area at most the greatest",
        ),
        (
            &InvalidCurve::Matching(Matching::Optimal),
            "the matching rule optimal does not use scores: expected one of greedy, voc, voc-strict",
        ),
        (
            &InvalidSweep::ScoreThreshold,
            "a score threshold is NaN: expected a number",
        ),
        (
            &InvalidSweep::NoThreshold,
            "no IoU thresholds: expected at least one",
        ),
        (
            &Sigmas::new(Vec::new()).unwrap_err(),
            "no sigmas: expected one for each keypoint",
        ),
    ];
    for (error, text) in texts {
        assert_eq!(error.to_string(), text);
    }
}
