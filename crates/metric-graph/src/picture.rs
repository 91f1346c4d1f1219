use std::collections::BTreeMap;
use std::fmt::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::breakdown::written;
use crate::clip::LaneKey;
use crate::{
    AlignedGraphs, Alignment, Clip, EdgeOutcome, LaneCorrespondence, LaneId, NodeAlignment,
    Properties, Rule, TypedGraph,
};

/// The correct and the incorrect parts of one example, as two columns of nodes with edges between them.
///
/// Correct, wrong and missed items differ in color and in shape, so that a print in black and white
/// can be read: circles and full lines are correct, crossed squares and dashed lines were predicted
/// but are not true, and diamonds and dotted lines are true but were not predicted.
///
/// ```
/// use metric_graph::{Clip, LaneCorrespondence, Properties, Rule};
///
/// let rule = |kind, lane: i64| Properties::new([("LaneType", kind)]).map(|says| Rule::new(says, [lane]));
/// let truth = Clip::new([("0", rule("BusLane", 7)?)])?;
/// let prediction = Clip::new([("0", rule("BusLane", 8)?)])?;
/// let picture = LaneCorrespondence::default().picture("a clip", &prediction, &truth);
/// assert_eq!((picture.left.len(), picture.right.len(), picture.links.len()), (1, 2, 2));
/// assert!(picture.svg().starts_with("<svg "));
/// assert!(picture.dot().starts_with("graph {"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The caption above.
    pub title: String,
    /// The left column, from above: in a clip its rules.
    pub left: Vec<PictureNode>,
    /// The right column, from above: in a clip its lanes. The pictures of this crate have it in the
    /// order of the mean positions of what it is linked with on the left.
    pub right: Vec<PictureNode>,
    /// Edges between the columns. One with an end that is not there is not drawn.
    pub links: Vec<PictureLink>,
}

/// A node of a [`Picture`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureNode {
    /// The text of the node; it may have several lines.
    pub label: String,
    /// Its outcome.
    pub mark: Mark,
}

/// An edge of a [`Picture`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PictureLink {
    /// The position of its node in the left column.
    pub left: usize,
    /// The position of its node in the right column.
    pub right: usize,
    /// Its outcome.
    pub mark: Mark,
    /// Its text; may be empty.
    pub label: String,
}

/// The outcome of a node or an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Predicted and true.
    Right,
    /// Predicted and not true.
    Wrong,
    /// True and not predicted.
    Missed,
}

impl Mark {
    /// Every mark.
    pub const ALL: &[Self] = &[Self::Right, Self::Wrong, Self::Missed];

    pub(crate) const fn from_sides(predicted: bool, actual: bool) -> Self {
        match (predicted, actual) {
            (true, true) => Self::Right,
            (true, false) => Self::Wrong,
            _ => Self::Missed,
        }
    }

    const fn style(self) -> Style {
        // Colors that are told apart with color blindness as well (Okabe and Ito).
        match self {
            Self::Right => Style {
                name: "right",
                colour: "#009e73",
                dashes: "none",
                line: "solid",
                shape: "ellipse",
            },
            Self::Wrong => Style {
                name: "wrong",
                colour: "#d55e00",
                dashes: "9 5",
                line: "dashed",
                shape: "box",
            },
            Self::Missed => Style {
                name: "missed",
                colour: "#0072b2",
                dashes: "2 5",
                line: "dotted",
                shape: "diamond",
            },
        }
    }

    /// The sign of a node, with its middle there.
    fn sign(self, x: f64, y: f64) -> String {
        let colour = self.style().colour;
        match self {
            Self::Right => format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"6\" fill=\"{colour}\"/>"),
            Self::Wrong => {
                let (left, top, right, bottom) = (x - 6.0, y - 6.0, x + 6.0, y + 6.0);
                format!(
                    "<path d=\"M{left} {top}H{right}V{bottom}H{left}Z\" fill=\"#fff\" stroke=\"{colour}\" stroke-width=\"2\"/>\
                     <path d=\"M{left} {top}L{right} {bottom}M{right} {top}L{left} {bottom}\" stroke=\"{colour}\" stroke-width=\"2\"/>"
                )
            }
            Self::Missed => {
                let (left, top, right, bottom) = (x - 8.0, y - 8.0, x + 8.0, y + 8.0);
                format!(
                    "<path d=\"M{x} {top}L{right} {y}L{x} {bottom}L{left} {y}Z\" fill=\"#fff\" stroke=\"{colour}\" stroke-width=\"2\"/>"
                )
            }
        }
    }
}

