use metric_core::{Malformed, Mean, Merge, Reader, Sum, Writer, Written, named_choice};

use crate::multilabel_scores::{ScoredRows, SortedRows};
use crate::{BinaryScores, ZeroDivision};

/// The average that turns the scores of several labels per example into one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MultilabelAverage {
    /// The mean over classes: all classes count the same.
    #[default]
    Macro,
    /// The mean over classes, weighted by their references (support).
    Weighted,
    /// The score of the pooled counts of all classes.
    Micro,
    /// The mean over examples, each scored by its own labels.
    Samples,
}

impl MultilabelAverage {
    /// All averages.
    pub const ALL: &[Self] = &[Self::Macro, Self::Weighted, Self::Micro, Self::Samples];

    /// Returns the name in options and signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Macro => "macro",
            Self::Weighted => "weighted",
            Self::Micro => "micro",
            Self::Samples => "samples",
        }
    }
}

named_choice!(MultilabelAverage, "average");

/// Whose convention holds where a score of class scores is undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MultilabelProfile {
    /// Undefined scores stay undefined, and so do averages over them.
    #[default]
    Textbook,
    /// The average precision of a class without references is 0, and so are weighted averages if no class has
    /// references, as in scikit-learn 1.9.
    Sklearn,
}

impl MultilabelProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[Self::Textbook, Self::Sklearn];

    /// Returns the name in options and signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Textbook => "textbook",
            Self::Sklearn => "sklearn",
        }
    }
}

named_choice!(MultilabelProfile, "profile");

/// Scores of several labels per example: of sets of labels, and of a score for each class.
///
/// Classes are indices, from 0. For a class, TP is the number (or the weight) of examples that have it on both sides,
/// `predicted` and `actual` the numbers of examples that have it on one.
///
/// | score | definition |
/// |---|---|
/// | precision, recall | TP / predicted, TP / actual |
/// | F1, Jaccard | 2·TP / (predicted + actual), TP / (predicted + actual − TP) |
/// | subset accuracy | examples whose sets are equal / examples |
/// | Hamming loss | pairs of an example and a class on which the sides differ / all such pairs |
///
/// A denominator of 0 gives the value of [`ZeroDivision`]; an undefined value is left out of a mean. An average weighted by
/// references is the plain mean if no class that is left has any.
///
/// ```
/// use metric_class::{Multilabel, MultilabelState};
///
/// let mut state = MultilabelState::default();
/// let metric = Multilabel::default();
/// metric.add_sets(&mut state, &[0, 1], &[0], None);
/// metric.add_sets(&mut state, &[1], &[1, 2], None);
/// let scores = metric.scores_of_sets(&state, Some(3));
/// // Precision 1/1 and 1/2; the third class is never predicted.
/// assert_eq!(scores.precision, Some((1.0 + 0.5) / 2.0));
/// assert_eq!(scores.recall, Some((1.0 + 1.0 + 0.0) / 3.0));
/// assert_eq!(scores.hamming_loss, Some(2.0 / 6.0));
/// assert_eq!(scores.subset_accuracy, Some(0.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Multilabel {
    /// The average over classes or examples.
    pub average: MultilabelAverage,
    /// The value of 0 / 0.
    pub zero_division: ZeroDivision,
    /// The convention for undefined scores of class scores.
    pub profile: MultilabelProfile,
}

metric_core::setters!(Multilabel {
    with_average => average: MultilabelAverage,
    with_zero_division => zero_division: ZeroDivision,
    with_profile => profile: MultilabelProfile,
});

impl Multilabel {
    /// Adds an example of two sets of classes, each ascending, with a weight that is finite and not negative. Examples of
    /// a state have weights either all or none.
    pub fn add_sets(
        &self,
        state: &mut MultilabelState,
        predicted: &[u32],
        actual: &[u32],
        weight: Option<f64>,
    ) {
        let by_example = self.average == MultilabelAverage::Samples;
        match weight {
            None => state
                .counts
                .get_or_insert_default()
                .add(predicted, actual, 1.0, by_example),
            Some(weight) => state
                .weights
                .get_or_insert_default()
                .add(predicted, actual, weight, by_example),
        }
    }

