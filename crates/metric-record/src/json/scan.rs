//! Scanners for the shapes of JSON that nearly all data have.
//!
//! Each has one contract: it gives exactly what `serde_json` gives, or nothing. "Nothing" means that the text has
//! another shape or a rare form such as an escape, or is not JSON; the caller then asks `serde_json`, which also words
//! the error. Nothing is ever wrong, only slower.

use super::Raw;

/// Steps through a text of JSON.
///
/// A scanner that returned `None` is somewhere within the value that it did not accept.
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

/// The depth to which lists and objects may be nested; deeper ones are left to `serde_json`.
const MOST_DEPTH: u32 = 64;

impl<'a> Scanner<'a> {
    /// Returns a scanner at the start of a text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns how many bytes have been taken.
    #[must_use]
    pub const fn at(&self) -> usize {
        self.at
    }

    /// Returns the text that has not been taken.
    #[must_use]
    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes bytes that somebody else has read, up to the end of the text.
    pub fn advance(&mut self, bytes: usize) {
        let at = self.at.saturating_add(bytes).min(self.text.len());
        // Within a character there is nothing to take.
        self.at = if self.text.is_char_boundary(at) {
            at
        } else {
            self.text.len()
        };
    }

    /// Returns whether only white space is left.
    #[must_use]
    #[inline]
    pub fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    /// Returns the next byte that is not white space, without taking it.
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
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let end = special_byte(bytes, start)?;
        if bytes.get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// Takes an integer of at most 18 digits.
    #[inline]
    pub fn integer(&mut self) -> Option<i64> {
        self.skip_space();
        if let Some(number) = short_number(self.text.as_bytes(), self.at)
            && let Some(integer) = number.integer()
        {
            self.at = number.end;
            return Some(integer);
        }
        let is_negative = self.take(b'-');
        let start = self.at;
        let mut number = 0_i64;
        while let Some(digit) = self.digit() {
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
        }
        let digits = self.at - start;
        let is_plain = matches!(digits, 1..=18)
            // JSON has no leading zeros, and serde_json reads -0 as a number, not as an integer.
            && (number != 0 || (digits == 1 && !is_negative))
            && (digits == 1 || self.text.as_bytes().get(start) != Some(&b'0'))
            && !matches!(self.byte(), Some(b'.' | b'e' | b'E'));
        is_plain.then(|| if is_negative { -number } else { number })
    }

