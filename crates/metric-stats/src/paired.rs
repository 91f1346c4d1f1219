//! Tests of the difference between two systems on the same examples.

use metric_core::{Merge, Metric, named_choice};

use crate::Swaps;

/// The tolerance within which a difference that is smaller than the observed one still counts as extreme. Equal
/// differences of fractions are rounded differently: 0.7 - 0.6 and 0.65 - 0.55 are different doubles.
pub const TOLERANCE: f64 = 1.0 / (1_u64 << 40) as f64;

/// The method that computed a p-value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Test {
    /// [`Randomization`] over random assignments.
    Randomization,
    /// [`Randomization`] over all assignments.
    RandomizationExact,
    /// [`mcnemar`].
    McNemarExact,
}

impl Test {
    /// All tests.
    pub const ALL: &[Self] = &[
        Self::Randomization,
        Self::RandomizationExact,
        Self::McNemarExact,
    ];

    /// Returns the name that is used in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Randomization => "randomization",
            Self::RandomizationExact => "randomization-exact",
            Self::McNemarExact => "mcnemar-exact",
        }
    }

    /// Returns the test in words, for tables and reports.
    ///
    /// ```
    /// use metric_stats::Test;
    ///
    /// assert_eq!(Test::McNemarExact.description(), "McNemar's exact test");
    /// ```
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Randomization => "paired randomization test",
            Self::RandomizationExact => "paired randomization test over all assignments",
            Self::McNemarExact => "McNemar's exact test",
        }
    }

    /// Returns whether the p-value depends on random trials: on their number and on the seed.
    #[must_use]
    pub const fn is_random(self) -> bool {
        match self {
            Self::Randomization => true,
            Self::RandomizationExact | Self::McNemarExact => false,
        }
    }
}

named_choice!(Test, "test");

/// The assignments of a randomization test: in each trial, the two systems are exchanged on some clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trials {
    /// This many random assignments, by [`Swaps`].
    Random(u64),
    /// All assignments of this many clusters: trial `t`, counted from 0, exchanges the systems on cluster
    /// `i` if bit `i` of `t` is set.
    All(u32),
}

impl Trials {
    /// Returns the trials of a test: all assignments if there are at most `permutations` of them, otherwise
    /// `permutations` random ones.
    ///
    /// ```
    /// use metric_stats::Trials;
    ///
    /// assert_eq!(Trials::new(13, 10_000), Trials::All(13));
    /// assert_eq!(Trials::new(14, 10_000), Trials::Random(10_000));
    /// ```
    #[must_use]
    pub fn new(clusters: u64, permutations: u64) -> Self {
        let clusters = u32::try_from(clusters).ok();
        let all =
            clusters.filter(|&it| 1_u64.checked_shl(it).is_some_and(|all| all <= permutations));
        all.map_or(Self::Random(permutations), Self::All)
    }

    /// Returns the number of trials.
    #[must_use]
    pub const fn count(self) -> u64 {
        match self {
            Self::Random(trials) => trials,
            Self::All(clusters) => 1 << clusters,
        }
    }

    /// Returns the name of the test.
    #[must_use]
    pub const fn test(self) -> Test {
        match self {
            Self::Random(_) => Test::Randomization,
            Self::All(_) => Test::RandomizationExact,
        }
    }

    /// Returns the p-value if the difference was [extreme](is_extreme) in this many trials.
    ///
    /// Random trials count the observed assignment as one more, so that a p-value is never 0 and the test
    /// keeps its level: Phipson and Smyth, *Permutation p-values should never be zero* (2010). All
    /// assignments contain the observed one.
    #[must_use]
    pub fn p(self, extreme: u64) -> f64 {
        let trials = self.count() as f64;
        match self {
            Self::Random(_) => (1.0 + extreme as f64) / (trials + 1.0),
            Self::All(_) => extreme as f64 / trials,
        }
    }
}

/// Returns whether assignment `trial` of all assignments, counted from 0, exchanges the systems on a cluster.
#[must_use]
pub const fn assigned(trial: u64, cluster: u32) -> bool {
    (trial >> cluster) & 1 == 1
}

