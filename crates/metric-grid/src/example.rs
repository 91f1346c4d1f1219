use std::num::NonZeroU16;

use metric_core::{Metric, NamedScores, fields};

use crate::{
    ArcGrids, ArcScore, ArcState, ArcSubmissions, Attempt, Grid, Picture, PictureRow,
    SubmissionScore, SubmissionState,
};

/// An example of a data set of ARC grids: one pair of grids, or one task.
///
/// The feature `read` reads an example from a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Example {
    /// A predicted grid and its reference.
    Pair(Attempt, Grid),
    /// The attempts at each test output of a task, and the true outputs.
    Task(Vec<Vec<Attempt>>, Vec<Grid>),
}

impl Example {
    /// Returns the example as a picture, with at most `attempts` attempts per output.
    ///
    /// ```
    /// use std::num::NonZeroU16;
    ///
    /// use metric_grid::{Example, Grid};
    ///
    /// let grid = Grid::from_rows(&[[7]])?;
    /// let task = Example::Task(vec![vec![grid.clone().into(); 3]], vec![grid]);
    /// let picture = task.picture("0a1b2c3d", NonZeroU16::MIN.saturating_add(1));
    /// assert_eq!(picture.rows[0].attempts.len(), 2);
    /// # Ok::<(), metric_grid::InvalidGrid>(())
    /// ```
    #[must_use]
    pub fn picture(self, title: impl Into<String>, attempts: NonZeroU16) -> Picture {
        let limit = usize::from(attempts.get());
        let rows = match self {
            Self::Pair(attempt, truth) => vec![PictureRow {
                truth,
                attempts: vec![attempt],
            }],
            Self::Task(attempts, truth) => {
                let attempts = attempts.into_iter().chain(std::iter::repeat(Vec::new()));
                let rows = truth.into_iter().zip(attempts);
                rows.map(|(truth, mut attempts)| {
                    attempts.truncate(limit);
                    PictureRow { truth, attempts }
                })
                .collect()
            }
        };
        Picture {
            title: title.into(),
            rows,
        }
    }
}

/// Pairs of grids or tasks, for data sets of either kind.
///
/// It scores pairs by [`ArcGrids`] and tasks by [`ArcSubmissions`]. An [`Example`] has both sides, so
/// that a grid is never compared with a task; the reference is empty. A state of both pairs and tasks
/// has no score.
///
/// ```
/// use metric_core::{Merge, Metric};
/// use metric_grid::{ArcExamples, Attempt, Example, ExampleScore, Grid};
///
/// let truth = Grid::from_rows(&[[1, 2]])?;
/// let near = Attempt::from(Grid::from_rows(&[[1, 3]])); // 1 of 2 cells
/// let metric = ArcExamples::default();
///
/// let mut state = metric.measure(&Example::Pair(near.clone(), truth.clone()), &());
/// let ExampleScore::Pairs(score) = metric.compute(&state) else { panic!("not pairs") };
/// assert_eq!(score.cell_accuracy, Some(1.0 / 2.0));
///
/// let task = Example::Task(vec![vec![near, truth.clone().into()]], vec![truth]);
/// let of_task = metric.measure(&task, &());
/// let ExampleScore::Tasks(score) = metric.compute(&of_task) else { panic!("not tasks") };
/// assert_eq!(score.solved.kaggle, Some(1.0)); // at the second attempt
///
/// state.merge(of_task);
/// assert_eq!(metric.compute(&state), ExampleScore::Mixed);
/// # Ok::<(), metric_grid::InvalidGrid>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArcExamples {
    /// The rule by which tasks are scored.
    pub submissions: ArcSubmissions,
}

/// The state of [`ArcExamples`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExamplesState {
    /// Pairs of grids.
    pub pairs: ArcState,
    /// Tasks, and single outputs of tasks.
    pub submissions: SubmissionState,
}

/// The kind of examples in an [`ExamplesState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleKind {
    /// Pairs of grids, or there are no examples.
    Pairs,
    /// Tasks.
    Tasks,
    /// Single outputs of a task, from [`ArcSubmissions::measure_output`].
    Outputs,
    /// Both pairs and tasks, as of two data sets.
    Mixed,
}

impl ExamplesState {
    /// Returns the kind of the examples.
    #[must_use]
    pub fn kind(&self) -> ExampleKind {
        let submissions = &self.submissions;
        match (self.pairs.pairs, submissions.outputs.pairs) {
            (_, 0) => ExampleKind::Pairs,
            (1.., _) => ExampleKind::Mixed,
            _ if submissions.tasks.is_empty() => ExampleKind::Outputs,
            _ => ExampleKind::Tasks,
        }
    }
}

