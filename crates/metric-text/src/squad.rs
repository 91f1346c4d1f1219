//! Question answering over text, as the Stanford Question Answering Dataset (SQuAD) scores it: the
//! share of exact answers, and F1 over words.

use std::borrow::Cow;

use metric_core::{Accuracy, Mean, Metric, fields, named_choice, named_scores};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::normalize;

/// Returns SQuAD's F1 over words of pairs of a prediction and the accepted answers, under version 1.1; undefined without
/// questions.
///
/// ```
/// use metric_text::squad_f1;
///
/// // Of 2 words both are in the answer, which has 3; "the" does not count: 2 * 2 / (2 + 3).
/// assert_eq!(squad_f1([("the black cat", ["a black cat sat"])]), Some(4.0 / 5.0));
/// ```
#[must_use]
pub fn squad_f1<'t, A, T>(pairs: impl IntoIterator<Item = (&'t str, A)>) -> Option<f64>
where
    A: AsRef<[T]>,
    T: AsRef<str>,
{
    let values = pairs.into_iter();
    let values =
        values.map(|(prediction, answers)| Squad::default().values(prediction, answers.as_ref()).1);
    values.collect::<Mean>().value()
}

/// Exact match and F1 of answers, under a [`SquadProfile`].
///
/// The value of a question is the greatest over its answers, and the scores are means over questions. Questions without
/// an answer count: see [`SquadProfile::V2`]. Under [`SquadProfile::V1`] they score 0.
///
/// P. Rajpurkar et al., *SQuAD: 100,000+ Questions for Machine Comprehension of Text* (2016),
/// section 6.1; *Know What You Don't Know* (2018).
///
/// ```
/// use metric_core::Metric;
/// use metric_text::Squad;
///
/// let squad = Squad::default();
/// let answers = ["Denver Broncos".to_owned(), "The Denver Broncos".to_owned()];
/// let mut state = squad.measure("the Denver Broncos!", &answers);
/// squad.update(&mut state, "Broncos", &answers); // precision 1, recall 1/2: F1 2/3
/// let score = squad.compute(&state);
/// assert_eq!(score.exact_match, Some(0.5));
/// assert_eq!(score.f1, Some((1.0 + 2.0 / 3.0) / 2.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Squad {
    /// The convention to follow.
    pub profile: SquadProfile,
}

/// The scores of [`Squad`]; undefined without questions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SquadScore {
    /// The share of predictions that equal an answer after [`normalize()`].
    pub exact_match: Option<f64>,
    /// The mean of F1 over words, in \[0, 1\].
    pub f1: Option<f64>,
}

named_scores!(SquadScore { exact_match, f1 });

/// The state of [`Squad`]: the counts and sums from which its scores are computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The questions with an exact answer, of all.
    pub exact: Accuracy,
    /// F1 of the questions.
    pub f1: Mean,
}

fields!(Evidence { exact, f1 });

impl Squad {
    /// Returns whether the prediction exactly matches one of the answers, and its greatest F1 over the answers.
    ///
    /// ```
    /// use metric_text::squad::{SquadProfile, Squad};
    ///
    /// let squad = Squad { profile: SquadProfile::V2 };
    /// assert_eq!(squad.values("a cat", &["The cat", "my cat"]), (true, 1.0));
    /// // No answer is right where there is none.
    /// assert_eq!(squad.values("", &[] as &[&str]), (true, 1.0));
    /// assert_eq!(squad.values("cat", &[] as &[&str]), (false, 0.0));
    /// ```
    #[must_use]
    pub fn values<T: AsRef<str>>(&self, prediction: &str, answers: &[T]) -> (bool, f64) {
        let prediction = normalize(prediction);
        let mut words: Vec<&str> = words(&prediction).collect();
        words.sort_unstable();
        let mut best = (false, 0.0_f64);
        let mut answered = false;
        let mut compare = |answer: &str| {
            let f1 = self.profile.f1(&words, answer);
            best = (best.0 || answer == prediction, best.1.max(f1));
        };
        let mut previous = None;
        for answer in answers {
            // Annotators often agree, and nothing new comes from the same answer.
            if previous.replace(answer.as_ref()) == Some(answer.as_ref()) {
                continue;
            }
            let answer = normalize(answer.as_ref());
            if self.profile.allows_no_answer() && answer.is_empty() {
                continue;
            }
            answered = true;
            compare(&answer);
        }
        if self.profile.allows_no_answer() && !answered {
            compare("");
        }
        best
    }
}

