//! Runs that write files and pictures while they score, and what they print.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use metric_run::record::Record;
use metric_run::registry::{self, DataSet, Drawing, Entry, Sample, StateError, find};
use metric_run::{
    Data, InputsJson, Merged, Observer, ObserverError, Outcome, Run, RunError, StateFileError,
    StateFileProblem, merge_states, on_threads, read_states, sample_json, sample_json_with_inputs,
    with_json_field, write_states,
};

use crate::checks::{Check, failed_checks, verdicts};
use crate::error::Failure;
use crate::output_file::{OutputFile, OutputFolder};
use crate::scored::{ClassNames, Scored};
use crate::{report, statistics};

/// All that `metric score` was asked for.
pub(crate) struct Task {
    pub(crate) run: Run,
    pub(crate) data: Data,
    pub(crate) per_sample: Option<PathBuf>,
    /// Whether the scores of each example come with its reference and prediction.
    pub(crate) with_inputs: bool,
    /// Whether they come with the alignment of the two.
    pub(crate) with_alignment: bool,
    pub(crate) outputs: Outputs,
    pub(crate) class_names: Option<ClassNames>,
    /// The folder for charts and for a picture of each example.
    pub(crate) pictures: Option<PathBuf>,
    /// Whether the metric draws examples.
    pub(crate) draws_examples: bool,
    /// The report of the scores.
    pub(crate) report: Option<report::Wanted>,
    /// The output in place of the scores.
    pub(crate) show: Option<Show>,
    /// Whether several metrics are scored.
    pub(crate) several: bool,
    pub(crate) progress: bool,
}

/// States to merge.
pub(crate) struct MergeTask {
    pub(crate) states: Vec<PathBuf>,
    pub(crate) outputs: Outputs,
    pub(crate) shown: metric_run::ShownScores,
}

/// The uses of scores in addition to being printed.
#[derive(Default)]
pub(crate) struct Outputs {
    pub(crate) details: Option<PathBuf>,
    pub(crate) state: Option<PathBuf>,
    pub(crate) replicates: Option<PathBuf>,
    pub(crate) checks: Vec<Check>,
}

/// Records to show as text.
pub(crate) struct Show {
    /// The ids; one that is `all` means every record.
    pub(crate) ids: Vec<String>,
    pub(crate) colored: bool,
}

/// All that is printed.
pub(crate) struct Printed {
    pub(crate) scored: Vec<Scored>,
    /// The threshold checks that the scores fail, in words.
    pub(crate) failed_checks: Vec<String>,
    /// The records that were to be shown, as text.
    pub(crate) shown: Option<String>,
}

impl Task {
    /// Scores the data set. The result does not depend on the number of threads.
    pub(crate) fn run(self) -> Result<Printed, Failure> {
        // Files are opened before the work, so that it is not done in vain; the folder of pictures may be
        // where the others are to be.
        let folder = self.pictures.map(OutputFolder::create).transpose()?;
        let samples = self.per_sample.as_deref().map(OutputFile::create);
        let slices: Vec<String> = self
            .run
            .slices
            .iter()
            .map(|slice| slice.name.clone())
            .collect();
        let checks = self.outputs.checks.clone();
        let mut data = self.data;
        let report = self.report.map(|report| report.open(Some(&mut data)));
        let report = report.transpose()?;
        let watch = Watch {
            folder,
            draws_examples: self.draws_examples,
            shown: self.show.map(Shown::new),
            samples: samples.transpose()?.map(Mutex::new),
            inputs: self.with_inputs.then(Mutex::default),
            alignments: self.with_alignment.then(Mutex::default),
            several: self.several,
            bar: Bar::new(self.progress),
        };
        let opened = self.outputs.open()?;
        let outcomes = self.run.score_observed(data, &watch)?;
        let shown = watch.shown.map(Shown::text).transpose()?;
        let mut printed = opened.finish(outcomes, self.run.threads)?;
        for scored in &mut printed.scored {
            scored.class_names = self.class_names.clone();
            scored.slices = self.run.slices.clone();
        }
        printed.shown = shown;
        if let Some(report) = report {
            let verdicts = verdicts(&checks, &printed.scored);
            let folder = watch.folder.as_ref();
            let finished = report.finish(&printed.scored, &verdicts, &slices, folder.is_some());
            let (charts, page) = finished?;
            for (name, chart) in charts {
                if let Some(folder) = folder {
                    folder.write(&format!("{CHART}{name}"), &chart)?;
                }
            }
            // On standard output the report is the only output.
            printed.shown = page.or(printed.shown);
        }
        if let Some(samples) = watch.samples {
            let samples = samples.into_inner();
            samples
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .persist()?;
        }
        watch.folder.map(OutputFolder::persist).transpose()?;
        Ok(printed)
    }
}

