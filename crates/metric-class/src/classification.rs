use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use metric_core::{
    Accuracy, Counts, Malformed, Mean, Merge, Metric, Reader, Sum, Writer, Written, named_choice,
    named_scores,
};

/// The number of times each class was predicted for each reference class: the state of single-label
/// classification, from which all of its scores are computed.
///
/// `L` is the type of a class label, such as an integer or a string. The classes are those that
/// occur as a reference or as a prediction, in their order. An example may have no prediction
/// ([`record`](ConfusionMatrix::record) with `None`): it is a false negative of its reference, and a
/// false positive of no class.
///
/// Memory is that of the pairs of classes that occur.
///
/// ```
/// use metric_class::{Average, ConfusionMatrix, ZeroDivision};
/// use metric_core::Counts;
///
/// let references = ["cat", "cat", "cat", "dog", "dog", "emu"];
/// let predictions = ["cat", "cat", "dog", "dog", "cat", "dog"];
/// let matrix: ConfusionMatrix<&str> = predictions.into_iter().zip(references).collect();
///
/// assert_eq!(matrix.accuracy().value(), Some(3.0 / 6.0));
/// assert_eq!(matrix.rows(), [[2, 1, 0], [1, 1, 0], [0, 1, 0]]); // a row for each reference
/// assert_eq!(matrix.class_counts(&"cat"), Counts::new(2, 1, 1));
///
/// // Nothing was predicted to be an emu: its precision is 0 / 0.
/// let precision = |zero_division| {
///     matrix.precision_recall_f1(Average::Macro, zero_division).precision
/// };
/// assert_eq!(precision(ZeroDivision::Undefined), Some((2.0 / 3.0 + 1.0 / 3.0) / 2.0));
/// assert_eq!(precision(ZeroDivision::Zero), Some((2.0 / 3.0 + 1.0 / 3.0) / 3.0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfusionMatrix<L: Ord> {
    /// By reference.
    rows: BTreeMap<L, Row<L>>,
}

/// The predicted classes of the examples that share a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row<L: Ord> {
    /// Predictions that are the reference. Most are, and they need no second search.
    right: u64,
    /// All others, by prediction.
    wrong: BTreeMap<Option<L>, u64>,
}

impl<L: Ord> Row<L> {
    /// The predictions in their order.
    fn cells<'a>(&'a self, reference: &'a L) -> impl Iterator<Item = (Option<&'a L>, u64)> {
        let wrong = || {
            self.wrong
                .iter()
                .map(|(it, &examples)| (it.as_ref(), examples))
        };
        let before = move |it: &(Option<&L>, u64)| it.0 < Some(reference);
        let right = (self.right > 0).then_some((Some(reference), self.right));
        let head = wrong().take_while(before);
        head.chain(right).chain(wrong().skip_while(before))
    }
}

impl<L: Ord> Default for Row<L> {
    fn default() -> Self {
        Self {
            right: 0,
            wrong: BTreeMap::new(),
        }
    }
}

impl<L: Ord> ConfusionMatrix<L> {
    /// Counts one example.
    pub fn record(&mut self, prediction: Option<L>, reference: L) {
        self.add(prediction, reference, 1);
    }

    fn add(&mut self, prediction: Option<L>, reference: L, examples: u64) {
        if examples > 0 {
            let right = prediction.as_ref() == Some(&reference);
            let row = self.rows.entry(reference).or_default();
            if right {
                row.right += examples;
            } else {
                *row.wrong.entry(prediction).or_default() += examples;
            }
        }
    }

    /// Returns the reference, the prediction and the number of examples of each cell that is not 0.
    pub fn cells(&self) -> impl Iterator<Item = (&L, Option<&L>, u64)> {
        self.rows.iter().flat_map(|(reference, row)| {
            row.cells(reference)
                .map(move |(prediction, examples)| (reference, prediction, examples))
        })
    }

    /// Returns the classes in their order.
    #[must_use]
    pub fn classes(&self) -> Vec<&L> {
        let mut classes = BTreeSet::new();
        for (reference, prediction, _) in self.cells() {
            classes.insert(reference);
            classes.extend(prediction);
        }
        classes.into_iter().collect()
    }

