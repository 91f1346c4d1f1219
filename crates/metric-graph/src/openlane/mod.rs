//! OpenLane-V2: lanes, traffic elements and how they are connected, frame by frame.
//!
//! The OpenLane-V2 Score (OLS) is the mean of four numbers: [`det_l`](OpenLaneScore::det_l) and
//! [`det_t`](OpenLaneScore::det_t), the average precision of lanes and of traffic elements, and the
//! roots of [`top_ll`](OpenLaneScore::top_ll) and [`top_lt`](OpenLaneScore::top_lt), the average
//! precision of the edges between lanes and from lanes to traffic elements.
//!
//! Wang et al., *OpenLane-V2: A topology reasoning benchmark for unified 3D HD mapping* (NeurIPS
//! 2023), in the semantics of the devkit 2.1.0. Where the devkit's result depends on the version of
//! numpy or on chance, this one does not:
//!
//! - The recall of a prediction is compared with 0, 0.1, ..., 1 in integers. The devkit compares
//!   numbers of 32 and 64 bits: 7 of 10 reach a recall of 0.7 with numpy 1 and not with numpy 2.
//! - Equal confidences rank by the id of the frame, then by position. In the devkit the order is
//!   that of an unstable sort.
//! - Everything is computed in `f64`; the devkit rounds averages to 32 bits, which is a difference
//!   of less than 1e-6.
//! - Two boxes without an area share nothing (distance 1). The devkit has NaN, which hides other
//!   ground-truth boxes of the frame.
//! - A true lane of one point is a lane. The devkit fails.
//! - What the devkit ignores or fails at is an error of the constructors here: confidences and edges
//!   that are NaN, attributes that do not exist, true edges that are neither 0 nor 1.
//!
//! The devkit's F-score of 3D lanes, which is not part of OLS, is not here.
//!
//! ```
//! use metric_core::Metric;
//! use metric_graph::Polyline;
//! use metric_graph::openlane::{Detected, Frame, FramePrediction, OpenLaneV2};
//!
//! let lane = |from: f64, to: f64| Polyline::new(vec![[from, 0.0, 0.0], [to, 0.0, 0.0]]);
//! let detected = |item, confidence| Detected { item, confidence };
//!
//! // Two lanes, of which the second follows the first; only the first is found.
//! let (first, second) = (lane(-20.0, 0.0)?, lane(0.0, 20.0)?);
//! let truth = Frame::new("0", vec![first.clone(), second], vec![],
//!     &[vec![false, true], vec![false, false]], &[vec![], vec![]])?;
//! let prediction = FramePrediction::new(vec![detected(first, 0.9)], vec![], &[vec![0.0]], &[vec![]])?;
//!
//! let score = OpenLaneV2.compute(&OpenLaneV2.measure(&prediction, &truth));
//! // Precision 1 up to recall 0.5, at 6 of 11 points; the edge is missed, and no elements are absent
//! // ones.
//! assert_eq!(score.det_l, 6.0 / 11.0);
//! assert_eq!((score.det_t, score.top_ll, score.top_lt), (1.0, 0.0, 0.0));
//! assert_eq!(score.ols, (6.0 / 11.0 + 1.0) / 4.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # From pickles to JSON Lines
//!
//! The devkit keeps frames in pickles. These ten lines of Python write them as `truths.jsonl` and
//! `predictions.jsonl`, for the program (`metric score openlane --references truths.jsonl
//! --predictions predictions.jsonl`) and for the readers of the feature `read`. JSON has no NaN: a
//! frame with one is an error of the export.
//!
//! ```python
//! import json, pickle
//!
//! KEYS = ("lane_centerline", "traffic_element", "topology_lclc", "topology_lcte")
//!
//! def export(frames, part, field, path):
//!     with open(path, "w") as file:
//!         for token, frame in frames.items():
//!             record = {"id": "/".join(token), field: {key: frame[part][key] for key in KEYS}}
//!             line = json.dumps(record, allow_nan=False, default=lambda array: array.tolist())
//!             file.write(line + "\n")
//!
//! export(pickle.load(open("data_dict_subset_A_val.pkl", "rb")), "annotation", "reference", "truths.jsonl")
//! export(pickle.load(open("results.pkl", "rb"))["results"], "predictions", "prediction", "predictions.jsonl")
//! ```

mod birds_eye;
mod frame;
mod matching;
mod picture;
#[cfg(feature = "read")]
mod read;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use metric_core::{
    Counts, Malformed, Mean, Merge, Metric, NamedScores, Reader, RowSource, WeightedRows, Writer,
    Written, fields, written,
};

use frame::Table;
pub use frame::{
    ATTRIBUTE_NAMES, ATTRIBUTES, Detected, Frame, FramePrediction, InvalidElement, InvalidFrame,
    List, Topology, TrafficElement,
};
pub use matching::{
    ELEMENT_THRESHOLD, LANE_THRESHOLDS, Matches, chamfer, check_size, lane_distance, match_frame,
};
#[cfg(feature = "read")]
pub use read::read_frame;

/// An entry of a predicted topology above this is an edge.
pub const EDGE_THRESHOLD: f64 = 0.5;

/// The value that the devkit uses for a true non-edge if one of its ends was not found: just above
/// [`EDGE_THRESHOLD`], by the epsilon of 32 bits.
const UNFOUND: f64 = EDGE_THRESHOLD + f32::EPSILON as f64;

/// The OpenLane-V2 Score and its parts; see the [module](self).
///
/// Costs little more than reading the frame: about 20 us with 24 predicted lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenLaneV2;

/// The state of [`OpenLaneV2`]: confidences and verdicts of all predictions by frame, and sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenLaneState {
    frames: BTreeMap<String, SameId>,
    /// Traffic elements matched whatever their attributes.
    elements: Counts,
    lane_edges: Edges,
    element_edges: Edges,
}

/// The outcomes of the frames with one id; there may be several.
///
/// They are put in the order of their content when they are looked at, so that nothing depends on
/// which came first.
#[derive(Clone, Debug, Default)]
struct SameId(Vec<FrameOutcome>);

