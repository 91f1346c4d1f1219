//! One side of a session: segments of speakers, cut into units with their times.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use metric_core::named_choice;

use super::time::{Instant, Interval, Time};
use crate::edit::{EditProfile, Interner};
use crate::normalize::is_space;
use crate::{Normalizer, Unit};

/// A part of a transcript: what a speaker says from one time to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Segment {
    /// The name of the speaker, if it is known. All segments without a name are of one speaker, whose name is the empty text.
    pub speaker: Option<String>,
    /// Where the segment starts and ends, if that is known.
    pub times: Option<(Time, Time)>,
    /// What is said. A segment without words says that its speaker exists.
    pub words: String,
}

impl Segment {
    /// Returns a segment without times.
    ///
    /// ```
    /// use metric_text::speakers::Segment;
    ///
    /// let segment = Segment::new("Ada", "good morning");
    /// assert_eq!(segment.times, None);
    /// ```
    #[must_use]
    pub fn new(speaker: impl Into<String>, words: impl Into<String>) -> Self {
        Self {
            speaker: Some(speaker.into()),
            ..Self::unnamed(words)
        }
    }

    /// Returns a segment without times and without a speaker.
    #[must_use]
    pub fn unnamed(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            ..Self::default()
        }
    }

    fn name(&self) -> &str {
        self.speaker.as_deref().unwrap_or_default()
    }

    /// Returns the segment with times.
    #[must_use]
    pub fn from_to(mut self, start: Time, end: Time) -> Self {
        self.times = Some((start, end));
        self
    }
}

/// The order in which segments follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// `auto`: by start if all segments of this side of the session have times, otherwise as listed.
    #[default]
    Auto,
    /// `start`: by start. Segments that start at the same time keep their order.
    Start,
    /// `file`: as listed.
    File,
}

impl Order {
    /// All orders.
    pub const ALL: &[Self] = &[Self::Auto, Self::Start, Self::File];

    /// Returns the name of the order.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Start => "start",
            Self::File => "file",
        }
    }
}

named_choice!(Order, "order");

/// How the time of a segment is divided among its words. The names of MeetEval follow in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Timing {
    /// `characters`: in proportion to their lengths in code points (`character_based`).
    Characters,
    /// `character-points`: the middles of these intervals (`character_based_points`).
    CharacterPoints,
    /// `equal`: into equal intervals (`equidistant_intervals`).
    Equal,
    /// `equal-points`: the middles of these intervals (`equidistant_points`).
    EqualPoints,
    /// `segment`: each word has the time of its segment (`full_segment`).
    Segment,
    /// `word`: each segment is one word (`none`).
    Word,
}

impl Timing {
    /// All timings.
    pub const ALL: &[Self] = &[
        Self::Characters,
        Self::CharacterPoints,
        Self::Equal,
        Self::EqualPoints,
        Self::Segment,
        Self::Word,
    ];

    /// Returns the name of the timing.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Characters => "characters",
            Self::CharacterPoints => "character-points",
            Self::Equal => "equal",
            Self::EqualPoints => "equal-points",
            Self::Segment => "segment",
            Self::Word => "word",
        }
    }

    /// Adds the intervals of words of these lengths, with a collar at both ends.
    fn add(
        self,
        (start, end): (Time, Time),
        lengths: &[u64],
        collar: Time,
        times: &mut Vec<Interval>,
    ) {
        let is_by_length = matches!(self, Self::Characters | Self::CharacterPoints);
        let weight = |length: u64| if is_by_length { length } else { 1 };
        let total: u64 = lengths.iter().copied().map(weight).sum();
        let mut before = 0;
        for length in lengths {
            let after = before + weight(*length);
            let (from, to) = match self {
                Self::Characters | Self::Equal => (2 * before, 2 * after),
                Self::CharacterPoints | Self::EqualPoints => (before + after, before + after),
                Self::Segment | Self::Word => (0, 2 * total),
            };
            let at = |part, by| Instant::between(start, end, part, 2 * total, by);
            times.push(Interval {
                start: at(from, -collar.0),
                end: at(to, collar.0),
            });
            before = after;
        }
    }
}

named_choice!(Timing, "timing");

/// A tolerance for times: words match only if their times meet within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Collar {
    /// The tolerance, at least 0. 5 seconds are usual.
    pub collar: Time,
    /// The times of the words of the reference.
    pub reference: Timing,
    /// The times of the words of the prediction.
    pub prediction: Timing,
}

