use std::collections::BTreeMap;
use std::fmt;

use metric_core::{
    Accuracy, Malformed, Merge, Metric, PerClass, Reader, Sum, Writer, Written, fields,
    merge_fields, named_choice,
};
use ndarray::{ArrayView1, ArrayView2};

use crate::rank_span::RankSpan;
use crate::{AccuracyByK, Calibration, InvalidK};

/// Returns accuracy@k from scores: the share of rows whose label has one of the `k` highest scores.
///
/// `scores` is N by C, a row of class scores for each example; `references` holds the N labels,
/// each the index of a column. Labels that share a score are ordered by `ties`. The value is in
/// \[0, 1\]; `k` of C or more gives 1 for all scores that are finite.
///
/// One pass over the scores, without sorting and without memory of its own; for several `k`,
/// weights and averages over classes see [`TopK`].
///
/// Equals `top_k_accuracy_score` of scikit-learn 1.9 with [`Ties::HighestIndex`]. That function
/// needs a list of the labels where the references lack one; here the columns are the labels.
///
/// # Errors
///
/// Returns an error if there are no rows, the numbers of references and rows differ, `k` is 0, a
/// label has no column, or a score is not a finite number.
///
/// ```
/// use metric_class::{Ties, top_k_accuracy};
/// use ndarray::array;
///
/// let scores = array![[0.5, 0.2, 0.2], [0.3, 0.4, 0.2], [0.2, 0.4, 0.3], [0.7, 0.2, 0.1]];
/// let references = array![0, 1, 2, 2];
/// // Of the last row, label 2 has the lowest score.
/// let value = top_k_accuracy(scores.view(), references.view(), 2, Ties::HighestIndex)?;
/// assert_eq!(value, 0.75);
/// # Ok::<(), metric_class::ScoresError>(())
/// ```
pub fn top_k_accuracy<S: Score>(
    scores: ArrayView2<S>,
    references: ArrayView1<i64>,
    k: usize,
    ties: Ties,
) -> Result<f64, ScoresError> {
    let metric = TopK::new(vec![k]).map_err(|_| ScoresError::ZeroK)?;
    let metric = metric.with_ties(ties);
    let state = metric.measure_rows(scores, references, None)?;
    metric.accuracy_at(&state, k).ok_or(ScoresError::NoExamples)
}

/// Returns accuracy@k of two classes from one score per row, that of class 1, matching
/// scikit-learn.
///
/// If `k` is 1, class 1 is predicted for a row if its score is above the threshold, which is 0.5 if
/// all scores lie in \[0, 1\] and 0 otherwise. If `k` is 2 or more, every row is correct.
///
/// The rule is that of `top_k_accuracy_score` in scikit-learn 1.9. One score outside \[0, 1\] moves
/// the threshold of all rows, so the value of a data set is not that of its parts.
///
/// # Errors
///
/// Returns an error as [`top_k_accuracy`] does.
///
/// ```
/// use metric_class::binary_top_k_accuracy;
///
/// let references = [false, true, true, false];
/// let accuracy = binary_top_k_accuracy(&[0.1, 0.9, 0.4, 0.3], &references, 1)?;
/// assert_eq!(accuracy.value(), Some(0.75)); // 0.4 is not above 0.5
/// let accuracy = binary_top_k_accuracy(&[-0.1, 0.9, 0.4, -0.3], &references, 1)?;
/// assert_eq!(accuracy.value(), Some(1.0)); // logits: 0.4 is above 0
/// # Ok::<(), metric_class::ScoresError>(())
/// ```
pub fn binary_top_k_accuracy<S: Score>(
    scores: &[S],
    references: &[bool],
    k: usize,
) -> Result<Accuracy, ScoresError> {
    check_lengths(scores.len(), references.len())?;
    if k == 0 {
        return Err(ScoresError::ZeroK);
    }
    let values = || scores.iter().map(|&score| score.into());
    for (row, value) in values().enumerate() {
        check_number(0, value, false).map_err(|error| ScoresError::Row { row, error })?;
    }
    let likely = values().all(|value| (0.0..=1.0).contains(&value));
    let threshold = if likely { 0.5 } else { 0.0 };
    let right = |(value, &reference): (f64, &bool)| k >= 2 || (value > threshold) == reference;
    Ok(values().zip(references).map(right).collect())
}

/// The position of a label among the scores of its row, before ties are broken.
///
/// ```
/// use metric_class::{TiedRank, tied_rank};
///
/// // Label 2 has 0.3: one score is above it, one before it and two after it are the same.
/// let rank = tied_rank(&[0.3, 0.9, 0.3, 0.3, 0.0, 0.3], 2)?;
/// assert_eq!(rank, TiedRank { above: 1, tied_before: 1, tied_after: 2 });
/// # Ok::<(), metric_class::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TiedRank {
    /// Labels with a higher score.
    pub above: usize,
    /// Labels of a lower index with the same score.
    pub tied_before: usize,
    /// Labels of a higher index with the same score.
    pub tied_after: usize,
}

