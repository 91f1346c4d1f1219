//! Reading of examples, and of solutions and submissions to the ARC Prize.
//!
//! Solutions are Kaggle's file `{task: [grid, ...]}`, the same with whole tasks as values, or a folder
//! of the data set's files, one per task. Submissions are Kaggle's file
//! `{task: [{"attempt_1": grid, "attempt_2": grid}, ...]}`, the table `output_id,output` of 2019 and
//! 2024, or a folder of arc-agi-benchmarking's files, one per task. Single examples, pairs of grids or
//! tasks, are read from records: see [`Example::read`](crate::Example::read).
//!
//! ```
//! use metric_core::Metric;
//! use metric_grid::ArcSubmissions;
//! use metric_grid::read::{File, Solutions, Submission, SubmissionOptions};
//!
//! let file = |name, text| File { name, text };
//! let solutions = Solutions::parse(file("solutions.json", r#"{"a": [[[1, 2]]], "b": [[[3]]]}"#))?;
//! let submission = r#"{"a": [{"attempt_1": [[0]], "attempt_2": [[1, 2]]}]}"#;
//! let submission = Submission::parse(
//!     file("submission.json", submission),
//!     &solutions,
//!     SubmissionOptions::default(),
//! )?;
//!
//! let metric = ArcSubmissions::default();
//! let mut state = Default::default();
//! for (task, outputs) in solutions.tasks() {
//!     metric.update(&mut state, submission.attempts(task), outputs);
//! }
//! assert_eq!(metric.compute(&state).solved.kaggle, Some(0.5));
//! assert_eq!(submission.missing, ["b"]);
//! # Ok::<(), metric_grid::read::ReadError>(())
//! ```

mod example;
mod json;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use metric_record::json::Entries;
use metric_record::{Content, Document, FileReader, name_text};
pub use metric_record::{File, Folder, ReadError};

use self::json::RawAttempt;
use crate::{Attempt, Grid};

/// The greatest number of an attempt, as in `attempt_1000`, so that a wrong one takes no memory.
pub const MAX_ATTEMPTS: u16 = 1000;

/// The problem of a file of the data set's folders where Kaggle's file is expected.
const ONE_TASK: &str = "is a single task, {\"train\": ..., \"test\": ...}: \
    expected {task: [grid, ...]}, or the folder of the files of tasks";

/// The true test outputs of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Solutions {
    tasks: Vec<(String, Vec<Grid>)>,
    positions: HashMap<String, usize>,
}

impl Solutions {
    /// Reads Kaggle's file of solutions, or a folder of the data set's files.
    ///
    /// # Errors
    ///
    /// Returns an error as [`parse`](Self::parse) and [`read_folder`](Self::read_folder) do.
    pub fn read(document: &Document) -> Result<Self, ReadError> {
        match &document.content {
            Content::Folder(folder) => Self::read_folder(folder),
            _ => Self::parse(document.file()?),
        }
    }

    /// Reads Kaggle's file of solutions, `{task: [grid, ...]}`. A value may also be a whole task,
    /// `{"test": [{"output": grid}, ...]}`.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not of this form, a task is given twice or has no outputs,
    /// or an output is not a grid.
    pub fn parse(file: File<'_>) -> Result<Self, ReadError> {
        let mut solutions = Self::default();
        let tasks = map(file)?.0;
        let has = |field: &str| tasks.iter().any(|(id, _)| id == field);
        let is_one_task = has("train") && has("test");
        for (id, json) in tasks {
            let outputs = json::outputs(json).map_err(|problem| {
                if is_one_task {
                    ReadError::new(file.name, ONE_TASK)
                } else {
                    of_task(file, &id, problem)
                }
            })?;
            solutions.push(id.into_owned(), outputs);
        }
        Ok(solutions)
    }

