//! ARC grids against the program arcsolver 0.0.11, and submissions against the rules of Kaggle and the
//! program arc-agi-benchmarking.

use std::collections::BTreeSet;
use std::slice::from_ref;

use metric_core::Metric;
use metric_grid::read::{File, Folder, Solutions, Submission, SubmissionOptions};
use metric_grid::{ArcGrids, ArcSubmissions, Attempt, Grid, SubmissionScore, SubmissionState};
use serde_json::{Value, json};

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
        "cells that are not integers are invalid, and so are not counted as equal to integers",
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
            (Some(ours), Some(theirs)) if rows::within(ours, theirs, 1e-15) => Ok(()),
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

/// The evaluation set of ARC-AGI-1 with made-up attempts: solutions, submission, expected numbers.
fn evaluation_sets() -> Vec<[Value; 3]> {
    let [solutions, submissions, expected] = ["solutions", "submission", "expected"]
        .map(|name| rows::documents(&format!("grid/arc1_eval_{name}.json")));
    let solutions = solutions.into_iter().zip(submissions).zip(expected);
    solutions.map(|((a, b), c)| [a, b, c]).collect()
}

fn solutions(document: &Value) -> Solutions {
    let text = document.to_string();
    let file = File {
        name: "solutions.json",
        text: &text,
    };
    Solutions::parse(file).expect("solutions")
}

fn parsed(text: &str, solutions: &Solutions) -> Submission {
    let file = File {
        name: "submission",
        text,
    };
    Submission::parse(file, solutions, SubmissionOptions::default()).expect("a submission")
}

fn score(solutions: &Solutions, submission: &Submission) -> (SubmissionState, SubmissionScore) {
    let metric = ArcSubmissions::default();
    let mut state = SubmissionState::default();
    for (task, outputs) in solutions.tasks() {
        metric.update(&mut state, submission.attempts(task), outputs);
    }
    let score = metric.compute(&state);
    (state, score)
}

#[track_caller]
fn near(ours: Option<f64>, expected: &Value) {
    rows::near("score", ours, expected).expect("near numbers");
}

#[test]
fn submissions() {
    let mut names = BTreeSet::new();
    for [truth, submission, expected] in evaluation_sets() {
        let solutions = solutions(&truth);
        let submission = parsed(&submission.to_string(), &solutions);
        assert_eq!(submission.missing, [""; 0]);
        let metric = ArcSubmissions::default();
        for (task, outputs) in solutions.tasks() {
            let hits: Vec<u64> = outputs
                .iter()
                .zip(submission.attempts(task))
                .map(|(truth, attempts)| {
                    let one = metric.measure(from_ref(attempts), from_ref(truth));
                    one.outputs.exact
                })
                .collect();
            assert_eq!(json!(hits), expected["per_task"][task], "{task}");
            names.insert(task.to_owned());
        }
        let (state, score) = score(&solutions, &submission);
        assert_eq!(json!(state.task_count()), expected["n_tasks"]);
        assert_eq!(json!(state.outputs.pairs), expected["n_outputs"]);
        assert_eq!(json!(state.outputs.exact), expected["outputs_correct"]);
        assert_eq!(json!(state.solved_tasks()), expected["all_tests_tasks"]);
        assert_eq!(json!(state.solved_within(1)), expected["pass1_outputs"]);
        near(score.solved.kaggle, &expected["kaggle_score"]);
        near(score.solved.arcprize, &expected["arcprize_score"]);
        near(score.pass_at[0], &expected["kaggle_pass1"]);
        let sum = score
            .solved
            .arcprize
            .map(|mean| mean * state.task_count() as f64);
        near(sum, &expected["arcprize_task_sum"]);
    }
    rows::record(names, &[]);
}

#[test]
fn the_same_attempts_as_a_table() {
    for [truth, document, _] in evaluation_sets() {
        let solutions = solutions(&truth);
        let mut table = "output_id,output\n".to_owned();
        for (task, outputs) in document.as_object().expect("an object") {
            for (index, entry) in outputs.as_array().expect("a list").iter().enumerate() {
                let attempts = ["attempt_1", "attempt_2"].map(|name| {
                    let rows = entry[name].as_array().into_iter().flatten();
                    let digits = |row: &Value| -> String {
                        row.as_array()
                            .into_iter()
                            .flatten()
                            .map(Value::to_string)
                            .collect()
                    };
                    let rows: Vec<String> = rows.map(digits).collect();
                    format!("|{}|", rows.join("|"))
                });
                table.push_str(&format!("{task}_{index},{} \n", attempts.join(" ")));
            }
        }
        let as_table = score(&solutions, &parsed(&table, &solutions));
        let as_json = score(&solutions, &parsed(&document.to_string(), &solutions));
        assert_eq!(as_table, as_json);
    }
}

/// Files of the program arc-agi-benchmarking, one a task.
fn task_files(submission: &Value, with_index: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (task, outputs) in submission.as_object().expect("an object") {
        let entry = |(index, entry): (usize, &Value)| {
            let attempt = |name: &str| match &entry[name] {
                Value::Null => Value::Null,
                grid if with_index => json!({"answer": grid, "metadata": {"pair_index": index}}),
                grid => json!({"answer": grid, "metadata": {}}),
            };
            json!({"attempt_1": attempt("attempt_1"), "attempt_2": attempt("attempt_2")})
        };
        let outputs = outputs.as_array().expect("a list").iter().enumerate();
        // Backwards, as their order must not matter.
        let entries: Vec<Value> = outputs.map(entry).rev().collect();
        let path = folder.path().join(format!("{task}.json"));
        std::fs::write(path, json!(entries).to_string()).expect("a written file");
    }
    folder
}

#[test]
fn the_same_attempts_as_task_files() {
    for [truth, document, expected] in evaluation_sets() {
        let solutions = solutions(&truth);
        let options = SubmissionOptions::default();
        let folder = task_files(&document, true);
        let read = Submission::read_folder(&Folder::new(folder.path()), &solutions, options);
        let (state, found) = score(&solutions, &read.expect("task files"));
        near(found.solved.arcprize, &expected["official_arcscorer_score"]);
        let (as_json, _) = score(&solutions, &parsed(&document.to_string(), &solutions));
        assert_eq!(state, as_json);

        // A deviation: without indices the program takes all entries of a task for its first test,
        // and counts 0.4775. Here it is an error, wherever it matters.
        assert_eq!(
            expected["official_arcscorer_without_pair_index"],
            json!(0.4775)
        );
        let folder = task_files(&document, false);
        let error = Submission::read_folder(&Folder::new(folder.path()), &solutions, options);
        let error = error.expect_err("no index").to_string();
        assert!(error.contains("no pair_index in its metadata"), "{error}");
    }
}