impl SameId {
    fn sorted(&self) -> Vec<&FrameOutcome> {
        let mut outcomes: Vec<_> = self.0.iter().collect();
        outcomes.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        outcomes
    }
}

impl Merge for SameId {
    fn merge(&mut self, other: Self) {
        if self.0.is_empty() {
            *self = other;
        } else {
            self.0.extend(other.0);
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        for _ in 0..times {
            self.0.extend_from_slice(&other.0);
        }
    }
}

impl PartialEq for SameId {
    fn eq(&self, other: &Self) -> bool {
        self.sorted() == other.sorted()
    }
}

/// A list in the order of the content.
impl Written for SameId {
    fn write(&self, to: &mut Writer) {
        to.values(self.sorted().into_iter());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Vec::read(from).map(Self)
    }
}

/// The outcomes of the predictions of a frame.
#[derive(Clone, Debug, Default, PartialEq, PartialOrd)]
struct FrameOutcome {
    true_lanes: u64,
    /// By attribute, as far as the frame has the attribute.
    true_elements: BTreeMap<u8, u64>,
    /// For each predicted lane its confidence, and one bit per threshold under which it is correct.
    lanes: Vec<(Confidence, u8)>,
    /// For each predicted element its confidence, its attribute, and whether it is correct.
    elements: Vec<(Confidence, u8, bool)>,
}

written!(FrameOutcome {
    true_lanes,
    true_elements,
    lanes,
    elements
});

/// A confidence that has an order and one way to be written: finite, and 0 for -0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Confidence(f64);

impl From<Confidence> for f64 {
    fn from(Confidence(confidence): Confidence) -> Self {
        confidence
    }
}

/// The number.
impl Written for Confidence {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let confidence = f64::read(from)?;
        if confidence.is_finite() {
            Ok(Self(confidence + 0.0))
        } else {
            Err("invalid confidence: expected a finite number".into())
        }
    }
}

/// The state of one kind of edges.
#[derive(Clone, Debug, Default, PartialEq)]
struct Edges {
    /// Over the vertices of all frames and thresholds.
    average_precision: Mean,
    /// The number of vertices that have no edge, neither true nor predicted, and so an average
    /// precision of 1.
    edgeless: u64,
    /// Under each of [`LANE_THRESHOLDS`].
    counts: [Counts; 3],
}

impl OpenLaneState {
    /// Returns the number of frames.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames.values().map(|same| same.0.len() as u64).sum()
    }
}

fields!(OpenLaneState {
    frames,
    elements,
    lane_edges,
    element_edges
});

impl OpenLaneState {
    /// Adds everything except the rows of the frames.
    fn merge_sums(&mut self, other: &Self, times: u64) {
        self.elements.merge_times(&other.elements, times);
        self.lane_edges.merge_times(&other.lane_edges, times);
        self.element_edges.merge_times(&other.element_edges, times);
    }
}

fields!(Edges {
    average_precision,
    edgeless,
    counts
});

/// The OpenLane-V2 Score, its parts, and what they hide.
///
/// The five scores are always defined: where there is nothing to find and nothing was predicted an
/// average precision is 1, and a topology without vertices has 0.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OpenLaneScore {
    /// Mean of the average precisions of lanes at 1, 2 and 3 m.
    pub det_l: f64,
    /// Mean of the average precisions of traffic elements over all 13 attributes.
    pub det_t: f64,
    /// Mean average precision of the lanes before and after each true lane.
    pub top_ll: f64,
    /// Mean average precision of the elements of each true lane, and the lanes of each element.
    pub top_lt: f64,
    /// The OpenLane-V2 Score: mean of `det_l`, `det_t` and the roots of `top_ll` and `top_lt`.
    pub ols: f64,
    /// `det_t` without the attributes that are neither true nor predicted anywhere, which count as 1
    /// there; undefined without traffic elements.
    pub det_t_present: Option<f64>,
    /// Lanes under each of [`LANE_THRESHOLDS`].
    pub lanes: [DetectionScore; 3],
    /// Traffic elements by attribute.
    pub attributes: [DetectionScore; ATTRIBUTES],
    /// Traffic elements matched whatever their attributes.
    pub elements: Counts,
    /// The edges of `top_ll`.
    pub lane_edges: EdgeScore,
    /// The edges of `top_lt`.
    pub element_edges: EdgeScore,
}

/// The five scores by the names of the benchmark, and those that say what they hide.
impl NamedScores for OpenLaneScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        [
            ("DET_l", Some(self.det_l)),
            ("DET_t", Some(self.det_t)),
            ("TOP_ll", Some(self.top_ll)),
            ("TOP_lt", Some(self.top_lt)),
            ("OLS", Some(self.ols)),
            ("DET_t_present", self.det_t_present),
            ("edgeless_ll", self.lane_edges.edgeless_share()),
            ("edgeless_lt", self.element_edges.edgeless_share()),
        ]
        .map(|(name, score)| (name.to_owned(), score))
        .into()
    }
}

/// The scores of lanes, or of traffic elements with one attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DetectionScore {
    /// Average precision at 11 points of recall; 1 where nothing is true and nothing predicted.
    pub average_precision: f64,
    /// Matched and unmatched predictions and true items.
    pub counts: Counts,
}

/// Curves of precision over recall.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenLaneCurves {
    /// Lanes under each of [`LANE_THRESHOLDS`].
    pub lanes: [Vec<ConfidencePoint>; 3],
    /// Traffic elements by attribute.
    pub attributes: [Vec<ConfidencePoint>; ATTRIBUTES],
}

/// The counts of the predictions at or above a confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidencePoint {
    /// The confidence.
    pub confidence: f64,
    /// Matched and unmatched predictions and true items.
    pub counts: Counts,
}

/// The scores of edges, in addition to the average precision of their vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EdgeScore {
    /// The number of vertices in the mean: true lanes or elements, in each direction and under each
    /// threshold.
    pub vertices: u64,
    /// The number of vertices without an edge, neither true nor predicted, and so an average precision of 1.
    pub edgeless: u64,
    /// Edges above [`EDGE_THRESHOLD`] under each of [`LANE_THRESHOLDS`]: correct if both ends are
    /// matched and the true ends have the edge. Unlike in the average precisions, edges between
    /// predictions that were not matched count, as false positives.
    pub counts: [Counts; 3],
}

