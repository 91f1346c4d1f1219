//! Labels.

pub(crate) mod classification;
pub(crate) mod ranked;
mod tally;
