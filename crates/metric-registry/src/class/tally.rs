//! The confusion matrix of classification while it is counted.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use metric_class::{Classification, ConfusionMatrix, PrecisionRecallF1};
use metric_core::{Malformed, Merge, Metric, Reader, Writer, Written};

use crate::class::label::{Class, ClassView};

/// A confusion matrix whose classes are numbered as they come: a label is looked up, and copied the first time
/// only. Written, it is the [`ConfusionMatrix`], which knows nothing of the numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// By number.
    classes: Vec<Class>,
    /// The numbers of many classes; few are searched.
    numbers: Option<Box<Numbers>>,
    cells: Cells,
}

/// Up to this many classes are searched one by one.
const FEW: usize = 8;

#[derive(Clone, Debug, Default)]
struct Numbers {
    integers: HashMap<i64, u32, FixedState>,
    texts: HashMap<Box<str>, u32, FixedState>,
}

impl Numbers {
    fn get(&self, class: ClassView<'_>) -> Option<u32> {
        match class {
            ClassView::Integer(number) => self.integers.get(&number).copied(),
            ClassView::Text(text) => self.texts.get(text).copied(),
        }
    }

    fn insert(&mut self, class: ClassView<'_>, number: u32) {
        match class {
            ClassView::Integer(integer) => self.integers.insert(integer, number),
            ClassView::Text(text) => self.texts.insert(text.into(), number),
        };
    }
}

impl Tally {
    /// Counts examples of one class with one prediction, or none.
    pub(crate) fn add(
        &mut self,
        prediction: Option<ClassView<'_>>,
        reference: ClassView<'_>,
        examples: u64,
    ) {
        if examples > 0 {
            let reference = self.number(reference);
            let prediction = prediction.map(|class| self.number(class));
            self.add_numbers(prediction, reference, examples);
        }
    }

    /// Counts examples of classes that have these numbers.
    #[inline]
    pub(crate) fn add_numbers(&mut self, prediction: Option<u32>, reference: u32, examples: u64) {
        self.cells.add(reference, prediction, examples);
    }

    /// The number of a class. A class that is new is given one.
    #[inline]
    fn number(&mut self, class: ClassView<'_>) -> u32 {
        let known = match &self.numbers {
            Some(numbers) => numbers.get(class),
            None => {
                let mut classes = (0..).zip(&self.classes);
                let known = classes.find(|(_, known)| known.view() == class);
                known.map(|(number, _)| number)
            }
        };
        known.unwrap_or_else(|| self.insert(class))
    }

    #[cold]
    fn insert(&mut self, class: ClassView<'_>) -> u32 {
        let number = self.classes.len() as u32;
        self.classes.push(class.to_class());
        if let Some(numbers) = &mut self.numbers {
            numbers.insert(class, number);
        } else if self.classes.len() > FEW {
            let mut numbers = Box::<Numbers>::default();
            for (number, class) in (0..).zip(&self.classes) {
                numbers.insert(class.view(), number);
            }
            self.numbers = Some(numbers);
        }
        self.cells.make_room(self.classes.len());
        number
    }

    /// The classes in their order, and the confusion matrix of their indices.
    pub(crate) fn matrix(&self) -> (Vec<&Class>, ConfusionMatrix<u32>) {
        let mut order: Vec<u32> = (0..self.classes.len() as u32).collect();
        order.sort_unstable_by_key(|&number| &self.classes[number as usize]);
        let mut index = vec![0; order.len()];
        for (position, &number) in (0..).zip(&order) {
            index[number as usize] = position;
        }
        let index = |number: u32| index[number as usize];
        let cells = self.cells.all().into_iter();
        let cells = cells.map(|(reference, prediction, examples)| {
            (index(reference), prediction.map(index), examples)
        });
        let mut cells: Vec<_> = cells.collect();
        cells.sort_unstable();
        let classes = order.iter().map(|&number| &self.classes[number as usize]);
        (classes.collect(), ConfusionMatrix::from(cells))
    }
}

