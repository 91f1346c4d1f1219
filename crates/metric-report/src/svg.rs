//! Charts as Scalable Vector Graphics.
//!
//! Each shape has its color twice: as a class, which the themes of the page color, and as an attribute, for
//! when the style sheet is not there. A chart in a file of its own is the same with the style sheet of
//! [`STANDALONE`].

use std::fmt::Write;

use crate::block::{
    Bars, Boxes, Caption, Cell, Forest, Grids, Heatmap, Histogram, LabeledBox, Line, Lines, Tone,
};
use crate::limits::heatmap_classes;
use crate::text::{difference, escape, grouped, number, plain};

/// The maximum number of points of a curve.
pub(crate) const POINTS: usize = 200;
/// The maximum number of bars, and of rows of a forest plot.
pub(crate) const BARS: usize = 40;
/// The maximum number of characters of a label.
const LABEL: usize = 22;
/// The maximum number of characters of the name of an axis.
const AXIS: usize = 48;
/// About the width of a letter.
const LETTER: f64 = 6.5;
/// About the width of a letter on a narrow screen. There, charts are scaled down and their text is set larger
/// (`report.css`), so labels get room for the larger text.
const NARROW_LETTER: f64 = 9.5;
/// The largest grid that is drawn cell by cell.
const CELLS: usize = 30;

/// Unique numbers for the ids of a page.
#[derive(Debug, Default)]
pub(crate) struct Ids(usize);

impl Ids {
    pub(crate) fn next(&mut self) -> usize {
        self.0 += 1;
        self.0
    }
}

/// The style sheet of a chart in a file of its own: the colors and the rules of the page, in both themes.
pub(crate) const STANDALONE: &str = concat!(
    include_str!("../templates/palette.css"),
    include_str!("../templates/chart.css"),
    "svg{font-family:system-ui,-apple-system,\"Segoe UI\",\"Noto Sans\",\"Liberation Sans\",sans-serif}.paper{fill:var(--card)}",
    "@media print{:root{--card:#fff}}",
);

/// The classes and the color of a shape by its tone.
fn tone(tone: Tone) -> (&'static str, &'static str) {
    match tone {
        Tone::Neutral => ("", "#5b96cd"),
        Tone::Good => ("ok", "#00694d"),
        Tone::Bad | Tone::Warning => ("bad", "#a33b00"),
        Tone::Missing => ("miss", "#0b5cad"),
        Tone::Added => ("ins", "#6b3fa0"),
    }
}

/// A chart that is being drawn.
struct Drawing {
    svg: String,
}

impl Drawing {
    fn new(size: [f64; 2], caption: &Caption, ids: &mut Ids) -> Self {
        Self::scaled(size, size, caption, ids)
    }

    /// A drawing that is shown in another size than that of its own units.
    fn scaled(
        [width, height]: [f64; 2],
        shown: [f64; 2],
        caption: &Caption,
        ids: &mut Ids,
    ) -> Self {
        let id = ids.next();
        let [across, down] = shown.map(f64::round);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{across}\" height=\"{down}\" role=\"img\" aria-labelledby=\"c{id}-t c{id}-d\"><title id=\"c{id}-t\">"
        );
        let _ = escape(&plain(&caption.title, 200), &mut svg);
        let _ = write!(svg, "</title><desc id=\"c{id}-d\">");
        let said = if caption.finding.is_empty() {
            &caption.note
        } else {
            &caption.finding
        };
        let _ = escape(&plain(said, 500), &mut svg);
        svg.push_str("</desc>");
        Self { svg }
    }

    /// Text at a position. `anchor` is `start`, `middle` or `end`.
    fn text(&mut self, at: [f64; 2], anchor: &str, class: &str, text: &str) {
        self.start_text(at, anchor, class);
        let _ = escape(text, &mut self.svg);
        self.svg.push_str("</text>");
    }

    /// A label with any text, and a longer part of the text as a title.
    fn label(&mut self, at: [f64; 2], anchor: &str, class: &str, text: &str) {
        self.start_text(at, anchor, class);
        self.svg.push_str("<title>");
        let _ = escape(&plain(text, 200), &mut self.svg);
        self.svg.push_str("</title>");
        let _ = escape(&plain(text, LABEL), &mut self.svg);
        self.svg.push_str("</text>");
    }

    fn start_text(&mut self, [x, y]: [f64; 2], anchor: &str, class: &str) {
        let fill = if class.contains('t') {
            "#1b2430"
        } else {
            "#5a6675"
        };
        let _ = write!(
            self.svg,
            "<text class=\"{class}\" fill=\"{fill}\" font-size=\"11\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">"
        );
    }

    fn path(&mut self, class: &str, color: &str, width: f64, path: &str, title: &str) {
        let _ = write!(
            self.svg,
            "<path class=\"{class}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" d=\"{path}\""
        );
        self.titled("path", title);
    }

    fn rect(&mut self, class: &str, color: &str, [x, y, width, height]: [f64; 4], title: &str) {
        let _ = write!(
            self.svg,
            "<rect class=\"{class}\" fill=\"{color}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\""
        );
        self.titled("rect", title);
    }

    fn dot(&mut self, [x, y]: [f64; 2], title: &str) {
        let _ = write!(
            self.svg,
            "<circle class=\"dot\" fill=\"#0b5cad\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\""
        );
        self.titled("circle", title);
    }

    /// Ends a shape, with a title if there is one.
    fn titled(&mut self, shape: &str, title: &str) {
        if title.is_empty() {
            self.svg.push_str("/>");
            return;
        }
        self.svg.push_str("><title>");
        let _ = escape(&plain(title, 200), &mut self.svg);
        let _ = write!(self.svg, "</title></{shape}>");
    }

    fn finish(mut self) -> String {
        self.svg.push_str("</svg>");
        self.svg
    }
}

