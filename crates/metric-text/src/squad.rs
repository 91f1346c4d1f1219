//! Question answering over text, as the Stanford Question Answering Dataset (SQuAD) scores it: the
//! share of exact answers, and F1 over words.

mod runs;

use std::borrow::Cow;

use metric_core::{Accuracy, Mean, Metric, fields, named_choice, named_scores};

use crate::characters::{PUNCTUATION, is, is_word};
use crate::normalize;
use runs::longest_common_run;

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
#[non_exhaustive]
pub struct Squad {
    /// The convention to follow.
    pub profile: SquadProfile,
    /// The language of the answers, which only [`SquadProfile::Mlqa`] asks for.
    pub language: Language,
}

metric_core::setters!(Squad {
    with_profile => profile: SquadProfile,
    with_language => language: Language,
});

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
    /// let squad = Squad::default().with_profile(SquadProfile::V2);
    /// assert_eq!(squad.values("a cat", &["The cat", "my cat"]), (true, 1.0));
    /// // No answer is right where there is none.
    /// assert_eq!(squad.values("", &[] as &[&str]), (true, 1.0));
    /// assert_eq!(squad.values("cat", &[] as &[&str]), (false, 0.0));
    /// ```
    #[must_use]
    pub fn values<T: AsRef<str>>(&self, prediction: &str, answers: &[T]) -> (bool, f64) {
        let prediction = self.normalize(prediction);
        let words = self.profile.units(&prediction);
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
            let answer = self.normalize(answer.as_ref());
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

    /// Returns a text as the profile compares it.
    ///
    /// ```
    /// use metric_text::Squad;
    /// use metric_text::squad::{Language, SquadProfile};
    ///
    /// let mlqa = Squad::default().with_profile(SquadProfile::Mlqa);
    /// assert_eq!(mlqa.with_language(Language::German).normalize("Der „Rhein“, 5 %"), "rhein 5");
    /// assert_eq!(mlqa.with_language(Language::Chinese).normalize("今天，OK"), "今 天 ok");
    /// ```
    #[must_use]
    pub fn normalize(&self, text: &str) -> String {
        match self.profile {
            SquadProfile::V1 | SquadProfile::V2 => normalize(text),
            SquadProfile::Mlqa => normalize_mlqa(text, self.language),
            SquadProfile::Cmrc => {
                let lower = normalize::lower(text);
                let stripped = lower.trim_matches(normalize::is_space);
                normalize::without(stripped, |c| CMRC_PUNCTUATION.contains(c)).into_owned()
            }
        }
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
    /// `mlqa`: questions in seven languages, as `mlqa_evaluation_v1.py` of MLQA (commit 24bf470) scores them, with the
    /// articles of the [`Language`], all punctuation of Unicode removed, and Chinese by character.
    ///
    /// Known defect: as in `v1.1`, where nothing is left of both texts.
    ///
    /// P. Lewis et al., *MLQA: Evaluating Cross-lingual Extractive Question Answering* (2020).
    Mlqa,
    /// `cmrc`: questions in Chinese, as `cmrc2018_evaluate.py` of CMRC 2018 (commit c0eb1b6) scores them: F1 over the
    /// longest run of units that both answers have in common. A unit is a Han character, or text without Han up to white
    /// space, where the program asks a tokenizer of NLTK.
    ///
    /// Y. Cui et al., *A Span-Extraction Dataset for Chinese Machine Reading Comprehension* (2019).
    Cmrc,
}

impl SquadProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[Self::V1, Self::V2, Self::Mlqa, Self::Cmrc];

    /// Returns the name of the profile, as it appears in signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1.1",
            Self::V2 => "v2",
            Self::Mlqa => "mlqa",
            Self::Cmrc => "cmrc",
        }
    }

    /// Returns whether a question may have no answer, which an empty prediction matches.
    #[must_use]
    pub const fn allows_no_answer(self) -> bool {
        match self {
            Self::V1 | Self::Mlqa | Self::Cmrc => false,
            Self::V2 => true,
        }
    }

    /// The units of a normalized text, in order if they are compared as a run, and otherwise sorted.
    fn units(self, normalized: &str) -> Vec<&str> {
        if self == Self::Cmrc {
            return han_units(normalized);
        }
        let mut words: Vec<&str> = words(normalized).collect();
        words.sort_unstable();
        words
    }

    /// F1 of units against those of an answer.
    fn f1(self, predicted: &[&str], answer: &str) -> f64 {
        let true_units = self.units(answer);
        if self.allows_no_answer() && (predicted.is_empty() || true_units.is_empty()) {
            return f64::from(u8::from(predicted.len() == true_units.len()));
        }
        let shared = match self {
            Self::Cmrc => longest_common_run(predicted, &true_units),
            Self::V1 | Self::V2 | Self::Mlqa => shared(predicted, &true_units),
        };
        if shared == 0 {
            return 0.0;
        }
        // The arithmetic of the program, whose last bit is not that of 2 · shared / both.
        let precision = shared as f64 / predicted.len() as f64;
        let recall = shared as f64 / true_units.len() as f64;
        (2.0 * precision * recall) / (precision + recall)
    }
}

