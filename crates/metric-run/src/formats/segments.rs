//! Transcripts as lists of segments: a reader for each format, and the sessions that segments become.

use std::collections::HashMap;

use metric_record::json::{Entries, Raw, kind, located, string, typed};
use metric_record::{Document, Kind, ReadError, quoted_id};
use metric_registry::Counted;
use serde_json::json;

use super::transcript::{self, Prepared, RecordWriter};
use crate::RunError;
use crate::formats::Format;
use crate::found::Form;
use crate::source::Source;

/// A segment of a transcript: the words of a speaker from one time to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The session, in formats whose files have several; otherwise a file is a session, and its name is the id.
    pub(crate) session: Option<String>,
    pub(crate) speaker: Option<String>,
    /// The start and the end in seconds. They are decimal numbers, whose digits are kept as they are written.
    pub(crate) times: Option<[String; 2]>,
    pub(crate) words: String,
    /// The line of the file where the segment starts, from 1.
    pub(crate) line: u64,
}

impl Segment {
    /// The segment as an item of a list that metrics of sessions read.
    fn json(&self) -> serde_json::Value {
        let [start, end] = self.times.as_ref().map_or([None; 2], |times| {
            times.each_ref().map(|time| Some(time.as_str()))
        });
        json!({"speaker": self.speaker, "start": start, "end": end, "words": self.words})
    }
}

/// What a reader finds in a file.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) segments: Vec<Segment>,
    /// What is worth a warning, with its count.
    pub(crate) warnings: Vec<(Counted, u64)>,
}

/// Reads the segments of a file, in the order of the file.
type Reader = fn(&Document, &TranscriptOptions) -> Result<Transcript, ReadError>;

/// A format that holds segments.
struct Spec {
    format: Format,
    read: Reader,
    /// Whether a file is one session, also without segments. Its id is the name of the file.
    is_session: bool,
}

const SPECS: [Spec; 3] = [
    Spec {
        format: Format::Stm,
        read: stm,
        is_session: false,
    },
    Spec {
        format: Format::Ctm,
        read: ctm,
        is_session: false,
    },
    Spec {
        format: Format::SegLst,
        read: seglst,
        is_session: false,
    },
];

/// How transcripts are read: options that only some formats have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscriptOptions {
    /// Where the speaker of a word of a CTM file is found, if it is not the default.
    pub speaker: Option<SpeakerOf>,
}

/// Where the speaker of a word of a CTM file is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpeakerOf {
    /// The name of the file, without folder and ending.
    #[default]
    File,
    /// The channel, as in calls with one speaker per channel.
    Channel,
}

impl SpeakerOf {
    /// The words of the option `speaker`, with their meanings.
    pub const CHOICES: [(&str, Self); 2] = [("file", Self::File), ("channel", Self::Channel)];

    fn name(self) -> &'static str {
        let mut choices = Self::CHOICES.iter();
        choices
            .find(|(_, of)| *of == self)
            .map_or("", |(name, _)| name)
    }
}

impl TranscriptOptions {
    /// The options that are given, each with its value, the formats that have it, and what is read with it.
    pub(crate) fn given(&self, reads_sessions: bool) -> impl Iterator<Item = Given> {
        let formats: &[Format] = if reads_sessions { &[Format::Ctm] } else { &[] };
        let speaker = self.speaker.map(|of| Given {
            option: "speaker",
            value: of.name(),
            formats,
            what: "words of speakers in ctm",
        });
        speaker.into_iter()
    }
}

/// An option that is given.
pub(crate) struct Given {
    pub(crate) option: &'static str,
    pub(crate) value: &'static str,
    /// The formats that are read with it.
    pub(crate) formats: &'static [Format],
    /// The data that are read with it, in words.
    pub(crate) what: &'static str,
}

/// The same source in the format of what its file of JSON holds, unless the caller stated the format.
pub(crate) fn recognized(
    source: Source,
    reads_sessions: bool,
    max_bytes: u64,
) -> Result<Source, RunError> {
    if source.format() == Some(Format::SegLst) && !reads_sessions {
        let problem = format!(
            "{}: has segments of several speakers: score them with cpwer, orcwer or dicpwer",
            source.name()
        );
        return Err(RunError::Usage(problem.into()));
    }
    let is_json = source.format() == Some(Format::Json) && !source.has_stated_format();
    let files = source.files();
    let Some(first) = files
        .first()
        .filter(|file| reads_sessions && is_json && file.is_rereadable())
    else {
        return Ok(source);
    };
    let document = first.document(max_bytes)?;
    Ok(match format_of_json(document.file()?.content()) {
        Some(format) => source.with_format(format),
        None => source,
    })
}

