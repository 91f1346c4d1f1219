//! The definitions of the two metrics of graphs, with the choices in them.

use std::collections::{BTreeMap, BTreeSet};

use metric_core::{fields, named_choice, setters};

use crate::{Equality, LaneIds};

/// Precision and recall of predicted traffic rules and of the lanes that they apply to.
///
/// The three parts of the MapDR benchmark, in a clip of rules `R`, lanes `L` and the pairs
/// `E ⊆ R × L` of a rule and a lane it holds for:
/// - **rule** (R.E., rule extraction): a predicted rule is correct if a true rule has equal
///   properties, each true rule once;
/// - **correspondence** (C.R., correspondence reasoning): each predicted rule is [aligned](Alignment)
///   with at most one true rule. A predicted pair is correct if that true rule holds for its lane, even if the
///   properties of the two rules differ; the lanes of a rule are a set;
/// - **overall**: a predicted pair is correct if a true rule with equal properties holds for its
///   lane, each true pair once.
///
/// Matching never crosses clips. A prediction that could not be read is an empty clip.
///
/// A clip of `n` predicted and `m` true rules, with `d` distinct lanes and properties, costs
/// `O(n m d / 64)`, and the optimal alignment of those rules that are not entirely correct at most
/// `O(n² m)` on top.
///
/// Chang et al., *Driving by the Rules: A Benchmark for Integrating Traffic Sign Regulations into
/// Vectorized HD Map* (CVPR 2025), and the description of the metric in the MapDR repository.
///
/// ```
/// use metric_core::{Counts, Metric};
/// use metric_graph::{Clip, LaneCorrespondence, Properties, Rule};
///
/// let rule = |kind, lane: i64| Properties::new([("LaneType", kind)]).map(|says| Rule::new(says, [lane]));
/// let truth = Clip::new([("0", rule("BusLane", 7)?), ("1", rule("DirectionLane", 8)?)])?;
/// // One rule is misread, on the right lane.
/// let prediction = Clip::new([("0", rule("BusLane", 7)?), ("1", rule("EmergencyLane", 8)?)])?;
///
/// let metric = LaneCorrespondence::default();
/// let state = metric.measure(&prediction, &truth);
/// assert_eq!(state.counts.rule, Counts::from_totals(1, 2, 2));
/// assert_eq!(state.counts.correspondence, Counts::from_totals(2, 2, 2));
/// assert_eq!(state.counts.overall, Counts::from_totals(1, 2, 2));
/// assert_eq!(metric.compute(&state).micro.overall.f1, Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneCorrespondence {
    /// The conventions that the score follows.
    pub profile: LaneProfile,
    /// The alignment of predicted rules with true ones.
    pub alignment: Alignment,
    /// The condition under which two lane ids are the same.
    pub lane_ids: LaneIds,
    /// The way in which repeated rules and pairs count.
    pub duplicates: Duplicates,
    /// The condition under which a pair of a rule and a lane is entirely correct.
    pub overall: Overall,
    /// Names of properties to ignore: rules are scored without them.
    pub ignore: BTreeSet<String>,
    /// The condition under which two property values are equal.
    pub equality: Equality,
}

setters!(LaneCorrespondence {
    with_profile => profile: LaneProfile,
    with_alignment => alignment: Alignment,
    with_lane_ids => lane_ids: LaneIds,
    with_duplicates => duplicates: Duplicates,
    with_overall => overall: Overall,
    with_ignore => ignore: BTreeSet<String>,
    with_equality => equality: Equality,
});

/// The conventions that a score follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LaneProfile {
    /// The evaluation published with MapDR: precision, recall and F1 with a denominator of 0 are printed as 0. Known
    /// defect: a model without predictions and one with wrong predictions look the same. The counts tell them apart.
    #[default]
    MapdrReference,
}

impl LaneProfile {
    /// Every choice.
    pub const ALL: &[Self] = &[Self::MapdrReference];

    /// Returns the name of the choice.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MapdrReference => "mapdr-reference",
        }
    }

    /// The value that the profile prints for 0/0.
    pub(crate) const fn zero_division(self) -> Option<f64> {
        match self {
            Self::MapdrReference => Some(0.0),
        }
    }
}