named_choice!(SquadProfile, "SQuAD profile");

/// A language of MLQA, whose articles do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// `en`: English.
    #[default]
    English,
    /// `es`: Spanish.
    Spanish,
    /// `hi`: Hindi.
    Hindi,
    /// `vi`: Vietnamese.
    Vietnamese,
    /// `de`: German.
    German,
    /// `ar`: Arabic. Each `ال` is an article, also inside a word.
    Arabic,
    /// `zh`: Chinese, by character.
    Chinese,
}

impl Language {
    /// All languages.
    pub const ALL: &[Self] = &[
        Self::English,
        Self::Spanish,
        Self::Hindi,
        Self::Vietnamese,
        Self::German,
        Self::Arabic,
        Self::Chinese,
    ];

    /// Returns the code of the language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Spanish => "es",
            Self::Hindi => "hi",
            Self::Vietnamese => "vi",
            Self::German => "de",
            Self::Arabic => "ar",
            Self::Chinese => "zh",
        }
    }

    /// The words that do not count.
    const fn articles(self) -> &'static [&'static str] {
        match self {
            Self::English => ENGLISH_ARTICLES,
            Self::Spanish => &["un", "una", "unos", "unas", "el", "la", "los", "las"],
            Self::Vietnamese => &["của", "là", "cái", "chiếc", "những"],
            Self::German => &[
                "ein", "eine", "einen", "einem", "eines", "einer", "der", "die", "das", "den",
                "dem", "des",
            ],
            Self::Hindi | Self::Arabic | Self::Chinese => &[],
        }
    }
}

named_choice!(Language, "language");

const ENGLISH_ARTICLES: &[&str] = &["a", "an", "the"];

/// What CMRC removes. `‘`, `,`, `.` and `…` stay.
const CMRC_PUNCTUATION: &str = "`-:_*^/\\~+=，。：？！“”；’《》·、「」（）－～『』";

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
    let kept = lower.chars().filter(|c| !c.is_ascii_punctuation());
    without_articles(kept.map(|c| c.to_ascii_lowercase()), ENGLISH_ARTICLES)
}

fn normalize_mlqa(text: &str, language: Language) -> String {
    let lower = normalize::lower(text);
    let kept = normalize::without(&lower, |c| {
        c.is_ascii_punctuation() || !c.is_ascii() && is(c, PUNCTUATION)
    });
    match language {
        Language::Arabic => words_of(&kept.replace("ال", " ")),
        Language::Chinese => {
            let mut units = Vec::new();
            for word in normalize::words(&kept) {
                units.extend(han_units(word));
            }
            units.join(" ")
        }
        _ => without_articles(kept.chars(), language.articles()),
    }
}

/// The words of a text, separated by single spaces.
fn words_of(text: &str) -> String {
    normalize::words(text).collect::<Vec<_>>().join(" ")
}

/// Han characters one by one, and the text between them up to white space.
fn han_units(text: &str) -> Vec<&str> {
    let is_han = |c: char| matches!(c, '\u{4e00}'..='\u{9fa5}');
    let mut units = Vec::new();
    let mut rest = text;
    while let Some(index) = rest.find(is_han) {
        let (before, from) = rest.split_at(index);
        let (han, after) = from.split_at(from.chars().next().map_or(0, char::len_utf8));
        units.extend(normalize::words(before));
        units.push(han);
        rest = after;
    }
    units.extend(normalize::words(rest));
    units
}

/// Words without articles, with single spaces between them.
fn without_articles(
    chars: impl Iterator<Item = char>,
    articles: &'static [&'static str],
) -> String {
    let mut normal = Normal {
        text: String::with_capacity(chars.size_hint().0),
        articles,
        ..Normal::default()
    };
    for c in chars {
        if is_word(c) {
            normal.letter(c);
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
    /// Words that are removed.
    articles: &'static [&'static str],
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
        let word = self.text.get(start..).unwrap_or_default();
        self.space = self.articles.contains(&word);
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
            let values = |profile| {
                Squad::default()
                    .with_profile(profile)
                    .values(prediction, answers)
            };
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
                let squad = Squad::default().with_profile(*profile);
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
                let squad = Squad::default().with_profile(*profile);
                let (exact, f1) = squad.values(&a, &[&b]);
                prop_assert!((0.0..=1.0).contains(&f1));
                prop_assert_eq!(squad.values(&b, &[&a]).0, exact);
                prop_assert!(squad.values(&a, &[&a]).0);
            }
        }
    }
}
