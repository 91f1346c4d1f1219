//! The cut of the detections of each class over all images.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{LvisCounts, LvisState};
use crate::CocoState;
use crate::coco::{Place, Standing};
use crate::score::Rank;

/// The detections that remain, and the numbers of those that do and do not count.
///
/// Matching is greedy from the highest score down, so that the matches of the detections that remain are the same with
/// and without the others.
pub(super) struct Cut {
    pub(super) state: CocoState,
    pub(super) counts: LvisCounts,
    /// The number of classes that have as many detections as the limit.
    pub(super) full_classes: u64,
}

/// The order of detections of a class: by falling score, then by position in the file, then by image.
type Order = (Reverse<Rank>, u32, usize, u32);

fn order(place: &Place, image: usize) -> Order {
    let (position, index) = place.position;
    (Reverse(place.score), position, image, index)
}

impl Cut {
    pub(super) fn of(state: &LvisState, most: usize) -> Self {
        let images: Vec<_> = state.coco.images.iter().collect();
        let mut classes: BTreeMap<u32, Vec<Order>> = BTreeMap::new();
        for (image, (_, outcome)) in images.iter().enumerate() {
            for place in &outcome.places {
                classes
                    .entry(place.class)
                    .or_default()
                    .push(order(place, image));
            }
        }
        // The first detection of each class that is cut.
        let mut ends: BTreeMap<u32, Order> = BTreeMap::new();
        let mut full_classes = 0;
        for (class, mut orders) in classes {
            full_classes += u64::from(orders.len() >= most);
            if orders.len() > most {
                let (_, end, _) = orders.select_nth_unstable(most);
                ends.insert(class, *end);
            }
        }
        let mut cut = Self {
            state: CocoState::default(),
            counts: state.counts,
            full_classes,
        };
        let (mut placed, mut remaining) = ([0; 3], [0; 3]);
        for (image, (key, outcome)) in images.into_iter().enumerate() {
            let remains = |place: &&Place| {
                let end = ends.get(&place.class);
                end.is_none_or(|end| order(place, image) < *end)
            };
            let mut scored: BTreeMap<u32, u32> = BTreeMap::new();
            for place in &outcome.places {
                placed[place.standing as usize] += 1;
            }
            for place in outcome.places.iter().filter(remains) {
                remaining[place.standing as usize] += 1;
                if place.standing == Standing::Scored {
                    *scored.entry(place.class).or_default() += 1;
                }
            }
            let left = outcome.first_of_each(|class| scored.get(&class).copied().unwrap_or(0));
            cut.state.images.insert(key.clone(), left);
        }
        let counts = &mut cut.counts;
        let all = [
            &mut counts.detections,
            &mut counts.invalid,
            &mut counts.unverified,
        ];
        for ((count, placed), remaining) in all.into_iter().zip(placed).zip(remaining) {
            *count = count.saturating_sub(placed - remaining);
            counts.capped += placed - remaining;
        }
        cut
    }
}