/// A linear scale from values to positions.
#[derive(Clone, Copy)]
struct Scale {
    values: [f64; 2],
    positions: [f64; 2],
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let [low, high] = self.values;
        let share = if high > low {
            (value - low) / (high - low)
        } else {
            0.5
        };
        // Values outside of the range are drawn at the edge, and NaN in the middle.
        let share = if share.is_nan() {
            0.5
        } else {
            share.clamp(0.0, 1.0)
        };
        self.positions[0] + share * (self.positions[1] - self.positions[0])
    }

    /// Round values that divide the scale, about `count` of them.
    fn ticks(&self, count: usize) -> (Vec<f64>, usize) {
        let [low, high] = self.values;
        let span = high - low;
        if !(span > 0.0 && span.is_finite()) {
            return (vec![low], 2);
        }
        let rough = span / count.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
        let step = steps.map(|step| step * power);
        let step = step
            .into_iter()
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(power * 10.0);
        let first = (low / step - 1e-9).ceil();
        let last = (high / step + 1e-9).floor();
        let most = (last - first).clamp(0.0, 50.0) as u32;
        let ticks = (0..=most).map(|index| (first + f64::from(index)) * step);
        (ticks.collect(), decimals_of(step))
    }
}

/// Round counts from 0 to the first that is at least `most`, about four of them.
fn count_ticks(most: u64) -> Vec<f64> {
    let most = most.max(1) as f64;
    let rough = (most / 3.0).ceil();
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(most);
    let last = (most / step).ceil().clamp(1.0, 4.0) as u32;
    (0..=last).map(|index| f64::from(index) * step).collect()
}

/// The room at the left of a chart for labels of at most this number of characters.
fn room_for(characters: usize) -> f64 {
    (NARROW_LETTER * characters as f64 + 14.0).max(48.0)
}

/// The room for these labels at the left of a chart.
fn room_for_labels<'l>(labels: impl Iterator<Item = &'l str>) -> f64 {
    let longest = labels
        .map(|label| plain(label, LABEL).chars().count())
        .max();
    room_for(longest.unwrap_or(0))
}

/// The number of decimals of multiples of a step.
fn decimals_of(step: f64) -> usize {
    let is_round = |decimals: &i32| {
        let scaled = step * 10f64.powi(*decimals);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0)
    };
    (0..9).find(is_round).unwrap_or(9).unsigned_abs() as usize
}

/// The number of decimals of the ends of bins.
pub(crate) fn bin_decimals(chart: &Histogram) -> usize {
    let [low, high] = chart.range;
    decimals_of((high - low) / chart.bins.len().max(1) as f64).clamp(2, 4)
}

/// The range of all values, widened if it is a single value.
fn range_of(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let finite = values.filter(|value| value.is_finite());
    let ends = finite.fold(None, |ends: Option<[f64; 2]>, value| {
        Some(ends.map_or([value; 2], |[low, high]| [low.min(value), high.max(value)]))
    });
    match ends {
        None => [0.0, 1.0],
        Some([low, high]) if low == high => [low - 0.5, high + 0.5],
        Some(ends) => ends,
    }
}

/// At most [`POINTS`] of the points: the first, the last, and the lowest and the highest of each stretch.
pub(crate) fn reduced(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let points: Vec<[f64; 2]> = points
        .iter()
        .copied()
        .filter(|point| point.iter().all(|value| value.is_finite()))
        .collect();
    if points.len() <= POINTS {
        return points;
    }
    let inner = &points[1..points.len() - 1];
    let stretches = POINTS / 2 - 1;
    let mut kept = vec![points[0]];
    for stretch in 0..stretches {
        let bounds = [stretch, stretch + 1].map(|index| index * inner.len() / stretches);
        let part = &inner[bounds[0]..bounds[1]];
        let by_y = |a: &usize, b: &usize| part[*a][1].total_cmp(&part[*b][1]);
        let low = (0..part.len()).min_by(by_y);
        let high = (0..part.len()).max_by(by_y);
        let mut ends: Vec<usize> = low.into_iter().chain(high).collect();
        ends.sort_unstable();
        ends.dedup();
        kept.extend(ends.into_iter().map(|index| part[index]));
    }
    kept.extend(points.last());
    kept
}

