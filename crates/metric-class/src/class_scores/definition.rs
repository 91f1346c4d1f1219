use metric_core::{Sum, named_choice, parallel};

use super::curves::Curves;
use super::reliability::{BinRule, BinTotals, Norm, Reliability};
use super::table::{Amounts, Cell, RowSums, ScoreTable, WithAmounts, ties};
use crate::BinaryScores;

/// The average of the scores of several classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScoreAverage {
    /// The mean over classes, or over pairs of classes.
    #[default]
    Macro,
    /// The mean over classes weighted by their rows, or over pairs of classes weighted by the rows of both.
    Weighted,
    /// The score of all numbers of all rows as one binary problem.
    Micro,
}

impl ScoreAverage {
    /// All averages.
    pub const ALL: &[Self] = &[Self::Macro, Self::Weighted, Self::Micro];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Macro => "macro",
            Self::Weighted => "weighted",
            Self::Micro => "micro",
        }
    }
}

named_choice!(ScoreAverage, "average");

/// The binary problems that several classes are split into, for the area under the ROC curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MultiClass {
    /// Each class against the rest.
    #[default]
    Ovr,
    /// Each pair of classes: D. J. Hand and R. J. Till, *A simple generalisation of the area under the ROC curve for
    /// multiple class classification problems* (2001).
    Ovo,
}

impl MultiClass {
    /// Both.
    pub const ALL: &[Self] = &[Self::Ovr, Self::Ovo];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ovr => "ovr",
            Self::Ovo => "ovo",
        }
    }
}

named_choice!(MultiClass, "split of several classes");

/// The convention that scores follow where implementations disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Convention {
    /// The definitions of papers: what is 0 / 0 is undefined.
    #[default]
    Textbook,
    /// scikit-learn 1.9: the average precision without a positive row is 0.
    Sklearn,
    /// torchmetrics 1.9: its bins of the calibration error, and confidences of several classes as numbers of 32 bits.
    TorchMetrics,
}

impl Convention {
    /// All conventions.
    pub const ALL: &[Self] = &[Self::Textbook, Self::Sklearn, Self::TorchMetrics];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Textbook => "textbook",
            Self::Sklearn => "sklearn",
            Self::TorchMetrics => "torchmetrics",
        }
    }
}

named_choice!(Convention, "profile");

/// The scores of classifiers that give numbers to classes: area under the ROC curve, average precision, log loss, Brier
/// score and calibration error.
///
/// The prediction of a row is one number, the greater the more likely the positive class, or one number per class. All
/// but the first two scores take them as probabilities.
///
/// ```
/// use metric_class::{ClassScores, Key, ScoreRows, ScoreTable};
///
/// let mut rows = ScoreRows::default();
/// for (label, score) in [(0, 0.25), (1, 0.75), (1, 0.5), (0, 0.5)] {
///     rows.add(&Key::from(label), &[score], None);
/// }
/// let states = [&rows];
/// let table = ScoreTable::new(&states, &[Key::from(0), Key::from(1)]);
/// let values = ClassScores::default().compute(&table, Some(1), false, None);
/// // Of four pairs, three are in order and one is a tie.
/// assert_eq!(values.roc_auc, Some(3.5 / 4.0));
/// assert_eq!(values.brier, Some((0.0625 + 0.0625 + 0.25 + 0.25) / 4.0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassScores {
    /// The convention.
    pub convention: Convention,
    /// The average over classes.
    pub average: ScoreAverage,
    /// The binary problems of several classes.
    pub multi_class: MultiClass,
    /// The number of bins of the calibration error.
    pub bins: usize,
    /// The norm of the calibration error.
    pub norm: Norm,
    /// Whether scores need not be probabilities. Log loss, Brier score and calibration error are then undefined.
    pub allows_decision_values: bool,
}

impl Default for ClassScores {
    fn default() -> Self {
        Self {
            convention: Convention::default(),
            average: ScoreAverage::default(),
            multi_class: MultiClass::default(),
            bins: 10,
            norm: Norm::default(),
            allows_decision_values: false,
        }
    }
}

