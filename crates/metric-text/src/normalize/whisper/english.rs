//! The English normalizers, as passes over the text in the order of the reference implementation.

use std::borrow::Cow;
use std::ops::Range;

use super::rules::{CONTRACTIONS, ENDINGS, LONG_ENDINGS, Rules, Word};
use super::{
    Passes, collapse_pass, lower_fast, numbers, strip, without_brackets, without_parentheses,
};
use crate::characters::{DECIMAL, LETTER, NUMBER, is, is_word};
use crate::normalize::{Step, is_space, then, words};

/// Signs of numbers that stay, besides `%`.
const SIGNS: [char; 5] = ['.', '$', '¢', '€', '£'];

/// `whisper-english` or `open-asr-english`, by the rules.
pub(in crate::normalize) fn english<'t>(text: &'t str, rules: &Rules) -> Cow<'t, str> {
    let lowered = lower_fast(text);
    if is_plain(&lowered, rules) {
        return then(&Step::Whitespace, lowered);
    }
    let classes = classes(&lowered);
    let has = |class: u8| classes & class != 0;
    let mut passes = Passes::new(lowered);
    if has(BRACKET) {
        passes.run(without_brackets);
        passes.run(without_parentheses);
    }
    if has(APOSTROPHE) {
        // Without fillers before them, apostrophes move to other words.
        passes.run(|from, to| without_fillers(from, to, rules));
        passes.run(move_apostrophes);
    }
    passes.run(|from, to| replace_words(from, to, rules));
    if has(APOSTROPHE) {
        passes.run(|from, to| replace_endings(from, to, rules));
    }
    if has(COMMA) {
        passes.run(without_commas);
    }
    if has(PERIOD) {
        passes.run(|from, to| without_signs(from, to, &['.'], false));
    }
    if has(!DIGIT) {
        passes.run(|from, to| strip(from, to, &['.', '%', '$', '¢', '€', '£']));
    }
    if rules.is_open_asr {
        passes.run(|from, to| join_compounds(from, to, rules));
    }
    numbers::run(&mut passes, rules);
    if rules.is_open_asr {
        passes.run(join_letters);
    }
    // Until here, words are separated by single spaces.
    if self::classes(&passes.text) & !DIGIT != 0 {
        passes.run(|from, to| without_signs(from, to, &SIGNS, true));
        passes.run(without_percent_signs);
        passes.run(collapse_pass);
    }
    passes.end(text)
}

const BRACKET: u8 = 1;
const APOSTROPHE: u8 = 1 << 1;
const COMMA: u8 = 1 << 2;
const PERIOD: u8 = 1 << 3;
pub(super) const DIGIT: u8 = 1 << 4;
const OTHER: u8 = 1 << 5;

/// The classes of the characters of a text, except for the letters a to z and ASCII white space. They say which passes it
/// needs.
pub(super) fn classes(text: &str) -> u8 {
    const CLASSES: [u8; 256] = {
        let mut classes = [OTHER; 256];
        let mut byte = 0;
        while byte < 256 {
            classes[byte] = match byte as u8 {
                b'a'..=b'z' | b' ' | b'\t'..=b'\r' => 0,
                b'<' | b'[' | b'(' => BRACKET,
                b'\'' => APOSTROPHE,
                b',' => COMMA,
                b'.' => PERIOD,
                b'0'..=b'9' => DIGIT,
                _ => OTHER,
            };
            byte += 1;
        }
        classes
    };
    let classes = text.bytes().map(|byte| CLASSES[usize::from(byte)]);
    classes.fold(0, |all, class| all | class)
}

/// Whether a text has only words of the letters a to z with which nothing is done. Of such a text only spaces change.
fn is_plain(text: &str, rules: &Rules) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b' ';
    if !text.bytes().fold(true, |all, byte| all & is_letter(byte)) {
        return false;
    }
    let mut after_letter = false;
    text.split(' ').all(|word| {
        let is_joined = rules.is_open_asr && after_letter && word.len() == 1;
        after_letter = word.len() == 1 || after_letter && word.is_empty();
        !is_joined && rules.get(word).is_none_or(Word::stays)
    })
}

/// The next run of word characters.
fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let start = from + position(text.get(from..)?, true)?;
    let length = position(&text[start..], false);
    Some(start..length.map_or(text.len(), |length| start + length))
}

