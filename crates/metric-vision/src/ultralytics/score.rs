use std::collections::BTreeMap;

use super::ObjectKind;

/// The score of [`Ultralytics`](super::Ultralytics).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UltralyticsScore {
    /// The kind of the objects.
    pub kind: ObjectKind,
    /// The scores of boxes or oriented boxes.
    pub boxes: UltralyticsScores,
    /// Those of masks or poses, if the objects have them.
    pub second: Option<UltralyticsScores>,
    /// The number of images.
    pub images: u64,
    /// The number of true objects.
    pub instances: u64,
    /// The number of detections.
    pub detections: u64,
    /// Images with an object of each class, its objects and its detections, by the index of the class in the list of
    /// classes, for the classes that have any.
    pub counts: BTreeMap<u32, [u64; 3]>,
}

/// The scores of one kind of comparison. They are undefined without true objects.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UltralyticsScores {
    /// P: the mean over classes of the precision at the best confidence.
    pub precision: Option<f64>,
    /// R: that of the recall.
    pub recall: Option<f64>,
    /// mAP50: the mean of average precision at 0.5.
    pub map50: Option<f64>,
    /// mAP75: that at 0.75.
    pub map75: Option<f64>,
    /// mAP50-95: the mean over ten thresholds.
    pub map: Option<f64>,
    /// The confidence, of 0, 1/999, ..., 1, at which the smoothed mean F1 is highest.
    pub best_confidence: Option<f64>,
    /// The classes that have true objects, by the index of the class in the list of classes.
    pub classes: BTreeMap<u32, UltralyticsClass>,
}

/// The scores of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UltralyticsClass {
    /// The precision at the best confidence of all classes.
    pub precision: f64,
    /// The recall there.
    pub recall: f64,
    /// The average precision at 0.5, 0.55, ..., 0.95.
    pub average_precision: [f64; 10],
}

impl UltralyticsClass {
    /// Returns the average precision at 0.5.
    #[must_use]
    pub fn ap50(&self) -> f64 {
        self.average_precision[0]
    }

    /// Returns the average precision at 0.75.
    #[must_use]
    pub fn ap75(&self) -> f64 {
        self.average_precision[5]
    }

    /// Returns the mean of the average precision over the thresholds.
    #[must_use]
    pub fn ap(&self) -> f64 {
        self.average_precision.iter().sum::<f64>() / self.average_precision.len() as f64
    }
}

impl UltralyticsScores {
    /// The means over classes, whose precision and recall are those at the confidence of this index.
    pub(super) fn of(classes: BTreeMap<u32, UltralyticsClass>, best_confidence: f64) -> Self {
        if classes.is_empty() {
            return Self::default();
        }
        let mean = |value: fn(&UltralyticsClass) -> f64| {
            let sum: f64 = classes.values().map(value).sum();
            Some(sum / classes.len() as f64)
        };
        Self {
            precision: mean(|class| class.precision),
            recall: mean(|class| class.recall),
            map50: mean(UltralyticsClass::ap50),
            map75: mean(UltralyticsClass::ap75),
            map: mean(UltralyticsClass::ap),
            best_confidence: Some(best_confidence),
            classes,
        }
    }
}