    /// Returns the whole matrix: a row for the references of each class, a column for its predictions. Examples
    /// without a prediction are in no cell.
    ///
    /// Memory and time are the square of the number of classes: 24,000 of them take 4.6 GB, where
    /// [`cells`](ConfusionMatrix::cells) has what is not 0.
    #[must_use]
    pub fn rows(&self) -> Vec<Vec<u64>> {
        let classes = self.classes();
        let row = |&reference: &&L| {
            // Both are in order, so that one walk fills the row.
            let row = self.rows.get(reference).into_iter();
            let cells = row.flat_map(|row| row.cells(reference));
            let mut cells = cells.filter(|cell| cell.0.is_some()).peekable();
            let cell = |&class: &&L| {
                let cell = cells.next_if(|cell| cell.0 == Some(class));
                cell.map_or(0, |(_, examples)| examples)
            };
            classes.iter().map(cell).collect()
        };
        classes.iter().map(row).collect()
    }

    /// Returns the number of examples whose prediction is their reference, and of all examples.
    #[must_use]
    pub fn accuracy(&self) -> Accuracy {
        let mut accuracy = Accuracy::default();
        for (reference, prediction, examples) in self.cells() {
            accuracy.total += examples;
            accuracy.correct += if prediction == Some(reference) {
                examples
            } else {
                0
            };
        }
        accuracy
    }

    /// Returns the counts of one class against all others; [`Counts::actual`] is its support.
    ///
    /// One walk over all [`cells`](ConfusionMatrix::cells), without memory:
    /// [`counts`](ConfusionMatrix::counts) has all classes after one walk.
    #[must_use]
    pub fn class_counts(&self, class: &L) -> Counts {
        let mut counts = Counts::default();
        for (reference, prediction, examples) in self.cells() {
            match (reference == class, prediction == Some(class)) {
                (true, true) => counts.true_positives += examples,
                (true, false) => counts.false_negatives += examples,
                (false, true) => counts.false_positives += examples,
                (false, false) => {}
            }
        }
        counts
    }

    /// Returns the classes in their order, each with its counts against all others, after one walk
    /// over all [`cells`](ConfusionMatrix::cells).
    #[must_use]
    pub fn counts(&self) -> Vec<(&L, Counts)> {
        let mut counts: BTreeMap<&L, Counts> = BTreeMap::new();
        for (reference, prediction, examples) in self.cells() {
            let of_reference = counts.entry(reference).or_default();
            if prediction == Some(reference) {
                of_reference.true_positives += examples;
                continue;
            }
            of_reference.false_negatives += examples;
            if let Some(prediction) = prediction {
                counts.entry(prediction).or_default().false_positives += examples;
            }
        }
        counts.into_iter().collect()
    }

    /// Returns precision, recall and F1, averaged over all classes.
    ///
    /// Equals `precision_recall_fscore_support` of scikit-learn 1.9 without a list of labels; its
    /// default for 0 / 0 is [`ZeroDivision::Zero`].
    #[must_use]
    pub fn precision_recall_f1(
        &self,
        average: Average,
        zero_division: ZeroDivision,
    ) -> PrecisionRecallF1 {
        let counts: Vec<Counts> = self
            .counts()
            .into_iter()
            .map(|(_, counts)| counts)
            .collect();
        PrecisionRecallF1::average(&counts, average, zero_division)
    }

    /// Returns the mean recall of the classes that occur as references; undefined without examples.
    ///
    /// `balanced_accuracy_score` of scikit-learn 1.9.
    #[must_use]
    pub fn balanced_accuracy(&self) -> Option<f64> {
        let recalls = self
            .counts()
            .into_iter()
            .filter_map(|(_, counts)| counts.recall());
        recalls.collect::<Mean>().value()
    }

