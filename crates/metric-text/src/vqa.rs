//! Visual question answering: the share of predictions that are one of the accepted answers, under
//! a named [`Profile`], and the answer processing of the VQA v2 program on its own.

use std::borrow::Cow;
use std::fmt;

use metric_core::{Accuracy, Merge, Metric, named_choice};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::normalize;
use crate::vqa_tables::{ARTICLES, CONTRACTIONS, NUMBER_WORDS, PUNCTUATION, RUSSIAN_NUMBER_LEMMAS};

/// The share of predictions that are one of the accepted answers, under a [`Profile`].
///
/// ```
/// use metric_core::Metric;
/// use metric_text::vqa::{Answers, Language, Profile, VqaAccuracy};
///
/// let metric = VqaAccuracy::new(Profile::FusionBrain2021)
///     .with_lemmatizer(Box::new(|word| word.replace("красного", "красный")));
/// let english = Answers { answers: vec!["2 dogs".to_owned()], language: Some(Language::English) };
/// let russian = Answers { answers: vec!["красный".to_owned()], language: Some(Language::Russian) };
///
/// let mut state = metric.measure("The two dogs!", &english);
/// metric.update(&mut state, "Красного", &russian);
/// metric.update(&mut state, "синий", &russian);
/// assert_eq!(metric.compute(&state), Some(2.0 / 3.0));
///
/// let exact = VqaAccuracy::new(Profile::Exact);
/// assert_eq!(exact.compute(&exact.measure("2 dogs", &english)), Some(1.0));
/// assert_eq!(exact.compute(&exact.measure("two dogs", &english)), Some(0.0));
/// ```
pub struct VqaAccuracy {
    profile: Profile,
    lemmatizer: Option<Lemmatizer>,
}

/// What gives the lemma (dictionary form) of a lowercased Russian token.
pub type Lemmatizer = Box<dyn Fn(&str) -> String + Send + Sync>;

impl VqaAccuracy {
    /// VQA accuracy without a lemmatiser: each Russian token is its own lemma.
    #[must_use]
    pub const fn new(profile: Profile) -> Self {
        Self {
            profile,
            lemmatizer: None,
        }
    }

    /// The same with a lemmatiser, which [`Profile::FusionBrain2021`] asks about the tokens of
    /// Russian predictions.
    ///
    /// The original takes the `normal_form` of pymorphy2's first parse.
    #[must_use]
    pub fn with_lemmatizer(self, lemmatizer: Lemmatizer) -> Self {
        Self {
            lemmatizer: Some(lemmatizer),
            ..self
        }
    }

    /// The profile.
    #[must_use]
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    fn normalize<'t>(&self, prediction: &'t str, language: Language) -> Cow<'t, str> {
        match (self.profile, language, &self.lemmatizer) {
            (Profile::Exact, ..) => Cow::Borrowed(prediction),
            (Profile::FusionBrain2021, Language::English, _) => {
                Cow::Owned(normalize_english(prediction))
            }
            (Profile::FusionBrain2021, Language::Russian, Some(lemmatizer)) => {
                Cow::Owned(normalize_russian(prediction, lemmatizer))
            }
            (Profile::FusionBrain2021, Language::Russian, None) => {
                Cow::Owned(normalize_russian(prediction, str::to_owned))
            }
        }
    }
}

impl fmt::Debug for VqaAccuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VqaAccuracy")
            .field("profile", &self.profile)
            .field("lemmatizer", &self.lemmatizer.is_some())
            .finish()
    }
}

impl Metric for VqaAccuracy {
    type Prediction = str;
    type Reference = Answers;
    type State = Evidence;
    /// In \[0, 1\] and not rounded; undefined without examples.
    type Score = Option<f64>;

    fn update(&self, state: &mut Evidence, prediction: &str, reference: &Answers) {
        let language = reference.language.unwrap_or_default();
        let prediction = self.normalize(prediction, language);
        let hit = reference.answers.iter().any(|answer| *answer == prediction);
        state.accuracy.record(hit);
        state.without_lemmatizer += u64::from(
            self.profile == Profile::FusionBrain2021
                && language == Language::Russian
                && self.lemmatizer.is_none(),
        );
    }

    fn compute(&self, state: &Evidence) -> Option<f64> {
        state.accuracy.value()
    }
}

/// The accepted answers to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// One or several; without any, no prediction is right.
    pub answers: Vec<String>,
    /// The language of the answers, for the profiles that ask; `None` is [`Language::default`].
    pub language: Option<Language>,
}

/// The evidence of [`VqaAccuracy`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Evidence {
    /// The questions answered right, of all.
    pub accuracy: Accuracy,
    /// Russian examples that were scored with their tokens as lemmas, because there was no
    /// lemmatiser. Above 0, the score may be below that of the original.
    pub without_lemmatizer: u64,
}

