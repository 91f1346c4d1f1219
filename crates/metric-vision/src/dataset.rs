use std::fmt;
use std::ops::Range;

use metric_core::{Key, Merge, Metric, written};

use crate::{BBox, Federated, Frequency, Shape, parallel};

/// A class of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Class {
    /// Its id.
    pub key: Key,
    /// Its name, which has no effect on scores.
    pub name: String,
    /// How many images of the training set have it, where its list says so.
    pub frequency: Option<Frequency>,
}

impl Class {
    /// Returns the class with this id and this name.
    #[must_use]
    pub fn new(key: impl Into<Key>, name: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            name: name.into(),
            frequency: None,
        }
    }
}

written!(Class { key, name; frequency });

/// A true object of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Annotation<S = BBox> {
    /// The index of its class in the list of classes.
    pub class: u32,
    /// Whether it is a crowd: a region that any number of detections may match without being correct or wrong. It is
    /// not a positive.
    pub crowd: bool,
    /// Whether it is left out of the count ("difficult" in Pascal VOC): it is not a positive, and a
    /// detection of it is neither correct nor wrong.
    pub ignore: bool,
    /// Its id in the file. Only the quirks of a reference implementation look at it.
    pub id: i64,
    /// The area that decides its area range. In COCO it is the area of the mask, even if boxes are
    /// scored.
    pub area: f64,
    /// Its shape.
    pub shape: S,
}

impl<S: Shape> Annotation<S> {
    /// Returns a positive object of a class, with the area of its shape. Its id is 1, because the
    /// [quirks](crate::CocoParams::quirks) of pycocotools treat a match with the id 0 as none.
    ///
    /// ```
    /// use metric_vision::{Annotation, BBox};
    ///
    /// let object = Annotation::new(0, BBox::from_xywh(2.0, 3.0, 4.0, 5.0)?);
    /// assert_eq!((object.area, object.crowd, object.ignore), (20.0, false, false));
    /// let crowd = Annotation { crowd: true, ..object };
    /// assert!(crowd.crowd);
    /// # Ok::<(), metric_vision::InvalidBox>(())
    /// ```
    #[must_use]
    pub fn new(class: u32, shape: S) -> Self {
        Self {
            class,
            crowd: false,
            ignore: false,
            id: 1,
            area: shape.area(),
            shape,
        }
    }
}

#[cfg(feature = "read")]
impl<S> Annotation<S> {
    /// The same object with another shape.
    pub(crate) fn with_shape<T>(&self, shape: T) -> Annotation<T> {
        Annotation {
            class: self.class,
            crowd: self.crowd,
            ignore: self.ignore,
            id: self.id,
            area: self.area,
            shape,
        }
    }
}

#[cfg(feature = "read")]
impl<S> Prediction<S> {
    /// The same detection with another shape.
    pub(crate) fn with_shape<T>(&self, shape: T) -> Prediction<T> {
        Prediction {
            image: self.image,
            position: self.position,
            class: self.class,
            score: self.score,
            area: self.area,
            shape,
        }
    }
}

/// A detection of a class in an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction<S = BBox> {
    /// The index of its image in the list of images, by which [`Dataset::new`] adds it to that
    /// image; metrics do not read it.
    pub image: u32,
    /// The position in the results file, counted from 0, which [`Dataset::new`] and the file readers
    /// set. It is 0 in data that has no file order, such as records of single images. Only
    /// [`VocAp`](crate::VocAp) reads it, to rank detections of equal score.
    pub position: u32,
    /// The index of its class in the list of classes.
    pub class: u32,
    /// The detector's confidence, in any unit; only its order counts.
    pub score: f64,
    /// The area that decides its area range.
    pub area: f64,
    /// Its shape.
    pub shape: S,
}

