use std::fmt;

use crate::{InvalidPolyline, Polyline};

/// The number of attributes that a traffic element can have: unknown, the three colors of a traffic
/// light and nine signs, numbered from 0.
pub const ATTRIBUTES: usize = 13;

/// The names of the attributes, in the order of their numbers.
pub const ATTRIBUTE_NAMES: [&str; ATTRIBUTES] = [
    "unknown",
    "red",
    "green",
    "yellow",
    "go_straight",
    "turn_left",
    "turn_right",
    "no_left_turn",
    "no_right_turn",
    "u_turn",
    "no_u_turn",
    "slight_left",
    "slight_right",
];

/// A traffic light or sign in the front view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrafficElement {
    attribute: u8,
    corners: [[f64; 2]; 2],
}

impl TrafficElement {
    /// Returns a traffic element with the number of its attribute (see [`ATTRIBUTE_NAMES`]) and two
    /// corners in pixels: left and top, right and bottom.
    ///
    /// A box without an area, or with its corners the wrong way round, overlaps with nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if no attribute has this number, or a coordinate is not finite.
    pub fn new(attribute: i64, corners: [[f64; 2]; 2]) -> Result<Self, InvalidElement> {
        let known = u8::try_from(attribute)
            .ok()
            .filter(|&known| usize::from(known) < ATTRIBUTES);
        let Some(known) = known else {
            return Err(InvalidElement::Attribute(attribute));
        };
        match corners.iter().flatten().find(|value| !value.is_finite()) {
            Some(&value) => Err(InvalidElement::NotFinite(value)),
            None => Ok(Self {
                attribute: known,
                corners,
            }),
        }
    }

    /// Returns the number of its attribute.
    #[must_use]
    pub const fn attribute(&self) -> u8 {
        self.attribute
    }

    /// Returns left and top, right and bottom.
    #[must_use]
    pub const fn corners(&self) -> [[f64; 2]; 2] {
        self.corners
    }

    /// Returns `1 - IoU`, in the devkit's order of operations; 1 where the boxes share no area, for
    /// which the devkit has NaN if neither has one. An area that is infinite as a number is shared
    /// by no other box.
    #[must_use]
    pub fn distance(&self, other: &Self) -> f64 {
        let [[left, top], [right, bottom]] = self.corners;
        let [[other_left, other_top], [other_right, other_bottom]] = other.corners;
        let width = right.min(other_right) - left.max(other_left);
        let height = bottom.min(other_bottom) - top.max(other_top);
        let shared = width.max(0.0) * height.max(0.0);
        let area = (right - left) * (bottom - top);
        let other_area = (other_right - other_left) * (other_bottom - other_top);
        let union = area + other_area - shared;
        if shared > 0.0 && union > 0.0 {
            1.0 - shared / union
        } else {
            1.0
        }
    }
}

/// The error in a traffic element.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidElement {
    /// A number that is not that of an attribute.
    Attribute(i64),
    /// A coordinate that is NaN or infinite.
    NotFinite(f64),
}

impl fmt::Display for InvalidElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attribute(attribute) => {
                write!(f, "expected an attribute from 0 to 12, found {attribute}")
            }
            Self::NotFinite(value) => write!(f, "expected finite coordinates, found {value}"),
        }
    }
}

impl std::error::Error for InvalidElement {}

/// Something predicted, with the confidence in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Detected<T> {
    /// The prediction.
    pub item: T,
    /// A finite number; only the order of confidences matters.
    pub confidence: f64,
}

/// The kind of edges: the topology that holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// From a lane to the lane that follows it.
    Lanes,
    /// From a lane to a traffic element that applies to it.
    Elements,
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lanes => "topology_lclc",
            Self::Elements => "topology_lcte",
        })
    }
}

/// A table with a row for each lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table<T> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) values: Vec<T>,
}

