//! JSON of Whisper, and of programs that write what they hear in a similar form.

use metric_record::json::{Entries, Raw, kind, located, string, typed};
use metric_record::{Kind, Message, ReadError};
use metric_registry::Counted;

use super::{
    Level, Segment, Transcript, TranscriptOptions, in_order, is_decimal, refuse, with_lines,
};

/// Reads an item of a list as a segment. Counts an end that is missing.
type ReadItem = fn(&Entries<'_>, &mut u64) -> Result<Segment, String>;

/// The fields that have the list, each with the reader of its items.
const LISTS: [(&str, ReadItem); 3] = [
    ("segments", segment),
    ("transcription", transcription),
    ("chunks", chunk),
];

/// The names of these fields as they are in JSON.
pub(super) fn list_names() -> [String; 3] {
    LISTS.map(|(name, _)| format!("\"{name}\""))
}

/// Returns the list of an object that Whisper or a program like it has written, with its name and the reader of its items.
fn list_of<'t>(entries: &Entries<'t>) -> Option<(&'static str, Vec<Raw<'t>>, ReadItem)> {
    LISTS.iter().find_map(|(name, read)| {
        let items: Vec<Raw<'t>> = typed(entries.get(name)?).ok()?;
        let are_objects = items.iter().all(|Raw(item)| kind(item) == Kind::Object);
        are_objects.then_some((*name, items, *read))
    })
}

/// Whether Whisper or a program like it has written an object.
pub(super) fn is_whisper(entries: &Entries<'_>) -> bool {
    list_of(entries).is_some()
}

/// Reads an object with one of [`LISTS`], or a list of segments.
pub(super) fn whisper(text: &str, options: &TranscriptOptions) -> Result<Transcript, ReadError> {
    let malformed = |error: serde_json::Error| {
        let line = error.line().max(1) as u64;
        let problem = format!("{}: expected JSON of Whisper", located(text, &error));
        ReadError::new("", problem).line(line)
    };
    let (name, items, read) = if kind(text) == Kind::Object {
        let entries: Entries<'_> = serde_json::from_str(text).map_err(malformed)?;
        let Some((name, items, read)) = list_of(&entries) else {
            let names = LISTS.map(|(name, _)| name).join(", ");
            let problem = format!("expected a list of objects in one of the fields {names}");
            return refuse(1, problem);
        };
        // Where speakers were not told apart, their list is empty.
        match entries.get("speakers").map(typed::<Vec<Raw<'_>>>) {
            Some(Ok(speakers)) if name == "chunks" && !speakers.is_empty() => {
                ("speakers", speakers, read)
            }
            _ => (name, items, read),
        }
    } else {
        let (name, read) = LISTS[0];
        (name, serde_json::from_str(text).map_err(malformed)?, read)
    };
    let by_word = options.level == Some(Level::Word);
    if by_word && name != "segments" {
        let problem = Message::default()
            .option("level", "word")
            .text(format_args!(
                " reads the words of segments: found {name}, which have none"
            ));
        return refuse(1, problem);
    }
    let mut transcript = Transcript::default();
    let mut endless = 0;
    for (index, (item, line)) in with_lines(text, items).enumerate() {
        let at = |problem: String| {
            let error = ReadError::new("", problem).line(line);
            error.at(format!("{name}[{index}]"))
        };
        let entries: Entries<'_> = typed(item).map_err(at)?;
        let segment = read(&entries, &mut endless).map_err(at)?;
        let segment = Segment { line, ..segment };
        if by_word {
            transcript
                .segments
                .extend(words_of(&entries, segment).map_err(at)?);
        } else {
            transcript.segments.push(segment);
        }
    }
    if endless > 0 {
        let words = Counted::new(
            "chunk has no end, so it ends where it starts",
            "chunks have no end, so they end where they start",
        );
        transcript.warnings.push((words, endless));
    }
    Ok(transcript)
}

/// An item of `segments`.
fn segment(entries: &Entries<'_>, _: &mut u64) -> Result<Segment, String> {
    Ok(Segment {
        speaker: speaker(entries)?,
        times: times(entries.get("start"), entries.get("end"))?,
        words: words(entries, "text")?,
        ..Segment::default()
    })
}

