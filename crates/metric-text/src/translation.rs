//! The parts that metrics of generated text share: tokens, their numbers, and the number of references.

mod ngrams;
mod references;
mod split;

pub(crate) use ngrams::{Vocabulary, for_each_shared, ngram_count};
pub use references::ReferenceCounts;
pub(crate) use split::{Class, is_space, split, unescape, western};
