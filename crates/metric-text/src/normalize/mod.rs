//! Normalization of text before it is compared: a list of named [`Step`]s, applied in order.
//!
//! White space, case and punctuation follow CPython's `str` (3.11, checked on all code points of
//! Unicode 14.0). Newer characters follow the tables in use: normalization forms and categories of
//! Unicode 18.0 (unicode-normalization 0.1.26, unicode-properties 0.1.5), lowercasing of the Rust
//! toolchain.

mod findings;
mod whisper;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

#[cfg(feature = "regex")]
use crate::python_re::PythonRegex;
use metric_core::UnknownChoice;
use unicase::UniCase;
use unicode_normalization::{UnicodeNormalization, is_nfc, is_nfd, is_nfkc, is_nfkd};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

pub use findings::{Finding, letters};

/// An ordered list of normalization steps; none by default.
///
/// Written as a comma-separated list of [step names](Step::name), `none` when empty: what is
/// printed is read back as the same list, and appears in signatures.
///
/// Equality up to canonical equivalence and case (Unicode definition D145) is
/// `nfd,casefold,nfd`; the cheaper `nfc,casefold,nfc` differs only with U+0345 and its like.
/// `nfkc` and `nfkd` hide differences that a reader sees: `²` and `2`, `ﬁ` and `fi` become equal.
///
/// Speech is mostly compared without case and punctuation: `casefold,punctuation`. [`Step::WhisperEnglish`] and its like are
/// the normalizers of published results.
///
/// Each step alone changes nothing a second time, except for `remove(...)`, `replace(...)`, and the English steps for speech:
/// with `remove(ab)`, `aabb` becomes `ab`. A list of steps can: in `strip,punctuation` the second step may leave space at an
/// end.
///
/// ```
/// use metric_text::Normalizer;
///
/// let normalizer: Normalizer = "nfc,casefold,whitespace".parse()?;
/// assert_eq!(normalizer.apply(" Große\tE\u{301}toile "), "grosse étoile");
/// assert_eq!(normalizer.to_string(), "nfc,casefold,whitespace");
///
/// assert_eq!(Normalizer::default().apply(" As it is "), " As it is ");
/// assert_eq!(Normalizer::default().to_string(), "none");
/// # Ok::<(), metric_text::normalize::InvalidStep>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Normalizer {
    /// The steps, first to last. A step may occur more than once.
    pub steps: Vec<Step>,
}

impl Normalizer {
    /// Returns the text after all steps. It is borrowed, not copied, if no step changes it or if only its ends are
    /// cut.
    ///
    /// Linear in the length of the text for each step.
    #[must_use]
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.steps
            .iter()
            .fold(Cow::Borrowed(text), |text, step| then(step, text))
    }

    /// Returns whether two texts are the same after all steps.
    ///
    /// Texts that are the same already are not normalized, so that with mostly correct predictions
    /// this costs little more than `==`.
    ///
    /// ```
    /// # use metric_text::Normalizer;
    /// let normalizer: Normalizer = "casefold".parse()?;
    /// assert!(normalizer.equal("STRASSE", "straße"));
    /// assert!(!Normalizer::default().equal("STRASSE", "straße"));
    /// # Ok::<(), metric_text::normalize::InvalidStep>(())
    /// ```
    #[must_use]
    pub fn equal(&self, a: &str, b: &str) -> bool {
        a == b || (!self.steps.is_empty() && self.apply(a) == self.apply(b))
    }
}

impl Normalizer {
    /// Returns the list of steps with the versions of their rules, as it appears in signatures.
    ///
    /// ```
    /// # use metric_text::Normalizer;
    /// let normalizer: Normalizer = "nfc,whisper-english".parse()?;
    /// assert_eq!(normalizer.signature(), "nfc,whisper-english@20250625");
    /// # Ok::<(), metric_text::normalize::InvalidStep>(())
    /// ```
    #[must_use]
    pub fn signature(&self) -> String {
        if self.steps.is_empty() {
            return self.to_string();
        }
        let step = |step: &Step| match step.version() {
            Some(version) => format!("{step}@{version}"),
            None => step.to_string(),
        };
        self.steps.iter().map(step).collect::<Vec<_>>().join(",")
    }
}

impl fmt::Display for Normalizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return f.write_str("none");
        }
        for (index, step) in self.steps.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{step}")?;
        }
        Ok(())
    }
}

impl FromStr for Normalizer {
    type Err = InvalidStep;

    /// Reads a comma-separated list of step names; `none` and the empty text have no steps.
    /// Space around a name does not count.
    fn from_str(list: &str) -> Result<Self, InvalidStep> {
        let mut steps = Vec::new();
        let mut rest = Some(list.trim()).filter(|list| !matches!(*list, "" | "none"));
        while let Some(list) = rest {
            let (step, after) = first_step(list)?;
            steps.push(step);
            rest = after;
        }
        Ok(Self { steps })
    }
}

/// The text after one more step.
pub(crate) fn then<'t>(step: &Step, text: Cow<'t, str>) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => step.apply(text),
        Cow::Owned(text) => match step.apply(&text) {
            Cow::Borrowed(same) if same.len() == text.len() => Cow::Owned(text),
            changed => Cow::Owned(changed.into_owned()),
        },
    }
}

