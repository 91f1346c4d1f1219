use std::fmt;

use crate::region::share;
use crate::{BBox, Shape};

/// A set of pixels of an image, stored as COCO's run lengths.
///
/// Pixels are taken column by column, each from the top. The runs are in turn outside and inside,
/// beginning outside; only the first may be of length 0. Nothing of the size of the image is kept.
///
/// ```
/// use metric_vision::{Mask, Shape};
///
/// // In 3 x 3 pixels: the middle column, and the middle row.
/// let column = Mask::from_counts(3, 3, &[3, 3, 3])?;
/// let row = Mask::from_counts(3, 3, &[1, 1, 2, 1, 2, 1, 1])?;
/// assert_eq!(column.iou(&row), 1.0 / 5.0);
/// assert_eq!(row.bbox(), [0, 1, 3, 1]);
/// assert_eq!(Mask::from_compressed(3, 3, &row.to_compressed())?, row);
/// # Ok::<(), metric_vision::InvalidMask>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    height: u32,
    width: u32,
    counts: Vec<u32>,
    area: u32,
    bbox: [u32; 4],
}

/// COCO draws polygons on a grid of this many lines per pixel.
const FIFTHS: f64 = 5.0;
/// The largest coordinate of a polygon, positive or negative.
const MAX_COORDINATE: f64 = 1e8;
/// The most times that the outlines of a mask may pass from one column of pixels to the next.
const MAX_CROSSINGS: usize = 1 << 24;

impl Mask {
    /// Returns the mask of these run lengths (COCO's uncompressed form).
    ///
    /// Runs of length 0 after the first are joined with their neighbors. pycocotools keeps them,
    /// and stops counting where those of two masks meet.
    ///
    /// # Errors
    ///
    /// Returns an error if the image has 2^32 pixels or more, or runs do not add up to height times
    /// width. pycocotools accepts the latter, and never returns when such masks overlap.
    pub fn from_counts(height: u32, width: u32, counts: &[u32]) -> Result<Self, InvalidMask> {
        let pixels = pixels(height, width)?;
        let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if total != u64::from(pixels) {
            return Err(InvalidMask::Total { total, pixels });
        }
        Ok(Self::of_runs(height, width, alternating(counts)))
    }

    /// Returns the mask of run lengths in COCO's text form. Each number is written in groups of five bits, lowest
    /// group first, one character per group: the character `0` plus the group, plus 32 if more groups follow.
    /// Starting with the fourth run, the number is the difference from the run two before it.
    ///
    /// # Errors
    ///
    /// Returns an error if an image has 2^32 pixels or more, a character is not from `0` to `o`, a
    /// number continues past the end or is not a run length, or runs do not add up to height times
    /// width.
    pub fn from_compressed(height: u32, width: u32, text: &str) -> Result<Self, InvalidMask> {
        let mut counts: Vec<u32> = Vec::new();
        let mut bytes = text.bytes().enumerate();
        while let Some((position, mut byte)) = bytes.next() {
            let (mut value, mut shift, mut at) = (0_i64, 0, position);
            loop {
                if !(48..112).contains(&byte) {
                    return Err(InvalidMask::Character { position: at, byte });
                }
                let six = byte - 48;
                value |= i64::from(six & 0x1f) << shift;
                shift += 5;
                if six & 0x20 == 0 {
                    // The highest bit is the sign.
                    if six & 0x10 != 0 {
                        value -= 1 << shift;
                    }
                    break;
                }
                (at, byte) = match bytes.next() {
                    // Seven characters hold any difference of two run lengths.
                    Some(next) if shift < 35 => next,
                    _ => return Err(InvalidMask::Number { position }),
                };
            }
            if let Some(before) = before(&counts) {
                value += i64::from(before);
            }
            counts.push(u32::try_from(value).map_err(|_| InvalidMask::Number { position })?);
        }
        Self::from_counts(height, width, &counts)
    }

