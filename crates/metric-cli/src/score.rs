//! Reads, joins and folds: the scores of one data set.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use metric_suite::registry::{
    Document, Drawing, Entry, Evidence, JoinPolicy, Missing, Record, RecordError, Report, Sample,
    Scorer, Value,
};
use rayon::prelude::*;

use crate::args::joins_files;
use crate::error::Failure;
use crate::join::{Input, Join, Pair, shown};
use crate::output;
use crate::output_file::{OutputFile, create_folder, write_whole};
use crate::source::Source;

/// All that `metric score` was asked for.
pub(crate) struct Task {
    pub(crate) entry: &'static Entry,
    pub(crate) scorer: Box<dyn Scorer>,
    pub(crate) data: Data,
    pub(crate) policy: JoinPolicy,
    pub(crate) per_sample: Option<PathBuf>,
    pub(crate) details: Option<PathBuf>,
    /// The folder for a picture of each example.
    pub(crate) pictures: Option<PathBuf>,
    /// What is shown in place of the scores.
    pub(crate) show: Option<Show>,
    /// The least that scores of these names may be.
    pub(crate) gates: Vec<(String, f64)>,
    pub(crate) threads: usize,
    pub(crate) progress: bool,
}

/// Records to show as text.
pub(crate) struct Show {
    /// The ids; one that is `all` means every record.
    pub(crate) ids: Vec<String>,
    pub(crate) coloured: bool,
}

/// Where a data set is.
pub(crate) enum Data {
    /// Records of references, and of predictions unless one file has both sides.
    Records(Input, Option<Input>),
    /// References, which are read already, and predictions that the metric takes whole.
    Whole(Source, Document, Source),
}

/// What was gathered of a data set.
struct Gathered {
    evidence: Box<dyn Evidence>,
    /// What the join let pass.
    notes: Vec<String>,
    /// The name of the references, if there were none.
    empty: Option<String>,
}

/// The scores of a data set.
pub(crate) struct Scored {
    pub(crate) signature: String,
    pub(crate) report: Report,
    /// The gates that the scores do not pass, in words.
    pub(crate) failed_gates: Vec<String>,
    /// The records that were to be shown, as text.
    pub(crate) shown: Option<String>,
}

impl Task {
    /// Scores the data set. The result does not depend on the number of threads.
    pub(crate) fn run(self) -> Result<Scored, Failure> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .map_err(|error| Failure::Internal(format!("cannot start threads: {error}")))?;
        // All of it, so that work is not handed back and forth between threads.
        pool.install(|| self.run_here())
    }

    /// Scores the data set on the threads of the pool that this is called in.
    fn run_here(self) -> Result<Scored, Failure> {
        let Self {
            entry,
            scorer,
            data,
            mut policy,
            per_sample,
            details,
            pictures,
            show,
            gates,
            threads,
            progress,
        } = self;
        // Files are opened before the work, so that it is not done in vain; the folder of pictures may be
        // where the others are to be.
        let pictures = Pictures {
            folder: pictures.map(PictureFolder::create).transpose()?,
            shown: show.map(Shown::new),
        };
        let mut samples = per_sample.as_deref().map(SampleFile::create).transpose()?;
        let details = details.as_deref().map(OutputFile::create).transpose()?;
        // What a gap in whole files is, such as an image without detections, the metric says.
        let metric_says = matches!(data, Data::Whole(..)) && !joins_files(entry);
        if metric_says {
            policy.missing = Missing::Error;
        }
        let gathered = match data {
            Data::Records(references, predictions) => Records {
                entry,
                scorer: &*scorer,
                policy,
                pictures: &pictures,
                threads,
                progress,
            }
            .gather(references, predictions, samples.as_mut())?,
            Data::Whole(source, references, predictions) => {
                let name = source.name();
                let predictions = predictions.document()?;
                let documents = pictures
                    .are_wanted()
                    .then(|| (references.clone(), predictions.clone()));
                let mut all = samples.is_some().then(Vec::new);
                let evidence = scorer
                    .read_documents(references, predictions, policy, all.as_mut())
                    .map_err(|error| Failure::Input(error.to_string()))?;
                if let Some((references, predictions)) = documents {
                    pictures.draw_documents(&*scorer, &references, &predictions, policy)?;
                }
                if let Some(file) = &mut samples {
                    for sample in all.iter().flatten() {
                        file.add(sample.record as u64, sample);
                    }
                }
                Gathered {
                    evidence,
                    notes: Vec::new(),
                    empty: Some(format!("{name}: has no examples: expected at least one")),
                }
            }
        };
        let mut report = gathered.evidence.report();
        if let (0, Some(problem), false) =
            (report.examples, gathered.empty, scorer.scores_empty_data())
        {
            return Err(Failure::Input(problem));
        }
        let mut notes = Vec::new();
        if report.missing > 0 && !metric_says {
            let so = match policy.missing {
                Missing::Skip => "was left out",
                _ => "was scored against an empty one",
            };
            notes.push(format!(
                "{} × a reference has no prediction and {so}",
                report.missing
            ));
        }
        notes.extend(gathered.notes);
        notes.append(&mut report.warnings);
        report.warnings = notes;
        let failed_gates = failed_gates(&gates, &report)?;
        let shown = pictures.shown.map(Shown::text).transpose()?;
        if let Some(mut file) = details {
            let details = gathered.evidence.details().ok_or_else(|| {
                Failure::Usage(format!("--details: {} has no details", entry.name))
            })?;
            file.write(format!("{details}\n").as_bytes())?;
            file.persist()?;
        }
        if let Some(samples) = samples {
            samples.persist()?;
        }
        Ok(Scored {
            signature: with_policy(scorer.signature(), policy),
            report,
            failed_gates,
            shown,
        })
    }
}

