use metric_core::{Mean, Metric, fields, named_scores, ratio};

use crate::{COLOURS, Grid, InvalidGrid};

/// The number of cells in which two grids agree, and the number of cells that at least one of them
/// has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellMatches {
    /// Cells at the same place, counted from the top left, with the same color.
    pub matches: u64,
    /// Cells of the smallest rectangle that holds both grids: the greater number of rows times the
    /// greater number of columns.
    pub padded_cells: u64,
}

/// Counts the cells that agree when the two grids are aligned at the top left and padded to a common size with a
/// value that matches nothing.
///
/// Symmetric. One pass over the cells that both have.
///
/// ```
/// use metric_grid::{CellMatches, Grid, cell_matches};
///
/// let truth = Grid::from_rows(&[[1, 2, 3], [4, 5, 6]])?;
/// let taller = Grid::from_rows(&[[3, 2, 1], [4, 5, 6], [7, 8, 9]])?;
/// assert_eq!(cell_matches(&taller, &truth), CellMatches { matches: 4, padded_cells: 9 });
/// # Ok::<(), metric_grid::InvalidGrid>(())
/// ```
#[must_use]
pub fn cell_matches(prediction: &Grid, reference: &Grid) -> CellMatches {
    let (a, b) = (prediction, reference);
    let matches = if (a.rows(), a.columns()) == (b.rows(), b.columns()) {
        equal_cells(a.cells(), b.cells())
    } else {
        let rows = a.cells().chunks_exact(a.columns());
        rows.zip(b.cells().chunks_exact(b.columns()))
            .map(|(a, b)| equal_cells(a, b))
            .sum()
    };
    CellMatches {
        matches,
        padded_cells: (a.rows().max(b.rows()) * a.columns().max(b.columns())) as u64,
    }
}

/// Returns the share of cells that agree, `matches / padded_cells` of [`cell_matches`]: in \[0,
/// 1\], symmetric, 1 only for equal grids.
///
/// The program arcsolver 0.0.11 multiplies three ratios (of rows, of columns, of agreeing cells in
/// the overlap). Their product is this one fraction; its rounding can differ from ours by 1.1e-16.
///
/// ```
/// use metric_grid::{Grid, cell_accuracy};
///
/// let truth = Grid::from_rows(&[[1, 2, 3], [4, 5, 6]])?;
/// let swapped = Grid::from_rows(&[[3, 2, 1], [4, 5, 6]])?;
/// let taller = Grid::from_rows(&[[3, 2, 1], [4, 5, 6], [7, 8, 9]])?;
/// assert_eq!(cell_accuracy(&swapped, &truth), 4.0 / 6.0); // 0.666...
/// assert_eq!(cell_accuracy(&taller, &truth), 4.0 / 9.0); // 0.444...
///
/// // The other way round: two rows predicted where three are true.
/// let truth = Grid::from_rows(&[[1, 2, 3], [4, 5, 6], [7, 8, 9]])?;
/// assert_eq!(cell_accuracy(&swapped, &truth), 4.0 / 9.0);
/// # Ok::<(), metric_grid::InvalidGrid>(())
/// ```
#[must_use]
pub fn cell_accuracy(prediction: &Grid, reference: &Grid) -> f64 {
    let CellMatches {
        matches,
        padded_cells,
    } = cell_matches(prediction, reference);
    matches as f64 / padded_cells as f64
}

/// Returns whether two grids have the same shape and the same cells.
///
/// ```
/// use metric_grid::{Grid, exact_match};
///
/// let row = Grid::from_rows(&[[1, 2]])?;
/// assert!(exact_match(&row, &row));
/// assert!(!exact_match(&row, &Grid::from_rows(&[[1], [2]])?));
/// # Ok::<(), metric_grid::InvalidGrid>(())
/// ```
#[must_use]
pub fn exact_match(prediction: &Grid, reference: &Grid) -> bool {
    prediction == reference
}