impl<S: Shape> Prediction<S> {
    /// Returns a detection in the first image, with the area of its shape. The image does not matter to a metric that
    /// is given the detections of one image.
    ///
    /// ```
    /// use metric_vision::{BBox, Prediction};
    ///
    /// let found = Prediction::new(0, 0.9, BBox::from_xywh(2.0, 3.0, 4.0, 5.0)?);
    /// assert_eq!((found.image, found.position, found.area), (0, 0, 20.0));
    /// # Ok::<(), metric_vision::InvalidBox>(())
    /// ```
    #[must_use]
    pub fn new(class: u32, score: f64, shape: S) -> Self {
        Self {
            image: 0,
            position: 0,
            class,
            score,
            area: shape.area(),
            shape,
        }
    }
}

/// An image with its true objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Image<S = BBox> {
    /// Its id. Detections of equal score in several images rank by it; in [`VocAp`](crate::VocAp)
    /// they rank by their position in the file first.
    pub key: Key,
    /// Its true objects, in the order of the file.
    pub annotations: Vec<Annotation<S>>,
    /// Other classes that it is annotated for. Only [`LvisAp`](crate::LvisAp) reads them.
    pub federated: Federated,
}

impl<S> Image<S> {
    /// Returns the image with this id and these true objects.
    ///
    /// ```
    /// use metric_vision::{Image, Key};
    ///
    /// let nothing: Image = Image::new(7, Vec::new());
    /// assert_eq!(nothing.key, Key::Number(7));
    /// ```
    #[must_use]
    pub fn new(key: impl Into<Key>, annotations: Vec<Annotation<S>>) -> Self {
        Self {
            key: key.into(),
            annotations,
            federated: Federated::default(),
        }
    }
}

