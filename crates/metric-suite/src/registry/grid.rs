//! ARC grids, and submissions of them.

use std::num::{NonZeroU16, NonZeroUsize};

use metric_core::{Merge, Metric};
use metric_grid::read::{
    File, MAX_ATTEMPTS, ReadError, Solutions, Submission, SubmissionOptions, is_solutions, is_task,
    parse_attempts, parse_grid, parse_outputs,
};
use metric_grid::{
    ArcGrids, ArcScore, ArcState, ArcSubmissions, Attempt, BootstrapInterval, Grid, Picture,
    PictureRow, SolvedShares, SubmissionState, VERSION,
};
use serde::{Deserialize, Serialize};

use super::read::json;
use super::scorer::{Adapter, Drawing, noted};
use super::{
    Content, Document, DocumentError, Entry, FieldError, Input, JoinPolicy, Named, Notes,
    OptionError, OptionSpec, Options, Reading, Record, Sink, never_whole,
};

pub(super) const ARC: Entry = Entry {
    name: "arc",
    help: "ARC grids and submissions: solved outputs and tasks, exact match, padded cell accuracy",
    values: (
        "a grid [[int]], 1 to 30 on a side, cells 0 to 9; for a submission the grids of a task's test outputs, as in Kaggle's file of solutions {task: [grid]}, or a folder of ARC tasks",
        "a grid, or null for none; for a submission Kaggle's file {task: [{\"attempt_1\": grid, \"attempt_2\": grid}]}, the table output_id,output of 2019 and 2024 (.csv), or a folder of arc-agi-benchmarking's files",
    ),
    options: &[
        OptionSpec {
            name: "attempts",
            value: "N",
            default: "2",
            choices: Vec::new,
            help: "In submissions: how many attempts at an output count",
        },
        OptionSpec {
            name: "strict",
            value: "",
            default: "",
            choices: Vec::new,
            help: "An invalid grid as a prediction is an error, and not a miss; so are attempts, tasks and outputs of a submission that do not belong there",
        },
        OptionSpec {
            name: "groups",
            value: "KIND",
            default: "none",
            choices: || vec!["none", "task"],
            help: "Tables beside the total, of submissions",
        },
        OptionSpec {
            name: "bootstrap",
            value: "N",
            default: "",
            choices: Vec::new,
            help: "In submissions: also the 95 % interval of kaggle, arcprize and all_tests from N resamples of the tasks",
        },
        OptionSpec {
            name: "seed",
            value: "N",
            default: "0",
            choices: Vec::new,
            help: "The seed of --bootstrap",
        },
    ],
    input: Input::Either(is_solutions),
    whole_file: never_whole,
    build: |options| {
        let reading = Arc {
            metric: ArcExamples {
                submissions: ArcSubmissions {
                    attempts: attempts(options)?,
                },
            },
            strict: options.get("strict").is_some(),
            by_task: options.get("groups") == Some("task"),
            resamples: resamples(options)?,
            seed: options.require("seed")?,
        };
        Ok(Adapter::boxed("arc", VERSION, reading))
    },
};

fn attempts(options: &Options) -> Result<NonZeroU16, OptionError> {
    let attempts = options.counting("attempts", MAX_ATTEMPTS.into())?;
    attempts
        .and_then(|attempts| attempts.try_into().ok())
        .ok_or_else(|| OptionError::new("attempts", "", "a value is needed".to_owned()))
}

fn resamples(options: &Options) -> Result<usize, OptionError> {
    const MOST: usize = 1_000_000;
    let resamples = options.counting("bootstrap", MOST - 1)?;
    Ok(resamples.map_or(0, NonZeroUsize::get))
}

struct Arc {
    metric: ArcExamples,
    strict: bool,
    by_task: bool,
    /// 0 for none.
    resamples: usize,
    seed: u64,
}

/// Pairs of grids, and tasks.
struct ArcExamples {
    submissions: ArcSubmissions,
}

/// The evidence of either; a data set has only one of them.
#[derive(Clone, Default, Serialize, Deserialize)]
struct ArcEvidence {
    pairs: ArcState,
    submissions: SubmissionState,
}

