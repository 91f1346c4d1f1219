//! TextGrid of Praat, in its long and its short form.

use metric_record::{Message, ReadError, quoted_id};

use super::{Segment, Transcript, TranscriptOptions, in_order, is_decimal, refuse};

/// The tiers that Montreal Forced Aligner writes for each speaker: the same speech twice.
const ALIGNED: [&str; 2] = ["words", "phones"];

/// Reads a TextGrid. Each tier of intervals is a speaker, and intervals without words are silence.
pub(super) fn text_grid(text: &str, options: &TranscriptOptions) -> Result<Transcript, ReadError> {
    let mut values = Values {
        rest: text,
        line: 1,
    };
    let [kind, class] = [
        values.string("the kind of file")?,
        values.string("the class")?,
    ];
    if !kind.starts_with("ooTextFile") || class != "TextGrid" {
        let expected = "expected \"ooTextFile\" and \"TextGrid\", as Praat writes them";
        let found = format!("{} and {}", quoted_id(&kind), quoted_id(&class));
        return refuse(values.line, format!("found {found}: {expected}"));
    }
    let _span = [values.number("the start")?, values.number("the end")?];
    let mut tiers = Vec::new();
    if values.flag("whether there are tiers")? == "exists" {
        for _ in 0..values.count("the number of tiers")? {
            tiers.push(Tier::read(&mut values)?);
        }
    }
    if let Some(value) = values.next()? {
        return refuse(
            value.line,
            format!("found {}: expected the end of the file", value.shown()),
        );
    }
    refuse_tiers(&tiers, options)?;
    let is_wanted = |tier: &Tier| options.tiers.is_empty() || options.tiers.contains(&tier.name);
    let tiers = tiers
        .into_iter()
        .filter(|tier| tier.has_intervals && is_wanted(tier));
    Ok(Transcript {
        segments: tiers.flat_map(|tier| tier.segments).collect(),
        ..Transcript::default()
    })
}

/// Refuses a file without any of the named tiers, as files may have different speakers, and tiers of which it is unclear
/// whether they are speakers.
fn refuse_tiers(tiers: &[Tier], options: &TranscriptOptions) -> Result<(), ReadError> {
    let intervals = || tiers.iter().filter(|tier| tier.has_intervals);
    let names = || {
        let names: Vec<String> = intervals().map(|tier| quoted_id(&tier.name)).collect();
        names.join(", ")
    };
    let is_wanted = |tier: &Tier| options.tiers.contains(&tier.name);
    if let Some(wanted) = options.tiers.first()
        && !intervals().any(is_wanted)
    {
        let problem = Message::from("has no tier of intervals named by ")
            .option("tier", wanted)
            .text(format_args!(": expected one of {}", names()));
        return Err(ReadError::new("", problem));
    }
    let is_aligned = |tier: &&Tier| {
        let ending = tier
            .name
            .rsplit_once(" - ")
            .map_or(tier.name.as_str(), |(_, it)| it);
        ALIGNED.contains(&ending)
    };
    match intervals().find(is_aligned) {
        Some(tier) if options.tiers.is_empty() => {
            let problem = Message::from(format!(
                "{} is a tier of words or phones, as Montreal Forced Aligner writes them, and not a speaker: choose tiers with ",
                quoted_id(&tier.name)
            ));
            let problem = problem
                .option("tier", "")
                .text(format_args!(" (found {})", names()));
            Err(ReadError::new("", problem).line(tier.line))
        }
        _ => Ok(()),
    }
}

/// A tier, whose segments are those of its intervals that have words.
struct Tier {
    name: String,
    has_intervals: bool,
    segments: Vec<Segment>,
    line: u64,
}

