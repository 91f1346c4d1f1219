//! The normalizers of openai-whisper 20250625 and, on top of them, of the Open ASR leaderboard.
//!
//! A. Radford et al., *Robust Speech Recognition via Large-Scale Weak Supervision* (2022), appendix C.

mod english;
mod numbers;
mod rules;

use std::borrow::Cow;
use std::mem;

pub(super) use english::english;
pub(super) use rules::{OPEN_ASR, WHISPER};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_compatible;
use unicode_segmentation::UnicodeSegmentation;

use super::{Step, collapse, is_space, lower, then};
use crate::characters::{
    COMPOSED, LETTER, LOWER, MARK, NONSPACING, NUMBER, ORDERED, PUNCTUATION, SPACE, SYMBOL, is,
    is_word, properties,
};

/// The version of the rules of Whisper.
pub(super) const WHISPER_VERSION: &str = "20250625";
/// The version of the rules of the Open ASR leaderboard: a commit of its repository.
pub(super) const OPEN_ASR_VERSION: &str = "d1e99b2";

/// A text on its way through passes. Each pass writes a new text, into memory of an earlier one.
struct Passes<'t> {
    text: Cow<'t, str>,
    spare: String,
}

impl<'t> Passes<'t> {
    fn new(text: Cow<'t, str>) -> Self {
        Self {
            text,
            spare: String::new(),
        }
    }

    /// Runs a pass, which returns whether it has written a new text.
    fn run(&mut self, pass: impl FnOnce(&str, &mut String) -> bool) {
        self.spare.clear();
        if !pass(&self.text, &mut self.spare) {
            return;
        }
        match &mut self.text {
            Cow::Owned(text) => mem::swap(text, &mut self.spare),
            borrowed => *borrowed = Cow::Owned(mem::take(&mut self.spare)),
        }
    }

    /// The text at the end, borrowed if it is the one at the start.
    fn end(self, start: &'t str) -> Cow<'t, str> {
        match self.text {
            Cow::Owned(text) if text == start => Cow::Borrowed(start),
            text => text,
        }
    }
}

/// `whisper-basic`; with `strips_diacritics` or `splits_letters` its options of these names.
pub(super) fn basic(text: &str, strips_diacritics: bool, splits_letters: bool) -> Cow<'_, str> {
    let mut passes = Passes::new(lower_fast(text));
    passes.run(without_brackets);
    passes.run(without_parentheses);
    if strips_diacritics {
        passes.run(|from, to| strip(from, to, &[]));
    } else {
        passes.run(compose);
    }
    passes.run(lower_again);
    if splits_letters {
        passes.run(split_letters);
    }
    if splits_letters || strips_diacritics {
        passes.run(collapse_pass);
    }
    passes.end(text)
}

/// `open-asr-multilingual`.
pub(super) fn multilingual(text: &str) -> Cow<'_, str> {
    let mut passes = Passes::new(basic(text, false, false));
    passes.run(|from, to| {
        let drop = |c: char| !is_word(c) && !is_space(c);
        let has_some = from.contains(drop);
        if has_some {
            to.extend(from.chars().filter(|&c| !drop(c)));
        }
        has_some
    });
    let Passes { text: passed, .. } = passes;
    let normalized = then(&Step::Whitespace, passed);
    if normalized == text {
        return Cow::Borrowed(text);
    }
    normalized
}

/// [`lower`] for text in any script.
fn lower_fast(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() && text.chars().all(is_lower) {
        Cow::Borrowed(text)
    } else {
        lower(text)
    }
}

fn is_lower(c: char) -> bool {
    if c.is_ascii() {
        !c.is_ascii_uppercase()
    } else {
        is(c, LOWER)
    }
}

fn lower_again(from: &str, to: &mut String) -> bool {
    let changed = !from.chars().all(is_lower);
    if changed {
        to.push_str(&lower(from));
    }
    changed
}

fn collapse_pass(from: &str, to: &mut String) -> bool {
    match collapse(from) {
        Cow::Borrowed(_) => false,
        Cow::Owned(collapsed) => {
            *to = collapsed;
            true
        }
    }
}

/// Removes text from `<` or `[` to the next `>` or `]`.
fn without_brackets(from: &str, to: &mut String) -> bool {
    let mut rest = from;
    while let Some(start) = rest.find(['<', '[']) {
        let Some(length) = rest[start..].find(['>', ']']) else {
            break;
        };
        to.push_str(&rest[..start]);
        rest = &rest[start + length + 1..];
    }
    to.push_str(rest);
    rest.len() < from.len()
}

/// Removes text from `(` to the next `)`, unless nothing is between the two.
fn without_parentheses(from: &str, to: &mut String) -> bool {
    let mut rest = from;
    while let Some(start) = rest.find('(') {
        let Some(length) = rest[start..].find(')') else {
            break;
        };
        if length > 1 {
            to.push_str(&rest[..start]);
            rest = &rest[start + length + 1..];
        } else {
            to.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
        }
    }
    to.push_str(rest);
    rest.len() < from.len()
}

