use super::ImageSizes;
use crate::{BBox, Dataset, Shape};

/// How well the detections of a YOLO folder fit their images and the ground truth, as they were read and as if
/// the confidence were their second column.
///
/// Ultralytics writes `class cx cy width height confidence`. Other programs write
/// `class confidence cx cy width height`, which has the same count of numbers in the same range, so that such a
/// folder reads without an error and matches nothing. Boxes that are read from the wrong columns leave the
/// image, and overlap the ground truth only by chance. The counts of parts of a data set add up.
///
/// ```
/// use metric_vision::read::{ColumnOrder, File, ImageSizes, YoloOptions, parse_yolo};
///
/// let file = |text| [File { name: "street.txt", text }];
/// let truths = file("0 0.2 0.7 0.2 0.2\n");
/// let (dataset, _) =
///     parse_yolo(&truths, &file("0 0.3 0.2 0.7 0.2 0.2\n"), &YoloOptions::default())?;
/// assert!(ColumnOrder::of(&dataset, &ImageSizes::Unknown).seems_wrong());
///
/// let (dataset, _) =
///     parse_yolo(&truths, &file("0 0.2 0.7 0.2 0.2 0.3\n"), &YoloOptions::default())?;
/// assert!(!ColumnOrder::of(&dataset, &ImageSizes::Unknown).seems_wrong());
/// # Ok::<(), metric_vision::read::ReadError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnOrder {
    /// Detections.
    pub detections: u64,
    /// Boxes that leave the image by more than a tenth of it.
    pub outside: u64,
    /// Boxes of the other order that leave the image. The rest of the counts are about those that do not.
    pub swapped_outside: u64,
    /// Boxes with an IoU of at least 0.5 with an object of their class.
    pub hits: u64,
    /// Those that only have it in the other order.
    pub swapped_hits: u64,
}

/// How far boxes may leave the image, as a fraction of it, before they count as boxes that do. Models and
/// rounding leave it by a little.
const SLACK: f64 = 0.02;
const FAR: f64 = 0.1;

/// The IoU at which a box counts as found.
const FOUND: f64 = 0.5;

impl ColumnOrder {
    /// Counts the detections of a data set whose images have these sizes.
    ///
    /// # Cost
    ///
    /// Linear in the detections, and for those that fit the image in the other order also in the objects of the
    /// image.
    #[must_use]
    pub fn of(dataset: &Dataset<BBox>, sizes: &ImageSizes) -> Self {
        let mut order = Self::default();
        for (predictions, image) in dataset.examples(0..dataset.images().len()) {
            let scale = sizes.of_image(&image.key.to_string()).unwrap_or([1.0; 2]);
            for prediction in predictions {
                let columns = Columns::new(&prediction.shape, prediction.score, scale);
                order.detections += 1;
                order.outside += u64::from(columns.is_far_outside());
                let Some(swapped) = columns.swapped(scale) else {
                    order.swapped_outside += 1;
                    continue;
                };
                let objects = image.annotations.iter();
                let objects = objects.filter(|object| object.class == prediction.class);
                let [mut hit, mut swapped_hit] = [false; 2];
                for object in objects {
                    hit |= prediction.shape.iou(&object.shape) >= FOUND;
                    swapped_hit |= swapped.iou(&object.shape) >= FOUND;
                }
                order.hits += u64::from(hit);
                order.swapped_hits += u64::from(swapped_hit && !hit);
            }
        }
        order
    }

    /// Whether the detections fit their images in the other order, and find at least twice as many objects there.
    #[must_use]
    pub fn seems_wrong(&self) -> bool {
        self.fits_swapped()
            && self.swapped_hits > 0
            && self.hits.saturating_mul(2) <= self.swapped_hits
    }

