use std::collections::BTreeMap;
use std::fmt;

use metric_core::assignment::{Benefit, Costs, Edge, Gate, assign};

use crate::coded::each_shared;
use crate::typed::rank;
use crate::{AlignedGraphs, NodeRule, Properties, TypedGraph, TypedNode};

/// The pairs of predicted and true nodes, each node in at most one. Nodes are given by their
/// positions in the graphs.
///
/// An [`AlignedGraphs`] makes one from properties. For nodes that lie somewhere, make it from a
/// matrix of distances:
///
/// ```
/// use metric_core::assignment::{Costs, Gate};
/// use metric_graph::NodeAlignment;
///
/// // Two true lanes, one predicted lane.
/// let costs = Costs::new(2, 1, vec![4.0, 0.5])?;
/// let pairs = costs.optimal(Gate::Below(3.0));
/// let alignment = NodeAlignment::new(1, 2, pairs.into_iter().map(|(actual, predicted)| (predicted, actual)))?;
/// assert_eq!(alignment.partner(0), Some(1));
/// assert_eq!(alignment.missed().collect::<Vec<_>>(), [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeAlignment {
    partners: Vec<Option<usize>>,
    backwards: Vec<Option<usize>>,
}

impl NodeAlignment {
    /// Returns the alignment with these pairs of a predicted and a true node.
    ///
    /// # Errors
    /// Returns an error if a node does not exist, or is in two pairs.
    pub fn new(
        predicted: usize,
        actual: usize,
        pairs: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, InvalidAlignment> {
        let mut alignment = Self::empty(predicted, actual);
        for (prediction, reference) in pairs {
            let (Some(partner), Some(backwards)) = (
                alignment.partners.get_mut(prediction),
                alignment.backwards.get_mut(reference),
            ) else {
                return Err(InvalidAlignment::NoSuchNode {
                    prediction,
                    reference,
                });
            };
            if partner.is_some() || backwards.is_some() {
                return Err(InvalidAlignment::Twice {
                    prediction,
                    reference,
                });
            }
            (*partner, *backwards) = (Some(reference), Some(prediction));
        }
        Ok(alignment)
    }

    /// Nodes with the same key, whatever their classes.
    #[must_use]
    pub fn by_key(prediction: &TypedGraph, reference: &TypedGraph) -> Self {
        let mut alignment = Self::empty(prediction.nodes(), reference.nodes());
        let key = |index| reference.key(index).map(|key| (key, index));
        let indices: BTreeMap<&str, usize> = (0..reference.nodes()).filter_map(key).collect();
        for predicted in 0..prediction.nodes() {
            let key = prediction.key(predicted);
            if let Some(actual) = key.and_then(|key| indices.get(key)) {
                alignment.put(predicted, *actual);
            }
        }
        alignment
    }

    fn empty(predicted: usize, actual: usize) -> Self {
        Self {
            partners: vec![None; predicted],
            backwards: vec![None; actual],
        }
    }

    fn put(&mut self, prediction: usize, reference: usize) {
        if let (Some(partner), Some(backwards)) = (
            self.partners.get_mut(prediction),
            self.backwards.get_mut(reference),
        ) {
            (*partner, *backwards) = (Some(reference), Some(prediction));
        }
    }

    /// Returns the true node that a predicted one is aligned with.
    #[must_use]
    pub fn partner(&self, prediction: usize) -> Option<usize> {
        self.partners.get(prediction).copied().flatten()
    }

    /// Returns the predicted node that is aligned with a true one.
    #[must_use]
    pub fn found(&self, reference: usize) -> Option<usize> {
        self.backwards.get(reference).copied().flatten()
    }

    /// Returns the pairs of a predicted and a true node, by the predicted one.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let partners = self.partners.iter().enumerate();
        partners.filter_map(|(prediction, partner)| Some((prediction, (*partner)?)))
    }

    /// Returns the predicted nodes without a true node.
    pub fn spurious(&self) -> impl Iterator<Item = usize> {
        without(&self.partners)
    }

    /// Returns the true nodes without a predicted node.
    pub fn missed(&self) -> impl Iterator<Item = usize> {
        without(&self.backwards)
    }
}

fn without(partners: &[Option<usize>]) -> impl Iterator<Item = usize> {
    let partners = partners.iter().enumerate();
    partners
        .filter(|(_, partner)| partner.is_none())
        .map(|(index, _)| index)
}

/// The number of properties that two nodes have in common, and the number in which they differ.
pub(crate) fn equal_and_different(a: &Properties, b: &Properties) -> (usize, usize) {
    let equal = a.iter().filter(|(name, value)| b.get(name) == Some(*value));
    let equal = equal.count();
    let common = a.iter().filter(|(name, _)| b.get(name).is_some()).count();
    (equal, a.len() + b.len() - common - equal)
}

