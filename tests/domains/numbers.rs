//! Predicted numbers: errors, R², and correlations.

use metric_number::{NumbersError, kendall, pearson, regression, spearman};
use metric_registry::Report;
use serde_json::{Value, json};

use crate::metrics::scored;
use crate::rows::{self, same, within_scaled};

/// Kinds of rows in which the programs lose digits, so that these scores are computed here.
const EXACT_KINDS: &[&str] = &[
    "large mean",
    "very large mean",
    "opposite signs cancel",
    "constant: 0.1 three times",
];

/// The scores whose squares are not below the least numbers.
const SCORES_OF_TINY: &[&str] = &["mae", "mape", "max_error", "spearman", "kendall"];

/// Kinds of rows that are errors here. SciPy prints NaN, or ranks infinities.
const REFUSED: &[&str] = &["empty", "NaN", "infinite prediction", "lengths differ"];

#[test]
fn errors_and_correlations() {
    let rows = rows::rows("ranking/regression.jsonl");
    rows::check(&rows, rows::id, &[], |row| {
        let kind = row["kind"].as_str().ok_or("no kind")?;
        if REFUSED.contains(&kind) {
            return refused(row);
        }
        let textbook = scored("regression", &records(row, json!({})))?;
        let sklearn = scored("regression", &records(row, json!({"profile": "sklearn"})))?;
        let mut unweighted = row.clone();
        unweighted["weights"] = Value::Null;
        let ranks = scored("rank-correlation", &records(&unweighted, json!({})))?;
        let total: f64 = match list(&row["weights"]) {
            Ok(weights) => weights.iter().sum(),
            Err(_) => list(&row["references"])?.len() as f64,
        };
        let count = |report: &Report| report.counts.first().and_then(|(_, count)| count.as_f64());
        near("total", count(&textbook), Some(total))?;
        let exact = EXACT_KINDS.contains(&kind).then(|| in_integers(row));
        let exact = exact.transpose()?;
        for result in row["results"].as_array().ok_or("no results")? {
            let name = result["metric"].as_str().ok_or("no metric")?;
            if kind == "tiny" && !SCORES_OF_TINY.contains(&name) {
                continue;
            }
            let expected = result["value"].as_f64();
            let variant = result["options"]["variant"].as_str();
            let is_finite = result["options"]["force_finite"].as_bool() != Some(false);
            match name {
                "spearman" => near(name, ranks.score(name), expected)?,
                "kendall" if variant == Some("b") => near(name, ranks.score(name), expected)?,
                "pearson" => {
                    let exact = exact.map(|[pearson, _]| pearson);
                    near(name, textbook.score(name), exact.unwrap_or(expected))?;
                }
                "r2" if is_finite => {
                    let references = list(&row["references"])?;
                    let is_constant = references.iter().all(|it| *it == references[0]);
                    let exact = exact.map(|[_, r2]| r2);
                    let expected = exact.unwrap_or(expected).filter(|_| !is_constant);
                    near(name, textbook.score(name), expected)?;
                    let wrong = exact.is_some().then_some(0.0);
                    let by_convention = wrong.or(result["value"].as_f64());
                    let expected = if is_constant { by_convention } else { expected };
                    near("r2 of sklearn", sklearn.score(name), expected)?;
                }
                "mae" | "mse" | "rmse" | "mape" | "max_error" => {
                    near(name, textbook.score(name), expected)?;
                }
                // Not offered: explained variance, the median, tau-c, and infinities in place of R².
                _ => {}
            }
        }
        Ok(())
    });
}

/// The row as records under options.
fn records(row: &Value, mut options: Value) -> Value {
    let side = |name: &str| row[name].as_array().cloned().unwrap_or_default();
    let (predictions, weights) = (side("predictions"), side("weights"));
    let record = |(index, reference): (usize, Value)| {
        let mut record = json!({"reference": reference, "prediction": predictions[index]});
        if let Some(weight) = weights.get(index) {
            record["weight"] = weight.clone();
        }
        record
    };
    if !weights.is_empty() {
        options["weight-field"] = json!("weight");
    }
    let records: Vec<Value> = side("references")
        .into_iter()
        .enumerate()
        .map(record)
        .collect();
    json!({"options": options, "records": records})
}

