//! The matching of the predictions of a frame with true lanes and traffic elements.

use super::frame::{Detected, Frame, FramePrediction, TrafficElement};
use crate::Polyline;
use crate::distance::{Chamfer, chamfer_of_points, lesser, squared_frechet, squared_gap_of_ends};
use crate::limit::{Compared, TooLarge};
use crate::polyline::squared_distance;

/// The distance in meters below which a predicted lane matches a true one; an equal distance does not match.
pub const LANE_THRESHOLDS: [f64; 3] = [1.0, 2.0, 3.0];

/// The `1 - IoU` below which a traffic element matches; an equal value does not match.
pub const ELEMENT_THRESHOLD: f64 = 0.75;

/// The true item that each prediction of a frame is matched with, in the order of the predictions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Lanes, under each of [`LANE_THRESHOLDS`].
    pub lanes: [Vec<Option<usize>>; 3],
    /// Traffic elements, whatever their attributes: what `TOP_lt` is built on.
    pub elements: Vec<Option<usize>>,
    /// Traffic elements among those of the same attribute: what `DET_t` is built on.
    pub elements_by_attribute: Vec<Option<usize>>,
}

/// Matches a frame.
///
/// The predictions choose in the order of their confidence, equal ones in their order: each takes
/// the true item nearest to it (the first of equally near ones), and is a false positive if that
/// one is too far or taken. It does not fall back to the second nearest.
///
/// Costs the distances of few pairs: most lanes are told apart by their ends.
#[must_use]
pub fn match_frame(prediction: &FramePrediction, frame: &Frame) -> Matches {
    let nearest = nearest_lanes(&prediction.lanes, &frame.lanes);
    let by_confidence = by_confidence(&prediction.lanes);
    let lanes = LANE_THRESHOLDS
        .map(|threshold| greedy(&by_confidence, &nearest, threshold, frame.lanes.len()));

    let by_confidence = self::by_confidence(&prediction.elements);
    let [elements, elements_by_attribute] = [false, true].map(|own| {
        let nearest = nearest_elements(&prediction.elements, &frame.elements, own);
        greedy(
            &by_confidence,
            &nearest,
            ELEMENT_THRESHOLD,
            frame.elements.len(),
        )
    });
    Matches {
        lanes,
        elements,
        elements_by_attribute,
    }
}

/// Returns the distance of a predicted lane from a true one, as in OpenLane-V2: the discrete
/// Fréchet distance in meters, less for lanes far away, whose sight is poorer, by
/// `max(0.5, 1 - 0.005 r)` for a true lane that comes within `r` meters of the ego vehicle.
///
/// `None` at or above 3 m, where nothing is matched. The devkit also requires the [`chamfer`] distance, with the same
/// factor, to be less than 3 m; this adds nothing, as a mean of least distances is never the greater of the two.
///
/// ```
/// use metric_graph::Polyline;
/// use metric_graph::openlane::lane_distance;
///
/// // 60 m away 1.4 m count as 1.4 · 0.7.
/// let truth = Polyline::new(vec![[60.0, 0.0, 0.0], [80.0, 0.0, 0.0]])?;
/// let prediction = Polyline::new(vec![[60.0, 1.5, 0.0], [80.0, 1.5, 0.0]])?;
/// assert_eq!(lane_distance(&prediction, &truth), Some(1.5 * 0.7));
/// assert_eq!(lane_distance(&prediction.reversed(), &truth), None);
/// # Ok::<(), metric_graph::InvalidPolyline>(())
/// ```
#[must_use]
pub fn lane_distance(prediction: &Polyline<3>, truth: &Polyline<3>) -> Option<f64> {
    distance_below(prediction, truth, relaxation(truth), FARTHEST)
}

/// Returns the Chamfer distance of OpenLane-V2: half the sum of both directions, without the
/// repeated last point of a closed true lane.
///
/// A lane of one point is not closed here; the devkit drops that point and fails.
#[must_use]
pub fn chamfer<const D: usize>(prediction: &Polyline<D>, truth: &Polyline<D>) -> f64 {
    let points = truth.points();
    let open = if truth.is_closed() {
        &points[..points.len() - 1]
    } else {
        points
    };
    chamfer_of_points(open, prediction.points(), Chamfer::HalfSum)
}

