use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use metric_core::assignment::{Benefit, Costs, Edge, Gate, assign};
use metric_core::named_choice;

use crate::typed::rank;
use crate::{AlignedGraphs, Properties, TypedGraph, TypedNode};

/// By which rule predicted nodes stand for true ones of the same class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NodeRule {
    /// Nodes with the same key.
    Key,
    /// Nodes with equal properties; of several equal ones, those that share most edges.
    Properties,
    /// The one-to-one choice with the most equal properties in total, and among those the most
    /// shared edges in total.
    #[default]
    Optimal,
    /// The pair with the fewest different properties first, then that of the nodes that are left,
    /// and so on.
    GreedyCheapest,
    /// Predicted nodes by falling confidence, each with the true node from which it differs in the
    /// fewest properties, if that is free.
    GreedyByConfidence,
}

impl NodeRule {
    /// Every choice.
    pub const ALL: &[Self] = &[
        Self::Key,
        Self::Properties,
        Self::Optimal,
        Self::GreedyCheapest,
        Self::GreedyByConfidence,
    ];

    /// The name of the choice.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Properties => "properties",
            Self::Optimal => "optimal",
            Self::GreedyCheapest => "greedy-cheapest",
            Self::GreedyByConfidence => "greedy-by-confidence",
        }
    }
}

named_choice!(NodeRule, "node rule");

/// Which predicted node stands for which true one, each for one at most. Nodes are meant by their
/// places in the graphs.
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
    /// The alignment with these pairs of a predicted and a true node.
    ///
    /// # Errors
    /// A node that is not there; a node in two pairs.
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
        let key = |place| reference.key(place).map(|key| (key, place));
        let places: BTreeMap<&str, usize> = (0..reference.nodes()).filter_map(key).collect();
        for predicted in 0..prediction.nodes() {
            let key = prediction.key(predicted);
            if let Some(actual) = key.and_then(|key| places.get(key)) {
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

    /// The true node that a predicted one stands for.
    #[must_use]
    pub fn partner(&self, prediction: usize) -> Option<usize> {
        self.partners.get(prediction).copied().flatten()
    }

    /// The predicted node that stands for a true one.
    #[must_use]
    pub fn found(&self, reference: usize) -> Option<usize> {
        self.backwards.get(reference).copied().flatten()
    }

    /// The pairs of a predicted and a true node, by the predicted one.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let partners = self.partners.iter().enumerate();
        partners.filter_map(|(prediction, partner)| Some((prediction, (*partner)?)))
    }

    /// Predicted nodes that stand for none.
    pub fn spurious(&self) -> impl Iterator<Item = usize> {
        without(&self.partners)
    }

    /// True nodes that none stands for.
    pub fn missed(&self) -> impl Iterator<Item = usize> {
        without(&self.backwards)
    }
}

fn without(partners: &[Option<usize>]) -> impl Iterator<Item = usize> {
    let partners = partners.iter().enumerate();
    partners
        .filter(|(_, partner)| partner.is_none())
        .map(|(place, _)| place)
}

/// How many properties two nodes have in common, and in how many they differ.
pub(crate) fn equal_and_different(a: &Properties, b: &Properties) -> (usize, usize) {
    let equal = a.iter().filter(|(name, value)| b.get(name) == Some(*value));
    let equal = equal.count();
    let common = a.iter().filter(|(name, _)| b.get(name).is_some()).count();
    (equal, a.len() + b.len() - common - equal)
}