#[expect(
    clippy::too_many_lines,
    reason = "a drawing from the back to the front, by the same scales"
)]
pub(crate) fn lines(chart: &Lines, ids: &mut Ids) -> String {
    let (width, height) = (480.0, 340.0);
    let mut drawing = Drawing::new([width, height], &chart.caption, ids);
    let values = |axis: usize| {
        let points = chart.lines.iter().flat_map(|line| &line.points);
        range_of(points.map(move |point| point[axis]))
    };
    let scale = |axis: usize, positions| Scale {
        values: chart.ranges[axis].unwrap_or_else(|| values(axis)),
        positions,
    };
    let (top, bottom) = (28.0, height - 46.0);
    let y = scale(1, [bottom, top]);
    let (ticks, decimals) = y.ticks(5);
    let labels = ticks
        .iter()
        .map(|tick| number(*tick, decimals).chars().count());
    let (left, right) = (room_for(labels.max().unwrap_or(0)), width - 12.0);
    let x = scale(0, [left, right]);
    for tick in ticks {
        let at = y.at(tick);
        drawing.path(
            "grid",
            "#e8ecf1",
            1.0,
            &format!("M{left:.1} {at:.1}H{right:.1}"),
            "",
        );
        drawing.text([left - 6.0, at + 3.5], "end", "", &number(tick, decimals));
    }
    let (ticks, decimals) = x.ticks(6);
    for tick in ticks {
        let at = x.at(tick);
        drawing.path(
            "grid",
            "#e8ecf1",
            1.0,
            &format!("M{at:.1} {top:.1}V{bottom:.1}"),
            "",
        );
        drawing.text([at, bottom + 19.0], "middle", "", &number(tick, decimals));
    }
    drawing.text(
        [(left + right) / 2.0, height - 6.0],
        "middle",
        "",
        &plain(&chart.axes[0], AXIS),
    );
    // A label above the axis needs no rotated text.
    drawing.text([4.0, 14.0], "start", "", &plain(&chart.axes[1], AXIS));
    // The main curve lies over the others.
    let mut order: Vec<(usize, &Line)> = chart.lines.iter().enumerate().collect();
    order.sort_by_key(|(_, line)| line.main);
    let count = chart.lines.len().max(1);
    for (index, line) in order {
        let points = reduced(&line.points);
        if points.is_empty() {
            continue;
        }
        if line.dots {
            for [at_x, at_y] in &points {
                drawing.dot([x.at(*at_x), y.at(*at_y)], &line.name);
            }
            continue;
        }
        let (class, color) = match (line.main, line.tone) {
            (true, Tone::Neutral) => ("ln main".to_owned(), "#0b5cad"),
            (_, Tone::Neutral) => (format!("ln s{}", (index * 10 / count).min(9)), "#5b96cd"),
            (main, of) => {
                let (class, color) = tone(of);
                let main = if main { "main " } else { "" };
                (format!("ln {main}{class}"), color)
            }
        };
        let mut path = String::new();
        for (number, point) in points.iter().enumerate() {
            let [at_x, at_y] = [x.at(point[0]), y.at(point[1])];
            let step = if number == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{step}{at_x:.1} {at_y:.1}");
        }
        if points.len() == 1 {
            path.push_str("h3");
        }
        let thickness = if line.main { 3.0 } else { 1.6 };
        drawing.path(&class, color, thickness, &path, &line.name);
    }
    // If there are few curves, their names are next to them. All names are in titles and in the table.
    for (index, line) in chart.lines.iter().enumerate().filter(|_| count <= 4) {
        let points = reduced(&line.points);
        let at = points.len() * (2 * index + 1) / (2 * count);
        if let Some(point) = points.get(at).filter(|_| !line.name.is_empty()) {
            let position = [x.at(point[0]) + 5.0, y.at(point[1]) - 6.0];
            let anchor = if position[0] > width * 0.75 {
                "end"
            } else {
                "start"
            };
            drawing.label(position, anchor, "halo t", &line.name);
        }
    }
    if let Some((point, what)) = &chart.mark {
        let [at_x, at_y] = [x.at(point[0]), y.at(point[1])];
        drawing.path(
            "axis dash",
            "#5a6675",
            1.0,
            &format!("M{at_x:.1} {at_y:.1}V{bottom:.1}"),
            "",
        );
        drawing.dot([at_x, at_y], "");
        let (position, anchor) = if at_x > width * 0.6 {
            ([at_x - 8.0, at_y - 9.0], "end")
        } else {
            ([at_x + 8.0, at_y - 9.0], "start")
        };
        drawing.text(position, anchor, "halo t b", &plain(what, 60));
    }
    drawing.finish()
}

/// A cell as it is read.
pub(crate) fn cell_text(cell: &Cell, digits: usize) -> String {
    match cell {
        Cell::Undefined => "–".to_owned(),
        Cell::Text(text) => plain(text, LABEL),
        Cell::Number(value) => number(*value, digits),
        Cell::Difference(value) => difference(*value, digits),
        Cell::Count(count) => grouped(*count),
        Cell::Interval([low, high]) => {
            format!("{} to {}", number(*low, digits), number(*high, digits))
        }
    }
}

/// The value of a cell that has one.
pub(crate) fn cell_value(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number(value) | Cell::Difference(value) => Some(*value),
        Cell::Count(count) => Some(*count as f64),
        _ => None,
    }
}

