use metric_core::{Malformed, Merge, Reader, Sum, Writer, Written};

use crate::multilabel::mean;
use crate::{BinaryScores, Multilabel, MultilabelAverage, MultilabelProfile};

/// Rows of a score for each class, with the classes that the example has. They are written in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScoredRows {
    /// The number of classes.
    width: usize,
    /// The scores, row by row.
    scores: Vec<f64>,
    /// Whether the example has the class, row by row.
    actual: Vec<bool>,
    /// The weights of the rows; none if all are 1.
    weights: Vec<f64>,
}

impl ScoredRows {
    pub(crate) fn add(&mut self, scores: &[f64], actual: &[u32], weight: Option<f64>) {
        self.width = scores.len();
        // -0.0 is 0.0.
        self.scores.extend(scores.iter().map(|score| score + 0.0));
        let start = self.actual.len();
        self.actual.resize(start + scores.len(), false);
        for class in actual {
            if let Some(cell) = self.actual.get_mut(start + *class as usize) {
                *cell = true;
            }
        }
        self.weights.extend(weight);
    }

    fn len(&self) -> usize {
        self.scores.len().checked_div(self.width).unwrap_or(0)
    }

    pub(crate) fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    pub(crate) fn total(&self) -> f64 {
        if self.is_weighted() {
            return self.weights.iter().copied().collect::<Sum>().value();
        }
        self.len() as f64
    }

    /// The number or the weight of the examples with a class.
    pub(crate) fn support(&self, class: u32) -> f64 {
        let cells = self.actual.iter().skip(class as usize);
        let rows = cells.step_by(self.width.max(1)).enumerate();
        let rows = rows.filter(|(_, actual)| **actual);
        let weight = |(row, _)| self.weights.get(row).copied().unwrap_or(1.0);
        rows.map(weight).collect::<Sum>().value()
    }

    fn row(&self, row: usize) -> Row<'_> {
        let cells = row * self.width..(row + 1) * self.width;
        Row {
            scores: &self.scores[cells.clone()],
            actual: &self.actual[cells],
            weight: self.weights.get(row).copied(),
        }
    }

    /// The rows in ascending order of all that they have.
    fn sorted(&self) -> Vec<Row<'_>> {
        let mut rows: Vec<Row<'_>> = (0..self.len()).map(|row| self.row(row)).collect();
        rows.sort_by(|a, b| {
            let numbers = |a: &[f64], b: &[f64]| {
                let pairs = a.iter().zip(b);
                pairs
                    .map(|(a, b)| a.total_cmp(b))
                    .find(|order| order.is_ne())
            };
            let by_scores = numbers(a.scores, b.scores);
            let by_weight = || a.weight.unwrap_or(1.0).total_cmp(&b.weight.unwrap_or(1.0));
            by_scores.unwrap_or_else(|| a.actual.cmp(b.actual).then_with(by_weight))
        });
        rows
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Row<'r> {
    scores: &'r [f64],
    actual: &'r [bool],
    weight: Option<f64>,
}

impl PartialEq for ScoredRows {
    fn eq(&self, other: &Self) -> bool {
        self.width == other.width && self.sorted() == other.sorted()
    }
}

impl Merge for ScoredRows {
    fn row_bytes(&self) -> u64 {
        let weights = size_of_val(&*self.weights);
        (size_of_val(&*self.scores) + size_of_val(&*self.actual) + weights) as u64
    }

    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        for _ in 0..times {
            self.width = self.width.max(other.width);
            self.scores.extend_from_slice(&other.scores);
            self.actual.extend_from_slice(&other.actual);
            self.weights.extend_from_slice(&other.weights);
        }
    }
}