impl MergeTask {
    /// Merges the states.
    pub(crate) fn run(self) -> Result<Printed, Failure> {
        let opened = self.outputs.open()?;
        refuse_repeated(&self.states)?;
        let mut files = Vec::new();
        for path in &self.states {
            files.push((path.display().to_string(), read_state_file(path)?));
        }
        let Merged { outcomes, warnings } = merge_states(files).map_err(RunError::State)?;
        let entries: Vec<&Entry> = outcomes.iter().map(Outcome::entry).collect();
        self.shown.check(&entries)?;
        let mut outcomes = outcomes;
        for outcome in &mut outcomes {
            outcome.set_shown(self.shown.clone());
        }
        let mut printed = opened.finish(outcomes, None)?;
        for scored in &mut printed.scored {
            scored
                .report
                .warnings
                .splice(0..0, warnings.iter().cloned());
        }
        Ok(printed)
    }
}

/// Refuses a file that is named twice, whose examples would count twice.
fn refuse_repeated(states: &[PathBuf]) -> Result<(), Failure> {
    let mut seen = BTreeMap::new();
    for path in states {
        // Streams have no path, and each is read once.
        let Ok(real) = std::fs::canonicalize(path) else {
            continue;
        };
        if let Some(other) = seen.insert(real, path) {
            return Err(Failure::Input(format!(
                "{}: the same file as {}: expected each state once",
                path.display(),
                other.display()
            )));
        }
    }
    Ok(())
}

/// Reads a state file. One that does not start as such is not read further: it may be endless.
fn read_state_file(path: &Path) -> Result<Vec<Outcome>, Failure> {
    let name = path.display().to_string();
    let cannot = |what: &str, error: io::Error| {
        let problem = format!("{name}: cannot {what}: {error}");
        match error.kind() {
            io::ErrorKind::OutOfMemory => Failure::Limit(problem),
            _ => Failure::Input(problem),
        }
    };
    let mut file = File::open(path).map_err(|error| cannot("open", error))?;
    let mut bytes = Vec::new();
    let read = file.by_ref().take(8).read_to_end(&mut bytes);
    read.map_err(|error| cannot("read", error))?;
    let failed = |error: StateFileError| Failure::from(RunError::State(error));
    match read_states(&name, &bytes) {
        Err(error) if error.problem == StateFileProblem::NotAState => return Err(failed(error)),
        _ => {}
    }
    let read = file.read_to_end(&mut bytes);
    read.map_err(|error| cannot("read", error))?;
    read_states(&name, &bytes).map_err(failed)
}

/// [`Outputs`] whose files are open.
struct Opened {
    details: Option<OutputFile>,
    state: Option<OutputFile>,
    replicates: Option<OutputFile>,
    checks: Vec<Check>,
}

impl Outputs {
    fn open(self) -> Result<Opened, Failure> {
        Ok(Opened {
            details: self
                .details
                .as_deref()
                .map(OutputFile::create)
                .transpose()?,
            state: self.state.as_deref().map(OutputFile::create).transpose()?,
            replicates: self
                .replicates
                .as_deref()
                .map(OutputFile::create)
                .transpose()?,
            checks: self.checks,
        })
    }
}