impl AlignedGraphs {
    /// Aligns predicted nodes with true ones, class by class: first the classes aligned by key,
    /// then the others by name. Edges to nodes that are aligned already are what tells nodes apart
    /// that agree in their properties; what is still equal then is decided by the order of keys, of
    /// the true nodes first.
    #[must_use]
    pub fn align(&self, prediction: &TypedGraph, reference: &TypedGraph) -> NodeAlignment {
        let (predicted, actual) = (by_class(prediction), by_class(reference));
        let mut alignment = NodeAlignment::empty(prediction.nodes(), reference.nodes());
        let rule = |class: &str| {
            self.rules_by_class
                .get(class)
                .copied()
                .unwrap_or(self.nodes)
        };
        let mut classes: Vec<&str> = predicted.keys().copied().collect();
        classes.sort_by_key(|class| (rule(class) != NodeRule::Key, *class));
        let by_edges = classes.iter().any(|class| rule(class).uses_edges());
        let [predicted_edges, actual_edges] = [prediction, reference].map(|graph| {
            let edges = by_edges.then(|| self.incident_edges(graph));
            edges.unwrap_or_default()
        });
        for class in classes {
            let (Some(predicted), Some(actual)) = (predicted.get(class), actual.get(class)) else {
                continue;
            };
            let rule = rule(class);
            let mut of_class = OfClass {
                prediction,
                reference,
                predicted,
                actual,
                predicted_edges: Vec::new(),
                actual_edges: Vec::new(),
            };
            if rule.uses_edges() {
                of_class.predicted_edges =
                    fixed_edges(&predicted_edges, predicted, |at| alignment.partner(at));
                of_class.actual_edges =
                    fixed_edges(&actual_edges, actual, |at| alignment.found(at).map(|_| at));
            }
            for (row, column) in of_class.pairs(rule) {
                if let (Some(actual), Some(predicted)) = (actual.get(row), predicted.get(column)) {
                    alignment.put(*predicted, *actual);
                }
            }
        }
        alignment
    }

    /// The edges of each node, as they are seen from there. One without direction is seen from both
    /// of its ends as if it went out.
    fn incident_edges<'a>(&self, graph: &'a TypedGraph) -> Vec<Vec<IncidentEdge<'a>>> {
        let mut of_node = vec![Vec::new(); graph.nodes()];
        for edge in graph.edges() {
            let undirected = self.undirected.contains(edge.kind);
            for (end, other, outgoing) in [
                (edge.source, edge.target, true),
                (edge.target, edge.source, undirected),
            ] {
                if let Some(edges) = of_node.get_mut(end) {
                    edges.push((other, outgoing, edge.kind));
                }
            }
        }
        of_node
    }
}

/// The node at the other end, whether the edge goes there, and its kind.
type IncidentEdge<'a> = (usize, bool, &'a str);

/// The edges of each of these nodes to nodes that are aligned, those as true nodes: sorted, each
/// once.
fn fixed_edges<'a>(
    incident: &[Vec<IncidentEdge<'a>>],
    nodes: &[usize],
    true_node: impl Fn(usize) -> Option<usize>,
) -> Vec<Vec<IncidentEdge<'a>>> {
    let of_node = |node: &usize| {
        let edges = incident.get(*node).into_iter().flatten();
        let fixed = edges
            .filter_map(|(other, outgoing, kind)| Some((true_node(*other)?, *outgoing, *kind)));
        let mut fixed: Vec<_> = fixed.collect();
        fixed.sort_unstable();
        fixed.dedup();
        fixed
    };
    nodes.iter().map(of_node).collect()
}

/// The positions of the nodes by class.
fn by_class(graph: &TypedGraph) -> BTreeMap<&str, Vec<usize>> {
    let mut classes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, (_, node)) in graph.graph().node_weights().enumerate() {
        classes.entry(node.class.as_str()).or_default().push(index);
    }
    classes
}

/// The nodes of one class on both sides.
struct OfClass<'a> {
    prediction: &'a TypedGraph,
    reference: &'a TypedGraph,
    predicted: &'a [usize],
    actual: &'a [usize],
    predicted_edges: Vec<Vec<IncidentEdge<'a>>>,
    actual_edges: Vec<Vec<IncidentEdge<'a>>>,
}