pub(crate) fn bars(chart: &Bars, digits: usize, ids: &mut Ids) -> String {
    let shown = &chart.bars[..chart.bars.len().min(BARS)];
    let step = 26.0;
    let (left, right) = (
        room_for_labels(shown.iter().map(|bar| bar.name.as_str())),
        400.0,
    );
    let height = step * shown.len().max(1) as f64 + 8.0;
    let mut drawing = Drawing::new([480.0, height], &chart.caption, ids);
    let values = || shown.iter().filter_map(|bar| cell_value(&bar.value));
    let largest = values().fold(0.0, |most: f64, value| most.max(value.abs()));
    let full = chart.full.unwrap_or(largest).max(f64::MIN_POSITIVE);
    for (index, bar) in shown.iter().enumerate() {
        let y = 4.0 + step * index as f64;
        drawing.label([left - 8.0, y + 14.0], "end", "t", &bar.name);
        let value = cell_value(&bar.value).map_or(0.0, |value| (value.abs() / full).min(1.0));
        let value = if value.is_finite() { value } else { 0.0 };
        let (class, color) = match (bar.main, bar.tone) {
            (true, Tone::Neutral) => ("bar hi", "#0b5cad"),
            (_, Tone::Neutral) => ("bar", "#5b96cd"),
            (_, of) => match tone(of) {
                ("ok", color) => ("bar ok", color),
                ("bad", color) => ("bar bad", color),
                ("miss", color) => ("bar miss", color),
                (_, color) => ("bar ins", color),
            },
        };
        let length = (value * (right - left)).max(1.0);
        drawing.rect(class, color, [left, y + 1.0, length, 18.0], "");
        drawing.text(
            [left + length + 6.0, y + 14.0],
            "start",
            "t",
            &cell_text(&bar.value, digits),
        );
    }
    drawing.finish()
}

/// The width of the bar of values that are not in the range of a histogram, in bins.
const BEYOND_BAR: f64 = 2.0;

/// The room for this number of values that are not in the range of a histogram, in bins: a gap, and the bar.
fn beyond_room(count: u64) -> f64 {
    if count > 0 { BEYOND_BAR + 1.0 } else { 0.0 }
}

/// A bar of a histogram.
pub(crate) struct HistogramBar {
    /// Its start and its width, in bins from the start of the range.
    start: f64,
    bins: f64,
    /// The value in the middle of its range, or the end of the chart's range that its values are beyond.
    middle: f64,
    is_beyond: bool,
    /// Its range in words.
    pub(crate) range: String,
    pub(crate) count: u64,
}

/// The bars of a histogram from the left.
pub(crate) fn histogram_bars(chart: &Histogram) -> Vec<HistogramBar> {
    let [low, high] = chart.range;
    let bins = chart.bins.len().max(1) as f64;
    let end = |index: usize| low + (high - low) * index as f64 / bins;
    let decimals = bin_decimals(chart);
    let in_range = |(index, &count): (usize, &u64)| {
        let ends = [end(index), end(index + 1)];
        let [from, to] = ends.map(|end| number(end, decimals));
        HistogramBar {
            start: index as f64,
            bins: 1.0,
            middle: f64::midpoint(ends[0], ends[1]),
            is_beyond: false,
            range: format!("{from} to {to}"),
            count,
        }
    };
    let [below, above] = chart.beyond;
    let beyond = |count: u64, start: f64, middle: f64, which: &str| {
        (count > 0).then(|| HistogramBar {
            start,
            bins: BEYOND_BAR,
            middle,
            is_beyond: true,
            range: format!("{which} {}", number(middle, decimals)),
            count,
        })
    };
    let below = beyond(below, -beyond_room(below), low, "below");
    let above = beyond(above, bins + 1.0, high, "above");
    let bars = chart.bins.iter().enumerate().map(in_range);
    below.into_iter().chain(bars).chain(above).collect()
}