    /// Reads a folder of files `TASK.json`, each a task as in the repositories of ARC-AGI-1 and -2:
    /// `{"train": ..., "test": [{"input": grid, "output": grid}, ...]}`. Tasks are in the order of
    /// their names.
    ///
    /// # Errors
    ///
    /// Returns an error as [`parse`](Self::parse) does, and if a folder or file cannot be opened.
    pub fn read_folder(folder: &Folder) -> Result<Self, ReadError> {
        let mut solutions = Self::default();
        for (id, path) in task_files(&folder.path)? {
            let (name, text) = FileReader::new(folder.max_bytes).read(&path)?;
            let (name, text) = (name.as_str(), text.as_str());
            let file = File { name, text };
            let outputs =
                json::outputs(file.content()).map_err(|problem| ReadError::new(name, problem))?;
            solutions.push(id, outputs);
        }
        Ok(solutions)
    }

    fn push(&mut self, id: String, outputs: Vec<Grid>) {
        self.positions.insert(id.clone(), self.tasks.len());
        self.tasks.push((id, outputs));
    }

    /// Returns the tasks in the order of the file, each with its test outputs.
    pub fn tasks(&self) -> impl Iterator<Item = (&str, &[Grid])> {
        let tasks = self.tasks.iter();
        tasks.map(|(id, outputs)| (id.as_str(), outputs.as_slice()))
    }

    /// The number of test outputs of a task, 0 if there is no such task.
    fn tests(&self, id: &str) -> usize {
        let task = self
            .positions
            .get(id)
            .and_then(|&position| self.tasks.get(position));
        task.map_or(0, |(_, outputs)| outputs.len())
    }
}

/// The options for reading a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubmissionOptions {
    /// The number of attempts allowed for an output.
    pub attempts: NonZeroU16,
    /// Whether these are errors instead of being counted and left out: an attempt that is not a
    /// grid, more attempts than allowed, and tasks, outputs and fields that do not belong there. An
    /// attempt that is null or `[]` is never an error, although it is not a grid.
    pub strict: bool,
    /// Whether tasks that are not in the solutions are left out even if `strict`.
    pub ignore_unknown: bool,
}

metric_core::setters!(SubmissionOptions {
    with_attempts => attempts: NonZeroU16,
    with_strict => strict: bool,
    with_ignore_unknown => ignore_unknown: bool,
});

impl Default for SubmissionOptions {
    /// Two attempts, not strict.
    fn default() -> Self {
        Self {
            attempts: NonZeroU16::MIN.saturating_add(1),
            strict: false,
            ignore_unknown: false,
        }
    }
}

/// Attempts at the test outputs of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    tasks: HashMap<String, Vec<Vec<Attempt>>>,
    /// Tasks of the solutions that are not in the submission, in the order of the solutions.
    pub missing: Vec<String>,
    /// Tasks of the submission that are not in the solutions, in the order of the submission.
    pub unknown: Vec<String>,
    /// Fields next to attempts that are not attempts.
    pub unknown_fields: BTreeMap<String, u64>,
    /// Tasks with attempts that are strings, which are not grids whatever they hold, in the order of the submission.
    pub with_texts: Vec<String>,
}

impl Submission {
    /// Reads a submission file, or a folder of arc-agi-benchmarking's files.
    ///
    /// # Errors
    ///
    /// Returns an error as [`parse`](Self::parse) and [`read_folder`](Self::read_folder) do.
    pub fn read(
        document: &Document,
        solutions: &Solutions,
        options: SubmissionOptions,
    ) -> Result<Self, ReadError> {
        match &document.content {
            Content::Folder(folder) => Self::read_folder(folder, solutions, options),
            _ => Self::parse(document.file()?, solutions, options),
        }
    }

