//! Units that are kept once, each with a number.

use std::hash::BuildHasher;
use std::sync::LazyLock;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Different units with their numbers, from 1 in the order in which they came. The empty unit has the number 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    /// The units, one after another.
    text: String,
    /// Where each unit ends in the text.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
}

/// All interners have one hasher, which is another one in each process.
static HASHER: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

impl Interner {
    /// The number of different units.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The unit of a number; empty if there is none.
    pub(crate) fn text(&self, number: u32) -> &str {
        text(&self.text, &self.ends, number)
    }

    /// The number of a unit, which is new if the unit is.
    ///
    /// There are more than four billion numbers. So many different units would take over 60 gigabytes; those without
    /// a number of their own would have the last one.
    pub(crate) fn number(&mut self, unit: &str) -> u32 {
        if unit.is_empty() {
            return 0;
        }
        let Self {
            text: texts,
            ends,
            numbers,
        } = self;
        let is_unit = |number: &u32| text(texts, ends, *number) == unit;
        let hash = |number: &u32| HASHER.hash_one(text(texts, ends, *number));
        match numbers.entry(HASHER.hash_one(unit), is_unit, hash) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                let number = u32::try_from(ends.len() + 1).unwrap_or(u32::MAX);
                free.insert(number);
                texts.push_str(unit);
                ends.push(texts.len());
                number
            }
        }
    }

    /// The number of a unit, if it has one.
    pub(crate) fn find(&self, unit: &str) -> Option<u32> {
        if unit.is_empty() {
            return Some(0);
        }
        let hash = HASHER.hash_one(unit);
        let found = self
            .numbers
            .find(hash, |number| self.text(*number) == unit)?;
        Some(*found)
    }

    /// The number of each unit in another one, by its number here. Units that the other does not have get numbers after
    /// its own.
    pub(crate) fn numbers_in(&self, other: &Self) -> Vec<u32> {
        let mut next = u32::try_from(other.len()).unwrap_or(u32::MAX);
        let all = 0..=u32::try_from(self.len()).unwrap_or(u32::MAX);
        let number = |number| {
            other.find(self.text(number)).unwrap_or_else(|| {
                next = next.saturating_add(1);
                next
            })
        };
        all.map(number).collect()
    }

    /// Adds the units of another one. Returns the number here of each number there.
    pub(crate) fn extend(&mut self, other: &Self) -> Vec<u32> {
        let all = 0..=u32::try_from(other.len()).unwrap_or(u32::MAX);
        all.map(|number| self.number(other.text(number))).collect()
    }
}

/// The unit of a number among texts that end here.
fn text<'t>(texts: &'t str, ends: &[usize], number: u32) -> &'t str {
    let end = |number: usize| ends.get(number.checked_sub(1)?).copied();
    let number = number as usize;
    let range = end(number.wrapping_sub(1)).unwrap_or(0)..end(number).unwrap_or(0);
    texts.get(range).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_numbers_in_their_order() {
        let mut first = Interner::default();
        let numbers = ["b", "", "a", "b", "é"].map(|unit| first.number(unit));
        assert_eq!(numbers, [1, 0, 2, 1, 3]);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|number| first.text(number)),
            ["", "b", "a", "é", ""]
        );
        assert_eq!(
            ["", "é", "c"].map(|unit| first.find(unit)),
            [Some(0), Some(3), None]
        );
        let mut second = Interner::default();
        second.number("a");
        assert_eq!(second.extend(&first), [0, 2, 1, 3]);
        assert_eq!((second.len(), second.text(2)), (3, "b"));
    }
}
