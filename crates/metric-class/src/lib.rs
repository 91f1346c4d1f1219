#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod top_k;

pub use top_k::{AccuracyAtK, InvalidK, Ranks, TopKError, accuracy_at_k, label_rows};

/// The version of this crate, as it stands in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
