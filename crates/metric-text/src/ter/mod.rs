//! TER: how many edits and shifts of blocks turn a prediction into its reference, as in sacreBLEU and Tercom.

mod shift;
mod tokenize;

use std::collections::BTreeMap;

use metric_core::{Merge, Metric, NamedScores, fields, named_choice};

use crate::edit::{Cells, OutOfCells, TooManyCells};
use crate::translation::{ReferenceCounts, Vocabulary};

/// Returns the translation edit rate of pairs of a prediction and its references, as sacreBLEU computes it with its
/// default options, but as a fraction. It is undefined without pairs. A lower rate is better.
///
/// ```
/// use metric_text::ter;
///
/// let pairs: [(&str, &[&str]); 2] = [
///     ("a b c d", &["a c b d", "a b d"]), // one shift, or one deletion
///     ("x y", &["x z w", "x y z"]),       // one insertion
/// ];
/// // The references have 3.5 and 3 words on average.
/// assert_eq!(ter(pairs), Some(2.0 / 6.5));
/// ```
#[must_use]
pub fn ter<'t, A, T>(pairs: impl IntoIterator<Item = (&'t str, A)>) -> Option<f64>
where
    A: AsRef<[T]>,
    T: AsRef<str>,
{
    let ter = Ter::default();
    let mut state = TerState::default();
    for (prediction, references) in pairs {
        ter.add(&mut state, prediction, references.as_ref());
    }
    ter.compute(&state).ter
}

/// Translation edit rate (TER): the fewest insertions, deletions, substitutions and shifts of blocks of words that turn a
/// prediction into a reference, divided by the length of the references.
///
/// Of several references the one with the fewest edits counts, and the length is the mean over all of them. Edits and
/// lengths of all examples are added up. Finding the fewest edits is not feasible, so a greedy search shifts the block
/// that helps most, until none helps. The limits of the search are those of Tercom: blocks of 10 words, distances of 50
/// words, 1000 shifts to try. A prediction without references is compared with one that is empty. A lower rate is better.
///
/// M. Snover et al., *A Study of Translation Edit Rate with Targeted Human Annotation* (2006); sacreBLEU 2.6.0.
///
/// ```
/// use metric_core::Metric;
/// use metric_text::Ter;
///
/// let ter = Ter::default();
/// // "c d" is shifted to the front, and "e" is missing.
/// let state = ter.measure("a b c d", &["c d a b e".to_owned()]);
/// assert_eq!(state.edits, 2);
/// assert_eq!(ter.compute(&state).ter, Some(2.0 / 5.0));
/// ```
///
/// # Cost
///
/// Pairs of sentences take microseconds. The worst pairs of 10,000 words take about a second, and the time is linear in
/// their length. [`measure_within`](Self::measure_within) has a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Ter {
    /// The convention to follow.
    pub profile: TerProfile,
    /// Whether entities of XML are replaced, and punctuation and `'s` are separated from words.
    pub normalized: bool,
    /// Whether punctuation is removed.
    pub no_punct: bool,
    /// Whether the two options above know Chinese and Japanese characters and punctuation.
    pub asian_support: bool,
    /// Whether upper and lower case differ.
    pub case_sensitive: bool,
}

metric_core::setters!(Ter {
    with_profile => profile: TerProfile,
    with_normalized => normalized: bool,
    with_no_punct => no_punct: bool,
    with_asian_support => asian_support: bool,
    with_case_sensitive => case_sensitive: bool,
});

/// The score of [`Ter`]; undefined without examples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TerScore {
    /// The edits per word of the references, a fraction that can be above 1. If the references have no words, it is 1 if
    /// there are edits, and 0 otherwise.
    pub ter: Option<f64>,
    /// The rate as sacreBLEU returns it: the percentage from which [`ter`](Self::ter) was computed.
    pub percent: Option<f64>,
    /// The length of the references, which can be a fraction such as 6.5.
    pub reference_length: f64,
}

impl NamedScores for TerScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        vec![("ter".to_owned(), self.ter)]
    }
}

/// The state of [`Ter`]: the counts from which its score is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerState {
    /// The edits and shifts.
    pub edits: u64,
    /// For each number of references, the sum of the lengths of all references of examples that have this many. Examples
    /// without references have an empty one here.
    pub lengths: BTreeMap<u64, u64>,
    /// The number of references of the examples.
    pub references: ReferenceCounts,
}

fields!(TerState { edits, lengths, references } check TerState::check);

impl TerState {
    fn check(&self) -> Result<(), &'static str> {
        if self.lengths.contains_key(&0) {
            return Err("expected a positive number of references");
        }
        Ok(())
    }

    /// Returns the sum of the mean lengths of the references of each example, rounded once.
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_text::Ter;
    ///
    /// let references = ["a b".to_owned(), "a b c".to_owned()];
    /// assert_eq!(Ter::default().measure("a", &references).reference_length(), 2.5);
    /// ```
    #[must_use]
    pub fn reference_length(&self) -> f64 {
        /// Integers up to this are exact.
        const EXACT: u128 = 1 << f64::MANTISSA_DIGITS;
        let mut sum = Some((0_u128, 1_u128));
        for (&references, &length) in &self.lengths {
            sum = sum.and_then(|sum| add_fractions(sum, (length.into(), references.into())));
        }
        match sum {
            Some((numerator, denominator)) if numerator.max(denominator) <= EXACT => {
                numerator as f64 / denominator as f64
            }
            _ => {
                let means = self
                    .lengths
                    .iter()
                    .map(|(references, length)| *length as f64 / *references as f64);
                means.sum()
            }
        }
    }
}