    /// Returns Cohen's kappa: the agreement of predictions and references beyond that expected by chance from their
    /// frequencies. 1 is full agreement and 0 is chance; undefined if chance alone gives full agreement.
    ///
    /// J. Cohen, *A coefficient of agreement for nominal scales* (1960), formula 1, in counts.
    ///
    /// ```
    /// # use metric_class::ConfusionMatrix;
    /// let matrix: ConfusionMatrix<u8> = [(1, 1), (1, 1), (0, 1), (0, 0)].into_iter().collect();
    /// // 3 of 4 agree; by chance 2 · 3 + 2 · 1 of 16.
    /// assert_eq!(matrix.cohen_kappa(), Some((0.75 - 0.5) / (1.0 - 0.5)));
    /// ```
    #[must_use]
    pub fn cohen_kappa(&self) -> Option<f64> {
        let Margins {
            total,
            correct,
            chance,
            ..
        } = self.margins();
        let denominator = total * total - chance;
        (denominator > 0).then(|| (total * correct - chance) as f64 / denominator as f64)
    }

    /// Returns Cohen's kappa with a cost for each disagreement, which grows with the distance of two classes in an order:
    /// 1 − the cost of the confusions / their cost by chance. Undefined if the cost by chance is 0.
    ///
    /// `order` lists the classes; cells with a class that is not listed are left out. Distances are those of positions,
    /// not of values: of the classes 1, 2 and 5, the first two are as far apart as the last two. An example without a
    /// prediction costs as much as the greatest distance. Without weights this is [`cohen_kappa`](Self::cohen_kappa).
    ///
    /// J. Cohen, *Weighted kappa* (1968); `cohen_kappa_score` of scikit-learn 1.9.
    ///
    /// ```
    /// # use metric_class::{ConfusionMatrix, KappaWeights};
    /// // The predictions 0, 2 and 2 for the references 0, 1 and 2.
    /// let matrix: ConfusionMatrix<u8> = [(0, 0), (2, 1), (2, 2)].into_iter().collect();
    /// let kappa = |weights| matrix.weighted_kappa(&[0, 1, 2], weights);
    /// // One step in 3 examples. By chance, the nine pairs of a reference and a prediction have 4 + 3 + 2 steps.
    /// assert_eq!(kappa(KappaWeights::Linear), Some((9.0 - 3.0) / 9.0));
    /// assert_eq!(kappa(KappaWeights::None), matrix.cohen_kappa());
    /// ```
    #[must_use]
    pub fn weighted_kappa(&self, order: &[L], weights: KappaWeights) -> Option<f64> {
        let positions: BTreeMap<&L, usize> = order.iter().zip(0..).collect();
        // The last column is that of no prediction.
        let nothing = order.len();
        let (mut rows, mut columns) = (vec![0; nothing], vec![0; nothing + 1]);
        let cost = |row: usize, column: usize| {
            let steps = match column {
                column if column == nothing => nothing.saturating_sub(1).max(1),
                column => row.abs_diff(column),
            };
            weights.cost(steps as i128)
        };
        let (mut total, mut observed) = (0, 0);
        for (reference, prediction, examples) in self.cells() {
            let column = match prediction {
                Some(class) => positions.get(class),
                None => Some(&nothing),
            };
            if let (Some(&row), Some(&column)) = (positions.get(reference), column) {
                let examples = i128::from(examples);
                rows[row] += examples;
                columns[column] += examples;
                total += examples;
                observed += examples * cost(row, column);
            }
        }
        let of_row = |(row, count): (usize, &i128)| -> i128 {
            let columns = columns.iter().enumerate();
            columns
                .map(|(column, others)| count * others * cost(row, column))
                .sum()
        };
        let present = rows.iter().enumerate().filter(|(_, count)| **count > 0);
        let by_chance: i128 = present.map(of_row).sum();
        (by_chance > 0).then(|| (by_chance - total * observed) as f64 / by_chance as f64)
    }

