//! The formats of records: one row of a table for each, and a module for those that need one.

#[cfg(feature = "arrow")]
pub(crate) mod arrow;
#[cfg(feature = "arrow")]
mod arrow_file;
#[cfg(feature = "arrow")]
mod arrow_message;
#[cfg(feature = "columns")]
pub(crate) mod columns;
pub(crate) mod csv;
#[cfg(feature = "arrow")]
pub(crate) mod datasets;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
#[cfg(feature = "parquet")]
mod parquet_pages;
pub(crate) mod segments;
#[cfg(feature = "parquet")]
mod thrift;
pub(crate) mod topics;
pub(crate) mod transcript;

use std::path::Path;

use metric_record::{Message, ReadError, encoding_hint};

use crate::RunError;
use crate::source::with_encoding_option;

/// The form in which a source holds records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One JSON object per line.
    JsonLines,
    /// One JSON object: id to value, or one example; or a list of records.
    Json,
    /// One value per line, whose id is the line number.
    Text,
    /// One id per line, and after a space or tab the text, as in Kaldi's `text` files.
    Kaldi,
    /// Comma-separated values with a header.
    Csv,
    /// The same with tabs.
    Tsv,
    /// Parquet.
    Parquet,
    /// Arrow IPC: a file, also called Feather, or a stream.
    Arrow,
    /// NIST's `trn`: one text per line, and after it the id in parentheses.
    Trn,
    /// NIST's `stm`: segments of recordings with their reference texts.
    Stm,
    /// NIST's `ctm`: words with their times, which belong to the segments of an `stm` file.
    Ctm,
    /// MeetEval's SegLST: segments of sessions as a list of JSON objects.
    SegLst,
    /// SRT, a form of subtitles.
    Srt,
    /// WebVTT, a form of subtitles.
    Vtt,
    /// JSON of Whisper, whisper.cpp, WhisperX and the pipelines of Transformers.
    Whisper,
    /// A TextGrid of Praat.
    TextGrid,
    /// A page of text as PAGE XML or ALTO XML.
    Xml,
    /// TREC's `qrels`: the relevance of documents for topics.
    TrecQrels,
    /// A run as TREC takes it: the scores of documents for topics.
    TrecRun,
    /// Judgments as TSV with the columns of BEIR.
    BeirQrels,
}

/// The properties of a format.
pub(crate) struct Spec {
    format: Format,
    /// The name in options.
    name: &'static str,
    /// The name in messages.
    pub(crate) title: &'static str,
    /// The endings of the names of files.
    endings: &'static [&'static str],
    /// The feature it needs, and whether the build has it.
    feature: Option<(&'static str, bool)>,
    /// Whether a file is text, which may be compressed.
    is_text: bool,
    /// Whether records have named fields, so that one source may hold both sides.
    has_fields: bool,
}

/// A format of text without fields that every build has.
const LINES: Spec = Spec {
    format: Format::Text,
    name: "text",
    title: "text",
    endings: &["txt"],
    feature: None,
    is_text: true,
    has_fields: false,
};

const CSV: Option<(&str, bool)> = Some(("csv", cfg!(feature = "csv")));
const TRANSCRIPTS: Option<(&str, bool)> = Some(("transcripts", cfg!(feature = "transcripts")));

