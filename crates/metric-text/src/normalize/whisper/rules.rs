//! The tables of the English normalizers.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::numbers::{self, Number};

/// Letters that have no decomposition, and what is written for them.
pub(super) const LETTERS: &[(char, &str)] = &[
    ('œ', "oe"),
    ('Œ', "OE"),
    ('ø', "o"),
    ('Ø', "O"),
    ('æ', "ae"),
    ('Æ', "AE"),
    ('ß', "ss"),
    ('ẞ', "SS"),
    ('đ', "d"),
    ('Đ', "D"),
    ('ð', "d"),
    ('Ð', "D"),
    ('þ', "th"),
    ('Þ', "th"),
    ('ł', "l"),
    ('Ł', "L"),
];

/// Words that are removed.
const FILLERS: &str = "hmm mm mhm mmm uh um";

/// More words that the Open ASR leaderboard removes.
const MORE_FILLERS: &str = "ah aha ahh ahm eh ehehe em hm huh hum mhum uhm umm uhuh";

/// Words with an apostrophe, in two parts, and what is written for them.
pub(super) const CONTRACTIONS: &[(&str, &str, &str)] = &[
    ("won", "t", "will not"),
    ("can", "t", "can not"),
    ("let", "s", "let us"),
    ("ain", "t", "aint"),
    ("y", "all", "you all"),
    ("i", "ma", "i am going to"),
    ("ma", "am", "madam"),
];

/// Words and what is written for them.
const REPLACEMENTS: &[(&str, &str)] = &[
    ("wanna", "want to"),
    ("gotta", "got to"),
    ("gonna", "going to"),
    ("imma", "i am going to"),
    ("woulda", "would have"),
    ("coulda", "could have"),
    ("shoulda", "should have"),
    ("mr", "mister "),
    ("mrs", "missus "),
    ("st", "saint "),
    ("dr", "doctor "),
    ("prof", "professor "),
    ("capt", "captain "),
    ("gov", "governor "),
    ("ald", "alderman "),
    ("gen", "general "),
    ("sen", "senator "),
    ("rep", "representative "),
    ("pres", "president "),
    ("rev", "reverend "),
    ("hon", "honorable "),
    ("asst", "assistant "),
    ("assoc", "associate "),
    ("lt", "lieutenant "),
    ("col", "colonel "),
    ("jr", "junior "),
    ("sr", "senior "),
    ("esq", "esquire "),
];

/// Endings of two words after an apostrophe, and what is written for them.
pub(super) const LONG_ENDINGS: &[(&str, &str)] = &[
    ("d been", " had been"),
    ("s been", " has been"),
    ("d gone", " had gone"),
    ("s gone", " has gone"),
    ("d done", " had done"),
    ("s got", " has got"),
];

/// Endings of one word after an apostrophe, and what is written for them.
pub(super) const ENDINGS: &[(&str, &str)] = &[
    ("re", " are"),
    ("s", " is"),
    ("d", " would"),
    ("ll", " will"),
    ("t", " not"),
    ("ve", " have"),
    ("m", " am"),
];

/// The words after which the Open ASR leaderboard reads an ending `'s` as `is`.
const BEFORE_IS: &str = "it he she what that who here there how when where why this";

/// What an English normalizer does with a word.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::normalize) struct Word {
    pub(super) is_filler: bool,
    pub(super) replacement: Option<&'static str>,
    pub(super) is_before_is: bool,
    pub(super) starts_compound: bool,
    pub(super) number: Option<Number>,
    pub(super) spelling: Option<&'static str>,
}

impl Word {
    /// Whether a text in which no other word or sign is does not change.
    pub(super) fn stays(&self) -> bool {
        let is_known =
            self.replacement.is_some() || self.number.is_some() || self.spelling.is_some();
        !(self.is_filler || self.starts_compound || is_known)
    }
}

/// The rules of an English normalizer.
#[derive(Debug, Default)]
pub(in crate::normalize) struct Rules {
    words: HashMap<&'static str, Word>,
    /// Pairs of words that become one.
    compounds: HashMap<(&'static str, &'static str), &'static str>,
    /// Whether an ending `'s` is read as `is` only after certain words, and words of one letter are joined.
    pub(super) is_open_asr: bool,
}

/// The rules of Whisper.
pub(in crate::normalize) static WHISPER: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules::of_whisper(FILLERS);
    let spellings = pairs(include_str!("../../../tables/whisper_spelling.tsv"));
    rules.spell(spellings.collect());
    rules
});

/// The rules of the Open ASR leaderboard.
pub(in crate::normalize) static OPEN_ASR: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules::of_whisper(FILLERS);
    rules.is_open_asr = true;
    for filler in MORE_FILLERS.split(' ') {
        rules.word(filler).is_filler = true;
    }
    for word in BEFORE_IS.split(' ') {
        rules.word(word).is_before_is = true;
    }
    for (two, one) in pairs(include_str!("../../../tables/open_asr_compounds.tsv")) {
        if let Some((first, second)) = two.split_once(' ') {
            rules.word(first).starts_compound = true;
            rules.compounds.insert((first, second), one);
        }
    }
    let names: HashMap<_, _> = pairs(include_str!("../../../tables/open_asr_names.tsv")).collect();
    let mut spellings: HashMap<_, _> =
        pairs(include_str!("../../../tables/whisper_spelling.tsv")).collect();
    for (word, spelling) in pairs(include_str!("../../../tables/open_asr_spelling.tsv")) {
        if spelling.is_empty() {
            spellings.remove(word);
        } else {
            spellings.insert(word, spelling);
        }
    }
    // Names are replaced after spellings.
    for spelling in spellings.values_mut() {
        *spelling = names.get(spelling).copied().unwrap_or(spelling);
    }
    for (name, form) in names {
        spellings.entry(name).or_insert(form);
    }
    rules.spell(spellings);
    rules
});

/// The lines of a table of two columns.
fn pairs(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    table.lines().filter_map(|line| line.split_once('\t'))
}

impl Rules {
    /// The rules that both have in common.
    fn of_whisper(fillers: &'static str) -> Self {
        let mut rules = Self::default();
        for filler in fillers.split(' ') {
            rules.word(filler).is_filler = true;
        }
        for (word, replacement) in REPLACEMENTS {
            rules.word(word).replacement = Some(replacement);
        }
        for (word, number) in numbers::words() {
            rules.word(word).number = Some(number);
        }
        rules
    }

    fn spell(&mut self, spellings: HashMap<&'static str, &'static str>) {
        for (word, spelling) in spellings {
            self.word(word).spelling = Some(spelling);
        }
    }

    fn word(&mut self, word: &'static str) -> &mut Word {
        self.words.entry(word).or_default()
    }

    /// What is done with a word, if anything.
    pub(super) fn get(&self, word: &str) -> Option<&Word> {
        self.words.get(word)
    }

    /// The word that two words become.
    pub(super) fn compound(&self, first: &str, second: &str) -> Option<&'static str> {
        self.compounds.get(&(first, second)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_not_words_of_numbers() {
        for rules in [&WHISPER, &OPEN_ASR] {
            for (word, known) in &rules.words {
                assert!(known.spelling.is_none() || known.number.is_none(), "{word}");
                let spelling = known.spelling.and_then(|spelling| rules.get(spelling));
                assert!(spelling.is_none_or(|word| word.number.is_none()), "{word}");
            }
        }
        assert_eq!(
            pairs(include_str!("../../../tables/whisper_spelling.tsv")).count(),
            1739
        );
    }
}
