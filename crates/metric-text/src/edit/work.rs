use std::fmt;

use super::table;

/// The cells that the programs of this workspace allow for one pair of texts: about 5 seconds, at
/// 20 billion cells per second.
///
/// Two texts of a million characters that differ in 2% of them fit, and so do unlike texts of 150,000
/// characters each.
pub const MAX_CELLS: u64 = 100_000_000_000;

/// The error for two lists whose edit distance takes more cells than allowed.
///
/// A cell is an entry of the table of edit distances: one unit of the reference against one of the
/// prediction. Lists that are alike need only the cells near the diagonal. A cell counts as often as it
/// is computed, which depends on the two lists alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooManyCells {
    /// The number of units of the reference.
    pub reference: usize,
    /// The number of units of the prediction.
    pub prediction: usize,
    /// The number of cells that was allowed.
    pub max_cells: u64,
    /// A number of cells that is enough.
    pub(crate) enough: u64,
}

impl TooManyCells {
    /// The error for the edit distance of two lists of these lengths.
    pub(crate) fn of_lists(reference: usize, prediction: usize, max_cells: u64) -> Self {
        Self {
            reference,
            prediction,
            max_cells,
            enough: table::most_cells(reference, prediction),
        }
    }

    /// Returns a number of cells that is enough for any lists of these lengths, whatever their content.
    #[must_use]
    pub fn enough(&self) -> u64 {
        self.enough
    }
}

impl fmt::Display for TooManyCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            reference,
            prediction,
            max_cells,
            ..
        } = self;
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let (units, cells) = (plural(*prediction as u64), plural(*max_cells));
        write!(
            f,
            "aligning {prediction} unit{units} with {reference} of the reference takes more than {max_cells} cell{cells} of the table of edit distances"
        )
    }
}

impl std::error::Error for TooManyCells {}

/// Whether texts of these lengths in bytes are aligned within this many cells, whatever they hold.
pub(crate) fn is_within(bytes: [usize; 2], max_cells: u64) -> bool {
    /// Normalization can make several units of a byte: six of U+FDFA under NFKC.
    const UNITS: usize = 8;
    let [rows, columns] = bytes.map(|bytes| bytes.saturating_mul(UNITS));
    table::most_cells(rows, columns) <= max_cells
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edit::alignment::distance_within;
    use crate::edit::cells::Cells;
    use crate::{Anls, EditRate, Unit};

    #[test]
    fn unlike_texts_are_refused_and_like_ones_are_not() {
        let metric = EditRate {
            unit: Unit::CodePoint,
            ..EditRate::default()
        };
        let (a, b) = ("ab".repeat(2_000), "cd".repeat(2_000));
        let refused = TooManyCells::of_lists(4_000, 4_000, 1_000_000);
        let measure = |prediction: &str, most| metric.measure_within(prediction, &a, most);
        assert_eq!(measure(&b, 1_000_000), Err(refused));
        assert_eq!(
            refused.to_string(),
            "aligning 4000 units with 4000 of the reference takes more than 1000000 cells of the table of edit distances"
        );
        assert!(measure(&b, refused.enough()).is_ok());
        let one = TooManyCells::of_lists(1, 1, 1);
        assert_eq!(
            one.to_string(),
            "aligning 1 unit with 1 of the reference takes more than 1 cell of the table of edit distances"
        );
        // Equal ends cost nothing, and what lies between them little.
        assert!(measure(&a, 0).is_ok());
        let near = format!("c{}d", &a[1..3_999]);
        assert!(measure(&near, 4_000_000).is_ok());
        // Half of the letters is all that this metric looks for, in all answers together.
        let mixed = "abcd".repeat(1_000);
        let sorted = ["a", "b", "c", "d"]
            .map(|letter| letter.repeat(1_000))
            .concat();
        let value = |answers: &[&str], most| Anls::default().value_within(&mixed, answers, most);
        assert_eq!(value(&[&sorted], 20_000_000), Ok(Some(0.0)));
        assert!(value(&[&sorted, &sorted], 20_000_000).is_err());
        assert_eq!(value(&[&sorted, &sorted], 40_000_000), Ok(Some(0.0)));
    }

    proptest! {
        #[test]
        fn enough_is_enough(
            a in proptest::collection::vec(0_u8..4, 0..300),
            b in proptest::collection::vec(0_u8..4, 0..300),
        ) {
            let texts = [&a, &b].map(|list| list.iter().map(|&c| char::from(b'a' + c)).collect::<String>());
            let [reference, prediction] = &texts;
            let metric = EditRate { unit: Unit::CodePoint, confusions: true, ..EditRate::default() };
            let enough = table::most_cells(a.len(), b.len());
            let state = metric.measure_within(prediction, reference, enough);
            prop_assert_eq!(state, Ok(metric_core::Metric::measure(&metric, prediction.as_str(), reference.as_str())));
            let mut cells = Cells::new(enough);
            prop_assert!(distance_within(&a, &b, usize::MAX, &mut cells).is_ok());
        }
    }
}