struct Style {
    name: &'static str,
    colour: &'static str,
    dashes: &'static str,
    line: &'static str,
    shape: &'static str,
}

const LEFT: f64 = 440.0;
/// From the left column to the right one: at least this, and this share of the height, so that the
/// edges of a high picture are not all steep.
const GAP: (f64, f64) = (250.0, 0.4);
/// For what is said on the right.
const MARGIN: f64 = 310.0;
const LINE: f64 = 17.0;
const TOP: f64 = 56.0;
/// Longer lines are cut: on the left, on the right and at edges. A character is one or two columns
/// wide, as in a terminal.
const COLUMNS: [usize; 3] = [58, 40, 30];
/// The width of a column of the title.
const TITLE_COLUMN: f64 = 10.0;

impl Picture {
    /// Returns the picture as a file of Scalable Vector Graphics.
    #[must_use]
    pub fn svg(&self) -> String {
        let (left, left_end) = positions(&self.left);
        let (right, right_end) = positions(&self.right);
        let height = left_end.max(right_end) + 44.0;
        let right_x = LEFT + GAP.0.max((GAP.1 * height).round());
        let width = right_x + MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text x=\"16\" y=\"28\" font-size=\"16\" font-weight=\"bold\">{}</text>\n",
            escaped(&cut(&self.title, ((width - 32.0) / TITLE_COLUMN) as usize))
        );
        self.draw_links(&mut svg, [&left, &right], right_x);
        let left_text = (LEFT - 16.0, "end");
        draw_nodes(&mut svg, &self.left, &left, COLUMNS[0], LEFT, left_text);
        let right_text = (right_x + 16.0, "start");
        draw_nodes(
            &mut svg,
            &self.right,
            &right,
            COLUMNS[1],
            right_x,
            right_text,
        );
        draw_legend(&mut svg, height - 18.0);
        svg.push_str("</svg>\n");
        svg
    }

    /// Draws the links between nodes at these heights. Two between the same nodes bend in different ways.
    fn draw_links(&self, svg: &mut String, [left, right]: [&[f64]; 2], right_x: f64) {
        let mut drawn: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for link in &self.links {
            let (Some(from), Some(to)) = (left.get(link.left), right.get(link.right)) else {
                continue;
            };
            let times = drawn.entry((link.left, link.right)).or_default();
            let bend = f64::from(*times) * 14.0;
            *times += 1;
            let (x, y) = (
                f64::midpoint(LEFT, right_x),
                f64::midpoint(*from, *to) + bend / 2.0,
            );
            let Style {
                colour,
                dashes,
                name,
                ..
            } = link.mark.style();
            let _ = writeln!(
                svg,
                "<g class=\"edge {name}\"><path d=\"M{LEFT} {from}Q{x} {} {right_x} {to}\" fill=\"none\" stroke=\"{colour}\" \
                 stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>",
                f64::midpoint(*from, *to) + bend
            );
            if !link.label.is_empty() {
                let _ = writeln!(
                    svg,
                    "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\" fill=\"{colour}\">{}</text>",
                    y - 4.0,
                    escaped(&cut(&link.label, COLUMNS[2]))
                );
            }
            svg.push_str("</g>\n");
        }
    }

    /// Returns the picture in the DOT language, for Graphviz.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut dot = format!(
            "graph {{\n  label={};\n  labelloc=t;\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n",
            quoted(&self.title)
        );
        for (side, nodes) in [("l", &self.left), ("r", &self.right)] {
            let _ = writeln!(dot, "  subgraph {side} {{\n    rank=same;");
            for (position, node) in nodes.iter().enumerate() {
                let Style {
                    colour,
                    shape,
                    line,
                    ..
                } = node.mark.style();
                let _ = writeln!(
                    dot,
                    "    {side}{position} [label={}, shape={shape}, style={line}, color=\"{colour}\"];",
                    quoted(&node.label)
                );
            }
            dot.push_str("  }\n");
        }
        for link in &self.links {
            if link.left >= self.left.len() || link.right >= self.right.len() {
                continue;
            }
            let Style { colour, line, .. } = link.mark.style();
            let _ = writeln!(
                dot,
                "  l{} -- r{} [label={}, style={line}, color=\"{colour}\"];",
                link.left,
                link.right,
                quoted(&link.label)
            );
        }
        dot.push_str("}\n");
        dot
    }
}