    /// Takes a list of digits, such as `[0, 9]`, and appends them to `digits`.
    #[inline]
    pub fn digits(&mut self, digits: &mut Vec<u8>) -> Option<()> {
        self.expect(b'[')?;
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            while let Some((eight, next)) = eight_digits(bytes, at) {
                digits.extend_from_slice(&eight);
                at = next;
            }
            while let Some((digit, next)) = single_digit(bytes, at) {
                digits.push(digit);
                at = next;
            }
            at = after_space(bytes, at);
            let digit = bytes.get(at)?.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            digits.push(digit);
            at = after_space(bytes, at + 1);
            let byte = *bytes.get(at)?;
            at += 1;
            match byte {
                b',' => {}
                b']' => break,
                _ => return None,
            }
        }
        self.at = at;
        Some(())
    }

    /// Takes a number. It has the bits that `serde_json` gives it with its feature `float_roundtrip`.
    #[inline]
    pub fn number(&mut self) -> Option<f64> {
        self.skip_space();
        let bytes = self.text.as_bytes();
        match unit_number(bytes, self.at).or_else(|| short_number(bytes, self.at)) {
            Some(number) => {
                self.at = number.end;
                Some(number.value())
            }
            None => self.long_number(),
        }
    }

    /// Takes a number of any length.
    fn long_number(&mut self) -> Option<f64> {
        let start = self.at;
        let number = self.scan_number()?;
        // Up to 2^53 an integer is exact as a number, and so are powers of ten up to 10^22: one operation
        // rounds once (Clinger 1990, "How to read floating point numbers accurately").
        if number.digits <= 19
            && number.integer <= 1 << f64::MANTISSA_DIGITS
            && number.exponent.unsigned_abs() <= 22
        {
            let power = POWERS.get(number.exponent.unsigned_abs() as usize)?;
            let integer = number.integer as i64 as f64;
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

    /// Takes a list of numbers, such as `[0.5, 1]`, and appends them to `numbers`.
    ///
    /// ```
    /// use metric_record::json::scan::Scanner;
    ///
    /// let mut numbers = vec![3.0];
    /// assert_eq!(Scanner::new("[0.25, 1e-3, 2]").numbers(&mut numbers), Some(()));
    /// assert_eq!(numbers, [3.0, 0.25, 0.001, 2.0]);
    /// ```
    #[inline]
    pub fn numbers(&mut self, numbers: &mut Vec<f64>) -> Option<()> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Some(());
        }
        loop {
            numbers.push(self.number()?);
            if !self.take(b',') {
                return self.expect(b']');
            }
            let bytes = self.text.as_bytes();
            let gap = usize::from(self.byte() == Some(b' '));
            let mut at = self.at + gap;
            numbers.extend(std::iter::from_fn(|| {
                let (number, next) = next_number(bytes, at, gap)?;
                at = next;
                Some(number)
            }));
            self.at = at;
        }
    }

    /// Takes a list of `N` short numbers without white space but a space after each comma, such as `[327.38, 65.4]`;
    /// nothing of any other list.
    ///
    /// ```
    /// use metric_record::json::scan::Scanner;
    ///
    /// let mut scanner = Scanner::new("[1.5, -2] [1, 2, 3]");
    /// assert_eq!(scanner.short_numbers(), Some([1.5, -2.0]));
    /// assert_eq!(scanner.short_numbers::<2>(), None);
    /// ```
    #[inline]
    pub fn short_numbers<const N: usize>(&mut self) -> Option<[f64; N]> {
        let bytes = self.text.as_bytes();
        let mut at = after_space(bytes, self.at);
        let mut numbers = [0.0; N];
        for (index, number) in numbers.iter_mut().enumerate() {
            let before = if index == 0 { b'[' } else { b',' };
            if bytes.get(at) != Some(&before) {
                return None;
            }
            let start = at + 1 + usize::from(index > 0 && bytes.get(at + 1) == Some(&b' '));
            let found = short_number(bytes, start).or_else(|| unit_number(bytes, start))?;
            *number = found.value();
            at = found.end;
        }
        (bytes.get(at) == Some(&b']')).then(|| {
            self.at = at + 1;
            numbers
        })
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

    /// Takes an object as [`object`](Self::object) does: each value is taken by `value`, which gets the index of
    /// its key among the names of `keys`, or their number for another key.
    ///
    /// ```
    /// use metric_record::json::scan::{Keys, Scanner};
    ///
    /// let mut keys = Keys::new(&["id", "score"]);
    /// let mut scanner = Scanner::new(r#"{"score": 0.5, "id": 1} {"score": 0.25, "id": 2}"#);
    /// let mut scores = Vec::new();
    /// while !scanner.is_at_end() {
    ///     let taken = scanner.object_of(&mut keys, |value, key| match key {
    ///         1 => Some(scores.push(value.number()?)),
    ///         _ => value.skip_value(),
    ///     });
    ///     assert_eq!(taken, Some(()));
    /// }
    /// assert_eq!(scores, [0.5, 0.25]);
    /// ```
    #[inline]
    pub fn object_of(
        &mut self,
        keys: &mut Keys,
        mut value: impl FnMut(&mut Self, usize) -> Option<()>,
    ) -> Option<()> {
        self.skip_space();
        for position in 0.. {
            let bytes = self.text.as_bytes();
            let next = keys.order.get(position);
            let found = next.and_then(|next| Some((next.end_at(bytes, self.at)?, next.key)));
            let key = match found {
                Some((end, key)) => {
                    self.at = end;
                    key
                }
                _ if position == 0 && self.empty_object() => return Some(()),
                _ => self.other_key(keys, position)?,
            };
            value(self, key)?;
            match self.peek()? {
                b',' => {}
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
        None
    }

    /// Takes `{}`.
    fn empty_object(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let end = after_space(bytes, self.at + 1);
        let is_empty = self.byte() == Some(b'{') && bytes.get(end) == Some(&b'}');
        if is_empty {
            self.at = end + 1;
        }
        is_empty
    }

    /// Takes a key that is not the expected one, with what is before and after it, and expects it in the following
    /// objects.
    fn other_key(&mut self, keys: &mut Keys, position: usize) -> Option<usize> {
        let start = self.at;
        self.expect(if position == 0 { b'{' } else { b',' })?;
        let name = self.string()?;
        self.expect(b':')?;
        self.skip_space();
        let key = keys.names.iter().position(|known| *known == name);
        let key = key.unwrap_or(keys.names.len());
        let written = self.text.as_bytes().get(start..self.at)?;
        let expected = ExpectedKey::new(written, key);
        match keys.order.get_mut(position) {
            Some(before) => *before = expected,
            None if position < MOST_KEYS => keys.order.push(expected),
            None => {}
        }
        Some(key)
    }

    /// Takes any value.
    ///
    /// # Cost
    ///
    /// One pass without memory of its own.
    pub fn skip_value(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        // The innermost list or object is the lowest bit: 1 for an object.
        let (mut nesting, mut depth) = (0_u64, 0);
        loop {
            at = after_space(bytes, at);
            at = match *bytes.get(at)? {
                b'-' | b'0'..=b'9' => {
                    let is_item = depth > 0 && nesting & 1 == 0;
                    match is_item.then(|| plain_items(bytes, at)) {
                        Some(Plain::ToEnd(end)) => end,
                        Some(Plain::Before(item)) if item > at => {
                            // Another item of the list, which may be any value.
                            at = item;
                            continue;
                        }
                        _ => after_number(bytes, at)?,
                    }
                }
                b'"' => after_string(bytes, at)?,
                open @ (b'[' | b'{') => {
                    let is_object = open == b'{';
                    let inner = after_space(bytes, at + 1);
                    // The closing bracket is two characters behind the opening one.
                    if *bytes.get(inner)? == open + 2 {
                        inner + 1
                    } else {
                        if depth == MOST_DEPTH {
                            return None;
                        }
                        depth += 1;
                        nesting = (nesting << 1) | u64::from(is_object);
                        at = if is_object {
                            after_key(bytes, inner)?
                        } else {
                            inner
                        };
                        continue;
                    }
                }
                b't' => after_word(bytes, at, b"true")?,
                b'f' => after_word(bytes, at, b"false")?,
                b'n' => after_word(bytes, at, b"null")?,
                _ => return None,
            };
            // After a value: what encloses it goes on, or ends.
            loop {
                if depth == 0 {
                    self.at = at;
                    return Some(());
                }
                let is_object = nesting & 1 == 1;
                at = after_space(bytes, at);
                let byte = *bytes.get(at)?;
                at += 1;
                match byte {
                    b',' => {
                        if is_object {
                            at = after_key(bytes, after_space(bytes, at))?;
                        }
                        break;
                    }
                    b'}' if is_object => {}
                    b']' if !is_object => {}
                    _ => return None,
                }
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

    #[inline]
    fn scan_number(&mut self) -> Option<ScannedNumber> {
        let bytes = self.text.as_bytes();
        let is_negative = self.byte() == Some(b'-');
        let start = self.at + usize::from(is_negative);
        // Digits beyond the 19th may wrap: such integers are not used. A number below 10 is the most frequent.
        let (whole, mut integer) = match (bytes.get(start), bytes.get(start + 1)) {
            (Some(digit @ b'0'..=b'9'), Some(b'.' | b',' | b']')) => {
                (start + 1, u64::from(digit - b'0'))
            }
            _ => add_digits(bytes, start, 0),
        };
        if whole == start || (whole > start + 1 && bytes.get(start) == Some(&b'0')) {
            return None;
        }
        let (mut at, mut digits, mut exponent) = (whole, whole - start, 0_i32);
        if bytes.get(at) == Some(&b'.') {
            let (end, with_decimals) = add_digits(bytes, at + 1, integer);
            let decimals = end - (at + 1);
            if decimals == 0 {
                return None;
            }
            integer = with_decimals;
            digits += decimals;
            exponent = i32::try_from(decimals).ok()?.checked_neg()?;
            at = end;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let sign = *bytes.get(at + 1)?;
            let from = at + 1 + usize::from(matches!(sign, b'+' | b'-'));
            let end = after_some_digits(bytes, from)?;
            let add = |number: i32, byte: &u8| {
                number
                    .saturating_mul(10)
                    .saturating_add(i32::from(byte.wrapping_sub(b'0')))
            };
            let written = bytes.get(from..end)?.iter().fold(0, add);
            let written = if sign == b'-' { -written } else { written };
            exponent = exponent.saturating_add(written);
            at = end;
        }
        self.at = at;
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
        self.at = after_space(self.text.as_bytes(), self.at);
    }
}

/// The names of the keys that are looked for in objects, and the order in which the objects before had theirs.
///
/// Programs write all of their records with the same keys in the same order and with the same white space, so
/// the next key is compared with the one that the record before had there.
#[derive(Clone, Debug)]
pub struct Keys {
    names: &'static [&'static str],
    order: Vec<ExpectedKey>,
}

impl Keys {
    /// Returns these names, which are distinct, in any order.
    #[must_use]
    pub const fn new(names: &'static [&'static str]) -> Self {
        Self {
            names,
            order: Vec::new(),
        }
    }
}

/// The number of keys of an object that are expected; others are searched for.
const MOST_KEYS: usize = 64;

/// A key as it is written, with the bracket or comma before it and the colon and space after it.
#[derive(Clone, Debug)]
struct ExpectedKey {
    /// `None` if it is too long to be expected.
    written: Option<ShortText>,
    key: usize,
}

impl ExpectedKey {
    fn new(written: &[u8], key: usize) -> Self {
        Self {
            written: ShortText::new(written),
            key,
        }
    }

    #[inline]
    fn end_at(&self, bytes: &[u8], at: usize) -> Option<usize> {
        self.written.as_ref()?.end_at(bytes, at)
    }
}

/// A text of up to 24 bytes that is looked for at given positions, all bytes at once.
///
/// ```
/// use metric_record::json::scan::ShortText;
///
/// let key = ShortText::new(b"\"id\":").ok_or("long")?;
/// let line = br#"{"id":1,"prediction":"a cat on a mat"}"#;
/// assert_eq!(key.end_at(line, 1), Some(6));
/// assert_eq!(key.end_at(line, 2), None);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct ShortText {
    words: [u64; Self::BYTES / 8],
    /// Which bits of the words count.
    masks: [u64; Self::BYTES / 8],
    length: usize,
}

impl ShortText {
    const BYTES: usize = 24;

    /// Returns the text of these bytes; `None` if there are more than 24.
    #[must_use]
    pub fn new(text: &[u8]) -> Option<Self> {
        let (mut words, mut masks) = ([0; Self::BYTES / 8], [0; Self::BYTES / 8]);
        if text.len() > Self::BYTES {
            return None;
        }
        for (position, &byte) in text.iter().enumerate() {
            words[position / 8] |= u64::from(byte) << (8 * (position % 8));
            masks[position / 8] |= 0xff << (8 * (position % 8));
        }
        Some(Self {
            words,
            masks,
            length: text.len(),
        })
    }

    /// Returns where the text ends that starts at a position of `bytes`. `None` if it is not there; also if fewer than
    /// 24 bytes are, which are not looked at.
    #[inline]
    #[must_use]
    pub fn end_at(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let next = bytes.get(at..)?.first_chunk::<{ Self::BYTES }>()?;
        let words = next.as_chunks::<8>().0.iter();
        let words = words.zip(self.words.iter().zip(&self.masks));
        let differ = words.fold(0, |differ, (next, (word, mask))| {
            differ | ((u64::from_le_bytes(*next) ^ word) & mask)
        });
        (differ == 0).then_some(at + self.length)
    }
}

// Where what starts at a position ends, over the bytes of a text.

#[inline]
fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The same within a line.
#[inline]
fn after_blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

#[inline]
fn after_digits(bytes: &[u8], mut at: usize) -> usize {
    while let Some((digits, _)) = word_of_digits(bytes, at) {
        at += digits;
        if digits < 8 {
            return at;
        }
    }
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The number of leading digits among the next eight bytes, and their value; `None` if there are fewer than eight
/// bytes.
#[inline]
fn word_of_digits(bytes: &[u8], at: usize) -> Option<(usize, u64)> {
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    // The digits are 0 to 9 now. Adding 0x76 sets the highest bit of what is greater, in its own byte where
    // all bytes before it are digits.
    let values = word ^ (ONES * u64::from(b'0'));
    let others = no_digits(values);
    let digits = (others.trailing_zeros() / 8) as usize;
    match digits {
        0 => Some((0, 0)),
        _ => Some((digits, number_of(values, digits))),
    }
}

/// The highest bit of each byte that is not a digit, up to the first one that is neither a digit nor a point;
/// digits are 0 to 9 here.
#[inline]
fn no_digits(values: u64) -> u64 {
    (values.wrapping_add(ONES * 0x76) | values) & (ONES * 0x80)
}

/// The number that the first bytes of a word are the digits of, from 0 to 9; there are 1 to 8.
#[inline]
fn number_of(values: u64, digits: usize) -> u64 {
    // The last digit goes to the highest byte, and zeros before the first one.
    let values = values << (8 * (8 - digits));
    // Pairs of digits, of these, and of these (D. Lemire, "Number parsing at a gigabyte per second", 2021).
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let number = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let number = number.wrapping_add(((pairs >> 16) & PAIRS).wrapping_mul(1 + (10_000 << 32)));
    number >> 32
}

/// A number of at most eight digits that is written without an exponent.
struct ShortNumber {
    is_negative: bool,
    digits: u64,
    /// The number of digits after the point.
    decimals: usize,
    end: usize,
}

impl ShortNumber {
    #[inline]
    fn value(&self) -> f64 {
        // Signed integers are converted by one instruction.
        let digits = self.digits as i64 as f64;
        let magnitude = match self.decimals {
            0 => digits,
            decimals => digits / POWERS.get(decimals).copied().unwrap_or(f64::NAN),
        };
        if self.is_negative {
            -magnitude
        } else {
            magnitude
        }
    }

    /// The number, if `serde_json` reads it as an integer.
    #[inline]
    fn integer(&self) -> Option<i64> {
        let digits = self.digits as i64;
        match (self.decimals, self.is_negative) {
            (0, false) => Some(digits),
            (0, true) if digits != 0 => Some(-digits),
            _ => None,
        }
    }
}

/// The number at a position, if eight bytes hold it and what ends it. Most numbers of data are so short, and a few
/// operations on one word read them.
#[inline(always)]
fn short_number(bytes: &[u8], at: usize) -> Option<ShortNumber> {
    let is_negative = bytes.get(at) == Some(&b'-');
    let at = at + usize::from(is_negative);
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    let values = word ^ (ONES * u64::from(b'0'));
    let others = no_digits(values);
    let byte = |position: usize| (word >> (8 * position)) as u8;
    let whole = (others.trailing_zeros() / 8) as usize;
    if whole == 0 || whole == 8 || (whole > 1 && byte(0) == b'0') {
        return None;
    }
    let (values, decimals, end) = if byte(whole) == b'.' {
        let end = ((others & (others - 1)).trailing_zeros() / 8) as usize;
        if end == 8 || end == whole + 1 {
            return None;
        }
        let before = (1 << (8 * whole)) - 1;
        let joined = (values & before) | ((values >> 8) & !before);
        (joined, end - whole - 1, end)
    } else {
        (values, 0, whole)
    };
    ends_number(byte(end)).then(|| ShortNumber {
        is_negative,
        digits: number_of(values, whole + decimals),
        decimals,
        end: at + end,
    })
}

/// The number at a position, if it has one digit before its point and at most seven after it, as shares and scores
/// have.
#[inline(always)]
fn unit_number(bytes: &[u8], at: usize) -> Option<ShortNumber> {
    let is_negative = bytes.get(at) == Some(&b'-');
    let at = at + usize::from(is_negative);
    let (&[whole @ b'0'..=b'9', b'.'], rest) = bytes.get(at..)?.split_first_chunk()? else {
        return None;
    };
    let word = u64::from_le_bytes(*rest.first_chunk()?);
    let values = word ^ (ONES * u64::from(b'0'));
    let decimals = (no_digits(values).trailing_zeros() / 8) as usize;
    if decimals == 0 || decimals == 8 {
        return None;
    }
    let is_end = ends_number((word >> (8 * decimals)) as u8);
    is_end.then(|| ShortNumber {
        is_negative,
        digits: u64::from(whole - b'0') * WORD_POWERS[decimals] + number_of(values, decimals),
        decimals,
        end: at + 2 + decimals,
    })
}

/// The number at a position of a list, and where the next one starts, if each comma has a space after it (a gap of
/// 1) or none has (0) and the number is short.
#[inline(always)]
fn next_number(bytes: &[u8], at: usize, gap: usize) -> Option<(f64, usize)> {
    if let Some(number) = six_decimals(bytes, at, gap) {
        return Some((number, at + SIX_DECIMALS + 1 + gap));
    }
    let number = unit_number(bytes, at).or_else(|| short_number(bytes, at))?;
    has_comma(bytes, number.end, gap).then(|| (number.value(), number.end + 1 + gap))
}

/// Whether there is a comma at a position, with a space after it for a gap of 1 and none for 0.
#[inline]
fn has_comma(bytes: &[u8], at: usize, gap: usize) -> bool {
    bytes.get(at) == Some(&b',') && (bytes.get(at + 1) == Some(&b' ')) == (gap == 1)
}

/// The length of a number that [`six_decimals`] reads.
const SIX_DECIMALS: usize = 8;

/// The number at a position that is written like `0.123456` and has a comma after it.
///
/// Scores are often rounded to six decimals. Where the next number starts is known without a look at the digits of
/// this one, so the processor reads several at once.
#[inline(always)]
fn six_decimals(bytes: &[u8], at: usize, gap: usize) -> Option<f64> {
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    let values = word ^ u64::from_le_bytes(*b"0.000000");
    // The point is 0 now.
    let is_number = (no_digits(values) | (values & 0xff00)) == 0;
    if !is_number || !has_comma(bytes, at + SIX_DECIMALS, gap) {
        return None;
    }
    let digits = (values & 0xff) * WORD_POWERS[6] + number_of(values >> 16, 6);
    Some(digits as i64 as f64 / POWERS[6])
}

/// Whether a number ends before this byte, if it ends at all.
#[inline]
fn ends_number(byte: u8) -> bool {
    matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t')
}

/// The powers of ten that eight digits or fewer go up to.
const WORD_POWERS: [u64; 9] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// Where digits end, and the number that goes on with them: `number` for those before them. What is more than
/// 19 digits wraps.
#[inline]
fn add_digits(bytes: &[u8], mut at: usize, mut number: u64) -> (usize, u64) {
    while let Some((digits, added)) = word_of_digits(bytes, at) {
        number = number.wrapping_mul(WORD_POWERS[digits]).wrapping_add(added);
        at += digits;
        if digits < 8 {
            return (at, number);
        }
    }
    while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
        let digit = u64::from(digit - b'0');
        number = number.wrapping_mul(10).wrapping_add(digit);
        at += 1;
    }
    (at, number)
}

/// The same, where there must be a digit.
#[inline]
fn after_some_digits(bytes: &[u8], at: usize) -> Option<usize> {
    let end = after_digits(bytes, at);
    (end > at).then_some(end)
}

/// Returns where a number ends that starts at a position, in bytes.
///
/// ```
/// use metric_record::json::scan::end_of_number;
///
/// assert_eq!(end_of_number(b"[-2.5e3]", 1), Some(7));
/// assert_eq!(end_of_number(b"01", 0), None);
/// ```
#[must_use]
#[inline]
pub fn end_of_number(bytes: &[u8], at: usize) -> Option<usize> {
    after_number(bytes, at)
}

#[inline]
fn after_number(bytes: &[u8], at: usize) -> Option<usize> {
    let start = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut at = match bytes.get(start)? {
        // JSON has no leading zeros.
        b'0' if matches!(bytes.get(start + 1), Some(b'0'..=b'9')) => return None,
        b'0' => start + 1,
        b'1'..=b'9' => {
            // Before the point there are few.
            let mut at = start + 1;
            while let Some(b'0'..=b'9') = bytes.get(at) {
                at += 1;
            }
            at
        }
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') {
        at = after_some_digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let is_signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = after_some_digits(bytes, at + 1 + usize::from(is_signed))?;
    }
    Some(at)
}

/// The first byte from a position on that is a quote, an escape or a control character.
///
/// Short strings end within two words, which are looked at first. Long ones are searched in blocks.
#[inline]
fn special_byte(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    for _ in 0..2 {
        match special_in_word(bytes, at)? {
            Word::Plain => at += 8,
            Word::Special(position) => return Some(position),
            Word::End => return special_at_end(bytes, at),
        }
    }
    while let Some(block) = bytes.get(at..)?.first_chunk::<32>()
        // Without a branch per byte, so that the compiler can look at many at once.
        && !block.iter().fold(false, |found, &byte| found | is_special(byte))
    {
        at += 32;
    }
    loop {
        match special_in_word(bytes, at)? {
            Word::Plain => at += 8,
            Word::Special(position) => return Some(position),
            Word::End => return special_at_end(bytes, at),
        }
    }
}

/// The content of eight bytes.
enum Word {
    Plain,
    /// The position of the first special byte.
    Special(usize),
    /// There are fewer than eight.
    End,
}

#[inline]
fn special_in_word(bytes: &[u8], at: usize) -> Option<Word> {
    let Some(word) = bytes.get(at..)?.first_chunk() else {
        return Some(Word::End);
    };
    let word = u64::from_le_bytes(*word);
    // The highest bit of each byte that is one of these; a borrow only goes to bytes after the first one.
    let quotes = word ^ (ONES * u64::from(b'"'));
    let escapes = word ^ (ONES * u64::from(b'\\'));
    let found = (quotes.wrapping_sub(ONES) & !quotes)
        | (escapes.wrapping_sub(ONES) & !escapes)
        | (word.wrapping_sub(ONES * 0x20) & !word);
    Some(match found & (ONES * 0x80) {
        0 => Word::Plain,
        found => Word::Special(at + (found.trailing_zeros() / 8) as usize),
    })
}

#[cold]
fn special_at_end(bytes: &[u8], at: usize) -> Option<usize> {
    let position = bytes.get(at..)?.iter().position(|&byte| is_special(byte));
    Some(at + position?)
}

/// A 1 in each byte.
const ONES: u64 = u64::MAX / 0xff;

/// Whether a byte ends a plain part of a string.
#[inline]
fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Returns where a string ends that starts at a position, in bytes and with its quotes, and whether it has no
/// escapes.
///
/// ```
/// use metric_record::json::scan::end_of_string;
///
/// assert_eq!(end_of_string(br#"{"id": 1}"#, 1), Some((5, true)));
/// assert_eq!(end_of_string(br#""a\n", 1"#, 0), Some((5, false)));
/// assert_eq!(end_of_string(b"\"a", 0), None);
/// ```
#[must_use]
#[inline]
pub fn end_of_string(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let end = special_byte(bytes, at + 1)?;
    match *bytes.get(end)? {
        b'"' => Some((end + 1, true)),
        b'\\' => Some((after_string(bytes, at)?, false)),
        _ => None,
    }
}

#[inline]
fn after_string(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        at = special_byte(bytes, at)?;
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at = after_escape(bytes, at + 1)?,
            _ => return None,
        }
    }
}

