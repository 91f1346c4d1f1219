use std::fmt;

use metric_core::{boxes, named_choice};

use crate::Shape;

/// An axis-aligned box with finite coordinates. Its width and height are not negative, unless it was made by
/// [`from_signed_xywh`](Self::from_signed_xywh).
///
/// It is kept as the left, the top, the width and the height, whatever it was made from, because published numbers
/// are computed with COCO's arithmetic on these four: a width that is computed back from two corners has lost its
/// last bits.
///
/// ```
/// use metric_vision::{BBox, InvalidBox};
///
/// let a = BBox::from_xywh(10.0, 20.0, 30.0, 40.0)?;
/// assert_eq!(a, BBox::from_xyxy(10.0, 20.0, 40.0, 60.0)?);
/// assert_eq!(a, BBox::from_cxcywh(25.0, 40.0, 30.0, 40.0)?);
/// assert_eq!(a.area(), 1200.0);
/// assert!(BBox::from_xywh(0.0, 0.0, -1.0, 1.0).is_err());
/// # Ok::<(), InvalidBox>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BBox {
    xywh: [f64; 4],
}

impl BBox {
    /// Returns the box with this left, top, width and height (COCO's form).
    ///
    /// # Errors
    ///
    /// Returns an error if a number is not finite, or the width or height is negative.
    pub fn from_xywh(x: f64, y: f64, width: f64, height: f64) -> Result<Self, InvalidBox> {
        let named = [("x", x), ("y", y), ("width", width), ("height", height)];
        finite(&named)?;
        for (field, value) in [("width", width), ("height", height)] {
            if value < 0.0 {
                return Err(InvalidBox::Negative { field, value });
            }
        }
        Ok(Self {
            xywh: [x, y, width, height],
        })
    }

    /// The box with these ends, or one without an area at the origin where they are none.
    #[cfg(feature = "read")]
    pub(crate) fn around([left, top, right, bottom]: [f64; 4]) -> Self {
        let nothing = Self { xywh: [0.0; 4] };
        Self::from_xyxy(left, top, right, bottom).unwrap_or(nothing)
    }

