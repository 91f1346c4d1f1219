#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod beta;
mod bootstrap;
mod interval;
mod paired;
mod random;

pub use bootstrap::replicates;
pub use interval::{
    Estimate, IntervalKind, Method, NoInterval, clopper_pearson, estimate, expanded_tail,
    least_resamples, order_interval, proportion, rank, standard_error, wilson,
};
pub use paired::{
    Pair, Randomization, TOLERANCE, Test, Trials, assigned, holm, is_extreme, mcnemar, trials,
};
pub use random::{Swaps, THRESHOLDS, Weights, fnv1a64, splitmix64};
