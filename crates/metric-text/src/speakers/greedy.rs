//! The greedy search for a stream for each segment.

use std::ops::Range;

use super::Size;
use super::limits::{Budget, TIMED_CELLS};
use super::sides::Words;
use super::timed::{Bounds, Text};
use crate::edit::OutOfCells;

/// The most rounds with each cost of substitutions.
const ROUNDS: usize = 49;
/// The cells of [`Cells`](crate::edit::Cells) that are computed in the time of one cell here, where 64 of them are not one
/// operation.
const CELLS: u64 = 16;

/// Improves the stream of each segment, as MeetEval 0.4.3 does: round by round, each segment goes where the sum of costs is
/// least while all others stay. At first a substitution costs as much as a deletion and an insertion.
///
/// Takes a step for each unit of the segments and each unit of the streams, in each round; with times, only for units that can
/// meet, and for each segment and each unit of the streams.
pub(super) fn search(
    segments: &[Text<'_>],
    streams: &[Text<'_>],
    assignment: &mut [usize],
    budget: &mut Budget,
) -> Result<(), OutOfCells> {
    // Each segment keeps the costs of what is after it in its stream.
    let longest = streams.iter().map(|stream| stream.len() as u64 + 1).max();
    let kept = longest
        .unwrap_or(0)
        .saturating_mul((segments.len() + streams.len()) as u64);
    budget.check_memory(kept, size_of::<u32>())?;
    let last_segments: Vec<Words> = segments.iter().rev().map(Words::reversed).collect();
    let reversed_streams: Vec<Words> = streams.iter().map(Words::reversed).collect();
    let directions = [
        Direction::new(segments.to_vec(), streams.to_vec()),
        Direction::new(
            last_segments.iter().map(Words::text).collect(),
            reversed_streams.iter().map(Words::text).collect(),
        ),
    ];
    let forward = &directions[0];
    let all = (0..segments.len())
        .flat_map(|segment| (0..streams.len()).map(move |stream| (segment, stream)))
        .fold(0, |sum: u64, (segment, stream)| {
            sum.saturating_add(forward.cells(segment, stream))
        });
    for substitution in [2, 1] {
        for _ in 0..ROUNDS {
            budget.cells.spend(all)?;
            // And backward, where each segment is.
            for (segment, stream) in assignment.iter().enumerate() {
                budget.cells.spend(forward.cells(segment, *stream))?;
            }
            if !improve(&directions, assignment, substitution) {
                break;
            }
        }
    }
    Ok(())
}

/// A stream in a round.
struct Stream {
    /// The least costs of its segments up to the current one, for each end in the stream.
    forward: Vec<u32>,
    /// The same of the later segments from the end of the stream: after each of them, and at first after none.
    backward: Vec<Vec<u32>>,
    cost: u32,
}

/// Segments and streams, read from one end.
struct Direction<'t> {
    segments: Vec<Text<'t>>,
    streams: Vec<(Text<'t>, Bounds)>,
}

impl<'t> Direction<'t> {
    fn new(segments: Vec<Text<'t>>, streams: Vec<Text<'t>>) -> Self {
        let streams = streams
            .into_iter()
            .map(|stream| (stream, Bounds::new(stream.times)));
        Self {
            segments,
            streams: streams.collect(),
        }
    }

    /// The units of a stream that can meet a segment. Before them, and after them, it is deleted.
    fn met(&self, segment: usize, stream: usize) -> Range<usize> {
        let (segment, (stream, bounds)) = (&self.segments[segment], &self.streams[stream]);
        match (
            segment.times.iter().map(|time| time.start).min(),
            segment.times.iter().map(|time| time.end).max(),
        ) {
            (Some(start), Some(end)) if stream.is_timed() => bounds.may_meet(start, end),
            _ => 0..stream.len(),
        }
    }

    /// The cells that [`advance`](Self::advance) takes.
    fn cells(&self, segment: usize, stream: usize) -> u64 {
        let (met, (text, _)) = (self.met(segment, stream), &self.streams[stream]);
        let segment = &self.segments[segment];
        let cells = if segment.is_timed_with(text) {
            TIMED_CELLS
        } else {
            CELLS
        };
        let steps = (segment.len() as u64).saturating_mul(met.len() as u64 + 1);
        let column = (text.len() as u64 + 1).saturating_mul(CELLS);
        steps.saturating_mul(cells).saturating_add(column)
    }

    /// The costs of a column after one more segment.
    fn advance(&self, column: &mut [u32], segment: usize, stream: usize, substitution: u32) {
        let met = self.met(segment, stream);
        let (segment, (stream, _)) = (&self.segments[segment], &self.streams[stream]);
        let deletions = segment.len() as u32;
        for cost in &mut column[..met.start] {
            *cost += deletions;
        }
        for unit in 0..segment.len() {
            let mut diagonal = column[met.start];
            let mut left = diagonal + 1;
            column[met.start] = left;
            for (index, cell) in met.clone().zip(&mut column[met.start + 1..]) {
                let upper = *cell;
                let mut cost = upper.min(left) + 1;
                if segment.meets(unit, stream, index) {
                    let is_equal = segment.units[unit] == stream.units[index];
                    cost = if is_equal {
                        diagonal
                    } else {
                        cost.min(diagonal + substitution)
                    };
                }
                (diagonal, left, *cell) = (upper, cost, cost);
            }
        }
        let mut left = column[met.end];
        for cost in &mut column[met.end + 1..] {
            left = (*cost + deletions).min(left + 1);
            *cost = left;
        }
    }
}

/// One round. Returns whether a segment has moved.
fn improve(
    [forward, backward]: &[Direction<'_>; 2],
    assignment: &mut [usize],
    substitution: u32,
) -> bool {
    let insertions = |length: usize| (0..=length as u32).collect::<Vec<u32>>();
    let stream = |(text, _): &(Text<'_>, Bounds)| Stream {
        forward: insertions(text.len()),
        backward: vec![insertions(text.len())],
        cost: 0,
    };
    let mut streams: Vec<Stream> = forward.streams.iter().map(stream).collect();
    for (index, &stream) in assignment.iter().rev().enumerate() {
        let columns = &mut streams[stream].backward;
        let mut column = columns.last().cloned().unwrap_or_default();
        backward.advance(&mut column, index, stream, substitution);
        columns.push(column);
    }
    for stream in &mut streams {
        let whole = stream.backward.last().and_then(|column| column.last());
        stream.cost = whole.copied().unwrap_or(0);
    }
    let mut has_moved = false;
    let mut advanced: Vec<Vec<u32>> = vec![Vec::new(); streams.len()];
    for (segment, assigned) in assignment.iter_mut().enumerate() {
        streams[*assigned].backward.pop();
        // The stream with the least cost of the segment, and that cost; the cost where it is now, and without it there.
        let mut best: Option<(Size, usize, u32)> = None;
        let mut current = (0, 0);
        for (index, stream) in streams.iter().enumerate() {
            let column = &mut advanced[index];
            column.clone_from(&stream.forward);
            forward.advance(column, segment, index, substitution);
            let is_current = index == *assigned;
            let before = if is_current {
                &stream.forward
            } else {
                &*column
            };
            let after = stream.backward.last().map_or(&[][..], Vec::as_slice);
            let sums = before.iter().zip(after.iter().rev());
            let other = sums
                .map(|(before, after)| before + after)
                .min()
                .unwrap_or(0);
            let (with, without) = if is_current {
                (stream.cost, other)
            } else {
                (other, stream.cost)
            };
            let difference = Size::from(with) - Size::from(without);
            if is_current {
                current = (difference, without);
            }
            if best.is_none_or(|(least, ..)| difference < least) {
                best = Some((difference, index, with));
            }
        }
        if let Some((least, index, with)) = best
            && least < current.0
        {
            streams[*assigned].cost = current.1;
            streams[index].cost = with;
            *assigned = index;
            has_moved = true;
        }
        std::mem::swap(&mut streams[*assigned].forward, &mut advanced[*assigned]);
    }
    has_moved
}
