//! Edit distance and the rates computed from it: word and character error rate, match error rate, word information
//! lost and preserved.
//!
//! [`edit_distance`] and [`Edits::between`] compare lists of anything. [`EditRate`] compares texts, by
//! words, code points or grapheme clusters, under an [`EditProfile`]'s rules.

mod alignment;
mod alternatives;
mod cells;
mod confusions;
#[cfg(feature = "diff")]
mod diff;
mod interner;
mod mixed;
mod table;
mod units;
mod wenet;
mod work;

use std::borrow::Cow;
use std::cell::RefCell;

use metric_core::{Mean, Merge, Metric, fields, named_choice, named_scores, ratio};

pub use alignment::{Alignment, Chunk, Edit, Edits, edit_distance, edit_distance_within};
pub(crate) use alignment::{distance_of_symbols, distance_within};
pub use alternatives::{Alternatives, InvalidAlternatives, MOST_CELLS, MOST_NESTED};
pub(crate) use cells::{Cells, OutOfCells};
pub use confusions::Confusions;
pub(crate) use interner::Interner;
pub(crate) use table::Ties;
pub use units::Unit;
pub(crate) use work::is_within;
pub use work::{MAX_CELLS, TooManyCells};

use crate::Normalizer;

/// Returns the word error rate (WER) of `(prediction, reference)` pairs under the default [profile](EditProfile),
/// that of jiwer.
///
/// If the references have no words, it is the number of words in the predictions, as jiwer returns: 0 if these have no
/// words either, and for no pairs. Under the [other profiles](EditProfile) the rate is then undefined.
///
/// ```
/// use metric_text::wer;
///
/// // Of 4 words 3 are right: one is missing.
/// assert_eq!(wer([("the cat sat", "the black cat sat")]), Some(1.0 / 4.0));
///
/// // A reference without words: two insertions.
/// assert_eq!(wer([("the cat", "")]), Some(2.0));
/// assert_eq!(wer([]), Some(0.0));
/// ```
#[must_use]
pub fn wer<'t>(pairs: impl IntoIterator<Item = (&'t str, &'t str)>) -> Option<f64> {
    EditRate::default().score_all(pairs).error_rate
}

/// Returns the character error rate (CER) of `(prediction, reference)` pairs under the default
/// [profile](EditProfile), that of jiwer. Characters are Unicode code points: `ã` is one in NFC and two in NFD.
///
/// If the references have no characters, it is the number of characters in the predictions, as in [`wer`].
///
/// ```
/// use metric_text::cer;
///
/// // Of 5 letters one is wrong.
/// assert_eq!(cer([("hallo", "hello")]), Some(1.0 / 5.0));
/// ```
#[must_use]
pub fn cer<'t>(pairs: impl IntoIterator<Item = (&'t str, &'t str)>) -> Option<f64> {
    let by_character = EditRate {
        unit: Unit::CodePoint,
        ..EditRate::default()
    };
    by_character.score_all(pairs).error_rate
}

/// Word error rate (WER) or character error rate (CER), and the other rates computed from the same alignment: match
/// error rate, word information lost and preserved.
///
/// The [`Edits`] of all pairs are added up, and the rates are computed from the sums. Units are words unless another
/// unit is set: with [`Unit::CodePoint`] the error rate is what is called CER.
///
/// ```
/// use metric_core::Metric;
/// use metric_text::{EditRate, Unit};
///
/// let wer = EditRate::default();
/// let state = wer.measure("the cat sat there", "the black cat sat");
/// let scores = wer.compute(&state);
/// // Of 4 words 3 are right; one is missing and one is too many.
/// assert_eq!(scores.error_rate, Some(2.0 / 4.0));
/// assert_eq!(scores.match_error_rate, Some(2.0 / 5.0));
/// assert_eq!(scores.information_preserved, Some(3.0 / 4.0 * (3.0 / 4.0)));
///
/// let cer = wer.with_unit(Unit::CodePoint).with_normalizer("casefold".parse()?);
/// assert_eq!(cer.compute(&cer.measure("Hallo", "hello")).error_rate, Some(1.0 / 5.0));
/// # Ok::<(), metric_text::normalize::InvalidStep>(())
/// ```
///
/// # Cost
///
/// Correct text costs little more than reading it; text between the first and the last error costs one step for each 64
/// pairs of units (see [`edit_distance`]). Two different texts of a million units each take minutes;
/// [`measure_within`](Self::measure_within) refuses them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EditRate {
    /// The unit that is counted.
    pub unit: Unit,
    /// The convention for white space and for references without units.
    pub profile: EditProfile,
    /// The normalization of both texts.
    pub normalizer: Normalizer,
    /// Whether units in other case are other units under [`EditProfile::Wenet`]. The other profiles always tell them apart.
    pub case_sensitive: bool,
    /// Whether to count which unit is confused with which, in [`EditState::confusions`].
    pub confusions: bool,
}

