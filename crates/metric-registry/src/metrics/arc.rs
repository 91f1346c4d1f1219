//! ARC grids, and submissions of them.

use std::num::NonZeroU16;

use metric_core::{Malformed, Metric, Reader, Writer, Written};
use metric_grid::read::{
    MAX_ATTEMPTS, Solutions, Submission, SubmissionOptions, has_text_attempts, is_solutions,
};
use metric_grid::{
    ArcExamples, ArcScore, ArcState, ArcSubmissions, Attempt, Example, ExampleKind, ExampleScore,
    ExamplesState, Grid, SolvedShares, SubmissionScore, VERSION,
};
use metric_record::{FieldError, JoinPolicy, Kind, Message, ReadError, Record, Side, json};
use serde_json::json;

use crate::numbers::named;
use crate::{
    Asked, Chart, Counted, DataSet, DataSetError, Demo, Drawing, Entry, Facts, Header, Input,
    Named, Numbers, OptionError, OptionSpec, Options, PairOf, Reading, Scope, ScoreSpec, Shape,
    Show, Sink, Unanswered, Unified, scorer,
};

pub(crate) const ARC: Entry = Entry {
    name: "arc",
    class: "ARC",
    question: "Are ARC tasks solved? Which cells are correct?",
    programs: "ARC Prize",
    shapes: &[Shape::Grids.as_is(), Shape::GridTasks.with(&[])],
    tried: &[&[("attempts", "3"), ("groups", "task")]],
    help: "ARC grids and submissions: solved outputs and tasks, exact match, padded cell accuracy",
    values: (
        "a grid [[int]], 1 to 30 on a side, cells 0 to 9; for a submission the grids of a task's test outputs, as in Kaggle's file of solutions {task: [grid]}, or a folder of ARC tasks",
        "a grid, or null for none. For a submission Kaggle's file {task: [{\"attempt_1\": grid, \"attempt_2\": grid}]}, the table output_id,output of 2019 and 2024 (.csv), or a folder of arc-agi-benchmarking's files. In these files a task that the submission lacks scores 0, and one that the solutions lack is left out (with --strict it is an error, unless --extra ignore); a warning names both",
    ),
    demos: &[
        Demo::new(
            "ARC tasks",
            ["arc-solutions.jsonl", "arc-answers.jsonl"],
            &["cell_accuracy", "exact"],
        ),
        Demo::new(
            "ARC submission",
            ["arc-tasks.json", "arc-submission.json"],
            &["kaggle", "arcprize", "all_tests", "pass_at_1"],
        ),
    ],
    options: &[
        OptionSpec::integer(
            "attempts",
            "N",
            1..=MAX_ATTEMPTS as i64,
            "In submissions: number of attempts per output that count",
        )
        .or("2"),
        OptionSpec::flag(
            "strict",
            "Refuse invalid predicted grids instead of counting them as misses. Also refuse attempts, tasks and outputs of a submission that do not belong there",
        ),
        OptionSpec::groups(
            || vec!["none", "task"],
            "In submissions: tables in addition to the total",
        ),
    ],
    scores: &[
        ScoreSpec::higher("cell_accuracy"),
        ScoreSpec::higher("cell_accuracy_pooled"),
        ScoreSpec::higher("exact").proportion("exact", "pairs"),
        ScoreSpec::higher("shape_match").proportion("shape_matches", "pairs"),
        ScoreSpec::higher("palette_match").proportion("palette_matches", "pairs"),
        ScoreSpec::higher("kaggle"),
        ScoreSpec::higher("arcprize"),
        ScoreSpec::higher("all_tests"),
        ScoreSpec::higher("pass_at_").by("N"),
        ScoreSpec::higher("solved").proportion("exact", "outputs"),
        ScoreSpec::higher("cell_accuracy_by_task"),
    ],
    groups: &["task"],
    details: true,
    drawings: &[Drawing::Svg, Drawing::Text, Drawing::ColoredText],
    charts: &[Chart::Grids],
    input: Input::Either(is_solutions),
    build: &|options| {
        let reading = ArcReading {
            metric: ArcExamples {
                submissions: ArcSubmissions {
                    attempts: attempts(options)?,
                },
            },
            strict: options.has("strict"),
            by_task: options.is("groups", "task"),
        };
        Ok(scorer("arc", VERSION, reading))
    },
    ..Entry::BASE
};

