//! Word error rates of transcripts with several speakers, as MeetEval 0.4.3 computes them: [`CpWer`], [`OrcWer`] and
//! [`DiCpWer`], with and without times of words.
//!
//! An example is a **session**, such as a meeting or a call. Either side is a list of [`Segment`]s, from which a
//! [`Preparation`] makes a [`Speech`]. Segments of a speaker of the prediction are called a *stream*: its name need not be one
//! of the reference.
//!
//! T. von Neumann et al., *MeetEval: A Toolkit for Computation of Word Error Rates for Meeting Transcription Systems* (2023).

mod exact;
mod greedy;
mod limits;
mod pairing;
mod sides;
mod speech;
mod time;
mod timed;

use metric_core::{Merge, Metric, fields, named_choice, ratio};

pub use limits::{MOST_BYTES, MOST_SPEAKERS, TooLarge};
pub use speech::{
    Collar, InvalidSegment, NegativeCollar, Order, Preparation, Segment, Speech, Timing,
    self_overlap,
};
pub use time::{InvalidTime, Time};

use crate::Edits;
use crate::edit::OutOfCells;
use limits::Budget;
use sides::{assign_exactly, assign_greedily, assigned_edits, pair_costs, sides, text_of};

/// A number of errors, or a difference of such numbers.
type Size = i64;

/// Returns cpWER, the concatenated minimum-permutation word error rate, of pairs of a prediction and its reference.
///
/// # Errors
///
/// Returns an error if a segment ends before it starts.
///
/// ```
/// use metric_text::speakers::{Segment, cpwer};
///
/// let reference = [Segment::new("Ada", "the cat sat"), Segment::new("Bo", "on the mat")];
/// let prediction = [Segment::new("1", "on a mat"), Segment::new("2", "the cat sat")];
/// // Ada is 2, and Bo is 1: of 6 words one is wrong.
/// assert_eq!(cpwer([(&prediction[..], &reference[..])]), Ok(Some(1.0 / 6.0)));
/// ```
pub fn cpwer<'s>(
    sessions: impl IntoIterator<Item = (&'s [Segment], &'s [Segment])>,
) -> Result<Option<f64>, InvalidSegment> {
    score(&CpWer, sessions)
}

/// Returns ORC-WER, the optimal reference combination word error rate, of pairs of a prediction and its reference.
///
/// # Errors
///
/// Returns an error if a segment ends before it starts.
///
/// ```
/// use metric_text::speakers::{Segment, orcwer};
///
/// let reference = [Segment::new("Ada", "the cat sat"), Segment::new("Bo", "on the mat")];
/// // Who speaks does not matter.
/// let prediction = [Segment::new("1", "the cat sat on a mat")];
/// assert_eq!(orcwer([(&prediction[..], &reference[..])]), Ok(Some(1.0 / 6.0)));
/// ```
pub fn orcwer<'s>(
    sessions: impl IntoIterator<Item = (&'s [Segment], &'s [Segment])>,
) -> Result<Option<f64>, InvalidSegment> {
    score(&OrcWer::default(), sessions)
}

/// Returns DI-cpWER, the diarization-invariant cpWER, of pairs of a prediction and its reference.
///
/// # Errors
///
/// Returns an error if a segment ends before it starts.
///
/// ```
/// use metric_text::speakers::{Segment, dicpwer};
///
/// let reference = [Segment::new("Ada", "the cat sat"), Segment::new("Bo", "on the mat")];
/// // The names of speakers do not matter, and both segments have the same one.
/// let prediction = [Segment::new("1", "the cat sat"), Segment::new("1", "on a mat")];
/// assert_eq!(dicpwer([(&prediction[..], &reference[..])]), Ok(Some(1.0 / 6.0)));
/// ```
pub fn dicpwer<'s>(
    sessions: impl IntoIterator<Item = (&'s [Segment], &'s [Segment])>,
) -> Result<Option<f64>, InvalidSegment> {
    score(&DiCpWer, sessions)
}

