use std::fmt::Write;

use super::OpenLaneV2;
use super::frame::{Frame, FramePrediction};
use super::matching::match_frame;
use crate::Polyline;

/// Width and height of the drawing, in pixels.
const SIZE: [f64; 2] = [640.0, 480.0];
/// The space around the lanes.
const MARGIN: f64 = 24.0;
/// The height of the legend.
const LEGEND: f64 = 44.0;
/// The most lanes of a kind that are drawn, and the most points of a lane.
const MOST: [usize; 2] = [200, 60];

/// The kind of a line, with its color, its dashes and its width.
type Stroke = (&'static str, &'static str, &'static str, f64);

/// Colors that are told apart with color blindness as well (Okabe and Ito). The kinds also differ in their strokes.
const STROKES: [Stroke; 4] = [
    ("reference, found", "#767676", "none", 5.0),
    ("reference, missed", "#0072b2", "2 5", 3.0),
    ("predicted, matched", "#009e73", "none", 1.8),
    ("predicted, false", "#d55e00", "9 5", 2.2),
];

impl OpenLaneV2 {
    /// Returns a frame from above as SVG: its centerlines, and the predicted ones, with a scale bar. Lanes are matched
    /// under the widest of [`LANE_THRESHOLDS`](super::LANE_THRESHOLDS). Forward is up and left is left, as the axes of
    /// the data set are: x points forward, y to the left.
    ///
    /// ```
    /// use metric_graph::Polyline;
    /// use metric_graph::openlane::{Detected, Frame, FramePrediction, OpenLaneV2};
    ///
    /// let lane = |y: f64| Polyline::new(vec![[0.0, y, 0.0], [20.0, y, 0.0]]);
    /// let found = Detected { item: lane(0.1)?, confidence: 0.9 };
    /// let truth = Frame::new("0", vec![lane(0.0)?, lane(9.0)?], vec![],
    ///     &[vec![false, false], vec![false, false]], &[vec![], vec![]])?;
    /// let prediction = FramePrediction::new(vec![found], vec![], &[vec![0.0]], &[vec![]])?;
    ///
    /// let svg = OpenLaneV2.birds_eye(&prediction, &truth);
    /// // Two lanes and a prediction. 20 m are 388 pixels high, and the scale bar has at most 160: 5 m.
    /// assert_eq!(svg.matches("<polyline").count(), 3);
    /// assert!(svg.contains(">5 m<"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn birds_eye(&self, prediction: &FramePrediction, frame: &Frame) -> String {
        let matches = match_frame(prediction, frame);
        let [.., partners] = &matches.lanes;
        let is_found = |lane: usize| partners.contains(&Some(lane));
        let is_matched = |lane: usize| partners.get(lane).is_some_and(Option::is_some);
        let references = || (0..).zip(&frame.lanes);
        let predicted = || (0..).zip(prediction.lanes.iter().map(|lane| &lane.item));
        let found = references().filter(|(lane, _)| is_found(*lane));
        let missed = references().filter(|(lane, _)| !is_found(*lane));
        let matched = predicted().filter(|(lane, _)| is_matched(*lane));
        let wrong = predicted().filter(|(lane, _)| !is_matched(*lane));
        let kinds: [Vec<&Polyline<3>>; 4] = [
            found.map(|(_, lane)| lane).collect(),
            missed.map(|(_, lane)| lane).collect(),
            matched.map(|(_, lane)| lane).collect(),
            wrong.map(|(_, lane)| lane).collect(),
        ];
        draw(&kinds)
    }
}