/// Returns the rank of `label` among the `scores` of one row; higher scores rank first.
///
/// One pass, without sorting and without memory. +0 and −0 are the same score.
///
/// # Errors
///
/// Returns an error if the label has no score, or a score is NaN or infinite; [`TopK::rank`]
/// accepts infinite ones.
pub fn tied_rank<S: Score>(scores: &[S], label: i64) -> Result<TiedRank, ScoreError> {
    rank(scores, label, false)
}

fn rank<S: Score>(scores: &[S], label: i64, infinite: bool) -> Result<TiedRank, ScoreError> {
    let no_label = ScoreError::NoColumn {
        label,
        columns: scores.len(),
    };
    let index = usize::try_from(label).map_err(|_| no_label)?;
    let &own = scores.get(index).ok_or(no_label)?;
    let all = own.compare(scores);
    if !all.finite {
        for (column, &score) in scores.iter().enumerate() {
            check_number(column, score.into(), infinite)?;
        }
    }
    // Itself left out. Most rows have no ties, and so are walked once.
    let tied = (all.at_least - all.above).saturating_sub(1);
    let tied_before = match scores.split_at_checked(index) {
        Some((before, _)) if tied > 0 => {
            let before = own.compare(before);
            before.at_least - before.above
        }
        _ => 0,
    };
    Ok(TiedRank {
        above: all.above,
        tied_before,
        tied_after: tied - tied_before,
    })
}

fn check_number(column: usize, score: f64, infinite: bool) -> Result<(), ScoreError> {
    if score.is_nan() {
        return Err(ScoreError::NotANumber { column });
    }
    if score.is_infinite() && !infinite {
        return Err(ScoreError::Infinite { column, score });
    }
    Ok(())
}

/// A number that can be a class score: `f32` or `f64`.
pub trait Score: Copy + Into<f64> + private::Compare {
    /// Whether the number has 32 bits.
    const IS_SINGLE: bool;
}

impl Score for f32 {
    const IS_SINGLE: bool = true;
}

impl Score for f64 {
    const IS_SINGLE: bool = false;
}

mod private {
    /// The number of scores above and equal to a given score.
    #[derive(Clone, Copy, Debug)]
    pub struct Compared {
        /// Scores above it.
        pub above: usize,
        /// Scores that are not below it.
        pub at_least: usize,
        /// Whether all are finite.
        pub finite: bool,
    }

    pub trait Compare: Sized {
        fn compare(self, scores: &[Self]) -> Compared;
    }

    /// Counters as wide as the scores keep a vector register full, and without a branch in it the
    /// loop runs at the speed of memory. Blocks keep the counters from running over.
    macro_rules! compare {
        ($float:ty, $bits:ty) => {
            impl Compare for $float {
                fn compare(self, scores: &[Self]) -> Compared {
                    let mut all = Compared {
                        above: 0,
                        at_least: 0,
                        finite: true,
                    };
                    for block in scores.chunks(1 << 24) {
                        let (mut above, mut at_least, mut odd): ($bits, $bits, $bits) = (0, 0, 0);
                        for &score in block {
                            above += <$bits>::from(score > self);
                            at_least += <$bits>::from(score >= self);
                            // +0 for finite numbers, NaN for all others.
                            odd |= (score - score).to_bits();
                        }
                        all.above += above as usize;
                        all.at_least += at_least as usize;
                        all.finite &= odd == 0;
                    }
                    all
                }
            }
        };
    }

    compare!(f32, u32);
    compare!(f64, u64);
}

/// The tie-breaking rule: the order of labels with the same score.
///
/// Let g labels have a higher score than the reference, and e others the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ties {
    /// The label of the highest index first, as in scikit-learn, which sorts in ascending order and takes the end.
    #[default]
    HighestIndex,
    /// The label of the lowest index first, as in a stable sort of the negated scores.
    LowestIndex,
    /// The reference: a hit if g < k. `tf.nn.in_top_k` of TensorFlow.
    Optimistic,
    /// All others: a hit if g + e < k.
    Pessimistic,
    /// The mean over all orders of the labels: the hit is (k − g) / (e + 1), cut to \[0, 1\].
    Expected,
}

impl Ties {
    /// All rules.
    pub const ALL: &[Self] = &[
        Self::HighestIndex,
        Self::LowestIndex,
        Self::Optimistic,
        Self::Pessimistic,
        Self::Expected,
    ];

    /// Returns the name in options and signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HighestIndex => "highest-index",
            Self::LowestIndex => "lowest-index",
            Self::Optimistic => "optimistic",
            Self::Pessimistic => "pessimistic",
            Self::Expected => "expected",
        }
    }

    /// Returns the ranks that the reference may have, all equally likely.
    ///
    /// ```
    /// use metric_class::{RankSpan, Ties, TiedRank};
    ///
    /// let rank = TiedRank { above: 1, tied_before: 1, tied_after: 2 };
    /// let span = |first, last| RankSpan { first, last };
    /// assert_eq!(Ties::HighestIndex.span(rank), span(3, 3));
    /// assert_eq!(Ties::LowestIndex.span(rank), span(2, 2));
    /// assert_eq!(Ties::Optimistic.span(rank), span(1, 1));
    /// assert_eq!(Ties::Pessimistic.span(rank), span(4, 4));
    /// assert_eq!(Ties::Expected.span(rank), span(1, 4));
    /// ```
    #[must_use]
    pub fn span(self, rank: TiedRank) -> RankSpan {
        let TiedRank {
            above,
            tied_before,
            tied_after,
        } = rank;
        let [low, high] = [tied_before, tied_after].map(|tied| above.saturating_add(tied));
        let last = high.saturating_add(tied_before);
        let (first, last) = match self {
            Self::HighestIndex => (high, high),
            Self::LowestIndex => (low, low),
            Self::Optimistic => (above, above),
            Self::Pessimistic => (last, last),
            Self::Expected => (above, last),
        };
        RankSpan { first, last }
    }
}