/// The first step of a list, and the list after its comma.
fn first_step(list: &str) -> Result<(Step, Option<&str>), InvalidStep> {
    // A pattern may have commas and brackets of its own: it ends at the first bracket, before a comma
    // or the end, that leaves a valid step.
    #[cfg(feature = "regex")]
    if let Some((read, inner)) = argument_of(list.trim_start()) {
        let mut problem = None;
        for (end, _) in inner.match_indices(')') {
            let after = inner[end + 1..].trim_start();
            if !(after.is_empty() || after.starts_with(',')) {
                continue;
            }
            match read(&inner[..end]) {
                Ok(step) => return Ok((step, after.strip_prefix(','))),
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        return Err(problem.unwrap_or(NOT_CLOSED));
    }
    match list.split_once(',') {
        Some((name, after)) => Ok((name.trim().parse()?, Some(after))),
        None => Ok((list.trim().parse()?, None)),
    }
}

/// The error for a step whose bracket is open, or not followed by a comma or the end.
#[cfg(feature = "regex")]
const NOT_CLOSED: InvalidStep =
    InvalidStep::Argument("expected ) at the end of the step, before a comma or the end");

/// Reads the argument of a step, which is the text in its brackets.
#[cfg(feature = "regex")]
type ReadArgument = fn(&str) -> Result<Step, InvalidStep>;

/// The steps that have an argument, by name.
#[cfg(feature = "regex")]
const WITH_ARGUMENT: [(&str, ReadArgument); 4] = [
    ("remove", |pattern| {
        let pattern = pattern.parse().map_err(InvalidStep::Pattern)?;
        Ok(Step::Remove(pattern))
    }),
    ("replace", |argument| {
        let expected = "expected replace(PATTERN, TEXT)";
        let (pattern, text) = argument
            .rsplit_once(',')
            .ok_or(InvalidStep::Argument(expected))?;
        let pattern: Pattern = pattern.parse().map_err(InvalidStep::Pattern)?;
        let text = text.strip_prefix(' ').unwrap_or(text);
        if has_groups(&pattern.0, text) {
            Ok(Step::Replace(pattern, text.to_owned()))
        } else {
            Err(InvalidStep::Argument(
                "expected groups of the pattern in the text, such as $1, or ${1} before a letter, and $$ for a dollar sign",
            ))
        }
    }),
    ("remove-words", |words| {
        let words = words.split_whitespace().map(|word| (word, " "));
        Words::new(words).map(Step::RemoveWords)
    }),
    ("replace-words", |words| {
        let expected = "expected replace-words(WORD=TEXT ...)";
        let pair = |word: &'_ str| {
            word.split_once('=')
                .is_some_and(|(word, _)| !word.is_empty())
        };
        if !words.split_whitespace().all(pair) {
            return Err(InvalidStep::Argument(expected));
        }
        let words = words
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='));
        Words::new(words).map(Step::ReplaceWords)
    }),
];

/// Whether a pattern has all groups that a replacement names. Others would be empty, and `\1`, as other programs
/// write groups, would be a text.
#[cfg(feature = "regex")]
fn has_groups(pattern: &regex::Regex, text: &str) -> bool {
    let is_of_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut rest = text;
    while let Some(index) = rest.find(['$', '\\']) {
        let (mark, after) = (rest.as_bytes()[index], &rest[index + 1..]);
        rest = after;
        if mark == b'\\' {
            if after.starts_with(|char: char| char.is_ascii_digit()) {
                return false;
            }
            continue;
        }
        if let Some(after) = after.strip_prefix('$') {
            rest = after;
            continue;
        }
        let in_braces = after.strip_prefix('{').and_then(|it| it.split_once('}'));
        let end = after.find(|char| !is_of_name(char)).unwrap_or(after.len());
        let name = in_braces.map_or(&after[..end], |(name, _)| name);
        let is_group = match name.parse::<usize>() {
            Ok(number) => number < pattern.captures_len(),
            Err(_) => pattern.capture_names().flatten().any(|other| other == name),
        };
        if !name.is_empty() && !is_group {
            return false;
        }
    }
    true
}

/// The step with an argument that a list starts with, and what follows its opening bracket.
#[cfg(feature = "regex")]
fn argument_of(list: &str) -> Option<(ReadArgument, &str)> {
    let of = |(name, read): &(&str, ReadArgument)| {
        let inner = list.strip_prefix(name)?.strip_prefix('(')?;
        Some((*read, inner))
    };
    WITH_ARGUMENT.iter().find_map(of)
}

/// Words with the texts that replace them, as in jiwer's `SubstituteWords`. The words are replaced one after another,
/// each wherever it occurs between word boundaries, even in the text that replaced an earlier word. Boundaries and
/// backslashes in a text have the meaning that CPython 3.11 gives them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg(feature = "regex")]
pub struct Words(Vec<Word>);

/// A word, the text that replaces it as it is written and as it appears, and the pattern of the word.
#[cfg(feature = "regex")]
type Word = (String, String, String, PythonRegex);

#[cfg(feature = "regex")]
impl Words {
    /// Returns the list of words, each with its replacement.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no word, or if a text has a backslash that has no meaning in `re.sub`.
    pub fn new<'w>(
        words: impl IntoIterator<Item = (&'w str, &'w str)>,
    ) -> Result<Self, InvalidStep> {
        let word = |(word, text): (&str, &str)| {
            let pattern = format!(r"\b{}\b", crate::python_re::escape(word)).parse();
            let pattern = pattern.map_err(InvalidStep::Pattern)?;
            let replacement =
                crate::python_re::expand(text, word).map_err(InvalidStep::Replacement)?;
            Ok((word.to_owned(), text.to_owned(), replacement, pattern))
        };
        let words: Vec<_> = words.into_iter().map(word).collect::<Result<_, _>>()?;
        if words.is_empty() {
            Err(InvalidStep::Argument("expected at least one word"))
        } else {
            Ok(Self(words))
        }
    }

    fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut replaced = Cow::Borrowed(text);
        for (_, _, by, pattern) in &self.0 {
            // A word has one way to match, so there are never too many steps.
            if let Ok(Cow::Owned(changed)) = pattern.replace_all(&replaced, by) {
                replaced = Cow::Owned(changed);
            }
        }
        replaced
    }
}

