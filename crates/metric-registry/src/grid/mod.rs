//! ARC grids, and submissions of them.

use std::num::{NonZeroU16, NonZeroUsize};
use std::sync::OnceLock;

use metric_core::{Merge, Metric};
use metric_grid::read::{
    File, MAX_ATTEMPTS, ReadError, Solutions, Submission, SubmissionOptions, is_solutions, is_task,
    parse_attempts, parse_grid, parse_outputs,
};
use metric_grid::{
    ArcGrids, ArcScore, ArcState, ArcSubmissions, Attempt, BootstrapInterval, Grid, Picture,
    PictureRow, SolvedShares, SubmissionScore, SubmissionState, VERSION,
};
use serde::{Deserialize, Serialize};

use metric_record::json::json;
use crate::scorer::{Adapter, Drawing, noted};
use crate::{
    Content, Document, DocumentError, Entry, FieldError, Group, Input, JoinPolicy, Named, Notes,
    OptionError, OptionSpec, Options, Reading, Record, Sink, never_whole,
};

pub(crate) const ARC: Entry = Entry {
    name: "arc",
    help: "ARC grids and submissions: solved outputs and tasks, exact match, padded cell accuracy",
    values: (
        "a grid [[int]], 1 to 30 on a side, cells 0 to 9; for a submission the grids of a task's test outputs, as in Kaggle's file of solutions {task: [grid]}, or a folder of ARC tasks",
        "a grid, or null for none. For a submission Kaggle's file {task: [{\"attempt_1\": grid, \"attempt_2\": grid}]}, the table output_id,output of 2019 and 2024 (.csv), or a folder of arc-agi-benchmarking's files. In these files a task that the submission lacks scores 0, and one that the solutions lack is left out (with --strict it is an error, unless --extra ignore); a warning names both",
    ),
    options: &[
        OptionSpec {
            name: "attempts",
            kind: OptionKind::Integer(1, MAX_ATTEMPTS as i64),
            value: "N",
            default: "2",
            help: "In submissions: how many attempts at an output count",
        },
        OptionSpec {
            name: "strict",
            kind: OptionKind::Flag,
            value: "",
            default: "",
            help: "An invalid grid as a prediction is an error, and not a miss; so are attempts, tasks and outputs of a submission that do not belong there",
        },
        OptionSpec {
            name: "groups",
            kind: OptionKind::Choice(|| vec!["none", "task"]),
    value: "KIND",
            default: "none",
            help: "Tables beside the total, of submissions",
        },
        OptionSpec {
            name: "bootstrap",
            kind: OptionKind::Integer(1, 999_999),
            value: "N",
            default: "",
            help: "In submissions: also the 95 % interval of kaggle, arcprize and all_tests from N resamples of the tasks",
        },
        OptionSpec {
            name: "seed",
            kind: OptionKind::Integer(0, i64::MAX),
            value: "N",
            default: "0",
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
            seed: options.whole("seed")?,
            tasks: OnceLock::new(),
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
    /// Whether the records are tasks, as the first one tells.
    tasks: OnceLock<bool>,
}

/// Pairs of grids, and tasks.
struct ArcExamples {
    submissions: ArcSubmissions,
}

/// The evidence of either.
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

/// What evidence is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Pairs of grids, or nothing.
    Pairs,
    Tasks,
    /// A single output of a task.
    Output,
    /// Both, as of two data sets: no score is of both.
    Mixed,
}

impl ArcEvidence {
    fn kind(&self) -> Kind {
        let submissions = &self.submissions;
        match (self.pairs.pairs, submissions.outputs.pairs) {
            (_, 0) => Kind::Pairs,
            (1.., _) => Kind::Mixed,
            _ if submissions.tasks.is_empty() => Kind::Output,
            _ => Kind::Tasks,
        }
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
    fn options(&self, join: JoinPolicy) -> SubmissionOptions {
        SubmissionOptions {
            attempts: self.metric.submissions.attempts,
            strict: self.strict,
            ignore_unknown: join.ignore_extra,
        }
    }

    fn example(&self, record: &Record<'_>) -> Result<Example, FieldError> {
        let reference = json(record.reference, "null");
        let prediction = json(record.prediction, "null");
        if is_task(reference) {
            let truth = parse_outputs(reference).map_err(FieldError::reference)?;
            let attempts = parse_attempts(prediction, truth.len(), self.options(record.join))
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
        let evidence = |submissions: SubmissionState| ArcEvidence {
            pairs: ArcState::default(),
            submissions,
        };
        let groups = [("task", id)];
        let groups = if self.by_task { &groups[..] } else { &[] };
        let outputs = truth.iter().enumerate().map(|(place, truth)| {
            let attempts = attempts.get(place).map_or(&[][..], Vec::as_slice);
            let output = metric.measure_output(attempts, truth);
            (place.to_string(), evidence(output))
        });
        let task = evidence(metric.measure(attempts, truth));
        sink.joint(groups, task, truth.len(), outputs);
    }

    fn read_submission(
        &self,
        references: &Document,
        predictions: &Document,
        join: JoinPolicy,
    ) -> Result<(Solutions, Submission), ReadError> {
        let file = |name, text| File { name, text };
        let solutions = match &references.content {
            Content::Text(text) => Solutions::parse(file(&references.name, text))?,
            Content::Folder(folder) => Solutions::read_folder(folder)?,
        };
        let options = self.options(join);
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
        let example = self.example(record)?;
        let is_task = matches!(example, Example::Task(..));
        let expected = *self.tasks.get_or_init(|| is_task);
        if is_task != expected {
            let (grid, task) = ("a grid", "the outputs of a task");
            let (found, expected) = if is_task { (task, grid) } else { (grid, task) };
            return Err(FieldError::reference(format!(
                "found {found}: expected {expected}, as in the first record"
            )));
        }
        match example {
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
        join: JoinPolicy,
        sink: &mut Sink<'_, ArcExamples>,
    ) -> Result<(), DocumentError> {
        let (solutions, submission) = self
            .read_submission(&references, &predictions, join)
            .map_err(|error| DocumentError(error.to_string()))?;
        for (id, truth) in solutions.tasks() {
            sink.record(id);
            let attempts = submission.attempts(id);
            self.task(sink, id, attempts, truth);
        }
        let (mut missing, mut of_missing_tasks) = (0, 0);
        for (id, truth) in solutions.tasks() {
            let attempts = submission.attempts(id);
            let tried = attempts.iter().take(truth.len());
            missing += truth.len() - tried.filter(|attempts| !attempts.is_empty()).count();
            if !submission.has(id) {
                of_missing_tasks += truth.len();
            }
        }
        sink.missing(missing as u64);
        sink.note(
            "an output of a task in the submission has no attempt and scores 0",
            (missing - of_missing_tasks) as u64,
        );
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
        join: JoinPolicy,
        drawing: Drawing,
        put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DocumentError> {
        let (solutions, submission) = self
            .read_submission(references, predictions, join)
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
        let nothing = SubmissionState::default();
        let (kind, submissions) = match state.kind() {
            Kind::Pairs => {
                let score = ArcGrids.compute(&state.pairs);
                let mut scores = cells(&score);
                scores.insert(2, ("exact".to_owned(), score.exact));
                return scores;
            }
            Kind::Mixed => (Kind::Tasks, &nothing),
            kind => (kind, &state.submissions),
        };
        let metric = &self.metric.submissions;
        let score = metric.compute(submissions);
        if kind == Kind::Output {
            let mut scores = vec![("solved".to_owned(), score.outputs.exact)];
            scores.extend(pass_at(&score));
            scores.extend(cells(&score.outputs));
            return scores;
        }
        let SolvedShares {
            kaggle,
            arcprize,
            all_tests,
        } = score.solved;
        let mut scores = named(&[
            ("kaggle", kaggle),
            ("arcprize", arcprize),
            ("all_tests", all_tests),
        ]);
        scores.extend(pass_at(&score));
        let mut add = |name: &str, score: Option<f64>| scores.push((name.to_owned(), score));
        let interval = metric.bootstrap(submissions, self.resamples, self.seed);
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
        scores.extend(cells(&score.outputs));
        scores.push(by_task(&score));
        scores
    }

    fn group(&self, name: &str, state: &ArcEvidence) -> Group {
        let state = &state.submissions;
        let score = self.metric.submissions.compute(state);
        // What tells tasks apart; the rest would be a table too wide to read.
        let mut scores = named(&[
            ("kaggle", score.solved.kaggle),
            ("arcprize", score.solved.arcprize),
        ]);
        scores.extend(pass_at(&score));
        scores.push(by_task(&score));
        let counts = [
            ("outputs", state.outputs.pairs),
            ("exact", state.outputs.exact),
        ];
        Group {
            name: name.to_owned(),
            scores,
            counts: named(&counts),
        }
    }

    fn counts(&self, state: &ArcEvidence) -> Named<serde_json::Value> {
        let cells = |outputs: &ArcState, invalid: u64| {
            [
                ("matches", outputs.matches),
                ("padded_cells", outputs.padded_cells),
                ("exact", outputs.exact),
                ("invalid", invalid),
                ("shape_matches", outputs.shape_matches),
                ("palette_matches", outputs.palette_matches),
            ]
        };
        let (kind, pairs, state) = (state.kind(), &state.pairs, &state.submissions);
        let mut counts = Vec::new();
        match kind {
            Kind::Pairs => {
                counts.extend(cells(pairs, pairs.invalid));
                counts.extend([("null", pairs.missing), ("pairs", pairs.pairs)]);
                return named(&counts);
            }
            Kind::Mixed => {
                return named(&[("tasks", state.task_count()), ("pairs", pairs.pairs)]);
            }
            Kind::Output => {}
            Kind::Tasks => counts.extend([
                ("tasks", state.task_count()),
                ("solved_tasks", state.solved_tasks()),
                ("missing_tasks", state.missing_tasks),
                ("extra_outputs", state.extra_outputs),
            ]),
        }
        counts.extend([
            ("outputs", state.outputs.pairs),
            ("missing_outputs", state.missing_outputs),
            ("solved_at_1", state.solved_within(1)),
            ("attempts", state.attempts),
            ("extra_attempts", state.extra_attempts),
        ]);
        counts.extend(cells(&state.outputs, state.invalid_attempts));
        named(&counts)
    }

    fn warnings(&self, state: &ArcEvidence, notes: &Notes) -> Vec<String> {
        let (pairs, submissions) = (&state.pairs, &state.submissions);
        let mut warnings = noted(notes);
        if state.kind() == Kind::Mixed {
            warnings.push(format!(
                "the examples are {} × a pair of grids and {} × a task: no score is of both",
                pairs.pairs,
                submissions.task_count()
            ));
        }
        let counts = [
            (
                pairs.invalid,
                "a prediction is no ARC grid and scores 0".to_owned(),
            ),
            (
                submissions.invalid_attempts,
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

/// Scores or counts by name.
fn named<T: Copy, U: From<T>>(values: &[(&str, T)]) -> Named<U> {
    let named = |&(name, value): &(&str, T)| (name.to_owned(), value.into());
    values.iter().map(named).collect()
}

fn pass_at(score: &SubmissionScore) -> impl Iterator<Item = (String, Option<f64>)> {
    let shares = (1..).zip(&score.pass_at);
    shares.map(|(attempts, share)| (format!("pass_at_{attempts}"), *share))
}

/// The scores of the cells of grids.
fn cells(score: &ArcScore) -> Named<Option<f64>> {
    named(&[
        ("cell_accuracy", score.cell_accuracy),
        ("cell_accuracy_pooled", score.cell_accuracy_pooled),
        ("shape_match", score.shape_match),
        ("palette_match", score.palette_match),
    ])
}

fn by_task(score: &SubmissionScore) -> (String, Option<f64>) {
    let name = "cell_accuracy_by_task".to_owned();
    (name, score.cell_accuracy_by_task)
}

/// The first few names of a list, each cut if it is long.
fn first_few(names: &[String]) -> String {
    const SHOWN: usize = 5;
    const MOST: usize = 80;
    let short = |name: &String| match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}...", &name[..end]),
        None => format!("{name:?}"),
    };
    let shown: Vec<String> = names.iter().take(SHOWN).map(short).collect();
    let more = if names.len() > SHOWN { ", ..." } else { "" };
    shown.join(", ") + more
}

#[cfg(test)]
mod tests {
    use crate::{Evidence, Options, Value, find};

    #[test]
    fn evidence_of_pairs_and_of_tasks_has_no_score_together() {
        let part = |reference: &str, prediction: &str| -> Box<dyn Evidence> {
            let scorer = find("arc").unwrap().scorer(&Options::default()).unwrap();
            let mut evidence = scorer.start();
            let record = super::Record::new("1", Value::Json(prediction), Value::Json(reference));
            evidence.update(&[record], None).unwrap();
            evidence
        };
        let pair = || part("[[1]]", "[[2]]");
        let task = || part("[[[1]]]", r#"[{"attempt_1": [[1]]}]"#);
        assert_eq!(pair().report().score("exact"), Some(0.0));
        assert_eq!(task().report().score("kaggle"), Some(1.0));
        for (mut first, second) in [(pair(), task()), (task(), pair())] {
            first.merge(second).unwrap();
            let report = first.report();
            assert!(report.scores.iter().all(|(_, score)| score.is_none()));
            assert_eq!(
                report.counts,
                [
                    ("tasks".to_owned(), 1.into()),
                    ("pairs".to_owned(), 1.into())
                ]
            );
            assert_eq!(
                report.warnings,
                ["the examples are 1 × a pair of grids and 1 × a task: no score is of both"]
            );
        }
    }
}