/// No pair this far apart or farther is matched.
const FARTHEST: f64 = LANE_THRESHOLDS[2];

fn relaxation(truth: &Polyline<3>) -> f64 {
    let squares = truth
        .points()
        .iter()
        .map(|point| squared_distance(point, &[0.0; 3]));
    let range = squares.fold(f64::INFINITY, lesser).sqrt();
    (1.0 - 5e-3 * range).max(0.5)
}

/// The distance if it is less than `limit`, which is at most [`FARTHEST`].
#[inline]
fn distance_below(
    prediction: &Polyline<3>,
    truth: &Polyline<3>,
    relaxation: f64,
    limit: f64,
) -> Option<f64> {
    let (points, true_points) = (prediction.points(), truth.points());
    // A little above the exact limit; the comparison that counts is the last one.
    let farthest = limit / relaxation;
    let square = farthest * farthest * (1.0 + 1e-12);
    if squared_gap_of_ends(points, true_points) > square {
        return None;
    }
    let distance = squared_frechet(points, true_points, square)?.sqrt() * relaxation;
    (distance < limit).then_some(distance)
}

/// Returns an error for a frame whose lanes have too many points, so that the distances would take more than about 10
/// seconds.
///
/// Scores have no limit of their own. A program that reads untrusted data calls this first.
///
/// # Errors
///
/// Returns an error if all predicted lanes and all true lanes have more than 2^33 pairs of points.
pub fn check_size(prediction: &FramePrediction, truth: &Frame) -> Result<(), TooLarge> {
    let points = |lane: &Polyline<3>| lane.points().len();
    let predicted = prediction
        .lanes()
        .iter()
        .map(|lane| points(&lane.item))
        .sum();
    let reference = truth.lanes().iter().map(points).sum();
    if (predicted as u64).saturating_mul(reference as u64) <= Compared::Points.most_pairs() {
        return Ok(());
    }
    Err(TooLarge {
        prediction: predicted,
        reference,
        compared: Compared::Points,
    })
}

type Nearest = Option<(usize, f64)>;

fn nearest_lanes(predictions: &[Detected<Polyline<3>>], truths: &[Polyline<3>]) -> Vec<Nearest> {
    let relaxations: Vec<f64> = truths.iter().map(relaxation).collect();
    let nearest = |prediction: &Detected<Polyline<3>>| {
        let mut nearest: Nearest = None;
        for (index, (truth, &relaxation)) in truths.iter().zip(&relaxations).enumerate() {
            let limit = nearest.map_or(FARTHEST, |(_, distance)| distance);
            if let Some(distance) = distance_below(&prediction.item, truth, relaxation, limit) {
                nearest = Some((index, distance));
            }
        }
        nearest
    };
    predictions.iter().map(nearest).collect()
}

/// With `own`, among the true elements of the same attribute.
fn nearest_elements(
    predictions: &[Detected<TrafficElement>],
    truths: &[TrafficElement],
    own: bool,
) -> Vec<Nearest> {
    let nearest = |prediction: &Detected<TrafficElement>| {
        let mut nearest: Nearest = None;
        for (index, truth) in truths.iter().enumerate() {
            if own && truth.attribute() != prediction.item.attribute() {
                continue;
            }
            let distance = truth.distance(&prediction.item);
            if nearest.is_none_or(|(_, least)| distance < least) {
                nearest = Some((index, distance));
            }
        }
        nearest
    };
    predictions.iter().map(nearest).collect()
}

/// The positions of the predictions by falling confidence.
fn by_confidence<T>(predictions: &[Detected<T>]) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..predictions.len()).collect();
    indices.sort_by(|&a, &b| super::falling(predictions[a].confidence, predictions[b].confidence));
    indices
}

fn greedy(
    by_confidence: &[usize],
    nearest: &[Nearest],
    threshold: f64,
    truths: usize,
) -> Vec<Option<usize>> {
    let mut taken = vec![false; truths];
    let mut matches = vec![None; nearest.len()];
    for &index in by_confidence {
        if let Some((truth, distance)) = nearest[index]
            && distance < threshold
            && !std::mem::replace(&mut taken[truth], true)
        {
            matches[index] = Some(truth);
        }
    }
    matches
}