/// Composes a text (NFKC), and writes one space for each run of white space, marks, symbols and punctuation characters.
fn compose(from: &str, to: &mut String) -> bool {
    to.reserve(from.len());
    let mut after_space = false;
    let push = |c: char| {
        let is_blank = if c.is_ascii() {
            !c.is_ascii_alphanumeric() && (c.is_ascii_punctuation() || is_space(c))
        } else {
            is(c, MARK | SYMBOL | PUNCTUATION | SPACE)
        };
        if !is_blank {
            to.push(c);
        } else if !after_space {
            to.push(' ');
        }
        after_space = is_blank;
    };
    if is_composed(from) {
        from.chars().for_each(push);
    } else {
        from.nfkc().for_each(push);
    }
    true
}

/// Whether a text is certainly in NFKC: no character changes, and marks whose order could change are apart.
fn is_composed(text: &str) -> bool {
    let mut after_ordered = false;
    text.chars().all(|c| {
        let properties = if c.is_ascii() {
            COMPOSED
        } else {
            properties(c)
        };
        let is_ordered = properties & ORDERED != 0;
        let is_swapped = after_ordered && is_ordered;
        after_ordered = is_ordered;
        !is_swapped && properties & COMPOSED != 0
    })
}

/// Decomposes a text (NFKD) and removes diacritics; a space for each other mark, symbol and punctuation character, except
/// for those to keep.
fn strip(from: &str, to: &mut String, keep: &[char]) -> bool {
    let stays = |c: char| c.is_ascii() && !c.is_ascii_punctuation() || keep.contains(&c);
    let mut rest = from;
    while let Some(index) = rest.find(|c| !stays(c)) {
        to.push_str(&rest[..index]);
        let mut chars = rest[index..].chars();
        // Combining characters, which a decomposition of the whole text would put in order, all vanish or become spaces.
        if let Some(c) = chars.next() {
            decompose_compatible(c, |c| strip_character(c, to, keep));
        }
        rest = chars.as_str();
    }
    to.push_str(rest);
    rest.len() < from.len()
}

fn strip_character(c: char, to: &mut String, keep: &[char]) {
    if keep.contains(&c) {
        return to.push(c);
    }
    if let Some((_, letters)) = rules::LETTERS.iter().find(|(letter, _)| *letter == c) {
        return to.push_str(letters);
    }
    let properties = properties(c);
    if properties & NONSPACING != 0 {
    } else if properties & (MARK | SYMBOL | PUNCTUATION) != 0 {
        to.push(' ');
    } else {
        to.push(c);
    }
}

/// Writes a space between grapheme clusters.
fn split_letters(from: &str, to: &mut String) -> bool {
    to.reserve(2 * from.len());
    if from.chars().all(is_alone) {
        for c in from.chars() {
            to.extend([c, ' ']);
        }
    } else {
        for cluster in from.graphemes(true) {
            to.push_str(cluster);
            to.push(' ');
        }
    }
    to.pop();
    true
}

/// Whether a character is certainly a grapheme cluster of its own next to other such characters. It is a letter or a
/// number in NFKC, but neither a part of a Hangul syllable nor one of the letters that precede a syllable in scripts of India.
fn is_alone(c: char) -> bool {
    if c.is_ascii() {
        return c != '\r';
    }
    let may_join = matches!(
        c,
        '\u{d4e}' | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{d7b0}'..='\u{d7ff}' | '\u{10000}'..='\u{1ffff}'
    );
    let properties = properties(c);
    !may_join && properties & (LETTER | NUMBER) != 0 && properties & COMPOSED != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn clusters_of_single_characters() {
        let alone = |c: &char| is_alone(*c);
        for c in ('\0'..=char::MAX).filter(alone) {
            for other in ['a', '가', 'ก', c] {
                let text = String::from_iter([c, other, c]);
                assert_eq!(text.graphemes(true).count(), 3, "{:x}", u32::from(c));
            }
        }
    }

    #[test]
    fn brackets_by_hand() {
        let rows = [
            ("<a]b", "b"),
            ("x[1]y", "xy"),
            ("[a", "[a"),
            ("[a[b]c]", "c]"),
            ("(a (b) c)", " c)"),
            ("(())", ")"),
            ("()a)", "()a)"),
            ("(a)(b", "(b"),
        ];
        for (text, expected) in rows {
            let mut passes = Passes::new(text.into());
            passes.run(without_brackets);
            passes.run(without_parentheses);
            assert_eq!(passes.text, expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn fast_ways_are_the_slow_ones(text in "[aAéÉΣİ가ก\u{e49}\u{301}\u{323}\u{93e}ﬁ²\u{3099}か日!\u{a0} ]{0,12}|\\PC{0,20}") {
            prop_assert_eq!(lower_fast(&text), lower(&text));
            if is_composed(&text) {
                prop_assert!(text.nfkc().eq(text.chars()));
            }
            let mut fast = String::new();
            strip(&text, &mut fast, &['%']);
            let mut slow = String::new();
            text.nfkd().for_each(|c| strip_character(c, &mut slow, &['%']));
            prop_assert_eq!(fast, slow);
            let mut split = String::new();
            split_letters(&text, &mut split);
            let clusters = text.graphemes(true).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(split, clusters);
        }
    }
}