impl From<Tally> for ConfusionMatrix<Class> {
    fn from(tally: Tally) -> Self {
        let class = |number: u32| tally.classes[number as usize].clone();
        let cells = tally.cells.all().into_iter();
        let cells = cells.map(|(reference, prediction, examples)| {
            (class(reference), prediction.map(class), examples)
        });
        Self::from(cells.collect::<Vec<_>>())
    }
}

impl From<ConfusionMatrix<Class>> for Tally {
    fn from(matrix: ConfusionMatrix<Class>) -> Self {
        let mut tally = Self::default();
        for (reference, prediction, examples) in matrix.cells() {
            tally.add(prediction.map(Class::view), reference.view(), examples);
        }
        tally
    }
}

impl Written for Tally {
    fn write(&self, to: &mut Writer) {
        ConfusionMatrix::from(self.clone()).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        ConfusionMatrix::read(from).map(Self::from)
    }
}

impl Merge for Tally {
    fn merge(&mut self, other: Self) {
        if self.classes.is_empty() {
            *self = other;
            return;
        }
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        let classes = other.classes.iter();
        let numbers: Vec<u32> = classes.map(|class| self.number(class.view())).collect();
        let number = |number: u32| numbers[number as usize];
        for (reference, prediction, examples) in other.cells.all() {
            let prediction = prediction.map(number);
            self.cells
                .add(number(reference), prediction, examples * times);
        }
    }
}

/// The numbers of the classes that short labels name, as they are written: one table for one tally and one way of
/// writing. Labels that are written alike need not be read again.
pub(crate) struct ShortLabels {
    /// A label as a number, and the number of its class.
    entries: [(u64, u32); 1 << Self::BITS],
}

impl Default for ShortLabels {
    fn default() -> Self {
        Self {
            entries: [(Self::NONE, 0); 1 << Self::BITS],
        }
    }
}

impl ShortLabels {
    const BITS: u32 = 9;

    /// No label: the length in its highest byte is too great.
    const NONE: u64 = u64::MAX;

    /// The number in a tally of the class of a label, or `None` for a label without a class.
    #[inline]
    pub(crate) fn number<'t>(
        &mut self,
        label: &'t str,
        class_of: impl Fn(&'t str) -> Option<ClassView<'t>>,
        tally: &mut Tally,
    ) -> Option<u32> {
        let mut number = || Some(tally.number(class_of(label)?));
        let bytes = label.as_bytes();
        if bytes.len() >= size_of::<u64>() {
            return number();
        }
        let bytes_as_number = bytes
            .iter()
            .fold(0, |all, &byte| all << 8 | u64::from(byte));
        let key = bytes_as_number | (bytes.len() as u64) << 56;
        // Multiplied by 2^64 over the golden ratio: the highest bits depend on all others.
        let index = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - Self::BITS);
        let entry = &mut self.entries[index as usize];
        if entry.0 != key {
            *entry = (key, number()?);
        }
        Some(entry.1)
    }
}

/// Numbers of examples by the numbers of classes.
#[derive(Clone, Debug, Default)]
struct Cells {
    /// The length of a row of `table`, whose first entry is of examples without a prediction.
    width: usize,
    /// All cells of few classes.
    table: Vec<u64>,
    /// The cells of many classes that are not 0.
    others: HashMap<(u32, Option<u32>), u64, FixedState>,
}

impl Cells {
    /// Rows of this many cells take 512 kB: they stay in the cache that one core has for itself.
    const WIDEST: usize = 256;

    fn make_room(&mut self, classes: usize) {
        if classes < self.width || !self.others.is_empty() {
            return;
        }
        let cells = self.all();
        self.width = (classes + 1).next_power_of_two();
        if self.width > Self::WIDEST {
            self.width = 0;
            self.table = Vec::new();
        } else {
            self.table = vec![0; self.width * self.width];
        }
        for (reference, prediction, examples) in cells {
            self.add(reference, prediction, examples);
        }
    }

