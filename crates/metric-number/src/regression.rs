use metric_core::{Malformed, Merge, Metric, Reader, Sum, Writer, Written, named_choice};

use crate::error::{NumbersError, check};
use crate::exact::Exact;

/// The least reference that a relative error is divided by: the distance from 1 to the next `f64`, as in scikit-learn.
const LEAST_REFERENCE: f64 = f64::EPSILON;

/// Whose convention holds where R² is undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegressionProfile {
    /// R² of constant references is undefined.
    #[default]
    Textbook,
    /// R² of two or more constant references is 1 if all predictions are exact, and 0 otherwise, as `r2_score` of
    /// scikit-learn 1.9 returns it with `force_finite=True`.
    Sklearn,
}

impl RegressionProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[Self::Textbook, Self::Sklearn];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Textbook => "textbook",
            Self::Sklearn => "sklearn",
        }
    }
}

named_choice!(RegressionProfile, "profile");

/// Errors of predicted numbers, R² and Pearson's correlation.
///
/// For predictions p, references y, errors e = p − y, weights w (1 by default) and W = Σw:
///
/// | score | definition |
/// |---|---|
/// | `mae` | Σw·\|e\| / W |
/// | `mse`, `rmse` | Σw·e² / W, and its square root |
/// | `mape` | Σw·\|e\|/max(\|y\|, 2⁻⁵²) / W, a fraction |
/// | `max_error` | the greatest \|e\| of a pair with a positive weight |
/// | `r2` | 1 − Σw·e² / Σw·(y − ȳ)², with the weighted mean ȳ |
/// | `pearson` | the covariance of p and y over the root of both variances |
///
/// `r2` and `pearson` are undefined for fewer than two pairs. `r2` is undefined for constant references, except under
/// [`RegressionProfile::Sklearn`], and `pearson` if either side is constant. A score whose exact value is beyond
/// the doubles is undefined too.
///
/// The state has exact sums, so variances have all their digits: 10⁸ + 1, 10⁸ + 2, 10⁸ + 3 are as far apart as 1, 2, 3. Only
/// squares below 2⁻¹⁰²² lose digits.
///
/// ```
/// use metric_number::{Metric, Regression};
///
/// let score = Regression::default().score_all([(&2.0, &1.0), (&2.0, &2.0), (&5.0, &3.0)]);
/// assert_eq!(score.mae, Some((1.0 + 0.0 + 2.0) / 3.0));
/// assert_eq!(score.mse, Some((1.0 + 0.0 + 4.0) / 3.0));
/// // The references 1, 2, 3 deviate from their mean by -1, 0, 1.
/// assert_eq!(score.r2, Some(1.0 - 5.0 / 2.0));
/// // The predictions deviate by -1, -1, 2: the sums of products are 3, 6 and 2, and here each times 3 rows.
/// assert_eq!(score.pearson, Some(9.0 / (18.0_f64 * 6.0).sqrt()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Regression {
    /// The convention for R² where it is undefined.
    pub profile: RegressionProfile,
}

metric_core::setters!(Regression {
    with_profile => profile: RegressionProfile,
});

impl Metric for Regression {
    type Prediction = f64;
    type Reference = f64;
    type State = RegressionState;
    type Score = RegressionScore;

    fn update(&self, state: &mut RegressionState, prediction: &f64, reference: &f64) {
        state.add(*prediction, *reference);
    }

    fn compute(&self, state: &RegressionState) -> RegressionScore {
        let total = state.total();
        let mean = |sum: &Sum| finite(sum.value() / total);
        let mse = mean(&state.squared_errors);
        RegressionScore {
            mae: mean(&state.absolute_errors),
            mse,
            rmse: mse.map(f64::sqrt),
            mape: mean(&state.relative_errors),
            max_error: (total > 0.0)
                .then_some(state.largest_error.0)
                .and_then(finite),
            r2: self.r2(state),
            pearson: state.pearson(),
        }
    }
}