impl Picture {
    /// The picture of nodes in one list, with edges from one to another, their texts last: on the
    /// left the nodes that edges come from, and those without edges; on the right the nodes that
    /// edges go to. A node can be on both sides.
    pub(crate) fn in_columns(
        title: &str,
        nodes: &[PictureNode],
        links: Vec<(usize, usize, Mark, &str)>,
    ) -> Self {
        let mut is_source = vec![false; nodes.len()];
        let mut is_target = vec![false; nodes.len()];
        for (source, target, ..) in &links {
            for (ends, end) in [(&mut is_source, source), (&mut is_target, target)] {
                if let Some(end) = ends.get_mut(*end) {
                    *end = true;
                }
            }
        }
        let column =
            |wanted: &dyn Fn(usize) -> bool| -> (Vec<PictureNode>, BTreeMap<usize, usize>) {
                let positions: Vec<usize> = (0..nodes.len())
                    .filter(|position| wanted(*position))
                    .collect();
                let column = positions
                    .iter()
                    .filter_map(|position| nodes.get(*position).cloned());
                (
                    column.collect(),
                    positions.iter().copied().zip(0..).collect(),
                )
            };
        let has = |ends: &[bool], position: usize| ends.get(position) == Some(&true);
        let (left, left_positions) =
            column(&|position| has(&is_source, position) || !has(&is_target, position));
        let (right, right_positions) = column(&|position| has(&is_target, position));
        let links = links
            .into_iter()
            .filter_map(|(source, target, mark, kind)| {
                Some(PictureLink {
                    left: *left_positions.get(&source)?,
                    right: *right_positions.get(&target)?,
                    mark,
                    label: kind.to_owned(),
                })
            });
        let picture = Picture {
            title: title.to_owned(),
            links: links.collect(),
            left,
            right,
        };
        picture.untangled()
    }

    /// The nodes on the right by the mean position of those they are linked with, so that fewer edges
    /// cross; those without edges last, equal ones in their order.
    fn untangled(mut self) -> Self {
        // The sum of the positions, and how many.
        let mut linked = vec![(0_u64, 0_u64); self.right.len()];
        for link in &self.links {
            if let Some((sum, count)) = linked.get_mut(link.right) {
                (*sum, *count) = (*sum + link.left as u64, *count + 1);
            }
        }
        let mut order: Vec<(usize, PictureNode)> = self.right.drain(..).enumerate().collect();
        order.sort_by(|&(a, _), &(b, _)| {
            let ((a, of_a), (b, of_b)) = (linked[a], linked[b]);
            let alone = (of_a == 0).cmp(&(of_b == 0));
            alone.then((u128::from(a) * u128::from(of_b)).cmp(&(u128::from(b) * u128::from(of_a))))
        });
        let mut position_of = vec![0; order.len()];
        for (position, (before, node)) in order.into_iter().enumerate() {
            position_of[before] = position;
            self.right.push(node);
        }
        for link in &mut self.links {
            link.right = position_of[link.right];
        }
        self
    }
}