    #[inline]
    fn add(&mut self, reference: u32, prediction: Option<u32>, examples: u64) {
        let column = prediction.map_or(0, |prediction| prediction as usize + 1);
        match self.table.get_mut(reference as usize * self.width + column) {
            Some(cell) => *cell += examples,
            None => *self.others.entry((reference, prediction)).or_default() += examples,
        }
    }

    /// The cells that are not 0.
    fn all(&self) -> Vec<(u32, Option<u32>, u64)> {
        let rows = (0..).zip(self.table.chunks_exact(self.width.max(1)));
        let in_table = rows.flat_map(|(reference, row): (u32, _)| {
            let cells = (0_u32..).zip(row).filter(|(_, examples)| **examples > 0);
            cells.map(move |(column, &examples)| (reference, column.checked_sub(1), examples))
        });
        let others = self.others.iter();
        let others = others.map(|(&(reference, prediction), &it)| (reference, prediction, it));
        in_table.chain(others).collect()
    }
}

/// [`Classification`] with a [`Tally`] as its state.
pub(crate) struct Tallied(pub(crate) Classification<Class>);

impl Metric for Tallied {
    type Prediction = Option<Class>;
    type Reference = Class;
    type State = Tally;
    type Score = PrecisionRecallF1;

    fn update(&self, state: &mut Tally, prediction: &Option<Class>, reference: &Class) {
        state.add(prediction.as_ref().map(Class::view), reference.view(), 1);
    }

    fn compute(&self, state: &Tally) -> PrecisionRecallF1 {
        let (average, zero_division) = (self.0.average(), self.0.zero_division());
        state.matrix().1.precision_recall_f1(average, zero_division)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each label has the number of its class, also where several share an entry.
    #[test]
    fn short_labels_are_numbered_as_their_classes() {
        let labels = (0..3000).map(|number| match number % 4 {
            0 => (number % 700).to_string(),
            1 => format!("a label of 8 bytes or more {}", number % 9),
            2 => "\0".repeat(number % 9),
            _ => format!("é{}", number % 1000),
        });
        let labels: Vec<String> = labels.collect();
        let (mut tally, mut known) = (Tally::default(), ShortLabels::default());
        for label in &labels {
            let number = known.number(label, |label| Some(ClassView::Text(label)), &mut tally);
            assert_eq!(
                number,
                Some(tally.number(ClassView::Text(label))),
                "{label:?}"
            );
        }
        let none = known.number("none", |_| None, &mut tally);
        assert_eq!(none, None);
    }

    /// However many classes there are, whatever is merged: the matrix is that of the examples.
    #[test]
    fn a_tally_is_its_confusion_matrix() {
        for classes in [1, 3, 8, 9, 100, 254, 255, 256, 257, 400] {
            let class = |number: u64| match number % 3 {
                0 => Class::Integer(number as i64),
                _ => Class::Text(number.to_string()),
            };
            let (mut matrix, mut whole) = (ConfusionMatrix::default(), Tally::default());
            let mut parts = [Tally::default(), Tally::default()];
            for number in 0..3000_u64 {
                let reference = class(number * 7 % classes);
                let prediction = (number % 11 > 0).then(|| class(number * number % classes));
                let view = prediction.as_ref().map(Class::view);
                whole.add(view, reference.view(), 1);
                parts[(number % 5 / 3) as usize].add(view, reference.view(), 1);
                matrix.record(prediction, reference);
            }
            let [mut merged, other] = parts;
            merged.merge_times(&other, 1);
            let mut again = Tally::default();
            again.merge(Tally::from(matrix.clone()));
            for tally in [&whole, &merged, &again] {
                assert_eq!(
                    ConfusionMatrix::from(tally.clone()),
                    matrix,
                    "{classes} classes"
                );
                let (classes, indices) = tally.matrix();
                assert_eq!(classes, matrix.classes());
                let cells = |(reference, prediction, examples): (&u32, Option<&u32>, u64)| {
                    let class = |index: &u32| classes[*index as usize];
                    (class(reference), prediction.map(class), examples)
                };
                assert!(indices.cells().map(cells).eq(matrix.cells()));
            }
        }
    }
}
