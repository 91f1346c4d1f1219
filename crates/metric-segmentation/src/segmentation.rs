use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use metric_core::{Metric, named_choice};

use crate::rows::equal_runs;
use crate::{LabelRow, PixelConfusions, SegmentationScores, cityscapes, for_each_run};

/// A convention for the scores of segmentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SegmentationProfile {
    /// `mean_iou` of Hugging Face's evaluate 0.4.6: means over the classes whose score is defined. A class that is only
    /// predicted has the IoU 0. With `nan_to_num`, evaluate replaces undefined scores after the means were formed.
    #[default]
    HuggingFace,
    /// `IoUMetric` of mmsegmentation 1.2.2: the same scores. The program computes them in float32 and prints percent with two
    /// decimals. Its counts are exact up to 16.8 million pixels per class and image, and it reads reference files as uint8.
    MmSeg,
    /// `SemSegEvaluator` of detectron2 at 02b5c4e: pixels that are predicted as no class do not count at all, and classes that no
    /// reference has do not enter the mean IoU. For no pixels, it prints the frequency-weighted IoU 0; here it is undefined.
    Detectron2,
    /// `evalPixelLevelSemanticLabeling` of cityscapesScripts 2.3.0: label ids of 0 to 33, of which 19 count.
    Cityscapes,
}

impl SegmentationProfile {
    /// All profiles.
    pub const ALL: &[Self] = &[
        Self::HuggingFace,
        Self::MmSeg,
        Self::Detectron2,
        Self::Cityscapes,
    ];

    /// Returns the name that is used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HuggingFace => "huggingface",
            Self::MmSeg => "mmseg",
            Self::Detectron2 => "detectron2",
            Self::Cityscapes => "cityscapes",
        }
    }
}

named_choice!(SegmentationProfile, "profile");

/// The IoU of classes of pixels, its mean, and related scores, from labels of 0 to K - 1.
///
/// Predictions and references are the labels of the pixels of an image, in the same order. Labels of the reference are mapped,
/// then reduced, then ignored; labels of the prediction are used as they are. Scores are fractions. A ratio whose denominator is
/// 0 is undefined.
///
/// ```
/// use metric_core::Metric;
/// use metric_segmentation::Segmentation;
///
/// let metric = Segmentation::new(2)?.with_ignored([255]);
/// // Class 0: one pixel in common, of two. Class 1: two in common, of three.
/// let state = metric.measure(&[0, 1, 1, 1, 0], &[0, 0, 1, 1, 255]);
/// let scores = metric.compute(&state);
/// assert_eq!(scores.m_iou, Some((1.0 / 2.0 + 2.0 / 3.0) / 2.0));
/// assert_eq!(scores.a_acc, Some(3.0 / 4.0));
/// # Ok::<(), metric_segmentation::SegmentationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segmentation {
    profile: SegmentationProfile,
    classes: u32,
    ignored: BTreeSet<i64>,
    label_map: BTreeMap<i64, i64>,
    reduces: bool,
}

/// The reason why a segmentation cannot be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentationError {
    /// There are no classes, or more than [`Segmentation::MAX_CLASSES`].
    Classes(u64),
    /// The last class is lost when labels are reduced by 1: 254 becomes 255.
    Reduced(u32),
}

impl fmt::Display for SegmentationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Classes(classes) => {
                let most = Segmentation::MAX_CLASSES;
                write!(f, "found {classes} classes, expected 1 to {most}")
            }
            Self::Reduced(classes) => write!(
                f,
                "labels of {classes} classes cannot be reduced by 1, because 254 then is 255, which is ignored: expected at most 254 \
                 classes"
            ),
        }
    }
}

impl std::error::Error for SegmentationError {}

/// The class that a label of the reference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Ignored,
    Class(u32),
    Unknown,
}

impl Segmentation {
    /// The greatest number of classes.
    pub const MAX_CLASSES: u32 = 1 << 20;