/// The scores of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreValues {
    /// The area under the ROC curve; undefined if an area that it is made of is, or if the scores of several classes do
    /// not sum to 1.
    pub roc_auc: Option<f64>,
    /// The average precision.
    pub average_precision: Option<f64>,
    /// The mean of −ln of the probability of the row's own class, which is at least the distance of two neighboring
    /// numbers at 1: no row costs more than 36.04 (15.94 of 32 bits).
    pub log_loss: Option<f64>,
    /// The mean squared error of the probabilities: of the positive class if there are two, otherwise summed over all.
    pub brier: Option<f64>,
    /// The calibration error.
    pub calibration_error: Option<f64>,
    /// The scores of each class against the rest, if there are several columns and no other average was asked for.
    pub classes: Vec<BinaryScores>,
    /// The number of rows of each class, or the sum of their weights.
    pub totals: Vec<f64>,
    /// The number of distinct scores of the only column.
    pub distinct: u64,
    /// The number of rows.
    pub rows: u64,
    /// The rows by confidence, if scores are probabilities.
    pub reliability: Option<Reliability>,
}

impl ClassScores {
    /// Returns the scores of a table, each of whose states counts as often as its weight says, if there are weights.
    ///
    /// `positive` is the position of the positive class, for rows of one score. `is_single` says that the scores are
    /// numbers of 32 bits, on which the greatest log loss depends.
    ///
    /// # Cost
    ///
    /// One sort per column, also for pairs of classes, unless the table is [sorted](ScoreTable::sort).
    #[must_use]
    pub fn compute(
        &self,
        table: &ScoreTable<'_>,
        positive: Option<u32>,
        is_single: bool,
        weights: Option<&[u64]>,
    ) -> ScoreValues {
        table.with_amounts(
            weights,
            Computation {
                definition: self,
                table,
                positive,
                is_single,
            },
        )
    }
}

struct Computation<'c> {
    definition: &'c ClassScores,
    table: &'c ScoreTable<'c>,
    positive: Option<u32>,
    is_single: bool,
}

impl WithAmounts for Computation<'_> {
    type Output = ScoreValues;

    fn run<A: Amounts + Sync>(self, amounts: &A) -> ScoreValues {
        let definition = self.definition;
        let (sums, ranked) = parallel::join(|| self.sum(amounts), || self.rank(amounts));
        let mut values = ScoreValues {
            rows: sums.rows.rows,
            totals: sums.totals.iter().map(A::value).collect(),
            ..ScoreValues::default()
        };
        let all = A::value(&sums.all);
        // Nothing has no order, whatever a convention gives for classes without rows.
        if all <= 0.0 {
            return values;
        }
        if !definition.allows_decision_values && self.knows_positive() {
            let reliability = sums.bins.reliability();
            values.log_loss = Some(sums.rows.log_loss.value() / all);
            values.brier = Some(sums.rows.brier.value() / all);
            values.calibration_error = reliability.error(definition.norm);
            values.reliability = Some(reliability);
        }
        self.average_classes(&mut values, ranked);
        if sums.rows.far_from_one > 0 && !definition.allows_decision_values {
            values.roc_auc = None;
            values
                .classes
                .iter_mut()
                .for_each(|class| class.roc_auc = None);
        }
        values
    }
}

/// Sums over the rows in any order.
struct Sums<A: Amounts> {
    /// The amount of the rows of each class.
    totals: Vec<A::Total>,
    all: A::Total,
    rows: RowSums,
    bins: BinTotals<A>,
}

/// What the order of rows says.
#[derive(Default)]
struct Ranked {
    /// The scores of the one column, or of all numbers as one column.
    whole: Option<BinaryScores>,
    distinct: u64,
    classes: Vec<BinaryScores>,
    pairs: Pairs,
}

