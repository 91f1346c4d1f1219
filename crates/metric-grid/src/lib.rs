#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod arc;
mod grid;

pub use arc::{
    ArcGrids, ArcScore, ArcState, Attempt, CellMatches, cell_accuracy, cell_matches, exact_match,
};
pub use grid::{COLOURS, Grid, InvalidGrid, MAX_SIDE, MIN_SIDE};

/// The version of this crate, as it stands in signatures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
