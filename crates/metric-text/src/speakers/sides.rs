//! Both sides of a session with the same numbers for units, and the searches on them.

use std::borrow::Cow;

use metric_core::Merge;

use super::limits::Budget;
use super::time::Interval;
use super::timed::{self, Text};
use super::{Size, Speech, exact, greedy, pairing};
use crate::Edits;
use crate::edit::OutOfCells;

/// A side of a session, with units that have the same numbers on both sides.
pub(super) struct Side<'s> {
    pub(super) speech: &'s Speech,
    units: Cow<'s, [u32]>,
}

/// The words of a speaker.
#[derive(Default)]
pub(super) struct Words {
    units: Vec<u32>,
    times: Vec<Interval>,
}

impl Words {
    /// The words of a text from its end.
    pub(super) fn reversed(text: &Text<'_>) -> Self {
        Self {
            units: text.units.iter().rev().copied().collect(),
            times: text.times.iter().rev().copied().collect(),
        }
    }

    pub(super) fn text(&self) -> Text<'_> {
        Text {
            units: &self.units,
            times: &self.times,
        }
    }
}

/// The text of a speaker, empty if there are fewer.
pub(super) fn text_of(texts: &[Words], index: usize) -> Text<'_> {
    texts.get(index).map(Words::text).unwrap_or_default()
}

pub(super) fn sides<'s>(prediction: &'s Speech, reference: &'s Speech) -> [Side<'s>; 2] {
    let numbers = prediction.known.numbers_in(&reference.known);
    let number = |unit: &u32| numbers.get(*unit as usize).copied().unwrap_or_default();
    [
        Side {
            speech: prediction,
            units: prediction.units.iter().map(number).collect(),
        },
        Side {
            speech: reference,
            units: Cow::Borrowed(&reference.units),
        },
    ]
}

impl<'s> Side<'s> {
    /// The segments in their order.
    pub(super) fn segments(&self) -> Vec<Text<'_>> {
        let text = |index| {
            let range = self.speech.range(index);
            Text {
                units: self.units.get(range.clone()).unwrap_or_default(),
                times: self.speech.times.get(range).unwrap_or_default(),
            }
        };
        (0..self.speech.segments.len()).map(text).collect()
    }

    /// The words of each speaker.
    pub(super) fn speakers(&self) -> Vec<Words> {
        let speakers = self.speech.segments.iter();
        let speakers: Vec<Option<usize>> = speakers.map(|(speaker, ..)| Some(*speaker)).collect();
        self.joined(&speakers, self.speech.speakers.len())
    }

    /// The segments, joined by what they are assigned to, which is one of so many.
    fn joined(&self, assignment: &[Option<usize>], count: usize) -> Vec<Words> {
        let mut joined: Vec<Words> = (0..count).map(|_| Words::default()).collect();
        for (segment, assigned) in self.segments().into_iter().zip(assignment) {
            if let Some(words) = assigned.and_then(|assigned| joined.get_mut(assigned)) {
                words.units.extend_from_slice(segment.units);
                words.times.extend_from_slice(segment.times);
            }
        }
        joined
    }

    pub(super) fn name(&self, speaker: usize) -> Option<&'s str> {
        self.speech.speakers.get(speaker).map(String::as_str)
    }

    /// The names to which segments are assigned, in the order in which the segments are listed.
    pub(super) fn as_listed(
        &self,
        assignment: &[Option<usize>],
        to: &Side<'s>,
    ) -> Vec<Option<&'s str>> {
        let mut names = vec![None; assignment.len()];
        for ((_, listed, _), assigned) in self.speech.segments.iter().zip(assignment) {
            if let Some(name) = names.get_mut(*listed) {
                *name = assigned.and_then(|assigned| to.name(assigned));
            }
        }
        names
    }
}