/// Returns whether two grids have the same number of rows and of columns.
///
/// ```
/// use metric_grid::{Grid, shape_match};
///
/// let row = Grid::from_rows(&[[1, 2]])?;
/// assert!(shape_match(&row, &Grid::from_rows(&[[3, 4]])?));
/// assert!(!shape_match(&row, &Grid::from_rows(&[[1], [2]])?));
/// # Ok::<(), metric_grid::InvalidGrid>(())
/// ```
#[must_use]
pub fn shape_match(prediction: &Grid, reference: &Grid) -> bool {
    (prediction.rows(), prediction.columns()) == (reference.rows(), reference.columns())
}

/// Returns whether two grids have the same set of colors.
///
/// ```
/// use metric_grid::{Grid, palette_match};
///
/// let truth = Grid::from_rows(&[[1, 2], [2, 2]])?;
/// assert!(palette_match(&Grid::from_rows(&[[2, 1]])?, &truth));
/// assert!(!palette_match(&Grid::from_rows(&[[1, 1]])?, &truth));
/// # Ok::<(), metric_grid::InvalidGrid>(())
/// ```
#[must_use]
pub fn palette_match(prediction: &Grid, reference: &Grid) -> bool {
    (0..COLOURS)
        .all(|colour| prediction.cells().contains(&colour) == reference.cells().contains(&colour))
}

/// The number of positions where two slices are equal, up to the shorter one.
fn equal_cells(a: &[u8], b: &[u8]) -> u64 {
    /// Bytes counted side by side, each in a counter of one byte: the compiler makes one compare
    /// and one subtract of 16 or 32 bytes of it.
    const LANES: usize = 32;
    // A grid has at most 900 cells, 28 a lane: a byte does not overflow.
    const { assert!(crate::MAX_SIDE * crate::MAX_SIDE / LANES <= u8::MAX as usize) };

    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [0_u8; LANES];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += u8::from(a == b);
        }
    }
    let rest = a_rest.iter().zip(b_rest).filter(|(a, b)| a == b).count();
    lanes.iter().map(|&lane| u64::from(lane)).sum::<u64>() + rest as u64
}

/// The content found where a predicted grid should be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attempt {
    /// A grid.
    Grid(Grid),
    /// Nothing.
    Missing,
    /// Something that is not an ARC grid.
    Invalid,
}

impl From<Grid> for Attempt {
    fn from(grid: Grid) -> Self {
        Self::Grid(grid)
    }
}

impl From<Result<Grid, InvalidGrid>> for Attempt {
    /// An attempt that is not a grid is invalid.
    fn from(grid: Result<Grid, InvalidGrid>) -> Self {
        grid.map_or(Self::Invalid, Self::Grid)
    }
}

/// Predicted ARC grids compared with true ones, one example per pair.
///
/// A missing or invalid attempt scores 0: no match among the cells of the true grid.
///
/// ```
/// use metric_core::{Merge, Metric};
/// use metric_grid::{ArcGrids, Attempt, Grid};
///
/// let truth = Grid::from_rows(&[[1, 2], [3, 4]])?;
/// let near = Attempt::Grid(Grid::from_rows(&[[1, 2], [3, 0]])?); // 3 of 4 cells
///
/// let mut state = ArcGrids.measure(&near, &truth);
/// state.merge(ArcGrids.measure(&Attempt::Grid(Grid::from_rows(&[[7]])?), &Grid::from_rows(&[[7]])?));
/// state.merge(ArcGrids.measure(&Attempt::Missing, &truth)); // 0 of 4 cells
///
/// let score = ArcGrids.compute(&state);
/// assert_eq!(score.cell_accuracy, Some((0.75 + 1.0 + 0.0) / 3.0));
/// assert_eq!(score.cell_accuracy_pooled, Some((3.0 + 1.0 + 0.0) / (4.0 + 1.0 + 4.0)));
/// assert_eq!(score.exact, Some(1.0 / 3.0));
/// assert_eq!((state.missing, state.invalid), (1, 0));
/// # Ok::<(), metric_grid::InvalidGrid>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArcGrids;

