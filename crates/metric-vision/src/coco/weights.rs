//! Scores of weighted images: those of a state in which each image is repeated, without the repetition.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::{
    CocoAp, CocoCurves, CocoParams, CocoState, DETAILED, ImageOutcome, OfClass, curve_class,
    needed, ones,
};
use crate::Key;
use crate::score::Rank;

/// The detections of several states, sorted once, to be scored with a weight for each state.
///
/// The curves of weights `w` are those of the states merged `w` times each. The states are usually those of
/// single images, and the weights those of a bootstrap replicate.
///
/// ```
/// use metric_core::{Merge, Metric};
/// use metric_vision::{Annotation, BBox, CocoAp, CocoState, CocoWeights, Image, Prediction};
///
/// let metric = CocoAp::default();
/// let image = |key: i64, x: f64| {
///     let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
///     let truth = Annotation::new(0, square(0.0)?);
///     let found = Prediction::new(0, 0.5, square(x)?);
///     Ok::<_, metric_vision::InvalidBox>(metric.measure(&[found], &Image::new(key, vec![truth])))
/// };
/// let (hit, miss) = (image(1, 0.0)?, image(2, 20.0)?);
///
/// let weights = CocoWeights::new(&metric, &[&hit, &miss]);
/// let mut merged = CocoState::default();
/// merged.merge_times(&hit, 2);
/// merged.merge_times(&miss, 1);
/// assert_eq!(weights.curves(&[2, 1]).summary(None), metric.compute(&merged).summary(None));
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
///
/// # Cost
///
/// One sort for all weights. Each set of weights is one pass over the detections, and memory for the curves.
#[derive(Debug)]
pub struct CocoWeights<'s> {
    params: &'s CocoParams,
    classes: Vec<Rows<'s>>,
}

/// The detections and true objects of a class.
#[derive(Debug, Default)]
struct Rows<'s> {
    class: u32,
    /// The true objects of an image by size class, with the state of the image.
    truths: Vec<(u32, &'s [u32])>,
    /// By falling score, of equal ones in the order of images.
    rows: Vec<Row<'s>>,
    /// Ranges of rows of one image with one score: repeated images repeat them one after the other.
    ties: Vec<Range<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct Row<'s> {
    score: Rank,
    state: u32,
    /// Counts repetitions of one state apart, where it has several images of one key.
    image: u32,
    /// How many of the numbers of detections leave it out.
    level: u32,
    /// The size classes in which it is wrong at every threshold, a bit each.
    wrong: u32,
    /// Bits of curves: where it is right, and where it is wrong.
    details: (&'s [u64], &'s [u64]),
}

impl<'s> CocoWeights<'s> {
    /// Sorts the detections of states of a metric.
    #[must_use]
    pub fn new<S>(metric: &'s CocoAp<S>, states: &[&'s CocoState]) -> Self {
        let params = &metric.params;
        let areas = params.areas.len().max(1);
        let of_state = (0..)
            .zip(states)
            .flat_map(|(index, state): (u32, &&'s CocoState)| {
                state
                    .images
                    .iter()
                    .map(move |(key, image)| (key, image, index))
            });
        let mut images: Vec<(&Key, &ImageOutcome, u32)> = of_state.collect();
        images.sort();
        let mut classes: BTreeMap<u32, Rows<'s>> = BTreeMap::new();
        for (order, &(_, image, state)) in (0..).zip(&images) {
            let mut start = 0;
            let mut truths = image.truths.chunks(areas);
            for &(class, count) in &image.classes {
                let end = usize::saturating_add(start, count as usize);
                let rows = classes.entry(curve_class(class)).or_default();
                rows.truths
                    .extend(truths.next().map(|truths| (state, truths)));
                rows.add(params, image, start..end, [state, order]);
                start = end;
            }
        }
        let mut classes: Vec<Rows<'s>> = classes
            .into_iter()
            .map(|(class, rows)| Rows { class, ..rows })
            .collect();
        classes.iter_mut().for_each(Rows::sort);
        Self { params, classes }
    }

    /// Returns the curves in which each state counts as often as its weight says. Precision is only there for
    /// the greatest number of detections, unless the quirks of pycocotools are wanted.
    #[must_use]
    pub fn curves(&self, weights: &[u64]) -> CocoCurves {
        let curves = self
            .classes
            .iter()
            .filter_map(|rows| rows.curves(self.params, weights));
        CocoCurves {
            classes: curves.collect(),
            params: self.params.clone(),
        }
    }
}

impl<'s> Rows<'s> {
    /// Adds the detections of an image.
    fn add(
        &mut self,
        params: &CocoParams,
        outcome: &'s ImageOutcome,
        range: Range<usize>,
        [state, image]: [u32; 2],
    ) {
        let words = params.words();
        let scores = outcome.scores.get(range.clone()).unwrap_or_default();
        let verdicts = outcome.verdicts.get(range).unwrap_or_default();
        let mut level = 0;
        for (place, (&score, &verdict)) in scores.iter().zip(verdicts).enumerate() {
            let leaves_out = |level: u32| {
                let most = params.max_detections.get(level as usize);
                most.is_some_and(|&most| place >= most)
            };
            while leaves_out(level) {
                level += 1;
            }
            let mut row = Row {
                score,
                state,
                image,
                level,
                wrong: 0,
                details: (&[], &[]),
            };
            if verdict & DETAILED == 0 {
                row.wrong = verdict;
            } else {
                let start = usize::saturating_mul((verdict & !DETAILED) as usize, 2 * words);
                let rest = outcome.details.get(start..).unwrap_or_default();
                let details = rest.get(..2 * words).unwrap_or_default();
                row.details = details.split_at(details.len() / 2);
            }
            self.rows.push(row);
        }
    }