impl OfClass<'_> {
    fn nodes(&self, row: usize, column: usize) -> Option<(&TypedNode, &TypedNode)> {
        let predicted = self.prediction.node(*self.predicted.get(column)?)?;
        let actual = self.reference.node(*self.actual.get(row)?)?;
        Some((predicted, actual))
    }

    fn shared_edges(&self, row: usize, column: usize) -> f64 {
        let mut shared = 0_u32;
        if let (Some(a), Some(b)) = (self.predicted_edges.get(column), self.actual_edges.get(row)) {
            each_shared(a, b, |_| shared += 1);
        }
        f64::from(shared)
    }

    /// True and predicted nodes by their positions in the lists of the class.
    fn pairs(&self, rule: NodeRule) -> Vec<(usize, usize)> {
        match rule {
            NodeRule::Key => {
                let key = |index: &usize| self.prediction.key(*index);
                let columns: BTreeMap<_, usize> = self.predicted.iter().map(key).zip(0..).collect();
                let rows = self.actual.iter().enumerate();
                rows.filter_map(|(row, index)| {
                    Some((row, *columns.get(&self.reference.key(*index))?))
                })
                .collect()
            }
            NodeRule::Properties => {
                let mut equal: BTreeMap<&Properties, [Vec<usize>; 2]> = BTreeMap::new();
                for (side, graph, indices) in [
                    (0, self.reference, self.actual),
                    (1, self.prediction, self.predicted),
                ] {
                    for (at, node) in indices.iter().map(|index| graph.node(*index)).enumerate() {
                        if let Some(node) = node {
                            equal.entry(&node.properties).or_default()[side].push(at);
                        }
                    }
                }
                let choices = equal.values().flat_map(|[rows, columns]| {
                    Self::best(rows, columns, |row, column| {
                        Some(Benefit {
                            primary: 1,
                            secondary: self.shared_edges(row, column),
                        })
                    })
                });
                choices.collect()
            }
            NodeRule::Optimal => {
                let all = |indices: &[usize]| -> Vec<usize> { (0..indices.len()).collect() };
                let (rows, columns) = (all(self.actual), all(self.predicted));
                Self::best(&rows, &columns, |row, column| {
                    let (predicted, actual) = self.nodes(row, column)?;
                    let (equal, _) = equal_and_different(&predicted.properties, &actual.properties);
                    Some(Benefit {
                        primary: equal as i64,
                        secondary: self.shared_edges(row, column),
                    })
                })
            }
            NodeRule::GreedyCheapest => {
                let costs = self.differences();
                costs.map_or_else(Vec::new, |costs| costs.greedy_cheapest(Gate::None))
            }
            NodeRule::GreedyByConfidence => {
                let confidences: Vec<f64> = self
                    .predicted
                    .iter()
                    .map(|index| -rank(self.prediction.node(*index).and_then(|n| n.confidence)))
                    .collect();
                let greedy =
                    |costs: Costs| costs.greedy_by_confidence(&confidences, Gate::None).ok();
                self.differences().and_then(greedy).unwrap_or_default()
            }
        }
    }

    fn best(
        rows: &[usize],
        columns: &[usize],
        benefit: impl Fn(usize, usize) -> Option<Benefit>,
    ) -> Vec<(usize, usize)> {
        let edges = rows
            .iter()
            .flat_map(|row| columns.iter().map(move |column| (*row, *column)))
            .filter_map(|(row, column)| {
                let benefit = benefit(row, column)?;
                Some(Edge {
                    row,
                    column,
                    benefit,
                })
            });
        assign(&edges.collect::<Vec<_>>())
    }

    fn differences(&self) -> Option<Costs> {
        Costs::from_fn(self.actual.len(), self.predicted.len(), |row, column| {
            self.nodes(row, column).map_or(f64::INFINITY, |(a, b)| {
                equal_and_different(&a.properties, &b.properties).1 as f64
            })
        })
        .ok()
    }
}

/// The error for pairs that do not form an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidAlignment {
    /// A node that the graph does not have.
    NoSuchNode {
        /// The predicted node of the pair.
        prediction: usize,
        /// The true node of the pair.
        reference: usize,
    },
    /// A node that is in an earlier pair.
    Twice {
        /// The predicted node of the pair.
        prediction: usize,
        /// The true node of the pair.
        reference: usize,
    },
}

impl fmt::Display for InvalidAlignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (problem, prediction, reference) = match self {
            Self::NoSuchNode {
                prediction,
                reference,
            } => ("there is no such node", prediction, reference),
            Self::Twice {
                prediction,
                reference,
            } => ("one of them is in another pair", prediction, reference),
        };
        write!(
            f,
            "predicted node {prediction} and true node {reference}: {problem}"
        )
    }
}

impl std::error::Error for InvalidAlignment {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::TypedEdge;