impl Regression {
    fn r2(&self, state: &RegressionState) -> Option<f64> {
        if state.rows < 2 || state.total() <= 0.0 {
            return None;
        }
        let variance = state.variance(&state.references, &state.reference_squares)?;
        let errors = state
            .exact_total()?
            .times(&Exact::of(&state.squared_errors)?);
        if variance.is_zero() {
            return match self.profile {
                RegressionProfile::Textbook => None,
                RegressionProfile::Sklearn => Some(f64::from(u8::from(errors.is_zero()))),
            };
        }
        finite(variance.minus(&errors).rounded().over(variance.rounded()))
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The scores of [`Regression`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RegressionScore {
    /// Mean absolute error.
    pub mae: Option<f64>,
    /// Mean squared error.
    pub mse: Option<f64>,
    /// The root of the mean squared error.
    pub rmse: Option<f64>,
    /// Mean absolute error relative to the reference, as a fraction.
    pub mape: Option<f64>,
    /// The greatest absolute error.
    pub max_error: Option<f64>,
    /// The coefficient of determination R².
    pub r2: Option<f64>,
    /// Pearson's correlation coefficient.
    pub pearson: Option<f64>,
}

metric_core::named_scores!(RegressionScore {
    mae,
    mse,
    rmse,
    mape,
    max_error,
    r2,
    pearson
});

/// The state of [`Regression`]: the number of pairs, and exact sums of errors, numbers and products.
///
/// It takes a few hundred bytes, whatever the number of pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegressionState {
    rows: u64,
    zero_references: u64,
    largest_error: Largest,
    absolute_errors: Sum,
    relative_errors: Sum,
    squared_errors: Sum,
    predictions: Sum,
    references: Sum,
    prediction_squares: Sum,
    reference_squares: Sum,
    products: Sum,
    /// The sum of weights, if pairs have any.
    weight: Option<Sum>,
}

metric_core::fields!(RegressionState {
    rows, zero_references, largest_error, absolute_errors, relative_errors, squared_errors, predictions, references,
    prediction_squares, reference_squares, products;
    weight,
} check RegressionState::check);

/// The number of sums in a state, without the sum of weights.
const SUMS: usize = 8;

impl RegressionState {
    /// Adds a pair of finite numbers.
    pub fn add(&mut self, prediction: f64, reference: f64) {
        self.rows += 1;
        let error = self.add_extremes(prediction, reference);
        self.absolute_errors.add(error);
        self.relative_errors.add(relative(error, reference));
        self.squared_errors.add_product(error, error);
        self.predictions.add(prediction);
        self.references.add(reference);
        self.prediction_squares.add_product(prediction, prediction);
        self.reference_squares.add_product(reference, reference);
        self.products.add_product(prediction, reference);
    }

    /// Adds a pair of finite numbers with a weight. Pairs of a state have weights either all or none.
    ///
    /// # Errors
    ///
    /// Returns an error if the weight is negative, NaN or infinite; nothing was added.
    pub fn add_weighted(
        &mut self,
        prediction: f64,
        reference: f64,
        weight: f64,
    ) -> Result<(), NumbersError> {
        if !weight.is_finite() || weight < 0.0 {
            return Err(NumbersError::InvalidWeight(weight));
        }
        self.rows += 1;
        self.weight.get_or_insert_default().add(weight);
        if weight == 0.0 {
            return Ok(());
        }
        let error = self.add_extremes(prediction, reference);
        self.absolute_errors.add_product(weight, error);
        self.relative_errors
            .add_product(weight, relative(error, reference));
        self.predictions.add_product(weight, prediction);
        self.references.add_product(weight, reference);
        let products = [
            (&mut self.squared_errors, error, error),
            (&mut self.prediction_squares, prediction, prediction),
            (&mut self.reference_squares, reference, reference),
            (&mut self.products, prediction, reference),
        ];
        for (sum, a, b) in products {
            // A product of three numbers is a sum of two products of two.
            let high = weight * a;
            let low = weight.mul_add(a, -high);
            sum.add_product(high, b);
            sum.add_product(low, b);
        }
        Ok(())
    }

    /// Takes a pair with a positive weight into the greatest error and the references of 0, and returns its error.
    fn add_extremes(&mut self, prediction: f64, reference: f64) -> f64 {
        let error = (prediction - reference).abs();
        self.largest_error.0 = self.largest_error.0.max(error);
        self.zero_references += u64::from(reference == 0.0);
        error
    }

    /// Returns the number of pairs, or the sum of their weights.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.weight.as_ref().map_or(self.rows as f64, Sum::value)
    }

    /// Returns whether pairs have weights.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.weight.is_some()
    }

    /// Returns the number of pairs, whatever their weight.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of pairs of positive weight whose reference is 0.
    #[must_use]
    pub fn zero_references(&self) -> u64 {
        self.zero_references
    }

