use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bytesize::ByteSize;
use serde::de::{Deserializer, Unexpected, Visitor};
use serde::{Deserialize, Serialize};

/// The most that one task may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds on the clock.
    pub seconds: u64,
    /// Seconds of CPU time, of all threads together; `None` for `seconds` on each thread.
    pub cpu_seconds: Option<u64>,
    /// Bytes of address space.
    pub memory: u64,
    /// Bytes of the prediction files, after they are taken out of an archive.
    pub bytes: u64,
    /// Bytes of the result.
    pub output: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            seconds: 600,
            cpu_seconds: None,
            memory: 4_000_000_000,
            bytes: 1_000_000_000,
            output: 16_000_000,
        }
    }
}

impl Limits {
    /// Returns the time on the clock.
    #[must_use]
    pub fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// Returns the seconds of CPU time on a number of threads.
    #[must_use]
    pub fn cpu_seconds(&self, threads: usize) -> u64 {
        let of_threads = self.seconds.saturating_mul(threads.max(1) as u64);
        self.cpu_seconds.unwrap_or(of_threads)
    }
}

/// The limits that somebody gives; the others keep their values.
///
/// ```
/// use metric_judge::{GivenLimits, Limits};
///
/// let given: GivenLimits = "seconds=60,memory=2GB".parse()?;
/// let limits = given.or(Limits::default());
/// assert_eq!((limits.seconds, limits.memory), (60, 2_000_000_000));
/// assert!("seconds=0".parse::<GivenLimits>().is_err());
/// # Ok::<(), metric_judge::InvalidLimit>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GivenLimits {
    seconds: Option<Seconds>,
    cpu_seconds: Option<Seconds>,
    memory: Option<Bytes>,
    bytes: Option<Bytes>,
    output: Option<Bytes>,
}

impl GivenLimits {
    /// Returns limits with those that are given in place of others.
    #[must_use]
    pub fn or(&self, others: Limits) -> Limits {
        Limits {
            seconds: self.seconds.map_or(others.seconds, |it| it.0),
            cpu_seconds: self.cpu_seconds.map(|it| it.0).or(others.cpu_seconds),
            memory: self.memory.map_or(others.memory, |it| it.0),
            bytes: self.bytes.map_or(others.bytes, |it| it.0),
            output: self.output.map_or(others.output, |it| it.0),
        }
    }
}

/// A list of limits that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidLimit(String);

impl fmt::Display for InvalidLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidLimit {}

impl FromStr for GivenLimits {
    type Err = InvalidLimit;

    /// Reads limits as `seconds=60,memory=2GB`.
    fn from_str(text: &str) -> Result<Self, InvalidLimit> {
        let mut limits = Self::default();
        for part in text.split(',') {
            let invalid = |expected: &str| InvalidLimit(format!("{part:?}: expected {expected}"));
            let example = "NAME=VALUE, for example seconds=60";
            let (name, value) = part.split_once('=').ok_or_else(|| invalid(example))?;
            let seconds = || Seconds::read(value).ok_or_else(|| invalid(Seconds::EXPECTED));
            let bytes = || Bytes::read(value).ok_or_else(|| invalid(Bytes::EXPECTED));
            match name {
                "seconds" => limits.seconds = Some(seconds()?),
                "cpu-seconds" => limits.cpu_seconds = Some(seconds()?),
                "memory" => limits.memory = Some(bytes()?),
                "bytes" => limits.bytes = Some(bytes()?),
                "output" => limits.output = Some(bytes()?),
                _ => {
                    let names = "one of seconds, cpu-seconds, memory, bytes, output";
                    return Err(invalid(names));
                }
            }
        }
        Ok(limits)
    }
}

/// A number of seconds, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seconds(u64);

impl Seconds {
    const EXPECTED: &str = "a whole number of seconds from 1 to 31536000";

    fn read(text: &str) -> Option<Self> {
        Self::new(text.trim().parse().ok()?)
    }

    /// At most a year: sums of such numbers do not overflow.
    fn new(seconds: u64) -> Option<Self> {
        (1..=31_536_000).contains(&seconds).then_some(Self(seconds))
    }
}

/// A number of bytes, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes(u64);

impl Bytes {
    const EXPECTED: &str = "a size such as \"500MB\" or \"2GB\"";

    fn read(text: &str) -> Option<Self> {
        let size: ByteSize = text.trim().parse().ok()?;
        Self::new(size.as_u64())
    }

    fn new(bytes: u64) -> Option<Self> {
        (bytes > 0).then_some(Self(bytes))
    }
}

/// A limit is an integer, or a string that has a unit.
struct LimitVisitor<T> {
    expected: &'static str,
    of_integer: fn(u64) -> Option<T>,
    of_text: fn(&str) -> Option<T>,
}

impl<T> Visitor<'_> for LimitVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_i64<E: serde::de::Error>(self, integer: i64) -> Result<T, E> {
        let value = u64::try_from(integer).ok().and_then(self.of_integer);
        value.ok_or_else(|| E::invalid_value(Unexpected::Signed(integer), &self))
    }

    fn visit_u64<E: serde::de::Error>(self, integer: u64) -> Result<T, E> {
        let value = (self.of_integer)(integer);
        value.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(integer), &self))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        let value = (self.of_text)(text);
        value.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LimitVisitor {
            expected: Self::EXPECTED,
            of_integer: Self::new,
            of_text: |_| None,
        })
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LimitVisitor {
            expected: Self::EXPECTED,
            of_integer: Self::new,
            of_text: Self::read,
        })
    }
}

/// A size for people, in decimal units: `2 GB`.
pub(crate) fn size(bytes: u64) -> String {
    let size = ByteSize(bytes).display().si().to_string();
    size.replace(".0 ", " ")
}
