//! Units of text that mixes languages with and without spaces between words.

use crate::characters::{BLANK, LETTER, MARK, NUMBER, PUNCTUATION, SYMBOL, is};

/// Adds the units of a text: Han, kana, and letters of Thai, Lao, Burmese, Khmer and Tibetan one by one, other words whole.
pub(super) fn split<'t>(text: &'t str, units: &mut Vec<&'t str>) {
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let is_single = is_single(c);
        let starts_word = !is_single && is(c, LETTER | NUMBER);
        if is(c, BLANK) || !(is_single || starts_word || is(c, PUNCTUATION | SYMBOL)) {
            continue;
        }
        let mut end = start + c.len_utf8();
        // Marks belong to what is before them, except for a single character.
        let continues = |c: char| {
            let is_of_word = is(c, MARK) || starts_word && (c == '\'' || is(c, LETTER | NUMBER));
            !is_single && is_of_word && !self::is_single(c)
        };
        while let Some((index, c)) = chars.next_if(|(_, c)| continues(*c)) {
            end = index + c.len_utf8();
        }
        units.extend(text.get(start..end));
    }
}

/// Whether a character is a unit of its own.
fn is_single(c: char) -> bool {
    matches!(
        c,
        '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_by_hand() {
        let rows: &[(&str, &[&str])] = &[
            ("", &[]),
            (
                "e\u{301}tat 今天 it's",
                &["e\u{301}tat", "今", "天", "it's"],
            ),
            ("人々はA々", &["人", "々", "は", "A", "々"]),
            ("!\u{301}\u{301}a", &["!\u{301}\u{301}", "a"]),
            ("今\u{301}\u{301}a", &["今", "a"]),
            ("\u{301}a\t'b", &["a", "'", "b"]),
            ("ไป x2โน", &["ไ", "ป", "x2", "โ", "น"]),
            ("오늘 <unk>3.5", &["오늘", "<", "unk", ">", "3", ".", "5"]),
            ("a\u{200d}b\u{378}c", &["a", "b", "c"]),
        ];
        for (text, expected) in rows {
            let mut units = Vec::new();
            split(text, &mut units);
            assert_eq!(units, *expected, "{text:?}");
        }
    }
}
