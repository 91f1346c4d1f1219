use std::fmt;
use std::marker::PhantomData;

use metric_core::{Accuracy, Metric, Sum, fields};
use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::AccuracyByK;
use crate::rank_span::RankSpan;

/// Counts the rows whose reference label is among the first `k` predicted labels (top-k accuracy,
/// from labels).
///
/// `predictions` is N by K, where each row has the labels of one example, the likeliest first;
/// `references` holds the N true labels. The order within the first `k` does not matter, and a
/// label that appears there twice counts once.
///
/// Linear in N times `k`, without memory of its own; fastest on an array in standard layout.
///
/// # Errors
///
/// Returns an error if there are no examples, the numbers of references and rows differ, or `k` is
/// 0 or above K.
///
/// ```
/// use metric_class::{LabelsError, accuracy_at_k};
/// use ndarray::array;
///
/// let predictions = array![[0, 7, 1, 3, 5], [0, 2, 9, 8, 4], [8, 4, 0, 1, 3]];
/// let value = |references, k| {
///     accuracy_at_k(predictions.view(), ndarray::aview1(references), k).map(|a| a.value())
/// };
/// assert_eq!(value(&[3, 5, 0], 5), Ok(Some(2.0 / 3.0))); // 5 is not in the second row
/// assert_eq!(value(&[3, 4, 0], 5), Ok(Some(1.0)));
/// assert_eq!(value(&[0, 5, 0], 1), Ok(Some(1.0 / 3.0))); // only the first row starts with its label
/// assert_eq!(value(&[3, 5, 0], 6), Err(LabelsError::TooFewColumns { k: 6, columns: 5 }));
/// ```
pub fn accuracy_at_k<L: PartialEq>(
    predictions: ArrayView2<L>,
    references: ArrayView1<L>,
    k: usize,
) -> Result<Accuracy, LabelsError> {
    let (rows, columns) = predictions.dim();
    if rows != references.len() {
        return Err(LabelsError::LengthMismatch {
            predictions: rows,
            references: references.len(),
        });
    }
    if rows == 0 {
        return Err(LabelsError::NoExamples);
    }
    if k == 0 {
        return Err(LabelsError::ZeroK);
    }
    if k > columns {
        return Err(LabelsError::TooFewColumns { k, columns });
    }
    let correct = match (predictions.as_slice(), references.as_slice()) {
        (Some(predictions), Some(references)) => hits(predictions, references, columns, k),
        _ => {
            let rows = predictions.rows().into_iter();
            count(rows.map(|row| row.into_iter().take(k)), references)
        }
    };
    Ok(Accuracy {
        correct,
        total: references.len() as u64,
    })
}

/// Hits over rows of `columns` labels that lie one behind the other.
fn hits<L: PartialEq>(predictions: &[L], references: &[L], columns: usize, k: usize) -> u64 {
    // A width known when compiling halves the time, so the usual ones have code of their own.
    match (columns, k) {
        (1, 1) => count(predictions.as_chunks::<1>().0, references),
        (5, 5) => count(predictions.as_chunks::<5>().0, references),
        (10, 10) => count(predictions.as_chunks::<10>().0, references),
        _ => {
            let rows = predictions.chunks_exact(columns);
            count(rows.map(|row| row.iter().take(k)), references)
        }
    }
}

/// The number of `rows` that hold their reference.
///
/// All labels of a row are compared instead of stopping at the first correct one: a branch that
/// cannot be foreseen costs more than the comparisons left.
fn count<'l, L: PartialEq + 'l>(
    rows: impl IntoIterator<Item: IntoIterator<Item = &'l L>>,
    references: impl IntoIterator<Item = &'l L>,
) -> u64 {
    rows.into_iter()
        .zip(references)
        .map(|(row, reference)| {
            let hit = row
                .into_iter()
                .fold(false, |hit, label| hit | (label == reference));
            u64::from(hit)
        })
        .sum()
}

