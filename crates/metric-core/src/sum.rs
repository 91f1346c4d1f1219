use crate::{Addends, Malformed, Merge, Reader, Writer, Written, written};

/// Each bin holds multiples of `2^(BIN_BITS · index − 1074)`.
const BIN_BITS: u32 = 32;
/// `2^-1074` is the smallest positive `f64`: every finite `f64` is a multiple of it.
const LOWEST_EXPONENT: i32 = -1074;
/// Totals of bins have this many bits and a sign, so that two of them can be added. It takes 2^41
/// terms to get there.
const TOTAL_BITS: u32 = 126;
/// The lowest digit of base `2^BIN_BITS` of a total.
const DIGIT: i128 = (1 << BIN_BITS) - 1;
/// Bins up to 63 hold terms and the rest hold carries: sums up to 2^3000 or so.
const LAST_BIN: u8 = 127;

/// A sum of `f64` that is exact until it is read, and so does not depend on the order of the terms
/// or on how they were split over states.
///
/// `a + b + c` in `f64` depends on the order, and a metric that sums this way changes its last
/// digits with the number of threads. Here each term is added as an integer into one of 64 bins of
/// 32 exponents, and [`value`](Sum::value) rounds the exact total once, to nearest, ties to even.
/// Only bins in use are stored (terms in \[0, 1\] mostly share one or two), and a bin that grows too
/// large carries into the next.
///
/// Two sums are equal if their exact totals are, and equal sums are written as the same bytes.
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
#[derive(Clone, Debug, Default)]
pub struct Sum {
    /// Bin index and total, by index, without totals of 0.
    bins: Vec<(u8, i128)>,
    /// Whether a term was +∞, −∞ or NaN.
    non_finite: [bool; 3],
}

impl Sum {
    /// Adds one term.
    pub fn add(&mut self, term: f64) {
        if !term.is_finite() {
            self.add_non_finite(term);
            return;
        }
        let (mantissa, exponent) = parts(term);
        let magnitude = i128::from(mantissa) << (exponent % BIN_BITS);
        let signed = if term < 0.0 { -magnitude } else { magnitude };
        self.add_to_bin((exponent / BIN_BITS) as u8, signed);
    }

    /// Adds the product of two terms without rounding it. Digits of the product below `2^-1074`, the least `f64`, are
    /// lost.
    ///
    /// ```
    /// use metric_core::Sum;
    ///
    /// // 1 - e^2 as (1 + e)(1 - e): the double nearest to it is 1.
    /// let e = f64::EPSILON;
    /// let mut sum = Sum::default();
    /// sum.add_product(1.0 + e, 1.0 - e);
    /// sum.add(-1.0);
    /// assert_eq!(sum.value(), -(e * e));
    /// ```
    pub fn add_product(&mut self, a: f64, b: f64) {
        if !a.is_finite() || !b.is_finite() {
            self.add_non_finite(a * b);
            return;
        }
        let ((a_mantissa, a_exponent), (b_mantissa, b_exponent)) = (parts(a), parts(b));
        let mut product = u128::from(a_mantissa) * u128::from(b_mantissa);
        let exponent = (a_exponent + b_exponent) as i32 + LOWEST_EXPONENT;
        if exponent < 0 {
            product = product.checked_shr(exponent.unsigned_abs()).unwrap_or(0);
        }
        let exponent = exponent.max(0) as u32;
        let sign = if (a < 0.0) == (b < 0.0) { 1 } else { -1 };
        // Up to 106 bits, in two halves that a bin can hold at any shift.
        for (half, above) in [(product & u128::from(u64::MAX), 0), (product >> 64, 2)] {
            let magnitude = (half as i128) << (exponent % BIN_BITS);
            self.add_to_bin((exponent / BIN_BITS) as u8 + above, sign * magnitude);
        }
    }

    #[cold]
    fn add_non_finite(&mut self, term: f64) {
        let kind = if term.is_nan() {
            2
        } else {
            usize::from(term < 0.0)
        };
        self.non_finite[kind] = true;
    }

