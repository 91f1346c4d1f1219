use std::fmt;
use std::sync::Arc;

use crate::numpy::pairwise_sum;
use crate::{BBox, Shape};

/// The points of a person or another object, such as its joints, compared by object keypoint
/// similarity (OKS) in place of IoU.
///
/// A point at the distance `d` from where it should be counts `exp(-d² / (2 a k²))`, where `a` is the area of the
/// true object and `k` is twice the [`sigma`](Sigmas) of the point. The similarity is the mean over the points that
/// the ground truth labels. Where it labels none, all points count by their distance to a box of three times the
/// width and height of the object's own, around the same center.
///
/// The similarity is not symmetric: [`iou`](Shape::iou) and [`iou_crowd`](Shape::iou_crowd) are called on a detection,
/// with a true object.
///
/// ```
/// use metric_vision::{BBox, Keypoints, Shape, Sigmas};
///
/// // Of two points that may be off by much, one is at its place, and the other is not labeled.
/// let sigmas = Sigmas::new(vec![0.5, 0.5])?;
/// let object = BBox::from_xywh(0.0, 0.0, 10.0, 10.0)?;
/// let truth = Keypoints::truth(vec![[1.0, 1.0], [0.0, 0.0]], vec![true, false], Some(object), 100.0, &sigmas);
/// let found = |x| Keypoints::detection(vec![[x, 1.0], [9.0, 9.0]]);
/// assert_eq!(found(1.0).iou(&truth), 1.0);
/// // k = 1, so 10 pixels are exp(-100 / 200).
/// assert!((found(11.0).iou(&truth) - (-0.5_f64).exp()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Source: `COCOeval.computeOks` of pycocotools 2.0.11, whose rounding is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Keypoints {
    points: Box<[[f64; 2]]>,
    /// The fields that only true objects have.
    truth: Option<Truth>,
}

#[derive(Clone, Debug, PartialEq)]
struct Truth {
    /// By point whether it is labeled; empty if none is.
    labeled: Box<[bool]>,
    bbox: Option<BBox>,
    area: f64,
    variances: Sigmas,
}

impl Keypoints {
    /// Returns the points of a true object, with its area, and with its box, which is used if no point is labeled.
    /// Points that are not `labeled` do not count. If it has neither labeled points nor a box, its similarity to
    /// every detection is 0.
    ///
    /// Points without a sigma, and labels without a point, do not count.
    #[must_use]
    pub fn truth(
        points: Vec<[f64; 2]>,
        labeled: Vec<bool>,
        bbox: Option<BBox>,
        area: f64,
        sigmas: &Sigmas,
    ) -> Self {
        let labeled = if labeled.contains(&true) {
            labeled
        } else {
            Vec::new()
        };
        Self {
            points: points.into(),
            truth: Some(Truth {
                labeled: labeled.into(),
                bbox,
                area,
                variances: sigmas.clone(),
            }),
        }
    }

    /// Returns the points that a detector found.
    #[must_use]
    pub fn detection(points: Vec<[f64; 2]>) -> Self {
        Self {
            points: points.into(),
            truth: None,
        }
    }

    /// Returns the number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The box of a true object, or the extent of the points.
    #[cfg(feature = "read")]
    pub(crate) fn bbox(&self) -> BBox {
        let own = self.truth.as_ref().and_then(|truth| truth.bbox);
        own.unwrap_or_else(|| BBox::around(self.extent()))
    }

    /// The same points of a true object with another area, and without a box.
    #[cfg(feature = "read")]
    pub(crate) fn with_area(mut self, area: f64) -> Self {
        if let Some(truth) = &mut self.truth {
            (truth.area, truth.bbox) = (area, None);
        }
        self
    }

    /// Left, top, right and bottom of the points.
    pub(crate) fn extent(&self) -> [f64; 4] {
        crate::region::bounds(&self.points)
    }

    /// The similarity of a detection to a true object.
    fn similarity(&self, to: &Self) -> f64 {
        let Some(truth) = &to.truth else {
            return 0.0;
        };
        if truth.labeled.is_empty() && truth.bbox.is_none() {
            return 0.0;
        }
        let [left, top, width, height] = truth.bbox.map_or([0.0; 4], |bbox| bbox.xywh());
        let outside =
            |at: f64, low: f64, high: f64| f64::max(0.0, low - at) + f64::max(0.0, at - high);
        let mut terms = Vec::with_capacity(self.points.len());
        let points = self.points.iter().zip(&to.points).zip(&*truth.variances.0);
        for (index, ((found, real), variance)) in points.enumerate() {
            let [dx, dy] = match truth.labeled.get(index) {
                Some(true) => [found[0] - real[0], found[1] - real[1]],
                Some(false) => continue,
                None => [
                    outside(found[0], left - width, left + width * 2.0),
                    outside(found[1], top - height, top + height * 2.0),
                ],
            };
            // The program adds numpy's smallest step from 1 lest it divide by 0.
            let error = (dx * dx + dy * dy) / variance / (truth.area + f64::EPSILON) / 2.0;
            terms.push((-error).exp());
        }
        let mean = pairwise_sum(&terms) / terms.len() as f64;
        if mean.is_nan() { 0.0 } else { mean }
    }
}

impl Shape for Keypoints {
    /// The area that a true object was built with; for a detection, that of the box around its points.
    fn area(&self) -> f64 {
        let [left, top, right, bottom] = self.extent();
        match &self.truth {
            Some(truth) => truth.area,
            None if self.is_empty() => 0.0,
            None => (right - left) * (bottom - top),
        }
    }