/// One step of a [`Normalizer`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// `nfc`: canonical composition (Unicode Standard Annex 15).
    Nfc,
    /// `nfd`: canonical decomposition.
    Nfd,
    /// `nfkc`: compatibility decomposition, then canonical composition.
    Nfkc,
    /// `nfkd`: compatibility decomposition.
    Nfkd,
    /// `casefold`: full case folding as in Python's `str.casefold`: `ß` and `ẞ` become `ss`.
    Casefold,
    /// `lower`: lowercase as in Python's `str.lower`: a `Σ` that ends a word becomes `ς`.
    Lower,
    /// `strip`: removes white space at both ends, as in Python's `str.strip`.
    Strip,
    /// `collapse`: each run of white space becomes one space, also at the ends.
    Collapse,
    /// `whitespace`: each run of white space becomes one space, and both ends are stripped, as in
    /// Python's `" ".join(text.split())`.
    Whitespace,
    /// `punctuation`: removes characters of the general categories `P*`. Symbols (`$`, `+`, `<`, `=`, `>`, `^`, `` `
    /// ``, `|`, `~`) are not punctuation in Unicode and stay.
    Punctuation,
    /// `ascii-punctuation`: removes the 32 characters of Python's `string.punctuation`.
    AsciiPunctuation,
    /// `digits`: removes decimal digits of all scripts (general category Nd), as in `str.isdecimal`.
    Digits,
    /// `ascii-digits`: removes the digits 0 to 9.
    AsciiDigits,
    /// `remove-spaces`: removes white space. Character error rates of Chinese, Japanese, Korean and Thai are usually
    /// computed without it.
    RemoveSpaces,
    /// `han-spaces`: removes white space between two Han characters or kana.
    HanSpaces,
    /// `last-number`: only the last number stays, without commas and currency sign: see [`last_number`](crate::last_number).
    LastNumber,
    /// `whisper-basic`: `BasicTextNormalizer` of openai-whisper 20250625. Lowercase, without text in brackets, NFKC; each
    /// mark, symbol and punctuation character becomes a space.
    ///
    /// The ends are not stripped. The vowel signs and tone marks of Indic scripts and of Thai are marks: their words are
    /// cut into letters.
    WhisperBasic,
    /// `whisper-basic-split`: the same with `split_letters`: a space between grapheme clusters.
    WhisperBasicSplit,
    /// `whisper-basic-nodiacritics`: the same with `remove_diacritics`: decomposed (NFKD), without diacritics.
    WhisperBasicNoDiacritics,
    /// `whisper-basic-nodiacritics-split`: the same with both options.
    WhisperBasicNoDiacriticsSplit,
    /// `whisper-english`: `EnglishTextNormalizer` of openai-whisper 20250625. Removes text in brackets, fillers and
    /// diacritics, and writes out contractions and titles, numbers as digits, and British spellings as American ones.
    ///
    /// The ends are not stripped. Each `'s` is read as `is`, only U+0027 is an apostrophe, and a second application can
    /// change a text again: `007` becomes `7`, and `1.1` becomes `one one` and then `11`.
    WhisperEnglish,
    /// `open-asr-english`: the English normalizer of the Open ASR leaderboard, commit d1e99b2. Differs from `whisper-english`
    /// in fillers, `'s`, spellings and names, and joins compounds and letters (`b b c`).
    OpenAsrEnglish,
    /// `open-asr-multilingual`: the normalizer of the Open ASR leaderboard for other languages, commit d1e99b2, without its
    /// digits in words: `whisper-basic`, then only letters, numbers and spaces stay, and the ends are stripped.
    OpenAsrMultilingual,
    /// `remove(PATTERN)`: removes all matches of a regular expression.
    #[cfg(feature = "regex")]
    Remove(Pattern),
    /// `replace(PATTERN, TEXT)`: all matches of a regular expression become the text, in which `$1` is the
    /// first group and `$$` a dollar sign. The last comma separates the two, and one space after it does not
    /// count.
    #[cfg(feature = "regex")]
    Replace(Pattern, String),
    /// `remove-words(WORD ...)`: each of these words becomes a space, as in jiwer's `RemoveSpecificWords`.
    #[cfg(feature = "regex")]
    RemoveWords(Words),
    /// `replace-words(WORD=TEXT ...)`: each of these words becomes its text, as in jiwer's `SubstituteWords`.
    #[cfg(feature = "regex")]
    ReplaceWords(Words),
}

