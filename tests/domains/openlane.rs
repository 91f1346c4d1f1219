//! Distances of polylines; OpenLane-V2: sample frames and edge cases.

use metric_core::{Merge, Metric};
use metric_graph::distance::{
    Chamfer, Hausdorff, chamfer, chamfer_below, directed_hausdorff, discrete_frechet,
    discrete_frechet_below, hausdorff, hausdorff_below,
};
use metric_graph::openlane::{
    self, Frame, FramePrediction, LANE_THRESHOLDS, OpenLaneScore, OpenLaneState, OpenLaneV2,
    match_frame,
};
use metric_graph::{InvalidPolyline, Polyline};
use serde::Deserialize;
use serde_json::Value;

use crate::rows;

/// Coordinates are up to 32, whose last bits are 7e-15: no distance can be more exact than 1e-14.
fn near(what: &str, ours: f64, expected: &Value) -> Result<(), String> {
    let scale = |value: f64| (value.max(0.01), "max(0.01, value)");
    match expected.as_f64() {
        Some(expected) if rows::within_scaled(ours, expected, 1e-12, scale(expected)) => Ok(()),
        _ => Err(format!("{what}: ours {ours}, reference {expected}")),
    }
}

fn line<const D: usize>(points: &Value) -> Result<Polyline<D>, String> {
    let rows: Vec<Vec<f64>> = Vec::deserialize(points).map_err(|e| e.to_string())?;
    Polyline::from_rows(&rows).map_err(|e| e.to_string())
}

fn check_distances<const D: usize>(row: &Value) -> Result<(), String> {
    let (a, b) = (line::<D>(&row["a"])?, line::<D>(&row["b"])?);
    let tenths = || (a.densified(10), b.densified(10));
    let hundred = || -> Result<_, InvalidPolyline> { Ok((a.resampled(100)?, b.resampled(100)?)) };
    let resampled = hundred().map_err(|e| e.to_string())?;
    let fields = row["expected"].as_object().ok_or("no distances")?;
    for (field, expected) in fields {
        let ours = match field.as_str() {
            "frechet_discrete" | "geos_frechet" => discrete_frechet(&a, &b),
            "chamfer_mean_half" => chamfer(&a, &b, Chamfer::HalfSum),
            "chamfer_mean_sum" => chamfer(&a, &b, Chamfer::Sum),
            "chamfer_sq_mean_sum" => chamfer(&a, &b, Chamfer::SquaredSum),
            "chamfer_a_to_b" => chamfer(&a, &b, Chamfer::OneSided),
            "chamfer_b_to_a" => chamfer(&b, &a, Chamfer::OneSided),
            // The devkit fails at a true line of one point.
            "chamfer_openlanev2_gt_a" if expected.is_null() && row["devkit_error"].is_string() => {
                continue;
            }
            "chamfer_openlanev2_gt_a" => openlane::chamfer(&b, &a),
            "hausdorff_points" => hausdorff(&a, &b, Hausdorff::Points),
            "hausdorff_points_a_to_b" => directed_hausdorff(&a, &b, Hausdorff::Points),
            "hausdorff_points_b_to_a" => directed_hausdorff(&b, &a, Hausdorff::Points),
            "geos_hausdorff" => hausdorff(&a, &b, Hausdorff::Segments),
            "geos_frechet_densify_0.1" => discrete_frechet(&tenths().0, &tenths().1),
            "geos_hausdorff_densify_0.1" => {
                hausdorff(&tenths().0, &tenths().1, Hausdorff::Segments)
            }
            "resampled100_frechet" => discrete_frechet(&resampled.0, &resampled.1),
            "resampled100_chamfer_mean_half" => {
                chamfer(&resampled.0, &resampled.1, Chamfer::HalfSum)
            }
            other => return Err(format!("unknown distance {other}")),
        };
        near(field, ours, expected)?;
        // Neither side is special, except for those that say so.
        let directed = field.contains("_to_") || field.contains("_gt_");
        if field.contains("frechet") && !directed {
            rows::same(
                "symmetry",
                discrete_frechet(&b, &a),
                discrete_frechet(&a, &b),
            )?;
        }
    }
    let greatest = chamfer(&a, &b, Chamfer::OneSided).max(chamfer(&b, &a, Chamfer::OneSided));
    rows::same("max", chamfer(&a, &b, Chamfer::Max), greatest)?;

    // A threshold only requires that the distance is below it.
    for threshold in [0.0, 0.25, 0.5, 1.0, 3.0, 10.0, 30.0] {
        let check = |what: &str, below: Option<f64>, whole: f64| {
            rows::same(what, below, Some(whole).filter(|&whole| whole < threshold))
        };
        let whole = discrete_frechet(&a, &b);
        check("frechet", discrete_frechet_below(&a, &b, threshold), whole)?;
        rows::same("at", discrete_frechet_below(&a, &b, whole), None)?;
        let above = whole.next_up();
        rows::same("above", discrete_frechet_below(&a, &b, above), Some(whole))?;
        for &variant in Hausdorff::ALL {
            let below = hausdorff_below(&a, &b, variant, threshold);
            check(variant.name(), below, hausdorff(&a, &b, variant))?;
        }
        for &variant in Chamfer::ALL {
            let below = chamfer_below(&a, &b, variant, threshold);
            check(variant.name(), below, chamfer(&a, &b, variant))?;
        }
    }
    Ok(())
}

