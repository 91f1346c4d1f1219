use std::collections::{BTreeMap, HashMap};
use std::fmt;

use metric_core::Merge;

use crate::score::Rank;
use crate::{Class, Frequency, Key};

/// A state that identifies classes by their indices in the list of classes of its data set.
///
/// States of data sets with different lists merge once their classes are renumbered:
///
/// ```
/// use metric_core::{Merge, Metric};
/// use metric_vision::{
///     Annotation, BBox, Class, ClassState, Image, Prediction, VocAp, unite_classes,
/// };
///
/// let class = |name: &str| Class::new(name, name);
/// let shape = BBox::from_xywh(0.0, 0.0, 10.0, 10.0)?;
/// let image = |key: i64| Image::new(key, vec![Annotation::new(0, shape)]);
/// let metric = VocAp::new(0.5)?;
///
/// // One part has only dogs, the other only cats. The dog is found, the cat is not.
/// let (dogs, cats) = ([class("dog")], [class("cat")]);
/// let mut state = metric.measure(&[Prediction::new(0, 0.9, shape)], &image(1));
/// let mut other = metric.measure(&[], &image(2));
///
/// let (classes, [ours, theirs]) = unite_classes(&dogs, &cats)?;
/// assert_eq!(classes, [class("cat"), class("dog")]);
/// state.renumber_classes(&ours)?;
/// other.renumber_classes(&theirs)?;
/// state.merge(other);
/// let score = metric.compute(&state);
/// assert_eq!(score.classes[&0].average_precision, Some(0.0));
/// assert_eq!(score.classes[&1].average_precision, Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ClassState: Merge {
    /// Replaces each class `c` by `indices[c]`. Pooled classes stay pooled.
    ///
    /// Where the new indices rank classes like their keys, the state becomes that of the same images
    /// measured with the new list of classes.
    ///
    /// # Errors
    ///
    /// Returns an error if a class of the state is not in the table, or if two classes get the same
    /// index. The state is then unchanged.
    ///
    /// # Cost
    ///
    /// Linear in the size of the state, except for sorting the classes of each image.
    fn renumber_classes(&mut self, indices: &[u32]) -> Result<(), InvalidIndices>;

    /// Returns how many objects each class has, for the classes that have any.
    ///
    /// # Cost
    ///
    /// Linear in the size of the state.
    fn class_totals(&self) -> BTreeMap<u32, ClassTotals>;

    /// Returns whether scores that rank detections depend on the order in which they were read: all detections of a
    /// class have the same score, for each class, and of some class there are both correct and incorrect ones.
    ///
    /// # Cost
    ///
    /// Ends at the first two detections of a class with different scores.
    fn is_ranked_by_order(&self) -> bool {
        false
    }
}

/// A detection that was compared with the ground truth.
#[derive(Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) class: u32,
    pub(crate) score: Rank,
    /// The thresholds at which it is correct, and those at which it is wrong, one bit each.
    pub(crate) correct: u64,
    pub(crate) wrong: u64,
}

/// See [`ClassState::is_ranked_by_order`].
pub(crate) fn is_ranked_by_order(detections: impl Iterator<Item = Judged>) -> bool {
    let mut classes: HashMap<u32, Judged> = HashMap::new();
    for detection in detections {
        let all = classes.entry(detection.class).or_insert(detection);
        if all.score != detection.score {
            return false;
        }
        all.correct |= detection.correct;
        all.wrong |= detection.wrong;
    }
    classes.values().any(|all| all.correct & all.wrong != 0)
}

/// The numbers of objects of a class that count for the metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassTotals {
    /// Objects of the ground truth.
    pub truths: u64,
    /// Detections.
    pub detections: u64,
}

impl ClassTotals {
    /// The totals of the classes to which these belong. Classes without any object are left out.
    pub(crate) fn sum(totals: impl Iterator<Item = (u32, Self)>) -> BTreeMap<u32, Self> {
        let mut sums: BTreeMap<u32, Self> = BTreeMap::new();
        let mut put = |class, sum: Self| {
            if sum != Self::default() {
                sums.entry(class).or_default().add(sum);
            }
        };
        // Objects of a class mostly come together.
        let (mut class, mut sum) = (0, Self::default());
        for (next, totals) in totals {
            if next != class {
                put(class, std::mem::take(&mut sum));
                class = next;
            }
            sum.add(totals);
        }
        put(class, sum);
        sums
    }

    fn add(&mut self, Self { truths, detections }: Self) {
        self.truths = self.truths.saturating_add(truths);
        self.detections = self.detections.saturating_add(detections);
    }

    pub(crate) fn truths(truths: u64) -> Self {
        Self {
            truths,
            detections: 0,
        }
    }

