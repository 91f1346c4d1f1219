//! Scores COCO's panoptic files: `cargo run --example panoptic --features read -- gt.json pred.json`, with the PNG files in
//! `gt` and `pred`. Without arguments, it scores two segments in memory.

#![expect(clippy::print_stdout, reason = "an example prints")]

use metric_record::Document;
use metric_segmentation::read::{PanopticFile, PanopticRules, compare_files};
use metric_segmentation::{Metric, PanopticQuality, PanopticState};

/// A segment of four pixels, of which three are found.
const TRUTH: &str = r#"{"categories": [{"id": 1}], "annotations": [{"image_id": 1, "segments_info": [
    {"id": 1, "category_id": 1, "area": 4, "segmentation": {"size": [2, 4], "counts": [0, 4, 4]}}]}]}"#;
const FOUND: &str = r#"{"annotations": [{"image_id": 1, "segments_info": [
    {"id": 5, "category_id": 1, "segmentation": {"size": [2, 4], "counts": [0, 3, 5]}}]}]}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [truth, found] = match &paths[..] {
        [truth, found] => [
            Document::text(truth, std::fs::read_to_string(truth)?),
            Document::text(found, std::fs::read_to_string(found)?),
        ],
        _ => [
            Document::text("truth", TRUTH),
            Document::text("found", FOUND),
        ],
    };
    let truths = PanopticFile::read(&truth, None)?;
    let found = PanopticFile::read(&found, None)?;
    let mut state = PanopticState::default();
    for image in &truths.images {
        let prediction = found.images.iter().find(|other| other.id == image.id);
        let prediction = prediction.map(|prediction| (&found, prediction));
        let pair = (&truths, image);
        let (matching, _) = compare_files(pair, prediction, &|_| true, PanopticRules::default())?;
        PanopticQuality.update(&mut state, &matching, &());
    }
    let score = PanopticQuality.compute(&state);
    let mean = score.mean(|_| true).ok_or("no segments")?;
    if paths.is_empty() {
        assert_eq!((mean.pq, mean.sq, mean.rq), (0.75, 0.75, 1.0));
    }
    println!("PQ {:.4}, SQ {:.4}, RQ {:.4}", mean.pq, mean.sq, mean.rq);
    Ok(())
}