/// An item of `transcription`, which whisper.cpp writes with times in milliseconds.
fn transcription(entries: &Entries<'_>, _: &mut u64) -> Result<Segment, String> {
    let offsets = entries.get("offsets");
    let offsets = offsets.ok_or("no field \"offsets\": expected an object with from and to")?;
    let offsets: Entries<'_> = typed(offsets)?;
    let seconds = |name: &str| -> Result<String, String> {
        let milliseconds = offsets.get(name).unwrap_or("null");
        let milliseconds: u64 =
            typed(milliseconds).map_err(|problem| format!("offsets: {name}: {problem}"))?;
        let text = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
        Ok(text.trim_end_matches('0').trim_end_matches('.').to_owned())
    };
    Ok(Segment {
        times: Some(in_order([seconds("from")?, seconds("to")?])?),
        words: words(entries, "text")?,
        ..Segment::default()
    })
}

/// An item of `chunks` or of `speakers`, which pipelines of Transformers write.
fn chunk(entries: &Entries<'_>, endless: &mut u64) -> Result<Segment, String> {
    let timestamp = match entries.get("timestamp") {
        None | Some("null") => Vec::new(),
        Some(list) => {
            typed::<Vec<Raw<'_>>>(list).map_err(|problem| format!("timestamp: {problem}"))?
        }
    };
    let times = match timestamp[..] {
        [] => None,
        [Raw(start), Raw("null")] if start != "null" => {
            *endless += 1;
            times(Some(start), Some(start))?
        }
        [Raw(start), Raw(end)] => times(Some(start), Some(end))?,
        _ => {
            let found = timestamp.len();
            return Err(format!(
                "timestamp: found {found} numbers: expected a start and an end"
            ));
        }
    };
    Ok(Segment {
        speaker: speaker(entries)?,
        times,
        words: words(entries, "text")?,
        ..Segment::default()
    })
}

/// The words of a segment as segments. A word without times or without a speaker has those of the segment.
fn words_of(entries: &Entries<'_>, segment: Segment) -> Result<Vec<Segment>, String> {
    let items = entries.get("words").map_or_else(
        || Err("no field \"words\": expected the words of the segment".to_owned()),
        typed::<Vec<Raw<'_>>>,
    );
    let word = |(index, Raw(item)): (usize, Raw<'_>)| {
        let at = |problem: String| format!("words[{index}]: {problem}");
        let entries: Entries<'_> = typed(item).map_err(at)?;
        let [start, end] =
            ["start", "end"].map(|name| entries.get(name).filter(|it| *it != "null"));
        let times = match (start, end) {
            (Some(_), Some(_)) => times(start, end).map_err(at)?,
            _ => segment.times.clone(),
        };
        let speaker = speaker(&entries).map_err(at)?;
        Ok(Segment {
            speaker: speaker.or_else(|| segment.speaker.clone()),
            times,
            words: words(&entries, "word").map_err(at)?,
            ..segment.clone()
        })
    };
    let words = items?.into_iter().enumerate().map(word);
    let words = words.collect::<Result<Vec<_>, String>>()?;
    Ok(if words.is_empty() {
        vec![segment]
    } else {
        words
    })
}

fn speaker(entries: &Entries<'_>) -> Result<Option<String>, String> {
    Ok(entries.name("speaker")?.map(Into::into))
}

fn words(entries: &Entries<'_>, name: &str) -> Result<String, String> {
    let text = entries.get(name);
    let text = text.ok_or_else(|| format!("no field {name:?}: expected a text"))?;
    let text = string(text).map_err(|problem| format!("field {name:?}: {problem}"))?;
    Ok(text.trim().to_owned())
}

