//! Judgments and runs of retrieval: TREC's `qrels` and `run`, and the judgments of BEIR.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter;

use metric_record::{Document, Message, ReadError, quoted_id};
use metric_registry::{Counted, parallel};

use crate::RunError;
use crate::formats::Format;
use crate::formats::transcript::RecordWriter;
use crate::found::Form;
use crate::source::Source;

/// A document of a topic, with the number that the file gives it.
struct Row<'t> {
    topic: Cow<'t, str>,
    document: Cow<'t, str>,
    number: &'t str,
}

/// A format whose lines are documents of topics.
struct Spec {
    format: Format,
    /// Reads a line; `None` for one without a document.
    read: fn(&str) -> Result<Option<Row<'_>>, String>,
    /// Whether an empty line is worth a warning, because programs refuse it.
    warns_of_empty: bool,
    /// The names of the columns in the first line, if there is one.
    header: Option<&'static str>,
}

const SPECS: &[Spec] = &[
    Spec {
        format: Format::TrecQrels,
        read: trec_judgment,
        warns_of_empty: true,
        header: None,
    },
    Spec {
        format: Format::TrecRun,
        read: trec_result,
        warns_of_empty: false,
        header: None,
    },
    Spec {
        format: Format::BeirQrels,
        read: beir_judgment,
        warns_of_empty: true,
        header: Some("query-id\tcorpus-id\tscore"),
    },
];

/// References in the format that a name ending in `.tsv` means for topics, unless the caller stated another one.
pub(crate) fn recognized(references: Source) -> Source {
    if references.format() == Some(Format::Tsv) && !references.has_stated_format() {
        return references.with_format(Format::BeirQrels);
    }
    references
}

/// Turns a source in a format of topics into records, one for each topic, whose value has a line for each document: its
/// name, a tab and its number. Sources of other formats stay what they are.
pub(crate) fn records(
    source: Source,
    are_topics: bool,
    max_bytes: u64,
    warnings: &mut Vec<(Counted, u64)>,
) -> Result<Source, RunError> {
    let spec = SPECS
        .iter()
        .find(|spec| Some(spec.format) == source.format());
    let Some(spec) = spec else {
        return Ok(source);
    };
    if !are_topics {
        let text = format!(
            "{}: has documents of topics: score them with retrieval",
            source.name()
        );
        return Err(RunError::Usage(Message::from(text)));
    }
    let mut topics = Topics::default();
    let mut empty = 0;
    for file in source.files() {
        let document = file.document(max_bytes)?;
        empty += topics.read(&document, spec)?;
    }
    if spec.warns_of_empty {
        let words = Counted::new(
            "empty line of the judgments is skipped, which other programs refuse",
            "empty lines of the judgments are skipped, which other programs refuse",
        );
        warnings.push((words, empty));
    }
    let mut writer = RecordWriter::default();
    let bytes = |topic: &Topic| topic.name.len() + topic.documents.len();
    writer.0.text.reserve(topics.topics.iter().map(bytes).sum());
    for topic in topics.topics {
        writer.add(&topic.name, &topic.documents, Form::Line, None, topic.line);
    }
    Ok(Source::records(source.name(), writer.0, Format::Kaldi))
}

/// The documents of each topic, in the order in which topics first occur.
#[derive(Default)]
struct Topics {
    topics: Vec<Topic>,
    by_name: HashMap<String, usize>,
}

struct Topic {
    name: String,
    /// A line for each document.
    documents: String,
    /// The line of the first one.
    line: u64,
}