impl AlignedGraphs {
    /// Which predicted node stands for which true one, class by class: first the classes aligned by
    /// key, then the others by name. Edges to nodes that are aligned already are what tells nodes
    /// apart that agree in their properties; what is still equal then is decided by the order of
    /// keys, of the true nodes first.
    #[must_use]
    pub fn align(&self, prediction: &TypedGraph, reference: &TypedGraph) -> NodeAlignment {
        let (predicted, actual) = (by_class(prediction), by_class(reference));
        let mut alignment = NodeAlignment::empty(prediction.nodes(), reference.nodes());
        let rule = |class: &str| self.classes.get(class).copied().unwrap_or(self.nodes);
        let mut classes: Vec<&str> = predicted.keys().copied().collect();
        classes.sort_by_key(|class| (rule(class) != NodeRule::Key, *class));
        for class in classes {
            let (Some(predicted), Some(actual)) = (predicted.get(class), actual.get(class)) else {
                continue;
            };
            let of_class = OfClass {
                prediction,
                reference,
                predicted,
                actual,
                predicted_edges: self
                    .fixed_edges(prediction, predicted, &|place| alignment.partner(place)),
                actual_edges: self.fixed_edges(reference, actual, &|place| {
                    alignment.found(place).map(|_| place)
                }),
            };
            for (row, column) in of_class.pairs(rule(class)) {
                if let (Some(actual), Some(predicted)) = (actual.get(row), predicted.get(column)) {
                    alignment.put(*predicted, *actual);
                }
            }
        }
        alignment
    }

    /// For each of these nodes its edges to nodes that are aligned: the true node at the other end,
    /// the direction and the kind, each once.
    fn fixed_edges<'a>(
        &self,
        graph: &'a TypedGraph,
        nodes: &[usize],
        true_node: &dyn Fn(usize) -> Option<usize>,
    ) -> Vec<BTreeSet<FixedEdge<'a>>> {
        let mut of_node = vec![BTreeSet::new(); nodes.len()];
        for edge in graph.edges() {
            let forward = self.undirected.contains(edge.kind);
            for (end, other, outgoing) in [
                (edge.source, edge.target, true),
                (edge.target, edge.source, forward),
            ] {
                // Nodes of a class are in the order of their places.
                if let (Ok(place), Some(other)) = (nodes.binary_search(&end), true_node(other))
                    && let Some(edges) = of_node.get_mut(place)
                {
                    edges.insert((other, outgoing, edge.kind));
                }
            }
        }
        of_node
    }
}

type FixedEdge<'a> = (usize, bool, &'a str);

/// The places of the nodes by class.
fn by_class(graph: &TypedGraph) -> BTreeMap<&str, Vec<usize>> {
    let mut classes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, (_, node)) in graph.graph().node_weights().enumerate() {
        classes.entry(node.class.as_str()).or_default().push(place);
    }
    classes
}

/// The nodes of one class on both sides.
struct OfClass<'a> {
    prediction: &'a TypedGraph,
    reference: &'a TypedGraph,
    predicted: &'a [usize],
    actual: &'a [usize],
    predicted_edges: Vec<BTreeSet<FixedEdge<'a>>>,
    actual_edges: Vec<BTreeSet<FixedEdge<'a>>>,
}

