//! Counts the pairs of two lists of bounds that meet, without a look at each pair.

/// The number of pairs of a box of one list and a box of the other that overlap or touch.
///
/// Bounds are left, top, right and bottom. A line sweeps from left to right, with a count of the tops and
/// bottoms of the boxes it crosses: time grows with `n log n` for `n` boxes, however many pairs meet.
pub(crate) fn pairs_that_meet(lists: [&[[f64; 4]]; 2]) -> u64 {
    let all = || lists.into_iter().flatten();
    let mut heights: Vec<f64> = all().flat_map(|bounds| [bounds[1], bounds[3]]).collect();
    heights.sort_unstable_by(f64::total_cmp);
    heights.dedup();
    let rank = |height: f64| heights.partition_point(|other| *other < height);

    // Where a box starts and where it ends. At the same place starts come first, as boxes that touch meet.
    let mut events = Vec::with_capacity(2 * all().count());
    for (list, bounds) in lists.into_iter().enumerate() {
        for bounds in bounds {
            // Without the sign of zero, which the order would see.
            let [left, top, right, bottom] = bounds.map(|edge| edge + 0.0);
            let span = [rank(top), rank(bottom)];
            events.push((left, false, list, span));
            events.push((right, true, list, span));
        }
    }
    events.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));

    let mut crossed = [(); 2].map(|()| [(); 2].map(|()| Counts::new(heights.len())));
    let mut pairs = 0;
    for (_, is_end, list, [top, bottom]) in events {
        let [tops, bottoms] = &mut crossed[list];
        tops.add(top, is_end);
        bottoms.add(bottom, is_end);
        if !is_end {
            // Some of the others start below this one, and some end above it.
            let [tops, bottoms] = &crossed[1 - list];
            pairs += tops.below(bottom + 1) - bottoms.below(top);
        }
    }
    pairs
}

/// The number of times each rank occurs, as sums over ranges of ranks (P. M. Fenwick, *A new data structure for
/// cumulative frequency tables*, 1994).
struct Counts(Vec<u64>);

impl Counts {
    fn new(ranks: usize) -> Self {
        Self(vec![0; ranks + 1])
    }

    /// Counts a rank once more, or once less.
    fn add(&mut self, rank: usize, is_removed: bool) {
        let mut at = rank + 1;
        while let Some(sum) = self.0.get_mut(at) {
            if is_removed {
                *sum -= 1;
            } else {
                *sum += 1;
            }
            at += at & at.wrapping_neg();
        }
    }

    /// The number of ranks below a rank.
    fn below(&self, rank: usize) -> u64 {
        let mut at = rank;
        let mut sum = 0;
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn boxes_that_touch_meet() {
        let unit = [0.0, 0.0, 1.0, 1.0];
        for (other, expected) in [
            ([0.0, 0.0, 1.0, 1.0], 1),
            ([1.0, 1.0, 2.0, 2.0], 1),
            ([0.5, 0.5, 0.5, 0.5], 1),
            ([1.5, 0.0, 2.0, 1.0], 0),
            ([0.0, 1.5, 1.0, 2.0], 0),
        ] {
            assert_eq!(pairs_that_meet([&[unit], &[other]]), expected, "{other:?}");
        }
        assert_eq!(pairs_that_meet([&[unit; 3], &[unit; 5]]), 15);
        assert_eq!(pairs_that_meet([&[unit], &[]]), 0);
    }

    fn boxes() -> impl Strategy<Value = Vec<[f64; 4]>> {
        let one = (0..8_u8, 0..8_u8, 0..5_u8, 0..5_u8)
            .prop_map(|(x, y, width, height)| [x, y, x + width, y + height].map(f64::from));
        prop::collection::vec(one, 0..12)
    }

    proptest! {
        #[test]
        fn equals_a_look_at_each_pair(a in boxes(), b in boxes()) {
            let meet = |a: &[f64; 4], b: &[f64; 4]| {
                a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3]
            };
            let pairs = a.iter().map(|a| b.iter().filter(|b| meet(a, b)).count());
            let expected: usize = pairs.sum();
            prop_assert_eq!(pairs_that_meet([&a, &b]), expected as u64);
        }
    }
}