/// The end of an escape whose backslash was taken. Half of a surrogate pair is an escape too: whoever reads the string
/// decides whether it is text.
fn after_escape(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => {
            let digits = bytes.get(at + 1..at + 5)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 5)
        }
        _ => None,
    }
}

#[inline]
fn after_key(bytes: &[u8], at: usize) -> Option<usize> {
    let at = after_space(bytes, after_string(bytes, at)?);
    (bytes.get(at) == Some(&b':')).then_some(at + 1)
}

fn after_word(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes
        .get(at..)?
        .starts_with(word)
        .then_some(at + word.len())
}

/// The number `integer` x 10^`exponent`.
struct ScannedNumber {
    is_negative: bool,
    integer: u64,
    /// The number of digits of the integer, with leading zeros.
    digits: usize,
    exponent: i32,
}

/// The powers of ten that are exact as numbers of 64 bits.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The digit that a list goes on with after this position, and where its next item starts, if it has one and both
/// are written `0, ` or `0,`. Rows of grids are little else.
#[inline]
fn single_digit(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let &[digit @ b'0'..=b'9', b',', next] = bytes.get(at..)?.first_chunk::<3>()? else {
        return None;
    };
    Some((digit - b'0', at + 2 + usize::from(next == b' ')))
}

/// Eight items of a list of digits, as programs write them, with a comma and a space or with a comma alone.
const SPACED: [[u8; 8]; 3] = [*b"0, 0, 0,", *b" 0, 0, 0", *b", 0, 0, "];
const CLOSE: [[u8; 8]; 2] = [*b"0,0,0,0,", *b"0,0,0,0,"];

