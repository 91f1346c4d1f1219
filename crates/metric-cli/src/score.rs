//! Reads, joins and folds: the scores of one data set.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use metric_suite::registry::{
    Entry, Evidence, JoinPolicy, Missing, Options, Record, RecordError, Report, Sample,
};
use rayon::prelude::*;
use tempfile::NamedTempFile;

use crate::error::Failure;
use crate::join::{Input, Join, Pair};
use crate::output;

/// All that `metric score` was asked for.
pub(crate) struct Task {
    pub(crate) entry: &'static Entry,
    pub(crate) options: Options,
    pub(crate) references: Input,
    /// `None` where one file has both sides.
    pub(crate) predictions: Option<Input>,
    pub(crate) policy: JoinPolicy,
    pub(crate) per_sample: Option<PathBuf>,
    pub(crate) threads: usize,
    pub(crate) progress: bool,
}

/// The scores of a data set.
pub(crate) struct Scored {
    pub(crate) signature: String,
    pub(crate) report: Report,
    pub(crate) missing: u64,
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
        let scorer = self
            .entry
            .scorer(&self.options)
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let threads = self.threads;
        let sources = [Some(&self.references), self.predictions.as_ref()];
        let total = sources
            .iter()
            .flatten()
            .map(|input| input.source.bytes())
            .sum();
        let read = Arc::new(AtomicU64::new(0));
        let bar = progress_bar(self.progress, total);

        let mut samples = self
            .per_sample
            .as_deref()
            .map(SampleFile::create)
            .transpose()?;
        let mut evidence = scorer.start();
        // Enough blocks that no thread waits, and no more memory than that.
        let width = if threads == 1 {
            1
        } else {
            (2 * threads).min(64)
        };
        let mut join = Join::new(
            self.references,
            self.predictions,
            self.entry.whole_file,
            self.policy,
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
                    samples.as_mut(),
                    threads,
                    || scorer.start(),
                )?;
            }
            if let Some(samples) = &mut samples {
                samples.flush(false)?;
            }
            bar.set_position(read.load(Ordering::Relaxed));
        }
        let left = join.finish()?;
        let mut notes = Vec::new();
        let missing = left.missing.len() as u64;
        if missing > 0 {
            match self.policy.missing {
                Missing::Error => {
                    let extra = if left.extra > 0 && !self.policy.ignore_extra {
                        format!("\n{}", left.extra_error)
                    } else {
                        String::new()
                    };
                    return Err(Failure::Input(left.missing_error + &extra));
                }
                Missing::Empty => {
                    notes.push(format!("{missing} references have no prediction and were scored against an empty one"));
                    fold(
                        &join,
                        &left.missing,
                        &mut *evidence,
                        samples.as_mut(),
                        1,
                        || scorer.start(),
                    )?;
                }
                Missing::Skip => {
                    notes.push(format!(
                        "{missing} references have no prediction and were left out"
                    ));
                }
            }
        }
        if left.extra > 0 {
            if !self.policy.ignore_extra {
                return Err(Failure::Input(left.extra_error));
            }
            notes.push(format!(
                "{} predictions have no reference and were left out",
                left.extra
            ));
        }
        let mut report = evidence.report();
        if report.examples == 0 && !scorer.scores_empty_data() {
            let problem = if join.references_read() == 0 {
                "has no records: expected at least one"
            } else {
                "has no examples that could be scored"
            };
            return Err(Failure::Input(format!(
                "{}: {problem}",
                join.reference_name()
            )));
        }
        notes.append(&mut report.warnings);
        report.warnings = notes;
        if let Some(samples) = samples {
            samples.persist()?;
        }
        bar.finish_and_clear();
        Ok(Scored {
            signature: scorer.signature().to_owned(),
            report,
            missing,
        })
    }
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
        Failure::Input(format!(
            "{place}: id \"{}\": {}",
            records[index].id, error.error
        ))
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
    let bar = ProgressBar::new(total);
    let style =
        ProgressStyle::with_template("{bar:32} {bytes}/{total_bytes} {bytes_per_sec} eta {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

/// A file of scores by example, which stands under its name only when it is whole.
struct SampleFile {
    name: PathBuf,
    writer: Target,
    /// Lines that wait for those of earlier references.
    waiting: BTreeMap<u64, String>,
    next: u64,
}

enum Target {
    /// Becomes the file at the end.
    Temporary(std::io::BufWriter<NamedTempFile>),
    /// A pipe or a device, which cannot be replaced.
    Stream(std::io::BufWriter<std::fs::File>),
}

impl SampleFile {
    fn create(path: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::Usage(format!("{}: cannot create: {error}", path.display()))
        };
        let is_stream = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let writer = if is_stream {
            let file = std::fs::OpenOptions::new()
                .write(true)
                .open(path)
                .map_err(failed)?;
            Target::Stream(std::io::BufWriter::new(file))
        } else {
            let folder = match path.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            let mut builder = tempfile::Builder::new();
            builder.prefix(".metric-").suffix(".partial");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                // As any new file: the user's umask takes away what it should.
                builder.permissions(std::fs::Permissions::from_mode(0o666));
            }
            let file = builder.tempfile_in(folder).map_err(failed)?;
            Target::Temporary(std::io::BufWriter::new(file))
        };
        Ok(Self {
            name: path.to_owned(),
            writer,
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
            let lines = entry.remove();
            let result = match &mut self.writer {
                Target::Temporary(file) => file.write_all(lines.as_bytes()),
                Target::Stream(file) => file.write_all(lines.as_bytes()),
            };
            result.map_err(|error| Failure::write(&self.name.display().to_string(), &error))?;
        }
        Ok(())
    }

    fn persist(mut self) -> Result<(), Failure> {
        self.flush(true)?;
        let name = self.name.display().to_string();
        match self.writer {
            Target::Temporary(file) => {
                let file = file
                    .into_inner()
                    .map_err(|error| Failure::write(&name, error.error()))?;
                file.persist(&self.name)
                    .map_err(|error| Failure::write(&name, &error.error))?;
            }
            Target::Stream(mut file) => {
                file.flush()
                    .map_err(|error| Failure::write(&name, &error))?;
            }
        }
        Ok(())
    }
}
