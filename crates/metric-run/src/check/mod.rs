//! Checks that data can be scored, and gathers all problems rather than the first.

mod documents;
mod mirror;
mod part;
mod records;

use std::collections::BTreeMap;

use metric_record::{JoinError, Message, ReadError, Side, quoted_id};
use metric_registry::State;
use serde_json::{Value, json};

use crate::join::Errors;
use crate::run::Opened;
use crate::{Data, ErrorKind, Run, RunError};

/// The findings of [`Run::check`].
#[derive(Debug)]
pub struct Check {
    /// The metric.
    pub metric: &'static str,
    /// The definition whose values are read: metric, options and version.
    pub signature: String,
    /// The references.
    pub references: CheckedSource,
    /// The predictions; the same source as the references if that has both.
    pub predictions: CheckedSource,
    /// The number of examples that can be scored.
    pub examples: u64,
    /// Whether all of the data were checked. Reading a source ends where the start of the next record is not known, and
    /// a dataset file is not read past a number of problems.
    pub is_complete: bool,
    /// The problems, one per kind and source.
    pub problems: Vec<Problem>,
    /// The warnings about the examples that can be scored.
    pub warnings: Vec<Message>,
}

/// A source that was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedSource {
    /// The name, for messages.
    pub name: String,
    /// The number of valid records; `None` for a dataset file, which is read as a whole.
    pub records: Option<u64>,
}

/// Problems of one kind in one source.
#[derive(Debug)]
pub struct Problem {
    /// The kind.
    pub kind: ProblemKind,
    /// The source.
    pub source: String,
    /// The number of problems.
    pub count: u64,
    /// The first few, as the errors that a run would return for them.
    pub first: Vec<RunError>,
}

/// The kind of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A source as a whole, or all of it after a location.
    File,
    /// A record without an id or a value, or one that is malformed.
    InvalidRecord,
    /// A reference that the metric cannot read.
    InvalidReference,
    /// A prediction that the metric cannot read.
    InvalidPrediction,
    /// An id that occurs more than once in a source.
    DuplicateId,
    /// A reference without a prediction.
    MissingPrediction,
    /// A prediction without a reference.
    ExtraPrediction,
}

impl ProblemKind {
    /// Returns the name, such as `duplicate-id`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::InvalidRecord => "invalid-record",
            Self::InvalidReference => "invalid-reference",
            Self::InvalidPrediction => "invalid-prediction",
            Self::DuplicateId => "duplicate-id",
            Self::MissingPrediction => "missing-prediction",
            Self::ExtraPrediction => "extra-prediction",
        }
    }

    /// The kind of the value of a side.
    fn of_value(side: Side) -> Self {
        match side {
            Side::Reference => Self::InvalidReference,
            Side::Prediction => Self::InvalidPrediction,
        }
    }
}

impl Problem {
    /// Returns the count and what it counts, such as `r.jsonl: 2 invalid records`. Ids that do not join are
    /// named here.
    #[must_use]
    pub fn message(&self) -> Message {
        let Self {
            kind,
            source,
            count,
            ..
        } = self;
        let of_count = |one: &str, several: &str| {
            let what = if *count == 1 { one } else { several };
            Message::from(format!("{source}: {count} {what}"))
        };
        match (kind, self.first.as_slice()) {
            (
                ProblemKind::DuplicateId
                | ProblemKind::MissingPrediction
                | ProblemKind::ExtraPrediction
                | ProblemKind::File,
                [one],
            ) => one.message(),
            (ProblemKind::File, _) => of_count("problem", "problems"),
            (ProblemKind::InvalidRecord, _) => of_count("invalid record", "invalid records"),
            (ProblemKind::InvalidReference, _) => {
                of_count("reference cannot be read", "references cannot be read")
            }
            (ProblemKind::InvalidPrediction, _) => {
                of_count("prediction cannot be read", "predictions cannot be read")
            }
            (ProblemKind::DuplicateId, _) => of_count("duplicate id", "duplicate ids"),
            (ProblemKind::MissingPrediction, _) => {
                of_count("missing prediction", "missing predictions")
            }
            (ProblemKind::ExtraPrediction, _) => of_count("extra prediction", "extra predictions"),
        }
    }

    /// Returns the messages about the first few, where the [message](Self::message) does not say everything.
    pub fn locations(&self) -> impl Iterator<Item = Message> {
        let is_all = match self.first.as_slice() {
            [one] => one.message() == self.message(),
            _ => false,
        };
        let first = self.first.iter().filter(move |_| !is_all);
        first.map(RunError::message)
    }

    fn json(&self) -> Value {
        json!({
            "kind": self.kind.name(),
            "source": self.source,
            "count": self.count,
            "problem": self.message().to_string(),
            "first": self.first.iter().flat_map(locations_json).collect::<Vec<_>>(),
        })
    }
}

