//! The work of one task's process: a run of one metric, and what is told of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use metric_record::{
    Id, JoinError, Message, Missing, OptionStyle, ReadError, Record, RecordError, Side, Value,
};
use metric_registry::{
    AddError, Group, Input, OptionKind, OptionSpec, Options, Report, Slice, find,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::compare::{CompareJob, Compared};
use crate::config::{Split, Suite, Task};
use crate::error::SuiteError;
use metric_run::{
    Candidate, Data, ErrorKind, Format, NOTHING_SCORED, Nobody, Outcome, Role, Run, RunError,
    Settings, Source,
};

/// The kind of group that a split by ids makes, and its groups.
const SPLIT: &str = "split";
const PARTS: [&str; 2] = ["public", "private"];

/// The longest message that participants read as it is.
const PLAIN_BYTES: usize = 300;

/// References of several kinds, next to which a prediction is read to learn whether its problem is its own.
const PLAIN_REFERENCES: [&str; 6] = ["\"\"", "0", "[]", "{}", "[\"a\"]", "[[0]]"];

/// The name of the empty predictions that references are read with.
const NO_PREDICTIONS: &str = "no predictions";

/// All that a process has to know of a task.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    metric: String,
    options: Options,
    settings: BTreeMap<String, String>,
    references: PathBuf,
    more_references: Vec<PathBuf>,
    predictions: PathBuf,
    threads: Option<usize>,
    /// The most bytes of a document or of records that wait.
    memory: u64,
    split: Option<JobSplit>,
    /// The comparison that is asked for in place of the scores.
    pub(crate) compare: Option<CompareJob>,
}

#[derive(Debug, Serialize, Deserialize)]
enum JobSplit {
    Field {
        field: String,
        public: String,
        private: String,
    },
    Ids(BTreeSet<String>),
}

/// The answer of a task's process.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) scored: Option<Scored>,
    pub(crate) compared: Option<Compared>,
    pub(crate) problem: Option<Problem>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Scored {
    /// As `metric score` prints it.
    pub(crate) result: Box<RawValue>,
    /// The same without data of the references; of the public part, if there is a split.
    pub(crate) private: Box<RawValue>,
    pub(crate) scores: Scores,
    /// The scores of the public and of the private part.
    pub(crate) parts: Option<[Scores; 2]>,
}

/// Scores by name; `None` is undefined.
pub(crate) type Scores = Vec<(String, Option<f64>)>;

/// The reason why a task has no scores.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) of: Origin,
    /// The whole message.
    pub(crate) message: String,
    /// The message for people who must not see the references.
    pub(crate) public: String,
}

/// Where a problem lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// In the submission.
    Submission,
    /// In the suite or its references.
    Suite,
    /// In the submission, which is well-formed but too large.
    Limit,
    /// The process got no more memory.
    Memory,
    /// In the program.
    Program,
}

impl Job {
    pub(crate) fn new(
        task: &Task,
        predictions: &Path,
        split: Option<&Split>,
        threads: Option<usize>,
    ) -> Self {
        Self {
            metric: task.entry.name.to_owned(),
            options: task.options.clone(),
            settings: task.settings.clone(),
            references: task.references.clone(),
            more_references: task.more_references.clone(),
            predictions: predictions.to_owned(),
            threads,
            memory: task.limits.memory,
            compare: None,
            split: split.map(|split| match split {
                Split::Field {
                    field,
                    public,
                    private,
                } => JobSplit::Field {
                    field: field.clone(),
                    public: public.clone(),
                    private: private.clone(),
                },
                Split::Ids(ids) => JobSplit::Ids(ids.clone()),
            }),
        }
    }

    fn run(&self) -> Result<(Run, Settings), RunError> {
        let entry = find(&self.metric)
            .ok_or_else(|| RunError::Internal(format!("no metric {:?}", self.metric)))?;
        let settings = Settings::read(|name| self.settings.get(name).cloned())?;
        let mut run = Run::new(entry, &self.options)?;
        settings.apply(&mut run);
        let more = self.more_references.iter().map(|path| {
            settings.source(Role::References, std::slice::from_ref(path), path.is_dir())
        });
        run.more_references = more.collect::<Result<_, RunError>>()?;
        run.threads = self.threads.and_then(std::num::NonZeroUsize::new);
        run.max_bytes = run.max_bytes.min(self.memory);
        run.slices = self.split.iter().map(JobSplit::slice).collect();
        run.counts_slices = self.split.is_some();
        Ok((run, settings))
    }