/// Returns whether the difference of a trial is as extreme as the observed one. An undefined one
/// counts as extreme.
#[must_use]
pub fn is_extreme(difference: Option<f64>, observed: f64) -> bool {
    difference.is_none_or(|difference| difference.abs() >= observed.abs() - TOLERANCE)
}

/// One cluster of two systems.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<K, S> {
    /// The key of the cluster.
    pub key: K,
    /// The state of the baseline.
    pub baseline: S,
    /// The state of the other system.
    pub system: S,
}

/// Returns the scores of the baseline and the other system in each trial, in which they are exchanged on
/// some clusters.
///
/// Clusters must have different keys. [`Trials::All`] numbers them in the byte order of keys.
pub fn trials<M, K>(
    metric: &M,
    clusters: &[Pair<K, M::State>],
    seed: u64,
    trials: Trials,
) -> impl Iterator<Item = (M::Score, M::Score)>
where
    M: Metric<State: Clone>,
    K: AsRef<str>,
{
    let mut clusters: Vec<_> = clusters.iter().collect();
    clusters.sort_by(|a, b| a.key.as_ref().as_bytes().cmp(b.key.as_ref().as_bytes()));
    let swaps = clusters
        .iter()
        .map(|pair| Swaps::new(seed, pair.key.as_ref()));
    let swaps: Vec<Swaps> = swaps.collect();
    (0..trials.count()).map(move |trial| {
        let (mut baseline, mut system) = (M::State::default(), M::State::default());
        for ((index, pair), swaps) in (0..).zip(&clusters).zip(&swaps) {
            let is_swapped = match trials {
                Trials::Random(_) => swaps.is_swapped(trial + 1),
                Trials::All(_) => assigned(trial, index),
            };
            let (one, other) = if is_swapped {
                (&pair.system, &pair.baseline)
            } else {
                (&pair.baseline, &pair.system)
            };
            baseline.merge_times(one, 1);
            system.merge_times(other, 1);
        }
        (metric.compute(&baseline), metric.compute(&system))
    })
}

/// The paired approximate randomization test, two-sided.
///
/// If the systems are equally good, exchanging them on any cluster makes no difference, and the observed
/// difference is one of many equally likely ones. Noreen, *Computer-intensive methods for testing
/// hypotheses* (1989); Riezler and Maxwell, *On some pitfalls in automatic evaluation and significance
/// testing for MT* (2005).
///
/// ```
/// use metric_core::{Accuracy, Metric};
/// use metric_stats::{Pair, Randomization};
///
/// struct Equality;
/// # impl Metric for Equality {
/// #     type Prediction = str;
/// #     type Reference = str;
/// #     type State = Accuracy;
/// #     type Score = Option<f64>;
/// #     fn update(&self, state: &mut Accuracy, prediction: &str, reference: &str) {
/// #         state.record(prediction == reference);
/// #     }
/// #     fn compute(&self, state: &Accuracy) -> Option<f64> {
/// #         state.value()
/// #     }
/// # }
///
/// // The other system is correct on all of 6 examples, the baseline on none.
/// let pairs = ["1", "2", "3", "4", "5", "6"].map(|key| Pair {
///     key,
///     baseline: Equality.measure("dog", "cat"),
///     system: Equality.measure("cat", "cat"),
/// });
/// let test = Randomization::new(&Equality, &pairs, 0, 10_000, |score| *score);
///
/// // 2 of the 64 assignments are as extreme: the observed one, and the one that exchanges everything.
/// assert_eq!((test.delta, test.p), (Some(1.0), Some(2.0 / 64.0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Randomization {
    /// The score of the other system minus that of the baseline.
    pub delta: Option<f64>,
    /// The p-value; undefined where the difference is.
    pub p: Option<f64>,
    /// The trials.
    pub trials: Trials,
    /// The number of trials whose difference is as extreme as the observed one.
    pub extreme: u64,
}