/// Returns the N by K array of label lists of one length.
///
/// # Errors
///
/// Returns an error if a list does not have the length of the first.
///
/// ```
/// use metric_class::{LabelsError, accuracy_at_k, label_rows};
/// use ndarray::array;
///
/// let predictions = label_rows(&[[0, 7, 1, 3, 5], [0, 2, 9, 8, 4], [8, 4, 0, 1, 3]])?;
/// let accuracy = accuracy_at_k(predictions.view(), array![3, 5, 0].view(), 5)?;
/// assert_eq!(accuracy.value(), Some(2.0 / 3.0));
///
/// let ragged = label_rows(&[vec![0, 1], vec![2]]);
/// assert_eq!(ragged, Err(LabelsError::RaggedRow { row: 1, expected: 2, found: 1 }));
/// # Ok::<(), LabelsError>(())
/// ```
pub fn label_rows<L: Clone>(rows: &[impl AsRef<[L]>]) -> Result<Array2<L>, LabelsError> {
    let expected = rows.first().map_or(0, |row| row.as_ref().len());
    let mut labels = Vec::with_capacity(rows.len() * expected);
    for (row, list) in rows.iter().enumerate() {
        let list = list.as_ref();
        if list.len() != expected {
            return Err(LabelsError::RaggedRow {
                row,
                expected,
                found: list.len(),
            });
        }
        labels.extend_from_slice(list);
    }
    let found = labels.len();
    Array2::from_shape_vec((rows.len(), expected), labels).map_err(|_| LabelsError::RaggedRow {
        row: 0,
        expected,
        found,
    })
}

/// The error in the input of [`accuracy_at_k`] or [`label_rows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelsError {
    /// There is nothing to score.
    NoExamples,
    /// The number of reference labels differs from the number of rows of predictions.
    LengthMismatch {
        /// Rows of predictions.
        predictions: usize,
        /// Reference labels.
        references: usize,
    },
    /// The first 0 labels never hold the reference.
    ZeroK,
    /// The rows have fewer than `k` labels.
    TooFewColumns {
        /// As asked for.
        k: usize,
        /// Labels in a row.
        columns: usize,
    },
    /// A row differs in length from the first one.
    RaggedRow {
        /// Index of the row, from 0.
        row: usize,
        /// Labels in the first row.
        expected: usize,
        /// Labels in this row.
        found: usize,
    },
}

impl fmt::Display for LabelsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoExamples => write!(f, "no examples"),
            Self::LengthMismatch {
                predictions,
                references,
            } => write!(
                f,
                "{predictions} rows of predictions, but {references} references"
            ),
            Self::ZeroK => write!(f, "k is 0"),
            Self::TooFewColumns { k, columns } => {
                write!(f, "k is {k}, but there are {columns} labels in a row")
            }
            Self::RaggedRow {
                row,
                expected,
                found,
            } => write!(f, "row {row} has {found} labels, expected {expected}"),
        }
    }
}

impl std::error::Error for LabelsError {}

/// Accuracy@k for several `k` in one pass over the examples.
///
/// The prediction is a list of labels, the likeliest first. A list shorter than `k` is scored with
/// the labels it has; whether such lists are allowed is up to the code that reads the data.
///
/// ```
/// use metric_class::AccuracyAtK;
/// use metric_core::Metric;
///
/// let metric = AccuracyAtK::new(vec![1, 5])?;
/// let mut state = metric.measure(&[0, 7, 1, 3, 5], &3);
/// metric.update(&mut state, &[0, 2, 9, 8, 4], &0);
/// metric.update(&mut state, &[8, 4, 0, 1, 3], &5);
/// assert_eq!(metric.compute(&state).0, [(1, Some(1.0 / 3.0)), (5, Some(2.0 / 3.0))]);
/// # Ok::<(), metric_class::InvalidK>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccuracyAtK<L> {
    ks: Vec<usize>,
    label: PhantomData<fn(L)>,
}

impl<L> AccuracyAtK<L> {
    /// Returns the metric for accuracy at each of `ks`, in the order given.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no `k`, or one is 0.
    pub fn new(ks: Vec<usize>) -> Result<Self, InvalidK> {
        check_ks(&ks)?;
        Ok(Self {
            ks,
            label: PhantomData,
        })
    }
}

impl<L: PartialEq> Metric for AccuracyAtK<L> {
    type Prediction = [L];
    type Reference = L;
    type State = Ranks;
    type Score = AccuracyByK;

    fn update(&self, state: &mut Ranks, prediction: &[L], reference: &L) {
        state.record(prediction.iter().position(|label| label == reference));
    }

    fn compute(&self, state: &Ranks) -> AccuracyByK {
        let accuracy = |&k| (k, state.accuracy_at(k).value());
        AccuracyByK(self.ks.iter().map(accuracy).collect())
    }
}

pub(crate) fn check_ks(ks: &[usize]) -> Result<(), InvalidK> {
    if ks.is_empty() {
        return Err(InvalidK::Empty);
    }
    match ks.iter().position(|&k| k == 0) {
        Some(index) => Err(InvalidK::Zero { index }),
        None => Ok(()),
    }
}

/// The error for a list of `k` that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidK {
    /// The list is empty.
    Empty,
    /// One is 0.
    Zero {
        /// Its index in the list, from 0.
        index: usize,
    },
}

