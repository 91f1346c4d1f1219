//! Visual question answering: how far predictions agree with the accepted answers, under a named
//! [`VqaProfile`], and the answer processing of the VQA v2 program on its own.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

use metric_core::{Accuracy, Metric, Sum, fields, named_choice, ratio};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::normalize;
use crate::vqa_tables::{ARTICLES, CONTRACTIONS, NUMBER_WORDS, PUNCTUATION, RUSSIAN_NUMBER_LEMMAS};

/// Returns the accuracy of pairs of a prediction and the answers of several people by the rule of VQA v2, that of
/// [`VqaProfile::VqaV2`]; undefined without questions.
///
/// ```
/// use metric_text::vqa_accuracy;
///
/// // Three of ten people say so: without one of them it has 2/3, without another person 1.
/// let answers = ["yes", "yes", "yes", "no", "no", "no", "no", "no", "no", "no"];
/// assert_eq!(vqa_accuracy([("yes", answers)]), Some(0.9));
/// ```
#[must_use]
pub fn vqa_accuracy<'t, A>(pairs: impl IntoIterator<Item = (&'t str, A)>) -> Option<f64>
where
    A: Into<Answers>,
{
    let metric = VqaAccuracy::new(VqaProfile::VqaV2);
    let mut state = Evidence::default();
    for (prediction, answers) in pairs {
        metric.update(&mut state, prediction, &answers.into());
    }
    metric.compute(&state)
}

/// The accuracy of answers to questions about images, under a [`VqaProfile`].
///
/// Under most profiles it is the share of predictions that are one of the accepted answers.
///
/// ```
/// use metric_core::Metric;
/// use metric_text::vqa::{Answers, Language, VqaProfile, VqaAccuracy};
///
/// let metric = VqaAccuracy::new(VqaProfile::FusionBrain2021)
///     .with_lemmatizer(Box::new(|word| word.replace("красного", "красный")));
/// let english = Answers { language: Some(Language::English), ..Answers::from(["2 dogs"]) };
/// let russian = Answers { language: Some(Language::Russian), ..Answers::from(["красный"]) };
///
/// let mut state = metric.measure("The two dogs!", &english);
/// metric.update(&mut state, "Красного", &russian);
/// metric.update(&mut state, "синий", &russian);
/// assert_eq!(metric.compute(&state), Some(2.0 / 3.0));
///
/// let exact = VqaAccuracy::new(VqaProfile::Exact);
/// assert_eq!(exact.compute(&exact.measure("2 dogs", &english)), Some(1.0));
/// assert_eq!(exact.compute(&exact.measure("two dogs", &english)), Some(0.0));
/// ```
///
/// Under [`VqaProfile::VqaV2`] a question has the answers of several people, usually ten, and its
/// accuracy is an [`Agreement`] with them; the score is the mean over questions.
///
/// ```
/// # use metric_core::Metric;
/// # use metric_text::vqa::{Answers, VqaProfile, VqaAccuracy};
/// let metric = VqaAccuracy::new(VqaProfile::VqaV2);
/// let answers = Answers::from(["red", "Red!", "blue", "blue", "blue", "blue", "blue", "blue", "blue", "blue"]);
///
/// // Two of ten: to the two there is one other who agrees, to the eight there are two.
/// let state = metric.measure("the red", &answers);
/// assert_eq!(metric.compute(&state), Some((2.0 * 1.0 + 8.0 * 2.0) / 30.0)); // 0.6
/// ```
pub struct VqaAccuracy {
    profile: VqaProfile,
    lemmatizer: Option<Lemmatizer>,
}

/// A function that gives the lemma (dictionary form) of a lowercased Russian token.
pub type Lemmatizer = Box<dyn Fn(&str) -> String + Send + Sync>;

impl VqaAccuracy {
    /// Returns the metric of a profile, without a lemmatizer: each Russian token is used as its own lemma (dictionary
    /// form).
    #[must_use]
    pub const fn new(profile: VqaProfile) -> Self {
        Self {
            profile,
            lemmatizer: None,
        }
    }