/// The locations that an error is about.
fn locations_json(error: &RunError) -> Vec<Value> {
    let location = |file: Option<&str>, line: Option<u64>, id: Option<&str>| json!({"file": file, "line": line, "record": null, "id": id, "field": null, "problem": null});
    let read = |read: &ReadError, id: Option<&str>| {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let mut location = location(None, read.line, id);
        location["file"] = json!(text(&read.file));
        location["record"] = json!(text(&read.record));
        location["field"] = json!(text(&read.field));
        location["problem"] = json!(read.problem.to_string());
        vec![location]
    };
    match error {
        RunError::Read(error) => read(error, None),
        RunError::Record { id, error, .. } => {
            let mut location = read(error, Some(id));
            // The id has a field of its own.
            let named = format!("id {}", quoted_id(id));
            let record = error.record.strip_suffix(&named).unwrap_or(&error.record);
            let record = record.trim_end_matches(": ");
            location[0]["record"] = json!((!record.is_empty()).then_some(record));
            location
        }
        RunError::Join { error, .. } => match &**error {
            JoinError::Missing(unmatched) | JoinError::Extra(unmatched) => {
                let of_id = |id: &String| location(Some(&unmatched.source), None, Some(id));
                unmatched.ids.iter().map(of_id).collect()
            }
            JoinError::Duplicate(duplicate) => {
                let lines = duplicate.lines.iter();
                let lines = lines.map(|line| {
                    location(Some(&duplicate.source), Some(*line), Some(&duplicate.id))
                });
                let others = duplicate.others.iter();
                let others = others.map(|id| location(Some(&duplicate.source), None, Some(id)));
                let mut locations: Vec<Value> = lines.chain(others).collect();
                if duplicate.lines.is_empty() {
                    locations.insert(
                        0,
                        location(Some(&duplicate.source), None, Some(&duplicate.id)),
                    );
                }
                locations
            }
            _ => Vec::new(),
        },
        error => {
            let mut location = location(None, None, None);
            location["problem"] = json!(error.message().to_string());
            vec![location]
        }
    }
}

impl Check {
    /// Returns whether the data can be scored.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns the number of problems of all kinds.
    #[must_use]
    pub fn problem_count(&self) -> u64 {
        self.problems.iter().map(|problem| problem.count).sum()
    }

    /// Returns the findings as one JSON object on one line, as `metric check --format json` prints them.
    #[must_use]
    pub fn to_json(&self) -> String {
        let source =
            |source: &CheckedSource| json!({"source": source.name, "records": source.records});
        let warnings = self.warnings.iter().map(ToString::to_string);
        let fields = [
            ("schema", json!(1)),
            ("metric", json!(self.metric)),
            ("signature", json!(self.signature)),
            ("ok", json!(self.is_fine())),
            ("complete", json!(self.is_complete)),
            ("references", source(&self.references)),
            ("predictions", source(&self.predictions)),
            ("examples", json!(self.examples)),
            (
                "problems",
                self.problems.iter().map(Problem::json).collect(),
            ),
            ("warnings", warnings.collect()),
        ];
        let fields = fields.map(|(name, value)| format!("\"{name}\":{value}"));
        format!("{{{}}}", fields.join(","))
    }
}

/// Problems that are found, by kind and source.
#[derive(Debug, Default)]
struct Problems {
    found: BTreeMap<(ProblemKind, String), Errors>,
    /// Whether a source was not read to its end.
    is_cut: bool,
}

impl Problems {
    /// Adds the errors of one kind.
    fn add_all(&mut self, kind: ProblemKind, source: &str, errors: Errors) {
        if errors.count == 0 {
            return;
        }
        let found = self.errors_of(kind, source);
        let count = errors.count;
        let before = found.count;
        errors.into_first().for_each(|error| found.add(error));
        found.count = before + count;
    }

    fn errors_of(&mut self, kind: ProblemKind, source: &str) -> &mut Errors {
        self.found.entry((kind, source.to_owned())).or_default()
    }

    /// Adds an error that a run would return, unless it is not about the data.
    fn add(&mut self, source: &str, error: RunError) -> Result<(), RunError> {
        if error.kind() != ErrorKind::Input {
            return Err(error);
        }
        let join = match error {
            RunError::Read(read) => {
                let source = match read.file.as_str() {
                    "" => source,
                    file => file,
                }
                .to_owned();
                // One source may be both sides.
                let error = RunError::Read(read);
                let errors = self.errors_of(ProblemKind::File, &source);
                if !errors.has(&error) {
                    errors.add(error);
                }
                return Ok(());
            }
            RunError::Join { error, .. } => *error,
            other => return Err(other),
        };
        let (kind, source, count) = match &join {
            JoinError::Duplicate(it) => (ProblemKind::DuplicateId, &it.source, it.count),
            JoinError::Missing(it) => (ProblemKind::MissingPrediction, &it.source, it.count),
            JoinError::Extra(it) => (ProblemKind::ExtraPrediction, &it.source, it.count),
            JoinError::MissingAndExtra(missing, extra) => {
                self.add(source, JoinError::Missing(missing.clone()).into())?;
                return self.add(source, JoinError::Extra(extra.clone()).into());
            }
            // Kinds of errors that are added later are not lost.
            _ => (ProblemKind::File, &source.to_owned(), 1),
        };
        let found = self.errors_of(kind, source);
        found.add(join.into());
        found.add_count(count.saturating_sub(1));
        Ok(())
    }