fn score<'s, M>(
    metric: &M,
    sessions: impl IntoIterator<Item = (&'s [Segment], &'s [Segment])>,
) -> Result<Option<f64>, InvalidSegment>
where
    M: Metric<Prediction = Speech, Reference = Speech, Score = Option<f64>>,
{
    let preparation = Preparation::default();
    let mut state = M::State::default();
    for (prediction, reference) in sessions {
        let (prediction, reference) = (
            preparation.prediction(prediction)?,
            preparation.reference(reference)?,
        );
        metric.update(&mut state, &prediction, &reference);
    }
    Ok(metric.compute(&state))
}

/// cpWER (concatenated minimum-permutation word error rate): all words of a speaker are compared with all words of a stream,
/// for the pairing of speakers and streams with the fewest errors. With times it is tcpWER.
///
/// Speakers without a stream are missed, and streams without a speaker are extra: all of their words are errors. The rate is
/// that of the sums of all sessions, and undefined if the references have no words.
///
/// Takes an alignment for each pair of a speaker and a stream, and a cube of their number for the pairing.
///
/// S. Watanabe et al., *CHiME-6 Challenge: Tackling Multispeaker Speech Recognition for Unsegmented Recordings* (2020).
///
/// ```
/// use metric_core::Metric;
/// use metric_text::speakers::{Collar, CpWer, InvalidTime, Preparation, Segment};
///
/// let segment = |name: &str, start: &str, end: &str, words: &str| {
///     Ok::<_, InvalidTime>(Segment::new(name, words).from_to(start.parse()?, end.parse()?))
/// };
/// let reference = [segment("Ada", "0", "1", "hello")?];
/// let prediction = [segment("1", "5.99", "5.99", "hello")?, segment("2", "0", "1", "hi")?];
/// let collar = Collar::new("5".parse()?)?;
/// let preparation = Preparation::default().with_collar(Some(collar));
/// let (prediction, reference) = (preparation.prediction(&prediction)?, preparation.reference(&reference)?);
/// let session = CpWer.session(&prediction, &reference);
/// // The word is less than five seconds late. The stream 2 is extra: one insertion.
/// let pairs: Vec<_> = session.pairs.iter().map(|pair| (pair.reference, pair.prediction)).collect();
/// assert_eq!(pairs, [(Some("Ada"), Some("1")), (None, Some("2"))]);
/// assert_eq!((session.state.edits.hits, session.state.extra_speakers), (1, 1));
/// assert_eq!(CpWer.compute(&session.state), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpWer;

/// The state of [`CpWer`]: the counts from which its score is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpState {
    /// The edits of all pairs.
    pub edits: Edits,
    /// The speakers of the references.
    pub speakers: u64,
    /// The speakers of references that have more speakers than streams, as many as there are more.
    pub missed_speakers: u64,
    /// The streams of predictions that have more streams than speakers, as many as there are more.
    pub extra_speakers: u64,
}

fields!(CpState {
    edits,
    speakers,
    missed_speakers,
    extra_speakers
});

/// A session scored by [`CpWer`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpSession<'s> {
    /// Its counts.
    pub state: CpState,
    /// The pairs, by speaker of the reference. It is one of the pairings with the fewest errors, always the same.
    pub pairs: Vec<Pair<'s>>,
}

/// A speaker and a stream, of which one may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pair<'s> {
    /// The name of the speaker of the reference.
    pub reference: Option<&'s str>,
    /// The name of the stream of the prediction.
    pub prediction: Option<&'s str>,
    /// The edits between them.
    pub edits: Edits,
}

impl CpWer {
    /// Returns the counts and the pairs of a session, however long it takes.
    #[must_use]
    pub fn session<'s>(&self, prediction: &'s Speech, reference: &'s Speech) -> CpSession<'s> {
        let session = self.session_in(prediction, reference, &mut Budget::unlimited());
        session.unwrap_or_default()
    }

