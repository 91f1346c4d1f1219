#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod anls;
pub mod bleu;
mod characters;
pub mod chrf;
pub mod edit;
mod edit_similarity;
mod exact;
mod exact_match;
#[cfg(feature = "regex")]
mod extract;
#[cfg(feature = "regex")]
mod fence;
mod last_number;
#[cfg(test)]
mod laws;
pub mod normalize;
#[cfg(feature = "regex")]
mod python_re;
#[cfg(not(feature = "regex"))]
#[path = "python_re/absent.rs"]
mod python_re;
#[cfg(feature = "read")]
pub mod read;
mod relaxed;
pub mod rouge;
pub mod speakers;
pub mod squad;
pub mod ter;
mod translation;
pub mod votes;
pub mod vqa;
pub mod vqa_tables;

pub use anls::{Anls, anls};
pub use bleu::{Bleu, bleu, sentence_bleu};
pub use chrf::{Chrf, chrf};
pub use edit::{EditRate, Edits, Unit, cer, edit_distance, edit_distance_within, wer};
pub use edit_similarity::{EditSimilarity, edit_similarity};
pub use exact::{StringAccuracy, string_accuracy};
pub use exact_match::{ExactMatch, exact_match};
#[cfg(feature = "regex")]
pub use extract::Extract;
pub use last_number::last_number;
pub use normalize::Normalizer;
pub use python_re::{PythonRegex, TooManySteps};
pub use relaxed::{RelaxedAccuracy, relaxed_match};
pub use rouge::{Rouge, rouge_l, rouge_lsum, rouge_n};
pub use speakers::{CpWer, DiCpWer, OrcWer, cpwer, dicpwer, orcwer};
pub use squad::{Squad, squad_f1};
pub use ter::{Ter, ter};
pub use vqa::{VqaAccuracy, vqa_accuracy};

pub use metric_core::{Merge, Metric, NamedScores};

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
