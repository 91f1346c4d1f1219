//! ARC grids against the program arcsolver 0.0.11.

use metric_core::Metric;
use metric_grid::{ArcGrids, Attempt, Grid};
use serde_json::Value;

use crate::rows;

/// A missing prediction: the program counts no cells at all, we count the cells of the true grid
/// as missed.
const MISSED: &str = "a missing prediction misses the cells of the true grid";
const NO_CELLS: &str = "a true grid without cells is an error";
const DEVIATIONS: &[rows::Deviation] = &[
    ("arc-0021", MISSED, "padded cells: ours"),
    ("arc-0041", MISSED, "padded cells: ours"),
    ("arc-0061", MISSED, "padded cells: ours"),
    ("arc-0081", MISSED, "padded cells: ours"),
    ("arc-0101", MISSED, "padded cells: ours"),
    ("arc-0121", MISSED, "padded cells: ours"),
    ("arc-0141", MISSED, "padded cells: ours"),
    ("arc-0161", MISSED, "padded cells: ours"),
    ("arc-0181", MISSED, "padded cells: ours"),
    ("arc-0201", MISSED, "padded cells: ours"),
    ("arc-0492", MISSED, "padded cells: ours"),
    ("arc-0484", NO_CELLS, "has no cells"),
    ("arc-0485", NO_CELLS, "has no cells"),
    ("arc-0486", NO_CELLS, "has no cells"),
    ("arc-0488", NO_CELLS, "has no cells"),
    ("arc-0493", NO_CELLS, "has no cells"),
    (
        "arc-0494",
        "a prediction without cells is invalid and scores 0, the program's NaN",
        "accuracy Some(0.0), not \"nan\"",
    ),
    (
        "arc-0498",
        "cells that are no integers are invalid, and so are not counted as equal to integers",
        "matches: ours Some(0), reference Some(4)",
    ),
];

#[test]
fn arc_pairs() {
    let rows = rows::rows("grid/arc_pairs.jsonl");
    rows::check(&rows, rows::id, DEVIATIONS, |row| {
        let reference = grid(&row["truth"])?;
        let prediction = match &row["pred"] {
            Value::Null => Attempt::Missing,
            cells => grid(cells).map_or(Attempt::Invalid, Attempt::Grid),
        };
        let state = ArcGrids.measure(&prediction, &reference);
        let score = ArcGrids.compute(&state);
        rows::same("matches", Some(state.matches), row["matches"].as_u64())?;
        rows::same(
            "padded cells",
            Some(state.padded_cells),
            row["padded_cells"].as_u64(),
        )?;
        rows::same("exact", Some(state.exact == 1), row["exact"].as_bool())?;
        if row.get("arcsolver_error").is_some() {
            return rows::same("invalid", state.invalid, 1);
        }
        // The program multiplies three ratios, so its last bit can differ.
        match (score.cell_accuracy, row["arcsolver"].as_f64()) {
            (Some(ours), Some(theirs)) if (ours - theirs).abs() <= 1e-15 => Ok(()),
            (ours, _) => Err(format!("accuracy {ours:?}, not {}", row["arcsolver"])),
        }
    });
}

fn grid(cells: &Value) -> Result<Grid, String> {
    let rows: Vec<Vec<i64>> = cells
        .as_array()
        .ok_or("no list of rows")?
        .iter()
        .map(|row| row.as_array()?.iter().map(Value::as_i64).collect())
        .collect::<Option<_>>()
        .ok_or("no rows of integers")?;
    Grid::from_rows(&rows).map_err(|error| error.to_string())
}