impl Topics {
    /// Reads a file, and returns the number of empty lines.
    fn read(&mut self, document: &Document, spec: &Spec) -> Result<u64, ReadError> {
        let text = document.file()?.content();
        let refuse =
            |problem: String, line: u64| ReadError::new(&document.name, problem).line(line);
        let mut rest = text;
        if let Some(header) = spec.header {
            let first = text.lines().next().unwrap_or_default();
            rest = text.split_once('\n').unwrap_or_default().1;
            let names = cells(first).map_err(|problem| refuse(problem, 1))?;
            if !header
                .split('\t')
                .eq(names.iter().take(3).map(|name| &**name))
            {
                let expected = header.replace('\t', ", ");
                let found = quoted_id(first);
                let problem = format!(
                    "expected a first line with the columns {expected}, separated by tabs, found {found}"
                );
                return Err(refuse(problem, 1));
            }
        }
        let first = u64::from(spec.header.is_some());
        let parts = parts_of_lines(rest, parallel::threads());
        let read = parallel::map(parts.len(), |part| Self::of_lines(parts[part], spec));
        let (mut lines, mut empty, mut has_any) = (first, 0, false);
        for read in read {
            let read = read.map_err(|(problem, line)| refuse(problem, lines + line))?;
            has_any |= !read.topics.topics.is_empty();
            empty += read.empty;
            self.append(read.topics, lines);
            lines += read.lines;
        }
        if !has_any {
            return Err(ReadError::new(&document.name, "has no documents of topics"));
        }
        Ok(empty)
    }

    /// Reads lines, which count from 1. An error has its line.
    fn of_lines(text: &str, spec: &Spec) -> Result<PartOfTopics, (String, u64)> {
        let mut topics = Self::default();
        let (mut lines, mut empty, mut current) = (0, 0, usize::MAX);
        for line in text.lines() {
            lines += 1;
            let Some(row) = (spec.read)(line).map_err(|problem| (problem, lines))? else {
                empty += u64::from(line.trim_ascii().is_empty());
                continue;
            };
            // Lines of a topic are nearly always together.
            let is_current = |topic: &Topic| topic.name == row.topic;
            if !topics.topics.get(current).is_some_and(is_current) {
                current = topics.index(&row.topic, lines);
            }
            let documents = &mut topics.topics[current].documents;
            documents.push_str(&row.document);
            documents.push('\t');
            documents.push_str(row.number);
            documents.push('\n');
        }
        Ok(PartOfTopics {
            topics,
            lines,
            empty,
        })
    }

    /// Appends topics that were read after a number of lines.
    fn append(&mut self, topics: Self, lines: u64) {
        for mut topic in topics.topics {
            topic.line += lines;
            match self.by_name.get(&topic.name) {
                Some(index) => self.topics[*index].documents.push_str(&topic.documents),
                None => self.push(topic),
            }
        }
    }

    fn push(&mut self, topic: Topic) {
        self.by_name.insert(topic.name.clone(), self.topics.len());
        self.topics.push(topic);
    }

    fn index(&mut self, topic: &str, line: u64) -> usize {
        if let Some(index) = self.by_name.get(topic) {
            return *index;
        }
        self.push(Topic {
            name: topic.to_owned(),
            documents: String::new(),
            line,
        });
        self.topics.len() - 1
    }
}

/// The topics of some of the lines of a file.
struct PartOfTopics {
    topics: Topics,
    lines: u64,
    empty: u64,
}

/// Divides a text between lines into at most this many parts of about one size.
fn parts_of_lines(text: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::with_capacity(most);
    let mut rest = text;
    for left in (2..=most).rev() {
        let bytes = rest.as_bytes();
        let middle = bytes.len() / left;
        let end = memchr::memchr(b'\n', &bytes[middle..]);
        let (part, after) = rest.split_at(end.map_or(bytes.len(), |end| middle + end + 1));
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// The fields of a line, which any ASCII white space separates; none if it starts with `#`.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
    let mut rest = if line.starts_with('#') { "" } else { line };
    iter::from_fn(move || {
        let start = rest.bytes().position(|byte| !is_space(&byte))?;
        let field = &rest[start..];
        let end = field.bytes().position(|byte| is_space(&byte));
        let (field, after) = field.split_at(end.unwrap_or(field.len()));
        rest = after;
        Some(field)
    })
}

fn trec_judgment(line: &str) -> Result<Option<Row<'_>>, String> {
    let mut found = fields(line);
    let Some(topic) = found.next() else {
        return Ok(None);
    };
    let three = [found.next(), found.next(), found.next()];
    let ([Some(_), Some(document), Some(number)], None) = (three, found.next()) else {
        let count = fields(line).count();
        return Err(format!(
            "expected 4 columns (topic, iteration, document, relevance), found {count}"
        ));
    };
    judgment(topic.into(), document.into(), number)
}