    /// Returns the box between the corners `(x1, y1)` and `(x2, y2)` (Pascal VOC's form).
    ///
    /// # Errors
    ///
    /// Returns an error if a number is not finite, or the corners are in the wrong order or so far
    /// apart that the distance is not finite.
    pub fn from_xyxy(x1: f64, y1: f64, x2: f64, y2: f64) -> Result<Self, InvalidBox> {
        finite(&[("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)])?;
        for (axis, first, second) in [("x", x1, x2), ("y", y1, y2)] {
            if second < first {
                return Err(InvalidBox::Inverted {
                    axis,
                    first,
                    second,
                });
            }
        }
        let (width, height) = (x2 - x1, y2 - y1);
        finite(&[("x2 - x1", width), ("y2 - y1", height)])?;
        Self::from_xywh(x1, y1, width, height)
    }

    /// Returns the box with this center, width and height (YOLO's form, in any unit).
    ///
    /// # Errors
    ///
    /// Returns an error if a number is not finite, the width or height is negative, or the left or
    /// top edge is not finite.
    pub fn from_cxcywh(cx: f64, cy: f64, width: f64, height: f64) -> Result<Self, InvalidBox> {
        finite(&[("cx", cx), ("cy", cy)])?;
        Self::from_xywh(0.0, 0.0, width, height)?;
        let (x, y) = (cx - width / 2.0, cy - height / 2.0);
        finite(&[("cx - width / 2", x), ("cy - height / 2", y)])?;
        Self::from_xywh(x, y, width, height)
    }

    /// Returns the box with this left, top, width and height. As in COCO's programs, the width and the height may be
    /// negative: such a box overlaps nothing, and its area is width times height.
    ///
    /// # Errors
    ///
    /// Returns an error if a number is not finite.
    ///
    /// ```
    /// use metric_vision::{BBox, iou};
    ///
    /// let inside_out = BBox::from_signed_xywh(5.0, 0.0, -5.0, 10.0)?;
    /// assert_eq!(inside_out.area(), -50.0);
    /// assert_eq!(iou(&inside_out, &inside_out), 0.0);
    /// # Ok::<(), metric_vision::InvalidBox>(())
    /// ```
    pub fn from_signed_xywh(x: f64, y: f64, width: f64, height: f64) -> Result<Self, InvalidBox> {
        finite(&[("x", x), ("y", y), ("width", width), ("height", height)])?;
        Ok(Self {
            xywh: [x, y, width, height],
        })
    }

    /// Returns left, top, width and height.
    #[must_use]
    pub fn xywh(&self) -> [f64; 4] {
        self.xywh
    }

    /// Returns width times height, which is infinite for a box with sides of more than about 1e154.
    #[must_use]
    pub fn area(&self) -> f64 {
        self.xywh[2] * self.xywh[3]
    }
}

impl Shape for BBox {
    const IS_BOX: bool = true;

    fn area(&self) -> f64 {
        self.area()
    }

    fn bounds(&self) -> [f64; 4] {
        let [x, y, width, height] = self.xywh;
        [x, y, x + width, y + height]
    }

    fn iou(&self, other: &Self) -> f64 {
        iou(self, other)
    }

    fn iou_crowd(&self, crowd: &Self) -> f64 {
        iou_crowd(self, crowd)
    }

    // In the arithmetic of `metric_core::boxes`, whose steps all keep the order of numbers.
    fn overlap_at_most(&self, [left, top, right, bottom]: [f64; 4]) -> f64 {
        let own = self.bounds();
        let width = own[2].min(right) - own[0].max(left);
        let height = own[3].min(bottom) - own[1].max(top);
        if width > 0.0 && height > 0.0 {
            width * height
        } else {
            0.0
        }
    }
}

fn finite(numbers: &[(&'static str, f64)]) -> Result<(), InvalidBox> {
    match numbers.iter().find(|(_, value)| !value.is_finite()) {
        Some(&(field, value)) => Err(InvalidBox::NotFinite { field, value }),
        None => Ok(()),
    }
}

/// Returns the intersection over union, bit for bit as in pycocotools 2.0.11.
///
/// In \[0, 1\], except for the rounding of `x + width`: where that is inexact, boxes that are
/// nearly equal can come out above 1 (a little, unless the coordinates dwarf the sizes).
///
/// Boxes that only touch, and boxes without area, have IoU 0. So do boxes whose areas overflow to infinity or
/// underflow to 0, where pycocotools returns NaN. See [`metric_core::boxes::iou`] for the formula.
///
/// ```
/// use metric_vision::{BBox, iou};
///
/// // Two 10 x 10 boxes that share a 5 x 10 strip: 50 / (100 + 100 - 50).
/// let a = BBox::from_xywh(0.0, 0.0, 10.0, 10.0)?;
/// let b = BBox::from_xywh(5.0, 0.0, 10.0, 10.0)?;
/// assert_eq!(iou(&a, &b), 50.0 / 150.0);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[must_use]
#[inline]
pub fn iou(a: &BBox, b: &BBox) -> f64 {
    boxes::iou(a.xywh, b.xywh)
}

/// Returns the intersection over union computed from corners: `x + width` is formed first, and the sizes are
/// differences of corners, as in the program of the Fusion Brain Challenge 2021. The result is in \[0, 1\].
///
/// Differs from [`iou`] in the last digits where `x + width` is rounded. A quotient that is NaN
/// (areas that are 0, overflow or underflow) is 0, as in the program.
///
/// ```
/// use metric_vision::{BBox, iou, iou_by_corners};
///
/// let a = BBox::from_xywh(0.1, 0.0, 0.2, 1.0)?; // 0.1 + 0.2 is a little more than 0.3
/// assert_eq!(iou_by_corners(&a, &a), 1.0);
/// assert!(iou(&a, &a) > 1.0);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[must_use]
#[inline]
pub fn iou_by_corners(a: &BBox, b: &BBox) -> f64 {
    let corners = |bbox: &BBox| {
        let [x, y, width, height] = bbox.xywh;
        [x, y, x + width, y + height]
    };
    let area = |x: [f64; 4]| (x[2] - x[0]) * (x[3] - x[1]);
    let (a, b) = (corners(a), corners(b));
    let width = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0);
    let height = (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    let overlap = width * height;
    let ratio = overlap / (area(a) + area(b) - overlap);
    if ratio.is_nan() { 0.0 } else { ratio }
}

/// Returns COCO's IoU with a truth that is a crowd: the share of the detection that lies in the crowd region. The
/// region's own area does not count.
///
/// ```
/// use metric_vision::{BBox, iou_crowd};
///
/// let detection = BBox::from_xywh(0.0, 0.0, 10.0, 10.0)?;
/// let crowd = BBox::from_xywh(5.0, 0.0, 100.0, 100.0)?;
/// assert_eq!(iou_crowd(&detection, &crowd), 0.5);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[must_use]
#[inline]
pub fn iou_crowd(detection: &BBox, crowd: &BBox) -> f64 {
    boxes::iou_crowd(detection.xywh, crowd.xywh)
}

/// The meaning of the four numbers of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BoxFormat {
    /// Left, top, width, height: COCO, Fusion Brain.
    #[default]
    Xywh,
    /// Left, top, right, bottom: Pascal VOC.
    Xyxy,
    /// Center, width, height: YOLO.
    Cxcywh,
}

impl BoxFormat {
    /// All formats.
    pub const ALL: &[Self] = &[Self::Xywh, Self::Xyxy, Self::Cxcywh];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xywh => "xywh",
            Self::Xyxy => "xyxy",
            Self::Cxcywh => "cxcywh",
        }
    }

    /// Returns the box that the numbers describe.
    ///
    /// # Errors
    ///
    /// Returns an error as the constructor of [`BBox`] for this format does.
    ///
    /// ```
    /// use metric_vision::{BBox, BoxFormat};
    ///
    /// let bbox = BoxFormat::Xyxy.read([1.0, 2.0, 4.0, 6.0])?;
    /// assert_eq!(bbox.xywh(), [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), metric_vision::InvalidBox>(())
    /// ```
    pub fn read(self, numbers: [f64; 4]) -> Result<BBox, InvalidBox> {
        let [a, b, c, d] = numbers;
        match self {
            Self::Xywh => BBox::from_xywh(a, b, c, d),
            Self::Xyxy => BBox::from_xyxy(a, b, c, d),
            Self::Cxcywh => BBox::from_cxcywh(a, b, c, d),
        }
    }
}

named_choice!(BoxFormat, "box format");

/// The error for four numbers that are not a valid box.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidBox {
    /// A number is NaN or infinite.
    NotFinite {
        /// The name of the number, or the difference of two, as in `x2 - x1`.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A width or height is below 0.
    Negative {
        /// The name of the number.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// The second corner comes before the first.
    Inverted {
        /// On which axis.
        axis: &'static str,
        /// The coordinate of the first corner.
        first: f64,
        /// The coordinate of the second corner.
        second: f64,
    },
}

impl fmt::Display for InvalidBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { field, value } => {
                write!(f, "{field} is {value}: expected a finite number")
            }
            Self::Negative { field, value } => write!(f, "{field} is {value}: expected 0 or more"),
            Self::Inverted {
                axis,
                first,
                second,
            } => write!(
                f,
                "{axis}2 is {second}: expected {axis}1, which is {first}, or more"
            ),
        }
    }
}