    /// Returns the mask of the pixels in at least one of these polygons, each given as `x, y, x, y, …` and drawn as
    /// in pycocotools 2.0.11.
    ///
    /// Points are rounded to fifths of a pixel, edges to steps of that size. A number without
    /// partner at the end is left out. Outside the image, and for polygons of fewer than three
    /// points, nothing is drawn; pycocotools refuses a list that begins with such a polygon.
    ///
    /// # Errors
    ///
    /// Returns an error if the image has 2^32 pixels or more, a coordinate is not finite or beyond
    /// ±1e8, or the outlines together pass more than 2^24 times from column to column.
    ///
    /// ```
    /// use metric_vision::{Mask, Shape};
    ///
    /// let square = Mask::from_polygons(4, 4, &[vec![1.0, 1.0, 3.0, 1.0, 3.0, 3.0, 1.0, 3.0]])?;
    /// assert_eq!(square.counts(), [5, 2, 2, 2, 5]);
    /// assert_eq!(square.area(), 4.0);
    /// # Ok::<(), metric_vision::InvalidMask>(())
    /// ```
    pub fn from_polygons(
        height: u32,
        width: u32,
        polygons: &[Vec<f64>],
    ) -> Result<Self, InvalidMask> {
        let pixels = pixels(height, width)?;
        let mut crossings = MAX_CROSSINGS;
        let masks = polygons.iter().enumerate().map(|(polygon, numbers)| {
            Self::of_polygon(height, width, polygon, numbers, &mut crossings)
        });
        let mut masks: Vec<Self> = masks.collect::<Result<_, _>>()?;
        // In pairs, and pairs of pairs: one after the other, each would go through all before it.
        while masks.len() > 1 {
            let pairs = masks.chunks(2).map(|pair| match pair {
                [a, b] => a.union(b),
                rest => rest[0].clone(),
            });
            masks = pairs.collect();
        }
        let nothing = || Self::of_runs(height, width, [(false, pixels)]);
        Ok(masks.pop().unwrap_or_else(nothing))
    }