/// The errors of each pair of a speaker and a stream, as a square matrix, and its size. The shorter side is filled with
/// speakers without words.
pub(super) fn pair_costs(
    speakers: &[Words],
    streams: &[Words],
    budget: &mut Budget,
) -> Result<(Vec<Size>, usize), OutOfCells> {
    let size = speakers.len().max(streams.len());
    let pairs = (size as u64).saturating_mul(size as u64);
    budget.check_memory(pairs, size_of::<Size>())?;
    // What the pairing takes afterwards.
    budget.cells.spend(pairs.saturating_mul(size as u64))?;
    let texts = || {
        (0..size).flat_map(|row| {
            (0..size).map(move |column| (text_of(speakers, row), text_of(streams, column)))
        })
    };
    // What takes too long is refused before it starts.
    for (speaker, stream) in texts() {
        timed::reserve(speaker, stream, budget)?;
    }
    let costs = texts().map(|(speaker, stream)| timed::errors(speaker, stream, budget));
    Ok((costs.collect::<Result<_, _>>()?, size))
}

/// The speaker of another side to which each segment goes, by the greedy search.
pub(super) fn assign_greedily(
    from: &Side<'_>,
    to: &Side<'_>,
    budget: &mut Budget,
) -> Result<Vec<Option<usize>>, OutOfCells> {
    let (segments, speakers, streams) = (from.segments(), from.speakers(), to.speakers());
    if streams.is_empty() {
        return Ok(vec![None; segments.len()]);
    }
    let (costs, size) = pair_costs(&speakers, &streams, budget)?;
    let mut paired = pairing::pair(&costs, size);
    for (row, column) in paired.iter_mut().enumerate() {
        if *column >= streams.len() {
            let cost = |stream: &usize| costs[row * size + stream];
            *column = (0..streams.len()).min_by_key(cost).unwrap_or_default();
        }
    }
    let of_speaker = |(speaker, ..): &(usize, usize, usize)| paired[*speaker];
    let mut assignment: Vec<usize> = from.speech.segments.iter().map(of_speaker).collect();
    let streams: Vec<Text<'_>> = streams.iter().map(Words::text).collect();
    greedy::search(&segments, &streams, &mut assignment, budget)?;
    Ok(assignment.into_iter().map(Some).collect())
}

/// The speaker of another side to which each segment goes, by the exact search.
pub(super) fn assign_exactly(
    from: &Side<'_>,
    to: &Side<'_>,
    budget: &mut Budget,
) -> Result<Vec<Option<usize>>, OutOfCells> {
    let (segments, streams) = (from.segments(), to.speakers());
    let is_timed = from.speech.is_timed;
    // With times, segments and streams without words take no part.
    let counts = |text: &Text<'_>| !is_timed || text.len() > 0;
    let streams = streams.iter().map(Words::text).enumerate();
    let (numbers, streams): (Vec<usize>, Vec<Text<'_>>) =
        streams.filter(|(_, stream)| counts(stream)).unzip();
    let spoken: Vec<Text<'_>> = segments.iter().copied().filter(|it| counts(it)).collect();
    let found = if streams.is_empty() {
        Vec::new()
    } else {
        exact::search(&spoken, &streams, budget)?
    };
    let first_name = (0..to.speech.speakers.len()).min_by_key(|speaker| to.name(*speaker));
    let mut found = found.into_iter();
    let assigned = |segment: &Text<'_>| {
        if counts(segment) {
            numbers.get(found.next()?).copied()
        } else {
            first_name
        }
    };
    Ok(segments.iter().map(assigned).collect())
}

/// The edits between the speakers of a side and the segments that are assigned to each.
pub(super) fn assigned_edits(
    from: &Side<'_>,
    to: &Side<'_>,
    assignment: &[Option<usize>],
    budget: &mut Budget,
) -> Result<Edits, OutOfCells> {
    let streams = to.speakers();
    let mut all = Edits::default();
    for (words, stream) in from.joined(assignment, streams.len()).iter().zip(&streams) {
        all.merge(timed::edits(words.text(), stream.text(), budget)?);
    }
    let segments = from.segments();
    let lost = segments
        .iter()
        .zip(assignment)
        .filter(|(_, to)| to.is_none());
    all.deletions += lost.map(|(segment, _)| segment.len() as u64).sum::<u64>();
    Ok(all)
}