impl Squad {
    /// Returns the values of a question that counts as unanswered, whatever was predicted: correct if there are no
    /// answers.
    ///
    /// This is how `evaluate-v2.0.py` scores a question whose probability of having no answer is above the threshold. It
    /// asks whether there are answers, also such that normalization leaves nothing of.
    ///
    /// ```
    /// use metric_text::Squad;
    ///
    /// assert_eq!(Squad::unanswered_values(&[] as &[&str]), (true, 1.0));
    /// assert_eq!(Squad::unanswered_values(&["the"]), (false, 0.0));
    /// ```
    #[must_use]
    pub fn unanswered_values<T: AsRef<str>>(answers: &[T]) -> (bool, f64) {
        let is_correct = answers.is_empty();
        (is_correct, f64::from(u8::from(is_correct)))
    }
}

impl Evidence {
    /// Returns the state of one question with these values.
    #[must_use]
    pub fn of_values((exact, f1): (bool, f64)) -> Self {
        let mut state = Self::default();
        state.add(exact, f1);
        state
    }

    fn add(&mut self, exact: bool, f1: f64) {
        self.exact.record(exact);
        self.f1.add(f1);
    }
}

impl Metric for Squad {
    type Prediction = str;
    type Reference = [String];
    type State = Evidence;
    type Score = SquadScore;

    fn update(&self, state: &mut Evidence, prediction: &str, reference: &[String]) {
        let (exact, f1) = self.values(prediction, reference);
        state.add(exact, f1);
    }

    fn compute(&self, state: &Evidence) -> SquadScore {
        SquadScore {
            exact_match: state.exact.value(),
            f1: state.f1.value(),
        }
    }
}

/// The version of the data set and of its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SquadProfile {
    /// `v1.1`: each question has an answer.
    ///
    /// This is how `evaluate-v1.1.py` computes it. Known defect: where nothing is left of both texts by normalization
    /// (`the` and `The`) they match exactly, with an F1 of 0. Its percentages are fractions here.
    #[default]
    V1,
    /// `v2`: a question may have no answer, and then the empty prediction is correct.
    ///
    /// This is how `evaluate-v2.0.py` computes it. Answers of which normalization leaves nothing do not count, and a
    /// question with no others has no answer.
    V2,
}

impl SquadProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[Self::V1, Self::V2];

    /// Returns the name of the profile, as it appears in signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1.1",
            Self::V2 => "v2",
        }
    }

    /// Returns whether a question may have no answer, which an empty prediction matches.
    #[must_use]
    pub const fn allows_no_answer(self) -> bool {
        match self {
            Self::V1 => false,
            Self::V2 => true,
        }
    }

    /// F1 of sorted words against those of an answer.
    fn f1(self, predicted: &[&str], answer: &str) -> f64 {
        let mut true_words: Vec<&str> = words(answer).collect();
        if self.allows_no_answer() && (predicted.is_empty() || true_words.is_empty()) {
            return f64::from(u8::from(predicted.len() == true_words.len()));
        }
        true_words.sort_unstable();
        let shared = shared(predicted, &true_words);
        if shared == 0 {
            return 0.0;
        }
        // The arithmetic of the program, whose last bit is not that of 2 · shared / both.
        let precision = shared as f64 / predicted.len() as f64;
        let recall = shared as f64 / true_words.len() as f64;
        (2.0 * precision * recall) / (precision + recall)
    }
}

named_choice!(SquadProfile, "SQuAD profile");

/// Returns a text as SQuAD compares it: lowercase, without ASCII punctuation, without the words
/// `a`, `an` and `the`, and with single spaces between words.
///
/// Words end where Python's `\b` has it: at what is neither a letter, a number nor `_`, which
/// combining marks are not. Linear in the length of the text.
///
/// ```
/// use metric_text::squad::normalize;
///
/// assert_eq!(normalize(" The  U.S., an “a” "), "us “ ”");
/// assert_eq!(normalize("it's a-b"), "its ab");
/// ```
#[must_use]
pub fn normalize(text: &str) -> String {
    let lower = if text.is_ascii() {
        Cow::Borrowed(text) // each letter is lowered on its way
    } else {
        normalize::lower(text)
    };
    let mut normal = Normal {
        text: String::with_capacity(lower.len()),
        ..Normal::default()
    };
    for c in lower.chars().filter(|c| !c.is_ascii_punctuation()) {
        if is_word(c) {
            normal.letter(c.to_ascii_lowercase());
        } else {
            normal.end_word();
            normal.between_words(c);
        }
    }
    normal.end_word();
    normal.text
}

