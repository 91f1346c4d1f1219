mod arrays;
mod bits;
mod curves;
mod image;
mod matching;
mod params;
mod pass;
mod state;
mod summary;
mod sums;
#[cfg(test)]
mod tests;
mod verdict;
mod weights;

use std::marker::PhantomData;

use metric_core::Metric;

use crate::{BBox, Image, Prediction, Shape};

pub use arrays::CocoArrays;
pub use curves::CocoCurves;
pub(crate) use matching::ImageRules;
pub use params::{AreaRange, CocoParams, CocoSummary, InvalidCocoParams};
pub use state::CocoState;
pub(crate) use state::{Place, Standing};
pub use summary::CocoSlice;
pub use weights::CocoWeights;

/// Returns COCO's average precision of boxes: the mean over IoU thresholds from 0.5 to 0.95. Each item is a pair of
/// the detections in an image and the image with its true objects. Undefined if there is no true object.
///
/// ```
/// use metric_vision::{Annotation, BBox, Image, Prediction, average_precision};
///
/// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let image = Image::new(1, vec![Annotation::new(0, square(0.0)?)]);
/// let found = [Prediction::new(0, 0.9, square(0.0)?)];
/// let score = average_precision([(&found[..], &image)]);
/// // Up to the numpy step from 1 that the program divides by.
/// assert!(score.is_some_and(|score| (1.0 - score).abs() < 1e-12));
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
#[must_use]
pub fn average_precision<'e>(
    images: impl IntoIterator<Item = (&'e [Prediction], &'e Image)>,
) -> Option<f64> {
    CocoAp::default().score_all(images).ap()
}

/// COCO's average precision and average recall, bit for bit as in pycocotools 2.0.11.
///
/// An example is an image: its detections and its true objects, of all classes. In each image and class, at each IoU
/// threshold and in each area range, detections take true objects in descending order of score, by COCO's greedy rule
/// ([`matching::greedy`](crate::matching::greedy)). Over all images, sorted by score, they make a precision-recall
/// curve, whose precision is made to fall monotonically, and which is read at 101 recalls; AP is the mean.
///
/// Detections of equal score rank by the key of their image, then by their order in the file, however
/// the images are divided among states.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::{Annotation, BBox, CocoAp, CocoSlice, Image, Prediction};
///
/// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let truths = vec![Annotation::new(0, square(0.0)?), Annotation::new(0, square(50.0)?)];
/// // The surest detection is on one of the two objects, the next on neither.
/// let found = [Prediction::new(0, 0.9, square(0.0)?), Prediction::new(0, 0.8, square(20.0)?)];
///
/// let metric = CocoAp::default();
/// let state = metric.measure(&found, &Image::new(1, truths));
///
/// let curves = metric.compute(&state);
/// // Recall ends at 1/2. Precision is 1 at the recalls 0, 0.01, ... 0.50, which are 51 of 101.
/// assert_eq!(curves.average_recall(CocoSlice::default()), Some(0.5));
/// let ap = curves.average_precision(CocoSlice::default()).unwrap();
/// assert!((ap - 51.0 / 101.0).abs() < 1e-15);
/// # Ok::<(), metric_vision::InvalidBox>(())
/// ```
///
/// Source: Lin et al., *Microsoft COCO: Common Objects in Context* (ECCV 2014); `COCOeval` of
/// pycocotools 2.0.11. Its known defects are not repeated here, unless [`CocoParams::quirks`] asks
/// for it.
///
/// A state goes with the definition that it was made under, and with any that differs from it only in
/// [`CocoParams::recall_thresholds`]. The numbers of another definition mean nothing.
///
/// # Cost
///
/// The time for an image and class is the product of its true objects and its detections, at most the greatest of
/// [`CocoParams::max_detections`]; the rest is linear, except for sorting. So a million true objects and a million
/// detections of one class in one image are 10^8 pairs, with memory for their overlaps, under COCO's definition, in
/// which 100 detections count. If all of them count, they are 10^12 pairs, which take hours. The curves take 16 bytes
/// for each correct detection, area range and threshold of a class, and are computed for all classes at once with the
/// feature `rayon`.
#[derive(Clone, Debug, PartialEq)]
pub struct CocoAp<S = BBox> {
    params: CocoParams,
    /// IoU from which a detection can match, rising: each threshold, but at most `1 - 1e-10`, with its
    /// position in the list.
    enough: Vec<(f64, usize)>,
    shape: PhantomData<fn(S)>,
}

impl<S: Shape> CocoAp<S> {
    /// Returns the metric with these parameters.
    ///
    /// # Errors
    ///
    /// Returns an error if a list is empty, an IoU threshold is outside `0 < t <= 1`, recalls do not rise, the least
    /// area of an area range is above its greatest or a bound is NaN, [`CocoCurves::summary`] could not tell the names
    /// of area ranges apart, there are more than 31 area ranges, or numbers of detections do not rise from 1.
    pub fn new(params: CocoParams) -> Result<Self, InvalidCocoParams> {
        params.check()?;
        Ok(Self::valid(params))
    }

    pub(crate) fn valid(params: CocoParams) -> Self {
        Self {
            enough: params.enough(),
            params,
            shape: PhantomData,
        }
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> &CocoParams {
        &self.params
    }
}

impl<S: Shape> Default for CocoAp<S> {
    fn default() -> Self {
        Self::valid(CocoParams::default())
    }
}

impl<S: Shape> Metric for CocoAp<S> {
    /// The detections in an image, in the order of the file.
    type Prediction = [Prediction<S>];
    type Reference = Image<S>;
    type State = CocoState;
    type Score = CocoCurves;

    fn update(&self, state: &mut CocoState, prediction: &[Prediction<S>], reference: &Image<S>) {
        let all = 0..prediction.len() as u32;
        let truths = reference.annotations.iter();
        let outcome = self.match_image(prediction, all, truths, ImageRules::default());
        state.images.insert(reference.key.clone(), outcome);
    }

    fn compute(&self, state: &CocoState) -> CocoCurves {
        CocoCurves::accumulate(&self.params, state)
    }
}
