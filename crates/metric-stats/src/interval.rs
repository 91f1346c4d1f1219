//! Confidence intervals: of scores from bootstrap replicates, and of proportions by formulas.

use std::fmt;

use metric_core::named_choice;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::beta::beta_quantile;

/// The interval to compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IntervalKind {
    /// Wilson's interval for proportions, and expanded percentiles for other scores.
    #[default]
    Auto,
    /// Expanded percentiles of the replicates, for proportions as well.
    Expanded,
    /// Percentiles of the replicates, for proportions as well.
    Percentile,
    /// Clopper and Pearson's interval for proportions, and expanded percentiles for other scores.
    ClopperPearson,
}

impl IntervalKind {
    /// All kinds.
    pub const ALL: &[Self] = &[
        Self::Auto,
        Self::Expanded,
        Self::Percentile,
        Self::ClopperPearson,
    ];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Expanded => "expanded",
            Self::Percentile => "percentile",
            Self::ClopperPearson => "clopper-pearson",
        }
    }

    /// Returns the method for proportions.
    #[must_use]
    pub const fn of_proportions(self) -> Method {
        match self {
            Self::Auto => Method::Wilson,
            Self::ClopperPearson => Method::ClopperPearson,
            Self::Expanded | Self::Percentile => self.of_replicates(),
        }
    }

    /// Returns the method for scores that are not proportions, and for differences.
    #[must_use]
    pub const fn of_replicates(self) -> Method {
        match self {
            Self::Percentile => Method::Percentile,
            _ => Method::Expanded,
        }
    }
}

named_choice!(IntervalKind, "kind of interval");

/// The method of computing an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// [`wilson`].
    Wilson,
    /// [`clopper_pearson`].
    ClopperPearson,
    /// Order statistics of the replicates, at the [expanded tail](expanded_tail).
    Expanded,
    /// Order statistics of the replicates, at the nominal tail.
    Percentile,
}

impl Method {
    /// All methods.
    pub const ALL: &[Self] = &[
        Self::Wilson,
        Self::ClopperPearson,
        Self::Expanded,
        Self::Percentile,
    ];

    /// Returns the name that is used in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wilson => "wilson",
            Self::ClopperPearson => "clopper-pearson",
            Self::Expanded => "expanded",
            Self::Percentile => "percentile",
        }
    }

    /// Returns the method in words, for tables and reports.
    ///
    /// ```
    /// use metric_stats::Method;
    ///
    /// assert_eq!(Method::Wilson.description(), "Wilson intervals");
    /// ```
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Wilson => "Wilson intervals",
            Self::ClopperPearson => "Clopper-Pearson intervals",
            Self::Expanded => "expanded percentile bootstrap",
            Self::Percentile => "percentile bootstrap",
        }
    }

    /// Returns whether the interval needs no replicates.
    #[must_use]
    pub const fn is_analytic(self) -> bool {
        matches!(self, Self::Wilson | Self::ClopperPearson)
    }
}

named_choice!(Method, "method");

/// The uncertainty of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The low and the high end of the interval.
    pub ends: Option<[f64; 2]>,
    /// The method of the interval, if there is one.
    pub method: Option<Method>,
    /// The standard error; undefined with fewer than two defined replicates.
    pub standard_error: Option<f64>,
    /// The number of replicates in which the score is undefined.
    pub undefined: u64,
    /// The reason why there is no interval, if there is none.
    pub problem: Option<NoInterval>,
}

/// The reason why a score has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoInterval {
    /// The score itself is undefined.
    Undefined,
    /// There are fewer than two clusters.
    OneCluster,
    /// The score is undefined in more than 1 in 20 replicates.
    UndefinedReplicates,
    /// There are too few replicates for the confidence, or too few clusters for the expanded tail.
    TooFew,
    /// All replicates are equal, so they say nothing about the spread.
    EqualReplicates,
}

impl fmt::Display for NoInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Undefined => "the score is undefined",
            Self::OneCluster => "an interval needs at least 2 clusters",
            Self::UndefinedReplicates => "the score is undefined in more than 1 in 20 resamples",
            Self::TooFew => "there are too few clusters or resamples for this confidence",
            Self::EqualReplicates => "all resamples have the same score",
        })
    }
}

