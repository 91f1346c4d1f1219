//! Sessions of several speakers: lists of segments on both sides.

use metric_core::{Metric, Written};
use metric_record::{FieldError, Id, Message, Record, Side, Value};
use metric_text::VERSION;
use metric_text::read::segments;
use metric_text::speakers::{
    InvalidSegment, Order, Preparation, Segment, Speech, Time, TooLarge, self_overlap,
};
use serde_json::{Value as Json, json};

use crate::numbers::named;
use crate::prepare::normalize_parts;
use crate::shapes::texts::{MAX_CELLS, counts};
use crate::{
    Asked, Counted, Facts, Named, Numbers, Reading, Remarks, Scorer, Show, Sink, Unanswered, scorer,
};

/// A metric of sessions: its formula is [`Metric`].
pub(crate) trait SessionMetric:
    Metric<
        Prediction = Speech,
        Reference = Speech,
        State: Clone + Written + Send + Sync + 'static,
        Score = Option<f64>,
    > + Send
    + Sync
    + 'static
{
    /// Whether speakers of both sides are paired.
    const PAIRS_SPEAKERS: bool = false;

    /// Returns the parts of the signature that only this metric has.
    fn definition(&self) -> Named<String> {
        Vec::new()
    }

    /// Returns the option and the value with which a session that takes too long may take less.
    fn cheaper(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Scores a session.
    fn session(
        &self,
        prediction: &Speech,
        reference: &Speech,
        max_cells: u64,
    ) -> Result<ScoredSession<Self::State>, TooLarge>;
}

/// A session that was scored.
pub(crate) struct ScoredSession<S> {
    pub(crate) state: S,
    /// The assignment of speakers or of segments.
    pub(crate) assignment: Json,
    /// The pairs of speakers with their counts, for metrics that pair them.
    pub(crate) pairs: Json,
}

/// The segments of both sides of a session: of the reference, then of the prediction.
pub(crate) struct Sides(pub(crate) [Vec<Segment>; 2]);

/// The reading of a metric of sessions.
pub(crate) struct OfSessions<M> {
    pub(crate) metric: M,
    /// The name of the score.
    pub(crate) score: &'static str,
    pub(crate) preparation: Preparation,
    pub(crate) max_cells: u64,
    /// Whether details are requested.
    pub(crate) details: bool,
}

/// The sides in the order of [`Sides`], in words.
const SIDES: [(Side, &str); 2] = [
    (Side::Reference, "references"),
    (Side::Prediction, "predictions"),
];

/// The name of the collar in options and signatures.
pub(crate) const COLLAR: &str = "collar";

/// The name of the assignment of a session.
const ASSIGNMENT: &str = "assignment";

impl<M: SessionMetric> OfSessions<M> {
    /// Returns the scorer of this name.
    pub(crate) fn scorer(self, name: &str) -> Scorer {
        scorer(name, VERSION, self)
    }

    fn speech(&self, Sides([reference, prediction]): &Sides) -> Result<[Speech; 2], FieldError> {
        let refuse = |side| move |error| FieldError::new(side, self.invalid_segment(&error));
        let reference = self.preparation.reference(reference);
        let prediction = self.preparation.prediction(prediction);
        Ok([
            reference.map_err(refuse(Side::Reference))?,
            prediction.map_err(refuse(Side::Prediction))?,
        ])
    }

    /// An error about a segment, with the option that needs it to be another one.
    fn invalid_segment(&self, error: &InvalidSegment) -> Message {
        let message = Message::from(error.to_string());
        match (error, self.preparation.collar) {
            (InvalidSegment::NoTimes { .. }, Some(collar)) => message
                .text(": expected a start and an end, with ")
                .option(COLLAR, &collar.collar.to_string()),
            (InvalidSegment::NoTimes { .. }, None) => message
                .text(": expected a start and an end, with ")
                .option("order", Order::Start.name()),
            _ => message,
        }
    }

    fn session(
        &self,
        prediction: &Speech,
        reference: &Speech,
    ) -> Result<ScoredSession<M::State>, FieldError> {
        let session = self.metric.session(prediction, reference, self.max_cells);
        session.map_err(|error| {
            let mut problem = Message::from(error.to_string());
            if let TooLarge::Cells { .. } = error {
                let collar = self.preparation.collar.is_none().then_some((COLLAR, "5"));
                problem = problem.text(": use ");
                for (option, value) in collar.into_iter().chain(self.metric.cheaper()) {
                    problem = problem.option(option, value).text(" or ");
                }
                problem = problem.text("a greater ").option(MAX_CELLS.name, "");
            }
            FieldError::prediction(problem).limit()
        })
    }

    /// Notes what is worth a warning, and what warnings about all sessions depend on.
    fn note(&self, sides: &Sides, speech: &[Speech; 2], sink: &mut Sink<'_, Self>, id: Id<'_>) {
        if speech
            .iter()
            .any(|side| side.speakers().len() > MANY_SPEAKERS)
        {
            sink.count_record(&many_speakers(), id);
        }
        if M::PAIRS_SPEAKERS && self.preparation.collar.is_none() {
            let is_long = |segments: &Vec<Segment>| {
                let times = || segments.iter().filter_map(|segment| segment.times);
                let start = times().map(|(start, _)| start).min();
                let end = times().map(|(_, end)| end).max();
                start
                    .zip(end)
                    .is_some_and(|(start, end)| end.units() - start.units() > HOUR)
            };
            if sides.0.iter().any(is_long) {
                sink.count_record(&long_session(), id);
            }
        }
        let [reference, prediction] = speech.each_ref().map(|side| side.speakers().len());
        sink.tally(ONE_STREAM, u64::from(prediction == 1));
        sink.tally(SEVERAL_STREAMS, u64::from(prediction > 1));
        sink.tally(SEVERAL_SPEAKERS, u64::from(reference > 1));
        for (segments, (_, side)) in sides.0.iter().zip(SIDES) {
            let without = |has: fn(&Segment) -> bool| {
                let without = segments.iter().filter(|segment| !has(segment)).count();
                if without < segments.len() {
                    without as u64
                } else {
                    0
                }
            };
            let (speaker, times) = (
                "no speaker: they are one speaker, whose name is the empty text",
                "no times, unlike others of the side in the session: no times of it count",
            );
            sink.count(
                &segments_with(side, speaker),
                without(|it| it.speaker.is_some()),
            );
            sink.count(
                &segments_with(side, times),
                without(|it| it.times.is_some()),
            );
            if let Some((overlap, total)) = self_overlap(segments) {
                tally_time(&format!("{side} overlap"), overlap.units(), sink);
                tally_time(&format!("{side} total"), total.units(), sink);
            }
        }
        if self.preparation.collar.is_some() {
            let spoken = sides.0[1]
                .iter()
                .filter(|segment| !segment.words.trim().is_empty());
            let lengths = spoken
                .filter_map(|segment| segment.times)
                .map(|(start, end)| end.units() - start.units());
            tally_time(SPOKEN, lengths.sum(), sink);
            sink.tally(WORDS, speech[1].units() as u64);
        }
    }

    /// Returns the warnings that depend on all sessions.
    fn warnings(&self, remarks: Remarks<'_>) -> Vec<Message> {
        let mut warnings = Vec::new();
        for (_, side) in SIDES {
            let [overlap, total] =
                ["overlap", "total"].map(|what| tallied_time(&format!("{side} {what}"), remarks));
            if overlap > 0 {
                let [overlap, total] = [overlap, total].map(tenths);
                let text = format!(
                    "{overlap} of {total} s of a speaker's own segments overlap in the {side}; words there keep the order of segments"
                );
                warnings.push(text.into());
            }
        }
        let (spoken, words) = (
            tallied_time(SPOKEN, remarks),
            i128::from(remarks.tally(WORDS)),
        );
        if let Some(collar) = self.preparation.collar
            && words > 0
            && spoken > collar.collar.units().saturating_mul(words)
        {
            let mean = tenths(spoken / words);
            let text = format!("words of the predictions take {mean} s on average, longer than ");
            let message = Message::from(text).option(COLLAR, &collar.collar.to_string());
            warnings.push(
                message.text(": are their times in seconds, and not in milliseconds or samples?"),
            );
        }
        let tally = |name| remarks.tally(name) > 0;
        if M::PAIRS_SPEAKERS
            && tally(ONE_STREAM)
            && !tally(SEVERAL_STREAMS)
            && tally(SEVERAL_SPEAKERS)
        {
            let text = "each session has a single speaker in the predictions, and some have several in the references: to score the words alone, use orcwer";
            warnings.push(text.into());
        }
        warnings
    }
}

/// More speakers are probably something else, such as the numbers of segments.
const MANY_SPEAKERS: usize = 20;

/// In seconds.
const HOUR: i128 = 3600 * SECOND;

/// The names of tallies.
const SESSION: &str = "session ";
const ONE_STREAM: &str = "one stream";
const SEVERAL_STREAMS: &str = "several streams";
const SEVERAL_SPEAKERS: &str = "several speakers";
const SPOKEN: &str = "spoken";
const WORDS: &str = "words";

fn many_speakers() -> Counted {
    let rest =
        format!("more than {MANY_SPEAKERS} speakers on a side: is the speaker in another field?");
    Counted::new(
        format!("session has {rest}"),
        format!("sessions have {rest}"),
    )
}

fn long_session() -> Counted {
    let rest = |of: &str| {
        let text = format!(
            "{of} longer than an hour, and words may match across all of it: to compare times, use "
        );
        Message::from(text).option(COLLAR, "5")
    };
    Counted::new(rest("session is"), rest("sessions are"))
}

/// The words of a warning about segments of a side that lack what others have.
fn segments_with(side: &str, what: &str) -> Counted {
    Counted::new(
        format!("segment of the {side} has {what}"),
        format!("segments of the {side} have {what}"),
    )
}

/// The units of times in which their sums are tallied, so that sums are exact and small enough: seconds, nanoseconds and
/// what [`Time`] counts.
const UNITS: [(&str, i128); 3] = [("s", SECOND), ("ns", SECOND / 1_000_000_000), ("fs", 1)];

/// The number of [`Time::units`] in a second.
const SECOND: i128 = Time::SECOND;

fn tally_time<M: SessionMetric>(name: &str, time: i128, sink: &mut Sink<'_, OfSessions<M>>) {
    let mut rest = time;
    for (unit, size) in UNITS {
        sink.tally(
            &format!("{name} {unit}"),
            u64::try_from(rest / size).unwrap_or(0),
        );
        rest %= size;
    }
}

fn tallied_time(name: &str, remarks: Remarks<'_>) -> i128 {
    let units = UNITS
        .iter()
        .map(|(unit, size)| i128::from(remarks.tally(&format!("{name} {unit}"))) * size);
    units.sum()
}

/// A time in seconds with one decimal.
fn tenths(time: i128) -> String {
    let tenths = (time + SECOND / 20) / (SECOND / 10);
    format!("{}.{}", tenths / 10, tenths % 10)
}

impl<M: SessionMetric> Reading for OfSessions<M> {
    type Metric = M;
    type Header = ();

    fn metric(&self) -> &M {
        &self.metric
    }

    fn facts(&self) -> Facts {
        let Preparation {
            normalizer,
            unit,
            order,
            collar,
            ..
        } = &self.preparation;
        let mut signature = self.metric.definition();
        let seconds = collar.map_or_else(|| "none".to_owned(), |it| it.collar.to_string());
        signature.push((COLLAR.to_owned(), seconds));
        signature.extend(collar.map(|it| {
            (
                "timing".to_owned(),
                format!("{},{}", it.reference, it.prediction),
            )
        }));
        signature.extend(named([
            ("order", order.to_string()),
            ("unit", unit.to_string()),
        ]));
        signature.extend(normalize_parts(normalizer));
        Facts {
            signature,
            ..Facts::default()
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let sides = read_sides(record)?;
        let speech = self.speech(&sides)?;
        let [reference, prediction] = &speech;
        let session = self.session(prediction, reference)?;
        self.note(&sides, &speech, sink, record.id);
        if M::PAIRS_SPEAKERS && self.details {
            let session = json!({"id": record.id.to_string(), "pairs": session.pairs});
            sink.tally(&format!("{SESSION}{session}"), 1);
        }
        sink.value(ASSIGNMENT, session.assignment);
        sink.measured(None, &[], session.state);
        Ok(())
    }

    fn numbers(&self, state: &M::State, (): &(), asked: Asked<'_>) -> Numbers {
        let remarks = asked.remarks;
        let sessions = |remarks: Remarks<'_>| -> Json {
            let sessions = remarks.tallies(SESSION);
            // They are written above.
            let sessions = sessions.flat_map(|(json, times)| {
                let session = serde_json::from_str::<Json>(json).ok();
                session
                    .into_iter()
                    .cycle()
                    .take(usize::try_from(times).unwrap_or(0))
            });
            json!({"sessions": sessions.collect::<Vec<_>>()})
        };
        Numbers {
            scores: vec![(self.score.to_owned(), self.metric.compute(state))],
            counts: counts(state),
            warnings: remarks.map_or_else(Vec::new, |remarks| self.warnings(remarks)),
            details: remarks
                .filter(|_| asked.details && self.details && M::PAIRS_SPEAKERS)
                .map(sessions),
            ..Numbers::default()
        }
    }

    fn unanswered(&self, record: &mut Record<'_>) -> Unanswered {
        let reference = segments(&mut record.reference.view());
        let speech = reference
            .ok()
            .and_then(|it| self.preparation.reference(&it).ok());
        speech.is_some_and(|speech| speech.units() == 0).into()
    }

    fn show(&self) -> &dyn Show {
        self
    }
}

impl<M: SessionMetric> Show for OfSessions<M> {
    fn inputs(&self, record: &mut Record<'_>) -> Option<[String; 2]> {
        let Sides(sides) = read_sides(record).ok()?;
        Some(sides.map(|segments| {
            let segments: Vec<String> = segments.iter().map(segment_json).collect();
            format!("[{}]", segments.join(","))
        }))
    }
}

/// Reads the segments of a record.
pub(crate) fn read_sides(record: &mut Record<'_>) -> Result<Sides, FieldError> {
    let read = |side: Side, value: &mut Value<'_>| {
        segments(value).map_err(|problem| FieldError::new(side, problem))
    };
    let reference = read(Side::Reference, &mut record.reference)?;
    let prediction = read(Side::Prediction, &mut record.prediction)?;
    Ok(Sides([reference, prediction]))
}

/// A segment as JSON. Times have all of their digits.
fn segment_json(segment: &Segment) -> String {
    let text = |text: Option<&String>| json!(text);
    let null = || "null".to_owned();
    let [start, end] = segment.times.map_or_else(
        || [null(), null()],
        |(start, end)| [start, end].map(|time| time.to_string()),
    );
    format!(
        "{{\"speaker\":{},\"start\":{start},\"end\":{end},\"words\":{}}}",
        text(segment.speaker.as_ref()),
        text(Some(&segment.words)),
    )
}
