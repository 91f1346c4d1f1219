//! Transcripts in the forms of NIST: `trn`, and `stm` with `ctm`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use metric_record::{Document, ReadError, Shard, quoted_id};
use metric_registry::Counted;

use crate::RunError;
use crate::formats::Format;
use crate::found::{Form, Found, FoundId, ScanError, Span};
use crate::source::{Records, Source};

/// Whether a line is a comment.
fn is_comment(line: &str) -> bool {
    line.starts_with(";;")
}

/// Reads a line `TEXT (ID)`.
pub(crate) fn trn_line(text: &str, line: Span, number: u64) -> Result<Option<Found>, ScanError> {
    let of_line = line.slice(text);
    // Like sclite, which also skips empty lines.
    if is_comment(of_line) || of_line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let refuse = |problem: &str| Err(ScanError::new(line.start, problem));
    let trimmed = of_line.trim_ascii();
    let Some(inner) = trimmed.strip_suffix(')') else {
        return refuse(
            "found no id at the end of the line: expected a text and its id in parentheses",
        );
    };
    let Some(open) = inner.rfind('(') else {
        return refuse("found \")\" without \"(\": expected a text and its id in parentheses");
    };
    let (value, id) = (inner[..open].trim_ascii(), &inner[open + 1..]);
    if id.is_empty() || id.contains(|char: char| char.is_whitespace()) {
        return refuse(
            "the id in parentheses is empty or has spaces: expected an id without spaces",
        );
    }
    Ok(Some(Found {
        id: FoundId::Here(Span::within(text, id)),
        value: Span::within(text, value),
        form: form(value),
        other: None,
        record: Span::default(),
        line: number,
    }))
}

/// The form of a text, which may have alternatives.
fn form(text: &str) -> Form {
    if has_alternation(text) {
        Form::Alternatives
    } else {
        Form::Line
    }
}

/// Whether a text has alternatives in braces, as sclite's transcripts do.
pub(crate) fn has_alternation(text: &str) -> bool {
    text.find('{').is_some_and(|open| {
        let rest = &text[open..];
        rest.find('}')
            .is_some_and(|close| rest[..close].contains('/'))
    })
}

/// The text of a segment that is not scored, in any case.
const IGNORED: &str = "IGNORE_TIME_SEGMENT_IN_SCORING";

/// The words of a warning about segments that are not scored.
pub(crate) fn ignored_segments() -> Counted {
    Counted::new(
        format!("segment is left out, as its text is {IGNORED}"),
        format!("segments are left out, as their text is {IGNORED}"),
    )
}

/// A time in seconds, as an exact number of units: the sum of a begin and half a duration is compared with
/// an end, which binary fractions would get wrong.
pub(crate) type Time = i128;

/// The number of decimal places that a time may have.
const PLACES: usize = 12;

/// References and predictions as sources that are joined by id, and what is worth a warning.
pub(crate) struct Prepared {
    pub(crate) references: Source,
    pub(crate) predictions: Source,
    pub(crate) warnings: Vec<(Counted, u64)>,
}

/// The options for reading transcripts with times.
pub(crate) struct Options {
    pub(crate) shard: Option<Shard>,
    pub(crate) max_bytes: u64,
    /// Whether a word outside of its segment is an error.
    pub(crate) refuse_strays: bool,
}

/// Turns `stm` and `ctm` into records by segment. Sources of other formats stay what they are.
pub(crate) fn prepare(
    references: Source,
    predictions: Source,
    options: &Options,
) -> Result<Prepared, RunError> {
    let (reference, prediction) = (references.format(), predictions.format());
    if reference == Some(Format::Ctm) {
        let problem =
            "has words without segments: expected references in stm, or another format with ids";
        return Err(ReadError::new(references.name(), problem).into());
    }
    if prediction == Some(Format::Ctm) && reference != Some(Format::Stm) {
        let problem = format!(
            "has words that belong to the segments of an stm file: expected references in stm, found {}",
            references.name()
        );
        return Err(ReadError::new(predictions.name(), problem).into());
    }
    let mut warnings = Vec::new();
    let segments = match reference {
        Some(Format::Stm) => Some(each_file(&references, options.max_bytes, segments_of)?),
        _ => None,
    };
    let predictions = match (prediction, &segments) {
        (Some(Format::Ctm), Some(segments)) => {
            let words = each_file(&predictions, options.max_bytes, read_words)?;
            align(&predictions.name(), segments, words, options, &mut warnings)?
        }
        (Some(Format::Stm), _) => {
            let segments = each_file(&predictions, options.max_bytes, segments_of)?;
            records(predictions.name(), &segments)
        }
        _ => predictions,
    };
    let references = match segments {
        None => references,
        Some(segments) => {
            let is_held = |segment: &&Segment| {
                let holds = |shard: Shard| shard.holds(&segment.id());
                options.shard.is_none_or(holds) && segment.is_ignored()
            };
            let ignored = segments.iter().filter(is_held).count() as u64;
            warnings.push((ignored_segments(), ignored));
            warnings.push(several_speakers(&segments));
            records(references.name(), &segments)
        }
    };
    Ok(Prepared {
        references,
        predictions,
        warnings,
    })
}