impl<T: Copy> Table<T> {
    /// Checks that there are as many `rows` as lanes, each with as many columns as what they lead to;
    /// rows without columns may be left out, as numpy writes an empty array.
    fn new(
        topology: Topology,
        rows: &[Vec<T>],
        lanes: usize,
        columns: usize,
    ) -> Result<Self, InvalidFrame> {
        if rows.len() != lanes && !(rows.is_empty() && columns == 0) {
            return Err(InvalidFrame::Rows {
                topology,
                expected: lanes,
                found: rows.len(),
            });
        }
        if let Some((row, found)) = (0..)
            .zip(rows.iter().map(Vec::len))
            .find(|&(_, found)| found != columns)
        {
            return Err(InvalidFrame::Columns {
                topology,
                row,
                expected: columns,
                found,
            });
        }
        Ok(Self {
            rows: lanes,
            columns,
            values: rows.concat(),
        })
    }
}

impl<T> Table<T> {
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[T] {
        let start = row * self.columns;
        self.values.get(start..start + self.columns).unwrap_or(&[])
    }
}

/// The ground truth of one frame: lanes, traffic elements, and the edges between them.
///
/// Lanes are centerlines in meters, from the ego vehicle. Row `i` and column `j` of a topology speak
/// of the `i`-th lane and the `j`-th lane or element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    pub(crate) id: String,
    pub(crate) lanes: Vec<Polyline<3>>,
    pub(crate) elements: Vec<TrafficElement>,
    pub(crate) lane_edges: Table<bool>,
    pub(crate) element_edges: Table<bool>,
}

impl Frame {
    /// Returns a frame; `id` orders equal confidences of different frames, and nothing else.
    ///
    /// # Errors
    ///
    /// Returns an error if the shape of a topology is not lanes by lanes, or lanes by elements.
    pub fn new(
        id: impl Into<String>,
        lanes: Vec<Polyline<3>>,
        elements: Vec<TrafficElement>,
        lane_edges: &[Vec<bool>],
        element_edges: &[Vec<bool>],
    ) -> Result<Self, InvalidFrame> {
        let (count, others) = (lanes.len(), elements.len());
        Ok(Self {
            id: id.into(),
            lane_edges: Table::new(Topology::Lanes, lane_edges, count, count)?,
            element_edges: Table::new(Topology::Elements, element_edges, count, others)?,
            lanes,
            elements,
        })
    }

    /// Returns the same frame with another id, for frames whose id is stored next to them.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..self
        }
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the lanes.
    #[must_use]
    pub fn lanes(&self) -> &[Polyline<3>] {
        &self.lanes
    }

    /// Returns the traffic elements.
    #[must_use]
    pub fn elements(&self) -> &[TrafficElement] {
        &self.elements
    }
}

/// A model's prediction for one frame: like [`Frame`], with confidences.
///
/// An entry of a topology above 0.5 is a predicted edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FramePrediction {
    pub(crate) lanes: Vec<Detected<Polyline<3>>>,
    pub(crate) elements: Vec<Detected<TrafficElement>>,
    pub(crate) lane_edges: Table<f64>,
    pub(crate) element_edges: Table<f64>,
}

impl FramePrediction {
    /// Returns a prediction; the default one predicts nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the shape of a topology is not lanes by lanes, or lanes by elements, or
    /// if a confidence is not finite.
    pub fn new(
        lanes: Vec<Detected<Polyline<3>>>,
        elements: Vec<Detected<TrafficElement>>,
        lane_edges: &[Vec<f64>],
        element_edges: &[Vec<f64>],
    ) -> Result<Self, InvalidFrame> {
        let confidences = lanes.iter().map(|lane| lane.confidence);
        for (list, index, value) in confidences
            .zip(0..)
            .map(|(value, index)| (List::Lanes, index, value))
            .chain(
                (elements.iter().zip(0..))
                    .map(|(element, index)| (List::Elements, index, element.confidence)),
            )
        {
            if !value.is_finite() {
                return Err(InvalidFrame::Confidence { list, index, value });
            }
        }
        let (count, others) = (lanes.len(), elements.len());
        let prediction = Self {
            lane_edges: Table::new(Topology::Lanes, lane_edges, count, count)?,
            element_edges: Table::new(Topology::Elements, element_edges, count, others)?,
            lanes,
            elements,
        };
        for (topology, table) in [
            (Topology::Lanes, &prediction.lane_edges),
            (Topology::Elements, &prediction.element_edges),
        ] {
            let wrong = table.values.iter().position(|value| !value.is_finite());
            if let Some(position) = wrong {
                return Err(InvalidFrame::PredictedEdge {
                    topology,
                    row: position / table.columns.max(1),
                    column: position % table.columns.max(1),
                    value: table.values[position],
                });
            }
        }
        Ok(prediction)
    }

