//! Shapes of input: what all metrics over the same kind of values share, from reading a record to the nearest misses of
//! a report. A metric on a shape is its formula.

pub(crate) mod texts;

pub use texts::{TextMetric, texts};