metric_core::setters!(EditRate {
    with_unit => unit: Unit,
    with_profile => profile: EditProfile,
    with_normalizer => normalizer: Normalizer,
    with_case_sensitive => case_sensitive: bool,
    with_confusions => confusions: bool,
});

impl Metric for EditRate {
    type Prediction = str;
    type Reference = str;
    type State = EditState;
    type Score = EditScores;

    fn update(&self, state: &mut EditState, prediction: &str, reference: &str) {
        self.update_rated(state, prediction, reference);
    }

    fn compute(&self, state: &EditState) -> EditScores {
        EditScores {
            mean_error_rate: state.rates.value(),
            ..self.profile.scores(&state.edits, state.longer)
        }
    }
}

impl EditRate {
    /// Returns only the error rate of a state, the same as that of [`compute`](Metric::compute).
    #[must_use]
    pub fn error_rate(&self, state: &EditState) -> Option<f64> {
        self.profile.error_rate(&state.edits)
    }

    /// Returns the state of one pair, or an error if its alignment takes more than `max_cells` [cells](TooManyCells).
    ///
    /// [`measure`](Metric::measure) aligns any pair, however long it takes. A program that reads untrusted
    /// data calls this, with [`MAX_CELLS`] unless its user wants more.
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_text::EditRate;
    /// use metric_text::edit::MAX_CELLS;
    ///
    /// let metric = EditRate::default();
    /// let state = metric.measure_within("the cat", "the black cat", MAX_CELLS);
    /// assert_eq!(state, Ok(metric.measure("the cat", "the black cat")));
    ///
    /// let (a, b) = ("a ".repeat(5_000), "b ".repeat(5_000));
    /// let error = metric.measure_within(&a, &b, 1_000_000).unwrap_err();
    /// assert_eq!((error.reference, error.prediction), (5_000, 5_000));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the alignment takes more cells. Whether it does depends on the two texts alone.
    pub fn measure_within(
        &self,
        prediction: &str,
        reference: &str,
        max_cells: u64,
    ) -> Result<EditState, TooManyCells> {
        let mut state = EditState::default();
        let added = self.add(
            &mut state,
            prediction,
            reference,
            &mut Cells::new(max_cells),
        );
        let units = |text| self.unit.split(&self.prepare(text), self.profile).len();
        added.map_err(|OutOfCells| {
            TooManyCells::of_lists(units(reference), units(prediction), max_cells)
        })?;
        Ok(state)
    }

    /// Returns whether texts of these lengths in bytes are certain to be within the limit of
    /// [`measure_within`](Self::measure_within). If so, [`measure`](Metric::measure) can be called in its place.
    #[must_use]
    pub fn is_within(prediction_bytes: usize, reference_bytes: usize, max_cells: u64) -> bool {
        is_within([prediction_bytes, reference_bytes], max_cells)
    }

    /// Adds a pair to a state as [`update`](Metric::update) does, and returns the error rate of the pair.
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_text::EditRate;
    ///
    /// let metric = EditRate::default();
    /// let mut state = metric.measure("a cat", "the cat");
    /// assert_eq!(metric.update_rated(&mut state, "a dog", "a dog"), Some(0.0));
    /// assert_eq!(metric.error_rate(&state), Some(1.0 / 4.0));
    /// ```
    pub fn update_rated(
        &self,
        state: &mut EditState,
        prediction: &str,
        reference: &str,
    ) -> Option<f64> {
        let added = self.add(state, prediction, reference, &mut Cells::unlimited());
        debug_assert!(added.is_ok(), "there are always cells left");
        added.unwrap_or_default()
    }