const SPECS: [Spec; 20] = [
    Spec {
        format: Format::JsonLines,
        name: "jsonl",
        title: "JSON Lines",
        endings: &["jsonl", "ndjson"],
        has_fields: true,
        ..LINES
    },
    Spec {
        format: Format::Json,
        name: "json",
        title: "JSON",
        endings: &["json"],
        has_fields: true,
        ..LINES
    },
    LINES,
    Spec {
        format: Format::Csv,
        name: "csv",
        title: "CSV",
        endings: &["csv"],
        feature: CSV,
        has_fields: true,
        ..LINES
    },
    Spec {
        format: Format::Tsv,
        name: "tsv",
        title: "TSV",
        endings: &["tsv", "tab"],
        feature: CSV,
        has_fields: true,
        ..LINES
    },
    Spec {
        format: Format::Parquet,
        name: "parquet",
        title: "Parquet",
        endings: &["parquet", "pq"],
        feature: Some(("parquet", cfg!(feature = "parquet"))),
        is_text: false,
        has_fields: true,
    },
    Spec {
        format: Format::Arrow,
        name: "arrow",
        title: "Arrow",
        endings: &["arrow", "arrows", "feather", "ipc"],
        feature: Some(("arrow", cfg!(feature = "arrow"))),
        is_text: false,
        has_fields: true,
    },
    Spec {
        format: Format::Kaldi,
        name: "kaldi",
        title: "Kaldi text",
        endings: &[],
        ..LINES
    },
    Spec {
        format: Format::Trn,
        name: "trn",
        title: "trn",
        endings: &["trn"],
        feature: TRANSCRIPTS,
        ..LINES
    },
    Spec {
        format: Format::Stm,
        name: "stm",
        title: "stm",
        endings: &["stm"],
        feature: TRANSCRIPTS,
        ..LINES
    },
    Spec {
        format: Format::Ctm,
        name: "ctm",
        title: "ctm",
        endings: &["ctm"],
        feature: TRANSCRIPTS,
        ..LINES
    },
    Spec {
        format: Format::SegLst,
        name: "seglst",
        title: "SegLST",
        endings: &["seglst.json"],
        feature: TRANSCRIPTS,
        ..LINES
    },
    Spec {
        format: Format::Srt,
        name: "srt",
        title: "SRT",
        endings: &["srt"],
        feature: TRANSCRIPTS,
        ..LINES
    },
    Spec {
        format: Format::Vtt,
        name: "vtt",
        title: "WebVTT",
        endings: &["vtt"],
        feature: TRANSCRIPTS,
        ..LINES
    },
    Spec {
        format: Format::Whisper,
        name: "whisper",
        title: "JSON of Whisper",
        endings: &[],
        feature: TRANSCRIPTS,
        ..LINES
    },
    Spec {
        format: Format::TextGrid,
        name: "textgrid",
        title: "TextGrid",
        endings: &["textgrid"],
        feature: TRANSCRIPTS,
        ..LINES
    },
    Spec {
        format: Format::Xml,
        name: "xml",
        title: "PAGE XML or ALTO XML",
        endings: &["xml"],
        feature: Some(("xml", cfg!(feature = "xml"))),
        ..LINES
    },
    Spec {
        format: Format::TrecQrels,
        name: "trec-qrels",
        title: "TREC qrels",
        endings: &["qrels"],
        ..LINES
    },
    Spec {
        format: Format::TrecRun,
        name: "trec-run",
        title: "TREC run",
        endings: &["run"],
        ..LINES
    },
    Spec {
        format: Format::BeirQrels,
        name: "beir-qrels",
        title: "qrels of BEIR",
        endings: &[],
        ..LINES
    },
];