#[expect(
    clippy::too_many_lines,
    reason = "a drawing from the back to the front, by the same scales"
)]
pub(crate) fn histogram(chart: &Histogram, digits: usize, ids: &mut Ids) -> String {
    let (width, height) = (480.0, 240.0);
    let mut drawing = Drawing::new([width, height], &chart.caption, ids);
    let (top, bottom) = (14.0, height - 46.0);
    let counts = chart.bins.iter().chain(&chart.beyond);
    let ticks = count_ticks(counts.copied().max().unwrap_or(0));
    let highest = ticks.last().copied().unwrap_or(1.0);
    let y = Scale {
        // The name of the mark has room above the bars.
        values: [0.0, highest * if chart.mark.is_some() { 1.15 } else { 1.0 }],
        positions: [bottom, top],
    };
    let labels = ticks
        .iter()
        .map(|tick| grouped(*tick as u64).chars().count());
    let (left, right) = (room_for(labels.max().unwrap_or(0)), width - 12.0);
    let [below, above] = chart.beyond.map(beyond_room);
    let wide = (right - left) / (chart.bins.len().max(1) as f64 + below + above);
    let x = Scale {
        values: chart.range,
        positions: [left + wide * below, right - wide * above],
    };
    for tick in ticks {
        let at = y.at(tick);
        drawing.path(
            "grid",
            "#e8ecf1",
            1.0,
            &format!("M{left:.1} {at:.1}H{right:.1}"),
            "",
        );
        drawing.text([left - 6.0, at + 3.5], "end", "", &grouped(tick as u64));
    }
    let (ticks, decimals) = x.ticks(5);
    for tick in ticks {
        drawing.text(
            [x.at(tick), bottom + 19.0],
            "middle",
            "",
            &number(tick, decimals),
        );
    }
    drawing.text(
        [(left + right) / 2.0, height - 6.0],
        "middle",
        "",
        &plain(&chart.axis, AXIS),
    );
    for bar in histogram_bars(chart) {
        let at = y.at(bar.count as f64);
        // A bin that is not empty is visible.
        let tall = if bar.count > 0 {
            (bottom - at).max(1.0)
        } else {
            0.0
        };
        let (class, color) = match chart.negative_is_good {
            Some(good) if good == (bar.middle < 0.0) => ("bar ok", "#00694d"),
            Some(_) => ("bar bad", "#a33b00"),
            None => ("bar", "#5b96cd"),
        };
        let unit = plain(&chart.unit, 40);
        let unit = match bar.count {
            1 => unit.strip_suffix('s').unwrap_or(&unit),
            _ => &unit,
        };
        let start = x.positions[0] + wide * bar.start;
        let title = format!("{}: {} {unit}", bar.range, grouped(bar.count));
        let position = [start + 0.6, bottom - tall, wide * bar.bins - 1.2, tall];
        drawing.rect(class, color, position, &title);
        if bar.is_beyond {
            let middle = start + wide * bar.bins / 2.0;
            let sign = if bar.start < 0.0 { '<' } else { '>' };
            let label = format!("{sign} {}", number(bar.middle, decimals));
            drawing.text([middle, bottom + 19.0], "middle", "", &label);
        }
    }
    drawing.path(
        "axis",
        "#5a6675",
        1.0,
        &format!("M{left:.1} {bottom:.1}H{right:.1}"),
        "",
    );
    if let Some((value, what)) = &chart.mark {
        let [low, high] = chart.range;
        // The mark of a value that is not in the range is on the bar of these.
        let at = match value {
            value if *value < low => x.at(low) - wide * (below - BEYOND_BAR / 2.0),
            value if *value > high => x.at(high) + wide * (above - BEYOND_BAR / 2.0),
            value => x.at(*value),
        };
        drawing.path(
            "axis dash",
            "#5a6675",
            1.0,
            &format!("M{at:.1} {bottom:.1}V{top:.1}"),
            "",
        );
        let (position, anchor) = if at > width / 2.0 {
            ([at - 6.0, top + 10.0], "end")
        } else {
            ([at + 6.0, top + 10.0], "start")
        };
        drawing.text(
            position,
            anchor,
            "halo t",
            &format!("{} {}", plain(what, 40), number(*value, digits)),
        );
    }
    drawing.finish()
}

pub(crate) fn forest(chart: &Forest, digits: usize, ids: &mut Ids) -> String {
    let rows = &chart.rows[..chart.rows.len().min(BARS)];
    let step = 28.0;
    let left = room_for_labels(rows.iter().map(|(name, ..)| name.as_str()));
    let values = rows
        .iter()
        .map(|(_, value, _)| number(*value, digits).chars().count());
    let right = 480.0 - room_for(values.max().unwrap_or(0)) - 4.0;
    let bottom = step * rows.len().max(1) as f64 + 8.0;
    let mut drawing = Drawing::new([480.0, bottom + 26.0], &chart.caption, ids);
    let ends = rows
        .iter()
        .flat_map(|(_, value, ends)| ends.unwrap_or([*value; 2]));
    let [low, high] = range_of(ends.chain(chart.overall));
    let space = (high - low) * 0.06;
    let x = Scale {
        values: [low - space, high + space],
        positions: [left, right],
    };
    let (ticks, decimals) = x.ticks(4);
    for tick in ticks {
        let at = x.at(tick);
        drawing.path(
            "grid",
            "#e8ecf1",
            1.0,
            &format!("M{at:.1} 4V{bottom:.1}"),
            "",
        );
        drawing.text([at, bottom + 19.0], "middle", "", &number(tick, decimals));
    }
    if let Some(overall) = chart.overall {
        let at = x.at(overall);
        drawing.path(
            "axis dash",
            "#5a6675",
            1.0,
            &format!("M{at:.1} 4V{bottom:.1}"),
            &number(overall, 4),
        );
    }
    for (index, (name, value, ends)) in rows.iter().enumerate() {
        let y = 4.0 + step * (index as f64 + 0.5);
        drawing.label([left - 8.0, y + 4.0], "end", "t", name);
        if let Some(ends) = ends {
            let [from, to] = ends.map(|end| x.at(end));
            let path = format!(
                "M{from:.1} {y:.1}H{to:.1}M{from:.1} {:.1}v10M{to:.1} {:.1}v10",
                y - 5.0,
                y - 5.0
            );
            drawing.path("whisk", "#0b5cad", 2.0, &path, "");
        }
        let at = x.at(*value);
        drawing.dot([at, y], "");
        drawing.text([474.0, y + 4.0], "end", "t", &number(*value, digits));
    }
    drawing.finish()
}

/// A strip with an interval, which is decoration: the numbers are next to it.
pub(crate) fn strip(value: Option<f64>, ends: [f64; 2], values: [f64; 2]) -> String {
    let x = Scale {
        values,
        positions: [4.0, 196.0],
    };
    let [from, to] = ends.map(|end| x.at(end));
    let mut svg = format!(
        "<svg viewBox=\"0 0 200 12\" width=\"200\" height=\"12\" aria-hidden=\"true\"><rect class=\"track\" fill=\"#ddd\" x=\"2\" y=\"5\" width=\"196\" height=\"2\"/><path class=\"whisk\" fill=\"none\" stroke=\"#0b5cad\" stroke-width=\"2\" d=\"M{from:.1} 6H{to:.1}M{from:.1} 2v8M{to:.1} 2v8\"/>"
    );
    if let Some(value) = value {
        let at = x.at(value);
        let _ = write!(
            svg,
            "<circle class=\"dot\" fill=\"#0b5cad\" cx=\"{at:.1}\" cy=\"6\" r=\"4\"/>"
        );
    }
    svg + "</svg>"
}