/// How records are read and folded.
struct Records<'a> {
    entry: &'static Entry,
    scorer: &'a dyn Scorer,
    policy: JoinPolicy,
    pictures: &'a Pictures,
    threads: usize,
    progress: bool,
}

impl Records<'_> {
    fn gather(
        &self,
        references: Input,
        predictions: Option<Input>,
        mut samples: Option<&mut SampleFile>,
    ) -> Result<Gathered, Failure> {
        let &Self {
            scorer,
            policy,
            threads,
            ..
        } = self;
        let sources = [Some(&references), predictions.as_ref()];
        let total = sources
            .iter()
            .flatten()
            .map(|input| input.source.bytes())
            .sum();
        let read = Arc::new(AtomicU64::new(0));
        let bar = progress_bar(self.progress, total);

        let mut evidence = scorer.start();
        // Enough blocks that no thread waits, and no more memory than that.
        let width = if threads == 1 {
            1
        } else {
            (2 * threads).min(32)
        };
        let mut join = Join::new(
            references,
            predictions,
            self.entry.whole_file,
            policy,
            width,
            &read,
        )?;
        let mut first = true;
        while let Some(pairs) = join.next()? {
            // What a reader learns from the first record (the width of a row, say) must not depend
            // on which thread is the fastest.
            let (head, tail) = pairs.split_at(usize::from(std::mem::take(&mut first)));
            for part in [head, tail] {
                fold(
                    &join,
                    part,
                    &mut *evidence,
                    samples.as_deref_mut(),
                    threads,
                    || scorer.start(),
                )?;
                self.draw(&join, part)?;
            }
            if let Some(samples) = &mut samples {
                samples.flush(false)?;
            }
            bar.set_position(read.load(Ordering::Relaxed));
        }
        let left = join.finish()?;
        let refuse_extra = left.extra > 0 && !policy.ignore_extra;
        if !left.missing.is_empty() && policy.missing == Missing::Error {
            let extra = if refuse_extra { &left.extra_error } else { "" };
            return Err(Failure::Input(
                [&left.missing_error, extra]
                    .join("\n")
                    .trim_end()
                    .to_owned(),
            ));
        }
        if refuse_extra {
            return Err(Failure::Input(left.extra_error));
        }
        fold(&join, &left.missing, &mut *evidence, samples, 1, || {
            scorer.start()
        })?;
        self.draw(&join, &left.missing)?;
        let mut notes = Vec::new();
        if left.extra > 0 {
            notes.push(format!(
                "{} × a prediction has no reference and was left out",
                left.extra
            ));
        }
        let problem = if join.references_read() == 0 {
            "has no records: expected at least one"
        } else {
            "has no examples that could be scored"
        };
        Ok(Gathered {
            evidence,
            notes,
            empty: Some(format!("{}: {problem}", join.reference_name())),
        })
    }

    /// Draws pairs that were scored, if pictures are wanted.
    fn draw(&self, join: &Join, pairs: &[Pair]) -> Result<(), Failure> {
        if !self.pictures.are_wanted() {
            return Ok(());
        }
        let left_out = |record: &Record<'_>| {
            record.prediction == Value::Missing && record.join.missing == Missing::Skip
        };
        pairs.par_iter().try_for_each(|pair| {
            let record = join.record(pair);
            if left_out(&record) {
                return Ok(());
            }
            let id = record.id.to_string();
            self.pictures.put(&id, pair.ordinal, |drawing| {
                let picture = self.scorer.picture(&record, drawing);
                // It was read before.
                picture.map_err(|error| Failure::Internal(error.to_string()))
            })
        })
    }
}

