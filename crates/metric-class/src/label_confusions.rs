use std::collections::HashMap;

use foldhash::fast::FixedState;
use metric_core::{Key, Malformed, Merge, Reader, Writer, Written};

use crate::ConfusionMatrix;

/// A class label whose text is elsewhere: see [`Key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelRef<'a> {
    /// An integer.
    Number(i64),
    /// Text. The string "3" is another label than the integer 3.
    Text(&'a str),
}

impl<'a> From<&'a Key> for LabelRef<'a> {
    fn from(key: &'a Key) -> Self {
        match key {
            Key::Number(number) => Self::Number(*number),
            Key::Text(text) => Self::Text(text),
        }
    }
}

impl From<LabelRef<'_>> for Key {
    fn from(label: LabelRef<'_>) -> Self {
        match label {
            LabelRef::Number(number) => Self::Number(number),
            LabelRef::Text(text) => Self::from(text),
        }
    }
}

/// A [`ConfusionMatrix`] of labels that are integers or texts, while it is counted. Classes are numbered as they come: a
/// label is looked up, and copied the first time only. Its written form is that of the matrix.
///
/// ```
/// use metric_class::{LabelConfusions, LabelRef};
///
/// let mut confusions = LabelConfusions::default();
/// confusions.add(Some(LabelRef::Text("dog")), LabelRef::Text("dog"), 2);
/// confusions.add(Some(LabelRef::Text("cat")), LabelRef::Text("dog"), 1);
/// let (classes, matrix) = confusions.matrix();
/// assert_eq!(classes, [&"cat".into(), &"dog".into()]);
/// assert_eq!(matrix.rows(), [[0, 0], [1, 2]]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LabelConfusions {
    /// By number.
    classes: Vec<Key>,
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
    fn get(&self, label: LabelRef<'_>) -> Option<u32> {
        match label {
            LabelRef::Number(number) => self.integers.get(&number).copied(),
            LabelRef::Text(text) => self.texts.get(text).copied(),
        }
    }

    fn insert(&mut self, label: LabelRef<'_>, number: u32) {
        match label {
            LabelRef::Number(integer) => self.integers.insert(integer, number),
            LabelRef::Text(text) => self.texts.insert(text.into(), number),
        };
    }
}

impl LabelConfusions {
    /// Counts examples of one class with one prediction, or none.
    pub fn add(
        &mut self,
        prediction: Option<LabelRef<'_>>,
        reference: LabelRef<'_>,
        examples: u64,
    ) {
        if examples > 0 {
            let reference = self.number(reference);
            let prediction = prediction.map(|label| self.number(label));
            self.add_numbers(prediction, reference, examples);
        }
    }

    /// Counts examples of classes that have these [numbers](Self::number).
    #[inline]
    pub fn add_numbers(&mut self, prediction: Option<u32>, reference: u32, examples: u64) {
        self.cells.add(reference, prediction, examples);
    }

    /// Returns the number of a class. A class that is new is given one.
    #[inline]
    pub fn number(&mut self, label: LabelRef<'_>) -> u32 {
        let known = match &self.numbers {
            Some(numbers) => numbers.get(label),
            None => {
                let mut classes = (0..).zip(&self.classes);
                let known = classes.find(|(_, known)| LabelRef::from(*known) == label);
                known.map(|(number, _)| number)
            }
        };
        known.unwrap_or_else(|| self.insert(label))
    }

    #[cold]
    fn insert(&mut self, label: LabelRef<'_>) -> u32 {
        let number = self.classes.len() as u32;
        self.classes.push(label.into());
        if let Some(numbers) = &mut self.numbers {
            numbers.insert(label, number);
        } else if self.classes.len() > FEW {
            let mut numbers = Box::<Numbers>::default();
            for (number, class) in (0..).zip(&self.classes) {
                numbers.insert(class.into(), number);
            }
            self.numbers = Some(numbers);
        }
        self.cells.make_room(self.classes.len());
        number
    }

    /// Returns the classes in their order, and the confusion matrix of their indices.
    #[must_use]
    pub fn matrix(&self) -> (Vec<&Key>, ConfusionMatrix<u32>) {
        let mut order: Vec<u32> = (0..self.classes.len() as u32).collect();
        order.sort_unstable_by_key(|&number| &self.classes[number as usize]);
        let mut index = vec![0; order.len()];
        for (position, &number) in (0..).zip(&order) {
            index[number as usize] = position;
        }
        let mut cells = self.cells_of(|number| index[number as usize]);
        cells.sort_unstable();
        let classes = order.iter().map(|&number| &self.classes[number as usize]);
        (classes.collect(), ConfusionMatrix::from(cells))
    }

