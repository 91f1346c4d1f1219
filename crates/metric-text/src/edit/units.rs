//! Texts as lists of the units that are compared.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::Hash;

use metric_core::named_choice;
use unicode_segmentation::UnicodeSegmentation;

use super::{EditProfile, mixed, wenet};
use crate::characters::{LETTER, OTHER_LETTER, is};
use crate::normalize::{is_space, words};

/// The unit in which lengths and errors are counted: word, code point or grapheme cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// `word`: text between white space, by the rule of the [`EditProfile`].
    #[default]
    Word,
    /// `codepoint`: a Unicode code point, which is what peers call a character.
    CodePoint,
    /// `grapheme`: an extended grapheme cluster (Unicode Standard Annex 29, Unicode 17.0): what a
    /// reader calls a character, such as `e` with a combining accent, or a flag.
    Grapheme,
    /// `mixed`: words, and one by one the characters of scripts without spaces between words: Han, kana, Thai, Lao,
    /// Burmese, Khmer and Tibetan. Each punctuation character and symbol is a unit, too.
    ///
    /// These are the units of compute-wer 0.2.5, except that more Han characters and `々` are single, that marks belong to
    /// the character before them, and that case counts.
    Mixed,
}

impl Unit {
    /// All units.
    pub const ALL: &[Self] = &[Self::Word, Self::CodePoint, Self::Grapheme, Self::Mixed];

