//! Number words as digits.

use std::mem;

use super::english::{DIGIT, classes};
use super::rules::Rules;
use super::{Passes, is, is_space, is_word};
use crate::characters::DECIMAL;
use crate::normalize::words as split;

/// What a word means in a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// A zero, such as `oh`.
    Zero,
    /// A number from 1 to 19, or from 0 with an ending, such as `th`.
    Ones(u8, &'static str),
    /// A multiple of ten from 20 to 90, with its ending if there is one.
    Tens(u8, &'static str),
    /// A power of ten, by its exponent, with its ending if there is one.
    Scale(usize, &'static str),
    /// A sign before a number.
    Sign(char),
    /// A unit after a number, as the sign before it.
    Unit(char),
    Per,
    Percent,
    And,
    /// `double` or `triple`: a digit that often.
    Repeat(usize),
    Point,
}

const ONES: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen";
const ONES_PLURAL: &str = "ones twos threes fours fives sixes sevens eights nines tens elevens twelves thirteens \
    fourteens fifteens sixteens seventeens eighteens nineteens";
/// From `zeroth`. The spelling `nineth` is that of the reference implementation, which does not know `ninth`.
const ORDINALS: &str = "zeroth first second third fourth fifth sixth seventh eighth nineth tenth eleventh twelfth \
    thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth";
const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";
const TENS_PLURAL: &str = "twenties thirties forties fifties sixties seventies eighties nineties";
const TENS_ORDINAL: &str =
    "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth";
const SCALES: [(&str, &str, &str, usize); 12] = [
    ("hundred", "hundreds", "hundredth", 2),
    ("thousand", "thousands", "thousandth", 3),
    ("million", "millions", "millionth", 6),
    ("billion", "billions", "billionth", 9),
    ("trillion", "trillions", "trillionth", 12),
    ("quadrillion", "quadrillions", "quadrillionth", 15),
    ("quintillion", "quintillions", "quintillionth", 18),
    ("sextillion", "sextillions", "sextillionth", 21),
    ("septillion", "septillions", "septillionth", 24),
    ("octillion", "octillions", "octillionth", 27),
    ("nonillion", "nonillions", "nonillionth", 30),
    ("decillion", "decillions", "decillionth", 33),
];
const OTHERS: [(&str, Number); 21] = [
    ("o", Number::Zero),
    ("oh", Number::Zero),
    ("zero", Number::Zero),
    ("minus", Number::Sign('-')),
    ("negative", Number::Sign('-')),
    ("plus", Number::Sign('+')),
    ("positive", Number::Sign('+')),
    ("pound", Number::Unit('£')),
    ("pounds", Number::Unit('£')),
    ("euro", Number::Unit('€')),
    ("euros", Number::Unit('€')),
    ("dollar", Number::Unit('$')),
    ("dollars", Number::Unit('$')),
    ("cent", Number::Unit('¢')),
    ("cents", Number::Unit('¢')),
    ("per", Number::Per),
    ("percent", Number::Percent),
    ("and", Number::And),
    ("double", Number::Repeat(2)),
    ("triple", Number::Repeat(3)),
    ("point", Number::Point),
];

/// All words that mean something in a number.
pub(super) fn words() -> impl Iterator<Item = (&'static str, Number)> {
    let list =
        |words: &'static str, number: fn(u8) -> Number| words.split(' ').zip((0..).map(number));
    let ordinal = |n| {
        let ending = match n {
            1 => "st",
            2 => "nd",
            3 => "rd",
            _ => "th",
        };
        Number::Ones(n, ending)
    };
    let scales = SCALES
        .into_iter()
        .flat_map(|(word, plural, ordinal, power)| {
            [(word, ""), (plural, "s"), (ordinal, "th")]
                .map(|(word, ending)| (word, Number::Scale(power, ending)))
        });
    list(ONES, |n| Number::Ones(n + 1, ""))
        .chain(list(ONES_PLURAL, |n| Number::Ones(n + 1, "s")))
        .chain(list(ORDINALS, ordinal))
        .chain(list(TENS, |n| Number::Tens(10 * n + 20, "")))
        .chain(list(TENS_PLURAL, |n| Number::Tens(10 * n + 20, "s")))
        .chain(list(TENS_ORDINAL, |n| Number::Tens(10 * n + 20, "th")))
        .chain(scales)
        .chain(OTHERS)
}

impl Number {
    /// Whether the word may follow a point.
    fn is_decimal(self) -> bool {
        matches!(self, Self::Zero | Self::Ones(_, "") | Self::Tens(_, ""))
    }
}

/// Writes numbers as digits, and replaces spellings.
///
/// The reference implementation replaces spellings afterwards. They have no digits and no words of numbers, so the other
/// passes do not meet them.
pub(super) fn run(passes: &mut Passes<'_>, rules: &Rules) {
    passes.run(|from, to| write_halves(from, to, rules));
    let has_digits = |passes: &Passes<'_>| classes(&passes.text) & DIGIT != 0;
    if has_digits(passes) {
        passes.run(separate_digits);
        passes.run(join_ordinals);
    }
    passes.run(|from, to| {
        Writer::new(to).write(from, rules);
        true
    });
    if has_digits(passes) {
        passes.run(join_cents);
        passes.run(write_cents);
        passes.run(write_one);
    }
}

/// Writes `point five` for `and a half` after a number, and single spaces around such phrases.
fn write_halves(from: &str, to: &mut String, rules: &Rules) -> bool {
    let mut part = 0;
    let mut found = false;
    for (index, _) in from.match_indices("and") {
        let Some(end) = end_of_half(&from[index..]).map(|length| index + length) else {
            continue;
        };
        if index < part || from[..index].ends_with(is_word) {
            continue;
        }
        found = true;
        let before = &from[part..index];
        part = end;
        if let Some(word) = split(before).last() {
            let number = rules.get(word).and_then(|word| word.number);
            let is_number =
                number.is_some_and(|it| it.is_decimal() || matches!(it, Number::Scale(_, "")));
            to.push_str(before);
            to.push_str(if is_number {
                " point five "
            } else {
                " and a half "
            });
        }
    }
    to.push_str(&from[part..]);
    found
}

/// The length of the phrase `and a half` that a text starts with.
fn end_of_half(text: &str) -> Option<usize> {
    let mut rest = text.strip_prefix("and")?;
    for word in ["a", "half"] {
        let after = rest.trim_start_matches(is_space);
        if after.len() == rest.len() {
            return None;
        }
        rest = after.strip_prefix(word)?;
    }
    (!rest.starts_with(is_word)).then_some(text.len() - rest.len())
}

/// Writes a space between a digit and a letter from a to z.
fn separate_digits(from: &str, to: &mut String) -> bool {
    let bytes = from.as_bytes();
    let mut copied = 0;
    for (index, pair) in bytes.windows(2).enumerate() {
        if let [b'a'..=b'z', b'0'..=b'9'] | [b'0'..=b'9', b'a'..=b'z'] = pair {
            to.push_str(&from[copied..=index]);
            to.push(' ');
            copied = index + 1;
        }
    }
    to.push_str(&from[copied..]);
    copied > 0
}

/// Removes spaces between a digit and an ending of a number.
fn join_ordinals(from: &str, to: &mut String) -> bool {
    let mut rest = from;
    while let Some(index) = rest.find(is_space) {
        let after = rest[index..].trim_start_matches(is_space);
        let word = after.len() - after.trim_start_matches(is_word).len();
        let is_joined = matches!(&after[..word], "st" | "nd" | "rd" | "th" | "s")
            && rest[..index].ends_with(|c: char| c.is_ascii_digit());
        let end = rest.len() - after.len();
        to.push_str(&rest[..if is_joined { index } else { end }]);
        rest = after;
    }
    to.push_str(rest);
    to.len() < from.len()
}

/// The digits that a text starts with, if there are one or two of them and a boundary follows.
fn one_or_two_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    (matches!(digits.len(), 1 | 2) && !rest.starts_with(is_word)).then_some(digits)
}

const CURRENCIES: [char; 3] = ['€', '£', '$'];

/// Writes an amount and its cents as one number: `$2 and ¢7` as `$2.07`.
fn join_cents(from: &str, to: &mut String) -> bool {
    let mut copied = 0;
    for (index, currency) in from.match_indices(CURRENCIES) {
        let amount = &from[index + currency.len()..];
        let after = amount.trim_start_matches(|c: char| c.is_ascii_digit());
        let cents = after.strip_prefix(' ').and_then(|after| {
            let after = after.strip_prefix("and ").unwrap_or(after);
            let cents = after.strip_prefix('¢')?;
            Some((one_or_two_digits(cents)?, cents))
        });
        if let Some((digits, cents)) = cents
            && after.len() < amount.len()
        {
            to.push_str(&from[copied..from.len() - after.len()]);
            to.push_str(if digits.len() == 1 { ".0" } else { "." });
            to.push_str(digits);
            copied = from.len() - cents.len() + digits.len();
        }
    }
    to.push_str(&from[copied..]);
    copied > 0
}

/// Writes an amount below one as cents: `$0.50` as `¢50`. Between the zero and the cents may be any character.
fn write_cents(from: &str, to: &mut String) -> bool {
    let mut copied = 0;
    for (index, currency) in from.match_indices(CURRENCIES) {
        let Some(after) = from[index + currency.len()..].strip_prefix('0') else {
            continue;
        };
        let mut cents = after.chars();
        let point = cents.next();
        let cents = cents.as_str();
        if let Some(digits) = one_or_two_digits(cents)
            && index >= copied
            && point != Some('\n')
        {
            to.push_str(&from[copied..index]);
            to.push('¢');
            to.push_str(match digits.trim_start_matches('0') {
                "" => "0",
                number => number,
            });
            copied = from.len() - cents.len() + digits.len();
        }
    }
    to.push_str(&from[copied..]);
    copied > 0
}

/// Writes `1` and `1s` between boundaries as words.
fn write_one(from: &str, to: &mut String) -> bool {
    let mut copied = 0;
    for (index, _) in from.match_indices('1') {
        let after = &from[index + 1..];
        let after = after.strip_prefix('s').unwrap_or(after);
        if !after.starts_with(is_word) && !from[..index].ends_with(is_word) {
            to.push_str(&from[copied..index]);
            to.push_str("one");
            copied = index + 1;
        }
    }
    to.push_str(&from[copied..]);
    copied > 0
}

/// A word as a numeral: its mark, and digits with or without a point among them.
fn numeral(word: &str) -> Option<(Option<char>, &str)> {
    let mark = word.chars().next()?;
    let mark = Some(mark).filter(|mark| ['-', '+', '£', '€', '$', '¢'].contains(mark));
    let digits = &word[mark.map_or(0, char::len_utf8)..];
    if !digits.starts_with(is_digit) {
        return None;
    }
    let is_digits = |digits: &str| !digits.is_empty() && digits.chars().all(is_digit);
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    (is_digits(whole) && is_digits(decimals)).then_some((mark, digits))
}

fn is_digit(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_digit()
    } else {
        is(c, DECIMAL)
    }
}

