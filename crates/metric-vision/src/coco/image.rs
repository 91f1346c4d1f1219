//! The average precision of a single image, without the curves of a data set.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::CocoAp;
use super::curves::{CocoCurves, needed};
use super::params::{CocoParams, CocoSummary};
use super::state::{CocoState, ImageOutcome, POOLED};
use crate::Shape;
use crate::numpy::pairwise_sum;

impl<S: Shape> CocoAp<S> {
    /// Returns the `AP` of [`CocoCurves::summary`](super::CocoCurves::summary), bit for bit.
    ///
    /// For a single image only this number is computed, as ranking the images of a data set needs
    /// no other.
    ///
    /// ```
    /// use metric_core::Metric;
    /// use metric_vision::{Annotation, BBox, CocoAp, Image, Prediction};
    ///
    /// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
    /// let found = [Prediction::new(0, 0.9, square(0.0)?), Prediction::new(0, 0.8, square(3.0)?)];
    /// let truths = vec![Annotation::new(0, square(3.0)?)];
    ///
    /// let metric = CocoAp::default();
    /// let state = metric.measure(&found, &Image::new(1, truths));
    /// assert_eq!(metric.average_precision(&state), metric.compute(&state).summary(None)[0].1);
    /// # Ok::<(), metric_vision::InvalidBox>(())
    /// ```
    #[must_use]
    pub fn average_precision(&self, state: &CocoState) -> Option<f64> {
        average_precision(self.params(), state)
    }
}

fn average_precision(params: &CocoParams, state: &CocoState) -> Option<f64> {
    let mut images = state.images.unordered();
    let (first, second) = (images.next(), images.next());
    let is_mixed = |image: &ImageOutcome| {
        image.classes.len() > 1 && image.classes.iter().any(|(class, _)| *class == POOLED)
    };
    if let (Some(image), None) = (first, second)
        && !is_mixed(image)
    {
        thread_local! {
            static KEPT: Cell<Option<Box<Room>>> = const { Cell::new(None) };
        }
        let mut room = KEPT.take().unwrap_or_default();
        let value = of_image(params, image, &mut room);
        KEPT.set(Some(room));
        return value;
    }
    let summary = CocoCurves::accumulate(params, state).summary(None);
    summary.into_iter().next()?.1
}

/// Memory that the next image uses again.
#[derive(Default)]
struct Room {
    recalls: Vec<f64>,
    /// By number of true objects, the number of correct detections that reach each recall.
    needed: BTreeMap<u32, Vec<u64>>,
    /// For each correct detection the number of wrong ones before it, then the greatest precision
    /// at or after it.
    precisions: Vec<f64>,
    /// The precision by threshold, recall and class.
    all: Vec<f64>,
}

/// So many lists of recalls are remembered.
const MOST_NEEDED: usize = 256;