    /// Whether the order is wrong without much doubt: as they were read, boxes also leave the image.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        // Honest detections of several lines hardly ever all fit the image in the other order.
        let without_hits = self.detections >= 5
            && self.swapped_outside == 0
            && self.hits == 0
            && self.outside.saturating_mul(5) >= self.detections;
        self.outside > 0 && (self.seems_wrong() || without_hits)
    }

    fn fits_swapped(&self) -> bool {
        self.swapped_outside.saturating_mul(20) <= self.detections
    }
}

/// The numbers of a line of predictions: the box as fractions of the image, and the confidence.
pub(super) struct Columns {
    cxcywh: [f64; 4],
    confidence: f64,
}

impl Columns {
    pub(super) fn new(shape: &BBox, confidence: f64, [width, height]: [f64; 2]) -> Self {
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
        .any(|(centre, size)| centre - size / 2.0 < -by || centre + size / 2.0 > 1.0 + by)
}

/// How well the detections of a data set fit the ground truth, as they were read and as if their boxes were two
/// corners.
///
/// COCO's results have `[x, y, width, height]`. Many models give `[x1, y1, x2, y2]`, which reads without an
/// error. The counts of parts of a data set add up.
///
/// ```
/// use metric_vision::read::{CocoOptions, CornerBoxes, File, parse_coco};
///
/// let truth = r#"{
///     "images": [{"id": 1}], "categories": [{"id": 18, "name": "dog"}],
///     "annotations": [{"id": 7, "image_id": 1, "category_id": 18, "bbox": [50, 60, 30, 20], "area": 600, "iscrowd": 0}]
/// }"#;
/// let seems_wrong = |bbox: &str| {
///     let found = format!(r#"[{{"image_id": 1, "category_id": 18, "score": 0.8, "bbox": {bbox}}}]"#);
///     let file = |text| File { name: "", text };
///     let read = parse_coco(file(truth), file(&found), CocoOptions::default());
///     read.map(|(dataset, _)| CornerBoxes::of(&dataset).seems_wrong())
/// };
/// assert!(seems_wrong("[50, 60, 80, 80]")?);
/// assert!(!seems_wrong("[50, 60, 30, 20]")?);
/// # Ok::<(), metric_vision::read::ReadError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CornerBoxes {
    /// Detections.
    pub detections: u64,
    /// Boxes that are two corners in the right order. The rest of the counts are about these.
    pub corners: u64,
    /// Boxes with an IoU of at least 0.5 with an object of their class.
    pub hits: u64,
    /// Those that only have it as corners.
    pub corner_hits: u64,
}

impl CornerBoxes {
    /// Counts the detections of a data set.
    ///
    /// # Cost
    ///
    /// Linear in the detections, and for those that can be corners also in the objects of the image.
    #[must_use]
    pub fn of(dataset: &Dataset<BBox>) -> Self {
        let mut counts = Self::default();
        for (predictions, image) in dataset.examples(0..dataset.images().len()) {
            counts.detections += predictions.len() as u64;
            for prediction in predictions {
                let [x, y, right, bottom] = prediction.shape.xywh();
                if right <= x || bottom <= y {
                    continue;
                }
                let Ok(corners) = BBox::from_xyxy(x, y, right, bottom) else {
                    continue;
                };
                counts.corners += 1;
                let objects = image.annotations.iter();
                let objects = objects.filter(|object| object.class == prediction.class);
                let [mut hit, mut corner_hit] = [false; 2];
                for object in objects {
                    hit |= prediction.shape.iou(&object.shape) >= FOUND;
                    corner_hit |= corners.iou(&object.shape) >= FOUND;
                }
                counts.hits += u64::from(hit);
                counts.corner_hits += u64::from(corner_hit && !hit);
            }
        }
        counts
    }

    /// Whether nearly all boxes are corners, and find at least twice as many objects as such.
    #[must_use]
    pub fn seems_wrong(&self) -> bool {
        let others = self.detections.saturating_sub(self.corners);
        others.saturating_mul(20) <= self.detections
            && self.corner_hits > 0
            && self.hits.saturating_mul(2) <= self.corner_hits
    }
}