    fn outcome(&self) -> Result<Outcome, RunError> {
        let (run, settings) = self.run()?;
        let [references, predictions] =
            [&self.references, &self.predictions].map(std::slice::from_ref);
        let [references, predictions] = settings.sides(references, predictions)?;
        let outcomes = run.score(references, predictions)?;
        let none = || RunError::Internal("no outcome".to_owned());
        outcomes.into_iter().next().ok_or_else(none)
    }

    fn scored(&self) -> Result<Scored, RunError> {
        let outcome = self.outcome()?;
        let report = outcome.report();
        let parts = self.split.as_ref().map(|split| split.parts(&report));
        let shown = match (&parts, &self.split) {
            (Some([public, _]), Some(split)) => {
                let (kind, [name, _]) = split.groups();
                let [examples, missing] = outcome.state().slice_counts(kind, name);
                Report {
                    examples,
                    missing,
                    scores: public.clone(),
                    ..report.clone()
                }
            }
            _ => report.clone(),
        };
        let private = without_data(&outcome, shown);
        let raw = |json: String| {
            RawValue::from_string(json).map_err(|error| RunError::Internal(error.to_string()))
        };
        Ok(Scored {
            result: raw(outcome.json(&report))?,
            private: raw(outcome.json(&private))?,
            scores: report.scores,
            parts,
        })
    }

    fn compared(&self, compare: &CompareJob) -> Result<Compared, RunError> {
        let (mut run, settings) = self.run()?;
        run.slices.clear();
        run.statistics = Some(compare.statistics());
        let references = std::slice::from_ref(&self.references);
        let sides = |path: &PathBuf| settings.sides(references, std::slice::from_ref(path));
        let [references, system] = sides(&self.predictions)?;
        let [_, baseline] = sides(&compare.other)?;
        let names = compare.names.iter().cloned();
        let systems = names.zip([baseline, system]).collect();
        let candidates = Candidate::of_sources(&references, systems);
        let compared = run.compare_observed(&candidates, &compare.compare(), &Nobody);
        let mut comparison = compared?;
        for system in &mut comparison.systems {
            // The path of a file that was taken out of an archive says nothing.
            system.predictions = format!("{}: {}", system.name, self.predictions.display());
        }
        let json = RawValue::from_string(comparison.to_json());
        Ok(Compared {
            comparison: json.map_err(|error| RunError::Internal(error.to_string()))?,
            scores: compare.differences(&comparison)?,
        })
    }

    fn reply(&self) -> Reply {
        let done = match &self.compare {
            None => self.scored().map(|scored| Reply {
                scored: Some(scored),
                ..Reply::default()
            }),
            Some(compare) => self.compared(compare).map(|compared| Reply {
                compared: Some(compared),
                ..Reply::default()
            }),
        };
        done.unwrap_or_else(|error| Reply {
            problem: Some(self.problem(&error)),
            ..Reply::default()
        })
    }

    /// Says what is wrong, and with whose files.
    fn problem(&self, error: &RunError) -> Problem {
        // Without any references, all predictions are extra ones.
        let joins = matches!(error, RunError::Join { .. });
        let empty = joins.then(|| self.error_without_submission(None, "{}"));
        let empty = empty.flatten().filter(|error| match error {
            RunError::Read(error) => self.is_about_references(error),
            _ => false,
        });
        let error = empty.as_ref().unwrap_or(error);
        let of = self.origin(error);
        let predictions = self.predictions.display().to_string();
        let public = match of {
            Origin::Submission | Origin::Limit => self
                .error_of_predictions(error)
                .unwrap_or_else(|| public_reason(error, &predictions, &self.metric)),
            Origin::Suite => "the task cannot be scored".to_owned(),
            Origin::Memory | Origin::Program => "the task could not be scored".to_owned(),
        };
        Problem {
            of,
            message: error.to_string(),
            public,
        }
    }

    /// The whole message, if the predictions alone give it, so that the references have no part in it, and if it is
    /// short.
    fn error_of_predictions(&self, error: &RunError) -> Option<String> {
        let message = match error {
            RunError::Record { id, side, error } if *side == Side::Prediction => {
                // Without the id, which a reference has as well.
                let located = (**error).clone().at("");
                self.is_of_prediction(id, &error.problem)
                    .then(|| located.to_string())?
            }
            _ => {
                let message = error.to_string();
                let read = self.read_predictions(&mut |_, _| {})?;
                let is_same = |error: RunError| error.to_string() == message;
                read.err().is_some_and(is_same).then_some(message.clone())?
            }
        };
        let is_plain = message.len() <= PLAIN_BYTES && !message.contains(char::is_control);
        is_plain.then_some(message)
    }