fn judgment<'t>(
    topic: Cow<'t, str>,
    document: Cow<'t, str>,
    number: &'t str,
) -> Result<Option<Row<'t>>, String> {
    if number.parse::<i64>().is_err() {
        return Err(format!(
            "relevance of {}: expected an integer, found {}",
            quoted_id(&document),
            quoted_id(number)
        ));
    }
    Ok(Some(Row {
        topic,
        document,
        number,
    }))
}

fn trec_result(line: &str) -> Result<Option<Row<'_>>, String> {
    let mut found = fields(line);
    let Some(topic) = found.next() else {
        return Ok(None);
    };
    let mut next = || found.next();
    let five = [next(), next(), next(), next(), next()];
    let [Some(_), Some(document), Some(_), Some(number), Some(_)] = five else {
        let count = fields(line).count();
        let tag = if count == 5 {
            ": the tag is missing"
        } else {
            ""
        };
        return Err(format!(
            "expected 6 columns (topic, Q0, document, rank, score, tag), found {count}{tag}"
        ));
    };
    if !is_decimal(number) && number.parse::<f64>().ok().is_none_or(f64::is_nan) {
        return Err(format!(
            "score of {}: expected a number, found {}",
            quoted_id(document),
            quoted_id(number)
        ));
    }
    Ok(Some(Row {
        topic: topic.into(),
        document: document.into(),
        number,
    }))
}

/// Whether a text is an integer or a decimal fraction, as nearly all scores are. The metric parses it, so that this is
/// quicker than to parse it twice.
fn is_decimal(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let whole = text.bytes().position(|byte| !byte.is_ascii_digit());
    let (whole, rest) = text.split_at(whole.unwrap_or(text.len()));
    let fraction = rest.strip_prefix('.').unwrap_or(rest);
    !whole.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

fn beir_judgment(line: &str) -> Result<Option<Row<'_>>, String> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut cells = cells(line)?.into_iter();
    let three = [cells.next(), cells.next(), cells.next()];
    let [Some(topic), Some(document), Some(number)] = three else {
        return Err(format!(
            "expected 3 columns (query-id, corpus-id, score), separated by tabs, found {}",
            quoted_id(line)
        ));
    };
    match number {
        Cow::Borrowed(number) => judgment(topic, document, number.trim_ascii()),
        Cow::Owned(number) => Err(format!(
            "relevance of {}: expected an integer, found {}",
            quoted_id(&document),
            quoted_id(&number)
        )),
    }
}

