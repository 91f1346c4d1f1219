//! Shapes of input: what all metrics over the same kind of values share, from reading a record to the nearest misses of
//! a report. A metric on a shape is its formula.

#[cfg(feature = "text")]
pub(crate) mod generated;
#[cfg(feature = "vision")]
pub(crate) mod images;
#[cfg(feature = "segmentation")]
pub(crate) mod label_maps;
#[cfg(feature = "class")]
pub(crate) mod label_scores;
#[cfg(feature = "class")]
pub(crate) mod label_sets;
#[cfg(feature = "class")]
pub(crate) mod labels;
#[cfg(any(
    feature = "class",
    feature = "code",
    feature = "number",
    feature = "rank",
    feature = "text"
))]
mod measured;
#[cfg(feature = "number")]
pub(crate) mod number_pairs;
#[cfg(feature = "text")]
pub(crate) mod questions;
#[cfg(feature = "class")]
pub(crate) mod ranked;
#[cfg(feature = "code")]
pub(crate) mod samples;
#[cfg(feature = "class")]
pub(crate) mod scores;
#[cfg(feature = "text")]
pub(crate) mod sessions;
#[cfg(feature = "text")]
pub(crate) mod texts;
#[cfg(feature = "rank")]
pub(crate) mod topics;
#[cfg(any(feature = "class", feature = "number"))]
pub(crate) mod weights;

#[cfg(any(
    feature = "class",
    feature = "code",
    feature = "number",
    feature = "rank",
    feature = "text"
))]
pub(crate) use measured::Measured;
#[cfg(feature = "text")]
pub use texts::{Note, Notice, References, TextExample, TextMetric, texts};