impl Tier {
    fn read(values: &mut Values<'_>) -> Result<Self, ReadError> {
        let class = values.string("the class of a tier")?;
        let has_intervals = match class.as_str() {
            "IntervalTier" => true,
            "TextTier" => false,
            _ => {
                let expected = "expected \"IntervalTier\" or \"TextTier\"";
                return refuse(
                    values.line,
                    format!("found {}: {expected}", quoted_id(&class)),
                );
            }
        };
        let name = values.string("the name of a tier")?;
        let line = values.line;
        let _span = [values.number("the start")?, values.number("the end")?];
        let mut segments = Vec::new();
        for _ in 0..values.count("the number of intervals or points")? {
            if !has_intervals {
                values.number("the time of a point")?;
                values.string("the mark of a point")?;
                continue;
            }
            let times = [values.number("the start")?, values.number("the end")?];
            let line = values.line;
            let words = values.string("the text of an interval")?.trim().to_owned();
            let times = Some(in_order(times).or_else(|problem| refuse(line, problem))?);
            if !words.is_empty() {
                let speaker = Some(name.clone());
                segments.push(Segment {
                    speaker,
                    times,
                    words,
                    line,
                    ..Segment::default()
                });
            }
        }
        Ok(Self {
            name,
            has_intervals,
            segments,
            line,
        })
    }
}

/// The values of a file: numbers, strings and flags. All else, such as names and equals signs, says what they are and is
/// skipped, so that the long form and the short form are read alike.
struct Values<'t> {
    rest: &'t str,
    /// The line of what was read last.
    line: u64,
}

struct Value<'t> {
    kind: Kind<'t>,
    line: u64,
}

enum Kind<'t> {
    Number(&'t str),
    String(String),
    Flag(&'t str),
}

impl Value<'_> {
    fn shown(&self) -> String {
        match &self.kind {
            Kind::Number(number) => (*number).to_owned(),
            Kind::String(text) => quoted_id(text),
            Kind::Flag(flag) => format!("<{flag}>"),
        }
    }
}

