use crate::Merge;

/// Each bin holds multiples of `2^(BIN_BITS · index − 1074)`.
const BIN_BITS: u32 = 32;
/// `2^-1074` is the smallest positive `f64`: every finite `f64` is a multiple of it.
const LOWEST_EXPONENT: i32 = -1074;

/// A sum of `f64` that is exact until it is read, and so does not depend on the order of the terms
/// or on how they were split over states.
///
/// `a + b + c` in `f64` depends on the order, and a metric that sums this way changes its last
/// digits with the number of threads. Here each term is added as an integer into one of 64 bins of
/// 32 exponents, and [`value`](Sum::value) rounds the exact total once, to nearest, ties to even.
/// Only bins in use are stored (terms in \[0, 1\] mostly share one or two), and a sum of up to 2^42
/// terms cannot overflow.
///
/// NaN and infinities make the total what IEEE 754 addition would make it.
///
/// The idea of adding into fixed bins of wide integers is Kulisch's accumulator; see R. M. Neal,
/// *Fast exact summation using small and large superaccumulators* (2015), section 3.
///
/// ```
/// use metric_core::{Merge, Sum};
///
/// let forward: Sum = [1e100, 1.0, -1e100].into_iter().collect();
/// assert_eq!(forward.value(), 1.0);
///
/// let tenths: Sum = std::iter::repeat_n(0.1, 10).collect();
/// assert_eq!(tenths.value(), 1.0); // ten times the double nearest to 0.1, rounded once
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Written"))]
pub struct Sum {
    /// Bin index and total, by index, without totals of 0: equal sums are equal states.
    bins: Vec<(u8, i128)>,
    /// Whether a term was +∞, −∞ or NaN.
    non_finite: [bool; 3],
}

impl Sum {
    /// Adds one term.
    pub fn add(&mut self, term: f64) {
        if !term.is_finite() {
            let kind = if term.is_nan() {
                2
            } else {
                usize::from(term < 0.0)
            };
            self.non_finite[kind] = true;
            return;
        }
        let bits = term.to_bits();
        let biased = ((bits >> 52) & 0x7ff) as u32;
        let fraction = bits & ((1 << 52) - 1);
        // Subnormals have the exponent of the smallest normal, without the hidden bit.
        let (mantissa, exponent) = match biased {
            0 => (fraction, 0),
            _ => (fraction | (1 << 52), biased - 1),
        };
        let magnitude = i128::from(mantissa) << (exponent % BIN_BITS);
        let signed = if term < 0.0 { -magnitude } else { magnitude };
        self.add_to_bin((exponent / BIN_BITS) as u8, signed);
    }

    /// The sum of all terms, rounded once; 0 without terms.
    #[must_use]
    pub fn value(&self) -> f64 {
        match self.non_finite {
            [false, false, false] => {}
            [true, false, false] => return f64::INFINITY,
            [false, true, false] => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        // Below zero, the carry that is left over is negative: then round the negated sum.
        match magnitude(&self.bins, 1) {
            Some(value) => value,
            None => -magnitude(&self.bins, -1).unwrap_or(0.0),
        }
    }

    fn add_to_bin(&mut self, index: u8, term: i128) {
        if term == 0 {
            return;
        }
        match self.bins.binary_search_by_key(&index, |bin| bin.0) {
            Ok(place) => {
                self.bins[place].1 += term;
                if self.bins[place].1 == 0 {
                    self.bins.remove(place);
                }
            }
            Err(place) => self.bins.insert(place, (index, term)),
        }
    }
}

/// A sum as it stands in a file, which may say anything.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Written {
    bins: Vec<(u8, i128)>,
    non_finite: [bool; 3],
}

#[cfg(feature = "serde")]
impl TryFrom<Written> for Sum {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, &'static str> {
        let rising = written.bins.windows(2).all(|two| two[0].0 < two[1].0);
        // 2^42 terms of less than 2^85 each.
        let possible = |&(index, total): &(u8, i128)| {
            u32::from(index) <= 2045 / BIN_BITS && total != 0 && total.unsigned_abs() < 1 << 127
        };
        if rising && written.bins.iter().all(possible) {
            Ok(Self {
                bins: written.bins,
                non_finite: written.non_finite,
            })
        } else {
            Err("the bins of an exact sum: expected rising indices up to 63, and totals but 0")
        }
    }
}

/// The value of `sign` times the bins, or `None` if it is negative.
fn magnitude(bins: &[(u8, i128)], sign: i128) -> Option<f64> {
    let mut digits = Vec::with_capacity(72); // base 2^32, from the lowest
    let mut carry = 0_i128;
    let mut bins = bins.iter().peekable();
    while bins.peek().is_some() || (carry != 0 && carry != -1) {
        if let Some((_, total)) = bins.next_if(|bin| usize::from(bin.0) == digits.len()) {
            carry += sign * total;
        }
        digits.push((carry & 0xffff_ffff) as u32);
        carry >>= BIN_BITS; // arithmetic: rounds down, so digits stay non-negative
    }
    if carry < 0 {
        return None;
    }
    while digits.last() == Some(&0) {
        digits.pop();
    }
    // The top four digits hold at least 97 significant bits. What is below can only break a tie,
    // so one sticky bit stands for all of it. The conversion to f64 rounds; the scaling is exact,
    // for a result in the subnormal range has no more bits than it can hold.
    let low = digits.len().saturating_sub(4);
    let mut top = digits[low..]
        .iter()
        .rev()
        .fold(0_u128, |top, &digit| (top << BIN_BITS) | u128::from(digit));
    top |= u128::from(digits[..low].iter().any(|&digit| digit != 0));
    Some(top as f64 * power_of_two(low as i32 * BIN_BITS as i32 + LOWEST_EXPONENT))
}