impl Merge for ArcEvidence {
    fn merge(&mut self, other: Self) {
        self.pairs.merge(other.pairs);
        self.submissions.merge(other.submissions);
    }
}

/// A task, or a pair of grids.
enum Example {
    Pair(Attempt, Grid),
    Task(Vec<Vec<Attempt>>, Vec<Grid>),
}

impl Metric for ArcExamples {
    type Prediction = Example;
    type Reference = ();
    type State = ArcEvidence;
    type Score = ();

    fn update(&self, state: &mut ArcEvidence, example: &Example, (): &()) {
        match example {
            Example::Pair(attempt, truth) => ArcGrids.update(&mut state.pairs, attempt, truth),
            Example::Task(attempts, truth) => {
                self.submissions
                    .update(&mut state.submissions, attempts, truth);
            }
        }
    }

    fn compute(&self, _: &ArcEvidence) {}
}

impl Arc {
    fn options(&self) -> SubmissionOptions {
        SubmissionOptions {
            attempts: self.metric.submissions.attempts,
            strict: self.strict,
        }
    }

    fn example(&self, record: &Record<'_>) -> Result<Example, FieldError> {
        let reference = json(record.reference, "null");
        let prediction = json(record.prediction, "null");
        if is_task(reference) {
            let truth = parse_outputs(reference).map_err(FieldError::reference)?;
            let attempts = parse_attempts(prediction, truth.len(), self.options())
                .map_err(FieldError::prediction)?;
            return Ok(Example::Task(attempts, truth));
        }
        let truth = parse_grid(reference).map_err(FieldError::reference)?;
        let attempt = if prediction.trim() == "null" {
            Attempt::Missing
        } else {
            match parse_grid(prediction) {
                Ok(grid) => Attempt::Grid(grid),
                Err(problem) if self.strict => return Err(FieldError::prediction(problem)),
                Err(_) => Attempt::Invalid,
            }
        };
        Ok(Example::Pair(attempt, truth))
    }

    /// Adds a task, whose outputs are the examples.
    fn task(
        &self,
        sink: &mut Sink<'_, ArcExamples>,
        id: &str,
        attempts: &[Vec<Attempt>],
        truth: &[Grid],
    ) {
        let metric = &self.metric.submissions;
        let measure = |attempts: &[Vec<Attempt>], truth: &[Grid]| ArcEvidence {
            pairs: ArcState::default(),
            submissions: metric.measure(attempts, truth),
        };
        let groups = [("task", id)];
        let groups = if self.by_task { &groups[..] } else { &[] };
        let outputs = truth.iter().enumerate().map(|(place, truth)| {
            let attempts = attempts.get(place).map_or(&[][..], std::slice::from_ref);
            let output = measure(attempts, std::slice::from_ref(truth));
            (place.to_string(), output)
        });
        sink.joint(groups, measure(attempts, truth), truth.len(), outputs);
    }

    fn read_submission(
        &self,
        references: &Document,
        predictions: &Document,
    ) -> Result<(Solutions, Submission), ReadError> {
        let file = |name, text| File { name, text };
        let solutions = match &references.content {
            Content::Text(text) => Solutions::parse(file(&references.name, text))?,
            Content::Folder(folder) => Solutions::read_folder(folder)?,
        };
        let options = self.options();
        let submission = match &predictions.content {
            Content::Text(text) => {
                Submission::parse(file(&predictions.name, text), &solutions, options)?
            }
            Content::Folder(folder) => Submission::read_folder(folder, &solutions, options)?,
        };
        Ok((solutions, submission))
    }