impl Collar {
    /// Returns a collar with the usual times of words: intervals by characters in the reference, and points by characters in
    /// the prediction.
    ///
    /// # Errors
    ///
    /// Returns an error if the tolerance is negative.
    pub fn new(collar: Time) -> Result<Self, NegativeCollar> {
        if collar < Time::default() {
            return Err(NegativeCollar(collar));
        }
        Ok(Self {
            collar,
            reference: Timing::Characters,
            prediction: Timing::CharacterPoints,
        })
    }
}

/// The error for a tolerance below 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NegativeCollar(pub Time);

impl fmt::Display for NegativeCollar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(collar) = self;
        write!(
            f,
            "negative collar {collar}: expected a number of seconds, at least 0"
        )
    }
}

impl std::error::Error for NegativeCollar {}

metric_core::setters!(Collar {
    with_reference => reference: Timing,
    with_prediction => prediction: Timing,
});

/// How segments become speech: normalization, units, order and times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Preparation {
    /// The normalization of the words of each segment.
    pub normalizer: Normalizer,
    /// The unit that is counted. Words are separated by any white space, and characters do without.
    pub unit: Unit,
    /// The order of segments.
    pub order: Order,
    /// The tolerance for times. Without one, times only order the segments.
    pub collar: Option<Collar>,
}

metric_core::setters!(Preparation {
    with_normalizer => normalizer: Normalizer,
    with_unit => unit: Unit,
    with_order => order: Order,
    with_collar => collar: Option<Collar>,
});

impl Preparation {
    /// Returns the speech of a reference.
    ///
    /// # Errors
    ///
    /// Returns an error if a segment ends before it starts, or does not have the times that are needed.
    pub fn reference(&self, segments: &[Segment]) -> Result<Speech, InvalidSegment> {
        let timing = self
            .collar
            .map(|collar| (collar.reference, Time::default()));
        Speech::new(segments, self, timing)
    }

    /// Returns the speech of a prediction.
    ///
    /// # Errors
    ///
    /// Returns an error if a segment ends before it starts, or does not have the times that are needed.
    pub fn prediction(&self, segments: &[Segment]) -> Result<Speech, InvalidSegment> {
        let timing = self.collar.map(|collar| (collar.prediction, collar.collar));
        Speech::new(segments, self, timing)
    }

    /// Adds the units of a text to a list.
    fn split<'t>(&self, text: &'t str, units: &mut Vec<&'t str>) {
        let all = self.unit.split(text, EditProfile::Torchmetrics);
        units.extend(all.into_iter().filter(|unit| !unit.chars().all(is_space)));
    }
}

/// One side of a session, as [`Preparation`] makes it: segments in their order, cut into units.
#[derive(Clone, Debug, Default)]
pub struct Speech {
    /// The names of the speakers, in the order of their first segments.
    pub(super) speakers: Vec<String>,
    /// The segments in order: speaker, position in the file, and the end of its units.
    pub(super) segments: Vec<(usize, usize, usize)>,
    /// The different units.
    pub(super) known: Interner,
    /// The units of all segments.
    pub(super) units: Vec<u32>,
    /// Their times, if they count.
    pub(super) times: Vec<Interval>,
    /// Whether times count.
    pub(super) is_timed: bool,
}

