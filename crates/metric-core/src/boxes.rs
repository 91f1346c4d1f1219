//! Intersection over union of axis-aligned boxes, in COCO's arithmetic.
//!
//! On plain arrays, because two domains share it: detections, and the traffic elements of lane
//! graphs. Nothing is validated here; `metric-vision` has the validated box type.

/// Returns the IoU of two boxes `[x, y, width, height]`.
///
/// In \[0, 1\] for finite boxes of non-negative size, except for the rounding of `x + width`:
/// nearly equal boxes can come out a little above 1, as they do in the reference.
///
/// With `iw` and `ih` the width and height of the overlap, IoU is
/// `iw·ih / (w₁·h₁ + w₂·h₂ − iw·ih)`, evaluated in this order in `f64`, bit for bit as
/// pycocotools 2.0.11 (`bbIou` in `maskApi.c`) does it. Boxes that only touch have IoU 0.
///
/// Where pycocotools answers NaN (areas that overflow to infinity, or a union that is 0 or
/// underflows to 0) this answers 0, so that a comparison with a threshold is never true by accident.
///
/// ```
/// use metric_core::boxes::iou;
///
/// // Two 10 x 10 boxes that share a 5 x 10 strip: 50 / (100 + 100 - 50).
/// assert_eq!(iou([0.0, 0.0, 10.0, 10.0], [5.0, 0.0, 10.0, 10.0]), 50.0 / 150.0);
/// assert_eq!(iou([0.0, 0.0, 10.0, 10.0], [10.0, 0.0, 10.0, 10.0]), 0.0);
/// assert_eq!(iou([0.0; 4], [0.0; 4]), 0.0);
/// ```
#[must_use]
#[inline]
pub fn iou(a: [f64; 4], b: [f64; 4]) -> f64 {
    let overlap = intersection(a, b);
    // Most pairs of boxes are apart: no need to divide.
    if overlap == 0.0 {
        return 0.0;
    }
    over(overlap, a[2] * a[3] + b[2] * b[3] - overlap)
}

/// Returns the share of box `a` that lies in box `b`: COCO's IoU against a crowd region `b`, whose
/// own area does not count. Boxes and edge cases as for [`iou`].
///
/// ```
/// use metric_core::boxes::iou_crowd;
///
/// assert_eq!(iou_crowd([0.0, 0.0, 10.0, 10.0], [5.0, 0.0, 100.0, 100.0]), 0.5);
/// ```
#[must_use]
#[inline]
pub fn iou_crowd(a: [f64; 4], b: [f64; 4]) -> f64 {
    over(intersection(a, b), a[2] * a[3])
}

/// The area that two boxes `[x, y, width, height]` share.
///
/// `f64::min` and `f64::max` drop a NaN operand, as C's `fmin` and `fmax` in the reference do.
#[inline]
fn intersection(a: [f64; 4], b: [f64; 4]) -> f64 {
    let width = (a[0] + a[2]).min(b[0] + b[2]) - a[0].max(b[0]);
    let height = (a[1] + a[3]).min(b[1] + b[3]) - a[1].max(b[1]);
    if width > 0.0 && height > 0.0 {
        width * height
    } else {
        0.0
    }
}

#[inline]
fn over(intersection: f64, union: f64) -> f64 {
    if union > 0.0 && union.is_finite() {
        intersection / union
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: [f64; 4], b: [f64; 4], expected: f64) {
        assert_eq!(iou(a, b).to_bits(), expected.to_bits(), "{a:?} {b:?}");
        assert_eq!(iou(b, a).to_bits(), expected.to_bits(), "{b:?} {a:?}");
    }

    #[test]
    fn small_cases() {
        let unit = [0.0, 0.0, 1.0, 1.0];
        check(unit, unit, 1.0);
        check(unit, [2.0, 0.0, 1.0, 1.0], 0.0);
        check(unit, [1.0, 1.0, 1.0, 1.0], 0.0);
        check(unit, [0.25, 0.25, 0.5, 0.5], 0.25);
        check(unit, [0.5, 0.5, 0.0, 0.0], 0.0);
        check([-1.0, -1.0, 2.0, 2.0], unit, 0.25);
    }

    #[test]
    fn areas_out_of_range_are_no_overlap() {
        check([0.0, 0.0, 1e200, 1e200], [0.0, 0.0, 1e200, 1e200], 0.0);
        check([0.0, 0.0, 1e-170, 1e-170], [0.0, 0.0, 1e-170, 1e-170], 0.0);
    }
}
