//! Edit similarity: how much of a text is as in its reference, for completions of code and other texts that are nearly
//! right.

use metric_core::{Mean, Metric};

use crate::edit::{Cells, OutOfCells, TooManyCells, distance_within};

/// Returns 1 less the Levenshtein distance of two texts in code points over the length of the longer one; 1 if both are
/// empty.
///
/// It is `Levenshtein.normalized_similarity` of rapidfuzz. Takes the time of [`edit_distance`](crate::edit_distance).
///
/// ```
/// use metric_text::edit_similarity;
///
/// // Three of seven letters differ.
/// assert_eq!(edit_similarity("kitten", "sitting"), 1.0 - 3.0 / 7.0);
/// assert_eq!(edit_similarity("", ""), 1.0);
/// ```
#[must_use]
pub fn edit_similarity(prediction: &str, reference: &str) -> f64 {
    let similarity = similarity(prediction, reference, &mut Cells::unlimited());
    // There are always cells left.
    similarity.unwrap_or(0.0)
}

fn similarity(prediction: &str, reference: &str, cells: &mut Cells) -> Result<f64, OutOfCells> {
    let [prediction, reference] =
        [prediction, reference].map(|text| text.chars().collect::<Vec<_>>());
    let length = prediction.len().max(reference.len());
    if length == 0 {
        return Ok(1.0);
    }
    // No distance is greater than the length.
    let distance = distance_within(&reference, &prediction, length, cells)?;
    Ok(1.0 - distance.unwrap_or(length) as f64 / length as f64)
}

/// The mean [`edit_similarity`] of examples; undefined without examples.
///
/// ```
/// use metric_core::Metric;
/// use metric_text::EditSimilarity;
///
/// let mut state = EditSimilarity.measure("x = 1", "x = 2"); // one of five: 0.8
/// EditSimilarity.update(&mut state, "return", "return"); // 1
/// assert_eq!(EditSimilarity.compute(&state), Some(0.9));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EditSimilarity;

impl EditSimilarity {
    /// Returns the state of an example, or an error if its edit distance takes more than `max_cells`
    /// [cells](TooManyCells). A program that reads untrusted data calls this, with
    /// [`MAX_CELLS`](crate::edit::MAX_CELLS) unless its user wants more.
    ///
    /// # Errors
    ///
    /// Returns an error if the edit distance takes more cells.
    pub fn measure_within(
        &self,
        prediction: &str,
        reference: &str,
        max_cells: u64,
    ) -> Result<Mean, TooManyCells> {
        let similarity = similarity(prediction, reference, &mut Cells::new(max_cells));
        let length = |text: &str| text.chars().count();
        let similarity = similarity.map_err(|OutOfCells| {
            TooManyCells::of_lists(length(reference), length(prediction), max_cells)
        });
        Ok(Mean::from_iter([similarity?]))
    }
}

impl Metric for EditSimilarity {
    type Prediction = str;
    type Reference = str;
    type State = Mean;
    type Score = Option<f64>;

    fn update(&self, state: &mut Mean, prediction: &str, reference: &str) {
        state.add(edit_similarity(prediction, reference));
    }

    fn compute(&self, state: &Mean) -> Option<f64> {
        state.value()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn edges() {
        for (prediction, reference, expected) in [
            ("", "abc", 0.0),
            ("abc", "", 0.0),
            ("abc", "abc", 1.0),
            ("abc", "xyz", 0.0),
            // A letter and its accent are two code points.
            ("e\u{301}", "é", 0.0),
            ("ab", "ba", 0.0),
            ("abcd", "abc", 0.75),
        ] {
            let found = edit_similarity(prediction, reference);
            assert_eq!(
                found.to_bits(),
                f64::to_bits(expected),
                "{prediction:?} {reference:?}"
            );
        }
        assert_eq!(EditSimilarity.compute(&Mean::default()), None);
        assert!(EditSimilarity.measure_within("abc", "xyz", 1).is_err());
    }

    proptest! {
        #[test]
        fn laws(pairs in proptest::collection::vec(("[ab ]{0,4}", "[ab ]{0,4}"), 0..6)) {
            let states = pairs.iter().map(|(a, b)| EditSimilarity.measure(a, b));
            crate::laws::check(&states.collect::<Vec<_>>());
            for (a, b) in &pairs {
                prop_assert_eq!(edit_similarity(a, b).to_bits(), edit_similarity(b, a).to_bits());
            }
        }
    }
}