    /// Returns the metric of this many classes, without ignored labels.
    ///
    /// # Errors
    ///
    /// Returns an error for 0 classes, and for more than [`MAX_CLASSES`](Self::MAX_CLASSES).
    pub fn new(classes: u64) -> Result<Self, SegmentationError> {
        let count = u32::try_from(classes).ok();
        let count = count.filter(|count| (1..=Self::MAX_CLASSES).contains(count));
        Ok(Self {
            profile: SegmentationProfile::default(),
            classes: count.ok_or(SegmentationError::Classes(classes))?,
            ignored: BTreeSet::new(),
            label_map: BTreeMap::new(),
            reduces: false,
        })
    }

    /// Returns the metric of the label ids of Cityscapes.
    #[must_use]
    pub fn cityscapes() -> Self {
        Self {
            profile: SegmentationProfile::Cityscapes,
            classes: cityscapes::NAMES.len() as u32,
            ignored: BTreeSet::new(),
            label_map: BTreeMap::new(),
            reduces: false,
        }
    }

    /// Returns the same under another profile. [`Cityscapes`](SegmentationProfile::Cityscapes) has [classes](Self::cityscapes) of its
    /// own.
    #[must_use]
    pub fn with_profile(self, profile: SegmentationProfile) -> Self {
        match profile {
            SegmentationProfile::Cityscapes => Self::cityscapes(),
            profile => Self { profile, ..self },
        }
    }

    /// Returns the same with these labels ignored: pixels whose reference has one of them do not count.
    #[must_use]
    pub fn with_ignored(self, labels: impl IntoIterator<Item = i64>) -> Self {
        Self {
            ignored: labels.into_iter().collect(),
            ..self
        }
    }

    /// Returns the same with other labels in the place of these labels of the reference, all by their original value.
    #[must_use]
    pub fn with_label_map(self, labels: impl IntoIterator<Item = (i64, i64)>) -> Self {
        Self {
            label_map: labels.into_iter().collect(),
            ..self
        }
    }

    /// Returns the same with the labels of the reference reduced by 1, as for ADE20K: 0 and 255 become 255, and so does 254 after
    /// the reduction. The option is `reduce_labels` in evaluate and `reduce_zero_label` in mmsegmentation.
    ///
    /// # Errors
    ///
    /// Returns an error if there are more than 254 classes.
    pub fn with_reduced_labels(self) -> Result<Self, SegmentationError> {
        match self.classes {
            classes @ 255.. => Err(SegmentationError::Reduced(classes)),
            _ => Ok(Self {
                reduces: true,
                ..self
            }),
        }
    }

    /// Returns the number of classes.
    #[must_use]
    pub fn classes(&self) -> u32 {
        self.classes
    }

    /// Returns the profile.
    #[must_use]
    pub fn profile(&self) -> SegmentationProfile {
        self.profile
    }

    /// Returns the ignored labels.
    #[must_use]
    pub fn ignored(&self) -> &BTreeSet<i64> {
        &self.ignored
    }

    /// Returns a counter of the pixels of an image.
    #[must_use]
    pub fn counter(&self) -> PixelCounter<'_> {
        PixelCounter {
            metric: self,
            pairs: Vec::new(),
            state: PixelConfusions::default(),
            unknown: None,
            outside: None,
        }
    }

    /// Returns the class that a predicted label is, and the index that other labels have.
    fn predicted(&self, label: i64) -> u32 {
        let class = u32::try_from(label).ok();
        class
            .filter(|class| *class < self.classes)
            .unwrap_or(self.classes)
    }

    fn meaning(&self, label: i64) -> Meaning {
        let mut label = self.label_map.get(&label).copied().unwrap_or(label);
        if self.reduces {
            label = match label {
                0 | 255 => 255,
                label => match label.saturating_sub(1) {
                    254 => 255,
                    label => label,
                },
            };
        }
        if self.ignored.contains(&label) {
            return Meaning::Ignored;
        }
        match self.predicted(label) {
            class if class < self.classes => Meaning::Class(class),
            _ => Meaning::Unknown,
        }
    }

    /// Returns whether a label of the reference is the first one that is not a class.
    fn is_next(&self, label: i64) -> bool {
        label == i64::from(self.classes)
    }
}

