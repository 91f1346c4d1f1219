//! The run of a suite: each task in a process of its own.

use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::compare::{
    CompareJob, CompareWith, Compared, SuiteComparison, of_total, total_difference,
};
use crate::config::{Suite, Task};
use crate::error::SuiteError;
use crate::outcome::{Shown, Status, SuiteOutcome, TaskOutcome};
use crate::refused::SubmissionError;
use crate::submission::{Predictions, Submission};
use crate::task::{Job, Origin, Reply};
use crate::worker::{Worker, out_of_memory};

/// Hears which task is scored.
pub type Progress<'p> = &'p dyn Fn(&str);

/// All that a run of a suite needs in addition to the submission.
pub struct RunSuite<'r> {
    /// The suite.
    pub suite: &'r Suite,
    /// The tasks that are scored, of the suite.
    pub tasks: &'r [&'r Task],
    /// The program that scores a task.
    pub worker: &'r Worker,
    /// A folder for files of an archive, which somebody else removes.
    pub folder: &'r Path,
    /// The threads of each task; `None` for one per core.
    pub threads: Option<usize>,
    /// Another submission to compare with.
    pub compare: Option<CompareWith<'r>>,
}

/// The reason why a task has no scores.
struct Reason {
    status: Status,
    /// The whole reason, and what participants may read.
    reason: String,
    public: String,
}

impl Reason {
    fn no_answer() -> Self {
        Self::open(Status::Failed, "the worker gave no answer".to_owned())
    }

    /// A reason that holds nothing of the references.
    fn open(status: Status, reason: String) -> Self {
        Self {
            status,
            public: reason.clone(),
            reason,
        }
    }
}

