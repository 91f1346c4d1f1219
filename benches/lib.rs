//! Benchmarks of all crates; see the files beside this one.