    /// Adds examples as rows of 0 and 1, one column for each class, without weights.
    ///
    /// # Errors
    ///
    /// Returns the index of the first row with another number; nothing was added.
    pub fn add_indicators(
        &self,
        state: &mut MultilabelState,
        predictions: ndarray::ArrayView2<'_, i64>,
        references: ndarray::ArrayView2<'_, i64>,
    ) -> Result<(), usize> {
        let mut table = Table::<u64>::default();
        let mut dense = vec![[0_u64; 3]; predictions.ncols()];
        let by_example = self.average == MultilabelAverage::Samples;
        let rows = predictions.outer_iter().zip(references.outer_iter());
        for (index, (predicted, actual)) in rows.enumerate() {
            let mut of_row = [0_u64; 3];
            // Bits other than the lowest are those of numbers other than 0 and 1.
            let mut bits = 0;
            for (counts, (&p, &a)) in dense.iter_mut().zip(predicted.iter().zip(&actual)) {
                bits |= p | a;
                let both = [(p & a) as u64, p as u64, a as u64];
                for ((count, of_row), cell) in counts.iter_mut().zip(&mut of_row).zip(both) {
                    *count = count.wrapping_add(cell);
                    *of_row = of_row.wrapping_add(cell);
                }
            }
            if bits & !1 != 0 {
                return Err(index);
            }
            table.add_example(of_row, 1.0, by_example);
        }
        let classes = (0..).zip(dense).filter(|(_, counts)| *counts != [0; 3]);
        table.classes = Classes(classes.collect());
        state.counts.get_or_insert_default().merge(table);
        Ok(())
    }

    /// Adds an example of a finite score for each class, for the scores of [`scores_of_classes`](Self::scores_of_classes).
    /// All examples of a state have equally many classes, and weights either all or none.
    pub fn add_scores(
        &self,
        state: &mut MultilabelState,
        scores: &[f64],
        actual: &[u32],
        weight: Option<f64>,
    ) {
        state.scored.add(scores, actual, weight);
    }

    /// Returns the scores of sets for a number of classes, which the state need not have seen. Without a number, as for a
    /// single example, classes are those that occur, and there is no Hamming loss.
    #[must_use]
    pub fn scores_of_sets(&self, state: &MultilabelState, classes: Option<usize>) -> SetScores {
        match (&state.counts, &state.weights) {
            (_, Some(table)) => self.of_table(table, classes),
            (Some(table), None) => self.of_table(table, classes),
            (None, None) => SetScores::default(),
        }
    }

    fn of_table<A: Amount>(&self, table: &Table<A>, classes: Option<usize>) -> SetScores {
        let total = table.total.value();
        if total <= 0.0 {
            return SetScores::default();
        }
        let pooled = table.pooled();
        let occurring: Vec<u32> = table.classes.0.iter().map(|at| at.0).collect();
        let all = classes.map_or(occurring, |classes| (0..classes as u32).collect());
        let by_class = || all.iter().map(|class| table.classes.at(*class));
        let [precision, recall, f1, jaccard] = [0, 1, 2, 3].map(|ratio| {
            let value = |counts: [f64; 3]| ratios(counts)[ratio].or(self.zero_division.value());
            let of_classes = |weight: fn([f64; 3]) -> f64| {
                mean(by_class().map(|counts| (value(counts), weight(counts))))
            };
            match self.average {
                MultilabelAverage::Micro => value(pooled.each_ref().map(A::value)),
                MultilabelAverage::Macro => of_classes(|_| 1.0),
                MultilabelAverage::Weighted => of_classes(|[.., actual]| actual),
                MultilabelAverage::Samples => {
                    let by_example = table.by_example.as_ref()?;
                    by_example[ratio].value(self.zero_division)
                }
            }
        });
        let differences = A::differences(&pooled);
        let cells = classes.unwrap_or(0) as f64 * total;
        SetScores {
            precision,
            recall,
            f1,
            jaccard,
            subset_accuracy: Some(table.correct.value() / total),
            hamming_loss: (cells > 0.0).then(|| differences / cells),
        }
    }