    /// Returns the name of the unit.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::CodePoint => "codepoint",
            Self::Grapheme => "grapheme",
            Self::Mixed => "mixed",
        }
    }

    /// Returns the text as a list of these units, by the white-space rule of the profile. Under [`EditProfile::Wenet`], the
    /// text must be one that [`EditRate::prepare`](super::EditRate::prepare) returned.
    ///
    /// ```
    /// use metric_text::edit::{EditProfile, Unit};
    ///
    /// // The accent is a code point of its own, and part of one grapheme cluster.
    /// assert_eq!(Unit::CodePoint.split("e\u{301}t ", EditProfile::Jiwer), ["e", "\u{301}", "t"]);
    /// assert_eq!(Unit::Grapheme.split("e\u{301}t ", EditProfile::Jiwer), ["e\u{301}", "t"]);
    /// // A single tab is no white space to jiwer.
    /// assert_eq!(Unit::Word.split("a\tb  c", EditProfile::Jiwer), ["a\tb", "c"]);
    /// assert_eq!(Unit::Word.split("a\tb  c", EditProfile::Torchmetrics), ["a", "b", "c"]);
    /// assert_eq!(Unit::Mixed.split("今天 it's 3.5", EditProfile::Jiwer), ["今", "天", "it's", "3", ".", "5"]);
    /// ```
    #[must_use]
    pub fn split(self, text: &str, profile: EditProfile) -> Vec<&str> {
        let mut units = Vec::new();
        self.split_into(text, profile, &mut units);
        units
    }

    /// Returns the number of words that have white space in them, which the conventions of a profile do not split at:
    /// a single tab, line feed or no-break space. There are none in other units.
    ///
    /// ```
    /// use metric_text::Unit;
    /// use metric_text::edit::EditProfile;
    ///
    /// assert_eq!(Unit::Word.glued_words("a\tb c\n\nd", EditProfile::Jiwer), 1);
    /// assert_eq!(Unit::Word.glued_words("a\tb c", EditProfile::Torchmetrics), 0);
    /// ```
    #[must_use]
    pub fn glued_words(self, text: &str, profile: EditProfile) -> usize {
        // White space other than the space starts with one of these bytes.
        let may_start = |byte: u8| matches!(byte, 0x09..=0x0d | 0x1c..=0x1f | 0xc2 | 0xe1..=0xe3);
        let may_have_some = text.bytes().fold(false, |any, byte| any | may_start(byte));
        let splits_at_all = matches!(profile, EditProfile::Torchmetrics | EditProfile::Wenet);
        if !may_have_some || self != Self::Word || splits_at_all {
            return 0;
        }
        let words = self.split(text, profile);
        words.iter().filter(|word| word.contains(is_space)).count()
    }

    /// Returns the number of units that start with a letter outside ASCII which is not of a script without case, such as Han or
    /// Hangul. The profile `wenet` starts a unit at each such letter, and so cuts words of Czech, German or Russian.
    ///
    /// ```
    /// use metric_text::Unit;
    /// use metric_text::edit::EditProfile;
    ///
    /// let prepared = metric_text::EditRate::default().with_profile(EditProfile::Wenet);
    /// // `BR` and `ÜCKE`.
    /// assert_eq!(Unit::Word.letter_starts(&prepared.prepare("brücke"), EditProfile::Wenet), 1);
    /// assert_eq!(Unit::Word.letter_starts(&prepared.prepare("今天"), EditProfile::Wenet), 0);
    /// ```
    #[must_use]
    pub fn letter_starts(self, text: &str, profile: EditProfile) -> usize {
        let starts = |unit: &&str| {
            let first = unit.chars().next().filter(|first| !first.is_ascii());
            first.is_some_and(|first| is(first, LETTER) && !is(first, OTHER_LETTER))
        };
        self.split(text, profile).into_iter().filter(starts).count()
    }

    /// Adds the units of the text to a list.
    fn split_into<'t>(self, text: &'t str, profile: EditProfile, units: &mut Vec<&'t str>) {
        match (self, profile) {
            (Self::Mixed, _) => mixed::split(text, units),
            (Self::Word, EditProfile::Wenet) => units.extend(wenet::units(text)),
            (_, EditProfile::Wenet) => {
                for unit in wenet::units(text) {
                    if wenet::is_cut(unit) {
                        self.characters(unit, units);
                    } else {
                        units.push(unit);
                    }
                }
            }
            (Self::Word, EditProfile::Torchmetrics) => units.extend(words(text)),
            (Self::Word, _) => spaced(text, units),
            (Self::CodePoint | Self::Grapheme, _) => {
                self.characters(trimmed(text, profile), units);
            }
        }
    }

    /// Adds the grapheme clusters or the code points of a text to a list.
    fn characters<'t>(self, text: &'t str, units: &mut Vec<&'t str>) {
        if self == Self::Grapheme {
            return units.extend(text.graphemes(true));
        }
        let mut ends = text.char_indices().map(|(start, _)| start).skip(1);
        let mut start = 0;
        units.reserve(text.len());
        while start < text.len() {
            let end = ends.next().unwrap_or(text.len());
            units.extend(text.get(start..end));
            start = end;
        }
    }

    /// Gives the units of two texts to `look`. Each thread uses its memory again: threads that allocate a list for
    /// each text often wait for each other.
    pub(super) fn with_both<T>(
        self,
        texts: [&str; 2],
        profile: EditProfile,
        look: impl FnOnce([&[&str]; 2]) -> T,
    ) -> T {
        thread_local! {
            static UNITS: Cell<[Vec<&'static str>; 2]> = const { Cell::new([Vec::new(), Vec::new()]) };
        }
        let mut lists = UNITS.take().map(emptied);
        for (text, units) in texts.into_iter().zip(&mut lists) {
            self.split_into(text, profile, units);
        }
        let found = look([&lists[0], &lists[1]]);
        UNITS.set(lists.map(|mut units| {
            units.clear();
            units.shrink_to(KEPT);
            emptied(units)
        }));
        found
    }
}

/// The most units whose memory is kept for the next text.
const KEPT: usize = 1 << 16;

/// The memory of a list for texts that live longer or shorter: collecting in place keeps it.
fn emptied<'t>(mut units: Vec<&str>) -> Vec<&'t str> {
    units.clear();
    units.into_iter().map(|_| "").collect()
}

named_choice!(Unit, "unit");

/// The text whose characters count.
pub(super) fn trimmed(text: &str, profile: EditProfile) -> &str {
    match profile {
        EditProfile::Jiwer | EditProfile::HuggingFace => text.trim_matches(is_space),
        EditProfile::Torchmetrics | EditProfile::Wenet => text,
    }
}

/// Whether each code point is certainly a grapheme cluster of its own, as in most texts in Latin, Greek,
/// Cyrillic, Japanese and Chinese letters: far faster than to look for the clusters.
pub(super) fn no_clusters(text: &str) -> bool {
    text.chars().all(|c| {
        matches!(
            c,
            ' '..='~' | '\u{c0}'..='\u{2ff}' | '\u{370}'..='\u{482}' | '\u{48a}'..='\u{590}'
                | '\u{2010}'..='\u{2027}' | '\u{3001}'..='\u{3029}' | '\u{3040}'..='\u{3096}'
                | '\u{309b}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'
        )
    })
}