#[test]
fn polyline_distances() {
    let rows = rows::rows("graph/polyline_distances.jsonl");
    rows::check(&rows, rows::id, &[], |row| match row["dim"].as_u64() {
        Some(2) => check_distances::<2>(row),
        Some(3) => check_distances::<3>(row),
        other => Err(format!("unknown dimension {other:?}")),
    });
}

fn token(frame: &Value) -> String {
    let parts = frame["token"].as_array().into_iter().flatten();
    let parts: Vec<&str> = parts.filter_map(Value::as_str).collect();
    parts.join("/")
}

/// A frame as the program reads it, from text.
fn frame(value: &Value) -> Result<(FramePrediction, Frame), String> {
    let read = |part: &str| value[part].to_string();
    let truth: Frame = serde_json::from_str(&read("gt")).map_err(|e| e.to_string())?;
    let prediction = serde_json::from_str(&read("pred")).map_err(|e| e.to_string())?;
    Ok((prediction, truth.with_id(token(value))))
}

fn score(frames: &[(FramePrediction, Frame)]) -> OpenLaneScore {
    let mut state = OpenLaneState::default();
    for (prediction, truth) in frames {
        state.merge(OpenLaneV2.measure(prediction, truth));
    }
    OpenLaneV2.compute(&state)
}

fn check_score(score: &OpenLaneScore, expected: &Value, tolerance: f64) -> Result<(), String> {
    for (name, ours) in [
        ("DET_l", score.det_l),
        ("DET_t", score.det_t),
        ("TOP_ll", score.top_ll),
        ("TOP_lt", score.top_lt),
        ("score", score.ols),
    ] {
        let reference = expected[name]
            .as_f64()
            .ok_or_else(|| format!("no {name}"))?;
        if !rows::within(ours, reference, tolerance) {
            return Err(format!("{name}: ours {ours}, reference {reference}"));
        }
    }
    Ok(())
}

#[test]
fn openlanev2_frames() {
    let rows = rows::rows("graph/openlanev2_frames.jsonl");
    rows::check(&rows, token, &[], |row| {
        let (prediction, truth) = frame(row)?;
        let expected = &row["expected"];
        let matches = match_frame(&prediction, &truth);
        let matched = LANE_THRESHOLDS.iter().zip(&matches.lanes);
        let mut matched: Vec<_> = matched
            .map(|(threshold, matches)| (format!("lane_centerline_{threshold:.1}"), matches))
            .collect();
        matched.push(("traffic_element_0.75".to_owned(), &matches.elements));
        for (name, matches) in matched {
            let reference = Vec::<Option<f64>>::deserialize(&expected["idx_match_gt"][&name])
                .map_err(|e| e.to_string())?;
            let ours = matches.iter().map(|index| index.map(|index| index as f64));
            rows::same(&name, ours.collect(), reference)?;
        }
        let score = score(&[(prediction, truth)]);
        check_score(&score, &expected["exact_f64"], 1e-12)?;
        check_score(&score, expected, 1e-5)
    });
}

#[test]
fn openlanev2_edge_cases() {
    for document in rows::documents("graph/edge_cases_openlanev2.json") {
        let cases = document["cases"].as_array().cloned().unwrap_or_default();
        let name = |case: &Value| case["name"].as_str().unwrap_or_default().to_owned();
        // `recall_exactly_0.7` is as under numpy 1: 7 of 10 reach a recall of 0.7.
        rows::check(&cases, name, &[], |case| {
            let frames = case["frames"].as_array().ok_or("no frames")?;
            let frames: Vec<_> = frames.iter().map(frame).collect::<Result<_, _>>()?;
            let score = score(&frames);
            match (&case["exact_f64"], &case["devkit_numpy_1_23_5"]) {
                // The devkit fails at a true lane of one point; by the rules it is not found.
                (Value::Null, Value::Null) if case["devkit_error"].is_string() => {
                    rows::same("DET_l", score.det_l, 0.0)
                }
                (Value::Null, devkit) => check_score(&score, devkit, 1e-5),
                (exact, devkit) => {
                    check_score(&score, exact, 1e-12)?;
                    check_score(&score, devkit, 1e-5)
                }
            }
        });
    }
}