named_choice!(Ties, "tie rule");

/// Accuracy@k for several `k` from scores, in one pass over the examples; and the mean reciprocal
/// rank.
///
/// The prediction is the [`TiedRank`] of the label, which [`rank`](TopK::rank) finds in a row of
/// scores and which is `None` where there are no scores: a miss at every `k`. The reference is the
/// [`Target`]. Whole arrays go through [`measure_rows`](TopK::measure_rows).
///
/// ```
/// use metric_class::{Target, Ties, TopK};
/// use metric_core::Metric;
///
/// let metric = TopK::new(vec![1, 2])?.with_ties(Ties::Expected);
/// let mut state = Default::default();
/// for (scores, label) in [([0.1, 0.8, 0.1], 1), ([0.4, 0.4, 0.2], 0), ([0.5, 0.3, 0.2], 2)] {
///     metric.update(&mut state, &Some(metric.rank(&scores, label)?), &Target::new(label));
/// }
/// // The second label shares the first rank with one other.
/// assert_eq!(metric.compute(&state).0, [(1, Some(1.5 / 3.0)), (2, Some(2.0 / 3.0))]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopK {
    ks: Vec<usize>,
    ties: Ties,
    infinite: bool,
    ignored: Option<i64>,
    weighted: bool,
    by_class: bool,
}

impl TopK {
    /// Returns the metric for accuracy at each of `ks`, in the order given, with ties broken by
    /// [`Ties::HighestIndex`].
    ///
    /// # Errors
    ///
    /// Returns an error if there is no `k`, or one is 0.
    pub fn new(ks: Vec<usize>) -> Result<Self, InvalidK> {
        crate::labels::check_ks(&ks)?;
        Ok(Self {
            ks,
            ties: Ties::default(),
            infinite: false,
            ignored: None,
            weighted: false,
            by_class: false,
        })
    }

    /// Sets the order of labels with the same score.
    #[must_use]
    pub fn with_ties(mut self, ties: Ties) -> Self {
        self.ties = ties;
        self
    }

    /// Allows infinite scores, such as those of masked classes; NaN remains an error.
    #[must_use]
    pub fn with_infinite_scores(mut self) -> Self {
        self.infinite = true;
        self
    }

    /// Leaves out the examples of this label, which needs no column.
    #[must_use]
    pub fn with_ignored(mut self, label: i64) -> Self {
        self.ignored = Some(label);
        self
    }

    /// Counts each example with the weight of its [`Target`].
    #[must_use]
    pub fn with_weights(mut self) -> Self {
        self.weighted = true;
        self
    }

    /// Gives all classes the same weight: the score is the mean over the classes that occur in the
    /// references.
    #[must_use]
    pub fn with_macro_average(mut self) -> Self {
        self.by_class = true;
        self
    }

    /// The order of labels with the same score.
    #[must_use]
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// Returns the label whose examples are left out.
    #[must_use]
    pub fn ignored(&self) -> Option<i64> {
        self.ignored
    }

    /// Returns the [`tied_rank`], with infinite scores if they are allowed.
    ///
    /// # Errors
    ///
    /// Returns an error if the label has no score, or a score is invalid.
    pub fn rank<S: Score>(&self, scores: &[S], label: i64) -> Result<TiedRank, ScoreError> {
        rank(scores, label, self.infinite)
    }

