//! The suite file: what it may hold, and what its parts must agree on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use metric_registry::{
    Direction, Entry, OptionKind, OptionValue, Options, ScoreSpec, find, meaning,
};
use serde::Deserialize;
use serde::de::{Deserializer, Unexpected, Visitor};
use toml::Spanned;

use crate::error::SuiteError;
use crate::limits::{GivenLimits, Limits};
use crate::total::Rule;
use metric_run::{Hashed, Run, RunError, Settings};

/// A suite file that works, with comments on all of its keys, and the files that it names: each a path and a text.
///
/// The first is the suite file.
pub const EXAMPLE: [(&str, &str); 5] = [
    ("suite.toml", include_str!("example.toml")),
    (
        "reference/capitals.jsonl",
        include_str!("example/reference/capitals.jsonl"),
    ),
    (
        "reference/weather.csv",
        include_str!("example/reference/weather.csv"),
    ),
    (
        "submission/capitals.jsonl",
        include_str!("example/submission/capitals.jsonl"),
    ),
    (
        "submission/weather.csv",
        include_str!("example/submission/weather.csv"),
    ),
];

/// The largest suite file, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// Several tasks that score one submission, and the rule of their total.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The file that it was read from.
    pub(crate) path: PathBuf,
    /// The name.
    pub name: String,
    pub(crate) total: Option<Total>,
    pub(crate) split: Option<Split>,
    /// The tasks, in the order of the file.
    pub tasks: Vec<Task>,
}

/// The rule of a total, and its scores.
#[derive(Clone, Debug)]
pub(crate) struct Total {
    pub(crate) rule: Rule,
    pub(crate) of: Vec<ScoreOf>,
}

/// A score of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScoreOf {
    pub(crate) task: String,
    pub(crate) score: String,
}

impl fmt::Display for ScoreOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.task, self.score)
    }
}

/// A division of the references of each task into a public and a private part.
#[derive(Clone, Debug)]
pub(crate) enum Split {
    /// By the value of a field of the references. Other values belong to neither part.
    Field {
        field: String,
        public: String,
        private: String,
    },
    /// By the ids of the public part. All others are private.
    Ids(BTreeSet<String>),
}

/// A metric with its references, and the predictions that it scores.
#[derive(Clone, Debug)]
pub struct Task {
    /// The name, unlike that of any other task.
    pub name: String,
    pub(crate) entry: &'static Entry,
    pub(crate) options: Options,
    /// Settings of the run by name.
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) references: PathBuf,
    /// Files with a further reference of each record.
    pub(crate) more_references: Vec<PathBuf>,
    /// The files of references, and those that options name.
    pub(crate) files: Vec<OwnFile>,
    /// Relative to the submission, with `/` between the parts.
    pub(crate) predictions: String,
    pub(crate) sha256: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) on_failure: Fallback,
    pub(crate) undefined: Fallback,
    line: usize,
}

/// A file or folder of the organizer.
#[derive(Clone, Debug)]
pub(crate) struct OwnFile {
    /// The key that names it.
    key: String,
    path: PathBuf,
    /// As the suite file has it.
    name: String,
}

/// The score that a task counts with if it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Fallback {
    /// None: there is no total.
    #[default]
    Fail,
    Score(f64),
}

impl Fallback {
    pub(crate) fn score(self) -> Option<f64> {
        match self {
            Self::Fail => None,
            Self::Score(score) => Some(score),
        }
    }
}

impl Task {
    /// Returns the metric.
    #[must_use]
    pub fn metric(&self) -> &'static str {
        self.entry.name
    }

    /// The run that scores the task.
    pub(crate) fn run(&self) -> Result<(Run, Settings), RunError> {
        let settings = Settings::read(|name| self.settings.get(name).cloned())?;
        let mut run = Run::new(self.entry, &self.options)?;
        settings.apply(&mut run);
        Ok((run, settings))
    }

    /// The folder next to the predictions whose files they name, such as PNG files of panoptic segments; `None` if the metric has no
    /// such folder, or if an option names it.
    pub(crate) fn folder_of_predictions(&self) -> Option<&str> {
        let option = self.entry.prediction_folder;
        let is_read = !option.is_empty() && !self.options.has(option);
        let name = &self.predictions;
        let name = name.strip_suffix(".gz").unwrap_or(name);
        name.strip_suffix(".json").filter(|_| is_read)
    }
}

