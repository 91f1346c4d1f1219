#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod accuracy;
pub mod assignment;
mod boundary;
pub mod boxes;
mod choice;
mod counts;
mod key;
// The laws are one file, to which the crates with states link.
#[cfg(test)]
extern crate self as metric_core;

#[cfg(test)]
mod laws;
mod merge;
mod metric;
mod named;
mod numpy;
pub mod parallel;
mod per_class;
mod setters;
mod sum;
mod threads;
mod weighted;
mod written;

pub use accuracy::Accuracy;
pub use boundary::boundary_distance;
pub use choice::{Choice, UnknownChoice};
pub use counts::{Counts, ratio};
pub use key::Key;
pub use merge::{Addends, Merge};
pub use metric::Metric;
pub use named::NamedScores;
pub use numpy::{pairwise_sum, pairwise_sum_of};
pub use per_class::{MacroAverage, PerClass};
pub use sum::{Mean, Sum};
pub use threads::{is_on_this_thread, on_this_thread};
pub use weighted::{RowSource, WeightedRows};
#[doc(hidden)]
pub use written::is_default;
pub use written::{Malformed, Reader, Writer, Written, from_bytes, to_bytes};

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
