//! What the steps of a normalization do to texts that they were not made for.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::{Normalizer, Step, is_han_or_kana, is_space, words};
use crate::characters::{LETTER, MARK, is};

/// What the steps of a normalization do to a text, where this makes error rates look better or worse than they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Finding {
    /// Words of a script have marks after letters, such as vowel signs, which a step removes or replaces by spaces.
    Marks {
        /// The name of the step.
        step: &'static str,
        /// The name of the script.
        script: &'static str,
    },
    /// Most letters of the text are not Latin, and a step is made for English.
    OtherScript {
        /// The name of the step.
        step: &'static str,
    },
    /// At least a tenth of the words of the text have diacritics, and a step is made for English.
    Diacritics {
        /// The name of the step.
        step: &'static str,
    },
    /// Words have the apostrophe U+2019, with which a step for English knows no contraction.
    Apostrophe {
        /// The name of the step.
        step: &'static str,
    },
    /// The text is empty after the steps, and was not before.
    Emptied,
    /// Words are made of format characters only, such as a joiner that an emoji has left, after the steps.
    FormatWords,
}

/// What a step for speech is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MadeFor {
    English,
    ScriptsWithoutMarks,
}

fn made_for(step: &Step) -> Option<MadeFor> {
    match step {
        Step::WhisperEnglish | Step::OpenAsrEnglish => Some(MadeFor::English),
        Step::WhisperBasic
        | Step::WhisperBasicSplit
        | Step::WhisperBasicNoDiacritics
        | Step::WhisperBasicNoDiacriticsSplit
        | Step::OpenAsrMultilingual => Some(MadeFor::ScriptsWithoutMarks),
        _ => None,
    }
}

impl Normalizer {
    /// Returns what is worth a warning about a text, each with the number of words that it concerns, or 1 for the text.
    ///
    /// ```
    /// use metric_text::Normalizer;
    /// use metric_text::normalize::Finding;
    ///
    /// let normalizer: Normalizer = "whisper-basic".parse()?;
    /// // Three of four words have a vowel sign, where the step splits them.
    /// let found = normalizer.findings("मैं घर जा रहा");
    /// let marks = Finding::Marks { step: "whisper-basic", script: "Devanagari" };
    /// assert_eq!(found, [(marks, 3)]);
    /// assert_eq!(normalizer.findings("[noise]"), [(Finding::Emptied, 1)]);
    /// assert_eq!(normalizer.findings("good morning"), []);
    /// # Ok::<(), metric_text::normalize::InvalidStep>(())
    /// ```
    #[must_use]
    pub fn findings(&self, text: &str) -> Vec<(Finding, u64)> {
        let mut found = Vec::new();
        if !text.is_ascii() {
            let steps = self.steps.iter().enumerate();
            for (index, made_for, step) in
                steps.filter_map(|(index, step)| Some((index, made_for(step)?, step)))
            {
                let text = self.steps[..index]
                    .iter()
                    .fold(text.into(), |text, step| super::then(step, text));
                match made_for {
                    MadeFor::English => of_english(step.name(), &text, &mut found),
                    MadeFor::ScriptsWithoutMarks => of_marks(step.name(), &text, &mut found),
                }
            }
            if may_have_format(text) && text.chars().any(is_format) {
                let text = self.apply(text);
                let words = words(&text)
                    .filter(|word| word.chars().all(is_format))
                    .count();
                found.push((Finding::FormatWords, words as u64));
            }
        }
        if self.may_empty(text) && !is_blank(text) && is_blank(&self.apply(text)) {
            found.push((Finding::Emptied, 1));
        }
        found.retain(|(_, times)| *times > 0);
        found
    }

    /// Whether it is not certain that the text has a word after the steps: of long words without brackets around them, only
    /// steps with patterns or words of their own leave nothing.
    fn may_empty(&self, text: &str) -> bool {
        /// More letters than the longest word that a step takes for a filler.
        const LONG: usize = 6;
        if self.steps.is_empty() {
            return false;
        }
        let is_own = |step: &Step| !Step::ALL.contains(step);
        let mut runs = text.as_bytes().split(|byte| !byte.is_ascii_alphabetic());
        let has_brackets = text.contains(['[', '<', '(']);
        self.steps.iter().any(is_own) || has_brackets || !runs.any(|run| run.len() >= LONG)
    }
}