impl Suite {
    /// Reads a suite file.
    ///
    /// # Errors
    ///
    /// Returns an error that names the line if the file is not TOML, if it has an unknown key or an invalid value,
    /// or if its parts contradict each other.
    pub fn read(path: &Path) -> Result<Self, SuiteError> {
        let name = path.display();
        let failed = |error: io::Error| SuiteError::input(format!("{name}: cannot read: {error}"));
        let length = fs::metadata(path).map_err(failed)?.len();
        if length > MOST_BYTES {
            let most = MOST_BYTES >> 20;
            let problem =
                format!("{name}: has {length} bytes: expected a suite file of at most {most} MB");
            return Err(SuiteError::input(problem));
        }
        let text = fs::read_to_string(path).map_err(failed)?;
        Self::of_text(path, &text)
    }

    /// Reads the text of a suite file at a path, to which its own paths are relative.
    ///
    /// # Errors
    ///
    /// Returns an error as [`read`](Self::read) does.
    pub fn of_text(path: &Path, text: &str) -> Result<Self, SuiteError> {
        let file = TomlFile { path, text };
        let read: SuiteTable = toml::from_str(text).map_err(|error| {
            let message = error.message().replacen("unknown field", "unknown key", 1);
            let message = message.replacen("missing field", "missing key", 1);
            let message = message.replacen("unknown variant", "unknown value", 1);
            let message = metric_record::json::in_words(message.trim_end());
            file.input(error.span().unwrap_or_default(), &message)
        })?;
        file.suite(read)
    }

    /// Returns the paths of the predictions of all tasks, inside a submission.
    #[must_use]
    pub fn predictions(&self) -> Vec<&str> {
        let tasks = self.tasks.iter();
        tasks.map(|task| task.predictions.as_str()).collect()
    }

    /// Returns the direction in which a score is better: `total`, or the score of a task by `task.score`.
    ///
    /// # Errors
    ///
    /// Returns an error if the suite has no total, no such task, or the task no such score.
    pub fn direction(&self, name: &str) -> Result<Option<Direction>, SuiteError> {
        let expected = "expected total, or a task, a dot and a score";
        let failed = |problem: String| Err(SuiteError::usage(problem));
        let of = match (name, &self.total) {
            ("total", Some(total)) => total.of.first().cloned(),
            ("total", None) => return failed("the suite has no total".to_owned()),
            _ => name.split_once('.').map(|(task, score)| ScoreOf {
                task: task.to_owned(),
                score: score.to_owned(),
            }),
        };
        let Some(ScoreOf { task, score }) = of else {
            return failed(expected.to_owned());
        };
        let spec = score_in(&self.tasks, &task, &score);
        spec.map_or_else(failed, |spec| Ok(spec.direction))
    }

    /// Returns the paths of the references of all tasks, and those of files that their options name.
    #[must_use]
    pub fn files(&self) -> Vec<&Path> {
        let files = self.tasks.iter().flat_map(|task| &task.files);
        files.map(|file| file.path.as_path()).collect()
    }

