//! Numbers that are summed over the images of a replicate: true objects, and right detections that a limit leaves out.

use super::bits::ones;
use super::params::CocoParams;

/// The weight of a state: 0 if it has none.
pub(super) fn weight(weights: &[u64], state: u32) -> u64 {
    weights.get(state as usize).copied().unwrap_or_default()
}

/// Sums over images, each of which counts as often as its weight says.
#[derive(Debug, Default)]
struct Sums(Vec<Vec<Addend>>);

#[derive(Clone, Copy, Debug)]
struct Addend {
    /// The state of the image.
    state: u32,
    value: i64,
}

impl Sums {
    /// Adds to the first sums what an image has of each. Nothing is kept of a 0.
    fn add(&mut self, state: u32, values: impl ExactSizeIterator<Item = i64>) {
        if self.0.len() < values.len() {
            self.0.resize(values.len(), Vec::new());
        }
        for (addends, value) in self.0.iter_mut().zip(values) {
            if value != 0 {
                addends.push(Addend { state, value });
            }
        }
    }

    fn weighted(&self, weights: &[u64]) -> impl Iterator<Item = i64> {
        let weighted =
            |addend: &Addend| (weight(weights, addend.state) as i64).wrapping_mul(addend.value);
        let sum =
            move |addends: &Vec<Addend>| addends.iter().map(weighted).fold(0, i64::wrapping_add);
        self.0.iter().map(sum)
    }
}

/// The true objects of a class by area range.
#[derive(Debug, Default)]
pub(super) struct Truths(Sums);

impl Truths {
    /// Adds those of an image.
    pub(super) fn add(&mut self, state: u32, truths: &[u32]) {
        self.0
            .add(state, truths.iter().map(|&truths| i64::from(truths)));
    }

    pub(super) fn totals(&self, weights: &[u64]) -> Vec<u64> {
        self.0.weighted(weights).map(|total| total as u64).collect()
    }
}

/// The detections that are right and that a limit leaves out. Only their number matters, not their order.
///
/// A detection is right up to a threshold, seldom between two others: instead of a number for each threshold, the
/// changes from one threshold to the next are summed, which are far fewer.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// By level and curve.
    changes: Sums,
}

impl LeftOut {
    /// Adds the detections of an image: for each the number of limits that leave it out, and the curves in which it is
    /// right.
    pub(super) fn add<'a>(
        &mut self,
        params: &CocoParams,
        state: u32,
        detections: impl Iterator<Item = (u32, &'a [u64])>,
    ) {
        let thresholds = params.iou_thresholds.len().max(1);
        let of_level = params.areas.len() * thresholds;
        let levels = params.max_detections.len();
        let mut counts = Vec::new();
        for (level, correct) in detections {
            let level = level as usize;
            if (1..levels).contains(&level) {
                counts.resize(levels * of_level, 0);
                let curves = ones(correct).take_while(|&curve| curve < of_level);
                curves.for_each(|curve| counts[level * of_level + curve] += 1);
            }
        }
        let change = |curve: usize| match curve % thresholds {
            0 => counts[curve],
            _ => counts[curve] - counts[curve - 1],
        };
        self.changes.add(state, (0..counts.len()).map(change));
    }

    /// The numbers by level and curve.
    pub(super) fn totals(&self, params: &CocoParams, weights: &[u64]) -> Vec<u64> {
        let thresholds = params.iou_thresholds.len().max(1);
        let all = params.max_detections.len() * params.areas.len() * thresholds;
        let mut total = 0;
        let mut totals = Vec::with_capacity(all);
        for (curve, change) in self.changes.weighted(weights).enumerate() {
            if curve % thresholds == 0 {
                total = 0;
            }
            total = i64::wrapping_add(total, change);
            totals.push(total as u64);
        }
        // Nothing is kept before the first detection that is left out.
        totals.resize(all, 0);
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truths_count_as_often_as_their_image() {
        let mut truths = Truths::default();
        truths.add(0, &[3, 1, 0]);
        truths.add(2, &[1, 0, 1]);
        assert_eq!(truths.totals(&[2, 5, 1]), [7, 2, 1]);
        assert_eq!(truths.totals(&[0, 1]), [0, 0, 0]);
    }

    #[test]
    fn numbers_are_those_of_each_threshold() {
        let mut params = CocoParams::default();
        params.areas.truncate(1);
        params.iou_thresholds = vec![0.5, 0.6, 0.7];
        params.max_detections = vec![1, 2];
        let mut left_out = LeftOut::default();
        assert_eq!(left_out.totals(&params, &[1, 1]), [0; 6]);
        // One limit leaves these out: right at the first two thresholds, and at the first and the last.
        left_out.add(&params, 0, [(1, &[0b011][..]), (1, &[0b101])].into_iter());
        // This one is left in, and this one is right at the last threshold only.
        left_out.add(&params, 1, [(0, &[0b111][..]), (1, &[0b100])].into_iter());
        assert_eq!(left_out.totals(&params, &[1, 0]), [0, 0, 0, 2, 1, 1]);
        assert_eq!(left_out.totals(&params, &[2, 3]), [0, 0, 0, 4, 2, 2 + 3]);
        assert_eq!(left_out.totals(&params, &[]), [0; 6]);
    }
}