impl Speech {
    fn new(
        segments: &[Segment],
        preparation: &Preparation,
        timing: Option<(Timing, Time)>,
    ) -> Result<Self, InvalidSegment> {
        let untimed = segments.iter().position(|segment| segment.times.is_none());
        let needs_times = timing.is_some() || preparation.order == Order::Start;
        if let (Some(segment), true) = (untimed, needs_times) {
            return Err(InvalidSegment::NoTimes { segment });
        }
        let ends_early = |segment: &Segment| segment.times.is_some_and(|(start, end)| end < start);
        if let Some(segment) = segments.iter().position(ends_early) {
            return Err(InvalidSegment::EndBeforeStart { segment });
        }
        let mut order: Vec<usize> = (0..segments.len()).collect();
        if untimed.is_none() && preparation.order != Order::File {
            order.sort_by_key(|&index| segments[index].times.map(|(start, _)| start));
        }
        let mut speech = Self {
            is_timed: timing.is_some(),
            ..Self::default()
        };
        let mut numbers = HashMap::new();
        let mut lengths = Vec::new();
        for index in order {
            let segment = &segments[index];
            let name = segment.name();
            let speaker = *numbers.entry(name).or_insert_with(|| {
                speech.speakers.push(name.to_owned());
                speech.speakers.len() - 1
            });
            let normalized = preparation.normalizer.apply(&segment.words);
            let mut units = Vec::new();
            preparation.split(&normalized, &mut units);
            lengths.clear();
            for unit in &units {
                speech.units.push(speech.known.number(unit));
                lengths.push(unit.chars().count() as u64);
            }
            if let (Some((timing, collar)), Some(times)) = (timing, segment.times) {
                if timing == Timing::Word && units.len() != 1 {
                    let units = units.len();
                    return Err(InvalidSegment::Units {
                        segment: index,
                        units,
                    });
                }
                timing.add(times, &lengths, collar, &mut speech.times);
            }
            speech.segments.push((speaker, index, speech.units.len()));
        }
        Ok(speech)
    }

    /// The units of a segment, by its position in the order.
    pub(super) fn range(&self, segment: usize) -> Range<usize> {
        let end = |segment: usize| self.segments.get(segment).map_or(0, |(.., end)| *end);
        segment.checked_sub(1).map_or(0, end)..end(segment)
    }

    /// Returns the names of the speakers, in the order of their first segments.
    pub fn speakers(&self) -> impl ExactSizeIterator<Item = &str> {
        self.speakers.iter().map(String::as_str)
    }

    /// Returns the number of segments.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Returns the number of units in all segments.
    #[must_use]
    pub fn units(&self) -> usize {
        self.units.len()
    }
}

/// The error for a segment that cannot be scored. Segments are counted from 0 in the order in which they are listed, and from
/// 1 in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidSegment {
    /// A segment has no times, which a collar and [`Order::Start`] need.
    NoTimes {
        /// The segment.
        segment: usize,
    },
    /// A segment ends before it starts.
    EndBeforeStart {
        /// The segment.
        segment: usize,
    },
    /// A segment has another number of units than one, where [`Timing::Word`] needs the time of each.
    Units {
        /// The segment.
        segment: usize,
        /// The number of its units.
        units: usize,
    },
}

impl fmt::Display for InvalidSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTimes { segment } => write!(f, "segment {} has no times", segment + 1),
            Self::EndBeforeStart { segment } => {
                write!(f, "segment {} ends before it starts", segment + 1)
            }
            Self::Units { segment, units } => write!(
                f,
                "segment {} has {units} words: with the timing {}, expected one word per segment",
                segment + 1,
                Timing::Word
            ),
        }
    }
}

impl std::error::Error for InvalidSegment {}

/// Returns the time in which segments of the same speaker overlap, and the time of all segments without overlaps; `None` if
/// a segment has no times.
///
/// Words of such segments keep the order of the segments, which is often not that in which they were said.
///
/// ```
/// use metric_text::speakers::{Segment, self_overlap};
///
/// let segment = |start: &str, end: &str| Ok(Segment::new("Ada", "hi").from_to(start.parse()?, end.parse()?));
/// let (overlap, total) = self_overlap(&[segment("0", "2.5")?, segment("2", "4")?]).unwrap_or_default();
/// assert_eq!((overlap.seconds(), total.seconds()), (0.5, 4.0));
/// # Ok::<(), metric_text::speakers::InvalidTime>(())
/// ```
#[must_use]
pub fn self_overlap(segments: &[Segment]) -> Option<(Time, Time)> {
    let times = |segment: &'_ Segment| segment.times.map(|(start, end)| (start.0, end.0));
    let mut sorted: Vec<_> = segments
        .iter()
        .map(|segment| Some((times(segment)?, segment.name())))
        .collect::<Option<_>>()?;
    sorted.sort_by_key(|((start, _), _)| *start);
    let mut latest: HashMap<&str, i128> = HashMap::new();
    let (mut overlap, mut total) = (0, 0);
    for ((start, end), speaker) in sorted {
        let latest = latest.entry(speaker).or_default();
        if *latest > start {
            overlap += (*latest).min(end) - start;
        }
        total += (end - *latest).max(0);
        *latest = (*latest).max(end);
    }
    Some((Time(overlap), Time(total)))
}