/// The state of [`ArcGrids`]: the counts and sums from which its score is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArcState {
    /// All pairs.
    pub pairs: u64,
    /// Cells that agree, over all pairs.
    pub matches: u64,
    /// Cells that could agree, over all pairs: see [`CellMatches::padded_cells`].
    pub padded_cells: u64,
    /// Pairs of equal grids.
    pub exact: u64,
    /// Attempts that are not an ARC grid.
    pub invalid: u64,
    /// Attempts that are missing.
    pub missing: u64,
    /// Pairs of grids of the same shape.
    pub shape_matches: u64,
    /// Pairs of grids of the same colors.
    pub palette_matches: u64,
    /// The cell accuracy of each pair.
    pub cell_accuracy: Mean,
}

/// The score of [`ArcGrids`]; each part is undefined without pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ArcScore {
    /// The mean over the pairs of [`cell_accuracy`], in which every pair counts the same.
    pub cell_accuracy: Option<f64>,
    /// The matches of all pairs over the padded cells of all pairs, in which every cell counts
    /// the same.
    pub cell_accuracy_pooled: Option<f64>,
    /// The share of pairs of equal grids.
    pub exact: Option<f64>,
    /// The share of pairs of grids of the same shape: [`shape_match`].
    pub shape_match: Option<f64>,
    /// The share of pairs of grids of the same colors: [`palette_match`].
    pub palette_match: Option<f64>,
}

named_scores!(ArcScore {
    cell_accuracy,
    cell_accuracy_pooled,
    exact,
    shape_match,
    palette_match,
});

/// The outcome of an attempt.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub(crate) cells: CellMatches,
    pub(crate) shape: bool,
    pub(crate) palette: bool,
}

impl Found {
    /// An attempt without a grid: no cell of the true grid matches.
    pub(crate) fn nothing(reference: &Grid) -> Self {
        Self {
            cells: CellMatches {
                matches: 0,
                padded_cells: reference.cells().len() as u64,
            },
            shape: false,
            palette: false,
        }
    }

    pub(crate) fn new(prediction: &Grid, reference: &Grid) -> Self {
        let cells = cell_matches(prediction, reference);
        let mut found = Self {
            cells,
            shape: shape_match(prediction, reference),
            palette: true,
        };
        // Equal grids have equal colors, and most of the work is in those.
        found.palette = found.is_exact() || palette_match(prediction, reference);
        found
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.cells.matches == self.cells.padded_cells
    }
}

impl ArcState {
    /// Adds a pair.
    pub(crate) fn add(&mut self, found: &Found) {
        let CellMatches {
            matches,
            padded_cells,
        } = found.cells;
        self.pairs += 1;
        self.matches += matches;
        self.padded_cells += padded_cells;
        self.exact += u64::from(found.is_exact());
        self.shape_matches += u64::from(found.shape);
        self.palette_matches += u64::from(found.palette);
        self.cell_accuracy.add(matches as f64 / padded_cells as f64);
    }
}

impl Metric for ArcGrids {
    type Prediction = Attempt;
    type Reference = Grid;
    type State = ArcState;
    type Score = ArcScore;

    fn update(&self, state: &mut ArcState, prediction: &Attempt, reference: &Grid) {
        let found = match prediction {
            Attempt::Grid(grid) => Found::new(grid, reference),
            Attempt::Missing => {
                state.missing += 1;
                Found::nothing(reference)
            }
            Attempt::Invalid => {
                state.invalid += 1;
                Found::nothing(reference)
            }
        };
        state.add(&found);
    }

    fn compute(&self, state: &ArcState) -> ArcScore {
        ArcScore {
            cell_accuracy: state.cell_accuracy.value(),
            cell_accuracy_pooled: ratio(state.matches, state.padded_cells),
            exact: ratio(state.exact, state.pairs),
            shape_match: ratio(state.shape_matches, state.pairs),
            palette_match: ratio(state.palette_matches, state.pairs),
        }
    }
}

