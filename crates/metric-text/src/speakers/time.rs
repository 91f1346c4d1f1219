//! Times of words, exactly.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Digits after the decimal point of a second.
const DIGITS: usize = 15;
const SECOND: i128 = 10_i128.pow(DIGITS as u32);
/// The most digits of a time, so that products with numbers of characters do not overflow.
const MOST_DIGITS: i64 = 27;

/// A time in seconds. It is a decimal number, exact to 10^-15 s: whether two words meet can depend on whether times are
/// equal, and 0.1 + 0.2 is not 0.3 in binary floating point.
///
/// Written as a decimal number; further digits are rounded. Times are less than 10^12 seconds from 0.
///
/// ```
/// use metric_text::speakers::Time;
///
/// let time: Time = "1.50".parse()?;
/// assert_eq!(time.to_string(), "1.5");
/// assert_eq!("15e-1".parse(), Ok(time));
/// assert!("1e300".parse::<Time>().is_err());
/// # Ok::<(), metric_text::speakers::InvalidTime>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub(super) i128);

impl Time {
    /// The units of a second.
    pub const SECOND: i128 = SECOND;

    /// Returns the time in units of 10^-15 s, for exact sums.
    #[must_use]
    pub fn units(self) -> i128 {
        self.0
    }

    /// Returns the time in seconds, as the nearest number that a double has.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.to_string().parse().unwrap_or_default()
    }
}

impl FromStr for Time {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        parse(text)
            .map(Self)
            .ok_or_else(|| InvalidTime(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<i128> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(decimals.bytes());
    if digits().next().is_none() || !digits().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    // The number of digits that count, of all that are written.
    let exponent: i64 = exponent.parse().ok()?;
    let kept = exponent
        .checked_add(i64::try_from(whole.len()).ok()?)?
        .checked_add(DIGITS as i64)?;
    let zeros = digits().take_while(|digit| *digit == b'0').count();
    let is_zero = zeros == whole.len() + decimals.len();
    if is_zero || kept < 0 {
        return Some(0);
    }
    if kept.checked_sub(i64::try_from(zeros).ok()?)? > MOST_DIGITS {
        return None;
    }
    let mut digits = digits()
        .chain(std::iter::repeat(b'0'))
        .map(|digit| i128::from(digit - b'0'));
    let kept = digits.by_ref().take(usize::try_from(kept).ok()?);
    let units = kept.fold(0, |units, digit| 10 * units + digit);
    let units = units + i128::from(digits.next()? >= 5);
    Some(if text.starts_with('-') { -units } else { units })
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, decimals) = (self.0.abs() / SECOND, self.0.abs() % SECOND);
        if decimals == 0 {
            return write!(f, "{sign}{whole}");
        }
        let decimals = format!("{decimals:0DIGITS$}");
        write!(f, "{sign}{whole}.{}", decimals.trim_end_matches('0'))
    }
}

/// The error for a text that is not a decimal number less than 10^12 from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTime(pub String);

impl fmt::Display for InvalidTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "invalid time {:?}: expected a decimal number of seconds, less than 10^12",
            self.0
        )
    }
}

impl std::error::Error for InvalidTime {}

/// A point in time that divides a segment: a time and a fraction of the next unit of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instant {
    whole: i128,
    part: u64,
    parts: u64,
}

impl Instant {
    /// The point after `part` of `parts` equal parts of the time from `start` to `end`, moved by `by`.
    pub(super) fn between(start: Time, end: Time, part: u64, parts: u64, by: i128) -> Self {
        let (total, divisor) = ((end.0 - start.0) * i128::from(part), i128::from(parts));
        Self {
            whole: start.0 + by + total.div_euclid(divisor),
            part: total.rem_euclid(divisor) as u64,
            parts,
        }
    }
}

impl Ord for Instant {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.whole.cmp(&other.whole).then_with(|| {
            let product = |part, parts| u128::from(part) * u128::from(parts);
            product(self.part, other.parts).cmp(&product(other.part, self.parts))
        })
    }
}

impl PartialOrd for Instant {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Instant {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Instant {}

/// The time of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) start: Instant,
    pub(super) end: Instant,
}

impl Interval {
    /// Whether two intervals have more than an end in common.
    #[inline]
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.start < other.end && self.end > other.start
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_by_hand() {
        let rows = [
            ("0", Some(0)),
            ("-0.0", Some(0)),
            ("1", Some(SECOND)),
            ("+.5", Some(SECOND / 2)),
            ("2.", Some(2 * SECOND)),
            ("1e-15", Some(1)),
            ("-4.9e-16", Some(0)),
            ("-5e-16", Some(-1)),
            ("1e-1000000000000", Some(0)),
            ("0e99999", Some(0)),
            ("0000000000000000000000000000000000001", Some(SECOND)),
            ("999999999999", Some(999_999_999_999 * SECOND)),
            ("1e12", None),
            ("1e300", None),
            ("", None),
            (".", None),
            ("-", None),
            ("NaN", None),
            ("inf", None),
            ("1 ", None),
            ("1.2.3", None),
            ("٣", None),
        ];
        for (text, expected) in rows {
            assert_eq!(parse(text), expected, "{text:?}");
        }
        assert_eq!(Time(-SECOND / 4).to_string(), "-0.25");
        assert_eq!(Time(1).to_string(), "0.000000000000001");
    }

    #[test]
    fn instants_by_hand() {
        let at = |start: &str, end: &str, part, parts| {
            Instant::between(start.parse().unwrap(), end.parse().unwrap(), part, parts, 0)
        };
        // A third of 0.3, and of 0.1 after 0.
        assert_eq!(at("0", "0.3", 1, 3), at("0", "0.1", 1, 1));
        assert!(at("0", "0.1", 1, 3) < at("0", "0.1", 2, 5));
        assert!(at("-1", "1", 1, 3) < at("-0.3333333333333333", "0", 0, 1));
        let word = |start, end| Interval {
            start: at("0", "10", start, 10),
            end: at("0", "10", end, 10),
        };
        assert!(word(0, 2).meets(&word(1, 1)) && word(1, 1).meets(&word(0, 2)));
        assert!(!word(0, 2).meets(&word(2, 3)) && !word(1, 1).meets(&word(1, 1)));
    }

    proptest! {
        #[test]
        fn times_are_read_as_written(units in -10_i128.pow(26)..10_i128.pow(26), any in any::<String>()) {
            let time = Time(units);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
            let _ = any.parse::<Time>();
        }
    }
}
