//! Means over curves, and the numbers that COCO prints.

use metric_core::NamedScores;

use super::curves::{CocoCurves, OfClass};
use super::params::{CocoParams, CocoSummary};
use crate::numpy::pairwise_sum_of;
use crate::parallel;

/// The [summary](CocoCurves::summary) of all classes.
impl NamedScores for CocoCurves {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        self.summary(None)
    }
}

/// The [named scores](NamedScores), as a map in their order. The curves themselves are
/// [arrays](CocoCurves::arrays).
#[cfg(feature = "serde")]
impl serde::Serialize for CocoCurves {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.named_scores())
    }
}

/// The selection of curves over which a mean of [`CocoCurves`] is taken. The default is that of COCO's main number:
/// all thresholds and classes, the first area range and the greatest number of detections.
///
/// A mean is undefined if an index is not in its list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CocoSlice {
    /// The index of an IoU threshold in its list; all if `None`.
    pub iou_threshold: Option<usize>,
    /// The index of an area range in its list.
    pub area: usize,
    /// The index of a number of detections in its list; the last if `None`.
    pub max_detections: Option<usize>,
    /// A class; all if `None`.
    pub class: Option<u32>,
}

impl CocoCurves {
    /// Returns the parameters that the curves were computed with.
    #[must_use]
    pub fn params(&self) -> &CocoParams {
        &self.params
    }

    /// Returns the classes that have true objects, in ascending order.
    pub fn classes(&self) -> impl Iterator<Item = u32> {
        self.classes.iter().map(|curves| curves.class)
    }

    /// Returns the number of positive objects, in the area range and the classes of a slice.
    #[must_use]
    pub fn truths(&self, slice: CocoSlice) -> u64 {
        let is_in = |curves: &&OfClass| slice.class.is_none_or(|class| class == curves.class);
        let truths = self
            .classes
            .iter()
            .filter(is_in)
            .filter_map(|curves| curves.truths.get(slice.area));
        truths.sum()
    }

    /// Returns the mean precision over the recalls, and over the thresholds and classes of the slice; undefined if no
    /// class of the slice has a true object.
    #[must_use]
    pub fn average_precision(&self, slice: CocoSlice) -> Option<f64> {
        self.average_precision_of(slice, &|_| true)
    }

    /// Returns the recall of all detections that count, averaged over the thresholds and classes of the slice;
    /// undefined if no class of the slice has a true object.
    #[must_use]
    pub fn average_recall(&self, slice: CocoSlice) -> Option<f64> {
        self.mean(slice, 1, OfClass::recall, &|_| true)
    }

    /// The average precision of the classes that are kept.
    pub(crate) fn average_precision_of(
        &self,
        slice: CocoSlice,
        keeps: &(dyn Fn(u32) -> bool + Sync),
    ) -> Option<f64> {
        let recalls = self.params.recall_thresholds.len();
        self.mean(slice, recalls, OfClass::precision, keeps)
    }

    /// The mean of values of which each curve has `length`, those that are not there being 0.
    fn mean(
        &self,
        slice: CocoSlice,
        length: usize,
        values: impl Fn(&OfClass, usize) -> &[f64],
        keeps: &(dyn Fn(u32) -> bool + Sync),
    ) -> Option<f64> {
        let CocoSlice {
            iou_threshold,
            area,
            max_detections,
            class,
        } = slice;
        let has_truths = |curves: &&OfClass| {
            class.is_none_or(|class| class == curves.class)
                && keeps(curves.class)
                && curves.truths.get(area).is_some_and(|&truths| truths > 0)
        };
        let classes: Vec<_> = self.classes.iter().filter(has_truths).collect();
        let thresholds = match iou_threshold {
            Some(position) if position < self.params.iou_thresholds.len() => position..position + 1,
            Some(_) => return None,
            None => 0..self.params.iou_thresholds.len(),
        };
        let last = self.params.max_detections.len().checked_sub(1)?;
        let max_detections = max_detections.unwrap_or(last);
        if area >= self.params.areas.len() || max_detections > last {
            return None;
        }
        // The order of pycocotools' array, which the last bit of a sum depends on: by threshold, then by position, then
        // by class.
        let curves = thresholds.flat_map(|threshold| {
            let curve = self.position(max_detections, area, threshold);
            classes.iter().map(move |class| (class, curve))
        });
        let curves: Vec<&[f64]> = curves.map(|(class, curve)| values(class, curve)).collect();
        let numbers = curves
            .chunks_exact(classes.len().max(1))
            .flat_map(|of_threshold| {
                (0..length).flat_map(move |index| {
                    let numbers = of_threshold.iter().map(move |values| values.get(index));
                    numbers.map(|number| number.copied().unwrap_or_default())
                })
            });
        let count = curves.len() * length;
        (count > 0).then(|| pairwise_sum_of(count, numbers) / count as f64)
    }

    /// Returns, for each recall, the precision averaged over the thresholds and classes of the slice. The mean of
    /// this curve is the [average precision](Self::average_precision). Empty if no class of the slice has a true
    /// object.
    #[must_use]
    pub fn precisions(&self, slice: CocoSlice) -> Vec<f64> {
        let at = |recall: usize| {
            self.mean(
                slice,
                1,
                |curves, curve| {
                    let reached = curves.precision(curve).get(recall..).unwrap_or_default();
                    reached.get(..1).unwrap_or_default()
                },
                &|_| true,
            )
        };
        (0..self.params.recall_thresholds.len())
            .map_while(at)
            .collect()
    }