/// The times of a segment, if it has both.
fn times(start: Option<&str>, end: Option<&str>) -> Result<Option<[String; 2]>, String> {
    let time = |json: Option<&str>| match json {
        None | Some("null") => Ok(None),
        Some(json) => {
            let text = match kind(json) {
                Kind::String => string(json)?.into_owned(),
                _ => json.to_owned(),
            };
            let expected = || format!("the time is {json}: expected a number of seconds");
            is_decimal(&text).then_some(Some(text)).ok_or_else(expected)
        }
    };
    match (time(start)?, time(end)?) {
        (Some(start), Some(end)) => in_order([start, end]).map(Some),
        (None, None) => Ok(None),
        _ => Err("found only one of the times: expected a start and an end".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, level: Level) -> Result<Vec<String>, String> {
        let options = TranscriptOptions {
            level: Some(level),
            ..TranscriptOptions::default()
        };
        let segments = whisper(text, &options)
            .map_err(|error| error.to_string())?
            .segments;
        let shown = |segment: &Segment| {
            let times = segment.times.as_ref().map(|times| times.join("-"));
            let speaker = segment.speaker.as_deref().unwrap_or("?");
            format!("{} {speaker}: {}", times.unwrap_or_default(), segment.words)
        };
        Ok(segments.iter().map(shown).collect())
    }

    #[test]
    fn lists_by_hand() {
        use Level::{Segment, Word};
        let words = r#"{"segments": [{"start": 0.10, "end": 9, "text": " a b ", "speaker": 1, "words": [
            {"word": " a", "start": 0.2, "end": "0.30", "speaker": "B"}, {"word": "b", "start": 1}]}]}"#;
        let rows: [(&str, Level, &[&str]); 9] = [
            (words, Segment, &["0.10-9 1: a b"]),
            (words, Word, &["0.2-0.30 B: a", "0.10-9 1: b"]),
            (
                r#"[{"text": "a", "start": null}, {"text": ""}]"#,
                Segment,
                &[" ?: a", " ?: "],
            ),
            (
                r#"{"segments": [{"text": "a", "words": []}]}"#,
                Word,
                &[" ?: a"],
            ),
            (
                r#"{"segments": [], "chunks": [{"text": "a"}]}"#,
                Segment,
                &[],
            ),
            (
                r#"{"transcription": [{"text": "a", "offsets": {"from": 50, "to": 12000}}]}"#,
                Segment,
                &["0.05-12 ?: a"],
            ),
            (
                r#"{"speakers": [], "chunks": [{"timestamp": [1e0, null], "text": "a"}]}"#,
                Segment,
                &["1e0-1e0 ?: a"],
            ),
            (
                r#"{"speakers": [{"speaker": "A", "timestamp": [0, 1], "text": "a"}], "chunks": []}"#,
                Segment,
                &["0-1 A: a"],
            ),
            (
                r#"{"chunks": [{"timestamp": null, "text": "a"}]}"#,
                Segment,
                &[" ?: a"],
            ),
        ];
        for (text, level, expected) in rows {
            let expected = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(read(text, level), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        use Level::{Segment, Word};
        for (text, level, expected) in [
            (
                "{}",
                Segment,
                ":1: expected a list of objects in one of the fields segments, transcription, chunks",
            ),
            ("{\"segments\": [1]}", Segment, "expected a list of objects"),
            ("{\n", Segment, ":2: EOF while parsing"),
            ("", Segment, ":1: EOF"),
            (
                "[\n{\"text\": \"a\"},\n{\"start\": 1}]",
                Segment,
                ":3: segments[1]: found only one of the times",
            ),
            (
                "[{\"text\": 1}]",
                Segment,
                ":1: segments[0]: field \"text\": expected a string, found",
            ),
            ("[{}]", Segment, "no field \"text\": expected a text"),
            (
                "[{\"text\": \"a\", \"start\": 2, \"end\": 1}]",
                Segment,
                "the segment ends at 1 s, before it starts at 2 s",
            ),
            (
                "[{\"text\": \"a\", \"start\": \"inf\", \"end\": 1}]",
                Segment,
                "the time is \"inf\"",
            ),
            (
                "[{\"text\": \"a\", \"start\": NaN, \"end\": 1}]",
                Segment,
                "NaN is not a JSON number",
            ),
            ("[{\"text\": \"a\"}]", Word, "no field \"words\""),
            (
                "[{\"text\": \"a\", \"words\": [{}]}]",
                Word,
                "words[0]: no field \"word\"",
            ),
            (
                "{\"chunks\": []}",
                Word,
                "--level word reads the words of segments: found chunks",
            ),
            (
                "{\"chunks\": [{\"text\": \"a\", \"timestamp\": [1]}]}",
                Segment,
                "found 1 numbers",
            ),
            (
                "{\"chunks\": [{\"text\": \"a\", \"timestamp\": [null, 1]}]}",
                Segment,
                "found only one",
            ),
            (
                "{\"transcription\": [{\"text\": \"a\"}]}",
                Segment,
                "no field \"offsets\"",
            ),
            (
                "{\"transcription\": [{\"text\": \"a\", \"offsets\": {\"from\": 1}}]}",
                Segment,
                "offsets: to: found null",
            ),
        ] {
            let error = read(text, level).unwrap_err();
            assert!(error.contains(expected), "{error}: {text}");
        }
    }
}
