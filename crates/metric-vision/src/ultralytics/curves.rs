//! Precision, recall and average precision along the ranking of a class.

use super::matching::THRESHOLDS;

/// The number of recalls at which the curve is read.
const RECALLS: usize = 101;

/// The number of confidences at which P and R are read.
pub(crate) const CONFIDENCES: usize = 1_000;

/// The confidence at an index.
pub(crate) fn confidence_at(index: usize) -> f64 {
    index as f64 / (CONFIDENCES - 1) as f64
}

/// The number of confidences whose mean F1 is averaged around each.
const SMOOTHED: usize = 101;

/// A detection in the ranking of its class, with the number of times that it counts.
pub(crate) struct Ranked {
    pub(crate) confidence: f64,
    /// One bit for each threshold.
    pub(crate) correct: u16,
    pub(crate) times: u64,
}

/// What is read off the ranking of a class.
pub(crate) struct ClassCurve {
    /// At each threshold.
    pub(crate) average_precision: [f64; THRESHOLDS.len()],
    /// At each confidence, at the first threshold.
    pub(crate) precision: Vec<f64>,
    pub(crate) recall: Vec<f64>,
}

impl ClassCurve {
    /// The curve of a class with this number of objects, which is not 0.
    pub(crate) fn new(truths: u64, ranking: &[Ranked], drops: bool) -> Self {
        let mut average_precision = [0.0; THRESHOLDS.len()];
        if ranking.is_empty() {
            let nothing = || vec![0.0; CONFIDENCES];
            return Self {
                average_precision,
                precision: nothing(),
                recall: nothing(),
            };
        }
        for (bit, value) in average_precision.iter_mut().enumerate() {
            *value = area(truths, ranking, bit, drops);
        }
        let [precision, recall] = by_confidence(truths, ranking);
        Self {
            average_precision,
            precision,
            recall,
        }
    }

    /// F1 at each confidence.
    pub(crate) fn f1(&self) -> Vec<f64> {
        let both = self.precision.iter().zip(&self.recall);
        both.map(|(p, r)| 2.0 * p * r / (p + r + 1e-16)).collect()
    }
}

/// The average precision at the threshold of a bit.
fn area(truths: u64, ranking: &[Ranked], bit: usize, drops: bool) -> f64 {
    let (mut right, mut all) = (0, 0);
    // The recall and the precision after each detection. Copies of one lie below the line to the last of them.
    let mut points = vec![[0.0, 1.0]];
    for ranked in ranking {
        all += ranked.times;
        if ranked.correct >> bit & 1 == 1 {
            right += ranked.times;
        }
        points.push([right as f64 / truths as f64, right as f64 / all as f64]);
    }
    let [last, _] = points[points.len() - 1];
    if drops {
        points.push([last, 0.0]);
    }
    points.push([1.0, 0.0]);
    let mut greatest = 0.0_f64;
    for [_, precision] in points.iter_mut().rev() {
        greatest = greatest.max(*precision);
        *precision = greatest;
    }
    // As numpy's linspace has them.
    let recall = |index: usize| match index {
        100 => 1.0,
        index => index as f64 * 0.01,
    };
    let values = interpolated(&points, (0..RECALLS).map(recall), 0.0);
    let intervals = (1..RECALLS).map(|end| {
        let width = recall(end) - recall(end - 1);
        width * (values[end] + values[end - 1]) / 2.0
    });
    intervals.sum()
}

/// Precision and recall at each confidence.
fn by_confidence(truths: u64, ranking: &[Ranked]) -> [Vec<f64>; 2] {
    let (mut right, mut all) = (0, 0);
    let mut points: [Vec<[f64; 2]>; 2] = Default::default();
    for ranked in ranking {
        let mut add = |times: u64| {
            all += times;
            right += times * u64::from(ranked.correct & 1);
            let [precisions, recalls] = &mut points;
            // Confidences fall, so that their negative ones rise.
            precisions.push([-ranked.confidence, right as f64 / all as f64]);
            recalls.push([-ranked.confidence, right as f64 / truths as f64]);
        };
        // The line to a confidence leads to the first copy, and the line from there begins at the last.
        add(1);
        if ranked.times > 1 {
            add(ranked.times - 1);
        }
    }
    let [precisions, recalls] = points;
    let at = |above: f64, points: &[[f64; 2]]| {
        // From the highest to the lowest, as the points are.
        let falling = (0..CONFIDENCES).rev().map(|index| -confidence_at(index));
        let mut values = interpolated(points, falling, above);
        values.reverse();
        values
    };
    [at(1.0, &precisions), at(0.0, &recalls)]
}

