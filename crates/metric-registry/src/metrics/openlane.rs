//! Lanes, traffic elements and their topology.

use metric_core::{Counts, Metric, NamedScores};
use metric_graph::VERSION;
use metric_graph::openlane::{
    ATTRIBUTE_NAMES, ATTRIBUTES, ConfidencePoint, DetectionScore, EdgeScore, LANE_THRESHOLDS,
    OpenLaneScore, OpenLaneState, OpenLaneV2, check_size, read_frame,
};
use metric_record::{FieldError, Message, Record};
use serde_json::json;

use crate::numbers::named;
use crate::{
    Asked, Chart, Demo, Drawing, Entry, Facts, Group, Named, Numbers, Reading, Scope, ScoreSpec,
    Shape, Show, Sink, Weigher, scorer,
};

pub(crate) const OPENLANE: Entry = Entry {
    name: "openlane",
    class: "OpenLane",
    question: "Are lanes, traffic elements and their topology found?",
    programs: "OpenLane-V2",
    shapes: &[Shape::Frames.as_is()],
    help: "OpenLane-V2 Score: lanes, traffic elements and their topology",
    values: (
        "a frame as in OpenLane-V2's annotations: {\"lane_centerline\": [{\"id\", \"points\"}], \"traffic_element\": [{\"id\", \"attribute\", \"points\"}], \"topology_lclc\": [[0 or 1]], \"topology_lcte\": [[0 or 1]]}",
        "the same with a \"confidence\" in each lane and traffic element, and confidences in the topologies",
    ),
    known_as: &[(&["ols", "openlane-v2"], "")],
    demos: &[Demo::new(
        "lane topology",
        ["frames.jsonl", "predicted-frames.jsonl"],
        &["DET_l", "DET_t", "TOP_ll", "TOP_lt", "OLS"],
    )],
    scores: &[
        ScoreSpec::higher("DET_l"),
        ScoreSpec::higher("DET_t"),
        ScoreSpec::higher("TOP_ll"),
        ScoreSpec::higher("TOP_lt"),
        ScoreSpec::higher("OLS"),
        ScoreSpec::higher("DET_t_present"),
        ScoreSpec::neutral("edgeless_ll"),
        ScoreSpec::neutral("edgeless_lt"),
        // The names of groups.
        ScoreSpec::higher("average_precision"),
        ScoreSpec::higher("edge_precision_ll"),
        ScoreSpec::higher("edge_recall_ll"),
        ScoreSpec::higher("edge_f1_ll"),
        ScoreSpec::higher("edge_precision_lt"),
        ScoreSpec::higher("edge_recall_lt"),
        ScoreSpec::higher("edge_f1_lt"),
    ],
    groups: &["threshold", "attribute"],
    details: true,
    drawings: &[Drawing::Svg],
    charts: &[Chart::Topology],
    main: Some("OLS"),
    build: &|options| {
        let compact = options.compact_details();
        Ok(scorer("openlane", VERSION, OpenLane { compact }))
    },
    ..Entry::BASE
};

struct OpenLane {
    /// Whether details are compact.
    compact: bool,
}

impl Reading for OpenLane {
    type Metric = OpenLaneV2;
    type Header = ();

    fn metric(&self) -> &OpenLaneV2 {
        &OpenLaneV2
    }

    fn facts(&self) -> Facts {
        Facts::signed([("devkit", "2.1")])
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let (prediction, frame) = read_frame(record)?;
        check_size(&prediction, &frame)
            .map_err(|error| FieldError::prediction(error.to_string()).limit())?;
        sink.example(&prediction, &frame);
        Ok(())
    }

    fn numbers(&self, state: &OpenLaneState, (): &(), asked: Asked<'_>) -> Numbers {
        let score = OpenLaneV2.compute(state);
        Numbers {
            counts: counts(state.frames(), &score),
            warnings: asked.remarks.map(|_| warnings(&score)).unwrap_or_default(),
            details: asked.details.then(|| self.details(state, &score)),
            ..scores_and_groups(&score, asked.scope)
        }
    }

    fn weigher<'s>(&'s self, states: &[&'s OpenLaneState], (): &'s ()) -> Option<Weigher<'s>> {
        let weighted = OpenLaneV2.weighted(states);
        Some(Box::new(move |weights, scope| {
            scores_and_groups(&weighted(weights), scope)
        }))
    }

    fn show(&self) -> &dyn Show {
        self
    }
}