impl Step {
    /// All steps that have no pattern.
    pub const ALL: &[Self] = &[
        Self::Nfc,
        Self::Nfd,
        Self::Nfkc,
        Self::Nfkd,
        Self::Casefold,
        Self::Lower,
        Self::Strip,
        Self::Collapse,
        Self::Whitespace,
        Self::Punctuation,
        Self::AsciiPunctuation,
        Self::Digits,
        Self::AsciiDigits,
        Self::RemoveSpaces,
        Self::HanSpaces,
        Self::LastNumber,
        Self::WhisperBasic,
        Self::WhisperBasicSplit,
        Self::WhisperBasicNoDiacritics,
        Self::WhisperBasicNoDiacriticsSplit,
        Self::WhisperEnglish,
        Self::OpenAsrEnglish,
        Self::OpenAsrMultilingual,
    ];

    /// Returns the name of the step in a list. For a step with an argument it is the part before the bracket:
    /// `remove` for `remove(PATTERN)`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Nfc => "nfc",
            Self::Nfd => "nfd",
            Self::Nfkc => "nfkc",
            Self::Nfkd => "nfkd",
            Self::Casefold => "casefold",
            Self::Lower => "lower",
            Self::Strip => "strip",
            Self::Collapse => "collapse",
            Self::Whitespace => "whitespace",
            Self::Punctuation => "punctuation",
            Self::AsciiPunctuation => "ascii-punctuation",
            Self::Digits => "digits",
            Self::AsciiDigits => "ascii-digits",
            Self::RemoveSpaces => "remove-spaces",
            Self::HanSpaces => "han-spaces",
            Self::LastNumber => "last-number",
            Self::WhisperBasic => "whisper-basic",
            Self::WhisperBasicSplit => "whisper-basic-split",
            Self::WhisperBasicNoDiacritics => "whisper-basic-nodiacritics",
            Self::WhisperBasicNoDiacriticsSplit => "whisper-basic-nodiacritics-split",
            Self::WhisperEnglish => "whisper-english",
            Self::OpenAsrEnglish => "open-asr-english",
            Self::OpenAsrMultilingual => "open-asr-multilingual",
            #[cfg(feature = "regex")]
            Self::Remove(_) => "remove",
            #[cfg(feature = "regex")]
            Self::Replace(..) => "replace",
            #[cfg(feature = "regex")]
            Self::RemoveWords(_) => "remove-words",
            #[cfg(feature = "regex")]
            Self::ReplaceWords(_) => "replace-words",
        }
    }

    /// Returns the version of the rules of a step that follows a program whose rules change. A score depends on it.
    ///
    /// ```
    /// use metric_text::normalize::Step;
    ///
    /// assert_eq!(Step::WhisperEnglish.version(), Some("20250625"));
    /// assert_eq!(Step::Lower.version(), None);
    /// ```
    #[must_use]
    pub const fn version(&self) -> Option<&'static str> {
        match self {
            Self::WhisperBasic
            | Self::WhisperBasicSplit
            | Self::WhisperBasicNoDiacritics
            | Self::WhisperBasicNoDiacriticsSplit
            | Self::WhisperEnglish => Some(whisper::WHISPER_VERSION),
            Self::OpenAsrEnglish | Self::OpenAsrMultilingual => Some(whisper::OPEN_ASR_VERSION),
            _ => None,
        }
    }

    /// Returns the text after this step. It is borrowed, not copied, if the step does not change it or only cuts its
    /// ends.
    ///
    /// ```
    /// use metric_text::normalize::Step;
    ///
    /// assert_eq!(Step::Lower.apply("ΟΔΟΣ"), "οδος");
    /// assert_eq!(Step::Casefold.apply("ΟΔΟΣ"), "οδοσ");
    /// assert_eq!(Step::Punctuation.apply("«да», $5!"), "да $5");
    /// assert_eq!(Step::WhisperEnglish.apply("Dr. Gray's [coughs] two thousand colours"), "doctor gray is 2000 colors");
    /// assert_eq!(Step::HanSpaces.apply("我 有 两 个 apple"), "我有两个 apple");
    /// ```
    #[must_use]
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self {
            Self::Nfc => unless(is_nfc, text, |text| text.nfc().collect()),
            Self::Nfd => unless(is_nfd, text, |text| text.nfd().collect()),
            Self::Nfkc => unless(is_nfkc, text, |text| text.nfkc().collect()),
            Self::Nfkd => unless(is_nfkd, text, |text| text.nfkd().collect()),
            Self::Casefold => casefold(text),
            Self::Lower => lower(text),
            Self::Strip => Cow::Borrowed(text.trim_matches(is_space)),
            Self::Collapse => collapse(text),
            Self::Whitespace => collapse(text.trim_matches(is_space)),
            Self::Punctuation => without(text, |c| {
                c.general_category_group() == GeneralCategoryGroup::Punctuation
            }),
            Self::AsciiPunctuation => without(text, |c| c.is_ascii_punctuation()),
            Self::Digits => without(text, |c| {
                c.general_category() == GeneralCategory::DecimalNumber
            }),
            Self::AsciiDigits => without(text, |c| c.is_ascii_digit()),
            Self::RemoveSpaces => without(text, is_space),
            Self::HanSpaces => without_han_spaces(text),
            Self::LastNumber => crate::last_number::last_number(text).unwrap_or(Cow::Borrowed("")),
            Self::WhisperBasic => whisper::basic(text, false, false),
            Self::WhisperBasicSplit => whisper::basic(text, false, true),
            Self::WhisperBasicNoDiacritics => whisper::basic(text, true, false),
            Self::WhisperBasicNoDiacriticsSplit => whisper::basic(text, true, true),
            Self::WhisperEnglish => whisper::english(text, &whisper::WHISPER),
            Self::OpenAsrEnglish => whisper::english(text, &whisper::OPEN_ASR),
            Self::OpenAsrMultilingual => whisper::multilingual(text),
            #[cfg(feature = "regex")]
            Self::Remove(pattern) => pattern.delete(text),
            #[cfg(feature = "regex")]
            Self::Replace(pattern, by) => pattern.0.replace_all(text, by.as_str()),
            #[cfg(feature = "regex")]
            Self::RemoveWords(words) | Self::ReplaceWords(words) => words.apply(text),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "regex")]
            Self::Remove(pattern) => write!(f, "remove({pattern})"),
            #[cfg(feature = "regex")]
            Self::Replace(pattern, text) => write!(f, "replace({pattern}, {text})"),
            #[cfg(feature = "regex")]
            Self::RemoveWords(Words(words)) => {
                let words: Vec<&str> = words.iter().map(|(word, ..)| word.as_str()).collect();
                write!(f, "remove-words({})", words.join(" "))
            }
            #[cfg(feature = "regex")]
            Self::ReplaceWords(Words(words)) => {
                let pair = |(word, text, ..): &Word| format!("{word}={text}");
                let pairs: Vec<String> = words.iter().map(pair).collect();
                write!(f, "replace-words({})", pairs.join(" "))
            }
            step => f.write_str(step.name()),
        }
    }
}

