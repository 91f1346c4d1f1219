use std::fmt;
use std::ops::Range;

#[cfg(feature = "rayon")]
use metric_core::Merge;
use metric_core::Metric;

use crate::{BBox, Shape};

/// The id of an image or a class: an integer, or text.
///
/// Integers come before texts; integers by value, texts by their bytes.
///
/// ```
/// use metric_vision::Key;
///
/// assert!(Key::Number(9) < Key::Number(10));
/// assert!(Key::Number(10) < Key::Text("10".into()));
/// assert_eq!(Key::Text("dog".into()).to_string(), "dog");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Key {
    /// An integer.
    Number(i64),
    /// Text.
    Text(Box<str>),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A class of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Class {
    /// Its id.
    pub key: Key,
    /// Its name; of no consequence for scores.
    pub name: String,
}

/// A true object of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Annotation<S = BBox> {
    /// Its place in the list of classes.
    pub class: u32,
    /// Whether it stands for a crowd: a region that any number of detections may match without
    /// being right or wrong. It is not to be found.
    pub crowd: bool,
    /// Whether it is left out of the count ("difficult" in Pascal VOC): not to be found, and a
    /// detection of it is neither right nor wrong.
    pub ignore: bool,
    /// Its id in the file. Only the quirks of a reference program look at it.
    pub id: i64,
    /// The area that decides its size class. In COCO that of the mask, also where boxes are scored.
    pub area: f64,
    /// Where it is.
    pub shape: S,
}

/// A detection of a class in an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction<S = BBox> {
    /// The place of its image in the list of images.
    pub image: u32,
    /// Its place in the file, which [`Dataset::new`] sets.
    pub place: u32,
    /// The place of its class in the list of classes.
    pub class: u32,
    /// The detector's confidence, in any unit; only its order counts.
    pub score: f64,
    /// The area that decides its size class.
    pub area: f64,
    /// Where it is.
    pub shape: S,
}

/// The truth of one image.
#[derive(Clone, Debug, PartialEq)]
pub struct Image<S = BBox> {
    /// Its id. Detections of equal score rank by it.
    pub key: Key,
    /// Its true objects, in the order of the file.
    pub annotations: Vec<Annotation<S>>,
}

/// Images with their true objects and detections.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset<S = BBox> {
    classes: Vec<Class>,
    images: Vec<Image<S>>,
    /// In the order of the images, and of the file within an image.
    predictions: Vec<Prediction<S>>,
    /// Where the predictions of each image end.
    ends: Vec<usize>,
}

impl<S: Shape> Dataset<S> {
    /// Puts predictions, in the order of their file, beside the images that they are of.
    ///
    /// Classes and images must be in the order of their keys, which `classes` and `image` of
    /// annotations and predictions count from 0.
    ///
    /// # Errors
    ///
    /// A key that is not after the one before it, or a place that is not in its list.
    pub fn new(
        classes: Vec<Class>,
        images: Vec<Image<S>>,
        mut predictions: Vec<Prediction<S>>,
    ) -> Result<Self, InvalidDataset> {
        let rising = |keys: &mut dyn Iterator<Item = &Key>| {
            let mut last = None;
            for key in keys {
                if last.is_some_and(|last| last >= key) {
                    return Err(InvalidDataset::Order { key: key.clone() });
                }
                last = Some(key);
            }
            Ok(())
        };
        rising(&mut classes.iter().map(|class| &class.key))?;
        rising(&mut images.iter().map(|image| &image.key))?;
        let annotated = images.iter().flat_map(|image| &image.annotations);
        let named = annotated
            .map(|annotation| annotation.class)
            .chain(predictions.iter().map(|prediction| prediction.class));
        for class in named {
            if class as usize >= classes.len() {
                return Err(InvalidDataset::Class { class });
            }
        }
        let mut ends = vec![0; images.len()];
        for (place, prediction) in (0..).zip(&mut predictions) {
            prediction.place = place;
            let image = prediction.image;
            *ends
                .get_mut(image as usize)
                .ok_or(InvalidDataset::Image { image })? += 1;
        }
        let mut end = 0;
        for count in &mut ends {
            end += *count;
            *count = end;
        }
        // Files mostly are in this order, and a sort that sees it is done.
        predictions.sort_by_key(|prediction| prediction.image);
        Ok(Self {
            classes,
            images,
            predictions,
            ends,
        })
    }

    /// The classes, in the order of their keys.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The images with their true objects, in the order of their keys.
    #[must_use]
    pub fn images(&self) -> &[Image<S>] {
        &self.images
    }

    /// The detections in the image at this place, in the order of the file; none where there is no
    /// such image.
    #[must_use]
    pub fn predictions(&self, image: usize) -> &[Prediction<S>] {
        let Some(&end) = self.ends.get(image) else {
            return &[];
        };
        let start = match image {
            0 => 0,
            later => self.ends[later - 1],
        };
        &self.predictions[start..end]
    }

    /// The examples in a range of images: the detections of each, and its truth.
    pub fn examples(
        &self,
        images: Range<usize>,
    ) -> impl Iterator<Item = (&[Prediction<S>], &Image<S>)> {
        let start = images.start;
        let images = self.images.get(images).unwrap_or_default();
        images
            .iter()
            .enumerate()
            .map(move |(place, image)| (self.predictions(start + place), image))
    }
}

impl<S: Shape + Sync> Dataset<S> {
    /// The state of all images. With the feature `rayon`, on all threads of the pool that this is
    /// called in; the state is the same on any number of them.
    pub fn measure<M>(&self, metric: &M) -> M::State
    where
        M: Metric<Prediction = [Prediction<S>], Reference = Image<S>, State: Send> + Sync,
    {
        let measure = |images: Range<usize>| {
            let mut state = M::State::default();
            for (predictions, image) in self.examples(images) {
                metric.update(&mut state, predictions, image);
            }
            state
        };
        let images = self.images.len();
        #[cfg(feature = "rayon")]
        {
            use rayon::prelude::*;
            // Some parts for each thread, lest the last of them waits long for another.
            let size = images.div_ceil(8 * rayon::current_num_threads()).max(1);
            let parts = (0..images.div_ceil(size)).into_par_iter();
            let parts: Vec<M::State> = parts
                .map(|part| measure(part * size..images.min((part + 1) * size)))
                .collect();
            let mut total = M::State::default();
            for part in parts {
                total.merge(part);
            }
            total
        }
        #[cfg(not(feature = "rayon"))]
        measure(0..images)
    }
}

/// Lists that are no [`Dataset`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidDataset {
    /// The key of a class or an image is not after the one before it.
    Order {
        /// The key.
        key: Key,
    },
    /// A class that is not in the list.
    Class {
        /// Its place.
        class: u32,
    },
    /// An image that is not in the list.
    Image {
        /// Its place.
        image: u32,
    },
}

impl fmt::Display for InvalidDataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { key } => write!(f, "{key} is not after the key before it"),
            Self::Class { class } => write!(f, "class {class} is not in the list of classes"),
            Self::Image { image } => write!(f, "image {image} is not in the list of images"),
        }
    }
}

impl std::error::Error for InvalidDataset {}