/// A normalized text, as far as it is written.
#[derive(Default)]
struct Normal {
    text: String,
    /// Whether white space or an article came after the last part of the text.
    space: bool,
    /// The lengths of the text before the space in front of the current word, and before its first letter.
    word: Option<(usize, usize)>,
}

impl Normal {
    fn letter(&mut self, c: char) {
        if self.word.is_none() {
            let before = self.text.len();
            self.separate();
            self.word = Some((before, self.text.len()));
        }
        self.text.push(c);
    }

    fn between_words(&mut self, c: char) {
        if normalize::is_space(c) {
            self.space = true;
        } else {
            self.separate();
            self.text.push(c);
            self.space = false;
        }
    }

    /// Ends the current word, which is removed if it is an article.
    fn end_word(&mut self) {
        let Some((before, start)) = self.word.take() else {
            return;
        };
        self.space = matches!(self.text.get(start..), Some("a" | "an" | "the"));
        if self.space {
            self.text.truncate(before);
        }
    }

    fn separate(&mut self) {
        if self.space && !self.text.is_empty() {
            self.text.push(' ');
        }
    }
}

/// Python's `\w`, except for the underscore, which was removed with the punctuation.
fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
    )
}

fn words(normalized: &str) -> impl Iterator<Item = &str> {
    normalized.split(' ').filter(|word| !word.is_empty())
}