impl EdgeScore {
    /// Returns the share of vertices that have an average precision of 1 because they have no edge.
    #[must_use]
    pub fn edgeless_share(&self) -> Option<f64> {
        metric_core::ratio(self.edgeless, self.vertices)
    }
}

impl Metric for OpenLaneV2 {
    type Prediction = FramePrediction;
    type Reference = Frame;
    type State = OpenLaneState;
    type Score = OpenLaneScore;

    fn update(&self, state: &mut OpenLaneState, prediction: &FramePrediction, frame: &Frame) {
        let matches = match_frame(prediction, frame);
        let same = state.frames.entry(frame.id.clone()).or_default();
        same.0.push(outcome(prediction, frame, &matches));

        let found = |matches: &[Option<usize>]| matches.iter().flatten().count() as u64;
        state.elements.merge(Counts::from_totals(
            found(&matches.elements),
            prediction.elements.len() as u64,
            frame.elements.len() as u64,
        ));

        let lanes = matches
            .lanes
            .each_ref()
            .map(|matches| inverse(matches, frame.lanes.len()));
        let elements = inverse(&matches.elements, frame.elements.len());
        let ends = lanes.each_ref().map(|lanes| (&lanes[..], &lanes[..]));
        add_edges(
            &mut state.lane_edges,
            &prediction.lane_edges,
            &frame.lane_edges,
            ends,
        );
        let ends = lanes.each_ref().map(|lanes| (&lanes[..], &elements[..]));
        add_edges(
            &mut state.element_edges,
            &prediction.element_edges,
            &frame.element_edges,
            ends,
        );
    }

    fn compute(&self, state: &OpenLaneState) -> OpenLaneScore {
        self.weighted(&[state])(&[1])
    }
}

impl OpenLaneV2 {
    /// Returns the precision-recall curves that the average precisions of lanes and elements are read from: one point
    /// per distinct confidence, in descending order of confidence.
    #[must_use]
    pub fn curves(&self, state: &OpenLaneState) -> OpenLaneCurves {
        let rows = Rows::new(&[state]);
        let lanes = std::array::from_fn(|threshold| {
            let lanes = rows.lanes.iter();
            let hits =
                lanes.map(|(_, &(confidence, hits))| (confidence, hits >> threshold & 1 == 1));
            points(hits, rows.true_lanes(&[1]))
        });
        let attributes = std::array::from_fn(|attribute| {
            let elements = rows.elements.get(attribute).into_iter();
            let hits = elements.flat_map(|elements| elements.iter().map(|(_, &element)| element));
            points(hits, rows.true_elements(attribute, &[1]))
        });
        OpenLaneCurves { lanes, attributes }
    }

    /// Returns a function that takes a weight for each state, and returns the score of the states merged as many
    /// times as their weights say. The states are usually those of single frames, and the weights those of a
    /// bootstrap replicate.
    ///
    /// # Cost
    ///
    /// One sort for all weights. Each set of weights is one pass over the predictions and one over the states.
    pub fn weighted<'s>(
        &self,
        states: &[&'s OpenLaneState],
    ) -> impl Fn(&[u64]) -> OpenLaneScore + use<'s> {
        let states = states.to_vec();
        let rows = Rows::new(&states);
        move |weights| {
            let weight = |state: usize| weights.get(state).copied().unwrap_or_default();
            let mut total = OpenLaneState::default();
            for (index, state) in states.iter().enumerate() {
                total.merge_sums(state, weight(index));
            }
            let lanes: [DetectionScore; 3] = std::array::from_fn(|threshold| {
                let mut ranking = Ranking::new(rows.true_lanes(weights));
                rows.lanes.each(weights, |&(_, hits), times| {
                    ranking.add(hits >> threshold & 1 == 1, times);
                });
                ranking.score()
            });
            let attributes: [DetectionScore; ATTRIBUTES] = std::array::from_fn(|attribute| {
                let mut ranking = Ranking::new(rows.true_elements(attribute, weights));
                if let Some(elements) = rows.elements.get(attribute) {
                    elements.each(weights, |&(_, hit), times| ranking.add(hit, times));
                }
                ranking.score()
            });
            score_of(lanes, attributes, &total)
        }
    }
}

/// The points of a curve, from verdicts by falling confidence.
fn points(hits: impl Iterator<Item = (Confidence, bool)>, truths: u64) -> Vec<ConfidencePoint> {
    let mut points: Vec<ConfidencePoint> = Vec::new();
    let (mut right, mut predicted) = (0, 0);
    for (Confidence(confidence), hit) in hits {
        (right, predicted) = (right + u64::from(hit), predicted + 1);
        let counts = Counts::from_totals(right, predicted, truths);
        match points.last_mut() {
            Some(last) if last.confidence == confidence => last.counts = counts,
            _ => points.push(ConfidencePoint { confidence, counts }),
        }
    }
    points
}

/// The score of detections and of the sums of a state.
fn score_of(
    lanes: [DetectionScore; 3],
    attributes: [DetectionScore; ATTRIBUTES],
    state: &OpenLaneState,
) -> OpenLaneScore {
    let present = |score: &&DetectionScore| score.counts != Counts::default();
    let (det_l, det_t) = (
        mean(&lanes).unwrap_or(0.0),
        mean(&attributes).unwrap_or(0.0),
    );
    let [top_ll, top_lt] = [&state.lane_edges, &state.element_edges]
        .map(|edges| edges.average_precision.value().unwrap_or(0.0));
    OpenLaneScore {
        det_l,
        det_t,
        top_ll,
        top_lt,
        ols: (det_l + det_t + top_ll.sqrt() + top_lt.sqrt()) / 4.0,
        det_t_present: mean(attributes.iter().filter(present)),
        lanes,
        attributes,
        elements: state.elements,
        lane_edges: state.lane_edges.score(),
        element_edges: state.element_edges.score(),
    }
}