impl Computation<'_> {
    fn bin_rule(&self) -> BinRule {
        match self.definition.convention {
            Convention::TorchMetrics => BinRule::TorchMetrics,
            _ => BinRule::Textbook,
        }
    }

    fn knows_positive(&self) -> bool {
        self.positive.is_some() || self.table.width > 1
    }

    /// Adds a row to the sums over probabilities.
    fn add_row<A: Amounts>(
        &self,
        sums: &mut RowSums,
        bins: &mut BinTotals<A>,
        (class, row, scores): (u32, u32, &[f64]),
        amounts: &A,
    ) {
        let (own, error, confidence, is_correct) = if let [score] = scores {
            let is_positive = self.positive == Some(class);
            let own = if is_positive { *score } else { 1.0 - score };
            let error = score - f64::from(u8::from(is_positive));
            (own, error * error, *score, is_positive)
        } else {
            let mut error = 0.0;
            let mut best = (0, f64::NEG_INFINITY);
            for (column, &score) in (0..).zip(scores) {
                let off = score - f64::from(u8::from(column == class));
                error += off * off;
                if score > best.1 {
                    best = (column, score);
                }
            }
            let own = scores.get(class as usize).copied().unwrap_or_default();
            let confidence = match self.definition.convention {
                // It computes the probabilities of several classes in 32 bits.
                Convention::TorchMetrics => f64::from(best.1 as f32),
                _ => best.1,
            };
            (own, error, confidence, best.0 == class)
        };
        let epsilon = epsilon(self.is_single);
        let loss = -own.clamp(epsilon, 1.0 - epsilon).ln();
        amounts.add_term(&mut sums.log_loss, loss, row);
        amounts.add_term(&mut sums.brier, error, row);
        bins.add(confidence, is_correct, amounts, row);
    }

    fn sum<A: Amounts>(&self, amounts: &A) -> Sums<A> {
        let (definition, table) = (self.definition, self.table);
        let mut sums = Sums {
            totals: vec![A::Total::default(); table.classes],
            all: A::Total::default(),
            rows: RowSums::default(),
            bins: BinTotals::new(self.bin_rule(), definition.bins),
        };
        table.each_row(|class, row, scores| {
            let times = amounts.times(row);
            if times == 0 {
                return;
            }
            if let Some(total) = sums.totals.get_mut(class as usize) {
                amounts.add(total, row);
            }
            amounts.add(&mut sums.all, row);
            sums.rows.count(scores, times);
            if !definition.allows_decision_values {
                let row = (class, row, scores);
                self.add_row(&mut sums.rows, &mut sums.bins, row, amounts);
            }
        });
        sums
    }

    /// Computes what depends on the order of rows alone.
    fn rank<A: Amounts + Sync>(&self, amounts: &A) -> Ranked {
        let (definition, table) = (self.definition, self.table);
        if table.width == 1 {
            let Some(positive) = self.positive else {
                return Ranked::default();
            };
            let cells = table.column(0);
            let is_present = |tie: &&[Cell]| tie.iter().any(|cell| amounts.times(cell.row) > 0);
            return Ranked {
                whole: Some(self.against_rest(&cells, |class| class == positive, amounts)),
                distinct: ties(&cells).filter(is_present).count() as u64,
                ..Ranked::default()
            };
        }
        let has_pairs = definition.multi_class == MultiClass::Ovo && A::ARE_COUNTS;
        let columns = parallel::map(table.classes, |column| {
            let cells = table.column(column);
            let class = column as u32;
            let scores = self.against_rest(&cells, |it| it == class, amounts);
            let losses = has_pairs.then(|| losses(table.classes, class, &cells, amounts));
            (scores, losses.unwrap_or_default())
        });
        let (classes, losses) = columns.into_iter().unzip();
        let is_micro = definition.average == ScoreAverage::Micro;
        Ranked {
            whole: is_micro
                .then(|| self.against_rest(&table.all_cells(), |class| class == 1, amounts)),
            distinct: 0,
            classes,
            pairs: Pairs { losses },
        }
    }

    /// The scores of all classes together.
    fn average_classes(&self, values: &mut ScoreValues, ranked: Ranked) {
        values.classes = ranked.classes;
        values.distinct = ranked.distinct;
        if let Some(whole) = &ranked.whole {
            values.roc_auc = whole.roc_auc;
            values.average_precision = whole.average_precision;
        }
        if ranked.whole.is_some() || self.table.width == 1 {
            return;
        }
        let average = |of: fn(&BinaryScores) -> Option<f64>| {
            let scores = values.classes.iter().map(of);
            self.average(scores.zip(values.totals.iter().copied()))
        };
        values.average_precision = average(|class| class.average_precision);
        values.roc_auc = match self.definition.multi_class {
            MultiClass::Ovr => average(|class| class.roc_auc),
            MultiClass::Ovo => self.average(ranked.pairs.areas(&values.totals).into_iter()),
        };
    }

    /// The mean of scores, each with its amount.
    fn average(&self, scores: impl Iterator<Item = (Option<f64>, f64)>) -> Option<f64> {
        let is_weighted = self.definition.average == ScoreAverage::Weighted;
        let (mut sum, mut weights) = (Sum::default(), Sum::default());
        for (score, amount) in scores {
            let weight = if is_weighted { amount } else { 1.0 };
            if weight > 0.0 {
                sum.add(score? * weight);
                weights.add(weight);
            }
        }
        let weights = weights.value();
        match self.definition.convention {
            // Its weighted average of nothing is 0.
            Convention::Sklearn if is_weighted && weights == 0.0 => Some(0.0),
            _ => (weights > 0.0).then(|| sum.value() / weights),
        }
    }

    /// The scores of a binary problem.
    fn against_rest<A: Amounts>(
        &self,
        cells: &[Cell],
        is_positive: impl Fn(u32) -> bool,
        amounts: &A,
    ) -> BinaryScores {
        let [mut tp, mut fp] = [A::Total::default(), A::Total::default()];
        let points = ties(cells).map(|tie| {
            for cell in tie {
                let total = if is_positive(cell.class) {
                    &mut tp
                } else {
                    &mut fp
                };
                amounts.add(total, cell.row);
            }
            [A::value(&tp), A::value(&fp)]
        });
        let mut scores = BinaryScores::of_curve(points, A::ARE_COUNTS);
        if self.definition.convention == Convention::Sklearn {
            scores.average_precision = scores.average_precision.or(Some(0.0));
        }
        scores
    }
}

