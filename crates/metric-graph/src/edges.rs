use std::collections::{BTreeMap, BTreeSet};

use metric_core::{Counts, fields};

use crate::typed::rank;
use crate::{AlignedGraphs, Duplicates, NodeAlignment, TypedGraph};

/// The outcome of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeOutcome {
    /// Predicted and true.
    Right,
    /// One of its nodes is not aligned.
    NodeUnaligned,
    /// On the other side there are only edges of other kinds between the two nodes.
    OtherKind,
    /// On the other side there are edges of this kind between the two nodes, but fewer.
    Repeated,
    /// On the other side there is no edge between the two nodes.
    NoEdge,
    /// It is not counted: one of several that are merged, or a loop that is dropped.
    LeftOut,
}

/// The outcomes of the edges of two graphs, by their positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeComparison {
    /// Predicted edges: those that are not correct are false positives.
    pub predicted: Vec<EdgeOutcome>,
    /// True edges: those that are not correct are false negatives.
    pub actual: Vec<EdgeOutcome>,
    /// The pairs of a predicted and a true edge that are correct, by the predicted one.
    pub pairs: Vec<(usize, usize)>,
    /// The number of predicted edges that become true ones if their kind changes, each a different
    /// one: the most pairs of an incorrect edge and a missed one between the same two nodes, in the
    /// same direction or where one of them has none.
    pub retyped: u64,
}

impl EdgeComparison {
    /// Returns the counts of correct and incorrect edges.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let count = |edges: &[EdgeOutcome], right: bool| {
            let counted = edges.iter().filter(|o| **o != EdgeOutcome::LeftOut);
            counted
                .filter(|o| (**o == EdgeOutcome::Right) == right)
                .count() as u64
        };
        Counts::new(
            count(&self.predicted, true),
            count(&self.predicted, false),
            count(&self.actual, false),
        )
    }
}

impl AlignedGraphs {
    /// Returns the outcome of each edge, under this alignment of the nodes.
    ///
    /// Where several edges say the same and not all of them are correct, the most confident ones
    /// are.
    #[must_use]
    pub fn compare(
        &self,
        prediction: &TypedGraph,
        reference: &TypedGraph,
        alignment: &NodeAlignment,
    ) -> EdgeComparison {
        compare(&self.kept(prediction), &self.kept(reference), alignment)
    }

    /// The edges of a graph that count, those of a link together, by falling confidence.
    pub(crate) fn kept<'a>(&'a self, graph: &'a TypedGraph) -> Kept<'a> {
        let edges = graph.edges().enumerate();
        let mut edges: Vec<KeptEdge<'_>> = edges
            .filter(|(_, edge)| !(self.drop_loops && edge.source == edge.target))
            .map(|(position, edge)| KeptEdge {
                position,
                link: Link {
                    source: edge.source,
                    target: edge.target,
                    kind: edge.kind,
                    directed: !self.undirected.contains(edge.kind),
                }
                .in_order(),
                confidence: edge.confidence,
            })
            .collect();
        edges.sort_by(|a, b| {
            let links = a.link.cmp(&b.link);
            links.then(rank(a.confidence).total_cmp(&rank(b.confidence)))
        });
        if self.parallel == Duplicates::Merge {
            edges.dedup_by_key(|edge| edge.link);
        }
        Kept {
            edges,
            all: graph.edges().len(),
        }
    }
}

/// The edges of a graph that count, and the number of all.
pub(crate) struct Kept<'a> {
    pub(crate) edges: Vec<KeptEdge<'a>>,
    pub(crate) all: usize,
}

/// An edge that counts: its position among all, and what it says.
#[derive(Clone, Copy)]
pub(crate) struct KeptEdge<'a> {
    pub(crate) position: usize,
    pub(crate) link: Link<'a>,
    pub(crate) confidence: Option<f64>,
}

/// The content of an edge, without its confidence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link<'a> {
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) kind: &'a str,
    directed: bool,
}

impl Link<'_> {
    /// The same for both ways to write an edge without direction.
    fn in_order(mut self) -> Self {
        if !self.directed && self.target < self.source {
            std::mem::swap(&mut self.source, &mut self.target);
        }
        self
    }

    /// Its nodes, whatever its direction.
    fn between(&self) -> (usize, usize) {
        (self.source.min(self.target), self.source.max(self.target))
    }

    /// The ends from which an edge between them can be seen.
    fn views(&self) -> impl Iterator<Item = (usize, usize)> {
        let back = (!self.directed).then_some((self.target, self.source));
        std::iter::once((self.source, self.target)).chain(back)
    }
}