impl Written for ScoredRows {
    fn write(&self, to: &mut Writer) {
        let mut bytes = Vec::with_capacity(9 * self.scores.len() + 8 * self.weights.len());
        for row in self.sorted() {
            bytes.extend(row.scores.iter().flat_map(|score| score.to_le_bytes()));
            bytes.extend(row.actual.iter().map(|actual| u8::from(*actual)));
            bytes.extend(row.weight.into_iter().flat_map(f64::to_le_bytes));
        }
        to.list(3);
        self.width.write(to);
        self.is_weighted().write(to);
        to.bytes(&bytes);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let expected = "invalid rows of scores: expected rows of finite scores in ascending order";
        if from.list()? != 3 {
            return Err(expected.into());
        }
        let (width, is_weighted) = (usize::read(from)?, bool::read(from)?);
        let bytes = from.bytes()?;
        let cells = width.checked_mul(9).filter(|cells| *cells > 0);
        let size = cells.and_then(|cells| cells.checked_add(if is_weighted { 8 } else { 0 }));
        let size = size.ok_or_else(|| Malformed::from(expected))?;
        let mut rows = Self {
            width,
            ..Self::default()
        };
        let number = |bytes: &[u8]| {
            bytes
                .as_chunks()
                .0
                .first()
                .map(|it| f64::from_le_bytes(*it))
        };
        for row in bytes.chunks(size) {
            let (Some((scores, rest)), true) = (row.split_at_checked(8 * width), row.len() == size)
            else {
                return Err(expected.into());
            };
            let (actual, weight) = rest.split_at_checked(width).unwrap_or_default();
            rows.scores.extend(scores.chunks(8).filter_map(number));
            rows.actual.extend(actual.iter().map(|byte| *byte == 1));
            rows.weights.extend(number(weight));
            if actual.iter().any(|byte| *byte > 1) {
                return Err(expected.into());
            }
        }
        let is_written_so =
            |number: &f64| number.is_finite() && (*number != 0.0 || number.is_sign_positive());
        let mut in_order = Self::default();
        rows.sorted()
            .iter()
            .for_each(|row| in_order.scores.extend(row.scores));
        let is_sorted = in_order.scores == rows.scores;
        let weights = rows
            .weights
            .iter()
            .all(|weight| weight.is_finite() && *weight >= 0.0);
        if bytes.is_empty() || !weights || !is_sorted || !rows.scores.iter().all(is_written_so) {
            return Err(expected.into());
        }
        Ok(rows)
    }
}

/// The rows of several states, sorted as an average needs them, to be read with a weight for each state.
pub(crate) struct SortedRows {
    width: usize,
    scores: Vec<f64>,
    actual: Vec<bool>,
    weights: Vec<f64>,
    /// The state of each row.
    owners: Vec<u32>,
    /// Problems of one label against the others, each as cells in descending order of their scores: one for each class, one
    /// for all, or one for each row.
    problems: Vec<Vec<usize>>,
}

impl SortedRows {
    pub(crate) fn new(states: &[&ScoredRows], average: MultilabelAverage) -> Self {
        let width = states.iter().map(|state| state.width).max().unwrap_or(0);
        fn join(states: &[&ScoredRows], of: fn(&ScoredRows) -> &Vec<f64>) -> Vec<f64> {
            states.iter().flat_map(|state| of(state)).copied().collect()
        }
        let scores = join(states, |state| &state.scores);
        let actual = states
            .iter()
            .flat_map(|state| &state.actual)
            .copied()
            .collect();
        let owners = (0..).zip(states);
        let owners = owners.flat_map(|(owner, state)| std::iter::repeat_n(owner, state.len()));
        let cells = 0..scores.len();
        let mut problems: Vec<Vec<usize>> = match average {
            MultilabelAverage::Micro => vec![cells.collect()],
            MultilabelAverage::Macro | MultilabelAverage::Weighted => {
                let of_class = |class| cells.clone().skip(class).step_by(width).collect();
                (0..width).map(of_class).collect()
            }
            MultilabelAverage::Samples => {
                let rows = (0..scores.len()).step_by(width.max(1));
                rows.map(|start| (start..start + width).collect()).collect()
            }
        };
        for problem in &mut problems {
            problem.sort_unstable_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        }
        Self {
            width,
            weights: join(states, |state| &state.weights),
            owners: owners.collect(),
            scores,
            actual,
            problems,
        }
    }