    fn has(&self, wanted: ProblemKind) -> bool {
        self.found.keys().any(|(kind, _)| *kind == wanted)
    }

    fn into_list(self) -> Vec<Problem> {
        let problem = |((kind, source), errors): ((ProblemKind, String), Errors)| Problem {
            kind,
            source,
            count: errors.count,
            first: errors.into_first().collect(),
        };
        self.found.into_iter().map(problem).collect()
    }
}

impl Run {
    /// Checks that data can be scored: reads and joins them as [`score`](Self::score) does, and returns all problems
    /// rather than the first, with their numbers and the first few locations of each kind. Values are read as the
    /// metric reads them, and no score is returned.
    ///
    /// ```
    /// use metric_run::registry::{Options, find};
    /// use metric_run::{Data, Format, ProblemKind, Run, Source};
    ///
    /// # if find("wer").is_none() { return Ok(()); }
    /// let run = Run::new(find("wer").ok_or("not there")?, &Options::default())?;
    /// let lines = |name: &str, text: &str| Source::memory(name, text.as_bytes(), Format::JsonLines);
    /// let references = lines("r.jsonl", "{\"id\": 1, \"reference\": \"a\"}\n{\"id\": 2, \"reference\": 2}\n");
    /// let predictions = lines("p.jsonl", "{\"id\": 1, \"prediction\": \"a\"}\n{\"id\": 3}\n");
    /// let check = run.check(Data::Sources { references, predictions })?;
    /// let kinds: Vec<ProblemKind> = check.problems.iter().map(|problem| problem.kind).collect();
    /// assert_eq!(
    ///     kinds,
    ///     [ProblemKind::InvalidRecord, ProblemKind::InvalidReference, ProblemKind::MissingPrediction]
    /// );
    /// assert_eq!(check.examples, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the request makes no sense, if the data take more memory than allowed, or if the machine
    /// fails. Problems of the data are not errors.
    pub fn check(&self, data: Data) -> Result<Check, RunError> {
        let names = names_of(&data);
        self.on_threads(|threads| {
            let mut found = Findings::new(names);
            let checked = match self.opened(data, false) {
                Err(error) => Err(error),
                Ok(Opened::Records {
                    references,
                    predictions,
                    warnings,
                }) => {
                    let predictions = predictions.map(|input| *input);
                    self.check_records(references, predictions, warnings, threads, &mut found)
                }
                Ok(Opened::Documents {
                    references,
                    predictions,
                }) => self.check_documents(references, predictions, &mut found),
            };
            if let Err(error) = checked {
                let source = found.references.name.clone();
                found.problems.add(&source, error)?;
                found.problems.is_cut = true;
            }
            self.finish_check(found)
        })
    }

    fn finish_check(&self, found: Findings) -> Result<Check, RunError> {
        let chosen = self
            .metrics
            .first()
            .ok_or_else(|| RunError::Usage(Message::from("no metric: expected one")))?;
        let reports: Vec<_> = found.states.iter().map(State::report).collect();
        let examples = reports.first().map_or(0, |report| report.examples);
        let mut warnings: Vec<Message> = Vec::new();
        let reports = reports.into_iter().filter(|_| !found.is_reduced);
        for warning in reports.flat_map(|report| report.warnings) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        Ok(Check {
            metric: chosen.entry.name,
            signature: chosen.scorer.signature().to_owned(),
            references: found.references,
            predictions: found.predictions,
            examples,
            is_complete: !found.problems.is_cut,
            problems: found.problems.into_list(),
            warnings,
        })
    }
}

/// The findings of a check so far.
struct Findings {
    references: CheckedSource,
    predictions: CheckedSource,
    problems: Problems,
    /// By metric: the examples that can be scored.
    states: Vec<State>,
    /// Whether parts of dataset files were left out: warnings about the rest would be about what is missing.
    is_reduced: bool,
}

impl Findings {
    fn new([references, predictions]: [String; 2]) -> Self {
        let source = |name| CheckedSource {
            name,
            records: None,
        };
        Self {
            references: source(references),
            predictions: source(predictions),
            problems: Problems::default(),
            states: Vec::new(),
            is_reduced: false,
        }
    }
}

/// The names of the references and the predictions.
fn names_of(data: &Data) -> [String; 2] {
    match data {
        Data::Sources {
            references,
            predictions,
        } => [references.name(), predictions.name()],
        Data::Pairs(pairs) => [pairs.name(), pairs.name()],
        Data::Documents {
            references,
            predictions,
        } => [references.name.clone(), predictions.name.clone()],
    }
}