/// Returns the number of letters of a text, and how many of them are of scripts without spaces between words: Han, kana, Thai,
/// Lao, Khmer and Burmese.
///
/// ```
/// use metric_text::normalize::letters;
///
/// assert_eq!(letters("OK 今天!"), [4, 2]);
/// ```
#[must_use]
pub fn letters(text: &str) -> [u64; 2] {
    if text.is_ascii() {
        let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
        return [letters as u64, 0];
    }
    // Letters of common scripts are known without a table.
    let is_letter = |char: char| match char {
        '\0'..='\x7f' => char.is_ascii_alphabetic(),
        '\u{c0}'..='\u{d6}' | '\u{400}'..='\u{481}' | '\u{4e00}'..='\u{9fff}' => true,
        _ => is(char, LETTER),
    };
    let letters = text.chars().filter(|char| is_letter(*char));
    letters.fold([0; 2], |[letters, without_spaces], letter| {
        let is_without = matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
            || is_han_or_kana(letter);
        [letters + 1, without_spaces + u64::from(is_without)]
    })
}

/// Whether a text has no words.
fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// Whether a text may have format characters: their first bytes in UTF-8 are these. Letters of most scripts have others, and
/// bytes are compared many at a time.
fn may_have_format(text: &str) -> bool {
    let may_be_first =
        |byte: u8| matches!(byte, 0xc2 | 0xd8 | 0xdb | 0xdc | 0xe0..=0xe2 | 0xef..=0xf4);
    text.bytes()
        .fold(false, |found, byte| found | may_be_first(byte))
}

fn is_format(character: char) -> bool {
    character.general_category() == GeneralCategory::Format
}

fn of_english(step: &'static str, text: &str, found: &mut Vec<(Finding, u64)>) {
    let letters = text.chars().filter(|char| is(*char, LETTER));
    let (latin, other) = letters.fold((0, 0), |(latin, other), letter| {
        let is_latin = u64::from(is_latin(letter));
        (latin + is_latin, other + 1 - is_latin)
    });
    found.push((Finding::OtherScript { step }, u64::from(other > latin)));
    let apostrophes = words(text).filter(|word| word.contains('\u{2019}')).count();
    found.push((Finding::Apostrophe { step }, apostrophes as u64));
    let has_diacritics = |word: &&str| !word.is_ascii() && mark_after_letter(word.nfd()).is_some();
    let with_diacritics = words(text).filter(has_diacritics).count();
    let are_many = with_diacritics > 0 && 10 * with_diacritics >= words(text).count();
    found.push((
        Finding::Diacritics { step },
        u64::from(are_many && latin >= other),
    ));
}

fn of_marks(step: &'static str, text: &str, found: &mut Vec<(Finding, u64)>) {
    for word in words(text) {
        if let Some(mark) = mark_after_letter(word.nfkc()) {
            let script = script_of(mark);
            let finding = Finding::Marks { step, script };
            match found.iter_mut().find(|(other, _)| *other == finding) {
                Some((_, times)) => *times += 1,
                None => found.push((finding, 1)),
            }
        }
    }
}

/// The first mark that follows a letter.
fn mark_after_letter(text: impl Iterator<Item = char>) -> Option<char> {
    let mut is_after_letter = false;
    for char in text {
        if is_after_letter && is(char, MARK) {
            return Some(char);
        }
        is_after_letter = is(char, LETTER);
    }
    None
}

/// Whether a letter is Latin, by the blocks of Unicode.
fn is_latin(letter: char) -> bool {
    letter.is_ascii()
        || matches!(letter, '\u{80}'..='\u{2af}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}' | '\u{ab30}'..='\u{ab6f}' | '\u{ff21}'..='\u{ff5a}')
}

/// The first characters of the blocks of scripts with marks, with their names. A block ends where the next one starts.
const SCRIPTS: &[(char, &str)] = &[
    ('\u{0}', OTHER),
    ('\u{590}', "Hebrew"),
    ('\u{600}', "Arabic"),
    ('\u{700}', "Syriac"),
    ('\u{750}', "Arabic"),
    ('\u{780}', "Thaana"),
    ('\u{7c0}', OTHER),
    ('\u{860}', "Arabic"),
    ('\u{900}', "Devanagari"),
    ('\u{980}', "Bengali"),
    ('\u{a00}', "Gurmukhi"),
    ('\u{a80}', "Gujarati"),
    ('\u{b00}', "Odia"),
    ('\u{b80}', "Tamil"),
    ('\u{c00}', "Telugu"),
    ('\u{c80}', "Kannada"),
    ('\u{d00}', "Malayalam"),
    ('\u{d80}', "Sinhala"),
    ('\u{e00}', "Thai"),
    ('\u{e80}', "Lao"),
    ('\u{f00}', "Tibetan"),
    ('\u{1000}', "Burmese"),
    ('\u{10a0}', OTHER),
    ('\u{1780}', "Khmer"),
    ('\u{1800}', OTHER),
];

