use std::collections::{BTreeMap, BTreeSet};

use metric_core::{
    Accuracy, Counts, MacroAverage, Mean, Merge, Metric, NamedScores, PerClass, fields,
};

use crate::edges::{Kept, compare};
use crate::typed::rank;
use crate::{AlignedGraphs, EdgeOutcome, EdgeTally, NodeAlignment, Ratios, TypedGraph};

impl AlignedGraphs {
    /// Returns the counts of edges by the keys of their nodes, whatever the alignment.
    #[must_use]
    pub fn triples(&self, prediction: &TypedGraph, reference: &TypedGraph) -> Counts {
        let alignment = NodeAlignment::by_key(prediction, reference);
        self.compare(prediction, reference, &alignment).counts()
    }

    /// Adds a pair of graphs whose nodes were aligned by other means, such as their distances.
    pub fn update_aligned(
        &self,
        state: &mut AlignedGraphsState,
        prediction: &TypedGraph,
        reference: &TypedGraph,
        alignment: &NodeAlignment,
    ) {
        state.graphs += 1;
        let right_nodes: Vec<bool> = (0..prediction.nodes())
            .map(|position| {
                let node = prediction.node(position);
                let actual = alignment
                    .partner(position)
                    .and_then(|at| reference.node(at));
                let pair = node.zip(actual);
                pair.is_some_and(|(a, b)| a.class == b.class && a.properties == b.properties)
            })
            .collect();
        let is_right = |position: usize| right_nodes.get(position) == Some(&true);
        state.nodes.merge(Counts::from_totals(
            right_nodes.iter().filter(|right| **right).count() as u64,
            prediction.nodes() as u64,
            reference.nodes() as u64,
        ));
        state.aligned_nodes += alignment.pairs().count() as u64;

        let (mut predicted, actual) = (self.kept(prediction), self.kept(reference));
        let comparison = compare(&predicted, &actual, alignment);
        let mut right = 0;
        for edge in &predicted.edges {
            let (source, target) = (edge.link.source, edge.link.target);
            let tally = state.kinds.entry(edge.link.kind.to_owned());
            match comparison.predicted.get(edge.position) {
                Some(EdgeOutcome::Right) => {
                    tally.counts.true_positives += 1;
                    right += u64::from(is_right(source) && is_right(target));
                }
                Some(outcome) => {
                    tally.counts.false_positives += 1;
                    tally.false_positives.add(*outcome);
                }
                None => {}
            }
        }
        for edge in &actual.edges {
            match comparison.actual.get(edge.position) {
                None | Some(EdgeOutcome::Right) => {}
                Some(outcome) => {
                    let tally = state.kinds.entry(edge.link.kind.to_owned());
                    tally.counts.false_negatives += 1;
                    tally.false_negatives.add(*outcome);
                }
            }
        }
        state.retyped_edges += comparison.retyped;
        state.nodes_and_edges.merge(Counts::from_totals(
            right,
            predicted.edges.len() as u64,
            actual.edges.len() as u64,
        ));
        state.triples.merge(self.triples(prediction, reference));

        // Stable: equal confidences stay in the order of edges.
        predicted
            .edges
            .sort_by(|a, b| rank(a.confidence).total_cmp(&rank(b.confidence)));
        if self.one_per_pair {
            let mut seen = BTreeSet::new();
            predicted
                .edges
                .retain(|edge| seen.insert((edge.link.source, edge.link.target)));
        }
        for &k in &self.recall_at {
            let recall = state.recall_at.entry(k).or_default();
            let first = predicted.edges.get(..k).unwrap_or(&predicted.edges);
            let first = Kept {
                edges: first.to_vec(),
                all: predicted.all,
            };
            recall.add(&compare(&first, &actual, alignment).actual, &actual);
        }
    }
}