impl OpenLane {
    /// The curves of lanes by threshold, and of traffic elements by attribute, as far as there are such elements.
    fn details(&self, state: &OpenLaneState, score: &OpenLaneScore) -> serde_json::Value {
        let curves = OpenLaneV2.curves(state);
        let points = |points: &[ConfidencePoint]| {
            let points = points.iter().map(|point| (point.confidence, point.counts));
            crate::curves::points(points, self.compact)
        };
        let lanes = LANE_THRESHOLDS.iter().zip(&score.lanes).zip(&curves.lanes);
        let lanes = lanes.map(|((threshold, lanes), curve)| {
            json!({
                "threshold": threshold,
                "average_precision": lanes.average_precision,
                "points": points(curve),
            })
        });
        let attributes = ATTRIBUTE_NAMES.iter().zip(&score.attributes);
        let attributes = attributes.zip(&curves.attributes);
        let attributes = attributes.filter(|((_, attribute), _)| is_present(attribute));
        let attributes = attributes.map(|((name, attribute), curve)| {
            json!({
                "attribute": name,
                "average_precision": attribute.average_precision,
                "points": points(curve),
            })
        });
        json!({
            "lanes": lanes.collect::<Vec<_>>(),
            "elements": attributes.collect::<Vec<_>>(),
        })
    }
}

impl Show for OpenLane {
    fn picture(&self, record: &mut Record<'_>, _drawing: Drawing) -> Result<String, FieldError> {
        let (prediction, frame) = read_frame(record)?;
        Ok(OpenLaneV2.picture(frame.id(), &prediction, &frame).svg())
    }
}

fn scores_and_groups(score: &OpenLaneScore, scope: Scope<'_>) -> Numbers {
    Numbers {
        scores: score.named_scores(),
        groups: match scope {
            Scope::Total => groups(score),
            _ => Vec::new(),
        },
        ..Numbers::default()
    }
}

fn counts(frames: u64, score: &OpenLaneScore) -> Named<serde_json::Value> {
    let vertices =
        |edges: &EdgeScore| json!({ "total": edges.vertices, "edgeless": edges.edgeless });
    named([
        ("frames", json!(frames)),
        ("elements", totals(&score.elements)),
        ("vertices_ll", vertices(&score.lane_edges)),
        ("vertices_lt", vertices(&score.element_edges)),
    ])
}

/// By threshold of the lanes, and by attribute as far as there are elements with it.
fn groups(score: &OpenLaneScore) -> Named<Vec<Group>> {
    let thresholds = (0..)
        .zip(LANE_THRESHOLDS)
        .map(|(index, threshold): (usize, _)| {
            let lanes = &score.lanes[index];
            let mut group = Group {
                name: threshold.to_string(),
                scores: named([("DET_l", lanes.average_precision)]),
                counts: named([("lanes", totals(&lanes.counts))]),
            };
            for (kind, edges) in [("ll", &score.lane_edges), ("lt", &score.element_edges)] {
                let counts = &edges.counts[index];
                group.scores.extend([
                    (format!("edge_precision_{kind}"), counts.precision()),
                    (format!("edge_recall_{kind}"), counts.recall()),
                    (format!("edge_f1_{kind}"), counts.f1()),
                ]);
                group.counts.push((format!("edges_{kind}"), totals(counts)));
            }
            group
        });
    let attributes = ATTRIBUTE_NAMES.iter().zip(&score.attributes);
    let present = attributes.filter(|(_, attribute)| is_present(attribute));
    let attributes = present.map(|(name, attribute)| Group {
        name: (*name).to_owned(),
        scores: named([("average_precision", attribute.average_precision)]),
        counts: named([
            ("tp", attribute.counts.true_positives),
            ("predicted", attribute.counts.predicted()),
            ("true", attribute.counts.actual()),
        ]),
    });
    [
        ("threshold", thresholds.collect::<Vec<_>>()),
        ("attribute", attributes.collect()),
    ]
    .into_iter()
    .filter(|(_, groups)| !groups.is_empty())
    .map(|(kind, groups)| (kind.to_owned(), groups))
    .collect()
}

fn warnings(score: &OpenLaneScore) -> Vec<Message> {
    let mut warnings = Vec::new();
    let absent = score
        .attributes
        .iter()
        .filter(|attribute| !is_present(attribute));
    match absent.count() {
        0 => {}
        absent => warnings.push(Message::from(format!(
            "{absent} of {ATTRIBUTES} attributes are neither true nor predicted, and count as 1 in DET_t (DET_t_present leaves them out)"
        ))),
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
            warnings.push(Message::from(format!("no frame has {what}: {name} is 0")));
        }
    }
    warnings
}

/// Whether there is an item of this kind, true or predicted.
fn is_present(score: &DetectionScore) -> bool {
    score.counts != Counts::default()
}

/// The totals of what is found, as one count.
pub(super) fn totals(counts: &Counts) -> serde_json::Value {
    json!({
        "tp": counts.true_positives,
        "predicted": counts.predicted(),
        "true": counts.actual(),
    })
}
