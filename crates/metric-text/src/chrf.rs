//! chrF and chrF++: how many n-grams of characters, and of words, a prediction shares with its reference.

use std::borrow::Cow;

use metric_core::{Merge, Metric, NamedScores, fields};

use crate::normalize;
use crate::translation::{ReferenceCounts, Vocabulary, for_each_shared, is_space, ngram_count};

/// Returns the chrF of pairs of a prediction and its references, as sacreBLEU computes it with its default options, but
/// as a fraction. It is undefined without pairs.
///
/// ```
/// use metric_text::chrf;
///
/// // 2 of 3 letters and 1 of 2 pairs are in the reference, and 0 of 1 triples, both ways.
/// let score = chrf([("abc", ["abd"])]).unwrap();
/// assert!((score - (2.0 / 3.0 + 1.0 / 2.0 + 0.0) / 3.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn chrf<'t, A, T>(pairs: impl IntoIterator<Item = (&'t str, A)>) -> Option<f64>
where
    A: AsRef<[T]>,
    T: AsRef<str>,
{
    let chrf = Chrf::default();
    let mut state = ChrfState::default();
    for (prediction, references) in pairs {
        chrf.add(&mut state, prediction, references.as_ref());
    }
    chrf.compute(&state).chrf
}

/// Character n-gram F-score (chrF), and chrF++ with n-grams of words: F of the mean precision and the mean recall of all
/// orders.
///
/// Counts of all examples are added up, and the score is computed from the sums. Of several references the one with the
/// highest score counts, and the first of those with equal scores. A prediction without references is compared with one
/// that is empty. A higher score is better.
///
/// M. Popović, *chrF: character n-gram F-score for automatic MT evaluation* (2015), *chrF++: words helping character
/// n-grams* (2017); sacreBLEU 2.6.0.
///
/// ```
/// use metric_core::Metric;
/// use metric_text::Chrf;
///
/// let chrf = Chrf::default().with_word_order(2); // chrF++
/// let state = chrf.measure("a cat.", &["a dog".to_owned(), "the cat.".to_owned()]);
/// // Of 5 letters 4 are in the second reference, which has 7; pairs: 3 of 4 (in 6), ... words: 2 of 3 (in 3).
/// assert_eq!(state.statistics[0], [5, 7, 4]);
/// assert_eq!(state.statistics[1], [4, 6, 3]);
/// assert_eq!(state.statistics[6], [3, 3, 2]);
///
/// let letters = Chrf::default().with_char_order(1);
/// let score = letters.score_all([("a cat.", &["the cat.".to_owned()][..])]);
/// let (precision, recall) = (4.0 / 5.0, 4.0 / 7.0);
/// assert_eq!(score.percent, Some(100.0 * (5.0 * precision * recall / (4.0 * precision + recall))));
/// ```
///
/// # Cost
///
/// Sorting the characters and words of each prediction and each reference.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chrf {
    /// The greatest length of n-grams of characters.
    pub char_order: usize,
    /// The greatest length of n-grams of words: 0 for chrF, 2 for chrF++.
    ///
    /// Without orders, of characters or of words, the score is 0, or undefined with
    /// [`eps_smoothing`](Self::eps_smoothing).
    pub word_order: usize,
    /// How many times as important as precision recall is.
    pub beta: f64,
    /// Whether texts are compared in lowercase.
    pub lowercase: bool,
    /// Whether white space counts as characters.
    pub whitespace: bool,
    /// Whether the score is the mean of F over all orders, as in the original program (`chrF++.py`), also over orders
    /// without n-grams.
    pub eps_smoothing: bool,
}

impl Default for Chrf {
    /// The default options of sacreBLEU.
    fn default() -> Self {
        Self {
            char_order: 6,
            word_order: 0,
            beta: 2.0,
            lowercase: false,
            whitespace: false,
            eps_smoothing: false,
        }
    }
}

