//! Scanners for the shapes of JSON that nearly all data have.
//!
//! Each has one contract: it gives exactly what `serde_json` gives, or nothing. Nothing says that the text has
//! another shape, a rare form such as an escape, or is no JSON at all; the caller then asks `serde_json`, which
//! also words the error. Nothing is ever wrong, only slower.

use super::Raw;

/// Steps through a text of JSON.
///
/// A scanner that returned `None` stands somewhere within the value that it did not take.
///
/// ```
/// use metric_record::json::scan::Scanner;
///
/// let mut scanner = Scanner::new(r#"[1, 2.5] "cat" {"a": null}"#);
/// let mut numbers = Vec::new();
/// assert_eq!(scanner.list(|item| Some(numbers.push(item.number()?))), Some(()));
/// assert_eq!(numbers, [1.0, 2.5]);
/// assert_eq!(scanner.string(), Some("cat"));
/// assert_eq!(scanner.skip_value(), Some(()));
/// assert!(scanner.is_at_end());
/// ```
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

/// How deeply lists and objects may be nested; what is deeper is left to `serde_json`.
const MOST_DEPTH: u32 = 64;

impl<'a> Scanner<'a> {
    /// A scanner at the start of a text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns how many bytes have been taken.
    #[must_use]
    pub const fn at(&self) -> usize {
        self.at
    }