    pub(crate) fn detections(detections: u64) -> Self {
        Self {
            truths: 0,
            detections,
        }
    }
}

/// The error for a table of class indices that [`ClassState::renumber_classes`] does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidIndices {
    /// A class of the state is not in the table.
    UnknownClass {
        /// The class.
        class: u32,
        /// The length of the table.
        classes: usize,
    },
    /// Two classes get the same index.
    Repeated {
        /// The index.
        index: u32,
    },
}

impl fmt::Display for InvalidIndices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownClass { class, classes } => {
                write!(
                    f,
                    "class {class} is not in the list of {classes} classes: expected a smaller index"
                )
            }
            Self::Repeated { index } => {
                write!(
                    f,
                    "two classes get the index {index}: expected distinct indices"
                )
            }
        }
    }
}

impl std::error::Error for InvalidIndices {}

/// A checked table of class indices.
#[derive(Clone, Copy)]
pub(crate) struct Renumbering<'a>(&'a [u32]);

impl<'a> Renumbering<'a> {
    /// The table, if it has all of these classes.
    pub(crate) fn new(
        indices: &'a [u32],
        mut classes: impl Iterator<Item = u32>,
    ) -> Result<Self, InvalidIndices> {
        if !indices.is_sorted_by(|a, b| a < b) {
            let mut sorted = indices.to_vec();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(InvalidIndices::Repeated { index: pair[0] });
            }
        }
        match classes.find(|&class| class as usize >= indices.len()) {
            Some(class) => Err(InvalidIndices::UnknownClass {
                class,
                classes: indices.len(),
            }),
            None => Ok(Self(indices)),
        }
    }

    /// The new index of a class.
    pub(crate) fn number(self, class: u32) -> u32 {
        self.0.get(class as usize).copied().unwrap_or(class)
    }

    /// A map with the new indices.
    pub(crate) fn map<T>(self, classes: &mut BTreeMap<u32, T>) {
        let renumbered = std::mem::take(classes).into_iter();
        *classes = renumbered
            .map(|(class, state)| (self.number(class), state))
            .collect();
    }
}

/// Unites two lists of classes. Returns the classes of both in the order of their keys, and for each list the index
/// of each of its classes in the united list, in the form that [`renumber_classes`](ClassState::renumber_classes)
/// takes.
///
/// A class without a name gets the name that it has in the other list.
///
/// ```
/// use metric_vision::{Class, unite_classes};
///
/// let class = |key: i64, name: &str| Class::new(key, name);
/// let (classes, [ours, theirs]) =
///     unite_classes(&[class(1, "person"), class(18, "")], &[class(17, "cat"), class(18, "dog")])?;
/// assert_eq!(classes, [class(1, "person"), class(17, "cat"), class(18, "dog")]);
/// assert_eq!((ours, theirs), (vec![0, 2], vec![1, 2]));
/// # Ok::<(), metric_vision::InvalidClasses>(())
/// ```
///
/// # Errors
///
/// Returns an error if a key occurs twice in one list, or has two different names that are not empty, or two
/// frequencies.
pub fn unite_classes(
    a: &[Class],
    b: &[Class],
) -> Result<(Vec<Class>, [Vec<u32>; 2]), InvalidClasses> {
    let mut names: BTreeMap<&Key, (&str, Option<Frequency>)> = BTreeMap::new();
    for list in [a, b] {
        let mut keys: Vec<&Key> = list.iter().map(|class| &class.key).collect();
        keys.sort_unstable();
        if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            let key = pair[0].clone();
            return Err(InvalidClasses::Repeated { key });
        }
        for class in list {
            let (name, frequency) = names.entry(&class.key).or_default();
            if let (Some(a), Some(b)) = (*frequency, class.frequency)
                && a != b
            {
                let key = class.key.clone();
                let frequencies = [a, b];
                return Err(InvalidClasses::Frequencies { key, frequencies });
            }
            *frequency = frequency.or(class.frequency);
            if name.is_empty() {
                *name = &class.name;
            } else if !class.name.is_empty() && *name != class.name {
                return Err(InvalidClasses::Names {
                    key: class.key.clone(),
                    names: [(*name).to_owned(), class.name.clone()],
                });
            }
        }
    }
    let indices: BTreeMap<&Key, u32> = names.keys().copied().zip(0..).collect();
    let table = |list: &[Class]| {
        let keys = list.iter().filter_map(|class| indices.get(&class.key));
        keys.copied().collect()
    };
    let united = names.iter().map(|(&key, &(name, frequency))| Class {
        frequency,
        ..Class::new(key.clone(), name)
    });
    Ok((united.collect(), [a, b].map(table)))
}