/// The sum of two fractions, unless it is too large.
fn add_fractions((a, b): (u128, u128), (c, d): (u128, u128)) -> Option<(u128, u128)> {
    let (mut divisor, mut rest) = (b, d);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    let (left, right) = (d.checked_div(divisor)?, b.checked_div(divisor)?);
    let numerator = a.checked_mul(left)?.checked_add(c.checked_mul(right)?)?;
    Some((numerator, b.checked_mul(left)?))
}

impl Metric for Ter {
    type Prediction = str;
    type Reference = [String];
    type State = TerState;
    type Score = TerScore;

    fn update(&self, state: &mut TerState, prediction: &str, reference: &[String]) {
        self.add(state, prediction, reference);
    }

    fn compute(&self, state: &TerState) -> TerScore {
        if state.references.range().is_none() {
            return TerScore::default();
        }
        let reference_length = state.reference_length();
        let percent = if reference_length > 0.0 {
            100.0 * state.edits as f64 / reference_length
        } else if state.edits > 0 {
            100.0
        } else {
            0.0
        };
        TerScore {
            ter: Some(percent / 100.0),
            percent: Some(percent),
            reference_length,
        }
    }
}

impl Ter {
    /// Adds an example to a state, as [`update`](Metric::update) does, for references of any type of text.
    pub fn add<T: AsRef<str>>(&self, state: &mut TerState, prediction: &str, references: &[T]) {
        let added = self.add_within(state, prediction, references, &mut Cells::unlimited());
        debug_assert!(added.is_ok(), "there are always cells left");
    }

    /// Returns the state of one example, or an error if the search for shifts takes more than `max_cells`
    /// [cells](TooManyCells) in all references together.
    ///
    /// An entry of the table counts as 16 cells, since each is computed on its own, and takes that much longer than a cell
    /// of [`EditRate`](crate::EditRate).
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_text::Ter;
    /// use metric_text::edit::MAX_CELLS;
    ///
    /// let ter = Ter::default();
    /// assert_eq!(ter.measure_within("a b", &["b a"], MAX_CELLS), Ok(ter.measure("a b", &["b a".to_owned()])));
    /// assert!(ter.measure_within("a b", &["b a"], 10).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the search takes more cells. Whether it does depends on the texts alone.
    pub fn measure_within<T: AsRef<str>>(
        &self,
        prediction: &str,
        references: &[T],
        max_cells: u64,
    ) -> Result<TerState, TooManyCells> {
        let mut state = TerState::default();
        let added = self.add_within(
            &mut state,
            prediction,
            references,
            &mut Cells::new(max_cells),
        );
        added.map_err(|lengths| {
            let (prediction, references) = lengths;
            let most = references
                .iter()
                .map(|reference| shift::most_cells(prediction, *reference));
            TooManyCells {
                reference: references.iter().max().copied().unwrap_or(0),
                prediction,
                max_cells,
                enough: most.fold(0, u64::saturating_add),
            }
        })?;
        Ok(state)
    }

    /// Returns whether texts of these lengths in bytes (for the references, their total) are certain to be within the limit of
    /// [`measure_within`](Self::measure_within). If so, [`measure`](Metric::measure) can be called in its place.
    #[must_use]
    pub fn is_within(prediction_bytes: usize, reference_bytes: usize, max_cells: u64) -> bool {
        // A token has at least one byte. Several references with as many bytes take at most this.
        shift::most_cells_of_all(prediction_bytes, reference_bytes) <= max_cells
    }

    /// Adds an example, as far as there are cells left. Otherwise this returns the lengths of the prediction and of the
    /// references.
    fn add_within<T: AsRef<str>>(
        &self,
        state: &mut TerState,
        prediction: &str,
        references: &[T],
        cells: &mut Cells,
    ) -> Result<(), (usize, Vec<usize>)> {
        let prediction = self.prepare(prediction);
        let prepared: Vec<_> = references
            .iter()
            .map(|text| self.prepare_reference(text.as_ref()))
            .collect();
        let mut vocabulary = Vocabulary::with_capacity(prediction.len() / 4);
        let numbers = |text| {
            tokenize::words(text)
                .map(|word| vocabulary.number(word))
                .collect()
        };
        let texts = [&*prediction]
            .into_iter()
            .chain(prepared.iter().map(|text| &**text));
        let texts: Vec<Vec<u32>> = texts.map(numbers).collect();
        let (prediction, others) = texts.split_first().ok_or((0, vec![]))?;
        let lengths = || others.iter().map(Vec::len);
        let edits = others
            .iter()
            .map(|other| shift::edits(prediction, other, cells));
        let fewest = edits.reduce(|a, b| Ok(a?.min(b?))).transpose();
        let fewest = fewest.map_err(|OutOfCells| (prediction.len(), lengths().collect()))?;
        state.edits += fewest.unwrap_or(prediction.len() as u64);
        let length = lengths().sum::<usize>() as u64;
        *state
            .lengths
            .entry(references.len().max(1) as u64)
            .or_default() += length;
        state
            .references
            .merge(ReferenceCounts::of(references.len()));
        Ok(())
    }
}

/// The convention to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TerProfile {
    /// `sacrebleu`: sacreBLEU 2.6.0.
    ///
    /// Known defect: references are prepared twice, so that with [`Ter::normalized`] the rate of a text against itself
    /// can be above 0.
    #[default]
    Sacrebleu,
    /// `corrected`: as `sacrebleu`, but references are prepared once, as predictions are.
    Corrected,
}

impl TerProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[Self::Sacrebleu, Self::Corrected];

    /// Returns the name of the profile, as it appears in signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sacrebleu => "sacrebleu",
            Self::Corrected => "corrected",
        }
    }
}

named_choice!(TerProfile, "TER profile");

#[cfg(test)]
mod tests;