/// The bar next to a number in a table, which is decoration.
pub(crate) fn cell_bar(value: f64, values: [f64; 2]) -> String {
    let wide = Scale {
        values,
        positions: [0.0, 90.0],
    }
    .at(value);
    format!(
        "<svg viewBox=\"0 0 90 10\" width=\"90\" height=\"10\" aria-hidden=\"true\"><rect class=\"track\" fill=\"#ddd\" width=\"90\" height=\"10\"/><rect class=\"bar hi\" fill=\"#0b5cad\" width=\"{wide:.1}\" height=\"10\"/></svg>"
    )
}

/// The colors of the numbers 0 to 9, as the tasks are published.
const COLORS: [&str; 10] = [
    "#000000", "#0074d9", "#ff4136", "#2ecc40", "#ffdc00", "#aaaaaa", "#f012be", "#ff851b",
    "#7fdbff", "#870c25",
];

/// The rows of a grid, and the cells of its longest row.
fn size_of(rows: &[Vec<u8>]) -> [usize; 2] {
    [rows.len(), rows.iter().map(Vec::len).max().unwrap_or(0)]
}

/// The width of a cell with which all of these grids have room.
fn cell_width(grids: &Grids) -> f64 {
    const ROOM: [f64; 2] = [320.0, 210.0];
    let sizes = grids.grids.iter().map(|(_, rows)| size_of(rows));
    let most = sizes.fold([1; 2], |[tall, wide], size| {
        [tall.max(size[0]), wide.max(size[1])]
    });
    let [tall, wide] = most.map(|cells| cells.min(CELLS) as f64);
    (ROOM[0] / tall).min(ROOM[1] / wide).min(32.0)
}

/// The grid of this index, with a cross on each cell that differs from the reference and dashes where the
/// prediction has no cell. The cells of all grids have the same size.
pub(crate) fn grid(grids: &Grids, index: usize, ids: &mut Ids) -> String {
    let Some((name, rows)) = grids.grids.get(index) else {
        return String::new();
    };
    let reference = grids
        .grids
        .first()
        .filter(|_| index > 0)
        .map(|(_, rows)| rows);
    let own = size_of(rows);
    let all = reference.map_or(own, |reference| {
        let other = size_of(reference);
        [own[0].max(other[0]), own[1].max(other[1])]
    });
    // In a larger grid, every n-th cell is drawn.
    let stride = all[0].max(all[1]).div_ceil(CELLS).max(1);
    let [tall, wide] = all.map(|side| side.div_ceil(stride));
    let size = 16.0;
    let [width, height] = [wide, tall].map(|side| (side.max(1) as f64) * size + 2.0);
    let digits = |rows: &[Vec<u8>]| {
        let row = |row: &Vec<u8>| row.iter().map(|cell| cell.to_string()).collect::<String>();
        rows.iter().map(row).collect::<Vec<_>>().join("; ")
    };
    let caption = Caption {
        title: format!("{name}, {} rows of {} cells", own[0], own[1]),
        finding: if own[0] * own[1] <= 400 {
            digits(rows)
        } else {
            "too large to be read out".to_owned()
        },
        ..Caption::default()
    };
    let scale = cell_width(grids) / size;
    let drawn = [width * scale, height * scale];
    let mut drawing = Drawing::scaled([width, height], drawn, &caption, ids);
    for row in 0..tall {
        for column in 0..wide {
            let at = |rows: &[Vec<u8>]| rows.get(row * stride)?.get(column * stride).copied();
            let [x, y] = [column, row].map(|index| index as f64 * size + 1.0);
            let (cell, expected) = (at(rows), reference.map(|reference| at(reference)));
            match cell {
                Some(cell) => {
                    let color = COLORS.get(usize::from(cell)).unwrap_or(&"#ffffff");
                    let _ = write!(
                        drawing.svg,
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{size}\" height=\"{size}\" fill=\"{color}\" stroke=\"#777\" stroke-width=\".6\"/>"
                    );
                }
                None if expected.flatten().is_some() => {
                    let _ = write!(
                        drawing.svg,
                        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#a33b00\" class=\"gap\" stroke-dasharray=\"3 2\"/>",
                        x + 1.5,
                        y + 1.5,
                        size - 3.0,
                        size - 3.0
                    );
                }
                None => {}
            }
            let is_wrong = cell.is_some() && expected.is_some_and(|expected| expected != cell);
            if is_wrong {
                let path = format!("M{} {}l9 9m0 -9l-9 9", x + 3.5, y + 3.5);
                let _ = write!(
                    drawing.svg,
                    "<path fill=\"none\" stroke=\"#fff\" stroke-width=\"4\" d=\"{path}\"/><path fill=\"none\" stroke=\"#b00020\" stroke-width=\"2\" d=\"{path}\"/>"
                );
            }
        }
    }
    drawing.finish()
}

/// The width of a picture with boxes, and that of boxes alone.
const PICTURE_WIDTHS: [f64; 2] = [480.0, 280.0];
/// The maximum number of boxes of a tone that are drawn.
const BOXES: usize = 30;

