use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use metric_core::named_choice;
use petgraph::graph::UnGraph;

use crate::Properties;

/// The id of a lane (MapDR: of a centerline).
///
/// 7 and `"7"` are different ids; [`LaneIds::Text`] treats them as one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneId {
    /// A number, as in MapDR's labels.
    Integer(i64),
    /// A string.
    Text(String),
}

impl LaneId {
    /// Returns an integer if `text` is one in the usual form (`"7"`, not `"07"`), otherwise text:
    /// the id that a key of a JSON object stands for, where it cannot be a number.
    ///
    /// ```
    /// use metric_graph::LaneId;
    ///
    /// assert_eq!(LaneId::from_key("7"), LaneId::Integer(7));
    /// assert_eq!(LaneId::from_key("07"), LaneId::Text("07".to_owned()));
    /// ```
    #[must_use]
    pub fn from_key(text: &str) -> Self {
        match LaneKey::of_text(text) {
            LaneKey::Integer(id) => Self::Integer(id),
            LaneKey::Text(id) => Self::Text(id.to_owned()),
        }
    }

    pub(crate) fn key(&self, lane_ids: LaneIds) -> LaneKey<'_> {
        match (self, lane_ids) {
            (Self::Integer(id), _) => LaneKey::Integer(*id),
            (Self::Text(id), LaneIds::Strict) => LaneKey::Text(id),
            (Self::Text(id), LaneIds::Text) => LaneKey::of_text(id),
        }
    }
}

impl From<i64> for LaneId {
    fn from(id: i64) -> Self {
        Self::Integer(id)
    }
}

impl From<&str> for LaneId {
    fn from(id: &str) -> Self {
        Self::Text(id.to_owned())
    }
}

impl From<String> for LaneId {
    fn from(id: String) -> Self {
        Self::Text(id)
    }
}

impl fmt::Display for LaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(id) => write!(f, "{id}"),
            Self::Text(id) => write!(f, "{id:?}"),
        }
    }
}

/// A lane id as it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LaneKey<'a> {
    Integer(i64),
    Text(&'a str),
}

impl<'a> LaneKey<'a> {
    fn of_text(text: &'a str) -> Self {
        let integer = text.parse::<i64>().ok();
        integer
            .filter(|id| id.to_string() == text)
            .map_or(Self::Text(text), Self::Integer)
    }
}

/// The condition under which two lane ids are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LaneIds {
    /// Same type and same value: 7 and `"7"` differ. The behavior of the reference implementation.
    #[default]
    Strict,
    /// Same text: 7 and `"7"` are one lane, `"07"` is another. MapDR itself writes integers in its
    /// labels and strings in its maps, and models copy either.
    Text,
}

impl LaneIds {
    /// Every choice.
    pub const ALL: &[Self] = &[Self::Strict, Self::Text];

    /// Returns the name of the choice.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Text => "text",
        }
    }
}

named_choice!(LaneIds, "lane ids");

/// A traffic rule: its properties, and the lanes that it applies to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The properties of the rule (`attr_info`). `None` where a model was given the rules and only
    /// told their lanes; it compares like no properties at all.
    pub properties: Option<Properties>,
    /// The lanes the rule holds for (`centerline`), in any order.
    pub lanes: Vec<LaneId>,
}

impl Rule {
    /// Returns a rule with these `properties`, which applies to `lanes`.
    pub fn new<L: Into<LaneId>>(
        properties: Properties,
        lanes: impl IntoIterator<Item = L>,
    ) -> Self {
        Self {
            properties: Some(properties),
            ..Self::of_lanes(lanes)
        }
    }

    /// Returns the lanes alone, for a rule that was given.
    pub fn of_lanes<L: Into<LaneId>>(lanes: impl IntoIterator<Item = L>) -> Self {
        Self {
            properties: None,
            lanes: lanes.into_iter().map(Into::into).collect(),
        }
    }
}