    /// Returns whether all predictions are equal, and whether all references are.
    #[must_use]
    pub fn is_constant(&self) -> [bool; 2] {
        let sides = [
            (&self.predictions, &self.prediction_squares),
            (&self.references, &self.reference_squares),
        ];
        sides.map(|(sum, squares)| {
            let variance = self.variance(sum, squares);
            variance.is_some_and(|variance| variance.is_zero())
        })
    }

    fn exact_total(&self) -> Option<Exact> {
        match &self.weight {
            Some(weight) => Exact::of(weight),
            None => Exact::of(&[self.rows as f64].into_iter().collect()),
        }
    }

    /// The variance, times the square of the total.
    fn variance(&self, sum: &Sum, squares: &Sum) -> Option<Exact> {
        self.covariance(sum, sum, squares)
    }

    fn covariance(&self, a: &Sum, b: &Sum, products: &Sum) -> Option<Exact> {
        let products = self.exact_total()?.times(&Exact::of(products)?);
        Some(products.minus(&Exact::of(a)?.times(&Exact::of(b)?)))
    }

    fn pearson(&self) -> Option<f64> {
        let covariance = self.covariance(&self.predictions, &self.references, &self.products)?;
        let variances = self
            .variance(&self.predictions, &self.prediction_squares)?
            .times(&self.variance(&self.references, &self.reference_squares)?);
        if variances.is_zero() || variances.is_negative() {
            return None;
        }
        // The root of a rounded square is not always the number.
        let correlation = if covariance.times(&covariance) == variances {
            if covariance.is_negative() { -1.0 } else { 1.0 }
        } else {
            covariance.rounded().over(variances.rounded().root())
        };
        Some(correlation.clamp(-1.0, 1.0))
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.largest_error.0.is_nan() || self.largest_error.0 < 0.0 {
            return Err("invalid greatest error: expected a number of at least 0");
        }
        if self.rows > 1 << 53 || self.zero_references > self.rows {
            return Err("invalid counts: expected at most 2^53 pairs, and no more references of 0");
        }
        Ok(())
    }

    fn sums(&self) -> [&Sum; SUMS] {
        [
            &self.absolute_errors,
            &self.relative_errors,
            &self.squared_errors,
            &self.predictions,
            &self.references,
            &self.prediction_squares,
            &self.reference_squares,
            &self.products,
        ]
    }

    /// Returns a function that merges these states as often as weights say, much faster than one by one.
    ///
    /// # Cost
    ///
    /// Once the digits of all sums as columns, 8 bytes each: some 30 per state. Then a pass over the columns per call.
    ///
    /// ```
    /// use metric_number::{Merge, Metric, Regression, RegressionState};
    ///
    /// let regression = Regression::default();
    /// let states = [(1.0, 2.0), (4.0, 3.0)].map(|(p, y)| regression.measure(&p, &y));
    /// let merge = RegressionState::weighted(&[&states[0], &states[1]]);
    /// let mut merged = states[0].clone();
    /// merged.merge_times(&states[1], 3);
    /// assert_eq!(merge(&[1, 3]), merged);
    /// ```
    pub fn weighted(states: &[&Self]) -> impl Fn(&[u64]) -> Self + Send + Sync + use<> {
        let has_weights = states.iter().any(|state| state.weight.is_some());
        let empty = Sum::default();
        let sum_of = |state: &Self, index: usize| -> Sum {
            let sums = state.sums();
            let weight = state.weight.as_ref().unwrap_or(&empty);
            sums.get(index).copied().unwrap_or(weight).clone()
        };
        let columns: Vec<Columns> = (0..=SUMS)
            .map(|index| Columns::new(states.iter().map(|state| sum_of(state, index))))
            .collect();
        let counts: Vec<[u64; 2]> = states
            .iter()
            .map(|state| [state.rows, state.zero_references])
            .collect();
        let mut by_error: Vec<(f64, usize)> = states
            .iter()
            .enumerate()
            .map(|(index, state)| (state.largest_error.0, index))
            .collect();
        by_error.sort_by(|a, b| b.0.total_cmp(&a.0));
        move |weights| {
            let [rows, zero_references] = [0, 1].map(|index| {
                let counts = counts.iter().zip(weights);
                counts.map(|(counts, weight)| counts[index] * weight).sum()
            });
            let weight_of = |index: usize| weights.get(index).copied().unwrap_or_default();
            let largest = by_error.iter().find(|(_, index)| weight_of(*index) > 0);
            let mut sums = columns.iter().map(|columns| columns.weighted(weights));
            let mut next = || sums.next().unwrap_or_default();
            Self {
                rows,
                zero_references,
                largest_error: Largest(largest.map_or(0.0, |(error, _)| *error)),
                absolute_errors: next(),
                relative_errors: next(),
                squared_errors: next(),
                predictions: next(),
                references: next(),
                prediction_squares: next(),
                reference_squares: next(),
                products: next(),
                weight: (has_weights && rows > 0).then(next),
            }
        }
    }
}