fn attempts(options: &Options) -> Result<NonZeroU16, OptionError> {
    let attempts = options.counting("attempts", MAX_ATTEMPTS.into())?;
    attempts
        .and_then(|attempts| attempts.try_into().ok())
        .ok_or_else(|| OptionError::new("attempts", "", "a value is needed".to_owned()))
}

struct ArcReading {
    metric: ArcExamples,
    strict: bool,
    by_task: bool,
}

/// The kind of records in a data set: all are pairs of grids, or all are tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Records {
    #[default]
    Unknown,
    Pairs,
    Tasks,
}

impl Records {
    const NAMES: [(&str, Self); 3] = [
        ("Unknown", Self::Unknown),
        ("Pairs", Self::Pairs),
        ("Tasks", Self::Tasks),
    ];
}

/// The name of the kind.
impl Written for Records {
    fn write(&self, to: &mut Writer) {
        let name = Self::NAMES.iter().find(|(_, kind)| kind == self);
        to.text(name.map_or("", |(name, _)| name));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let found = from.text()?;
        let kind = Self::NAMES.iter().find(|(name, _)| *name == found);
        kind.map(|(_, kind)| *kind)
            .ok_or_else(|| "expected a kind of records".into())
    }
}

impl Header for Records {
    fn unify(&mut self, other: &Self) -> Result<Unified, Message> {
        match (*self, *other) {
            (Self::Unknown, other) => *self = other,
            (_, Self::Unknown) => {}
            (ours, other) if ours == other => {}
            (_, other) => {
                let (grid, task) = ("a grid", "the outputs of a task");
                let (found, expected) = match other {
                    Self::Tasks => (task, grid),
                    _ => (grid, task),
                };
                return Err(Message::from(format!(
                    "found {found}: expected {expected}, as in the first record"
                )));
            }
        }
        Ok(Unified::Kept)
    }
}

impl ArcReading {
    fn options(&self, join: JoinPolicy) -> SubmissionOptions {
        SubmissionOptions::default()
            .with_attempts(self.metric.submissions.attempts)
            .with_strict(self.strict)
            .with_ignore_unknown(join.ignore_extra)
    }

    /// Adds a task, whose outputs are the examples.
    fn task(&self, sink: &mut Sink<'_, Self>, id: &str, attempts: &[Vec<Attempt>], truth: &[Grid]) {
        let metric = &self.metric.submissions;
        let groups = [("task", id)];
        let groups = if self.by_task { &groups[..] } else { &[] };
        let outputs = truth.iter().enumerate().map(|(index, truth)| {
            let attempts = attempts.get(index).map_or(&[][..], Vec::as_slice);
            let output = metric.measure_output(attempts, truth);
            (index.to_string(), ExamplesState::from(output))
        });
        let task = ExamplesState::from(metric.measure(attempts, truth));
        sink.joint(groups, task, truth.len(), outputs);
    }

    fn read_submission(&self, data: &DataSet) -> Result<(Solutions, Submission), DataSetError> {
        let solutions = Solutions::read(&data.references)?;
        let options = self.options(data.join);
        let submission = Submission::read(&data.predictions, &solutions, options)?;
        Ok((solutions, submission))
    }

    fn draw(&self, title: String, example: Example, drawing: Drawing) -> String {
        let picture = example.picture(title, self.metric.submissions.attempts);
        match drawing {
            Drawing::Svg => picture.svg(),
            Drawing::Text => picture.text(false),
            Drawing::ColoredText => picture.text(true),
            Drawing::Alignment => String::new(),
        }
    }
}

impl Reading for ArcReading {
    type Metric = ArcExamples;
    type Header = Records;

    fn metric(&self) -> &ArcExamples {
        &self.metric
    }