impl FromStr for Step {
    type Err = InvalidStep;

    fn from_str(name: &str) -> Result<Self, InvalidStep> {
        #[cfg(feature = "regex")]
        if let Some((read, inner)) = argument_of(name) {
            return read(inner.strip_suffix(')').ok_or(NOT_CLOSED)?);
        }
        let found = Self::ALL.iter().find(|step| step.name() == name);
        found.cloned().ok_or_else(|| {
            let mut choices: Vec<_> = Self::ALL.iter().map(Self::name).collect();
            if cfg!(feature = "regex") {
                choices.extend([
                    "remove(REGEX)",
                    "replace(REGEX, TEXT)",
                    "remove-words(WORD ...)",
                    "replace-words(WORD=TEXT ...)",
                ]);
            }
            InvalidStep::Unknown(UnknownChoice {
                option: "normalization step",
                given: name.to_owned(),
                choices,
            })
        })
    }
}

/// The error for a text that is not a valid [`Step`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidStep {
    /// No step has the name.
    Unknown(UnknownChoice),
    /// The text in the brackets of a step is not a regular expression.
    Pattern(InvalidPattern),
    /// The text in the brackets of a step is not valid for it.
    Argument(&'static str),
    /// A text that replaces a word has a backslash without a meaning.
    Replacement(String),
}

impl fmt::Display for InvalidStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => error.fmt(f),
            Self::Pattern(error) => error.fmt(f),
            Self::Argument(expected) => f.write_str(expected),
            Self::Replacement(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for InvalidStep {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unknown(error) => Some(error),
            Self::Pattern(error) => Some(error),
            Self::Argument(_) | Self::Replacement(_) => None,
        }
    }
}

/// A regular expression whose matches in a text are deleted or replaced. Without the feature `regex`, there are no
/// values of this type.
///
/// The syntax is that of the crate `regex` 1: mostly that of Python's `re`, but without
/// back-references and looking around, so that matching takes time linear in the text. In both,
/// classes are those of Unicode, but here `\w` and `\b` take combining marks for parts of words and
/// `½` or `²` for none, `\s` does not match U+001C to U+001F, and `$` does not match before a newline
/// at the end. `PythonRegex` matches as Python does.
#[cfg_attr(
    feature = "regex",
    doc = r#"
```
use metric_text::Normalizer;

// Noises that speech corpora put in brackets.
let normalizer: Normalizer = r"remove(\[.*?\]|\(.*?\)),casefold,whitespace".parse()?;
assert_eq!(normalizer.apply("Well [coughs] yes (laughs)"), "well yes");
# Ok::<(), metric_text::normalize::InvalidStep>(())
```"#
)]
#[derive(Clone, Debug)]
pub struct Pattern(Expression);

#[cfg(feature = "regex")]
type Expression = regex::Regex;
#[cfg(not(feature = "regex"))]
type Expression = std::convert::Infallible;