impl From<ArcState> for ExamplesState {
    fn from(pairs: ArcState) -> Self {
        Self {
            pairs,
            ..Self::default()
        }
    }
}

impl From<SubmissionState> for ExamplesState {
    fn from(submissions: SubmissionState) -> Self {
        Self {
            submissions,
            ..Self::default()
        }
    }
}

fields!(ExamplesState { pairs, submissions });

/// The score of [`ArcExamples`], by the kind of the examples.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ExampleScore {
    /// The score of pairs of grids; undefined without examples.
    Pairs(ArcScore),
    /// The score of tasks.
    Tasks(SubmissionScore),
    /// The score of single outputs of a task, whose parts by task are undefined.
    Outputs(SubmissionScore),
    /// No score covers both pairs and tasks.
    Mixed,
}

/// Those of the kind of examples; none if examples are mixed.
impl NamedScores for ExampleScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        match self {
            Self::Pairs(score) => score.named_scores(),
            Self::Tasks(score) | Self::Outputs(score) => score.named_scores(),
            Self::Mixed => Vec::new(),
        }
    }
}

impl Metric for ArcExamples {
    type Prediction = Example;
    type Reference = ();
    type State = ExamplesState;
    type Score = ExampleScore;

    fn update(&self, state: &mut ExamplesState, example: &Example, (): &()) {
        match example {
            Example::Pair(attempt, truth) => ArcGrids.update(&mut state.pairs, attempt, truth),
            Example::Task(attempts, truth) => {
                self.submissions
                    .update(&mut state.submissions, attempts, truth);
            }
        }
    }

    fn compute(&self, state: &ExamplesState) -> ExampleScore {
        let submissions = || self.submissions.compute(&state.submissions);
        match state.kind() {
            ExampleKind::Pairs => ExampleScore::Pairs(ArcGrids.compute(&state.pairs)),
            ExampleKind::Tasks => ExampleScore::Tasks(submissions()),
            ExampleKind::Outputs => ExampleScore::Outputs(submissions()),
            ExampleKind::Mixed => ExampleScore::Mixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use metric_core::Merge;

    use super::*;

    fn pair() -> ExamplesState {
        let [a, b] = [1, 2].map(|cell| Grid::from_rows(&[[cell]]).unwrap());
        ArcExamples::default().measure(&Example::Pair(a.into(), b), &())
    }

    fn task() -> ExamplesState {
        let grid = Grid::from_rows(&[[1]]).unwrap();
        let task = Example::Task(vec![vec![grid.clone().into()]], vec![grid]);
        ArcExamples::default().measure(&task, &())
    }

    #[test]
    fn kinds() {
        let metric = ArcExamples::default();
        let grid = Grid::from_rows(&[[1]]).unwrap();
        let output = metric.submissions.measure_output(&[], &grid);
        assert_eq!(ExamplesState::default().kind(), ExampleKind::Pairs);
        assert_eq!(pair().kind(), ExampleKind::Pairs);
        assert_eq!(task().kind(), ExampleKind::Tasks);
        assert_eq!(ExamplesState::from(output).kind(), ExampleKind::Outputs);
        for (mut first, second) in [(pair(), task()), (task(), pair())] {
            first.merge(second);
            assert_eq!(first.kind(), ExampleKind::Mixed);
            assert_eq!(metric.compute(&first), ExampleScore::Mixed);
        }
    }

    #[test]
    fn merging_several_times() {
        let mut thrice = task();
        thrice.merge_times(&pair(), 2);
        thrice.merge_times(&task(), 0);
        let mut one_by_one = task();
        one_by_one.merge(pair());
        one_by_one.merge(pair());
        assert_eq!(thrice, one_by_one);
    }

    #[test]
    fn a_picture_has_a_row_per_output() {
        let grid = Grid::from_rows(&[[1]]).unwrap();
        let attempts = vec![vec![Attempt::Missing; 3]];
        let task = Example::Task(attempts, vec![grid.clone(), grid]);
        let picture = task.picture("a", NonZeroU16::MIN);
        let attempts: Vec<_> = picture.rows.iter().map(|row| row.attempts.len()).collect();
        assert_eq!(attempts, [1, 0]);
    }
}
