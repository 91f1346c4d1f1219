//! Benchmarks of all crates; see the files next to this one.
