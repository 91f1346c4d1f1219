//! The pairs of shapes that overlap enough, and how many of them can be taken at once.

use std::cell::Cell;

use crate::nearest::{Arithmetic, Measure, Prefer, Search};
use crate::tree::{Bounds, Tree};
use crate::{Detection, Shape, Truth};

/// No row, no column.
const FREE: usize = usize::MAX;

/// Visits the truths that may overlap a detection.
///
/// If there are few, a detection is compared with all of them; if there are many, only with those whose bounds it
/// reaches.
pub(crate) struct Field<'a, S> {
    truths: &'a [Truth<S>],
    /// None for few of them.
    tree: Option<Tree>,
    margin: f64,
}

impl<'a, S: Shape> Field<'a, S> {
    /// Below this number of pairs a tree does not pay off. Tests need one.
    const FEW: usize = if cfg!(test) { 64 } else { 4096 };

    /// The truths for this many detections, which may overlap across a gap of this `margin`.
    pub(crate) fn new(detections: usize, truths: &'a [Truth<S>], margin: f64) -> Self {
        let many = detections.saturating_mul(truths.len()) > Self::FEW;
        let tree = many.then(|| tree(truths, margin));
        Self {
            truths,
            tree,
            margin,
        }
    }

    /// All truths.
    pub(crate) fn truths(&self) -> &'a [Truth<S>] {
        self.truths
    }

    /// Calls `visit` with the position of every truth that overlaps `shape`, and of others, in no
    /// certain order. Says how often, unless there are few truths.
    #[inline]
    pub(crate) fn near(&self, shape: &S, mut visit: impl FnMut(usize, &Truth<S>)) -> usize {
        let mut visits = 0;
        match &self.tree {
            None => {
                let truths = self.truths.iter().enumerate();
                truths.for_each(|(index, truth)| visit(index, truth));
            }
            Some(tree) => {
                tree.any(reach(shape, self.margin), |index| {
                    visits += 1;
                    visit(index, &self.truths[index]);
                    false
                });
            }
        }
        visits
    }

    /// [`near`](Self::near) until `visit` is true, and whether it was.
    #[inline]
    pub(crate) fn any_near(
        &self,
        shape: &S,
        mut visit: impl FnMut(usize, &Truth<S>) -> bool,
    ) -> bool {
        match &self.tree {
            None => {
                let mut truths = self.truths.iter().enumerate();
                truths.any(|(index, truth)| visit(index, truth))
            }
            // Overlapping shapes have min(right edges) > max(left edges), with the edges as the
            // shapes give them: this leaves out none.
            Some(tree) => tree.any(reach(shape, self.margin), |index| {
                visit(index, &self.truths[index])
            }),
        }
    }
}

fn tree<S: Shape>(truths: &[Truth<S>], margin: f64) -> Tree {
    Tree::new(truths.iter().map(|truth| reach(&truth.shape, margin)))
}

/// The bounds of a shape with a margin to the right and below.
#[inline]
fn reach<S: Shape>(shape: &S, margin: f64) -> Bounds {
    let [left, top, right, bottom] = shape.bounds();
    [left, top, right + margin, bottom + margin]
}

/// The overlaps that are enough.
#[derive(Clone, Copy)]
pub(crate) struct Enough<F> {
    arithmetic: Arithmetic,
    least: f64,
    reaches: F,
}

impl<F> Enough<F> {
    /// Those of pairs that `reaches` accepts, which all have an IoU of at least `least` by this formula.
    pub(crate) fn new(arithmetic: Arithmetic, least: f64, reaches: F) -> Self {
        Self {
            arithmetic,
            least,
            reaches,
        }
    }