impl Merge for Evidence {
    fn merge(&mut self, other: Self) {
        self.accuracy.merge(other.accuracy);
        self.without_lemmatizer += other.without_lemmatizer;
    }
}

/// Whose VQA accuracy it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// `exact`: the prediction as it is, code point by code point, is one of the answers.
    ///
    /// So the description of the Fusion Brain Challenge 2021 defines the score.
    #[default]
    Exact,
    /// `fusion-brain-2021`: the prediction, normalised by the rules of its language, is one of the
    /// answers as they are.
    ///
    /// So the program of the Fusion Brain Challenge 2021 computes it: [`normalize_english`] and
    /// [`normalize_russian`]. Known defects: the answers are not normalised, so that one that
    /// normalisation would change (`the end`, `don't know!`, `чёрные и белые`) is never met; the
    /// program rounds to 3 decimals, here nothing is rounded. The data of the challenge always
    /// have a language; an example without one counts as English here.
    FusionBrain2021,
}

impl Profile {
    /// All profiles.
    pub const ALL: &[Self] = &[Self::Exact, Self::FusionBrain2021];

    /// The name of the profile, as it stands in signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::FusionBrain2021 => "fusion-brain-2021",
        }
    }
}

named_choice!(Profile, "VQA profile");

/// The language of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// `en`: number words, articles and contractions of the VQA v2 program.
    #[default]
    English,
    /// `ru`: lemmas.
    Russian,
}

impl Language {
    /// All languages.
    pub const ALL: &[Self] = &[Self::English, Self::Russian];

    /// The code of the language (ISO 639-1).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Russian => "ru",
        }
    }
}

named_choice!(Language, "language");

/// An English answer as the VQA v2 program normalises it: [`strip`], [`punctuation`], then word by
/// word: lowercase, number words to digits, no articles, contractions with their apostrophe.
///
/// The words are joined by one space. Linear in the length of the text.
///
/// GT-Vision-Lab/VQA, revision a013f00, `vqaEval.py`, under Python 3.
///
/// ```
/// use metric_text::vqa::normalize_english;
///
/// assert_eq!(normalize_english("\tThe TWO dogs,  dont they?"), "2 dogs don't they");
/// assert_eq!(normalize_english("1,000"), "1000");
/// assert_eq!(normalize_english("the"), "");
/// ```
#[must_use]
pub fn normalize_english(text: &str) -> String {
    let stripped = strip(text);
    let plain = punctuation(&stripped);
    let lowercase = normalize::lower(&plain);
    joined(
        normalize::words(&lowercase)
            .map(|word| look_up(NUMBER_WORDS, word).unwrap_or(word))
            .filter(|word| !ARTICLES.contains(word))
            .map(|word| look_up(CONTRACTIONS, word).unwrap_or(word)),
    )
}

/// A Russian answer as the Fusion Brain Challenge 2021 program normalises it: [`strip`],
/// [`punctuation`], then each word lowercased, to its lemma, and number words to digits.
///
/// `lemma` is asked once for each word. The words are joined by one space.
///
/// ```
/// use metric_text::vqa::normalize_russian;
///
/// let lemma = |word: &str| match word {
///     "двух" => "два".to_owned(),
///     "котов" => "кот".to_owned(),
///     other => other.to_owned(),
/// };
/// assert_eq!(normalize_russian(" Двух котов.", lemma), "2 кот");
/// ```
#[must_use]
pub fn normalize_russian(text: &str, lemma: impl Fn(&str) -> String) -> String {
    let stripped = strip(text);
    let plain = punctuation(&stripped);
    let lowercase = normalize::lower(&plain);
    let lemmas: Vec<String> = normalize::words(&lowercase).map(lemma).collect();
    joined(
        lemmas
            .iter()
            .map(|lemma| look_up(RUSSIAN_NUMBER_LEMMAS, lemma).unwrap_or(lemma)),
    )
}

