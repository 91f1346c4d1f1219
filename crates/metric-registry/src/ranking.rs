//! The worst examples of a data set, and how the scores of all of them are distributed.

use std::collections::BTreeMap;

use crate::score_spec::{Direction, ScoreSpec};

/// The number of ranges that scores between 0 and 1 are counted by.
pub const SCORE_BINS: usize = 20;

/// The counts of examples by their scores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoreCounts {
    /// The scores between 0 and 1, in ranges of equal width.
    pub bins: [u64; SCORE_BINS],
    /// Those that are exactly 0.
    pub at_zero: u64,
    /// Those that are exactly 1.
    pub at_one: u64,
    /// Those that are below 0.
    pub below: u64,
    /// Those that are above 1, such as error rates of texts with many insertions.
    pub above: u64,
    /// Those that are undefined.
    pub undefined: u64,
    /// All examples.
    pub all: u64,
}

impl ScoreCounts {
    fn add(&mut self, value: Option<f64>) {
        self.all += 1;
        let Some(value) = value.filter(|value| !value.is_nan()) else {
            self.undefined += 1;
            return;
        };
        self.at_zero += u64::from(value == 0.0);
        // Arithmetic whose order is given by another program, such as BLEU's, puts equal texts a little above 1.
        let is_one = (value - 1.0).abs() < metric_stats::TOLERANCE;
        let value = if is_one { 1.0 } else { value };
        self.at_one += u64::from(is_one);
        let counter = match value {
            value if value < 0.0 => &mut self.below,
            value if value > 1.0 => &mut self.above,
            value => &mut self.bins[((value * SCORE_BINS as f64) as usize).min(SCORE_BINS - 1)],
        };
        *counter += 1;
    }

    fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.bins.iter_mut().zip(other.bins) {
            *ours += theirs;
        }
        self.at_zero += other.at_zero;
        self.at_one += other.at_one;
        self.below += other.below;
        self.above += other.above;
        self.undefined += other.undefined;
        self.all += other.all;
    }
}

/// Bits whose order is that of the numbers.
fn ordered_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    match bits >> 63 {
        0 => bits | 1 << 63,
        _ => !bits,
    }
}

/// The position of an example among the worst: by its score, then by the position of its record, then by the order of
/// the examples of that record.
type OrderKey = (u64, u64, u64);

/// The worst examples by one score, a limited number of them, and the counts of all.
///
/// Rankings of parts of a data set merge: any partition of the examples, merged in any order, gives the same.
/// Examples with a perfect score are counted and not kept.
///
/// ```
/// use metric_registry::{Direction, Ranking};
///
/// let mut ranking = Ranking::new(2);
/// ranking.choose("f1", Direction::Higher);
/// for (position, f1) in [0.75, 0.5, 1.0, 0.25].into_iter().enumerate() {
///     ranking.add(Some(f1), position as u64, || None, || position);
/// }
/// let worst: Vec<usize> = ranking.worst().copied().collect();
/// assert_eq!(worst, [3, 1]);
/// assert_eq!((ranking.counts().all, ranking.counts().at_one), (4, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Ranking<T> {
    most: usize,
    score: Option<(String, Direction)>,
    /// Whether no score is perfect.
    is_unbounded: bool,
    counts: ScoreCounts,
    worst: First<T>,
    nearest: First<T>,
}