metric_core::setters!(Chrf {
    with_char_order => char_order: usize,
    with_word_order => word_order: usize,
    with_beta => beta: f64,
    with_lowercase => lowercase: bool,
    with_whitespace => whitespace: bool,
    with_eps_smoothing => eps_smoothing: bool,
});

/// The score of [`Chrf`]; undefined without examples, and if [`beta`](Chrf::beta) makes it no number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ChrfScore {
    /// chrF, a fraction.
    pub chrf: Option<f64>,
    /// chrF as sacreBLEU returns it: the percentage from which [`chrf`](Self::chrf) was computed.
    pub percent: Option<f64>,
}

impl NamedScores for ChrfScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        vec![("chrf".to_owned(), self.chrf)]
    }
}

/// The state of [`Chrf`]: the counts from which its score is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChrfState {
    /// For each order of characters and then of words, the n-grams of predictions, the n-grams of references, and the
    /// matches.
    ///
    /// N-grams of a prediction whose reference has none of their order are not counted.
    pub statistics: Vec<[u64; 3]>,
    /// The number of references of the examples.
    pub references: ReferenceCounts,
}

fields!(ChrfState {
    statistics,
    references
});

impl Metric for Chrf {
    type Prediction = str;
    type Reference = [String];
    type State = ChrfState;
    type Score = ChrfScore;

    fn update(&self, state: &mut ChrfState, prediction: &str, reference: &[String]) {
        self.add(state, prediction, reference);
    }

    fn compute(&self, state: &ChrfState) -> ChrfScore {
        let has_examples = state.references.range().is_some();
        let percent = has_examples
            .then(|| self.percent(&state.statistics))
            .flatten()
            .filter(|percent| percent.is_finite());
        ChrfScore {
            chrf: percent.map(|percent| percent / 100.0),
            percent,
        }
    }
}

impl Chrf {
    /// Adds an example to a state, as [`update`](Metric::update) does, for references of any type of text.
    ///
    /// Returns the index of the reference that counts.
    pub fn add<T: AsRef<str>>(
        &self,
        state: &mut ChrfState,
        prediction: &str,
        references: &[T],
    ) -> Option<usize> {
        let statistics = self.statistics(prediction, references);
        let mut best: Option<(usize, f64)> = None;
        for (index, statistics) in statistics.iter().enumerate() {
            let percent = self.percent(statistics).unwrap_or(0.0);
            if best.is_none_or(|(_, highest)| percent > highest) {
                best = Some((index, percent));
            }
        }
        let best = best.map_or(0, |(index, _)| index);
        let chosen = statistics.into_iter().nth(best).unwrap_or_default();
        state.statistics.merge(chosen);
        state
            .references
            .merge(ReferenceCounts::of(references.len()));
        (best < references.len()).then_some(best)
    }

