//! Transcripts as lists of segments: a reader for each format, and the sessions or texts that segments become.

mod subtitles;
mod text_grid;
mod whisper;
#[cfg(feature = "xml")]
mod xml;

use std::collections::HashMap;

use metric_record::json::{Entries, Raw, kind, located, string, typed};
use metric_record::{Document, Kind, Message, ReadError, quoted_id};
use metric_registry::Counted;
use serde_json::json;

use super::transcript::{self, Prepared, RecordWriter};
use crate::RunError;
use crate::formats::Format;
use crate::found::Form;
use crate::source::Source;

/// A segment of a transcript: the words of a speaker from one time to another. A line of a page of text is a segment without
/// a speaker and without times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// The session, in formats whose files have several; otherwise a file is a session, and its name is the id.
    pub session: Option<String>,
    /// The speaker, if the file names one.
    pub speaker: Option<String>,
    /// The start and the end in seconds. They are decimal numbers, whose digits are kept as they are written.
    pub times: Option<[String; 2]>,
    /// What is said.
    pub words: String,
    /// The line of the file where the segment starts, from 1.
    pub line: u64,
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
    /// Whether a file is one session or one text, also without segments. Its id is the name of the file.
    is_session: bool,
    /// What is between two segments in the text of a file.
    separator: &'static str,
}

/// A format whose files are one transcript each.
const SESSION: Spec = Spec {
    format: Format::Text,
    read: text_lines,
    is_session: true,
    separator: " ",
};

const SPECS: &[Spec] = &[
    Spec {
        format: Format::Stm,
        read: stm,
        is_session: false,
        ..SESSION
    },
    Spec {
        format: Format::Ctm,
        read: ctm,
        is_session: false,
        ..SESSION
    },
    Spec {
        format: Format::SegLst,
        read: seglst,
        is_session: false,
        ..SESSION
    },
    Spec {
        format: Format::Srt,
        read: |document, options| of_text(document, options, subtitles::srt),
        ..SESSION
    },
    Spec {
        format: Format::Vtt,
        read: |document, options| of_text(document, options, subtitles::vtt),
        ..SESSION
    },
    Spec {
        format: Format::Whisper,
        read: |document, options| of_text(document, options, whisper::whisper),
        ..SESSION
    },
    Spec {
        format: Format::TextGrid,
        read: |document, options| of_text(document, options, text_grid::text_grid),
        ..SESSION
    },
    #[cfg(feature = "xml")]
    Spec {
        format: Format::Xml,
        read: |document, options| of_text(document, options, xml::xml),
        separator: "\n",
        ..SESSION
    },
];

/// The row of a format, if it holds segments.
fn spec_of(format: Option<Format>) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| Some(spec.format) == format)
}

/// How transcripts are read: options that only some formats have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscriptOptions {
    /// Where the speaker of a word of a CTM file is found, if it is not the default.
    pub speaker: Option<SpeakerOf>,
    /// The form of a speaker's name at the start of a text of SRT and WebVTT, if it is not the default.
    pub speaker_prefix: Option<SpeakerPrefix>,
    /// The parts of JSON of Whisper that are segments, if they are not the default.
    pub level: Option<Level>,
    /// The names of the tiers of a TextGrid that are read; none for all.
    pub tiers: Vec<String>,
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
}

/// The form of a speaker's name at the start of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpeakerPrefix {
    /// `[NAME]: `, as WhisperX writes it.
    #[default]
    Brackets,
    /// `NAME: `, with a name of at most 40 characters.
    Colon,
    /// Texts name no speakers.
    None,
}

impl SpeakerPrefix {
    /// The values of the option `speaker-prefix`.
    pub(crate) const CHOICES: [(&str, Self); 3] = [
        ("brackets", Self::Brackets),
        ("colon", Self::Colon),
        ("none", Self::None),
    ];
}

/// The parts of a transcript that are segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// The segments of the file.
    #[default]
    Segment,
    /// The words of these segments.
    Word,
}

impl Level {
    /// The values of the option `level`.
    pub(crate) const CHOICES: [(&str, Self); 2] =
        [("segment", Self::Segment), ("word", Self::Word)];
}