impl<T> Ranking<T> {
    /// Returns a ranking that keeps at most this number of examples.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            score: None,
            is_unbounded: false,
            counts: ScoreCounts::default(),
            worst: First::new(),
            nearest: First::new(),
        }
    }

    /// Returns a ranking by one of these scores. If they have no best value, no example is perfect.
    #[must_use]
    pub fn of_scores(most: usize, scores: &[ScoreSpec]) -> Self {
        Self {
            is_unbounded: scores.iter().any(|score| score.is_unbounded),
            ..Self::new(most)
        }
    }

    /// Sets the score to rank by.
    pub fn choose(&mut self, name: &str, direction: Direction) {
        self.score = Some((name.to_owned(), direction));
    }

    /// Chooses the first score that has a direction, unless there is a score.
    pub fn choose_of<'n>(
        &mut self,
        scores: &'static [ScoreSpec],
        names: impl IntoIterator<Item = &'n str>,
    ) {
        if self.score.is_none() {
            self.score = first_directed(scores, &mut names.into_iter());
        }
    }

    /// Returns the score that examples are ranked by, and which of its values are better.
    #[must_use]
    pub fn score(&self) -> Option<(&str, Direction)> {
        let score = self.score.as_ref();
        score.map(|(name, direction)| (name.as_str(), *direction))
    }

    /// Returns the counts of all examples.
    #[must_use]
    pub fn counts(&self) -> &ScoreCounts {
        &self.counts
    }

    /// Returns the worst examples, the worst one first, and equal ones by their position.
    pub fn worst(&self) -> impl ExactSizeIterator<Item = &T> {
        self.worst.in_order()
    }

    /// Returns the examples that are not perfect and closest to it, the closest one first, and equal ones by their
    /// position.
    pub fn nearest(&self) -> impl ExactSizeIterator<Item = &T> {
        self.nearest.in_order()
    }

    /// Returns how close the closest example that is not perfect is to it, if any is close.
    #[must_use]
    pub fn closest(&self) -> Option<f64> {
        let (rank, ..) = self.nearest.order.first_key_value()?.0;
        // Numbers above 0, whose bits are ordered with the highest one set.
        Some(f64::from_bits(!rank & !(1 << 63)))
    }

    /// Changes all examples that are kept.
    pub(crate) fn change_kept(&mut self, mut change: impl FnMut(&mut T)) {
        for first in [&mut self.worst, &mut self.nearest] {
            for (_, example) in &mut first.examples {
                change(example);
            }
        }
    }

    /// Adds an example with its score and the position of its record. If an example is not perfect, `closeness` says
    /// how close it is; 0 and below are not close. Returns whether the example is kept: as one of the worst, or as one
    /// of the nearest.
    pub fn add(
        &mut self,
        value: Option<f64>,
        position: u64,
        closeness: impl FnOnce() -> Option<f64>,
        example: impl Fn() -> T,
    ) -> bool {
        let sequence = self.counts.all;
        self.counts.add(value);
        let (Some((_, direction)), Some(value)) = (&self.score, value) else {
            return false;
        };
        let (rank, is_perfect) = match direction {
            Direction::Higher => (ordered_bits(value), value >= 1.0),
            Direction::Lower => (!ordered_bits(value), value <= 0.0),
        };
        let key = (rank, position, sequence);
        if (is_perfect && !self.is_unbounded) || self.most == 0 {
            return false;
        }
        let is_bad = self.worst.put(self.most, key, &example);
        let close = closeness().filter(|close| *close > 0.0);
        let is_close = close.is_some_and(|close| {
            let key = (!ordered_bits(close), position, sequence);
            self.nearest.put(self.most, key, &example)
        });
        is_bad || is_close
    }

    /// Adds what was ranked of other examples.
    pub fn merge(&mut self, other: Self) {
        self.counts.merge(&other.counts);
        self.score = self.score.take().or(other.score);
        self.worst.merge(self.most, other.worst);
        self.nearest.merge(self.most, other.nearest);
    }

    /// The same ranking of other values.
    pub(crate) fn map<U>(&self, mut value: impl FnMut(u64, &T) -> U) -> Ranking<U> {
        let mut map = |first: &First<T>| First {
            order: first.order.clone(),
            examples: first
                .examples
                .iter()
                .map(|(key, example)| (*key, value(key.1, example)))
                .collect(),
        };
        let (worst, nearest) = (map(&self.worst), map(&self.nearest));
        Ranking {
            is_unbounded: self.is_unbounded,
            most: self.most,
            score: self.score.clone(),
            counts: self.counts.clone(),
            worst,
            nearest,
        }
    }
}

/// Returns the first of these scores that has a direction.
fn first_directed(
    scores: &'static [ScoreSpec],
    names: &mut dyn Iterator<Item = &str>,
) -> Option<(String, Direction)> {
    for name in names {
        let score = ScoreSpec::of_name(scores, name);
        if let Some(direction) = score.and_then(|score| score.direction) {
            return Some((name.to_owned(), direction));
        }
    }
    None
}