fn draw(kinds: &[Vec<&Polyline<3>>; 4]) -> String {
    let [most_lanes, most_points] = MOST;
    let drawn = |lanes: &Vec<&Polyline<3>>| -> Vec<Vec<[f64; 2]>> {
        let lanes = lanes.iter().take(most_lanes);
        lanes.map(|lane| seen(lane.points(), most_points)).collect()
    };
    let lines = kinds.each_ref().map(drawn);
    let all = || lines.iter().flatten().flatten();
    let ends = |axis: usize| {
        let fold =
            |[low, high]: [f64; 2], point: &[f64; 2]| [low.min(point[axis]), high.max(point[axis])];
        all().fold([f64::INFINITY, f64::NEG_INFINITY], fold)
    };
    let [wide, high] = SIZE;
    let ([left, right], [top, bottom]) = (ends(0), ends(1));
    let extent = [right - left, bottom - top].map(|extent| {
        if extent.is_finite() {
            extent.max(1.0)
        } else {
            1.0
        }
    });
    let room = [wide - 2.0 * MARGIN, high - LEGEND - 2.0 * MARGIN];
    let scale = (room[0] / extent[0]).min(room[1] / extent[1]);
    let to_picture = |[x, y]: [f64; 2]| {
        let middle = [(left + right) / 2.0, (top + bottom) / 2.0];
        [
            wide / 2.0 + (x - middle[0]) * scale,
            LEGEND + (high - LEGEND) / 2.0 + (y - middle[1]) * scale,
        ]
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" font-family=\"sans-serif\" font-size=\"11\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
    );
    let mut x = 8.0;
    for ((name, color, dashes, width), lanes) in STROKES.iter().zip(kinds) {
        let label = format!("{name}: {}", lanes.len());
        let _ = write!(
            svg,
            "<path d=\"M{x} 20h22\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\"/><text x=\"{}\" y=\"24\" fill=\"#222\">{label}</text>",
            x + 28.0
        );
        x += 154.0;
    }
    for (lines, (_, color, dashes, width)) in lines.iter().zip(STROKES) {
        for line in lines {
            let points = line.iter().map(|point| {
                let [x, y] = to_picture(*point);
                format!("{x:.1},{y:.1}")
            });
            let points: Vec<String> = points.collect();
            let _ = write!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\" stroke-linecap=\"round\"/>",
                points.join(" ")
            );
        }
    }
    // The longest round length that takes at most a quarter of the width.
    let lengths = [1000.0, 500.0, 200.0, 100.0, 50.0, 20.0, 10.0, 5.0, 2.0, 1.0];
    let length = lengths
        .into_iter()
        .find(|length| length * scale <= wide / 4.0);
    if let Some(length) = length {
        let (start, bar) = (MARGIN, length * scale);
        let y = high - 12.0;
        let _ = write!(
            svg,
            "<path d=\"M{start} {}v8m0 -4h{bar:.1}m0 -4v8\" stroke=\"#222\" fill=\"none\"/><text x=\"{:.1}\" y=\"{}\" fill=\"#222\">{length} m</text>",
            y - 8.0,
            start + bar + 6.0,
            y
        );
    }
    svg + "</svg>"
}

/// A lane as it is seen from above: some of its points, the first and the last among them.
fn seen(points: &[[f64; 3]], most: usize) -> Vec<[f64; 2]> {
    let last = points.len().saturating_sub(1);
    let step = last.div_ceil(most.saturating_sub(1).max(1)).max(1);
    let kept = points.iter().enumerate();
    let kept = kept.filter(|(index, _)| index.is_multiple_of(step) || *index == last);
    kept.map(|(_, [x, y, _])| [-y, -x]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openlane::Detected;

    fn lane(points: Vec<[f64; 3]>) -> Polyline<3> {
        Polyline::new(points).expect("a lane")
    }

    #[test]
    fn frames_of_any_extent_are_drawn() {
        let along = |x: f64| lane(vec![[x, 0.0, 0.0], [x, 3.0, 1.0]]);
        for (truths, found) in [
            (vec![], vec![]),
            (vec![along(0.0)], vec![]),
            (vec![], vec![along(1e9), along(-1e9)]),
            (vec![lane(vec![[5.0; 3], [5.0; 3]])], vec![along(5.0)]),
            (vec![along(0.0); 300], vec![along(0.0); 300]),
        ] {
            let square = |count: usize| vec![vec![false; count]; count];
            let none = |count: usize| vec![vec![]; count];
            let (edges, others) = (square(truths.len()), none(truths.len()));
            let frame = Frame::new("0", truths, vec![], &edges, &others).expect("a frame");
            let values = vec![vec![0.0; found.len()]; found.len()];
            let others = vec![vec![]; found.len()];
            let found = found.into_iter().map(|item| Detected {
                item,
                confidence: 0.5,
            });
            let prediction = FramePrediction::new(found.collect(), vec![], &values, &others);
            let svg = OpenLaneV2.birds_eye(&prediction.expect("a prediction"), &frame);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert!(svg.len() < 200_000, "{}", svg.len());
        }
    }

    #[test]
    fn few_points_of_a_long_lane_are_drawn() {
        let points: Vec<[f64; 3]> = (0..1001).map(|x| [f64::from(x), 0.0, 0.0]).collect();
        let seen = seen(&points, 60);
        assert!(seen.len() <= 61, "{}", seen.len());
        assert_eq!(
            (seen[0], seen.last()),
            ([-0.0, -0.0], Some(&[-0.0, -1000.0]))
        );
    }
}
