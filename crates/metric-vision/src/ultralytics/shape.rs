use metric_core::named_choice;

use super::OrientedBox;
use crate::{BBox, Keypoints, Mask, Shape};

/// The kind of the objects that Ultralytics compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ObjectKind {
    /// Axis-aligned boxes.
    #[default]
    Box,
    /// Boxes at any angle.
    Oriented,
    /// Outlines of objects, with their boxes.
    Segment,
    /// Keypoints of objects, with their boxes.
    Pose,
}

impl ObjectKind {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Box, Self::Segment, Self::Oriented, Self::Pose];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Box => "bbox",
            Self::Oriented => "obb",
            Self::Segment => "segm",
            Self::Pose => "keypoints",
        }
    }

    /// Returns what the second set of scores is of: masks or poses.
    #[must_use]
    pub const fn second(self) -> Option<&'static str> {
        match self {
            Self::Box | Self::Oriented => None,
            Self::Segment => Some("mask"),
            Self::Pose => Some("pose"),
        }
    }

    /// Returns the kind of its boxes.
    #[must_use]
    pub const fn as_boxes(self) -> Self {
        match self {
            Self::Oriented => Self::Oriented,
            Self::Box | Self::Segment | Self::Pose => Self::Box,
        }
    }

    /// The number of sets of scores.
    pub(crate) fn sets(self) -> usize {
        1 + usize::from(self.second().is_some())
    }
}

named_choice!(ObjectKind, "iou-type");

/// An object as Ultralytics compares it. Objects of one image are of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum YoloShape {
    /// A box, in pixels, or in fractions of its image.
    Box(BBox),
    /// A box at an angle, in pixels.
    Oriented(OrientedBox),
    /// The box of an object and its mask.
    Segment(BBox, Mask),
    /// The box of an object and its keypoints, in pixels.
    Pose(BBox, Keypoints),
}

/// The share of its box that the area of a pose is taken for.
#[cfg(feature = "read")]
pub(crate) const AREA_OF_POSE: f64 = 0.53;

/// What keeps the denominator of the IoU of boxes from 0, in square pixels.
const EPSILON: f32 = 1e-7;

impl YoloShape {
    /// Returns its kind.
    #[must_use]
    pub fn kind(&self) -> ObjectKind {
        match self {
            Self::Box(_) => ObjectKind::Box,
            Self::Oriented(_) => ObjectKind::Oriented,
            Self::Segment(..) => ObjectKind::Segment,
            Self::Pose(..) => ObjectKind::Pose,
        }
    }

    /// Returns how much the box of a true object and that of a detection have in common: their IoU, or the
    /// [probabilistic IoU](OrientedBox::probabilistic_iou) of oriented boxes.
    #[must_use]
    pub fn box_similarity(&self, found: &Self) -> f32 {
        match (self, found) {
            (Self::Oriented(real), Self::Oriented(found)) => real.probabilistic_iou(found) as f32,
            _ => box_iou(self.bounds(), found.bounds()),
        }
    }

    /// Returns the IoU of the masks, or the similarity of the keypoints, of a true object and a detection; 0 if they
    /// have neither.
    #[must_use]
    pub fn second_similarity(&self, found: &Self) -> f32 {
        match (self, found) {
            (Self::Segment(_, real), Self::Segment(_, found)) => found.iou(real) as f32,
            (Self::Pose(_, real), Self::Pose(_, found)) => found.iou(real) as f32,
            _ => 0.0,
        }
    }

    /// The same true object or detection with its mask.
    #[cfg(feature = "read")]
    pub(crate) fn with_mask(self, mask: Mask) -> Self {
        match self {
            Self::Box(bbox) => Self::Segment(bbox, mask),
            other => other,
        }
    }

    /// The same true object or detection with its keypoints, whose tolerance follows from the box.
    #[cfg(feature = "read")]
    pub(crate) fn with_keypoints(self, keypoints: Keypoints) -> Self {
        match self {
            Self::Box(bbox) => Self::Pose(bbox, keypoints.with_area(AREA_OF_POSE * bbox.area())),
            other => other,
        }
    }

    /// The mask, if it has one.
    pub(crate) fn mask(&self) -> Option<&Mask> {
        match self {
            Self::Segment(_, mask) => Some(mask),
            _ => None,
        }
    }
}

/// The IoU of corners, in the order of the operations of the program and in its precision. In pixels, the constant of
/// the program decides at unions of a few square pixels; in fractions it would change all of them, and is left out.
fn box_iou(a: [f64; 4], b: [f64; 4]) -> f32 {
    let are_fractions = a.iter().chain(&b).all(|end| (-1.0..=2.0).contains(end));
    let epsilon = if are_fractions { 0.0 } else { EPSILON };
    let [a, b] = [a, b].map(|ends| ends.map(|end| end as f32));
    let area = |ends: [f32; 4]| (ends[2] - ends[0]) * (ends[3] - ends[1]);
    let common = |axis: usize| f32::max(a[axis + 2].min(b[axis + 2]) - a[axis].max(b[axis]), 0.0);
    let inside = common(0) * common(1);
    let iou = inside / (area(a) + area(b) - inside + epsilon);
    if iou.is_finite() { iou } else { 0.0 }
}

impl Shape for YoloShape {
    fn area(&self) -> f64 {
        match self {
            Self::Box(bbox) | Self::Segment(bbox, _) | Self::Pose(bbox, _) => bbox.area(),
            Self::Oriented(oriented) => oriented.area(),
        }
    }

    fn bounds(&self) -> [f64; 4] {
        match self {
            Self::Box(bbox) | Self::Segment(bbox, _) | Self::Pose(bbox, _) => bbox.bounds(),
            Self::Oriented(oriented) => oriented.bounds(),
        }
    }

    fn iou(&self, other: &Self) -> f64 {
        f64::from(other.box_similarity(self))
    }

    /// The same: Ultralytics knows no crowds.
    fn iou_crowd(&self, crowd: &Self) -> f64 {
        self.iou(crowd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(xywh: [f64; 4]) -> YoloShape {
        let [x, y, width, height] = xywh;
        YoloShape::Box(BBox::from_xywh(x, y, width, height).expect("a box"))
    }

    #[test]
    fn boxes_by_hand() {
        for (a, b, expected) in [
            ([0.0, 0.0, 64.0, 64.0], [0.0, 0.0, 64.0, 32.0], 0.5),
            // 212992 of 327680 pixels, 0.65 in single precision.
            ([0.0, 0.0, 640.0, 512.0], [0.0, 0.0, 416.0, 512.0], 0.65),
            ([0.0, 0.0, 10.0, 10.0], [20.0, 0.0, 10.0, 10.0], 0.0),
            // 16 x 16 of 640 x 640 pixels, in fractions.
            ([0.5, 0.5, 0.025, 0.025], [0.5, 0.5, 0.025, 0.025], 1.0),
            ([5.0, 5.0, 0.0, 0.0], [5.0, 5.0, 0.0, 0.0], 0.0),
            ([1e300, 0.0, 1.0, 1.0], [1e300, 0.0, 1.0, 1.0], 0.0),
        ] {
            assert_eq!(shape(a).box_similarity(&shape(b)), expected, "{a:?} {b:?}");
        }
        // Half of one square pixel is less than half with the constant, away from the unit square too.
        let pixel = |x, width| shape([x, 0.0, width, 1.0]);
        assert!(pixel(8.0, 1.0).box_similarity(&pixel(8.0, 0.5)) < 0.5);
    }
}
