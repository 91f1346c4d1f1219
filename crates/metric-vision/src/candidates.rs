//! The pairs of shapes that overlap enough, and how many of them can be taken at once.

use std::cell::Cell;

use crate::{Detection, Shape, Truth};

/// No row, no column.
const FREE: usize = usize::MAX;

/// Visits the truths that may overlap a detection.
///
/// Few are held against all; many are sorted by their left edge first, so that a detection meets
/// only those whose extent in x can reach it.
pub(crate) struct Field<'a, S> {
    truths: &'a [Truth<S>],
    /// The truths by left edge; empty for few of them.
    by_left: Vec<Extent>,
    margin: f64,
}

struct Extent {
    place: usize,
    left: f64,
    /// The farthest right edge of this truth and those before it.
    reach: f64,
}

impl<'a, S: Shape> Field<'a, S> {
    /// Below so many pairs sorting does not pay.
    const FEW: usize = 4096;

    /// The truths for so many detections, which may overlap across a gap of this `margin`.
    pub(crate) fn new(detections: usize, truths: &'a [Truth<S>], margin: f64) -> Self {
        let mut by_left = Vec::new();
        if detections.saturating_mul(truths.len()) > Self::FEW {
            by_left.extend(truths.iter().enumerate().map(|(place, truth)| {
                let [left, _, right, _] = truth.shape.bounds();
                Extent {
                    place,
                    left,
                    reach: right + margin,
                }
            }));
            by_left.sort_by(|a, b| a.left.total_cmp(&b.left));
            let mut reach = f64::NEG_INFINITY;
            for extent in &mut by_left {
                reach = reach.max(extent.reach);
                extent.reach = reach;
            }
        }
        Self {
            truths,
            by_left,
            margin,
        }
    }

    /// All truths.
    pub(crate) fn truths(&self) -> &'a [Truth<S>] {
        self.truths
    }

    /// Calls `visit` with the place of every truth that overlaps `shape`, and of others, in no
    /// certain order.
    #[inline]
    pub(crate) fn near(&self, shape: &S, mut visit: impl FnMut(usize, &Truth<S>)) {
        if self.by_left.is_empty() {
            for (place, truth) in self.truths.iter().enumerate() {
                visit(place, truth);
            }
            return;
        }
        // Overlapping shapes have min(right edges) > max(left edges), with the edges as the shapes
        // give them: this leaves out none.
        let [left, _, right, _] = shape.bounds();
        let first = self.by_left.partition_point(|extent| extent.reach <= left);
        let end = self
            .by_left
            .partition_point(|extent| extent.left < right + self.margin);
        for extent in self.by_left.get(first..end).unwrap_or_default() {
            visit(extent.place, &self.truths[extent.place]);
        }
    }
}

/// The greatest number of one-to-one pairs that are `enough` of an overlap: what
/// [`optimal`](crate::matching::optimal) counts if all truths count, without the choice of pairs.
pub(crate) fn most_pairs<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    enough: impl Fn(&S, &S) -> bool,
) -> u64 {
    // Most items of real data have one on one side.
    match (detections, truths) {
        ([], _) | (_, []) => 0,
        ([one], many) => u64::from(many.iter().any(|truth| enough(&one.shape, &truth.shape))),
        (many, [one]) => u64::from(many.iter().any(|found| enough(&found.shape, &one.shape))),
        _ => with_candidates(detections, truths, enough, Candidates::most_pairs),
    }
}

/// Lets `work` look at the pairs that are `enough` of an overlap.
///
/// Each thread keeps the memory for its next item, so that an item costs no allocation.
pub(crate) fn with_candidates<S: Shape, R>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    enough: impl Fn(&S, &S) -> bool,
    work: impl FnOnce(&mut Candidates) -> R,
) -> R {
    thread_local! {
        static KEPT: Cell<Option<Box<Candidates>>> = const { Cell::new(None) };
    }
    let mut candidates = KEPT.take().unwrap_or_default();
    candidates.fill(detections, truths, enough);
    let result = work(&mut candidates);
    KEPT.set(Some(candidates));
    result
}

/// For each detection (row) the truths (columns) that it overlaps enough.
#[derive(Default)]
pub(crate) struct Candidates {
    columns: usize,
    /// The columns of all rows.
    entries: Vec<usize>,
    /// Where each row ends in `entries`.
    ends: Vec<usize>,
    // The working memory of `most_pairs`.
    row_of: Vec<usize>,
    column_of: Vec<usize>,
    reached_from: Vec<usize>,
    seen: Vec<usize>,
    queue: Vec<usize>,
}

impl Candidates {
    fn fill<S: Shape>(
        &mut self,
        detections: &[Detection<S>],
        truths: &[Truth<S>],
        enough: impl Fn(&S, &S) -> bool,
    ) {
        self.columns = truths.len();
        self.entries.clear();
        self.ends.clear();
        let field = Field::new(detections.len(), truths, 0.0);
        for detection in detections {
            field.near(&detection.shape, |place, truth| {
                if enough(&detection.shape, &truth.shape) {
                    self.entries.push(place);
                }
            });
            self.ends.push(self.entries.len());
        }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.ends.len() as u64
    }