    /// The position of a curve in the lists of its class.
    pub(super) fn position(&self, max_detections: usize, area: usize, threshold: usize) -> usize {
        let CocoParams {
            areas,
            iou_thresholds,
            ..
        } = &self.params;
        (max_detections * areas.len() + area) * iou_thresholds.len() + threshold
    }

    /// Returns COCO's main number: the average precision over all thresholds and classes. Undefined if no class has a
    /// true object.
    #[must_use]
    pub fn ap(&self) -> Option<f64> {
        self.average_precision(CocoSlice::default())
    }

    /// Returns the average precision at an IoU threshold of 0.5. Undefined if no class has a true object, or if 0.5
    /// is not one of the thresholds.
    #[must_use]
    pub fn ap50(&self) -> Option<f64> {
        self.average_precision_at(0.5)
    }

    /// Returns the average precision at an IoU threshold of 0.75. Undefined if no class has a true object, or if 0.75
    /// is not one of the thresholds.
    #[must_use]
    pub fn ap75(&self) -> Option<f64> {
        self.average_precision_at(0.75)
    }

    fn average_precision_at(&self, threshold: f64) -> Option<f64> {
        let mut thresholds = self.params.iou_thresholds.iter();
        self.average_precision(CocoSlice {
            iou_threshold: Some(thresholds.position(|&it| it == threshold)?),
            ..CocoSlice::default()
        })
    }

    /// Returns the numbers that COCO prints, with their names, of all classes or of one: `AP`, `AP50`, `AP75`,
    /// `AP_<area range>` for each area range except the first, `AR_<number>` for each number of detections, and
    /// `AR_<area range>` for each of these area ranges. Those of [keypoints](CocoSummary::Keypoints) have `AR`,
    /// `AR50` and `AR75` in place of `AR_<number>`.
    ///
    /// Undefined where the program prints -1.
    #[must_use]
    pub fn summary(&self, class: Option<u32>) -> Vec<(String, Option<f64>)> {
        self.summary_of(class, &|_| true)
    }

    /// The [summary](Self::summary) of one class, or of the classes that are kept.
    pub(crate) fn summary_of(
        &self,
        class: Option<u32>,
        keeps: &(dyn Fn(u32) -> bool + Sync),
    ) -> Vec<(String, Option<f64>)> {
        let CocoParams {
            areas,
            iou_thresholds,
            max_detections,
            quirks,
            summary,
            ..
        } = &self.params;
        // `COCOeval.summarize` looks for a number of detections in the list, and finds nothing if it is not there:
        // for boxes and masks in the first row, for keypoints in all of them.
        let looked_up = |wanted: usize| {
            let position = max_detections.iter().position(|&most| most == wanted);
            Some(position.unwrap_or(usize::MAX))
        };
        let [main, others] = match (quirks, summary) {
            (false, _) | (true, CocoSummary::Lvis) => [None; 2],
            (true, CocoSummary::Detections) => [looked_up(100), None],
            (true, CocoSummary::Keypoints) => [looked_up(20); 2],
        };
        let with = |max_detections: Option<usize>| CocoSlice {
            class,
            max_detections,
            ..CocoSlice::default()
        };
        let at = |wanted: f64| {
            let mut thresholds = iou_thresholds.iter();
            let position = thresholds.position(|&threshold| threshold == wanted);
            CocoSlice {
                iou_threshold: Some(position.unwrap_or(usize::MAX)),
                ..with(others)
            }
        };
        type Named = (String, CocoSlice);
        let by_threshold = [("", with(main)), ("50", at(0.5)), ("75", at(0.75))];
        let by_threshold: Vec<Named> = by_threshold
            .map(|(name, slice)| (name.to_owned(), slice))
            .into();
        let by_number: Vec<Named> = match summary {
            CocoSummary::Keypoints => by_threshold.clone(),
            CocoSummary::Lvis => vec![(String::new(), with(None))],
            CocoSummary::Detections => {
                let numbers = max_detections.iter().enumerate();
                let named =
                    numbers.map(|(position, most)| (format!("_{most}"), with(Some(position))));
                named.collect()
            }
        };
        let by_area = areas.iter().enumerate().skip(1).map(|(area, range)| {
            let slice = CocoSlice {
                area,
                ..with(others)
            };
            (format!("_{}", range.name), slice)
        });
        let by_area: Vec<Named> = by_area.collect();
        let precisions: Vec<&Named> = by_threshold.iter().chain(&by_area).collect();
        let means = parallel::map(precisions.len(), |index| {
            let (name, slice) = precisions[index];
            let value = self.average_precision_of(*slice, keeps);
            (format!("AP{name}"), value)
        });
        let recall = |(name, slice): &Named| {
            let value = self.mean(*slice, 1, OfClass::recall, keeps);
            (format!("AR{name}"), value)
        };
        let recalls = by_number.iter().chain(&by_area).map(recall);
        means.into_iter().chain(recalls).collect()
    }
}