/// Where the first character is that is a word character, or that is none.
fn position(text: &str, word: bool) -> Option<usize> {
    let is_other = |byte: u8| byte.is_ascii() && is_word(char::from(byte)) != word;
    let ascii = text.bytes().take_while(|byte| is_other(*byte)).count();
    let mut chars = text[ascii..].char_indices();
    let found = chars.find(|(_, c)| is_word(*c) == word);
    found.map(|(index, _)| ascii + index)
}

/// Whether a text starts with a word, and a boundary follows.
fn starts_with_word(text: &str, word: &str) -> bool {
    let after = text.strip_prefix(word);
    after.is_some_and(|after| !after.starts_with(is_word))
}

/// Writes a text whose words are replaced. Each range of a word is given with the text, and returns the text for it and
/// where that text ends in the original.
fn replace<'r>(
    from: &str,
    to: &mut String,
    mut by: impl FnMut(Range<usize>) -> Option<(&'r str, usize)>,
) -> bool {
    let (mut copied, mut at) = (0, 0);
    while let Some(word) = next_word(from, at) {
        at = word.end;
        let start = word.start;
        if let Some((text, end)) = by(word) {
            to.push_str(&from[copied..start]);
            to.push_str(text);
            (copied, at) = (end, end);
        }
    }
    if copied == 0 {
        return false;
    }
    to.push_str(&from[copied..]);
    true
}

fn without_fillers(from: &str, to: &mut String, rules: &Rules) -> bool {
    replace(from, to, |word| {
        let is_filler = rules.get(&from[word.clone()])?.is_filler;
        is_filler.then_some(("", word.end))
    })
}

/// Removes spaces before apostrophes.
fn move_apostrophes(from: &str, to: &mut String) -> bool {
    let mut copied = 0;
    for (index, _) in from.match_indices('\'') {
        let before = &from[copied..index];
        let kept = before.trim_end_matches(is_space);
        if kept.len() < before.len() {
            to.push_str(kept);
            copied = index;
        }
    }
    to.push_str(&from[copied..]);
    copied > 0
}

/// Writes out contractions, titles and the like, and removes fillers.
fn replace_words(from: &str, to: &mut String, rules: &Rules) -> bool {
    replace(from, to, |word| {
        if let Some(after) = from[word.end..].strip_prefix('\'') {
            let is_here = |(first, second, _): &&(&str, &str, &str)| {
                &from[word.clone()] == *first && starts_with_word(after, second)
            };
            if let Some((_, second, text)) = CONTRACTIONS.iter().find(is_here) {
                return Some((*text, word.end + 1 + second.len()));
            }
        }
        let known = rules.get(&from[word.clone()])?;
        let text = if known.is_filler {
            Some("")
        } else {
            known.replacement
        };
        text.map(|text| (text, word.end))
    })
}

/// Writes out the endings after apostrophes.
///
/// The reference implementation replaces one ending after another in the whole text. An ending touches one apostrophe,
/// so all can be replaced from left to right, except that `n't` takes a letter of what is before it: it makes an end of a
/// word for endings that are replaced later (`'dn't`), and it shortens one that was replaced earlier (`'d been't`).
fn replace_endings(from: &str, to: &mut String, rules: &Rules) -> bool {
    let mut copied = 0;
    for (index, _) in from.match_indices('\'') {
        to.push_str(&from[copied..index]);
        copied = index;
        let after = &from[index + 1..];
        let is_long = |(ending, _): &&(&str, &str)| starts_with_word(after, ending);
        let long = LONG_ENDINGS.iter().find(is_long);
        let (length, text) = if let Some((ending, text)) = long {
            (ending.len(), *text)
        } else if to.ends_with('n') && starts_with_word(after, "t") {
            to.pop();
            (1, " not")
        } else {
            let is_here = |(ending, _): &&(&str, &str)| {
                let Some(after) = after.strip_prefix(ending) else {
                    return false;
                };
                let not = after.strip_prefix("n'");
                !after.starts_with(is_word) || not.is_some_and(|not| starts_with_word(not, "t"))
            };
            let Some((ending, text)) = ENDINGS.iter().find(is_here) else {
                continue;
            };
            if rules.is_open_asr && *ending == "s" && !ends_with_word_before_is(to, rules) {
                continue;
            }
            (ending.len(), *text)
        };
        to.push_str(text);
        copied = index + 1 + length;
    }
    to.push_str(&from[copied..]);
    copied > 0
}

