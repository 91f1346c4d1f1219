//! Average Normalized Levenshtein Similarity: answers that were read from documents and scenes,
//! where a slip of a letter costs little.

use metric_core::{Mean, Metric, named_choice};

use crate::edit::{Cells, OutOfCells, TooManyCells, distance_within, is_within};
use crate::{edit_distance, normalize};

/// Returns the Average Normalized Levenshtein Similarity of pairs of a prediction and the accepted answers, as in the
/// paper; undefined without questions.
///
/// ```
/// use metric_text::anls;
///
/// // Of 6 letters one is too many.
/// assert_eq!(anls([("Pariss", ["London", "Paris"])]), Some(1.0 - 1.0 / 6.0));
/// ```
#[must_use]
pub fn anls<'t, A, T>(pairs: impl IntoIterator<Item = (&'t str, A)>) -> Option<f64>
where
    A: AsRef<[T]>,
    T: AsRef<str>,
{
    let values = pairs.into_iter().map(|(prediction, answers)| {
        let value = Anls::default().value(prediction, answers.as_ref());
        value.unwrap_or(0.0)
    });
    values.collect::<Mean>().value()
}

/// The Average Normalized Levenshtein Similarity of answers, under an [`AnlsProfile`].
///
/// The value of a question is the greatest [`similarity`] of the prediction to one of its answers,
/// and 0 if that is too low; the score is the mean over questions. A question without answers
/// counts with 0.
///
/// A. F. Biten et al., *Scene Text Visual Question Answering* (2019), section 4.3; M. Mathew et al.,
/// *DocVQA* (2021).
///
/// ```
/// use metric_core::Metric;
/// use metric_text::Anls;
///
/// let anls = Anls::default();
/// let answers = ["Coca Cola".to_owned(), "Coca-Cola Company".to_owned()];
/// let mut state = anls.measure("coca  cola", &answers); // 1
/// anls.update(&mut state, "Coca Colla", &answers); // one letter too many of 10: 0.9
/// anls.update(&mut state, "Pepsi", &answers); // too far: 0
/// assert_eq!(anls.compute(&state), Some(1.9 / 3.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Anls {
    /// The convention for low similarities, which count as 0.
    pub profile: AnlsProfile,
}

impl Anls {
    /// Returns the value of one question; undefined without answers.
    ///
    /// Takes the time of [`edit_distance_within`](crate::edit_distance_within) half of the length, for each answer.
    ///
    /// ```
    /// use metric_text::Anls;
    ///
    /// assert_eq!(Anls::default().value("Pariss", &["London", "Paris"]), Some(1.0 - 1.0 / 6.0));
    /// assert_eq!(Anls::default().value("Paris", &[] as &[&str]), None);
    /// ```
    #[must_use]
    pub fn value<T: AsRef<str>>(&self, prediction: &str, answers: &[T]) -> Option<f64> {
        let value = self.value_of(prediction, answers, &mut Cells::unlimited());
        // There are always cells left.
        value.unwrap_or(None)
    }

    /// Returns the [`value`](Self::value), or an error if the edit distances to all answers together take more than
    /// `max_cells` [cells](crate::edit::TooManyCells).
    ///
    /// A program that reads untrusted data calls this, with [`MAX_CELLS`](crate::edit::MAX_CELLS) unless
    /// its user wants more.
    ///
    /// ```
    /// use metric_text::Anls;
    /// use metric_text::edit::MAX_CELLS;
    ///
    /// let value = Anls::default().value_within("Pariss", &["London", "Paris"], MAX_CELLS);
    /// assert_eq!(value, Ok(Some(1.0 - 1.0 / 6.0)));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error with the length of the longest answer if they take more. Whether they do depends on
    /// the texts alone.
    pub fn value_within<T: AsRef<str>>(
        &self,
        prediction: &str,
        answers: &[T],
        max_cells: u64,
    ) -> Result<Option<f64>, TooManyCells> {
        let value = self.value_of(prediction, answers, &mut Cells::new(max_cells));
        let length = |text: &str| normalize(text).chars().count();
        value.map_err(|OutOfCells| {
            let lengths = answers.iter().map(|answer| length(answer.as_ref()));
            TooManyCells::of_lists(lengths.max().unwrap_or(0), length(prediction), max_cells)
        })
    }

    /// Returns the state of one question as [`measure`](Metric::measure) does, with the limit of
    /// [`value_within`](Self::value_within).
    ///
    /// # Errors
    ///
    /// Returns an error if the edit distances take more cells.
    pub fn measure_within(
        &self,
        prediction: &str,
        answers: &[String],
        max_cells: u64,
    ) -> Result<Mean, TooManyCells> {
        let value = self.value_within(prediction, answers, max_cells)?;
        Ok(Mean::from_iter([value.unwrap_or(0.0)]))
    }

