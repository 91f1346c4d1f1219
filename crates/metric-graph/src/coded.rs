//! The two clips of an example in integers: every distinct property and lane gets a number, once,
//! and all comparisons after that are of integers and bit sets.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use foldhash::fast::RandomState;

use crate::clip::LaneKey;
use crate::{Clip, LaneIds, Rule, Value};

/// The property that numbers the rules of a sign: part of a rule, but not of the similarity of two.
const RULE_INDEX: &str = "RuleIndex";

/// The rules of both clips, those of the prediction first, each side by id.
pub(crate) struct Coded {
    /// Equal numbers for equal properties.
    pub(crate) classes: Vec<u32>,
    /// The properties of each rule, without `RuleIndex`.
    pub(crate) attributes: BitSets,
    /// The lanes of each rule, sorted, as often as it names them.
    pub(crate) lanes: Lists,
    /// The lanes of each rule.
    pub(crate) lane_sets: BitSets,
}

impl Coded {
    /// `properties` says whether properties are compared at all.
    pub(crate) fn new(
        prediction: &Clip,
        reference: &Clip,
        lane_ids: LaneIds,
        ignore: &BTreeSet<String>,
        properties: bool,
    ) -> Self {
        let rules = || prediction.rules().chain(reference.rules());
        let rules = || rules().map(|(_, rule)| rule);
        let count = prediction.len() + reference.len();

        let mut lane_numbers: Numbers<LaneKey<'_>> = Numbers::for_items(count);
        let mut lanes = Lists::for_lists(count, count);
        for rule in rules() {
            let keys = rule.lanes.iter().map(|lane| lane.key(lane_ids));
            lanes.push(keys.map(|key| lane_numbers.number(key)));
            lanes.sort_last();
        }

        let listed = |rule: &Rule| rule.properties.as_ref().map_or(0, |p| p.len());
        let items = if properties {
            rules().map(listed).sum()
        } else {
            0
        };
        let mut numbers: PropertyNumbers<'_> = PropertyNumbers::for_items(items);
        let mut attributes = Lists::for_lists(count, items);
        let mut indices = Vec::with_capacity(count);
        for rule in rules() {
            let entries = rule.properties.iter().filter(|_| properties);
            let mut index = None;
            // Equal properties give the same numbers in the same order, that of the names.
            attributes.push(
                entries
                    .flat_map(|entries| entries.iter())
                    .filter(|(name, _)| !ignore.contains(*name))
                    .enumerate()
                    .map(|(position, entry)| (entry.0, numbers.number_at(position, entry)))
                    .filter_map(|(name, number)| match name {
                        RULE_INDEX => {
                            index = Some(number);
                            None
                        }
                        _ => Some(number),
                    }),
            );
            indices.push(index);
        }

        Self {
            classes: classes(count, |rule| (attributes.get(rule), indices.get(rule))),
            attributes: BitSets::new(&attributes, numbers.numbers.len()),
            lane_sets: BitSets::new(&lanes, lane_numbers.len()),
            lanes,
        }
    }
}

impl Coded {
    /// A rule of each class.
    pub(crate) fn examples(&self) -> Vec<usize> {
        let mut examples = vec![0; self.classes.len()];
        for (rule, class) in self.classes.iter().enumerate() {
            examples[*class as usize] = rule;
        }
        examples
    }
}

/// Numbers the items `0..count` so that those with equal keys have equal numbers.
fn classes<K: Ord>(count: usize, key: impl Fn(usize) -> K) -> Vec<u32> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_unstable_by_key(|&item| key(item));
    let mut classes = vec![0; count];
    let mut class = 0;
    let mut previous = None;
    for item in order {
        class += u32::from(previous.is_some_and(|previous| key(previous) != key(item)));
        previous = Some(item);
        if let Some(slot) = classes.get_mut(item) {
            *slot = class;
        }
    }
    classes
}

/// Numbers items in the order in which they are first met.
struct Numbers<K>(HashMap<K, u32, RandomState>);

impl<K: Hash + Eq> Numbers<K> {
    fn for_items(items: usize) -> Self {
        Self(HashMap::with_capacity_and_hasher(
            items,
            RandomState::default(),
        ))
    }

    fn number(&mut self, item: K) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(item).or_insert(next)
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Numbers properties. Most rules have the same values as the rule before them, so these are looked at first.
struct PropertyNumbers<'a> {
    numbers: Numbers<(&'a str, &'a Value)>,
    /// The last property at each position, with its number.
    last: Vec<((&'a str, &'a Value), u32)>,
}