    /// Returns the state of N rows of C scores, with their N labels and, under [`with_weights`](TopK::with_weights),
    /// their N weights; without weights, each row has the weight 1.
    ///
    /// Fastest on scores in standard layout.
    ///
    /// # Errors
    ///
    /// Returns an error as [`top_k_accuracy`] does, and if there are weights for a metric without
    /// weights, the numbers of weights and rows differ, or a weight, even of an ignored label, is
    /// negative, NaN or over 1e200.
    ///
    /// ```
    /// use metric_class::TopK;
    /// use ndarray::array;
    ///
    /// let scores = array![[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]];
    /// let references = array![0, 1, -100];
    /// let metric = TopK::new(vec![1])?.with_ignored(-100).with_weights();
    /// let weights = array![3.0, 1.0, 1.0];
    /// let state = metric.measure_rows(scores.view(), references.view(), Some(weights.view()))?;
    /// assert_eq!(metric.accuracy_at(&state, 1), Some(3.0 / 4.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn measure_rows<S: Score>(
        &self,
        scores: ArrayView2<S>,
        references: ArrayView1<i64>,
        weights: Option<ArrayView1<f64>>,
    ) -> Result<RankTable, ScoresError> {
        check_lengths(scores.nrows(), references.len())?;
        if let Some(weights) = &weights {
            self.check_weights(weights, references.len())?;
        }
        let mut state = RankTable::default();
        // Most rows only add 1 to a rank: a plain table of ranks is faster than the ordered one.
        let plain = !self.weighted && !self.by_class;
        let mut single = vec![0_u64; if plain { scores.ncols() } else { 0 }];
        let mut copy = Vec::new();
        for (row, (scores, &label)) in scores.rows().into_iter().zip(&references).enumerate() {
            if self.ignored == Some(label) {
                continue;
            }
            let scores = scores.as_slice().unwrap_or_else(|| {
                copy.clear();
                copy.extend(scores);
                &copy
            });
            let rank = self
                .rank(scores, label)
                .map_err(|error| ScoresError::Row { row, error })?;
            let span = self.ties.span(rank);
            match single.get_mut(span.first) {
                Some(count) if span.first == span.last => *count += 1,
                _ => {
                    let weight = weights.and_then(|weights| weights.get(row).copied());
                    let weight = weight.unwrap_or(1.0);
                    self.record(&mut state, Some(span), &Target { label, weight });
                }
            }
        }
        for (rank, examples) in single.into_iter().enumerate().filter(|(_, n)| *n > 0) {
            let span = RankSpan {
                first: rank,
                last: rank,
            };
            state.total.amount(Some(span)).examples += examples;
        }
        Ok(state)
    }

    fn check_weights(
        &self,
        weights: &ArrayView1<f64>,
        references: usize,
    ) -> Result<(), ScoresError> {
        if !self.weighted {
            return Err(ScoresError::Unweighted);
        }
        if weights.len() != references {
            return Err(ScoresError::WeightsMismatch {
                weights: weights.len(),
                references,
            });
        }
        let invalid = |&weight: &f64| Target::weighted(0, weight).is_err();
        match weights
            .iter()
            .copied()
            .enumerate()
            .find(|it| invalid(&it.1))
        {
            Some((row, weight)) => Err(ScoresError::Weight { row, weight }),
            None => Ok(()),
        }
    }

    fn record(&self, state: &mut RankTable, span: Option<RankSpan>, target: &Target) {
        let add = |ranks: &mut RankTally| {
            let amount = ranks.amount(span);
            amount.examples += 1;
            if self.weighted {
                amount.weight.add(target.weight);
            }
        };
        add(&mut state.total);
        if self.by_class {
            add(state.classes.entry(target.label));
        }
    }

    /// Adds the confidence of an example to the state that it was added to: the rank of its reference, and the scores
    /// that it was read from. Weights do not count.
    pub fn calibrate<S: Score>(&self, state: &mut RankTable, scores: &[S], rank: TiedRank) {
        state.calibration.add(scores, self.ties.span(rank));
    }

    /// Returns the accuracy at `k`: hits by examples or weights, or the mean over classes with the
    /// macro average. Undefined without examples, or if all weights are 0.
    #[must_use]
    pub fn accuracy_at(&self, state: &RankTable, k: usize) -> Option<f64> {
        self.average(state, |ranks| self.hits_at(ranks, k))
    }

    /// Returns the mean of 1 / rank of the references, where the first rank is 1 and a missing one counts 0; averaged
    /// and weighted like the accuracy. Only the first `cutoff` ranks count.
    ///
    /// Under [`Ties::Expected`] a shared rank counts as the mean over the ranks it may be.
    #[must_use]
    pub fn mean_reciprocal_rank(&self, state: &RankTable, cutoff: usize) -> Option<f64> {
        let reciprocal = |span: Option<RankSpan>| span.map_or(0.0, |it| it.mean_reciprocal(cutoff));
        self.average(state, |ranks| self.sum(ranks, reciprocal))
    }

    /// Returns the number of hits at `k`, or the sum of their weights: a whole number unless there
    /// are weights or ties count in part.
    #[must_use]
    pub fn hits_at(&self, ranks: &RankTally, k: usize) -> f64 {
        let mut hits = Sum::default();
        for (span, amount) in &ranks.spans {
            let Some(span) = span else { continue };
            let within = span.within(k);
            match (self.weighted, within == span.width()) {
                (_, _) if within == 0 => {}
                (true, true) => hits.merge(amount.weight.clone()),
                (true, false) => {
                    hits.add(amount.weight.value() * within as f64 / span.width() as f64);
                }
                (false, _) => {
                    hits.add(amount.examples as f64 * within as f64 / span.width() as f64);
                }
            }
        }
        hits.value()
    }

    /// Returns the number of examples, or the sum of their weights.
    #[must_use]
    pub fn total(&self, ranks: &RankTally) -> f64 {
        self.sum(ranks, |_| 1.0)
    }

    fn average(&self, state: &RankTable, of: impl Fn(&RankTally) -> f64) -> Option<f64> {
        let value = |ranks: &RankTally| {
            let total = self.total(ranks);
            (total > 0.0).then(|| of(ranks) / total)
        };
        if self.by_class {
            state.classes.macro_average(value).value
        } else {
            value(&state.total)
        }
    }

    fn sum(&self, ranks: &RankTally, of: impl Fn(Option<RankSpan>) -> f64) -> f64 {
        let mut sum = Sum::default();
        for (&span, amount) in &ranks.spans {
            let factor = of(span);
            if !self.weighted {
                sum.add(amount.examples as f64 * factor);
            } else if factor == 1.0 {
                sum.merge(amount.weight.clone());
            } else {
                sum.add(amount.weight.value() * factor);
            }
        }
        sum.value()
    }
}