    /// Returns the counts and the pairs of a session.
    ///
    /// # Errors
    ///
    /// Returns an error if a side has more than [`MOST_SPEAKERS`] speakers, or if the alignments of all pairs together take
    /// more cells than `max_cells` or more memory than [`MOST_BYTES`].
    pub fn session_within<'s>(
        &self,
        prediction: &'s Speech,
        reference: &'s Speech,
        max_cells: u64,
    ) -> Result<CpSession<'s>, TooLarge> {
        let [speakers, streams] = [reference, prediction].map(|side| side.speakers.len());
        if speakers.max(streams) > MOST_SPEAKERS {
            return Err(TooLarge::Speakers { speakers, streams });
        }
        let session = self.session_in(prediction, reference, &mut Budget::new(max_cells));
        session.map_err(|OutOfCells| TooLarge::new(prediction, max_cells))
    }

    fn session_in<'s>(
        &self,
        prediction: &'s Speech,
        reference: &'s Speech,
        budget: &mut Budget,
    ) -> Result<CpSession<'s>, OutOfCells> {
        let [prediction, reference] = sides(prediction, reference);
        let (speakers, streams) = (reference.speakers(), prediction.speakers());
        let (costs, size) = pair_costs(&speakers, &streams, budget)?;
        let mut session = CpSession {
            state: CpState {
                speakers: speakers.len() as u64,
                missed_speakers: speakers.len().saturating_sub(streams.len()) as u64,
                extra_speakers: streams.len().saturating_sub(speakers.len()) as u64,
                ..CpState::default()
            },
            pairs: Vec::with_capacity(size),
        };
        for (row, column) in pairing::pair(&costs, size).into_iter().enumerate() {
            let edits = timed::edits(text_of(&speakers, row), text_of(&streams, column), budget)?;
            session.state.edits.merge(edits);
            session.pairs.push(Pair {
                reference: reference.name(row),
                prediction: prediction.name(column),
                edits,
            });
        }
        Ok(session)
    }
}

impl Metric for CpWer {
    type Prediction = Speech;
    type Reference = Speech;
    type State = CpState;
    type Score = Option<f64>;

    fn update(&self, state: &mut CpState, prediction: &Speech, reference: &Speech) {
        state.merge(self.session(prediction, reference).state);
    }

    fn compute(&self, state: &CpState) -> Option<f64> {
        error_rate(&state.edits)
    }
}

/// How [`OrcWer`] looks for the streams of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Search {
    /// `exact`: among all assignments. Its work grows with the product of the lengths of all streams, or with times, of the
    /// parts of them that a segment can meet.
    #[default]
    Exact,
    /// `greedy`: from the pairing of speakers, segment by segment. The errors are rarely more than the fewest.
    Greedy,
}

impl Search {
    /// All searches.
    pub const ALL: &[Self] = &[Self::Exact, Self::Greedy];

    /// Returns the name of the search.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Greedy => "greedy",
        }
    }
}

named_choice!(Search, "search");

/// ORC-WER (optimal reference combination word error rate): each segment of the reference goes to the stream where the fewest
/// errors are made in all. Who is the speaker of a segment does not matter. With times it is tcORC-WER.
///
/// The rate is that of the sums of all sessions, and undefined if the references have no words.
///
/// MeetEval 0.4.3 counts too many errors in some sessions with a stream without words, where this finds the fewest. With
/// times, several assignments can have the fewest errors, and MeetEval may find another one: then kinds of errors can differ.
///
/// I. Sklyar et al., *Multi-turn RNN-T for streaming recognition of multi-party speech* (2022).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct OrcWer {
    /// The search for the streams of segments.
    pub search: Search,
}

metric_core::setters!(OrcWer {
    with_search => search: Search,
});

/// A session scored by [`OrcWer`] or [`DiCpWer`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssignedSession<'s> {
    /// Its edits.
    pub edits: Edits,
    /// For each segment as listed, where it goes: with [`OrcWer`] the stream of a segment of the reference, with [`DiCpWer`]
    /// the speaker of a segment of the prediction. `None` if there is none.
    pub assignment: Vec<Option<&'s str>>,
}