/// The text with its newlines and tabs as spaces, without white space at its ends.
///
/// ```
/// assert_eq!(metric_text::vqa::strip("\ta\nb\r "), "a b");
/// ```
#[must_use]
pub fn strip(text: &str) -> Cow<'_, str> {
    // Newlines and tabs are white space themselves: what is left of them after stripping is inside.
    let text = text.trim_matches(normalize::is_space);
    if text.contains(['\n', '\t']) {
        Cow::Owned(text.replace(['\n', '\t'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text after the punctuation step of the VQA v2 program.
///
/// A [punctuation character](PUNCTUATION) is deleted everywhere if the text has it beside a space
/// anywhere, or has a comma between two digits anywhere; otherwise it becomes a space. Then
/// periods that are not before a digit go.
///
/// Two quirks of the program are kept: only the first 32 such periods go (it passes `re.UNICODE`,
/// 32, where the count belongs), and its look-behind for a digit before the period is mistyped and
/// never holds. Digits are those of Unicode, as under Python 3.
///
/// ```
/// use metric_text::vqa::punctuation;
///
/// assert_eq!(punctuation("black-and-white"), "black and white");
/// assert_eq!(punctuation("black-and -white"), "blackand white");
/// assert_eq!(punctuation("$1,000 (or-so)"), "$1000 orso");
/// assert_eq!(punctuation("3.5 p.m."), "3.5 pm");
/// ```
#[must_use]
pub fn punctuation(text: &str) -> Cow<'_, str> {
    let (mut present, mut beside_space) = (0, 0);
    let mut before = 0;
    for byte in text.bytes() {
        present |= bit(byte);
        if before == b' ' {
            beside_space |= bit(byte);
        }
        if byte == b' ' {
            beside_space |= bit(before);
        }
        before = byte;
    }
    if present & (PUNCTUATION_BITS | bit(b'.')) == 0 {
        return Cow::Borrowed(text);
    }
    let deleted = if comma_between_digits(text) {
        PUNCTUATION_BITS
    } else {
        PUNCTUATION_BITS & beside_space
    };
    let mut spaced = String::with_capacity(text.len());
    for c in text.chars() {
        let own = u8::try_from(c).map_or(0, bit);
        if own & PUNCTUATION_BITS == 0 {
            spaced.push(c);
        } else if own & deleted == 0 {
            spaced.push(' ');
        }
    }
    if present & bit(b'.') == 0 {
        return Cow::Owned(spaced);
    }
    let mut periods = 0;
    let mut plain = String::with_capacity(spaced.len());
    let mut chars = spaced.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '.' && periods < DELETED_PERIODS && !chars.peek().copied().is_some_and(is_digit) {
            periods += 1;
        } else {
            plain.push(c);
        }
    }
    Cow::Owned(plain)
}

/// How many periods the VQA v2 program deletes at most: the value of Python's `re.UNICODE`.
const DELETED_PERIODS: u32 = 32;

/// The set of [`PUNCTUATION`], one bit for each ASCII character.
const PUNCTUATION_BITS: u128 = {
    let mut bits = 0;
    let mut place = 0;
    while place < PUNCTUATION.len() {
        bits |= bit(PUNCTUATION[place] as u8);
        place += 1;
    }
    bits
};

/// The bit of an ASCII byte; no bit for other bytes.
const fn bit(byte: u8) -> u128 {
    if byte.is_ascii() { 1 << byte } else { 0 }
}

fn comma_between_digits(text: &str) -> bool {
    text.match_indices(',').any(|(place, comma)| {
        let (before, after) = (&text[..place], &text[place + comma.len()..]);
        before.chars().next_back().is_some_and(is_digit)
            && after.chars().next().is_some_and(is_digit)
    })
}

/// Python's `\d`.
fn is_digit(c: char) -> bool {
    match c {
        '\0'..='\x7f' => c.is_ascii_digit(),
        _ => c.general_category() == GeneralCategory::DecimalNumber,
    }
}

fn look_up<'w>(table: &[(&str, &'w str)], word: &str) -> Option<&'w str> {
    let place = table.binary_search_by(|(key, _)| (*key).cmp(word)).ok()?;
    table.get(place).map(|(_, value)| *value)
}