/// jiwer's words: each run of two or more characters of white space becomes a space, the ends are
/// stripped, and the rest is split at spaces alone. A single other white space is part of its word.
fn spaced<'t>(text: &'t str, words: &mut Vec<&'t str>) {
    let text = text.trim_matches(is_space);
    let bytes = text.as_bytes();
    words.reserve(text.len() / 6 + 1);
    let mut start = 0;
    // The end of the last run of white space.
    let mut end = 0;
    for block in (0..bytes.len()).step_by(64) {
        let mut candidates = space_candidates(bytes, block);
        while candidates != 0 {
            let at = block + candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let byte = bytes[at];
            if at < end || !starts_space(byte) {
                continue;
            }
            // Nearly all white space is one space between two words.
            if byte == b' ' && bytes.get(at + 1).is_some_and(|&next| !starts_space(next)) {
                words.push(&text[start..at]);
                start = at + 1;
                continue;
            }
            let (length, run) = space_run(&text[at..]);
            end = at + length;
            if run > 1 || byte == b' ' {
                words.push(&text[start..at]);
                start = end;
            }
        }
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
}

/// A bit for each of up to 64 bytes of a text, starting at a position: set for those that white space begins with, and
/// for few others. All bits at once take fewer branches than the next one, again and again.
#[inline]
fn space_candidates(bytes: &[u8], from: usize) -> u64 {
    let block = &bytes[from..bytes.len().min(from + 64)];
    let (chunks, rest) = block.as_chunks();
    let bits = chunks.iter().map(|chunk| candidates_of_eight(*chunk));
    let found = bits.zip((0..).step_by(8));
    let found = found.fold(0, |found, (bits, shift)| found | bits << shift);
    if rest.is_empty() {
        return found;
    }
    // The last bytes of the text, together with those before them.
    let bits = match bytes.last_chunk() {
        Some(chunk) => candidates_of_eight(*chunk) >> (8 - rest.len()),
        None => (1 << rest.len()) - 1,
    };
    found | bits << (8 * chunks.len())
}

/// A bit for each of eight bytes: set if it is at most a space, or one of 0xc0 to 0xc3 and 0xe0 to 0xe3.
fn candidates_of_eight(bytes: [u8; 8]) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    let word = u64::from_le_bytes(bytes);
    // The highest bit of each byte.
    let is_more = ((word & (ONES * 0x7f)) + ONES * (0x7f - u64::from(b' '))) | word;
    // These bytes have the bits 110000xx and 111000xx.
    let is_start = word & (word << 1) & !((word << 3) | (word << 4) | (word << 5));
    let highest = (!is_more | is_start) & (ONES * 0x80);
    // Moves the eight bits to the last byte, in their order.
    (highest >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Whether white space can begin with this byte of UTF-8.
fn starts_space(byte: u8) -> bool {
    const STARTS: [bool; 256] = {
        let mut starts = [false; 256];
        let all = [
            9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 0xc2, 0xe1, 0xe2, 0xe3,
        ];
        let mut index = 0;
        while index < all.len() {
            starts[all[index]] = true;
            index += 1;
        }
        starts
    };
    STARTS[usize::from(byte)]
}

/// The length in bytes and in characters of the white space that the text begins with; without any,
/// the length of its first character.
fn space_run(text: &str) -> (usize, usize) {
    let mut bytes = 0;
    let mut run = 0;
    for c in text.chars() {
        if !is_space(c) {
            let first = if run == 0 { c.len_utf8() } else { 0 };
            return (bytes + first, run);
        }
        bytes += c.len_utf8();
        run += 1;
    }
    (bytes, run)
}

/// The lengths of the common start and, in what is left, of the common end.
pub(super) fn common_ends<T: Eq>(a: &[T], b: &[T]) -> (usize, usize) {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev());
    (start, end.take_while(|(a, b)| a == b).count())
}