/// Images with their true objects and detections.
///
/// ```
/// use metric_vision::{Annotation, BBox, Class, CocoAp, CocoSlice, Dataset, Image, Prediction};
/// use metric_core::Metric;
///
/// let square = |x| BBox::from_xywh(x, 0.0, 10.0, 10.0);
/// let dog = Class::new(18, "dog");
/// let images = vec![
///     Image::new(1, vec![Annotation::new(0, square(0.0)?)]),
///     Image::new(2, vec![Annotation::new(0, square(5.0)?)]),
/// ];
/// // The dog in the second image is found, that in the first is not.
/// let found = vec![Prediction { image: 1, ..Prediction::new(0, 0.9, square(5.0)?) }];
///
/// let dataset = Dataset::new(vec![dog], images, found)?;
/// let metric = CocoAp::default();
/// let curves = metric.compute(&dataset.measure(&metric));
/// assert_eq!(curves.average_recall(CocoSlice::default()), Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// Builds a data set from classes, images and predictions, which are in the order of their file. Each prediction
    /// is added to its image, and its [`position`](Prediction::position) is set to its index in the list.
    ///
    /// Classes and images must be in the order of their keys. Annotations and predictions refer to them by their
    /// indices in these lists, counted from 0.
    ///
    /// # Errors
    ///
    /// Returns an error if a key is not after the one before it, an index is not in its list, or there are more
    /// predictions than a `u32` can count.
    pub fn new(
        classes: Vec<Class>,
        images: Vec<Image<S>>,
        mut predictions: Vec<Prediction<S>>,
    ) -> Result<Self, InvalidDataset> {
        let count = countable(predictions.len())?;
        let class = UNLISTED;
        let annotated = images.iter().flat_map(|image| &image.annotations);
        let mut named = annotated.map(|annotation| annotation.class);
        let mut detected = predictions.iter().map(|prediction| prediction.class);
        if named.any(|named| named == class) || detected.any(|named| named == class) {
            return Err(InvalidDataset::Class { class });
        }
        for (position, prediction) in (0..count).zip(&mut predictions) {
            prediction.position = position;
        }
        Self::placed(classes, images, predictions)
    }

    /// As [`new`](Self::new), for predictions whose position in the file is already set.
    pub(crate) fn placed(
        classes: Vec<Class>,
        images: Vec<Image<S>>,
        mut predictions: Vec<Prediction<S>>,
    ) -> Result<Self, InvalidDataset> {
        rising("class", classes.iter().map(|class| &class.key))?;
        rising("image", images.iter().map(|image| &image.key))?;
        let annotated = images.iter().flat_map(|image| &image.annotations);
        let named = annotated
            .map(|annotation| annotation.class)
            .chain(predictions.iter().map(|prediction| prediction.class));
        for class in named {
            if class as usize >= classes.len() && class != UNLISTED {
                return Err(InvalidDataset::Class { class });
            }
        }
        countable(predictions.len())?;
        let mut ends = vec![0; images.len()];
        for prediction in &predictions {
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

    /// Returns the classes, in the order of their keys.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Returns the images with their true objects, in the order of their keys.
    #[must_use]
    pub fn images(&self) -> &[Image<S>] {
        &self.images
    }

    /// Returns the detections in the image at this index, in the order of the file; empty if there is no such image.
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

    /// Returns the data set of some of the images, chosen by index and image, with all classes. Detections in other images are left
    /// out.
    ///
    /// ```
    /// use metric_vision::{BBox, Class, Dataset, Image, Prediction};
    ///
    /// let square = BBox::from_xywh(0.0, 0.0, 10.0, 10.0)?;
    /// let images = vec![Image::new(1, Vec::new()), Image::new(2, Vec::new())];
    /// let found = [0, 1].map(|image| Prediction { image, ..Prediction::new(0, 0.9, square) });
    /// let dataset = Dataset::new(vec![Class::new(18, "dog")], images, found.to_vec())?;
    /// let second = dataset.with_images(|index, _| index == 1);
    /// assert_eq!(second.images()[0].key, 2.into());
    /// assert_eq!((second.images().len(), second.predictions(0).len()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_images(self, is_kept: impl Fn(usize, &Image<S>) -> bool) -> Self {
        let images = self.images.iter().enumerate();
        let kept: Vec<bool> = images.map(|(at, image)| is_kept(at, image)).collect();
        let mut of_all = self.predictions.into_iter();
        let mut predictions = Vec::new();
        let (mut start, mut ends) = (0, Vec::new());
        for (&end, &is_kept) in self.ends.iter().zip(&kept) {
            let of_image = of_all.by_ref().take(end - start);
            start = end;
            if is_kept {
                let image = ends.len() as u32;
                predictions.extend(of_image.map(|found| Prediction { image, ..found }));
                ends.push(predictions.len());
            } else {
                of_image.for_each(drop);
            }
        }
        let mut kept = kept.into_iter();
        let mut images = self.images;
        images.retain(|_| kept.next().unwrap_or_default());
        Self {
            classes: self.classes,
            images,
            predictions,
            ends,
        }
    }

    /// Returns the examples in a range of images: for each image, its detections and the image with its true objects.
    pub fn examples(
        &self,
        images: Range<usize>,
    ) -> impl Iterator<Item = (&[Prediction<S>], &Image<S>)> {
        let start = images.start;
        let images = self.images.get(images).unwrap_or_default();
        images
            .iter()
            .enumerate()
            .map(move |(position, image)| (self.predictions(start + position), image))
    }
}

/// The class of detections whose class is not in the list. Only readers of federated data keep these detections, and
/// [`LvisAp`](crate::LvisAp) counts them.
pub(crate) const UNLISTED: u32 = u32::MAX - 1;

#[cfg(feature = "read")]
impl<S: Shape> Dataset<S> {
    /// The same data set with shapes made of its own, first those of true objects, then those of detections. These have no
    /// position in a file.
    pub(crate) fn with_shapes<T: Shape>(&self, mut make: impl FnMut(&S) -> T) -> Dataset<T> {
        let images = self.images.iter().map(|image| {
            let annotations = image.annotations.iter();
            let annotations = annotations.map(|real| real.with_shape(make(&real.shape)));
            Image {
                key: image.key.clone(),
                annotations: annotations.collect(),
                federated: image.federated.clone(),
            }
        });
        let images = images.collect();
        let predictions = self.predictions.iter().map(|prediction| Prediction {
            position: 0,
            ..prediction.with_shape(make(&prediction.shape))
        });
        Dataset {
            images,
            predictions: predictions.collect(),
            classes: self.classes.clone(),
            ends: self.ends.clone(),
        }
    }
}

