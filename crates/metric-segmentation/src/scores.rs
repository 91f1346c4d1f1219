use metric_core::{named_scores, pairwise_sum, ratio};

use crate::{PixelConfusions, Segmentation, SegmentationProfile, cityscapes};

/// The scores of a segmentation as fractions; `None` is undefined.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SegmentationScores {
    /// Mean of the IoU of the classes where it is defined.
    pub m_iou: Option<f64>,
    /// Mean of the accuracy of the classes.
    pub m_acc: Option<f64>,
    /// Share of the pixels that are correct, among those whose reference is a class.
    pub a_acc: Option<f64>,
    /// Mean of the IoU of the classes, weighted by their pixels in the references.
    pub fw_iou: Option<f64>,
    /// Mean of the precision of the classes.
    pub m_precision: Option<f64>,
    /// Mean of the recall of the classes, which is their accuracy.
    pub m_recall: Option<f64>,
    /// Mean of the Dice coefficient of the classes.
    pub m_dice: Option<f64>,
    /// Mean of the F1 of the classes, which is undefined for classes without correct pixels.
    pub m_f1: Option<f64>,
    /// Under [`Cityscapes`](SegmentationProfile::Cityscapes): mean of the IoU of the categories.
    pub m_iou_category: Option<f64>,
}

named_scores!(SegmentationScores {
    m_iou as "mIoU",
    m_acc as "mAcc",
    a_acc as "aAcc",
    fw_iou as "fwIoU",
    m_precision as "mPrecision",
    m_recall as "mRecall",
    m_dice as "mDice",
    m_f1 as "mF1",
    m_iou_category as "mIoU_category",
});

/// The pixels of a class, or of a category of Cityscapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassPixels {
    /// The label of the class; `None` for a category.
    pub label: Option<u32>,
    /// Pixels whose reference is the class.
    pub reference: u64,
    /// Counted pixels that are predicted as the class.
    pub prediction: u64,
    /// Pixels of both.
    pub both: u64,
}

impl ClassPixels {
    /// Returns the intersection over union of the pixels; undefined for a class on neither side.
    #[must_use]
    pub fn iou(&self) -> Option<f64> {
        ratio(self.both, self.reference + self.prediction - self.both)
    }

    /// Returns the accuracy of the class, which is its recall; undefined for a class that no reference has.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        ratio(self.both, self.reference)
    }

    /// Returns the precision; undefined for a class that is never predicted.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        ratio(self.both, self.prediction)
    }

    /// Returns the Dice coefficient, twice the common pixels among the pixels of both sides.
    #[must_use]
    pub fn dice(&self) -> Option<f64> {
        ratio(2 * self.both, self.reference + self.prediction)
    }

    /// Returns the harmonic mean of precision and accuracy. Where it is defined, it is the Dice coefficient; as in mmsegmentation,
    /// it is undefined where no pixel is correct.
    #[must_use]
    pub fn f1(&self) -> Option<f64> {
        self.dice().filter(|_| self.both > 0)
    }
}

impl SegmentationScores {
    pub(crate) fn new(metric: &Segmentation, state: &PixelConfusions) -> Self {
        let classes = metric.class_pixels(state);
        let iou = |class: &ClassPixels| metric.class_iou(class);
        let m_iou = mean(&classes, iou);
        if metric.profile() == SegmentationProfile::Cityscapes {
            // The script adds one number after the other, where numpy would add several at a time.
            let in_order = |all: &[ClassPixels]| {
                let defined: Vec<f64> = all.iter().filter_map(ClassPixels::iou).collect();
                let sum = defined.iter().fold(0.0, |sum, iou| sum + iou);
                (!defined.is_empty()).then(|| sum / defined.len() as f64)
            };
            let categories: Vec<ClassPixels> = metric
                .category_pixels(state)
                .into_iter()
                .map(|(_, pixels)| pixels)
                .collect();
            return Self {
                m_iou: in_order(&classes),
                m_iou_category: in_order(&categories),
                ..Self::default()
            };
        }
        let total = |count: fn(&ClassPixels) -> u64| classes.iter().map(count).sum::<u64>();
        let pixels = total(|class| class.reference);
        let m_acc = mean(&classes, ClassPixels::accuracy);
        let of_all = Self {
            m_iou,
            m_acc,
            a_acc: ratio(total(|class| class.both), pixels),
            fw_iou: weighted(&classes, pixels),
            ..Self::default()
        };
        if metric.profile() == SegmentationProfile::Detectron2 {
            return of_all;
        }
        Self {
            m_precision: mean(&classes, ClassPixels::precision),
            m_recall: m_acc,
            m_dice: mean(&classes, ClassPixels::dice),
            m_f1: mean(&classes, ClassPixels::f1),
            ..of_all
        }
    }
}