    /// Reads the predictions alone; `None` if the task has no such source.
    fn read_predictions(
        &self,
        each: &mut dyn FnMut(Id<'_>, Value<'_>),
    ) -> Option<Result<(), RunError>> {
        let (run, settings) = self.run().ok()?;
        let paths = std::slice::from_ref(&self.predictions);
        let source = settings.source(Role::Predictions, paths, self.predictions.is_dir());
        Some(run.read_predictions(source.ok()?, each))
    }

    /// Whether a prediction has this problem next to a reference that does not depend on the data.
    fn is_of_prediction(&self, id: &str, problem: &Message) -> bool {
        let Some(entry) = find(&self.metric) else {
            return false;
        };
        // A file that an option names may be part of the references.
        let is_file = |spec: &OptionSpec| {
            matches!(spec.kind, OptionKind::Path) && self.options.get(spec.name).is_some()
        };
        let scorer = entry.scorer(&self.options).ok();
        let Some(scorer) = scorer.filter(|_| !entry.options.iter().any(is_file)) else {
            return false;
        };
        let mut is_found = false;
        let read = self.read_predictions(&mut |found, value| {
            if is_found || found.to_string() != id {
                return;
            }
            let own = value.view().to_json_or("null").map(Cow::into_owned);
            let own = own.unwrap_or_default();
            is_found = PLAIN_REFERENCES.iter().chain([&&*own]).any(|reference| {
                let mut record = Record::new(id, value.view(), Value::json(reference));
                let added = scorer
                    .start()
                    .update(&scorer, std::slice::from_mut(&mut record));
                match added {
                    Err(AddError::Record(RecordError { error, .. })) => {
                        error.side == Side::Prediction && error.problem == *problem
                    }
                    _ => false,
                }
            });
        });
        read.is_some() && is_found
    }

    fn origin(&self, error: &RunError) -> Origin {
        let is_memory = match error {
            RunError::Read(error) => error.is_machine || error.is_limit && names_memory(error),
            _ => false,
        };
        if is_memory {
            return Origin::Memory;
        }
        if self.suspects_references(error) {
            // A prediction may make a good reference unreadable, such as one with too few scores for its label.
            return if self.fails_without_submission(error) {
                Origin::Suite
            } else {
                Origin::Submission
            };
        }
        match error {
            error if error.kind() == ErrorKind::Limit => Origin::Limit,
            RunError::Internal(_) | RunError::Observer(_) => Origin::Program,
            _ => Origin::Submission,
        }
    }

    /// Whether an error is about the suite, its references, or a file that an option names.
    fn suspects_references(&self, error: &RunError) -> bool {
        match error {
            RunError::Read(error) => self.is_about_references(error),
            RunError::Join { error, .. } => match &**error {
                JoinError::Duplicate(duplicate) => self.is_of_references(&duplicate.source),
                _ => false,
            },
            RunError::Record { side, .. } => *side == Side::Reference,
            RunError::Option(_) | RunError::Usage(_) => true,
            _ => false,
        }
    }

    /// The problem that the references have with any predictions.
    fn problem_of_references(&self) -> Option<String> {
        // A format may not go with a file in memory, and a metric may not take a rule for missing predictions. No task
        // has either.
        let is_ours = |missing: Option<Missing>, error: &RunError| {
            let is_usage = matches!(error, RunError::Option(_) | RunError::Usage(_));
            is_usage && missing.is_some() || error.to_string().contains(NO_PREDICTIONS)
        };
        let found = self
            .errors_without_submission()
            .find(|(missing, error)| self.suspects_references(error) && !is_ours(*missing, error));
        // Folders of files are predictions like those of a submission.
        let is_of_files =
            find(&self.metric).is_some_and(|entry| matches!(entry.input, Input::Files(_)));
        let found = found.map(|(_, error)| error);
        let found = found.or_else(|| self.error_of_references().filter(|_| is_of_files));
        found.map(|error| error.to_string())
    }

    fn is_about_references(&self, error: &ReadError) -> bool {
        // A problem with all of the data names the references in its text.
        let message = error.message().to_string();
        let is_empty = error.file.is_empty()
            && message.starts_with(&*self.references.to_string_lossy())
            && !message.ends_with(NOTHING_SCORED);
        is_empty || self.is_of_references(&error.file) || self.is_of_options(&error.file)
    }

