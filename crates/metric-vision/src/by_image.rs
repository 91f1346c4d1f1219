//! The rows that states keep of each image.

use std::collections::BTreeMap;

use metric_core::{Malformed, Merge, Reader, RowSource, Writer, Written};

use crate::Key;

/// Rows of each image, by its key; the same image twice counts twice.
///
/// The order of arrival leaves no trace. Images are in the order of their keys, and the rows of one
/// key in the order of their content, into which they are sorted only when they are read.
#[derive(Clone, Debug)]
pub(crate) struct ByImage<T>(BTreeMap<Key, Vec<T>>);

impl<T> ByImage<T> {
    pub(crate) fn insert(&mut self, key: Key, outcome: T) {
        // Most keys come once.
        let same = self.0.entry(key).or_insert_with(|| Vec::with_capacity(1));
        same.push(outcome);
    }

    /// All rows to change, in any order.
    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.values_mut().flatten()
    }

    /// All rows, in any order.
    pub(crate) fn unordered(&self) -> impl Iterator<Item = &T> {
        self.0.values().flatten()
    }
}

impl<T: Ord> ByImage<T> {
    /// All rows, in the order of the keys and then of the content.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, &T)> {
        self.0.iter().flat_map(|(key, same)| {
            let mut same: Vec<&T> = same.iter().collect();
            same.sort_unstable();
            same.into_iter().map(move |outcome| (key, outcome))
        })
    }
}

impl<T: Ord> ByImage<T> {
    /// The rows of several, in the order of the keys and then of the content, with where they are from.
    pub(crate) fn of_all<'a>(
        all: impl IntoIterator<Item = &'a Self>,
    ) -> impl Iterator<Item = (RowSource, &'a T)>
    where
        T: 'a,
    {
        let rows = (0..).zip(all).flat_map(|(state, images): (u32, &Self)| {
            images.iter().map(move |(key, row)| (key, row, state))
        });
        let mut rows: Vec<(&Key, &T, u32)> = rows.collect();
        rows.sort();
        let rows = (0..).zip(rows);
        rows.map(|(example, (_, row, state))| (RowSource { state, example }, row))
    }
}

impl<T> Default for ByImage<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Ord> PartialEq for ByImage<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Ord> Eq for ByImage<T> {}

impl<T: Clone> Merge for ByImage<T> {
    fn merge(&mut self, mut other: Self) {
        if self.0.len() < other.0.len() {
            std::mem::swap(&mut self.0, &mut other.0);
        }
        for (key, mut theirs) in other.0 {
            let mine = self.0.entry(key).or_default();
            if mine.len() < theirs.len() {
                std::mem::swap(mine, &mut theirs);
            }
            mine.extend(theirs);
        }
    }

    /// Repeats the rows, which do not say how often they count.
    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        for (key, theirs) in &other.0 {
            let mine = self.0.entry(key.clone()).or_default();
            for _ in 0..times {
                mine.extend_from_slice(theirs);
            }
        }
    }
}

/// A row that can be checked: it may come from a file that was not written by us.
pub(crate) trait Check {
    /// The error in the row, in a few words.
    fn check(&self) -> Result<(), &'static str>;
}

/// A list of pairs, in the order of the keys and of the content.
impl<T: Ord + Check + Written> Written for ByImage<T> {
    fn write(&self, to: &mut Writer) {
        to.list(self.0.values().map(Vec::len).sum());
        for (key, row) in self.iter() {
            to.list(2);
            key.write(to);
            row.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut images = Self::default();
        for _ in 0..from.list()? {
            let (key, row) = <(Key, T)>::read(from)?;
            row.check()
                .map_err(|problem| Malformed(format!("image {key}: {problem}")))?;
            images.insert(key, row);
        }
        Ok(images)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T>(pairs: &[(Key, T)]) -> ByImage<T>
    where
        T: Clone,
    {
        let mut images = ByImage::default();
        for (key, row) in pairs {
            images.insert(key.clone(), row.clone());
        }
        images
    }

    fn pairs<T: Clone + Ord>(images: &ByImage<T>) -> Vec<(Key, T)> {
        let pairs = images.iter();
        pairs.map(|(key, row)| (key.clone(), row.clone())).collect()
    }

    #[test]
    fn the_same_whatever_came_first() {
        let pair = |key: i64, held| (Key::Number(key), held);
        let forth = vec![pair(2, 'a'), pair(1, 'c'), pair(1, 'b'), pair(1, 'c')];
        let back: Vec<_> = forth.iter().rev().cloned().collect();
        let images = of(&forth);
        assert_eq!(images, of(&back));
        let sorted = vec![pair(1, 'b'), pair(1, 'c'), pair(1, 'c'), pair(2, 'a')];
        assert_eq!(pairs(&images), sorted);
        // One of two that are the same is not both.
        assert_ne!(images, of(&sorted[1..]));

        for cut in 0..forth.len() {
            let (left, right) = forth.split_at(cut);
            let mut merged = of(left);
            merged.merge(of(right));
            assert_eq!(merged, images, "{cut}");
        }
    }

    #[test]
    fn rows_repeat() {
        let one = of(&[(Key::Number(1), 'a'), (Key::Number(2), 'b')]);
        let mut images = of(&[(Key::Number(2), 'c')]);
        images.merge_times(&one, 0);
        assert_eq!(pairs(&images), [(Key::Number(2), 'c')]);
        images.merge_times(&one, 2);
        let rows: String = images.iter().map(|(_, row)| row).collect();
        assert_eq!(rows, "aabbc");
    }

    #[test]
    fn many_of_one_key() {
        let mut images = ByImage::default();
        for index in 0..100_000_u32 {
            images.insert(Key::Number(0), index % 7);
        }
        assert!(images.iter().map(|(_, held)| held).is_sorted());
        assert_eq!(images.unordered().count(), 100_000);
    }
}
