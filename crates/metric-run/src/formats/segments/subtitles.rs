//! Subtitles: SRT and WebVTT.

use metric_record::{ReadError, quoted_id};
use metric_registry::Counted;

use super::{Segment, SpeakerPrefix, Transcript, TranscriptOptions, in_order, joined, refuse};

/// What is between the times of a cue.
const ARROW: &str = "-->";

/// The longest name before a colon, in characters.
const NAME_CHARACTERS: usize = 40;

/// A line with its number.
type Line<'t> = (&'t str, u64);

/// How a format writes the times of a cue.
struct Clock {
    has_hours: bool,
    /// What is before the fraction of a second.
    points: &'static [char],
    example: &'static str,
}

const SRT: Clock = Clock {
    has_hours: true,
    points: &[',', '.'],
    example: "00:00:01,500 --> 00:00:02,750",
};

const VTT: Clock = Clock {
    has_hours: false,
    points: &['.'],
    example: "00:01.500 --> 00:02.750",
};

/// Reads SRT: blocks of a counter, which may be missing, a line of times, and lines of text.
pub(super) fn srt(text: &str, options: &TranscriptOptions) -> Result<Transcript, ReadError> {
    let mut cues = Cues::default();
    for block in blocks(text, |line| line.trim().is_empty()) {
        let cue = Cue::read(&block, &SRT)?;
        if let Some((counter, line)) = cue.title
            && !is_number(counter.trim())
        {
            return SRT.refuse_line(counter, line);
        }
        let lines = cue.payload.iter().map(|(line, _)| without_srt_tags(line));
        let words = joined(lines, " ");
        cues.add(
            vec![Segment {
                words,
                ..cue.segment
            }],
            options,
        );
    }
    Ok(cues.transcript())
}

/// Reads WebVTT: a header, and blocks that are cues, except for notes, styles and regions.
pub(super) fn vtt(text: &str, options: &TranscriptOptions) -> Result<Transcript, ReadError> {
    let mut blocks = blocks(text, str::is_empty);
    let header = blocks.next().unwrap_or_default();
    let is_header = |line: &str| starts_with_word(line, "WEBVTT");
    if !header
        .first()
        .is_some_and(|(line, number)| *number == 1 && is_header(line))
    {
        return refuse(1, "expected WEBVTT, alone or before a space");
    }
    if let Some((_, line)) = header.iter().find(|(line, _)| line.contains(ARROW)) {
        return refuse(
            *line,
            "found times in the header: expected an empty line after the header",
        );
    }
    let is_remark = |block: &Vec<Line<'_>>| {
        let first = block.first().map_or("", |(line, _)| line);
        ["NOTE", "STYLE", "REGION"]
            .iter()
            .any(|word| starts_with_word(first, word))
    };
    let mut cues = Cues::default();
    for block in blocks.filter(|block| !is_remark(block)) {
        let cue = Cue::read(&block, &VTT)?;
        let lines: Vec<&str> = cue.payload.iter().map(|(line, _)| line.trim()).collect();
        cues.add(voices(&lines.join(" "), &cue.segment), options);
    }
    Ok(cues.transcript())
}

/// Whether a line is a word, or starts with it and white space.
fn starts_with_word(line: &str, word: &str) -> bool {
    let rest = line.strip_prefix(word);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The blocks of lines between lines that separate them.
fn blocks<'t>(
    text: &'t str,
    separates: impl Fn(&str) -> bool,
) -> impl Iterator<Item = Vec<Line<'t>>> {
    let mut lines = text.lines().zip(1..);
    std::iter::from_fn(move || {
        let first = lines.by_ref().find(|(line, _)| !separates(line))?;
        let rest = lines.by_ref().take_while(|(line, _)| !separates(line));
        Some(std::iter::once(first).chain(rest).collect())
    })
}

/// A block with times.
struct Cue<'t> {
    /// The line before the times.
    title: Option<Line<'t>>,
    /// The segment with the times of the cue, without words.
    segment: Segment,
    payload: Vec<Line<'t>>,
}

impl<'t> Cue<'t> {
    fn read(block: &[Line<'t>], clock: &Clock) -> Result<Self, ReadError> {
        let has_arrow = |index: usize| {
            block
                .get(index)
                .is_some_and(|(line, _)| line.contains(ARROW))
        };
        let at = usize::from(!has_arrow(0) && has_arrow(1));
        let Some((&(written, line), payload)) = block[at..].split_first() else {
            return refuse(1, "is empty: expected a cue");
        };
        let Some(times) = clock.times(written) else {
            return clock.refuse_line(written, line);
        };
        if let Some((_, line)) = payload.iter().find(|(line, _)| clock.times(line).is_some()) {
            return refuse(
                *line,
                "found times inside a text: expected an empty line before a cue",
            );
        }
        Ok(Self {
            title: (at > 0).then(|| block[0]),
            segment: Segment {
                times: Some(in_order(times).or_else(|problem| refuse(line, problem))?),
                line,
                ..Segment::default()
            },
            payload: payload.to_vec(),
        })
    }
}

impl Clock {
    fn refuse_line<T>(&self, found: &str, line: u64) -> Result<T, ReadError> {
        let expected = format!("expected the times of a cue, such as {}", self.example);
        refuse(line, format!("found {}: {expected}", quoted_id(found)))
    }