impl RunSuite<'_> {
    /// Scores a submission. References are checked before the first task, by [`Suite::check`].
    ///
    /// # Errors
    ///
    /// Returns an error if references cannot be scored, or if the machine fails; whatever is wrong with the submission
    /// is the outcome of its tasks.
    pub fn score(
        &self,
        submission: &Submission,
        progress: Progress<'_>,
    ) -> Result<SuiteOutcome, SuiteError> {
        for task in self.tasks {
            self.suite.check(task, false)?;
        }
        let mut tasks = Vec::new();
        for (index, task) in self.tasks.iter().enumerate() {
            progress(&task.name);
            let folder = self.folder.join(format!("task-{index}"));
            tasks.push(self.task(task, submission, &folder)?);
            // Files from an archive may be as large as the task allows.
            let _ = fs::remove_dir_all(&folder);
        }
        let total = self.suite.total.as_ref().map(|total| {
            let of = total.of.iter();
            let of = of.map(|score| (score.task.clone(), score.score.clone()));
            (total.rule.clone(), of.collect())
        });
        let comparison = self.compare.as_ref();
        let comparison = comparison.map(|with| self.compare(with, submission, &tasks, progress));
        Ok(SuiteOutcome {
            name: self.suite.name.clone(),
            comparison: comparison.transpose()?,
            tasks,
            total,
            is_split: self.suite.split.is_some(),
            warnings: submission.warnings(),
        })
    }

    fn task(
        &self,
        task: &Task,
        submission: &Submission,
        folder: &Path,
    ) -> Result<TaskOutcome, SuiteError> {
        let start = Instant::now();
        let machine = |problem: String| SuiteError::internal(problem);
        fs::create_dir_all(folder)
            .map_err(|error| machine(SubmissionError::machine(folder, &error).to_string()))?;
        let mut messages = String::new();
        let done = match predictions_of(task, submission, folder) {
            Ok(predictions) => {
                let split = self.suite.split.as_ref();
                let job = Job::new(task, &predictions.path, split, self.threads);
                let reply = self.work(task, &job, &predictions, &mut messages)?;
                reply.and_then(|reply| reply.scored.ok_or_else(Reason::no_answer))
            }
            Err(SubmissionError::Machine(problem)) => return Err(machine(problem)),
            Err(SubmissionError::Missing(reason)) => Err(Reason::open(Status::Missing, reason)),
            Err(SubmissionError::Invalid(reason)) => Err(Reason::open(Status::Failed, reason)),
            Err(SubmissionError::Limit(reason)) => Err(Reason::open(Status::Limit, reason)),
        };
        let mut outcome = TaskOutcome {
            name: task.name.clone(),
            metric: task.entry.name,
            status: Status::Ok,
            seconds: start.elapsed().as_secs_f64(),
            messages,
            reason: None,
            public_reason: None,
            result: None,
            private_result: None,
            scores: Vec::new(),
            parts: None,
            on_failure: task.on_failure,
            undefined: task.undefined,
        };
        match done {
            Ok(scored) => {
                outcome.result = Some(scored.result);
                outcome.private_result = Some(scored.private);
                outcome.scores = scored.scores;
                outcome.parts = scored.parts;
            }
            Err(reason) => {
                outcome.status = reason.status;
                outcome.reason = Some(reason.reason);
                outcome.public_reason = Some(reason.public);
            }
        }
        Ok(outcome)
    }

    /// Compares the submission with another one, task by task.
    fn compare(
        &self,
        with: &CompareWith<'_>,
        submission: &Submission,
        outcomes: &[TaskOutcome],
        progress: Progress<'_>,
    ) -> Result<SuiteComparison, SuiteError> {
        let mut tasks = Vec::new();
        let mut found = Vec::new();
        for (index, (task, outcome)) in self.tasks.iter().zip(outcomes).enumerate() {
            progress(&task.name);
            let folder = self.folder.join(format!("compare-{index}"));
            let compared = match outcome.reason(Shown::Organizer) {
                Some(reason) => Err(reason.to_owned()),
                None => self.compare_task(task, with, submission, &folder)?,
            };
            let _ = fs::remove_dir_all(&folder);
            let compared = compared.map(|Compared { comparison, scores }| {
                found.push((task.name.clone(), scores));
                comparison
            });
            tasks.push((task.name.clone(), compared));
        }
        let total = self.suite.total.as_ref().and_then(|total| {
            let scores = of_total(total, &found)?;
            total_difference(&total.rule, &scores, with.statistics, with.permutations)
        });
        Ok(SuiteComparison {
            names: with.names.map(str::to_owned),
            statistics: with.statistics.clone(),
            permutations: with.permutations,
            tasks,
            total,
        })
    }

    /// Compares the submissions in a task, or returns the reason why that is not possible.
    fn compare_task(
        &self,
        task: &Task,
        with: &CompareWith<'_>,
        submission: &Submission,
        folder: &Path,
    ) -> Result<Result<Compared, String>, SuiteError> {
        let folders = ["submission", "other"].map(|name| folder.join(name));
        let mut taken = Vec::new();
        for (folder, submission) in folders.iter().zip([submission, with.submission]) {
            fs::create_dir_all(folder).map_err(|error| {
                SuiteError::internal(SubmissionError::machine(folder, &error).to_string())
            })?;
            match predictions_of(task, submission, folder) {
                Ok(predictions) => taken.push(predictions),
                Err(error) => return Ok(Err(error.to_string())),
            }
        }
        let [predictions, other] = taken.as_slice() else {
            return Ok(Err(Reason::no_answer().reason));
        };
        let mut job = Job::new(task, &predictions.path, None, self.threads);
        let other = other.folder.join(&other.path);
        let compare = CompareJob::new(with, task, &other, self.suite.total.as_ref());
        job.compare = Some(compare);
        let reply = self.work(task, &job, predictions, &mut String::new())?;
        let compared = reply.and_then(|reply| reply.compared.ok_or_else(Reason::no_answer));
        let named = |reason: Reason| {
            let [baseline, _] = with.names;
            reason.reason.replace(&*other.to_string_lossy(), baseline)
        };
        Ok(compared.map_err(named))
    }

    /// Lets a process do the work on a task.
    fn work(
        &self,
        task: &Task,
        job: &Job,
        predictions: &Predictions,
        messages: &mut String,
    ) -> Result<Result<Reply, Reason>, SuiteError> {
        let internal = |problem: String| {
            SuiteError::internal(self.suite.location(task, &format!("worker: {problem}")))
        };
        let job = serde_json::to_string(job).map_err(|error| internal(error.to_string()))?;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or_else(cores);
        let folder = Some(predictions.folder.as_path());
        let finished = self.worker.run(&job, folder, &task.limits, threads);
        let finished = finished.map_err(|error| internal(error.to_string()))?;
        messages.clone_from(&finished.messages);
        if let Some((status, reason)) = finished.problem(&task.limits, threads) {
            return Ok(Err(Reason::open(status, reason)));
        }
        let Ok(reply) = serde_json::from_slice::<Reply>(&finished.output) else {
            // The process ended by itself in the middle of its answer.
            return Ok(Err(Reason::no_answer()));
        };
        let Some(problem) = reply.problem else {
            return Ok(Ok(reply));
        };
        let message = task.with_own_names(&problem.message);
        let status = match problem.of {
            Origin::Suite => {
                return Err(SuiteError::input(self.suite.location(task, &message)));
            }
            Origin::Memory => {
                let reason = out_of_memory(&task.limits);
                return Ok(Err(Reason::open(Status::Limit, reason)));
            }
            Origin::Limit => Status::Limit,
            Origin::Submission | Origin::Program => Status::Failed,
        };
        Ok(Err(Reason {
            status,
            reason: message,
            public: problem.public,
        }))
    }
}

/// The predictions of a task, with the folder of the files that they name, if there is one: a reader that followed a link in its place
/// would read what is not the submission's.
fn predictions_of(
    task: &Task,
    submission: &Submission,
    folder: &Path,
) -> Result<Predictions, SubmissionError> {
    let predictions = submission.take(&task.predictions, task.limits.bytes, folder)?;
    if let Some(name) = task.folder_of_predictions() {
        match submission.take(name, task.limits.bytes, folder) {
            Ok(_) | Err(SubmissionError::Missing(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(predictions)
}