/// The predictions and true items of several states.
struct Rows {
    /// By state.
    true_lanes: Vec<(u32, u64)>,
    /// By state and attribute.
    true_elements: Vec<(u32, u8, u64)>,
    /// Confidences, and bits of the thresholds under which a lane is correct.
    lanes: WeightedRows<(Confidence, u8)>,
    /// By attribute, confidences and verdicts.
    elements: Vec<WeightedRows<(Confidence, bool)>>,
}

impl Rows {
    fn new(states: &[&OpenLaneState]) -> Self {
        let frames = (0..).zip(states).flat_map(|(index, state): (u32, _)| {
            let frames = state.frames.iter();
            let frames = frames.flat_map(|(id, same)| {
                let outcomes = same.sorted().into_iter();
                outcomes.map(move |outcome| (id, outcome))
            });
            frames.map(move |(id, outcome)| (id, outcome, index))
        });
        let mut frames: Vec<(&String, &FrameOutcome, u32)> = frames.collect();
        frames.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        let mut lanes = Vec::new();
        let mut elements = vec![Vec::new(); ATTRIBUTES];
        let (mut true_lanes, mut true_elements) = (Vec::new(), Vec::new());
        for (example, (_, outcome, state)) in (0..).zip(frames) {
            let source = RowSource { state, example };
            true_lanes.push((state, outcome.true_lanes));
            let of_attributes = outcome.true_elements.iter();
            true_elements.extend(of_attributes.map(|(&of, &count)| (state, of, count)));
            lanes.extend(outcome.lanes.iter().map(|&lane| (source, lane)));
            for &(confidence, attribute, hit) in &outcome.elements {
                if let Some(elements) = elements.get_mut(usize::from(attribute)) {
                    elements.push((source, (confidence, hit)));
                }
            }
        }
        let elements = elements
            .into_iter()
            .map(|elements| WeightedRows::new(elements, |&(confidence, _)| Falling(confidence)));
        Self {
            true_lanes,
            true_elements,
            lanes: WeightedRows::new(lanes, |&(confidence, _)| Falling(confidence)),
            elements: elements.collect(),
        }
    }

    fn true_lanes(&self, weights: &[u64]) -> u64 {
        let counts = self.true_lanes.iter();
        counts
            .map(|&(state, count)| count * weight(weights, state))
            .sum()
    }

    fn true_elements(&self, attribute: usize, weights: &[u64]) -> u64 {
        let own = self.true_elements.iter();
        let own = own.filter(|&&(_, of, _)| usize::from(of) == attribute);
        own.map(|&(state, _, count)| count * weight(weights, state))
            .sum()
    }
}

fn weight(weights: &[u64], state: u32) -> u64 {
    weights.get(state as usize).copied().unwrap_or_default()
}

/// A confidence in the order of [`falling`].
#[derive(PartialEq)]
struct Falling(Confidence);

impl Eq for Falling {}

impl PartialOrd for Falling {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Falling {
    fn cmp(&self, other: &Self) -> Ordering {
        falling(self.0.0, other.0.0)
    }
}

impl Edges {
    fn score(&self) -> EdgeScore {
        EdgeScore {
            vertices: self.average_precision.count(),
            edgeless: self.edgeless,
            counts: self.counts,
        }
    }
}

fn outcome(prediction: &FramePrediction, frame: &Frame, matches: &Matches) -> FrameOutcome {
    let plain = |confidence: f64| Confidence(confidence + 0.0);
    let lanes = prediction.lanes.iter().enumerate().map(|(index, lane)| {
        let hit = |threshold: usize| {
            let matched = matches.lanes[threshold][index].is_some();
            u8::from(matched) << threshold
        };
        (plain(lane.confidence), hit(0) | hit(1) | hit(2))
    });
    let elements = prediction
        .elements
        .iter()
        .zip(&matches.elements_by_attribute);
    let elements = elements.map(|(element, hit)| {
        let attribute = element.item.attribute();
        (plain(element.confidence), attribute, hit.is_some())
    });
    let mut true_elements = BTreeMap::new();
    for element in &frame.elements {
        *true_elements.entry(element.attribute()).or_default() += 1;
    }
    FrameOutcome {
        true_lanes: frame.lanes.len() as u64,
        true_elements,
        lanes: lanes.collect(),
        elements: elements.collect(),
    }
}

/// By true item, the prediction that stands for it.
fn inverse(matches: &[Option<usize>], truths: usize) -> Vec<Option<usize>> {
    let mut predictions = vec![None; truths];
    for (prediction, truth) in matches.iter().enumerate() {
        if let Some(truth) = *truth {
            predictions[truth] = Some(prediction);
        }
    }
    predictions
}

/// By true item, the prediction that stands for it.
type Ends<'a> = &'a [Option<usize>];

/// Adds the edges of a frame, given for each threshold what stands for the true rows and columns.
fn add_edges(
    edges: &mut Edges,
    predicted: &Table<f64>,
    actual: &Table<bool>,
    ends: [(Ends<'_>, Ends<'_>); 3],
) {
    let count = |found: usize| found as u64;
    let predictions = predicted
        .values
        .iter()
        .filter(|&&value| value > EDGE_THRESHOLD);
    let predictions = count(predictions.count());
    let truths = count(actual.values.iter().filter(|&&edge| edge).count());
    let mut neighbours = Vec::new();
    for ((rows, columns), counts) in ends.into_iter().zip(&mut edges.counts) {
        // The predicted confidence of each edge of the true graph.
        let mut projected = Vec::with_capacity(actual.values.len());
        let mut hits = 0;
        for (row, &end) in rows.iter().enumerate() {
            let confidences = end.map(|end| predicted.row(end));
            for (&edge, &end) in actual.row(row).iter().zip(columns) {
                let confidence = match (confidences, end) {
                    (Some(confidences), Some(end)) => {
                        let confidence = confidences[end];
                        hits += u64::from(edge && confidence > EDGE_THRESHOLD);
                        confidence
                    }
                    _ if edge => 0.0,
                    _ => UNFOUND,
                };
                projected.push((confidence, edge));
            }
        }
        counts.merge(Counts::from_totals(hits, predictions, truths));
        // In a table without columns no vertex counts, and a table without rows has no vertices.
        if projected.is_empty() {
            continue;
        }
        let mut add = |average_precision: Option<f64>| {
            edges
                .average_precision
                .add(average_precision.unwrap_or(1.0));
            edges.edgeless += u64::from(average_precision.is_none());
        };
        for row in projected.chunks(actual.columns) {
            add(vertex_average_precision(row, &mut neighbours));
        }
        for column in 0..actual.columns {
            let column = projected[column..].iter().step_by(actual.columns);
            add(vertex_average_precision(column, &mut neighbours));
        }
    }
}

/// The average precision of the neighbors of a vertex, given all that could be as confidence and
/// truth; `None` if there is no edge, neither true nor predicted. `neighbours` is memory
/// that is used again.
fn vertex_average_precision<'a>(
    vertex: impl IntoIterator<Item = &'a (f64, bool)>,
    neighbours: &mut Vec<(f64, bool)>,
) -> Option<f64> {
    neighbours.clear();
    let mut truths = 0;
    for &(confidence, edge) in vertex {
        truths += usize::from(edge);
        // Few are predicted.
        if confidence > EDGE_THRESHOLD {
            neighbours.push((confidence, edge));
        }
    }
    if truths == 0 {
        return if neighbours.is_empty() {
            None
        } else {
            Some(0.0)
        };
    }
    neighbours.sort_by(|a, b| falling(a.0, b.0));
    let (mut hits, mut sum) = (0, 0.0);
    for (rank, &(_, edge)) in neighbours.iter().enumerate() {
        if edge {
            hits += 1;
            sum += f64::from(hits) / (rank + 1) as f64;
        }
    }
    Some(sum / truths as f64)
}

