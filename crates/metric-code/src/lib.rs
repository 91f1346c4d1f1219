#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "all-languages"),
    allow(
        dead_code,
        unused_imports,
        reason = "not every language uses every part"
    )
)]

#[allow(
    unsafe_code,
    reason = "bounds the memory of a parser in C: see the module"
)]
mod bounded;
mod classes;
mod codebleu;
mod comments;
mod dataflow;
mod hash;
mod language;
#[cfg(test)]
mod laws;
mod ngram;
mod parse;
mod pass_at_k;
mod profile;
#[cfg(test)]
mod programs;
mod rules;
mod stack;
mod syntax;
mod table;
mod text;
mod tokens;
mod tree;

pub use codebleu::{
    CodeBleu, CodeBleuScore, CodeBleuState, Examples, InvalidWeights, Weights, codebleu,
    dataflow_match, syntax_match,
};
pub use comments::CommentRule;
pub use dataflow::{Edge, Relation};
pub use language::Language;
pub use ngram::{Keywords, NgramCounts, ngram_match, weighted_precision, weighted_recall};
pub use pass_at_k::{MAX_SAMPLES, TaskCounts, pass_all_at_k, pass_at_k};
pub use profile::CodeBleuProfile;
pub use text::{InvalidReferences, MAX_TEXT_BYTES, Prediction, References, TextTooLong};
pub use tree::SyntaxTree;

pub use metric_core::{Merge, Metric, NamedScores};

/// The version of this crate, as it appears in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
