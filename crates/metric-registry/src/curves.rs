//! Curves of precision and recall as details.

use metric_core::Counts;
use serde_json::{Value, json};

/// The most points of a curve in compact details.
const COMPACT: usize = 200;

/// The points of a curve as data: a point per distinct score, by falling score. Compact curves have at most
/// [`COMPACT`] of them, the first one, the last one and that of the best F1 among them.
pub(crate) fn points(
    points: impl ExactSizeIterator<Item = (f64, Counts)>,
    is_compact: bool,
) -> Vec<Value> {
    let point = |(score, counts): (f64, Counts)| {
        json!({
            "score": score,
            "precision": counts.precision(),
            "recall": counts.recall(),
            "f1": counts.f1(),
            "tp": counts.true_positives,
            "fp": counts.false_positives,
            "fn": counts.false_negatives,
        })
    };
    let count = points.len();
    if !is_compact || count <= COMPACT {
        return points.map(point).collect();
    }
    let points: Vec<(f64, Counts)> = points.collect();
    let f1 = |index: usize| points[index].1.f1().unwrap_or(0.0);
    let better = |best, index| if f1(index) > f1(best) { index } else { best };
    let best = (1..count).fold(0, better);
    let steps = COMPACT - 2;
    let mut kept: Vec<usize> = (0..=steps).map(|step| step * (count - 1) / steps).collect();
    kept.push(best);
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|index| point(points[index])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_curves_keep_their_ends_and_the_best_point() {
        // F1 is best at the 1,234th point.
        let at = |index: u64| {
            let right = index.min(1_234);
            (
                1.0 - index as f64 / 1e4,
                Counts::from_totals(right, index, 1_234),
            )
        };
        let all: Vec<(f64, Counts)> = (1..=5_000).map(at).collect();
        let whole = points(all.iter().copied(), false);
        assert_eq!(whole.len(), 5_000);
        let compact = points(all.iter().copied(), true);
        assert!(compact.len() <= COMPACT, "{}", compact.len());
        assert_eq!((&compact[0], compact.last()), (&whole[0], whole.last()));
        assert!(compact.contains(&whole[1_233]));
        assert_eq!(points(all[..200].iter().copied(), true), whole[..200]);
    }
}