impl OrcWer {
    /// Returns the edits and the assignment of a session, however long it takes, and however much memory. If no memory is
    /// large enough for the exact search, it is the greedy one.
    #[must_use]
    pub fn session<'s>(
        &self,
        prediction: &'s Speech,
        reference: &'s Speech,
    ) -> AssignedSession<'s> {
        let session = |search| {
            let metric = Self { search };
            metric.session_in(prediction, reference, &mut Budget::unlimited())
        };
        let session = session(self.search).or_else(|OutOfCells| session(Search::Greedy));
        session.unwrap_or_default()
    }

    /// Returns the edits and the assignment of a session.
    ///
    /// # Errors
    ///
    /// Returns an error if the search takes more cells than `max_cells` or more memory than [`MOST_BYTES`]. The exact search is not
    /// started then.
    pub fn session_within<'s>(
        &self,
        prediction: &'s Speech,
        reference: &'s Speech,
        max_cells: u64,
    ) -> Result<AssignedSession<'s>, TooLarge> {
        let session = self.session_in(prediction, reference, &mut Budget::new(max_cells));
        session.map_err(|OutOfCells| TooLarge::new(prediction, max_cells))
    }

    fn session_in<'s>(
        &self,
        prediction: &'s Speech,
        reference: &'s Speech,
        budget: &mut Budget,
    ) -> Result<AssignedSession<'s>, OutOfCells> {
        let [prediction, reference] = sides(prediction, reference);
        let assignment = match self.search {
            Search::Exact => assign_exactly(&reference, &prediction, budget)?,
            Search::Greedy => assign_greedily(&reference, &prediction, budget)?,
        };
        Ok(AssignedSession {
            edits: assigned_edits(&reference, &prediction, &assignment, budget)?,
            assignment: reference.as_listed(&assignment, &prediction),
        })
    }
}

impl Metric for OrcWer {
    type Prediction = Speech;
    type Reference = Speech;
    type State = Edits;
    type Score = Option<f64>;

    fn update(&self, state: &mut Edits, prediction: &Speech, reference: &Speech) {
        state.merge(self.session(prediction, reference).edits);
    }

    fn compute(&self, state: &Edits) -> Option<f64> {
        error_rate(state)
    }
}

/// DI-cpWER (diarization-invariant cpWER): each segment of the prediction goes to a speaker of the reference, whatever its
/// speaker is, by the greedy search of [`Search::Greedy`]. With times it is DI-tcpWER.
///
/// The rate is that of the sums of all sessions, and undefined if the references have no words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DiCpWer;

impl DiCpWer {
    /// Returns the edits and the assignment of a session, however long it takes.
    #[must_use]
    pub fn session<'s>(
        &self,
        prediction: &'s Speech,
        reference: &'s Speech,
    ) -> AssignedSession<'s> {
        let session = self.session_in(prediction, reference, &mut Budget::unlimited());
        session.unwrap_or_default()
    }

    /// Returns the edits and the assignment of a session.
    ///
    /// # Errors
    ///
    /// Returns an error if the search takes more cells than `max_cells` or more memory than [`MOST_BYTES`].
    pub fn session_within<'s>(
        &self,
        prediction: &'s Speech,
        reference: &'s Speech,
        max_cells: u64,
    ) -> Result<AssignedSession<'s>, TooLarge> {
        let session = self.session_in(prediction, reference, &mut Budget::new(max_cells));
        session.map_err(|OutOfCells| TooLarge::new(reference, max_cells))
    }

    fn session_in<'s>(
        &self,
        prediction: &'s Speech,
        reference: &'s Speech,
        budget: &mut Budget,
    ) -> Result<AssignedSession<'s>, OutOfCells> {
        let [prediction, reference] = sides(prediction, reference);
        let assignment = assign_greedily(&prediction, &reference, budget)?;
        let edits = assigned_edits(&prediction, &reference, &assignment, budget)?;
        Ok(AssignedSession {
            edits: timed::exchanged(edits),
            assignment: prediction.as_listed(&assignment, &reference),
        })
    }
}