    /// Returns the Matthews correlation coefficient of several classes, in \[−1, 1\]; undefined
    /// where all references or all predictions are of one class, for which scikit-learn prints 0.
    ///
    /// J. Gorodkin, *Comparing two K-category assignments by a K-category correlation coefficient*
    /// (2004); `matthews_corrcoef` of scikit-learn 1.9.
    ///
    /// ```
    /// # use metric_class::ConfusionMatrix;
    /// // Two true positives, one false negative, one true negative.
    /// let matrix: ConfusionMatrix<u8> = [(1, 1), (1, 1), (0, 1), (0, 0)].into_iter().collect();
    /// assert_eq!(matrix.matthews_correlation(), Some(4.0 / 48_f64.sqrt()));
    /// ```
    #[must_use]
    pub fn matthews_correlation(&self) -> Option<f64> {
        let Margins {
            total,
            correct,
            chance,
            references,
            predictions,
        } = self.margins();
        let spread = |squares: i128| (total * total - squares) as f64;
        let denominator = (spread(references) * spread(predictions)).sqrt();
        let covariance = (total * correct - chance) as f64;
        (denominator > 0.0).then(|| (covariance / denominator).clamp(-1.0, 1.0))
    }

    fn margins(&self) -> Margins {
        let mut margins = Margins::default();
        for (_, counts) in self.counts() {
            let [actual, predicted] = [counts.actual(), counts.predicted()].map(i128::from);
            margins.total += actual;
            margins.correct += i128::from(counts.true_positives);
            margins.chance += actual * predicted;
            margins.references += actual * actual;
            margins.predictions += predicted * predicted;
        }
        // No prediction is a prediction of its own.
        let silent: i128 = self
            .cells()
            .filter(|cell| cell.1.is_none())
            .map(|cell| i128::from(cell.2))
            .sum();
        margins.predictions += silent * silent;
        margins
    }
}

/// The cost of a disagreement in [Cohen's kappa](ConfusionMatrix::weighted_kappa).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KappaWeights {
    /// Every disagreement costs the same.
    #[default]
    None,
    /// The distance of both classes in their order.
    Linear,
    /// The square of the distance.
    Quadratic,
}

impl KappaWeights {
    /// All weights.
    pub const ALL: &[Self] = &[Self::None, Self::Linear, Self::Quadratic];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Linear => "linear",
            Self::Quadratic => "quadratic",
        }
    }

    const fn cost(self, steps: i128) -> i128 {
        match self {
            Self::None => (steps > 0) as i128,
            Self::Linear => steps,
            Self::Quadratic => steps * steps,
        }
    }
}

named_choice!(KappaWeights, "weights of kappa");

/// Sums over the classes.
#[derive(Default)]
struct Margins {
    total: i128,
    correct: i128,
    /// References times predictions of each class: `total²` times the agreement by chance.
    chance: i128,
    /// Squares of the references of each class.
    references: i128,
    /// Squares of the predictions of each class.
    predictions: i128,
}

impl<L: Ord> Default for ConfusionMatrix<L> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
        }
    }
}

