//! The exact search for a stream for each segment, over all positions in all streams at once.

use std::borrow::Cow;
use std::ops::Add;

use super::limits::Budget;
use super::timed::{Bounds, Text};
use crate::edit::OutOfCells;

/// A cost of the table. Narrow ones take less memory, and more of them are updated at once.
trait Cost: Copy + Ord + Add<Output = Self> + TryFrom<usize> {
    const ONE: Self;
    const MOST: Self;

    /// A number of errors, of which there are never too many.
    fn of(errors: usize) -> Self {
        Self::try_from(errors).unwrap_or(Self::MOST)
    }
}

impl Cost for i16 {
    const ONE: Self = 1;
    const MOST: Self = Self::MAX;
}

impl Cost for i32 {
    const ONE: Self = 1;
    const MOST: Self = Self::MAX;
}

/// The cells of [`Cells`](crate::edit::Cells) that are computed in the time of one cell here: fewer are updated at once.
const CELLS: u64 = 3;
/// The same for the start of a row of such cells.
const ROW_CELLS: u64 = 64;

/// Returns the stream of each segment with which the fewest errors are made.
///
/// Of several assignments, it is the one that MeetEval 0.4.3 finds without times: traced back from the end, the first stream
/// with the least cost.
///
/// A table has a cell for each combination of positions in the streams. Each unit of the segments updates all cells once
/// per stream, and the tables of all segments are kept.
pub(super) fn search(
    segments: &[Text<'_>],
    streams: &[Text<'_>],
    budget: &mut Budget,
) -> Result<Vec<usize>, OutOfCells> {
    let positions = (segments.len() as u64).saturating_mul(streams.len() as u64);
    budget.check_memory(positions, size_of::<(usize, usize)>())?;
    let spans = spans(segments, streams);
    let sizes = spans.iter().map(|span| span.size());
    let sizes: Vec<u64> = sizes.collect::<Option<_>>().ok_or(OutOfCells)?;
    let total = sizes
        .iter()
        .try_fold(0_u64, |sum, size| sum.checked_add(*size));
    let units: usize = segments.iter().chain(streams).map(Text::len).sum();
    let is_narrow = units < usize::from(i16::MAX.unsigned_abs());
    let size = if is_narrow {
        size_of::<i16>()
    } else {
        size_of::<i32>()
    };
    budget.check_memory(total.ok_or(OutOfCells)?, size)?;
    for ((segment, span), size) in segments.iter().zip(&spans).zip(&sizes) {
        // Each unit of the segment updates all cells, in a row for each position of the stream to which it may go. Copying
        // them takes as much as another unit.
        let updates = segment.len() as u64 + 1;
        for stream in span.open() {
            let (rows, _) = span.shape(stream);
            let cells = size
                .saturating_mul(CELLS)
                .saturating_add(rows as u64 * ROW_CELLS);
            budget.cells.spend(cells.saturating_mul(updates))?;
        }
    }
    Ok(if is_narrow {
        assign::<i16>(segments, streams, spans)
    } else {
        assign::<i32>(segments, streams, spans)
    })
}

fn assign<C: Cost>(segments: &[Text<'_>], streams: &[Text<'_>], spans: Vec<Span>) -> Vec<usize> {
    let mut tables: Vec<Table<C>> = Vec::with_capacity(segments.len());
    for (segment, span) in segments.iter().zip(spans) {
        let start = Table::start(streams.len());
        let extended = tables.last().unwrap_or(&start).extended(&span);
        tables.push(extended.updated(*segment, streams));
    }
    trace(segments, streams, &tables)
}

/// The part of the streams that counts for a segment: of each stream the first and the last position.
#[derive(Clone, Debug, PartialEq)]
struct Span(Vec<(usize, usize)>);

impl Span {
    /// The number of combinations.
    fn size(&self) -> Option<u64> {
        let mut lengths = self.0.iter().map(|(first, last)| (last - first + 1) as u64);
        lengths.try_fold(1_u64, u64::checked_mul)
    }

    /// The number of positions of a stream, and that of combinations of positions in the streams after it.
    fn shape(&self, stream: usize) -> (usize, usize) {
        let length = |(first, last): &(usize, usize)| last - first + 1;
        let after = self.0[stream + 1..].iter().map(length).product();
        (length(&self.0[stream]), after)
    }

    /// The streams to which a segment may go: those with units that it may meet, or the last one.
    fn open(&self) -> impl Iterator<Item = usize> {
        let is_open = |stream: &usize| self.0[*stream].0 < self.0[*stream].1;
        let open: Vec<usize> = (0..self.0.len()).filter(is_open).collect();
        let last = if open.is_empty() {
            self.0.len().checked_sub(1)
        } else {
            None
        };
        open.into_iter().chain(last)
    }
}

/// The spans of all segments. Without times, these are the whole streams, and none is left out.
fn spans(segments: &[Text<'_>], streams: &[Text<'_>]) -> Vec<Span> {
    let is_timed = segments.iter().chain(streams).any(Text::is_timed);
    if !is_timed {
        let whole = Span(streams.iter().map(|stream| (0, stream.len())).collect());
        return vec![whole; segments.len()];
    }
    let bounds: Vec<Bounds> = streams
        .iter()
        .map(|stream| Bounds::new(stream.times))
        .collect();
    // The first start in a segment or a later one.
    let mut begins = Vec::with_capacity(segments.len());
    for segment in segments.iter().rev() {
        let own = segment.times.iter().map(|time| time.start).min();
        let later = begins.last().copied().flatten();
        begins.push(own.into_iter().chain(later).min());
    }
    begins.reverse();
    let mut end = None;
    let mut spans: Vec<Span> = Vec::with_capacity(segments.len());
    for (segment, begin) in segments.iter().zip(begins) {
        end = segment.times.iter().map(|time| time.end).chain(end).max();
        let before = spans.last();
        let span = bounds.iter().enumerate().map(|(stream, bounds)| {
            let mut first = before.map_or(0, |span| span.0[stream].0);
            while begin.is_some_and(|begin| bounds.ends.get(first).is_some_and(|end| *end < begin))
            {
                first += 1;
            }
            let is_before = |end| bounds.starts.partition_point(|start| *start < end);
            (first, end.map_or(first, is_before).max(first))
        });
        spans.push(Span(span.collect()));
    }
    spans
}

/// The least costs of the segments so far for each combination of positions in the streams, the last stream changing
/// fastest. Behind the last position of a stream, each unit is an insertion.
#[derive(Clone)]
struct Table<C> {
    span: Span,
    costs: Vec<C>,
}

impl<C: Cost> Table<C> {
    /// Nothing costs nothing at the start of all streams.
    fn start(streams: usize) -> Self {
        Self {
            span: Span(vec![(0, 0); streams]),
            costs: vec![C::of(0)],
        }
    }

    /// The same costs for other positions, stream by stream.
    fn extended(&self, span: &Span) -> Cow<'_, Self> {
        let mut table = Cow::Borrowed(self);
        for (stream, &(first, last)) in span.0.iter().enumerate() {
            let (length, after) = table.span.shape(stream);
            let (known_first, known_last) = table.span.0[stream];
            if (first, last) == (known_first, known_last) {
                continue;
            }
            let mut costs = Vec::with_capacity(table.costs.len() / length * (last - first + 1));
            for lines in table.costs.chunks_exact(length * after) {
                for position in first..=last {
                    let known = position.min(known_last);
                    let more = C::of(position - known);
                    let start = (known - known_first) * after;
                    costs.extend(lines[start..start + after].iter().map(|cost| *cost + more));
                }
            }
            let mut span = table.span.clone();
            span.0[stream] = (first, last);
            table = Cow::Owned(Self { span, costs });
        }
        table
    }

    /// The costs after a segment, which goes to the stream where it costs least.
    fn updated(&self, segment: Text<'_>, streams: &[Text<'_>]) -> Self {
        let mut costs = vec![C::MOST; self.costs.len()];
        let mut lines = costs.clone();
        for stream in self.span.open() {
            let (length, after) = self.span.shape(stream);
            let before = self.costs.len() / (length * after);
            // All lines along the stream next to each other, so that all are updated at once: the cells of a block are those
            // of the streams after it.
            let width = before * after;
            for (block, costs) in self.costs.chunks_exact(length * after).enumerate() {
                let from = costs.chunks_exact(after);
                for (from, to) in from.zip(lines.chunks_exact_mut(width)) {
                    copy(&mut to[block * after..], from);
                }
            }
            let first = self.span.0[stream].0;
            for unit in 0..segment.len() {
                update_lines(&mut lines, width, (segment, unit), (streams[stream], first));
            }
            for (block, costs) in costs.chunks_exact_mut(length * after).enumerate() {
                let to = costs.chunks_exact_mut(after);
                for (to, from) in to.zip(lines.chunks_exact(width)) {
                    for (cost, updated) in to.iter_mut().zip(&from[block * after..]) {
                        *cost = (*cost).min(*updated);
                    }
                }
            }
        }
        Self {
            span: self.span.clone(),
            costs,
        }
    }

    /// The cost of a combination of positions, none before the first.
    fn cost(&self, positions: &[usize]) -> C {
        let mut index = 0;
        let mut more = 0;
        for (position, (first, last)) in positions.iter().zip(&self.span.0) {
            let known = position.min(last);
            index = index * (last - first + 1) + known - first;
            more += position - known;
        }
        self.costs[index] + C::of(more)
    }
}