    /// The position of a truth that a shape overlaps enough.
    fn find<S: Shape>(&self, shape: &S, truths: &Search<'_, S>) -> Option<usize>
    where
        F: Fn(&S, &S) -> bool,
    {
        truths.any(shape, self.least, |truth| {
            (self.reaches)(shape, &truth.shape)
        })
    }

    /// The same, which is then taken out.
    fn take<S: Shape>(&self, shape: &S, truths: &mut Search<'_, S>) -> Option<usize>
    where
        F: Fn(&S, &S) -> bool,
    {
        let index = self.find(shape, truths)?;
        truths.remove(index);
        Some(index)
    }
}

/// The greatest number of one-to-one pairs that are `enough` of an overlap: what
/// [`optimal`](crate::matching::optimal) counts if all truths count, without the choice of pairs.
pub(crate) fn most_pairs<S: Shape>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    enough: Enough<impl Fn(&S, &S) -> bool>,
) -> u64 {
    let reaches = &enough.reaches;
    // Most items of real data have one on one side.
    match (detections, truths) {
        ([], _) | (_, []) => 0,
        ([one], many) => u64::from(many.iter().any(|truth| reaches(&one.shape, &truth.shape))),
        (many, [one]) => u64::from(many.iter().any(|found| reaches(&found.shape, &one.shape))),
        _ => with_candidates(detections, truths, enough, |found| found.most_pairs()),
    }
}

/// Lets `work` look at the pairs that are `enough` of an overlap.
///
/// Each thread keeps the memory for its next item, so that an item costs no allocation, unless it
/// was an item of very many pairs.
pub(crate) fn with_candidates<S: Shape, F: Fn(&S, &S) -> bool, R>(
    detections: &[Detection<S>],
    truths: &[Truth<S>],
    enough: Enough<F>,
    work: impl FnOnce(&mut Candidates<'_, S, F>) -> R,
) -> R {
    thread_local! {
        static KEPT: Cell<Option<Box<Memory>>> = const { Cell::new(None) };
    }
    let mut memory = KEPT.take().unwrap_or_default();
    let mut candidates = Candidates::new(detections, truths, enough, &mut memory, MOST_LOOKS);
    let result = work(&mut candidates);
    if memory.size() <= MOST_KEPT {
        KEPT.set(Some(memory));
    }
    result
}

/// After this many looks at pairs, the pairs are not listed but searched for each time they are needed.
const MOST_LOOKS: usize = 1 << 26;
/// A thread keeps no more numbers than this.
const MOST_KEPT: usize = 1 << 21;

/// For each detection (row) the truths (columns) that it overlaps enough.
pub(crate) struct Candidates<'a, S, F> {
    detections: &'a [Detection<S>],
    truths: &'a [Truth<S>],
    enough: Enough<F>,
    /// All truths, if the pairs are not in the lists.
    search: Option<Search<'a, S>>,
    memory: &'a mut Memory,
}

/// Lists that are used again for the next item.
#[derive(Default)]
struct Memory {
    /// The columns of all rows.
    entries: Vec<u32>,
    /// Where each row ends in `entries`.
    ends: Vec<usize>,
    /// The position of the search of each row in `entries`: for free columns, and for others.
    free: Vec<usize>,
    others: Vec<usize>,
    seen: Vec<bool>,
    taking: Taking,
}

impl Memory {
    fn size(&self) -> usize {
        let Taking {
            row_of,
            column_of,
            left_over,
            path,
        } = &self.taking;
        let lists = [&self.ends, &self.free, &self.others];
        let taking = [row_of, column_of, left_over, path];
        let all = lists.into_iter().chain(taking).map(Vec::capacity);
        all.sum::<usize>() + self.entries.capacity() + self.seen.capacity()
    }
}

impl<'a, S: Shape, F: Fn(&S, &S) -> bool> Candidates<'a, S, F> {
    /// The pairs, in lists if no more than `most_looks` tell all of them.
    fn new(
        detections: &'a [Detection<S>],
        truths: &'a [Truth<S>],
        enough: Enough<F>,
        memory: &'a mut Memory,
        most_looks: usize,
    ) -> Self {
        memory.entries.clear();
        memory.ends.clear();
        let field = Field::new(detections.len(), truths, 0.0);
        let mut looks = 0;
        let full = detections.iter().any(|detection| {
            let full = field.any_near(&detection.shape, |index, truth| {
                looks += 1;
                if looks > most_looks {
                    return true;
                }
                if (enough.reaches)(&detection.shape, &truth.shape) {
                    let Ok(column) = u32::try_from(index) else {
                        return true;
                    };
                    memory.entries.push(column);
                }
                false
            });
            memory.ends.push(memory.entries.len());
            full
        });
        let search = full.then(|| {
            memory.entries = Vec::new();
            let measure = Measure::Iou(enough.arithmetic);
            Search::new(truths, measure, Prefer::First, |_, _| true)
        });
        Self {
            detections,
            truths,
            enough,
            search,
            memory,
        }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.detections.len() as u64
    }

    /// For each row, whether it has a candidate.
    pub(crate) fn rows_with_any(&self) -> impl Iterator<Item = bool> {
        let mut start = 0;
        self.detections
            .iter()
            .enumerate()
            .map(move |(row, detection)| {
                if let Some(search) = &self.search {
                    return self.enough.find(&detection.shape, search).is_some();
                }
                let end = self.memory.ends[row];
                std::mem::replace(&mut start, end) < end
            })
    }

    /// For each column, whether it is in a row.
    pub(crate) fn columns_with_any(&mut self) -> impl Iterator<Item = bool> {
        let seen = &mut self.memory.seen;
        seen.clear();
        seen.resize(self.truths.len(), false);
        if let Some(search) = &self.search {
            let mut left = search.clone();
            for detection in self.detections {
                while let Some(column) = self.enough.take(&detection.shape, &mut left) {
                    seen[column] = true;
                }
            }
        } else {
            for &column in &self.memory.entries {
                seen[column as usize] = true;
            }
        }
        seen.iter().copied()
    }