    /// The start and the end of a cue in seconds. What follows them is ignored.
    fn times(&self, line: &str) -> Option<[String; 2]> {
        let (start, rest) = line.split_once(ARROW)?;
        let end = rest.split_whitespace().next()?;
        Some([self.seconds(start.trim())?, self.seconds(end)?])
    }

    /// Reads hours, minutes, seconds and one to three digits after the point as a decimal number of seconds.
    fn seconds(&self, text: &str) -> Option<String> {
        let (whole, fraction) = text.split_once(self.points)?;
        let parts: Vec<&str> = whole.split(':').collect();
        let (hours, minutes, seconds) = match parts[..] {
            [hours, minutes, seconds] => (hours, minutes, seconds),
            [minutes, seconds] if !self.has_hours => ("0", minutes, seconds),
            _ => return None,
        };
        let sixtieth = |text: &str| -> Option<u64> {
            let number = text.parse().ok().filter(|number| *number < 60)?;
            (text.len() == 2).then_some(number)
        };
        let are_numbers = [hours, minutes, seconds, fraction]
            .into_iter()
            .all(is_number);
        if !are_numbers || fraction.len() > 3 {
            return None;
        }
        let of_hours = hours.parse::<u64>().ok()?.checked_mul(3600)?;
        let seconds = of_hours.checked_add(60 * sixtieth(minutes)? + sixtieth(seconds)?)?;
        Some(match fraction.trim_end_matches('0') {
            "" => seconds.to_string(),
            fraction => format!("{seconds}.{fraction}"),
        })
    }
}

/// The segments of all cues.
#[derive(Default)]
struct Cues {
    segments: Vec<Segment>,
    cues: u64,
    /// The number of cues that begin with the text of the cue before.
    repeated: u64,
    /// The text of the last cue.
    last: String,
}

impl Cues {
    fn add(&mut self, mut segments: Vec<Segment>, options: &TranscriptOptions) {
        for segment in segments
            .iter_mut()
            .filter(|segment| segment.speaker.is_none())
        {
            let prefix = options.speaker_prefix.unwrap_or_default();
            if let Some((name, words)) = split_prefix(&segment.words, prefix) {
                let (name, words) = (name.to_owned(), words.trim().to_owned());
                (segment.speaker, segment.words) = (Some(name), words);
            }
        }
        let text = joined(segments.iter().map(|segment| &segment.words), " ");
        self.cues += 1;
        self.repeated += u64::from(!self.last.is_empty() && text.starts_with(&self.last));
        self.last = text;
        self.segments.extend(segments);
    }

