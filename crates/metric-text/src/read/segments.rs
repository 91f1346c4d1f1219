//! Segments of a transcript with several speakers.

use metric_record::json::{Entries, Raw, kind, string, typed};
use metric_record::{Kind, Value};

use crate::speakers::{InvalidSegment, InvalidTime, Segment, Time};

/// Reads a list of segments: `{"speaker": "Ada", "start": 0.5, "end": 2.25, "words": "good morning"}`.
///
/// - `words`, or `text` where that is not a text.
/// - `speaker`: a text or an integer; none if it is absent or null.
/// - `start` or `start_time`, and `end` or `end_time`: a number, or a text that is a decimal number. Digits are read as they
///   are written. Both may be absent or null.
///
/// Other keys are ignored. A missing value has no segments.
///
/// ```
/// use metric_record::Value;
/// use metric_text::read::segments;
/// use metric_text::speakers::Segment;
///
/// let json = r#"[{"speaker": 7, "start": 0.1, "end_time": "0.30", "text": "hi", "channel": 1}, {"words": "yes"}]"#;
/// let read = segments(&mut Value::json(json))?;
/// assert_eq!(read[0].speaker.as_deref(), Some("7"));
/// assert_eq!(read[0].times.map(|(start, end)| (start.to_string(), end.to_string())), Some(("0.1".into(), "0.3".into())));
/// assert_eq!(read[1], Segment::unnamed("yes"));
/// assert_eq!(
///     segments(&mut Value::json(r#"[{"words": "yes"}, {"words": "no", "start": 1}]"#)).unwrap_err(),
///     "segment 2: expected a start and an end, or neither, found only a start",
/// );
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// Returns what was found if the value is anything else, or if a segment ends before it starts. Segments are counted from 1.
pub fn segments(value: &mut Value<'_>) -> Result<Vec<Segment>, String> {
    let json = match value.kind() {
        Kind::Missing => return Ok(Vec::new()),
        Kind::List => value.to_json_or("[]")?,
        // A cell of a table.
        Kind::Line if value.as_line().is_some_and(|line| kind(line) == Kind::List) => {
            value.to_json_or("[]")?
        }
        other => return Err(format!("expected a list of segments, found {other}")),
    };
    let list: Vec<Raw<'_>> = typed(&json)?;
    let numbered = list.into_iter().enumerate();
    numbered
        .map(|(index, Raw(json))| match segment(json) {
            Ok(segment) if segment.times.is_some_and(|(start, end)| end < start) => {
                Err(InvalidSegment::EndBeforeStart { segment: index }.to_string())
            }
            read => read.map_err(|problem| format!("segment {}: {problem}", index + 1)),
        })
        .collect()
}

fn segment(json: &str) -> Result<Segment, String> {
    if kind(json) != Kind::Object {
        return Err(format!("expected an object, found {}", kind(json)));
    }
    let entries: Entries<'_> = typed(json)?;
    let text = entries.get("text");
    let words = entries
        .get("words")
        .filter(|words| kind(words) == Kind::String || text.is_none());
    let words = words
        .or(text)
        .ok_or("expected a field \"words\" or \"text\"")?;
    let words = string(words).map_err(|problem| format!("words: {problem}"))?;
    let mut segment = Segment::unnamed(words);
    segment.speaker = entries.name("speaker")?.map(Into::into);
    let start = time(&entries, ["start", "start_time"])?;
    let end = time(&entries, ["end", "end_time"])?;
    segment.times = match (start, end) {
        (Some(start), Some(end)) => Some((start, end)),
        (None, None) => None,
        (start, _) => {
            let found = if start.is_some() { "a start" } else { "an end" };
            return Err(format!(
                "expected a start and an end, or neither, found only {found}"
            ));
        }
    };
    Ok(segment)
}

/// The time under the first of these keys that has a value.
fn time(entries: &Entries<'_>, keys: [&'static str; 2]) -> Result<Option<Time>, String> {
    let value = |key| entries.get(key).filter(|json| *json != "null");
    let mut values = keys.into_iter().filter_map(|key| Some((key, value(key)?)));
    let Some((key, json)) = values.next() else {
        return Ok(None);
    };
    let problem = |problem: String| format!("field {key:?}: {problem}");
    let time = match kind(json) {
        Kind::Number => json.parse(),
        Kind::String => string(json).map_err(problem)?.parse(),
        other => {
            return Err(problem(format!(
                "expected a number of seconds, found {other}"
            )));
        }
    };
    let time = time.map_err(|error: InvalidTime| problem(error.to_string()));
    time.map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Vec<Segment>, String> {
        segments(&mut Value::json(json))
    }

    #[test]
    fn segments_by_hand() {
        let hi = || Segment::new("a", "hi");
        let times =
            |start: &str, end: &str| hi().from_to(start.parse().unwrap(), end.parse().unwrap());
        let rows = [
            (r#"{"speaker": "a", "words": "hi", "text": "ho"}"#, hi()),
            (r#"{"speaker": "a", "words": [], "text": "hi"}"#, hi()),
            (
                r#"{"speaker": "a", "words": "hi", "start": null, "start_time": 1, "end": 2e0}"#,
                times("1", "2"),
            ),
            (
                r#"{"speaker": "a", "words": "hi", "start": 0.1000000000000001, "end": "1"}"#,
                times("0.1000000000000001", "1"),
            ),
            (
                r#"{"speaker": null, "words": "hi"}"#,
                Segment::unnamed("hi"),
            ),
        ];
        for (json, expected) in rows {
            assert_eq!(read(&format!("[{json}]")), Ok(vec![expected]), "{json}");
        }
        assert_eq!(read("[]"), Ok(Vec::new()));
        let errors = [
            ("7", "expected a list of segments, found a number"),
            ("[7]", "segment 1: expected an object, found a number"),
            ("[{}]", "segment 1: expected a field \"words\" or \"text\""),
            (
                r#"[{"words": 7}]"#,
                "segment 1: words: expected a string, found a number: write it as \"7\"",
            ),
            (
                r#"[{"words": "", "start": true, "end": 1}]"#,
                "segment 1: field \"start\": expected a number of seconds, found true or false",
            ),
            (
                r#"[{"words": "", "start": "NaN", "end": 1}]"#,
                "segment 1: field \"start\": invalid time \"NaN\": expected a decimal number of seconds, less than 10^12",
            ),
            (
                r#"[{"words": "", "start": 2, "end": 1}]"#,
                "segment 1 ends before it starts",
            ),
            (
                r#"[{"words": "", "end": 1}]"#,
                "segment 1: expected a start and an end, or neither, found only an end",
            ),
        ];
        for (json, expected) in errors {
            assert_eq!(read(json).unwrap_err(), expected, "{json}");
        }
    }
}
