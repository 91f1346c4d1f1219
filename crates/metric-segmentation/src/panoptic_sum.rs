//! Sums of many states of panoptic quality, each with a weight.

use std::collections::BTreeMap;

use metric_core::{Counts, Sum};

use crate::{CategoryState, PanopticState};

/// The sum of many states, each with a weight: counts and digits of IoU add up at positions of a list, and nothing is rounded.
///
/// ```
/// use metric_core::Metric;
/// use metric_segmentation::{Matching, PanopticQuality, PanopticSum, Segment, SegmentMatch};
///
/// let metric = PanopticQuality;
/// let found = SegmentMatch { ids: (7, 1), category: 3, iou: 0.75 };
/// let states = [
///     metric.measure(&Matching { matches: vec![found], ..Matching::default() }, &()),
///     metric.measure(&Matching { missed: vec![Segment::new(8, 3)], ..Matching::default() }, &()),
/// ];
/// let sum = PanopticSum::new(&[&states[0], &states[1]]).ok_or("an infinite IoU")?;
/// // Two matches and a missed segment.
/// let quality = sum.weighted(&[2, 1]).categories.micro().quality().ok_or("no segments")?;
/// assert_eq!((quality.pq, quality.sq, quality.rq), (0.6, 0.75, 0.8));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct PanopticSum {
    categories: Vec<i64>,
    /// The category of each digit of an IoU, by position, and its place.
    digits: Vec<(u32, u8)>,
    states: Vec<State>,
}

/// A state by positions.
#[derive(Clone, Debug)]
struct State {
    counts: Vec<(u32, Counts)>,
    digits: Vec<(u32, i64)>,
    segments: u64,
    ignored: u64,
}

impl PanopticSum {
    /// Lists the counts of states; `None` if an IoU is not finite.
    #[must_use]
    pub fn new(states: &[&PanopticState]) -> Option<Self> {
        let mut categories = BTreeMap::new();
        for state in states {
            categories.extend(state.categories.iter().map(|(id, _)| (*id, 0_u32)));
        }
        for (position, (_, at)) in (0..).zip(&mut categories) {
            *at = position;
        }
        let mut places: BTreeMap<(u32, u8), u32> = BTreeMap::new();
        let by_position = |state: &&PanopticState| {
            let mut listed = State {
                counts: Vec::with_capacity(state.categories.len()),
                digits: Vec::new(),
                segments: state.segments,
                ignored: state.ignored,
            };
            for (id, of) in state.categories.iter() {
                let category = categories[id];
                listed.counts.push((category, of.counts));
                for (place, digit) in of.iou.digits()? {
                    let next = places.len() as u32;
                    let position = *places.entry((category, place)).or_insert(next);
                    listed.digits.push((position, digit));
                }
            }
            Some(listed)
        };
        let states: Vec<State> = states.iter().map(by_position).collect::<Option<_>>()?;
        let mut digits = vec![(0, 0); places.len()];
        for (place, position) in places {
            digits[position as usize] = place;
        }
        Some(Self {
            categories: categories.into_keys().collect(),
            digits,
            states,
        })
    }

    /// Returns the sum of the states, each as often as its weight says.
    #[must_use]
    pub fn weighted(&self, weights: &[u64]) -> PanopticState {
        let mut counts = vec![Counts::default(); self.categories.len()];
        let mut digits = vec![0_i128; self.digits.len()];
        let mut total = PanopticState::default();
        let weighted = self.states.iter().zip(weights);
        for (state, &weight) in weighted.filter(|(_, weight)| **weight > 0) {
            for (position, of) in &state.counts {
                let sum = &mut counts[*position as usize];
                sum.true_positives += weight * of.true_positives;
                sum.false_positives += weight * of.false_positives;
                sum.false_negatives += weight * of.false_negatives;
            }
            for (position, digit) in &state.digits {
                digits[*position as usize] += i128::from(weight) * i128::from(*digit);
            }
            total.segments += weight * state.segments;
            total.ignored += weight * state.ignored;
        }
        let mut by_category = vec![Vec::new(); self.categories.len()];
        for ((category, place), digit) in self.digits.iter().zip(digits) {
            by_category[*category as usize].push((*place, digit));
        }
        let sums = counts.into_iter().zip(by_category);
        for (id, (counts, digits)) in self.categories.iter().zip(sums) {
            if counts != Counts::default() {
                *total.categories.entry(*id) = CategoryState {
                    counts,
                    iou: Sum::from_digits(digits),
                };
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use metric_core::{Merge, Metric};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::{Matching, PanopticQuality, Segment, SegmentMatch};

    fn matching() -> impl Strategy<Value = Matching> {
        let found = (0_i64..3, 0.5_f64..=1.0);
        let segment = (0_i64..3).prop_map(|category| Segment::new(1, category));
        (
            vec(found, 0..4),
            vec(segment.clone(), 0..3),
            vec(segment, 0..3),
        )
            .prop_map(|(found, missed, false_positives)| Matching {
                matches: found
                    .into_iter()
                    .map(|(category, iou)| SegmentMatch {
                        ids: (1, 1),
                        category,
                        iou,
                    })
                    .collect(),
                segments: missed.len() as u64,
                missed,
                false_positives,
                ..Matching::default()
            })
    }

    proptest! {
        #[test]
        fn sums_are_merged_states(images in vec((matching(), 0_u64..4), 0..6)) {
            let states: Vec<_> = images.iter().map(|(image, _)| PanopticQuality.measure(image, &())).collect();
            let weights: Vec<u64> = images.iter().map(|(_, weight)| *weight).collect();
            let mut merged = PanopticState::default();
            for (state, weight) in states.iter().zip(&weights).filter(|(_, weight)| **weight > 0) {
                merged.merge_times(state, *weight);
            }
            let sum = PanopticSum::new(&states.iter().collect::<Vec<_>>());
            prop_assert_eq!(sum.expect("finite terms").weighted(&weights), merged);
        }
    }
}