    /// All segments, with a warning if the text of more than a third of the cues is repeated.
    fn transcript(self) -> Transcript {
        let rest = "with the text of the cue before, as in rolling captions and where words are highlighted one by one: the words count several times";
        let repeated = Counted::new(format!("cue begins {rest}"), format!("cues begin {rest}"));
        let is_rolling = 3 * self.repeated > self.cues;
        Transcript {
            segments: self.segments,
            warnings: is_rolling
                .then_some((repeated, self.repeated))
                .into_iter()
                .collect(),
        }
    }
}

/// The speaker that the start of a text names, and what follows.
fn split_prefix(text: &str, prefix: SpeakerPrefix) -> Option<(&str, &str)> {
    match prefix {
        SpeakerPrefix::Brackets => {
            let (name, rest) = text.strip_prefix('[')?.split_once(']')?;
            let rest = rest.strip_prefix(':')?;
            let is_prefix = !name.is_empty() && (rest.is_empty() || rest.starts_with(' '));
            is_prefix.then_some((name, rest))
        }
        SpeakerPrefix::Colon => {
            let (name, rest) = text.split_once(": ")?;
            (1..=NAME_CHARACTERS)
                .contains(&name.chars().count())
                .then_some((name, rest))
        }
        SpeakerPrefix::None => None,
    }
}

/// Removes the tags of SRT, such as `<i>` and `{\an8}`. Other angle brackets and braces are text.
fn without_srt_tags(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(['<', '{']) {
        text.push_str(&rest[..start]);
        let tag = &rest[start..];
        let end = if tag.starts_with('<') {
            tag.find('>').filter(|end| is_srt_tag(&tag[1..*end]))
        } else {
            tag.find('}').filter(|_| tag.starts_with(r"{\"))
        };
        let end = end.map_or(1, |end| end + 1);
        text.push_str(if end == 1 { &tag[..1] } else { "" });
        rest = &tag[end..];
    }
    text + rest
}

/// Whether the text between angle brackets is a tag of SRT.
fn is_srt_tag(inner: &str) -> bool {
    let name = inner.strip_prefix('/').unwrap_or(inner).trim_end();
    let name = name.to_ascii_lowercase();
    ["b", "i", "u", "s", "font"].contains(&name.as_str()) || name.starts_with("font ")
}

/// The segments of a payload of WebVTT: one for each voice, and one for the words before the first voice.
fn voices(payload: &str, cue: &Segment) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut current = cue.clone();
    let mut rest = payload;
    while let Some((before, tag, after)) = next_tag(rest) {
        current.words.push_str(before);
        if let Some(speaker) = voice(tag) {
            let next = Segment {
                speaker: Some(speaker).filter(|name| !name.is_empty()),
                ..cue.clone()
            };
            segments.push(std::mem::replace(&mut current, next));
        }
        rest = after;
    }
    current.words.push_str(rest);
    segments.push(current);
    for segment in &mut segments {
        segment.words = decoded(&segment.words).trim().to_owned();
    }
    if segments.len() > 1
        && segments
            .first()
            .is_some_and(|segment| segment.words.is_empty())
    {
        segments.remove(0);
    }
    segments
}

/// What is before the next tag, the inside of the tag, and what is after it.
fn next_tag(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find('<')?;
    let end = start + text[start..].find('>')?;
    Some((&text[..start], &text[start + 1..end], &text[end + 1..]))
}

/// The speaker of a voice tag: `v NAME`, or `v.class NAME`.
fn voice(tag: &str) -> Option<String> {
    let rest = tag.strip_prefix('v')?;
    let is_voice = rest.is_empty() || rest.starts_with(['.', ' ', '\t']);
    let name = rest.split_once([' ', '\t']).map_or("", |(_, name)| name);
    is_voice.then(|| decoded(name.trim()))
}

/// Replaces the character references of WebVTT.
fn decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        decoded.push_str(&rest[..start]);
        rest = &rest[start..];
        let reference = rest
            .find(';')
            .and_then(|end| Some((character(&rest[1..end])?, end)));
        let (char, end) = reference.unwrap_or(('&', 0));
        decoded.push(char);
        rest = &rest[end + 1..];
    }
    decoded + rest
}

