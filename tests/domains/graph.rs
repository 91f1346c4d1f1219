//! Rules and lanes: MapDR's worked example, sample clips and edge cases; assignment optima.

use std::collections::BTreeSet;

use metric_core::assignment::{Costs, Gate};
use metric_core::{Counts, Metric};
use metric_graph::{
    Alignment, Centerlines, Clip, Duplicates, FindingKind, LaneCorrespondence, Overall, Parts,
    Ratios, Side,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::rows;

/// A part of the metric, as counts and as a score.
type Part = (fn(&Parts<Counts>) -> Counts, fn(&Parts<Ratios>) -> Ratios);

const RULE: Part = (|counts| counts.rule, |ratios| ratios.rule);
const CORRESPONDENCE: Part = (
    |counts| counts.correspondence,
    |ratios| ratios.correspondence,
);
const OVERALL: Part = (|counts| counts.overall, |ratios| ratios.overall);

/// The expected fields, each with the metric and the part of it that gives them.
///
/// `overall_literal_all_pairs` is left out: it counts all pairs that could be, which is not the
/// metric but what its text says if it is taken by the letter. `index_in_sets` says whether
/// `RuleIndex` takes part in the set counts: the edge cases have it, the samples leave it out.
fn fields(index_in_sets: bool) -> Vec<(&'static str, LaneCorrespondence, Part)> {
    let default = LaneCorrespondence::default;
    let with_key = || {
        default()
            .with_alignment(Alignment::Key)
            .with_overall(Overall::Key)
    };
    let without_index = || default().with_ignore(["RuleIndex".to_owned()].into());
    let merged = || {
        if index_in_sets {
            default()
        } else {
            without_index()
        }
        .with_duplicates(Duplicates::Merge)
    };
    vec![
        ("re", default(), RULE),
        ("cr_opt", default(), CORRESPONDENCE),
        ("overall", default(), OVERALL),
        ("re_noidx", without_index(), RULE),
        ("overall_noidx", without_index(), OVERALL),
        ("re_set", merged(), RULE),
        ("overall_set", merged(), OVERALL),
        ("cr_key", with_key(), CORRESPONDENCE),
        ("overall_key", with_key(), OVERALL),
    ]
}

fn clip(value: &Value) -> Result<Clip, String> {
    Clip::deserialize(value).map_err(|e| e.to_string())
}

/// The clip as the program reads it, from text.
fn clip_from_text(value: &Value) -> Result<Clip, String> {
    serde_json::from_str(&value.to_string()).map_err(|e| e.to_string())
}

fn number(value: &Value) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| format!("no count: {value}"))
}

/// One field: counts, the ratios that may be undefined, and what is printed for them.
fn check_field(
    what: &str,
    metric: &LaneCorrespondence,
    (counts, ratios): Part,
    prediction: &Clip,
    reference: &Clip,
    expected: &Value,
) -> Result<(), String> {
    let state = metric.measure(prediction, reference);
    let counts = counts(&state.counts);
    let printed = ratios(&metric.compute(&state).micro);
    rows::same(
        what,
        [counts.true_positives, counts.predicted(), counts.actual()],
        [
            number(&expected["tp"])?,
            number(&expected["pred"])?,
            number(&expected["gt"])?,
        ],
    )?;
    for (name, ours) in [
        ("precision", counts.precision()),
        ("recall", counts.recall()),
        ("precision_zero0", printed.precision),
        ("recall_zero0", printed.recall),
        ("f1", printed.f1),
    ] {
        rows::same(&format!("{what} {name}"), ours, expected[name].as_f64())?;
    }
    Ok(())
}

/// All fields that a row has; at least those of the three parts are required.
fn check_row(row: &Value, index_in_sets: bool) -> Result<(), String> {
    let expected = &row["expected"];
    for read in [clip, clip_from_text] {
        let (prediction, reference) = (read(&row["pred"])?, read(&row["label"])?);
        for (name, metric, part) in fields(index_in_sets) {
            match expected.get(name) {
                Some(field) => {
                    check_field(name, &metric, part, &prediction, &reference, field)?;
                }
                None if ["re", "cr_opt", "overall"].contains(&name) => {
                    return Err(format!("no {name}"));
                }
                None => {}
            }
        }
        let aligned = LaneCorrespondence::default().align(&prediction, &reference);
        rows::same(
            "properties of the optimal alignment",
            aligned.iter().map(|pair| pair.equal_properties).sum(),
            number(&expected["cr_opt"]["props"])?,
        )?;
        if let Some(scene) = expected.get("scene") {
            let scenes = LaneCorrespondence::default()
                .measure(&prediction, &reference)
                .scenes;
            let exact = |count| json!(count == 1);
            let ours = json!({
                "rules_exact": exact(scenes.rules_exact),
                "lanes_exact": exact(scenes.lanes_exact),
                "both_exact": exact(scenes.both_exact),
            });
            rows::same("scene", &ours, scene)?;
        }
    }
    Ok(())
}

