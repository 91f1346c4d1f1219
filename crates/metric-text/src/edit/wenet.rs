//! Units of WeNet's `compute-wer.py` and `compute-cer.py`.

use crate::characters::{BLANK, LETTER, NUMBER, OTHER_LETTER, is};

/// What separates units in a text. No unit has it.
const SEPARATOR: char = '\n';

/// Returns the units of a text, each followed by a line feed: a letter without case (Han, kana, Hangul, Thai, Arabic) one
/// by one, other characters with the ASCII characters after them; in upper case, without tags `<...>`.
pub(super) fn separate(text: &str, is_case_sensitive: bool) -> String {
    let mut separated = String::with_capacity(text.len() + text.len() / 4);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_skipped(c) {
            continue;
        }
        let start = separated.len();
        let continues = |c: char| c.is_ascii() && !matches!(c, ' ' | '\t' | '\r' | '\n');
        let mut is_tag = false;
        let mut last = c;
        let mut push = |c: char, last: &mut char| {
            *last = c;
            // Between `<` and the next `>`, or the end, everything is removed.
            is_tag |= c == '<';
            if !is_tag && is_case_sensitive {
                separated.push(c);
            } else if !is_tag {
                separated.extend(c.to_uppercase());
            }
            is_tag &= c != '>';
        };
        push(c, &mut last);
        if !is(c, OTHER_LETTER) {
            while !(c == '<' && last == '>')
                && let Some(next) = chars.next_if(|next| continues(*next))
            {
                push(next, &mut last);
            }
        }
        if separated.len() > start {
            separated.push(SEPARATOR);
        }
    }
    separated
}

fn is_skipped(c: char) -> bool {
    matches!(
        c,
        '!' | ','
            | '?'
            | '、'
            | '。'
            | '！'
            | '，'
            | '；'
            | '？'
            | '：'
            | '「'
            | '」'
            | '︰'
            | '『'
            | '』'
            | '《'
            | '》'
            | ' '
            | '\t'
            | '\r'
            | '\n'
    ) || is(c, BLANK)
}

/// The units of a text that [`separate`] returned.
pub(super) fn units(separated: &str) -> impl Iterator<Item = &str> {
    let units = separated.split(SEPARATOR);
    units.filter(|unit| !unit.is_empty())
}

/// Whether `compute-cer.py` cuts a unit into its code points: if it has only letters and numbers.
pub(super) fn is_cut(unit: &str) -> bool {
    unit.chars().all(|c| is(c, LETTER | NUMBER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_by_hand() {
        let rows: &[(&str, &[&str])] = &[
            ("", &[]),
            ("ABCČDÖF", &["ABC", "ČD", "ÖF"]),
            ("a,b, c", &["A,B,", "C"]),
            ("今天happy, 吗", &["今", "天", "HAPPY,", "吗"]),
            ("<unk>a x<y>z <", &["A", "XZ"]),
            ("<a b>c", &["B>C"]),
            ("Straße", &["STRA", "SSE"]),
        ];
        for (text, expected) in rows {
            let separated = separate(text, false);
            assert_eq!(units(&separated).collect::<Vec<_>>(), *expected, "{text:?}");
        }
        assert_eq!(separate("aß", true), "a\nß\n");
        assert!(is_cut("A2今") && !is_cut("IT'S") && !is_cut("3.5%"));
    }
}