/// The greatest part of the replicates that may be undefined is 1 in this.
const UNDEFINED_SHARE: u64 = 20;

/// Starting at this number of clusters, the expanded tail is the nominal one.
const MANY_CLUSTERS: u64 = 10_000;

/// The probability of each tail outside of an interval of this confidence.
fn nominal_tail(confidence: f64) -> f64 {
    (1.0 - confidence) / 2.0
}

/// The quantile of the standard normal distribution.
fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// Returns the least number of resamples for which percentile intervals of this confidence exist.
///
/// ```
/// assert_eq!(metric_stats::least_resamples(0.95), 39);
/// assert_eq!(metric_stats::least_resamples(0.9), 19);
/// ```
#[must_use]
pub fn least_resamples(confidence: f64) -> u64 {
    let tail = nominal_tail(confidence);
    let near = (1.0 / tail).floor() as u64;
    let is_enough = |resamples: &u64| (*resamples as f64 + 1.0) * tail >= 1.0 - 1e-9;
    let mut candidates = near.saturating_sub(2)..=near.saturating_add(2);
    candidates.find(is_enough).unwrap_or(near)
}

/// Returns the tail probability of expanded percentiles for a number of clusters; undefined for fewer
/// than two.
///
/// Percentiles of replicates are too narrow for small samples, because replicates spread like a normal
/// variable whose variance is too small by (C - 1)/C where a t statistic is called for. The expanded
/// tail corrects both: Hesterberg, *What teachers should know about the bootstrap* (2015), section 5.3;
/// `ExpandProbs` of the R package resample.
///
/// ```
/// use metric_stats::expanded_tail;
///
/// // With 20 clusters, the ends are nearer to the extremes of the replicates.
/// let tail = expanded_tail(0.95, 20).unwrap_or_default();
/// assert!(tail < 0.0165 && tail > 0.0150);
/// assert!((expanded_tail(0.95, 10_000).unwrap_or_default() - 0.025).abs() < 1e-12);
/// assert_eq!(expanded_tail(0.95, 1), None);
/// ```
#[must_use]
pub fn expanded_tail(confidence: f64, clusters: u64) -> Option<f64> {
    if clusters < 2 {
        return None;
    }
    let tail = nominal_tail(confidence);
    if clusters >= MANY_CLUSTERS {
        return Some(tail);
    }
    let clusters = clusters as f64;
    let student = StudentsT::new(0.0, 1.0, clusters - 1.0).ok()?;
    let quantile = student.inverse_cdf(1.0 - tail);
    let scale = (clusters / (clusters - 1.0)).sqrt();
    Some(Normal::standard().cdf(-scale * quantile))
}

/// Returns the rank of the low end of an interval among sorted replicates, counted from 1. The high end has
/// the same rank from the other side. Rank 0 means that there are too few replicates.
#[must_use]
pub fn rank(tail: f64, replicates: u64) -> u64 {
    // The tolerance keeps 0.025 x 2000 from being 49.
    (((replicates as f64) + 1.0) * tail + 1e-9).floor() as u64
}

/// Returns the two order statistics of sorted replicates that leave out `tail` on each side; `None` if there
/// are too few replicates.
///
/// Nothing is interpolated: both ends are scores of replicates, so they are equal on every platform.
#[must_use]
pub fn order_interval(sorted: &[f64], tail: f64) -> Option<[f64; 2]> {
    let rank = usize::try_from(rank(tail, sorted.len() as u64)).ok()?;
    let low = sorted.get(rank.checked_sub(1)?)?;
    let high = sorted.get(sorted.len().checked_sub(rank)?)?;
    Some([*low, *high])
}

/// Returns the standard deviation of replicates, which estimates the standard error of the score; undefined
/// for fewer than two.
#[must_use]
pub fn standard_error(replicates: &[f64]) -> Option<f64> {
    if replicates.len() < 2 {
        return None;
    }
    let count = replicates.len() as f64;
    // Distances from one of them: the error of equal ones is 0.
    let origin = replicates.first().copied().unwrap_or_default();
    let mean = origin + replicates.iter().map(|x| x - origin).sum::<f64>() / count;
    let squares: f64 = replicates.iter().map(|x| (x - mean) * (x - mean)).sum();
    Some((squares / (count - 1.0)).sqrt())
}