    /// Returns a text whose units are compared: it is normalized, and under [`EditProfile::Wenet`] a text of units, each
    /// followed by a line feed. [`Unit::split`] lists them.
    ///
    /// ```
    /// use metric_text::EditRate;
    /// use metric_text::edit::{EditProfile, Unit};
    ///
    /// let metric = EditRate::default().with_profile(EditProfile::Wenet);
    /// let text = metric.prepare("今天 happy, <noise> 吗");
    /// assert_eq!(Unit::Word.split(&text, metric.profile), ["今", "天", "HAPPY,", "吗"]);
    /// ```
    #[must_use]
    pub fn prepare<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let normalized = self.normalizer.apply(text);
        match self.profile {
            EditProfile::Wenet => wenet::separate(&normalized, self.case_sensitive).into(),
            _ => normalized,
        }
    }

    /// Whether the units of two texts are their code points.
    fn compares_code_points(&self, reference: &str, prediction: &str) -> bool {
        let has_no_clusters = || units::no_clusters(reference) && units::no_clusters(prediction);
        match self.unit {
            _ if self.profile == EditProfile::Wenet => false,
            Unit::CodePoint => true,
            Unit::Grapheme => has_no_clusters(),
            Unit::Word | Unit::Mixed => false,
        }
    }

    /// Adds a pair, as far as there are cells left, and returns its error rate.
    fn add(
        &self,
        state: &mut EditState,
        prediction: &str,
        reference: &str,
        cells: &mut Cells,
    ) -> Result<Option<f64>, OutOfCells> {
        let prediction = self.prepare(prediction);
        let reference = self.prepare(reference);
        let ties = self.profile.ties();
        let edits = if self.confusions {
            let texts = [&*reference, &*prediction];
            self.unit
                .with_both(texts, self.profile, |[reference, prediction]| {
                    state.confusions.align(reference, prediction, ties, cells)
                })?
        } else if self.compares_code_points(&reference, &prediction) {
            edits_of_characters(
                units::trimmed(&reference, self.profile),
                units::trimmed(&prediction, self.profile),
                cells,
            )?
        } else {
            let texts = [&*reference, &*prediction];
            self.unit
                .with_both(texts, self.profile, |[reference, prediction]| {
                    Edits::within(reference, prediction, ties, cells)
                })?
        };
        state.longer += edits.reference_length().max(edits.prediction_length());
        state.edits.merge(edits);
        let rate = self.profile.error_rate(&edits);
        if let Some(rate) = rate {
            state.rates.add(rate);
        }
        Ok(rate)
    }
}