    /// A graph of nodes as (key, class, properties, confidence), and edges as (from, to, kind).
    type Node<'a> = (&'a str, &'a str, &'a [(&'a str, i64)], f64);

    fn graph(nodes: &[Node<'_>], edges: &[(&str, &str, &str)]) -> TypedGraph {
        let node = |(key, class, says, confidence): &Node<'_>| {
            let node = TypedNode {
                properties: Properties::new(says.iter().copied()).unwrap_or_default(),
                confidence: Some(*confidence),
                ..TypedNode::of_class(*class)
            };
            ((*key).to_owned(), node)
        };
        let edges = edges
            .iter()
            .map(|(from, to, kind)| TypedEdge::new(*from, *to, *kind));
        TypedGraph::new(nodes.iter().map(node), edges).unwrap_or_default()
    }

    #[test]
    fn rules() {
        // Predicted: 0 is equal to 1 in two properties and to 0 in one; 1 is equal to both in one.
        let reference = graph(
            &[
                ("0", "x", &[("a", 1), ("b", 2)], 0.0),
                ("1", "x", &[("a", 1), ("b", 1)], 0.0),
                ("y", "y", &[], 0.0),
            ],
            &[],
        );
        let prediction = graph(
            &[
                ("0", "x", &[("a", 1), ("b", 1)], 0.1),
                ("1", "x", &[("a", 2), ("b", 1)], 0.2),
                ("2", "x", &[("a", 1)], 0.3),
                ("y", "x", &[("c", 3)], 0.4),
            ],
            &[],
        );
        let rows: &[(NodeRule, &[(usize, usize)])] = &[
            (NodeRule::Key, &[(0, 0), (1, 1)]),
            (NodeRule::Properties, &[(0, 1)]),
            // 2 + 1 equal properties.
            (NodeRule::Optimal, &[(0, 1), (2, 0)]),
            // 0 and 1 differ in nothing; then 2 and 0 in one.
            (NodeRule::GreedyCheapest, &[(0, 1), (2, 0)]),
            // "y" differs from both in three and takes the first; 2 differs from both in one, and
            // the first is taken; so 1 has 1.
            (NodeRule::GreedyByConfidence, &[(1, 1), (3, 0)]),
        ];
        for (rule, expected) in rows {
            let metric = AlignedGraphs {
                nodes: *rule,
                ..AlignedGraphs::default()
            };
            let alignment = metric.align(&prediction, &reference);
            assert_eq!(alignment.pairs().collect::<Vec<_>>(), *expected, "{rule}");
            assert!(alignment.missed().any(|node| node == 2), "{rule}");
            let found = expected
                .iter()
                .map(|(predicted, actual)| (*actual, *predicted));
            for (actual, predicted) in found {
                assert_eq!(alignment.found(actual), Some(predicted));
            }
        }
        for rule in NodeRule::ALL {
            assert_eq!(rule.to_string().parse(), Ok(*rule));
        }
    }

    #[test]
    fn edges_to_aligned_nodes_tell_twins_apart() {
        type Edges<'a> = [(&'a str, &'a str, &'a str)];
        // Nodes that are aligned by key come first, though their class is last by name.
        let nodes: &[Node<'_>] = &[
            ("r", "rule", &[], 0.0),
            ("s", "rule", &[], 0.0),
            ("7", "z", &[], 0.0),
            ("8", "z", &[], 0.0),
        ];
        // Whether the predicted r stands for s, and s for r.
        let rows: &[(&str, &Edges<'_>, &Edges<'_>, bool)] = &[
            (
                "alike",
                &[("r", "7", ""), ("s", "8", "")],
                &[("r", "7", ""), ("s", "8", "")],
                false,
            ),
            (
                "by node",
                &[("r", "8", ""), ("s", "7", "")],
                &[("r", "7", ""), ("s", "8", "")],
                true,
            ),
            (
                "by direction",
                &[("r", "7", ""), ("7", "s", "")],
                &[("s", "7", ""), ("7", "r", "")],
                true,
            ),
            (
                "no direction",
                &[("r", "7", "n"), ("7", "s", "n")],
                &[("s", "7", "n"), ("7", "r", "n")],
                false,
            ),
            (
                "by kind",
                &[("r", "7", "a"), ("s", "7", "b")],
                &[("r", "7", "b"), ("s", "7", "a")],
                true,
            ),
            // Nodes that are aligned together do not tell each other apart.
            ("not fixed", &[("r", "r", "")], &[("s", "s", "")], false),
            // r shares one edge with r, and two with s.
            (
                "by number",
                &[("r", "7", ""), ("r", "8", "")],
                &[("r", "7", ""), ("s", "7", ""), ("s", "8", "")],
                true,
            ),
            // An edge that is given twice says no more than once.
            (
                "repeated",
                &[("r", "7", ""), ("r", "7", "")],
                &[("s", "7", ""), ("s", "7", ""), ("r", "7", "")],
                false,
            ),
            ("no edges", &[], &[], false),
        ];
        for rule in [NodeRule::Properties, NodeRule::Optimal] {
            let metric = AlignedGraphs {
                nodes: rule,
                rules_by_class: [("z".to_owned(), NodeRule::Key)].into(),
                undirected: ["n".to_owned()].into(),
                ..AlignedGraphs::default()
            };
            for (name, predicted, actual, turned) in rows {
                let pairs = metric.align(&graph(nodes, predicted), &graph(nodes, actual));
                let pairs: Vec<_> = pairs.pairs().collect();
                // In the order of keys: 7, 8, r, s.
                let rules = if *turned {
                    [(2, 3), (3, 2)]
                } else {
                    [(2, 2), (3, 3)]
                };
                assert_eq!(
                    pairs,
                    [&[(0, 0), (1, 1)], &rules[..]].concat(),
                    "{name}, {rule}"
                );
            }
        }
    }