/// The distance of 1 to the next number.
const fn epsilon(is_single: bool) -> f64 {
    if is_single {
        f32::EPSILON as f64
    } else {
        f64::EPSILON
    }
}

impl RowSums {
    fn count(&mut self, scores: &[f64], times: u64) {
        self.rows += times;
        if scores.len() > 1 {
            let sum: f64 = scores.iter().sum();
            // The tolerance of scikit-learn.
            let is_far = (1.0 - sum).abs() > 1e-8 + 1e-5 * sum.abs();
            self.far_from_one += if is_far { times } else { 0 };
        }
    }
}

/// Twice the number of pairs of a row of one class and a row of another in which the other has the higher score in the
/// column of the first, where ties count ½.
#[derive(Default)]
struct Pairs {
    losses: Vec<Vec<u128>>,
}

/// Walks down the column of a class once for all other classes, with a counter for each of the rows so far.
fn losses<A: Amounts>(classes: usize, class: u32, cells: &[Cell], amounts: &A) -> Vec<u128> {
    let mut losses = vec![0; classes];
    let mut seen = vec![0_u64; classes];
    let mut tied = vec![0_u64; classes];
    for tie in ties(cells) {
        for cell in tie {
            if let Some(count) = tied.get_mut(cell.class as usize) {
                *count += amounts.times(cell.row);
            }
        }
        let own = tied.get(class as usize).copied().unwrap_or_default();
        if own > 0 {
            let others = losses.iter_mut().zip(&seen).zip(&tied);
            for ((losses, seen), tied) in others {
                *losses += u128::from(own) * u128::from(2 * seen + tied);
            }
        }
        for cell in tie {
            if let (Some(seen), Some(tied)) = (
                seen.get_mut(cell.class as usize),
                tied.get_mut(cell.class as usize),
            ) {
                *seen += std::mem::take(tied);
            }
        }
    }
    losses
}

impl Pairs {
    /// The mean area of both directions of each pair of classes that occur, with the number of its rows.
    fn areas(&self, totals: &[f64]) -> Vec<(Option<f64>, f64)> {
        let mut areas = Vec::new();
        for (a, &rows_of_a) in totals.iter().enumerate() {
            for (b, &rows_of_b) in totals.iter().enumerate().skip(a + 1) {
                let pairs = 2 * rows_of_a as u128 * rows_of_b as u128;
                let area = |a: usize, b: usize| {
                    let losses = self.losses.get(a)?.get(b)?;
                    Some(pairs.saturating_sub(*losses) as f64 / pairs as f64)
                };
                if pairs > 0 {
                    let both = area(a, b).zip(area(b, a));
                    areas.push((
                        both.map(|(ab, ba)| f64::midpoint(ab, ba)),
                        rows_of_a + rows_of_b,
                    ));
                }
            }
        }
        areas
    }
}

impl ScoreTable<'_> {
    /// Returns the points of a class against the rest in a column.
    #[must_use]
    pub fn curves(&self, column: usize, class: u32) -> Curves {
        struct OfClass<'c>(&'c [Cell], u32);

        impl WithAmounts for OfClass<'_> {
            type Output = Curves;

            fn run<A: Amounts + Sync>(self, amounts: &A) -> Curves {
                Curves::new(self.0, |it| it == self.1, amounts)
            }
        }

        self.with_amounts(None, OfClass(&self.column(column), class))
    }
}