    /// Returns the scores of one class by its own counts.
    #[must_use]
    pub fn scores_of_class(&self, counts: ClassCounts) -> [Option<f64>; 4] {
        let counts = [counts.tp, counts.predicted, counts.actual];
        ratios(counts).map(|ratio| ratio.or(self.zero_division.value()))
    }

    /// Returns the area under the ROC curve and the average precision of class scores, averaged. A class or an example
    /// without positives or without negatives makes a macro average and an average over examples undefined.
    #[must_use]
    pub fn scores_of_classes(&self, state: &MultilabelState) -> BinaryScores {
        SortedRows::new(&[&state.scored], self.average).average(*self, |_| 1)
    }

    /// Returns the area under the ROC curve and the average precision of each class.
    #[must_use]
    pub fn scores_by_class(&self, state: &MultilabelState) -> Vec<BinaryScores> {
        let sorted = SortedRows::new(&[&state.scored], MultilabelAverage::Macro);
        let by_class = sorted.by_class(&|_| 1).into_iter();
        by_class
            .map(|(scores, _)| self.convention(scores))
            .collect()
    }

    /// The scores of one problem under the convention of the profile.
    pub(crate) fn convention(self, mut scores: BinaryScores) -> BinaryScores {
        if self.profile == MultilabelProfile::Sklearn && scores.average_precision.is_none() {
            scores.average_precision = Some(0.0);
        }
        scores
    }

    /// Returns a function that scores states, each as often as a weight says: the merged counts of sets, and the averages of
    /// class scores, whose rows are sorted once.
    pub fn weighted<'s>(
        self,
        states: &[&'s MultilabelState],
    ) -> impl Fn(&[u64]) -> (MultilabelState, BinaryScores) + Send + Sync + use<'s> {
        let scored: Vec<&ScoredRows> = states.iter().map(|state| &state.scored).collect();
        let sorted = SortedRows::new(&scored, self.average);
        let states = states.to_vec();
        move |weights| {
            let mut merged = MultilabelState::default();
            for (state, &weight) in states.iter().zip(weights) {
                merged.counts.merge_times(&state.counts, weight);
                merged.weights.merge_times(&state.weights, weight);
            }
            let weight = |owner: usize| weights.get(owner).copied().unwrap_or_default();
            (merged, sorted.average(self, weight))
        }
    }
}

/// Precision, recall, F1 and the Jaccard index of TP, predicted and actual.
fn ratios([tp, predicted, actual]: [f64; 3]) -> [Option<f64>; 4] {
    let ratio = |above: f64, below: f64| (below > 0.0).then(|| above / below);
    [
        ratio(tp, predicted),
        ratio(tp, actual),
        ratio(2.0 * tp, predicted + actual),
        ratio(tp, predicted + actual - tp),
    ]
}

/// The weighted mean of the values that are defined; their plain mean if their weights are all 0.
pub(crate) fn mean(values: impl Iterator<Item = (Option<f64>, f64)>) -> Option<f64> {
    let (mut weighted, mut weight, mut plain) = (Sum::default(), Sum::default(), Mean::default());
    for (value, its_weight) in values {
        if let Some(value) = value {
            weighted.add_product(value, its_weight);
            weight.add(its_weight);
            plain.add(value);
        }
    }
    match weight.value() {
        0.0 => plain.value(),
        weight => Some(weighted.value() / weight),
    }
}

/// The scores of sets of labels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SetScores {
    /// Precision, averaged.
    pub precision: Option<f64>,
    /// Recall, averaged.
    pub recall: Option<f64>,
    /// F1, averaged.
    pub f1: Option<f64>,
    /// The Jaccard index, averaged.
    pub jaccard: Option<f64>,
    /// The share of examples whose sets are equal.
    pub subset_accuracy: Option<f64>,
    /// The share of pairs of an example and a class on which both sides differ.
    pub hamming_loss: Option<f64>,
}