/// The format of a file of JSON by what it holds, for metrics of sessions; `None` for records.
fn format_of_json(text: &str) -> Option<Format> {
    let items = items(text).ok()?;
    let first: Entries<'_> = typed(items.first()?.0).ok()?;
    first.get("session_id").map(|_| Format::SegLst)
}

/// Turns transcripts into records of sessions.
pub(crate) fn prepare(
    references: Source,
    predictions: Source,
    max_bytes: u64,
) -> Result<Prepared, RunError> {
    let mut warnings = Vec::new();
    Ok(Prepared {
        references: sessions(references, max_bytes, &mut warnings)?,
        predictions: sessions(predictions, max_bytes, &mut warnings)?,
        warnings,
    })
}

/// Turns the segments of a source into records: one per session, whose value is a list of segments. Sources of other
/// formats stay what they are.
fn sessions(
    source: Source,
    max_bytes: u64,
    warnings: &mut Vec<(Counted, u64)>,
) -> Result<Source, RunError> {
    let mut specs = SPECS.iter();
    let Some(spec) = specs.find(|spec| source.format() == Some(spec.format)) else {
        return Ok(source);
    };
    let mut sessions: Vec<Session> = Vec::new();
    let mut by_id: HashMap<String, usize> = HashMap::new();
    for file in source.files() {
        let document = file.document(max_bytes)?;
        let transcript = (spec.read)(&document, file.transcript_options())?;
        warnings.extend(transcript.warnings);
        if spec.is_session {
            // Two files of one name are two records of one id, which the join refuses.
            by_id.insert(String::new(), sessions.len());
            sessions.push(Session::new(stem(&document.name), 1));
        }
        for segment in transcript.segments {
            let id = segment.session.as_deref().unwrap_or_default();
            let index = by_id.get(id).copied().unwrap_or(sessions.len());
            if index == sessions.len() {
                by_id.insert(id.to_owned(), index);
                sessions.push(Session::new(id, segment.line));
            }
            sessions[index].segments.push(segment.json());
        }
    }
    let mut writer = RecordWriter::default();
    for session in sessions {
        let segments = serde_json::Value::Array(session.segments).to_string();
        writer.add(&session.id, &segments, Form::Json, None, session.line);
    }
    Ok(Source::records(source.name(), writer.0, Format::Json))
}

/// The segments of a session.
struct Session {
    id: String,
    /// The line of the first segment.
    line: u64,
    segments: Vec<serde_json::Value>,
}

impl Session {
    fn new(id: &str, line: u64) -> Self {
        Self {
            id: id.to_owned(),
            line,
            segments: Vec::new(),
        }
    }
}

