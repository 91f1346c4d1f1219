//! Tests across all crates; see the files next to this one. The README's examples are compiled
//! here.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