metric_core::named_scores!(SetScores {
    precision,
    recall,
    f1,
    jaccard,
    subset_accuracy,
    hamming_loss
});

/// The counts of a class, or of all classes: numbers of examples, or sums of their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClassCounts {
    /// Examples with the class on both sides.
    pub tp: f64,
    /// Examples that are predicted to have the class.
    pub predicted: f64,
    /// Examples that have the class.
    pub actual: f64,
}

impl From<[f64; 3]> for ClassCounts {
    fn from([tp, predicted, actual]: [f64; 3]) -> Self {
        Self {
            tp,
            predicted,
            actual,
        }
    }
}

/// The state of [`Multilabel`]: three counts per class, and the rows of class scores, if there are any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultilabelState {
    counts: Option<Table<u64>>,
    weights: Option<Table<Sum>>,
    scored: ScoredRows,
}

metric_core::fields!(MultilabelState {; counts, weights, scored });

impl MultilabelState {
    /// Returns whether examples have weights.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some() || self.scored.is_weighted()
    }

    /// Returns whether there are sets of labels.
    #[must_use]
    pub fn has_sets(&self) -> bool {
        self.counts.is_some() || self.weights.is_some()
    }

    /// Returns the number of examples, or the sum of their weights.
    #[must_use]
    pub fn total(&self) -> f64 {
        match (&self.counts, &self.weights) {
            (_, Some(table)) => table.total.value(),
            (Some(table), None) => table.total.value(),
            (None, None) => self.scored.total(),
        }
    }

    /// Returns the number or the weight of examples whose sets are equal.
    #[must_use]
    pub fn correct(&self) -> f64 {
        match (&self.counts, &self.weights) {
            (_, Some(table)) => table.correct.value(),
            (Some(table), None) => table.correct.value(),
            (None, None) => 0.0,
        }
    }

    /// Returns the counts of a class.
    #[must_use]
    pub fn class(&self, class: u32) -> ClassCounts {
        let counts = match (&self.counts, &self.weights) {
            (_, Some(table)) => table.classes.at(class),
            (Some(table), None) => table.classes.at(class),
            (None, None) => [0.0, 0.0, self.scored.support(class)],
        };
        counts.into()
    }

    /// Returns the counts of all classes together.
    #[must_use]
    pub fn all_classes(&self) -> ClassCounts {
        match (&self.counts, &self.weights) {
            (_, Some(table)) => table.pooled().each_ref().map(Amount::value).into(),
            (Some(table), None) => table.pooled().each_ref().map(Amount::value).into(),
            (None, None) => ClassCounts::default(),
        }
    }

    /// Moves the counts of each class: class `i` becomes `indices[i]`. Rows of class scores stay as they are: they have
    /// all classes.
    pub fn renumber(&mut self, indices: &[u32]) {
        if let Some(table) = &mut self.counts {
            table.classes.renumber(indices);
        }
        if let Some(table) = &mut self.weights {
            table.classes.renumber(indices);
        }
    }
}

/// What examples add up to: their number, or their weights.
trait Amount: Merge + Clone + Default + PartialEq + Written {
    fn add_weight(&mut self, weight: f64);

    fn value(&self) -> f64;

    /// Adds `weight` times a value to a sum.
    fn add_value(sum: &mut Sum, value: f64, weight: f64);

    /// `predicted + actual - 2·TP`, rounded once.
    fn differences(counts: &[Self; 3]) -> f64;
}

impl Amount for u64 {
    fn add_weight(&mut self, _: f64) {
        *self += 1;
    }

    fn value(&self) -> f64 {
        *self as f64
    }

    fn add_value(sum: &mut Sum, value: f64, _: f64) {
        sum.add(value);
    }