#[test]
fn mapdr_worked_example() {
    let rows = rows::documents("graph/mapdr_worked_example.json");
    rows::check(
        &rows,
        |_| "worked example".to_owned(),
        &[],
        |row| check_row(row, true),
    );
}

#[test]
fn mapdr_samples() {
    let rows = rows::rows("graph/mapdr_samples.jsonl");
    rows::check(&rows, rows::id, &[], |row| check_row(row, false));
}

#[test]
fn mapdr_samples_with_given_rules() {
    let metric = LaneCorrespondence::default().with_alignment(Alignment::Given);
    let rows = rows::rows("graph/mapdr_samples.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let (prediction, reference) = (clip(&row["pred_given_rules"])?, clip(&row["label"])?);
        let expected = &row["expected"]["cr_given_rules"];
        check_field(
            "cr_given_rules",
            &metric,
            CORRESPONDENCE,
            &prediction,
            &reference,
            expected,
        )?;
        let score = metric.compute(&metric.measure(&prediction, &reference));
        rows::same("rule", score.micro.rule, Ratios::default())?;
        rows::same("overall", score.micro.overall, Ratios::default())
    });
}

/// The pooled counts of all sample clips, in whatever order and shards, are the sums of the rows'.
#[test]
fn mapdr_samples_pooled() {
    use metric_core::Merge;

    let metric = LaneCorrespondence::default();
    let rows = rows::rows("graph/mapdr_samples.jsonl");
    let mut state = metric_graph::CorrespondenceState::default();
    let mut sums = [[0; 3]; 3];
    for row in rows.iter().rev() {
        let (Ok(prediction), Ok(reference)) = (clip(&row["pred"]), clip(&row["label"])) else {
            panic!("{}: not a clip", rows::id(row));
        };
        state.merge(metric.measure(&prediction, &reference));
        for (sum, field) in sums.iter_mut().zip(["re", "cr_opt", "overall"]) {
            for (sum, count) in sum.iter_mut().zip(["tp", "pred", "gt"]) {
                *sum += row["expected"][field][count].as_u64().unwrap_or_default();
            }
        }
    }
    let [rule, correspondence, overall] =
        sums.map(|[hits, predicted, actual]| Counts::from_totals(hits, predicted, actual));
    let expected = Parts {
        rule,
        correspondence,
        overall,
    };
    assert_eq!(state.counts, expected);
    assert_eq!(state.clips, rows.len() as u64);
}

/// Every centerline that a label names is in the map that is read from the `data` part.
#[test]
fn mapdr_samples_centerlines() {
    let rows = rows::rows("graph/mapdr_samples.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let Centerlines(ours) =
            Centerlines::deserialize(&row["data"]).map_err(|e| e.to_string())?;
        let vectors = row["data"]["vector"].as_object().ok_or("no vectors")?;
        let expected = vectors.iter().filter(|(_, vector)| vector["type"] == "3");
        rows::same("centerlines", ours.len(), expected.count())?;
        let label = clip(&row["label"])?.with_centerlines(ours);
        let findings = LaneCorrespondence::default().findings(&Clip::default(), &label);
        rows::same("findings", findings, Vec::new())
    });
}

#[test]
fn mapdr_edge_cases() {
    let rows = cases();
    rows::check(&rows, name, &[], |row| check_row(row, true));
}

