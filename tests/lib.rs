//! Tests across all crates; see the files beside this one.