/// The eight digits that a list goes on with after this position, and where its next item starts, if there are as
/// many and all are written `0, ` or all are written `0,`.
#[inline]
fn eight_digits(bytes: &[u8], at: usize) -> Option<([u8; 8], usize)> {
    let rest = bytes.get(at..)?;
    if rest.get(1) != Some(&b',') {
        return None;
    }
    if rest.get(2) == Some(&b' ') {
        let [a, b, c] = digits_like(&SPACED, rest)?;
        let digits = [a[0], a[3], a[6], b[1], b[4], b[7], c[2], c[5]];
        Some((digits, at + 24))
    } else {
        let [a, b] = digits_like(&CLOSE, rest)?;
        let digits = [a[0], a[2], a[4], a[6], b[0], b[2], b[4], b[6]];
        Some((digits, at + 16))
    }
}

/// The values of the digits at the start of a text that has digits where the layout has 0, and is the same
/// elsewhere, where the values are 0.
#[inline(always)]
fn digits_like<const WORDS: usize>(
    layout: &[[u8; 8]; WORDS],
    text: &[u8],
) -> Option<[[u8; 8]; WORDS]> {
    let words = text.as_chunks::<8>().0.first_chunk::<WORDS>()?;
    let mut values = [[0; 8]; WORDS];
    let mut others = 0;
    for ((word, expected), values) in words.iter().zip(layout).zip(&mut values) {
        let expected = u64::from_le_bytes(*expected);
        let found = u64::from_le_bytes(*word) ^ expected;
        // Among 0, comma and space, only 0 has this bit.
        let separators = (!expected >> 4 & ONES) * 0xff;
        others |= no_digits(found) | (found & separators);
        *values = found.to_le_bytes();
    }
    (others == 0).then_some(values)
}