impl<'a> PropertyNumbers<'a> {
    fn for_items(items: usize) -> Self {
        Self {
            numbers: Numbers::for_items(items),
            last: Vec::new(),
        }
    }

    /// The number of the property that is at this position in its rule.
    fn number_at(&mut self, position: usize, property: (&'a str, &'a Value)) -> u32 {
        if let Some((last, number)) = self.last.get(position)
            && *last == property
        {
            return *number;
        }
        let number = self.numbers.number(property);
        match self.last.get_mut(position) {
            Some(last) => *last = (property, number),
            None => self.last.push((property, number)),
        }
        number
    }
}

/// Lists of numbers, one after another.
pub(crate) struct Lists {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Lists {
    fn for_lists(lists: usize, items: usize) -> Self {
        Self {
            items: Vec::with_capacity(items),
            ends: Vec::with_capacity(lists),
        }
    }

    fn push(&mut self, list: impl Iterator<Item = u32>) {
        self.items.extend(list);
        self.ends.push(self.items.len());
    }

    fn sort_last(&mut self) {
        let last = self.start(self.ends.len().saturating_sub(1));
        if let Some(last) = self.items.get_mut(last..) {
            last.sort_unstable();
        }
    }

    fn start(&self, list: usize) -> usize {
        let before = list.checked_sub(1).and_then(|before| self.ends.get(before));
        before.copied().unwrap_or(0)
    }

    pub(crate) fn get(&self, list: usize) -> &[u32] {
        let end = self.ends.get(list).copied().unwrap_or(0);
        self.items.get(self.start(list)..end).unwrap_or_default()
    }
}

/// Sets of numbers below a common bound, as bits.
pub(crate) struct BitSets {
    words: Vec<u64>,
    /// Words of one set.
    width: usize,
}

impl BitSets {
    fn new(lists: &Lists, bound: usize) -> Self {
        let width = bound.div_ceil(64);
        let mut words = vec![0; width * lists.ends.len()];
        for list in 0..lists.ends.len() {
            for &item in lists.get(list) {
                if let Some(word) = words.get_mut(list * width + item as usize / 64) {
                    *word |= 1 << (item % 64);
                }
            }
        }
        Self { words, width }
    }

    pub(crate) fn get(&self, set: usize) -> &[u64] {
        let start = set * self.width;
        self.words
            .get(start..start + self.width)
            .unwrap_or_default()
    }

    /// The size of a set.
    pub(crate) fn len(&self, set: usize) -> u64 {
        self.shared(set, set)
    }

    /// The size of the intersection of two sets.
    pub(crate) fn shared(&self, a: usize, b: usize) -> u64 {
        let words = self.get(a).iter().zip(self.get(b));
        words.map(|(a, b)| u64::from((a & b).count_ones())).sum()
    }
}

/// Calls `found` for each item that two sorted lists share, `min(multiplicity in a, in b)` times.
pub(crate) fn each_shared<T: Ord>(a: &[T], b: &[T], mut found: impl FnMut(&T)) {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let order = x.cmp(y);
        if order.is_eq() {
            found(x);
        }
        if order.is_le() {
            a.next();
        }
        if order.is_ge() {
            b.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared_items(a: &[u8], b: &[u8]) -> u64 {
        let mut shared = 0;
        each_shared(a, b, |_| shared += 1);
        shared
    }

    #[test]
    fn multisets_intersect_by_the_smaller_multiplicity() {
        let rows: &[(&[u8], &[u8], u64)] = &[
            (&[], &[], 0),
            (&[1], &[], 0),
            (&[1, 1, 2], &[1, 2, 2], 2),
            (&[1, 1, 1], &[1, 1], 2),
            (&[1, 3, 5], &[2, 4], 0),
        ];
        for (a, b, expected) in rows {
            assert_eq!(shared_items(a, b), *expected, "{a:?} {b:?}");
            assert_eq!(shared_items(b, a), *expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn sets_of_more_than_a_word() {
        let mut lists = Lists::for_lists(3, 0);
        lists.push([0, 63, 64, 199].into_iter());
        lists.push([].into_iter());
        lists.push([199, 63, 1, 1].into_iter());
        let sets = BitSets::new(&lists, 200);
        assert_eq!((sets.len(0), sets.len(1), sets.len(2)), (4, 0, 3));
        assert_eq!((sets.shared(0, 2), sets.shared(0, 1)), (2, 0));
    }
}
