//! How a metric is shown in a report, as plain data: kinds of charts and of examples.

use crate::Shape;

/// The number of classes whose curves a report draws, and compact details have.
pub const DRAWN_CLASSES: usize = 8;

/// A kind of chart: what of a result and its details is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chart {
    /// The confusion matrix of labels, and the most frequent mistakes.
    Classes,
    /// Accuracies by k, the ranks of references, reliability, and the labels that are missed most.
    Ranks,
    /// The ROC curves of classes, precision against recall, and reliability.
    Scores,
    /// The components of CodeBLEU.
    Components,
    /// The scores of lanes and their rules.
    Lanes,
    /// The scores of lanes, traffic elements and their topology.
    Topology,
    /// How close grids are, and the outcomes of outputs.
    Grids,
    /// Errors by kind, and what is confused with what.
    Edits,
    /// The precision of n-grams by their length, and the brevity penalty.
    Precisions,
    /// Precision against recall by IoU, and scores by area.
    Coco,
    /// The confusion matrix of objects.
    Confusions,
    /// Counts and scores of detected objects.
    Detections,
    /// The errors of TIDE.
    Tide,
    /// Precision against recall by class.
    Voc,
    /// The panoptic quality of things, of stuff and of categories.
    Segments,
}

/// The way in which an example is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExampleView {
    /// The texts of both sides, each with what is compared in its place.
    Texts,
    /// The alignment of words.
    Words,
    /// The alignment of characters.
    Characters,
    /// What each speaker says.
    Speakers,
    /// Source code, line by line.
    Code,
    /// Boxes over an image.
    Boxes,
    /// Grids of colors.
    Grids,
    /// Label maps, and where they differ.
    LabelMaps,
    /// The lanes and traffic elements of a frame.
    Frame,
}

impl Shape {
    /// Returns how the examples of a shape are shown, unless a metric has a way of its own.
    pub(crate) const fn example(self) -> Option<ExampleView> {
        Some(match self {
            Self::Texts | Self::Answers | Self::Questions | Self::Numbers => ExampleView::Texts,
            Self::Sessions => ExampleView::Speakers,
            Self::Code => ExampleView::Code,
            Self::Boxes | Self::Images | Self::Masks | Self::Keypoints => ExampleView::Boxes,
            Self::Grids | Self::GridTasks => ExampleView::Grids,
            Self::Frames => ExampleView::Frame,
            Self::LabelMaps => ExampleView::LabelMaps,
            _ => return None,
        })
    }
}