/// The cells of a line, which tabs separate; one that starts with a quote ends at the next one, and `""` in it is a quote.
fn cells(line: &str) -> Result<Vec<Cow<'_, str>>, String> {
    let mut cells = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let Some(quoted) = text.strip_prefix('"') else {
            let (cell, after) = match text.split_once('\t') {
                Some((cell, after)) => (cell, Some(after)),
                None => (text, None),
            };
            cells.push(Cow::Borrowed(cell));
            rest = after;
            continue;
        };
        let mut end = 0;
        loop {
            let quote = quoted[end..].find('"').map(|at| end + at);
            let quote = quote.ok_or("a quote is not closed on its line")?;
            if !quoted[quote + 1..].starts_with('"') {
                end = quote;
                break;
            }
            end = quote + 2;
        }
        let cell = &quoted[..end];
        cells.push(if cell.contains('"') {
            Cow::Owned(cell.replace("\"\"", "\""))
        } else {
            Cow::Borrowed(cell)
        });
        let after = &quoted[end + 1..];
        rest = after.strip_prefix('\t');
        if rest.is_none() && !after.is_empty() {
            return Err(format!(
                "expected a tab after a quoted cell, found {}",
                quoted_id(after)
            ));
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The topic, the document and the number of a line, or the error.
    fn read(format: Format, line: &str) -> Result<Option<[String; 3]>, String> {
        let spec = SPECS.iter().find(|spec| spec.format == format);
        let row = (spec.expect("a format of topics").read)(line)?;
        Ok(row.map(|row| [row.topic.into(), row.document.into(), row.number.to_owned()]))
    }

    fn row(parts: [&str; 3]) -> Result<Option<[String; 3]>, String> {
        Ok(Some(parts.map(str::to_owned)))
    }

    #[test]
    fn lines_of_trec() {
        let judged = |line| read(Format::TrecQrels, line);
        assert_eq!(judged("1 0 d#1 -1"), row(["1", "d#1", "-1"]));
        assert_eq!(judged("01\tQ0\td1  2 \r"), row(["01", "d1", "2"]));
        assert_eq!(judged("  "), Ok(None));
        assert_eq!(judged("# a comment"), Ok(None));
        assert!(judged("1 0 d1 1.9").is_err());
        assert!(judged("1 0 d1").is_err());
        assert!(judged("1 0 d1 1 x").is_err());
        let ranked = |line| read(Format::TrecRun, line);
        assert_eq!(ranked("1 Q0 d1 7 inf tag more"), row(["1", "d1", "inf"]));
        assert!(ranked("1 Q0 d1 7 nan tag").is_err());
        assert!(ranked("1 Q0 d1 7 high tag").is_err());
        let error = ranked("1 Q0 d1 7 0.5").expect_err("no tag");
        assert!(error.ends_with("found 5: the tag is missing"), "{error}");
    }

    #[test]
    fn lines_of_beir() {
        let judged = |line| read(Format::BeirQrels, line);
        assert_eq!(judged("q 1\td1\t1\tmore"), row(["q 1", "d1", "1"]));
        assert_eq!(
            judged("\"q\t1\"\t\"a \"\"b\"\"\"\t\"2\""),
            row(["q\t1", "a \"b\"", "2"])
        );
        assert_eq!(judged(""), Ok(None));
        for line in [
            "q1 d1 1",
            "q1\td1",
            "q1\td1\t1.0",
            "\"q1\td1\t1",
            "\"q\"1\td\t1",
        ] {
            assert!(judged(line).is_err(), "{line}");
        }
    }

    #[test]
    fn parts_are_whole_lines() {
        for text in ["", "\n", "a", "a\nb", "a\n\nbb\nccc\n", "long line\nb\nc"] {
            for most in 1..6 {
                let parts = parts_of_lines(text, most);
                assert_eq!(parts.concat(), text);
                let mut filled = parts.iter().rev().filter(|part| !part.is_empty());
                filled.next();
                assert!(filled.all(|part| part.ends_with('\n')), "{text:?}");
            }
        }
    }

    #[test]
    fn topics_of_several_parts() {
        let spec = SPECS.iter().find(|spec| spec.format == Format::TrecRun);
        let spec = spec.expect("a format of topics");
        let parts = [
            "1 Q0 a 1 3 t\n2 Q0 b 1 2.5 t\n",
            "\n1 Q0 c 2 -1e3 t\n3 Q0 d 1 .5 t",
        ];
        let mut topics = Topics::default();
        let mut lines = 0;
        for part in parts {
            let part =
                Topics::of_lines(part, spec).unwrap_or_else(|(problem, _)| panic!("{problem}"));
            topics.append(part.topics, lines);
            lines += part.lines;
        }
        let read = topics
            .topics
            .iter()
            .map(|topic| (&*topic.name, &*topic.documents, topic.line));
        let expected = [
            ("1", "a\t3\nc\t-1e3\n", 1),
            ("2", "b\t2.5\n", 2),
            ("3", "d\t.5\n", 5),
        ];
        assert!(read.eq(expected));
        let error = Topics::of_lines("1 Q0 a 1 3 t\n1 Q0 b 2 1.2.3 t", spec).err();
        assert_eq!(error.map(|(_, line)| line), Some(2));
    }

    #[test]
    fn decimals() {
        for text in ["0", "12.5", "-3.25", "7."] {
            assert!(is_decimal(text) && text.parse::<f64>().is_ok(), "{text}");
        }
        for text in ["", "-", ".5", "1e5", "inf", "nan", "1.2.3", "1 2", "+1"] {
            assert!(!is_decimal(text), "{text}");
        }
    }
}