    /// Returns the lanes.
    #[must_use]
    pub fn lanes(&self) -> &[Detected<Polyline<3>>] {
        &self.lanes
    }

    /// Returns the traffic elements.
    #[must_use]
    pub fn elements(&self) -> &[Detected<TrafficElement>] {
        &self.elements
    }
}

/// A list of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// The lanes.
    Lanes,
    /// The traffic elements.
    Elements,
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lanes => "lane_centerline",
            Self::Elements => "traffic_element",
        })
    }
}

/// The error in a frame. Positions count from 0; lists and topologies have the names they have in
/// OpenLane-V2's files.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidFrame {
    /// The points of a lane.
    Lane {
        /// The index of the lane.
        index: usize,
        /// The error.
        reason: InvalidPolyline,
    },
    /// A traffic element.
    Element {
        /// The index of the element.
        index: usize,
        /// The error.
        reason: InvalidElement,
    },
    /// A confidence that is NaN or infinite.
    Confidence {
        /// The list of the item.
        list: List,
        /// Which item.
        index: usize,
        /// The confidence.
        value: f64,
    },
    /// An id that occurs twice in the frame; lanes and elements share their ids.
    DuplicateId(String),
    /// A topology with a number of rows that is not the number of lanes.
    Rows {
        /// The topology.
        topology: Topology,
        /// The number of lanes.
        expected: usize,
        /// The number of rows.
        found: usize,
    },
    /// A row of a topology that does not have an entry for each lane or element.
    Columns {
        /// The topology.
        topology: Topology,
        /// The row.
        row: usize,
        /// The number of lanes or elements.
        expected: usize,
        /// The number of entries.
        found: usize,
    },
    /// An entry of a true topology that is neither 0 nor 1.
    TrueEdge {
        /// The topology.
        topology: Topology,
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// An entry of a predicted topology that is NaN or infinite.
    PredictedEdge {
        /// The topology.
        topology: Topology,
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
    },
}

impl fmt::Display for InvalidFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lane { index, reason } => write!(f, "{}[{index}]: {reason}", List::Lanes),
            Self::Element { index, reason } => write!(f, "{}[{index}]: {reason}", List::Elements),
            Self::Confidence { list, index, value } => {
                write!(
                    f,
                    "{list}[{index}]: expected a finite confidence, found {value}"
                )
            }
            Self::DuplicateId(id) => write!(f, "the id {id} occurs twice in the frame"),
            Self::Rows {
                topology,
                expected,
                found,
            } => write!(
                f,
                "{topology}: expected a row for each of {expected} lanes, found {found}"
            ),
            Self::Columns {
                topology,
                row,
                expected,
                found,
            } => {
                let what = match topology {
                    Topology::Lanes => "lanes",
                    Topology::Elements => "traffic elements",
                };
                write!(
                    f,
                    "{topology}[{row}]: expected an entry for each of {expected} {what}, found {found}"
                )
            }
            Self::TrueEdge {
                topology,
                row,
                column,
                value,
            } => write!(
                f,
                "{topology}[{row}][{column}]: expected 0 or 1, found {value}"
            ),
            Self::PredictedEdge {
                topology,
                row,
                column,
                value,
            } => write!(
                f,
                "{topology}[{row}][{column}]: expected a finite number, found {value}"
            ),
        }
    }
}

impl std::error::Error for InvalidFrame {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Lane { reason, .. } => Some(reason),
            Self::Element { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// Checks that no id of the frame occurs twice.
#[cfg(feature = "read")]
pub(super) fn check_ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> Result<(), InvalidFrame> {
    let mut seen = std::collections::BTreeSet::new();
    match ids.into_iter().find(|&id| !seen.insert(id)) {
        Some(id) => Err(InvalidFrame::DuplicateId(id.to_owned())),
        None => Ok(()),
    }
}