    /// Whether an option names a file, or the folder that it is in.
    fn is_of_options(&self, file: &str) -> bool {
        let specs = find(&self.metric).map_or(&[][..], |entry| entry.options);
        let mut paths = specs
            .iter()
            .filter(|spec| matches!(spec.kind, OptionKind::Path));
        paths.any(|spec| {
            let path = self.options.get(spec.name);
            path.is_some_and(|path| Path::new(file).starts_with(&*path))
        })
    }

    fn is_of_references(&self, file: &str) -> bool {
        // A file of a folder or of a pattern is in the same folder, and files that a file lists are in the folder of its name.
        let has = |path: &PathBuf| {
            let folder = if path.is_file() {
                Some(path.with_extension("")).filter(|path| path.is_dir())
            } else {
                let folder = path.ancestors().find(|path| path.is_dir());
                folder.map(Path::to_owned)
            };
            file == path.to_string_lossy()
                || folder.is_some_and(|folder| Path::new(file).starts_with(folder))
        };
        std::iter::once(&self.references)
            .chain(&self.more_references)
            .any(has)
    }

    /// Whether the same error comes without any predictions, and so cannot be theirs.
    fn fails_without_submission(&self, error: &RunError) -> bool {
        let expected = error.to_string();
        let without = self.errors_without_submission().map(|(_, error)| error);
        let of_references = std::iter::once_with(|| self.error_of_references()).flatten();
        without
            .chain(of_references)
            .any(|error| error.to_string() == expected)
    }