    /// Returns the pixels of a box, drawn as the polygon of its corners.
    ///
    /// # Errors
    ///
    /// Returns an error as [`from_polygons`](Self::from_polygons) does.
    ///
    /// ```
    /// use metric_vision::{BBox, Mask};
    ///
    /// let mask = Mask::from_bbox(4, 4, &BBox::from_xywh(1.0, 0.0, 2.0, 3.0)?)?;
    /// assert_eq!(mask.bbox(), [1, 0, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_bbox(height: u32, width: u32, bbox: &BBox) -> Result<Self, InvalidMask> {
        let [x, y, right, bottom] = bbox.bounds();
        let corners = vec![x, y, x, bottom, right, bottom, right, y];
        Self::from_polygons(height, width, &[corners])
    }

    /// Returns the height of the image in pixels.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the width of the image in pixels.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the lengths of the runs.
    #[must_use]
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Returns the run lengths as COCO's text, the form of [`from_compressed`](Self::from_compressed).
    #[must_use]
    pub fn to_compressed(&self) -> String {
        let mut text = String::with_capacity(2 * self.counts.len());
        for (position, &count) in self.counts.iter().enumerate() {
            let mut rest = i64::from(count);
            if let Some(before) = before(&self.counts[..position]) {
                rest -= i64::from(before);
            }
            loop {
                let five = (rest & 0x1f) as u8;
                rest >>= 5;
                let done = rest == if five & 0x10 == 0 { 0 } else { -1 };
                text.push(char::from(48 + five + if done { 0 } else { 0x20 }));
                if done {
                    break;
                }
            }
        }
        text
    }

    /// Returns the left, top, width and height of the smallest box around the pixels, all 0 if there are no pixels.
    #[must_use]
    pub fn bbox(&self) -> [u32; 4] {
        self.bbox
    }

    pub(crate) fn of_runs(
        height: u32,
        width: u32,
        runs: impl IntoIterator<Item = (bool, u32)>,
    ) -> Self {
        let mut counts: Vec<u32> = Vec::new();
        for (inside, length) in runs.into_iter().filter(|&(_, length)| length > 0) {
            if counts.is_empty() && inside {
                counts.push(0);
            }
            let last_is_inside = counts.len().is_multiple_of(2);
            match counts.last_mut() {
                Some(last) if last_is_inside == inside => *last += length,
                _ => counts.push(length),
            }
        }
        let [mut left, mut top, mut right, mut bottom] = [u32::MAX, u32::MAX, 0, 0];
        let (mut area, mut end) = (0, 0);
        for (inside, length) in alternating(&counts) {
            let start = end;
            end += length;
            if !inside || length == 0 {
                continue;
            }
            area += length;
            let last = end - 1;
            left = left.min(start / height);
            right = right.max(last / height + 1);
            if start / height < last / height {
                (top, bottom) = (0, height);
            } else {
                top = top.min(start % height);
                bottom = bottom.max(last % height + 1);
            }
        }
        let bbox = match area {
            0 => [0; 4],
            _ => [left, top, right - left, bottom - top],
        };
        Self {
            height,
            width,
            counts,
            area,
            bbox,
        }
    }

    fn of_polygon(
        height: u32,
        width: u32,
        polygon: usize,
        numbers: &[f64],
        crossings: &mut usize,
    ) -> Result<Self, InvalidMask> {
        let mut points = Vec::with_capacity(numbers.len() / 2);
        for pair in numbers.chunks_exact(2) {
            for &value in pair {
                // Also false for NaN.
                let drawn = value.abs() <= MAX_COORDINATE;
                if !drawn {
                    return Err(InvalidMask::Coordinate { polygon, value });
                }
            }
            // The conversion cuts towards 0, also below it.
            points.push([pair[0], pair[1]].map(|value| (FIFTHS * value + 0.5) as i64));
        }
        let mut positions = Vec::new();
        let ends = points.iter().cycle().skip(1);
        for (&from, &to) in points.iter().zip(ends) {
            column_crossings(from, to, width, |column, v| {
                let y = (v as f64 + 0.5) / FIFTHS - 0.5;
                let y = y.clamp(0.0, f64::from(height)).ceil() as u32;
                positions.push(column * height + y);
                positions.len() <= *crossings
            })
            .ok_or(InvalidMask::Crossings { polygon })?;
        }
        *crossings -= positions.len();
        positions.sort_unstable();
        positions.push(height * width);
        let mut start = 0;
        let lengths = positions
            .iter()
            .map(|&position| position - std::mem::replace(&mut start, position));
        let runs = lengths
            .enumerate()
            .map(|(run, length)| (run % 2 == 1, length));
        Ok(Self::of_runs(height, width, runs))
    }

    /// The pixels of this mask that are not in the other.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let runs = common_runs(self, other).map(|([a, b], length)| (a && !b, length));
        Self::of_runs(self.height, self.width, runs)
    }

    /// The pixels of either mask.
    pub(crate) fn union(&self, other: &Self) -> Self {
        let runs = common_runs(self, other).map(|([a, b], length)| (a || b, length));
        Self::of_runs(self.height, self.width, runs)
    }

    /// The height and the width of the image.
    pub(crate) fn size(&self) -> (u32, u32) {
        (self.height, self.width)
    }

    /// The number of pixels in both masks, none in images of different size.
    fn overlap(&self, other: &Self) -> u32 {
        let ends = |start: u32, size: u32| (start, start + size);
        let [meet_x, meet_y] = [0, 1].map(|axis| {
            let (a, a_end) = ends(self.bbox[axis], self.bbox[axis + 2]);
            let (b, b_end) = ends(other.bbox[axis], other.bbox[axis + 2]);
            a < b_end && b < a_end
        });
        if (self.height, self.width) != (other.height, other.width) || !meet_x || !meet_y {
            return 0;
        }
        common_runs(self, other)
            .filter(|&([a, b], _)| a && b)
            .map(|(_, length)| length)
            .sum()
    }
}

/// Bit for bit as in pycocotools 2.0.11, except that masks of images of different size have IoU 0, where it returns
/// -1. IoU is one division of two counts of pixels.
///
/// Costs the number of runs of both masks, and nothing where the boxes around them do not meet.
impl Shape for Mask {
    fn area(&self) -> f64 {
        f64::from(self.area)
    }

    fn bounds(&self) -> [f64; 4] {
        let [x, y, width, height] = self.bbox;
        [x, y, x + width, y + height].map(f64::from)
    }

