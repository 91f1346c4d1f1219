//! The definition of the metric: thresholds, recalls, area ranges, numbers of detections.

use std::collections::BTreeSet;
use std::fmt;

/// The parameters that define a [`CocoAp`](super::CocoAp).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CocoParams {
    /// The IoU thresholds, each in `0 < t <= 1`. COCO: 0.50, 0.55, ... 0.95, as numpy's `linspace`
    /// rounds them.
    pub iou_thresholds: Vec<f64>,
    /// The recalls at which curves are read, rising. COCO: 0, 0.01, ... 1.
    pub recall_thresholds: Vec<f64>,
    /// The area ranges. The first is for the main numbers and COCO's takes everything up to 1e10.
    pub areas: Vec<AreaRange>,
    /// The numbers of detections with the highest scores that count in each image and class; ascending. COCO: 1, 10,
    /// 100.
    pub max_detections: Vec<usize>,
    /// Whether classes are told apart; otherwise all objects are of one class.
    pub by_class: bool,
    /// Whether to repeat the defects of pycocotools 2.0.11: a match with a true object whose id is 0 counts as none,
    /// and the main AP is looked up at 100 detections, and undefined where that is not in the list.
    pub quirks: bool,
    /// The numbers that [`CocoCurves::summary`](super::CocoCurves::summary) has.
    pub summary: CocoSummary,
    /// For the boundary IoU of masks, the width of boundaries as a share of the diagonal of the image (usually 0.02): the
    /// IoU of two masks is at most that of their [boundaries](crate::Mask::boundary). Crowds keep the IoU of masks.
    pub dilation: Option<f64>,
}

metric_core::setters!(CocoParams {
    with_iou_thresholds => iou_thresholds: Vec<f64>,
    with_recall_thresholds => recall_thresholds: Vec<f64>,
    with_areas => areas: Vec<AreaRange>,
    with_max_detections => max_detections: Vec<usize>,
    with_by_class => by_class: bool,
    with_quirks => quirks: bool,
    with_summary => summary: CocoSummary,
    with_dilation => dilation: Option<f64>,
});

/// The set of numbers that COCO prints for a data set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CocoSummary {
    /// Those of boxes and masks: recall by number of detections.
    #[default]
    Detections,
    /// Those of keypoints: recall by threshold, all of them with the greatest number of detections.
    Keypoints,
    /// Those of LVIS: precision as for boxes, and the recall of all detections as `AR`.
    Lvis,
}

/// An area range: the areas from one bound to the other, including both.
#[derive(Clone, Debug, PartialEq)]
pub struct AreaRange {
    /// Its name.
    pub name: String,
    /// The least area.
    pub least: f64,
    /// The greatest area.
    pub greatest: f64,
}

impl AreaRange {
    /// Returns the area range of this name and these bounds.
    #[must_use]
    pub fn new(name: impl Into<String>, least: f64, greatest: f64) -> Self {
        Self {
            name: name.into(),
            least,
            greatest,
        }
    }

    pub(super) fn contains(&self, area: f64) -> bool {
        // As the program asks: what is not outside is inside.
        !(area < self.least || area > self.greatest)
    }
}

/// COCO's.
impl Default for CocoParams {
    fn default() -> Self {
        Self {
            iou_thresholds: COCO_IOU_THRESHOLDS.to_vec(),
            recall_thresholds: (0..=100).map(|step| f64::from(step) * 0.01).collect(),
            areas: COCO_AREAS
                .iter()
                .map(|&(name, least, greatest)| AreaRange::new(name, least, greatest))
                .collect(),
            max_detections: vec![1, 10, 100],
            by_class: true,
            quirks: false,
            summary: CocoSummary::Detections,
            dilation: None,
        }
    }
}

impl CocoParams {
    /// Returns COCO's parameters for keypoints: 20 detections count, and there is no area range for small objects.
    ///
    /// ```
    /// use metric_vision::CocoParams;
    ///
    /// let params = CocoParams::keypoints();
    /// assert_eq!(params.max_detections, [20]);
    /// assert_eq!(params.areas[1].name, "medium");
    /// ```
    #[must_use]
    pub fn keypoints() -> Self {
        let mut params = Self {
            max_detections: vec![20],
            summary: CocoSummary::Keypoints,
            ..Self::default()
        };
        params.areas.retain(|area| area.name != "small");
        params
    }
}

/// `numpy.linspace(0.5, 0.95, 10)`, bit for bit.
#[allow(clippy::excessive_precision, reason = "the digits numpy prints")]
const COCO_IOU_THRESHOLDS: [f64; 10] = [
    0.5,
    0.55,
    0.6,
    0.65,
    0.7,
    0.75,
    0.8,
    0.85,
    0.8999999999999999,
    0.95,
];

const COCO_AREAS: [(&str, f64, f64); 4] = [
    ("all", 0.0, 1e10),
    ("small", 0.0, 1024.0),
    ("medium", 1024.0, 9216.0),
    ("large", 9216.0, 1e10),
];