    /// Returns whether texts of these lengths in bytes (for the answers, their total) are certain to be within the
    /// limit of [`value_within`](Self::value_within). If so, [`value`](Self::value) can be called in its place.
    #[must_use]
    pub fn is_within(prediction_bytes: usize, answers_bytes: usize, max_cells: u64) -> bool {
        is_within([prediction_bytes, answers_bytes], max_cells)
    }

    /// Returns a text in the form in which it is compared: in lowercase, with single spaces.
    ///
    /// ```
    /// assert_eq!(metric_text::Anls::default().apply(" Coca  COLA"), "coca cola");
    /// ```
    #[must_use]
    pub fn apply(&self, text: &str) -> String {
        normalize(text)
    }

    fn value_of<T: AsRef<str>>(
        &self,
        prediction: &str,
        answers: &[T],
        cells: &mut Cells,
    ) -> Result<Option<f64>, OutOfCells> {
        let prediction = Letters::new(normalize(prediction));
        let mut best: Option<f64> = None;
        for answer in answers {
            let answer = Letters::new(normalize(answer.as_ref()));
            let distance = prediction.distance(&answer, |a, b, length| {
                // With more errors nothing is kept.
                distance_within(a, b, length / 2, cells)
            })?;
            let value = distance.map_or(0.0, |distance| self.profile.kept(distance));
            best = Some(best.map_or(value, |best| best.max(value)));
        }
        Ok(best)
    }
}

impl Metric for Anls {
    type Prediction = str;
    type Reference = [String];
    type State = Mean;
    /// In \[0, 1\]; undefined without examples.
    type Score = Option<f64>;

    fn update(&self, state: &mut Mean, prediction: &str, reference: &[String]) {
        state.add(self.value(prediction, reference).unwrap_or(0.0));
    }

    fn compute(&self, state: &Mean) -> Option<f64> {
        state.value()
    }
}

/// The convention for low similarities: which of them count as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnlsProfile {
    /// `paper`: a similarity of 0.5 or less counts as 0.
    ///
    /// This is how the paper defines it and how the Python package anls 0.0.2 computes it.
    #[default]
    Paper,
    /// `rrc`: a similarity of less than 0.5 counts as 0, and 0.5 as 0.5.
    ///
    /// This is how the evaluation script of the Robust Reading Competition computes it. Known defect: it departs from
    /// the paper at 0.5.
    Rrc,
}

impl AnlsProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[Self::Paper, Self::Rrc];

    /// Returns the name of the profile, as it appears in signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Rrc => "rrc",
        }
    }

    /// The value of a normalized distance.
    fn kept(self, distance: f64) -> f64 {
        let similarity = 1.0 - distance;
        let is_kept = match self {
            Self::Paper => distance < 0.5,
            Self::Rrc => similarity >= 0.5,
        };
        if is_kept { similarity } else { 0.0 }
    }
}

named_choice!(AnlsProfile, "ANLS profile");

/// Returns 1 minus the edit distance of two texts divided by the length of the longer one; 1 if
/// both are empty.
///
/// Both are lowercased, and their white space is collapsed. The distance is that of code points; the
/// lengths are those of the texts in capitals (`ß` has two), as in the program of the competition.
/// Time is that of [`edit_distance`].
///
/// ```
/// use metric_text::anls::similarity;
///
/// assert_eq!(similarity("kitten", "Sitting "), 1.0 - 3.0 / 7.0);
/// assert_eq!(similarity("", " "), 1.0);
/// ```
#[must_use]
pub fn similarity(a: &str, b: &str) -> f64 {
    let [a, b] = [a, b].map(|text| Letters::new(normalize(text)));
    let distance = a.distance(&b, |a, b, _| Ok(Some(edit_distance(a, b))));
    1.0 - distance.unwrap_or(None).unwrap_or(1.0)
}

fn normalize(text: &str) -> String {
    // White space does not depend on case.
    normalize::lower(&normalize::Step::Whitespace.apply(text)).into_owned()
}

/// A text as it is compared.
struct Letters {
    text: String,
    letters: Vec<char>,
    /// In capitals.
    length: usize,
}

impl Letters {
    fn new(text: String) -> Self {
        Self {
            letters: text.chars().collect(),
            length: upper_length(&text),
            text,
        }
    }