/// The digit as an ASCII digit. The digits of a script follow each other, from 0 to 9.
fn ascii(digit: char) -> char {
    if digit.is_ascii() {
        return digit;
    }
    let before = ('\0'..digit).rev().take_while(|c| is_digit(*c)).count();
    char::from_digit((before % 10) as u32, 10).unwrap_or('0')
}

/// A number that is being read.
#[derive(Default)]
struct Value {
    kind: Kind,
    /// Its digits, for a whole number without leading zeros, and points.
    text: String,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Kind {
    #[default]
    Nothing,
    /// A whole number of any size.
    Whole,
    /// Digits with any number of points.
    Text,
}

impl Value {
    fn set_whole(&mut self, digits: impl IntoIterator<Item = char>) {
        self.kind = Kind::Whole;
        self.text.clear();
        self.text.extend(digits);
        self.cut_zeros();
    }

    /// Removes zeros at the start of a whole number.
    fn cut_zeros(&mut self) {
        let zeros = self.text.len() - self.text.trim_start_matches('0').len();
        self.text.drain(..zeros);
        if self.text.is_empty() {
            self.text.push('0');
        }
    }

    /// Makes the value a text, which is empty for nothing and for 0.
    fn make_text(&mut self) -> &mut String {
        if self.kind == Kind::Nothing || self.kind == Kind::Whole && self.text == "0" {
            self.text.clear();
        }
        self.kind = Kind::Text;
        &mut self.text
    }