/// Boxes over a picture, which is given as its type and its text in base64.
pub(crate) fn boxes(boxes: &Boxes, picture: Option<(&str, String)>, ids: &mut Ids) -> String {
    let side = |size: f64| {
        if size.is_finite() && size > 0.0 {
            size
        } else {
            1.0
        }
    };
    let [wide, high] = boxes.size.map(side);
    let width = PICTURE_WIDTHS[usize::from(picture.is_none())];
    // A picture that is very high has room, and one that is very wide can be seen.
    let height = (width * high / wide).clamp(40.0, 2.5 * width).round();
    let [across, down] = [(wide, width), (high, height)].map(|(values, positions)| Scale {
        values: [0.0, values],
        positions: [0.0, positions],
    });
    let mut drawing = Drawing::new([width, height], &boxes.caption, ids);
    match picture {
        Some((media, data)) => {
            let _ = write!(
                drawing.svg,
                "<image width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" href=\"data:{media};base64,{data}\"/>"
            );
        }
        None => drawing.rect("track", "#e8ecf1", [0.0, 0.0, width, height], ""),
    }
    for kind in [Tone::Good, Tone::Bad] {
        let is_drawn = |item: &&LabeledBox| (item.tone == Tone::Good) == (kind == Tone::Good);
        let drawn: Vec<&LabeledBox> = boxes.boxes.iter().filter(is_drawn).take(BOXES).collect();
        let mut path = String::new();
        for item in &drawn {
            let [left, top, right, bottom] = item.corners;
            let [left, right] = [left, right].map(|x| across.at(x));
            let [top, bottom] = [top, bottom].map(|y| down.at(y));
            let _ = write!(
                path,
                "M{left:.0} {top:.0}H{right:.0}V{bottom:.0}H{left:.0}z"
            );
        }
        if path.is_empty() {
            continue;
        }
        let (class, color) = tone(kind);
        drawing.path("edge", "#fff", 4.0, &path, "");
        let class = match kind {
            Tone::Good => format!("ln {class}"),
            _ => format!("ln {class} dash"),
        };
        drawing.path(&class, color, 2.0, &path, "");
        for item in drawn {
            let [left, top, right, bottom] = item.corners;
            // Labels of the two sides are at opposite corners, unless they would leave the picture.
            let label = plain(&item.label, LABEL);
            let long = LETTER * label.chars().count() as f64;
            let [left, right] = [across.at(left) + 3.0, across.at(right) - 3.0];
            let (x, y, anchor) = match kind {
                Tone::Good if left + long > width && right > long => (right, top, "end"),
                Tone::Good => (left, top, "start"),
                _ if right < long && left + long < width => (left, bottom, "start"),
                _ => (right, bottom, "end"),
            };
            let y = match kind {
                Tone::Good => down.at(y) + 11.0,
                _ => down.at(y) - 4.0,
            };
            let y = y.clamp(10.0, height - 3.0);
            drawing.text([x, y], anchor, "t halo", &label);
        }
    }
    drawing.finish()
}

/// A matrix of counts as a chart: the shade is the share of the row.
pub(crate) fn heatmap(matrix: &Heatmap, ids: &mut Ids) -> String {
    let classes = heatmap_classes(matrix);
    let (size, left, top) = (30.0, 150.0, 96.0);
    let side = size * classes.len() as f64;
    let mut drawing = Drawing::new(
        // The names of the last columns lean over the edge.
        [left + side + 60.0, top + side + 12.0],
        &matrix.caption,
        ids,
    );
    if matrix.sides.iter().any(|side| !side.is_empty()) {
        let [rows, columns] = matrix.sides.each_ref().map(|side| plain(side, LABEL));
        drawing.text([4.0, 14.0], "start", "", &format!("rows: {rows}"));
        drawing.text([4.0, 30.0], "start", "", &format!("columns: {columns}"));
    }
    let name = |index: usize| matrix.classes.get(index).map_or("", String::as_str);
    for (position, &index) in classes.iter().enumerate() {
        let at = size * (position as f64 + 0.5);
        drawing.label([left - 6.0, top + at + 4.0], "end", "t", name(index));
        let [x, y] = [left + at + 4.0, top - 6.0];
        let _ = write!(drawing.svg, "<g transform=\"rotate(-60 {x:.1} {y:.1})\">");
        drawing.label([x, y], "start", "t", name(index));
        drawing.svg.push_str("</g>");
        let total: u64 = matrix
            .cells
            .iter()
            .filter(|cell| cell.0 == index)
            .map(|cell| cell.2)
            .sum();
        for &(row, column, count) in &matrix.cells {
            let Some(across) = classes.binary_search(&column).ok().filter(|_| row == index) else {
                continue;
            };
            let shade = usize::from(shade(count, total.max(1)));
            let [x, y] = [left + size * across as f64, top + at - size / 2.0];
            let [color, front] = [SHADES[shade], if shade > 5 { "#fff" } else { "#000" }];
            let _ = write!(
                drawing.svg,
                "<g class=\"q{shade} cell\"><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{size}\" height=\"{size}\" fill=\"{color}\"/><text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\" text-anchor=\"middle\" fill=\"{front}\">{count}</text></g>",
                x + size / 2.0,
                y + size / 2.0 + 3.5
            );
        }
    }
    drawing.finish()
}