impl<L: Ord + Clone> Merge for Row<L> {
    fn merge(&mut self, other: Self) {
        self.right += other.right;
        for (prediction, examples) in other.wrong {
            *self.wrong.entry(prediction).or_default() += examples;
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        self.right += other.right * times;
        self.wrong.merge_times(&other.wrong, times);
    }
}

impl<L: Ord + Clone> Merge for ConfusionMatrix<L> {
    fn merge(&mut self, other: Self) {
        for (reference, row) in other.rows {
            self.rows.entry(reference).or_default().merge(row);
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        self.rows.merge_times(&other.rows, times);
    }
}

/// Counts pairs of a prediction and its reference.
impl<L: Ord> FromIterator<(L, L)> for ConfusionMatrix<L> {
    fn from_iter<I: IntoIterator<Item = (L, L)>>(pairs: I) -> Self {
        let mut matrix = Self::default();
        for (prediction, reference) in pairs {
            matrix.record(Some(prediction), reference);
        }
        matrix
    }
}

/// A list of the cells: reference, prediction, number of examples.
impl<L: Ord + Written> Written for ConfusionMatrix<L> {
    fn write(&self, to: &mut Writer) {
        let cells: Vec<_> = self.cells().collect();
        to.list(cells.len());
        for (reference, prediction, examples) in cells {
            to.list(3);
            reference.write(to);
            to.option(prediction);
            examples.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let cells: Vec<(L, Option<L>, u64)> = Vec::read(from)?;
        crate::check_total(cells.iter().map(|cell| cell.2))?;
        Ok(Self::from(cells))
    }
}

impl<L: Ord> From<Vec<(L, Option<L>, u64)>> for ConfusionMatrix<L> {
    fn from(cells: Vec<(L, Option<L>, u64)>) -> Self {
        let mut matrix = Self::default();
        for (reference, prediction, examples) in cells {
            matrix.add(prediction, reference, examples);
        }
        matrix
    }
}

/// Precision, recall and F1 of a class or averaged over classes; `None` if undefined.
///
/// ```
/// use metric_class::{Average, PrecisionRecallF1, ZeroDivision};
/// use metric_core::Counts;
///
/// let classes = [Counts::new(2, 1, 1), Counts::new(1, 2, 1), Counts::new(0, 0, 1)];
/// let scores = |average| PrecisionRecallF1::average(&classes, average, ZeroDivision::Zero);
/// assert_eq!(scores(Average::Micro).recall, Some(3.0 / 6.0));
/// assert_eq!(scores(Average::Macro).recall, Some((2.0 / 3.0 + 1.0 / 2.0 + 0.0) / 3.0));
/// // By support: 3, 2 and 1.
/// assert_eq!(scores(Average::Weighted).recall, Some((2.0 + 1.0 + 0.0) / 6.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PrecisionRecallF1 {
    /// True positives of the predictions.
    pub precision: Option<f64>,
    /// True positives of the references.
    pub recall: Option<f64>,
    /// `2 tp / (2 tp + fp + fn)` of a class or of pooled counts; the mean of F1 over classes.
    pub f1: Option<f64>,
}

named_scores!(PrecisionRecallF1 {
    precision,
    recall,
    f1
});

impl PrecisionRecallF1 {
    /// Returns the average over the counts of several classes, or the scores of a single one.
    #[must_use]
    pub fn average(classes: &[Counts], average: Average, zero_division: ZeroDivision) -> Self {
        let mut pooled = Counts::default();
        classes.iter().for_each(|&counts| pooled.merge(counts));
        let mean = |of: &dyn Fn(&Counts) -> Option<f64>| {
            let mean: Mean = classes.iter().filter_map(of).collect();
            mean.value()
        };
        let score = |of: fn(&Counts) -> Option<f64>| {
            let of = |counts: &Counts| of(counts).or(zero_division.value());
            match average {
                Average::Micro => of(&pooled),
                Average::Macro => mean(&of),
                Average::Weighted => {
                    let (mut sum, mut support) = (Sum::default(), 0);
                    for counts in classes {
                        if let Some(value) = of(counts) {
                            support += counts.actual();
                            sum.add(value * counts.actual() as f64);
                        }
                    }
                    // scikit-learn's rule where no class with a value has support: all count the
                    // same.
                    if support > 0 {
                        Some(sum.value() / support as f64)
                    } else {
                        mean(&of)
                    }
                }
            }
        };
        Self {
            precision: score(Counts::precision),
            recall: score(Counts::recall),
            f1: score(Counts::f1),
        }
    }
}

/// The average that turns the scores of the classes into one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Average {
    /// The score of the pooled counts: all examples have the same weight. Over all classes, recall
    /// is then the accuracy, and so are precision and F1 if every example has a prediction.
    Micro,
    /// The mean over classes: all classes count the same.
    #[default]
    Macro,
    /// The mean over classes, weighted by their references (support).
    Weighted,
}

impl Average {
    /// All averages.
    pub const ALL: &[Self] = &[Self::Micro, Self::Macro, Self::Weighted];

    /// Returns the name in options and signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Micro => "micro",
            Self::Macro => "macro",
            Self::Weighted => "weighted",
        }
    }
}

named_choice!(Average, "average");

/// The value of 0 / 0, such as the precision of a class that was never predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ZeroDivision {
    /// Undefined, and left out of averages over classes: `zero_division=np.nan` of scikit-learn.
    #[default]
    Undefined,
    /// 0, scikit-learn's default.
    Zero,
    /// 1.
    One,
}

