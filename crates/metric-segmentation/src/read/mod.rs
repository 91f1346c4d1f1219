//! Reading of files and records.

mod ids;
mod limits;
mod panoptic;
mod run_lengths;

pub use limits::{DEFAULT_MAX_PIXELS, DEFAULT_MAX_SEGMENTS, Limits};
pub use panoptic::{
    PanopticFile, PanopticImage, PanopticRules, SegmentCategory, compare_files, compare_records,
    is_panoptic,
};