/// The name of a file without folder, compression and ending.
pub(crate) fn stem(name: &str) -> &str {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let name = name
        .strip_suffix(".gz")
        .or(name.strip_suffix(".zst"))
        .unwrap_or(name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn stm(document: &Document, _: &TranscriptOptions) -> Result<Transcript, ReadError> {
    let mut transcript = Transcript::default();
    let mut ignored = 0;
    let segments = transcript::read_segments(document, |line| line.starts_with(';'));
    for segment in segments.map_err(|error| with_session(document, error))? {
        if segment.is_ignored() {
            ignored += 1;
            continue;
        }
        let (session, _) = segment.channel;
        if transcript::has_alternation(&segment.text) {
            let problem = "found alternatives in braces: expected one text, as sessions are scored without them";
            let error = ReadError::new(&document.name, problem);
            return Err(error.line(segment.line).at(in_session(&session)));
        }
        transcript.segments.push(Segment {
            session: Some(session),
            speaker: Some(segment.speaker),
            times: Some([segment.begin, segment.end].map(transcript::decimal)),
            words: segment.text,
            line: segment.line,
        });
    }
    transcript
        .warnings
        .push((transcript::ignored_segments(), ignored));
    Ok(transcript)
}

/// Each word is a segment.
fn ctm(document: &Document, options: &TranscriptOptions) -> Result<Transcript, ReadError> {
    let file = stem(&document.name);
    let words = transcript::read_words(document);
    let words = words.map_err(|error| with_session(document, error))?;
    let words = words.into_iter().map(|word| {
        let times = [word.begin, word.end()].map(transcript::decimal);
        let (session, channel) = word.channel;
        let speaker = match options.speaker.unwrap_or_default() {
            SpeakerOf::File => file.to_owned(),
            SpeakerOf::Channel => channel,
        };
        Segment {
            session: Some(session),
            speaker: Some(speaker),
            times: Some(times),
            words: word.text,
            line: word.line,
        }
    });
    Ok(Transcript {
        segments: words.collect(),
        ..Transcript::default()
    })
}

/// The items of a list, or the values of an object.
fn items(text: &str) -> Result<Vec<Raw<'_>>, serde_json::Error> {
    if kind(text) == Kind::Object {
        let entries: Entries<'_> = serde_json::from_str(text)?;
        return Ok(entries.0.into_iter().map(|(_, item)| Raw(item)).collect());
    }
    serde_json::from_str(text)
}

/// The format of MeetEval: a list of segments, or an object of them.
fn seglst(document: &Document, _: &TranscriptOptions) -> Result<Transcript, ReadError> {
    let text = document.file()?.content();
    let refuse =
        |problem: String, line: usize| ReadError::new(&document.name, problem).line(line as u64);
    let items = items(text).map_err(|error| {
        let expected =
            "expected a list of segments with session_id, speaker, start_time, end_time and words";
        let line = error.line().max(1);
        refuse(format!("{}: {expected}", located(text, &error)), line)
    })?;
    let mut transcript = Transcript::default();
    let (mut line, mut before) = (1, 0);
    for Raw(item) in items {
        let at = item.as_ptr().addr() - text.as_ptr().addr();
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[before..at]).count();
        before = at;
        let entries: Entries<'_> = typed(item).map_err(|problem| refuse(problem, line))?;
        let session = entries.name("session_id").and_then(|session| {
            session.ok_or_else(|| {
                "no field \"session_id\": expected the session of the segment".to_owned()
            })
        });
        let session = session.map_err(|problem| refuse(problem, line))?;
        let segment = seglst_segment(&entries);
        let segment = segment.map_err(|problem| refuse(problem, line).at(in_session(&session)))?;
        transcript.segments.push(Segment {
            session: Some(session.into_owned()),
            line: line as u64,
            ..segment
        });
    }
    Ok(transcript)
}

fn seglst_segment(entries: &Entries<'_>) -> Result<Segment, String> {
    let words = entries
        .get("words")
        .ok_or("no field \"words\": expected a text");
    let time = |key: &str| match entries.get(key) {
        None | Some("null") => Ok(None),
        Some(json) if kind(json) == Kind::String => {
            string(json).map(|time| Some(time.into_owned()))
        }
        Some(json) => Ok(Some(json.to_owned())),
    };
    let times = match (time("start_time")?, time("end_time")?) {
        (Some(start), Some(end)) => Some([start, end]),
        (None, None) => None,
        _ => {
            return Err(
                "expected start_time and end_time, or neither, found only one of them".to_owned(),
            );
        }
    };
    Ok(Segment {
        speaker: entries.name("speaker")?.map(Into::into),
        times,
        words: string(words?)?.into_owned(),
        ..Segment::default()
    })
}

/// A session in the location of an error.
fn in_session(id: &str) -> String {
    format!("id {}", quoted_id(id))
}

/// Names the session of an error about a line, which begins with it.
fn with_session(document: &Document, error: ReadError) -> ReadError {
    let number = error.line.and_then(|line| usize::try_from(line).ok());
    let lines = document.file().ok().map(|file| file.content().lines());
    let line = lines
        .zip(number)
        .and_then(|(mut lines, number)| lines.nth(number - 1));
    match line.and_then(|line| line.split_ascii_whitespace().next()) {
        Some(session) => error.at(in_session(session)),
        None => error,
    }
}