impl Metric for DiCpWer {
    type Prediction = Speech;
    type Reference = Speech;
    type State = Edits;
    type Score = Option<f64>;

    fn update(&self, state: &mut Edits, prediction: &Speech, reference: &Speech) {
        state.merge(self.session(prediction, reference).edits);
    }

    fn compute(&self, state: &Edits) -> Option<f64> {
        error_rate(state)
    }
}

fn error_rate(edits: &Edits) -> Option<f64> {
    ratio(edits.errors(), edits.reference_length())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lines such as `A 0 2 the cat`, or `A the cat` without times.
    fn segments(lines: &str) -> Vec<Segment> {
        let segment = |line: &str| {
            let mut parts = line.split(' ').peekable();
            let name = parts.next().unwrap_or_default();
            let mut time = || parts.next_if(|part| part.parse::<Time>().is_ok());
            let times = (time(), time());
            let segment = Segment::new(name, parts.collect::<Vec<_>>().join(" "));
            match times {
                (Some(start), Some(end)) => {
                    segment.from_to(start.parse().unwrap(), end.parse().unwrap())
                }
                _ => segment,
            }
        };
        lines
            .split('\n')
            .filter(|line| !line.is_empty())
            .map(segment)
            .collect()
    }

    fn collar(seconds: &str) -> Preparation {
        let collar = Collar::new(seconds.parse().unwrap()).unwrap();
        Preparation::default().with_collar(Some(collar))
    }

    /// Substitutions, deletions and insertions.
    fn kinds(edits: &Edits) -> [u64; 3] {
        [edits.substitutions, edits.deletions, edits.insertions]
    }

    #[test]
    fn pairings_by_hand() {
        let rows = [
            // Both pairings have three errors, of other kinds.
            ("A a\nB a a", "x b\ny b b", [3, 0, 0], "A=x B=y"),
            ("A a\nB b", "x b", [0, 1, 0], "A=- B=x"),
            ("A a", "x b\ny a", [0, 0, 1], "A=y -=x"),
            ("A a\nB b\nA c", "x b\ny a c", [0, 0, 0], "A=y B=x"),
            ("A a b", "", [0, 2, 0], "A=-"),
            ("", "x a", [0, 0, 1], "-=x"),
            ("A ", "x ", [0, 0, 0], "A=x"),
            ("", "", [0, 0, 0], ""),
            // Segments are ordered by their start, those of the same start as listed.
            ("A 2 3 c\nA 0 1 a\nA 0 5 b", "x a b c", [0, 0, 0], "A=x"),
        ];
        for (reference, prediction, expected, pairs) in rows {
            let preparation = Preparation::default();
            let prediction = preparation.prediction(&segments(prediction)).unwrap();
            let reference_speech = preparation.reference(&segments(reference)).unwrap();
            let session = CpWer.session(&prediction, &reference_speech);
            assert_eq!(kinds(&session.state.edits), expected, "{reference:?}");
            let pair = |pair: &Pair<'_>| {
                format!(
                    "{}={}",
                    pair.reference.unwrap_or("-"),
                    pair.prediction.unwrap_or("-")
                )
            };
            let found: Vec<String> = session.pairs.iter().map(pair).collect();
            assert_eq!(found.join(" "), pairs, "{reference:?}");
        }
    }

    #[test]
    fn collars_by_hand() {
        let rows = [
            ("A 0 1 a", "x 6 6 a", "5", [0, 1, 1]),
            ("A 0 1 a", "x 5.99 5.99 a", "5", [0, 0, 0]),
            // The middles of the words are at 0.25 and 0.75.
            ("A 0 1 a b", "x 0 1 a b", "0", [0, 0, 0]),
            ("A 0 1 a b", "x 0 1 b a", "0", [2, 0, 0]),
            ("A 0 0 a", "x 0 0 a", "0", [0, 1, 1]),
        ];
        for (reference, prediction, seconds, expected) in rows {
            let preparation = collar(seconds);
            let prediction = preparation.prediction(&segments(prediction)).unwrap();
            let reference_speech = preparation.reference(&segments(reference)).unwrap();
            let session = CpWer.session(&prediction, &reference_speech);
            assert_eq!(kinds(&session.state.edits), expected, "{reference:?}");
            let orc = OrcWer::default().session(&prediction, &reference_speech);
            assert_eq!(kinds(&orc.edits), expected, "{reference:?}");
        }
    }

    #[test]
    fn assignments_by_hand() {
        let preparation = Preparation::default();
        let reference = preparation
            .reference(&segments("A the cat\nB sat\nA "))
            .unwrap();
        let assigned = |search: Search, prediction: &str| {
            let prediction = preparation.prediction(&segments(prediction)).unwrap();
            let session = OrcWer { search }.session(&prediction, &reference);
            let names = session
                .assignment
                .iter()
                .map(|name| name.unwrap_or("-").to_owned());
            (kinds(&session.edits), names.collect::<Vec<_>>().join(" "))
        };
        for search in [Search::Exact, Search::Greedy] {
            assert_eq!(
                assigned(search, "x the cat sat"),
                ([0, 0, 0], "x x x".to_owned())
            );
            assert_eq!(assigned(search, "x sat\ny the cat").0, [0, 0, 0]);
            assert_eq!(assigned(search, ""), ([0, 3, 0], "- - -".to_owned()));
        }
        // The least number of errors, of which MeetEval has one more.
        let reference = preparation.reference(&segments("A b")).unwrap();
        let prediction = preparation
            .prediction(&segments("1 b c\n2 \n3 b a a\n4 a c"))
            .unwrap();
        assert_eq!(
            OrcWer::default()
                .session(&prediction, &reference)
                .edits
                .errors(),
            6
        );
        // A segment of the prediction goes to another speaker than the rest of its stream.
        let reference = preparation.reference(&segments("A a b\nB c d")).unwrap();
        let prediction = preparation
            .prediction(&segments("x a b\ny c\nx d"))
            .unwrap();
        let session = DiCpWer.session(&prediction, &reference);
        assert_eq!(session.edits.errors(), 0);
        assert_eq!(session.assignment, [Some("A"), Some("B"), Some("B")]);
    }

    #[test]
    fn segments_that_cannot_be_scored() {
        let rows = [
            (
                "A 0 1 a\nA b",
                collar("5"),
                InvalidSegment::NoTimes { segment: 1 },
            ),
            (
                "A a",
                Preparation::default().with_order(Order::Start),
                InvalidSegment::NoTimes { segment: 0 },
            ),
            (
                "A 2 1 a",
                Preparation::default(),
                InvalidSegment::EndBeforeStart { segment: 0 },
            ),
        ];
        for (lines, preparation, expected) in rows {
            let found = preparation
                .reference(&segments(lines))
                .map(|speech| speech.units());
            assert_eq!(found, Err(expected));
        }
        let time = "1".parse().unwrap();
        let words = Collar::new(time).unwrap().with_prediction(Timing::Word);
        let preparation = Preparation::default().with_collar(Some(words));
        let error = preparation
            .prediction(&segments("A 0 1 a\nA 0 1 "))
            .map(|speech| speech.units());
        assert_eq!(
            error,
            Err(InvalidSegment::Units {
                segment: 1,
                units: 0
            })
        );
        let negative = Collar::new("-1".parse().unwrap()).unwrap_err().to_string();
        assert_eq!(
            negative,
            "negative collar -1: expected a number of seconds, at least 0"
        );
    }

    #[test]
    fn sessions_that_take_too_long() {
        let preparation = Preparation::default();
        let names = |count: usize| {
            (0..count)
                .map(|name| format!("s{name} a\n"))
                .collect::<String>()
        };
        let large = preparation.reference(&segments(&names(1001))).unwrap();
        let error = CpWer.session_within(&large, &large, u64::MAX).unwrap_err();
        assert_eq!(
            error,
            TooLarge::Speakers {
                speakers: 1001,
                streams: 1001
            }
        );
        // Nine streams of 50 words have more positions than memory has bytes.
        let streams = (0..9).map(|name| format!("s{name}{}\n", " a".repeat(50)));
        let streams = preparation
            .prediction(&segments(&streams.collect::<String>()))
            .unwrap();
        let error = OrcWer::default()
            .session_within(&streams, &streams, u64::MAX)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "comparing with streams of 50, 50, 50, 50, 50, 50, 50, 50, 50 units takes more than {} cells or 1 GB of memory",
                u64::MAX
            )
        );
        assert!(
            OrcWer {
                search: Search::Greedy
            }
            .session_within(&streams, &streams, 10_000_000)
            .is_ok()
        );
        assert!(DiCpWer.session_within(&streams, &streams, 1000).is_err());
        // Speakers that are all the same.
        let same = preparation.reference(&segments(&names(200))).unwrap();
        assert_eq!(CpWer.session(&same, &same).state.edits.hits, 200);
    }

    /// This many words of each of these speakers from 0 to 2 s, all of which meet.
    fn at_once(speakers: usize, words: usize) -> String {
        let words = " a".repeat(words);
        (0..speakers)
            .map(|name| format!("s{name} 0 2{words}\n"))
            .collect()
    }

    #[test]
    fn timed_sessions_that_take_too_long() {
        /// What a metric makes of the cells that are allowed.
        type Score = fn(&Speech, &Speech, u64) -> Result<Edits, TooLarge>;
        const GREEDY: OrcWer = OrcWer {
            search: Search::Greedy,
        };
        let metrics: [(&str, Score); 4] = [
            ("cpwer", |p, r, most| {
                Ok(CpWer.session_within(p, r, most)?.state.edits)
            }),
            ("orcwer", |p, r, most| {
                Ok(OrcWer::default().session_within(p, r, most)?.edits)
            }),
            ("greedy", |p, r, most| {
                Ok(GREEDY.session_within(p, r, most)?.edits)
            }),
            ("dicpwer", |p, r, most| {
                Ok(DiCpWer.session_within(p, r, most)?.edits)
            }),
        ];
        let speech = |lines: &str| {
            let segments = segments(lines);
            let collar = collar("5");
            (
                collar.prediction(&segments).unwrap(),
                collar.reference(&segments).unwrap(),
            )
        };
        // All 100 words meet all others: 10,000 cells of 80, once for the errors and once for their kinds.
        let (prediction, reference) = speech(&at_once(1, 100));
        let twice = 2 * 80 * 101 * 101;
        let score = metrics[0].1;
        assert!(score(&prediction, &reference, twice).is_ok());
        for (name, score) in metrics {
            assert!(
                score(&prediction, &reference, 80 * 10_000).is_err(),
                "{name}"
            );
        }
        // Pairs that take too many cells together are refused before the errors of any are counted. So is a table of more
        // than 1 GB, except by the exact search, which aligns no pairs of speakers.
        let paired = [metrics[0], metrics[2], metrics[3]];
        for (speakers, words, metrics) in [(4, 10_000, &metrics[..]), (1, 20_000, &paired)] {
            let (prediction, reference) = speech(&at_once(speakers, words));
            for (name, score) in metrics {
                let refused = score(&prediction, &reference, crate::edit::MAX_CELLS);
                assert!(refused.is_err(), "{name}: {speakers} speakers");
            }
        }
        // An hour, in which ten speakers say 9,000 words, takes a thousandth of the cells.
        let meeting: String = (0..1800)
            .map(|turn| {
                let (name, start) = (turn % 10, 2 * turn);
                format!("s{name} {start} {} a b c d e\n", start + 2)
            })
            .collect();
        let (prediction, reference) = speech(&meeting);
        let score = metrics[0].1;
        let edits = score(&prediction, &reference, crate::edit::MAX_CELLS / 1000).unwrap();
        assert_eq!((edits.hits, edits.errors()), (9000, 0));
    }

    fn side(names: &'static str) -> impl Strategy<Value = String> {
        let line = format!("[{names}] [0-3] [4-9]( [abc]){{0,4}}\n");
        proptest::collection::vec(proptest::string::string_regex(&line).unwrap(), 0..5)
            .prop_map(|lines| lines.concat())
    }

    /// The least errors of all assignments.
    fn least(prediction: &Speech, reference: &Speech) -> u64 {
        let [prediction, reference] = sides(prediction, reference);
        let (segments, streams) = (reference.segments().len(), prediction.speakers().len());
        let all = (0..streams.pow(segments as u32)).map(|mut number| {
            let assignment: Vec<Option<usize>> = (0..segments)
                .map(|_| {
                    let stream = number % streams.max(1);
                    number /= streams.max(1);
                    Some(stream).filter(|_| streams > 0)
                })
                .collect();
            let edits = assigned_edits(
                &reference,
                &prediction,
                &assignment,
                &mut Budget::unlimited(),
            );
            edits.map(|edits| edits.errors()).unwrap_or(u64::MAX)
        });
        let words = reference.speech.units.len() as u64;
        all.min().unwrap_or(words)
    }

    proptest! {
        #[test]
        fn the_exact_search_finds_the_fewest_errors(a in side("AB"), b in side("xyz"), is_timed in any::<bool>()) {
            let preparation = if is_timed { collar("1") } else { Preparation::default() };
            let reference = preparation.reference(&segments(&a)).unwrap();
            let prediction = preparation.prediction(&segments(&b)).unwrap();
            let least = least(&prediction, &reference);
            let exact = OrcWer::default().session(&prediction, &reference).edits;
            prop_assert_eq!(exact.errors(), least);
            let greedy = OrcWer { search: Search::Greedy }.session(&prediction, &reference).edits;
            prop_assert!(greedy.errors() >= least);
            let paired = CpWer.session(&prediction, &reference).state.edits;
            for edits in [exact, greedy, paired, DiCpWer.session(&prediction, &reference).edits] {
                prop_assert_eq!(edits.reference_length(), reference.units() as u64);
                prop_assert_eq!(edits.prediction_length(), prediction.units() as u64);
            }
            prop_assert_eq!(CpWer.session(&reference, &reference).state.edits.errors(), 0);
        }

        #[test]
        fn shards_in_any_order_are_the_whole(sessions in proptest::collection::vec((side("AB"), side("xyz")), 0..4)) {
            let preparation = Preparation::default();
            let sessions: Vec<(Speech, Speech)> = sessions
                .iter()
                .map(|(a, b)| (preparation.prediction(&segments(b)).unwrap(), preparation.reference(&segments(a)).unwrap()))
                .collect();
            let cp: Vec<CpState> = sessions.iter().map(|(p, r)| CpWer.measure(p, r)).collect();
            let orc: Vec<Edits> = sessions.iter().map(|(p, r)| OrcWer::default().measure(p, r)).collect();
            let di: Vec<Edits> = sessions.iter().map(|(p, r)| DiCpWer.measure(p, r)).collect();
            crate::laws::check(&cp);
            crate::laws::check(&orc);
            crate::laws::check(&di);
        }

        #[test]
        fn any_texts_have_values(texts in proptest::collection::vec(any::<(String, String)>(), 0..4), unit in 0..4_usize) {
            let segments: Vec<Segment> = texts.iter().map(|(name, words)| Segment::new(name, words)).collect();
            let preparation = Preparation::default().with_unit(crate::Unit::ALL[unit]);
            let speech = preparation.reference(&segments).unwrap();
            prop_assert_eq!(CpWer.measure(&speech, &speech).edits.errors(), 0);
            prop_assert_eq!(OrcWer::default().measure(&speech, &speech).errors(), 0);
        }
    }
}