/// Copies numbers of which there are often few.
fn copy<C: Copy>(to: &mut [C], from: &[C]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Updates lines for a unit of a segment. The costs of all lines at a position are `width` numbers; the lines begin at a
/// position of the stream.
fn update_lines<C: Cost>(
    lines: &mut [C],
    width: usize,
    (segment, unit): (Text<'_>, usize),
    (stream, first): (Text<'_>, usize),
) {
    let (start, _) = lines.split_at_mut(width);
    // The costs before the unit, one position before.
    let mut diagonal = start.to_vec();
    for cost in start {
        *cost = *cost + C::ONE;
    }
    for (index, at) in (width..lines.len()).step_by(width).enumerate() {
        let (left, row) = lines.split_at_mut(at);
        let (left, row) = (&left[at - width..], &mut row[..width]);
        let meets = segment.meets(unit, &stream, first + index);
        let cells = row.iter_mut().zip(left).zip(&mut diagonal);
        if meets && segment.units[unit] == stream.units[first + index] {
            for ((cost, _), diagonal) in cells {
                std::mem::swap(cost, diagonal);
            }
        } else if meets {
            for ((cost, left), diagonal) in cells {
                let upper = *cost;
                *cost = upper.min(*left).min(*diagonal) + C::ONE;
                *diagonal = upper;
            }
        } else {
            for ((cost, left), diagonal) in cells {
                let upper = *cost;
                *cost = upper.min(*left) + C::ONE;
                *diagonal = upper;
            }
        }
    }
}

/// The stream of each segment, from the last one.
fn trace<C: Cost>(segments: &[Text<'_>], streams: &[Text<'_>], tables: &[Table<C>]) -> Vec<usize> {
    let mut positions: Vec<usize> = streams.iter().map(Text::len).collect();
    let mut assignment = vec![0; segments.len()];
    let start = Table::start(streams.len());
    for index in (0..segments.len()).rev() {
        let table = &tables[index];
        let before = index
            .checked_sub(1)
            .map_or(&start, |before| &tables[before]);
        for (position, (_, last)) in positions.iter_mut().zip(&table.span.0) {
            *position = (*position).min(*last);
        }
        let cost = table.cost(&positions);
        for stream in table.span.open() {
            let (first, _) = table.span.0[stream];
            let end = positions[stream];
            let mut line: Vec<(C, usize)> = (first..=end)
                .map(|position| {
                    positions[stream] = position;
                    (before.cost(&positions), position)
                })
                .collect();
            positions[stream] = end;
            for unit in 0..segments[index].len() {
                update_line(&mut line, (segments[index], unit), (streams[stream], first));
            }
            if let Some(&(_, origin)) = line.last().filter(|(found, _)| *found == cost) {
                assignment[index] = stream;
                positions[stream] = origin;
                break;
            }
        }
    }
    assignment
}

/// The same update of a single line, of which each cost has the position from which its path starts.
fn update_line<C: Cost>(
    line: &mut [(C, usize)],
    (segment, unit): (Text<'_>, usize),
    (stream, first): (Text<'_>, usize),
) {
    let mut diagonal = line[0];
    line[0].0 = line[0].0 + C::ONE;
    for index in 1..line.len() {
        let upper = line[index];
        let meets = segment.meets(unit, &stream, first + index - 1);
        let best = if meets && segment.units[unit] == stream.units[first + index - 1] {
            diagonal
        } else {
            let left = line[index - 1];
            let mut best = if upper.0 < left.0 { upper } else { left };
            if meets && diagonal.0 < best.0 {
                best = diagonal;
            }
            (best.0 + C::ONE, best.1)
        };
        diagonal = upper;
        line[index] = best;
    }
}