    /// Whether nothing but white space is left.
    #[must_use]
    #[inline]
    pub fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    /// Returns the next byte that is no white space, without taking it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.byte()
    }

    /// Takes a byte, after white space, if it is the next one.
    #[inline]
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Takes a byte, after white space.
    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Takes a string without escapes, and returns what is between its quotes.
    #[inline]
    pub fn string(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let start = self.at;
        let rest = self.text.as_bytes().get(start..)?;
        let length = rest
            .iter()
            .position(|&byte| matches!(byte, b'"' | b'\\' | ..0x20))?;
        if rest.get(length) != Some(&b'"') {
            return None;
        }
        self.at = start + length + 1;
        self.text.get(start..start + length)
    }

    /// Takes an integer of at most 18 digits.
    #[inline]
    pub fn integer(&mut self) -> Option<i64> {
        let is_negative = self.take(b'-');
        let start = self.at;
        let mut number = 0_i64;
        while let Some(digit) = self.digit() {
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
        }
        let digits = self.at - start;
        let is_plain = matches!(digits, 1..=18)
            // JSON has no leading zeros, and -0 is no integer.
            && (number != 0 || (digits == 1 && !is_negative))
            && (digits == 1 || self.text.as_bytes().get(start) != Some(&b'0'))
            && !matches!(self.byte(), Some(b'.' | b'e' | b'E'));
        is_plain.then(|| if is_negative { -number } else { number })
    }

    /// Takes a list of digits, such as `[0, 9]`; each goes to `item`, which may refuse it.
    #[inline]
    pub fn digits(&mut self, mut item: impl FnMut(u8) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        loop {
            self.skip_space();
            item(self.digit()?)?;
            // One comma, and at most one space, in nearly all files.
            match self.byte()? {
                b',' => self.at += 1,
                b']' => break,
                _ if self.take(b',') => {}
                _ => break,
            }
        }
        self.expect(b']')
    }

    /// Takes a number. It has the bits that `serde_json` gives it with its feature `float_roundtrip`.
    #[inline]
    pub fn number(&mut self) -> Option<f64> {
        self.skip_space();
        let start = self.at;
        let number = self.scan_number()?;
        // Up to 2^53 an integer is exact as a number, and so are powers of ten up to 10^22: one operation
        // rounds once (Clinger 1990, "How to read floating point numbers accurately").
        if number.digits <= 15 && number.exponent.unsigned_abs() <= 22 {
            let power = POWERS.get(number.exponent.unsigned_abs() as usize)?;
            let integer = number.integer as f64;
            let magnitude = if number.exponent < 0 {
                integer / power
            } else {
                integer * power
            };
            return Some(if number.is_negative {
                -magnitude
            } else {
                magnitude
            });
        }
        let parsed: f64 = self.text.get(start..self.at)?.parse().ok()?;
        // Beyond the range, serde_json has an error.
        parsed.is_finite().then_some(parsed)
    }

    /// Takes a list: each item is taken by `item`.
    #[inline]
    pub fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Some(());
        }
        loop {
            item(self)?;
            if self.take(b',') {
                continue;
            }
            return self.expect(b']');
        }
    }

    /// Takes an object: each value is taken by `value`, which gets its key. Keys have no escapes.
    #[inline]
    pub fn object(
        &mut self,
        mut value: impl FnMut(&mut Self, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            value(self, key)?;
            if self.take(b',') {
                continue;
            }
            return self.expect(b'}');
        }
    }

    /// Takes any value.
    ///
    /// # Cost
    ///
    /// One pass without memory of its own.
    pub fn skip_value(&mut self) -> Option<()> {
        // The innermost list or object is the lowest bit: 1 for an object.
        let (mut nesting, mut depth) = (0_u64, 0);
        loop {
            match self.peek()? {
                b'"' => self.skip_string()?,
                b'-' | b'0'..=b'9' => {
                    self.scan_number()?;
                }
                open @ (b'[' | b'{') => {
                    self.at += 1;
                    let is_object = open == b'{';
                    if !self.take(if is_object { b'}' } else { b']' }) {
                        if depth == MOST_DEPTH {
                            return None;
                        }
                        depth += 1;
                        nesting = (nesting << 1) | u64::from(is_object);
                        if is_object {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => return None,
            }
            // After a value: what encloses it goes on, or ends.
            loop {
                if depth == 0 {
                    return Some(());
                }
                let is_object = nesting & 1 == 1;
                match self.peek()? {
                    b',' => {
                        self.at += 1;
                        if is_object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    b'}' if is_object => {}
                    b']' if !is_object => {}
                    _ => return None,
                }
                self.at += 1;
                nesting >>= 1;
                depth -= 1;
            }
        }
    }

    /// Takes any value, and returns its text.
    #[inline]
    pub fn raw(&mut self) -> Option<Raw<'a>> {
        self.skip_space();
        let start = self.at;
        self.skip_value()?;
        self.text.get(start..self.at).map(Raw)
    }

    fn skip_key(&mut self) -> Option<()> {
        self.skip_space();
        self.skip_string()?;
        self.expect(b':')
    }

    /// Takes a string, also one with escapes.
    fn skip_string(&mut self) -> Option<()> {
        if self.byte() != Some(b'"') {
            return None;
        }
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            self.at += rest
                .iter()
                .position(|&byte| matches!(byte, b'"' | b'\\' | ..0x20))?;
            let special = self.byte()?;
            self.at += 1;
            match special {
                b'"' => return Some(()),
                b'\\' => {}
                _ => return None,
            }
            let escaped = self.byte()?;
            self.at += 1;
            match escaped {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                b'u' => {
                    let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return None;
                    }
                    self.at += 4;
                }
                _ => return None,
            }
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let is_here = self
            .text
            .as_bytes()
            .get(self.at..)?
            .starts_with(word.as_bytes());
        self.at += word.len();
        is_here.then_some(())
    }

    #[inline]
    fn scan_number(&mut self) -> Option<ScannedNumber> {
        let is_negative = self.byte() == Some(b'-');
        self.at += usize::from(is_negative);
        let first = self.byte()?;
        let (mut integer, mut digits) = (0_u64, 0);
        // Digits beyond the 19th may wrap: more than 15 are not used.
        let mut add = |digit: u8| {
            integer = integer.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += u32::from(digits > 0 || digit > 0);
        };
        let start = self.at;
        while let Some(digit) = self.digit() {
            add(digit);
        }
        let whole = self.at - start;
        if whole == 0 || (whole > 1 && first == b'0') {
            return None;
        }
        let mut exponent = 0_i32;
        if self.byte() == Some(b'.') {
            self.at += 1;
            let start = self.at;
            while let Some(digit) = self.digit() {
                add(digit);
            }
            let decimals = self.at - start;
            if decimals == 0 {
                return None;
            }
            exponent = i32::try_from(decimals).ok()?.checked_neg()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            let sign = self.byte()?;
            self.at += usize::from(matches!(sign, b'+' | b'-'));
            let start = self.at;
            let mut written = 0_i32;
            while let Some(digit) = self.digit() {
                written = written.saturating_mul(10).saturating_add(digit.into());
            }
            if self.at == start {
                return None;
            }
            if sign == b'-' {
                written = -written;
            }
            exponent = exponent.saturating_add(written);
        }
        Some(ScannedNumber {
            is_negative,
            integer,
            digits,
            exponent,
        })
    }

    #[inline]
    fn digit(&mut self) -> Option<u8> {
        let digit = self.byte()?.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        self.at += 1;
        Some(digit)
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
    }
}

/// The number `integer` x 10^`exponent`.
struct ScannedNumber {
    is_negative: bool,
    integer: u64,
    /// How many digits the integer has.
    digits: u32,
    exponent: i32,
}

/// The powers of ten that are exact as numbers of 64 bits.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Returns where the value ends that a text starts with, in bytes.
///
/// ```
/// use metric_record::json::scan::value_end;
///
/// assert_eq!(value_end(r#" [1, {"a": "b"}], 7"#), Some(16));
/// assert_eq!(value_end("[1, 2"), None);
/// ```
#[must_use]
pub fn value_end(text: &str) -> Option<usize> {
    let mut scanner = Scanner::new(text);
    scanner.skip_value()?;
    Some(scanner.at())
}

/// Reads a text that is one list, into memory that is cleared first.
fn whole_list<'a, T>(
    text: &'a str,
    into: &mut Vec<T>,
    item: impl Fn(&mut Scanner<'a>) -> Option<T>,
) -> Option<()> {
    into.clear();
    let mut scanner = Scanner::new(text);
    scanner.list(|scanner| {
        into.push(item(scanner)?);
        Some(())
    })?;
    scanner.is_at_end().then_some(())
}

/// Reads a list of integers into `into`, which is cleared first.
///
/// ```
/// use metric_record::json::scan::integers;
///
/// let mut row = Vec::new();
/// assert_eq!(integers("[3, -1]", &mut row), Some(()));
/// assert_eq!(row, [3, -1]);
/// assert_eq!(integers("[3, 1.0]", &mut row), None);
/// ```
#[must_use]
pub fn integers(text: &str, into: &mut Vec<i64>) -> Option<()> {
    whole_list(text, into, Scanner::integer)
}

/// Reads a list of numbers into `into`, which is cleared first.
///
/// ```
/// use metric_record::json::scan::numbers;
///
/// let mut row = Vec::new();
/// assert_eq!(numbers("[0.25, 1e-3, 2]", &mut row), Some(()));
/// assert_eq!(row, [0.25, 0.001, 2.0]);
/// ```
#[must_use]
pub fn numbers(text: &str, into: &mut Vec<f64>) -> Option<()> {
    whole_list(text, into, Scanner::number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn check(text: &str) {
        let whole = |scanned: Option<()>, at: usize| scanned.filter(|()| at == text.len());
        let mut scanner = Scanner::new(text);
        if whole(scanner.skip_value(), scanner.at()).is_some() {
            assert!(serde_json::from_str::<&RawValue>(text).is_ok(), "{text:?}");
        }
        let mut scanner = Scanner::new(text);
        if let Some(number) = scanner.number().filter(|_| scanner.at() == text.len()) {
            let expected: f64 = serde_json::from_str(text).expect(text);
            assert_eq!(number.to_bits(), expected.to_bits(), "{text:?}");
        }
        let mut scanner = Scanner::new(text);
        if let Some(number) = scanner.integer().filter(|_| scanner.at() == text.len()) {
            assert_eq!(
                serde_json::from_str::<i64>(text).ok(),
                Some(number),
                "{text:?}"
            );
        }
        let mut scanner = Scanner::new(text);
        if let Some(string) = scanner.string().filter(|_| scanner.at() == text.len()) {
            assert_eq!(
                serde_json::from_str::<&str>(text).ok(),
                Some(string),
                "{text:?}"
            );
        }
        let (mut row, mut scores) = (Vec::new(), Vec::new());
        if integers(text, &mut row).is_some() {
            assert_eq!(
                serde_json::from_str::<Vec<i64>>(text).ok(),
                Some(row),
                "{text:?}"
            );
        }
        if numbers(text, &mut scores).is_some() {
            let expected: Vec<f64> = serde_json::from_str(text).expect(text);
            let bits = |row: &[f64]| row.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&scores), bits(&expected), "{text:?}");
        }
    }

    #[test]
    fn common_shapes_are_taken() {
        let mut row = Vec::new();
        assert_eq!(integers(" [ ] ", &mut row), Some(()));
        assert_eq!(integers("[0,10 , -7]", &mut row), Some(()));
        assert_eq!(row, [0, 10, -7]);
        let mut scores = Vec::new();
        assert_eq!(
            numbers("[-0.0, 0.1, 1E+2, 123456789012345678]", &mut scores),
            Some(())
        );
        assert_eq!(scores, [0.0, 0.1, 100.0, 123_456_789_012_345_680.0]);
        assert!(scores[0].is_sign_negative());
        for text in [
            r#""aä\"\\\u00e4\ud800""#,
            "[[],{},[[1]],{\"a\":[true,false,null]}]",
            "-1.5e-7",
            "{ \"a\" : { \"b\" : [ 1 , 2 ] } , \"c\" : \"\" }",
        ] {
            assert_eq!(value_end(text), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_not_taken() {
        for text in [
            "",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "{\"a\":1,}",
            "[1}",
            "{\"a\":1]",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\t\"",
            "tru",
            "nul",
            "NaN",
            "[",
            "{",
            "]",
        ] {
            assert_eq!(value_end(text), None, "{text:?}");
        }
        let deep = "[".repeat(66) + &"]".repeat(66);
        assert_eq!(value_end(&deep), None);
        assert_eq!(value_end(&deep[1..131]), Some(130));
    }

    #[test]
    fn numbers_at_the_edges_are_those_of_serde_json() {
        for text in [
            "0",
            "-0",
            "-0.0",
            "0e9",
            "0.1",
            "1e22",
            "1e23",
            "9007199254740993",
            "999999999999999e22",
            "123456789012345e-22",
            "0.000000000000000000000000000001",
            "1e308",
            "1e309",
            "-1e309",
            "5e-324",
            "2.2250738585072011e-308",
            "123456789012345678",
            "1234567890123456789",
            "18446744073709551616",
            "9223372036854775807",
            "-9223372036854775808",
            "1e999999999999",
            "0e999999999999",
            "1e-999999999999",
            "0.3000000000000000444",
            "100000000000000000000000",
        ] {
            check(text);
        }
    }

    proptest! {
        #[test]
        fn gives_what_serde_json_gives(
            parts in proptest::collection::vec(prop_oneof![
                Just("["), Just("]"), Just("{"), Just("}"), Just(","), Just(":"), Just("\"a\""), Just("\""),
                Just("\\"), Just("\\u00"), Just("e4"), Just("-"), Just("0"), Just("1"), Just("25"), Just("."),
                Just("e"), Just("E+"), Just("true"), Just("null"), Just(" "), Just("\n"), Just("\u{1}"), Just("ä"),
            ], 0..9),
        ) {
            check(&parts.concat());
        }

        #[test]
        fn reads_numbers_to_the_bit(
            number in any::<f64>().prop_filter("JSON", |number| number.is_finite()),
            digits in "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?",
        ) {
            check(&serde_json::to_string(&number).expect("a number"));
            check(&digits);
        }
    }
}
