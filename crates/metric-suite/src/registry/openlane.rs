//! Lanes, traffic elements and their topology.

use metric_core::{Counts, Merge, Metric};
use metric_graph::VERSION;
use metric_graph::openlane::{
    ATTRIBUTE_NAMES, ATTRIBUTES, DetectionScore, EdgeScore, Frame, FramePrediction,
    LANE_THRESHOLDS, OpenLaneState, OpenLaneV2,
};
use serde_json::json;

use super::read::{json, typed};
use super::scorer::{Adapter, noted};
use super::{Entry, FieldError, Input, Named, Notes, Reading, Record, Sink, Value, never_whole};

pub(super) const OPENLANE: Entry = Entry {
    name: "openlane",
    help: "The OpenLane-V2 Score: lanes, traffic elements, and which leads to which",
    values: (
        "a frame as in OpenLane-V2's annotations: {\"lane_centerline\": [{\"id\", \"points\"}], \"traffic_element\": [{\"id\", \"attribute\", \"points\"}], \"topology_lclc\": [[0 or 1]], \"topology_lcte\": [[0 or 1]]}",
        "the same with a \"confidence\" in each lane and traffic element, and confidences in the topologies",
    ),
    options: &[],
    input: Input::Records,
    whole_file: never_whole,
    build: |_| Ok(Adapter::boxed("openlane", VERSION, OpenLane)),
};

struct OpenLane;

impl Reading for OpenLane {
    type Metric = OpenLaneV2;

    fn metric(&self) -> &OpenLaneV2 {
        &OpenLaneV2
    }

    fn signature(&self) -> Named<String> {
        vec![("devkit".to_owned(), "2.1".to_owned())]
    }

    fn read(&self, record: &Record<'_>, sink: &mut Sink<'_, OpenLaneV2>) -> Result<(), FieldError> {
        let (prediction, frame) = frame(record)?;
        sink.example(&prediction, &frame);
        Ok(())
    }

    fn draws(&self) -> bool {
        true
    }

    fn picture(&self, record: &Record<'_>) -> Result<String, FieldError> {
        let (prediction, frame) = frame(record)?;
        Ok(OpenLaneV2.picture(frame.id(), &prediction, &frame).svg())
    }

    fn scores(&self, state: &OpenLaneState) -> Named<Option<f64>> {
        let score = OpenLaneV2.compute(state);
        let mut scores = Vec::new();
        let mut add = |name: &str, score: Option<f64>| scores.push((name.to_owned(), score));
        add("DET_l", Some(score.det_l));
        add("DET_t", Some(score.det_t));
        add("TOP_ll", Some(score.top_ll));
        add("TOP_lt", Some(score.top_lt));
        add("OLS", Some(score.ols));
        for (threshold, lanes) in LANE_THRESHOLDS.iter().zip(&score.lanes) {
            let name = format!("DET_l_{threshold}");
            add(&name, Some(lanes.average_precision));
        }
        add("DET_t_present", score.det_t_present);
        for (name, attribute) in ATTRIBUTE_NAMES.iter().zip(&score.attributes) {
            let present = is_present(attribute).then_some(attribute.average_precision);
            add(&format!("DET_t_{name}"), present);
        }
        for (kind, edges) in [("ll", &score.lane_edges), ("lt", &score.element_edges)] {
            let mut pooled = Counts::default();
            edges.counts.iter().for_each(|&counts| pooled.merge(counts));
            add(&format!("edge_precision_{kind}"), pooled.precision());
            add(&format!("edge_recall_{kind}"), pooled.recall());
            add(&format!("edge_f1_{kind}"), pooled.f1());
            add(&format!("edgeless_{kind}"), edges.edgeless_share());
        }
        scores
    }

    fn counts(&self, state: &OpenLaneState) -> Named<serde_json::Value> {
        let score = OpenLaneV2.compute(state);
        let lanes = score.lanes.map(|lanes| lanes.counts);
        let present = ATTRIBUTE_NAMES.iter().zip(&score.attributes);
        let present = present.filter(|(_, attribute)| is_present(attribute));
        let attributes: serde_json::Map<_, _> = present
            .map(|(name, attribute)| ((*name).to_owned(), totals(&attribute.counts)))
            .collect();
        let vertices =
            |edges: &EdgeScore| json!({ "total": edges.vertices, "edgeless": edges.edgeless });
        [
            ("frames", json!(state.frames())),
            ("lanes", by_threshold(&lanes)),
            ("elements", totals(&score.elements)),
            ("attributes", json!(attributes)),
            ("edges_ll", by_threshold(&score.lane_edges.counts)),
            ("edges_lt", by_threshold(&score.element_edges.counts)),
            ("vertices_ll", vertices(&score.lane_edges)),
            ("vertices_lt", vertices(&score.element_edges)),
        ]
        .map(|(name, counts)| (name.to_owned(), counts))
        .into()
    }

    fn warnings(&self, state: &OpenLaneState, notes: &Notes) -> Vec<String> {
        let score = OpenLaneV2.compute(state);
        let mut warnings = noted(notes);
        let absent = score
            .attributes
            .iter()
            .filter(|attribute| !is_present(attribute));
        match absent.count() {
            0 => {}
            absent => warnings.push(format!(
                "{absent} of {ATTRIBUTES} attributes are neither true nor predicted, and count as 1 in DET_t (DET_t_present leaves them out)"
            )),
        }
        for (name, what, edges) in [
            ("TOP_ll", "lanes", &score.lane_edges),
            (
                "TOP_lt",
                "both lanes and traffic elements",
                &score.element_edges,
            ),
        ] {
            if edges.vertices == 0 {
                warnings.push(format!("no frame has {what}: {name} is 0"));
            }
        }
        warnings
    }
}

fn frame(record: &Record<'_>) -> Result<(FramePrediction, Frame), FieldError> {
    let frame: Frame = typed(json(record.reference, "null")).map_err(FieldError::reference)?;
    let prediction = match record.prediction {
        Value::Missing => FramePrediction::default(),
        value => typed(json(value, "null")).map_err(FieldError::prediction)?,
    };
    Ok((prediction, frame.with_id(record.id.to_string())))
}

/// Whether there is an item of this kind, true or predicted.
fn is_present(score: &DetectionScore) -> bool {
    score.counts != Counts::default()
}

fn totals(counts: &Counts) -> serde_json::Value {
    json!({
        "tp": counts.true_positives,
        "predicted": counts.predicted(),
        "true": counts.actual(),
    })
}

fn by_threshold(counts: &[Counts; 3]) -> serde_json::Value {
    let counts = LANE_THRESHOLDS.iter().zip(counts);
    let counts: serde_json::Map<_, _> = counts
        .map(|(threshold, counts)| (threshold.to_string(), totals(counts)))
        .collect();
    json!(counts)
}