/// The edits by code points, without a list of those that are equal at both ends.
fn edits_of_characters(
    reference: &str,
    prediction: &str,
    cells: &mut Cells,
) -> Result<Edits, OutOfCells> {
    thread_local! {
        static SYMBOLS: RefCell<[Vec<u32>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
    }
    /// So much memory is left to the next pair: a megabyte for each text.
    const KEPT: usize = 1 << 18;
    let hits = |text: &str| text.chars().count() as u64;
    if reference == prediction {
        let hits = hits(reference);
        return Ok(Edits {
            hits,
            ..Edits::default()
        });
    }
    let (start, end) = units::common_text(reference, prediction);
    let middles =
        [reference, prediction].map(|text| text.get(start..text.len() - end).unwrap_or_default());
    let count_ends = |mut edits: Edits| {
        for ends in [
            reference.get(..start),
            reference.get(reference.len() - end..),
        ] {
            edits.hits += ends.map_or(0, hits);
        }
        edits
    };
    if middles.contains(&"") {
        let [deletions, insertions] = middles.map(hits);
        return Ok(count_ends(Edits {
            deletions,
            insertions,
            ..Edits::default()
        }));
    }
    SYMBOLS.with_borrow_mut(|[rows, columns]| {
        for (middle, symbols) in middles.into_iter().zip([&mut *rows, &mut *columns]) {
            symbols.clear();
            symbols.extend(middle.chars().map(u32::from));
        }
        let edits = Edits::of_symbols(rows, columns, Ties::default(), cells);
        for symbols in [rows, columns] {
            symbols.clear();
            symbols.shrink_to(KEPT);
        }
        edits.map(count_ends)
    })
}

/// The convention to follow: which white space separates words, and the value of a rate whose denominator is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EditProfile {
    /// `jiwer`: jiwer 4.0.0.
    ///
    /// Words: each run of two or more characters of white space becomes a space, both ends are
    /// stripped, and the rest is split at spaces alone, so that a single tab or no-break space is part
    /// of a word. Characters: both ends are stripped.
    ///
    /// If the references have no units, the error rate is the number of insertions, which is not a rate; the match
    /// error rate and the information lost are 1, or 0 where the predictions have none either. If the predictions alone
    /// have none, the information preserved is 0.
    #[default]
    Jiwer,
    /// `torchmetrics`: torchmetrics 1.8.2 (`functional.text`), as the program of the Fusion Brain
    /// Challenge 2021 has its WER and CER.
    ///
    /// Words are separated by white space of any kind. Characters are used unchanged, including white space at the
    /// ends.
    ///
    /// The match error rate is that of errors to the sum of the lengths of the longer text of each
    /// pair, and the hits of the information are what the errors leave of that sum: other numbers than
    /// jiwer's where an alignment has both deletions and insertions. Undefined where torchmetrics is
    /// NaN or infinite.
    Torchmetrics,
    /// `huggingface`: `wer` and `cer` of Hugging Face evaluate 0.4.6 on jiwer 4.
    ///
    /// As `jiwer`, but undefined where the references have no units: there the program divides by zero.
    /// (On an older jiwer its `cer` also makes each run of two or more characters of white space one
    /// space.)
    HuggingFace,
    /// `wenet`: `compute-wer.py` and `compute-cer.py` of WeNet (commit 0154699) with `--char=1`, the error rate of text that
    /// mixes Chinese and English.
    ///
    /// Words: each letter without case (Han, kana, Hangul, Thai, Arabic) is a unit, and so is any other character with
    /// the ASCII characters after it, up to white space. Some punctuation, and tags `<...>`, are removed, and case does not
    /// count unless [`EditRate::case_sensitive`] is set. Characters: units of only letters and numbers are cut into their code
    /// points.
    ///
    /// Among the alignments with the fewest errors, from the end, a deletion is taken before an insertion, and both before
    /// a hit or a substitution. The rates are undefined where the references have no units.
    Wenet,
}

impl EditProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[
        Self::Jiwer,
        Self::Torchmetrics,
        Self::HuggingFace,
        Self::Wenet,
    ];

    /// Returns the name of the profile.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jiwer => "jiwer",
            Self::Torchmetrics => "torchmetrics",
            Self::HuggingFace => "huggingface",
            Self::Wenet => "wenet",
        }
    }

    /// The rule for alignments with the same number of errors.
    fn ties(self) -> Ties {
        match self {
            Self::Wenet => Ties::Gaps,
            Self::Jiwer | Self::Torchmetrics | Self::HuggingFace => Ties::Rapidfuzz,
        }
    }

    /// The error rate of edits.
    fn error_rate(self, edits: &Edits) -> Option<f64> {
        let (rows, columns) = (edits.reference_length(), edits.prediction_length());
        match (self, rows, columns) {
            (Self::Jiwer, 0, 0) => Some(0.0),
            (Self::Jiwer, 0, _) => Some(edits.insertions as f64),
            (Self::HuggingFace | Self::Torchmetrics | Self::Wenet, 0, _) => None,
            _ => ratio(edits.errors(), rows),
        }
    }

    /// The rates of edits. `longer` is the sum over pairs of the length of the longer text.
    fn scores(self, edits: &Edits, longer: u64) -> EditScores {
        let (rows, columns) = (edits.reference_length(), edits.prediction_length());
        let preserved = |hits| Some(ratio(hits, rows)? * ratio(hits, columns)?);
        let (match_error_rate, information_preserved) = match (self, rows, columns) {
            (Self::Jiwer, 0, 0) => (Some(0.0), Some(1.0)),
            (Self::Jiwer, 0, _) => (Some(1.0), Some(0.0)),
            (Self::HuggingFace | Self::Wenet, 0, _) => (None, None),
            (Self::Torchmetrics, ..) => (
                ratio(edits.errors(), longer),
                preserved(longer.saturating_sub(edits.errors())),
            ),
            (Self::Jiwer | Self::HuggingFace | Self::Wenet, ..) => (
                ratio(edits.errors(), edits.hits + edits.errors()),
                // Without a prediction nothing is preserved.
                preserved(edits.hits).or(Some(0.0)),
            ),
        };
        EditScores {
            error_rate: self.error_rate(edits),
            match_error_rate,
            information_lost: information_preserved.map(|preserved| 1.0 - preserved),
            information_preserved,
            mean_error_rate: None,
        }
    }
}

