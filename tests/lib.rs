//! Tests across all crates; see the files next to this one. The examples of the guide for Rust are compiled here.

#[cfg(doctest)]
#[doc = include_str!("../docs/guides/rust.md")]
struct RustGuide;