    /// Returns this metric with a lemmatizer, which [`VqaProfile::FusionBrain2021`] applies to the tokens of Russian
    /// predictions.
    ///
    /// The original takes the `normal_form` of pymorphy2's first parse.
    #[must_use]
    pub fn with_lemmatizer(self, lemmatizer: Lemmatizer) -> Self {
        Self {
            lemmatizer: Some(lemmatizer),
            ..self
        }
    }

    /// Returns the profile.
    #[must_use]
    pub const fn profile(&self) -> VqaProfile {
        self.profile
    }

    /// Returns the prediction and the answers in the form in which they are compared.
    ///
    /// ```
    /// use metric_text::VqaAccuracy;
    /// use metric_text::vqa::{Answers, VqaProfile};
    ///
    /// let metric = VqaAccuracy::new(VqaProfile::VqaV2);
    /// let compared = metric.as_compared("Two dogs.", &Answers::from(["2 dogs", "the dogs"]));
    /// assert_eq!(compared, ("2 dogs".to_owned(), vec!["2 dogs".to_owned(), "dogs".to_owned()]));
    /// ```
    #[must_use]
    pub fn as_compared(&self, prediction: &str, reference: &Answers) -> (String, Vec<String>) {
        let Some(unanimous) = self.profile.normalizes_unanimous() else {
            let language = reference.language.unwrap_or_default();
            let prediction = self.normalize(prediction, language).into_owned();
            return (prediction, reference.answers.clone());
        };
        let answers: Vec<Cow<'_, str>> = reference.answers.iter().map(|text| strip(text)).collect();
        let is_normalized = unanimous || !is_unanimous(&answers);
        let apply = |text: &str| {
            if is_normalized {
                normalize_english(text)
            } else {
                text.to_owned()
            }
        };
        let answers = answers.iter().map(|answer| apply(answer)).collect();
        (apply(&strip(prediction)), answers)
    }

    fn normalize<'t>(&self, prediction: &'t str, language: Language) -> Cow<'t, str> {
        match (self.profile, language, &self.lemmatizer) {
            (VqaProfile::Exact | VqaProfile::VqaV2 | VqaProfile::VqaV2AlwaysNormalise, ..) => {
                Cow::Borrowed(prediction)
            }
            (VqaProfile::FusionBrain2021, Language::English, _) => {
                Cow::Owned(normalize_english(prediction))
            }
            (VqaProfile::FusionBrain2021, Language::Russian, Some(lemmatizer)) => {
                Cow::Owned(normalize_russian(prediction, lemmatizer))
            }
            (VqaProfile::FusionBrain2021, Language::Russian, None) => {
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
        if let Some(unanimous) = self.profile.normalizes_unanimous() {
            let agreement = human_agreement(prediction, reference, unanimous);
            state.accuracy.record(agreement.is_full());
            *state.thirds.entry(agreement.annotators).or_default() += agreement.thirds;
            return;
        }
        let language = reference.language.unwrap_or_default();
        let prediction = self.normalize(prediction, language);
        let hit = reference.answers.iter().any(|answer| *answer == prediction);
        state.accuracy.record(hit);
        state.without_lemmatizer += u64::from(
            self.profile == VqaProfile::FusionBrain2021
                && language == Language::Russian
                && self.lemmatizer.is_none(),
        );
    }

    fn compute(&self, state: &Evidence) -> Option<f64> {
        if self.profile.normalizes_unanimous().is_none() {
            return state.accuracy.value();
        }
        let questions = state.accuracy.total;
        let mut sums = state
            .thirds
            .iter()
            .filter(|(annotators, _)| **annotators > 0);
        match (sums.next(), sums.next()) {
            // Mostly all questions have as many answers: then one division is enough.
            (Some((annotators, &thirds)), None) => ratio(thirds, 3 * annotators * questions),
            _ => {
                let by_number = state.thirds.iter();
                let sum: Sum = by_number
                    .filter_map(|(annotators, &thirds)| ratio(thirds, 3 * annotators))
                    .collect();
                (questions > 0).then(|| sum.value() / questions as f64)
            }
        }
    }
}