/// The name of a value among the choices of an option.
fn name_of<T: PartialEq>(value: &T, choices: &[(&'static str, T)]) -> &'static str {
    let found = choices.iter().find(|(_, choice)| choice == value);
    found.map_or("", |(name, _)| name)
}

impl TranscriptOptions {
    /// The options that are given, each with its value, the formats that have it, and what is read with it.
    pub(crate) fn given(&self, reads_sessions: bool) -> impl Iterator<Item = Given<'_>> {
        let formats: &[Format] = if reads_sessions { &[Format::Ctm] } else { &[] };
        let speaker = self.speaker.map(|of| Given {
            option: "speaker",
            value: name_of(&of, &SpeakerOf::CHOICES),
            formats,
            what: "words of speakers in ctm",
        });
        let prefix = self.speaker_prefix.map(|prefix| Given {
            option: "speaker-prefix",
            value: name_of(&prefix, &SpeakerPrefix::CHOICES),
            formats: &[Format::Srt, Format::Vtt],
            what: "subtitles in SRT or WebVTT",
        });
        let level = self.level.map(|level| Given {
            option: "level",
            value: name_of(&level, &Level::CHOICES),
            formats: &[Format::Whisper],
            what: "JSON of Whisper",
        });
        let tier = self.tiers.first().map(|tier| Given {
            option: "tier",
            value: tier,
            formats: &[Format::TextGrid],
            what: "tiers of a TextGrid",
        });
        [speaker, prefix, level, tier].into_iter().flatten()
    }
}

/// An option that is given.
pub(crate) struct Given<'o> {
    pub(crate) option: &'static str,
    pub(crate) value: &'o str,
    /// The formats that are read with it.
    pub(crate) formats: &'static [Format],
    /// The data that are read with it, in words.
    pub(crate) what: &'static str,
}

/// The same source in the format of what its files of JSON hold, unless the caller stated the format. Of several files, the
/// first one decides.
pub(crate) fn recognized(source: Source, reads: Reads, max_bytes: u64) -> Result<Source, RunError> {
    if source.format() == Some(Format::SegLst) && reads != Reads::Sessions {
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
        .filter(|file| reads != Reads::Values && is_json && file.is_rereadable())
    else {
        return Ok(source);
    };
    // Most files of texts are told by a fast search, which holds nothing of them.
    if reads == Reads::Texts && !first.has_any(&whisper::list_names()) {
        return Ok(source);
    }
    let document = first.document(max_bytes)?;
    Ok(match format_of_json(document.file()?.content(), reads) {
        Some(format) => source.with_format(format),
        None => source,
    })
}

/// What the metrics of a run read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Sessions of several speakers.
    Sessions,
    /// Pairs of texts.
    Texts,
    /// Any other values.
    Values,
}

/// The format of a file of JSON by what it holds; `None` for records.
fn format_of_json(text: &str, reads: Reads) -> Option<Format> {
    if kind(text) == Kind::Object && whisper::is_whisper(&typed(text).ok()?) {
        return Some(Format::Whisper);
    }
    if reads != Reads::Sessions {
        return None;
    }
    let items = items(text).ok()?;
    let first: Entries<'_> = typed(items.first()?.0).ok()?;
    match (first.get("session_id"), first.get("id")) {
        (Some(_), _) => Some(Format::SegLst),
        (None, None) if kind(text) == Kind::List => Some(Format::Whisper),
        _ => None,
    }
}

/// Turns transcripts into records of sessions. One file and one file are the same record if both `are_named`, and not found in
/// folders.
pub(crate) fn prepare(
    references: Source,
    predictions: Source,
    are_named: bool,
    max_bytes: u64,
) -> Result<Prepared, RunError> {
    let mut warnings = Vec::new();
    let id = only_id(&references, &predictions).filter(|_| are_named);
    let id = id.as_deref();
    Ok(Prepared {
        references: sessions(references, id, max_bytes, &mut warnings)?,
        predictions: sessions(predictions, id, max_bytes, &mut warnings)?,
        warnings,
    })
}

/// The id of the only record of both sides, where each is one file that is one record: they are the same record, whatever
/// their names are.
fn only_id(references: &Source, predictions: &Source) -> Option<String> {
    let is_one = |source: &Source| {
        let is_record = source.format() == Some(Format::Text)
            || spec_of(source.format()).is_some_and(|spec| spec.is_session);
        is_record && source.files().len() == 1
    };
    let are_one = is_one(references) && is_one(predictions);
    are_one.then(|| {
        stem(
            &references
                .files()
                .first()
                .map_or_else(String::new, Source::name),
        )
        .to_owned()
    })
}

/// Turns the segments of a source into records: one per session, whose value is a list of segments. Sources of other
/// formats stay what they are.
fn sessions(
    source: Source,
    only_id: Option<&str>,
    max_bytes: u64,
    warnings: &mut Vec<(Counted, u64)>,
) -> Result<Source, RunError> {
    let Some(spec) = spec_of(source.format()) else {
        return Ok(source);
    };
    let mut sessions: Vec<Session> = Vec::new();
    let mut by_id: HashMap<String, usize> = HashMap::new();
    for file in source.files() {
        let document = file.document(max_bytes)?;
        let transcript = (spec.read)(&document, file.transcript_options())?;
        add_warnings(warnings, transcript.warnings);
        if spec.is_session {
            // Two files of one name are two records of one id, which the join refuses.
            by_id.insert(String::new(), sessions.len());
            sessions.push(Session::new(only_id.unwrap_or(stem(&document.name)), 1));
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

/// Adds warnings, of which those about the same thing are one.
fn add_warnings(warnings: &mut Vec<(Counted, u64)>, more: Vec<(Counted, u64)>) {
    for (what, times) in more {
        match warnings.iter_mut().find(|(other, _)| *other == what) {
            Some((_, sum)) => *sum += times,
            None => warnings.push((what, times)),
        }
    }
}

/// Turns files that are one transcript or one page each into records of their texts. If one side has such files, text files
/// of the other side are one record each as well. Sources of other formats stay what they are.
pub(crate) fn texts(
    references: Source,
    predictions: Source,
    are_named: bool,
    max_bytes: u64,
    warnings: &mut Vec<(Counted, u64)>,
) -> Result<[Source; 2], RunError> {
    let spec = |source: &Source| spec_of(source.format()).filter(|spec| spec.is_session);
    let Some(any) = spec(&references).or_else(|| spec(&predictions)) else {
        return Ok([references, predictions]);
    };
    let only_id = only_id(&references, &predictions).filter(|_| are_named);
    let of_text = Spec {
        separator: any.separator,
        ..SESSION
    };
    let mut side = |source: Source| {
        let is_text = source.format() == Some(Format::Text);
        match spec(&source).or(is_text.then_some(&of_text)) {
            Some(spec) => text_records(&source, spec, only_id.as_deref(), max_bytes, warnings),
            None => Ok(source),
        }
    };
    Ok([side(references)?, side(predictions)?])
}

/// Turns the files of a source into records of their texts, if they are one transcript or one page each.
pub(crate) fn with_texts(source: Source, max_bytes: u64) -> Result<Source, RunError> {
    match spec_of(source.format()).filter(|spec| spec.is_session) {
        Some(spec) => text_records(&source, spec, None, max_bytes, &mut Vec::new()),
        None => Ok(source),
    }
}

fn text_records(
    source: &Source,
    spec: &Spec,
    only_id: Option<&str>,
    max_bytes: u64,
    warnings: &mut Vec<(Counted, u64)>,
) -> Result<Source, RunError> {
    let mut records = Vec::new();
    for file in source.files() {
        let document = file.document(max_bytes)?;
        let transcript = (spec.read)(&document, file.transcript_options())?;
        add_warnings(warnings, transcript.warnings);
        let id = only_id.unwrap_or(stem(&document.name));
        let words = transcript.segments.iter().map(|segment| &segment.words);
        let mut writer = RecordWriter::default();
        writer.add(id, &joined(words, spec.separator), Form::Line, None, 1);
        records.push(Source::records(document.name, writer.0, Format::Kaldi));
    }
    Ok(Source::several(source.name(), records))
}

/// Joins texts, of which an empty one adds nothing, without white space at their ends.
fn joined<T: AsRef<str>>(texts: impl Iterator<Item = T>, separator: &str) -> String {
    let texts: Vec<T> = texts.collect();
    let texts = texts.iter().map(|text| text.as_ref().trim());
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.join(separator)
}

impl Source {
    /// Returns the segments of a transcript, in the order of the file. The segments of a page of text are its lines.
    ///
    /// ```
    /// use metric_run::{DEFAULT_MAX_BYTES, Format, Source};
    ///
    /// let file = "1\n00:00:01,500 --> 00:01:02,000\n[Ada]: Good\nmorning\n";
    /// let source = Source::memory("talk.srt", file.as_bytes(), Format::Srt);
    /// let segments = source.segments(DEFAULT_MAX_BYTES)?;
    /// assert_eq!(segments[0].speaker.as_deref(), Some("Ada"));
    /// assert_eq!(segments[0].times, Some(["1.5".to_owned(), "62".to_owned()]));
    /// assert_eq!(segments[0].words, "Good morning");
    /// # Ok::<(), metric_run::RunError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the source is not one file of such a format, cannot be read, has more than `max_bytes` bytes, or is
    /// not what its format says. The error names the line.
    pub fn segments(&self, max_bytes: u64) -> Result<Vec<Segment>, RunError> {
        let format = self.record_format()?;
        let spec = spec_of(Some(format)).ok_or_else(|| {
            let problem = format!("is {}: expected a transcript", format.title());
            ReadError::new(self.name(), problem)
        })?;
        let document = self.document(max_bytes)?;
        Ok((spec.read)(&document, self.transcript_options())?.segments)
    }
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

/// Reads the text of a file by a reader whose errors do not name the file.
fn of_text(
    document: &Document,
    options: &TranscriptOptions,
    read: fn(&str, &TranscriptOptions) -> Result<Transcript, ReadError>,
) -> Result<Transcript, ReadError> {
    read(document.file()?.content(), options).map_err(|mut error| {
        error.file.clone_from(&document.name);
        error
    })
}

/// The problem of a line of a file that is not named.
fn refuse<T>(line: u64, problem: impl Into<Message>) -> Result<T, ReadError> {
    Err(ReadError::new("", problem).line(line))
}

/// The start and the end of a segment, unless it ends before it starts.
fn in_order(times: [String; 2]) -> Result<[String; 2], String> {
    let [start, end] = times.each_ref().map(|time| time.parse().unwrap_or(0.0));
    if end < start {
        let [start, end] = times;
        return Err(format!(
            "the segment ends at {end} s, before it starts at {start} s"
        ));
    }
    Ok(times)
}

/// Whether a text is a decimal number.
fn is_decimal(text: &str) -> bool {
    let is_part = |char: char| char.is_ascii_digit() || "+-.eE".contains(char);
    text.chars().all(is_part) && text.parse().is_ok_and(f64::is_finite)
}

/// The lines of a text file as segments.
fn text_lines(document: &Document, _: &TranscriptOptions) -> Result<Transcript, ReadError> {
    let lines = document.file()?.content().lines().zip(1..);
    let segments = lines.map(|(words, line)| Segment {
        words: words.to_owned(),
        line,
        ..Segment::default()
    });
    Ok(Transcript {
        segments: segments.collect(),
        ..Transcript::default()
    })
}

/// Items of a JSON text in its order, each with the number of its line.
fn with_lines<'t>(text: &'t str, items: Vec<Raw<'t>>) -> impl Iterator<Item = (&'t str, u64)> {
    let (mut line, mut before) = (1, 0);
    items.into_iter().map(move |Raw(item)| {
        let at = item.as_ptr().addr() - text.as_ptr().addr();
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[before..at]).count() as u64;
        before = at;
        (item, line)
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
    let refuse = |problem: String, line: u64| ReadError::new(&document.name, problem).line(line);
    let items = items(text).map_err(|error| {
        let expected =
            "expected a list of segments with session_id, speaker, start_time, end_time and words";
        let line = error.line().max(1) as u64;
        refuse(format!("{}: {expected}", located(text, &error)), line)
    })?;
    let mut transcript = Transcript::default();
    for (item, line) in with_lines(text, items) {
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
            line,
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::DEFAULT_MAX_BYTES;

    /// A file in each format.
    const FILES: &[(Format, &str)] = &[
        (
            Format::Srt,
            "1\n00:00:00,000 --> 00:00:01,5\n[A]: <i>a</i> {\\an8}\nb\n\n2\n00:00:02.000 --> 00:00:03.000 x\nc\n",
        ),
        (
            Format::Vtt,
            "WEBVTT x\n\nNOTE\nx\n\nid\n00:00.000 --> 01:00:01.500 align:start\n<v.b A B>a &amp;<c>b</c>\n<v C>&#233;\n",
        ),
        (
            Format::Whisper,
            "{\"segments\": [{\"start\": 0, \"end\": 1.5, \"text\": \" a\", \"speaker\": \"A\", \"words\": []}]}",
        ),
        (
            Format::Whisper,
            "{\"transcription\": [{\"offsets\": {\"from\": 0, \"to\": 10}, \"text\": \"a\"}]}",
        ),
        (
            Format::Whisper,
            "{\"chunks\": [{\"timestamp\": [0, null], \"text\": \"a\"}], \"speakers\": []}",
        ),
        (
            Format::TextGrid,
            "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n0 1 <exists> 2\n\"IntervalTier\" \"A\" 0 1 1\n0 1 \"a \"\"b\"\"\"\n\"TextTier\" \"t\" 0 1 1 0.5 \"x\"\n",
        ),
        #[cfg(feature = "xml")]
        (
            Format::Xml,
            "<!DOCTYPE PcGts [<!ENTITY e \"x\">]><PcGts><Page><ReadingOrder><OrderedGroup><RegionRefIndexed index=\"0\" regionRef=\"a\"/></OrderedGroup></ReadingOrder><TextRegion id=\"a\"><TextLine><TextEquiv index=\"0\"><Unicode>a &e;</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>",
        ),
        #[cfg(feature = "xml")]
        (
            Format::Xml,
            "<alto><TextLine><String CONTENT=\"a\"/><SP/><String CONTENT=\"b\"/><HYP CONTENT=\"-\"/></TextLine></alto>",
        ),
    ];

    fn read(format: Format, bytes: &[u8]) -> Result<Vec<Segment>, RunError> {
        Source::memory("file", bytes, format).segments(DEFAULT_MAX_BYTES)
    }

    #[test]
    fn each_file_has_segments_in_any_lines() {
        for (format, text) in FILES {
            let segments = read(*format, text.as_bytes()).expect(text);
            assert!(!segments.is_empty(), "{text}");
            // A byte order mark and line feeds after carriage returns change nothing.
            let other = format!("\u{feff}{}", text.replace('\n', "\r\n"));
            assert_eq!(
                read(*format, other.as_bytes()).ok(),
                Some(segments),
                "{text}"
            );
        }
    }

    #[test]
    fn a_text_grid_may_be_utf_16() {
        let (_, text) = FILES[5];
        let encoded = |units: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let marked = format!("\u{feff}{text}");
            marked.encode_utf16().flat_map(units).collect()
        };
        for bytes in [encoded(u16::to_le_bytes), encoded(u16::to_be_bytes)] {
            let utf8 = read(Format::TextGrid, text.as_bytes()).ok();
            assert_eq!(read(Format::TextGrid, &bytes).ok(), utf8);
            let odd = &bytes[..bytes.len() - 1];
            let error = read(Format::TextGrid, odd).expect_err("half a character");
            assert!(
                error.to_string().starts_with("file:6: not UTF-16"),
                "{error}"
            );
            assert!(read(Format::Srt, &bytes).is_err());
        }
    }

    proptest! {
        /// Files with changed bytes are read or refused.
        #[test]
        fn changed_bytes_are_no_panic(
            file in 0..FILES.len(),
            changes in prop::collection::vec((0.0..1.0_f64, any::<u8>(), any::<bool>()), 0..6),
        ) {
            let (format, text) = FILES[file];
            let mut bytes = text.as_bytes().to_vec();
            for (index, byte, removes) in changes {
                let index = (bytes.len() as f64 * index) as usize;
                if removes {
                    bytes.truncate(index.max(1));
                } else if let Some(old) = bytes.get_mut(index) {
                    *old = byte;
                }
            }
            let _ = read(format, &bytes);
        }

        #[test]
        fn no_bytes_are_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            for (format, _) in FILES {
                let _ = read(*format, &bytes);
            }
        }
    }
}
