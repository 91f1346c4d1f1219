use std::collections::BTreeMap;
use std::fmt;

use petgraph::graph::{DiGraph, EdgeIndex, Graph, NodeIndex};
use petgraph::visit::EdgeRef;
use petgraph::{EdgeType, graph::IndexType};

use crate::Properties;
use crate::clip::compare_ids;

/// A graph whose nodes have keys, classes and properties, and whose edges have kinds: a model's prediction for a
/// scene, or its ground truth.
///
/// The order in which nodes and edges are given has no meaning: nodes are kept by key (`"2"`
/// before `"10"`), edges by their ends, kind and falling confidence. There may be several edges of
/// one kind between two nodes, and edges from a node to itself.
///
/// ```
/// use metric_graph::{TypedEdge, TypedGraph, TypedNode};
///
/// let lane = TypedNode::of_class("lane");
/// let graph = TypedGraph::new(
///     [("a", lane.clone()), ("b", lane.clone())],
///     [TypedEdge::new("a", "b", "leads to")],
/// )?;
/// assert_eq!((graph.graph().node_count(), graph.graph().edge_count()), (2, 1));
///
/// let dangling = TypedGraph::new([("a", lane)], [TypedEdge::new("a", "c", "leads to")]);
/// assert_eq!(dangling.unwrap_err().to_string(), "edge \"leads to\" from \"a\" to \"c\": there is no node \"c\"");
/// # Ok::<(), metric_graph::InvalidGraph>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TypedGraph {
    graph: DiGraph<(String, TypedNode), (String, Option<f64>)>,
}

/// A node of a [`TypedGraph`], without its key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypedNode {
    /// The class of the node: only nodes of the same class are aligned.
    pub class: String,
    /// The properties of the node.
    pub properties: Properties,
    /// The confidence of the model. A node without one, or with NaN, ranks last.
    pub confidence: Option<f64>,
}

impl TypedNode {
    /// Returns a node of this class with all other fields empty.
    #[must_use]
    pub fn of_class(class: impl Into<String>) -> Self {
        Self {
            class: class.into(),
            ..Self::default()
        }
    }
}

/// An edge of a [`TypedGraph`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypedEdge {
    /// The key of the node it comes from.
    pub source: String,
    /// The key of the node it goes to.
    pub target: String,
    /// The kind of the edge.
    pub kind: String,
    /// The confidence of the model. An edge without one, or with NaN, ranks last.
    pub confidence: Option<f64>,
}

impl TypedEdge {
    /// Returns an edge without confidence.
    #[must_use]
    pub fn new(
        source: impl Into<String>,
        target: impl Into<String>,
        kind: impl Into<String>,
    ) -> Self {
        Self {
            source: source.into(),
            target: target.into(),
            kind: kind.into(),
            confidence: None,
        }
    }

    /// Returns the same edge with a confidence.
    #[must_use]
    pub fn with_confidence(mut self, confidence: f64) -> Self {
        self.confidence = Some(confidence);
        self
    }
}

/// Rising as the confidence falls; without one, or with NaN, last.
pub(crate) fn rank(confidence: Option<f64>) -> f64 {
    match confidence {
        Some(confidence) if !confidence.is_nan() => -confidence + 0.0,
        _ => f64::INFINITY,
    }
}