/// The accepted answers to one question.
///
/// ```
/// use metric_text::vqa::Answers;
///
/// assert_eq!(Answers::from(["yes", "no"]).answers, ["yes", "no"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// One or several; without any, no prediction is correct.
    pub answers: Vec<String>,
    /// The person who gave each answer, as numbers that tell people apart, for [`VqaProfile::VqaV2`]: equal answers
    /// of one person are left out together. Answers past the end are each of another person; empty in most data.
    pub annotators: Vec<u64>,
    /// The language of the answers, for the profiles that ask; `None` is [`Language::default`].
    pub language: Option<Language>,
}

impl Answers {
    /// Returns whether one person, as numbered in [`annotators`](Self::annotators), gave the same answer twice. When
    /// [`VqaProfile::VqaV2`] leaves out one of these answers, it leaves out the others as well.
    ///
    /// ```
    /// use metric_text::vqa::Answers;
    ///
    /// let answers = Answers::from(["yes", "yes", "no"]);
    /// assert!(!answers.has_repeated());
    /// let one_person = Answers { annotators: vec![0, 0, 0], ..answers };
    /// assert!(one_person.has_repeated());
    /// ```
    #[must_use]
    pub fn has_repeated(&self) -> bool {
        let mut given = HashSet::new();
        let answers = self.annotators.iter().zip(&self.answers);
        answers.into_iter().any(|answer| !given.insert(answer))
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for Answers {
    /// Answers of different people.
    fn from(answers: [T; N]) -> Self {
        answers.into_iter().collect()
    }
}

impl<T: Into<String>> FromIterator<T> for Answers {
    fn from_iter<I: IntoIterator<Item = T>>(answers: I) -> Self {
        Self {
            answers: answers.into_iter().map(T::into).collect(),
            ..Self::default()
        }
    }
}

/// The agreement of an answer with those of several people, by the rule of VQA v2.
///
/// The answer is compared with the answers of all people except one, and scores a third for each of them who gave it,
/// at most 1; the accuracy is the mean over the people left out. With ten people it is 0, 0.3, 0.6, 0.9 or 1 if 0, 1,
/// 2, 3 or at least 4 of them gave the answer. (The rule is often quoted as "a third for each, at most 1" of all
/// people; that is another number.)
///
/// S. Antol et al., *VQA: Visual Question Answering* (2015), section 5; GT-Vision-Lab/VQA, revision
/// a013f00, `vqaEval.py`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The people.
    pub annotators: u64,
    /// The sum of min(3, how many of the others agree) over the people.
    pub thirds: u64,
}

impl Agreement {
    /// Returns the accuracy in \[0, 1\]; undefined without people.
    ///
    /// ```
    /// use metric_text::vqa::agreement;
    ///
    /// let said = ["yes", "yes", "yes", "no", "no", "no", "no", "no", "no", "maybe"];
    /// assert_eq!(agreement("yes", &said).accuracy(), Some(0.9)); // (3 · 2 + 7 · 3) / 30
    /// assert_eq!(agreement("maybe", &said).accuracy(), Some(0.3));
    /// assert_eq!(agreement("yes", &[]).accuracy(), None);
    /// ```
    #[must_use]
    pub fn accuracy(self) -> Option<f64> {
        ratio(self.thirds, 3 * self.annotators)
    }