impl CocoParams {
    /// Refuses what [`CocoAp::new`](super::CocoAp::new) does not accept.
    pub(super) fn check(&self) -> Result<(), InvalidCocoParams> {
        let CocoParams {
            iou_thresholds,
            recall_thresholds,
            areas,
            max_detections,
            ..
        } = self;
        for (list, length) in [
            ("IoU thresholds", iou_thresholds.len()),
            ("recall thresholds", recall_thresholds.len()),
            ("areas", areas.len()),
            ("numbers of detections", max_detections.len()),
        ] {
            if length == 0 {
                return Err(InvalidCocoParams::Empty { list });
            }
        }
        if let Some(&t) = iou_thresholds.iter().find(|&&t| !(t > 0.0 && t <= 1.0)) {
            return Err(InvalidCocoParams::IouThreshold(t));
        }
        let mut last = f64::NEG_INFINITY;
        for &recall in recall_thresholds {
            if !(0.0..=1.0).contains(&recall) || recall <= last {
                return Err(InvalidCocoParams::RecallThreshold(recall));
            }
            last = recall;
        }
        if areas.len() > MOST_AREAS {
            return Err(InvalidCocoParams::TooManyAreas(areas.len()));
        }
        if let Some(area) = areas.iter().find(|area| {
            area.least
                .partial_cmp(&area.greatest)
                .is_none_or(|order| order.is_gt())
        }) {
            return Err(InvalidCocoParams::Area(area.name.clone()));
        }
        // The names of the summary's numbers.
        let mut names: BTreeSet<String> = max_detections.iter().map(usize::to_string).collect();
        if let Some(area) = areas
            .iter()
            .skip(1)
            .find(|area| !names.insert(area.name.clone()))
        {
            return Err(InvalidCocoParams::AreaName(area.name.clone()));
        }
        let mut last = 0;
        for &number in max_detections {
            if number <= last {
                return Err(InvalidCocoParams::MaxDetections(number));
            }
            last = number;
        }
        Ok(())
    }

    /// The IoU from which a detection can match, rising: each threshold, but at most `1 - 1e-10`, with its position in
    /// the list.
    pub(super) fn enough(&self) -> Vec<(f64, usize)> {
        let thresholds = self.iou_thresholds.iter().enumerate();
        let mut enough: Vec<(f64, usize)> = thresholds
            .map(|(index, &threshold)| (threshold.min(1.0 - 1e-10), index))
            .collect();
        enough.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        enough
    }

    /// The words of 64 bits that have a bit for each area range and threshold.
    pub(super) fn words(&self) -> usize {
        (self.areas.len() * self.iou_thresholds.len()).div_ceil(64)
    }

    /// For each position among the detections of a class in an image, the number of the limits on detections that leave
    /// it out. The limits rise.
    pub(super) fn levels(&self) -> impl Iterator<Item = u32> {
        let mut limits = self.max_detections.as_slice();
        let mut level = 0;
        (0..).map(move |position| {
            while let [most, higher @ ..] = limits
                && *most <= position
            {
                level += 1;
                limits = higher;
            }
            level
        })
    }
}

/// The most area ranges: a [`Verdict`](super::verdict::Verdict) has a bit for each.
pub(super) const MOST_AREAS: usize = 31;

/// The error for parameters that [`CocoAp`](super::CocoAp) does not accept.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidCocoParams {
    /// A list has no entries.
    Empty {
        /// Which list.
        list: &'static str,
    },
    /// An IoU threshold is outside `0 < t <= 1`.
    IouThreshold(f64),
    /// A recall is outside `0 <= r <= 1`, or not above the one before it.
    RecallThreshold(f64),
    /// A bound of the area range of this name is NaN, or the least area above the greatest.
    Area(String),
    /// An area range other than the first has the name of another, or a number of detections for a name.
    AreaName(String),
    /// There are more area ranges than 31.
    TooManyAreas(usize),
    /// A number of detections is 0 or not above the one before it.
    MaxDetections(usize),
}

impl fmt::Display for InvalidCocoParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { list } => write!(f, "no {list}: expected at least one"),
            Self::IouThreshold(t) => {
                write!(
                    f,
                    "the IoU threshold is {t}: expected more than 0, at most 1"
                )
            }
            Self::RecallThreshold(r) => {
                write!(
                    f,
                    "the recall is {r}: expected 0 to 1, and more than the one before it"
                )
            }
            Self::Area(name) => {
                write!(
                    f,
                    "area {name:?}: expected a least area at most the greatest"
                )
            }
            Self::AreaName(name) => write!(
                f,
                "area {name:?}: expected a name that no other area has, and no number of detections"
            ),
            Self::TooManyAreas(count) => write!(
                f,
                "{count} areas, with that of the main numbers: expected at most {MOST_AREAS}"
            ),
            Self::MaxDetections(most) => write!(
                f,
                "the number of detections is {most}: expected more than the one before it"
            ),
        }
    }
}

impl std::error::Error for InvalidCocoParams {}
