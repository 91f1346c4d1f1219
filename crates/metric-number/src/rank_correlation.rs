use metric_core::{Malformed, Merge, Metric, Reader, Writer, Written};

use crate::error::{NumbersError, check};
use crate::ranks::DenseRanks;

/// Spearman's ρ and Kendall's τ-b: how well predictions order the references.
///
/// Ties have their mean rank in ρ. For T pairs of rows, of which Tx tie in the predictions, Ty in the references, C are
/// in the same order on both sides and D in opposite orders, τ-b is (C − D) / √((T − Tx)(T − Ty)) (Kendall 1945).
///
/// Both are undefined for fewer than two rows, and if either side is constant. All counts are integers, with one division
/// at the end, so that equal orders give exactly 1 and opposite ones exactly −1.
///
/// # Cost
///
/// Two sorts, and for Kendall a merge sort, on two threads with the feature `rayon`. The state keeps all rows, 16 bytes
/// each, of which there are at most 2^32.
///
/// ```
/// use metric_number::{Metric, RankCorrelation};
///
/// let rows = [(&1.0, &10.0), (&2.0, &30.0), (&3.0, &20.0)];
/// let score = RankCorrelation.score_all(rows);
/// // Ranks 1, 2, 3 and 1, 3, 2: the sum of squared differences is 2.
/// assert_eq!(score.spearman, Some(1.0 - 6.0 * 2.0 / (3.0 * 8.0)));
/// // Two of three pairs are in the same order.
/// assert_eq!(score.kendall, Some((2.0 - 1.0) / 3.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankCorrelation;

impl Metric for RankCorrelation {
    type Prediction = f64;
    type Reference = f64;
    type State = RankCorrelationState;
    type Score = RankCorrelationScore;

    fn update(&self, state: &mut RankCorrelationState, prediction: &f64, reference: &f64) {
        state.add(*prediction, *reference);
    }

    fn compute(&self, state: &RankCorrelationState) -> RankCorrelationScore {
        score(&DenseRanks::new(&state.rows))
    }
}

fn score(ranks: &DenseRanks) -> RankCorrelationScore {
    let [spearman, kendall] = ranks.correlations();
    RankCorrelationScore { spearman, kendall }
}

/// The scores of [`RankCorrelation`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RankCorrelationScore {
    /// Spearman's ρ.
    pub spearman: Option<f64>,
    /// Kendall's τ-b.
    pub kendall: Option<f64>,
}

metric_core::named_scores!(RankCorrelationScore { spearman, kendall });

/// The state of [`RankCorrelation`]: the rows. They are written in ascending order, 16 bytes each.
#[derive(Clone, Debug, Default)]
pub struct RankCorrelationState {
    rows: Vec<[f64; 2]>,
}

impl RankCorrelationState {
    /// Adds a pair of finite numbers. -0.0 is 0.0.
    pub fn add(&mut self, prediction: f64, reference: f64) {
        self.rows.push([prediction + 0.0, reference + 0.0]);
    }

    /// Adds pairs of finite numbers.
    pub fn extend(&mut self, pairs: impl ExactSizeIterator<Item = (f64, f64)>) {
        self.rows.reserve(pairs.len());
        pairs.for_each(|(prediction, reference)| self.add(prediction, reference));
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns whether all predictions are equal, and whether all references are.
    #[must_use]
    pub fn is_constant(&self) -> [bool; 2] {
        [0, 1].map(|side| self.rows.windows(2).all(|two| two[0][side] == two[1][side]))
    }

    fn sorted(&self) -> Vec<[f64; 2]> {
        let mut rows = self.rows.clone();
        rows.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        rows
    }

    /// Returns a function that scores these states, each as often as a weight says. Rows are sorted once.
    ///
    /// ```
    /// use metric_number::{Merge, Metric, RankCorrelation, RankCorrelationState};
    ///
    /// let states = [(1.0, 2.0), (2.0, 3.0), (3.0, 1.0)].map(|(p, y)| RankCorrelation.measure(&p, &y));
    /// let score = RankCorrelationState::weighted(&states.each_ref());
    /// let mut merged = states[0].clone();
    /// merged.merge_times(&states[1], 3);
    /// assert_eq!(score(&[1, 3, 0]), (4, RankCorrelation.compute(&merged)));
    /// ```
    ///
    /// The first value is the number of rows.
    pub fn weighted(
        states: &[&Self],
    ) -> impl Fn(&[u64]) -> (u64, RankCorrelationScore) + Send + Sync + use<> {
        let states_of = states.iter().zip(0_u32..);
        let owners = states_of.flat_map(|(state, owner)| state.rows.iter().map(move |_| owner));
        let owners: Vec<u32> = owners.collect();
        let rows = states.iter().flat_map(|state| state.rows.iter().copied());
        let (ranks, order) = DenseRanks::with_order(&rows.collect::<Vec<_>>());
        let owners: Vec<u32> = order.iter().map(|index| owners[*index as usize]).collect();
        move |weights| {
            let weight = |row: usize| weights.get(owners[row] as usize).copied().unwrap_or(0);
            let ranks = ranks.repeated(weight);
            (ranks.len() as u64, score(&ranks))
        }
    }
}

impl PartialEq for RankCorrelationState {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows || self.sorted() == other.sorted()
    }
}

