//! ARC grids, and solutions with submissions, from arbitrary texts.
//!
//! An input is two bytes, each counted starting at `a`, and a text in parts, between lines of `@`.
//! The first byte chooses grids or submissions, the second the options. For grids the parts are a
//! prediction and a reference, for submissions a file of solutions and one of attempts.

#![no_main]

use std::num::NonZeroU16;

use libfuzzer_sys::fuzz_target;
use metric_core::Metric;
use metric_grid::read::{
    File, Solutions, Submission, SubmissionOptions, parse_attempts, parse_grid, parse_outputs,
};
use metric_grid::{
    ArcGrids, ArcSubmissions, Attempt, Grid, Picture, PictureRow, cell_accuracy, cell_matches,
    exact_match, palette_match, shape_match,
};
use metric_suite_fuzz::{fraction, parts, pooled};

fuzz_target!(|data: &[u8]| {
    let [kind, options, text @ ..] = data else {
        return;
    };
    let text = String::from_utf8_lossy(text);
    let parts = parts(&text);
    let [one, two] = [0, 1].map(|index| parts.get(index).copied().unwrap_or_default());
    match kind.wrapping_sub(b'a') % 2 {
        0 => grids(one, two),
        _ => submissions(one, two, options.wrapping_sub(b'a')),
    }
});

/// A grid as any reader of JSON would read it.
fn plain(text: &str) -> Option<Vec<Vec<i64>>> {
    let rows: Vec<Vec<i64>> = serde_json::from_str(text).ok()?;
    let columns = rows.first()?.len();
    let sides = (1..=30).contains(&rows.len()) && (1..=30).contains(&columns);
    let cells = rows
        .iter()
        .all(|row| row.len() == columns && row.iter().all(|cell| (0..10).contains(cell)));
    (sides && cells).then_some(rows)
}

fn read(text: &str) -> Option<Grid> {
    // The reader is for valid JSON.
    let json: &serde_json::value::RawValue = serde_json::from_str(text).ok()?;
    let json = json.get();
    let grid = parse_grid(json);
    let expected = plain(json);
    assert_eq!(grid.is_ok(), expected.is_some(), "{grid:?}");
    if let (Ok(grid), Some(rows)) = (&grid, expected) {
        let found: Vec<Vec<i64>> = grid
            .as_array()
            .rows()
            .into_iter()
            .map(|row| row.iter().map(|&cell| i64::from(cell)).collect())
            .collect();
        assert_eq!(found, rows);
    }
    grid.ok()
}

fn grids(prediction: &str, reference: &str) {
    let (prediction, reference) = (read(prediction), read(reference));
    let Some(reference) = reference else { return };
    let attempt = prediction.clone().map_or(Attempt::Invalid, Attempt::Grid);
    let own = Attempt::Grid(reference.clone());
    let examples = [
        (&attempt, &reference),
        (&own, &reference),
        (&Attempt::Missing, &reference),
    ];
    let score = ArcGrids.compute(&pooled(&ArcGrids, &examples));
    for score in [
        score.cell_accuracy,
        score.cell_accuracy_pooled,
        score.exact,
        score.shape_match,
        score.palette_match,
    ] {
        fraction(score);
    }
    let Some(prediction) = prediction else { return };
    let (a, b) = (prediction.as_array(), reference.as_array());
    let (rows, columns) = (a.nrows().max(b.nrows()), a.ncols().max(b.ncols()));
    let indices = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let equal = indices
        .filter(|&index| a.get(index).is_some() && a.get(index) == b.get(index))
        .count();
    let matches = cell_matches(&prediction, &reference);
    assert_eq!(
        (matches.matches, matches.padded_cells),
        (equal as u64, (rows * columns) as u64)
    );
    assert_eq!(matches, cell_matches(&reference, &prediction));
    let exact = exact_match(&prediction, &reference);
    assert_eq!(exact, prediction == reference);
    assert_eq!(exact, cell_accuracy(&prediction, &reference) == 1.0);
    assert_eq!(shape_match(&prediction, &reference), a.dim() == b.dim());
    assert!(!exact || palette_match(&prediction, &reference));
    draw(&reference, vec![attempt, own]);
}

fn draw(truth: &Grid, attempts: Vec<Attempt>) {
    let picture = Picture {
        title: "<a> & \u{1b}".to_owned(),
        rows: vec![PictureRow {
            truth: truth.clone(),
            attempts,
        }],
    };
    assert!(!picture.text(false).contains('\u{1b}'));
    assert!(!picture.text(true).is_empty());
    assert!(!picture.svg().contains("<a>"));
}

fn submissions(solutions: &str, submission: &str, options: u8) {
    let file = |text| File { name: "file", text };
    let allowed = NonZeroU16::MIN.saturating_add(u16::from(options / 2 % 3));
    let options = SubmissionOptions::default()
        .with_attempts(allowed)
        .with_strict(options % 2 == 1)
        .with_ignore_unknown(false);
    let solutions = match Solutions::parse(file(solutions)) {
        Ok(solutions) => solutions,
        Err(error) => return assert!(!error.problem.is_empty()),
    };
    let written: serde_json::Map<String, serde_json::Value> = solutions
        .tasks()
        .map(|(id, outputs)| (id.to_owned(), outputs.iter().map(rows).collect()))
        .collect();
    let again = serde_json::Value::from(written).to_string();
    let again = Solutions::parse(file(&again)).expect("solutions that were read");
    let sorted = |solutions: &Solutions| {
        let mut tasks: Vec<_> = solutions
            .tasks()
            .map(|(id, outputs)| (id.to_owned(), outputs.to_vec()))
            .collect();
        tasks.sort_by(|a, b| a.0.cmp(&b.0));
        tasks
    };
    assert_eq!(sorted(&solutions), sorted(&again));

    let submission = match Submission::parse(file(submission), &solutions, options) {
        Ok(submission) => submission,
        Err(error) => return assert!(!error.problem.is_empty()),
    };
    let metric = ArcSubmissions { attempts: allowed };
    let examples: Vec<_> = solutions
        .tasks()
        .map(|(id, outputs)| (submission.attempts(id), outputs))
        .collect();
    let state = pooled(&metric, &examples);
    assert_eq!(state.task_count(), examples.len() as u64);
    assert!(state.solved_tasks() <= state.task_count());
    let score = metric.compute(&state);
    for score in [
        score.solved.kaggle,
        score.solved.arcprize,
        score.solved.all_tests,
        score.cell_accuracy_by_task,
    ] {
        fraction(score);
        assert_eq!(score.is_none(), examples.is_empty());
    }
    assert!(score.solved.all_tests <= score.solved.arcprize);
    assert!(score.pass_at.is_sorted_by(|a, b| a <= b));
    assert_eq!(score.pass_at.last().copied().flatten(), score.solved.kaggle);
    for (attempts, outputs) in &examples {
        for (attempts, truth) in attempts.iter().zip(*outputs) {
            draw(truth, attempts.clone());
        }
    }
}

fn rows(grid: &Grid) -> serde_json::Value {
    let rows = grid.as_array();
    let rows = rows.rows().into_iter().map(|row| row.to_vec());
    let rows: Vec<Vec<u8>> = rows.collect();
    assert_eq!(
        parse_outputs(&format!("[{rows:?}]")).as_deref(),
        Ok(std::slice::from_ref(grid))
    );
    let attempt = format!("[{{\"attempt_1\": {rows:?}}}]");
    let attempts = parse_attempts(&attempt, 1, SubmissionOptions::default());
    assert_eq!(attempts, Ok(vec![vec![Attempt::Grid(grid.clone())]]));
    serde_json::json!(rows)
}