    fn is_full(self) -> bool {
        self.annotators > 0 && self.thirds == 3 * self.annotators
    }
}

/// Returns the [`Agreement`] of a prediction with answers of different people, comparing all texts without
/// normalization.
#[must_use]
pub fn agreement(prediction: &str, answers: &[&str]) -> Agreement {
    let agrees = |position: usize| {
        answers
            .get(position)
            .is_some_and(|answer| *answer == prediction)
    };
    agreement_by(answers.len(), agrees, &[])
}

/// The agreement with this many answers, some of which agree.
fn agreement_by(count: usize, agrees: impl Fn(usize) -> bool, annotators: &[u64]) -> Agreement {
    let agreeing = (0..count).filter(|&position| agrees(position));
    let all = agreeing.clone().count() as u64;
    // The program leaves out all answers that are equal to the one left out, with all that is known
    // of it: of the same person the same answer.
    let mut alone = all;
    let mut of_person: BTreeMap<u64, u64> = BTreeMap::new();
    if !annotators.is_empty() {
        for person in agreeing.filter_map(|position| annotators.get(position)) {
            *of_person.entry(*person).or_default() += 1;
            alone -= 1;
        }
    }
    let mut thirds = (count as u64 - all) * all.min(3) + alone * all.saturating_sub(1).min(3);
    for answers in of_person.into_values() {
        thirds += answers * (all - answers).min(3);
    }
    Agreement {
        annotators: count as u64,
        thirds,
    }
}

/// The agreement after the normalization of VQA v2.
fn human_agreement(prediction: &str, reference: &Answers, normalize_unanimous: bool) -> Agreement {
    let answers: Vec<Cow<'_, str>> = reference.answers.iter().map(|text| strip(text)).collect();
    let prediction = strip(prediction);
    let normalize = normalize_unanimous || !is_unanimous(&answers);
    // Most answers to a question are the same few. Of many the last ones are looked at.
    const FEW: usize = 16;
    let mut known: Vec<(&str, bool)> = Vec::new();
    let normalized = std::cell::OnceCell::new();
    let agree: Vec<bool> = answers
        .iter()
        .map(|answer| {
            let agrees = is_same(answer, &prediction);
            if agrees || !normalize {
                return agrees;
            }
            if let Some((_, agrees)) = known
                .iter()
                .rev()
                .take(FEW)
                .find(|(text, _)| is_same(text, answer))
            {
                return *agrees;
            }
            let prediction = normalized.get_or_init(|| in_english(&prediction));
            let agrees = is_same(&in_english(answer), prediction);
            known.push((answer, agrees));
            agrees
        })
        .collect();
    let agrees = |position: usize| agree.get(position) == Some(&true);
    agreement_by(answers.len(), agrees, &reference.annotators)
}

/// Whether all answers are the same.
fn is_unanimous(answers: &[Cow<'_, str>]) -> bool {
    let mut pairs = answers.windows(2);
    pairs.all(|two| matches!(two, [a, b] if is_same(a, b)))
}

/// Whether two texts are equal: `==` without the call of a function where they are as short as answers are.
#[inline]
fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    /// The first and the last bytes of a text that has at most twice as many are all of them.
    fn ends<const LENGTH: usize>(text: &[u8]) -> Option<(&[u8; LENGTH], &[u8; LENGTH])> {
        text.first_chunk().zip(text.last_chunk())
    }
    a.len() == b.len()
        && match a.len() {
            0..2 => a.first() == b.first(),
            2..4 => ends::<2>(a) == ends(b),
            4..8 => ends::<4>(a) == ends(b),
            8..=16 => ends::<8>(a) == ends(b),
            _ => a == b,
        }
}

/// The state of [`VqaAccuracy`]: the counts and sums from which its score is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The number of questions answered correctly, and of all. Under [`VqaProfile::VqaV2`] those are correct whose
    /// accuracy is 1, and the score is more than their share.
    pub accuracy: Accuracy,
    /// Under [`VqaProfile::VqaV2`], by the number of people who answered a question, the sum of
    /// [`Agreement::thirds`] over such questions.
    pub thirds: BTreeMap<u64, u64>,
    /// Russian examples that were scored with their tokens as lemmas, because there was no
    /// lemmatizer. Above 0, the score may be below that of the original.
    pub without_lemmatizer: u64,
}

fields!(Evidence {
    accuracy,
    thirds,
    without_lemmatizer
});