fn ends_with_word_before_is(text: &str, rules: &Rules) -> bool {
    let start = text.trim_end_matches(is_word).len();
    let word = rules.get(&text[start..]);
    word.is_some_and(|word| word.is_before_is)
}

/// Removes commas between two digits. A digit that was before a comma is not after another one.
fn without_commas(from: &str, to: &mut String) -> bool {
    let is_digit = |c: &char| is(*c, DECIMAL);
    let mut copied = 0;
    for (index, _) in from.match_indices(',') {
        let before = from.get(copied..index).unwrap_or_default();
        let after = from[index + 1..].chars().next().filter(is_digit);
        if let Some(digit) = after
            && before.ends_with(|c| is_digit(&c))
        {
            to.push_str(before);
            to.push(digit);
            copied = index + 1 + digit.len_utf8();
        }
    }
    to.push_str(&from[copied..]);
    copied > 0
}

/// Writes a space for each sign that no ASCII digit follows, and the character after it unchanged, even if it is another
/// sign. A sign at the end stays or becomes a space, too.
fn without_signs(from: &str, to: &mut String, signs: &[char], stays_at_end: bool) -> bool {
    let mut rest = from;
    let mut changed = false;
    while let Some(index) = rest.find(signs) {
        to.push_str(&rest[..index]);
        let mut after = rest[index..].chars();
        let sign = after.next().unwrap_or_default();
        let unread = after.as_str();
        let next = after.next();
        let is_removed = next.map_or(!stays_at_end, |next| !next.is_ascii_digit());
        if is_removed {
            to.push(' ');
            to.extend(next);
            rest = after.as_str();
            changed = true;
        } else {
            to.push(sign);
            rest = unread;
        }
    }
    to.push_str(rest);
    changed
}

/// Writes a space for each percent sign after a character that is not an ASCII digit, unless it was after another such sign.
fn without_percent_signs(from: &str, to: &mut String) -> bool {
    let mut copied = 0;
    for (index, _) in from.match_indices('%') {
        let before = &from[copied..index];
        if before.ends_with(|c: char| !c.is_ascii_digit()) {
            to.push_str(before);
            to.push(' ');
            copied = index + 1;
        }
    }
    to.push_str(&from[copied..]);
    copied > 0
}

/// Joins the two words of each compound.
fn join_compounds(from: &str, to: &mut String, rules: &Rules) -> bool {
    replace(from, to, |first| {
        let word = rules.get(&from[first.clone()])?;
        if !word.starts_compound {
            return None;
        }
        let second = next_word(from, first.end)?;
        let between = &from[first.end..second.start];
        let compound = rules.compound(&from[first], &from[second.clone()])?;
        between
            .chars()
            .all(is_space)
            .then_some((compound, second.end))
    })
}

