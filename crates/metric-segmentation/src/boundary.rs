//! The boundaries of masks and of segments (Cheng et al., *Boundary IoU*, 2021), equal to boundary-iou-api 37d2558.

use std::collections::VecDeque;

/// Finds the boundaries of all segments of an image row by row. A pixel is interior if all pixels at most `distance` rows
/// and columns from it are in the image and have its id; every other pixel is on the boundary of its segment.
///
/// A row is known once the rows below it have been seen, so as many are kept as the distance has.
///
/// ```
/// use metric_segmentation::Boundaries;
///
/// let image = [[1, 1, 1, 1], [1, 1, 1, 2], [1, 1, 1, 2], [1, 1, 2, 2]];
/// let mut boundaries = Boundaries::new(4, 1);
/// let mut found: Vec<Vec<bool>> = Vec::new();
/// for row in &image {
///     if let Some(row) = boundaries.push(row) {
///         found.push(row.pixels().map(|(_, is_boundary)| is_boundary).collect());
///     }
/// }
/// while let Some(row) = boundaries.finish() {
///     found.push(row.pixels().map(|(_, is_boundary)| is_boundary).collect());
/// }
/// // Only one pixel has neighbors of its id on all sides.
/// let interior = [(1, 1)];
/// let is_boundary = |y, x| !interior.contains(&(y, x));
/// assert!((0..4).all(|y| (0..4).all(|x| found[y][x] == is_boundary(y, x))));
/// ```
#[derive(Clone, Debug)]
pub struct Boundaries {
    distance: usize,
    /// The rows that are not yet known.
    waiting: VecDeque<Vec<u32>>,
    /// For each column, the number of rows up to the last one in which all pixels at most the distance to the left and to
    /// the right have the id of the column's pixel, which is the same in all of these rows.
    equal: Vec<usize>,
    /// The row that is returned, and whether each of its pixels is interior.
    known: Vec<u32>,
    interior: Vec<bool>,
}

/// A row of an image whose boundaries are known.
#[derive(Clone, Copy, Debug)]
pub struct BoundaryRow<'r> {
    ids: &'r [u32],
    interior: &'r [bool],
}

impl<'r> BoundaryRow<'r> {
    /// Returns the id of each pixel, and whether it is on the boundary of its segment.
    pub fn pixels(self) -> impl Iterator<Item = (u32, bool)> + use<'r> {
        let pixels = self.ids.iter().zip(self.interior);
        pixels.map(|(id, interior)| (*id, !interior))
    }
}

impl Boundaries {
    /// Returns the boundaries of an image of this width, before its first row. A distance of 0 is one of 1.
    #[must_use]
    pub fn new(width: usize, distance: usize) -> Self {
        Self {
            distance: distance.max(1),
            waiting: VecDeque::new(),
            equal: vec![0; width],
            known: Vec::new(),
            interior: vec![false; width],
        }
    }

    /// Takes the next row, and returns the one that is now known, if there is one.
    pub fn push(&mut self, row: &[u32]) -> Option<BoundaryRow<'_>> {
        self.count_equal(row);
        self.waiting.push_back(row.to_vec());
        if self.waiting.len() <= self.distance {
            return None;
        }
        let needed = self.distance.saturating_mul(2).saturating_add(1);
        for (interior, equal) in self.interior.iter_mut().zip(&self.equal) {
            *interior = *equal >= needed;
        }
        self.next()
    }

    /// Returns the next of the rows that are left after the last one was taken, which are within the distance of the end of
    /// the image.
    pub fn finish(&mut self) -> Option<BoundaryRow<'_>> {
        self.interior.fill(false);
        self.next()
    }

    fn next(&mut self) -> Option<BoundaryRow<'_>> {
        self.known = self.waiting.pop_front()?;
        Some(BoundaryRow {
            ids: &self.known,
            interior: &self.interior,
        })
    }

    /// Counts the rows of equal pixels up to a row.
    fn count_equal(&mut self, row: &[u32]) {
        let before = self.waiting.back();
        let mut start = 0;
        while start < row.len().min(self.equal.len()) {
            let id = row[start];
            let length = row[start..].iter().take_while(|next| **next == id).count();
            let end = (start + length).min(self.equal.len());
            for (column, equal) in self.equal.iter_mut().enumerate().take(end).skip(start) {
                let is_inside = column - start >= self.distance && end - column > self.distance;
                let is_same = before.is_some_and(|before| before[column] == id);
                *equal = if is_inside {
                    1 + if is_same { *equal } else { 0 }
                } else {
                    0
                };
            }
            start += length;
        }
    }
}