named_choice!(LaneProfile, "profile");

/// How repeated items count in the parts *rule* and *overall*.
///
/// In *correspondence* the lanes of a rule are a set in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duplicates {
    /// Each counts: if two predicted rules are equal and there is one true rule, one of the two is
    /// wrong. The behavior of the reference implementation.
    #[default]
    Count,
    /// Equal rules of a clip are one rule, and equal pairs one pair.
    Merge,
}

impl Duplicates {
    /// Every choice.
    pub const ALL: &[Self] = &[Self::Count, Self::Merge];

    /// Returns the name of the choice.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Merge => "merge",
        }
    }
}

named_choice!(Duplicates, "duplicates");

/// The condition under which a pair of a rule and a lane is entirely correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overall {
    /// A true pair has equal properties and the same lane. Rules with equal properties can swap
    /// lanes unnoticed. The behavior of the reference implementation.
    #[default]
    Pairs,
    /// The true rule with the same id has equal properties and holds for the lane. The lanes of a
    /// rule are a set, and [`Duplicates`] does not matter. For models whose rule ids mean something.
    Key,
}

impl Overall {
    /// Every choice.
    pub const ALL: &[Self] = &[Self::Pairs, Self::Key];

    /// Returns the name of the choice.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pairs => "pairs",
            Self::Key => "key",
        }
    }
}

named_choice!(Overall, "overall");

/// The alignment of predicted rules with true rules when their lanes are compared.
///
/// The lanes of a predicted rule without a true rule are all wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Alignment {
    /// The model was given the true rules and only told their lanes, rule id by rule id: the
    /// setting in the text of the MapDR paper. There are no predicted properties, so the scores of
    /// rules and of the whole are undefined.
    Given,
    /// Rules with the same id.
    Key,
    /// Rules with equal properties; of several equal ones, those that share most lanes.
    Properties,
    /// The one-to-one choice with the most equal properties in total, and among those the most shared lanes in total.
    /// `RuleIndex` is not counted, and any two rules may be aligned. This is what the worked example of the MapDR
    /// paper draws.
    #[default]
    Optimal,
}

impl Alignment {
    /// Every choice.
    pub const ALL: &[Self] = &[Self::Given, Self::Key, Self::Properties, Self::Optimal];

    /// Returns the name of the choice.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Key => "key",
            Self::Properties => "properties",
            Self::Optimal => "optimal",
        }
    }
}

named_choice!(Alignment, "alignment");

/// A value for each of the three parts of the metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Parts<T> {
    /// The rules, by their properties (R.E.).
    pub rule: T,
    /// The lanes of the rules (C.R.).
    pub correspondence: T,
    /// Rules and lanes together.
    pub overall: T,
}

fields!(Parts<T> { rule, correspondence, overall });