/// The state of [`AlignedGraphs`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignedGraphsState {
    /// Pairs of graphs seen.
    pub graphs: u64,
    /// Predicted nodes that stand for a true one.
    pub aligned_nodes: u64,
    /// Nodes with correct class and properties.
    pub nodes: Counts,
    /// Edges by kind.
    pub kinds: PerClass<String, EdgeTally>,
    /// Predicted edges with only the kind wrong, each with a missed edge between the same nodes,
    /// see [`EdgeComparison::retyped`](crate::EdgeComparison::retyped).
    pub retyped_edges: u64,
    /// Edges with both of their nodes.
    pub nodes_and_edges: Counts,
    /// Edges by the keys of their nodes.
    pub triples: Counts,
    /// Recall@K by K.
    pub recall_at: BTreeMap<usize, RecallState>,
}

fields!(AlignedGraphsState {
    graphs,
    aligned_nodes,
    nodes,
    kinds,
    retyped_edges,
    nodes_and_edges,
    triples,
    recall_at,
});

impl AlignedGraphsState {
    /// Returns the number of edits that turn the predicted graphs into the true ones, under the alignment: nodes and
    /// edges that are added or removed, nodes whose class or properties change, and edges whose kind changes.
    ///
    /// Under the alignment it is least for this is the graph edit distance, which is NP-hard to
    /// find; under any other it is more.
    #[must_use]
    pub fn edits(&self) -> u64 {
        let right = self.nodes.true_positives;
        let nodes = self.nodes.predicted() + self.nodes.actual();
        let nodes = nodes.saturating_sub(self.aligned_nodes + right);
        let edges = self.kinds.micro().counts;
        let edges = edges.false_positives + edges.false_negatives;
        (nodes + edges).saturating_sub(self.retyped_edges)
    }
}

/// The state of recall@K for one K.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallState {
    /// The recall of each graph that has true edges.
    pub graphs: Mean,
    /// True edges of all graphs by kind, and those of them that were found.
    pub kinds: PerClass<String, Accuracy>,
}

impl RecallState {
    /// Adds the true edges of a graph, with what became of them.
    fn add(&mut self, outcomes: &[EdgeOutcome], actual: &Kept<'_>) {
        let mut all = Accuracy::default();
        for edge in &actual.edges {
            let right = outcomes.get(edge.position) == Some(&EdgeOutcome::Right);
            all.record(right);
            self.kinds.entry(edge.link.kind.to_owned()).record(right);
        }
        if let Some(recall) = all.value() {
            self.graphs.add(recall);
        }
    }
}

fields!(RecallState { graphs, kinds });

/// The score of [`AlignedGraphs`]; ratios with a denominator of 0 are undefined.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AlignedGraphsScore {
    /// The counts of nodes.
    pub nodes: Ratios,
    /// The score of edges: all edges have the same weight.
    pub edges: Ratios,
    /// The score of edges: all kinds for which the ratio is defined have the same weight.
    pub edges_by_kind: Ratios<MacroAverage>,
    /// The score of edges together with both of their nodes.
    pub nodes_and_edges: Ratios,
    /// The score of edges by the keys of their nodes.
    pub triples: Ratios,
    /// For each K, the mean recall over graphs with true edges.
    pub recall_at: BTreeMap<usize, MacroAverage>,
    /// For each K, the mean over kinds with true edges of the recall in all graphs (mR@K).
    pub mean_recall_at: BTreeMap<usize, MacroAverage>,
}

/// `nodes_precision` and so on, then `recall@K` and `mean_recall@K`.
impl NamedScores for AlignedGraphsScore {
    fn named_scores(&self) -> Vec<(String, Option<f64>)> {
        let mut scores = Vec::new();
        for (part, ratios) in [
            ("nodes", self.nodes),
            ("edges", self.edges),
            ("edges_by_kind", self.edges_by_kind.map(|mean| mean.value)),
            ("nodes_and_edges", self.nodes_and_edges),
            ("triples", self.triples),
        ] {
            let named = ratios.named_scores().into_iter();
            scores.extend(named.map(|(ratio, value)| (format!("{part}_{ratio}"), value)));
        }
        for (name, by_k) in [
            ("recall", &self.recall_at),
            ("mean_recall", &self.mean_recall_at),
        ] {
            scores.extend(
                by_k.iter()
                    .map(|(k, mean)| (format!("{name}@{k}"), mean.value)),
            );
        }
        scores
    }
}

impl From<&Counts> for Ratios {
    fn from(counts: &Counts) -> Self {
        Self {
            precision: counts.precision(),
            recall: counts.recall(),
            f1: counts.f1(),
        }
    }
}