/// The convention of VQA accuracy to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VqaProfile {
    /// `exact`: the prediction as it is, code point by code point, is one of the answers.
    ///
    /// This is how the description of the Fusion Brain Challenge 2021 defines the score.
    #[default]
    Exact,
    /// `fusion-brain-2021`: the prediction, normalized by the rules of its language, is one of the
    /// answers as they are.
    ///
    /// The rule of the program of the Fusion Brain Challenge 2021: [`normalize_english`] and
    /// [`normalize_russian`]. Known defects: the answers are not normalized, so that one that
    /// normalization would change (`the end`, `don't know!`, `чёрные и белые`) is never matched.
    /// The program rounds to 3 decimals; here nothing is rounded. The data of the challenge always
    /// have a language, and an example without one counts as English here.
    FusionBrain2021,
    /// `vqa-v2`: the [`Agreement`] with the people who answered, after [`strip`]; where they did not
    /// all give the same answer, theirs and the prediction are [normalized](normalize_english).
    ///
    /// The rule of the VQA v2 program (GT-Vision-Lab/VQA, revision a013f00), which VizWiz, TextVQA and OK-VQA use as
    /// well. Known defects: if all people gave the same answer, nothing is normalized, so that `Yes` is wrong if all
    /// said `yes` (its authors intended this, for questions about writing). It has the quirks of [`punctuation`]. It
    /// rounds percentages to 2 decimals; here nothing is rounded. It divides by zero if a question has no answers; here
    /// such a question scores 0.
    VqaV2,
    /// `vqa-v2-always-normalise`: the same, but answers that are all the same are normalized, too.
    ///
    /// This is how lmms-eval computes it since its change 794, compared with version 0.7.3. Only numbers with several
    /// commas in a row differ: there `1,,000` is normalized to `1000`, and here to `1 000`, as under `vqa-v2`. A question
    /// without answers is an error there, and scores 0 here.
    VqaV2AlwaysNormalise,
}

impl VqaProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[
        Self::Exact,
        Self::FusionBrain2021,
        Self::VqaV2,
        Self::VqaV2AlwaysNormalise,
    ];

    /// Returns the name of the profile, as it appears in signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::FusionBrain2021 => "fusion-brain-2021",
            Self::VqaV2 => "vqa-v2",
            Self::VqaV2AlwaysNormalise => "vqa-v2-always-normalise",
        }
    }

    /// Returns whether a score is the [`Agreement`] with several people, which is undefined without answers, rather
    /// than a match with one of the answers.
    #[must_use]
    pub const fn is_agreement(self) -> bool {
        self.normalizes_unanimous().is_some()
    }

    /// For the profiles of agreement, whether equal answers of all people are normalized.
    const fn normalizes_unanimous(self) -> Option<bool> {
        match self {
            Self::Exact | Self::FusionBrain2021 => None,
            Self::VqaV2 => Some(false),
            Self::VqaV2AlwaysNormalise => Some(true),
        }
    }
}

named_choice!(VqaProfile, "VQA profile");

/// The language of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
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

    /// Returns the code of the language (ISO 639-1).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Russian => "ru",
        }
    }
}

named_choice!(Language, "language");

/// Returns an English answer as the VQA v2 program normalizes it: [`strip`], [`punctuation`], then each word is
/// lowercased, number words become digits, articles are removed, and contractions get back their apostrophe.
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
    in_english(&strip(text)).into_owned()
}

/// The same of a text that was stripped, without a copy of a single word.
fn in_english(text: &str) -> Cow<'_, str> {
    // Most answers are one word of lowercase letters, which only the tables change.
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(english_word(text).unwrap_or_default());
    }
    let plain = punctuation(text);
    let lowercase = normalize::lower(&plain);
    Cow::Owned(joined(
        normalize::words(&lowercase).filter_map(english_word),
    ))
}

/// The form of a lowercase word in which it is compared; `None` for an article.
fn english_word(word: &str) -> Option<&str> {
    let word = NUMBERS.look_up(word).unwrap_or(word);
    let is_article = ARTICLES.iter().any(|article| is_same(article, word));
    (!is_article).then(|| CONTRACTED.look_up(word).unwrap_or(word))
}