    fn differences([tp, predicted, actual]: &[Self; 3]) -> f64 {
        ((predicted - tp) + (actual - tp)) as f64
    }
}

impl Amount for Sum {
    fn add_weight(&mut self, weight: f64) {
        self.add(weight);
    }

    fn value(&self) -> f64 {
        Self::value(self)
    }

    fn add_value(sum: &mut Sum, value: f64, weight: f64) {
        sum.add_product(value, weight);
    }

    fn differences([tp, predicted, actual]: &[Self; 3]) -> f64 {
        let digits = [(tp, -2_i128), (predicted, 1), (actual, 1)];
        let digits = digits.into_iter().flat_map(|(sum, times)| {
            let digits = sum.digits().into_iter().flatten();
            digits.map(move |(index, digit)| (index, times * i128::from(digit)))
        });
        Self::from_digits(digits).value()
    }
}

/// The counts of sets of labels.
#[derive(Clone, Debug, Default, PartialEq)]
struct Table<A> {
    total: A,
    correct: A,
    /// TP, predicted and actual.
    classes: Classes<A>,
    /// Precision, recall, F1 and the Jaccard index of examples by themselves, where these are averaged.
    by_example: Option<[ExampleMean<A>; 4]>,
}

metric_core::fields!(Table<A> { total, correct, classes, by_example });

impl<A: Amount> Table<A> {
    fn add(&mut self, predicted: &[u32], actual: &[u32], weight: f64, by_example: bool) {
        let mut both = 0;
        let (mut p, mut a) = (predicted.iter().peekable(), actual.iter().peekable());
        while let Some(&class) = [p.peek(), a.peek()].into_iter().flatten().min() {
            let sides = [&mut p, &mut a].map(|side| side.next_if(|it| *it == class).is_some());
            let counts = self.classes.entry(*class);
            let has = [sides[0] && sides[1], sides[0], sides[1]];
            both += u64::from(has[0]);
            let held = counts.iter_mut().zip(has).filter(|(_, has)| *has);
            held.for_each(|(count, _)| count.add_weight(weight));
        }
        let of_example = [both, predicted.len() as u64, actual.len() as u64];
        self.add_example(of_example, weight, by_example);
    }

    /// The counts of all classes together.
    fn pooled(&self) -> [A; 3] {
        let mut pooled = <[A; 3]>::default();
        for (_, counts) in &self.classes.0 {
            pooled.merge_times(counts, 1);
        }
        pooled
    }

    /// Adds an example by its numbers of classes on both sides, predicted and actual.
    fn add_example(&mut self, counts: [u64; 3], weight: f64, by_example: bool) {
        self.total.add_weight(weight);
        if counts[0] == counts[1] && counts[0] == counts[2] {
            self.correct.add_weight(weight);
        }
        if by_example {
            let means = self.by_example.get_or_insert_default();
            let ratios = ratios(counts.map(|count| count as f64));
            for (mean, value) in means.iter_mut().zip(ratios) {
                mean.add(value, weight);
            }
        }
    }
}

/// Amounts by class, in ascending order of the classes that have any.
#[derive(Clone, Debug, PartialEq)]
struct Classes<A>(Vec<(u32, [A; 3])>);

impl<A> Default for Classes<A> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<A> Classes<A> {
    /// The position of a class, or the one where it belongs.
    fn find(&self, class: u32) -> Result<usize, usize> {
        // If there are all classes, each is at its number.
        if self.0.get(class as usize).is_some_and(|at| at.0 == class) {
            return Ok(class as usize);
        }
        self.0.binary_search_by_key(&class, |at| at.0)
    }

    fn entry(&mut self, class: u32) -> &mut [A; 3]
    where
        A: Default,
    {
        let at = self.find(class).unwrap_or_else(|at| {
            self.0.insert(at, (class, Default::default()));
            at
        });
        &mut self.0[at].1
    }

    fn at(&self, class: u32) -> [f64; 3]
    where
        A: Amount,
    {
        self.find(class)
            .map_or([0.0; 3], |at| self.0[at].1.each_ref().map(A::value))
    }