    /// Returns the most bytes that the predictions of all tasks may have.
    #[must_use]
    pub fn most_bytes(&self) -> u64 {
        let bytes = self.tasks.iter().map(|task| task.limits.bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns the tasks of these names, in the order of the file; all of them for no names.
    ///
    /// # Errors
    ///
    /// Returns an error if a task does not exist.
    pub fn select(&self, names: &[String]) -> Result<Vec<&Task>, SuiteError> {
        let all = || self.tasks.iter().map(|task| task.name.as_str());
        if let Some(unknown) = names.iter().find(|name| !all().any(|task| task == *name)) {
            let all: Vec<&str> = all().collect();
            let problem = format!("{} has no task {unknown:?}", self.path.display());
            let problem = format!("{problem}: expected one of {}", all.join(", "));
            return Err(SuiteError::usage(problem));
        }
        let is_chosen = |task: &&Task| names.is_empty() || names.contains(&task.name);
        Ok(self.tasks.iter().filter(is_chosen).collect())
    }

    /// Checks the references of a task and the files of its options: they exist, and the references have the hash that
    /// the suite states. Returns the SHA-256 of the references if `hashes` or if the suite states one; references of several files have none.
    ///
    /// # Errors
    ///
    /// Returns an error that names the references.
    pub fn check(&self, task: &Task, hashes: bool) -> Result<Option<String>, SuiteError> {
        let failed = |problem: String| SuiteError::input(self.location(task, &problem));
        for OwnFile { key, path, .. } in &task.files {
            metric_run::Source::paths(std::slice::from_ref(path)).map_err(|error| {
                let shown = task.with_own_names(&error.to_string());
                failed(format!("{key}: {shown}"))
            })?;
        }
        let name = task.with_own_names(&task.references.to_string_lossy());
        if !task.references.is_file() {
            return match task.sha256 {
                Some(_) => Err(failed(format!("{name}: expected one file for its sha256"))),
                None => Ok(None),
            };
        }
        if !hashes && task.sha256.is_none() {
            return Ok(None);
        }
        let found = File::open(&task.references)
            .and_then(Hashed::of)
            .map_err(|error| failed(format!("{name}: cannot read: {error}")))?
            .sha256;
        match &task.sha256 {
            Some(expected) if *expected != found => Err(failed(format!(
                "{name}: the references have changed: expected SHA-256 {expected}, found {found}"
            ))),
            _ => Ok(Some(found)),
        }
    }

    /// A problem with a task, with its location in the suite file.
    pub(crate) fn location(&self, task: &Task, problem: &str) -> String {
        let (path, line) = (self.path.display(), task.line);
        format!("{path}:{line}: task {:?}: {problem}", task.name)
    }
}

impl Task {
    /// A message with the files of the organizer named as in the suite file.
    pub(crate) fn with_own_names(&self, message: &str) -> String {
        self.files.iter().fold(message.to_owned(), |message, file| {
            let message = message.replace(&*file.path.to_string_lossy(), &file.name);
            // Files that a file lists are in a folder of its name.
            let [folder, own] = [file.path.as_path(), Path::new(&file.name)]
                .map(|path| path.with_extension("").display().to_string() + "/");
            message.replace(&folder, &own)
        })
    }
}

/// The file as TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SuiteTable {
    name: Spanned<String>,
    total: Option<Spanned<TotalTable>>,
    split: Option<Spanned<SplitTable>>,
    #[serde(default)]
    limits: GivenLimits,
    #[serde(default)]
    task: Vec<Spanned<TaskTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TotalTable {
    rule: RuleName,
    of: Vec<Spanned<String>>,
    weights: Option<Spanned<Vec<f64>>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RuleName {
    Sum,
    Mean,
    Weighted,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SplitTable {
    field: Option<String>,
    public: Option<String>,
    private: Option<String>,
    public_ids: Option<PublicIds>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TaskTable {
    name: Spanned<String>,
    metric: Spanned<String>,
    references: Spanned<String>,
    #[serde(default)]
    more_references: Vec<Spanned<String>>,
    predictions: Spanned<String>,
    missing: Option<Spanned<String>>,
    extra: Option<Spanned<String>>,
    #[serde(default)]
    options: BTreeMap<Spanned<String>, Spanned<Value>>,
    sha256: Option<Spanned<String>>,
    #[serde(default)]
    limits: GivenLimits,
    #[serde(default)]
    on_failure: Fallback,
    #[serde(default)]
    undefined: Fallback,
}

/// The value of an option: one, or a list.
#[derive(Clone)]
enum Value {
    Flag(bool),
    One(String),
    List(Vec<String>),
}

/// The ids of the public part: a file with one per line, or a list.
enum PublicIds {
    File(String),
    List(Vec<String>),
}

/// A suite file, for messages about its lines.
struct TomlFile<'t> {
    path: &'t Path,
    text: &'t str,
}

impl TomlFile<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().iter().take(span.start);
        1 + before.filter(|&&byte| byte == b'\n').count()
    }

    fn message(&self, span: &Range<usize>, problem: impl fmt::Display) -> String {
        format!("{}:{}: {problem}", self.path.display(), self.line(span))
    }

    fn input(&self, span: Range<usize>, problem: impl fmt::Display) -> SuiteError {
        SuiteError::input(self.message(&span, problem))
    }

    fn suite(&self, read: SuiteTable) -> Result<Suite, SuiteError> {
        if read.name.get_ref().trim().is_empty() {
            return Err(self.input(read.name.span(), "name: expected a name, found \"\""));
        }
        let limits = read.limits.or(Limits::default());
        let mut tasks: Vec<Task> = Vec::new();
        for table in &read.task {
            let task = self.task(table, limits)?;
            if tasks.iter().any(|other| other.name == task.name) {
                let span = table.get_ref().name.span();
                let problem = format!(
                    "two tasks are called {:?}: expected different names",
                    task.name
                );
                return Err(self.input(span, problem));
            }
            tasks.push(task);
        }
        if tasks.is_empty() {
            return Err(self.input(0..0, "no tasks: expected at least one [[task]]"));
        }
        let total = read.total.map(|total| self.total(total, &tasks));
        let split = read.split.map(|split| self.split(split));
        Ok(Suite {
            path: self.path.to_owned(),
            name: read.name.into_inner(),
            total: total.transpose()?,
            split: split.transpose()?,
            tasks,
        })
    }

    fn task(&self, table: &Spanned<TaskTable>, limits: Limits) -> Result<Task, SuiteError> {
        let span = table.span();
        let table = table.get_ref();
        let name = table.name.get_ref();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_plain) {
            let problem =
                format!("name: expected letters, digits, \"-\" and \"_\", found {name:?}");
            return Err(self.input(table.name.span(), problem));
        }
        let location = |problem: String| format!("task {name:?}: {problem}");
        let metric = table.metric.get_ref();
        let entry = find(metric).ok_or_else(|| {
            let meaning =
                meaning(metric).map_or_else(String::new, |meaning| format!("; {meaning}"));
            let problem = location(format!(
                "metric: no metric {metric:?}{meaning}; see metric list"
            ));
            self.input(table.metric.span(), problem)
        })?;
        let (options, settings) = self.options(name, entry, table)?;
        let more = &table.more_references;
        if let Some(given) = more.first()
            && !entry.has_references()
        {
            let problem =
                format!("more-references: {metric} compares with one reference per record");
            return Err(self.input(given.span(), location(problem)));
        }
        let references = table.references.get_ref();
        let sha256 = table.sha256.as_ref();
        if let Some(given) = sha256
            && !(given.get_ref().len() == 64
                && given.get_ref().bytes().all(|byte| byte.is_ascii_hexdigit()))
        {
            let problem = location("sha256: expected 64 hexadecimal digits".to_owned());
            return Err(self.input(given.span(), problem));
        }
        let task = Task {
            name: name.clone(),
            entry,
            options,
            settings,
            references: self.beside(references),
            more_references: more
                .iter()
                .map(|path| self.beside(path.get_ref()))
                .collect(),
            files: self.files(entry, table),
            predictions: self.predictions(name, &table.predictions)?,
            sha256: sha256.map(|given| given.get_ref().to_ascii_lowercase()),
            limits: table.limits.or(limits),
            on_failure: table.on_failure,
            undefined: table.undefined,
            line: self.line(&span),
        };
        // The options that a metric takes, and the values of settings.
        let run = task.run().map_err(|error| {
            let problem = location(without_dashes(&error.to_string()));
            self.input(self.span_of(&error, table).unwrap_or(span), problem)
        });
        run.map(|_| task)
    }

    /// The option that an error is about, in the file.
    fn span_of(&self, error: &RunError, table: &TaskTable) -> Option<Range<usize>> {
        let own = [("missing", &table.missing), ("extra", &table.extra)];
        let own = own
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_ref()?.span())));
        let options = table.options.iter();
        let options = options.map(|(name, value)| (name.get_ref().as_str(), value.span()));
        let message = error.to_string();
        let mut all = own.chain(options);
        let found = all.find(|(name, _)| message.contains(&format!("--{name} ")));
        found.map(|(_, span)| span)
    }

    /// The files of references, and those that options name.
    fn files(&self, entry: &Entry, table: &TaskTable) -> Vec<OwnFile> {
        let file = |key: &str, name: &String| OwnFile {
            key: key.to_owned(),
            path: self.beside(name),
            name: name.clone(),
        };
        let is_path = |name: &str| {
            let spec = entry.options.iter().find(|spec| spec.name == name);
            spec.is_some_and(|spec| matches!(spec.kind, OptionKind::Path))
        };
        let options = table.options.iter();
        let of_options = options.filter_map(|(key, value)| match value.get_ref() {
            Value::One(name) if is_path(key.get_ref()) => Some(file(key.get_ref(), name)),
            _ => None,
        });
        let references = file("references", table.references.get_ref());
        let more = table.more_references.iter();
        let more = more.map(|path| file("more-references", path.get_ref()));
        std::iter::once(references)
            .chain(more)
            .chain(of_options)
            .collect()
    }

    /// The path of predictions inside a submission.
    fn predictions(&self, task: &str, given: &Spanned<String>) -> Result<String, SuiteError> {
        let text = given.get_ref().trim_end_matches('/');
        let is_inside = Path::new(text)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let is_plain = !text.contains(['\\', '\0', ':', '*', '?']) && !text.contains("//");
        if text.is_empty() || !is_inside || !is_plain || text.starts_with("./") {
            let problem = format!(
                "task {task:?}: predictions: expected a path inside the submission, such as {:?}, found {:?}",
                "htr.json",
                given.get_ref()
            );
            return Err(self.input(given.span(), problem));
        }
        Ok(text.to_owned())
    }

    /// The options of a metric, and the settings of its run.
    fn options(
        &self,
        task: &str,
        entry: &Entry,
        table: &TaskTable,
    ) -> Result<(Options, BTreeMap<String, String>), SuiteError> {
        let mut options = Options::default();
        let mut settings = BTreeMap::new();
        for (name, value) in [("missing", &table.missing), ("extra", &table.extra)] {
            if let Some(value) = value {
                settings.insert(name.to_owned(), value.get_ref().clone());
            }
        }
        for (name, value) in &table.options {
            let (span, name) = (name.span(), name.get_ref().as_str());
            let spec = entry.options.iter().find(|spec| spec.name == name);
            match spec {
                Some(spec) => {
                    let kind = spec.kind;
                    let value = self.option(task, name, kind, value)?;
                    if let Some(value) = value {
                        options = options.set(name, value);
                    }
                }
                None if Settings::NAMES.contains(&name) && !settings.contains_key(name) => {
                    let is_list = Settings::LISTS.contains(&name);
                    let is_flag = Settings::FLAGS.contains(&name);
                    let text = match value.get_ref() {
                        Value::One(value) if !is_flag => value.clone(),
                        Value::List(values) if is_list => values.join("\n"),
                        Value::Flag(on) if is_flag => on.to_string(),
                        _ => {
                            let expected = match (is_list, is_flag) {
                                (true, _) => "a string or a list of strings",
                                (_, true) => "true or false",
                                _ => "a string",
                            };
                            let problem = format!("task {task:?}: {name}: expected {expected}");
                            return Err(self.input(value.span(), problem));
                        }
                    };
                    settings.insert(name.to_owned(), text);
                }
                None => return Err(self.input(span, unknown_option(task, entry, name))),
            }
        }
        Ok((options, settings))
    }

    /// The value of an option as the registry takes it; `None` for a flag that is off.
    fn option(
        &self,
        task: &str,
        name: &str,
        kind: OptionKind,
        value: &Spanned<Value>,
    ) -> Result<Option<OptionValue>, SuiteError> {
        let is_flag = matches!(kind, OptionKind::Flag);
        let expected = |expected: &str| {
            let problem = format!("task {task:?}: {name}: expected {expected}");
            Err(self.input(value.span(), problem))
        };
        Ok(match (value.get_ref(), kind) {
            (Value::Flag(on), OptionKind::Flag) => on.then(|| "true".into()),
            (Value::Flag(_), _) => return expected("a name or a number, found true or false"),
            _ if is_flag => return expected("true or false"),
            (Value::One(path), OptionKind::Path) => {
                let path = self.beside(path);
                Some(OptionValue::One(path.to_string_lossy().into_owned()))
            }
            (Value::One(one), _) => Some(OptionValue::One(one.clone())),
            (Value::List(list), OptionKind::List(_)) => Some(OptionValue::List(list.clone())),
            (Value::List(_), _) => return expected("one value, found a list"),
        })
    }

    /// A path of the suite file, relative to its folder.
    fn beside(&self, path: &str) -> PathBuf {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let path = folder.join(path);
        std::path::absolute(&path).unwrap_or(path)
    }

    fn total(&self, table: Spanned<TotalTable>, tasks: &[Task]) -> Result<Total, SuiteError> {
        let span = table.span();
        let TotalTable { rule, of, weights } = table.into_inner();
        let mut scores: Vec<ScoreOf> = Vec::new();
        let mut first: Option<(ScoreOf, Option<Direction>)> = None;
        for given in of {
            let (score, direction) = self.score_of(&given, tasks)?;
            if scores.contains(&score) {
                let problem = format!("total: {score} is listed twice: expected each score once");
                return Err(self.input(given.span(), problem));
            }
            let (other, known) = first.get_or_insert_with(|| (score.clone(), direction));
            if *known != direction {
                let problem = format!(
                    "total: scores of different directions: {}, {}: expected scores that are all better if higher, or all if lower",
                    directed(other, *known),
                    directed(&score, direction),
                );
                return Err(SuiteError::usage(self.message(&given.span(), problem)));
            }
            scores.push(score);
        }
        if scores.is_empty() {
            let problem = "total: of: expected at least one score, such as \"task.score\"";
            return Err(self.input(span, problem));
        }
        let rule = match (rule, weights) {
            (RuleName::Sum, None) => Rule::Sum,
            (RuleName::Mean, None) => Rule::Mean,
            (RuleName::Weighted, Some(weights)) => {
                let is_positive = |weight: &f64| weight.is_finite() && *weight > 0.0;
                if weights.get_ref().len() != scores.len()
                    || !weights.get_ref().iter().all(is_positive)
                {
                    let count = scores.len();
                    let problem = match count {
                        1 => "total: weights: expected 1 positive number".to_owned(),
                        _ => format!(
                            "total: weights: expected {count} positive numbers, one per score"
                        ),
                    };
                    return Err(self.input(weights.span(), problem));
                }
                Rule::Weighted(weights.into_inner())
            }
            (RuleName::Weighted, None) => {
                let problem = "total: rule \"weighted\" needs weights, one for each score";
                return Err(self.input(span, problem));
            }
            (_, Some(weights)) => {
                let problem = "total: weights go with rule = \"weighted\"";
                return Err(self.input(weights.span(), problem));
            }
        };
        Ok(Total { rule, of: scores })
    }

    /// A score of a total, and its direction.
    fn score_of(
        &self,
        given: &Spanned<String>,
        tasks: &[Task],
    ) -> Result<(ScoreOf, Option<Direction>), SuiteError> {
        let failed = |problem: String| self.input(given.span(), format!("total: {problem}"));
        let text = given.get_ref();
        let (task, score) = text.split_once('.').ok_or_else(|| {
            failed(format!(
                "expected a task, a dot and a score, found {text:?}"
            ))
        })?;
        let spec = score_in(tasks, task, score);
        let spec = spec.map_err(|problem| failed(format!("{text:?}: {problem}")))?;
        let (task, score) = (task.to_owned(), score.to_owned());
        Ok((ScoreOf { task, score }, spec.direction))
    }

    fn split(&self, table: Spanned<SplitTable>) -> Result<Split, SuiteError> {
        let span = table.span();
        let SplitTable {
            field,
            public,
            private,
            public_ids,
        } = table.into_inner();
        let failed = |problem: &str| self.input(span.clone(), format!("split: {problem}"));
        match (field, public_ids) {
            (Some(field), None) => {
                let public = public.unwrap_or_else(|| "Public".to_owned());
                let private = private.unwrap_or_else(|| "Private".to_owned());
                if public == private {
                    return Err(failed("public and private are the same value"));
                }
                Ok(Split::Field {
                    field,
                    public,
                    private,
                })
            }
            (None, Some(_)) if public.is_some() || private.is_some() => Err(failed(
                "public and private are values of a field: expected field as well",
            )),
            (None, Some(PublicIds::List(ids))) => Ok(Split::Ids(ids.into_iter().collect())),
            (None, Some(PublicIds::File(name))) => {
                let text = fs::read_to_string(self.beside(&name));
                let text =
                    text.map_err(|error| failed(&format!("{name}: cannot read: {error}")))?;
                let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
                let ids = lines.filter(|line| !line.is_empty());
                Ok(Split::Ids(ids.map(str::to_owned).collect()))
            }
            _ => Err(failed("expected either field or public-ids")),
        }
    }
}

