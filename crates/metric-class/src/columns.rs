//! States of whole columns of integer labels, equal to those of the same examples added one by one.

use ndarray::{ArrayView1, ArrayView2};

use crate::{ConfusionMatrix, LabelsError, Ranks};

/// Returns the confusion matrix of columns of integer labels, one prediction and one reference per example.
///
/// `label` gives the class of an integer, such as the integer itself. The matrix equals the one that
/// [`ConfusionMatrix::record`] counts example by example. No examples give an empty matrix.
///
/// # Errors
///
/// Returns an error if there are more or fewer predictions than references.
///
/// # Cost
///
/// If the square of the range of labels is at most 65,536 or the number of examples, one pass finds the range
/// and one counts in a table of this size. Otherwise a copy of the labels is sorted. `label` is called twice
/// per pair of classes that occurs.
///
/// ```
/// use metric_class::{ConfusionMatrix, confusion_matrix};
///
/// let (predictions, references) = ([0, 0, 1, 1, 0, 1], [0, 0, 0, 1, 1, 2]);
/// let matrix = confusion_matrix(&predictions, &references, |label| label)?;
/// assert_eq!(matrix.rows(), [[2, 1, 0], [1, 1, 0], [0, 1, 0]]); // one row per reference
/// assert_eq!(matrix, predictions.into_iter().zip(references).collect());
/// # Ok::<(), metric_class::LabelsError>(())
/// ```
pub fn confusion_matrix<L: Ord>(
    predictions: &[i64],
    references: &[i64],
    label: impl Fn(i64) -> L,
) -> Result<ConfusionMatrix<L>, LabelsError> {
    check_lengths(predictions.len(), references.len())?;
    let pairs = || references.iter().copied().zip(predictions.iter().copied());
    let cells = match Table::spanning(predictions, references) {
        Some(table) => table.count(pairs()),
        None => sorted(pairs().collect()),
    };
    let cell =
        |(reference, prediction, examples)| (label(reference), Some(label(prediction)), examples);
    Ok(ConfusionMatrix::from(
        cells.into_iter().map(cell).collect::<Vec<_>>(),
    ))
}

/// Reference, prediction and number of examples.
type Cell = (i64, i64, u64);

/// Room for the counts of all pairs of labels in a range.
struct Table {
    /// The least label.
    least: i64,
    /// The number of labels in the range.
    width: usize,
}

impl Table {
    /// The table of the labels that occur, if it is small.
    fn spanning(predictions: &[i64], references: &[i64]) -> Option<Self> {
        // 512 kB: it stays in the cache that one core has for itself.
        const SMALL: usize = 1 << 16;
        let bounds = |labels: &[i64]| Some((*labels.iter().min()?, *labels.iter().max()?));
        let ((a, b), (c, d)) = (bounds(predictions)?, bounds(references)?);
        let least = a.min(c);
        let width = b.max(d).checked_sub(least)?.checked_add(1)?;
        let width = usize::try_from(width).ok()?;
        let cells = width.checked_mul(width)?;
        (cells <= SMALL.max(references.len())).then_some(Self { least, width })
    }

    fn count(&self, pairs: impl Iterator<Item = (i64, i64)>) -> Vec<Cell> {
        let position = |label: i64| label.wrapping_sub(self.least) as usize;
        let mut counts = vec![0; self.width * self.width];
        for (reference, prediction) in pairs {
            if let Some(count) =
                counts.get_mut(position(reference) * self.width + position(prediction))
            {
                *count += 1;
            }
        }
        // Not a range of labels, which would have to go on after the greatest integer.
        let label = |position: usize| self.least.wrapping_add(position as i64);
        let rows = counts.chunks_exact(self.width).enumerate();
        let cells = rows.flat_map(|(reference, row)| {
            let cells = row.iter().enumerate().filter(|(_, count)| **count > 0);
            cells.map(move |(prediction, &count)| (label(reference), label(prediction), count))
        });
        cells.collect()
    }
}

fn sorted(mut pairs: Vec<(i64, i64)>) -> Vec<Cell> {
    pairs.sort_unstable();
    let equal = pairs.chunk_by(|a, b| a == b);
    let cell = |pairs: &[(i64, i64)]| {
        let &(reference, prediction) = pairs.first()?;
        Some((reference, prediction, pairs.len() as u64))
    };
    equal.filter_map(cell).collect()
}