fn rising<'a>(
    list: &'static str,
    keys: impl Iterator<Item = &'a Key>,
) -> Result<(), InvalidDataset> {
    let mut last: Option<&Key> = None;
    for key in keys {
        if let Some(before) = last
            && before >= key
        {
            let (before, key) = (before.clone(), key.clone());
            return Err(InvalidDataset::Order { list, before, key });
        }
        last = Some(key);
    }
    Ok(())
}

fn countable(predictions: usize) -> Result<u32, InvalidDataset> {
    u32::try_from(predictions).map_err(|_| InvalidDataset::TooMany { predictions })
}

impl<S: Shape + Sync> Dataset<S> {
    /// Returns the state of all images. With the feature `rayon`, it is computed on all threads of the current thread
    /// pool; the state is the same on any number of threads.
    #[must_use]
    pub fn measure<M>(&self, metric: &M) -> M::State
    where
        M: Metric<Prediction = [Prediction<S>], Reference = Image<S>, State: Send> + Sync + ?Sized,
    {
        let mut total = M::State::default();
        let parts = self.fold(|state, _, predictions, image| {
            metric.update(state, predictions, image);
        });
        for part in parts {
            total.merge(part);
        }
        total
    }

    /// Calls `gather` once for each image, with its index, its detections and the image, and returns what was gathered
    /// of each part of the images, in their order. With the feature `rayon`, this runs on all threads of the current
    /// thread pool.
    ///
    /// ```
    /// use metric_vision::{Dataset, Image};
    ///
    /// let images = vec![Image::new(3, vec![]), Image::new(5, vec![])];
    /// let dataset: Dataset = Dataset::new(vec![], images, vec![])?;
    /// let keys = dataset.fold(|keys: &mut Vec<_>, _, _, image| keys.push(image.key.to_string()));
    /// assert_eq!(keys.concat(), ["3", "5"]);
    /// # Ok::<(), metric_vision::InvalidDataset>(())
    /// ```
    pub fn fold<A: Default + Send>(
        &self,
        gather: impl Fn(&mut A, usize, &[Prediction<S>], &Image<S>) + Sync,
    ) -> Vec<A> {
        let images = self.images.len();
        let threads = parallel::threads();
        // Some parts for each of several threads, lest the last of them waits long for another.
        let parts = if threads > 1 { 8 * threads } else { 1 };
        let size = images.div_ceil(parts).max(1);
        parallel::map(images.div_ceil(size), |part| {
            let mut gathered = A::default();
            let range = part * size..images.min((part + 1) * size);
            for (index, (predictions, image)) in range.clone().zip(self.examples(range)) {
                gather(&mut gathered, index, predictions, image);
            }
            gathered
        })
    }
}

/// The error for lists that do not form a [`Dataset`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidDataset {
    /// The key of a class or an image is not after the one before it.
    Order {
        /// The kind of the items: `class` or `image`.
        list: &'static str,
        /// The key before it.
        before: Key,
        /// The key.
        key: Key,
    },
    /// A class that is not in the list.
    Class {
        /// Its position.
        class: u32,
    },
    /// An image that is not in the list.
    Image {
        /// Its position.
        image: u32,
    },
    /// More predictions than a `u32` can count.
    TooMany {
        /// The number of items.
        predictions: usize,
    },
}

impl fmt::Display for InvalidDataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { list, before, key } => {
                write!(
                    f,
                    "{list} {key} comes after {list} {before}: expected rising, distinct ids"
                )
            }
            Self::Class { class } => write!(f, "class {class} is not in the list of classes"),
            Self::Image { image } => write!(f, "image {image} is not in the list of images"),
            Self::TooMany { predictions } => {
                write!(
                    f,
                    "{predictions} predictions: expected at most {}",
                    u32::MAX
                )
            }
        }
    }
}