/// The plain numbers that a list goes on with.
enum Plain {
    /// All are plain: where the last one ends, before the bracket.
    ToEnd(usize),
    /// Where the first item starts that may be another one.
    Before(usize),
}

/// Looks for the plain numbers that a list goes on with at the start of an item: integers, and decimal numbers of at
/// most three digits before the point, without white space but a space after a comma.
///
/// # Cost
///
/// Whether a byte can be where it is depends on the few bytes before it only, so the compiler looks at many at once.
#[inline]
fn plain_items(bytes: &[u8], start: usize) -> Plain {
    let before = start.checked_sub(1).and_then(|before| bytes.get(before));
    if !matches!(before, Some(b'[' | b',' | b' ')) {
        return Plain::Before(start);
    }
    let mut end = start;
    while let Some(window) = end
        .checked_sub(BEFORE)
        .and_then(|before| bytes.get(before..)?.first_chunk())
    {
        let plain = plain_bytes(window);
        end += plain;
        if plain < BLOCK {
            break;
        }
    }
    let items = bytes.get(start..end).unwrap_or_default();
    if bytes.get(end) == Some(&b']') && matches!(items.last(), Some(b'0'..=b'9')) {
        return Plain::ToEnd(end);
    }
    let comma = items.iter().rposition(|byte| *byte == b',');
    Plain::Before(comma.map_or(start, |comma| {
        start + comma + 1 + usize::from(items.get(comma + 1) == Some(&b' '))
    }))
}