impl Opened {
    /// Checks the scores, and writes all requested files unless there is an error.
    fn finish(
        self,
        outcomes: Vec<Outcome>,
        threads: Option<NonZeroUsize>,
    ) -> Result<Printed, Failure> {
        let state = match self.state {
            Some(file) => {
                let bytes = write_states(&outcomes).map_err(|error| match error {
                    StateError::TooLarge(_) => Failure::Limit(error.to_string()),
                    error => Failure::Internal(error.to_string()),
                })?;
                Some((file, bytes))
            }
            None => None,
        };
        let replicates = match self.replicates {
            Some(file) => Some((file, statistics::replicates(&outcomes)?)),
            None => None,
        };
        let has_details = self.details.is_some();
        let scored = outcomes.into_iter().map(|outcome| {
            let (report, details) = if has_details || outcome.options().details() {
                outcome.report_with_details()
            } else {
                (outcome.report(), None)
            };
            Scored {
                outcome,
                report,
                details,
                class_names: None,
                slices: Vec::new(),
            }
        });
        let scored: Vec<Scored> = on_threads(threads, || Ok(scored.collect()))?;
        let details = match self.details {
            Some(file) => Some((file, details(&scored)?)),
            None => None,
        };
        let failed_checks = failed_checks(&self.checks, &scored)?;
        for (mut file, bytes) in [state, details, replicates].into_iter().flatten() {
            file.write(&bytes)?;
            file.persist()?;
        }
        Ok(Printed {
            failed_checks,
            scored,
            shown: None,
        })
    }
}

/// The details of each metric, one JSON object per line.
fn details(scored: &[Scored]) -> Result<Vec<u8>, Failure> {
    let mut text = String::new();
    for Scored {
        outcome, details, ..
    } in scored
    {
        let details = details.as_ref().ok_or_else(|| {
            let metric = outcome.metric();
            Failure::Usage(format!("--details: {metric} has no details here"))
        })?;
        text.push_str(&format!("{details}\n"));
    }
    Ok(text.into_bytes())
}

/// The actions of the program during a run.
struct Watch {
    folder: Option<OutputFolder>,
    /// Whether pictures of examples go into the folder.
    draws_examples: bool,
    shown: Option<Shown>,
    samples: Option<Mutex<OutputFile>>,
    inputs: Option<Mutex<Inputs>>,
    /// The alignments of records, one per metric in its order, until the scores are written.
    alignments: Option<Mutex<HashMap<String, VecDeque<String>>>>,
    several: bool,
    bar: Bar,
}

/// The values of records, until the scores of their examples are written.
#[derive(Default)]
struct Inputs {
    waiting: HashMap<String, InputsJson>,
    /// The record whose examples are written; there may be several.
    current: Option<(String, InputsJson)>,
}

impl Inputs {
    fn take(&mut self, id: &str) -> Option<&InputsJson> {
        if let Some((id, inputs)) = self.waiting.remove_entry(id) {
            self.current = Some((id, inputs));
        }
        let current = self.current.as_ref().filter(|(current, _)| current == id);
        current.map(|(_, inputs)| inputs)
    }
}

impl Observer for Watch {
    fn progress(&self, read: u64, total: u64) {
        self.bar.progress(read, total);
    }

    fn resampled(&self, done: u64, total: u64) {
        self.bar.resampled(done, total);
    }