impl Pattern {
    /// Returns the regular expression as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        #[cfg(feature = "regex")]
        return self.0.as_str();
        #[cfg(not(feature = "regex"))]
        match self.0 {}
    }

    /// Returns the text without the matches of the regular expression.
    #[must_use]
    pub fn delete<'t>(&self, text: &'t str) -> Cow<'t, str> {
        #[cfg(feature = "regex")]
        return self.0.replace_all(text, "");
        #[cfg(not(feature = "regex"))]
        match (self.0, text) {}
    }
}

#[cfg(feature = "regex")]
impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(pattern: &str) -> Result<Self, InvalidPattern> {
        let read = regex::Regex::new(pattern);
        read.map(Self).map_err(|error| {
            // The lines before draw the pattern.
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default();
            InvalidPattern {
                pattern: pattern.to_owned(),
                reason: reason.trim_start_matches("error: ").to_owned(),
            }
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

impl std::hash::Hash for Pattern {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

/// The error for a text that is not a valid regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidPattern {
    /// The text.
    pub pattern: String,
    /// The error, in one line.
    pub reason: String,
}

impl fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern, reason } = self;
        write!(f, "{pattern:?} is not a regular expression: {reason}")
    }
}

impl std::error::Error for InvalidPattern {}

/// White space as in Python's `str.isspace`: the Unicode property White_Space and the four
/// information separators.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Returns whether two texts have words that differ only in the Unicode form of their characters: composed, such as `é` as
/// one character, or decomposed into a letter and its marks. Normalization by `nfc` makes them equal.
///
/// ```
/// use metric_text::normalize::differ_in_form;
///
/// assert!(differ_in_form("un cafe\u{301}", "le café"));
/// assert!(!differ_in_form("un cafe", "un café"));
/// assert!(!differ_in_form("caf\u{e9}", "caf\u{e9}"));
/// ```
#[must_use]
pub fn differ_in_form(a: &str, b: &str) -> bool {
    if a == b || !(may_be_decomposed(a) || may_be_decomposed(b)) || (is_nfc(a) && is_nfc(b)) {
        return false;
    }
    let composed = |text: &str| text.nfc().collect::<String>();
    let known: HashSet<&str> = words(b).collect();
    let known_composed: HashSet<String> = known.iter().map(|word| composed(word)).collect();
    words(a).any(|word| !known.contains(word) && known_composed.contains(&composed(word)))
}

/// Returns whether a text has only printable characters of ASCII, in one fast pass.
#[must_use]
pub fn is_printable_ascii(text: &str) -> bool {
    let is_printable = |byte: u8| byte.wrapping_sub(b' ') < 0x5f;
    text.bytes()
        .fold(true, |all, byte| all & is_printable(byte))
}

/// Whether a text has characters that a composition could start or end with: marks of Latin, Greek and Cyrillic letters,
/// parts of Hangul syllables, or marks of Kana.
fn may_be_decomposed(text: &str) -> bool {
    let starts_mark = |byte: &u8| matches!(byte, 0xcc | 0xcd | 0xe1);
    let has_marks = text
        .bytes()
        .fold(false, |any, byte| any | starts_mark(&byte));
    has_marks || (!text.is_ascii() && text.contains(['\u{3099}', '\u{309a}']))
}

/// ASCII text is in every normalization form.
fn unless(done: fn(&str) -> bool, text: &str, normalize: fn(&str) -> String) -> Cow<'_, str> {
    if text.is_ascii() || done(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(normalize(text))
    }
}

fn casefold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return ascii_lower(text);
    }
    let folded = UniCase::unicode(text).to_folded_case();
    if folded == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(folded)
    }
}

pub(crate) fn lower(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        ascii_lower(text)
    } else if text.chars().all(|c| c.to_lowercase().eq([c])) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

fn ascii_lower(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Each run of white space as one space.
fn collapse(text: &str) -> Cow<'_, str> {
    let mut after_space = false;
    let collapsed = text.chars().all(|c| {
        let double = after_space && c == ' ';
        after_space = c == ' ';
        !double && (after_space || !is_space(c))
    });
    if collapsed {
        return Cow::Borrowed(text);
    }
    let mut joined = String::with_capacity(text.len());
    let mut after_space = false;
    for c in text.chars() {
        if !is_space(c) {
            joined.push(c);
        } else if !after_space {
            joined.push(' ');
        }
        after_space = is_space(c);
    }
    Cow::Owned(joined)
}

/// A text without the white space between two Han characters or kana.
fn without_han_spaces(text: &str) -> Cow<'_, str> {
    let mut joined = String::new();
    let mut rest = text;
    for (index, c) in text.char_indices() {
        // The end of each run of white space, unless it ends the text.
        if is_space(c) || !text[..index].ends_with(is_space) {
            continue;
        }
        let before = &rest[..index + rest.len() - text.len()];
        let kept = before.trim_end_matches(is_space);
        if is_han_or_kana(c) && kept.ends_with(is_han_or_kana) {
            joined.push_str(kept);
            rest = &text[index..];
        }
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(joined + rest)
}