named_choice!(EditProfile, "edit rate profile");

/// The state of [`EditRate`]: the counts from which its scores are computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditState {
    /// The edits of all pairs.
    pub edits: Edits,
    /// The sum over pairs of the number of units of the longer text.
    pub longer: u64,
    /// The error rates of the pairs, where they have one.
    pub rates: Mean,
    /// The confusions of units, if requested.
    pub confusions: Confusions,
}

fields!(EditState {
    edits,
    longer,
    rates,
    confusions
});

/// The scores of [`EditRate`], from the hits H, substitutions S, deletions D and insertions I of all pairs. The
/// [`EditProfile`] says when they are undefined.
///
/// A. C. Morris, V. Maier and P. Green, *From WER and RIL to MER and WIL* (2004).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EditScores {
    /// WER or CER: (S + D + I) / (H + S + D). May be above 1.
    pub error_rate: Option<f64>,
    /// MER: (S + D + I) / (H + S + D + I).
    pub match_error_rate: Option<f64>,
    /// WIL: 1 - WIP.
    pub information_lost: Option<f64>,
    /// WIP: H / (H + S + D) * H / (H + S + I).
    pub information_preserved: Option<f64>,
    /// The mean of the error rates of single pairs, over the pairs where it is defined. Each pair counts the same,
    /// however long it is.
    pub mean_error_rate: Option<f64>,
}