impl Merge for RankCorrelationState {
    fn row_bytes(&self) -> u64 {
        size_of_val(&*self.rows) as u64
    }

    fn merge(&mut self, mut other: Self) {
        // The longer list stays where it is; the order means nothing.
        if self.rows.len() < other.rows.len() {
            std::mem::swap(&mut self.rows, &mut other.rows);
        }
        self.rows.append(&mut other.rows);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        for _ in 0..times {
            self.rows.extend_from_slice(&other.rows);
        }
    }
}

impl Written for RankCorrelationState {
    fn write(&self, to: &mut Writer) {
        let sorted = self.sorted();
        let bytes = sorted
            .iter()
            .flatten()
            .flat_map(|number| number.to_le_bytes());
        to.bytes(&bytes.collect::<Vec<u8>>());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (numbers, rest) = from.bytes()?.as_chunks::<8>();
        let numbers = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes));
        let numbers: Vec<f64> = numbers.collect();
        let (rows, half) = numbers.as_chunks::<2>();
        let is_written_so =
            |number: &f64| number.is_finite() && (*number != 0.0 || number.is_sign_positive());
        let state = Self {
            rows: rows.to_vec(),
        };
        if !rest.is_empty()
            || !half.is_empty()
            || !numbers.iter().all(is_written_so)
            || state.sorted() != rows
        {
            return Err("invalid rows: expected pairs of finite numbers in ascending order".into());
        }
        Ok(state)
    }
}

/// Returns Spearman's rank correlation coefficient ρ; undefined for fewer than two pairs, and if either side is constant.
///
/// # Errors
///
/// Returns an error if the lists are empty or differ in length, or if a number is NaN or infinite.
///
/// ```
/// use metric_number::spearman;
///
/// // A curve that only rises is in order.
/// assert_eq!(spearman(&[1.0, 10.0, 100.0, 1000.0], &[1.0, 2.0, 3.0, 4.0])?, Some(1.0));
/// assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0])?, None);
/// # Ok::<(), metric_number::NumbersError>(())
/// ```
pub fn spearman(predictions: &[f64], references: &[f64]) -> Result<Option<f64>, NumbersError> {
    Ok(ranks(predictions, references)?.spearman())
}

/// Returns Kendall's τ-b; undefined for fewer than two pairs, and if either side is constant.
///
/// # Errors
///
/// Returns an error if the lists are empty or differ in length, or if a number is NaN or infinite.
///
/// ```
/// use metric_number::kendall;
///
/// // Of three pairs, one ties in the references, and two are in the same order.
/// assert_eq!(kendall(&[1.0, 2.0, 3.0], &[1.0, 1.0, 2.0])?, Some(2.0 / (3.0_f64 * 2.0).sqrt()));
/// # Ok::<(), metric_number::NumbersError>(())
/// ```
pub fn kendall(predictions: &[f64], references: &[f64]) -> Result<Option<f64>, NumbersError> {
    Ok(ranks(predictions, references)?.kendall())
}