    /// The errors of the references and no predictions, each with the rule for missing predictions that is not the
    /// task's.
    fn errors_without_submission(&self) -> impl Iterator<Item = (Option<Missing>, RunError)> {
        // Predictions that name files have the form of a dataset file; next to none of them, all references are read.
        let names_files = find(&self.metric).is_some_and(|it| !it.prediction_folder.is_empty());
        let of_files = names_files.then_some((Some(Missing::Empty), r#"{"annotations": []}"#));
        // Metrics differ in the form of nothing.
        [(None, "{}"), (None, "[]"), (Some(Missing::Empty), "{}")]
            .into_iter()
            .chain(of_files)
            .filter_map(|(missing, nothing)| {
                let error = self.error_without_submission(missing, nothing)?;
                Some((missing, error))
            })
    }

    /// The error of the references and no predictions, if there is one.
    fn error_without_submission(
        &self,
        missing: Option<Missing>,
        nothing: &str,
    ) -> Option<RunError> {
        let nothing = Source::memory(NO_PREDICTIONS, nothing.as_bytes(), Format::Json);
        self.error_next_to(missing, |_| Ok(nothing))
    }

    /// The error of the references as their own predictions, if there is one. Files that references name, such as pictures, are only
    /// read next to predictions of their kind.
    fn error_of_references(&self) -> Option<RunError> {
        self.error_next_to(None, |settings| {
            let references = std::slice::from_ref(&self.references);
            settings.source(Role::Predictions, references, self.references.is_dir())
        })
    }

    /// The error of the references next to other predictions than those of the submission.
    fn error_next_to(
        &self,
        missing: Option<Missing>,
        predictions: impl FnOnce(&Settings) -> Result<Source, RunError>,
    ) -> Option<RunError> {
        let scored = || {
            let (mut run, settings) = self.run()?;
            run.join.missing = missing.unwrap_or(run.join.missing);
            let references = std::slice::from_ref(&self.references);
            let any_folder = self.references.is_dir();
            let data = Data::Sources {
                references: settings.source(Role::References, references, any_folder)?,
                predictions: predictions(&settings)?,
            };
            run.score_observed(data, &Nobody)
        };
        scored().err()
    }
}

impl Suite {
    /// Reads the references of a task, and the files that its options name.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be scored, whatever is predicted.
    pub fn read_references(&self, task: &Task) -> Result<(), SuiteError> {
        let job = Job::new(task, Path::new(NO_PREDICTIONS), self.split.as_ref(), None);
        match job.problem_of_references() {
            Some(problem) => {
                let problem = self.location(task, &task.with_own_names(&problem));
                Err(SuiteError::input(problem))
            }
            None => Ok(()),
        }
    }
}

impl JobSplit {
    /// The groups of records that tell the parts.
    fn slice(&self) -> Slice {
        match self {
            Self::Field { field, .. } => Slice {
                name: field.clone(),
                bins: None,
                values: None,
                rest: None,
            },
            Self::Ids(ids) => {
                let public = |id: &String| (id.clone(), PARTS[0].to_owned());
                Slice {
                    name: SPLIT.to_owned(),
                    bins: None,
                    values: Some(Arc::new(ids.iter().map(public).collect())),
                    rest: Some(PARTS[1].to_owned()),
                }
            }
        }
    }

    /// The kind of group that tells the parts, and the groups.
    fn groups(&self) -> (&str, [&str; 2]) {
        match self {
            Self::Field {
                field,
                public,
                private,
            } => (field, [public, private]),
            Self::Ids(_) => (SPLIT, PARTS),
        }
    }

    /// The scores of both parts. A part without examples has undefined scores.
    fn parts(&self, report: &Report) -> [Scores; 2] {
        let (kind, names) = self.groups();
        let groups: &[Group] = report
            .groups
            .iter()
            .find(|(found, _)| found == kind)
            .map_or(&[], |(_, groups)| groups);
        names.map(|name| {
            let group = groups.iter().find(|group| group.name == name);
            let scores = report.scores.iter().map(|(score, _)| {
                let of_group = group.and_then(|group| {
                    let mut scores = group.scores.iter();
                    scores.find(|(other, _)| other == score)
                });
                (score.clone(), of_group.and_then(|(_, value)| *value))
            });
            scores.collect()
        })
    }
}

/// Whether a limit is the one of memory, which is not an option of a suite.
fn names_memory(error: &ReadError) -> bool {
    let option = OptionStyle::CommandLine.option("max-bytes", "");
    error.message().to_string().contains(&option)
}

/// A report that holds nothing of the references: neither their classes and ids nor what is counted by them.
fn without_data(outcome: &Outcome, report: Report) -> Report {
    let is_declared = |(name, _): &(String, Option<f64>)| outcome.entry().score(name).is_some();
    Report {
        scores: report.scores.into_iter().filter(is_declared).collect(),
        counts: Vec::new(),
        groups: Vec::new(),
        warnings: Vec::new(),
        ..report
    }
}

/// A problem of a submission in words that hold nothing of the references: which file, which line, and how many.
fn public_reason(error: &RunError, predictions: &str, metric: &str) -> String {
    // Files of a folder of predictions, or of one next to a file of them, have names that the submission chose, if they are there.
    let beside = Path::new(predictions).with_extension("");
    let is_own = |file: &str| {
        let file = Path::new(file);
        (file.starts_with(predictions) || file.starts_with(&beside)) && file.is_file()
    };
    let location = |error: &ReadError| match error.line {
        Some(line) if is_own(&error.file) => format!("{}:{line}", error.file),
        None if is_own(&error.file) => error.file.clone(),
        _ => predictions.to_owned(),
    };
    let count = |count: u64, what: &str, problem: &str| match count {
        1 => format!("1 {what} has no {problem}"),
        count => format!("{count} {what}s have no {problem}"),
    };
    let unmatched = |missing: u64, extra: u64| {
        let missing = (missing > 0).then(|| count(missing, "reference", "prediction"));
        let extra = (extra > 0).then(|| count(extra, "prediction", "reference"));
        let both: Vec<String> = missing.into_iter().chain(extra).collect();
        format!("{predictions}: {}", both.join(", and "))
    };
    match error {
        RunError::Read(error) if error.is_limit => {
            format!("{}: a value is too large", location(error))
        }
        RunError::Read(error) => format!("{}: cannot be read", location(error)),
        RunError::Record { error, .. } if error.is_limit => {
            format!(
                "{}: a prediction is too large for {metric}",
                location(error)
            )
        }
        RunError::Record { error, .. } => {
            format!(
                "{}: a prediction that {metric} cannot read",
                location(error)
            )
        }
        RunError::Join { error, .. } => match &**error {
            JoinError::Missing(missing) | JoinError::NoPredictions(missing) => {
                unmatched(missing.count, 0)
            }
            JoinError::Extra(extra) => unmatched(0, extra.count),
            JoinError::MissingAndExtra(missing, extra) => unmatched(missing.count, extra.count),
            JoinError::Duplicate(duplicate) => match duplicate.count {
                1 => format!("{predictions}: 1 id occurs more than once"),
                count => format!("{predictions}: {count} ids occur more than once"),
            },
            _ => format!("{predictions}: does not join with the references"),
        },
        _ => format!("{predictions}: cannot be scored"),
    }
}

/// Scores a task that a parent describes, and returns the answer for the parent.
///
/// # Errors
///
/// Returns an error if the text is not such a description.
pub fn serve_task(job: &str) -> Result<String, Message> {
    let failed = |error: serde_json::Error| Message::from(error.to_string());
    let job: Job = serde_json::from_str(job).map_err(failed)?;
    serde_json::to_string(&job.reply()).map_err(failed)
}