    /// Reads a submission: Kaggle's file `{task: [{"attempt_1": grid, ...}, ...]}`, or a table
    /// `output_id,output` of rows such as `0a1b2c3d_0,|12|34| |00|00|`, as in 2019 and 2024.
    ///
    /// An attempt that is null, `[]` or no grid is kept as one that is missing or invalid. Where an
    /// entry is null, has no attempts, or is not there, there are none. Attempts beyond those that are
    /// allowed, and outputs beyond those of the task, follow the others whatever their number.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has neither form, or a task or an output is given twice; with
    /// [`strict`](SubmissionOptions::strict) also for everything that is otherwise counted and left
    /// out.
    pub fn parse(
        file: File<'_>,
        solutions: &Solutions,
        options: SubmissionOptions,
    ) -> Result<Self, ReadError> {
        let mut submission = Self::default();
        if !file.content().trim_start().starts_with('{') {
            for (id, outputs) in table::rows(file, options)? {
                let tests = solutions.tests(id);
                let outputs = || Ok(in_positions(outputs, Vec::new(), tests));
                submission.put(file, solutions, options, id, outputs)?;
            }
        } else {
            for (id, json) in map(file)?.0 {
                let (mut others, tests) = (Others::default(), solutions.tests(&id));
                submission.put(file, solutions, options, &id, || match json {
                    "null" => Ok(Vec::new()),
                    json => attempts(json, tests, options, &mut others),
                })?;
                submission.count_others(&id, others);
            }
        }
        submission.missing_from(solutions);
        Ok(submission)
    }

    /// Reads a folder of the program arc-agi-benchmarking: files `TASK.json`, each a list of
    /// `{"attempt_1": {"answer": grid, "metadata": {"pair_index": 0, ...}}, ...}`; other files are
    /// left alone, `results.json` among them.
    ///
    /// Which test output an entry is for, its `pair_index` says. That program (as of 2025) takes a
    /// missing index for 0 and adds up what entries with the same index score; here a missing
    /// index where there are several tests is an error, and so is the same index twice.
    ///
    /// # Errors
    ///
    /// Returns an error as [`parse`](Self::parse) does, and if indices do not fit, or a folder or
    /// file cannot be opened.
    pub fn read_folder(
        folder: &Folder,
        solutions: &Solutions,
        options: SubmissionOptions,
    ) -> Result<Self, ReadError> {
        let mut submission = Self::default();
        for (id, path) in task_files(&folder.path)? {
            if id == "results" && !solutions.positions.contains_key(&id) {
                continue;
            }
            let (mut others, tests) = (Others::default(), solutions.tests(&id));
            // A task that nobody asks for is not opened.
            let (name, text) = match tests {
                0 => (name_text(path.as_os_str()).into_owned(), String::new()),
                _ => FileReader::new(folder.max_bytes).read(&path)?,
            };
            let (name, text) = (name.as_str(), text.as_str());
            let file = File { name, text };
            submission.put(file, solutions, options, &id, || {
                attempts(file.content(), tests, options, &mut others)
            })?;
            submission.count_others(&id, others);
        }
        submission.missing_from(solutions);
        Ok(submission)
    }