named_scores!(EditScores {
    error_rate,
    match_error_rate as "mer",
    information_lost as "wil",
    information_preserved as "wip",
    mean_error_rate,
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn profiles_by_hand() {
        // Error rate, match error rate, information preserved; jiwer, torchmetrics, huggingface.
        type Rates = [Option<f64>; 3];
        let none: Rates = [None; 3];
        let rows: &[(&str, &str, [Rates; 3])] = &[
            ("", "", [[Some(0.0), Some(0.0), Some(1.0)], none, none]),
            (
                "",
                "a b",
                [
                    [Some(2.0), Some(1.0), Some(0.0)],
                    [None, Some(1.0), None],
                    none,
                ],
            ),
            (
                "a b",
                "",
                [
                    [Some(1.0), Some(1.0), Some(0.0)],
                    [Some(1.0), Some(1.0), None],
                    [Some(1.0), Some(1.0), Some(0.0)],
                ],
            ),
            // One deletion and one insertion.
            (
                "a b c",
                "b c d",
                [
                    [
                        Some(2.0 / 3.0),
                        Some(2.0 / 4.0),
                        Some(2.0 / 3.0 * (2.0 / 3.0)),
                    ],
                    [
                        Some(2.0 / 3.0),
                        Some(2.0 / 3.0),
                        Some(1.0 / 3.0 * (1.0 / 3.0)),
                    ],
                    [
                        Some(2.0 / 3.0),
                        Some(2.0 / 4.0),
                        Some(2.0 / 3.0 * (2.0 / 3.0)),
                    ],
                ],
            ),
        ];
        for (reference, prediction, expected) in rows {
            for (&profile, expected) in EditProfile::ALL.iter().zip(expected) {
                let metric = EditRate {
                    profile,
                    ..EditRate::default()
                };
                let scores = metric.compute(&metric.measure(prediction, reference));
                let [_, _, preserved] = *expected;
                let rates = [
                    scores.error_rate,
                    scores.match_error_rate,
                    scores.information_preserved,
                ];
                assert_eq!(rates, *expected, "{profile}: {reference:?} {prediction:?}");
                assert_eq!(
                    scores.information_lost,
                    preserved.map(|preserved| 1.0 - preserved)
                );
                assert_eq!(scores.mean_error_rate, scores.error_rate);
            }
        }
    }

    #[test]
    fn rules_for_nothing_hold_for_the_sums() {
        let metric = EditRate::default();
        let mut state = metric.measure("a", "");
        metric.update(&mut state, "b", "b");
        let scores = metric.compute(&state);
        assert_eq!(scores.error_rate, Some(1.0));
        assert_eq!(scores.mean_error_rate, Some((1.0 + 0.0) / 2.0));
        assert_eq!(scores.match_error_rate, Some(1.0 / 2.0));
    }

    #[test]
    fn texts_without_end_are_no_trouble() {
        let megabytes = 5_000_000;
        let edits = |unit, prediction: &str, reference: &str| {
            let metric = EditRate {
                unit,
                ..EditRate::default()
            };
            metric.measure(prediction, reference).edits
        };
        // Ten megabytes of accents are one grapheme cluster, or that many code points.
        let accents = "\u{301}".repeat(megabytes);
        let other = format!("{accents}\u{302}");
        let one = Edits {
            substitutions: 1,
            ..Edits::default()
        };
        assert_eq!(edits(Unit::Grapheme, &accents, &other), one);
        assert_eq!(edits(Unit::Word, &accents, &other), one);
        let hits = megabytes as u64;
        assert_eq!(
            edits(Unit::CodePoint, &accents, &other),
            Edits {
                hits,
                deletions: 1,
                ..Edits::default()
            }
        );
        let turned = format!("\0{}", &accents[2..]);
        let one = Edits {
            hits: hits - 1,
            substitutions: 1,
            ..Edits::default()
        };
        assert_eq!(edits(Unit::CodePoint, &turned, &accents), one);
        // Such characters are not units of mixed text.
        for unit in [Unit::Word, Unit::CodePoint, Unit::Grapheme] {
            assert_eq!(edits(unit, "\0", "\u{378}\u{10ffff}").errors().min(1), 1);
        }
    }

    proptest! {
        #[test]
        fn shards_in_any_order_are_the_whole(
            pairs in proptest::collection::vec(("[abа ]{0,9}", "[abа ]{0,9}"), 0..12),
        ) {
            for &unit in Unit::ALL {
                let metric = EditRate { unit, confusions: true, ..EditRate::default() };
                let pool = |pairs: &[(String, String)]| pairs.iter().fold(
                    EditState::default(),
                    |mut state, (p, r)| { metric.update(&mut state, p, r); state },
                );
                let single = pairs.chunks(1).map(pool);
                prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), pool(&pairs));
            }
        }

        #[test]
        fn ways_to_the_same_edits(a in "[abéя\u{301} ]{0,40}", b in "[abéя\u{301} ]{0,40}") {
            for &unit in Unit::ALL {
                for &profile in EditProfile::ALL {
                    let metric = EditRate { unit, profile, ..EditRate::default() };
                    let counted = EditRate { confusions: true, ..metric.clone() }.measure(&a, &b);
                    let [reference, prediction] = [&b, &a].map(|text| metric.prepare(text));
                    let [reference, prediction] = [&reference, &prediction].map(|text| unit.split(text, profile));
                    let edits = Alignment::under(profile, &reference, &prediction).edits();
                    prop_assert_eq!(metric.measure(&a, &b).edits, edits);
                    prop_assert_eq!(counted.edits, edits);
                    let errors: u64 = counted.confusions.iter().map(|(_, _, count)| count).sum();
                    prop_assert_eq!(errors, edits.errors());
                }
            }
        }
    }
}