    /// The whole plane: no distance makes the similarity 0.
    fn bounds(&self) -> [f64; 4] {
        [
            f64::NEG_INFINITY,
            f64::NEG_INFINITY,
            f64::INFINITY,
            f64::INFINITY,
        ]
    }

    fn iou(&self, other: &Self) -> f64 {
        self.similarity(other)
    }

    fn iou_crowd(&self, crowd: &Self) -> f64 {
        self.similarity(crowd)
    }
}

/// The tolerance of each keypoint: the standard deviation of the positions where people place it, relative to the
/// square root of the object's area.
///
/// The default is COCO's for the 17 points of a person, from the nose to the right ankle.
#[derive(Clone, Debug, PartialEq)]
pub struct Sigmas(
    /// `(2 sigma)²`, which is what is computed with.
    Arc<[f64]>,
);

const COCO_SIGMAS: [f64; 17] = [
    0.26, 0.25, 0.25, 0.35, 0.35, 0.79, 0.79, 0.72, 0.72, 0.62, 0.62, 1.07, 1.07, 0.87, 0.87, 0.89,
    0.89,
];

impl Default for Sigmas {
    fn default() -> Self {
        Self(COCO_SIGMAS.map(|sigma| variance(sigma / 10.0)).into())
    }
}

fn variance(sigma: f64) -> f64 {
    (sigma * 2.0) * (sigma * 2.0)
}

impl Sigmas {
    /// Returns the sigmas of an object's keypoints, in their order.
    ///
    /// # Errors
    ///
    /// Returns an error if there are none, or one is not a positive number whose square is one too.
    pub fn new(sigmas: Vec<f64>) -> Result<Self, InvalidSigmas> {
        if sigmas.is_empty() {
            return Err(InvalidSigmas(None));
        }
        let fits = |sigma: f64| sigma > 0.0 && variance(sigma).is_normal();
        match sigmas.iter().find(|&&sigma| !fits(sigma)) {
            Some(&sigma) => Err(InvalidSigmas(Some(sigma))),
            None => Ok(Self(sigmas.into_iter().map(variance).collect())),
        }
    }

    /// Returns the number of keypoints.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// The error for sigmas that are not positive numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct InvalidSigmas(
    /// The number that is wrong; `None` if there is no number.
    pub Option<f64>,
);

impl fmt::Display for InvalidSigmas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(sigma) => write!(f, "the sigma is {sigma}: expected a positive number"),
            None => f.write_str("no sigmas: expected one for each keypoint"),
        }
    }
}

impl std::error::Error for InvalidSigmas {}

#[cfg(test)]
mod tests {
    use super::*;

    fn bbox() -> BBox {
        BBox::from_xywh(10.0, 10.0, 10.0, 20.0).expect("a box")
    }

    #[test]
    fn similarities() {
        let sigmas = Sigmas::new(vec![0.5; 3]).expect("sigmas");
        let truth = |labeled: [bool; 3]| {
            let points = vec![[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]];
            Keypoints::truth(points, labeled.to_vec(), Some(bbox()), 50.0, &sigmas)
        };
        let e = |squared: f64| (-squared / 1.0 / (50.0 + f64::EPSILON) / 2.0).exp();
        for (points, labeled, expected) in [
            ([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], [true; 3], 1.0),
            (
                [[3.0, 4.0], [10.0, 0.0], [0.0, 10.0]],
                [true; 3],
                (e(25.0) + 2.0) / 3.0,
            ),
            // Only labeled points count.
            (
                [[3.0, 4.0], [99.0, 0.0], [0.0, 99.0]],
                [true, false, false],
                e(25.0),
            ),
            // Without labels, the box from (0, -10) to (30, 50) counts.
            ([[0.0, -10.0], [30.0, 50.0], [15.0, 15.0]], [false; 3], 1.0),
            (
                [[-1.0, 0.0], [32.0, 54.0], [15.0, -10.0]],
                [false; 3],
                (e(1.0) + e(20.0) + 1.0) / 3.0,
            ),
        ] {
            let found = Keypoints::detection(points.to_vec());
            assert_eq!(found.iou(&truth(labeled)), expected, "{points:?}");
            assert_eq!(found.iou_crowd(&truth(labeled)), expected, "{points:?}");
            assert_eq!(
                truth(labeled).iou(&found),
                0.0,
                "only true objects have an area"
            );
        }
    }

    #[test]
    fn areas() {
        let found = Keypoints::detection(vec![[1.0, 2.0], [4.0, 6.0], [2.0, 3.0]]);
        assert_eq!(found.area(), 12.0);
        assert_eq!(Keypoints::detection(Vec::new()).area(), 0.0);
        let truth = Keypoints::truth(
            Vec::new(),
            Vec::new(),
            Some(bbox()),
            7.0,
            &Sigmas::default(),
        );
        assert_eq!(truth.area(), 7.0);
        assert_eq!(Keypoints::detection(Vec::new()).iou(&truth), 0.0);
    }

    #[test]
    fn sigmas_that_are_refused() {
        for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
            let error = Sigmas::new(vec![0.5, sigma]).expect_err("refused");
            assert!(error.to_string().contains("expected a positive number"));
        }
        assert_eq!(Sigmas::new(Vec::new()), Err(InvalidSigmas(None)));
        assert_eq!(Sigmas::default().count(), 17);
    }
}