    /// Returns the attempts at each test output of a task, none for a task that is not there.
    #[must_use]
    pub fn attempts(&self, task: &str) -> &[Vec<Attempt>] {
        self.tasks.get(task).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the submission has a task, even without attempts.
    #[must_use]
    pub fn has(&self, task: &str) -> bool {
        self.tasks.contains_key(task)
    }

    /// Counts the test outputs of the solutions without an attempt.
    #[must_use]
    pub fn unanswered(&self, solutions: &Solutions) -> Unanswered {
        let mut unanswered = Unanswered::default();
        for (id, truth) in solutions.tasks() {
            let attempts = self.attempts(id).iter().take(truth.len());
            let answered = attempts.filter(|attempts| !attempts.is_empty()).count();
            unanswered.outputs += (truth.len() - answered) as u64;
            if !self.has(id) {
                unanswered.of_missing_tasks += truth.len() as u64;
            }
        }
        unanswered
    }

    /// Adds a task, if it is in the solutions.
    fn put(
        &mut self,
        file: File<'_>,
        solutions: &Solutions,
        options: SubmissionOptions,
        id: &str,
        outputs: impl FnOnce() -> Result<Vec<Vec<Attempt>>, String>,
    ) -> Result<(), ReadError> {
        let tests = solutions.tests(id);
        if tests == 0 {
            if options.strict && !options.ignore_unknown {
                return Err(of_task(file, id, "is not in the solutions".to_owned()));
            }
            self.unknown.push(id.to_owned());
            return Ok(());
        }
        let outputs = outputs().map_err(|problem| of_task(file, id, problem))?;
        if options.strict && outputs.len() > tests {
            let problem = format!("has {} outputs, expected {tests}", outputs.len());
            return Err(of_task(file, id, problem));
        }
        self.tasks.insert(id.to_owned(), outputs);
        Ok(())
    }

    fn count_others(&mut self, id: &str, others: Others) {
        if others.fields > 0 {
            *self.unknown_fields.entry(id.to_owned()).or_default() += others.fields;
        }
        if others.has_texts {
            self.with_texts.push(id.to_owned());
        }
    }

    fn missing_from(&mut self, solutions: &Solutions) {
        let tasks = solutions.tasks.iter().map(|(id, _)| id);
        let missing = tasks.filter(|id| !self.has(id));
        self.missing = missing.cloned().collect();
    }
}

/// Test outputs without an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unanswered {
    /// All of them.
    pub outputs: u64,
    /// Those whose whole task is missing from the submission.
    pub of_missing_tasks: u64,
}

/// Reads a grid from JSON: a list of rows of integers.
///
/// ```
/// use metric_grid::read::parse_grid;
///
/// assert_eq!(parse_grid("[[1, 2], [3, 4]]").unwrap().rows(), 2);
/// assert_eq!(parse_grid("[[1, 2], [3]]").unwrap_err(), "row 1 has length 1: expected 2, as in the first row");
/// ```
///
/// # Errors
///
/// Returns what was found, and what was expected.
pub fn parse_grid(json: &str) -> Result<Grid, String> {
    json::grid(json)
}

/// Reads the test outputs of a task from JSON: a list of grids, or a whole task.
///
/// ```
/// use metric_grid::read::parse_outputs;
///
/// let task = r#"{"train": [], "test": [{"input": [[0]], "output": [[1]]}]}"#;
/// assert_eq!(parse_outputs(task), parse_outputs("[[[1]]]"));
/// ```
///
/// # Errors
///
/// Returns what was found, and what was expected.
pub fn parse_outputs(json: &str) -> Result<Vec<Grid>, String> {
    json::outputs(json)
}

/// Reads the attempts at the `tests` outputs of a task from JSON: a list of
/// `{"attempt_1": grid, "attempt_2": grid}`, or null for none.
///
/// ```
/// use metric_grid::Attempt;
/// use metric_grid::read::{SubmissionOptions, parse_attempts};
///
/// let attempts = parse_attempts(r#"[{"attempt_2": [[1]]}]"#, 1, SubmissionOptions::default())?;
/// assert_eq!(attempts.len(), 1);
/// assert_eq!(attempts[0][0], Attempt::Missing);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// Returns what was found, and what was expected.
pub fn parse_attempts(
    json: &str,
    tests: usize,
    options: SubmissionOptions,
) -> Result<Vec<Vec<Attempt>>, String> {
    match json.trim() {
        "null" => Ok(Vec::new()),
        json => attempts(json, tests, options, &mut Others::default()),
    }
}

