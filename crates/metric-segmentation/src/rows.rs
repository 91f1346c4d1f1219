/// The labels of a row of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelRow<'a> {
    /// Labels of 0 to 255.
    Bytes(&'a [u8]),
    /// Any labels.
    Wide(&'a [i64]),
}

impl LabelRow<'_> {
    /// Returns the number of pixels.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(row) => row.len(),
            Self::Wide(row) => row.len(),
        }
    }

    /// Returns whether there are no pixels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the label of a pixel.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<i64> {
        match self {
            Self::Bytes(row) => row.get(index).map(|label| i64::from(*label)),
            Self::Wide(row) => row.get(index).copied(),
        }
    }
}

/// Calls `add` with each run of neighbors that are equal on both sides: the labels of the reference and of the prediction, and the
/// number of pixels. Only pixels that both rows have are compared.
///
/// ```
/// use metric_segmentation::{LabelRow, for_each_run};
///
/// let mut runs = Vec::new();
/// let (reference, prediction) = (LabelRow::Bytes(&[1, 1, 1, 2]), LabelRow::Wide(&[1, 1, 300, 300]));
/// for_each_run(reference, prediction, |reference, prediction, pixels| {
///     runs.push((reference, prediction, pixels));
/// });
/// assert_eq!(runs, [(1, 1, 2), (1, 300, 1), (2, 300, 1)]);
/// ```
pub fn for_each_run(
    reference: LabelRow<'_>,
    prediction: LabelRow<'_>,
    add: impl FnMut(i64, i64, u64),
) {
    use LabelRow::{Bytes, Wide};
    match (reference, prediction) {
        (Bytes(reference), Bytes(prediction)) => runs(reference, prediction, add),
        (Bytes(reference), Wide(prediction)) => runs(reference, prediction, add),
        (Wide(reference), Bytes(prediction)) => runs(reference, prediction, add),
        (Wide(reference), Wide(prediction)) => runs(reference, prediction, add),
    }
}

/// The runs of two rows.
fn runs<A, B>(reference: &[A], prediction: &[B], mut add: impl FnMut(i64, i64, u64))
where
    A: Copy + Into<i64> + PartialEq,
    B: Copy + Into<i64> + PartialEq,
{
    equal_runs(reference, prediction, |label, predicted, pixels| {
        add(label.into(), predicted.into(), pixels as u64);
    });
}

/// The runs of two rows, of which long ones take a step per eight pixels. Each pixel is looked at once, whatever the runs of the other
/// row are.
pub(crate) fn equal_runs<A, B>(reference: &[A], prediction: &[B], mut add: impl FnMut(A, B, usize))
where
    A: Copy + PartialEq,
    B: Copy + PartialEq,
{
    let width = reference.len().min(prediction.len());
    let (reference, prediction) = (&reference[..width], &prediction[..width]);
    let (mut start, mut label_end, mut predicted_end) = (0, 0, 0);
    while start < width {
        let (label, predicted) = (reference[start], prediction[start]);
        if label_end == start {
            label_end += equal_cells(&reference[start..], label);
        }
        if predicted_end == start {
            predicted_end += equal_cells(&prediction[start..], predicted);
        }
        let end = label_end.min(predicted_end);
        add(label, predicted, end - start);
        start = end;
    }
}

/// The number of cells at the start that equal this one.
fn equal_cells<T: Copy + PartialEq>(cells: &[T], cell: T) -> usize {
    let (eights, _) = cells.as_chunks::<8>();
    // Without a branch per cell.
    let is_equal = |eight: &&[T; 8]| eight.iter().fold(true, |all, other| all & (*other == cell));
    let equal = 8 * eights.iter().take_while(is_equal).count();
    let rest = cells[equal..].iter();
    equal + rest.take_while(|other| **other == cell).count()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_run_next_to_short_ones_is_looked_at_once() {
        // Looked at anew for each pixel, this row would take hours.
        let pixels = 1 << 23;
        let alternating: Vec<u8> = (0..pixels).map(|pixel| (pixel % 2) as u8).collect();
        let constant = vec![0_u8; pixels];
        for [reference, prediction] in [[&constant, &alternating], [&alternating, &constant]] {
            let mut runs = 0;
            let rows = [reference, prediction].map(|row| LabelRow::Bytes(row));
            for_each_run(rows[0], rows[1], |_, _, _| runs += 1);
            assert_eq!(runs, pixels);
        }
    }

    proptest! {
        #[test]
        fn runs_of_bytes_are_those_of_labels(pairs in vec((0_u8..2, 0_u8..2, 1_usize..30), 0..20)) {
            let pixels = || pairs.iter().flat_map(|&(a, b, times)| std::iter::repeat_n((a, b), times));
            let (a, b): (Vec<u8>, Vec<u8>) = pixels().unzip();
            let wide = |row: &[u8]| row.iter().map(|label| i64::from(*label)).collect::<Vec<_>>();
            let (wide_a, wide_b) = (wide(&a), wide(&b));
            let (rows, wides) = (
                [LabelRow::Bytes(&a), LabelRow::Bytes(&b)],
                [LabelRow::Wide(&wide_a), LabelRow::Wide(&wide_b)],
            );
            let runs = |[a, b]: [LabelRow<'_>; 2]| {
                let mut runs = Vec::new();
                for_each_run(a, b, |a, b, pixels| runs.push((a, b, pixels)));
                runs
            };
            let expected = runs(wides);
            prop_assert_eq!(expected.iter().map(|run| run.2).sum::<u64>(), a.len() as u64);
            for rows in [rows, [rows[0], wides[1]], [wides[0], rows[1]]] {
                prop_assert_eq!(runs(rows), expected.clone());
            }
        }
    }
}