    fn sample(&self, metric: &str, sample: &Sample) -> Result<(), ObserverError> {
        let Some(samples) = &self.samples else {
            return Ok(());
        };
        let mut file = samples
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let name = metric;
        let metric = self.several.then_some(metric);
        let mut line = match &self.inputs {
            None => sample_json(metric, sample),
            Some(inputs) => {
                let mut inputs = inputs.lock().unwrap_or_else(PoisonError::into_inner);
                // The examples of a dataset file come with their values.
                let of_file = sample.inputs.as_deref().map(InputsJson::of_inputs);
                let of_file = of_file.transpose().map_err(Failure::Internal)?;
                let inputs = of_file.as_ref().or_else(|| inputs.take(&sample.id));
                let inputs = inputs.ok_or_else(|| {
                    Failure::Usage(format!(
                        "--with-inputs: the dataset files of {name} have no values for each example"
                    ))
                })?;
                sample_json_with_inputs(metric, sample, inputs)
            }
        };
        if let Some(alignments) = &self.alignments
            && find(name).is_some_and(|entry| entry.draws(Drawing::Alignment))
        {
            let mut alignments = alignments.lock().unwrap_or_else(PoisonError::into_inner);
            let of_record = alignments.get_mut(&sample.id);
            let alignment = of_record.and_then(VecDeque::pop_front);
            let alignment = alignment.as_deref().unwrap_or("null");
            line = with_json_field(&line, "alignment", alignment);
            if alignments.get(&sample.id).is_some_and(VecDeque::is_empty) {
                alignments.remove(&sample.id);
            }
        }
        Ok(file.write((line + "\n").as_bytes())?)
    }

    fn wants_inputs(&self) -> bool {
        self.inputs.is_some()
    }

    fn input(&self, record: &Record<'_>) -> Result<(), ObserverError> {
        let Some(inputs) = &self.inputs else {
            return Ok(());
        };
        let id = record.id.to_string();
        let values = InputsJson::of_record(record).map_err(Failure::Internal)?;
        let mut inputs = inputs.lock().unwrap_or_else(PoisonError::into_inner);
        inputs.waiting.insert(id, values);
        Ok(())
    }

    fn draws(&self) -> bool {
        self.draws_examples || self.shown.is_some() || self.alignments.is_some()
    }

    fn record(
        &self,
        entry: &Entry,
        show: &dyn registry::Show,
        position: u64,
        record: &mut Record<'_>,
    ) -> Result<(), ObserverError> {
        let id = record.id.to_string();
        let picture = |drawing| {
            show.picture(&mut record.clone(), drawing)
                // It was read before.
                .map_err(|error| Failure::Internal(error.to_string()))
        };
        if let Some(alignments) = self
            .alignments
            .as_ref()
            .filter(|_| entry.draws(Drawing::Alignment))
        {
            let alignment = picture(Drawing::Alignment)?;
            let mut alignments = alignments.lock().unwrap_or_else(PoisonError::into_inner);
            alignments
                .entry(id.clone())
                .or_default()
                .push_back(alignment);
        }
        if let Some(folder) = self.folder.as_ref().filter(|_| self.draws_examples) {
            folder.write(&picture_name(&id, position), &picture(Drawing::Svg)?)?;
        }
        if let Some(shown) = self.shown.as_ref().filter(|shown| shown.wants(&id)) {
            shown.put(&id, position, picture(shown.drawing())?)?;
        }
        Ok(())
    }

    fn data_set(&self, show: &dyn registry::Show, data: DataSet) -> Result<(), ObserverError> {
        let drawings = [
            self.folder.as_ref().map(|_| Drawing::Svg),
            self.shown.as_ref().map(Shown::drawing),
        ];
        for drawing in drawings.into_iter().flatten() {
            let (mut position, mut result) = (0, Ok(()));
            let mut put = |id: &str, draw: &dyn Fn() -> String| {
                if result.is_ok() {
                    result = match (drawing, &self.folder, &self.shown) {
                        (Drawing::Svg, Some(folder), _) => {
                            folder.write(&picture_name(id, position), &draw())
                        }
                        (_, _, Some(shown)) if shown.wants(id) => shown.put(id, position, draw()),
                        _ => Ok(()),
                    };
                }
                position += 1;
            };
            show.draw_data_set(data.clone(), drawing, &mut put)
                .map_err(|error| Failure::Input(error.to_string()))?;
            result?;
        }
        Ok(())
    }
}