impl Metric for AlignedGraphs {
    type Prediction = TypedGraph;
    type Reference = TypedGraph;
    type State = AlignedGraphsState;
    type Score = AlignedGraphsScore;

    fn update(
        &self,
        state: &mut AlignedGraphsState,
        prediction: &TypedGraph,
        reference: &TypedGraph,
    ) {
        let alignment = self.align(prediction, reference);
        self.update_aligned(state, prediction, reference, &alignment);
    }

    fn compute(&self, state: &AlignedGraphsState) -> AlignedGraphsScore {
        let by_kind = |ratio: fn(&Counts) -> Option<f64>| {
            state.kinds.macro_average(|tally| ratio(&tally.counts))
        };
        let recalls = state.recall_at.iter();
        AlignedGraphsScore {
            nodes: Ratios::from(&state.nodes),
            edges: Ratios::from(&state.kinds.micro().counts),
            edges_by_kind: Ratios {
                precision: by_kind(Counts::precision),
                recall: by_kind(Counts::recall),
                f1: by_kind(Counts::f1),
            },
            nodes_and_edges: Ratios::from(&state.nodes_and_edges),
            triples: Ratios::from(&state.triples),
            recall_at: recalls
                .clone()
                .map(|(k, recall)| (*k, MacroAverage::from(&recall.graphs)))
                .collect(),
            mean_recall_at: recalls
                .map(|(k, recall)| (*k, recall.kinds.macro_average(Accuracy::value)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Duplicates, EdgeReasons, NodeRule, Properties, TypedEdge, TypedNode};

    /// Nodes as (key, class, what it says), edges as (from, to, kind, confidence).
    type Node<'a> = (&'a str, &'a str, &'a str);
    type Edge<'a> = (&'a str, &'a str, &'a str, f64);

    fn graph(nodes: &[Node<'_>], edges: &[Edge<'_>]) -> TypedGraph {
        let node = |(key, class, says): &Node<'_>| {
            let properties = Properties::new([("says", *says)]).unwrap_or_default();
            let node = TypedNode {
                properties,
                ..TypedNode::of_class(*class)
            };
            ((*key).to_owned(), node)
        };
        let edge = |(from, to, kind, confidence): &Edge<'_>| {
            TypedEdge::new(*from, *to, *kind).with_confidence(*confidence)
        };
        TypedGraph::new(nodes.iter().map(node), edges.iter().map(edge)).unwrap_or_default()
    }

    const LANES: &[Node<'_>] = &[("a", "lane", ""), ("b", "lane", ""), ("c", "lane", "")];

    fn by_key() -> AlignedGraphs {
        AlignedGraphs {
            nodes: NodeRule::Key,
            ..AlignedGraphs::default()
        }
    }

    #[test]
    fn reasons() {
        use EdgeOutcome::{LeftOut, NoEdge, NodeUnaligned, OtherKind, Repeated, Right};
        type Row<'a> = (
            &'a str,
            fn(&mut AlignedGraphs),
            &'a [Edge<'a>],
            &'a [Edge<'a>],
            &'a [EdgeOutcome],
            &'a [EdgeOutcome],
            u64,
        );
        let none: fn(&mut AlignedGraphs) = |_| {};
        let beside: fn(&mut AlignedGraphs) = |m| m.undirected = ["beside".to_owned()].into();
        let merge: fn(&mut AlignedGraphs) = |m| m.parallel = Duplicates::Merge;
        let no_loops: fn(&mut AlignedGraphs) = |m| m.drop_loops = true;
        let (to, to_twice) = (("a", "b", "to", 0.0), [("a", "b", "to", 0.0); 2]);
        let back = ("b", "a", "to", 0.0);
        let (ab, ba) = (("a", "b", "beside", 0.0), ("b", "a", "beside", 0.0));
        let at_self = ("a", "a", "to", 0.0);
        #[rustfmt::skip]
        let rows: &[Row<'_>] = &[
            ("nothing", none, &[], &[], &[], &[], 0),
            ("right", none, &[to], &[to], &[Right], &[Right], 0),
            ("other direction", none, &[back], &[to], &[NoEdge], &[NoEdge], 0),
            ("other kind", none, &[ab], &[to], &[OtherKind], &[OtherKind], 1),
            ("one kind too many", none, &[ab, to], &[to], &[OtherKind, Right], &[Right], 0),
            ("no such node", none, &[("a", "x", "to", 0.0)], &[("b", "c", "to", 0.0)],
                &[NodeUnaligned], &[NodeUnaligned], 0),
            ("directed", none, &[ba], &[ab], &[NoEdge], &[NoEdge], 0),
            ("undirected", beside, &[ba], &[ab], &[Right], &[Right], 0),
            ("undirected for directed", beside, &[ba], &[to], &[OtherKind], &[OtherKind], 1),
            ("directed for undirected", beside, &[back], &[ab], &[OtherKind], &[OtherKind], 1),
            ("one for both directions", beside, &[ab], &[to, back], &[OtherKind], &[OtherKind; 2], 1),
            ("both directions left", beside, &[to, ("b", "a", "joins", 0.0)], &[ab, back],
                &[OtherKind, OtherKind], &[OtherKind, OtherKind], 2),
            ("repeated for another kind", none, &to_twice, &[to, ab], &[Right, Repeated],
                &[OtherKind, Right], 1),
            ("another kind for a repeated one", none, &[to, ab], &to_twice, &[OtherKind, Right],
                &[Right, Repeated], 1),
            ("twice", none, &to_twice, &[to], &[Right, Repeated], &[Right], 0),
            ("once", none, &[to], &to_twice, &[Right], &[Right, Repeated], 0),
            ("twice, merged", merge, &to_twice, &[to], &[Right, LeftOut], &[Right], 0),
            ("both ways, merged", |m| { m.undirected = ["beside".to_owned()].into(); m.parallel = Duplicates::Merge; },
                &[ab, ba], &[ab], &[Right, LeftOut], &[Right], 0),
            // The most confident one is right, whichever way it is written.
            ("undirected twice", beside, &[("a", "b", "beside", 0.2), ("b", "a", "beside", 0.9)], &[ab],
                &[Repeated, Right], &[Right], 0),
            ("undirected twice, turned", beside, &[("a", "b", "beside", 0.9), ("b", "a", "beside", 0.2)], &[ab],
                &[Right, Repeated], &[Right], 0),
            ("loop", none, &[at_self], &[at_self], &[Right], &[Right], 0),
            ("loop dropped", no_loops, &[at_self, to], &[at_self], &[LeftOut, NoEdge], &[LeftOut], 0),
        ];
        for (name, options, predicted, actual, of_predicted, of_actual, retyped) in rows {
            let mut metric = by_key();
            options(&mut metric);
            let prediction = graph(&[LANES[0], LANES[1], ("x", "lane", "")], predicted);
            let reference = graph(LANES, actual);
            let alignment = metric.align(&prediction, &reference);
            let ours = metric.compare(&prediction, &reference, &alignment);
            assert_eq!(ours.predicted, *of_predicted, "{name}");
            assert_eq!(ours.actual, *of_actual, "{name}");
            assert_eq!(ours.retyped, *retyped, "{name}");
            let right = ours.predicted.iter().filter(|o| **o == Right).count();
            assert_eq!(ours.pairs.len(), right, "{name}");

            let state = metric.measure(&prediction, &reference);
            assert_eq!(state.kinds.micro().counts, ours.counts(), "{name}");
            assert_eq!(state.triples, ours.counts(), "{name}");
            let counts = ours.counts();
            let wrong = counts.false_positives + counts.false_negatives;
            // And two nodes: c is not predicted, and x is.
            assert_eq!(state.edits(), 2 + wrong - retyped, "{name}");
        }
    }

    #[test]
    fn nodes_edges_and_both() {
        // Rule 1 is read as rule 2 is, on the right lane; lane 8 is named by the wrong rule.
        let truth = graph(
            &[
                ("r1", "rule", "bus"),
                ("r2", "rule", "turn"),
                ("7", "lane", ""),
                ("8", "lane", ""),
            ],
            &[("r1", "7", "holds for", 0.0), ("r2", "8", "holds for", 0.0)],
        );
        let prediction = graph(
            &[
                ("r1", "rule", "turn"),
                ("r2", "rule", "turn"),
                ("7", "lane", ""),
                ("8", "lane", ""),
            ],
            &[("r1", "7", "holds for", 0.0), ("r1", "8", "holds for", 0.0)],
        );
        let metric = by_key();
        let state = metric.measure(&prediction, &truth);
        assert_eq!(state.nodes, Counts::new(3, 1, 1));
        assert_eq!(state.kinds.micro().counts, Counts::new(1, 1, 1));
        assert_eq!(
            state.kinds.micro().false_positives,
            EdgeReasons {
                no_edge: 1,
                ..EdgeReasons::default()
            }
        );
        assert_eq!(state.nodes_and_edges, Counts::new(0, 2, 2));
        // One node changes, one edge goes, one comes.
        assert_eq!(state.edits(), 3);

        // By properties and lanes: one of the two predicted rules stands for r2, the one on lane 8.
        let metric = AlignedGraphs {
            nodes: NodeRule::Properties,
            rules_by_class: [("lane".to_owned(), NodeRule::Key)].into(),
            ..AlignedGraphs::default()
        };
        let state = metric.measure(&prediction, &truth);
        assert_eq!(state.aligned_nodes, 3);
        assert_eq!(state.nodes, Counts::new(3, 1, 1));
        assert_eq!(state.kinds.micro().counts, Counts::new(1, 1, 1));
        assert_eq!(
            state.kinds.micro().false_negatives,
            EdgeReasons {
                node_unaligned: 1,
                ..EdgeReasons::default()
            }
        );
        assert_eq!(state.nodes_and_edges, Counts::new(1, 1, 1));
        // The keys do not know that.
        assert_eq!(state.triples, Counts::new(1, 1, 1));
        // A node and its edge go, a node and its edge come, and an edge goes.
        assert_eq!(state.edits(), 4);
    }

    #[test]
    fn of_two_equal_edges_the_more_confident_one_is_right() {
        let twice = [("a", "b", "to", 0.2), ("a", "b", "to", 0.9)];
        let (prediction, truth) = (graph(LANES, &twice), graph(LANES, &twice[..1]));
        let metric = by_key();
        let alignment = metric.align(&prediction, &truth);
        let comparison = metric.compare(&prediction, &truth, &alignment);
        let confidence = |position| prediction.edge(position).and_then(|edge| edge.confidence);
        let [(right, _)] = comparison.pairs[..] else {
            panic!("{comparison:?}");
        };
        assert_eq!(confidence(right), Some(0.9));
        assert_eq!(confidence(1 - right), Some(0.2));
        assert_eq!(comparison.predicted[1 - right], EdgeOutcome::Repeated);
    }

    #[test]
    fn an_alignment_by_other_means() {
        // One node of another class, one with other properties, one that is right.
        let truth = graph(
            &[("a", "lane", "x"), ("b", "lane", "x"), ("c", "lane", "x")],
            &[],
        );
        let prediction = graph(
            &[("a", "rule", "x"), ("b", "lane", "y"), ("c", "lane", "x")],
            &[],
        );
        let alignment = NodeAlignment::new(3, 3, (0..3).map(|at| (at, at))).unwrap_or_default();
        let mut state = AlignedGraphsState::default();
        by_key().update_aligned(&mut state, &prediction, &truth, &alignment);
        assert_eq!(state.aligned_nodes, 3);
        assert_eq!(state.nodes, Counts::new(1, 2, 2));
        assert_eq!(state.edits(), 2);
    }

    #[test]
    fn recall_at_k() {
        let truth = graph(
            LANES,
            &[
                ("a", "b", "to", 0.0),
                ("b", "c", "to", 0.0),
                ("a", "c", "beside", 0.0),
            ],
        );
        let prediction = graph(
            LANES,
            &[
                ("a", "b", "beside", 0.9),
                ("a", "b", "to", 0.8),
                ("a", "c", "beside", 0.7),
                ("c", "a", "to", f64::NAN),
            ],
        );
        let mut metric = AlignedGraphs {
            recall_at: [0, 1, 2, 3, 9].into(),
            ..by_key()
        };
        let graphs_without_edges = graph(LANES, &[]);
        let recalls = |metric: &AlignedGraphs| {
            let mut state = metric.measure(&prediction, &truth);
            metric.update(&mut state, &prediction, &graphs_without_edges);
            metric.update(&mut state, &truth, &truth);
            let score = metric.compute(&state);
            let values = |means: &BTreeMap<usize, MacroAverage>| -> Vec<(f64, u64)> {
                means
                    .values()
                    .map(|m| (m.value.unwrap_or(-1.0), m.count))
                    .collect()
            };
            (values(&score.recall_at), values(&score.mean_recall_at))
        };
        // Each graph has found (0, 1, 2) of the first (1, 2, 3) of three true edges, and the true
        // graph compared with itself (1, 2, 3), in the order of the edges: to b, to c, b to c.
        let (by_graph, by_kind) = recalls(&metric);
        let means = [
            0.0,
            (0.0 + 1.0) / 6.0,
            (1.0 + 2.0) / 6.0,
            (2.0 + 3.0) / 6.0,
            5.0 / 6.0,
        ];
        for ((ours, count), expected) in by_graph.into_iter().zip(means) {
            assert!((ours - expected).abs() < 1e-15, "{ours} {expected}");
            assert_eq!(count, 2);
        }
        // "to" has 4 true edges, "beside" 2: (1 + 1) and (0 + 1) found at 2.
        let means = [
            0.0,
            (1.0 / 4.0 + 0.0) / 2.0,
            (2.0 / 4.0 + 1.0 / 2.0) / 2.0,
            (3.0 / 4.0 + 1.0) / 2.0,
            0.875,
        ];
        for ((ours, count), expected) in by_kind.into_iter().zip(means) {
            assert!((ours - expected).abs() < 1e-15, "{ours} {expected}");
            assert_eq!(count, 2);
        }
        // With one edge for each pair of nodes the wrong kind hides the right one.
        metric.one_per_pair = true;
        let state = metric.measure(&prediction, &truth);
        assert_eq!(state.recall_at[&9].graphs.value(), Some(1.0 / 3.0));
        assert_eq!(
            metric
                .compute(&AlignedGraphsState::default())
                .recall_at
                .len(),
            0
        );
    }

    /// A graph by its number of nodes, what they say, and edges between them.
    type Recipe = (Vec<(bool, u8)>, Vec<(usize, usize, u8, u8)>);

    fn recipe() -> impl Strategy<Value = Recipe> {
        let edge = (0_usize..4, 0_usize..4, 0_u8..2, 0_u8..3);
        (
            proptest::collection::vec((any::<bool>(), 0_u8..2), 1..4),
            proptest::collection::vec(edge, 0..6),
        )
    }

    /// The graph, its nodes and edges given in an order that `turn` changes; edges of kind 0, which
    /// have no direction, turned around as well.
    fn made((nodes, edges): &Recipe, turn: usize) -> TypedGraph {
        let mut given: Vec<(String, TypedNode)> = nodes
            .iter()
            .enumerate()
            .map(|(position, (class, says))| {
                let properties = Properties::new([("says", i64::from(*says)), ("is", 1)]);
                let node = TypedNode {
                    class: class.to_string(),
                    properties: properties.unwrap_or_default(),
                    confidence: Some(f64::from(*says)),
                };
                (position.to_string(), node)
            })
            .collect();
        let mut links: Vec<TypedEdge> = edges
            .iter()
            .map(|(from, to, kind, confidence)| {
                let (from, to) = if *kind == 0 && turn > 0 {
                    (to, from)
                } else {
                    (from, to)
                };
                let key = |end: usize| (end % nodes.len()).to_string();
                TypedEdge::new(key(*from), key(*to), kind.to_string())
                    .with_confidence(f64::from(*confidence))
            })
            .collect();
        given.rotate_left(turn % nodes.len());
        if !links.is_empty() {
            let turn = turn % links.len();
            links.rotate_left(turn);
        }
        TypedGraph::new(given, links).unwrap_or_default()
    }

    fn metric() -> impl Strategy<Value = AlignedGraphs> {
        let choices = (
            proptest::sample::select(NodeRule::ALL),
            proptest::sample::select(NodeRule::ALL),
            proptest::sample::select(Duplicates::ALL),
            any::<bool>(),
            any::<bool>(),
        );
        choices.prop_map(
            |(nodes, of_class, parallel, drop_loops, one_per_pair)| AlignedGraphs {
                nodes,
                rules_by_class: [("true".to_owned(), of_class)].into(),
                undirected: ["0".to_owned()].into(),
                parallel,
                drop_loops,
                recall_at: [1, 2, 5].into(),
                one_per_pair,
            },
        )
    }

    proptest! {
        #[test]
        fn order_and_the_way_undirected_edges_are_written_do_not_matter(
            predicted in recipe(), actual in recipe(), metric in metric(), turn in 0_usize..5,
        ) {
            prop_assert_eq!(
                metric.measure(&made(&predicted, 0), &made(&actual, 0)),
                metric.measure(&made(&predicted, turn), &made(&actual, turn + 1))
            );
        }

        #[test]
        fn a_graph_against_itself_is_right(recipe in recipe(), mut metric in metric()) {
            // By confidence, a node can take the place of one that says the same.
            for rule in std::iter::once(&mut metric.nodes).chain(metric.rules_by_class.values_mut()) {
                if *rule == NodeRule::GreedyByConfidence {
                    *rule = NodeRule::Key;
                }
            }
            metric.recall_at = [9].into();
            metric.one_per_pair = false;
            let graph = made(&recipe, 0);
            let state = metric.measure(&graph, &graph);
            let score = metric.compute(&state);
            let one = |counts: Counts| (counts.actual() > 0).then_some(1.0);
            prop_assert_eq!(score.nodes.f1, one(state.nodes));
            for (ratios, counts) in [
                (score.edges, state.kinds.micro().counts),
                (score.nodes_and_edges, state.nodes_and_edges),
                (score.triples, state.triples),
            ] {
                let one = one(counts);
                prop_assert_eq!(ratios, Ratios { precision: one, recall: one, f1: one });
            }
            prop_assert_eq!(score.edges_by_kind.f1.value, one(state.kinds.micro().counts));
            prop_assert_eq!(score.recall_at[&9].value, one(state.kinds.micro().counts));
            prop_assert_eq!(score.mean_recall_at[&9].value, one(state.kinds.micro().counts));
            prop_assert_eq!(state.edits(), 0);
        }

        #[test]
        fn shards_do_not_matter(
            graphs in proptest::collection::vec((recipe(), recipe()), 0..6), metric in metric(),
        ) {
            let pool = |graphs: &[(Recipe, Recipe)]| {
                let mut state = AlignedGraphsState::default();
                for (predicted, actual) in graphs {
                    metric.update(&mut state, &made(predicted, 0), &made(actual, 0));
                }
                state
            };
            let single = graphs.chunks(1).map(pool);
            prop_assert_eq!(crate::laws::check(&single.collect::<Vec<_>>()), pool(&graphs));
        }

        #[test]
        fn tallies_add_up(predicted in recipe(), actual in recipe(), metric in metric()) {
            let (prediction, reference) = (made(&predicted, 0), made(&actual, 0));
            let state = metric.measure(&prediction, &reference);
            let all = state.kinds.micro();
            for (wrong, reasons) in [
                (all.counts.false_positives, all.false_positives),
                (all.counts.false_negatives, all.false_negatives),
            ] {
                let EdgeReasons { node_unaligned, other_kind, repeated, no_edge } = reasons;
                prop_assert_eq!(wrong, node_unaligned + other_kind + repeated + no_edge);
            }
            prop_assert!(state.nodes_and_edges.true_positives <= all.counts.true_positives);
            prop_assert_eq!(state.nodes_and_edges.actual(), all.counts.actual());
            for wrong in [all.false_positives, all.false_negatives] {
                prop_assert!(state.retyped_edges <= wrong.other_kind + wrong.repeated);
            }
            let recall = |k: usize| state.recall_at[&k].graphs.value();
            prop_assert!(recall(1) <= recall(2) && recall(2) <= recall(5));
        }
    }
}
