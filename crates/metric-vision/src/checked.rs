//! Metrics as trait objects, which are compiled with this crate.

use metric_core::Metric;

use crate::{
    CocoAp, Confusion, Detection, DetectionSweep, Image, Keypoints, LvisAp, Mask, Polygon,
    Prediction, Shape, SweepItem, Tide, TooManyPairs, Ultralytics, UltralyticsConfusion, VocAp,
    YoloShape,
};

/// A metric that can tell which examples would take minutes, or gigabytes of memory.
pub trait CheckedMetric: Metric + Send + Sync {
    /// Returns an error for such an example. The default has no limit.
    ///
    /// # Errors
    ///
    /// Returns an error if too many pairs of a detection and a true object would be compared.
    fn check_size(
        &self,
        _prediction: &Self::Prediction,
        _reference: &Self::Reference,
    ) -> Result<(), TooManyPairs> {
        Ok(())
    }
}

impl<S: Shape> CheckedMetric for CocoAp<S> {
    fn check_size(&self, found: &[Prediction<S>], image: &Image<S>) -> Result<(), TooManyPairs> {
        CocoAp::check_size(self, found, image)
    }
}

impl<S: Shape> CheckedMetric for LvisAp<S> {
    fn check_size(&self, found: &[Prediction<S>], image: &Image<S>) -> Result<(), TooManyPairs> {
        LvisAp::check_size(self, found, image)
    }
}

impl<S: Shape> CheckedMetric for Tide<S> {
    fn check_size(&self, found: &[Prediction<S>], image: &Image<S>) -> Result<(), TooManyPairs> {
        Tide::check_size(self, found, image)
    }
}

impl<S: Shape> CheckedMetric for Confusion<S> {}

impl<S: Shape> CheckedMetric for VocAp<S> {}

impl CheckedMetric for Ultralytics {
    fn check_size(
        &self,
        found: &[Prediction<YoloShape>],
        image: &Image<YoloShape>,
    ) -> Result<(), TooManyPairs> {
        Ultralytics::check_size(self, found, image)
    }
}

impl CheckedMetric for UltralyticsConfusion {
    fn check_size(
        &self,
        found: &[Prediction<YoloShape>],
        image: &Image<YoloShape>,
    ) -> Result<(), TooManyPairs> {
        Self::check_size(found, image)
    }
}

impl<S: Shape + Clone> CheckedMetric for DetectionSweep<S> {
    fn check_size(&self, found: &[Detection<S>], item: &SweepItem<S>) -> Result<(), TooManyPairs> {
        let rule = self.matching().unwrap_or_default();
        rule.check_size(found, &item.truths)
    }
}

/// The trait object of a metric.
///
/// A metric of any shape is compiled again by each crate that calls it with a shape. As a trait object it is compiled
/// once, with this crate.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::{DynMetric, Image, VocAp};
///
/// let metric: VocAp = VocAp::new(0.5)?;
/// let compiled: &DynMetric<VocAp> = metric.as_ref();
/// let image = Image::new(1, Vec::new());
/// assert_eq!(compiled.measure(&[], &image), metric.measure(&[], &image));
/// # Ok::<(), metric_vision::InvalidThreshold>(())
/// ```
pub type DynMetric<M> = dyn CheckedMetric<
        Prediction = <M as Metric>::Prediction,
        Reference = <M as Metric>::Reference,
        State = <M as Metric>::State,
        Score = <M as Metric>::Score,
    >;

macro_rules! compiled {
    ($($metric:ty),* $(,)?) => {$(
        impl AsRef<DynMetric<$metric>> for $metric {
            // Inlined into another crate, the cast would compile the metric there.
            #[inline(never)]
            fn as_ref(&self) -> &DynMetric<$metric> {
                self
            }
        }
    )*};
}

compiled!(
    CocoAp,
    CocoAp<Mask>,
    CocoAp<Keypoints>,
    CocoAp<Polygon>,
    Confusion,
    DetectionSweep,
    LvisAp,
    LvisAp<Mask>,
    Tide,
    Ultralytics,
    UltralyticsConfusion,
    VocAp,
    VocAp<Mask>,
    VocAp<Polygon>,
);
