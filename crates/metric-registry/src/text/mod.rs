//! Text, transcripts and answers.

pub(crate) mod answers;
pub(crate) mod edit;
pub(crate) mod prepare;
pub(crate) mod string_accuracy;