impl Metric for Segmentation {
    type Prediction = [i64];
    type Reference = [i64];
    type State = PixelConfusions;
    type Score = SegmentationScores;

    fn update(&self, state: &mut PixelConfusions, prediction: &[i64], reference: &[i64]) {
        let mut counter = self.counter();
        counter.add_rows(LabelRow::Wide(reference), LabelRow::Wide(prediction));
        metric_core::Merge::merge(state, counter.finish());
    }

    fn compute(&self, state: &PixelConfusions) -> SegmentationScores {
        SegmentationScores::new(self, state)
    }
}

/// What is predicted where there is no prediction; no class has this label.
const NOTHING: i64 = i64::MIN;

/// Counts the pixels of an image, row by row.
#[derive(Clone, Debug)]
pub struct PixelCounter<'m> {
    metric: &'m Segmentation,
    /// Pixels by labels of rows of bytes.
    pairs: Vec<u64>,
    state: PixelConfusions,
    unknown: Option<i64>,
    outside: Option<i64>,
}

impl PixelCounter<'_> {
    /// Adds a row of the reference and of the prediction.
    pub fn add_rows(&mut self, reference: LabelRow<'_>, prediction: LabelRow<'_>) {
        if let (LabelRow::Bytes(reference), LabelRow::Bytes(prediction)) = (reference, prediction) {
            // A pair of labels has few pixels per run, and many runs.
            self.pairs.resize(1 << 16, 0);
            let pairs = &mut self.pairs;
            equal_runs(reference, prediction, |label, predicted, pixels| {
                let pair = usize::from(u16::from_be_bytes([label, predicted]));
                if let Some(count) = pairs.get_mut(pair) {
                    *count += pixels as u64;
                }
            });
        } else {
            for_each_run(reference, prediction, |label, predicted, pixels| {
                self.add(label, predicted, pixels);
            });
        }
    }

    /// Adds a row of the reference without a prediction.
    pub fn add_missing(&mut self, reference: LabelRow<'_>) {
        for_each_run(reference, reference, |label, _, pixels| {
            self.add(label, NOTHING, pixels);
        });
    }

    /// Adds pixels with these labels.
    pub fn add(&mut self, label: i64, predicted: i64, pixels: u64) {
        let observed = &mut self.state.observed;
        match label {
            255 => observed.reference_255 += pixels,
            0 => {}
            _ => observed.reference_other += pixels,
        }
        let (classes, column) = (self.metric.classes, self.metric.predicted(predicted));
        let row = match self.metric.meaning(label) {
            Meaning::Ignored => {
                self.state.ignored += pixels;
                return;
            }
            Meaning::Class(class) => class,
            Meaning::Unknown => {
                observed.next_label += if self.metric.is_next(label) {
                    pixels
                } else {
                    0
                };
                self.unknown = self.unknown.into_iter().chain([label]).min();
                classes
            }
        };
        let observed = &mut self.state.observed;
        if predicted == NOTHING {
            observed.missing += pixels;
        } else if column == classes {
            observed.predicted_255 += if predicted == 255 { pixels } else { 0 };
            self.outside = self.outside.into_iter().chain([predicted]).min();
        }
        *self.state.cells.entry((row, column)).or_default() += pixels;
    }

    /// Returns the smallest label of the reference that is neither a class nor ignored, among the rows so far.
    pub fn unknown(&mut self) -> Option<i64> {
        self.fold();
        self.unknown
    }

    /// Returns the smallest predicted label that is not a class, among the counted pixels so far.
    pub fn outside(&mut self) -> Option<i64> {
        self.fold();
        self.outside
    }

    /// Returns the counts of the image.
    #[must_use]
    pub fn finish(mut self) -> PixelConfusions {
        self.fold();
        self.state
    }

    /// Adds what was counted by labels of bytes.
    fn fold(&mut self) {
        for (pair, pixels) in (0_u16..=u16::MAX).zip(std::mem::take(&mut self.pairs)) {
            if pixels > 0 {
                let [label, predicted] = pair.to_be_bytes();
                self.add(label.into(), predicted.into(), pixels);
            }
        }
    }
}
