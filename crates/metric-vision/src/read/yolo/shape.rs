//! Objects of the kinds that metrics compare, from the numbers of lines.

use std::num::NonZeroU32;

use super::line::Outline;
use crate::region::bounds;
use crate::ultralytics::AREA_OF_POSE;
use crate::{BBox, Keypoints, Mask, ObjectKind, OrientedBox, Polygon, Shape, Sigmas, YoloShape};

/// What the numbers of an object mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'p> {
    /// What x and y are multiplied by.
    pub(super) scale: [f64; 2],
    /// Width and height of the image, in pixels, if they are known.
    pub(super) pixels: Option<[NonZeroU32; 2]>,
    /// The tolerance of the points of poses.
    pub(super) sigmas: Option<&'p Sigmas>,
    pub(super) is_label: bool,
}

/// A shape that can be read from the texts of YOLO.
pub(crate) trait OfOutline: Shape + Clone + PartialEq + Send + Sync + Sized {
    /// The object of these numbers, as one of this kind.
    fn of_outline(outline: &Outline, kind: ObjectKind, place: Place<'_>) -> Result<Self, String>;
}

impl Place<'_> {
    fn point(self, [x, y]: [f64; 2]) -> [f64; 2] {
        [x * self.scale[0], y * self.scale[1]]
    }

    fn points(self, points: &[[f64; 2]]) -> Vec<[f64; 2]> {
        points.iter().map(|&point| self.point(point)).collect()
    }

    fn of_box(self, [cx, cy, width, height]: [f64; 4]) -> Result<BBox, String> {
        let [x, y] = self.scale;
        BBox::from_cxcywh(cx * x, cy * y, width * x, height * y).map_err(|error| error.to_string())
    }

    fn mask(self, points: &[[f64; 2]]) -> Result<Mask, String> {
        let [width, height] = self.pixels.ok_or("expected the size of the image")?;
        let flat = self.points(points).concat();
        Mask::from_polygons(height.get(), width.get(), &[flat]).map_err(|error| error.to_string())
    }

    fn pose(self, of_box: [f64; 4], points: &[[f64; 3]]) -> Keypoints {
        let places = points.iter().map(|&[x, y, _]| self.point([x, y]));
        let places = places.collect();
        let Some(sigmas) = self.sigmas.filter(|_| self.is_label) else {
            return Keypoints::detection(places);
        };
        // A point of two numbers has the third 2, and is one where none of the two is negative.
        let is_labeled = |&[x, y, third]: &[f64; 3]| third != 0.0 && x >= 0.0 && y >= 0.0;
        let labeled = points.iter().map(is_labeled).collect();
        let [_, _, width, height] = of_box;
        let [x, y] = self.scale;
        let area = AREA_OF_POSE * (width * x) * (height * y);
        Keypoints::truth(places, labeled, None, area, sigmas)
    }
}

fn none(kind: ObjectKind) -> String {
    format!("found an object of another kind, expected {kind}")
}

impl OfOutline for BBox {
    /// The box of an object of any kind.
    fn of_outline(outline: &Outline, _: ObjectKind, place: Place<'_>) -> Result<Self, String> {
        match outline {
            Outline::Box(of_box) | Outline::Pose(of_box, _) => place.of_box(*of_box),
            Outline::Mask(Some(of_box), _) => place.of_box(*of_box),
            Outline::Points(points) => {
                let [left, top, right, bottom] = bounds(&place.points(points));
                BBox::from_xyxy(left, top, right, bottom).map_err(|error| error.to_string())
            }
            Outline::Mask(None, mask) => {
                let [x, y, width, height] = mask.bbox().map(f64::from);
                BBox::from_xywh(x, y, width, height).map_err(|error| error.to_string())
            }
        }
    }
}

impl OfOutline for Polygon {
    fn of_outline(outline: &Outline, kind: ObjectKind, place: Place<'_>) -> Result<Self, String> {
        match outline {
            Outline::Points(points) => {
                Polygon::even_odd(place.points(points)).map_err(|error| error.to_string())
            }
            _ => Err(none(kind)),
        }
    }
}

impl OfOutline for Mask {
    fn of_outline(outline: &Outline, kind: ObjectKind, place: Place<'_>) -> Result<Self, String> {
        match outline {
            Outline::Points(points) => place.mask(points),
            Outline::Mask(_, mask) => Ok(mask.clone()),
            _ => Err(none(kind)),
        }
    }
}

impl OfOutline for Keypoints {
    fn of_outline(outline: &Outline, kind: ObjectKind, place: Place<'_>) -> Result<Self, String> {
        match outline {
            Outline::Pose(of_box, points) => Ok(place.pose(*of_box, points)),
            _ => Err(none(kind)),
        }
    }
}

impl OfOutline for YoloShape {
    fn of_outline(outline: &Outline, kind: ObjectKind, place: Place<'_>) -> Result<Self, String> {
        let bbox = || BBox::of_outline(outline, kind, place);
        Ok(match (kind, outline) {
            (ObjectKind::Box, _) => Self::Box(bbox()?),
            (ObjectKind::Oriented, Outline::Points(points)) => {
                let corners = place.points(points);
                let corners = corners.try_into().map_err(|_| none(kind))?;
                Self::Oriented(OrientedBox::around(corners))
            }
            (ObjectKind::Segment, _) => {
                Self::Segment(bbox()?, Mask::of_outline(outline, kind, place)?)
            }
            (ObjectKind::Pose, _) => {
                Self::Pose(bbox()?, Keypoints::of_outline(outline, kind, place)?)
            }
            _ => return Err(none(kind)),
        })
    }
}