impl Metric for TopK {
    type Prediction = Option<TiedRank>;
    type Reference = Target;
    type State = RankTable;
    type Score = AccuracyByK;

    fn update(&self, state: &mut RankTable, prediction: &Option<TiedRank>, reference: &Target) {
        if self.ignored != Some(reference.label) {
            let span = prediction.map(|rank| self.ties.span(rank));
            self.record(state, span, reference);
        }
    }

    fn compute(&self, state: &RankTable) -> AccuracyByK {
        let accuracy = |&k| (k, self.accuracy_at(state, k));
        AccuracyByK(self.ks.iter().map(accuracy).collect())
    }
}

/// The greatest weight: what it is multiplied with and summed over stays finite.
const MOST_WEIGHT: f64 = 1e200;

/// The true label of an example, and how much the example counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    label: i64,
    weight: f64,
}

impl Target {
    /// Returns a label of weight 1.
    #[must_use]
    pub const fn new(label: i64) -> Self {
        Self { label, weight: 1.0 }
    }

    /// Returns a label with a weight.
    ///
    /// # Errors
    ///
    /// Returns an error if the weight is negative, NaN or over 1e200: sums of such weights would
    /// overflow.
    pub fn weighted(label: i64, weight: f64) -> Result<Self, InvalidWeight> {
        if (0.0..=MOST_WEIGHT).contains(&weight) {
            Ok(Self { label, weight })
        } else {
            Err(InvalidWeight(weight))
        }
    }
}

/// A weight that is negative, NaN or over 1e200.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidWeight(
    /// As given.
    pub f64,
);

impl fmt::Display for InvalidWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(weight) = self;
        write!(
            f,
            "the weight is {weight}: expected a number from 0 to {MOST_WEIGHT:e}"
        )
    }
}

impl std::error::Error for InvalidWeight {}

/// Examples by the ranks of their references: the state of [`TopK`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankTable {
    /// All examples.
    pub total: RankTally,
    /// The same by true label; only for the macro average.
    pub classes: PerClass<i64, RankTally>,
    /// The accuracy by confidence, if it was [asked for](TopK::calibrate).
    pub calibration: Calibration,
}

fields!(RankTable { total, classes; calibration });

/// The number and weight of the examples at each rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankTally {
    /// `None`: the reference has no rank.
    spans: BTreeMap<Option<RankSpan>, Amount>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Amount {
    examples: u64,
    /// Empty unless the metric has weights.
    weight: Sum,
}

fields!(Amount { examples, weight });

impl RankTally {
    /// Returns the number of examples.
    #[must_use]
    pub fn examples(&self) -> u64 {
        self.spans.values().map(|amount| amount.examples).sum()
    }

    /// Returns the ranks that occur, in ascending order, each with the number of examples whose reference has it;
    /// `None` stands for a reference without a rank.
    pub fn ranks(&self) -> impl Iterator<Item = (Option<RankSpan>, u64)> {
        let spans = self.spans.iter();
        spans.map(|(span, amount)| (*span, amount.examples))
    }

    fn amount(&mut self, span: Option<RankSpan>) -> &mut Amount {
        self.spans.entry(span).or_default()
    }
}

merge_fields!(RankTally { spans });

/// A list of the ranks with their amounts.
impl Written for RankTally {
    fn write(&self, to: &mut Writer) {
        to.pairs(&self.spans);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let amounts: Vec<(Option<RankSpan>, Amount)> = Vec::read(from)?;
        crate::check_total(amounts.iter().map(|(_, amount)| amount.examples))?;
        let mut tally = Self::default();
        for (span, amount) in amounts {
            tally.amount(span).merge(amount);
        }
        Ok(tally)
    }
}

fn check_lengths(rows: usize, references: usize) -> Result<(), ScoresError> {
    if rows != references {
        return Err(ScoresError::LengthMismatch { rows, references });
    }
    if rows == 0 {
        return Err(ScoresError::NoExamples);
    }
    Ok(())
}

/// The error for a row of scores that has no rank for a label.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScoreError {
    /// The label is not the index of a column.
    NoColumn {
        /// As given.
        label: i64,
        /// Scores in the row.
        columns: usize,
    },
    /// A score is NaN.
    NotANumber {
        /// Its index, from 0.
        column: usize,
    },
    /// A score is infinite, and that was not allowed.
    Infinite {
        /// Its index, from 0.
        column: usize,
        /// As given.
        score: f64,
    },
}