/// The rules of one scene by their ids, with the lanes that each applies to: a bipartite graph.
///
/// The order in which rules are given has no meaning; they are kept by id, `"2"` before `"10"`.
///
/// With the feature `read` a clip is read from MapDR's label files:
/// `{"0": {"attr_info": {"LaneType": "BusLane"}, "centerline": [7]}}`. Other fields are ignored,
/// `attr_info` may be absent, and a rule or property given twice is an error.
///
/// ```
/// use metric_graph::{Clip, Properties, Rule};
///
/// let bus = Rule::new(Properties::new([("LaneType", "BusLane")])?, [7, 8]);
/// let clip = Clip::new([("0", bus.clone())])?;
/// assert_eq!(clip.rule("0"), Some(&bus));
///
/// let twice = Clip::new([("0", bus.clone()), ("0", bus)]);
/// assert_eq!(twice.unwrap_err().to_string(), "rule \"0\" is given twice");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clip {
    /// Sorted by id, ids unique.
    rules: Vec<(String, Rule)>,
    centerlines: Option<BTreeSet<LaneId>>,
}

impl Clip {
    /// Returns the clip with these rules.
    ///
    /// # Errors
    /// Returns an error if a rule id is given twice.
    pub fn new<I: Into<String>>(
        rules: impl IntoIterator<Item = (I, Rule)>,
    ) -> Result<Self, DuplicateRule> {
        let rules = rules.into_iter();
        let mut rules: Vec<_> = rules.map(|(id, rule)| (id.into(), rule)).collect();
        rules.sort_by(|a, b| compare_ids(&a.0, &b.0));
        for neighbours in rules.windows(2) {
            if let [(rule, _), (next, _)] = neighbours
                && rule == next
            {
                return Err(DuplicateRule { rule: rule.clone() });
            }
        }
        Ok(Self {
            rules,
            centerlines: None,
        })
    }

    /// Returns the same clip, with the centerlines that its map has. Only
    /// [findings](crate::LaneCorrespondence::findings) look at them.
    #[must_use]
    pub fn with_centerlines<L: Into<LaneId>>(
        mut self,
        centerlines: impl IntoIterator<Item = L>,
    ) -> Self {
        self.centerlines = Some(centerlines.into_iter().map(Into::into).collect());
        self
    }

    /// Returns the centerlines of the map, where they are known.
    #[must_use]
    pub fn centerlines(&self) -> Option<&BTreeSet<LaneId>> {
        self.centerlines.as_ref()
    }

    /// Returns the rules with their ids, by id.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (&str, &Rule)> {
        self.rules.iter().map(|(id, rule)| (id.as_str(), rule))
    }

    /// Returns the rule `id`.
    #[must_use]
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        let index = self
            .rules
            .binary_search_by(|(other, _)| compare_ids(other, id));
        index
            .ok()
            .and_then(|index| self.rules.get(index))
            .map(|(_, rule)| rule)
    }

    /// The clip with each rule changed, under the same ids and with the same centerlines.
    pub(crate) fn map_rules(&self, change: impl Fn(&Rule) -> Rule) -> Self {
        let rules = self.rules.iter();
        Self {
            rules: rules.map(|(id, rule)| (id.clone(), change(rule))).collect(),
            centerlines: self.centerlines.clone(),
        }
    }

    /// The rule at a position in the order of ids.
    pub(crate) fn rule_at(&self, index: usize) -> Option<&Rule> {
        self.rules.get(index).map(|(_, rule)| rule)
    }

    /// Returns the number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Returns whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the correspondence graph: the rules by id, then the lanes that a rule names or the
    /// map has, by lane id, and an edge wherever a rule names a lane (two if it names it twice).
    ///
    /// For the algorithms and the drawing of `petgraph`. Lane ids are compared strictly.
    ///
    /// ```
    /// use metric_graph::{Clip, Rule};
    /// use petgraph::algo::connected_components;
    ///
    /// let clip = Clip::new([("a", Rule::of_lanes([1, 2])), ("b", Rule::of_lanes([2])), ("c", Rule::of_lanes([3]))])?;
    /// let graph = clip.graph();
    /// assert_eq!((graph.node_count(), graph.edge_count()), (6, 4));
    /// assert_eq!(connected_components(&graph), 2); // a and b share lane 2
    /// # Ok::<(), metric_graph::DuplicateRule>(())
    /// ```
    #[must_use]
    pub fn graph(&self) -> UnGraph<Node<'_>, ()> {
        let mut graph = UnGraph::default();
        let named = self.rules.iter().flat_map(|(_, rule)| &rule.lanes);
        let lanes: BTreeSet<&LaneId> = named.chain(self.centerlines.iter().flatten()).collect();
        let rules: Vec<_> = self
            .rules()
            .map(|(id, rule)| (graph.add_node(Node::Rule(id)), rule))
            .collect();
        let lanes: BTreeMap<&LaneId, _> = lanes
            .into_iter()
            .map(|lane| (lane, graph.add_node(Node::Lane(lane))))
            .collect();
        for (node, rule) in rules {
            for lane in rule.lanes.iter().filter_map(|lane| lanes.get(lane)) {
                graph.add_edge(node, *lane, ());
            }
        }
        graph
    }
}

