/// A shape by which detections and truths are compared, such as a box or another region of the plane.
///
/// The matching rules and metrics of this crate take any shape. A [`BBox`](crate::BBox) is one, and
/// so is a reference to a shape.
///
/// ```
/// use metric_vision::{BBox, Shape};
///
/// fn is_found<S: Shape>(detection: &S, truth: &S) -> bool {
///     detection.iou(truth) >= 0.5
/// }
/// let square = BBox::from_xywh(0.0, 0.0, 2.0, 2.0)?;
/// assert!(is_found(&square, &square));
/// assert_eq!(square.area(), 4.0);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
pub trait Shape {
    /// Whether all shapes of this type are axis-aligned boxes, which fill their [`bounds`](Self::bounds).
    ///
    /// It lets a search among very many boxes leave out more of them.
    const IS_BOX: bool = false;

    /// Its area, in square units.
    fn area(&self) -> f64;

    /// Left, top, right and bottom of an axis-aligned box around it.
    ///
    /// Shapes overlap only where their bounds do: `left < right` and so on of the other, compared as
    /// they are given here.
    fn bounds(&self) -> [f64; 4];

    /// Intersection over union, 0 where the union is 0. Never NaN.
    fn iou(&self, other: &Self) -> f64;

    /// COCO's IoU with a truth that is a crowd: the share of this shape that lies in `crowd`, whose own area does not
    /// count. Never NaN.
    fn iou_crowd(&self, crowd: &Self) -> f64;

    /// Its [boundary](crate::Mask::boundary), for shapes that consist of pixels.
    fn boundary(&self, _dilation: f64) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// At least the area that this shape has in common with any shape within these bounds; infinity where
    /// no less is certain.
    ///
    /// It lets a search among very many shapes leave out those that overlap less than another. A shape
    /// that answers less than infinity says that [`iou`](Self::iou) is `c / (a + b - c)` of the two areas and the
    /// area in common, rounded in this order, that [`iou_crowd`](Self::iou_crowd) is `c / a`, and that `c` is
    /// never above this, to the last bit.
    fn overlap_at_most(&self, _bounds: [f64; 4]) -> f64 {
        f64::INFINITY
    }
}

impl<S: Shape + ?Sized> Shape for &S {
    const IS_BOX: bool = S::IS_BOX;

    fn area(&self) -> f64 {
        (**self).area()
    }

    fn bounds(&self) -> [f64; 4] {
        (**self).bounds()
    }

    fn iou(&self, other: &Self) -> f64 {
        (**self).iou(other)
    }

    fn iou_crowd(&self, crowd: &Self) -> f64 {
        (**self).iou_crowd(crowd)
    }

    fn overlap_at_most(&self, bounds: [f64; 4]) -> f64 {
        (**self).overlap_at_most(bounds)
    }
}