/// A score with the direction in which it is better.
/// The score of a task, or what there is instead.
fn score_in(tasks: &[Task], task: &str, score: &str) -> Result<&'static ScoreSpec, String> {
    let Some(found) = tasks.iter().find(|it| it.name == task) else {
        let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
        let names = names.join(", ");
        return Err(format!("no task {task:?}: expected one of {names}"));
    };
    let entry = &found.entry;
    entry.score(score).ok_or_else(|| {
        let names: Vec<String> = entry.scores.iter().map(ToString::to_string).collect();
        let names = names.join(", ");
        format!("{} has no such score: expected one of {names}", entry.name)
    })
}

fn directed(score: &ScoreOf, direction: Option<Direction>) -> String {
    match direction {
        Some(direction) => format!("{score} is better if {}", direction.name()),
        None => format!("{score} is not better in any direction"),
    }
}

fn unknown_option(task: &str, entry: &Entry, name: &str) -> String {
    let own = entry.options.iter().map(|spec| spec.name);
    let names: Vec<&str> = own.chain(Settings::NAMES).collect();
    let close = |other: &&&str| strsim::damerau_levenshtein(other, name) <= 2;
    let meant = names.iter().find(close);
    let meant = meant.map_or_else(String::new, |meant| format!(" (did you mean {meant}?)"));
    let metric = entry.name;
    let names = names.join(", ");
    format!("task {task:?}: unknown option {name:?} of {metric}{meant}: expected one of {names}")
}