impl TypedGraph {
    /// Returns the graph with these nodes, by their keys, and edges.
    ///
    /// # Errors
    /// Returns an error if a key is given twice, or an edge is from or to a key that no node has.
    pub fn new<K: Into<String>>(
        nodes: impl IntoIterator<Item = (K, TypedNode)>,
        edges: impl IntoIterator<Item = TypedEdge>,
    ) -> Result<Self, InvalidGraph> {
        let nodes = nodes.into_iter();
        let mut nodes: Vec<_> = nodes.map(|(key, node)| (key.into(), node)).collect();
        nodes.sort_by(|a, b| compare_ids(&a.0, &b.0));
        let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, (key, _)) in nodes.iter().enumerate() {
            if indices.insert(key, index).is_some() {
                return Err(InvalidGraph::DuplicateKey { key: key.clone() });
            }
        }
        let mut placed = Vec::new();
        for edge in edges {
            let index = |key: &str| {
                let known = indices.get(key).copied();
                known.ok_or_else(|| InvalidGraph::DanglingEdge {
                    edge: Box::new(edge.clone()),
                    key: key.to_owned(),
                })
            };
            let ends = (index(&edge.source)?, index(&edge.target)?);
            placed.push((ends, edge.kind, edge.confidence));
        }
        placed.sort_by(|a, b| {
            let ends = (a.0, &a.1).cmp(&(b.0, &b.1));
            ends.then(rank(a.2).total_cmp(&rank(b.2)))
        });
        let mut graph = DiGraph::with_capacity(nodes.len(), placed.len());
        for node in nodes {
            graph.add_node(node);
        }
        for ((source, target), kind, confidence) in placed {
            let (source, target) = (NodeIndex::new(source), NodeIndex::new(target));
            graph.add_edge(source, target, (kind, confidence));
        }
        Ok(Self { graph })
    }

    /// Returns the graph of any graph of `petgraph`, with what its nodes and edges are: key and node, kind and
    /// confidence. The edges of an undirected one go from the end that comes first in them; name their kinds in
    /// [`AlignedGraphs::undirected`](crate::AlignedGraphs::undirected).
    ///
    /// ```
    /// use metric_graph::{TypedGraph, TypedNode};
    /// use petgraph::graph::DiGraph;
    ///
    /// let lanes = DiGraph::<&str, f64>::from_edges([(0, 1, 0.9)]);
    /// let graph = TypedGraph::from_petgraph(
    ///     &lanes,
    ///     |index, _| (index.index().to_string(), TypedNode::of_class("lane")),
    ///     |confidence| ("leads to".to_owned(), Some(*confidence)),
    /// )?;
    /// assert_eq!(graph.graph().edge_count(), 1);
    /// # Ok::<(), metric_graph::InvalidGraph>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a key is given twice.
    pub fn from_petgraph<N, E, Ty: EdgeType, Ix: IndexType>(
        graph: &Graph<N, E, Ty, Ix>,
        node: impl Fn(NodeIndex<Ix>, &N) -> (String, TypedNode),
        edge: impl Fn(&E) -> (String, Option<f64>),
    ) -> Result<Self, InvalidGraph> {
        let indices = graph.node_indices();
        let nodes: Vec<(String, TypedNode)> = indices
            .zip(graph.node_weights())
            .map(|(index, weight)| node(index, weight))
            .collect();
        let edges = graph.edge_references().filter_map(|reference| {
            let key = |end: NodeIndex<Ix>| nodes.get(end.index()).map(|(key, _)| key.clone());
            let (kind, confidence) = edge(reference.weight());
            Some(TypedEdge {
                source: key(reference.source())?,
                target: key(reference.target())?,
                kind,
                confidence,
            })
        });
        let edges: Vec<_> = edges.collect();
        Self::new(nodes, edges)
    }

    /// Returns the graph for the algorithms and the drawing of `petgraph`: nodes with their keys,
    /// edges with their kinds and confidences.
    #[must_use]
    pub fn graph(&self) -> &DiGraph<(String, TypedNode), (String, Option<f64>)> {
        &self.graph
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.graph.node_count()
    }

    /// Returns the key of the node at an index in the order of keys.
    #[must_use]
    pub fn key(&self, index: usize) -> Option<&str> {
        let node = self.graph.node_weight(NodeIndex::new(index));
        node.map(|(key, _)| key.as_str())
    }

    /// Returns the node at an index in the order of keys.
    #[must_use]
    pub fn node(&self, index: usize) -> Option<&TypedNode> {
        let node = self.graph.node_weight(NodeIndex::new(index));
        node.map(|(_, node)| node)
    }

    /// The edges in their order.
    pub(crate) fn edges(&self) -> impl ExactSizeIterator<Item = PlacedEdge<'_>> {
        let edges = self.graph.edge_references();
        edges.map(|edge| PlacedEdge {
            source: edge.source().index(),
            target: edge.target().index(),
            kind: &edge.weight().0,
            confidence: edge.weight().1,
        })
    }

    /// Returns the edge at an index in the order of edges.
    #[must_use]
    pub fn edge(&self, position: usize) -> Option<TypedEdge> {
        let index = EdgeIndex::new(position);
        let (source, target) = self.graph.edge_endpoints(index)?;
        let (kind, confidence) = self.graph.edge_weight(index)?;
        Some(TypedEdge {
            source: self.key(source.index())?.to_owned(),
            target: self.key(target.index())?.to_owned(),
            kind: kind.clone(),
            confidence: *confidence,
        })
    }
}

/// An edge with its ends as positions of nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedEdge<'a> {
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) kind: &'a str,
    pub(crate) confidence: Option<f64>,
}

/// The error for nodes and edges that do not form a graph.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InvalidGraph {
    /// Two nodes with one key.
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// An edge with an end that is not the key of a node.
    DanglingEdge {
        /// The edge.
        edge: Box<TypedEdge>,
        /// The key that no node has.
        key: String,
    },
}

impl fmt::Display for InvalidGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateKey { key } => write!(f, "node {key:?} is given twice"),
            Self::DanglingEdge { edge, key } => write!(
                f,
                "edge {:?} from {:?} to {:?}: there is no node {key:?}",
                edge.kind, edge.source, edge.target
            ),
        }
    }
}

impl std::error::Error for InvalidGraph {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_that_are_none() {
        let node = TypedNode::default;
        let twice = TypedGraph::new([("a", node()), ("a", node())], []);
        assert_eq!(
            twice.err().map(|e| e.to_string()).as_deref(),
            Some("node \"a\" is given twice")
        );
        assert!(TypedGraph::new([("a", node())], [TypedEdge::new("b", "a", "k")]).is_err());
        let empty = TypedGraph::new(Vec::<(String, TypedNode)>::new(), []);
        assert_eq!(empty.map(|graph| graph.nodes()), Ok(0));
    }

    #[test]
    fn an_undirected_graph() {
        let node = |index: NodeIndex, (): &()| (index.index().to_string(), TypedNode::default());
        let edge = |(): &()| ("beside".to_owned(), None);
        let [there, back] = [(0, 1), (1, 0)].map(|ends| {
            let graph = petgraph::graph::UnGraph::<(), ()>::from_edges([ends]);
            TypedGraph::from_petgraph(&graph, node, edge).unwrap_or_default()
        });
        assert_eq!(there.edge(0), Some(TypedEdge::new("0", "1", "beside")));
        assert_eq!(back.edge(0), Some(TypedEdge::new("1", "0", "beside")));
        assert_eq!(back.edge(1), None);
        let same_key = TypedGraph::from_petgraph(
            there.graph(),
            |_, _| ("0".to_owned(), TypedNode::default()),
            |_| (String::new(), None),
        );
        assert!(matches!(same_key, Err(InvalidGraph::DuplicateKey { .. })));
    }

    #[test]
    fn confidences_rank() {
        let ranks = [Some(f64::INFINITY), Some(1.0), Some(-1.0)].map(rank);
        assert!(ranks.windows(2).all(|two| two[0] < two[1]));
        assert_eq!(rank(Some(0.0)).to_bits(), rank(Some(-0.0)).to_bits());
        assert_eq!(rank(None).to_bits(), rank(Some(f64::NAN)).to_bits());
    }
}