/// Correct and incorrect predictions, by falling confidence.
struct Ranking {
    truths: u64,
    predictions: u64,
    hits: u64,
    /// The greatest precision at each of the 11 levels of recall; a prediction counts for all levels up to the
    /// one it reaches.
    best: [f64; 11],
}

impl Ranking {
    fn new(truths: u64) -> Self {
        Self {
            truths,
            predictions: 0,
            hits: 0,
            best: [0.0; 11],
        }
    }

    fn add(&mut self, is_hit: bool, times: u64) {
        if !is_hit {
            self.predictions += times;
            return;
        }
        for _ in 0..times {
            self.predictions += 1;
            self.hits += 1;
            // No level is reached between two hits, and a miss lowers the precision.
            let level = (10 * self.hits).checked_div(self.truths).unwrap_or(10);
            let level = level.min(10) as usize;
            let precision = self.hits as f64 / self.predictions as f64;
            self.best[level] = self.best[level].max(precision);
        }
    }

    /// The average precision at 11 points of recall.
    fn score(&self) -> DetectionScore {
        let mut sum = 0.0;
        let mut greatest = 0.0_f64;
        for level in self.best.iter().rev() {
            greatest = greatest.max(*level);
            sum += greatest;
        }
        DetectionScore {
            average_precision: if self.truths == 0 && self.predictions == 0 {
                1.0
            } else {
                sum / 11.0
            },
            counts: Counts::from_totals(self.hits, self.predictions, self.truths),
        }
    }
}

fn mean<'a>(scores: impl IntoIterator<Item = &'a DetectionScore>) -> Option<f64> {
    let scores = scores.into_iter().map(|score| score.average_precision);
    scores.collect::<Mean>().value()
}

