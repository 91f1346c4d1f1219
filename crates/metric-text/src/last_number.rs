//! The last number of a text.

use std::borrow::Cow;

/// Returns the last number of a text, as digits with at most one decimal point: without the commas between groups of three
/// digits, and without a currency sign; `None` if there is no digit. The number is not rounded, and `18.00` stays as it is.
///
/// A minus sign counts if no letter, digit or bracket stands right before it: `3-5` ends in 5.
///
/// ```
/// use metric_text::last_number;
///
/// assert_eq!(last_number("So 12 + 8 = 20 apples, for $1,250.50.").as_deref(), Some("1250.50"));
/// assert_eq!(last_number("The change is -$5.").as_deref(), Some("-5"));
/// assert_eq!(last_number("none"), None);
/// ```
#[must_use]
pub fn last_number(text: &str) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let (mut at, mut last) = (0, None);
    while at < bytes.len() {
        if !starts_number(bytes, at) {
            at += 1;
            continue;
        }
        let end = end_of_number(bytes, at);
        last = Some((at, end));
        at = end;
    }
    let (start, end) = last?;
    let number = text.get(start..end)?;
    let before = text.get(..start)?;
    let before = before.strip_suffix(['$', '€', '£']).unwrap_or(before);
    let unsigned = before.strip_suffix(['-', '\u{2212}']);
    let follows = |rest: &str| rest.ends_with(|c: char| c.is_alphanumeric() || ")]}.".contains(c));
    let is_negative = unsigned.is_some_and(|rest| !follows(rest));
    // A number that stays as it is.
    if is_negative && !number.contains(',') && text.get(..start)?.ends_with('-') {
        return text.get(start - 1..end).map(Cow::Borrowed);
    }
    Some(match (is_negative, number.contains(',')) {
        (false, false) => Cow::Borrowed(number),
        (false, true) => Cow::Owned(number.replace(',', "")),
        (true, _) => Cow::Owned(format!("-{}", number.replace(',', ""))),
    })
}

fn is_digit(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(u8::is_ascii_digit)
}

/// Whether a number starts here: with a digit, or with a point before one.
fn starts_number(bytes: &[u8], at: usize) -> bool {
    is_digit(bytes, at) || bytes[at] == b'.' && is_digit(bytes, at + 1)
}

fn end_of_digits(bytes: &[u8], mut at: usize) -> usize {
    while is_digit(bytes, at) {
        at += 1;
    }
    at
}

/// Where the number ends that starts at a position.
fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let mut end = end_of_digits(bytes, start);
    // Commas stand between groups of exactly three digits, after one to three.
    if (1..=3).contains(&(end - start)) {
        while bytes.get(end) == Some(&b',') && end_of_digits(bytes, end + 1) == end + 4 {
            end += 4;
        }
    }
    let has_decimals = bytes.get(end) == Some(&b'.') && is_digit(bytes, end + 1);
    if has_decimals {
        end_of_digits(bytes, end + 1)
    } else {
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_hand() {
        for (text, expected) in [
            ("42", Some("42")),
            ("The answer is 7.", Some("7")),
            ("1,000", Some("1000")),
            ("1,000,000.25 and more", Some("1000000.25")),
            ("1,00", Some("00")),
            ("1000,000", Some("000")),
            ("1,0000", Some("0000")),
            ("a, b: 1, 2, 3", Some("3")),
            ("x = -3", Some("-3")),
            ("\u{2212}3", Some("-3")),
            ("3-5", Some("5")),
            ("2024-05-06", Some("06")),
            ("-$1,234", Some("-1234")),
            ("$-2", Some("-2")),
            ("50%", Some("50")),
            (".5", Some(".5")),
            ("5.", Some("5")),
            ("v1.2.3", Some(".3")),
            ("Ünïcode ４２ 8 é", Some("8")),
            ("", None),
            ("none", None),
        ] {
            assert_eq!(last_number(text).as_deref(), expected, "{text:?}");
        }
    }
}