    fn facts(&self) -> Facts {
        Facts::signed([("attempts", self.metric.submissions.attempts)])
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let example = Example::read(record, self.options(record.join))?;
        let records = match example {
            Example::Pair(..) => Records::Pairs,
            Example::Task(..) => Records::Tasks,
        };
        sink.share(Side::Reference, records)?;
        match example {
            Example::Task(attempts, truth) => {
                let mut all = attempts.iter().flatten();
                if all.any(|attempt| *attempt == Attempt::Invalid)
                    && let Ok(json) = record.prediction.to_json_or("null")
                    && has_text_attempts(&json)
                {
                    sink.count_record(&grid_as_text(), record.id);
                }
                self.task(sink, &record.id.to_string(), &attempts, &truth);
            }
            pair => {
                if matches!(pair, Example::Pair(Attempt::Invalid, _))
                    && let Ok(json) = record.prediction.to_json_or("null")
                    && json::kind(&json) == Kind::String
                {
                    sink.count_record(&grid_as_text(), record.id);
                }
                sink.example(&pair, &());
            }
        }
        Ok(())
    }

    /// The fewest wrong cells are the closest.
    fn closeness(&self, state: &ExamplesState, _: Option<PairOf<'_, Self>>) -> Option<f64> {
        let pairs = [&state.pairs, &state.submissions.outputs];
        let outputs = pairs.into_iter().find(|outputs| outputs.pairs == 1)?;
        let wrong = outputs.padded_cells.saturating_sub(outputs.matches);
        (outputs.matches > 0).then(|| 1.0 / (1.0 + wrong as f64))
    }

    fn numbers(&self, state: &ExamplesState, _header: &Records, asked: Asked<'_>) -> Numbers {
        if let Scope::Group("task", _) = asked.scope {
            return self.of_task(state);
        }
        let warnings = asked.remarks.map(|_| self.warnings(state));
        Numbers {
            scores: self.scores(state),
            counts: counts(state),
            warnings: warnings.unwrap_or_default(),
            details: asked.details.then(|| details(state)),
            ..Numbers::default()
        }
    }

    fn unanswered(&self, record: &mut Record<'_>) -> Unanswered {
        Unanswered {
            examples: Example::grids_in(record.reference),
            is_correct: false,
        }
    }

    fn show(&self) -> &dyn Show {
        self
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        let (solutions, submission) = self.read_submission(&data)?;
        let (mut missing, mut of_missing_tasks) = (0, 0);
        let tasks = solutions.tasks().filter(|(id, _)| data.holds(id));
        for (id, truth) in tasks {
            sink.record(id);
            sink.share(Side::Reference, Records::Tasks)
                .map_err(|error| DataSetError::Read(ReadError::new("", error.problem)))?;
            let attempts = submission.attempts(id);
            self.task(sink, id, attempts, truth);
            if sink.wants_inputs() {
                let reference: Vec<_> = truth.iter().map(rows).collect();
                let prediction: Vec<_> = attempts.iter().map(|tried| attempts_of(tried)).collect();
                sink.inputs(json!(reference).to_string(), json!(prediction).to_string());
            }
            let tried = attempts.iter().take(truth.len());
            let without_attempt =
                truth.len() - tried.filter(|attempts| !attempts.is_empty()).count();
            sink.missing(without_attempt as u64);
            missing += without_attempt;
            if !submission.has(id) {
                of_missing_tasks += truth.len();
            }
        }
        let without_attempt = Counted::new(
            "output of a task in the submission has no attempt and scores 0",
            "outputs of tasks in the submission have no attempt and score 0",
        );
        sink.count(&without_attempt, (missing - of_missing_tasks) as u64);
        let held = |ids: &[String]| -> Vec<String> {
            ids.iter().filter(|id| data.holds(id)).cloned().collect()
        };
        let missing = Counted::new(
            "task is not in the submission and scores 0",
            "tasks are not in the submission and score 0",
        );
        let unknown = Counted::new(
            "task is not in the solutions and was left out",
            "tasks are not in the solutions and were left out",
        );
        for (what, ids) in [
            (missing, &submission.missing),
            (unknown, &submission.unknown),
        ] {
            for id in held(ids) {
                sink.count_record(&what, id);
            }
        }
        let unknown = submission.unknown_fields.iter();
        let unknown = unknown.filter(|(id, _)| data.holds(id));
        let no_attempt = Counted::new(
            "field is not one of attempt_1, attempt_2, ... and was left out",
            "fields are not among attempt_1, attempt_2, ... and were left out",
        );
        sink.count(&no_attempt, unknown.map(|(_, fields)| fields).sum());
        for id in held(&submission.with_texts) {
            sink.count_record(&grid_as_text(), id);
        }
        Ok(())
    }
}

