//! What Unicode says about a character, as bits. The properties are looked up once for each block of 256 characters.

use std::sync::OnceLock;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfkc_quick};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::normalize::is_space;

/// General category L*.
pub(crate) const LETTER: u16 = 1;
/// General category N*.
pub(crate) const NUMBER: u16 = 1 << 1;
/// General category Nd.
pub(crate) const DECIMAL: u16 = 1 << 2;
/// General category M*.
pub(crate) const MARK: u16 = 1 << 3;
/// General category Mn.
pub(crate) const NONSPACING: u16 = 1 << 4;
/// General category P*.
pub(crate) const PUNCTUATION: u16 = 1 << 5;
/// General category S*.
pub(crate) const SYMBOL: u16 = 1 << 6;
/// General category Lo.
pub(crate) const OTHER_LETTER: u16 = 1 << 7;
/// General category Zs or Cn.
pub(crate) const BLANK: u16 = 1 << 8;
/// White space of Python.
pub(crate) const SPACE: u16 = 1 << 9;
/// Lowercasing does not change the character.
pub(crate) const LOWER: u16 = 1 << 10;
/// NFKC changes the character neither by itself nor after another one.
pub(crate) const COMPOSED: u16 = 1 << 11;
/// The combining class is not 0, so the order of several of them can change.
pub(crate) const ORDERED: u16 = 1 << 12;

/// The properties of a character.
#[inline]
pub(crate) fn properties(c: char) -> u16 {
    type Page = Box<[u16; 256]>;
    static PAGES: [OnceLock<Page>; 0x1100] = [const { OnceLock::new() }; 0x1100];
    let (page, index) = (c as usize >> 8, c as usize & 0xff);
    let properties = |index| char::from_u32((page << 8 | index) as u32).map_or(0, look_up);
    PAGES[page].get_or_init(|| Box::new(std::array::from_fn(properties)))[index]
}

/// Whether a character has one of these properties.
#[inline]
pub(crate) fn is(c: char, any: u16) -> bool {
    properties(c) & any != 0
}

/// Whether a character is part of a word to Python's `\w` and `\b`: a letter, a number or `_`, but not a combining mark.
#[inline]
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_'
    } else {
        is(c, LETTER | NUMBER)
    }
}

fn look_up(c: char) -> u16 {
    use GeneralCategory as Category;
    let category = match c.general_category() {
        Category::UppercaseLetter
        | Category::LowercaseLetter
        | Category::TitlecaseLetter
        | Category::ModifierLetter => LETTER,
        Category::OtherLetter => LETTER | OTHER_LETTER,
        Category::NonspacingMark => MARK | NONSPACING,
        Category::SpacingMark | Category::EnclosingMark => MARK,
        Category::DecimalNumber => NUMBER | DECIMAL,
        Category::LetterNumber | Category::OtherNumber => NUMBER,
        Category::ConnectorPunctuation
        | Category::DashPunctuation
        | Category::OpenPunctuation
        | Category::ClosePunctuation
        | Category::InitialPunctuation
        | Category::FinalPunctuation
        | Category::OtherPunctuation => PUNCTUATION,
        Category::MathSymbol
        | Category::CurrencySymbol
        | Category::ModifierSymbol
        | Category::OtherSymbol => SYMBOL,
        Category::SpaceSeparator | Category::Unassigned => BLANK,
        _ => 0,
    };
    let is_composed = is_nfkc_quick([c].into_iter()) == IsNormalized::Yes;
    let flags = [
        (is_space(c), SPACE),
        (c.to_lowercase().eq([c]), LOWER),
        (is_composed, COMPOSED),
        (canonical_combining_class(c) != 0, ORDERED),
    ];
    flags.iter().fold(category, |all, (is, flag)| {
        all | if *is { *flag } else { 0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_by_hand() {
        let rows = [
            ('a', LETTER | LOWER | COMPOSED),
            ('A', LETTER | COMPOSED),
            ('今', LETTER | OTHER_LETTER | LOWER | COMPOSED),
            ('٣', NUMBER | DECIMAL | LOWER | COMPOSED),
            ('½', NUMBER | LOWER),
            ('\u{301}', MARK | NONSPACING | LOWER | ORDERED),
            ('\u{93e}', MARK | LOWER | COMPOSED),
            ('_', PUNCTUATION | LOWER | COMPOSED),
            ('$', SYMBOL | LOWER | COMPOSED),
            (' ', BLANK | SPACE | LOWER | COMPOSED),
            ('\t', SPACE | LOWER | COMPOSED),
            ('\u{378}', BLANK | LOWER | COMPOSED),
            ('\u{10ffff}', BLANK | LOWER | COMPOSED),
        ];
        for (c, expected) in rows {
            assert_eq!(properties(c), expected, "{c:?}");
        }
        assert!(['a', '7', '_', '²', 'é', 'の'].into_iter().all(is_word));
        assert!(
            !['-', '\u{301}', '‿', '\u{200d}', ' ']
                .into_iter()
                .any(is_word)
        );
    }
}