    fn iou(&self, other: &Self) -> f64 {
        let overlap = self.overlap(other);
        let areas = f64::from(self.area) + f64::from(other.area);
        share(f64::from(overlap), areas - f64::from(overlap))
    }

    fn iou_crowd(&self, crowd: &Self) -> f64 {
        share(f64::from(self.overlap(crowd)), f64::from(self.area))
    }

    fn boundary(&self, dilation: f64) -> Option<Self> {
        Some(Mask::boundary(self, dilation))
    }
}

/// The number of pixels of an image.
fn pixels(height: u32, width: u32) -> Result<u32, InvalidMask> {
    height
        .checked_mul(width)
        .ok_or(InvalidMask::Image { height, width })
}

/// The run that the next is written as the difference to.
fn before(counts: &[u32]) -> Option<u32> {
    match counts {
        [_, .., before, _] => Some(*before),
        _ => None,
    }
}

/// Runs with whether they are inside.
pub(crate) fn alternating(counts: &[u32]) -> impl Iterator<Item = (bool, u32)> {
    let inside = [false, true].into_iter().cycle();
    inside.zip(counts.iter().copied())
}

/// The runs of pixels that two masks of one size have in common: whether inside of each, and how
/// long.
fn common_runs(a: &Mask, b: &Mask) -> impl Iterator<Item = ([bool; 2], u32)> {
    let (mut runs_a, mut runs_b) = (alternating(&a.counts), alternating(&b.counts));
    let (mut run_a, mut run_b) = ((false, 0), (false, 0));
    std::iter::from_fn(move || {
        while run_a.1 == 0 {
            run_a = runs_a.next()?;
        }
        while run_b.1 == 0 {
            run_b = runs_b.next()?;
        }
        let length = run_a.1.min(run_b.1);
        run_a.1 -= length;
        run_b.1 -= length;
        Some(([run_a.0, run_b.0], length))
    })
}

/// Where an edge between two points, in fifths of a pixel, passes from the left half of a column of
/// pixels to the right: calls `found` with the column and the height, for columns of the image.
///
/// pycocotools draws the edge in steps of one fifth along its longer axis and rounds the other; a
/// column counts where the drawn edge passes from the fifth in its middle to the next, at the
/// smaller height of the two steps. Here only those steps are looked at.
///
/// `None` as soon as `found` is false.
fn column_crossings(
    from: [i64; 2],
    to: [i64; 2],
    width: u32,
    mut found: impl FnMut(u32, i64) -> bool,
) -> Option<()> {
    let [dx, dy] = [0, 1].map(|axis| (to[axis] - from[axis]).abs());
    let along_x = dx >= dy;
    let longer = usize::from(!along_x);
    let (start, end) = if from[longer] > to[longer] {
        (to, from)
    } else {
        (from, to)
    };
    let steps = dx.max(dy);
    let slope = (end[1 - longer] - start[1 - longer]) as f64 / steps as f64;
    // The rounded coordinate after some steps. The conversion cuts towards 0.
    let rounded = |step: i64| (start[1 - longer] as f64 + slope * step as f64 + 0.5) as i64;
    let (low, high) = (start[0].min(end[0]), start[0].max(end[0]));
    let first = (low + 2).div_euclid(5).max(0);
    let last = (high - 3).div_euclid(5).min(i64::from(width) - 1);
    for column in first..=last {
        let middle = 5 * column + 2;
        let height = if along_x {
            let step = middle - start[0];
            rounded(step).min(rounded(step + 1))
        } else {
            // The last step on this side of the middle.
            let rising = start[0] < end[0];
            let (mut here, mut there) = (0, steps);
            while there - here > 1 {
                let step = here + (there - here) / 2;
                if (rounded(step) <= middle) == rising {
                    here = step;
                } else {
                    there = step;
                }
            }
            start[1] + here
        };
        if !found(u32::try_from(column).ok()?, height) {
            return None;
        }
    }
    Some(())
}