/// The shades of a matrix, as they are in the light theme.
const SHADES: [&str; 10] = [
    "#f4f7fb", "#e3edf8", "#c9ddf1", "#a9c9e8", "#84b1dc", "#5b96cd", "#3673b0", "#23639f",
    "#124a80", "#083360",
];

/// The shade of a count in its row, from 0 for none to 9 for all.
pub(crate) fn shade(count: u64, total: u64) -> u8 {
    match count {
        0 => 0,
        count => (count as f64 / total as f64 * 9.0).ceil().clamp(1.0, 9.0) as u8,
    }
}

/// A chart as a file of its own.
pub(crate) fn standalone(svg: &str) -> String {
    let style = format!(
        "<style>{STANDALONE}</style><rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
    );
    match svg.split_once("</desc>") {
        Some((start, rest)) => format!("{start}</desc>{style}{rest}\n"),
        None => svg.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let ticks = |low, high, count| {
            Scale {
                values: [low, high],
                positions: [0.0, 1.0],
            }
            .ticks(count)
        };
        assert_eq!(
            ticks(0.0, 1.0, 5),
            (vec![0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0], 1)
        );
        assert_eq!(ticks(0.0, 250.0, 3).0, [0.0, 100.0, 200.0]);
        assert_eq!(ticks(0.3, 0.3, 3).0, [0.3]);
        assert_eq!(ticks(0.0, f64::INFINITY, 3).0, [0.0]);
        assert_eq!(ticks(0.0, 1e-300, 3).0.len(), 3);
    }

    #[test]
    fn counts_have_a_round_one_above_them() {
        for (most, ticks) in [
            (0, &[0.0, 1.0][..]),
            (1, &[0.0, 1.0]),
            (3, &[0.0, 1.0, 2.0, 3.0]),
            (5, &[0.0, 2.0, 4.0, 6.0]),
            (22, &[0.0, 10.0, 20.0, 30.0]),
            (300, &[0.0, 100.0, 200.0, 300.0]),
            (572_618, &[0.0, 200_000.0, 400_000.0, 600_000.0]),
        ] {
            assert_eq!(count_ticks(most), ticks);
        }
        assert!(count_ticks(u64::MAX).last() >= Some(&1.8e19));
    }

    #[test]
    fn curves_keep_their_ends_and_extremes() {
        let mut points: Vec<[f64; 2]> = (0..10_000).map(|x| [f64::from(x), 0.5]).collect();
        points[1234][1] = 9.0;
        points[4321][1] = -9.0;
        points[77][1] = f64::NAN;
        let kept = reduced(&points);
        assert!(kept.len() <= POINTS, "{}", kept.len());
        assert_eq!(
            (kept[0], kept[kept.len() - 1]),
            ([0.0, 0.5], [9_999.0, 0.5])
        );
        assert!(kept.contains(&[1234.0, 9.0]) && kept.contains(&[4321.0, -9.0]));
        assert!(kept.is_sorted_by(|a, b| a[0] < b[0]));
    }

    #[test]
    fn values_beyond_the_range_have_a_bar() {
        let mut chart = Histogram {
            range: [0.0, 1.0],
            bins: vec![1, 0],
            beyond: [0, 3],
            unit: "examples".to_owned(),
            mark: Some((1.8, "all together:".to_owned())),
            ..Histogram::default()
        };
        let bars = |chart: &Histogram| -> Vec<(String, u64)> {
            let bars = histogram_bars(chart).into_iter();
            bars.map(|bar| (bar.range, bar.count)).collect()
        };
        let bar = |range: &str, count| (range.to_owned(), count);
        let in_range = [bar("0.00 to 0.50", 1), bar("0.50 to 1.00", 0)];
        let above = [&in_range[..], &[bar("above 1.00", 3)]].concat();
        assert_eq!(bars(&chart), above);
        let svg = histogram(&chart, 4, &mut Ids::default());
        assert!(
            svg.contains("<title>above 1.00: 3 examples</title>"),
            "{svg}"
        );
        assert!(svg.contains("&gt; 1.0"), "{svg}");
        // Five bins in all: two of the range, a gap, and the bar of two. The mark is in its middle.
        assert!(svg.contains("d=\"M384.0 194.0V14.0\""), "{svg}");
        chart.beyond = [2, 0];
        assert_eq!(bars(&chart)[0], bar("below 0.00", 2));
    }

    #[test]
    fn dots_have_no_line_between_them() {
        let chart = Lines {
            lines: vec![Line {
                points: vec![[1.0, 0.5], [4.0, 1.0]],
                dots: true,
                ..Line::default()
            }],
            ..Lines::default()
        };
        let svg = lines(&chart, &mut Ids::default());
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(!svg.contains("class=\"ln"), "{svg}");
    }

    #[test]
    fn grids_mark_what_differs() {
        let grids = Grids {
            grids: vec![
                ("truth".to_owned(), vec![vec![1, 2], vec![3, 4]]),
                ("prediction".to_owned(), vec![vec![1, 5]]),
            ],
        };
        let svg = grid(&grids, 1, &mut Ids::default());
        assert_eq!(svg.matches("#b00020").count(), 1);
        assert_eq!(svg.matches("class=\"gap\"").count(), 2);
        assert!(svg.contains("<desc id=\"c1-d\">15</desc>"), "{svg}");
    }
}