/// The first examples in the order of their keys, a limited number of them.
///
/// The tree holds indices rather than the examples, so that it is compiled once, not once per type of example.
#[derive(Clone, Debug)]
struct First<T> {
    /// The index of each example.
    order: BTreeMap<OrderKey, usize>,
    examples: Vec<(OrderKey, T)>,
}

impl<T> First<T> {
    fn new() -> Self {
        Self {
            order: BTreeMap::new(),
            examples: Vec::new(),
        }
    }

    fn in_order(&self) -> impl ExactSizeIterator<Item = &T> {
        self.order.values().map(|&index| &self.examples[index].1)
    }

    /// Keeps an example unless there are enough with smaller keys. Returns whether it is kept.
    fn put(&mut self, most: usize, key: OrderKey, example: impl FnOnce() -> T) -> bool {
        let Some(index) = index_for(&mut self.order, most, key) else {
            return false;
        };
        let example = (key, example());
        match self.examples.get_mut(index) {
            Some(replaced) => *replaced = example,
            None => self.examples.push(example),
        }
        true
    }

    fn merge(&mut self, most: usize, other: Self) {
        for (key, example) in other.examples {
            self.put(most, key, || example);
        }
    }
}

/// Adds a key to an order of at most this many keys. Returns the index for its example: the next one, or that of the
/// example whose place it takes. `None` if it comes after all of them.
fn index_for(order: &mut BTreeMap<OrderKey, usize>, most: usize, key: OrderKey) -> Option<usize> {
    let is_full = order.len() >= most;
    let comes_first = |(last, _): (&OrderKey, _)| *last > key;
    if is_full && !order.last_key_value().is_some_and(comes_first) {
        return None;
    }
    if let Some(&same) = order.get(&key) {
        return Some(same);
    }
    let index = if is_full {
        order.pop_last()?.1
    } else {
        order.len()
    };
    order.insert(key, index);
    Some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_ordered_as_numbers() {
        let numbers = [
            f64::NEG_INFINITY,
            -1.5,
            -0.0,
            0.0,
            1e-300,
            1.0,
            f64::INFINITY,
        ];
        assert!(numbers.is_sorted_by(|a, b| ordered_bits(*a) < ordered_bits(*b)));
    }

    #[test]
    fn the_worst_examples_are_kept() {
        let mut ranking = Ranking::new(2);
        ranking.choose("wer", Direction::Lower);
        for (position, score) in [0.5, 0.0, 1.5, 0.5, 0.25].into_iter().enumerate() {
            let close = 1.0 - score;
            ranking.add(Some(score), position as u64, || Some(close), || position);
        }
        ranking.add(None, 5, || None, || 5);
        assert_eq!(ranking.nearest().copied().collect::<Vec<_>>(), [4, 0]);
        assert_eq!(ranking.closest(), Some(0.75));
        assert_eq!(ranking.worst().copied().collect::<Vec<_>>(), [2, 0]);
        let counts = ranking.counts();
        assert_eq!((counts.at_zero, counts.at_one), (1, 0));
        assert_eq!((counts.below, counts.above, counts.undefined), (0, 1, 1));
        assert_eq!(counts.bins.iter().sum::<u64>(), 4);
    }

    /// Parts in any order give what one pass gives.
    #[test]
    fn parts_merge() {
        let mut seed = 3_u64;
        let mut below = |limit: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % limit
        };
        for most in 0..8 {
            let empty = || {
                let mut ranking = Ranking::new(most);
                ranking.choose("f1", Direction::Higher);
                ranking
            };
            let (mut whole, mut divided) = (empty(), [empty(), empty(), empty()]);
            for position in 0..40 {
                let value = Some(below(6) as f64 / 5.0).filter(|value| *value > 0.0);
                for ranking in [&mut whole, &mut divided[below(3) as usize]] {
                    ranking.add(value, position, || value, || position);
                }
            }
            let [mut sum, second, third] = divided;
            sum.merge(third);
            sum.merge(second);
            assert_eq!(sum.counts(), whole.counts());
            let kept = |ranking: Ranking<u64>| -> Vec<u64> {
                ranking.worst().chain(ranking.nearest()).copied().collect()
            };
            assert_eq!(kept(sum), kept(whole));
        }
    }
}