    /// The greatest number of pairs that share no row and no column.
    pub(crate) fn most_pairs(&mut self) -> u64 {
        let (rows, columns) = (self.detections.len(), self.truths.len());
        let Memory {
            entries,
            ends,
            free,
            others,
            seen,
            taking,
        } = &mut *self.memory;
        if let Some(search) = &self.search {
            let mut lookup = Lookup {
                detections: self.detections,
                enough: &self.enough,
                all: search,
                free: search.clone(),
                others: search.clone(),
            };
            taking.most_pairs(rows, columns, &mut lookup)
        } else {
            for starts in [&mut *free, &mut *others] {
                starts.clear();
                starts.extend(std::iter::once(0).chain(ends.iter().copied()).take(rows));
            }
            let mut lists = Lists {
                entries,
                ends,
                free,
                others,
                seen,
            };
            taking.most_pairs(rows, columns, &mut lists)
        }
    }
}

impl<S: Shape, F: Fn(&S, &S) -> bool> Candidates<'_, S, F> {
    /// The column of each row in a choice of the [most pairs](Self::most_pairs).
    pub(crate) fn pairs(&mut self) -> Vec<Option<usize>> {
        self.most_pairs();
        let columns = self.memory.taking.column_of.iter();
        columns
            .map(|&column| Some(column).filter(|&c| c != FREE))
            .collect()
    }
}

/// The candidates of a row, one after the other.
trait Neighbours {
    /// A column of the row that is free. Who asks takes it.
    fn free(&mut self, row: usize, row_of: &[usize]) -> Option<usize>;

    /// A column of the row that was not given in this pass.
    fn other(&mut self, row: usize) -> Option<usize>;

    /// Begins a pass.
    fn pass(&mut self, columns: usize);
}

/// Candidates that are listed.
struct Lists<'a> {
    entries: &'a [u32],
    ends: &'a [usize],
    free: &'a mut [usize],
    others: &'a mut [usize],
    seen: &'a mut Vec<bool>,
}

impl Neighbours for Lists<'_> {
    fn free(&mut self, row: usize, row_of: &[usize]) -> Option<usize> {
        // A column that is taken is never free again.
        let start = &mut self.free[row];
        while *start < self.ends[row] {
            let column = self.entries[*start] as usize;
            *start += 1;
            if row_of[column] == FREE {
                return Some(column);
            }
        }
        None
    }

    fn other(&mut self, row: usize) -> Option<usize> {
        let start = &mut self.others[row];
        while *start < self.ends[row] {
            let column = self.entries[*start] as usize;
            *start += 1;
            if !std::mem::replace(&mut self.seen[column], true) {
                return Some(column);
            }
        }
        None
    }

    fn pass(&mut self, columns: usize) {
        self.seen.clear();
        self.seen.resize(columns, false);
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        for (start, first) in self.others.iter_mut().zip(starts) {
            *start = first;
        }
    }
}

/// Candidates that are searched for.
struct Lookup<'a, S, F> {
    detections: &'a [Detection<S>],
    enough: &'a Enough<F>,
    all: &'a Search<'a, S>,
    free: Search<'a, S>,
    others: Search<'a, S>,
}

impl<S: Shape, F: Fn(&S, &S) -> bool> Neighbours for Lookup<'_, S, F> {
    fn free(&mut self, row: usize, _row_of: &[usize]) -> Option<usize> {
        self.enough
            .take(&self.detections[row].shape, &mut self.free)
    }

    fn other(&mut self, row: usize) -> Option<usize> {
        self.enough
            .take(&self.detections[row].shape, &mut self.others)
    }

    fn pass(&mut self, _columns: usize) {
        self.others.restore(self.all);
    }
}

/// The column of each row.
#[derive(Default)]
struct Taking {
    row_of: Vec<usize>,
    column_of: Vec<usize>,
    left_over: Vec<usize>,
    /// The rows of a path.
    path: Vec<usize>,
}

impl Taking {
    /// The greatest number of pairs that share no row and no column.
    ///
    /// Every row first takes a free column. Then, pass by pass, each row left over looks for a path that frees one,
    /// depth first, in which a pass goes through no column twice (A. Pothen and C.-J. Fan, *Computing the block
    /// triangular form of a sparse matrix*, ACM TOMS 16, 1990). A pass in vain shows that there is no more (C. Berge,
    /// *Two theorems in graph theory*, PNAS 43, 1957). A pass looks at each candidate once at most; mostly there are
    /// few passes, in the worst case as many as rows.
    fn most_pairs(&mut self, rows: usize, columns: usize, candidates: &mut impl Neighbours) -> u64 {
        self.row_of.clear();
        self.row_of.resize(columns, FREE);
        self.column_of.clear();
        self.left_over.clear();
        for row in 0..rows {
            let free = candidates.free(row, &self.row_of);
            match free {
                Some(column) => self.row_of[column] = row,
                None => self.left_over.push(row),
            }
            self.column_of.push(free.unwrap_or(FREE));
        }
        let mut left_over = std::mem::take(&mut self.left_over);
        let mut before = usize::MAX;
        // Once all columns are taken there is nothing to look for.
        while left_over.len() < before && rows - left_over.len() < columns {
            before = left_over.len();
            if before == 0 {
                break;
            }
            candidates.pass(columns);
            left_over.retain(|&row| !self.frees_a_column(row, candidates));
        }
        let pairs = rows - left_over.len();
        self.left_over = left_over;
        pairs as u64
    }