impl Randomization {
    /// Tests one number of the score of a metric.
    #[must_use]
    pub fn new<M, K>(
        metric: &M,
        clusters: &[Pair<K, M::State>],
        seed: u64,
        permutations: u64,
        value: impl Fn(&M::Score) -> Option<f64>,
    ) -> Self
    where
        M: Metric<State: Clone>,
        K: AsRef<str>,
    {
        let pool = |state: fn(&Pair<K, M::State>) -> &M::State| {
            let mut pool = M::State::default();
            clusters
                .iter()
                .for_each(|pair| pool.merge_times(state(pair), 1));
            value(&metric.compute(&pool))
        };
        let (baseline, system) = (pool(|pair| &pair.baseline), pool(|pair| &pair.system));
        let delta = system
            .zip(baseline)
            .map(|(system, baseline)| system - baseline);
        let planned = Trials::new(clusters.len() as u64, permutations);
        let Some(observed) = delta else {
            return Self {
                delta,
                p: None,
                trials: planned,
                extreme: 0,
            };
        };
        let differences = trials(metric, clusters, seed, planned).map(|(baseline, system)| {
            let (system, baseline) = value(&system).zip(value(&baseline))?;
            Some(system - baseline)
        });
        let extreme = differences.filter(|it| is_extreme(*it, observed)).count() as u64;
        Self {
            delta,
            p: Some(planned.p(extreme)),
            trials: planned,
            extreme,
        }
    }
}

/// Returns the p-value of McNemar's exact test: two-sided, from the numbers of examples on which either
/// system alone is correct. Without any, it is 1.
///
/// On proportions, randomization converges to it. Q. McNemar, *Note on the sampling error of the
/// difference between correlated proportions or percentages*, Psychometrika 12 (1947).
///
/// ```
/// // All of 6 fall to one side, of which two ways exist.
/// assert_eq!(metric_stats::mcnemar(6, 0), 2.0 / 64.0);
/// assert_eq!(metric_stats::mcnemar(3, 3), 1.0);
/// assert_eq!(metric_stats::mcnemar(0, 0), 1.0);
/// ```
#[must_use]
pub fn mcnemar(wins: u64, losses: u64) -> f64 {
    (2.0 * half_binomial_cdf(wins.min(losses), wins + losses)).min(1.0)
}

/// `P(X <= k)` for `X ~ Bin(n, 1/2)`.
fn half_binomial_cdf(k: u64, n: u64) -> f64 {
    if k >= n {
        return 1.0;
    }
    // The sum of terms relative to the last one, which is the largest for k below n / 2, times that one.
    let (mut term, mut sum) = (1.0, 1.0);
    for i in (1..=k).rev() {
        term *= i as f64 / (n - i + 1) as f64;
        sum += term;
        if term < sum * f64::EPSILON / 4.0 {
            break;
        }
    }
    // C(n, k) / 2^n as a product that neither overflows nor underflows early.
    let (mut last, mut halvings) = (1.0_f64, n);
    for i in 1..=k {
        last *= (n - k + i) as f64 / i as f64;
        while last > 1.0 && halvings > 0 {
            last *= 0.5;
            halvings -= 1;
        }
    }
    let last = last * 0.5_f64.powi(halvings.min(i32::MAX as u64) as i32);
    last * sum
}

