//! The state: that of COCO, with the objects and detections that do not count.

use std::collections::BTreeMap;

use metric_core::{Merge, fields};

use crate::{ClassState, ClassTotals, CocoState, InvalidIndices};

/// The state of [`LvisAp`](super::LvisAp): the outcomes of the detections of each image, and what did not count.
///
/// As large as a [`CocoState`]. With a limit per class, also 24 bytes per detection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LvisState {
    pub(crate) coco: CocoState,
    /// The objects and detections that count, and those that do not, before a limit over all images.
    pub counts: LvisCounts,
    /// What is worth a warning.
    pub notes: LvisNotes,
}

/// Numbers of objects and detections. Those of detections add up to all detections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LvisCounts {
    /// Objects of the ground truth that have an area, also those that are ignored.
    pub truths: u64,
    /// Detections that count.
    pub detections: u64,
    /// Detections that the limit left out.
    pub capped: u64,
    /// Detections without an area, or of a class that is not in the list.
    pub invalid: u64,
    /// Detections of classes that their images were not annotated for.
    pub unverified: u64,
}

impl LvisCounts {
    pub(super) fn add(&mut self, other: Self) {
        self.merge(other);
    }
}

/// Numbers of things that are worth a warning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LvisNotes {
    /// Objects of the ground truth without an area, which are left out.
    pub flat_truths: u64,
    /// Detections without an area, which are left out, before a limit over all images.
    pub flat_detections: u64,
    /// Images that have objects of a class that is said to be absent.
    pub contradictory_images: u64,
    /// Images with more detections than the limit.
    pub capped_images: u64,
    /// Images with more than 100 detections, to which many models limit themselves.
    pub images_above_100: u64,
}

fields!(LvisState {
    coco,
    counts,
    notes
});
fields!(LvisCounts {
    truths,
    detections,
    capped,
    invalid,
    unverified
});
fields!(LvisNotes {
    flat_truths,
    flat_detections,
    contradictory_images,
    capped_images,
    images_above_100
});

impl ClassState for LvisState {
    fn renumber_classes(&mut self, indices: &[u32]) -> Result<(), InvalidIndices> {
        self.coco.renumber_classes(indices)
    }

    fn class_totals(&self) -> BTreeMap<u32, ClassTotals> {
        self.coco.class_totals()
    }

    fn is_ranked_by_order(&self) -> bool {
        self.coco.is_ranked_by_order()
    }
}
