//! Arithmetic whose last bits depend on the order that numpy takes.

pub(crate) use metric_core::{pairwise_sum, pairwise_sum_of};