impl fmt::Display for InvalidK {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "no k"),
            Self::Zero { index } => write!(f, "k is 0 at index {index}"),
        }
    }
}

impl std::error::Error for InvalidK {}

/// The number of examples with the reference label at each rank: the state of accuracy@k for every
/// `k`.
///
/// ```
/// use metric_class::Ranks;
/// use metric_core::Accuracy;
///
/// let mut ranks = Ranks::default();
/// ranks.record(Some(2)); // third
/// ranks.record(Some(0)); // first
/// ranks.record(None); // nowhere
/// assert_eq!(ranks.hits_at, [1, 0, 1]);
/// assert_eq!(ranks.accuracy_at(1), Accuracy { correct: 1, total: 3 });
/// assert_eq!(ranks.accuracy_at(3), Accuracy { correct: 2, total: 3 });
/// assert_eq!(ranks.accuracy_at(9), ranks.accuracy_at(3));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// Examples by the rank of their reference label, from 0 to the greatest rank met: without
    /// trailing zeros, equal counts are equal states.
    pub hits_at: Vec<u64>,
    /// All examples.
    pub total: u64,
}

impl Ranks {
    /// Counts one example whose reference label first appears at `rank`, counted from 0, or
    /// nowhere.
    ///
    /// The memory grows to the greatest rank met.
    pub fn record(&mut self, rank: Option<usize>) {
        self.total += 1;
        if let Some(rank) = rank {
            if rank >= self.hits_at.len() {
                self.hits_at.resize(rank + 1, 0);
            }
            if let Some(hits) = self.hits_at.get_mut(rank) {
                *hits += 1;
            }
        }
    }

    /// Returns the ranks that occur, in ascending order, each with the number of examples whose reference label has it;
    /// `None` stands for labels that do not appear.
    ///
    /// ```
    /// use metric_class::{RankSpan, Ranks};
    ///
    /// let ranks = Ranks { hits_at: vec![0, 2], total: 3 };
    /// let second = RankSpan { first: 1, last: 1 };
    /// assert!(ranks.ranks().eq([(Some(second), 2), (None, 1)]));
    /// ```
    pub fn ranks(&self) -> impl Iterator<Item = (Option<RankSpan>, u64)> {
        let hits = self.hits_at.iter().copied();
        let found = hits.clone().fold(0, u64::saturating_add);
        let span = |rank| RankSpan {
            first: rank,
            last: rank,
        };
        let spans = hits
            .enumerate()
            .map(move |(rank, hits)| (Some(span(rank)), hits));
        let nowhere = (None, self.total.saturating_sub(found));
        spans.chain([nowhere]).filter(|(_, examples)| *examples > 0)
    }

    /// Returns the number of examples whose reference label is among the first `k`, and of all examples.
    #[must_use]
    pub fn accuracy_at(&self, k: usize) -> Accuracy {
        Accuracy {
            correct: self.hits_at.iter().take(k).sum(),
            total: self.total,
        }
    }

    /// Returns the mean of 1 / rank of the reference labels, where the first rank is 1 and a label
    /// that does not appear counts 0; only the first `cutoff` ranks count. Undefined without
    /// examples.
    ///
    /// ```
    /// # use metric_class::Ranks;
    /// let ranks = Ranks { hits_at: vec![1, 0, 1], total: 3 };
    /// assert_eq!(ranks.mean_reciprocal_rank(usize::MAX), Some((1.0 + 1.0 / 3.0) / 3.0));
    /// assert_eq!(ranks.mean_reciprocal_rank(2), Some(1.0 / 3.0));
    /// ```
    #[must_use]
    pub fn mean_reciprocal_rank(&self, cutoff: usize) -> Option<f64> {
        let reciprocal = |(rank, &hits): (usize, &u64)| hits as f64 / (rank as f64 + 1.0);
        let counted = self.hits_at.iter().enumerate().take(cutoff);
        let sum: Sum = counted.map(reciprocal).collect();
        (self.total > 0).then(|| sum.value() / self.total as f64)
    }
}