fn relative(error: f64, reference: f64) -> f64 {
    error / reference.abs().max(LEAST_REFERENCE)
}

/// The same sum of many states, as a column for each digit; with it the states in which it is not finite.
struct Columns {
    digits: Vec<(u8, Vec<i64>)>,
    not_finite: Vec<(usize, Sum)>,
}

impl Columns {
    fn new(sums: impl ExactSizeIterator<Item = Sum>) -> Self {
        let len = sums.len();
        let mut columns = Self {
            digits: Vec::new(),
            not_finite: Vec::new(),
        };
        for (row, sum) in sums.enumerate() {
            let Some(digits) = sum.digits() else {
                columns.not_finite.push((row, sum));
                continue;
            };
            for (index, digit) in digits {
                let known = &mut columns.digits;
                let at = known.iter().position(|column| column.0 == index);
                let at = at.unwrap_or_else(|| {
                    known.push((index, vec![0; len]));
                    known.len() - 1
                });
                known[at].1[row] = digit;
            }
        }
        columns
    }

    fn weighted(&self, weights: &[u64]) -> Sum {
        let total = |column: &[i64]| {
            let products = column.iter().zip(weights);
            products
                .map(|(digit, weight)| i128::from(*digit) * i128::from(*weight))
                .sum()
        };
        let digits = self.digits.iter();
        let mut sum = Sum::from_digits(digits.map(|(index, column)| (*index, total(column))));
        for (row, other) in &self.not_finite {
            sum.merge_times(other, weights.get(*row).copied().unwrap_or_default());
        }
        sum
    }
}

/// The greatest of some numbers of at least 0, which is 0 without any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Largest(f64);

impl Merge for Largest {
    fn merge(&mut self, other: Self) {
        self.0 = self.0.max(other.0);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times > 0 {
            self.merge(*other);
        }
    }
}

impl Written for Largest {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        f64::read(from).map(Self)
    }
}

/// Returns all scores of [`Regression`] for predictions and their references.
///
/// # Errors
///
/// Returns an error if the lists are empty or differ in length, or if a number is NaN or infinite.
///
/// ```
/// use metric_number::regression;
///
/// let score = regression(&[2.5, 0.0, 2.0], &[3.0, -0.5, 2.0])?;
/// assert_eq!(score.mae, Some((0.5 + 0.5 + 0.0) / 3.0));
/// assert_eq!(score.max_error, Some(0.5));
/// assert!(regression(&[1.0], &[f64::NAN]).is_err());
/// # Ok::<(), metric_number::NumbersError>(())
/// ```
pub fn regression(
    predictions: &[f64],
    references: &[f64],
) -> Result<RegressionScore, NumbersError> {
    check(predictions, references)?;
    Ok(Regression::default().score_all(predictions.iter().zip(references)))
}