/// Returns a Russian answer as the Fusion Brain Challenge 2021 program normalizes it: [`strip`], [`punctuation`],
/// then each word is lowercased and replaced by its lemma, and number words become digits.
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
            .map(|lemma| RUSSIAN_NUMBERS.look_up(lemma).unwrap_or(lemma)),
    )
}

/// Returns the text with newlines and tabs replaced by spaces, and without white space at its ends.
///
/// ```
/// assert_eq!(metric_text::vqa::strip("\ta\nb\r "), "a b");
/// ```
#[must_use]
pub fn strip(text: &str) -> Cow<'_, str> {
    // Newlines and tabs are white space themselves: what is left of them after stripping is inside.
    let text = match text.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => text,
        _ => text.trim_matches(normalize::is_space),
    };
    if text.bytes().any(|byte| matches!(byte, b'\n' | b'\t')) {
        Cow::Owned(text.replace(['\n', '\t'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the text after the punctuation step of the VQA v2 program.
///
/// A [punctuation character](PUNCTUATION) is deleted everywhere if the text has it next to a space
/// anywhere, or has a comma between two digits anywhere; otherwise it becomes a space. Then periods
/// that are not before a digit go.
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

/// The largest number of periods that the VQA v2 program deletes: the value of Python's
/// `re.UNICODE`.
const DELETED_PERIODS: u32 = 32;

/// The set of [`PUNCTUATION`], one bit for each ASCII character.
const PUNCTUATION_BITS: u128 = {
    let mut bits = 0;
    let mut position = 0;
    while position < PUNCTUATION.len() {
        bits |= bit(PUNCTUATION[position] as u8);
        position += 1;
    }
    bits
};

/// The bit of an ASCII byte; no bit for other bytes.
const fn bit(byte: u8) -> u128 {
    if byte.is_ascii() { 1 << byte } else { 0 }
}

fn comma_between_digits(text: &str) -> bool {
    text.match_indices(',').any(|(position, comma)| {
        let (before, after) = (&text[..position], &text[position + comma.len()..]);
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

static NUMBERS: WordTable = WordTable::new(NUMBER_WORDS);
static CONTRACTED: WordTable = WordTable::new(CONTRACTIONS);
static RUSSIAN_NUMBERS: WordTable = WordTable::new(RUSSIAN_NUMBER_LEMMAS);

/// Words with what they become, in the order of the words.
struct WordTable {
    rows: &'static [(&'static str, &'static str)],
    /// By the first byte of words, which lengths they have, as bits. Nearly all words that the table does not have
    /// differ from these.
    lengths: [u32; 256],
}

impl WordTable {
    const fn new(rows: &'static [(&'static str, &'static str)]) -> Self {
        let mut lengths = [0; 256];
        let mut position = 0;
        while position < rows.len() {
            let word = rows[position].0.as_bytes();
            lengths[word[0] as usize] |= length_bit(word);
            position += 1;
        }
        Self { rows, lengths }
    }

    fn look_up(&self, word: &str) -> Option<&'static str> {
        let first = *word.as_bytes().first()?;
        if self.lengths[usize::from(first)] & length_bit(word.as_bytes()) == 0 {
            return None;
        }
        // The few words with this first byte follow each other.
        let first_byte = |key: &str| key.as_bytes().first().copied();
        let before = |row: &(&str, &str)| first_byte(row.0) < Some(first);
        let rows = self.rows.iter().skip(self.rows.partition_point(before));
        let mut rows = rows.take_while(|(key, _)| first_byte(key) == Some(first));
        let row = rows.find(|(key, _)| is_same(key, word));
        row.map(|(_, value)| *value)
    }
}

/// The bit of the length of a word; long words have the last one.
const fn length_bit(word: &[u8]) -> u32 {
    1 << if word.len() < 31 { word.len() } else { 31 }
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

    /// Words of the tables with their first, last and middle letters changed, and all others of two letters.
    #[test]
    fn words_are_looked_up() {
        let tables = [&NUMBERS, &CONTRACTED, &RUSSIAN_NUMBERS];
        let keys = || tables.iter().flat_map(|table| table.rows.iter());
        let changed = keys().flat_map(|(key, _)| {
            let inner: String = key.chars().skip(1).collect();
            [
                (*key).to_owned(),
                format!("{key}s"),
                format!("z{inner}"),
                inner,
            ]
        });
        let two = ('a'..='z').flat_map(|a| ('a'..='z').map(move |b| format!("{a}{b}")));
        for word in changed.chain(two).chain(["x".repeat(31), "d".repeat(40)]) {
            for table in tables {
                let row = table.rows.iter().find(|(key, _)| *key == word);
                assert_eq!(table.look_up(&word), row.map(|row| row.1), "{word}");
            }
            // The punctuation becomes a space, and takes the way of texts of several words.
            let asked = normalize_english(&format!("{word}?"));
            assert_eq!(normalize_english(&word), asked, "{word}");
        }
        assert_eq!(NUMBERS.look_up(""), None);
    }

    #[test]
    fn punctuation_by_hand() {
        let rows = [
            ("", ""),
            ("a'b&c:d#e%", "a'b&c:d#e%"),
            ("a-b", "a b"),
            // Next to a space once, deleted everywhere; other characters are judged on their own.
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
            language,
            ..answers.iter().copied().collect()
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
        assert_eq!(hit(VqaProfile::Exact, "the end", &end).accuracy, yes);
        assert_eq!(hit(VqaProfile::Exact, "The end", &end).accuracy, no);
        // The answers are not normalized.
        assert_eq!(
            hit(VqaProfile::FusionBrain2021, "the end", &end).accuracy,
            no
        );
        let two = answers(&["many", "2"], None);
        assert_eq!(hit(VqaProfile::FusionBrain2021, "Two.", &two).accuracy, yes);
        assert_eq!(
            hit(VqaProfile::FusionBrain2021, "", &answers(&[], None)).accuracy,
            no
        );

        let russian = answers(&["2"], Some(Language::Russian));
        let state = hit(VqaProfile::FusionBrain2021, "ДВА", &russian);
        assert_eq!((state.accuracy, state.without_lemmatizer), (yes, 1));
        assert_eq!(hit(VqaProfile::Exact, "2", &russian).without_lemmatizer, 0);
        let metric = VqaAccuracy::new(VqaProfile::FusionBrain2021)
            .with_lemmatizer(Box::new(|_| "два".to_owned()));
        let state = metric.measure("двух", &russian);
        assert_eq!((state.accuracy, state.without_lemmatizer), (yes, 0));
        assert_eq!(metric.compute(&Evidence::default()), None);
    }

    #[test]
    fn agreement_by_hand() {
        let value = |prediction: &str, answers: &[&str], annotators: &[u64]| {
            let answers = Answers {
                annotators: annotators.to_vec(),
                ..answers.iter().copied().collect()
            };
            let state = VqaAccuracy::new(VqaProfile::VqaV2).measure(prediction, &answers);
            (state.accuracy.correct, state.thirds)
        };
        let thirds = |annotators, thirds| BTreeMap::from([(annotators, thirds)]);
        let rows: &[(&[&str], &[u64], u64, u64)] = &[
            // One who agrees: nothing when he is left out.
            (&["a", "b"], &[], 0, 1),
            (&["a", "a", "b"], &[], 0, 1 + 1 + 2),
            (&["a", "a", "a", "a"], &[], 1, 3 * 4),
            (&["a"], &[], 0, 0),
            (&[], &[], 0, 0),
            // Three answers of one person go together.
            (&["a", "a", "a", "b"], &[1, 1, 1, 2], 0, 3),
            (&["a", "a", "a", "b"], &[9, 9, 4, 4], 0, 1 + 1 + 2 + 3),
            // The same in another order.
            (&["b", "a", "a", "a"], &[4, 4, 9, 9], 0, 3 + 2 + 1 + 1),
            (&["a", "a", "b", "a"], &[9, 4, 4, 9], 0, 1 + 2 + 3 + 1),
            // Answers past the end are of others.
            (&["a", "a", "a", "a"], &[7, 7], 0, 2 + 2 + 3 + 3),
            (&["a", "a", "a", "a", "a"], &[7, 7], 1, 3 * 5),
        ];
        for (answers, annotators, correct, sum) in rows {
            let expected = (*correct, thirds(answers.len() as u64, *sum));
            assert_eq!(
                value("a", answers, annotators),
                expected,
                "{answers:?} {annotators:?}"
            );
        }
        // Many people, and many answers, take no time.
        let many: Vec<String> = (0..100_000).map(|number| format!("a{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(value("x", &many, &[]), (0, thirds(100_000, 0)));
        let (same, people) = (vec!["a"; 100_000], (0..100_000).collect::<Vec<_>>());
        assert_eq!(value("a", &same, &people), (1, thirds(100_000, 300_000)));
    }

    #[test]
    fn questions_with_different_numbers_of_people() {
        let metric = VqaAccuracy::new(VqaProfile::VqaV2);
        let mut state = metric.measure("a", &Answers::from(["a", "b"]));
        metric.update(&mut state, "a", &Answers::from(["a", "a", "b"]));
        // Each question counts the same: 1/6 and 4/9.
        assert_eq!(metric.compute(&state), Some((1.0 / 6.0 + 4.0 / 9.0) / 2.0));
        // Without people a question has 0, and counts.
        metric.update(&mut state, "a", &Answers::default());
        assert_eq!(metric.compute(&state), Some((1.0 / 6.0 + 4.0 / 9.0) / 3.0));
        assert_eq!(
            state.accuracy,
            Accuracy {
                correct: 0,
                total: 3
            }
        );
        let none = metric.measure("", &Answers::default());
        assert_eq!(metric.compute(&none), Some(0.0));
    }

    #[test]
    fn names_are_read_as_printed() {
        for profile in VqaProfile::ALL {
            assert_eq!(profile.to_string().parse(), Ok(*profile));
        }
        for language in Language::ALL {
            assert_eq!(language.to_string().parse(), Ok(*language));
        }
        assert_eq!(
            "fb".parse::<VqaProfile>().map_err(|error| error.to_string()),
            Err("unknown VQA profile \"fb\": expected one of exact, fusion-brain-2021, vqa-v2, vqa-v2-always-normalise".to_owned())
        );
        assert_eq!(
            "EN".parse::<Language>().map_err(|error| error.to_string()),
            Err("unknown language \"EN\": expected one of en, ru".to_owned())
        );
    }

    proptest! {
        #[test]
        fn texts_are_the_same_if_they_are_equal(
            text in "[ab]{0,20}",
            position in any::<proptest::sample::Index>(),
            other in "[ab]{0,3}",
        ) {
            let mut changed = text.clone().into_bytes();
            if let Some(byte) = (!changed.is_empty()).then(|| position.get_mut(&mut changed)) {
                *byte = b'c';
                prop_assert!(!is_same(&text, &String::from_utf8_lossy(&changed)));
            }
            prop_assert!(is_same(&text, &text.clone()));
            prop_assert_eq!(is_same(&text, &other), text == other);
        }

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
            pairs in proptest::collection::vec(
                ("[12 a]{0,2}", proptest::collection::vec("[12a]", 0..5)), 0..9),
            profile in proptest::sample::select(VqaProfile::ALL),
        ) {
            let metric = VqaAccuracy::new(profile);
            let language = Some(Language::Russian);
            let pool = |pairs: &[(String, Vec<String>)]| {
                let mut state = Evidence::default();
                for (prediction, answers) in pairs {
                    let reference = Answers { language, ..answers.iter().cloned().collect() };
                    metric.update(&mut state, prediction, &reference);
                }
                state
            };
            let single = pairs.chunks(1).map(pool);
            prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), pool(&pairs));
        }
    }
}