fields!(Ranks { hits_at, total });

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn by_hand() {
        let accuracy = |predictions: Array2<i64>, references: &[i64], k| {
            accuracy_at_k(predictions.view(), references.into(), k)
        };
        let of = |correct, total| Ok(Accuracy { correct, total });
        type Row = (
            Array2<i64>,
            &'static [i64],
            usize,
            Result<Accuracy, LabelsError>,
        );
        let rows: &[Row] = &[
            (array![[3, 3], [1, 1], [0, 1]], &[3, 4, 0], 2, of(2, 3)),
            (array![[1, 2]], &[2], 1, of(0, 1)),
            (array![[1, 2]], &[2], 2, of(1, 1)),
            (array![[1, 2, 3, 4]], &[3], 2, of(0, 1)),
            (array![[1, 2, 3, 4]], &[3], 3, of(1, 1)),
            (array![[-1]], &[-1], 1, of(1, 1)),
            (Array2::zeros((0, 5)), &[], 1, Err(LabelsError::NoExamples)),
            (array![[1, 2]], &[2], 0, Err(LabelsError::ZeroK)),
            (
                Array2::zeros((1, 0)),
                &[0],
                1,
                Err(LabelsError::TooFewColumns { k: 1, columns: 0 }),
            ),
            (
                array![[1], [2]],
                &[1],
                1,
                Err(LabelsError::LengthMismatch {
                    predictions: 2,
                    references: 1,
                }),
            ),
        ];
        for (predictions, references, k, expected) in rows {
            assert_eq!(
                accuracy(predictions.clone(), references, *k),
                *expected,
                "{predictions:?} {references:?} {k}"
            );
        }
        let none: [[i64; 0]; 2] = [[], []];
        assert_eq!(label_rows(&none).map(|rows| rows.dim()), Ok((2, 0)));
        assert_eq!(
            label_rows::<i64>(&[[0_i64; 2]; 0]).map(|rows| rows.dim()),
            Ok((0, 0))
        );
        assert_eq!(AccuracyAtK::<u8>::new(vec![]), Err(InvalidK::Empty));
        assert_eq!(
            AccuracyAtK::<u8>::new(vec![1, 0]),
            Err(InvalidK::Zero { index: 1 })
        );
    }

    #[test]
    fn labels_are_what_can_be_compared() {
        let predictions = array![["cat", "dog"], ["emu", "fox"]];
        let references = array!["dog", "cat"];
        let accuracy = accuracy_at_k(predictions.view(), references.view(), 2);
        assert_eq!(accuracy.map(|a| a.correct), Ok(1));
    }

    #[test]
    fn a_short_list_counts_as_what_is_there() {
        let metric = AccuracyAtK::new(vec![3]).unwrap();
        let mut state = metric.measure(&[1], &1);
        metric.update(&mut state, &[], &1);
        assert_eq!(metric.compute(&state).0, [(3, Some(0.5))]);
        assert_eq!(metric.compute(&Ranks::default()).0, [(3, None)]);
    }

    fn examples() -> impl Strategy<Value = (Array2<u8>, Array1<u8>, usize)> {
        (1_usize..20, 1_usize..12)
            .prop_flat_map(|(rows, columns)| {
                let labels = proptest::collection::vec(0_u8..8, rows * columns);
                let references = proptest::collection::vec(0_u8..8, rows);
                (labels, references, Just((rows, columns)), 1..=columns)
            })
            .prop_map(|(labels, references, shape, k)| {
                let predictions = Array2::from_shape_vec(shape, labels).unwrap();
                (predictions, references.into(), k)
            })
    }

    proptest! {
        #[test]
        fn layouts_and_the_metric_agree((predictions, references, k) in examples()) {
            let accuracy = accuracy_at_k(predictions.view(), references.view(), k);
            let mut columns_first = Array2::zeros(predictions.t().dim());
            columns_first.assign(&predictions.t());
            prop_assert_eq!(accuracy_at_k(columns_first.t(), references.view(), k), accuracy);

            let metric = AccuracyAtK::new(vec![k]).unwrap();
            let mut state = Ranks::default();
            for (row, reference) in predictions.rows().into_iter().zip(&references) {
                metric.update(&mut state, row.as_slice().unwrap(), reference);
            }
            prop_assert_eq!(Ok(state.accuracy_at(k)), accuracy);
        }

        #[test]
        fn more_labels_never_score_less((predictions, references, k) in examples()) {
            let correct = |k| accuracy_at_k(predictions.view(), references.view(), k).unwrap().correct;
            prop_assert!(correct(1) <= correct(k));
            prop_assert!(correct(k) <= correct(predictions.ncols()));
        }

        #[test]
        fn shards_in_any_order_are_the_whole(
            ranks in proptest::collection::vec(proptest::option::of(0_usize..9), 0..30),
        ) {
            let pool = |ranks: &[Option<usize>]| {
                let mut state = Ranks::default();
                ranks.iter().for_each(|&rank| state.record(rank));
                state
            };
            let single = ranks.iter().map(|&rank| pool(&[rank]));
            prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), pool(&ranks));
        }
    }
}