/// Draws the nodes of one side: a sign, and its label next to it, whose lines are cut.
fn draw_nodes(
    svg: &mut String,
    nodes: &[PictureNode],
    positions: &[f64],
    columns: usize,
    x: f64,
    (text_x, anchor): (f64, &str),
) {
    for (node, y) in nodes.iter().zip(positions) {
        let _ = writeln!(
            svg,
            "<g class=\"node {}\">{}",
            node.mark.style().name,
            node.mark.sign(x, *y)
        );
        for (row, line) in node.label.lines().enumerate() {
            let _ = writeln!(
                svg,
                "<text x=\"{text_x}\" y=\"{}\" text-anchor=\"{anchor}\"{}>{}</text>",
                y + 4.0 + LINE * row as f64,
                if row == 0 { "" } else { " fill=\"#555\"" },
                escaped(&cut(line, columns))
            );
        }
        svg.push_str("</g>\n");
    }
}

/// Draws each mark with its name.
fn draw_legend(svg: &mut String, y: f64) {
    for (position, mark) in Mark::ALL.iter().enumerate() {
        let x = 24.0 + 200.0 * position as f64;
        let Style {
            colour,
            dashes,
            name,
            ..
        } = mark.style();
        let _ = writeln!(
            svg,
            "{}<path d=\"M{} {y}H{}\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>\
             <text x=\"{}\" y=\"{}\">{name}</text>",
            mark.sign(x, y),
            x + 14.0,
            x + 70.0,
            x + 80.0,
            y + 4.0
        );
    }
}

/// The height of each node, and the end of the column.
fn positions(nodes: &[PictureNode]) -> (Vec<f64>, f64) {
    let mut y = TOP + LINE / 2.0;
    let positions = nodes
        .iter()
        .map(|node| {
            let position = y;
            y += LINE * node.label.lines().count().max(1) as f64 + 14.0;
            position
        })
        .collect();
    (positions, y)
}

fn cut(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    // The sign of what is left out takes one column.
    let mut width = 1;
    let start = line.chars().take_while(|c| {
        width += c.width().unwrap_or(1);
        width <= columns
    });
    start.chain(['\u{2026}']).collect()
}

/// Text in XML, which has no control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A string of DOT.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\0' => quoted.push('\u{fffd}'),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