/// The error for lists of classes that [`unite_classes`] cannot unite.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidClasses {
    /// A key occurs twice in one list.
    Repeated {
        /// The key.
        key: Key,
    },
    /// A key has two names.
    Names {
        /// The key.
        key: Key,
        /// The names.
        names: [String; 2],
    },
    /// A key has two frequencies.
    Frequencies {
        /// The key.
        key: Key,
        /// The frequencies.
        frequencies: [Frequency; 2],
    },
}

impl fmt::Display for InvalidClasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated { key } => {
                write!(
                    f,
                    "class {key} is in the list twice: expected distinct keys"
                )
            }
            Self::Names { key, names: [a, b] } => write!(
                f,
                "class {key} is named {a:?} and {b:?}: expected the same name in all parts"
            ),
            Self::Frequencies {
                key,
                frequencies: [a, b],
            } => write!(
                f,
                "class {key} has the frequencies {a} and {b}: expected the same frequency in all parts"
            ),
        }
    }
}

impl std::error::Error for InvalidClasses {}

/// The classes that occur in data, each with an index in the order of first appearance.
///
/// ```
/// use metric_vision::{Classes, Key};
///
/// let mut classes = Classes::new();
/// let found: Vec<u32> = ["dog", "cat", "dog"].map(|name| classes.index_of(name.into())).to_vec();
/// assert_eq!(found, [0, 1, 0]);
/// let (sorted, indices) = classes.into_sorted();
/// assert_eq!(sorted[0].key, Key::from("cat"));
/// // The dog, which came first, is the second class by key.
/// assert_eq!(indices, [1, 0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Classes {
    keys: Vec<Key>,
    indices: HashMap<Key, u32>,
}

impl Classes {
    /// Returns an empty list of classes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the index of a class. A new class is added, with the next index.
    pub fn index_of(&mut self, key: Key) -> u32 {
        if let Some(&index) = self.indices.get(&key) {
            return index;
        }
        // Memory ends long before a u32 does.
        let index = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        self.keys.push(key.clone());
        self.indices.insert(key, index);
        index
    }

    /// Returns the classes in the order of their indices.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Returns the number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether there is no class.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the classes in the order of their keys, and for each index its position in that order, in the form
    /// that [`renumber_classes`](ClassState::renumber_classes) takes.
    ///
    /// The name of a class is its key if that is text, and empty if it is an integer.
    #[must_use]
    pub fn into_sorted(self) -> (Vec<Class>, Vec<u32>) {
        let (keys, indices) = self.into_sorted_keys();
        let class = |key: Key| {
            let name = match &key {
                Key::Number(_) => String::new(),
                Key::Text(text) => text.to_string(),
            };
            Class::new(key, name)
        };
        (keys.into_iter().map(class).collect(), indices)
    }

