//! The part of a dataset file that an error is about, which a check leaves out to find the next error.
//!
//! The part is written over with spaces, so that all else stays at its line and column.

use std::ops::Range;

use metric_record::json::Entries;
use serde_json::value::RawValue;

/// Returns where a line is, counted from 1, without its end.
pub(super) fn line_span(text: &str, line: usize) -> Option<Range<usize>> {
    let mut lines = text.split_inclusive('\n');
    let before = lines.by_ref().take(line.checked_sub(1)?);
    let start = before.map(str::len).sum();
    let line = lines.next()?.trim_end_matches(['\n', '\r']);
    Some(start..start + line.len())
}

/// Returns the smallest record of a JSON text around an offset, with a comma next to it: an item of a list, but not of
/// a list of `parts`, or an entry of the object that the text is.
pub(super) fn record_span(text: &str, offset: usize, parts: &[&str]) -> Option<Range<usize>> {
    let mut span = None;
    let mut rest = text.trim_ascii();
    let mut is_top = true;
    loop {
        rest = if rest.starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(rest).ok()?;
            let items: Vec<&str> = items.into_iter().map(RawValue::get).collect();
            let found = items.iter().position(|item| holds(text, item, offset))?;
            let starts: Vec<usize> = items.iter().map(|item| start(text, item)).collect();
            span = Some(with_comma(text, &starts, &items, found));
            items[found]
        } else if rest.starts_with('{') {
            let entries = Entries::scan(rest)?.0;
            let of_value = |(_, value): &(_, &str)| holds(text, value, offset);
            let Some(found) = entries.iter().position(of_value) else {
                return span;
            };
            let (key, value) = &entries[found];
            if parts.contains(&&**key) {
                return span;
            }
            if is_top && !value.starts_with(['[', '{']) {
                let values: Vec<&str> = entries.iter().map(|(_, value)| *value).collect();
                let starts = key_starts(text, rest, &values)?;
                return Some(with_comma(text, &starts, &values, found));
            }
            value
        } else {
            return span;
        };
        is_top = false;
    }
}

/// The offset of a part of a text.
fn start(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

fn holds(text: &str, part: &str, offset: usize) -> bool {
    let start = start(text, part);
    (start..start + part.len()).contains(&offset)
}

/// Where the keys of an object start.
fn key_starts(text: &str, object: &str, values: &[&str]) -> Option<Vec<usize>> {
    let open = start(text, object);
    let mut after = open;
    let mut starts = Vec::with_capacity(values.len());
    for value in values {
        // In front of a key there are only white space and a bracket or a comma.
        starts.push(after + text.get(after..)?.find('"')?);
        after = start(text, value) + value.len();
    }
    Some(starts)
}

/// A part of a list or an object with the comma behind it or, of the last one, the one in front of it.
fn with_comma(text: &str, starts: &[usize], values: &[&str], found: usize) -> Range<usize> {
    let end = |index: usize| start(text, values[index]) + values[index].len();
    match (starts.get(found + 1), found.checked_sub(1)) {
        (Some(&next), _) => starts[found]..next,
        (None, Some(before)) => end(before)..end(found),
        (None, None) => starts[found]..end(found),
    }
}

/// Returns the text with spaces in place of a part; ends of lines stay.
pub(super) fn blanked(text: &str, span: Range<usize>) -> Option<String> {
    let part = text.get(span.clone())?;
    let blank: String = part
        .bytes()
        .map(|byte| {
            if matches!(byte, b'\n' | b'\r') {
                char::from(byte)
            } else {
                ' '
            }
        })
        .collect();
    Some([text.get(..span.start)?, &blank, text.get(span.end..)?].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_blanked_with_one_comma() {
        let rest = |text: &str, at: &str| {
            let span = record_span(text, text.find(at).expect("an offset"), &["answers"])
                .expect("a record");
            blanked(text, span).expect("a text")
        };
        for (text, at, expected) in [
            (r#"[{"a":1},{"b":2}]"#, "1", r#"[        {"b":2}]"#),
            (r#"[{"a":1},{"b":2}]"#, "2", r#"[{"a":1}        ]"#),
            (r#"[{"a":1}]"#, "}", "[       ]"),
            (r#"{"x": 1, "y": 2}"#, "1", r#"{        "y": 2}"#),
            (r#"{"x": 1, "y": 2}"#, "2", r#"{"x": 1        }"#),
            (
                r#"{"l":[{"id":1,"answers":[5]},{"id":2}]}"#,
                "5",
                r#"{"l":[                       {"id":2}]}"#,
            ),
        ] {
            assert_eq!(rest(text, at), expected, "{text} at {at}");
        }
        assert_eq!(record_span("{\"a\": 1", 6, &[]), None);
        assert_eq!(record_span("5", 0, &[]), None);
    }

    #[test]
    fn lines_are_offsets() {
        let text = "ab\ncd\r\nef";
        assert_eq!(line_span(text, 2), Some(3..5));
        assert_eq!(line_span(text, 3), Some(7..9));
        assert_eq!(line_span(text, 4), None);
        assert_eq!(blanked("a\nb", 0..3).as_deref(), Some(" \n "));
    }
}
