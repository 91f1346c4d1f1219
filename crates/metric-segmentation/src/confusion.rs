use std::collections::BTreeMap;

use metric_core::fields;

/// The counts of pixels by the class of the reference and the predicted class: the state of [`Segmentation`](crate::Segmentation).
///
/// The number of classes, which the definition knows, is also the index of the row of unknown reference labels and of the column of
/// all predicted labels that are not classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PixelConfusions {
    /// Pixels by row and column; none is 0.
    pub(crate) cells: BTreeMap<(u32, u32), u64>,
    /// Pixels whose reference label is ignored.
    pub(crate) ignored: u64,
    /// What the labels were, for warnings.
    pub(crate) observed: Observed,
}

fields!(PixelConfusions { cells, ignored; observed });

/// Counts of labels that explain surprising scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Pixels whose reference label is 255 in the data.
    pub reference_255: u64,
    /// Pixels whose reference label is neither 0 nor 255 in the data.
    pub reference_other: u64,
    /// Counted pixels whose predicted label is 255, and not a class.
    pub predicted_255: u64,
    /// Counted pixels of images without a prediction.
    pub missing: u64,
    /// Counted pixels whose reference label is the number of classes.
    pub next_label: u64,
}

fields!(Observed {
    reference_255,
    reference_other,
    predicted_255,
    missing,
    next_label
});

impl PixelConfusions {
    /// Returns the number of pixels in a cell of the matrix.
    #[must_use]
    pub fn count(&self, reference: u32, prediction: u32) -> u64 {
        let cell = self.cells.get(&(reference, prediction));
        cell.copied().unwrap_or(0)
    }

    /// Returns the cells that are not 0, ordered by the class of the reference: this class, the predicted class, and the number of
    /// pixels.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let cells = self.cells.iter();
        cells.map(|(&(reference, prediction), &pixels)| (reference, prediction, pixels))
    }

    /// Returns the number of pixels whose reference label is ignored.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Returns what the labels were.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.observed
    }
}

/// Cells that add up at positions of a list: the sum of many states, each with a weight.
///
/// ```
/// use metric_core::Metric;
/// use metric_segmentation::{ConfusionSum, Segmentation};
///
/// let metric = Segmentation::new(2)?;
/// let states = [metric.measure(&[0, 1], &[0, 0]), metric.measure(&[1], &[1])];
/// let sum = ConfusionSum::new(&[&states[0], &states[1]]);
/// let total = sum.weighted(&[2, 1]);
/// assert_eq!((total.count(0, 0), total.count(0, 1), total.count(1, 1)), (2, 2, 1));
/// # Ok::<(), metric_segmentation::SegmentationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConfusionSum {
    cells: Vec<(u32, u32)>,
    /// The cells of each state by position, with their pixels.
    states: Vec<Vec<(u32, u64)>>,
    ignored: Vec<u64>,
}

impl ConfusionSum {
    /// Lists the cells of states.
    #[must_use]
    pub fn new(states: &[&PixelConfusions]) -> Self {
        let mut positions = BTreeMap::new();
        for state in states {
            positions.extend(state.cells.keys().map(|cell| (*cell, 0_u32)));
        }
        for (position, (_, at)) in (0..).zip(&mut positions) {
            *at = position;
        }
        let by_position = |state: &&PixelConfusions| {
            let cells = state.cells.iter();
            cells
                .map(|(cell, pixels)| (positions[cell], *pixels))
                .collect()
        };
        Self {
            states: states.iter().map(by_position).collect(),
            ignored: states.iter().map(|state| state.ignored).collect(),
            cells: positions.into_keys().collect(),
        }
    }

    /// Returns the sum of the states, each as often as its weight says.
    #[must_use]
    pub fn weighted(&self, weights: &[u64]) -> PixelConfusions {
        let mut sums = vec![0; self.cells.len()];
        for (state, weight) in self.states.iter().zip(weights) {
            if *weight > 0 {
                for (position, pixels) in state {
                    sums[*position as usize] += weight * pixels;
                }
            }
        }
        let cells = self.cells.iter().copied().zip(sums);
        let ignored = self.ignored.iter().zip(weights);
        PixelConfusions {
            cells: cells.filter(|(_, pixels)| *pixels > 0).collect(),
            ignored: ignored.map(|(pixels, weight)| pixels * weight).sum(),
            observed: Observed::default(),
        }
    }
}