/// Returns p-values adjusted for the number of comparisons by Holm's method, in their order. Undefined ones
/// do not count.
///
/// With them, the chance that any of several true null hypotheses is rejected stays at the level of one
/// test. S. Holm, *A simple sequentially rejective multiple test procedure*, Scand. J. Stat. 6 (1979).
///
/// ```
/// use metric_stats::holm;
///
/// assert_eq!(holm(&[Some(0.04), Some(0.01), None]), [Some(0.04), Some(0.02), None]);
/// assert_eq!(holm(&[Some(0.03), Some(0.02)]), [Some(0.04), Some(0.04)]);
/// ```
#[must_use]
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let defined = p
        .iter()
        .enumerate()
        .filter_map(|(index, p)| Some((index, (*p)?)));
    let mut defined: Vec<(usize, f64)> = defined.collect();
    defined.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![None; p.len()];
    let mut running = 0.0_f64;
    let count = defined.len();
    for (before, (index, p)) in defined.into_iter().enumerate() {
        running = running.max(((count - before) as f64 * p).min(1.0));
        if let Some(adjusted) = adjusted.get_mut(index) {
            *adjusted = Some(running);
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use metric_core::Counts;
    use proptest::prelude::*;

    use super::*;
    use crate::beta::beta_cdf;

    /// Precision, of counts that are given.
    struct Precision;

    impl Metric for Precision {
        type Prediction = Counts;
        type Reference = ();
        type State = Counts;
        type Score = Option<f64>;

        fn update(&self, state: &mut Counts, prediction: &Counts, (): &()) {
            state.merge(*prediction);
        }
        fn compute(&self, state: &Counts) -> Option<f64> {
            state.precision()
        }
    }

    fn pairs(counts: &[[u64; 4]]) -> Vec<Pair<String, Counts>> {
        let pair = |(index, [a, b, c, d]): (usize, &[u64; 4])| Pair {
            key: index.to_string(),
            baseline: Counts::new(*a, *b, 0),
            system: Counts::new(*c, *d, 0),
        };
        counts.iter().enumerate().map(pair).collect()
    }

    #[test]
    fn tails_of_the_binomial() {
        // 1 + 10 + 45 of 1024.
        assert_eq!(half_binomial_cdf(2, 10), 56.0 / 1024.0);
        for (k, n) in [(480, 1000), (3, 500), (4_900, 10_000), (499_000, 1_000_000)] {
            let beta = beta_cdf((n - k) as f64, k as f64 + 1.0, 0.5);
            let sum = half_binomial_cdf(k, n);
            assert!((sum / beta - 1.0).abs() < 1e-10, "{k} of {n}: {sum} {beta}");
        }
        assert!(half_binomial_cdf(0, 3000) == 0.0);
        let half = half_binomial_cdf(500_000, 1_000_001);
        assert!((half - 0.5).abs() < 1e-12, "{half}");
    }

    proptest! {
        #[test]
        fn exchanging_the_systems_negates_the_difference(
            counts in proptest::collection::vec([0_u64..4, 0..4, 0..4, 0..4], 1..9),
            permutations in 1_u64..300,
        ) {
            let pairs = pairs(&counts);
            let exchanged = pairs.iter().cloned().map(|pair| Pair {
                key: pair.key,
                baseline: pair.system,
                system: pair.baseline,
            });
            let test = |pairs: &[_]| Randomization::new(&Precision, pairs, 3, permutations, |it| *it);
            let (there, back) = (test(&pairs), test(&exchanged.collect::<Vec<_>>()));
            prop_assert_eq!(there.p, back.p);
            prop_assert_eq!(there.delta, back.delta.map(|delta| -delta));
            // The observed assignment is one of all.
            if let (Some(p), Trials::All(clusters)) = (there.p, there.trials) {
                prop_assert!(p >= 2.0_f64.powi(1 - clusters as i32) || clusters == 0);
            }
        }

        #[test]
        fn a_system_against_itself_has_p_1(
            counts in proptest::collection::vec([1_u64..4, 0..4], 1..20), permutations in 1_u64..200,
        ) {
            let counts: Vec<_> = counts.iter().map(|[a, b]| [*a, *b, *a, *b]).collect();
            let test = Randomization::new(&Precision, &pairs(&counts), 0, permutations, |it| *it);
            prop_assert_eq!((test.delta, test.p), (Some(0.0), Some(1.0)));
        }

        #[test]
        fn holm_keeps_the_order_and_never_lowers(p in proptest::collection::vec(proptest::option::of(0.0..1.0_f64), 0..9)) {
            let adjusted = holm(&p);
            for (a, adjusted_a) in p.iter().zip(&adjusted) {
                prop_assert_eq!(a.is_some(), adjusted_a.is_some());
                prop_assert!(adjusted_a >= a);
                for (b, adjusted_b) in p.iter().zip(&adjusted) {
                    prop_assert!(a > b || adjusted_a <= adjusted_b || a.is_none());
                }
            }
        }
    }
}