/// The number of recordings in which several people speak, as a warning: their segments are scored one by one.
fn several_speakers(segments: &[Segment]) -> (Counted, u64) {
    let mut speakers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for segment in segments {
        let recording = speakers.entry(&segment.channel.0).or_default();
        recording.insert(&segment.speaker);
    }
    let several = speakers.values().filter(|names| names.len() > 1);
    let rest = "several speakers: their segments are compared one by one; to score transcripts of meetings, use cpwer or orcwer";
    let words = Counted::new(
        format!("recording of the references has {rest}"),
        format!("recordings of the references have {rest}"),
    );
    (words, several.count() as u64)
}

/// A segment of a recording.
pub(crate) struct Segment {
    /// File and channel.
    pub(crate) channel: (String, String),
    pub(crate) speaker: String,
    /// The begin as it is written.
    written: String,
    pub(crate) begin: Time,
    pub(crate) end: Time,
    labels: String,
    pub(crate) text: String,
    pub(crate) line: u64,
}

impl Segment {
    fn id(&self) -> String {
        let (file, channel) = &self.channel;
        format!("{file}/{channel}/{}", self.written)
    }

    pub(crate) fn is_ignored(&self) -> bool {
        self.text.eq_ignore_ascii_case(IGNORED)
    }
}

/// A word with its time.
pub(crate) struct Word {
    pub(crate) channel: (String, String),
    pub(crate) begin: Time,
    /// Twice the middle of the word.
    twice_middle: Time,
    pub(crate) text: String,
    pub(crate) line: u64,
}

impl Word {
    pub(crate) fn end(&self) -> Time {
        self.twice_middle - self.begin
    }
}

/// Reads what the files of a source have.
fn each_file<T>(
    source: &Source,
    max_bytes: u64,
    read: fn(&Document) -> Result<Vec<T>, ReadError>,
) -> Result<Vec<T>, RunError> {
    let mut all = Vec::new();
    for file in source.files() {
        all.extend(read(&file.document(max_bytes)?)?);
    }
    Ok(all)
}

/// Reads each line of a file that is not empty or a comment.
fn each_line<T>(
    document: &Document,
    is_comment: fn(&str) -> bool,
    read: impl Fn(&str, u64) -> Result<T, String>,
) -> Result<Vec<T>, ReadError> {
    let lines = document.file()?.content().lines().map(str::trim_ascii);
    let read = lines.zip(1..).filter_map(|(line, number)| {
        let is_read = !line.is_empty() && !is_comment(line);
        let refuse = |problem| ReadError::new(&document.name, problem).line(number);
        is_read.then(|| read(line, number).map_err(refuse))
    });
    read.collect()
}

/// The word that a text starts with, and what follows it.
fn next_word(text: &str) -> (&str, &str) {
    let end = text.find(|char: char| char.is_ascii_whitespace());
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (word, rest.trim_ascii_start())
}

fn segments_of(document: &Document) -> Result<Vec<Segment>, ReadError> {
    read_segments(document, is_comment)
}

pub(crate) fn read_segments(
    document: &Document,
    is_comment: fn(&str) -> bool,
) -> Result<Vec<Segment>, ReadError> {
    each_line(document, is_comment, |line, number| {
        let (file, rest) = next_word(line);
        let (channel, rest) = next_word(rest);
        let (speaker, rest) = next_word(rest);
        let (written, rest) = next_word(rest);
        let (end, rest) = next_word(rest);
        if end.is_empty() {
            return Err(format!(
                "found {} fields: expected FILE CHANNEL SPEAKER BEGIN END, labels in <> if there are any, and a text",
                line.split_ascii_whitespace().count()
            ));
        }
        let (labels, text) = match next_word(rest) {
            (labels, text) if labels.starts_with('<') && labels.ends_with('>') => (labels, text),
            _ => ("", rest),
        };
        let segment = Segment {
            channel: (file.to_owned(), channel.to_owned()),
            speaker: speaker.to_owned(),
            written: written.to_owned(),
            begin: time(written, "begin")?,
            end: time(end, "end")?,
            labels: labels.to_owned(),
            text: text.to_owned(),
            line: number,
        };
        if segment.end < segment.begin {
            Err(format!(
                "the segment ends at {end}, before it begins at {written}"
            ))
        } else {
            Ok(segment)
        }
    })
}

