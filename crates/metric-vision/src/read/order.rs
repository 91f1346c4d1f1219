use metric_core::Merge;

use super::ImageSizes;
use crate::{BBox, Dataset, Image, Prediction, Shape};

/// How well the detections of a data set fit the ground truth, both as they were read and with their numbers in
/// another order.
///
/// Numbers in the wrong order are read without an error, and match nothing. The number of objects found in each order
/// shows which one was intended. The counts of parts of a data set add up.
///
/// ```
/// use metric_vision::read::{CocoOptions, File, OtherOrder, parse_coco};
///
/// let truth = r#"{
///     "images": [{"id": 1}], "categories": [{"id": 18, "name": "dog"}],
///     "annotations": [{"id": 7, "image_id": 1, "category_id": 18, "bbox": [50, 60, 30, 20], "area": 600, "iscrowd": 0}]
/// }"#;
/// let seems_meant = |bbox: &str| {
///     let found = format!(r#"[{{"image_id": 1, "category_id": 18, "score": 0.8, "bbox": {bbox}}}]"#);
///     let file = |text| File { name: "", text };
///     let read = parse_coco(file(truth), file(&found), CocoOptions::default());
///     read.map(|(dataset, _)| OtherOrder::of_corners(&dataset).seems_meant())
/// };
/// assert!(seems_meant("[50, 60, 80, 80]")?);
/// assert!(!seems_meant("[50, 60, 30, 20]")?);
/// # Ok::<(), metric_vision::read::ReadError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtherOrder {
    /// Detections.
    pub detections: u64,
    /// Detections whose numbers are not a box in the other order. The other counts are about the rest.
    pub without: u64,
    /// Boxes that, as read, have an IoU of at least 0.5 with an object of their class.
    pub hits: u64,
    /// Boxes that have such an IoU only in the other order.
    pub other_hits: u64,
}

/// The IoU at which a box counts as found.
const FOUND: f64 = 0.5;

/// An image with more pairs of a detection and an object is left out: what is common shows in the others.
const MOST_PAIRS: usize = 1 << 20;

/// The distance, as a fraction of the image, by which boxes may extend beyond it before they count as outside. Models
/// and rounding exceed it by a little.
const SLACK: f64 = 0.02;
const FAR: f64 = 0.1;

impl OtherOrder {
    /// Counts the detections of COCO's results as if their boxes, which should be `[x, y, width, height]`, were the
    /// two corners `[x1, y1, x2, y2]` that many models return.
    ///
    /// # Cost
    ///
    /// Linear in the detections, and for those that can be corners also in the objects of the image, up to
    /// 2^20 pairs. Images with more pairs are left out.
    #[must_use]
    pub fn of_corners(dataset: &Dataset<BBox>) -> Self {
        Self::count(dataset, Self::add_corners)
    }

    /// Adds the counts that [`of_corners`](Self::of_corners) returns for an image with these detections.
    pub fn add_corners(&mut self, detections: &[Prediction<BBox>], image: &Image<BBox>) {
        self.add(detections, image, corners);
    }

    /// Counts the detections of a YOLO folder, with images of these sizes, as if the confidence were the second
    /// column. A detection has a box in that order if the box fits the image.
    ///
    /// Ultralytics writes `class cx cy width height confidence`. Other programs write
    /// `class confidence cx cy width height`, which has the same count of numbers in the same range.
    ///
    /// ```
    /// use metric_vision::read::{File, ImageSizes, OtherOrder, YoloOptions, parse_yolo};
    ///
    /// let file = |text| [File { name: "street.txt", text }];
    /// let truths = file("0 0.2 0.7 0.2 0.2\n");
    /// let seems_meant = |line| {
    ///     let read = parse_yolo(&truths, &file(line), &YoloOptions::default());
    ///     read.map(|(dataset, _)| {
    ///         OtherOrder::of_yolo(&dataset, &ImageSizes::Unknown).seems_meant()
    ///     })
    /// };
    /// assert!(seems_meant("0 0.3 0.2 0.7 0.2 0.2\n")?);
    /// assert!(!seems_meant("0 0.2 0.7 0.2 0.2 0.3\n")?);
    /// # Ok::<(), metric_vision::read::ReadError>(())
    /// ```
    ///
    /// # Cost
    ///
    /// As [`of_corners`](Self::of_corners).
    #[must_use]
    pub fn of_yolo(dataset: &Dataset<BBox>, sizes: &ImageSizes) -> Self {
        Self::count(dataset, |counts, detections, image| {
            counts.add_yolo(detections, image, sizes);
        })
    }

    /// Adds the counts that [`of_yolo`](Self::of_yolo) returns for an image with these detections.
    pub fn add_yolo(
        &mut self,
        detections: &[Prediction<BBox>],
        image: &Image<BBox>,
        sizes: &ImageSizes,
    ) {
        let scale = scale(image, sizes);
        self.add(detections, image, |detection| {
            YoloLine::new(detection, scale).swapped(scale)
        });
    }

    /// Counts the detections of all images, which `add` adds image by image.
    fn count(
        dataset: &Dataset<BBox>,
        add: impl Fn(&mut Self, &[Prediction<BBox>], &Image<BBox>),
    ) -> Self {
        let mut counts = Self::default();
        for (detections, image) in dataset.examples(0..dataset.images().len()) {
            add(&mut counts, detections, image);
        }
        counts
    }