/// Returns the interval of a score from its replicates, by [`Method::Percentile`] or else
/// [`Method::Expanded`].
///
/// The same is done for a difference of scores with the replicates of the difference.
#[must_use]
pub fn estimate(
    score: Option<f64>,
    replicates: &[Option<f64>],
    clusters: u64,
    confidence: f64,
    method: Method,
) -> Estimate {
    let mut sorted: Vec<f64> = replicates.iter().copied().flatten().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let undefined = (replicates.len() - sorted.len()) as u64;
    let (method, tail) = match method {
        Method::Percentile => (method, Some(nominal_tail(confidence))),
        _ => (Method::Expanded, expanded_tail(confidence, clusters)),
    };
    let ends = || {
        if score.is_none() {
            return Err(NoInterval::Undefined);
        }
        let tail = tail
            .filter(|_| clusters >= 2)
            .ok_or(NoInterval::OneCluster)?;
        // Too few replicates is a reason that all scores of the same data share, so it is checked first.
        if rank(tail, replicates.len() as u64) == 0 {
            return Err(NoInterval::TooFew);
        }
        if undefined * UNDEFINED_SHARE > replicates.len() as u64 {
            return Err(NoInterval::UndefinedReplicates);
        }
        let ends = order_interval(&sorted, tail).ok_or(NoInterval::TooFew)?;
        if sorted.first() == sorted.last() {
            Err(NoInterval::EqualReplicates)
        } else {
            Ok(ends)
        }
    };
    let ends = ends();
    Estimate {
        ends: ends.ok(),
        method: ends.is_ok().then_some(method),
        standard_error: standard_error(&sorted),
        undefined,
        problem: ends.err(),
    }
}

/// Returns the interval of a proportion by [`Method::Wilson`] or else [`Method::ClopperPearson`], with the
/// standard error `sqrt(k (n - k) / n) / n`.
#[must_use]
pub fn proportion(correct: u64, total: u64, confidence: f64, method: Method) -> Estimate {
    let (method, ends) = match method {
        Method::ClopperPearson => (method, clopper_pearson(correct, total, confidence)),
        _ => (Method::Wilson, wilson(correct, total, confidence)),
    };
    let (k, n) = (correct as f64, total as f64);
    Estimate {
        ends,
        method: ends.map(|_| method),
        standard_error: ends.map(|_| (k * (n - k) / n).sqrt() / n),
        undefined: 0,
        problem: match ends {
            Some(_) => None,
            None => Some(NoInterval::Undefined),
        },
    }
}

/// Returns Wilson's score interval of `correct` out of `total`; undefined without a total.
///
/// E. B. Wilson, *Probable inference, the law of succession, and statistical inference*, JASA 22 (1927).
///
/// ```
/// let ends = metric_stats::wilson(20, 20, 0.95).unwrap_or_default();
/// assert!((ends[0] - 0.8388748419471808).abs() < 1e-12);
/// assert_eq!(ends[1], 1.0);
/// ```
#[must_use]
pub fn wilson(correct: u64, total: u64, confidence: f64) -> Option<[f64; 2]> {
    if total == 0 || correct > total {
        return None;
    }
    let z = normal_quantile(1.0 - nominal_tail(confidence));
    let (k, n, square) = (correct as f64, total as f64, z * z);
    let center = (k + square / 2.0) / (n + square);
    let half = z / (n + square) * (k * (n - k) / n + square / 4.0).sqrt();
    Some([
        if correct == 0 { 0.0 } else { center - half },
        if correct == total { 1.0 } else { center + half },
    ])
}

/// Returns Clopper and Pearson's exact interval of `correct` out of `total`; undefined without a total.
///
/// Each end is within 1e-9 of its own size. C. J. Clopper and E. S. Pearson, *The use of confidence or
/// fiducial limits illustrated in the case of the binomial*, Biometrika 26 (1934).
///
/// ```
/// // With 0 of 10, the high end p is where (1 - p)^10 = 0.025.
/// let ends = metric_stats::clopper_pearson(0, 10, 0.95).unwrap_or_default();
/// assert_eq!(ends[0], 0.0);
/// assert!(((1.0 - ends[1]).powi(10) - 0.025).abs() < 1e-12);
/// ```
#[must_use]
pub fn clopper_pearson(correct: u64, total: u64, confidence: f64) -> Option<[f64; 2]> {
    if total == 0 || correct > total {
        return None;
    }
    let tail = nominal_tail(confidence);
    // The high end is 1 minus the low end of the failures.
    let low = |successes: u64| lower_limit(successes, total, tail);
    let high = |successes: u64| upper_limit(successes, total, tail);
    Some([low(correct), high(correct)])
}