/// The outcome of each edge.
pub(crate) fn compare(
    predicted: &Kept<'_>,
    actual: &Kept<'_>,
    alignment: &NodeAlignment,
) -> EdgeComparison {
    let mut comparison = EdgeComparison {
        predicted: vec![EdgeOutcome::LeftOut; predicted.all],
        actual: vec![EdgeOutcome::LeftOut; actual.all],
        ..EdgeComparison::default()
    };
    let links = links_of_both(predicted, actual, alignment, &mut comparison);
    // The nodes between which each side has edges, of any kind.
    let [linked_by_prediction, linked_in_truth] = [0, 1].map(|side| {
        let links = links
            .iter()
            .filter(move |(_, sides)| !sides[side].is_empty());
        links
            .flat_map(|(link, _)| link.views())
            .collect::<BTreeSet<_>>()
    });
    let mut left: BTreeMap<(usize, usize), [Unmatched; 2]> = BTreeMap::new();
    for (link, [predicted, actual]) in &links {
        let right = predicted.len().min(actual.len());
        comparison
            .pairs
            .extend(predicted.iter().copied().zip(actual.iter().copied()));
        for (side, outcomes, positions, linked) in [
            (0, &mut comparison.predicted, predicted, &linked_in_truth),
            (1, &mut comparison.actual, actual, &linked_by_prediction),
        ] {
            let wrong = if right > 0 {
                EdgeOutcome::Repeated
            } else if link.views().any(|ends| linked.contains(&ends)) {
                EdgeOutcome::OtherKind
            } else {
                EdgeOutcome::NoEdge
            };
            if positions.len() > right {
                let between = left.entry(link.between()).or_default();
                between[side].add(link, positions.len() - right);
            }
            for (rank, position) in positions.iter().enumerate() {
                let is_right = rank < right;
                set(
                    outcomes,
                    *position,
                    if is_right { EdgeOutcome::Right } else { wrong },
                );
            }
        }
    }
    comparison.pairs.sort_unstable();
    let retyped = left
        .values()
        .map(|[predicted, actual]| predicted.pairs(actual) as u64);
    comparison.retyped = retyped.sum();
    comparison
}

/// Each link between true nodes, with the positions of its edges on both sides in their order, predicted first.
type Links<'a> = BTreeMap<Link<'a>, [Vec<usize>; 2]>;

/// Returns the links of both sides. Edges of nodes that are not aligned get their outcome.
fn links_of_both<'a>(
    predicted: &Kept<'a>,
    actual: &Kept<'a>,
    alignment: &NodeAlignment,
    comparison: &mut EdgeComparison,
) -> Links<'a> {
    let mut links = Links::new();
    for KeptEdge { position, link, .. } in &predicted.edges {
        let ends = (
            alignment.partner(link.source),
            alignment.partner(link.target),
        );
        if let (Some(source), Some(target)) = ends {
            let link = Link {
                source,
                target,
                ..*link
            };
            links.entry(link.in_order()).or_default()[0].push(*position);
        } else {
            set(
                &mut comparison.predicted,
                *position,
                EdgeOutcome::NodeUnaligned,
            );
        }
    }
    for KeptEdge { position, link, .. } in &actual.edges {
        let ends = (alignment.found(link.source), alignment.found(link.target));
        if let (Some(_), Some(_)) = ends {
            links.entry(*link).or_default()[1].push(*position);
        } else {
            set(
                &mut comparison.actual,
                *position,
                EdgeOutcome::NodeUnaligned,
            );
        }
    }
    links
}

/// The number of edges between two nodes that are left on one side.
#[derive(Clone, Copy, Default)]
struct Unmatched {
    /// From the first to the second, and back.
    directed: [usize; 2],
    undirected: usize,
}

impl Unmatched {
    fn add(&mut self, link: &Link<'_>, edges: usize) {
        if link.directed {
            self.directed[usize::from(link.target < link.source)] += edges;
        } else {
            self.undirected += edges;
        }
    }

    /// The most pairs with edges of the other side: an edge with a direction can be paired with one
    /// of the same direction or of none.
    fn pairs(&self, other: &Self) -> usize {
        let same_direction: usize = (0..2)
            .map(|way| self.directed[way].min(other.directed[way]))
            .sum();
        let directed = |side: &Self| side.directed.iter().sum::<usize>() - same_direction;
        let (here, there) = (directed(self), directed(other));
        // Edges with a direction are harder to pair and come first.
        let with_directed = [self.undirected.min(there), other.undirected.min(here)];
        let undirected =
            (self.undirected - with_directed[0]).min(other.undirected - with_directed[1]);
        same_direction + with_directed[0] + with_directed[1] + undirected
    }
}

fn set(outcomes: &mut [EdgeOutcome], position: usize, outcome: EdgeOutcome) {
    if let Some(slot) = outcomes.get_mut(position) {
        *slot = outcome;
    }
}

/// The number of wrong edges by reason, see [`EdgeOutcome`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeReasons {
    /// [`EdgeOutcome::NodeUnaligned`].
    pub node_unaligned: u64,
    /// [`EdgeOutcome::OtherKind`].
    pub other_kind: u64,
    /// [`EdgeOutcome::Repeated`].
    pub repeated: u64,
    /// [`EdgeOutcome::NoEdge`].
    pub no_edge: u64,
}

impl EdgeReasons {
    pub(crate) fn add(&mut self, outcome: EdgeOutcome) {
        match outcome {
            EdgeOutcome::Right | EdgeOutcome::LeftOut => {}
            EdgeOutcome::NodeUnaligned => self.node_unaligned += 1,
            EdgeOutcome::OtherKind => self.other_kind += 1,
            EdgeOutcome::Repeated => self.repeated += 1,
            EdgeOutcome::NoEdge => self.no_edge += 1,
        }
    }
}

fields!(EdgeReasons {
    node_unaligned,
    other_kind,
    repeated,
    no_edge
});

/// Correct and incorrect edges, with the reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeTally {
    /// Correct and incorrect edges.
    pub counts: Counts,
    /// The reasons why predicted edges are wrong.
    pub false_positives: EdgeReasons,
    /// The reasons why true edges were not found.
    pub false_negatives: EdgeReasons,
}

fields!(EdgeTally {
    counts,
    false_positives,
    false_negatives
});
