/// Returns the distance in pixels within which a pixel is on the boundary, for an image of this size: `ratio` of its
/// diagonal, rounded with halves to even, and at least 1.
///
/// Source: Cheng et al., *Boundary IoU* (CVPR 2021); `mask_to_boundary` of boundary-iou-api.
///
/// ```
/// use metric_core::boundary_distance;
///
/// // The diagonal of 640 x 480 is 800.
/// assert_eq!(boundary_distance(640, 480, 0.02), 16);
/// assert_eq!(boundary_distance(10, 10, 0.02), 1);
/// // 2.5 is rounded to even.
/// assert_eq!(boundary_distance(30, 40, 0.05), 2);
/// ```
#[must_use]
pub fn boundary_distance(width: usize, height: usize, ratio: f64) -> usize {
    let (width, height) = (width as f64, height as f64);
    let distance = (ratio * (width * width + height * height).sqrt()).round_ties_even();
    distance.max(1.0) as usize
}