/// The pictures that are wanted.
struct Pictures {
    folder: Option<PictureFolder>,
    shown: Option<Shown>,
}

impl Pictures {
    fn are_wanted(&self) -> bool {
        self.folder.is_some() || self.shown.is_some()
    }

    /// Draws a record in the ways that are wanted.
    fn put(
        &self,
        id: &str,
        ordinal: u64,
        draw: impl Fn(Drawing) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        if let Some(folder) = &self.folder {
            folder.write(id, ordinal, &draw(Drawing::Svg)?)?;
        }
        match &self.shown {
            Some(shown) if shown.wants(id) => shown.put(id, ordinal, draw(shown.drawing())?),
            _ => Ok(()),
        }
    }

    /// Draws the records of whole files.
    fn draw_documents(
        &self,
        scorer: &dyn Scorer,
        references: &Document,
        predictions: &Document,
        join: JoinPolicy,
    ) -> Result<(), Failure> {
        let drawings = [
            self.folder.as_ref().map(|_| Drawing::Svg),
            self.shown.as_ref().map(Shown::drawing),
        ];
        for drawing in drawings.into_iter().flatten() {
            let (mut ordinal, mut result) = (0, Ok(()));
            let mut put = |id: &str, draw: &dyn Fn() -> String| {
                if result.is_ok() {
                    result = match (drawing, &self.folder, &self.shown) {
                        (Drawing::Svg, Some(folder), _) => folder.write(id, ordinal, &draw()),
                        (_, _, Some(shown)) if shown.wants(id) => shown.put(id, ordinal, draw()),
                        _ => Ok(()),
                    };
                }
                ordinal += 1;
            };
            scorer
                .draw_documents(references, predictions, join, drawing, &mut put)
                .map_err(|error| Failure::Input(error.to_string()))?;
            result?;
        }
        Ok(())
    }
}

/// Records as text, in the order of the references.
struct Shown {
    show: Show,
    records: Mutex<BTreeMap<u64, (String, String)>>,
}

impl Shown {
    fn new(show: Show) -> Self {
        Self {
            show,
            records: Mutex::default(),
        }
    }

    fn drawing(&self) -> Drawing {
        match self.show.coloured {
            true => Drawing::ColouredText,
            false => Drawing::Text,
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
        records.insert(ordinal, (id.to_owned(), picture));
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
        let pictures: Vec<String> = records.into_values().map(|(_, picture)| picture).collect();
        Ok(pictures.join("\n"))
    }
}

/// A folder with a picture of each example.
struct PictureFolder(PathBuf);

impl PictureFolder {
    fn create(folder: PathBuf) -> Result<Self, Failure> {
        create_folder(&folder)?;
        Ok(Self(folder))
    }