    /// Sorts by falling score; rows of equal score stay in their order.
    fn sort(&mut self) {
        self.rows.sort_by_key(|row| Reverse(row.score));
        let mut start = 0;
        let is_tie = |a: &Row<'_>, b: &Row<'_>| a.image == b.image && a.score == b.score;
        for tie in self.rows.chunk_by(is_tie) {
            if tie.len() > 1 {
                self.ties.push(start..start + tie.len());
            }
            start += tie.len();
        }
    }

    /// The curves of the class, if it has true objects.
    fn curves(&self, params: &CocoParams, weights: &[u64]) -> Option<OfClass> {
        let weight = |state: u32| weights.get(state as usize).copied().unwrap_or_default();
        let (areas, thresholds) = (params.areas.len(), params.iou_thresholds.len());
        let mut truths = vec![0_u64; areas];
        for (state, here) in &self.truths {
            let times = weight(*state);
            for (total, &here) in truths.iter_mut().zip(*here) {
                *total += u64::from(here) * times;
            }
        }
        if truths.iter().all(|&truths| truths == 0) {
            return None;
        }
        let levels = params.max_detections.len();
        let drawn = || self.rows.iter().filter(|row| weight(row.state) > 0);
        let first = drawn().map(|row| row.score).max().unwrap_or(Rank::new(0.0));
        let mut has_level = vec![false; levels];
        for row in drawn() {
            if let Some(has) = has_level.get_mut(row.level as usize) {
                *has = true;
            }
        }
        let needed: Vec<_> = truths
            .iter()
            .map(|&truths| needed(params, truths))
            .collect();
        let bits = params.words() * 64;
        let area_of: Vec<usize> = (0..bits).map(|curve| curve / thresholds).collect();
        let mut curves = OfClass {
            class: self.class,
            truths: truths.clone(),
            curves: Vec::with_capacity(levels * areas * thresholds),
            precision: Vec::new(),
            scores: Vec::new(),
        };
        let mut pass = Pass {
            right: vec![Vec::new(); bits],
            counts: vec![0; bits],
            wrong: vec![0; bits],
            others: vec![0; bits.div_ceil(thresholds.max(1))],
            area_of: &area_of,
            keeps_places: false,
        };
        for (most, has_level) in has_level.into_iter().enumerate() {
            if most > 0 && !has_level && (most + 1 < levels || params.quirks) {
                let last = curves.curves.len() - areas * thresholds;
                curves.curves.extend_from_within(last..);
                continue;
            }
            pass.start(most + 1 == levels || params.quirks);
            self.walk(&mut pass, most as u32, weight);
            for (curve, &area) in area_of.iter().take(areas * thresholds).enumerate() {
                if pass.keeps_places {
                    let score = |place: usize| self.rows[place].score;
                    curves.read(
                        truths[area],
                        &needed[area],
                        first,
                        &pass.right[curve],
                        score,
                    );
                    continue;
                }
                let recall = match truths[area] {
                    0 => 0.0,
                    truths => pass.counts[curve] as f64 / truths as f64,
                };
                let end = curves.precision.len();
                curves.curves.push((recall, end..end));
            }
        }
        Some(curves)
    }

    /// Goes over the detections that count for a number of detections, each as often as its image.
    fn walk(&self, pass: &mut Pass<'_>, most: u32, weight: impl Fn(u32) -> u64) {
        let mut ties = self.ties.iter().peekable();
        let mut place = 0;
        while let Some(row) = self.rows.get(place) {
            let times = weight(row.state);
            let tie = ties.next_if(|tie| tie.start == place);
            let end = tie.map_or(place + 1, |tie| tie.end);
            // Of a repeated image, the first copy comes before the second.
            let (rounds, times) = if tie.is_some() {
                (times, 1)
            } else {
                (1, times)
            };
            if times > 0 {
                for _ in 0..rounds {
                    for (place, row) in (place..end).zip(&self.rows[place..end]) {
                        if row.level <= most {
                            pass.add(row, place, times);
                        }
                    }
                }
            }
            place = end;
        }
    }
}

/// What was found so far, from the highest score down.
struct Pass<'p> {
    /// By curve, the detections that are right: their place, and how many before them are wrong.
    right: Vec<Vec<(usize, u64)>>,
    /// By curve, the number of them.
    counts: Vec<u64>,
    wrong: Vec<u64>,
    /// By size class, the detections that are wrong at every threshold.
    others: Vec<u64>,
    area_of: &'p [usize],
    keeps_places: bool,
}

impl Pass<'_> {
    fn start(&mut self, keeps_places: bool) {
        self.right.iter_mut().for_each(Vec::clear);
        for counts in [&mut self.counts, &mut self.wrong, &mut self.others] {
            counts.fill(0);
        }
        self.keeps_places = keeps_places;
    }

    fn add(&mut self, row: &Row<'_>, place: usize, times: u64) {
        let (is_right, is_wrong) = row.details;
        for curve in ones(is_right) {
            self.counts[curve] += times;
            if self.keeps_places {
                let false_ones = self.wrong[curve] + self.others[self.area_of[curve]];
                let copies = std::iter::repeat_n((place, false_ones), times as usize);
                self.right[curve].extend(copies);
            }
        }
        for curve in ones(is_wrong) {
            self.wrong[curve] += times;
        }
        let mut areas = row.wrong;
        while areas != 0 {
            if let Some(count) = self.others.get_mut(areas.trailing_zeros() as usize) {
                *count += times;
            }
            areas &= areas - 1;
        }
    }
}