    fn draw(&self, title: String, example: Example, drawing: Drawing) -> String {
        let limit = usize::from(self.metric.submissions.attempts.get());
        let rows = match example {
            Example::Pair(attempt, truth) => vec![PictureRow {
                truth,
                attempts: vec![attempt],
            }],
            Example::Task(attempts, truth) => {
                let attempts = attempts.into_iter().chain(std::iter::repeat(Vec::new()));
                let rows = truth.into_iter().zip(attempts);
                rows.map(|(truth, mut attempts)| {
                    attempts.truncate(limit);
                    PictureRow { truth, attempts }
                })
                .collect()
            }
        };
        let picture = Picture { title, rows };
        match drawing {
            Drawing::Svg => picture.svg(),
            Drawing::Text => picture.text(false),
            Drawing::ColouredText => picture.text(true),
        }
    }
}

impl Reading for Arc {
    type Metric = ArcExamples;

    fn metric(&self) -> &ArcExamples {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let attempts = self.metric.submissions.attempts.to_string();
        let mut parts = vec![("attempts".to_owned(), attempts)];
        if self.resamples > 0 {
            parts.push(("bootstrap".to_owned(), self.resamples.to_string()));
            parts.push(("seed".to_owned(), self.seed.to_string()));
        }
        parts
    }

    fn read(
        &self,
        record: &Record<'_>,
        sink: &mut Sink<'_, ArcExamples>,
    ) -> Result<(), FieldError> {
        match self.example(record)? {
            Example::Task(attempts, truth) => {
                self.task(sink, &record.id.to_string(), &attempts, &truth);
            }
            pair => sink.example(&pair, &()),
        }
        Ok(())
    }

    fn read_documents(
        &self,
        references: Document,
        predictions: Document,
        _join: JoinPolicy,
        sink: &mut Sink<'_, ArcExamples>,
    ) -> Result<(), DocumentError> {
        let (solutions, submission) = self
            .read_submission(&references, &predictions)
            .map_err(|error| DocumentError(error.to_string()))?;
        for (id, truth) in solutions.tasks() {
            sink.record(id);
            let attempts = submission.attempts(id);
            self.task(sink, id, attempts, truth);
        }
        let outputs = solutions.tasks().map(|(id, truth)| {
            let attempts = submission.attempts(id).iter().take(truth.len());
            truth.len() - attempts.filter(|attempts| !attempts.is_empty()).count()
        });
        sink.missing(outputs.sum::<usize>() as u64);
        sink.note(
            &format!(
                "a task is not in the submission and scores 0: {}",
                first_few(&submission.missing)
            ),
            submission.missing.len() as u64,
        );
        sink.note(
            &format!(
                "a task is not in the solutions and was left out: {}",
                first_few(&submission.unknown)
            ),
            submission.unknown.len() as u64,
        );
        sink.note(
            "a field beside attempt_1, attempt_2, ... is no attempt and was left out",
            submission.unknown_fields,
        );
        Ok(())
    }

    fn examples_in(&self, record: &Record<'_>) -> u64 {
        let reference = json(record.reference, "null");
        match is_task(reference) {
            true => parse_outputs(reference).map_or(1, |truth| truth.len() as u64),
            false => 1,
        }
    }

    fn draws(&self, _drawing: Drawing) -> bool {
        true
    }

    fn picture(&self, record: &Record<'_>, drawing: Drawing) -> Result<String, FieldError> {
        let example = self.example(record)?;
        Ok(self.draw(record.id.to_string(), example, drawing))
    }

