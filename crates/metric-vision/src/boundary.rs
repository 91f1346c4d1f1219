//! Boundaries of masks.

use metric_core::boundary_distance;

use crate::Mask;
use crate::mask::alternating;

impl Mask {
    /// Returns the boundary: the pixels of the mask that have a pixel outside of the mask, or outside of the image, within
    /// `d` rows and `d` columns.
    ///
    /// `d` is the dilation, a share of the diagonal of the image, rounded to a whole number of pixels with halves to
    /// even, and at least 1. A mask that is nowhere wider than `2 d` is all boundary.
    ///
    /// Costs the number of pixels of the [box](Self::bbox) around the mask.
    ///
    /// ```
    /// use metric_vision::{Mask, Shape};
    ///
    /// // In 7 x 7 pixels, a square of 5 x 5: all but the 3 x 3 in the middle are within one pixel of its border.
    /// let square = Mask::from_polygons(7, 7, &[vec![1.0, 1.0, 6.0, 1.0, 6.0, 6.0, 1.0, 6.0]])?;
    /// assert_eq!(square.boundary(0.02).area(), 25.0 - 9.0);
    /// // 0.2 of the diagonal, which is 9.9, are 2 pixels.
    /// assert_eq!(square.boundary(0.2).area(), 25.0 - 1.0);
    /// # Ok::<(), metric_vision::InvalidMask>(())
    /// ```
    ///
    /// Source: Cheng et al., *Boundary IoU* (CVPR 2021); `mask_to_boundary` of boundary-iou-api.
    #[must_use]
    pub fn boundary(&self, dilation: f64) -> Self {
        let distance = boundary_distance(self.width() as usize, self.height() as usize, dilation);
        let [left, _, width, height] = self.bbox().map(|length| length as usize);
        let window = distance.saturating_mul(2).saturating_add(1);
        if window > width || window > height {
            return self.clone();
        }
        let columns = self.columns();
        let mut inner = Inner::new(self.height() as usize, distance);
        let mut runs = Runs::default();
        for column in 0..width {
            // The columns that the window around this one ends with.
            while inner.columns <= column + distance && inner.columns < width {
                inner.add(columns.get(inner.columns).map_or(&[], Vec::as_slice));
            }
            let is_within = column >= distance && column + distance < width;
            let start = (left + column) * self.height() as usize;
            for &(top, bottom) in columns.get(column).map_or(&[][..], Vec::as_slice) {
                if is_within {
                    inner.outside(top, bottom, |top, bottom| {
                        runs.add(start + top, start + bottom);
                    });
                } else {
                    runs.add(start + top, start + bottom);
                }
            }
        }
        let pixels = self.height() as usize * self.width() as usize;
        Self::of_runs(self.height(), self.width(), runs.finish(pixels))
    }

    /// For each column of the box around the pixels, the rows of its runs: from and to.
    fn columns(&self) -> Vec<Vec<(usize, usize)>> {
        let [left, _, width, _] = self.bbox().map(|length| length as usize);
        let height = self.height() as usize;
        let mut columns = vec![Vec::new(); width];
        let mut end = 0;
        for (is_inside, length) in alternating(self.counts()) {
            let mut start = end;
            end += length as usize;
            while is_inside && start < end {
                let column = start / height;
                let top = start % height;
                let bottom = height.min(top + end - start);
                if let Some(runs) = columns.get_mut(column - left) {
                    runs.push((top, bottom));
                }
                start += bottom - top;
            }
        }
        columns
    }
}

/// The pixels whose window is inside, found column by column.
struct Inner {
    distance: usize,
    /// For each row, the number of columns up to the last one in which all pixels within the distance in the column are
    /// inside.
    streaks: Vec<u32>,
    /// The number of columns that were added.
    columns: usize,
}

impl Inner {
    fn new(height: usize, distance: usize) -> Self {
        Self {
            distance,
            streaks: vec![0; height],
            columns: 0,
        }
    }

