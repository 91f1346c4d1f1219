//! The common parts of the fuzz targets: how bytes become input, and laws that every metric keeps.

use std::fmt::Debug;

use metric_core::{Merge, Metric};
use metric_registry::{ENTRIES, Entry, find};

/// One of `all`, by a byte that is counted starting at `a`.
pub fn choose<T: Copy>(all: &[T], byte: u8) -> T {
    *choose_of(all, byte)
}

fn choose_of<T>(all: &[T], byte: u8) -> &T {
    &all[usize::from(byte.wrapping_sub(b'a')) % all.len()]
}

/// The metric of this name; of another name, one that its first byte chooses.
pub fn choose_entry(name: &str) -> &'static Entry {
    find(name).unwrap_or_else(|| choose_of(ENTRIES, name.bytes().next().unwrap_or_default()))
}

/// The parts of a text, between lines of `@` alone.
pub fn parts(text: &str) -> Vec<&str> {
    text.split("\n@\n").collect()
}

/// A score, if it is defined, is from 0 to 1.
#[track_caller]
pub fn fraction(score: Option<f64>) {
    assert!(
        score.is_none_or(|score| (0.0..=1.0).contains(&score)),
        "{score:?}"
    );
}

/// The state of all examples, which is the same from the first to the last and merged from two
/// parts from the last to the first, either to the other.
#[track_caller]
pub fn pooled<M>(metric: &M, examples: &[(&M::Prediction, &M::Reference)]) -> M::State
where
    M: Metric<State: Clone + PartialEq + Debug>,
{
    let mut state = M::State::default();
    for (prediction, reference) in examples {
        metric.update(&mut state, prediction, reference);
    }
    let mut parts = [M::State::default(), M::State::default()];
    for (index, (prediction, reference)) in examples.iter().rev().enumerate() {
        metric.update(&mut parts[index % 2], prediction, reference);
    }
    let [mut one, mut other] = parts;
    let first = one.clone();
    one.merge(other.clone());
    other.merge(first);
    assert_eq!(state, one);
    assert_eq!(state, other);
    state
}

/// Numbers from bytes: a byte below 64 is that integer, one below 128 one of [`SPECIAL`], and one
/// of at least 128 comes before the eight bytes of a number.
pub struct Numbers<'a>(pub &'a [u8]);

/// Numbers that break arithmetic.
pub const SPECIAL: [f64; 24] = [
    0.0,
    -0.0,
    0.5,
    -1.0,
    0.1,
    0.3,
    1.0 / 3.0,
    45.0,
    f64::EPSILON,
    1.0 + f64::EPSILON,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    1e300,
    -1e300,
    1e154,
    1e-160,
    9_007_199_254_740_992.0,
    1e16,
    std::f64::consts::PI,
];

impl Iterator for Numbers<'_> {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let (&tag, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(match tag {
            0..64 => f64::from(tag),
            64..128 => SPECIAL[usize::from(tag - 64) % SPECIAL.len()],
            _ => {
                let (bytes, rest) = rest.split_first_chunk()?;
                self.0 = rest;
                f64::from_le_bytes(*bytes)
            }
        })
    }
}

impl Numbers<'_> {
    /// So many numbers, 0 where there are no more.
    pub fn take_array<const N: usize>(&mut self) -> [f64; N] {
        [0.0; N].map(|zero| self.next().unwrap_or(zero))
    }

    /// A whole number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        // The cast keeps to the range of u8.
        usize::from(self.next().unwrap_or(0.0) as u8) % end
    }
}

/// Scores a source of pairs on one thread and on two: the same result, or the same error.
#[track_caller]
pub fn same_on_threads(source: impl Fn() -> metric_run::Source, fields: &metric_run::Fields) {
    let score = |threads| {
        let entry = metric_run::registry::find("string-accuracy").expect("a metric");
        let options = metric_run::registry::Options::default();
        let mut run = metric_run::Run::new(entry, &options).expect("a run");
        run.threads = std::num::NonZeroUsize::new(threads);
        run.fields = fields.clone();
        let outcomes = run.score(source(), source());
        outcomes
            .map(|outcomes| outcomes[0].to_json())
            .map_err(|error| error.to_string())
    };
    let one = score(1);
    assert!(one.as_ref().err().is_none_or(|error| !error.is_empty()));
    assert_eq!(one, score(2));
}