    /// The statistics of the prediction and each reference. Without references there is one that is empty.
    fn statistics<T: AsRef<str>>(&self, prediction: &str, references: &[T]) -> Vec<Vec<[u64; 3]>> {
        let lower = |text| {
            if self.lowercase {
                normalize::lower(text)
            } else {
                Cow::Borrowed(text)
            }
        };
        let references = references.iter().map(AsRef::as_ref);
        let mut texts: Vec<Cow<'_, str>> = [prediction]
            .into_iter()
            .chain(references)
            .map(lower)
            .collect();
        if texts.len() == 1 {
            texts.push("".into());
        }
        let mut statistics =
            vec![Vec::with_capacity(self.char_order + self.word_order); texts.len() - 1];

        let mut characters = Vocabulary::with_capacity(64);
        let numbers = |text: &Cow<'_, str>| {
            let characters_of = text.chars().filter(|c| self.whitespace || !is_space(*c));
            characters_of.map(|c| characters.number(c)).collect()
        };
        let lists: Vec<Vec<u32>> = texts.iter().map(numbers).collect();
        add_statistics(&lists, characters.len(), self.char_order, &mut statistics);
        if self.word_order > 0 {
            let mut vocabulary = Vocabulary::with_capacity(64);
            let numbers = texts.iter().map(|text| {
                let mut numbers = Vec::new();
                for_each_word(text, |word| numbers.push(vocabulary.number(word)));
                numbers
            });
            let lists: Vec<Vec<u32>> = numbers.collect();
            add_statistics(&lists, vocabulary.len(), self.word_order, &mut statistics);
        }
        statistics
    }

    /// F of statistics as a percentage, in the order of operations of sacreBLEU.
    fn percent(&self, statistics: &[[u64; 3]]) -> Option<f64> {
        /// What sacreBLEU puts where it would divide by zero.
        const EPS: f64 = 1e-16;
        let orders = self.char_order + self.word_order;
        let factor = self.beta * self.beta;
        let (mut precisions, mut recalls, mut count) = (0.0, 0.0, 0.0);
        let mut sum = 0.0;
        for order in 0..orders {
            let counts = statistics.get(order).copied().unwrap_or_default();
            let [predicted, reference, matches] = counts.map(|count| count as f64);
            let precision = if predicted > 0.0 {
                matches / predicted
            } else {
                EPS
            };
            let recall = if reference > 0.0 {
                matches / reference
            } else {
                EPS
            };
            let denominator = factor * precision + recall;
            sum += if denominator > 0.0 {
                (1.0 + factor) * precision * recall / denominator
            } else {
                EPS
            };
            if predicted > 0.0 && reference > 0.0 {
                precisions += precision;
                recalls += recall;
                count += 1.0;
            }
        }
        if self.eps_smoothing {
            return (orders > 0).then(|| 100.0 * sum / orders as f64);
        }
        let mean = |sum: f64| if count > 0.0 { sum / count } else { 0.0 };
        let (precision, recall) = (mean(precisions), mean(recalls));
        if precision + recall == 0.0 {
            return Some(0.0); // also without orders
        }
        let f = (1.0 + factor) * precision * recall / (factor * precision + recall);
        Some(100.0 * f)
    }
}

/// Appends the statistics of n-grams up to `max_order` of the first text and each other one.
fn add_statistics(
    texts: &[Vec<u32>],
    greatest: u32,
    max_order: usize,
    statistics: &mut [Vec<[u64; 3]>],
) {
    let [prediction, references @ ..] = texts else {
        return;
    };
    let before = statistics.first().map_or(0, Vec::len);
    for (reference, statistics) in references.iter().zip(&mut *statistics) {
        for order in 1..=max_order {
            let count = ngram_count(reference.len(), order);
            let predicted = if count > 0 {
                ngram_count(prediction.len(), order)
            } else {
                0
            };
            statistics.push([predicted, count, 0]);
        }
    }
    for_each_shared(texts, greatest, max_order, |order, ours, others| {
        for &(reference, count) in others {
            statistics[reference][before + order - 1][2] += ours.min(count);
        }
    });
}

/// Returns the words of a text as chrF++ counts them: separated by white space, and with ASCII punctuation at their end,
/// or else at their beginning, as a word of its own. Only one character is separated.
///
/// ```
/// use metric_text::chrf::words;
///
/// assert_eq!(words("(hi) \"there\" ..."), ["(hi", ")", "\"there", "\"", "..", "."]);
/// assert_eq!(words("$5 ?"), ["$", "5", "?"]);
/// ```
#[must_use]
pub fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for_each_word(text, |word| words.push(word));
    words
}