/// A message about an option of the command line, which has no dashes in a suite file.
fn without_dashes(message: &str) -> String {
    message.strip_prefix("--").unwrap_or(message).to_owned()
}

impl<'de> Deserialize<'de> for Fallback {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FallbackVisitor;

        impl Visitor<'_> for FallbackVisitor {
            type Value = Fallback;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a finite number or \"fail\"")
            }

            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Fallback, E> {
                let finite = number.is_finite().then_some(Fallback::Score(number));
                finite.ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Fallback, E> {
                Ok(Fallback::Score(number as f64))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Fallback, E> {
                let fail = (text == "fail").then_some(Fallback::Fail);
                fail.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(FallbackVisitor)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let one = |value: &toml::Value| match value {
            toml::Value::String(text) => Some(text.clone()),
            toml::Value::Integer(number) => Some(number.to_string()),
            toml::Value::Float(number) => Some(number.to_string()),
            _ => None,
        };
        let value = toml::Value::deserialize(deserializer)?;
        let read = match &value {
            toml::Value::Boolean(on) => Some(Self::Flag(*on)),
            toml::Value::Array(values) => {
                let list: Option<Vec<String>> = values.iter().map(one).collect();
                list.map(Self::List)
            }
            value => one(value).map(Self::One),
        };
        read.ok_or_else(|| {
            let expected = "a string, a number, true, false, or a list of strings and numbers";
            let article = if value.is_array() { "an" } else { "a" };
            let found = format!("found {article} {}", value.type_str());
            serde::de::Error::custom(format!("{found}: expected {expected}"))
        })
    }
}

impl<'de> Deserialize<'de> for PublicIds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::One(file) => Ok(Self::File(file)),
            Value::List(ids) => Ok(Self::List(ids)),
            Value::Flag(_) => Err(serde::de::Error::custom(
                "expected the name of a file or a list of ids",
            )),
        }
    }
}