    fn renumber(&mut self, indices: &[u32]) {
        for (class, _) in &mut self.0 {
            *class = indices.get(*class as usize).copied().unwrap_or(*class);
        }
        self.0.sort_by_key(|at| at.0);
    }
}

impl<A: Merge + Clone> Merge for Classes<A> {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times > 0 {
            for (class, counts) in &other.0 {
                self.entry(*class).merge_times(counts, times);
            }
        }
    }
}

impl<A: Written> Written for Classes<A> {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let classes = Vec::<(u32, [A; 3])>::read(from)?;
        if !classes.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("invalid counts of classes: expected ascending classes".into());
        }
        Ok(Self(classes))
    }
}

/// The mean of a score of examples, of which some are undefined.
#[derive(Clone, Debug, Default, PartialEq)]
struct ExampleMean<A> {
    sum: Sum,
    defined: A,
    undefined: A,
    /// The mean without weights, which counts if all weights are 0.
    plain: Mean,
    undefined_examples: u64,
}

metric_core::fields!(ExampleMean<A> { sum, defined, undefined, plain, undefined_examples });

impl<A: Amount> ExampleMean<A> {
    fn add(&mut self, value: Option<f64>, weight: f64) {
        match value {
            Some(value) => {
                A::add_value(&mut self.sum, value, weight);
                self.defined.add_weight(weight);
                self.plain.add(value);
            }
            None => {
                self.undefined.add_weight(weight);
                self.undefined_examples += 1;
            }
        }
    }

    fn value(&self, zero_division: ZeroDivision) -> Option<f64> {
        let filler = zero_division.value();
        let undefined = if filler.is_some() {
            self.undefined.value()
        } else {
            0.0
        };
        let weight = self.defined.value() + undefined;
        if weight > 0.0 {
            return Some((self.sum.value() + filler.unwrap_or(0.0) * undefined) / weight);
        }
        self.plain.value()
    }
}

#[cfg(test)]
mod tests {
    use metric_core::NamedScores;
    use ndarray::{Array2, array};
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    fn averaged(average: MultilabelAverage) -> Multilabel {
        Multilabel::default().with_average(average)
    }

    #[test]
    fn class_scores_by_hand() {
        // The first class is ranked 0.9 (has it), 0.5 (not), 0.5 (has it): one pair is right, one is a tie.
        let mut state = MultilabelState::default();
        let metric = Multilabel::default();
        metric.add_scores(&mut state, &[0.9, 0.1], &[0], None);
        metric.add_scores(&mut state, &[0.5, 0.2], &[], None);
        metric.add_scores(&mut state, &[0.5, 0.3], &[0, 1], None);
        let [first, second] = metric.scores_by_class(&state)[..] else {
            panic!("two classes");
        };
        assert_eq!(first.roc_auc, Some(0.75));
        assert_eq!(first.average_precision, Some(0.5 + 0.5 * (2.0 / 3.0)));
        assert_eq!(
            (second.roc_auc, second.average_precision),
            (Some(1.0), Some(1.0))
        );
        let macro_average = metric.scores_of_classes(&state);
        assert_eq!(macro_average.roc_auc, Some((0.75 + 1.0) / 2.0));
        // The second example has no class, and the third one has all.
        let samples = averaged(MultilabelAverage::Samples).scores_of_classes(&state);
        assert_eq!((samples.roc_auc, samples.average_precision), (None, None));
    }

    #[test]
    fn conventions_of_undefined_scores() {
        let mut state = MultilabelState::default();
        let metric = averaged(MultilabelAverage::Weighted);
        metric.add_scores(&mut state, &[0.5, 0.5], &[], None);
        assert_eq!(metric.scores_of_classes(&state), BinaryScores::default());
        let sklearn = metric.with_profile(MultilabelProfile::Sklearn);
        let scores = sklearn.scores_of_classes(&state);
        assert_eq!(
            (scores.roc_auc, scores.average_precision),
            (Some(0.0), Some(0.0))
        );
        let micro = sklearn.with_average(MultilabelAverage::Micro);
        let scores = micro.scores_of_classes(&state);
        assert_eq!(
            (scores.roc_auc, scores.average_precision),
            (None, Some(0.0))
        );
    }