/// The error for run lengths, texts or polygons that are not a valid mask.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidMask {
    /// The image has 2^32 pixels or more.
    Image {
        /// Its height.
        height: u32,
        /// Its width.
        width: u32,
    },
    /// The runs do not add up to the pixels of the image.
    Total {
        /// Their sum.
        total: u64,
        /// Height times width.
        pixels: u32,
    },
    /// A character that run lengths are not written with.
    Character {
        /// Its position in the text, in bytes from 0.
        position: usize,
        /// Its byte.
        byte: u8,
    },
    /// A number of the text continues past the end, or is not a run length.
    Number {
        /// Where it begins, in bytes from 0.
        position: usize,
    },
    /// A coordinate of a polygon is not finite, or beyond ±1e8.
    Coordinate {
        /// The index of the polygon, counted from 0.
        polygon: usize,
        /// The coordinate.
        value: f64,
    },
    /// The outlines pass more than 2^24 times from column to column.
    Crossings {
        /// At which polygon they do, counted from 0.
        polygon: usize,
    },
}

impl fmt::Display for InvalidMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image { height, width } => {
                write!(
                    f,
                    "an image of {height} x {width}: expected less than 2^32 pixels"
                )
            }
            Self::Total { total, pixels } => {
                write!(
                    f,
                    "the runs add up to {total}: expected {pixels}, height times width"
                )
            }
            Self::Character { position, byte } => {
                let hint = match (position, byte) {
                    (1, b'\'' | b'"') => {
                        " (str() of Python writes bytes as b'...': write counts.decode() to the file)"
                    }
                    _ => "",
                };
                let byte = byte.escape_ascii();
                write!(
                    f,
                    "character {position} is '{byte}': expected one from '0' to 'o'{hint}"
                )
            }
            Self::Number { position } => {
                write!(
                    f,
                    "the number at character {position} is not a run length from 0 to 2^32 - 1"
                )
            }
            Self::Coordinate { polygon, value } => {
                write!(
                    f,
                    "polygon {polygon} has {value}: expected numbers within ±1e8"
                )
            }
            Self::Crossings { polygon } => write!(
                f,
                "the polygons up to {polygon} pass more than 2^24 times from column to column of pixels"
            ),
        }
    }
}

impl std::error::Error for InvalidMask {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_mask() {
        let counts = |counts: &[u32]| Mask::from_counts(2, 2, counts).err();
        assert_eq!(counts(&[4]), None);
        assert_eq!(
            counts(&[]),
            Some(InvalidMask::Total {
                total: 0,
                pixels: 4
            })
        );
        let total = 2 * u64::from(u32::MAX);
        assert_eq!(
            counts(&[u32::MAX; 2]),
            Some(InvalidMask::Total { total, pixels: 4 })
        );
        let (height, width) = (1 << 16, 1 << 16);
        let image = Some(InvalidMask::Image { height, width });
        assert_eq!(Mask::from_counts(height, width, &[]).err(), image);

        let text = |text: &str| Mask::from_compressed(2, 2, text).err();
        assert_eq!(text("4"), None);
        assert_eq!(text("04"), None);
        assert_eq!(
            text("0\""),
            Some(InvalidMask::Character {
                position: 1,
                byte: 34
            })
        );
        assert_eq!(
            text("p"),
            Some(InvalidMask::Character {
                position: 0,
                byte: 112
            })
        );
        // The character is the one in the middle of a number.
        let bytes = text("b'04'").expect("an error");
        let (position, byte) = (1, b'\'');
        assert_eq!(bytes, InvalidMask::Character { position, byte });
        let hint = "write counts.decode() to the file)";
        assert!(bytes.to_string().ends_with(hint), "{bytes}");
        assert_eq!(text("0T"), Some(InvalidMask::Number { position: 1 })); // unfinished
        assert_eq!(text("0O"), Some(InvalidMask::Number { position: 1 })); // -1
        assert_eq!(text("0ooooooo0"), Some(InvalidMask::Number { position: 1 }));
        let (total, pixels) = (3, 4);
        assert_eq!(text("111"), Some(InvalidMask::Total { total, pixels }));