    /// The distance per letter, from the distance and the length that `edits` gives for two texts.
    fn distance(
        &self,
        other: &Self,
        edits: impl FnOnce(&[char], &[char], usize) -> Result<Option<usize>, OutOfCells>,
    ) -> Result<Option<f64>, OutOfCells> {
        if self.text == other.text {
            return Ok(Some(0.0));
        }
        let length = self.length.max(other.length);
        let edits = edits(&self.letters, &other.letters, length)?;
        Ok(edits.map(|edits| edits as f64 / length as f64))
    }
}

/// The number of code points of the text in capitals.
fn upper_length(text: &str) -> usize {
    text.chars().map(|c| c.to_uppercase().len()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_by_hand() {
        let rows: &[(&str, &[&str], f64, f64)] = &[
            ("", &[""], 1.0, 1.0),
            ("a", &[""], 0.0, 0.0),
            ("", &["a", ""], 1.0, 1.0),
            // Half of the letters.
            ("ab", &["ac"], 0.0, 0.5),
            ("abc", &["abd"], 1.0 - 1.0 / 3.0, 1.0 - 1.0 / 3.0),
            // Three letters in capitals, and one substituted.
            ("ß\u{e9}", &["ße"], 1.0 - 1.0 / 3.0, 1.0 - 1.0 / 3.0),
            ("A\u{1c}B", &["a b"], 1.0, 1.0),
            ("a\0", &["a\0"], 1.0, 1.0),
        ];
        for (prediction, answers, paper, rrc) in rows {
            let value = |profile| Anls { profile }.value(prediction, answers);
            assert_eq!(value(AnlsProfile::Paper), Some(*paper), "{prediction:?}");
            assert_eq!(value(AnlsProfile::Rrc), Some(*rrc), "{prediction:?}");
        }
        let anls = Anls::default();
        assert_eq!(anls.compute(&anls.measure("a", &[])), Some(0.0));
        assert_eq!(anls.compute(&Mean::default()), None);
    }

    #[test]
    fn names_are_read_as_printed() {
        for profile in AnlsProfile::ALL {
            assert_eq!(profile.to_string().parse(), Ok(*profile));
        }
    }

    #[test]
    fn half_of_the_letters_is_half_of_the_capitals() {
        // 2 of 4, 3 of 5 and, with eszett as two letters, 3 of 6.
        let rows = [
            ("abcd", "abxy", 0.5),
            ("abcde", "abxyz", 0.0),
            ("abcdß", "abxyß", 1.0 - 2.0 / 6.0),
            ("abcdß", "axyzß", 0.5),
            ("abcdß", "wxyzß", 0.0),
        ];
        for (prediction, answer, rrc) in rows {
            let value = |profile| Anls { profile }.value(prediction, &[answer]);
            assert_eq!(
                value(AnlsProfile::Rrc),
                Some(rrc),
                "{prediction:?} {answer:?}"
            );
            let paper = if rrc > 0.5 { rrc } else { 0.0 };
            assert_eq!(value(AnlsProfile::Paper), Some(paper), "{prediction:?}");
        }
        assert_eq!(similarity("abcde", "abxyz"), 1.0 - 3.0 / 5.0);
        // Far apart at once, however long.
        let (a, b) = ("a".repeat(300_000), "b".repeat(300_000));
        assert_eq!(Anls::default().value(&a, &[b]), Some(0.0));
    }

    proptest! {
        #[test]
        fn a_limit_changes_nothing(a in "[abß ]{0,12}", b in "[abcß ]{0,12}") {
            for &profile in AnlsProfile::ALL {
                let kept = profile.kept(1.0 - similarity(&a, &b));
                let value = Anls { profile }.value(&a, &[&b]).unwrap_or(-1.0);
                prop_assert!((value - kept).abs() < 1e-15, "{} {}", value, kept);
            }
        }

        #[test]
        fn profiles_differ_at_one_half_only(a in "[ab ]{0,6}", b in "[abß ]{0,6}") {
            let answers = [b.as_str()];
            let [paper, rrc] = [AnlsProfile::Paper, AnlsProfile::Rrc].map(|profile| Anls { profile }.value(&a, &answers));
            prop_assert!(paper == rrc || (paper, rrc) == (Some(0.0), Some(0.5)));
            prop_assert_eq!(similarity(&a, &b), similarity(&b, &a));
        }

        #[test]
        fn any_texts_are_compared(a in any::<String>(), b in any::<String>()) {
            prop_assert!((0.0..=1.0).contains(&similarity(&a, &b)));
            prop_assert_eq!(similarity(&a, &a), 1.0);
        }
    }
}