impl LaneCorrespondence {
    /// Returns a clip as a picture: the rules on the left, a predicted rule and the true one it is matched with as one
    /// node, and the lanes that rules name on the right. A rule is correct if its properties are; misread values are
    /// below its id. Under [`Alignment::Given`], and where the predicted rule has no properties, a rule is correct if
    /// it is on both sides.
    #[must_use]
    pub fn picture(&self, title: &str, prediction: &Clip, reference: &Clip) -> Picture {
        let aligned = self.align(prediction, reference);
        let true_of: BTreeMap<&str, &str> = aligned
            .iter()
            .map(|pair| (pair.prediction, pair.reference))
            .collect();
        let found: BTreeMap<&str, &str> = aligned
            .iter()
            .map(|pair| (pair.reference, pair.prediction))
            .collect();
        // The true rules in their order, then the predicted ones that stand for none.
        let truths = reference.rules().map(|(id, rule)| {
            let partner = found.get(id).copied();
            (
                Some((id, rule)),
                partner.and_then(|id| Some((id, prediction.rule(id)?))),
            )
        });
        let others = prediction
            .rules()
            .filter(|(id, _)| !true_of.contains_key(id))
            .map(|(id, rule)| (None, Some((id, rule))));

        let mut picture = Picture {
            title: title.to_owned(),
            ..Picture::default()
        };
        let mut lanes: BTreeMap<LaneKey<'_>, (&LaneId, [bool; 2])> = BTreeMap::new();
        let mut links: Vec<(usize, LaneKey<'_>, Mark)> = Vec::new();
        for (position, (truth, predicted)) in truths.chain(others).enumerate() {
            picture.left.push(self.rule_node(truth, predicted));
            let mut sides: BTreeMap<LaneKey<'_>, [bool; 2]> = BTreeMap::new();
            for (side, rule) in [predicted, truth].into_iter().enumerate() {
                for lane in rule.iter().flat_map(|(_, rule)| &rule.lanes) {
                    let key = lane.key(self.lane_ids);
                    let named = [side == 0, side == 1];
                    let add = |all: &mut [bool; 2]| {
                        all.iter_mut().zip(named).for_each(|(all, new)| *all |= new);
                    };
                    add(sides.entry(key).or_default());
                    add(&mut lanes.entry(key).or_insert((lane, [false; 2])).1);
                }
            }
            let of_rule = sides.into_iter();
            links.extend(of_rule.map(|(lane, [p, t])| (position, lane, Mark::from_sides(p, t))));
        }
        let positions: BTreeMap<LaneKey<'_>, usize> = lanes.keys().copied().zip(0..).collect();
        picture.right = lanes
            .values()
            .map(|(lane, [predicted, actual])| PictureNode {
                label: format!("lane {lane}"),
                mark: Mark::from_sides(*predicted, *actual),
            })
            .collect();
        picture.links = links
            .into_iter()
            .filter_map(|(left, lane, mark)| {
                Some(PictureLink {
                    left,
                    right: *positions.get(&lane)?,
                    mark,
                    label: String::new(),
                })
            })
            .collect();
        picture.untangled()
    }

    fn rule_node(
        &self,
        truth: Option<(&str, &Rule)>,
        predicted: Option<(&str, &Rule)>,
    ) -> PictureNode {
        let unread = predicted.is_some_and(|(_, rule)| rule.properties.is_none());
        let compared = self.alignment != Alignment::Given && !unread;
        let says = |rule: &Rule| {
            if !compared {
                return Properties::default();
            }
            let all = rule
                .properties
                .as_ref()
                .map(|says| self.equality.canonical(says));
            all.unwrap_or_default()
        };
        let (Some((id, truth)), Some((other, predicted))) = (truth, predicted) else {
            let side = if truth.is_some() {
                "rule"
            } else {
                "predicted rule"
            };
            let (id, rule) = match truth.or(predicted) {
                Some((id, rule)) => (id, says(rule)),
                None => ("", says(&Rule::default())),
            };
            let lines = rule
                .iter()
                .filter(|(name, _)| !self.ignore.contains(*name))
                .map(|(name, value)| format!("\n{name}: {}", written(Some(value))));
            return PictureNode {
                label: format!("{side} {id}") + &lines.collect::<String>(),
                mark: Mark::from_sides(predicted.is_some(), truth.is_some()),
            };
        };
        let (truth, predicted) = (says(truth), says(predicted));
        let mut names: Vec<&str> = truth
            .iter()
            .chain(predicted.iter())
            .map(|(n, _)| n)
            .collect();
        names.sort_unstable();
        names.dedup();
        let lines: String = names
            .into_iter()
            .filter(|name| !self.ignore.contains(*name) && truth.get(name) != predicted.get(name))
            .map(|name| {
                let [was, read] = [&truth, &predicted].map(|says| written(says.get(name)));
                let line = format!("{name}: {was} \u{2192} {read}");
                if line.width() <= COLUMNS[0] {
                    format!("\n{line}")
                } else {
                    format!("\n{name}: {was}\n\u{2192} {read}")
                }
            })
            .collect();
        PictureNode {
            mark: Mark::from_sides(true, lines.is_empty()),
            label: if id == other {
                format!("rule {id}") + &lines
            } else {
                format!("rule {id}, predicted as {other}") + &lines
            },
        }
    }
}

impl AlignedGraphs {
    /// Draws two graphs, under this alignment of their nodes: on the left the nodes that edges come
    /// from, and those without edges; on the right the nodes that edges go to.
    #[must_use]
    pub fn picture(
        &self,
        title: &str,
        prediction: &TypedGraph,
        reference: &TypedGraph,
        alignment: &NodeAlignment,
    ) -> Picture {
        let comparison = self.compare(prediction, reference, alignment);
        // The true nodes in their order, then the predicted ones that stand for none.
        let mut nodes: Vec<PictureNode> = (0..reference.nodes())
            .map(|actual| {
                let predicted = alignment.found(actual);
                let other = predicted.and_then(|position| prediction.node(position));
                let node = reference.node(actual);
                let equal = |(a, b): (&crate::TypedNode, &crate::TypedNode)| {
                    a.class == b.class && a.properties == b.properties
                };
                PictureNode {
                    label: label(reference, actual, predicted.and_then(|p| prediction.key(p))),
                    mark: match other {
                        None => Mark::Missed,
                        Some(other) => {
                            Mark::from_sides(true, node.is_some_and(|node| equal((node, other))))
                        }
                    },
                }
            })
            .collect();
        let mut position_of: Vec<usize> = Vec::new();
        for predicted in 0..prediction.nodes() {
            position_of.push(alignment.partner(predicted).unwrap_or_else(|| {
                nodes.push(PictureNode {
                    label: label(prediction, predicted, None),
                    mark: Mark::Wrong,
                });
                nodes.len() - 1
            }));
        }
        let mut links = Vec::new();
        for (edge, outcome) in prediction.edges().zip(&comparison.predicted) {
            let ends = (position_of.get(edge.source), position_of.get(edge.target));
            if let (Some(source), Some(target)) = ends {
                let mark = match outcome {
                    EdgeOutcome::LeftOut => continue,
                    EdgeOutcome::Right => Mark::Right,
                    _ => Mark::Wrong,
                };
                links.push((*source, *target, mark, edge.kind));
            }
        }
        for (edge, outcome) in reference.edges().zip(&comparison.actual) {
            if !matches!(outcome, EdgeOutcome::LeftOut | EdgeOutcome::Right) {
                links.push((edge.source, edge.target, Mark::Missed, edge.kind));
            }
        }
        Picture::in_columns(title, &nodes, links)
    }
}

fn label(graph: &TypedGraph, position: usize, other: Option<&str>) -> String {
    let key = graph.key(position).unwrap_or_default();
    let class = graph.node(position).map_or("", |node| node.class.as_str());
    match other {
        Some(other) if other != key => format!("{class} {key}, predicted as {other}"),
        _ => format!("{class} {key}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TypedEdge, TypedNode};

    fn rule(kind: &str, lanes: &[i64]) -> Rule {
        let says = Properties::new([("LaneType", kind)]).unwrap_or_default();
        Rule::new(says, lanes.iter().copied())
    }

    #[test]
    fn a_clip() {
        let truth = Clip::new([("0", rule("Bus", &[1, 2])), ("1", rule("Turn", &[3]))]);
        let prediction = Clip::new([("a", rule("Bus", &[1, 4, 4])), ("b", rule("<&\">", &[3]))]);
        let (Ok(truth), Ok(prediction)) = (truth, prediction) else {
            panic!("clips");
        };
        let picture = LaneCorrespondence::default().picture("t", &prediction, &truth);
        let nodes = |nodes: &[PictureNode]| -> Vec<(String, Mark)> {
            nodes.iter().map(|n| (n.label.clone(), n.mark)).collect()
        };
        let named = |text: &str, mark| (text.to_owned(), mark);
        assert_eq!(
            nodes(&picture.left),
            [
                named("rule 0, predicted as a", Mark::Right),
                named(
                    "rule 1, predicted as b\nLaneType: Turn \u{2192} <&\">",
                    Mark::Wrong
                ),
            ]
        );
        assert_eq!(
            nodes(&picture.right),
            [
                named("lane 1", Mark::Right),
                named("lane 2", Mark::Missed),
                named("lane 4", Mark::Wrong),
                named("lane 3", Mark::Right),
            ]
        );
        let links: Vec<_> = picture
            .links
            .iter()
            .map(|l| (l.left, l.right, l.mark))
            .collect();
        assert_eq!(
            links,
            [
                (0, 0, Mark::Right),
                (0, 1, Mark::Missed),
                (0, 2, Mark::Wrong),
                (1, 3, Mark::Right),
            ]
        );
        let svg = picture.svg();
        assert!(svg.contains("Turn \u{2192} &lt;&amp;&quot;&gt;"));
        assert_eq!(svg.matches("class=\"edge ").count(), 4);
        assert_eq!(svg.matches("class=\"node ").count(), 6);
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        let dot = picture.dot();
        assert!(dot.contains("\\\">\", shape=box"));
        assert_eq!(dot.matches(" -- ").count(), 4);
    }

    #[test]
    fn marks_and_parallel_edges_are_told_apart() {
        let node = |label: &str| PictureNode {
            label: label.to_owned(),
            mark: Mark::Right,
        };
        let link = |mark| PictureLink {
            left: 0,
            right: 0,
            mark,
            label: String::new(),
        };
        let picture = Picture {
            left: vec![node("a")],
            right: vec![node("b")],
            links: Mark::ALL.iter().map(|mark| link(*mark)).collect(),
            ..Picture::default()
        };
        let svg = picture.svg();
        let edges: Vec<&str> = svg
            .split("<g ")
            .filter(|g| g.starts_with("class=\"edge "))
            .collect();
        let attribute = |name: &str| -> std::collections::BTreeSet<&str> {
            let value = |edge: &&'_ str| {
                let start = edge.find(name).map_or(edge.len(), |at| at + name.len());
                start
                    ..edge[start..]
                        .find('"')
                        .map_or(edge.len(), |end| start + end)
            };
            edges.iter().map(|edge| &edge[value(edge)]).collect()
        };
        for name in [" d=\"", " stroke-dasharray=\"", " stroke=\""] {
            assert_eq!(attribute(name).len(), 3, "{name} {svg}");
        }
        let dot = picture.dot();
        for line in ["solid", "dashed", "dotted"] {
            assert!(dot.contains(&format!("style={line}, color=")), "{dot}");
        }
    }

    #[test]
    fn long_lines_are_cut() {
        // By columns: Chinese characters take two.
        for (line, columns, expected) in [
            ("", 1, ""),
            ("abcd", 4, "abcd"),
            ("abcde", 4, "abc\u{2026}"),
            ("公交车道", 8, "公交车道"),
            ("公交车道", 7, "公交车\u{2026}"),
            ("公交车道", 6, "公交\u{2026}"),
            ("a公交", 4, "a公\u{2026}"),
        ] {
            assert_eq!(cut(line, columns), expected, "{line} {columns}");
        }
        let node = || PictureNode {
            label: "公".repeat(100),
            mark: Mark::Right,
        };
        let picture = Picture {
            title: "车".repeat(100),
            left: vec![node()],
            right: vec![node()],
            links: vec![PictureLink {
                left: 0,
                right: 0,
                mark: Mark::Right,
                label: "道".repeat(100),
            }],
        };
        let svg = picture.svg();
        let cut_to = |text: &str, count| format!(">{}\u{2026}</text>", text.repeat(count));
        // 58, 40 and 30 columns; the title has (1000 - 32) / 10.
        for (text, count) in [("公", 28), ("公", 19), ("道", 14), ("车", 47)] {
            assert!(svg.contains(&cut_to(text, count)), "{text} {count} {svg}");
        }
    }

    #[test]
    fn columns_of_many_nodes() {
        let node = |position: usize| PictureNode {
            label: position.to_string(),
            mark: Mark::Right,
        };
        let nodes: Vec<PictureNode> = (0..5).map(node).collect();
        let link = |from, to| (from, to, Mark::Right, "");
        // 3 is linked with 0 and 2; 4 with 0: positions 1 and 0 on average.
        let links = vec![link(0, 3), link(2, 3), link(0, 4), link(1, 3)];
        let picture = Picture::in_columns("", &nodes, links);
        let right: Vec<&str> = picture.right.iter().map(|n| n.label.as_str()).collect();
        assert_eq!(right, ["4", "3"]);
        let ends: Vec<_> = picture.links.iter().map(|l| (l.left, l.right)).collect();
        assert_eq!(ends, [(0, 1), (2, 1), (0, 0), (1, 1)]);

        // The columns are further apart in a high picture: 56 + 8.5 + 100 * 31 + 44 high.
        let high = Picture {
            left: (0..100).map(node).collect(),
            ..Picture::default()
        };
        assert!(picture.svg().contains(" width=\"1000\" "));
        assert!(high.svg().contains(" width=\"2033\" height=\"3208.5\""));
    }

    #[test]
    fn rules_without_predicted_properties() {
        let truth = Clip::new([("0", rule("Bus", &[1])), ("1", rule("Turn", &[3]))]);
        let (truth, said) = (
            truth.unwrap_or_default(),
            Clip::new([("0", rule("Bike", &[1])), ("2", rule("Turn", &[3]))]).unwrap_or_default(),
        );
        let unsaid = Clip::new([("0", Rule::of_lanes([1])), ("2", Rule::of_lanes([3]))]);
        let unsaid = unsaid.unwrap_or_default();
        let present = ["rule 0", "rule 1", "predicted rule 2"];
        let with_properties = ["rule 0", "rule 1\nLaneType: Turn", "predicted rule 2"];
        for (alignment, prediction, labels) in [
            (Alignment::Given, &unsaid, present),
            (Alignment::Given, &said, present),
            (Alignment::Key, &unsaid, with_properties),
        ] {
            let metric = LaneCorrespondence {
                alignment,
                ..LaneCorrespondence::default()
            };
            let left = metric.picture("", prediction, &truth).left;
            let ours: Vec<(&str, Mark)> = left.iter().map(|n| (n.label.as_str(), n.mark)).collect();
            let marks = [Mark::Right, Mark::Missed, Mark::Wrong];
            let expected: Vec<(&str, Mark)> = labels.into_iter().zip(marks).collect();
            assert_eq!(ours, expected, "{alignment}");
        }
    }

    #[test]
    fn rules_of_one_side() {
        let some = Clip::new([("0", rule("Bus", &[1]))]).unwrap_or_default();
        let metric = LaneCorrespondence::default();
        for (prediction, truth, mark) in [
            (&some, &Clip::default(), Mark::Wrong),
            (&Clip::default(), &some, Mark::Missed),
        ] {
            let picture = metric.picture("", prediction, truth);
            assert!(
                picture
                    .left
                    .iter()
                    .chain(&picture.right)
                    .all(|n| n.mark == mark)
            );
            assert!(picture.links.iter().all(|link| link.mark == mark));
            assert_eq!(picture.links.len(), 1);
        }
        assert_eq!(
            metric.picture("", &Clip::default(), &Clip::default()),
            Picture::default()
        );
    }

    #[test]
    fn a_graph() {
        let graph = |keys: &[&str], edges: &[(&str, &str)]| {
            let nodes = keys.iter().map(|key| (*key, TypedNode::of_class("lane")));
            TypedGraph::new(
                nodes,
                edges.iter().map(|(a, b)| TypedEdge::new(*a, *b, "to")),
            )
        };
        let (Ok(truth), Ok(prediction)) = (
            graph(&["a", "b", "c"], &[("a", "b"), ("b", "c")]),
            graph(&["a", "b", "x"], &[("a", "b"), ("b", "x")]),
        ) else {
            panic!("graphs");
        };
        let metric = AlignedGraphs {
            nodes: crate::NodeRule::Key,
            ..AlignedGraphs::default()
        };
        let alignment = metric.align(&prediction, &truth);
        let picture = metric.picture("g", &prediction, &truth, &alignment);
        let labels = |nodes: &[PictureNode]| -> Vec<String> {
            nodes.iter().map(|n| n.label.clone()).collect()
        };
        assert_eq!(labels(&picture.left), ["lane a", "lane b"]);
        assert_eq!(labels(&picture.right), ["lane b", "lane c", "lane x"]);
        let links: Vec<_> = picture
            .links
            .iter()
            .map(|l| (l.left, l.right, l.mark))
            .collect();
        assert_eq!(
            links,
            [
                (0, 0, Mark::Right),
                (1, 2, Mark::Wrong),
                (1, 1, Mark::Missed)
            ]
        );
    }
}