    /// The cells that are not 0, with what stands for the number of each class.
    fn cells_of<L>(&self, class: impl Fn(u32) -> L) -> Vec<(L, Option<L>, u64)> {
        let cells = self.cells.all().into_iter();
        let cell = |(reference, prediction, examples): Cell| {
            (class(reference), prediction.map(&class), examples)
        };
        cells.map(cell).collect()
    }
}

impl From<&LabelConfusions> for ConfusionMatrix<Key> {
    fn from(confusions: &LabelConfusions) -> Self {
        let class = |number: u32| confusions.classes[number as usize].clone();
        Self::from(confusions.cells_of(class))
    }
}

impl From<ConfusionMatrix<Key>> for LabelConfusions {
    fn from(matrix: ConfusionMatrix<Key>) -> Self {
        let mut confusions = Self::default();
        for (reference, prediction, examples) in matrix.cells() {
            confusions.add(prediction.map(LabelRef::from), reference.into(), examples);
        }
        confusions
    }
}

impl Written for LabelConfusions {
    fn write(&self, to: &mut Writer) {
        ConfusionMatrix::from(self).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        ConfusionMatrix::read(from).map(Self::from)
    }
}

impl Merge for LabelConfusions {
    fn merge(&mut self, other: Self) {
        if self.classes.is_empty() {
            *self = other;
        } else {
            self.merge_times(&other, 1);
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        let classes = other.classes.iter();
        let numbers: Vec<u32> = classes.map(|class| self.number(class.into())).collect();
        for (reference, prediction, examples) in other.cells_of(|number| numbers[number as usize]) {
            self.cells.add(reference, prediction, examples * times);
        }
    }
}

/// The numbers of the classes that short labels name, as they are written: one table for one [`LabelConfusions`] and one
/// way of writing. Labels that are written alike need not be read again.
#[derive(Debug)]
pub struct ShortLabels {
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

    /// Returns the number of the class of a label, or `None` for a label without a class.
    #[inline]
    pub fn number<'l>(
        &mut self,
        label: &'l str,
        class_of: impl Fn(&'l str) -> Option<LabelRef<'l>>,
        confusions: &mut LabelConfusions,
    ) -> Option<u32> {
        let mut number = || Some(confusions.number(class_of(label)?));
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

/// The numbers of a reference and of a prediction, and how many examples have them.
type Cell = (u32, Option<u32>, u64);

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
    fn all(&self) -> Vec<Cell> {
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
        let (mut confusions, mut known) = (LabelConfusions::default(), ShortLabels::default());
        for label in &labels {
            let number = known.number(label, |label| Some(LabelRef::Text(label)), &mut confusions);
            assert_eq!(
                number,
                Some(confusions.number(LabelRef::Text(label))),
                "{label:?}"
            );
        }
        let none = known.number("none", |_| None, &mut confusions);
        assert_eq!(none, None);
    }

    /// However many classes there are, whatever is merged: the matrix is that of the examples.
    #[test]
    fn they_are_the_confusion_matrix_of_the_examples() {
        for classes in [1, 3, 8, 9, 100, 254, 255, 256, 257, 400] {
            let class = |number: u64| match number % 3 {
                0 => Key::from(number as i64),
                _ => Key::from(&*number.to_string()),
            };
            let (mut matrix, mut whole) = (ConfusionMatrix::default(), LabelConfusions::default());
            let mut parts = [LabelConfusions::default(), LabelConfusions::default()];
            for number in 0..3000_u64 {
                let reference = class(number * 7 % classes);
                let prediction = (number % 11 > 0).then(|| class(number * number % classes));
                let view = prediction.as_ref().map(LabelRef::from);
                whole.add(view, (&reference).into(), 1);
                parts[(number % 5 / 3) as usize].add(view, (&reference).into(), 1);
                matrix.record(prediction, reference);
            }
            let [mut merged, other] = parts;
            merged.merge_times(&other, 1);
            let mut again = LabelConfusions::default();
            again.merge(LabelConfusions::from(matrix.clone()));
            for confusions in [&whole, &merged, &again] {
                assert_eq!(
                    ConfusionMatrix::from(confusions),
                    matrix,
                    "{classes} classes"
                );
                let (classes, indices) = confusions.matrix();
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