fn is_han_or_kana(c: char) -> bool {
    matches!(
        c,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}'
    )
}

/// The words of a text as in Python's `str.split()`.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

pub(crate) fn without(text: &str, drop: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.contains(&drop) {
        Cow::Owned(text.chars().filter(|&c| !drop(c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[cfg(feature = "regex")]
    #[test]
    fn replacements_by_hand() {
        let rows = [
            ("replace(colou?r, hue)", "color colour", "hue hue"),
            (r"replace((\d+) (kg|g), $1$2)", "5 kg, 20 g", "5kg, 20g"),
            (r"replace((\d+) kg, ${1}k costs $$)", "5 kg", "5k costs $"),
            (r"replace((?P<word>\w+)!, <$word$0\>)", "a!", r"<aa!\>"),
            ("replace(a{1,2}, b)", "aab", "bb"),
            ("replace(-,  )", "a-b", "a b"),
            ("replace(x, ),whitespace", " axb ", "ab"),
            (
                "remove-words(uh um),whitespace",
                "uh well um yes umm",
                "well yes umm",
            ),
            (
                "replace-words(can't=cannot b=c),lower",
                "I can't B b",
                "i cannot b c",
            ),
            ("replace-words(a=b b=c)", "a b", "c c"),
            // A vowel sign is not a word character to CPython, and half is one.
            ("replace-words(क=x)", "काक ½क", "xाx ½क"),
            (r"replace-words(a=\g<0>\ta)", "a", "a\ta"),
        ];
        for (steps, text, expected) in rows {
            let normalizer: Normalizer = steps.parse().expect("steps");
            assert_eq!(normalizer.apply(text), expected, "{steps}");
            let written = normalizer.to_string();
            assert_eq!(written.parse(), Ok(normalizer), "{written}");
        }
        for steps in [
            "replace(a)",
            "replace-words(a)",
            "remove-words()",
            "replace((, a)",
            "replace((a), $2)",
            "replace((a), $1x)",
            "replace((a), ${b})",
            r"replace((a), \1)",
            r"replace-words(a=\1)",
            r"replace-words(a=\q)",
        ] {
            assert!(steps.parse::<Normalizer>().is_err(), "{steps}");
        }
        for steps in ["replace(a", "replace(a, b", "remove(a,lower", "remove(a) b"] {
            let error = steps.parse::<Normalizer>().expect_err(steps).to_string();
            assert!(error.contains("expected ) at the end"), "{error}");
            let error = steps.parse::<Step>().expect_err(steps).to_string();
            assert!(error.contains("expected ) at the end"), "{error}");
        }
    }

    #[test]
    fn steps_by_hand() {
        let rows: &[(Step, &str, &str)] = &[
            (Step::Nfc, "e\u{301}", "é"),
            (Step::Nfc, "ﬁ", "ﬁ"),
            (Step::Nfd, "é", "e\u{301}"),
            (Step::Nfd, "가", "\u{1100}\u{1161}"),
            (Step::Nfkc, "ﬁ²", "fi2"),
            (Step::Nfkd, "ﬁé", "fie\u{301}"),
            (Step::Casefold, "", ""),
            (Step::Casefold, "MASSE Maße", "masse masse"),
            (Step::Casefold, "ẞ ŉ İ ı", "ss ʼn i̇ ı"),
            // Cherokee folds to its capitals.
            (Step::Casefold, "ꭰ", "Ꭰ"),
            (Step::Lower, "Maße", "maße"),
            (Step::Lower, "ΣΑΣ ΣΑ Σ", "σας σα σ"),
            (Step::Lower, "ǅ", "ǆ"),
            (Step::Lower, "İ", "i̇"),
            (Step::Strip, "\u{1f} \u{a0}a b\t\u{3000}", "a b"),
            // A zero width space is not white space.
            (Step::Strip, "\u{200b}a ", "\u{200b}a"),
            (Step::Collapse, " \t", " "),
            (Step::Collapse, " a\t\u{3000}b  c", " a b c"),
            (Step::Digits, "a1²٣.५x", "a².x"),
            (Step::AsciiDigits, "a1²٣.५x", "a²٣.५x"),
            (Step::Whitespace, " \t", ""),
            (Step::Whitespace, "a  b\u{1c}c d", "a b c d"),
            (Step::Whitespace, "a\tb", "a b"),
            (Step::RemoveSpaces, " a\u{3000}b\tc", "abc"),
            (
                Step::HanSpaces,
                " 我 有\u{3000}\t两 ok 个 カ ナ ",
                " 我有两 ok 个カナ ",
            ),
            (Step::HanSpaces, "한 국 漢 한", "한 국 漢 한"),
            (Step::Punctuation, "¿Qué? a-b_c", "Qué abc"),
            (Step::Punctuation, "$+<=>^`|~", "$+<=>^`|~"),
            (
                Step::AsciiPunctuation,
                "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
                "",
            ),
            (Step::AsciiPunctuation, "¿a?", "¿a"),
        ];
        for (step, text, expected) in rows {
            assert_eq!(step.apply(text), *expected, "{step} of {text:?}");
        }
    }

    #[test]
    fn order_counts() {
        let text = " «a» ";
        let apply = |list: &str| list.parse().map(|n: Normalizer| n.apply(text).into_owned());
        assert_eq!(apply("strip,punctuation"), Ok("a".to_owned()));
        // The ligature holds a capital only after its decomposition.
        let (before, after): (Normalizer, Normalizer) =
            ("lower,nfkc".parse().unwrap(), "nfkc,lower".parse().unwrap());
        assert_eq!((&*before.apply("™"), &*after.apply("™")), ("TM", "tm"));
    }

    #[test]
    fn lists_are_read_as_printed() {
        for list in ["none", "nfc", "nfd,casefold,nfd", "strip,ascii-punctuation"] {
            assert_eq!(
                list.parse().map(|n: Normalizer| n.to_string()),
                Ok(list.to_owned())
            );
        }
        assert_eq!("".parse(), Ok(Normalizer::default()));
        assert_eq!(
            " nfc , lower ".parse::<Normalizer>().unwrap().steps,
            [Step::Nfc, Step::Lower]
        );
        for (list, name) in [("nfc,,lower", ""), ("NFC", "NFC"), ("nfc,none", "none")] {
            assert_eq!(
                list.parse::<Normalizer>(),
                name.parse::<Step>()
                    .map(|step| Normalizer { steps: vec![step] })
            );
        }
        assert_eq!(
            "nfx".parse::<Step>().unwrap_err().to_string(),
            "unknown normalization step \"nfx\": expected one of nfc, nfd, nfkc, nfkd, casefold, \
             lower, strip, collapse, whitespace, punctuation, ascii-punctuation, digits, ascii-digits, remove-spaces, \
             han-spaces, last-number, whisper-basic, whisper-basic-split, whisper-basic-nodiacritics, \
             whisper-basic-nodiacritics-split, whisper-english, open-asr-english, open-asr-multilingual"
                .to_owned()
                + if cfg!(feature = "regex") { ", remove(REGEX), replace(REGEX, TEXT), remove-words(WORD ...), replace-words(WORD=TEXT ...)" } else { "" }
        );
    }

    #[cfg(feature = "regex")]
    #[test]
    fn patterns_stand_in_lists() {
        let read = |list: &str| {
            list.parse::<Normalizer>()
                .map(|normalizer| normalizer.steps)
        };
        let remove = |pattern: &str| Step::Remove(pattern.parse().unwrap());
        for list in [
            r"remove(\[[^\]]*\])",
            "nfc,remove(a{1,2}(b,c)),lower",
            r"remove([),]\),x),remove(y)",
            "remove()",
        ] {
            let normalizer: Normalizer = list.parse().unwrap();
            assert_eq!(normalizer.to_string(), list);
        }
        assert_eq!(
            read(r" remove([),]\),x) , strip"),
            Ok(vec![remove(r"[),]\),x"), Step::Strip])
        );
        assert_eq!(
            read("remove(a"),
            Err("remove(a".parse::<Step>().unwrap_err())
        );
        assert!(read("remove(*)").is_err());
        assert!(read("remove(a)b").is_err());
        let error = |list: &str| list.parse::<Normalizer>().unwrap_err().to_string();
        for list in [
            "remove([a,b),lower",
            "lower,remove([a,b),remove(c)",
            "remove([a,b)",
        ] {
            assert_eq!(
                error(list),
                r#""[a,b" is not a regular expression: unclosed character class"#
            );
        }
        assert!(error("removes(a").starts_with("unknown normalization step \"removes(a\""));
        let error = "remove(()".parse::<Step>().unwrap_err().to_string();
        assert_eq!(error, r#""(" is not a regular expression: unclosed group"#);
        assert_eq!(remove("[аб]+|\\d").apply("вабаб1г"), "вг");
        assert_eq!(remove("x").apply("ab"), "ab");
    }

    #[test]
    fn what_is_normal_is_borrowed() {
        for step in Step::ALL {
            let is_split = step.name().ends_with("-split") || *step == Step::RemoveSpaces;
            let texts = ["", "plain words", "простые слова"];
            for text in &texts[..if is_split { 1 } else { 3 }] {
                assert!(
                    matches!(step.apply(text), Cow::Borrowed(_)),
                    "{step} of {text:?}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn a_step_twice_is_the_step_once(text in any::<String>()) {
            for step in Step::ALL {
                let once = step.apply(&text);
                if matches!(step, Step::WhisperEnglish | Step::OpenAsrEnglish) {
                    continue;
                }
                prop_assert_eq!(step.apply(&once), once.clone(), "{}", step);
                prop_assert_eq!(matches!(step.apply(&once), Cow::Borrowed(_)), true);
            }
        }

        #[test]
        fn equal_texts_are_equal_after_any_steps(
            text in any::<String>(),
            steps in proptest::collection::vec(proptest::sample::select(Step::ALL.to_vec()), 0..5),
        ) {
            let normalizer = Normalizer { steps };
            prop_assert_eq!(normalizer.to_string().parse(), Ok(normalizer.clone()));
            prop_assert!(normalizer.equal(&text, &text));
            let composed: String = text.nfc().collect();
            let canonical = Normalizer { steps: vec![Step::Nfd] };
            prop_assert!(canonical.equal(&text, &composed));
        }
    }
}
