use std::collections::BTreeMap;

use super::frame::{Frame, FramePrediction};
use super::matching::match_frame;
use super::{ATTRIBUTE_NAMES, EDGE_THRESHOLD, OpenLaneV2, TrafficElement};
use crate::picture::{Mark, Picture, PictureNode};

impl OpenLaneV2 {
    /// Returns a frame as a picture: on the left lanes that lead to others, on the right the lanes and traffic elements
    /// they lead to. Lanes are matched under the widest of [`LANE_THRESHOLDS`](super::LANE_THRESHOLDS), traffic
    /// elements whatever their attributes; one whose attribute was misread is wrong.
    ///
    /// ```
    /// use metric_graph::Polyline;
    /// use metric_graph::openlane::{Detected, Frame, FramePrediction, OpenLaneV2};
    ///
    /// let lane = |from: f64, to: f64| Polyline::new(vec![[from, 0.0, 0.0], [to, 0.0, 0.0]]);
    /// let (first, second) = (lane(-20.0, 0.0)?, lane(0.0, 20.0)?);
    /// let found = Detected { item: first.clone(), confidence: 0.9 };
    /// let truth = Frame::new("0", vec![first, second], vec![],
    ///     &[vec![false, true], vec![false, false]], &[vec![], vec![]])?;
    /// let prediction = FramePrediction::new(vec![found], vec![], &[vec![0.0]], &[vec![]])?;
    ///
    /// let picture = OpenLaneV2.picture("a frame", &prediction, &truth);
    /// assert_eq!((picture.left.len(), picture.right.len(), picture.links.len()), (1, 1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn picture(&self, title: &str, prediction: &FramePrediction, frame: &Frame) -> Picture {
        let matches = match_frame(prediction, frame);
        let [.., of_lanes] = &matches.lanes;
        let mut nodes = Vec::new();
        let lanes = place(&mut nodes, "lane", frame.lanes.len(), of_lanes, |_, _| None);

        let attribute = |element: &TrafficElement| {
            let name = ATTRIBUTE_NAMES.get(usize::from(element.attribute()));
            name.copied().unwrap_or_default()
        };
        let elements = |predicted: Option<usize>, actual: Option<usize>| {
            let predicted = predicted.and_then(|at| prediction.elements.get(at));
            let predicted = predicted.map(|element| attribute(&element.item));
            let actual = actual.and_then(|at| frame.elements.get(at)).map(attribute);
            Some((predicted, actual))
        };
        let (count, of_elements) = (frame.elements.len(), &matches.elements);
        let elements = place(&mut nodes, "element", count, of_elements, elements);

        // Whether an edge is predicted, and whether it is true.
        let mut edges: BTreeMap<(usize, usize), [bool; 2]> = BTreeMap::new();
        for (table, targets) in [
            (&prediction.lane_edges, &lanes),
            (&prediction.element_edges, &elements),
        ] {
            for (row, source) in lanes.predicted.iter().enumerate() {
                for (value, target) in table.row(row).iter().zip(&targets.predicted) {
                    if *value > EDGE_THRESHOLD {
                        edges.entry((*source, *target)).or_default()[0] = true;
                    }
                }
            }
        }
        for (table, targets) in [
            (&frame.lane_edges, &lanes),
            (&frame.element_edges, &elements),
        ] {
            for (row, source) in lanes.actual.clone().enumerate() {
                for (value, target) in table.row(row).iter().zip(targets.actual.clone()) {
                    if *value {
                        edges.entry((source, target)).or_default()[1] = true;
                    }
                }
            }
        }
        let edges = edges
            .into_iter()
            .map(|((source, target), [predicted, actual])| {
                (source, target, Mark::from_sides(predicted, actual), "")
            });
        Picture::in_columns(title, &nodes, edges.collect())
    }
}

/// The positions of the lanes, or the elements, of a frame among the nodes.
struct Placed {
    actual: std::ops::Range<usize>,
    predicted: Vec<usize>,
}

/// The properties of a node besides its number: the predicted ones, and the true ones.
type Says = Option<(Option<&'static str>, Option<&'static str>)>;