/// The number of bytes that are looked at together.
const BLOCK: usize = 32;

/// The number of bytes before them that decide which ones may follow.
const BEFORE: usize = 4;

/// The number of bytes of a block that go on with a list of plain numbers.
#[inline]
fn plain_bytes(window: &[u8; BEFORE + BLOCK]) -> usize {
    let is_digit = |byte: u8| byte.wrapping_sub(b'0') <= 9;
    // A plain byte that is neither a digit nor a point is before a number.
    let is_before = |byte: u8| byte.wrapping_sub(b'.') > b'9' - b'.';
    let mut odd = [0_u8; BLOCK];
    for (index, odd) in odd.iter_mut().enumerate() {
        let byte = window[index + BEFORE];
        // One by one: a call per byte, as `map` is in a build of several code units, would keep the compiler from it.
        let (last, second) = (window[index + BEFORE - 1], window[index + BEFORE - 2]);
        let (third, fourth) = (window[index + BEFORE - 3], window[index + BEFORE - 4]);
        // Whether the number before this byte has one, two or three digits.
        let is_one = is_digit(last) & is_before(second);
        let are_two = is_digit(last) & is_digit(second) & is_before(third);
        let are_three = is_digit(last) & is_digit(second) & is_digit(third) & is_before(fourth);
        // JSON has no leading zeros.
        let plain = (is_digit(byte) & !(is_one & (last == b'0')))
            | ((byte == b',') & is_digit(last))
            | ((byte == b'.') & (is_one | are_two | are_three))
            | ((byte == b' ') & (last == b','))
            | ((byte == b'-') & is_before(last) & (last != b'-'));
        *odd = u8::from(!plain);
    }
    for (index, word) in odd.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        if word != 0 {
            return index * 8 + (word.trailing_zeros() / 8) as usize;
        }
    }
    BLOCK
}

/// Returns where a list ends that starts at a position and holds numbers, or lists of them, on one line; in bytes.
///
/// ```
/// use metric_record::json::scan::end_of_numbers;
///
/// assert_eq!(end_of_numbers(b"7, [[1, 2.5], [3]]", 3), Some(18));
/// assert_eq!(end_of_numbers(b"[1, true]", 0), None);
/// ```
#[must_use]
pub fn end_of_numbers(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_u32;
    loop {
        // A list starts, or a number.
        let is_item = bytes.get(at) != Some(&b'[');
        while bytes.get(at) == Some(&b'[') {
            depth += 1;
            at = after_blanks(bytes, at + 1);
        }
        if depth == 0 || depth > MOST_DEPTH {
            return None;
        }
        // An empty list has no number before its end.
        if is_item || bytes.get(at) != Some(&b']') {
            at = match plain_items(bytes, at) {
                Plain::ToEnd(end) => end,
                Plain::Before(item) => after_number(bytes, after_blanks(bytes, item))?,
            };
        }
        at = after_blanks(bytes, at);
        while bytes.get(at) == Some(&b']') {
            depth -= 1;
            if depth == 0 {
                return Some(at + 1);
            }
            at = after_blanks(bytes, at + 1);
        }
        if bytes.get(at) != Some(&b',') {
            return None;
        }
        at = after_blanks(bytes, at + 1);
    }
}