    #[test]
    fn without_examples_or_classes_nothing_is_defined() {
        let metric = Multilabel::default().with_zero_division(ZeroDivision::One);
        let mut state = MultilabelState::default();
        assert_eq!(metric.scores_of_sets(&state, Some(3)), SetScores::default());
        metric.add_sets(&mut state, &[], &[], None);
        let scores = metric.scores_of_sets(&state, Some(0));
        assert_eq!(
            (scores.f1, scores.hamming_loss, scores.subset_accuracy),
            (None, None, Some(1.0))
        );
        assert_eq!(metric.scores_of_sets(&state, Some(2)).f1, Some(1.0));
    }

    #[test]
    fn indicators_are_sets() {
        let predictions = array![[1, 0, 1], [0, 0, 0], [1, 1, 0]];
        let references = array![[1, 0, 0], [0, 0, 0], [1, 1, 1]];
        for &average in MultilabelAverage::ALL {
            let metric = averaged(average);
            let (mut rows, mut sets) = (MultilabelState::default(), MultilabelState::default());
            metric
                .add_indicators(&mut rows, predictions.view(), references.view())
                .expect("0 and 1");
            let classes = |row: ndarray::ArrayView1<'_, i64>| -> Vec<u32> {
                (0..)
                    .zip(row)
                    .filter(|(_, cell)| **cell == 1)
                    .map(|(class, _)| class)
                    .collect()
            };
            for (p, a) in predictions.outer_iter().zip(references.outer_iter()) {
                metric.add_sets(&mut sets, &classes(p), &classes(a), None);
            }
            assert_eq!(rows, sets);
        }
        let two = Array2::from_elem((1, 1), 2);
        let refused = Multilabel::default().add_indicators(
            &mut MultilabelState::default(),
            two.view(),
            two.view(),
        );
        assert_eq!(refused, Err(0));
    }

    type Example = (Vec<u32>, Vec<u32>, Vec<u8>, f64);

    fn examples() -> impl Strategy<Value = Vec<Example>> {
        let set = || btree_set(0_u32..4, 0..4).prop_map(|set| set.into_iter().collect());
        let weight = prop_oneof![Just(0.0), Just(1.0), 0.0..2.0_f64];
        vec((set(), set(), vec(0_u8..4, 4), weight), 0..6)
    }

    proptest! {
        #[test]
        fn laws_of_merge(
            examples in examples(), weights in vec(0_u64..4, 6), has_weights in any::<bool>(),
            average in proptest::sample::select(MultilabelAverage::ALL), form in 0_u8..3,
        ) {
            let metric = averaged(average);
            let states = examples.iter().map(|(predicted, actual, scores, weight)| {
                let mut state = MultilabelState::default();
                let weight = has_weights.then_some(*weight);
                if form != 1 {
                    metric.add_sets(&mut state, predicted, actual, weight);
                }
                if form != 0 {
                    let scores: Vec<f64> = scores.iter().map(|score| f64::from(*score)).collect();
                    metric.add_scores(&mut state, &scores, actual, weight);
                }
                state
            });
            let states: Vec<MultilabelState> = states.collect();
            crate::laws::check(&states);
            let mut merged = MultilabelState::default();
            for (state, weight) in states.iter().zip(&weights) {
                merged.merge_times(state, *weight);
            }
            let (sets, scores) = metric.weighted(&states.iter().collect::<Vec<_>>())(&weights);
            let named = |state| metric.scores_of_sets(state, Some(4)).named_scores();
            prop_assert_eq!(named(&sets), named(&merged));
            prop_assert_eq!(scores, metric.scores_of_classes(&merged));
        }
    }
}