/// The outcomes of the outputs, and for submissions the tasks by their number of solved outputs.
fn details(state: &ExamplesState) -> serde_json::Value {
    let (pairs, submissions) = (&state.pairs, &state.submissions);
    let is_pairs = state.kind() == ExampleKind::Pairs;
    let (outputs, invalid, missing) = if is_pairs {
        (pairs, pairs.invalid, pairs.missing)
    } else {
        (&submissions.outputs, 0, submissions.missing_outputs)
    };
    let other_shape = outputs
        .pairs
        .saturating_sub(outputs.shape_matches + invalid + missing);
    let outcomes = [
        ("exact", outputs.exact),
        ("shape", outputs.shape_matches.saturating_sub(outputs.exact)),
        ("other_shape", other_shape),
        ("invalid", invalid),
        ("missing", missing),
    ];
    let outcomes = outcomes.map(|(outcome, count)| json!({"outcome": outcome, "count": count}));
    let mut details = json!({"outputs": outputs.pairs, "outcomes": outcomes});
    if !is_pairs {
        let tasks = submissions.tasks.iter().flat_map(|(outputs, by_solved)| {
                let tasks = by_solved.iter();
                tasks.map(move |(solved, tasks)| json!({"outputs": outputs, "solved": solved, "tasks": tasks}))
            });
        details["tasks"] = tasks.collect();
        details["solved_at"] = json!(submissions.solved_at);
    }
    details
}

/// The note of a prediction with a text in place of a grid, perhaps that of the grid.
fn grid_as_text() -> Counted {
    Counted::new(
        "prediction has a string where a grid is expected, a list of rows such as [[1, 2], [3, 4]]",
        "predictions have strings where grids are expected, lists of rows such as [[1, 2], [3, 4]]",
    )
}

/// The rows of a grid.
fn rows(grid: &Grid) -> Vec<Vec<u8>> {
    let rows = grid.as_array();
    rows.outer_iter().map(|row| row.to_vec()).collect()
}

/// The attempts at an output, by name; one that is not a grid is null.
fn attempts_of(attempts: &[Attempt]) -> serde_json::Value {
    let named = (1..).zip(attempts).map(|(index, attempt): (usize, _)| {
        let grid = match attempt {
            Attempt::Grid(grid) => json!(rows(grid)),
            Attempt::Missing | Attempt::Invalid => serde_json::Value::Null,
        };
        (format!("attempt_{index}"), grid)
    });
    named.collect::<serde_json::Map<_, _>>().into()
}

impl Show for ArcReading {
    fn picture(&self, record: &mut Record<'_>, drawing: Drawing) -> Result<String, FieldError> {
        let example = Example::read(record, self.options(record.join))?;
        Ok(self.draw(record.id.to_string(), example, drawing))
    }

    fn draw_data_set(
        &self,
        data: DataSet,
        drawing: Drawing,
        put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DataSetError> {
        let (solutions, submission) = self.read_submission(&data)?;
        for (id, truth) in solutions.tasks().filter(|(id, _)| data.holds(id)) {
            put(id, &|| {
                let attempts = submission.attempts(id).to_vec();
                let example = Example::Task(attempts, truth.to_vec());
                self.draw(id.to_owned(), example, drawing)
            });
        }
        Ok(())
    }
}

impl ArcReading {
    fn scores(&self, state: &ExamplesState) -> Named<Option<f64>> {
        let score = match self.metric.compute(state) {
            ExampleScore::Pairs(score) => {
                let mut scores = cells(&score);
                scores.insert(2, ("exact".to_owned(), score.exact));
                return scores;
            }
            ExampleScore::Outputs(score) => {
                let mut scores = vec![("solved".to_owned(), score.outputs.exact)];
                scores.extend(pass_at(&score));
                scores.extend(cells(&score.outputs));
                return scores;
            }
            ExampleScore::Tasks(score) => score,
            // The header keeps them apart.
            ExampleScore::Mixed => return Vec::new(),
        };
        let SolvedShares {
            kaggle,
            arcprize,
            all_tests,
            ..
        } = score.solved;
        let mut scores = named([
            ("kaggle", kaggle),
            ("arcprize", arcprize),
            ("all_tests", all_tests),
        ]);
        scores.extend(pass_at(&score));
        scores.extend(cells(&score.outputs));
        scores.push(by_task(&score));
        scores
    }