    /// Adds a number of up to two digits to a whole number if it has zeros there. Otherwise its digits follow.
    fn add(&mut self, number: u8) {
        let number = number.to_string();
        let has_room = match number.len() {
            1 => self.text.ends_with('0'),
            _ => self.text.ends_with("00") || self.text == "0",
        };
        match self.kind {
            Kind::Nothing => self.set_whole(number.chars()),
            Kind::Whole if has_room => {
                let kept = self.text.len().saturating_sub(number.len());
                self.text.truncate(kept);
                self.text.push_str(&number);
            }
            Kind::Whole | Kind::Text => {
                self.kind = Kind::Text;
                self.text.push_str(&number);
            }
        }
    }

    /// Adds a number from 0 to 19.
    fn add_ones(&mut self, number: u8, previous: Option<Number>) {
        match (self.kind, previous) {
            (Kind::Text, Some(Number::Tens(_, ""))) if number < 10 => {
                self.text.pop();
                self.text.push_str(&number.to_string());
            }
            (Kind::Whole, Some(Number::Ones(_, ""))) => {
                self.kind = Kind::Text;
                self.add(number);
            }
            _ => self.add(number),
        }
    }

    /// Multiplies by a power of ten. Returns `false` and leaves the value if it is a text whose product is not whole.
    fn scale(&mut self, power: usize) -> bool {
        match self.kind {
            Kind::Nothing => self.text.push('1'),
            Kind::Whole => {
                self.scale_whole(power);
                return true;
            }
            Kind::Text => {
                let Some(point) = self.text.find('.') else {
                    return self.scale_digits(None, power);
                };
                if self.text[point + 1..].contains('.') || self.text == "." {
                    return false;
                }
                return self.scale_digits(Some(point), power);
            }
        }
        self.kind = Kind::Whole;
        self.push_zeros(power);
        true
    }