#[test]
fn mapdr_edge_cases_validation() {
    let metric = LaneCorrespondence::default();
    rows::check(&cases(), name, &[], |row| {
        let lanes = row["lanes"].as_array().into_iter().flatten();
        let lanes: BTreeSet<i64> = lanes.filter_map(Value::as_i64).collect();
        let (prediction, label) = (clip(&row["pred"])?, clip(&row["label"])?);
        let reference = label.with_centerlines(lanes);
        let findings = metric.findings(&prediction, &reference);
        let found = |side, kind| {
            findings
                .iter()
                .filter(move |finding| finding.side == side && finding.kind == kind)
        };
        let lanes = |side| -> Vec<Value> {
            let lanes = found(side, FindingKind::Dangling).map(|finding| &finding.lane);
            lanes
                .map(|lane| match lane {
                    metric_graph::LaneId::Integer(id) => json!(id),
                    metric_graph::LaneId::Text(id) => json!(id),
                })
                .collect()
        };
        let rules: BTreeSet<&str> = found(Side::Prediction, FindingKind::Duplicate)
            .map(|finding| finding.rule.as_str())
            .collect();
        let ours = json!({
            "dangling_pred": lanes(Side::Prediction),
            "dangling_gt": lanes(Side::Reference),
            "duplicate_lane_in_rule_pred": rules,
        });
        rows::same("validation", &ours, &row["validation"])?;

        let state = metric.measure(&prediction, &reference);
        let counts = |side, counts: metric_graph::FindingCounts| {
            rows::same(
                "counted findings",
                [counts.dangling, counts.duplicate],
                [FindingKind::Dangling, FindingKind::Duplicate]
                    .map(|kind| found(side, kind).count() as u64),
            )
        };
        counts(Side::Prediction, state.prediction_findings)?;
        counts(Side::Reference, state.reference_findings)
    });
}

/// The counts of an independent port of the reference implementation, where it has them.
#[test]
fn mapdr_edge_cases_port() {
    let metric = LaneCorrespondence::default();
    rows::check(&cases(), name, &[], |row| {
        let port = &row["clean_room_port"];
        if port.is_null() {
            return Ok(());
        }
        let counts = metric
            .measure(&clip(&row["pred"])?, &clip(&row["label"])?)
            .counts;
        let triple = |c: Counts| json!([c.true_positives, c.predicted(), c.actual()]);
        rows::same("re", &triple(counts.rule), &port["re"])?;
        rows::same("overall", &triple(counts.overall), &port["overall"])
    });
}

fn cases() -> Vec<Value> {
    let documents = rows::documents("graph/edge_cases_mapdr.json");
    let cases = documents
        .iter()
        .filter_map(|document| document["cases"].as_array());
    cases.flatten().cloned().collect()
}

fn name(row: &Value) -> String {
    row["name"].as_str().unwrap_or("no name").to_owned()
}

fn costs(row: &Value) -> Result<Costs, String> {
    let [rows, columns] = ["rows", "cols"].map(|side| number(&row[side]));
    let cells = row["cost"].as_array().into_iter().flatten();
    let cells = cells.flat_map(|row| row.as_array().into_iter().flatten());
    let values = cells.map(|cost| cost.as_f64().ok_or("no cost"));
    let values = values.collect::<Result<_, _>>()?;
    Costs::new(rows? as usize, columns? as usize, values).map_err(|e| e.to_string())
}

/// The optima of scipy's `linear_sum_assignment`, and the cheapest pairs first; totals to 1e-12,
/// as sums of decimals in an order that depends on the choice among equals.
#[test]
fn assignment() {
    let rows = rows::rows("graph/assignment.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let costs = costs(row)?;
        let check = |what: &str, pairs: &[(usize, usize)], size: u64, expected: &Value| {
            rows::same(what, pairs.len() as u64, size)?;
            let total: f64 = pairs.iter().filter_map(|&(i, j)| costs.get(i, j)).sum();
            let expected = expected.as_f64().ok_or("no cost")?;
            if rows::within_scaled(
                total,
                expected,
                1e-12,
                (rows::distance(expected, 0.0).max(1.0), "max(1, value)"),
            ) {
                Ok(())
            } else {
                Err(format!("{what}: ours {total}, reference {expected}"))
            }
        };
        let size = costs.rows().min(costs.columns()) as u64;
        let optimal = costs.optimal(Gate::None);
        check("optimal", &optimal, size, &row["optimal_cost"])?;

        let greedy = costs.greedy_cheapest(Gate::None);
        check("greedy", &greedy, size, &row["greedy_cost"])?;
        let mut expected: Vec<(usize, usize)> =
            Deserialize::deserialize(&row["greedy_cheapest_first"]).map_err(|_| "no pairs")?;
        expected.sort_unstable();
        rows::same("greedy pairs", greedy, expected)?;

        let gated = &row["gated"];
        if gated.is_null() {
            return Ok(());
        }
        let gate = Gate::Below(gated["gate"].as_f64().ok_or("no gate")?);
        let pairs = costs.optimal(gate);
        check("gated", &pairs, number(&gated["pairs"])?, &gated["cost"])
    });
}