/// The same of texts, in bytes, at whole code points.
pub(super) fn common_text(a: &str, b: &str) -> (usize, usize) {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let continues = |byte: &u8| byte & 0xc0 == 0x80;
    let mut start = common_bytes(
        a.iter(),
        b.iter(),
        a.as_chunks::<8>().0,
        b.as_chunks::<8>().0,
    );
    // A code point that differs in its last byte has its first bytes in common.
    while start > 0 && (a.get(start).is_some_and(continues) || b.get(start).is_some_and(continues))
    {
        start -= 1;
    }
    let (a, b) = (&a[start..], &b[start..]);
    let mut end = common_bytes(
        a.iter().rev(),
        b.iter().rev(),
        a.as_rchunks::<8>().1.iter().rev(),
        b.as_rchunks::<8>().1.iter().rev(),
    );
    while end > 0 && a.get(a.len() - end).is_some_and(continues) {
        end -= 1;
    }
    (start, end)
}

/// The number of bytes in common, which the chunks of eight find out faster.
fn common_bytes<'t>(
    a: impl Iterator<Item = &'t u8>,
    b: impl Iterator<Item = &'t u8>,
    a_chunks: impl IntoIterator<Item = &'t [u8; 8]>,
    b_chunks: impl IntoIterator<Item = &'t [u8; 8]>,
) -> usize {
    let chunks = a_chunks.into_iter().zip(b_chunks);
    let whole = 8 * chunks.take_while(|(a, b)| a == b).count();
    let rest = a.skip(whole).zip(b.skip(whole));
    whole + rest.take_while(|(a, b)| a == b).count()
}