fields!(ArcState {
    pairs,
    matches,
    padded_cells,
    exact,
    invalid,
    missing,
    shape_matches,
    palette_matches,
    cell_accuracy,
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(a: &[&[i64]], b: &[&[i64]], matches: u64, padded_cells: u64) {
        let (a, b) = (Grid::from_rows(a).unwrap(), Grid::from_rows(b).unwrap());
        let expected = CellMatches {
            matches,
            padded_cells,
        };
        assert_eq!(cell_matches(&a, &b), expected);
        assert_eq!(cell_matches(&b, &a), expected);
    }

    #[test]
    fn small_pairs() {
        check(&[&[5]], &[&[5]], 1, 1);
        check(&[&[5]], &[&[4]], 0, 1);
        check(&[&[1, 2]], &[&[1], &[2]], 1, 4);
        check(&[&[1, 2], &[3, 4]], &[&[1, 2, 0], &[0, 4, 0]], 3, 6);
        check(&[&[0; 30][..]; 30], &[&[0; 30][..]; 30], 900, 900);
        check(&[&[0; 30][..]; 30], &[&[0; 29][..]; 30], 870, 900);
        check(&[&[0; 30][..]; 30], &[&[1; 30][..]; 30], 0, 900);
    }

    #[test]
    fn no_pairs_have_no_score() {
        assert_eq!(ArcGrids.compute(&ArcState::default()), ArcScore::default());
    }

    #[test]
    fn what_is_no_grid_misses_all_cells() {
        let truth = Grid::from_rows(&[[1, 2, 3], [4, 5, 6]]).unwrap();
        let mut state = ArcGrids.measure(&Attempt::from(Grid::from_rows(&[[11]])), &truth);
        ArcGrids.update(&mut state, &Attempt::Missing, &truth);
        ArcGrids.update(&mut state, &Attempt::from(truth.clone()), &truth);
        assert_eq!((state.invalid, state.missing, state.exact), (1, 1, 1));
        assert_eq!((state.matches, state.padded_cells), (6, 18));
        assert_eq!((state.shape_matches, state.palette_matches), (1, 1));
    }

    fn grids() -> impl Strategy<Value = Grid> {
        (1_usize..=30, 1_usize..=30)
            .prop_flat_map(|(rows, columns)| {
                // Two colors only, so that many cells agree.
                proptest::collection::vec(proptest::collection::vec(0_i64..2, columns), rows)
            })
            .prop_map(|rows| Grid::from_rows(&rows).unwrap())
    }

    proptest! {
        #[test]
        fn counts_as_cell_by_cell(a in grids(), b in grids()) {
            let found = cell_matches(&a, &b);
            let by_cell = a.as_array().indexed_iter()
                .filter(|&(index, colour)| b.as_array().get(index) == Some(colour)).count();
            prop_assert_eq!(found.matches, by_cell as u64);
            prop_assert_eq!(found, cell_matches(&b, &a));
            let accuracy = cell_accuracy(&a, &b);
            prop_assert!((0.0..=1.0).contains(&accuracy));
            prop_assert_eq!(accuracy == 1.0, exact_match(&a, &b));
            prop_assert_eq!(cell_accuracy(&a, &a), 1.0);
            let colours = |grid: &Grid| grid.as_array().iter().copied().collect::<std::collections::BTreeSet<u8>>();
            prop_assert_eq!(palette_match(&a, &b), colours(&a) == colours(&b));
        }

        #[test]
        fn the_order_of_pairs_does_not_matter(pairs in proptest::collection::vec((grids(), grids()), 0..6)) {
            let pairs: Vec<_> = pairs.into_iter().map(|(p, r)| (Attempt::from(p), r)).collect();
            let mut forward = ArcState::default();
            for (prediction, reference) in &pairs {
                ArcGrids.update(&mut forward, prediction, reference);
            }
            let single = pairs.iter().map(|(prediction, reference)| ArcGrids.measure(prediction, reference));
            prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), forward);
        }
    }
}