    #[test]
    fn many_nodes_that_all_differ() {
        // Each with its own class, then all of one: pairs of nodes must not all be looked at.
        let count = 10_000_i64;
        for one_class in [false, true] {
            let made = |shift: i64| {
                let nodes = (0..count).map(|index| {
                    let says = (index + shift) % count;
                    let class = if one_class { 0 } else { says };
                    let node = TypedNode {
                        properties: Properties::new([("says", says)]).unwrap_or_default(),
                        ..TypedNode::of_class(class.to_string())
                    };
                    (index.to_string(), node)
                });
                let edges =
                    (1..count).map(|to| TypedEdge::new((to - 1).to_string(), to.to_string(), ""));
                TypedGraph::new(nodes, edges).unwrap_or_default()
            };
            let metric = AlignedGraphs {
                nodes: NodeRule::Properties,
                ..AlignedGraphs::default()
            };
            let alignment = metric.align(&made(0), &made(1));
            assert_eq!(alignment.pairs().count(), 10_000);
            assert_eq!(
                (alignment.partner(0), alignment.partner(1)),
                (Some(9_999), Some(0))
            );
        }
    }

    #[test]
    fn pairs_that_are_no_alignment() {
        let new = |pairs: &[(usize, usize)]| {
            NodeAlignment::new(2, 1, pairs.iter().copied()).map_err(|e| e.to_string())
        };
        let says = |text: &str| Err(text.to_owned());
        assert_eq!(
            new(&[(2, 0)]),
            says("predicted node 2 and true node 0: there is no such node")
        );
        assert!(new(&[(0, 1)]).is_err());
        assert_eq!(
            new(&[(0, 0), (1, 0)]),
            says("predicted node 1 and true node 0: one of them is in another pair")
        );
        let alignment = new(&[(1, 0)]).unwrap_or_default();
        assert_eq!(alignment.spurious().collect::<Vec<_>>(), [0]);
        assert_eq!((alignment.partner(7), alignment.found(7)), (None, None));
    }

    proptest! {
        #[test]
        fn optimal_is_never_worse(
            predicted in proptest::collection::vec((0_i64..2, 0_i64..2, 0_u8..3), 0..5),
            actual in proptest::collection::vec((0_i64..2, 0_i64..2, 0_u8..3), 0..5),
        ) {
            let made = |rows: &[(i64, i64, u8)]| {
                let nodes = rows.iter().enumerate().map(|(index, (a, b, confidence))| {
                    let node = TypedNode {
                        properties: Properties::new([("a", *a), ("b", *b)]).unwrap_or_default(),
                        confidence: Some(f64::from(*confidence)),
                        ..TypedNode::default()
                    };
                    (index.to_string(), node)
                });
                TypedGraph::new(nodes, []).unwrap_or_default()
            };
            let (prediction, reference) = (made(&predicted), made(&actual));
            let worth = |nodes| {
                let metric = AlignedGraphs { nodes, ..AlignedGraphs::default() };
                let alignment = metric.align(&prediction, &reference);
                let equal = alignment.pairs().map(|(a, b)| {
                    u8::from(predicted[a].0 == actual[b].0) + u8::from(predicted[a].1 == actual[b].1)
                });
                equal.map(u64::from).sum::<u64>()
            };
            for other in NodeRule::ALL {
                prop_assert!(worth(NodeRule::Optimal) >= worth(*other), "{}", other);
            }
        }
    }
}