impl ZeroDivision {
    /// All values.
    pub const ALL: &[Self] = &[Self::Undefined, Self::Zero, Self::One];

    /// Returns the name in options and signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Zero => "0",
            Self::One => "1",
        }
    }

    /// Returns the value of 0 / 0 under this rule; `None` if undefined.
    ///
    /// ```
    /// use metric_class::{ConfusionMatrix, ZeroDivision};
    ///
    /// // All references and all predictions are of one class.
    /// let matrix: ConfusionMatrix<u8> = [(1, 1), (1, 1)].into_iter().collect();
    /// let kappa = |rule: ZeroDivision| matrix.cohen_kappa().or(rule.value());
    /// assert_eq!(kappa(ZeroDivision::Undefined), None);
    /// assert_eq!(kappa(ZeroDivision::Zero), Some(0.0));
    /// ```
    #[must_use]
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Undefined => None,
            Self::Zero => Some(0.0),
            Self::One => Some(1.0),
        }
    }
}

named_choice!(ZeroDivision, "rule for 0 / 0");

/// Single-label classification: averaged precision, recall and F1.
///
/// The prediction is a label, or `None` where there is none. The state is the [`ConfusionMatrix`],
/// which has the accuracy, the scores of single classes and further ones.
///
/// ```
/// use metric_class::{Average, Classification, ZeroDivision};
/// use metric_core::Metric;
///
/// let metric = Classification::new(Average::Macro, ZeroDivision::Zero);
/// let mut state = metric.measure(&Some("cat"), &"cat");
/// metric.update(&mut state, &Some("cat"), &"dog");
/// assert_eq!(metric.compute(&state).recall, Some((1.0 + 0.0) / 2.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classification<L> {
    average: Average,
    zero_division: ZeroDivision,
    label: PhantomData<fn(L)>,
}

impl<L> Classification<L> {
    /// Returns the metric with this average over classes and this value of 0 / 0.
    #[must_use]
    pub const fn new(average: Average, zero_division: ZeroDivision) -> Self {
        Self {
            average,
            zero_division,
            label: PhantomData,
        }
    }

    /// Returns the average that turns the scores of the classes into one.
    #[must_use]
    pub fn average(&self) -> Average {
        self.average
    }

    /// Returns the value of 0 / 0.
    #[must_use]
    pub fn zero_division(&self) -> ZeroDivision {
        self.zero_division
    }
}

impl<L: Ord + Clone> Metric for Classification<L> {
    type Prediction = Option<L>;
    type Reference = L;
    type State = ConfusionMatrix<L>;
    type Score = PrecisionRecallF1;

    fn update(&self, state: &mut ConfusionMatrix<L>, prediction: &Option<L>, reference: &L) {
        // Labels are copied for the first example of their pair only.
        let Some(row) = state.rows.get_mut(reference) else {
            return state.record(prediction.clone(), reference.clone());
        };
        if prediction.as_ref() == Some(reference) {
            row.right += 1;
        } else if let Some(examples) = row.wrong.get_mut(prediction) {
            *examples += 1;
        } else {
            row.wrong.insert(prediction.clone(), 1);
        }
    }