impl Format {
    /// Returns the names of all formats, as options give them.
    ///
    /// ```
    /// use metric_run::Format;
    ///
    /// assert!(Format::names().any(|name| name == "parquet"));
    /// ```
    pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
        SPECS.iter().map(|spec| spec.name)
    }

    /// Returns the format that an option names.
    ///
    /// ```
    /// use metric_run::Format;
    ///
    /// assert_eq!(Format::named("kaldi"), Some(Format::Kaldi));
    /// assert_eq!(Format::named("docx"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut specs = SPECS.iter();
        specs.find(|spec| spec.name == name).map(|spec| spec.format)
    }

    /// Returns the format that the name of a file tells.
    ///
    /// ```
    /// use metric_run::Format;
    ///
    /// assert_eq!(Format::of_name("truth.JSONL"), Some(Format::JsonLines));
    /// assert_eq!(Format::of_name("train-00000-of-00002.parquet"), Some(Format::Parquet));
    /// assert_eq!(Format::of_name("calls.seglst.json"), Some(Format::SegLst));
    /// assert_eq!(Format::of_name("truth"), None);
    /// ```
    #[must_use]
    pub fn of_name(name: impl AsRef<Path>) -> Option<Self> {
        let name = name
            .as_ref()
            .file_name()?
            .to_string_lossy()
            .to_ascii_lowercase();
        let ends_in = |ending: &str| {
            let stem = name.strip_suffix(ending).unwrap_or_default();
            stem.len() > 1 && stem.ends_with('.')
        };
        let endings = SPECS
            .iter()
            .flat_map(|spec| spec.endings.iter().map(|ending| (*ending, spec.format)));
        let endings = endings.filter(|(ending, _)| ends_in(ending));
        endings
            .max_by_key(|(ending, _)| ending.len())
            .map(|(_, format)| format)
    }

    pub(crate) fn spec(self) -> &'static Spec {
        let mut specs = SPECS.iter();
        // A test sees to it that each format has a row.
        specs.find(|spec| spec.format == self).unwrap_or(&LINES)
    }

    /// The name in messages.
    pub(crate) fn title(self) -> &'static str {
        self.spec().title
    }

    /// Whether a file is text, which may be compressed.
    pub(crate) fn is_text(self) -> bool {
        self.spec().is_text
    }

    /// Whether records have named fields, so that one source may hold both sides.
    pub(crate) fn has_fields(self) -> bool {
        self.spec().has_fields
    }

    /// Whether a file holds records and nothing else: a file of JSON or text may also be a document of a
    /// metric's own.
    pub(crate) fn has_records_only(self) -> bool {
        self.has_fields() && self != Self::Json
    }

    /// Whether records are separated by commas or the like.
    pub(crate) fn is_csv(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    /// Whether a file holds columns of values of one type.
    pub(crate) fn is_columnar(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Whether a record may span several lines, so that an error names the line where it starts.
    pub(crate) fn spans_lines(self) -> bool {
        self.is_csv()
    }

    /// Refuses a format that this build does not have.
    pub(crate) fn refuse_unbuilt(self, source: &str) -> Result<(), RunError> {
        match self.spec().feature {
            Some((feature, false)) => Err(RunError::Usage(Message::from(format!(
                "{source}: this build does not read {}: build it with --features {feature}",
                self.title()
            )))),
            _ => Ok(()),
        }
    }

    /// The endings of files that have a format.
    pub(crate) fn endings() -> String {
        let endings = SPECS.iter().filter_map(|spec| spec.endings.first());
        let endings: Vec<String> = endings.map(|ending| format!(".{ending}")).collect();
        endings.join(", ")
    }

    /// Refuses a file that starts like one of another format.
    pub(crate) fn refuse_start(self, source: &str, bytes: &[u8]) -> Result<(), ReadError> {
        let mut starts = STARTS.iter();
        let found = starts.find(|(start, ..)| bytes.starts_with(start));
        let Some((_, found, format)) = found else {
            return Ok(());
        };
        if *format == Some(self) {
            return Ok(());
        }
        let expected = if self.is_text() { " in UTF-8" } else { "" };
        let hint = encoding_hint(bytes, 0);
        let problem = format!(
            "starts like {found}: expected {}{expected}{hint}",
            self.title()
        );
        let error = ReadError::new(source, problem);
        if self.is_columnar() {
            return Err(error);
        }
        Err(with_encoding_option(error, bytes, 0))
    }
}

/// The first bytes of files, what they are, and the format that has them. Those of UTF-32 start like those of
/// UTF-16.
const STARTS: &[(&[u8], &str, Option<Format>)] = &[
    (b"PAR1", "a Parquet file", Some(Format::Parquet)),
    (b"ARROW1", "an Arrow file", Some(Format::Arrow)),
    (b"FEA1", "a Feather file of version 1", None),
    (b"\xff\xfe\0\0", "text in UTF-32", None),
    (b"\0\0\xfe\xff", "text in UTF-32", None),
    (b"\xff\xfe", "text in UTF-16", None),
    (b"\xfe\xff", "text in UTF-16", None),
    (b"\x1f\x8b", "a gzip file", None),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", None),
    (b"PK\x03\x04", "a zip archive, or a file of Excel", None),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", None),
    (b"Rar!\x1a\x07", "a RAR archive", None),
];

/// The ending of the name of a file, in lower case.
pub(crate) fn extension(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?;
    Some(extension.to_ascii_lowercase())
}

/// A number with a comma between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_has_one_row_and_each_ending_one_format() {
        for spec in &SPECS {
            assert_eq!(Format::named(spec.name), Some(spec.format));
            assert_eq!(spec.format.title(), spec.title);
            for ending in spec.endings {
                let name = format!("file.{ending}");
                assert_eq!(Format::of_name(name), Some(spec.format));
            }
        }
    }

    #[test]
    fn digits_are_grouped_by_three() {
        let rows = [
            (0, "0"),
            (999, "999"),
            (1041, "1,041"),
            (1_000_000, "1,000,000"),
        ];
        for (number, text) in rows {
            assert_eq!(grouped(number), text);
        }
    }
}