/// Returns whether any of the attempts at the outputs of a task, in JSON as [`parse_attempts`] reads it, is a string. A
/// string is not a grid, whatever it holds.
///
/// ```
/// use metric_grid::read::has_text_attempts;
///
/// assert!(has_text_attempts(r#"[{"attempt_1": "[[1]]", "attempt_2": [[1]]}]"#));
/// assert!(!has_text_attempts(r#"[{"attempt_1": [[1]]}]"#));
/// ```
#[must_use]
pub fn has_text_attempts(json: &str) -> bool {
    let mut others = Others::default();
    // Whether they fit the outputs does not matter.
    let _ = attempts(json.trim(), 0, SubmissionOptions::default(), &mut others);
    others.has_texts
}

/// Returns whether the text of a file is solutions, `{task: [grid, ...]}`, rather than grids,
/// `{id: grid}`: judged by its first values.
#[must_use]
pub fn is_solutions(text: &str) -> bool {
    json::are_tasks(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Returns whether JSON is the outputs of a task, `[grid, ...]`, rather than a grid.
#[must_use]
pub fn is_task(json: &str) -> bool {
    json::is_task(json).unwrap_or(false)
}

/// The JSON of each task by its id.
fn map(file: File<'_>) -> Result<Entries<'_>, ReadError> {
    if let Some(tasks) = Entries::scan(file.content()) {
        return Ok(tasks);
    }
    serde_json::from_str(file.content()).map_err(|error| {
        let error = metric_record::json::located(file.content(), &error);
        let problem = format!("expected an object of tasks by their id: {error}");
        ReadError::new(file.name, problem)
    })
}

/// A problem with a task of a file.
fn of_task(file: File<'_>, id: &str, problem: String) -> ReadError {
    ReadError::new(file.name, problem).at(format!("task {id:?}"))
}

/// What is next to the grids of a task.
#[derive(Default)]
struct Others {
    /// Fields that are not attempts.
    fields: u64,
    /// Whether an attempt is a string.
    has_texts: bool,
}

/// The attempts at each output of a task; counts fields that are not attempts.
fn attempts(
    json: &str,
    tests: usize,
    options: SubmissionOptions,
    others: &mut Others,
) -> Result<Vec<Vec<Attempt>>, String> {
    let mut entries = Vec::new();
    for (position, Entries(fields)) in json::entries(json)?.into_iter().enumerate() {
        let mut entry = Entry::default();
        for (name, json) in fields {
            match attempt_number(&name) {
                Some(number) => entry
                    .add(number, &RawAttempt::new(json), options)
                    .map_err(|problem| format!("output {position}: {name}: {problem}"))?,
                None if options.strict => {
                    return Err(format!(
                        "output {position}: field {name:?}: expected attempt_1, attempt_2, ..."
                    ));
                }
                None => others.fields += 1,
            }
        }
        others.has_texts |= entry.has_texts;
        entries.push(entry);
    }
    placed(entries, tests)
}

/// The number of the attempt of this name, from 1.
fn attempt_number(name: &str) -> Option<u16> {
    let digits = name.strip_prefix("attempt_")?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    let number = digits.parse().ok().filter(|_| plain)?;
    (number <= MAX_ATTEMPTS).then_some(number)
}

/// The attempts at one output.
#[derive(Default)]
struct Entry {
    attempts: Vec<Attempt>,
    /// The test that they are for, where they say so.
    index: Option<u64>,
    /// Whether an attempt is an object with an answer, and does not say which test it is for.
    lacks_index: bool,
    /// Whether an attempt is a string.
    has_texts: bool,
}

impl Entry {
    fn add(
        &mut self,
        number: u16,
        raw: &RawAttempt<'_>,
        options: SubmissionOptions,
    ) -> Result<(), String> {
        if options.strict && number > options.attempts.get() {
            return Err(format!("expected at most {} attempts", options.attempts));
        }
        let attempt = match raw.answer.trim_ascii() {
            "null" => Attempt::Missing,
            answer => match json::grid(answer) {
                Ok(grid) => Attempt::Grid(grid),
                Err(problem) if options.strict && !is_empty_list(answer) => return Err(problem),
                Err(_) => Attempt::Invalid,
            },
        };
        self.has_texts |= raw.answer.trim_ascii().starts_with('"');
        if let Some(index) = raw.pair_index {
            let number: u64 = index.parse().map_err(|_| {
                format!("pair_index {index}: expected the number of a test, from 0")
            })?;
            if let Some(other) = self.index.filter(|other| *other != number) {
                return Err(format!("pair_index {number}: another attempt has {other}"));
            }
            self.index = Some(number);
        }
        self.lacks_index |= raw.has_answer && raw.pair_index.is_none();
        let position = usize::from(number.min(options.attempts.get())) - 1;
        if self.attempts.len() <= position {
            self.attempts.resize(position + 1, Attempt::Missing);
        }
        match self.attempts.get_mut(position) {
            Some(old) if number <= options.attempts.get() => *old = attempt,
            // Beyond those that count, the number does not matter.
            _ => self.attempts.push(attempt),
        }
        Ok(())
    }
}

fn is_empty_list(json: &str) -> bool {
    let mut bytes = json.bytes().filter(|byte| !byte.is_ascii_whitespace());
    (bytes.next(), bytes.next()) == (Some(b'['), Some(b']'))
}

/// Puts entries in the places of the tests that they are for. Where none says, it is their order.
fn placed(entries: Vec<Entry>, tests: usize) -> Result<Vec<Vec<Attempt>>, String> {
    let says = |entry: &Entry| entry.index.is_some() || entry.lacks_index;
    if !entries.iter().any(says) {
        return Ok(entries.into_iter().map(|entry| entry.attempts).collect());
    }
    let mut outputs: BTreeMap<usize, Vec<Attempt>> = BTreeMap::new();
    let mut others = Vec::new();
    for (position, entry) in entries.into_iter().enumerate() {
        let index = match entry.index {
            None if entry.lacks_index && tests > 1 => {
                return Err(format!(
                    "entry {position}: no pair_index in its metadata: expected one, as the task has {tests} tests"
                ));
            }
            // Nothing was answered, so it does not matter for which test.
            None if !entry.lacks_index => {
                others.push(entry.attempts);
                continue;
            }
            None => 0,
            Some(index) => usize::try_from(index).unwrap_or(usize::MAX),
        };
        if index >= tests {
            return Err(format!(
                "entry {position}: pair_index {index}: expected less than {tests}, the number of tests"
            ));
        }
        if outputs.insert(index, entry.attempts).is_some() {
            return Err(format!(
                "entry {position}: pair_index {index} is there twice"
            ));
        }
    }
    Ok(in_positions(outputs, others, tests))
}

/// The attempts at each test: those that are for it, else the next of the others. What is left over
/// comes after the last test.
fn in_positions(
    mut outputs: BTreeMap<usize, Vec<Attempt>>,
    others: Vec<Vec<Attempt>>,
    tests: usize,
) -> Vec<Vec<Attempt>> {
    let mut others = others.into_iter();
    let mut placed: Vec<Vec<Attempt>> = (0..tests)
        .map(|position| outputs.remove(&position).or_else(|| others.next()))
        .map(Option::unwrap_or_default)
        .collect();
    placed.extend(outputs.into_values().chain(others));
    placed
}

/// The files `TASK.json` of a folder, by their task.
fn task_files(folder: &Path) -> Result<BTreeMap<String, PathBuf>, ReadError> {
    let error = |path: &Path, problem: String| ReadError::new(path.display().to_string(), problem);
    let cannot = |what: std::io::Error| error(folder, format!("cannot read: {what}"));
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if !is_json || path.is_dir() {
            continue;
        }
        let stem = path.file_stem().unwrap_or_default();
        files.insert(name_text(stem).into_owned(), path);
    }
    if files.is_empty() {
        Err(error(folder, "has no files TASK.json".to_owned()))
    } else {
        Ok(files)
    }
}
