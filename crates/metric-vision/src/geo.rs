//! Shapes from and to those of geo-types.

use geo_types::{Coord, LineString, Rect};

use crate::{BBox, InvalidBox, InvalidPolygon, Polygon, RotatedBox};

impl From<BBox> for Rect<f64> {
    /// The corners of the box. Those of a box of negative size change places.
    fn from(bbox: BBox) -> Self {
        let [x, y, width, height] = bbox.xywh();
        Self::new((x, y), (x + width, y + height))
    }
}

impl TryFrom<Rect<f64>> for BBox {
    type Error = InvalidBox;

    /// As [`BBox::from_xyxy`].
    fn try_from(rect: Rect<f64>) -> Result<Self, InvalidBox> {
        let (low, high) = (rect.min(), rect.max());
        Self::from_xyxy(low.x, low.y, high.x, high.y)
    }
}

impl From<&Polygon> for geo_types::Polygon<f64> {
    fn from(polygon: &Polygon) -> Self {
        outline(polygon.points())
    }
}

impl From<RotatedBox> for geo_types::Polygon<f64> {
    fn from(rotated: RotatedBox) -> Self {
        outline(&rotated.corners())
    }
}

impl TryFrom<&geo_types::Polygon<f64>> for Polygon {
    type Error = InvalidPolygon;

    /// As [`Polygon::new`]; interior rings are an error.
    fn try_from(polygon: &geo_types::Polygon<f64>) -> Result<Self, InvalidPolygon> {
        match polygon.interiors().len() {
            0 => Self::new(polygon.exterior().coords().map(|&c| c.into()).collect()),
            rings => Err(InvalidPolygon::Interiors { rings }),
        }
    }
}

fn outline(points: &[[f64; 2]]) -> geo_types::Polygon<f64> {
    let ring: Vec<Coord<f64>> = points.iter().map(|&point| point.into()).collect();
    geo_types::Polygon::new(LineString::new(ring), Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    #[test]
    fn there_and_back() {
        let bbox = BBox::from_xywh(1.0, 2.0, 3.0, 4.0).expect("a box");
        let rect = Rect::from(bbox);
        assert_eq!((rect.min().x, rect.max().y), (1.0, 6.0));
        assert_eq!(BBox::try_from(rect), Ok(bbox));

        let triangle = Polygon::new(vec![[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]]).expect("a polygon");
        let geo = geo_types::Polygon::from(&triangle);
        assert_eq!(geo.exterior().0.len(), 4);
        assert_eq!(Polygon::try_from(&geo), Ok(triangle));

        let rotated = RotatedBox::new([0.0, 0.0, 2.0, 1.0], 0.0).expect("a box");
        let geo = geo_types::Polygon::from(rotated);
        assert_eq!(Polygon::try_from(&geo).map(|p| p.area()), Ok(2.0));
    }

    #[test]
    fn holes_are_refused() {
        let ring = |size: f64| LineString::from(vec![(0.0, 0.0), (size, 0.0), (0.0, size)]);
        let holed = geo_types::Polygon::new(ring(4.0), vec![ring(1.0)]);
        let error = InvalidPolygon::Interiors { rings: 1 };
        assert_eq!(Polygon::try_from(&holed), Err(error));
    }
}