/// The values at positions that rise, on lines between points that rise. At a position of several points it is that of
/// the last. Before the first point the value is `before`, and after the last one the last.
fn interpolated(
    points: &[[f64; 2]],
    positions: impl Iterator<Item = f64>,
    before: f64,
) -> Vec<f64> {
    let mut reached = 0;
    let value = |position: f64| {
        while points
            .get(reached)
            .is_some_and(|point| point[0] <= position)
        {
            reached += 1;
        }
        let Some(&[from, value]) = reached.checked_sub(1).map(|last| &points[last]) else {
            return before;
        };
        points.get(reached).map_or(value, |&[to, next]| {
            (next - value) / (to - from) * (position - from) + value
        })
    };
    positions.map(value).collect()
}

/// The index of the first greatest of values that are averaged with their neighbors. Those beyond the ends are the
/// ends.
pub(crate) fn best(values: &[f64]) -> usize {
    let half = SMOOTHED / 2;
    let weight = 1.0 / SMOOTHED as f64;
    let Some((first, last)) = values.first().zip(values.last()) else {
        return 0;
    };
    let before = std::iter::repeat_n(*first, half);
    let after = std::iter::repeat_n(*last, half);
    let padded: Vec<f64> = before.chain(values.iter().copied()).chain(after).collect();
    let smoothed = padded
        .windows(SMOOTHED)
        .map(|window| window.iter().map(|value| value * weight).sum::<f64>());
    let indexed = smoothed.enumerate();
    let best = indexed.reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Detections of falling confidence, right or wrong at all thresholds.
    fn ranking(right: &[bool]) -> Vec<Ranked> {
        let confidences = [0.9, 0.6, 0.3, 0.1];
        let ranked = right.iter().zip(confidences);
        let ranked = ranked.map(|(right, confidence)| Ranked {
            confidence,
            correct: if *right { 0b11_1111_1111 } else { 0 },
            times: 1,
        });
        ranked.collect()
    }

    #[test]
    fn average_precisions_by_hand() {
        for (truths, right, drops, expected) in [
            // 99 intervals of 0.01, and one that ends at 0.
            (2, &[true, true][..], true, 0.995),
            (2, &[true, true], false, 0.995),
            (2, &[true], true, 0.495),
            // A rectangle and a triangle.
            (2, &[true], false, 0.75),
            (4, &[true], true, 0.245),
            (4, &[true], false, 0.625),
            (3, &[true, true, false, true], true, 0.9125),
            (2, &[true, false, false, true], true, 0.745),
            (2, &[false, true, true], true, 2.0 / 3.0 * 0.995),
            (2, &[false], true, 0.0),
            (2, &[], true, 0.0),
        ] {
            let curve = ClassCurve::new(truths, &ranking(right), drops);
            let found = curve.average_precision[0];
            assert!(
                (found - expected).abs() < 1e-12,
                "{right:?} {found} {expected}"
            );
        }
    }

    /// Right at 0.9 and 0.6, wrong at 0.3: P is on the line between 1 at 0.6 and 2/3 at 0.3.
    #[test]
    fn precision_at_the_best_confidence_by_hand() {
        let curve = ClassCurve::new(2, &ranking(&[true, true, false]), true);
        let index = best(&curve.f1());
        assert_eq!(index, 589);
        assert_eq!(curve.recall[index], 1.0);
        let expected = 2.0 / 3.0 + (589.0 / 999.0 - 0.3) / 0.3 / 3.0;
        assert!((curve.precision[index] - expected).abs() < 1e-12);
        // Above the highest confidence nothing is found.
        assert_eq!((curve.precision[999], curve.recall[999]), (1.0, 0.0));
        assert_eq!((curve.precision[0], curve.recall[0]), (2.0 / 3.0, 1.0));
    }

    /// A detection that counts twice gives what two equal detections give.
    #[test]
    fn copies_of_a_detection() {
        for right in [
            [true, false, true],
            [false, true, false],
            [true, true, false],
        ] {
            let mut weighted = ranking(&right);
            weighted[1].times = 2;
            let mut copied = ranking(&right);
            copied.insert(
                1,
                Ranked {
                    times: 1,
                    ..weighted[1]
                },
            );
            let [weighted, copied] =
                [weighted, copied].map(|ranking| ClassCurve::new(4, &ranking, true));
            for (a, b) in weighted.precision.iter().zip(&copied.precision) {
                assert!((a - b).abs() < 1e-12);
            }
            assert_eq!(weighted.recall, copied.recall);
            for (a, b) in weighted
                .average_precision
                .iter()
                .zip(&copied.average_precision)
            {
                assert!((a - b).abs() < 1e-12);
            }
        }
    }
}
