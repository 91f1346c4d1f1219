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

/// Writes the choices of an enum as they stand in error messages.
fn list<T: std::fmt::Display>(f: &mut std::fmt::Formatter<'_>, choices: &[T]) -> std::fmt::Result {
    for (place, choice) in choices.iter().enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        write!(f, "{comma}{choice}")?;
    }
    Ok(())
}
