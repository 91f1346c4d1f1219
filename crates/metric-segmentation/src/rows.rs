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
    mut add: impl FnMut(i64, i64, u64),
) {
    use LabelRow::{Bytes, Wide};
    match (reference, prediction) {
        (Bytes(reference), Bytes(prediction)) => {
            byte_runs(reference, prediction, |reference, prediction, pixels| {
                add(reference.into(), prediction.into(), pixels as u64);
            });
        }
        (Bytes(reference), Wide(prediction)) => runs(reference, prediction, add),
        (Wide(reference), Bytes(prediction)) => runs(reference, prediction, add),
        (Wide(reference), Wide(prediction)) => runs(reference, prediction, add),
    }
}

/// The runs of two rows, label by label.
fn runs<A, B>(reference: &[A], prediction: &[B], mut add: impl FnMut(i64, i64, u64))
where
    A: Copy + Into<i64> + PartialEq,
    B: Copy + Into<i64> + PartialEq,
{
    let mut pairs = reference.iter().copied().zip(prediction.iter().copied());
    let Some(mut last) = pairs.next() else {
        return;
    };
    let mut pixels = 1;
    for pair in pairs {
        if pair == last {
            pixels += 1;
        } else {
            add(last.0.into(), last.1.into(), pixels);
            (last, pixels) = (pair, 1);
        }
    }
    add(last.0.into(), last.1.into(), pixels);
}

/// The runs of two rows of bytes, of which long ones take a step per eight pixels.
pub(crate) fn byte_runs(reference: &[u8], prediction: &[u8], mut add: impl FnMut(u8, u8, usize)) {
    let width = reference.len().min(prediction.len());
    let (reference, prediction) = (&reference[..width], &prediction[..width]);
    let mut start = 0;
    while start < width {
        let (label, predicted) = (reference[start], prediction[start]);
        let end = start + equal_bytes(&reference[start..], label);
        let end = start + equal_bytes(&prediction[start..end], predicted);
        add(label, predicted, end - start);
        start = end;
    }
}

/// The number of bytes at the start that equal this one.
fn equal_bytes(bytes: &[u8], byte: u8) -> usize {
    let eights = bytes.chunks_exact(8);
    let word = u64::from_ne_bytes([byte; 8]);
    let is_equal = |eight: &&[u8]| {
        let eight: Result<[u8; 8], _> = (**eight).try_into();
        eight.is_ok_and(|eight| u64::from_ne_bytes(eight) == word)
    };
    let equal = 8 * eights.take_while(is_equal).count();
    equal
        + bytes[equal..]
            .iter()
            .take_while(|other| **other == byte)
            .count()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

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
