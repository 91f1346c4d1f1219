//! The values that metrics compare.

/// The values of the records that a metric compares. What works on one metric of a shape works on all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Shape {
    /// Any values: the metric says itself what they are.
    Any,
    /// A text for a text.
    Texts,
    /// A text for one of several answers.
    Answers,
    /// A list of texts, of which the most frequent one counts, for a text.
    Votes,
    /// A text for the answers to a question of a language and a type.
    Questions,
    /// A list of segments of speakers, for such a list.
    Sessions,
    /// A number, or a text, for one of several.
    Numbers,
    /// A number for a number.
    NumberPairs,
    /// A label for a label.
    Labels,
    /// A list of labels for a list of labels.
    LabelSets,
    /// A score for each label, for a list of labels.
    ScoredLabels,
    /// A list of labels for a label, the most likely one first.
    RankedLabels,
    /// A score for each class, for the index of a class.
    ClassScores,
    /// A score, or a score for each class, for a label.
    LabelScores,
    /// Documents with scores, for documents with relevance.
    Topics,
    /// Source code for one or several texts of it.
    Code,
    /// Samples of a task, each of which passes or fails, without a reference.
    Samples,
    /// A number or a Boolean that is a score already, without a reference.
    Grades,
    /// The boxes of a class in an image, or of all classes by name.
    Boxes,
    /// The objects of an image, with boxes.
    Images,
    /// The same, with masks.
    Masks,
    /// The same, with keypoints.
    Keypoints,
    /// The segments of an image, each with a category.
    Segments,
    /// A map of labels, for a map of the same size.
    LabelMaps,
    /// A grid of colors for a grid.
    Grids,
    /// The attempts at the test outputs of a task, for these grids.
    GridTasks,
    /// The traffic rules of a clip, with the lanes that they apply to.
    Rules,
    /// The same, with the centerlines of the clip's map.
    MappedRules,
    /// The lanes and traffic elements of a frame, with their topology.
    Frames,
}

impl Shape {
    /// Returns whether a reference may be a list of texts.
    #[must_use]
    pub const fn has_references(self) -> bool {
        matches!(
            self,
            Self::Answers | Self::Questions | Self::Numbers | Self::Code
        )
    }

    /// Returns whether a missing prediction can count as an empty one: there is an empty text, but no empty number.
    #[must_use]
    pub const fn has_empty_prediction(self) -> bool {
        !matches!(
            self,
            Self::Grades | Self::LabelScores | Self::NumberPairs | Self::ScoredLabels
        )
    }

    /// Returns whether a record has a reference in addition to a prediction.
    #[must_use]
    pub const fn compares(self) -> bool {
        !matches!(self, Self::Samples | Self::Grades)
    }

    /// Returns the field of a value that is a picture: its pixels, the bytes of a file, or the path of one. The name is empty if
    /// the value itself is the picture; `None` for shapes without pictures.
    #[must_use]
    pub const fn picture(self) -> Option<&'static str> {
        match self {
            Self::LabelMaps => Some(""),
            Self::Segments => Some("ids"),
            _ => None,
        }
    }

    /// Returns the name of the shape.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Texts => "texts",
            Self::Answers => "answers",
            Self::Votes => "votes",
            Self::Questions => "questions",
            Self::Sessions => "sessions",
            Self::Numbers => "numbers",
            Self::NumberPairs => "number-pairs",
            Self::Labels => "labels",
            Self::LabelSets => "label-sets",
            Self::ScoredLabels => "scored-labels",
            Self::RankedLabels => "ranked-labels",
            Self::ClassScores => "class-scores",
            Self::LabelScores => "label-scores",
            Self::Topics => "topics",
            Self::Code => "code",
            Self::Samples => "samples",
            Self::Grades => "grades",
            Self::Boxes => "boxes",
            Self::Images => "images",
            Self::Masks => "masks",
            Self::Keypoints => "keypoints",
            Self::Segments => "segments",
            Self::LabelMaps => "label-maps",
            Self::Grids => "grids",
            Self::GridTasks => "grid-tasks",
            Self::Rules => "rules",
            Self::MappedRules => "mapped-rules",
            Self::Frames => "frames",
        }
    }

    /// Returns the shape for a metric that takes it under any options.
    #[must_use]
    pub const fn as_is(self) -> Taken {
        self.with(&[])
    }

    /// Returns the shape with the options that a metric needs to take values of it.
    #[must_use]
    pub const fn with(self, options: &'static [(&'static str, &'static str)]) -> Taken {
        Taken {
            shape: self,
            options,
        }
    }
}

/// A shape of values that a metric takes under some options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The shape.
    pub shape: Shape,
    /// The options without which the metric does not take it; a flag has no value.
    pub options: &'static [(&'static str, &'static str)],
}