fn joined<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut joined = String::new();
    for word in words {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in [CONTRACTIONS, NUMBER_WORDS, RUSSIAN_NUMBER_LEMMAS] {
            assert!(table.is_sorted_by(|a, b| a.0 < b.0));
        }
    }

    #[test]
    fn punctuation_by_hand() {
        let rows = [
            ("", ""),
            ("a'b&c:d#e%", "a'b&c:d#e%"),
            ("a-b", "a b"),
            // Beside a space once, deleted everywhere; other characters are judged on their own.
            ("a-b/c- d", "ab c d"),
            ("-", " "),
            // A comma between digits deletes all punctuation.
            ("1,2 a-b", "12 ab"),
            ("1, 2 a-b", "1 2 a b"),
            ("٣,٤-x", "٣٤x"),
            ("²,²", "² ²"),
            // The period is judged after the other characters have gone.
            (". 5", " 5"),
            (".- 5", " 5"),
            ("1,2 .-5", "12 .5"),
            ("5.x", "5x"),
            ("...", ""),
        ];
        for (text, expected) in rows {
            assert_eq!(punctuation(text), expected, "{text:?}");
        }
        assert_eq!(punctuation(&".".repeat(40)), ".".repeat(8));
    }

    #[test]
    fn words_by_hand() {
        let rows = [
            ("A AN THE", ""),
            ("ten aint twas", "10 ain't 'twas"),
            ("somebody'd", "somebodyd"),
            // The program's keys with capitals are never met.
            ("Im Ive", "im ive"),
            ("none", "0"),
            ("a\u{a0}b\u{1c}c", "b c"),
        ];
        for (text, expected) in rows {
            assert_eq!(normalize_english(text), expected, "{text:?}");
        }
        let own = |text| normalize_russian(text, str::to_owned);
        assert_eq!(own("Один the\tДВА!"), "1 the 2");
        // A lemma may be anything.
        assert_eq!(normalize_russian("a b", |_| "ноль".to_owned()), "0 0");
    }

    #[test]
    fn profiles() {
        let answers = |answers: &[&str], language| Answers {
            answers: answers.iter().map(|&answer| answer.to_owned()).collect(),
            language,
        };
        let hit = |profile, prediction, answers: &Answers| {
            VqaAccuracy::new(profile).measure(prediction, answers)
        };
        let (yes, no) = (
            Accuracy {
                correct: 1,
                total: 1,
            },
            Accuracy {
                correct: 0,
                total: 1,
            },
        );
        let end = answers(&["the end", "end."], None);
        assert_eq!(hit(Profile::Exact, "the end", &end).accuracy, yes);
        assert_eq!(hit(Profile::Exact, "The end", &end).accuracy, no);
        // The answers are not normalised.
        assert_eq!(hit(Profile::FusionBrain2021, "the end", &end).accuracy, no);
        let two = answers(&["many", "2"], None);
        assert_eq!(hit(Profile::FusionBrain2021, "Two.", &two).accuracy, yes);
        assert_eq!(
            hit(Profile::FusionBrain2021, "", &answers(&[], None)).accuracy,
            no
        );

        let russian = answers(&["2"], Some(Language::Russian));
        let state = hit(Profile::FusionBrain2021, "ДВА", &russian);
        assert_eq!((state.accuracy, state.without_lemmatizer), (yes, 1));
        assert_eq!(hit(Profile::Exact, "2", &russian).without_lemmatizer, 0);
        let metric = VqaAccuracy::new(Profile::FusionBrain2021)
            .with_lemmatizer(Box::new(|_| "два".to_owned()));
        let state = metric.measure("двух", &russian);
        assert_eq!((state.accuracy, state.without_lemmatizer), (yes, 0));
        assert_eq!(metric.compute(&Evidence::default()), None);
    }

    #[test]
    fn names_are_read_as_printed() {
        for profile in Profile::ALL {
            assert_eq!(profile.to_string().parse(), Ok(*profile));
        }
        for language in Language::ALL {
            assert_eq!(language.to_string().parse(), Ok(*language));
        }
        assert_eq!(
            "fb".parse::<Profile>().map_err(|error| error.to_string()),
            Err("unknown VQA profile \"fb\": expected one of exact, fusion-brain-2021".to_owned())
        );
        assert_eq!(
            "EN".parse::<Language>().map_err(|error| error.to_string()),
            Err("unknown language \"EN\": expected one of en, ru".to_owned())
        );
    }

    proptest! {
        #[test]
        fn any_text_is_processed(text in any::<String>()) {
            let english = normalize_english(&text);
            prop_assert_eq!(english.trim_matches(normalize::is_space), &english);
            prop_assert!(!normalize_russian(&text, str::to_owned).contains(PUNCTUATION));
        }

        #[test]
        fn english_is_idempotent(text in "[a-cIot '.,?!\\-1-3\n]{0,30}") {
            let once = normalize_english(&text);
            prop_assert_eq!(normalize_english(&once), once);
        }

        #[test]
        fn shards_in_any_order_are_the_whole(
            predictions in proptest::collection::vec("[12 a]{0,2}", 0..20),
            cut in 0_usize..20,
        ) {
            let metric = VqaAccuracy::new(Profile::FusionBrain2021);
            let language = Some(Language::Russian);
            let reference = Answers { answers: vec!["1".to_owned()], language };
            let pool = |predictions: &[String]| {
                let mut state = Evidence::default();
                predictions.iter().for_each(|p| metric.update(&mut state, p, &reference));
                state
            };
            let (head, tail) = predictions.split_at(cut.min(predictions.len()));
            let mut merged = pool(tail);
            merged.merge(pool(head));
            prop_assert_eq!(merged, pool(&predictions));
        }
    }
}
