//! What states hold of each image.

use std::collections::BTreeMap;

use metric_core::Merge;

use crate::Key;

/// Something of each image, by its key; the same image twice counts twice.
///
/// What came first leaves no trace: images come in the order of their keys, and those of one key in
/// the order of what is held of them, in which they are put only when they are looked at.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(from = "Vec<(Key, T)>", into = "Vec<(Key, T)>")
)]
#[cfg_attr(
    feature = "serde",
    serde(bound(serialize = "T: Clone + Ord + serde::Serialize"))
)]
pub(crate) struct ByImage<T>(BTreeMap<Key, Vec<T>>);

impl<T> ByImage<T> {
    pub(crate) fn insert(&mut self, key: Key, outcome: T) {
        // Most keys come once.
        let same = self.0.entry(key).or_insert_with(|| Vec::with_capacity(1));
        same.push(outcome);
    }

    /// All, in an order of their own.
    pub(crate) fn unordered(&self) -> impl Iterator<Item = &T> {
        self.0.values().flatten()
    }
}

impl<T: Ord> ByImage<T> {
    /// All, in the order of the keys, and of what is held.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, &T)> {
        self.0.iter().flat_map(|(key, same)| {
            let mut same: Vec<&T> = same.iter().collect();
            same.sort_unstable();
            same.into_iter().map(move |outcome| (key, outcome))
        })
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

impl<T> Merge for ByImage<T> {
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
}

impl<T> From<Vec<(Key, T)>> for ByImage<T> {
    fn from(pairs: Vec<(Key, T)>) -> Self {
        let mut images = Self::default();
        for (key, outcome) in pairs {
            images.insert(key, outcome);
        }
        images
    }
}

impl<T: Clone + Ord> From<ByImage<T>> for Vec<(Key, T)> {
    fn from(images: ByImage<T>) -> Self {
        let pairs = images.iter();
        pairs
            .map(|(key, outcome)| (key.clone(), outcome.clone()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_whatever_came_first() {
        let pair = |key: i64, held| (Key::Number(key), held);
        let forth = vec![pair(2, 'a'), pair(1, 'c'), pair(1, 'b'), pair(1, 'c')];
        let back: Vec<_> = forth.iter().rev().cloned().collect();
        let images = ByImage::from(forth.clone());
        assert_eq!(images, ByImage::from(back));
        let sorted = vec![pair(1, 'b'), pair(1, 'c'), pair(1, 'c'), pair(2, 'a')];
        assert_eq!(Vec::from(images.clone()), sorted);
        // One of two that are the same is not both.
        assert_ne!(images, ByImage::from(sorted[1..].to_vec()));

        for cut in 0..forth.len() {
            let (left, right) = forth.split_at(cut);
            let mut merged = ByImage::from(left.to_vec());
            merged.merge(ByImage::from(right.to_vec()));
            assert_eq!(merged, images, "{cut}");
        }
    }

    #[test]
    fn many_of_one_key() {
        let mut images = ByImage::default();
        for place in 0..100_000_u32 {
            images.insert(Key::Number(0), place % 7);
        }
        assert!(images.iter().map(|(_, held)| held).is_sorted());
        assert_eq!(images.unordered().count(), 100_000);
    }
}
