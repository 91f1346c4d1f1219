//! Replicates of a state whose examples are kept, and trials of two states.
//!
//! A replicate is never stored: it is one state, and its scores are read from it. So memory does not grow with the
//! number of replicates, whatever the size of a state. Examples that add the same to the counts are merged at once, as
//! often as they count together.

mod amounts;
mod columns;
mod exchanges;
mod replicates;
mod table;

use std::collections::BTreeSet;

pub(crate) use amounts::Amounts;
pub use exchanges::{Compared, Exchanges, Paired};
pub use replicates::{Draws, Resampler};
pub(crate) use table::Table;

/// A score of the whole data or of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The kind of group and the group; `None` for the whole data.
    pub group: Option<(String, String)>,
    /// The name of the score.
    pub score: String,
    /// Its value; `None` is undefined.
    pub value: Option<f64>,
    /// The number of clusters with a record of the group.
    pub clusters: u64,
}

/// Examples that are resampled by themselves: all of them, or those of a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// The kind of group and the group; `None` for all examples.
    pub group: Option<(String, String)>,
    /// The number of clusters.
    pub clusters: u64,
    /// The scores. Those of groups that a metric finds in the whole data follow those of the data.
    pub columns: Vec<Column>,
    /// Whether each record is one example and a cluster.
    pub is_simple: bool,
    /// The counts to which each example adds exactly 1.
    pub unit_counts: BTreeSet<String>,
}