    /// For each row, whether it has a candidate.
    pub(crate) fn rows_with_any(&self) -> impl Iterator<Item = bool> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |&end| std::mem::replace(&mut start, end) < end)
    }

    /// For each column, whether it stands in a row.
    pub(crate) fn columns_with_any(&mut self) -> impl Iterator<Item = bool> {
        self.seen.clear();
        self.seen.resize(self.columns, 0);
        for &column in &self.entries {
            self.seen[column] = 1;
        }
        self.seen.iter().map(|&seen| seen == 1)
    }

    /// The greatest number of pairs that share no row and no column.
    ///
    /// Every row first takes a free column. Then each row left over looks for a path that frees
    /// one, breadth first (C. Berge, *Two theorems in graph theory*, PNAS 43, 1957). What a search
    /// in vain has seen leads nowhere until the pairs change, and is not seen again before. In the
    /// worst case the product of rows and candidates; mostly one look at each candidate.
    pub(crate) fn most_pairs(&mut self) -> u64 {
        let Self {
            columns,
            entries,
            ends,
            row_of,
            column_of,
            reached_from,
            seen,
            queue,
        } = self;
        let candidates_of = |row: usize| {
            let start = if row == 0 { 0 } else { ends[row - 1] };
            &entries[start..ends[row]]
        };
        row_of.clear();
        row_of.resize(*columns, FREE);
        column_of.clear();
        let mut pairs = 0;
        let mut left_over = false;
        for row in 0..ends.len() {
            let candidates = candidates_of(row);
            let free = candidates.iter().copied().find(|&c| row_of[c] == FREE);
            if let Some(column) = free {
                row_of[column] = row;
                pairs += 1;
            }
            column_of.push(free.unwrap_or(FREE));
            left_over |= free.is_none() && !candidates.is_empty();
        }
        if !left_over {
            return pairs as u64;
        }

        seen.clear();
        seen.resize(*columns, 0);
        reached_from.resize(*columns, FREE);
        for start in 0..ends.len() {
            if column_of[start] != FREE {
                continue;
            }
            queue.clear();
            queue.push(start);
            let mut next = 0;
            let mut end = FREE;
            'search: while let Some(&row) = queue.get(next) {
                next += 1;
                for &column in candidates_of(row) {
                    // Pairs found so far date the mark.
                    if seen[column] == pairs {
                        continue;
                    }
                    seen[column] = pairs;
                    reached_from[column] = row;
                    if row_of[column] == FREE {
                        end = column;
                        break 'search;
                    }
                    queue.push(row_of[column]);
                }
            }
            if end == FREE {
                continue;
            }
            let mut column = end;
            loop {
                let row = reached_from[column];
                row_of[column] = row;
                std::mem::swap(&mut column_of[row], &mut column);
                if column == FREE {
                    break;
                }
            }
            pairs += 1;
        }
        pairs as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Candidates, Field};
    use crate::{BBox, Truth};

    fn most_pairs(rows: &[Vec<usize>], columns: usize) -> u64 {
        let mut candidates = Candidates {
            columns,
            ..Candidates::default()
        };
        for row in rows {
            candidates.entries.extend(row);
            candidates.ends.push(candidates.entries.len());
        }
        candidates.most_pairs()
    }

    /// By trying everything.
    fn brute_force(rows: &[Vec<usize>], used: u32) -> u64 {
        match rows {
            [] => 0,
            [row, rest @ ..] => row
                .iter()
                .filter(|&&column| used & (1 << column) == 0)
                .map(|&column| 1 + brute_force(rest, used | (1 << column)))
                .chain([brute_force(rest, used)])
                .max()
                .unwrap_or_default(),
        }
    }

    #[test]
    fn paths_that_free_a_column() {
        assert_eq!(most_pairs(&[], 3), 0);
        assert_eq!(most_pairs(&[vec![], vec![]], 3), 0);
        assert_eq!(most_pairs(&[vec![0], vec![0]], 1), 1);
        // Row 2 gets column 0 when row 1 goes on to 1, and row 0 to 2.
        assert_eq!(most_pairs(&[vec![1, 2], vec![0, 1], vec![0]], 3), 3);
    }

    fn boxes() -> impl Strategy<Value = Vec<BBox>> {
        let item = [0_u8..24, 0_u8..24, 0_u8..12, 0_u8..12].prop_map(|numbers| {
            let [x, y, w, h] = numbers.map(f64::from);
            BBox::from_xywh(x, y, w, h).expect("a box")
        });
        proptest::collection::vec(item, 70)
    }

    proptest! {
        #[test]
        fn as_many_as_by_trying_everything(
            rows in proptest::collection::vec(proptest::collection::vec(0_usize..6, 0..4), 0..7),
        ) {
            prop_assert_eq!(most_pairs(&rows, 6), brute_force(&rows, 0));
        }

        #[test]
        fn many_boxes_find_the_same_overlaps_as_few(
            detections in boxes(), truths in boxes(), margin in 0_u8..3,
        ) {
            // With a margin, boxes a little apart overlap as well.
            let margin = f64::from(margin);
            let wide = |shape: &BBox| {
                let [x, y, w, h] = shape.xywh();
                BBox::from_xywh(x, y, w + margin, h).expect("a box")
            };
            let overlaps = |a: &BBox, b: &BBox| crate::iou(&wide(a), &wide(b)) > 0.0;
            let truths: Vec<Truth> = truths.into_iter().map(Truth::from).collect();
            let field = Field::new(detections.len(), &truths, margin);
            prop_assert!(!field.by_left.is_empty());
            for detection in &detections {
                let mut found = Vec::new();
                field.near(detection, |place, truth| {
                    if overlaps(detection, &truth.shape) {
                        found.push(place);
                    }
                });
                found.sort_unstable();
                let plain: Vec<usize> = (0..truths.len())
                    .filter(|&place| overlaps(detection, &truths[place].shape))
                    .collect();
                prop_assert_eq!(found, plain);
            }
        }
    }
}