impl std::error::Error for InvalidBox {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_box() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        for (format, numbers) in [
            (BoxFormat::Xywh, [nan, 0.0, 1.0, 1.0]),
            (BoxFormat::Xywh, [0.0, 0.0, inf, 1.0]),
            (BoxFormat::Xywh, [0.0, 0.0, 1.0, -1.0]),
            (BoxFormat::Xyxy, [0.0, 0.0, -1.0, 1.0]),
            (BoxFormat::Xyxy, [0.0, 0.0, 1.0, nan]),
            (BoxFormat::Xyxy, [-1.7e308, 0.0, 1.7e308, 1.0]),
            (BoxFormat::Cxcywh, [0.0, 0.0, -1.0, 1.0]),
            (BoxFormat::Cxcywh, [0.0, nan, 1.0, 1.0]),
        ] {
            assert!(format.read(numbers).is_err(), "{format} {numbers:?}");
        }
        let error = BBox::from_xywh(0.0, 0.0, -5.0, 1.0).map_err(|error| error.to_string());
        assert_eq!(error, Err("width is -5: expected 0 or more".to_owned()));
        // An overflow is reported in the numbers that were given.
        for (format, numbers, field) in [
            (
                BoxFormat::Xyxy,
                [0.0, -1.7e308, 1.0, 1.7e308],
                "y2 - y1 is inf",
            ),
            (
                BoxFormat::Cxcywh,
                [-1.7e308, 0.0, 1.7e308, 1.0],
                "cx - width / 2 is -inf",
            ),
        ] {
            let error = format.read(numbers).map_err(|error| error.to_string());
            assert_eq!(error, Err(format!("{field}: expected a finite number")));
        }
        assert!(BBox::from_xyxy(3.0, 3.0, 3.0, 3.0).is_ok());
    }

    fn bbox() -> impl Strategy<Value = BBox> {
        // Multiples of 1/8 of moderate size: moving and scaling them by integers is exact.
        [0_i32..800, 0_i32..800, 0_i32..400, 0_i32..400].prop_map(|numbers| {
            let [x, y, w, h] = numbers.map(|number| f64::from(number) / 8.0);
            BBox::from_xywh(x, y, w, h).expect("a box")
        })
    }

    fn moved(b: &BBox, by: f64, scale: f64) -> BBox {
        let [x, y, w, h] = b.xywh();
        BBox::from_xywh((x + by) * scale, (y - by) * scale, w * scale, h * scale).expect("a box")
    }

    proptest! {
        #[test]
        fn iou_is_symmetric_bounded_and_invariant(
            a in bbox(), b in bbox(), by in -1000_i32..1000, power in -20_i32..20,
        ) {
            let value = iou(&a, &b);
            prop_assert!((0.0..=1.0).contains(&value));
            prop_assert_eq!(value, iou(&b, &a));
            let (by, scale) = (f64::from(by), 2_f64.powi(power));
            prop_assert_eq!(value, iou(&moved(&a, by, scale), &moved(&b, by, scale)));
            prop_assert_eq!(iou(&a, &a), f64::from(u8::from(a.area() > 0.0)));
        }
    }
}