/// The order of confidences, which are finite: the greatest first.
fn falling(a: f64, b: f64) -> Ordering {
    b.partial_cmp(&a).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use metric_core::{from_bytes, to_bytes};

    use super::*;
    use crate::{InvalidPolyline, Polyline};

    /// The average precision of verdicts by falling confidence.
    fn average_precision(hits: &[bool], truths: u64) -> f64 {
        let mut ranking = Ranking::new(truths);
        hits.iter().for_each(|&hit| ranking.add(hit, 1));
        ranking.score().average_precision
    }

    #[test]
    fn average_precision_by_hand() {
        assert_eq!(average_precision(&[], 0), 1.0);
        assert_eq!(average_precision(&[], 1), 0.0);
        assert_eq!(average_precision(&[false], 0), 0.0);
        assert_eq!(average_precision(&[true], 1), 1.0);
        assert_eq!(average_precision(&[false, true], 1), 0.5);
        // Recall 0.5 is reached with precision 1, recall 1 with 2 of 3.
        let expected = (6.0 + 5.0 * (2.0 / 3.0)) / 11.0;
        assert!((average_precision(&[true, false, true], 2) - expected).abs() < 1e-15);
        // 7 of 10 reach a recall of 0.7, which in floats is a matter of luck.
        assert_eq!(average_precision(&[true; 7], 10), 8.0 / 11.0);
        // 1 of 11 does not reach 0.1.
        assert_eq!(average_precision(&[true], 11), 1.0 / 11.0);
    }

    #[test]
    fn curves_have_a_point_for_each_confidence() {
        let hits = [(0.9, true), (0.5, false), (0.5, true), (0.1, false)];
        let found = points(
            hits.map(|(confidence, hit)| (Confidence(confidence), hit))
                .into_iter(),
            3,
        );
        let expected = [(0.9, [1, 1]), (0.5, [2, 3]), (0.1, [2, 4])];
        let expected = expected.map(|(confidence, [right, predicted])| ConfidencePoint {
            confidence,
            counts: Counts::from_totals(right, predicted, 3),
        });
        assert_eq!(found, expected);
        assert!(OpenLaneV2.curves(&OpenLaneState::default()) == OpenLaneCurves::default());
    }

    #[test]
    fn neighbours_by_hand() {
        let of = |neighbours: &[(f64, bool)]| vertex_average_precision(neighbours, &mut Vec::new());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(0.5, false), (0.1, false)]), None);
        assert_eq!(of(&[(0.6, false)]), Some(0.0));
        assert_eq!(of(&[(0.5, true)]), Some(0.0));
        assert_eq!(of(&[(0.9, true), (UNFOUND, false)]), Some(1.0));
        assert_eq!(of(&[(0.6, false), (0.6, true)]), Some(0.5));
        assert_eq!(of(&[(0.0, true), (0.6, true)]), Some(0.5));
    }

    fn lane(y: f64) -> Result<Polyline<3>, InvalidPolyline> {
        Polyline::new(vec![[-10.0, y, 0.0], [0.0, y, 0.0], [10.0, y, 0.0]])
    }

    type Error = Box<dyn std::error::Error>;

    #[test]
    fn equal_confidences_rank_by_the_id_of_their_frame() -> Result<(), Error> {
        let found = Detected {
            item: lane(0.0)?,
            confidence: 0.5,
        };
        let prediction = FramePrediction::new(vec![found], vec![], &[vec![0.0]], &[vec![]])?;
        let frame = |id: &str, y: f64| -> Result<Frame, Error> {
            Ok(Frame::new(id, vec![lane(y)?], vec![], &[vec![false]], &[])?)
        };
        let score = |right: &str, wrong: &str| -> Result<f64, Error> {
            let mut state = OpenLaneV2.measure(&prediction, &frame(wrong, 9.0)?);
            state.merge(OpenLaneV2.measure(&prediction, &frame(right, 0.0)?));
            Ok(OpenLaneV2.compute(&state).det_l)
        };
        // One of two true lanes is found: first, or after a false positive.
        assert_eq!(score("a", "b")?, 6.0 / 11.0);
        assert_eq!(score("b", "a")?, 6.0 * 0.5 / 11.0);
        Ok(())
    }

    #[test]
    fn what_the_score_hides() -> Result<(), Error> {
        let lanes = || -> Result<Vec<_>, InvalidPolyline> {
            let lanes = [0.0, 10.0, 50.0].iter().map(|&y| {
                Ok(Detected {
                    item: lane(y)?,
                    confidence: 0.9,
                })
            });
            lanes.collect()
        };
        // The third prediction is not a lane, but two edges are said to lead to it.
        let edges = [vec![0.0, 0.9, 0.9], vec![0.0, 0.0, 0.9], vec![0.0; 3]];
        let prediction = FramePrediction::new(lanes()?, vec![], &edges, &[])?;
        let truth = Frame::new(
            "",
            vec![lane(0.0)?, lane(10.0)?],
            vec![],
            &[vec![false, true], vec![false, false]],
            &[],
        )?;
        let score = OpenLaneV2.compute(&OpenLaneV2.measure(&prediction, &truth));
        assert_eq!(score.top_ll, 1.0);
        // One edge of three is right; the second lane has none after it, the first none before it.
        assert_eq!(score.lane_edges.counts, [Counts::new(1, 2, 0); 3]);
        assert_eq!(
            (score.lane_edges.vertices, score.lane_edges.edgeless),
            (12, 6)
        );
        assert_eq!(score.lane_edges.edgeless_share(), Some(0.5));
        assert_eq!(score.element_edges.edgeless_share(), None);
        assert_eq!(score.lanes[0].counts, Counts::new(2, 1, 0));
        assert_eq!((score.det_t, score.det_t_present), (1.0, None));
        Ok(())
    }

    #[test]
    fn an_edge_needs_more_than_half_the_confidence() -> Result<(), Error> {
        let lanes = || {
            [lane(0.0), lane(10.0)]
                .into_iter()
                .collect::<Result<Vec<_>, _>>()
        };
        let edges = [vec![false, true], vec![false, false]];
        let truth = Frame::new("", lanes()?, vec![], &edges, &[])?;
        for (edge, counts, top_ll) in [
            (0.3, Counts::new(0, 0, 1), 0.5),
            (EDGE_THRESHOLD, Counts::new(0, 0, 1), 0.5),
            (0.6, Counts::new(1, 0, 0), 1.0),
        ] {
            let found = lanes()?.into_iter().map(|item| Detected {
                item,
                confidence: 0.9,
            });
            let edges = [vec![0.0, edge], vec![0.0, 0.0]];
            let prediction = FramePrediction::new(found.collect(), vec![], &edges, &[])?;
            let score = OpenLaneV2.compute(&OpenLaneV2.measure(&prediction, &truth));
            assert_eq!(score.lane_edges.counts, [counts; 3], "{edge}");
            // Two of four vertices have the edge.
            assert_eq!(score.top_ll, top_ll, "{edge}");
        }
        Ok(())
    }

    #[test]
    fn far_lanes_are_measured_with_at_least_half() -> Result<(), Error> {
        let lane = |y: f64| Polyline::new(vec![[200.0, y, 0.0], [220.0, y, 0.0]]);
        assert_eq!(lane_distance(&lane(1.5)?, &lane(0.0)?), Some(0.75));
        Ok(())
    }

    #[test]
    fn of_equally_near_elements_the_first_is_matched() -> Result<(), Error> {
        let element = TrafficElement::new(1, [[0.0, 0.0], [9.0, 9.0]])?;
        let truth = Frame::new("", vec![], vec![element; 2], &[], &[])?;
        let found = Detected {
            item: element,
            confidence: 0.5,
        };
        let prediction = FramePrediction::new(vec![], vec![found], &[], &[])?;
        let matches = match_frame(&prediction, &truth);
        assert_eq!(matches.elements, [Some(0)]);
        assert_eq!(matches.elements_by_attribute, [Some(0)]);
        Ok(())
    }

    #[test]
    fn equal_states_are_written_alike() -> Result<(), Error> {
        let prediction = |confidence: f64| -> Result<FramePrediction, Error> {
            let (lane, element) = (lane(0.0)?, TrafficElement::new(1, [[0.0; 2], [9.0; 2]])?);
            let lane = Detected {
                item: lane,
                confidence,
            };
            let element = Detected {
                item: element,
                confidence,
            };
            let (lanes, elements) = (vec![lane], vec![element]);
            Ok(FramePrediction::new(
                lanes,
                elements,
                &[vec![0.0]],
                &[vec![0.0]],
            )?)
        };
        let written = |confidences: &[f64]| -> Result<Vec<u8>, Error> {
            let mut state = OpenLaneState::default();
            for &confidence in confidences {
                // All under one id.
                OpenLaneV2.update(&mut state, &prediction(confidence)?, &Frame::default());
            }
            let written = to_bytes(&state);
            assert_eq!(from_bytes::<OpenLaneState>(&written)?, state);
            Ok(written)
        };
        assert_eq!(written(&[0.0])?, written(&[-0.0])?);
        assert_eq!(written(&[0.1, 0.7, 0.3])?, written(&[0.7, 0.3, 0.1])?);
        assert_ne!(written(&[0.1, 0.7, 0.3])?, written(&[0.7, 0.3, 0.2])?);
        Ok(())
    }

    #[test]
    fn confidences_of_a_written_state_have_an_order() {
        let read =
            |confidence: f64| from_bytes::<Confidence>(&to_bytes(&confidence)).map(f64::from);
        assert_eq!(read(0.5), Ok(0.5));
        assert!(read(-0.0).is_ok_and(f64::is_sign_positive));
        for confidence in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(read(confidence).is_err(), "{confidence}");
        }
    }

    #[test]
    fn nothing_at_all() {
        let score = OpenLaneV2.compute(&OpenLaneState::default());
        assert_eq!((score.det_l, score.det_t), (1.0, 1.0));
        assert_eq!((score.top_ll, score.top_lt, score.ols), (0.0, 0.0, 0.5));
        let state = OpenLaneV2.measure(&FramePrediction::default(), &Frame::default());
        assert_eq!((state.frames(), OpenLaneV2.compute(&state).ols), (1, 0.5));
    }

    #[test]
    fn lanes_of_one_point_and_of_length_0() -> Result<(), Error> {
        let point = |x: f64, count: usize| Polyline::new(vec![[x, 0.0, 0.0]; count]);
        for (true_points, points) in [(1, 1), (1, 3), (3, 1), (2, 2)] {
            let (truth, near) = (point(0.0, true_points)?, point(0.5, points)?);
            assert_eq!(lane_distance(&near, &truth), Some(0.5));
            assert_eq!(lane_distance(&point(3.0, points)?, &truth), None);
            assert_eq!(chamfer(&near, &truth), 0.5);
        }
        Ok(())
    }

    #[test]
    fn boxes_without_an_area_that_is_a_number_are_found_by_nothing() -> Result<(), Error> {
        let element = |corners| TrafficElement::new(1, corners);
        let sound = element([[0.0, 0.0], [10.0, 10.0]])?;
        let none = [
            [[5.0, 5.0], [5.0, 9.0]],
            [[5.0, 5.0], [5.0, 5.0]],
            [[10.0, 10.0], [0.0, 0.0]],
            [[10.0, 0.0], [0.0, 10.0]],
            [[0.0, 0.0], [1e200, 1e200]],
            [[-f64::MAX, 0.0], [f64::MAX, 0.0]],
        ];
        assert_eq!(sound.distance(&sound), 0.0);
        for corners in none {
            let none = element(corners)?;
            for (a, b) in [(&none, &none), (&sound, &none), (&none, &sound)] {
                assert_eq!(a.distance(b), 1.0, "{corners:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn what_is_no_frame() -> Result<(), Error> {
        let detected = |confidence: f64| -> Result<_, InvalidPolyline> {
            let item = lane(0.0)?;
            Ok(vec![Detected { item, confidence }])
        };
        let said = |frame: Result<FramePrediction, InvalidFrame>| frame.map_err(|e| e.to_string());
        for (confidence, edge, says) in [
            (
                f64::NAN,
                0.0,
                "lane_centerline[0]: expected a finite confidence, found NaN",
            ),
            (
                f64::INFINITY,
                0.0,
                "lane_centerline[0]: expected a finite confidence, found inf",
            ),
            (
                0.5,
                f64::NAN,
                "topology_lclc[0][0]: expected a finite number, found NaN",
            ),
        ] {
            let frame = FramePrediction::new(detected(confidence)?, vec![], &[vec![edge]], &[]);
            assert_eq!(said(frame), Err(says.to_owned()));
        }
        let no_row = Frame::new("", vec![lane(0.0)?], vec![], &[], &[]);
        assert_eq!(
            no_row,
            Err(InvalidFrame::Rows {
                topology: Topology::Lanes,
                expected: 1,
                found: 0
            })
        );
        // An edge to a lane or an element that does not exist.
        let edges = [vec![false, true]];
        let dangling = Frame::new("", vec![lane(0.0)?], vec![], &edges, &[vec![]]);
        assert_eq!(
            dangling.map_err(|e| e.to_string()),
            Err("topology_lclc[0]: expected an entry for each of 1 lanes, found 2".to_owned())
        );
        let dangling = Frame::new("", vec![lane(0.0)?], vec![], &[vec![false]], &[vec![true]]);
        assert!(matches!(
            dangling,
            Err(InvalidFrame::Columns {
                topology: Topology::Elements,
                row: 0,
                expected: 0,
                found: 1
            })
        ));
        for attribute in [-1, 13, i64::MAX] {
            assert_eq!(
                TrafficElement::new(attribute, [[0.0; 2]; 2]),
                Err(InvalidElement::Attribute(attribute))
            );
        }
        assert!(TrafficElement::new(0, [[0.0, f64::NAN], [1.0, 1.0]]).is_err());
        Ok(())
    }

    /// A frame before it is said to be true or predicted. Numbers are drawn from ranges, so that
    /// none of them tie.
    #[derive(Clone, Debug)]
    struct Sketch {
        lanes: Vec<(Polyline<3>, f64)>,
        elements: Vec<(TrafficElement, f64)>,
        lane_edges: Vec<Vec<f64>>,
        element_edges: Vec<Vec<f64>>,
    }

    impl Sketch {
        fn truth(&self, id: &str) -> Result<Frame, InvalidFrame> {
            let edges = |rows: &[Vec<f64>]| -> Vec<Vec<bool>> {
                let edges = |row: &Vec<f64>| row.iter().map(|&edge| edge > 0.5).collect();
                rows.iter().map(edges).collect()
            };
            let lanes = self.lanes.iter().map(|(lane, _)| lane.clone());
            let elements = self.elements.iter().map(|&(element, _)| element);
            Frame::new(
                id,
                lanes.collect(),
                elements.collect(),
                &edges(&self.lane_edges),
                &edges(&self.element_edges),
            )
        }

        fn prediction(&self) -> Result<FramePrediction, InvalidFrame> {
            fn detected<T: Clone>((item, confidence): &(T, f64)) -> Detected<T> {
                let (item, confidence) = (item.clone(), *confidence);
                Detected { item, confidence }
            }
            FramePrediction::new(
                self.lanes.iter().map(detected).collect(),
                self.elements.iter().map(detected).collect(),
                &self.lane_edges,
                &self.element_edges,
            )
        }

        /// The same with lanes and elements in another order.
        fn turned(&self, by: usize) -> Self {
            fn turn<T: Clone>(list: &[T], by: usize) -> Vec<T> {
                let mut list = list.to_vec();
                let by = by % list.len().max(1);
                list.rotate_left(by);
                let half = list.len() / 2;
                list[half..].reverse();
                list
            }
            let rows = |rows: &[Vec<f64>]| turn(rows, by).iter().map(|row| turn(row, by)).collect();
            Self {
                lanes: turn(&self.lanes, by),
                elements: turn(&self.elements, by),
                lane_edges: rows(&self.lane_edges),
                element_edges: rows(&self.element_edges),
            }
        }
    }

    fn sketch() -> impl Strategy<Value = Sketch> {
        (0_usize..5, 0_usize..4).prop_flat_map(|(lanes, elements)| {
            let lane = ((-2.0..2.0, -2.0..2.0, -2.0..2.0), 2_usize..5, 0.0..1.0).prop_map(
                |((x, y, bend), count, confidence)| {
                    let point =
                        |step: u8| [x + 3.0 * f64::from(step), y + bend * f64::from(step), 0.0];
                    let points = [0, 1, 2, 3, 4].map(point)[..count].to_vec();
                    (Polyline::new(points).expect("finite points"), confidence)
                },
            );
            let element = ((0.0..5.0, 0.0..5.0, 1.0..9.0, 1.0..9.0), 0_i64..3, 0.0..1.0).prop_map(
                |((x, y, width, height), attribute, confidence)| {
                    let corners = [[x, y], [x + width, y + height]];
                    let element = TrafficElement::new(attribute, corners);
                    (element.expect("a known attribute"), confidence)
                },
            );
            let table = |columns: usize| {
                proptest::collection::vec(proptest::collection::vec(0.0..1.0, columns), lanes)
            };
            (
                proptest::collection::vec(lane, lanes),
                proptest::collection::vec(element, elements),
                table(lanes),
                table(elements),
            )
                .prop_map(|(lanes, elements, lane_edges, element_edges)| Sketch {
                    lanes,
                    elements,
                    lane_edges,
                    element_edges,
                })
        })
    }

    fn pool(frames: &[(FramePrediction, Frame)]) -> OpenLaneState {
        let mut state = OpenLaneState::default();
        for (prediction, truth) in frames {
            OpenLaneV2.update(&mut state, prediction, truth);
        }
        state
    }

    fn frames(sketches: &[(Sketch, Sketch)]) -> Vec<(FramePrediction, Frame)> {
        let frames = sketches
            .iter()
            .enumerate()
            .map(|(index, (prediction, truth))| {
                let truth = truth.truth(&(index / 2).to_string()).expect("a frame");
                (prediction.prediction().expect("a prediction"), truth)
            });
        frames.collect()
    }

    proptest! {
        #[test]
        fn order_and_shards_do_not_matter(
            sketches in proptest::collection::vec((sketch(), sketch()), 0..6), by in 0_usize..5,
        ) {
            let frames = frames(&sketches);
            let whole = pool(&frames);
            let single = frames.chunks(1).map(pool);
            prop_assert_eq!(&crate::laws::check(&single.collect::<Vec<_>>()), &whole);

            // Lanes, elements and with them the edges, on each side for itself.
            let turned: Vec<_> = sketches.iter()
                .map(|(prediction, truth)| (prediction.turned(by), truth.turned(by + 1)))
                .collect();
            let turned = pool(&self::frames(&turned));
            prop_assert_eq!(OpenLaneV2.compute(&turned), OpenLaneV2.compute(&whole));
        }

        #[test]
        fn a_frame_against_itself_is_1(sketches in proptest::collection::vec(sketch(), 1..4)) {
            let twice: Vec<_> = sketches.into_iter().map(|sketch| (sketch.clone(), sketch)).collect();
            let score = OpenLaneV2.compute(&pool(&frames(&twice)));
            prop_assert_eq!((score.det_l, score.det_t), (1.0, 1.0));
            prop_assert_eq!(score.det_t_present.unwrap_or(1.0), 1.0);
            for (top, edges) in [(score.top_ll, &score.lane_edges), (score.top_lt, &score.element_edges)] {
                prop_assert_eq!(top, if edges.vertices == 0 { 0.0 } else { 1.0 });
                for counts in edges.counts {
                    prop_assert_eq!(counts.f1().unwrap_or(1.0), 1.0);
                }
            }
            for lanes in score.lanes {
                prop_assert_eq!((lanes.counts.false_positives, lanes.counts.false_negatives), (0, 0));
            }
        }

        #[test]
        fn scores_are_fractions_and_thresholds_only_widen(
            sketches in proptest::collection::vec((sketch(), sketch()), 0..4),
        ) {
            let frames = frames(&sketches);
            let score = OpenLaneV2.compute(&pool(&frames));
            for part in [score.det_l, score.det_t, score.top_ll, score.top_lt, score.ols] {
                prop_assert!((0.0..=1.0).contains(&part));
            }
            for (prediction, truth) in &frames {
                let matches = match_frame(prediction, truth);
                for (position, lane) in prediction.lanes.iter().enumerate() {
                    let of = matches.lanes.each_ref().map(|lanes| lanes[position]);
                    for (found, threshold) in of.into_iter().zip(LANE_THRESHOLDS) {
                        let Some(index) = found else { continue };
                        let distance = lane_distance(&lane.item, &truth.lanes[index]);
                        prop_assert!(distance.is_some_and(|distance| distance < threshold));
                        // No true lane is nearer.
                        let others = truth.lanes.iter().filter_map(|other| lane_distance(&lane.item, other));
                        prop_assert!(others.into_iter().all(|other| Some(other) >= distance));
                    }
                }
            }
        }
    }
}