/// Reads a text that is one list of integers, and gives each of them to `item`. `None` if it is another value, or one
/// that is left to `serde_json`; some items may have been given then.
///
/// ```
/// use metric_record::json::scan::each_integer;
///
/// let mut sum = 0;
/// assert_eq!(each_integer("[12, -3]", |integer| sum += integer), Some(()));
/// assert_eq!(sum, 9);
/// assert_eq!(each_integer("[1.5]", |_| ()), None);
/// ```
///
/// # Cost
///
/// Commas are found in 64 bytes at once, so that the items between them do not wait for each other.
pub fn each_integer(text: &str, mut item: impl FnMut(i64)) -> Option<()> {
    const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
    let list = text.trim_matches(SPACE);
    let inner = list.strip_prefix('[')?.strip_suffix(']')?;
    let bytes = inner.as_bytes();
    if inner.trim_start_matches(SPACE).is_empty() {
        return Some(());
    }
    let mut start = 0;
    for block in (0..bytes.len()).step_by(64) {
        let mut bits = commas(&bytes[block..bytes.len().min(block + 64)]);
        while bits != 0 {
            let end = block + bits.trailing_zeros() as usize;
            item(integer_between(inner, start, end)?);
            bits &= bits - 1;
            start = end + 1;
        }
    }
    item(integer_between(inner, start, bytes.len())?);
    Some(())
}

/// A bit for each of up to 64 bytes: set for commas.
#[inline]
fn commas(block: &[u8]) -> u64 {
    let (words, rest) = block.as_chunks();
    let mut found = 0;
    for (index, word) in words.iter().enumerate() {
        let differs = u64::from_le_bytes(*word) ^ (ONES * u64::from(b','));
        // The highest bit of each byte: whether it differs.
        let differs = ((differs & (ONES * 0x7f)) + ONES * 0x7f) | differs;
        // Moves the eight bits to the last byte, in their order.
        let bits = ((!differs & (ONES * 0x80)) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        found |= bits << (8 * index);
    }
    for (index, byte) in rest.iter().enumerate() {
        found |= u64::from(*byte == b',') << (8 * words.len() + index);
    }
    found
}

/// The integer between two positions of a text, if there is only white space next to it.
#[inline]
fn integer_between(text: &str, start: usize, end: usize) -> Option<i64> {
    let bytes = text.as_bytes();
    let start = start + usize::from(bytes.get(start) == Some(&b' '));
    let length = end.checked_sub(start)?;
    if (1..8).contains(&length)
        && let Some(word) = word_at(bytes, start)
    {
        let values = word ^ (ONES * u64::from(b'0'));
        let digits = (no_digits(values).trailing_zeros() / 8) as usize;
        let has_leading_zero = digits > 1 && values & 0xff == 0;
        if digits == length && !has_leading_zero {
            return Some(number_of(values, digits) as i64);
        }
    }
    integer(text.get(start..end)?)
}

/// The eight bytes starting at a position, with zeros after the last byte of all; `None` if there are fewer than eight.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    if let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        return Some(u64::from_le_bytes(*word));
    }
    let missing = (at + 8)
        .checked_sub(bytes.len())
        .filter(|missing| *missing < 8)?;
    Some(u64::from_le_bytes(*bytes.last_chunk()?) >> (8 * missing))
}