impl fmt::Display for ScoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoColumn { label, columns } => {
                write!(f, "the label is {label}, but there are {columns} scores")
            }
            Self::NotANumber { column } => write!(f, "score {column} is not a number"),
            Self::Infinite { column, score } => write!(f, "score {column} is {score}"),
        }
    }
}

impl std::error::Error for ScoreError {}

/// The error in arrays of scores, references and weights.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScoresError {
    /// There is nothing to score.
    NoExamples,
    /// The first 0 labels never hold the reference.
    ZeroK,
    /// The number of references differs from the number of rows of scores.
    LengthMismatch {
        /// Rows of scores.
        rows: usize,
        /// Reference labels.
        references: usize,
    },
    /// There are weights, and the metric is not [`with_weights`](TopK::with_weights).
    Unweighted,
    /// The number of weights differs from the number of references.
    WeightsMismatch {
        /// Weights.
        weights: usize,
        /// Reference labels.
        references: usize,
    },
    /// A row without a rank.
    Row {
        /// Index of the row, from 0.
        row: usize,
        /// The error.
        error: ScoreError,
    },
    /// A weight that is negative, NaN or over 1e200.
    Weight {
        /// Index of the row, from 0.
        row: usize,
        /// As given.
        weight: f64,
    },
}

impl fmt::Display for ScoresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoExamples => write!(f, "no examples"),
            Self::ZeroK => write!(f, "k is 0"),
            Self::LengthMismatch { rows, references } => {
                write!(f, "{rows} rows of scores, but {references} references")
            }
            Self::Unweighted => write!(f, "there are weights, but the metric is without"),
            Self::WeightsMismatch {
                weights,
                references,
            } => write!(f, "{weights} weights, but {references} references"),
            Self::Row { row, error } => write!(f, "row {row}: {error}"),
            Self::Weight { row, weight } => write!(f, "row {row}: {}", InvalidWeight(*weight)),
        }
    }
}