    fn push_zeros(&mut self, count: usize) {
        self.text.extend(std::iter::repeat_n('0', count));
    }

    /// Multiplies digits with at most one point, which is here.
    fn scale_digits(&mut self, point: Option<usize>, power: usize) -> bool {
        let decimals = point.map_or(0, |point| {
            let decimals = self.text[point + 1..].trim_end_matches(|c| ascii(c) == '0');
            decimals.chars().count()
        });
        if decimals > power {
            return false;
        }
        if let Some(point) = point {
            let after = self.text[point + 1..].chars().take(decimals);
            let end = point + 1 + after.map(char::len_utf8).sum::<usize>();
            self.text.truncate(end);
            self.text.remove(point);
        }
        if !self.text.is_ascii() {
            self.text = self.text.chars().map(ascii).collect();
        }
        self.kind = Kind::Whole;
        self.push_zeros(power - decimals);
        self.cut_zeros();
        true
    }

    /// Multiplies what a whole number has below 1000, and adds it to the rest.
    fn scale_whole(&mut self, power: usize) {
        let thousands = self.text.len().saturating_sub(3);
        let low = self.text.split_off(thousands);
        let is_zero = low.bytes().all(|digit| digit == b'0');
        if thousands == 0 || is_zero {
            self.text.push_str(&low);
            if !is_zero {
                self.push_zeros(power);
            }
            return;
        }
        self.text.push_str("000");
        let mut digits = mem::take(&mut self.text).into_bytes();
        if digits.len() < low.len() + power {
            let zeros = low.len() + power - digits.len();
            digits.splice(..0, std::iter::repeat_n(b'0', zeros));
        }
        let mut carry = 0;
        let mut added = low.bytes().rev();
        for digit in digits.iter_mut().rev().skip(power) {
            let next = added.next();
            if next.is_none() && carry == 0 {
                break;
            }
            let sum = *digit - b'0' + next.map_or(0, |next| next - b'0') + carry;
            *digit = b'0' + sum % 10;
            carry = sum / 10;
        }
        if carry > 0 {
            digits.insert(0, b'1');
        }
        self.text = String::from_utf8(digits).unwrap_or_default();
        self.cut_zeros();
    }
}

/// Writes words, with numbers as digits.
struct Writer<'o> {
    to: &'o mut String,
    value: Value,
    /// A sign or a currency for the next word.
    prefix: Option<char>,
}

impl<'o> Writer<'o> {
    fn new(to: &'o mut String) -> Self {
        Self {
            to,
            value: Value::default(),
            prefix: None,
        }
    }

