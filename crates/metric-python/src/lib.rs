//! The native part of the Python package `metric_suite`: reads Python values as columns, runs the engine, and
//! hands its results back.
//!
//! The interface that users see is written in Python, in `python/metric_suite`. This crate has only the parts that need
//! the engine.

mod align;
mod arrow;
mod coco;
mod codebleu;
mod columns;
mod error;
mod grids;
mod json;
mod masks;
mod normalize;
mod objects;
mod own;
mod report;
mod retrieval;
mod scorer;
mod segmentation;
mod suite;
mod threads;
mod translation;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::align::{align_units, edit_measures};
    #[pymodule_export]
    use super::coco::{coco_arrays, coco_match};
    #[pymodule_export]
    use super::codebleu::{code_keywords, count_code};
    #[pymodule_export]
    use super::columns::JsonTexts;
    #[pymodule_export]
    use super::grids::Pictures;
    #[pymodule_export]
    use super::json::dumps;
    #[pymodule_export]
    use super::masks::{
        box_iou, compress_counts, mask_area, mask_boxes, mask_decode, mask_encode,
        mask_from_polygons, mask_iou, mask_merge,
    };
    #[pymodule_export]
    use super::normalize::normalize;
    #[pymodule_export]
    use super::own::register_metric;
    #[pymodule_export]
    use super::report::{is_document, read_records, render_report};
    #[pymodule_export]
    use super::retrieval::{Judgments, trec_measures};
    #[pymodule_export]
    use super::scorer::{
        Outcome, Scorer, compare_files, compare_states, join_problems, json_lines, list_json,
        merge_bytes, merge_outcomes, merge_part_bytes, pictures, reads,
    };
    #[pymodule_export]
    use super::segmentation::LabelPairs;
    #[pymodule_export]
    use super::suite::{run_suite, serve_task};
    #[pymodule_export]
    use super::translation::{
        bleu_score, bleu_statistics, bleu_tokens, chrf_score, chrf_statistics, rouge_scores,
        rouge_tokens, ter_statistics, ter_tokens,
    };

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        metric_run::silence_decoders();
        Ok(())
    }

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "this is its name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