fn for_each_word<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        let punctuation = |c: char| c.is_ascii_punctuation();
        if word.chars().nth(1).is_none() {
            each(word);
        } else if word.ends_with(punctuation) {
            let (word, end) = word.split_at(word.len() - 1);
            each(word);
            each(end);
        } else if word.starts_with(punctuation) {
            let (start, word) = word.split_at(1);
            each(start);
            each(word);
        } else {
            each(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn percent(chrf: Chrf, prediction: &str, references: &[&str]) -> f64 {
        let mut state = ChrfState::default();
        chrf.add(&mut state, prediction, references);
        chrf.compute(&state).percent.unwrap()
    }

    #[test]
    fn scores_by_hand() {
        let chrf = Chrf::default();
        let eps = chrf.with_eps_smoothing(true);
        // Letters 2/3, pairs 1/2, triples 0/1.
        assert_eq!(percent(chrf, "abc", &["abd"]), 38.888888888888886);
        assert_eq!(percent(eps, "abc", &["abd"]), 19.444444444444443);
        assert_eq!(percent(chrf, "a b", &["ab"]), 100.0);
        assert_eq!(
            percent(
                chrf.with_whitespace(true).with_char_order(1),
                "a b",
                &["ab"]
            ),
            100.0 * (5.0 * (2.0 / 3.0) / (4.0 * (2.0 / 3.0) + 1.0))
        );
        assert_eq!(percent(chrf, "AB", &["ab"]), 0.0);
        assert_eq!(percent(chrf.with_lowercase(true), "AB", &["ab"]), 100.0);
        assert_eq!(percent(eps, "abc", &["abc"]), 50.0);
        for (prediction, reference) in [("", ""), ("a", ""), ("", "a")] {
            assert_eq!(percent(chrf, prediction, &[reference]), 0.0);
            let smoothed = percent(eps, prediction, &[reference]);
            assert!(smoothed > 0.0 && smoothed < 1e-13);
        }
        assert_eq!(percent(chrf, "a", &[]), 0.0);
    }

    #[test]
    fn the_first_of_the_best_references_counts() {
        let chrf = Chrf::default();
        let chosen = |references: &[&str]| chrf.add(&mut ChrfState::default(), "ab", references);
        assert_eq!(chosen(&["cd", "ab", "ab"]), Some(1));
        assert_eq!(chosen(&["", "cd", "ef"]), Some(0));
        assert_eq!(chosen(&[]), None);
    }

    #[test]
    fn scores_without_orders_or_examples_are_undefined() {
        let none = Chrf::default().with_char_order(0);
        let state = none.measure("a", &["a".to_owned()]);
        assert_eq!(none.compute(&state).percent, Some(0.0));
        assert_eq!(
            none.with_eps_smoothing(true).compute(&state),
            ChrfScore::default()
        );
        assert_eq!(
            Chrf::default().compute(&ChrfState::default()),
            ChrfScore::default()
        );
        assert_eq!(none.with_word_order(1).compute(&state).percent, Some(0.0));
    }

    proptest! {
        #[test]
        fn shards_in_any_order_are_the_whole(
            pairs in vec(("[ab .]{0,6}", vec("[ab .]{0,6}", 0..3)), 0..9),
        ) {
            let chrf = Chrf::default().with_word_order(2);
            let pool = |pairs: &[(String, Vec<String>)]| {
                let mut state = ChrfState::default();
                pairs.iter().for_each(|(p, references)| chrf.update(&mut state, p, references));
                state
            };
            let single = pairs.chunks(1).map(pool);
            prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), pool(&pairs));
        }

        #[test]
        fn with_equal_weights_texts_can_be_exchanged(a in "[abc .]{0,12}", b in "[abc .]{0,12}") {
            let chrf = Chrf::default().with_word_order(2).with_beta(1.0);
            prop_assert_eq!(percent(chrf, &a, &[&b]), percent(chrf, &b, &[&a]));
            let same = percent(chrf, &a, &[&a]);
            prop_assert!(same == 100.0 || a.chars().all(is_space));
        }

        #[test]
        fn any_texts_have_a_score(a in any::<String>(), b in any::<String>(), options in any::<(bool, bool, bool)>()) {
            let (lowercase, whitespace, eps_smoothing) = options;
            let chrf = Chrf { lowercase, whitespace, eps_smoothing, word_order: 2, ..Chrf::default() };
            let score = percent(chrf, &a, &[&b]);
            prop_assert!((0.0..=100.0).contains(&score));
        }
    }
}