fn of_image(params: &CocoParams, image: &ImageOutcome, room: &mut Room) -> Option<f64> {
    let wanted = match (params.quirks, params.summary) {
        (false, _) => params.max_detections.last().copied(),
        (true, CocoSummary::Detections) => Some(100),
        (true, CocoSummary::Keypoints) => Some(20),
        (true, CocoSummary::Lvis) => params.max_detections.last().copied(),
    };
    let most = wanted.filter(|wanted| params.max_detections.contains(wanted))?;
    let (areas, words) = (params.areas.len(), params.words());
    if room.recalls != params.recall_thresholds || room.needed.len() > MOST_NEEDED {
        room.needed.clear();
        room.recalls.clone_from(&params.recall_thresholds);
    }
    let (thresholds, recalls) = (params.iou_thresholds.len(), room.recalls.len());
    let truths_of = |position: usize| image.truths.get(position * areas).copied().unwrap_or(0);
    let classes = (0..image.classes.len())
        .filter(|&position| truths_of(position) > 0)
        .count();
    if classes == 0 {
        return None;
    }
    room.all.clear();
    room.all.resize(thresholds * recalls * classes, 0.0);
    let (mut start, mut column) = (0, 0);
    for (position, &(_, count)) in image.classes.iter().enumerate() {
        let end = usize::saturating_add(start, count as usize);
        let counted = start..end.min(start.saturating_add(most));
        start = end;
        let truths = truths_of(position);
        if truths == 0 {
            continue;
        }
        let verdicts = image.verdicts.get(counted).unwrap_or_default();
        let needed = room
            .needed
            .entry(truths)
            .or_insert_with(|| needed(params, u64::from(truths)));
        for threshold in 0..thresholds {
            let bit = |words: &[u64]| {
                let word = words.get(threshold / 64).copied().unwrap_or(0);
                word >> (threshold % 64) & 1 == 1
            };
            room.precisions.clear();
            let mut wrong = 0_u64;
            for &verdict in verdicts {
                let Some(index) = verdict.details() else {
                    wrong += u64::from(verdict.is_wrong_in(0));
                    continue;
                };
                let details = image.details_at(index, words);
                if bit(details.correct) {
                    let right = room.precisions.len() as f64 + 1.0;
                    let precision = right / ((wrong as f64 + right) + f64::EPSILON);
                    room.precisions.push(precision);
                }
                wrong += u64::from(bit(details.wrong));
            }
            let mut greatest = 0.0_f64;
            for precision in room.precisions.iter_mut().rev() {
                greatest = greatest.max(*precision);
                *precision = greatest;
            }
            let first = threshold * recalls * classes + column;
            let cells = room.all.get_mut(first..).unwrap_or_default();
            for (cell, &needed) in cells.iter_mut().step_by(classes).zip(needed.iter()) {
                match room.precisions.get(needed.saturating_sub(1) as usize) {
                    Some(precision) => *cell = *precision,
                    None => break,
                }
            }
        }
        column += 1;
    }
    Some(pairwise_sum(&room.all) / room.all.len() as f64)
}

#[cfg(test)]
mod tests {
    use metric_core::Metric;

    use crate::{Annotation, BBox, CocoAp, CocoParams, Image, Prediction};

    #[test]
    fn it_is_that_of_the_summary() {
        let mut seed = 7_u64;
        let mut below = |limit: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % limit
        };
        let definitions = [
            CocoParams::default(),
            CocoParams::keypoints(),
            CocoParams {
                quirks: true,
                ..CocoParams::default()
            },
            CocoParams {
                quirks: true,
                max_detections: vec![1, 3],
                ..CocoParams::default()
            },
            CocoParams {
                by_class: false,
                max_detections: vec![2],
                ..CocoParams::default()
            },
            CocoParams {
                recall_thresholds: vec![0.1, 0.5, 1.0],
                iou_thresholds: (1..=70).map(|step| f64::from(step) / 71.0).collect(),
                ..CocoParams::default()
            },
        ];
        let mut defined = 0;
        for round in 0..600 {
            let mut shape = || {
                let [x, y, width, height] = [below(30), below(8), below(20) + 1, below(6) + 1];
                BBox::from_xywh(x as f64, y as f64, width as f64, height as f64)
                    .expect("a valid box")
            };
            let shapes: Vec<BBox> = (0..16).map(|_| shape()).collect();
            let classes = below(4) + 1;
            let (truths, found) = (below(8) as usize, below(9) as usize);
            let truths = shapes[..truths].iter().map(|shape| Annotation {
                crowd: below(9) == 0,
                ..Annotation::new(below(classes) as u32, *shape)
            });
            let truths: Vec<_> = truths.collect();
            let found = (0..found).map(|position| {
                let shape = shapes[match below(2) {
                    0 => position,
                    _ => 8 + position % 8,
                }];
                Prediction::new(below(classes) as u32, below(5) as f64 / 4.0, shape)
            });
            let found: Vec<_> = found.collect();
            let metric = CocoAp::new(definitions[round % definitions.len()].clone());
            let metric = metric.expect("a valid definition");
            let mut state = metric.measure(&found, &Image::new(1, truths.clone()));
            if round % 50 == 0 {
                metric.update(&mut state, &found, &Image::new(2, truths));
            }
            let expected = metric.compute(&state).summary(None)[0].1;
            let actual = metric.average_precision(&state);
            assert_eq!(actual.map(f64::to_bits), expected.map(f64::to_bits));
            defined += usize::from(actual.is_some_and(|value| value > 0.0 && value < 1.0));
        }
        assert!(defined > 100, "{defined}");
    }
}