/// The mean of the defined scores of classes: numpy's `nanmean`, which adds 0 for each undefined one.
fn mean(classes: &[ClassPixels], score: impl Fn(&ClassPixels) -> Option<f64>) -> Option<f64> {
    let scores: Vec<Option<f64>> = classes.iter().map(score).collect();
    let defined = scores.iter().flatten().count();
    let scores: Vec<f64> = scores
        .into_iter()
        .map(|score| score.unwrap_or(0.0))
        .collect();
    (defined > 0).then(|| pairwise_sum(&scores) / defined as f64)
}

/// The mean of the IoU of classes, weighted by their pixels in the references.
fn weighted(classes: &[ClassPixels], pixels: u64) -> Option<f64> {
    let weighted = classes
        .iter()
        .map(|class| class.reference as f64 * class.iou().unwrap_or(0.0));
    let weighted: Vec<f64> = weighted.collect();
    (pixels > 0).then(|| pairwise_sum(&weighted) / pixels as f64)
}

impl Segmentation {
    /// Returns the pixels of each class that counts, by label: all classes, or the 19 of Cityscapes.
    #[must_use]
    pub fn class_pixels(&self, state: &PixelConfusions) -> Vec<ClassPixels> {
        let all = self.classes();
        let mut classes: Vec<ClassPixels> = (0..all)
            .map(|label| ClassPixels {
                label: Some(label),
                ..ClassPixels::default()
            })
            .collect();
        for (row, column, pixels) in state.cells() {
            if !self.counts(row, column) {
                continue;
            }
            if let Some(class) = classes.get_mut(row as usize) {
                class.reference += pixels;
                class.both += if row == column { pixels } else { 0 };
            }
            if let Some(class) = classes.get_mut(column as usize) {
                class.prediction += pixels;
            }
        }
        if self.profile() == SegmentationProfile::Cityscapes {
            classes.retain(|class| class.label.is_some_and(cityscapes::is_counted));
        }
        classes
    }

    /// Returns the pixels of each category of Cityscapes by name; there are none under other profiles.
    #[must_use]
    pub fn category_pixels(&self, state: &PixelConfusions) -> Vec<(&'static str, ClassPixels)> {
        if self.profile() != SegmentationProfile::Cityscapes {
            return Vec::new();
        }
        let pixels = |ids: &[u32]| {
            let mut category = ClassPixels::default();
            for (row, column, pixels) in state.cells().filter(|cell| self.counts(cell.0, cell.1)) {
                let (is_reference, is_prediction) = (ids.contains(&row), ids.contains(&column));
                category.reference += if is_reference { pixels } else { 0 };
                category.prediction += if is_prediction { pixels } else { 0 };
                category.both += if is_reference && is_prediction {
                    pixels
                } else {
                    0
                };
            }
            category
        };
        let categories = cityscapes::CATEGORIES.iter();
        categories.map(|(name, ids)| (*name, pixels(ids))).collect()
    }

    /// Returns the IoU of a class under the profile.
    #[must_use]
    pub fn class_iou(&self, class: &ClassPixels) -> Option<f64> {
        // detectron2 leaves out classes that no reference has.
        let is_left_out = self.profile() == SegmentationProfile::Detectron2 && class.reference == 0;
        class.iou().filter(|_| !is_left_out)
    }

    /// Returns whether the pixels of a cell enter scores.
    #[must_use]
    pub fn counts(&self, row: u32, column: u32) -> bool {
        match self.profile() {
            SegmentationProfile::Detectron2 => row < self.classes() && column < self.classes(),
            SegmentationProfile::Cityscapes => cityscapes::is_counted(row),
            _ => true,
        }
    }

    /// Returns the names of the label ids of Cityscapes.
    #[must_use]
    pub fn cityscapes_names() -> [&'static str; 34] {
        cityscapes::NAMES
    }
}