impl std::error::Error for InvalidDataset {}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(key: &str) -> Class {
        Class::new(key, "")
    }

    fn shape() -> BBox {
        BBox::from_xywh(0.0, 0.0, 2.0, 2.0).expect("a box")
    }

    fn empty(key: i64) -> Image {
        Image::new(key, Vec::new())
    }

    fn found(image: u32, score: f64) -> Prediction {
        Prediction {
            image,
            ..Prediction::new(0, score, shape())
        }
    }

    #[track_caller]
    fn refused(
        classes: &[&str],
        images: Vec<Image>,
        predictions: Vec<Prediction>,
        expected: InvalidDataset,
        message: &str,
    ) {
        let classes = classes.iter().copied().map(class).collect();
        let error = Dataset::new(classes, images, predictions).expect_err(message);
        assert_eq!(error.to_string(), message);
        assert_eq!(error, expected);
    }

    #[test]
    fn lists_that_are_refused() {
        let order = |list, before, key| InvalidDataset::Order { list, before, key };
        for (first, second) in [(2, 1), (1, 1)] {
            refused(
                &[],
                vec![empty(0), empty(first), empty(second)],
                vec![],
                order("image", first.into(), second.into()),
                &format!("image {second} comes after image {first}: expected rising, distinct ids"),
            );
        }
        for (first, second) in [("dog", "cat"), ("cat", "cat")] {
            refused(
                &[first, second],
                vec![],
                vec![],
                order("class", first.into(), second.into()),
                &format!("class {second} comes after class {first}: expected rising, distinct ids"),
            );
        }
        let image = Image::new(1, vec![Annotation::new(1, shape())]);
        refused(
            &["cat"],
            vec![image],
            vec![],
            InvalidDataset::Class { class: 1 },
            "class 1 is not in the list of classes",
        );
        refused(
            &[],
            vec![empty(1)],
            vec![found(0, 0.5)],
            InvalidDataset::Class { class: 0 },
            "class 0 is not in the list of classes",
        );
        refused(
            &["cat"],
            vec![empty(1)],
            vec![found(0, 0.5), found(1, 0.5)],
            InvalidDataset::Image { image: 1 },
            "image 1 is not in the list of images",
        );
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn more_predictions_than_can_be_counted() {
        assert_eq!(countable(u32::MAX as usize), Ok(u32::MAX));
        let predictions = u32::MAX as usize + 1;
        let error = countable(predictions).expect_err("too many");
        assert_eq!(error, InvalidDataset::TooMany { predictions });
        assert_eq!(
            error.to_string(),
            "4294967296 predictions: expected at most 4294967295"
        );
    }

    #[test]
    fn predictions_stand_beside_their_images() {
        let images = vec![empty(1), empty(2), empty(3)];
        let found = vec![found(2, 0.1), found(0, 0.2), found(2, 0.3), found(0, 0.4)];
        let dataset = Dataset::new(vec![class("cat")], images, found).expect("a data set");
        let listed = |image| {
            let found = dataset.predictions(image).iter();
            found
                .map(|found| (found.position, found.score))
                .collect::<Vec<_>>()
        };
        assert_eq!(listed(0), [(1, 0.2), (3, 0.4)]);
        assert_eq!(listed(1), []);
        assert_eq!(listed(2), [(0, 0.1), (2, 0.3)]);
        assert_eq!(listed(3), []);

        let examples: Vec<_> = dataset.examples(1..3).collect();
        let keys = examples
            .iter()
            .map(|(found, image)| (found.len(), &image.key));
        assert!(keys.eq([(0, &Key::Number(2)), (2, &Key::Number(3))]));
        assert_eq!(dataset.examples(1..4).count(), 0);
    }
}