    fn write(&self, id: &str, ordinal: u64, picture: &str) -> Result<(), Failure> {
        write_whole(&self.0.join(picture_name(id, ordinal)), picture)
    }
}

/// A name for the file in the folder: what is not a letter, a digit, `-`, `_` or an inner `.` is written
/// `%XX`; long ids are cut and told apart by their number, after a `~`, which no other name has. Ids that
/// differ in case alone need a file system that tells case.
fn picture_name(id: &str, ordinal: u64) -> String {
    let mut name = String::new();
    for (place, byte) in id.bytes().enumerate() {
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) || (byte == b'.' && place > 0) {
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

/// A signature with what the join let pass, before the version.
fn with_policy(signature: &str, policy: JoinPolicy) -> String {
    let missing = match policy.missing {
        Missing::Error => "",
        Missing::Empty => "|missing:empty",
        Missing::Skip => "|missing:skip",
    };
    let extra = if policy.ignore_extra {
        "|extra:ignore"
    } else {
        ""
    };
    match signature.rsplit_once("|v:") {
        Some((definition, version)) => format!("{definition}{missing}{extra}|v:{version}"),
        None => format!("{signature}{missing}{extra}"),
    }
}

/// The gates that the scores do not pass, in words.
fn failed_gates(gates: &[(String, f64)], report: &Report) -> Result<Vec<String>, Failure> {
    let mut failed = Vec::new();
    for (name, bound) in gates {
        let Some((_, value)) = report.scores.iter().find(|(score, _)| score == name) else {
            let names: Vec<_> = report
                .scores
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            let names = names.join(", ");
            return Err(Failure::Usage(format!(
                "--fail-under {name}: no such score: expected one of {names}"
            )));
        };
        match value {
            Some(value) if value >= bound => {}
            Some(value) => failed.push(format!("{name} is {value}, below {bound}")),
            None => failed.push(format!(
                "{name} is undefined, which is not at least {bound}"
            )),
        }
    }
    Ok(failed)
}

/// Adds pairs to the evidence; of several that cannot be read the first is the error.
fn fold(
    join: &Join,
    pairs: &[Pair],
    evidence: &mut dyn Evidence,
    mut sample_file: Option<&mut SampleFile>,
    threads: usize,
    start: impl Fn() -> Box<dyn Evidence> + Sync,
) -> Result<(), Failure> {
    let records: Vec<Record<'_>> = pairs.iter().map(|pair| join.record(pair)).collect();
    let failure = |offset: usize, error: RecordError| {
        let index = offset + error.index;
        let place = join.place(&pairs[index], error.error.side);
        let id = shown(&records[index].id.to_string());
        Failure::Input(format!("{place}: id {id}: {}", error.error))
    };
    let wants_samples = sample_file.is_some();
    let mut put = |offset: usize, samples: Vec<Sample>| {
        if let Some(file) = &mut sample_file {
            for sample in samples {
                file.add(pairs[offset + sample.record].ordinal, &sample);
            }
        }
    };
    if threads == 1 || records.len() < 2 {
        let mut samples = wants_samples.then(Vec::new);
        evidence
            .update(&records, samples.as_mut())
            .map_err(|error| failure(0, error))?;
        put(0, samples.unwrap_or_default());
        return Ok(());
    }
    let size = records.len().div_ceil(4 * threads);
    let parts: Vec<_> = records
        .par_chunks(size)
        .map(|part| {
            let mut evidence = start();
            let mut samples = wants_samples.then(Vec::new);
            let result = evidence.update(part, samples.as_mut());
            result.map(|()| (evidence, samples.unwrap_or_default()))
        })
        .collect();
    for (place, part) in parts.into_iter().enumerate() {
        let (other, samples) = part.map_err(|error| failure(place * size, error))?;
        evidence
            .merge(other)
            .map_err(|error| Failure::Internal(error.to_string()))?;
        put(place * size, samples);
    }
    Ok(())
}

fn progress_bar(wanted: bool, total: u64) -> ProgressBar {
    if !wanted || total == 0 {
        return ProgressBar::hidden();
    }
    // Draws to standard error, and only if that is a terminal.
    let bar = ProgressBar::new(total).with_finish(ProgressFinish::AndClear);
    let style =
        ProgressStyle::with_template("{bar:32} {bytes}/{total_bytes} {bytes_per_sec} eta {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

/// A file of scores by example.
struct SampleFile {
    file: OutputFile,
    /// Lines that wait for those of earlier references.
    waiting: BTreeMap<u64, String>,
    next: u64,
}

impl SampleFile {
    fn create(path: &Path) -> Result<Self, Failure> {
        Ok(Self {
            file: OutputFile::create(path)?,
            waiting: BTreeMap::new(),
            next: 0,
        })
    }

    fn add(&mut self, ordinal: u64, sample: &Sample) {
        let lines = self.waiting.entry(ordinal).or_default();
        lines.push_str(&output::sample_line(sample));
        lines.push('\n');
    }

    /// Writes what no earlier reference can come before, or `all` there is.
    fn flush(&mut self, all: bool) -> Result<(), Failure> {
        while let Some(entry) = self.waiting.first_entry() {
            if *entry.key() != self.next && !all {
                break;
            }
            self.next = entry.key() + 1;
            self.file.write(entry.remove().as_bytes())?;
        }
        Ok(())
    }

    fn persist(mut self) -> Result<(), Failure> {
        self.flush(true)?;
        self.file.persist()
    }
}