/// A node of the [correspondence graph](Clip::graph).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node<'a> {
    /// A rule, by its id.
    Rule(&'a str),
    /// A lane.
    Lane(&'a LaneId),
}

/// The order of rule ids: those of digits only by value, then the others by code points.
pub(crate) fn compare_ids(a: &str, b: &str) -> Ordering {
    let digits = |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
    match (digits(a), digits(b)) {
        (true, true) => {
            // Without leading zeros the longer number is the greater one, however long.
            let (x, y) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
            (x.len(), x, a.len()).cmp(&(y.len(), y, b.len()))
        }
        (a_digits, b_digits) => b_digits.cmp(&a_digits).then(a.cmp(b)),
    }
}

/// The error for a rule id that is given twice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DuplicateRule {
    /// The id.
    pub rule: String,
}

impl fmt::Display for DuplicateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {:?} is given twice", self.rule)
    }
}

impl std::error::Error for DuplicateRule {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_integers() {
        let rows: &[(&str, LaneId)] = &[
            ("0", 0.into()),
            ("-3", (-3).into()),
            ("9223372036854775807", i64::MAX.into()),
            ("9223372036854775808", "9223372036854775808".into()),
            ("-0", "-0".into()),
            ("+3", "+3".into()),
            ("03", "03".into()),
            (" 3", " 3".into()),
            ("3.0", "3.0".into()),
            ("", "".into()),
        ];
        for (text, expected) in rows {
            assert_eq!(LaneId::from_key(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn order_of_ids() {
        let ids = [
            "0",
            "00",
            "1",
            "2",
            "02",
            "10",
            "99999999999999999999",
            "",
            "-1",
            "1a",
            "a",
        ];
        for (i, a) in ids.iter().enumerate() {
            for (j, b) in ids.iter().enumerate() {
                assert_eq!(compare_ids(a, b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn graph_of_nothing_and_of_lanes_alone() {
        assert_eq!(Clip::default().graph().node_count(), 0);
        let clip = Clip::default().with_centerlines([2, 1]);
        let graph = clip.graph();
        let nodes: Vec<_> = graph.node_weights().copied().collect();
        assert_eq!(
            nodes,
            [
                Node::Lane(&LaneId::Integer(1)),
                Node::Lane(&LaneId::Integer(2))
            ]
        );
    }

    #[test]
    fn a_lane_named_twice_is_two_edges() {
        let clip = Clip::new([("a", Rule::of_lanes([1, 1]))]).unwrap_or_default();
        let graph = clip.graph();
        assert_eq!((graph.node_count(), graph.edge_count()), (2, 2));
    }
}