    fn draw_documents(
        &self,
        references: &Document,
        predictions: &Document,
        _join: JoinPolicy,
        drawing: Drawing,
        put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DocumentError> {
        let (solutions, submission) = self
            .read_submission(references, predictions)
            .map_err(|error| DocumentError(error.to_string()))?;
        for (id, truth) in solutions.tasks() {
            put(id, &|| {
                let attempts = submission.attempts(id).to_vec();
                let example = Example::Task(attempts, truth.to_vec());
                self.draw(id.to_owned(), example, drawing)
            });
        }
        Ok(())
    }

    fn scores(&self, state: &ArcEvidence) -> Named<Option<f64>> {
        let mut scores = Vec::new();
        if state.submissions.tasks.is_empty() {
            cells(&mut scores, &ArcGrids.compute(&state.pairs));
            return scores;
        }
        let metric = &self.metric.submissions;
        let score = metric.compute(&state.submissions);
        let mut add = |name: &str, score: Option<f64>| scores.push((name.to_owned(), score));
        add("kaggle", score.kaggle);
        add("arcprize", score.arcprize);
        add("all_tests", score.all_tests);
        for (attempts, share) in (1..).zip(&score.pass_at) {
            add(&format!("pass_at_{attempts}"), *share);
        }
        let interval = metric.bootstrap(&state.submissions, self.resamples, self.seed);
        if let Some(BootstrapInterval { low, high }) = interval {
            for (end, shares) in [("low", low), ("high", high)] {
                let SolvedShares {
                    kaggle,
                    arcprize,
                    all_tests,
                } = shares;
                add(&format!("kaggle_{end}"), kaggle);
                add(&format!("arcprize_{end}"), arcprize);
                add(&format!("all_tests_{end}"), all_tests);
            }
        }
        cells(&mut scores, &score.outputs);
        let by_task = score.cell_accuracy_by_task;
        scores.push(("cell_accuracy_by_task".to_owned(), by_task));
        scores
    }

    fn counts(&self, state: &ArcEvidence) -> Named<serde_json::Value> {
        let of_pairs = |outputs: &ArcState| {
            [
                ("matches", outputs.matches),
                ("padded_cells", outputs.padded_cells),
                ("exact", outputs.exact),
                ("invalid", outputs.invalid),
                ("shape_matches", outputs.shape_matches),
                ("palette_matches", outputs.palette_matches),
            ]
        };
        let counts = if state.submissions.tasks.is_empty() {
            let pairs = &state.pairs;
            let mut counts = of_pairs(pairs).to_vec();
            counts.extend([("null", pairs.missing), ("pairs", pairs.pairs)]);
            counts
        } else {
            let state = &state.submissions;
            let mut counts = vec![
                ("tasks", state.task_count()),
                ("solved_tasks", state.solved_tasks()),
                ("missing_tasks", state.missing_tasks),
                ("outputs", state.outputs.pairs),
                ("missing_outputs", state.outputs.missing),
                ("pass_at_1", state.solved_within(1)),
                ("attempts", state.attempts),
                ("extra_attempts", state.extra_attempts),
                ("extra_outputs", state.extra_outputs),
            ];
            counts.extend(of_pairs(&state.outputs));
            counts
        };
        let named = |(name, count): (&str, u64)| (name.to_owned(), count.into());
        counts.into_iter().map(named).collect()
    }

    fn warnings(&self, state: &ArcEvidence, notes: &Notes) -> Vec<String> {
        let (pairs, submissions) = (&state.pairs, &state.submissions);
        let mut warnings = noted(notes);
        let counts = [
            (
                pairs.invalid,
                "a prediction is no ARC grid and scores 0".to_owned(),
            ),
            (
                submissions.outputs.invalid,
                "an attempt is null or no ARC grid and scores 0".to_owned(),
            ),
            (
                submissions.extra_attempts,
                format!(
                    "an attempt comes after the {} that count and was left out",
                    self.metric.submissions.attempts
                ),
            ),
            (
                submissions.extra_outputs,
                "an output is not among those of its task and was left out".to_owned(),
            ),
        ];
        let counts = counts.iter().filter(|(times, _)| *times > 0);
        warnings.extend(counts.map(|(times, what)| format!("{times} × {what}")));
        warnings
    }
}

/// The scores of grids.
fn cells(scores: &mut Named<Option<f64>>, score: &ArcScore) {
    scores.extend(
        [
            ("cell_accuracy", score.cell_accuracy),
            ("cell_accuracy_pooled", score.cell_accuracy_pooled),
            ("exact", score.exact),
            ("shape_match", score.shape_match),
            ("palette_match", score.palette_match),
        ]
        .map(|(name, score)| (name.to_owned(), score)),
    );
}

/// The first few names of a list.
fn first_few(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("{name:?}"))
        .collect();
    let more = if names.len() > SHOWN { ", ..." } else { "" };
    shown.join(", ") + more
}