/// The `tail` quantile of Beta(k, n - k + 1); 0 at k = 0.
fn lower_limit(correct: u64, total: u64, tail: f64) -> f64 {
    let n = total as f64;
    match correct {
        0 => 0.0,
        // P(X >= 1) = 1 - (1 - p)^n, and P(X = n) = p^n.
        1 => -((-tail).ln_1p() / n).exp_m1(),
        all if all == total => (tail.ln() / n).exp(),
        _ => beta_quantile(correct as f64, n - correct as f64 + 1.0, tail),
    }
}

/// The `1 - tail` quantile of Beta(k + 1, n - k); 1 at k = n.
fn upper_limit(correct: u64, total: u64, tail: f64) -> f64 {
    let n = total as f64;
    match total - correct {
        0 => 1.0,
        _ if correct == 0 => -(tail.ln() / n).exp_m1(),
        1 => ((-tail).ln_1p() / n).exp(),
        _ => beta_quantile(correct as f64 + 1.0, n - correct as f64, 1.0 - tail),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_interval_without_spread() {
        let same = [Some(0.5); 99];
        for (score, replicates, clusters, problem) in [
            (None, &same[..], 30, NoInterval::Undefined),
            (Some(0.5), &same, 1, NoInterval::OneCluster),
            (Some(0.5), &[None; 99], 30, NoInterval::UndefinedReplicates),
            (Some(0.5), &same[..10], 30, NoInterval::TooFew),
            (Some(0.5), &same, 30, NoInterval::EqualReplicates),
        ] {
            let found = estimate(score, replicates, clusters, 0.95, Method::Expanded);
            assert_eq!((found.ends, found.method), (None, None));
            assert_eq!(found.problem, Some(problem));
        }
    }

    #[test]
    fn one_in_twenty_may_be_undefined() {
        let replicates = |undefined: usize| -> Vec<Option<f64>> {
            (0..200_usize)
                .map(|b| (b >= undefined).then_some(b as f64))
                .collect()
        };
        let found = |undefined| {
            estimate(
                Some(0.0),
                &replicates(undefined),
                50,
                0.95,
                Method::Percentile,
            )
        };
        assert_eq!((found(10).undefined, found(10).problem), (10, None));
        assert_eq!(found(11).problem, Some(NoInterval::UndefinedReplicates));
        // Ranks are among the defined ones: (190 + 1) 0.025 = 4.775.
        assert_eq!(found(10).ends, Some([13.0, 196.0]));
    }

    #[test]
    fn a_rank_does_not_round_down_by_accident() {
        assert_eq!(rank(0.025, 1999), 50);
        assert_eq!(rank((1.0 - 0.9) / 2.0, 99), 5);
        assert_eq!(rank(0.025, 38), 0);
    }

    #[test]
    fn least_resamples_are_enough_and_one_less_is_not() {
        for confidence in [0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.123] {
            let least = least_resamples(confidence);
            let is_enough = |b: u64| (b as f64 + 1.0) * nominal_tail(confidence) >= 1.0 - 1e-9;
            assert!(
                is_enough(least) && !is_enough(least - 1),
                "{confidence}: {least}"
            );
        }
    }

    proptest! {
        #[test]
        fn intervals_of_proportions_mirror(k in 0_u64..200, more in 0_u64..200, confidence in 0.5..0.999) {
            let n = k + more;
            prop_assume!(n > 0);
            for interval in [wilson, clopper_pearson] {
                let [low, high] = interval(k, n, confidence).unwrap_or_default();
                let [other_low, other_high] = interval(n - k, n, confidence).unwrap_or_default();
                let share = k as f64 / n as f64;
                prop_assert!(low <= share && share <= high && 0.0 <= low && high <= 1.0);
                prop_assert!((low - (1.0 - other_high)).abs() < 1e-9);
                prop_assert!((high - (1.0 - other_low)).abs() < 1e-9);
            }
        }
    }
}