impl std::error::Error for ScoresError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Row { error, .. } => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array, aview1};
    use proptest::prelude::*;

    use super::*;

    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;

    #[test]
    fn ranks_by_hand() {
        let of = |above, tied_before, tied_after| {
            Ok(TiedRank {
                above,
                tied_before,
                tied_after,
            })
        };
        let no_column = |label, columns| Err(ScoreError::NoColumn { label, columns });
        type Row = (&'static [f64], i64, Result<TiedRank, ScoreError>);
        let rows: &[Row] = &[
            (&[0.5], 0, of(0, 0, 0)),
            (&[0.1, 0.2, 0.3], 0, of(2, 0, 0)),
            (&[0.1, 0.2, 0.3], 2, of(0, 0, 0)),
            (&[1.0, 1.0, 1.0, 1.0], 1, of(0, 1, 2)),
            (&[0.0, -0.0], 1, of(0, 1, 0)),
            (&[-3.0, -1.0, -2.0], 2, of(1, 0, 0)),
            (&[], 0, no_column(0, 0)),
            (&[0.5, 0.5], 2, no_column(2, 2)),
            (&[0.5, 0.5], -1, no_column(-1, 2)),
            (&[0.5, NAN], 0, Err(ScoreError::NotANumber { column: 1 })),
            (&[NAN, 0.5], 0, Err(ScoreError::NotANumber { column: 0 })),
            (
                &[0.5, INF],
                0,
                Err(ScoreError::Infinite {
                    column: 1,
                    score: INF,
                }),
            ),
        ];
        for (scores, label, expected) in rows {
            assert_eq!(tied_rank(scores, *label), *expected, "{scores:?} {label}");
        }
        let masked = TopK::new(vec![1]).unwrap().with_infinite_scores();
        assert_eq!(masked.rank(&[-INF, INF, -INF, 0.0], 0), of(2, 0, 1));
        assert_eq!(
            masked.rank(&[INF, NAN], 0),
            Err(ScoreError::NotANumber { column: 1 })
        );
    }

    #[test]
    fn arrays_that_cannot_be() {
        let value = |scores: Array2<f64>, references: &[i64], k| {
            top_k_accuracy(scores.view(), aview1(references), k, Ties::default())
        };
        let row = |row, error| Err(ScoresError::Row { row, error });
        let two = || array![[0.1, 0.2], [0.3, 0.4]];
        assert_eq!(value(two(), &[1, 0], 1), Ok(0.5));
        assert_eq!(value(two(), &[0, 0], 7), Ok(1.0));
        assert_eq!(value(two(), &[0, 0], 0), Err(ScoresError::ZeroK));
        let none = Array2::zeros((0, 2));
        assert_eq!(value(none, &[], 1), Err(ScoresError::NoExamples));
        let mismatch = ScoresError::LengthMismatch {
            rows: 2,
            references: 1,
        };
        assert_eq!(value(two(), &[1], 1), Err(mismatch));
        let label = ScoreError::NoColumn {
            label: 2,
            columns: 2,
        };
        assert_eq!(value(two(), &[1, 2], 1), row(1, label));
        let nan = array![[0.1, NAN], [0.3, 0.4]];
        assert_eq!(
            value(nan, &[0, 0], 1),
            row(0, ScoreError::NotANumber { column: 1 })
        );

        let weights = |weights: &[f64]| {
            let metric = TopK::new(vec![1]).unwrap().with_weights();
            let references = aview1(&[1, 0]);
            metric
                .measure_rows(two().view(), references, Some(aview1(weights)))
                .map(|state| metric.accuracy_at(&state, 1))
        };
        assert_eq!(weights(&[0.5, 1.5]), Ok(Some(0.25)));
        assert_eq!(weights(&[0.0, 0.0]), Ok(None));
        assert_eq!(
            weights(&[1.0]),
            Err(ScoresError::WeightsMismatch {
                weights: 1,
                references: 2
            })
        );
        // The sum of two of the latter would be infinite, and a score of it no number.
        for weight in [-1.0, f64::MAX] {
            let error = ScoresError::Weight { row: 1, weight };
            assert_eq!(weights(&[1.0, weight]), Err(error));
        }
        assert_eq!(weights(&[1e200, 1e200]), Ok(Some(0.5)));
    }

    #[test]
    fn weights_are_checked_whatever_the_data() {
        let scores = array![[0.1, 0.2], [0.3, 0.4], [0.5, 0.5]];
        let ignored = aview1(&[1, -100, 0]);
        let metric = TopK::new(vec![1]).unwrap().with_ignored(-100);
        let with = |metric: &TopK, weights: [f64; 3]| {
            let state = metric.measure_rows(scores.view(), ignored, Some(aview1(&weights)));
            state.map(|state| metric.accuracy_at(&state, 1))
        };
        // For the metric without weights: no row without this rule and one row with it.
        for ties in [Ties::HighestIndex, Ties::Expected] {
            let metric = metric.clone().with_ties(ties);
            assert_eq!(with(&metric, [1.0; 3]), Err(ScoresError::Unweighted));
            let metric = metric.with_weights();
            let weight = -1.0;
            assert_eq!(
                with(&metric, [1.0, weight, 1.0]),
                Err(ScoresError::Weight { row: 1, weight })
            );
        }
        assert_eq!(
            with(&metric.with_weights(), [3.0, 9.0, 1.0]),
            Ok(Some(3.0 / 4.0))
        );
    }

    #[test]
    fn ranks_that_no_data_have() {
        let most = TiedRank {
            above: usize::MAX,
            tied_before: 1,
            tied_after: 1,
        };
        for &ties in Ties::ALL {
            assert_eq!(ties.span(most).last, usize::MAX, "{ties}");
        }
        let span = |first, last| RankSpan { first, last };
        // The harmonic number of n is ln n + 0.5772156649015329 + 1 / 2n - 1 / 12n².
        let n = 1e9_f64;
        let harmonic = n.ln() + 0.577_215_664_901_532_9 + 0.5 / n;
        let mean = span(0, 999_999_999).mean_reciprocal(usize::MAX);
        assert!((mean * n - harmonic).abs() < 1e-13, "{mean}");
        let cut = span(0, usize::MAX).mean_reciprocal(1_000_000_000);
        assert!((cut * 2_f64.powi(64) - harmonic).abs() < 1e-13, "{cut}");
        assert_eq!(span(0, 2).mean_reciprocal(2), 1.5 / 3.0);
        assert_eq!(span(5, 5).mean_reciprocal(5), 0.0);
        assert_eq!(span(7, 3).mean_reciprocal(9), 0.0);
    }

    #[test]
    fn the_threshold_of_two_classes() {
        type Row = (&'static [f64], &'static [bool], usize, u64);
        let rows: &[Row] = &[
            // Not above 0.5, not above 0.
            (&[0.5, 0.6], &[false, true], 1, 2),
            (&[0.5, 0.6], &[true, false], 1, 0),
            (&[0.0, -1.0, 0.1], &[false, false, true], 1, 3),
            // Probabilities up to 1, and one score above it.
            (&[0.4, 1.0], &[false, true], 1, 2),
            (&[0.4, 1.1], &[false, true], 1, 1),
            (&[0.4, 1.1], &[true, false], 2, 2),
        ];
        for (scores, references, k, correct) in rows {
            let accuracy = binary_top_k_accuracy(scores, references, *k);
            assert_eq!(
                accuracy.map(|accuracy| accuracy.correct),
                Ok(*correct),
                "{scores:?} {references:?} {k}"
            );
        }
    }

    #[test]
    fn an_ignored_label_leaves_no_evidence() {
        let metric = TopK::new(vec![1]).unwrap().with_ignored(9);
        let mut state = metric.measure(&Some(TiedRank::default()), &Target::new(9));
        assert_eq!(state, RankTable::default());
        metric.update(&mut state, &None, &Target::new(9));
        metric.update(&mut state, &None, &Target::new(8));
        assert_eq!(metric.total(&state.total), 1.0);
    }

    #[test]
    fn averages_and_ignored_labels() {
        // Label 0 is a hit twice of three times, label 1 never, 9 is left out.
        let scores = array![[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.9, 0.1], [0.5, 0.6]];
        let references = aview1(&[0, 0, 0, 1, 9]);
        let metric = TopK::new(vec![1, 2]).unwrap().with_ignored(9);
        let state = metric
            .measure_rows(scores.view(), references, None)
            .unwrap();
        assert_eq!(metric.compute(&state).0, [(1, Some(0.5)), (2, Some(1.0))]);
        assert_eq!(metric.total(&state.total), 4.0);
        assert_eq!(metric.hits_at(&state.total, 1), 2.0);
        // Ranks 1, 1, 2, 2.
        assert_eq!(
            metric.mean_reciprocal_rank(&state, usize::MAX),
            Some(3.0 / 4.0)
        );
        let metric = metric.with_macro_average();
        let state = metric
            .measure_rows(scores.view(), references, None)
            .unwrap();
        assert_eq!(metric.accuracy_at(&state, 1), Some(2.0 / 3.0 / 2.0));
    }

    #[test]
    fn without_scores_is_a_miss() {
        let metric = TopK::new(vec![9]).unwrap();
        let mut state = metric.measure(&None, &Target::new(3));
        assert_eq!(metric.accuracy_at(&state, 9), Some(0.0));
        assert_eq!(metric.mean_reciprocal_rank(&state, usize::MAX), Some(0.0));
        state.merge(metric.measure(&Some(TiedRank::default()), &Target::new(3)));
        assert_eq!(metric.accuracy_at(&state, 9), Some(0.5));
        assert_eq!(metric.compute(&RankTable::default()).0, [(9, None)]);
    }

    /// The definition: order the labels, look for the reference.
    fn sorted_rank(scores: &[f64], label: usize, highest: bool) -> usize {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        if highest {
            order.reverse();
        }
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        order.iter().position(|&column| column == label).unwrap()
    }

    fn rows() -> impl Strategy<Value = (Array2<f64>, Vec<i64>, Vec<f64>)> {
        (1_usize..12, 1_usize..20)
            .prop_flat_map(|(rows, columns)| {
                let score = (-3_i8..4).prop_map(|level| f64::from(level) / 4.0);
                let scores = proptest::collection::vec(score, rows * columns);
                let labels = proptest::collection::vec(0..columns as i64, rows);
                let weights = proptest::collection::vec(0.0..2.0, rows);
                (scores, labels, weights, Just((rows, columns)))
            })
            .prop_map(|(scores, labels, weights, shape)| {
                let scores = Array2::from_shape_vec(shape, scores).unwrap();
                (scores, labels, weights)
            })
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_sorting((scores, labels, _) in rows()) {
            for (row, &label) in scores.rows().into_iter().zip(&labels) {
                let row = row.as_slice().unwrap();
                // A negative zero would sort before a positive one.
                let plain: Vec<f64> = row.iter().map(|score| score + 0.0).collect();
                let rank = tied_rank(row, label).unwrap();
                let label = label as usize;
                prop_assert_eq!(Ties::HighestIndex.span(rank).first, sorted_rank(&plain, label, true));
                prop_assert_eq!(Ties::LowestIndex.span(rank).first, sorted_rank(&plain, label, false));
                let narrow: Vec<f32> = row.iter().map(|&score| score as f32).collect();
                prop_assert_eq!(tied_rank(&narrow, label as i64), Ok(rank));
            }
        }

        #[test]
        fn tie_rules_are_ordered((scores, labels, _) in rows(), k in 1_usize..25) {
            let value = |ties| top_k_accuracy(scores.view(), aview1(&labels), k, ties).unwrap();
            let (low, high) = (value(Ties::Pessimistic), value(Ties::Optimistic));
            for &ties in Ties::ALL {
                prop_assert!((low..=high).contains(&value(ties)));
            }
            prop_assert!(k < scores.ncols() || low == 1.0);
        }

        #[test]
        fn layouts_and_shards_agree(
            (scores, labels, weights) in rows(),
            ties in proptest::sample::select(Ties::ALL),
            (weighted, by_class) in any::<(bool, bool)>(),
        ) {
            let mut metric = TopK::new(vec![1, 3]).unwrap().with_ties(ties);
            if weighted { metric = metric.with_weights(); }
            if by_class { metric = metric.with_macro_average(); }
            let some = weighted.then_some(aview1(&weights));
            let whole = metric.measure_rows(scores.view(), aview1(&labels), some).unwrap();

            let mut columns_first = Array2::zeros(scores.t().dim());
            columns_first.assign(&scores.t());
            let other = metric.measure_rows(columns_first.t(), aview1(&labels), some).unwrap();
            prop_assert_eq!(&other, &whole);

            let single = scores.rows().into_iter().enumerate().map(|(row, scores)| {
                let rank = metric.rank(scores.as_slice().unwrap(), labels[row]).unwrap();
                let target = Target::weighted(labels[row], weights[row]).unwrap();
                metric.measure(&Some(rank), &target)
            });
            prop_assert_eq!(&crate::laws::check(&single.collect::<Vec<_>>()), &whole);
            let within = |value: Option<f64>| value.is_none_or(|value| (0.0..=1.0 + 1e-15).contains(&value));
            prop_assert!(within(metric.accuracy_at(&whole, 1)));
            prop_assert!(within(metric.mean_reciprocal_rank(&whole, usize::MAX)));
        }
    }
}