/// The character that the inside of a character reference stands for.
fn character(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "nbsp" => '\u{a0}',
        "lrm" => '\u{200e}',
        "rlm" => '\u{200f}',
        _ => {
            let number = name.strip_prefix('#')?;
            let hexadecimal = number.strip_prefix(['x', 'X']);
            let (digits, radix) = hexadecimal.map_or((number, 10), |digits| (digits, 16));
            let are_digits = digits.chars().all(|char| char.is_digit(radix));
            char::from_u32(u32::from_str_radix(digits, radix).ok()?).filter(|_| are_digits)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The speaker and the words of each segment, or the line of the error.
    fn read(
        reader: fn(&str, &TranscriptOptions) -> Result<Transcript, ReadError>,
        text: &str,
        prefix: SpeakerPrefix,
    ) -> Result<Vec<String>, Option<u64>> {
        let options = TranscriptOptions {
            speaker_prefix: Some(prefix),
            ..TranscriptOptions::default()
        };
        let segments = reader(text, &options).map_err(|error| error.line)?.segments;
        let shown = |segment: &Segment| {
            let times = segment.times.as_ref().map(|times| times.join("-"));
            let speaker = segment.speaker.as_deref().unwrap_or("?");
            format!("{} {speaker}: {}", times.unwrap_or_default(), segment.words)
        };
        Ok(segments.iter().map(shown).collect())
    }

    #[test]
    fn srt_by_hand() {
        use SpeakerPrefix::{Brackets, Colon, None};
        let cue = |text: &str| format!("00:00:00,0 --> 00:00:01.25 x\n{text}\n");
        for (text, prefix, expected) in [
            (
                cue("<I>a</I> <b>b < c</b> <br> {d} {\\an8}e"),
                Brackets,
                "?: a b < c <br> {d} e",
            ),
            (
                cue("<font color=\"x\">a</font>\n\u{a0}b"),
                Brackets,
                "?: a b",
            ),
            (cue("[A B]: c"), Brackets, "A B: c"),
            (cue("[A]:"), Brackets, "A: "),
            (cue("[A]:b"), Brackets, "?: [A]:b"),
            (cue("[A]: b"), None, "?: [A]: b"),
            (cue("A: b: c"), Colon, "A: b: c"),
            (cue("A:b"), Colon, "?: A:b"),
            (
                cue(&format!("{}: b", "é".repeat(40))),
                Colon,
                &format!("{}: b", "é".repeat(40)),
            ),
            (
                cue(&format!("{}: b", "é".repeat(41))),
                Colon,
                &format!("?: {}: b", "é".repeat(41)),
            ),
            (cue("1984"), Brackets, "?: 1984"),
            (cue("a --> b"), Brackets, "?: a --> b"),
        ] {
            let expected = vec![format!("0-1.25 {expected}")];
            assert_eq!(read(srt, &text, prefix), Ok(expected), "{text}");
        }
        assert_eq!(read(srt, " \r\n\r\n", Brackets), Ok(vec![]));
        assert_eq!(
            read(srt, "100:59:59,010 --> 100:59:59,010\r\n", Brackets),
            Ok(vec!["363599.01-363599.01 ?: ".to_owned()])
        );
        for (text, line) in [
            ("\n\n1\n", 3),
            ("1\n2\n00:00:00,000 --> 00:00:01,000\na\n", 1),
            ("one\n00:00:00,000 --> 00:00:01,000\na\n", 1),
            (
                "00:00:00,000 --> 00:00:01,000\na\n2\n00:00:01,000 --> 00:00:02,000\nb\n",
                4,
            ),
            ("00:00:02,000 --> 00:00:01,000\na\n", 1),
            ("00:00:00,0000 --> 00:00:01,000\na\n", 1),
            ("00:00,000 --> 00:01,000\na\n", 1),
            ("00:60:00,000 --> 00:61:00,000\na\n", 1),
            ("00:00:00 --> 00:00:01\na\n", 1),
            ("99999999999999999999:00:00,000 --> 00:00:01,000\na\n", 1),
        ] {
            assert_eq!(read(srt, text, Brackets), Err(Some(line)), "{text}");
        }
    }

    #[test]
    fn webvtt_by_hand() {
        let cue = |text: &str| format!("WEBVTT\n\n00:00.000 --> 00:01.250\n{text}\n");
        for (text, expected) in [
            (
                "&amp;lt; &#233;&#xe9; &amp &bad; &#x110000;",
                &["?: &lt; éé &amp &bad; &#x110000;"][..],
            ),
            ("a <c.x>b</c> <00:00:00.500>c", &["?: a b c"]),
            (
                "- <v A&amp;B>one</v>\n<v>two",
                &["?: -", "A&B: one", "?: two"],
            ),
            ("<v A></v>", &["A: "]),
            ("<video>a", &["?: a"]),
            ("[A]: b", &["A: b"]),
            ("a < b", &["?: a < b"]),
            (" \na", &["?: a"]),
        ] {
            let expected: Vec<_> = expected
                .iter()
                .map(|text| format!("0-1.25 {text}"))
                .collect();
            assert_eq!(
                read(vtt, &cue(text), SpeakerPrefix::Brackets),
                Ok(expected),
                "{text}"
            );
        }
        for (text, line) in [
            ("", 1),
            ("WEBVTTX\n", 1),
            ("\nWEBVTT\n", 1),
            ("WEBVTT\n00:00.000 --> 00:01.000\na\n", 2),
            ("WEBVTT\n\na\nb\n", 3),
            ("WEBVTT\n\n00:00,000 --> 00:01,000\na\n", 3),
            ("WEBVTT\n\nid\nid\n00:00.000 --> 00:01.000\na\n", 3),
        ] {
            assert_eq!(
                read(vtt, text, SpeakerPrefix::Brackets),
                Err(Some(line)),
                "{text}"
            );
        }
        let notes = "WEBVTT x\nKind: y\n\nNOTE\n00 --> 01\n\nSTYLE\na{}\n\nNOTES\n00:00.000 --> 00:01.250\na\n";
        assert_eq!(
            read(vtt, notes, SpeakerPrefix::Brackets),
            Ok(vec!["0-1.25 ?: a".to_owned()])
        );
    }

    #[test]
    fn repeated_cues_are_counted() {
        for (texts, expected) in [
            (&["a", "a b", "c", "d"][..], 0),
            (&["a", "a b", "c"], 0),
            (&["a", "a b"], 1),
            (&["a", "a", "a", "b"], 2),
            (&["", "a", "", "b"], 0),
        ] {
            let cue = |text: &&str| format!("00:00:00,000 --> 00:00:01,000\n{text}\n\n");
            let file: String = texts.iter().map(cue).collect();
            let read = srt(&file, &TranscriptOptions::default()).expect("subtitles");
            let found: u64 = read.warnings.iter().map(|(_, times)| times).sum();
            assert_eq!(found, expected, "{texts:?}");
        }
    }
}