/// The name of all scripts without a row of their own.
const OTHER: &str = "other scripts";

fn script_of(mark: char) -> &'static str {
    let next = SCRIPTS.partition_point(|(first, _)| *first <= mark);
    SCRIPTS
        .get(next.saturating_sub(1))
        .map_or(OTHER, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps, a text, and what is found.
    type Row = (&'static str, &'static str, &'static [(Finding, u64)]);

    const fn marks(step: &'static str, script: &'static str) -> Finding {
        Finding::Marks { step, script }
    }

    #[test]
    fn what_is_known_without_tables_is_in_them() {
        for char in '\0'..=char::MAX {
            let text = char.to_string();
            assert!(!is_format(char) || may_have_format(&text), "{char:?}");
            let letters = u64::from(is(char, LETTER));
            assert_eq!(super::letters(&text)[0], letters, "{char:?}");
        }
    }

    const ROWS: &[Row] = &[
        (
            "whisper-basic",
            "สวัสดี hello",
            &[(marks("whisper-basic", "Thai"), 1)],
        ),
        (
            "whisper-basic-split",
            "தமிழ்",
            &[(marks("whisper-basic-split", "Tamil"), 1)],
        ),
        (
            "whisper-basic",
            "שָׁלוֹם",
            &[(marks("whisper-basic", "Hebrew"), 1)],
        ),
        (
            "whisper-basic",
            "e\u{301}t\u{e9} \u{2764}\u{fe0f} Größe が",
            &[],
        ),
        ("lower,strip", "हिन्दी", &[]),
        // What comes before the step counts.
        ("nfc,whisper-basic", "が", &[]),
        (
            "whisper-english",
            "привет мир",
            &[(
                Finding::OtherScript {
                    step: "whisper-english",
                },
                1,
            )],
        ),
        (
            "whisper-english",
            "안녕",
            &[(
                Finding::OtherScript {
                    step: "whisper-english",
                },
                1,
            )],
        ),
        (
            "whisper-english",
            "größe und mehr",
            &[(
                Finding::Diacritics {
                    step: "whisper-english",
                },
                1,
            )],
        ),
        ("whisper-english", "a b c d e f g h i j k café", &[]),
        (
            "open-asr-english",
            "don’t you’re",
            &[(
                Finding::Apostrophe {
                    step: "open-asr-english",
                },
                2,
            )],
        ),
        ("whisper-basic", "don’t", &[]),
        ("whisper-english", "um", &[(Finding::Emptied, 1)]),
        ("whisper-english", "[applause]", &[(Finding::Emptied, 1)]),
        ("whisper-english", "[applause] yes", &[]),
        ("whisper-english", " ", &[]),
        ("punctuation", "!?", &[(Finding::Emptied, 1)]),
        ("none", "!?", &[]),
        ("none", "a \u{200b} b", &[(Finding::FormatWords, 1)]),
        ("none", "a\u{200b} b", &[]),
        (
            "whisper-basic",
            "\u{1f469}\u{200d}\u{1f4bb} a",
            &[(Finding::FormatWords, 1)],
        ),
        ("whisper-basic", "\u{1f469}", &[(Finding::Emptied, 1)]),
    ];

    #[test]
    fn findings_by_hand() {
        for (steps, text, expected) in ROWS {
            let normalizer: Normalizer = steps.parse().unwrap();
            assert_eq!(normalizer.findings(text), *expected, "{steps} {text}");
        }
        let own: Normalizer = "remove-words(absolutely)".parse().unwrap();
        assert_eq!(own.findings("absolutely"), [(Finding::Emptied, 1)]);
    }

    #[test]
    fn scripts_are_in_the_order_of_their_blocks() {
        assert!(SCRIPTS.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(
            [script_of('\u{301}'), script_of('\u{94d}')],
            [OTHER, "Devanagari"]
        );
    }
}