/// Returns how often the reference label has each rank among the predicted labels.
///
/// `predictions` is N by K, each row the labels of one example, the most likely first; `references` holds
/// the N reference labels. The state equals that of [`AccuracyAtK`](crate::AccuracyAtK) for the same examples
/// one by one, and has the accuracy at every k and the mean reciprocal rank. No examples give the
/// default state.
///
/// # Errors
///
/// Returns an error if there are more or fewer rows than references.
///
/// # Cost
///
/// One pass over the labels up to that of the reference, and 8 bytes per column. Fastest on an array in standard
/// layout.
///
/// ```
/// use metric_class::label_ranks;
/// use ndarray::array;
///
/// let predictions = array![[0, 7, 1], [0, 2, 9], [8, 4, 0]];
/// let ranks = label_ranks(predictions.view(), array![1, 0, 5].view())?;
/// assert_eq!(ranks.hits_at, [1, 0, 1]); // first in one row, third in another
/// assert_eq!(ranks.accuracy_at(3).value(), Some(2.0 / 3.0));
/// # Ok::<(), metric_class::LabelsError>(())
/// ```
pub fn label_ranks<L: PartialEq>(
    predictions: ArrayView2<L>,
    references: ArrayView1<L>,
) -> Result<Ranks, LabelsError> {
    check_lengths(predictions.nrows(), references.len())?;
    let mut hits_at = vec![0_u64; predictions.ncols()];
    for (row, reference) in predictions.rows().into_iter().zip(&references) {
        // A slice is walked without asking at each step how the array lies in memory.
        let rank = match row.as_slice() {
            Some(row) => row.iter().position(|label| label == reference),
            None => row.iter().position(|label| label == reference),
        };
        if let Some(hits) = rank.and_then(|rank| hits_at.get_mut(rank)) {
            *hits += 1;
        }
    }
    // Equal counts are an equal state: it ends with the greatest rank that occurs.
    let end = hits_at.iter().rposition(|&hits| hits > 0);
    hits_at.truncate(end.map_or(0, |last| last + 1));
    Ok(Ranks {
        hits_at,
        total: references.len() as u64,
    })
}

fn check_lengths(predictions: usize, references: usize) -> Result<(), LabelsError> {
    if predictions == references {
        return Ok(());
    }
    Err(LabelsError::LengthMismatch {
        predictions,
        references,
    })
}

#[cfg(test)]
mod tests {
    use metric_core::{Merge, Metric};
    use ndarray::{Array2, ShapeBuilder, aview1, aview2};
    use proptest::prelude::*;

    use super::*;
    use crate::{AccuracyAtK, AccuracyByK, RankTable, Score, Target, TopK};

    #[test]
    fn lengths_differ_and_nothing_is_counted() {
        let mismatch = Err(LabelsError::LengthMismatch {
            predictions: 2,
            references: 1,
        });
        let matrix = |predictions: &[i64], references: &[i64]| {
            confusion_matrix(predictions, references, |label| label)
        };
        assert_eq!(matrix(&[1, 2], &[1]).map(|_| ()), mismatch);
        assert_eq!(matrix(&[], &[]), Ok(ConfusionMatrix::default()));
        let rows = aview2(&[[1], [2]]);
        assert_eq!(label_ranks(rows, aview1(&[1])).map(|_| ()), mismatch);
        let none = Array2::<i64>::zeros((0, 5));
        assert_eq!(label_ranks(none.view(), aview1(&[])), Ok(Ranks::default()));
        let narrow = Array2::<i64>::zeros((2, 0));
        let missed = Ranks {
            hits_at: vec![],
            total: 2,
        };
        assert_eq!(label_ranks(narrow.view(), aview1(&[0, 0])), Ok(missed));
    }

    #[test]
    fn a_range_beyond_all_integers_is_sorted() {
        let extremes = [i64::MIN, i64::MAX, -1, 0];
        assert!(Table::spanning(&extremes, &extremes).is_none());
        assert!(Table::spanning(&[i64::MAX], &[i64::MAX]).is_some());
        let matrix = confusion_matrix(&extremes, &extremes, |label| label).unwrap();
        assert_eq!(matrix.accuracy().correct, 4);
        let top = [i64::MAX, i64::MAX - 1];
        let matrix = confusion_matrix(&top, &[i64::MAX, i64::MAX], |label| label).unwrap();
        assert_eq!(matrix.rows(), [[0, 0], [1, 1]]);
    }