    /// Writes the value, a word or an ending, and forgets the value.
    fn emit(&mut self, text: &str) {
        if !self.to.is_empty() {
            self.to.push(' ');
        }
        self.to.extend(self.prefix.take());
        if self.value.kind != Kind::Nothing {
            self.to.push_str(&self.value.text);
        }
        self.to.push_str(text);
        self.value.kind = Kind::Nothing;
        self.value.text.clear();
    }

    /// Writes the value if there is one.
    fn flush(&mut self) {
        if self.value.kind != Kind::Nothing {
            self.emit("");
        }
    }

    fn write(&mut self, from: &str, rules: &Rules) {
        let mut words = split(from).map(|word| {
            let known = rules.get(word);
            let spelling = known.and_then(|known| known.spelling);
            (
                spelling.unwrap_or(word),
                known.and_then(|known| known.number),
            )
        });
        let mut previous = None;
        let mut current = words.next();
        let mut next = words.next();
        while let Some((word, number)) = current {
            let is_next_read = match number {
                Some(number) => self.number(word, number, previous, next),
                None => {
                    self.word(word);
                    false
                }
            };
            if is_next_read {
                previous = next.and_then(|(_, number)| number);
                current = words.next();
            } else {
                previous = number;
                current = next;
            }
            next = words.next();
        }
        self.flush();
    }

    /// Reads a numeral, or writes another word that is not a number.
    fn word(&mut self, word: &str) {
        let Some((mark, digits)) = numeral(word) else {
            self.flush();
            return self.emit(word);
        };
        let value = &mut self.value;
        if value.kind == Kind::Text && value.text.ends_with('.') {
            return value.text.push_str(word);
        }
        self.flush();
        self.prefix = mark.or(self.prefix);
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
        if decimals.chars().all(|c| ascii(c) == '0') {
            self.value.set_whole(whole.chars().map(ascii));
        } else {
            self.value.make_text().push_str(digits);
        }
    }

    /// Reads a word of a number. Returns whether the next word was read with it.
    fn number(
        &mut self,
        word: &str,
        number: Number,
        previous: Option<Number>,
        next: Option<(&str, Option<Number>)>,
    ) -> bool {
        let has_value = self.value.kind != Kind::Nothing;
        let next_number = next.and_then(|(_, number)| number);
        let next_is_numeral = || {
            let numeral = next.and_then(|(next, _)| numeral(next));
            numeral.is_some_and(|(mark, _)| mark.is_none())
        };
        let follows = || next_number.is_some() || next_is_numeral();
        match number {
            Number::Zero => self.value.make_text().push('0'),
            Number::Ones(number, ending) => {
                self.value.add_ones(number, previous);
                self.end(ending);
            }
            Number::Tens(number, ending) => {
                self.value.add(number);
                self.end(ending);
            }
            Number::Scale(power, ending) => {
                if !self.value.scale(power) {
                    self.emit("");
                    self.value.scale(power);
                }
                self.end(ending);
            }
            Number::Sign(sign) => {
                self.flush();
                if follows() {
                    self.prefix = Some(sign);
                } else {
                    self.emit(word);
                }
            }
            Number::Unit(sign) if has_value => {
                self.prefix = Some(sign);
                self.emit("");
            }
            Number::Percent if has_value => self.emit("%"),
            Number::Unit(_) | Number::Percent => self.emit(word),
            Number::Per if has_value && next.is_some_and(|(next, _)| next == "cent") => {
                self.emit("%");
                return true;
            }
            Number::And if follows() && matches!(previous, Some(Number::Scale(_, ""))) => {}
            Number::Repeat(times) if follows() => {
                let digits = match next_number {
                    Some(Number::Zero) => 0,
                    Some(Number::Ones(digits, "")) => digits,
                    _ => {
                        self.flush();
                        self.emit(word);
                        return false;
                    }
                };
                let text = self.value.make_text();
                text.push_str(&digits.to_string().repeat(times));
                return true;
            }
            Number::Point if follows() => {
                if next_number.is_some_and(Number::is_decimal) || next_is_numeral() {
                    self.value.make_text().push('.');
                }
            }
            Number::Per | Number::And | Number::Repeat(_) | Number::Point => {
                self.flush();
                self.emit(word);
            }
        }
        false
    }

    /// Writes the value with an ending, if there is one.
    fn end(&mut self, ending: &str) {
        if !ending.is_empty() {
            self.emit(ending);
        }
    }
}