/// Reads a text that is one integer.
///
/// ```
/// use metric_record::json::scan::integer;
///
/// assert_eq!(integer(" -12 "), Some(-12));
/// assert_eq!(integer("12.0"), None);
/// ```
#[must_use]
#[inline]
pub fn integer(text: &str) -> Option<i64> {
    let mut scanner = Scanner::new(text);
    let integer = scanner.integer()?;
    scanner.is_at_end().then_some(integer)
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
    into.clear();
    each_integer(text, |integer| into.push(integer))
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
    into.clear();
    let mut scanner = Scanner::new(text);
    scanner.numbers(into)?;
    scanner.is_at_end().then_some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn value_end(text: &str) -> Option<usize> {
        let mut scanner = Scanner::new(text);
        scanner.skip_value().map(|()| scanner.at())
    }

    fn check(text: &str) {
        if let Some(end) = end_of_numbers(text.as_bytes(), 0) {
            assert_eq!(value_end(text), Some(end), "{text:?}");
        }
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
        let mut scanner = Scanner::new(text);
        if let Some(pair) = scanner
            .short_numbers::<2>()
            .filter(|_| scanner.at() == text.len())
        {
            assert_eq!(numbers(text, &mut scores), Some(()), "{text:?}");
            assert_eq!(scores, pair, "{text:?}");
        }
        if numbers(text, &mut scores).is_some() {
            let expected: Vec<f64> = serde_json::from_str(text).expect(text);
            let bits = |row: &[f64]| row.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&scores), bits(&expected), "{text:?}");
        }
    }

    #[test]
    fn lists_of_numbers_end_where_they_end() {
        for (text, end) in [
            ("[]", Some(2)),
            ("[ ] x", Some(3)),
            ("[[1,2],[ 3 , -4.5e1 ]]]", Some(22)),
            ("[[],[[]],1]", Some(11)),
            ("[1,]", None),
            ("[[1],]", None),
            (
                "[0.25, 0.5, -1, 12, 999.5, 1000.5, 0, -0.125, 7, 0.0]",
                Some(53),
            ),
            ("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,]", None),
            ("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,019]", None),
            ("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,1.2.3]", None),
            ("[1 2]", None),
            ("[", None),
            ("1", None),
            ("[\"1\"]", None),
        ] {
            assert_eq!(end_of_numbers(text.as_bytes(), 0), end, "{text}");
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
    fn lists_of_short_numbers_have_their_length() {
        for (text, expected) in [
            ("[1.5,-2]        ", Some([1.5, -2.0])),
            (" [327.38, 0.0]      ", Some([327.38, 0.0])),
            ("[1.5,-2,3]      ", None),
            ("[1.5]           ", None),
            ("[]              ", None),
            ("[1.5,-2,]       ", None),
            ("[1.5,,2]        ", None),
            ("[01.5,2]        ", None),
            ("[1.5,123456789] ", None),
            ("[1.5,-2", None),
        ] {
            let mut scanner = Scanner::new(text);
            assert_eq!(scanner.short_numbers(), expected, "{text}");
            let taken = expected.map_or(0, |_| text.trim_end().len());
            assert_eq!(scanner.at(), taken, "{text}");
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
        /// Lists of integers are those of serde_json, or left to it.
        #[test]
        fn integers_of_lists_are_those_of_serde_json(
            items in proptest::collection::vec(
                ("[ \t\n\r\u{c}]{0,2}", prop_oneof![
                    "-?[0-9]{1,9}", "[0-9]{3}", any::<i64>().prop_map(|it| it.to_string()), "[-0-9.eE]{0,4}",
                ], "[ \t]{0,1}"),
                0..40,
            ),
            around in ("[ \n]{0,1}", "[ \u{c},]{0,1}"),
        ) {
            let items = items.iter().map(|(before, item, after)| format!("{before}{item}{after}"));
            let items: Vec<String> = items.collect();
            let text = format!("{}[{}]{}", around.0, items.join(","), around.1);
            let mut found = Vec::new();
            if integers(&text, &mut found).is_some() {
                let expected: Vec<i64> = serde_json::from_str(&text).expect("a list of integers");
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn lists_of_integers_are_read(
            items in proptest::collection::vec(-99_999_999_999_i64..99_999_999_999, 0..40),
            short in proptest::collection::vec(0_i64..2000, 0..40),
            separator in proptest::sample::select(vec![",", ", ", " , "]),
        ) {
            for expected in [items, short] {
                let written: Vec<String> = expected.iter().map(i64::to_string).collect();
                let mut found = Vec::new();
                let text = format!("[{}]", written.join(separator));
                prop_assert_eq!(integers(&text, &mut found), Some(()));
                prop_assert_eq!(found, expected);
            }
        }

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
            // In the middle of a text, numbers are read a word at a time.
            check(&format!("[{digits}, {digits},{number} ]         "));
            check(&format!("{digits}         "));
        }

        #[test]
        fn objects_in_any_order_are_objects(
            objects in proptest::collection::vec(proptest::collection::vec(
                (prop_oneof![Just("id"), Just("score"), Just("more"), Just("a name of some length"), Just("")],
                    prop_oneof![Just(":"), Just(": "), Just(" :")],
                    prop_oneof![Just("1"), Just("[{}]"), Just("\"}\""), Just("x"), Just("")],
                    prop_oneof![9 => Just(","), 9 => Just(", "), 1 => Just(" ,\n"), 1 => Just("}")]),
                0..5), 1..4),
        ) {
            let mut keys = Keys::new(&["id", "score"]);
            for object in &objects {
                let mut text: String = object.iter().map(|(key, colon, value, end)| {
                    format!("\"{key}\"{colon}{value}{end}")
                }).collect();
                text.truncate(text.trim_end_matches([',', '\n', ' ']).len());
                let text = format!("{{{text}}} {}", " ".repeat(ShortText::BYTES));
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                let mut scanner = Scanner::new(&text);
                let plain = scanner.object(|value, key| {
                    let key = ["id", "score"].iter().position(|it| *it == key);
                    expected.push((key.unwrap_or(2), value.raw()?.0));
                    Some(())
                });
                let end = plain.map(|()| scanner.at());
                let mut scanner = Scanner::new(&text);
                let taken = scanner.object_of(&mut keys, |value, key| {
                    found.push((key, value.raw()?.0));
                    Some(())
                });
                prop_assert_eq!(taken.map(|()| scanner.at()), end, "{}", text);
                if end.is_some() {
                    prop_assert_eq!(found, expected);
                }
            }
        }

        #[test]
        fn lists_of_numbers_are_those_of_serde_json(
            items in proptest::collection::vec((
                prop_oneof![
                    9 => "[0-9]\\.[0-9]{6}",
                    9 => "-?(0|[1-9][0-9]{0,4})(\\.[0-9]{1,7})?",
                    1 => "[0-9][/.0:][0-9]{5}[/0:.]",
                    1 => "-?[0-9]{1,3}(\\.[0-9]{0,2}){0,2}(e[0-9]?)?",
                    1 => Just(String::from("[[2]]")), 1 => Just(String::from("-")), 1 => Just(String::new()),
                ],
                prop_oneof![9 => Just(", "), 9 => Just(","), 1 => Just(",\n"), 1 => Just("] , ["), 1 => Just("  ,")],
            ), 0..40),
        ) {
            let written: String = items.iter().flat_map(|(item, end)| [item, *end]).collect();
            check(&format!("[{written}1]"));
            check(&format!("[[{written}1], [0.5]]"));
            check(&format!("[{written}]"));
        }

        #[test]
        fn reads_rows_of_digits(
            items in proptest::collection::vec((0_u8..=9, prop_oneof![
                9 => Just(", "), 9 => Just(","), 1 => Just(" ,"), 1 => Just(",,"), 1 => Just("0,"), 1 => Just(";"),
            ]), 0..60),
            is_one_layout in any::<bool>(),
        ) {
            let separator = items.first().map_or("", |item| item.1);
            let written = items.iter().map(|(digit, own)| {
                format!("{digit}{}", if is_one_layout { separator } else { own })
            });
            let text = format!("[{}7]", written.collect::<String>());
            check(&text);
            check(&format!("[{text}, {text}]    "));
            let mut digits = Vec::new();
            let mut scanner = Scanner::new(&text);
            let scanned = scanner.digits(&mut digits);
            if scanned.is_some() {
                prop_assert_eq!(serde_json::from_str::<Vec<u8>>(&text).ok(), Some(digits));
                prop_assert!(scanner.is_at_end());
            } else {
                prop_assert!(!is_one_layout || !matches!(separator, ", " | "," | " ,"));
            }
        }
    }
}
