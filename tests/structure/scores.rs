//! Each score can be written, and lists its names and values.

#![allow(clippy::panic, reason = "a test reports by it")]

use std::any::type_name;

use metric_core::{Metric, NamedScores};
use serde::Serialize;
use {
    metric_class as class, metric_code as code, metric_graph as graph, metric_grid as grid,
    metric_text as text, metric_vision as vision,
};

/// The names of the scores of a metric without data. That it compiles says that the score can be written, too.
fn names<M: Metric>(metric: &M) -> Vec<String>
where
    M::Score: NamedScores + Serialize,
{
    let score = metric.compute(&M::State::default());
    serde_json::to_string(&score).unwrap_or_else(|error| panic!("{}: {error}", type_name::<M>()));
    let scores = score.named_scores();
    scores.into_iter().map(|(name, _)| name).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a row for each metric")]
fn every_score_is_written_and_lists_its_names() {
    let ks = || vec![1, 5];
    let greedy = vision::Matching::Greedy;
    let top_k = class::TopK::new(ks()).expect("a metric");
    let labels = class::AccuracyAtK::<u32>::new(ks()).expect("a metric");
    let macro_average =
        class::Classification::<String>::new(class::Average::Macro, class::ZeroDivision::Zero);
    let confusion = vision::Confusion::<vision::BBox>::new(2, 0.5).expect("a metric");
    let curves = vision::PrecisionRecall::<vision::BBox>::new(greedy, vec![0.5, 0.75]);
    let sweep = vision::DetectionSweepParams::default()
        .with_iou_thresholds(vec![0.5, 0.75])
        .with_matching(Some(greedy))
        .with_best_f1(true);
    let sweep = vision::DetectionSweep::new(sweep).expect("a metric");
    let cells = "cell_accuracy cell_accuracy_pooled exact shape_match palette_match";
    let coco =
        "AP AP50 AP75 AP_small AP_medium AP_large AR_1 AR_10 AR_100 AR_small AR_medium AR_large";
    let lanes = "rule_precision rule_recall rule_f1 correspondence_precision correspondence_recall \
                 correspondence_f1 overall_precision overall_recall overall_f1";
    let by_clip = lanes
        .split_whitespace()
        .map(|name| format!("{name}_by_clip"));
    let by_clip: Vec<String> = by_clip.collect();
    let lanes = format!(
        "{lanes} {} rules_exact lanes_exact both_exact",
        by_clip.join(" ")
    );
    for (names, expected) in [
        (names(&top_k), "accuracy@1 accuracy@5"),
        (names(&labels), "accuracy@1 accuracy@5"),
        (names(&macro_average), "precision recall f1"),
        (
            names(&code::CodeBleu::default()),
            "codebleu ngram_match weighted_ngram_match syntax_match dataflow_match",
        ),
        (names(&graph::LaneCorrespondence::default()), &lanes),
        (names(&graph::read::ReadLanes::default()), &lanes),
        (
            names(&graph::openlane::OpenLaneV2::default()),
            "DET_l DET_t TOP_ll TOP_lt OLS DET_t_present edgeless_ll edgeless_lt",
        ),
        (names(&grid::ArcGrids), cells),
        // Without examples there are no scores of a kind, but those of pairs.
        (names(&grid::ArcExamples::default()), cells),
        (
            names(&grid::ArcSubmissions::default()),
            &format!("kaggle arcprize all_tests {cells} pass_at_1 pass_at_2 cell_accuracy_by_task"),
        ),
        (names(&text::RelaxedAccuracy::default()), "score"),
        (
            names(&text::EditRate::default()),
            "error_rate mer wil wip mean_error_rate",
        ),
        (
            names(&text::vqa::VqaAccuracy::new(text::vqa::VqaProfile::Exact)),
            "score",
        ),
        (names(&text::squad::Squad::default()), "exact_match f1"),
        (names(&text::Anls::default()), "score"),
        (names(&text::StringAccuracy::default()), "score"),
        (names(&text::ExactMatch::default()), "score"),
        (
            names(&sweep),
            "precision@0.5 recall@0.5 f1@0.5 precision@0.75 recall@0.75 f1@0.75 best_f1@0.5 \
             best_f1_score@0.5 best_f1@0.75 best_f1_score@0.75",
        ),
        (names(&vision::CocoAp::<vision::BBox>::default()), coco),
        (
            names(&curves.expect("a metric")),
            "best_f1@0.5 best_f1_score@0.5 best_f1@0.75 best_f1_score@0.75",
        ),
        (
            names(&vision::Detections::<vision::BBox>::default()),
            "precision recall f1",
        ),
        (names(&confusion), "precision recall f1"),
        (
            names(&vision::Tide::<vision::BBox>::default()),
            "AP dAP_Cls dAP_Loc dAP_Both dAP_Dupe dAP_Bkg dAP_Miss dAP_FP dAP_FN",
        ),
        (
            names(&vision::VocAp::<vision::BBox>::new(0.5).expect("a metric")),
            "mAP",
        ),
    ] {
        assert_eq!(names.join(" "), expected);
    }
    let graphs = names(&graph::AlignedGraphs::default());
    assert!(graphs.contains(&"nodes_f1".to_owned()), "{graphs:?}");
}