/// Adds true items, then the predicted ones that stand for none.
fn place(
    nodes: &mut Vec<PictureNode>,
    what: &str,
    actual: usize,
    partners: &[Option<usize>],
    says: impl Fn(Option<usize>, Option<usize>) -> Says,
) -> Placed {
    let start = nodes.len();
    let node = |predicted: Option<usize>, actual: Option<usize>| {
        let label = match (actual, predicted) {
            (Some(actual), Some(predicted)) if actual != predicted => {
                format!("{what} {actual}, predicted as {predicted}")
            }
            (Some(actual), _) => format!("{what} {actual}"),
            (None, predicted) => format!("predicted {what} {}", predicted.unwrap_or_default()),
        };
        let says = says(predicted, actual);
        let (line, misread) = match says {
            Some((Some(read), Some(was))) if read != was => {
                (format!("\n{was} \u{2192} {read}"), true)
            }
            Some((Some(name), _) | (None, Some(name))) => (format!("\n{name}"), false),
            _ => (String::new(), false),
        };
        PictureNode {
            label: label + &line,
            mark: Mark::from_sides(predicted.is_some(), actual.is_some() && !misread),
        }
    };
    for actual in 0..actual {
        let found = partners.iter().position(|partner| *partner == Some(actual));
        nodes.push(node(found, Some(actual)));
    }
    let mut positions = Vec::with_capacity(partners.len());
    for (predicted, partner) in partners.iter().enumerate() {
        positions.push(match partner {
            Some(actual) => start + actual,
            None => {
                nodes.push(node(Some(predicted), None));
                nodes.len() - 1
            }
        });
    }
    Placed {
        actual: start..start + actual,
        predicted: positions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Polyline;
    use crate::openlane::Detected;

    #[test]
    fn lanes_are_matched_under_the_widest_threshold() -> Result<(), Box<dyn std::error::Error>> {
        let lane = |y: f64| Polyline::new(vec![[0.0, y, 0.0], [20.0, y, 0.0]]);
        for (off, marks) in [
            (0.5, vec![Mark::Right]),
            (2.5, vec![Mark::Right]),
            (3.5, vec![Mark::Missed, Mark::Wrong]),
        ] {
            let truth = Frame::new("0", vec![lane(0.0)?], vec![], &[vec![false]], &[vec![]])?;
            let item = lane(off)?;
            let found = Detected {
                item,
                confidence: 0.5,
            };
            let prediction = FramePrediction::new(vec![found], vec![], &[vec![0.0]], &[vec![]])?;
            let picture = OpenLaneV2.picture("", &prediction, &truth);
            let ours: Vec<Mark> = picture.left.iter().map(|node| node.mark).collect();
            assert_eq!(ours, marks, "{off}");
        }
        Ok(())
    }

    #[test]
    fn a_frame() -> Result<(), Box<dyn std::error::Error>> {
        let lane = |y: f64| Polyline::new(vec![[0.0, y, 0.0], [20.0, y, 0.0]]);
        let light = |attribute| TrafficElement::new(attribute, [[0.0, 0.0], [10.0, 10.0]]);
        let truth = Frame::new(
            "0",
            vec![lane(0.0)?, lane(10.0)?],
            vec![light(1)?],
            &[vec![false, true], vec![false, false]],
            &[vec![true], vec![false]],
        )?;
        // Lane 1 and an invented lane, and the light in another color.
        let confidence = 0.5;
        let lanes = [lane(50.0)?, lane(0.0)?].map(|item| Detected { item, confidence });
        let item = light(2)?;
        let prediction = FramePrediction::new(
            lanes.to_vec(),
            vec![Detected { item, confidence }],
            &[vec![0.5, 0.0], vec![0.6, 0.0]],
            &[vec![0.2], vec![0.9]],
        )?;
        let picture = OpenLaneV2.picture("f", &prediction, &truth);
        let nodes = |nodes: &[PictureNode]| -> Vec<(String, Mark)> {
            nodes.iter().map(|n| (n.label.clone(), n.mark)).collect()
        };
        let named = |text: &str, mark| (text.to_owned(), mark);
        assert_eq!(
            nodes(&picture.left),
            [named("lane 0, predicted as 1", Mark::Right)]
        );
        assert_eq!(
            nodes(&picture.right),
            [
                named("lane 1", Mark::Missed),
                named("predicted lane 0", Mark::Wrong),
                named("element 0\nred \u{2192} green", Mark::Wrong),
            ]
        );
        let marks: Vec<_> = picture.links.iter().map(|l| (l.right, l.mark)).collect();
        assert_eq!(
            marks,
            [(0, Mark::Missed), (1, Mark::Wrong), (2, Mark::Right)]
        );
        Ok(())
    }
}