    pub(crate) fn into_sorted_keys(self) -> (Vec<Key>, Vec<u32>) {
        let mut keys: Vec<(Key, usize)> = self.keys.into_iter().zip(0..).collect();
        keys.sort_unstable();
        let mut indices = vec![0; keys.len()];
        for (position, &(_, index)) in (0..).zip(&keys) {
            indices[index] = position;
        }
        (keys.into_iter().map(|(key, _)| key).collect(), indices)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curve::tests::example;
    use crate::{
        CocoAp, CocoParams, Confusion, Image, Matching, PrecisionRecall, Prediction, Tide, VocAp,
    };
    use metric_core::Metric;

    fn class(key: i64, name: &str) -> Class {
        Class::new(key, name)
    }

    #[test]
    fn lists_that_do_not_unite() {
        let unite = |a: &[Class], b: &[Class]| {
            unite_classes(a, b)
                .expect_err("two lists that differ")
                .to_string()
        };
        assert_eq!(
            unite(&[class(1, "cat")], &[class(1, "dog")]),
            r#"class 1 is named "cat" and "dog": expected the same name in all parts"#
        );
        assert_eq!(
            unite(&[], &[class(1, "cat"), class(1, "cat")]),
            "class 1 is in the list twice: expected distinct keys"
        );
    }

    #[test]
    fn detections_that_only_their_order_ranks() {
        let ranked = |detections: &[(u32, f64, u64, u64)]| {
            let detections = detections.iter();
            super::is_ranked_by_order(detections.map(|&(class, score, correct, wrong)| Judged {
                class,
                score: Rank::new(score),
                correct,
                wrong,
            }))
        };
        assert!(ranked(&[(1, 0.5, 1, 0), (1, 0.5, 0, 1)]));
        // Each class has a score of its own.
        assert!(ranked(&[(1, 0.5, 1, 0), (1, 0.5, 0, 1), (2, 0.7, 1, 0)]));
        for detections in [
            &[][..],
            &[(1, 0.5, 1, 0)],
            &[(1, 0.5, 1, 0), (1, 0.4, 0, 1)],
            // One class is ranked.
            &[
                (1, 0.5, 1, 0),
                (1, 0.5, 0, 1),
                (2, 0.7, 1, 0),
                (2, 0.6, 0, 1),
            ],
            // Both are correct at the first threshold, and wrong at the second.
            &[(1, 0.5, 1, 2), (1, 0.5, 1, 2)],
        ] {
            assert!(!ranked(detections), "{detections:?}");
        }
    }

    #[test]
    fn tables_that_are_refused() {
        let metric = Confusion::new(9, 0.5).expect("a metric");
        let shape = crate::BBox::from_xywh(0.0, 0.0, 1.0, 1.0).expect("a box");
        let image = Image::new(1, vec![crate::Annotation::new(2, shape)]);
        let mut state = metric.measure(&[], &image);
        let before = state.clone();
        for (indices, problem) in [
            (
                &[0, 1][..],
                "class 2 is not in the list of 2 classes: expected a smaller index",
            ),
            (
                &[0, 3, 3],
                "two classes get the index 3: expected distinct indices",
            ),
        ] {
            let error = state.renumber_classes(indices).expect_err(problem);
            assert_eq!(error.to_string(), problem);
            assert_eq!(state, before);
        }
        state.renumber_classes(&[1, 0, 7]).expect("a table");
        assert_eq!(metric.compute(&state).counts(7).false_negatives, 1);
    }

    /// The examples with the classes of another list.
    fn renumbered(
        examples: &[(Vec<Prediction>, Image)],
        indices: &[u32],
    ) -> Vec<(Vec<Prediction>, Image)> {
        let mut examples = examples.to_vec();
        for (found, image) in &mut examples {
            for class in found
                .iter_mut()
                .map(|found| &mut found.class)
                .chain(image.annotations.iter_mut().map(|truth| &mut truth.class))
            {
                *class = indices[*class as usize];
            }
        }
        examples
    }

    fn measure<M>(metric: &M, examples: &[(Vec<Prediction>, Image)]) -> M::State
    where
        M: Metric<Prediction = [Prediction], Reference = Image>,
    {
        let mut state = M::State::default();
        for (found, image) in examples {
            metric.update(&mut state, found, image);
        }
        state
    }

    /// Two parts with their own lists of classes, renumbered and merged, are all measured with the
    /// united list.
    fn check<M>(
        metric: &M,
        parts: [&[(Vec<Prediction>, Image)]; 2],
        tables: [&[u32]; 2],
    ) -> Result<(), TestCaseError>
    where
        M: Metric<Prediction = [Prediction], Reference = Image>,
        M::State: ClassState + PartialEq + std::fmt::Debug,
    {
        let mut whole = M::State::default();
        let mut merged = M::State::default();
        for (part, table) in parts.into_iter().zip(tables) {
            whole.merge(measure(metric, &renumbered(part, table)));
            let mut state = measure(metric, part);
            prop_assert!(state.renumber_classes(table).is_ok());
            merged.merge(state);
        }
        prop_assert_eq!(merged, whole);
        Ok(())
    }

    proptest! {
        #[test]
        fn parts_with_lists_of_their_own(
            a in proptest::collection::vec(example(), 0..4),
            b in proptest::collection::vec(example(), 0..4),
            keys in Just((0_i64..6).collect::<Vec<_>>()).prop_shuffle(),
            sorted in any::<bool>(),
        ) {
            let list = |keys: &[i64]| {
                let mut keys = keys.to_vec();
                if sorted {
                    keys.sort_unstable();
                }
                keys.iter().map(|&key| class(key, "")).collect::<Vec<_>>()
            };
            let (_, [ours, theirs]) = unite_classes(&list(&keys[..3]), &list(&keys[2..5])).expect("a list");
            let (parts, tables) = ([&*a, &*b], [&*ours, &*theirs]);
            check(&CocoAp::default(), parts, tables)?;
            check(&VocAp::new(0.5).expect("a metric"), parts, tables)?;
            check(&Tide::default(), parts, tables)?;
            let curves = PrecisionRecall::new(Matching::Greedy, vec![0.5]).expect("a metric");
            check(&curves, parts, tables)?;
            // Their ties are broken by the order of the classes.
            if sorted {
                check(&Confusion::new(6, 0.5).expect("a metric"), parts, tables)?;
                let params = CocoParams { by_class: false, ..CocoParams::default() };
                check(&CocoAp::new(params).expect("a definition"), parts, tables)?;
            }
        }
    }
}