/// Precision and recall of the edges of predicted graphs compared with true ones, after predicted nodes have been
/// aligned with true ones.
///
/// A predicted edge is correct if both of its ends are matched to true nodes and there is a true
/// edge of its kind between those, each true edge once. In addition to the edges, by kind and in
/// all, these are counted:
/// - **nodes**: a predicted node is correct if it is matched with a true one of the same class with
///   equal properties;
/// - **nodes and edges**: an edge is correct if both of its nodes are correct as well;
/// - **triples**: the same edges by the keys of their nodes, whatever the alignment;
/// - **recall@K**: the share of the true edges of a graph among the `K` most confident predicted
///   ones (of equal confidences the first in the order of edges).
///
/// `n` predicted and `m` true nodes of a class cost what [`NodeRule`] costs, the edges
/// `O(e log e)`. Recall@K is as in Lu et al., *Visual Relationship Detection with Language Priors*
/// (ECCV 2016), mean recall@K as in Chen et al., *Knowledge-Embedded Routing Network for Scene
/// Graph Generation* (CVPR 2019).
///
/// ```
/// use metric_core::{Counts, Metric};
/// use metric_graph::{AlignedGraphs, NodeRule, TypedEdge, TypedGraph, TypedNode};
///
/// let graph = |edges: &[(&str, &str, &str)]| {
///     let nodes = ["a", "b", "c"].map(|key| (key, TypedNode::of_class("lane")));
///     TypedGraph::new(nodes, edges.iter().map(|(from, to, kind)| TypedEdge::new(*from, *to, *kind)))
/// };
/// let truth = graph(&[("a", "b", "leads to"), ("b", "c", "leads to")])?;
/// let prediction = graph(&[("a", "b", "leads to"), ("b", "c", "beside"), ("a", "c", "beside")])?;
///
/// let metric = AlignedGraphs::default().with_nodes(NodeRule::Key);
/// let state = metric.measure(&prediction, &truth);
/// let edges = state.kinds.micro();
/// assert_eq!(edges.counts, Counts::new(1, 2, 1));
/// assert_eq!((edges.false_positives.other_kind, edges.false_positives.no_edge), (1, 1));
/// let score = metric.compute(&state);
/// assert_eq!(score.edges.precision, Some(1.0 / 3.0));
/// // "leads to": 1 of 1; "beside": 0 of 2.
/// assert_eq!(score.edges_by_kind.precision.value, Some(0.5));
/// # Ok::<(), metric_graph::InvalidGraph>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AlignedGraphs {
    /// The rule by which nodes are aligned.
    pub nodes: NodeRule,
    /// The rules for nodes of these classes, if they differ.
    pub rules_by_class: BTreeMap<String, NodeRule>,
    /// Kinds of edges without direction.
    pub undirected: BTreeSet<String>,
    /// The way in which several edges of a kind between two nodes count.
    pub parallel: Duplicates,
    /// Whether edges from a node to itself are left out.
    pub drop_loops: bool,
    /// The `K` of recall@K.
    pub recall_at: BTreeSet<usize>,
    /// Whether only the most confident of the edges between two nodes, by direction, takes part in
    /// recall@K ("graph constraint").
    pub one_per_pair: bool,
}

setters!(AlignedGraphs {
    with_nodes => nodes: NodeRule,
    with_rules_by_class => rules_by_class: BTreeMap<String, NodeRule>,
    with_undirected => undirected: BTreeSet<String>,
    with_parallel => parallel: Duplicates,
    with_drop_loops => drop_loops: bool,
    with_recall_at => recall_at: BTreeSet<usize>,
    with_one_per_pair => one_per_pair: bool,
});

/// The rule by which predicted nodes are aligned with true ones of the same class.
///
/// Times and memory are for `n` predicted and `m` true nodes of a class; to compare two nodes takes
/// as long as they have properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeRule {
    /// Nodes with the same key. Time `O((n + m) log(n + m))`, memory `O(n + m)`.
    Key,
    /// Nodes with equal properties; of several equal ones, those that share most edges. Costs the
    /// sorting of the nodes, and what [`Optimal`](Self::Optimal) costs for each group of equal ones.
    Properties,
    /// The one-to-one choice with the most equal properties in total, and among those the most
    /// shared edges in total. All `n m` pairs are compared and held in memory (at 32 bytes each, a
    /// few times over): 1,000 nodes on both sides are 1,000,000 pairs. Then one
    /// [`assign`](metric_core::assignment::assign), in the worst case `O(k n m log(n m))` for the
    /// smaller side `k`, commonly far less.
    #[default]
    Optimal,
    /// The pair with the fewest different properties first, then that of the nodes that are left,
    /// and so on. Time `O(n m log(n m))`; all `n m` pairs are compared and held in memory.
    GreedyCheapest,
    /// Predicted nodes in descending order of confidence, each with the true node from which it differs in the fewest
    /// properties, if that is free. Time and memory `O(n m)`.
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

    /// Returns the name of the choice.
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

    /// Whether edges to nodes that are aligned decide between equal choices.
    pub(crate) const fn uses_edges(self) -> bool {
        matches!(self, Self::Properties | Self::Optimal)
    }
}

named_choice!(NodeRule, "node rule");