pub(crate) fn read_words(document: &Document) -> Result<Vec<Word>, ReadError> {
    each_line(document, is_comment, |line, number| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (&[file, channel, begin, duration, text] | &[file, channel, begin, duration, text, _]) =
            fields.as_slice()
        else {
            return Err(format!(
                "found {} fields: expected FILE CHANNEL BEGIN DURATION WORD, and a confidence if there is one",
                fields.len()
            ));
        };
        let begin = time(begin, "begin")?;
        Ok(Word {
            channel: (file.to_owned(), channel.to_owned()),
            begin,
            twice_middle: 2 * begin + time(duration, "duration")?,
            text: text.to_owned(),
            line: number,
        })
    })
}

/// Reads a decimal number that is not negative.
fn time(text: &str, what: &str) -> Result<Time, String> {
    let refuse = || {
        format!(
            "the {what} is {}: expected seconds, such as 12.75",
            quoted_id(text)
        )
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number =
        are_digits(whole) && are_digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    if !is_number || whole.len() > PLACES || fraction.len() > PLACES {
        return Err(refuse());
    }
    format!("{whole}{fraction:0<PLACES$}")
        .parse()
        .map_err(|_| refuse())
}

/// Writes a time as a decimal number.
pub(crate) fn decimal(time: Time) -> String {
    let unit = Time::from(10_u8).pow(PLACES as u32);
    let (whole, rest) = (time / unit, time % unit);
    let text = format!("{whole}.{rest:0PLACES$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Gives each word to a segment of its file and channel, as sclite does: in the order of time, to the first
/// segment that ends after the middle of the word, and never to an earlier one than the word before.
fn align(
    name: &str,
    segments: &[Segment],
    mut words: Vec<Word>,
    options: &Options,
    warnings: &mut Vec<(Counted, u64)>,
) -> Result<Source, RunError> {
    let mut by_channel: BTreeMap<&(String, String), Vec<&Segment>> = BTreeMap::new();
    for segment in segments {
        by_channel
            .entry(&segment.channel)
            .or_default()
            .push(segment);
    }
    for segments in by_channel.values_mut() {
        segments.sort_by_key(|segment| segment.begin);
    }
    words.sort_by(|a, b| (&a.channel, a.begin, a.line).cmp(&(&b.channel, b.begin, b.line)));
    let mut given: HashMap<u64, Vec<&Word>> = HashMap::new();
    let (mut strays, mut ignored) = (0, 0);
    let mut foreign: BTreeMap<String, u64> = BTreeMap::new();
    let holds = |id: &str| options.shard.is_none_or(|shard| shard.holds(id));
    for words in words.chunk_by(|a, b| a.channel == b.channel) {
        let Some(first) = words.first() else { continue };
        let Some(segments) = by_channel.get(&first.channel) else {
            let (file, channel) = &first.channel;
            foreign.insert(format!("{file}/{channel}"), first.line);
            continue;
        };
        let mut at = 0;
        for word in words {
            while at + 1 < segments.len() && 2 * segments[at].end <= word.twice_middle {
                at += 1;
            }
            let segment = segments[at];
            let is_inside = (2 * segment.begin..2 * segment.end).contains(&word.twice_middle);
            if segment.is_ignored() {
                ignored += u64::from(holds(&segment.id()));
            } else if !is_inside {
                if options.refuse_strays {
                    let problem = format!(
                        "the middle of the word {} lies outside the segment {} that it belongs to",
                        quoted_id(&word.text),
                        quoted_id(&segment.id())
                    );
                    return Err(ReadError::new(name, problem).line(word.line).into());
                }
                strays += u64::from(holds(&segment.id()));
            }
            given.entry(segment.line).or_default().push(word);
        }
    }
    let words = Counted::new(
        "word has its middle outside the segment that it is scored with",
        "words have their middle outside the segment that they are scored with",
    );
    warnings.push((words, strays));
    let words = Counted::new(
        "word is left out, as its segment is",
        "words are left out, as their segments are",
    );
    warnings.push((words, ignored));
    let with_words: BTreeSet<_> = segments
        .iter()
        .filter(|segment| given.contains_key(&segment.line))
        .map(|segment| &segment.channel)
        .collect();
    let mut writer = RecordWriter::default();
    for segment in segments {
        if !segment.is_ignored() && with_words.contains(&segment.channel) {
            let words = given
                .get(&segment.line)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            let line = words.first().map_or(1, |word| word.line);
            let text = texts.join(" ");
            writer.add(&segment.id(), &text, form(&text), None, line);
        }
    }
    for (id, line) in foreign {
        writer.add(&id, "", Form::Line, None, line);
    }
    Ok(Source::records(name.to_owned(), writer.0, Format::Kaldi))
}

/// Segments as records, except those that are not scored.
fn records(name: String, segments: &[Segment]) -> Source {
    let mut writer = RecordWriter::default();
    for segment in segments.iter().filter(|segment| !segment.is_ignored()) {
        let fields = serde_json::json!({"speaker": segment.speaker, "labels": segment.labels});
        writer.add(
            &segment.id(),
            &segment.text,
            form(&segment.text),
            Some(&fields.to_string()),
            segment.line,
        );
    }
    Source::records(name, writer.0, Format::Kaldi)
}

/// Writes records into a text.
pub(crate) struct RecordWriter(pub(crate) Records);

impl Default for RecordWriter {
    fn default() -> Self {
        Self(Records {
            text: String::new(),
            found: Vec::new(),
        })
    }
}

impl RecordWriter {
    pub(crate) fn add(
        &mut self,
        id: &str,
        value: &str,
        form: Form,
        record: Option<&str>,
        line: u64,
    ) {
        let Records { text, found } = &mut self.0;
        let mut write = |part: &str| {
            let start = text.len();
            text.push_str(part);
            Span::new(start, text.len())
        };
        found.push(Found {
            id: FoundId::Here(write(id)),
            value: write(value),
            form,
            other: None,
            record: record.map(&mut write).unwrap_or_default(),
            line,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_word_is_exact() {
        let document = Document::text("h0.ctm", "s 1 0.1 0.20 a\ns 2 1. .5 b 0.9\n");
        let words = read_words(&document).expect("words").into_iter();
        let times: Vec<_> = words
            .map(|word| [word.begin, word.end()].map(decimal))
            .collect();
        assert_eq!(times, [["0.1", "0.3"], ["1", "1.5"]]);
    }

    /// Segments of one channel, words with begin and duration, and the words of each segment.
    #[test]
    fn words_go_to_the_first_segment_that_ends_after_their_middle() {
        type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);
        let rows: &[Row<'_>] = &[
            // A middle at an end belongs to the next segment, also where binary fractions differ.
            (
                "f 1 s 0 0.8 a\nf 1 s 0.8 2 b",
                "f 1 0.7 0.2 x",
                &[("f/1/0", ""), ("f/1/0.8", "x")],
            ),
            (
                "f 1 s 0 1 a\nf 1 s 1 2 b",
                "f 1 0.5 0.5 x",
                &[("f/1/0", "x"), ("f/1/1", "")],
            ),
            // The last segment takes all that is left, and order is by time.
            (
                "f 1 s 0 1 a\nf 1 s 1 2 b",
                "f 1 9 1 y\nf 1 3 1 x",
                &[("f/1/0", ""), ("f/1/1", "x y")],
            ),
            // A word between two segments goes to the later one.
            (
                "f 1 s 0 1 a\nf 1 s 5 6 b",
                "f 1 2 1 x",
                &[("f/1/0", ""), ("f/1/5", "x")],
            ),
            // A word is never given to an earlier segment than the word before it.
            (
                "f 1 s 0 1 a\nf 1 s 1 2 b",
                "f 1 0.1 2 x\nf 1 0.2 0.1 y",
                &[("f/1/0", ""), ("f/1/1", "x y")],
            ),
        ];
        for (stm, ctm, expected) in rows {
            let source =
                |name: &str, text: &str, format| Source::memory(name, text.as_bytes(), format);
            let options = Options {
                shard: None,
                max_bytes: 1 << 20,
                refuse_strays: false,
            };
            let prepared = prepare(
                source("r.stm", stm, Format::Stm),
                source("p.ctm", ctm, Format::Ctm),
                &options,
            );
            let predictions = prepared.expect("transcripts").predictions;
            let found: Vec<_> = predictions.found_records();
            let found: Vec<_> = found.iter().map(|(id, text)| (&**id, &**text)).collect();
            assert_eq!(found, *expected, "{stm}\n{ctm}");
        }
    }
}
