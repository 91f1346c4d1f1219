#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod exact;
pub mod normalize;
pub mod vqa;
pub mod vqa_tables;

pub use exact::{StringAccuracy, string_accuracy};
pub use normalize::Normalizer;
pub use vqa::VqaAccuracy;

/// The version of this crate, as it stands in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