/// Both lists as numbers: equal items have equal numbers. Items that `reference` does not have need
/// not be told apart, and all have the number that is greatest.
pub(super) fn numbered<T: Eq + Hash>(reference: &[T], prediction: &[T]) -> (Vec<u32>, Vec<u32>) {
    /// Lists of up to this length are searched faster than hashed.
    const SHORT: usize = 12;
    if reference.len() <= SHORT {
        let number = |item: &T| reference.iter().position(|other| other == item);
        let number = |item: &T| number(item).map_or(SHORT as u32, |index| index as u32);
        return (
            reference.iter().map(number).collect(),
            prediction.iter().map(number).collect(),
        );
    }
    let mut numbers: HashMap<&T, u32> = HashMap::with_capacity(reference.len());
    let mut next = 0;
    let mut new = |item| {
        *numbers.entry(item).or_insert_with(|| {
            next += 1;
            next - 1
        })
    };
    let reference = reference.iter().map(&mut new).collect();
    let number = |item| numbers.get(item).copied().unwrap_or(next);
    (reference, prediction.iter().map(number).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_by_hand() {
        let rows: &[(&str, &[&str], &[&str])] = &[
            ("", &[], &[]),
            (" \t ", &[], &[]),
            ("a", &["a"], &["a"]),
            (" a  b ", &["a", "b"], &["a", "b"]),
            ("a\tb", &["a\tb"], &["a", "b"]),
            ("a \tb", &["a", "b"], &["a", "b"]),
            ("a\u{1f}\u{a0}b", &["a", "b"], &["a", "b"]),
            ("а\u{a0}б", &["а\u{a0}б"], &["а", "б"]),
            (
                "日\u{3000}本 語",
                &["日\u{3000}本", "語"],
                &["日", "本", "語"],
            ),
            ("a\u{200b}b\u{e9}", &["a\u{200b}bé"], &["a\u{200b}bé"]),
        ];
        for (text, jiwer, torchmetrics) in rows {
            assert_eq!(
                Unit::Word.split(text, EditProfile::Jiwer),
                *jiwer,
                "{text:?}"
            );
            assert_eq!(Unit::Word.split(text, EditProfile::HuggingFace), *jiwer);
            assert_eq!(
                Unit::Word.split(text, EditProfile::Torchmetrics),
                *torchmetrics
            );
        }
    }

    #[test]
    fn characters_by_hand() {
        let split = |unit: Unit, text, profile| unit.split(text, profile).len();
        for (text, jiwer, raw, clusters) in [
            ("", 0, 0, 0),
            (" a b\n", 3, 5, 3),
            ("é", 1, 1, 1),
            ("e\u{301}", 2, 2, 1),
            ("👩\u{200d}👧🇩🇪", 5, 5, 2),
            ("a\r\nb", 4, 4, 3),
        ] {
            assert_eq!(
                split(Unit::CodePoint, text, EditProfile::Jiwer),
                jiwer,
                "{text:?}"
            );
            assert_eq!(
                split(Unit::CodePoint, text, EditProfile::HuggingFace),
                jiwer
            );
            assert_eq!(split(Unit::CodePoint, text, EditProfile::Torchmetrics), raw);
            assert_eq!(split(Unit::Grapheme, text, EditProfile::Jiwer), clusters);
        }
    }

    #[test]
    fn characters_that_make_no_clusters() {
        let single: Vec<String> = ('\0'..=char::MAX)
            .map(String::from)
            .filter(|c| no_clusters(c))
            .collect();
        // With itself and with its neighbor.
        for (c, next) in single.iter().zip(single.iter().skip(1)) {
            assert_eq!(
                [c, c, next, c]
                    .map(String::as_str)
                    .concat()
                    .graphemes(true)
                    .count(),
                4
            );
        }
        assert!(
            !["\r\n", "e\u{301}", "क्ष", "각", "👩\u{200d}👧", "🇩🇪"]
                .into_iter()
                .any(no_clusters)
        );
    }

    proptest! {
        /// Looking at 64 bytes at once finds all that a look at each finds.
        #[test]
        fn white_space_is_among_the_candidates(text in "[ab\t\u{1f} !éÀаΩ日\u{a0}\u{1680}\u{2003}\u{3000}]{0,90}") {
            let bytes = text.as_bytes();
            for (at, &byte) in bytes.iter().enumerate() {
                let is_candidate = space_candidates(bytes, at / 64 * 64) >> (at % 64) & 1 == 1;
                prop_assert!(is_candidate || !starts_space(byte), "{} of {:?}", at, text);
                let is_letter = bytes.len() >= 8 && (b'!'..0xc0).contains(&byte);
                prop_assert!(!is_candidate || !is_letter, "{} of {:?}", at, text);
            }
            if let Some(bits) = 64_u32.checked_sub((bytes.len() % 64) as u32).filter(|&bits| bits < 64) {
                let last = space_candidates(bytes, bytes.len() / 64 * 64);
                prop_assert!(last.leading_zeros() >= bits, "bits after the end of {:?}", text);
            }
        }

        #[test]
        fn white_space_of_jiwer(text in "[a\u{e9} \t\u{1c}\u{a0}\u{3000}]{0,12}|[abcdefgh\u{e9} \t\u{3000}]{0,150}") {
            // As its expressions say it.
            let mut collapsed = String::new();
            let mut run = String::new();
            for c in text.trim_matches(is_space).chars().chain(['x']) {
                if is_space(c) {
                    run.push(c);
                    continue;
                }
                collapsed += if run.chars().count() >= 2 { " " } else { &run };
                run.clear();
                collapsed.push(c);
            }
            collapsed.pop();
            let words: Vec<&str> = collapsed.split(' ').filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(Unit::Word.split(&text, EditProfile::Jiwer), words);
        }

        #[test]
        fn ends_of_texts_are_ends_of_their_characters(
            a in "[aäбв日]{0,20}", b in "[aäбв日]{0,20}", start in "[aäб]{0,20}", end in "[бв日]{0,20}",
        ) {
            let (a, b) = (format!("{start}{a}{end}"), format!("{start}{b}{end}"));
            let (start, end) = common_text(&a, &b);
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            let counted = common_ends(&chars(&a), &chars(&b));
            let tail = &a[a.len() - end..];
            prop_assert_eq!((a[..start].chars().count(), tail.chars().count()), counted);
        }

        #[test]
        fn numbers_tell_items_apart(
            a in proptest::collection::vec(0_u8..20, 0..30),
            b in proptest::collection::vec(0_u8..25, 0..30),
        ) {
            let (x, y) = numbered(&a, &b);
            for (i, item) in a.iter().enumerate() {
                for (j, other) in a.iter().enumerate() {
                    prop_assert_eq!(item == other, x[i] == x[j]);
                }
                for (j, other) in b.iter().enumerate() {
                    prop_assert_eq!(item == other, x[i] == y[j]);
                }
            }
        }

        #[test]
        fn clusters_are_the_same_in_parts(text in any::<String>(), cut in any::<proptest::sample::Index>()) {
            let whole = Unit::Grapheme.split(&text, EditProfile::Torchmetrics);
            let cut = cut.index(whole.len() + 1);
            let parts = [whole[..cut].concat(), whole[cut..].concat()];
            let split = parts.iter().flat_map(|part| Unit::Grapheme.split(part, EditProfile::Torchmetrics));
            prop_assert_eq!(split.collect::<Vec<_>>(), whole.clone());
            prop_assert_eq!(whole.concat(), text);
        }
    }
}