    /// A class as it appears in data: some integers have names.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Class {
        Integer(i64),
        Text(String),
    }

    impl Class {
        fn of(label: i64) -> Self {
            match label {
                3 | 5 => Self::Text("odd".to_owned()),
                other => Self::Integer(other),
            }
        }
    }

    fn labels() -> impl Strategy<Value = (Vec<i64>, Vec<i64>)> {
        let label = prop_oneof![
            Just(-2_i64..6),
            Just(-200_i64..200),
            Just(i64::MIN..i64::MAX),
        ];
        label.prop_flat_map(|range| {
            let pairs = proptest::collection::vec((range.clone(), range), 0..60);
            pairs.prop_map(|pairs| pairs.into_iter().unzip())
        })
    }

    fn label_rows() -> impl Strategy<Value = (Array2<i64>, Vec<i64>)> {
        let shape = prop_oneof![(0_usize..20, 0_usize..8), (1_usize..5, 10_usize..40)];
        shape
            .prop_flat_map(|(rows, columns)| {
                let labels = proptest::collection::vec(0_i64..30, rows * columns);
                let references = proptest::collection::vec(0_i64..30, rows);
                (labels, references, Just((rows, columns)))
            })
            .prop_map(|(labels, references, shape)| {
                (Array2::from_shape_vec(shape, labels).unwrap(), references)
            })
    }

    /// Scores of `S`, as rows and one by one, give the same state.
    fn check_scores<S: Score>(metric: &TopK, scores: &Array2<S>, labels: &[i64]) {
        let columns = metric.measure_rows(scores.view(), aview1(labels), None);
        let mut state = RankTable::default();
        for (row, &label) in scores.rows().into_iter().zip(labels) {
            let rank = metric.rank(row.as_slice().unwrap(), label).unwrap();
            metric.update(&mut state, &Some(rank), &Target::new(label));
        }
        let scores = metric.compute(&state);
        assert_eq!(columns.as_ref(), Ok(&state));
        let bits = |AccuracyByK(scores): AccuracyByK| -> Vec<_> {
            let bits = |(k, score): (usize, Option<f64>)| (k, score.map(f64::to_bits));
            scores.into_iter().map(bits).collect()
        };
        assert_eq!(bits(metric.compute(&columns.unwrap())), bits(scores));
    }

    proptest! {
        #[test]
        fn columns_are_the_examples_one_by_one((predictions, references) in labels()) {
            let pairs = || predictions.iter().copied().zip(references.iter().copied());
            let matrix = confusion_matrix(&predictions, &references, |label| label);
            prop_assert_eq!(matrix, Ok(pairs().collect()));
            let matrix = confusion_matrix(&predictions, &references, Class::of);
            let expected = pairs().map(|(a, b)| (Class::of(a), Class::of(b)));
            prop_assert_eq!(matrix, Ok(expected.collect()));
        }

        #[test]
        fn tables_and_sorting_agree(
            pairs in proptest::collection::vec((-3_i64..9, -3_i64..9), 1..60),
        ) {
            let (references, predictions): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
            let table = Table::spanning(&predictions, &references).unwrap();
            prop_assert_eq!(table.count(pairs.iter().copied()), sorted(pairs));
        }

        #[test]
        fn ranks_are_the_examples_one_by_one(
            (predictions, references) in label_rows(),
            cut in 0_usize..20,
        ) {
            let metric = AccuracyAtK::new(vec![1, 5]).unwrap();
            let mut expected = Ranks::default();
            for (row, reference) in predictions.rows().into_iter().zip(&references) {
                metric.update(&mut expected, row.as_slice().unwrap(), reference);
            }
            let whole = label_ranks(predictions.view(), aview1(&references));
            prop_assert_eq!(whole.as_ref(), Ok(&expected));

            let mut columns_first = Array2::zeros(predictions.dim().f());
            columns_first.assign(&predictions);
            prop_assert_eq!(label_ranks(columns_first.view(), aview1(&references)), whole);

            let cut = cut.min(references.len());
            let (head, tail) = predictions.view().split_at(ndarray::Axis(0), cut);
            let mut parts = label_ranks(tail, aview1(&references[cut..])).unwrap();
            parts.merge(label_ranks(head, aview1(&references[..cut])).unwrap());
            prop_assert_eq!(parts, expected);
        }

        #[test]
        fn scores_are_the_examples_one_by_one(
            rows in proptest::collection::vec(([-3_i8..4, -3..4, -3..4, -3..4], 0_i64..4), 1..20),
            ties in proptest::sample::select(crate::Ties::ALL),
            by_class in any::<bool>(),
        ) {
            let labels: Vec<i64> = rows.iter().map(|row| row.1).collect();
            let of = |(row, column): (usize, usize)| f64::from(rows[row].0[column]) / 10.0;
            let scores = Array2::from_shape_fn((rows.len(), 4), of);
            let mut metric = TopK::new(vec![1, 2]).unwrap().with_ties(ties);
            if by_class { metric = metric.with_macro_average(); }
            check_scores(&metric, &scores, &labels);
            check_scores(&metric, &scores.mapv(|score| score as f32), &labels);
        }
    }
}