/// The number of words that two sorted lists share, each counted as often as it is in both.
fn shared(a: &[&str], b: &[&str]) -> usize {
    /// A list this many times as long is searched, not walked: many short answers share a long
    /// prediction.
    const LONGER: usize = 32;
    if a.len() / LONGER > b.len() {
        let words = b.chunk_by(|word, next| word == next);
        let both = words.map(|words| {
            let is_before = |other: &&str| words.first().is_some_and(|word| other < word);
            let equal = a.iter().skip(a.partition_point(is_before)).zip(words);
            equal.take_while(|(a, b)| a == b).count()
        });
        return both.sum();
    }
    let mut others = b.iter().peekable();
    let mut shared = 0;
    for word in a {
        while others.next_if(|other| *other < word).is_some() {}
        shared += usize::from(others.next_if(|other| *other == word).is_some());
    }
    shared
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn normalization_by_hand() {
        let rows = [
            ("", ""),
            ("the", ""),
            ("The theatre, an anthem", "theatre anthem"),
            // Punctuation goes before words are told apart.
            ("a.b a-n", "ab"),
            ("a\u{301} x", "\u{301} x"),
            ("xa\u{301}", "xa\u{301}"),
            ("«a»", "« »"),
            ("a\u{a0}b\tc", "b c"),
            ("aа", "aа"),
            ("a²", "a²"),
            ("A\0the", "\0"),
        ];
        for (text, expected) in rows {
            assert_eq!(normalize(text), expected, "{text:?}");
        }
    }

    /// The steps of the program one after another, each on the whole text.
    fn normalized_in_steps(text: &str) -> String {
        let lower = text.to_lowercase();
        let plain: String = lower
            .chars()
            .filter(|c| !c.is_ascii_punctuation())
            .collect();
        let marked = plain.chars().fold(String::new(), |mut marked, c| {
            let end = marked.chars().next_back();
            if end.is_some_and(|end| is_word(end) != is_word(c)) {
                marked.push('|');
            }
            marked.push(c);
            marked
        });
        let is_article = |part: &&str| ["a", "an", "the"].contains(part);
        let parts = marked
            .split('|')
            .map(|part| if is_article(&part) { " " } else { part });
        let spaced = parts.collect::<String>();
        let words = spaced
            .split(normalize::is_space)
            .filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn values_by_hand() {
        type Row = (
            &'static str,
            &'static [&'static str],
            (bool, f64),
            (bool, f64),
        );
        let rows: &[Row] = &[
            ("cat", &["cat"], (true, 1.0), (true, 1.0)),
            ("cat cat", &["cat dog"], (false, 0.5), (false, 0.5)),
            ("x", &["y", "x z"], (false, 2.0 / 3.0), (false, 2.0 / 3.0)),
            ("the", &["a"], (true, 0.0), (true, 1.0)),
            ("", &["cat"], (false, 0.0), (false, 0.0)),
            ("", &[], (false, 0.0), (true, 1.0)),
            ("cat", &["the"], (false, 0.0), (false, 0.0)),
            // An empty answer next to a real one does not count in version 2.
            ("", &["", "cat"], (true, 0.0), (false, 0.0)),
        ];
        for (prediction, answers, v1, v2) in rows {
            let values = |profile| Squad { profile }.values(prediction, answers);
            assert_eq!(
                values(SquadProfile::V1),
                *v1,
                "v1.1 {prediction:?} {answers:?}"
            );
            assert_eq!(
                values(SquadProfile::V2),
                *v2,
                "v2 {prediction:?} {answers:?}"
            );
        }
        let nothing = Squad::default().compute(&Evidence::default());
        assert_eq!(nothing, SquadScore::default());
    }

    #[test]
    fn names_are_read_as_printed() {
        for profile in SquadProfile::ALL {
            assert_eq!(profile.to_string().parse(), Ok(*profile));
        }
    }

    proptest! {
        #[test]
        fn long_lists_share_as_many_words(a in "[abc]{0,300}", b in "[abcd]{0,9}") {
            let sorted = |text: &str| {
                let mut letters: Vec<char> = text.chars().collect();
                letters.sort_unstable();
                letters.iter().map(char::to_string).collect::<Vec<_>>()
            };
            let (a, b) = (sorted(&a), sorted(&b));
            let count = |list: &[String], letter: &str| list.iter().filter(|other| *other == letter).count();
            let letters = ["a", "b", "c", "d"].into_iter();
            let expected: usize = letters.map(|letter| count(&a, letter).min(count(&b, letter))).sum();
            let [a, b] = [&a, &b].map(|list| list.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert_eq!((shared(&a, &b), shared(&b, &a)), (expected, expected));
        }

        #[test]
        fn one_pass_gives_what_the_steps_give(
            near in "([aAnN]|the|The|[ ,.'\\-\t\u{1c}\u{a0}«éÉİΣ²\u{301}\u{0}b7]){0,24}",
            any in any::<String>(),
        ) {
            prop_assert_eq!(normalize(&near), normalized_in_steps(&near));
            prop_assert_eq!(normalize(&any), normalized_in_steps(&any));
        }

        #[test]
        fn equal_answers_count_once(answers in proptest::collection::vec("[ab ]{0,3}", 1..4), prediction in "[ab ]{0,3}") {
            let twice: Vec<&String> = answers.iter().flat_map(|answer| [answer; 2]).collect();
            for profile in SquadProfile::ALL {
                let squad = Squad { profile: *profile };
                let one_by_one = answers.iter().map(|answer| squad.values(&prediction, &[answer]));
                let expected = one_by_one.fold((false, 0.0), |best, one| (best.0 || one.0, f64::max(best.1, one.1)));
                if !answers.iter().any(|answer| normalize(answer).is_empty()) {
                    prop_assert_eq!(squad.values(&prediction, &twice), expected);
                }
                prop_assert_eq!(squad.values(&prediction, &twice), squad.values(&prediction, &answers));
            }
        }

        #[test]
        fn normalization_twice_is_once_without_marks(text in "[abtheAN ,.'«é0-9\t]{0,20}") {
            let once = normalize(&text);
            prop_assert_eq!(normalize(&once), once);
        }

        #[test]
        fn shards_in_any_order_are_the_whole(
            pairs in proptest::collection::vec(("[ab ]{0,6}", proptest::collection::vec("[ab ]{0,6}", 0..3)), 0..9),
        ) {
            let pool = |pairs: &[(String, Vec<String>)]| {
                let mut state = Evidence::default();
                pairs.iter().for_each(|(p, answers)| Squad::default().update(&mut state, p, answers));
                state
            };
            let single = pairs.chunks(1).map(pool);
            prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), pool(&pairs));
        }

        #[test]
        fn any_texts_have_values(a in any::<String>(), b in any::<String>()) {
            for profile in SquadProfile::ALL {
                let squad = Squad { profile: *profile };
                let (exact, f1) = squad.values(&a, &[&b]);
                prop_assert!((0.0..=1.0).contains(&f1));
                prop_assert_eq!(squad.values(&b, &[&a]).0, exact);
                prop_assert!(squad.values(&a, &[&a]).0);
            }
        }
    }
}