/// Returns Pearson's correlation coefficient; undefined for fewer than two pairs, and if either side is constant.
///
/// # Errors
///
/// Returns an error if the lists are empty or differ in length, or if a number is NaN or infinite.
///
/// ```
/// use metric_number::pearson;
///
/// // Deviations -1, 0, 1 and -1, 1, 0.
/// assert_eq!(pearson(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0])?, Some(0.5));
/// assert_eq!(pearson(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0])?, Some(-1.0));
/// assert_eq!(pearson(&[1.0, 2.0], &[5.0, 5.0])?, None);
/// # Ok::<(), metric_number::NumbersError>(())
/// ```
pub fn pearson(predictions: &[f64], references: &[f64]) -> Result<Option<f64>, NumbersError> {
    Ok(regression(predictions, references)?.pearson)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn score(predictions: &[f64], references: &[f64]) -> RegressionScore {
        regression(predictions, references).unwrap_or_default()
    }

    #[test]
    fn means_far_from_zero_lose_no_digits() {
        for shift in [0.0, 1e8, 1e15] {
            let shifted = |numbers: [f64; 4]| numbers.map(|number| number + shift);
            let score = score(
                &shifted([1.0, 3.0, 2.0, 5.0]),
                &shifted([1.0, 2.0, 3.0, 4.0]),
            );
            // Deviations -1.75, 0.25, -0.75, 2.25 and -1.5, -0.5, 0.5, 1.5.
            assert_eq!(
                score.pearson,
                Some(5.5 / (8.75_f64 * 5.0).sqrt()),
                "{shift}"
            );
            assert_eq!(score.r2, Some(1.0 - 3.0 / 5.0), "{shift}");
        }
    }

    #[test]
    fn what_is_undefined() {
        let constant = score(&[0.3, 0.1, 0.2], &[0.1, 0.1, 0.1]);
        assert_eq!((constant.r2, constant.pearson), (None, None));
        let single = score(&[1.0], &[1.5]);
        assert_eq!((single.r2, single.pearson), (None, None));
        assert_eq!(single.mae, Some(0.5));
        let empty = Regression::default().compute(&RegressionState::default());
        assert_eq!(empty, RegressionScore::default());
        // Squares of 1e200 are beyond the doubles, and their ratios are not.
        let huge = score(&[1e200, 3e200], &[1e200, 2e200]);
        assert_eq!(
            (huge.mse, huge.r2, huge.pearson),
            (None, Some(-1.0), Some(1.0))
        );
        let beyond = score(&[f64::MAX, 0.0], &[-f64::MAX, 0.0]);
        assert_eq!((beyond.mae, beyond.max_error), (None, None));
    }

    #[test]
    fn constant_references_by_profile() {
        let sklearn = Regression::default().with_profile(RegressionProfile::Sklearn);
        let r2 = |pairs: &[(f64, f64)]| sklearn.score_all(pairs.iter().map(|(p, y)| (p, y))).r2;
        assert_eq!(r2(&[(2.0, 2.0), (2.0, 2.0)]), Some(1.0));
        assert_eq!(r2(&[(2.0, 2.0), (2.5, 2.0)]), Some(0.0));
        assert_eq!(r2(&[(2.0, 2.0)]), None);
    }

    #[test]
    fn weights_of_zero_leave_out_and_others_multiply() {
        let mut weighted = RegressionState::default();
        for (p, y, w) in [(2.0, 1.0, 2.0), (9.0, 0.0, 0.0), (3.0, 5.0, 1.0)] {
            weighted.add_weighted(p, y, w).expect("a weight");
        }
        let repeated = score(&[2.0, 2.0, 3.0], &[1.0, 1.0, 5.0]);
        assert_eq!(Regression::default().compute(&weighted), repeated);
        assert_eq!((weighted.total(), weighted.zero_references()), (3.0, 0));
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(weighted.add_weighted(1.0, 1.0, weight).is_err());
        }
    }

    fn numbers() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-3_i8..3).prop_map(f64::from),
            -1e3..1e3_f64,
            any::<f64>().prop_filter("finite", |x| x.is_finite()),
        ]
    }

    proptest! {
        #[test]
        fn laws_of_merge(
            rows in vec((numbers(), numbers(), prop_oneof![Just(0.0), Just(2.0), 0.0..2.0_f64]), 0..6),
            weights in vec(0_u64..4, 6),
            has_weights in any::<bool>(),
        ) {
            let states = rows.iter().map(|&(p, y, w)| {
                let mut state = RegressionState::default();
                if has_weights {
                    let _ = state.add_weighted(p, y, w);
                } else {
                    state.add(p, y);
                }
                state
            });
            let states: Vec<RegressionState> = states.collect();
            crate::laws::check(&states);
            let mut merged = RegressionState::default();
            for (state, weight) in states.iter().zip(&weights) {
                merged.merge_times(state, *weight);
            }
            let merge = RegressionState::weighted(&states.iter().collect::<Vec<_>>());
            prop_assert_eq!(merge(&weights), merged);
        }

        #[test]
        fn correlations_of_lines_are_one(
            xs in vec(-1000_i32..1000, 2..9), slope in -9_i32..9, start in -1000_i32..1000,
        ) {
            let ys: Vec<f64> = xs.iter().map(|x| f64::from(slope * x + start)).collect();
            let xs: Vec<f64> = xs.into_iter().map(f64::from).collect();
            let is_constant = xs.iter().all(|x| *x == xs[0]) || slope == 0;
            let expected = (!is_constant).then(|| f64::from(slope.signum()));
            prop_assert_eq!(score(&ys, &xs).pearson, expected);
        }
    }
}