    /// Adds the counts of an image. `other` gives the box of a detection in the other order.
    fn add(
        &mut self,
        detections: &[Prediction<BBox>],
        image: &Image<BBox>,
        other: impl Fn(&Prediction<BBox>) -> Option<BBox>,
    ) {
        if detections.len().saturating_mul(image.annotations.len()) > MOST_PAIRS {
            return;
        }
        self.detections += detections.len() as u64;
        for detection in detections {
            let Some(swapped) = other(detection) else {
                self.without += 1;
                continue;
            };
            let objects = image.annotations.iter();
            let of_class = objects.filter(|object| object.class == detection.class);
            let [mut hit, mut other_hit] = [false; 2];
            for object in of_class {
                hit |= detection.shape.iou(&object.shape) >= FOUND;
                if hit {
                    break;
                }
                other_hit |= swapped.iou(&object.shape) >= FOUND;
            }
            self.hits += u64::from(hit);
            self.other_hits += u64::from(other_hit && !hit);
        }
    }

    /// Returns whether the other order seems to be the intended one: at least 95% of the detections are boxes in it,
    /// and at least twice as many match an object only in it as match one as they were read.
    #[must_use]
    pub fn seems_meant(&self) -> bool {
        self.without.saturating_mul(20) <= self.detections
            && self.other_hits > 0
            && self.hits.saturating_mul(2) <= self.other_hits
    }
}

/// The counts of parts of a data set add up.
impl Merge for OtherOrder {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        self.detections += other.detections * times;
        self.without += other.without * times;
        self.hits += other.hits * times;
        self.other_hits += other.other_hits * times;
    }
}

/// The box of a detection if its numbers are two corners.
fn corners(detection: &Prediction<BBox>) -> Option<BBox> {
    let [x, y, right, bottom] = detection.shape.xywh();
    if right <= x || bottom <= y {
        return None;
    }
    BBox::from_xyxy(x, y, right, bottom).ok()
}

/// Whether the confidence is the second column of a folder of YOLO without much doubt: as they were read, boxes
/// also leave the image.
pub(super) fn is_other_order(dataset: &Dataset<BBox>, sizes: &ImageSizes) -> bool {
    let images = dataset.examples(0..dataset.images().len());
    let outside = images.map(|(detections, image)| {
        let scale = scale(image, sizes);
        let outside = detections
            .iter()
            .filter(|detection| YoloLine::new(detection, scale).is_far_outside());
        outside.count() as u64
    });
    let outside: u64 = outside.sum();
    if outside == 0 {
        return false;
    }
    let order = OtherOrder::of_yolo(dataset, sizes);
    // Honest detections of several lines hardly ever all fit the image in the other order.
    let without_hits = order.detections >= 5
        && order.without == 0
        && order.hits == 0
        && outside.saturating_mul(5) >= order.detections;
    order.seems_meant() || without_hits
}

/// Width and height of an image, by which fractions of it are multiplied.
fn scale(image: &Image<BBox>, sizes: &ImageSizes) -> [f64; 2] {
    let size = sizes.of_image(&image.key.to_string());
    size.unwrap_or([1.0; 2])
}

/// The numbers of a line of predictions: the box as fractions of the image, and the confidence.
pub(super) struct YoloLine {
    cxcywh: [f64; 4],
    confidence: f64,
}

impl YoloLine {
    fn new(detection: &Prediction<BBox>, scale: [f64; 2]) -> Self {
        Self::of_box(&detection.shape, detection.score, scale)
    }

    pub(super) fn of_box(shape: &BBox, confidence: f64, [width, height]: [f64; 2]) -> Self {
        let [x, y, w, h] = shape.xywh();
        let cxcywh = [
            (x + w / 2.0) / width,
            (y + h / 2.0) / height,
            w / width,
            h / height,
        ];
        Self { cxcywh, confidence }
    }

    pub(super) fn is_far_outside(&self) -> bool {
        leaves(self.cxcywh, FAR)
    }

    /// The box that the line has if its confidence is its second column, if it fits the image.
    fn swapped(&self, [width, height]: [f64; 2]) -> Option<BBox> {
        let [_, cx, cy, w] = self.cxcywh;
        let h = self.confidence;
        if leaves([cx, cy, w, h], SLACK) || h <= 0.0 {
            return None;
        }
        BBox::from_cxcywh(cx * width, cy * height, w * width, h * height).ok()
    }
}

/// Whether a box leaves the image by more than a fraction of it.
fn leaves([cx, cy, w, h]: [f64; 4], by: f64) -> bool {
    [(cx, w), (cy, h)]
        .iter()
        .any(|(center, size)| center - size / 2.0 < -by || center + size / 2.0 > 1.0 + by)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{CocoOptions, File, parse_coco};

    /// Equal boxes that overlap as they are, and would as corners.
    fn equal_boxes(objects: usize, detections: usize) -> OtherOrder {
        let object = |id| {
            format!(
                r#"{{"id": {id}, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "area": 81, "iscrowd": 0}}"#
            )
        };
        let objects: Vec<String> = (1..=objects).map(object).collect();
        let truth = format!(
            r#"{{"images": [{{"id": 1}}], "categories": [{{"id": 1, "name": "a"}}], "annotations": [{}]}}"#,
            objects.join(",")
        );
        let detection = r#"{"image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "score": 1}"#;
        let found = format!("[{}]", vec![detection; detections].join(","));
        let file = |text| File { name: "", text };
        let read = parse_coco(file(&truth), file(&found), CocoOptions::default());
        OtherOrder::of_corners(&read.expect("a data set").0)
    }

    #[test]
    fn an_image_of_too_many_pairs_is_left_out() {
        let counts = OtherOrder {
            detections: 1024,
            hits: 1024,
            ..OtherOrder::default()
        };
        assert_eq!(equal_boxes(1024, 1024), counts);
        assert_eq!(equal_boxes(1024, 1025), OtherOrder::default());
    }
}
