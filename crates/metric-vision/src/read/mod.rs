//! Readers of data sets: COCO's pair of JSON files, the folders of YOLO and Pascal VOC, and records of
//! one image each.
//!
//! Functions `read_...` take paths or documents, and functions `parse_...` take texts that are in memory. Readers of
//! whole data sets return a [`Dataset`](crate::Dataset) and [`Warnings`], or a [`ReadError`] that names the file, the
//! record, the field and what was expected there. [`parse_record`] reads one image, for data sets that are read image
//! by image. [`read_boxes`] detects the format of a data set from its documents.
//!
//! With the option `shard`, a reader reads only the images whose ids the
//! [`Shard`](metric_record::Shard) holds. The merged states of all shards equal the state of the whole data
//! set, and the warnings add up.

mod boxes;
mod coco;
mod columns;
mod document;
mod fields;
mod findings;
mod folder;
mod image_sizes;
mod list;
mod objects;
mod order;
mod record;
#[cfg(test)]
mod shards;
mod stream;
mod text_columns;
mod voc;
mod yolo;

use std::collections::BTreeMap;

use crate::Key;

pub use boxes::{
    BoxForm, BoxNumbers, InvalidBoxList, InvalidLists, ListForm, ListSweep, PolygonForm,
    RotatedForm, parse_detection_boxes, parse_truth_boxes,
};
pub use coco::{
    CocoOptions, parse_coco, parse_coco_keypoints, parse_coco_masks, read_coco, read_coco_masks,
};
pub use columns::{PredictionColumns, TruthColumns, dataset_from_columns};
pub use document::{
    BoxesOptions, is_coco, is_yolo, is_yolo_data_set, read_boxes, read_coco_documents,
    read_coco_keypoint_documents, read_coco_mask_documents, read_coco_objects,
    read_oriented_documents, read_yolo_masks, read_yolo_objects, read_yolo_polygons,
};
pub use findings::{Finding, FindingRules, Findings};
pub use folder::ExtraImages;
pub use image_sizes::ImageSizes;
pub use metric_record::{File, ReadError};
pub use order::OtherOrder;
pub use record::{
    ImageRecord, RecordError, parse_keypoint_record, parse_mask_record, parse_object_record,
    parse_record,
};
pub use stream::{CocoFold, CocoStream};
pub use text_columns::{InvalidColumns, TextColumns};
pub use voc::{VocFiles, VocOptions, parse_voc, read_voc};
pub use yolo::{YoloOptions, parse_yolo, parse_yolo_objects, read_yolo};

/// Something in the data that a reader corrected or left out, or that may not be what was intended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// A true object has no area; that of its shape is used.
    MissingArea,
    /// A true object does not say whether it is a crowd, and is treated as not a crowd.
    MissingCrowd,
    /// A true object is of an image that is not in the list of images, and was left out.
    UnknownImageOfTruth,
    /// A true object is of a class that is not in the list of classes, and was left out.
    UnknownClassOfTruth,
    /// A detection is of a class that is not in the list of classes, and was left out.
    UnknownClass(Key),
    /// A detection is of an image that is not in the list of images, and was left out.
    UnknownImage,
    /// A box has a negative width or height, and overlaps nothing.
    NegativeSize,
    /// The id of an image is in the list more than once.
    RepeatedImage,
    /// The id of a class is in the list more than once.
    RepeatedClass,
    /// A true object has the id 0, which pycocotools treats as no match.
    ZeroId,
    /// A mask is not of the size of its image.
    OtherSize,
    /// A true object has the field `ignore` and was left out of the count, which pycocotools does not do.
    IgnoredTruth,
    /// An image of a federated data set does not list the classes that are known to be absent.
    MissingNegatives,
    /// An image of a federated data set does not list the classes of which not every object is annotated.
    MissingNotExhaustive,
    /// A detection of a federated data set has a box and a mask, and the area of the box decides its area range.
    AreaOfBox,
    /// A point of a detected pose is at (0, 0), where older versions of Ultralytics save points of low confidence.
    PointAtOrigin,
}

impl Warning {
    /// Returns the text that follows the number of cases in a message, in the singular and in the plural.
    #[must_use]
    pub const fn texts(&self) -> [&'static str; 2] {
        match self {
            Self::MissingArea => [
                "ground-truth object has no area, and that of its shape was taken",
                "ground-truth objects have no area, and those of their shapes were taken",
            ],
            Self::MissingCrowd => [
                "ground-truth object does not say iscrowd, and was read as no crowd",
                "ground-truth objects do not say iscrowd, and were read as no crowds",
            ],
            Self::UnknownImageOfTruth => [
                "ground-truth object is of an image that is not in the list, and was left out",
                "ground-truth objects are of images that are not in the list, and were left out",
            ],
            Self::UnknownClassOfTruth => [
                "ground-truth object is of a class that is not in the list, and was left out",
                "ground-truth objects are of classes that are not in the list, and were left out",
            ],
            Self::UnknownClass(_) => [
                "detection is of a class that is not in the list, and was left out",
                "detections are of classes that are not in the list, and were left out",
            ],
            Self::UnknownImage => [
                "detection is of an image that is not in the list, and was left out",
                "detections are of images that are not in the list, and were left out",
            ],
            Self::NegativeSize => [
                "box has a negative width or height, and overlaps nothing",
                "boxes have a negative width or height, and overlap nothing",
            ],
            Self::RepeatedImage => [
                "image is in the list again, and counts once",
                "images are in the list again, and count once",
            ],
            Self::RepeatedClass => [
                "class is in the list again, and counts once",
                "classes are in the list again, and count once",
            ],
            Self::ZeroId => [
                "ground-truth object has the id 0, which pycocotools reads as no match",
                "ground-truth objects have the id 0, which pycocotools reads as no match",
            ],
            Self::OtherSize => [
                "mask is not of the size of its image",
                "masks are not of the sizes of their images",
            ],
            Self::IgnoredTruth => [
                "ground-truth object has ignore set and was left out of the count; pycocotools does not know the field",
                "ground-truth objects have ignore set and were left out of the count; pycocotools does not know the field",
            ],
            Self::MissingNegatives => [
                "image has no neg_category_ids: no class counts as absent from it",
                "images have no neg_category_ids: no class counts as absent from them",
            ],
            Self::MissingNotExhaustive => [
                "image has no not_exhaustive_category_ids: each detection without match counts as incorrect",
                "images have no not_exhaustive_category_ids: each detection without match counts as incorrect",
            ],
            Self::AreaOfBox => [
                "detection has both bbox and segmentation, and its area is that of the box",
                "detections have both bbox and segmentation, and their areas are those of the boxes",
            ],
            Self::PointAtOrigin => [
                "point of a detected pose is at (0, 0), where Ultralytics before 8.3.189 saves points of low confidence",
                "points of detected poses are at (0, 0), where Ultralytics before 8.3.189 saves points of low confidence",
            ],
        }
    }
}

/// The number of times each [`Warning`] applies.
pub type Warnings = BTreeMap<Warning, u64>;