    /// Returns the exact total as digits of base 2^32 with their indices, all of one sign and none of them 0; `None` if
    /// a term is not finite. A digit at index `i` counts `2^(32·i − 1074)`. Digits of several sums add up.
    ///
    /// ```
    /// use metric_core::Sum;
    ///
    /// let digits = |terms: [f64; 2]| Some(terms.into_iter().collect::<Sum>().digits()?.collect());
    /// // 1 is 2^1074 times 2^-1074, and 1074 = 33 * 32 + 18.
    /// assert_eq!(digits([2.0, -3.0]), Some(vec![(33, -(1 << 18))]));
    /// assert_eq!(digits([1.0, f64::INFINITY]), None);
    /// ```
    #[must_use]
    pub fn digits(&self) -> Option<impl Iterator<Item = (u8, i64)> + use<>> {
        (self.non_finite == [false; 3]).then(|| self.canonical())
    }

    /// Returns the sum that has these [`digits`](Self::digits), which need not be those of one sign.
    #[must_use]
    pub fn from_digits(digits: impl IntoIterator<Item = (u8, i128)>) -> Self {
        let mut sum = Self::default();
        for (index, digit) in digits {
            sum.add_to_bin(index, digit);
        }
        sum
    }

    /// Returns the sum of all terms, rounded once; 0 without terms.
    #[must_use]
    pub fn value(&self) -> f64 {
        match self.non_finite {
            [false, false, false] => {}
            [true, false, false] => return f64::INFINITY,
            [false, true, false] => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        narrow_value(&self.bins).unwrap_or_else(|| {
            // Below zero, the carry that is left over is negative: then round the negated sum.
            match magnitude(&self.bins, 1) {
                Some(value) => value,
                None => -magnitude(&self.bins, -1).unwrap_or(0.0),
            }
        })
    }

    /// Adds a term of at most [`TOTAL_BITS`].
    fn add_to_bin(&mut self, index: u8, term: i128) {
        if term == 0 {
            return;
        }
        match self.bins.binary_search_by_key(&index, |bin| bin.0) {
            Ok(position) => {
                let total = &mut self.bins[position].1;
                *total += term;
                if *total == 0 || *total >> TOTAL_BITS != *total >> (i128::BITS - 1) {
                    self.settle(position);
                }
            }
            Err(position) => {
                self.bins.insert(position, (index, term));
                if index > LAST_BIN {
                    self.settle(position);
                }
            }
        }
    }

    /// Takes out a bin that has come to 0, or carries what it cannot hold.
    #[cold]
    fn settle(&mut self, position: usize) {
        let (index, total) = self.bins.remove(position);
        if total == 0 {
            return;
        }
        if index >= LAST_BIN {
            // Far beyond any finite `f64`.
            self.non_finite[usize::from(total < 0)] = true;
            return;
        }
        self.add_to_bin(index, total & DIGIT);
        self.add_to_bin(index + 1, total >> BIN_BITS);
    }

    /// Adds `times` times the total of a bin.
    fn add_multiple(&mut self, index: u8, total: i128, times: u64) {
        let magnitude = total.unsigned_abs();
        // A product has at most as many bits as both factors together.
        let bits = u128::BITS - magnitude.leading_zeros() + u64::BITS - times.leading_zeros();
        if bits <= TOTAL_BITS {
            self.add_to_bin(index, total * i128::from(times));
            return;
        }
        for position in 0..u128::BITS / BIN_BITS {
            let digit = (magnitude >> (BIN_BITS * position)) as i128 & DIGIT;
            let product = digit * i128::from(times) * total.signum();
            self.add_to_bin(index + position as u8, product);
        }
    }

    /// The exact total as digits of base 2^32, all with its sign, by index and without zeros: the
    /// same for all ways to the same total.
    fn canonical(&self) -> impl Iterator<Item = (u8, i64)> + use<> {
        let (sign, digits) = match digits(&self.bins, 1) {
            Some(digits) => (1, digits),
            None => (-1, digits(&self.bins, -1).unwrap_or_default()),
        };
        let digits = (0_u8..).zip(digits).filter(|(_, digit)| *digit != 0);
        digits.map(move |(index, digit)| (index, sign * i64::from(digit)))
    }
}

impl PartialEq for Sum {
    fn eq(&self, other: &Self) -> bool {
        self.non_finite == other.non_finite
            && (self.bins == other.bins || self.canonical().eq(other.canonical()))
    }
}

impl Eq for Sum {}

impl Written for Sum {
    fn write(&self, to: &mut Writer) {
        let bins: Vec<(u8, i64)> = self.canonical().collect();
        to.map(2);
        to.field("bins", &bins);
        to.field("non_finite", &self.non_finite);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.map()?;
        let bins: Vec<(u8, i64)> = from.field("bins")?;
        let non_finite = from.field("non_finite")?;
        let rising = bins.windows(2).all(|two| two[0].0 < two[1].0);
        let sign = bins.first().map_or(0, |bin| bin.1.signum());
        let possible = |&(index, digit): &(u8, i64)| {
            index <= LAST_BIN
                && digit != 0
                && digit.signum() == sign
                && digit.unsigned_abs() < 1 << BIN_BITS
        };
        if !rising || !bins.iter().all(possible) {
            return Err(
                "invalid exact sum: expected digits below 2^32 of one sign, by rising index".into(),
            );
        }
        let widened = |(index, digit)| (index, i128::from(digit));
        Ok(Self {
            bins: bins.into_iter().map(widened).collect(),
            non_finite,
        })
    }
}

/// A finite number without its sign as a mantissa times `2^(exponent - 1074)`.
#[inline]
const fn parts(term: f64) -> (u64, u32) {
    let bits = term.to_bits();
    let biased = ((bits >> 52) & 0x7ff) as u32;
    let fraction = bits & ((1 << 52) - 1);
    // Subnormals have the exponent of the smallest normal, without the hidden bit.
    match biased {
        0 => (fraction, 0),
        _ => (fraction | (1 << 52), biased - 1),
    }
}

/// The value of bins whose total fits into an integer, as those of a few terms do; `None` of others.
fn narrow_value(bins: &[(u8, i128)]) -> Option<f64> {
    let (&(lowest, first), higher) = bins.split_first()?;
    let mut total = first;
    for &(index, digits) in higher {
        let bits = BIN_BITS * u32::from(index - lowest);
        let scale = 1_i128.checked_shl(bits).filter(|scale| *scale > 0)?;
        total = digits.checked_mul(scale)?.checked_add(total)?;
    }
    if total == 0 {
        return Some(0.0); // and not NaN, which 0 times an infinite power is
    }
    // The conversion rounds; the scaling is exact, as in `magnitude`.
    let exponent = i32::from(lowest) * BIN_BITS as i32 + LOWEST_EXPONENT;
    Some(total as f64 * power_of_two(exponent))
}

/// The digits of `sign` times the bins, base 2^32 from the lowest, or `None` if that is negative.
fn digits(bins: &[(u8, i128)], sign: i128) -> Option<Vec<u32>> {
    let mut digits = Vec::with_capacity(72);
    let mut carry = 0_i128;
    let mut bins = bins.iter().peekable();
    while bins.peek().is_some() || (carry != 0 && carry != -1) {
        if let Some((_, total)) = bins.next_if(|bin| usize::from(bin.0) == digits.len()) {
            carry += sign * total;
        }
        digits.push((carry & DIGIT) as u32);
        carry >>= BIN_BITS; // arithmetic: rounds down, so digits stay non-negative
    }
    (carry == 0).then_some(digits)
}

/// The value of `sign` times the bins, or `None` if it is negative.
fn magnitude(bins: &[(u8, i128)], sign: i128) -> Option<f64> {
    let mut digits = digits(bins, sign)?;
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

/// `2^exponent`, and infinity where that is too great; of subnormal exponents down to the least.
fn power_of_two(exponent: i32) -> f64 {
    if exponent > 1023 {
        f64::INFINITY
    } else if exponent < -1022 {
        f64::from_bits(1 << (exponent - LOWEST_EXPONENT).max(0))
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

impl Merge for Sum {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        match times {
            0 => return,
            1 => {
                for &(index, total) in &other.bins {
                    self.add_to_bin(index, total);
                }
            }
            _ => {
                for &(index, total) in &other.bins {
                    self.add_multiple(index, total, times);
                }
            }
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

    /// Returns the number of terms.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of the terms as digits of base 2^32 with their indices, all of one sign and none of
    /// them 0; `None` if a term is not finite. Digits of several means add up.
    #[must_use]
    pub fn digits(&self) -> Option<impl Iterator<Item = (u8, i64)> + use<>> {
        self.sum.digits()
    }

    /// Returns the mean of `count` terms whose sum has these [`digits`](Self::digits).
    ///
    /// ```
    /// use metric_core::Mean;
    ///
    /// let mean: Mean = [0.25, 0.75].into_iter().collect();
    /// let doubled = mean.digits().unwrap().map(|(index, digit)| (index, 2 * digit));
    /// assert_eq!(Mean::from_digits(4, doubled), [0.25, 0.75, 0.25, 0.75].into_iter().collect());
    /// ```
    #[must_use]
    pub fn from_digits(count: u64, digits: impl IntoIterator<Item = (u8, i64)>) -> Self {
        let digits = digits.into_iter();
        let sum = Sum::from_digits(digits.map(|(index, digit)| (index, digit.into())));
        Self { sum, count }
    }

    /// Returns the mean; undefined without terms.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.value() / self.count as f64)
    }
}

impl Merge for Mean {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        self.sum.merge_times(&other.sum, times);
        self.count += other.count * times;
    }

    fn addends<'s>(&'s mut self, list: &mut Addends<'s>) -> bool {
        list.means.push(self);
        true
    }
}

written!(Mean { sum, count });

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
    use crate::from_bytes;

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
    fn bins_that_fit_into_an_integer() {
        assert_eq!(narrow_value(&[]), None);
        // 2^32 of a bin are 1 of the next one.
        assert_eq!(narrow_value(&[(66, 1 << 32), (67, -1)]), Some(0.0));
        assert_eq!(
            narrow_value(&[(0, 1), (1, 1)]),
            Some(f64::from_bits((1 << 32) + 1))
        );
        assert_eq!(narrow_value(&[(66, -1)]), Some(f64::NEG_INFINITY));
        // Four bins apart, the total has more bits than there are.
        assert_eq!(narrow_value(&[(33, 1), (37, 1)]), None);
        assert_eq!(narrow_value(&[(33, 1), (36, 1 << 40)]), None);
    }

    #[test]
    fn a_sum_that_cancels_is_the_empty_sum() {
        let cancelled: Sum = [0.1, 3.0, -0.1, -3.0].into_iter().collect();
        assert_eq!(cancelled, Sum::default());
    }

    #[test]
    fn one_total_is_one_state() {
        let sum = |terms: &[f64]| terms.iter().copied().collect::<Sum>();
        // 2 and 4 are in different bins, and so are these.
        assert_eq!(sum(&[2.0, 2.0]), sum(&[4.0]));
        assert_eq!(sum(&[2.0, 2.0, -4.0]), Sum::default());
        assert_eq!(sum(&[1e300, -1e300, -3.0]), sum(&[-3.0]));
        assert_ne!(sum(&[1e300, 1e-300]), sum(&[1e300]));
        assert_ne!(sum(&[3.0]), sum(&[-3.0]));
    }

    #[test]
    fn a_sum_without_bounds_is_infinite() {
        for (term, expected) in [(f64::MAX, f64::INFINITY), (-f64::MAX, f64::NEG_INFINITY)] {
            let mut sum: Sum = [term].into_iter().collect();
            for _ in 0..200 {
                sum.merge_times(&sum.clone(), u64::MAX);
                assert_eq!(sum.value(), expected);
            }
        }
    }

    #[test]
    fn invalid_written_sums_are_refused() {
        let read = |bins: &[(u8, i64)]| {
            let mut written = Writer::default();
            written.map(2);
            written.field("bins", &bins.to_vec());
            written.field("non_finite", &[false; 3]);
            from_bytes::<Sum>(&written.into_bytes())
        };
        // Two digits below 0.
        assert!(read(&[(0, -1), (2, -1)]).is_ok());
        assert!(read(&[]).is_ok_and(|sum| sum == Sum::default()));
        for bins in [
            &[(1, 0)][..],
            &[(0, 1 << 32)],
            &[(0, 1), (1, -1)],
            &[(1, 1), (0, 1)],
            &[(1, 1), (1, 1)],
            &[(128, 1)],
        ] {
            assert!(read(bins).is_err(), "{bins:?}");
        }
        // Any sum that can be read can be added to and evaluated, however many terms it has.
        let mut sum = read(&[(127, (1 << 32) - 1)]).unwrap_or_default();
        sum.merge_times(&sum.clone(), u64::MAX);
        sum.merge_times(&sum.clone(), u64::MAX);
        assert_eq!(sum.value(), f64::INFINITY);
    }

    /// Terms of all magnitudes, some of which cancel.
    fn terms() -> impl Strategy<Value = Vec<f64>> {
        let term = prop_oneof![
            -1.0..1.0_f64,
            any::<f64>(),
            any::<f64>().prop_map(|x| x * f64::MIN_POSITIVE),
            (1_u64..9).prop_map(f64::from_bits),
            proptest::sample::select(vec![
                f64::MAX,
                -f64::MAX,
                1.0,
                -1.0,
                2.0,
                -4.0,
                1e100,
                -1e100
            ]),
        ];
        proptest::collection::vec(term, 0..6)
    }

    proptest! {
        #[test]
        fn narrow_values_are_those_of_the_digits(
            terms in prop::collection::vec((-1e12_f64..1e12, -60_i32..60), 1..12)
        ) {
            let terms = terms.into_iter().map(|(term, exponent)| term * 2_f64.powi(exponent));
            let bins = terms.collect::<Sum>().bins;
            if let Some(value) = narrow_value(&bins) {
                let expected = magnitude(&bins, 1).or_else(|| Some(-magnitude(&bins, -1)?));
                prop_assert_eq!(Some(value), expected);
            }
        }

        #[test]
        fn one_term_is_itself(term in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
            prop_assert_eq!(sum(&[term]), term);
        }

        #[test]
        fn one_product_is_one_rounded_multiplication(a in any::<f64>(), b in any::<f64>()) {
            let mut sum = Sum::default();
            sum.add_product(a, b);
            let (exact, plain) = (sum.value(), a * b);
            // Next to the least numbers, digits are lost before the sum is rounded.
            let is_near = plain.abs() < 1e-290 && (exact - plain).abs() <= plain.abs() * f64::EPSILON + f64::from_bits(1);
            let is_same = exact == plain || is_near;
            prop_assert!(is_same || (exact.is_nan() && plain.is_nan()), "{exact} {plain}");
        }

        #[test]
        fn products_of_integers_are_exact(
            pairs in proptest::collection::vec((-(1_i64 << 53)..1 << 53, -(1_i64 << 53)..1 << 53), 0..20),
        ) {
            let (mut sum, mut exact) = (Sum::default(), 0_i128);
            for (a, b) in pairs {
                sum.add_product(a as f64, b as f64);
                exact += i128::from(a) * i128::from(b);
            }
            prop_assert_eq!(sum.value(), exact as f64);
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
        fn laws_of_merge(examples in proptest::collection::vec(terms(), 0..5)) {
            let sums = examples.iter().map(|terms| terms.iter().copied().collect());
            let sum: Sum = crate::laws::check(&sums.collect::<Vec<_>>());
            let means = examples.iter().map(|terms| terms.iter().copied().collect());
            let mean: Mean = crate::laws::check(&means.collect::<Vec<_>>());
            prop_assert_eq!(&mean.sum, &sum);

            let mut single: Sum = examples.concat().into_iter().collect();
            prop_assert_eq!(&single, &sum);
            let (a, b) = (single.value(), sum.value());
            prop_assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()));
            // A sum that has nothing left of its terms has no trace of them.
            single.extend(examples.concat().into_iter().filter(|x| x.is_finite()).map(|x| -x));
            prop_assert_eq!(single.canonical().count(), 0);
        }

        #[test]
        fn many_times_is_as_often_doubled(
            start in terms(), terms in terms(), times in prop_oneof![0..1_u64 << 20, any::<u64>()],
        ) {
            let (start, terms): (Sum, Sum) = (start.into_iter().collect(), terms.into_iter().collect());
            let mut at_once = start.clone();
            at_once.merge_times(&terms, times);
            let (mut doubled, mut repeated) = (terms, start);
            for bit in 0..64 {
                if times >> bit & 1 == 1 {
                    repeated.merge(doubled.clone());
                }
                if times >> bit > 1 {
                    doubled.merge(doubled.clone());
                }
            }
            prop_assert_eq!(&at_once, &repeated);
            let (a, b) = (at_once.value(), repeated.value());
            prop_assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()));
        }

        #[test]
        fn powers_of_two_times_are_exact(term in terms().prop_map(|terms| terms.first().copied().unwrap_or(0.1)), shift in 0..=20) {
            let mut sum = Sum::default();
            sum.merge_times(&[term].into_iter().collect(), 1_u64 << shift);
            // Exact even among subnormal numbers, or infinite.
            let expected = term * f64::from(1 << shift);
            prop_assert!(sum.value() == expected || expected.is_nan());
        }

        #[test]
        fn small_integers_sum_exactly(terms in proptest::collection::vec(-1_000_000_i64..1_000_000, 0..50)) {
            let exact: i64 = terms.iter().sum();
            prop_assert_eq!(sum(&terms.iter().map(|&x| x as f64).collect::<Vec<_>>()), exact as f64);
        }
    }
}