    fn compute(&self, state: &ConfusionMatrix<L>) -> PrecisionRecallF1 {
        state.precision_recall_f1(self.average, self.zero_division)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Class 2 is never predicted, class 3 never true; one example has no prediction.
    const PAIRS: &[(Option<u8>, u8)] = &[
        (Some(0), 0),
        (Some(0), 0),
        (Some(1), 0),
        (Some(1), 1),
        (Some(0), 1),
        (Some(3), 2),
        (None, 1),
    ];

    fn matrix(pairs: &[(Option<u8>, u8)]) -> ConfusionMatrix<u8> {
        let mut matrix = ConfusionMatrix::default();
        for &(prediction, reference) in pairs {
            matrix.record(prediction, reference);
        }
        matrix
    }

    #[test]
    fn by_hand() {
        let matrix = matrix(PAIRS);
        assert_eq!(matrix.classes(), [&0, &1, &2, &3]);
        assert_eq!(
            matrix.rows(),
            [[2, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
        );
        let accuracy = matrix.accuracy();
        assert_eq!((accuracy.correct, accuracy.total), (3, 7));
        assert_eq!(matrix.class_counts(&0), Counts::new(2, 1, 1));
        assert_eq!(matrix.class_counts(&1), Counts::new(1, 1, 2));
        assert_eq!(matrix.class_counts(&3), Counts::new(0, 1, 0));
        assert_eq!(matrix.class_counts(&9), Counts::default());
        assert_eq!(
            matrix.balanced_accuracy(),
            Some((2.0 / 3.0 + 1.0 / 3.0) / 3.0)
        );

        type Row = (Average, ZeroDivision, [f64; 3]);
        let rows: &[Row] = &[
            (
                Average::Micro,
                ZeroDivision::Zero,
                [0.5, 3.0 / 7.0, 6.0 / 13.0],
            ),
            (
                Average::Macro,
                ZeroDivision::Undefined,
                [(2.0 / 3.0 + 0.5) / 3.0, 1.0 / 3.0, (2.0 / 3.0 + 0.4) / 4.0],
            ),
            (
                Average::Macro,
                ZeroDivision::One,
                [(2.0 / 3.0 + 0.5 + 1.0) / 4.0, 0.5, (2.0 / 3.0 + 0.4) / 4.0],
            ),
            (
                Average::Weighted,
                ZeroDivision::Undefined,
                [(2.0 + 1.5) / 6.0, 3.0 / 7.0, (2.0 + 1.2) / 7.0],
            ),
        ];
        for &(average, zero_division, [precision, recall, f1]) in rows {
            let expected = PrecisionRecallF1 {
                precision: Some(precision),
                recall: Some(recall),
                f1: Some(f1),
            };
            let metric = Classification::new(average, zero_division);
            let scores = metric.compute(&matrix);
            let near = |a: Option<f64>, b: Option<f64>| {
                a.zip(b).is_some_and(|(a, b)| (a - b).abs() <= 1e-15)
            };
            assert!(
                near(scores.precision, expected.precision)
                    && near(scores.recall, expected.recall)
                    && near(scores.f1, expected.f1),
                "{average} {zero_division}: {scores:?}, expected {expected:?}"
            );
        }
    }

    #[test]
    fn edges() {
        let empty = matrix(&[]);
        assert_eq!(empty.accuracy().value(), None);
        assert_eq!(empty.rows(), Vec::<Vec<u64>>::new());
        assert_eq!(empty.cohen_kappa(), None);
        assert_eq!(empty.matthews_correlation(), None);
        assert_eq!(empty.balanced_accuracy(), None);
        for &average in Average::ALL {
            let scores = empty.precision_recall_f1(average, ZeroDivision::Undefined);
            assert_eq!(scores, PrecisionRecallF1::default());
        }
        let perfect = matrix(&[(Some(1), 1), (Some(2), 2)]);
        assert_eq!(perfect.cohen_kappa(), Some(1.0));
        assert_eq!(perfect.matthews_correlation(), Some(1.0));
        let one_class = matrix(&[(Some(1), 1), (Some(1), 1)]);
        assert_eq!(one_class.cohen_kappa(), None);
        assert_eq!(one_class.matthews_correlation(), None);
        let swapped = matrix(&[(Some(1), 2), (Some(2), 1)]);
        assert_eq!(swapped.cohen_kappa(), Some(-1.0));
        assert_eq!(swapped.matthews_correlation(), Some(-1.0));
        // No prediction is a class of its own: n = 3, two agree; references are 2 and 1, predictions
        // 1, 1 and 1.
        let silent = matrix(&[(Some(0), 0), (None, 0), (Some(1), 1)]);
        let margins: f64 = (9.0_f64 - 5.0) * (9.0 - 3.0);
        assert_eq!(
            silent.matthews_correlation(),
            Some((3.0 * 2.0 - 3.0) / margins.sqrt())
        );
        // All silent: predictions are of one class.
        assert_eq!(matrix(&[(None, 0), (None, 1)]).matthews_correlation(), None);
        // Only class 1 has support, and its precision is undefined.
        let scores =
            matrix(&[(Some(2), 1)]).precision_recall_f1(Average::Weighted, ZeroDivision::Undefined);
        assert_eq!(scores.precision, Some(0.0));
    }

    fn pairs() -> impl Strategy<Value = Vec<(Option<u8>, u8)>> {
        proptest::collection::vec((proptest::option::weighted(0.9, 0_u8..5), 0_u8..5), 0..40)
    }

    proptest! {
        #[test]
        fn shards_in_any_order_are_the_whole(pairs in pairs()) {
            let single = pairs.iter().map(|pair| matrix(&[*pair]));
            let forward = crate::laws::check(&single.collect::<Vec<_>>());
            prop_assert_eq!(&forward, &matrix(&pairs));
            let metric = Classification::new(Average::Macro, ZeroDivision::Zero);
            let mut updated = ConfusionMatrix::default();
            for (prediction, reference) in &pairs {
                metric.update(&mut updated, prediction, reference);
            }
            prop_assert_eq!(&updated, &forward);
            let cells: Vec<_> = forward.cells().collect();
            prop_assert!(cells.is_sorted() && cells.iter().all(|cell| cell.2 > 0));
            for (class, counts) in forward.counts() {
                prop_assert_eq!(forward.class_counts(class), counts);
            }
            let listed = forward.cells();
            let listed = listed.map(|(reference, prediction, n)| (*reference, prediction.copied(), n));
            prop_assert_eq!(ConfusionMatrix::from(listed.collect::<Vec<_>>()), forward);
        }

        #[test]
        fn a_written_matrix_is_no_greater_than_can_be_counted(
            cells in proptest::collection::vec(
                (0_u8..2, proptest::option::of(0_u8..2), prop_oneof![0_u64..9, any::<u64>()]), 0..4),
        ) {
            let written = metric_core::to_bytes(&cells);
            let total = cells.iter().map(|cell| u128::from(cell.2)).sum::<u128>();
            let read = metric_core::from_bytes::<ConfusionMatrix<u8>>(&written);
            prop_assert_eq!(read.is_ok(), total <= 1 << 53);
            if let Ok(matrix) = read {
                prop_assert!(matrix.cohen_kappa().is_none_or(|kappa| kappa <= 1.0));
                prop_assert_eq!(u128::from(matrix.accuracy().total), total);
            }
        }

        #[test]
        fn sums_of_the_matrix(pairs in pairs()) {
            let matrix = matrix(&pairs);
            let answered = pairs.iter().filter(|pair| pair.0.is_some()).count() as u64;
            prop_assert_eq!(matrix.rows().iter().flatten().sum::<u64>(), answered);
            prop_assert_eq!(matrix.accuracy().total, pairs.len() as u64);
            let trace: u64 = matrix.rows().iter().enumerate().map(|(at, row)| row[at]).sum();
            prop_assert_eq!(matrix.accuracy().correct, trace);
            // Pooled recall is the accuracy.
            let micro = matrix.precision_recall_f1(Average::Micro, ZeroDivision::Undefined);
            prop_assert_eq!(micro.recall, matrix.accuracy().value());
            // So is the weighted recall, except for the rounding of its terms.
            let weighted = matrix.precision_recall_f1(Average::Weighted, ZeroDivision::Undefined);
            let difference = weighted.recall.unwrap_or(0.0) - micro.recall.unwrap_or(0.0);
            prop_assert!(difference.abs() < 1e-14);
        }

        #[test]
        fn agreement_is_symmetric(pairs in proptest::collection::vec((0_u8..4, 0_u8..4), 0..40)) {
            let one: ConfusionMatrix<u8> = pairs.iter().copied().collect();
            let other: ConfusionMatrix<u8> = pairs.iter().map(|&(a, b)| (b, a)).collect();
            prop_assert_eq!(one.cohen_kappa(), other.cohen_kappa());
            prop_assert_eq!(one.matthews_correlation(), other.matthews_correlation());
            prop_assert!(one.cohen_kappa().is_none_or(|kappa| (-1.0..=1.0).contains(&kappa)));
        }
    }
}