/// Records as text, in the order of the references.
struct Shown {
    show: Show,
    /// By position: the id, and the text that each metric draws.
    records: Mutex<BTreeMap<u64, (String, Vec<String>)>>,
}

impl Shown {
    fn new(show: Show) -> Self {
        Self {
            show,
            records: Mutex::default(),
        }
    }

    fn drawing(&self) -> Drawing {
        if self.show.colored {
            Drawing::ColoredText
        } else {
            Drawing::Text
        }
    }

    fn wants(&self, id: &str) -> bool {
        self.show
            .ids
            .iter()
            .any(|wanted| wanted == id || wanted == "all")
    }

    fn put(&self, id: &str, ordinal: u64, picture: String) -> Result<(), Failure> {
        let mut records = self
            .records
            .lock()
            .map_err(|_| Failure::Internal("a thread that draws has failed".to_owned()))?;
        let record = records.entry(ordinal);
        let (_, pictures) = record.or_insert_with(|| (id.to_owned(), Vec::new()));
        pictures.push(picture);
        Ok(())
    }

    fn text(self) -> Result<String, Failure> {
        let records = self.records.into_inner().unwrap_or_default();
        for wanted in self.show.ids.iter().filter(|wanted| *wanted != "all") {
            if !records.values().any(|(id, _)| id == wanted) {
                let problem = format!("--show {wanted:?}: no example has this id");
                return Err(Failure::Usage(problem));
            }
        }
        let pictures = records.into_values().flat_map(|(_, pictures)| pictures);
        let pictures: Vec<String> = pictures.collect();
        Ok(pictures.join("\n"))
    }
}

/// The prefix of the names of charts, which no picture of an example has.
const CHART: &str = "chart.";

/// A name for the file in the folder: what is not a letter, a digit, `-`, `_` or an inner `.` is written
/// `%XX`; long ids are cut and told apart by their number, after a `~`, which no other name has. Ids that
/// differ in case alone need a file system that tells case.
fn picture_name(id: &str, ordinal: u64) -> String {
    let mut name = String::new();
    for (index, byte) in id.bytes().enumerate() {
        let is_inner = index > 0 && name != CHART.trim_end_matches('.');
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) || (byte == b'.' && is_inner) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    if name.len() > 200 {
        name.truncate(180);
        name.push_str(&format!("~{ordinal}"));
    }
    if name.is_empty() {
        name.push('%');
    }
    name + ".svg"
}

/// A progress bar of the bytes that are read, and then of replicates. It is drawn to standard error, and only if
/// that is a terminal.
pub(crate) struct Bar {
    of_bytes: Option<ProgressBar>,
    of_replicates: OnceLock<ProgressBar>,
}

impl Bar {
    pub(crate) fn new(is_wanted: bool) -> Self {
        let bytes = "{bar:32} {bytes}/{total_bytes} {bytes_per_sec} eta {eta}";
        Self {
            of_bytes: is_wanted.then(|| progress_bar(bytes)),
            of_replicates: OnceLock::new(),
        }
    }
}

impl Observer for Bar {
    fn progress(&self, read: u64, total: u64) {
        if let Some(bar) = self.of_bytes.as_ref().filter(|_| total > 0) {
            bar.set_length(total);
            bar.set_position(read);
        }
    }

    fn resampled(&self, done: u64, total: u64) {
        let Some(of_bytes) = &self.of_bytes else {
            return;
        };
        let bar = self.of_replicates.get_or_init(|| {
            of_bytes.finish_and_clear();
            progress_bar("{bar:32} {pos}/{len} resamples eta {eta}")
        });
        bar.set_length(total);
        bar.set_position(done);
    }
}

pub(crate) fn progress_bar(template: &str) -> ProgressBar {
    let bar = ProgressBar::no_length().with_finish(ProgressFinish::AndClear);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