    fn of_task(&self, state: &ExamplesState) -> Numbers {
        let state = &state.submissions;
        let score = self.metric.submissions.compute(state);
        // The columns that tell tasks apart; with the rest the table would be too wide to read.
        let mut scores = named([
            ("kaggle", score.solved.kaggle),
            ("arcprize", score.solved.arcprize),
        ]);
        scores.extend(pass_at(&score));
        scores.push(by_task(&score));
        Numbers {
            scores,
            counts: named([
                ("outputs", state.outputs.pairs),
                ("exact", state.outputs.exact),
            ]),
            ..Numbers::default()
        }
    }

    fn warnings(&self, state: &ExamplesState) -> Vec<Message> {
        let (pairs, submissions) = (&state.pairs, &state.submissions);
        let rest = format!("after the {} that count", self.metric.submissions.attempts);
        let counts = [
            (
                pairs.invalid,
                Counted::new(
                    "prediction is not an ARC grid and scores 0",
                    "predictions are not ARC grids and score 0",
                ),
            ),
            (
                submissions.invalid_attempts,
                Counted::new(
                    "attempt is null or not an ARC grid and scores 0",
                    "attempts are null or not ARC grids and score 0",
                ),
            ),
            (
                submissions.extra_attempts,
                Counted::new(
                    format!("attempt comes {rest} and was left out"),
                    format!("attempts come {rest} and were left out"),
                ),
            ),
            (
                submissions.extra_outputs,
                Counted::new(
                    "output is not among those of its task and was left out",
                    "outputs are not among those of their tasks and were left out",
                ),
            ),
        ];
        Counted::warnings(counts).collect()
    }
}

fn counts(state: &ExamplesState) -> Named<serde_json::Value> {
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
        ExampleKind::Pairs => {
            counts.extend(cells(pairs, pairs.invalid));
            counts.extend([("null", pairs.missing), ("pairs", pairs.pairs)]);
            return named(counts);
        }
        ExampleKind::Tasks => counts.extend([
            ("tasks", state.task_count()),
            ("solved_tasks", state.solved_tasks()),
            ("missing_tasks", state.missing_tasks),
            ("extra_outputs", state.extra_outputs),
        ]),
        ExampleKind::Outputs | ExampleKind::Mixed => {}
    }
    counts.extend([
        ("outputs", state.outputs.pairs),
        ("missing_outputs", state.missing_outputs),
        ("solved_at_1", state.solved_within(1)),
        ("attempts", state.attempts),
        ("extra_attempts", state.extra_attempts),
    ]);
    counts.extend(cells(&state.outputs, state.invalid_attempts));
    named(counts)
}

fn pass_at(score: &SubmissionScore) -> impl Iterator<Item = (String, Option<f64>)> {
    let shares = (1..).zip(&score.pass_at);
    shares.map(|(attempts, share)| (format!("pass_at_{attempts}"), *share))
}

/// The scores of the cells of grids.
fn cells(score: &ArcScore) -> Named<Option<f64>> {
    named([
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

#[cfg(test)]
mod tests {
    use metric_record::{Record, Value};

    use crate::{Options, State, find};

    #[test]
    fn pairs_and_tasks_are_not_one_data_set() {
        let scorer = find("arc").unwrap().scorer(&Options::default()).unwrap();
        let part = |reference: &str, prediction: &str| -> State {
            let mut state = scorer.start();
            let record = Record::new("1", Value::json(prediction), Value::json(reference));
            state.update(&scorer, &mut [record]).unwrap();
            state
        };
        let pair = part("[[1]]", "[[2]]");
        let task = part("[[[1]]]", r#"[{"attempt_1": [[1]]}]"#);
        assert_eq!(pair.report().score("exact"), Some(0.0));
        assert_eq!(task.report().score("kaggle"), Some(1.0));
        for (first, second) in [(&pair, &task), (&task, &pair)] {
            let mut first = first.clone();
            let before = first.body();
            let error = first.merge(second).unwrap_err().to_string();
            assert!(error.contains("as in the first record"), "{error}");
            assert_eq!(first.body(), before);
        }
    }
}
