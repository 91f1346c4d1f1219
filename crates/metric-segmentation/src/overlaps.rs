//! The pixels that segments of the reference and of the prediction have in common.

use std::fmt;

use hashbrown::{HashMap, HashSet};

use crate::boundary::BoundaryRow;

/// The ids of a pixel: that of the reference, then that of the prediction.
pub type IdPair = (u32, u32);

/// The number of pixels with a pair of ids. Those on boundaries are only counted where boundaries are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelCounts {
    /// All of them.
    pub all: u64,
    /// Those on the boundary of the reference segment.
    pub on_reference_boundary: u64,
    /// Those on the boundary of the predicted segment.
    pub on_predicted_boundary: u64,
    /// Those on both boundaries.
    pub on_both_boundaries: u64,
}

/// The pixels of an image by their ids, counted by runs of equal ids.
///
/// ```
/// use metric_segmentation::Overlaps;
///
/// let mut overlaps = Overlaps::new(100);
/// overlaps.add_row(&[7, 7, 7, 0], &[1, 1, 2, 2])?;
/// overlaps.add_row(&[7, 7, 0, 0], &[1, 1, 2, 2])?;
/// let pixels: Vec<_> = overlaps.sorted().into_iter().map(|(ids, pixels)| (ids, pixels.all)).collect();
/// assert_eq!(pixels, [((0, 2), 3), ((7, 1), 4), ((7, 2), 1)]);
/// # Ok::<(), metric_segmentation::TooManyIds>(())
/// ```
#[derive(Clone, Debug)]
pub struct Overlaps {
    pixels: HashMap<IdPair, PixelCounts>,
    /// The ids of each side.
    ids: [HashSet<u32>; 2],
    max_ids: usize,
}

/// An image of noise has millions of pairs of ids; segments of images have a few neighbors each.
const MOST_PAIRS_PER_ID: usize = 16;

impl Overlaps {
    /// Returns the overlaps of an image without rows, which may have at most `max_ids` ids on each side.
    #[must_use]
    pub fn new(max_ids: usize) -> Self {
        Self {
            pixels: HashMap::new(),
            ids: <[HashSet<u32>; 2]>::default(),
            max_ids,
        }
    }

    /// Adds a row of ids. Both sides have the same length; what one has more is left out.
    ///
    /// # Errors
    ///
    /// Returns an error if a side has too many ids.
    pub fn add_row(&mut self, reference: &[u32], prediction: &[u32]) -> Result<(), TooManyIds> {
        let width = reference.len().min(prediction.len());
        let (reference, prediction) = (&reference[..width], &prediction[..width]);
        let mut start = 0;
        while start < width {
            let ids = (reference[start], prediction[start]);
            let rest = reference[start..].iter().zip(&prediction[start..]);
            let length = rest
                .take_while(|(truth, found)| (**truth, **found) == ids)
                .count();
            self.entry(ids)?.all += length as u64;
            start += length;
        }
        Ok(())
    }

    /// Adds the boundaries of a row whose pixels were added.
    ///
    /// # Errors
    ///
    /// Returns an error if a side has too many ids.
    pub fn add_boundaries(
        &mut self,
        reference: BoundaryRow<'_>,
        prediction: BoundaryRow<'_>,
    ) -> Result<(), TooManyIds> {
        for ((truth, of_truth), (found, of_found)) in reference.pixels().zip(prediction.pixels()) {
            if of_truth || of_found {
                let pixels = self.entry((truth, found))?;
                pixels.on_reference_boundary += u64::from(of_truth);
                pixels.on_predicted_boundary += u64::from(of_found);
                pixels.on_both_boundaries += u64::from(of_truth && of_found);
            }
        }
        Ok(())
    }

    /// Returns the pairs of ids that occur, in ascending order.
    #[must_use]
    pub fn sorted(&self) -> Vec<(IdPair, PixelCounts)> {
        let mut pixels: Vec<_> = self.pixels.iter().map(|(ids, of)| (*ids, *of)).collect();
        pixels.sort_unstable_by_key(|(ids, _)| *ids);
        pixels
    }

    fn entry(&mut self, ids: IdPair) -> Result<&mut PixelCounts, TooManyIds> {
        if !self.pixels.contains_key(&ids) {
            self.check_new(ids)?;
        }
        Ok(self.pixels.entry(ids).or_default())
    }

    fn check_new(&mut self, ids: IdPair) -> Result<(), TooManyIds> {
        let sides = self.ids.iter_mut().zip([ids.0, ids.1]);
        for (is_prediction, (side, id)) in [false, true].into_iter().zip(sides) {
            // VOID is not a segment.
            if id != 0 && side.insert(id) && side.len() > self.max_ids {
                return Err(TooManyIds::Ids {
                    is_prediction,
                    max: self.max_ids,
                });
            }
        }
        let max = self.max_ids.saturating_mul(MOST_PAIRS_PER_ID);
        if self.pixels.len() >= max {
            return Err(TooManyIds::Pairs { max });
        }
        Ok(())
    }
}

/// An image with more ids than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooManyIds {
    /// A side has too many of them.
    Ids {
        /// Whether it is the prediction.
        is_prediction: bool,
        /// The number that is allowed.
        max: usize,
    },
    /// Too many pairs of ids have pixels in common.
    Pairs {
        /// The number that is allowed.
        max: usize,
    },
}

impl fmt::Display for TooManyIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ids { max, .. } => write!(f, "more than {max} ids of segments"),
            Self::Pairs { max } => write!(f, "more than {max} pairs of segments overlap"),
        }
    }
}

impl std::error::Error for TooManyIds {}