/// Joins runs of words of one letter or number: two or more, or three or more with `a` or `i` among them.
fn join_letters(from: &str, to: &mut String) -> bool {
    let is_single = |word: &&str| {
        let mut chars = word.chars();
        chars.next().is_some_and(|c| is(c, LETTER | NUMBER)) && chars.next().is_none()
    };
    let mut words = words(from).peekable();
    let mut run = Vec::new();
    while let Some(word) = words.next() {
        run.push(word);
        if is_single(&word) {
            run.extend(std::iter::from_fn(|| words.next_if(is_single)));
        }
        if !to.is_empty() {
            to.push(' ');
        }
        let has_article = run.contains(&"a") || run.contains(&"i");
        let is_joined = run.len() >= if has_article { 3 } else { 2 };
        to.push_str(&run.join(if is_joined { "" } else { " " }));
        run.clear();
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::normalize::whisper::{OPEN_ASR, WHISPER};

    #[test]
    fn texts_by_hand() {
        let rows = [
            ("", ""),
            ("  plain  words ", "plain words"),
            ("Um, the dog's bone", "the dog is bone"),
            ("don\u{2019}t", "don t"),
            ("won't can't y'all ma'am", "will not can not you all madam"),
            ("he'dn't've been't", "he would not have bee not"),
            ("she'd been't", "she had bee not"),
            ("uh um 's", "is"),
            ("1,2,3 1,000,000", "12 3 1000000"),
            ("wait...", "wait ."),
            ("Mr. O'Neil, 21 st", "mister 0 neil 21 saint"),
            ("$1", " one"),
            ("5 %", "5 "),
            ("™ Ærø ½", "TM aero one 2"),
            ("the colour of honour", "the color of honor"),
            ("archaeology", "archeology</span>"),
        ];
        for (text, expected) in rows {
            assert_eq!(english(text, &WHISPER), expected, "{text:?}");
        }
        let rows = [
            ("the dog's bone", "the dog s bone"),
            ("it's wi fi", "it is wifi"),
            ("b b c and 5-6", "bbc and 56"),
            ("a b and i a m", "a b and i am"),
            ("alan uhm ok", "allen okay"),
            ("A B C", "abc"),
        ];
        for (text, expected) in rows {
            assert_eq!(english(text, &OPEN_ASR), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_by_hand() {
        let rows = [
            ("one", "one"),
            ("twenty one", "21"),
            ("one hundred and one", "101"),
            ("two thousand three hundred", "2300"),
            ("two thousand million", "2000"),
            ("twenty oh five", "2005"),
            ("two and a half million", "2500000"),
            ("three point two five", "3.25"),
            ("0 point five", ".5"),
            ("zero point five", "0.5"),
            ("minus five dollars", "$5"),
            ("two dollars and seven cents", "$2.07"),
            ("fifty percent five per cent", "50% 5%"),
            ("double oh seven", "007"),
            ("ninth twenty ninth", "ninth 20 ninth"),
            ("one second a second", "12nd a 2nd"),
            ("999 thousand one", "999001"),
            ("123 hundred hundred", "42000"),
            ("$0.05", "¢5"),
            ("٣٤ thousand", "34000"),
            ("rc232", "rc 232"),
            ("10 th 1960s", "10th 1960s"),
            // What is below a thousand is multiplied, and added to the rest.
            (
                "99999999999999999999999999999999999999999999 hundred",
                "100000000000000000000000000000000000000098900",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(english(text, &WHISPER), expected, "{text:?}");
        }
    }

    #[test]
    fn long_numbers_take_linear_time() {
        let text = "5".repeat(300_000) + &" one hundred one one point five hundred".repeat(10_000);
        assert!(english(&text, &WHISPER).len() > 300_000);
    }

    /// One ending after another in the whole text.
    fn endings_one_by_one(text: &str) -> String {
        let long = LONG_ENDINGS
            .iter()
            .map(|(ending, text)| (format!("'{ending}"), *text));
        let short = ENDINGS
            .iter()
            .map(|(ending, text)| (format!("'{ending}"), *text));
        let all = long.chain([("n't".to_owned(), " not")]).chain(short);
        all.fold(text.to_owned(), |text, (ending, by)| {
            let mut replaced = String::new();
            let mut rest = text.as_str();
            while let Some(index) = rest.find(&ending) {
                let (before, from) = rest.split_at(index);
                let is_end = starts_with_word(from, &ending);
                replaced += before;
                replaced += if is_end { by } else { &ending[..1] };
                rest = &from[if is_end { ending.len() } else { 1 }..];
            }
            replaced + rest
        })
    }

    proptest! {
        #[test]
        fn endings_are_replaced_at_once(text in "('|n|t|d|s|m| |re|ll|ve| been| gone| done| got|n't|'s|é){0,14}") {
            let mut replaced = String::new();
            replace_endings(&text, &mut replaced, &WHISPER);
            prop_assert_eq!(replaced, endings_one_by_one(&text));
        }

        #[test]
        fn any_text_is_normalized(
            text in "\\PC{0,30}|((and|a|half|one|twenty|oh|double|point|hundred|minus|cents|per|cent|1|0|7s|'s|n't|um|st|e|mail|[.,$%'()]) ?){0,9}",
        ) {
            for rules in [&WHISPER, &OPEN_ASR] {
                let normalized = english(&text, rules);
                prop_assert!(!normalized.contains("  "));
            }
        }

        #[test]
        fn plain_words_stay(text in "( ?[a-z]{1,4}){0,6}") {
            for rules in [&WHISPER, &OPEN_ASR] {
                if is_plain(&text, rules) {
                    let mut passes = Passes::new(Cow::Borrowed(text.as_str()));
                    passes.run(|from, to| replace_words(from, to, rules));
                    numbers::run(&mut passes, rules);
                    if rules.is_open_asr {
                        passes.run(join_letters);
                    }
                    prop_assert_eq!(passes.text, english(&text, rules));
                }
            }
        }
    }
}