    /// Adds the runs of the next column.
    fn add(&mut self, runs: &[(usize, usize)]) {
        let mut end = 0;
        for &(top, bottom) in runs {
            let (first, last) = (top + self.distance, bottom.saturating_sub(self.distance));
            if first >= last {
                continue;
            }
            self.reset(end, first);
            let rows = self.streaks.get_mut(first..last).unwrap_or_default();
            rows.iter_mut().for_each(|streak| *streak += 1);
            end = last;
        }
        self.reset(end, self.streaks.len());
        self.columns += 1;
    }

    fn reset(&mut self, from: usize, to: usize) {
        self.streaks.get_mut(from..to).unwrap_or_default().fill(0);
    }

    /// Visits the rows of a run, in the column in the middle of the window, whose window is not all inside.
    fn outside(&self, top: usize, bottom: usize, mut visit: impl FnMut(usize, usize)) {
        let window = 2 * self.distance + 1;
        let rows = self.streaks.get(top..bottom).unwrap_or_default();
        let mut start = top;
        for same in rows.chunk_by(|a, b| (*a as usize >= window) == (*b as usize >= window)) {
            let end = start + same.len();
            if same
                .first()
                .is_some_and(|&streak| (streak as usize) < window)
            {
                visit(start, end);
            }
            start = end;
        }
    }
}

/// Runs of pixels, inside and outside.
#[derive(Default)]
struct Runs {
    runs: Vec<(bool, u32)>,
    end: usize,
}

impl Runs {
    /// Adds pixels that are inside.
    fn add(&mut self, start: usize, end: usize) {
        self.runs.push((false, (start - self.end) as u32));
        self.runs.push((true, (end - start) as u32));
        self.end = end;
    }

    fn finish(mut self, pixels: usize) -> Vec<(bool, u32)> {
        self.runs.push((false, (pixels - self.end) as u32));
        self.runs
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Shape;

    /// The definition, word by word.
    fn by_definition(inside: &[bool], height: usize, distance: usize) -> Vec<bool> {
        let width = inside.len() / height;
        let is_inside = |row: isize, column: isize| {
            let is_in_image =
                (0..height as isize).contains(&row) && (0..width as isize).contains(&column);
            is_in_image && inside[column as usize * height + row as usize]
        };
        let near = -(distance as isize)..=distance as isize;
        let is_inner = |index: usize| {
            let (row, column) = ((index % height) as isize, (index / height) as isize);
            let all_of_row = |down: isize| {
                let mut columns = near.clone();
                columns.all(|right| is_inside(row + down, column + right))
            };
            near.clone().all(all_of_row)
        };
        let pixels = inside.iter().enumerate();
        pixels
            .map(|(index, &is_inside)| is_inside && !is_inner(index))
            .collect()
    }

    fn mask(height: u32, width: u32, pixels: &[bool]) -> Mask {
        Mask::of_runs(height, width, pixels.iter().map(|&inside| (inside, 1)))
    }

    proptest! {
        #[test]
        fn boundaries_follow_the_definition(
            holes in proptest::collection::btree_set(0_usize..180, 0..6),
            distance in 1_usize..4,
        ) {
            let inside: Vec<bool> = (0..180).map(|pixel| !holes.contains(&pixel)).collect();
            let expected = by_definition(&inside, 12, distance);
            // The diagonal of 12 x 15 pixels is 19.2.
            let boundary = mask(12, 15, &inside).boundary(distance as f64 / 19.2);
            prop_assert_eq!(boundary, mask(12, 15, &expected));
        }
    }

    #[test]
    fn small_masks_are_all_boundary() {
        let nothing = mask(3, 3, &[false; 9]);
        assert_eq!(nothing.boundary(0.02), nothing);
        let line = mask(1, 5, &[true; 5]);
        assert_eq!(line.boundary(0.02), line);
        // The border of the image is a boundary too.
        assert_eq!(mask(3, 3, &[true; 9]).boundary(0.02).area(), 8.0);
        // No window of this size fits.
        assert_eq!(mask(3, 3, &[true; 9]).boundary(1e300).area(), 9.0);
        assert_eq!(mask(3, 3, &[true; 9]).boundary(f64::NAN).area(), 8.0);
    }
}