impl OfClass<'_> {
    fn nodes(&self, row: usize, column: usize) -> Option<(&TypedNode, &TypedNode)> {
        let predicted = self.prediction.node(*self.predicted.get(column)?)?;
        let actual = self.reference.node(*self.actual.get(row)?)?;
        Some((predicted, actual))
    }

    fn shared_edges(&self, row: usize, column: usize) -> f64 {
        let edges = (self.predicted_edges.get(column), self.actual_edges.get(row));
        match edges {
            (Some(a), Some(b)) => a.intersection(b).count() as f64,
            _ => 0.0,
        }
    }

    /// True and predicted nodes by their places in the lists of the class.
    fn pairs(&self, rule: NodeRule) -> Vec<(usize, usize)> {
        match rule {
            NodeRule::Key => {
                let key = |place: &usize| self.prediction.key(*place);
                let columns: BTreeMap<_, usize> = self.predicted.iter().map(key).zip(0..).collect();
                let rows = self.actual.iter().enumerate();
                rows.filter_map(|(row, place)| {
                    Some((row, *columns.get(&self.reference.key(*place))?))
                })
                .collect()
            }
            NodeRule::Properties => self.best(|row, column| {
                let (predicted, actual) = self.nodes(row, column)?;
                (predicted.properties == actual.properties).then(|| Benefit {
                    primary: 1,
                    secondary: self.shared_edges(row, column),
                })
            }),
            NodeRule::Optimal => self.best(|row, column| {
                let (predicted, actual) = self.nodes(row, column)?;
                let (equal, _) = equal_and_different(&predicted.properties, &actual.properties);
                Some(Benefit {
                    primary: equal as i64,
                    secondary: self.shared_edges(row, column),
                })
            }),
            NodeRule::GreedyCheapest => {
                let costs = self.differences();
                costs.map_or_else(Vec::new, |costs| costs.greedy_cheapest(Gate::None))
            }
            NodeRule::GreedyByConfidence => {
                let confidences: Vec<f64> = self
                    .predicted
                    .iter()
                    .map(|place| -rank(self.prediction.node(*place).and_then(|n| n.confidence)))
                    .collect();
                let greedy =
                    |costs: Costs| costs.greedy_by_confidence(&confidences, Gate::None).ok();
                self.differences().and_then(greedy).unwrap_or_default()
            }
        }
    }

    fn best(&self, benefit: impl Fn(usize, usize) -> Option<Benefit>) -> Vec<(usize, usize)> {
        let columns = self.predicted.len();
        let edges = (0..self.actual.len())
            .flat_map(|row| (0..columns).map(move |column| (row, column)))
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

/// Pairs that are no alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidAlignment {
    /// A node that the graph does not have.
    NoSuchNode {
        /// The predicted node of the pair.
        prediction: usize,
        /// The true node of the pair.
        reference: usize,
    },
    /// A node that stands in an earlier pair.
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

    /// A graph of nodes as (key, class, properties, confidence), and edges of one kind.
    type Node<'a> = (&'a str, &'a str, &'a [(&'a str, i64)], f64);

    fn graph(nodes: &[Node<'_>], edges: &[(&str, &str)]) -> TypedGraph {
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
            .map(|(from, to)| TypedEdge::new(*from, *to, ""));
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
        let nodes: &[Node<'_>] = &[
            ("r", "rule", &[], 0.0),
            ("s", "rule", &[], 0.0),
            ("7", "lane", &[], 0.0),
            ("8", "lane", &[], 0.0),
        ];
        let reference = graph(nodes, &[("r", "7"), ("s", "8")]);
        let prediction = graph(nodes, &[("r", "8"), ("s", "7")]);
        let by_key = ("lane".to_owned(), NodeRule::Key);
        for nodes in [NodeRule::Properties, NodeRule::Optimal] {
            let metric = AlignedGraphs {
                nodes,
                classes: [by_key.clone()].into(),
                ..AlignedGraphs::default()
            };
            // In the order of keys: 7, 8, r, s.
            let pairs = metric.align(&prediction, &reference);
            let pairs: Vec<_> = pairs.pairs().collect();
            assert_eq!(pairs, [(0, 0), (1, 1), (2, 3), (3, 2)], "{nodes}");
            // Without edges: the first with the first.
            let bare = metric.align(&prediction, &graph(&[nodes_of("r"), nodes_of("s")], &[]));
            assert_eq!(
                bare.pairs().collect::<Vec<_>>(),
                [(2, 0), (3, 1)],
                "{nodes}"
            );
        }
    }

    fn nodes_of(key: &str) -> Node<'_> {
        (key, "rule", &[], 0.0)
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
                let nodes = rows.iter().enumerate().map(|(place, (a, b, confidence))| {
                    let node = TypedNode {
                        properties: Properties::new([("a", *a), ("b", *b)]).unwrap_or_default(),
                        confidence: Some(f64::from(*confidence)),
                        ..TypedNode::default()
                    };
                    (place.to_string(), node)
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
