use crate::region::bounds;

/// A box at any angle, as Ultralytics compares them: the rectangle of smallest area around four corners, in pixels.
///
/// ```
/// use metric_vision::OrientedBox;
///
/// let at = |x: f64| OrientedBox::around([[x, 0.0], [x + 100.0, 0.0], [x + 100.0, 50.0], [x, 50.0]]);
/// // Not 1 for equal boxes, and 0.759 where the IoU is 2/3.
/// assert!((at(0.0).probabilistic_iou(&at(0.0)) - 0.99955).abs() < 1e-5);
/// assert!((at(0.0).probabilistic_iou(&at(20.0)) - 0.759).abs() < 1e-3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrientedBox {
    corners: [[f64; 2]; 4],
    center: [f64; 2],
    size: [f64; 2],
    /// Cosine and sine of the angle of the first side.
    direction: [f64; 2],
}

/// What keeps the denominators of the similarity from 0.
const EPSILON: f64 = 1e-7;

/// Of two rectangles of equal area up to rounding, the first one is taken.
const ROUNDING: f64 = 1e-12;

impl OrientedBox {
    /// Returns the rectangle of smallest area around four finite corners.
    #[must_use]
    pub fn around(corners: [[f64; 2]; 4]) -> Self {
        // A side of the rectangle lies on a side of the convex hull. The diagonals are sides of the hull where the
        // corners are not in their order.
        const SIDES: [[usize; 2]; 6] = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]];
        let mut best = Self::along(corners, [1.0, 0.0]);
        let mut found = false;
        for [from, to] in SIDES {
            let [dx, dy] = [0, 1].map(|axis| corners[to][axis] - corners[from][axis]);
            let length = dx.hypot(dy);
            if !(length > 0.0 && length.is_finite()) {
                continue;
            }
            let other = Self::along(corners, [dx / length, dy / length]);
            if !found || other.area() < best.area() * (1.0 - ROUNDING) {
                (best, found) = (other, true);
            }
        }
        best
    }

    /// The rectangle around the corners whose first side has this direction.
    fn along(corners: [[f64; 2]; 4], direction: [f64; 2]) -> Self {
        let [cos, sin] = direction;
        let turned = corners.map(|[x, y]| [x * cos + y * sin, y * cos - x * sin]);
        let [left, top, right, bottom] = bounds(&turned);
        let [u, v] = [f64::midpoint(left, right), f64::midpoint(top, bottom)];
        Self {
            corners,
            center: [u * cos - v * sin, u * sin + v * cos],
            size: [right - left, bottom - top],
            direction,
        }
    }

    /// Returns the corners that it was made from.
    #[must_use]
    pub fn corners(&self) -> [[f64; 2]; 4] {
        self.corners
    }

    /// Returns the area, in square pixels.
    #[must_use]
    pub fn area(&self) -> f64 {
        self.size[0] * self.size[1]
    }

    /// Left, top, right and bottom of the corners.
    pub(crate) fn bounds(&self) -> [f64; 4] {
        bounds(&self.corners)
    }

    /// The variances along both axes, and the covariance, of points that are spread evenly over the box.
    fn covariance(&self) -> [f64; 3] {
        let [a, b] = self.size.map(|side| side * side / 12.0);
        let [cos, sin] = self.direction;
        [
            a * cos * cos + b * sin * sin,
            a * sin * sin + b * cos * cos,
            (a - b) * cos * sin,
        ]
    }

    /// Returns the similarity that Ultralytics uses in place of IoU: one minus the Hellinger distance of two normal
    /// distributions, in \[0, 1). It is higher than IoU, and has no meaning in fractions of an image.
    ///
    /// Source: Llerena et al., *Gaussian Bounding Boxes and Probabilistic Intersection-over-Union for Object
    /// Detection* (2021), with the constants of the program. The result is 0 where it would be no number.
    #[must_use]
    pub fn probabilistic_iou(&self, other: &Self) -> f64 {
        let ([a1, b1, c1], [a2, b2, c2]) = (self.covariance(), other.covariance());
        let (a, b, c) = (a1 + a2, b1 + b2, c1 + c2);
        let determinant = a * b - c * c;
        let [dx, dy] = [0, 1].map(|axis| self.center[axis] - other.center[axis]);
        let along = (a * dy * dy + b * dx * dx) / (determinant + EPSILON) / 4.0;
        let across = c * -dx * dy / (determinant + EPSILON) / 2.0;
        let own = |a: f64, b: f64, c: f64| f64::max(a * b - c * c, 0.0);
        let spread = 4.0 * (own(a1, b1, c1) * own(a2, b2, c2)).sqrt() + EPSILON;
        let shape = (determinant / spread + EPSILON).ln() / 2.0;
        let distance = (along + across + shape).clamp(EPSILON, 100.0);
        let similarity = 1.0 - (1.0 - (-distance).exp() + EPSILON).sqrt();
        if similarity.is_nan() { 0.0 } else { similarity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upright(x: f64, y: f64, width: f64, height: f64) -> OrientedBox {
        OrientedBox::around([
            [x, y],
            [x + width, y],
            [x + width, y + height],
            [x, y + height],
        ])
    }

    /// The examples of the definition: 100 x 50 boxes that are shifted, halved and turned.
    #[test]
    fn similarities_by_hand() {
        let whole = upright(0.0, 0.0, 100.0, 50.0);
        let square = upright(0.0, 0.0, 100.0, 100.0);
        let side = 50.0 * 2.0_f64.sqrt();
        let turned = OrientedBox::around([
            [50.0, 50.0 - side],
            [50.0 + side, 50.0],
            [50.0, 50.0 + side],
            [50.0 - side, 50.0],
        ]);
        for (a, b, expected) in [
            (whole, whole, 0.99955),
            (whole, upright(20.0, 0.0, 100.0, 50.0), 0.759),
            (whole, upright(100.0 / 3.0, 0.0, 100.0, 50.0), 0.608),
            (whole, upright(25.0, 0.0, 50.0, 50.0), 0.675),
            (square, turned, 0.99955),
        ] {
            let found = a.probabilistic_iou(&b);
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
            assert!((found - b.probabilistic_iou(&a)).abs() < 1e-12);
        }
    }

    #[test]
    fn the_smallest_rectangle() {
        // A square on its corner, with its corners out of order.
        let turned = OrientedBox::around([[0.0, 1.0], [2.0, 1.0], [1.0, 0.0], [1.0, 2.0]]);
        assert!((turned.area() - 2.0).abs() < 1e-12);
        // All corners are one.
        let point = OrientedBox::around([[3.0, 4.0]; 4]);
        assert_eq!((point.area(), point.center), (0.0, [3.0, 4.0]));
        assert!(point.probabilistic_iou(&turned).is_finite());
    }
}