/// `2^exponent`, for exponents of the normal and subnormal range.
fn power_of_two(exponent: i32) -> f64 {
    if exponent < -1022 {
        f64::from_bits(1 << (exponent - LOWEST_EXPONENT).max(0))
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

impl Merge for Sum {
    fn merge(&mut self, other: Self) {
        for (index, total) in other.bins {
            self.add_to_bin(index, total);
        }
        for (mine, theirs) in self.non_finite.iter_mut().zip(other.non_finite) {
            *mine |= theirs;
        }
    }
}

impl Extend<f64> for Sum {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, terms: I) {
        terms.into_iter().for_each(|term| self.add(term));
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        sum.extend(terms);
        sum
    }
}

/// An arithmetic mean that does not depend on the order of its terms: an exact [`Sum`] and a count.
///
/// The sum is rounded once and then divided once.
///
/// ```
/// use metric_core::{Mean, Merge};
///
/// let mut mean: Mean = [0.5, 0.25].into_iter().collect();
/// mean.merge([1.0].into_iter().collect());
/// assert_eq!((mean.value(), mean.count()), (Some(1.75 / 3.0), 3));
/// assert_eq!(Mean::default().value(), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mean {
    sum: Sum,
    count: u64,
}

impl Mean {
    /// Adds one term.
    pub fn add(&mut self, term: f64) {
        self.sum.add(term);
        self.count += 1;
    }

    /// The number of terms.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean; undefined without terms.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.value() / self.count as f64)
    }
}

impl Merge for Mean {
    fn merge(&mut self, other: Self) {
        self.sum.merge(other.sum);
        self.count += other.count;
    }
}

impl FromIterator<f64> for Mean {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut mean = Self::default();
        terms.into_iter().for_each(|term| mean.add(term));
        mean
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(terms: &[f64]) -> f64 {
        terms.iter().copied().collect::<Sum>().value()
    }

    #[test]
    fn edges() {
        let smallest = f64::from_bits(1);
        let cases: &[(&[f64], f64)] = &[
            (&[], 0.0),
            (&[-0.0], 0.0),
            (&[0.1], 0.1),
            (&[-0.1], -0.1),
            (&[smallest, smallest], 2.0 * smallest),
            (&[-smallest], -smallest),
            (
                &[f64::MIN_POSITIVE, -smallest],
                f64::MIN_POSITIVE - smallest,
            ),
            (&[f64::MAX], f64::MAX),
            (&[f64::MAX, f64::MAX], f64::INFINITY),
            (&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
            (&[-f64::MAX, f64::MAX, -1e-300], -1e-300),
            // Half an ulp above 1 is a tie and goes to the even 1; anything more goes up.
            (&[1.0, f64::EPSILON / 2.0], 1.0),
            (&[1.0, f64::EPSILON / 2.0, 1e-300], 1.0 + f64::EPSILON),
            (&[1.0, f64::EPSILON / 2.0, -1e-300], 1.0),
            (&[f64::INFINITY, 1.0], f64::INFINITY),
            (&[f64::NEG_INFINITY, 1.0], f64::NEG_INFINITY),
        ];
        for (terms, expected) in cases {
            assert_eq!(sum(terms), *expected, "{terms:?}");
        }
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[f64::NAN]).is_nan());
    }

    #[test]
    fn a_sum_that_cancels_is_the_empty_sum() {
        let cancelled: Sum = [0.1, 3.0, -0.1, -3.0].into_iter().collect();
        assert_eq!(cancelled, Sum::default());
    }

    proptest! {
        #[test]
        fn one_term_is_itself(term in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
            prop_assert_eq!(sum(&[term]), term);
        }

        #[test]
        fn two_terms_are_one_rounded_addition(a in any::<f64>(), b in any::<f64>()) {
            let (exact, plain) = (sum(&[a, b]), a + b);
            prop_assert!(exact == plain || (exact.is_nan() && plain.is_nan()));
        }

        #[test]
        fn order_and_shards_do_not_matter(
            terms in proptest::collection::vec(
                prop_oneof![-1.0..1.0_f64, any::<f64>().prop_filter("finite", |x| x.is_finite())], 0..40),
            cut in 0_usize..40,
        ) {
            let whole: Sum = terms.iter().copied().collect();
            let reversed: Sum = terms.iter().rev().copied().collect();
            prop_assert_eq!(&whole, &reversed);
            let (head, tail) = terms.split_at(cut.min(terms.len()));
            let mut shards: Sum = tail.iter().copied().collect();
            shards.merge(head.iter().copied().collect());
            prop_assert_eq!(&whole, &shards);
        }

        #[test]
        fn small_integers_sum_exactly(terms in proptest::collection::vec(-1_000_000_i64..1_000_000, 0..50)) {
            let exact: i64 = terms.iter().sum();
            prop_assert_eq!(sum(&terms.iter().map(|&x| x as f64).collect::<Vec<_>>()), exact as f64);
        }
    }
}
