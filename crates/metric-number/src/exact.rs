use metric_core::Sum;

/// An integer without bounds, in units of some power of two: what is multiplied and subtracted before anything is
/// rounded.
///
/// A variance is the difference of two totals that may agree in all digits of an `f64`, as of 10^8 + 1 and 10^8 + 2. It
/// is formed here, from the digits of exact sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exact {
    is_negative: bool,
    /// The index of the first digit: below it are zeros.
    lowest: usize,
    /// Digits of base 2^32. The first and the last are not 0; zero has none.
    digits: Vec<u32>,
}

/// A number with the range of an integer without bounds: `mantissa` times `2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rounded {
    mantissa: f64,
    exponent: i32,
}

const BITS: u32 = 32;

impl Exact {
    /// The total of a sum in units of 2^-1074; `None` if a term is not finite.
    pub(crate) fn of(sum: &Sum) -> Option<Self> {
        let mut digits = sum.digits()?.peekable();
        let lowest = digits.peek().map_or(0, |digit| usize::from(digit.0));
        let mut is_negative = false;
        let mut all = Vec::new();
        for (index, digit) in digits {
            is_negative = digit < 0;
            all.resize(usize::from(index) - lowest, 0);
            all.push(digit.unsigned_abs() as u32);
        }
        Some(Self {
            is_negative,
            lowest,
            digits: all,
        })
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut digits = vec![0_u32; self.digits.len() + other.digits.len()];
        for (start, &a) in self.digits.iter().enumerate() {
            let mut carry = 0_u64;
            for (offset, &b) in other.digits.iter().chain(&[0]).enumerate() {
                let digit = &mut digits[start + offset];
                carry += u64::from(a) * u64::from(b) + u64::from(*digit);
                *digit = carry as u32;
                carry >>= BITS;
            }
        }
        let is_negative = self.is_negative != other.is_negative;
        Self::trimmed(is_negative, self.lowest + other.lowest, digits)
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        let lowest = self.lowest.min(other.lowest);
        let mut differences: Vec<i64> = Vec::new();
        for (number, sign) in [(self, 1), (other, -1)] {
            let sign = if number.is_negative { -sign } else { sign };
            let start = number.lowest - lowest;
            let end = start + number.digits.len();
            differences.resize(differences.len().max(end), 0);
            let differences = differences[start..end].iter_mut().zip(&number.digits);
            differences.for_each(|(difference, &digit)| *difference += sign * i64::from(digit));
        }
        let last = differences.iter().rfind(|difference| **difference != 0);
        let is_negative = last.is_some_and(|difference| *difference < 0);
        let mut carry = 0;
        let digits = differences.into_iter().chain([0]).map(|difference| {
            carry += if is_negative { -difference } else { difference };
            let digit = carry as u32;
            carry >>= BITS; // arithmetic: rounds down
            digit
        });
        Self::trimmed(is_negative, lowest, digits.collect())
    }

    fn trimmed(is_negative: bool, lowest: usize, mut digits: Vec<u32>) -> Self {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..zeros);
        if digits.is_empty() {
            return Self::default();
        }
        Self {
            is_negative,
            lowest: lowest + zeros,
            digits,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.is_negative
    }

    /// The number, rounded once, to nearest.
    pub(crate) fn rounded(&self) -> Rounded {
        // The top four digits have at least 97 bits. One bit for all that is below can only break a tie.
        let low = self.digits.len().saturating_sub(4);
        let (below, top) = self.digits.split_at(low);
        let join = |top, digit: &u32| (top << BITS) | u128::from(*digit);
        let top = top.iter().rev().fold(0, join) | u128::from(below.iter().any(|it| *it != 0));
        let mantissa = top as f64;
        Rounded {
            mantissa: if self.is_negative {
                -mantissa
            } else {
                mantissa
            },
            exponent: ((self.lowest + low) as u32 * BITS) as i32,
        }
    }
}

impl Rounded {
    /// The quotient of two numbers of one unit.
    pub(crate) fn over(self, divisor: Self) -> f64 {
        let quotient = self.mantissa / divisor.mantissa;
        let exponent = self.exponent - divisor.exponent;
        // The power alone may have no double where the quotient has.
        let half = exponent / 2;
        quotient * 2_f64.powi(half) * 2_f64.powi(exponent - half)
    }

    /// The square root of a number that is not negative, in units that are the root of its unit.
    pub(crate) fn root(self) -> Self {
        let odd = self.exponent & 1;
        Self {
            mantissa: (self.mantissa * f64::from(1 + odd)).sqrt(),
            exponent: (self.exponent - odd) / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exact(number: i64) -> Exact {
        // An integer of 63 bits as two terms.
        let (high, low) = (number >> 32 << 32, number & 0xffff_ffff);
        let sum: Sum = [high as f64, low as f64].into_iter().collect();
        Exact::of(&sum).unwrap_or_default()
    }

    fn value(exact: &Exact, factors: u32) -> f64 {
        let mut unit = exact_one();
        for _ in 1..factors {
            unit = unit.times(&exact_one());
        }
        exact.rounded().over(unit.rounded())
    }

    fn exact_one() -> Exact {
        exact(1)
    }

    proptest! {
        #[test]
        fn is_integer_arithmetic(
            [a, b, c, d] in prop::array::uniform4(prop_oneof![-5_i64..5, -(1_i64 << 62)..1 << 62]),
        ) {
            let difference = exact(a).times(&exact(b)).minus(&exact(c).times(&exact(d)));
            let plain = (i128::from(a) * i128::from(b)).checked_sub(i128::from(c) * i128::from(d));
            if let Some(plain) = plain {
                prop_assert_eq!(value(&difference, 2), plain as f64);
                prop_assert_eq!(difference.is_zero(), plain == 0);
                prop_assert_eq!(difference.is_negative(), plain < 0);
            }
        }

        #[test]
        fn roots_of_squares_are_the_numbers(a in 1_i64..1 << 53) {
            let square = exact(a).times(&exact(a));
            prop_assert_eq!(square.rounded().root().over(exact_one().rounded()), a as f64);
        }
    }

    #[test]
    fn quotients_beyond_the_powers_of_doubles() {
        let [least, greatest] = [f64::from_bits(1), f64::MAX]
            .map(|term| Exact::of(&[term].into_iter().collect()).unwrap_or_default());
        assert_eq!(least.rounded().over(least.rounded()), 1.0);
        assert_eq!(greatest.rounded().over(least.rounded()), f64::INFINITY);
        assert_eq!(greatest.rounded().over(exact_one().rounded()), f64::MAX);
    }
}