fn list(value: &Value) -> Result<Vec<f64>, String> {
    let items = value.as_array().ok_or("no list")?;
    let number = |item: &Value| match item.as_str() {
        Some("nan") => Some(f64::NAN),
        Some("inf") => Some(f64::INFINITY),
        _ => item.as_f64(),
    };
    let numbers: Option<Vec<f64>> = items.iter().map(number).collect();
    numbers.ok_or_else(|| format!("{value} is not a list of numbers"))
}

fn near(name: &str, ours: Option<f64>, expected: Option<f64>) -> Result<(), String> {
    match (ours, expected) {
        (Some(ours), Some(expected))
            if within_scaled(
                ours,
                expected,
                1e-12,
                (expected.max(-expected).max(0.1), "the score, at least 0.1"),
            ) =>
        {
            Ok(())
        }
        _ => same(name, ours, expected),
    }
}

/// Pearson's correlation and R² of numbers without weights, in integers of 128 bits, rounded for the division.
fn in_integers(row: &Value) -> Result<[Option<f64>; 2], String> {
    // Numbers that are not whole are multiples of 2^-56 once the first one is subtracted, without rounding.
    let side = |name: &str| -> Result<Vec<i128>, String> {
        let numbers = list(&row[name])?;
        let is_whole = numbers.iter().all(|number| number.fract() == 0.0);
        let (first, scale) = if is_whole {
            (0.0, 1.0)
        } else {
            (numbers[0], 2_f64.powi(56))
        };
        let scaled = numbers.iter().map(|number| (number - first) * scale);
        scaled
            .map(|number| {
                (number.fract() == 0.0)
                    .then_some(number as i128)
                    .ok_or("not a multiple".to_owned())
            })
            .collect()
    };
    let (xs, ys) = (side("predictions")?, side("references")?);
    let count = xs.len() as i128;
    let sum = |a: &[i128], b: &[i128]| -> i128 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let covariance = |a: &[i128], b: &[i128]| {
        count * sum(a, b) - a.iter().sum::<i128>() * b.iter().sum::<i128>()
    };
    let (xy, xx, yy) = (
        covariance(&xs, &ys),
        covariance(&xs, &xs),
        covariance(&ys, &ys),
    );
    let pearson = (xx != 0 && yy != 0).then(|| xy as f64 / (xx as f64).sqrt() / (yy as f64).sqrt());
    let (predictions, references) = (list(&row["predictions"])?, list(&row["references"])?);
    let is_whole = [&predictions, &references]
        .into_iter()
        .flatten()
        .all(|it| it.fract() == 0.0);
    let scale = if is_whole { 1.0 } else { 2_f64.powi(56) };
    let errors = predictions
        .iter()
        .zip(&references)
        .map(|(p, y)| ((p - y) * scale) as i128);
    let errors: Vec<i128> = errors.collect();
    let errors = count * sum(&errors, &errors);
    let r2 = (yy != 0).then(|| (yy - errors) as f64 / yy as f64);
    Ok([pearson, r2])
}

/// Numbers that are refused, by the functions and by the metrics.
fn refused(row: &Value) -> Result<(), String> {
    let (predictions, references) = (list(&row["predictions"])?, list(&row["references"])?);
    let error = |result: Result<Option<f64>, NumbersError>| result.err().map(|it| it.to_string());
    let expected = match row["kind"].as_str() {
        Some("empty") => "no numbers: expected at least one pair",
        Some("NaN") => "expected a finite number at index 2, found NaN",
        Some("infinite prediction") => "expected a finite number at index 2, found inf",
        _ => "2 predictions, but 3 references",
    };
    let expected = Some(expected.to_owned());
    let all = regression(&predictions, &references).map(|score| score.mae);
    same("regression", error(all), expected.clone())?;
    for function in [pearson, spearman, kendall] {
        same(
            "error",
            error(function(&predictions, &references)),
            expected.clone(),
        )?;
    }
    if predictions.len() == references.len() && !predictions.is_empty() {
        for metric in ["regression", "rank-correlation"] {
            let ours = scored(metric, &records(row, json!({})));
            let found = ours.err().unwrap_or_default();
            if !found.contains("expected a number") {
                return Err(format!("{metric}: {found:?}"));
            }
        }
    }
    Ok(())
}