fn ranks(predictions: &[f64], references: &[f64]) -> Result<DenseRanks, NumbersError> {
    check(predictions, references)?;
    let rows = predictions.iter().zip(references);
    let rows = rows.map(|(a, b)| [a + 0.0, b + 0.0]);
    Ok(DenseRanks::new(&rows.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Kendall's τ-b from all pairs, and Spearman's ρ from ranks counted one by one.
    fn by_pairs(rows: &[(f64, f64)]) -> RankCorrelationScore {
        let sign = |a: f64, b: f64| f64::from(u8::from(a > b)) - f64::from(u8::from(a < b));
        let (mut both, mut xs, mut ys) = (0.0, 0.0, 0.0);
        for (index, a) in rows.iter().enumerate() {
            for b in &rows[..index] {
                let (x, y) = (sign(a.0, b.0), sign(a.1, b.1));
                both += x * y;
                xs += x * x;
                ys += y * y;
            }
        }
        let rank = |of: fn(&(f64, f64)) -> f64, row: &(f64, f64)| -> f64 {
            rows.iter().map(|other| sign(of(row), of(other))).sum()
        };
        let sum = |term: &dyn Fn(&(f64, f64)) -> f64| rows.iter().map(term).sum::<f64>();
        let (x, y) = (
            |row: &_| rank(|row| row.0, row),
            |row: &_| rank(|row| row.1, row),
        );
        let (a, b, c) = (
            sum(&|row| x(row) * y(row)),
            sum(&|row| x(row) * x(row)),
            sum(&|row| y(row) * y(row)),
        );
        let ratio = |a: f64, b: f64, c: f64| (b * c > 0.0).then(|| a / (b * c).sqrt());
        RankCorrelationScore {
            spearman: ratio(a, b, c),
            kendall: ratio(both, xs, ys),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn long_lists_are_ordered_as_short_ones(
            seed in any::<u64>(), distinct in prop_oneof![Just(7_u64), Just(1 << 40)],
        ) {
            let mut state = seed | 1;
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                ((state >> 20) % distinct) as f64 - distinct as f64 / 2.0
            };
            let rows: Vec<[f64; 2]> = (0..5000).map(|_| [next(), next()]).collect();
            let ranks = DenseRanks::new(&rows);
            let mut sorted = rows.clone();
            sorted.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
            prop_assert_eq!(ranks.correlations(), DenseRanks::new(&sorted).correlations());
            let (_, order) = DenseRanks::with_order(&rows);
            let ordered: Vec<[f64; 2]> = order.iter().map(|index| rows[*index as usize]).collect();
            prop_assert_eq!(ordered, sorted);
        }
    }

    proptest! {
        #[test]
        fn is_what_all_pairs_give(
            rows in vec((-4_i8..4, -4_i8..4), 0..40), weights in vec(0_u64..4, 40),
        ) {
            let rows: Vec<(f64, f64)> = rows.into_iter().map(|(x, y)| (x.into(), y.into())).collect();
            let score = RankCorrelation.score_all(rows.iter().map(|(x, y)| (x, y)));
            prop_assert_eq!(score, by_pairs(&rows));
            let states = rows.iter().map(|(x, y)| RankCorrelation.measure(x, y));
            let states: Vec<RankCorrelationState> = states.collect();
            let weighted = RankCorrelationState::weighted(&states.iter().collect::<Vec<_>>());
            let repeated = rows.iter().zip(&weights);
            let repeated: Vec<(f64, f64)> = repeated
                .flat_map(|(row, times)| std::iter::repeat_n(*row, *times as usize))
                .collect();
            prop_assert_eq!(weighted(&weights), (repeated.len() as u64, by_pairs(&repeated)));
        }

        #[test]
        fn monotone_functions_change_nothing(rows in vec((any::<f64>(), -9_i8..9), 0..300)) {
            let rows = rows.into_iter().filter(|(x, _)| x.is_finite());
            let (xs, ys): (Vec<f64>, Vec<f64>) = rows.map(|(x, y)| (x, f64::from(y))).unzip();
            prop_assume!(!xs.is_empty());
            let mut order = xs.clone();
            order.sort_by(f64::total_cmp);
            order.dedup_by(|a, b| a == b);
            let ranked: Vec<f64> = xs.iter().map(|x| order.partition_point(|y| y < x) as f64).collect();
            prop_assert_eq!(spearman(&xs, &ys), spearman(&ranked, &ys));
            prop_assert_eq!(kendall(&xs, &ys), kendall(&ranked, &ys));
            prop_assert_eq!(kendall(&ys, &xs), kendall(&ys, &ranked));
        }

        #[test]
        fn laws_of_merge(rows in vec((any::<f64>(), any::<f64>()), 0..6)) {
            let rows = rows.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
            let states = rows.map(|(x, y)| RankCorrelation.measure(x, y));
            crate::laws::check(&states.collect::<Vec<_>>());
        }
    }

    #[test]
    fn rows_out_of_order_are_refused() {
        let read = |numbers: &[f64]| {
            let mut writer = Writer::default();
            writer.bytes(
                &numbers
                    .iter()
                    .flat_map(|number| number.to_le_bytes())
                    .collect::<Vec<u8>>(),
            );
            metric_core::from_bytes::<RankCorrelationState>(&writer.into_bytes())
        };
        assert!(read(&[1.0, 2.0, 1.0, 3.0]).is_ok());
        for numbers in [
            &[1.0, 3.0, 1.0, 2.0][..],
            &[1.0],
            &[f64::NAN, 1.0],
            &[-0.0, 1.0],
        ] {
            assert!(read(numbers).is_err(), "{numbers:?}");
        }
    }
}