    /// The scores of a problem, with the number or the weight of its positives. `times` gives how often a state counts.
    fn problem(&self, cells: &[usize], times: &dyn Fn(usize) -> u64) -> (BinaryScores, f64) {
        let is_tie = |a: &usize, b: &usize| self.scores[*a] == self.scores[*b];
        let ties = cells.chunk_by(is_tie);
        let positives = std::cell::Cell::new(0.0);
        let mut counts = [0_u64; 2];
        let mut sums = <[Sum; 2]>::default();
        let points = ties.map(|tie| {
            for &cell in tie {
                let (row, side) = (cell / self.width, usize::from(!self.actual[cell]));
                let times = times(self.owners[row] as usize);
                match self.weights.get(row) {
                    None => counts[side] += times,
                    Some(weight) => sums[side].add_product(*weight, times as f64),
                }
            }
            let point = if self.weights.is_empty() {
                counts.map(|count| count as f64)
            } else {
                sums.each_ref().map(Sum::value)
            };
            positives.set(point[0]);
            point
        });
        (
            BinaryScores::of_curve(points, self.weights.is_empty()),
            positives.get(),
        )
    }

    /// The scores of the cells of one row.
    fn row_scores(&self, cells: &[usize]) -> BinaryScores {
        let mut counts = [0.0; 2];
        let ties = cells.chunk_by(|a, b| self.scores[*a] == self.scores[*b]);
        let points = ties.map(|tie| {
            let sides = tie.iter().map(|cell| usize::from(!self.actual[*cell]));
            sides.for_each(|side| counts[side] += 1.0);
            counts
        });
        BinaryScores::of_curve(points, true)
    }

    /// The scores of each class, with the number or the weight of its positives.
    pub(crate) fn by_class(&self, times: &dyn Fn(usize) -> u64) -> Vec<(BinaryScores, f64)> {
        let problems = self.problems.iter();
        problems.map(|cells| self.problem(cells, times)).collect()
    }

    pub(crate) fn average(&self, metric: Multilabel, times: impl Fn(usize) -> u64) -> BinaryScores {
        let by_example = metric.average == MultilabelAverage::Samples;
        let problems: Vec<(BinaryScores, f64)> = if by_example {
            // An example is scored by itself, whatever its weight.
            let rows = self.problems.iter().enumerate();
            let rows = rows.flat_map(|(row, cells)| {
                let weight = self.weights.get(row).copied().unwrap_or(1.0);
                let times = times(self.owners[row] as usize);
                std::iter::repeat_n((self.row_scores(cells), weight), times as usize)
            });
            rows.collect()
        } else {
            self.by_class(&times)
        };
        let values = |of: fn(&BinaryScores) -> Option<f64>| {
            let values = problems.iter().map(|(scores, support)| {
                let weight = match metric.average {
                    MultilabelAverage::Weighted | MultilabelAverage::Samples => *support,
                    _ => 1.0,
                };
                (of(&metric.convention(*scores)), weight)
            });
            let values = values.filter(|(_, weight)| *weight > 0.0);
            let values: Vec<(Option<f64>, f64)> = values.collect();
            if values.is_empty() {
                let is_zero = metric.profile == MultilabelProfile::Sklearn && !problems.is_empty();
                return is_zero.then_some(0.0);
            }
            let is_defined = values.iter().all(|(value, _)| value.is_some());
            mean(values.into_iter()).filter(|_| is_defined)
        };
        BinaryScores {
            roc_auc: values(|scores| scores.roc_auc),
            average_precision: values(|scores| scores.average_precision),
        }
    }
}