    /// Assigns a column to a row, if some path frees one.
    fn frees_a_column(&mut self, start: usize, candidates: &mut impl Neighbours) -> bool {
        self.path.clear();
        self.path.push(start);
        let mut entered = true;
        while let Some(&row) = self.path.last() {
            if entered && let Some(free) = candidates.free(row, &self.row_of) {
                let mut column = free;
                for &row in self.path.iter().rev() {
                    self.row_of[column] = row;
                    std::mem::swap(&mut self.column_of[row], &mut column);
                }
                return true;
            }
            match candidates.other(row) {
                Some(column) => {
                    entered = true;
                    self.path.push(self.row_of[column]);
                }
                None => {
                    entered = false;
                    self.path.pop();
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Candidates, Enough, Field, Lists, Memory, Taking};
    use crate::nearest::Arithmetic;
    use crate::{BBox, Detection, Truth, iou};

    fn most_pairs(rows: &[Vec<u32>], columns: usize) -> u64 {
        let entries: Vec<u32> = rows.iter().flatten().copied().collect();
        let mut end = 0;
        let ends = rows.iter().map(|row| {
            end += row.len();
            end
        });
        let ends: Vec<usize> = ends.collect();
        let mut starts = vec![0];
        starts.extend(&ends);
        starts.truncate(rows.len());
        let mut lists = Lists {
            entries: &entries,
            ends: &ends,
            free: &mut starts.clone(),
            others: &mut starts,
            seen: &mut Vec::new(),
        };
        Taking::default().most_pairs(rows.len(), columns, &mut lists)
    }

    /// By trying everything.
    fn brute_force(rows: &[Vec<u32>], used: u32) -> u64 {
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
            rows in proptest::collection::vec(proptest::collection::vec(0_u32..6, 0..4), 0..7),
        ) {
            prop_assert_eq!(most_pairs(&rows, 6), brute_force(&rows, 0));
        }

        #[test]
        fn the_same_listed_and_searched_for(detections in boxes(), truths in boxes()) {
            let detections: Vec<Detection> = detections.into_iter().map(Detection::from).collect();
            let truths: Vec<Truth> = truths.into_iter().map(Truth::from).collect();
            let enough = Enough::new(Arithmetic::Shape, 0.1, |a: &BBox, b: &BBox| iou(a, b) >= 0.1);
            let found = [usize::MAX, 0].map(|most_looks| {
                let mut memory = Memory::default();
                let mut candidates =
                    Candidates::new(&detections, &truths, enough, &mut memory, most_looks);
                let rows: Vec<bool> = candidates.rows_with_any().collect();
                let columns: Vec<bool> = candidates.columns_with_any().collect();
                let all = (candidates.most_pairs(), rows, columns);
                (candidates.search.is_none(), all)
            });
            let [(true, listed), (_, searched)] = found else {
                return Err(TestCaseError::fail("not listed"));
            };
            prop_assert_eq!(listed, searched);
        }

        #[test]
        fn many_boxes_find_the_same_overlaps_as_few(
            detections in boxes(), truths in boxes(), margin in 0_u8..3,
        ) {
            // With a margin, boxes a little apart overlap as well.
            let margin = f64::from(margin);
            let wide = |shape: &BBox| {
                let [x, y, w, h] = shape.xywh();
                BBox::from_xywh(x, y, w + margin, h + margin).expect("a box")
            };
            let overlaps = |a: &BBox, b: &BBox| iou(&wide(a), &wide(b)) > 0.0;
            let truths: Vec<Truth> = truths.into_iter().map(Truth::from).collect();
            let field = Field::new(detections.len(), &truths, margin);
            prop_assert!(field.tree.is_some());
            for detection in &detections {
                let mut found = Vec::new();
                field.near(detection, |index, truth| {
                    if overlaps(detection, &truth.shape) {
                        found.push(index);
                    }
                });
                found.sort_unstable();
                let plain: Vec<usize> = (0..truths.len())
                    .filter(|&index| overlaps(detection, &truths[index].shape))
                    .collect();
                prop_assert_eq!(found, plain);
            }
        }
    }
}
