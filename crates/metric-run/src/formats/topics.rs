//! Judgments and runs of retrieval: TREC's `qrels` and `run`, and the judgments of BEIR.

use std::borrow::Cow;
use std::collections::HashMap;

use metric_record::{Document, Message, ReadError, quoted_id};
use metric_registry::Counted;

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
        let mut lines = text.lines().zip(1..);
        if let Some(header) = spec.header {
            let first = lines.next().map(|(line, _)| line).unwrap_or_default();
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
        let (mut empty, mut current, mut has_any) = (0, usize::MAX, false);
        for (line, number) in lines {
            let row = (spec.read)(line).map_err(|problem| refuse(problem, number))?;
            let Some(row) = row else {
                empty += u64::from(line.trim_ascii().is_empty());
                continue;
            };
            has_any = true;
            // Lines of a topic are nearly always together.
            if self
                .topics
                .get(current)
                .is_none_or(|topic| topic.name != row.topic)
            {
                current = self.index(&row.topic, number);
            }
            let documents = &mut self.topics[current].documents;
            documents.push_str(&row.document);
            documents.push('\t');
            documents.push_str(row.number);
            documents.push('\n');
        }
        if !has_any {
            return Err(ReadError::new(&document.name, "has no documents of topics"));
        }
        Ok(empty)
    }

    fn index(&mut self, topic: &str, line: u64) -> usize {
        if let Some(index) = self.by_name.get(topic) {
            return *index;
        }
        let index = self.topics.len();
        self.by_name.insert(topic.to_owned(), index);
        self.topics.push(Topic {
            name: topic.to_owned(),
            documents: String::new(),
            line,
        });
        index
    }
}

/// The fields of a line, which any ASCII white space separates; none if it is empty or starts with `#`.
fn fields(line: &str) -> Option<impl Iterator<Item = &str>> {
    let is_space = |char: char| matches!(char, ' ' | '\t' | '\r' | '\x0b' | '\x0c');
    let mut fields = line
        .split(is_space)
        .filter(|field| !field.is_empty())
        .peekable();
    let is_read = !line.starts_with('#') && fields.peek().is_some();
    is_read.then_some(fields)
}

fn trec_judgment(line: &str) -> Result<Option<Row<'_>>, String> {
    let Some(mut found) = fields(line) else {
        return Ok(None);
    };
    let four = [found.next(), found.next(), found.next(), found.next()];
    let ([Some(topic), Some(_), Some(document), Some(number)], None) = (four, found.next()) else {
        let count = fields(line).map_or(0, Iterator::count);
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
    let Some(mut found) = fields(line) else {
        return Ok(None);
    };
    let mut next = || found.next();
    let six = [next(), next(), next(), next(), next(), next()];
    let [
        Some(topic),
        Some(_),
        Some(document),
        Some(_),
        Some(number),
        Some(_),
    ] = six
    else {
        let count = fields(line).map_or(0, Iterator::count);
        let tag = if count == 5 {
            ": the tag is missing"
        } else {
            ""
        };
        return Err(format!(
            "expected 6 columns (topic, Q0, document, rank, score, tag), found {count}{tag}"
        ));
    };
    if number.parse::<f64>().ok().is_none_or(f64::is_nan) {
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
}