impl<'t> Values<'t> {
    /// Takes this many bytes.
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += memchr::memchr_iter(b'\n', taken.as_bytes()).count() as u64;
        self.rest = rest;
        taken
    }

    fn next(&mut self) -> Result<Option<Value<'t>>, ReadError> {
        loop {
            let space = self
                .rest
                .find(|char: char| !char.is_whitespace() && char != '=');
            self.take(space.unwrap_or(self.rest.len()));
            let line = self.line;
            let Some(first) = self.rest.chars().next() else {
                return Ok(None);
            };
            let kind = match first {
                '"' => Kind::String(self.quoted()?),
                '!' => {
                    self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
                    continue;
                }
                _ => {
                    let ends = |char: char| char.is_whitespace() || "=\"".contains(char);
                    let word = self.take(self.rest.find(ends).unwrap_or(self.rest.len()));
                    let flag = word
                        .strip_prefix('<')
                        .and_then(|word| word.strip_suffix('>'));
                    match flag {
                        Some(flag) => Kind::Flag(flag),
                        None if is_decimal(word) => Kind::Number(word),
                        None => continue,
                    }
                }
            };
            return Ok(Some(Value { kind, line }));
        }
    }

    /// The text between quotes, in which two quotes are one.
    fn quoted(&mut self) -> Result<String, ReadError> {
        let line = self.line;
        self.take(1);
        let mut text = String::new();
        loop {
            let Some(end) = self.rest.find('"') else {
                return refuse(
                    line,
                    "found a quote that is not closed: expected text in double quotes",
                );
            };
            text.push_str(self.take(end));
            self.take(1);
            if !self.rest.starts_with('"') {
                return Ok(text);
            }
            text.push_str(self.take(1));
        }
    }

    /// Takes a value of a kind.
    fn value<T>(
        &mut self,
        what: &str,
        expected: &str,
        read: impl FnOnce(Kind<'t>) -> Option<T>,
    ) -> Result<T, ReadError> {
        let problem = |found: &str| format!("found {found}: expected {what}, {expected}");
        let Some(value) = self.next()? else {
            return refuse(self.line, problem("the end of the file"));
        };
        let (shown, line) = (value.shown(), value.line);
        read(value.kind).map_or_else(|| refuse(line, problem(&shown)), Ok)
    }

    fn string(&mut self, what: &str) -> Result<String, ReadError> {
        self.value(what, "a text in double quotes", |kind| match kind {
            Kind::String(text) => Some(text),
            _ => None,
        })
    }

    fn number(&mut self, what: &str) -> Result<String, ReadError> {
        self.value(what, "a number", |kind| match kind {
            Kind::Number(number) => Some(number.to_owned()),
            _ => None,
        })
    }

    fn count(&mut self, what: &str) -> Result<u64, ReadError> {
        self.value(what, "an integer", |kind| match kind {
            Kind::Number(number) => number.parse().ok(),
            _ => None,
        })
    }

    fn flag(&mut self, what: &str) -> Result<&'t str, ReadError> {
        self.value(what, "<exists> or <absent>", |kind| match kind {
            Kind::Flag(flag) => Some(flag).filter(|flag| ["exists", "absent"].contains(flag)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, tiers: &[&str]) -> Result<Vec<String>, ReadError> {
        let options = TranscriptOptions {
            tiers: tiers.iter().map(|&tier| tier.to_owned()).collect(),
            ..TranscriptOptions::default()
        };
        let segments = text_grid(text, &options)?.segments;
        let shown = |segment: &Segment| {
            let speaker = segment.speaker.as_deref().unwrap_or("?");
            let times = segment.times.as_ref().map(|times| times.join("-"));
            format!("{} {speaker}: {}", times.unwrap_or_default(), segment.words)
        };
        Ok(segments.iter().map(shown).collect())
    }

    /// A file in the short form, with one interval per tier.
    fn file(tiers: &[&str]) -> String {
        let tier = |name: &&str| format!("\"IntervalTier\" \"{name}\" 0 1 1\n0 1 \"a\"\n");
        let tiers_text: String = tiers.iter().map(tier).collect();
        format!(
            "\"ooTextFile\" \"TextGrid\" 0 1 <exists> {} ! remark 7\n{tiers_text}",
            tiers.len()
        )
    }

    #[test]
    fn tiers_are_speakers() {
        let rows: [(&[&str], &[&str], &[&str]); 3] = [
            (&["A", "B"], &[], &["0-1 A: a", "0-1 B: a"]),
            (&["A", "B"], &["B"], &["0-1 B: a"]),
            (
                &["A - words", "A - phones"],
                &["A - words"],
                &["0-1 A - words: a"],
            ),
        ];
        for (tiers, wanted, expected) in rows {
            let expected = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(
                read(&file(tiers), wanted),
                Ok(expected),
                "{tiers:?} {wanted:?}"
            );
        }
        assert_eq!(
            read("\"ooTextFile short\" \"TextGrid\" 0 1 <absent>", &[]),
            Ok(vec![])
        );
    }

    #[test]
    fn other_files_are_refused() {
        for (text, tiers, expected) in [
            (
                file(&["words", "phones"]),
                &[][..],
                ":2: \"words\" is a tier of words or phones",
            ),
            (file(&["A - phones"]), &[], "is a tier of words or phones"),
            (
                file(&["A"]),
                &["B"],
                "has no tier of intervals named by --tier B: expected one of \"A\"",
            ),
            (
                file(&["A"]) + "7",
                &[],
                ":4: found 7: expected the end of the file",
            ),
            (
                file(&["A"]).replace("0 1 \"a\"", "1 0 \"a\""),
                &[],
                ":3: the segment ends at 0 s, before it starts at 1 s",
            ),
            (
                file(&["A"]).replace("\"a\"", "a"),
                &[],
                "found the end of the file: expected the text of an interval",
            ),
            (
                file(&["A"]).replace("\"a\"", "\"a"),
                &[],
                ":3: found a quote that is not closed",
            ),
            (
                file(&["A"]).replace("TextGrid", "Sound"),
                &[],
                ":1: found \"ooTextFile\" and \"Sound\"",
            ),
            (
                file(&["A"]).replace("0 1 1", "0 1 99999999999"),
                &[],
                "found the end of the file",
            ),
            (
                String::new(),
                &[],
                ":1: found the end of the file: expected the kind of file",
            ),
        ] {
            let error = read(&text, tiers).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}: {text}");
        }
    }
}