        let polygon = |value| Mask::from_polygons(2, 2, &[vec![], vec![0.0, 0.0, value]]).err();
        assert_eq!(polygon(0.0), None);
        for value in [f64::INFINITY, -1e9] {
            // A number without partner is left out, so it comes first.
            let drawn = Mask::from_polygons(2, 2, &[vec![], vec![value, 0.0]]).err();
            assert_eq!(drawn, Some(InvalidMask::Coordinate { polygon: 1, value }));
        }
        let wide: Vec<f64> = [[0.0, 0.0], [1e8, 0.0]].concat().repeat(2);
        let crossings = Some(InvalidMask::Crossings { polygon: 0 });
        assert_eq!(
            Mask::from_polygons(1, 100_000_000, &[wide]).err(),
            crossings
        );
        // One that alone would pass, 2^23 columns there and back.
        let two = [vec![0.0, 0.0, 1.0, 0.0], vec![0.0, 0.0, 8_388_608.0, 0.0]];
        let crossings = Some(InvalidMask::Crossings { polygon: 1 });
        assert_eq!(Mask::from_polygons(1, 1 << 23, &two).err(), crossings);
    }

    #[test]
    fn small_cases() {
        let read = |counts: &[u32]| Mask::from_counts(2, 3, counts).expect("a mask");
        let (none, all, left) = (read(&[6]), read(&[0, 6]), read(&[0, 2, 4]));
        assert_eq!((none.area(), none.bbox()), (0.0, [0; 4]));
        assert_eq!((all.area(), all.bbox()), (6.0, [0, 0, 3, 2]));
        assert_eq!((left.area(), left.bbox()), (2.0, [0, 0, 1, 2]));
        assert_eq!(
            (none.iou(&none), all.iou(&all), none.iou(&all)),
            (0.0, 1.0, 0.0)
        );
        assert_eq!((left.iou(&all), left.iou_crowd(&all)), (2.0 / 6.0, 1.0));
        assert_eq!(all.iou_crowd(&left), 2.0 / 6.0);
        // A run around the bottom of a column spans the height.
        assert_eq!(read(&[1, 2, 3]).bbox(), [0, 0, 2, 2]);
        // Runs of length 0 are joined; the same pixels are the same mask.
        assert_eq!(read(&[0, 1, 0, 1, 4, 0, 0]), left);
        // The same pixels of another image have nothing in common.
        let other = Mask::from_counts(3, 2, &[0, 6]).expect("a mask");
        assert_eq!(all.iou(&other), 0.0);
        for size in [[0, 0], [0, 5], [5, 0]] {
            let empty = Mask::from_counts(size[0], size[1], &[]).expect("a mask");
            let square = vec![0.0, 0.0, 5.0, 0.0, 5.0, 5.0, 0.0, 5.0];
            assert_eq!(
                Mask::from_polygons(size[0], size[1], &[square]),
                Ok(empty.clone())
            );
            assert_eq!((empty.area(), empty.iou(&empty)), (0.0, 0.0));
        }
    }

    proptest! {
        #[test]
        fn runs_count_as_pixels(a in pixels(), b in pixels()) {
            let both = a.iter().zip(&b).filter(|(a, b)| **a && **b).count() as f64;
            let either = a.iter().zip(&b).filter(|(a, b)| **a || **b).count() as f64;
            let (a, b) = (mask(&a), mask(&b));
            prop_assert_eq!(a.iou(&b), if both > 0.0 { both / either } else { 0.0 });
            prop_assert_eq!(a.iou(&b), b.iou(&a));
            prop_assert_eq!(a.union(&b).area(), either);
            let text = a.to_compressed();
            prop_assert_eq!(Mask::from_compressed(4, 5, &text), Ok(a));
        }

        #[test]
        fn no_text_and_no_polygon_panics(
            text in "[0-o]{0,20}",
            polygon in prop::collection::vec(-1e8..1e8_f64, 0..12),
        ) {
            let _ = Mask::from_compressed(10, 10, &text);
            prop_assert!(Mask::from_polygons(1000, 7, &[polygon]).is_ok());
        }
    }

    fn pixels() -> impl Strategy<Value = Vec<bool>> {
        prop::collection::vec(any::<bool>(), 20)
    }

    fn mask(pixels: &[bool]) -> Mask {
        Mask::of_runs(4, 5, pixels.iter().map(|&inside| (inside, 1)))
    }
}
